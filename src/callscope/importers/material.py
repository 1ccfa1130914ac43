"""What importers share: rows read out of published files, recorded answers gathered from rows, a suite's files.

Not for what a row means, and not for the disk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec

from callscope.contract import Case, Tool
from callscope.errors import InputError
from callscope.importers.base import Answer, Answered, SuiteFiles
from callscope.jsontext import JsonFault, dump_faithful, parse_json

__all__ = [
    "Gathered",
    "Row",
    "decoded",
    "fault_line",
    "line_by_line",
    "read_rows",
    "rows_and_faults",
    "suite_files",
    "text_field",
]

_SHOWN = 3


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


def read_rows(file: str, data: bytes) -> tuple[Row, ...]:
    """The objects of a file: one a line, or one JSON list of them.

    Raises InputError, naming file and line, for the first that is anything else.
    """
    rows: list[Row] = []
    for found in rows_and_faults(file, data):
        if isinstance(found, InputError):
            raise found
        rows.append(found)
    return tuple(rows)


def rows_and_faults(
    file: str, data: bytes, *, bad_numbers: bool = False, nulls: list[int] | None = None
) -> Iterator[Row | InputError]:
    """Row by row, an InputError (file, line) in place of each that is no JSON object; a blank line is none.

    bad_numbers: a number that JSON does not have (`NaN`, which Python's writer makes) spoils its own field alone.
    nulls: takes the lines that hold `null`, which then are no faults.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    for line, value, raw in _values(file, data, bad_numbers=bad_numbers):
        if isinstance(value, InputError):
            yield value
        elif value is None and nulls is not None:
            nulls.append(line)
        elif isinstance(value, dict):
            yield Row(file, line, value, raw)
        else:
            yield InputError("this is no row", file=file, line=line, found=value, expected="a JSON object")


def _values(file: str, data: bytes, *, bad_numbers: bool) -> Iterator[tuple[int, Any, bytes]]:
    """Each value with its line (or place) and its bytes; an InputError as the value of what is no JSON."""
    if data.lstrip()[:1] == b"[" and not line_by_line(data):
        listed = _parsed(file, None, data, bad_numbers=bad_numbers)
        for place, value in enumerate([listed] if isinstance(listed, InputError) else listed, 1):
            yield place, value, b"" if isinstance(value, InputError) else dump_faithful(value)
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, _parsed(file, number, line, bad_numbers=bad_numbers), line.strip()


def _parsed(file: str, line: int | None, data: bytes, *, bad_numbers: bool) -> Any:
    try:
        return parse_json(data, bad_numbers=bad_numbers).value
    except JsonFault as fault:
        line = fault_line(data) if line is None else line
        expected = "one object a line, or a list of them"
        return InputError(f"this is no JSON ({fault.reason})", file=file, line=line, expected=expected)


class Gathered:
    """The recorded answers of one model, gathered row by row over its files, and notes on what of them was left out.

    | a row                                  | becomes                                                               |
    |----------------------------------------|-----------------------------------------------------------------------|
    | the first to a case                    | its answer                                                            |
    | a later one to the same case           | left out, with a note; but where the row before is a failed request,  |
    |                                        | this one counts, with a note                                          |
    | one to no case                         | left out, with a note                                                 |
    | a line that is no JSON, or no object   | left out, with a note; a number that JSON does not have (`NaN`)       |
    |                                        | spoils its own field alone                                            |

    `failed` tells the row of a request that failed, which holds no answer.
    """

    def __init__(self, model: str, failed: Callable[[Mapping[str, Any]], bool]) -> None:
        self.model, self.notes = model, list[str]()
        self._is_failed = failed
        self._answers: dict[tuple[str, str], Answer] = {}
        self._failed: set[tuple[str, str]] = set()

    def read(
        self,
        file: str,
        data: bytes,
        answer_of: Callable[[Row], Answer | InputError],
        *,
        nulls: list[int] | None = None,
    ) -> None:
        """Take in a file; `answer_of` gives a row's answer, or an InputError saying what it names that is no case.

        Raises InputError, naming file and line, where not one row can be read.
        """
        rows, faults, unknown = 0, list[InputError](), list[InputError]()
        repeated, retried = list[str](), list[str]()
        for row in rows_and_faults(file, data, bad_numbers=True, nulls=nulls):
            if isinstance(row, InputError):
                faults.append(row)
                continue
            rows += 1
            answer = answer_of(row)
            if isinstance(answer, InputError):
                unknown.append(answer)
                continue
            key = (answer.suite, answer.case_id)
            if key in self._answers:
                (retried if key in self._failed else repeated).append(f"{row.line} ({answer.case_id})")
            if key in self._answers and key not in self._failed:
                continue
            self._answers[key] = answer
            (self._failed.add if self._is_failed(row.value) else self._failed.discard)(key)
        if faults and not rows:
            raise faults[0]
        self._note_faults(faults, "lines")
        self._note_faults(unknown, "rows")
        self._note(file, repeated, "answer a case again; the first answer stays")
        self._note(file, retried, "are asked again after an error; the last of these counts")

    def _note_faults(self, faults: list[InputError], what: str) -> None:
        if faults:
            more = f", and {len(faults) - 1} {what} more of this file" if len(faults) > 1 else ""
            self.notes.append(f"{faults[0]}; left out{more}")

    def _note(self, file: str, lines: list[str], what: str) -> None:
        if lines:
            more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
            self.notes.append(f"{file}: lines {', '.join(lines[:_SHOWN])}{more} {what}")

    def answered(self) -> Answered:
        """What was gathered."""
        return Answered(self.model, tuple(self._answers.values()), tuple(self.notes))


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
