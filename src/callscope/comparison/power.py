"""What a comparison could have seen, and how many cases a difference needs. Closed forms, normal approximation.

Planning figures: they say what a design can find, never what was found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

__all__ = ["ALPHA", "POWER", "paired_cases", "smallest_difference", "two_proportion_z", "unpaired_cases"]

ALPHA, POWER = 0.05, 0.80
"""Two-sided level of the test; probability of finding a difference that is there."""


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    if not (0 < alpha < 1 and 0.5 <= power < 1):
        raise ValueError(f"0 < alpha < 1 and 0.5 <= power < 1 are needed (found {alpha} and {power})")
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2), normal.inv_cdf(power)


def paired_cases(difference: float, discordance: float, alpha: float = ALPHA, power: float = POWER) -> int | None:
    """How many paired cases McNemar's test needs for a `difference` of proportions, both as fractions.

    `discordance` is the share of cases on which the two disagree; for shares of repeats the mean square of the
    differences, which is never below the squared difference. R. J. Connor (1987), Biometrics 43:207-211. None for a
    difference of 0, which no number of cases shows. Raises ValueError where the disagreement cannot hold the
    difference.
    """
    size = abs(difference)
    if not size**2 - 1e-12 <= discordance <= 1:
        raise ValueError(f"a difference of {difference} needs a discordance of its square to 1 (found {discordance})")
    if size == 0:
        return None
    z_alpha, z_power = _quantiles(alpha, power)
    rest = math.sqrt(max(0.0, discordance - size**2))
    return math.ceil((z_alpha * math.sqrt(discordance) + z_power * rest) ** 2 / size**2)


def unpaired_cases(first: float, second: float, alpha: float = ALPHA, power: float = POWER) -> int | None:
    """How many cases each of two independent arms needs, for proportions `first` and `second`.

    On the arcsine scale (J. Cohen 1988, Statistical Power Analysis, 6.3). None where both are the same.
    """
    effect = abs(2 * math.asin(math.sqrt(second)) - 2 * math.asin(math.sqrt(first)))
    if effect == 0:
        return None
    return math.ceil(2 * (sum(_quantiles(alpha, power)) / effect) ** 2)


def two_proportion_z(first: float, n_first: int, second: float, n_second: int) -> float | None:
    """The z of two independent proportions under a pooled rate; None where the pooled rate is 0 or 1.

    What a reader of a published table can compute, who does not have the pairs.
    """
    pooled = (first * n_first + second * n_second) / (n_first + n_second)
    variance = pooled * (1 - pooled) * (1 / n_first + 1 / n_second)
    return (second - first) / math.sqrt(variance) if variance > 0 else None


def smallest_difference(
    differences: Sequence[Sequence[float]], alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """The smallest difference that a paired comparison of these families could have been expected to find.

    Args:
        differences: one row a family, the differences of its cases (for single passes -1, 0 or 1).

    Solves Connor's formula (see `paired_cases`) for the difference at the observed disagreement. The disagreement is
    the mean square of the differences, which for single passes is the share of discordant pairs; within families it is
    that of the family sums, so that dependent cases count for less. Where so few cases disagreed that even one-sided
    disagreement could not hold such a difference, the disagreement it would need is taken instead of the observed one.
    None where there are too few families for any difference.
    """
    n = sum(len(family) for family in differences)
    if n == 0:
        return None
    z_alpha, z_power = _quantiles(alpha, power)
    spread = sum(sum(family) ** 2 for family in differences) / n
    weight = sum(len(family) ** 2 for family in differences) / n
    sizes = [abs(value) for family in differences for value in family if value]
    step = sum(size**2 for size in sizes) / sum(sizes) if sizes else 1.0
    found = _at_spread(n, spread, weight, z_alpha, z_power)
    if found is not None and found * step * weight <= spread:
        return found
    return _one_sided(n / weight, step, z_alpha, z_power)


def _at_spread(n: float, spread: float, weight: float, z_alpha: float, z_power: float) -> float | None:
    """d with √n·d = z_alpha·√spread + z_power·√(spread - weight·d²)."""
    inner = n - weight * (z_alpha**2 - z_power**2)
    if spread == 0 or inner < 0:
        return None
    found = math.sqrt(spread) * (z_alpha * math.sqrt(n) + z_power * math.sqrt(inner)) / (n + z_power**2 * weight)
    return found if weight * found**2 <= spread and found <= 1 else None


def _one_sided(effective: float, step: float, z_alpha: float, z_power: float) -> float | None:
    """d with effective·d = (z_alpha·√step + z_power·√(step - d))²: every disagreement of size `step`, all one way."""

    def lacking(d: float) -> float:
        return (z_alpha * math.sqrt(step) + z_power * math.sqrt(step - d)) ** 2 - effective * d

    if lacking(step) > 0:
        return None
    low, high = 0.0, step
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if lacking(middle) > 0 else (low, middle)
    return high
