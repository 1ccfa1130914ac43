"""What has no meaning is undefined with its reason, and what cannot be read is refused with its place."""

from __future__ import annotations

import re

import pytest
from agreement_kit import judge_audit, table

from callscope.audit.agreement import agreement, coefficients, confirmation, validity
from callscope.audit.ratings import Ratings, by_question, majority, only, ratings_of, settled
from callscope.audit.stratified import Resampling
from callscope.errors import InputError
from callscope.scoring.statistics import wilson

FEW = Resampling(draws=50)
BEYOND_CHANCE = ("fleiss", "alpha", "ac1", "pabak")


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (table("", ""), "undefined: no item was rated"),
        (table("..", ".."), "undefined: no item was rated"),
        (table("abab"), "undefined: no item has two ratings"),
        (table("a.", ".b"), "undefined: no item has two ratings"),
    ],
    ids=["no items", "nothing rated", "one rater", "no pairs"],
)
def test_without_pairs_nothing_is_defined(ratings: Ratings, reason: str) -> None:
    found = coefficients(ratings, FEW)
    for name in ("observed", *BEYOND_CHANCE):
        one = getattr(found, name)
        assert (one.value, one.low, one.high, one.draws) == (None, None, None, 0)
        assert one.reason.startswith(reason)
    assert found.cohen.value is None


@pytest.mark.parametrize("classes", [None, "ab"])
def test_one_class_in_use_leaves_everything_beyond_chance_undefined_and_never_one(classes: str | None) -> None:
    found = coefficients(table("aaaa", "aaaa", classes=classes), FEW)
    for name in (*BEYOND_CHANCE, "cohen"):
        one = getattr(found, name)
        assert one.value is None
        assert one.reason == "undefined: every rating is 'a'; agreement beyond chance needs two classes in use"


def test_a_second_class_that_nobody_paired_does_not_count() -> None:
    found = coefficients(table("aaab", "aaa."), FEW)
    assert [getattr(found, name).value for name in (*BEYOND_CHANCE, "cohen")] == [None] * 5


def test_full_agreement_is_a_count_with_wilsons_interval_over_items_not_pairs() -> None:
    found = coefficients(table("aabb", "aabb", "aabb"), FEW).observed
    assert (found.k, found.n, found.value, found.items, found.method) == (12, 12, 1.0, 4, "Wilson")
    assert (found.low, found.high) == wilson(1.0, 4)
    none = coefficients(table("aabb", "bbaa"), FEW).observed
    assert (none.k, none.n, none.value) == (0, 4, 0.0)
    assert (none.low, none.high) == wilson(0.0, 4)


def test_full_agreement_on_two_classes_is_one_without_an_interval() -> None:
    found = coefficients(table("a" * 20 + "b" * 20, "a" * 20 + "b" * 20), FEW).cohen
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert found.note == "no interval: every draw gave the same value"


def test_draws_without_a_value_are_counted_and_too_many_leave_no_interval() -> None:
    """One item of 30 holds the only second class: about (29/30)^30 = .36 of the draws lose it."""
    ratings = table("a" * 29 + "b", "a" * 29 + "b")
    found = coefficients(ratings, Resampling(draws=400)).cohen
    assert found.value == 1.0
    assert 100 < found.degenerate_draws < 190
    assert (found.low, found.high) == (None, None)
    assert found.note == f"no interval: {found.degenerate_draws} of 400 draws were degenerate"


def test_few_draws_without_a_value_are_counted_and_the_interval_stands() -> None:
    ratings = table("a" * 26 + "bbbb", "a" * 26 + "bbba")
    found = coefficients(ratings, Resampling(draws=2000)).cohen
    assert 0 < found.degenerate_draws < 100
    assert found.low is not None


def test_how_many_draws_may_fail_is_what_the_interval_leaves_out() -> None:
    """About (4/6)^6 = .088 of the draws hold one class: more than a 95 % interval leaves out, less than a 90 % one."""
    ratings = table("aaaabb", "aaaaba")
    strict, loose = (coefficients(ratings, Resampling(seed=1, confidence=held)).cohen for held in (0.95, 0.9))
    assert strict.degenerate_draws == loose.degenerate_draws
    assert 100 < strict.degenerate_draws < 200
    assert strict.low is None
    assert loose.low is not None


def test_strata_of_one_item_are_named_since_resampling_cannot_vary_them() -> None:
    found = coefficients(table("aabbab", "abbbaa", strata="xxxxyz"), FEW).observed
    assert found.note == "2 strata hold one item each, which resampling cannot vary"


def test_cohen_is_for_two_raters_and_fleiss_for_equal_numbers() -> None:
    found = coefficients(table("abab", "abba", "ab.a"), FEW)
    assert found.cohen.reason == "undefined: Cohen's kappa compares two raters, and here are 3"
    assert found.fleiss.reason.endswith("needs equally many ratings on every item, and here are 1 with 2, 3 with 3")
    assert found.alpha.value is not None


def test_an_item_nobody_rated_changes_nothing() -> None:
    plain, blank = coefficients(table("abab", "abba"), FEW), coefficients(table("abab.", "abba."), FEW)
    for name in (*BEYOND_CHANCE, "cohen", "observed"):
        assert getattr(plain, name).value == getattr(blank, name).value
        assert getattr(blank, name).items == 4


def test_a_class_the_reference_never_gave_has_no_confirmation_rate() -> None:
    ratings = ratings_of({"i": {"judge": "a", "R1": "a"}, "j": {"judge": "b", "R1": None}}, classes="abc")
    found = {one.label: one.confirmed for one in confirmation(ratings, "R1", "judge")}
    assert (found["a"].k, found["a"].n) == (1, 1)
    assert found["b"].reason == "undefined: R1 rated no item that judge called 'b'"
    assert found["c"].value is None


def test_an_unanswered_question_leaves_an_item_incomplete_unless_another_was_rejected() -> None:
    due = dict.fromkeys("ijkl", ("need", "args"))
    said = {
        "i": {"R1": {"need": "yes", "args": "yes"}},
        "j": {"R1": {"need": "yes", "args": None}},
        "k": {"R1": {"need": "no"}},
        "l": {"R1": {}, "R2": {}},
    }
    first, second = validity(said, due)
    assert (first.valid.k, first.valid.n, first.incomplete) == (1, 2, 2)
    assert (second.valid.value, second.incomplete) == (None, 1)
    assert second.valid.reason == "undefined: R2 answered all questions of no item"


def test_settled_takes_the_adjudicated_then_the_unanimous_and_majority_counts_heads() -> None:
    ratings = table("aaab.", "aabc.", "a.bd.")
    assert list(settled(ratings).values()) == ["a", "a", None, None, None]
    assert settled(ratings, {"item 2": "b", "item 0": "b"})["item 2"] == "b"
    assert settled(ratings, {"item 2": "b", "item 0": "b"})["item 0"] == "b"
    assert list(majority(ratings).values()) == ["a", "a", "b", None, None]
    assert list(majority(table("a", "b")).values()) == [None]


def test_an_audit_without_reviewers_says_so() -> None:
    found = agreement(ratings_of({"i": {"judge": "a"}}), reference="judge", plan=FEW)
    assert (found.against, found.pairs, found.adjudicate, found.unrated) == ((), (), (), 1)
    assert found.among.fleiss.reason == "undefined: no item was rated"


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: ratings_of({"i": {"R1": "z"}}, classes="ab"),
            "i.R1: this class is not one of the labels (found z; expected one of a, b)",
        ),
        (
            lambda: ratings_of({"i": {"R1": "a"}}, strata={}),
            "strata: this item has no stratum (found i). Give every audited item the stratum it was sampled from.",
        ),
        (
            lambda: ratings_of({"i": {"R9": "a"}}, raters=["R1"]),
            "raters: this reviewer was not named (found R9; expected one of R1)",
        ),
        (
            lambda: only(judge_audit(), ["R7"]),
            "raters: nobody of this name rated (found R7; expected one of judge, R1, R2, R3)",
        ),
        (lambda: agreement(judge_audit(), reference="gold"), "raters: nobody of this name rated (found gold;"),
        (
            lambda: settled(table("a", "b"), {"item 9": "a"}),
            "adjudicated: no such item was rated (found item 9)",
        ),
        (
            lambda: settled(table("a", "b"), {"item 0": "z"}),
            "item 0: this class is not one of the labels (found z; expected one of a, b)",
        ),
        (
            lambda: validity({"i": {"R1": {"need": "yes"}}}, {}),
            "due: this item has no questions (found i; expected one or more questions)",
        ),
        (
            lambda: validity({"i": {"R1": {"args": "yes"}}}, {"i": ["need"]}),
            "i.R1: this question is not due here (found args; expected one of need)",
        ),
        (
            lambda: validity({"i": {"R1": {"need": "maybe"}}}, {"i": ["need"]}),
            "i.R1.need: no answer to this question (found maybe; expected yes or no)",
        ),
        (
            lambda: by_question({"i": {"R1": {"need": "maybe"}}}, "need"),
            "i.R1: this class is not one of the labels (found maybe; expected one of no, yes)",
        ),
        (lambda: Resampling(draws=0), "draws: a bootstrap needs draws (found 0; expected 1 or more)"),
        (lambda: Resampling(confidence=1.0), "confidence: no interval holds this much (found 1.0;"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(act: object, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        act()  # type: ignore[operator]
