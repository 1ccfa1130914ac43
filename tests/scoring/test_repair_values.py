"""Each repair of a value: what it changes, and what it leaves alone because it would be a guess."""

from __future__ import annotations

from typing import Any

import pytest
from scoring_kit import call, calls, one_tool

from callscope.contract import Repair, ToolCalls
from callscope.scoring.repair import REPAIRS, repair
from callscope.scoring.repair.units import About, in_named_unit

INT = {"type": "integer"}
NULLABLE = {"anyOf": [INT, {"type": "null"}]}


def schema(about: dict[str, Any], name: str = "x", **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: about}, **more}


def steps(properties: dict[str, Any], **arguments: Any) -> tuple[Repair, ...]:
    found = repair(calls(call("f", **arguments)), one_tool(properties))
    return () if found is None else found.steps


def mended(about: dict[str, Any], value: Any) -> list[tuple[str, Any]]:
    return [(step.name, step.after) for step in steps(schema(about), x=value)]


ONE = [
    ("scalar_type", INT, "5", 5),
    ("scalar_type", INT, " -12 ", -12),
    ("scalar_type", INT, "5.0", 5),
    ("scalar_type", INT, "9007199254740993", 9007199254740993),
    ("scalar_type", {"type": "number"}, "5", 5),
    ("scalar_type", {"type": "number"}, "-0.25", -0.25),
    ("scalar_type", {"type": "boolean"}, "true", True),
    ("scalar_type", {"type": "boolean"}, "False", False),
    ("scalar_type", {"type": ["integer", "null"]}, "null", None),
    ("scalar_type", {"type": "string"}, 5, "5"),
    ("scalar_type", {"type": "string"}, 2.5, "2.5"),
    ("scalar_type", {"enum": [1, 2]}, "2", 2),
    ("scalar_type", {"const": True}, "true", True),
    ("scalar_type", {"enum": ["1", "2"]}, 2, "2"),
    ("scalar_type", NULLABLE, "7", 7),
    ("scalar_type", NULLABLE, "null", None),
    ("scalar_type", {"allOf": [INT]}, "7", 7),
    ("scalar_type", {"$ref": "#/$defs/n"}, "7", 7),
    ("enum_case", {"enum": ["express", "standard"]}, "Express", "express"),
    ("enum_case", {"enum": ["in_stock", "sold_out"]}, "IN STOCK", "in_stock"),
    ("enum_case", {"enum": ["InStock"]}, "in-stock", "InStock"),
    ("enum_case", {"enum": ["express"]}, " 'express' ", "express"),
    ("enum_case", {"enum": ["express"]}, "Express.", "express"),
    ("enum_case", {"const": "EUR"}, "eur", "EUR"),
    ("enum_case", {"enum": ["Zürich"]}, "zu\u0308rich", "Zürich"),
    ("enum_case", {"type": "string", "enum": ["a", "B"]}, "b", "B"),
    ("pattern_case", {"pattern": "^[A-Z]{2}$"}, "ca", "CA"),
    ("pattern_case", {"pattern": "^ORD-[0-9]{6}$"}, "ord-104821", "ORD-104821"),
    ("pattern_case", {"pattern": "^[a-z]+$"}, "ABC", "abc"),
    ("unwrap_double_encoded", {"type": "array"}, "[1, 2]", [1, 2]),
    ("unwrap_double_encoded", {"type": "object"}, '{"a": "5"}', {"a": "5"}),
    ("unwrap_double_encoded", {"type": "array"}, "['a', 'b',]", ["a", "b"]),
    ("unwrap_double_encoded", {"anyOf": [{"type": "null"}, {"type": "array"}]}, "[]", []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "about", "value", "after"), ONE)
def test_a_value_with_one_reading_is_repaired(name: str, about: dict[str, Any], value: Any, after: Any) -> None:
    (step,) = steps(schema(about, **{"$defs": {"n": INT}}), x=value)
    assert (step.pointer, step.name, step.before) == ("/calls/0/arguments/x", name, value)
    assert repr(step.after) == repr(after)


LEFT = [
    (INT, "02139"),
    (INT, "+5"),
    (INT, "1,000"),
    (INT, "1e3"),
    (INT, "5.5"),
    (INT, "five"),
    (INT, ""),
    (INT, True),
    (INT, 5.5),
    (INT, "9" * 60),
    ({"type": "integer", "maximum": 20}, "500"),
    ({"type": "number"}, "0.12345678901234567"),
    ({"type": "boolean"}, "yes"),
    ({"type": "boolean"}, 1),
    ({"type": "string"}, True),
    ({"type": "string"}, 5.0),
    ({"type": "string"}, 1e16),
    ({"type": "string"}, None),
    ({"type": "string", "pattern": "^[0-9]{5}$"}, 2139),
    ({"enum": ["express", "standard"]}, "fast"),
    ({"enum": ["C", "D"]}, "C#"),
    ({"enum": ["1.5"]}, "15"),
    ({"enum": ["1-5"]}, "15"),
    ({"enum": ["-1", "2"]}, "1"),
    ({"enum": ["ab", "AB"]}, "Ab"),
    ({"enum": ["express"]}, ""),
    ({"enum": [1, None]}, "one"),
    ({"pattern": "^([A-Z]+|[a-z]+)$"}, "Ab"),
    ({"pattern": "^[A-Z]{2}$"}, "Canada"),
    ({"pattern": "^[A-Z]+$"}, "straße"),
    ({"pattern": "^x$"}, "1"),
    ({"type": "array"}, "a,b"),
    ({"type": "array"}, "[1, 2"),
    ({"type": "array"}, "[1] x ["),
    ({"type": "array"}, '{"a": 1}'),
    ({"type": "object"}, '{"a": 1, "a": 2}'),
    ({"type": "array", "items": {"type": "array"}}, ["[" * 200 + "]" * 200]),
    (INT, "[5]"),
    ({"oneOf": [INT, {"type": "number"}]}, 5),
    ({"not": INT}, 5),
    (False, 5),
]  # fmt: skip


@pytest.mark.parametrize(("about", "value"), LEFT)
def test_a_value_without_one_reading_is_left(about: Any, value: Any) -> None:
    assert steps(schema(about), x=value) == ()


def test_what_was_unwrapped_is_repaired_inside() -> None:
    about = {"type": "array", "items": {"type": "object", "properties": {"n": INT}, "additionalProperties": False}}
    found = steps(schema(about), x='[{"n": "5", "m": 1}]')
    assert [(step.pointer.removeprefix("/calls/0/arguments"), step.name) for step in found] == [
        ("/x", "unwrap_double_encoded"),
        ("/x/0/n", "scalar_type"),
        ("/x/0/m", "drop_unknown"),
    ]


def test_an_unwrapped_value_may_still_be_wrong_inside() -> None:
    about = {"type": "object", "required": ["q"]}
    assert mended(about, '{"a": 1}') == [("unwrap_double_encoded", {"a": 1})]
    assert mended({"anyOf": [about, {"type": "null"}]}, '{"a": 1}') == []


def test_alternatives_are_tried_in_order_and_kept_only_whole() -> None:
    item = {"type": "object", "properties": {"n": INT, "b": {"type": "boolean"}}, "required": ["n"]}
    either = {"anyOf": [{**item, "required": ["q"]}, item, {"type": "null"}]}
    assert mended(either, {"n": "5", "b": "true"}) == [("scalar_type", 5), ("scalar_type", True)]
    assert mended({"anyOf": [INT, {"type": "boolean"}]}, "1") == [("scalar_type", 1)]
    assert mended({"oneOf": [{"anyOf": [INT, {"type": "null"}]}, {"type": "boolean"}]}, "TRUE") == [
        ("scalar_type", True)
    ]
    assert mended({"oneOf": [{"anyOf": [INT, {"type": "null"}]}, {"type": "boolean"}]}, "8") == [("scalar_type", 8)]
    assert mended(either, {"n": "five", "b": "true"}) == []


def test_dropping_names_each_member_and_stops_where_it_would_break_something() -> None:
    closed = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    found = steps(closed, a=1, b=2, **{"c/d": None})
    assert [(step.pointer, step.name, step.before) for step in found] == [
        ("/calls/0/arguments/b", "drop_unknown", 2),
        ("/calls/0/arguments/c~1d", "drop_unknown", None),
    ]
    assert steps({**closed, "minProperties": 2}, a=1, b=2) == ()
    assert steps({"unevaluatedProperties": False}, b=2) == ()
    assert steps({"additionalProperties": INT}, b="2")[0].name == "scalar_type"


def test_a_repair_that_makes_something_else_wrong_is_none() -> None:
    about = {
        "type": "object",
        "properties": {"a": INT},
        "if": {"properties": {"a": INT}},
        "then": {"required": ["b"]},
    }
    assert steps(about, a="5") == ()


UNITS = [
    ("weight_grams", "", "1 kg", 1000),
    ("weight_grams", "", "750g", 750),
    ("weight_grams", "", "750 Grams", 750),
    ("weightKg", "", "500 g", 0.5),
    ("weight_g", "", "1 lb", 453.59237),
    ("weight", "Weight in grams.", "0.5 kg", 500),
    ("weight", "Weight (kg).", "2000 g", 2),
    ("weight", "Given in kg", "2000 g", 2),
    ("length_cm", "", "1.5 m", 150),
    ("depth", "Depth in metres", "10 ft", 3.048),
    ("timeout_ms", "", "2 s", 2000),
    ("timeout_seconds", "", "5 min", 300),
    ("delay_min", "", "1 hour", 60),
    ("temperature_c", "", "50 °F", 10),
    ("temperature", "In Celsius.", "-40 F", -40),
    ("temperature_kelvin", "", "0 C", 273.15),
    # whatever is not certain
    ("weight", "", "1 kg", None),
    ("weight", "Weight in grams or pounds.", "1 kg", None),
    ("weight_grams_lb", "", "1 kg", None),
    ("weight_grams", "", "1 m", None),
    ("weight_grams", "", "1 stone", None),
    ("weight_grams", "", "1", None),
    ("weight_grams", "", "1,5 kg", None),
    ("weight_grams", "", "01 kg", None),
    ("weight_grams", "", "about 1 kg", None),
    ("weight_grams", "", "1 kg 200 g", None),
    ("weight_grams", "", 1, None),
    ("timeout_seconds", "", "5 m", None),
    ("duration", "Number of minute(s).", "90 s", 1.5),
    ("s", "", "2 min", None),
    ("", "", "2 min", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "description", "value", "number"), UNITS)
def test_a_unit_is_converted_where_the_parameter_names_its_own(
    name: str, description: str, value: Any, number: float | None
) -> None:
    found = in_named_unit(value, About(name, description))
    assert repr(found) == repr(number) or found == pytest.approx(number)


def test_a_unit_is_read_only_where_a_number_is_wanted_and_fits() -> None:
    assert steps(schema(INT, "weight_grams"), weight_grams="1 kg")[0].after == 1000
    assert steps(schema(INT, "weight_grams"), weight_grams="1 lb") == ()
    assert steps(schema({**INT, "maximum": 500}, "weight_grams"), weight_grams="1 kg") == ()
    assert steps(schema({"type": "boolean"}, "weight_grams"), weight_grams="1 kg") == ()
    assert steps(schema({"type": "string"}, "weight_grams"), weight_grams="1 kg") == ()
    described = {"description": "In grams.", "anyOf": [INT, {"type": "null"}]}
    assert steps(schema(described, "weight"), weight="1 kg")[0].after == 1000
    other = {"type": "object", "description": "In pounds.", "properties": {"weight": described}}
    assert steps(schema(other, "parcel"), parcel={"weight": "1 kg"})[0].pointer == "/calls/0/arguments/parcel/weight"


def test_a_key_that_no_validator_can_see_is_left_and_its_neighbours_are_repaired() -> None:
    about = {"type": "object", "properties": {"x": INT}, "additionalProperties": INT}
    found = steps(about, x="5", **{"\ud800": "6"})
    assert [step.pointer for step in found] == ["/calls/0/arguments/x"]


def test_schemas_and_arguments_that_cannot_be_judged_are_left() -> None:
    assert steps({"type": "dict"}, x="5") == ()
    assert steps(schema(INT), x=float("nan")) == ()


def test_work_is_bounded() -> None:
    many = {"type": "array", "items": INT}
    found = repair(calls(call("f", x=["5"] * 400)), one_tool(schema(many)))
    assert found is not None
    assert 100 < len(found.steps) < 400


def test_the_table_of_repairs_is_what_is_published() -> None:
    assert REPAIRS == (
        "text_call",
        "name_prefix",
        "lenient_json",
        "unwrap_double_encoded",
        "scalar_type",
        "enum_case",
        "pattern_case",
        "unit_string",
        "drop_unknown",
    )
    assert {name for name, *_ in ONE} <= set(REPAIRS)
    assert isinstance(calls(call("f")), ToolCalls)
