"""Lint rules about prompts, labels and cover: duplicates, dates nobody can resolve, classes without a case, dead fakes.

Nothing about whether gold is right; that is `lint_gold`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import get_args

from callscope.canonical import canonical
from callscope.contract import (
    Behaviour,
    Case,
    ExpectClarification,
    ExpectNoCall,
    ExpectText,
    ExpectTool,
    ExpectTools,
    FakeAnswer,
)
from callscope.errors import shown
from callscope.suites.lint_base import Lintable, Rule, Spot

__all__ = ["RULES"]

_FILE = "cases.jsonl"
_CALL, _PROSE = (ExpectTool, ExpectTools), (ExpectText, ExpectNoCall)
_FITS: dict[str, tuple[type, ...]] = {
    "positive_selection": _CALL,
    "confusable_selection": _CALL,
    "argument_pressure": _CALL,
    "abstention": _PROSE,
    "missing_information": (ExpectClarification,),
}
"""Which expectations a behaviour class can have."""

_RELATIVE = {
    "en": r"(?i)\b(today|tonight|tomorrow|yesterday|(last|next|this|past|coming) (night|week|month|year|weekend|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday)|"
    r"(\d+|a|two|three) (day|week|month|year)s? (ago|from now)|"
    r"in (\d+|a|two|three) (day|week|month|year)s?)\b",
    "de": r"\b([Hh]eute|morgen|[Üü]bermorgen|[Gg]estern|(nächste|letzte|diese|kommende)[nrs]? (Woche|Monat|Jahr|"
    r"Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag))\b",
    "fr": r"(?i)\b(aujourd['’]hui|demain|hier|(la semaine|le mois|l['’]année) (prochaine?|dernière?|dernier))\b",
    "es": r"(?i)(?<!buenas )(?<!la )\b(hoy|mañana|ayer|(la semana|el mes|el año) (próxim[oa]|pasad[oa]|que viene))\b",
    "ja": r"(今日|明日|昨日|来週|先週|来月|先月|来年|去年)",
}
"""Words that mean a day only if one knows when they were said, by language; English is always looked for."""
_RELATIVE_PATTERNS = {language: re.compile(pattern) for language, pattern in _RELATIVE.items()}
_LOCALE = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")


def _behaviour_missing(it: Lintable) -> Iterator[Spot]:
    cases = it.suite.cases
    lacking = [case for case in cases if case.behaviour is None]
    if len(lacking) == len(cases):
        yield Spot(_FILE, f"none of the {len(cases)} cases says which behaviour class it tests", None, "behaviour")
        return
    for case in lacking:
        yield Spot(_FILE, "the case does not say which behaviour class it tests", case.id, "behaviour")


def _behaviour_contradicts(it: Lintable) -> Iterator[Spot]:
    for case in it.suite.cases:
        if case.behaviour is not None and not isinstance(case.expected, _FITS[case.behaviour]):
            kind = case.expected.__struct_config__.tag
            yield Spot(_FILE, f"a case of class {case.behaviour} expects {kind!r}", case.id, "behaviour")


def _behaviour_uncovered(it: Lintable) -> Iterator[Spot]:
    present = {case.behaviour for case in it.suite.cases}
    if it.suite.kind != "portable" or present <= {None}:
        return
    for name in get_args(Behaviour):
        if name not in present:
            yield Spot(_FILE, f"no case tests {name}", None, "behaviour")


def _situation(case: Case) -> tuple[object, ...]:
    own = tuple(tool.name for tool in case.own_tools)
    return (case.tools, case.reference_time, own, case.messages)


def _bare(prompt: str) -> str:
    return "".join(c for c in prompt.casefold() if c.isalnum())


def _duplicates(it: Lintable) -> Iterator[Spot]:
    seen: dict[tuple[object, ...], Case] = {}
    for case in it.suite.cases:
        first = seen.setdefault((case.prompt, *_situation(case)), case)
        if first is not case:
            yield Spot(_FILE, f"the prompt is that of {first.id!r}", case.id, "prompt")


def _near_duplicates(it: Lintable) -> Iterator[Spot]:
    written: dict[tuple[object, ...], Case] = {}
    numbered: dict[tuple[object, ...], Case] = {}
    for case in it.suite.cases:
        bare = _bare(case.prompt)
        same = written.setdefault((bare, *_situation(case)), case)
        alike = numbered.setdefault((re.sub(r"\d", "0", bare), *_situation(case)), case)
        if bare and same is not case:
            if same.prompt != case.prompt:
                message = f"the prompt differs from that of {same.id!r} in case, spaces or punctuation only"
                yield Spot(_FILE, message, case.id, "prompt")
        elif bare and alike is not case and (alike.family or alike.id) != (case.family or case.id):
            message = f"the prompt differs from that of {alike.id!r} in its digits only; put both in one family"
            yield Spot(_FILE, message, case.id, "prompt")


def _empty_prompt(it: Lintable) -> Iterator[Spot]:
    for case in it.suite.cases:
        if not case.prompt.strip():
            yield Spot(_FILE, "the prompt is empty; several providers refuse that", case.id, "prompt")


def _relative_date(it: Lintable) -> Iterator[Spot]:
    for case in it.suite.cases:
        if case.reference_time is not None:
            continue
        language = re.split("[-_]", case.locale.lower())[0]
        for name in dict.fromkeys(("en", language)):
            hit = _RELATIVE_PATTERNS[name].search(case.prompt) if name in _RELATIVE_PATTERNS else None
            if hit:
                message = f"the prompt says {hit.group()!r}, and nothing says when; set reference_time"
                yield Spot(_FILE, message, case.id, "reference_time")
                break


def _reference_time(it: Lintable) -> Iterator[Spot]:
    for case in it.suite.cases:
        if case.reference_time is None:
            continue
        try:
            datetime.fromisoformat(case.reference_time)
        except ValueError:
            yield Spot(_FILE, f"{shown(case.reference_time)!r} is no ISO 8601 time", case.id, "reference_time")


def _locale(it: Lintable) -> Iterator[Spot]:
    for case in it.suite.cases:
        if not _LOCALE.fullmatch(case.locale):
            yield Spot(_FILE, f"{shown(case.locale)!r} is no language tag such as 'en' or 'de-AT'", case.id, "locale")


def _family_of_one(it: Lintable) -> Iterator[Spot]:
    sizes = Counter(case.family or case.id for case in it.suite.cases)
    for case in it.suite.cases:
        if case.family not in (None, case.id) and sizes[str(case.family)] == 1:
            message = f"no other case is of the family {shown(case.family)!r}; leave it out, or name the right one"
            yield Spot(_FILE, message, case.id, "family")


def _matches_all_of(earlier: FakeAnswer, later: FakeAnswer) -> bool:
    """Whether every call that `later` would answer is answered by `earlier` first."""
    return all(
        name in later.when and canonical(value) == canonical(later.when[name]) for name, value in earlier.when.items()
    )


def _fakes(it: Lintable) -> Iterator[Spot]:
    file = "fakes.json"
    if it.suite.fakes and it.suite.max_tool_rounds == 0:
        yield Spot(file, "no fake is ever asked: max_tool_rounds is 0, so the suite ends at the first response")
    if it.suite.max_tool_rounds > 0 and not it.suite.fakes:
        yield Spot(
            "suite.toml", "max_tool_rounds is above 0, and there are no fakes to answer", None, "max_tool_rounds"
        )
    for tool, answers in it.suite.fakes.items():
        if tool not in it.tools:
            yield Spot(file, f"there is no tool {shown(tool)!r}", None, shown(tool, 80))
        for index, answer in enumerate(answers):
            field = f"{shown(tool, 80)}[{index}]"
            for earlier, other in enumerate(answers[:index]):
                if _matches_all_of(other, answer):
                    yield Spot(file, f"never used: answer [{earlier}] matches first", None, field)
                    break
            for name in answer.when:
                if it.closed(tool) and name not in it.properties(tool):
                    yield Spot(file, f"never used: {tool} has no parameter {shown(name)!r}", None, f"{field}.when")


def _system(it: Lintable) -> Iterator[Spot]:
    if "\r" in it.suite.system:
        yield Spot("system.txt", "the text has carriage returns, and they are sent; save it with plain line feeds")
    if not it.suite.system.strip():
        yield Spot("system.txt", "the text is empty: the cases run without instructions", severity="info")


RULES: tuple[Rule, ...] = (
    Rule("system-text", "warning", "instructions that are not what they look like", _system),
    Rule("behaviour-missing", "warning", "a case that counts in no behaviour class", _behaviour_missing),
    Rule("behaviour-contradicted", "warning", "an expectation that the class cannot have", _behaviour_contradicts),
    Rule("behaviour-uncovered", "warning", "a behaviour class without a case", _behaviour_uncovered),
    Rule("duplicate-prompt", "error", "one prompt counted twice", _duplicates),
    Rule(
        "near-duplicate-prompt",
        "warning",
        "prompts that test the same thing and count as independent",
        _near_duplicates,
    ),
    Rule("empty-prompt", "error", "nothing to answer", _empty_prompt),
    Rule("relative-date", "warning", "a date that depends on when the case is run", _relative_date),
    Rule("bad-reference-time", "error", "a reference time that is none", _reference_time),
    Rule("bad-locale", "warning", "a locale that is no language tag", _locale),
    Rule("family-of-one", "warning", "a family name that ties nothing together", _family_of_one),
    Rule("unreachable-fake", "warning", "a fake answer that is never given", _fakes),
)
