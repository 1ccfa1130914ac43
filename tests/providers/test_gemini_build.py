"""What goes to generateContent: every tool whole, nothing injected, every change recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot
from native_kit import GEMINI, TOOLS, request

from callscope.contract import Message, NamedChoice, NativeMessage, Transformation
from callscope.errors import InputError
from callscope.providers import with_switches


def sent(**changes: Any) -> dict[str, Any]:
    return dict(json.loads(GEMINI.build(request(**changes)).body))


def test_a_request_is_translated_and_nothing_is_added() -> None:
    wire = GEMINI.build(request(temperature=0.5, max_tokens=99, seed=3))
    assert json.loads(wire.body) == snapshot(
        {
            "systemInstruction": {"parts": [{"text": "You sell tickets."}]},
            "contents": [{"role": "user", "parts": [{"text": "Two seats to OSLO, please."}]}],
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "find_train",
                            "description": "Trains between two stations.",
                            "parametersJsonSchema": {
                                "type": "object",
                                "properties": {
                                    "from_station": {"type": "string", "minLength": 2, "maxLength": 40},
                                    "to_station": {"type": "string", "pattern": "^[A-Z]{2,5}$"},
                                    "class": {"type": "string", "enum": ["first", "second"]},
                                },
                                "required": ["from_station", "to_station"],
                                "additionalProperties": False,
                            },
                        },
                        {
                            "name": "reserve_seats",
                            "description": "Reserve seats in a train.",
                            "parametersJsonSchema": {
                                "type": "object",
                                "properties": {
                                    "train": {"type": "string"},
                                    "seats": {"type": "integer", "minimum": 1, "maximum": 8},
                                    "extras": {
                                        "type": "array",
                                        "items": {"type": "string"},
                                        "maxItems": 3,
                                        "uniqueItems": True,
                                    },
                                },
                                "required": ["train", "seats"],
                            },
                        },
                        {
                            "name": "station_clock",
                            "description": "",
                            "parametersJsonSchema": {"type": "object", "properties": {}},
                        },
                    ]
                }
            ],
            "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
            "generationConfig": {"temperature": 0.5, "maxOutputTokens": 99, "seed": 3},
        }
    )
    assert wire.path == "/models/m-1:generateContent"
    assert wire.headers == (("content-type", "application/json"), ("accept", "application/json"))
    assert (wire.transformations, wire.auth) == ((), None)


def test_settings_left_open_are_left_out() -> None:
    assert list(sent()) == ["systemInstruction", "contents", "tools", "toolConfig"]
    assert list(sent(messages=(Message("user", "a"),), tools=())) == ["contents"]


@pytest.mark.parametrize(
    ("model", "stream", "path"),
    [
        ("gemini-3-pro", False, "/models/gemini-3-pro:generateContent"),
        ("gemini-3-pro", True, "/models/gemini-3-pro:streamGenerateContent?alt=sse"),
        ("gemini-1.5@001", False, "/models/gemini-1.5@001:generateContent"),
        ("tunedModels/x y", False, "/tunedModels/x%20y:generateContent"),
        ("endpoints/77?x#y", False, "/endpoints/77%3Fx%23y:generateContent"),
    ],
)
def test_the_model_stands_in_the_path(model: str, stream: bool, path: str) -> None:
    wire = GEMINI.build(request(model=model, stream=stream))
    assert wire.path == path
    assert dict(wire.headers)["accept"] == ("text/event-stream" if stream else "application/json")


@pytest.mark.parametrize(
    ("choice", "strict", "config"),
    [
        ("auto", None, {"mode": "AUTO"}),
        ("auto", False, {"mode": "AUTO"}),
        ("auto", True, {"mode": "VALIDATED"}),
        ("required", None, {"mode": "ANY"}),
        ("required", True, {"mode": "ANY"}),
        ("none", True, {"mode": "NONE"}),
        (NamedChoice("find_train"), None, {"mode": "ANY", "allowedFunctionNames": ["find_train"]}),
    ],
)
def test_every_tool_choice_has_its_mode(choice: Any, strict: bool | None, config: Any) -> None:
    wire = GEMINI.build(request(tool_choice=choice, strict=strict))
    assert json.loads(wire.body)["toolConfig"]["functionCallingConfig"] == config
    assert len(json.loads(wire.body)["tools"][0]["functionDeclarations"]) == 3
    assert wire.transformations == ()


def test_what_gemini_has_no_form_for_is_recorded() -> None:
    assert GEMINI.build(request(parallel=True)).transformations == ()
    assert GEMINI.build(request(parallel=False)).transformations == (Transformation("/parallel", "unsupported", False),)
    lost = GEMINI.build(request(tools=(), tool_choice="required", parallel=False))
    assert lost.transformations == (Transformation("/tool_choice", "choice_without_tools", "required"),)


def test_messages_keep_their_order_and_a_moved_system_text_is_recorded() -> None:
    native = NativeMessage({"role": "model", "parts": [{"text": "x"}]})
    messages = (Message("user", "a"), Message("assistant", "b"), native, Message("system", "late"))
    wire = GEMINI.build(request(messages=(Message("system", "first"), *messages)))
    body = json.loads(wire.body)
    assert body["systemInstruction"] == {"parts": [{"text": "first"}, {"text": "late"}]}
    assert body["contents"] == [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"text": "b"}]},
        {"role": "model", "parts": [{"text": "x"}]},
    ]
    assert wire.transformations == (Transformation("/messages/4", "moved_to_system", 4, 0),)


def test_extra_is_merged_into_the_body() -> None:
    extra = {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}, "seed": 9}, "safetySettings": []}
    body = sent(temperature=0.0, seed=1, extra=extra)
    assert body["generationConfig"] == {"temperature": 0.0, "seed": 9, "thinkingConfig": {"thinkingLevel": "low"}}
    assert body["safetySettings"] == []
    assert sent(extra={"generationConfig": {"topK": 1}})["generationConfig"] == {"topK": 1}


def test_the_key_goes_where_the_address_wants_it() -> None:
    wire = GEMINI.build(request())
    assert GEMINI.authorize(wire, "key-1") == (("x-goog-api-key", "key-1"),)
    assert GEMINI.authorize(wire, None) == ()
    vertex = GEMINI.build(request(extra=with_switches({}, {"auth": "bearer"})))
    assert GEMINI.authorize(vertex, "ya29.x") == (("authorization", "Bearer ya29.x"),)
    with pytest.raises(InputError, match="api_key"):
        GEMINI.authorize(wire, "a b")


@pytest.mark.parametrize(
    ("switches", "text"),
    [
        ({"auth": "key"}, r"switches.auth: unknown value .*\(found key; expected api_key or bearer"),
        ({"schema_field": "schema"}, r"switches.schema_field: unknown value .*parametersJsonSchema or parameters"),
        ({"schema": "x"}, "switches.schema: unknown switch"),
    ],
)
def test_a_wrong_switch_is_named(switches: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        GEMINI.build(request(extra=with_switches({}, switches)))


def test_the_openapi_field_takes_a_rewritten_schema_and_says_so() -> None:
    wire = GEMINI.build(request(extra=with_switches({}, {"schema_field": "parameters"})))
    declared = json.loads(wire.body)["tools"][0]["functionDeclarations"]
    assert declared[0]["parameters"]["properties"]["class"] == {"type": "STRING", "enum": ["first", "second"]}
    assert declared[1]["parameters"]["required"] == ["train", "seats"]
    assert declared[2] == {"name": "station_clock", "description": ""}
    assert Transformation("/tools/2/parameters", "no_parameters", TOOLS[2].parameters, None) in wire.transformations
    removed = [(t.pointer, t.before) for t in wire.transformations if t.rule == "keyword_removed"]
    assert removed == [
        ("/tools/0/parameters/additionalProperties", False),
        ("/tools/1/parameters/properties/extras/uniqueItems", True),
    ]


def test_the_same_request_gives_the_same_bytes() -> None:
    assert GEMINI.build(request(strict=True)) == GEMINI.build(request(strict=True))
