"""CSV, Markdown and JUnit carry the same counts as the summary, and stay inert where they are opened."""

from __future__ import annotations

import csv
import io
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports_runs import HOSTILE, Run, support_run

import callscope.reports as reports
from callscope.reports import limitations, render_junit, render_markdown, summarise, to_csv, to_rows
from callscope.reports.safe import clip, csv_cell, inert, one_line, pretty


@pytest.fixture(scope="module")
def run() -> Run:
    return support_run()


@pytest.fixture(scope="module")
def summary(run: Run) -> dict[str, Any]:
    return summarise(run)


def test_the_public_face_is_what_it_says() -> None:
    assert all(hasattr(reports, name) for name in reports.__all__)
    assert sorted(set(reports.__all__), key=str.lower) == sorted(reports.__all__, key=str.lower)


def test_rows_have_the_same_columns_and_counts_beside_every_rate(summary: dict[str, Any]) -> None:
    rows = to_rows(summary)
    assert len(rows) == len(summary["groups"])
    assert len({tuple(row) for row in rows}) == 1
    for name in rows[0]:
        if name.endswith("_rate"):
            assert {name.replace("_rate", "_k"), name.replace("_rate", "_n")} <= set(rows[0])


def test_csv_reads_back_to_the_rows(summary: dict[str, Any]) -> None:
    read = list(csv.DictReader(io.StringIO(to_csv(summary))))
    assert [int(row["passed_k"]) for row in read] == [row["passed_k"] for row in to_rows(summary)]
    assert to_csv({"groups": []}) == ""


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", " =1", "＝1+1", HOSTILE[4]])
def test_a_cell_that_looks_like_a_formula_is_text(text: str) -> None:
    cell = csv_cell(text)
    assert isinstance(cell, str)
    assert cell.startswith("'")


def test_numbers_stay_numbers_in_csv(summary: dict[str, Any]) -> None:
    assert csv_cell(-1.5) == -1.5
    assert csv_cell("plain") == "plain"


def test_no_csv_cell_of_a_hostile_run_begins_a_formula(summary: dict[str, Any]) -> None:
    for group in summary["groups"]:
        group = dict(group, model="=cmd()")
        assert "'=cmd()" in to_csv({"groups": [group]})


def test_junit_is_legal_xml_with_one_testcase_for_each_case_and_model(run: Run, summary: dict[str, Any]) -> None:
    root = ET.fromstring(render_junit(run, summary).encode("utf-8"))
    assert len(root.findall("testsuite/testcase")) == len(summary["cases"])
    for suite in root.findall("testsuite"):
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(name, "")) == len(suite.findall(f"testcase/{tag}"))
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
    failing = [c for c in summary["cases"] if c["passed"] < c["decided"]]
    assert len(root.findall("testsuite/testcase/failure")) == len(failing)
    assert all("came back" in (node.text or "") for node in root.iter("failure"))


def test_junit_tells_loss_undecided_and_not_run_apart(summary: dict[str, Any]) -> None:
    run = support_run(hostile=False)
    lost = next(row for row in run.rows if row.verdict.acceptance != "accepted")
    undecided = next(row for row in support_run(hostile=False, seed=1).rows if row.verdict.semantics == "undecided")
    for rows, tag in (([], "skipped"), ([lost], "error"), ([undecided], "skipped")):
        run.rows = rows
        root = ET.fromstring(render_junit(run, summarise(run)).encode())
        place = rows[0].verdict.case_id if rows else "abstain-01"
        model = rows[0].verdict.model if rows else "acme/atlas-mini"
        experiment = f"{rows[0].verdict.suite}.{rows[0].verdict.experiment}" if rows else "support.auto"
        found = root.find(f"testsuite/testcase[@classname='{experiment}.{model}'][@name='{place}']/{tag}")
        assert found is not None


def test_markdown_has_no_html_no_link_and_no_mention_from_data(summary: dict[str, Any]) -> None:
    for text in [*HOSTILE, "@team ![x](http://e.example) #12 www.e.example | a"]:
        group = dict(summary["groups"][0], model=text)
        shown = render_markdown({**summary, "groups": [group]})
        assert not re.search(r"<(?!!-- -->)", shown)
        assert not re.search(r"(?<!\\)\[", shown)
        assert "http://" not in shown
        assert "@team" not in shown
        rows = [line for line in shown.splitlines() if line.startswith("| ")]
        assert all(line.count(" | ") == rows[0].count(" | ") for line in rows[:2])


def test_markdown_carries_limits_and_losses(summary: dict[str, Any]) -> None:
    shown = render_markdown(summarise(support_run()))
    assert "### Coverage loss" in shown
    assert "cannot say" in shown


def test_limits_follow_from_the_run() -> None:
    run = support_run(hostile=False)
    said = " ".join(limitations(summarise(run)))
    for part in ("never merged", "Coverage is below", "undecided", "stand-in", "changed", "families", "Costs"):
        assert part in said
    run.rows = []
    assert "No case was observed twice" in " ".join(limitations(summarise(run)))


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("running", "not finished"),
        ("interrupted", "interrupted"),
        ("budget_spent", "budget"),
        ("finished", "Not every"),
    ],
)
def test_an_unfinished_run_says_so_first_of_its_own_limits(status: str, word: str) -> None:
    summary = summarise(support_run())
    summary["run"]["status"] = status
    assert any(word in text and "--resume" in text for text in limitations(summary))


def test_a_run_in_one_language_says_so() -> None:
    summary = summarise(support_run(hostile=False))
    for case in summary["cases"]:
        case["locale"] = "en"
    assert any("one language (en)" in text for text in limitations(summary))


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40) | st.sampled_from(HOSTILE)


@given(ANY_TEXT)
def test_inert_text_is_encodable_legal_in_xml_and_stays_as_it_is(text: str) -> None:
    shown = inert(text)
    shown.encode("utf-8")
    node = ET.Element("x")
    node.text = shown
    assert (ET.fromstring(ET.tostring(node)).text or "") == shown
    assert inert(shown) == shown


@given(ANY_TEXT, st.integers(2, 30))
def test_one_line_is_one_line_of_bounded_length(text: str, limit: int) -> None:
    shown = one_line(text, limit)
    assert "\n" not in shown
    assert len(shown) <= limit


def test_pretty_shows_anything() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    assert pretty({"a": float("nan")}) == '{"a":NaN}'
    assert pretty({1, 2}).startswith("{")
    assert isinstance(pretty(object()), str)
    assert pretty(deep, 100)
    assert clip("abc", 2) == "ab\n… 1 more characters"
