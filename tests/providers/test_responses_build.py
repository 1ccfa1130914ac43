"""What goes over the wire of the Responses API: every tool whole, nothing injected, every change recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot
from items_kit import RESPONSES, THREE, ask

from callscope.contract import Message, NamedChoice, NativeMessage, Transformation
from callscope.errors import InputError
from callscope.providers import with_switches


def sent(**changes: Any) -> dict[str, Any]:
    return dict(json.loads(RESPONSES.build(ask(**changes)).body))


def test_a_request_is_translated_and_nothing_is_added() -> None:
    wire = RESPONSES.build(ask(temperature=0.0, max_tokens=64, parallel=False, tool_choice="required"))
    assert json.loads(wire.body) == snapshot(
        {
            "model": "m-1",
            "instructions": "Be brief.",
            "input": [{"role": "user", "content": "Warm the attic."}],
            "tools": [
                {
                    "type": "function",
                    "name": "set_thermostat",
                    "description": "Set the target temperature of one room.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "room": {"type": "string", "enum": ["kitchen", "hall", "attic"]},
                            "celsius": {"type": "number", "minimum": 5, "maximum": 30},
                        },
                        "required": ["room", "celsius"],
                        "additionalProperties": False,
                    },
                    "strict": False,
                },
                {
                    "type": "function",
                    "name": "list_sensors",
                    "description": "List sensors.",
                    "parameters": {
                        "type": "object",
                        "properties": {"limit": {"type": "integer", "minimum": 1, "default": 10}},
                        "required": [],
                    },
                    "strict": False,
                },
                {
                    "type": "function",
                    "name": "ring_bell",
                    "description": "Ring the bell.",
                    "parameters": {"type": "object", "properties": {}},
                    "strict": False,
                },
            ],
            "tool_choice": "required",
            "parallel_tool_calls": False,
            "temperature": 0.0,
            "max_output_tokens": 64,
            "store": False,
        }
    )
    assert wire.path == "/responses"
    assert wire.headers == (("content-type", "application/json"), ("accept", "application/json"))
    assert wire.transformations == ()
    assert RESPONSES.authorize(wire, "k") == (("authorization", "Bearer k"),)
    assert RESPONSES.authorize(wire, None) == ()


def test_strict_is_always_said() -> None:
    for strict, said in ((None, False), (False, False), (True, True)):
        assert {tool["strict"] for tool in sent(strict=strict)["tools"]} == {said}


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        ("auto", "auto"),
        ("required", "required"),
        ("none", "none"),
        (NamedChoice("ring_bell"), {"type": "function", "name": "ring_bell"}),
    ],
)
def test_every_tool_choice_has_its_form(choice: Any, wire: Any) -> None:
    assert sent(tool_choice=choice)["tool_choice"] == wire


def test_settings_left_open_are_left_out() -> None:
    assert list(sent()) == ["model", "instructions", "input", "tools", "tool_choice", "store"]


def test_without_tools_there_is_no_choice_and_a_lost_one_is_recorded() -> None:
    assert list(sent(tools=(), parallel=True)) == ["model", "instructions", "input", "store"]
    assert [c.rule for c in RESPONSES.build(ask(tools=(), tool_choice="required")).transformations] == [
        "choice_without_tools"
    ]


def test_a_stream_is_asked_for() -> None:
    assert sent(stream=True)["stream"] is True
    assert ("accept", "text/event-stream") in RESPONSES.build(ask(stream=True)).headers


MESSAGES = (
    Message("system", "One."),
    Message("user", "Hi."),
    Message("assistant", "Hello."),
    Message("system", "Two."),
    NativeMessage({"type": "reasoning", "id": "rs_1"}),
)


@pytest.mark.parametrize(
    ("system_as", "instructions", "roles", "changes"),
    [
        ("instructions", "One.", ["user", "assistant", "system", None], []),
        ("system", None, ["system", "user", "assistant", "system", None], []),
        ("developer", None, ["developer", "user", "assistant", "developer", None], [0, 3]),
    ],
)
def test_the_system_text_has_its_place(
    system_as: str, instructions: str | None, roles: list[str | None], changes: list[int]
) -> None:
    wire = RESPONSES.build(ask(messages=MESSAGES, extra=with_switches({}, {"system_as": system_as})))
    body = json.loads(wire.body)
    assert body.get("instructions") == instructions
    assert [entry.get("role") for entry in body["input"]] == roles
    assert body["input"][-1] == {"type": "reasoning", "id": "rs_1"}
    assert wire.transformations == tuple(
        Transformation(f"/messages/{position}/role", "system_role", "system", "developer") for position in changes
    )


def test_an_unknown_place_is_refused() -> None:
    with pytest.raises(InputError, match=r"switches\.system_as"):
        RESPONSES.build(ask(extra=with_switches({}, {"system_as": "user"})))


def test_what_the_format_cannot_say_is_recorded() -> None:
    wire = RESPONSES.build(ask(seed=7, temperature=0.5, extra=with_switches({}, {"send_temperature": False})))
    assert {"seed", "temperature"} & json.loads(wire.body).keys() == set()
    assert wire.transformations == (
        Transformation("/temperature", "unsupported", 0.5),
        Transformation("/seed", "unsupported", 7),
    )
    assert sent(seed=7, extra=with_switches({}, {"send_seed": True}))["seed"] == 7


def test_storing_and_including_are_switches_and_extra_comes_last() -> None:
    switches = {"store": True, "include": ["reasoning.encrypted_content"]}
    body = sent(extra=with_switches({"reasoning": {"effort": "low"}, "model": "m-2"}, switches))
    assert (body["store"], body["include"]) == (True, ["reasoning.encrypted_content"])
    assert (body["reasoning"], body["model"]) == ({"effort": "low"}, "m-2")


def test_tools_go_out_untouched() -> None:
    assert [tool["parameters"] for tool in sent()["tools"]] == [tool.parameters for tool in THREE]
