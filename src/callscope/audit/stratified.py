"""One estimate with its interval, and the seeded bootstrap that resamples items within their strata.

Pure: the same rows, strata and `Resampling` give the same draws on every machine. What is estimated is the callers'
matter; an undefined value is None with its reason, never NaN.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import shake_256
from itertools import islice
from typing import Literal, NamedTuple

from msgspec import Struct

from callscope.errors import InputError
from callscope.scoring.statistics import CONFIDENCE, percentile, rate

__all__ = [
    "Estimate",
    "Interval",
    "Method",
    "Resampling",
    "Row",
    "Undefined",
    "bootstrap",
    "estimate",
    "proportion",
    "resamples",
]

Row = tuple[str | None, ...]
Method = Literal["none", "stratified bootstrap", "Wilson", "delta", "Lang-Reiczigel"]


class Estimate(Struct, frozen=True, kw_only=True):
    """A statistic of an audit: its value with an interval, or why it has none.

    `value` is None exactly where `reason` begins with "undefined: ". `low` and `high` are None together, and `note`
    then says why. `k` of `n` are the counts of a proportion (None for what is no proportion). `items` and `raters` are
    what it rests on. `draws` is how often was resampled, `degenerate_draws` in how many of these the statistic had no
    value.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    method: Method = "none"
    note: str = ""
    confidence: float = CONFIDENCE
    k: int | None = None
    n: int | None = None
    items: int = 0
    raters: int = 0
    draws: int = 0
    degenerate_draws: int = 0


class Undefined(NamedTuple):
    """Why a statistic has no value on these data; the text begins with "undefined: "."""

    reason: str


class Resampling(Struct, frozen=True):
    """How often to resample, from which seed, and how much the interval is to hold.

    Raises InputError where `draws` < 1 or `confidence` is outside (0, 1).
    """

    seed: int = 20260725
    draws: int = 2000
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        if self.draws < 1:
            raise InputError("a bootstrap needs draws", field="draws", found=self.draws, expected="1 or more")
        if not 0 < self.confidence < 1:
            raise InputError(
                "no interval holds this much", field="confidence", found=self.confidence, expected="between 0 and 1"
            )


class Interval(NamedTuple):
    """The bootstrap's answer for one statistic; `low` and `high` are None where `note` says why."""

    low: float | None
    high: float | None
    degenerate: int
    note: str


def resamples(rows: Sequence[Row], strata: Sequence[str], plan: Resampling) -> Iterator[dict[Row, int]]:
    """`plan.draws` resamples as counts of rows: in each stratum as many rows as it holds, with replacement.

    Rows are ordered by what they hold, so neither the order nor the names of the items move the draws. Chance is
    SHAKE-256 of the seed and the draw's number, 32 bits a row: a generator that no other version of anything changes,
    and more draws of a seed begin with the fewer.
    """
    order = sorted(set(rows), key=_key)
    place = {row: index for index, row in enumerate(order)}
    pools: dict[str, list[int]] = {}
    for row, stratum in zip(rows, strata, strict=True):
        pools.setdefault(stratum, []).append(place[row])
    layout = [sorted(pools[stratum]) for stratum in sorted(pools)]
    for draw in range(plan.draws):
        stream = shake_256(f"stratified bootstrap, seed {plan.seed}, draw {draw}".encode()).digest(4 * len(rows))
        words = iter(struct.unpack(f"<{len(rows)}I", stream))
        counts = [0] * len(order)
        for pool in layout:
            size = len(pool)
            for word in islice(words, size):
                counts[pool[word * size >> 32]] += 1
        yield {row: count for row, count in zip(order, counts, strict=True) if count}


def bootstrap(
    rows: Sequence[Row],
    strata: Sequence[str],
    statistics: Callable[[Mapping[Row, int]], Sequence[float | Undefined]],
    plan: Resampling,
) -> list[tuple[float | Undefined, Interval]]:
    """Every statistic on the rows themselves, with its percentile interval over the resamples.

    Efron and Tibshirani (1993), An Introduction to the Bootstrap, 13.3; resampled within strata because the sizes of
    the strata were fixed by the design. There is no interval where

    * the value itself is undefined;
    * more than 1 - confidence of the draws are degenerate: either end could then lie among them;
    * every draw gives one value: the data then say nothing of the uncertainty.
    """
    found = list(statistics(Counter(rows)))
    if all(isinstance(value, Undefined) for value in found):
        return [(value, Interval(None, None, 0, "")) for value in found]
    drawn = list(zip(*(statistics(draw) for draw in resamples(rows, strata, plan)), strict=True))
    alone = sum(size == 1 for size in Counter(strata).values())
    return [(value, _interval(value, values, alone, plan)) for value, values in zip(found, drawn, strict=True)]


def _interval(value: float | Undefined, drawn: Sequence[float | Undefined], alone: int, plan: Resampling) -> Interval:
    if isinstance(value, Undefined):
        return Interval(None, None, 0, "")
    defined = [one for one in drawn if not isinstance(one, Undefined)]
    degenerate = len(drawn) - len(defined)
    if degenerate > (1 - plan.confidence) * len(drawn):
        return Interval(None, None, degenerate, f"no interval: {degenerate} of {len(drawn)} draws were degenerate")
    if max(defined) - min(defined) < 1e-12:
        return Interval(None, None, degenerate, "no interval: every draw gave the same value")
    tail = (1 - plan.confidence) / 2
    note = f"{alone} strata hold one item each, which resampling cannot vary" if alone else ""
    return Interval(percentile(defined, tail), percentile(defined, 1 - tail), degenerate, note)


def estimate(found: float | Undefined, interval: Interval, plan: Resampling, *, items: int, raters: int) -> Estimate:
    """Value and bootstrap interval as an `Estimate`."""
    if isinstance(found, Undefined):
        return Estimate(value=None, reason=found.reason, confidence=plan.confidence, items=items, raters=raters)
    return Estimate(
        value=found,
        low=interval.low,
        high=interval.high,
        method="none" if interval.low is None else "stratified bootstrap",
        note=interval.note,
        confidence=plan.confidence,
        items=items,
        raters=raters,
        draws=plan.draws,
        degenerate_draws=interval.degenerate,
    )


def proportion(k: int, n: int, *, raters: int, nothing: str, confidence: float = CONFIDENCE) -> Estimate:
    """`k` of `n` items with a Wilson interval; `nothing` says what is missing where `n` is 0.

    Raises ValueError unless 0 <= k <= n.
    """
    found = rate(k, n, confidence)
    if found.rate is None:
        reason = f"undefined: {nothing}"
        return Estimate(value=None, reason=reason, confidence=confidence, k=0, n=0, raters=raters)
    return Estimate(
        value=found.rate,
        low=found.low,
        high=found.high,
        method="Wilson",
        confidence=confidence,
        k=k,
        n=n,
        items=n,
        raters=raters,
    )


def _key(row: Row) -> tuple[tuple[bool, str], ...]:
    return tuple((label is not None, label or "") for label in row)
