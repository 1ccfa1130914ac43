"""Faults seen in public benchmarks' scorers, each by its number in the project's list, and what is right instead.

Numbers not here belong to other rooms: importers (7, 16-20, 25, 27, 33), capture and resume (3, 36), summaries (32, 34,
35), recovery (38, 39), files and names (28, 30, 31, 40, 42).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scoring_kit import HELLO, LOOKUP, broken, call, calls, equals, judge, one_tool, said

from callscope.contract import (
    ArgumentRules,
    Case,
    Expectation,
    ExpectedCall,
    ExpectTool,
    ExpectTools,
    ProviderError,
    Tolerance,
    ToolCall,
    ToolCalls,
    Verdict,
)
from callscope.scoring import stability


def typed(schema: dict[str, Any], gold: Any, given: Any) -> Verdict:
    """One required parameter `x` of a schema, its gold value, and the value given."""
    tools = one_tool({"type": "object", "properties": {"x": schema}, "required": ["x"]})
    return judge(Case("c", "p", ExpectTool("f", equals(x=gold))), calls(call("f", x=given)), tools)


def test_1_and_4_a_call_that_cannot_be_read_is_no_abstention() -> None:
    for outcome in (calls(broken("f", "[}")), calls(ToolCall(None, "f"))):
        verdict = judge(HELLO, outcome)
        assert (verdict.selection, verdict.structure, verdict.passed) == (
            "called_when_abstention_expected",
            "malformed",
            False,
        )


def test_2_an_inference_error_is_neither_an_abstention_nor_a_failure() -> None:
    error = ProviderError("provider_error", "500", "Error during inference")
    for case in (HELLO, LOOKUP):
        assert (judge(case, error).selection, judge(case, error).passed) == ("not_observed", None)


def test_5_no_calls_and_null_calls_are_the_same_and_the_text_is_kept() -> None:
    empty = ToolCalls((), (), "Hello! I can look up orders.")
    assert judge(HELLO, empty).selection == judge(HELLO, said("Hello! I can look up orders.")).selection
    claimed = judge(HELLO, ToolCalls((), (), "I found your order."))
    assert claimed.violations == ("success_claimed_before_execution",)


def test_6_words_alone_are_no_call_and_no_decode_error() -> None:
    verdict = judge(LOOKUP, said("The order is somewhere."))
    assert (verdict.selection, verdict.structure) == ("no_call_when_expected", "not_applicable")


PAIRS = [
    ("8 int for number", {"type": "number"}, 5.0, 5, True),
    ("8 string for number", {"type": "number"}, 5.0, "5", False),
    ("9 integral float for integer", {"type": "integer"}, 5, 5.0, True),
    ("10 ints in an array of numbers", {"type": "array", "items": {"type": "number"}}, [1.0, 3.0], [1, 3], True),
    ("11 true for 1", {"type": "object"}, {"n": 1}, {"n": True}, False),
    ("11 true in words", {"type": "boolean"}, True, "true", False),
    ("12 sign", {"type": "string"}, "5", "-5", False),
    ("12 point", {"type": "string"}, "15", "1.5", False),
    ("12 path", {"type": "string"}, "/ab/c", "/a/bc", False),
    ("12 power", {"type": "string"}, "x**2", "x2", False),
    ("14 empty string for a value", {"type": "string"}, "a", "", False),
    ("23 list in object", {"type": "object"}, {"a": ["x", "y"]}, {"a": ["x", "y"]}, True),
    ("26 list for tuple", {"type": "array"}, [1, 2], [1, 2], True),
    ("26 order", {"type": "array"}, [1, 2], [2, 1], False),
    ("41 zero is a value", {"type": "integer"}, 0, 0, True),
    ("41 false is not absent", {"type": "boolean"}, False, None, False),
]


@pytest.mark.parametrize(("name", "schema", "gold", "given", "passed"), PAIRS, ids=[row[0] for row in PAIRS])
def test_8_to_14_23_26_41_values(name: str, schema: dict[str, Any], gold: Any, given: Any, passed: bool) -> None:
    assert typed(schema, gold, given).passed is passed


def test_13_a_default_stated_or_omitted_is_equivalent() -> None:
    tools = one_tool({"properties": {"x": {}, "y": {"type": "integer", "default": 10}}, "required": ["x"]})
    bare, stated = Case("c", "p", ExpectTool("f", equals(x="a"))), Case("c", "p", ExpectTool("f", equals(x="a", y=10)))
    assert judge(bare, calls(call("f", x="a", y=10)), tools).passed is True
    assert judge(stated, calls(call("f", x="a")), tools).passed is True
    assert judge(bare, calls(call("f", x="a", y=11)), tools).passed is False


def test_14_an_empty_list_does_not_stand_for_absent() -> None:
    rules = ArgumentRules(one_of={"x": (["a"],)}, optional=("x",))
    tools = one_tool({"properties": {"x": {"type": "array"}}})
    case = Case("c", "p", ExpectTool("f", rules))
    assert judge(case, calls(call("f", x=[])), tools).passed is False
    assert judge(case, calls(call("f")), tools).passed is True


def test_15_gold_outside_the_enum_fails_the_schema_and_flags_the_gold() -> None:
    verdict = typed({"enum": ["a", "b"]}, "all levels", "all levels")
    assert (verdict.structure, verdict.semantics, verdict.passed) == ("invalid", "exact", False)
    assert verdict.flags == ("gold_outside_schema",)


def many(*golds: ArgumentRules) -> Case:
    return Case("c", "p", ExpectTools(tuple(ExpectedCall("f", rules) for rules in golds)))


def test_20_two_required_calls_are_not_one_with_alternatives() -> None:
    case = many(equals(x=1), equals(x=2))
    assert judge(case, calls(call("f", x=1)), one_tool({})).passed is False
    assert judge(case, calls(call("f", x=2), call("f", x=1)), one_tool({})).passed is True


def test_21_matching_is_not_greedy() -> None:
    case = many(ArgumentRules(one_of={"x": (1, 2)}), equals(x=1))
    for order in ((1, 2), (2, 1)):
        assert judge(case, calls(*(call("f", x=x) for x in order)), one_tool({})).passed is True


@pytest.mark.parametrize("given", [(1, 1), (1, 2, 2), (1,), ()])
def test_22_duplicates_extras_and_missing_calls_fail(given: tuple[int, ...]) -> None:
    verdict = judge(many(equals(x=1), equals(x=2)), calls(*(call("f", x=x) for x in given)), one_tool({}))
    assert verdict.passed is False


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "number"}, 1.5),
        ({"type": "object"}, {"a": {}}),
        ({"type": ["string", "null"]}, None),
        ({"type": "array"}, ["a"]),
        ({}, "a"),
    ],
)
def test_24_sparse_schemas_are_scored_and_do_not_crash(schema: dict[str, Any], value: Any) -> None:
    assert typed(schema, value, value).passed is True
    assert (
        judge(Case("c", "p", ExpectTool("f", equals(x=value))), calls(call("f", x=value)), one_tool({})).passed is True
    )


def test_29_plain_text_is_an_abstention_whatever_it_looks_like() -> None:
    assert judge(HELLO, said("f(x=1) is how you would call it.")).selection == "abstained_correctly"
    assert judge(HELLO, said("f(x=1)", "text_tool_call")).selection == "called_when_abstention_expected"


def test_37_the_same_model_asked_again_is_counted_not_assumed() -> None:
    assert stability(["a", "b", "a", "c", "a"])[:2] == (3, 5)


# The probes: small predictions with gold in BFCL's form, BFCL's verdict, and the sane one.

_TYPES = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "any": ["string", "number", "boolean", "object", "array", "null"],
}
_ELSEWHERE = {
    "q09_date_fmt": "punctuation in dates: an importer lists both forms",
    "q16_nested_list": "letter case: an importer lists both forms",
    "q18_dict_list_value": "letter case: an importer lists both forms",
    "q24b_dot_name_underscore_cfg": "the adapter has undone its own renaming before scoring",
    "q32_float_eps": "no tolerance but a declared one; see the test below",
}


def translated(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _TYPES.get(value, value) if key == "type" and isinstance(value, str) else translated(value)
            for key, value in schema.items()
        }
    return schema


def unwrapped(value: Any) -> list[Any]:
    """Every JSON value that one gold alternative admits; members of gold objects are lists of alternatives."""
    if not isinstance(value, dict):
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            rows: list[list[Any]] = [[]]
            for item in value:
                rows = [[*row, one] for row in rows for one in unwrapped(item)]
            return rows
        return [value]
    whole: list[dict[str, Any]] = [{}]
    for key, alternatives in value.items():
        grown = []
        for one in whole:
            for alternative in alternatives:
                if alternative == "":
                    grown.append(one)
                else:
                    grown.extend({**one, key: inner} for inner in unwrapped(alternative))
        whole = grown
    return whole


def rules_of(gold: dict[str, Any], schema: dict[str, Any]) -> ArgumentRules:
    one_of, optional = {}, []
    for name, alternatives in gold.items():
        if "" in alternatives and name not in schema.get("required", ()):
            optional.append(name)
        kept = [one for one in alternatives if one != ""]
        one_of[name] = tuple(inner for one in kept for inner in unwrapped(one))
    return ArgumentRules(one_of=one_of, optional=tuple(optional))


def verdict_of(probe: dict[str, Any]) -> Verdict:
    tools = one_tool(translated(probe["function"][0]["parameters"]), probe["function"][0].get("name", "f"))
    golds = [next(iter(gold.items())) for gold in probe["possible_answer"]]
    schema = probe["function"][0]["parameters"]
    if probe["category"].startswith("parallel"):
        expected: Expectation = ExpectTools(tuple(ExpectedCall(name, rules_of(gold, schema)) for name, gold in golds))
    else:
        expected = ExpectTool(golds[0][0], rules_of(golds[0][1], schema))
    given = [
        ToolCall(None, name, arguments)
        if isinstance(arguments, dict)
        else broken(name, json.dumps(arguments), "not_an_object")
        for prediction in probe["prediction"]
        for name, arguments in prediction.items()
    ]
    return judge(Case(probe["id"], "p", expected), calls(*given), tools)


def test_the_probes_get_the_sane_verdict(shared: Path) -> None:
    probes = json.loads((shared / "data" / "bfcl_scorer_probes.json").read_text())
    wrong, judged = [], 0
    for probe in probes:
        if probe["language"] != "python" or probe["sane"] == "policy" or probe["id"] in _ELSEWHERE:
            continue
        judged += 1
        verdict = verdict_of(probe)
        if verdict.passed is not probe["sane"]:
            wrong.append((probe["id"], probe["note"], verdict.decided_by, verdict.evidence))
    assert wrong == []
    assert judged >= 25


def test_q32_a_float_in_the_last_place_needs_a_declared_tolerance() -> None:
    rules = ArgumentRules({"x": 0.3}, tolerance={"/x": Tolerance(relative=1e-9)})
    given = calls(call("f", x=0.1 + 0.2))
    assert judge(Case("c", "p", ExpectTool("f", rules)), given, one_tool({})).passed is True
    assert judge(Case("c", "p", ExpectTool("f", equals(x=0.3))), given, one_tool({})).passed is False


def test_q39_unicode_forms_are_equal() -> None:
    verdict = typed({"type": "string"}, "Canc\u00fan", "Cancu\u0301n")
    assert (verdict.semantics, verdict.passed) == ("acceptable", True)
