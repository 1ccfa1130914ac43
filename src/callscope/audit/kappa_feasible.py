"""Which kappas a reviewer can have reached, given how the judge classed the items and on how many the two agree.

Cohen (1960), Educational and Psychological Measurement 20:37-46: kappa = (a n - S) / (n² - S), with a of n items
agreed on and S the sum over classes of the judge's count times the reviewer's. Every disagreement moves one item from
its judge's class to another, which changes S by the difference of the judge's counts of the two. So the attainable S
are the sums of so many moves; they are held as the bits of one integer a stage. Estimating kappa is not done here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct

from callscope.audit.figures import Figure

__all__ = ["Kappas", "attainable_kappas", "kappa_of"]

_MAX_WORK = 5_000_000
_MAX_COUNTED = 24

Stages = dict[tuple[int, int], int]
"""(moves made, moves into the smallest classes) -> the sums reached, as bits above the least one possible."""


class Kappas(Struct, frozen=True):
    """What `agreed` of the items allow: the least and greatest kappa, and whether the stated one is among them.

    `into_smallest`: how many of the disagreements, at least, put an item into a class that the judge used least, for
    kappa to be as stated; None where it is not attained or was not counted. `exact` is False where the moves were too
    many to follow and only the ends are known.
    """

    agreed: int
    least: Fraction
    most: Fraction
    attained: bool
    into_smallest: int | None
    exact: bool


def kappa_of(agreed: int, items: int, chance: int) -> Fraction:
    """Cohen's kappa from the items agreed on and the chance sum S; needs S < items²."""
    return Fraction(agreed * items - chance, items * items - chance)


def attainable_kappas(
    judged: Sequence[int], agreed: int, kappa: Figure, confirmed: Sequence[int] | None = None
) -> Kappas | None:
    """The kappas that can come of `judged` items a class of which `agreed` are confirmed.

    `confirmed` fixes how many of each class the reviewer left there. None where no labels agree so often, or where
    kappa is undefined for all that do (one class only).
    """
    items = sum(judged)
    moves = items - agreed
    if confirmed is None:
        leaving = [(0, min(count, moves)) for count in judged]
    else:
        leaving = [(count - kept, count - kept) for count, kept in zip(judged, confirmed, strict=True)]
    span = max(judged) - min(judged)
    work = sum(high for _, high in leaving) * (moves + 1) * len(judged) * (2 * span * moves // 64 + 1)
    base = sum(count * count for count in judged) - moves * span
    exact = work <= _MAX_WORK
    if exact:
        small = {at for at, count in enumerate(judged) if count == min(judged)} if moves <= _MAX_COUNTED else set()
        stages = _stages(judged, leaving, moves, span, small)
        reached = {into: list(_bits(bits)) for (made, into), bits in stages.items() if made == moves}
    else:
        reached = {0: _ends(judged, leaving, moves, span)}
    sums = {into: [base + one for one in every if base + one < items * items] for into, every in reached.items()}
    every = [one for each in sums.values() for one in each]
    if not every:
        return None
    low, high = Fraction(kappa.low, kappa.scale), Fraction(kappa.high, kappa.scale)
    least, most = kappa_of(agreed, items, max(every)), kappa_of(agreed, items, min(every))
    if exact:
        fitting = [
            into for into, each in sums.items() if any(low <= kappa_of(agreed, items, one) <= high for one in each)
        ]
        attained = bool(fitting)
        into_smallest = min(fitting) if fitting and moves <= _MAX_COUNTED else None
    else:
        attained, into_smallest = least <= high and most >= low, None
    return Kappas(agreed, least, most, attained, into_smallest, exact)


def _stages(
    judged: Sequence[int], leaving: Sequence[tuple[int, int]], moves: int, span: int, small: set[int]
) -> Stages:
    stages: Stages = {(0, 0): 1}
    for source, (fewest, most) in enumerate(leaving):
        steps = {
            (judged[other] - judged[source] + span, int(other in small))
            for other in range(len(judged))
            if other != source
        }
        layer = stages
        after: Stages = {}
        for moved in range(most + 1):
            if moved:
                following: Stages = {}
                for (made, into), bits in layer.items():
                    if made < moves:
                        for shift, counted in steps:
                            key = made + 1, into + counted
                            following[key] = following.get(key, 0) | bits << shift
                layer = following
            if moved >= fewest:
                for key, bits in layer.items():
                    after[key] = after.get(key, 0) | bits
        stages = after
    return stages


def _bits(bits: int) -> Iterator[int]:
    """The places of the ones."""
    digits = f"{bits:b}"[::-1]
    at = digits.find("1")
    while at >= 0:
        yield at
        at = digits.find("1", at + 1)


def _ends(judged: Sequence[int], leaving: Sequence[tuple[int, int]], moves: int, span: int) -> list[int]:
    """The least and the greatest sum of the moves, each class giving as many as it must and no more than it can."""
    ends = []
    for sign in (1, -1):
        best = [
            min(sign * (judged[other] - count) for other in range(len(judged)) if other != source)
            for source, count in enumerate(judged)
        ]
        total = sum(low * each for (low, _), each in zip(leaving, best, strict=True))
        left = moves - sum(low for low, _ in leaving)
        for (low, high), each in sorted(zip(leaving, best, strict=True), key=lambda pair: pair[1]):
            taken = min(left, high - low)
            total, left = total + taken * each, left - taken
        if left:
            return []
        ends.append(sign * total + moves * span)
    return ends
