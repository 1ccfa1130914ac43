"""What counts as an answer of a judge, and what cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import Malformed, Outcome, ProviderError, Refusal, Text, ToolCall, ToolCalls
from callscope.judge.answers import Said, read_answer
from callscope.judge.questions import make_question

QUESTION = make_question(
    query="Say hello to Ana, warmly.",
    tool="greet",
    description="Greets.",
    argument="text",
    schema={"type": "string"},
    values=("Hello Ana", 'Dear "Ana"'),
)


def entry(**more: Any) -> dict[str, Any]:
    return {"argument": "text", "verdict": "equivalent", "reason": "both greet", "quote": "Hello Ana", **more}


def call(*entries: Any, name: str = "record_verdicts") -> ToolCalls:
    return ToolCalls((ToolCall("1", name, {"verdicts": list(entries)}),), ())


def read(outcome: Outcome) -> tuple[str, str]:
    said = read_answer(outcome, QUESTION)
    return said.verdict, said.reason


FORM = json.dumps({"verdicts": [entry()]})
READABLE = {
    "a call of the tool": call(entry()),
    "a JSON object as the text": Text(f"  {FORM}\n"),
    "a fenced JSON object": Text(f"Here it is:\n```json\n{FORM}\n```"),
    "a call written as text": Text(json.dumps({"name": "record_verdicts", "arguments": {"verdicts": [entry()]}})),
    "a call beside one of another tool": ToolCalls((ToolCall("0", "other", {}), *call(entry()).calls), ()),
    "an entry beside one on another argument": call(entry(argument="tone", verdict="different"), entry()),
    "the same verdict twice": call(entry(), entry(quote="Ana")),
}


@pytest.mark.parametrize("outcome", READABLE.values(), ids=READABLE.keys())
def test_a_verdict_is_read_from(outcome: Outcome) -> None:
    assert read(outcome) == ("equivalent", "both greet")


UNREADABLE = {
    "prose": (Text("They mean the same."), "no_verdicts"),
    "a refusal": (Refusal("I will not"), "no_verdicts"),
    "a call of another tool": (call(entry(), name="record_verdict"), "no_verdicts"),
    "a malformed call": (
        ToolCalls((ToolCall("1", "record_verdicts", None, Malformed("truncated", "{")),), ()),
        "no_verdicts",
    ),
    "a list that is no list": (
        ToolCalls((ToolCall("1", "record_verdicts", {"verdicts": entry()}),), ()),
        "no_verdicts",
    ),
    "JSON with prose around it": (Text(f"Sure! {FORM}"), "no_verdicts"),
    "an error": (ProviderError("timeout", "t", "late"), "no_verdicts"),
    "nothing about the argument": (call(entry(argument="tone")), "argument_missing"),
    "another verdict": (call(entry(verdict="same")), "bad_entry"),
    "a verdict that is no text": (call(entry(verdict=True)), "bad_entry"),
    "no reason": (call({name: value for name, value in entry().items() if name != "reason"}), "bad_entry"),
    "a quote that stands nowhere": (call(entry(quote="hello ana")), "quote_not_found"),
    "an empty quote": (call(entry(quote=" ")), "quote_not_found"),
    "two verdicts": (call(entry(), entry(verdict="different")), "contradicts_itself"),
}


@pytest.mark.parametrize(("outcome", "why"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_no_verdict_is_read_from(outcome: Outcome, why: str) -> None:
    assert read(outcome) == ("unreadable", why)


@pytest.mark.parametrize("quote", ["hello", "Dear", 'Dear "Ana"', "warmly.", "Ana"])
def test_a_quote_is_a_passage_of_the_query_or_of_a_value(quote: str) -> None:
    assert read(call(entry(quote=quote)))[0] == "equivalent"


def test_one_who_cannot_tell_needs_no_quote() -> None:
    assert read(call(entry(verdict="cannot_assess", quote="")))[0] == "cannot_assess"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_nothing_that_a_model_says_raises(value: Any) -> None:
    for outcome in (Text(json.dumps(value)), ToolCalls((ToolCall(None, "record_verdicts", {"verdicts": value}),), ())):
        assert isinstance(read_answer(outcome, QUESTION), Said)
