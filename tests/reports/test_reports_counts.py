"""What newcomers misread: retries and rounds, tried and planned, tools confused, conversations, flags that explain."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from reports_runs import Run, derived, entry, good, key_of, loss, manifest, suite, support_cases, support_run

from callscope.contract import Block, Case, Derived, ExpectText, Measures, Text, ToolCall, ToolCalls
from callscope.reports import render_html, render_markdown, short_rows, summarise, terminal_text, to_rows
from callscope.reports.chosen import confused, matrix
from callscope.reports.columns import LEGEND, STAGE_WORDS
from callscope.reports.remarks import QUEUED

CASES = support_cases()
LOOKUP = CASES[0]


def small_run(rows: list[Derived], *, cases: tuple[Case, ...] = (LOOKUP,), repeats: int = 3) -> Run:
    held = suite("support", cases)
    plan = (Block("support", "auto", "m", tuple(c.id for c in cases), repeats),)
    return Run(manifest((held,), (entry("m"),), plan), {"support": held}, rows)


def group_of(rows: list[Derived], **more: Any) -> dict[str, Any]:
    return dict(summarise(small_run(rows, **more))["groups"][0])


def said(repeat: int, *flags: str, names: tuple[str, ...] = (), case: Case = LOOKUP, **changes: Any) -> Derived:
    calls = tuple(ToolCall(None, name, {}) for name in names)
    outcome = ToolCalls(calls, flags) if calls else Text("{}", flags)
    return derived(key_of(case.id, repeat), outcome, **changes)


# ------------------------------------------------------------------------------------------------- rounds and retries


@pytest.mark.parametrize(
    ("attempts", "rounds", "retried"), [(1, 1, 0), (2, 1, 1), (2, 2, 0), (3, 3, 0), (4, 3, 1), (0, 0, 0)]
)
def test_a_second_round_is_no_retry(attempts: int, rounds: int, retried: int) -> None:
    row = structs.replace(
        good(key_of(LOOKUP.id), LOOKUP), measures=Measures("h", "t", attempts=attempts, rounds=rounds)
    )
    group = group_of([row])
    assert group["attempts"]["retried_trials"] == retried
    assert group["attempts"]["retries"] == max(0, attempts - rounds)
    assert ("retried" in terminal_text({**summarise(small_run([row])), "groups": [group]})) is bool(retried)


# --------------------------------------------------------------------------------------------------- tried and planned


def test_trials_never_tried_are_no_loss_and_stand_beside_the_rate() -> None:
    cases = tuple(Case(f"c{i}", "Hello", ExpectText()) for i in range(92))
    rows = [good(key_of(f"c{i}"), cases[i]) for i in range(5)]
    run = small_run(rows, cases=cases, repeats=1)
    summary = summarise(run)
    text, html = terminal_text(summary, width=140), render_html(run, summary)
    assert "5/5 100%" in text
    assert "not run 87" in text
    for shown in (text, html, render_markdown(summary)):
        assert "Coverage loss" not in shown
        assert "5/92" not in shown
        assert "not run 87" in shown
    assert "87 of 92 planned trials not run" in text


def test_lost_trials_are_counted_over_those_tried() -> None:
    rows = [good(key_of(LOOKUP.id), LOOKUP), loss(key_of(LOOKUP.id, 1), "timeout", "slow")]
    summary = summarise(small_run(rows, repeats=10))
    text = terminal_text(summary, width=140)
    assert "1/2 50%" in text
    assert text[text.index("Coverage loss") :].splitlines()[3].split()[-2:] == ["1/2", "50%"]


# ------------------------------------------------------------------------------------------------ tools by their names


def test_the_matrix_of_tools_crosses_what_was_expected_with_what_was_called() -> None:
    rows = [
        said(0, names=("lookup_order",)),
        said(1, names=("search_orders",), passed=False, selection="wrong_tool"),
        said(2, "text_tool_call", passed=False, selection="no_call_when_expected"),
        said(3, names=("search_orders", "lookup_order"), passed=False, selection="multiple_calls_when_one_expected"),
        said(4, passed=False, selection="no_call_when_expected"),
    ]
    group = group_of(rows, repeats=6)
    pairs = {(tuple(p["called"]), p["in_text"]): (p["trials"], p["right"]) for p in group["tool_pairs"]}
    assert pairs == {
        (("lookup_order",), False): (1, 1),
        (("search_orders",), False): (1, 0),
        ((), True): (1, 0),
        (("lookup_order", "search_orders"), False): (1, 0),
        ((), False): (1, 0),
    }
    laid = matrix(group)
    assert laid is not None
    assert laid.columns[0] == "lookup_order"
    assert set(laid.columns[1:]) == {"search_orders", "lookup_order + search_orders", "(no call)", "(in the text)"}
    assert [(name, total) for name, _, total in laid.rows] == [("lookup_order", 5)]
    assert "lookup_order → search_orders 1/5 20%" in confused(group)
    assert matrix(group_of([])) is None


def test_the_matrix_stands_in_terminal_markdown_and_html() -> None:
    run = small_run([said(0, names=("search_orders",), passed=False, selection="wrong_tool")])
    summary = summarise(run)
    assert "lookup_order → search_orders 1/1 100%" in terminal_text(summary)
    assert "| lookup\\_order | 1 | 1 |" in render_markdown(summary)
    assert "Expected tool against called tool" in render_html(run, summary)


@given(st.lists(st.lists(st.text(max_size=90), max_size=6), max_size=40))
def test_any_names_are_counted_once_each_and_bounded(called: list[list[str]]) -> None:
    rows = [said(i, names=tuple(names)) for i, names in enumerate(called)]
    group = group_of(rows, repeats=41)
    assert sum(pair["trials"] for pair in group["tool_pairs"]) == len(rows)
    laid = matrix(group, rows=3, columns=4)
    if laid is not None:
        assert len(laid.columns) <= 5
        assert all(sum(n for n, _ in cells) == total for _, cells, total in laid.rows)


def test_many_tools_make_neither_the_summary_nor_the_matrix_grow_without_bound() -> None:
    rows = [said(i, names=(f"tool_{i}",), passed=False, selection="wrong_tool") for i in range(900)]
    run = small_run(rows, repeats=900)
    group = summarise(run)["groups"][0]
    assert len(group["tool_pairs"]) <= 301
    laid = matrix(group)
    assert laid is not None
    assert len(laid.columns) <= 13
    assert sum(total for _, _, total in laid.rows) == 900
    assert len(confused(group)) < 500


# -------------------------------------------------------------------------------------------------------- conversations


def talk(repeat: int, rounds: int, corrected: bool | None, repeated: bool, ended: str) -> Derived:
    facts = {"tool_rounds": rounds, "corrected": corrected, "repeated_unchanged": repeated, "ended": ended}
    return said(repeat, names=("lookup_order",), recovery=facts)


def test_conversations_are_rates_with_their_counts() -> None:
    rows = [
        talk(0, 1, None, False, "text"),
        talk(1, 2, True, False, "text"),
        talk(2, 3, False, True, "repeated_call"),
        said(3, names=("lookup_order",)),
    ]
    run = small_run(rows, repeats=4)
    summary = summarise(run)
    block = summary["groups"][0]["conversations"]
    assert block["trials"] == 3
    assert block["tool_rounds"] == {"sum": 6, "per_trial": 2.0}
    assert [(block[name]["k"], block[name]["n"]) for name in ("corrected", "repeated_unchanged")] == [(1, 2), (1, 2)]
    assert {name: (r["k"], r["n"]) for name, r in block["ended"].items()} == {"text": (2, 3), "repeated_call": (1, 3)}
    for shown in (terminal_text(summary, width=160), render_markdown(summary), render_html(run, summary)):
        assert "Recovery" in shown
        assert "repeated call 1/3 33%" in shown
        assert "text 2/3 67%" in shown


def test_without_a_conversation_there_is_no_table_of_them() -> None:
    run = small_run([said(0, names=("lookup_order",))])
    summary = summarise(run)
    assert "Recovery" not in terminal_text(summary)
    assert "<h3>Recovery</h3>" not in render_html(run, summary)


# ----------------------------------------------------------------------------------------------------- words and hints


def test_calls_in_the_text_are_named_where_they_explain_the_failures() -> None:
    rows = [said(i, "text_tool_call", passed=False, selection="no_call_when_expected") for i in range(6)]
    run = small_run(rows, repeats=6)
    summary = summarise(run)
    for shown in (terminal_text(summary, width=200), render_html(run, summary)):
        assert "6 of 6 calls were written into the text, flag text_tool_call" in shown
    rows[2:] = [said(i, names=("search_orders",), passed=False, selection="wrong_tool") for i in range(2, 6)]
    assert "were written" not in terminal_text(summarise(small_run(rows, repeats=6)), width=200)


def test_another_flag_on_most_failures_is_named_with_whom_it_points_to() -> None:
    rows = [said(i, "truncated", passed=False, structure="malformed", names=("lookup_order",)) for i in range(3)]
    text = terminal_text(summarise(small_run(rows)), width=200)
    assert "3 of 3 failed trials (100%) with flag truncated: settings" in text


@pytest.mark.parametrize(("queued", "shown"), [(0.0, False), (0.01, False), (12.0, True)])
def test_waiting_is_hidden_when_nil_and_explained_when_shown(queued: float, shown: bool) -> None:
    row = good(key_of(LOOKUP.id), LOOKUP)
    row = structs.replace(row, measures=structs.replace(row.measures, queued=queued))
    text = terminal_text(summarise(small_run([row])), width=200)
    assert ("queued 12ms / 12ms" in text) is shown
    assert (QUEUED in text) is shown
    assert "0.0ms / 0.0ms" not in text


def test_the_terminal_explains_its_columns_once_and_counts_one_case_as_one() -> None:
    run = support_run(hostile=False)
    text = terminal_text(summarise(run), width=200)
    assert text.count(LEGEND) == 1
    assert "1 cases" not in terminal_text(
        summarise(small_run([good(key_of(LOOKUP.id, i), LOOKUP) for i in range(3)])), width=200
    )


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_heading_of_times_takes_at_most_two_lines(width: int) -> None:
    assert "p50\u00a0/\u00a0p95" in terminal_text(summarise(support_run(hostile=False)), width=width)


def test_all_models_share_one_table_of_confusion_where_it_fits() -> None:
    text = terminal_text(summarise(support_run(hostile=False)), width=140)
    part = text[text.index("Confusion") : text.index("Wrong choices")]
    row = next(line for line in part.splitlines() if line.strip().startswith("correct tool"))
    assert len(row.split()) == 5


def test_the_stages_are_named_as_the_contract_names_them() -> None:
    for name in ("acceptance", "selection", "structure", "semantics"):
        assert STAGE_WORDS[name][1].startswith(name)
    assert len({letter for letter, _ in STAGE_WORDS.values()}) == len(STAGE_WORDS)
    run = support_run(hostile=False)
    html = render_html(run, summarise(run))
    assert "decision right" not in html
    assert "meaning right" not in html


# ---------------------------------------------------------------------------------------------------------------- html


def test_an_empty_stability_table_is_not_drawn() -> None:
    run = small_run([good(key_of(LOOKUP.id), LOOKUP)], repeats=1)
    html = render_html(run, summarise(run))
    assert 'aria-label="Stability"' not in html
    assert "No case was observed twice" in html


def test_undecided_counts_lead_to_their_evidence() -> None:
    rows = [said(0, names=("lookup_order",), passed=None, semantics="undecided")]
    run = small_run(rows)
    html = render_html(run, summarise(run))
    anchor = html.split(">1 undecided</a>")[0].rsplit('href="#', 1)[1].rstrip('"')
    assert f'id="{anchor}"' in html
    assert f'<a href="#{anchor}">1</a></b> undecided' in html


def test_long_lists_of_cases_are_folded_out_of_the_manifest() -> None:
    cases = tuple(Case(f"case-{i}", "Hello", ExpectText()) for i in range(40))
    run = small_run([], cases=cases)
    html = render_html(run, summarise(run))
    shown = html[html.index('<pre class="manifest">') :]
    manifest_text, rest = shown.split("</pre>", 1)
    assert "case-30" not in manifest_text
    assert "case-30, case-31" in rest


# ---------------------------------------------------------------------------------------------------------------- rows


def test_short_rows_are_few_columns_whose_counts_agree_with_the_full_ones() -> None:
    summary = summarise(support_run())
    short, full = short_rows(summary), to_rows(summary)
    assert len(short[0]) <= 20
    for few, all_ in zip(short, full, strict=True):
        assert few["model"] == all_["model"]
        assert few["passed"] == f"{all_['passed_k']}/{all_['passed_n']}"
        assert few["exact_rate"] == all_["exact_rate"]
    assert json.dumps(short)
