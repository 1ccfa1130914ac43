"""The phrases by which text rules tell asking from telling and claiming from planning, compiled for one text.

The phrases are data (`phrases.toml`, one table a language); no logic is here and none there. `clarification` and
`claims` say what a hit means. A language without a table has English and the question marks of all scripts.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

__all__ = ["Claims", "Inflection", "Speech", "found", "languages", "speech"]

_VOCABULARY = re.compile("<([a-z_]+)>")
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("vi", re.compile("[\u01a1\u01b0\u0111\u1ea0-\u1ef9]")),
)
_Patterns = tuple[re.Pattern[str], ...]


class Claims(NamedTuple):
    """One language's claims, with what makes a claim none: a hedge before it, a negation in it."""

    claim: re.Pattern[str]
    hedge: re.Pattern[str]
    negation: re.Pattern[str]


class Inflection(NamedTuple):
    """How far a word may change at its end: letters cut from a long word, letters added."""

    cut: int
    add: int


class Speech(NamedTuple):
    """The compiled phrases that apply to one text, by kind, a pattern a language; `phrases.toml` says what each kind
    means. Claims keep their language: a word that hedges in one is another word in the next."""

    request: _Patterns
    need: _Patterns
    waive: _Patterns
    offer: _Patterns
    seek: _Patterns
    open: _Patterns
    idle: _Patterns
    assume: _Patterns
    claims: tuple[Claims, ...]
    inflection: Inflection


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, Any]]:
    source = resources.files("callscope.scoring").joinpath("phrases.toml").read_text(encoding="utf-8")
    return tomllib.loads(unicodedata.normalize("NFKC", source))


def languages() -> tuple[str, ...]:
    """The languages that have phrases, as BCP 47 language codes, sorted."""
    return tuple(sorted(_tables().keys() - {"vocabulary"}))


def speech(locale: str, text: str) -> Speech:
    """The phrases for a folded text: those of the case's language, of English, of every script seen in the text, and of
    the languages in Latin script whose marks (words that tell them from the others) are seen in it.

    `locale` is a BCP 47 tag of which only the language counts; models answer in another language than they were asked.
    """
    chosen = {"en", re.split("[-_]", locale, maxsplit=1)[0].lower()}
    if not text.isascii():
        chosen |= {name for name, script in _SCRIPTS if script.search(text)}
    words = set(_WORD.findall(text))
    chosen |= {name for name, marks in _marks() if not marks.isdisjoint(words)}
    return _speech(tuple(sorted(chosen.intersection(languages()))))


def found(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    """Whether any of the patterns stands in the text."""
    return any(pattern.search(text) is not None for pattern in patterns)


@lru_cache(maxsize=1)
def _marks() -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple(
        (name, frozenset(word for entry in marks for word in entry.split()))
        for name in languages()
        if (marks := _tables()[name].get("marks"))
    )


@lru_cache(maxsize=256)
def _speech(chosen: tuple[str, ...]) -> Speech:
    def by_language(kind: str) -> _Patterns:
        return tuple([pattern for name in chosen if (pattern := _compiled(name, kind)) is not None])

    claims = tuple([claims for name in chosen if (claims := _claims(name)) is not None])
    endings = [_tables()[name].get("inflection", {}) for name in chosen]
    return Speech(
        request=by_language("request"),
        need=by_language("need"),
        waive=by_language("waive"),
        offer=by_language("offer"),
        seek=by_language("seek"),
        open=by_language("open"),
        idle=by_language("idle"),
        assume=by_language("assume"),
        claims=claims,
        inflection=Inflection(
            max(ending.get("cut", 0) for ending in endings), max(ending.get("add", 0) for ending in endings)
        ),
    )


def _claims(language: str) -> Claims | None:
    claim, hedge, negation = (_compiled(language, kind) for kind in Claims._fields)
    return Claims(claim, hedge, negation) if claim and hedge and negation else None


@lru_cache(maxsize=1)
def _vocabulary() -> dict[str, str]:
    words: dict[str, str] = {}
    for name, entries in _tables()["vocabulary"].items():
        words[name] = "(?:" + "|".join(_spelt(entry, words) for entry in entries) + ")"
    return words


def _spelt(entry: str, words: dict[str, str]) -> str:
    return _VOCABULARY.sub(lambda match: words[match.group(1)], entry)


@lru_cache(maxsize=512)
def _compiled(language: str, kind: str) -> re.Pattern[str] | None:
    entries = _tables()[language].get(kind, ())
    source = "|".join(f"(?:{_spelt(entry, _vocabulary())})" for entry in entries)
    return re.compile(source) if source else None
