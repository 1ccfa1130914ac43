"""`callscope probe`: the compatibility suite on one model, and what it found as a table and as JSON."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from callscope.cli._console import out as stdout
from callscope.cli._console import put, say
from callscope.errors import InputError

__all__ = ["probe"]

_STYLE = {"kept": "green", "ignored": "yellow", "rejected": "red", "undecided": "dim", "not_observed": "dim"}


def probe(
    model: str,
    /,
    *,
    config: Path | None = None,
    out: Path | None = None,
    strict: Literal["off", "on", "both"] = "off",
    only: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    repeats: int = 1,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Ask which JSON Schema keywords a model's provider accepts.

    Parameters
    ----------
    model:
        provider/model, as `local/qwen2.5-coder-0.5b`; with --config, the label of one of its models.
    config:
        A configuration whose model entry is used (address, key variable, switches).
    out:
        The run folder (default: results/<time>); one that holds the same probe is gone on with.
    strict:
        Whether tools are sent as strict: off, on, or both, each as an experiment of its own.
    only:
        Only the probe of this id (the control is always asked); may be given several times.
    repeats:
        How often each probe is asked; the gravest finding stands.
    json:
        Print the findings as JSON instead of a table.
    """
    from callscope import api
    from callscope.capture.folder import write_atomically
    from callscope.cli._progress import RunDisplay
    from callscope.jsontext import dump_faithful

    if repeats < 1:
        raise InputError("must be at least 1", field="--repeats", found=repeats)
    manifest, suite = _planned(model, config, only, strict, repeats)
    target = api.choose_folder(manifest, out)
    try:
        with RunDisplay() as display:
            run = asyncio.run(api.run_manifest(manifest, (suite,), out=target, on_progress=display))
    except KeyboardInterrupt:
        say(f"\nInterrupted. Go on with the same command and --out {target}")
        return 130
    found = _found(suite, run)
    write_atomically(run.path / "probe.json", dump_faithful(found, indent=2) + b"\n")
    if json:
        put(dump_faithful(found, indent=2) + b"\n")
    else:
        _print(found)
    say(f"Run folder: {run.path} (probe.json holds the findings)")
    return 0


def _planned(
    model: str, config: Path | None, only: tuple[str, ...], strict: Literal["off", "on", "both"], repeats: int
) -> Any:
    from msgspec import structs

    from callscope import api
    from callscope.capture.config import RunConfig, load_config
    from callscope.capture.experiments import label_of, settings_for
    from callscope.capture.plan import Choice, settings_of
    from callscope.contract import Block
    from callscope.probe import CONTROL, PROBES, compatibility_suite

    known = {one.id for one in PROBES}
    unknown = sorted(set(only) - known)
    if unknown:
        raise InputError("no such probe", field="--only", found=unknown[0], expected=", ".join(sorted(known)))
    if config is None:
        settings = RunConfig(models=api.model_configs([model]), max_tokens=200, timeout_ms=120_000)
        choice = Choice()
    else:
        settings, choice = load_config(config), Choice(models=(model,))
    suite = compatibility_suite(one for one in PROBES if not only or one.id in {CONTROL, *only})
    # What is probed is the provider: schemas go out as they are, under one free choice.
    settings = structs.replace(
        settings,
        models=tuple(structs.replace(each, schema_fallback=()) for each in settings.models),
        repeats=repeats,
        tool_choice="auto",
        strict=None,
        experiments=(),
    )
    entry = api.prepare([suite], settings, choice=choice, file=config).models[0].entry
    cases = tuple(case.id for case in suite.cases)
    modes = {"off": (None,), "on": (True,), "both": (None, True)}[strict]
    chosen = [settings_for(structs.replace(settings_of(settings), strict=mode), suite, entry) for mode in modes]
    blocks = tuple(Block(suite.name, label_of(one), entry.label, cases, repeats, one) for one in chosen)
    return api.prepare([suite], settings, choice=choice, blocks=blocks, file=config), suite


def _found(suite: Any, run: Any) -> dict[str, Any]:
    import msgspec

    from callscope.probe import fallback_lines, probe_results, suggestions

    results = probe_results(suite, run.derived())
    suggested = suggestions(results)
    return {
        "schema": "callscope/probe/1",
        "run_id": run.manifest.run_id,
        "suite": f"{suite.name} {suite.version}",
        "results": msgspec.to_builtins(results),
        "suggestions": suggested,
        "schema_fallback": fallback_lines(suggested),
    }


def _print(found: dict[str, Any]) -> None:
    console = stdout()
    table = Table(title=None, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("keyword", "probe", "experiment", "finding", "evidence"):
        table.add_column(name, overflow="fold", no_wrap=name == "finding")
    for one in found["results"]:
        table.add_row(
            Text(one["keyword"]),
            Text(one["id"]),
            Text(one["experiment"]),
            Text(one["finding"], style=_STYLE[one["finding"]]),
            Text(_printable(one["evidence"])),
        )
    console.print(table)
    if found["suggestions"]:
        console.print(Text("\nSuggested"))
        for one in found["suggestions"]:
            console.print(Text(f"  {one['keyword']} ({one['finding']}, {one['experiment']}): {one['action']}"))
    for one in found["schema_fallback"]:
        where = f"{_printable(one['model'])} under {one['experiment']}"
        if one["line"]:
            console.print(Text(f"\nIn the entry of {where}; runs then say that the models saw weaker schemas:"))
            console.print(Text(f"  {one['line']}"), soft_wrap=True)
        if one["left"]:
            console.print(Text(f"\n{where}: no rule helps {', '.join(one['left'])}; change the tools"))


def _printable(text: str) -> str:
    from callscope.reports.safe import one_line

    return one_line(text, 120)
