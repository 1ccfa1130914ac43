"""A judge made of rules: it decides two values whose form leaves no doubt, and nothing else. No model, no call.

Never right about wording: a paraphrase is undecided here. Its rulings are labelled `rules`, and it answers the same
sentinels as any judge.

| both values                                                           | ruling                                  |
|-----------------------------------------------------------------------|-----------------------------------------|
| alike after NFC, with single spaces and none around                   | equivalent                              |
| dates, wall times or instants of one kind (`scoring.dates`)           | equivalent if the same, else different  |
| quantities of one dimension                                           | equivalent if exactly equal by the      |
|                                                                       | table of units; different if apart by   |
|                                                                       | more than a hundredth; else undecided   |
| quantities of two dimensions                                          | different; undecided where a unit could |
|                                                                       | mean another (`m`: metres or minutes)   |
| numbers in digits, or in English words                                | equivalent if equal, different if not;  |
|                                                                       | undecided where one can be read in two  |
|                                                                       | ways (`1.000`)                          |
| names: up to six words of letters, written with a capital on one side | equivalent if alike without case,       |
|                                                                       | accents and hyphens, with `Doe, Jane`   |
|                                                                       | turned round and the short form of a    |
|                                                                       | country written out; never different    |
| anything else                                                         | undecided                               |
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from callscope.judge.amounts import numbers_of, quantity_of
from callscope.judge.answers import Said
from callscope.judge.questions import Question
from callscope.scoring.dates import same_time

__all__ = ["RULES", "answer_by_rules", "compare_by_rules"]

RULES = "rules"
"""The name of this judge."""

Ruled = Literal["equivalent", "different", "undecided"]
_LONGEST = 200
_APART = 100
"""Amounts nearer than one part in so many may be the same, rounded in a conversion."""

_ZONE = re.compile(r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})$")
_NAME = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]*)*(?:,? [^\W\d_]+(?:['’.-][^\W\d_]*)*){0,5}")

_COUNTRIES = {
    "us": "united states",
    "u.s.": "united states",
    "usa": "united states",
    "u.s.a.": "united states",
    "united states of america": "united states",
    "uk": "united kingdom",
    "u.k.": "united kingdom",
    "great britain": "united kingdom",
    "uae": "united arab emirates",
    "u.a.e.": "united arab emirates",
    "czechia": "czech republic",
    "holland": "netherlands",
    "the netherlands": "netherlands",
    "turkiye": "turkey",
    "ivory coast": "cote d'ivoire",
    "drc": "democratic republic of the congo",
    "prc": "china",
    "republic of korea": "south korea",
    "dprk": "north korea",
    "ksa": "saudi arabia",
    "nz": "new zealand",
}


def answer_by_rules(question: Question) -> Said:
    """What the rules say of a question; `cannot_assess` where they cannot tell."""
    if not (isinstance(question.first, str) and isinstance(question.second, str)):
        return Said("cannot_assess", "rules compare texts only")
    verdict, rule = compare_by_rules(question.first, question.second)
    return Said("cannot_assess", rule) if verdict == "undecided" else Said(verdict, rule)


def compare_by_rules(left: str, right: str) -> tuple[Ruled, str]:
    """The ruling on two texts and the name of the rule; the same with the two swapped. Never raises."""
    one, other = _plain(left), _plain(right)
    if one == other:
        return "equivalent", "same_text"
    if not one or not other or max(len(one), len(other)) > _LONGEST:
        return "undecided", "no_rule"
    for rule in (_times, _quantities, _numbers, _names):
        found = rule(one, other)
        if found is not None:
            return found, rule.__name__.removeprefix("_")
    return "undecided", "no_rule"


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _times(one: str, other: str) -> Ruled | None:
    if not (same_time(one, one) and same_time(other, other)):
        return None
    if same_time(one, other):
        return "equivalent"
    return "different" if _kind(one) == _kind(other) else "undecided"


def _kind(text: str) -> str:
    return "date" if ":" not in text else "instant" if _ZONE.search(text) else "wall"


def _quantities(one: str, other: str) -> Ruled | None:
    left, right = quantity_of(one), quantity_of(other)
    if left is None or right is None:
        return None
    if left.dimension != right.dimension:
        return "undecided" if left.doubtful or right.doubtful else "different"
    if left.amount == right.amount:
        return "equivalent"
    apart = abs(left.amount - right.amount)
    return "different" if apart * _APART > max(abs(left.amount), abs(right.amount)) else "undecided"


def _numbers(one: str, other: str) -> Ruled | None:
    left, right = numbers_of(one), numbers_of(other)
    if not left or not right:
        return None
    if len(left) == len(right) == 1:
        return "equivalent" if left == right else "different"
    return "undecided" if left & right else "different"


def _names(one: str, other: str) -> Ruled | None:
    if not (_NAME.fullmatch(one) and _NAME.fullmatch(other)) or not (_capital(one) or _capital(other)):
        return None
    return "equivalent" if _folded(one) == _folded(other) else None


def _capital(text: str) -> bool:
    return all(word[:1].isupper() for word in re.split("[ ,]+", text) if word)


def _folded(text: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    parts = [part.strip() for part in bare.split(",")]
    last = _COUNTRIES.get(parts[-1])
    if last is not None:
        parts[-1] = last
    elif len(parts) == 2 and " " not in parts[0] and parts[-1] not in _COUNTRIES.values():
        parts = [f"{parts[1]} {parts[0]}"]
    return ", ".join(" ".join(part.replace("-", " ").replace("’", "'").split()) for part in parts)
