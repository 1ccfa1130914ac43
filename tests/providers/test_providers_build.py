"""What goes over the wire: every tool whole, nothing injected, every change recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from providers_kit import CHAT, TOOLS, request

from callscope.contract import Message, NamedChoice, NativeMessage, Request, Tool, Transformation
from callscope.errors import InputError
from callscope.providers import SWITCHES, with_switches


def sent(**changes: Any) -> dict[str, Any]:
    return dict(json.loads(CHAT.build(request(**changes)).body))


def test_a_request_is_translated_and_nothing_is_added() -> None:
    wire = CHAT.build(request(tools=TOOLS[:1], temperature=0.0, max_tokens=64, seed=7, parallel=False, strict=True))
    assert json.loads(wire.body) == snapshot(
        {
            "model": "m-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Where is ORD-104821?"},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "lookup_order",
                        "description": "Find one order by its id.",
                        "parameters": {
                            "type": "object",
                            "properties": {"order_id": {"type": "string", "pattern": "^ORD-[0-9]{6}$"}},
                            "required": ["order_id"],
                            "additionalProperties": False,
                        },
                        "strict": True,
                    },
                }
            ],
            "tool_choice": "auto",
            "parallel_tool_calls": False,
            "temperature": 0.0,
            "max_tokens": 64,
            "seed": 7,
        }
    )
    assert wire.body.startswith(b'{"model":"m-1","messages":[{"role":"system","content":"Be brief."},')
    assert b'"parameters":{"type":"object","properties":' in wire.body
    assert wire.path == "/chat/completions"
    assert wire.headers == (("content-type", "application/json"), ("accept", "application/json"))
    assert wire.transformations == ()


def test_settings_left_open_are_left_out() -> None:
    assert list(sent()) == ["model", "messages", "tools", "tool_choice"]
    assert "strict" not in sent()["tools"][0]["function"]


def test_tools_go_out_untouched() -> None:
    tools = [tool["function"] for tool in sent()["tools"]]
    assert tools == [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in TOOLS]


def test_the_harness_documents_own_tools_survive_whole(shared: Path) -> None:
    [document] = shared.glob("seeds/004_*")
    text = document.read_text(encoding="utf-8")
    found = re.search(r'^\{\n  "tools": \[\n.*?^\}\n', text, re.DOTALL | re.MULTILINE)
    system = re.search(r"^You are a support operations assistant\..*?unsupported actions\.\n", text, re.S | re.M)
    assert found is not None
    assert system is not None
    declared = json.loads(found[0])["tools"]
    tools = tuple(Tool(**tool) for tool in declared)
    body = sent(tools=tools, messages=(Message("system", system[0]), Message("user", "Hello!")), tool_choice="required")
    assert [tool["function"] for tool in body["tools"]] == declared
    assert [tool["function"]["name"] for tool in body["tools"]] == [
        "lookup_order",
        "search_orders",
        "get_shipping_quote",
    ]
    quote = body["tools"][2]["function"]["parameters"]
    assert quote["required"] == ["country_code", "postal_code", "weight_grams"]
    assert quote["properties"]["service"]["enum"] == ["standard", "express"]
    assert quote["properties"]["weight_grams"] == {"type": "integer", "minimum": 1, "maximum": 50000}
    assert body["messages"] == [{"role": "system", "content": system[0]}, {"role": "user", "content": "Hello!"}]
    assert body["tool_choice"] == "required"


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        ("auto", "auto"),
        ("required", "required"),
        ("none", "none"),
        (NamedChoice("lookup_order"), {"type": "function", "function": {"name": "lookup_order"}}),
    ],
)
def test_every_tool_choice_has_its_form(choice: Any, wire: Any) -> None:
    assert sent(tool_choice=choice)["tool_choice"] == wire


def test_without_tools_there_is_no_choice_and_a_lost_one_is_recorded() -> None:
    assert list(sent(tools=(), parallel=True)) == ["model", "messages"]
    assert CHAT.build(request(tools=(), tool_choice="none")).transformations == ()
    lost = CHAT.build(request(tools=(), tool_choice="required"))
    assert "tool_choice" not in json.loads(lost.body)
    assert lost.transformations == (Transformation("/tool_choice", "choice_without_tools", "required", None),)


def test_a_stream_asks_for_usage_unless_switched_off() -> None:
    body = sent(stream=True)
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert ("accept", "text/event-stream") in CHAT.build(request(stream=True)).headers
    assert "stream_options" not in sent(stream=True, extra=with_switches({}, {"stream_usage": False}))


def test_a_temperature_may_be_left_out_and_that_is_recorded() -> None:
    wire = CHAT.build(request(temperature=0.5, extra=with_switches({}, {"send_temperature": False})))
    assert "temperature" not in json.loads(wire.body)
    assert wire.transformations == (Transformation("/temperature", "unsupported", 0.5, None),)
    assert sent(temperature=0.5)["temperature"] == 0.5


def test_the_token_limit_may_have_another_name() -> None:
    body = sent(max_tokens=9, extra=with_switches({}, {"max_tokens_field": "max_completion_tokens"}))
    assert body["max_completion_tokens"] == 9
    assert "max_tokens" not in body
    assert SWITCHES not in body


def test_the_system_text_may_go_as_developer_and_that_is_recorded() -> None:
    wire = CHAT.build(request(extra=with_switches({}, {"system_role": "developer"})))
    assert json.loads(wire.body)["messages"][0] == {"role": "developer", "content": "Be brief."}
    assert wire.transformations == (Transformation("/messages/0/role", "system_role", "system", "developer"),)


def test_extra_is_merged_last() -> None:
    body = sent(temperature=0.0, extra={"temperature": 1, "provider": {"order": ["x"]}})
    assert (body["temperature"], body["provider"]) == (1, {"order": ["x"]})
    assert list(body)[-1] == "provider"


@pytest.mark.parametrize(
    ("switches", "text"),
    [
        ({"max_token_field": "x"}, "switches.max_token_field: unknown switch .*expected one of drop_on_echo"),
        ({"drop_on_echo": "x"}, "switches.drop_on_echo: switch of the wrong type .*expected list"),
        ({"stream_usage": "no"}, "switches.stream_usage: switch of the wrong type .*expected bool"),
    ],
)
def test_a_wrong_switch_is_named(switches: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        CHAT.build(request(extra=with_switches({}, switches)))


def test_with_switches_leaves_extra_alone_where_there_are_none() -> None:
    assert with_switches({"a": 1}, {}) == {"a": 1}


def test_big_integers_and_lone_surrogates_go_out_whole() -> None:
    native = NativeMessage({"role": "user", "content": "\ud83d", "n": 2**70})
    wire = CHAT.build(request(messages=(Message("user", "a\udfff"), native)))
    assert json.loads(wire.body)["messages"] == [
        {"role": "user", "content": "a\udfff"},
        {"role": "user", "content": "\ud83d", "n": 2**70},
    ]


def test_the_same_request_gives_the_same_bytes() -> None:
    first = CHAT.build(request(strict=False))
    again: Request = request(strict=False)
    assert CHAT.build(again) == first


def test_a_key_becomes_a_bearer_header_and_only_there() -> None:
    wire = CHAT.build(request())
    assert CHAT.authorize(wire, "sk-1") == (("authorization", "Bearer sk-1"),)
    assert CHAT.authorize(wire, None) == ()


@pytest.mark.parametrize("key", ["", "sk 1", "sk-1\n", "sk-1\r\nx: y", "schlüssel"])
def test_a_key_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(InputError, match="api_key: the API key") as caught:
        CHAT.authorize(CHAT.build(request()), key)
    assert not key.strip() or key.strip() not in str(caught.value)
