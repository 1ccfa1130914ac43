"""From pairs to one difference: which estimator answers which data.

The difference is the mean over cases of (second's value - first's value); a case's value is its share of hits over the
repeats that have a value, so that a case counts once however often it was tried.

| data                                           | p value                | interval                                  |
|------------------------------------------------|------------------------|-------------------------------------------|
| every value 0 or 1, one case a family          | exact McNemar          | Newcombe, method 10                       |
| shares of repeats, or several cases a family   | sign flips of families | bootstrap over families                   |
|  … and all families say the same, or one only  | sign flips of families | Newcombe, a family counted as one pair    |

Sign flips of families are exact McNemar where the first row's data is put to them. McNemar itself needs one answer a
case and independent cases; beside the second row's figures it is given on the first repeat of each case that has a
value: one of the answers as they came, where a majority would be another quantity than the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from msgspec import Struct

from callscope.comparison.paired import Interval, Table, bootstrap, mcnemar, newcombe, sign_flip
from callscope.comparison.pairing import Pair
from callscope.comparison.power import ALPHA, paired_cases, smallest_difference, two_proportion_z, unpaired_cases

__all__ = ["Difference", "McNemar", "Needed", "by_family", "estimate"]


class McNemar(Struct, frozen=True):
    """The exact test on one answer a case: discordant counts and p; `repeat` says which answer was taken."""

    only_first: int
    only_second: int
    p: float
    repeat: Literal["only", "first"]


class Needed(Struct, frozen=True):
    """Independent cases that a difference as large as the observed one needs at 80 % power: paired, at the observed
    disagreement, and unpaired, in each arm; None where there is no difference."""

    paired: int | None
    unpaired_each: int | None


class Difference(Struct, frozen=True):
    """How two units differ on the cases both were observed on. Rates and differences are fractions.

    `discordance` is the mean square of the differences: for single answers the share of cases on which the two
    disagree. `smallest` is the smallest difference this comparison could be expected to find (80 % power, two-sided
    5 %), `smallest_in_family` that at the level left to one of its family of tests (5 % over their number, the first
    step of Holm's correction); `unpaired_z` is what the two rates alone would say.
    """

    pairs: int
    families: int
    first: float
    second: float
    difference: float
    interval: Interval
    interval_by: Literal["newcombe", "family_bootstrap", "newcombe_of_families"]
    p: float
    p_by: Literal["mcnemar", "sign_flip", "sign_flip_sampled"]
    mcnemar: McNemar
    better: int
    worse: int
    discordance: float
    smallest: float | None
    smallest_in_family: float | None
    needed: Needed
    unpaired_z: float | None


def by_family(pairs: Sequence[Pair]) -> list[list[tuple[Fraction, Fraction]]]:
    """(first, second) values of the cases, grouped by family; families and cases sorted by name."""
    families: dict[str, list[tuple[str, Fraction, Fraction]]] = {}
    for pair in pairs:
        families.setdefault(pair.family, []).append((pair.case_id, pair.first.share, pair.second.share))
    return [[(one, other) for _, one, other in sorted(families[name])] for name in sorted(families)]


def estimate(pairs: Sequence[Pair], seed: int = 0, tests: int = 1) -> Difference | None:
    """The difference over some pairs; None where there is none. The same pairs in any order give the same result.

    `tests` is how many tests the family has that this one belongs to.
    """
    if not pairs:
        return None
    families = by_family(pairs)
    values = [value for family in families for value in family]
    n = len(values)
    first, second = sum(one for one, _ in values) / Fraction(n), sum(other for _, other in values) / Fraction(n)
    differences = [[other - one for one, other in family] for family in families]
    flat = [value for family in differences for value in family]
    plain = [[float(value) for value in family] for family in differences]
    discordance = sum(value**2 for value in flat) / Fraction(n)
    single = all(value in (0, 1) for pair in values for value in pair)
    tested = _mcnemar(pairs, single=single)
    interval: Interval | None
    if single and len(families) == n:
        p, p_by = tested.p, "mcnemar"
        interval, interval_by = newcombe(_table(families)), "newcombe"
    else:
        sums = [sum(family, Fraction(0)) for family in differences]
        flips = sign_flip(sums, seed)
        p, p_by = flips.p, "sign_flip" if flips.exact else "sign_flip_sampled"
        interval, interval_by = bootstrap(sums, [len(family) for family in families], seed), "family_bootstrap"
        if interval is None:
            interval, interval_by = newcombe(_table(families)), "newcombe_of_families"
    return Difference(
        pairs=n,
        families=len(families),
        first=float(first),
        second=float(second),
        difference=float(second - first),
        interval=interval,
        interval_by=interval_by,  # type: ignore[arg-type]
        p=p,
        p_by=p_by,  # type: ignore[arg-type]
        mcnemar=tested,
        better=sum(value > 0 for value in flat),
        worse=sum(value < 0 for value in flat),
        discordance=float(discordance),
        smallest=smallest_difference(plain),
        smallest_in_family=smallest_difference(plain, alpha=ALPHA / tests),
        needed=Needed(
            paired_cases(float(second - first), float(discordance)),
            unpaired_cases(float(first), float(second)),
        ),
        unpaired_z=two_proportion_z(float(first), n, float(second), n),
    )


def _mcnemar(pairs: Sequence[Pair], *, single: bool) -> McNemar:
    only_first = sum(pair.first.first and not pair.second.first for pair in pairs)
    only_second = sum(pair.second.first and not pair.first.first for pair in pairs)
    return McNemar(only_first, only_second, mcnemar(only_first, only_second), "only" if single else "first")


def _table(families: Sequence[Sequence[tuple[Fraction, Fraction]]]) -> Table:
    """A family as one pair: its means, overlapping as far as they can."""
    cells = [Fraction(0)] * 4
    for family in families:
        one = sum(value for value, _ in family) / Fraction(len(family))
        other = sum(value for _, value in family) / Fraction(len(family))
        both = min(one, other)
        for place, part in enumerate((both, one - both, other - both, 1 - max(one, other))):
            cells[place] += part
    return Table(*(float(cell) for cell in cells))
