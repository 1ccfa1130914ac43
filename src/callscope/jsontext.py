"""Faithful JSON: what a model or provider wrote, read without changing it.

Nothing is repaired. Whatever a plain parser would silently change or drop is either kept and flagged (duplicate
keys, big integers, lone surrogates) or refused with a named reason (NaN, extra data, invalid escapes, …).
Not for our own envelopes; those are written and read with orjson.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["MAX_DEPTH", "JsonFault", "Parsed", "dump_faithful", "escape_surrogates", "parse_json"]

MAX_DEPTH = 200
"""Levels of nesting accepted; deeper text is refused as `too_deep` (validators crash on it, specs of the engines)."""

_SAFE_INTEGER = 2**53
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB-fF]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BRACKET = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*"?', re.DOTALL)
_SPACE = " \t\n\r"
_CUT_ESCAPE = re.compile(r"\\?u[0-9a-fA-F]{0,4}\Z")
_CUT_TOKEN = re.compile(
    r"(?<![\w.+-])(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-|-?(?:0|[1-9][0-9]*)(?:\.|(?:\.[0-9]+)?[eE][+-]?))\Z"
)


class JsonFault(ValueError):
    """Text that is no JSON value. `reason` is one of: empty, truncated, extra_data, invalid_escape, control_character,
    not_a_json_number, number_out_of_range, too_deep, invalid_utf8, syntax."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}" if detail else reason)


class Parsed(NamedTuple):
    """A JSON value as written, and what a plain parser would have hidden.

    flags: sorted names out of `duplicate_keys`, `big_integer`, `lone_surrogate`. With duplicate keys the last one
    stands, as in every client library.
    """

    value: Any
    flags: tuple[str, ...]


def _constant(token: str) -> Any:
    raise JsonFault("not_a_json_number", token)


def _float(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise JsonFault("number_out_of_range", token[:40])
    return value


def parse_json(text: str | bytes, *, max_depth: int = MAX_DEPTH) -> Parsed:
    """Read one JSON value out of `text`.

    Raises JsonFault with a named reason, and nothing else, on any input.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise JsonFault("invalid_utf8", str(error)) from None
    if not text.strip(_SPACE):
        raise JsonFault("empty")
    if text.count("[") + text.count("{") > max_depth and _too_deep(text, max_depth):
        raise JsonFault("too_deep")
    flags: set[str] = set()

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            flags.add("duplicate_keys")
        return result

    def integer(token: str) -> int:
        if len(token) < 16:
            return int(token)
        try:
            value = int(token)
        except ValueError:
            raise JsonFault("number_out_of_range", f"{len(token)} digits") from None
        if abs(value) > _SAFE_INTEGER:
            flags.add("big_integer")
        return value

    try:
        value = json.loads(
            text, object_pairs_hook=pairs, parse_constant=_constant, parse_int=integer, parse_float=_float
        )
    except json.JSONDecodeError as error:
        raise JsonFault(_reason(error), error.msg) from None
    if (_SURROGATE_ESCAPE.search(text) or _SURROGATE.search(text)) and _any_string(value, _SURROGATE.search):
        flags.add("lone_surrogate")
    return Parsed(value, tuple(sorted(flags)))


def _reason(error: json.JSONDecodeError) -> str:
    if "escape" in error.msg:
        return "truncated" if _CUT_ESCAPE.match(error.doc, error.pos) else "invalid_escape"
    if error.msg.startswith("Invalid control character"):
        return "control_character"
    if error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip(_SPACE)):
        return "truncated"
    token = _CUT_TOKEN.search(error.doc)
    wanted = error.msg.startswith("Expecting value")
    if token is not None and (token.start() == error.pos if wanted else token.start() < error.pos):
        return "truncated"
    return "extra_data" if error.msg.startswith("Extra data") else "syntax"


def _too_deep(text: str, limit: int) -> bool:
    """Whether brackets outside strings nest deeper than `limit`; decided on the text, so that it never depends on
    how much stack an interpreter has left."""
    depth = 0
    for match in _BRACKET.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
            if depth > limit:
                return True
        elif mark in "]}":
            depth -= 1
    return False


def _any_string(value: Any, test: Callable[[str], object]) -> bool:
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            if test(node):
                return True
        elif isinstance(node, dict):
            stack.extend(node.keys())
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return False


def escape_surrogates(text: str) -> str:
    """`text` with each lone surrogate written as its `\\udXXX` escape, so that it can be encoded as UTF-8."""
    return _SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", text)


def dump_faithful(value: Any, *, indent: int | None = None, sort_keys: bool = False) -> bytes:
    """`value` as UTF-8 JSON text that reads back to the same value: big integers whole, surrogates escaped.

    JSON has no form for a high surrogate directly before a low one; they read back as the character they make.
    Compact unless `indent` is given; keys in their own order unless `sort_keys`.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, separators=separators, indent=indent, sort_keys=sort_keys)
    return escape_surrogates(text).encode("utf-8")
