"""BFCL's gold as rules, and what the import finds wrong in it. Numbers are those of the list of scoring faults."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from bfcl_cases_kit import case_of, folder, function, judged, lines, right_result, score

from callscope.contract import ArgumentRules, Case, ExpectTool
from callscope.importers import bfcl
from callscope.importers.bfcl.defects import KINDS


def rules_of(listed: Any, *, required: bool = True, category: str = "simple_python", **declared: Any) -> ArgumentRules:
    """The rules of a parameter `x`."""
    expected = one(listed, required=required, category=category, **declared).expected
    assert isinstance(expected, ExpectTool)
    return expected.arguments


def one(
    listed: Any, *, required: bool = True, category: str = "simple_python", prompt: str = "Do it.", **declared: Any
) -> Case:
    functions = [function("f", ("x",) if required else (), x=declared)]
    return case_of(folder(category, functions, [{"f": {"x": listed}}], prompt=prompt))


def passed(listed: Any, given: Any, *, required: bool = True, **declared: Any) -> bool | None:
    """Whether one value of a parameter `x` passes."""
    functions = [function("f", ("x",) if required else (), x=declared)]
    return score("simple_python", functions, [{"f": {"x": listed}}], [{"f": json.dumps(given)}]).verdict.passed


def defects_of(case: Case) -> list[str]:
    return [each["kind"] for each in case.metadata["benchmark"].get("defects", [])]


def test_one_value_several_values_and_the_sentinel() -> None:
    assert rules_of([1], type="integer") == ArgumentRules(required_equals={"x": 1}, text="folded")
    assert rules_of([1, 2], type="integer") == ArgumentRules(one_of={"x": (1, 2)}, text="folded")
    optional = ArgumentRules(one_of={"x": (1,)}, optional=("x",), text="folded")
    assert rules_of(["", 1], required=False, type="integer") == optional
    assert rules_of([""], required=False, type="integer") == ArgumentRules(text="folded")


@pytest.mark.parametrize(
    ("listed", "required", "given", "right"),
    [
        (["a", ""], True, {"x": "a"}, True),
        (["a", ""], True, {"x": ""}, False),
        (["a", ""], True, {}, False),
        (["a", ""], False, {}, True),
        (["a", ""], False, {"x": ""}, False),
        ([""], False, {"x": "a"}, False),
    ],
)
def test_14_the_sentinel_says_may_be_omitted_and_is_no_value(
    listed: Any, required: bool, given: Any, right: bool
) -> None:
    assert passed(listed, given, required=required, type="string") is right


@pytest.mark.parametrize(
    ("listed", "given", "right"),
    [
        ([{"a": [1, 2], "b": ["", 3]}], {"a": 2}, True),
        ([{"a": [1, 2], "b": ["", 3]}], {"a": 2, "b": 3}, True),
        ([{"a": [1, 2], "b": ["", 3]}], {"a": 2, "b": ""}, False),
        ([{"a": [1, 2], "b": ["", 3]}], {"b": 3}, False),
        ([{"a": [1]}], {"a": 1, "c": 1}, False),
        ([{"a": [1]}], {"a": True}, False),
        ([{"a": [1]}], {"a": "1"}, False),
        ([{"a": [["x", "y"]]}], {"a": ["X", "Y"]}, True),
        ([{"a": [["x", "y"]]}], {"a": ["Y", "X"]}, False),
        ([{"a": [{"b": [1], "c": ["", 2]}]}], {"a": {"b": 1}}, True),
        ([{"a": [{"b": [1]}]}], {"a": {"b": [1]}}, True),
        ([{"a": [{"b": 10.5}]}], {"a": {"b": 10.5}}, True),
        ([{"a": [{"b": [1]}]}], {"a": {"b": 2}}, False),
        ([{"a": ["", 1]}], {}, True),
        ([{"a": ["x"]}, {"a": ["y"], "b": [1]}], {"a": "y", "b": 1}, True),
        ([{"a": "epoch_millis"}], {"a": "epoch_millis"}, True),
    ],
)
def test_23_objects_are_unwrapped_however_deep(listed: Any, given: Any, right: bool) -> None:
    assert passed(listed, {"x": given}, type="dict") is right


@pytest.mark.parametrize(
    ("listed", "given", "right"),
    [
        ([[{"k": [1]}], [{"k": [2]}]], [{"k": 2}], True),
        ([[{"k": [1]}, {"k": ["", 2]}]], [{"k": 1}, {}], True),
        ([[{"k": [1]}, {"k": [2]}]], [{"k": 2}, {"k": 1}], False),
        ([[{"k": [1]}]], [{"k": 1}, {"k": 1}], False),
        ([[{"k": [1]}]], ["oops"], False),
        ([[{"k": [1]}]], [], False),
    ],
)
def test_lists_of_objects_are_compared_place_by_place(listed: Any, given: Any, right: bool) -> None:
    assert passed(listed, {"x": given}, type="array", items={"type": "dict"}) is right


def test_a_list_under_a_key_that_is_declared_an_array_is_the_array() -> None:
    declared = {"type": "dict", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    assert passed([{"a": ["x", "y"]}], {"x": {"a": ["x", "y"]}}, **declared) is True
    assert passed([{"a": [["x", "y"]]}], {"x": {"a": ["x", "y"]}}, **declared) is True


INNER = {
    "type": "dict",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string", "default": "z"}},
    "required": ["a"],
}


@pytest.mark.parametrize(
    ("listed", "given", "right"),
    [
        ([{"a": [1]}], {"a": 1, "b": "z"}, True),
        ([{"a": [1]}], {"a": 1, "b": "y"}, False),
        ([{"a": [1], "b": ["z"]}], {"a": 1}, True),
        ([{"a": [1], "b": ["y"]}], {"a": 1}, False),
        ([{"a": [1], "b": ["y", "z"]}], {"a": 1}, True),
        ([{"a": ["", 1]}], {}, False),
        ([{"a": ["", 1]}], {"a": 1}, True),
        ([{"a": ["", 1], "b": ["", "y"]}], {"a": ""}, False),
    ],
)
@pytest.mark.parametrize("place", ["object", "array"])
def test_13_and_14_hold_inside_an_object_as_they_do_outside(place: str, listed: Any, given: Any, right: bool) -> None:
    """A declared default may be stated or left out there too, and the sentinel frees no key that is required."""
    of_object = place == "object"
    functions = [function("f", ("x",), x=INNER if of_object else {"type": "array", "items": INNER})]
    gold, result = ({"x": listed}, {"x": given}) if of_object else ({"x": [listed]}, {"x": [given]})
    assert score("simple_python", functions, [{"f": gold}], [{"f": json.dumps(result)}]).verdict.passed is right


def test_a_required_key_that_the_gold_lets_be_omitted_is_a_defect() -> None:
    case = case_of(folder("simple_python", [function("f", ("x",), x=INNER)], [{"f": {"x": [{"a": ["", 1]}]}}]))
    assert defects_of(case) == ["required-may-be-omitted"]
    assert case.excluded is None


@pytest.mark.parametrize(
    ("given", "right"),
    [({"x": "a"}, True), ({"x": "a", "y": 10}, True), ({"x": "a", "y": 11}, False), ({"x": "a", "y": None}, False)],
)
def test_13_a_default_stated_or_omitted_is_the_same(given: Any, right: bool) -> None:
    functions = [function("f", ("x",), x="string", y={"type": "integer", "default": 10})]
    for gold in ({"x": ["a"]}, {"x": ["a"], "y": [10]}, {"x": ["a"], "y": ["", 10]}):
        assert score("simple_python", functions, [{"f": gold}], [{"f": json.dumps(given)}]).verdict.passed is right


def test_13_a_default_of_null_or_of_another_type_may_be_stated() -> None:
    for default in (None, "dontcare"):
        functions = [function("f", (), x={"type": "integer", "default": default})]
        found = score("multiple", functions, [{"f": {"x": ["", 3]}}], [{"f": json.dumps({"x": default})}])
        assert found.verdict.passed is True


@pytest.mark.parametrize(
    ("prompt", "listed", "right"),
    [
        ("Weather in Cancún?", ["", "fahrenheit"], True),
        ("Weather in Cancún, in Fahrenheit?", ["", "fahrenheit"], False),
        ("Weather in Cancún? I think in °.", ["", "fahrenheit"], False),
        ("Weather in Cancún?", ["fahrenheit"], False),
    ],
)
def test_16_a_unit_that_nobody_asked_for_is_free(prompt: str, listed: Any, right: bool) -> None:
    declared = {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "fahrenheit"}
    functions = [function("f", (), x=declared)]
    gold, result = [{"f": {"x": listed}}], [{"f": '{"x": "celsius"}'}]
    assert score("simple_python", functions, gold, result, prompt=prompt).verdict.passed is right
    case = one(listed, required=False, prompt=prompt, **declared)
    assert ("narrow-unit" in defects_of(case)) is right


def test_16_other_enums_are_never_widened() -> None:
    assert passed(["", "asc"], {"x": "desc"}, required=False, type="string", enum=["asc", "desc"]) is False


def test_15_gold_outside_the_enum_is_marked_and_fails_at_the_schema() -> None:
    declared: dict[str, Any] = {"type": "string", "enum": ["a", "b"]}
    functions = [function("f", (), x=declared)]
    found = score("simple_python", functions, [{"f": {"x": ["", "all levels"]}}], [{"f": '{"x": "all levels"}'}])
    assert (found.verdict.passed, found.compatible_passed) == (False, True)
    assert found.verdict.flags == ("gold_outside_schema",)
    assert defects_of(one(["", "all levels"], required=False, **declared)) == ["outside-enum"]
    assert defects_of(one(["all levels"], **declared)) == ["outside-enum", "unpassable"]
    assert defects_of(one(["A"], **declared)) == []


@pytest.mark.parametrize(
    ("declared", "listed", "given", "right"),
    [
        ("integer", ["1"], 1, True),
        ("integer", ["1"], "1", False),
        ("string", [True], "True", True),
        ("string", [2], "2", True),
        ("boolean", ["true"], True, True),
        ("boolean", [True], "true", False),
        ("float", ["1.5"], 1.5, True),
        ("float", [5.0], 5, True),
        ("float", [5.0], "5", False),
        ("integer", [5], 5.0, True),
    ],
)
def test_17_gold_of_another_type_is_marked_and_read_in_the_declared_one(
    declared: str, listed: Any, given: Any, right: bool
) -> None:
    assert passed(listed, {"x": given}, type=declared) is right


def test_a_variable_may_be_named_where_the_gold_names_one() -> None:
    case = one(["n"], type="integer")
    assert defects_of(case) == ["variable"]
    assert case.own_tools[0].parameters["properties"]["x"]["type"] == ["integer", "string"]
    assert passed(["n"], {"x": "n"}, type="integer") is True
    assert passed(["n"], {"x": 5}, type="integer") is False
    assert defects_of(one(["", "n"], required=False, type="integer")) == ["other-type"]


@pytest.mark.parametrize(
    ("functions", "gold", "kind"),
    [
        ([function("f", x="string")], [{"f": {"x": [""]}}], "no-values"),
        ([function("f", x="string")], [{"f": {"x": []}}], "no-values"),
        ([function("f", x="string")], [{"f": {}}], "unlisted-required"),
        ([function("f", (), x="string")], [{"f": {"y": ["a"]}}], "undeclared-parameter"),
        ([function("f", x="string")], [{"g": {"x": ["a"]}}], "unknown-function"),
        ([function("f", x="string")], [{"f": ["a"]}], "unreadable-call"),
        ([function("f", x="string")], [], "no-gold"),
    ],
)
def test_18_gold_that_no_call_can_meet_is_excluded(functions: Any, gold: Any, kind: str) -> None:
    case = case_of(folder("simple_python", functions, gold))
    assert case.excluded is not None
    assert f"gold-defect:{kind}" in case.tags
    verdict = score("simple_python", functions, gold, [{"f": '{"x": "a"}'}]).verdict
    assert (verdict.passed, verdict.decided_by["passed"]) == (None, "case_excluded")


def test_18_an_undeclared_parameter_that_may_be_omitted_must_be() -> None:
    functions = [function("f", x="string")]
    gold = [{"f": {"x": ["a"], "y": ["", 1]}}]
    assert score("parallel", functions, gold, [{"f": '{"x": "a"}'}]).verdict.passed is True
    assert score("parallel", functions, gold, [{"f": '{"x": "a", "y": 1}'}]).verdict.passed is False


def test_an_empty_list_for_an_array_is_the_empty_array() -> None:
    assert passed([], {"x": []}, type="array", items={"type": "string"}) is True
    assert passed([], {"x": ["a"]}, type="array", items={"type": "string"}) is False


def test_27_an_enum_of_another_type_is_marked() -> None:
    assert defects_of(one([1], type="integer", enum=["1", "2"])) == ["enum-of-other-type"]


def test_java_any_takes_what_the_text_spells() -> None:
    rules = rules_of(["5"], category="simple_java", type="any")
    assert rules.one_of == {"x": ("5", 5)}
    assert rules_of(["name"], category="simple_java", type="any").required_equals == {"x": "name"}


def test_every_defect_is_noted_with_file_and_line() -> None:
    files = folder("simple_python", [function("f", x="integer")], [{"f": {"x": ["n"]}}])
    (note,) = bfcl.read(files).notes
    assert note.startswith("possible_answer/BFCL_v4_simple_python.json:1: simple_python_0: variable: ")


UNPASSABLE = {
    "live_multiple_87-38-4",
    "live_multiple_750-169-5",
    "live_multiple_835-178-10",
    "live_multiple_871-182-8",
    "live_multiple_947-197-0",
    "live_parallel_multiple_2-2-0",
    "multi_turn_base_173",
    "multi_turn_miss_func_173",
    "multi_turn_miss_param_173",
}
"""Their gold lists values that the schema refuses and no others; every answer fails here, and is marked."""


def test_the_gold_of_every_category_passes_as_an_answer(published: Any) -> None:
    suites, _ = published
    failed = set()
    for suite in suites.values():
        if suite.name == "bfcl-live_relevance":
            continue  # has no gold
        category = suite.name.removeprefix("bfcl-")
        rows = [{"id": case.id, "result": right_result(case)} for case in suite.cases]
        found = judged(suite, {f"right-FC/BFCL_v4_{category}_result.json": lines(*rows)})
        assert len(found) == len(suite.cases)
        failed |= {identity for identity, derived in found.items() if derived.verdict.passed is not True}
    excluded = {case.id for suite in suites.values() for case in suite.cases if case.excluded is not None}
    assert failed == UNPASSABLE | excluded


def test_18_three_published_cases_are_excluded_by_rule(published: Any) -> None:
    suites, _ = published
    excluded = {case.id for suite in suites.values() for case in suite.cases if case.excluded is not None}
    assert excluded == {"live_multiple_507-149-4", "live_multiple_862-181-3", "live_multiple_964-207-0"}


def test_the_defects_of_the_published_gold_are_counted(published: Any) -> None:
    suites, notes = published
    cases = Counter(tag for suite in suites.values() for case in suite.cases for tag in case.tags if "defect" in tag)
    assert {tag.removeprefix("gold-defect:"): count for tag, count in cases.items()} == {
        "required-may-be-omitted": 14,
        "other-type": 22,
        "outside-enum": 45,
        "unpassable": 9,
        "variable": 18,
        "undeclared-parameter": 4,
        "unlisted-required": 1,
        "no-values": 3,
        "narrow-unit": 24,
        "enum-of-other-type": 71,
    }
    assert {note.split(": ")[2] for note in notes} - {"excluded"} <= set(KINDS)
