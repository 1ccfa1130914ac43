"""`callscope inspect`: what failed, by category and model, with raw evidence; and where we and a benchmark differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.text import Text

from callscope.cli._console import one_run, out
from callscope.errors import InputError

if TYPE_CHECKING:
    from callscope.reports import FailureGroup
    from callscope.reports.filters import Filters

__all__ = ["inspect"]

_AT_MOST = 12
"""Trials that are written out where no limit was given, beside the first of every category."""

_Flag = Annotated[bool, Parameter(negative="", show_default=False)]


def inspect(
    run: Path,
    /,
    *more: Annotated[Path, Parameter(show=False)],
    category: str | None = None,
    model: str | None = None,
    case: str | None = None,
    tag: str | None = None,
    suite: str | None = None,
    experiment: str | None = None,
    disagree: _Flag = False,
    limit: int | None = None,
    full: _Flag = False,
) -> int:
    """Show failures with their raw evidence.

    Parameters
    ----------
    run:
        A run folder, or a file written by `callscope replay --out` (which holds no raw bytes).
    category:
        Only this category: a whole name of the listing or any part of it, for example selection.wrong_tool, wrong_tool,
        parameter_error or coverage.
    model:
        Only this model.
    case:
        Only the case of this id, also where it passed.
    tag:
        Only cases with a tag that begins so, for example gold-defect; also those that passed.
    suite:
        Only this suite.
    experiment:
        Only this experiment.
    disagree:
        Only trials on which the benchmark's own checker and callscope say different things, with how many there are of
        each direction.
    limit:
        How many examples of each category and model. Without it one, and of a big run not of each model.
    full:
        Cut nothing: also show the tools and the system text of every raw request.
    """
    from callscope.reports.filters import Filters
    from callscope.reports.inspect import search
    from callscope.reports.inspected import differences_text, inspect_text
    from callscope.runs import open_run

    one_run(run, more)
    if limit is not None and limit < 1:
        raise InputError("must be at least 1", field="--limit", found=limit)
    opened = open_run(run)
    asked = Filters(suite, experiment, model, category, case, tag, disagree)
    found = search(opened, asked, limit=limit or 1)
    console = out()
    if found.differences is not None:
        console.print(Text(differences_text(found.differences)), soft_wrap=True)
    if not found.groups:
        others = search(opened, asked._replace(category=None)).groups if category is not None else ()
        console.print(Text(_nothing(asked, others)), soft_wrap=True)
        return 0
    if found.differences is None and all(group.category == "passed" for group in found.groups):
        console.print(Text("No failures: all that is asked for passed. It is shown all the same."), soft_wrap=True)
    most = _AT_MOST if limit is None else None
    text = inspect_text(found.groups, raw=opened.record, width=console.width, full=full, most=most)
    console.print(Text(text), soft_wrap=True)
    return 0


def _nothing(asked: Filters, others: tuple[FailureGroup, ...]) -> str:
    """What is said where nothing is to be shown."""
    if asked.category is None:
        if asked.disagree:
            return "No trial to show."
        if asked.case is not None or asked.tag is not None:
            return "No trial of it has a verdict: nothing was recorded."
        return "No failures."
    counts: dict[str, int] = {}
    for group in others:
        counts[group.category] = counts.get(group.category, 0) + group.trials
    there = f"There are: {', '.join(f'{name} {n}' for name, n in counts.items())}" if counts else "Nor of any other."
    return f"No failures of category {asked.category}. {there}"
