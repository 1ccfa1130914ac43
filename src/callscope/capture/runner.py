"""The runner: hold every trial of the plan that has no observed record yet, and write each down before going on.

A record is on disk before its concurrency slot is given to the next trial; so killing the process at any instant
loses at most the calls in flight. Failures of a trial become its record; only a disk that takes no more, or an
interrupt, ends the run.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct, structs

from callscope.capture.accounts import Account, Queue, Queues, account_of, pacing_by_account
from callscope.capture.attempts import Policy, now_text
from callscope.capture.codec import Frame, encode_record
from callscope.capture.conversation import Endpoint, Line, hold_trial
from callscope.capture.experiments import choice_for
from callscope.capture.folder import RECORDS, RunFolder
from callscope.capture.keys import Keyring
from callscope.capture.log import RecordLog, repair_tail
from callscope.capture.pacing import Lane, Turnstile
from callscope.capture.requests import frame_of, request_for, tools_for
from callscope.capture.transport import Timeouts, Transport
from callscope.contract import (
    Block,
    Manifest,
    ModelEntry,
    ProviderError,
    Reading,
    Record,
    Trial,
    Usage,
    asked_under,
    trials,
)
from callscope.derive import cost_of, read_record
from callscope.errors import RunFolderError
from callscope.jsontext import escape_surrogates
from callscope.providers import Adapter, get_adapter

__all__ = ["Endpoints", "ModelProgress", "Progress", "RemoteEndpoints", "capture"]


_LONGEST_NAME = 200
"""Characters of a reported model's name that the manifest keeps."""


class Endpoints(Protocol):
    """Opens the endpoint of a model when its first trial comes (an embedded model's server is started then)."""

    async def open(self, entry: ModelEntry) -> Endpoint:
        """The endpoint of `entry`; called once a trial, so it must be cheap when already open."""


class RemoteEndpoints:
    """Endpoints of models that answer at a fixed address."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def open(self, entry: ModelEntry) -> Endpoint:
        """See `Endpoints.open`."""
        assert entry.base_url is not None, "the plan gives every remote model its address"
        return Endpoint(entry.base_url, self._keyring.key_of(entry))


class ModelProgress(Struct):
    """Counts for one model, kept up to date as the run goes; `earlier` counts records of previous sessions."""

    planned: int = 0
    done: int = 0
    earlier: int = 0
    acceptance: Counter[str] = Counter()
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    busy_ms: float = 0.0


class Progress(Struct):
    """The state of a run for display. `started` and `now` are seconds of a monotonic clock."""

    started: float
    planned: int
    models: dict[str, ModelProgress]
    concurrency: int
    done: int = 0
    earlier: int = 0
    calls: int = 0
    now: float = 0.0
    current: str = ""
    torn: bool = False
    given_up: list[str] = []

    @property
    def tokens(self) -> int:
        """Input and output tokens so far, those of earlier sessions included."""
        return sum(one.input_tokens + one.output_tokens for one in self.models.values())

    @property
    def cost(self) -> float:
        """Money spent so far, as far as prices are known."""
        return sum(one.cost for one in self.models.values())


async def capture(
    folder: RunFolder,
    *,
    endpoints: Endpoints,
    transport: Transport,
    keyring: Keyring,
    policy: Policy | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Manifest:
    """Finish the plan of a run folder; returns the manifest as it then stands.

    Raises RunFolderError where the folder is locked by another process or the disk takes no more;
    asyncio.CancelledError passes through after the log is closed and the manifest says `interrupted`.
    """
    with folder.lock():
        return await _Session(
            folder, endpoints, transport, keyring, policy or Policy(attempts=folder.manifest.attempts), on_progress
        ).run()


class _Session:
    """One sitting on a locked run folder."""

    def __init__(
        self,
        folder: RunFolder,
        endpoints: Endpoints,
        transport: Transport,
        keyring: Keyring,
        policy: Policy,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.folder, self.endpoints, self.transport = folder, endpoints, transport
        self.keyring, self.policy, self.on_progress = keyring, policy, on_progress
        manifest = folder.manifest
        self.entries = {ref.entry.label: ref.entry for ref in manifest.models}
        self.cases = {name: {case.id: case for case in suite.cases} for name, suite in folder.suites.items()}
        self.reported = {ref.entry.label: set(ref.reported) for ref in manifest.models}
        self.frames: dict[object, Frame] = {}
        models = {label: ModelProgress(acceptance=Counter()) for label in self.entries}
        for block in manifest.plan:
            models[block.model].planned += len(block.cases) * block.repeats
        self.progress = Progress(
            started=time.monotonic(), planned=folder.planned(), models=models, concurrency=manifest.concurrency
        )
        self.spent = False
        self.adapters: dict[str, Adapter] = {}
        self.kept: dict[bytes, str] = {}
        self.turnstile = Turnstile()

    async def run(self) -> Manifest:
        self.progress.torn = bool(repair_tail(self.folder.path / RECORDS))
        done = self._earlier()
        log = RecordLog(self.folder.path / RECORDS, background=True)
        status: str = "interrupted"
        try:
            await self._work(self._queues(done), log)
            status = "budget_spent" if self.spent else "gave_up" if self.progress.given_up else "finished"
            log.close()
        finally:
            self._end(log, status)
        return self.folder.manifest

    def _end(self, log: RecordLog, status: str) -> None:
        """Close the log and write the manifest's end; an error that already ends the run is not hidden by another."""
        failing = sys.exc_info()[0] is not None
        try:
            log.close()
            self._close_manifest(status)
        except RunFolderError:
            if not failing:
                raise

    def _earlier(self) -> bytearray:
        """Marks the trials that have an observed record, and counts what all earlier records cost."""
        done = bytearray(self.folder.planned())
        for trial, record in self.folder.records():
            readings = read_record(record)
            if not any(isinstance(reading.outcome, ProviderError) for reading in readings):
                done[trial.position] = 1
                self.progress.earlier += 1
                self.progress.models[trial.key.model].earlier += 1
                self._count(trial, record, readings)
        return done

    def _queues(self, done: bytearray) -> Queues:
        """What is left to hold, by account."""
        manifest, account_by_label = self.folder.manifest, {label: account_of(e) for label, e in self.entries.items()}
        pacing = pacing_by_account(self.entries.values(), manifest.pacing)

        def pending(account: Account) -> Iterator[Trial]:
            for trial in trials(manifest.plan):
                if not done[trial.position] and account_by_label[trial.key.model] == account:
                    yield trial

        return Queues(
            [
                Queue(Lane(own.limits, patience=self.policy.patience), pending(account), own.concurrency)
                for account, own in pacing.items()
            ]
        )

    async def _work(self, queues: Queues, log: RecordLog) -> None:
        async def worker() -> None:
            await self.turnstile.enter()
            while (taken := queues.take()) is not None:
                queue, trial = taken
                if self._budget_spent():
                    self.spent = True
                    return
                try:
                    await self._hold(trial, queue, log)
                finally:
                    queues.give_back(queue)
                if queue.given_up and queue.given_up not in self.progress.given_up:
                    self.progress.given_up.append(queue.given_up)

        self._tell()
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, min(self.folder.manifest.concurrency, self.progress.planned))):
                    group.create_task(worker())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _hold(self, trial: Trial, queue: Queue, log: RecordLog) -> None:
        self.progress.current = f"{trial.key.model} · {trial.key.case_id}"
        entry = self.entries[trial.key.model]
        frame: Frame | None = None
        try:
            suite = self.folder.suites[trial.key.suite]
            case = asked_under(self.cases[trial.key.suite][trial.key.case_id], trial.block.settings.routing)
            adapter = self._adapter(entry)
            request = request_for(entry, suite, case, trial.block, trial.key.repeat)
            frame = self._frame(trial, entry)
            endpoint = await self.endpoints.open(entry)
            line = Line(
                endpoint,
                adapter,
                self.transport,
                self.keyring.redactor,
                self.policy,
                _timeouts(trial.block),
                queue.lane,
                self.turnstile,
            )
            record, readings = await hold_trial(
                line, trial.key, request, suite, case, tools_for(suite, case, trial.block)[1]
            )
        except RunFolderError:
            raise
        except Exception as error:  # noqa: BLE001 — a fault of ours is a record too, and never a wrong answer
            text = self.keyring.redactor.mask_text(f"{type(error).__name__}: {error}")
            stream = entry.stream or trial.block.settings.stream
            record = Record(trial.key, entry.api, stream, now_text(), (), harness_error=text)
            readings = read_record(record)
        log.append(encode_record(record, self._keep, frame))
        self._count(trial, record, readings)
        queue.saw(readings[-1].outcome, entry.label)
        self.progress.done += 1
        self.progress.models[trial.key.model].done += 1
        self._tell()

    def _adapter(self, entry: ModelEntry) -> Adapter:
        if entry.api not in self.adapters:
            self.adapters[entry.api] = get_adapter(entry.api)
        return self.adapters[entry.api]

    def _keep(self, data: bytes) -> str:
        """The name of a shared piece; hashed once, not once a record."""
        if data not in self.kept:
            self.kept[data] = self.folder.keep(data)
        return self.kept[data]

    def _frame(self, trial: Trial, entry: ModelEntry) -> Frame:
        block, key = trial.block, trial.key
        case = asked_under(self.cases[key.suite][key.case_id], block.settings.routing)
        repeat = key.repeat if block.settings.seed_per_repeat else 0
        name = (
            key.suite,
            key.experiment,
            key.model,
            case.tools,
            case.id if case.own_tools or case.messages else None,
            case.reference_time,
            repeat,
            choice_for(block.settings, case),
        )
        if name not in self.frames:
            suite = self.folder.suites[key.suite]
            self.frames[name] = frame_of(self._adapter(entry), entry, suite, case, block, repeat)
        return self.frames[name]

    def _count(self, trial: Trial, record: Record, readings: tuple[Reading, ...]) -> None:
        entry, model = self.entries[trial.key.model], self.progress.models[trial.key.model]
        outcome = readings[0].outcome
        model.acceptance[outcome.category if isinstance(outcome, ProviderError) else "accepted"] += 1
        for reading in readings:
            self._spend(model, reading.usage, entry)
            if reading.model:
                self.reported[trial.key.model].add(escape_surrogates(reading.model)[:_LONGEST_NAME])
        attempts = [exchange for one in record.rounds for exchange in one.exchanges]
        self.progress.calls += len(attempts)
        model.busy_ms += sum(exchange.timing.total for exchange in attempts)

    @staticmethod
    def _spend(model: ModelProgress, usage: Usage, entry: ModelEntry) -> None:
        model.input_tokens += usage.input_tokens or 0
        model.output_tokens += usage.output_tokens or 0
        model.cost += cost_of(usage, entry.prices) or 0.0

    def _budget_spent(self) -> bool:
        budgets = self.folder.manifest.budgets
        return (
            (budgets.calls is not None and self.progress.calls >= budgets.calls)
            or (budgets.tokens is not None and self.progress.tokens >= budgets.tokens)
            or (budgets.money is not None and self.progress.cost >= budgets.money)
        )

    def _tell(self) -> None:
        if self.on_progress is not None:
            self.progress.now = time.monotonic()
            self.on_progress(self.progress)

    def _close_manifest(self, status: str) -> None:
        manifest = self.folder.manifest
        models = tuple(
            structs.replace(ref, reported=tuple(sorted(self.reported[ref.entry.label]))) for ref in manifest.models
        )
        self.folder.write_manifest(structs.replace(manifest, models=models, status=status, finished_at=now_text()))


def _timeouts(block: Block) -> Timeouts:
    """The block's bounds in seconds."""
    settings = block.settings
    connect, first_byte = settings.connect_timeout_ms, settings.first_byte_timeout_ms
    return Timeouts(
        settings.timeout_ms / 1000,
        None if connect is None else connect / 1000,
        None if first_byte is None else first_byte / 1000,
    )
