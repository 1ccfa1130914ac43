"""Calls in Python text as callscope reads them: literals as JSON values, the rest named, nothing run and nothing lost.

Not for BFCL's reading of the same text (`pytext`). `reading` says what becomes of which value.
"""

from __future__ import annotations

import ast
import io
import keyword
import math
import tokenize
from typing import Any

from callscope.contract import Malformed, ToolCall, ToolCalls
from callscope.importers.bfcl.arithmetic import evaluate
from callscope.importers.bfcl.pytext import call_elements, called_name

__all__ = ["read_python"]

_MARK = "parameter_named_"


class _Unreadable(ValueError):
    """A value, or an argument, that a JSON object of arguments cannot hold."""


def read_python(text: str) -> ToolCalls | None:
    """The calls of a text that is nothing but calls; None where it is Python and no call.

    Raises what Python's parser raises (SyntaxError, ValueError, RecursionError, MemoryError) on a text that is none.
    """
    flags: set[str] = set()
    try:
        source, elements = text, call_elements(text)
    except SyntaxError:
        source = _renamed(text)
        elements = call_elements(source)
    calls = tuple(_read(each, source, flags) for each in elements)
    return ToolCalls(calls, tuple(sorted(flags))) if calls else None


def _renamed(text: str) -> str:
    """The text with every parameter that is a word of Python given a name that is none (gorilla#778: `class=`)."""
    lines = text.split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        raise SyntaxError(str(error)) from None
    for place in range(len(tokens) - 2, 0, -1):
        before, word, after = tokens[place - 1 : place + 2]
        if keyword.iskeyword(word.string) and before.string in {"(", ","} and after.string == "=":
            row, column = word.start
            lines[row - 1] = f"{lines[row - 1][:column]}{_MARK}{lines[row - 1][column:]}"
    return "\n".join(lines)


def _read(call: ast.Call, source: str, flags: set[str]) -> ToolCall:
    name = called_name(call.func)
    try:
        return ToolCall(None, name, _keywords(call, flags))
    except (ArithmeticError, TypeError, ValueError, RecursionError):
        written = ast.get_source_segment(source, call) or source
        return ToolCall(None, name, malformed=Malformed("syntax", written.replace(_MARK, "")))


def _keywords(call: ast.Call, flags: set[str]) -> dict[str, Any]:
    if call.args:
        raise _Unreadable("an argument without a name")
    arguments: dict[str, Any] = {}
    for each in call.keywords:
        if each.arg is None:
            raise _Unreadable("arguments that are unpacked")
        word = each.arg.removeprefix(_MARK)
        name = word if keyword.iskeyword(word) else each.arg
        if name in arguments:
            flags.add("duplicate_keys")
        arguments[name] = _value(each.value, flags)
    return arguments


def _value(node: ast.expr, flags: set[str]) -> Any:
    match node:
        case ast.List() | ast.Tuple():
            return [_value(each, flags) for each in node.elts]
        case ast.Dict():
            return {_key(key): _value(value, flags) for key, value in zip(node.keys, node.values, strict=True)}
        case ast.Name():
            flags.add("bare_name")
            return node.id
        case ast.Call(func=ast.Name(id="dict"), args=[]):
            return _keywords(node, flags)
        case ast.Attribute() | ast.Subscript() | ast.Call():
            flags.add("bare_name")
            return ast.unparse(node)
        case ast.Constant() | ast.UnaryOp() | ast.BinOp():
            return _json(evaluate(node))
    raise _Unreadable(type(node).__name__)


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise _Unreadable("a key that is no string")


def _json(value: Any) -> Any:
    """A value of Python as JSON has it. Raises _Unreadable for one that JSON does not have."""
    if isinstance(value, (list, tuple)):
        return [_json(each) for each in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _json(each) for key, each in value.items()}
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise _Unreadable(type(value).__name__)
