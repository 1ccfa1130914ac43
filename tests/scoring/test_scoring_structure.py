"""The structure table: untouched arguments against untouched schemas, and the guards around the validator."""

from __future__ import annotations

from typing import Any

import pytest
from scoring_kit import LOOKUP, TOOLS, broken, call, calls, equals, judge, one_tool

from callscope.contract import Case, ExpectTool, Malformed, Tool, ToolCall
from callscope.scoring import validators
from callscope.scoring.guards import guarded, refusal, without_surrogates
from callscope.scoring.pointers import child, first_part, pointer
from callscope.scoring.structure import structure, validate_arguments
from callscope.scoring.validators import MAX_ERRORS, Checker, checker_for, constraint_checker

CATASTROPHE = r"^(a|a)*(?=b)$"


def judged(schema: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    tools = {tool.name: tool for tool in one_tool(schema)}
    return dict(structure((guarded(call("f", **arguments)),), tools).calls[0])


def test_nothing_is_coerced_defaulted_or_removed() -> None:
    arguments = {"email": "a@b.test", "limit": "5", "x": 1}
    before = dict(arguments)
    verdict = judge(LOOKUP, calls(ToolCall(None, "search_orders", arguments)))
    assert verdict.structure == "invalid"
    assert arguments == before


def test_all_errors_are_listed_by_pointer_and_keyword() -> None:
    schema = {
        "type": "object",
        "properties": {"a/b": {"type": "integer"}, "c~d": {"items": {"minimum": 3, "multipleOf": 2}}},
        "required": ["z"],
        "additionalProperties": False,
    }
    errors = judged(schema, **{"a/b": "x", "c~d": [4, 1], "q": 0})["errors"]
    assert [(error["pointer"], error["keyword"], error.get("names")) for error in errors] == [
        ("", "additionalProperties", ["q"]),
        ("", "required", ["z"]),
        ("/a~1b", "type", None),
        ("/c~0d/1", "minimum", None),
        ("/c~0d/1", "multipleOf", None),
    ]


VALID: list[tuple[dict[str, Any], Any]] = [
    ({"type": "integer"}, 5.0),
    ({"type": "integer"}, 2**70),
    ({"type": "number"}, 5),
    ({"type": ["string", "null"]}, None),
    ({"type": "array"}, ["a"]),
    ({"format": "date"}, "not a date"),
    ({"const": 1}, 1.0),
]
INVALID: list[tuple[dict[str, Any], Any]] = [
    ({"type": "integer"}, True),
    ({"type": "integer"}, "5"),
    ({"type": "boolean"}, "true"),
    ({"type": "boolean"}, 1),
    ({"type": "string"}, None),
    ({"type": "number"}, "5.0"),
    ({"type": "array", "items": {"type": "object"}}, ["oops"]),
]


@pytest.mark.parametrize(("schema", "value"), VALID)
def test_valid_values(schema: dict[str, Any], value: Any) -> None:
    assert judged({"properties": {"x": schema}}, x=value)["rule"] == "schema_kept"


@pytest.mark.parametrize(("schema", "value"), INVALID)
def test_invalid_values(schema: dict[str, Any], value: Any) -> None:
    assert judged({"properties": {"x": schema}}, x=value)["rule"] == "schema_violated"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "dict"},
        {"$ref": "https://example.test/remote.json"},
        {"$ref": "#/nowhere"},
        {"properties": {"x": {"pattern": "("}}},
        {"properties": {"\ud800": {}}},
        {"required": "x"},
        {"default": {1, 2}},
    ],
)
def test_a_schema_that_cannot_be_compiled_is_nobodys_wrong_answer(schema: dict[str, Any]) -> None:
    verdict = judge(Case("c", "p", ExpectTool("f", equals(x=1))), calls(call("f", x=1)), one_tool(schema))
    assert (verdict.structure, verdict.semantics, verdict.passed) == ("not_applicable", "exact", None)
    assert verdict.decided_by["structure"] == "schema_error"
    assert verdict.evidence["structure"]["calls"][0]["problem"]


def test_a_too_deep_schema_is_a_schema_error() -> None:
    schema: dict[str, Any] = {}
    for _ in range(2000):
        schema = {"properties": {"a": schema}}
    assert Checker(schema).problem
    assert checker_for(schema).problem


def test_a_wrong_value_under_a_schema_error_still_fails() -> None:
    verdict = judge(Case("c", "p", ExpectTool("f", equals(x=1))), calls(call("f", x=2)), one_tool({"type": "dict"}))
    assert verdict.passed is False


def test_a_pattern_that_cannot_be_run_to_its_end_decides_nothing() -> None:
    schema = {"properties": {"x": {"pattern": CATASTROPHE}, "y": {"type": "integer"}}}
    undecided = judge(
        Case("c", "p", ExpectTool("f", equals(x="a" * 60))), calls(call("f", x="a" * 60)), one_tool(schema)
    )
    assert (undecided.structure, undecided.passed) == ("not_applicable", None)
    assert undecided.decided_by["structure"] == "undecided_pattern"
    assert judged({"not": {"properties": {"x": {"pattern": CATASTROPHE}}}}, x="a" * 60)["rule"] == "undecided_pattern"


def test_lone_surrogates_are_replaced_for_the_validator_and_flagged() -> None:
    schema = {"properties": {"x": {"type": "string", "pattern": "^.{0,3}$"}, "y": {"type": "array"}}}
    case = Case("c", "p", ExpectTool("f", equals(x="a\ud800")))
    verdict = judge(case, calls(call("f", x="a\ud800")), one_tool(schema))
    assert (verdict.structure, verdict.semantics, verdict.flags) == ("valid", "exact", ("lone_surrogate",))
    bad = judge(case, calls(call("f", x="abc\ud800", y=["\udfff"])), one_tool(schema))
    assert (bad.structure, bad.flags) == ("invalid", ("lone_surrogate",))
    assert without_surrogates({"\ud800": ["\udc00", 1]}) == {"\ufffd": ["\ufffd", 1]}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_depth_is_bounded_as_in_the_parser() -> None:
    assert refusal({"a": nested(199)}) is None
    assert refusal({"a": nested(200)}) == "too_deep"
    verdict = judge(LOOKUP, calls(call("lookup_order", order_id=nested(50_000))))
    assert verdict.structure == "malformed"
    assert verdict.evidence["structure"]["calls"][0]["reason"] == "too_deep"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "not_a_json_number"),
        ([{"a": float("inf")}], "not_a_json_number"),
        ({1: 2}, "not_a_json_value"),
        ({1, 2}, "not_a_json_value"),
        (b"bytes", "not_a_json_value"),
        ((1, 2.5, None, "x", True), None),
    ],
)
def test_what_no_parser_would_have_given_is_malformed(value: Any, reason: str | None) -> None:
    assert refusal({"a": value}) == reason


def test_the_worst_of_several_calls_stands_and_each_is_listed() -> None:
    valid = call("lookup_order", order_id="ORD-000001")
    invalid = call("lookup_order", order_id="x")
    unknown = call("fly")
    by_name = {tool.name: tool for tool in (*TOOLS, Tool("odd", "", {"type": "dict"}))}

    def worst(*given: ToolCall) -> tuple[str, str]:
        result = structure(given, by_name)
        assert len(result.calls) == len(given)
        return result.value, result.rule

    assert worst(valid, unknown) == ("valid", "schema_kept")
    assert worst(unknown) == ("not_applicable", "unknown_tool")
    assert worst(valid, call("odd")) == ("not_applicable", "schema_error")
    assert worst(invalid, call("odd"), valid) == ("invalid", "schema_violated")
    assert worst(invalid, broken("fly"), valid) == ("malformed", "malformed_arguments")
    assert structure((), by_name).value == "not_applicable"


def test_a_flood_of_errors_is_counted_and_cut() -> None:
    seen = judged({"properties": {"x": {"items": {"type": "string"}}}}, x=list(range(MAX_ERRORS + 7)))
    assert (len(seen["errors"]), seen["errors_omitted"]) == (MAX_ERRORS, 7)


def test_equal_schemas_share_a_validator_and_the_caches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = {"type": "object", "title": "a"}, {"title": "a", "type": "object"}
    assert checker_for(first) is checker_for(second) is checker_for(first)
    monkeypatch.setattr(validators, "_CACHE_LIMIT", 4)
    kept = [{"title": str(number)} for number in range(20)]
    constraints = [{"minimum": number} for number in range(20)]
    for schema, constraint in zip(kept, constraints, strict=True):
        checker_for(schema)
        constraint_checker(constraint)
    for cache in (validators._by_hash, validators._by_identity, validators._constraints):
        assert len(cache) <= 4


def test_a_constraint_is_a_schema_in_which_a_type_may_be_written_short() -> None:
    def allows(constraint: dict[str, Any], value: Any) -> bool | None:
        return constraint_checker(constraint).check(value).valid

    short = {"integer": True, "minimum": 1}
    assert [allows(short, value) for value in (1, 0, 1.5, "1")] == [True, False, False, False]
    assert constraint_checker(short) is constraint_checker(short)
    assert [allows({"string": True, "null": True}, value) for value in ("a", None, 1)] == [True, True, False]
    assert [allows({"type": "number", "integer": True}, value) for value in (1.5, "a")] == [True, False]
    assert allows({"integer": False}, "a") is True


def test_validate_arguments_says_what_a_server_would_object_to() -> None:
    tool = TOOLS[0]
    assert validate_arguments(tool, {"order_id": "ORD-000001"}) == ()
    problems = validate_arguments(tool, {"x": 1})
    assert [(problem.pointer, problem.keyword) for problem in problems] == [
        ("", "additionalProperties"),
        ("", "required"),
    ]
    assert validate_arguments(tool, [1])[0].keyword == "type"
    assert "too_deep" in validate_arguments(tool, {"order_id": nested(300)})[0].message
    assert validate_arguments(Tool("f", "", {"type": "dict"}), {"x": 1}) == ()
    assert validate_arguments(Tool("f", "", {"properties": {"x": {"pattern": CATASTROPHE}}}), {"x": "a" * 60})


def test_malformed_text_is_kept_but_cut() -> None:
    verdict = judge(LOOKUP, calls(ToolCall(None, "lookup_order", malformed=Malformed("syntax", "{" * 5000))))
    assert len(verdict.evidence["structure"]["calls"][0]["raw"]) == 2000


def test_pointers_escape_and_unescape() -> None:
    assert pointer(["a/b", 0, "c~d"]) == "/a~1b/0/c~0d"
    assert child("", "plain") == "/plain"
    assert first_part("/a~1b/0") == "a/b"
    assert first_part("/~01") == "~1"
    assert first_part("") is None
