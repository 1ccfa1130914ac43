"""What a suite and experiment say beside pairs: each unit by itself, and all units on the cases they share, as data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from callscope.comparison.metrics import Metric
from callscope.comparison.paired import bootstrap, cochran_q
from callscope.comparison.pairing import GroupName, Seen, Unit
from callscope.comparison.ranks import RANK_RESAMPLES, rank_stability
from callscope.comparison.repeats import ks_of, pass_at, pass_hat
from callscope.comparison.words import omnibus_words, ranking_words
from callscope.reports.numbers import RATE_DIGITS, rate_of, rounded

__all__ = ["omnibus", "omnibus_decided", "own_rate", "ranking", "repeats", "significant"]

Shared = tuple[tuple[str, str, tuple[Seen, ...]], ...]
"""Cases that all units have values for, as `pairing.shared_cases` gives them."""


def significant(p: float | None) -> float | None:
    """A p value to six digits, however small."""
    return None if p is None else float(f"{p:.6g}")


def own_rate(unit: Unit, name: GroupName) -> dict[str, Any]:
    """A unit's own rate over all its trials, clustered by family, whatever the others observed."""
    group = unit.groups[name]
    families: dict[str, list[int]] = {}
    for case_id, seen in group.seen.items():
        pair = families.setdefault(group.cases[case_id].family or case_id, [0, 0])
        pair[0] += sum(seen.values.values())
        pair[1] += len(seen.values)
    lost: dict[str, int] = {}
    for seen in group.seen.values():
        for reason, count in seen.lost.items():
            lost[reason] = lost.get(reason, 0) + count
    trials = sum(seen.planned for seen in group.seen.values())
    return {
        "unit": unit.letter,
        "rate": rate_of((k, n) for k, n in families.values()),
        "cases": {"planned": len(group.seen), "with_value": sum(bool(seen.values) for seen in group.seen.values())},
        "trials": {
            "planned": trials,
            "without_value": dict(sorted(lost.items())),
            "not_run": trials - sum(len(s.values) + s.lost.total() for s in group.seen.values()),
        },
    }


def _by_family(cases: Shared) -> list[list[tuple[Seen, ...]]]:
    families: dict[str, list[tuple[Seen, ...]]] = {}
    for _, family, seen in cases:
        families.setdefault(family, []).append(seen)
    return [families[name] for name in sorted(families)]


def _family_sums(cases: Shared, columns: int) -> list[list[Fraction]]:
    """One row a family, one column a unit: the summed values of its cases."""
    return [
        [sum((seen[i].share for seen in family), Fraction(0)) for i in range(columns)] for family in _by_family(cases)
    ]


_ROWS, _CELLS = 4, 24
"""Rows that tell the columns apart, and cells in them, from which the chi-square distribution describes Cochran's Q (M.
W. Tate and S. M. Brown 1970, J. American Statistical Association 65:155-160). Rows without a difference add nothing to
Q, so they are not counted."""


def omnibus(cases: Shared, letters: list[str]) -> dict[str, Any] | None:
    """Whether the units differ at all; None where no case tells them apart, and no `p` where too few do.

    `telling` counts the families that tell the units apart, `telling_needed` how many make a p value. The p value
    awaits its family: `omnibus_decided` adds what is established.
    """
    rows = _family_sums(cases, len(letters))
    found = cochran_q(rows)
    if found is None:
        return None
    telling, needed = sum(len(set(row)) > 1 for row in rows), max(_ROWS, -(-_CELLS // len(letters)))
    return {
        "units": letters,
        "cases": len(cases),
        "families": len(rows),
        "telling": telling,
        "telling_needed": needed,
        "q": rounded(found.q, RATE_DIGITS),
        "freedom": found.freedom,
        "p": significant(found.p) if telling >= needed else None,
    }


def omnibus_decided(
    found: dict[str, Any], metric: Metric, adjusted_p: float | None, tests: int, *, decidable: bool
) -> dict[str, Any]:
    """A result of `omnibus` with its p value adjusted as one of `tests` such tests, and its sentence."""
    said = {**found, "adjusted_p": significant(adjusted_p), "tests": tests}
    return {**said, "says": omnibus_words(said, metric, decidable=decidable)}


def ranking(cases: Shared, letters: list[str], seed: int) -> dict[str, Any] | None:
    """The units by rate, and how far that order holds; None where there are fewer than two families."""
    rows = _family_sums(cases, len(letters))
    found = rank_stability(rows, seed)
    if found is None:
        return None
    units = [
        {
            "unit": letter,
            "rate": rounded(float(sum(row[i] for row in rows) / len(cases)), RATE_DIGITS),
            **{name: rounded(value, RATE_DIGITS) for name, value in found.ranks[i]._asdict().items()},
        }
        for i, letter in enumerate(letters)
    ]
    said = {
        "cases": len(cases),
        "families": found.families,
        "resamples": RANK_RESAMPLES,
        "same_order": rounded(found.same_order, RATE_DIGITS),
        "units": sorted(units, key=lambda each: (each["rank"], each["unit"])),
    }
    return {**said, "says": ranking_words(said)}


def repeats(cases: Shared, letters: list[str], seed: int) -> list[dict[str, Any]]:
    """pass@k and pass^k for each unit, over the shared cases with at least k repeats that have a value."""
    if not any(len(seen.values) > 1 for _, _, each in cases for seen in each):
        return []
    families = _by_family(cases)
    found = []
    for i, letter in enumerate(letters):
        for k in ks_of([len(seen[i].values) for _, _, seen in cases]):
            tried = [[seen[i] for seen in family if len(seen[i].values) >= k] for family in families]
            kept = [family for family in tried if family]
            found.append(
                {
                    "unit": letter,
                    "k": k,
                    "cases": sum(len(family) for family in kept),
                    **{
                        name: _mean(
                            [[f(len(s.values), sum(s.values.values()), k) for s in family] for family in kept], seed
                        )
                        for name, f in (("pass_at_k", pass_at), ("pass_hat_k", pass_hat))
                    },
                }
            )
    return found


def _mean(families: Sequence[Sequence[Fraction]], seed: int) -> dict[str, Any]:
    """A mean over cases with its interval over families; no interval where the families give none."""
    sums, counts = [sum(family, Fraction(0)) for family in families], [len(family) for family in families]
    interval = bootstrap(sums, counts, seed, resamples=RANK_RESAMPLES)
    return {
        "value": rounded(float(sum(sums) / sum(counts)), RATE_DIGITS),
        "low": None if interval is None else rounded(interval.low, RATE_DIGITS),
        "high": None if interval is None else rounded(interval.high, RATE_DIGITS),
    }
