"""Prose cut into the units that text rules look at: a sentence, or a request together with the list that follows it.

Folds for matching only (NFKC, case, typographic apostrophes); the outcome keeps what was said. Understands no language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Unit", "clauses", "fold", "units"]

_URL = re.compile(r"https?://\S+|www\.\S+")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "‘": "'", "`": "'", "\u00a0": " ", "\u202f": " "})
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|z\.b|d\.h|p\.ex|p\.ej|v\.b|etc|approx|bzw|bspw|nr|no|st|dr|mr|mrs|ms|vs|ca)\.(?=\s*[\w(\"'])"
)
_BULLET = re.compile(r"^\s*(?:[-*+•·–—▪◦‣]|\d{1,2}[.)]|\(?[a-z][)])\s+")
_END = re.compile(r"(?<=[.!?…])[\"'»)*_]*\s+|(?<=[。!?؟।])(?=[^\s\"'»」』)*_])|(?<=[؟።።፧।])\s+")
_CLAUSE_END = re.compile(r"(?<=[,;:、،])|[–—]")
_GREEK_END = re.compile(r"(?<=[.!;])\s+")
_GREEK = re.compile("[\u0370-\u03ff]")
_QUESTION = re.compile("[?؟¿՞፧⸮‽]")
_PIECE = re.compile(r"\s*\S{0,256}")
"""What is normalised at once: a word. The library sorts a run of combining marks in quadratic time."""
_MAX_UNIT = 2_000
"""A longer piece is cut, so that a search that starts at each word does not go through the whole text each time."""
MAX_CHARACTERS = 20_000
"""Prose beyond this, before or after folding, is not looked at: a runaway answer costs no more than a long one."""


class Unit(NamedTuple):
    """A folded piece of prose, and whether a question mark of any script stands in it."""

    text: str
    question: bool


def fold(text: str) -> str:
    """The form in which words are compared: NFKC, case folded, one kind of apostrophe and of space."""
    if not text.isascii():
        text = "".join([unicodedata.normalize("NFKC", piece) for piece in _PIECE.findall(text)])
        text = text.translate(_APOSTROPHES)
    return text.casefold().replace("`", "'")


def units(text: str) -> list[Unit]:
    """The units of a text in order. A list item, and a line after a colon, belongs to the sentence that opens it."""
    folded = _URL.sub(" ", fold(text[:MAX_CHARACTERS])[:MAX_CHARACTERS])  # one character may fold to eighteen
    return [_unit(piece[at : at + _MAX_UNIT]) for piece in _pieces(folded) for at in range(0, len(piece), _MAX_UNIT)]


def clauses(unit: Unit) -> list[Unit]:
    """A unit cut further at commas, semicolons, colons and dashes."""
    return [_unit(piece) for piece in _CLAUSE_END.split(unit.text) if piece.strip()]


def _unit(piece: str) -> Unit:
    greek = ";" in piece and _GREEK.search(piece) is not None  # NFKC makes the Greek question mark a semicolon
    return Unit(piece, greek or _QUESTION.search(piece) is not None)


def _pieces(text: str) -> Iterator[str]:
    pending = ""
    opened = False  # the pending piece ends in a colon or has begun a list
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped:
            if pending and not pending.rstrip("*_ ").endswith(":") and not opened:
                yield pending
                pending = ""
            continue
        bullet = _BULLET.match(line) is not None
        if pending and (bullet or pending.rstrip("*_ ").endswith(":")):
            pending = f"{pending}\n{stripped}" if bullet else f"{pending} {stripped}"
            opened = bullet
            continue
        if pending:
            yield pending
        *whole, pending = _sentences(stripped)
        yield from whole
        opened = False
    if pending:
        yield pending


def _sentences(line: str) -> list[str]:
    guarded = _ABBREVIATION.sub(lambda match: match.group().replace(".", "\u2024"), line)
    parts = (_GREEK_END if _GREEK.search(guarded) else _END).split(guarded)
    return [part.replace("\u2024", ".") for part in parts if part and part.strip()] or [line]
