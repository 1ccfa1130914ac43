"""`callscope audit check-table`: whether the percentages of a published table are possible, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter
from rich.text import Text

from callscope.cli._console import out, put, say
from callscope.errors import InputError

if TYPE_CHECKING:
    from callscope.audit.check_table import RowFinding

__all__ = ["check_table"]

_PROGRESS_EVERY = 100
T = TypeVar("T")


def check_table(
    file: Path,
    /,
    *,
    mix: str | None = None,
    positives: str | None = None,
    negatives: str | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Check whether the percentages of a published table are possible.

    Exit code 0 where every row is consistent, 1 where one is impossible or needs other denominators.

    Parameters
    ----------
    file:
        A CSV file: a name column, then any of recall, accuracy, miss, param, temporal, missing, value, over,
        judge_failure, easy, medium, hard (percent), positives, negatives (counts), mix.
    mix:
        The levels' shares of the positives where a row states none: original, easy-weighted, or 0.4/0.4/0.2.
    positives:
        The count of positives where a row states none.
    negatives:
        The count of negatives where a row states none.
    json:
        Print the findings as JSON: {"rows": [...]}.
    """
    from callscope.audit.check_table import as_json, check_rows
    from callscope.audit.figures import read_count, read_mix
    from callscope.audit.table_file import read_table
    from callscope.jsontext import dump_faithful

    rows = read_table(
        file,
        mix=_option("--mix", mix, read_mix),
        positives=_option("--positives", positives, read_count),
        negatives=_option("--negatives", negatives, read_count),
    )
    findings = _told(check_rows(rows), len(rows))
    if json:
        kept = list(findings)
        put(dump_faithful(as_json(kept), indent=2) + b"\n")
    else:
        kept = []
        console = out()
        for one in findings:
            kept.append(one)
            console.print(Text(_shown(one)), soft_wrap=True)
    counts = {
        name: sum(one.status == name for one in kept) for name in ("consistent", "needs_denominator", "impossible")
    }
    say(f"{len(kept)} rows: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    return 0 if counts["consistent"] == len(kept) else 1


def _option(name: str, text: str | None, read: Callable[[str], T]) -> T | None:
    try:
        return None if text is None else read(text)
    except InputError as error:
        raise error.at(prefix=name) from None


def _told(findings: Iterable[RowFinding], total: int) -> Iterator[RowFinding]:
    """The same findings, with a line now and then of how far a long table is."""
    for done, one in enumerate(findings, start=1):
        if done % _PROGRESS_EVERY == 0 and done < total:
            say(f"{done}/{total} rows")
        yield one


def _shown(finding: RowFinding) -> str:
    status = finding.status.replace("_", " ")
    lines = [f"{finding.name}: {status}: {finding.why}"]
    lines += [f"    {'kept' if one.holds else 'BROKEN':<7}{one.rule}: {one.says}" for one in finding.working]
    return "\n".join(lines)
