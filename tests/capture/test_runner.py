"""Claims about a whole run against a stand-in provider: everything is recorded once, and replays to the same bytes."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import callscope
from callscope.contract import ProviderError, ToolCalls
from callscope.errors import RunFolderError
from callscope.runs import Run, open_run
from tests.capture.helpers import logged_keys, small_suite, stand_in_model
from tests.stand_in import Reply, Seen, StandIn, by_rules, completion


def hold(respond: Callable[[Seen], Any], out: Path, count: int = 4, **settings: Any) -> tuple[Run, StandIn]:
    async def go() -> tuple[Run, StandIn]:
        async with StandIn(respond) as server:
            model = settings.pop("model", {})
            suite = settings.pop("suite", None) or small_suite(count)
            options = {"repeats": 2, "timeout_ms": 5_000, **settings}
            run = await callscope.arun(suite, models=[stand_in_model(server.url, **model)], out=out, **options)
            return run, server

    return asyncio.run(go())


@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize("stream", [False, True])
def test_every_planned_trial_is_recorded_once_and_replays_to_the_same_bytes(
    tmp_path: Path, concurrency: int, stream: bool
) -> None:
    run, server = hold(by_rules, tmp_path / "run", concurrency=concurrency, model={"stream": stream})
    assert len(server.seen) == 5 * 2
    assert set(logged_keys(run.path).values()) == {1}
    assert [derived.verdict.passed for derived in run.derived()] == [True] * 10
    assert run.check().differing == ()
    assert run.manifest.status == "finished"
    assert run.manifest.models[0].reported == ("stand-in-1",)
    assert (run.path / "report.html").exists()


def test_what_was_sent_stands_in_the_log_byte_for_byte(tmp_path: Path) -> None:
    run, server = hold(by_rules, tmp_path / "run")
    sent = sorted(seen.body for seen in server.seen)
    logged = sorted(one.rounds[0].exchanges[0].request for _, one in run.folder.records())
    assert logged == sent


def test_answers_out_of_order_still_derive_in_plan_order(tmp_path: Path) -> None:
    waiting: list[asyncio.Event] = []

    async def reversed_pairs(seen: Seen) -> Reply:
        mine = asyncio.Event()
        waiting.append(mine)
        if len(waiting) % 2 == 1:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(mine.wait(), 1)
        else:
            waiting[-2].set()
        return by_rules(seen)

    run, _ = hold(reversed_pairs, tmp_path / "run", concurrency=2, count=5)
    expected = [(repeat, case.id) for repeat in range(2) for case in run.suites["small"].cases]
    assert [(one.verdict.repeat, one.verdict.case_id) for one in run.derived()] == expected
    assert run.check().differing == ()


def test_a_finished_folder_run_again_makes_no_call(tmp_path: Path) -> None:
    async def go() -> int:
        async with StandIn(by_rules) as server:
            for _ in range(2):
                await callscope.arun(
                    small_suite(), models=[stand_in_model(server.url)], out=tmp_path / "run", repeats=2
                )
            return len(server.seen)

    assert asyncio.run(go()) == 10


def test_lost_trials_are_tried_again_and_observed_ones_are_not(tmp_path: Path) -> None:
    broken = {"yes": True}

    def sometimes(seen: Seen) -> Reply:
        if broken["yes"] and "100001" in seen.prompt:
            return Reply(b'{"error":{"message":"bad key","code":"invalid_api_key"}}', status=401)
        return by_rules(seen)

    async def go() -> tuple[Run, int, int]:
        async with StandIn(sometimes) as server:
            models = [stand_in_model(server.url)]
            first = await callscope.arun(small_suite(), models=models, out=tmp_path / "run", repeats=2)
            lost = sum(one.verdict.acceptance == "authentication_error" for one in first.derived())
            broken["yes"] = False
            before = len(server.seen)
            second = await callscope.arun(small_suite(), models=models, out=tmp_path / "run", repeats=2)
            return second, lost, len(server.seen) - before

    run, lost, calls = asyncio.run(go())
    assert lost == calls == 2
    assert all(one.verdict.passed for one in run.derived())
    assert len(list(run.derived())) == 10
    assert run.check().differing == ()


def test_a_folder_of_another_run_is_refused_by_what_differs(tmp_path: Path) -> None:
    hold(by_rules, tmp_path / "run")
    with pytest.raises(RunFolderError, match=r"differs .* the plan"):
        hold(by_rules, tmp_path / "run", repeats=3)


@pytest.mark.parametrize(
    ("reply", "category", "code"),
    [
        (Reply(hang=True), "timeout", "timeout_first_byte"),
        (Reply(completion("x"), drop_after=20), "provider_error", "connection_lost"),
        (Reply(b"<html>nginx</html>", status=502), "provider_error", None),
        (Reply(b"<html>hello</html>"), "provider_error", None),
        (Reply(b'{"error":{"message":"slow down"}}', status=429), "rate_limited", None),
        (Reply(b"", status=204), "provider_error", None),
        (Reply(completion("x")[:-9]), "provider_error", None),
    ],
    ids=["hangs", "dies-mid-body", "html-502", "html-200", "429", "empty", "cut-json"],
)
def test_what_a_server_does_is_coverage_loss_and_never_a_wrong_answer(
    tmp_path: Path, reply: Reply, category: str, code: str | None
) -> None:
    run, _ = hold(lambda _: reply, tmp_path / "run", count=1, repeats=1, timeout_ms=300, attempts=1)
    for derived in run.derived():
        assert isinstance(derived.outcome, ProviderError)
        assert (derived.verdict.acceptance, derived.verdict.selection) == (category, "not_observed")
        assert derived.verdict.passed is None
        assert code in {None, derived.outcome.code}
    assert run.check().differing == ()


def test_retries_are_recorded_one_by_one_and_the_last_counts(tmp_path: Path) -> None:
    failures = iter([503, 429])

    def flaky(seen: Seen) -> Reply:
        status = next(failures, 200)
        headers = (("Content-Type", "application/json"), ("Retry-After", "0"))
        return by_rules(seen) if status == 200 else Reply(b'{"error":{"message":"busy"}}', status, headers)

    run, _ = hold(flaky, tmp_path / "run", count=1, repeats=1)
    record = next(record for _, record in run.folder.records())
    assert [exchange.status for exchange in record.rounds[0].exchanges] == [503, 429, 200]
    assert [exchange.attempt for exchange in record.rounds[0].exchanges] == [1, 2, 3]
    assert next(iter(run.derived())).measures.attempts == 3


def test_compressed_answers_are_kept_as_received_and_read(tmp_path: Path) -> None:
    def squeezed(seen: Seen) -> Reply:
        headers = (("Content-Type", "application/json"), ("Content-Encoding", "gzip"))
        return Reply(gzip.compress(by_rules(seen).body, mtime=0), headers=headers)

    run, _ = hold(squeezed, tmp_path / "run")
    record = next(record for _, record in run.folder.records())
    assert record.rounds[0].exchanges[0].response[:2] == b"\x1f\x8b"
    assert all(derived.verdict.passed for derived in run.derived())


def test_a_redirect_is_never_followed(tmp_path: Path) -> None:
    def elsewhere(_: Seen) -> Reply:
        return Reply(status=307, headers=(("Location", "http://127.0.0.1:9/steal"),))

    run, server = hold(elsewhere, tmp_path / "run", count=0, repeats=1)
    assert len(server.seen) == 1
    assert next(iter(run.derived())).verdict.acceptance == "provider_error"


@pytest.mark.parametrize(
    ("budgets", "at_most"), [({"calls": 3}, 3), ({"tokens": 300}, 3), ({"money": 0.0002}, 2)], ids=str
)
def test_a_spent_budget_stops_cleanly_and_goes_on_with_a_larger_one(
    tmp_path: Path, budgets: dict[str, float], at_most: int
) -> None:
    model = {"prices": {"input": 1.0, "output": 1.0}}

    async def go() -> tuple[Run, int, Run]:
        async with StandIn(by_rules) as server:
            models, suite = [stand_in_model(server.url, **model)], small_suite()
            first = await callscope.arun(suite, models=models, out=tmp_path / "run", repeats=2, budgets=budgets)
            calls = len(server.seen)
            second = await callscope.arun(suite, models=models, out=tmp_path / "run", repeats=2)
            assert len(server.seen) == 10
            return first, calls, second

    first, calls, second = asyncio.run(go())
    assert first.manifest.status == "budget_spent"
    assert calls == at_most
    assert second.manifest.status == "finished"
    assert second.check().differing == ()


def test_a_fault_of_our_own_becomes_a_record_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from callscope.capture import runner

    real = runner.hold_trial

    async def faulty(line: Any, key: Any, *rest: Any) -> Any:
        if key.case_id == "order-100001":
            raise ZeroDivisionError("a fault of ours")
        return await real(line, key, *rest)

    monkeypatch.setattr(runner, "hold_trial", faulty)
    run, _ = hold(by_rules, tmp_path / "run", repeats=1)
    by_case = {one.verdict.case_id: one for one in run.derived()}
    assert by_case["order-100001"].verdict.acceptance == "harness_error"
    assert sum(one.verdict.passed is True for one in by_case.values()) == 4
    assert run.check().differing == ()


def test_an_interrupt_leaves_a_valid_run_that_goes_on(tmp_path: Path) -> None:
    async def go() -> tuple[str, Run]:
        reached = asyncio.Event()

        def stuck(seen: Seen) -> Reply:
            if "100002" in seen.prompt and not reached.is_set():
                reached.set()
                return Reply(hang=True)
            return by_rules(seen)

        async with StandIn(stuck) as server:
            models, suite = [stand_in_model(server.url)], small_suite()
            task = asyncio.create_task(callscope.arun(suite, models=models, out=tmp_path / "run", repeats=2))
            await reached.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            status = open_run(tmp_path / "run").manifest.status
            assert len(logged_keys(tmp_path / "run")) == 2
            return status, await callscope.arun(suite, models=models, out=tmp_path / "run", repeats=2)

    status, run = asyncio.run(go())
    assert status == "interrupted"
    assert len(list(run.derived())) == 10
    assert run.check().differing == ()


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    async def go() -> None:
        async with StandIn(by_rules) as server:
            models = [stand_in_model(server.url)]
            run = await callscope.arun(small_suite(), models=models, out=tmp_path / "run", repeats=1)
            with run.folder.lock(), pytest.raises(RunFolderError, match="another process"):
                await callscope.arun(small_suite(), models=models, out=tmp_path / "run", repeats=1)

    asyncio.run(go())


def test_a_full_disk_ends_the_run_with_a_clear_message_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    from callscope.capture import log

    real, written = os.write, {"lines": 0}

    def full(fd: int, data: bytes) -> int:
        written["lines"] += 1
        if written["lines"] > 3:
            real(fd, bytes(data)[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(fd, data)

    monkeypatch.setattr(log.os, "write", full)
    with pytest.raises(RunFolderError, match=r"disk is full.*--resume"):
        hold(by_rules, tmp_path / "run")
    monkeypatch.undo()
    assert len(logged_keys(tmp_path / "run")) == 3
    for line in (tmp_path / "run" / "records.jsonl").read_bytes().splitlines():
        json.loads(line)


def test_a_read_only_place_is_refused_before_any_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunFolderError, match=r"cannot be made|is a file"):
        hold(by_rules, tmp_path / "file" / "run")


def test_a_model_that_says_big_numbers_and_surrogates_replays_to_the_same_bytes(tmp_path: Path) -> None:
    arguments = '{"order_id":"\\ud83d","n":123456789012345678901234567890,"order_id2":1e16}'
    run, _ = hold(lambda _: Reply(completion(None, [("lookup_order", arguments)])), tmp_path / "run", repeats=1)
    first = next(iter(run.derived()))
    assert isinstance(first.outcome, ToolCalls)
    assert first.outcome.calls[0].arguments == {
        "order_id": "\ud83d",
        "n": 123456789012345678901234567890,
        "order_id2": 1e16,
    }
    assert run.check().differing == ()


@pytest.mark.parametrize("why", ["no such key", "nobody listens"])
def test_an_account_that_lets_nobody_in_is_given_up_and_the_others_go_on(tmp_path: Path, why: str) -> None:
    def refusing(_: Seen) -> Reply:
        return Reply(b'{"error":{"message":"no such key","code":"invalid_api_key"}}', status=401)

    async def go() -> tuple[Run, int]:
        async with StandIn(refusing) as closed, StandIn(by_rules) as open_:
            url = closed.url if why == "no such key" else "http://127.0.0.1:9/v1"
            models = [stand_in_model(url, label="shut"), stand_in_model(open_.url, label="open", provider="other")]
            run = await callscope.arun(small_suite(), models=models, out=tmp_path / "run", repeats=4, attempts=1)
            return run, len(closed.seen)

    run, calls = asyncio.run(go())
    by_model = {name: [one for one in run.derived() if one.verdict.model == name] for name in ("shut", "open")}
    assert len(by_model["shut"]) == 5
    assert calls in {0, 5}
    assert [one.verdict.passed for one in by_model["open"]] == [True] * 20
    assert run.manifest.status == "gave_up"


def test_a_reported_name_that_cannot_be_written_does_not_end_the_run(tmp_path: Path) -> None:
    body = completion("x", model="m").replace(b'"model": "m"', b'"model": "\\ud800' + b"n" * 5_000 + b'"')
    run, _ = hold(lambda _: Reply(body), tmp_path / "run", count=1, repeats=1)
    (reported,) = run.manifest.models[0].reported
    assert reported.startswith("\\ud800")
    assert len(reported) == 200
    assert run.check().differing == ()
