"""Two calls that say the same decide; a third is asked where it can decide what two did not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.judge.answers import Said
from callscope.judge.decision import decide, is_flip, needs_third

E, D, C, U = Said("equivalent", "e"), Said("different", "d"), Said("cannot_assess"), Said("unreadable", "no_verdicts")
said = st.sampled_from([E, D, C, U])
maybe = said | st.none()
OTHER = {E: D, D: E, C: C, U: U, None: None}

TABLE = [
    (E, E, None, "equivalent", "agreed"),
    (D, D, None, "different", "agreed"),
    (C, C, None, "undecided", "judge_failure"),
    (C, U, None, "undecided", "judge_failure"),
    (U, U, None, "undecided", "judge_failure"),
    (E, D, E, "equivalent", "third_call"),
    (E, D, D, "different", "third_call"),
    (E, D, C, "undecided", "judge_failure"),
    (E, D, U, "undecided", "judge_failure"),
    (E, D, None, "undecided", "not_observed"),
    (E, C, E, "equivalent", "third_call"),
    (E, U, D, "undecided", "judge_failure"),
    (U, D, D, "different", "third_call"),
    (None, E, None, "undecided", "not_observed"),
    (E, None, E, "undecided", "not_observed"),
]


@pytest.mark.parametrize(("a", "b", "c", "verdict", "how"), TABLE)
def test_the_table_is_what_it_says(a: Said | None, b: Said | None, c: Said | None, verdict: str, how: str) -> None:
    assert decide(a, b, c)[:2] == (verdict, how)


@given(maybe, maybe, maybe)
def test_a_verdict_rests_on_two_calls_that_said_it(a: Said | None, b: Said | None, c: Said | None) -> None:
    decision = decide(a, b, c)
    if decision.verdict != "undecided":
        assert [one.verdict for one in (a, b, c) if one is not None].count(decision.verdict) >= 2


@given(maybe, maybe, maybe)
def test_the_order_of_the_first_two_makes_no_difference(a: Said | None, b: Said | None, c: Said | None) -> None:
    assert decide(a, b, c)[:2] == decide(b, a, c)[:2]


@given(maybe, maybe, maybe)
def test_neither_verdict_is_favoured(a: Said | None, b: Said | None, c: Said | None) -> None:
    turned = decide(OTHER[a], OTHER[b], OTHER[c])
    swapped = {"equivalent": "different", "different": "equivalent", "undecided": "undecided"}
    assert (swapped[decide(a, b, c).verdict], decide(a, b, c).how) == turned[:2]


@given(said, said, said)
def test_a_third_call_is_asked_exactly_where_some_third_would_decide(a: Said, b: Said, c: Said) -> None:
    without = decide(a, b)
    can = any(decide(a, b, third).verdict != without.verdict for third in (E, D))
    assert needs_third(a, b) == can
    if not needs_third(a, b):
        assert decide(a, b, c) == without


def test_a_flip_is_another_verdict_and_not_an_unreadable_one() -> None:
    assert is_flip(E, D) is True
    assert is_flip(E, C) is True
    assert is_flip(E, E) is False
    assert is_flip(E, U) is None
    assert is_flip(E, None) is None
