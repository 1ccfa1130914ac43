"""Agreement against independent implementations (statsmodels, scikit-learn, krippendorff), and its invariances."""

from __future__ import annotations

import math
import random
import warnings

import numpy as np
import pytest
from agreement_kit import table
from hypothesis import given
from hypothesis import strategies as st

from callscope.audit.agreement import agreement, coefficients
from callscope.audit.ratings import Ratings, ratings_of
from callscope.audit.stratified import Estimate, Resampling, resamples

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import krippendorff
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

FEW = Resampling(draws=25)
NAMES = ("observed", "cohen", "fleiss", "alpha", "ac1", "pabak")
LABELS = st.sampled_from("abcd")


def tables(
    missing: bool, raters: tuple[int, int] = (1, 4), items: tuple[int, int] = (0, 12)
) -> st.SearchStrategy[Ratings]:
    label = st.one_of(st.none(), LABELS, LABELS) if missing else LABELS
    return st.integers(*raters).flatmap(
        lambda width: st.lists(
            st.tuples(st.sampled_from("xy"), st.tuples(*[label] * width)), min_size=items[0], max_size=items[1]
        ).map(
            lambda rows: ratings_of(
                {str(n): {f"R{r}": one for r, one in enumerate(row)} for n, (_, row) in enumerate(rows)},
                strata={str(n): stratum for n, (stratum, _) in enumerate(rows)},
                raters=[f"R{r}" for r in range(width)],
                classes="abcd",
            )
        )
    )


def codes(ratings: Ratings) -> np.ndarray:
    return np.array([["abcd".index(label) if label else np.nan for label in row] for row in ratings.rows], dtype=float)


@given(tables(missing=False, raters=(2, 2), items=(1, 30)))
def test_cohen_is_that_of_scikit_learn_and_statsmodels(ratings: Ratings) -> None:
    found = coefficients(ratings, FEW).cohen
    first, second = ([row[column] for row in ratings.rows] for column in (0, 1))
    if found.value is None:
        assert len({*first, *second}) == 1
        return
    assert found.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)
    joint = np.zeros((4, 4))
    np.add.at(joint, tuple(codes(ratings).astype(int).T), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found.value == pytest.approx(cohens_kappa(joint).kappa, abs=1e-12)


@given(tables(missing=False, raters=(2, 5), items=(1, 20)))
def test_fleiss_is_that_of_statsmodels(ratings: Ratings) -> None:
    found = coefficients(ratings, FEW).fleiss
    counts, _ = aggregate_raters(codes(ratings).astype(int), n_cat=4)
    if found.value is None:
        assert (counts.sum(0) > 0).sum() == 1
        return
    assert found.value == pytest.approx(fleiss_kappa(counts, method="fleiss"), abs=1e-12)


@given(tables(missing=True, raters=(2, 5), items=(1, 20)))
def test_alpha_is_that_of_the_krippendorff_package_with_ratings_missing(ratings: Ratings) -> None:
    found = coefficients(ratings, FEW).alpha
    paired = [row for row in codes(ratings) if np.count_nonzero(~np.isnan(row)) > 1]
    used = {label for row in paired for label in row if not math.isnan(label)}
    if found.value is None:
        assert len(used) < 2
        return
    assert found.value == pytest.approx(
        krippendorff.alpha(np.array(paired).T, level_of_measurement="nominal"), abs=1e-12
    )


@given(tables(missing=True, raters=(2, 4)))
def test_ac1_and_pabak_are_the_definitions_written_out(ratings: Ratings) -> None:
    found = coefficients(ratings, FEW)
    if found.ac1.value is None or found.pabak.value is None:
        return
    counts = [np.array([sum(label == one for label in row) for one in "abcd"]) for row in ratings.rows if any(row)]
    seen = np.mean([(n * (n - 1)).sum() / (n.sum() * (n.sum() - 1)) for n in counts if n.sum() > 1])
    shares = np.mean([n / n.sum() for n in counts], axis=0)
    chance = (shares * (1 - shares)).sum() / 3
    assert found.ac1.value == pytest.approx((seen - chance) / (1 - chance), abs=1e-12)
    assert found.pabak.value == pytest.approx((seen - 1 / 4) / (3 / 4), abs=1e-12)


@given(tables(missing=True))
def test_every_statistic_is_a_finite_number_with_bounds_or_undefined_with_a_reason(ratings: Ratings) -> None:
    found = coefficients(ratings, FEW)
    paired = [row for row in ratings.rows if sum(map(bool, row)) > 1]
    used = {label for row in paired for label in row if label}
    for name in NAMES:
        one: Estimate = getattr(found, name)
        assert (one.value is None) == one.reason.startswith("undefined: ")
        assert (one.low is None) == (one.high is None) == (one.method == "none")
        if one.value is None:
            assert one.low is None
            continue
        assert all(math.isfinite(number) and -1 <= number <= 1 for number in (one.value, one.low or 0, one.high or 0))
        assert one.low is not None or one.note.startswith("no interval: ")
        assert one.low is None or one.low <= (one.high or 0)
        assert paired
        assert len(used) > 1 or name == "observed"
        assert one.degenerate_draws <= one.draws


@given(tables(missing=True), st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_names_of_items_move_a_value_or_an_interval(
    ratings: Ratings, chance: random.Random
) -> None:
    order = list(range(len(ratings.items)))
    chance.shuffle(order)
    moved = Ratings(
        ratings.raters,
        tuple(f"item {place}" for place in order),
        tuple(ratings.rows[place] for place in order),
        tuple(ratings.strata[place] for place in order),
        ratings.classes,
    )
    assert coefficients(moved, FEW) == coefficients(ratings, FEW)


@given(tables(missing=True, raters=(2, 4)), st.permutations("abcd"), st.randoms(use_true_random=False))
def test_neither_class_names_nor_the_order_of_raters_move_a_value(
    ratings: Ratings, renamed: list[str], chance: random.Random
) -> None:
    columns = list(range(len(ratings.raters)))
    chance.shuffle(columns)
    names = dict(zip("abcd", renamed, strict=True))
    moved = Ratings(
        tuple(ratings.raters[column] for column in columns),
        ratings.items,
        tuple(tuple(names.get(row[column] or "") for column in columns) for row in ratings.rows),
        ratings.strata,
        ratings.classes,
    )
    before, after = coefficients(ratings, FEW), coefficients(moved, FEW)
    for name in NAMES:
        was, now = getattr(before, name).value, getattr(after, name).value
        assert (was is None) == (now is None)
        assert was is None or was == pytest.approx(now, abs=1e-12)


@given(tables(missing=True, raters=(3, 3)))
def test_an_item_is_open_exactly_where_two_reviewers_differ(ratings: Ratings) -> None:
    found = agreement(ratings, plan=Resampling(draws=1))
    split = [item for item, row in zip(ratings.items, ratings.rows, strict=True) if len({*row} - {None}) > 1]
    assert [one.item for one in found.adjudicate] == split
    assert found.unrated == sum(not any(row) for row in ratings.rows)
    assert found.against == ()


@given(tables(missing=True))
def test_resampling_keeps_the_size_of_every_stratum(ratings: Ratings) -> None:
    marked = [(stratum, *row) for stratum, row in zip(ratings.strata, ratings.rows, strict=True)]
    for draw in resamples(marked, ratings.strata, Resampling(draws=5)):
        for stratum in "xy":
            assert sum(n for row, n in draw.items() if row[0] == stratum) == ratings.strata.count(stratum)


def test_resampling_draws_every_row_equally_often() -> None:
    rows = [(label,) for label in "abcdefghij"]
    total = dict.fromkeys(rows, 0)
    for draw in resamples(rows, ["all"] * 10, Resampling(draws=5000)):
        for row, count in draw.items():
            total[row] += count
    # each is binomial(50 000, 1/10) with a standard deviation of 67
    assert all(abs(count - 5000) < 300 for count in total.values())


def test_a_seed_gives_the_same_interval_and_another_seed_another() -> None:
    ratings = table("aabbabab" * 5, "aabbabba" * 5)
    one, again, other = (coefficients(ratings, Resampling(seed=seed)).cohen for seed in (1, 1, 2))
    assert one == again
    assert (one.value, one.items) == (other.value, 40)
    assert (one.low, one.high) != (other.low, other.high)


def test_more_draws_of_a_seed_begin_with_the_fewer() -> None:
    rows = [("a",), ("b",), ("c",)]
    many = list(resamples(rows, ["s"] * 3, Resampling(draws=9)))
    assert many[:4] == list(resamples(rows, ["s"] * 3, Resampling(draws=4)))
