"""Mistral's own SDK as oracle, and its recorded traffic.

Documented differences of the bodies: the SDK says `stream` false where none is asked for, and `prefix` false in an
assistant message. It makes the id of a call that has none the word "null"; ours stays missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from family_kit import MISSING, MISTRAL, TOOLS, Stated, request, results, rows
from providers_kit import Loopback, recorded_body

from callscope.contract import NamedChoice, NativeMessage, Reading, Text, ToolCalls
from callscope.providers import get_adapter

ADAPTER = get_adapter("mistral")
MESSAGES = [{"role": m.role, "content": m.text} for m in request().messages if not isinstance(m, NativeMessage)]
SDK_TOOLS = [
    {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
    for t in TOOLS
]
STRICT = [{**tool, "function": {**tool["function"], "strict": True}} for tool in SDK_TOOLS]


@pytest.fixture(scope="module")
def client(loopback: Loopback) -> Iterator[Any]:
    module = pytest.importorskip("mistralai.client", reason="the SDK mistralai is not installed")
    with module.Mistral(api_key="k", server_url=loopback.url.removesuffix("/v1")) as made:
        yield made


def answer(loopback: Loopback, text: str = "Hi", calls: list[Stated] | None = None, *, stream: bool = False) -> bytes:
    word = "tool_calls" if calls else "stop"
    raw = (MISTRAL.stream if stream else MISTRAL.whole)(text, calls or [], word)
    if not stream:
        raw = json.dumps({**json.loads(raw), "object": "chat.completion", "created": 1}).encode()
    loopback.answer = (200, "text/event-stream" if stream else "application/json", raw)
    return raw


REQUESTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"tools": SDK_TOOLS, "tool_choice": "auto"}),
    (
        {"temperature": 0.0, "seed": 7, "max_tokens": 64, "parallel": False, "strict": True, "tool_choice": "required"},
        {
            "tools": STRICT,
            "tool_choice": "any",
            "temperature": 0.0,
            "random_seed": 7,
            "max_tokens": 64,
            "parallel_tool_calls": False,
        },
    ),
    ({"tool_choice": "none"}, {"tools": SDK_TOOLS, "tool_choice": "none"}),
    (
        {"tool_choice": NamedChoice("book_room")},
        {"tools": SDK_TOOLS, "tool_choice": {"type": "function", "function": {"name": "book_room"}}},
    ),
    ({"tools": (), "extra": {"safe_prompt": True}}, {"safe_prompt": True}),
]


@pytest.mark.parametrize(("ours", "theirs"), REQUESTS)
@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_sends_an_equivalent_body(
    loopback: Loopback, client: Any, ours: dict[str, Any], theirs: dict[str, Any], stream: bool
) -> None:
    answer(loopback, stream=stream)
    if stream:
        list(client.chat.stream(model="m-1", messages=MESSAGES, **theirs))
    else:
        client.chat.complete(model="m-1", messages=MESSAGES, **theirs)
    wire = ADAPTER.build(request(stream=stream, **ours))
    assert {"stream": False, **json.loads(wire.body)} == loopback.seen[-1]
    assert loopback.paths[-1] == f"/v1{wire.path}"
    [(name, value)] = ADAPTER.authorize(wire, "k")
    assert loopback.headers[-1][name] == value
    assert loopback.headers[-1]["accept"] == dict(wire.headers)["accept"]


def test_the_sdk_sends_an_equivalent_second_turn(loopback: Loopback, client: Any) -> None:
    raw = answer(loopback, "", [("FI5qQGzDE", "book_room", '{"seats":  4}')])
    said = client.chat.complete(model="m-1", messages=MESSAGES, tools=SDK_TOOLS).choices[0].message
    result = {"role": "tool", "tool_call_id": "FI5qQGzDE", "name": "book_room", "content": '{"ok":true}'}
    client.chat.complete(model="m-1", messages=[*MESSAGES, said, result], tools=SDK_TOOLS)
    after = ADAPTER.follow_up(request(), raw, results({"ok": True}), stream=False)
    ours, theirs = json.loads(ADAPTER.build(after).body)["messages"], loopback.seen[-1]["messages"]
    assert theirs[2].pop("prefix") is False
    assert theirs[2]["tool_calls"][0].pop("index") == 0
    assert ours == theirs


def read_by_sdk(client: Any, loopback: Loopback, raw: bytes, *, stream: bool) -> list[tuple[str, str, Any]]:
    loopback.answer = (200, "text/event-stream" if stream else "application/json", raw)
    if not stream:
        calls = client.chat.complete(model="m", messages=MESSAGES).choices[0].message.tool_calls or []
        return [(call.id, call.function.name, json.loads(call.function.arguments or "{}")) for call in calls]
    found: dict[int, list[str]] = {}
    for event in client.chat.stream(model="m", messages=MESSAGES):
        for entry in event.data.choices[0].delta.tool_calls or []:
            call = found.setdefault(entry.index, ["", "", ""])
            call[0] = call[0] or entry.id
            call[1] += entry.function.name
            call[2] += entry.function.arguments
    return [(identifier, name, json.loads(raw or "{}")) for identifier, name, raw in found.values()]


@pytest.mark.parametrize("stream", [False, True])
def test_the_sdk_reads_the_same_calls_out_of_the_same_bytes(loopback: Loopback, client: Any, stream: bool) -> None:
    calls: list[Stated] = [
        ("FI5qQGzDE", "f", '{"a": [1, {"b": 2.5}]}'),
        ("ot1MIoEMA", "g", "{}"),
        ("VB03LVVRm", "h", ""),
    ]
    raw = answer(loopback, "Look:", calls, stream=stream)
    outcome = MISTRAL.parse(raw, stream=stream).outcome
    assert isinstance(outcome, ToolCalls)
    ours = [(call.id, call.name, call.arguments) for call in outcome.calls]
    assert ours == read_by_sdk(client, loopback, raw, stream=stream)


def test_the_sdk_makes_up_the_id_we_leave_missing(loopback: Loopback, client: Any) -> None:
    raw = answer(loopback, "", [(MISSING, "f", "{}")])
    assert read_by_sdk(client, loopback, raw, stream=False) == [("null", "f", {})]
    outcome = MISTRAL.parse(raw).outcome
    assert isinstance(outcome, ToolCalls)
    assert (outcome.calls[0].id, outcome.flags) == (None, ("missing_id",))


# Recorded traffic, read independently of the code under test


def parsed(row: dict[str, Any]) -> Reading:
    return ADAPTER.parse(row["status"], row["response_headers"], recorded_body(row), stream=row["stream"])


def test_every_recorded_exchange_is_read_as_its_raw_json_says(shared: Path) -> None:
    recorded = rows(shared, "openai-chat", "mistral")
    assert len(recorded) == 42
    for row in recorded:
        response = row["response"]
        message, reading = response["choices"][0]["message"], parsed(row)
        entries = message.get("tool_calls") or []
        assert len(entries) == row["n_tool_calls"]
        if entries:
            assert isinstance(reading.outcome, ToolCalls)
            assert [(c.id, c.name, c.arguments) for c in reading.outcome.calls] == [
                (e["id"], e["function"]["name"], json.loads(e["function"]["arguments"])) for e in entries
            ]
            assert reading.outcome.text == (message["content"] or None)
            assert reading.outcome.flags == ()
        else:
            assert reading.outcome == Text(message["content"])
        usage = response["usage"]
        details = usage.get("prompt_tokens_details") or {}
        assert reading.usage.input_tokens == usage["prompt_tokens"]
        assert reading.usage.output_tokens == usage["completion_tokens"]
        assert reading.usage.cached_input_tokens == details.get("cached_tokens", usage.get("num_cached_tokens"))
        assert (reading.model, reading.finish) == (response["model"], response["choices"][0]["finish_reason"])


def test_every_recorded_exchange_can_be_followed_up_and_read_by_the_sdk(
    shared: Path, loopback: Loopback, client: Any
) -> None:
    for row in rows(shared, "openai-chat", "mistral"):
        raw, outcome = recorded_body(row), parsed(row).outcome
        calls = outcome.calls if isinstance(outcome, ToolCalls) else ()
        assert [(c.id, c.name, c.arguments) for c in calls] == read_by_sdk(client, loopback, raw, stream=False)
        wire = ADAPTER.build(ADAPTER.follow_up(request(), raw, results(*("ok" for _ in calls)), stream=False))
        sent = json.loads(wire.body)["messages"][2:]
        assert [call["id"] for call in sent[0].get("tool_calls", [])] == [call.id for call in calls]
        assert [message["tool_call_id"] for message in sent[1:]] == [call.id for call in calls]
        assert wire.transformations == ()
