"""What a run is: everything that was fixed before its first call, and what the servers said they were.

The plan is data: blocks, each a model on the chosen cases of one suite under one experiment's settings. The order of
trials is computed from the blocks (`trials`), never stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from callscope.contract.record import TrialKey
from callscope.contract.request import ModelEntry, NamedChoice, Transformation
from callscope.contract.suite import Routing, SuiteKind


class Settings(Struct, frozen=True):
    """What every request of a block shares. Times in milliseconds; None leaves a setting to the provider.

    `timeout_ms` bounds an attempt whole; the connection and the first byte of the answer may have earlier bounds, all
    counted from the attempt's start.

    With `seed_per_repeat`, repeat r is sent `seed + r`, so that repeats at a temperature above zero differ yet
    come out the same on an embedded model.

    `routing` makes the block one of the three routing decisions: `need` offers all tools of the suite, `target` and
    `arguments` the case's target alone.

    `tool_choice` `named` forces for each case the tool it expects. `stream` asks for a stream where the model entry
    does not already. `schema_fallback` names the rules by which the tools' schemas were weakened before they were sent;
    `optimised_for` the provider a suite was made for. All of these, but no sampling and no bound, make the experiment's
    label (`capture.experiments`).
    """

    temperature: float | None = 0.0
    max_tokens: int | None = None
    seed: int | None = None
    seed_per_repeat: bool = False
    tool_choice: Literal["auto", "required", "named", "none"] | NamedChoice = "auto"
    parallel: bool | None = None
    strict: bool | None = None
    stream: bool = False
    schema_fallback: tuple[str, ...] = ()
    optimised_for: str | None = None
    routing: Routing | None = None
    timeout_ms: int = 30_000
    connect_timeout_ms: int | None = None
    first_byte_timeout_ms: int | None = None


class Block(Struct, frozen=True):
    """A part of the plan: one model, one suite, one experiment, the ids of the chosen cases, how often each."""

    suite: str
    experiment: str
    model: str
    cases: tuple[str, ...]
    repeats: int
    settings: Settings = Settings()


class SuiteRef(Struct, frozen=True):
    """A suite as it was frozen: the SHA-256 of the exact bytes of each file, kept under the run's blobs."""

    name: str
    version: str
    kind: SuiteKind
    files: dict[str, str]
    cases: int


class SentHashes(Struct, frozen=True):
    """Hashes over exact bytes a model was sent in this run: its system text and its tools, as the adapter wrote them.

    `offered` names the tools in `tools_sha256`; a case that offers fewer has a row of its own. Cases that bring their
    own tools share one row, made from the first of them; what each sent is in its record.
    """

    suite: str
    experiment: str
    model: str
    offered: tuple[str, ...]
    system_sha256: str
    tools_sha256: str
    transformations: tuple[Transformation, ...] = ()


class ModelRef(Struct, frozen=True):
    """A model as requested, what its server reported (filled in as the run goes), and facts about an embedded one."""

    entry: ModelEntry
    reported: tuple[str, ...] = ()
    facts: dict[str, Any] = {}


class Budgets(Struct, frozen=True, omit_defaults=True):
    """Bounds after which a run stops cleanly; None is unbounded. `money` is in the currency of the prices."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None


class RateLimits(Struct, frozen=True, omit_defaults=True):
    """What a provider account lets through; None is unlimited."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class Pacing(Struct, frozen=True, omit_defaults=True):
    """How calls to a model's account are paced: its limits, and how many of its trials may be in flight."""

    limits: RateLimits = RateLimits()
    concurrency: int | None = None


class Manifest(Struct, frozen=True):
    """manifest.json. `environment` names overrides that change a run (proxies, base URLs); never a secret's value.

    `pacing` is by model label; models of one account share it, and like `concurrency` it may change between sittings.
    status: `running` (or killed), `finished`, `interrupted`, `budget_spent`, `gave_up` (a provider let nobody in).
    """

    schema: Literal["callscope/manifest/1"]
    run_id: str
    created_at: str
    callscope: str
    runner_commit: str
    runtime: dict[str, str]
    libraries: dict[str, str]
    environment: dict[str, str]
    dataset_version: str
    concurrency: int
    attempts: int
    budgets: Budgets
    suites: tuple[SuiteRef, ...]
    models: tuple[ModelRef, ...]
    plan: tuple[Block, ...]
    sent: tuple[SentHashes, ...] = ()
    pacing: dict[str, Pacing] = {}
    status: Literal["running", "finished", "interrupted", "budget_spent", "gave_up"] = "running"
    finished_at: str | None = None


class Trial(NamedTuple):
    """A planned trial: its place in the plan from 0, its block, its key."""

    position: int
    block: Block
    key: TrialKey


def trials(plan: tuple[Block, ...]) -> Iterator[Trial]:
    """The planned trials in plan order: blocks as given, within a block repeat by repeat, so that a run which stops
    early has seen every case about equally often."""
    index = 0
    for block in plan:
        for repeat in range(block.repeats):
            for case_id in block.cases:
                yield Trial(index, block, TrialKey(block.suite, block.experiment, block.model, case_id, repeat))
                index += 1


def trial_count(plan: tuple[Block, ...]) -> int:
    """How many trials a plan holds."""
    return sum(len(block.cases) * block.repeats for block in plan)
