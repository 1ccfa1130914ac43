"""Calls in Python text, read with the grammar alone: nothing is ever evaluated, imported or run.

`parse_call` reads a text that is one call, `parse_calls` one whose statements are calls, `spans` finds what looks like
a call in any text. Values are JSON values; falsy ones are kept (`limit=0` is not `limit` left out). Not for what a
benchmark makes of them.

| in the text                                    | value                                    |
|------------------------------------------------|------------------------------------------|
| str, int, float, bool, None, a signed number   | itself                                   |
| list, tuple                                    | list                                     |
| dict whose keys are strings                    | object                                   |
| a call                                         | PyCall                                   |
| anything else (a name, an operation, bytes, …) | Expression, its source text              |
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = [
    "MAX_SOURCE",
    "POSITIONAL",
    "Expression",
    "PyCall",
    "PyFault",
    "Span",
    "arguments_of",
    "as_json",
    "is_plain",
    "parse_call",
    "parse_calls",
    "parse_loose",
    "parse_source",
    "spans",
    "split_arguments",
]

MAX_SOURCE = 100_000
"""Characters of Python text that are read; more are a fault, `too_long`."""

POSITIONAL = "*"
"""The key under which `as_json` puts positional arguments; no keyword of Python can be it."""

_HEAD = re.compile(r"(?<![\w.])(?:[A-Za-z_]\w{0,99}\.){0,8}[A-Za-z_]\w{0,99}\(")
_KEYWORD = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")
_MARK = re.compile(r"""[()\[\]{},'"]""")
_FAILURES = 12
"""Heads of calls without an end, after which a text is given up: each costs a look at all that follows it."""


class PyFault(ValueError):
    """Text that is not the Python asked for. `reason`: empty, too_long, too_deep, not_python, not_a_call."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}" if detail else reason)


class Expression(NamedTuple):
    """What stands for a value and is none that text alone can tell: its source."""

    source: str


class PyCall(NamedTuple):
    """A call as written. `name` is dotted; empty, or with nothing before its dot, where what is called has no name
    (`f()()`, `f().b()`)."""

    name: str
    positional: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()


class Span(NamedTuple):
    """What looks like a call: its name, and where it stands; `end` is None where its bracket is never closed."""

    name: str
    start: int
    end: int | None


def parse_source(text: str) -> ast.Module:
    """The syntax tree of Python text. Raises PyFault on any text that is none, whatever it holds."""
    if not text.strip():
        raise PyFault("empty")
    if len(text) > MAX_SOURCE:
        raise PyFault("too_long", f"{len(text)} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a model's string is no concern of who imports it
            tree = ast.parse(text)
    except (RecursionError, MemoryError) as error:
        raise PyFault("too_deep", type(error).__name__) from None
    except SyntaxError as error:
        raise PyFault("not_python", error.msg) from None
    except ValueError as error:  # a null byte, a lone surrogate, an integer of more digits than Python reads
        raise PyFault("not_python", str(error)) from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.keywords) > 1:
            names = [keyword.arg for keyword in node.keywords if keyword.arg is not None]
            if len(set(names)) != len(names):
                raise PyFault("not_python", "keyword argument repeated")
    return tree


def parse_call(text: str) -> PyCall:
    """The call that a text is. Raises PyFault."""
    text = _lines_of(text)
    tree = parse_source(text)
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Call):
        return _call(tree.body[0].value, text.encode().split(b"\n"))
    raise PyFault("not_a_call", type(tree.body[0]).__name__ if len(tree.body) == 1 else f"{len(tree.body)} statements")


def parse_calls(text: str) -> tuple[PyCall, ...]:
    """The calls of a text whose every statement is a call, one assigned to a name, or a list of calls.

    Raises PyFault, `not_a_call` for a statement that is anything else.
    """
    text = _lines_of(text)
    statements = parse_source(text).body
    lines = text.encode().split(b"\n")
    calls: list[PyCall] = []
    for statement in statements:
        value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        for one in value.elts if isinstance(value, (ast.List, ast.Tuple)) and value.elts else [value]:
            if not isinstance(one, ast.Call):
                raise PyFault("not_a_call", type(statement).__name__)
            calls.append(_call(one, lines))
    return tuple(calls)


def parse_loose(text: str) -> PyCall:
    """The call that a text is, `name(…)`, where Python itself may refuse its arguments (a positional one after a
    keyword, a keyword twice): each argument is read alone. Raises PyFault."""
    try:
        return parse_call(text)
    except PyFault as fault:
        head = _HEAD.match(text)
        if fault.reason != "not_python" or head is None or not text.endswith(")"):
            raise
        positional: list[Any] = []
        named: list[tuple[str, Any]] = []
        for piece in split_arguments(text[head.end() : -1]):
            keyword = _KEYWORD.match(piece)
            value = _alone(piece[keyword.end() :] if keyword else piece)
            if keyword:
                named.append((keyword[1], value))
            else:
                positional.append(value)
        return PyCall(head[0][:-1], tuple(positional), tuple(named))


def _alone(source: str) -> Any:
    """The value of the source of one argument; an Expression where Python does not read it."""
    source = _lines_of(source)
    try:
        body = parse_source(source).body
    except PyFault:
        return Expression(source)
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        return _value(body[0].value, source.encode().split(b"\n"))
    return Expression(source)


def _lines_of(text: str) -> str:
    """The text with its line ends as the grammar counts them, without what stands around it."""
    return text.strip().replace("\r\n", "\n").replace("\r", "\n")


def split_arguments(text: str) -> tuple[str, ...]:
    """The arguments of a call by their commas, brackets and strings respected; blank ones left out."""
    pieces, depth, start, at = [], 0, 0, 0
    while (found := _MARK.search(text, at)) is not None:
        mark, at = found[0], found.end()
        if mark in "'\"":
            at = _string_end(text, found.start())
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif depth == 0:
            pieces.append(text[start : found.start()])
            start = at
    return tuple(piece for piece in (*pieces, text[start:]) if piece.strip())


def spans(text: str) -> Iterator[Span]:
    """What looks like a call in a text, outermost only, in order. Looks at MAX_SOURCE characters."""
    text, at, failures = text[:MAX_SOURCE], 0, 0
    while failures < _FAILURES and (head := _HEAD.search(text, at)) is not None:
        end = _call_end(text, head.end())
        yield Span(head[0][:-1], head.start(), end)
        failures += end is None
        at = head.end() if end is None else end


def _call_end(text: str, at: int) -> int | None:
    depth = 1
    while (found := _MARK.search(text, at)) is not None:
        mark, at = found[0], found.end()
        if mark in "'\"":
            at = _string_end(text, found.start())
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return None


def _string_end(text: str, start: int) -> int:
    """The end of a string that begins at `start`; a plain one that is not closed ends with its line."""
    quote = text[start : start + 3] if text[start : start + 3] == text[start] * 3 else text[start]
    at = start + len(quote)
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        elif text[at] == "\n" and len(quote) == 1:
            return at
        else:
            at += 1
    return len(text)


def _call(node: ast.Call, lines: list[bytes]) -> PyCall:
    named: list[tuple[str, Any]] = []
    positional: list[Any] = [_value(each, lines) for each in node.args]
    for keyword in node.keywords:
        value = _value(keyword.value, lines)
        if keyword.arg is not None:
            named.append((keyword.arg, value))
        elif isinstance(value, dict):
            named.extend(value.items())  # **{"a": 1}
        else:
            positional.append(Expression(f"**{_source(keyword.value, lines)}"))
    return PyCall(_dotted(node.func), tuple(positional), tuple(named))


def _dotted(node: ast.expr) -> str:
    """`a.b` of a name with its attributes; `.b` of `f(…).b`, which is no name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))


def _value(node: ast.expr, lines: list[bytes]) -> Any:
    """The value of a node, as the table above says. `lines` are those of the source."""
    if isinstance(node, ast.Constant) and _is_json(node.value):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = node.operand
        if isinstance(inner, ast.Constant) and type(inner.value) in (int, float) and _is_json(inner.value):
            return -inner.value if isinstance(node.op, ast.USub) else inner.value  # type: ignore[operator]
    elif isinstance(node, (ast.List, ast.Tuple)):
        return [_value(each, lines) for each in node.elts]
    elif isinstance(node, ast.Call):
        return _call(node, lines)
    elif isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if all(isinstance(key, str) for key in keys):
            return {str(key): _value(value, lines) for key, value in zip(keys, node.values, strict=True)}
    return Expression(_source(node, lines))


def _source(node: ast.expr, lines: list[bytes]) -> str:
    """The source of a node; its places count bytes in UTF-8."""
    last = node.end_lineno or node.lineno
    taken = lines[node.lineno - 1 : last]
    if not taken:
        return type(node).__name__
    taken[-1] = taken[-1][: node.end_col_offset]
    taken[0] = taken[0][node.col_offset :]
    return b"\n".join(taken).decode("utf-8", "replace")


def _is_json(value: object) -> bool:
    return value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value))


def is_plain(value: Any) -> bool:
    """Whether a value is a JSON value all through: it holds no call and no expression."""
    if isinstance(value, (PyCall, Expression)):
        return False
    if isinstance(value, list):
        return all(is_plain(each) for each in value)
    return not isinstance(value, dict) or all(is_plain(each) for each in value.values())


def as_json(value: Any) -> Any:
    """A value as JSON: a call is `{"call": name, "arguments": {…}}`, an expression `{"expression": source}`."""
    if isinstance(value, PyCall):
        return {"call": value.name, "arguments": arguments_of(value)}
    if isinstance(value, Expression):
        return {"expression": value.source}
    if isinstance(value, list):
        return [as_json(each) for each in value]
    return {key: as_json(each) for key, each in value.items()} if isinstance(value, dict) else value


def arguments_of(call: PyCall) -> dict[str, Any]:
    """The arguments of a call as one JSON object, positional ones as a list under POSITIONAL, the first of two of one
    name."""
    arguments: dict[str, Any] = {POSITIONAL: [as_json(each) for each in call.positional]} if call.positional else {}
    for name, value in call.named:
        arguments.setdefault(name, as_json(value))
    return arguments
