"""How far reviewers agree: with each other, and each with a reference such as the judge's attribution.

Pure. Each statistic is an `Estimate`: a value with an interval, or "undefined" with the reason; what is degenerate is
decided in `coefficients`. Whether the judge may be corrected by what was found is `calibration`'s matter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from msgspec import Struct
from msgspec.structs import replace

from callscope.audit import coefficients as closed
from callscope.audit.ratings import NO, YES, Answers, Disagreement, Ratings, only, to_adjudicate
from callscope.audit.stratified import Estimate, Resampling, Row, Undefined, bootstrap, estimate, proportion
from callscope.errors import InputError
from callscope.scoring.statistics import CONFIDENCE

__all__ = [
    "Agreement",
    "Coefficients",
    "Comparison",
    "Confirmation",
    "Validity",
    "agreement",
    "coefficients",
    "confirmation",
    "validity",
]

DEFAULT = Resampling()


class Coefficients(Struct, frozen=True):
    """The agreement of one set of raters, six ways. `cohen` is defined for two raters only.

    `pabak` is Brennan and Prediger's coefficient, which is PABAK where there are two classes.
    """

    raters: tuple[str, ...]
    observed: Estimate
    cohen: Estimate
    fleiss: Estimate
    alpha: Estimate
    ac1: Estimate
    pabak: Estimate


class Confirmation(Struct, frozen=True):
    """How often a reviewer gave the class that the reference gave, among the items of that class the reviewer rated."""

    reviewer: str
    label: str
    confirmed: Estimate


class Comparison(Struct, frozen=True):
    """One reviewer beside the reference."""

    reviewer: str
    coefficients: Coefficients
    confirmation: tuple[Confirmation, ...]


class Validity(Struct, frozen=True):
    """The share of items all whose due questions a reviewer confirmed.

    An item with one question rejected is invalid whatever the others say; one with none rejected and some unanswered
    is `incomplete`, and stands neither in `k` nor in `n`.
    """

    reviewer: str
    valid: Estimate
    incomplete: int


class Agreement(Struct, frozen=True):
    """What an audit says of agreement: all reviewers together, each pair, each against the reference, what is open.

    `reference` is None and `against` empty where there is none. `adjudicate` lists disagreements among the reviewers;
    the reference has no vote in it. `unrated` counts items that no reviewer rated.
    """

    items: int
    unrated: int
    classes: tuple[str, ...]
    reference: str | None
    among: Coefficients
    pairs: tuple[Coefficients, ...]
    against: tuple[Comparison, ...]
    adjudicate: tuple[Disagreement, ...]


def agreement(ratings: Ratings, *, reference: str | None = None, plan: Resampling = DEFAULT) -> Agreement:
    """All statistics of an audit. `reference` names the rater (the judge) the others are compared with, and who is then
    no reviewer. Raises InputError where nobody of that name is in the table.
    """
    if reference is not None:
        only(ratings, [reference])
    reviewers = [name for name in ratings.raters if name != reference]
    people = only(ratings, reviewers)
    return Agreement(
        items=len(ratings.items),
        unrated=sum(not any(row) for row in people.rows),
        classes=ratings.classes,
        reference=reference,
        among=coefficients(people, plan),
        pairs=tuple(coefficients(only(people, pair), plan) for pair in combinations(reviewers, 2)),
        against=() if reference is None else tuple(_compared(ratings, name, reference, plan) for name in reviewers),
        adjudicate=to_adjudicate(people),
    )


def coefficients(ratings: Ratings, plan: Resampling = DEFAULT) -> Coefficients:
    """The six coefficients of the raters in this table, each with its stratified-bootstrap interval.

    Where all pairs agree, or none does, resampling cannot vary the observed agreement; its interval is then Wilson's,
    over the items that have pairs.
    """

    classes = len(ratings.classes)

    def statistics(rows: Mapping[Row, int]) -> Sequence[float | Undefined]:
        tallied = closed.tally(rows)
        return (
            closed.observed(tallied),
            closed.cohen(rows),
            closed.fleiss(tallied),
            closed.alpha(tallied),
            closed.gwet(tallied, classes),
            closed.brennan_prediger(tallied, classes),
        )

    raters = len(ratings.raters)
    rated = sum(any(row) for row in ratings.rows)
    found = [
        estimate(value, interval, plan, items=rated, raters=raters)
        for value, interval in bootstrap(_fewest(ratings), ratings.strata, statistics, plan)
    ]
    return Coefficients(ratings.raters, _counted(ratings, found[0], plan), *found[1:])


def confirmation(
    ratings: Ratings, reviewer: str, reference: str, confidence: float = CONFIDENCE
) -> tuple[Confirmation, ...]:
    """Per class of the label set: the items the reference put there, and how many of them the reviewer put there too.

    Wilson intervals. Raises InputError where nobody of these names is in the table.
    """
    rows = only(ratings, (reference, reviewer)).rows
    answer = []
    for label in ratings.classes:
        said = [given for stated, given in rows if stated == label and given is not None]
        nothing = f"{reviewer} rated no item that {reference} called {label!r}"
        k = sum(given == label for given in said)
        share = proportion(k, len(said), raters=1, nothing=nothing, confidence=confidence)
        answer.append(Confirmation(reviewer, label, share))
    return tuple(answer)


def validity(
    answers: Answers, due: Mapping[str, Collection[str]], confidence: float = CONFIDENCE
) -> tuple[Validity, ...]:
    """Per reviewer, with Wilson intervals, from item -> reviewer -> {question: "yes", "no" or None}.

    `due` names the questions of each item (need alone on negatives; need, target and arguments on positives). Raises
    InputError for an item without due questions, an answer to a question that is not due, or one of another word.
    """
    states: dict[str, list[bool | None]] = {}
    for item, given in answers.items():
        asked = due.get(item)
        if not asked:
            raise InputError("this item has no questions", field="due", found=item, expected="one or more questions")
        for reviewer, said in given.items():
            for question, word in said.items():
                where = f"{item}.{reviewer}"
                if question not in asked:
                    expected = "one of " + ", ".join(sorted(asked))
                    raise InputError("this question is not due here", field=where, found=question, expected=expected)
                if word not in {YES, NO, "", None}:
                    where = f"{where}.{question}"
                    raise InputError("no answer to this question", field=where, found=word, expected="yes or no")
            states.setdefault(reviewer, []).append(_valid([said.get(question) for question in asked]))
    return tuple(_validity(reviewer, seen, confidence) for reviewer, seen in states.items())


def _validity(reviewer: str, seen: Sequence[bool | None], confidence: float) -> Validity:
    whole = [state for state in seen if state is not None]
    nothing = f"{reviewer} answered all questions of no item"
    share = proportion(sum(whole), len(whole), raters=1, nothing=nothing, confidence=confidence)
    return Validity(reviewer, share, len(seen) - len(whole))


def _valid(answers: Sequence[str | None]) -> bool | None:
    if NO in answers:
        return False
    return True if all(word == YES for word in answers) else None


def _compared(ratings: Ratings, reviewer: str, reference: str, plan: Resampling) -> Comparison:
    pair = only(ratings, (reference, reviewer))
    confirmed = confirmation(ratings, reviewer, reference, plan.confidence)
    return Comparison(reviewer, coefficients(pair, plan), confirmed)


def _fewest(ratings: Ratings) -> Sequence[Row]:
    """The rows in as few forms as the statistics tell apart: beyond two raters none of them asks who said what."""
    if len(ratings.raters) <= 2:
        return ratings.rows
    return [tuple(sorted(row, key=lambda label: (label is None, label or ""))) for row in ratings.rows]


def _counted(ratings: Ratings, found: Estimate, plan: Resampling) -> Estimate:
    """The observed agreement with its counts of pairs."""
    rows: dict[Row, int] = {}
    for row in ratings.rows:
        rows[row] = rows.get(row, 0) + 1
    tallied = closed.tally(rows)
    k, n = closed.agreeing_pairs(tallied)
    if n and found.method == "none" and k in {0, n}:
        paired = sum(level.items for size, level in tallied.levels.items() if size > 1)
        alike = proportion(paired if k else 0, paired, raters=found.raters, nothing="", confidence=plan.confidence)
        return replace(alike, k=k, n=n)
    return replace(found, k=k, n=n)
