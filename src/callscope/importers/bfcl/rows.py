"""A published file's rows: one JSON object a line, or one JSON list of them. Not for what a row means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from callscope.errors import InputError
from callscope.importers.material import fault_line, line_by_line
from callscope.jsontext import JsonFault, dump_faithful, parse_json

__all__ = ["Row", "field", "identity_of", "read_rows", "rows_and_faults"]


class Row(NamedTuple):
    """One object of a file: where it stands (line from 1; the place in the list, for a list), its value, its bytes."""

    file: str
    line: int
    value: dict[str, Any]
    raw: bytes

    @property
    def place(self) -> str:
        """`file:line`, as notes name it."""
        return f"{self.file}:{self.line}"


def read_rows(file: str, data: bytes) -> tuple[Row, ...]:
    """The rows of a file. Raises InputError, naming file and line, for the first that is no JSON object."""
    rows: list[Row] = []
    for found in rows_and_faults(file, data):
        if isinstance(found, InputError):
            raise found
        rows.append(found)
    return tuple(rows)


def rows_and_faults(file: str, data: bytes, *, bad_numbers: bool = False) -> Iterator[Row | InputError]:
    """Row by row, an InputError in place of each that is no JSON object; a blank line is none.

    bad_numbers: a number that JSON does not have (`NaN`, which Python's writer makes) spoils its own field alone.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.lstrip()[:1] == b"[" and not line_by_line(data):
        yield from _of_list(file, data, bad_numbers=bad_numbers)
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line, bad_numbers=bad_numbers).value
        except JsonFault as fault:
            yield InputError(f"this is no JSON ({fault.reason})", file=file, line=number, expected="one object a line")
            continue
        yield _row(file, number, value, line.strip())


def _of_list(file: str, data: bytes, *, bad_numbers: bool) -> Iterator[Row | InputError]:
    try:
        listed = parse_json(data, bad_numbers=bad_numbers).value
    except JsonFault as fault:
        expected = "one object a line, or a list of them"
        yield InputError(f"this is no JSON ({fault.reason})", file=file, line=fault_line(data), expected=expected)
        return
    for number, value in enumerate(listed, 1):
        yield _row(file, number, value, dump_faithful(value))


def _row(file: str, number: int, value: Any, raw: bytes) -> Row | InputError:
    if isinstance(value, dict):
        return Row(file, number, value, raw)
    return InputError("this is no row", file=file, line=number, found=value, expected="a JSON object")


def field(row: Row, name: str, kind: type, expected: str) -> Any:
    """A field of a row, of that type. Raises InputError naming file, line and field."""
    value = row.value.get(name)
    if not isinstance(value, kind):
        found = value if name in row.value else "nothing"
        raise InputError(
            "this is not what may stand here", file=row.file, line=row.line, field=name, found=found, expected=expected
        )
    return value


def identity_of(row: Row) -> str:
    """A row's id, which names a case wherever it is shown. Raises InputError where it is no printable text."""
    identity = field(row, "id", str, "the id of the case")
    if identity.strip() and identity.isprintable():
        return str(identity)
    raise InputError("an id must be printable and not empty", file=row.file, line=row.line, field="id", found=identity)
