"""The next request says again exactly what the assistant said, signatures and all, with one result for each call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from native_kit import BEDROCK, OPENED, converse, delta, dump, ended, event, request, start, stop, use

from callscope.contract import Request, ToolCalls, ToolResult
from callscope.errors import InputError
from callscope.providers import with_switches


def results(*contents: Any, errors: bool = False) -> list[ToolResult]:
    return [ToolResult(place, None, "f", content, errors) for place, content in enumerate(contents)]


def added(raw: bytes, *contents: Any, errors: bool = False, before: Request | None = None) -> list[Any]:
    """The messages that following up adds to the next body."""
    first = before or request()
    after = BEDROCK.follow_up(first, raw, results(*contents, errors=errors), stream=False)
    return list(json.loads(BEDROCK.build(after).body)["messages"][len(first.messages) - 1 :])


THOUGHT = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s1s2"}}}
REDACTED = {"reasoningContent": {"redactedContent": "YWI="}}
BLOCKS = [THOUGHT, REDACTED, {"text": "I look."}, use("f", {"n": 2**70}, "t3"), use("g", {}, "t4")]
STREAM = b"".join(
    [
        OPENED,
        delta(0, reasoningContent={"text": "h"}),
        delta(0, reasoningContent={"text": "m"}),
        delta(0, reasoningContent={"signature": "s1"}),
        delta(0, reasoningContent={"signature": "s2"}),
        delta(1, reasoningContent={"redactedContent": "YWI="}),
        delta(2, text="I "),
        delta(2, text="look."),
        start(3, toolUseId="t3", name="f"),
        delta(3, toolUse={"input": '{"n": '}),
        delta(3, toolUse={"input": f"{2**70}}}"}),
        start(4, toolUseId="t4", name="g"),
        delta(4, toolUse={"input": ""}),
        stop(4),
        stop(5),
        ended(),
    ]
)


def test_blocks_go_back_as_they_came_and_all_results_are_one_message() -> None:
    for raw in (converse(*BLOCKS), STREAM):
        assert added(raw, {"ok": True}, "later") == [
            {"role": "assistant", "content": BLOCKS},
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "t3", "content": [{"json": {"ok": True}}], "status": "success"}},
                    {"toolResult": {"toolUseId": "t4", "content": [{"text": "later"}], "status": "success"}},
                ],
            },
        ]


@pytest.mark.parametrize(
    ("switches", "content", "block"),
    [
        ({}, [1], {"text": "[1]"}),
        ({"result_format": "text"}, {"a": 1}, {"text": '{"a":1}'}),
        ({"result_format": "json"}, {"a": 1}, {"json": {"a": 1}}),
        ({"result_format": "json"}, "x", {"json": {"output": "x"}}),
    ],
)
def test_results_take_the_form_the_switch_names(switches: Any, content: Any, block: Any) -> None:
    before = request(extra=with_switches({}, switches))
    [_, answers] = added(converse(use()), content, errors=True, before=before)
    assert answers["content"] == [{"toolResult": {"toolUseId": "t1", "content": [block], "status": "error"}}]
    quiet = request(extra=with_switches({}, {"result_status": False}))
    [_, answers] = added(converse(use()), content, before=quiet)
    assert "status" not in answers["content"][0]["toolResult"]
    with pytest.raises(InputError, match=r"switches.result_format: unknown value .*native or text or json"):
        added(converse(use()), content, before=request(extra=with_switches({}, {"result_format": "xml"})))


def test_an_answer_in_prose_is_echoed_without_results() -> None:
    for raw in (converse({"text": "Which?"}, {"text": " "}), OPENED + delta(0, text="Which?") + stop(0)):
        assert added(raw) == [{"role": "assistant", "content": [{"text": "Which?"}]}]
    assert added(converse({"text": ""})) == [{"role": "assistant", "content": [{"text": ""}]}]


@pytest.mark.parametrize("given", [None, "text", [1]])
def test_an_input_that_is_no_object_goes_back_as_an_empty_one(given: Any) -> None:
    block = {"toolUse": {"toolUseId": "t1", "name": "f", "input": given}}
    piece = "" if given is None else json.dumps(given)
    stream = OPENED + start(0, toolUseId="t1", name="f") + delta(0, toolUse={"input": piece}) + ended()
    cut = OPENED + start(0, toolUseId="t1", name="f") + delta(0, toolUse={"input": '{"a'}) + ended("max_tokens")
    for raw in (converse(block), stream, cut):
        assert added(raw, 1)[0]["content"] == [use("f", {}, "t1")]


def test_ids_that_are_missing_or_doubled_are_made_in_calls_and_results_alike() -> None:
    blocks = [use("f", {}, None), use("f", {}, "a"), use("f", {}, "a"), use("f", {}, "")]
    [said, answers] = added(converse(*blocks), 1, 2, 3, 4)
    ids = [block["toolUse"]["toolUseId"] for block in said["content"]]
    assert ids == ["call_0", "a", "call_1", "call_2"]
    assert [block["toolResult"]["toolUseId"] for block in answers["content"]] == ids
    once = BEDROCK.follow_up(request(), converse(use()), results(1), stream=False)
    again = BEDROCK.follow_up(once, converse(use()), results(2), stream=False)
    sent = json.loads(BEDROCK.build(again).body)["messages"]
    assert sent[3]["content"][0]["toolUse"]["toolUseId"] == "call_0"
    assert sent[4]["content"][0]["toolResult"]["toolUseId"] == "call_0"


def test_the_providers_own_tools_are_echoed_and_not_answered() -> None:
    ran = use("nova_code_interpreter", {"snippet": "1"}, "s1", type="server_tool_use")
    result = {"toolResult": {"toolUseId": "s1", "type": "x", "content": [{"json": {"out": "1"}}]}}
    stream = b"".join(
        [
            OPENED,
            start(0, toolUseId="s1", name="nova_code_interpreter", type="server_tool_use"),
            delta(0, toolUse={"input": '{"snippet": "1"}'}),
            event(
                "contentBlockStart", {"contentBlockIndex": 1, "start": {"toolResult": {"toolUseId": "s1", "type": "x"}}}
            ),
            delta(1, toolResult=[{"json": {"out": "1"}}]),
            start(2, toolUseId="t1", name="f"),
            delta(2, toolUse={"input": "{}"}),
            ended(),
        ]
    )
    for raw in (converse(ran, result, use()), stream):
        [said, answers] = added(raw, 1)
        assert said["content"] == [ran, result, use()]
        assert [block["toolResult"]["toolUseId"] for block in answers["content"]] == ["t1"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<html>",
        b"[]",
        dump({"message": "no"}),
        converse(stop_reason="malformed_tool_use"),
        OPENED + ended("end_turn"),
    ],
)
def test_a_response_without_content_cannot_be_followed(raw: bytes) -> None:
    with pytest.raises(InputError, match="raw_response: the response holds no assistant message"):
        BEDROCK.follow_up(request(), raw, [], stream=False)


def test_results_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"tool_results.position"):
        BEDROCK.follow_up(request(), converse(use()), results(1, 2), stream=False)


def test_three_rounds_of_parallel_calls_keep_every_word() -> None:
    conversation, said = request(), []
    for number in range(3):
        blocks = [use("find_train", {"n": number}, f"a{number}"), use("reserve_seats", {"n": number}, f"b{number}")]
        frames = [
            start(i, toolUseId=b["toolUse"]["toolUseId"], name=b["toolUse"]["name"])
            + delta(i, toolUse={"input": json.dumps(b["toolUse"]["input"])})
            + stop(i)
            for i, b in enumerate(blocks)
        ]
        raw = OPENED + b"".join(frames) + ended() if number % 2 else converse(*blocks)
        outcome = BEDROCK.parse(200, {}, raw, stream=bool(number % 2)).outcome
        assert isinstance(outcome, ToolCalls)
        answers = [ToolResult(i, c.id, c.name, {"of": c.name}, bool(i)) for i, c in enumerate(outcome.calls)]
        conversation = BEDROCK.follow_up(conversation, raw, answers[::-1], stream=bool(number % 2))
        said += blocks
    messages = json.loads(BEDROCK.build(conversation).body)["messages"]
    assert [message["role"] for message in messages] == ["user", *["assistant", "user"] * 3]
    assert [block for message in messages[1::2] for block in message["content"]] == said
    answered = [block["toolResult"] for message in messages[2::2] for block in message["content"]]
    assert [r["toolUseId"] for r in answered] == [block["toolUse"]["toolUseId"] for block in said]
    assert [r["status"] for r in answered] == ["success", "error"] * 3
    assert [r["content"][0]["json"]["of"] for r in answered] == ["find_train", "reserve_seats"] * 3
