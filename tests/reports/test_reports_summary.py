"""The summary counts every planned trial exactly once, each rate over its own denominator."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from statistics import median
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from reports_runs import HOSTILE, NO_CALL, Run, derived, entry, good, loss, manifest, suite, support_cases, support_run

from callscope.contract import (
    Acceptance,
    Attribution,
    Block,
    Derived,
    Measures,
    Selection,
    Semantics,
    Structure,
    Text,
    ToolCall,
    ToolCalls,
    Transformation,
    TrialKey,
    Usage,
    trials,
)
from callscope.errors import RunFolderError
from callscope.reports import check_identities, summarise, summary_bytes
from callscope.reports.view import expectation_class, failing_stage
from callscope.scoring.statistics import clustered, percentile

CASES = support_cases()


def small_run(rows: list[Derived], *, cases: tuple[Any, ...] = CASES, repeats: int = 3) -> Run:
    """One model on one suite; what `rows` lack was not run."""
    held = suite("support", cases)
    plan = (Block("support", "auto", "m", tuple(c.id for c in cases), repeats),)
    return Run(manifest((held,), (entry("m"),), plan), {"support": held}, rows)


def key(case_id: str, repeat: int = 0) -> TrialKey:
    return TrialKey("support", "auto", "m", case_id, repeat)


def only_group(run: Run) -> dict[str, Any]:
    groups = summarise(run)["groups"]
    assert len(groups) == 1
    return dict(groups[0])


verdict_parts = st.fixed_dictionaries(
    {
        "acceptance": st.sampled_from(get_args(Acceptance)),
        "selection": st.sampled_from(get_args(Selection)),
        "structure": st.sampled_from(get_args(Structure)),
        "semantics": st.sampled_from(get_args(Semantics)),
        "attribution": st.sampled_from(get_args(Attribution)),
        "passed": st.sampled_from([True, False, None]),
        "violations": st.lists(st.sampled_from(["extra_call", "invented_value"]), max_size=2).map(tuple),
        "recovery": st.sampled_from([None, {"rounds": 1}]),
    }
)


@given(st.data())
def test_whatever_was_judged_the_counts_add_up_to_the_trials_planned(data: st.DataObject) -> None:
    cases = CASES[: data.draw(st.integers(1, 6))]
    repeats = data.draw(st.integers(1, 3))
    rows = [
        derived(trial.key, Text("x"), **data.draw(verdict_parts))
        for trial in trials(small_run([], cases=cases, repeats=repeats).manifest.plan)
        if data.draw(st.booleans())
    ]
    summary = summarise(small_run(rows, cases=cases, repeats=repeats))
    group = summary["groups"][0]
    assert summary["trials"]["planned"] == len(cases) * repeats
    assert summary["trials"]["recorded"] == len(rows)
    for rate in [*group["rates"].values(), group["coverage"]["accepted"]]:
        assert 0 <= rate["k"] <= rate["n"] <= len(cases) * repeats
        assert (rate["rate"] is None) == (rate["n"] == 0)
        if rate["n"]:
            assert 0 <= rate["low"] <= rate["rate"] <= rate["high"] <= 1


def test_the_same_run_gives_the_same_bytes_in_one_pass() -> None:
    run = support_run()
    first = summary_bytes(summarise(run))
    assert run.walks == 1
    assert first == summary_bytes(summarise(support_run()))
    assert json.loads(first)["schema"] == "callscope/summary/1"


def test_the_bytes_survive_being_read_and_written_again() -> None:
    data = summary_bytes(summarise(support_run()))
    assert summary_bytes(json.loads(data)) == data


def test_rates_agree_with_a_recount_that_shares_no_code() -> None:
    run = support_run(seed=3)
    for group in summarise(run)["groups"]:
        where = (group["suite"], group["experiment"], group["model"])
        rows = [r for r in run.rows if (r.verdict.suite, r.verdict.experiment, r.verdict.model) == where]
        case_of = {case.id: case for case in run.suites[group["suite"]].cases}
        kind = {case_id: expectation_class(case.expected) for case_id, case in case_of.items()}
        seen = [r.verdict for r in rows if r.verdict.acceptance == "accepted"]
        positive = [v for v in seen if kind[v.case_id] in {"tool", "tools"} and v.selection != "undecided"]
        right = [v for v in positive if v.selection == "correct_tool" and v.semantics != "undecided"]
        abstain = [v for v in seen if kind[v.case_id] == "abstention"]
        ask = [v for v in seen if kind[v.case_id] == "clarification"]
        called = [v for v in seen if v.structure != "not_applicable"]
        decided = [v for v in seen if v.passed is not None]
        expected = {
            "passed": (sum(v.passed is True for v in decided), decided),
            "selection": (sum(v.selection == "correct_tool" for v in positive), positive),
            "structure": (sum(v.structure == "valid" for v in called), called),
            "exact": (sum(v.semantics == "exact" for v in right), right),
            "acceptable": (sum(v.semantics in {"exact", "acceptable"} for v in right), right),
            "abstention": (sum(v.selection == "abstained_correctly" for v in abstain), abstain),
            "over_calls": (sum(v.selection == "called_when_abstention_expected" for v in abstain), abstain),
            "clarification": (sum(v.selection == "clarified_as_expected" for v in ask), ask),
            "guessed": (sum(v.selection == "guessed_instead_of_clarifying" for v in ask), ask),
            "unnecessary_clarification": (sum(v.selection == "clarified_unnecessarily" for v in positive), positive),
        }
        assert set(expected) == set(group["rates"])
        for name, (k, base) in expected.items():
            assert (group["rates"][name]["k"], group["rates"][name]["n"]) == (k, len(base)), name
        pairs: dict[str, list[int]] = {}
        for v in decided:
            pair = pairs.setdefault(case_of[v.case_id].family or v.case_id, [0, 0])
            pair[0] += v.passed is True
            pair[1] += 1
        whole = clustered((k, n) for k, n in pairs.values())
        passed = group["rates"]["passed"]
        assert passed["clusters"] == whole.clusters
        assert passed["low"] == pytest.approx(whole.low, abs=1e-6)
        assert passed["high"] == pytest.approx(whole.high, abs=1e-6)
        confusion = Counter((kind[v.case_id], v.selection) for v in (r.verdict for r in rows))
        for row, cells in group["confusion"].items():
            assert {k: n for k, n in cells.items() if n and k != "not_run"} == {
                selection: n for (r, selection), n in confusion.items() if r == row
            }
        times = [r.measures.latency for r in rows if r.measures.latency is not None]
        assert group["time"]["model"]["p50"] == pytest.approx(median(times), abs=1e-3)
        assert group["time"]["model"]["p95"] == pytest.approx(percentile(times, 0.95) or 0, abs=1e-3)


def test_groups_are_never_merged_across_suites_or_experiments() -> None:
    groups = summarise(support_run())["groups"]
    keys = [(g["suite"], g["experiment"], g["model"]) for g in groups]
    assert len(keys) == len(set(keys)) == 9
    assert {g["suite_kind"] for g in groups} == {"portable", "recovery"}


def test_what_is_undecided_is_in_no_denominator_and_counted_beside() -> None:
    case, call = CASES[0], ToolCalls((ToolCall(None, "lookup_order", {}),), ())
    rows = [
        good(key(case.id, 0), case),
        derived(key(case.id, 1), Text("hm?"), selection="undecided", passed=None, **NO_CALL),
        derived(key(case.id, 2), call, semantics="undecided", passed=None),
    ]
    group = only_group(small_run(rows, cases=(case,)))
    assert group["undecided"] == {"selection": 1, "semantics": 1, "passed": 2}
    assert (group["rates"]["passed"]["k"], group["rates"]["passed"]["n"]) == (1, 1)
    assert (group["rates"]["selection"]["k"], group["rates"]["selection"]["n"]) == (2, 2)
    assert (group["rates"]["exact"]["k"], group["rates"]["exact"]["n"]) == (1, 1)
    assert group["funnel"] == {"planned": 3, "observed": 3, "selection": 2, "structure": 2, "semantics": 1, "passed": 1}


def test_coverage_loss_is_no_wrong_answer_and_keeps_its_finer_cause() -> None:
    case = CASES[0]
    rows = [loss(key(case.id, 0), "rate_limited", "429", "quota"), loss(key(case.id, 1), "timeout", "timeout_total")]
    summary = summarise(small_run(rows, cases=(case,)))
    group = summary["groups"][0]
    assert group["coverage"]["accepted"]["n"] == 2
    assert group["trials"]["not_run"] == 1
    assert group["coverage"]["accepted"]["k"] == group["rates"]["passed"]["n"] == group["trials"]["failed"] == 0
    assert group["coverage"]["causes"] == [
        {"category": "rate_limited", "cause": "quota", "trials": 1},
        {"category": "timeout", "cause": "timeout_total", "trials": 1},
    ]
    assert group["coverage"]["categories"]["not_run"] == 1
    assert summary["cases"][0]["first_failing"] == "acceptance"


def test_intervals_rest_on_case_families_not_on_trials() -> None:
    pair = CASES[:2]
    assert pair[0].family == pair[1].family
    rows = [good(key(case.id, repeat), case) for case in pair for repeat in range(3)]
    assert only_group(small_run(rows, cases=pair))["rates"]["passed"]["clusters"] == 1


def test_stability_counts_the_commonest_outcome_over_observed_repeats_of_cases_seen_twice() -> None:
    def said(case_id: str, repeat: int, outcome: str, text: str, **changes: Any) -> Derived:
        return derived(key(case_id, repeat), Text(text), Measures(outcome, text), **changes)

    rows = [
        said("abstain-01", 0, "a", "hi", selection="abstained_correctly", **NO_CALL),
        said("abstain-01", 1, "a", "hello", selection="abstained_correctly", **NO_CALL),
        said("abstain-01", 2, "b", "hi", selection="called_when_abstention_expected", passed=False),
        said("abstain-02", 0, "a", "hola", selection="abstained_correctly", **NO_CALL),
        loss(key("abstain-02", 1), "timeout", "timeout_total"),
    ]
    cases = tuple(case for case in CASES if case.id in {"abstain-01", "abstain-02"})
    stability = only_group(small_run(rows, cases=cases))["stability"]
    assert (stability["cases"], stability["observed_once"]) == (1, 1)
    assert stability["outcome"] == {"modal": 2, "observed": 3, "mean": 0.666667, "unanimous": 0}
    assert stability["verbatim"]["modal"] == 1
    assert stability["verdict"]["modal"] == 2


def test_an_unknown_number_of_tokens_is_not_zero() -> None:
    case = CASES[0]
    usages = (Usage(10, 0), Usage(None, None), Usage(5, None))
    rows = [
        structs.replace(good(key(case.id, i), case), measures=Measures("h", "t", usage=usage, cost=cost))
        for i, (usage, cost) in enumerate(zip(usages, (0.5, None, 0.25), strict=True))
    ]
    group = only_group(small_run(rows, cases=(case,)))
    assert group["tokens"]["input_tokens"] == {"sum": 15, "known": 2, "unknown": 1, "per_trial": 7.5}
    assert group["tokens"]["output_tokens"] == {"sum": 0, "known": 1, "unknown": 2, "per_trial": 0.0}
    assert group["tokens"]["reasoning_tokens"]["sum"] is None
    assert group["cost"] == {"sum": 0.75, "known": 2, "unknown": 1, "per_trial": 0.375}


def test_model_time_leaves_out_lost_trials_and_queueing_stands_apart() -> None:
    case = CASES[0]
    rows = [
        structs.replace(good(key(case.id, 0), case), measures=Measures("h", "t", latency=100.0, queued=7.0)),
        structs.replace(loss(key(case.id, 1), "timeout", "t"), measures=Measures("", "", latency=3e4, queued=9.0)),
    ]
    time_ = only_group(small_run(rows, cases=(case,)))["time"]
    assert time_["model"] == {"n": 1, "unknown": 0, "p50": 100.0, "p95": 100.0}
    assert time_["queued"]["n"] == 2
    assert time_["first_call"] == {"n": 0, "unknown": 1, "p50": None, "p95": None}


def test_flags_notes_transformations_and_recovery_are_counted_by_trial() -> None:
    case = CASES[0]
    row = good(key(case.id, 0), case)
    step = Transformation("/tools/0", "drop_keyword")
    row = structs.replace(
        row,
        verdict=structs.replace(row.verdict, flags=("a", "a"), recovery={"rounds": 2, "looped": False, "log": [1]}),
        transformations=(step, step),
        notes=("n", "n"),
    )
    group = only_group(small_run([row], cases=(case,)))
    assert (group["flags"], group["notes"]) == ({"a": 1}, {"n": 1})
    assert group["transformations"] == {"trials": 1, "changes": 2, "rules": {"drop_keyword": 2}}
    assert group["recovery"] == {"trials": 1, "values": {"rounds": {"2": 1}, "looped": {"false": 1}}}


def test_words_that_servers_choose_cannot_grow_the_summary_without_bound() -> None:
    case = CASES[0]
    rows = [
        structs.replace(good(key(case.id, i), case), measures=Measures("h", "t", reported_model=f"build-{i}"))
        for i in range(600)
    ]
    rows += [loss(key(case.id, 600 + i), "provider_error", f"code-{i}") for i in range(600)]
    group = only_group(small_run(rows, cases=(case,), repeats=1200))
    assert len(group["reported_models"]) == 501
    assert group["reported_models"]["(others)"] == 100
    assert sum(cause["trials"] for cause in group["coverage"]["causes"]) == 600
    assert len(group["coverage"]["causes"]) == 501


@pytest.mark.parametrize(
    ("changes", "stage"),
    [
        ({}, None),
        ({"passed": None, "semantics": "undecided"}, None),
        ({"passed": False, "selection": "wrong_tool"}, "selection"),
        ({"passed": False, "structure": "malformed"}, "structure"),
        ({"passed": False, "structure": "invalid", "semantics": "wrong"}, "structure"),
        ({"passed": False, "semantics": "wrong"}, "semantics"),
        ({"passed": False, "violations": ("extra_call",)}, "policy"),
        ({"passed": False, "recovery": {"ended": "loop"}}, "recovery"),
        ({"passed": False}, "other"),
        ({"passed": None, "acceptance": "timeout", "selection": "not_observed"}, "acceptance"),
    ],
)
def test_a_trial_fails_at_its_first_broken_stage(changes: dict[str, Any], stage: str | None) -> None:
    assert failing_stage(derived(key("abstain-01"), Text("x"), **changes).verdict) == stage


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([good(key("abstain-01", 3), CASES[5])], "outside the plan"),
        ([good(key("abstain-01", -1), CASES[5])], "outside the plan"),
        ([good(key("nobody"), CASES[5])], "outside the plan"),
        ([good(TrialKey("support", "other", "m", "abstain-01", 0), CASES[5])], "outside the plan"),
        ([good(key("abstain-01"), CASES[5])] * 2, "two verdicts"),
    ],
)
def test_verdicts_that_do_not_fit_the_plan_are_refused(rows: list[Derived], said: str) -> None:
    with pytest.raises(RunFolderError, match=said):
        summarise(small_run(rows))


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (Block("gone", "auto", "m", ("abstain-01",), 1), "the suite 'gone'"),
        (Block("support", "auto", "m", ("nobody",), 1), "the case 'nobody'"),
        (Block("support", "auto", "m", ("abstain-01", "abstain-01"), 1), "twice"),
    ],
)
def test_a_plan_that_does_not_fit_its_suites_is_refused(block: Block, said: str) -> None:
    run = small_run([])
    run.manifest = structs.replace(run.manifest, plan=(block,))
    with pytest.raises(RunFolderError, match=said):
        summarise(run)


@pytest.mark.parametrize(
    "path", [("trials", "passed"), ("attribution", "correct"), ("coverage", "categories", "accepted")]
)
def test_a_summary_whose_counts_do_not_add_up_is_refused(path: tuple[str, ...]) -> None:
    summary = summarise(support_run())
    check_identities(summary)
    place = summary["groups"][0]
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] += 1
    with pytest.raises(RunFolderError, match="add up to"):
        check_identities(summary)


def test_a_summary_without_one_of_its_cases_is_refused() -> None:
    summary = summarise(support_run())
    summary["cases"].pop()
    with pytest.raises(RunFolderError, match="the cases add up to"):
        check_identities(summary)


def test_cases_tell_counts_and_the_first_stage_that_broke() -> None:
    case = CASES[0]
    rows = [
        good(key(case.id, 0), case),
        derived(key(case.id, 1), Text("x"), passed=False, semantics="wrong"),
        loss(key(case.id, 2), "timeout", "t"),
    ]
    cell = summarise(small_run(rows, cases=(case,)))["cases"][0]
    assert cell["failed_at"] == {"semantics": 1, "acceptance": 1}
    assert cell["first_failing"] == "semantics"
    assert (cell["planned"], cell["observed"], cell["decided"], cell["passed"]) == (3, 2, 2, 1)
    assert cell["modal"] == {"k": 1, "n": 2}


def test_slices_count_each_tag_once_and_name_what_is_not_declared() -> None:
    case = structs.replace(CASES[0], tags=("a", "a", "b"), behaviour=None)
    slices = only_group(small_run([good(key(case.id), case)], cases=(case,), repeats=1))["slices"]
    assert [(each["value"], each["passed"]["n"]) for each in slices["tag"]] == [("a", 1), ("b", 1)]
    assert slices["behaviour"][0]["value"] is None


def test_hostile_names_survive_as_data() -> None:
    summary = json.loads(summary_bytes(summarise(support_run())))
    assert any(HOSTILE[0] in group["model"] for group in summary["groups"])


def test_a_large_run_is_summed_up_in_a_few_cpu_seconds() -> None:
    rng = random.Random(1)
    models, repeats = tuple(f"m{i}" for i in range(8)), 100
    held = suite("support", CASES)
    plan = tuple(Block("support", "auto", model, tuple(c.id for c in CASES), repeats) for model in models)
    made = {case.id: [good(key(case.id), case) for _ in range(3)] for case in CASES}
    rows = []
    for trial in trials(plan):
        row = rng.choice(made[trial.key.case_id])
        named = structs.replace(row.verdict, model=trial.key.model, repeat=trial.key.repeat)
        rows.append(structs.replace(row, verdict=named))
    run = Run(manifest((held,), tuple(entry(m) for m in models), plan), {"support": held}, rows)
    began = time.process_time()
    summary = summarise(run)
    assert time.process_time() - began < 3
    assert summary["trials"]["passed"] == len(rows) == 10_400
