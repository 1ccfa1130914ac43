"""Which arguments of a trial a judge may be asked about. Everything else is decided, by the rules, for good.

Only arguments of calls that answer a required call, that the tool's schema knows, and whose values differ as strings:

| the argument                                                         | decided by                        |
|----------------------------------------------------------------------|-----------------------------------|
| missing, unexpected, forbidden, breaks a constraint, of another type | rules                             |
| equal, the declared default, within a tolerance, listed              | rules                             |
| declared `free_text`                                                 | the judge                         |
| … and everything below, where only declared arguments are open       | rules                             |
| declared `temporal`                                                  | rules                             |
| not declared by the schema, or as anything but a plain string        | rules                             |
| with `enum`, `const`, `pattern`, `format`, or composed (`anyOf`, …)  | rules                             |
| the difference lies inside an object or array                        | rules                             |
| one of the values is empty, or one of the values is like …           | rules                             |
| … a number (`-5`, `1,000`, `5%`)                                     | rules                             |
| … a date or a time (`2026-03-14`, `3/14/26`, `9:30 pm`)              | rules                             |
| … an id (`ORD-204417`, `a7f3`, `x_y`, an address, a path, a code)    | rules                             |
| otherwise                                                            | the judge                         |

A value is like an id where it is one word that holds a digit, or one of `@ / \\ _ : # = &`, or is of capitals only.
A quantity with a known unit (`5 km`) is none of these: it can be written in other units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from callscope.contract import ArgumentRules, Case, Derived, PatternValue, Suite, expected_calls, offered_tools
from callscope.contract import tools_by_name as by_name
from callscope.judge.amounts import numbers_of, quantity_of
from callscope.scoring.alignment import Match, rules_of
from callscope.scoring.dates import same_time
from callscope.scoring.pointers import child, first_part

__all__ = ["Closed", "Looked", "OpenArgument", "Opened", "look", "open_arguments", "rules_decide"]

Opened = Literal["declared", "text"]
"""What is open: arguments that their case declares `free_text`, or free strings as well."""

_FREE = {"type", "description", "title", "default", "examples", "minLength", "maxLength", "deprecated", "$comment"}
_EXPECTED_RULES = {"required_equals", "one_of", "patterns", "free_text"}
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].*)?"
    r"|\d{1,2}(?:[:.]\d{2}){1,2} ?(?:[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]* \d{1,4}(?:st|nd|rd|th)?",
    re.IGNORECASE,
)
_SHARE = re.compile(r"[$€£¥]? ?[+-]?[\d.,]*\d[\d.,]* ?[%$€£¥]?")
_ID_MARKS = re.compile(r"[\d@/\\_:#=&]")


Closed = Literal["undeclared", "declared", "schema", "inside", "empty", "number", "date", "id"]
"""Why an argument whose strings differ is none of a judge's: not declared `free_text` where only that is open; declared
`temporal`; what its schema says; inside an object or array; or what one of the values is like."""


class OpenArgument(NamedTuple):
    """An argument that a judge may be asked about: where, its part of the schema, the right values, the given one."""

    required: int
    call: int
    tool: str
    argument: str
    schema: Any
    wanted: tuple[str, ...]
    actual: str


class Looked(NamedTuple):
    """What a trial holds of strings that differ from what is right: open ones, and why each other one is closed."""

    open: tuple[OpenArgument, ...] = ()
    closed: tuple[Closed, ...] = ()


def open_arguments(case: Case, suite: Suite, derived: Derived, opened: Opened) -> tuple[OpenArgument, ...]:
    """The open arguments of a trial, as `look` finds them."""
    return look(case, suite, derived, opened).open


def look(case: Case, suite: Suite, derived: Derived, opened: Opened) -> Looked:
    """What differs as strings in a trial, in the order of the required calls. `derived` is by the rules alone.

    Nothing is looked at in an excluded case, in a recorded conversation of turns, and in a trial that was not observed.
    """
    if case.excluded is not None or case.turns or derived.verdict.acceptance != "accepted":
        return Looked()
    required = expected_calls(case.expected)
    schemas = by_name(offered_tools(case, suite.tools))
    found: list[OpenArgument] = []
    closed: list[Closed] = []
    for seen in derived.verdict.evidence.get("semantics", {}).get("calls", ()):
        rules = rules_of(Match(seen["required"], seen["call"], seen["by"], None, 0), required)
        name = _called(required[seen["required"]].name, seen["by"], case, seen["required"])
        schema = schemas[name].parameters if name in schemas else {}
        for argument, findings in _by_argument(seen).items():
            part = _declared(argument, schema)
            values = [_difference(finding, argument) for finding in findings]
            if _inside(findings, argument):
                closed.append("inside")
            if None in values or not all(isinstance(value, str) for value in values):
                continue
            wanted, actual = _wanted(argument, rules), values[0]
            if not wanted or not _sendable(actual):
                continue
            why: Closed | None = None
            if part is None:
                why = "schema"
            elif not all(finding["rule"] == "free_text" for finding in findings):
                why = rules_decide(argument, part, rules, wanted, actual)
                if why is None and opened == "declared":
                    why = "undeclared"
            if why is None:
                found.append(OpenArgument(seen["required"], seen["call"], name, argument, part, wanted, actual))
            else:
                closed.append(why)
    return Looked(tuple(found), tuple(closed))


def _inside(findings: Sequence[Mapping[str, Any]], argument: str) -> bool:
    """Whether another string was wanted somewhere inside an argument."""
    whole = child("", argument)
    return any(
        finding["rule"] in _EXPECTED_RULES and finding["pointer"] != whole and isinstance(finding.get("actual"), str)
        for finding in findings
    )


def _called(name: str, by: str, case: Case, required: int) -> str:
    """The tool that a call under these rules called."""
    kind, _, number = by.partition("/")
    if kind != "alternatives":
        return name
    return expected_calls(case.expected)[required].alternatives[int(number)].name or name


def _by_argument(seen: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The findings that speak against a call, by top-level argument; one that speaks of a part has a pointer of it."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for kind in ("missing", "unexpected", "wrong", "undecided"):
        for finding in seen.get(kind, ()):
            found.setdefault(first_part(finding["pointer"]) or "", []).append(finding)
    return found


def _difference(finding: Mapping[str, Any], argument: str) -> Any:
    """The value given, where a finding says that another was wanted for the argument as a whole."""
    if finding["rule"] not in _EXPECTED_RULES or finding["pointer"] != child("", argument):
        return None
    return finding.get("actual")


def _declared(argument: str, schema: Mapping[str, Any]) -> Any:
    properties = schema.get("properties")
    return properties.get(argument) if isinstance(properties, dict) else None


def _wanted(argument: str, rules: ArgumentRules) -> tuple[str, ...]:
    """The strings that are right for an argument, each once, in the order written."""
    values = [
        *([rules.required_equals[argument]] if argument in rules.required_equals else ()),
        *rules.one_of.get(argument, ()),
        *(one.value for one in rules.patterns.get(argument, ()) if isinstance(one, PatternValue)),
    ]
    return tuple(dict.fromkeys(value for value in values if isinstance(value, str)))


def _sendable(value: str) -> bool:
    """Whether a text can be sent to a model as it is: one with half a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def rules_decide(
    argument: str, part: Any, rules: ArgumentRules, wanted: tuple[str, ...], actual: str
) -> Literal["declared", "schema", "empty", "number", "date", "id"] | None:
    """Why a difference of strings in an argument not declared free text is none of a judge's; None: it is open.

    `part` is the argument's JSON Schema. Of several right values one that is like a number, a date or an id decides.
    """
    if argument in rules.temporal:
        return "declared"
    if not isinstance(part, dict) or part.get("type") not in ("string", ["string", "null"]) or set(part) - _FREE:
        return "schema"
    for value in (*wanted, actual):
        like = _like(value.strip())
        if like is not None:
            return like
    return None


def _like(value: str) -> Literal["empty", "number", "date", "id"] | None:
    if not value:
        return "empty"
    if quantity_of(value) is not None:
        return "number" if value.endswith("%") else None
    if numbers_of(value) or _SHARE.fullmatch(value):
        return "number"
    if same_time(value, value) or _DATE.fullmatch(value):
        return "date"
    if " " not in value and (_ID_MARKS.search(value) or (value.isupper() and len(value) > 1)):
        return "id"
    return None
