"""What only Ollama does: lines for a stream, arguments as objects, options, and no say in whether a tool is called."""

from __future__ import annotations

import json
from typing import Any

import pytest
from family_kit import MISSING, OLLAMA, OLLAMA_END, encoded, ollama_line, ollama_lines, request, results
from inline_snapshot import snapshot
from providers_kit import summary

from callscope.contract import (
    NamedChoice,
    NativeMessage,
    ProviderError,
    Text,
    ToolCalls,
    Transformation,
    Usage,
)
from callscope.providers import get_adapter, with_switches

ADAPTER = get_adapter("ollama")


def built(**changes: Any) -> tuple[dict[str, Any], tuple[Transformation, ...]]:
    wire = ADAPTER.build(request(**changes))
    return json.loads(wire.body), wire.transformations


def test_a_request_is_translated_and_nothing_is_added() -> None:
    extra = with_switches({"think": False, "keep_alive": "5m"}, {"num_ctx": 8192})
    body, changes = built(temperature=0.0, max_tokens=64, seed=7, parallel=True, strict=False, extra=extra)
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
            "stream": False,
            "options": {"temperature": 0.0, "seed": 7, "num_predict": 64, "num_ctx": 8192},
            "think": False,
            "keep_alive": "5m",
        }
    )
    assert changes == ()


def test_options_of_the_model_entry_join_those_of_the_request() -> None:
    body, _ = built(temperature=0.5, extra={"options": {"top_k": 1, "temperature": 0.7}})
    assert body["options"] == {"temperature": 0.7, "top_k": 1}
    assert "options" not in built()[0]
    assert built(extra={"options": {"top_k": 1}})[0]["options"] == {"top_k": 1}


def test_what_ollama_has_no_form_for_is_recorded() -> None:
    body, changes = built(tool_choice="required", parallel=False, strict=True)
    assert not {"tool_choice", "parallel_tool_calls", "strict"} & body.keys()
    assert len(body["tools"]) == 3
    assert changes == (
        Transformation("/tool_choice", "unsupported", "required", None),
        Transformation("/parallel", "unsupported", False, None),
        Transformation("/strict", "unsupported", True, None),
    )
    named = {"type": "function", "function": {"name": "book_room"}}
    assert built(tool_choice=NamedChoice("book_room"))[1] == (
        Transformation("/tool_choice", "unsupported", named, None),
    )


def test_no_choice_at_all_leaves_the_tools_out_and_says_which() -> None:
    body, changes = built(tool_choice="none", strict=True)
    assert "tools" not in body
    assert changes == (Transformation("/tools", "left_out", ["book_room", "find_person", "list_rooms"], []),)


# Bodies and lines


def test_the_index_and_the_id_of_a_call_are_read_where_there_are_any() -> None:
    calls = [
        {"id": "call_1", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}},
        {"function": {"index": 1, "name": "g", "arguments": {}}},
    ]
    raw = encoded(ollama_line({"role": "assistant", "content": "", "tool_calls": calls}, **OLLAMA_END))
    reading = ADAPTER.parse(200, {}, raw, stream=False)
    assert summary(reading) == [("call_1", "f", {"a": 1}), (None, "g", {})]
    assert reading.outcome.flags == ("missing_id",)


def test_calls_of_one_stream_stay_apart_whatever_line_they_come_on() -> None:
    def line(*names: str) -> dict[str, Any]:
        calls = [{"id": f"id_{name}", "function": {"index": 0, "name": name, "arguments": {}}} for name in names]
        return ollama_line({"role": "assistant", "content": "", "tool_calls": calls}, done=False)

    raw = ollama_lines(line("f"), line("g", "h"), ollama_line({"content": ""}, done_reason="stop", **OLLAMA_END))
    reading = ADAPTER.parse(200, {}, raw, stream=True)
    assert summary(reading) == [("id_f", "f", {}), ("id_g", "g", {}), ("id_h", "h", {})]
    assert reading.outcome.flags == ()
    assert reading.first_call_at == len(ollama_lines(line("f")))


def test_thinking_is_no_text_and_goes_back() -> None:
    lines = [
        ollama_line({"role": "assistant", "content": "", "thinking": "Four"}, done=False),
        ollama_line({"role": "assistant", "content": "", "thinking": " seats."}, done=False),
        ollama_line({"role": "assistant", "content": "Booked."}, done=False),
        ollama_line({"role": "assistant", "content": ""}, done_reason="stop", **OLLAMA_END),
    ]
    raw = ollama_lines(*lines)
    assert ADAPTER.parse(200, {}, raw, stream=True).outcome == Text("Booked.")
    message = ADAPTER.follow_up(request(), raw, [], stream=True).messages[2]
    assert isinstance(message, NativeMessage)
    assert message.value == {"role": "assistant", "content": "Booked.", "thinking": "Four seats."}


def test_a_call_in_the_thinking_alone_is_flagged() -> None:
    message = {"role": "assistant", "content": "", "thinking": '{"name": "f", "arguments": {}}'}
    outcome = ADAPTER.parse(200, {}, encoded(ollama_line(message, **OLLAMA_END)), stream=False).outcome
    assert outcome == Text("", ("empty_text", "reasoning_tool_call"))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n"])
def test_line_ends_do_not_matter(end: bytes) -> None:
    raw = OLLAMA.stream("Hello there.", [], "stop")
    assert ADAPTER.parse(200, {}, raw.replace(b"\n", end), stream=True).outcome == Text("Hello there.")
    assert ADAPTER.parse(200, {}, raw.rstrip(), stream=True).outcome == Text("Hello there.")


def test_a_body_over_several_lines_is_one_value() -> None:
    pretty = json.dumps(json.loads(OLLAMA.whole("Hi", [], "stop")), indent=1).encode()
    assert ADAPTER.parse(200, {}, pretty, stream=False).outcome == Text("Hi")
    assert ADAPTER.parse(200, {}, b'{\n "message": {"con', stream=False).outcome.code == "truncated_body"  # type: ignore[union-attr]


def test_an_event_stream_of_a_relay_is_read_too() -> None:
    raw = OLLAMA.stream("Hello there.", [], "stop")
    events = b"".join(b"data: " + line + b"\n\n" for line in raw.splitlines())
    assert ADAPTER.parse(200, {}, events, stream=True).outcome == Text("Hello there.")


def test_a_stream_of_one_line_is_known_by_its_content_type() -> None:
    raw = OLLAMA.whole("Hi", [], "stop") + b"\n"
    assert ADAPTER.parse(200, {"Content-Type": "application/x-ndjson"}, raw, stream=True).outcome == Text("Hi")
    assert ADAPTER.parse(200, {}, raw, stream=True).outcome == Text("Hi", ("not_streamed",))


def test_a_line_that_is_no_json_is_passed_over_and_a_broken_one_is_not() -> None:
    first, *rest = OLLAMA.stream("Hello there.", [], "stop").splitlines(keepends=True)
    outcome = ADAPTER.parse(200, {}, b"".join([first, b"keepalive\n", *rest]), stream=True).outcome
    assert outcome == Text("Hello there.", ("unreadable_chunk",))
    for broken in (b'{"mess\n', b'{"mess\n{"age\n'):
        read = ADAPTER.parse(200, {}, b"".join([first, broken, *rest]), stream=True).outcome
        assert isinstance(read, ProviderError)
        assert read.code == "unreadable_chunk"


@pytest.mark.parametrize("more", [{"done": False}, {}])
def test_a_stream_that_never_says_it_is_done_was_cut(more: dict[str, Any]) -> None:
    line = ollama_line({"role": "assistant", "content": "par"}, **more)
    outcome = ADAPTER.parse(200, {}, ollama_lines(line, line), stream=True).outcome
    assert isinstance(outcome, ProviderError)
    assert (outcome.code, outcome.flags) == ("stream_cut", ("connection",))


def test_a_single_line_that_is_not_done_was_cut() -> None:
    raw = ollama_lines(ollama_line({"role": "assistant", "content": "par"}, done=False))
    assert ADAPTER.parse(200, {}, raw, stream=True).outcome.code == "stream_cut"  # type: ignore[union-attr]


def test_older_servers_name_no_reason_for_the_end() -> None:
    raw = ollama_lines(ollama_line({"content": "a"}, done=False), ollama_line({"content": ""}, **OLLAMA_END))
    reading = ADAPTER.parse(200, {}, raw, stream=True)
    assert (reading.outcome, reading.finish) == (Text("a"), None)


def test_tokens_are_those_of_the_last_line() -> None:
    raw = encoded(ollama_line({"content": "x"}, done=True, done_reason="stop", prompt_eval_count=26, eval_count=259.0))
    assert ADAPTER.parse(200, {}, raw, stream=False).usage == Usage(input_tokens=26, output_tokens=259)
    cached = encoded(ollama_line({"content": "x"}, done=True, done_reason="stop", eval_count=3))
    assert ADAPTER.parse(200, {}, cached, stream=False).usage == Usage(output_tokens=3)


def test_odd_values_inside_objects_are_flagged() -> None:
    raw = b'{"model":"m","message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":%s}}]},"done":true}'
    for text, flag in (
        (b'{"a": 1, "a": 2}', "duplicate_keys"),
        (b'{"a": 12345678901234567890123}', "big_integer"),
        (b'{"a": "\\ud83d"}', "lone_surrogate"),
        (b'{"a": "\xff"}', "lone_surrogate"),
        (b'{"a": [1e+21]}', "precision_lost"),
    ):
        outcome = ADAPTER.parse(200, {}, raw % text, stream=False).outcome
        assert isinstance(outcome, ToolCalls)
        assert flag in outcome.flags
        assert ("invalid_utf8" in outcome.flags) == (b"\xff" in text)
    twice = ollama_lines(ollama_line({"content": ""}, done=False)) + raw % b'{"a": "\xff"}'
    assert "invalid_utf8" in ADAPTER.parse(200, {}, twice, stream=True).outcome.flags


# Errors: (status, body, category, flags, retryable)
ERRORS: list[tuple[int, Any, str, set[str], bool]] = [
    (
        400,
        {"error": "registry.ollama.ai/library/gemma:2b does not support tools"},
        "schema_rejected",
        {"tools_unsupported"},
        False,
    ),
    (400, {"error": '"gemma:2b" does not support thinking'}, "provider_error", set(), False),
    (400, {"error": "invalid options: num_ctxx"}, "provider_error", set(), False),
    (404, {"error": "model 'x' not found"}, "provider_error", set(), False),
    (404, {"error": 'model "x" not found, try pulling it first'}, "provider_error", set(), False),
    (401, {"error": "unauthorized"}, "authentication_error", set(), False),
    (429, {"error": "you have reached your hourly usage limit"}, "rate_limited", set(), True),
    (500, {"error": "model runner has unexpectedly stopped"}, "provider_error", set(), True),
    (503, {"error": "server busy, please try again"}, "provider_error", {"overloaded"}, True),
]


@pytest.mark.parametrize(("status", "raw", "category", "flags", "retryable"), ERRORS)
def test_an_error_falls_into_its_category(
    status: int, raw: Any, category: str, flags: set[str], retryable: bool
) -> None:
    reading = ADAPTER.parse(status, {}, encoded(raw), stream=False)
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.category, set(reading.outcome.flags)) == (category, flags)
    assert (reading.outcome.message, reading.limits.retryable) == (raw["error"], retryable)


# (error, raw text, name where it shows)
FAULTS = [
    (
        {"error": 'error parsing tool call: raw=\'{"name":"f","arguments":{"a": 1}]\', err=invalid character \']\''},
        '{"name":"f","arguments":{"a": 1}]',
        "f",
    ),
    ({"error": 'error parsing tool call: raw=\'{"input":"x"}]\', err='}, '{"input":"x"}]', ""),
    ({"error parsing tool call": "invalid character 'c' looking for beginning of value"}, None, ""),
    ({"error": "XML syntax error on line 7: expected element name after <"}, None, ""),
    (
        {"error": "failed to parse XML: XML syntax error on line 1: element <tool_call> closed by </arg_value>"},
        None,
        "",
    ),
    ({"error": "expected element type <function> but have <parameter>"}, None, ""),
]


@pytest.mark.parametrize(("body", "raw", "name"), FAULTS)
def test_a_call_the_server_could_not_read_is_the_models(body: dict[str, str], raw: str | None, name: str) -> None:
    for status, wire in ((500, encoded(body)), (200, encoded(body) + b"\n")):
        outcome = ADAPTER.parse(status, {}, wire, stream=False).outcome
        assert isinstance(outcome, ToolCalls)
        [call] = outcome.calls
        assert call.name == name
        assert call.malformed is not None
        assert call.malformed.reason == "unreadable_call"
        assert call.malformed.raw == (
            raw or body.get("error") or f"error parsing tool call: {next(iter(body.values()))}"
        )
        assert "provider_rejected_call" in outcome.flags


@pytest.mark.parametrize("body", [FAULTS[0][0], FAULTS[2][0]])
def test_such_a_call_in_mid_stream_is_the_models_too(body: dict[str, str]) -> None:
    said = ollama_line({"role": "assistant", "content": "", "thinking": "hm"}, done=False)
    outcome = ADAPTER.parse(200, {}, ollama_lines(said, body, body), stream=True).outcome
    assert isinstance(outcome, ToolCalls)
    assert outcome.flags[-1] == "provider_rejected_call"


def test_another_error_in_mid_stream_is_the_providers() -> None:
    said = ollama_line({"role": "assistant", "content": "par"}, done=False)
    reading = ADAPTER.parse(200, {}, ollama_lines(said, {"error": "an error was encountered"}), stream=True)
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.message, reading.limits.retryable) == ("an error was encountered", True)


# What goes back


def echoed(calls: list[Any], *contents: Any) -> tuple[list[Any], tuple[Transformation, ...]]:
    after = ADAPTER.follow_up(request(), OLLAMA.whole("", calls, "stop"), results(*contents), stream=False)
    wire = ADAPTER.build(after)
    return json.loads(wire.body)["messages"][2:], wire.transformations


def test_calls_go_back_as_objects_and_results_name_their_tool() -> None:
    messages, changes = echoed([(MISSING, "book_room", {"n": 2**80}), (MISSING, "list_rooms", MISSING)], {"ok": 1}, "x")
    assert messages == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"function": {"name": "book_room", "arguments": {"n": 2**80}}},
                {"function": {"name": "list_rooms", "arguments": {}}},
            ],
        },
        {"role": "tool", "tool_name": "book_room", "content": '{"ok":1}'},
        {"role": "tool", "tool_name": "list_rooms", "content": "x"},
    ]
    assert changes == ()


def test_ids_go_back_where_the_server_gave_any() -> None:
    messages, _ = echoed([("call_a", "f", {}), (MISSING, "g", {}), ("call_a", "h", {})], 1, 2, 3)
    ids = [call["id"] for call in messages[0]["tool_calls"]]
    assert ids == ["call_a", "call_0", "call_1"]
    assert [message["tool_call_id"] for message in messages[1:]] == ids


@pytest.mark.parametrize(("arguments", "after"), [('{"a": 1}', {"a": 1}), ('{"a', {}), (None, {}), ([1], {}), ("", {})])
def test_arguments_the_server_would_refuse_are_replaced_and_recorded(arguments: Any, after: Any) -> None:
    messages, changes = echoed([("call_a", "f", {"b": 2}), ("call_b", "g", arguments)], 1, 2)
    assert [call["function"]["arguments"] for call in messages[0]["tool_calls"]] == [{"b": 2}, after]
    pointer = "/messages/2/tool_calls/1/function/arguments"
    assert changes == (Transformation(pointer, "arguments_not_an_object", arguments, after),)


def test_native_messages_of_another_make_are_left_alone() -> None:
    native = NativeMessage({"role": "assistant", "content": "", "tool_calls": [{"function": None}, 3]})
    wire = ADAPTER.build(request(messages=(native, NativeMessage("odd"))))
    assert json.loads(wire.body)["messages"] == [native.value, "odd"]
    assert wire.transformations == ()
