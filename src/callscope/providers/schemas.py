"""Tools against a dialect's schema limits, before any call: what a provider would refuse, ignore or drop.

The limits are data (`catalog.SchemaLimits`); this is the one walker that reads them. It changes no schema, sends
nothing, and is no verdict: a provider decides for itself, and many limits are known only at second hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from callscope.contract import Tool
from callscope.errors import shown
from callscope.jsontext import dump_faithful
from callscope.providers.catalog import SchemaLimits

__all__ = ["Breach", "Node", "check_tools", "nodes"]

_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_SINGLE = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_DEEPER = frozenset({"properties", "patternProperties", "items", "prefixItems", "additionalProperties", "contains"})
"""Keywords below which a value is one level deeper."""

_BINDING = frozenset(
    (
        "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
        "maxLength", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems",
        "minProperties", "maxProperties", "propertyNames", "patternProperties", "dependentRequired",
        "dependentSchemas", "if", "not", "oneOf", "allOf", "unevaluatedItems", "unevaluatedProperties",
    )
)  # fmt: skip
"""What `*` in `ignored` stands for: keywords that bind values beyond their type, names and choices."""

Path = tuple[str | int, ...]


class Breach(NamedTuple):
    """One place outside the limits. `limit` names the field of SchemaLimits, `path` leads from the list of tools to
    the place; `tool` is None where the request as a whole is meant. `info`: accepted, but without effect."""

    severity: Literal["warning", "info"]
    limit: str
    tool: str | None
    path: Path
    message: str


class Node(NamedTuple):
    """One schema inside a tool's parameters; `depth` is 1 at the top."""

    tool: str
    path: Path
    schema: Mapping[str, Any]
    depth: int


def nodes(tools: Sequence[Tool]) -> Iterator[Node]:
    """Every schema object of every tool, outermost first."""
    for index, tool in enumerate(tools):
        yield from _walk(tool.name, (index, "parameters"), tool.parameters, 1)


def _walk(tool: str, path: Path, schema: Any, depth: int) -> Iterator[Node]:
    if not isinstance(schema, dict):
        return
    yield Node(tool, path, schema, depth)
    for key, value in schema.items():
        below = depth + (key in _DEEPER)
        if key in _MAPS and isinstance(value, dict):
            for name, child in value.items():
                yield from _walk(tool, (*path, key, name), child, below)
        elif key in _SINGLE:
            yield from _walk(tool, (*path, key), value, below)
        elif key in _LISTS and isinstance(value, list):
            for index, child in enumerate(value):
                yield from _walk(tool, (*path, key, index), child, below)


def check_tools(tools: Sequence[Tool], limits: SchemaLimits) -> list[Breach]:
    """Every place where the tools lie outside the limits, in reading order; counts over the whole request last."""
    found: list[Breach] = []
    every = list(nodes(tools))
    for index, tool in enumerate(tools):
        found.extend(_tool(tool, index, limits))
        for node in every:
            if node.path[0] == index:
                for check in _CHECKS:
                    found.extend(check(node, limits))
    found.extend(_without_effect(every, limits))
    found.extend(_counts(tools, every, limits))
    return found


def _tool(tool: Tool, index: int, limits: SchemaLimits) -> Iterator[Breach]:
    if limits.tool_name is not None and not re.fullmatch(limits.tool_name, tool.name):
        message = f"the name {shown(tool.name)!r} does not match {limits.tool_name}"
        yield Breach("warning", "tool_name", tool.name, (index, "name"), message)
    place: Path = (index, "parameters")
    if limits.object_root and tool.parameters.get("type") != "object":
        yield Breach("warning", "object_root", tool.name, place, "the parameters must be of type object")
    for keyword in limits.refused_at_root:
        if keyword in tool.parameters:
            message = f"`{keyword}` is refused at the top of the parameters"
            yield Breach("warning", "refused_at_root", tool.name, (*place, keyword), message)
    if limits.one_required and not tool.parameters.get("required"):
        yield Breach("warning", "one_required", tool.name, place, "at least one parameter must be required")
    if not limits.recursion and _recurs(tool.parameters):
        yield Breach("warning", "recursion", tool.name, place, "a `$ref` leads back to itself")


def _keywords(node: Node, limits: SchemaLimits) -> Iterator[Breach]:
    at_root = len(node.path) == 2
    for keyword in node.schema:
        if keyword in limits.refused and not (at_root and keyword in limits.refused_at_root):
            yield _breach(node, "refused", keyword, f"`{shown(keyword)}` is refused")
        elif keyword in limits.dropped:
            yield _breach(node, "dropped", keyword, f"`{shown(keyword)}` does not reach the model", "info")


def _values(node: Node, limits: SchemaLimits) -> Iterator[Breach]:
    schema = node.schema
    declared = schema.get("format")
    if limits.formats is not None and isinstance(declared, str) and declared not in limits.formats:
        yield _breach(node, "formats", "format", f"the format {shown(declared)!r} is refused")
    least = schema.get("minItems")
    if limits.min_items is not None and least is not None and least not in limits.min_items:
        known = " or ".join(map(str, limits.min_items))
        yield _breach(node, "min_items", "minItems", f"`minItems` may only be {known}")
    values = schema.get("enum")
    if limits.string_enums and isinstance(values, list) and not all(isinstance(value, str) for value in values):
        yield _breach(node, "string_enums", "enum", "only strings may stand in an enum")
    if not limits.type_lists and isinstance(schema.get("type"), list):
        yield _breach(node, "type_lists", "type", "a list of types is refused")
    if limits.lone_ref and "$ref" in schema and len(schema) > 1:
        yield _breach(node, "lone_ref", "$ref", "nothing may stand beside `$ref`")


def _shape(node: Node, limits: SchemaLimits) -> Iterator[Breach]:
    schema = node.schema
    if limits.typed_items and _is(schema, "array") and not schema.get("items") and not schema.get("prefixItems"):
        yield _breach(node, "typed_items", "items", "an array needs `items`")
    if limits.closed and _is(schema, "object") and schema.get("additionalProperties") is not False:
        yield _breach(node, "closed", "additionalProperties", "the object needs `additionalProperties: false`")
    properties = _properties(schema)
    missing = [name for name in properties if name not in _required(schema)]
    if limits.all_required and missing:
        names = ", ".join(shown(name, 60) for name in missing)
        message = f"every property must be required (optional ones as a union with null); not required: {names}"
        yield _breach(node, "all_required", "required", message)
    if limits.parameter_name is not None:
        for name in properties:
            if not re.fullmatch(limits.parameter_name, name):
                message = f"the parameter name {shown(name)!r} does not match {limits.parameter_name}"
                yield Breach("warning", "parameter_name", node.tool, (*node.path, "properties", name), message)


_CHECKS: tuple[Callable[[Node, SchemaLimits], Iterator[Breach]], ...] = (_keywords, _values, _shape)


def _breach(
    node: Node, limit: str, keyword: str, message: str, severity: Literal["warning", "info"] = "warning"
) -> Breach:
    return Breach(severity, limit, node.tool, (*node.path, keyword), message)


def _is(schema: Mapping[str, Any], kind: str) -> bool:
    declared = schema.get("type")
    return declared == kind or (isinstance(declared, list) and kind in declared)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _required(schema: Mapping[str, Any]) -> Sequence[Any]:
    found = schema.get("required")
    return found if isinstance(found, list) else ()


def _without_effect(every: Sequence[Node], limits: SchemaLimits) -> Iterator[Breach]:
    """One line a keyword, at its first place: a hint in every tool would bury the rest."""
    names = _BINDING if "*" in limits.ignored else frozenset(limits.ignored)
    places: dict[str, list[Node]] = {}
    for node in every:
        for keyword in node.schema:
            if keyword in names and keyword not in limits.refused and keyword not in limits.dropped:
                places.setdefault(keyword, []).append(node)
    for keyword, held in places.items():
        often = f" ({len(held)} places)" if len(held) > 1 else ""
        message = f"`{keyword}` is taken as a hint and not enforced{often}"
        yield Breach("info", "ignored", held[0].tool, (*held[0].path, keyword), message)


def _counts(tools: Sequence[Tool], every: Sequence[Node], limits: SchemaLimits) -> Iterator[Breach]:
    enums = [values for node in every if isinstance(values := node.schema.get("enum"), list)]
    for limit, what, count, bound in (
        ("max_tools", "tools", len(tools), limits.max_tools),
        ("max_depth", "levels of nesting", max((node.depth for node in every), default=0), limits.max_depth),
        ("max_properties", "properties", sum(len(_properties(node.schema)) for node in every), limits.max_properties),
        ("max_optional", "optional parameters", sum(map(_optional, every)), limits.max_optional),
        ("max_unions", "unions", sum(map(_union, every)), limits.max_unions),
        ("max_enum_values", "enum values", sum(map(len, enums)), limits.max_enum_values),
        ("max_schema_text", "characters of names and enum values", _text(every, enums), limits.max_schema_text),
    ):
        if bound is not None and count > bound:
            yield Breach("warning", limit, None, (), f"{count} {what}; at most {bound} are taken")


def _optional(node: Node) -> int:
    return sum(name not in _required(node.schema) for name in _properties(node.schema))


def _union(node: Node) -> bool:
    return "anyOf" in node.schema or isinstance(node.schema.get("type"), list)


def _text(every: Sequence[Node], enums: Sequence[list[Any]]) -> int:
    names = sum(len(name) for node in every for name in _properties(node.schema))
    constants = [node.schema["const"] for node in every if "const" in node.schema]
    values = [*(value for held in enums for value in held), *constants]
    return names + sum(len(value if isinstance(value, str) else dump_faithful(value)) for value in values)


def _recurs(schema: Mapping[str, Any]) -> bool:
    """Whether following the references inside a schema can come back to where it was."""

    def below(start: Any) -> set[str]:
        held = (node.schema.get("$ref") for node in _walk("", (), start, 1))
        return {reference for reference in held if isinstance(reference, str)}

    def reaches(reference: str, seen: frozenset[str]) -> bool:
        if reference == "#" or reference in seen:
            return True
        target = _resolved(schema, reference)
        return any(reaches(one, seen | {reference}) for one in below(target))

    return any(reaches(reference, frozenset()) for reference in below(schema))


def _resolved(schema: Any, reference: str) -> Any:
    """What a local reference points to; None for any other, and where there is nothing."""
    if not reference.startswith("#/"):
        return None
    for step in reference[2:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        schema = schema.get(step) if isinstance(schema, dict) else None
    return schema
