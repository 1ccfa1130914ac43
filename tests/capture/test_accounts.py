"""Models of one provider account share its limits; accounts do not wait for each other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import callscope
from callscope.capture.accounts import Queue, Queues, account_of, pacing_by_account
from callscope.capture.pacing import Lane
from callscope.contract import Block, ModelEntry, Pacing, RateLimits, Trial, trials
from callscope.errors import InputError
from callscope.runs import Run
from tests.capture.helpers import logged_keys, small_suite, stand_in_model
from tests.stand_in import Reply, Seen, StandIn, by_rules


def entry(label: str, provider: str = "p", url: str | None = "http://h/v1", key: str | None = None) -> ModelEntry:
    return ModelEntry(label, provider, label, "openai-chat", url, key)


def test_an_account_is_provider_address_and_key() -> None:
    same = [entry("a"), entry("b"), entry("c", url="http://h/v1/")]
    assert len({account_of(one) for one in same}) == 1
    others = [entry("d", provider="q"), entry("e", url="http://i/v1"), entry("f", key="KEY")]
    assert len({account_of(one) for one in [*same, *others]}) == 4
    embedded = [entry("x", "local", None), entry("y", "local", None)]
    assert len({account_of(one) for one in embedded}) == 1, "they share this machine"


def test_an_account_has_what_one_of_its_entries_says() -> None:
    own = Pacing(RateLimits(requests_per_minute=60), 2)
    for order in (["a", "b"], ["b", "a"]):
        entries = [entry(label) for label in order]
        assert list(pacing_by_account(entries, {"a": own}).values()) == [own]
    assert list(pacing_by_account([entry("a"), entry("b")], {"a": own, "b": own}).values()) == [own]


@pytest.mark.parametrize(
    ("pacing", "message"),
    [
        ({"a": Pacing(concurrency=2), "b": Pacing(concurrency=3)}, "b: limits, concurrency: contradicts"),
        ({"a": Pacing(concurrency=0)}, "a: concurrency: is out of range"),
        ({"a": Pacing(RateLimits(requests_per_minute=0))}, "a: limits.requests_per_minute: is out of range"),
        ({"a": Pacing(RateLimits(tokens_per_minute=float("inf")))}, "a: limits.tokens_per_minute: is out of range"),
    ],
)
def test_bounds_that_cannot_be_kept_are_refused_by_name(pacing: dict[str, Pacing], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pacing_by_account([entry("a"), entry("b")], pacing)


def planned(label: str, count: int) -> list[Trial]:
    return list(trials((Block("s", "auto", label, tuple(f"c{number}" for number in range(count)), 1),)))


def test_the_least_busy_account_goes_first_and_each_keeps_its_order() -> None:
    slow, fast = Queue(Lane(), iter(planned("slow", 9)), None), Queue(Lane(), iter(planned("fast", 9)), None)
    queues = Queues([slow, fast])
    taken = [queues.take() for _ in range(4)]
    assert (slow.in_flight, fast.in_flight) == (2, 2)
    for _ in range(7):
        queues.give_back(fast)
        taken.append(queues.take())
    assert slow.in_flight == 2, "what is slow takes no place from what is fast"
    cases = [one[1].key.case_id for one in taken if one is not None and one[0] is fast]
    assert cases == [f"c{number}" for number in range(9)]


def test_an_account_at_its_bound_or_empty_gives_nothing() -> None:
    bound, empty = Queue(Lane(), iter(planned("a", 5)), 2), Queue(Lane(), iter([]), None)
    queues = Queues([empty, bound])
    assert [queues.take() is None for _ in range(3)] == [False, False, True]
    queues.give_back(bound)
    assert queues.take() is not None


def test_a_paused_account_goes_after_the_others() -> None:
    class Paused(Lane):
        paused = True  # type: ignore[assignment]

    waiting, other = Queue(Paused(), iter(planned("a", 3)), None), Queue(Lane(), iter(planned("b", 2)), None)
    queues = Queues([waiting, other])
    order = [taken[1].key.model for _ in range(5) if (taken := queues.take()) is not None]
    assert order == ["b", "b", "a", "a", "a"]


# ---------------------------------------------------------------------------------------------------- through a run


def hold(out: Path, respond: Any, models: int = 2, **settings: Any) -> tuple[Run, list[Seen]]:
    """A run against as many stand-ins as models; `respond(number, seen)` answers for each."""

    async def go() -> tuple[Run, list[Seen]]:
        servers = [StandIn(lambda seen, number=number: respond(number, seen)) for number in range(models)]
        entries, per_model = [], settings.pop("each", {})
        for server in servers:
            await server.__aenter__()
        try:
            for number, server in enumerate(servers):
                entries.append(stand_in_model(server.url, label=f"m{number}", **per_model.get(number, {})))
            run = await callscope.arun(small_suite(), models=entries, out=out, **{"repeats": 2, **settings})
        finally:
            for server in servers:
                await server.__aexit__()
        return run, [seen for server in servers for seen in server.seen]

    return asyncio.run(go())


def test_a_provider_that_does_not_answer_holds_up_no_other(tmp_path: Path) -> None:
    """All answers of the second are given while not one of the first is."""
    answered, release = [0], asyncio.Event()

    async def respond(number: int, seen: Seen) -> Reply:
        if number == 0:
            await release.wait()
        else:
            answered[0] += 1
            if answered[0] == 10:
                release.set()
        return by_rules(seen)

    run, _ = hold(tmp_path / "run", respond, concurrency=4, timeout_ms=20_000)
    assert all(one.verdict.passed for one in run.derived())
    assert set(logged_keys(run.path).values()) == {1}
    assert run.check().differing == ()


def test_an_accounts_own_concurrency_is_a_bound_below_the_runs(tmp_path: Path) -> None:
    now, most = [0, 0], [0, 0]

    async def respond(number: int, seen: Seen) -> Reply:
        now[number] += 1
        most[number] = max(most[number], now[number])
        for _ in range(5):
            await asyncio.sleep(0)
        now[number] -= 1
        return by_rules(seen)

    run, _ = hold(tmp_path / "run", respond, concurrency=8, each={0: {"concurrency": 1}})
    assert most[0] == 1
    assert 1 < most[1] <= 8
    assert len(logged_keys(run.path)) == 20
    assert run.manifest.pacing == {"m0": Pacing(concurrency=1)}


def test_a_429_pauses_every_trial_of_its_account(tmp_path: Path) -> None:
    """One refusal, four workers: what comes after it waits, and says so apart from the latency."""
    refused: list[float] = []
    after: list[float] = []

    def respond(number: int, seen: Seen) -> Reply:
        moment = asyncio.get_running_loop().time()
        if not refused:
            refused.append(moment)
            return Reply(b'{"error":{"message":"slow down"}}', 429, (("Retry-After", "0.4"),))
        after.append(moment)
        return by_rules(seen)

    run, _ = hold(tmp_path / "run", respond, models=1, concurrency=1)
    assert min(after) - refused[0] >= 0.39
    exchanges = [exchange for _, record in run.folder.records() for exchange in record.rounds[0].exchanges]
    retried = [exchange for exchange in exchanges if exchange.attempt == 2]
    assert [exchange.timing.queued >= 390 for exchange in retried] == [True]
    assert max(exchange.timing.total for exchange in exchanges) < 390


def test_limits_pace_a_run_and_may_change_when_it_goes_on(tmp_path: Path) -> None:
    async def go() -> Run:
        async with StandIn(by_rules) as server:
            for minute in (600, 1_200):
                models = [stand_in_model(server.url, limits={"requests_per_minute": minute})]
                run = await callscope.arun(small_suite(), models=models, out=tmp_path / "run", repeats=1, concurrency=5)
            return run

    run = asyncio.run(go())
    assert run.manifest.pacing == {"stand-in/stand-in-1": Pacing(RateLimits(requests_per_minute=1_200))}
    queued = sorted(record.rounds[0].exchanges[0].timing.queued for _, record in run.folder.records())
    assert queued[-1] >= 390, "the last of five waited a tenth of a second for each before it"
