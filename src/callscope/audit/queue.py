"""Which items a reviewer goes through, in which order, and which of them are done. Pure.

The order is the reviewer's own, so that what tires a reader does not fall on the same items for all. The adjudicator
sees the items on which reviewers differ, and what they said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callscope.audit.items import Answer, AuditItem, same_gold
from callscope.audit.sample import in_order
from callscope.audit.shown import plain_answer
from callscope.reports.safe import inert

__all__ = ["complete", "disputed", "order_for", "reviews"]

AllAnswers = Mapping[str, Mapping[str, Answer]]
"""Reviewer -> item id -> answer."""


def order_for(reviewer: str, items: Sequence[AuditItem], seed: int) -> list[str]:
    """The ids of the items in this reviewer's order; the same whenever it is asked for."""
    return [str(key[-1]) for key in in_order("review", seed, ((reviewer, item.id) for item in items))]


def complete(item: AuditItem, answer: Answer | None) -> bool:
    """Whether everything that is asked of an item is answered."""
    return answer is not None and all(name in answer.answers for name in item.asked)


def disputed(items: Sequence[AuditItem], answers: AllAnswers) -> dict[str, tuple[str, ...]]:
    """Item id -> what reviewers differ in: names of questions, and `correction` where two wrote different gold."""
    found: dict[str, tuple[str, ...]] = {}
    for item in items:
        given = [mine[item.id] for mine in answers.values() if item.id in mine]
        differs = [name for name in item.asked if len({a.answers[name] for a in given if name in a.answers}) > 1]
        written = [a.correction for a in given if a.correction is not None]
        if not all(same_gold(gold, written[0]) for gold in written):
            differs.append("correction")
        if differs:
            found[item.id] = tuple(differs)
    return found


def reviews(item: str, answers: AllAnswers) -> list[dict[str, Any]]:
    """What each reviewer said of an item, for the adjudicator."""
    said = {name: plain_answer(mine[item]) for name, mine in sorted(answers.items()) if item in mine}
    return [{"reviewer": name, **each, "note": inert(each["note"])} for name, each in said.items()]
