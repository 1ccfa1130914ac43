"""A published table as a CSV file -> rows of figures. Reads and refuses; what they say together is `check_table`'s."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from callscope.audit.figures import Figure, Mix, read_count, read_counts, read_figure, read_mix
from callscope.errors import InputError, shown

__all__ = ["MAX_BYTES", "MAX_ROWS", "TableRow", "read_table", "read_table_bytes"]

MAX_BYTES = 16 * 1024 * 1024
MAX_ROWS = 10_000

_NOTHING = frozenset({"", "-", "--", "–", "—", "n/a", "na"})
_DELIMITERS = (",", ";", "\t")


class TableRow(Struct, frozen=True):
    """One row as published; None where it states nothing. Fractions are Figures, counts are exact integers.

    recall, miss, param, temporal, missing, value, judge_failure: of the positives; over: of the negatives; accuracy: of
    both. easy, medium, hard: recall of each level; mix: the levels' shares of the positives. to_mix, to_recall, gain:
    another mix, the recall re-weighted to it, and the difference. items, validity, agreement, kappa: a human audit of
    so many items; judged, confirmed: items the judge put into each class, and how many of them the reviewer left there.
    """

    name: str
    line: int
    recall: Figure | None = None
    accuracy: Figure | None = None
    miss: Figure | None = None
    param: Figure | None = None
    temporal: Figure | None = None
    missing: Figure | None = None
    value: Figure | None = None
    over: Figure | None = None
    judge_failure: Figure | None = None
    positives: int | None = None
    negatives: int | None = None
    easy: Figure | None = None
    medium: Figure | None = None
    hard: Figure | None = None
    mix: Mix | None = None
    to_mix: Mix | None = None
    to_recall: Figure | None = None
    gain: Figure | None = None
    items: int | None = None
    validity: Figure | None = None
    agreement: Figure | None = None
    kappa: Figure | None = None
    judged: tuple[int, ...] | None = None
    confirmed: tuple[int, ...] | None = None


_PERCENT = (
    *("recall", "accuracy", "miss", "param", "temporal", "missing", "value", "over", "judge_failure"),
    *("easy", "medium", "hard", "to_recall", "gain", "validity", "agreement"),
)
_COUNTS = ("positives", "negatives", "items")
_OTHERS: dict[str, Callable[[str], Any]] = {
    "mix": read_mix,
    "to_mix": read_mix,
    "judged": read_counts,
    "confirmed": read_counts,
}
_KNOWN = (*_PERCENT, *_COUNTS, "kappa", *_OTHERS)
_ALIASES = {
    "acc": "accuracy",
    "acc.": "accuracy",
    "miss_recall": "miss",
    "over_recall": "over",
    "param_error": "param",
    "parameter_error": "param",
    "weights": "mix",
}
_SEPARATOR_LINE = re.compile(r" *sep=(?P<delimiter>[,;\t])\r?\n?", re.IGNORECASE)
"""What Excel puts before a table to say what stands between its cells."""


def read_table(
    file: Path, *, positives: int | None = None, negatives: int | None = None, mix: Mix | None = None
) -> tuple[TableRow, ...]:
    """The rows of a CSV file; the arguments stand in where a row states none of its own.

    Raises InputError for a file that cannot be read or is no such table, with line and column.
    """
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None
    except ValueError:
        raise InputError("is no name of a file", field="FILE", found=str(file)) from None
    return tuple(
        replace(
            row,
            positives=positives if row.positives is None else row.positives,
            negatives=negatives if row.negatives is None else row.negatives,
            mix=mix if row.mix is None else row.mix,
        )
        for row in read_table_bytes(data, str(file))
    )


def read_table_bytes(data: bytes, file: str = "table") -> tuple[TableRow, ...]:
    """The rows of a CSV file's bytes: UTF-8 with or without BOM, any line ends; comma, semicolon or tab between cells.

    Raises InputError as `read_table`.
    """
    if len(data) > MAX_BYTES:
        raise InputError("is larger than a published table", file=file, expected=f"at most {MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("is no UTF-8 text", file=file, line=line, hint="Save the table as CSV in UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError("holds NUL bytes", file=file, line=line, hint="Save the table as CSV in UTF-8")
    said = _SEPARATOR_LINE.match(text)
    skipped = said.end() if said else 0
    delimiter = said["delimiter"] if said else _delimiter(text)
    reader = csv.reader(io.StringIO(text[skipped:], newline=""), delimiter=delimiter, strict=True)
    columns: tuple[str, ...] | None = None
    rows: list[TableRow] = []
    above = 1 if said else 0
    line = above + 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if columns is None:
                    columns = _columns(cells, file, line)
                elif len(rows) == MAX_ROWS:
                    raise InputError("has too many rows", file=file, line=line, expected=f"at most {MAX_ROWS}")
                else:
                    rows.append(_row(columns, cells, file, line, comma=delimiter != ","))
            line = above + reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"is no CSV: {error}", file=file, line=line) from None
    if columns is None:
        raise InputError("is empty", file=file, expected="a header line and a row for each model")
    if not rows:
        raise InputError("has a header and no rows", file=file, expected="a row for each model")
    return tuple(rows)


def _delimiter(text: str) -> str:
    """The one of comma, semicolon and tab that the header line holds most often outside quotes."""
    head = next((line for line in text.splitlines() if line.strip()), "")
    bare = "".join(head.split('"')[::2])
    return max(_DELIMITERS, key=bare.count)


def _columns(cells: Sequence[str], file: str, line: int) -> tuple[str, ...]:
    """The column names, normalised; the name column is called `name`."""
    names = []
    for cell in _filled(cells):
        plain = cell.strip().lower().removesuffix("%").removesuffix("(%)").strip()
        plain = "_".join(plain.replace("-", " ").replace("_", " ").split())
        names.append(_ALIASES.get(plain, plain))
    strangers = [at for at, name in enumerate(names) if name not in _KNOWN]
    at = next((at for at in strangers if names[at] == "name"), None)
    if at is None:
        at = next((at for at in strangers if names[at] == "model"), strangers[0] if strangers else None)
    if at is None:
        raise InputError("has no name column", file=file, line=line, hint="Add a column `name` with each row's name")
    for other in strangers:
        if other != at:
            raise InputError(
                "unknown column",
                file=file,
                line=line,
                field=f"column {other + 1}",
                found=cells[other],
                expected=f"a name column, then any of {', '.join(_KNOWN)}",
            )
    names[at] = "name"
    for place, name in enumerate(names):
        if name in names[:place]:
            first = names.index(name) + 1
            raise InputError(f"is also column {first}", file=file, line=line, field=f"column {place + 1}", found=name)
    if len(names) == 1:
        raise InputError("has no column of figures", file=file, line=line, expected=f"any of {', '.join(_KNOWN)}")
    return tuple(names)


def _filled(cells: Sequence[str]) -> Sequence[str]:
    """The cells without the empty ones at their end, which a spreadsheet leaves behind."""
    last = max((place for place, cell in enumerate(cells, 1) if cell.strip()), default=0)
    return cells[:last]


def _row(columns: Sequence[str], cells: Sequence[str], file: str, line: int, *, comma: bool) -> TableRow:
    if len(cells) > len(columns):
        cells = (*cells[: len(columns)], *_filled(cells[len(columns) :]))
    if len(cells) != len(columns):
        expected = f"{len(columns)}, as the header has"
        hint = "Quote cells that hold the delimiter"
        raise InputError("wrong number of cells", file=file, line=line, found=len(cells), expected=expected, hint=hint)
    fields: dict[str, Any] = {"name": f"line {line}"}
    for column, cell in zip(columns, cells, strict=True):
        text = cell.strip()
        if column == "name":
            fields["name"] = shown(text, 200) if text else fields["name"]
        elif text.lower() not in _NOTHING:
            try:
                fields[column] = _read(column, text, comma=comma)
            except InputError as error:
                raise error.at(file=file, line=line, prefix=column) from None
    return TableRow(line=line, **fields)


def _read(column: str, text: str, *, comma: bool) -> object:
    if column in _COUNTS:
        return read_count(text)
    if column in _OTHERS:
        return _OTHERS[column](text)
    return read_figure(text, in_percent=column != "kappa", comma=comma)
