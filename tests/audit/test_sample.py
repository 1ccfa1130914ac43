"""Claims about samples: seeded and the same everywhere, true to their strata, and silent about what is sealed."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_kit import case, desk, judge_material, judged, make_audit, reference_material, suite_files, thirty_trials

from callscope.audit.designs import DESIGNS, PRESET_SEED, quotas_from
from callscope.audit.material import of_run
from callscope.audit.sample import Unit, allocate, draw
from callscope.audit.store import AuditFolder
from callscope.errors import InputError
from callscope.suites import load_suite_bytes

REFERENCE, JUDGE = DESIGNS["reference"], DESIGNS["judge"]


def units(**counts: int) -> list[Unit]:
    return [Unit(stratum, (stratum, number)) for stratum, count in counts.items() for number in range(count)]


def test_the_presets_are_the_documents_two_designs() -> None:
    assert PRESET_SEED == 20260725
    assert dict(REFERENCE.quotas) == {"positive": 250, "negative": 50}
    assert dict(JUDGE.quotas) == {"correct": 100, "missed": 50, "spurious": 50, "parameter": 100}


def test_the_reference_preset_on_the_documents_population_keeps_its_class_prior() -> None:
    population = {"positive": 2500, "negative": 500}
    assert allocate(300, population) == dict(REFERENCE.quotas)
    drawn = draw(units(**population), REFERENCE.quotas, PRESET_SEED, REFERENCE)
    assert {name: each.sampled for name, each in drawn.strata.items()} == {
        "positive": 250,
        "negative": 50,
        "underspecified": 0,
    }


def test_a_seeds_sample_is_the_same_on_every_machine() -> None:
    """The expected units were computed apart: the first by SHA-256 of '["draw",1,"positive",n]', canonical JSON."""
    import hashlib

    population = units(positive=50, negative=10)
    drawn = draw(population, {"positive": 5}, 1, REFERENCE)
    digest = {n: hashlib.sha256(f'["draw",1,"positive",{n}]'.encode()).hexdigest() for n in range(50)}
    assert {key[1] for _, key in drawn.units} == set(sorted(digest, key=digest.__getitem__)[:5])


@given(st.integers(0, 2**31), st.randoms(use_true_random=False))
def test_neither_the_order_of_the_units_nor_the_machine_moves_a_sample(seed: int, shuffle: random.Random) -> None:
    population = units(correct=30, missed=9, spurious=7, parameter=12)
    shuffled = list(population)
    shuffle.shuffle(shuffled)
    quotas = {"correct": 6, "missed": 3, "spurious": 2, "parameter": 4}
    first, second = (draw(each, quotas, seed, JUDGE) for each in (population, shuffled))
    assert first == second
    assert {name: each.sampled for name, each in first.strata.items()} == quotas


@given(st.integers(0, 2**31))
def test_a_larger_sample_of_one_seed_holds_the_smaller(seed: int) -> None:
    population = units(positive=40, negative=10)
    small = draw(population, {"positive": 5, "negative": 2}, seed, REFERENCE)
    large = draw(population, {"positive": 20, "negative": 9}, seed, REFERENCE)
    assert set(small.units) <= set(large.units)


def test_another_seed_is_another_sample_and_every_unit_can_be_drawn() -> None:
    population = units(positive=20)
    drawn = [frozenset(draw(population, {"positive": 5}, seed, REFERENCE).units) for seed in range(200)]
    assert len(set(drawn)) > 190
    counts = [sum(unit in each for each in drawn) for unit in population]
    assert min(counts) > 20  # each is expected 50 times of 200, with a deviation of 6
    assert max(counts) < 80


def test_the_order_of_items_says_nothing_of_their_strata() -> None:
    drawn = draw(units(correct=50, missed=50), {"correct": 50, "missed": 50}, 3, JUDGE)
    strata = [unit.stratum for unit in drawn.units]
    runs = 1 + sum(first != second for first, second in pairwise(strata))
    assert 30 < runs < 72  # 51 are expected of a shuffle, with a deviation of 5; sorted by stratum there are 2


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 400), min_size=1).filter(lambda c: sum(c.values()) > 0),
    st.data(),
)
def test_a_size_is_divided_in_proportion_and_never_beyond_what_there_is(
    counts: dict[str, int], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, sum(counts.values())))
    quotas = allocate(size, counts)
    assert sum(quotas.values()) == size
    total = sum(counts.values())
    for name, count in counts.items():
        assert quotas[name] <= count
        assert abs(quotas[name] - size * count / total) < 1


def test_a_size_may_be_divided_equally() -> None:
    assert allocate(10, {"a": 100, "b": 3, "c": 0, "d": 7}, "equal") == {"a": 4, "b": 3, "c": 0, "d": 3}


@pytest.mark.parametrize(("size", "says"), [(0, "at least 1"), (31, "at most 30")])
def test_a_size_that_cannot_be_is_refused(size: int, says: str) -> None:
    with pytest.raises(InputError, match=says):
        allocate(size, {"positive": 20, "negative": 10})


def test_a_stratum_with_too_few_is_named_with_how_many_it_holds() -> None:
    population = units(correct=200, missed=7, spurious=50, parameter=99)
    with pytest.raises(InputError) as caught:
        draw(population, JUDGE.quotas, 1, JUDGE)
    assert "missed: 7 trials, 50 wanted; parameter: 99 trials, 100 wanted" in str(caught.value)
    assert "--allow-fewer" in str(caught.value)
    drawn = draw(population, JUDGE.quotas, 1, JUDGE, allow_fewer=True)
    assert (drawn.strata["missed"].sampled, drawn.strata["missed"].wanted, drawn.strata["correct"].sampled) == (
        7,
        50,
        100,
    )


def test_a_sample_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="nothing would be drawn"):
        draw(units(correct=3), {"missed": 5}, 1, JUDGE, allow_fewer=True)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (["correct"], "this is no quota"),
        (["correct=-1"], "this is no quota"),
        (["correct=٣"], "this is no quota"),
        (["right=3"], "there is no such stratum"),
        (["correct=1", "correct=2"], "twice"),
    ],
)
def test_a_quota_that_cannot_be_read_is_refused(written: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        quotas_from(written, JUDGE)


def test_cases_are_strata_by_what_they_are_and_excluded_ones_are_counted_apart() -> None:
    cases = [case(1), case(2, "negative"), case(3, "underspecified")]
    cases.append(case(4, "negative", expected={"kind": "no_call", "target": "lookup_order"}))
    cases.append(case(5, "positive", excluded="its gold cannot be met"))
    suite = load_suite_bytes(suite_files(cases))
    material = reference_material(suite)
    assert [unit.stratum for unit in material.units] == ["positive", "negative", "underspecified", "negative"]
    assert material.left_out == {"excluded": 1}


def test_trials_are_strata_by_attribution_and_what_decides_nothing_is_counted_apart() -> None:
    suite = desk(7, 1)
    said = [
        "correct",
        "miss_recall",
        "parameter_error.temporal",
        "parameter_error.missing",
        "parameter_error.value",
        "judge_failure",
        "not_observed",
        "over_recall",
    ]
    material = judge_material(suite, {each.id: said[place] for place, each in enumerate(suite.cases)})
    strata = [unit.stratum for unit in material.units]
    assert strata == ["correct", "missed", "parameter", "parameter", "parameter", "spurious"]
    assert material.left_out == {"judge_failure": 1, "not_observed": 1}


def test_negatives_are_asked_for_need_alone(tmp_path: Path) -> None:
    folder = make_audit(
        tmp_path / "a", reference_material(desk(2, 2, 1)), {"positive": 2, "negative": 2, "underspecified": 1}
    )
    asked = {item.item: item.asked for item in folder.items}
    assert asked == {
        "positive": ("need", "target", "args"),
        "global_negative": ("need",),
        "underspecified": ("need",),
    }


def test_the_same_source_and_seed_make_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        thirty_trials(tmp_path / name)
    for file in ("audit.json", "items.jsonl", "sealed.jsonl"):
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes()


def test_items_of_a_judges_audit_hold_the_answer_and_nothing_of_the_verdict_or_the_model(tmp_path: Path) -> None:
    folder = thirty_trials(tmp_path / "a")
    shown = (folder.path / "items.jsonl").read_text()
    for sealed in (
        'attribution":"',
        "stratum",
        "miss_recall",
        "passed",
        "evidence-of-the-judge",
        "secret-model",
        "flagged",
    ):
        assert sealed not in shown
    assert "ORD-999999" in shown
    kept = [json.loads(line) for line in (folder.path / "sealed.jsonl").read_text().splitlines()]
    assert {each["attribution"] for each in kept} == {"correct", "missed", "spurious", "parameter"}
    assert {each["model"] for each in kept} == {"maker/secret-model"}


def test_an_item_shows_the_tools_that_were_offered_under_its_experiment(tmp_path: Path) -> None:
    suite = desk(1, 0)
    trials = judged(suite, {suite.cases[0].id: "correct"})
    for routing, offered in ((None, ["lookup_order", "search_orders"]), ("target", ["lookup_order"])):
        routings: Any = {"auto": routing}
        material = of_run(trials, {suite.name: suite}, "run", routings=routings)
        folder = make_audit(tmp_path / str(routing), material, {"correct": 1})
        assert [tool.name for tool in folder.items[0].tools] == offered


def test_an_audit_keeps_the_hashes_of_what_was_sampled(tmp_path: Path) -> None:
    suite = desk(3, 1)
    about = make_audit(tmp_path / "a", reference_material(suite), {"positive": 2}).about
    assert about.source.suites["desk"].files == suite.files
    assert about.strata["positive"].population == 3
    assert AuditFolder.open(tmp_path / "a").about == about
