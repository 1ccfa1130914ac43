"""`callscope report`: a run shown, on the terminal or as a file of another form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from callscope.cli._console import one_run, out, put, say

__all__ = ["report"]


def report(
    run: Path,
    /,
    *more: Annotated[Path, Parameter(show=False)],
    html: Path | None = None,
    markdown: Annotated[bool, Parameter(negative="")] = False,
    junit: Path | None = None,
    csv: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Show a run.

    Parameters
    ----------
    run:
        A run folder, or a file written by `callscope replay --out`.
    html:
        Write the self-contained HTML report into this file.
    markdown:
        Print Markdown instead of tables.
    junit:
        Write a JUnit XML file: a test case for each case and model.
    csv:
        Write one row a suite, experiment and model.
    json:
        Print summary.json instead of tables.
    """
    from callscope.capture.folder import write_atomically
    from callscope.reports import print_summary, render_junit, render_markdown, to_csv
    from callscope.runs import open_run

    one_run(run, more)
    opened = open_run(run)
    summary = opened.summary()
    written = []
    if html is not None:
        written.append(opened.write_html(html, summary))
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
