"""Every recorded Gemini exchange, of AI Studio and of Vertex, is read as a plain walk over its raw JSON reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from native_kit import GEMINI, raw_of, request, rows_of

from callscope.contract import ProviderError, Reading, Text, ToolCalls, ToolResult

Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[Row]:
    found = rows_of(shared, "gemini")
    assert len(found) == 356
    assert {row["provider"] for row in found} == {"gemini", "vertex"}
    return found


def parsed(row: Row) -> Reading:
    return GEMINI.parse(row["status"], row["response_headers"], raw_of(row), stream=row["stream"])


def chunks(row: Row) -> list[Any]:
    response = row["response"]
    if isinstance(response, dict):
        return [response]
    return [json.loads(line[6:]) for line in response.splitlines() if line.startswith("data: ")]


def walk(row: Row) -> tuple[list[Any], str]:
    """(the functionCall objects, the text), without any of the code under test."""
    parts = [p for v in chunks(row) for c in v["candidates"] for p in c["content"].get("parts", [])]
    text = "".join(p["text"] for p in parts if "text" in p and not p.get("thought"))
    return [p["functionCall"] for p in parts if "functionCall" in p], text


def test_calls_and_text_are_those_of_the_raw_json(rows: list[Row]) -> None:
    kinds = {"calls": 0, "text": 0, "rejected": 0}
    for row in rows:
        if row["status"] != 200:
            continue
        outcome, (calls, text) = parsed(row).outcome, walk(row)
        assert len(calls) == row["n_tool_calls"], row["file"]
        if not calls:
            assert isinstance(outcome, Text), row["file"]
            assert outcome.text == text
            kinds["text"] += 1
            continue
        assert isinstance(outcome, ToolCalls), row["file"]
        assert [(c.id, c.name) for c in outcome.calls] == [(c.get("id"), c["name"]) for c in calls]
        assert (outcome.text or "") == text
        if any(c.get("finishReason") == "UNEXPECTED_TOOL_CALL" for v in chunks(row) for c in v["candidates"]):
            assert [c.malformed and c.malformed.reason for c in outcome.calls] == ["UNEXPECTED_TOOL_CALL"]
            assert "provider_rejected_call" in outcome.flags
            kinds["rejected"] += 1
        else:
            assert [json.dumps(c.arguments) for c in outcome.calls] == [json.dumps(c.get("args", {})) for c in calls]
            kinds["calls"] += 1
        assert ("missing_id" in outcome.flags) == any("id" not in c for c in calls)
    assert kinds == {"calls": 230, "text": 118, "rejected": 5}


def test_usage_model_and_finish_are_those_of_the_raw_json(rows: list[Row]) -> None:
    for row in rows:
        if row["status"] != 200:
            continue
        reading, values = parsed(row), chunks(row)
        last = values[-1]["usageMetadata"]
        given = reading.usage
        assert (given.input_tokens or 0) + (given.output_tokens or 0) == last["totalTokenCount"], row["file"]
        assert given.reasoning_tokens == last.get("thoughtsTokenCount")
        assert given.cached_input_tokens == last.get("cachedContentTokenCount")
        assert given.input_tokens == last["promptTokenCount"] + last.get("toolUsePromptTokenCount", 0)
        assert reading.model == values[0]["modelVersion"]
        words = [c["finishReason"] for v in values for c in v["candidates"] if "finishReason" in c]
        assert reading.finish == words[-1]
        assert ("truncated" in reading.outcome.flags) == (reading.finish == "MAX_TOKENS")


def test_errors_fall_into_their_categories(rows: list[Row]) -> None:
    seen = {}
    for row in rows:
        if row["status"] != 200:
            outcome = parsed(row).outcome
            assert isinstance(outcome, ProviderError)
            seen[row["status"], outcome.code] = (outcome.category, outcome.flags)
    assert seen == {(404, "NOT_FOUND"): ("provider_error", ()), (400, "INVALID_ARGUMENT"): ("provider_error", ())}


def test_streams_say_where_their_first_call_was_complete(rows: list[Row]) -> None:
    streams = [row for row in rows if row["stream"] and row["n_tool_calls"]]
    assert len(streams) == 4
    for row in streams:
        at, raw = parsed(row).first_call_at, raw_of(row)
        assert at is not None
        assert b"functionCall" in raw[:at]
        assert b"functionCall" not in raw[: raw.rindex(b"data: ", 0, at)]


def test_every_answer_can_be_followed_up(rows: list[Row]) -> None:
    for row in rows:
        said = [p for v in chunks(row) for c in v.get("candidates", ()) for p in c["content"].get("parts", [])]
        if not said:
            continue
        calls, _ = walk(row)
        answers = [ToolResult(place, None, call["name"], "ok") for place, call in enumerate(calls)]
        after = GEMINI.follow_up(request(), raw_of(row), answers, stream=row["stream"])
        added = json.loads(GEMINI.build(after).body)["contents"][1:]
        assert added[0]["parts"] == ([p for p in said if p != {"text": ""}] or said)
        responses = [p["functionResponse"] for p in added[1]["parts"]] if calls else []
        assert [(r["name"], r.get("id")) for r in responses] == [(c["name"], c.get("id")) for c in calls]
