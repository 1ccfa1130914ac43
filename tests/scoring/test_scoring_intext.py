"""Whether a text is an attempt at a call is told by its shape and by the tools that were offered."""

from __future__ import annotations

import json

import pytest
from scoring_kit import CLARIFY, HELLO, LOOKUP, judge, said

from callscope.contract import Case, Text, Tool
from callscope.scoring import evaluate

OFFERED = "lookup_order"
ARGUMENTS = {"order_id": "ORD-104821"}
WHOLE = json.dumps({"name": OFFERED, "parameters": ARGUMENTS})
CIRCLE = '{"name": "circle", "parameters": {"radius": 3}}'
UNKNOWN = '{"name": "find_it", "arguments": {"a": 1}}'

ATTEMPTS = [
    said(WHOLE, "text_tool_call"),
    said(f"Sure: {WHOLE} is the call.", "text_tool_call"),
    said(UNKNOWN, "text_tool_call"),
    said(f"<tool_call>{UNKNOWN}</tool_call> and words", "text_tool_call"),
    said('<tool_call>{"name": ', "text_tool_call"),
    said(json.dumps({OFFERED: ARGUMENTS})),
    said(json.dumps([{OFFERED: ARGUMENTS}])),
    said(OFFERED + json.dumps(ARGUMENTS)),
    said(f'{OFFERED}("ORD-104821")'),
    said(json.dumps({"function": OFFERED, **ARGUMENTS})),
]


@pytest.mark.parametrize("outcome", ATTEMPTS, ids=lambda outcome: outcome.text[:40])
def test_an_attempt_counts_as_one_everywhere_and_earns_nothing(outcome: Text) -> None:
    assert judge(HELLO, outcome).selection == "called_when_abstention_expected"
    assert judge(LOOKUP, outcome).selection == "no_call_when_expected"
    assert "text_tool_call" in judge(HELLO, outcome).flags


@pytest.mark.parametrize(
    "outcome",
    [
        said('{"name":"Bob","parameters":{"a":1}} is the user profile', "text_tool_call"),
        said(f"To call it send {UNKNOWN} there.", "text_tool_call"),
        said(f"Use `{OFFERED}(order_id)` with an order id."),
        said('{"order": {"id": "ORD-1"}}'),
    ],
    ids=lambda outcome: outcome.text[:40],
)
def test_what_names_no_offered_tool_among_words_is_no_attempt(outcome: Text) -> None:
    verdict = judge(HELLO, outcome)
    assert verdict.selection == "abstained_correctly"
    assert verdict.flags == ()


@pytest.mark.parametrize("case", [HELLO, CLARIFY], ids=lambda case: case.expected.__class__.__name__)
def test_json_of_a_name_and_parameters_that_names_no_tool_decides_nothing_where_no_call_was_wanted(case: Case) -> None:
    outcome = said(CIRCLE, "text_tool_call")
    verdict = judge(case, outcome)
    assert (verdict.selection, verdict.passed) == ("undecided", None)
    assert verdict.decided_by["selection"] == "text_like_a_call"
    assert verdict.flags == ("text_like_a_call",)
    assert judge(LOOKUP, outcome).selection == "no_call_when_expected"


def test_a_tool_without_properties_is_told_by_its_name_too() -> None:
    bare = (Tool("ping", "Ping.", {"type": "object"}),)
    assert evaluate(HELLO, bare, said("ping()")).selection == "called_when_abstention_expected"
