"""OpenAI's own SDK as oracle: it sends the same body for the same request, and reads the same calls out of the same
bytes. What differs: it says nothing of `store` and `strict` where the caller says nothing, and the server then stores
and tries strict; we always say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openai
import pytest
from items_kit import RESPONSES, THREE, ask, completed, created, delta, events, fc, item, response, results, rows
from providers_kit import Loopback, recorded_body

from callscope.contract import NamedChoice, ProviderError, ToolCalls
from callscope.providers import with_switches

INPUT = [{"role": "user", "content": "Warm the attic."}]


def tools(*, strict: bool) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "strict": strict,
        }
        for tool in THREE
    ]


BASE = {"instructions": "Be brief.", "input": INPUT, "store": False}
LOOSE = {**BASE, "tools": tools(strict=False)}
NAMED = {"type": "function", "name": "ring_bell"}
INCLUDE = ["reasoning.encrypted_content"]
# (our request, the SDK's arguments)
REQUESTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {**LOOSE, "tool_choice": "auto"}),
    (
        {"temperature": 0.0, "max_tokens": 64, "parallel": False, "strict": True, "tool_choice": "required"},
        {
            **BASE,
            "tools": tools(strict=True),
            "tool_choice": "required",
            "temperature": 0.0,
            "max_output_tokens": 64,
            "parallel_tool_calls": False,
        },
    ),
    ({"tool_choice": NamedChoice("ring_bell")}, {**LOOSE, "tool_choice": NAMED}),
    ({"tool_choice": "none", "stream": True}, {**LOOSE, "tool_choice": "none", "stream": True}),
    (
        {"extra": with_switches({"reasoning": {"effort": "low"}}, {"include": INCLUDE, "store": True})},
        {**LOOSE, "tool_choice": "auto", "reasoning": {"effort": "low"}, "include": INCLUDE, "store": True},
    ),
    (
        {"extra": with_switches({}, {"system_as": "developer"}), "tools": ()},
        {"input": [{"role": "developer", "content": "Be brief."}, *INPUT], "store": False},
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), REQUESTS)
def test_the_sdk_sends_an_equal_body(
    loopback: Loopback, sdk: Any, ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    loopback.answer = (200, "application/json", json.dumps(response()).encode())
    if theirs.get("stream"):
        loopback.answer = (200, "text/event-stream", events(created(), completed()))
    answer = sdk.responses.create(model="m-1", **theirs)
    if theirs.get("stream"):
        list(answer)
    wire = RESPONSES.build(ask(**ours))
    assert json.loads(wire.body) == loopback.seen[-1]
    assert loopback.paths[-1] == f"/v1{wire.path}"
    [(name, value)] = RESPONSES.authorize(wire, "k")
    assert loopback.headers[-1][name] == value


def test_the_sdk_sends_an_equal_second_turn(loopback: Loopback, sdk: Any) -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    part = {"type": "output_text", "text": "Let me see.", "annotations": []}
    said = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": [part],
        "phase": "commentary",
    }
    raw = json.dumps(response(reasoning, said, fc("ring_bell", '{"a":  1}'))).encode()
    loopback.answer = (200, "application/json", raw)
    settings = {"model": "m-1", **LOOSE, "tool_choice": "auto"}
    first = sdk.responses.create(**settings)
    output = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
    sdk.responses.create(**{**settings, "input": [*INPUT, *first.output, output]})
    ours = RESPONSES.follow_up(ask(), raw, results("ok"), stream=False)
    assert json.loads(RESPONSES.build(ours).body) == loopback.seen[-1]


def read_by_sdk(sdk: Any, loopback: Loopback, raw: bytes, status: int, *, stream: bool) -> list[tuple[str, str, str]]:
    loopback.answer = (status, "text/event-stream" if stream else "application/json", raw)
    answer = sdk.responses.create(model="m", input="x", stream=stream)
    output = answer.output if not stream else [e for e in answer if e.type == "response.completed"][-1].response.output
    return [(entry.call_id, entry.name, entry.arguments) for entry in output if entry.type == "function_call"]


def test_the_sdk_reads_the_same_calls_out_of_the_same_bytes(loopback: Loopback, sdk: Any, shared: Path) -> None:
    compared = 0
    for row in rows(shared, "openai-responses"):
        raw, status, stream = recorded_body(row), row["status"], row["stream"]
        outcome = RESPONSES.parse(status, {}, raw, stream=stream).outcome
        if isinstance(outcome, ProviderError):
            if status >= 400:
                with pytest.raises(openai.APIError):
                    read_by_sdk(sdk, loopback, raw, status, stream=stream)
            continue
        ours = outcome.calls if isinstance(outcome, ToolCalls) else ()
        theirs = read_by_sdk(sdk, loopback, raw, status, stream=stream)
        assert [(c.id, c.name, c.arguments) for c in ours] == [
            (call_id, name, json.loads(written)) for call_id, name, written in theirs
        ], row["file"]
        compared += len(theirs)
    assert compared > 100


def test_the_sdk_adds_up_a_stream_to_the_same_call(loopback: Loopback, sdk: Any) -> None:
    whole = fc(arguments='{"a": 1}')
    raw = events(
        created(),
        item("added", 0, fc(arguments="", status="in_progress")),
        delta("function_call_arguments", '{"a"', item_id="fc_1"),
        delta("function_call_arguments", ": 1}", item_id="fc_1"),
        {
            "type": "response.function_call_arguments.done",
            "output_index": 0,
            "item_id": "fc_1",
            "arguments": '{"a": 1}',
        },
        item("done", 0, whole),
        completed(whole),
    )
    assert read_by_sdk(sdk, loopback, raw, 200, stream=True) == [("call_1", "f", '{"a": 1}')]
