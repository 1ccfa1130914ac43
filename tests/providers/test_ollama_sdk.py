"""Ollama's own SDK as oracle, as far as it goes, and the recorded traffic of its OpenAI-compatible address.

Documented differences: the SDK drops every schema keyword it does not know (of a property all but type, items,
description and enum; of the schema all but type, $defs, items, required and properties), and the ids of calls.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from family_kit import OLLAMA, TOOLS, Stated, request, results, rows
from providers_kit import Loopback, recorded_body

from callscope.contract import NativeMessage, ProviderError, Text, ToolCalls
from callscope.providers import get_adapter, with_switches

ADAPTER = get_adapter("ollama")
MESSAGES = [{"role": m.role, "content": m.text} for m in request().messages if not isinstance(m, NativeMessage)]
SDK_TOOLS = [
    {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
    for t in TOOLS
]
KEPT = {"type", "items", "description", "enum"}
KEPT_AT_THE_TOP = {"type", "$defs", "items", "required", "properties"}


@pytest.fixture(scope="module")
def client(loopback: Loopback) -> Any:
    ollama = pytest.importorskip("ollama", reason="the SDK ollama is not installed")
    return ollama.Client(host=loopback.url.removesuffix("/v1"), headers={"authorization": "Bearer k"})


def lossy(body: dict[str, Any]) -> dict[str, Any]:
    """What the SDK leaves of a body of ours."""
    body = json.loads(json.dumps(body))
    for tool in body.get("tools", []):
        schema = tool["function"]["parameters"]
        schema = {key: value for key, value in schema.items() if key in KEPT_AT_THE_TOP}
        schema["properties"] = {
            name: {key: value for key, value in inner.items() if key in KEPT}
            for name, inner in schema["properties"].items()
        }
        tool["function"]["parameters"] = schema
    return body


REQUESTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"tools": SDK_TOOLS}),
    (
        {"temperature": 0.0, "seed": 7, "max_tokens": 64, "extra": with_switches({"think": True}, {"num_ctx": 4096})},
        {
            "tools": SDK_TOOLS,
            "think": True,
            "options": {"temperature": 0.0, "seed": 7, "num_predict": 64, "num_ctx": 4096},
        },
    ),
    ({"tools": (), "extra": {"keep_alive": "5m"}}, {"keep_alive": "5m"}),
]


def sent_by_sdk(loopback: Loopback, client: Any, *, stream: bool, **arguments: Any) -> dict[str, Any]:
    raw = (OLLAMA.stream if stream else OLLAMA.whole)("Hi", [], "stop")
    loopback.answer = (200, "application/x-ndjson" if stream else "application/json", raw)
    answer = client.chat(model="m-1", messages=MESSAGES, stream=stream, **arguments)
    if stream:
        list(answer)
    # Its empty defaults are no setting.
    return {key: value for key, value in loopback.seen[-1].items() if value not in ({}, [])}


@pytest.mark.parametrize(("ours", "theirs"), REQUESTS)
@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_sends_an_equivalent_body_but_for_what_it_drops_from_schemas(
    loopback: Loopback, client: Any, ours: dict[str, Any], theirs: dict[str, Any], stream: bool
) -> None:
    seen = sent_by_sdk(loopback, client, stream=stream, **theirs)
    wire = ADAPTER.build(request(stream=stream, **ours))
    body = json.loads(wire.body)
    assert lossy(body) == seen
    assert (body != seen) == bool(body.get("tools"))
    assert loopback.paths[-1] == wire.path
    [(name, value)] = ADAPTER.authorize(wire, "k")
    assert loopback.headers[-1][name] == value


def test_what_the_sdk_drops_is_what_we_send(loopback: Loopback, client: Any) -> None:
    seen = sent_by_sdk(loopback, client, stream=False, tools=SDK_TOOLS)
    ours = json.loads(ADAPTER.build(request()).body)["tools"]
    assert ours == SDK_TOOLS
    room, person = (tool["function"]["parameters"] for tool in seen["tools"][:2])
    assert "additionalProperties" not in room
    assert room["properties"]["seats"] == {"type": "integer"}
    assert person["properties"]["name"] == {}


def read_by_sdk(client: Any, loopback: Loopback, raw: bytes, *, stream: bool) -> tuple[list[tuple[str, Any]], str]:
    loopback.answer = (200, "application/x-ndjson" if stream else "application/json", raw)
    answer = client.chat(model="m", messages=MESSAGES, stream=stream)
    calls: list[tuple[str, Any]] = []
    text = ""
    for part in answer if stream else [answer]:
        calls += [(call.function.name, dict(call.function.arguments)) for call in part.message.tool_calls or []]
        text += part.message.content or ""
    return calls, text


@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_reads_the_same_calls_out_of_the_same_bytes(loopback: Loopback, client: Any, stream: bool) -> None:
    calls: list[Stated] = [("call_1", "f", {"a": [1, {"b": 2.5}]}), ("call_2", "g", {})]
    raw = (OLLAMA.stream if stream else OLLAMA.whole)("I will look.", calls, "stop")
    outcome = OLLAMA.parse(raw, stream=stream).outcome
    assert isinstance(outcome, ToolCalls)
    ours = [(call.name, call.arguments) for call in outcome.calls]
    assert (ours, outcome.text) == read_by_sdk(client, loopback, raw, stream=stream)
    assert [call.id for call in outcome.calls] == ["call_1", "call_2"]


def test_the_sdk_sends_an_equivalent_second_turn_without_ids(loopback: Loopback, client: Any) -> None:
    raw = OLLAMA.whole("I will book.", [("call_1", "book_room", {"seats": 4})], "stop")
    loopback.answer = (200, "application/json", raw)
    said = client.chat(model="m-1", messages=MESSAGES).message
    result = {"role": "tool", "tool_name": "book_room", "content": '{"ok":true}'}
    client.chat(model="m-1", messages=[*MESSAGES, said, result])
    after = ADAPTER.follow_up(request(), raw, results({"ok": True}), stream=False)
    ours = json.loads(ADAPTER.build(after).body)["messages"]
    assert ours[2]["tool_calls"][0].pop("id") == ours[3].pop("tool_call_id") == "call_1"
    assert ours == loopback.seen[-1]["messages"]


def test_the_sdk_raises_where_we_read_an_error(loopback: Loopback, client: Any) -> None:
    ollama = pytest.importorskip("ollama")
    raw = b'{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}'
    loopback.answer = (400, "application/json", raw)
    with pytest.raises(ollama.ResponseError, match="does not support tools"):
        client.chat(model="m", messages=MESSAGES)
    assert isinstance(OLLAMA.parse(raw, 400).outcome, ProviderError)


def test_the_recorded_bodies_of_the_other_address_are_of_the_chat_format(shared: Path) -> None:
    recorded = rows(shared, "openai-chat", "ollama")
    assert [row["n_tool_calls"] for row in recorded] == [0, 1]
    text, calls = (
        get_adapter("openai-chat").parse(row["status"], (), recorded_body(row), stream=row["stream"]).outcome
        for row in recorded
    )
    assert text == Text("Paris.")
    assert isinstance(calls, ToolCalls)
    assert [(call.id, call.name, call.arguments) for call in calls.calls] == [
        ("call_o2vnpxrw", "final_result", {"city": "Paris", "country": "France"})
    ]
    for row in recorded:
        assert isinstance(OLLAMA.parse(recorded_body(row)).outcome, ProviderError)
