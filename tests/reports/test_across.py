"""Table 2: models down, benchmarks across, counts beside every rate; what was not run is no zero."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queries_kit import planned, run_of, source, with_checker

from callscope.contract import Settings
from callscope.errors import InputError
from callscope.reports.across import NOT_RUN, Options, Source, across
from callscope.reports.exhibits.parts import Exhibit, Grid

POSITIVE = planned("positive", {"tp": 3, "miss": 1})
NEGATIVE = planned("global_negative", {"tn": 1, "fp": 1})


def run(name: str, models: dict[str, Any], suite: str, **more: Any) -> Source:
    return source(run_of(models, suite=suite, **more), name)


def grid_of(exhibit: Exhibit) -> Grid:
    first = exhibit.parts[0]
    assert isinstance(first, Grid)
    return first


def cells(exhibit: Exhibit, row: str) -> dict[str, str]:
    grid = grid_of(exhibit)
    found = dict(grid.rows)[row]
    return {column: cell.main for column, cell in zip(grid.columns, found, strict=True)}


def test_a_model_absent_from_a_benchmark_is_not_run_and_never_zero() -> None:
    table = across(
        [
            run("one", {"m": POSITIVE, "other": POSITIVE}, "plugin"),
            run("two", {"m": [*POSITIVE, *NEGATIVE]}, "bfcl-simple", benchmark="bfcl", experiment="recorded"),
        ],
        Options(),
    )
    assert cells(table, "m") == {
        "plugin 1 recall": "3/4 75.00%",
        "plugin 1 accuracy": "3/4 75.00%",
        "BFCL recall": "3/4 75.00%",
        "BFCL accuracy": "4/6 66.67%",
    }
    assert cells(table, "other")["BFCL recall"] == cells(table, "other")["BFCL accuracy"] == NOT_RUN
    data = {row["model"]: row["benchmarks"] for row in table.data["rows"]}
    assert data["other"]["BFCL"] is None
    assert (data["m"]["BFCL"]["recall"]["k"], data["m"]["BFCL"]["recall"]["n"]) == (3, 4)


def test_the_suites_of_a_benchmark_are_pooled_by_their_counts_and_it_says_so() -> None:
    many, few = planned("positive", {"tp": 90, "miss": 10}), planned("positive", {"miss": 2})
    sources = [
        run("one", {"m": many}, "bfcl-simple", benchmark="bfcl"),
        run("two", {"m": few}, "bfcl-multiple", benchmark="bfcl"),
    ]
    table = across(sources, Options())
    assert cells(table, "m")["BFCL recall"] == "90/102 88.24%"  # not the mean of 90 % and 0 %
    assert any("BFCL (2)" in note and "pooled" in note for note in grid_of(table).notes)
    full = across(sources, Options(full=True))
    assert [name for name, _ in full.parts[1].rows] == ["bfcl-simple · m · auto", "bfcl-multiple · m · auto"]  # type: ignore[union-attr]


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=4).filter(
        lambda p: any(map(any, p))
    )
)
def test_pooling_is_adding_up(parts: list[tuple[int, int]]) -> None:
    sources = [
        run(str(i), {"m": planned("positive", {"tp": k, "miss": missed, "lost": 1})}, f"s{i}", benchmark="b")
        for i, (k, missed) in enumerate(parts)
    ]
    (row,) = across(sources, Options()).data["rows"]
    found = row["benchmarks"]["b"]["recall"]
    k, n = sum(k for k, _ in parts), sum(k + missed for k, missed in parts)
    assert (found["k"], found["n"]) == (k, n)
    assert found["rate"] == pytest.approx(k / n, abs=1e-6)
    assert 0 <= found["low"] <= found["rate"] <= found["high"] <= 1


def test_a_model_that_lacks_a_suite_of_a_benchmark_says_how_many_it_has() -> None:
    sources = [
        run("one", {"m": POSITIVE, "less": POSITIVE}, "bfcl-a", benchmark="bfcl"),
        run("two", {"m": POSITIVE}, "bfcl-b", benchmark="bfcl"),
    ]
    table = across(sources, Options())
    assert "1 of 2 suites" in dict(grid_of(table).rows)["less"][0].more
    assert "suites" not in dict(grid_of(table).rows)["m"][0].more
    assert any("denominators differ" in note for note in grid_of(table).notes)


def test_the_benchmarks_own_verdict_stands_beside_ours_by_name() -> None:
    ours = run_of({"m": POSITIVE}, suite="bfcl-a", benchmark="bfcl", experiment="recorded")
    checked = source(with_checker(ours, [True, True, True, True]), "one")
    table = across([checked, run("two", {"n": POSITIVE}, "bfcl-a", benchmark="bfcl")], Options())
    assert cells(table, "m")["BFCL's own checker"] == "4/4 100.00%"
    assert cells(table, "m")["BFCL recall"] == "3/4 75.00%"
    assert cells(table, "n")["BFCL's own checker"] == "none"


def test_experiments_of_a_model_are_rows_of_their_own_and_others_are_left_out_by_name() -> None:
    sources = [
        run("one", {"m": POSITIVE, "n": POSITIVE}, "plugin"),
        run("two", {"m": POSITIVE}, "plugin", experiment="auto+stream", settings=Settings(stream=True)),
        run("three", {"m": POSITIVE}, "plugin", experiment="required", settings=Settings(tool_choice="required")),
        run("four", {"m": POSITIVE}, "plugin", experiment="need", settings=Settings(routing="need")),
    ]
    table = across(sources, Options())
    assert [name for name, _ in grid_of(table).rows] == ["m · auto", "n", "m · auto+stream"]
    assert any("experiments need, required" in note for note in grid_of(table).notes)
    with pytest.raises(InputError, match="no experiment that can stand"):
        across(sources[2:], Options())


def test_one_model_on_one_suite_in_two_runs_is_refused_not_counted_twice() -> None:
    sources = [run("first", {"m": POSITIVE}, "plugin"), run("second", {"m": POSITIVE}, "plugin")]
    with pytest.raises(InputError, match="first and second"):
        across(sources, Options())


def test_what_stands_in_no_denominator_is_said() -> None:
    plans = [*POSITIVE, *planned("positive", {"lost": 2}, start="l"), *planned("global_negative", {"unclear": 1})]
    notes = grid_of(across([run("one", {"m": plans}, "plugin")], Options())).notes
    assert "in no denominator: m on plugin 1: undecided 1, not observed 2" in notes


def test_a_benchmark_of_which_nothing_was_observed_is_neither_zero_nor_not_run() -> None:
    table = across([run("one", {"m": planned("positive", {"lost": 2})}, "plugin")], Options())
    assert cells(table, "m") == {"plugin 1 recall": "–", "plugin 1 accuracy": "–"}


def test_policies_and_strictness_reach_the_table() -> None:
    plans = [*planned("positive", {"tp": 1, "tp+extra": 1}), *planned("underspecified", {"asked": 1, "guessed": 1})]
    sources = [run("one", {"m": plans}, "plugin")]
    found = {
        policy: cells(across(sources, Options(policy)), "m")["plugin 1 accuracy"]  # type: ignore[arg-type]
        for policy in ("separate", "exclude", "tn")
    }
    assert found == {"separate": "2/2 100.00%", "exclude": "2/3 66.67%", "tn": "3/4 75.00%"}
    told = "both empty 1, guessed 1: m on plugin 1: accuracy separate 2/2, exclude 2/3, tn 3/4; recall unchanged"
    assert told in grid_of(across(sources, Options())).notes
    strict = across(sources, Options("separate", strict=True))
    assert cells(strict, "m")["plugin 1 recall"] == "1/2 50.00%"
    assert any("strict" in note for note in grid_of(strict).notes)
