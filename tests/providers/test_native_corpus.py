"""Public bug reports about Gemini and Bedrock, each as the bytes that came and the outcome they must have."""

from __future__ import annotations

import json
from typing import Any

import pytest
from native_kit import (
    GEMINI,
    OPENED,
    bedrock,
    candidate,
    converse,
    delta,
    dump,
    ended,
    gemini,
    part,
    request,
    start,
    summary,
    use,
)

from callscope.contract import ProviderError, Refusal, Text, ToolCalls, ToolResult


def streamed(*pieces: str, reason: str = "tool_use") -> bytes:
    """A Converse stream with one call whose input comes in these pieces."""
    return (
        OPENED
        + start(0, toolUseId="t", name="f")
        + b"".join(delta(0, toolUse={"input": p}) for p in pieces)
        + ended(reason)
    )


@pytest.mark.parametrize(
    ("report", "reading", "calls", "flags"),
    [
        ("vllm#19419, kind", bedrock(streamed(""), stream=True), [("t", "f", {})], {"empty_arguments"}),
        (
            "litellm#4440, kind",
            gemini(candidate(part("f", function={"args": None}))),
            [(None, "f", {})],
            {"null_arguments"},
        ),
        ("inspect_ai#4822", bedrock(streamed("{}", '""'), stream=True), [("t", "f", "extra_data")], set()),
        ("kimi-cli#2407", bedrock(converse(use("f", {"a": "[1]"}, "t"))), [("t", "f", {"a": "[1]"})], set()),
        (
            "livekit#5411 (Nova)",
            bedrock(streamed(json.dumps('{"a": 1}')), stream=True),
            [("t", "f", {"a": 1})],
            {"double_encoded"},
        ),
        (
            "vllm#18412, kind",
            gemini(candidate(part("f", {}), part("g", {}))),
            [(None, "f", {}), (None, "g", {})],
            {"missing_id"},
        ),
        ("oh-my-pi#2055", bedrock(converse(use("f"), use("g"))), [("t1", "f", {}), ("t1", "g", {})], {"duplicate_id"}),
        (
            "pydantic-ai#631, #3300",
            gemini({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}),
            [(None, "", "MALFORMED_FUNCTION_CALL")],
            {"provider_rejected_call", "missing_name"},
        ),
        (
            "hermes-agent#83886",
            gemini(candidate(part("f", {"a": 1}), finish="MALFORMED_FUNCTION_CALL")),
            [(None, "f", "MALFORMED_FUNCTION_CALL")],
            {"provider_rejected_call"},
        ),
        (
            "ollama#12132, kind",
            bedrock(converse(use("f<|channel|>json", {}, "t"))),
            [("t", "f<|channel|>json", {})],
            {"template_leak"},
        ),
        ("maki#505", bedrock(converse(use("functions.f", {}, "t"))), [("t", "functions.f", {})], set()),
        ("vllm#25054, kind", bedrock(converse(use("f", {}, "t"), stop_reason="end_turn")), [("t", "f", {})], set()),
        (
            "pydantic-ai#3118",
            bedrock(streamed('{"a": "b', reason="max_tokens"), stream=True),
            [("t", "f", "truncated")],
            {"truncated"},
        ),
        ("hermes-agent#7693", bedrock(streamed('{"a": "b'), stream=True), [("t", "f", "truncated")], {"truncated"}),
        ("OpenHands#2488", bedrock(streamed('{\\n"a": 1}'), stream=True), [("t", "f", "syntax")], set()),
        ("kimi-cli#1378", bedrock(streamed('{"a": "x\ny"}'), stream=True), [("t", "f", "control_character")], set()),
        ("claude-code#79339", bedrock(streamed('{"a": "\\x"}'), stream=True), [("t", "f", "invalid_escape")], set()),
        (
            "inspect_ai#3802",
            bedrock(streamed('{"a": "\\ud83d"}'), stream=True),
            [("t", "f", {"a": "\ud83d"})],
            {"lone_surrogate"},
        ),
        (
            "adk-python#3592",
            gemini(candidate(part("f", {"n": 1e16, "m": 2.0}))),
            [(None, "f", {"n": 1e16, "m": 2.0})],
            {"precision_lost"},
        ),
    ],
)
def test_a_call_is_read_as_the_report_says_it_should_have_been(
    report: str, reading: Any, calls: Any, flags: set[str]
) -> None:
    assert summary(reading) == calls, report
    assert flags <= set(reading.outcome.flags)


def test_text_that_holds_a_call_and_endings_that_promise_one() -> None:
    written = gemini(candidate({"text": '<tool_call>{"name": "f", "arguments": {}}</tool_call>'})).outcome  # vllm#22917
    assert isinstance(written, Text)
    assert written.flags == ("text_tool_call",)
    promised = bedrock(converse({"text": "a"})).outcome  # vllm#53255
    assert promised == Text("a", ("empty_tool_calls",))
    deleted = gemini({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}).outcome  # vllm#55080
    assert deleted == Text("", ("empty_text",))


def test_a_refusal_may_be_empty() -> None:
    assert bedrock(converse(stop_reason="content_filtered")).outcome == Refusal(None, ("content_filter",))


@pytest.mark.parametrize(
    ("report", "reading", "category", "flags"),
    [
        (
            "qwen-code#7659, kind",
            bedrock(dump({"message": 'tool_choice: type "tool" and "any" are not supported for this model.'}), 400),
            "schema_rejected",
            ("forced_choice_unsupported",),
        ),
        (
            "python-genai#660",
            gemini(
                {"error": {"code": 400, "message": "The schema has too many states for serving.", "status": "X"}}, 400
            ),
            "schema_rejected",
            (),
        ),
        (
            "9router#3018",
            gemini({"error": {"code": 400, "message": 'Unknown name "uniqueItems" at …', "status": "X"}}, 400),
            "schema_rejected",
            (),
        ),
        ("litellm#21755, kind", gemini({"error": {"code": 429, "message": "slow"}}), "rate_limited", ()),
    ],
)
def test_an_error_has_the_category_the_report_asks_for(
    report: str, reading: Any, category: str, flags: tuple[str, ...]
) -> None:
    assert isinstance(reading.outcome, ProviderError), report
    assert (reading.outcome.category, reading.outcome.flags) == (category, flags)


def test_every_signature_is_sent_back_where_it_stood() -> None:
    """dify-official-plugins#2088: without it Gemini 3 answers 400."""
    parts = [part("f", {}, thoughtSignature="first"), part("g", {})]
    answers = [ToolResult(0, None, "f", 1), ToolResult(1, None, "g", 2)]
    after = GEMINI.follow_up(request(), dump(candidate(*parts)), answers, stream=False)
    contents = json.loads(GEMINI.build(after).body)["contents"]
    assert contents[1]["parts"] == parts
    # jcode#276: the results of one turn must not be split
    assert [len(content["parts"]) for content in contents[1:]] == [2, 2]
    assert isinstance(gemini(candidate(*parts)).outcome, ToolCalls)
