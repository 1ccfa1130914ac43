"""JSON that is almost JSON, read without inventing anything: a value has one reading here, or none.

Read although JSON forbids it: trailing commas; single quotes; `\\'`; control characters in strings; keys that are bare
words; True, False, None; a backslash with n, r or t between tokens; a code fence around the whole; behind the object,
empty strings, surplus closing brackets or the same object again. Brackets that were never closed are closed only
where the text ends directly behind a string, a word or a bracket; the caller asks the schema whether that was all.

Not read: an unclosed string, a number the text ends in, other invalid escapes, NaN, numbers with leading zeros, a key
that stands twice, prose. The faithful reader is `callscope.jsontext`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from callscope.canonical import canonical

__all__ = ["MAX_TEXT", "Lenient", "keyword_arguments", "lenient_object", "lenient_value"]

MAX_TEXT = 100_000
"""Characters beyond which nothing is read."""

_MAX_DEPTH = 100
_MAX_DIGITS = 400
_SPACE = re.compile(r"(?:[ \t\r\n]|\\[nrt])*")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<rest>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_FENCED = re.compile(r"```[ \t]*\w*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}


class Lenient(NamedTuple):
    """An object that was read; `closed` where brackets had to be closed that the text left open."""

    value: dict[str, Any]
    closed: bool


class _UnreadableError(Exception):
    pass


def lenient_object(text: str) -> Lenient | None:
    """The object that the whole of `text` is, or None. Blank text is `{}`."""
    if len(text) > MAX_TEXT:
        return None
    text = text.strip(" \t\r\n")
    fenced = _FENCED.fullmatch(text)
    reader = _Reader((fenced[1] if fenced else text).strip(" \t\r\n"), close=True)
    try:
        if reader.ended():
            return Lenient({}, False)
        value = reader.value(0)
        reader.tail(value)
    except _UnreadableError:
        return None
    return Lenient(value, reader.closed) if isinstance(value, dict) else None


def lenient_value(text: str, at: int = 0) -> tuple[Any, int] | None:
    """The value that begins at `at`, and where it ends; None where none can be read to its end."""
    reader = _Reader(text, at)
    return _told(reader, lambda: reader.value(0))


def keyword_arguments(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    """`name=value, …)` from `at` on, just behind the opening bracket, and where it ends; None for anything else."""
    reader = _Reader(text, at)
    return _told(reader, reader.keywords)


def _told(reader: _Reader, read: Callable[[], Any]) -> tuple[Any, int] | None:
    if len(reader.text) > MAX_TEXT:
        return None
    try:
        return read(), reader.at
    except _UnreadableError:
        return None


class _Reader:
    """A place in a text. Every method leaves `at` behind what it read, or raises."""

    def __init__(self, text: str, at: int = 0, *, close: bool = False) -> None:
        self.text, self.at, self.close, self.closed = text, at, close, False

    def ended(self) -> bool:
        self._skip()
        return self.at >= len(self.text)

    def value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH or self.ended():
            raise _UnreadableError
        mark = self.text[self.at]
        if mark in _PLAIN:
            return self._string(mark)
        if mark == "{":
            return self._object(depth)
        if mark == "[":
            return self._array(depth)
        word = _WORD.match(self.text, self.at)
        if word is None:
            return self._number()
        if word[0] not in _WORDS:
            raise _UnreadableError
        self.at = word.end()
        return _WORDS[word[0]]

    def tail(self, value: Any) -> None:
        """What may stand behind the whole."""
        while not self.ended():
            if self.text.startswith(('""', "''"), self.at):
                self.at += 2
            elif self.text[self.at] in "}]":
                self.at += 1
            elif self.text[self.at] != "{" or canonical(self._object(0)) != canonical(value):
                raise _UnreadableError

    def keywords(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self._end(")"):
            name = self._match(_IDENTIFIER)
            self._skip()
            self._expect("=")
            self._add(found, name, self.value(1))
            if not self._comma(")"):
                break
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while not self._end("}"):
            quoted = self.text[self.at : self.at + 1] in ("'", '"')
            key = self._string(self.text[self.at]) if quoted else self._match(_WORD)
            self._skip()
            self._expect(":")
            self._add(found, key, self.value(depth + 1))
            if not self._comma("}"):
                break
        return found

    def _array(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while not self._end("]"):
            found.append(self.value(depth + 1))
            if not self._comma("]"):
                break
        return found

    def _end(self, mark: str) -> bool:
        """Whether the closing mark comes next; steps over it."""
        self._skip()
        if not self.text.startswith(mark, self.at):
            return False
        self.at += 1
        return True

    def _comma(self, mark: str) -> bool:
        """Whether more may follow; steps over the comma, or over the closing mark."""
        last = self.at
        if self._end(mark):
            return False
        if self.at >= len(self.text) and self.close and not self.text[last - 1].isdigit():
            self.closed = True
            return False
        self._expect(",")
        return True

    def _add(self, found: dict[str, Any], key: str, value: Any) -> None:
        if key in found:
            raise _UnreadableError
        found[key] = value

    def _skip(self) -> None:
        space = _SPACE.match(self.text, self.at)
        assert space is not None
        self.at = space.end()

    def _expect(self, mark: str) -> None:
        if not self.text.startswith(mark, self.at):
            raise _UnreadableError
        self.at += 1

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _UnreadableError
        self.at = match.end()
        return match[0]

    def _number(self) -> int | float:
        match = _NUMBER.match(self.text, self.at)
        if match is None or len(match[0]) > _MAX_DIGITS:
            raise _UnreadableError
        self.at = match.end()
        if not match["rest"]:
            return int(match[0])
        number = float(match[0])
        if not math.isfinite(number):
            raise _UnreadableError
        return number

    def _string(self, quote: str) -> str:
        self.at += 1
        parts: list[str] = []
        while True:
            parts.append(self._match(_PLAIN[quote]))
            mark = self.text[self.at : self.at + 1]
            self.at += 1
            if mark == quote:
                return _joined("".join(parts))
            if not mark:
                raise _UnreadableError
            parts.append(self._escape())

    def _escape(self) -> str:
        mark = self.text[self.at : self.at + 1]
        self.at += 1
        if mark == "u":
            return chr(int(self._match(_HEX), 16))
        if mark not in _ESCAPES:
            raise _UnreadableError
        return _ESCAPES[mark]


def _joined(text: str) -> str:
    """Escaped surrogate pairs as the characters they make; a lone half stays."""
    if not any("\ud800" <= letter <= "\udbff" for letter in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
