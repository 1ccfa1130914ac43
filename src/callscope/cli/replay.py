"""`callscope replay`: the same derive as in the live run, from the stored bytes, with no network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from callscope.cli._console import say

__all__ = ["replay"]


def replay(
    run: Path,
    /,
    *,
    check: Annotated[bool, Parameter(negative="")] = False,
    out: Path | None = None,
) -> int:
    """Derive a run again from its stored bytes.

    Parameters
    ----------
    run:
        The run folder.
    check:
        Change nothing; compare verdicts.jsonl and summary.json with what the bytes say now (exit code 1: they differ).
    out:
        Write the derived records into this one file, on which `callscope report` gives the same report.
    """
    from callscope.runs import open_run

    opened = open_run(run)
    if check:
        found = opened.check()
        if found.missing:
            say(f"{run}: not derived yet: {', '.join(found.missing)}; `callscope replay {run}` writes them")
            return 1
        if found.differing:
            say(f"{run}: {found.trials} trials derived again; these differ: {', '.join(found.differing)}")
            return 1
        say(f"{run}: {found.trials} trials derived again, verdicts and summary identical ({found.summary_sha256[:12]})")
        return 0
    if out is not None:
        count = opened.write_replayed(out)
        say(f"{count} derived records written to {out}; see them with: callscope report {out}")
        return 0
    summary = opened.derive()
    say(f"Derived again: {opened.path}. Report: {opened.write_html(summary=summary).resolve().as_uri()}")
    return 0
