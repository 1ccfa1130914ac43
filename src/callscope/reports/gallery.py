"""Which trials an HTML report lays out in full: a bounded choice, every category and every model represented.

One pass, with memory bounded by what is kept. Counting is complete where showing is not.
"""

from __future__ import annotations

from typing import NamedTuple

from callscope.contract import Derived
from callscope.reports.inspect import categories
from callscope.reports.view import GroupKey, RunView, group_key

__all__ = ["PASSED", "Gallery", "Shelf", "choose"]

PASSED = "passed"
PER_SHELF = 12
PASSED_IN_ALL = 300
PER_REPAIR = 2
IN_ALL = 600


class Shelf(NamedTuple):
    """The trials of one group in one category: how many there are, and those that are shown, each with its anchor."""

    category: str
    key: GroupKey
    trials: int
    shown: tuple[tuple[str, Derived], ...]


class Gallery(NamedTuple):
    """All shelves, what passed last; and the anchor of each (group, case) shown: of its failure if it has one.

    `repairs` holds a few trials to which a repair applies, by group and repair.
    """

    shelves: tuple[Shelf, ...]
    anchors: dict[tuple[GroupKey, str], str]
    repairs: dict[tuple[GroupKey, str], tuple[Derived, ...]]


def choose(view: RunView, *, per_shelf: int = PER_SHELF, in_all: int = IN_ALL) -> Gallery:
    """The trials to show: at most one of a case on a shelf, at most `per_shelf` failures on it, `in_all` together.

    A shelf's first trial is always kept, so that no category of any model goes without an example.
    """
    counts: dict[tuple[str, GroupKey], int] = {}
    kept: dict[tuple[str, GroupKey], dict[str, Derived]] = {}
    repairs: dict[tuple[GroupKey, str], tuple[Derived, ...]] = {}
    total = passed = 0
    for derived in view.derived():
        key, case_id = group_key(derived.verdict), derived.verdict.case_id
        category = next(iter(categories(derived.verdict)), PASSED)
        for step in derived.repaired.steps if derived.repaired else ():
            few = repairs.setdefault((key, step.name), ())
            if len(few) < PER_REPAIR and derived not in few:
                repairs[key, step.name] = (*few, derived)
        place = (category, key)
        counts[place] = counts.get(place, 0) + 1
        shelf = kept.setdefault(place, {})
        if case_id in shelf:
            continue
        room = total < in_all and (passed < PASSED_IN_ALL if category == PASSED else len(shelf) < per_shelf)
        if room or not shelf:
            shelf[case_id] = derived
            total += 1
            passed += category == PASSED
    shelves: list[Shelf] = []
    anchors: dict[tuple[GroupKey, str], str] = {}
    number = 0
    for place in sorted(kept, key=lambda each: each[0] == PASSED):
        shown = []
        for case_id, derived in kept[place].items():
            number += 1
            shown.append((f"e{number}", derived))
            anchors.setdefault((place[1], case_id), f"e{number}")
        shelves.append(Shelf(*place, counts[place], tuple(shown)))
    return Gallery(tuple(shelves), anchors, repairs)
