"""Folded text: what gold for a folding checker accepts, and what it must not (scoring-faults 11, 12, 16, 23)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import PatternArray, PatternKey, PatternObject, PatternValue
from callscope.scoring.equality import compare_pattern, compare_values
from callscope.scoring.folding import same_folded


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("New York", "new york"),
        ("  Berlin ", "BERLIN"),
        ("Cancún", "Cancu\u0301n"),
        ("STRASSE", "straße"),
        ("April 1, 2024", "April 1 2024"),
        ("2024-04-01", "2024/04/01"),
        ("2024-04-01", "20240401"),
        ("10:30 AM", "10:30 am"),
        ("Mon, 3rd of May 2021", "mon 3rd of may 2021"),
        ("2024-04-01T09:30", "2024-04-01t09:30"),
    ],
)
def test_the_same(left, right):
    assert same_folded(left, right)
    assert same_folded(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("-5", "5"),
        ("1.5", "15"),
        ("1/2", "12"),
        ("/a/bc", "/ab/c"),
        ("x2", "x**2"),
        ("a\nb", "a b"),
        ("1-11-2024", "11-1-2024"),
        ("-April 1 2024", "April 1 2024"),
        ("2024-04-01", "2024-04-02"),
        ("12:30", "1230"),
        ("May 5", "May"),
        ("", "-"),
        ("2024-04-01)", "2024-04-01"),
        ("1 " * 40 + "may", "1, " * 40 + "may"),
    ],
)
def test_not_the_same(left, right):
    assert not same_folded(left, right)


@given(st.text(), st.text())
def test_symmetric_and_never_coarser_than_the_letters_and_digits(left, right):
    assert same_folded(left, right) == same_folded(right, left)
    assert same_folded(left, left)
    if same_folded(left, right):
        assert _letters(left) == _letters(right)


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return "".join(character for character in folded if character.isalnum())


@pytest.mark.parametrize(
    ("expected", "actual", "result"),
    [
        (0.3, 0.1 + 0.2, "acceptable"),
        (0.3, 0.31, "wrong"),
        (10_000_000_000, 10_000_000_001, "wrong"),
        (1.0, 1, "acceptable"),
        (True, 1, "wrong"),
        ("5", 5, "wrong"),
        ([["new york"]], [["New York"]], "acceptable"),
        ({"a": ["x", "y"]}, {"a": ["X", "Y"]}, "acceptable"),
        (float("inf"), 1.0, "wrong"),
    ],
)
def test_folded_values(expected, actual, result):
    assert compare_values(expected, actual, folded=True).result == result


def value(*values):
    return tuple(PatternValue(one) for one in values)


NESTED = PatternObject(
    {
        "size": PatternKey(value("large", "L")),
        "extra": PatternKey(value(1), optional=True),
        "rows": PatternKey((PatternArray((value("a"), value("b", "c"))),), optional=True),
    }
)


@pytest.mark.parametrize(
    ("actual", "result", "differences"),
    [
        ({"size": "large"}, "exact", []),
        ({"size": "l"}, "acceptable", []),
        ({"size": "L", "extra": 1, "rows": ["a", "c"]}, "exact", []),
        ({"size": "L", "extra": True}, "wrong", [("/x/extra", "type")]),
        ({"size": "small"}, "wrong", [("/x/size", "value")]),
        ({}, "wrong", [("/x/size", "missing_key")]),
        ({"size": "L", "more": 0}, "wrong", [("/x/more", "unexpected_key")]),
        ({"size": "L", "rows": ["a"]}, "wrong", [("/x/rows", "length")]),
        ({"size": "L", "rows": "a"}, "wrong", [("/x/rows", "type")]),
        ("large", "wrong", [("/x", "type")]),
    ],
)
def test_patterns_name_the_place_of_each_difference(actual, result, differences):
    found = compare_pattern(NESTED, actual, pointer="/x", folded=True)
    assert found.result == result
    assert [(each["pointer"], each["kind"]) for each in found.differences] == differences


def test_a_pattern_that_is_not_met_shows_what_may_stand_there():
    found = compare_pattern(PatternArray((value(1, 2), (NESTED,))), [3, {}], pointer="")
    assert found.differences[0]["expected"] == [1, 2]
    found = compare_pattern(NESTED, None)
    assert found.differences[0]["expected"] == {"size": ["large", "L"], "extra": [1], "rows": [[["a"], ["b", "c"]]]}
