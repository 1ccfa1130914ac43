"""What reviewers said of items, as one rectangular table: a row an item, a column a rater, None where not rated.

Pure. A judge is a rater like any other; `only` chooses whom a statistic is about. Reading files and showing items are
other modules' matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from callscope.audit.stratified import Row
from callscope.errors import InputError

__all__ = [
    "NO",
    "YES",
    "Answers",
    "Disagreement",
    "Ratings",
    "by_question",
    "majority",
    "only",
    "ratings_of",
    "settled",
    "to_adjudicate",
]

Answers = Mapping[str, Mapping[str, Mapping[str, str | None]]]
"""item -> reviewer -> {question: "yes" (confirmed), "no", or None where not answered}"""

YES, NO = "yes", "no"


class Ratings(Struct, frozen=True):
    """`rows[i][j]` is the class that `raters[j]` gave `items[i]`, which was drawn from `strata[i]`.

    `classes` is the whole label set, sorted, also those that nobody used: AC1 and PABAK depend on their number.
    """

    raters: tuple[str, ...]
    items: tuple[str, ...]
    rows: tuple[Row, ...]
    strata: tuple[str, ...]
    classes: tuple[str, ...]


class Disagreement(Struct, frozen=True):
    """An item that someone has to decide: who gave it which class (raters who gave none are left out)."""

    item: str
    stratum: str
    ratings: dict[str, str]


def ratings_of(
    by_item: Mapping[str, Mapping[str, str | None]],
    *,
    strata: Mapping[str, str] | None = None,
    classes: Collection[str] | None = None,
    raters: Sequence[str] | None = None,
) -> Ratings:
    """The table of item -> {rater: class}; a rater left out, None or "" is a rating that is missing.

    `strata` names the stratum each item was sampled from (one stratum for all where it is None). `classes` is the label
    set where it is larger than what was used; `raters` gives their order (else the order in which they appear).
    Raises InputError for a class outside `classes`, a rater outside `raters`, or an item without stratum.
    """
    seen = list(dict.fromkeys(name for given in by_item.values() for name in given))
    names = tuple(seen if raters is None else raters)
    if unknown := [name for name in seen if name not in names]:
        raise InputError("this reviewer was not named", field="raters", found=unknown[0], expected=_listed(names))
    used = {label for given in by_item.values() for label in given.values() if label}
    known = tuple(sorted(used if classes is None else set(classes)))
    for item, given in by_item.items():
        for rater, label in given.items():
            if label and label not in known:
                where = f"{item}.{rater}"
                raise InputError(
                    "this class is not one of the labels", field=where, found=label, expected=_listed(known)
                )
        if strata is not None and item not in strata:
            hint = "Give every audited item the stratum it was sampled from."
            raise InputError("this item has no stratum", field="strata", found=item, hint=hint)
    return Ratings(
        raters=names,
        items=tuple(by_item),
        rows=tuple(tuple(given.get(name) or None for name in names) for given in by_item.values()),
        strata=tuple("" if strata is None else strata[item] for item in by_item),
        classes=known,
    )


def only(ratings: Ratings, raters: Sequence[str]) -> Ratings:
    """The same items and classes as these raters saw them. Raises InputError for a rater who is not in the table."""
    for name in raters:
        if name not in ratings.raters:
            raise InputError("nobody of this name rated", field="raters", found=name, expected=_listed(ratings.raters))
    columns = [ratings.raters.index(name) for name in raters]
    rows = tuple(tuple(row[column] for column in columns) for row in ratings.rows)
    return Ratings(tuple(raters), ratings.items, rows, ratings.strata, ratings.classes)


def by_question(answers: Answers, question: str, *, strata: Mapping[str, str] | None = None) -> Ratings:
    """One yes-or-no question of many, as ratings "yes" or "no".

    Items on which nobody was asked it are left out: a question that is not due is not an answer. Raises InputError for
    any other word.
    """
    asked = {
        item: {name: said.get(question) for name, said in given.items()}
        for item, given in answers.items()
        if any(question in said for said in given.values())
    }
    return ratings_of(asked, strata=strata, classes=(YES, NO))


def to_adjudicate(ratings: Ratings) -> tuple[Disagreement, ...]:
    """The items to whom not everyone who rated gave the same class, in the order of the table."""
    return tuple(
        Disagreement(item, stratum, {name: label for name, label in zip(ratings.raters, row, strict=True) if label})
        for item, stratum, row in zip(ratings.items, ratings.strata, ratings.rows, strict=True)
        if len(_said(row)) > 1
    )


def settled(ratings: Ratings, adjudicated: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """item -> the class that counts as the human one: the adjudicated, else the unanimous, else None (still open).

    Raises InputError where a class was adjudicated for an item that is not in the table, or is no class of it.
    """
    decided = adjudicated or {}
    for item, label in decided.items():
        if item not in ratings.items:
            raise InputError("no such item was rated", field="adjudicated", found=item)
        if label not in ratings.classes:
            known = _listed(ratings.classes)
            raise InputError("this class is not one of the labels", field=item, found=label, expected=known)
    answer: dict[str, str | None] = {}
    for item, row in zip(ratings.items, ratings.rows, strict=True):
        said = _said(row)
        answer[item] = decided.get(item, next(iter(said)) if len(said) == 1 else None)
    return answer


def majority(ratings: Ratings) -> dict[str, str | None]:
    """item -> the class more than half of those who rated it gave; None where there is no such class."""
    answer: dict[str, str | None] = {}
    for item, row in zip(ratings.items, ratings.rows, strict=True):
        said = _said(row)
        answer[item] = next((label for label, count in said.items() if 2 * count > said.total()), None)
    return answer


def _said(row: Row) -> Counter[str]:
    return Counter(label for label in row if label is not None)


def _listed(names: Iterable[str]) -> str:
    return "one of " + (", ".join(names) or "(none)")
