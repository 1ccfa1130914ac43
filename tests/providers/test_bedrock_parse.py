"""One reading from a Converse response, whole or as an event stream; the model's own faults are scored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from native_kit import (
    BEDROCK,
    OPENED,
    bedrock,
    converse,
    delta,
    dump,
    ended,
    event,
    frame,
    header,
    start,
    stop,
    summary,
    use,
)

from callscope.contract import Malformed, ProviderError, Reading, Refusal, Text, ToolCalls, Usage
from callscope.providers import FLAGS


def streamed(*frames: bytes, reason: str = "tool_use") -> Reading:
    return bedrock(OPENED + b"".join(frames) + ended(reason), stream=True)


def said(text: str, index: int = 0) -> bytes:
    return delta(index, text=text)


def called(index: Any, *pieces: str, **used: Any) -> bytes:
    given = {"toolUseId": f"t{index}", "name": "f", **used}
    return start(index, **given) + b"".join(delta(index, toolUse={"input": p}) for p in pieces) + stop(index)


def test_blocks_are_told_apart_whole_and_streamed() -> None:
    whole = bedrock(
        converse(
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"text": "I look. "},
            use("f", {"n": 1}, "t2"),
            use("g", {}, "t3"),
            {"text": "Done."},
        )
    )
    stream = streamed(
        delta(0, reasoningContent={"text": "hm"}),
        delta(0, reasoningContent={"signature": "s"}),
        said("I ", 1),
        said("look. ", 1),
        called(2, '{"n"', ": 1}"),
        called(3, "{}", name="g"),
        said("Done.", 4),
        event("metadata", {"usage": {"inputTokens": 5, "outputTokens": 2}, "metrics": {}}),
    )
    for reading in (whole, stream):
        assert summary(reading) == [("t2", "f", {"n": 1}), ("t3", "g", {})]
        assert isinstance(reading.outcome, ToolCalls)
        assert (reading.outcome.text, reading.outcome.flags) == ("I look. Done.", ())
        assert (reading.finish, reading.model, reading.usage) == ("tool_use", None, Usage(5, 2))


def test_pieces_that_mix_go_to_their_own_blocks() -> None:
    frames = [
        start(7, toolUseId="a", name="f"),
        start(3, toolUseId="b", name="g"),
        delta(3, toolUse={"input": '{"b"'}),
        delta(7, toolUse={"input": '{"a": 1}'}),
        delta(3, toolUse={"input": ": 2}"}),
        stop(3),
        stop(7),
    ]
    reading = streamed(*frames)
    assert summary(reading) == [("a", "f", {"a": 1}), ("b", "g", {"b": 2})]
    assert reading.first_call_at == len(OPENED + b"".join(frames[:6]))
    assert bedrock(converse(use())).first_call_at is None


@pytest.mark.parametrize(
    ("pieces", "read", "flags"),
    [
        ((), {}, {"empty_arguments"}),
        (("",), {}, {"empty_arguments"}),
        (('{"a": 1', "}"), {"a": 1}, set()),
        (('{"a": 1',), "truncated", {"truncated"}),
        (("{}", '""'), "extra_data", set()),
        (('"{\\"a\\": 1}"',), {"a": 1}, {"double_encoded"}),
        (("[1]",), "not_an_object", set()),
        (('{"n": 1e16}',), {"n": 1e16}, {"precision_lost"}),
        (('{"n": 7006652.0}',), {"n": 7006652.0}, set()),
        (('{"n": 1208925819614629174706176}',), {"n": 2**80}, {"big_integer"}),
    ],
)
def test_streamed_input_is_read_without_repair(pieces: tuple[str, ...], read: Any, flags: set[str]) -> None:
    reading = streamed(called(0, *pieces))
    assert summary(reading) == [("t0", "f", read)]
    assert set(reading.outcome.flags) == flags


@pytest.mark.parametrize(
    ("block", "read", "flags"),
    [
        ({"toolUse": {"toolUseId": "t", "name": "f"}}, {}, {"absent_arguments"}),
        ({"toolUse": {"toolUseId": "t", "name": "f", "input": None}}, {}, {"null_arguments"}),
        (use("f", '{"a": 1}', "t"), "not_an_object", set()),
        (use("f", [1], "t"), "not_an_object", set()),
        (use("f", {"n": 1e16}, "t"), {"n": 1e16}, {"precision_lost"}),
        (use("f", {"n": 2**80}, "t"), {"n": 2**80}, {"big_integer"}),
        (use("json<|channel|>commentary", {}, "t"), {}, {"template_leak"}),
    ],
)
def test_whole_input_is_read_without_decoding(block: Any, read: Any, flags: set[str]) -> None:
    reading = bedrock(converse(block))
    [(identifier, name, arguments)] = summary(reading)
    assert (identifier, name, arguments) == ("t", block["toolUse"]["name"], read)
    assert set(reading.outcome.flags) == flags


@pytest.mark.parametrize("identifier", [None, "", 7])
def test_ids_and_names_that_are_missing_stay_missing(identifier: Any) -> None:
    for reading in (
        bedrock(converse(use("", {}, identifier))),
        streamed(called(0, "{}", toolUseId=identifier, name=None)),
        streamed(delta(0, toolUse={"input": "{}"}), stop(0)),
    ):
        assert summary(reading) == [(None, "", {})]
        assert {"missing_id", "missing_name"} <= set(reading.outcome.flags)


def test_two_calls_of_one_id_are_flagged() -> None:
    assert "duplicate_id" in bedrock(converse(use(), use())).outcome.flags


def test_the_providers_own_tools_are_no_calls() -> None:
    ran = use("nova_code_interpreter", {"snippet": "1"}, "s1", type="server_tool_use")
    result = {"toolResult": {"toolUseId": "s1", "content": [{"json": {"out": "1"}}], "status": "success"}}
    whole = bedrock(converse(ran, result, use("f", {}, "t2", type="tool_use")))
    stream = streamed(
        called(0, '{"snippet": "1"}', name="nova_code_interpreter", type="server_tool_use"),
        event("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolResult": {"toolUseId": "t0"}}}),
        delta(1, toolResult=[{"json": {"out": "1"}}]),
        stop(1),
        called(2, "{}"),
    )
    for reading in (whole, stream):
        assert summary(reading) == [("t2", "f", {})]
        assert reading.outcome.flags == ("unread_items",)
    only = bedrock(converse(ran, result, {"text": "1"}, stop_reason="end_turn"))
    assert only.outcome == Text("1", ("unread_items",))


def test_other_blocks_are_passed_over() -> None:
    cited = {"citationsContent": {"content": [{"text": "As said. "}, "odd"], "citations": []}}
    outcome = bedrock(converse(cited, {"cachePoint": {}}, {"text": "a"}, "odd", stop_reason="end_turn")).outcome
    assert outcome == Text("As said. a")
    for block in ({"citationsContent": {}}, {"image": {}}, {"text": 7}, {"toolUse": 7}):
        assert bedrock(converse(block, {"text": "a"}, stop_reason="end_turn")).outcome == Text("a", ("unread_items",))
    redacted = {"reasoningContent": {"redactedContent": "YQ=="}}
    assert bedrock(converse(redacted, {"text": "a"}, stop_reason="end_turn")).outcome == Text("a")
    stream = streamed(said("a"), delta(0, citation={}), reason="end_turn")
    assert stream.outcome == Text("a", ("unread_items",))


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_cut_answer_is_flagged(reason: str) -> None:
    assert bedrock(converse({"text": "a"}, stop_reason=reason)).outcome == Text("a", ("truncated",))
    cut = streamed(called(0, '{"a": "b'), reason=reason)
    assert (summary(cut), cut.outcome.flags) == ([("t0", "f", "truncated")], ("truncated",))


@pytest.mark.parametrize("reason", ["guardrail_intervened", "content_filtered"])
def test_an_answer_withheld_is_a_refusal(reason: str) -> None:
    assert bedrock(converse(stop_reason=reason)).outcome == Refusal(None, ("content_filter",))
    words = bedrock(converse({"text": "Sorry, the policy."}, stop_reason=reason))
    assert (words.outcome, words.finish) == (Refusal("Sorry, the policy.", ("content_filter",)), reason)
    assert streamed(said("No."), reason=reason).outcome == Refusal("No.", ("content_filter",))


def test_a_call_the_server_could_not_read_is_a_malformed_attempt() -> None:
    for reading in (
        bedrock(converse({"text": "<f(a=1"}, stop_reason="malformed_tool_use")),
        streamed(said("<f(a=1"), reason="malformed_tool_use"),
    ):
        assert isinstance(reading.outcome, ToolCalls)
        [made] = reading.outcome.calls
        assert (made.name, made.malformed) == ("", Malformed("malformed_tool_use", "<f(a=1"))
        assert {"provider_rejected_call", "missing_name"} <= set(reading.outcome.flags)
    for reading in (
        bedrock(converse(use("f", {"a": 1}), stop_reason="malformed_tool_use")),
        streamed(called(0, '{"a": 1'), reason="malformed_tool_use"),
    ):
        assert [read for _, _, read in summary(reading)] == ["malformed_tool_use"]


def test_output_said_to_be_malformed_keeps_what_came() -> None:
    outcome = bedrock(converse({"text": "a"}, stop_reason="malformed_model_output")).outcome
    assert outcome == Text("a", ("malformed_output",))
    calls = bedrock(converse(use("f", {}), stop_reason="malformed_model_output"))
    assert summary(calls) == [("t1", "f", "malformed_model_output")]


def test_what_the_stop_reason_says_never_makes_a_call() -> None:
    assert bedrock(converse({"text": "a"})).outcome == Text("a", ("empty_tool_calls",))
    assert isinstance(bedrock(converse(use(), stop_reason="end_turn")).outcome, ToolCalls)
    odd = bedrock(converse(use(), stop_reason="something_new"))
    assert (odd.finish, odd.outcome.flags) == ("something_new", ("unknown_finish",))
    assert bedrock(converse({"text": ""}, stop_reason="end_turn")).outcome == Text("", ("empty_text",))
    written = bedrock(converse({"text": '<tool_call>{"name": "f", "arguments": {}}'}, stop_reason="end_turn"))
    assert written.outcome.flags == ("text_tool_call",)


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"inputTokens": 5, "outputTokens": 2, "totalTokens": 7}, Usage(5, 2)),
        (
            {"inputTokens": 433, "outputTokens": 16, "cacheReadInputTokens": 2752, "cacheWriteInputTokens": 10},
            Usage(3195, 16, None, 2752, 10),
        ),
        ({}, Usage()),
    ],
)
def test_cached_input_is_counted_in(usage: Any, read: Usage) -> None:
    assert bedrock(converse({"text": "a"}, usage=usage)).usage == read


@pytest.mark.parametrize(
    ("status", "name", "message", "category", "flags", "retryable"),
    [
        (400, "ValidationException", "The provided model identifier is invalid.", "provider_error", (), False),
        (
            400,
            "ValidationException",
            "Input is too long for requested model.",
            "provider_error",
            ("context_length",),
            False,
        ),
        (
            400,
            "ValidationException",
            "This model doesn't support the toolConfig.toolChoice.any field. Remove it and try again.",
            "schema_rejected",
            ("forced_choice_unsupported",),
            False,
        ),
        (
            400,
            "ValidationException",
            'The model returned the following errors: tool_choice: type "any" is not supported for this model.',
            "schema_rejected",
            ("forced_choice_unsupported",),
            False,
        ),
        (
            400,
            "ValidationException",
            "This model doesn't support tool use in streaming mode.",
            "schema_rejected",
            ("tools_unsupported",),
            False,
        ),
        (
            400,
            "ValidationException",
            "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.",
            "schema_rejected",
            (),
            False,
        ),
        (400, "ServiceQuotaExceededException", "Too many requests today.", "rate_limited", ("quota",), False),
        (403, "AccessDeniedException", "You don't have access to the model.", "authentication_error", (), False),
        (403, "ExpiredTokenException", "The security token is expired", "authentication_error", (), False),
        (404, "ResourceNotFoundException", "Not found.", "provider_error", (), False),
        (408, "ModelTimeoutException", "Took too long.", "timeout", (), True),
        (424, "ModelErrorException", "The model failed.", "provider_error", (), False),
        (429, "ThrottlingException", "Too many tokens, please wait.", "rate_limited", (), True),
        (429, "ModelNotReadyException", "Not ready.", "rate_limited", (), True),
        (500, "InternalServerException", "Oops.", "provider_error", (), True),
        (503, "ServiceUnavailableException", "Try later.", "provider_error", ("overloaded",), True),
    ],
)
def test_errors_have_their_category_and_their_cause(
    status: int, name: str, message: str, category: str, flags: tuple[str, ...], retryable: bool
) -> None:
    body, headers = dump({"message": message}), {"X-Amzn-ErrorType": f"{name}:http://internal.amazon.com/x/"}
    typed = dump({"__type": f"com.amazon.coral.service#{name}", "Message": message})
    for reading in (bedrock(body, status, headers=headers), bedrock(typed, status)):
        assert isinstance(reading.outcome, ProviderError)
        assert (reading.outcome.code, reading.outcome.category) == (name, category)
        assert (reading.outcome.message, reading.outcome.flags) == (message, flags)
        assert reading.limits.retryable == retryable
    plain = bedrock(body, status).outcome
    assert isinstance(plain, ProviderError)
    assert (plain.code, plain.category) == (f"http_{status}", category if name[:7] != "Service" else plain.category)
    code = name[0].lower() + name[1:]
    raw = OPENED + said("I ") + event(code, {"message": message}, kind="exception")
    inside = bedrock(raw, stream=True)
    if code not in {"expiredTokenException"}:
        assert isinstance(inside.outcome, ProviderError)
        assert (inside.outcome.code, inside.outcome.category) == (code, category)
        assert inside.limits.retryable == retryable


def test_an_error_frame_and_an_unknown_exception_are_provider_errors() -> None:
    headers = header(":message-type", "error") + header(":error-code", "throttlingException")
    raw = frame(headers + header(":error-message", "slow down"), b"")
    outcome = bedrock(raw, stream=True).outcome
    assert outcome == ProviderError("rate_limited", "throttlingException", "slow down")
    for payload in ({"originalMessage": "why"}, "why"):
        odd = bedrock(event("newException", payload, kind="exception"), stream=True)
        assert odd.outcome == ProviderError("provider_error", "newException", "why")
        assert odd.limits.retryable


def test_a_sequence_nova_could_not_finish_is_the_models_fault() -> None:
    message = "Model produced invalid sequence as part of ToolUse. Please refer to the guide."
    inside = event("modelStreamErrorException", {"message": message}, kind="exception")
    for reading in (
        bedrock(dump({"message": message}), 424, headers={"x-amzn-errortype": "ModelErrorException"}),
        bedrock(OPENED + said("Let me") + inside, stream=True),
    ):
        assert isinstance(reading.outcome, ToolCalls)
        assert reading.outcome.calls[0].malformed is not None
        assert "provider_rejected_call" in reading.outcome.flags


def test_an_address_that_is_not_converse_says_so() -> None:
    raw = dump({"Output": {"__type": "com.amazon.coral.service#UnknownOperationException"}, "Version": "1.0"})
    for status in (200, 404):
        outcome = bedrock(raw, status).outcome
        assert isinstance(outcome, ProviderError)
        assert (outcome.category, outcome.code) == ("provider_error", "UnknownOperationException")


def test_what_was_asked_for_and_what_came_are_compared() -> None:
    assert bedrock(converse({"text": "a"}, stop_reason="end_turn"), stream=True).outcome == Text("a", ("not_streamed",))
    raw = OPENED + said("a") + ended("end_turn")
    assert bedrock(raw).outcome == Text("a", ("streamed_unasked",))


WHOLE = OPENED + said("I look.") + called(1, '{"a": "b"}') + ended()


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (OPENED + said("a"), "stream_cut"),
        (WHOLE[:-1], "stream_cut"),
        (OPENED[:7], "stream_cut"),
        (WHOLE[:-1] + b"x", "corrupt_frame"),
        (OPENED + b"x" * 40, "corrupt_frame"),
        (OPENED + event("contentBlockDelta", b"{broken") + ended(), "unreadable_chunk"),
        (OPENED + event("contentBlockDelta", b"{broken"), "unreadable_chunk"),
        (b"", "empty_body"),
        (b"<html>busy</html>", "html_body"),
        (dump({"output": {}}), "unnamed_error"),
        (dump({"stopReason": "end_turn"}), "no_message"),
        (dump([]), "no_message"),
        (event("ping", {}), "unnamed_error"),
    ],
)
def test_what_holds_no_answer_is_a_provider_error(raw: bytes, code: str) -> None:
    reading = bedrock(raw, stream=True)
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.code, reading.outcome.category) == (code, "provider_error")
    assert reading.limits.retryable


@pytest.mark.parametrize(
    "payload",
    [
        7,
        {},
        {"contentBlockIndex": "x", "start": 7, "delta": 7},
        {"start": {"toolUse": 7, "toolResult": 7}},
        {"delta": {"toolUse": {"input": 7}}},
        {"delta": {"text": 7, "reasoningContent": {"text": 7}}},
    ],
)
def test_events_of_another_shape_never_raise(payload: Any) -> None:
    for name in ("contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata", ""):
        reading = streamed(said("a", 9), event(name, payload), reason="end_turn")
        assert isinstance(reading.outcome, (Text, ToolCalls))


KEYS = [
    "output",
    "message",
    "content",
    "text",
    "toolUse",
    "toolUseId",
    "name",
    "input",
    "type",
    "reasoningContent",
    "reasoningText",
    "citationsContent",
    "stopReason",
    "usage",
    "inputTokens",
    "start",
    "delta",
    "contentBlockIndex",
    "error",
    "Output",
    "__type",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)
NAMES = st.sampled_from(["contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata", "x"])
STATUSES = st.sampled_from([200, 204, 302, 400, 424, 429, 500, 999])


@given(st.binary(max_size=200), STATUSES, st.booleans(), st.sampled_from([(), (("x-amzn-ErrorType", "#:"),)]))
def test_any_bytes_are_read(raw: bytes, status: int, stream: bool, headers: Any) -> None:
    assert set(BEDROCK.parse(status, headers, raw, stream=stream).outcome.flags) <= FLAGS.keys()


@given(st.lists(st.tuples(NAMES, JSON, st.booleans())), STATUSES, st.booleans())
def test_any_events_are_read(values: list[Any], status: int, stream: bool) -> None:
    raw = b"".join(event(name, value, "exception" if bad else "event") for name, value, bad in values)
    assert set(BEDROCK.parse(status, {}, raw, stream=stream).outcome.flags) <= FLAGS.keys()
    for _, value, _ in values:
        body = json.dumps({"output": {"message": {"content": value}}, "stopReason": "tool_use"}).encode()
        assert set(BEDROCK.parse(200, {}, body, stream=stream).outcome.flags) <= FLAGS.keys()


@given(st.integers(0, 2**20), st.integers(0, 255))
def test_a_stream_cut_or_broken_anywhere_gives_no_wrong_call(place: int, flip: int) -> None:
    at = place % len(WHOLE)
    broken = bytearray(WHOLE)
    broken[at] ^= flip
    for raw in (WHOLE[:at], bytes(broken)):
        outcome = BEDROCK.parse(200, {}, raw, stream=True).outcome
        assert isinstance(outcome, ProviderError) or raw == WHOLE
