"""Ways to change a tool's schema that people may name: a keyword to remove, or a rule with a name of its own.

A model's `schema_fallback` and a suite's overlay use the same names. Data and pure functions; the walker is `rewrite`.
What a provider takes is `providers.catalog`'s, what becomes of a verdict is `derive`'s.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec import structs

from callscope.contract import Tool, Transformation
from callscope.errors import InputError
from callscope.rewrite import Dialect, Rule, Schema, rewrite, without

__all__ = [
    "FALLBACK_RULES",
    "REMOVABLE",
    "RULES",
    "change_tools",
    "check_rules",
    "one_of_to_any_of",
    "optional_properties",
]

REMOVABLE = frozenset(
    (
        "additionalProperties", "allOf", "anyOf", "const", "contains", "contentEncoding", "contentMediaType", "default",
        "dependentRequired", "dependentSchemas", "deprecated", "else", "enum", "examples", "exclusiveMaximum",
        "exclusiveMinimum", "format", "if", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum",
        "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "nullable", "oneOf",
        "pattern", "patternProperties", "prefixItems", "propertyNames", "readOnly", "then", "title",
        "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly", "$comment", "$id", "$schema",
    )
)  # fmt: skip
"""Keywords that may be removed. `type`, `properties`, `required` and `items` are what a tool is; `$ref` is inlined."""


def _const_to_enum(schema: Schema) -> Schema | None:
    return None if "enum" in schema else {**without(schema, "const"), "enum": [schema["const"]]}


def one_of_to_any_of(schema: Schema) -> Schema | None:
    """`oneOf` written as `anyOf`; None where there is an `anyOf` beside it."""
    if "anyOf" in schema:
        return None
    return {"anyOf" if name == "oneOf" else name: value for name, value in schema.items()}


def optional_properties(schema: Any) -> tuple[str, ...]:
    """The declared properties that an object schema does not require."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return ()
    return tuple(name for name in properties if not isinstance(required, list) or name not in required)


def _nullable(schema: Any) -> Any:
    """A schema that takes null too, in the plainest way it allows."""
    if not isinstance(schema, dict) or "const" in schema or ("type" not in schema and "enum" not in schema):
        return {"anyOf": [schema, {"type": "null"}]}
    made = dict(schema)
    if "type" in made:
        types = made["type"] if isinstance(made["type"], list) else [made["type"]]
        made["type"] = types if "null" in types else [*types, "null"]
    if isinstance(made.get("enum"), list) and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made


def _all_required_nullable(schema: Schema) -> Schema | None:
    optional = optional_properties(schema)
    if not optional:
        return None
    properties = {name: _nullable(v) if name in optional else v for name, v in schema["properties"].items()}
    return {**schema, "properties": properties, "required": list(properties)}


RULES: dict[str, tuple[Rule, ...]] = {
    "inline-refs": (),
    "const-to-enum": (Rule("const-to-enum", "const", _const_to_enum),),
    "one-of-to-any-of": (Rule("one-of-to-any-of", "oneOf", one_of_to_any_of),),
    "all-required-nullable": (Rule("all-required-nullable", "properties", _all_required_nullable),),
}
"""The named rules, in the order in which they are applied. `inline-refs` writes what a local `$ref` points to in its
place; `all-required-nullable` makes every optional property required and lets it be null."""


FALLBACK_RULES = ("inline-refs", "const-to-enum", "one-of-to-any-of")
"""The named rules of a fallback: they loosen a schema or say the same in other words, so that what keeps the schema as
declared keeps what was sent."""


def check_rules(names: Iterable[str], field: str, rules: Collection[str] = FALLBACK_RULES) -> None:
    """Raise InputError for the first name that is neither one of `rules` nor a removable keyword, or comes twice."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            raise InputError("stands there twice", field=f"{field}[{place}]", found=name)
        if name not in rules and name not in REMOVABLE:
            near = difflib.get_close_matches(name, [*rules, *sorted(REMOVABLE)], n=1)
            hint = f"Did you mean `{near[0]}`?" if near else None
            if name in ("$ref", "$defs", "definitions"):
                hint = "A reference cannot be removed; `inline-refs` writes what it points to in its place"
            expected = f"a JSON Schema keyword that may be removed, or {', '.join(rules)}"
            raise InputError("is no schema rule", field=f"{field}[{place}]", found=name, expected=expected, hint=hint)
        seen.add(name)


def _dialect(names: Sequence[str]) -> Dialect:
    inline = "inline-refs" in names
    return Dialect(
        rules=tuple(rule for name, rules in RULES.items() if name in names for rule in rules),
        dropped=frozenset(names) - set(RULES) | ({"$defs", "definitions"} if inline else set()),
        inline=inline,
        booleans=True,
        maps=("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"),
        lists=("anyOf", "oneOf", "allOf", "prefixItems"),
        ones=(
            "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
            "unevaluatedItems", "unevaluatedProperties",
        ),
        depth=100,
    )  # fmt: skip


def change_tools(tools: tuple[Tool, ...], names: Sequence[str]) -> tuple[tuple[Tool, ...], tuple[Transformation, ...]]:
    """The tools with their schemas changed by the named rules, and every change with its place (`/tools/0/…`).

    Named rules come first, in the order of `RULES`; then the keywords are removed. The order of `names` means nothing.
    """
    if not names:
        return tools, ()
    dialect, changes = _dialect(names), list[Transformation]()
    changed = tuple(
        structs.replace(tool, parameters=rewrite(tool.parameters, dialect, f"/tools/{place}/parameters", changes))
        for place, tool in enumerate(tools)
    )
    return changed, tuple(changes)
