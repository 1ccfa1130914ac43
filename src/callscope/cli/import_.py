"""`callscope import`: another benchmark's files as suites, and its recorded answers as a run."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from callscope.cli._console import out as console
from callscope.cli._console import put, say

__all__ = ["import_"]

_SHOWN_NOTES = 12


def import_(
    benchmark: str,
    path: Path,
    /,
    *,
    results: Path | None = None,
    out: Path | None = None,
    all_notes: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Import a benchmark.

    Parameters
    ----------
    benchmark:
        bfcl, apibench or nexusraven, or one that an installed package adds.
    path:
        The folder with the benchmark's files as published (or one of these files).
    results:
        A folder with recorded answers in the benchmark's own format: they are scored without running a model.
    out:
        Without --results the folder that the suites are written into (default: imported/<benchmark>); with it the run
        folder (default: a new one under results/).
    all_notes:
        Show every note about the files and their gold, not only the first twelve.
    json:
        Print what was made as one JSON object.
    """
    from callscope.imports import import_results, import_suites, write_suites
    from callscope.reports import print_summary

    if results is None:
        imported = import_suites(benchmark, path, tell=say)
        folders = write_suites(imported, out or Path("imported") / benchmark)
        _tell(imported.notes, all_notes)
        if json:
            _put({"suites": [str(folder) for folder in folders], "notes": list(imported.notes)})
            return 0
        for folder in folders:
            say(f"Written: {folder}")
        say(f"Run one with: callscope run --suite {folders[0]} --model PROVIDER/MODEL")
        return 0
    made = import_results(benchmark, path, results, out, tell=say)
    _tell(made.notes, all_notes)
    if json:
        _put({"run": str(made.run.path), "notes": list(made.notes)})
        return 0
    print_summary(made.summary.data, console())
    say(f"Run folder: {made.run.path}. See both verdicts side by side with: callscope report --across {made.run.path}")
    return 0


def _put(value: object) -> None:
    put(json_text.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _tell(notes: Sequence[str], everything: bool) -> None:
    shown = notes if everything else notes[:_SHOWN_NOTES]
    for note in shown:
        say(note)
    if len(shown) < len(notes):
        say(f"… and {len(notes) - len(shown)} more notes; --all-notes shows them")
