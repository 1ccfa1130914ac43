"""Strings compared as gold for a folding checker was written: without case, outer space and Unicode form.

Used only under rules that declare `text: folded` (imported benchmarks). Punctuation counts, so that `-5` is not `5` and
`/a/bc` not `/ab/c`; only in text that is a date or a time it does not.

| the text                                                        | is date-like |
|-----------------------------------------------------------------|--------------|
| only digits, month and weekday names, ordinals, am, pm, of, at  |              |
| … with a month or weekday name                                  | yes          |
| … with three numbers, two of them parted by `-`, `/`, `.` or `:`  | yes          |
| … with two numbers parted by `:`                                 | yes          |
| anything else (`-5`, `1.5`, `1/2`)                              | no           |

Source: scoring-faults 12 and 16 (probes q05 to q09, q16, q39); issue 4, item 2.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["same_folded"]

_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?|mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs?|rsday)?|fri(?:day)?"
    "|sat(?:urday)?|sun(?:day)?"
)
_NAME = re.compile(f"(?:{_NAMES})")
_WORD = re.compile(
    f"(?:{_NAMES}|[0-9]{{1,8}}(?:st|nd|rd|th)?|[0-9]{{1,2}}(?:am|pm)|[0-9]{{1,2}}t[0-9]{{1,2}}|am|pm|of|at|t|z)"
)
_SPLIT = re.compile(r"[\s,./:;\-]+")
_THREE = re.compile(r"[0-9]+[-/.:][0-9]+[-/.: ,T]+[0-9]+", re.IGNORECASE)
_CLOCK = re.compile(r"[0-9]:[0-9]")
_LONGEST = 64


def same_folded(left: str, right: str) -> bool:
    """Whether two strings are the same but for case, outer space, Unicode form and, in dates, punctuation. Total."""
    if left == right:
        return True
    one, other = _folded(left), _folded(right)
    if one == other:
        return True
    if len(one) > _LONGEST or len(other) > _LONGEST or not (one[-1:].isalnum() and other[-1:].isalnum()):
        return False
    words = _date_words(one)
    return words is not None and words == _date_words(other)


def _folded(text: str) -> str:
    if text.isascii():
        return text.strip().lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).strip().casefold())


def _date_words(text: str) -> tuple[str, ...] | None:
    """The words of a date-like text, its date in eight digits taken apart; None for any other text."""
    words = [word for word in _SPLIT.split(text) if word]
    if not words or not all(_WORD.fullmatch(word) for word in words) or text[0] in "-.":
        return None
    if len(words) == 1 and re.fullmatch("[0-9]{8}", words[0]):
        return (words[0][:4], words[0][4:6], words[0][6:])
    named = any(_NAME.fullmatch(word) for word in words)
    return tuple(words) if named or _THREE.search(text) or _CLOCK.search(text) else None
