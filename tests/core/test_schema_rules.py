"""Named changes to a tool's schema: what each does, what it records, and that nothing else is touched."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import Tool
from callscope.errors import InputError
from callscope.schema_rules import FALLBACK_RULES, REMOVABLE, RULES, change_tools, check_rules

TEXT = {"type": "string"}


def changed(schema: dict[str, Any], *names: str) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    before = copy.deepcopy(schema)
    (tool,), changes = change_tools((Tool("t", "d", schema),), names)
    assert schema == before
    return tool.parameters, [(one.pointer.removeprefix("/tools/0/parameters"), one.rule) for one in changes]


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


TABLE: list[tuple[tuple[str, ...], dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    (("pattern",), of(pattern={**TEXT, "pattern": "x"}), of(pattern=TEXT),
     [("/properties/pattern/pattern", "keyword_removed")]),
    (("pattern",), of(a={"items": [{"pattern": "x"}], "additionalProperties": False}),
     of(a={"items": [{"pattern": "x"}], "additionalProperties": False}), []),
    (("format",), of(a={"anyOf": [{**TEXT, "format": "date"}, True]}), of(a={"anyOf": [TEXT, True]}),
     [("/properties/a/anyOf/0/format", "keyword_removed")]),
    (("format",), {"$defs": {"d": {"format": "date"}}, "$ref": "#/$defs/d"}, {"$defs": {"d": {}}, "$ref": "#/$defs/d"},
     [("/$defs/d/format", "keyword_removed")]),
    (("const-to-enum",), of(a={"const": 1}), of(a={"enum": [1]}), [("/properties/a/const", "const-to-enum")]),
    (("const-to-enum",), of(a={"const": 1, "enum": [1]}), of(a={"const": 1, "enum": [1]}), []),
    (("one-of-to-any-of",), of(a={"oneOf": [TEXT]}), of(a={"anyOf": [TEXT]}),
     [("/properties/a/oneOf", "one-of-to-any-of")]),
    (("one-of-to-any-of",), of(a={"oneOf": [TEXT], "anyOf": [TEXT]}), of(a={"oneOf": [TEXT], "anyOf": [TEXT]}), []),
    (("inline-refs",), {**of(a={"$ref": "#/$defs/d"}), "$defs": {"d": TEXT}}, of(a=TEXT),
     [("/$defs", "keyword_removed"), ("/properties/a/$ref", "ref_inlined")]),
    (("inline-refs", "pattern"), {**of(a={"$ref": "#/$defs/d"}), "$defs": {"d": {"pattern": "x"}}}, of(a={}),
     [("/$defs", "keyword_removed"), ("/properties/a/$ref", "ref_inlined"),
      ("/properties/a/pattern", "keyword_removed")]),
    (("all-required-nullable",), {"type": "object", "properties": {"a": TEXT}},
     {"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]},
     [("/properties", "all-required-nullable")]),
    (("all-required-nullable",), of(a=TEXT), of(a=TEXT), []),
    (("all-required-nullable",), {"properties": 3}, {"properties": 3}, []),
]  # fmt: skip


@pytest.mark.parametrize(("names", "schema", "after", "changes"), TABLE, ids=lambda value: str(value)[:60])
def test_a_rule_changes_this_and_records_it(
    names: tuple[str, ...], schema: dict[str, Any], after: dict[str, Any], changes: list[tuple[str, str]]
) -> None:
    found, told = changed(schema, *names)
    assert found == after
    assert sorted(told) == sorted(changes)


NULLABLE = [
    (TEXT, {"type": ["string", "null"]}),
    ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
    ({"enum": ["a"]}, {"enum": ["a", None]}),
    ({"type": "string", "enum": ["a", None]}, {"type": ["string", "null"], "enum": ["a", None]}),
    ({"const": 1}, {"anyOf": [{"const": 1}, {"type": "null"}]}),
    ({"anyOf": [TEXT]}, {"anyOf": [{"anyOf": [TEXT]}, {"type": "null"}]}),
    (True, {"anyOf": [True, {"type": "null"}]}),
]


@pytest.mark.parametrize(("schema", "nullable"), NULLABLE, ids=str)
def test_an_optional_property_becomes_one_that_takes_null(schema: Any, nullable: Any) -> None:
    found, _ = changed({"type": "object", "properties": {"a": schema}}, "all-required-nullable")
    assert found["properties"]["a"] == nullable
    validator = jsonschema_rs.Draft202012Validator(found)
    assert validator.is_valid({"a": None})
    assert not validator.is_valid({})


SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer"]),
            "pattern": st.just("^a"),
            "minimum": st.just(2),
            "const": st.sampled_from(["a", 3]),
            "enum": st.just(["a", 3]),
        },
    ),
    lambda inner: st.one_of(
        st.builds(lambda a, b: {"type": "object", "properties": {"p": a, "q": b}}, inner, inner),
        st.builds(lambda a: {"type": "array", "items": a}, inner),
        st.builds(lambda a: {"anyOf": [a, {"type": "null"}]}, inner),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.sampled_from(["a", "b", 1, 3, None]),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("pq"), inner)),
    max_leaves=5,
)


@given(SCHEMAS, VALUES, st.sets(st.sampled_from(["pattern", "minimum", "const-to-enum", "one-of-to-any-of"])))
def test_what_keeps_a_schema_keeps_it_after_a_fallback_too(schema: dict[str, Any], value: Any, names: set[str]) -> None:
    """For keywords that only forbid; removing one inside `not` or `oneOf` may forbid more."""
    found, _ = changed(schema, *names)
    if jsonschema_rs.Draft202012Validator(schema).is_valid(value):
        assert jsonschema_rs.Draft202012Validator(found).is_valid(value)


@given(SCHEMAS, st.permutations(["pattern", "minimum", "const-to-enum"]))
def test_the_order_of_names_means_nothing(schema: dict[str, Any], names: list[str]) -> None:
    assert changed(schema, *names) == changed(schema, *sorted(names))


def test_without_names_the_tools_are_the_same_objects() -> None:
    tools = (Tool("t", "d", of(a=TEXT)),)
    assert change_tools(tools, ())[0] is tools


def test_names_are_checked_and_none_comes_twice() -> None:
    check_rules([*FALLBACK_RULES, *sorted(REMOVABLE)], "f")
    check_rules(RULES, "f", RULES)
    with pytest.raises(InputError, match=r"^f\[1\]: stands there twice \(found pattern\)"):
        check_rules(["pattern", "pattern"], "f")
    with pytest.raises(InputError, match=r"Did you mean `uniqueItems`\?"):
        check_rules(["uniqueItem"], "f")
