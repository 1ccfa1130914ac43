"""Pacing keeps an account's limits and heeds its provider, shown with a clock that moves only when somebody sleeps."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.capture.pacing import Lane, Rate, State, admit, heed, pause, settle, wait_for
from callscope.contract import Limits, ProviderError, RateLimits, Reading, Text, Usage

UNLIMITED = Rate()


class Clock:
    """Virtual seconds. `sleep` gives way to the others first, as a real sleep does."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.now += seconds


def told(**limits: Any) -> Reading:
    return Reading(Text("ok"), limits=Limits(**limits))


def refused(category: Any = "rate_limited", **limits: Any) -> Reading:
    return Reading(ProviderError(category, "slow_down", ""), limits=Limits(**{"retryable": True, **limits}))


steps = st.lists(st.tuples(st.floats(0, 30), st.floats(0, 500)), min_size=1, max_size=40)


@given(st.floats(0.5, 5_000), st.floats(1, 50_000), steps)
def test_in_no_window_goes_more_than_the_rate_and_a_burst(
    rpm: float, tpm: float, calls: list[tuple[float, float]]
) -> None:
    """Arrivals at any moments; each goes when it may. Tokens: a call larger than a burst counts as one."""
    rates = Rate.per_minute(rpm), Rate.per_minute(tpm)
    state, now = State(), 0.0
    went: list[tuple[float, float]] = []
    for gap, tokens in calls:
        now += gap
        while (wait := wait_for(state, rates, now, tokens)) > 0:
            now += wait
        state = admit(state, rates, now, tokens)
        went.append((now, tokens))
    largest = max(rates[1].burst, *(tokens for _, tokens in went), 0.0)
    for first, (start, _) in enumerate(went):
        for last in range(first, len(went)):
            window = went[last][0] - start + 1e-3
            count, used = last - first + 1, sum(tokens for _, tokens in went[first : last + 1])
            assert count <= window * rpm / 60 + rates[0].burst + 1e-6
            assert used <= window * tpm / 60 + rates[1].burst + largest + 1e-6


@given(st.floats(0.5, 5_000), st.integers(2, 30))
def test_a_busy_lane_reaches_its_rate(rpm: float, count: int) -> None:
    clock = Clock(0.0)
    lane = Lane(RateLimits(requests_per_minute=rpm), clock=clock, sleep=clock.sleep)

    async def go() -> None:
        for _ in range(count):
            await lane.enter(10)
            lane.leave()

    asyncio.run(go())
    assert clock.now <= (count - 1) * 60 / rpm + 1e-3


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 90)), min_size=1, max_size=8), st.integers(1, 6))
def test_a_paused_lane_sends_nothing_before_the_pause_ends(pauses: list[tuple[float, float]], callers: int) -> None:
    clock = Clock()
    lane = Lane(patience=60.0, clock=clock, sleep=clock.sleep)
    ends = [clock.now]

    async def caller() -> None:
        taken = await lane.enter(100)
        assert clock.now >= max(ends) - 1e-6, "nothing goes in a pause, whoever asked for it"
        lane.leave()
        if pauses:
            seconds, again = pauses.pop()
            ends.append(clock.now + min(seconds, 60.0))
            lane.heed(taken, refused(retry_after_s=seconds))
            await clock.sleep(again)

    async def go() -> None:
        for _ in range(3):
            async with asyncio.TaskGroup() as group:
                for _ in range(callers):
                    group.create_task(caller())

    asyncio.run(go())


def test_a_pause_that_comes_while_others_wait_holds_for_them_too() -> None:
    clock = Clock(0.0)
    lane = Lane(RateLimits(requests_per_minute=60), clock=clock, sleep=clock.sleep)
    went = []

    async def go() -> None:
        first = await lane.enter(10)
        waiting = asyncio.create_task(lane.enter(10))
        await asyncio.sleep(0)
        lane.leave()
        lane.heed(first, refused(retry_after_s=30))
        assert lane.paused
        await waiting
        went.append(clock.now)

    asyncio.run(go())
    assert went == [pytest.approx(30)]


def test_those_who_wait_go_in_the_order_in_which_they_came() -> None:
    clock, went = Clock(), []
    lane = Lane(RateLimits(requests_per_minute=10), clock=clock, sleep=clock.sleep)

    async def caller(number: int) -> None:
        await lane.enter(10)
        went.append(number)
        lane.leave()

    async def go() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(9):
                group.create_task(caller(number))

    asyncio.run(go())
    assert went == list(range(9))


# reading, in flight -> seconds of pause, and seconds between the next calls
HEEDED: list[tuple[Reading, int, float, float]] = [
    (told(), 0, 0, 0),
    (refused(retry_after_s=7), 0, 7, 0),
    (refused(retry_after_s=0), 0, 0, 0),
    (refused(retry_after_s=3_600), 0, 60, 0),
    (refused(), 0, 0.5, 0),
    (refused("provider_error", retry_after_s=2), 0, 2, 0),
    (refused("provider_error"), 0, 0, 0),
    (refused(retryable=False), 0, 0, 0),
    (refused(retryable=False, retry_after_s=9), 0, 0, 0),
    (told(remaining_requests=10, reset_requests_s=20), 0, 0, 2),
    (told(remaining_requests=10, reset_requests_s=20), 6, 0, 5),
    (told(remaining_requests=10, reset_requests_s=20), 10, 20, 0),
    (told(remaining_requests=0, reset_requests_s=20), 0, 20, 0),
    (told(remaining_requests=0, reset_requests_s=3_600), 0, 60, 0),
    (told(remaining_requests=0), 0, 0, 0),
    (told(remaining_requests=5, reset_requests_s=0), 0, 0, 0),
    (told(remaining_tokens=1_000, reset_tokens_s=10), 0, 0, 1),
    (told(remaining_tokens=0, reset_tokens_s=10), 0, 10, 0),
]


@pytest.mark.parametrize(("reading", "in_flight", "paused", "spacing"), HEEDED)
def test_what_a_provider_says_is_heeded(reading: Reading, in_flight: int, paused: float, spacing: float) -> None:
    rates = UNLIMITED, UNLIMITED
    state = heed(State(), reading, 100.0, in_flight=in_flight, patience=60.0)
    assert wait_for(state, rates, 100.0, 100) == pytest.approx(paused)
    state = admit(state, rates, 100.0 + paused, 100)
    assert wait_for(state, rates, 100.0 + paused, 100) == pytest.approx(spacing)


def test_what_was_told_is_forgotten_when_the_provider_counts_anew() -> None:
    state = heed(State(), told(remaining_requests=1, reset_requests_s=20), 100.0, in_flight=0, patience=60.0)
    state = admit(state, (UNLIMITED, UNLIMITED), 121.0, 1)
    assert wait_for(state, (UNLIMITED, UNLIMITED), 121.0, 1) == 0


def test_the_configured_limit_stands_where_the_provider_tells_a_wider_one() -> None:
    rates = Rate.per_minute(60), UNLIMITED
    state = heed(State(), told(remaining_requests=1_000, reset_requests_s=1), 0.0, in_flight=0, patience=60.0)
    assert wait_for(admit(state, rates, 0.0, 1), rates, 0.0, 1) == pytest.approx(1.0)


def test_each_429_without_a_time_doubles_the_pause_and_a_success_forgets() -> None:
    state, now, waits = State(), 0.0, []
    for _ in range(7):
        state = heed(state, refused(), now, in_flight=0, patience=60.0)
        waits.append(wait_for(state, (UNLIMITED, UNLIMITED), now, 1))
        now += waits[-1]
    assert waits == [0.5, 1, 2, 4, 8, 8, 8]
    state = heed(state, told(), now, in_flight=0, patience=60.0)
    state = heed(state, refused(), now, in_flight=0, patience=60.0)
    assert wait_for(state, (UNLIMITED, UNLIMITED), now, 1) == 0.5


def test_429s_of_calls_that_were_under_way_together_count_once() -> None:
    state = State()
    for _ in range(16):
        state = heed(state, refused(), 0.0, in_flight=0, patience=60.0)
    assert wait_for(state, (UNLIMITED, UNLIMITED), 0.0, 1) == 0.5


def test_a_shorter_pause_never_ends_a_longer_one() -> None:
    assert pause(pause(State(), 50.0), 20.0).paused_until == 50.0


def test_tokens_are_learned_from_usage_and_a_wrong_guess_is_settled() -> None:
    rates = UNLIMITED, Rate.per_minute(6_000)
    state = admit(State(), rates, 0.0, 250)
    assert wait_for(state, rates, 0.0, 100) == pytest.approx(2.5)
    state = settle(state, rates, size=1_000, charged=250, used=500)
    assert wait_for(state, rates, 0.0, 100) == pytest.approx(5.0)
    assert state.tokens_a_byte == 0.5
    assert settle(state, rates, size=1_000, charged=250, used=1_000).tokens_a_byte == pytest.approx(0.6)
    assert settle(state, rates, size=1_000, charged=250, used=None) == state


def test_a_lane_charges_what_it_learned() -> None:
    clock = Clock(0.0)
    lane = Lane(RateLimits(tokens_per_minute=600), clock=clock, sleep=clock.sleep)

    async def go() -> list[float]:
        went = []
        for _ in range(3):
            taken = await lane.enter(400)
            went.append(clock.now)
            lane.leave()
            lane.heed(taken, Reading(Text("ok"), Usage(input_tokens=30, output_tokens=10)))
        return went

    assert asyncio.run(go()) == pytest.approx([0.0, 4.0 - 1.0 + 1.0, 8.0], abs=1.0)


def test_a_caller_who_gives_up_leaves_the_lane_to_the_others() -> None:
    clock = Clock(0.0)
    lane = Lane(RateLimits(requests_per_minute=1), clock=clock, sleep=clock.sleep)

    async def go() -> None:
        await lane.enter(1)
        first = asyncio.create_task(lane.enter(1))
        second = asyncio.create_task(lane.enter(1))
        await asyncio.sleep(0)
        first.cancel()
        await second
        assert first.cancelled()

    asyncio.run(go())
