"""A call written as JavaScript text, `f(x=1, y="b")`, as BFCL decodes it: each value is source text again.

Not for what the values mean (`jsvalues`, `native`). The first statement that is a call counts. Its arguments are
`name=value`, quotes around a whole value dropped; a bare name or `true` stands under the key None, all else without a
name is dropped, and an argument given twice makes the text undecodable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from callscope.importers.bfcl.sourcetext import has_error, parse_source

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["javascript_calls", "unquoted"]


def javascript_calls(source: str) -> list[dict[str, dict[str | None, str]]] | None:
    """`[{name: arguments}]`, or None where the text is JavaScript and no statement of it is a call.

    Raises SyntaxError where it is no JavaScript, ValueError where an argument is given twice, UnicodeEncodeError on a
    lone surrogate.
    """
    root = parse_source(source, "javascript")
    if has_error(root):
        raise SyntaxError("no JavaScript")
    for statement in root.children if root.type == "program" else ():
        if statement.type == "expression_statement":
            for part in statement.children:
                if part.type == "call_expression":
                    return [{_text(part.children[0]): _arguments(part.children[1])}]
    return None


def unquoted(text: str) -> str:
    """The text without one pair of quotes around all of it; a lone quote is its own pair and is gone, as in BFCL."""
    quoted = any(text.startswith(mark) and text.endswith(mark) for mark in ('"', "'"))
    return text[1:-1] if quoted else text


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8")


def _arguments(listed: Node) -> dict[str | None, str]:
    arguments: dict[str | None, str] = {}
    for child in listed.children:
        if child.type == "assignment_expression":
            key, value = _text(child.children[0]), unquoted(_text(child.children[2]))
        elif child.type in {"identifier", "true"}:
            key, value = None, _text(child)
        else:
            continue
        if key in arguments:
            raise ValueError("an argument is given twice")
        arguments[key] = value
    return arguments
