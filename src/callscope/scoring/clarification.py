"""Does a text ask for what is missing, or make it up? Rules over data, "undecided" where they cannot tell.

Not a judge of tone or of language; the case declares the words of its language, the rules look for them.

A unit (`sentences`) *asks* when it holds a question mark of any script, a request form, or a question told without a
mark, unless it waives ("no postal code is needed") or offers ("anything else?"). A unit that waives is judged clause by
clause. What a unit says of a missing value it names:

| the unit                                                          | of the value            |
|-------------------------------------------------------------------|-------------------------|
| waives it                                                         | nothing                 |
| says that a value is assumed ("I assumed a code"), or tells one   | guessed                 |
| that is neither in the prompt nor a pattern such as 123456        |                         |
| the same in a question ("is your code 80331?")                    | suggested               |
| is a request, or a question aimed at a value ("what", "which", "do | asked for              |
| you have"), or hardly more than the name ("and the postal code?") |                         |
| is another question ("did you know …?", "shall I go on with …?")  | mentioned               |
| says that it is missing, while another unit is a request or such a | asked for              |
| question ("I don't have your postal code. Could you send it?")    |                         |
| anything else                                                     | mentioned               |

| the text                                       | clarification case             | rule                   |
|------------------------------------------------|--------------------------------|------------------------|
| guesses a value, and asks for none             | answered_instead_of_clarifying | states_a_value         |
| guesses or suggests a value otherwise          | undecided                      | states_and_asks        |
| asks, and asks for every missing value         | clarified_as_expected          | asks_and_names         |
| asks, and asks for some of them                | undecided                      | asks_names_some        |
| asks, and asks for none                        | undecided                      | asks_names_none        |
| does not clearly ask, mentions at least one    | undecided                      | names_without_asking   |
| neither                                        | answered_instead_of_clarifying | neither_asks_nor_names |

A name is matched by the words the case declares for it, by itself, and, where it declares none, by all its parts
(split on `_`, `-`, `.` and at capitals) within one unit. Words match at word boundaries, folded, with spaces, hyphens
and underscores alike, a plural s allowed, and the endings of languages that inflect (`phrases.toml`); in scripts
written without spaces they match anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from callscope.scoring.phrases import Inflection, Speech, found, speech
from callscope.scoring.sentences import Unit, clauses, fold, units

__all__ = ["Asking", "asks", "clarifies", "names_in"]

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_LETTER = f"[^\\W_{_SPACELESS}]"
_PART = re.compile(r"[_\-.\s]+|(?<=[a-z0-9])(?=[A-Z])")
_SHOWN = 300
_OPEN, _CLOSE = "\ue000", "\ue001"
"""What `<name>` and `<named>` in `phrases.toml` stand for: the marks around a name."""
_VALUE = r"(?P<value>[\w-]*[\d@](?:[\w@-]|\.(?=\w))*)"
_TOLD_AFTER = re.compile(
    _CLOSE
    + r"[ \t]*(?:(?:is|as|of|was|being|to be|code|number|ist|lautet|als|est|es|é|è|to|:|=|是|为|を|は|が)[ \t]*){0,3}"
    + r"[\"'*]*"
    + _VALUE
    + r"(?!\s*-?(?:digits?|characters?|numbers?|stellig\w*|chiffres|cifras|cifre|dígitos|cijfers|位))"
)
_TOLD_BEFORE = re.compile(
    _VALUE + r"[\"'*]*[ \t]+(?:(?:as|is|the|your|a|its|my|right|correct|als|ist|comme|como|come)\s+){1,4}" + _OPEN
)
_RUN = "01234567890123456789"
_SHORT = 4
_HARDLY_MORE = 3
_STEM = 4
_PLAIN = Inflection(0, 0)
_VALUE_FORM = re.compile(_VALUE)
_AUXILIARY = re.compile(r"\W*(?:is|are|was|were|does|do|did|can|could|should|shall|would|will|has|have|ist|sind|est)\b")

ClarificationResult = Literal["clarified_as_expected", "undecided", "answered_instead_of_clarifying"]
_Said = Literal["asked", "awaited", "suggested", "guessed", "mentioned"]
_Role = Literal["asks", "needs", "waives", "tells"]


class Asking(NamedTuple):
    """What the rules found: the result, its rule, and what was said of the missing names."""

    value: ClarificationResult
    rule: str
    evidence: dict[str, Any]


def asks(text: str, locale: str) -> str | None:
    """The first unit of `text` that asks the user for something, folded; None where none clearly does."""
    cut = units(text)
    spoken = _spoken(cut, locale)
    return next((unit.text[:_SHOWN] for unit, role in _roles(cut, spoken, _ended) if role == "asks"), None)


def clarifies(
    text: str, missing: Sequence[str], words: Mapping[str, tuple[str, ...]], locale: str, prompt: str = ""
) -> Asking:
    """Judge a text as the answer to a case in which `missing` is missing. Total: never raises.

    Args:
        text: the outcome's words.
        missing: the names of the values that the prompt does not give.
        words: the words by which the case names them.
        locale: the case's language.
        prompt: the user's words: a value in them is no guess.
    """
    cut = units(text)
    spoken = _spoken(cut, locale)
    said: dict[str, set[_Said]] = {name: set() for name in missing}
    asking: list[str] = []
    aimed = False
    prompt = fold(prompt)

    def marked_all(text: str) -> str:
        for name in missing:
            text = _marked(text, name, words, spoken.inflection) or text
        return text if _CLOSE in text else _ended(text)

    for unit, role in _roles(cut, spoken, marked_all):
        if role == "waives":
            continue
        if role == "asks":
            asking.append(unit.text[:_SHOWN])
            aimed = aimed or _aimed(_ended(unit.text), spoken)
        for name in missing:
            marked = _marked(unit.text, name, words, spoken.inflection)
            if marked is not None:
                said[name].add(_said(marked, unit, role, spoken, prompt))
    return _judged(said, asking, aimed=aimed)


def _judged(said: Mapping[str, set[_Said]], asking: Sequence[str], *, aimed: bool) -> Asking:
    asked = [name for name, of in said.items() if "asked" in of or (aimed and "awaited" in of)]
    mentioned = [name for name, of in said.items() if of]
    guessed = [name for name, of in said.items() if "guessed" in of]
    suggested = [name for name, of in said.items() if "suggested" in of]
    evidence: dict[str, Any] = {"asked_for": asked, "mentioned": mentioned, "asking": list(asking[:3])}
    if guessed or suggested:
        evidence["stated"] = [name for name in said if name in guessed or name in suggested]
        if guessed and not asked:
            return Asking("answered_instead_of_clarifying", "states_a_value", evidence)
        return Asking("undecided", "states_and_asks", evidence)
    if asking and len(asked) == len(said):
        return Asking("clarified_as_expected", "asks_and_names", evidence)
    if asking:
        return Asking("undecided", "asks_names_some" if asked else "asks_names_none", evidence)
    if mentioned:
        return Asking("undecided", "names_without_asking", evidence)
    return Asking("answered_instead_of_clarifying", "neither_asks_nor_names", evidence)


def _said(marked: str, unit: Unit, role: _Role, spoken: Speech, prompt: str) -> _Said:
    """What a unit that names a missing value says of it."""
    if _assumes(marked, spoken):
        return "guessed"
    if _tells_value(marked, prompt):
        return "suggested" if unit.question else "guessed"
    if role == "asks":
        return "asked" if _aimed(marked, spoken) or (unit.question and _bare(marked)) else "mentioned"
    return "awaited" if role == "needs" else "mentioned"


def _aimed(marked: str, spoken: Speech) -> bool:
    """Whether an asking unit wants a value: the one before the mark."""
    if found(spoken.request, marked):
        return True
    return not found(spoken.idle, marked) and (found(spoken.seek, marked) or found(spoken.open, marked))


def _ended(text: str) -> str:
    """A text that names nothing, marked at its end: whatever it asks for stands before the mark."""
    return text.rstrip(" .!?…。;؟*_") + _CLOSE


def _bare(marked: str) -> bool:
    """Whether a question is hardly more than the name: no room for a verb that asks for something else."""
    rest = re.sub(f"{_OPEN}[^{_CLOSE}]*{_CLOSE}", " ", marked)
    return len(re.findall(r"\w+", rest)) <= _HARDLY_MORE and not _AUXILIARY.match(rest)


def _assumes(marked: str, spoken: Speech) -> bool:
    for pattern in spoken.assume:
        hit = pattern.search(marked)
        if hit is not None and (_CLOSE in marked[hit.start() :] or _VALUE_FORM.search(marked)):
            return True
    return False


def _tells_value(marked: str, prompt: str) -> bool:
    hits = (*_TOLD_AFTER.finditer(marked), *_TOLD_BEFORE.finditer(marked))
    return any(not _known(hit["value"], prompt) for hit in hits)


def _known(value: str, prompt: str) -> bool:
    """Whether a value is the user's own, or so regular that it shows a format (123456, 00000)."""
    digits = re.sub(r"\D", "", value)
    regular = len(digits) >= _SHORT and (digits in _RUN or len(set(digits)) == 1)
    return value in prompt or regular


def _spoken(cut: Sequence[Unit], locale: str) -> Speech:
    return speech(locale, "\n".join([unit.text for unit in cut]))


def _roles(cut: Sequence[Unit], spoken: Speech, mark: Callable[[str], str]) -> Iterator[tuple[Unit, _Role]]:
    """Each unit with its role; one that waives is taken clause by clause: it may waive one thing and ask another."""
    for unit in cut:
        role = _role(unit, spoken, mark)
        if role == "waives":
            yield from ((clause, _role(clause, spoken, mark)) for clause in clauses(unit))
        else:
            yield unit, role


def _role(unit: Unit, spoken: Speech, mark: Callable[[str], str]) -> _Role:
    text = unit.text
    if found(spoken.waive, text):
        return "waives"
    if found(spoken.offer, text):
        return "tells"
    if unit.question or found(spoken.request, marked := mark(text)) or found(spoken.open, marked):
        return "asks"
    return "needs" if found(spoken.need, text) else "tells"


def names_in(
    text: str,
    names: Sequence[str],
    words: Mapping[str, tuple[str, ...]],
    inflection: Inflection = _PLAIN,
) -> set[str]:
    """Which of `names` the folded `text` names, by declared words or by the names' own parts."""
    return {name for name in names if _marked(text, name, words, inflection) is not None}


def _marked(text: str, name: str, words: Mapping[str, tuple[str, ...]], inflection: Inflection) -> str | None:
    """The text with marks around the name, in the first way that finds it; None where it is not named."""
    for way in _ways(name, tuple(words.get(name, ())), inflection):
        if all(part.search(text) for part in way):
            for part in way:
                text = part.sub(_in_marks, text)
            return text
    return None


def _in_marks(hit: re.Match[str]) -> str:
    return f"{_OPEN}{hit.group()}{_CLOSE}"


@lru_cache(maxsize=4096)
def _ways(name: str, words: tuple[str, ...], inflection: Inflection) -> tuple[tuple[re.Pattern[str], ...], ...]:
    """The ways to name something: each a group of patterns that must all be found."""

    def patterns(spelt: Sequence[str]) -> tuple[re.Pattern[str], ...]:
        return tuple(pattern for one in spelt if (pattern := _pattern(fold(one), inflection)) is not None)

    ways = [(pattern,) for pattern in patterns((*words, name))]
    parts = () if words else patterns(_PART.split(name))
    return (*ways, parts) if parts else tuple(ways)


def _pattern(word: str, inflection: Inflection) -> re.Pattern[str] | None:
    tokens = [token for token in re.split(r"[\s_\-]+", word) if token]
    if not tokens:
        return None
    plural = "s?" if re.search(r"[a-z]$", word) else ""
    before = f"(?<!{_LETTER})" if re.match(_LETTER, word) else ""
    after = f"(?!{_LETTER})" if re.search(f"{_LETTER}$", word) else ""
    return re.compile(before + r"[\s_-]*".join([_bent(token, inflection) for token in tokens]) + plural + after)


def _bent(token: str, inflection: Inflection) -> str:
    """A token that may change at its end, as far as its language lets it; a short one keeps its stem."""
    stem = token[: max(_STEM, len(token) - inflection.cut)]
    return re.escape(stem) + f"{_LETTER}{{0,{inflection.add}}}" if inflection.add else re.escape(token)
