"""Pacing: how long the next call of a provider account waits, so that its limits are kept and its word is heeded.

A pure core, `State` and functions of (state, now, cost), and `Lane`, the thin async wrapper that sleeps. It sends
nothing and decides no retry. Times are seconds of a monotonic clock.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from msgspec import Struct, structs

from callscope.contract import Limits, ProviderError, RateLimits, Reading

__all__ = ["Lane", "Meter", "Pass", "Rate", "State", "Turnstile", "admit", "heed", "pause", "settle", "wait_for"]

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
"""Seconds that a lane pauses after a 429 that names no time, doubled for each that follows without a success."""

TOKENS_A_BYTE = 0.25
"""What a call's tokens are taken to be before the first usage of its account was seen."""

_LEARNING = 0.2
_RESOLUTION = 1e-6
"""Seconds below which a wait is none: less than clocks tell apart, and a sleep that short may not move them."""

_NEVER = float("-inf")


class Rate(NamedTuple):
    """A limit as GCRA has it: seconds a unit, and how many units may go at once. `interval` 0 is unlimited."""

    interval: float = 0.0
    burst: float = 1.0

    @classmethod
    def per_minute(cls, units: float | None) -> Rate:
        """`units` a minute, evenly: at once goes one unit, or what a twentieth of a second brings (timers are coarse).

        So the fullest second of 200 a second holds 210.
        """
        return cls() if units is None else cls(60.0 / units, max(1.0, units / 60.0 / 20.0))


class Meter(Struct, frozen=True):
    """One GCRA: `due` is when all that was let through is paid for. The provider's own word, `told` seconds a unit,
    holds until `told_until` and can only slow."""

    due: float = _NEVER
    told: float = 0.0
    told_until: float = _NEVER


class State(Struct, frozen=True):
    """What a lane knows. `strikes` counts 429s in a row, `tokens_a_byte` is learned from usage."""

    requests: Meter = Meter()
    tokens: Meter = Meter()
    paused_until: float = _NEVER
    strikes: int = 0
    tokens_a_byte: float | None = None


def _interval(meter: Meter, rate: Rate, now: float) -> float:
    return max(rate.interval, meter.told) if now < meter.told_until else rate.interval


def _wait(meter: Meter, rate: Rate, now: float, cost: float) -> float:
    """Seconds until `cost` units conform. More units than a burst go when nothing is owed any more."""
    owed_at_most = (rate.burst - min(cost, rate.burst)) * _interval(meter, rate, now)
    return max(0.0, meter.due - owed_at_most - now)


def _charge(meter: Meter, rate: Rate, now: float, cost: float) -> Meter:
    return structs.replace(meter, due=max(meter.due, now) + cost * _interval(meter, rate, now))


def wait_for(state: State, rates: tuple[Rate, Rate], now: float, tokens: float) -> float:
    """Seconds until a call of `tokens` may go; 0 where it may go now. `rates` are those of requests and of tokens."""
    requests, words = _wait(state.requests, rates[0], now, 1.0), _wait(state.tokens, rates[1], now, tokens)
    wait = max(state.paused_until - now, requests, words)
    return wait if wait > _RESOLUTION else 0.0


def admit(state: State, rates: tuple[Rate, Rate], now: float, tokens: float) -> State:
    """The state after a call of `tokens` went at `now`."""
    return structs.replace(
        state,
        requests=_charge(state.requests, rates[0], now, 1.0),
        tokens=_charge(state.tokens, rates[1], now, tokens),
    )


def pause(state: State, until: float) -> State:
    """The state in which nothing goes before `until`; an earlier, longer pause stands."""
    return structs.replace(state, paused_until=max(state.paused_until, until))


def heed(state: State, reading: Reading, now: float, *, in_flight: int, patience: float) -> State:
    """The state after the provider's answer at `now`: its Retry-After, its 429, its rate-limit headers.

    `in_flight` other calls are under way, which what remains does not count yet. No pause exceeds `patience`: calls
    lost to a longer one are recorded, and tried again on resume.
    """
    limits, outcome = reading.limits, reading.outcome
    if isinstance(outcome, ProviderError):
        limited = outcome.category == "rate_limited"
        if limits.retryable and limits.retry_after_s is not None:
            state = pause(state, now + min(limits.retry_after_s, patience))
        elif limits.retryable and limited and now >= state.paused_until:
            wait = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**state.strikes, patience)
            state = structs.replace(pause(state, now + wait), strikes=min(state.strikes + 1, 16))
    elif state.strikes:
        state = structs.replace(state, strikes=0)
    return _told(state, limits, now, in_flight, patience)


def _told(state: State, limits: Limits, now: float, in_flight: int, patience: float) -> State:
    """What is left, spread evenly over the time until the provider counts anew."""
    reset, left = limits.reset_requests_s, limits.remaining_requests
    if reset and left is not None:
        free = left - in_flight
        if free <= 0:
            state = pause(state, now + min(reset, patience))
        else:
            state = structs.replace(state, requests=_spread(state.requests, reset, free, now))
    reset, left = limits.reset_tokens_s, limits.remaining_tokens
    if reset and left is not None:
        if left <= 0:
            state = pause(state, now + min(reset, patience))
        else:
            state = structs.replace(state, tokens=_spread(state.tokens, reset, left, now))
    return state


def _spread(meter: Meter, reset: float, left: float, now: float) -> Meter:
    return structs.replace(meter, told=reset / left, told_until=now + reset)


def settle(state: State, rates: tuple[Rate, Rate], *, size: int, charged: float, used: int | None) -> State:
    """The state once a call of `size` bytes, let through for `charged` tokens, is known to have `used` so many."""
    if used is None or size <= 0:
        return state
    seen, known = used / size, state.tokens_a_byte
    learned = seen if known is None else known + _LEARNING * (seen - known)
    due = state.tokens.due + (used - charged) * rates[1].interval
    return structs.replace(state, tokens=structs.replace(state.tokens, due=due), tokens_a_byte=learned)


class Pass(NamedTuple):
    """Leave to send one call: its size in bytes and the tokens it was let through for."""

    size: int
    tokens: float


class Lane:
    """All calls of one provider account, let through in the order in which they come.

    `clock` and `sleep` are replaced in tests. `patience` in seconds bounds every pause.
    """

    def __init__(
        self,
        limits: RateLimits | None = None,
        *,
        patience: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        limits = limits or RateLimits()
        self._rates = Rate.per_minute(limits.requests_per_minute), Rate.per_minute(limits.tokens_per_minute)
        self._patience, self.clock, self.sleep = patience, clock, sleep
        self._state, self._turn, self._in_flight = State(), asyncio.Lock(), 0

    @property
    def paused(self) -> bool:
        """Whether nothing goes now because the provider asked for patience."""
        return self._state.paused_until > self.clock()

    async def enter(self, size: int) -> Pass:
        """Wait for leave to send; each `enter` wants its `leave`."""
        async with self._turn:
            known = self._state.tokens_a_byte
            taken = Pass(size, size * (TOKENS_A_BYTE if known is None else known))
            while (wait := wait_for(self._state, self._rates, self.clock(), taken.tokens)) > 0:
                await self.sleep(wait)
            self._state = admit(self._state, self._rates, self.clock(), taken.tokens)
            self._in_flight += 1
            return taken

    def leave(self) -> None:
        """The call is no longer under way, however it ended."""
        self._in_flight -= 1

    def heed(self, taken: Pass, reading: Reading) -> None:
        """Learn from the answer to a call that has left."""
        usage = reading.usage
        used = None if usage.input_tokens is None else usage.input_tokens + (usage.output_tokens or 0)
        state = settle(self._state, self._rates, size=taken.size, charged=taken.tokens, used=used)
        self._state = heed(state, reading, self.clock(), in_flight=self._in_flight, patience=self._patience)


class Turnstile:
    """Lets one task a turn of the event loop go on to work that takes time.

    Answers that come together would else be worked on one after the other before the clock is read for the next, and
    the work on one be counted as latency of another (decision 10).
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def enter(self) -> None:
        """Wait for a turn of one's own."""
        async with self._turn:
            await asyncio.sleep(0)
