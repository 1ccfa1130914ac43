"""Terminal tables fit their width, truncate no number, and take nothing foreign for markup."""

from __future__ import annotations

import io
import re

import pytest
from reports_runs import HOSTILE, support_run
from rich.cells import cell_len
from rich.console import Console

from callscope.reports import print_summary, summarise, terminal_text
from callscope.reports.columns import MAIN, model_name
from callscope.reports.numbers import interval, milliseconds, money, percent, quantity, rate_of, rate_text
from callscope.reports.safe import inert

SUMMARY = summarise(support_run())


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(cell_len(line) for line in terminal_text(SUMMARY, width=width).splitlines()) <= width


@pytest.mark.parametrize("width", [60, 80, 140, 200])
def test_every_number_of_the_main_table_stands_whole(width: int) -> None:
    text = terminal_text(SUMMARY, width=width)
    assert "…" not in text.replace(model_name(SUMMARY["groups"][2]), "")
    for group in SUMMARY["groups"]:
        for column in MAIN:
            cell = column.cell(group)
            assert cell.main in text
            assert cell.more in text


def test_a_wide_terminal_gets_one_row_a_model_with_counts_percentage_and_interval() -> None:
    text = terminal_text(summarise(support_run(hostile=False)), width=240)
    row = next(line for line in text.splitlines() if line.startswith("acme/atlas-mini"))
    assert re.search(r"\d+/\d+ \d+% \[\d+–\d+\].*\d+/\d+ \d+% \[\d+–\d+\]", row)
    assert len([line for line in text.splitlines() if line.startswith("model ")]) <= 12


def test_no_colour_and_no_control_character_reaches_what_is_no_terminal() -> None:
    text = terminal_text(SUMMARY, width=80)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2066\ud800-\udfff]", text)


def test_a_terminal_gets_colour_and_still_no_foreign_escape() -> None:
    out = io.StringIO()
    print_summary(SUMMARY, Console(file=out, width=100, force_terminal=True, color_system="standard"))
    escapes = set(re.findall(r"\x1b\[([0-9;]*)m", out.getvalue()))
    assert escapes
    assert "\x1b]" not in out.getvalue()
    assert "\x9b" not in out.getvalue()


def test_markup_in_a_name_is_printed_not_obeyed() -> None:
    summary = summarise(support_run())
    for group in summary["groups"]:
        group["model"] = HOSTILE[3]
    assert "[bold red]markup[/bold red]" in terminal_text(summary, width=200)


def test_coverage_loss_confusion_and_attribution_follow_the_main_table() -> None:
    text = terminal_text(SUMMARY, width=100)
    places = [text.index(part) for part in ("Coverage loss", "Confusion", "Wrong choices", "Attribution of trials")]
    assert places == sorted(places)
    assert "not run" in text
    assert "stand-in" in text


@pytest.mark.parametrize(
    ("k", "n", "shown"),
    [(0, 0, "–"), (0, 40, "0%"), (1, 1000, "1%"), (999, 1000, "99%"), (40, 40, "100%"), (31, 40, "78%")],
)
def test_percentages_keep_none_and_all_for_none_and_all(k: int, n: int, shown: str) -> None:
    assert percent(k, n) == shown


def test_a_rate_is_its_counts_its_share_and_its_interval() -> None:
    assert rate_text(rate_of([(31, 40), (0, 0)])).startswith("31/40  78% [")
    assert rate_text(rate_of([])) == "–"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (3.21, "3.2ms"), (850.4, "850ms"), (1240.0, "1.24s"), (23_450.0, "23.4s"), (120_000.0, "120s")],
)
def test_times_are_short(value: float | None, shown: str) -> None:
    assert milliseconds(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (950, "950"), (7.5, "7.5"), (12_345, "12.3k"), (999_960, "1.0M"), (4.2e9, "4.2G")]
)
def test_quantities_are_short(value: float | None, shown: str) -> None:
    assert quantity(value) == shown


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        ({"sum": None, "known": 0, "unknown": 0}, "–"),
        ({"sum": None, "known": 0, "unknown": 4}, "unknown"),
        ({"sum": 0.01234, "known": 3, "unknown": 0}, "0.01234"),
        ({"sum": 12.5, "known": 3, "unknown": 2}, "12.50 (+2 unknown)"),
    ],
)
def test_an_unknown_cost_is_said(cost: dict[str, object], shown: str) -> None:
    assert money(cost) == shown


def test_a_rate_of_nothing_has_no_interval() -> None:
    assert interval(rate_of([])) == ""


def test_a_model_with_nothing_to_remark_gets_no_remark() -> None:
    run = support_run(hostile=False)
    run.rows = []
    assert "queued" not in terminal_text(summarise(run), width=100)


def test_inert_text_keeps_what_scripts_need() -> None:
    assert inert("日本語\u3000العربية 👩\u200d💻 é\n\t") == "日本語\u3000العربية 👩\u200d💻 é\n\t"
