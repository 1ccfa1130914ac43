"""Bytes that people wrote, decoded and parsed, and the line on which each field of them stands.

Wraps the faithful JSON parser with places for messages. Not a second parser: what is no JSON is refused by
`jsontext` first, and the scanner here only ever walks text that it accepted.
"""

from __future__ import annotations

import bisect
import json
import re
import tomllib
from typing import Any, NamedTuple

from callscope.jsontext import JsonFault, parse_json
from callscope.suites.faults import Page, Path_

__all__ = ["MISSING", "Places", "decoded", "json_places", "read_json", "read_toml"]

MISSING: Any = object()
"""What the readers return where a fault was noted and there is no value to go on with."""

_BOM = "\ufeff"
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_SURROGATE = re.compile("[\ud800-\udfff]")
_SAYS = {
    "empty": "the text is empty",
    "truncated": "the JSON ends too early",
    "extra_data": "there is more text after the JSON value",
    "invalid_escape": "a string holds an invalid escape",
    "control_character": "a string holds a raw control character",
    "not_a_json_number": "NaN and Infinity are no JSON numbers",
    "number_out_of_range": "a number is too large",
    "too_deep": "the JSON is nested too deeply",
    "syntax": "this is no JSON",
}


class Places(NamedTuple):
    """Path -> line of its key or element (from 1), and the paths of keys that repeat an earlier one."""

    lines: dict[Path_, int]
    repeated: tuple[Path_, ...]


def decoded(data: bytes, page: Page) -> str | None:
    """UTF-8 text without its byte order mark; None, and a fault that names the byte, where it is none."""
    try:
        return data.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "Save the file as UTF-8."
        page.fault("this is not UTF-8 text", line=line, found=f"byte 0x{data[error.start]:02x}", hint=hint)
        return None


def read_json(text: str, page: Page, *, line: int | None = None) -> Any:
    """The JSON value of `text`, or MISSING with the faults noted on `page`.

    `line` is the one line that the text stands on (JSONL); without it lines are counted inside the text, and the
    page learns where each field stands.
    """
    try:
        parsed = parse_json(text)
    except JsonFault as fault:
        where = line if line is not None else _syntax_line(text)
        found = text.strip()[:60] or "nothing"
        page.fault(_SAYS.get(fault.reason, fault.reason), line=where, found=found, expected="one JSON value")
        return MISSING
    if line is not None:
        page.line_of = lambda _: line
    else:
        page.line_of = _LazyLines(text)
    if "duplicate_keys" in parsed.flags:
        for path in json_places(text).repeated:
            page.fault("the same key stands here twice", path, found=path[-1], hint="Keep one of the two.")
    if "lone_surrogate" in parsed.flags:
        for path in _surrogate_paths(parsed.value, ()):
            page.fault("half of a surrogate pair is no character and cannot be sent", path, expected="Unicode text")
    return parsed.value


class _LazyLines:
    """Finds lines only once a fault asks for one."""

    def __init__(self, text: str) -> None:
        self.text, self.lines = text, dict[Path_, int]()

    def __call__(self, path: Path_) -> int | None:
        if not self.lines:
            self.lines = json_places(self.text).lines
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def _syntax_line(text: str) -> int | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno
    except (RecursionError, ValueError):  # nested too deeply, or a number too long to read
        pass
    return None


def json_places(text: str) -> Places:
    """Where each field of accepted JSON text stands. Call it only with text that `parse_json` accepts."""
    breaks = [match.start() for match in re.finditer("\n", text)]
    lines: dict[Path_, int] = {}
    repeated: list[Path_] = []

    def skip(position: int) -> int:
        match = _SPACE.match(text, position)
        assert match is not None
        return match.end()

    def note(path: Path_, position: int) -> None:
        lines[path] = bisect.bisect_left(breaks, position) + 1

    def members(position: int, path: Path_) -> int:
        position, seen = skip(position + 1), set[str]()
        while text[position] != "}":
            start = position
            key, position = _DECODER.raw_decode(text, position)
            note((*path, key), start)
            if key in seen:
                repeated.append((*path, key))
            seen.add(key)
            position = skip(value(skip(skip(position) + 1), (*path, key)))
            position = skip(position + 1) if text[position] == "," else position
        return position + 1

    def elements(position: int, path: Path_) -> int:
        position, index = skip(position + 1), 0
        while text[position] != "]":
            note((*path, index), position)
            position = skip(value(position, (*path, index)))
            position, index = (skip(position + 1) if text[position] == "," else position), index + 1
        return position + 1

    def value(position: int, path: Path_) -> int:
        head = text[position]
        if head == "{":
            return members(position, path)
        if head == "[":
            return elements(position, path)
        end: int = _DECODER.raw_decode(text, position)[1]
        return end

    lines[()] = bisect.bisect_left(breaks, skip(0)) + 1
    value(skip(0), ())
    return Places(lines, tuple(repeated))


def _surrogate_paths(value: Any, path: Path_) -> list[Path_]:
    if isinstance(value, str):
        return [path] if _SURROGATE.search(value) else []
    if isinstance(value, dict):
        broken = [path for key in value if _SURROGATE.search(key)][:1]
        return broken + [hit for key, item in value.items() for hit in _surrogate_paths(item, (*path, key))]
    if isinstance(value, list):
        return [hit for index, item in enumerate(value) for hit in _surrogate_paths(item, (*path, index))]
    return []


def read_toml(text: str, page: Page) -> Any:
    """The table of a TOML text, or MISSING with the fault noted on `page`."""
    try:
        table = tomllib.loads(text.replace("\r\n", "\n"))
        repr(table)  # a hexadecimal number may be too long to ever be shown
    except (ValueError, RecursionError) as error:
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        said = re.sub(r" \(at .*\)$", "", str(error)).strip() or "nested too deeply"
        page.fault(f"this is no TOML: {said[:1].lower()}{said[1:]}", line=int(at.group(1)) if at else None)
        return MISSING
    rows = text.split("\n")

    def line_of(path: Path_) -> int | None:
        key = re.compile(rf"""^\s*["']?{re.escape(str(path[0]) if path else "")}["']?\s*=""")
        return next((number for number, row in enumerate(rows, 1) if key.match(row)), None)

    page.line_of = line_of
    return table
