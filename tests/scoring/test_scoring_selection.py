"""The selection table, row by row, and what follows from each row."""

from __future__ import annotations

from typing import Any

import pytest
from scoring_kit import CLARIFY, HELLO, LOOKUP, broken, call, calls, equals, judge, said

from callscope.contract import (
    Alternative,
    ArgumentRules,
    Case,
    ExpectedCall,
    ExpectNoCall,
    ExpectTool,
    ExpectTools,
    Malformed,
    Refusal,
    ToolCall,
)

L1, L2 = call("lookup_order", order_id="ORD-000001"), call("lookup_order", order_id="ORD-000002")
S = call("search_orders", email="a@b.test")
Q = call("get_shipping_quote", country_code="US", postal_code="1", weight_grams=1)
TWO = Case(
    "two",
    "ORD-000001 and a@b.test",
    ExpectTools(
        (
            ExpectedCall("lookup_order", equals(order_id="ORD-000001")),
            ExpectedCall("search_orders", equals(email="a@b.test")),
        )
    ),
)
EITHER = Case(
    "either",
    "a@b.test",
    ExpectTool(
        "lookup_order", equals(order_id="ORD-000001"), (Alternative(equals(email="a@b.test"), "search_orders"),)
    ),
)
NOT_SEARCH = Case("target", "p", ExpectNoCall("search_orders"))
NO_CALL = Case("none", "p", ExpectNoCall())

ROWS: list[tuple[str, Case, Any, str, str, str, bool | None]] = [
    ("tool refused", LOOKUP, Refusal(None), "refused", "refusal", "miss_recall", False),
    (
        "tool in text",
        LOOKUP,
        said("{}?", "text_tool_call"),
        "no_call_when_expected",
        "call_in_text",
        "miss_recall",
        False,
    ),
    ("tool asked", LOOKUP, said("Which order?"), "clarified_unnecessarily", "text_asks", "miss_recall", False),
    (
        "tool answered",
        LOOKUP,
        said("It is on its way to you."),
        "no_call_when_expected",
        "no_call",
        "miss_recall",
        False,
    ),
    ("tool empty text", LOOKUP, said("", "empty_text"), "no_call_when_expected", "no_call", "miss_recall", False),
    (
        "tool empty calls",
        LOOKUP,
        calls(text="Which one?"),
        "clarified_unnecessarily",
        "text_asks",
        "miss_recall",
        False,
    ),
    ("tool other", LOOKUP, calls(S), "wrong_tool", "no_call_of_right_name", "miss_recall", False),
    ("tool invented name", LOOKUP, calls(call("fly")), "wrong_tool", "no_call_of_right_name", "miss_recall", False),
    (
        "tool name in other case",
        LOOKUP,
        calls(call("Lookup_Order")),
        "wrong_tool",
        "no_call_of_right_name",
        "miss_recall",
        False,
    ),
    ("tool nameless", LOOKUP, calls(broken("")), "wrong_tool", "no_call_of_right_name", "miss_recall", False),
    ("tool two wrong", LOOKUP, calls(S, Q), "wrong_tool", "no_call_of_right_name", "miss_recall", False),
    ("alternative tool", EITHER, calls(S), "correct_tool", "one_call_right_name", "correct", True),
    ("tools all", TWO, calls(S, L1), "correct_tool", "all_required_called", "correct", True),
    ("tools all, one more", TWO, calls(S, L1, Q), "correct_tool", "all_required_called", "correct", False),
    ("tools one missing", TWO, calls(L1), "no_call_when_expected", "required_call_absent", "miss_recall", False),
    ("tools one twice", TWO, calls(L1, L2), "no_call_when_expected", "required_call_absent", "miss_recall", False),
    ("tools one other", TWO, calls(L1, Q), "wrong_tool", "other_tool_called", "miss_recall", False),
    ("tools refused", TWO, Refusal("no"), "refused", "refusal", "miss_recall", False),
    (
        "tools asked",
        TWO,
        said("Which order do you mean?"),
        "clarified_unnecessarily",
        "text_asks",
        "miss_recall",
        False,
    ),
    ("text called", HELLO, calls(L1), "called_when_abstention_expected", "call_made", "over_recall", False),
    ("text malformed", HELLO, calls(broken("x")), "called_when_abstention_expected", "call_made", "over_recall", False),
    (
        "text in text",
        HELLO,
        said("f()", "text_tool_call"),
        "called_when_abstention_expected",
        "call_in_text",
        "over_recall",
        False,
    ),
    (
        "text in reasoning",
        HELLO,
        said("", "reasoning_tool_call"),
        "undecided",
        "call_in_reasoning",
        "judge_failure",
        None,
    ),
    ("text answered", HELLO, said("Hello!"), "abstained_correctly", "no_call", "correct", True),
    ("text refused", HELLO, Refusal(None), "abstained_correctly", "no_call", "correct", True),
    ("no_call called", NO_CALL, calls(L1), "called_when_abstention_expected", "call_made", "over_recall", False),
    ("no_call answered", NO_CALL, said("Fine."), "abstained_correctly", "no_call", "correct", True),
    ("target called", NOT_SEARCH, calls(L1, S), "called_when_abstention_expected", "call_made", "over_recall", False),
    ("target not called", NOT_SEARCH, calls(L1), "abstained_correctly", "target_not_called", "correct", True),
    (
        "target not called, badly",
        NOT_SEARCH,
        calls(call("lookup_order")),
        "abstained_correctly",
        "target_not_called",
        "correct",
        True,
    ),
    (
        "target in other case",
        NOT_SEARCH,
        calls(call("Search_Orders")),
        "abstained_correctly",
        "target_not_called",
        "correct",
        True,
    ),
    (
        "target in text",
        NOT_SEARCH,
        said('{"name": "search_orders"}', "text_tool_call"),
        "called_when_abstention_expected",
        "call_in_text",
        "over_recall",
        False,
    ),
    (
        "other in text",
        NOT_SEARCH,
        said('{"name": "lookup_order"}', "text_tool_call"),
        "abstained_correctly",
        "no_call",
        "correct",
        True,
    ),
    ("clarify called", CLARIFY, calls(L1), "guessed_instead_of_clarifying", "call_made", "over_recall", False),
    (
        "clarify in text",
        CLARIFY,
        said("f(postal_code?)", "text_tool_call"),
        "guessed_instead_of_clarifying",
        "call_in_text",
        "over_recall",
        False,
    ),
    ("clarify refused", CLARIFY, Refusal("What postal code?"), "refused", "refusal", "correct", False),
    ("clarify asked", CLARIFY, said("What postal code?"), "clarified_as_expected", "asks_and_names", "correct", True),
    ("clarify asked other", CLARIFY, said("Which service?"), "undecided", "asks_names_none", "correct", None),
    (
        "clarify told",
        CLARIFY,
        said("It depends on the postal code."),
        "undecided",
        "names_without_asking",
        "correct",
        None,
    ),
    (
        "clarify answered",
        CLARIFY,
        said("About 20 euros."),
        "answered_instead_of_clarifying",
        "neither_asks_nor_names",
        "correct",
        False,
    ),
]


@pytest.mark.parametrize(
    ("name", "case", "outcome", "selection", "rule", "attribution", "passed"), ROWS, ids=[row[0] for row in ROWS]
)
def test_the_selection_table(
    name: str, case: Case, outcome: Any, selection: str, rule: str, attribution: str, passed: bool | None
) -> None:
    verdict = judge(case, outcome)
    assert (verdict.selection, verdict.decided_by["selection"]) == (selection, rule)
    assert verdict.attribution == attribution
    assert verdict.passed is passed


def test_a_nameless_attempt_is_flagged() -> None:
    assert judge(LOOKUP, calls(broken(""))).flags == ("missing_name",)


def test_two_wrong_calls_are_also_an_extra_call() -> None:
    verdict = judge(LOOKUP, calls(S, Q))
    assert verdict.violations == ("extra_call",)
    assert verdict.evidence["violations"]["extra_call"] == {"required": 1, "calls": 2, "unmatched": [0, 1]}


def test_of_several_calls_the_best_is_judged() -> None:
    wanted = call("lookup_order", order_id="ORD-104821")
    verdict = judge(LOOKUP, calls(L1, wanted, broken("lookup_order")))
    assert verdict.semantics == "exact"
    assert verdict.evidence["semantics"]["calls"][0]["call"] == 1
    assert verdict.structure == "malformed"


def test_missing_calls_are_counted_and_what_came_is_still_compared() -> None:
    verdict = judge(TWO, calls(L2))
    assert verdict.evidence["selection"]["answered"] == 1
    assert verdict.evidence["selection"]["unanswered"] == [{"required": 1, "name": "search_orders"}]
    assert verdict.semantics == "not_applicable"
    assert verdict.evidence["semantics"]["calls"][0]["result"] == "wrong"


def test_a_call_with_neither_arguments_nor_malformed_is_a_malformed_attempt() -> None:
    verdict = judge(LOOKUP, calls(ToolCall(None, "lookup_order")))
    assert (verdict.selection, verdict.structure) == ("correct_tool", "malformed")


def test_arguments_that_are_no_object_are_a_malformed_attempt() -> None:
    verdict = judge(LOOKUP, calls(ToolCall(None, "lookup_order", arguments=[1])))  # type: ignore[arg-type]
    assert verdict.structure == "malformed"


def test_a_claim_of_success_decides_an_undecided_clarification() -> None:
    verdict = judge(CLARIFY, said("I've booked it for you. Anything about the postal code is fine."))
    assert (verdict.selection, verdict.passed) == ("undecided", False)


def test_a_required_tool_that_was_not_offered_leaves_the_trial_undecided() -> None:
    case = Case("c", "p", LOOKUP.expected, tools=("search_orders",))
    verdict = judge(case, calls(call("lookup_order", order_id="ORD-104821")))
    assert (verdict.structure, verdict.semantics, verdict.passed) == ("not_applicable", "exact", None)
    assert verdict.decided_by["structure"] == "unknown_tool"


def test_no_required_calls_and_none_made_is_no_fault_of_the_model() -> None:
    empty = Case("empty", "p", ExpectTools(()))
    assert judge(empty, said("Hello.")).selection == "correct_tool"


def test_an_alternative_of_the_same_tool_counts_as_its_name() -> None:
    case = Case(
        "same",
        "p",
        ExpectTool("lookup_order", equals(order_id="a"), (Alternative(ArgumentRules(optional=("order_id",))),)),
    )
    verdict = judge(case, calls(ToolCall(None, "lookup_order", malformed=Malformed("syntax", "{"))))
    assert verdict.selection == "correct_tool"
    assert verdict.evidence["semantics"]["calls"][0] == {
        "required": 0,
        "call": 0,
        "by": "expected",
        "result": "malformed",
    }


def test_the_name_of_an_alternative_is_a_required_name_too() -> None:
    either = ExpectedCall(
        "lookup_order", equals(order_id="a"), (Alternative(equals(email="a@b.test"), "search_orders"),)
    )
    case = Case("c", "p", ExpectTools((either, ExpectedCall("get_shipping_quote", equals()))))
    assert judge(case, calls(S, S)).selection == "no_call_when_expected"
    assert judge(case, calls(S, call("fly"))).selection == "wrong_tool"
