"""The default run's plan: sized by the warm-up, balanced from the start, never larger than it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import trial_count
from callscope.local import size_plan
from callscope.local.default_run import FEWEST_CASES, SAFETY
from callscope.suites import load_suite

SUITE = load_suite("support")
speeds = st.dictionaries(st.sampled_from("abc"), st.floats(0.05, 60), min_size=1)


@given(per_call=speeds, target=st.floats(60, 3_000))
def test_the_plan_fits_the_target_or_is_the_smallest_one(per_call: dict[str, float], target: float) -> None:
    sizing = size_plan(SUITE, SUITE.cases, per_call, target=target)
    foreseen = sum(sizing.seconds.values()) * SAFETY
    assert foreseen <= target * 1.0001 or sizing.cases == FEWEST_CASES
    assert sum(sizing.seconds.values()) > 0
    assert trial_count(sizing.blocks) == len(per_call) * (sizing.cases + 5 * sizing.stability_cases)


@given(per_call=speeds)
def test_full_runs_all_cases(per_call: dict[str, float]) -> None:
    sizing = size_plan(SUITE, SUITE.cases, per_call, full=True)
    assert (sizing.cases, sizing.stability_cases) == (len(SUITE.cases), len(SUITE.cases))


def test_greedy_and_sampled_trials_are_experiments_of_their_own() -> None:
    sizing = size_plan(SUITE, SUITE.cases, {"a": 1.0, "b": 2.0})
    greedy = [block for block in sizing.blocks if block.settings.temperature == 0]
    sampled = [block for block in sizing.blocks if block.settings.temperature]
    assert {block.experiment for block in greedy}.isdisjoint(block.experiment for block in sampled)
    assert all(block.repeats == 1 for block in greedy)
    assert all(block.repeats == 5 and block.settings.seed_per_repeat for block in sampled)


def test_a_slow_machine_still_sees_every_behaviour_class() -> None:
    sizing = size_plan(SUITE, SUITE.cases, {"a": 60.0})
    behaviours = {case.id: case.behaviour for case in SUITE.cases}
    seen = {behaviours[case_id] for case_id in sizing.blocks[0].cases}
    assert seen == {case.behaviour for case in SUITE.cases}
