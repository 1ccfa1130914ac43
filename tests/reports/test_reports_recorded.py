"""What was not measured, recorded or asked for is said to be so: recorded answers, parts of a run, parts of a table."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from msgspec import structs
from queries_kit import Planned, case, planned, run_of, source, with_checker
from reports_runs import Run, derived, support_run
from rich.console import Console

from callscope.contract import (
    Exchange,
    ModelEntry,
    Record,
    Round,
    Timing,
    ToolCall,
    ToolCalls,
    TrialKey,
)
from callscope.derive import derive
from callscope.errors import InputError
from callscope.reports import render_html, render_markdown, summarise, terminal_text
from callscope.reports.across import Options, across
from callscope.reports.chosen import confused, matrix
from callscope.reports.columns import Cell
from callscope.reports.exhibits.draw import bars_beside
from callscope.reports.exhibits.forms import print_exhibits
from callscope.reports.filters import narrowed
from callscope.reports.presets import exhibits_of
from callscope.reports.terminal import wide_table


def recorded_run(rows: int = 2, planned_: int = 4) -> Run:
    """A run of recorded answers of which some cases have no row."""
    plan = [Planned(case(f"c{i}"), ("tp" if i < rows else None,)) for i in range(planned_)]
    run = run_of({"m": plan}, benchmark="bfcl")
    (ref,) = run.manifest.models
    entry = ModelEntry("m", "recorded", "m", "recorded/bfcl")
    run.manifest = structs.replace(run.manifest, models=(structs.replace(ref, entry=entry),))
    return run


@pytest.mark.parametrize(("api", "measured"), [("recorded/bfcl", False), ("openai-chat", True)])
def test_times_of_a_recorded_answer_are_unknown(api: str, measured: bool) -> None:
    run = support_run(hostile=False)
    suite = run.suites["support"]
    body = b'{"id": "c", "result": "no"}'
    timing = Timing() if not measured else Timing(queued=1.0, total=20.0, first_byte=5.0)
    each = Exchange(1, "POST", "u", (), b"{}", "t", 200, (), body, timing)
    key = TrialKey("support", "auto", "m", suite.cases[0].id, 0)
    found = derive(Record(key, api, False, "t", (Round((each,)),)), suite.cases[0], suite).measures
    if measured:
        assert (found.latency, found.queued, found.first_byte) == (20.0, 1.0, 5.0)
    else:
        assert (found.latency, found.queued, found.first_byte, found.first_call) == (None, None, None, None)
    assert found.attempts == 1


def test_planned_cases_without_a_recorded_answer_are_without_a_row_and_were_not_left_to_run() -> None:
    run = recorded_run()
    summary = summarise(run)
    text = " ".join(terminal_text(summary, width=200).split())
    assert "2 of 4 trials recorded; the rest has no row" in text
    assert "no row 2" in text
    markdown = render_markdown(summary)
    for each in (text, markdown, render_html(run, summary)):
        assert "--resume" not in each
    assert "2 without a row" in markdown
    ordinary = summarise(run_of({"m": [Planned(case("a"), ("tp",)), Planned(case("b"), (None,))]}))
    assert "no row" not in terminal_text(ordinary, width=200)
    assert "--resume" in render_markdown(ordinary)


def called(*names: str) -> ToolCalls:
    return ToolCalls(tuple(ToolCall(str(i), name, {}) for i, name in enumerate(names)), ())


def test_a_right_tool_that_was_called_twice_is_no_confusion_of_a_tool_with_itself() -> None:
    run = run_of({"m": [Planned(case(f"c{i}"), ("tp",)) for i in range(3)]})
    keys = [TrialKey("plugin", "auto", "m", f"c{i}", 0) for i in range(3)]
    wrong: dict[str, Any] = {"selection": "multiple_calls_when_one_expected", "passed": False}
    run.rows = [
        derived(keys[0], called("lookup_order")),
        derived(keys[1], called("lookup_order", "lookup_order"), **wrong),
        derived(keys[2], called("search_orders"), selection="wrong_tool", passed=False),
    ]
    (group,) = summarise(run)["groups"]
    assert confused(group) == "lookup_order → lookup_order (2 calls) 1/3 33%; lookup_order → search_orders 1/3 33%"
    laid = matrix(group)
    assert laid is not None
    assert laid.columns == ("lookup_order", "search_orders")


def test_a_report_of_a_part_counts_just_the_trials_of_that_part_and_says_so() -> None:
    run = support_run(hostile=False)
    part = narrowed(run, suite="support", experiment="auto", model="acme/atlas-mini")
    whole, summary = summarise(run), summarise(part)
    (group,) = summary["groups"]
    assert group in whole["groups"]
    assert {(c["suite"], c["model"]) for c in summary["cases"]} == {("support", "acme/atlas-mini")}
    assert summary["run"]["only"] == {"suite": "support", "experiment": "auto", "model": "acme/atlas-mini"}
    assert "only" not in whole["run"]
    said = "Only a part of the run: suite support, experiment auto, model acme/atlas-mini"
    assert said in terminal_text(summary, width=160)
    assert said in render_html(part, summary)
    assert said in render_markdown(summary).replace("&#58;", ":")
    assert narrowed(run, suite=None, experiment=None, model=None) is run


@pytest.mark.parametrize(
    "asked",
    [{"suite": "suport"}, {"model": "nobody"}, {"suite": "support-recovery", "experiment": "required"}],
)
def test_a_part_that_is_not_there_is_an_error(asked: dict[str, str]) -> None:
    with pytest.raises(InputError):
        narrowed(support_run(hostile=False), **{"suite": None, "experiment": None, "model": None, **asked})


def drawn(parts: Any, width: int) -> str:
    text = io.StringIO()
    console = Console(file=text, width=width, no_color=True, highlight=False)
    for part in parts:
        console.print(part)
    return text.getvalue()


@pytest.mark.parametrize("width", [60, 80, 200])
def test_every_part_of_a_split_table_keeps_its_key_columns(width: int) -> None:
    headings = ["decision", *(f"number{i}" for i in range(12))]
    rows = [("m", [Cell("need"), *(Cell(str(100 + i)) for i in range(12))])]
    text = drawn(wide_table(width, "model", headings, rows, keys=1), width)
    parts = re.split(r"\n\s*\n", text.strip("\n"))
    assert all("decision" in part and "need" in part for part in parts)
    assert len(parts) == 1 if width == 200 else len(parts) > 1
    assert all(text.count(str(100 + i)) == 1 for i in range(12))
    assert max(map(len, text.splitlines())) <= width


def test_models_stand_in_the_order_of_the_plan_in_every_exhibit() -> None:
    plan = planned("positive", {"tp": 2, "miss": 1}, level="easy") + planned("global_negative", {"tn": 1})
    run = run_of({"zeta": plan, "alpha": plan, "mid": plan})
    for exhibit in exhibits_of("all", [source(run)], Options()):
        for part in exhibit.parts:
            if hasattr(part, "rows"):
                names = list(dict.fromkeys(name for name, _ in part.rows))
                assert names == ["zeta", "alpha", "mid"], exhibit.name
    (routing,) = exhibits_of("routing", [source(run)], Options())
    text = io.StringIO()
    print_exhibits([routing], Console(file=text, width=60, no_color=True))
    assert len(re.findall(r"^model +decision", text.getvalue(), re.MULTILINE)) > 1
    assert "f1: is any tool needed? f2: is it this one (the target)? f3:" in " ".join(text.getvalue().split())


def test_across_says_why_the_own_checker_is_silent() -> None:
    plan = planned("positive", {"tp": 2, "value": 1})
    run = with_checker(run_of({"m": plan}, benchmark="bfcl"), (None, None, None))
    why = {"checker": "bfcl", "why": "not_a_recorded_answer"}
    run.rows = [structs.replace(row, compatible=why) for row in run.rows]
    grid = across([source(run)], Options()).parts[0]
    assert grid.rows[0][1][2] == Cell("–")  # type: ignore[union-attr]
    assert "–: m on BFCL: its own checker says nothing of 3 trials (not a recorded answer 3)" in grid.notes


def test_it_is_said_what_denominators_and_intervals_are_of() -> None:
    text = terminal_text(summarise(run_of({"m": planned("positive", {"tp": 2})})), width=200)
    assert "denominators are trials; intervals are by case family" in text


def test_text_in_figures_is_legible_where_the_page_draws_them() -> None:
    from callscope.reports.html import asset

    css = asset("figure.css")
    size = float(re.search(r"font-size: ([\d.]+)px", css).group(1))  # type: ignore[union-attr]
    least = float(re.search(r"min-width: (\d+)px", css).group(1))  # type: ignore[union-attr]
    rate = {"k": 1230, "n": 2500, "rate": 0.492, "low": 0.47, "high": 0.51}
    name = "acme/atlas-large-2026-08-01-preview-of-a-long-name"
    svg = str(bars_beside([(name, [rate] * 5)], tuple("abcde"), (0, 0, 1, 1, 1), "w"))
    width = float(re.search(r'viewBox="0 0 ([\d.]+) ', svg).group(1))  # type: ignore[union-attr]
    assert size * least / width >= 11
    names = re.findall(r'<text class="" x="0" y="[\d.]+">([^<]*)</text>', svg)
    assert len(names) == 2
    assert max(map(len, names)) <= 21
