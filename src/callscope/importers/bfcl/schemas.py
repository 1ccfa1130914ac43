"""BFCL's function documents as tools: JSON Schema, and names that every provider takes. Each change has a rule.

| published                                         | in the tool                               | rule              |
|---------------------------------------------------|-------------------------------------------|-------------------|
| `dict`, `float`, `tuple`, Java's and JavaScript's | the JSON type (table `_JSON_TYPES`)       | json_type         |
| `any`, `""`                                       | no type                                   | json_type         |
| a type that is none of any language               | no type                                   | unknown_type      |
| a default (null, mostly) of another type          | is a value of it too, and of its enum     | default_in_type   |
| an enum beside `array` that lists elements        | the enum of the elements                  | enum_of_items     |
| an enum whose members are of another type         | the members in that type, if none is lost | enum_in_type      |
| the same, and one would be lost                   | no type                                   | enum_without_type |
| `required`, `properties` that are not such, and   | left out                                  | not_a_schema      |
| an enum of nothing                                |                                           |                   |
| a list under `items`                              | `prefixItems`                             | tuple_items       |

A name keeps its letters, digits, `_` and `-`; all else becomes `_`, as BFCL's own function-calling handlers send it
(they map `.` alone). The document as published stays in the case's metadata.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from callscope.contract import Tool, Transformation
from callscope.rewrite import Dialect, Rule, Schema, rewrite, without

__all__ = [
    "Loosening",
    "Tools",
    "conforms",
    "in_type",
    "json_type",
    "loosened",
    "loosened_schema",
    "safe_names",
    "tools_of",
]

_JSON_TYPES: dict[str, str] = {
    **dict.fromkeys(("string", "str", "char", "character"), "string"),
    **dict.fromkeys(("integer", "int", "long", "short", "byte", "bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "tuple", "arraylist", "set", "queue", "stack"), "array"),
    **dict.fromkeys(("object", "dict", "hashmap", "hashtable", "map"), "object"),
    **dict.fromkeys(("null", "none"), "null"),
}
_ANY = ("any", "")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def json_type(declared: Any) -> str | None:
    """The JSON type of a published one; None for `any` and for what is no type."""
    return _JSON_TYPES.get(declared.casefold()) if isinstance(declared, str) else None


def conforms(value: Any, declared: str | None) -> bool:
    """Whether a JSON value is of a JSON type; of None (no type) every value is."""
    match declared:
        case None:
            return True
        case "string":
            return isinstance(value, str)
        case "integer":
            return (isinstance(value, int) and not isinstance(value, bool)) or (
                isinstance(value, float) and value.is_integer()
            )
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
    return value is None


_NOTHING: Any = object()


def in_type(value: Any, declared: str | None) -> tuple[Any, ...]:
    """The value said in a JSON type, where nothing is lost: `("1",)` of 1 for a string; empty where it cannot be."""
    if declared == "string" and isinstance(value, (bool, int, float)):
        return (str(value),)
    if declared == "boolean" and isinstance(value, str) and value.casefold() in ("true", "false"):
        return (value.casefold() == "true",)
    if declared in ("integer", "number") and isinstance(value, str):
        for number in (int, float) if declared == "number" else (int,):
            try:
                read = number(value)
            except (ValueError, OverflowError):
                continue
            if str(read) == value.strip():
                return (read,)
    return ()


def _map_type(schema: Schema) -> Schema | None:
    declared = schema["type"]
    if isinstance(declared, list):
        mapped = [_JSON_TYPES.get(each.casefold()) if isinstance(each, str) else None for each in declared]
        if mapped == declared:
            return None
        return (
            without(schema, "type") if None in mapped or not mapped else {**schema, "type": list(dict.fromkeys(mapped))}
        )
    if isinstance(declared, str) and declared.casefold() in _ANY:
        return without(schema, "type")
    known = json_type(declared)
    return None if known in (declared, None) else {**schema, "type": known}


def _unknown_type(schema: Schema) -> Schema | None:
    declared = schema["type"]
    known = isinstance(declared, list) or (isinstance(declared, str) and declared in _JSON_TYPES.values())
    return None if known else without(schema, "type")


def _empty_enum(schema: Schema) -> Schema | None:
    return without(schema, "enum") if schema["enum"] == [] else None


def _enum_of_items(schema: Schema) -> Schema | None:
    members, items = schema["enum"], schema.get("items", {})
    if (
        schema.get("type") != "array"
        or not isinstance(members, list)
        or any(isinstance(each, list) for each in members)
    ):
        return None
    if not isinstance(items, dict):
        return None
    return {**without(schema, "enum"), "items": items if "enum" in items else {**items, "enum": members}}


def _enum_in_type(schema: Schema) -> Schema | None:
    members, declared = schema["enum"], schema.get("type")
    if not isinstance(members, list):
        return without(schema, "enum")
    if not isinstance(declared, str) or not any(not conforms(each, declared) for each in members):
        return None
    said = [each if conforms(each, declared) else (*in_type(each, declared), _NOTHING)[0] for each in members]
    return None if _NOTHING in said else {**schema, "enum": said}


def _enum_without_type(schema: Schema) -> Schema | None:
    members, declared = schema["enum"], schema.get("type")
    if not isinstance(declared, str) or all(conforms(each, declared) for each in members):
        return None
    return without(schema, "type")


def _default_in_type(schema: Schema) -> Schema | None:
    default, declared, members = schema["default"], schema.get("type"), schema.get("enum")
    if not isinstance(declared, str) or conforms(default, declared):
        return None
    if said := in_type(default, declared):
        return {**schema, "default": said[0]}
    kind = next(each for each in _KINDS if conforms(default, each))
    changed = {**schema, "type": [declared, kind]}
    return {**changed, "enum": [*members, default]} if isinstance(members, list) and default not in members else changed


_KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")


def _no_required(schema: Schema) -> Schema | None:
    listed = schema["required"]
    if isinstance(listed, list) and all(isinstance(each, str) for each in listed):
        return None if len(set(listed)) == len(listed) else {**schema, "required": list(dict.fromkeys(listed))}
    return without(schema, "required")


def _no_properties(schema: Schema) -> Schema | None:
    declared = schema["properties"]
    if isinstance(declared, Mapping) and all(isinstance(each, Mapping) for each in declared.values()):
        return None
    kept = (
        {name: each for name, each in declared.items() if isinstance(each, Mapping)}
        if isinstance(declared, Mapping)
        else {}
    )
    return {**schema, "properties": kept}


def _tuple_items(schema: Schema) -> Schema | None:
    return {**without(schema, "items"), "prefixItems": schema["items"]} if isinstance(schema["items"], list) else None


_DIALECT = Dialect(
    rules=(
        Rule("json_type", "type", _map_type),
        Rule("unknown_type", "type", _unknown_type),
        Rule("not_a_schema", "required", _no_required),
        Rule("not_a_schema", "properties", _no_properties),
        Rule("tuple_items", "items", _tuple_items),
        Rule("not_a_schema", "enum", _empty_enum),
        Rule("enum_of_items", "enum", _enum_of_items),
        Rule("enum_in_type", "enum", _enum_in_type),
        Rule("enum_without_type", "enum", _enum_without_type),
        Rule("default_in_type", "default", _default_in_type),
    ),
    inline=False,
    booleans=True,
    maps=("properties", "patternProperties", "$defs"),
    lists=("anyOf", "oneOf", "allOf", "prefixItems"),
    ones=("items", "additionalProperties", "not"),
    depth=64,
)


class Tools(NamedTuple):
    """The tools of a case in published order; published name -> tool name; published names that share a safe name;
    what was changed in the schemas, each under its function's published name."""

    tools: tuple[Tool, ...]
    names: Mapping[str, str]
    colliding: tuple[str, ...]
    changes: tuple[tuple[str, Transformation], ...]


def tools_of(functions: Sequence[Mapping[str, Any]]) -> Tools:
    """The tools of published functions. A second function of the same name is left out, as the first one answers to it.

    Two names that differ only in what is made safe (`a.b`, `a_b`) stay two: the one that had to change gets a number.
    """
    tools: list[Tool] = []
    changes: list[tuple[str, Transformation]] = []
    by_name = {str(each.get("name", "")): each for each in reversed(functions)}
    listed = list(dict.fromkeys(str(each.get("name", "")) for each in functions))
    names = safe_names(listed)
    for name in listed:
        function = by_name[name]
        written = function.get("parameters")
        schema, changed = _rewritten(json.dumps(written if isinstance(written, dict) else {}))
        changes.extend((name, each) for each in changed)
        tools.append(Tool(names[name], str(function.get("description") or ""), schema))
    colliding = tuple(name for name in listed if names[name] != _UNSAFE.sub("_", name))
    repeated = tuple(name for name in listed if sum(each.get("name", "") == name for each in functions) > 1)
    return Tools(tuple(tools), names, (*colliding, *repeated), tuple(changes))


@lru_cache(maxsize=4096)
def _rewritten(written: str) -> tuple[Schema, tuple[Transformation, ...]]:
    """The parameters' schema (as JSON text: many cases share a function) in the dialect; nobody may change it."""
    changed: list[Transformation] = []
    schema = {**rewrite(json.loads(written), _DIALECT, "", changed), "type": "object"}
    schema.setdefault("properties", {})
    return schema, tuple(changed)


def safe_names(published: Sequence[str]) -> dict[str, str]:
    """Published name -> tool name, for different names. A name that is safe as it is keeps to itself; of two that
    would be alike, the one that had to change gets a number."""
    names: dict[str, str] = {}
    kept = {name for name in published if _UNSAFE.sub("_", name) == name}
    for name in published:
        safe, number = _UNSAFE.sub("_", name), 1
        while safe in names.values() or (safe in kept and safe != name):
            number += 1
            safe = f"{_UNSAFE.sub('_', name)}_{number}"
        names[name] = safe
    return names


Loosening = Literal["name", "inside"]
"""How a parameter's schema gives way to gold that breaks it: the name of a variable, or what stands inside."""


def loosened(tool: Tool, parameters: Mapping[str, Loosening]) -> Tool:
    """The tool with the schemas of those parameters loosened; itself where there are none."""
    if not parameters:
        return tool
    properties = tool.parameters["properties"]
    changed = {name: loosened_schema(properties[name], how) for name, how in parameters.items()}
    return Tool(tool.name, tool.description, {**tool.parameters, "properties": {**properties, **changed}})


def loosened_schema(schema: Schema, how: Loosening) -> Schema:
    """`name`: text is taken beside the declared type; `inside`: of elements and members only the enums are kept."""
    if how == "inside":
        kept = {keyword: said for keyword, said in schema.items() if keyword not in _INSIDE}
        return {**kept, **without(_enums(schema), "enum")}
    declared = schema.get("type")
    listed = declared if isinstance(declared, list) else [declared]
    return schema if None in listed or "string" in listed else {**without(schema, "enum"), "type": [*listed, "string"]}


_INSIDE = ("items", "prefixItems", "properties", "required", "additionalProperties")


def _enums(schema: Any) -> Schema:
    """Of a schema the enums alone, where they stand."""
    if not isinstance(schema, Mapping):
        return {}
    found: Schema = {"enum": schema["enum"]} if "enum" in schema else {}
    if items := _enums(schema.get("items")):
        found["items"] = items
    if isinstance(places := schema.get("prefixItems"), list) and any(kept := [_enums(each) for each in places]):
        found["prefixItems"] = kept
    if isinstance(members := schema.get("properties"), Mapping):
        named = {name: below for name, each in members.items() if (below := _enums(each))}
        if named:
            found["properties"] = named
    return found
