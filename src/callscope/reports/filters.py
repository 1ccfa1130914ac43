"""What `inspect` and `report` may be asked for: names of categories, short or whole, of tags, models, cases, suites.

Checks what was asked against the run before anything is looked up, so that "none found" is only said where it is true.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from msgspec import structs

from callscope.contract import (
    Acceptance,
    Attribution,
    Block,
    Case,
    Derived,
    Manifest,
    Selection,
    Semantics,
    Structure,
    Suite,
    Verdict,
    Violation,
)
from callscope.errors import InputError
from callscope.reports.safe import one_line
from callscope.reports.view import RIGHT_SELECTIONS, RunView

__all__ = ["CATEGORIES", "Filters", "Narrowed", "check_filters", "in_category", "narrowed", "tagged", "wanted"]

_NO_FAILURES = {"accepted", "valid", "exact", "acceptable", "not_applicable", "not_observed", "correct", "undecided"}


def _names(stage: str, values: object) -> tuple[str, ...]:
    return tuple(f"{stage}.{v}" for v in get_args(values) if v not in _NO_FAILURES and v not in RIGHT_SELECTIONS)


CATEGORIES: tuple[str, ...] = (
    *_names("coverage", Acceptance),
    *_names("selection", Selection),
    *_names("structure", Structure),
    *_names("semantics", Semantics),
    *_names("violation", Violation),
    "recovery.failed",
    "other.failed",
    *_names("attribution", Attribution),
    "undecided.selection",
    "undecided.semantics",
    "undecided.other",
)
"""Every category a trial can fail in, in the order of the stages."""

_LISTED = 12


class Filters(NamedTuple):
    """What is asked for; None is everything."""

    suite: str | None = None
    experiment: str | None = None
    model: str | None = None
    category: str | None = None
    case: str | None = None
    tag: str | None = None
    disagree: bool = False

    @property
    def named(self) -> dict[str, str]:
        """What is asked for by name, as name -> value."""
        return {name: value for name, value in self._asdict().items() if isinstance(value, str)}


def tagged(case: Case, asked: str) -> bool:
    """Whether a case has a tag that begins with what was asked."""
    return any(tag.startswith(asked) for tag in case.tags)


def wanted(v: Verdict, case: Case | None, filters: Filters) -> bool:
    """Whether a trial is of the suite, experiment, model, case and tag asked for; `case` is read for the tag alone."""
    pairs = ((filters.suite, v.suite), (filters.experiment, v.experiment), (filters.model, v.model))
    if not all(asked is None or asked == found for asked, found in (*pairs, (filters.case, v.case_id))):
        return False
    return filters.tag is None or (case is not None and tagged(case, filters.tag))


class Narrowed:
    """A run of which only some groups are seen: its plan, its suites and models, and what was derived of them."""

    def __init__(self, view: RunView, filters: Filters) -> None:
        kept = tuple(block for block in view.manifest.plan if _asked(block, filters))
        suites, models = ({getattr(block, name) for block in kept} for name in ("suite", "model"))
        self.only = filters.named
        self.manifest: Manifest = structs.replace(
            view.manifest,
            plan=kept,
            suites=tuple(ref for ref in view.manifest.suites if ref.name in suites),
            models=tuple(ref for ref in view.manifest.models if ref.entry.label in models),
            sent=tuple(each for each in view.manifest.sent if each.suite in suites and each.model in models),
        )
        self.suites: Mapping[str, Suite] = {name: suite for name, suite in view.suites.items() if name in suites}
        self._view, self._filters = view, filters

    @property
    def judge(self) -> Any:
        """The judge that applies to the whole run."""
        return getattr(self._view, "judge", None)

    def derived(self) -> Iterator[Derived]:
        """What was derived of the groups that are seen, in plan order."""
        return (each for each in self._view.derived() if wanted(each.verdict, None, self._filters))


def narrowed(view: RunView, *, suite: str | None, experiment: str | None, model: str | None) -> RunView:
    """The run with only the groups of a suite, an experiment, a model; the run itself where nothing is asked.

    Raises InputError, with the names there are, for a name that this run does not have.
    """
    filters = Filters(suite, experiment, model)
    if not filters.named:
        return view
    check_filters(view, filters)
    return Narrowed(view, filters)


def in_category(name: str, asked: str) -> bool:
    """Whether the category `name` is what was asked for: whole, or any whole part of its dotted name."""
    parts, wanted = name.split("."), asked.split(".")
    return any(parts[i : i + len(wanted)] == wanted for i in range(len(parts)))


def check_filters(view: RunView, filters: Filters) -> None:
    """Raise InputError, with the nearest and the existing names, where a filter names nothing of this run."""
    plan = view.manifest.plan
    _known("suite", filters.suite, (block.suite for block in plan))
    _known("experiment", filters.experiment, (block.experiment for block in plan))
    _known("model", filters.model, (block.model for block in plan))
    _known("case", filters.case, (case for block in plan for case in block.cases))
    _known_tag(view, filters.tag)
    if filters.category is not None and not any(in_category(name, filters.category) for name in CATEGORIES):
        short = [part for name in CATEGORIES for part in (name.rsplit(".", 1)[-1], name.split(".")[0], name)]
        raise _unknown("category", filters.category, list(dict.fromkeys(short)), listed=CATEGORIES)
    if not any(_asked(block, filters) for block in plan):
        asked = {name: value for name, value in filters.named.items() if name not in ("category", "tag")}
        raise InputError(
            "no planned trial is of all of these",
            field=" and ".join(f"--{name}" for name in asked),
            found=", ".join(asked.values()),
        )


def _asked(block: Block, filters: Filters) -> bool:
    pairs = (
        (filters.suite, block.suite),
        (filters.experiment, block.experiment),
        (filters.model, block.model),
    )
    return all(asked is None or asked == found for asked, found in pairs) and filters.case in (None, *block.cases)


def _known(what: str, asked: str | None, names: Iterable[str]) -> None:
    if asked is not None:
        known = list(dict.fromkeys(names))
        if asked not in known:
            raise _unknown(what, asked, known)


def _known_tag(view: RunView, asked: str | None) -> None:
    if asked is None:
        return
    tags = list(dict.fromkeys(tag for suite in view.suites.values() for case in suite.cases for tag in case.tags))
    if not tags:
        raise InputError("no case of this run has a tag", field="--tag", found=asked)
    if not any(tag.startswith(asked) for tag in tags):
        raise _unknown("tag", asked, tags)


def _unknown(what: str, asked: str, known: list[str], *, listed: tuple[str, ...] = ()) -> InputError:
    near = difflib.get_close_matches(asked, known, n=1) or [name for name in known if asked and asked in name][:1]
    guess = f"Did you mean `{one_line(near[0], 80)}`? " if near else ""
    names = listed or known
    few = names if listed else names[:_LISTED]
    more = f" and {len(names) - len(few)} more" if len(names) > len(few) else ""
    there = "Categories" if listed else "This run has"
    hint = f"{guess}{there}: {', '.join(one_line(name, 80) for name in few)}{more}"
    return InputError(
        f"this run has no such {what}" if not listed else "no such category", field=f"--{what}", found=asked, hint=hint
    )
