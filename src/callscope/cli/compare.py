"""`callscope compare`: models of one or several runs on the same cases, and whether a difference is established."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from callscope.cli._console import out, put, say

__all__ = ["compare"]


def compare(
    run: Path,
    /,
    *more: Path,
    model: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    suite: str | None = None,
    experiment: str | None = None,
    metric: str = "passed",
    correction: Literal["holm", "bh"] = "holm",
    family: str = "baseline",
    min_coverage: float | None = None,
    seed: int = 0,
    html: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Compare models on the cases that both were observed on.

    Parameters
    ----------
    run:
        A run folder, or a file written by `callscope replay --out`. The first model of the first run is the baseline.
    more:
        Further runs. One run is enough where it holds several models.
    model:
        Only the models of this label; may be given several times.
    suite:
        Only this suite. Suites are never compared across.
    experiment:
        Only this experiment. Experiments are never compared across.
    metric:
        What is compared: passed, recall, accuracy, selection, structure, exact, acceptable, abstention, over_calls,
        clarification, guessed, unnecessary_clarification, compatible.
    correction:
        How p values are adjusted for several tests: holm, or bh (Benjamini-Hochberg).
    family:
        Which pairs are tested: baseline (the first with each other one), all, or pairs of letters as A:B,B:C. Tests of
        all units together are a family of their own, under the same correction.
    min_coverage:
        Exit with 4 where less than this share (0 to 1) of the planned cases of a pair has a value for both.
    seed:
        Of the bootstrap; the same seed gives the same figures.
    html:
        Write one self-contained page with a picture of the differences into this file.
    json:
        Print the comparison as JSON instead of tables.
    """
    from callscope.capture.folder import write_atomically
    from callscope.comparison import Judged, Options, print_comparison, render_comparison
    from callscope.comparison import compare as compare_runs
    from callscope.jsontext import dump_faithful
    from callscope.runs import open_run

    sources = [(str(path), open_run(path)) for path in (run, *more)]
    judged = {
        path: Judged(judge.asked(), judge.prompt_hash(), judge.calibration.failures)
        for path, opened in sources
        if (judge := opened.judge) is not None
    }
    options = Options(metric, model, suite, experiment, correction, family, min_coverage, seed)
    data = compare_runs(sources, options, judged)
    if html is not None:
        write_atomically(html, render_comparison(data).encode("utf-8", "replace"))
        say(f"Written: {html}")
    if json:
        put(dump_faithful(data, indent=1, sort_keys=True) + b"\n")
    elif html is None:
        print_comparison(data, out())
    return 4 if data["coverage"]["enough"] is False else 0
