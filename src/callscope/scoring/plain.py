"""The verdict of an answer about which there is nothing to say: exactly the required calls, and nothing beside them.

No rule of its own: where this finds a verdict, the stages find the same one, field by field (a test holds it), and
where anything at all wants a remark it finds none and the stages decide. It is here because most answers of a good
model are of this kind, and they need no pairing and no attribution.

Plainly right is: as many calls as required and in their order, each under the required name with every value exactly as
its rules have it (no alternative, no tolerance, no default, no constraint), schemas kept, no words, no flags.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign
from typing import Any

from callscope.contract import (
    ArgumentRules,
    Case,
    ExpectTool,
    ExpectTools,
    Outcome,
    Tool,
    ToolCall,
    ToolCalls,
    TrialKey,
    Verdict,
)
from callscope.scoring.equality import compare_pattern
from callscope.scoring.guards import refusal
from callscope.scoring.validators import checker_for

__all__ = ["plainly_right"]

_DECIDED_BY = {
    "acceptance": "model_answered",
    "selection": "one_call_right_name",
    "structure": "schema_kept",
    "semantics": "arguments",
    "attribution": "all_required_right",
    "passed": "all_stages_passed",
}
_SEVERAL = {**_DECIDED_BY, "selection": "all_required_called"}


_DEEPEST = 50
"""Levels below which values are left to the stages, which know how deep a value may be."""


def plainly_right(
    case: Case, outcome: Outcome, offered: Mapping[str, Tool], key: TrialKey, recovery: dict[str, Any] | None
) -> Verdict | None:
    """The verdict of a plainly right answer; None for every other. Total on any outcome of JSON values."""
    if type(outcome) is not ToolCalls or outcome.text or outcome.flags or not outcome.calls:
        return None
    calls, expected = outcome.calls, case.expected
    seen: dict[str, Any] = {"called": [call.name for call in calls]}
    if type(expected) is ExpectTool:
        if len(calls) != 1 or not _right(calls[0], expected.name, expected.arguments, offered):
            return None
    elif type(expected) is ExpectTools:
        if len(calls) != len(expected.calls):
            return None
        for call, wanted in zip(calls, expected.calls, strict=True):
            if wanted.depends_on or not _right(call, wanted.name, wanted.arguments, offered):
                return None
        seen.update(answered=len(calls), required=len(calls))
    else:
        return None
    structures = [{"name": call.name, "rule": "schema_kept"} for call in calls]
    pairs = [{"required": at, "call": at, "by": "expected", "result": "exact"} for at in range(len(calls))]
    return Verdict(
        key.suite,
        key.experiment,
        key.model,
        key.case_id,
        key.repeat,
        acceptance="accepted",
        selection="correct_tool",
        structure="valid",
        semantics="exact",
        attribution="correct",
        violations=(),
        recovery=recovery,
        passed=True,
        flags=(),
        evidence={"selection": seen, "structure": {"calls": structures}, "semantics": {"calls": pairs}},
        decided_by=(_DECIDED_BY if type(expected) is ExpectTool else _SEVERAL).copy(),
    )


def _right(call: ToolCall, name: str, rules: ArgumentRules, offered: Mapping[str, Tool]) -> bool:
    arguments, tool = call.arguments, offered.get(name)
    if call.name != name or not name or tool is None or type(arguments) is not dict or call.malformed is not None:
        return False
    if rules.constraints or rules.forbidden:
        return False
    if rules.patterns and refusal(arguments) is not None:
        return False
    if not _values_right(arguments, rules):
        return False
    checker = checker_for(tool.parameters)
    if checker.problem is not None:
        return False
    checked = checker.check(arguments)
    return checked.valid is True and not checked.replaced


def _values_right(arguments: dict[str, Any], rules: ArgumentRules) -> bool:
    equals, one_of, patterns = rules.required_equals, rules.one_of, rules.patterns
    for argument, given in arguments.items():
        if argument in equals:
            if not _same(equals[argument], given):
                return False
        elif argument in one_of:
            for wanted in one_of[argument]:
                if _same(wanted, given):
                    break
            else:
                return False
        elif argument in patterns:
            if not any(compare_pattern(one, given).result == "exact" for one in patterns[argument]):
                return False
        else:
            return False
    ruled = len(equals) + len(one_of) + len(patterns)
    return ruled == len(arguments) or _only_optional_absent(arguments, rules)


def _only_optional_absent(arguments: dict[str, Any], rules: ArgumentRules) -> bool:
    """Whether what is ruled once and absent is optional; an argument ruled twice is left to the stages."""
    names = [*rules.required_equals, *rules.one_of, *rules.patterns]
    absent = [name for name in names if name not in arguments]
    return len(names) == len(set(names)) and all(name in rules.optional for name in absent)


def _same(wanted: Any, given: Any, level: int = 0) -> bool:
    """Whether two values are the same, as `equality` says exact: of one type at every place, and JSON."""
    kind = type(given)
    if type(wanted) is not kind:
        return False
    if kind is str or kind is bool or kind is int:
        return bool(wanted == given)
    if kind is float:  # no infinity, and zeros only of one sign
        return bool(wanted == given and wanted - given == 0 and (given or copysign(1, wanted) == copysign(1, given)))
    if level > _DEEPEST or (kind is not list and kind is not dict) or len(wanted) != len(given):
        return given is None
    if kind is dict:
        return all(type(key) is str and key in wanted and _same(wanted[key], given[key], level + 1) for key in given)
    return all(_same(one, other, level + 1) for one, other in zip(wanted, given, strict=True))
