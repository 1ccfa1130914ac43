"""PluginEval's confusion matrix: where a trial stands, what adds up to what, and the document's own figures."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from queries_kit import GPT, GPT_NEGATIVE, Planned, block_of, case, groups_of, planned, run_of, trial, with_checker
from reports_runs import Run, verdict

from callscope.contract import Acceptance, Attribution, Item, Selection, TrialKey
from callscope.errors import RunFolderError
from callscope.reports import summarise, to_rows
from callscope.reports.queries import CLASSES, POLICIES, SUBTYPES, Query, check_queries, query_of

KEY = TrialKey("plugin", "auto", "m", "c", 0)
NEGATIVES: tuple[Item, ...] = ("targeted_negative", "global_negative")


def counts(rate: dict[str, Any]) -> tuple[int, int]:
    return rate["k"], rate["n"]


def test_gpt_5_4_has_the_documents_figures() -> None:
    block = block_of(planned("positive", GPT), planned("targeted_negative", GPT_NEGATIVE))
    positives, policies = block["positives"], block["policies"]["separate"]
    assert counts(positives["recall"]) == (1230, 2500)
    assert counts(positives["miss_recall"]) == (843, 2500)
    assert counts(policies["over_recall"]) == (166, 500)
    assert (block["trials"]["tn"], block["trials"]["fp"]) == (334, 166)
    assert counts(policies["accuracy"]) == (1564, 3000)
    shown = [positives["recall"], positives["miss_recall"], policies["over_recall"], policies["accuracy"]]
    assert [round(100 * rate["rate"], 2) for rate in shown] == [49.20, 33.72, 33.20, 52.13]
    rest = positives["parameter_error"]["k"] + positives["judge_failure"]["k"]
    assert round(100 * rest / 2500, 2) == 17.08
    assert sum(positives[name]["k"] for name in SUBTYPES) == positives["parameter_error"]["k"] == 420


@pytest.mark.parametrize(
    ("item", "attribution", "state", "error"),
    [
        ("positive", "correct", "tp", None),
        ("positive", "miss_recall", "fn", "miss_recall"),
        ("positive", "parameter_error.temporal", "fn", "parameter_error.temporal"),
        ("positive", "parameter_error.missing", "fn", "parameter_error.missing"),
        ("positive", "parameter_error.value", "fn", "parameter_error.value"),
        ("positive", "judge_failure", "fn", "judge_failure"),
        ("targeted_negative", "correct", "tn", None),
        ("targeted_negative", "over_recall", "fp", None),
        ("targeted_negative", "judge_failure", "undecided", None),
        ("global_negative", "correct", "tn", None),
        ("global_negative", "over_recall", "fp", None),
        ("global_negative", "judge_failure", "undecided", None),
        ("underspecified", "correct", "both_empty", None),
        ("underspecified", "over_recall", "guessed", None),
        ("underspecified", "judge_failure", "undecided", None),
    ],
)
def test_where_a_trial_stands(item: Item, attribution: Attribution, state: str, error: str | None) -> None:
    found = query_of(item, None, verdict(KEY, attribution=attribution))
    assert (found.state, found.error) == (state, error)


@pytest.mark.parametrize("item", get_args(Item))
def test_what_was_excluded_or_not_observed_has_no_place_whatever_the_item(item: Item) -> None:
    seen = verdict(KEY, attribution="correct")
    lost = verdict(KEY, acceptance="timeout", selection="not_observed", attribution="not_observed")
    assert query_of(item, "its gold cannot be met", seen).state == "excluded"
    assert query_of(item, "its gold cannot be met", lost).state == "excluded"
    assert query_of(item, None, lost).state == "not_observed"


@given(item=st.sampled_from(get_args(Item)), attribution=st.sampled_from(get_args(Attribution)))
def test_a_verdict_that_contradicts_its_item_earns_no_credit(item: Item, attribution: Attribution) -> None:
    found = query_of(item, None, verdict(KEY, attribution=attribution))
    assert (found.state in ("tp", "tn", "both_empty")) == (attribution == "correct")
    assert (found.error is not None) == (found.state == "fn")


def turns(*attributions: str) -> Query:
    seen = [{"attribution": each} for each in attributions]
    return query_of("positive", None, verdict(KEY, attribution=attributions[0], evidence={"turns": seen}))


def test_a_conversation_is_right_where_every_turn_is_and_its_first_class_decides() -> None:
    assert turns("correct", "correct") == Query("tp")
    assert turns("correct", "over_recall") == Query("tp", extra=True)
    assert turns("correct", "miss_recall").error == "miss_recall"
    assert turns("over_recall", "parameter_error.value", "judge_failure").error == "parameter_error.value"
    both = turns("parameter_error.value", "miss_recall")
    assert (both.error, both.errors) == ("miss_recall", ("miss_recall", "parameter_error.value"))
    assert turns("judge_failure", "correct").error == "judge_failure"


def test_a_conversation_in_which_no_call_is_right_is_false_by_any_turn() -> None:
    seen = {"turns": [{"attribution": "correct"}, {"attribution": "over_recall"}]}
    assert query_of("global_negative", None, verdict(KEY, evidence=seen)).state == "fp"


# two asked, one answered without a call, one called: 4 underspecified; 3 of 5 positives right; 1 of 3 negatives over
HAND = (
    *planned("positive", {"tp": 3, "miss": 1, "value": 1}),
    *planned("global_negative", {"fp": 1, "tn": 2}),
    *planned("underspecified", {"asked": 2, "answered": 1, "guessed": 1}),
)


@pytest.mark.parametrize(
    ("policy", "accuracy", "over"), [("separate", (5, 8), (1, 3)), ("exclude", (5, 9), (2, 4)), ("tn", (8, 12), (2, 7))]
)
def test_underspecified_cases_under_each_policy_by_hand(
    policy: str, accuracy: tuple[int, int], over: tuple[int, int]
) -> None:
    block = block_of(HAND)
    assert counts(block["policies"][policy]["accuracy"]) == accuracy
    assert counts(block["policies"][policy]["over_recall"]) == over
    assert counts(block["positives"]["recall"]) == (3, 5)
    assert (block["trials"]["both_empty"], block["trials"]["guessed"]) == (3, 1)
    assert counts(block["underspecified"]["no_call"]) == (3, 4)
    assert counts(block["underspecified"]["asked"]) == (2, 4)


def test_a_call_beside_the_right_ones_counts_only_under_strict() -> None:
    plans = [*planned("positive", {"tp": 5, "tp+extra": 2, "miss": 3}), *planned("global_negative", {"tn": 2})]
    block = block_of(plans)
    assert counts(block["positives"]["recall"]) == (7, 10)
    assert counts(block["strict"]["recall_strict"]) == (5, 10)
    assert counts(block["strict"]["extra_call"]) == (2, 10)
    assert counts(block["policies"]["separate"]["accuracy"]) == (9, 12)
    assert counts(block["policies"]["separate"]["strict"]["accuracy"]) == (7, 12)
    assert block["extra_calls"] == {"positives": 2, "of_tp": 2}


def test_lost_excluded_undecided_and_unrun_trials_are_counted_and_in_no_denominator() -> None:
    plans = [
        *planned("positive", {"tp": 2, "lost": 3}),
        *planned("positive", {"miss": 4}, start="x", excluded="no answer can meet it"),
        *planned("global_negative", {"tn": 1, "unclear": 2}),
        Planned(case("never"), (None,)),
    ]
    block = block_of(plans)
    trials = block["trials"]
    beside = {name: trials[name] for name in ("undecided", "excluded", "not_observed", "not_run")}
    assert beside == {"undecided": 2, "excluded": 4, "not_observed": 3, "not_run": 1}
    assert (trials["planned"], block["excluded_cases"]) == (13, 4)
    assert counts(block["positives"]["recall"]) == (2, 2)
    assert counts(block["policies"]["separate"]["accuracy"]) == (3, 3)


def test_every_kind_of_error_is_listed_beside_the_one_that_counts() -> None:
    run = run_of({"m": planned("positive", {"miss": 1, "missing": 1, "temporal": 1, "tp": 1})})
    errors = iter((["miss", "temporal"], ["missing", "temporal", "value"], ["temporal"], []))
    run.rows = [
        structs.replace(row, verdict=structs.replace(row.verdict, evidence={"attribution": {"errors": next(errors)}}))
        for row in run.rows
    ]
    (group,) = groups_of(run)
    multi = group["queries"]["multi_label"]
    assert [multi[name] for name in ("miss_recall", *SUBTYPES, "several_kinds")] == [1, 3, 1, 1, 2]
    assert [group["queries"]["positives"][name]["k"] for name in ("miss_recall", *SUBTYPES)] == [1, 1, 1, 0]


def test_over_recall_is_told_apart_by_kind_of_negative() -> None:
    plans = [
        *planned("targeted_negative", {"fp": 2, "tn": 1}, negative_type="B"),
        *planned("targeted_negative", {"fp": 1}, start="c", negative_type="C"),
        *planned("global_negative", {"tn": 4}),
    ]
    found = {name: counts(rate) for name, rate in block_of(plans)["negatives"].items()}
    assert found == {
        "over_recall of global_negative": (0, 4),
        "over_recall of targeted_negative": (3, 4),
        "over_recall of type B": (2, 3),
        "over_recall of type C": (1, 1),
    }


def test_the_benchmarks_own_verdicts_are_counted_apart_and_its_silence_too() -> None:
    run = with_checker(run_of({"m": planned("positive", {"tp": 4})}, benchmark="bfcl"), [True, False, True, None])
    (group,) = groups_of(run)
    found = group["queries"]["compatible"]
    assert (counts(found["passed"]), found["says_nothing"], group["benchmark"]) == ((2, 3), 1, "bfcl")
    assert block_of(planned("positive", {"tp": 1}))["compatible"] is None


def test_independent_trials_have_wilsons_interval_and_dependent_ones_a_wider() -> None:
    alone = block_of(planned("positive", {"tp": 290, "miss": 10}))["positives"]["recall"]
    assert (round(100 * alone["low"], 2), round(100 * alone["high"], 2)) == (93.97, 98.18)
    assert (alone["clusters"], alone["effective"]) == (300, 300)
    ends = [*(("tp",) * 5 for _ in range(58)), *(("miss",) * 5 for _ in range(2))]
    repeated = block_of(Planned(case(f"c{i}"), each) for i, each in enumerate(ends))["positives"]["recall"]
    assert counts(repeated) == (290, 300)
    assert repeated["clusters"] == 60
    assert repeated["high"] - repeated["low"] > 1.5 * (alone["high"] - alone["low"])
    paraphrases = block_of(Planned(case(f"c{i}", family=f"f{i // 5}"), ends[i // 5][:1]) for i in range(300))
    assert paraphrases["positives"]["recall"]["low"] == repeated["low"]


states = st.sampled_from(["tp", "tp+extra", "miss", "temporal", "missing", "value", "judge", "fp", "tn", "unclear",
                          "asked", "answered", "guessed", "lost", None])  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.sampled_from(get_args(Item)),
            st.sampled_from(["easy", "medium", "hard", None]),
            st.lists(states, min_size=2, max_size=2),
            st.booleans(),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_the_identities_hold_for_any_verdicts_and_agree_with_a_recount(drawn: list[Any]) -> None:
    plans = [
        Planned(case(f"c{i}", item, difficulty=level, excluded="x" if excluded else None), tuple(ends))
        for i, (item, level, ends, excluded) in enumerate(drawn)
    ]
    run = run_of({"m": plans})
    (group,) = groups_of(run)  # summarise checks the identities
    block = group["queries"]
    found = {each.case.id: each.case for each in plans}
    again = Counter(
        query_of(found[row.verdict.case_id].item, found[row.verdict.case_id].excluded, row.verdict).state  # type: ignore[arg-type]
        for row in run.rows
    )
    positives = again["tp"] + again["fn"]
    assert counts(block["positives"]["recall"]) == (again["tp"], positives)
    assert block["positives"]["recall"]["k"] + sum(block["positives"][name]["k"] for name in CLASSES) == positives
    n = again["fp"] + again["tn"]
    assert counts(block["policies"]["separate"]["over_recall"]) == (again["fp"], n)
    assert counts(block["policies"]["separate"]["accuracy"]) == (again["tp"] + again["tn"], positives + n)
    everywhere = again["guessed"] + again["both_empty"]
    assert counts(block["policies"]["tn"]["over_recall"]) == (again["fp"] + again["guessed"], n + everywhere)


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "acceptance": st.sampled_from(get_args(Acceptance)),
                "selection": st.sampled_from(get_args(Selection)),
                "attribution": st.sampled_from(get_args(Attribution)),
                "violations": st.sampled_from([(), ("extra_call",)]),
            }
        ),
        min_size=4,
        max_size=8,
    )
)
def test_no_combination_of_stages_breaks_the_sums(drawn: list[dict[str, Any]]) -> None:
    items = (*get_args(Item), *get_args(Item))
    plans = [Planned(case(f"c{i}", items[i]), ("tp",)) for i in range(len(drawn))]
    run = run_of({"m": plans})
    run.rows = [
        structs.replace(row, verdict=structs.replace(row.verdict, **changes))
        for row, changes in zip(run.rows, drawn, strict=True)
    ]
    assert groups_of(run)[0]["queries"]["trials"]["planned"] == len(drawn)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(value, dict):
        return []
    here = [(*path, name) for name in ("k", "n") if name in value]
    return here + [found for name, each in value.items() for found in _paths(each, (*path, name))]


CHECKED = [path for path in _paths(block_of(HAND)) if path[0] in ("positives", "strict", "policies", "levels")]


@pytest.mark.parametrize("path", CHECKED, ids=lambda path: ".".join(map(str, path)))
def test_a_count_that_is_off_by_one_is_refused_never_shown(path: tuple[Any, ...]) -> None:
    block = copy.deepcopy(block_of(HAND))
    at = block
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] += 1
    with pytest.raises(RunFolderError, match="contradict each other"):
        check_queries(block, "it")


def test_the_summary_refuses_counts_that_do_not_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import callscope.reports.queries as queries

    real = queries._answers

    def all_missed(*of: Any) -> Iterator[tuple[str, bool]]:
        yield from ((name, hit or name == "miss_recall") for name, hit in real(*of))

    monkeypatch.setattr(queries, "_answers", all_missed)
    with pytest.raises(RunFolderError, match="recall \\+ miss"):
        summarise(run_of({"m": planned("positive", {"tp": 2})}))


def test_rows_for_spreadsheets_hold_the_counts() -> None:
    (row,) = to_rows(summarise(run_of({"m": HAND})))
    assert (row["query_recall_k"], row["query_recall_n"], row["query_accuracy_k"]) == (3, 5, 5)
    assert row["query_trials_both_empty"] == 3


@pytest.mark.parametrize(("k", "n", "half"), [(1690, 2500, 1.83), (145, 500, 3.97), (54, 500, 2.73)])
def test_the_uncertainty_of_the_documents_figures(k: int, n: int, half: float) -> None:
    found = block_of(planned("positive", {"tp": k, "miss": n - k}))["positives"]["recall"]
    assert round(100 * (found["high"] - found["low"]) / 2, 2) == half


def test_the_order_of_two_accuracies_of_the_document_is_not_established() -> None:
    def z(first: tuple[int, int], second: tuple[int, int]) -> float:
        shares = [k / n for k, n in (first, second)]
        variance = sum(p * (1 - p) / n for p, (_, n) in zip(shares, (first, second), strict=True))
        return round((shares[0] - shares[1]) / math.sqrt(variance), 2)

    def figures(tp: int, fp: int) -> tuple[tuple[int, int], tuple[int, int]]:
        block = block_of(
            planned("positive", {"tp": tp, "miss": 2500 - tp}),
            planned("global_negative", {"fp": fp, "tn": 500 - fp}),
        )
        return counts(block["positives"]["recall"]), counts(block["policies"]["separate"]["accuracy"])

    claude, above, below = figures(1690, 145), figures(1624, 90), figures(1624, 91)
    assert z(claude[0], above[0]) == pytest.approx(1.98, abs=0.011)
    # 67.78 % of 3,000 is no count: it lies between these two
    assert (above[1], below[1]) == ((2034, 3000), (2033, 3000))
    assert z(claude[1], above[1]) < 0.32 < z(claude[1], below[1]) < 1.96


def test_repeats_not_run_leave_the_others_in_place() -> None:
    run: Run = run_of({"m": [Planned(case("a"), ("tp", None)), Planned(case("b"), (None, "miss"))]})
    block = groups_of(run)[0]["queries"]
    assert counts(block["positives"]["recall"]) == (1, 2)
    assert block["trials"]["not_run"] == 2
    assert trial(KEY, "tp").verdict.attribution == "correct"
    assert set(block["policies"]) == set(POLICIES)
