"""Calls written as Python text, `[f(a=1), g(b="x")]`, read with the grammar alone and never run.

`call_elements` gives the calls of the syntax tree; `compatible_calls` gives them the values that BFCL gives them. Not
for our own reading of the same text (`reading`).

| value in the text                                  | BFCL's value                                            |
|----------------------------------------------------|---------------------------------------------------------|
| constant                                           | itself; `...` is the string "..."                       |
| sign and constant (`-1`, also `+1`, `~1`, `not 1`) | the constant negated, whatever the sign                 |
| list, tuple, dict                                  | item by item; a tuple stays one                         |
| `a`, a name                                        | its letters                                             |
| `2 * 3`, an operation                              | its value; names in it make the whole text undecodable  |
| `g(x)`, a call without keywords                    | its source text                                         |
| `g(k=x)`, a call with keywords                     | `{"g": {"k": x}}`; its positional arguments are dropped |
| `a[0]`                                             | its source text                                         |
| anything else                                      | the whole text is undecodable                           |

Positional arguments of the call itself are dropped too.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any

from callscope.importers.bfcl.arithmetic import evaluate, numeric_operand

__all__ = ["call_elements", "called_name", "compatible_call", "compatible_calls", "parse_expression"]


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of one Python expression.

    Raises SyntaxError, ValueError, RecursionError or MemoryError, as Python's parser does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in a model's string is no concern of who imports it
        return ast.parse(text, mode="eval").body


def call_elements(text: str) -> list[ast.Call]:
    """The calls of a text that is one call, or one list, tuple or set of calls. Raises as parse_expression does."""
    tree = parse_expression(text)
    if isinstance(tree, ast.Call):
        return [tree]
    if not isinstance(tree, (ast.List, ast.Tuple, ast.Set)):
        raise ValueError(f"no list of calls but {type(tree).__name__}")
    calls = [each for each in tree.elts if isinstance(each, ast.Call)]
    if len(calls) != len(tree.elts):
        raise ValueError("a list with something in it that is no call")
    return calls


def called_name(function: ast.expr) -> str:
    """`a.b` of `a.b(…)`; what stands before the dots and is no name is left out, as BFCL does."""
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        parts.append(function.id)
    return ".".join(reversed(parts))


def compatible_calls(text: str) -> list[dict[str, dict[Any, Any]]]:
    """`[{name: arguments}, …]` as BFCL decodes the text. Raises one of Python's own errors where it cannot."""
    return [compatible_call(each) for each in call_elements(text.strip().strip("'"))]


def compatible_call(call: ast.Call) -> dict[str, dict[Any, Any]]:
    """`{name: arguments}` of one call; `**x` stands under the key None."""
    return {called_name(call.func): {each.arg: _value(each.value) for each in call.keywords}}


def _value(node: ast.expr | None) -> Any:
    match node:
        case ast.Constant():
            return "..." if node.value is Ellipsis else node.value
        case ast.UnaryOp():
            return -numeric_operand(node.operand)
        case ast.List():
            return [_value(each) for each in node.elts]
        case ast.Tuple():
            return tuple(_value(each) for each in node.elts)
        case ast.Dict():
            return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True)}
        case ast.BinOp():
            return evaluate(node)
        case ast.Name():
            return node.id
        case ast.Call():
            return compatible_call(node) if node.keywords else ast.unparse(node)
        case ast.Subscript():
            return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"
    raise ValueError(f"a value that cannot be read: {type(node).__name__}")
