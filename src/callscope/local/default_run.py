"""What `callscope run` does with no configuration: the support suite on embedded models, one under two chat templates.

A timed warm-up on this machine sizes the plan before it is frozen. Greedy decoding gets one pass (its repeats would be
identical); stability is measured on a few cases at a temperature above zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from callscope.capture.config import ModelConfig
from callscope.capture.requests import request_for
from callscope.contract import Block, Case, ModelEntry, Settings, Suite
from callscope.local.endpoints import EmbeddedEndpoints
from callscope.local.fitness import warm_up
from callscope.providers import get_adapter

__all__ = ["DEFAULT_MODELS", "TARGET_SECONDS", "Sizing", "measure", "size_plan"]

DEFAULT_MODELS = (
    ModelConfig(provider="local", model="qwen2.5-coder-0.5b", template="tools-json"),
    ModelConfig(provider="local", model="qwen2.5-coder-0.5b", template="own"),
    ModelConfig(provider="local", model="qwen2.5-coder-1.5b", template="tools-json"),
)

TARGET_SECONDS = 420.0
"""How long the calls of a default run may take, as the warm-up foresees it; set-up and downloads come on top."""

MAX_TOKENS = 256
TIMEOUT_MS = 180_000
STABILITY_CASES = 6
STABILITY_REPEATS = 5
STABILITY_TEMPERATURE = 0.7
STABILITY_SHARE = 0.35
FEWEST_CASES = 10
SAFETY = 1.25


class Sizing(Struct, frozen=True):
    """A sized plan: its blocks, and the seconds that its calls should take by the warm-up, by model label."""

    blocks: tuple[Block, ...]
    seconds: dict[str, float]
    cases: int
    all_cases: int
    stability_cases: int


def _settings(temperature: float, *, seed_per_repeat: bool) -> Settings:
    return Settings(
        temperature=temperature,
        max_tokens=MAX_TOKENS,
        seed=1,
        seed_per_repeat=seed_per_repeat,
        timeout_ms=TIMEOUT_MS,
    )


def _spread(cases: Sequence[str], count: int) -> tuple[str, ...]:
    """`count` of the cases, evenly spaced, so that no behaviour class is left out by its place in the file."""
    if count >= len(cases):
        return tuple(cases)
    return tuple(cases[place * len(cases) // count] for place in range(count))


def size_plan(
    suite: Suite,
    cases: Sequence[Case],
    per_call: dict[str, float],
    *,
    full: bool = False,
    repeats: int | None = None,
    target: float = TARGET_SECONDS,
) -> Sizing:
    """The blocks that fit into `target` seconds when a call of model label L takes `per_call[L]` seconds. Pure.

    The first cases of the suite are taken, since suites are ordered to be balanced from the start; `full` takes all.
    """
    ids = [case.id for case in cases]
    each = sum(per_call.values()) * SAFETY
    several = repeats or STABILITY_REPEATS
    stability = len(ids) if full else min(STABILITY_CASES, len(ids))
    count = len(ids)
    if not full:
        while stability > 1 and stability * several * each > target * STABILITY_SHARE:
            stability -= 1
        count = max(min(FEWEST_CASES, len(ids)), min(len(ids), int((target - stability * several * each) / each)))
    blocks = []
    for label in per_call:
        blocks.append(Block(suite.name, "auto", label, tuple(ids[:count]), 1, _settings(0.0, seed_per_repeat=False)))
        blocks.append(
            Block(
                suite.name,
                f"stability-t{STABILITY_TEMPERATURE:g}",
                label,
                _spread(ids[:count], stability),
                several,
                _settings(STABILITY_TEMPERATURE, seed_per_repeat=True),
            )
        )
    seconds = {label: one * (count + stability * several) for label, one in per_call.items()}
    return Sizing(tuple(blocks), seconds, count, len(ids), stability)


async def measure(
    endpoints: EmbeddedEndpoints,
    entries: Sequence[ModelEntry],
    suite: Suite,
    cases: Sequence[Case],
    *,
    say: Callable[[str], None],
    calls: int = 3,
) -> dict[str, float]:
    """Seconds of a call, by model label: the mean of `calls` greedy calls on evenly spaced cases."""
    probe = Block(suite.name, "warm-up", "", (), 1, _settings(0.0, seed_per_repeat=False))
    by_id = {case.id: case for case in cases}
    chosen = [by_id[case_id] for case_id in _spread(list(by_id), calls)]
    found = {}
    for entry in entries:
        adapter = get_adapter(entry.api)
        bodies = [adapter.build(request_for(entry, suite, case, probe, 0)).body for case in chosen]
        times = await warm_up(await endpoints.server(entry), bodies)
        found[entry.label] = sum(times) / len(times)
        say(f"  {entry.label}: {found[entry.label]:.1f} s a call")
    return found
