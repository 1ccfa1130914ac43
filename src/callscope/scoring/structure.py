"""Stage 3: are the arguments what the tool's schema asks for? Untouched arguments, untouched schema.

Nothing is coerced, defaulted or removed, and nothing is said about whether the values are the right ones (semantics).

| the call                                                 | its result     | rule                |
|----------------------------------------------------------|----------------|---------------------|
| arguments are no JSON object (or deeper than 200 levels) | malformed      | malformed_arguments |
| its name is no tool that was offered                     | not_applicable | unknown_tool        |
| the tool's schema cannot be compiled (lint reports it)   | not_applicable | schema_error        |
| breaks the schema                                        | invalid        | schema_violated     |
| a pattern hit the backtrack limit, nothing else broke    | not_applicable | undecided_pattern   |
| keeps the schema                                         | valid          | schema_kept         |

Several calls: the worst stands, malformed > invalid > schema_error, undecided_pattern > valid > unknown_tool; the
evidence lists each. No call: not_applicable, rule `no_call`. `format` is not asserted: it is an annotation in Draft
2020-12, and providers read it differently; write a `pattern`, or a constraint in the case.
`5.0` is a valid integer (Draft 2020-12 validation, 6.1.1; scoring-faults 9). A keyword such as `"type": "dict"` is a
schema_error, never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from callscope.contract import Structure, Tool, ToolCall
from callscope.errors import shown
from callscope.scoring.guards import refusal
from callscope.scoring.validators import checker_for

__all__ = ["Problem", "Structured", "structure", "validate_arguments"]

_WEIGHT = {
    "malformed_arguments": 5,
    "schema_violated": 4,
    "schema_error": 3,
    "undecided_pattern": 3,
    "schema_kept": 2,
    "unknown_tool": 1,
}
_RESULT: dict[str, Structure] = {
    "malformed_arguments": "malformed",
    "schema_violated": "invalid",
    "schema_error": "not_applicable",
    "undecided_pattern": "not_applicable",
    "schema_kept": "valid",
    "unknown_tool": "not_applicable",
}


class Structured(NamedTuple):
    """The worst result, the rule behind it, each call's evidence (in order of the calls), and what to flag."""

    value: Structure
    rule: str
    calls: tuple[dict[str, Any], ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def undecided(self) -> bool:
        """Whether the stage could not be decided, which is more than that it does not apply."""
        return self.rule in ("schema_error", "undecided_pattern")


def structure(calls: Sequence[ToolCall], tools: Mapping[str, Tool]) -> Structured:
    """Judge every call against the schema of the tool it names. Total: never raises.

    Args:
        calls: the calls as given, in order, each passed through `guards.guarded`.
        tools: name -> tool, for the tools that were offered.
    """
    if not calls:
        return Structured("not_applicable", "no_call")
    seen = tuple([_one(call, tools) for call in calls])
    worst = seen[0]["rule"] if len(seen) == 1 else max((entry["rule"] for entry in seen), key=_WEIGHT.__getitem__)
    flags = ("lone_surrogate",) if any("surrogates_replaced" in entry for entry in seen) else ()
    return Structured(_RESULT[worst], worst, seen, flags)


def _one(call: ToolCall, tools: Mapping[str, Tool]) -> dict[str, Any]:
    seen: dict[str, Any] = {"name": call.name}
    if call.malformed is not None:
        seen["rule"] = "malformed_arguments"
        seen["reason"] = call.malformed.reason
        seen["raw"] = shown(call.malformed.raw, 2000)
        return seen
    tool = tools.get(call.name)
    if tool is None:
        seen["rule"] = "unknown_tool"
        return seen
    checker = checker_for(tool.parameters)
    if checker.problem is not None:
        seen["rule"] = "schema_error"
        seen["problem"] = checker.problem
        return seen
    checked = checker.check(call.arguments)
    if checked.valid:
        seen["rule"] = "schema_kept"
    else:
        seen["rule"] = "undecided_pattern" if checked.valid is None else "schema_violated"
        seen["errors"] = list(checked.errors)
        if checked.omitted:
            seen["errors_omitted"] = checked.omitted
    if checked.replaced:
        seen["surrogates_replaced"] = True
    return seen


class Problem(NamedTuple):
    """One way in which arguments break a schema: JSON pointer, keyword, a message fit to show to a model."""

    pointer: str
    keyword: str
    message: str


def validate_arguments(tool: Tool, arguments: Any) -> tuple[Problem, ...]:
    """What a server that validates would object to: all problems, sorted by pointer and keyword; `()` for none.

    An undecided pattern is a problem here, since a server could not accept the call either; a schema that cannot be
    compiled objects to nothing (lint reports it). Total: never raises.
    """
    reason = "not_an_object" if not isinstance(arguments, dict) else refusal(arguments)
    if reason is not None:
        return (Problem("", "type", f"the arguments are no JSON object ({reason})"),)
    checker = checker_for(tool.parameters)
    if checker.problem is not None:
        return ()
    checked = checker.check(arguments)
    return tuple([Problem(error["pointer"], error["keyword"], error["message"]) for error in checked.errors])
