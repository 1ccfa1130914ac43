"""What importers share: rows read out of published files, and a suite written as the bytes of its files.

Not for what a row means, and not for the disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec

from callscope.contract import Case, Tool
from callscope.errors import InputError
from callscope.importers.base import SuiteFiles
from callscope.jsontext import JsonFault, dump_faithful, parse_json

__all__ = ["Row", "decoded", "fault_line", "line_by_line", "read_rows", "suite_files", "text_field"]


class Row(NamedTuple):
    """One object of a file: where it stands (its line; in a list its place), its value and its bytes."""

    file: str
    line: int
    value: dict[str, Any]
    raw: bytes


def decoded(file: str, data: bytes) -> str:
    """A file's text, without its byte order mark. Raises InputError where it is not UTF-8."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x}"
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("this is not UTF-8 text", file=file, line=line, found=found, hint="Save it as UTF-8") from None


def read_rows(file: str, data: bytes, *, nulls: list[int] | None = None) -> tuple[Row, ...]:
    """The objects of a file: one a line, or one JSON list of them.

    Lines that hold `null` are noted in `nulls` where that is given. Raises InputError, naming file and line, for the
    first that is anything else.
    """
    rows: list[Row] = []
    for line, value, raw in _values(file, data):
        if value is None and nulls is not None:
            nulls.append(line)
        elif isinstance(value, dict):
            rows.append(Row(file, line, value, raw))
        else:
            raise InputError("this is no row", file=file, line=line, found=value, expected="a JSON object")
    return tuple(rows)


def _values(file: str, data: bytes) -> Iterator[tuple[int, Any, bytes]]:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.lstrip()[:1] == b"[" and not line_by_line(data):
        listed = _parsed(file, None, data)
        for place, value in enumerate(listed, 1):
            yield place, value, dump_faithful(value)
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, _parsed(file, number, line), line.strip()


def _parsed(file: str, line: int | None, data: bytes) -> Any:
    try:
        return parse_json(data).value
    except JsonFault as fault:
        line = fault_line(data) if line is None else line
        expected = "one object a line, or a list of them"
        raise InputError(f"this is no JSON ({fault.reason})", file=file, line=line, expected=expected) from None


def line_by_line(data: bytes) -> bool:
    """Whether a file that begins with a list is one value a line all the same: its first line is whole, and not all
    there is."""
    first, _, rest = data.strip().partition(b"\n")
    try:
        parse_json(first, bad_numbers=True)
    except JsonFault:
        return False
    return bool(rest)


def fault_line(data: bytes) -> int | None:
    """The line on which a file stops being JSON; None where it is JSON that is refused for what it says."""
    try:
        json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    except json.JSONDecodeError as error:
        return error.lineno
    except (ValueError, RecursionError):
        return None
    return None


def text_field(row: Row, name: str) -> str:
    """A field of a row that must be text. Raises InputError naming file, line and field."""
    value = row.value.get(name)
    if isinstance(value, str):
        return value
    found = value if name in row.value else "nothing"
    raise InputError("this must be text", file=row.file, line=row.line, field=name, found=found)


def suite_files(
    name: str, benchmark: str, title: str, system: str, tools: Sequence[Tool], cases: Sequence[Case]
) -> SuiteFiles:
    """A suite as the bytes of its folder's files. It asks for answers, so it is of kind portable, as BFCL's are."""
    about = {"name": name, "version": "1", "kind": "portable", "title": title, "benchmark": benchmark}
    toml = "".join(f"{key} = {dump_faithful(value).decode()}\n" for key, value in about.items())
    files = {
        "suite.toml": toml.encode(),
        "system.txt": system.encode(),
        "tools.core.json": dump_faithful([msgspec.to_builtins(tool) for tool in tools], indent=2) + b"\n",
        "cases.jsonl": b"".join(dump_faithful(_stated(case)) + b"\n" for case in cases),
    }
    return SuiteFiles(name, files)


def _stated(value: Any) -> Any:
    """A contract's value as JSON, without the fields that hold their default."""
    if not isinstance(value, msgspec.Struct):
        if isinstance(value, (list, tuple)):
            return [_stated(each) for each in value]
        return {key: _stated(each) for key, each in value.items()} if isinstance(value, dict) else value
    info = value.__struct_config__
    stated: dict[str, Any] = {info.tag_field: info.tag} if info.tag_field else {}
    for name, default in _defaults(type(value)):
        here = getattr(value, name)
        if default is msgspec.NODEFAULT or here != default:
            stated[name] = _stated(here)
    return stated


@cache
def _defaults(kind: type[msgspec.Struct]) -> tuple[tuple[str, Any], ...]:
    """The fields of a type, each with its default."""
    return tuple(
        (field.name, field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory())
        for field in msgspec.structs.fields(kind)
    )
