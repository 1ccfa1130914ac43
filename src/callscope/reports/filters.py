"""What `inspect` may be asked for: names of categories, short or whole, and of models, cases, suites, experiments.

Checks what was asked against the run before anything is looked up, so that "none found" is only said where it is true.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple, get_args

from callscope.contract import Acceptance, Attribution, Block, Selection, Semantics, Structure, Violation
from callscope.errors import InputError
from callscope.reports.safe import one_line
from callscope.reports.view import RIGHT_SELECTIONS, RunView

__all__ = ["CATEGORIES", "Filters", "check_filters", "in_category"]

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
    if filters.category is not None and not any(in_category(name, filters.category) for name in CATEGORIES):
        short = [part for name in CATEGORIES for part in (name.rsplit(".", 1)[-1], name.split(".")[0], name)]
        raise _unknown("category", filters.category, list(dict.fromkeys(short)), listed=CATEGORIES)
    if not any(_asked(block, filters) for block in plan):
        asked = {name: value for name, value in filters._asdict().items() if value is not None and name != "category"}
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
