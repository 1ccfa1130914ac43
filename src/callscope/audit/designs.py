"""The two audits: what each samples, how the sample is divided, and what a reviewer is asked.

| design    | a unit is | strata                              | asked                                               |
|-----------|-----------|-------------------------------------|-----------------------------------------------------|
| reference | a case    | positive, negative, underspecified  | need (all), target and args (where calls are due)   |
| judge     | a trial   | correct, missed, spurious, parameter| attribution, with the judge's own kept from the page|

Presets are the designs of the PluginEval document's two audits. Drawing a sample is `sample`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from callscope.contract import Attribution, Item
from callscope.errors import InputError

__all__ = [
    "ATTRIBUTIONS",
    "DESIGNS",
    "PRESET_SEED",
    "STRATUM_OF_ATTRIBUTION",
    "STRATUM_OF_ITEM",
    "Design",
    "DesignName",
    "Question",
    "asked_of",
    "question",
    "quotas_from",
]

DesignName = Literal["reference", "judge"]

PRESET_SEED = 20260725
"""The seed of the document's reference audit; ours for both presets."""

ATTRIBUTIONS: Mapping[str, str] = {
    "correct": "correct",
    "missed": "missed call",
    "spurious": "spurious call",
    "parameter": "parameter error",
}
"""What a trial can be attributed to in an audit of the judge, in the order of the keys 1 to 4, and its words."""

_VALID: Mapping[str, str] = {"yes": "yes", "no": "no"}

STRATUM_OF_ATTRIBUTION: Mapping[Attribution, str] = {
    "correct": "correct",
    "miss_recall": "missed",
    "over_recall": "spurious",
    "parameter_error.temporal": "parameter",
    "parameter_error.missing": "parameter",
    "parameter_error.value": "parameter",
}
"""A verdict's attribution -> its stratum. What is not here (judge_failure, not_observed) attributes nothing."""

STRATUM_OF_ITEM: Mapping[Item, str] = {
    "positive": "positive",
    "targeted_negative": "negative",
    "global_negative": "negative",
    "underspecified": "underspecified",
}


class Question(NamedTuple):
    """One thing a reviewer is asked. `answers`: stored answer -> its words, in the order in which they are shown."""

    name: str
    answers: Mapping[str, str]


class Design(NamedTuple):
    """An audit's design. `quotas`: stratum -> how many its preset draws. `units` names what is drawn, for messages."""

    name: DesignName
    units: str
    strata: tuple[str, ...]
    quotas: Mapping[str, int]
    questions: tuple[Question, ...]


DESIGNS: Mapping[DesignName, Design] = {
    "reference": Design(
        "reference",
        "cases",
        ("positive", "negative", "underspecified"),
        {"positive": 250, "negative": 50},
        tuple(Question(name, _VALID) for name in ("need", "target", "args")),
    ),
    "judge": Design(
        "judge",
        "trials",
        tuple(ATTRIBUTIONS),
        {"correct": 100, "missed": 50, "spurious": 50, "parameter": 100},
        (Question("attribution", ATTRIBUTIONS),),
    ),
}


def asked_of(design: DesignName, stratum: str) -> tuple[str, ...]:
    """The names of the questions a unit of this stratum is asked."""
    names = tuple(each.name for each in DESIGNS[design].questions)
    return names if design == "judge" or stratum == "positive" else ("need",)


def question(name: str) -> Question:
    """The question of a name. Raises KeyError where no design asks it."""
    return {each.name: each for design in DESIGNS.values() for each in design.questions}[name]


def quotas_from(written: Sequence[str], design: Design) -> dict[str, int]:
    """Quotas as written on the command line, `correct=100`. Strata that are not named get none.

    Raises InputError: another form, a stratum the design has not, one named twice, or a count below 0.
    """
    quotas: dict[str, int] = {}
    for text in written:
        name, equals, count = text.partition("=")
        if not equals or not count.isascii() or not count.isdigit() or len(count) > 9:
            raise InputError("this is no quota", field="--quota", found=text, expected="STRATUM=COUNT")
        if name not in design.strata:
            known = ", ".join(design.strata)
            raise InputError("there is no such stratum", field="--quota", found=name, expected=f"one of {known}")
        if name in quotas:
            raise InputError("a stratum stands here twice", field="--quota", found=name, hint="Keep one of the two")
        quotas[name] = int(count)
    return quotas
