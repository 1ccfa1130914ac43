"""Anthropic's own SDK as oracle: it sends the same body for the same request, and reads the same calls out of the same
bytes. What differs: it sends the newest API version, under which there is no temperature, and its key as a bearer
token; both are switches here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from items_kit import (
    ANTHROPIC,
    THREE,
    ask,
    begin,
    events,
    finish,
    message,
    partial,
    piece,
    results,
    rows,
    start,
    text,
    use,
)
from providers_kit import Loopback, recorded_body

from callscope.contract import NamedChoice, ProviderError, ToolCalls
from callscope.providers import with_switches

anthropic = pytest.importorskip("anthropic")

LIKE_SDK = {"version": "2026-10-21", "auth": "bearer"}
MESSAGES = [{"role": "user", "content": "Warm the attic."}]
TOOLS = [{"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in THREE]
BASE: dict[str, Any] = {"max_tokens": 64, "system": "Be brief.", "messages": MESSAGES}


@pytest.fixture(scope="module")
def client(loopback: Loopback) -> Iterator[Any]:
    with anthropic.Anthropic(api_key="k", base_url=loopback.url.removesuffix("/v1"), max_retries=0) as made:
        yield made


# (our request, the SDK's arguments)
REQUESTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"tools": TOOLS, "tool_choice": {"type": "auto"}}),
    (
        {"parallel": False, "strict": True, "tool_choice": "required"},
        {
            "tools": [{**tool, "strict": True} for tool in TOOLS],
            "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
        },
    ),
    ({"tool_choice": NamedChoice("f")}, {"tools": TOOLS, "tool_choice": {"type": "tool", "name": "f"}}),
    ({"tool_choice": "none", "stream": True}, {"tools": TOOLS, "tool_choice": {"type": "none"}, "stream": True}),
    ({"tools": (), "extra": {"thinking": {"type": "adaptive"}}}, {"thinking": {"type": "adaptive"}}),
]


@pytest.mark.parametrize(("ours", "theirs"), REQUESTS)
def test_the_sdk_sends_an_equal_body(
    loopback: Loopback, client: Any, ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    loopback.answer = (200, "application/json", json.dumps(message(text("a"))).encode())
    if theirs.get("stream"):
        loopback.answer = (200, "text/event-stream", events(begin(), *finish()))
    answer = client.messages.create(model="m-1", **BASE, **theirs)
    if theirs.get("stream"):
        list(answer)
    wire = ANTHROPIC.build(ask(**{"max_tokens": 64, **ours, "extra": with_switches(ours.get("extra", {}), LIKE_SDK)}))
    assert json.loads(wire.body) == loopback.seen[-1]
    assert loopback.paths[-1] == f"/v1{wire.path}"
    assert loopback.headers[-1]["anthropic-version"] == dict(wire.headers)["anthropic-version"]
    [(name, value)] = ANTHROPIC.authorize(wire, "k")
    assert loopback.headers[-1][name] == value


def test_the_older_version_takes_a_temperature(loopback: Loopback, client: Any) -> None:
    loopback.answer = (200, "application/json", json.dumps(message(text("a"))).encode())
    version = {"anthropic-version": "2023-06-01"}
    client.messages.create(model="m-1", **BASE, extra_headers=version, extra_body={"temperature": 0.0})
    wire = ANTHROPIC.build(ask(max_tokens=64, temperature=0.0, tools=()))
    assert json.loads(wire.body) == loopback.seen[-1]
    assert loopback.headers[-1]["anthropic-version"] == dict(wire.headers)["anthropic-version"]


@pytest.mark.parametrize("streamed", [False, True])
def test_the_sdk_sends_an_equal_second_turn(loopback: Loopback, client: Any, *, streamed: bool) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    raw = json.dumps(message(thinking, text("Let me."), use(arguments={"a": 1}), stop="tool_use")).encode()
    settings: dict[str, Any] = {"model": "m-1", **BASE, "tools": TOOLS, "tool_choice": {"type": "auto"}}
    if streamed:
        raw = events(
            begin(usage={"input_tokens": 1, "output_tokens": 1}),
            start(0, {**thinking, "thinking": "", "signature": ""}),
            piece(0, "thinking_delta", thinking="hm"),
            piece(0, "signature_delta", signature="s"),
            start(1, text("")),
            piece(1, "text_delta", text="Let me."),
            start(2, use()),
            partial(2, '{"a"'),
            partial(2, ": 1}"),
            *finish("tool_use", usage={"output_tokens": 1}),
        )
        loopback.answer = (200, "text/event-stream", raw)
        with client.messages.stream(**settings) as stream:
            said = stream.get_final_message()
    else:
        loopback.answer = (200, "application/json", raw)
        said = client.messages.create(**settings)
    loopback.answer = (200, "application/json", json.dumps(message(text("a"))).encode())
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
    turn = [*MESSAGES, {"role": "assistant", "content": said.content}, {"role": "user", "content": [answer]}]
    client.messages.create(**{**settings, "messages": turn})
    ours = ANTHROPIC.follow_up(ask(max_tokens=64), raw, results("ok"), stream=streamed)
    assert json.loads(ANTHROPIC.build(ours).body) == loopback.seen[-1]


def read_by_sdk(client: Any, loopback: Loopback, row: dict[str, Any]) -> list[tuple[str, str, Any]]:
    kind = "text/event-stream" if row["stream"] else "application/json"
    loopback.answer = (row["status"], kind, recorded_body(row))
    settings: dict[str, Any] = {"model": "m", "max_tokens": 1, "messages": []}
    if row["stream"]:
        with client.messages.stream(**settings) as stream:
            said = stream.get_final_message()
    else:
        said = client.messages.create(**settings)
    return [(block.id, block.name, block.input) for block in said.content if block.type == "tool_use"]


def test_the_sdk_reads_the_same_calls_out_of_the_same_bytes(loopback: Loopback, client: Any, shared: Path) -> None:
    compared = 0
    for row in rows(shared, "anthropic-messages"):
        outcome = ANTHROPIC.parse(row["status"], {}, recorded_body(row), stream=row["stream"]).outcome
        if isinstance(outcome, ProviderError):
            with pytest.raises(anthropic.APIError):
                read_by_sdk(client, loopback, row)
            continue
        ours = outcome.calls if isinstance(outcome, ToolCalls) else ()
        theirs = read_by_sdk(client, loopback, row)
        assert [(c.id, c.name, c.arguments) for c in ours] == theirs, row["file"]
        compared += len(theirs)
    assert compared > 100
