"""What NexusRaven-V2's own evaluation makes of an answer, told from the syntax tree: nothing is run.

There, text that begins like a call is executed with stand-ins for the functions, each of which notes its name and
those of its arguments that are truthy (scoring-faults 41: `f(limit=0)` is `f()`), and returns None; an exception ends
it and what was noted before stays. The reference is executed too, and the two lists must be equal by Python's `==`
(`True == 1`), order included. Version 1's files are the same queries, and are checked the same way.

| in the text                                                     | here                                             |
|-----------------------------------------------------------------|--------------------------------------------------|
| literals, containers, names assigned before, calls of functions | as executed                                      |
| a name that is not defined, a wrong argument, anything of None  | the exception it raises: the end                 |
| what only running it can tell (operations, builtins, imports)   | no verdict, `needs_execution`                    |
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from callscope.importers.pycalls import PyFault, parse_source

__all__ = ["Checked", "check"]

_LIKE_A_CALL = re.compile(r"\w+\(.*\)")
_MISSING: Any = object()


class Checked(NamedTuple):
    """The verdict, None where there is none, and why: equal, different, invalid_call, needs_execution,
    unreadable_reference."""

    passed: bool | None
    why: str
    noted: list[Any]
    wanted: list[Any]


class _Raised(Exception):
    """An exception that the executed text would raise."""


class _NeedsExecution(Exception):
    """Only running the text can tell."""


def check(answer: str, reference: str, functions: Mapping[str, Any]) -> Checked:
    """The published evaluation's verdict on an answer. `functions`: signatures as a case keeps them. Never raises."""
    text = answer.partition("<bot_end>")[0].replace("Call: ", "").strip()
    wanted, why = _noted(reference.replace("r = nvdlib.", "").strip(), functions)
    if not wanted or why is not None:
        return Checked(None, "unreadable_reference", [], wanted)
    if not _LIKE_A_CALL.match(text):
        return Checked(False, "invalid_call", [], wanted)
    noted, why = _noted(text, functions)
    if why is not None:
        return Checked(None, why, noted, wanted)
    if not noted:
        return Checked(False, "invalid_call", noted, wanted)
    return Checked(noted == wanted, "equal" if noted == wanted else "different", noted, wanted)


def _noted(text: str, functions: Mapping[str, Any]) -> tuple[list[Any], str | None]:
    """What executing a text notes, and `needs_execution` where that cannot be told."""
    run = _Run(functions)
    try:
        for statement in parse_source(text).body:
            run.statement(statement)
    except (PyFault, _Raised):
        pass  # noted before stays; text that is no Python notes nothing, for it is parsed whole
    except (_NeedsExecution, RecursionError):
        return run.noted, "needs_execution"
    return run.noted, None


class _Run:
    """The state that a text would leave, statement by statement."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self.functions = functions
        self.names: dict[str, Any] = {}
        self.noted: list[Any] = []

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr):
            self.value(node.value)
        elif isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) for target in node.targets):
            value = self.value(node.value)
            self.names.update({target.id: value for target in node.targets if isinstance(target, ast.Name)})
        elif isinstance(node, ast.Raise):
            if node.exc is not None:
                self.value(node.exc)
            raise _Raised
        elif not isinstance(node, ast.Pass):
            raise _NeedsExecution

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.List():
                return [self.value(each) for each in node.elts]
            case ast.Tuple():
                return tuple(self.value(each) for each in node.elts)
            case ast.Set():
                return self._hashed(set, [self.value(each) for each in node.elts])
            case ast.Dict() if None not in node.keys:
                pairs = [(self.value(k), self.value(v)) for k, v in zip(node.keys, node.values, strict=True) if k]
                return self._hashed(dict, pairs)
            case ast.Call():
                return self._called(node)
            case ast.Name():
                return self._named(node.id)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                value = self.value(node.operand)
                if type(value) not in (int, float, bool, complex):
                    raise _Raised
                return -value if isinstance(node.op, ast.USub) else +value
            case ast.Attribute() | ast.Subscript():
                if self.value(node.value) is None:
                    raise _Raised
        raise _NeedsExecution

    @staticmethod
    def _hashed(kind: Any, items: list[Any]) -> Any:
        try:
            return kind(items)
        except TypeError:
            raise _Raised from None

    def _named(self, name: str) -> Any:
        value = self.names.get(name, _MISSING)
        if value is not _MISSING:
            return value
        if name in self.functions or hasattr(builtins, name):
            raise _NeedsExecution
        raise _Raised

    def _called(self, node: ast.Call) -> None:
        if not isinstance(node.func, ast.Name) or node.func.id in self.names:
            if self.value(node.func) is None:
                raise _Raised
            raise _NeedsExecution
        name = node.func.id
        if name not in self.functions:
            if name != "print":
                self._named(name)
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                self.value(each)
            return
        positional: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                spread = self.value(argument.value)
                if not isinstance(spread, (list, tuple)):
                    raise _NeedsExecution if isinstance(spread, (str, bytes, set, dict)) else _Raised
                positional.extend(spread)
            else:
                positional.append(self.value(argument))
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is None:
                if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
                    raise _Raised
                given = value
            else:
                given = {keyword.arg: value}
            if given.keys() & named.keys():
                raise _Raised
            named.update(given)
        self.noted.append({name: _truthy(self.functions[name], positional, named)})


def _truthy(signature: Mapping[str, Any], positional: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a stand-in notes: given ones and defaults, those that are not falsy."""
    parameters = signature.get("parameters", [])
    names = [parameter[0] for parameter in parameters]
    if len(positional) > len(names) or named.keys() & set(names[: len(positional)]):
        raise _Raised
    if not signature.get("open") and named.keys() - set(names):
        raise _Raised
    values = dict(zip(names, positional, strict=False)) | {key: value for key, value in named.items() if key in names}
    for parameter in parameters:
        if parameter[0] not in values:
            if len(parameter) == 1:
                raise _Raised
            values[parameter[0]] = parameter[1]
    return {key: value for key, value in values.items() if value}
