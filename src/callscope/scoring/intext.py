"""Is a text an attempt at a call? An adapter tells by the shape alone; here the offered tools decide.

| the text                                                                        | flag in the verdict    |
|---------------------------------------------------------------------------------|------------------------|
| has the shape of a call, and it names an offered tool, or stands in a template's | `text_tool_call`       |
| own markers                                                                     |                        |
| the same, names no offered tool, is nothing but the call, in a call's own words | `text_tool_call`       |
| the same, in words that data has too (`name`, `parameters`)                     | `text_like_a_call`     |
| the same, names no offered tool, among words                                    | neither                |
| has no shape, but is nothing but a call of an offered tool (`f("x")`)           | `text_tool_call`       |

`text_like_a_call` is undecided on a case that wants no call. The outcome itself keeps what the adapter said.
"""

from __future__ import annotations

from collections.abc import Mapping

from callscope.contract import Outcome, Text, Tool
from callscope.scoring.repair.names import resolve
from callscope.textcalls import names_a_tool, written_in

__all__ = ["LIKE_A_CALL", "told_by_tools"]

WRITTEN = "text_tool_call"
LIKE_A_CALL = "text_like_a_call"


def told_by_tools(outcome: Outcome, offered: Mapping[str, Tool]) -> Outcome:
    """The outcome with the flag that fits its text, under the offered tools by their names."""
    if not isinstance(outcome, Text):
        return outcome
    if WRITTEN not in outcome.flags:
        called = names_a_tool(outcome.text, {name: _parameters(tool) for name, tool in offered.items()})
        return Text(outcome.text, (*outcome.flags, WRITTEN)) if called else outcome
    found = written_in(outcome.text)
    if not found.names or found.marked or any(not name or resolve(name, offered) is not None for name in found.names):
        return outcome
    if found.alone and found.sure:
        return outcome
    others = tuple(flag for flag in outcome.flags if flag != WRITTEN)
    return Text(outcome.text, (*others, LIKE_A_CALL) if found.alone else others)


def _parameters(tool: Tool) -> frozenset[str]:
    properties = tool.parameters.get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()
