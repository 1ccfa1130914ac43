"""JSON Schema into the OpenAPI subset of Gemini's field `parameters`; `parametersJsonSchema` needs none of it.

Each rule keeps what the subset can say; what it cannot is loosened, never tightened, and recorded (see `rewrite`).
"""

from __future__ import annotations

from callscope.contract import Transformation
from callscope.rewrite import Dialect, Rule, Schema, rewrite, without
from callscope.schema_rules import one_of_to_any_of

__all__ = ["OPENAPI_SUBSET", "openapi_subset"]

_FORMATS = frozenset({"date-time", "enum", "float", "double", "int32", "int64"})
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})


def _only_part(schema: Schema) -> Schema | None:
    parts = schema["allOf"]
    if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict):
        return None
    return {**parts[0], **without(schema, "allOf")}


def _null_choice(schema: Schema) -> Schema | None:
    choices = schema["anyOf"]
    if not isinstance(choices, list):
        return None
    others = [choice for choice in choices if choice != {"type": "null"}]
    if len(others) == len(choices) or not others:
        return None
    rest = without(schema, "anyOf")
    if len(others) == 1 and isinstance(others[0], dict):
        return {**others[0], **rest, "nullable": True}
    return {**rest, "anyOf": others, "nullable": True}


def _one_type(schema: Schema) -> Schema | None:
    types = schema["type"]
    if not isinstance(types, list):
        return None
    named = [name for name in types if name != "null"]
    changed = without(schema, "type")
    if "null" in types and named:
        changed["nullable"] = True
    if len(named) > 1 and "anyOf" not in schema:
        changed["anyOf"] = [{"type": name} for name in named]
    elif len(named) == 1 or not named:
        changed["type"] = named[0] if named else "null"
    return changed


def _constant(schema: Schema) -> Schema | None:
    value = schema["const"]
    rest = without(schema, "const")
    if isinstance(value, str):
        return {**rest, "type": "string", "enum": [value]}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"type": "integer" if isinstance(value, int) else "number", **rest, "minimum": value, "maximum": value}
    return rest


def _strings(schema: Schema) -> Schema | None:
    """Only enums of strings can be said; null among them is `nullable`, any other value loses the enum."""
    values = schema["enum"]
    if not isinstance(values, list):
        return None
    named = [value for value in values if value is not None]
    strings = bool(named) and all(isinstance(value, str) for value in named)
    if strings and len(named) == len(values) and "type" in schema:
        return None
    changed = without(schema, "enum")
    if len(named) < len(values):
        changed["nullable"] = True
    if strings:
        changed.setdefault("type", "string")
        changed["enum"] = named
    return changed


def _bound(keyword: str, inclusive: str, step: int) -> Rule:
    def change(schema: Schema) -> Schema | None:
        limit = schema[keyword]
        if isinstance(limit, bool) or not isinstance(limit, (int, float)) or inclusive in schema:
            return None
        whole = isinstance(limit, int) and schema.get("type") in ("integer", "INTEGER")
        rest = without(schema, keyword)
        return {**rest, inclusive: limit + step if whole else limit}

    return Rule("inclusive_bound", keyword, change)


def _known_format(schema: Schema) -> Schema | None:
    name = schema["format"]
    return None if isinstance(name, str) and name in _FORMATS else without(schema, "format")


def _upper_type(schema: Schema) -> Schema | None:
    name = schema["type"]
    return {**schema, "type": name.upper()} if isinstance(name, str) and name in _TYPES else None


OPENAPI_SUBSET = Dialect(
    rules=(
        Rule("single_all_of", "allOf", _only_part),
        Rule("one_of_to_any_of", "oneOf", one_of_to_any_of),
        Rule("nullable", "anyOf", _null_choice),
        Rule("one_type", "type", _one_type),
        Rule("const_to_bounds", "const", _constant),
        Rule("string_enum", "enum", _strings),
        _bound("exclusiveMinimum", "minimum", 1),
        _bound("exclusiveMaximum", "maximum", -1),
        Rule("unknown_format", "format", _known_format),
        Rule("type_spelling", "type", _upper_type),
    ),
    kept=frozenset(
        {
            "anyOf",
            "default",
            "description",
            "enum",
            "example",
            "format",
            "items",
            "maxItems",
            "maxLength",
            "maxProperties",
            "maximum",
            "minItems",
            "minLength",
            "minProperties",
            "minimum",
            "nullable",
            "pattern",
            "properties",
            "propertyOrdering",
            "required",
            "title",
            "type",
        }
    ),
)
"""The schema language of `FunctionDeclaration.parameters`."""


def openapi_subset(schema: Schema, pointer: str, changes: list[Transformation]) -> Schema | None:
    """A tool's parameters in the subset; None where it takes none, for an object without properties is refused."""
    if schema.get("type") == "object" and not schema.get("properties"):
        changes.append(Transformation(pointer, "no_parameters", schema, None))
        return None
    return rewrite(schema, OPENAPI_SUBSET, pointer, changes)
