"""`callscope inspect`: failures by category and model, at least one of each, with the raw evidence."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from callscope.cli._console import out
from callscope.errors import InputError

__all__ = ["inspect"]


def inspect(
    run: Path,
    /,
    *,
    category: str | None = None,
    model: str | None = None,
    case: str | None = None,
    suite: str | None = None,
    experiment: str | None = None,
    limit: int = 1,
) -> int:
    """Show failures with their raw evidence.

    Parameters
    ----------
    run:
        A run folder, or a file written by `callscope replay --out` (which holds no raw bytes).
    category:
        Only this category, as the listing names it, for example wrong_tool or rate_limited.
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
    """
    from callscope.reports import failures, inspect_text
    from callscope.runs import open_run

    if limit < 1:
        raise InputError("must be at least 1", field="--limit", found=limit)
    opened = open_run(run)
    groups = failures(
        opened, suite=suite, experiment=experiment, model=model, category=category, case=case, limit=limit
    )
    console = out()
    text = inspect_text(groups, raw=opened.record, width=console.width)
    console.print(Text(text), soft_wrap=True)
    return 0
