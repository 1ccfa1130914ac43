"""A call written as Java text, `A.f(x=1, y="b")`, as BFCL decodes it: each value is source text again.

Not for what the values mean (`javavalues`, `native`). BFCL's habits are kept:

* The first call in the text counts. Its arguments are `name=value`; a bare name or class literal stands under the
  key None, all else without a name is dropped, and an argument given twice makes the text undecodable.
* A value is written anew from its syntax tree: without the space between its tokens, without the body of an anonymous
  class (and so without the puts of a map), and without the quotes where it is a string or a character.
* Places are counted in bytes and used on characters: text with a letter beyond ASCII is cut at the wrong places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from callscope.importers.bfcl.sourcetext import has_error, parse_source, walk

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["java_calls"]

_VERBATIM = frozenset({"identifier", "class_literal", "type_identifier", "method_invocation"})
_QUOTED = frozenset({"string_literal", "character_literal"})
_PUNCTUATION = frozenset({",", "(", ")"})


def java_calls(source: str) -> list[dict[str, dict[str | None, str]]] | None:
    """`[{name: arguments}]`, or None where the text is Java and holds no call.

    Raises SyntaxError where it is no Java, ValueError where an argument is given twice, AttributeError where an array
    is created without its values, UnicodeEncodeError on a lone surrogate.
    """
    root = parse_source(source, "java")
    if has_error(root):
        raise SyntaxError("no Java")
    call = next((node for node in walk(root) if node.type == "method_invocation"), None)
    return None if call is None else [{_name(call, source): _arguments(call, source)}]


def _text(node: Node | None, source: str) -> str:
    if node is None:
        raise AttributeError("a part of the expression is not there")
    return source[node.start_byte : node.end_byte]


def _name(call: Node, source: str) -> str:
    owner = call.child_by_field_name("object")
    name = _text(call.child_by_field_name("name"), source)
    return name if owner is None else f"{_text(owner, source)}.{name}"


def _arguments(call: Node, source: str) -> dict[str | None, str]:
    listed = call.child_by_field_name("arguments")
    arguments: dict[str | None, str] = {}
    for child in listed.children if listed is not None else ():
        if child.type == "assignment_expression":
            key, value = _text(child.children[0], source), child.children[2]
        elif child.type in {"identifier", "class_literal"}:
            key, value = None, child
        else:
            continue
        if key in arguments:
            raise ValueError("an argument is given twice")
        text = _written(value, source)
        arguments[key] = text[1:-1] if value.type in _QUOTED else text
    return arguments


def _written(node: Node | None, source: str) -> str:
    """The source text of a value as BFCL writes it anew, quotes kept."""
    if node is None or node.type in _VERBATIM or node.type in _QUOTED:
        return _text(node, source)
    if node.type == "array_creation_expression":
        kind = _written(node.child_by_field_name("type"), source)
        return f"new {kind}[]{_written(node.child_by_field_name('value'), source)}"
    if node.type == "object_creation_expression":
        kind = _written(node.child_by_field_name("type"), source)
        given = node.child_by_field_name("arguments")
        parts = [each for each in (given.children if given is not None else ()) if each.type not in _PUNCTUATION]
        return f"new {kind}({', '.join(_written(each, source) for each in parts)})"
    if node.child_count:
        return "".join(_written(each, source) for each in node.children)
    return _text(node, source)
