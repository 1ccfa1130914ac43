"""Rank stability: how far an order would hold in other cases of the same kind. Pure and seeded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from callscope.comparison.libraries import numpy
from callscope.comparison.paired import resampled_sums

__all__ = ["RANK_RESAMPLES", "Rank", "Ranking", "rank_stability"]

RANK_RESAMPLES = 2_000


class Rank(NamedTuple):
    """One of the ranked: its observed rank (1 is the highest rate; ties share the mean of their places), the bounds
    within which 95 % of the resamples put it, and the share of resamples in which it is first, ties divided."""

    rank: float
    low: float
    high: float
    first: float


class Ranking(NamedTuple):
    """The ranks in the order given, and the share of resamples that show the whole observed order, ties included."""

    ranks: tuple[Rank, ...]
    same_order: float
    families: int


def rank_stability(
    rows: Sequence[Sequence[Fraction | int]], seed: int = 0, resamples: int = RANK_RESAMPLES
) -> Ranking | None:
    """Ranks by their sums, and what drawing the families again with replacement makes of them.

    Args:
        rows: one row a family, sorted; one column for each of the ranked, the summed values of its cases. Which cases
            they are is the same in all columns, so sums rank as means do.

    None where there are fewer than two families or columns. The bootstrap of ranks follows Goldstein and Spiegelhalter
    (1996), J. Royal Statistical Society A 159:385-443, 3.2.
    """
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    np = numpy()
    scale = math.lcm(*{value.denominator for row in rows for value in row})
    totals = [float(sum(row[i] for row in rows) * scale) for i in range(len(rows[0]))]
    observed = _ranks(np.asarray([totals]))[0]
    drawn = _ranks(resampled_sums(rows, seed, resamples))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0, method="closest_observation")
    best = drawn == drawn.min(axis=1, keepdims=True)
    first = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    same = float((drawn == observed).all(axis=1).mean())
    ranks = tuple(
        Rank(float(observed[i]), float(low[i]), float(high[i]), float(first[i])) for i in range(len(observed))
    )
    return Ranking(ranks, same, len(rows))


def _ranks(sums: Any) -> Any:
    """Ranks along the rows, 1 for the highest, ties at the mean of their places."""
    above = (sums[:, None, :] > sums[:, :, None]).sum(axis=2)
    level = (sums[:, None, :] == sums[:, :, None]).sum(axis=2)
    return above + (level + 1) / 2
