"""One Responses body, whole or streamed, becomes one outcome; nothing of what came is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from items_kit import BODIES, RESPONSES, completed, created, delta, events, fc, item, read, response, summary, words

from callscope.contract import Malformed, ProviderError, Reading, Refusal, Text, ToolCalls, Usage
from callscope.providers import FLAGS

EMPTY: dict[str, Any] = {}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}


def refusal(said: str) -> dict[str, Any]:
    return words("", content=[{"type": "refusal", "refusal": said}])


def test_a_call_is_read_with_its_call_id() -> None:
    usage = {
        "input_tokens": 9,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    reading = read(RESPONSES, response(REASONING, words("Let me see."), fc(arguments='{"a": 1}'), usage=usage))
    assert isinstance(reading.outcome, ToolCalls)
    assert summary(reading) == [("call_1", "f", {"a": 1})]
    assert (reading.outcome.text, reading.outcome.flags) == ("Let me see.", ())
    assert reading.usage == Usage(9, 5, 2, 4, 1)
    assert (reading.model, reading.finish, reading.first_call_at) == ("m-1", "completed", None)


def test_several_messages_are_one_text_and_refusals_are_refusals() -> None:
    both = response(words("One. ", phase="commentary"), words("Two.", phase="final_answer"))
    assert read(RESPONSES, both).outcome == Text("One. Two.")
    assert read(RESPONSES, response(refusal("I cannot."))).outcome == Refusal("I cannot.")
    beside = read(RESPONSES, response(refusal("No."), fc())).outcome
    assert isinstance(beside, ToolCalls)
    assert beside.flags == ("refusal_beside_calls",)
    assert read(RESPONSES, response({"type": "message", "content": "bare"})).outcome == Text("bare")
    odd = {
        "type": "message",
        "content": [3, {"type": "output_text", "text": None}, {"type": "output_text", "text": "a"}],
    }
    assert read(RESPONSES, response(odd)).outcome == Text("a")


# (arguments, what they are read as, flags)
ARGUMENTS: list[tuple[Any, Any, set[str]]] = [
    ("", EMPTY, {"empty_arguments"}),  # vllm#19419 and others
    (None, EMPTY, {"null_arguments"}),  # litellm#4440, inspect_ai#1874
    ('{}""', "extra_data", set()),  # inspect_ai#4822
    (json.dumps('{"a": 1}'), {"a": 1}, {"double_encoded"}),  # livekit#5411
    ('{"a": 1}\\n', "extra_data", set()),  # OpenHands SDK#2488
    ('{"a": "\\x"}', "invalid_escape", set()),  # claude-code#79339
    ('{"a": "\\ud83d"}', {"a": "\ud83d"}, {"lone_surrogate"}),  # inspect_ai#3802
    ({"a": 2**70}, {"a": 2**70}, {"arguments_not_a_string", "big_integer"}),
    ('{"a": 1', "truncated", {"truncated"}),
    ('{"a": "x\ny"}', "control_character", set()),
    ('{"a": 1, "a": 2}', {"a": 2}, {"duplicate_keys"}),
    ('{"a": "[1]"}', {"a": "[1]"}, set()),
    ("[1]", "not_an_object", set()),
]


@pytest.mark.parametrize(("arguments", "value", "flags"), ARGUMENTS)
def test_arguments_are_read_and_never_repaired(arguments: Any, value: Any, flags: set[str]) -> None:
    reading = read(RESPONSES, response(fc(arguments=arguments)))
    assert summary(reading) == [("call_1", "f", value)]
    assert set(reading.outcome.flags) == flags


@pytest.mark.parametrize(
    ("entry", "calls", "flags"),
    [
        ({"type": "function_call", "name": "f"}, [(None, "f", EMPTY)], {"absent_arguments", "missing_id"}),
        (fc(call_id=""), [(None, "f", EMPTY)], {"missing_id"}),
        (fc(name=""), [("call_1", "", EMPTY)], {"missing_name"}),
        (fc(name="f<|channel|>analysis"), [("call_1", "f<|channel|>analysis", EMPTY)], {"template_leak"}),
        (fc(name="functions.f"), [("call_1", "functions.f", EMPTY)], set()),
        (fc(namespace="tools"), [("call_1", "f", EMPTY)], {"namespaced_call"}),
        (fc(status="incomplete", arguments='{"a'), [("call_1", "f", "truncated")], {"truncated"}),
        ({"type": "function_call"}, [], {"empty_text"}),
    ],
)
def test_odd_calls_are_kept_as_they_are(entry: Any, calls: Any, flags: set[str]) -> None:
    reading = read(RESPONSES, response(entry))
    assert summary(reading) == calls
    assert set(reading.outcome.flags) == flags


def test_the_wrapper_named_parallel_is_a_call_of_an_undeclared_tool() -> None:
    inner = {"tool_uses": [{"recipient_name": "functions.f", "parameters": {"a": 1}}]}
    reading = read(RESPONSES, response(fc("parallel", json.dumps(inner))))
    assert summary(reading) == [("call_1", "parallel", inner)]


def test_free_text_of_a_custom_tool_is_read_as_argument_text() -> None:
    custom = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "sql", "input": "SELECT 1"}
    outcome = read(RESPONSES, response(custom)).outcome
    assert isinstance(outcome, ToolCalls)
    assert outcome.calls[0].malformed == Malformed("syntax", "SELECT 1")
    assert outcome.flags == ("custom_tool_call",)


def test_items_of_the_servers_own_tools_are_out_of_the_way() -> None:
    others = [{"type": kind} for kind in ("web_search_call", "mcp_call", "some_future_item", None)]
    reading = read(RESPONSES, response(*others[:2], fc(), *others[2:]))
    assert summary(reading) == [("call_1", "f", EMPTY)]
    assert reading.outcome.flags == ("unread_items",)
    assert read(RESPONSES, response(others[0])).outcome == Text("", ("empty_text", "unread_items"))


def test_equal_call_ids_are_flagged() -> None:
    assert read(RESPONSES, response(fc("f"), fc("g"))).outcome.flags == ("duplicate_id",)


@pytest.mark.parametrize(
    ("reason", "flags"),
    [("max_output_tokens", ("truncated",)), ("content_filter", ("content_filter",)), ("steered", ())],
)
def test_an_incomplete_response_says_why(reason: str, flags: tuple[str, ...]) -> None:
    body = response(words("Half an"), status="incomplete", incomplete_details={"reason": reason})
    reading = read(RESPONSES, body)
    kind = Refusal if reason == "content_filter" else Text
    assert reading.outcome == kind("Half an", flags)
    assert reading.finish == reason
    assert read(RESPONSES, events(created(), {"type": "response.incomplete", "response": body})) == reading


def test_a_call_in_the_text_or_in_the_reasoning_earns_nothing() -> None:
    written = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert read(RESPONSES, response(words(written))).outcome == Text(written, ("text_tool_call",))
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": written}]}
    assert read(RESPONSES, response(thought)).outcome == Text("", ("empty_text", "reasoning_tool_call"))


FAILED = {"code": "rate_limit_exceeded", "message": "Rate limit reached"}


@pytest.mark.parametrize(
    ("raw", "category", "code", "flags", "retryable"),
    [
        (response(status="failed", error=FAILED), "rate_limited", "rate_limit_exceeded", (), True),
        (response(fc(), status="failed", error=FAILED), "rate_limited", "rate_limit_exceeded", (), True),
        (response(fc(), status="failed"), "provider_error", "failed", (), True),
        (response(status="cancelled"), "provider_error", "cancelled", (), True),
        (response(status="queued", output=None), "provider_error", "queued", (), True),
        (response(status="in_progress"), "provider_error", "in_progress", (), True),
        ({"error": {"message": "boom", "code": None}}, "provider_error", "unnamed_error", (), True),
        (
            response(status="failed", error={"code": "bio_policy", "message": "Blocked."}),
            "provider_error",
            "bio_policy",
            ("content_filter",),
            False,
        ),
        (b"", "provider_error", "empty_body", ("connection",), True),
        (json.dumps(response(fc())).encode()[:-20], "provider_error", "truncated_body", ("connection",), True),
        (b"12", "provider_error", "no_message", (), True),
        (events(created()), "provider_error", "stream_cut", ("connection",), True),
        (events(created(), item("added", 0, fc(arguments=""))), "provider_error", "stream_cut", ("connection",), True),
        (
            events(created(), {"type": "error", "code": "server_error", "message": "x"}),
            "provider_error",
            "server_error",
            (),
            True,
        ),
        (
            events(
                created(),
                {
                    "type": "error",
                    "error": {"type": "insufficient_quota", "code": "insufficient_quota", "message": "q"},
                },
                {"type": "response.failed", "response": response(status="failed", error=FAILED)},
            ),
            "rate_limited",
            "insufficient_quota",
            ("quota",),
            False,
        ),
        (
            events(created(), {"type": "response.failed", "response": response(status="failed", error=FAILED)}),
            "rate_limited",
            "rate_limit_exceeded",
            (),
            True,
        ),
    ],
)
def test_a_200_without_an_answer_is_a_provider_error(
    raw: Any, category: str, code: str, flags: tuple[str, ...], retryable: bool
) -> None:
    reading = read(RESPONSES, raw)
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.category, reading.outcome.code, reading.outcome.flags) == (category, code, flags)
    assert reading.limits.retryable is retryable


def test_an_error_event_without_a_name_is_one_by_its_type() -> None:
    raw = b'data: {"type": "error", "code": "server_error", "message": "x"}\n\n'
    outcome = read(RESPONSES, raw).outcome
    assert outcome == ProviderError("provider_error", "server_error", "x")


def test_a_response_that_says_it_goes_on_but_holds_a_call_is_read() -> None:
    assert summary(read(RESPONSES, response(fc(), status="in_progress"))) == [("call_1", "f", EMPTY)]
    assert read(RESPONSES, response(fc(), status=None)).finish is None


ERRORS: list[tuple[int, dict[str, Any], str, set[str]]] = [
    (400, {"code": "invalid_function_parameters", "param": "tools[0].parameters"}, "schema_rejected", set()),
    (400, {"message": "Invalid schema for function 'f': 'oneOf' is not permitted."}, "schema_rejected", set()),
    (
        400,
        {"message": "Unsupported parameter: 'temperature' is not supported with this model.", "param": "temperature"},
        "provider_error",
        {"unsupported_parameter"},
    ),
    (400, {"code": "context_length_exceeded"}, "provider_error", {"context_length"}),
    (400, {"code": "invalid_prompt", "message": "Your prompt was flagged."}, "provider_error", {"content_filter"}),
    (401, {"code": "invalid_api_key"}, "authentication_error", set()),
    (429, {"code": "insufficient_quota"}, "rate_limited", {"quota"}),
    (503, {"message": "x"}, "provider_error", {"overloaded"}),
]


@pytest.mark.parametrize(("status", "fields", "category", "flags"), ERRORS)
def test_errors_fall_into_their_categories(status: int, fields: dict[str, Any], category: str, flags: set[str]) -> None:
    outcome = read(RESPONSES, {"error": {"message": "m", **fields}}, status).outcome
    assert isinstance(outcome, ProviderError)
    assert (outcome.category, set(outcome.flags)) == (category, flags)


def test_limits_are_read_from_the_headers() -> None:
    headers = {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-tokens": "1m2s", "retry-after-ms": "250"}
    limits = read(RESPONSES, response(fc()), 200, headers).limits
    assert (limits.remaining_requests, limits.reset_tokens_s, limits.retry_after_s) == (3, 62.0, 0.25)


# Streams


def streamed(*values: Any) -> Reading:
    return read(RESPONSES, events(created(), *values))


PIECES = (
    item("added", 0, fc(arguments="", status="in_progress")),
    delta("function_call_arguments", '{"a"', item_id="fc_1"),
    delta("function_call_arguments", ": 1}", item_id="fc_1"),
    {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a": 1}'},
)
WHOLE = fc(arguments='{"a": 1}')


@pytest.mark.parametrize(
    "ending",
    [
        (item("done", 0, WHOLE), completed(WHOLE)),
        (completed(WHOLE),),
        (item("done", 0, WHOLE), completed()),
        (completed(),),
        (item("done", 0, fc(arguments="")), completed(fc(arguments=""))),
        (item("done", 0, fc(arguments=None)), completed()),
        (completed({**WHOLE, "id": "fc_9"}),),
        (completed({**WHOLE, "id": "fc_9", "call_id": "call_1"}),),
    ],
)
def test_a_streamed_call_is_read_from_whatever_part_of_it_came(ending: Any) -> None:
    reading = streamed(*PIECES, *ending)
    assert summary(reading) == [("call_1", "f", {"a": 1})]
    assert reading.outcome.flags == ()
    assert reading.first_call_at == len(events(created(), *PIECES[:3]))


def test_a_call_may_come_whole_or_in_its_last_event_only() -> None:
    for ending in ((item("done", 0, WHOLE), completed(WHOLE)), (completed(WHOLE),)):
        reading = streamed(*ending)
        assert summary(reading) == [("call_1", "f", {"a": 1})]
        assert reading.first_call_at == len(events(created(), ending[0]))
    late = (item("added", 0, fc(arguments="")), item("done", 0, WHOLE), completed(WHOLE))
    assert streamed(*late).first_call_at == len(events(created(), *late[:2]))
    only_done = (PIECES[0], PIECES[3], completed())
    assert summary(streamed(*only_done)) == [("call_1", "f", {"a": 1})]


def test_pieces_that_differ_from_the_final_form_are_flagged() -> None:
    reading = streamed(*PIECES, completed(fc(arguments='{"a": 2}')))
    assert summary(reading) == [("call_1", "f", {"a": 2})]
    assert reading.outcome.flags == ("differing_arguments",)


def test_parallel_calls_are_told_apart_by_id_and_by_index() -> None:
    one, two = fc("f", "", "c1", id="fc_1"), fc("g", "", "c2", id="fc_2")
    for named in (True, False):
        ids = ({"item_id": "fc_1"}, {"item_id": "fc_2"}) if named else ({}, {})
        reading = streamed(
            item("added", 1, one),
            item("added", 2, two),
            delta("function_call_arguments", '{"x"', 1, **ids[0]),
            delta("function_call_arguments", '{"y"', 2, **ids[1]),
            delta("function_call_arguments", ":1}", 1, **ids[0]),
            delta("function_call_arguments", ":2}", 2, **ids[1]),
            completed(),
        )
        assert summary(reading) == [("c1", "f", {"x": 1}), ("c2", "g", {"y": 2})]
        assert reading.outcome.flags == ()


def test_calls_that_share_an_index_are_both_kept() -> None:
    one, two = fc("f", "", "c1", id="fc_1"), fc("g", "", "c2", id="fc_2")
    reading = streamed(
        item("added", 0, one),
        delta("function_call_arguments", "{}", 0, "fc_1"),
        item("done", 0, {**one, "arguments": "{}"}),
        item("added", 0, two),
        delta("function_call_arguments", '{"y":2}', 0, "fc_2"),
        item("done", 0, {**two, "arguments": '{"y":2}'}),
        completed(),
    )
    assert summary(reading) == [("c1", "f", EMPTY), ("c2", "g", {"y": 2})]
    assert reading.outcome.flags == ("shared_index",)


def test_ids_that_change_in_every_event_do_not_double_anything() -> None:
    """GitHub Copilot does this; the index holds."""
    reading = streamed(
        item("added", 0, {**REASONING, "id": "1"}),
        item("done", 0, {**REASONING, "id": "2"}),
        item("added", 1, fc(arguments="", id="3")),
        delta("function_call_arguments", "{}", 1, "4"),
        item("done", 1, fc(id="5")),
        completed({**REASONING, "id": "6"}, fc(id="7")),
    )
    assert summary(reading) == [("call_1", "f", EMPTY)]
    assert reading.outcome.flags == ()


def test_pieces_under_an_index_of_another_item_go_to_the_open_call() -> None:
    reading = streamed(
        item("added", 0, REASONING),
        item("added", 1, fc(arguments="")),
        delta("function_call_arguments", '{"a":', 0),
        delta("function_call_arguments", "1}", 7),
        completed(),
    )
    assert summary(reading) == [("call_1", "f", {"a": 1})]
    assert reading.outcome.flags == ("mismatched_index",)
    second = fc("g", "", "call_2", id="fc_2")
    closed = (item("done", 0, WHOLE), item("added", 1, second), item("added", 2, {"type": "message", "id": "m"}))
    reading = streamed(*closed, delta("function_call_arguments", '{"b":2}', 2), completed())
    assert summary(reading) == [("call_1", "f", {"a": 1}), ("call_2", "g", {"b": 2})]


def test_pieces_whose_beginning_never_came_make_an_item_of_their_own() -> None:
    reading = streamed(delta("function_call_arguments", "{}", None), completed())
    assert summary(reading) == [(None, "", EMPTY)]
    assert reading.outcome.flags == ("missing_id", "missing_name")
    assert streamed(delta("output_text", "Hel", None), delta("output_text", "lo", "x"), completed()).outcome == Text(
        "Hello"
    )


def test_a_beginning_that_is_repeated_is_one_item() -> None:
    reading = streamed(PIECES[0], PIECES[0], *PIECES[1:], completed())
    assert summary(reading) == [("call_1", "f", {"a": 1})]


def test_streamed_words_refusals_and_reasoning_are_put_together() -> None:
    said = streamed(
        item("added", 0, {"type": "message", "id": "msg_1", "role": "assistant", "content": []}),
        delta("output_text", "One", content_index=0),
        delta("output_text", " two", content_index=0),
        delta("output_text", ".", content_index=1),
        {"type": "response.output_text.done", "output_index": 0, "content_index": 1, "text": "."},
        {"type": "response.content_part.done", "output_index": 0, "part": {"type": "output_text", "text": "."}},
        {"type": "response.some_future_event", "output_index": 0},
        completed(),
    )
    assert said.outcome == Text("One two.")
    assert streamed(delta("refusal", "No."), completed(refusal("No."))).outcome == Refusal("No.")
    done = {"type": "response.refusal.done", "output_index": 0, "refusal": "No."}
    assert read(RESPONSES, events(created(), done) + b"data: [DONE]\n\n").outcome == Refusal("No.")
    written = 'functions.f({"a": 1})'
    thought = streamed(delta("reasoning_summary_text", written, summary_index=0), completed())
    assert thought.outcome == Text("", ("empty_text", "reasoning_tool_call"))


def test_a_stream_closed_by_a_mark_alone_is_whole() -> None:
    raw = events(created(), *PIECES, item("done", 0, WHOLE)) + b"data: [DONE]\n\n"
    assert summary(read(RESPONSES, raw)) == [("call_1", "f", {"a": 1})]


def test_a_call_beyond_the_final_list_is_not_lost() -> None:
    other = fc("g", "{}", "c2", id="fc_2")
    reading = streamed(item("done", 0, WHOLE), item("done", 1, other), completed(WHOLE))
    assert [name for _, name, _ in summary(reading)] == ["f", "g"]


@pytest.mark.parametrize(
    "value",
    [
        {"type": "response.output_item.added", "item": 3},
        {"type": "response.output_item.added", "output_index": [0], "item": {"type": ["x"], "id": {}}},
        {"type": "response.function_call_arguments.delta", "delta": {"a": 1}, "item_id": []},
        {"type": "response.completed", "response": response(output=3)},
        {"type": "response.completed", "response": response(usage=3, model=4, incomplete_details=5)},
        {"type": "response.", "response": None},
        {"type": 3},
        ["x"],
    ],
)
def test_shapes_of_no_sense_do_no_harm(value: Any) -> None:
    raw = b"data: " + json.dumps(value).encode() + b"\n\n" + events(*PIECES, completed())
    assert summary(read(RESPONSES, raw)) == [("call_1", "f", {"a": 1})]


# Bodies of the embedded server


def body_of(name: str, status: int = 200) -> Reading:
    return read(RESPONSES, (BODIES / name).read_bytes(), status)


def test_the_embedded_servers_call_is_read() -> None:
    reading = body_of("responses-function_call.json")
    assert [(name, arguments) for _, name, arguments in summary(reading)] == [
        ("lookup_order", {"order_id": "ORD-104821"})
    ]
    assert reading.usage == Usage(593, 25, None, 575)


def test_an_answer_its_grammar_cannot_read_is_the_models_malformed_call() -> None:
    whole = body_of("responses-unknown-tool-500.json", 500)
    error = json.loads((BODIES / "responses-unknown-tool-500.json").read_bytes())["error"]
    for reading in (whole, streamed({"error": error}), streamed({**error, "type": "error"})):
        assert isinstance(reading.outcome, ToolCalls)
        assert reading.outcome.calls[0].malformed is not None
        assert "provider_rejected_call" in reading.outcome.flags


@pytest.mark.parametrize(
    ("name", "status", "category"),
    [
        ("bad-schema.json", 400, "schema_rejected"),
        ("too-long-400.json", 400, "provider_error"),
        ("wrong-key-401.json", 401, "authentication_error"),
    ],
)
def test_refusals_of_the_embedded_server_are_coverage_loss(name: str, status: int, category: str) -> None:
    outcome = body_of(name, status).outcome
    assert isinstance(outcome, ProviderError)
    assert outcome.category == category


# Whatever comes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            [
                "error",
                "response.output_item.added",
                "response.output_item.done",
                "response.completed",
                "response.created",
                "response.function_call_arguments.delta",
                "response.function_call_arguments.done",
                "response.output_text.delta",
                "response.refusal.done",
                "response.reasoning_text.delta",
            ]
        )
        | JSON,
        "output_index": st.integers(0, 2) | JSON,
        "item_id": st.sampled_from(["a", "b"]) | JSON,
        "delta": st.text(max_size=4) | JSON,
        "arguments": st.text(max_size=4) | JSON,
        "error": JSON,
        "item": st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(["function_call", "message", "reasoning", "custom_tool_call"]) | JSON,
                "id": st.sampled_from(["a", "b"]) | JSON,
                "call_id": st.sampled_from(["a", "b"]) | JSON,
                "name": st.text(max_size=3) | JSON,
                "arguments": st.text(max_size=4) | JSON,
                "input": JSON,
                "content": JSON,
                "summary": JSON,
            },
        ),
        "response": st.fixed_dictionaries({}, optional={"output": st.lists(JSON), "status": JSON, "error": JSON}),
        "output": st.lists(JSON) | JSON,
    },
)


@given(st.binary(), st.integers(100, 599), st.booleans())
def test_any_bytes_give_a_reading(raw: bytes, status: int, stream: bool) -> None:
    assert isinstance(RESPONSES.parse(status, {}, raw, stream=stream), Reading)


@given(st.lists(FIELDS | JSON, max_size=8), st.sampled_from([200, 400, 500]), st.booleans())
def test_any_events_give_a_reading_with_known_flags(values: list[Any], status: int, whole: bool) -> None:
    lines = [json.dumps(value) for value in values]
    raw = lines[0] if whole and lines else "".join(f"data: {line}\n\n" for line in lines)
    reading = RESPONSES.parse(status, {}, raw.encode(), stream=not whole)
    assert set(reading.outcome.flags) <= FLAGS.keys()
    for call in getattr(reading.outcome, "calls", ()):
        assert (call.arguments is None) != (call.malformed is None)
