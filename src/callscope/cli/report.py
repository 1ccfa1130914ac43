"""`callscope report`: a run shown, on the terminal or as a file of another form; exhibits of one or several runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from callscope.cli._console import Only, one_run, out, put, say

__all__ = ["report"]

_Flag = Annotated[bool, Parameter(negative="", show_default=False)]
_Several = Annotated[tuple[str, ...], Parameter(negative_iterable="", show_default=False)]


def report(
    run: Path,
    /,
    *more: Path,
    html: Path | None = None,
    markdown: _Flag = False,
    junit: Path | None = None,
    csv: Path | None = None,
    json: _Flag = False,
    suite: str | None = None,
    model: str | None = None,
    experiment: str | None = None,
    preset: Literal["table1", "table2", "figure3", "figure4", "table4", "table5", "routing", "all"] | None = None,
    across: _Flag = False,
    mix: _Several = (),
    both_empty: Literal["separate", "exclude", "tn"] | None = None,
    strict_extra: _Flag = False,
    full: _Flag = False,
    svg: Path | None = None,
) -> int:
    """Show a run, or exhibits of one or several runs.

    Parameters
    ----------
    run:
        A run folder, or a file written by `callscope replay --out`; with --preset table4 or table5 an audit's folder.
    more:
        Further runs, for exhibits (--preset, --across).
    html:
        Write the self-contained HTML report, or a page of the exhibits with their pictures, into this file.
    markdown:
        Print Markdown instead of tables.
    junit:
        Write a JUnit XML file: a test case for each case and model.
    csv:
        Write one row a suite, experiment and model.
    json:
        Print summary.json, or the exhibits' figures, instead of tables.
    suite:
        Only this suite.
    model:
        Only this model.
    experiment:
        Only this experiment.
    preset:
        An exhibit: table1 (mixes of difficulty, classes of error), table2 (benchmarks), figure3 (recall by level),
        figure4 (miss and over recall, parameter errors), routing (need, target, arguments), all of these; table4 and
        table5 (audits of references and of a judge).
    across:
        The same as --preset table2: one row a model, one column group a benchmark.
    mix:
        Another mix of difficulty beside the document's two, as mine=.5/.3/.2 (easy/medium/hard); may be repeated.
    both_empty:
        Underspecified cases: separate (default), exclude (as in the document), tn. All three are always shown.
    strict_extra:
        A call beside the required ones makes a positive wrong.
    full:
        With --across: every suite of a benchmark by itself too.
    svg:
        Write the pictures of the exhibits into this folder, a file each.
    """
    from callscope.errors import InputError

    if json and markdown:
        raise InputError("are two forms of one output", field="--json and --markdown", hint="Ask for one of them")
    if across and preset not in {None, "table2", "all"}:
        raise InputError("says the same as --preset table2", field="--across", found=f"--preset {preset}")
    chosen = "table2" if across and preset is None else preset
    only = Only(suite, experiment, model)
    shaped = {
        "--mix": bool(mix), "--both-empty": both_empty is not None, "--strict-extra": strict_extra, "--full": full,
        "--svg": svg is not None,
    }  # fmt: skip
    if chosen == "table4" or chosen == "table5":  # noqa: PLR1714 - mypy narrows this, and not `in`
        from callscope.cli._audit_tables import audit_exhibit

        narrowing = {f"--{name}": value for name, value in only._asdict().items()}
        beside = {**shaped, **narrowing, "--html": html, "--markdown": markdown}
        given = [name for name, there in beside.items() if there]
        if given or more or junit or csv:
            raise InputError("are shown as tables or with --json", field=f"--preset {chosen}", found=", ".join(given))
        return audit_exhibit(chosen, run, json=json)
    if chosen is not None:
        from callscope.cli._exhibits import Wanted, show_exhibits

        if junit or csv:
            raise InputError("holds no exhibit", field="--junit" if junit else "--csv", hint="Use --json")
        wanted = Wanted(chosen, mix, both_empty or "separate", strict_extra, full, html, svg, markdown, json, only)
        return show_exhibits((run, *more), wanted)
    idle = [name for name, there in shaped.items() if there]
    if idle:
        pictured = "figure3, figure4 or all: these have pictures"
        hint = f"Add --preset {pictured if idle[0] == '--svg' else 'table1, or another'}"
        raise InputError("shapes an exhibit", field=idle[0], hint=hint)
    return _one(run, more, only, html, markdown, junit, csv, json)


def _one(
    run: Path,
    more: tuple[Path, ...],
    only: Only,
    html: Path | None,
    markdown: bool,
    junit: Path | None,
    csv: Path | None,
    json: bool,
) -> int:
    from callscope.capture.folder import write_atomically
    from callscope.reports import print_summary, render_html, render_junit, render_markdown, summarise, to_csv
    from callscope.reports.filters import narrowed
    from callscope.runs import Summary, open_run

    one_run(run, more)
    opened = narrowed(open_run(run), **only._asdict())
    summary = Summary(summarise(opened))
    written = []
    if html is not None:
        write_atomically(html, render_html(opened, summary.data).encode("utf-8", "replace"))
        written.append(html)
    if junit is not None:
        write_atomically(junit, render_junit(opened, summary.data).encode("utf-8", "replace"))
        written.append(junit)
    if csv is not None:
        write_atomically(csv, to_csv(summary.data).encode("utf-8", "replace"))
        written.append(csv)
    for path in written:
        say(f"Written: {path}")
    if json:
        put(summary.to_bytes())
    elif markdown:
        put(render_markdown(summary.data).encode())
    elif not written:
        print_summary(summary.data, out())
    return 0
