"""Judge × human counts, and how often the judge contradicts itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.audit.confusion import Change, confusion, repeated, swapped
from callscope.errors import InputError
from callscope.scoring.statistics import wilson

VERDICTS = st.one_of(st.none(), st.sampled_from(["a", "b", "judge_failure"]))


def test_every_audited_item_is_in_exactly_one_cell() -> None:
    judged = dict(zip("ijklmno", ["a", "a", "b", "judge_failure", None, "a", "b"], strict=True))
    human = dict(zip("ijklmn", ["a", "b", "b", "a", "a", None], strict=True))
    found = confusion(judged, human)
    assert found.counts == {"a": {"a": 1, "b": 1}, "b": {"b": 1}}
    assert found.abstained == {"judge_failure": {"a": 1}}
    assert (found.items, found.unjudged, found.unsettled) == (6, 1, 1)
    assert (found.coverage.k, found.coverage.n) == (3, 5)
    assert (found.agreement.k, found.agreement.n) == (2, 3)
    assert (found.agreement.low, found.agreement.high) == wilson(2 / 3, 3)


@given(st.lists(st.tuples(VERDICTS, st.one_of(st.none(), st.sampled_from("ab")))))
def test_the_cells_add_up_to_the_audit(rows: list[tuple[str | None, str | None]]) -> None:
    found = confusion(
        {str(n): one for n, (one, _) in enumerate(rows)}, {str(n): one for n, (_, one) in enumerate(rows)}
    )
    in_cells = sum(sum(row.values()) for table in (found.counts, found.abstained) for row in table.values())
    assert in_cells + found.unjudged + found.unsettled == found.items == len(rows)
    for one in (found.coverage, found.agreement):
        assert (one.value is None) == (one.n == 0) == one.reason.startswith("undefined: ")


def test_which_classes_are_abstentions_can_be_said() -> None:
    found = confusion({"i": "cannot_assess"}, {"i": "a"}, abstentions=["cannot_assess"])
    assert (found.counts, found.abstained) == ({}, {"cannot_assess": {"a": 1}})


def test_an_audit_of_another_run_is_refused() -> None:
    with pytest.raises(InputError, match=r"judged: the judge never saw this item \(found j\)\. Audit and verdicts"):
        confusion({"i": "a"}, {"j": "a"})


def test_a_judge_that_answers_by_position_flips_in_one_direction() -> None:
    found = swapped([("equivalent", "different")] * 3 + [("equivalent", "equivalent")] * 6 + [(None, "different")])
    assert (found.changed.k, found.changed.n) == (4, 10)
    assert (found.changed.low, found.changed.high) == wilson(0.4, 10)
    assert found.changes == (Change("equivalent", "different", 3), Change(None, "different", 1))


def test_silence_both_times_is_no_flip() -> None:
    assert swapped([(None, None)]).changed.k == 0


def test_repeats_count_items_and_the_steps_between_verdicts() -> None:
    found = repeated({"i": ["a", "a", "a"], "j": ["a", "b", "a"], "k": ["a"], "l": []})
    assert (found.changed.k, found.changed.n, found.single) == (1, 2, 2)
    assert found.changes == (Change("a", "b", 1), Change("b", "a", 1))


def test_nothing_judged_twice_is_undefined() -> None:
    assert repeated({"i": ["a"]}).changed.reason == "undefined: no item was judged twice"
    assert swapped([]).changed.value is None
