"""Every recorded chat-completions exchange is read as a plain walk over its raw JSON reads it."""

from __future__ import annotations

import json
from typing import Any

from providers_kit import CHAT, recorded_body, request

from callscope.contract import ProviderError, Reading, Refusal, Text, ToolCalls, ToolResult

Row = dict[str, Any]


def parsed(row: Row) -> Reading:
    return CHAT.parse(row["status"], row["response_headers"], recorded_body(row), stream=row["stream"])


def chunks(row: Row) -> list[Any]:
    response = row["response"]
    if isinstance(response, dict):
        return [response]
    lines = [line[6:] for line in response.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def failed(row: Row) -> bool:
    return row["status"] != 200 or any(value.get("error") for value in chunks(row))


def walk(row: Row) -> tuple[list[list[str]], str]:
    """(calls as [id, name, arguments], text), by index, without any of the code under test."""
    calls: dict[int, list[str]] = {}
    text = ""
    for value in chunks(row):
        for choice in value["choices"]:
            message = choice.get("message") or choice.get("delta")
            text += message.get("content") or ""
            for position, entry in enumerate(message.get("tool_calls") or []):
                index = position if "message" in choice else entry["index"]
                call = calls.setdefault(index, ["", "", ""])
                call[0] += entry.get("id") or ""
                call[1] += entry["function"].get("name") or ""
                call[2] += entry["function"].get("arguments") or ""
    return [calls[index] for index in sorted(calls)], text


def test_calls_and_text_are_those_of_the_raw_json(recorded: list[Row]) -> None:
    for row in recorded:
        if failed(row):
            continue
        outcome = parsed(row).outcome
        calls, text = walk(row)
        assert len(calls) == row["n_tool_calls"], row["file"]
        if calls:
            assert isinstance(outcome, ToolCalls), row["file"]
            assert [(c.id or "", c.name) for c in outcome.calls] == [(i, name) for i, name, _ in calls]
            assert [c.arguments for c in outcome.calls] == [json.loads(raw or "{}") for _, _, raw in calls]
            assert (outcome.text or "") == text
        else:
            assert isinstance(outcome, (Text, Refusal)), row["file"]
            assert (outcome.text or "") == text


def test_usage_model_and_finish_are_those_of_the_raw_json(recorded: list[Row]) -> None:
    for row in recorded:
        if failed(row):
            continue
        reading, values = parsed(row), chunks(row)
        usage = next((v["usage"] for v in reversed(values) if v.get("usage")), None)
        usage = usage or next((v["x_groq"]["usage"] for v in values if (v.get("x_groq") or {}).get("usage")), {})
        assert (reading.usage.input_tokens, reading.usage.output_tokens) == (
            usage.get("prompt_tokens"),
            usage.get("completion_tokens"),
        )
        details = usage.get("completion_tokens_details") or {}
        assert reading.usage.reasoning_tokens == details.get("reasoning_tokens")
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        assert reading.usage.cached_input_tokens == (usage.get("cached_tokens") if cached is None else cached)
        assert reading.model == values[0]["model"]
        words = [c["finish_reason"] for v in values for c in v["choices"] if c.get("finish_reason") is not None]
        assert reading.finish == words[-1]


def test_errors_fall_into_their_categories(recorded: list[Row]) -> None:
    seen = {}
    for row in recorded:
        if failed(row):
            outcome = parsed(row).outcome
            kind = outcome.category if isinstance(outcome, ProviderError) else type(outcome).__name__
            code = next(v["error"].get("code") for v in chunks(row) if v.get("error"))
            seen.setdefault((row["status"], code), set()).add(kind)
    assert seen == {
        (404, "model_not_found"): {"provider_error"},
        (400, "tool_use_failed"): {"ToolCalls", "Text"},
        (200, "tool_use_failed"): {"ToolCalls", "Text"},
        (400, "invalid_value"): {"provider_error"},
        (400, "unsupported_value"): {"provider_error"},
        (400, None): {"provider_error"},
        (429, 429): {"rate_limited"},
        (200, 400): {"provider_error"},
    }


def test_streams_say_where_their_first_call_was_complete(recorded: list[Row]) -> None:
    for row in recorded:
        if row["stream"] and row["n_tool_calls"] and not failed(row):
            at = parsed(row).first_call_at
            assert at is not None
            cut = CHAT.parse(200, {}, recorded_body(row)[:at] + b"data: [DONE]\n\n", stream=True).outcome
            assert isinstance(cut, ToolCalls)
            assert cut.calls[0].arguments == json.loads(walk(row)[0][0][2] or "{}")


def test_every_answer_can_be_followed_up(recorded: list[Row]) -> None:
    for row in recorded:
        if failed(row):
            continue
        calls, _ = walk(row)
        answers = [ToolResult(position, None, name, "ok") for position, (_, name, _) in enumerate(calls)]
        after = CHAT.follow_up(request(), recorded_body(row), answers, stream=row["stream"])
        sent = json.loads(CHAT.build(after).body)["messages"][2:]
        echoed = [(c["function"]["name"], c["function"]["arguments"]) for c in sent[0].get("tool_calls", [])]
        assert echoed == [(name, raw or "{}") for _, name, raw in calls]
        assert [m["tool_call_id"] for m in sent[1:]] == [c["id"] for c in sent[0].get("tool_calls", [])]
