"""What an audit found: answers -> validity, agreement, what has to be decided, and the judge's own error. Pure.

The estimators are `agreement`'s and `calibration`'s; here is which of an audit's answers go into which of them. The
reference audit is the PluginEval document's Table 4, the audit of the judge its Table 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from callscope.audit.agreement import Agreement, Validity, agreement, validity
from callscope.audit.calibration import CorrectedRate, calibrate, corrected_rate
from callscope.audit.confusion import Confusion, confusion
from callscope.audit.designs import ATTRIBUTIONS, DESIGNS, DesignName
from callscope.audit.items import Answer
from callscope.audit.queue import complete, disputed
from callscope.audit.ratings import Ratings, by_question, majority, ratings_of
from callscope.audit.sample import Stratum
from callscope.audit.store import ADJUDICATOR, AuditFolder
from callscope.audit.stratified import Estimate, Resampling, proportion
from callscope.errors import InputError

__all__ = ["JUDGE", "Dispute", "Findings", "Judged", "Level", "find"]

JUDGE = "the judge"
"""The judge among the raters; no reviewer can be called so."""

OVERALL = "overall"


class Level(Struct, frozen=True):
    """One question of a reference audit, or all together (`overall`): share confirmed per reviewer, and agreement."""

    name: str
    confirmed: dict[str, Estimate]
    agreement: Agreement


class Judged(Struct, frozen=True):
    """An audit of a judge: agreement, its confusion matrix, and the run's rate of each class corrected by it.

    The human class of an item is the adjudicated one, else the majority's; items that have neither are `unsettled`.
    """

    agreement: Agreement
    confusion: Confusion
    rates: dict[str, CorrectedRate]


class Dispute(Struct, frozen=True):
    """An item on which reviewers differ: in which questions, who said what, and what the adjudicator decided."""

    item: str
    suite: str
    case_id: str
    differ_in: tuple[str, ...]
    said: dict[str, Answer]
    decided: Answer | None


class Findings(Struct, frozen=True):
    """agreement.json. `answered`: reviewer -> how many items they have answered whole."""

    schema: Literal["callscope/audit-agreement/1"]
    design: DesignName
    seed: int
    items: int
    strata: dict[str, Stratum]
    answered: dict[str, int]
    levels: tuple[Level, ...]
    validity: tuple[Validity, ...]
    judged: Judged | None
    adjudicate: tuple[Dispute, ...]


def find(folder: AuditFolder, plan: Resampling) -> Findings:
    """Everything an audit says so far. Raises InputError where nobody has answered anything."""
    answers = {name: folder.answers(name) for name in folder.reviewers()}
    if not answers:
        hint = "`callscope audit serve` shows the items, `callscope audit import` reads a filled sheet"
        raise InputError("nobody has answered anything yet", file=folder.path, hint=hint)
    decided = folder.answers(ADJUDICATOR)
    about = folder.about
    levels, valid = ((), ()) if about.design == "judge" else _reference(folder, answers, plan)
    return Findings(
        schema="callscope/audit-agreement/1",
        design=about.design,
        seed=about.seed,
        items=len(folder.items),
        strata=about.strata,
        answered={
            name: sum(complete(item, mine.get(item.id)) for item in folder.items) for name, mine in answers.items()
        },
        levels=levels,
        validity=valid,
        judged=_judge(folder, answers, decided, plan) if about.design == "judge" else None,
        adjudicate=_disputes(folder, answers, decided),
    )


def _strata(folder: AuditFolder) -> dict[str, str]:
    return {kept.item: kept.stratum for kept in folder.sealed}


def _reference(
    folder: AuditFolder, answers: Mapping[str, Mapping[str, Answer]], plan: Resampling
) -> tuple[tuple[Level, ...], tuple[Validity, ...]]:
    said: dict[str, dict[str, dict[str, str | None]]] = {
        item.id: {
            name: {asked: _given(mine.get(item.id), asked) for asked in item.asked} for name, mine in answers.items()
        }
        for item in folder.items
    }
    due = {item.id: item.asked for item in folder.items}
    whole = {
        item: {name: {OVERALL: _whole(given)} for name, given in by_reviewer.items()}
        for item, by_reviewer in said.items()
    }
    questions = [each.name for each in DESIGNS["reference"].questions]
    levels = [_level(name, by_question(said, name, strata=_strata(folder)), plan) for name in questions]
    levels.append(_level(OVERALL, by_question(whole, OVERALL, strata=_strata(folder)), plan))
    return tuple(level for level in levels if level.agreement.items), validity(said, due, plan.confidence)


def _given(answer: Answer | None, asked: str) -> str | None:
    return None if answer is None else answer.answers.get(asked)


def _whole(given: Mapping[str, str | None]) -> str | None:
    """Whether all that is due was confirmed; one rejection decides, whatever is not answered yet."""
    if "no" in given.values():
        return "no"
    return None if None in given.values() else "yes"


def _level(name: str, ratings: Ratings, plan: Resampling) -> Level:
    confirmed = {}
    for place, reviewer in enumerate(ratings.raters):
        column = [row[place] for row in ratings.rows if row[place] is not None]
        nothing = f"{reviewer} answered no such question"
        k = sum(label == "yes" for label in column)
        confirmed[reviewer] = proportion(k, len(column), raters=1, nothing=nothing, confidence=plan.confidence)
    return Level(name, confirmed, agreement(ratings, plan=plan))


def _judge(
    folder: AuditFolder,
    answers: Mapping[str, Mapping[str, Answer]],
    decided: Mapping[str, Answer],
    plan: Resampling,
) -> Judged:
    people: dict[str, dict[str, str | None]] = {
        item.id: {name: _given(mine.get(item.id), "attribution") for name, mine in answers.items()}
        for item in folder.items
    }
    judged = {kept.item: kept.attribution for kept in folder.sealed}
    with_judge = {item: {**given, JUDGE: judged[item]} for item, given in people.items()}
    strata = _strata(folder)
    ratings = ratings_of(with_judge, strata=strata, classes=ATTRIBUTIONS, raters=(*answers, JUDGE))
    human = majority(ratings_of(people, strata=strata, classes=ATTRIBUTIONS, raters=tuple(answers)))
    human |= {item: said for item, answer in decided.items() if (said := _given(answer, "attribution")) is not None}
    matrix = confusion(judged, human, confidence=plan.confidence)
    population = {name: stratum.population for name, stratum in folder.about.strata.items()}
    rates = {}
    for name, count in population.items():
        calibration = calibrate(matrix, {name}, population=population, confidence=plan.confidence)
        rates[name] = corrected_rate(count, sum(population.values()), calibration, plan.confidence)
    return Judged(agreement(ratings, reference=JUDGE, plan=plan), matrix, rates)


def _disputes(
    folder: AuditFolder, answers: Mapping[str, Mapping[str, Answer]], decided: Mapping[str, Answer]
) -> tuple[Dispute, ...]:
    kept: dict[str, Any] = dict(folder.sealed_by_id)
    return tuple(
        Dispute(
            item,
            kept[item].suite,
            kept[item].case_id,
            differ_in,
            {name: mine[item] for name, mine in answers.items() if item in mine},
            decided.get(item),
        )
        for item, differ_in in disputed(folder.items, answers).items()
    )
