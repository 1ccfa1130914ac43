"""The plan: from a configuration and loaded suites to a manifest in which everything is fixed before the first call.

Pure but for reading the versions of what is installed (`environment`). The plan is data; the runner only follows it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from callscope.canonical import canonical, sha256_hex
from callscope.capture.accounts import pacing_by_account
from callscope.capture.config import RunConfig
from callscope.capture.environment import Environment
from callscope.capture.experiments import check_plan, is_forced, label_of, measurable, read_experiment, settings_for
from callscope.capture.models import catalogue_facts, notices, resolve_models
from callscope.capture.requests import plan_bytes, sent_hashes
from callscope.contract import (
    Block,
    Case,
    Manifest,
    ModelEntry,
    ModelRef,
    Pacing,
    SentHashes,
    Settings,
    Suite,
    SuiteRef,
    asked_under,
)
from callscope.errors import InputError
from callscope.providers import get_adapter

__all__ = [
    "Choice",
    "choose_cases",
    "differences",
    "experiments_of",
    "make_manifest",
    "notices",
    "plan_blocks",
    "resolve_models",
    "settings_of",
]


class Choice(Struct, frozen=True):
    """Which part is run: case ids, tags (any of them), model labels, and at most `limit` cases a suite."""

    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    limit: int | None = None


def settings_of(config: RunConfig) -> Settings:
    """The settings that every block of a run shares, under the tool choice and switches it states."""
    return Settings(
        temperature=config.temperature,
        max_tokens=config.max_tokens,
        seed=config.seed,
        tool_choice=config.tool_choice,
        parallel=config.parallel,
        strict=config.strict,
        timeout_ms=config.timeout_ms,
        connect_timeout_ms=config.connect_timeout_ms,
        first_byte_timeout_ms=config.first_byte_timeout_ms,
    )


def choose_cases(suite: Suite, choice: Choice) -> tuple[Case, ...]:
    """The chosen cases of a suite, in suite order. Raises InputError for an id or a tag that no case has."""
    _check_choice([suite], choice)
    return _chosen(suite, choice)


def _check_choice(suites: Sequence[Suite], choice: Choice) -> None:
    cases = [case for suite in suites for case in suite.cases]
    _check_known(choice.cases, {case.id for case in cases}, "case", suites)
    _check_known(choice.tags, {tag for case in cases for tag in case.tags}, "tag", suites)
    if choice.limit is not None and choice.limit < 1:
        raise InputError("must be at least 1", field="--limit", found=choice.limit)


def _check_known(asked: tuple[str, ...], known: set[str], what: str, suites: Sequence[Suite]) -> None:
    for name in asked:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f"Did you mean `{near[0]}`?" if near else None
            where = " or ".join(suite.name for suite in suites)
            raise InputError(f"no such {what} in suite {where}", field=f"--{what}", found=name, hint=hint)


def _chosen(suite: Suite, choice: Choice) -> tuple[Case, ...]:
    chosen = [
        case
        for case in suite.cases
        if (not choice.cases or case.id in choice.cases) and (not choice.tags or set(choice.tags) & set(case.tags))
    ]
    return tuple(chosen[: choice.limit])


def experiments_of(config: RunConfig) -> tuple[Settings, ...]:
    """The settings of each experiment of a run: those it names, else the one that its own fields make."""
    base = settings_of(config)
    if not config.experiments:
        return (base,)
    return tuple(structs.replace(base, **read_experiment(name)) for name in config.experiments)


def plan_blocks(
    suites: Sequence[Suite], models: Iterable[ModelEntry], config: RunConfig, choice: Choice
) -> tuple[Block, ...]:
    """One block for each experiment, model and suite, labelled by its settings; `auto` is the main experiment.

    Cases that an experiment cannot measure (no call, under a forced choice) are not in its blocks. Raises InputError
    for an id or a tag that no case of any suite has, and where nothing is left to run in an experiment.
    """
    _check_choice(suites, choice)
    models = tuple(models)
    chosen = {suite.name: _chosen(suite, choice) for suite in suites}
    if not any(chosen.values()):
        raise InputError("nothing to run: no case matches", hint="Check --case, --tag and --limit")
    blocks: list[Block] = []
    for experiment in experiments_of(config):
        before = len(blocks)
        for model in models:
            for suite in suites:
                settings = settings_for(experiment, suite, model)
                cases = tuple(case.id for case in chosen[suite.name] if measurable(case, settings))
                if cases:
                    blocks.append(Block(suite.name, label_of(settings), model.label, cases, config.repeats, settings))
        if len(blocks) == before and models:
            _nothing_left(experiment)
    return tuple(blocks)


def _nothing_left(experiment: Settings) -> None:
    if experiment.routing is not None:
        raise InputError(
            "nothing to run: none of the chosen cases has a target that this decision is about",
            field="experiments",
            found=experiment.routing,
            hint="Give cases a `target`, or run the experiment `need`",
        )
    assert is_forced(experiment), "nothing else leaves cases out"
    wanted = "expects exactly one tool" if experiment.tool_choice == "named" else "wants a call"
    raise InputError(
        f"nothing to run: none of the chosen cases {wanted}",
        field="tool_choice",
        found=label_of(experiment),
        hint="Abstention and clarification cannot be measured under a forced choice; run them under `auto`",
    )


def choose_models(models: tuple[ModelEntry, ...], choice: Choice) -> tuple[ModelEntry, ...]:
    """The models whose label or model name was asked for. Raises InputError for a name that none has."""
    if not choice.models:
        return models
    for name in choice.models:
        if not any(name in {model.label, model.model} for model in models):
            known = ", ".join(model.label for model in models)
            raise InputError("no such model in this run", field="--model", found=name, expected=f"one of: {known}")
    return tuple(model for model in models if {model.label, model.model} & set(choice.models))


def make_manifest(
    *,
    run_id: str,
    created_at: str,
    environment: Environment,
    suites: Sequence[Suite],
    models: Sequence[ModelEntry],
    blocks: tuple[Block, ...],
    config: RunConfig,
    facts: Mapping[str, dict[str, Any]] | None = None,
) -> Manifest:
    """Everything about a run that is fixed before its first call. `facts` are about embedded models, by label; what
    the catalogue says of a ready model joins them.

    Raises InputError where the blocks would mix what must stay apart (`experiments.check_plan`).
    """
    by_name = {suite.name: suite for suite in suites}
    by_label = {model.label: model for model in models}
    check_plan(blocks, by_name, by_label)
    used = {block.suite for block in blocks}
    return Manifest(
        schema="callscope/manifest/1",
        run_id=run_id,
        created_at=created_at,
        callscope=environment.version,
        runner_commit=environment.commit,
        runtime=environment.runtime,
        libraries=environment.libraries,
        environment=environment.overrides,
        dataset_version=config.dataset_version or "; ".join(f"{s.name} {s.version}" for s in suites if s.name in used),
        concurrency=config.concurrency,
        attempts=config.attempts,
        budgets=config.budgets,
        suites=tuple(
            SuiteRef(suite.name, suite.version, suite.kind, suite.files, len(suite.cases))
            for suite in suites
            if suite.name in used
        ),
        models=tuple(
            ModelRef(model, (), {**catalogue_facts(model), **(facts or {}).get(model.label, {})})
            for model in models
            if any(block.model == model.label for block in blocks)
        ),
        plan=blocks,
        sent=tuple(_sent(blocks, by_name, by_label)),
        pacing=_pacing(config, models),
    )


def _pacing(config: RunConfig, models: Sequence[ModelEntry]) -> dict[str, Pacing]:
    """How the chosen models' accounts are paced, by label. Raises InputError where entries contradict each other."""
    chosen = {model.label for model in models}
    written = zip(resolve_models(config.models), config.models, strict=True)
    pacing = {entry.label: Pacing(own.limits, own.concurrency) for entry, own in written if entry.label in chosen}
    pacing_by_account(models, pacing)
    return {label: own for label, own in pacing.items() if own != Pacing()}


def _sent(
    blocks: tuple[Block, ...], suites: Mapping[str, Suite], models: Mapping[str, ModelEntry]
) -> Iterable[SentHashes]:
    for block in blocks:
        suite, entry = suites[block.suite], models[block.model]
        chosen = set(block.cases)
        first_with: dict[tuple[tuple[str, ...] | None, bool], Case] = {}
        for case in suite.cases:
            if case.id in chosen:
                asked = asked_under(case, block.settings.routing)
                first_with.setdefault((asked.tools, bool(asked.own_tools)), asked)
        for case in first_with.values():
            yield sent_hashes(get_adapter(entry.api), entry, suite, case, block)


def differences(existing: Manifest, wanted: Manifest) -> list[str]:
    """What in `wanted` is not what a run folder was made with, in words; empty where the run may go on.

    Budgets, concurrency, prices, the name of a key's variable and facts about the machine may change between sittings;
    suites, models and plan may not.
    """
    found = []
    before, now = ({ref.name: ref.files for ref in m.suites} for m in (existing, wanted))
    if before != now:
        found.append("the suites' files")
    elif {ref.name: ref.version for ref in existing.suites} != {ref.name: ref.version for ref in wanted.suites}:
        found.append("the suites' versions")
    entries_before, entries_now = ([_identity(ref.entry) for ref in m.models] for m in (existing, wanted))
    if entries_before != entries_now:
        found.append("the models")
    if sha256_hex(plan_bytes(existing.plan)) != sha256_hex(plan_bytes(wanted.plan)):
        found.append("the plan (cases, repeats or settings)")
    return found


def _identity(entry: ModelEntry) -> bytes:
    return canonical(msgspec.to_builtins(structs.replace(entry, prices={}, api_key_env=None)))
