"""Lint rules about the tools: schemas that are none, and what lies outside the portable core.

The lowest common denominator is what all providers take (names, nesting, keywords). Being outside it is a fault of
the suite only where its kind is `portable`; in other kinds these rules are silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from callscope.errors import shown
from callscope.suites.lint_base import Lintable, Rule, Spot, buildable

__all__ = ["RULES"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

CORE = frozenset(
    ("type", "description", "properties", "required", "items", "enum", "additionalProperties", "minimum", "maximum")
)
"""Keywords that every provider takes and passes on."""

ANNOTATIONS = frozenset(("default", "pattern", "title", "format", "minLength", "maxLength", "minItems", "maxItems"))
"""Keywords that some provider drops or ignores; the adapter records it. Noted, not warned about."""

_JSON_TYPES = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
MAX_DEPTH, MAX_OPTIONAL, MAX_UNIONS, MAX_TOOLS = 5, 24, 16, 20


class _Node(NamedTuple):
    """One schema inside a tool's parameters."""

    tool: str
    path: str
    schema: dict[str, Any]
    depth: int


def _walk(tool: str, path: str, schema: Any, depth: int) -> Iterator[_Node]:
    if not isinstance(schema, dict):
        return
    yield _Node(tool, path, schema, depth)
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        if isinstance(schema.get(key), dict):
            for name, child in schema[key].items():
                yield from _walk(tool, f"{path}.{key}.{shown(name, 80)}", child, depth + 1)
    for key in ("items", "additionalProperties", "not"):
        yield from _walk(tool, f"{path}.{key}", schema.get(key), depth + 1)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(schema.get(key), list):
            for index, child in enumerate(schema[key]):
                yield from _walk(tool, f"{path}.{key}[{index}]", child, depth)


def _nodes(it: Lintable) -> Iterator[_Node]:
    for index, tool in enumerate(it.suite.tools):
        yield from _walk(tool.name, f"tools[{index}].parameters", tool.parameters, 1)


def _portable(it: Lintable) -> bool:
    return it.suite.kind == "portable"


def _duplicate_tool(it: Lintable) -> Iterator[Spot]:
    seen: set[str] = set()
    for index, tool in enumerate(it.suite.tools):
        if tool.name in seen:
            yield Spot(
                it.tools_file, f"a second tool is called {tool.name!r}; the first one wins", None, f"tools[{index}]"
            )
        seen.add(tool.name)


def _schema_unbuildable(it: Lintable) -> Iterator[Spot]:
    for index, tool in enumerate(it.suite.tools):
        reason = buildable(tool.parameters)[1]
        if reason is not None:
            yield Spot(
                it.tools_file, f"{tool.name}: this is no JSON Schema: {reason}", None, f"tools[{index}].parameters"
            )


def _required_undeclared(it: Lintable) -> Iterator[Spot]:
    for node in _nodes(it):
        required, properties = node.schema.get("required"), node.schema.get("properties", {})
        if "properties" not in node.schema and node.schema.get("type") != "object":
            continue  # a condition on an object that is declared around it
        if isinstance(required, list) and isinstance(properties, dict):
            for name in required:
                if isinstance(name, str) and name not in properties:
                    message = f"{node.tool}: {name!r} is required but not declared"
                    yield Spot(it.tools_file, message, None, f"{node.path}.required")


def _fits(value: Any, name: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "integer":
        return number and value == value // 1
    return number if name == "number" else isinstance(value, _JSON_TYPES.get(name, object))


def _enum_type(it: Lintable) -> Iterator[Spot]:
    for node in _nodes(it):
        declared, values = node.schema.get("type"), node.schema.get("enum")
        names = declared if isinstance(declared, list) else [declared]
        if not isinstance(values, list) or not all(isinstance(name, str) for name in names):
            continue
        for value in values:
            if not any(_fits(value, name) for name in names):
                message = f"{node.tool}: {shown(value)} in the enum is not of type {shown(declared)}"
                yield Spot(it.tools_file, message, None, f"{node.path}.enum")


def _no_description(it: Lintable) -> Iterator[Spot]:
    for index, tool in enumerate(it.suite.tools):
        if not tool.description.strip():
            yield Spot(it.tools_file, f"{tool.name} has no description", None, f"tools[{index}].description")


def _names(it: Lintable) -> Iterator[Spot]:
    if not _portable(it):
        return
    for index, tool in enumerate(it.suite.tools):
        if not _NAME.fullmatch(tool.name):
            message = f"{shown(tool.name)!r} is not a name that every provider takes ({_NAME.pattern})"
            yield Spot(it.tools_file, message, None, f"tools[{index}].name")
    for node in _nodes(it):
        properties = node.schema.get("properties")
        for name in properties if isinstance(properties, dict) else ():
            if not _NAME.fullmatch(name):
                message = f"{node.tool}: {shown(name)!r} is not a parameter name that every provider takes"
                yield Spot(it.tools_file, message, None, f"{node.path}.properties")


def _keywords(it: Lintable) -> Iterator[Spot]:
    if not _portable(it):
        return
    for node in _nodes(it):
        for key in node.schema:
            if key in ANNOTATIONS:
                message = f"{node.tool}: {key!r} is dropped or ignored by some providers; the run records where"
                yield Spot(it.tools_file, message, None, f"{node.path}.{key}", "info")
            elif key not in CORE:
                message = f"{node.tool}: {shown(key)!r} is outside the portable core; put it in a compatibility suite"
                yield Spot(it.tools_file, message, None, f"{node.path}.{shown(key, 80)}")


def _shape(it: Lintable) -> Iterator[Spot]:
    if not _portable(it):
        return
    for index, tool in enumerate(it.suite.tools):
        field, schema = f"tools[{index}].parameters", tool.parameters
        if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
            yield Spot(
                it.tools_file, f"{tool.name}: parameters must be an object with properties (even {{}})", None, field
            )
    for node in _nodes(it):
        schema = node.schema
        if isinstance(schema.get("type"), list):
            yield Spot(it.tools_file, f"{node.tool}: a list of types is not portable", None, f"{node.path}.type")
        if schema.get("type") == "array" and not (isinstance(schema.get("items"), dict) and "type" in schema["items"]):
            yield Spot(it.tools_file, f"{node.tool}: an array needs items with a type", None, node.path)
        enum = schema.get("enum")
        if isinstance(enum, list) and not all(isinstance(value, str) for value in enum):
            yield Spot(it.tools_file, f"{node.tool}: only enums of strings are portable", None, f"{node.path}.enum")


def _size(it: Lintable) -> Iterator[Spot]:
    if not _portable(it):
        return
    nodes = list(_nodes(it))
    optional = sum(
        len(node.schema["properties"]) - len(node.schema.get("required", ()))
        for node in nodes
        if isinstance(node.schema.get("properties"), dict)
        and isinstance(node.schema.get("required", ()), (list, tuple))
    )
    unions = sum("anyOf" in node.schema or isinstance(node.schema.get("type"), list) for node in nodes)
    for what, count, limit in (
        ("tools", len(it.suite.tools), MAX_TOOLS),
        ("optional parameters", optional, MAX_OPTIONAL),
        ("unions", unions, MAX_UNIONS),
        ("levels of nesting", max((node.depth for node in nodes), default=0), MAX_DEPTH),
    ):
        if count > limit:
            yield Spot(it.tools_file, f"{count} {what}; strict modes take at most {limit}")


RULES: tuple[Rule, ...] = (
    Rule("duplicate-tool", "error", "two tools of one name cannot be told apart", _duplicate_tool),
    Rule("tool-schema-unbuildable", "error", "arguments cannot be checked against this schema", _schema_unbuildable),
    Rule("required-undeclared", "error", "a required name that the schema does not declare", _required_undeclared),
    Rule("enum-type", "error", "an enum value that the declared type excludes", _enum_type),
    Rule("tool-without-description", "warning", "the model has only the name to go by", _no_description),
    Rule("name-not-portable", "warning", "a name outside the lowest common denominator", _names),
    Rule("keyword-not-portable", "warning", "a schema keyword outside the portable core", _keywords),
    Rule("shape-not-portable", "warning", "a schema shape that some provider rejects", _shape),
    Rule("size-not-portable", "warning", "more than strict modes take", _size),
)
