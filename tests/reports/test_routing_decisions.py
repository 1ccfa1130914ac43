"""The three routing decisions: what is right in each, over which trials; a read-off is never an isolated one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from queries_kit import CALL, EXPECTED, OTHER, WORDS, Planned, case, groups_of, planned, run_of, source
from reports_runs import derived, loss

from callscope.contract import (
    Case,
    Derived,
    ExpectNoCall,
    Malformed,
    Settings,
    Text,
    ToolCall,
    ToolCalls,
    TrialKey,
    Turn,
)
from callscope.errors import RunFolderError
from callscope.reports.across import Options
from callscope.reports.presets import exhibits_of
from callscope.reports.queried import queried_grids
from callscope.reports.routing import check_routing, decision_of, readable

KEY = TrialKey("plugin", "need", "m", "c", 0)
POSITIVE, VAGUE = case("p"), case("u", "underspecified")
OTHER_TOOL = case("o", "targeted_negative", label="other_tool")
NO_TOOL = case("n", "targeted_negative", label="no_tool")
UNSAID = case("x", "targeted_negative")
TALK = case("t", "global_negative")
BROKEN = ToolCalls((ToolCall("c1", "lookup_order", malformed=Malformed("truncated", "{")),), ())
WRITTEN = Text('{"name": "lookup_order"}', ("text_tool_call",))
THOUGHT = Text("Hm.", ("reasoning_tool_call",))

OVER: dict[str, Any] = {"selection": "called_when_abstention_expected", "attribution": "over_recall"}
UNDECIDED: dict[str, Any] = {"selection": "undecided", "attribution": "judge_failure"}


def came(outcome: Any, **changes: Any) -> Derived:
    return derived(KEY, outcome, **changes)


@pytest.mark.parametrize(
    ("of", "trial", "expected"),
    [
        (POSITIVE, came(CALL), "right"),
        (POSITIVE, came(OTHER), "right"),
        (POSITIVE, came(BROKEN), "right"),
        (POSITIVE, came(WORDS), "wrong"),
        (POSITIVE, came(WRITTEN), "wrong"),
        (VAGUE, came(CALL), "right"),
        (VAGUE, came(WORDS), "wrong"),
        (OTHER_TOOL, came(OTHER), "right"),
        (OTHER_TOOL, came(WORDS), "wrong"),
        (NO_TOOL, came(OTHER), "wrong"),
        (NO_TOOL, came(WORDS), "right"),
        (NO_TOOL, came(WRITTEN, **OVER), "wrong"),
        (NO_TOOL, came(THOUGHT, **UNDECIDED), "undecided"),
        (TALK, came(WORDS), "right"),
        (TALK, came(CALL, **OVER), "wrong"),
        (TALK, came(WRITTEN, **OVER), "wrong"),
        (TALK, came(THOUGHT, **UNDECIDED), "undecided"),
        (UNSAID, came(WORDS), None),
        (POSITIVE, loss(KEY, "timeout", "slow"), "not_observed"),
        (structs.replace(POSITIVE, excluded="no gold"), came(CALL), "excluded"),
    ],
)
def test_need_is_right_where_a_call_came_just_where_a_tool_is_needed(of: Case, trial: Derived, expected: Any) -> None:
    assert decision_of("need", of, trial) == expected


@pytest.mark.parametrize(
    ("of", "trial", "expected"),
    [
        (POSITIVE, came(CALL), "right"),
        (POSITIVE, came(BROKEN), "right"),
        (POSITIVE, came(OTHER), "wrong"),
        (POSITIVE, came(WORDS), "wrong"),
        (VAGUE, came(CALL), "right"),
        (OTHER_TOOL, came(CALL, **OVER), "wrong"),
        (OTHER_TOOL, came(OTHER), "right"),
        (OTHER_TOOL, came(WORDS), "right"),
        (OTHER_TOOL, came(WRITTEN, **OVER), "wrong"),
        (OTHER_TOOL, came(THOUGHT, **UNDECIDED), "undecided"),
        (UNSAID, came(WORDS), "right"),
        (NO_TOOL, came(WORDS), None),
        (TALK, came(WORDS), None),
    ],
)
def test_target_is_right_where_it_was_called_just_where_it_is_the_right_tool(
    of: Case, trial: Derived, expected: Any
) -> None:
    assert decision_of("target", of, trial) == expected


@pytest.mark.parametrize(
    ("of", "trial", "expected"),
    [
        (POSITIVE, came(CALL), "right"),
        (POSITIVE, came(CALL, attribution="parameter_error.value"), "wrong"),
        (POSITIVE, came(WORDS, attribution="miss_recall"), "wrong"),
        (POSITIVE, came(CALL, attribution="judge_failure"), "undecided"),
        (VAGUE, came(WORDS), "right"),
        (VAGUE, came(CALL, attribution="over_recall"), "wrong"),
        (OTHER_TOOL, came(WORDS), None),
        (TALK, came(WORDS), None),
    ],
)
def test_arguments_are_right_where_all_gold_is_or_where_too_little_was_said_and_no_call_came(
    of: Case, trial: Derived, expected: Any
) -> None:
    assert decision_of("arguments", of, trial) == expected


def test_no_decision_is_read_off_a_conversation_of_several_turns() -> None:
    talk = structs.replace(POSITIVE, turns=(Turn(()),))
    assert [decision_of(which, talk, came(CALL)) for which in ("need", "target", "arguments")] == [None] * 3  # type: ignore[arg-type]


def test_what_settings_show() -> None:
    assert readable(Settings(routing="target")) == ("target",)
    assert readable(Settings()) == ("need", "target", "arguments")
    assert readable(Settings(tool_choice="required")) == readable(Settings(tool_choice="none")) == ()


PLAN = (
    *planned("positive", {"tp": 3, "miss": 2, "value": 1, "lost": 1}),
    *planned("underspecified", {"asked": 1, "guessed": 2}),
    *planned("targeted_negative", {"tn": 2, "fp": 1}, label="no_tool"),
    *planned("targeted_negative", {"tn": 1}, start="unsaid-"),
    *planned("global_negative", {"tn": 2, "unclear": 1}),
    Planned(case("never"), (None,)),
)


def decided(experiment: str, settings: Settings) -> dict[str, Any]:
    (group,) = groups_of(run_of({"m": PLAN}, experiment=experiment, settings=settings))
    return dict(group["routing"])


def test_each_decision_has_its_own_denominator_counted_by_hand() -> None:
    found = decided("need", Settings(routing="need"))
    assert found["isolated"] is True
    need = found["decisions"]["need"]
    # called: 4 of 6 positives, 2 of 3 underspecified; not called: 2 of 3 no_tool, 2 of 2 (and one nobody can tell)
    assert (need["right"]["k"], need["right"]["n"]) == (4 + 2 + 2 + 2, 6 + 3 + 3 + 2)
    assert need["trials"] == {
        "planned": 18, "right": 10, "wrong": 4, "undecided": 1, "excluded": 0, "not_observed": 1, "no_label": 1,
        "not_run": 1,
    }  # fmt: skip
    target = decided("target", Settings(routing="target"))["decisions"]["target"]
    assert (target["right"]["k"], target["right"]["n"]) == (4 + 2 + 1, 6 + 3 + 1)
    assert target["trials"]["no_label"] == 3 + 3
    arguments = decided("arguments", Settings(routing="arguments"))["decisions"]["arguments"]
    assert (arguments["right"]["k"], arguments["right"]["n"]) == (3 + 1, 6 + 3)


def test_an_ordinary_run_shows_the_same_decisions_and_says_that_they_are_not_isolated() -> None:
    found = decided("auto", Settings())
    assert found["isolated"] is False
    assert list(found["decisions"]) == ["need", "target", "arguments"]
    run = run_of({"m": PLAN})
    (exhibit,) = exhibits_of("routing", [source(run)], Options())
    (grid,) = exhibit.parts
    assert "read off an ordinary run" in grid.heading
    assert "not the isolated decisions" in grid.notes[0]  # type: ignore[union-attr]


def test_a_forced_choice_shows_no_decision() -> None:
    (group,) = groups_of(run_of({"m": PLAN}, experiment="required", settings=Settings(tool_choice="required")))
    assert group["routing"] is None


def test_a_report_of_an_isolated_decision_shows_it_and_no_recall() -> None:
    groups = groups_of(run_of({"m": PLAN}, experiment="need", settings=Settings(routing="need")))
    (grid,) = queried_grids(groups)
    assert grid.heading == "Routing decision, put by itself"
    assert "recall" not in grid.columns


def test_a_decision_whose_counts_do_not_add_up_is_refused() -> None:
    found = decided("need", Settings(routing="need"))
    found["decisions"]["need"]["trials"]["right"] += 1
    with pytest.raises(RunFolderError, match="contradict each other: the decision need"):
        check_routing(found, "it")


def test_labels_are_never_guessed_from_the_expectation_alone() -> None:
    assert EXPECTED["targeted_negative"] == ExpectNoCall("lookup_order")
    assert decision_of("need", structs.replace(UNSAID, label="other_tool"), came(WORDS)) == "wrong"
    assert decision_of("need", structs.replace(UNSAID, label="no_tool"), came(WORDS)) == "right"
