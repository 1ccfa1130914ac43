"""Sensitivity, specificity and corrected rates: by hand, against other implementations, and against a known truth."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from callscope.audit.calibration import Calibration, calibrate, corrected_rate
from callscope.audit.confusion import Confusion, confusion
from callscope.errors import InputError
from callscope.scoring.statistics import wilson

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from sklearn.metrics import recall_score

CORRECT = ("correct",)
COUNTS = st.fixed_dictionaries(
    {
        judge: st.fixed_dictionaries({human: st.integers(0, 40) for human in ("correct", "wrong")})
        for judge in ("correct", "missed", "parameter")
    }
)


def matrix(counts: Mapping[str, Mapping[str, int]]) -> Confusion:
    """The confusion of an audit with these counts, judge's class -> human class -> items."""
    cells = [(judge, human) for judge, row in counts.items() for human, count in row.items() for _ in range(count)]
    return confusion(
        {str(n): judge for n, (judge, _) in enumerate(cells)}, {str(n): human for n, (_, human) in enumerate(cells)}
    )


def simple(tp: int, fn: int, fp: int, tn: int) -> Calibration:
    return calibrate(matrix({"correct": {"correct": tp, "wrong": fp}, "wrong": {"correct": fn, "wrong": tn}}), CORRECT)


def test_sensitivity_and_specificity_are_counted_with_wilson_intervals() -> None:
    found = simple(tp=90, fn=10, fp=4, tn=46)
    assert (found.sensitivity.k, found.sensitivity.n, found.specificity.k, found.specificity.n) == (90, 100, 46, 50)
    assert (found.sensitivity.low, found.sensitivity.high) == wilson(0.9, 100)
    assert (found.specificity.low, found.specificity.high) == wilson(0.92, 50)
    assert not found.weighted


@given(COUNTS)
def test_they_are_scikit_learns_recall_of_either_class(counts: dict[str, dict[str, int]]) -> None:
    cells = [(judge, human) for judge, row in counts.items() for human, n in row.items() for _ in range(n)]
    assume({human for _, human in cells} == {"correct", "wrong"})
    judged, human = ([one == "correct" for one in column] for column in zip(*cells, strict=True))
    found = calibrate(matrix(counts), CORRECT)
    assert found.sensitivity.value == pytest.approx(recall_score(human, judged, zero_division=0))
    assert found.specificity.value == pytest.approx(recall_score(human, judged, pos_label=False, zero_division=0))


def test_an_audit_by_quota_is_weighted_back_to_the_run() -> None:
    """Of 1000 verdicts 800 are "correct" (90 of 100 confirmed) and 200 "missed" (10 of 50 truly correct).

    Truly correct: 720 found and 40 not; truly wrong: 160 found and 80 not. The raw counts would say 90/100 and 40/50.
    """
    audit = matrix({"correct": {"correct": 90, "wrong": 10}, "missed": {"correct": 10, "wrong": 40}})
    raw = calibrate(audit, CORRECT)
    weighted = calibrate(audit, CORRECT, population={"correct": 800, "missed": 200})
    assert (raw.sensitivity.value, raw.specificity.value) == (0.9, 0.8)
    assert weighted.sensitivity.value == pytest.approx(720 / 760)
    assert weighted.specificity.value == pytest.approx(160 / 240)
    assert weighted.weighted


@given(COUNTS)
def test_weights_that_are_the_audits_own_shares_change_no_value(counts: dict[str, dict[str, int]]) -> None:
    population = {judge: sum(row.values()) for judge, row in counts.items()}
    assume(sum(population.values()) > 0)
    raw = calibrate(matrix(counts), CORRECT)
    weighted = calibrate(matrix(counts), CORRECT, population=population)
    for one, other in ((raw.sensitivity, weighted.sensitivity), (raw.specificity, weighted.specificity)):
        assert (one.value is None) == (other.value is None)
        assert one.value is None or one.value == pytest.approx(other.value)


@given(COUNTS, st.tuples(st.integers(1, 900), st.integers(1, 900), st.integers(1, 900)))
def test_correcting_the_audited_runs_own_rate_gives_the_weighted_share_people_confirmed(
    counts: dict[str, dict[str, int]], sizes: tuple[int, int, int]
) -> None:
    assume(all(sum(row.values()) for row in counts.values()))
    population = dict(zip(counts, sizes, strict=True))
    calibration = calibrate(matrix(counts), CORRECT, population=population)
    found = corrected_rate(population["correct"], sum(sizes), calibration)
    assume(found.unclipped is not None and calibration.sensitivity.value and calibration.specificity.value)
    assume(calibration.sensitivity.value + calibration.specificity.value > 1.01)
    truth = sum(population[judge] * row["correct"] / sum(row.values()) for judge, row in counts.items()) / sum(sizes)
    assert found.unclipped == pytest.approx(truth)
    assert found.corrected.value == pytest.approx(truth)


def test_the_delta_variances_are_those_of_a_numerical_derivative() -> None:
    audit = {"correct": {"correct": 90, "wrong": 10}, "missed": {"correct": 10, "wrong": 40}}
    spread = calibrate(matrix(audit), CORRECT, population={"correct": 800, "missed": 200}).spread
    shares, weights, sizes = np.array([91 / 102, 11 / 52]), np.array([0.8, 0.2]), np.array([102, 52])

    def both(p: np.ndarray) -> np.ndarray:
        found, cleared = weights * p, weights * (1 - p)
        return np.array([found[0] / found.sum(), cleared[1] / cleared.sum()])

    slope = np.array([(both(shares + step) - both(shares - step)) / 2e-6 for step in np.eye(2) * 1e-6]).T
    expected = slope @ np.diag(shares * (1 - shares) / sizes) @ slope.T
    assert spread is not None
    assert [spread.sensitivity, spread.specificity, spread.covariance] == pytest.approx(
        [expected[0, 0], expected[1, 1], expected[0, 1]], rel=1e-6
    )


def test_the_weighted_interval_is_the_delta_method_with_the_covariance_of_the_two() -> None:
    audit = {"correct": {"correct": 90, "wrong": 10}, "missed": {"correct": 10, "wrong": 40}}
    calibration = calibrate(matrix(audit), CORRECT, population={"correct": 800, "missed": 200})
    found, spread, k, n = corrected_rate(1300, 2000, calibration).corrected, calibration.spread, 1300, 2000
    assert spread is not None
    at = np.array([k / n, calibration.sensitivity.value, calibration.specificity.value], dtype=float)

    def point(v: np.ndarray) -> float:
        return float((v[0] + v[2] - 1) / (v[1] + v[2] - 1))

    slope = np.array([(point(at + step) - point(at - step)) / 2e-6 for step in np.eye(3) * 1e-6])
    z = float(stats.norm.ppf(0.975))
    share, size = (k + z**2 / 2) / (n + z**2), n + z**2
    moved = np.zeros((3, 3))
    moved[0, 0] = share * (1 - share) / size
    moved[1:, 1:] = [[spread.sensitivity, spread.covariance], [spread.covariance, spread.specificity]]
    half = z * math.sqrt(slope @ moved @ slope)
    assert (found.low, found.high) == pytest.approx((point(at) - half, point(at) + half), rel=1e-6)
    assert (found.method, found.value) == ("delta", pytest.approx(point(at)))


def lang_reiczigel(tp: int, fn: int, fp: int, tn: int, k: int, n: int, confidence: float) -> tuple[float, float]:
    """Written in the notation of Lee et al. (arXiv:2511.21140): q1, q0 of m1, m0 calibration items, p of n tested."""
    z = float(stats.norm.ppf(0.5 + confidence / 2))
    m1, m0, total = tp + fn + 2, fp + tn + 2, n + z**2
    q1, q0, p = (tp + 1) / m1, (tn + 1) / m0, (k + z**2 / 2) / total
    theta = (p + q0 - 1) / (q0 + q1 - 1)
    shift = 2 * z**2 * (-(1 - theta) * q0 * (1 - q0) / m0 + theta * q1 * (1 - q1) / m1)
    terms = [p * (1 - p) / total, (1 - theta) ** 2 * q0 * (1 - q0) / m0, theta**2 * q1 * (1 - q1) / m1]
    half = z * math.sqrt(sum(terms)) / (q0 + q1 - 1)
    return max(0.0, theta + shift - half), min(1.0, theta + shift + half)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    ("tp", "fn", "fp", "tn", "k", "n"),
    [(90, 10, 4, 46, 1690, 2500), (197, 17, 3, 321, 83, 862), (88, 1, 2, 132, 30, 263), (60, 40, 30, 70, 500, 1000)],
)
def test_the_interval_of_counted_estimates_is_lang_and_reiczigels(
    tp: int, fn: int, fp: int, tn: int, k: int, n: int, confidence: float
) -> None:
    found = corrected_rate(k, n, simple(tp, fn, fp, tn), confidence).corrected
    assert found.value == pytest.approx((k / n + tn / (tn + fp) - 1) / (tp / (tp + fn) + tn / (tn + fp) - 1))
    assert (found.low, found.high) == pytest.approx(lang_reiczigel(tp, fn, fp, tn, k, n, confidence), abs=1e-12)
    assert (found.method, found.confidence) == ("Lang-Reiczigel", confidence)


def test_the_correction_widens_the_interval_and_a_smaller_audit_widens_it_more() -> None:
    large, small = (corrected_rate(1690, 2500, simple(9 * n, n, n, 9 * n)) for n in (100, 5))
    widths = [(one.high or 0) - (one.low or 0) for one in (large.apparent, large.corrected, small.corrected)]
    assert widths == sorted(widths)
    assert widths[2] > 3 * widths[0]


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (
            (50, 50, 50, 50),
            "undefined: sensitivity + specificity is 1.0000, no more than the 1 of a judge that guesses",
        ),
        (
            (10, 90, 60, 40),
            "undefined: sensitivity + specificity is 0.5000, no more than the 1 of a judge that guesses",
        ),
        ((0, 0, 3, 40), "undefined: the sensitivity is undefined (people found no positive item)"),
        ((9, 1, 0, 0), "undefined: the specificity is undefined (people found no negative item)"),
    ],
)
def test_a_judge_that_tells_nothing_apart_corrects_nothing(cells: tuple[int, int, int, int], reason: str) -> None:
    found = corrected_rate(30, 100, simple(*cells))
    assert (found.corrected.value, found.corrected.low, found.unclipped) == (None, None, None)
    assert found.corrected.reason == reason
    assert found.apparent.value == 0.3


def test_no_trials_have_no_rate_to_correct() -> None:
    found = corrected_rate(0, 0, simple(9, 1, 1, 9)).corrected
    assert found.reason == "undefined: the rate is undefined (the judge judged no trial)"


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (99, 1.0)])
def test_a_rate_beyond_what_the_judges_errors_allow_is_clipped_and_says_so(k: int, value: float) -> None:
    found = corrected_rate(k, 100, simple(90, 10, 10, 90))
    assert found.corrected.value == value
    assert found.unclipped is not None
    assert not 0 <= found.unclipped <= 1
    assert found.corrected.note == f"clipped to {value:g}: the formula gives {found.unclipped:.4f}"
    assert (found.corrected.low or 0) <= value <= (found.corrected.high or 0)


def test_an_audit_too_small_to_show_a_better_than_guessing_judge_leaves_the_rate_open() -> None:
    found = corrected_rate(60, 100, simple(3, 2, 2, 3)).corrected
    assert found.value is not None
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.note.endswith("the audit does not show that this judge is better than guessing; nothing is known")


def test_whether_a_weighted_judge_beats_guessing_counts_how_its_two_errors_move_together() -> None:
    """7 of 10 confirmed against 4 of 10: the sum is 1.303; 1.96 errors are .388 with covariance, .284 without."""
    audit = matrix({"correct": {"correct": 7, "wrong": 3}, "missed": {"correct": 4, "wrong": 6}})
    found = corrected_rate(500, 1000, calibrate(audit, CORRECT, population={"correct": 500, "missed": 500})).corrected
    assert (found.low, found.high, found.method) == (0.0, 1.0, "delta")


def test_a_class_of_the_run_that_nobody_audited_leaves_the_judge_unmeasured() -> None:
    audit = matrix({"correct": {"correct": 9, "wrong": 1}, "missed": {"correct": 1, "wrong": 9}})
    found = calibrate(audit, CORRECT, population={"correct": 50, "missed": 40, "spurious": 10})
    assert found.sensitivity.reason == "undefined: no audited item is one that the judge called 'spurious'"
    assert found.specificity.value is None
    assert calibrate(audit, CORRECT, population={"correct": 0, "missed": 0}).sensitivity.value is None


def test_abstentions_are_left_out_or_read_as_not_positive() -> None:
    counts = {
        "correct": {"correct": 40, "wrong": 5},
        "missed": {"correct": 5, "wrong": 40},
        "judge_failure": {"correct": 15, "wrong": 15},
    }
    apart = calibrate(matrix(counts), CORRECT)
    negative = calibrate(matrix(counts), CORRECT, abstentions="negative")
    assert (apart.sensitivity.k, apart.sensitivity.n) == (40, 45)
    assert (negative.sensitivity.k, negative.sensitivity.n) == (40, 60)
    assert (negative.specificity.k, negative.specificity.n) == (55, 60)
    assert calibrate(matrix(counts), ["correct", "judge_failure"], abstentions="negative").sensitivity.k == 40
    run = {"correct": 450, "missed": 450, "judge_failure": 300}
    assert calibrate(matrix(counts), CORRECT, population=run).sensitivity.value == pytest.approx(40 / 45)
    weighted = calibrate(matrix(counts), CORRECT, population=run, abstentions="negative")
    assert weighted.sensitivity.value == pytest.approx(400 / 600)


def test_silence_that_was_not_audited_matters_only_where_it_counts_as_negative() -> None:
    audit = matrix({"correct": {"correct": 9, "wrong": 1}, "missed": {"correct": 1, "wrong": 9}})
    run = {"correct": 50, "missed": 40, "judge_failure": 10}
    assert calibrate(audit, CORRECT, population=run).sensitivity.value is not None
    assert calibrate(audit, CORRECT, population=run, abstentions="negative").sensitivity.value is None


def test_a_judge_with_one_verdict_has_shares_that_its_design_fixes() -> None:
    found = calibrate(matrix({"correct": {"correct": 30, "wrong": 20}}), CORRECT, population={"correct": 100})
    assert (found.sensitivity.value, found.specificity.value) == (1.0, 0.0)
    assert found.sensitivity.low is None
    assert found.sensitivity.note.startswith("no interval: the judge gave one kind of verdict only")
    assert corrected_rate(100, 100, found).corrected.value is None


@given(
    COUNTS,
    st.one_of(st.none(), st.tuples(st.integers(0, 900), st.integers(0, 900), st.integers(0, 900))),
    st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
)
def test_every_corrected_rate_is_within_its_bounds_or_undefined_with_a_reason(
    counts: dict[str, dict[str, int]], sizes: tuple[int, int, int] | None, rate: tuple[int, int]
) -> None:
    population = None if sizes is None else dict(zip(counts, sizes, strict=True))
    calibration = calibrate(matrix(counts), CORRECT, population=population)
    found = corrected_rate(*rate, calibration)
    for one in (found.corrected, found.sensitivity, found.specificity):
        assert (one.value is None) == one.reason.startswith("undefined: ")
        assert one.value is not None or (one.low, one.high) == (None, None)
        if one.value is not None and one.low is not None and one.high is not None:
            assert 0 <= one.low <= one.value <= one.high <= 1
    assert found.corrected.value is None or found.corrected.low is not None


@pytest.mark.parametrize("design", ["quota", "random"])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(design: str) -> None:
    """A run of 1500 with 70 % truly correct; a judge with sensitivity .95 and specificity .90; 300 audits of 150."""
    chance = np.random.default_rng(20260725)
    truth, n, times = 0.7, 1500, 300

    def run() -> np.ndarray:
        good = int(chance.binomial(n, truth))
        return np.array([chance.multinomial(good, [0.95, 0.05]), chance.multinomial(n - good, [0.10, 0.90])])

    held = 0
    for _ in range(times):
        audited, scored = run(), run()
        if design == "quota":
            drawn = np.array([chance.multivariate_hypergeometric(audited[:, judge], 75) for judge in (0, 1)])
            population = {"correct": int(audited[:, 0].sum()), "missed": int(audited[:, 1].sum())}
        else:
            drawn = chance.multivariate_hypergeometric(audited.T.ravel(), 150).reshape(2, 2)
            population = None
        counts = {
            judge: {"correct": int(row[0]), "wrong": int(row[1])}
            for judge, row in zip(("correct", "missed"), drawn, strict=True)
        }
        calibration = calibrate(matrix(counts), CORRECT, population=population)
        found = corrected_rate(int(scored[:, 0].sum()), n, calibration).corrected
        held += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert 0.92 <= held / times <= 0.995


@pytest.mark.parametrize(
    ("population", "message"),
    [
        ({"correct": -1, "wrong": 1}, "population.correct: no such population (found -1; expected a count or share,"),
        ({"correct": math.inf, "wrong": 1}, "population.correct: no such population (found inf;"),
        ({"correct": math.nan, "wrong": 1}, "population.correct: no such population (found nan;"),
        ({"correct": 1}, "population: the population says nothing of this class of the judge (found wrong)"),
    ],
)
def test_an_impossible_population_is_refused(population: dict[str, float], message: str) -> None:
    audit = matrix({"correct": {"correct": 9, "wrong": 1}, "wrong": {"correct": 1, "wrong": 9}})
    with pytest.raises(InputError, match=re.escape(message)):
        calibrate(audit, CORRECT, population=population)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    with pytest.raises(InputError, match=re.escape(f"rate: a rate needs 0 <= k <= n (found {k} of {n})")):
        corrected_rate(k, n, simple(9, 1, 1, 9))
