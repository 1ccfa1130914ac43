"""Every recorded Converse exchange is read as a plain walk over its raw JSON reads it, its streams cut by botocore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from native_kit import BEDROCK, raw_of, request, rows_of

from callscope.contract import ProviderError, Reading, Text, ToolCalls, ToolResult

Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[Row]:
    found = rows_of(shared, "bedrock-converse")
    assert len(found) == 145
    return found


def parsed(row: Row) -> Reading:
    return BEDROCK.parse(row["status"], row["response_headers"], raw_of(row), stream=row["stream"])


def walk(row: Row) -> tuple[list[Any], str, str, Any]:
    """(toolUse blocks, text, stop reason, usage), without any of the code under test."""
    if not row["stream"]:
        body = row["response"]
        blocks = body["output"]["message"]["content"]
        text = "".join(block.get("text", "") for block in blocks)
        return [b["toolUse"] for b in blocks if "toolUse" in b], text, body["stopReason"], body["usage"]
    eventstream = pytest.importorskip("botocore.eventstream")
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(raw_of(row))
    uses: dict[int, Any] = {}
    text, reason, usage = "", "", {}
    for one in buffer:
        value = json.loads(one.payload)
        uses |= (
            {value["contentBlockIndex"]: {**value["start"]["toolUse"], "input": ""}}
            if "toolUse" in value.get("start", {})
            else {}
        )
        piece = value.get("delta", {})
        text += piece.get("text", "")
        if "toolUse" in piece:
            uses[value["contentBlockIndex"]]["input"] += piece["toolUse"]["input"]
        reason = value.get("stopReason", reason)
        usage = value.get("usage", usage)
    return [{**one, "input": json.loads(one["input"])} for one in uses.values()], text, reason, usage


def asked(uses: list[Any]) -> list[Any]:
    """The calls that ask the client for something: what Nova ran on the server it has answered itself."""
    return [one for one in uses if one.get("type") != "server_tool_use"]


def test_calls_and_text_are_those_of_the_raw_json(rows: list[Row]) -> None:
    ran = 0
    for row in rows:
        if row["status"] != 200:
            continue
        reading, (uses, text, reason, _) = parsed(row), walk(row)
        # n_tool_calls counts every toolUse block, and in a stream the start of a server-side toolResult as well
        on_server = len(uses) - len(asked(uses))
        assert len(uses) == row["n_tool_calls"] - (on_server if row["stream"] else 0), row["file"]
        ran += on_server
        outcome = reading.outcome
        assert reading.finish == reason
        if asked(uses):
            assert isinstance(outcome, ToolCalls), row["file"]
            assert [(c.id, c.name, json.dumps(c.arguments)) for c in outcome.calls] == [
                (one["toolUseId"], one["name"], json.dumps(one["input"])) for one in asked(uses)
            ]
            assert (outcome.text or "") == text
        else:
            assert isinstance(outcome, Text), row["file"]
            assert outcome.text == text
        assert ("truncated" in outcome.flags) == (reason == "max_tokens")
    assert ran == 3


def test_usage_is_that_of_the_raw_json_and_adds_up(rows: list[Row]) -> None:
    for row in rows:
        if row["status"] == 200:
            usage, given = walk(row)[3], parsed(row).usage
            assert (given.input_tokens or 0) + (given.output_tokens or 0) == usage["totalTokens"], row["file"]
            assert given.output_tokens == usage["outputTokens"]
            assert given.cached_input_tokens == usage.get("cacheReadInputTokens")
            assert given.cache_write_tokens == usage.get("cacheWriteInputTokens")
            assert parsed(row).model is None


def test_errors_are_no_answers(rows: list[Row]) -> None:
    failed = [row for row in rows if row["status"] != 200]
    assert len(failed) == 8
    for row in failed:
        outcome = parsed(row).outcome
        assert isinstance(outcome, ProviderError)
        assert (outcome.category, outcome.message) == ("provider_error", row["response"]["message"])
        assert not parsed(row).limits.retryable


def test_every_answer_can_be_followed_up(rows: list[Row]) -> None:
    for row in rows:
        if row["status"] != 200:
            continue
        uses = asked(walk(row)[0])
        answers = [ToolResult(place, None, one["name"], "ok") for place, one in enumerate(uses)]
        after = BEDROCK.follow_up(request(), raw_of(row), answers, stream=row["stream"])
        added = json.loads(BEDROCK.build(after).body)["messages"][1:]
        echoed = [b["toolUse"] for b in added[0]["content"] if "toolUse" in b]
        assert asked(echoed) == uses
        if not row["stream"]:
            said = row["response"]["output"]["message"]["content"]
            assert added[0]["content"] == ([b for b in said if b.get("text", "x").strip()] or said)
        results = [b["toolResult"]["toolUseId"] for b in added[1]["content"]] if uses else []
        assert results == [one["toolUseId"] for one in uses]


def test_the_stream_of_a_call_says_where_it_was_complete(rows: list[Row]) -> None:
    for row in rows:
        if row["stream"] and row["n_tool_calls"]:
            at = parsed(row).first_call_at
            assert at is not None
            assert b"contentBlockStop" in raw_of(row)[at - 200 : at]
