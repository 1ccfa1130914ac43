"""Every recorded Anthropic exchange is read as a plain walk over its raw JSON reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from items_kit import ANTHROPIC, added, read, results, rows, sse

from callscope.contract import ProviderError, Reading, Text, ToolCalls

Row = dict[str, Any]


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[Row]:
    found = rows(shared, "anthropic-messages")
    assert len(found) == 226
    return found


def raw(row: Row) -> bytes:
    body = row["response"]
    return body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()


def parsed(row: Row) -> Reading:
    return ANTHROPIC.parse(row["status"], row["response_headers"], raw(row), stream=row["stream"])


def walk(row: Row) -> Row:
    """The message of an exchange, put together without the code under test."""
    if isinstance(row["response"], dict):
        return dict(row["response"])
    message: Row = {}
    written: dict[int, str] = {}
    for event in sse(row["response"]):
        if event["type"] == "message_start":
            message = event["message"]
        elif event["type"] == "content_block_start":
            assert event["index"] == len(message["content"])
            message["content"].append(event["content_block"])
        elif event["type"] == "content_block_delta":
            block, delta = message["content"][event["index"]], event["delta"]
            if delta["type"] == "text_delta":
                block["text"] += delta["text"]
            elif delta["type"] == "thinking_delta":
                block["thinking"] += delta["thinking"]
            elif delta["type"] == "signature_delta":
                block["signature"] = delta["signature"]
            elif delta["type"] == "citations_delta":
                block["citations"] = [*(block.get("citations") or []), delta["citation"]]
            else:
                written[event["index"]] = written.get(event["index"], "") + delta["partial_json"]
        elif event["type"] == "message_delta":
            message["stop_reason"] = event["delta"]["stop_reason"]
            message["usage"].update(event["usage"])
    for index, text in written.items():
        if text:
            message["content"][index]["input"] = json.loads(text)
    return message


def answered(recorded: list[Row]) -> list[tuple[Row, Row]]:
    return [(row, walk(row)) for row in recorded if row["status"] == 200]


def test_calls_and_text_are_those_of_the_raw_json(recorded: list[Row]) -> None:
    for row, body in answered(recorded):
        outcome = parsed(row).outcome
        calls = [block for block in body["content"] if block["type"] == "tool_use"]
        said = "".join(block["text"] for block in body["content"] if block["type"] == "text")
        assert len(calls) == row["n_tool_calls"], row["file"]
        if calls:
            assert isinstance(outcome, ToolCalls), row["file"]
            assert [(c.id, c.name, c.arguments) for c in outcome.calls] == [
                (block["id"], block["name"], block["input"]) for block in calls
            ]
            assert (outcome.text or "") == said
        else:
            assert isinstance(outcome, Text), row["file"]
            assert outcome.text == said
        plain = {"text", "thinking", "redacted_thinking", "tool_use"}
        other = {block["type"] for block in body["content"]} - plain
        assert outcome.flags == (("unread_items",) if other else ()), row["file"]


def test_usage_model_and_finish_are_those_of_the_raw_json(recorded: list[Row]) -> None:
    for row, body in answered(recorded):
        reading, usage = parsed(row), body["usage"]
        parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        assert reading.usage.input_tokens == sum(usage.get(part) or 0 for part in parts)
        assert reading.usage.cached_input_tokens == usage.get("cache_read_input_tokens")
        assert reading.usage.cache_write_tokens == usage.get("cache_creation_input_tokens")
        assert reading.usage.output_tokens == usage["output_tokens"]
        thinking = (usage.get("output_tokens_details") or {}).get("thinking_tokens")
        assert reading.usage.reasoning_tokens == thinking
        assert (reading.model, reading.finish) == (body["model"], body["stop_reason"])


def test_errors_keep_their_type(recorded: list[Row]) -> None:
    outcomes = [parsed(row).outcome for row in recorded if row["status"] != 200]
    assert all(isinstance(outcome, ProviderError) for outcome in outcomes)
    assert sorted((o.code, o.flags) for o in outcomes if isinstance(o, ProviderError)) == [
        ("invalid_request_error", ("unsupported_parameter",)),
        ("not_found_error", ()),
    ]


def test_the_wait_a_header_states_is_read(recorded: list[Row]) -> None:
    for row in recorded:
        wait = dict(row["response_headers"]).get("retry-after")
        assert parsed(row).limits.retry_after_s == (None if wait is None else float(wait))


def test_streams_say_where_their_first_call_was_complete(recorded: list[Row]) -> None:
    streamed = [(row, body) for row, body in answered(recorded) if row["stream"]]
    assert len(streamed) == 10
    for row, body in streamed:
        at = parsed(row).first_call_at
        assert (at is not None) == bool(row["n_tool_calls"])
        if at is not None:
            first = next(block for block in body["content"] if block["type"] == "tool_use")
            cut = read(ANTHROPIC, raw(row)[:at] + b"\n\ndata: [DONE]\n\n").outcome
            assert isinstance(cut, ToolCalls)
            assert cut.calls[0].arguments == first["input"]


def test_every_block_goes_back_as_it_came(recorded: list[Row]) -> None:
    for row, body in answered(recorded):
        sent = added(ANTHROPIC, raw(row), results(*["ok"] * row["n_tool_calls"]))
        assert sent[0] == {"role": "assistant", "content": body["content"]}, row["file"]
        ids = [block["id"] for block in body["content"] if block["type"] == "tool_use"]
        assert (
            sent[1:]
            == [
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": name, "content": "ok"} for name in ids],
                }
            ][: len(ids)]
        )
