"""`inspect` answers what was asked: short names match, unknown names are errors, and "none" means none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from reports_runs import Run, derived, record, support_run

from callscope.contract import Case, ExpectText, Round, Text, ToolCall, ToolCalls, TrialKey
from callscope.errors import InputError
from callscope.reports import failures, inspect_text, render_html, render_junit, summarise
from callscope.reports.evidence import evidence
from callscope.reports.filters import CATEGORIES, in_category
from callscope.reports.inspect import categories
from callscope.reports.rawtext import raw_text

KEY = TrialKey("support", "auto", "m", "c", 0)
SYSTEM, TOOLS = "Be brief. " * 60, [{"name": f"tool_{i}", "about": "x" * 40} for i in range(20)]
PROMPT = "Where is ORD-417733? " * 200


@pytest.fixture(scope="module")
def run() -> Run:
    return support_run(hostile=False)


@pytest.mark.parametrize(
    ("name", "asked", "found"),
    [
        ("selection.wrong_tool", "wrong_tool", True),
        ("selection.wrong_tool", "selection", True),
        ("selection.wrong_tool", "selection.wrong_tool", True),
        ("selection.wrong_tool", "wrong", False),
        ("attribution.parameter_error.value", "parameter_error", True),
        ("attribution.parameter_error.value", "parameter_error.value", True),
        ("attribution.parameter_error.value", "attribution.value", False),
    ],
)
def test_a_category_answers_to_every_whole_part_of_its_name(name: str, asked: str, found: bool) -> None:
    assert in_category(name, asked) is found


def test_the_known_categories_are_all_that_a_verdict_can_be_in(run: Run) -> None:
    assert {name for row in support_run().rows for name in categories(row.verdict)} <= set(CATEGORIES)
    assert len(set(CATEGORIES)) == len(CATEGORIES)


@pytest.mark.parametrize(
    ("choice", "nearest"),
    [
        ({"category": "wrong_tol"}, "wrong_tool"),
        ({"model": "acme/atlas-mni"}, "acme/atlas-mini"),
        ({"model": "atlas-mini"}, "acme/atlas-mini"),
        ({"case": "abstain-1"}, "abstain-01"),
        ({"suite": "suport"}, "support"),
        ({"experiment": "requird"}, "required"),
    ],
)
def test_an_unknown_name_is_an_error_that_says_what_there_is(run: Run, choice: dict[str, str], nearest: str) -> None:
    with pytest.raises(InputError) as caught:
        failures(run, **choice)
    text = str(caught.value)
    assert f"Did you mean `{nearest}`?" in text
    assert f"--{next(iter(choice))}" in text
    assert (
        ": support" in text
        or "coverage.timeout" in text
        or "acme/atlas-large-2026, " in text
        or "auto" in text
        or ("select-lookup-01" in text)
    )


def test_names_that_are_known_and_never_together_are_an_error(run: Run) -> None:
    with pytest.raises(InputError, match="no planned trial is of all of these"):
        failures(run, experiment="required", case="clarify-02")


def test_a_known_category_that_nobody_is_in_is_no_error(run: Run) -> None:
    assert failures(run, category="authentication_error") == ()


# ----------------------------------------------------------------------------------------------------------- evidence


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "true"),
        ({"passed": False, "selection": "wrong_tool"}, "false"),
        ({"passed": None, "semantics": "undecided"}, "undecided"),
        ({"passed": None, "acceptance": "timeout", "selection": "not_observed"}, "not observed"),
    ],
)
def test_passed_says_a_word_and_no_stage_is_blank(changes: dict[str, Any], said: str) -> None:
    rules = {"passed": "some_rule", "guard": "g"}
    row = derived(KEY, Text("x"), **{"decided_by": rules, "evidence": {"violations": {"extra_call": 1}}, **changes})
    stages = {stage.name: stage for stage in evidence(row, None).stages}
    assert (stages["passed"].value, stages["passed"].rule) == (said, "some_rule")
    row = structs.replace(row, verdict=structs.replace(row.verdict, violations=("extra_call",)))
    values = {stage.name: stage.value for stage in evidence(row, None).stages}
    assert values["violations"] == "extra_call"
    assert all(values.values())


def test_html_and_junit_say_it_too(run: Run) -> None:
    run = support_run(hostile=False)
    row = next(r for r in run.rows if r.verdict.passed is False)
    row = structs.replace(row, verdict=structs.replace(row.verdict, decided_by={"passed": "selection_failed"}))
    run.rows = [row]
    summary = summarise(run)
    assert '<th scope="row">passed</th><td>false</td><td class="rule">selection_failed</td>' in render_html(
        run, summary
    )
    assert "passed: false (by selection_failed)" in render_junit(run, summary)


def test_a_right_attribution_beside_a_failure_is_explained() -> None:
    changes: dict[str, Any] = {"passed": False, "violations": ("success_claimed_before_execution",)}
    failed = evidence(derived(KEY, Text("Done!"), **changes), None)
    value = next(stage.value for stage in failed.stages if stage.name == "attribution")
    assert value.startswith("correct (by PluginEval's definition")
    passed = evidence(derived(KEY, Text("x")), None)
    assert "correct" in [stage.value for stage in passed.stages if stage.name == "attribution"]


@pytest.mark.parametrize(("queued", "shown"), [(None, False), (0.0, False), (0.01, False), (3.2, True)])
def test_a_wait_of_nothing_is_not_shown(queued: float | None, shown: bool) -> None:
    row = derived(KEY, Text("x"))
    row = structs.replace(row, measures=structs.replace(row.measures, queued=queued))
    assert ("queued" in evidence(row, None).facts) is shown


# ---------------------------------------------------------------------------------------------------------- raw bytes


def _bodies() -> dict[str, dict[str, Any]]:
    said = {"role": "user", "content": PROMPT}
    return {
        "chat": {"model": "m", "messages": [{"role": "system", "content": SYSTEM}, said], "tools": TOOLS},
        "messages": {"model": "m", "system": SYSTEM, "messages": [said], "tools": TOOLS},
        "responses": {
            "instructions": SYSTEM,
            "input": [{"role": "developer", "content": SYSTEM}, said],
            "tools": TOOLS,
        },
        "gemini": {
            "contents": [{"role": "user", "parts": [{"text": PROMPT}]}],
            "systemInstruction": {"parts": [{"text": SYSTEM}]},
            "tools": [{"functionDeclarations": TOOLS}],
        },
        "converse": {"system": [{"text": SYSTEM}], "toolConfig": {"tools": TOOLS}, "messages": [said]},
    }


def _with(request: bytes, response: bytes = b"{}") -> Any:
    whole = record(KEY, response)
    exchange = structs.replace(whole.rounds[0].exchanges[0], request=request)
    return structs.replace(whole, rounds=(Round((exchange,)),))


@pytest.mark.parametrize("body", _bodies().values(), ids=_bodies())
@pytest.mark.parametrize("indent", [None, 2])
def test_a_raw_request_is_shown_without_what_all_share_and_with_the_whole_prompt(
    body: dict[str, Any], indent: int | None
) -> None:
    data = json.dumps(body, indent=indent).encode()
    text = raw_text(_with(data))
    assert PROMPT in text
    assert "tool_19" not in text
    assert SYSTEM not in text
    assert "see --full" in text
    whole = raw_text(_with(data), full=True)
    assert data.decode() in whole
    assert "see --full" not in whole


def test_what_is_left_of_a_request_are_its_own_bytes() -> None:
    data = b'{ "tools" :[' + b"1," * 200 + b'1],"model":"m", "temperature": 0.10, "messages":[{"role":"user"}]}'
    assert '"model":"m", "temperature": 0.10, "messages":[{"role":"user"}]}' in raw_text(_with(data))


def test_the_calls_of_a_response_are_never_cut() -> None:
    arguments = {"text": "y" * 9000, "last": "here"}
    response = json.dumps({"calls": [{"name": "t", "arguments": arguments}]}).encode()
    assert response.decode() in raw_text(_with(b"{}", response))
    row = derived(KEY, ToolCalls((ToolCall("1", "t", arguments),), ()), passed=False, selection="wrong_tool")
    run = support_run(hostile=False)
    case = Case("c", PROMPT, ExpectText())
    held = structs.replace(run.suites["support"], cases=(case,))
    block = structs.replace(run.manifest.plan[0], model="m", cases=("c",), repeats=1)
    run.manifest = structs.replace(run.manifest, plan=(block,))
    run.suites, run.rows = {"support": held}, [row]
    shown = inspect_text(failures(run))
    assert '"last": "here"' in shown
    assert PROMPT.strip() in shown


@given(
    st.binary(max_size=200) | st.sampled_from([b'{"a":1', b'{"messages":[{"role":', b"[" * 3000, b'{"tools":}', b"{}"])
)
def test_a_request_of_any_bytes_can_be_shown(data: bytes) -> None:
    assert "request:" in raw_text(_with(data))
