"""The probes: one minimal tool for each JSON Schema keyword and combination, with a prompt that tempts to break it.

Data only. `schema` is the schema of the tool's one argument `value` unless `parameters` replaces the whole; a prompt
asks for a value that the keyword forbids (or, for a shape, for one that fits it), so that a keyword which is accepted
and then ignored shows in the arguments. The list follows the schema limits that providers state.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

__all__ = ["CONTROL", "FALLBACKS", "PROBES", "Probe", "tool_name"]

CONTROL = "control"
"""The probe without any keyword: where it fails, the model cannot be probed at all."""


class Probe(Struct, frozen=True):
    """One probe. `keyword` groups probes in the table; `extra_tools` adds that many plain tools beside the probed one.
    `meets` is what the value must meet beyond the schema, where a validator does not assert the keyword (`format`).

    `rewrite` is the schema transformation suggested where a provider rejects the keyword.
    """

    id: str
    keyword: str
    prompt: str
    schema: dict[str, Any] | None = None
    parameters: dict[str, Any] | None = None
    name: str | None = None
    extra_tools: int = 0
    meets: dict[str, Any] = {}
    rewrite: str = "remove the keyword and say the constraint in the description"


def tool_name(probe: Probe) -> str:
    """The name of the probed tool."""
    return probe.name or f"probe_{probe.id.replace('-', '_')}"


def _ask(value: str) -> str:
    return f"Record the value {value}, exactly as I wrote it."


_TEXT = {"type": "string"}
_PLACE = {"type": "object", "properties": {"city": _TEXT}, "required": ["city"], "additionalProperties": False}


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = _TEXT
    for level in range(levels, 0, -1):
        name = f"level_{level}"
        schema = {"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": False}
    return schema


PROBES: tuple[Probe, ...] = (
    Probe(CONTROL, "type", _ask('"blue"'), _TEXT),
    Probe("pattern", "pattern", _ask('"hello"'), {**_TEXT, "pattern": "^ORD-[0-9]{6}$"}),
    Probe(
        "format-date",
        "format",
        _ask('"the day after tomorrow"'),
        {**_TEXT, "format": "date"},
        meets={"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
    ),
    Probe(
        "format-email",
        "format",
        _ask('"not an address"'),
        {**_TEXT, "format": "email"},
        meets={"pattern": "^[^@ ]+@[^@ ]+$"},
    ),
    Probe("minimum", "minimum", _ask("-7"), {"type": "integer", "minimum": 1}),
    Probe("maximum", "maximum", _ask("9000"), {"type": "integer", "maximum": 20}),
    Probe("exclusive-minimum", "exclusiveMinimum", _ask("0"), {"type": "number", "exclusiveMinimum": 0}),
    Probe("multiple-of", "multipleOf", _ask("7"), {"type": "integer", "multipleOf": 5}),
    Probe("min-length", "minLength", _ask('"ab"'), {**_TEXT, "minLength": 5}),
    Probe("max-length", "maxLength", _ask('"a rather long sentence"'), {**_TEXT, "maxLength": 4}),
    Probe("enum-strings", "enum", _ask('"purple"'), {**_TEXT, "enum": ["red", "green"]}),
    Probe(
        "enum-integers",
        "enum",
        _ask("5"),
        {"type": "integer", "enum": [1, 2, 3]},
        rewrite="write the numbers as minimum and maximum, or as strings",
    ),
    Probe("const", "const", _ask('"beta"'), {**_TEXT, "const": "alpha"}, rewrite="write an enum of one value"),
    Probe("any-of", "anyOf", _ask("true"), {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 3}]}),
    Probe(
        "one-of",
        "oneOf",
        _ask("true"),
        {"oneOf": [{"type": "integer"}, {"type": "string", "maxLength": 3}]},
        rewrite="write anyOf",
    ),
    Probe(
        "all-of",
        "allOf",
        _ask("3"),
        {"allOf": [{"type": "integer"}, {"minimum": 10}]},
        rewrite="merge the parts into one schema",
    ),
    Probe("not", "not", _ask('"secret"'), {"type": "string", "not": {"enum": ["secret"]}}),
    Probe(
        "ref",
        "$ref",
        'Record the city "Oslo".',
        parameters={
            "type": "object",
            "properties": {"value": {"$ref": "#/$defs/place"}},
            "required": ["value"],
            "additionalProperties": False,
            "$defs": {"place": _PLACE},
        },
        rewrite="write the definition in place",
    ),
    Probe(
        "recursion",
        "$ref",
        'Record the folder "a" that holds the folder "b".',
        parameters={
            "type": "object",
            "properties": {"value": {"$ref": "#/$defs/folder"}},
            "required": ["value"],
            "additionalProperties": False,
            "$defs": {
                "folder": {
                    "type": "object",
                    "properties": {"name": _TEXT, "holds": {"type": "array", "items": {"$ref": "#/$defs/folder"}}},
                    "required": ["name"],
                    "additionalProperties": False,
                }
            },
        },
        rewrite="write the definition in place to a fixed depth",
    ),
    Probe(
        "additional-properties",
        "additionalProperties",
        'Record the city "Oslo", with the extra field mood "sunny".',
        _PLACE,
    ),
    Probe(
        "additional-properties-schema",
        "additionalProperties",
        'Record the scores ann: "high" and bob: "low", as text.',
        {"type": "object", "additionalProperties": {"type": "integer"}},
        rewrite="write an array of key and value pairs",
    ),
    Probe(
        "pattern-properties",
        "patternProperties",
        'Record the entries one: "1" and two: "2", as text.',
        {"type": "object", "patternProperties": {"^[a-z]+$": {"type": "integer"}}, "additionalProperties": False},
        rewrite="write an array of key and value pairs",
    ),
    Probe("nullable-type-list", "null in type", "Record that there is no value: null.", {"type": ["string", "null"]}),
    Probe(
        "nullable-any-of",
        "null in anyOf",
        "Record that there is no value: null.",
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        rewrite='write {"type": [T, "null"]}',
    ),
    Probe(
        "nullable-keyword",
        "nullable",
        "Record that there is no value: null.",
        {"type": "string", "nullable": True},
        rewrite='write {"type": [T, "null"]}',
    ),
    Probe(
        "default",
        "default",
        "Record an entry and give no value.",
        parameters={
            "type": "object",
            "properties": {"value": {"type": "integer", "default": 5}},
            "required": [],
            "additionalProperties": False,
        },
    ),
    Probe(
        "min-items",
        "minItems",
        "Record the list that holds only 1.",
        {"type": "array", "items": {"type": "integer"}, "minItems": 3},
    ),
    Probe(
        "unique-items",
        "uniqueItems",
        "Record the list 4, 4, 4.",
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    ),
    Probe(
        "tuple",
        "prefixItems",
        'Record the pair 3 and "x", in the order "x", 3.',
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False, "minItems": 2},
        rewrite="write an object with named fields",
    ),
    Probe(
        "array-without-items", "items", "Record the list 1, 2, 3.", {"type": "array"}, rewrite="give the items a type"
    ),
    Probe(
        "empty-properties",
        "properties",
        "Ring the bell.",
        parameters={"type": "object", "properties": {}, "additionalProperties": False},
        rewrite="add an optional argument that is not used",
    ),
    Probe(
        "deep-nesting", "nesting", 'Record "deep" at the innermost level.', _nested(8), rewrite="write a flatter object"
    ),
    Probe("many-tools", "number of tools", _ask('"blue"'), _TEXT, extra_tools=129, rewrite="offer fewer tools"),
    Probe("long-name", "name", _ask('"blue"'), _TEXT, name="probe_" + "n" * 58, rewrite="shorten the name"),
    Probe("longer-name", "name", _ask('"blue"'), _TEXT, name="probe_" + "n" * 94, rewrite="shorten the name"),
    Probe("dotted-name", "name", _ask('"blue"'), _TEXT, name="probe.dotted", rewrite="write `_` in place of `.`"),
    Probe(
        "top-level-any-of",
        "anyOf at the root",
        'Record the city "Oslo".',
        parameters={
            "type": "object",
            "properties": {"city": _TEXT, "code": _TEXT},
            "anyOf": [{"required": ["city"]}, {"required": ["code"]}],
            "additionalProperties": False,
        },
        rewrite="say the condition in the description",
    ),
    Probe(
        "if-then",
        "if/then/else",
        'Record kind "parcel" and give no weight.',
        parameters={
            "type": "object",
            "properties": {"kind": {**_TEXT, "enum": ["letter", "parcel"]}, "grams": {"type": "integer"}},
            "required": ["kind"],
            "if": {"properties": {"kind": {"enum": ["parcel"]}}},
            "then": {"required": ["grams"]},
            "additionalProperties": False,
        },
        rewrite="say the condition in the description",
    ),
)

FALLBACKS: dict[str, tuple[str, ...]] = {
    "pattern": ("pattern",),
    "format-date": ("format",),
    "format-email": ("format",),
    "minimum": ("minimum",),
    "maximum": ("maximum",),
    "exclusive-minimum": ("exclusiveMinimum",),
    "multiple-of": ("multipleOf",),
    "min-length": ("minLength",),
    "max-length": ("maxLength",),
    "enum-strings": ("enum",),
    "enum-integers": ("enum",),
    "const": ("const-to-enum",),
    "any-of": ("anyOf",),
    "one-of": ("one-of-to-any-of",),
    "all-of": ("allOf",),
    "not": ("not",),
    "ref": ("inline-refs",),
    "recursion": ("inline-refs",),
    "additional-properties": ("additionalProperties",),
    "additional-properties-schema": ("additionalProperties",),
    "pattern-properties": ("patternProperties",),
    "nullable-any-of": ("anyOf",),
    "nullable-keyword": ("nullable",),
    "default": ("default",),
    "min-items": ("minItems",),
    "unique-items": ("uniqueItems",),
    "tuple": ("prefixItems",),
    "top-level-any-of": ("anyOf",),
    "if-then": (
        "if",
        "then",
        "else",
    ),
}
"""Probe id -> what in a model's `schema_fallback` gets its keyword out of the way; a probe without one has no such
rule, because removing the thing would leave no tool (names, numbers of tools, types)."""
