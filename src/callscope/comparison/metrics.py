"""What can be compared: names of rates, which cases each speaks of, and when a trial is a hit.

The rates of a report mean here what they mean there (`reports.group_summary.RATES`); recall and accuracy are
PluginEval's, as `reports.queries` counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from callscope.contract import Case, Derived, item_of
from callscope.errors import InputError
from callscope.reports.group_summary import RATES
from callscope.reports.queries import query_of
from callscope.reports.tally import Way
from callscope.reports.view import expectation_class, failing_stage, is_observed

__all__ = ["EXCLUDED", "METRICS", "OUTSIDE", "Metric", "lost_because", "metric_named"]


class Metric(NamedTuple):
    """A rate that can be compared.

    Attributes:
        name: as on the command line.
        does: what the better or worse does more often, as in "B passes more often than A".
        speaks_of: whether a case belongs to the rate at all.
        hit: whether a trial counts for it: True a hit, False a miss, None neither.
        conditional: the denominator depends on what the model did, so a case may be in it for one and not the other.
    """

    name: str
    does: str
    speaks_of: Callable[[Case], bool]
    hit: Callable[[Case, Derived], bool | None]
    conditional: bool = False


def _any(_: Case) -> bool:
    return True


def _of(*classes: str) -> Callable[[Case], bool]:
    return lambda case: expectation_class(case.expected) in classes


def _reported(name: str) -> Callable[[Case, Derived], bool | None]:
    rate = RATES[name]

    def hit(case: Case, derived: Derived) -> bool | None:
        v = derived.verdict
        way = Way(
            v.acceptance, v.selection, v.structure, v.semantics, v.attribution, v.passed,
            is_observed(v), failing_stage(v), tuple(sorted(v.violations)),
        )  # fmt: skip
        return rate(expectation_class(case.expected), way)

    return hit


_RIGHT = {"tp": True, "tn": True, "fn": False, "fp": False}


def _attributed(case: Case, derived: Derived) -> bool | None:
    return _RIGHT.get(query_of(item_of(case), case.excluded, derived.verdict).state)


def _compatible(_: Case, derived: Derived) -> bool | None:
    found = derived.compatible_passed
    return found if isinstance(found, bool) else None


def _positive(case: Case) -> bool:
    return item_of(case) == "positive"


def _not_underspecified(case: Case) -> bool:
    return item_of(case) != "underspecified"


_TOOLS = _of("tool", "tools")

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("passed", "passes", _any, lambda _, derived: derived.verdict.passed),
        Metric("recall", "makes every needed call right", _positive, _attributed),
        Metric("accuracy", "calls, or keeps from calling, rightly", _not_underspecified, _attributed),
        Metric("selection", "chooses the right tool", _TOOLS, _reported("selection")),
        Metric("structure", "keeps the schema in its calls", _any, _reported("structure"), conditional=True),
        Metric("exact", "gives exactly the expected arguments", _TOOLS, _reported("exact"), conditional=True),
        Metric("acceptable", "gives acceptable arguments", _TOOLS, _reported("acceptable"), conditional=True),
        Metric("abstention", "keeps from calling where no call is right", _of("abstention"), _reported("abstention")),
        Metric("over_calls", "calls where no call is right", _of("abstention"), _reported("over_calls")),
        Metric("clarification", "asks for what is missing", _of("clarification"), _reported("clarification")),
        Metric("guessed", "guesses what is missing", _of("clarification"), _reported("guessed")),
        Metric(
            "unnecessary_clarification",
            "asks although nothing is missing",
            _TOOLS,
            _reported("unnecessary_clarification"),
        ),
        Metric("compatible", "passes the benchmark's own checker", _any, _compatible),
    )
}
"""`recall` and `accuracy` are those of a report's query-level table: a judge failure on a positive is a false negative,
as the document has it; `accuracy` leaves out underspecified cases, which have a rate of their own (`clarification`)."""


def metric_named(name: str) -> Metric:
    """The metric of a name. Raises InputError that lists those there are."""
    if name not in METRICS:
        raise InputError("is no metric", field="--metric", found=name, expected=f"one of {', '.join(METRICS)}")
    return METRICS[name]


def lost_because(derived: Derived) -> str:
    """Why a trial has no value, in words: coverage loss with its category, undecided, or outside a denominator."""
    verdict = derived.verdict
    if not is_observed(verdict):
        category = verdict.acceptance if verdict.acceptance != "accepted" else "not observed"
        return f"coverage loss: {category}"
    if verdict.decided_by.get("passed") == "case_excluded":
        return EXCLUDED
    undecided = "undecided" in (verdict.selection, verdict.semantics) or verdict.attribution == "judge_failure"
    return "undecided" if undecided or verdict.passed is None else OUTSIDE


OUTSIDE = "outside this rate's denominator"
EXCLUDED = "excluded: no answer can meet its gold"
"""Reasons that are no loss: the case could not have had a value, whatever was observed."""
