"""Tools against schema limits: each limit finds its own breach at its own place, and nothing where there is none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import Tool
from callscope.providers.catalog import SchemaLimits, dialects
from callscope.providers.schemas import check_tools, nodes

OBJECT = {"type": "object", "properties": {}}


def tool(parameters: dict[str, Any], name: str = "t") -> Tool:
    return Tool(name, "Does.", parameters)


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


NODE = {"properties": {"c": {"$ref": "#/$defs/n"}}}
LOOP = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": NODE}}
SLASHES = {"type": "object", "properties": {"a": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": {"type": "string"}}}
FAR = {"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}, "b": {"$ref": "#/nowhere/at/all"}}}

# limits, parameters, the paths below `parameters` at which something is found
ONE_LIMIT: list[tuple[SchemaLimits, dict[str, Any], list[tuple[Any, ...]]]] = [
    (SchemaLimits(object_root=True), {"type": "array"}, [()]),
    (SchemaLimits(object_root=True), {}, [()]),
    (SchemaLimits(object_root=True), OBJECT, []),
    (SchemaLimits(refused_at_root=("anyOf",)), {**OBJECT, "anyOf": []}, [("anyOf",)]),
    (SchemaLimits(refused_at_root=("anyOf",)), of(x={"anyOf": [{}]}), []),
    (SchemaLimits(refused=("anyOf",), refused_at_root=("anyOf",)), {**OBJECT, "anyOf": []}, [("anyOf",)]),
    (SchemaLimits(refused=("pattern",)), of(x={"pattern": "a"}), [("properties", "x", "pattern")]),
    (
        SchemaLimits(refused=("pattern",)),
        of(x={"items": {"anyOf": [{"type": "null"}, {"pattern": "a"}]}}),
        [("properties", "x", "items", "anyOf", 1, "pattern")],
    ),
    (SchemaLimits(refused=("pattern",)), of(pattern={"type": "string", "enum": ["pattern"]}), []),
    (SchemaLimits(dropped=("title",)), of(x={"title": "a"}), [("properties", "x", "title")]),
    (SchemaLimits(one_required=True), OBJECT, [()]),
    (SchemaLimits(one_required=True), of(x={}), []),
    (SchemaLimits(recursion=False), LOOP, [()]),
    (SchemaLimits(recursion=False), of(x={"$ref": "#"}), [()]),
    (SchemaLimits(recursion=False), SLASHES, []),
    (SchemaLimits(recursion=False), FAR, []),
    (SchemaLimits(), LOOP, []),
    (SchemaLimits(formats=("date",)), of(x={"format": "uri"}, y={"format": "date"}), [("properties", "x", "format")]),
    (SchemaLimits(min_items=(0, 1)), of(x={"minItems": 2}, y={"minItems": 1}), [("properties", "x", "minItems")]),
    (SchemaLimits(string_enums=True), of(x={"enum": ["a", 1]}, y={"enum": ["a"]}), [("properties", "x", "enum")]),
    (SchemaLimits(type_lists=False), of(x={"type": ["string", "null"]}), [("properties", "x", "type")]),
    (SchemaLimits(lone_ref=True), of(x={"$ref": "#/$defs/a", "title": "b"}), [("properties", "x", "$ref")]),
    (SchemaLimits(lone_ref=True), of(x={"$ref": "#/$defs/a"}), []),
    (SchemaLimits(typed_items=True), of(x={"type": "array"}), [("properties", "x", "items")]),
    (SchemaLimits(typed_items=True), of(x={"type": "array", "prefixItems": [{}]}), []),
    (SchemaLimits(closed=True), of(), [("additionalProperties",)]),
    (SchemaLimits(closed=True), {**of(), "additionalProperties": False}, []),
    (
        SchemaLimits(closed=True),
        {**of(x={"type": ["object", "null"]}), "additionalProperties": False},
        [("properties", "x", "additionalProperties")],
    ),
    (SchemaLimits(all_required=True), {**of(x={}), "required": []}, [("required",)]),
    (SchemaLimits(all_required=True), {**of(x={}), "required": "x"}, [("required",)]),
    (SchemaLimits(all_required=True), of(x={}), []),
    (SchemaLimits(parameter_name="[a-z]+"), of(x={}, y1={}), [("properties", "y1")]),
    (SchemaLimits(ignored=("pattern",)), of(x={"pattern": "a"}, y={"pattern": "b"}), [("properties", "x", "pattern")]),
    (SchemaLimits(ignored=("*",)), of(x={"maxLength": 1, "title": "t"}), [("properties", "x", "maxLength")]),
    (SchemaLimits(ignored=("*",), refused=("maxLength",)), of(x={"maxLength": 1}), [("properties", "x", "maxLength")]),
]  # fmt: skip


@pytest.mark.parametrize(("limits", "parameters", "places"), ONE_LIMIT, ids=str)
def test_a_limit_finds_its_breach_at_its_place(
    limits: SchemaLimits, parameters: dict[str, Any], places: list[tuple[Any, ...]]
) -> None:
    found = check_tools([tool(OBJECT, "first"), tool(parameters)], limits)
    assert [breach.path for breach in found if breach.tool == "t"] == [(1, "parameters", *place) for place in places]
    assert all(breach.message for breach in found)


def test_what_has_no_effect_is_said_once_with_its_number() -> None:
    (breach,) = check_tools([tool(of(x={"pattern": "a"}, y={"pattern": "b"}))], SchemaLimits(ignored=("*",)))
    assert (breach.severity, breach.message) == ("info", "`pattern` is taken as a hint and not enforced (2 places)")


def test_names_are_matched_whole() -> None:
    tools = [tool(OBJECT, "good_name"), tool(OBJECT, "bad.name"), tool(OBJECT, "x" * 65)]
    found = check_tools(tools, SchemaLimits(tool_name="[a-z_]{1,64}"))
    assert [(breach.tool, breach.path) for breach in found] == [("bad.name", (1, "name")), ("x" * 65, (2, "name"))]


DEEP = of(a=of(b=of(c={"type": "array", "items": {"type": "string"}})))
OPTIONAL = {"type": "object", "properties": {"a": {}, "b": {"type": ["string", "null"]}, "c": {"anyOf": []}}}
ENUMS = of(a={"enum": ["ab", 10]}, b={"const": "xyz"})
COUNTS = [
    ("max_tools", [tool(OBJECT)] * 3, 3),
    ("max_depth", [tool(DEEP)], 5),
    ("max_properties", [tool(DEEP), tool(of(x={}))], 4),
    ("max_optional", [tool(OPTIONAL)], 3),
    ("max_unions", [tool(OPTIONAL)], 2),
    ("max_enum_values", [tool(ENUMS)], 2),
    ("max_schema_text", [tool(ENUMS)], 1 + 1 + 2 + 2 + 3),
]


@pytest.mark.parametrize(("limit", "tools", "count"), COUNTS, ids=lambda value: value if isinstance(value, str) else "")
def test_counts_are_over_the_whole_request_and_the_bound_itself_is_taken(
    limit: str, tools: list[Tool], count: int
) -> None:
    assert check_tools(tools, SchemaLimits(**{limit: count})) == []
    (breach,) = check_tools(tools, SchemaLimits(**{limit: count - 1}))
    assert (breach.limit, breach.tool, breach.path) == (limit, None, ())
    assert breach.message.startswith(f"{count} ")


def test_no_tools_are_within_all_limits() -> None:
    assert check_tools([], SchemaLimits(max_depth=0, max_tools=0, object_root=True)) == []


SCHEMAS = st.recursive(
    st.sampled_from([{}, {"type": "string"}, {"$ref": "#"}, {"enum": [1, None]}, True, None, 3, "x", []]),
    lambda inner: st.dictionaries(
        st.sampled_from(
            ["type", "properties", "required", "items", "anyOf", "$ref", "$defs", "enum", "const", "format", "minItems",
             "not", "prefixItems", "patternProperties", "additionalProperties"]
        ),
        st.one_of(inner, st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
        max_size=3,
    ),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["type", "properties", "$defs", "required", "enum", "items"]), SCHEMAS))
def test_any_schema_is_walked_to_its_end(parameters: dict[str, Any]) -> None:
    every = SchemaLimits(
        object_root=True, recursion=False, closed=True, all_required=True, typed_items=True, string_enums=True,
        type_lists=False, lone_ref=True, formats=(), min_items=(), max_depth=1, max_enum_values=0, max_schema_text=0,
        ignored=("*",), one_required=True, parameter_name="b",
    )  # fmt: skip
    for limits in (every, *(d.plain for d in dialects().values())):
        for breach in check_tools([tool(parameters)], limits):
            assert breach.severity in {"warning", "info"}
    assert next(nodes([tool(parameters)])).depth == 1
