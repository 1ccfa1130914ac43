"""`callscope inspect`: trials grouped by category and model, counted whole, with examples and their raw evidence.

What did not pass stands in every category it belongs to; what passed is shown where a case, a tag, or a disagreement
with the benchmark's own checker was asked for. `inspected` lays it out as text.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import UNSET

from callscope.contract import Case, Derived, Verdict
from callscope.errors import InputError
from callscope.reports.blame import Agreement, Hint, hints
from callscope.reports.checked import Differences, difference, their_error
from callscope.reports.filters import CATEGORIES, Filters, check_filters, in_category, wanted
from callscope.reports.judged import has_judge
from callscope.reports.view import GroupKey, RunView, cases_by_id, failing_stage, group_key, is_observed

__all__ = ["PASSED", "Failure", "FailureGroup", "Found", "agreements", "categories", "failures", "search"]

PASSED = "passed"
"""The category of a trial that passed without a violation; shown only where such trials are asked for."""


class Failure(NamedTuple):
    """A trial to be shown, with its case and hints on whose fault it may be (none where it passed)."""

    derived: Derived
    case: Case
    hints: tuple[Hint, ...]


class FailureGroup(NamedTuple):
    """The trials of one category in one group: how many there are, and the first of them in plan order."""

    category: str
    key: GroupKey
    trials: int
    examples: tuple[Failure, ...]


class Found(NamedTuple):
    """What was asked for: the groups, how many trials stand in them, and what the benchmark's own checker says of all
    trials of the suites, models and cases asked for (None: it was not asked for)."""

    groups: tuple[FailureGroup, ...]
    trials: int
    differences: Differences | None


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
    tag: str | None = None,
    disagree: bool = False,
    limit: int = 1,
) -> tuple[FailureGroup, ...]:
    """The groups of `search`."""
    return search(view, Filters(suite, experiment, model, category, case, tag, disagree), limit=limit).groups


def search(view: RunView, filters: Filters, *, limit: int = 1) -> Found:
    """Trials by category and model, categories in the order of the stages, models in plan order.

    `category` is a whole name or any whole part of it (`selection`, `wrong_tool`, `attribution.parameter_error`),
    `tag` what a tag begins with. With `disagree` only trials on which the benchmark's own checker says another thing
    than we do, grouped by who alone passed them and by what the other found. At most `limit` examples are kept for each
    category and model; the counts are whole.

    Raises InputError, with the names there are, for a filter that names nothing of this run, and for `disagree` where
    no trial was checked by a benchmark's own checker.
    """
    check_filters(view, filters)
    known = agreements(view)
    cases = {name: cases_by_id(view, name) for name in dict.fromkeys(block.suite for block in view.manifest.plan)}
    counts: dict[tuple[str, GroupKey], int] = {}
    kept: dict[tuple[str, GroupKey], list[Derived]] = {}
    differences, trials, checked = Differences(), 0, False
    for derived in view.derived():
        v = derived.verdict
        checked = checked or derived.compatible_passed is not UNSET
        if not wanted(v, cases[v.suite].get(v.case_id), filters):
            continue
        differences = differences.with_trial(derived)
        names = _stands_in(derived, filters)
        trials += bool(names)
        for name in names:
            place = (name, group_key(v))
            counts[place] = counts.get(place, 0) + 1
            if len(examples := kept.setdefault(place, [])) < limit:
                examples.append(derived)
    if filters.disagree and not checked:
        raise InputError(
            "no trial of this run was checked by a benchmark's own checker",
            field="--disagree",
            hint="`callscope import` makes runs that hold its verdicts",
        )
    plan = {GroupKey(b.suite, b.experiment, b.model): i for i, b in reversed(list(enumerate(view.manifest.plan)))}
    judged, groups = has_judge(view), []
    for name, key in sorted(counts, key=lambda place: (_rank(place[0]), place[0], plan.get(place[1], len(plan)))):
        shown = tuple(
            Failure(d, cases[key.suite][d.verdict.case_id], _hints(d, known, judged=judged)) for d in kept[name, key]
        )
        groups.append(FailureGroup(name, key, counts[name, key], shown))
    return Found(tuple(groups), trials, differences if filters.disagree else None)


def _hints(derived: Derived, known: dict[tuple[str, str, str], Agreement], *, judged: bool) -> tuple[Hint, ...]:
    v = derived.verdict
    if not categories(v):
        return ()
    return hints(derived, known.get((v.suite, v.experiment, v.case_id)), judged=judged)


def _stands_in(derived: Derived, filters: Filters) -> tuple[str, ...]:
    """The headings a trial is listed under, of those asked for."""
    names = categories(derived.verdict)
    if not names and (filters.case is not None or filters.tag is not None):
        names = (PASSED,)
    if filters.disagree:
        way = difference(derived)
        if way is None or not _asked(categories(derived.verdict) or (PASSED,), filters.category):
            return ()
        why = their_error(derived) if way == "ours_passed" else next(iter(categories(derived.verdict)), "")
        return (f"{way}.{why or 'without a reason'}",)
    return _asked(names, filters.category)


def _asked(names: tuple[str, ...], category: str | None) -> tuple[str, ...]:
    return tuple(name for name in names if category is None or in_category(name, category))


_ORDER = (*dict.fromkeys(name.split(".", 1)[0] for name in CATEGORIES), PASSED, "ours_passed", "theirs_passed")


def _rank(category: str) -> int:
    return _ORDER.index(category.split(".", 1)[0])
