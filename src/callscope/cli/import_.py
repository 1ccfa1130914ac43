"""`callscope import`: another benchmark's files as suites, and its recorded answers as a run."""

from __future__ import annotations

import json as json_text
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from callscope.cli._console import out as console
from callscope.cli._console import put, say

if TYPE_CHECKING:
    from rich.console import RenderableType

    from callscope.imports import Score
    from callscope.runs import Run

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
    from callscope.imports import import_results, import_suites, scores, write_suites

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
    screen = console()
    for part in _scores(scores(made.run), screen.width):
        screen.print(part)
    for line in _hints(made.run):
        screen.print(line, markup=False, soft_wrap=True)
    return 0


def _scores(found: Sequence[Score], width: int) -> Iterator[RenderableType]:
    """For each model a table with a row a suite, and how many planned trials have no row."""
    from rich.text import Text

    from callscope.reports.columns import Cell
    from callscope.reports.terminal import wide_table

    def share(k: int, n: int) -> Cell:
        return Cell(f"{k}/{n}", f"{k / n:.1%}" if n else "–")

    headings = ["recorded", "passed", "own checker", "differ"]
    for model, grouped in groupby(sorted(found, key=lambda score: score.model), lambda score: score.model):
        listed = list(grouped)
        total = [sum(numbers) for numbers in zip(*(score[2:] for score in listed), strict=True)]
        if len(listed) > 1:
            listed.append(listed[0].__class__("all", model, *total))
        rows = [
            (
                score.suite,
                (
                    Cell(f"{score.recorded}/{score.planned}"),
                    share(score.passed, score.decided),
                    share(score.their_passed, score.their_decided),
                    Cell(str(score.differ)),
                ),
            )
            for score in listed
        ]
        yield Text(model, style="bold")
        yield from wide_table(width, "suite", headings, rows)
        if total[0] > total[1]:
            yield Text(f"{total[0] - total[1]} of {total[0]} planned trials have no row: they are not observed")
        yield Text("")
    yield Text(
        "recorded: trials with a row, of those planned; passed: ours, of the trials that we decide; own checker: the "
        "benchmark's, of those that it decides; differ: both decide, and not the same"
    )


def _hints(run: Run) -> Iterator[str]:
    """How to see more of the run."""
    yield f"Run folder: {run.path}"
    yield f"Both verdicts across benchmarks:   callscope report --across {run.path}"
    yield f"Trials on which the two differ:    callscope inspect {run.path} --disagree"
    if len(run.manifest.models) > 1:
        yield f"What differs between its models:   callscope compare {run.path}"
    else:
        yield f"Against another run:               callscope compare {run.path} OTHER_RUN"
    yield f"Everything:                        callscope report {run.path}"


def _put(value: object) -> None:
    put(json_text.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _tell(notes: Sequence[str], everything: bool) -> None:
    shown = notes if everything else notes[:_SHOWN_NOTES]
    for note in shown:
        say(note)
    if len(shown) < len(notes):
        say(f"… and {len(notes) - len(shown)} more notes; --all-notes shows them")
