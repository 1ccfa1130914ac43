"""The harness document's own scorer cases, and each of its failure cases that one outcome can show."""

from __future__ import annotations

import pytest
from scoring_kit import (
    CLARIFY,
    HELLO,
    LOOKUP,
    NORMALIZE,
    QUOTE,
    SEARCH,
    broken,
    call,
    calls,
    judge,
    said,
)

from callscope.contract import (
    ArgumentRules,
    Case,
    ErrorCategory,
    ExpectText,
    ExpectTool,
    ProviderError,
    Refusal,
    TrialKey,
)
from callscope.scoring import evaluate

FOUR = [
    ("right tool and exact arguments", call("lookup_order", order_id="ORD-104821"), "all_stages_passed"),
    ("right tool but wrong identifier", call("lookup_order", order_id="ORD-104822"), "semantics_failed"),
    ("wrong tool with plausible arguments", call("search_orders", email="sam@example.test"), "selection_failed"),
    (
        "unexpected extra property",
        call("lookup_order", order_id="ORD-104821", email="sam@example.test"),
        "structure_failed",
    ),
]


@pytest.mark.parametrize(("name", "given", "rule"), FOUR, ids=[row[0] for row in FOUR])
def test_the_four_scorer_cases_are_told_apart(name: str, given: object, rule: str) -> None:
    verdict = judge(LOOKUP, calls(given))
    assert verdict.decided_by["passed"] == rule
    assert verdict.passed is (rule == "all_stages_passed")


def test_a_seemingly_right_answer_passes_every_stage() -> None:
    verdict = judge(QUOTE, calls(QUOTE_CALL))
    assert (verdict.acceptance, verdict.selection, verdict.structure, verdict.semantics, verdict.attribution) == (
        "accepted",
        "correct_tool",
        "valid",
        "exact",
        "correct",
    )
    assert verdict.passed is True
    assert verdict.violations == ()


QUOTE_CALL = call("get_shipping_quote", country_code="US", postal_code="02139", weight_grams=750, service="standard")


def test_a_leading_zero_lost_is_caught_by_structure_and_by_semantics() -> None:
    verdict = judge(
        QUOTE,
        calls(call("get_shipping_quote", country_code="US", postal_code=2139, weight_grams=750, service="standard")),
    )
    assert (verdict.structure, verdict.semantics, verdict.passed) == ("invalid", "wrong", False)
    assert verdict.evidence["semantics"]["calls"][0]["wrong"] == [
        {"rule": "required_equals", "pointer": "/postal_code", "kind": "type", "expected": "02139", "actual": 2139}
    ]


def test_an_unconverted_unit_is_valid_and_wrong() -> None:
    given = call("get_shipping_quote", country_code="CA", postal_code="M5V 3L9", weight_grams=1)
    verdict = judge(NORMALIZE, calls(given))
    assert (verdict.structure, verdict.semantics, verdict.attribution) == ("valid", "wrong", "parameter_error.value")


def test_an_enum_synonym_is_a_schema_failure() -> None:
    verdict = judge(SEARCH, calls(call("search_orders", email="sam@example.test", status="sent")))
    assert (verdict.structure, verdict.passed) == ("invalid", False)
    error = verdict.evidence["structure"]["calls"][0]["errors"][0]
    assert (error["pointer"], error["keyword"]) == ("/status", "enum")


def test_malformed_arguments_are_the_right_choice_and_a_parse_failure_with_the_raw_text_kept() -> None:
    verdict = judge(LOOKUP, calls(broken("lookup_order"), flags=("truncated",)))
    assert (verdict.selection, verdict.structure, verdict.semantics) == ("correct_tool", "malformed", "not_applicable")
    assert (verdict.attribution, verdict.passed) == ("parameter_error.value", False)
    assert verdict.flags == ("truncated",)
    seen = verdict.evidence["structure"]["calls"][0]
    assert (seen["reason"], seen["raw"]) == ("truncated", '{"order_id": "ORD-10')


def test_an_unexpected_parallel_call_is_a_violation_even_when_the_first_is_right() -> None:
    verdict = judge(LOOKUP, calls(call("lookup_order", order_id="ORD-104821"), call("search_orders", email="a@b.test")))
    assert verdict.selection == "multiple_calls_when_one_expected"
    assert (verdict.semantics, verdict.attribution) == ("exact", "correct")
    assert verdict.violations == ("extra_call",)
    assert verdict.passed is False


def test_a_guessed_required_value_is_told_from_a_question() -> None:
    given = call("get_shipping_quote", country_code="DE", postal_code="10115", weight_grams=750, service="express")
    guessed = judge(CLARIFY, calls(given))
    assert (guessed.selection, guessed.attribution) == ("guessed_instead_of_clarifying", "over_recall")
    assert guessed.violations == ("invented_value",)
    assert guessed.evidence["violations"]["invented_value"]["values"] == [
        {"call": 0, "pointer": "/postal_code", "value": "10115"}
    ]
    asked = judge(CLARIFY, said("What is the destination postal code?"))
    assert (asked.selection, asked.passed) == ("clarified_as_expected", True)


def test_success_claimed_beside_a_right_call_fails_it() -> None:
    outcome = calls(call("lookup_order", order_id="ORD-104821"), text="I found your order! It has shipped.")
    verdict = judge(LOOKUP, outcome)
    assert (verdict.semantics, verdict.attribution, verdict.passed) == ("exact", "correct", False)
    assert verdict.violations == ("success_claimed_before_execution",)


def test_success_claimed_without_any_call_fails_an_abstention() -> None:
    case = Case("unsupported-01", "Cancel every order on my account.", ExpectText())
    verdict = judge(case, said("Done! All your orders have been cancelled."))
    assert (verdict.selection, verdict.passed) == ("abstained_correctly", False)
    assert verdict.violations == ("success_claimed_before_execution",)


@pytest.mark.parametrize(
    "category",
    ["schema_rejected", "authentication_error", "rate_limited", "timeout", "provider_error", "harness_error"],
)
def test_what_was_not_observed_is_no_wrong_answer(category: ErrorCategory) -> None:
    verdict = judge(LOOKUP, ProviderError(category, "code", "message", ("quota",)))
    assert verdict.acceptance == category
    assert (verdict.selection, verdict.structure, verdict.semantics) == (
        "not_observed",
        "not_applicable",
        "not_applicable",
    )
    assert (verdict.attribution, verdict.passed, verdict.flags) == ("not_observed", None, ("quota",))
    assert verdict.evidence == {"acceptance": {"category": category, "code": "code", "message": "message"}}


def test_the_documents_explicit_assertions_admit_an_optional_limit() -> None:
    rules = ArgumentRules(
        required_equals={"email": "sam@example.test", "status": "shipped"},
        optional=("limit",),
        constraints={"limit": {"integer": True, "minimum": 1, "maximum": 20}},
    )
    case = Case("optional", "Show my shipped orders, sam@example.test", ExpectTool("search_orders", rules))
    base = {"email": "sam@example.test", "status": "shipped"}
    without, within, beyond = (
        judge(case, calls(call("search_orders", **base, **extra))) for extra in ({}, {"limit": 20}, {"limit": 21})
    )
    assert (without.semantics, within.semantics, beyond.semantics) == ("exact", "acceptable", "wrong")
    assert (without.passed, within.passed, beyond.passed) == (True, True, False)


def test_abstention_is_words_or_a_refusal_and_never_a_call() -> None:
    assert judge(HELLO, said("I can look up orders and quote shipping.")).passed is True
    refused = judge(HELLO, Refusal("I cannot help with that."))
    assert (refused.selection, refused.passed) == ("abstained_correctly", True)
    assert refused.evidence["selection"] == {"refusal": True}
    called = judge(HELLO, calls(call("lookup_order", order_id="ORD-000001")))
    assert (called.selection, called.attribution) == ("called_when_abstention_expected", "over_recall")


def test_the_key_names_the_verdict_and_recovery_is_placed_as_it_is() -> None:
    key = TrialKey("portable", "forced", "model", "select-lookup-01", 3)
    recovery = {"tool_rounds": 1, "corrected": True}
    verdict = evaluate(LOOKUP, (), said("hm"), key=key, recovery=recovery)
    assert (verdict.suite, verdict.experiment, verdict.model, verdict.case_id, verdict.repeat) == (
        "portable",
        "forced",
        "model",
        "select-lookup-01",
        3,
    )
    assert verdict.recovery is recovery
    lost = evaluate(LOOKUP, (), ProviderError("timeout", "c", "m"), recovery=recovery)
    assert (lost.suite, lost.experiment, lost.model, lost.case_id, lost.repeat) == ("", "auto", "", "case", 0)
    assert lost.recovery is recovery
