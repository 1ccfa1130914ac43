"""Families of tests: p values adjusted for how many questions were asked at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from callscope.comparison.libraries import scipy_stats

__all__ = ["CORRECTIONS", "Correction", "adjusted", "benjamini_hochberg", "holm"]

Correction = Literal["holm", "bh"]

CORRECTIONS: dict[Correction, str] = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
"""Name on the command line -> the name in words."""


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p values, in the order given: no false claim in the family with the stated confidence.

    S. Holm (1979), Scandinavian Journal of Statistics 6:65-70.
    """
    count, highest = len(p_values), 0.0
    found = [0.0] * count
    for place, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (count - place) * p_values[index]))
        found[index] = highest
    return tuple(found)


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p values, in the order given: bounds the expected share of false claims among the claims.

    Y. Benjamini and Y. Hochberg (1995), J. Royal Statistical Society B 57:289-300.
    """
    return tuple(float(p) for p in scipy_stats().false_discovery_control(p_values, method="bh")) if p_values else ()


def adjusted(p_values: Sequence[float], correction: Correction) -> tuple[float, ...]:
    """The p values of one declared family under a correction."""
    return holm(p_values) if correction == "holm" else benjamini_hochberg(p_values)
