"""`callscope run`: from a configuration, or none, to a run folder with its report."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from callscope.cli._console import out, put, say
from callscope.cli._progress import RunDisplay
from callscope.errors import InputError

__all__ = ["run"]


def run(
    config: Path | None = None,
    *,
    suite: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    model: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    out: Path | None = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    limit: int | None = None,
    case: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    tag: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    repeats: int | None = None,
    concurrency: int | None = None,
    experiment: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    full: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Run suites against models. The help text stands in `callscope.cli`.

    Parameters
    ----------
    config:
        TOML, YAML or JSON, snake_case or camelCase. See docs/running.md.
    suite:
        A bundled suite's name or a suite folder; may be given several times. Replaces the configuration's suites.
    model:
        With CONFIG: run only the models of this label. Without: the models to run, as provider/model.
    out:
        The run folder (default: results/<time>). One that holds the same run is gone on with.
    resume:
        Go on in the folder that --out names; without CONFIG, with exactly what that run was made with.
    limit:
        At most this many cases of each suite, the first ones.
    case:
        Only the case of this id; may be given several times.
    tag:
        Only cases with this tag; may be given several times.
    repeats:
        How often each case is tried; replaces the configuration's.
    concurrency:
        How many trials are held at once; replaces the configuration's.
    experiment:
        auto, required, named, none, strict, parallel-off, stream, or several joined by +; or a routing decision: need,
        target, arguments. May be given several times.
        Replaces what the configuration says of experiments, tool choice, parallel calls and strict mode.
    full:
        Embedded default only: run all cases with all repeats, however long it takes.
    json:
        Print summary.json on stdout instead of the tables.
    """
    from callscope import api
    from callscope.capture.experiments import plan_notices
    from callscope.capture.plan import Choice, notices

    if limit is not None and limit < 1:
        raise InputError("must be at least 1", field="--limit", found=limit)
    choice = Choice(cases=case, tags=tag, models=model if config is not None else (), limit=limit)
    if config is None and out is not None and (out / "manifest.json").exists():
        manifest, suites = _recorded(out)
    elif config is None and not model:
        from callscope.cli._embedded_default import prepare_default

        manifest, suites = prepare_default(suite, choice, full=full, repeats=repeats)
    else:
        manifest, suites = _configured(config, suite, model, choice, repeats, concurrency, experiment)
        for notice in (*plan_notices(manifest.plan), *notices(manifest)):
            say(f"Note: {notice}")
    _warn_of_faults(suites, {block.suite: set(block.cases) for block in manifest.plan})
    target = api.choose_folder(manifest, out, resume=resume)
    try:
        with RunDisplay() as display:
            finished = asyncio.run(api.run_manifest(manifest, suites, out=target, on_progress=display))
    except KeyboardInterrupt:
        say(f"\nInterrupted. Every finished trial is recorded; go on with: {_resume(target)}")
        _report_so_far(target)
        return 130
    return _present(finished, as_json=json)


def _report_so_far(folder: Path) -> None:
    """Derive what an interrupted run has recorded, so that it can be looked at; a second interrupt skips it."""
    from callscope.runs import open_run

    try:
        run = open_run(folder)
        say(f"Report so far: {run.write_html(summary=run.derive()).resolve().as_uri()}")
    except KeyboardInterrupt:
        say(f"Not derived; `callscope replay {folder}` does it")


def _warn_of_faults(suites: tuple[Any, ...], chosen: dict[str, set[str]]) -> None:
    """Say before any call which chosen cases no model can pass, by lint's errors."""
    from callscope.suites import lint_suite

    for suite in suites:
        errors = [one for one in lint_suite(suite) if one.severity == "error"]
        errors = [one for one in errors if one.case_id is None or one.case_id in chosen.get(suite.name, set())]
        if errors:
            first = f"{errors[0].file}:{errors[0].line}: {errors[0].message} [{errors[0].rule}]"
            say(f"Suite {suite.name} has {len(errors)} faults (see callscope lint), the first: {first}")


def _resume(folder: Path) -> str:
    return f"callscope run --resume --out {folder}"


def _recorded(folder: Path) -> Any:
    from callscope.capture.folder import RunFolder

    opened = RunFolder.open(folder)
    if any(ref.entry.provider == "recorded" for ref in opened.manifest.models):
        hint = "Import it again with its files whole: callscope import BENCHMARK DIR --results DIR --out NEW"
        raise InputError("is a run of recorded answers, and nothing of it can be asked again", file=folder, hint=hint)
    say(f"Going on with {folder}: {opened.planned()} trials planned.")
    return opened.manifest, tuple(opened.suites.values())


def _configured(
    config: Path | None,
    suite_names: tuple[str, ...],
    model_names: tuple[str, ...],
    choice: Any,
    repeats: int | None,
    concurrency: int | None,
    experiments: tuple[str, ...],
) -> Any:
    from msgspec import structs

    from callscope import api
    from callscope.capture.config import RunConfig, load_config
    from callscope.capture.experiments import check_experiments

    if config is not None:
        settings = load_config(config)
        base = config.parent
    else:
        settings, base = RunConfig(models=api.model_configs(model_names)), Path()
    given: dict[str, Any] = {}
    if repeats is not None:
        given["repeats"] = _at_least_one("--repeats", repeats)
    if concurrency is not None:
        given["concurrency"] = _at_least_one("--concurrency", concurrency)
    if experiments:
        check_experiments(experiments, "--experiment")
        given |= {"experiments": experiments, "tool_choice": "auto", "parallel": None, "strict": None}
    settings = structs.replace(settings, **given)
    suites = api.load_suites(suite_names or settings.suites, base=base, config=settings)
    return api.prepare(suites, settings, choice=choice, file=config), suites


def _at_least_one(field: str, value: int) -> int:
    if value < 1:
        raise InputError("must be at least 1", field=field, found=value)
    return value


def _present(finished: Any, *, as_json: bool) -> int:
    from callscope.reports import summary_tables

    summary = finished.summary()
    if as_json:
        put(summary.to_bytes())
    else:
        console = out()
        for table in summary_tables(summary.data, width=console.width):
            console.print(table)
    say(f"Run folder: {finished.path}")
    say(f"Report:     {(finished.path / 'report.html').resolve().as_uri()}")
    if finished.manifest.status == "gave_up":
        say(f"Not all trials were held: a provider let nobody in. When mended, go on: {_resume(finished.path)}")
        return 2
    if finished.manifest.status == "budget_spent":
        say(f"The budget is spent before all trials were held; with a larger one, go on: {_resume(finished.path)}")
        return 3
    return 0
