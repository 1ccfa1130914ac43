"""Where the benchmark's own checker and we differ: found in both directions, counted, explained; tags, and bounds."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET, structs
from queries_kit import Planned, case, planned, run_of, with_checker
from reports_runs import Run, derived, record, support_run

from callscope.contract import Text, TrialKey
from callscope.errors import InputError
from callscope.reports import failures, inspect_text
from callscope.reports.blame import hints
from callscope.reports.checked import Differences, difference, their_error, their_text
from callscope.reports.evidence import evidence
from callscope.reports.filters import Filters
from callscope.reports.inspect import search
from callscope.reports.inspected import bounded, differences_text
from callscope.reports.rawtext import raw_text

KEY = TrialKey("s", "e", "m", "c", 0)


def said_of(ours: bool | None, theirs: Any, **evidence_: Any) -> Any:
    return structs.replace(
        derived(KEY, Text("x"), passed=ours), compatible_passed=theirs, compatible={"checker": "bfcl", **evidence_}
    )


def checked_run() -> Run:
    """Six positives: both pass, both fail, each alone passes once, one of the two decides nothing in two."""
    ends = ("tp", "value", "tp", "miss", "judge", "tp")
    plan = [Planned(case(f"c{i}", tags=(f"gold-defect:{i % 2}", "live")), (end,)) for i, end in enumerate(ends)]
    run = with_checker(run_of({"m": plan}, benchmark="bfcl"), (True, False, False, True, False, None))
    run.rows[2] = structs.replace(run.rows[2], compatible={"checker": "bfcl", "error_type": "type_error:simple"})
    return run


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        (True, True, None), (False, False, None), (True, False, "ours_passed"), (False, True, "theirs_passed"),
        (None, True, None), (None, False, None), (True, None, None), (True, UNSET, None),
    ],
)  # fmt: skip
def test_a_difference_is_a_trial_that_just_one_of_the_two_passed(ours: bool | None, theirs: Any, found: Any) -> None:
    assert difference(said_of(ours, theirs)) == found


@pytest.mark.parametrize(
    ("theirs", "noted", "text"),
    [
        (False, {"error_type": "value_error:string"}, "failed: value_error:string  (differs: passed here)"),
        (False, {"verdict": "wrong", "domain": "A"}, "failed: wrong  (differs: passed here)\ndomain: A"),
        (True, {}, "passed"),
        (None, {"crashed": "KeyError: 'items'"}, "says nothing: KeyError: 'items'"),
        (None, {"why": "not_a_recorded_answer"}, "says nothing: not_a_recorded_answer"),
        (False, {"error_type": "\x1b[31m"}, "failed: \\x1b[31m  (differs: passed here)"),
        (UNSET, {}, ""),
    ],
)
def test_what_the_checker_says_is_told_with_its_own_reason(theirs: Any, noted: dict[str, Any], text: str) -> None:
    assert their_text(said_of(True, theirs, **noted)) == text


def test_a_trial_without_a_checker_has_no_error_of_it() -> None:
    assert their_error(derived(KEY, Text("x"))) == ""


def test_every_block_shows_what_the_own_checker_says_beside_ours() -> None:
    text = inspect_text(failures(checked_run(), case="c1"))
    assert "own checker failed\n" in text
    assert "passed      false" in text


def test_disagreements_are_shown_in_both_directions_with_their_counts_and_reasons() -> None:
    found = search(checked_run(), Filters(disagree=True))
    assert found.differences == Differences(decided=4, ours_passed=1, theirs_passed=1, silent=2)
    assert {group.category: group.examples[0].derived.verdict.case_id for group in found.groups} == {
        "ours_passed.type_error:simple": "c2",
        "theirs_passed.selection.no_call_when_expected": "c3",
    }
    text = differences_text(found.differences)
    assert "differ on 2 of 4 trials that both decided: 1 passed here and failed by the checker, 1 failed here" in text
    shown = inspect_text(found.groups)
    assert "== passed here, failed by the benchmark's own checker: type_error:simple" in shown
    assert "own checker failed: type_error:simple  (differs: passed here)" in shown
    assert "own checker passed  (differs: failed here)" in shown


def test_disagreements_can_be_narrowed_and_never_count_others() -> None:
    run = checked_run()
    found = search(run, Filters(disagree=True, case="c2"))
    assert (found.trials, found.differences) == (1, Differences(1, 1, 0, 0))
    assert failures(run, disagree=True, category="miss_recall")[0].category.startswith("theirs_passed")
    assert failures(run, disagree=True, category="wrong_tool") == ()


def test_a_run_without_a_checker_cannot_disagree_with_it() -> None:
    with pytest.raises(InputError, match="own checker"):
        failures(support_run(hostile=False), disagree=True)


def test_a_case_that_passed_is_shown_where_it_is_asked_for() -> None:
    run = checked_run()
    (group,) = failures(run, case="c0")
    assert (group.category, group.trials, group.examples[0].hints) == ("passed", 1, ())
    assert "passed      true" in inspect_text((group,))
    assert all(each.category != "passed" for each in failures(run))


def test_cases_are_listed_by_what_their_tags_begin_with_and_blocks_show_the_tags() -> None:
    run = checked_run()
    shown = {each.derived.verdict.case_id for group in failures(run, tag="gold-defect:1", limit=9) for each in group[3]}
    assert shown == {"c1", "c3", "c5"}
    every = {each.derived.verdict.case_id for group in failures(run, tag="gold", limit=9) for each in group[3]}
    assert every == {f"c{i}" for i in range(6)}
    assert "tags        gold-defect:1, live" in inspect_text(failures(run, tag="gold-defect:1"))
    with pytest.raises(InputError, match="Did you mean `gold-defect:0`"):
        failures(run, tag="gold-defekt:0")


def test_counts_come_first_and_add_up_over_suites_and_models() -> None:
    run = support_run(hostile=False)
    groups = failures(run)
    head = inspect_text(groups, width=140).split("\n== ")[0]
    for category in dict.fromkeys(group.category for group in groups):
        (row,) = [line for line in head.splitlines() if line.startswith(f"{category} ")]
        numbers = [int(word) if word != "·" else 0 for word in row.split()[1:]]
        assert numbers[-1] == sum(numbers[:-1]) == sum(g.trials for g in groups if g.category == category)


def test_of_a_big_run_a_bounded_number_is_written_out_and_every_category_keeps_one() -> None:
    plans = {f"m{i}": planned("positive", {"miss": 1, "value": 1, "missing": 1, "judge": 1}) for i in range(30)}
    groups = failures(run_of(plans))
    few = bounded(groups, 12)
    assert {group.category for group in few} == {group.category for group in groups}
    assert len({id(each.derived) for group in few for each in group.examples}) <= 12
    text = inspect_text(groups, most=12)
    assert f"Examples of {len(few)} of {len(groups)} groups" in text
    assert "--limit 1" in text
    assert text.count("came back") <= 12
    assert inspect_text(groups, most=None).count("came back") == 120
    assert "Examples of" not in inspect_text(groups[:2], most=12)


def test_an_excluded_case_is_explained_by_its_exclusion_alone() -> None:
    why = "the gold cannot be met"
    row = derived(KEY, Text("x"), passed=None, evidence={"excluded": why}, decided_by={"passed": "case_excluded"})
    (hint,) = hints(row)
    assert hint.party == "fixture"
    assert why in hint.reason
    assert "judge" not in hint.reason
    seen = evidence(row, case("c", excluded=why))
    assert seen.excluded == why
    assert "excluded" not in {stage.name for stage in seen.stages}


def test_a_violation_is_named_once() -> None:
    row = derived(
        TrialKey("plugin", "auto", "m", "c", 0), Text("x"), passed=False, violations=("invented_value",),
        evidence={"violations": {"invented_value": ["x"]}},
    )  # fmt: skip
    run = run_of({"m": [Planned(case("c"), ("tp",))]})
    run.rows = [row]
    text = inspect_text(failures(run, category="invented_value"))
    assert [line.split()[:1] for line in text.splitlines()].count(["violations"]) == 1
    assert "invented_value" in text


def test_a_request_that_was_not_recorded_is_said_to_be_so() -> None:
    kept = record(KEY)
    (each,) = kept.rounds
    bare = structs.replace(each, exchanges=(structs.replace(each.exchanges[0], request=b""),))
    text = raw_text(structs.replace(kept, rounds=(bare,)))
    assert "request: not recorded" in text
    assert "request:\n" not in text
    assert "request:\n" in raw_text(kept)
