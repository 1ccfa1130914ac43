"""Applies the repairs to an outcome, in a fixed order, and says what each of them changed.

| order | repair                | what it makes readable                                                      |
|-------|-----------------------|-----------------------------------------------------------------------------|
| 1     | text_call             | calls written into the text, or into what the provider could not read        |
| 2     | name_prefix           | a declared tool's name behind a namespace, before a template token, respelled  |
| 3     | lenient_json          | arguments that are almost JSON                                               |
| 4     | unwrap_double_encoded | arguments, or parts of them, that are JSON inside a string                   |
| 5     | scalar_type           | a number, boolean or null sent as a string, and a number for a string        |
| 6     | enum_case             | an allowed value in another spelling                                         |
| 7     | pattern_case          | a text that fits the pattern in upper or lower case                          |
| 8     | unit_string           | a number written with its unit                                               |
| 9     | drop_unknown          | members that the schema does not know and does not allow                     |

Not done, on purpose: filling in defaults (the server's business), synonyms (a matter of meaning), finishing what was
cut off, calls out of the reasoning, choosing one of several calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from callscope.contract import Malformed, Outcome, Repair, Text, Tool, ToolCall, ToolCalls
from callscope.jsontext import JsonFault, parse_json
from callscope.scoring.guards import refusal
from callscope.scoring.pointers import child
from callscope.scoring.repair.arguments import mend
from callscope.scoring.repair.lenient import lenient_object
from callscope.scoring.repair.names import resolve
from callscope.scoring.repair.values import VALUE_REPAIRS
from callscope.scoring.repair.written import written_calls
from callscope.scoring.validators import checker_for

__all__ = ["REPAIRS", "Repairs", "repair"]

REPAIRS: tuple[str, ...] = ("text_call", "name_prefix", "lenient_json", *(name for name, _ in VALUE_REPAIRS))
"""The names of all repairs, in the order in which they are tried."""

_WRAPPED = 3
"""Strings inside strings that whole arguments may be wrapped in."""

_UNREADABLE = "provider_rejected_call"
_NO_LONGER = frozenset({"text_tool_call", _UNREADABLE, "missing_name"})


class Repairs(NamedTuple):
    """What was changed, in order, and the outcome with all of it. Pointers are into the outcome's `calls`."""

    steps: tuple[Repair, ...]
    outcome: ToolCalls


def repair(outcome: Outcome, tools: Sequence[Tool]) -> Repairs | None:
    """The outcome as a stack that repairs would have read it; None where no repair applies.

    Args:
        outcome: what came, untouched.
        tools: the tools that were offered.

    Never raises, never looks at a case, never changes its input. An outcome whose calls name offered tools and keep
    their schemas has no repair; the repair of a repaired outcome is None.
    """
    if isinstance(outcome, ToolCalls):
        if _UNREADABLE not in outcome.flags:
            for call in outcome.calls:
                if not _fine(call, tools):
                    break
            else:
                return None
    elif not isinstance(outcome, Text) or "text_tool_call" not in outcome.flags:
        return None
    steps: list[Repair] = []
    given = _as_calls(outcome, tools, steps)
    if given is None:
        return None
    calls = tuple([_repaired(f"/calls/{i}", call, given, tools, steps) for i, call in enumerate(given.calls)])
    return Repairs(tuple(steps), ToolCalls(calls, given.flags, given.text)) if steps else None


def _fine(call: ToolCall, tools: Sequence[Tool]) -> bool:
    """Whether a call names an offered tool and keeps its schema; asked of every call, so it is made to cost little."""
    if call.arguments is None or refusal(call.arguments) is not None:
        return False
    for tool in tools:
        if tool.name == call.name:
            checker = checker_for(tool.parameters)
            return checker.problem is None and checker.check(call.arguments).valid is not False
    return False


def _as_calls(outcome: ToolCalls | Text, tools: Sequence[Tool], steps: list[Repair]) -> ToolCalls | None:
    """The outcome as calls: those it has, or those written into its text, or into what the provider could not read."""
    if isinstance(outcome, Text):
        where, text = "", outcome.text
    elif _UNREADABLE in outcome.flags and len({_raw(call) for call in outcome.calls}) == 1:
        where, text = "/calls", _raw(outcome.calls[0])
    else:
        return outcome
    found = written_calls(text, [tool.name for tool in tools])
    if not found:
        return outcome if isinstance(outcome, ToolCalls) else None
    shown = [
        {"name": call.name, "arguments": call.arguments if call.malformed is None else call.malformed.raw}
        for call in found
    ]
    steps.append(Repair(where, "text_call", text, shown))
    flags = tuple(flag for flag in outcome.flags if flag not in _NO_LONGER)
    return ToolCalls(found, flags, outcome.text)


def _raw(call: ToolCall) -> str:
    return "" if call.malformed is None else call.malformed.raw


def _repaired(place: str, call: ToolCall, given: ToolCalls, tools: Sequence[Tool], steps: list[Repair]) -> ToolCall:
    name = resolve(call.name, [tool.name for tool in tools])
    tool = next((each for each in tools if each.name == name), None)
    if name is None or tool is None:
        return call
    if name != call.name:
        steps.append(Repair(child(place, "name"), "name_prefix", call.name, name))
        call = ToolCall(call.id, name, call.arguments, call.malformed)
    place = child(place, "arguments")
    if call.malformed is not None and _UNREADABLE not in given.flags:
        call = _read(place, call, call.malformed, tool, steps)
    if call.arguments is None:
        return call
    arguments, more = mend(call.arguments, tool)
    if not more:
        return call
    steps.extend(Repair(f"{place}{step.pointer}", step.name, step.before, step.after) for step in more)
    return ToolCall(call.id, call.name, arguments)


def _read(place: str, call: ToolCall, malformed: Malformed, tool: Tool, steps: list[Repair]) -> ToolCall:
    """A call whose arguments are no JSON object, with the object that they hold or almost are, where there is one."""
    raw = malformed.raw
    if not raw.strip() and malformed.reason != "empty":
        return call
    name, arguments = "unwrap_double_encoded", _unwrapped(raw)
    if arguments is None:
        name, read = "lenient_json", lenient_object(raw)
        if read is None:
            return call
        arguments = read.value
        checker = checker_for(tool.parameters)
        if read.closed and (checker.problem is not None or not checker.check(arguments).valid):
            return call
    steps.append(Repair(place, name, raw, arguments))
    return ToolCall(call.id, call.name, arguments)


def _unwrapped(raw: str) -> dict[str, Any] | None:
    value: Any = raw
    for _ in range(_WRAPPED):
        try:
            value, flags = parse_json(value)
        except JsonFault:
            return None
        if isinstance(value, dict):
            return None if "duplicate_keys" in flags else value
        if not isinstance(value, str):
            return None
    return None
