"""Inspecting a run finds every failure, in every category it belongs to, with evidence and a hint of whose it is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec import structs
from reports_runs import HOSTILE, Run, derived, loss, record, support_run

from callscope.contract import (
    Alternative,
    ArgumentRules,
    Case,
    Derived,
    ExpectClarification,
    ExpectNoCall,
    ExpectTool,
    Refusal,
    Text,
    Transformation,
    TransportFault,
    TrialKey,
)
from callscope.errors import InputError
from callscope.reports import failures, inspect_text
from callscope.reports.blame import Agreement, hints
from callscope.reports.evidence import evidence, expected_text, outcome_text
from callscope.reports.inspect import agreements, categories
from callscope.reports.rawtext import raw_text

KEY = TrialKey("s", "e", "m", "c", 0)


@pytest.fixture(scope="module")
def run() -> Run:
    return support_run()


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, ()),
        ({"passed": False, "selection": "wrong_tool", "attribution": "miss_recall"},
         ("selection.wrong_tool", "attribution.miss_recall")),
        ({"passed": False, "structure": "invalid", "attribution": "parameter_error.value"},
         ("structure.invalid", "attribution.parameter_error.value")),
        ({"passed": False, "semantics": "wrong"}, ("semantics.wrong",)),
        ({"passed": False, "violations": ("extra_call",)}, ("violation.extra_call",)),
        ({"passed": True, "violations": ("success_claimed_before_execution",)},
         ("violation.success_claimed_before_execution",)),
        ({"passed": False, "recovery": {}}, ("recovery.failed",)),
        ({"passed": False}, ("other.failed",)),
        ({"passed": None, "selection": "undecided"}, ("undecided.selection",)),
        ({"passed": None, "semantics": "undecided"}, ("undecided.semantics",)),
        ({"passed": None}, ("undecided.other",)),
        ({"passed": None, "acceptance": "timeout", "selection": "not_observed"}, ("coverage.timeout",)),
    ],
)  # fmt: skip
def test_a_trial_stands_in_every_category_it_fails_in(changes: dict[str, Any], found: tuple[str, ...]) -> None:
    assert categories(derived(KEY, Text("x"), **changes).verdict) == found


def test_every_category_of_every_model_has_an_example_and_a_whole_count(run: Run) -> None:
    groups = failures(run)
    expected: dict[tuple[str, str, str, str], int] = {}
    for row in run.rows:
        v = row.verdict
        for name in categories(v):
            place = (name, v.suite, v.experiment, v.model)
            expected[place] = expected.get(place, 0) + 1
    assert {(g.category, *g.key): g.trials for g in groups} == expected
    assert all(len(g.examples) == 1 for g in groups)


def test_the_limit_bounds_examples_and_never_counts(run: Run) -> None:
    few, many = failures(run, limit=1), failures(run, limit=100)
    assert [g.trials for g in few] == [g.trials for g in many]
    assert all(len(g.examples) == g.trials for g in many)


@pytest.mark.parametrize(
    "choice",
    [
        {"suite": "support"},
        {"experiment": "required"},
        {"model": "acme/atlas-mini"},
        {"case": "abstain-01"},
        {"category": "attribution"},
        {"category": "attribution.parameter_error"},
        {"category": "selection.wrong_tool"},
        {"category": "wrong_tool"},
        {"category": "parameter_error"},
        {"category": "timeout"},
    ],
)
def test_choices_narrow_what_is_found(run: Run, choice: dict[str, str]) -> None:
    groups = failures(run, **choice, limit=50)
    assert groups
    for group in groups:
        if "category" in choice:
            assert f".{choice['category']}." in f".{group.category}."
        for failure in group.examples:
            v = failure.derived.verdict
            facts = {"suite": v.suite, "experiment": v.experiment, "model": v.model, "case": v.case_id}
            assert all(facts.get(name, value) == value for name, value in choice.items())


def test_a_category_is_matched_by_whole_words(run: Run) -> None:
    with pytest.raises(InputError, match="no such category"):
        failures(run, category="select")
    assert inspect_text(()) == "No failures.\n"


def test_the_text_shows_evidence_rules_and_raw_bytes_and_nothing_that_steers_a_terminal(run: Run) -> None:
    text = inspect_text(failures(run, limit=2), raw=lambda key: record(key, b"\x1b[2J\xff raw bytes"))
    assert "decided" not in text.splitlines()[0]
    assert "(by names)" in text
    assert "\\x1b[2J\\xff raw bytes" in text
    assert "shown above" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", text)
    assert inspect_text(failures(run), raw=lambda key: None).count("no record is stored") > 1


def test_what_is_not_shown_is_counted(run: Run) -> None:
    group = next(g for g in failures(run) if g.trials > 1)
    assert f"… {group.trials - 1} more" in inspect_text([group])


def test_agreement_counts_models_that_never_pass_a_case(run: Run) -> None:
    for (suite, experiment, case_id), found in agreements(run).items():
        rows = [r.verdict for r in run.rows if (r.verdict.suite, r.verdict.experiment) == (suite, experiment)]
        mine = [v for v in rows if v.case_id == case_id and v.passed is not None]
        passing = {v.model for v in mine if v.passed}
        assert found == Agreement(len({v.model for v in mine}), len({v.model for v in mine} - passing))


@pytest.mark.parametrize(
    ("row", "agreement", "party"),
    [
        (loss(KEY, "schema_rejected", "bad_schema"), None, "provider protocol"),
        (loss(KEY, "authentication_error", "401"), None, "settings"),
        (loss(KEY, "harness_error", "bug"), None, "adapter"),
        (derived(KEY, Text("x"), passed=False, selection="wrong_tool"), Agreement(3, 3), "fixture"),
        (derived(KEY, Text("x"), passed=False, selection="wrong_tool"), Agreement(3, 2), "model"),
        (derived(KEY, Text("x"), passed=False, selection="wrong_tool"), Agreement(1, 1), "model"),
        (derived(KEY, Text("x", ("text_tool_call",)), passed=False, selection="no_call_when_expected"), None,
         "provider protocol"),
        (derived(KEY, Text("x"), passed=False, structure="malformed", flags=("truncated",)), None, "settings"),
        (derived(KEY, Text("x"), passed=False, structure="malformed"), None, "model"),
        (derived(KEY, Text("x"), passed=None, semantics="undecided"), None, "validator"),
        (derived(KEY, Text("x"), passed=False, attribution="judge_failure"), None, "validator"),
        (derived(KEY, Refusal(None), passed=False, selection="refused"), None, "model"),
        (derived(KEY, Text("x"), passed=False, structure="invalid",
                 transformations=(Transformation("/t", "drop"),)), None, "adapter"),
    ],
)  # fmt: skip
def test_the_likeliest_party_is_named_first(row: Derived, agreement: Agreement | None, party: str) -> None:
    found = hints(row, agreement)
    assert found[0].party == party
    assert all(hint.reason for hint in found)


def test_what_passed_gets_no_hint() -> None:
    assert hints(derived(KEY, Text("x"))) == ()


def test_expectations_are_told_in_words() -> None:
    assert expected_text(ExpectNoCall("cancel")) == "no call of cancel"
    assert expected_text(ExpectNoCall()) == "no call of any tool"
    asked = expected_text(ExpectClarification(("zip",), target="quote"))
    assert asked == "a question for: zip (before calling quote)"
    rules = ArgumentRules(required_equals={"id": 1})
    text = expected_text(ExpectTool("look", rules, (Alternative(rules, "search"),)))
    assert text == 'call look with {"required_equals":{"id":1}}\nor search with {"required_equals":{"id":1}}'


def test_a_refusal_without_words_says_so() -> None:
    assert outcome_text(Refusal(None)) == "refusal without words"


def test_long_texts_are_cut_and_say_by_how_much() -> None:
    case = Case("c", "p" * 3000, ExpectNoCall())
    shown = evidence(derived(KEY, Text("x" * 5000)), case)
    assert shown.prompt.endswith("… 1000 more characters")
    assert shown.outcome.endswith("more characters")


def test_evidence_without_its_case_is_still_shown() -> None:
    shown = evidence(derived(KEY, Text("x"), recovery={"rounds": 2}, evidence={"guard": {"a": 1}}), None)
    assert shown.prompt == shown.expected == ""
    assert [stage.name for stage in shown.stages][-2:] == ["recovery", "guard"]


def test_raw_text_shows_faults_and_harness_errors() -> None:
    whole = record(KEY)
    last = structs.replace(
        whole.rounds[0].exchanges[0], status=None, fault=TransportFault("timeout", "timeout_total", HOSTILE[2])
    )
    rounds = tuple(structs.replace(whole.rounds[0], exchanges=exchanges) for exchanges in ((last,), ()))
    broken = structs.replace(whole, rounds=rounds)
    text = raw_text(structs.replace(broken, harness_error="Traceback"), limit=5)
    assert "fault timeout_total: \\x1b[31mred" in text
    assert "no response" in text
    assert "harness error: Trace" in text
    assert "more characters, see --full" in text
