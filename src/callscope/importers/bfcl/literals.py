"""A Java or JavaScript expression as a JSON value, where it is one: numbers, strings, collections and their factories.

Read by the grammar, so that a comma in a string is no comma. Not for declared types (`native`), nor for running
anything: inside a collection, an expression that is no literal is its source text, as BFCL's gold names variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from callscope.importers.bfcl.sourcetext import Tongue, parse_source, walk

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["NO_LITERAL", "literal"]


class _NoLiteral:
    def __repr__(self) -> str:
        return "NO_LITERAL"


NO_LITERAL: Final = _NoLiteral()
"""Stands for an expression that is not a value, such as a variable."""

_MAX_DEPTH = 100
_ESCAPE = re.compile(
    r"\\(?:u\{(?P<point>[0-9a-fA-F]{1,6})\}|u+(?P<four>[0-9a-fA-F]{4})|x(?P<two>[0-9a-fA-F]{2})|(?P<octal>[0-7]{1,3})"
    r"|(?P<other>.))",
    re.DOTALL,
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "s": " ", "v": "\v", "\n": ""}
_LIST_TYPES = re.compile(r"(?:\w+\.)*\w*(?:List|Set|Queue|Deque|Stack|Vector|Collection)(?:<.*>)?", re.DOTALL)
_MAP_TYPES = re.compile(r"(?:\w+\.)*\w*(?:Map|Hashtable)(?:<.*>)?", re.DOTALL)
_LIST_FACTORIES = frozenset({"List.of", "Set.of", "Arrays.asList", "Stream.of", "ImmutableList.of", "ImmutableSet.of"})
_EMPTY: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("Collections.emptyList", "Collections.emptySet"), list),
    "Collections.emptyMap": dict,
}
_SINGLE = frozenset({"Collections.singletonList", "Collections.singleton"})
_SAME = frozenset(
    f"{kind}.{name}"
    for kind, names in {
        **dict.fromkeys(("Integer", "Long", "Short", "Byte", "Float", "Double", "Boolean"), ("valueOf",)),
        **dict.fromkeys(("List", "Set", "Map"), ("copyOf",)),
        "Collections": ("unmodifiableList", "unmodifiableSet", "unmodifiableMap"),
    }.items()
    for name in names
)
_BOXES = frozenset({"String", "Integer", "Long", "Short", "Byte", "Float", "Double", "Boolean"})


def literal(text: str, tongue: Tongue) -> Any:
    """The value of an expression: a JSON value, or NO_LITERAL where the text is anything but one. Never raises."""
    source = f"Object x = {text}\n;" if tongue == "java" else f"x = (\n{text}\n);"
    try:
        root = parse_source(source, tongue)
    except UnicodeEncodeError:
        return NO_LITERAL
    if root.has_error or len(root.children) != 1:
        return NO_LITERAL
    kind, field = ("variable_declarator", "value") if tongue == "java" else ("assignment_expression", "right")
    holder = next((node for node in walk(root) if node.type == kind), None)
    value = holder.child_by_field_name(field) if holder is not None else None
    return NO_LITERAL if value is None else _value(value, 0)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8") if node is not None else ""


def _value(node: Node, depth: int) -> Any:
    """The value of a node, NO_LITERAL for none. Both grammars name their nodes so that one table serves them."""
    if depth > _MAX_DEPTH:
        return NO_LITERAL
    kind, text = node.type, _text(node)
    if kind in _CONSTANTS:
        return _CONSTANTS[kind]
    if kind.endswith("_literal") and kind not in {"string_literal", "character_literal", "class_literal"}:
        return _number(text)
    if kind == "number":
        return _number(text)
    if kind in {"string_literal", "character_literal", "string", "template_string"}:
        substituted = any(each.type in {"template_substitution", "string_interpolation"} for each in node.children)
        return NO_LITERAL if substituted else _string(text)
    if kind == "unary_expression":
        return _signed(node, depth)
    if kind in {"parenthesized_expression", "cast_expression"}:
        inner = node.child_by_field_name("value") or next(iter(node.named_children), None)
        return NO_LITERAL if inner is None else _value(inner, depth + 1)
    if kind in {"array_initializer", "array"}:
        return _items(node, depth)
    if kind == "array_creation_expression":
        values = node.child_by_field_name("value")
        return NO_LITERAL if values is None else _items(values, depth)
    if kind == "object":
        return _object(node, depth)
    if kind == "field_access":
        return {"Boolean.TRUE": True, "Boolean.FALSE": False}.get(text, NO_LITERAL)
    if kind in {"method_invocation", "call_expression"}:
        return _called(node, depth)
    if kind in {"object_creation_expression", "new_expression"}:
        return _created(node, depth)
    return NO_LITERAL


_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None, "null_literal": None}


def _number(text: str) -> Any:
    plain = text.replace("_", "")
    based = re.fullmatch(r"0([xXbBoO])([0-9a-fA-F]+)[lLn]?", plain)
    octal = re.fullmatch(r"0([0-7]+)[lL]?", plain)
    try:
        if based:
            return int(based[2], {"x": 16, "b": 2, "o": 8}[based[1].lower()])
        if octal:
            return int(octal[1], 8)
        whole = re.fullmatch(r"(\d+)[lLn]?", plain)
        return int(whole[1]) if whole else float(plain.rstrip("fFdD"))
    except ValueError:
        return NO_LITERAL


def _string(text: str) -> str:
    if text.startswith('"""'):
        return _ESCAPE.sub(_unescaped, text[3:-3].partition("\n")[2])
    return _ESCAPE.sub(_unescaped, text[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    code = found["point"] or found["four"] or found["two"]
    if code is not None:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else found[0]
    if found["octal"] is not None:
        return chr(int(found["octal"], 8))
    return _LETTERS.get(found["other"], found["other"])


def _signed(node: Node, depth: int) -> Any:
    operand = node.child_by_field_name("operand") or node.child_by_field_name("argument")
    value = _value(operand, depth + 1) if operand is not None else NO_LITERAL
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not node.children:
        return NO_LITERAL
    return {"-": -value, "+": value}.get(node.children[0].type, NO_LITERAL)


def _element(node: Node, depth: int) -> Any:
    value = _value(node, depth + 1)
    return _text(node) if value is NO_LITERAL else value


def _items(node: Node | None, depth: int) -> list[Any]:
    children = node.named_children if node is not None else []
    return [_element(each, depth) for each in children if not each.type.endswith("comment")]


def _object(node: Node, depth: int) -> Any:
    found: dict[str, Any] = {}
    for each in node.named_children:
        key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
        if each.type.endswith("comment"):
            continue
        if each.type == "shorthand_property_identifier":
            found[_text(each)] = _text(each)
        elif each.type == "pair" and key is not None and value is not None and key.type != "computed_property_name":
            found[_string(_text(key)) if key.type == "string" else _text(key)] = _element(value, depth)
        else:
            return NO_LITERAL
    return found


def _pairs(values: list[Any]) -> Any:
    """An object of keys and values by turns; NO_LITERAL where a key is no string or one is left over."""
    keys = values[::2]
    if len(values) % 2 or not all(isinstance(key, str) for key in keys):
        return NO_LITERAL
    return dict(zip(keys, values[1::2], strict=True))


def _entries(values: Any) -> Any:
    """An object of a list of pairs."""
    if not isinstance(values, list) or not all(isinstance(each, list) and len(each) == 2 for each in values):
        return NO_LITERAL
    return _pairs([part for each in values for part in each])


def _called(node: Node, depth: int) -> Any:
    arguments = _items(node.child_by_field_name("arguments"), depth)
    if node.type == "call_expression":
        return _converted(_text(node.child_by_field_name("function")), arguments)
    owner = _text(node.child_by_field_name("object")).rpartition("util.")[2]
    name = f"{owner}.{_text(node.child_by_field_name('name'))}"
    if name in _LIST_FACTORIES:
        return arguments
    if name in {"Map.of", "ImmutableMap.of", "Collections.singletonMap"}:
        return _pairs(arguments)
    if name in {"Map.entry", "Map.ofEntries"}:
        return arguments if name == "Map.entry" else _entries(arguments)
    if name in _EMPTY and not arguments:
        return _EMPTY[name]()
    if name in _SINGLE or name in _SAME:
        return (arguments if name in _SINGLE else arguments[0]) if len(arguments) == 1 else NO_LITERAL
    return NO_LITERAL


def _created(node: Node, depth: int) -> Any:
    given = node.child_by_field_name("arguments")
    arguments = _items(given, depth)
    if node.type == "new_expression":
        return _converted(_text(node.child_by_field_name("constructor")), arguments)
    kind = _text(node.child_by_field_name("type"))
    body = next((each for each in node.children if each.type == "class_body"), None)
    filled = _filled(body, depth) if body is not None else []
    sized = len(arguments) == 1 and isinstance(arguments[0], int)  # a capacity
    if _LIST_TYPES.fullmatch(kind):
        first = arguments[0] if arguments and not sized else []
        values = [value for name, parts in filled if name != "put" for value in _added(name, parts)]
        return [*first, *values] if isinstance(first, list) and len(arguments) <= 1 else NO_LITERAL
    if _MAP_TYPES.fullmatch(kind):
        first = arguments[0] if arguments and not sized else {}
        puts = _pairs([value for name, parts in filled if name == "put" and len(parts) == 2 for value in parts])
        return {**first, **puts} if isinstance(first, dict) and isinstance(puts, dict) else NO_LITERAL
    return arguments[0] if kind in _BOXES and len(arguments) == 1 else NO_LITERAL


def _filled(body: Node, depth: int) -> list[tuple[str, list[Any]]]:
    """The calls that an anonymous collection fills itself with, `{{ add(1); put("a", 2); }}`."""
    statements = [
        part.children[0]
        for block in body.children
        if block.type == "block"
        for part in block.children
        if part.type == "expression_statement" and part.children[0].type == "method_invocation"
    ]
    return [
        (_text(each.child_by_field_name("name")), _items(each.child_by_field_name("arguments"), depth + 1))
        for each in statements
    ]


def _added(name: str, parts: list[Any]) -> list[Any]:
    if name == "addAll" and len(parts) == 1 and isinstance(parts[0], list):
        return parts[0]
    return parts[:1] if name in {"add", "push", "offer", "addLast"} else []


def _converted(name: str, arguments: list[Any]) -> Any:
    """The value of a JavaScript constructor or conversion."""
    sized = len(arguments) == 1 and isinstance(arguments[0], (int, float)) and not isinstance(arguments[0], bool)
    if name == "Array.of" or (name == "Array" and not sized):
        return arguments
    if not arguments:
        return {"Map": {}, "Object": {}, "Set": []}.get(name, NO_LITERAL)
    if len(arguments) > 1:
        return NO_LITERAL
    only = arguments[0]
    if name in {"Map", "Object.fromEntries"}:
        return _entries(only)
    if name in {"Set", "Array.from"}:
        return only if isinstance(only, list) else NO_LITERAL
    if name in {"Number", "BigInt"} and isinstance(only, str):
        return _number(only.strip()) if re.fullmatch(r"\s*\d[\w.]*\s*", only) else NO_LITERAL
    return only if name in {"Number", "BigInt", "String", "Boolean", "Object"} else NO_LITERAL
