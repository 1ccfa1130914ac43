"""Does a text ask, and does it name what is missing? Rules over data, "undecided" where they cannot tell.

Not a judge of tone or of language; the case declares the words of its language, the rules look for them.

A unit (`sentences`) *asks* when it holds a question mark of any script or a request form, unless it waives ("no postal
code is needed") or offers ("anything else?"). A unit that waives is judged clause by clause. A missing value is *asked
for* when it is named in a unit that asks, or in one that says something is missing ("I don't have your postal code")
while another unit asks. It is *mentioned* when it is named anywhere but where it is waived.

| the text                                     | clarification case             | rule                    |
|----------------------------------------------|--------------------------------|-------------------------|
| asks, and asks for every missing value       | clarified_as_expected          | asks_and_names          |
| asks, and asks for some of them              | undecided                      | asks_names_some         |
| asks, and asks for none                      | undecided                      | asks_names_none         |
| does not clearly ask, mentions at least one  | undecided                      | names_without_asking    |
| neither                                      | answered_instead_of_clarifying | neither_asks_nor_names  |

A name is matched by the words the case declares for it, by itself, and, where it declares none, by all its parts
(split on `_`, `-`, `.` and at capitals) within one unit. Words match at word boundaries, folded, with spaces, hyphens
and underscores alike and a plural s allowed; in scripts written without spaces they match anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from callscope.scoring.phrases import Speech, speech
from callscope.scoring.sentences import Unit, clauses, fold, units

__all__ = ["Asking", "asks", "clarifies", "names_in"]

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_LETTER = f"[^\\W_{_SPACELESS}]"
_PART = re.compile(r"[_\-.\s]+|(?<=[a-z0-9])(?=[A-Z])")
_SHOWN = 300

ClarificationResult = Literal["clarified_as_expected", "undecided", "answered_instead_of_clarifying"]


class Asking(NamedTuple):
    """What the rules found: the result, its rule, and which missing names were asked for or merely mentioned."""

    value: ClarificationResult
    rule: str
    evidence: dict[str, Any]


def asks(text: str, locale: str) -> str | None:
    """The first unit of `text` that asks the user for something, folded; None where none clearly does."""
    spoken = speech(locale, text)
    return next((unit.text[:_SHOWN] for unit, role in _roles(text, spoken) if role == "asks"), None)


def clarifies(text: str, missing: Sequence[str], words: Mapping[str, tuple[str, ...]], locale: str) -> Asking:
    """Judge a text as the answer to a case in which `missing` is missing. Total: never raises."""
    spoken = speech(locale, text)
    asking: list[str] = []
    asked: set[str] = set()
    awaited: set[str] = set()
    mentioned: set[str] = set()
    for unit, role in _roles(text, spoken):
        if role == "waives":
            continue
        named = names_in(unit.text, missing, words)
        mentioned |= named
        if role == "asks":
            asking.append(unit.text[:_SHOWN])
            asked |= named
        elif role == "needs":
            awaited |= named
    if asking:
        asked |= awaited
    evidence: dict[str, Any] = {
        "asked_for": [name for name in missing if name in asked],
        "mentioned": [name for name in missing if name in mentioned],
        "asking": asking[:3],
    }
    if asking and asked.issuperset(missing):
        return Asking("clarified_as_expected", "asks_and_names", evidence)
    if asking:
        return Asking("undecided", "asks_names_some" if asked else "asks_names_none", evidence)
    if mentioned:
        return Asking("undecided", "names_without_asking", evidence)
    return Asking("answered_instead_of_clarifying", "neither_asks_nor_names", evidence)


_Role = Literal["asks", "needs", "waives", "tells"]


def _roles(text: str, spoken: Speech) -> Iterator[tuple[Unit, _Role]]:
    """Each unit with its role; one that waives is taken clause by clause: it may waive one thing and ask another."""
    for unit in units(text):
        role = _role(unit, spoken)
        if role == "waives":
            yield from ((clause, _role(clause, spoken)) for clause in clauses(unit))
        else:
            yield unit, role


def _role(unit: Unit, spoken: Speech) -> _Role:
    if spoken.waive.search(unit.text):
        return "waives"
    if spoken.offer.search(unit.text):
        return "tells"
    if unit.question or spoken.request.search(unit.text):
        return "asks"
    return "needs" if spoken.need.search(unit.text) else "tells"


def names_in(text: str, names: Sequence[str], words: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Which of `names` the folded `text` names, by declared words or by the names' own parts."""
    return {
        name
        for name in names
        if any(all(part.search(text) for part in way) for way in _ways(name, tuple(words.get(name, ()))))
    }


@lru_cache(maxsize=4096)
def _ways(name: str, words: tuple[str, ...]) -> tuple[tuple[re.Pattern[str], ...], ...]:
    """The ways to name something: each a group of patterns that must all be found."""
    ways = [(pattern,) for word in (*words, name) if (pattern := _pattern(fold(word))) is not None]
    if not words:
        parts = tuple(pattern for part in _PART.split(name) if (pattern := _pattern(fold(part))) is not None)
        if parts:
            return (*ways, parts)
    return tuple(ways)


def _pattern(word: str) -> re.Pattern[str] | None:
    tokens = [re.escape(token) for token in re.split(r"[\s_\-]+", word) if token]
    if not tokens:
        return None
    plural = "s?" if re.search(r"[a-z]$", word) else ""
    before = f"(?<!{_LETTER})" if re.match(_LETTER, word) else ""
    after = f"(?!{_LETTER})" if re.search(f"{_LETTER}$", word) else ""
    return re.compile(before + r"[\s_-]*".join(tokens) + plural + after)
