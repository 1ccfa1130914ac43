"""One Anthropic message, whole or streamed, becomes one outcome; nothing of what came is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from items_kit import ANTHROPIC, BODIES, begin, events, finish, message, partial, piece, read, start, summary, text, use

from callscope.contract import Malformed, ProviderError, Reading, Refusal, Text, ToolCalls, Usage
from callscope.providers import FLAGS

EMPTY: dict[str, Any] = {}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
POLICY = "This request was blocked under the usage policy."


def streamed(*values: Any, stop: str = "tool_use", **more: Any) -> Reading:
    return read(ANTHROPIC, events(begin(**more), *values, *finish(stop)))


def test_a_call_is_read() -> None:
    usage = {
        "input_tokens": 9,
        "cache_creation_input_tokens": 3,
        "cache_read_input_tokens": 4,
        "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 2},
    }
    body = message(THINKING, text("Let me see."), use(arguments={"a": 1}), stop="tool_use", usage=usage)
    reading = read(ANTHROPIC, body)
    assert isinstance(reading.outcome, ToolCalls)
    assert summary(reading) == [("toolu_1", "f", {"a": 1})]
    assert (reading.outcome.text, reading.outcome.flags) == ("Let me see.", ())
    assert reading.usage == Usage(16, 5, 2, 4, 3)
    assert (reading.model, reading.finish, reading.first_call_at) == ("m-1", "tool_use", None)


def test_usage_that_was_not_given_is_unknown() -> None:
    assert read(ANTHROPIC, message(text("a"), usage={"output_tokens": 1})).usage == Usage(None, 1)


# (input, what it is read as, flags)
INPUTS: list[tuple[Any, Any, set[str]]] = [
    ({}, EMPTY, set()),
    ("", EMPTY, {"empty_arguments"}),
    ("{}", {}, {"double_encoded"}),
    ("[1]", "not_an_object", set()),
    ("words", "not_an_object", set()),
    ([1], "not_an_object", set()),
    ({"n": 2**70}, {"n": 2**70}, {"big_integer"}),
    ({"s": "\ud83d"}, {"s": "\ud83d"}, {"lone_surrogate"}),
]


@pytest.mark.parametrize(("given_", "value", "flags"), INPUTS)
def test_input_is_read_and_never_repaired(given_: Any, value: Any, flags: set[str]) -> None:
    reading = read(ANTHROPIC, message(use(arguments=given_), stop="tool_use"))
    assert summary(reading) == [("toolu_1", "f", value)]
    assert set(reading.outcome.flags) == flags


def test_a_key_that_stands_twice_is_flagged() -> None:
    raw = json.dumps(message(use(arguments={"a": 1}))).replace('"a": 1', '"a": 1, "a": 2')
    reading = read(ANTHROPIC, raw.encode())
    assert summary(reading) == [("toolu_1", "f", {"a": 2})]
    assert reading.outcome.flags == ("duplicate_keys",)


@pytest.mark.parametrize(
    ("block", "calls", "flags"),
    [
        ({"type": "tool_use", "name": "f"}, [(None, "f", EMPTY)], {"absent_arguments", "missing_id"}),
        ({"type": "tool_use", "id": "t", "name": "f", "input": None}, [("t", "f", EMPTY)], {"null_arguments"}),
        (use(identifier=""), [(None, "f", EMPTY)], {"missing_id"}),
        (use(name=""), [("toolu_1", "", EMPTY)], {"missing_name"}),
        (use(caller={"type": "direct"}), [("toolu_1", "f", EMPTY)], set()),
        ({"type": "tool_use"}, [], {"empty_text", "empty_tool_calls"}),
    ],
)
def test_odd_calls_are_kept_as_they_are(block: Any, calls: Any, flags: set[str]) -> None:
    reading = read(ANTHROPIC, message(block, stop="tool_use"))
    assert summary(reading) == calls
    assert set(reading.outcome.flags) == flags


def test_blocks_of_the_servers_own_tools_are_out_of_the_way() -> None:
    others = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        {"type": "mcp_tool_use", "id": "m", "name": "x", "input": {}},
        {"type": "fallback", "from": {}, "to": {}},
        {"type": None},
    ]
    reading = read(ANTHROPIC, message(*others[:3], use(), *others[3:], stop="tool_use"))
    assert summary(reading) == [("toolu_1", "f", EMPTY)]
    assert reading.outcome.flags == ("unread_items",)
    assert read(ANTHROPIC, message(*others, stop="pause_turn")).outcome == Text("", ("empty_text", "unread_items"))


@pytest.mark.parametrize(
    ("content", "details", "said"),
    [
        ((), {"type": "refusal", "category": "cyber", "explanation": POLICY}, POLICY),
        ((), None, None),
        ((text("I will not."),), {"explanation": POLICY}, "I will not."),
        ((), {"explanation": None}, None),
    ],
)
def test_a_refusal_is_one_even_without_content(content: Any, details: Any, said: str | None) -> None:
    reading = read(ANTHROPIC, message(*content, stop="refusal", stop_details=details))
    assert reading.outcome == Refusal(said, ("content_filter",))
    blocks = [start(index, block) for index, block in enumerate(content)]
    delta = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}
    assert read(ANTHROPIC, events(begin(), *blocks, delta, {"type": "message_stop"})).outcome == reading.outcome


def test_a_refusal_beside_a_call_leaves_the_call() -> None:
    reading = read(ANTHROPIC, message(use(), stop="refusal", stop_details={"explanation": POLICY}))
    assert summary(reading) == [("toolu_1", "f", EMPTY)]
    assert reading.outcome.flags == ("content_filter", "refusal_beside_calls")


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_a_response_cut_at_a_limit_is_flagged(stop: str) -> None:
    assert read(ANTHROPIC, message(text("Half an"), stop=stop)).outcome == Text("Half an", ("truncated",))
    reading = read(ANTHROPIC, message(use(arguments={"a": 1}), stop=stop))
    assert (summary(reading), reading.outcome.flags) == ([("toolu_1", "f", {"a": 1})], ("truncated",))


def test_a_finish_word_makes_no_call_and_unmakes_none() -> None:
    assert read(ANTHROPIC, message(text("a"), stop="tool_use")).outcome == Text("a", ("empty_tool_calls",))
    assert summary(read(ANTHROPIC, message(use(), stop="end_turn"))) == [("toolu_1", "f", EMPTY)]
    assert read(ANTHROPIC, message(text("a"), stop="brand_new")).finish == "brand_new"


def test_a_call_in_the_text_or_in_the_thinking_earns_nothing() -> None:
    written = '<invoke name="f">'
    assert read(ANTHROPIC, message(text(written))).outcome == Text(written, ("text_tool_call",))
    thought = {"type": "thinking", "thinking": written}
    assert read(ANTHROPIC, message(thought)).outcome == Text("", ("empty_text", "reasoning_tool_call"))


def test_content_that_is_a_string_is_its_text() -> None:
    assert read(ANTHROPIC, {**message(), "content": "bare"}).outcome == Text("bare")


@pytest.mark.parametrize(
    ("raw", "code", "flags"),
    [
        (b"", "empty_body", ("connection",)),
        (b"<html>", "html_body", ()),
        (json.dumps(message(use())).encode()[:-9], "truncated_body", ("connection",)),
        (b"[]", "no_message", ()),
        ({"type": "error", "error": {"type": "api_error", "message": "x"}}, "api_error", ()),
        ({"type": "error", "message": "x"}, "unnamed_error", ()),
        ({"type": "message", "content": None}, "message", ()),
        (events(begin()), "stream_cut", ("connection",)),
        (events(begin(), start(0, use()), partial(0, '{"a"')), "stream_cut", ("connection",)),
        (
            events(begin(), {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "overloaded_error",
            ("overloaded",),
        ),
        (
            events(
                begin(), start(0, use()), {"type": "error", "error": {"type": "api_error", "message": "x"}}, *finish()
            ),
            "api_error",
            (),
        ),
    ],
)
def test_a_200_without_an_answer_is_a_provider_error(raw: Any, code: str, flags: tuple[str, ...]) -> None:
    reading = read(ANTHROPIC, raw)
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.category, reading.outcome.code) == ("provider_error", code)
    assert reading.outcome.flags == flags
    assert reading.limits.retryable


FORCED = 'tool_choice: type "tool" and "any" are not supported for this model.'
TOP_LEVEL = "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
MANY = "Too many strict tools (48). The maximum number of strict tools is 20."
PAIRING = "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1."
BAD = "invalid_request_error"
FORCED_SET, UNSUPPORTED, LONG = {"forced_choice_unsupported"}, {"unsupported_parameter"}, {"context_length"}
NONE: set[str] = set()
# (status, type, message, error_code, category, flags, retryable)
ERRORS: list[tuple[int, str, str, str | None, str, set[str], bool]] = [
    (400, BAD, FORCED, None, "schema_rejected", FORCED_SET, False),
    (
        400,
        BAD,
        "Thinking may not be enabled when tool_choice forces tool use.",
        None,
        "schema_rejected",
        FORCED_SET,
        False,
    ),
    (400, BAD, TOP_LEVEL, None, "schema_rejected", NONE, False),
    (400, BAD, "tools.0.custom.input_schema.type: Field required", None, "schema_rejected", NONE, False),
    (400, BAD, MANY, None, "schema_rejected", NONE, False),
    (400, BAD, "Schemas contain too many optional parameters (30).", None, "schema_rejected", NONE, False),
    (400, BAD, "Grammar compilation timed out.", None, "schema_rejected", NONE, False),
    (400, BAD, "The compiled grammar is too large.", None, "schema_rejected", NONE, False),
    (400, BAD, "tools: Tool names must be unique.", "tool_name_conflict", "schema_rejected", NONE, False),
    (400, BAD, "prompt is too long: 208310 tokens > 200000 maximum", None, "provider_error", LONG, False),
    (400, BAD, "input length and `max_tokens` exceed context limit: 9 + 9 > 10", None, "provider_error", LONG, False),
    (400, BAD, "`temperature` is deprecated for this model.", None, "provider_error", UNSUPPORTED, False),
    (400, BAD, "`temperature` may only be set to 1 when thinking is on.", None, "provider_error", UNSUPPORTED, False),
    (400, BAD, PAIRING, None, "provider_error", NONE, False),
    (401, "authentication_error", "invalid x-api-key", None, "authentication_error", NONE, False),
    (402, "billing_error", "x", None, "rate_limited", {"quota"}, False),
    (403, "permission_error", "x", None, "authentication_error", NONE, False),
    (404, "not_found_error", "model: m", None, "provider_error", NONE, False),
    (413, "request_too_large", "x", None, "provider_error", NONE, False),
    (429, "rate_limit_error", "x", None, "rate_limited", NONE, True),
    (429, "rate_limit_error", "x", "contract_spend_limit_reached", "rate_limited", {"quota"}, False),
    (429, "rate_limit_error", "x", "enforced_spend_limit_reached", "rate_limited", {"quota"}, False),
    (429, "rate_limit_error", "x", "ramp_limit_exceeded", "rate_limited", {"quota"}, False),
    (500, "api_error", "x", None, "provider_error", NONE, True),
    (504, "timeout_error", "x", None, "timeout", NONE, True),
    (529, "overloaded_error", "Overloaded", None, "provider_error", {"overloaded"}, True),
]


@pytest.mark.parametrize(("status", "kind", "said", "error_code", "category", "flags", "retryable"), ERRORS)
def test_errors_fall_into_their_categories(
    status: int, kind: str, said: str, error_code: str | None, category: str, flags: set[str], retryable: bool
) -> None:
    details = {} if error_code is None else {"details": {"error_code": error_code}}
    body = {"type": "error", "error": {"type": kind, "message": said, **details}, "request_id": "req_1"}
    reading = read(ANTHROPIC, body, status)
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.category, reading.outcome.code) == (category, error_code or kind)
    assert (set(reading.outcome.flags), reading.limits.retryable) == (flags, retryable)
    assert reading.outcome.message == said


def test_limits_are_read_from_the_headers_without_a_clock() -> None:
    headers = {
        "anthropic-ratelimit-requests-remaining": "3",
        "anthropic-ratelimit-requests-reset": "2026-11-30T10:00:30Z",
        "anthropic-ratelimit-input-tokens-remaining": "900",
        "anthropic-ratelimit-input-tokens-reset": "2026-11-30T10:01:00Z",
        "retry-after": "25",
    }
    limits = read(ANTHROPIC, message(text("a")), 200, headers).limits
    assert (limits.remaining_requests, limits.remaining_tokens, limits.retry_after_s) == (3, 900, 25.0)
    assert (limits.reset_requests_s, limits.reset_tokens_s) == (None, None)
    dated = read(ANTHROPIC, message(), 200, {**headers, "date": "Mon, 30 Nov 2026 10:00:00 GMT"}).limits
    assert (dated.reset_requests_s, dated.reset_tokens_s) == (30.0, 60.0)


# Streams


def test_a_streamed_call_adds_up() -> None:
    before = (
        start(0, text("")),
        piece(0, "text_delta", text="Let "),
        {"type": "ping"},
        piece(0, "text_delta", text="me."),
        {"type": "content_block_stop", "index": 0},
    )
    call = (start(1, use()), partial(1, ""), partial(1, '{"a"'), partial(1, ": 1}"))
    reading = streamed(*before, *call, {"type": "content_block_stop", "index": 1})
    assert summary(reading) == [("toolu_1", "f", {"a": 1})]
    assert isinstance(reading.outcome, ToolCalls)
    assert (reading.outcome.text, reading.outcome.flags) == ("Let me.", ())
    assert reading.first_call_at == len(events(begin(), *before, *call))


def test_a_call_without_arguments_reads_the_same_whole_and_streamed() -> None:
    whole = read(ANTHROPIC, message(use(), stop="tool_use")).outcome
    assert streamed(start(0, use())).outcome == whole
    assert streamed(start(0, use()), partial(0, ""), partial(0, "")).outcome == whole
    bare = {"type": "tool_use", "id": "toolu_1", "name": "f"}
    assert streamed(start(0, bare)).outcome.flags == ("absent_arguments",)
    assert streamed(start(0, bare), partial(0, "{}")).outcome == whole


def test_input_that_came_with_the_beginning_is_kept() -> None:
    assert summary(streamed(start(0, use(arguments={"a": 1})))) == [("toolu_1", "f", {"a": 1})]


@pytest.mark.parametrize(
    ("written", "value", "flags"),
    [
        ('{"a": 1', "truncated", {"truncated"}),
        ('{}""', "extra_data", set()),
        (json.dumps('{"a": 1}'), {"a": 1}, {"double_encoded"}),
        ("[1]", "not_an_object", set()),
        ('{"a": NaN}', "not_a_json_number", set()),
        ('{"n": 1208925819614629174706176}', {"n": 2**80}, {"big_integer"}),
    ],
)
def test_streamed_input_is_read_and_never_repaired(written: str, value: Any, flags: set[str]) -> None:
    reading = streamed(start(0, use()), partial(0, written[:3]), partial(0, written[3:]))
    assert summary(reading) == [("toolu_1", "f", value)]
    assert set(reading.outcome.flags) == flags


def test_a_cut_call_keeps_its_text() -> None:
    outcome = streamed(start(0, use()), partial(0, '{"a'), stop="max_tokens").outcome
    assert isinstance(outcome, ToolCalls)
    assert outcome.calls[0].malformed == Malformed("truncated", '{"a')
    assert outcome.flags == ("truncated",)


def test_parallel_calls_are_told_apart_by_index_even_when_mixed() -> None:
    reading = streamed(
        start(2, use("f", identifier="t1")),
        start(5, use("g", identifier="t2")),
        partial(2, '{"x"'),
        partial(5, '{"y"'),
        partial(2, ":1}"),
        partial(5, ":2}"),
    )
    assert summary(reading) == [("t1", "f", {"x": 1}), ("t2", "g", {"y": 2})]
    assert reading.outcome.flags == ()


def test_calls_that_share_an_index_are_both_kept() -> None:
    reading = streamed(
        start(0, use("f", identifier="t1")),
        partial(0, '{"x":1}'),
        start(0, use("g", identifier="t2")),
        partial(0, '{"y":2}'),
    )
    assert summary(reading) == [("t1", "f", {"x": 1}), ("t2", "g", {"y": 2})]
    assert reading.outcome.flags == ("shared_index",)


@pytest.mark.parametrize(("index", "flag"), [(None, "missing_index"), (0, "mismatched_index"), (9, "mismatched_index")])
def test_input_under_a_wrong_index_goes_to_the_last_call(index: int | None, flag: str) -> None:
    reading = streamed(start(0, text("a")), start(1, use()), partial(index, '{"a":1}'))
    assert summary(reading) == [("toolu_1", "f", {"a": 1})]
    assert reading.outcome.flags == (flag,)


def test_pieces_whose_beginning_never_came_make_a_block_of_their_own() -> None:
    reading = streamed(partial(0, "{}"))
    assert summary(reading) == [(None, "", EMPTY)]
    assert set(reading.outcome.flags) == {"mismatched_index", "missing_id", "missing_name"}
    assert streamed(piece(0, "text_delta", text="Hi"), stop="end_turn").outcome == Text("Hi")
    assert streamed(piece(0, "brand_new_delta", text="Hi"), stop="end_turn").outcome == Text("", ("empty_text",))


def test_a_message_that_begins_twice_is_one_message() -> None:
    usage = {"input_tokens": 10, "output_tokens": 1}
    again = begin(usage={"input_tokens": 99, "output_tokens": None})
    raw = events(
        begin(usage=usage),
        again,
        start(0, text("")),
        piece(0, "text_delta", text="ok"),
        *finish(usage={"output_tokens": 2}),
    )
    reading = read(ANTHROPIC, raw)
    assert reading.outcome == Text("ok")
    assert reading.usage == Usage(99, 2)
    full = begin()
    full["message"]["content"] = [use()]
    assert len(summary(read(ANTHROPIC, events(full, full, *finish("tool_use"))))) == 1


def test_a_message_may_begin_with_all_of_its_content() -> None:
    full = {"type": "message_start", "message": message(use(arguments={"a": 1}), stop="tool_use")}
    reading = read(ANTHROPIC, events(full, {"type": "message_stop"}))
    assert summary(reading) == [("toolu_1", "f", {"a": 1})]
    assert reading.finish == "tool_use"


def test_a_stream_without_its_last_event_is_whole_where_it_named_its_end() -> None:
    raw = events(begin(), start(0, use()), partial(0, "{}"), finish("tool_use")[0])
    assert summary(read(ANTHROPIC, raw)) == [("toolu_1", "f", EMPTY)]
    assert read(ANTHROPIC, events(begin(), start(0, text("a")), {"type": "message_stop"})).outcome == Text("a")


@pytest.mark.parametrize(
    "value",
    [
        {"type": "content_block_start", "index": [0], "content_block": 3},
        {"type": "content_block_start", "index": {}, "content_block": {"type": ["x"], "id": 3}},
        {"type": "content_block_delta", "index": 7, "delta": 3},
        {"type": "content_block_delta", "index": 0, "delta": {"type": [], "partial_json": 3, "text": None}},
        {"type": "message_delta", "delta": 3, "usage": 3},
        {"type": "message_start", "message": 3},
        {"type": "message_start", "message": {"content": [3], "model": 3, "stop_reason": 3}},
        {"type": 3},
        [3],
    ],
)
def test_shapes_of_no_sense_do_no_harm(value: Any) -> None:
    raw = events(begin(), start(0, use())) + b"data: " + json.dumps(value).encode() + b"\n\n"
    reading = read(ANTHROPIC, raw + events(partial(0, '{"a":1}'), *finish("tool_use")))
    assert summary(reading) == [("toolu_1", "f", {"a": 1})]


# Bodies of the embedded server


@pytest.mark.parametrize("name", ["messages-tool_use.json", "messages-tool_use.sse"])
def test_the_embedded_servers_call_is_read(name: str) -> None:
    reading = read(ANTHROPIC, (BODIES / name).read_bytes())
    assert [(tool, arguments) for _, tool, arguments in summary(reading)] == [
        ("lookup_order", {"order_id": "ORD-104821"})
    ]
    assert reading.usage == Usage(593, 25, None, 575)
    assert (reading.finish, reading.outcome.flags) == ("tool_use", ())


def test_an_answer_its_grammar_cannot_read_is_the_models_malformed_call() -> None:
    raw = (BODIES / "messages-unknown-tool-500.json").read_bytes()
    inside = events(begin(), json.loads(raw))
    chat = (BODIES / "chat-unknown-tool.sse").read_bytes()
    for body, status in ((raw, 500), (inside, 200), (chat, 200)):
        outcome = read(ANTHROPIC, body, status).outcome
        assert isinstance(outcome, ToolCalls)
        assert outcome.calls[0].malformed is not None
        assert "provider_rejected_call" in outcome.flags


@pytest.mark.parametrize(
    ("name", "status", "category"),
    [
        ("bad-schema.json", 400, "schema_rejected"),
        ("too-long-400.json", 400, "provider_error"),
        ("wrong-key-401.json", 401, "authentication_error"),
    ],
)
def test_refusals_of_the_embedded_server_are_coverage_loss(name: str, status: int, category: str) -> None:
    outcome = read(ANTHROPIC, (BODIES / name).read_bytes(), status).outcome
    assert isinstance(outcome, ProviderError)
    assert outcome.category == category


# Whatever comes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
BLOCK = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "tool_use", "thinking", "server_tool_use"]) | JSON,
        "id": st.text(max_size=3) | JSON,
        "name": st.text(max_size=3) | JSON,
        "input": JSON,
        "text": JSON,
        "thinking": JSON,
        "citations": JSON,
    },
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "message"]
        )
        | JSON,
        "index": st.integers(0, 2) | JSON,
        "content_block": BLOCK | JSON,
        "content": st.lists(BLOCK | JSON) | JSON,
        "delta": st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(["text_delta", "input_json_delta", "thinking_delta", "citations_delta"]) | JSON,
                "partial_json": st.text(max_size=3) | JSON,
                "text": st.text(max_size=3) | JSON,
                "citation": JSON,
                "stop_reason": st.sampled_from(["tool_use", "refusal"]) | JSON,
                "stop_details": JSON,
            },
        ),
        "message": st.fixed_dictionaries({}, optional={"content": st.lists(BLOCK), "model": JSON, "usage": JSON}),
        "usage": JSON,
    },
)


@given(st.binary(), st.integers(100, 599), st.booleans())
def test_any_bytes_give_a_reading(raw: bytes, status: int, stream: bool) -> None:
    assert isinstance(ANTHROPIC.parse(status, {}, raw, stream=stream), Reading)


@given(st.lists(FIELDS | JSON, max_size=8), st.sampled_from([200, 400, 500]), st.booleans())
def test_any_events_give_a_reading_with_known_flags(values: list[Any], status: int, whole: bool) -> None:
    lines = [json.dumps(value) for value in values]
    raw = lines[0] if whole and lines else "".join(f"data: {line}\n\n" for line in lines)
    reading = ANTHROPIC.parse(status, {}, raw.encode(), stream=not whole)
    assert set(reading.outcome.flags) <= FLAGS.keys()
    for call in getattr(reading.outcome, "calls", ()):
        assert (call.arguments is None) != (call.malformed is None)
