"""Sentinels bound a judge's errors exactly, and a judge is named by what it fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callscope.judge.answered import Answers, calibration_of
from callscope.judge.answers import Said
from callscope.judge.calibration import Calibration, upper_bound
from callscope.judge.questions import Order, Question, question_id, shown_values
from callscope.judge.sentinels import Sentinel, known_questions


@settings(max_examples=40)
@given(st.integers(0, 300), st.integers(1, 300), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_bound_is_the_exact_one(k: int, n: int, confidence: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    k = min(k, n)
    exact = 1.0 if k == n else stats.beta.ppf(confidence, k + 1, n - k)
    assert upper_bound(k, n, confidence) == pytest.approx(exact, abs=1e-9)


def test_59_of_59_right_bounds_the_error_at_five_percent_and_58_do_not() -> None:
    assert upper_bound(0, 59) <= 0.05 < upper_bound(0, 58)
    assert upper_bound(0, 0) == 1.0
    with pytest.raises(ValueError, match="k=2"):
        upper_bound(2, 1)


Says = Callable[[Sentinel, str], str]
"""What a judge says of a sentinel, given which of the values stands first."""


def calibrated(says: Says, answered: Callable[[int], bool] = lambda _: True) -> Calibration:
    """The calibration of a judge that answers by a rule; `answered` says which sentinels it has been asked."""
    answers = Answers({}, {}, {})
    for number, (sentinel, question) in enumerate(known_questions()):
        name = question_id(question)
        answers.sentinels[name], answers.questions[name] = sentinel, question
        if answered(number):
            orders: tuple[Order, ...] = ("a", "b", "c")
            answers.said[name] = {order: Said(says(sentinel, _first(question, order))) for order in orders}  # type: ignore[arg-type]
    return calibration_of(answers)


def _first(question: Question, order: Order) -> str:
    return "first" if shown_values(question, order)[0] == question.first else "second"


def right(sentinel: Sentinel, _first: str) -> str:
    return sentinel.expected


def flipped_on(names: set[str]) -> Says:
    return lambda sentinel, _: OTHER[sentinel.expected] if sentinel.name in names else sentinel.expected


OTHER = {"equivalent": "different", "different": "equivalent"}
DIFFERENT = [s.name for s, _ in known_questions() if s.expected == "different" and s.kind != "injection"]
EQUIVALENT = [s.name for s, _ in known_questions() if s.expected == "equivalent" and s.kind != "injection"]

JUDGES: dict[str, tuple[Says, tuple[str, ...]]] = {
    "perfect": (right, ()),
    "one error each way": (flipped_on({DIFFERENT[0], EQUIVALENT[0]}), ()),
    "two false equivalents": (flipped_on(set(DIFFERENT[:2])), ("too_lenient",)),
    "two false differents": (flipped_on(set(EQUIVALENT[:2])), ("too_strict",)),
    "always equivalent": (lambda *_: "equivalent", ("too_lenient",)),
    "always different": (lambda *_: "different", ("too_strict",)),
    "by position": (lambda _, first: "equivalent" if first == "first" else "different", ("position_biased",)),
    "obedient": (lambda s, _: s.instructed or s.expected, ("obeys_injected_instructions",)),
    "unreadable": (lambda *_: "unreadable", ("unreadable",)),
    "never sure": (lambda *_: "cannot_assess", ("too_few_decided",)),
    "not sure of injected ones": (lambda s, _: "cannot_assess" if s.instructed else s.expected, ()),
}


@pytest.mark.parametrize(("says", "failures"), JUDGES.values(), ids=JUDGES.keys())
def test_a_judge_is_named_by_what_it_fails(says: Says, failures: tuple[str, ...]) -> None:
    found = calibrated(says)
    assert found.failures == failures
    assert found.believed == (failures == ())


def test_a_judge_that_fails_in_two_ways_is_named_by_both() -> None:
    found = calibrated(flipped_on({*DIFFERENT[:9], *EQUIVALENT[:9]}))
    assert found.failures == ("too_lenient", "too_strict")


def test_a_check_that_fails_for_certain_still_fails_when_all_the_rest_is_right() -> None:
    wrong = flipped_on(set(DIFFERENT))
    for asked in (20, 40, 80, 160):
        early = calibrated(wrong, lambda number, asked=asked: number < asked)  # type: ignore[misc]
        failing = {sentinel.name for sentinel, _ in known_questions()[:asked]} & set(DIFFERENT)
        if early.certain:
            assert calibrated(flipped_on(failing)).failures == early.failures


def test_too_few_answers_bound_nothing_and_are_no_failure_for_certain() -> None:
    early = calibrated(right, lambda number: number < 20)
    assert early.failures == ("too_few_decided",)
    assert not early.certain


def test_one_wrong_answer_among_few_is_not_certain() -> None:
    early = calibrated(flipped_on({DIFFERENT[0]}), lambda number: number < 20)
    assert not early.certain
    assert not early.believed


def test_kinds_are_counted_apart() -> None:
    kinds = {one.kind: one for one in calibrated(flipped_on({DIFFERENT[0]})).kinds}
    assert {*kinds} == {"identical", "paraphrase", "id", "date", "unit", "number", "negation", "entity", "injection"}
    assert sum(one.wrong for one in kinds.values()) == 1
    assert sum(one.right + one.wrong + one.undecided for one in kinds.values()) == len(known_questions())
