"""Arguments against rules, equality of values, attribution and violations: tables."""

from __future__ import annotations

from typing import Any

import pytest
from scoring_kit import CLARIFY, broken, call, calls, equals, judge, one_tool, said

from callscope.contract import (
    Alternative,
    ArgumentRules,
    Case,
    ExpectedCall,
    ExpectTool,
    ExpectTools,
    Tolerance,
    ToolCall,
    Verdict,
)
from callscope.scoring.arguments import compare_arguments
from callscope.scoring.equality import compare_values

EMPTY: tuple[Any, ...] = (0, 0.0, False, "", None, [], {})
E_ACUTE, E_DECOMPOSED = "\u00e9", "e\u0301"
EQUAL: list[tuple[Any, Any, str, str | None]] = [
    (1, 1, "exact", None),
    (5, 5.0, "acceptable", "number_form"),
    (0.0, -0.0, "acceptable", "number_form"),
    (2**70, float(2**70), "acceptable", "number_form"),
    (2**70, 2**70 + 1, "wrong", "value"),
    (10**400, 10**400, "exact", None),
    (-(10**400), 10**400, "wrong", "value"),
    (10**400, 1e308, "wrong", "value"),
    (-0.0, -0.0, "exact", None),
    (0, 0.0, "acceptable", "number_form"),
    (1, True, "wrong", "type"),
    (True, 1, "wrong", "type"),
    (0, False, "wrong", "type"),
    (False, 0.0, "wrong", "type"),
    (True, True, "exact", None),
    (True, False, "wrong", "value"),
    (None, None, "exact", None),
    (None, "", "wrong", "type"),
    (None, False, "wrong", "type"),
    ("5", 5, "wrong", "type"),
    (5, "5", "wrong", "type"),
    ("-5", "5", "wrong", "value"),
    ("a", "A", "wrong", "value"),
    ("a b", "a\nb", "wrong", "value"),
    ("", " ", "wrong", "value"),
    (E_ACUTE, E_DECOMPOSED, "acceptable", "unicode_form"),
    ("\ud800", "\ud800", "exact", None),
    ("a\u0323\u0301", "a\u0301\u0323", "acceptable", "unicode_form"),
    ("a\u0300\u0301", "a\u0301\u0300", "wrong", "value"),
    ("\u0344", "\u0308\u0301", "acceptable", "unicode_form"),
    ("\u1112\u1161\u11ab", "\ud55c", "acceptable", "unicode_form"),
    ("\ufb01", "fi", "wrong", "value"),
    (E_ACUTE, "e" * 9, "wrong", "value"),
    (0.1 + 0.2, 0.3, "wrong", "value"),
    ([1, 2], [1, 2], "exact", None),
    ([1, 2], (1, 2), "exact", None),
    ([1, 2], [1, 3], "wrong", "value"),
    ([1], [1, 1], "wrong", "length"),
    ([1], {"0": 1}, "wrong", "type"),
    ([1.0], [1], "acceptable", "number_form"),
    ({}, {}, "exact", None),
    ({}, [], "wrong", "type"),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "exact", None),
    ({"a": 1}, {}, "wrong", "missing_key"),
    ({}, {"a": 1}, "wrong", "unexpected_key"),
    ({"a": {"b": [1, "2"]}}, {"a": {"b": [1, 2]}}, "wrong", "type"),
]


@pytest.mark.parametrize(("expected", "actual", "result", "said_of_it"), EQUAL)
def test_the_equality_table(expected: Any, actual: Any, result: str, said_of_it: str | None) -> None:
    equality = compare_values(expected, actual)
    assert equality.result == result
    seen = [entry["kind"] for entry in equality.differences] + [entry["note"] for entry in equality.notes]
    assert seen == ([] if said_of_it is None else [said_of_it])


def test_differences_point_to_their_place_and_hold_both_values() -> None:
    equality = compare_values({"a": [{"x/y": 1, "gone": 2}]}, {"a": [{"x/y": "1", "new": 3}]}, pointer="/v")
    assert equality.differences == (
        {"pointer": "/v/a/0/x~1y", "kind": "type", "expected": 1, "actual": "1"},
        {"pointer": "/v/a/0/gone", "kind": "missing_key", "expected": 2},
        {"pointer": "/v/a/0/new", "kind": "unexpected_key", "actual": 3},
    )


def test_a_declared_array_is_a_multiset_and_a_deep_one() -> None:
    expected = {"rows": [{"tags": ["a", "b"], "n": 1}, {"tags": ["c"], "n": 2}]}
    actual = {"rows": [{"tags": ["c"], "n": 2.0}, {"tags": ["b", "a"], "n": 1}]}
    places = ("/rows", "/rows/0/tags")
    assert compare_values(expected, actual, unordered=places).result == "acceptable"
    assert compare_values(expected, actual, unordered=places[:1]).result == "wrong"
    assert compare_values([1, 1, 2], [1, 2, 2], unordered=("",)).result == "wrong"
    assert compare_values([1, 2], [1, 2], unordered=("",)).result == "exact"
    assert {"pointer": "", "note": "reordered"} in compare_values([1, 2], [2, 1], unordered=("",)).notes


def test_a_tolerance_holds_only_where_it_is_declared() -> None:
    tolerance = {"/x": Tolerance(absolute=0.5), "/y": Tolerance(relative=0.1)}

    def result(**pair: tuple[Any, Any]) -> str:
        expected, actual = ({key: values[side] for key, values in pair.items()} for side in (0, 1))
        return compare_values(expected, actual, tolerance=tolerance).result

    assert result(x=(1, 1.5)) == "acceptable"
    assert result(x=(1, 1.6)) == "wrong"
    assert result(y=(10, 11)) == "acceptable"
    assert result(y=(10, 12)) == "wrong"
    assert result(z=(10, 10.1)) == "wrong"
    assert result(x=(0.3, 0.8)) == "acceptable"
    assert result(x=(10**400, 10**400 + 1)) == "wrong"
    assert result(y=(10**400, 10**400 + 1)) == "acceptable"
    assert result(y=(10**400, 2 * 10**400)) == "wrong"
    assert result(y=(10**400, 1.5)) == "wrong"
    assert result(x=(1, True)) == "wrong"


def test_overlapping_tolerances_are_paired_optimally() -> None:
    tolerance = {"/0": Tolerance(0.5), "/1": Tolerance(0.5)}
    assert compare_values([1.4, 1.0], [1.4, 1.8], unordered=("",), tolerance=tolerance).result == "acceptable"


SCHEMA = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "default": 5},
        "unit": {"enum": ["c", "f"], "default": "c"},
        "on": {"type": "string", "format": "date"},
        "days": {"type": "array", "items": {"format": "date"}},
        "odd": True,
    },
}
A = equals(a=1)
RULED: list[tuple[str, ArgumentRules, dict[str, Any], str, str, str | None]] = [
    # rules, arguments, result, where the finding is, its rule or note
    ("exact", A, {"a": 1}, "exact", "", None),
    ("missing", A, {}, "wrong", "missing", "required_equals"),
    ("wrong", A, {"a": 2}, "wrong", "wrong", "required_equals"),
    ("unexpected", A, {"a": 1, "b": 2}, "wrong", "unexpected", "no_rule"),
    ("null is present", equals(a=None), {"a": None}, "exact", "", None),
    ("null is not absent", A, {"a": None}, "wrong", "wrong", "required_equals"),
    ("default stated", A, {"a": 1, "limit": 5}, "acceptable", "notes", "default_stated"),
    ("default stated as float", A, {"a": 1, "limit": 5.0}, "acceptable", "notes", "default_stated"),
    ("not the default", A, {"a": 1, "limit": 6}, "wrong", "unexpected", "no_rule"),
    ("default omitted", equals(limit=5), {}, "acceptable", "notes", "default_omitted"),
    ("other than the default omitted", equals(limit=6), {}, "wrong", "missing", "required_equals"),
    ("one of", ArgumentRules(one_of={"a": (1, 2)}), {"a": 2}, "exact", "", None),
    ("one of, in another form", ArgumentRules(one_of={"a": (1, 2)}), {"a": 2.0}, "acceptable", "notes", "number_form"),
    (
        "one of, the first that fits",
        ArgumentRules(one_of={"a": (1.0, 2.0)}),
        {"a": 1},
        "acceptable",
        "notes",
        "number_form",
    ),
    ("none of", ArgumentRules(one_of={"a": (1, 2)}), {"a": 3}, "wrong", "wrong", "one_of"),
    ("none of none", ArgumentRules(one_of={"a": ()}), {"a": 3}, "wrong", "wrong", "one_of"),
    ("one of, absent", ArgumentRules(one_of={"a": (1, 2)}), {}, "wrong", "missing", "one_of"),
    (
        "one of, default omitted",
        ArgumentRules(one_of={"unit": ("f", "c")}),
        {},
        "acceptable",
        "notes",
        "default_omitted",
    ),
    ("optional absent", ArgumentRules(optional=("a",)), {}, "exact", "", None),
    ("optional present", ArgumentRules(optional=("a",)), {"a": 9}, "acceptable", "notes", "optional_given"),
    ("optional equals", ArgumentRules(required_equals={"a": 1}, optional=("a",)), {}, "exact", "", None),
    (
        "optional unequal",
        ArgumentRules(required_equals={"a": 1}, optional=("a",)),
        {"a": 2},
        "wrong",
        "wrong",
        "required_equals",
    ),
    (
        "constraint kept",
        ArgumentRules(constraints={"a": {"integer": True}}),
        {"a": 3},
        "acceptable",
        "notes",
        "constraint_kept",
    ),
    (
        "constraint broken",
        ArgumentRules(constraints={"a": {"integer": True}}),
        {"a": "3"},
        "wrong",
        "wrong",
        "constraint",
    ),
    ("constraint absent", ArgumentRules(constraints={"a": {"integer": True}}), {}, "wrong", "missing", "constraint"),
    (
        "constraint, default omitted",
        ArgumentRules(constraints={"limit": {"minimum": 1}}),
        {},
        "acceptable",
        "notes",
        "default_omitted",
    ),
    (
        "constraint and equality",
        ArgumentRules({"a": 1}, constraints={"a": {"minimum": 1}}),
        {"a": 1},
        "exact",
        "",
        None,
    ),
    (
        "constraint beside equality broken",
        ArgumentRules({"a": 1}, constraints={"a": {"minimum": 2}}),
        {"a": 1},
        "wrong",
        "wrong",
        "constraint",
    ),
    ("ruled twice, missing once", ArgumentRules({"a": 1}, {"a": (1,)}), {}, "wrong", "missing", "required_equals"),
    (
        "bad constraint",
        ArgumentRules(constraints={"a": {"type": "dict"}}),
        {"a": 1},
        "undecided",
        "undecided",
        "constraint",
    ),
    (
        "undecided pattern",
        ArgumentRules(constraints={"a": {"pattern": r"^(a|a)*(?=b)$"}}),
        {"a": "a" * 60},
        "undecided",
        "undecided",
        "constraint",
    ),
    (
        "bad constraint, default",
        ArgumentRules(constraints={"limit": {"type": "dict"}}),
        {},
        "wrong",
        "missing",
        "constraint",
    ),
    *(
        (f"{value!r} is not absent", ArgumentRules({"a": 1}), {"a": 1, "x": value}, "wrong", "unexpected", "no_rule")
        for value in EMPTY
    ),
    *((f"absent is not {value!r}", equals(x=value), {}, "wrong", "missing", "required_equals") for value in EMPTY),
    *(
        (
            f"optional, {value!r} is a value",
            ArgumentRules({"x": ["a"]}, optional=("x",)),
            {"x": value},
            "wrong",
            "wrong",
            "required_equals",
        )
        for value in EMPTY
    ),
    ("optional array, absent", ArgumentRules({"x": ["a"]}, optional=("x",)), {}, "exact", "", None),
    ("optional empty array, given", ArgumentRules({"x": []}, optional=("x",)), {"x": []}, "exact", "", None),
    ("optional empty array, absent", ArgumentRules({"x": []}, optional=("x",)), {}, "exact", "", None),
    ("limit 0 is not the default", equals(), {"limit": 0}, "wrong", "unexpected", "no_rule"),
    ("limit 0 asked for, absent", equals(limit=0), {}, "wrong", "missing", "required_equals"),
    ("limit 0 asked for, given", equals(limit=0), {"limit": 0}, "exact", "", None),
    ("limit 0 asked for, false given", equals(limit=0), {"limit": False}, "wrong", "wrong", "required_equals"),
    ("no arguments asked for", equals(), {}, "exact", "", None),
    ("no arguments asked for, an empty one given", equals(), {"x": {}}, "wrong", "unexpected", "no_rule"),
    ("forbidden", ArgumentRules(forbidden=("limit",)), {"limit": 5}, "wrong", "unexpected", "forbidden"),
    ("forbidden and ruled, absent", ArgumentRules({"a": 1}, forbidden=("a",)), {}, "exact", "", None),
    ("unicode", equals(a=E_ACUTE), {"a": E_DECOMPOSED}, "acceptable", "notes", "unicode_form"),
]


@pytest.mark.parametrize(
    ("name", "rules", "arguments", "result", "where", "what"), RULED, ids=[row[0] for row in RULED]
)
def test_the_argument_table(
    name: str, rules: ArgumentRules, arguments: dict[str, Any], result: str, where: str, what: str | None
) -> None:
    compared = compare_arguments(arguments, rules, SCHEMA)
    assert compared.result == result
    findings = {
        kind: [entry.get("rule", entry.get("note")) for entry in getattr(compared, kind)]
        for kind in ("missing", "wrong", "unexpected", "undecided", "notes")
        if getattr(compared, kind)
    }
    assert findings == ({where: [what]} if where else {})


@pytest.mark.parametrize("schema", [None, {}, {"properties": []}, {"properties": {"limit": []}}])
def test_an_unreadable_schema_declares_no_defaults(schema: Any) -> None:
    assert compare_arguments({"a": 1, "limit": 5}, A, schema).result == "wrong"


def test_a_default_that_no_parser_would_read_is_none() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    for default in (deep, float("nan")):
        schema = {"properties": {"a": {"default": default}}}
        assert compare_arguments({}, equals(a=default), schema).result == "wrong"
        assert compare_arguments({"a": 1}, equals(), schema).result == "wrong"


def test_a_tolerance_of_no_number_admits_nothing() -> None:
    for odd in (float("nan"), float("inf")):
        assert compare_values(1, 2, tolerance={"": Tolerance(odd)}).result == "wrong"
        assert compare_values(odd, 2, tolerance={"": Tolerance(1.0)}).result == "wrong"


def test_nested_multisets_and_long_runs_of_marks_stay_affordable() -> None:
    left: Any = 1
    right: Any = 2
    places = ["/0" * depth for depth in range(200)]
    for _ in range(199):
        left, right = [left], [right]
    assert compare_values(left, right, unordered=places).result == "wrong"
    marks = "\u0301\u0316" * 20_000
    assert compare_values("a" + marks, "a" + marks + "\u0301").result == "wrong"
    assert compare_values("a\u0301", "a" + marks).result == "wrong"


ERRORS: list[tuple[str, ArgumentRules, dict[str, Any], tuple[str, ...]]] = [
    (
        "missing first",
        equals(a=1, on="2026-01-01", c=1),
        {"on": "2026-01-02", "c": 2},
        ("missing", "temporal", "value"),
    ),
    ("format date", equals(on="2026-01-01"), {"on": "2026-01-02"}, ("temporal",)),
    ("format of items", equals(days=["2026-01-01"]), {"days": ["2026-01-02"]}, ("temporal",)),
    ("declared temporal", ArgumentRules({"when": "9:00"}, temporal=("when",)), {"when": "10:00"}, ("temporal",)),
    ("value", equals(odd=1), {"odd": 2}, ("value",)),
    ("unexpected", A, {"a": 1, "b": 1}, ("value",)),
    ("unexpected date", A, {"a": 1, "on": "2026-01-01"}, ("temporal",)),
    ("nothing", A, {"a": 1}, ()),
]


@pytest.mark.parametrize(("name", "rules", "arguments", "errors"), ERRORS, ids=[row[0] for row in ERRORS])
def test_kinds_of_parameter_error(
    name: str, rules: ArgumentRules, arguments: dict[str, Any], errors: tuple[str, ...]
) -> None:
    assert compare_arguments(arguments, rules, SCHEMA).errors == errors
    verdict = judge(Case("c", "1", ExpectTool("f", rules)), calls(ToolCall(None, "f", arguments)), one_tool(SCHEMA))
    assert verdict.attribution == (f"parameter_error.{errors[0]}" if errors else "correct")
    assert verdict.evidence.get("attribution") == ({"errors": list(errors)} if errors else None)


def with_alternatives(*others: Alternative) -> Case:
    return Case("c", "1 2", ExpectTool("f", A, others))


def test_the_best_of_the_alternatives_counts_as_acceptable_and_is_named() -> None:
    case = with_alternatives(Alternative(equals(a=3)), Alternative(equals(a=2)))
    verdict = judge(case, calls(call("f", a=2)), one_tool({}))
    assert (verdict.semantics, verdict.passed) == ("acceptable", True)
    assert verdict.evidence["semantics"]["calls"][0]["by"] == "alternatives/1"
    assert judge(case, calls(call("f", a=1)), one_tool({})).semantics == "exact"
    assert judge(case, calls(call("f", a=9)), one_tool({})).evidence["semantics"]["calls"][0]["by"] == "expected"


def test_the_rules_of_the_alternative_decide_what_is_temporal() -> None:
    case = with_alternatives(Alternative(ArgumentRules({"a": 1, "b": "x"}, temporal=("b",)), "g"))
    tools = (*one_tool({}), *one_tool({"properties": {"b": {"type": "integer"}}}, "g"))
    verdict = judge(case, calls(call("g", a=1, b="x")), tools)
    assert (verdict.structure, verdict.attribution) == ("invalid", "parameter_error.temporal")


def test_undecided_semantics_is_a_judge_failure_and_no_pass() -> None:
    rules = ArgumentRules(constraints={"a": {"type": "dict"}})
    verdict = judge(Case("c", "1", ExpectTool("f", rules)), calls(call("f", a=1)), one_tool({}))
    assert (verdict.semantics, verdict.attribution, verdict.passed) == ("undecided", "judge_failure", None)


def test_arguments_that_meet_the_rules_and_break_the_schema_are_a_parameter_error() -> None:
    schema = {"properties": {"a": {"type": "integer"}, "b": {"maximum": 3}}, "required": ["z"]}
    case = Case("c", "1", ExpectTool("f", ArgumentRules({"a": 1}, optional=("b", "z"))))
    high = judge(case, calls(call("f", a=1, b=4, z=1)), one_tool(schema))
    assert (high.structure, high.semantics, high.attribution) == ("invalid", "acceptable", "parameter_error.value")
    assert high.flags == ()
    absent = judge(case, calls(call("f", a=1)), one_tool(schema))
    assert absent.attribution == "parameter_error.missing"
    assert absent.flags == ("gold_outside_schema",)


def test_a_whole_object_error_is_a_value_error() -> None:
    verdict = judge(Case("c", "1", ExpectTool("f", A)), calls(call("f", a=1)), one_tool({"minProperties": 2}))
    assert (verdict.attribution, verdict.flags) == ("parameter_error.value", ())


def test_a_wrong_call_is_no_sign_that_the_case_is_at_fault() -> None:
    verdict = judge(
        Case("c", "1", ExpectTool("f", A)),
        calls(call("f", a="x")),
        one_tool({"properties": {"a": {"type": "integer"}}}),
    )
    assert (verdict.structure, verdict.flags) == ("invalid", ())


def many(*calls_: ExpectedCall, ordered: bool = False) -> Case:
    return Case("many", "1 2 3", ExpectTools(calls_, ordered))


F = one_tool({})


def test_a_broken_order_is_wrong_semantics_and_a_right_selection() -> None:
    case = many(ExpectedCall("f", equals(a=1)), ExpectedCall("f", equals(a=2)), ordered=True)
    verdict = judge(case, calls(call("f", a=2), call("f", a=1)), F)
    assert (verdict.selection, verdict.semantics, verdict.attribution) == (
        "correct_tool",
        "wrong",
        "parameter_error.value",
    )
    assert verdict.decided_by["semantics"] == "order"
    assert verdict.evidence["semantics"]["order"] == [
        {"rule": "ordered", "required": 1, "after": 0, "positions": [0, 1]}
    ]
    assert judge(case, calls(call("f", a=1), call("f", a=2)), F).passed is True


def test_depends_on_orders_only_what_it_names() -> None:
    case = many(
        ExpectedCall("f", equals(a=1), id="one", depends_on=("two", "unknown", "one")),
        ExpectedCall("f", equals(a=2), id="two"),
        ExpectedCall("f", equals(a=3)),
    )
    one, two, three = (call("f", a=number) for number in (1, 2, 3))
    assert judge(case, calls(three, two, one), F).passed is True
    assert judge(case, calls(two, one, three), F).passed is True
    broken_order = judge(case, calls(one, two, three), F)
    assert broken_order.evidence["semantics"]["order"][0]["rule"] == "depends_on"
    assert broken_order.semantics == "wrong"


def test_interchangeable_calls_are_never_out_of_order() -> None:
    either = ArgumentRules(one_of={"a": (1, 2)})
    case = many(ExpectedCall("f", either), ExpectedCall("f", either), ordered=True)
    assert judge(case, calls(call("f", a=2), call("f", a=1)), F).passed is True
    chain = many(ExpectedCall("f", either, id="x", depends_on=("y",)), ExpectedCall("f", either, id="y"))
    assert judge(chain, calls(call("f", a=2), call("f", a=1)), F).passed is True


def test_a_circular_dependency_is_judged_as_broken_not_as_a_crash() -> None:
    case = many(
        ExpectedCall("f", equals(a=1), id="x", depends_on=("y",)),
        ExpectedCall("f", equals(a=2), id="y", depends_on=("x",)),
    )
    assert judge(case, calls(call("f", a=1), call("f", a=2)), F).semantics == "wrong"


def test_several_errors_are_merged_over_the_calls_and_a_malformed_one_counts_as_value() -> None:
    case = many(ExpectedCall("f", equals(a=1)), ExpectedCall("f", equals(a=2)), ExpectedCall("f", equals(a=3)))
    verdict = judge(case, calls(call("f"), broken("f"), call("f", a=3)), F)
    assert (verdict.structure, verdict.semantics) == ("malformed", "wrong")
    assert verdict.evidence["attribution"] == {"errors": ["missing", "value"]}
    right = judge(case, calls(call("f", a=1), broken("f"), call("f", a=3)), F)
    assert (right.semantics, right.attribution, right.passed) == ("exact", "parameter_error.value", False)


def invented(verdict: Verdict) -> list[Any]:
    found = verdict.evidence.get("violations", {}).get("invented_value", {"values": []})
    assert bool(found["values"]) == ("invented_value" in verdict.violations)
    return [entry["value"] for entry in found["values"]]


@pytest.mark.parametrize(
    ("prompt", "value", "is_invented"),
    [
        ("mail sam@example.test", "Sam@Example.test", False),
        ("mail sam@example.test", "tom@example.test", True),
        ("the last 3 orders", 3, False),
        ("the last 3 orders", 4, True),
        ("1,000 grams", 1000, False),
        ("1.000 grams", 1000, False),
        ("1,5 kg", 1.5, False),
        ("1.5 kg", 1.5, False),
        ("version 1.2.3", 9, True),
        ("minus 4", -4, False),
        ("Cafe\u0301", "Caf\u00e9", False),
        ("nothing", True, False),
        ("nothing", None, False),
        ("nothing", "  ", False),
        ("nothing", [], False),
        ("red and blue", ["red", "blue"], False),
        ("red and blue", {"a": ["red", "green"]}, True),
        ("red and blue", {"a": ["red", "blue"]}, False),
        ("9" * 5000, 1, True),
    ],
)
def test_an_unexpected_value_that_is_not_in_the_prompt_is_invented(prompt: str, value: Any, is_invented: bool) -> None:
    verdict = judge(Case("c", prompt, ExpectTool("f", A)), calls(call("f", a=1, b=value)), F)
    assert verdict.semantics == "wrong"
    assert invented(verdict) == ([value] if is_invented else [])


def test_a_forbidden_value_can_be_invented_and_a_stated_default_cannot() -> None:
    case = Case("c", "p", ExpectTool("f", ArgumentRules(forbidden=("b",))))
    assert invented(judge(case, calls(call("f", b=77, limit=5)), one_tool(SCHEMA))) == [77]


def test_of_a_clarification_only_the_missing_values_count_as_invented_and_blanks_do_not() -> None:
    given = [
        call("get_shipping_quote", postal_code=""),
        call("get_shipping_quote", postal_code=None, country_code="DE"),
        call("get_shipping_quote", postal_code=0),
        broken("get_shipping_quote"),
        call("lookup_order"),
    ]
    assert invented(judge(CLARIFY, calls(*given))) == [0]


def test_violations_keep_their_order_and_all_count() -> None:
    case = Case("c", "p", ExpectTool("f", A))
    verdict = judge(case, calls(call("f", a=1, b=9), call("f", a=1, b=8), text="I've booked your flight."), F)
    assert verdict.violations == ("extra_call", "success_claimed_before_execution", "invented_value")
    assert judge(case, said("I've booked your flight.")).violations == ("success_claimed_before_execution",)
