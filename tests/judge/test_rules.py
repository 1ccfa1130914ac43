"""The judge made of rules decides forms that leave no doubt, and is silent on the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.judge.amounts import numbers_of, quantity_of
from callscope.judge.rules import compare_by_rules

TABLE = [
    # dates, wall times, instants
    ("2026-03-01", "March 1, 2026", "equivalent"),
    ("2026-03-01", "2026-03-02", "different"),
    ("2026-03-01T09:00Z", "2026-03-01T10:00+01:00", "equivalent"),
    ("2026-03-01T09:00Z", "2026-03-01T09:00", "undecided"),
    ("2026-03-01", "2026-03-01T00:00", "undecided"),
    ("03/01/2026", "2026-03-01", "undecided"),
    # quantities
    ("5 km", "5000 m", "equivalent"),
    ("5km", "5 km", "equivalent"),
    ("26.2 miles", "42.2 km", "undecided"),
    ("26 miles", "26 km", "different"),
    ("1 h 30 min", "90 minutes", "equivalent"),
    ("one hour and thirty minutes", "90 min", "equivalent"),
    ("two weeks", "14 days", "equivalent"),
    ("180 °C", "356 °F", "equivalent"),
    ("0 °C", "0 °F", "different"),
    ("3 kg", "3 km", "different"),
    ("20 m", "20 minutes", "undecided"),
    ("8 oz", "8 fl oz", "undecided"),
    ("5 pounds", "5 litres", "undecided"),
    ("50%", "50 percent", "equivalent"),
    ("50%", "50", "undecided"),
    ("5 months", "150 days", "undecided"),
    # numbers
    ("twelve", "12", "equivalent"),
    ("1,000", "1000", "equivalent"),
    ("1.000", "1000", "undecided"),
    ("1.000", "1000.5", "different"),
    ("1.000.000", "1000000", "equivalent"),
    ("minus five", "-5", "equivalent"),
    ("-5", "5", "different"),
    ("two thousand five hundred and twelve", "2512", "equivalent"),
    ("007", "7", "undecided"),
    ("0.5", "½", "undecided"),
    ("twenty ten", "2010", "undecided"),
    # names
    ("Zürich", "Zurich", "equivalent"),
    ("Doe, Jane", "Jane Doe", "equivalent"),
    ("Paris, France", "France, Paris", "undecided"),
    ("Boston, USA", "Boston, United States of America", "equivalent"),
    ("Boston, UK", "Boston, US", "undecided"),
    ("Jane Doe", "J. Doe", "undecided"),
    ("Ana", "Anna", "undecided"),
    ("resume", "résumé", "undecided"),
    # wording is nothing for rules
    ("a warm welcome", "a friendly greeting", "undecided"),
    ("do it", "do  it ", "equivalent"),
    ("", "x", "undecided"),
]


@pytest.mark.parametrize(("left", "right", "ruling"), TABLE)
def test_the_rules_say(left: str, right: str, ruling: str) -> None:
    assert compare_by_rules(left, right)[0] == ruling
    assert compare_by_rules(right, left)[0] == ruling


words = st.text(st.sampled_from("0123456789.,-+ kmghCF°%aeone twohundrdZüé:TZ"), max_size=20)


@given(words | st.text(max_size=20), words | st.text(max_size=20))
def test_any_two_texts_are_ruled_on_alike_in_either_order(left: str, right: str) -> None:
    assert compare_by_rules(left, right) == compare_by_rules(right, left)
    assert compare_by_rules(left, left)[0] == "equivalent"


@given(st.integers(0, 10**11))
def test_whole_numbers_are_read_with_and_without_commas(number: int) -> None:
    assert numbers_of(f"{number:,}") == numbers_of(str(number)) == frozenset({number})


@given(st.integers(1, 10**6))
def test_a_length_is_the_same_in_metres_and_kilometres(metres: int) -> None:
    left, right = quantity_of(f"{metres} m"), quantity_of(f"{metres / 1000:.3f} km")
    assert left is not None
    if right is not None:  # `1.000 km` may be a thousand
        assert left.amount == right.amount
