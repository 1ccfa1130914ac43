"""The preparation of `callscope run` without a configuration: says what it will do before it does it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from callscope import api
from callscope.capture.config import RunConfig
from callscope.capture.plan import Choice, choose_cases, resolve_models
from callscope.cli._console import say
from callscope.cli._progress import duration
from callscope.contract import Manifest, Suite
from callscope.errors import InputError
from callscope.local import DEFAULT_MODELS, TARGET_SECONDS, EmbeddedEndpoints, Sizing, measure, size_plan

__all__ = ["prepare_default"]


def prepare_default(
    suite_names: tuple[str, ...], choice: Choice, *, full: bool, repeats: int | None
) -> tuple[Manifest, tuple[Suite, ...]]:
    """Weights, warm-up, sized plan: the manifest of the default run.

    Raises EnvironmentProblem where the machine cannot run the models, saying what is missing.
    """
    if len(suite_names) > 1:
        raise InputError("the embedded default runs one suite", field="--suite", found=", ".join(suite_names))
    suite = api.load_suites(suite_names or ("support",), base=api.HERE, config=RunConfig(models=()))[0]
    cases = choose_cases(suite, choice)
    entries = resolve_models(DEFAULT_MODELS)
    say(f"Suite {suite.name} {suite.version}, {len(cases)} cases, on {len(entries)} embedded models, without any key:")
    for entry in entries:
        say(f"  {entry.label}")

    async def warm() -> tuple[dict[str, float], dict[str, Any]]:
        async with EmbeddedEndpoints(progress=_Downloads()) as endpoints:
            facts = await endpoints.prepare(entries, {})
            for label, fact in facts.items():
                say(f"  {label}: weights {fact['sha256'][:12]}… from {fact['source']}, {fact['threads']} threads")
            say("Warm-up, to size the run:")
            return await measure(endpoints, entries, suite, cases, say=say), facts

    per_call, facts = asyncio.run(warm())
    sizing = size_plan(suite, cases, per_call, full=full, repeats=repeats)
    say(_announcement(sizing, full=full))
    config = RunConfig(models=DEFAULT_MODELS, repeats=1)
    return api.prepare([suite], config, blocks=sizing.blocks, facts=facts), (suite,)


def _announcement(sizing: Sizing, *, full: bool) -> str:
    total = duration(sum(sizing.seconds.values()))
    which = f"all {sizing.cases} cases" if sizing.cases == sizing.all_cases else f"the first {sizing.cases} cases"
    trials = sum(len(block.cases) * block.repeats for block in sizing.blocks)
    text = (
        f"Plan: {which} once each at temperature 0, and {sizing.stability_cases} of them several times at 0.7 for "
        f"stability; {trials} calls, about {total}."
    )
    if sizing.cases < sizing.all_cases and not full:
        text += f" Sized to about {duration(TARGET_SECONDS)} on this machine; `--full` runs all {sizing.all_cases}."
    return text


class _Downloads:
    """Says how a download or check goes on, at most every five seconds and at each new phase."""

    def __init__(self) -> None:
        self._phase, self._said_at = "", 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        if phase != self._phase or now - self._said_at >= 5:
            self._phase, self._said_at = phase, now
            say(f"  {phase}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")
