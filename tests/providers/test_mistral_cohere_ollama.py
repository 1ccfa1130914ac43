"""What the Mistral, Cohere and Ollama formats have in common: one message, whole or streamed, is one outcome; nothing
is repaired; any bytes are read; a conversation goes on for as long as it likes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from family_kit import (
    COHERE,
    FORMATS,
    MISSING,
    MISTRAL,
    OLLAMA,
    TOOLS,
    Format,
    encoded,
    request,
    results,
)
from hypothesis import given
from hypothesis import strategies as st
from providers_kit import summary

from callscope.contract import (
    Message,
    NamedChoice,
    NativeMessage,
    ProviderError,
    Reading,
    Text,
    ToolCalls,
    ToolResult,
    Transformation,
    Usage,
)
from callscope.errors import InputError
from callscope.providers import FLAGS, api_names, get_adapter, with_switches

of_each = pytest.mark.parametrize("form", FORMATS, ids=[form.api for form in FORMATS])
of_text = pytest.mark.parametrize("form", [MISTRAL, COHERE], ids=["mistral", "cohere"])


def test_the_formats_are_known() -> None:
    assert {form.api for form in FORMATS} <= set(api_names())


# Building


def body(form: Format, **changes: Any) -> dict[str, Any]:
    return dict(json.loads(get_adapter(form.api).build(request(**changes)).body))


@of_each
def test_schemas_go_out_untouched(form: Format) -> None:
    tools = [tool["function"] for tool in body(form)["tools"]]
    assert tools == [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in TOOLS]
    assert all(tool["type"] == "function" for tool in body(form)["tools"])
    assert get_adapter(form.api).build(request()).transformations == ()


@of_each
def test_settings_left_open_are_left_out(form: Format) -> None:
    rest = {"mistral": ["tool_choice"], "cohere": [], "ollama": ["stream"]}[form.api]
    assert list(body(form)) == ["model", "messages", "tools", *rest]


@of_each
def test_extra_is_merged_last(form: Format) -> None:
    sent = body(form, temperature=0.0, extra={"temperature": 1, "vendor": {"a": 1}})
    assert (sent["temperature"], list(sent)[-1]) == (1, "vendor")


@of_each
def test_without_tools_a_lost_choice_is_recorded(form: Format) -> None:
    adapter = get_adapter(form.api)
    for choice, before in (
        ("required", "required"),
        (NamedChoice("f"), {"type": "function", "function": {"name": "f"}}),
    ):
        wire = adapter.build(request(tools=(), tool_choice=choice, parallel=False, strict=True))
        assert wire.transformations == (Transformation("/tool_choice", "choice_without_tools", before),)
        assert not {"tools", "tool_choice", "strict_tools", "parallel_tool_calls"} & json.loads(wire.body).keys()
    assert adapter.build(request(tools=(), tool_choice="none")).transformations == ()


@of_each
def test_an_unknown_switch_is_refused(form: Format) -> None:
    with pytest.raises(InputError, match=r"switches\.system_role"):
        get_adapter(form.api).build(request(extra=with_switches({}, {"system_role": "developer"})))


@of_each
def test_the_address_the_headers_and_the_key(form: Format) -> None:
    adapter = get_adapter(form.api)
    wire, streamed = adapter.build(request()), adapter.build(request(stream=True))
    assert wire.path == streamed.path == form.path
    assert dict(wire.headers) == {"content-type": "application/json", "accept": "application/json"}
    wanted = "application/x-ndjson" if form is OLLAMA else "text/event-stream"
    assert dict(streamed.headers)["accept"] == wanted
    assert json.loads(streamed.body)["stream"] is True
    assert adapter.authorize(wire, "k") == (("authorization", "Bearer k"),)
    assert adapter.authorize(wire, None) == ()


@of_each
def test_odd_characters_go_out_whole(form: Format) -> None:
    sent = body(form, messages=(Message("user", "a\udfff"), NativeMessage({"role": "user", "n": 2**70})))
    assert sent["messages"] == [{"role": "user", "content": "a\udfff"}, {"role": "user", "n": 2**70}]


# Reading


@of_each
def test_whole_and_streamed_are_one_outcome(form: Format) -> None:
    pair = [("c1", "book_room", '{"room": "north", "seats": 4}'), ("c2", "list_rooms", "{}")]
    if form is OLLAMA:
        pair = [(identifier, name, json.loads(arguments)) for identifier, name, arguments in pair]
    for text, calls in (("Hello there.", []), ("", pair), ("I will look.", pair)):
        whole, streamed = form.both(text, calls)
        assert streamed.outcome == whole.outcome
        assert whole.outcome.flags == (() if text or calls else ("empty_text",))
        assert (whole.finish, whole.model, whole.usage) == (streamed.finish, streamed.model, streamed.usage)
        assert whole.model == (None if form is COHERE else "m-1")
        assert whole.usage == Usage(input_tokens=7, output_tokens=3)
        if calls:
            assert isinstance(whole.outcome, ToolCalls)
            assert whole.outcome.text == (text or None)
            assert summary(whole) == [
                ("c1", "book_room", {"room": "north", "seats": 4}),
                ("c2", "list_rooms", {}),
            ]
            assert streamed.first_call_at is not None
        assert whole.first_call_at is None


# (arguments as the wire holds them, what is read, flags); of a string that holds JSON
TEXTS: list[tuple[Any, Any, set[str]]] = [
    ('{"a": 1}', {"a": 1}, set()),
    ("", {}, {"empty_arguments"}),
    (None, {}, {"null_arguments"}),
    (MISSING, {}, {"absent_arguments"}),
    ('"{\\"a\\": 1}"', {"a": 1}, {"double_encoded"}),
    ({"a": 1}, {"a": 1}, {"arguments_not_a_string"}),
    ('{}""', "extra_data", set()),
    ('{"a": 1', "truncated", {"truncated"}),
    ("[1]", "not_an_object", set()),
    ([1], "not_an_object", {"arguments_not_a_string"}),
    ('\\n{"a": 1}', "syntax", set()),
    ('{"a": "\n"}', "control_character", set()),
    ('{"a": "\\q"}', "invalid_escape", set()),
    ('{"a": NaN}', "not_a_json_number", set()),
    ('{"a": 1, "a": 2}', {"a": 2}, {"duplicate_keys"}),
    ('{"n": 1208925819614629174706176}', {"n": 2**80}, {"big_integer"}),
    ('{"a": "\\ud83d"}', {"a": "\ud83d"}, {"lone_surrogate"}),
    ('{"a": "[1]"}', {"a": "[1]"}, set()),
    ('{"n": 1e16}', {"n": 1e16}, set()),
]


@of_text
@pytest.mark.parametrize(("raw", "read", "flags"), TEXTS, ids=[repr(row[0])[:20] for row in TEXTS])
def test_argument_text_is_read_without_repair(form: Format, raw: Any, read: Any, flags: set[str]) -> None:
    for reading in form.both("", [("c1", "f", raw)]):
        assert summary(reading) == [("c1", "f", read)]
        assert set(reading.outcome.flags) == flags


# Of an object; a string comes from relays only.
OBJECTS: list[tuple[Any, Any, set[str]]] = [
    ({"a": {"b": [1, 2.5, None]}}, {"a": {"b": [1, 2.5, None]}}, set()),
    ({}, {}, set()),
    (None, {}, {"null_arguments"}),
    (MISSING, {}, {"absent_arguments"}),
    ("", {}, {"empty_arguments"}),
    ('{"a": 1}', {"a": 1}, {"double_encoded"}),
    ("{}{}", "extra_data", set()),
    ('{"a', "truncated", {"truncated"}),
    ([1], "not_an_object", set()),
    (7, "not_an_object", set()),
    ({"n": 2**80}, {"n": 2**80}, {"big_integer"}),
]


@pytest.mark.parametrize(("raw", "read", "flags"), OBJECTS, ids=[repr(row[0])[:20] for row in OBJECTS])
def test_argument_objects_are_read_without_repair(raw: Any, read: Any, flags: set[str]) -> None:
    for reading in OLLAMA.both("", [("c1", "f", raw)]):
        assert summary(reading) == [("c1", "f", read)]
        assert set(reading.outcome.flags) == flags


def arguments_of(form: Format, text: str = "{}") -> Any:
    return json.loads(text) if form is OLLAMA else text


@of_each
@pytest.mark.parametrize("identifier", [MISSING, None, ""])
def test_a_missing_id_stays_missing_and_is_flagged(form: Format, identifier: Any) -> None:
    for reading in form.both("", [(identifier, "f", arguments_of(form))]):
        assert summary(reading) == [(None, "f", {})]
        assert reading.outcome.flags == ("missing_id",)


@of_each
def test_doubled_ids_are_two_calls_and_flagged(form: Format) -> None:
    calls = [("functions.f:0", "f", arguments_of(form)), ("functions.f:0", "g", arguments_of(form))]
    for reading in form.both("", calls):
        assert [(name, arguments) for _, name, arguments in summary(reading)] == [("f", {}), ("g", {})]
        assert reading.outcome.flags == ("duplicate_id",)


@of_each
@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("functions.bash", ()),
        ("create_event<|channel|>analysis", ("template_leak",)),
        ("", ("missing_name",)),
    ],
)
def test_a_name_is_kept_as_it_came(form: Format, name: str, flags: tuple[str, ...]) -> None:
    for reading in form.both("", [("c1", name, arguments_of(form))]):
        assert summary(reading) == [("c1", name, {})]
        assert reading.outcome.flags == flags


@of_each
def test_a_call_written_into_the_text_earns_nothing(form: Format) -> None:
    for text in (
        '<tool_call>\n{"name": "book_room", "arguments": {"room": "north"}}\n</tool_call>',
        '[TOOL_CALLS][{"name": "book_room", "arguments": {}}]',
        '{"name": "book_room", "parameters": {"seats": 4}}',
    ):
        for reading in form.both(text, []):
            assert reading.outcome == Text(text, ("text_tool_call",))


@of_each
def test_a_token_limit_is_a_truncation(form: Format) -> None:
    for reading in form.both("The answer is", [], form.length):
        assert reading.outcome == Text("The answer is", ("truncated",))
        assert reading.finish == form.length


@of_text
def test_an_ending_in_calls_without_calls_is_flagged(form: Format) -> None:
    for reading in form.both("Hm.", [], form.calling):
        assert reading.outcome == Text("Hm.", ("empty_tool_calls",))


@of_each
def test_a_response_with_calls_may_end_in_any_word(form: Format) -> None:
    for reading in form.both("", [("c1", "f", arguments_of(form))], form.stop):
        assert summary(reading) == [("c1", "f", {})]


@of_each
def test_an_empty_answer_is_an_empty_text(form: Format) -> None:
    for reading in form.both("", []):
        assert reading.outcome == Text("", ("empty_text",))


# What is no message


@of_each
@pytest.mark.parametrize(
    ("raw", "code", "flags"),
    [
        (b"", "empty_body", ("connection",)),
        (b"<html><body>Sign in</body></html>", "html_body", ()),
        (b"upstream connect error", "not_json", ()),
        (b"12", "no_message", ()),
        (b"\xff\xfe", "not_json", ()),
    ],
)
def test_a_200_that_is_no_answer_is_a_provider_error(form: Format, raw: bytes, code: str, flags: Any) -> None:
    for stream in (False, True):
        reading = form.parse(raw, stream=stream)
        assert isinstance(reading.outcome, ProviderError)
        assert (reading.outcome.category, reading.outcome.code) == ("provider_error", code)
        assert reading.outcome.flags == flags
        assert reading.limits.retryable


@of_each
def test_a_cut_body_is_a_lost_connection(form: Format) -> None:
    whole = form.whole("Hello there.", [], form.stop)
    reading = form.parse(whole[:-9])
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.code, reading.outcome.flags) == ("truncated_body", ("connection",))


@of_each
def test_a_cut_stream_is_a_lost_connection_wherever_it_is_cut(form: Format) -> None:
    calls = [("c1", "f", arguments_of(form, '{"a": 1}'))]
    raw = form.stream("Hello there.", calls, form.calling)
    for cut in range(120, raw.rfind(b'"finish_reason"' if form is not OLLAMA else b'"done_reason"'), 7):
        reading = form.parse(raw[:cut], stream=True)
        assert isinstance(reading.outcome, ProviderError), raw[:cut]
        assert reading.outcome.code in {"stream_cut", "truncated_body"}
        assert "connection" in reading.outcome.flags


@of_each
@pytest.mark.parametrize(
    "raw",
    [
        b'{"error": "boom"}',
        b'{"message": "boom"}',
        b'{"id": "x", "message": "boom"}',
        b'{"detail": "boom"}',
        b'{"object": "error", "message": "boom", "type": "t", "param": null, "code": "1000"}',
        b'{"error": {"message": "boom", "code": 500}}',
    ],
)
def test_a_200_with_an_error_body_is_a_provider_error(form: Format, raw: bytes) -> None:
    reading = form.parse(raw)
    assert isinstance(reading.outcome, ProviderError)
    assert reading.outcome.message == "boom"


@of_each
def test_a_completion_without_a_message_is_no_error_body(form: Format) -> None:
    raw = {
        "mistral": {"choices": []},
        "cohere": {"id": "x", "message": None, "finish_reason": "COMPLETE"},
        "ollama": {"model": "m", "done": True},
    }[form.api]
    outcome = form.parse(encoded(raw)).outcome
    assert isinstance(outcome, ProviderError)
    assert outcome.code == "no_message"


@of_each
def test_a_stream_comes_unasked_and_a_body_in_place_of_one(form: Format) -> None:
    streamed, whole = form.stream("Hi there", [], form.stop), form.whole("Hi there", [], form.stop)
    assert form.parse(streamed).outcome == Text("Hi there", ("streamed_unasked",))
    assert form.parse(whole, stream=True).outcome == Text("Hi there", ("not_streamed",))


@of_each
@pytest.mark.parametrize(
    ("status", "category", "retryable"),
    [
        (400, "provider_error", False),
        (401, "authentication_error", False),
        (402, "rate_limited", False),
        (403, "authentication_error", False),
        (404, "provider_error", False),
        (422, "provider_error", False),
        (429, "rate_limited", True),
        (500, "provider_error", True),
        (501, "provider_error", True),
        (503, "provider_error", True),
        (504, "timeout", True),
    ],
)
def test_a_status_says_what_its_body_does_not(form: Format, status: int, category: str, retryable: bool) -> None:
    for raw in (b'{"message": "no"}', b'{"error": "no"}', b"", b"<p>no</p>"):
        reading = form.parse(raw, status)
        assert isinstance(reading.outcome, ProviderError)
        assert (reading.outcome.category, reading.limits.retryable) == (category, retryable), raw


@of_each
def test_the_wait_of_a_rate_limit_is_read(form: Format) -> None:
    reading = form.parse(b'{"message": "slow down"}', 429, headers={"Retry-After": "7"})
    assert (reading.limits.retry_after_s, reading.limits.retryable) == (7.0, True)


# Anything at all

KEYS = (
    "type delta message choices content text thinking tool_calls tool_plan function name arguments index id error done",
    "done_reason finish_reason usage tokens billed_units input_tokens model detail code citations",
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["text", "{}"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(" ".join(KEYS).split()), inner, max_size=5)
    ),
    max_leaves=15,
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {"function": st.fixed_dictionaries({}, optional={"name": VALUES, "arguments": VALUES})},
        optional={"id": VALUES, "index": VALUES, "type": VALUES},
    ),
    max_size=3,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "content": VALUES,
        "tool_calls": VALUES | CALLS,
        "thinking": VALUES,
        "tool_plan": VALUES,
        "citations": VALUES,
    },
)
FRAMES = {
    "mistral": st.builds(
        lambda key, message, finish: {"model": "m", "choices": [{key: message, "finish_reason": finish}]},
        st.sampled_from(["message", "delta"]),
        MESSAGES,
        VALUES,
    ),
    "cohere": st.builds(lambda message, finish: {"message": message, "finish_reason": finish}, MESSAGES, VALUES)
    | st.builds(
        lambda kind, message, index: {"type": kind, "index": index, "delta": {"message": message}},
        st.sampled_from(["message-start", "content-delta", "tool-call-start", "tool-call-delta"]),
        MESSAGES | VALUES,
        VALUES,
    ),
    "ollama": st.builds(
        lambda message, done, finish: {"message": message, "done": done, "done_reason": finish},
        MESSAGES,
        VALUES,
        VALUES,
    ),
}


def some_bytes(api: str) -> st.SearchStrategy[bytes]:
    values = st.lists(VALUES | FRAMES[api], max_size=4).map(lambda found: [json.dumps(value) for value in found])
    return (
        st.binary(max_size=200)
        | FRAMES[api].map(lambda value: json.dumps(value).encode())
        | values.map(lambda found: "\n".join(found).encode())
        | values.map(lambda found: "".join(f"data: {value}\n\n" for value in found).encode())
    )


@of_each
@given(data=st.data())
def test_any_bytes_are_read(form: Format, data: st.DataObject) -> None:
    status = data.draw(st.sampled_from([200, 200, 200, 201, 302, 400, 404, 422, 429, 498, 499, 500, 503, 599]))
    reading = form.parse(data.draw(some_bytes(form.api)), status, stream=data.draw(st.booleans()))
    assert isinstance(reading, Reading)
    assert set(reading.outcome.flags) <= FLAGS.keys()
    assert list(reading.outcome.flags) == sorted(set(reading.outcome.flags))
    for made in getattr(reading.outcome, "calls", ()):
        assert (made.arguments is None) == (made.malformed is not None)


@of_each
@given(data=st.data())
def test_any_answer_that_holds_a_message_can_be_followed(form: Format, data: st.DataObject) -> None:
    raw = data.draw(some_bytes(form.api))
    adapter = get_adapter(form.api)
    calls = len(getattr(form.parse(raw).outcome, "calls", ()))
    try:
        after = adapter.follow_up(request(), raw, results(*range(calls)), stream=False)
    except InputError:
        return
    sent = json.loads(adapter.build(after).body)["messages"]
    assert [message["role"] for message in sent[2:]] == ["assistant", *["tool"] * calls]


# Going on


@of_each
def test_three_rounds_of_parallel_calls_keep_every_word(form: Format) -> None:
    adapter = get_adapter(form.api)
    conversation = request()
    said = []
    for number in range(3):
        good, bad = f'{{"n":  {number}}}', f'{{"n": {number}'
        calls = [("AbCdEf123", "book_room", arguments_of(form, good)), ("", "find_person", bad)]
        streamed = bool(number % 2)
        raw = (form.stream if streamed else form.whole)("I will look.", calls, form.calling)
        outcome = adapter.parse(200, {}, raw, stream=streamed).outcome
        assert isinstance(outcome, ToolCalls)
        assert [made.malformed is None for made in outcome.calls] == [True, False]
        answers = [
            ToolResult(place, made.id, made.name, {"ok": made.malformed is None}, made.malformed is not None)
            for place, made in enumerate(outcome.calls)
        ]
        conversation = adapter.follow_up(conversation, raw, answers[::-1], stream=streamed)
        said += [arguments_of(form, good), {} if form is OLLAMA else bad]
    wire = adapter.build(conversation)
    sent = json.loads(wire.body)["messages"]
    assert [message["role"] for message in sent] == ["system", "user", *["assistant", "tool", "tool"] * 3]
    echoed = [entry for message in sent if message["role"] == "assistant" for entry in message["tool_calls"]]
    assert [entry["function"]["arguments"] for entry in echoed] == said
    ids = [entry["id"] for entry in echoed]
    assert len(set(ids)) == 6
    tools = [message for message in sent if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in tools] == ids
    assert [message["content"] for message in tools] == ['{"ok":true}', '{"ok":false}'] * 3
    rules = [change.rule for change in wire.transformations]
    assert rules == (["arguments_not_an_object"] * 3 if form is OLLAMA else [])


@of_each
def test_whole_and_streamed_are_echoed_alike(form: Format) -> None:
    calls = [("AbCdEf123", "book_room", arguments_of(form, '{"seats": 4}'))]
    adapter = get_adapter(form.api)
    for text, made in (("I will look.", calls), ("Hello there.", [])):
        finish = form.calling if made else form.stop
        answers = results(*("ok" for _ in made))
        whole = adapter.follow_up(request(), form.whole(text, made, finish), answers, stream=False)
        streamed = adapter.follow_up(request(), form.stream(text, made, finish), answers, stream=True)
        assert whole == streamed


@of_each
def test_a_response_without_a_message_cannot_be_followed(form: Format) -> None:
    for raw in (b"", b"<html>", b'{"error": "no"}', b'{"message": "no"}', b'{"cut'):
        with pytest.raises(InputError, match="raw_response: the response holds no assistant message"):
            get_adapter(form.api).follow_up(request(), raw, [], stream=False)


@of_each
def test_results_must_fit_the_calls(form: Format) -> None:
    raw = form.whole("", [("c1", "f", arguments_of(form))], form.calling)
    with pytest.raises(InputError, match="tool results do not fit"):
        get_adapter(form.api).follow_up(request(), raw, results(1, 2), stream=False)
