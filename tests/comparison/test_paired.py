"""Estimators for pairs against independent ones; statsmodels and scipy are oracles here."""

from __future__ import annotations

import itertools
import random
import warnings
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callscope.comparison import paired
from callscope.comparison.paired import Table, bootstrap, cochran_q, mcnemar, newcombe, sign_flip

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from statsmodels.stats.contingency_tables import cochrans_q
    from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

CELLS = st.tuples(*[st.integers(0, 60)] * 4).filter(lambda cells: sum(cells) > 0)
SHARES = st.sampled_from([Fraction(k, n) for n in (1, 2, 3, 5) for k in range(-n, n + 1)])


@given(CELLS)
def test_mcnemar_is_the_exact_test_of_statsmodels(cells: tuple[int, int, int, int]) -> None:
    both, first, second, neither = cells
    expected = statsmodels_mcnemar([[both, first], [second, neither]], exact=True).pvalue
    assert mcnemar(first, second) == pytest.approx(1.0 if first + second == 0 else expected, abs=1e-12)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="not negative"):
        mcnemar(-1, 3)
    for cells in (Table(0, 0, 0, 0), Table(1, -1, 2, 3)):
        with pytest.raises(ValueError, match="at least one pair"):
            newcombe(cells)


# Worked out by others for first minus second; ours is second minus first. Newcombe (1998), Statist. Med. 17:2635-2650;
# Altman et al. (2000), Statistics with Confidence, p. 52; Fagerland, Lydersen and Laake (2017), chapter 8.
@pytest.mark.parametrize(
    ("cells", "low", "high"),
    [
        ((36, 12, 2, 0), 0.0569, 0.3404),
        ((20, 12, 2, 16), 0.0562, 0.3292),
        ((54, 0, 0, 0), -0.0664, 0.0664),
        ((59, 6, 16, 80), -0.1186, -0.0046),
    ],
)
def test_newcombe_gives_the_published_limits(cells: tuple[int, ...], low: float, high: float) -> None:
    both, first, second, neither = cells
    assert newcombe(Table(both, second, first, neither)) == pytest.approx((low, high), abs=5e-5)
    assert newcombe(Table(*cells)) == pytest.approx((-high, -low), abs=5e-5)


@given(CELLS, st.sampled_from([0.8, 0.95, 0.99]))
def test_newcombe_mirrors_holds_the_difference_and_stays_in_bounds(
    cells: tuple[int, int, int, int], confidence: float
) -> None:
    both, first, second, neither = cells
    low, high = newcombe(Table(*cells), confidence)
    assert -1 <= low <= (second - first) / sum(cells) <= high <= 1
    assert low < high
    assert newcombe(Table(both, second, first, neither), confidence) == pytest.approx((-high, -low), abs=1e-12)
    assert newcombe(Table(neither, first, second, both), confidence) == pytest.approx((low, high), abs=1e-9)


def test_newcombe_covers_the_truth_about_as_often_as_it_says() -> None:
    random_ = np.random.default_rng(5)
    chances, covered = [0.55, 0.15, 0.07, 0.23], 0
    for cells in random_.multinomial(80, chances, size=600):
        low, high = newcombe(Table(*map(float, cells)))
        covered += low <= chances[2] - chances[1] <= high
    assert 0.93 <= covered / 600 <= 0.98


def flips(sums: Sequence[Fraction]) -> float:
    """Every pattern of signs, one by one."""
    target = abs(sum(sums, Fraction(0)))
    patterns = list(itertools.product((1, -1), repeat=len(sums)))
    return sum(abs(sum(s * v for s, v in zip(signs, sums, strict=True))) >= target for signs in patterns) / len(
        patterns
    )


@settings(max_examples=60)
@given(st.lists(SHARES, max_size=9))
def test_the_sign_flips_are_all_counted(sums: list[Fraction]) -> None:
    found = sign_flip(sums)
    assert found.exact
    assert found.p == pytest.approx(flips(sums), abs=1e-12)
    assert sign_flip([-value for value in sums]).p == found.p
    assert sign_flip(list(reversed(sums))).p == found.p


@given(CELLS)
def test_with_single_answers_the_sign_flips_are_mcnemar(cells: tuple[int, int, int, int]) -> None:
    _, first, second, _ = cells
    sums = [Fraction(-1)] * first + [Fraction(1)] * second + [Fraction(0)] * 5
    assert sign_flip(sums).p == pytest.approx(mcnemar(first, second), abs=1e-10)


def test_too_many_patterns_are_sampled_with_a_seed_and_come_close(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    sums = [Fraction(rng.randint(-3, 5), 5) for _ in range(40)]
    exact = sign_flip(sums).p
    monkeypatch.setattr(paired, "_EXACT_WORK", 10)
    sampled = sign_flip(sums, seed=1)
    assert not sampled.exact
    assert sampled == sign_flip(sums, seed=1)
    assert sampled.p == pytest.approx(exact, abs=0.01)
    assert sign_flip([Fraction(1)] * 200).p > 0


def test_one_family_alone_establishes_nothing() -> None:
    assert sign_flip([Fraction(40)]).p == 1.0


# --------------------------------------------------------------------------------------------------------- bootstrap


def test_the_bootstrap_is_a_percentile_interval_of_families_drawn_whole() -> None:
    sums, counts = [1, -2, 0, 3, 1, Fraction(1, 2)], [2, 3, 1, 4, 1, 2]
    draws = np.random.default_rng(11).integers(0, 6, size=(10_000, 6))
    means = [float(sum(sums[i] for i in row) / sum(counts[i] for i in row)) for row in draws]
    assert bootstrap(sums, counts, seed=11) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=1e-12)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(3, 5)), min_size=2, max_size=20), st.integers(0, 9))
def test_the_bootstrap_mirrors_and_repeats(families: list[tuple[int, int]], seed: int) -> None:
    sums, counts = [s for s, _ in families], [n for _, n in families]
    found = bootstrap(sums, counts, seed, resamples=400)
    assert found == bootstrap(sums, counts, seed, resamples=400)
    mirrored = bootstrap([-s for s in sums], counts, seed, resamples=400)
    if found is None:
        assert len({Fraction(s) / n for s, n in families}) == 1
        assert mirrored is None
    else:
        assert mirrored == pytest.approx((-found.high, -found.low), abs=1e-12)
        assert min(s / n for s, n in families) <= found.low <= found.high <= max(s / n for s, n in families)


def test_the_bootstrap_does_not_depend_on_how_it_is_cut_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    sums, counts = [1, -2, 0, 3], [2, 3, 1, 4]
    whole = bootstrap(sums, counts, seed=2, resamples=50)
    monkeypatch.setattr(paired, "_CHUNK", 12)
    paired._kept_draws.cache_clear()
    assert bootstrap(sums, counts, seed=2, resamples=50) == whole
    monkeypatch.setattr(paired, "_KEPT", 0)
    assert bootstrap(sums, counts, seed=2, resamples=50) == whole


def test_families_that_all_say_the_same_give_no_bootstrap() -> None:
    assert bootstrap([0, 0, 0], [1, 2, 3]) is None
    assert bootstrap([1, 2], [1, 2]) is None
    assert bootstrap([5], [9]) is None


def test_the_bootstrap_covers_the_truth_where_families_depend() -> None:
    random_ = np.random.default_rng(8)
    covered, naive = 0, 0
    for trial in range(300):
        # a family shares one effect: its four cases go the same way
        effect = random_.choice([-1, 0, 1], size=60, p=[0.15, 0.6, 0.25])
        low, high = bootstrap([4 * int(each) for each in effect], [4] * 60, seed=trial, resamples=500) or (0, 0)
        covered += low <= 0.10 <= high
        flat = np.repeat(effect, 4)
        half = 1.96 * flat.std(ddof=1) / np.sqrt(len(flat))
        naive += abs(flat.mean() - 0.10) <= half
    assert 0.90 <= covered / 300 <= 0.985
    assert naive / 300 < 0.75


# --------------------------------------------------------------------------------------------------------- Cochran's Q


@given(st.integers(2, 5).flatmap(lambda k: st.lists(st.lists(st.integers(0, 1), min_size=k, max_size=k), min_size=1)))
def test_q_is_cochrans_of_statsmodels(rows: list[list[int]]) -> None:
    found = cochran_q(rows)
    if all(len(set(row)) == 1 for row in rows):
        assert found is None
        return
    expected = cochrans_q(np.array(rows))
    assert found is not None
    assert (found.q, found.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)


def test_q_over_families_is_not_fooled_by_repetition() -> None:
    rows = [[1, 0, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0]]
    tenfold: list[Any] = [[10 * value for value in row] for row in rows]
    once, family_sums, as_if_independent = cochran_q(rows), cochran_q(tenfold), cochran_q(rows * 10)
    assert once is not None
    assert family_sums is not None
    assert as_if_independent is not None
    assert family_sums.q == pytest.approx(once.q)
    assert as_if_independent.q == pytest.approx(10 * once.q)


def test_q_of_nothing_is_nothing() -> None:
    assert cochran_q([]) is None
    assert cochran_q([[1], [0]]) is None
