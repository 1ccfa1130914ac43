"""A JSON Schema becomes Gemini's OpenAPI subset by rules that are data; every change is in the record."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import validator_for

from callscope.contract import Transformation
from callscope.providers.gemini_schema import OPENAPI_SUBSET, openapi_subset
from callscope.rewrite import Dialect, Rule, escape_pointer, rewrite


def rewritten(schema: Any) -> tuple[Any, list[tuple[str, str]]]:
    """The schema of one parameter rewritten, and what was done to it as (place, rule), spellings of types apart."""
    changes: list[Transformation] = []
    whole = openapi_subset({"type": "object", "properties": {"x": schema}}, "", changes)
    assert whole is not None
    done = [(t.pointer.removeprefix("/properties/x"), t.rule) for t in changes if t.rule != "type_spelling"]
    return whole["properties"]["x"], done


@pytest.mark.parametrize(
    ("before", "after", "done"),
    [
        ({"type": "string", "minLength": 1}, {"type": "STRING", "minLength": 1}, []),
        ({"type": ["string", "null"]}, {"nullable": True, "type": "STRING"}, [("/type", "one_type")]),
        ({"type": ["null"]}, {"type": "NULL"}, [("/type", "one_type")]),
        (
            {"type": ["string", "integer"]},
            {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]},
            [("/type", "one_type")],
        ),
        (
            {"type": ["string", "integer"], "anyOf": [{"minLength": 1}]},
            {"anyOf": [{"minLength": 1}]},
            [("/type", "one_type")],
        ),
        ({"type": 7}, {"type": 7}, []),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "d"},
            {"type": "INTEGER", "description": "d", "nullable": True},
            [("/anyOf", "nullable")],
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
            {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}], "nullable": True},
            [("/anyOf", "nullable")],
        ),
        ({"anyOf": [{"type": "null"}]}, {"anyOf": [{"type": "NULL"}]}, []),
        ({"anyOf": "x"}, {"anyOf": "x"}, []),
        ({"oneOf": [{"type": "string"}]}, {"anyOf": [{"type": "STRING"}]}, [("/oneOf", "one_of_to_any_of")]),
        ({"oneOf": [{}], "anyOf": [{}]}, {"anyOf": [{}]}, [("/oneOf", "keyword_removed")]),
        (
            {"allOf": [{"type": "string"}], "title": "t"},
            {"type": "STRING", "title": "t"},
            [("/allOf", "single_all_of")],
        ),
        ({"allOf": [{}, {}]}, {}, [("/allOf", "keyword_removed")]),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}, [("/const", "const_to_bounds")]),
        ({"const": 3}, {"type": "INTEGER", "minimum": 3, "maximum": 3}, [("/const", "const_to_bounds")]),
        ({"const": 1.5}, {"type": "NUMBER", "minimum": 1.5, "maximum": 1.5}, [("/const", "const_to_bounds")]),
        ({"const": True, "type": "boolean"}, {"type": "BOOLEAN"}, [("/const", "const_to_bounds")]),
        ({"enum": ["a", "b"]}, {"type": "STRING", "enum": ["a", "b"]}, [("/enum", "string_enum")]),
        ({"enum": ["a", None]}, {"nullable": True, "type": "STRING", "enum": ["a"]}, [("/enum", "string_enum")]),
        ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER"}, [("/enum", "string_enum")]),
        ({"enum": "a"}, {"enum": "a"}, []),
        (
            {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
            {"type": "INTEGER", "minimum": 1, "maximum": 8},
            [("/exclusiveMinimum", "inclusive_bound"), ("/exclusiveMaximum", "inclusive_bound")],
        ),
        (
            {"type": "number", "exclusiveMinimum": 0.5},
            {"type": "NUMBER", "minimum": 0.5},
            [("/exclusiveMinimum", "inclusive_bound")],
        ),
        (
            {"type": "number", "exclusiveMinimum": True},
            {"type": "NUMBER"},
            [("/exclusiveMinimum", "keyword_removed")],
        ),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}, []),
        ({"type": "string", "format": "email"}, {"type": "STRING"}, [("/format", "unknown_format")]),
        (True, {}, [("", "boolean_schema")]),
        (
            {"type": "array", "items": {"type": "string", "not": {}}, "uniqueItems": True},
            {"type": "ARRAY", "items": {"type": "STRING"}},
            [("/uniqueItems", "keyword_removed"), ("/items/not", "keyword_removed")],
        ),
        (
            {"type": "object", "properties": {"a/b~": {"const": "x"}}, "patternProperties": {}},
            {"type": "OBJECT", "properties": {"a/b~": {"type": "STRING", "enum": ["x"]}}},
            [("/patternProperties", "keyword_removed"), ("/properties/a~1b~0/const", "const_to_bounds")],
        ),
        ({"$ref": "#/nowhere", "title": "t"}, {"title": "t"}, [("/$ref", "unknown_ref")]),
        ({"$ref": "https://x/y"}, {}, [("/$ref", "unknown_ref")]),
        ({"$ref": 7}, {}, [("/$ref", "keyword_removed")]),
    ],
)
def test_each_rule_keeps_what_the_subset_can_say(before: Any, after: Any, done: list[tuple[str, str]]) -> None:
    untouched = copy.deepcopy(before)
    assert rewritten(before) == (after, done)
    assert before == untouched


def test_references_give_way_and_recursion_ends() -> None:
    changes: list[Transformation] = []
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"allOf": [{"$ref": "#/$defs/N"}]}}}
    schema = {
        "type": "object",
        "properties": {"head": {"$ref": "#/$defs/Node", "description": "first"}},
        "$defs": {"Node": node, "N": {"$ref": "#/$defs/M"}, "M": {"type": "integer"}},
    }
    assert openapi_subset(schema, "/p", changes) == {
        "type": "OBJECT",
        "properties": {
            "head": {
                "type": "OBJECT",
                "properties": {"next": {}, "n": {"type": "INTEGER"}},
                "description": "first",
            }
        },
    }
    done = [(t.pointer, t.rule) for t in changes if t.rule.endswith("_ref") or t.rule == "ref_inlined"]
    assert done == [
        ("/p/properties/head/$ref", "ref_inlined"),
        ("/p/properties/head/properties/next/$ref", "recursive_ref"),
        ("/p/properties/head/properties/n/$ref", "ref_inlined"),
        ("/p/properties/head/properties/n/$ref", "ref_inlined"),
    ]


def test_what_is_nested_too_deep_is_emptied() -> None:
    schema: Any = {"type": "string"}
    for _ in range(OPENAPI_SUBSET.depth + 1):
        schema = {"type": "array", "items": schema}
    changes: list[Transformation] = []
    rewrite(schema, OPENAPI_SUBSET, "", changes)
    assert [t.rule for t in changes if t.rule != "type_spelling"] == ["too_deep"]


def test_rules_that_never_agree_are_stopped() -> None:
    flip = Rule("flip", "a", lambda schema: {"a": not schema["a"]})
    assert rewrite({"a": True}, Dialect((flip,), frozenset({"a"})), "", changes := []) == {"a": True}
    assert len(changes) == 8


def test_a_tool_without_parameters_has_none() -> None:
    changes: list[Transformation] = []
    assert openapi_subset({"type": "object"}, "/p", changes) is None
    assert changes == [Transformation("/p", "no_parameters", {"type": "object"}, None)]
    assert openapi_subset({"description": "anything"}, "/p", changes) == {"description": "anything"}


LEAVES = st.one_of(
    st.just({"type": "string", "maxLength": 3}),
    st.just({"type": "integer", "exclusiveMinimum": 0, "multipleOf": 2}),
    st.just({"type": ["boolean", "null"]}),
    st.just({"enum": ["a", "b", None]}),
    st.just({"const": 4}),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda s: {"type": "array", "items": s, "minItems": 1}),
        st.lists(inner, min_size=1, max_size=3).map(lambda many: {"anyOf": many}),
        st.lists(inner, min_size=1, max_size=1).map(lambda many: {"allOf": many}),
        st.dictionaries(st.sampled_from("ab"), inner, min_size=1).map(
            lambda p: {"type": "object", "properties": p, "required": sorted(p), "additionalProperties": False}
        ),
    ),
    max_leaves=6,
)


def as_json_schema(schema: Any) -> Any:
    """The subset's own words back in JSON Schema, for the oracle."""
    if isinstance(schema, list):
        return [as_json_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {k: v.lower() if k == "type" else as_json_schema(v) for k, v in schema.items() if k != "nullable"}
    return {"anyOf": [changed, {"type": "null"}]} if schema.get("nullable") else changed


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 6), st.sampled_from(["a", "b", "abcd"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abc"), inner, max_size=2)),
    max_leaves=5,
)


@given(SCHEMAS, st.lists(VALUES, min_size=1, max_size=8))
def test_whatever_the_schema_allowed_its_rewriting_allows(schema: Any, values: list[Any]) -> None:
    after = as_json_schema(rewrite(schema, OPENAPI_SUBSET, "", []))
    before_says, after_says = validator_for(schema), validator_for(after)
    for value in values:
        assert after_says.is_valid(value) or not before_says.is_valid(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*OPENAPI_SUBSET.kept, "$ref", "allOf", "oneOf", "const", "exclusiveMinimum"]),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_any_schema_is_rewritten_without_an_exception(schema: Any) -> None:
    if isinstance(schema, dict):
        rewrite(schema, OPENAPI_SUBSET, "", [])


def test_pointers_are_escaped() -> None:
    assert escape_pointer("a/b~c") == "a~1b~0c"
