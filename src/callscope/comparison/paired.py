"""Estimators for two measured on the same cases: the test, the interval of the difference. Pure and seeded.

Every difference is second minus first. Which estimator answers which data is decided in `estimate`; nothing here
knows a run. An interval that the data cannot give is None, never NaN and never of no width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from callscope.comparison.libraries import numpy, scipy_stats
from callscope.scoring.statistics import CONFIDENCE, wilson

__all__ = [
    "RESAMPLES",
    "FlipTest",
    "Interval",
    "Omnibus",
    "Table",
    "bootstrap",
    "cochran_q",
    "mcnemar",
    "newcombe",
    "resampled_sums",
    "sign_flip",
]

RESAMPLES = 10_000
"""Bootstrap resamples of an interval."""

_FLIPS = 100_000
"""Random sign patterns where all of them are too many to add up."""

_EXACT_WORK = 400_000_000
"""Additions that the exact sign-flip distribution may cost (about a second)."""

_CHUNK = 4_000_000
"""Drawn numbers held in memory at once."""

_KEPT = 40_000_000
"""Draws of families kept for the next comparison (2 bytes each)."""


class Interval(NamedTuple):
    """A confidence interval, as fractions."""

    low: float
    high: float


class Table(NamedTuple):
    """Pairs by who passed. Fractions of a pair are allowed where a value is a share of repeats."""

    both: float
    only_first: float
    only_second: float
    neither: float


class FlipTest(NamedTuple):
    """A two-sided p value, and whether every sign pattern was counted (else a seeded sample of them)."""

    p: float
    exact: bool


class Omnibus(NamedTuple):
    """Cochran's Q, its degrees of freedom, its p value."""

    q: float
    freedom: int
    p: float


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p value of McNemar's test: discordant pairs fall either way with probability one half.

    Q. McNemar (1947), Psychometrika 12:153-157, in its binomial form. 1.0 where no pair is discordant. Raises
    ValueError for negative counts.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"counts are not negative (found {only_first} and {only_second})")
    discordant = only_first + only_second
    if discordant == 0:
        return 1.0
    return float(scipy_stats().binomtest(only_second, discordant, 0.5).pvalue)


def newcombe(table: Table, confidence: float = CONFIDENCE) -> Interval:
    """The interval of the difference of two paired proportions, second minus first.

    R. G. Newcombe (1998), Statistics in Medicine 17:2635-2650, method 10: Wilson limits of each proportion, joined with
    the correlation phi, whose numerator is corrected for continuity where it is positive. Raises ValueError where the
    table is empty or has a negative cell.
    """
    both, first, second, neither = table
    n = both + first + second + neither
    if n <= 0 or min(table) < 0:
        raise ValueError(f"a table has cells of 0 or more and at least one pair (found {tuple(table)})")
    p1, p2 = min(1.0, (both + first) / n), min(1.0, (both + second) / n)
    (low1, high1), (low2, high2) = wilson(p1, n, confidence), wilson(p2, n, confidence)
    phi = _phi(table, n)

    def half(of_second: float, of_first: float) -> float:
        return math.sqrt(max(0.0, of_second**2 - 2 * phi * of_second * of_first + of_first**2))

    difference = p2 - p1
    return Interval(
        max(-1.0, difference - half(p2 - low2, high1 - p1)), min(1.0, difference + half(high2 - p2, p1 - low1))
    )


def _phi(table: Table, n: float) -> float:
    both, first, second, neither = table
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    if margins <= 0:
        return 0.0
    numerator = both * neither - first * second
    return (max(numerator - n / 2, 0.0) if numerator > 0 else numerator) / math.sqrt(margins)


def sign_flip(sums: Sequence[Fraction], seed: int = 0) -> FlipTest:
    """Whether differences summed by family lie to one side of zero: all signs of families are equally likely if not.

    The paired randomisation test (Pitman 1937, J. Royal Statistical Society Supplement 4:119-130) with the sum as its
    statistic, a family being flipped whole because its cases are not independent. With one pass or failure a case and
    one case a family it is exact McNemar. The distribution is added up exactly over a common denominator; where that
    is too much work, 100,000 seeded patterns are drawn and the observed one is counted among them (Phipson and Smyth
    2010, Statistical Applications in Genetics and Molecular Biology 9:39).
    """
    kept = [value for value in sums if value]
    if not kept:
        return FlipTest(1.0, exact=True)
    scale = math.lcm(*(value.denominator for value in kept))
    sizes = sorted(abs(int(value * scale)) for value in kept)
    shared = math.gcd(*sizes)
    sizes = [size // shared for size in sizes]
    observed = abs(int(sum(kept) * scale)) // shared
    total = sum(sizes)
    if len(sizes) * (total + 1) > _EXACT_WORK:
        return FlipTest(_drawn_p(sizes, observed, seed), exact=False)
    np = numpy()
    # chance[x]: that the flips to the positive side add up to x; the signed sum is then 2x - total
    chance = np.zeros(total + 1)
    chance[0], reached = 1.0, 0
    for size in sizes:
        chance[: reached + 1] *= 0.5
        chance[size : reached + size + 1] += chance[: reached + 1].copy()
        reached += size
    tail = (total - observed) // 2
    p = float(chance[: tail + 1].sum() + chance[total - tail :].sum())
    return FlipTest(min(1.0, p), exact=True)


def _drawn_p(sizes: Sequence[int], observed: int, seed: int) -> float:
    np = numpy()
    random, weights = np.random.default_rng(seed), np.asarray(sizes, dtype=float)
    rows = max(1, _CHUNK // len(weights))
    beyond = 0
    for start in range(0, _FLIPS, rows):
        signs = random.integers(0, 2, size=(min(rows, _FLIPS - start), len(weights)), dtype=np.int8)
        beyond += int((np.abs((2 * signs - 1) @ weights) >= observed).sum())
    return (1 + beyond) / (1 + _FLIPS)


def resampled_sums(rows: Sequence[Sequence[Fraction | int]], seed: int, resamples: int) -> Any:
    """Families drawn with replacement, as many as there are: the column sums of each resample, times one scale.

    Args:
        rows: one row a family, the same columns in each.
        seed: the same seed draws the same families, whatever stands in them.
        resamples: how many times.

    Returns a float array of shape (resamples, columns) that holds whole numbers: everything is scaled by the common
    denominator, so that no order of adding changes a sum and ties are ties. Ratios and ranks do not see the scale.
    """
    np = numpy()
    scale = math.lcm(*{value.denominator for row in rows for value in row})
    table = np.asarray([[float(value.numerator * (scale // value.denominator)) for value in row] for row in rows])
    return np.concatenate([drawn.astype(float) @ table for drawn in _draws(len(rows), seed, resamples)])


def _draws(families: int, seed: int, resamples: int) -> Iterator[Any]:
    """How often each family was drawn, one row a resample, in pieces of bounded size."""
    if families * resamples <= _KEPT:
        yield _kept_draws(families, seed, resamples)
        return
    np = numpy()
    random = np.random.default_rng(seed)
    rows = max(1, _CHUNK // families)
    for start in range(0, resamples, rows):
        yield _counted(random, families, min(rows, resamples - start))


@lru_cache(maxsize=2)
def _kept_draws(families: int, seed: int, resamples: int) -> Any:
    """The same draws serve every comparison over as many families."""
    np = numpy()
    random = np.random.default_rng(seed)
    rows = max(1, _CHUNK // families)
    return np.concatenate(
        [_counted(random, families, min(rows, resamples - start)) for start in range(0, resamples, rows)]
    )


def _counted(random: Any, families: int, rows: int) -> Any:
    np = numpy()
    drawn = random.integers(0, families, size=(rows, families))
    drawn += np.arange(rows)[:, None] * families
    return np.bincount(drawn.ravel(), minlength=rows * families).reshape(rows, families).astype(np.uint16)


def bootstrap(
    sums: Sequence[Fraction | int],
    cases: Sequence[int],
    seed: int = 0,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """The percentile interval of Σ sums / Σ cases over families drawn with replacement.

    Families are drawn whole, both measured together, so that pairing and dependence are kept (Davison and Hinkley
    1997, Bootstrap Methods and their Application, 2.4 and 3.8). None with fewer than two families, or where all
    families say the same: then the data say nothing about the spread. The order of the families is part of the
    input: give them sorted.
    """
    if all(total * cases[0] == sums[0] * count for total, count in zip(sums, cases, strict=True)):
        return None
    drawn = resampled_sums(list(zip(sums, cases, strict=True)), seed, resamples)
    tail = (1 - confidence) / 2
    low, high = numpy().quantile(drawn[:, 0] / drawn[:, 1], [tail, 1 - tail])
    return Interval(float(low), float(high))


def cochran_q(rows: Sequence[Sequence[Fraction | int]]) -> Omnibus | None:
    """Whether more than two differ at all, on the same cases: one row a family, one column each, sums of passes.

    W. G. Cochran (1950), Biometrika 37:256-266. Its derivation permutes within rows, so rows of sums over a family
    take its place where cases are not independent; with rows of 0 and 1 it is Cochran's Q itself. Chi-square with
    (columns - 1) degrees of freedom. None where no row has a difference in it, or there are fewer than two columns.
    """
    columns = len(rows[0]) if rows else 0
    if columns < 2:
        return None
    exact = [[Fraction(value) for value in row] for row in rows]
    totals = [sum(row[i] for row in exact) for i in range(columns)]
    middle = Fraction(sum(totals)) / columns
    between = sum((total - middle) ** 2 for total in totals)
    within = sum(sum((value - Fraction(sum(row)) / columns) ** 2 for value in row) for row in exact)
    if not within:
        return None
    q = float((columns - 1) * between / within)
    return Omnibus(q, columns - 1, float(scipy_stats().chi2.sf(q, columns - 1)))
