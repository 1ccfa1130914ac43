"""`callscope inspect`: failures grouped by category and model, each with examples and their raw evidence.

A trial stands in every category it belongs to. Counting is complete; only the examples kept are bounded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from callscope.contract import Case, Derived, Verdict
from callscope.reports.blame import Agreement, Hint, hints
from callscope.reports.evidence import Evidence, evidence, trial_key
from callscope.reports.filters import CATEGORIES, Filters, check_filters, in_category
from callscope.reports.rawtext import RAW_LIMIT, raw_text
from callscope.reports.safe import one_line
from callscope.reports.view import GroupKey, RawLookup, RunView, cases_by_id, failing_stage, group_key, is_observed

__all__ = ["Failure", "FailureGroup", "agreements", "categories", "failures", "inspect_text"]


class Failure(NamedTuple):
    """A trial that did not pass, with its case and hints on whose fault it may be."""

    derived: Derived
    case: Case
    hints: tuple[Hint, ...]


class FailureGroup(NamedTuple):
    """The failures of one category in one group: how many trials, and the first of them in plan order."""

    category: str
    key: GroupKey
    trials: int
    examples: tuple[Failure, ...]


def categories(verdict: Verdict) -> tuple[str, ...]:
    """The categories a trial fails in, as `coverage.timeout`, `selection.wrong_tool`, `attribution.miss_recall`, ….

    Empty where it passed without a violation.
    """
    if not is_observed(verdict):
        return (f"coverage.{verdict.acceptance}",)
    found = [f"violation.{name}" for name in dict.fromkeys(verdict.violations)]
    if verdict.passed is None:
        pairs = (("selection", verdict.selection), ("semantics", verdict.semantics))
        return (
            *found,
            *([f"undecided.{name}" for name, value in pairs if value == "undecided"] or ["undecided.other"]),
        )
    stage = failing_stage(verdict)
    if stage in {"selection", "structure", "semantics"}:
        found.insert(0, f"{stage}.{getattr(verdict, stage)}")
    elif stage in {"recovery", "other"}:
        found.append(f"{stage}.failed")
    if verdict.attribution not in {"correct", "not_observed"}:
        found.append(f"attribution.{verdict.attribution}")
    return tuple(found)


def agreements(view: RunView) -> dict[tuple[str, str, str], Agreement]:
    """(suite, experiment, case id) -> how many models were observed on it, and how many of them never passed."""
    seen: dict[tuple[str, str, str], dict[str, bool]] = {}
    for derived in view.derived():
        v = derived.verdict
        if v.passed is not None:
            models = seen.setdefault((v.suite, v.experiment, v.case_id), {})
            models[v.model] = models.get(v.model, False) or v.passed
    return {case: Agreement(len(models), sum(not ok for ok in models.values())) for case, models in seen.items()}


def failures(
    view: RunView,
    *,
    suite: str | None = None,
    experiment: str | None = None,
    model: str | None = None,
    category: str | None = None,
    case: str | None = None,
    limit: int = 1,
) -> tuple[FailureGroup, ...]:
    """Failures by category and model, categories in the order of the stages, models in plan order.

    `category` is a whole name or any whole part of it (`selection`, `wrong_tool`, `attribution.parameter_error`). At
    most `limit` examples are kept for each category and model; the counts are whole.

    Raises InputError, with the names there are, for a filter that names nothing of this run.
    """
    check_filters(view, Filters(suite, experiment, model, category, case))
    known = agreements(view)
    counts: dict[tuple[str, GroupKey], int] = {}
    kept: dict[tuple[str, GroupKey], list[Derived]] = {}
    for derived in view.derived():
        v = derived.verdict
        if not _wanted(v, suite, experiment, model, case):
            continue
        for name in categories(v):
            if category is None or in_category(name, category):
                place = (name, group_key(v))
                counts[place] = counts.get(place, 0) + 1
                if len(examples := kept.setdefault(place, [])) < limit:
                    examples.append(derived)
    cases = {name: cases_by_id(view, name) for name in dict.fromkeys(key.suite for _, key in counts)}
    plan = {GroupKey(b.suite, b.experiment, b.model): i for i, b in reversed(list(enumerate(view.manifest.plan)))}
    groups = []
    for name, key in sorted(counts, key=lambda place: (_rank(place[0]), place[0], plan.get(place[1], len(plan)))):
        shown = tuple(
            Failure(d, cases[key.suite][d.verdict.case_id], hints(d, known.get((*key[:2], d.verdict.case_id))))
            for d in kept[name, key]
        )
        groups.append(FailureGroup(name, key, counts[name, key], shown))
    return tuple(groups)


_ORDER = tuple(dict.fromkeys(name.split(".", 1)[0] for name in CATEGORIES))


def _rank(category: str) -> int:
    return _ORDER.index(category.split(".", 1)[0])


def _wanted(v: Verdict, suite: str | None, experiment: str | None, model: str | None, case: str | None) -> bool:
    pairs = ((suite, v.suite), (experiment, v.experiment), (model, v.model), (case, v.case_id))
    return all(asked is None or asked == found for asked, found in pairs)


def inspect_text(
    groups: Iterable[FailureGroup], *, raw: RawLookup | None = None, width: int = 100, full: bool = False
) -> str:
    """The groups as plain text for a terminal: prompt, expectation, outcome, every stage's evidence, raw bytes.

    With `full` nothing is cut; else what all requests of a model share is, and texts of more than 100,000 characters.
    An example that stands in several categories is written out once and referred to afterwards.
    """
    lines: list[str] = []
    shown: set[object] = set()
    category = ""
    for group in groups:
        if group.category != category:
            category = group.category
            lines += ["", f"== {category} ".ljust(width, "=")]
        key = group.key
        where = f"{one_line(key.suite, 60)} / {one_line(key.experiment, 60)}"
        lines += [
            "",
            f"-- {one_line(key.model, 80)}  ({where}): {group.trials} trial{'' if group.trials == 1 else 's'}",
        ]
        for failure in group.examples:
            place = trial_key(failure.derived)
            if place in shown:
                lines += [f"   {one_line(place.case_id, 80)} repeat {place.repeat}: shown above"]
                continue
            shown.add(place)
            lines += [f"   {line}".rstrip() for line in _example(failure, raw, full=full)]
        more = group.trials - len(group.examples)
        if more > 0:
            lines += [f"   … {more} more"]
    return "\n".join(lines).strip("\n") + "\n" if lines else "No failures.\n"


def _example(failure: Failure, raw: RawLookup | None, *, full: bool) -> Iterator[str]:
    e: Evidence = evidence(failure.derived, failure.case, limit=sys.maxsize if full else RAW_LIMIT)
    yield ""
    yield e.title
    yield from _field("prompt", e.prompt)
    yield from _field("expected", e.expected)
    yield from _field("came back", e.outcome)
    for number, later in enumerate(e.later, 2):
        yield from _field(f"round {number}", later)
    for stage in e.stages:
        rule = f"  (by {stage.rule})" if stage.rule else ""
        yield from _field(stage.name, f"{stage.value}{rule}")
        yield from _field("", stage.saw)
    for name, values in (("violations", e.violations), ("flags", e.flags)):
        yield from _field(name, ", ".join(values))
    for name, values in (("note", e.notes), ("changed", e.changes)):
        for value in values:
            yield from _field(name, value)
    for step in e.repairs:
        yield from _field("repair", step)
    yield from _field("repaired", e.repaired)
    yield from _field("measured", e.facts)
    for hint in failure.hints:
        yield from _field("perhaps", f"{hint.party}: {hint.reason}")
    if raw is not None:
        record = raw(trial_key(failure.derived))
        yield from _field("raw", raw_text(record, full=full) if record is not None else "no record is stored")


def _field(name: str, text: str) -> Iterator[str]:
    for i, line in enumerate(text.splitlines() if text else ()):
        yield f"  {name if i == 0 else '':<12}{line}"
