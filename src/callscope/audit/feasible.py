"""Which whole numbers fit a row: the counts behind its percentages at given denominators, and which denominators do.

Integer feasibility of printed rates after N. J. L. Brown and J. A. J. Heathers (2017), "The GRIM test", Social
Psychological and Personality Science 8:363-369, for several rates of the same and of shared denominators. Intervals of
whole numbers take the place of a search over counts, so that a denominator costs a few divisions.

With P positives and N negatives: recall, miss, param, temporal, missing, value, judge_failure are counts of P, over is
a count of N, and accuracy is (true positives + N - false positives) of P + N.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import ceil, floor

from msgspec import Struct

from callscope.audit.figures import Figure, Mix, Whole
from callscope.audit.identities import Levels, levels_of
from callscope.audit.table_file import TableRow

__all__ = [
    "UNKNOWN_UP_TO",
    "Counts",
    "Found",
    "Group",
    "false_positives",
    "find_counts",
    "fits",
    "has_positives",
    "true_positives",
]

UNKNOWN_UP_TO = 10_000
"""Denominators of which a table states nothing are looked for up to here."""

WINDOW = 20_000
"""Stated denominators are looked for below the stated one over at most so many."""

_MAX_PAIRS = 2_000
_MAX_PARTNERS = 100
_MAX_STEPS = 150_000
_MAX_LEVEL_STEPS = 3_000
_EACH_BELOW = 500
_EACH_RUN = 64

Ways = tuple[Whole, ...]
"""Counts that are possible, as runs of whole numbers; empty where none is."""


class Counts(Struct, frozen=True):
    """Denominators that fit; None where the row has no figure that rests on them."""

    positives: int | None
    negatives: int | None


class Group(Struct, frozen=True):
    """Denominators that fit: these positives with these negatives, each from the first to the second.

    `fitting` is how many pairs of them do fit; not every pair between the ends need do so.
    """

    positives: Whole | None
    negatives: Whole | None
    fitting: int


class Found(Struct, frozen=True):
    """Denominators that fit; `nearest` to what is stated (else the smallest) is in the first group.

    `complete`: no other denominators are possible, at or below what is stated. `nearest` is None where none fits.
    """

    nearest: Counts | None
    groups: tuple[Group, ...]
    complete: bool


def has_positives(row: TableRow) -> bool:
    """Whether any figure of the row rests on the positives alone."""
    figures = (row.recall, row.miss, row.param, row.temporal, row.missing, row.value, row.judge_failure)
    return any(figure is not None for figure in (*figures, *levels_of(row)))


def true_positives(row: TableRow, positives: int) -> Ways:
    """Counts of correct positives that fit every figure of the positives."""
    bounds: list[Whole] = []
    whole = (0, positives)
    for figure in (row.temporal, row.missing, row.value, row.param, row.recall, row.miss, row.judge_failure):
        one = whole if figure is None else figure.whole(positives)
        if one[0] > one[1]:
            return ()
        bounds.append(one)
    temporal, missing, value, param, recall, miss, failure = bounds
    param_low = max(param[0], temporal[0] + missing[0] + value[0])
    param_high = min(param[1], temporal[1] + missing[1] + value[1])
    if param_low > param_high:
        return ()
    low = max(recall[0], positives - miss[1] - param_high - failure[1])
    high = min(recall[1], positives - miss[0] - param_low - failure[0])
    if low > high:
        return ()
    levels = levels_of(row)
    if not any(levels):
        return ((low, high),)
    return _with_levels(levels, row.mix, positives, (low, high))


def false_positives(row: TableRow, negatives: int) -> Ways:
    """Counts of negatives answered with a call that fit `over`."""
    low, high = (0, negatives) if row.over is None else row.over.whole(negatives)
    return ((low, high),) if low <= high else ()


def fits(accuracy: Figure, positives: int, right: Ways, negatives: int, wrong: Ways) -> bool:
    """Whether some of these true and false positives give the accuracy; every sum between the ends is reached."""
    low, high = accuracy.whole(positives + negatives)
    return any(max(low, a + negatives - d) <= min(high, b + negatives - c) for a, b in right for c, d in wrong)


def find_counts(row: TableRow, positives: int | None, negatives: int | None) -> Found:
    """Denominators that fit the row's figures: the stated ones, else those at or below them, else the smallest."""
    if row.accuracy is None:
        return _apart(row, positives, negatives)
    if positives is not None and negatives is not None:
        right, wrong = true_positives(row, positives), false_positives(row, negatives)
        if fits(row.accuracy, positives, right, negatives, wrong):
            return _grouped([Counts(positives, negatives)], positives, negatives, complete=True)
    elif positives is not None or negatives is not None:
        found = _together(row, row.accuracy, positives, negatives, fixed=True)
        if found.nearest is not None:
            return found
    return _together(row, row.accuracy, positives, negatives, fixed=False)


def _apart(row: TableRow, positives: int | None, negatives: int | None) -> Found:
    """Without accuracy nothing ties the two denominators together."""
    sides: list[list[int] | None] = []
    complete = True
    for used, stated, ways in (
        (has_positives(row), positives, true_positives),
        (row.over is not None, negatives, false_positives),
    ):
        if not used:
            sides.append(None)
        elif stated is not None and ways(row, stated):
            sides.append([stated])
        else:
            candidates, whole = _candidates(stated, fixed=False)
            sides.append([n for n in candidates if ways(row, n)])
            if whole and not sides[-1]:
                return Found(None, (), complete=True)
            complete = complete and whole
    first, second = sides
    if (first is not None and not first) or (second is not None and not second):
        return Found(None, (), complete)
    group = Group(_ends_of(first), _ends_of(second), len(first or (0,)) * len(second or (0,)))
    return Found(Counts(first[0] if first else None, second[0] if second else None), (group,), complete)


def _ends_of(counts: list[int] | None) -> Whole | None:
    return (min(counts), max(counts)) if counts else None


def _candidates(stated: int | None, *, fixed: bool) -> tuple[range, bool]:
    """The denominators to look at, best first, and whether they are all that there can be."""
    if stated is None:
        return range(1, UNKNOWN_UP_TO + 1), False
    if fixed:
        return range(stated, stated + 1), True
    end = max(0, stated - WINDOW)
    return range(stated, min(end, stated - 1), -1), end == 0


def _together(row: TableRow, accuracy: Figure, positives: int | None, negatives: int | None, *, fixed: bool) -> Found:
    candidates, all_negatives = _candidates(negatives, fixed=fixed)
    none = (0,) if row.over is None and negatives is None else ()  # nothing says that there are negatives at all
    wrongs = [(n, ways) for n in sorted((*none, *candidates)) if (ways := false_positives(row, n))]
    if not wrongs and all_negatives:
        return Found(None, (), complete=True)
    sizes = [n for n, _ in wrongs]
    candidates, all_positives = _candidates(positives, fixed=fixed)
    pairs: list[Counts] = []
    steps, whole, any_right = 0, True, False
    for p in candidates:
        right = true_positives(row, p)
        if not right:
            continue
        any_right = True
        low, high = _partners(row, accuracy, p, right)
        first, last = bisect_left(sizes, low), bisect_right(sizes, high)
        taken = 0
        for at in range(first, last) if negatives is None else range(last - 1, first - 1, -1):
            steps += 1
            if taken == _MAX_PARTNERS or steps > _MAX_STEPS:
                whole = False
                break
            n, wrong = wrongs[at]
            if fits(accuracy, p, right, n, wrong):
                pairs.append(Counts(p, n))
                taken += 1
        if len(pairs) >= _MAX_PAIRS or steps > _MAX_STEPS:
            whole = False
            break
    complete = whole and all_positives and (all_negatives or not any_right)
    return _grouped(pairs, positives, negatives, complete=complete)


def _grouped(pairs: list[Counts], positives: int | None, negatives: int | None, *, complete: bool) -> Found:
    """The pairs by their negatives, the group with the nearest pair first."""

    def distance(counts: Counts) -> tuple[int, int]:
        p, n = counts.positives or 0, counts.negatives or 0
        away = (p if positives is None else positives - p) + (n if negatives is None else negatives - n)
        return away, -n

    groups: dict[int, list[int]] = {}
    ordered = sorted(pairs, key=distance)
    for one in ordered:
        groups.setdefault(one.negatives or 0, []).append(one.positives or 0)
    return Found(
        ordered[0] if ordered else None,
        tuple(Group((min(each), max(each)), (n, n), len(each)) for n, each in groups.items()),
        complete,
    )


def _partners(row: TableRow, accuracy: Figure, positives: int, right: Ways) -> tuple[float, float]:
    """Between which numbers of negatives the accuracy can be met at all: two half-lines, widened by one for floats."""
    right_low, right_high = right[0][0], right[-1][1]
    acc_low, acc_high = accuracy.low / accuracy.scale, accuracy.high / accuracy.scale
    over_low, over_high = (0.0, 1.0) if row.over is None else (float(end) for end in row.over.bounds)
    least, most = 0.0, float("inf")
    # right_high + N(1 - over_low) >= acc_low (P + N), and right_low + N(1 - over_high) <= acc_high (P + N)
    for slope, bound in (
        (1 - over_low - acc_low, acc_low * positives - right_high),
        (over_high + acc_high - 1, right_low - acc_high * positives),
    ):
        if slope > 1e-9:
            least = max(least, bound / slope)
        elif slope < -1e-9:
            most = min(most, bound / slope)
        elif bound > 1e-6 * (positives + 1):
            return 1.0, 0.0
    return least - 1, most + 1


def _with_levels(levels: Levels, mix: Mix | None, positives: int, right: Whole) -> Ways:
    """The true positives that sum from levels which together are the positives.

    One by one where they are few; else all of them where one is reached.
    """
    low, high = right
    if mix is None and sum(_least_size(level) for level in levels if level is not None) > positives:
        return ()
    if 0 < high - low <= _EACH_RUN and positives <= _EACH_BELOW:
        return _runs(k for k in range(low, high + 1) if _levels_reach(levels, mix, positives, (k, k)))
    return (right,) if _levels_reach(levels, mix, positives, right) else ()


def _runs(counts: Iterable[int]) -> Ways:
    runs: list[Whole] = []
    for count in counts:
        if runs and runs[-1][1] == count - 1:
            runs[-1] = runs[-1][0], count
        else:
            runs.append((count, count))
    return tuple(runs)


def _levels_reach(levels: Levels, mix: Mix | None, positives: int, right: Whole) -> bool:
    """Whether some sizes of the levels sum to the positives with true positives in `right`.

    A level of which recall is stated has a case. With a mix each level has its share, up or down to a whole case. Where
    the search over sizes grows too long the answer is yes: a row is never called impossible for want of time.
    """
    if mix is not None:
        easy, medium, hard = (level if share else None for level, share in zip(levels, mix, strict=True))
        return any(_sizes_reach((easy, medium, hard), sizes, right) for sizes in _mixed_sizes(mix, positives))
    first, second, third = sorted(levels, key=lambda level: level is None)
    one, two, three = (_ends(level) for level in (first, second, third))
    least = tuple(0 if level is None else _least_size(level) for level in (first, second, third))
    rest = min(two[0], three[0]), max(two[1], three[1])
    low, high = _sizes(one, rest, positives, right)
    steps = 0
    for n in _outward(max(least[0], low), min(positives - least[1] - least[2], high), (low + high) // 2):
        steps += 1
        counted = _count(first, n)
        if counted[0] <= counted[1]:
            left = positives - n
            low, high = _sizes(two, three, left, (right[0] - counted[1], right[1] - counted[0]))
            for m in _outward(max(least[1], low), min(left - least[2], high), (low + high) // 2):
                steps += 1
                if _sizes_reach((first, second, third), (n, m, left - m), right):
                    return True
                if steps > _MAX_LEVEL_STEPS:
                    return True
        if steps > _MAX_LEVEL_STEPS:
            return True
    return False


def _mixed_sizes(mix: Mix, positives: int) -> Iterator[tuple[int, int, int]]:
    shares = [share * positives for share in mix]
    floors = [floor(share) for share in shares]
    options = [(low,) if share == low else (low, low + 1) for share, low in zip(shares, floors, strict=True)]
    for easy in options[0]:
        for medium in options[1]:
            hard = positives - easy - medium
            if hard in options[2]:
                yield easy, medium, hard


def _sizes_reach(levels: Levels, sizes: tuple[int, int, int], right: Whole) -> bool:
    low = high = 0
    for level, size in zip(levels, sizes, strict=True):
        one = _count(level, size)
        if one[0] > one[1]:
            return False
        low, high = low + one[0], high + one[1]
    return low <= right[1] and high >= right[0]


def _count(level: Figure | None, size: int) -> Whole:
    return (0, size) if level is None else level.whole(size)


def _sizes(one: tuple[float, float], other: tuple[float, float], total: int, right: Whole) -> Whole:
    """Sizes of a part of `total` between which the sum can lie in `right` before rounding to whole counts.

    The part has recall of `one`, what is left has recall of `other`. Widened by one for floats.
    """
    least, most = 0.0, float(total)
    for slope, bound in (
        (one[1] - other[1], right[0] - other[1] * total),
        (other[0] - one[0], other[0] * total - right[1]),
    ):
        if slope > 1e-12:
            least = max(least, bound / slope)
        elif slope < -1e-12:
            most = min(most, bound / slope)
        elif bound > 1e-6 * (total + 1):
            return 1, 0
    return (max(0, floor(least) - 1), min(total, ceil(most) + 1)) if least - 2 <= most else (1, 0)


@lru_cache(maxsize=256)
def _least_size(level: Figure) -> int:
    """The fewest cases of which some whole number prints so, or a number that they are more than."""
    return next((n for n in range(1, UNKNOWN_UP_TO) if not _empty(level.whole(n))), UNKNOWN_UP_TO)


def _empty(ends: Whole) -> bool:
    return ends[0] > ends[1]


@lru_cache(maxsize=256)
def _ends(level: Figure | None) -> tuple[float, float]:
    return (0.0, 1.0) if level is None else (float(level.bounds[0]), float(level.bounds[1]))


def _outward(low: int, high: int, start: int) -> Iterator[int]:
    """Every whole number of low..high, those next to `start` first."""
    if low > high:
        return
    middle = min(max(start, low), high)
    yield middle
    for step in range(1, high - low + 1):
        if middle + step <= high:
            yield middle + step
        if middle - step >= low:
            yield middle - step
