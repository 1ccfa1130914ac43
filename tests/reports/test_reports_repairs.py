"""Repaired figures stand beside raw ones: same trials, own counts, and no raw figure knows of them."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from reports_runs import HOSTILE, NO_CALL, Run, derived, entry, loss, manifest, suite, support_cases, support_run

from callscope.contract import Block, Derived, Repair, Repaired, Text, ToolCall, ToolCalls, TrialKey
from callscope.errors import RunFolderError
from callscope.reports import check_identities, failures, inspect_text, summarise, terminal_text, to_csv, to_rows
from callscope.reports.evidence import evidence
from callscope.reports.gallery import choose
from callscope.reports.html import render_html
from callscope.reports.markdown import render_markdown
from callscope.scoring.repair import REPAIRS

CASES = support_cases()
CALL = ToolCalls((ToolCall(None, "lookup_order", {"order_id": "ORD-104821"}),), ())
WRONG: dict[str, Any] = {"passed": False, "selection": "no_call_when_expected", "attribution": "miss_recall", **NO_CALL}


def key(case_id: str, repeat: int = 0, model: str = "m") -> TrialKey:
    return TrialKey("support", "auto", model, case_id, repeat)


def mended(*names: str, passed: bool | None = True, text: str = "x", **changes: Any) -> Repaired:
    fields: dict[str, Any] = {
        "selection": "correct_tool",
        "structure": "valid",
        "semantics": "exact",
        "attribution": "correct",
        "violations": (),
        **changes,
    }
    steps = tuple(Repair(f"/calls/0/arguments/{name}", name, text, [text]) for name in names)
    return Repaired(steps, CALL, passed=passed, **fields)


def run_of(rows: list[Derived], repeats: int = 6, models: tuple[str, ...] = ("m",)) -> Run:
    held = suite("support", CASES)
    plan = tuple(Block("support", "auto", model, tuple(c.id for c in CASES), repeats) for model in models)
    return Run(manifest((held,), tuple(entry(model) for model in models), plan), {"support": held}, rows)


def six(model: str = "m") -> list[Derived]:
    """Every way a repair can change what counts as passed."""
    case = CASES[0].id
    wrong = Text("f(a=1)", ("text_tool_call",))
    return [
        derived(key(case, 0, model), CALL),
        derived(key(case, 1, model), wrong, repaired=mended("text_call", "enum_case"), **WRONG),
        derived(key(case, 2, model), wrong, repaired=mended("text_call", passed=False, semantics="wrong"), **WRONG),
        derived(key(case, 3, model), wrong, repaired=mended("text_call", passed=None, semantics="undecided"), **WRONG),
        derived(key(case, 4, model), CALL, repaired=mended("drop_unknown", passed=False, violations=("extra_call",))),
        derived(key(case, 5, model), CALL, passed=None, semantics="undecided", repaired=mended("scalar_type")),
    ]


def block(run: Run) -> dict[str, Any]:
    return dict(summarise(run)["groups"][0])


def test_passed_with_repairs_is_over_the_trials_that_passed_is_over() -> None:
    group = block(run_of(six()))
    raw, repaired = group["rates"], group["repaired"]
    assert (raw["passed"]["k"], raw["passed"]["n"]) == (2, 5)
    assert (repaired["rates"]["passed"]["k"], repaired["rates"]["passed"]["n"]) == (2, 5)
    assert {name: repaired[name] for name in ("trials", "gained", "lost", "undecided", "newly_decided")} == {
        "trials": 5,
        "gained": 1,
        "lost": 1,
        "undecided": 1,
        "newly_decided": 1,
    }
    assert repaired["applied"] == {"text_call": 3, "scalar_type": 1, "enum_case": 1, "drop_unknown": 1}
    assert list(repaired["applied"]) == [name for name in REPAIRS if name in repaired["applied"]]


def test_the_other_rates_judge_what_there_is_to_judge_in_each_track() -> None:
    group = block(run_of(six()))
    counts = {
        name: (group["rates"][name], group["repaired"]["rates"][name]) for name in ("selection", "structure", "exact")
    }
    assert {name: [(rate["k"], rate["n"]) for rate in pair] for name, pair in counts.items()} == {
        "selection": [(3, 6), (6, 6)],
        "structure": [(3, 3), (6, 6)],
        "exact": [(2, 2), (4, 5)],
    }


def test_no_raw_figure_knows_of_repairs() -> None:
    rows = six()
    with_, without = block(run_of(rows)), block(run_of([structs.replace(row, repaired=None) for row in rows]))
    repaired, none = with_.pop("repaired"), without.pop("repaired")
    assert with_ == without
    assert none == {**dict.fromkeys(("trials", "gained", "lost", "undecided", "newly_decided"), 0), "applied": {},
                    "rates": without["rates"]}  # fmt: skip
    assert repaired != none


@given(
    st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None, "none"])), max_size=6)
)
def test_gained_and_lost_lead_from_the_raw_count_to_the_repaired_one(pairs: list[tuple[Any, Any]]) -> None:
    rows = [
        derived(
            key(CASES[0].id, i), CALL, passed=raw, repaired=None if then == "none" else mended("enum_case", passed=then)
        )
        for i, (raw, then) in enumerate(pairs)
    ]
    group = block(run_of(rows))
    decided = [(raw, raw if then == "none" else then) for raw, then in pairs if raw is not None]
    rate = group["repaired"]["rates"]["passed"]
    assert (rate["k"], rate["n"]) == (sum(then is True for _, then in decided), len(decided))
    check_identities(summarise(run_of(rows)))


def test_repaired_counts_that_do_not_add_up_are_refused() -> None:
    summary = summarise(run_of(six()))
    summary["groups"][0]["repaired"]["gained"] += 1
    with pytest.raises(RunFolderError, match="repaired passes"):
        check_identities(summary)


def test_every_table_shows_the_pair_only_where_a_repair_applied() -> None:
    rows = [*six(), derived(key(CASES[0].id, 0, "plain"), CALL), loss(key(CASES[1].id, 0, "plain"), "timeout", "t")]
    run = run_of(rows, models=("m", "plain"))
    summary = summarise(run)
    terminal, markdown, html = terminal_text(summary, width=160), render_markdown(summary), render_html(run, summary)
    assert "Repairs: what a stack that repairs would have got" in terminal
    part = terminal[terminal.index("Repairs:") :]
    assert "plain" not in part
    for text in (part, markdown, html):
        for shown in ("with repairs", "2/5", "5/6", "gained", "lost", "undecided with repairs 1"):
            assert shown in text.replace("\n", " "), shown
    assert "What repairs would have changed" in html
    assert "text call" in html
    assert "with repairs (a track of its own)" in html
    bare = run_of([structs.replace(row, repaired=None) for row in rows], models=("m", "plain"))
    summary = summarise(bare)
    for text in (terminal_text(summary), render_markdown(summary), render_html(bare, summary)):
        assert "repairs" not in text.replace(".repairs", "")


def test_rows_have_the_same_columns_whether_or_not_anything_was_repaired() -> None:
    rows = [*six(), derived(key(CASES[0].id, 0, "plain"), CALL)]
    summary = summarise(run_of(rows, models=("m", "plain")))
    one, other = to_rows(summary)
    assert one.keys() == other.keys()
    assert (one["repaired_passed_k"], one["repaired_passed_n"], one["repaired_trials"]) == (2, 5, 5)
    assert (one["repair_text_call"], one["repair_lenient_json"], other["repair_text_call"]) == (3, 0, 0)
    read = list(csv.DictReader(io.StringIO(to_csv(summary))))
    assert read[0]["repaired_gained"] == "1"


def test_a_trial_s_evidence_says_what_was_changed_and_what_came_of_it() -> None:
    row = six()[1]
    shown = evidence(row, CASES[0])
    assert shown.repairs == (
        '/calls/0/arguments/text_call  text_call: "x" → ["x"]',
        '/calls/0/arguments/enum_case  enum_case: "x" → ["x"]',
    )
    assert shown.repaired.startswith(
        "passed with repairs (raw: failed): correct_tool, structure valid, semantics exact"
    )
    assert "call lookup_order" in shown.repaired
    dropped = evidence(six()[4], CASES[0])
    assert dropped.repairs[0].endswith('"x" → dropped')
    assert "failed with repairs (raw: passed)" in dropped.repaired
    assert "extra_call" in dropped.repaired
    whole = structs.replace(row, repaired=structs.replace(mended(), steps=(Repair("", "text_call", "t", []),)))
    assert evidence(whole, None).repairs[0].startswith("the text  text_call")
    assert evidence(six()[0], None).repairs == ()
    text = inspect_text(failures(run_of(six())))
    assert "repair      /calls/0/arguments/text_call" in text
    assert "repaired    passed with repairs" in text


def test_a_few_examples_of_every_repair_of_every_model_are_kept() -> None:
    run = run_of([*six("a"), *six("b")], models=("a", "b"))
    kept = choose(run).repairs
    assert {(group.model, name): len(rows) for (group, name), rows in kept.items()} == {
        (model, name): count
        for model in "ab"
        for name, count in (("text_call", 2), ("enum_case", 1), ("drop_unknown", 1), ("scalar_type", 1))
    }
    row = structs.replace(six()[0], repaired=mended("enum_case", "enum_case"))
    assert [len(rows) for rows in choose(run_of([row])).repairs.values()] == [1]


def test_what_a_model_wrote_stays_inert_in_every_place_repairs_are_shown() -> None:
    base = support_run()
    rows = [
        structs.replace(row, repaired=mended("text_call", "drop_unknown", text=HOSTILE[i % len(HOSTILE)]))
        if row.verdict.acceptance == "accepted"
        else row
        for i, row in enumerate(base.rows)
    ]
    run = Run(base.manifest, base.suites, rows)
    summary = summarise(run)
    html = render_html(run, summary)
    assert "<img src=x" not in html
    assert "\ud800" not in html
    for text in (terminal_text(summary), inspect_text(failures(run)), render_markdown(summary)):
        assert "\x1b" not in text
        assert "\u202e" not in text
