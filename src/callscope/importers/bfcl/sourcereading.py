"""Calls in Java and JavaScript text as callscope reads them: every value as the source text it is, quotes kept.

Not for what a value means (`native`), nor for BFCL's reading of the same text (`javatext`, `jstext`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callscope.contract import Malformed, ToolCall, ToolCalls
from callscope.importers.bfcl.sourcetext import Tongue, parse_source

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["read_source"]

_CALL = {"java": "method_invocation", "javascript": "call_expression"}


def read_source(text: str, tongue: Tongue) -> ToolCalls | None:
    """The calls of a text that is nothing but calls, in brackets or not; None where it is anything else.

    Raises UnicodeEncodeError on a lone surrogate.
    """
    inside = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    # `f(a), g(b)` is a list of arguments, so a call is put around the calls.
    source = f"calls({inside.strip().rstrip(';')});"
    root = parse_source(source, tongue)
    outer = next((each for each in root.children if each.type == "expression_statement"), None)
    if root.has_error or outer is None or len(root.children) != 1 or outer.children[0].type != _CALL[tongue]:
        return None
    around = outer.children[0].child_by_field_name("arguments")
    elements = around.named_children if around is not None else []
    if not elements or any(each.type != _CALL[tongue] for each in elements):
        return None
    return ToolCalls(tuple(_read(each, tongue) for each in elements), ())


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8")


def _read(call: Node, tongue: Tongue) -> ToolCall:
    if tongue == "java":
        owner, called = call.child_by_field_name("object"), call.child_by_field_name("name")
        parts = [_text(each) for each in (owner, called) if each is not None]
    else:
        function = call.child_by_field_name("function")
        parts = [_text(function)] if function is not None else []
    name = ".".join(parts)
    arguments: dict[str, Any] = {}
    listed = call.child_by_field_name("arguments")
    for child in listed.named_children if listed is not None else []:
        if child.type.endswith("comment"):
            continue
        key, value = child.child_by_field_name("left"), child.child_by_field_name("right")
        if child.type != "assignment_expression" or key is None or value is None or _text(key) in arguments:
            return ToolCall(None, name, malformed=Malformed("syntax", _text(call)))
        arguments[_text(key)] = _text(value)
    return ToolCall(None, name, arguments)
