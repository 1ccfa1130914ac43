"""Fake tools answer from the suite's table, behind strict validation, the same every time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from callscope.contract import FakeAnswer, Malformed, Tool, ToolCall, ToolResult
from callscope.recovery import answer_calls, call_hash
from callscope.recovery.fakes import error_envelope
from tests.core.json_values import ANYTHING, identical

QUOTE = Tool(
    "get_quote",
    "A price.",
    {
        "type": "object",
        "properties": {"weight_grams": {"type": "integer", "minimum": 1}, "postal_code": {"type": "string"}},
        "required": ["postal_code"],
        "additionalProperties": False,
    },
)
OPEN = Tool("open", "Takes anything.", {"type": "object"})
ODD = Tool("odd", "Odd names.", {"type": "object", "properties": {"a/b~c": {"type": "integer"}, "": {"type": "null"}}})
TOOLS = (QUOTE, OPEN, ODD)


def call(name: str, arguments: dict[str, Any] | None = None, **more: Any) -> ToolCall:
    return ToolCall(more.pop("id", "1"), name, arguments, **more)


def answer(made: ToolCall, *fakes: FakeAnswer) -> Any:
    (result,) = answer_calls([made], TOOLS, {made.name: fakes})
    return result.content


# ------------------------------------------------------------------------------------------------------------ envelopes


def test_an_envelope_is_laid_out_as_the_harness_document_lays_it_out() -> None:
    assert error_envelope("INVALID_ARGUMENTS", "Wrong.", retryable=True, field="weight_grams") == {
        "ok": False,
        "error": {"code": "INVALID_ARGUMENTS", "message": "Wrong.", "field": "weight_grams", "retryable": True},
    }
    assert error_envelope("X", "y", retryable=False, details=[]) == {
        "ok": False,
        "error": {"code": "X", "message": "y", "retryable": False, "details": []},
    }


REFUSED = [
    (call("nowhere", {}), "UNKNOWN_TOOL", None, False),
    (call("nowhere", malformed=Malformed("truncated", "{")), "UNKNOWN_TOOL", None, False),
    (call("open", malformed=Malformed("truncated", '{"a')), "INVALID_ARGUMENTS", None, True),
    (call("open"), "INVALID_ARGUMENTS", None, True),
    (call("get_quote", {}), "INVALID_ARGUMENTS", None, True),
    (call("get_quote", {"postal_code": 2139}), "INVALID_ARGUMENTS", "postal_code", True),
    (call("get_quote", {"postal_code": "02139", "weight_grams": 0}), "INVALID_ARGUMENTS", "weight_grams", True),
    (call("get_quote", {"postal_code": "02139", "weight_grams": "750"}), "INVALID_ARGUMENTS", "weight_grams", True),
    (call("odd", {"a/b~c": "1"}), "INVALID_ARGUMENTS", "a/b~c", True),
    (call("odd", {"": 1}), "INVALID_ARGUMENTS", None, True),
    (call("get_quote", {"postal_code": "02139"}), "NO_RESULT", None, False),
]  # fmt: skip


@pytest.mark.parametrize(("made", "code", "field", "retryable"), REFUSED, ids=lambda value: str(value)[:50])
def test_a_call_that_cannot_be_answered_gets_an_envelope(
    made: ToolCall, code: str, field: str | None, retryable: bool
) -> None:
    (result,) = answer_calls([made], TOOLS, {})
    error = result.content["error"]
    assert (result.content["ok"], result.is_error) == (False, True)
    assert (error["code"], error.get("field"), error["retryable"]) == (code, field, retryable)
    assert error["message"].endswith(".")


def test_an_invalid_call_is_never_executed_and_is_told_every_problem() -> None:
    content = answer(call("get_quote", {"weight_grams": 0, "postal_code": 1, "x": 2}), FakeAnswer("never"))
    details = content["error"]["details"]
    assert {"/postal_code", "/weight_grams"} <= {each["pointer"] for each in details}
    assert len(details) == 3
    assert all(set(each) == {"pointer", "message"} and each["message"] for each in details)


# ------------------------------------------------------------------------------------------------------------- answers

ANSWERS = [
    ({}, {"a": 1}, True),
    ({"a": 1}, {"a": 1, "b": 2}, True),
    ({"a": 1}, {"a": 2}, False),
    ({"a": 1}, {}, False),
    ({"a": None}, {}, False),
    ({"a": None}, {"a": None}, True),
    ({"a": 1}, {"a": 1.0}, False),
    ({"a": 1}, {"a": True}, False),
    ({"a": {"x": 1, "y": [2]}}, {"a": {"y": [2], "x": 1}}, True),
    ({"a": [1, 2]}, {"a": [2, 1]}, False),
    ({"a": 1, "b": 2}, {"a": 1}, False),
    ({"a": "\ud83d"}, {"a": "\ud83d"}, True),
    ({"a": 10**60}, {"a": 10**60}, True),
]  # fmt: skip


@pytest.mark.parametrize(("when", "arguments", "used"), ANSWERS)
def test_an_answer_is_used_where_every_named_argument_is_the_calls(
    when: dict[str, Any], arguments: dict[str, Any], used: bool
) -> None:
    content = answer(call("open", arguments), FakeAnswer("the answer", when))
    assert (content == "the answer") is used
    assert used or content["error"]["code"] == "NO_RESULT"


def test_the_first_answer_that_fits_is_used() -> None:
    fakes = (FakeAnswer("one", {"a": 1}), FakeAnswer("any"), FakeAnswer("late", {"a": 2}))
    assert [answer(call("open", {"a": a}), *fakes) for a in (1, 2)] == ["one", "any"]


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ({"ok": False, "error": {"code": "ORDER_NOT_FOUND"}}, True),
        ({"ok": True}, False),
        ({"ok": 0}, False),
        ({"ok": None}, False),
        ({}, False),
        (None, False),
        ([{"ok": False}], False),
        ("text", False),
    ],
)
def test_an_answer_that_says_it_is_not_ok_is_an_error(result: Any, failed: bool) -> None:
    (given_back,) = answer_calls([call("open", {})], TOOLS, {"open": (FakeAnswer(result),)})
    assert given_back == ToolResult(0, "1", "open", result, failed)


def test_every_call_has_one_result_in_its_place() -> None:
    made = [call("open", {"n": 1}, id="x"), call("nowhere", {}, id=None), call("open", {"n": 2}, id="x")]
    results = answer_calls(made, TOOLS, {"open": (FakeAnswer(1, {"n": 1}), FakeAnswer(2, {"n": 2}))})
    assert [(each.position, each.call_id, each.name) for each in results] == [
        (0, "x", "open"), (1, None, "nowhere"), (2, "x", "open"),
    ]  # fmt: skip
    assert [results[0].content, results[2].content] == [1, 2]
    assert answer_calls([], TOOLS, {}) == ()
    assert answer_calls(made, TOOLS, {"open": (FakeAnswer(1),)}) == answer_calls(
        made, TOOLS, {"open": (FakeAnswer(1),)}
    )


# ------------------------------------------------------------------------------------------------------------- hashes


@given(ANYTHING, ANYTHING)
def test_a_call_is_known_by_its_name_and_arguments_and_never_by_its_id(one: Any, other: Any) -> None:
    first, second = call("f", {"a": one}, id="1"), call("f", {"a": other}, id="2")
    assert (call_hash(first) == call_hash(second)) == identical(one, other)


def test_calls_that_differ_in_anything_else_have_hashes_of_their_own() -> None:
    calls = [
        call("f", {}),
        call("g", {}),
        call("f"),
        call("f", {"malformed": "{"}),
        call("f", malformed=Malformed("truncated", "{")),
        call("f", malformed=Malformed("truncated", "{{")),
    ]
    assert len({call_hash(each) for each in calls}) == len(calls)
    other_reason = call("f", malformed=Malformed("syntax", "{"))
    assert call_hash(other_reason) == call_hash(calls[4])
