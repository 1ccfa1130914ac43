"""Closed forms of agreement among raters, from counts of rows. Pure arithmetic: no intervals, no names of people.

| what the ratings hold | observed | Cohen | Fleiss | alpha, AC1, PABAK |
| --- | --- | --- | --- | --- |
| no item | undefined | undefined | undefined | undefined |
| one rater, or no item with two ratings | undefined | undefined | undefined | undefined |
| every paired rating is one class | 1, a plain count | undefined | undefined | undefined |
| more or fewer than two raters | pairwise | undefined | as published | as published |
| unequal numbers of ratings | pairwise | pairs that are there | undefined | items with two or more |
| otherwise | k of n pairs | value | value | value |

Beyond chance nothing can be said of one class, also where a formula would give 1 (AC1, PABAK): undefined there too.
Fleiss (1971) wrote his kappa for one number of ratings on every item; of the several generalisations none is "the"
Fleiss kappa, so with unequal numbers it is undefined here and alpha, made for missing ratings, stands beside it.
Items that nobody rated say nothing and are left out everywhere.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from callscope.audit.stratified import Row, Undefined

__all__ = ["Tally", "agreeing_pairs", "alpha", "brennan_prediger", "cohen", "fleiss", "gwet", "observed", "tally"]


class Profile(NamedTuple):
    """What one row holds: its number of ratings m, their ordered pairs that agree, and the ratings by class."""

    size: int
    agreeing: int
    ratings: tuple[tuple[str, int], ...]


class Level(NamedTuple):
    """All items with the same number of ratings: how many, their ordered agreeing pairs, their ratings by class."""

    items: int
    agreeing: int
    ratings: dict[str, int]


class Tally(NamedTuple):
    """`levels`: number of ratings on an item (1 or more) -> what is known of these items. `paired`: ratings by class of
    the items with two or more. All whole numbers, so that no order of items or raters moves a value by rounding.
    """

    levels: dict[int, Level]
    paired: dict[str, int]


@lru_cache(maxsize=4096)
def _profile(row: Row) -> Profile:
    said = Counter(label for label in row if label is not None)
    return Profile(said.total(), sum(times * (times - 1) for times in said.values()), tuple(said.items()))


def tally(rows: Mapping[Row, int]) -> Tally:
    """Rows with how often each occurs, grouped by their number of ratings."""
    items: dict[int, int] = {}
    agreeing: dict[int, int] = {}
    ratings: dict[int, dict[str, int]] = {}
    for row, count in rows.items():
        size, pairs, said = _profile(row)
        if size:
            held = ratings.setdefault(size, {})
            items[size] = items.get(size, 0) + count
            agreeing[size] = agreeing.get(size, 0) + pairs * count
            for label, times in said:
                held[label] = held.get(label, 0) + times * count
    paired: dict[str, int] = {}
    for size, held in ratings.items():
        if size > 1:
            for label, count in held.items():
                paired[label] = paired.get(label, 0) + count
    return Tally({size: Level(items[size], agreeing[size], ratings[size]) for size in sorted(items)}, paired)


def agreeing_pairs(tallied: Tally) -> tuple[int, int]:
    """Pairs of ratings of one item that are the same class, of all pairs."""
    pairs = sum(size * (size - 1) * level.items for size, level in tallied.levels.items())
    return sum(level.agreeing for level in tallied.levels.values()) // 2, pairs // 2


def observed(tallied: Tally) -> float | Undefined:
    """Share of the pairs that agree: every pair counts the same, so items with more ratings weigh more."""
    agreeing, pairs = agreeing_pairs(tallied)
    return agreeing / pairs if pairs else _no_pairs(tallied)


def cohen(rows: Mapping[Row, int]) -> float | Undefined:
    """Cohen (1960), Educational and Psychological Measurement 20:37-46: nominal, unweighted, over items both rated."""
    joint = Counter[tuple[str, str]]()
    for row, count in rows.items():
        if len(row) != 2:
            return Undefined(f"undefined: Cohen's kappa compares two raters, and here are {len(row)}")
        if row[0] is not None and row[1] is not None:
            joint[row[0], row[1]] += count
    total = joint.total()
    if not total:
        return _no_pairs(tally(rows))
    if nothing := _one_class(label for pair in joint for label in pair):
        return nothing
    first, second = Counter[str](), Counter[str]()
    for (one, other), count in joint.items():
        first[one] += count
        second[other] += count
    same = sum(count for (one, other), count in joint.items() if one == other)
    expected = sum(count * second[label] for label, count in first.items())
    return (same * total - expected) / (total * total - expected)


def fleiss(tallied: Tally) -> float | Undefined:
    """Fleiss (1971), Psychological Bulletin 76:378-382. Every item needs the same number of ratings, two or more."""
    if nothing := _nothing_beyond_chance(tallied):
        return nothing
    if len(tallied.levels) > 1:
        sizes = ", ".join(f"{level.items} with {size}" for size, level in tallied.levels.items())
        return Undefined(f"undefined: Fleiss' kappa needs equally many ratings on every item, and here are {sizes}")
    ((size, level),) = tallied.levels.items()
    total = level.items * size
    squares = sum(count * count for count in level.ratings.values())
    return (level.agreeing * total - squares * (size - 1)) / ((total * total - squares) * (size - 1))


def alpha(tallied: Tally) -> float | Undefined:
    """Krippendorff's alpha for nominal data, missing ratings allowed.

    Krippendorff (2019), Content Analysis, 4th ed., chapter 12: from the coincidence matrix of all items with two or
    more ratings, each item weighing as many as it has.
    """
    if nothing := _nothing_beyond_chance(tallied):
        return nothing
    paired = {size: level for size, level in tallied.levels.items() if size > 1}
    total = sum(tallied.paired.values())
    same = sum(level.agreeing / (size - 1) for size, level in paired.items())
    by_chance = sum(count * (count - 1) for count in tallied.paired.values())
    return (same * (total - 1) - by_chance) / (total * (total - 1) - by_chance)


def gwet(tallied: Tally, classes: int) -> float | Undefined:
    """Gwet's AC1 for two or more raters, missing ratings allowed; `classes` is the size of the whole label set.

    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61:29-48. Agreement is the mean over items
    with two or more ratings; a class's share is the mean over all rated items of the part of their ratings it has.
    """
    if nothing := _nothing_beyond_chance(tallied):
        return nothing
    rated = sum(level.items for level in tallied.levels.values())
    shares: dict[str, float] = {}
    for size, level in tallied.levels.items():
        for label, count in level.ratings.items():
            shares[label] = shares.get(label, 0.0) + count / size / rated
    # fsum: the order in which classes turned up must not show in the last digit
    expected = math.fsum(share * (1 - share) for share in shares.values()) / (classes - 1)
    return (_mean_agreement(tallied) - expected) / (1 - expected)


def brennan_prediger(tallied: Tally, classes: int) -> float | Undefined:
    """Agreement beyond 1/q for q `classes`: PABAK where q is 2, and its one extension to more classes.

    Byrt, Bishop and Carlin (1993), J. Clinical Epidemiology 46:423-429, for two classes (2p - 1); Brennan and Prediger
    (1981), Educational and Psychological Measurement 41:687-699, for q: (q·p - 1) / (q - 1). For more than two raters p
    is the mean over items of their agreeing pairs.
    """
    if nothing := _nothing_beyond_chance(tallied):
        return nothing
    return (classes * _mean_agreement(tallied) - 1) / (classes - 1)


def _mean_agreement(tallied: Tally) -> float:
    paired = {size: level for size, level in tallied.levels.items() if size > 1}
    summed = sum(level.agreeing / (size * (size - 1)) for size, level in paired.items())
    return summed / sum(level.items for level in paired.values())


def _nothing_beyond_chance(tallied: Tally) -> Undefined | None:
    return _one_class(tallied.paired) if tallied.paired else _no_pairs(tallied)


def _no_pairs(tallied: Tally) -> Undefined:
    if not tallied.levels:
        return Undefined("undefined: no item was rated")
    return Undefined("undefined: no item has two ratings, so there are no pairs to compare")


def _one_class(labels: Iterable[str]) -> Undefined | None:
    used = set(labels)
    if len(used) > 1:
        return None
    return Undefined(f"undefined: every rating is {used.pop()!r}; agreement beyond chance needs two classes in use")
