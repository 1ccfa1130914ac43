"""Recorded conversations: every turn judged, credit by turn, looking around allowed (scoring-faults 38 and 39)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from scoring_kit import TOOLS, broken, call, calls, equals, said

from callscope.contract import Case, ExpectedCall, ExpectTools, Message, ProviderError, Turn
from callscope.scoring import evaluate_turns

LOOKUP = ExpectedCall("lookup_order", equals(order_id="ORD-104821"))
SEARCH = ExpectedCall("search_orders", equals(email="a@b.test"))
TURNS = (
    Turn((Message("user", "Where is ORD-104821?"),), (LOOKUP,)),
    Turn((Message("user", "Thanks."),)),
    Turn((Message("user", "And all of a@b.test?"),), (SEARCH,), free=("lookup_order",)),
)
CASE = Case("talk", "And all of a@b.test?", ExpectTools((LOOKUP, SEARCH)), turns=TURNS)
RIGHT = (
    calls(call("lookup_order", order_id="ORD-104821")),
    said("You are welcome."),
    calls(call("search_orders", email="a@b.test")),
)
LOOK = call("lookup_order", order_id="ORD-000001")


def turns(*outcomes, case=CASE):
    return evaluate_turns(case, TOOLS, outcomes)


def passed(verdict):
    return [turn["passed"] for turn in verdict.evidence["turns"]]


def test_all_turns_right():
    verdict = turns(*RIGHT)
    assert (verdict.passed, verdict.decided_by["passed"]) == (True, "all_turns_passed")
    assert passed(verdict) == [True, True, True]


def test_credit_is_by_turn():
    verdict = turns(RIGHT[0], said("Bye."), said("I cannot."))
    assert (verdict.passed, verdict.decided_by["passed"], verdict.attribution) == (False, "turn_failed", "miss_recall")
    assert passed(verdict) == [True, True, False]


def test_a_conversation_that_ended_early_fails_the_turns_it_did_not_reach():
    assert passed(turns(RIGHT[0])) == [True, True, False]


def test_looking_around_is_free_where_the_turn_says_so_and_only_there():
    free = turns(RIGHT[0], RIGHT[1], calls(LOOK, call("search_orders", email="a@b.test")))
    assert free.passed is True
    only_looking = turns(RIGHT[0], RIGHT[1], calls(LOOK, text="Hm."))
    assert passed(only_looking) == [True, True, False]
    elsewhere = turns(RIGHT[0], calls(LOOK), RIGHT[2])
    assert (passed(elsewhere), elsewhere.attribution) == ([True, False, True], "over_recall")


def test_a_free_tool_that_the_turn_requires_is_judged():
    wanted = replace(CASE, turns=(replace(TURNS[0], free=("lookup_order",)),))
    assert turns(calls(LOOK), case=wanted).attribution == "parameter_error.value"


def test_an_undecided_turn_leaves_the_conversation_undecided_unless_one_fails():
    undecided = calls(call("lookup_order", order_id="ORD-104821"))
    no_schema = tuple(replace(tool, parameters={"type": "dict"}) for tool in TOOLS)
    verdict = evaluate_turns(replace(CASE, turns=TURNS[:2]), no_schema, (undecided, RIGHT[1]))
    assert (verdict.passed, verdict.decided_by["passed"]) == (None, "undecided")
    verdict = evaluate_turns(replace(CASE, turns=TURNS[:2]), no_schema, (undecided, calls(LOOK)))
    assert verdict.passed is False


def test_an_excluded_conversation_is_not_decided():
    assert turns(*RIGHT, case=replace(CASE, excluded="no gold")).decided_by["passed"] == "case_excluded"


@pytest.mark.parametrize("place", [0, 1])
def test_what_was_not_observed_is_no_wrong_answer(place):
    outcomes = [*RIGHT]
    outcomes[place] = ProviderError("provider_error", "500", "Error during inference")
    verdict = turns(*outcomes[: place + 1])
    assert (verdict.passed, verdict.acceptance) == (None, "provider_error")


def test_flags_of_all_turns_are_kept():
    verdict = turns(calls(broken("lookup_order"), flags=("one",)), said("", "two"), RIGHT[2])
    assert {"one", "two"} <= set(verdict.flags)


def test_after_a_tool_has_answered_words_claim_nothing_too_early():
    done = said("I have found it: the order was shipped.")
    assert turns(done, case=replace(CASE, turns=TURNS[1:2])).violations == ("success_claimed_before_execution",)
    after = turns(RIGHT[0], done, RIGHT[2])
    assert (after.passed, after.violations) == (True, ())


def test_what_else_is_wrong_after_an_answer_stays_wrong():
    both = calls(
        call("search_orders", email="a@b.test"), call("lookup_order", order_id="ORD-000001"), text="I found it."
    )
    wanted = replace(CASE, turns=(TURNS[0], replace(TURNS[2], free=())))
    assert passed(turns(RIGHT[0], both, case=wanted)) == [True, False]
    wrong = calls(call("search_orders", email="x@b.test"), text="I have found your orders.")
    assert passed(turns(RIGHT[0], wrong, case=wanted)) == [True, False]
