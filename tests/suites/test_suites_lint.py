"""Each lint rule finds its fault, and only where it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from suite_samples import CASE, TOOL, lines, suite_files

from callscope.contract import (
    Alternative,
    ArgumentRules,
    Case,
    ExpectClarification,
    ExpectedCall,
    ExpectNoCall,
    ExpectText,
    ExpectTool,
    ExpectTools,
    FakeAnswer,
    Suite,
    Tolerance,
    Tool,
)
from callscope.suites import RULES, bundled_suites, lint_suite, load_suite, load_suite_bytes
from callscope.suites.lint_version import changed_since

OSLO = ArgumentRules({"city": "Oslo"})
TRAIN = Tool(**TOOL)
GOOD = Case("good", "A train to Oslo?", ExpectTool("find_train", OSLO), behaviour="positive_selection")


def suite(*cases: Case, tools: tuple[Tool, ...] = (TRAIN,), **rest: Any) -> Suite:
    return Suite(
        **{
            "name": "s",
            "version": "0",
            "kind": "portable",
            "system": "Help.",
            "tools": tools,
            "cases": cases,
            "files": {},
            **rest,
        }
    )


def tool(parameters: dict[str, Any], name: str = "find_train") -> Tool:
    return Tool(name, "Find a train.", parameters)


def gold(rules: ArgumentRules, **rest: Any) -> Case:
    return replace(GOOD, expected=ExpectTool("find_train", rules, **rest))


def calls(*expected: ExpectedCall) -> Case:
    return replace(GOOD, expected=ExpectTools(expected))


def asking(*missing: str, **rest: Any) -> Case:
    return replace(GOOD, behaviour="missing_information", expected=ExpectClarification(missing, **rest))


def prompt(text: str, **rest: Any) -> Case:
    return replace(GOOD, prompt=text, **rest)


def of_string(**schema: Any) -> Tool:
    return tool({"type": "object", "properties": {"city": {"type": "string", **schema}}, "required": ["city"]})


@dataclass
class Fault:
    rule: str
    suite: Suite
    field: str | None
    says: str
    severity: str | None = None


FAULTS = [
    Fault("duplicate-tool", suite(GOOD, tools=(TRAIN, TRAIN)), "tools[1]", "first one wins"),
    Fault(
        "tool-schema-unbuildable",
        suite(GOOD, tools=(tool({"type": "objekt"}),)),
        "tools[0].parameters",
        "no JSON Schema",
    ),
    Fault("tool-schema-unbuildable", suite(GOOD, tools=(of_string(pattern="("),)), "tools[0].parameters", "regex"),
    Fault(
        "tool-schema-unbuildable",
        suite(GOOD, tools=(tool({"$ref": "http://example.test/x"}),)),
        "tools[0].parameters",
        "no JSON Schema",
    ),
    Fault(
        "required-undeclared",
        suite(GOOD, tools=(tool({"type": "object", "properties": {"city": {}}, "required": ["town"]}),)),
        "tools[0].parameters.required",
        "'town'",
    ),
    Fault(
        "enum-type",
        suite(GOOD, tools=(of_string(enum=["Oslo", 1]),)),
        "tools[0].parameters.properties.city.enum",
        "1 in the enum",
    ),
    Fault(
        "tool-without-description",
        suite(GOOD, tools=(replace(TRAIN, description=" "),)),
        "tools[0].description",
        "no description",
    ),
    Fault("name-not-portable", suite(GOOD, tools=(TRAIN, replace(TRAIN, name="math.f"))), "tools[1].name", "math.f"),
    Fault(
        "name-not-portable",
        suite(GOOD, tools=(tool({"type": "object", "properties": {"city": {}, "a-b": {}}}),)),
        "tools[0].parameters.properties",
        "a-b",
    ),
    Fault(
        "keyword-not-portable",
        suite(GOOD, tools=(of_string(oneOf=[{}]),)),
        "tools[0].parameters.properties.city.oneOf",
        "compatibility suite",
    ),
    Fault(
        "keyword-not-portable",
        suite(GOOD, tools=(of_string(pattern="^O"),)),
        "tools[0].parameters.properties.city.pattern",
        "some providers",
        "info",
    ),
    Fault(
        "shape-not-portable",
        suite(GOOD, tools=(of_string(type=["string", "null"]),)),
        "tools[0].parameters.properties.city.type",
        "list of types",
    ),
    Fault("shape-not-portable", suite(GOOD, tools=(tool({"type": "object"}),)), "tools[0].parameters", "even {}"),
    Fault(
        "shape-not-portable",
        suite(GOOD, tools=(of_string(type="array"),)),
        "tools[0].parameters.properties.city",
        "items with a type",
    ),
    Fault(
        "shape-not-portable",
        suite(GOOD, tools=(of_string(type="integer", enum=[1]),)),
        "tools[0].parameters.properties.city.enum",
        "enums of strings",
    ),
    Fault(
        "size-not-portable", suite(GOOD, tools=tuple(replace(TRAIN, name=f"t{n}") for n in range(21))), None, "21 tools"
    ),
    Fault("unknown-tool", suite(replace(GOOD, expected=ExpectTool("x", OSLO))), "expected.arguments", "no tool 'x'"),
    Fault(
        "unknown-tool",
        suite(replace(GOOD, expected=ExpectNoCall("x"), behaviour="abstention")),
        "expected.target",
        "no tool 'x'",
    ),
    Fault("unknown-tool", suite(replace(GOOD, tools=("find_train", "x"))), "tools", "no tool 'x'"),
    Fault("tool-not-offered", suite(replace(GOOD, tools=())), "expected.arguments", "does not offer it"),
    Fault(
        "unknown-parameter",
        suite(gold(ArgumentRules({"city": "Oslo", "town": "x"}))),
        "expected.arguments",
        "no parameter 'town'",
    ),
    Fault(
        "unknown-parameter",
        suite(gold(ArgumentRules({"city": "Oslo"}, temporal=("when",)))),
        "expected.arguments",
        "no parameter 'when'",
    ),
    Fault(
        "unknown-parameter",
        suite(gold(ArgumentRules({"city": "Oslo", "town": "x"})), tools=(of_string(),)),
        "expected.arguments",
        "'town'",
        "warning",
    ),
    Fault("gold-violates-schema", suite(gold(ArgumentRules({"city": 3}))), "expected.arguments", "/city"),
    Fault(
        "gold-violates-schema",
        suite(gold(ArgumentRules({"city": "O"}, {"seats": (1, 0)}))),
        "expected.arguments",
        "/seats",
    ),
    Fault("gold-violates-schema", suite(gold(ArgumentRules({"seats": 1}))), "expected.arguments", "requires 'city'"),
    Fault(
        "gold-violates-schema",
        suite(gold(ArgumentRules(optional=("city",)))),
        "expected.arguments",
        "calls it optional",
    ),
    Fault(
        "gold-violates-schema",
        suite(gold(OSLO, alternatives=(Alternative(ArgumentRules({"city": 3})),))),
        "expected.alternatives[0].arguments",
        "/city",
    ),
    Fault(
        "gold-violates-schema",
        suite(calls(ExpectedCall("find_train", OSLO), ExpectedCall("find_train", ArgumentRules({"city": 3})))),
        "expected.calls[1].arguments",
        "/city",
    ),
    Fault(
        "bad-constraint",
        suite(gold(ArgumentRules({"city": "O"}, constraints={"seats": {"type": "whole"}}))),
        "expected.arguments.constraints.seats",
        "no JSON Schema",
    ),
    Fault(
        "bad-constraint",
        suite(gold(ArgumentRules({"city": "O"}, constraints={"city": {"integer": True}}))),
        "expected.arguments.constraints.city",
        "refuses the expected value",
    ),
    Fault(
        "bad-constraint",
        suite(gold(ArgumentRules({"city": "\ud800"}, constraints={"city": {"minLength": 1}}))),
        "expected.arguments.constraints.city",
        "refuses the expected value",
    ),
    Fault(
        "contradictory-rules",
        suite(gold(ArgumentRules({"city": "O"}, forbidden=("city",)))),
        "expected.arguments.forbidden",
        "also allowed",
    ),
    Fault(
        "contradictory-rules",
        suite(gold(ArgumentRules({"city": "O"}, {"city": ("O",)}))),
        "expected.arguments.one_of",
        "choice of values",
    ),
    Fault(
        "contradictory-rules",
        suite(gold(ArgumentRules({"city": "O"}, {"seats": ()}))),
        "expected.arguments.one_of",
        "the list is empty",
    ),
    Fault(
        "pointer-to-nowhere",
        suite(gold(ArgumentRules({"city": "O"}, tolerance={"/city": Tolerance(1)}))),
        "expected.arguments.tolerance",
        "no number",
    ),
    Fault(
        "pointer-to-nowhere",
        suite(gold(ArgumentRules({"city": "O"}, unordered=("city",)))),
        "expected.arguments.unordered",
        "no array",
    ),
    Fault("bad-clarification", suite(asking("seats")), "expected.missing", "no required parameter of find_train"),
    Fault("bad-clarification", suite(asking()), "expected.missing", "must name what is missing"),
    Fault("bad-clarification", suite(asking("city", words={"town": ("x",)})), "expected.words", "is not missing"),
    Fault("bad-clarification", suite(asking("city", words={"city": ()})), "expected.words", "hold none"),
    Fault("bad-call-order", suite(calls()), "expected.calls", "no calls are required"),
    Fault(
        "bad-call-order",
        suite(calls(*2 * (ExpectedCall("find_train", OSLO, id="a"),))),
        "expected.calls",
        "two calls have the id 'a'",
    ),
    Fault(
        "bad-call-order",
        suite(calls(ExpectedCall("find_train", OSLO, depends_on=("z",)))),
        "expected.calls",
        "no call has that id",
    ),
    Fault(
        "bad-call-order",
        suite(
            calls(
                ExpectedCall("find_train", OSLO, id="a", depends_on=("b",)),
                ExpectedCall("find_train", OSLO, id="b", depends_on=("a",)),
            )
        ),
        "expected.calls",
        "circle",
    ),
    Fault("system-text", suite(GOOD, system="a\r\nb"), None, "carriage returns"),
    Fault("system-text", suite(GOOD, system=""), None, "without instructions", "info"),
    Fault("behaviour-missing", suite(GOOD, prompt("Second", id="b", behaviour=None)), "behaviour", "does not say"),
    Fault("behaviour-missing", suite(replace(GOOD, behaviour=None)), "behaviour", "none of the 1 cases"),
    Fault("behaviour-contradicted", suite(replace(GOOD, expected=ExpectText())), "behaviour", "expects 'text'"),
    Fault("behaviour-uncovered", suite(GOOD), "behaviour", "no case tests abstention"),
    Fault("duplicate-prompt", suite(GOOD, replace(GOOD, id="b")), "prompt", "that of 'good'"),
    Fault(
        "near-duplicate-prompt",
        suite(GOOD, prompt("a TRAIN to oslo", id="b")),
        "prompt",
        "case, spaces or punctuation only",
    ),
    Fault("near-duplicate-prompt", suite(prompt("Order 12"), prompt("Order 34", id="b")), "prompt", "digits only"),
    Fault("empty-prompt", suite(prompt(" \n")), "prompt", "empty"),
    Fault("relative-date", suite(prompt("A train to Oslo tomorrow?")), "reference_time", "'tomorrow'"),
    Fault("relative-date", suite(prompt("Ein Zug morgen nach Oslo?", locale="de-AT")), "reference_time", "'morgen'"),
    Fault("relative-date", suite(prompt("明日のオスロ行き", locale="ja")), "reference_time", "明日"),
    Fault("bad-reference-time", suite(replace(GOOD, reference_time="soon")), "reference_time", "ISO 8601"),
    Fault("bad-locale", suite(replace(GOOD, locale="e n")), "locale", "language tag"),
    Fault("family-of-one", suite(replace(GOOD, family="typo")), "family", "'typo'"),
    Fault("unreachable-fake", suite(GOOD, fakes={"find_train": (FakeAnswer(1),)}), None, "max_tool_rounds is 0"),
    Fault("unreachable-fake", suite(GOOD, max_tool_rounds=3), "max_tool_rounds", "no fakes"),
    Fault("unreachable-fake", suite(GOOD, max_tool_rounds=3, fakes={"x": (FakeAnswer(1),)}), "x", "no tool 'x'"),
    Fault(
        "unreachable-fake",
        suite(GOOD, max_tool_rounds=3, fakes={"find_train": (FakeAnswer(1), FakeAnswer(2, {"city": [1]}))}),
        "find_train[1]",
        "answer [0] matches first",
    ),
    Fault(
        "unreachable-fake",
        suite(GOOD, max_tool_rounds=3, fakes={"find_train": (FakeAnswer(2, {"town": 1}),)}),
        "find_train[0].when",
        "no parameter 'town'",
    ),
    Fault(
        "contradictory-item", suite(replace(GOOD, item="global_negative")), "item", "the expectation makes it positive"
    ),
    Fault("contradictory-item", suite(replace(GOOD, label="no_tool")), "label", "is labelled call"),
    Fault("contradictory-item", suite(replace(GOOD, negative_type="A")), "negative_type", "has no negative type"),
    Fault(
        "changed-without-version",
        replace(suite(GOOD), sources={"cases.jsonl": b"x", "versions.json": b'{"0": {"cases.jsonl": "00"}}'}),
        "versions.json: 0",
        "cases.jsonl has changed, but the version is still 0",
    ),
    Fault(
        "changed-without-version",
        replace(suite(GOOD), sources={"versions.json": b'{"0": {"cases.jsonl": "00"}}'}),
        "versions.json: 0",
        "is not there any more",
    ),
    Fault(
        "changed-without-version",
        replace(suite(GOOD), sources={"versions.json": b'{"1": {"cases.jsonl": "00"}}'}),
        "0",
        "is not recorded here",
        "warning",
    ),
    Fault("bad-own-tools", suite(replace(GOOD, own_tools=(TRAIN, TRAIN))), "own_tools", "two of the case's own tools"),
    Fault(
        "bad-own-tools",
        suite(replace(GOOD, own_tools=(Tool("find_train", "d", {"type": "dict"}),))),
        "own_tools[0].parameters",
        "no JSON Schema",
    ),
    Fault(
        "bad-waiver",
        suite(replace(GOOD, metadata={"lint_allow": {"x": "y"}})),
        "metadata.lint_allow",
        "'x' names no rule",
    ),
    Fault(
        "gold-violates-schema",
        suite(gold(ArgumentRules({"city": "\ud800"})), tools=(of_string(minLength=3),)),
        "expected.arguments",
        "cannot be checked",
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.rule}: {fault.says}")
def test_a_rule_finds_its_fault(fault):
    hits = [found for found in lint_suite(fault.suite) if found.rule == fault.rule]
    hit = next(found for found in hits if fault.says in found.message)
    assert hit.field == fault.field
    assert hit.severity == (fault.severity or next(rule.severity for rule in RULES if rule.name == fault.rule))


def test_every_rule_has_a_fault_it_finds():
    assert {fault.rule for fault in FAULTS} == {rule.name for rule in RULES}
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_a_good_case_has_no_finding_but_the_classes_that_are_not_covered():
    assert {found.rule for found in lint_suite(suite(GOOD))} == {"behaviour-uncovered"}


@pytest.mark.parametrize(
    "case",
    [
        prompt("A train on 3 May?"),
        prompt("A train tomorrow?", reference_time="2026-05-03T09:00:00+02:00"),
        prompt("Guten Morgen, ein Zug?", locale="de"),
        prompt("Das gibt es hier nicht", locale="de"),
        gold(ArgumentRules({"city": "Oslo"}, forbidden=("email",))),
        gold(
            ArgumentRules({"city": "Oslo"}, optional=("seats",), constraints={"seats": {"integer": True, "minimum": 1}})
        ),
        gold(ArgumentRules(constraints={"city": {"string": True}})),
        gold(ArgumentRules({"city": "Oslo", "seats": 2}, tolerance={"/seats": Tolerance(1)})),
        replace(GOOD, family="good"),
        asking("city", target="find_train", words={"city": ("town",)}),
    ],
)
def test_what_is_right_is_left_alone(case):
    assert {found.rule for found in lint_suite(suite(case))} <= {"behaviour-uncovered"}


def test_paraphrases_of_one_family_may_differ_in_digits_only():
    cases = (prompt("Order 12"), prompt("Order 34", id="b", family="good"))
    assert "near-duplicate-prompt" not in {found.rule for found in lint_suite(suite(*cases))}


def test_other_kinds_of_suites_may_leave_the_portable_core():
    odd = tool({"oneOf": [{"type": "object"}], "properties": {"city": {"type": ["string", "null"]}}}, "math.f")
    rules = {found.rule for found in lint_suite(suite(GOOD, tools=(TRAIN, odd), kind="compatibility"))}
    assert not {rule for rule in rules if rule.endswith("portable")}


def test_a_waiver_with_a_reason_silences_one_rule_of_one_case():
    wrong = gold(ArgumentRules({"city": 3}))
    waived = replace(wrong, metadata={"lint_allow": {"gold-violates-schema": "a type the tool refuses, on purpose"}})
    other = replace(wrong, id="b", prompt="Another")
    hits = [found.case_id for found in lint_suite(suite(waived, other)) if found.rule == "gold-violates-schema"]
    assert hits == ["b"]


@pytest.mark.parametrize("waiver", [{"gold-violates-schema": ""}, {"no-such-rule": "why"}, ["gold-violates-schema"], 3])
def test_a_waiver_without_a_reason_or_a_rule_is_a_finding(waiver):
    findings = lint_suite(suite(replace(gold(ArgumentRules({"city": 3})), metadata={"lint_allow": waiver})))
    assert {"bad-waiver", "gold-violates-schema"} <= {found.rule for found in findings}


def test_a_finding_about_a_case_of_a_file_knows_its_line():
    bad = {**CASE, "id": "b", "prompt": "Bergen tomorrow?"}
    files = suite_files(cases_jsonl=b"\n" + lines(CASE, bad))
    hit = next(found for found in lint_suite(load_suite_bytes(files)) if found.rule == "relative-date")
    assert (hit.file, hit.line, hit.case_id) == ("cases.jsonl", 3, "b")


def test_lines_are_found_beside_rows_that_are_no_cases():
    loaded = load_suite_bytes(suite_files(cases_jsonl=lines({**CASE, "prompt": "Oslo tomorrow?"})))
    sources = {"cases.jsonl": b"{\n[]\n{}\n" + loaded.sources["cases.jsonl"]}
    assert [found.line for found in lint_suite(replace(loaded, sources=sources)) if found.rule == "relative-date"] == [
        4
    ]


@pytest.mark.parametrize(
    ("pointer", "found"),
    [("/stops/1", False), ("/stops/0", True), ("/stops/x", True), ("/stops/7", True), ("/a~1b~0", False)],
)
def test_a_tolerance_may_point_into_lists_and_odd_keys(pointer, found):
    stops = {"stops": ["x", 3], "a/b~": 2}
    open_tool = tool({"type": "object", "properties": {"stops": {}, "a/b~": {}}})
    findings = lint_suite(suite(gold(ArgumentRules(stops, tolerance={pointer: Tolerance(1)})), tools=(open_tool,)))
    assert ("pointer-to-nowhere" in {finding.rule for finding in findings}) is found


def test_an_array_of_the_gold_may_be_unordered():
    open_tool = tool({"type": "object", "properties": {"stops": {}}})
    case = gold(ArgumentRules({"stops": ["x"]}, unordered=("/stops",)))
    assert "pointer-to-nowhere" not in {found.rule for found in lint_suite(suite(case, tools=(open_tool,)))}


def test_calls_that_wait_for_each_other_in_a_line_can_be_ordered():
    first, second = ExpectedCall("find_train", OSLO, id="a"), ExpectedCall("find_train", OSLO, depends_on=("a",))
    assert "bad-call-order" not in {found.rule for found in lint_suite(suite(calls(second, first)))}


def test_a_fake_for_another_value_is_reachable():
    answers = {
        "find_train": (FakeAnswer(1, {"city": "Oslo"}), FakeAnswer(2, {"city": "Bergen", "seats": 1}), FakeAnswer(3))
    }
    findings = lint_suite(suite(GOOD, max_tool_rounds=3, fakes=answers))
    assert "unreachable-fake" not in {found.rule for found in findings}


def test_errors_come_first():
    order = [
        found.severity for found in lint_suite(suite(gold(ArgumentRules({"city": 3})), tools=(of_string(pattern="."),)))
    ]
    assert order == sorted(order, key=["error", "warning", "info"].index)
    assert set(order) == {"error", "warning", "info"}


SCHEMA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["object", "string", "integer", "(", "city"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "required", "items", "enum", "anyOf", "oneOf", "$ref", "pattern", "city", "not"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "required", "$defs", "enum", "anyOf"]), SCHEMA), SCHEMA)
def test_lint_never_raises_whatever_the_schemas_and_values_are(parameters, value):
    rules = {"required_equals": {"city": value}, "constraints": {"city": parameters}, "one_of": {"seats": [value]}}
    case = {**CASE, "expected": {"kind": "tool", "name": "find_train", "arguments": rules}}
    tools = json.dumps([{**TOOL, "parameters": parameters}]).encode()
    lint_suite(load_suite_bytes(suite_files(tools_core_json=tools, cases_jsonl=lines(case))))


@pytest.mark.parametrize("name", bundled_suites())
def test_a_bundled_suite_lints_clean(name):
    findings = lint_suite(load_suite(name))
    assert [found for found in findings if found.severity != "info"] == []


@pytest.mark.parametrize("broken", [b"{", b"[]", b'{"1": 3}', b'{"1": {}}', b'{"1": {"cases.jsonl": "0"}, "1": {}}'])
def test_a_history_of_versions_that_cannot_be_read_is_a_fault(broken):
    found = lint_suite(replace(suite(GOOD), sources={"versions.json": broken}))
    assert [each.severity for each in found if each.rule == "changed-without-version"] == ["error"]


def test_an_earlier_copy_holds_a_version_to_its_cases():
    files = suite_files()
    earlier = load_suite_bytes(files, name="s", version="1")
    changed = load_suite_bytes({**files, "system.txt": b"Other words."}, name="s", version="1")
    assert [spot.file for spot in changed_since(changed, earlier)] == ["system.txt"]
    assert not list(changed_since(earlier, earlier))
    assert not list(changed_since(replace(changed, version="2"), earlier))
