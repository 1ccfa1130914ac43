"""Cohere's own SDK as oracle, and its recorded traffic.

Documented difference of the bodies: the SDK says `stream` false where none is asked for. Its class for a response
without a message holds None; ours is a provider error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from family_kit import COHERE, TOOLS, Stated, request, results, rows
from providers_kit import Loopback, recorded_body

from callscope.contract import NativeMessage, Text, ToolCalls
from callscope.providers import get_adapter

ADAPTER = get_adapter("cohere")
MESSAGES = [{"role": m.role, "content": m.text} for m in request().messages if not isinstance(m, NativeMessage)]
SDK_TOOLS = [
    {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
    for t in TOOLS
]


@pytest.fixture(scope="module")
def client(loopback: Loopback) -> Iterator[Any]:
    cohere = pytest.importorskip("cohere", reason="the SDK cohere is not installed")
    httpx = pytest.importorskip("httpx")
    with httpx.Client() as http:
        yield cohere.ClientV2(api_key="k", base_url=loopback.url.removesuffix("/v1"), httpx_client=http, max_retries=0)


def answer(loopback: Loopback, text: str = "Hi", calls: list[Stated] | None = None, *, stream: bool = False) -> bytes:
    raw = (COHERE.stream if stream else COHERE.whole)(text, calls or [], "TOOL_CALL" if calls else "COMPLETE")
    loopback.answer = (200, "text/event-stream" if stream else "application/json", raw)
    return raw


REQUESTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"tools": SDK_TOOLS}),
    (
        {"temperature": 0.3, "seed": 7, "max_tokens": 64, "strict": True, "tool_choice": "required"},
        {
            "tools": SDK_TOOLS,
            "strict_tools": True,
            "tool_choice": "REQUIRED",
            "temperature": 0.3,
            "seed": 7,
            "max_tokens": 64,
        },
    ),
    ({"tool_choice": "none"}, {"tools": SDK_TOOLS, "tool_choice": "NONE"}),
    ({"tools": (), "extra": {"k": 5}}, {"k": 5}),
]


@pytest.mark.parametrize(("ours", "theirs"), REQUESTS)
@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_sends_an_equivalent_body(
    loopback: Loopback, client: Any, ours: dict[str, Any], theirs: dict[str, Any], stream: bool
) -> None:
    answer(loopback, stream=stream)
    if stream:
        list(client.chat_stream(model="m-1", messages=MESSAGES, **theirs))
    else:
        client.chat(model="m-1", messages=MESSAGES, **theirs)
    wire = ADAPTER.build(request(stream=stream, **ours))
    assert {"stream": False, **json.loads(wire.body)} == loopback.seen[-1]
    assert loopback.paths[-1] == wire.path
    [(name, value)] = ADAPTER.authorize(wire, "k")
    assert loopback.headers[-1][name] == value


def test_the_sdk_sends_an_equivalent_second_turn(loopback: Loopback, client: Any) -> None:
    raw = answer(loopback, "I will book.", [("book_room_1", "book_room", '{"seats":  4}')])
    said = client.chat(model="m-1", messages=MESSAGES, tools=SDK_TOOLS).message
    result = {"role": "tool", "tool_call_id": "book_room_1", "content": '{"ok":true}'}
    client.chat(model="m-1", messages=[*MESSAGES, said, result], tools=SDK_TOOLS)
    after = ADAPTER.follow_up(request(), raw, results({"ok": True}), stream=False)
    assert json.loads(ADAPTER.build(after).body)["messages"] == loopback.seen[-1]["messages"]


def read_by_sdk(client: Any, loopback: Loopback, raw: bytes, *, stream: bool) -> tuple[list[tuple[str, str, Any]], str]:
    """(calls, plan) as the SDK reads them."""
    loopback.answer = (200, "text/event-stream" if stream else "application/json", raw)
    if not stream:
        message = client.chat(model="m", messages=MESSAGES).message
        calls = [(c.id, c.function.name, json.loads(c.function.arguments or "{}")) for c in message.tool_calls or []]
        return calls, message.tool_plan or ""
    found: dict[int, list[str]] = {}
    plan = ""
    for event in client.chat_stream(model="m", messages=MESSAGES):
        if event.type == "tool-plan-delta":
            plan += event.delta.message.tool_plan
        elif event.type == "tool-call-start":
            call = event.delta.message.tool_calls
            found[event.index] = [call.id, call.function.name, call.function.arguments]
        elif event.type == "tool-call-delta":
            found[event.index][2] += event.delta.message.tool_calls.function.arguments
    return [(identifier, name, json.loads(raw or "{}")) for identifier, name, raw in found.values()], plan


@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_reads_the_same_calls_out_of_the_same_bytes(loopback: Loopback, client: Any, stream: bool) -> None:
    calls: list[Stated] = [("f_1", "f", '{"a": [1, {"b": 2.5}]}'), ("g_1", "g", "{}"), ("h_1", "h", "")]
    raw = answer(loopback, "I will look.", calls, stream=stream)
    outcome = COHERE.parse(raw, stream=stream).outcome
    assert isinstance(outcome, ToolCalls)
    ours = [(call.id, call.name, call.arguments) for call in outcome.calls]
    assert (ours, outcome.text) == read_by_sdk(client, loopback, raw, stream=stream)


def test_every_recorded_exchange_is_read_as_its_raw_json_and_the_sdk_say(
    shared: Path, loopback: Loopback, client: Any
) -> None:
    recorded = rows(shared, "cohere-chat", "cohere")
    assert len(recorded) == 8
    for row in recorded:
        raw, response = recorded_body(row), row["response"]
        reading = ADAPTER.parse(row["status"], row["response_headers"], raw, stream=row["stream"])
        message = response["message"]
        entries = message.get("tool_calls", [])
        assert len(entries) == row["n_tool_calls"]
        expected = [(e["id"], e["function"]["name"], json.loads(e["function"]["arguments"])) for e in entries]
        if entries:
            assert isinstance(reading.outcome, ToolCalls)
            ours = [(call.id, call.name, call.arguments) for call in reading.outcome.calls]
            assert ours == expected
            assert (reading.outcome.text, reading.outcome.flags) == (message["tool_plan"], ())
            assert read_by_sdk(client, loopback, raw, stream=False) == (ours, message["tool_plan"])
        else:
            assert reading.outcome == Text("".join(part["text"] for part in message["content"]))
        usage = response["usage"]
        assert reading.usage.input_tokens == usage["tokens"]["input_tokens"]
        assert reading.usage.output_tokens == usage["tokens"]["output_tokens"]
        assert reading.usage.cached_input_tokens == usage["cached_tokens"]
        assert (reading.model, reading.finish) == (None, response["finish_reason"])
        after = ADAPTER.follow_up(request(), raw, results(*("ok" for _ in entries)), stream=False)
        sent = json.loads(ADAPTER.build(after).body)["messages"][2:]
        assert sent[0].get("tool_calls", []) == entries
        assert [answer["tool_call_id"] for answer in sent[1:]] == [entry["id"] for entry in entries]
