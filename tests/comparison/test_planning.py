"""Corrections, power, repeats and ranks: against oracles, by enumeration, by simulation, by published figures."""

from __future__ import annotations

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callscope.comparison.corrections import adjusted, benjamini_hochberg, holm
from callscope.comparison.power import paired_cases, smallest_difference, two_proportion_z, unpaired_cases
from callscope.comparison.ranks import rank_stability
from callscope.comparison.repeats import ks_of, pass_at, pass_hat

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import NormalIndPower
    from statsmodels.stats.proportion import proportion_effectsize, proportions_ztest

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P_VALUES)
def test_corrections_are_those_of_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1], abs=1e-12)
    assert benjamini_hochberg(p_values) == pytest.approx(multipletests(p_values, method="fdr_bh")[1], abs=1e-12)


@given(P_VALUES)
def test_adjusting_never_lowers_a_p_value_and_keeps_the_order(p_values: list[float]) -> None:
    for correction in ("holm", "bh"):
        found = adjusted(p_values, correction)
        assert all(after >= before - 1e-12 for before, after in zip(p_values, found, strict=True))
        ranked = [after for _, after in sorted(zip(p_values, found, strict=True))]
        assert ranked == pytest.approx(sorted(ranked))
    assert all(a <= b + 1e-12 for a, b in zip(adjusted(p_values, "bh"), adjusted(p_values, "holm"), strict=True))


def test_an_empty_family_has_nothing_to_adjust() -> None:
    assert adjusted([], "holm") == adjusted([], "bh") == ()


# --------------------------------------------------------------------------------------------------------------- power


@pytest.mark.parametrize(("difference", "cases"), [(0.03, 1306), (0.05, 469), (-0.05, 469)])
def test_paired_cases_for_a_difference_at_15_percent_discordance(difference: float, cases: int) -> None:
    assert paired_cases(difference, 0.15) == cases


@pytest.mark.parametrize(("first", "second", "cases"), [(0.171, 0.120, 746), (0.397, 0.111, 34), (0.64, 0.27, 28)])
def test_unpaired_cases_each_arm_are_those_of_statsmodels(first: float, second: float, cases: int) -> None:
    effect = proportion_effectsize(first, second)
    assert math.ceil(NormalIndPower().solve_power(effect, alpha=0.05, power=0.8)) == cases
    assert unpaired_cases(first, second) == unpaired_cases(second, first) == cases


def test_no_number_of_cases_shows_no_difference() -> None:
    assert paired_cases(0.0, 0.2) is None
    assert unpaired_cases(0.4, 0.4) is None


def test_impossible_designs_are_refused() -> None:
    with pytest.raises(ValueError, match="discordance"):
        paired_cases(0.5, 0.1)
    with pytest.raises(ValueError, match="alpha"):
        paired_cases(0.1, 0.2, alpha=0)


def test_the_published_gap_is_established_in_recall_and_not_in_accuracy() -> None:
    # the document's Claude and Gemini: Recall 67.60 and 64.96 of 2,500, Accuracy 68.17 and 67.78 of 3,000
    recall, accuracy = two_proportion_z(0.6496, 2500, 0.6760, 2500), two_proportion_z(0.6778, 3000, 0.6817, 3000)
    assert recall == pytest.approx(1.98, abs=0.01)
    assert accuracy == pytest.approx(0.32, abs=0.005)
    oracle = proportions_ztest([1690, 1624], [2500, 2500])[0]
    assert recall == pytest.approx(oracle, abs=1e-9)
    assert two_proportion_z(1.0, 5, 1.0, 7) is None


@given(st.integers(200, 3000), st.floats(0.02, 0.5))
def test_the_smallest_difference_is_the_one_that_needs_these_cases(n: int, discordance: float) -> None:
    discordant = round(n * discordance)
    rows = [[1.0]] * (discordant // 2) + [[-1.0]] * (discordant - discordant // 2) + [[0.0]] * (n - discordant)
    found = smallest_difference(rows)
    assert found is not None
    needed = paired_cases(found, max(discordant / n, found))
    assert needed is not None
    assert abs(needed - n) <= 1


def test_a_difference_of_the_smallest_size_is_found_about_four_times_in_five() -> None:
    n, discordance = 500, 0.2
    found = smallest_difference([[1.0]] * 50 + [[-1.0]] * 50 + [[0.0]] * 400)
    assert found is not None
    random_ = np.random.default_rng(4)
    chances = [(discordance + found) / 2, (discordance - found) / 2, 1 - discordance]
    drawn = random_.multinomial(n, chances, size=20_000)
    z = (drawn[:, 0] - drawn[:, 1]) / np.sqrt(drawn[:, 0] + drawn[:, 1])
    assert (np.abs(z) > 1.96).mean() == pytest.approx(0.8, abs=0.02)


def test_families_that_move_together_see_less() -> None:
    alone = [[1.0], [-1.0], [0.0], [0.0]] * 50
    together = [[1.0] * 4, [-1.0] * 4, [0.0] * 4, [0.0] * 4] * 50
    one, other = smallest_difference(alone), smallest_difference(together)
    assert one is not None
    assert other is not None
    assert other == pytest.approx(one, rel=0.02)
    assert smallest_difference([[value] for family in together for value in family]) == pytest.approx(one / 2, rel=0.03)


def test_without_any_disagreement_the_size_that_would_show_is_still_stated() -> None:
    found = smallest_difference([[0.0]] * 100)
    assert found is not None
    assert found == pytest.approx(0.075, abs=0.004)
    assert smallest_difference([[0.0]] * 3) is None
    assert smallest_difference([]) is None


def test_a_stricter_level_sees_less() -> None:
    rows = [[1.0], [-1.0], [0.0], [0.0]] * 40
    loose, strict = smallest_difference(rows), smallest_difference(rows, alpha=0.05 / 10)
    assert loose is not None
    assert strict is not None
    assert strict > loose


# ------------------------------------------------------------------------------------------------------------- repeats


@settings(max_examples=60)
@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_both_are_the_share_of_choices_of_k_tries(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    chosen = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at(n, c, k) == Fraction(sum(any(each) for each in chosen), len(chosen))
    assert pass_hat(n, c, k) == Fraction(sum(all(each) for each in chosen), len(chosen))
    assert pass_hat(n, c, k) <= Fraction(c, n) <= pass_at(n, c, k)
    assert pass_at(n, c, 1) == pass_hat(n, c, 1) == Fraction(c, n)
    assert pass_hat(n, c, k) == 1 - pass_at(n, n - c, k)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, 1, 4), (3, -1, 1), (3, 1, 0)])
def test_impossible_repeats_are_refused(n: int, c: int, k: int) -> None:
    for estimate in (pass_at, pass_hat):
        with pytest.raises(ValueError, match="tries"):
            estimate(n, c, k)


def test_the_columns_end_with_the_tries() -> None:
    assert ks_of([1, 3]) == (1, 2, 3)
    assert ks_of([30]) == (*range(1, 11), 16, 25)
    assert ks_of([]) == ()


# --------------------------------------------------------------------------------------------------------------- ranks


def test_a_clear_order_is_stable_and_a_tie_is_shared() -> None:
    found = rank_stability([[1, 0, 0]] * 30 + [[1, 1, 1]] * 10)
    assert found is not None
    assert [each.rank for each in found.ranks] == [1, 2.5, 2.5]
    assert [each.first for each in found.ranks] == [1, 0, 0]
    assert found.same_order == 1.0


def test_a_coin_toss_is_no_order() -> None:
    found = rank_stability([[1, 0], [0, 1]] * 40 + [[1, 0]])
    assert found is not None
    assert found.ranks[0].rank == 1
    assert 0.4 < found.ranks[0].first < 0.65
    assert (found.ranks[0].low, found.ranks[0].high) == (1, 2)


@settings(max_examples=25)
@given(
    st.lists(
        st.lists(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)]), min_size=3, max_size=3),
        min_size=2,
        max_size=15,
    )
)
def test_columns_may_stand_in_any_order(rows: list[list[Fraction]]) -> None:
    found, turned = rank_stability(rows, resamples=200), rank_stability([row[::-1] for row in rows], resamples=200)
    assert found is not None
    assert turned is not None
    assert [tuple(each) for each in turned.ranks[::-1]] == [pytest.approx(tuple(each)) for each in found.ranks]
    assert sum(each.first for each in found.ranks) == pytest.approx(1)
    assert sum(each.rank for each in found.ranks) == 6


def test_nothing_to_rank_is_nothing() -> None:
    assert rank_stability([[1, 0]]) is None
    assert rank_stability([[1], [0]]) is None
