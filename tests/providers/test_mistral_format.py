"""What only Mistral does: nine-letter ids, content in parts, strict bodies, id-less pieces of relayed models."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from family_kit import MISSING, MISTRAL, encoded, request, results
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from providers_kit import body as chat_body
from providers_kit import chunk, events, stream, summary

from callscope.contract import (
    Message,
    NamedChoice,
    NativeMessage,
    ProviderError,
    Text,
    ToolCalls,
    Transformation,
    Usage,
)
from callscope.providers import get_adapter, with_switches
from callscope.providers.mistral import mistral_id

ADAPTER = get_adapter("mistral")


def sent(**changes: Any) -> dict[str, Any]:
    return dict(json.loads(ADAPTER.build(request(**changes)).body))


def test_a_request_is_translated_and_nothing_is_added() -> None:
    wire = ADAPTER.build(
        request(temperature=0.0, max_tokens=64, seed=7, parallel=False, strict=True, tool_choice="required")
    )
    assert json.loads(wire.body) == snapshot(
        {
            "model": "m-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Book the north room for 4."},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "book_room",
                        "description": "Book a meeting room.",
                        "parameters": {
                            "type": "object",
                            "properties": {
                                "room": {"type": "string", "enum": ["north", "south"]},
                                "seats": {"type": "integer", "minimum": 1, "maximum": 40},
                                "start": {"type": "string", "format": "date-time", "description": "When it begins."},
                            },
                            "required": ["room", "seats"],
                            "additionalProperties": False,
                        },
                        "strict": True,
                    },
                },
                {
                    "type": "function",
                    "function": {
                        "name": "find_person",
                        "description": "Find a colleague.",
                        "parameters": {
                            "type": "object",
                            "properties": {
                                "name": {"anyOf": [{"type": "string", "pattern": "^[A-Z]"}, {"type": "null"}]}
                            },
                            "required": ["name"],
                            "$defs": {"x": {"const": 1}},
                        },
                        "strict": True,
                    },
                },
                {
                    "type": "function",
                    "function": {
                        "name": "list_rooms",
                        "description": "List all rooms.",
                        "parameters": {"type": "object", "properties": {}},
                        "strict": True,
                    },
                },
            ],
            "tool_choice": "any",
            "parallel_tool_calls": False,
            "temperature": 0.0,
            "max_tokens": 64,
            "random_seed": 7,
        }
    )
    assert wire.transformations == ()


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        ("auto", "auto"),
        ("required", "any"),
        ("none", "none"),
        (NamedChoice("book_room"), {"type": "function", "function": {"name": "book_room"}}),
    ],
)
def test_every_tool_choice_has_its_form(choice: Any, wire: Any) -> None:
    assert sent(tool_choice=choice)["tool_choice"] == wire


# Ids


@given(st.text(max_size=20))
def test_any_id_becomes_nine_letters_or_digits_always_the_same(identifier: str) -> None:
    made = mistral_id(identifier)
    assert re.fullmatch("[A-Za-z0-9]{9}", made)
    assert mistral_id(identifier) == made == mistral_id(made)


def test_ids_of_the_right_form_are_kept_and_others_stay_apart() -> None:
    assert mistral_id("FI5qQGzDE") == "FI5qQGzDE"
    others = [f"chatcmpl-tool-{number:x}" for number in range(2000)] + ["", "functions.f:0", "ünïcödé12"]
    assert len({mistral_id(identifier) for identifier in others}) == len(others)


def test_foreign_ids_of_a_conversation_are_mapped_in_calls_and_results_alike() -> None:
    foreign, own = "call_PTLP8xhu3uwZk4l3nlnrrJha", "FI5qQGzDE"
    function = {"name": "list_rooms", "arguments": "{}"}
    said = {"role": "assistant", "content": "", "tool_calls": [{"id": i, "function": function} for i in (foreign, own)]}
    turn = (
        Message("user", "Rooms?"),
        NativeMessage(said),
        NativeMessage({"role": "tool", "tool_call_id": foreign, "name": "list_rooms", "content": "[]"}),
        NativeMessage({"role": "tool", "tool_call_id": own, "name": "list_rooms", "content": "[]"}),
        NativeMessage("odd"),
    )
    wire = ADAPTER.build(request(messages=turn))
    messages = json.loads(wire.body)["messages"]
    mapped = mistral_id(foreign)
    assert [call["id"] for call in messages[1]["tool_calls"]] == [mapped, own]
    assert [message["tool_call_id"] for message in messages[2:4]] == [mapped, own]
    assert wire.transformations == (
        Transformation("/messages/1/tool_calls/0/id", "call_id", foreign, mapped),
        Transformation("/messages/2/tool_call_id", "call_id", foreign, mapped),
    )
    assert [call["id"] for call in said["tool_calls"]] == [foreign, own]


def test_missing_and_doubled_ids_are_made_in_the_right_form() -> None:
    calls = [(MISSING, "f", "{}"), ("FI5qQGzDE", "f", "{}"), ("FI5qQGzDE", "f", "{}"), ("", "f", "{}")]
    after = ADAPTER.follow_up(request(), MISTRAL.whole("", calls, "tool_calls"), results(1, 2, 3, 4), stream=False)
    wire = ADAPTER.build(after)
    messages = json.loads(wire.body)["messages"][2:]
    ids = [call["id"] for call in messages[0]["tool_calls"]]
    assert ids[1] == "FI5qQGzDE"
    assert len(set(ids)) == 4
    assert all(re.fullmatch("[A-Za-z0-9]{9}", identifier) for identifier in ids)
    assert [message["tool_call_id"] for message in messages[1:]] == ids
    assert wire.transformations == ()


def test_a_made_id_is_unlike_any_that_a_foreign_one_becomes() -> None:
    calls = [(MISSING, "f", "{}"), ("call_0", "f", "{}"), ("null", "f", "{}"), ("null", "f", "{}")]
    after = ADAPTER.follow_up(request(), MISTRAL.whole("", calls, "tool_calls"), results(1, 2, 3, 4), stream=False)
    messages = json.loads(ADAPTER.build(after).body)["messages"][2:]
    ids = [call["id"] for call in messages[0]["tool_calls"]]
    assert len(set(ids)) == 4
    assert [message["tool_call_id"] for message in messages[1:]] == ids


def test_an_id_of_a_relayed_model_is_mapped_in_every_round() -> None:
    conversation = request()
    for number in range(3):
        raw = MISTRAL.whole("", [(f"chatcmpl-tool-{number}", "f", "{}")], "tool_calls")
        conversation = ADAPTER.follow_up(conversation, raw, results("ok"), stream=False)
    messages = json.loads(ADAPTER.build(conversation).body)["messages"][2:]
    ids = [message["tool_calls"][0]["id"] for message in messages[::2]]
    assert ids == [mistral_id(f"chatcmpl-tool-{number}") for number in range(3)]
    assert [message["tool_call_id"] for message in messages[1::2]] == ids


# What goes back


def test_the_assistant_message_and_its_results_are_added() -> None:
    raw = MISTRAL.whole(
        "Look:", [("FI5qQGzDE", "book_room", '{"seats":  4}'), ("ot1MIoEMA", "f", "{cut")], "tool_calls"
    )
    after = ADAPTER.follow_up(request(), raw, results({"ok": True}, "text"), stream=False)
    assert [message.value for message in after.messages[2:] if isinstance(message, NativeMessage)] == [
        {
            "role": "assistant",
            "content": "Look:",
            "tool_calls": [
                {
                    "id": "FI5qQGzDE",
                    "type": "function",
                    "function": {"name": "book_room", "arguments": '{"seats":  4}'},
                },
                {"id": "ot1MIoEMA", "type": "function", "function": {"name": "f", "arguments": "{cut"}},
            ],
        },
        {"role": "tool", "tool_call_id": "FI5qQGzDE", "name": "book_room", "content": '{"ok":true}'},
        {"role": "tool", "tool_call_id": "ot1MIoEMA", "name": "f", "content": "text"},
    ]


def echoed(raw: bytes, **switches: Any) -> dict[str, Any]:
    before = request(extra=with_switches({}, switches))
    message = ADAPTER.follow_up(before, raw, [], stream=False).messages[2]
    assert isinstance(message, NativeMessage)
    return dict(message.value)


def test_fields_mistral_would_refuse_are_not_sent_back_unless_named() -> None:
    raw = chat_body({"role": "assistant", "content": "Hi.", "reasoning_content": "hm", "index": 0, "prefix": False})
    assert echoed(raw) == {"role": "assistant", "content": "Hi."}
    assert echoed(raw, echo_fields=["reasoning_content", "prefix", "audio"]) == {
        "role": "assistant",
        "content": "Hi.",
        "reasoning_content": "hm",
        "prefix": False,
    }


# Content in parts

THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Four seats, north."}], "closed": True}


def test_thinking_is_no_text_and_goes_back_whole() -> None:
    parts = [THOUGHT, {"type": "text", "text": "Booked."}]
    raw = chat_body({"role": "assistant", "content": parts, "tool_calls": None})
    assert ADAPTER.parse(200, {}, raw, stream=False).outcome == Text("Booked.")
    assert echoed(raw) == {"role": "assistant", "content": parts}


def test_streamed_thinking_adds_up_to_its_parts_and_the_words_after_them() -> None:
    def thought(text: str, **more: Any) -> dict[str, Any]:
        return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}], **more}]}

    raw = stream(
        {"role": "assistant", "content": ""},
        thought("Four seats"),
        thought(", north.", closed=True),
        {"content": [{"type": "text", "text": "Bo"}]},
        {"content": "ok"},
        {"content": "ed."},
        {"content": [{"type": "reference", "reference_ids": [1]}, {"type": "reference", "reference_ids": [2]}]},
        finish="stop",
    )
    assert ADAPTER.parse(200, {}, raw, stream=True).outcome == Text("Booked.")
    assert echoed(raw)["content"] == [
        THOUGHT,
        {"type": "text", "text": "Booked."},
        {"type": "reference", "reference_ids": [1]},
        {"type": "reference", "reference_ids": [2]},
    ]


def test_words_before_parts_are_kept_in_their_place() -> None:
    raw = stream({"content": "Well: "}, {"content": [THOUGHT, "odd"]}, finish="stop")
    assert ADAPTER.parse(200, {}, raw, stream=True).outcome == Text("Well: odd")
    assert echoed(raw)["content"] == [{"type": "text", "text": "Well: "}, THOUGHT, "odd"]


@pytest.mark.parametrize("kind", [[], {}, None, 3, "image_url"])
def test_parts_of_an_odd_type_are_kept_apart(kind: Any) -> None:
    parts = [{"type": kind}, {"type": kind, "x": 1}, {}]
    raw = stream(*({"content": [part]} for part in parts), finish="stop")
    assert ADAPTER.parse(200, {}, raw, stream=True).outcome == Text("", ("empty_text",))
    assert echoed(raw)["content"] == parts


@pytest.mark.parametrize("thinking", ['[TOOL_CALLS][{"name": "f", "arguments": {}}]', None, [{"type": "x"}, 3]])
def test_a_call_in_the_thinking_alone_is_flagged(thinking: Any) -> None:
    raw = chat_body({"content": [{"type": "thinking", "thinking": thinking}]})
    flags = ("empty_text", "reasoning_tool_call") if isinstance(thinking, str) else ("empty_text",)
    assert ADAPTER.parse(200, {}, raw, stream=False).outcome == Text("", flags)


@pytest.mark.parametrize("content", ["", None, []])
def test_no_content_beside_calls_is_no_text(content: Any) -> None:
    raw = chat_body(
        {"content": content, "tool_calls": [{"id": "FI5qQGzDE", "function": {"name": "f", "arguments": "{}"}}]}
    )
    outcome = ADAPTER.parse(200, {}, raw, stream=False).outcome
    assert isinstance(outcome, ToolCalls)
    assert (outcome.text, outcome.flags) == (None, ())


# Streams as they come


def test_a_whole_call_in_one_event_without_index() -> None:
    call = {"id": "gSIMJiOkT", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    raw = events(
        chunk({"role": "assistant", "content": ""}),
        chunk(
            {"content": None, "tool_calls": [call]}, "tool_calls", usage={"prompt_tokens": 9, "completion_tokens": 4}
        ),
    )
    reading = ADAPTER.parse(200, {}, raw, stream=True)
    assert summary(reading) == [("gSIMJiOkT", "weather", {"city": "Rome"})]
    assert reading.outcome.flags == ("missing_index",)
    assert reading.usage == Usage(input_tokens=9, output_tokens=4)


def test_pieces_without_id_and_name_go_on_with_the_call_of_their_index() -> None:
    """vercel/ai#19178: GLM behind Mistral's API."""

    def piece(index: int, **entry: Any) -> dict[str, Any]:
        return chunk({"tool_calls": [{"type": "function", "index": index, **entry}], "index": 0, "content": ""})

    raw = events(
        piece(0, id="chatcmpl-tool-9f", function={"name": "find_person", "arguments": ""}),
        piece(1, id="chatcmpl-tool-a0", function={"name": "list_rooms", "arguments": None}),
        piece(0, function={"name": "", "arguments": '{"name": '}),
        piece(0, function={"name": "", "arguments": '"Ada"}'}),
        piece(1, function={"name": "", "arguments": "{}"}),
        chunk({"index": 0, "content": ""}, "tool_calls"),
    )
    reading = ADAPTER.parse(200, {}, raw, stream=True)
    assert summary(reading) == [
        ("chatcmpl-tool-9f", "find_person", {"name": "Ada"}),
        ("chatcmpl-tool-a0", "list_rooms", {}),
    ]
    assert reading.outcome.flags == ()


def test_merged_and_sharing_calls_are_told_apart() -> None:
    raw = MISTRAL.whole("", [("FI5qQGzDE", "list_roomslist_rooms", '{"a":1} {"a":2}')], "tool_calls")
    merged = ADAPTER.parse(200, {}, raw, stream=False)
    assert summary(merged) == [("FI5qQGzDE", "list_rooms", {"a": 1}), (None, "list_rooms", {"a": 2})]
    assert merged.outcome.flags == ("missing_id", "split_calls")
    first = [("AAAAAAAA1", "f", '{"a":1}'), ("AAAAAAAA2", "g", '{"b":2}')]
    deltas = [{"tool_calls": [{"index": 0, "id": i, "function": {"name": n, "arguments": a}}]} for i, n, a in first]
    shared = ADAPTER.parse(200, {}, stream(*deltas), stream=True)
    assert summary(shared) == [("AAAAAAAA1", "f", {"a": 1}), ("AAAAAAAA2", "g", {"b": 2})]
    assert shared.outcome.flags == ("shared_index",)


# Endings, usage, errors


def test_the_models_own_limit_is_a_truncation_too() -> None:
    reading = ADAPTER.parse(200, {}, chat_body({"content": "Well"}, finish="model_length"), stream=False)
    assert reading.outcome == Text("Well", ("truncated",))


def test_a_cut_call_is_truncated() -> None:
    reading = ADAPTER.parse(200, {}, MISTRAL.whole("", [("FI5qQGzDE", "f", '{"a": [1, ')], "length"), stream=False)
    assert summary(reading) == [("FI5qQGzDE", "f", "truncated")]
    assert reading.outcome.flags == ("truncated",)


def test_an_ending_in_error_is_a_provider_error() -> None:
    for raw in (chat_body({"content": ""}, finish="error"), stream({"content": "par"}, finish="error")):
        reading = ADAPTER.parse(200, {}, raw, stream=raw.startswith(b"data"))
        assert isinstance(reading.outcome, ProviderError)
        assert (reading.outcome.code, reading.limits.retryable) == ("error", True)


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({}, None),
        ({"num_cached_tokens": 32}, 32),
        ({"num_cached_tokens": 32, "prompt_tokens_details": {"cached_tokens": 0}}, 0),
        ({"prompt_tokens_details": {"cached_tokens": 128}}, 128),
    ],
)
def test_cached_tokens_have_two_names(usage: dict[str, Any], cached: int | None) -> None:
    raw = chat_body({"content": "x"}, usage={"prompt_tokens": 171, "completion_tokens": 14, **usage})
    read = ADAPTER.parse(200, {}, raw, stream=False).usage
    assert read == Usage(input_tokens=171, output_tokens=14, cached_input_tokens=cached)


def detail(*path: Any, kind: str = "extra_forbidden", text: str = "Extra inputs are not permitted") -> list[Any]:
    return [{"type": kind, "loc": ["body", *path], "msg": text, "input": None}]


# Bodies as they were reported or recorded: (status, body, category, code, flags, retryable)
ERRORS: list[tuple[int, Any, str, str, set[str], bool]] = [
    (
        422,
        {"detail": detail("messages", 6, "assistant", "reasoning_content")},
        "provider_error",
        "http_422",
        {"unsupported_parameter"},
        False,
    ),
    (422, {"detail": detail("tools", 0, "function", "strict")}, "schema_rejected", "http_422", set(), False),
    (
        422,
        {"object": "error", "message": {"detail": detail("n")}, "type": "invalid_request_error", "code": None},
        "provider_error",
        "invalid_request_error",
        {"unsupported_parameter"},
        False,
    ),
    (
        422,
        {
            "object": "Error",
            "detail": detail("x"),
            "message": detail("x"),
            "type": "invalid_request_error",
            "code": 3001,
        },
        "provider_error",
        "invalid_request_error",
        {"unsupported_parameter"},
        False,
    ),
    (
        400,
        {
            "object": "error",
            "message": "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
            "type": "invalid_request_message_order",
            "param": None,
            "code": "3230",
        },
        "provider_error",
        "invalid_request_message_order",
        set(),
        False,
    ),
    (
        400,
        {
            "object": "error",
            "message": "Tool call id was turn1_0 but must be a-z, A-Z, 0-9, with a length of 9.",
            "type": "invalid_function_call",
            "param": None,
            "code": "3280",
            "raw_status_code": 400,
        },
        "provider_error",
        "invalid_function_call",
        set(),
        False,
    ),
    (
        400,
        {"object": "error", "message": "Invalid model: x", "type": "invalid_model", "param": None, "code": "1500"},
        "provider_error",
        "invalid_model",
        set(),
        False,
    ),
    (401, {"detail": "Unauthorized"}, "authentication_error", "http_401", set(), False),
    (429, {"message": "Requests rate limit exceeded"}, "rate_limited", "http_429", set(), True),
    (
        429,
        {
            "object": "error",
            "message": "Service tier capacity exceeded for this model.",
            "type": "service_tier_capacity_exceeded",
            "code": "3505",
        },
        "rate_limited",
        "service_tier_capacity_exceeded",
        {"overloaded"},
        True,
    ),
    (
        500,
        {"object": "error", "message": "Service unavailable.", "type": "internal_server_error"},
        "provider_error",
        "internal_server_error",
        set(),
        True,
    ),
]


@pytest.mark.parametrize(("status", "raw", "category", "code", "flags", "retryable"), ERRORS)
def test_an_error_falls_into_its_category(
    status: int, raw: Any, category: str, code: str, flags: set[str], retryable: bool
) -> None:
    reading = ADAPTER.parse(status, {}, encoded(raw), stream=False)
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.category, reading.outcome.code) == (category, code)
    assert (set(reading.outcome.flags), reading.limits.retryable) == (flags, retryable)
    assert reading.outcome.message


def test_the_places_of_a_problem_are_in_the_message() -> None:
    raw = {"object": "error", "message": {"detail": detail("messages", 0, "user", "name")}, "type": "t"}
    outcome = ADAPTER.parse(422, {}, encoded(raw), stream=False).outcome
    assert isinstance(outcome, ProviderError)
    assert outcome.message == "messages.0.user.name: Extra inputs are not permitted"


def test_an_error_in_mid_stream_is_a_provider_error() -> None:
    raw = events(
        chunk({"content": "par"}), {"object": "error", "message": "boom", "type": "internal_server_error"}, done=False
    )
    outcome = ADAPTER.parse(200, {}, raw, stream=True).outcome
    assert isinstance(outcome, ProviderError)
    assert (outcome.code, outcome.message) == ("internal_server_error", "boom")
