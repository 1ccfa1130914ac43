"""JavaScript source text to a value, by the patterns of BFCL's checker. Kept with its gaps, for its verdict.

Not for our own verdict; that reads JavaScript by its grammar (`native`). What matches no pattern stays the text it was.

| declared type | pattern                                 | value                                        |
|---------------|-----------------------------------------|----------------------------------------------|
| String        | `"x"`, `'x'`                            | the text between, else all of it             |
| integer       | `-5`                                    | int                                          |
| float         | `5.0`, `5`                              | float                                        |
| Bigint        | `5n`                                    | int                                          |
| Boolean       | `true`, `false`                         | bool                                         |
| array         | `[…]`, `new Array(…)`, at the beginning | list: split at every comma, inside strings   |
|               |                                         | too; up to the first `]`                     |
|               | `[[…], […]]`, `new Array([…], […])`     | list of lists, their elements without a type |
| dict          | `{k: v, …}`, at the beginning           | dict, up to the first `}`                    |
| any           | anything                                | the text                                     |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from callscope.importers.bfcl.jstext import unquoted

__all__ = ["JAVASCRIPT_TYPES", "javascript_value"]

JAVASCRIPT_TYPES: dict[str, type] = {
    "String": str,
    "integer": int,
    "float": float,
    "Bigint": int,
    "Boolean": bool,
    "dict": dict,
    "array": list,
    "any": str,
}
"""The Python type that each declared type is compared as."""

_INTEGER = re.compile(r"-?\d+$")
_FLOAT = re.compile(r"-?\d+(?:\.\d+)?$")
_BIGINT = re.compile(r"-?\d+n$")
_ARRAY = re.compile(r"\[(?P<literal>.*?)\]|\bnew\s+Array\((?P<created>.*?)\)")
_ROWS_BEGIN = re.compile(r"(?P<literal>\[)\s*\[|\bnew\s+Array\(\s*\[")
_ROW = re.compile(r"\[(.*?)\]")
_DICT = re.compile(r"\{(?P<pairs>.*?)\}")
_PAIR = re.compile(r"(?P<key>[^:]+):\s*(?P<value>.*?)(?:,\s*(?=[^,]+:)|$)")
_SPACE = re.compile(r"\s*")


def javascript_value(text: str, declared: str, items: str | None = None) -> Any:
    """The value of `text` for a parameter of type `declared` (a key of JAVASCRIPT_TYPES), `items` the type of its
    elements. Raises ValueError where digits are too many for an int.
    """
    match declared:
        case "String":
            return unquoted(text)
        case "integer":
            return int(text) if _INTEGER.match(text) else text
        case "float":
            return float(text) if _FLOAT.match(text) else text
        case "Bigint":
            return int(text[:-1]) if _BIGINT.match(text) else text
        case "Boolean":
            return text == "true" if text in {"true", "false"} else text
        case "array":
            return _array(text.strip(), items)
        case "dict":
            return _dict(text.strip())
    return text


def _array(text: str, items: str | None) -> Any:
    """A list, or `text` where it is none; also where an element of it cannot be read."""
    rows = _rows(text)
    if rows is not None:
        return rows
    found = _ARRAY.match(text)
    if found is None:
        return text
    inside = (found["literal"] if found["literal"] is not None else found["created"]).strip()
    elements = [each.strip() for each in inside.split(",")] if inside else []
    try:
        return [javascript_value(each, items) if items else _untyped(each) for each in elements]
    except (ValueError, RecursionError):
        return text


def _rows(text: str) -> list[Any] | None:
    """A list of lists, or None where `text` does not begin with one."""
    begin = _ROWS_BEGIN.match(text)
    if begin is None:
        return None
    end = _end_of_rows(text, begin.end(), "]" if begin["literal"] else ")")
    if end is None:
        return None
    rows = [row.strip() for row in _ROW.findall(text[:end])]
    if rows and rows[0].startswith("["):
        rows[0] = rows[0][1:]
    return [[_untyped(each.strip()) for each in row.split(",")] for row in rows]


def _end_of_rows(text: str, start: int, closing: str) -> int | None:
    r"""Where the list of lists ends whose first inner list begins at `start`; None where it never does.

    What a backtracking search for `.*?\]\s*(,\s*\[.*?\]\s*)*` and `closing` finds first, in one pass from the right:
    the search itself takes time exponential in the number of inner lists where the end is missing.
    """
    after: int | None = None  # the end, seen from the place to the right
    ends: dict[int, int | None] = {}
    for place in range(len(text) - 1, start - 1, -1):
        here: int | None = None
        if text[place] == "]":
            next_ = _skip_space(text, place + 1)
            if text.startswith(",", next_):
                row = _skip_space(text, next_ + 1)
                here = ends.get(row + 1) if text.startswith("[", row) else None
            elif text.startswith(closing, next_):
                here = next_ + 1
        if here is None and text[place] != "\n":
            here = after
        ends[place] = after = here
    return ends.get(start)


def _skip_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _dict(text: str) -> Any:
    if text == "{}":
        return {}
    found = _DICT.match(text)
    if found is None:
        return text
    try:
        return {key.strip().strip("'\""): _member(value.strip()) for key, value in _pairs(found["pairs"])}
    except (ValueError, RecursionError):
        return text


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values. A key ends at a colon, so nothing is looked for behind the last one."""
    place, last = 0, text.rfind(":")
    while place < last:
        found = _PAIR.match(text, place)
        if found is not None:
            yield found["key"], found["value"]
        place = found.end() if found is not None else place + 1


def _member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _array(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _dict(text)
    return _untyped(text.strip("'\""))


def _untyped(text: str) -> Any:
    text = text.strip()
    if text in {"true", "false"}:
        return text == "true"
    inner = unquoted(text)
    if inner != text:
        return inner
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
