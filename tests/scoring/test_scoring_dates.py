"""Dates: equal only where a case declares the argument temporal, and only in formats that cannot be misread."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring_kit import call, calls, equals, judge, one_tool

from callscope.contract import ArgumentRules, Case, ExpectTool, Verdict
from callscope.scoring.dates import offset_of, same_time

SAME = [
    ("2026-03-01", "20260301"),
    ("2026-03-01", "March 1, 2026"),
    ("April 1, 2024", "April 1 2024"),
    ("2026-03-01", "1 Mar 2026"),
    ("2026-09-02", "Sept. 2nd, 2026"),
    ("2026-05-03", "may 3rd 2026"),
    ("2024-02-29", "29 February 2024"),
    ("2026-03-01T09:00", "2026-03-01 09:00:00"),
    ("2026-03-01T09:00:00.5", "2026-03-01t09:00:00,500"),
    ("2026-03-01T09:00:00Z", "2026-03-01T10:00:00+01:00"),
    ("2026-03-01T00:30:00+01:00", "2026-02-28T23:30:00z"),
    ("0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00+01:00"),
    ("9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59.000-23:59"),
]

NOT_SAME = [
    ("2026-03-01", "2026-03-02"),
    ("2026-03-01", "03/01/2026"),
    ("2026-03-01", "01.03.2026"),
    ("2026-03-01", "1.3.26"),
    ("03/01/2026", "03/01/2026"),
    ("2026-03-01", "2026-3-1"),
    ("2026-03-01", "2026-03-01T00:00:00"),
    ("2026-03-01T09:00:00", "2026-03-01T09:00:00Z"),
    ("2026-03-01T09:00:00.5", "2026-03-01T09:00:00.05"),
    ("2026-03-01T09:00", "2026-03-01T09:01"),
    ("2026-02-30", "30 February 2026"),
    ("2026-03-01T24:00", "2026-03-02T00:00"),
    ("2026-03-01T09:60", "2026-03-01T10:00"),
    ("2026-06-30T23:59:60Z", "2026-07-01T00:00:00Z"),
    ("2026-03-01T09:00:00+24:00", "2026-02-28T09:00:00Z"),
    ("2026-03-01T09:00:00+01:60", "2026-03-01T07:00:00Z"),
    ("tomorrow", "2026-03-02"),
    ("9:00", "09:00"),
    ("2026-03-01" + " " * 60, "2026-03-01"),
    ("٢٠٢٦-٠٣-٠١", "2026-03-01"),
    ("", ""),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_the_same_date_or_instant_in_other_words(left: str, right: str) -> None:
    assert same_time(left, right)
    assert same_time(right, left)


@pytest.mark.parametrize(("left", "right"), NOT_SAME)
def test_another_time_another_kind_or_an_ambiguous_format(left: str, right: str) -> None:
    assert not same_time(left, right)
    assert not same_time(right, left)


@given(st.datetimes(), st.integers(-23 * 60 - 59, 23 * 60 + 59))
def test_an_offset_moves_the_clock_and_not_the_instant(moment: Any, minutes: int) -> None:
    def written(offset: int) -> str:
        sign, size = ("-", -offset) if offset < 0 else ("+", offset)
        return f"{moment.isoformat(timespec='microseconds')}{sign}{size // 60:02}:{size % 60:02}"

    assert same_time(written(minutes), written(minutes).replace("T", " "))
    assert same_time(written(minutes), written(0)) is (minutes == 0)


@given(st.text(), st.text())
def test_any_two_texts_are_compared_without_an_error(left: str, right: str) -> None:
    assert not same_time(left, right) or same_time(right, left)


TOOLS = one_tool({"properties": {"on": {"type": "string", "format": "date"}, "days": {"type": "array"}}})


def booked(rules: ArgumentRules, **given_arguments: Any) -> Verdict:
    return judge(Case("c", "p", ExpectTool("f", rules)), calls(call("f", **given_arguments)), TOOLS)


def test_a_declared_argument_accepts_another_spelling_at_any_depth() -> None:
    rules = ArgumentRules({"on": "2026-03-01", "days": [{"at": "2026-03-02"}]}, temporal=("on", "days"))
    verdict = booked(rules, on="March 1, 2026", days=[{"at": "20260302"}])
    assert (verdict.semantics, verdict.passed) == ("acceptable", True)
    notes = verdict.evidence["semantics"]["calls"][0]["notes"]
    assert notes == [{"pointer": "/on", "note": "same_time"}, {"pointer": "/days/0/at", "note": "same_time"}]
    assert booked(ArgumentRules(one_of={"on": ("2026-03-01",)}, temporal=("on",)), on="20260301").passed is True


def test_an_ambiguous_spelling_is_a_temporal_error() -> None:
    verdict = booked(ArgumentRules({"on": "2026-03-01"}, temporal=("on",)), on="01/03/2026")
    assert (verdict.semantics, verdict.attribution) == ("wrong", "parameter_error.temporal")


MOMENT = one_tool({"properties": {"at": {"type": "string", "format": "date-time"}}})


def met(given_at: str, *, reference: str | None = None, wanted: str = "2026-03-01T09:00:00Z") -> str:
    case = Case("c", "p", ExpectTool("f", ArgumentRules({"at": wanted})), reference_time=reference)
    return judge(case, calls(call("f", at=given_at)), MOMENT).semantics


def test_a_format_accepts_the_same_instant_in_the_forms_it_allows() -> None:
    assert met("2026-03-01T10:00:00+01:00") == "acceptable"
    assert met("2026-03-01t09:00:00.000z") == "acceptable"
    assert met("2026-03-01T10:00:00Z") == "wrong"
    assert met("2026-03-01", wanted="20260301") == "wrong"
    assert booked(ArgumentRules({"on": "2026-03-01"}), on="20260301").semantics == "wrong"


def test_a_wall_time_is_read_where_the_reference_time_says_which_clock() -> None:
    assert met("2026-03-01T10:00:00", reference="2026-02-28T08:00:00+01:00") == "acceptable"
    assert met("2026-03-01T10:00:00", reference="2026-02-28T08:00:00") == "wrong"
    assert met("2026-03-01T10:00:00") == "wrong"
    assert [offset_of(text) for text in (None, "2026-03-01", "x", "2026-03-01T00:00Z", "2026-03-01T00:00-02:30")] == [
        None, None, None, 0, -9000,
    ]  # fmt: skip


def test_folded_text_reads_no_times() -> None:
    rules = ArgumentRules({"on": "2026-03-01"}, temporal=("on",), text="folded")
    assert booked(rules, on="March 1, 2026").attribution == "parameter_error.temporal"


def test_without_a_declaration_dates_in_words_are_text_whatever_the_schema_says() -> None:
    assert booked(equals(on="2026-03-01"), on="March 1, 2026").semantics == "wrong"
    only_one = ArgumentRules({"on": "2026-03-01", "days": ["2026-03-02"]}, temporal=("on",))
    assert booked(only_one, on="20260301", days=["20260302"]).semantics == "wrong"


def test_q09_is_accepted_where_it_is_declared() -> None:
    tools = one_tool({"properties": {"x": {"type": "string"}}})
    for temporal, passed in (((), False), (("x",), True)):
        rules = ArgumentRules(one_of={"x": ("April 1, 2024",)}, temporal=temporal)
        verdict = judge(Case("q09", "p", ExpectTool("f", rules)), calls(call("f", x="April 1 2024")), tools)
        assert verdict.passed is passed
