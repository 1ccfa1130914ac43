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
from typing import Any, NamedTuple, Self

__all__ = ["MAX_DEPTH", "BadNumber", "JsonFault", "Parsed", "dump_faithful", "escape_surrogates", "parse_json"]

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


class BadNumber(float):
    """A number that JSON does not have (NaN, 1e400), where it was asked to be kept; `token` is how it was written."""

    __slots__ = ("token",)
    token: str

    def __new__(cls, token: str) -> Self:
        """Reads as not a number, so that no comparison with it holds."""
        kept = super().__new__(cls, math.nan)
        kept.token = token
        return kept


class Parsed(NamedTuple):
    """A JSON value as written, and what a plain parser would have hidden.

    flags: sorted names out of `duplicate_keys`, `big_integer`, `lone_surrogate`, `bad_number`. With duplicate
    keys the last one stands, as in every client library.
    """

    value: Any
    flags: tuple[str, ...]


def _hooks(flags: set[str], *, bad_numbers: bool) -> dict[str, Any]:
    """How json.loads is to read objects and numbers; what they hide goes into `flags`."""

    def bad(token: str, reason: str) -> BadNumber:
        if not bad_numbers:
            raise JsonFault(reason, token if len(token) < 40 else f"{len(token)} digits")
        flags.add("bad_number")
        return BadNumber(token)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            flags.add("duplicate_keys")
        return result

    def decimal(token: str) -> float:
        value = float(token)
        return bad(token, "number_out_of_range") if math.isinf(value) else value

    def integer(token: str) -> int | BadNumber:
        if len(token) < 16:
            return int(token)
        try:
            value = int(token)
        except ValueError:
            return bad(token, "number_out_of_range")
        if abs(value) > _SAFE_INTEGER:
            flags.add("big_integer")
        return value

    def constant(token: str) -> BadNumber:
        return bad(token, "not_a_json_number")

    return {
        "object_pairs_hook": pairs,
        "parse_constant": constant,
        "parse_int": integer,
        "parse_float": decimal,
    }


def parse_json(text: str | bytes, *, max_depth: int = MAX_DEPTH, bad_numbers: bool = False) -> Parsed:
    """Read one JSON value out of `text`. `bad_numbers`: numbers that JSON does not have are kept, each as a BadNumber.

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
    try:
        value = json.loads(text, **_hooks(flags, bad_numbers=bad_numbers))
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
