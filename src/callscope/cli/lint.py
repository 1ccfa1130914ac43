"""`callscope lint`: faults in a suite, each with its place; exit code 1 where there is an error."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from callscope.cli._console import out, say

__all__ = ["lint"]


def lint(
    suite: str,
    /,
    *,
    strict: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Look for faults in a suite.

    Parameters
    ----------
    suite:
        A bundled suite's name or a suite folder.
    strict:
        Exit with 1 on warnings too.
    json:
        Print the findings as JSON.
    """
    import msgspec

    from callscope.jsontext import dump_faithful
    from callscope.suites import lint_suite, load_suite

    loaded = load_suite(suite)
    findings = lint_suite(loaded)
    if json:
        sys.stdout.buffer.write(dump_faithful([msgspec.to_builtins(one) for one in findings], indent=2) + b"\n")
    else:
        console = out()
        for one in findings:
            place = f"{one.file}:{one.line}" if one.line is not None else one.file
            case = f" {one.case_id}" if one.case_id else ""
            console.print(Text(f"{one.severity:<8}{place}{case}: {one.field}: {one.message} [{one.rule}]"))
    counts = {name: sum(one.severity == name for one in findings) for name in ("error", "warning", "info")}
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    say(f"{loaded.name} {loaded.version}: {len(loaded.cases)} cases, {len(loaded.tools)} tools; {said}")
    return 1 if counts["error"] or (strict and counts["warning"]) else 0
