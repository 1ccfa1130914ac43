"""The next Anthropic request holds again every block that came, then one user message with all results."""

from __future__ import annotations

import json
from typing import Any

import pytest
from items_kit import (
    ANTHROPIC,
    added,
    ask,
    begin,
    events,
    finish,
    message,
    partial,
    piece,
    read,
    results,
    start,
    text,
    use,
)

from callscope.contract import Request, ToolCalls, ToolResult
from callscope.errors import InputError

THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
REDACTED = {"type": "redacted_thinking", "data": "blob"}


def test_all_blocks_go_back_in_order_and_then_all_results_in_one_message() -> None:
    searched = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    one = use("f", {"n": 2**80}, "t1", caller={"type": "direct"})
    content = [THINKING, REDACTED, text("Let me see."), searched, one, use("g", {}, "t2"), {"type": "new", "x": [1]}]
    answers = [ToolResult(1, "t2", "g", "boom", True), ToolResult(0, "t1", "f", {"ok": True})]
    assert added(ANTHROPIC, message(*content, stop="tool_use"), answers) == [
        {"role": "assistant", "content": content},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": '{"ok":true}'},
                {"type": "tool_result", "tool_use_id": "t2", "content": "boom", "is_error": True},
            ],
        },
    ]


def test_an_answer_in_prose_is_echoed_alone() -> None:
    assert added(ANTHROPIC, message(text("Which?")), []) == [{"role": "assistant", "content": [text("Which?")]}]


def test_a_stream_goes_back_as_the_blocks_it_adds_up_to() -> None:
    raw = events(
        begin(),
        start(0, {"type": "thinking", "thinking": "", "signature": ""}),
        piece(0, "thinking_delta", thinking="h"),
        piece(0, "thinking_delta", thinking="m"),
        piece(0, "signature_delta", signature="s"),
        start(1, REDACTED),
        start(2, text("")),
        piece(2, "text_delta", text="Let me "),
        piece(2, "citations_delta", citation={"cited_text": "a"}),
        piece(2, "text_delta", text="see."),
        piece(2, "citations_delta", citation={"cited_text": "b"}),
        start(3, {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}),
        partial(3, '{"query"'),
        partial(3, ': "x"}'),
        start(4, {"type": "compaction", "content": None}),
        piece(4, "compaction_delta", content="short", extra={"n": 1}),
        start(5, use()),
        partial(5, ""),
        partial(5, '{"n": 1208925819614629174706176}'),
        start(6, use("g", identifier="t2")),
        *finish("tool_use"),
    )
    [assistant, _] = added(ANTHROPIC, raw, results(1, 2))
    assert assistant["content"] == [
        THINKING,
        REDACTED,
        {"type": "text", "text": "Let me see.", "citations": [{"cited_text": "a"}, {"cited_text": "b"}]},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "compaction", "content": "short", "extra": {"n": 1}},
        use(arguments={"n": 2**80}),
        use("g", {}, "t2"),
    ]


@pytest.mark.parametrize(
    ("written", "sent"),
    [('{"a": 1', {"INVALID_JSON": '{"a": 1'}), ("[1]", {"INVALID_JSON": "[1]"}), ('{"a": 1}', {"a": 1})],
)
def test_streamed_input_that_is_no_object_goes_back_in_the_wrapper_the_vendor_names(written: str, sent: Any) -> None:
    raw = events(begin(), start(0, use()), partial(0, written), *finish("tool_use"))
    assert added(ANTHROPIC, raw, results(1))[0]["content"][0]["input"] == sent


@pytest.mark.parametrize(
    ("block", "sent"),
    [
        ({"type": "tool_use", "id": "t", "name": "f"}, {}),
        ({"type": "tool_use", "id": "t", "name": "f", "input": None}, {}),
        ({"type": "tool_use", "id": "t", "name": "f", "input": "text"}, {"INVALID_JSON": "text"}),
    ],
)
def test_whole_input_that_is_no_object_goes_back_as_one(block: Any, sent: Any) -> None:
    assert added(ANTHROPIC, message(block), results(1))[0]["content"][0]["input"] == sent


def test_text_blocks_without_text_are_left_out() -> None:
    assert added(ANTHROPIC, message(text(""), use()), results(1))[0]["content"] == [use(arguments={})]


def test_ids_that_are_missing_or_doubled_are_made_in_calls_and_results_alike() -> None:
    blocks = [use(identifier=None), use(identifier=""), use(), use(), {"type": "tool_use"}]
    [assistant, user] = added(ANTHROPIC, message(*blocks), results(1, 2, 3, 4))
    ids = [block["id"] for block in assistant["content"]]
    assert ids == ["call_0", "call_1", "toolu_1", "call_2"]
    assert [block["tool_use_id"] for block in user["content"]] == ids


def test_an_id_of_an_earlier_turn_is_not_used_again() -> None:
    raw = json.dumps(message(text("a"), use())).encode()
    once = ANTHROPIC.follow_up(ask(), raw, results(1), stream=False)
    [assistant, user] = added(ANTHROPIC, raw, results(2), once)
    assert assistant["content"][1]["id"] == user["content"][0]["tool_use_id"] == "call_0"


@pytest.mark.parametrize("answers", [[], results(1, 2), [ToolResult(1, None, "f", 1)]])
def test_results_that_do_not_fit_the_calls_are_refused(answers: list[ToolResult]) -> None:
    with pytest.raises(InputError, match=r"tool_results\.position"):
        added(ANTHROPIC, message(use()), answers)


@pytest.mark.parametrize(
    "raw",
    [b"", b"<html>", {"type": "error", "error": {"message": "no"}}, message(), message(text("")), events(begin())],
)
def test_a_response_without_content_cannot_be_followed(raw: Any) -> None:
    with pytest.raises(InputError, match="raw_response: the response holds no content"):
        added(ANTHROPIC, raw, [])


def test_three_rounds_of_parallel_calls_keep_every_word() -> None:
    conversation: Request = ask(max_tokens=9)
    for number in range(3):
        one, two = use("set_thermostat", {"n": number}, "a"), use("ring_bell", {}, None)
        raw = json.dumps(message(THINKING, one, two, stop="tool_use")).encode()
        if number % 2:
            raw = events(
                begin(),
                start(0, THINKING),
                start(1, {**one, "input": {}}),
                start(2, two),
                partial(1, f'{{"n": {number}'),
                partial(2, ""),
                partial(1, "}"),
                *finish("tool_use"),
            )
        outcome = read(ANTHROPIC, raw).outcome
        assert isinstance(outcome, ToolCalls)
        answers = [ToolResult(at, made.id, made.name, at, bool(at)) for at, made in enumerate(outcome.calls)]
        conversation = ANTHROPIC.follow_up(conversation, raw, answers[::-1], stream=bool(number % 2))
    wire = ANTHROPIC.build(conversation)
    body = json.loads(wire.body)
    assert (body["system"], wire.transformations) == ("Be brief.", ())
    assert [m["role"] for m in body["messages"]] == ["user", *["assistant", "user"] * 3]
    turns = body["messages"][1::2]
    assert all(turn["content"][0] == THINKING for turn in turns)
    assert [block["input"] for turn in turns for block in turn["content"][1:]] == [
        {"n": 0},
        {},
        {"n": 1},
        {},
        {"n": 2},
        {},
    ]
    ids = [block["id"] for turn in turns for block in turn["content"][1:]]
    assert len(set(ids)) == 6
    answered = [block for turn in body["messages"][2::2] for block in turn["content"]]
    assert [block["tool_use_id"] for block in answered] == ids
    assert [block["content"] for block in answered] == ["0", "1"] * 3
    assert [block.get("is_error", False) for block in answered] == [False, True] * 3


def test_surrogates_survive_the_whole_way() -> None:
    raw = json.dumps(message(use(arguments={"a": "\ud83d", "n": 2**80}))).encode()
    after = ANTHROPIC.follow_up(ask(), raw, results("\ud83d"), stream=False)
    sent = json.loads(ANTHROPIC.build(after).body)["messages"]
    assert sent[1]["content"][0]["input"] == {"a": "\ud83d", "n": 2**80}
    assert sent[2]["content"][0]["content"] == "\ud83d"
