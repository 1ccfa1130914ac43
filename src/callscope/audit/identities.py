"""What must hold between the figures of one row whatever the counts are: sums, bounds and mixtures, on exact fractions.

| check | must hold |
| --- | --- |
| range | every figure lies in 0..100 |
| parameter errors | temporal + missing + value = param; fewer of them known: at most param |
| outcomes | recall + miss + param + judge_failure = 100; fewer of them known: at most 100 |
| accuracy | lies between recall and 100 - over |
| levels | recall lies between the least and the greatest recall of the levels |
| mixture | recall is the mixture of the levels, give or take one case where the positives do not divide so |
| re-weighting | to_recall is the mixture of the levels at to_mix; gain is the difference, and one the levels allow |
| kappa | is at most agreement |

A row that breaks one is impossible. A row that keeps all of them is possible with some counts: each rule bounds recall
by an interval with rational ends, and any rational point of it has a common denominator. Which counts is `feasible`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from msgspec import Struct

from callscope.audit.figures import NAMED_MIXES, Bounds, Figure, Mix, percent
from callscope.audit.table_file import TableRow

__all__ = ["Check", "Levels", "gain_bounds", "identities", "levels_of", "mixture"]

Levels = tuple[Figure | None, Figure | None, Figure | None]
"""Recall of easy, medium and hard; None where it is not stated."""

_ANY: Bounds = (Fraction(0), Fraction(1))
_SHARES = (
    *("recall", "accuracy", "miss", "param", "temporal", "missing", "value", "over", "judge_failure"),
    *("easy", "medium", "hard", "to_recall", "validity", "agreement"),
)


class Check(Struct, frozen=True):
    """One step of the working: the rule, whether the row keeps it, and the sum as it was done."""

    rule: str
    holds: bool
    says: str


def levels_of(row: TableRow) -> Levels:
    """Recall of the row's levels, in the order of a mix."""
    return row.easy, row.medium, row.hard


def mixture(levels: Levels, mix: Mix, *, printed: bool = False) -> Bounds | None:
    """Recall at this mix of the levels: sum of share times recall, least and greatest.

    With `printed` the figures count as exact (the ends of a range as its ends). None where a level with a share is
    not stated.
    """
    return _weighted(levels, mix, printed=printed)


def gain_bounds(levels: Levels, mix: Mix, to_mix: Mix, *, printed: bool = False) -> Bounds | None:
    """How far re-weighting from one mix to the other can move recall, least and greatest; None as for `mixture`."""
    easy, medium, hard = (after - before for before, after in zip(mix, to_mix, strict=True))
    return _weighted(levels, (easy, medium, hard), printed=printed)


def _weighted(levels: Levels, weights: Iterable[Fraction], *, printed: bool) -> Bounds | None:
    least = most = Fraction(0)
    for level, weight in zip(levels, weights, strict=True):
        if weight == 0:
            continue
        if level is None:
            return None
        low, high = (level.first, level.last) if printed else level.bounds
        least += weight * (low if weight > 0 else high)
        most += weight * (high if weight > 0 else low)
    return least, most


def identities(row: TableRow) -> tuple[Check, ...]:
    """Every check that the row's figures allow, in the order of the table above; only `range` where that fails."""
    outside = tuple(
        Check("range", False, f"{name} {figure.text} lies outside 0..100")
        for name in _SHARES
        if (figure := getattr(row, name)) is not None and not figure.possible
    )
    return outside or tuple(_checks(row))


def _checks(row: TableRow) -> Iterator[Check]:
    param = _bounds(row.param)
    kinds = {"temporal": row.temporal, "missing": row.missing, "value": row.value}
    if row.param is not None and any(kinds.values()):
        yield _sum("parameter errors", kinds, param, f"param {row.param.text}")
    parts = _total(kinds.values())
    param = max(param[0], parts[0]), min(param[1], parts[1])
    outcomes = {"recall": row.recall, "miss": row.miss, "param": row.param, "judge_failure": row.judge_failure}
    if sum(figure is not None for figure in outcomes.values()) > 1:
        yield _sum("outcomes", outcomes, (Fraction(1), Fraction(1)), "100")
    others = (_bounds(row.miss), param, _bounds(row.judge_failure))
    recall = _bounds(row.recall)
    recall = (
        max(recall[0], 1 - sum((most for _, most in others), Fraction(0))),
        min(recall[1], 1 - sum((least for least, _ in others), Fraction(0))),
    )
    if row.accuracy is not None and (row.recall is not None or row.over is not None):
        yield _between(row, row.accuracy, recall)
    yield from _of_levels(row)
    if row.to_mix is not None or row.gain is not None:
        yield from _reweighted(row)
    if row.kappa is not None:
        yield from _kappa(row, row.kappa)


def _bounds(figure: Figure | None) -> Bounds:
    return _ANY if figure is None else figure.bounds


def _total(figures: Iterable[Figure | None]) -> Bounds:
    """The sum of shares of one whole, those not stated anything from 0 up."""
    every = [_bounds(figure) for figure in figures]
    return sum((low for low, _ in every), Fraction(0)), min(Fraction(1), sum((high for _, high in every), Fraction(0)))


def _sum(rule: str, parts: dict[str, Figure | None], whole: Bounds, named: str) -> Check:
    known = {name: figure for name, figure in parts.items() if figure is not None}
    decimals = max(figure.decimals for figure in known.values())
    least = sum((figure.bounds[0] for figure in known.values()), Fraction(0))
    most = sum((figure.bounds[1] for figure in known.values()), Fraction(0))
    complete = len(known) == len(parts)
    holds = least <= whole[1] and (most >= whole[0] or not complete)
    written = " + ".join(f"{name} {figure.text}" for name, figure in known.items())
    says = f"{written} = {_span((least, most), decimals)}, {'must be' if complete else 'may be at most'} {named}"
    if holds and not complete and whole[1] > least:
        open_ = ", ".join(name for name in parts if name not in known)
        left = (max(Fraction(0), whole[0] - most), whole[1] - least)
        says += f"; {_span(left, decimals)} is left for {open_}"
    return Check(rule, holds, says)


def _between(row: TableRow, accuracy: Figure, recall: Bounds) -> Check:
    over = _bounds(row.over)
    true_negatives = 1 - over[1], 1 - over[0]
    least, most = min(recall[0], true_negatives[0]), max(recall[1], true_negatives[1])
    holds = accuracy.bounds[0] <= most and accuracy.bounds[1] >= least
    decimals = accuracy.decimals
    says = (
        f"accuracy {accuracy.text} must lie between recall {_span(recall, decimals)} "
        f"and 100 - over {_span(true_negatives, decimals)}"
    )
    return Check("accuracy", holds, says)


def _of_levels(row: TableRow) -> Iterator[Check]:
    levels = levels_of(row)
    stated = [level for level in levels if level is not None]
    if row.recall is None or not stated:
        return
    recall = row.recall.bounds
    decimals = max(row.recall.decimals, 2)
    shown = ", ".join(f"{name} {level.text}" for name, level in _named(levels))
    mixed = None if row.mix is None else mixture(levels, row.mix)
    if row.mix is not None and mixed is not None:
        spread = max(level.bounds[1] for level in stated) - min(level.bounds[0] for level in stated)
        divides = row.positives is None or all((share * row.positives).denominator == 1 for share in row.mix)
        slack = Fraction(0) if divides or not row.positives else spread / row.positives
        holds = mixed[0] - slack <= recall[1] and mixed[1] + slack >= recall[0]
        exact = mixture(levels, row.mix, printed=True) or mixed
        says = (
            f"{_shares(row.mix)} of {shown} is {_span(exact, decimals)} "
            f"(with rounding {_span((mixed[0] - slack, mixed[1] + slack), decimals)}), recall {row.recall.text}"
        )
        yield Check("mixture", holds, says)
    elif row.mix is None and len(stated) == len(levels):
        least, most = min(level.bounds[0] for level in stated), max(level.bounds[1] for level in stated)
        holds = least <= recall[1] and most >= recall[0]
        says = f"recall {row.recall.text} must lie between the levels: {shown}"
        named = (f"{_span(at, decimals)} at the {name} mix" for name, mix in NAMED_MIXES.items()
                 if (at := mixture(levels, mix, printed=True)))  # fmt: skip
        yield Check("levels", holds, f"{says} ({', '.join(named)}; no mix is stated)" if holds else says)


def _reweighted(row: TableRow) -> Iterator[Check]:
    levels = levels_of(row)
    shown = ", ".join(f"{name} {level.text}" for name, level in _named(levels))
    if row.to_mix is not None and row.to_recall is not None and (mixed := mixture(levels, row.to_mix)) is not None:
        exact = mixture(levels, row.to_mix, printed=True) or mixed
        to_recall = row.to_recall.bounds
        holds = mixed[0] <= to_recall[1] and mixed[1] >= to_recall[0]
        decimals = max(row.to_recall.decimals, 2)
        says = (
            f"{_shares(row.to_mix)} of {shown} is {_span(exact, decimals)} "
            f"(with rounding {_span(mixed, decimals)}), to_recall {row.to_recall.text}"
        )
        yield Check("re-weighting", holds, says)
    if row.gain is None:
        return
    least, most = Fraction(row.gain.low, row.gain.scale), Fraction(row.gain.high, row.gain.scale)
    decimals = max(row.gain.decimals, 2)
    if row.recall is not None and row.to_recall is not None:
        before, after = row.recall.bounds, row.to_recall.bounds
        difference = after[0] - before[1], after[1] - before[0]
        holds = difference[0] <= most and difference[1] >= least
        says = (
            f"to_recall {row.to_recall.text} - recall {row.recall.text} = {_span(difference, decimals)}, "
            f"gain {row.gain.text}"
        )
        yield Check("re-weighting", holds, says)
    if row.mix is None or row.to_mix is None:
        return
    allowed = gain_bounds(levels, row.mix, row.to_mix)
    exact_gain = gain_bounds(levels, row.mix, row.to_mix, printed=True)
    if allowed is not None and exact_gain is not None:
        holds = allowed[0] <= most and allowed[1] >= least
        says = (
            f"from {_shares(row.mix)} to {_shares(row.to_mix)} of {shown} recall gains "
            f"{_span(exact_gain, decimals)} (with rounding {_span(allowed, decimals)}), gain {row.gain.text}"
        )
        yield Check("re-weighting", holds, says)


def _kappa(row: TableRow, kappa: Figure) -> Iterator[Check]:
    if kappa.first < -1 or kappa.last > 1:
        yield Check("kappa", False, f"kappa {kappa.text} lies outside -1..1")
    elif row.agreement is not None:
        holds = Fraction(kappa.low, kappa.scale) <= row.agreement.bounds[1]
        says = f"kappa {kappa.text} is at most agreement {row.agreement.text}, whatever the classes"
        yield Check("kappa", holds, says)


def _named(levels: Levels) -> Iterator[tuple[str, Figure]]:
    for name, level in zip(("easy", "medium", "hard"), levels, strict=True):
        if level is not None:
            yield name, level


def _shares(mix: Mix) -> str:
    return "/".join(f"{float(share):.4g}" for share in mix)


def _span(bounds: Bounds, decimals: int) -> str:
    """`65.84`, or `65.79..65.89` where the ends differ as printed."""
    low, high = (percent(bound, decimals) for bound in bounds)
    return low if low == high else f"{low}..{high}"
