"""The value of an expression of literals in Python text, found without running anything.

BFCL evaluates `x=2*3.14` with Python itself; here the same operators and a few functions of numbers are applied to
literals alone. Not for names, attributes, comprehensions or anything else that needs a program: those raise
ValueError, as does a result too big to be meant (BFCL would hang on it).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

__all__ = ["evaluate", "numeric_operand"]

_MAX_BITS = 100_000
_MAX_LENGTH = 1_000_000

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (abs, float, int, len, max, min, round, str, sum)
}


def evaluate(node: ast.expr) -> Any:
    """The Python value of a literal expression.

    Raises ValueError where it is none or its value is too big, and what Python's operators raise on their operands
    (TypeError, ZeroDivisionError, OverflowError).
    """
    match node:
        case ast.Constant():
            return node.value
        case ast.List():
            return [evaluate(each) for each in node.elts]
        case ast.Tuple():
            return tuple(evaluate(each) for each in node.elts)
        case ast.Set():
            return {evaluate(each) for each in node.elts}
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {evaluate(_there(key)): evaluate(value) for key, value in pairs}
        case ast.UnaryOp():
            return _UNARY[type(node.op)](evaluate(node.operand))
        case ast.BinOp() if type(node.op) in _BINARY:
            left, right = evaluate(node.left), evaluate(node.right)
            _bound(node.op, left, right)
            return _BINARY[type(node.op)](left, right)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(evaluate(each) for each in node.args))
    raise ValueError(f"not a literal: {type(node).__name__}")


def numeric_operand(node: ast.expr) -> Any:
    """What stands after a sign. Raises ValueError where it is no constant."""
    if not isinstance(node, ast.Constant):
        raise ValueError(f"a sign before {type(node).__name__}")
    return node.value


def _there(key: ast.expr | None) -> ast.expr:
    if key is None:
        raise ValueError("a mapping is unpacked")
    return key


def _bound(operator_: ast.operator, left: Any, right: Any) -> None:
    """Refuses operations whose result could fill the memory."""
    if isinstance(operator_, ast.Pow) and isinstance(left, int) and isinstance(right, int):
        too_big = abs(right) * max(abs(left).bit_length(), 1) > _MAX_BITS
    elif isinstance(operator_, ast.LShift) and isinstance(left, int) and isinstance(right, int):
        too_big = right > _MAX_BITS
    elif isinstance(operator_, ast.Mult) and (_sized(left) or _sized(right)):
        size, times = (left, right) if _sized(left) else (right, left)
        too_big = isinstance(times, int) and len(size) * times > _MAX_LENGTH
    else:
        too_big = isinstance(operator_, ast.Mod) and isinstance(left, (str, bytes))
    if too_big:
        raise ValueError("the result is too big, or is formatted text")


def _sized(value: Any) -> bool:
    return isinstance(value, (str, bytes, list, tuple))
