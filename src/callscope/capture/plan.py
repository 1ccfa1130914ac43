"""The plan: from a configuration and loaded suites to a manifest in which everything is fixed before the first call.

Pure but for reading the versions of what is installed (`environment`). The plan is data; the runner only follows it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, structs

from callscope.canonical import canonical, sha256_hex
from callscope.capture.config import ModelConfig, RunConfig
from callscope.capture.environment import Environment
from callscope.capture.requests import plan_bytes, sent_hashes
from callscope.contract import (
    Block,
    Case,
    Manifest,
    ModelEntry,
    ModelRef,
    SentHashes,
    Settings,
    Suite,
    SuiteRef,
)
from callscope.errors import InputError
from callscope.providers import get_adapter
from callscope.providers.catalog import catalog

_SENDABLE = re.compile(r"[!-~]+")
"""What an address may hold: ASCII without white space; a name in other letters is written in its `xn--` form."""

__all__ = ["Choice", "choose_cases", "differences", "make_manifest", "plan_blocks", "resolve_models", "settings_of"]


class Choice(Struct, frozen=True):
    """Which part is run: case ids, tags (any of them), model labels, and at most `limit` cases a suite."""

    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    limit: int | None = None


def resolve_models(models: Sequence[ModelConfig]) -> tuple[ModelEntry, ...]:
    """Model entries with the catalogue's address, wire format and key variable filled in, and labels made unique.

    Raises InputError naming the entry where a provider is unknown and no address is given.
    """
    entries = [_resolve(model, f"models[{place}]") for place, model in enumerate(models)]
    seen: set[str] = set()
    for place, entry in enumerate(entries):
        if entry.label in seen:
            hint = "Give each entry its own `label`; it tells them apart in reports"
            raise InputError("two models share a label", field=f"models[{place}].label", found=entry.label, hint=hint)
        seen.add(entry.label)
    return tuple(entries)


def _resolve(model: ModelConfig, where: str) -> ModelEntry:
    known = catalog().get(model.provider)
    if known is None and model.base_url is None:
        near = difflib.get_close_matches(model.provider, catalog(), n=1)
        guess = f"Did you mean `{near[0]}`? " if near else ""
        hint = f"{guess}Known: {', '.join(catalog())}. Any OpenAI-compatible address works with `base_url`"
        raise InputError("unknown provider", field=f"{where}.provider", found=model.provider, hint=hint)
    api = model.api or (known.api if known else "openai-chat")
    try:
        get_adapter(api)
    except InputError as error:
        raise error.at(prefix=f"{where}.") from None
    base_url = known.base_url if known and model.base_url is None else model.base_url
    embedded = known is not None and known.embedded and model.base_url is None
    if base_url is None and not embedded:
        raise InputError("an address is needed", field=f"{where}.base_url", expected="http(s)://host/path")
    if base_url is not None:
        _check_url(base_url, f"{where}.base_url")
    key_env = model.api_key_env
    if key_env is None and known is not None and model.base_url is None:
        key_env = known.api_key_env
    variant = f" [{model.template}]" if model.template else ""
    return ModelEntry(
        label=model.label or f"{model.provider}/{model.model}{variant}",
        provider=model.provider,
        model=model.model,
        api=api,
        base_url=base_url,
        api_key_env=key_env,
        stream=model.stream,
        switches=model.switches,
        extra=model.extra,
        prices=_prices(model.prices, f"{where}.prices"),
        embedded=model.model if embedded else None,
        template=model.template,
        stand_in=model.stand_in,
    )


def _check_url(url: str, field: str) -> None:
    hint = "Keys come from the environment: `api_key_env`; an @ in a path is written %40"
    if "@" in url:
        raise InputError("holds a user or password", field=field, hint=hint)
    if "?" in url or "#" in url:
        raise InputError("holds a query or fragment", field=field, expected="http(s)://host/path", hint=hint)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise InputError(f"is no address: {error}", field=field, found=url) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not _SENDABLE.fullmatch(url):
        raise InputError("is no address", field=field, found=url, expected="http(s)://host/path")


def _prices(prices: Mapping[str, float], field: str) -> dict[str, float]:
    for name, value in prices.items():
        if name not in {"input", "output", "cached_input"}:
            raise InputError("unknown price", field=f"{field}.{name}", expected="input, output or cached_input")
        if not 0 <= value < float("inf"):
            raise InputError("is no price", field=f"{field}.{name}", found=value)
    return dict(prices)


def settings_of(config: RunConfig) -> Settings:
    """The settings that every block of a plain run shares."""
    return Settings(
        temperature=config.temperature,
        max_tokens=config.max_tokens,
        seed=config.seed,
        tool_choice=config.tool_choice,
        parallel=config.parallel,
        strict=config.strict,
        timeout_ms=config.timeout_ms,
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


def plan_blocks(
    suites: Sequence[Suite], models: Iterable[ModelEntry], config: RunConfig, choice: Choice
) -> tuple[Block, ...]:
    """One block a suite and model; the experiment is named by the tool choice, `auto` being the main one.

    Raises InputError for an id or a tag that no case of any suite has, and where nothing is left to run.
    """
    _check_choice(suites, choice)
    settings = settings_of(config)
    experiment = str(config.tool_choice)
    chosen = {suite.name: tuple(case.id for case in _chosen(suite, choice)) for suite in suites}
    blocks = tuple(
        Block(name, experiment, model.label, cases, config.repeats, settings)
        for model in models
        for name, cases in chosen.items()
        if cases
    )
    if not blocks:
        raise InputError("nothing to run: no case matches", hint="Check --case, --tag and --limit")
    return blocks


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
    """Everything about a run that is fixed before its first call. `facts` are about embedded models, by label."""
    by_name = {suite.name: suite for suite in suites}
    by_label = {model.label: model for model in models}
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
            ModelRef(model, (), dict((facts or {}).get(model.label, {})))
            for model in models
            if any(block.model == model.label for block in blocks)
        ),
        plan=blocks,
        sent=tuple(_sent(blocks, by_name, by_label)),
    )


def _sent(
    blocks: tuple[Block, ...], suites: Mapping[str, Suite], models: Mapping[str, ModelEntry]
) -> Iterable[SentHashes]:
    for block in blocks:
        suite, entry = suites[block.suite], models[block.model]
        chosen = set(block.cases)
        first_with: dict[tuple[str, ...] | None, Case] = {}
        for case in suite.cases:
            if case.id in chosen:
                first_with.setdefault(case.tools, case)
        for case in first_with.values():
            yield sent_hashes(get_adapter(entry.api), entry, suite, case, block)


def differences(existing: Manifest, wanted: Manifest) -> list[str]:
    """What in `wanted` is not what a run folder was made with, in words; empty where the run may go on.

    Budgets, concurrency and facts about the machine may change between sittings; suites, models and plan may not.
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
    return canonical(msgspec.to_builtins(structs.replace(entry, prices={})))
