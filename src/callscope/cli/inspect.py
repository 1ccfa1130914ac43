"""`callscope inspect`: failures by category and model, at least one of each, with the raw evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.text import Text

from callscope.cli._console import one_run, out
from callscope.errors import InputError

if TYPE_CHECKING:
    from callscope.reports import FailureGroup

__all__ = ["inspect"]


def inspect(
    run: Path,
    /,
    *more: Annotated[Path, Parameter(show=False)],
    category: str | None = None,
    model: str | None = None,
    case: str | None = None,
    suite: str | None = None,
    experiment: str | None = None,
    limit: int = 1,
    full: Annotated[bool, Parameter(negative="")] = False,
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
        Only the case of this id.
    suite:
        Only this suite.
    experiment:
        Only this experiment.
    limit:
        How many examples of each category and model.
    full:
        Cut nothing: also show the tools and the system text of every raw request.
    """
    from callscope.reports import failures, inspect_text
    from callscope.runs import open_run

    one_run(run, more)
    if limit < 1:
        raise InputError("must be at least 1", field="--limit", found=limit)
    opened = open_run(run)
    groups = failures(
        opened, suite=suite, experiment=experiment, model=model, category=category, case=case, limit=limit
    )
    console = out()
    if not groups and category is not None:
        others = failures(opened, suite=suite, experiment=experiment, model=model, case=case)
        console.print(Text(f"No failures of category {category}. {_found(others)}"))
        return 0
    text = inspect_text(groups, raw=opened.record, width=console.width, full=full)
    console.print(Text(text), soft_wrap=True)
    return 0


def _found(groups: tuple[FailureGroup, ...]) -> str:
    counts: dict[str, int] = {}
    for group in groups:
        counts[group.category] = counts.get(group.category, 0) + group.trials
    return f"There are: {', '.join(f'{name} {n}' for name, n in counts.items())}" if counts else "Nor of any other."
