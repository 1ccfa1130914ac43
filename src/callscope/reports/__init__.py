"""Reports: what a run says, summed up and shown. Pure; capture and derive hand over a view, presenters hand back text.

`summarise` counts; everything else draws what it counted, or looks up the evidence behind it. Nothing here judges.
"""

from callscope.reports.html import render_html
from callscope.reports.inspect import Failure, FailureGroup, failures
from callscope.reports.inspected import inspect_text
from callscope.reports.junit import render_junit
from callscope.reports.limitations import limitations
from callscope.reports.markdown import render_markdown
from callscope.reports.summary import SCHEMA, check_identities, summarise, summary_bytes
from callscope.reports.tables import short_rows, to_csv, to_rows
from callscope.reports.terminal import print_summary, summary_tables, terminal_text
from callscope.reports.view import RawLookup, RunView

__all__ = [
    "SCHEMA",
    "Failure",
    "FailureGroup",
    "RawLookup",
    "RunView",
    "check_identities",
    "failures",
    "inspect_text",
    "limitations",
    "print_summary",
    "render_html",
    "render_junit",
    "render_markdown",
    "short_rows",
    "summarise",
    "summary_bytes",
    "summary_tables",
    "terminal_text",
    "to_csv",
    "to_rows",
]
