"""The Python face: run suites against models, read one response, judge one outcome. Async once; `run` wraps `arun`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import structs

from callscope.capture.attempts import Policy
from callscope.capture.config import ModelConfig, RunConfig, check_config
from callscope.capture.environment import read_environment, say_ignored
from callscope.capture.folder import RunFolder, new_folder
from callscope.capture.keys import Keyring, check_credentials
from callscope.capture.plan import (
    Choice,
    choose_models,
    differences,
    make_manifest,
    plan_blocks,
    resolve_models,
)
from callscope.capture.proxies import Proxies
from callscope.capture.runner import Endpoints, Progress, RemoteEndpoints, capture
from callscope.capture.transport import AiohttpTransport, Transport
from callscope.contract import Block, Budgets, Manifest, Outcome, Suite
from callscope.errors import InputError, RunFolderError
from callscope.providers import get_adapter
from callscope.runs import Run, open_run
from callscope.suites import load_suite

__all__ = ["arun", "choose_folder", "load_suites", "model_configs", "normalize", "prepare", "run", "run_manifest"]

HERE = Path()
"""The folder that relative names are looked up in where no configuration file gives one."""

Suites = Suite | str | Path | Sequence[Suite | str | Path]
Models = Sequence[str | ModelConfig | Mapping[str, Any]]


def normalize(
    api: str,
    *,
    body: bytes,
    status: int = 200,
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    stream: bool = False,
) -> Outcome:
    """The canonical outcome of one raw response under the wire format `api`.

    Never raises for what the bytes hold; InputError for an unknown `api`.
    """
    pairs = tuple(headers.items()) if isinstance(headers, Mapping) else tuple(headers)
    return get_adapter(api).parse(status, pairs, body, stream=stream).outcome


def _suites(suites: Suites) -> tuple[Suite, ...]:
    many = [suites] if isinstance(suites, (Suite, str, Path)) else list(suites)
    return tuple(one if isinstance(one, Suite) else load_suite(one) for one in many)


def load_suites(names: Sequence[str], *, base: Path, config: RunConfig) -> tuple[Suite, ...]:
    """The suites of a configuration in the folder `base`: those named, else its `fixtures`, else `fixtures/` beside it,
    else the bundled support suite. A suite that states no version takes the configuration's `dataset_version`.

    Raises InputError where a suite cannot be loaded, two share a name, or its version contradicts the configuration.
    """
    places: list[str | Path] = [*names] or ([config.fixtures] if config.fixtures else [])
    if not places:
        places = [base / "fixtures"] if (base / "fixtures" / "cases.jsonl").exists() else ["support"]
    suites = tuple(load_suite(_place(place, base), version=config.dataset_version) for place in places)
    for suite in suites:
        if [one.name for one in suites].count(suite.name) > 1:
            raise InputError(
                "two suites share a name", field="suites", found=suite.name, hint="Set `name` in suite.toml"
            )
        if len(suites) == 1 and config.dataset_version not in {None, suite.version}:
            raise InputError(
                f"is not the version of suite {suite.name}",
                field="dataset_version",
                found=config.dataset_version,
                expected=suite.version,
            )
    return suites


def _place(place: str | Path, base: Path) -> str | Path:
    beside = base / place
    return beside if beside.is_dir() else place


def model_configs(models: Models) -> tuple[ModelConfig, ...]:
    """Model entries as a configuration holds them, from "provider/model" texts or tables. Raises InputError."""
    made = []
    for place, model in enumerate(models):
        if isinstance(model, ModelConfig):
            made.append(model)
        elif isinstance(model, str):
            provider, slash, name = model.partition("/")
            if not slash or not name:
                raise InputError("is no model", field=f"models[{place}]", found=model, expected="provider/model")
            made.append(ModelConfig(provider=provider, model=name))
        else:
            try:
                made.append(msgspec.convert(dict(model), ModelConfig))
            except msgspec.ValidationError as error:
                raise InputError(str(error), field=f"models[{place}]") from None
    return tuple(made)


def prepare(
    suites: Sequence[Suite],
    config: RunConfig,
    *,
    choice: Choice | None = None,
    blocks: tuple[Block, ...] | None = None,
    facts: Mapping[str, dict[str, Any]] | None = None,
    file: Path | None = None,
) -> Manifest:
    """The manifest of a run: everything fixed, nothing called. `blocks` replaces the plain plan.

    `file` is the configuration's, for messages. Raises InputError for anything that cannot be run as asked.
    """
    choice = choice or Choice()
    try:
        models = choose_models(resolve_models(config.models), choice)
        Keyring(models, os.environ)
    except InputError as error:
        raise error.at(file=file) from None
    now, environment = datetime.now(UTC), read_environment()
    say_ignored(environment)
    return make_manifest(
        run_id=now.strftime("%Y-%m-%dT%H-%M-%SZ"),
        created_at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        environment=environment,
        suites=suites,
        models=models,
        blocks=blocks if blocks is not None else plan_blocks(suites, models, config, choice),
        config=config,
        facts=facts,
    )


def choose_folder(manifest: Manifest, out: Path | None, *, resume: bool = False) -> Path:
    """The run folder: `out`, or a new one under `results/` named by the run's time. Makes nothing."""
    if out is not None:
        return out
    if resume:
        raise InputError("names no run folder", field="--resume", hint="Say which one with `--out DIR`")
    return new_folder(manifest.run_id)


def _folder(manifest: Manifest, suites: Sequence[Suite], out: Path) -> RunFolder:
    """The folder of the run: made new, or opened where it holds the same run. Raises RunFolderError."""
    if (out / "manifest.json").exists():
        folder = RunFolder.open(out)
        changed = differences(folder.manifest, manifest)
        if changed:
            raise RunFolderError(
                f"{out}: holds a run that differs from what is asked in {' and '.join(changed)}. "
                "Use another --out for a new run"
            )
        folder.manifest = structs.replace(
            folder.manifest,
            budgets=manifest.budgets,
            concurrency=manifest.concurrency,
            attempts=manifest.attempts,
            pacing=manifest.pacing,
            status="running",
        )
        return folder
    if out.exists() and not out.is_dir():
        raise RunFolderError(f"{out}: is a file, not a run folder")
    if out.is_dir() and any(name.name not in {"blobs", ".lock"} for name in out.iterdir()):
        raise RunFolderError(f"{out}: is not empty and holds no run. Use another --out")
    return RunFolder.create(out, manifest, {suite.name: suite.sources for suite in suites})


async def run_manifest(
    manifest: Manifest,
    suites: Sequence[Suite],
    *,
    out: Path,
    endpoints: Endpoints | None = None,
    transport: Transport | None = None,
    policy: Policy | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Carry out a prepared manifest: capture, then the same derive that a replay calls, then summary and report."""
    entries = [ref.entry for ref in manifest.models]
    proxies = Proxies.read(os.environ)
    for address in {entry.base_url for entry in entries if entry.base_url}:
        proxies.for_url(address)  # a proxy that cannot be used is refused here, before any call
    keyring = Keyring(entries, os.environ, proxies.secrets)
    if keyring.redactor.knows(msgspec.json.encode(manifest)):
        hint = "Leave it out: the key is read from the variable that `api_key_env` names"
        raise InputError("a key's value stands in a model entry or setting", field="models", hint=hint)
    for entry in entries:
        check_credentials(entry, keyring)
    used = [suite for suite in suites if any(ref.name == suite.name for ref in manifest.suites)]
    async with AsyncExitStack() as stack:
        if endpoints is None:
            endpoints, manifest = await _endpoints(stack, manifest, keyring)
        folder = _folder(manifest, used, out)
        if transport is None:
            transport = await stack.enter_async_context(AiohttpTransport(proxies=proxies))
        await capture(
            folder,
            endpoints=endpoints,
            transport=transport,
            keyring=keyring,
            policy=policy,
            on_progress=on_progress,
        )
    finished = open_run(folder.path)
    finished.write_html(summary=finished.derive())
    return finished


async def _endpoints(stack: AsyncExitStack, manifest: Manifest, keyring: Keyring) -> tuple[Endpoints, Manifest]:
    """The endpoints of a run, and its manifest with the facts about its embedded models filled in."""
    embedded = [ref.entry for ref in manifest.models if ref.entry.embedded]
    if not embedded:
        return RemoteEndpoints(keyring), manifest
    from callscope.local import EmbeddedEndpoints

    endpoints = await stack.enter_async_context(EmbeddedEndpoints(RemoteEndpoints(keyring)))
    facts = await endpoints.prepare(embedded, {ref.entry.label: ref.facts for ref in manifest.models})
    models = tuple(structs.replace(ref, facts=facts.get(ref.entry.label, ref.facts)) for ref in manifest.models)
    return endpoints, structs.replace(manifest, models=models)


def _bounds(budgets: Budgets | Mapping[str, float] | None) -> Budgets | dict[str, float]:
    if isinstance(budgets, Budgets):
        return budgets
    for name in budgets or {}:
        if name not in Budgets.__struct_fields__:
            raise InputError("unknown field", field=f"budgets.{name}", expected=", ".join(Budgets.__struct_fields__))
    return dict(budgets or {})


async def arun(
    suite: Suites,
    *,
    models: Models,
    out: str | Path | None = None,
    cases: Sequence[str] = (),
    tags: Sequence[str] = (),
    limit: int | None = None,
    repeats: int = 5,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    seed: int | None = None,
    timeout_ms: int = 30_000,
    connect_timeout_ms: int | None = None,
    first_byte_timeout_ms: int | None = None,
    concurrency: int = 1,
    attempts: int = 4,
    tool_choice: Literal["auto", "required", "named", "none"] = "auto",
    parallel: bool | None = None,
    strict: bool | None = None,
    experiments: Sequence[str] = (),
    budgets: Budgets | Mapping[str, float] | None = None,
    dataset_version: str | None = None,
    name: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run one or more suites against models. `run` is the same from code that is not async, and explains each argument.

    Raises InputError for anything that cannot be run as asked.
    """
    suites = _suites(suite)
    settings = {
        "repeats": repeats,
        "temperature": temperature,
        "max_tokens": max_tokens,
        "seed": seed,
        "timeout_ms": timeout_ms,
        "connect_timeout_ms": connect_timeout_ms,
        "first_byte_timeout_ms": first_byte_timeout_ms,
        "concurrency": concurrency,
        "attempts": attempts,
        "tool_choice": tool_choice,
        "parallel": parallel,
        "strict": strict,
        "experiments": tuple(experiments),
        "dataset_version": dataset_version,
        "name": name,
    }
    try:
        config = msgspec.convert({"models": (), "budgets": _bounds(budgets), **settings}, RunConfig)
    except msgspec.ValidationError as error:
        raise InputError(str(error), field="settings") from None
    config = structs.replace(config, models=model_configs(models))
    check_config(config)
    manifest = prepare(suites, config, choice=Choice(cases=tuple(cases), tags=tuple(tags), limit=limit))
    target = choose_folder(manifest, None if out is None else Path(out))
    return await run_manifest(manifest, suites, out=target, on_progress=on_progress)


def run(
    suite: Suites,
    *,
    models: Models,
    out: str | Path | None = None,
    cases: Sequence[str] = (),
    tags: Sequence[str] = (),
    limit: int | None = None,
    repeats: int = 5,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    seed: int | None = None,
    timeout_ms: int = 30_000,
    connect_timeout_ms: int | None = None,
    first_byte_timeout_ms: int | None = None,
    concurrency: int = 1,
    attempts: int = 4,
    tool_choice: Literal["auto", "required", "named", "none"] = "auto",
    parallel: bool | None = None,
    strict: bool | None = None,
    experiments: Sequence[str] = (),
    budgets: Budgets | Mapping[str, float] | None = None,
    dataset_version: str | None = None,
    name: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run one or more suites against models: capture, derive, summary, report. `await arun(...)` is the async form.

    Args:
        suite: a suite, the name of a bundled one, a suite folder, or several of these.
        models: "provider/model" texts, or tables with the fields of a configuration's model entry.
        out: the run folder; default a new one under `results/`. One that holds the same run is gone on with.
        cases: only the cases of these ids.
        tags: only cases with any of these tags.
        limit: at most this many cases of each suite, the first ones.
        repeats: how often each case is put to each model.
        temperature: sent as given; None leaves it to the provider.
        max_tokens: bound on a reply; None leaves it to the provider.
        seed: sent where the wire format has one.
        timeout_ms: milliseconds for each attempt, whole.
        connect_timeout_ms: milliseconds until an attempt is connected; None: `timeout_ms` alone bounds it.
        first_byte_timeout_ms: milliseconds until an attempt's first byte; None: `timeout_ms` alone bounds it.
        concurrency: how many trials are held at once.
        attempts: how often one call is sent at most, where the provider asks for patience or the connection breaks.
        tool_choice: `auto`, `required`, `named` (each case's expected tool) or `none`. With `parallel`, `strict` and
            the models' `stream` it makes the experiment, which is labelled by them and never merged with another.
        parallel: whether several calls in one response are allowed; None leaves it to the provider.
        strict: whether the provider's strict schema mode is asked for; None leaves it to the provider.
        experiments: several to run in one go, in place of these three: `auto`, `required`, `strict`, `auto+stream`, …
        budgets: bounds on `calls`, `tokens`, `money` after which the run stops cleanly; without them it is unbounded.
        dataset_version: the version of suites whose files state none.
        name: a name for the run.
        on_progress: called after every trial.

    Returns the run, whatever the models answered. Raises InputError for anything that cannot be run as asked.
    """
    return asyncio.run(
        arun(
            suite,
            models=models,
            out=out,
            cases=cases,
            tags=tags,
            limit=limit,
            repeats=repeats,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
            timeout_ms=timeout_ms,
            connect_timeout_ms=connect_timeout_ms,
            first_byte_timeout_ms=first_byte_timeout_ms,
            concurrency=concurrency,
            attempts=attempts,
            tool_choice=tool_choice,
            parallel=parallel,
            strict=strict,
            experiments=experiments,
            budgets=budgets,
            dataset_version=dataset_version,
            name=name,
            on_progress=on_progress,
        )
    )
