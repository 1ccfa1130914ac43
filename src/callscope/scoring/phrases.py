"""The phrases by which text rules tell asking from telling and claiming from planning, compiled for one text.

The phrases are data (`phrases.toml`, one table a language); no logic is here and none there. `clarification` and
`violations` say what a hit means. A language without a table has English and the question marks of all scripts.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

__all__ = ["Speech", "languages", "speech"]

_VOCABULARY = re.compile("<([a-z_]+)>")
_NEVER = "(?!)"
_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
)


class Speech(NamedTuple):
    """The compiled phrases that apply to one text, by kind; `phrases.toml` says what each kind means."""

    request: re.Pattern[str]
    need: re.Pattern[str]
    waive: re.Pattern[str]
    offer: re.Pattern[str]
    claim: re.Pattern[str]
    hedge: re.Pattern[str]
    negation: re.Pattern[str]


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, Any]]:
    source = resources.files("callscope.scoring").joinpath("phrases.toml").read_text(encoding="utf-8")
    return tomllib.loads(unicodedata.normalize("NFKC", source))


def languages() -> tuple[str, ...]:
    """The languages that have phrases, as BCP 47 language codes, sorted."""
    return tuple(sorted(_tables().keys() - {"vocabulary"}))


def speech(locale: str, text: str) -> Speech:
    """The phrases for a text: those of the case's language, of English, and of every script seen in the text.

    `locale` is a BCP 47 tag of which only the language counts; models answer in another language than they were asked.
    """
    chosen = {"en", re.split("[-_]", locale, maxsplit=1)[0].lower()}
    if not text.isascii():
        chosen |= {name for name, script in _SCRIPTS if script.search(text)}
    return _compiled(tuple(sorted(chosen.intersection(languages()))))


@lru_cache(maxsize=64)
def _compiled(chosen: tuple[str, ...]) -> Speech:
    tables = _tables()
    words = {name: "(?:" + "|".join(entries) + ")" for name, entries in tables["vocabulary"].items()}

    def joined(kind: str) -> re.Pattern[str]:
        entries = [f"(?:{entry})" for name in chosen for entry in tables[name].get(kind, ())]
        source = "|".join(entries) or _NEVER
        return re.compile(_VOCABULARY.sub(lambda match: words[match.group(1)], source))

    return Speech(*(joined(kind) for kind in Speech._fields))
