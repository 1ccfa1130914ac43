"""What a judge ruled, in the verdict; free text; gold with patterns; excluded cases; cases with tools of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scoring_kit import HELLO, SEARCH, TOOLS, broken, call, calls, judge, one_tool, said

from callscope.contract import (
    ArgumentRules,
    Case,
    ExpectTool,
    PatternKey,
    PatternObject,
    PatternValue,
    Ruling,
    Tool,
)
from callscope.scoring import evaluate

SCHEMA = {
    "type": "object",
    "properties": {
        "note": {"type": "string"},
        "day": {"type": "string", "format": "date"},
        "count": {"type": "integer", "default": 5},
        "where": {"type": "object"},
    },
    "required": ["note"],
}
TOOL = one_tool(SCHEMA)
FREE = Case("c", "Leave a note.", ExpectTool("f", ArgumentRules({"note": "back soon"}, free_text=("note",))))
STRICT = Case("c", "Leave a note.", ExpectTool("f", ArgumentRules({"note": "back soon"})))


def ruling(verdict, argument="note", required=0, at=0):
    return Ruling(required, at, argument, verdict, "tester")


def judged(case, *rulings, **arguments):
    return evaluate(case, TOOL, calls(call("f", **arguments)), rulings=rulings)


def test_free_text_that_differs_is_undecided_and_nothing_else_is():
    verdict = judge(FREE, calls(call("f", note="returning shortly")), TOOL)
    assert (verdict.semantics, verdict.attribution, verdict.passed) == ("undecided", "judge_failure", None)
    finding = verdict.evidence["semantics"]["calls"][0]["undecided"][0]
    assert finding == {
        "pointer": "/note",
        "rule": "free_text",
        "expected": ["back soon"],
        "actual": "returning shortly",
    }
    assert judge(FREE, calls(call("f", note="back soon")), TOOL).passed is True
    assert judge(FREE, calls(call("f", note=5)), TOOL).semantics == "wrong"
    assert judge(FREE, calls(call("f")), TOOL).attribution == "parameter_error.missing"


def test_free_text_is_read_from_one_of_and_patterns_too():
    one_of = ArgumentRules(one_of={"note": ("a", 5)}, free_text=("note",))
    patterns = ArgumentRules(patterns={"note": (PatternValue("a"),)}, free_text=("note",))
    for rules in (one_of, patterns):
        verdict = judge(Case("c", "x", ExpectTool("f", rules)), calls(call("f", note="b")), TOOL)
        assert verdict.evidence["semantics"]["calls"][0]["undecided"][0]["expected"] == ["a"]


@pytest.mark.parametrize("case", [FREE, STRICT])
@pytest.mark.parametrize(
    ("said_by_judge", "semantics", "attribution", "passed"),
    [
        ("equivalent", "acceptable", "correct", True),
        ("different", "wrong", "parameter_error.value", False),
        ("undecided", "undecided", "judge_failure", None),
    ],
)
def test_a_ruling_decides_what_was_open(case, said_by_judge, semantics, attribution, passed):
    verdict = judged(case, ruling(said_by_judge), note="returning shortly")
    assert (verdict.semantics, verdict.attribution, verdict.passed) == (semantics, attribution, passed)
    assert verdict.decided_by["semantics"] == "judge tester"


def test_a_ruling_leaves_alone_what_it_is_not_about():
    rules = ArgumentRules({"note": "a", "day": "2026-01-02"}, constraints={"count": {"maximum": 3}})
    case = Case("c", "x", ExpectTool("f", rules))
    verdict = judged(
        case,
        ruling("equivalent"),
        ruling("equivalent", "count"),
        ruling("equivalent", "extra"),
        note="b",
        count=9,
        extra=1,
    )
    found = verdict.evidence["semantics"]["calls"][0]
    assert [each["pointer"] for each in found["missing"]] == ["/day"]
    assert [each["pointer"] for each in found["wrong"]] == ["/count"]
    assert [each["pointer"] for each in found["unexpected"]] == ["/extra"]
    assert [each["pointer"] for each in found["notes"] if each["note"] == "judged_equivalent"] == ["/note"]
    assert verdict.attribution == "parameter_error.missing"


def test_the_reason_of_a_ruling_is_evidence():
    verdict = judged(STRICT, replace(ruling("different"), reason="a day later"), note="b")
    assert verdict.evidence["semantics"]["calls"][0]["wrong"][0]["why"] == "a day later"


def test_a_temporal_argument_ruled_different_stays_temporal():
    case = Case("c", "x", ExpectTool("f", ArgumentRules({"note": "a", "day": "tomorrow"})))
    verdict = judged(case, ruling("different", "day"), note="a", day="today")
    assert verdict.attribution == "parameter_error.temporal"


def test_rulings_on_other_pairs_and_on_malformed_calls_change_nothing():
    assert judged(STRICT, ruling("equivalent", at=1), note="b").passed is False
    malformed = evaluate(STRICT, TOOL, calls(broken("f")), rulings=[ruling("equivalent")])
    assert malformed.structure == "malformed"
    unknown = evaluate(STRICT, (), calls(call("f", note="b")), rulings=[ruling("equivalent")])
    assert unknown.semantics == "acceptable"
    assert evaluate(HELLO, TOOLS, said("Hello!"), rulings=[ruling("different")]).passed is True


PATTERN = PatternObject({"city": PatternKey((PatternValue("Oslo"), PatternValue("Bergen")))})


@pytest.mark.parametrize(
    ("arguments", "result", "passed"),
    [
        ({"where": {"city": "Oslo"}}, "exact", True),
        ({"where": {"city": "Bergen"}, "count": 5}, "acceptable", True),
        ({"where": {"city": "Rome"}}, "wrong", False),
        ({}, "wrong", False),
    ],
)
def test_patterns_in_a_verdict(arguments, result, passed):
    rules = ArgumentRules({"note": "a"}, patterns={"where": (PATTERN, PatternValue(None))}, optional=("count",))
    verdict = judge(Case("c", "x", ExpectTool("f", rules)), calls(call("f", note="a", **arguments)), TOOL)
    assert (verdict.semantics, verdict.passed) == (result, passed)
    if result == "wrong" and arguments:
        assert verdict.evidence["semantics"]["calls"][0]["wrong"][0]["pointer"] == "/where/city"


def test_a_list_of_no_patterns_is_met_by_nothing():
    rules = ArgumentRules({"note": "a"}, patterns={"where": ()})
    verdict = judge(Case("c", "x", ExpectTool("f", rules)), calls(call("f", note="a", where={})), TOOL)
    assert verdict.semantics == "wrong"


def test_stating_the_default_of_an_optional_argument_is_leaving_it_out():
    rules = ArgumentRules({"note": "a"}, one_of={"count": (7,)}, optional=("count",))
    case = Case("c", "x", ExpectTool("f", rules))
    assert judge(case, calls(call("f", note="a")), TOOL).passed is True
    assert judge(case, calls(call("f", note="a", count=5)), TOOL).passed is True
    assert judge(case, calls(call("f", note="a", count=7)), TOOL).passed is True
    assert judge(case, calls(call("f", note="a", count=6)), TOOL).passed is False


def test_an_excluded_case_never_passes_and_never_fails():
    case = replace(STRICT, excluded="the gold lacks a required argument")
    for outcome in (calls(call("f", note="back soon")), calls(call("f")), said("no")):
        verdict = judge(case, outcome, TOOL)
        assert (verdict.passed, verdict.decided_by["passed"]) == (None, "case_excluded")
        assert verdict.evidence["excluded"] == "the gold lacks a required argument"


def test_a_case_is_judged_against_its_own_tools():
    own = replace(SEARCH, own_tools=(Tool("search_orders", "", {"type": "object", "properties": {}}),))
    loose = calls(call("search_orders", email="sam@example.test", status="shipped"))
    assert judge(own, loose, ()).passed is True
    assert (
        judge(replace(own, own_tools=(Tool("search_orders", "", {"maxProperties": 1}),)), loose).structure == "invalid"
    )


@given(st.sampled_from(["equivalent", "different", "undecided"]), st.text(), st.text())
def test_a_ruling_never_turns_an_equal_value_wrong(verdict, value, other):
    case = Case("c", "x", ExpectTool("f", ArgumentRules({"note": value})))
    assert judged(case, ruling(verdict), note=value).passed is not False
    if value != other:
        assert judged(case, ruling("different"), note=other).semantics in ("wrong", "acceptable")
