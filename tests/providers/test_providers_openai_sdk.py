"""The vendor's own SDK as oracle: it sends the same body for the same request, and reads the same calls out of the
same bytes."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from providers_kit import CHAT, TOOLS, Loopback, recorded_body, request

from callscope.contract import NamedChoice, ProviderError, ToolCalls, ToolResult
from callscope.providers import with_switches

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is ORD-104821?"}]
SDK_TOOLS = [
    {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
    for t in TOOLS
]
STRICT = [{**tool, "function": {**tool["function"], "strict": True}} for tool in SDK_TOOLS]

REQUESTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"tools": SDK_TOOLS, "tool_choice": "auto"}),
    (
        {"temperature": 0.0, "seed": 7, "max_tokens": 64, "parallel": False, "strict": True, "tool_choice": "required"},
        {
            "tools": STRICT,
            "tool_choice": "required",
            "temperature": 0.0,
            "seed": 7,
            "max_tokens": 64,
            "parallel_tool_calls": False,
        },
    ),
    (
        {"tool_choice": NamedChoice("lookup_order"), "max_tokens": 9},
        {
            "tools": SDK_TOOLS,
            "tool_choice": {"type": "function", "function": {"name": "lookup_order"}},
            "max_completion_tokens": 9,
        },
    ),
    (
        {"stream": True, "extra": {"reasoning_effort": "low"}},
        {
            "tools": SDK_TOOLS,
            "tool_choice": "auto",
            "stream": True,
            "stream_options": {"include_usage": True},
            "reasoning_effort": "low",
        },
    ),
    ({"tools": ()}, {}),
]


@pytest.mark.parametrize(("ours", "theirs"), REQUESTS)
def test_the_sdk_sends_an_equivalent_body(
    loopback: Loopback, sdk: Any, ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    if "max_completion_tokens" in theirs:
        ours = {**ours, "extra": with_switches({}, {"max_tokens_field": "max_completion_tokens"})}
    loopback.answer = (200, "application/json", b'{"choices": []}')
    if theirs.get("stream"):
        loopback.answer = (200, "text/event-stream", b"data: [DONE]\n\n")
    answer = sdk.chat.completions.create(model="m-1", messages=MESSAGES, **theirs)
    if theirs.get("stream"):
        list(answer)
    wire = CHAT.build(request(**ours))
    assert json.loads(wire.body) == loopback.seen[-1]
    assert loopback.paths[-1] == f"/v1{wire.path}"
    [(name, value)] = CHAT.authorize(wire, "k")
    assert loopback.headers[-1][name] == value


def test_the_sdk_sends_an_equivalent_second_turn(loopback: Loopback, sdk: Any) -> None:
    entry = {"id": "c1", "type": "function", "function": {"name": "lookup_order", "arguments": '{"order_id": "x"}'}}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": None}}
    choice["message"]["tool_calls"] = [entry]
    raw = json.dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [choice]})
    loopback.answer = (200, "application/json", raw.encode())
    said = sdk.chat.completions.create(model="m-1", messages=MESSAGES, tools=SDK_TOOLS, tool_choice="auto")
    result = {"role": "tool", "tool_call_id": "c1", "content": '{"ok":true}'}
    turn = [*MESSAGES, said.choices[0].message, result]
    sdk.chat.completions.create(model="m-1", messages=turn, tools=SDK_TOOLS, tool_choice="auto")
    ours = CHAT.follow_up(request(), raw.encode(), [ToolResult(0, "c1", "lookup_order", {"ok": True})], stream=False)
    assert json.loads(CHAT.build(ours).body) == loopback.seen[-1]


def read_by_sdk(sdk: Any, loopback: Loopback, row: dict[str, Any]) -> list[list[str]]:
    kind = "text/event-stream" if row["stream"] else "application/json"
    loopback.answer = (row["status"], kind, recorded_body(row))
    answer = sdk.chat.completions.create(model="m", messages=[], stream=row["stream"])
    if not row["stream"]:
        calls = answer.choices[0].message.tool_calls or []
        return [[c.id or "", c.function.name, c.function.arguments or ""] for c in calls]
    found: dict[int, list[str]] = {}
    for chunk in answer:
        for choice in chunk.choices:
            for entry in choice.delta.tool_calls or []:
                call = found.setdefault(entry.index, ["", "", ""])
                call[0] += entry.id or ""
                call[1] += (entry.function and entry.function.name) or ""
                call[2] += (entry.function and entry.function.arguments) or ""
    return list(found.values())


def test_the_sdk_reads_the_same_calls_out_of_the_same_bytes(
    loopback: Loopback, sdk: Any, recorded: list[dict[str, Any]]
) -> None:
    compared = 0
    for row in recorded:
        outcome = CHAT.parse(row["status"], {}, recorded_body(row), stream=row["stream"]).outcome
        if isinstance(outcome, ProviderError) or "provider_rejected_call" in outcome.flags:
            with pytest.raises(openai.APIError):
                read_by_sdk(sdk, loopback, row)
            continue
        ours = outcome.calls if isinstance(outcome, ToolCalls) else ()
        theirs = read_by_sdk(sdk, loopback, row)
        assert [(c.id or "", c.name, c.arguments) for c in ours] == [
            (identifier, name, json.loads(raw or "{}")) for identifier, name, raw in theirs
        ], row["file"]
        compared += row["stream"]
    assert compared > 20
