"""What goes over the wire of Anthropic Messages: every tool whole, nothing injected, every change recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot
from items_kit import ANTHROPIC, THREE, ask

from callscope.contract import Message, NamedChoice, NativeMessage, Transformation
from callscope.errors import InputError
from callscope.providers import with_switches


def sent(**changes: Any) -> dict[str, Any]:
    return dict(json.loads(ANTHROPIC.build(ask(**changes)).body))


def test_a_request_is_translated_and_nothing_is_added() -> None:
    wire = ANTHROPIC.build(ask(temperature=0.0, max_tokens=64, parallel=False, tool_choice="required"))
    assert json.loads(wire.body) == snapshot(
        {
            "model": "m-1",
            "max_tokens": 64,
            "system": "Be brief.",
            "messages": [{"role": "user", "content": "Warm the attic."}],
            "tools": [
                {
                    "name": "set_thermostat",
                    "description": "Set the target temperature of one room.",
                    "input_schema": {
                        "type": "object",
                        "properties": {
                            "room": {"type": "string", "enum": ["kitchen", "hall", "attic"]},
                            "celsius": {"type": "number", "minimum": 5, "maximum": 30},
                        },
                        "required": ["room", "celsius"],
                        "additionalProperties": False,
                    },
                },
                {
                    "name": "list_sensors",
                    "description": "List sensors.",
                    "input_schema": {
                        "type": "object",
                        "properties": {"limit": {"type": "integer", "minimum": 1, "default": 10}},
                        "required": [],
                    },
                },
                {
                    "name": "ring_bell",
                    "description": "Ring the bell.",
                    "input_schema": {"type": "object", "properties": {}},
                },
            ],
            "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
            "temperature": 0.0,
        }
    )
    assert wire.path == "/messages"
    assert wire.headers == (
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("anthropic-version", "2023-06-01"),
    )
    assert wire.transformations == ()


def test_the_key_goes_into_the_header_that_is_wanted() -> None:
    wire = ANTHROPIC.build(ask())
    assert ANTHROPIC.authorize(wire, "k") == (("x-api-key", "k"),)
    assert ANTHROPIC.authorize(wire, None) == ()
    with pytest.raises(InputError, match="api_key"):
        ANTHROPIC.authorize(wire, "k\n")
    wire = ANTHROPIC.build(ask(extra=with_switches({}, {"auth": "bearer"})))
    assert ANTHROPIC.authorize(wire, "k") == (("authorization", "Bearer k"),)
    with pytest.raises(InputError, match=r"switches\.auth"):
        ANTHROPIC.build(ask(extra=with_switches({}, {"auth": "basic"})))


@pytest.mark.parametrize(
    ("choice", "parallel", "wire"),
    [
        ("auto", None, {"type": "auto"}),
        ("auto", True, {"type": "auto", "disable_parallel_tool_use": False}),
        ("auto", False, {"type": "auto", "disable_parallel_tool_use": True}),
        ("required", None, {"type": "any"}),
        ("none", False, {"type": "none"}),
        (NamedChoice("ring_bell"), None, {"type": "tool", "name": "ring_bell"}),
        (NamedChoice("f"), False, {"type": "tool", "name": "f", "disable_parallel_tool_use": True}),
    ],
)
def test_every_tool_choice_has_its_form(choice: Any, parallel: bool | None, wire: Any) -> None:
    assert sent(tool_choice=choice, parallel=parallel)["tool_choice"] == wire


def test_the_token_limit_that_must_be_sent_is_recorded_where_it_was_not_set() -> None:
    wire = ANTHROPIC.build(ask(extra=with_switches({}, {"default_max_tokens": 99})))
    assert json.loads(wire.body)["max_tokens"] == 99
    assert wire.transformations == (Transformation("/max_tokens", "required_setting", None, 99),)
    assert sent()["max_tokens"] == 4096


def test_without_tools_there_is_no_choice_and_a_lost_one_is_recorded() -> None:
    wire = ANTHROPIC.build(ask(tools=(), tool_choice=NamedChoice("f"), max_tokens=1))
    assert list(json.loads(wire.body)) == ["model", "max_tokens", "system", "messages"]
    assert [change.rule for change in wire.transformations] == ["choice_without_tools"]


def test_strict_is_said_only_where_it_is_stated() -> None:
    assert all("strict" not in tool for tool in sent()["tools"])
    assert {tool["strict"] for tool in sent(strict=True)["tools"]} == {True}
    assert {tool["strict"] for tool in sent(strict=False)["tools"]} == {False}


@pytest.mark.parametrize(
    "switches", [{"version": "2026-10-21"}, {"version": "2027-01-01"}, {"send_temperature": False}]
)
def test_a_temperature_that_would_be_refused_is_left_out_and_recorded(switches: dict[str, Any]) -> None:
    wire = ANTHROPIC.build(ask(temperature=0.0, max_tokens=9, extra=with_switches({}, switches)))
    assert "temperature" not in json.loads(wire.body)
    assert wire.transformations == (Transformation("/temperature", "unsupported", 0.0),)


def test_a_seed_is_left_out_and_recorded_unless_the_server_takes_one() -> None:
    assert ANTHROPIC.build(ask(seed=7, max_tokens=9)).transformations == (Transformation("/seed", "unsupported", 7),)
    assert sent(seed=7, extra=with_switches({}, {"send_seed": True}))["seed"] == 7


def test_headers_follow_their_switches() -> None:
    wire = ANTHROPIC.build(ask(stream=True, extra=with_switches({}, {"version": "v", "beta": ["a", "b"]})))
    assert json.loads(wire.body)["stream"] is True
    assert dict(wire.headers)["accept"] == "text/event-stream"
    assert dict(wire.headers)["anthropic-version"] == "v"
    assert dict(wire.headers)["anthropic-beta"] == "a,b"


def test_several_system_texts_become_blocks_and_a_late_one_is_recorded() -> None:
    messages = (
        Message("system", "One."),
        Message("system", "Two."),
        Message("user", "Hi."),
        Message("assistant", "Hello."),
        Message("system", "Three."),
        NativeMessage({"role": "user", "content": "Bye."}),
    )
    wire = ANTHROPIC.build(ask(messages=messages, max_tokens=1))
    body = json.loads(wire.body)
    assert body["system"] == [{"type": "text", "text": word} for word in ("One.", "Two.", "Three.")]
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
    assert wire.transformations == (Transformation("/messages/4", "system_moved", "Three."),)
    assert "system" not in sent(messages=(Message("user", "Hi."),))


def test_extra_comes_last_and_tools_go_out_untouched() -> None:
    body = sent(extra={"thinking": {"type": "adaptive"}, "model": "m-2"})
    assert (body["thinking"], body["model"]) == ({"type": "adaptive"}, "m-2")
    assert [tool["input_schema"] for tool in body["tools"]] == [tool.parameters for tool in THREE]
