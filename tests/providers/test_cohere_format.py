"""What only Cohere does: a plan beside the calls, named events, no model, statuses of its own, no named choice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from family_kit import COHERE, cohere_event, cohere_events, encoded, request, results
from inline_snapshot import snapshot
from providers_kit import summary

from callscope.contract import NamedChoice, NativeMessage, ProviderError, Text, ToolCalls, Transformation, Usage
from callscope.providers import get_adapter

ADAPTER = get_adapter("cohere")


def built(**changes: Any) -> tuple[dict[str, Any], tuple[Transformation, ...]]:
    wire = ADAPTER.build(request(**changes))
    return json.loads(wire.body), wire.transformations


def test_a_request_is_translated_and_nothing_is_added() -> None:
    body, changes = built(temperature=0.3, max_tokens=64, seed=7, strict=True, tool_choice="required", parallel=True)
    assert body == snapshot(
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
                    },
                },
                {
                    "type": "function",
                    "function": {
                        "name": "list_rooms",
                        "description": "List all rooms.",
                        "parameters": {"type": "object", "properties": {}},
                    },
                },
            ],
            "strict_tools": True,
            "tool_choice": "REQUIRED",
            "temperature": 0.3,
            "max_tokens": 64,
            "seed": 7,
        }
    )
    assert changes == ()


@pytest.mark.parametrize(("choice", "wire"), [("auto", None), ("required", "REQUIRED"), ("none", "NONE")])
def test_every_tool_choice_has_its_form(choice: Any, wire: Any) -> None:
    body, changes = built(tool_choice=choice)
    assert body.get("tool_choice") == wire
    assert changes == ()


def test_a_named_choice_is_required_and_recorded_unless_it_is_the_only_tool() -> None:
    named = NamedChoice("book_room")
    body, changes = built(tool_choice=named)
    assert (body["tool_choice"], len(body["tools"])) == ("REQUIRED", 3)
    before = {"type": "function", "function": {"name": "book_room"}}
    assert changes == (Transformation("/tool_choice", "unsupported", before, "REQUIRED"),)
    body, changes = built(tool_choice=named, tools=request().tools[:1])
    assert (body["tool_choice"], changes) == ("REQUIRED", ())


def test_strictness_is_of_the_request_and_one_call_at_most_cannot_be_asked_for() -> None:
    body, changes = built(strict=False, parallel=False)
    assert body["strict_tools"] is False
    assert "strict" not in body["tools"][0]["function"]
    assert changes == (Transformation("/parallel", "unsupported", False, None),)


# Streams


def call_start(index: int, identifier: str, name: str, arguments: Any = "") -> dict[str, Any]:
    call = {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}
    return cohere_event("tool-call-start", {"tool_calls": call}, index)


def call_delta(index: int, arguments: str) -> dict[str, Any]:
    return cohere_event("tool-call-delta", {"tool_calls": {"function": {"arguments": arguments}}}, index)


def ending(word: str = "COMPLETE", **delta: Any) -> dict[str, Any]:
    return {"type": "message-end", "delta": {"finish_reason": word, **delta}}


START = cohere_event("message-start", {"role": "assistant", "content": [], "tool_calls": []}, id="x")


def parse(*values: Any) -> Any:
    return ADAPTER.parse(200, {}, cohere_events(*values), stream=True)


def test_a_call_started_and_ended_without_arguments_has_none() -> None:
    reading = parse(START, call_start(0, "now_1", "now"), cohere_event("tool-call-end", index=0), ending("TOOL_CALL"))
    assert summary(reading) == [("now_1", "now", {})]
    assert reading.outcome.flags == ("empty_arguments",)


def test_two_calls_interleaved_are_put_together_by_index() -> None:
    reading = parse(
        START,
        cohere_event("tool-plan-delta", {"tool_plan": "I will"}),
        cohere_event("tool-plan-delta", {"tool_plan": " look."}),
        call_start(0, "f_1", "f"),
        call_start(1, "g_1", "g"),
        call_delta(1, '{"b":'),
        call_delta(0, '{"a":'),
        call_delta(1, " 2}"),
        call_delta(0, " 1}"),
        ending("TOOL_CALL"),
    )
    assert summary(reading) == [("f_1", "f", {"a": 1}), ("g_1", "g", {"b": 2})]
    assert (reading.outcome.text, reading.outcome.flags) == ("I will look.", ())


def test_thinking_is_no_text_and_goes_back_whole() -> None:
    raw = cohere_events(
        START,
        cohere_event("content-start", {"content": {"type": "thinking", "thinking": ""}}, 0),
        cohere_event("content-delta", {"content": {"thinking": "Four"}}, 0),
        cohere_event("content-delta", {"content": {"thinking": " seats."}}, 0),
        cohere_event("content-end", index=0),
        cohere_event("content-start", {"content": {"type": "text", "text": ""}}, 1),
        cohere_event("content-delta", {"content": {"text": "Bo"}}, 1),
        cohere_event("content-delta", {"content": {"text": "oked."}}, 1),
        cohere_event("citation-start", {"citations": {"start": 0, "end": 2, "text": "Bo"}}, 0),
        cohere_event("citation-end", index=0),
        ending(),
        done=True,
    )
    assert ADAPTER.parse(200, {}, raw, stream=True).outcome == Text("Booked.")
    message = ADAPTER.follow_up(request(), raw, [], stream=True).messages[2]
    assert isinstance(message, NativeMessage)
    assert message.value == {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Four seats."}, {"type": "text", "text": "Booked."}],
    }


def test_a_stream_of_bare_lines_is_read_too() -> None:
    values = [START, cohere_event("content-delta", {"content": {"type": "text", "text": "Hi"}}, 0), ending()]
    raw = b"\n".join(encoded(value) for value in values)
    assert ADAPTER.parse(200, {}, raw, stream=True).outcome == Text("Hi")


def test_events_that_say_nothing_are_passed_over() -> None:
    reading = parse(
        START,
        {"type": "debug", "prompt": "…"},
        {"type": "content-delta", "delta": None},
        {"type": "content-delta", "delta": {"message": None}},
        cohere_event("tool-call-delta", {"tool_calls": [{"id": "f_1", "function": {"name": "f"}}]}, 0),
        {"type": "message-end", "delta": {"finish_reason": "", "usage": None}},
        ending("TOOL_CALL"),
    )
    assert summary(reading) == [("f_1", "f", {})]
    raw = cohere_events(START, ending()) + b"data: 12\n\n"
    assert ADAPTER.parse(200, {}, raw, stream=True).outcome == Text("", ("empty_text",))


def test_first_call_at_is_where_the_first_call_was_complete() -> None:
    raw = cohere_events(
        START, call_start(0, "f_1", "f"), call_delta(0, "{}"), call_start(1, "g_1", "g"), ending("TOOL_CALL")
    )
    at = ADAPTER.parse(200, {}, raw, stream=True).first_call_at
    assert at is not None
    assert raw[:at].endswith(cohere_events(call_delta(0, "{}")))


# Whole bodies


def whole(message: Any, finish: str = "COMPLETE", **more: Any) -> bytes:
    return encoded({"id": "x", "message": message, "finish_reason": finish, **more})


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"tool_plan": "I will."}, "I will."),
        ({"tool_plan": "I will.", "content": [{"type": "text", "text": "Hi."}]}, "I will.\nHi."),
        ({"tool_plan": "", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": " you."}]}, "Hi you."),
        ({"tool_plan": None, "content": "Hi."}, "Hi."),
        ({"content": {"type": "text", "text": "Hi."}}, "Hi."),
    ],
)
def test_the_plan_and_the_content_are_both_text(message: dict[str, Any], text: str) -> None:
    assert ADAPTER.parse(200, {}, whole(message), stream=False).outcome == Text(text)
    call = {"id": "f_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    outcome = ADAPTER.parse(200, {}, whole({**message, "tool_calls": [call]}, "TOOL_CALL"), stream=False).outcome
    assert isinstance(outcome, ToolCalls)
    assert outcome.text == text


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (
            {
                "billed_units": {"input_tokens": 41.0, "output_tokens": 25.0},
                "tokens": {"input_tokens": 1441.0, "output_tokens": 54.0},
                "cached_tokens": 144.0,
            },
            Usage(input_tokens=1441, output_tokens=54, cached_input_tokens=144),
        ),
        ({"billed_units": {"input_tokens": 41, "output_tokens": 25}}, Usage(input_tokens=41, output_tokens=25)),
        ({"tokens": None, "billed_units": 3, "cached_tokens": "many"}, Usage()),
    ],
)
def test_tokens_are_whole_numbers_as_the_model_saw_them(usage: Any, read: Usage) -> None:
    reading = ADAPTER.parse(200, {}, whole({"content": "x"}, usage=usage), stream=False)
    assert (reading.usage, reading.model) == (read, None)
    assert parse(START, ending(usage=usage)).usage == read


@pytest.mark.parametrize(("word", "category"), [("ERROR", "provider_error"), ("TIMEOUT", "timeout")])
def test_an_ending_in_failure_is_an_error(word: str, category: str) -> None:
    streamed = cohere_events(START, ending(word))
    for reading in (
        ADAPTER.parse(200, {}, whole({"content": "par"}, word), stream=False),
        ADAPTER.parse(200, {}, streamed, stream=True),
    ):
        assert isinstance(reading.outcome, ProviderError)
        assert (reading.outcome.category, reading.outcome.code) == (category, word)
        assert reading.limits.retryable


def test_an_error_told_at_the_end_of_a_stream_is_an_error() -> None:
    outcome = parse(START, ending("ERROR", error="the model is overloaded")).outcome
    assert isinstance(outcome, ProviderError)
    assert (outcome.message, outcome.flags) == ("the model is overloaded", ("overloaded",))


# Bodies as they were documented or reported: (status, message, category, flags, retryable)
ERRORS: list[tuple[int, str, str, set[str], bool]] = [
    (400, "invalid request: all elements in history must have a message.", "provider_error", set(), False),
    (
        400,
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.",
        "provider_error",
        {"context_length"},
        False,
    ),
    (400, "too many tokens: size limit exceeded by 11326 tokens.", "provider_error", {"context_length"}, False),
    (
        422,
        "unknown field: parameter 'strict' is not a valid field. For proper usage, please refer to the reference",
        "schema_rejected",
        {"unsupported_parameter"},
        False,
    ),
    (
        422,
        "unknown field: parameter 'requires_confirmation' is not a valid field.",
        "provider_error",
        {"unsupported_parameter"},
        False,
    ),
    (401, "invalid api token", "authentication_error", set(), False),
    (402, "Please add or update your payment method", "rate_limited", {"quota"}, False),
    (429, "You are using a Trial key, which is limited to 40 API calls / minute.", "rate_limited", set(), True),
    (498, "blocked output", "provider_error", {"content_filter"}, False),
    (499, "request cancelled", "provider_error", {"connection"}, True),
    (503, "no healthy upstream", "provider_error", {"overloaded"}, True),
]


@pytest.mark.parametrize(("status", "message", "category", "flags", "retryable"), ERRORS)
def test_an_error_falls_into_its_category(
    status: int, message: str, category: str, flags: set[str], retryable: bool
) -> None:
    for body in ({"message": message}, {"id": "0a1b", "message": message}):
        reading = ADAPTER.parse(status, {}, encoded(body), stream=False)
        assert isinstance(reading.outcome, ProviderError)
        assert (reading.outcome.category, set(reading.outcome.flags)) == (category, flags)
        assert (reading.outcome.message, reading.outcome.code) == (message, f"http_{status}")
        assert reading.limits.retryable is retryable


# What goes back


def test_plan_calls_and_results_are_added_and_citations_are_not() -> None:
    message = {
        "role": "assistant",
        "tool_plan": "I will book.",
        "tool_calls": [
            {"id": "book_room_1", "type": "function", "function": {"name": "book_room", "arguments": '{"seats":  4}'}},
            {"id": "", "type": "function", "function": {"name": "list_rooms", "arguments": None}},
        ],
        "citations": [{"start": 0, "end": 1}],
    }
    after = ADAPTER.follow_up(request(), whole(message, "TOOL_CALL"), results({"ok": True}, "text"), stream=False)
    assert [added.value for added in after.messages[2:] if isinstance(added, NativeMessage)] == [
        {
            "role": "assistant",
            "tool_plan": "I will book.",
            "tool_calls": [
                {
                    "id": "book_room_1",
                    "type": "function",
                    "function": {"name": "book_room", "arguments": '{"seats":  4}'},
                },
                {"id": "call_0", "type": "function", "function": {"name": "list_rooms", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "book_room_1", "content": '{"ok":true}'},
        {"role": "tool", "tool_call_id": "call_0", "content": "text"},
    ]


def test_an_empty_answer_goes_back_as_an_empty_one() -> None:
    after = ADAPTER.follow_up(request(), COHERE.whole("", [], "COMPLETE"), [], stream=False)
    message = after.messages[2]
    assert isinstance(message, NativeMessage)
    assert message.value == {"role": "assistant", "content": [{"type": "text", "text": ""}]}
    bare = ADAPTER.follow_up(request(), whole({"role": "assistant"}), [], stream=False).messages[2]
    assert isinstance(bare, NativeMessage)
    assert bare.value == {"role": "assistant", "content": ""}
