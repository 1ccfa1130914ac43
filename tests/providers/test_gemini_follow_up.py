"""The next request says again exactly what the model said, signatures and all, with one response for each call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from native_kit import GEMINI, candidate, dump, part, request, sse

from callscope.contract import ToolCalls, ToolResult
from callscope.errors import InputError


def results(*contents: Any, errors: bool = False) -> list[ToolResult]:
    return [ToolResult(place, None, "f", content, errors) for place, content in enumerate(contents)]


def added(raw: bytes, *contents: Any, errors: bool = False) -> list[Any]:
    """The contents that following up adds to the next body."""
    after = GEMINI.follow_up(request(), raw, results(*contents, errors=errors), stream=False)
    return list(json.loads(GEMINI.build(after).body)["contents"][1:])


PARTS = [
    {"text": "hm", "thought": True},
    {"text": "I look.", "thoughtSignature": "t"},
    part("f", {"n": 2**70}, thoughtSignature="s"),
    part("g", {}, function={"id": "c9"}),
    {"text": "", "thoughtSignature": "u"},
]


def test_parts_go_back_verbatim_and_all_results_are_one_content() -> None:
    for raw in (dump(candidate(*PARTS)), sse(*(candidate(p, finish=None) for p in PARTS), candidate({"text": ""}))):
        assert added(raw, {"ok": True}, "later") == [
            {"role": "model", "parts": PARTS},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "f", "response": {"ok": True}}},
                    {"functionResponse": {"id": "c9", "name": "g", "response": {"output": "later"}}},
                ],
            },
        ]


@pytest.mark.parametrize(
    ("content", "error", "response"),
    [
        ({"a": 1}, False, {"a": 1}),
        ([1], False, {"output": [1]}),
        (None, False, {"output": None}),
        ("no such train", True, {"error": "no such train"}),
        ({"code": "X"}, True, {"error": {"code": "X"}}),
        ({"ok": False, "error": {"code": "X"}}, True, {"ok": False, "error": {"code": "X"}}),
    ],
)
def test_a_response_is_always_an_object(content: Any, error: bool, response: Any) -> None:
    answered = added(dump(candidate(part("f", {}))), content, errors=error)[1]["parts"][0]["functionResponse"]
    assert answered == {"name": "f", "response": response}


def test_an_answer_in_prose_is_echoed_without_results() -> None:
    assert added(dump(candidate({"text": "Which train?"}))) == [{"role": "model", "parts": [{"text": "Which train?"}]}]
    assert added(dump(candidate({"text": ""}))) == [{"role": "model", "parts": [{"text": ""}]}]


def test_a_call_that_came_leaf_by_leaf_goes_back_as_one_part() -> None:
    pieces = [{"jsonPath": "$.a", "stringValue": "b"}]
    chunks = [
        candidate({"functionCall": {"name": "f", "willContinue": True}, "thoughtSignature": "s"}, finish=None),
        candidate({"functionCall": {"partialArgs": pieces, "willContinue": True}}, finish=None),
        candidate({"functionCall": {}}, finish=None),
        candidate({"functionCall": {"name": "g", "id": "i", "partialArgs": pieces}}),
    ]
    assert added(sse(*chunks), 1, 2)[0]["parts"] == [
        {"functionCall": {"name": "f", "args": {"a": "b"}}, "thoughtSignature": "s"},
        {"functionCall": {"id": "i", "name": "g", "args": {"a": "b"}}},
    ]


def test_a_call_that_was_not_accepted_can_be_answered() -> None:
    raw = dump(candidate(part("list_files", {}), finish="UNEXPECTED_TOOL_CALL"))
    assert added(raw, {"error": "no such tool"}, errors=True)[1]["parts"] == [
        {"functionResponse": {"name": "list_files", "response": {"error": "no such tool"}}}
    ]


def test_a_nameless_call_is_answered_under_no_name() -> None:
    raw = dump(candidate({"functionCall": {"args": {"a": 1}}}))
    assert added(raw, 1)[1]["parts"] == [{"functionResponse": {"name": "", "response": {"output": 1}}}]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<html>",
        b"[]",
        dump({"error": {"code": 400}}),
        dump({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}),
        dump({"promptFeedback": {"blockReason": "SAFETY"}}),
    ],
)
def test_a_response_without_parts_cannot_be_followed(raw: bytes) -> None:
    with pytest.raises(InputError, match="raw_response: the response holds no assistant message"):
        GEMINI.follow_up(request(), raw, [], stream=False)


def test_results_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"tool_results.position"):
        GEMINI.follow_up(request(), dump(candidate(part("f", {}))), [], stream=False)


def test_three_rounds_of_parallel_calls_keep_every_word() -> None:
    conversation, said = request(), []
    for number in range(3):
        parts = [part("find_train", {"n": number}, thoughtSignature=f"s{number}"), part("reserve_seats", {"n": number})]
        raw = sse(candidate(parts[0], finish=None), candidate(parts[1])) if number % 2 else dump(candidate(*parts))
        outcome = GEMINI.parse(200, {}, raw, stream=bool(number % 2)).outcome
        assert isinstance(outcome, ToolCalls)
        answers = [ToolResult(i, c.id, c.name, {"of": c.name, "n": number}) for i, c in enumerate(outcome.calls)]
        conversation = GEMINI.follow_up(conversation, raw, answers[::-1], stream=bool(number % 2))
        said += parts
    contents = json.loads(GEMINI.build(conversation).body)["contents"]
    assert [content["role"] for content in contents] == ["user", *["model", "user"] * 3]
    assert [p for content in contents if content["role"] == "model" for p in content["parts"]] == said
    responses = [p["functionResponse"] for content in contents[2::2] for p in content["parts"]]
    assert [r["name"] for r in responses] == ["find_train", "reserve_seats"] * 3
    assert [r["response"]["of"] for r in responses] == ["find_train", "reserve_seats"] * 3
