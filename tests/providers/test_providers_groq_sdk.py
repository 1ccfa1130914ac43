"""Groq's own SDK as oracle of the chat format: the same body, and the same calls out of the recorded bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from family_kit import TOOLS, request, rows
from providers_kit import CHAT, Loopback, recorded_body

from callscope.contract import NamedChoice, NativeMessage, ProviderError, ToolCalls

MESSAGES = [{"role": m.role, "content": m.text} for m in request().messages if not isinstance(m, NativeMessage)]
SDK_TOOLS = [
    {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
    for t in TOOLS
]


@pytest.fixture(scope="module")
def client(loopback: Loopback) -> Iterator[Any]:
    groq = pytest.importorskip("groq", reason="the SDK groq is not installed")
    with groq.Groq(api_key="k", base_url=loopback.url.removesuffix("/v1"), max_retries=0) as made:
        yield made


REQUESTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"tools": SDK_TOOLS, "tool_choice": "auto"}),
    (
        {"temperature": 0.0, "seed": 7, "max_tokens": 64, "parallel": False, "tool_choice": "required"},
        {
            "tools": SDK_TOOLS,
            "tool_choice": "required",
            "temperature": 0.0,
            "seed": 7,
            "max_tokens": 64,
            "parallel_tool_calls": False,
        },
    ),
    (
        {"tool_choice": NamedChoice("book_room"), "extra": {"disable_tool_validation": True}},
        {
            "tools": SDK_TOOLS,
            "tool_choice": {"type": "function", "function": {"name": "book_room"}},
            "disable_tool_validation": True,
        },
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), REQUESTS)
def test_the_sdk_sends_an_equivalent_body(
    loopback: Loopback, client: Any, ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    loopback.answer = (200, "application/json", b'{"choices": []}')
    client.chat.completions.create(model="m-1", messages=MESSAGES, **theirs)
    wire = CHAT.build(request(**ours))
    assert json.loads(wire.body) == loopback.seen[-1]
    assert loopback.paths[-1] == f"/openai/v1{wire.path}"
    [(name, value)] = CHAT.authorize(wire, "k")
    assert loopback.headers[-1][name] == value


def read_by_sdk(client: Any, loopback: Loopback, row: dict[str, Any]) -> list[tuple[str, str, Any]]:
    kind = "text/event-stream" if row["stream"] else "application/json"
    loopback.answer = (row["status"], kind, recorded_body(row))
    answer = client.chat.completions.create(model="m", messages=[], stream=row["stream"])
    found: dict[int, list[str]] = {}
    for chunk in answer if row["stream"] else [answer]:
        for choice in chunk.choices:
            message = choice.delta if row["stream"] else choice.message
            for position, entry in enumerate(message.tool_calls or []):
                call = found.setdefault(entry.index if row["stream"] else position, ["", "", ""])
                call[0] += entry.id or ""
                call[1] += entry.function.name or ""
                call[2] += entry.function.arguments or ""
    return [(identifier, name, json.loads(raw or "{}")) for identifier, name, raw in found.values()]


def test_the_sdk_reads_the_same_calls_out_of_the_recorded_bytes(shared: Path, loopback: Loopback, client: Any) -> None:
    groq = pytest.importorskip("groq")
    seen = {True: 0, False: 0}
    for row in rows(shared, "openai-chat", "groq"):
        outcome = CHAT.parse(row["status"], {}, recorded_body(row), stream=row["stream"]).outcome
        if isinstance(outcome, ProviderError) or "provider_rejected_call" in outcome.flags:
            with pytest.raises(groq.APIError):
                read_by_sdk(client, loopback, row)
            continue
        calls = outcome.calls if isinstance(outcome, ToolCalls) else ()
        assert len(calls) == row["n_tool_calls"]
        assert [(call.id, call.name, call.arguments) for call in calls] == read_by_sdk(client, loopback, row)
        seen[row["stream"]] += len(calls)
    assert all(seen.values())
