"""The next request says again exactly what the model said, with one result for each call, under ids that are unique."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from providers_kit import CHAT, body, call, calling, chunk, events, piece, request, stream

from callscope.contract import NativeMessage, Request, ToolCalls, ToolResult
from callscope.errors import InputError
from callscope.providers import with_switches
from callscope.providers.ids import unique_ids


def results(*contents: Any) -> list[ToolResult]:
    return [ToolResult(i, None, "f", content) for i, content in enumerate(contents)]


def added(raw: bytes, *contents: Any, before: Request | None = None) -> list[dict[str, Any]]:
    """The messages that following up adds."""
    first = before if before is not None else request()
    after = CHAT.follow_up(first, raw, results(*contents), stream=False)
    assert after.messages[: len(first.messages)] == first.messages
    assert (after.model, after.tools) == (first.model, first.tools)
    new = after.messages[len(first.messages) :]
    assert all(isinstance(message, NativeMessage) for message in new)
    return [message.value for message in new if isinstance(message, NativeMessage)]


def test_the_assistant_message_and_its_results_are_added() -> None:
    assert added(calling(call("f", '{"a":  1}'), {**call("g"), "id": "c2"}), {"ok": True}, "text") == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":  1}'}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"ok":true}'},
        {"role": "tool", "tool_call_id": "c2", "content": "text"},
    ]


def test_an_answer_in_prose_is_echoed_without_results() -> None:
    assert added(body({"role": "assistant", "content": "Which order?"})) == [
        {"role": "assistant", "content": "Which order?"}
    ]
    assert added(body({"content": None, "refusal": "No."})) == [{"role": "assistant", "content": "", "refusal": "No."}]


@pytest.mark.parametrize("arguments", ["{broken", '{}""', '"{\\"a\\": 1}"', " ", '{"a": "\\ud83d"}', "[1]"])
def test_argument_text_goes_back_exactly_as_it_came(arguments: str) -> None:
    assert added(calling(call(arguments=arguments)), 1)[0]["tool_calls"][0]["function"]["arguments"] == arguments


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (call(arguments=""), "{}"),
        (call(arguments=None), "{}"),
        ({"id": "c1", "function": {"name": "f"}}, "{}"),
        (call(arguments={"n": 2**80}), '{"n":1208925819614629174706176}'),
    ],
)
def test_arguments_that_are_no_text_go_back_as_text(entry: Any, text: str) -> None:
    assert added(calling(entry), 1)[0]["tool_calls"][0]["function"]["arguments"] == text


def test_what_the_provider_needs_again_is_echoed() -> None:
    message = {
        "role": "assistant",
        "content": "",
        "reasoning_content": "hm",
        "reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s", "index": 0}],
        "audio": {"data": "", "id": ""},
        "annotations": None,
        "vendor": {"n": 2**80},
        "tool_calls": [
            {
                **call("f", "{}", custom={"name": "", "input": ""}),
                "extra_content": {"google": {"thought_signature": "abc"}},
                "function": {"name": "f", "arguments": "{}", "thought": "x"},
            }
        ],
    }
    echoed = added(body(message), 1)[0]
    assert echoed == {
        "role": "assistant",
        "content": "",
        "reasoning_content": "hm",
        "reasoning_details": message["reasoning_details"],
        "vendor": {"n": 2**80},
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "f", "arguments": "{}", "thought": "x"},
                "extra_content": {"google": {"thought_signature": "abc"}},
            }
        ],
    }


def test_a_stream_is_echoed_as_the_message_it_adds_up_to() -> None:
    signature = {"extra_content": {"google": {"thought_signature": "abc"}}}
    first = piece(0, id="c1", name="f", arguments='{"a"')
    first["tool_calls"][0] |= signature
    wire = stream(
        {"role": "assistant", "reasoning_content": "h", "channel": "analysis"},
        {"reasoning_content": "m", "channel": "analysis", "reasoning_details": ["odd", {"type": "t", "text": "x"}]},
        {"reasoning_details": [{"type": "t", "index": 1, "text": "a", "signature": None}]},
        {"reasoning_details": [{"type": "t", "index": 1, "text": "b", "signature": "s", "format": None}]},
        {"reasoning_details": [{"type": "t", "index": 1, "signature": None}]},
        {"content": "Let me "},
        {"content": "see.", "vendor": {"a": {"x": 1}, "list": [1]}},
        {"vendor": {"a": {"y": 2}, "list": [2], "n": None}},
        {"vendor": {"a": None}},
        first,
        piece(0, arguments=": 1}"),
    )
    assert added(wire, 1)[0] == {
        "role": "assistant",
        "content": "Let me see.",
        "reasoning_content": "hm",
        "channel": "analysis",
        "reasoning_details": [
            "odd",
            {"type": "t", "text": "x"},
            {"type": "t", "index": 1, "text": "ab", "signature": "s", "format": None},
        ],
        "vendor": {"a": {"x": 1, "y": 2}, "list": [1, 2], "n": None},
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}, **signature}
        ],
    }


def test_content_in_parts_goes_back_in_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "No."}]
    assert added(body({"content": parts})) == [{"role": "assistant", "content": parts}]


def test_fields_a_server_refuses_can_be_left_out() -> None:
    before = request(extra=with_switches({}, {"drop_on_echo": ["reasoning"]}))
    assert added(body({"content": "a", "reasoning": "b"}), before=before) == [{"role": "assistant", "content": "a"}]


def test_the_legacy_field_is_answered_in_its_own_form() -> None:
    raw = body({"content": None, "function_call": {"name": "f", "arguments": ""}}, finish="function_call")
    assert added(raw, 1) == [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ]


def test_merged_calls_are_answered_one_by_one() -> None:
    echoed = added(calling(call("get_xget_x", '{"x":1} {"x":2}')), 1, 2)
    assert echoed[0]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "get_x", "arguments": '{"x":1}'}},
        {"id": "call_0", "type": "function", "function": {"name": "get_x", "arguments": '{"x":2}'}},
    ]
    assert [message["tool_call_id"] for message in echoed[1:]] == ["c1", "call_0"]


def test_ids_that_are_missing_empty_or_doubled_are_made_in_calls_and_results_alike() -> None:
    entries = [{**call(), "id": None}, {**call(), "id": ""}, call(), call(), {**call(), "id": "call_1"}]
    echoed = added(calling(*entries), 1, 2, 3, 4, 5)
    ids = [entry["id"] for entry in echoed[0]["tool_calls"]]
    assert ids == ["call_0", "call_2", "c1", "call_3", "call_1"]
    assert [message["tool_call_id"] for message in echoed[1:]] == ids


def test_an_id_of_an_earlier_turn_is_not_used_again() -> None:
    raw = calling({**call(), "id": "functions.f:0"})
    once = CHAT.follow_up(request(), raw, results(1), stream=False)
    echoed = added(raw, 2, before=once)
    assert echoed[0]["tool_calls"][0]["id"] == echoed[1]["tool_call_id"] == "call_0"


@given(st.lists(st.sampled_from([None, "", "a", "b", "call_0", "call_1"])), st.sets(st.sampled_from(["a", "call_0"])))
def test_ids_are_always_unique_and_kept_where_they_can_be(ids: list[str | None], taken: set[str]) -> None:
    made = unique_ids(ids, taken)
    assert len({*made, *taken}) == len(made) + len(taken)
    for position, identifier in enumerate(ids):
        if identifier and identifier not in taken and identifier not in ids[:position]:
            assert made[position] == identifier
    assert unique_ids(ids, taken) == made


def test_three_rounds_of_parallel_calls_keep_every_word() -> None:
    conversation = request()
    said = []
    for number in range(3):
        good, bad = f'{{"n":  {number}}}', f'{{"n": {number}'
        deltas = (
            piece(0, id="a", name="lookup_order", arguments=good),
            piece(1, name="search_orders", arguments=bad[:3]),
            piece(1, arguments=bad[3:]),
        )
        raw = (
            stream(*deltas)
            if number % 2
            else calling({**call("lookup_order", good), "id": "a"}, {**call("search_orders", bad), "id": ""})
        )
        outcome = CHAT.parse(200, {}, raw, stream=bool(number % 2)).outcome
        assert isinstance(outcome, ToolCalls)
        answers = [
            ToolResult(position, made.id, made.name, {"ok": made.malformed is None}, made.malformed is not None)
            for position, made in enumerate(outcome.calls)
        ]
        conversation = CHAT.follow_up(conversation, raw, answers[::-1], stream=bool(number % 2))
        said += [good, bad]
    sent = json.loads(CHAT.build(conversation).body)["messages"]
    assert [message["role"] for message in sent] == ["system", "user", *["assistant", "tool", "tool"] * 3]
    echoed = [entry for message in sent if message["role"] == "assistant" for entry in message["tool_calls"]]
    assert [entry["function"]["arguments"] for entry in echoed] == said
    ids = [entry["id"] for entry in echoed]
    assert len(set(ids)) == 6
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == ids
    assert [message["content"] for message in sent if message["role"] == "tool"] == ['{"ok":true}', '{"ok":false}'] * 3


def test_surrogates_and_big_integers_survive_the_whole_way() -> None:
    after = CHAT.follow_up(
        request(), calling(call(arguments={"a": "\ud83d", "n": 2**80})), results("\ud83d"), stream=False
    )
    sent = json.loads(CHAT.build(after).body)["messages"]
    assert json.loads(sent[2]["tool_calls"][0]["function"]["arguments"]) == {"a": "\ud83d", "n": 2**80}
    assert sent[3]["content"] == "\ud83d"


@pytest.mark.parametrize(
    "raw", [b"", b"<html>", b'{"error": {"message": "no"}}', events(chunk(None)), body(None), b'{"choices": ']
)
def test_a_response_without_a_message_cannot_be_followed(raw: bytes) -> None:
    with pytest.raises(InputError, match="raw_response: the response holds no assistant message"):
        CHAT.follow_up(request(), raw, [], stream=False)
