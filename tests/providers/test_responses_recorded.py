"""Every recorded Responses exchange is read as a plain walk over its raw JSON reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from items_kit import RESPONSES, added, read, results, rows, sse

from callscope.contract import ProviderError, Reading, Text, ToolCalls

Row = dict[str, Any]


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[Row]:
    found = rows(shared, "openai-responses")
    assert {row["provider"] for row in found} == {"openai", "deepseek", "other"}
    assert len(found) == 211
    return found


def raw(row: Row) -> bytes:
    body = row["response"]
    return body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()


def parsed(row: Row) -> Reading:
    return RESPONSES.parse(row["status"], row["response_headers"], raw(row), stream=row["stream"])


def walk(row: Row) -> Row | None:
    """The response object of an exchange, put together without the code under test; None where none came."""
    if isinstance(row["response"], dict):
        return row["response"] if "output" in row["response"] else None
    found = sse(row["response"])
    (last,) = [event["response"] for event in found if event["type"] == "response.completed"]
    pieces: dict[int, str] = {}
    for event in found:
        if event["type"] == "response.function_call_arguments.delta":
            pieces[event["output_index"]] = pieces.get(event["output_index"], "") + event["delta"]
    for index, written in pieces.items():
        assert last["output"][index]["arguments"] == written
    return dict(last)


def answered(recorded: list[Row]) -> list[tuple[Row, Row]]:
    walked = [(row, walk(row)) for row in recorded]
    return [(row, body) for row, body in walked if body is not None and body["status"] == "completed"]


def test_calls_and_text_are_those_of_the_raw_json(recorded: list[Row]) -> None:
    checked = 0
    for row, body in answered(recorded):
        outcome = parsed(row).outcome
        calls = [entry for entry in body["output"] if entry["type"] == "function_call"]
        parts = [part for entry in body["output"] if entry["type"] == "message" for part in entry["content"]]
        said = "".join(part["text"] for part in parts)
        assert len(calls) == row["n_tool_calls"], row["file"]
        if calls:
            assert isinstance(outcome, ToolCalls), row["file"]
            assert [(c.id, c.name, c.arguments) for c in outcome.calls] == [
                (entry["call_id"], entry["name"], json.loads(entry["arguments"])) for entry in calls
            ]
            assert (outcome.text or "") == said
            checked += len(calls)
        else:
            assert isinstance(outcome, Text), row["file"]
            assert outcome.text == said
            assert ("empty_text" in outcome.flags) == (not said)
    assert checked == sum(row["n_tool_calls"] for row in recorded) > 100


def test_usage_model_and_finish_are_those_of_the_raw_json(recorded: list[Row]) -> None:
    for row, body in answered(recorded):
        reading, usage = parsed(row), body["usage"]
        assert (reading.usage.input_tokens, reading.usage.output_tokens) == (
            usage["input_tokens"],
            usage["output_tokens"],
        )
        assert reading.usage.cached_input_tokens == usage["input_tokens_details"]["cached_tokens"]
        assert reading.usage.reasoning_tokens == usage["output_tokens_details"]["reasoning_tokens"]
        assert (reading.model, reading.finish) == (body["model"], body["status"])


def test_everything_else_is_an_error_with_its_code(recorded: list[Row]) -> None:
    done = {id(row) for row, _ in answered(recorded)}
    seen = []
    for row in recorded:
        if id(row) not in done:
            outcome = parsed(row).outcome
            assert isinstance(outcome, ProviderError)
            seen.append((row["status"], outcome.category, outcome.code))
    assert sorted(seen) == [
        (200, "provider_error", "queued"),
        (200, "provider_error", "queued"),
        (200, "provider_error", "unnamed_error"),  # the answer of another endpoint, which only counts tokens
        (400, "provider_error", "decimal_below_min_value"),
        (400, "provider_error", "invalid_request_error"),
        (400, "provider_error", "invalid_request_error"),
        (400, "provider_error", "invalid_value"),
        (400, "provider_error", "invalid_value"),
        (400, "provider_error", "model_not_found"),
        (400, "provider_error", "unsupported_file"),
        (400, "provider_error", "unsupported_file"),
    ]


def test_server_side_items_are_no_calls_and_are_flagged(recorded: list[Row]) -> None:
    plain = {"message", "reasoning", "function_call"}
    for row, body in answered(recorded):
        other = {entry["type"] for entry in body["output"]} - plain
        assert ("unread_items" in parsed(row).outcome.flags) == bool(other), row["file"]
        spaced = any(entry.get("namespace") for entry in body["output"])
        assert ("namespaced_call" in parsed(row).outcome.flags) == spaced


def test_streams_say_where_their_first_call_was_complete(recorded: list[Row]) -> None:
    seen = 0
    for row, body in answered(recorded):
        at = parsed(row).first_call_at
        assert (at is not None) == bool(row["stream"] and row["n_tool_calls"]), row["file"]
        if at is not None:
            first = next(entry for entry in body["output"] if entry["type"] == "function_call")
            cut = read(RESPONSES, raw(row)[:at] + b"\n\ndata: [DONE]\n\n").outcome
            assert isinstance(cut, ToolCalls)
            assert cut.calls[0].arguments == json.loads(first["arguments"])
            seen += 1
    assert seen == sum(1 for row in recorded if row["stream"] and row["n_tool_calls"])


def test_every_output_item_goes_back_as_it_came(recorded: list[Row]) -> None:
    for row, body in answered(recorded):
        sent = added(RESPONSES, raw(row), results(*["ok"] * row["n_tool_calls"]))
        items = len(body["output"])
        assert sent[:items] == body["output"], row["file"]
        ids = [entry["call_id"] for entry in body["output"] if entry["type"] == "function_call"]
        assert [(entry["type"], entry["call_id"], entry["output"]) for entry in sent[items:]] == [
            ("function_call_output", identifier, "ok") for identifier in ids
        ]
