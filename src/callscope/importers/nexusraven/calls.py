"""Calls as written in Python, as calls of a suite's tools: named arguments, a call inside another before it.

What the tools' signatures are travels in the case (`metadata["benchmark"]["functions"]`): function -> its parameters
in order, each `[name]` or `[name, default]`; `open` where any keyword is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from callscope.contract import Malformed, ToolCall
from callscope.importers.nexusraven.definitions import REQUIRED, RESULT, Function
from callscope.importers.pycalls import POSITIONAL

__all__ = ["Flat", "flattened", "malformed", "own_name", "signatures"]


class Flat(NamedTuple):
    """A call with named arguments, and the places (in the same list) of the calls whose results it takes."""

    call: ToolCall
    needs: tuple[int, ...] = ()


def signatures(functions: Sequence[Function]) -> dict[str, Any]:
    """The functions' signatures as they are kept in a case."""
    return {
        function.name: {
            "parameters": [
                [each.name] if each.default is REQUIRED else [each.name, each.default] for each in function.parameters
            ],
            **({"open": True} if function.open else {}),
        }
        for function in functions
    }


def own_name(name: str, functions: Mapping[str, Any]) -> str:
    """A function's name without the module it was called through, where that makes it one of the suite's."""
    last = name.rpartition(".")[2]
    return last if name not in functions and last in functions else name


def flattened(calls: Sequence[ToolCall], functions: Mapping[str, Any]) -> list[Flat]:
    """The calls in the order in which they would be made, inner ones first, under the tools' names of arguments.

    An argument left out and one given as the None that is its default are the same.
    """
    made: list[Flat] = []
    for call in calls:
        if call.arguments is None:
            made.append(Flat(call))
        else:
            _add(call.name, call.arguments, functions, made)
    return made


def _add(name: str, written: Mapping[str, Any], functions: Mapping[str, Any], made: list[Flat]) -> int:
    """Add a call and those inside it; returns its place."""
    name = own_name(name, functions)
    parameters = functions.get(name, {}).get("parameters", [])
    needs: list[int] = []
    named: dict[str, Any] = {}
    for key, value in _bound(written, parameters):
        value = _without_calls(value, functions, made, needs)
        if not (value is None and [key, None] in parameters):
            named[key] = value
    made.append(Flat(ToolCall(None, name, named), tuple(needs)))
    return len(made) - 1


def _bound(written: Mapping[str, Any], parameters: Sequence[Sequence[Any]]) -> Iterator[tuple[str, Any]]:
    """The arguments by name; positional ones that have no name, or one that is given too, stay under POSITIONAL."""
    places = list(written.get(POSITIONAL, []))
    names = [str(parameter[0]) for parameter in parameters]
    taken = 0
    for name, value in zip(names, places, strict=False):
        if name in written:
            break
        taken += 1
        yield name, value
    if places[taken:]:
        yield POSITIONAL, places[taken:]
    for name, value in written.items():
        if name != POSITIONAL:
            yield name, value


def _without_calls(value: Any, functions: Mapping[str, Any], made: list[Flat], needs: list[int]) -> Any:
    """A value with each call in it as the result of that call, which is added."""
    if isinstance(value, list):
        return [_without_calls(each, functions, made, needs) for each in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"call", "arguments"} and isinstance(value["arguments"], dict):
        place = _add(str(value["call"]), value["arguments"], functions, made)
        needs.append(place)
        inner = made[place].call
        return {RESULT: {"name": inner.name, "arguments": inner.arguments}}
    return {key: _without_calls(each, functions, made, needs) for key, each in value.items()}


def malformed(name: str, reason: str, raw: str) -> ToolCall:
    """A call that was meant and cannot be read."""
    return ToolCall(None, name, malformed=Malformed(reason, raw))
