"""`callscope judge`: put what the rules left open to a judge, and apply what it rules to the run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from callscope.cli._console import out, put, say
from callscope.errors import InputError

__all__ = ["judge"]


def judge(
    run: Path,
    /,
    *,
    model: str | None = None,
    config: Path | None = None,
    rules: Annotated[bool, Parameter(negative="")] = False,
    off: Annotated[bool, Parameter(negative="")] = False,
    name: str | None = None,
    open: Literal["text", "declared"] | None = None,  # noqa: A002 - the option's name
    all: Annotated[bool, Parameter(negative="")] = False,  # noqa: A002 - likewise
    limit: int | None = None,
    concurrency: int | None = None,
    budget_calls: int | None = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    resume: Annotated[bool, Parameter(negative="")] = False,  # noqa: ARG001 - a judge goes on without being told
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Put what the rules left open in a run to a judge.

    Parameters
    ----------
    run:
        The run folder.
    model:
        The judge, as provider/model (`local/qwen2.5-coder-1.5b`); with --config, the label of one of its models.
    config:
        A configuration whose model entry, bounds and sampling are used.
    rules:
        The judge made of rules: dates, units, numbers, names. It makes no call.
    off:
        Return to the rules of scoring alone. The judge's calls are kept.
    name:
        The name of the judge's folder in RUN/judge (default: by the model). One that is there is gone on with.
    open:
        declared: only arguments that a case declares free_text. text: free strings too. Default: declared for a suite
        that was imported from a benchmark, else text.
    all:
        Ask also where no ruling can change what the trial is; the evidence then holds every argument's ruling.
    limit:
        At most this many questions; the sentinels are always asked.
    concurrency:
        How many calls are in flight at once.
    budget_calls:
        Stop a round cleanly after so many calls; what was answered is kept.
    dry_run:
        Print how much would be asked, and what it would cost about where the model's entry has prices; ask nothing.
    resume:
        Go on with what was stopped. This is the default.
    json:
        Print what was found as JSON on stdout instead of tables.
    """
    from callscope import judging
    from callscope.judge.docket import Scope

    for field, value in (("--limit", limit), ("--concurrency", concurrency), ("--budget-calls", budget_calls)):
        if value is not None and value < 1:
            raise InputError("must be at least 1", field=field, found=value)
    ways = [field for field, is_given in (("--rules", rules), ("--off", off), ("--model", model or config)) if is_given]
    if len(ways) != 1:
        hint = "Name a judge with --model or --config, or give --rules, or --off"
        raise InputError("exactly one judge is needed", found=" and ".join(ways) or "none", hint=hint)
    for field, given in (
        ("--name", name),
        ("--concurrency", concurrency),
        ("--budget-calls", budget_calls),
        ("--dry-run", dry_run or None),
    ):
        if given is not None and (rules or off):
            raise InputError(f"says nothing beside {ways[0]}, which makes no call", field=field, found=given)
    if off:
        was = judging.set_aside(run)
        if json:
            _put({"schema": "callscope/judge-result/1", "status": "off", "judge": was})
        say(f"{run}: by the rules alone" + (f"; the judge {was} no longer applies" if was else ", as before"))
        return 0
    scope = Scope(open, all, limit)
    if rules:
        result = judging.apply_rules(run, scope)
    else:
        settings = judging.judge_config(
            _configured(model, config, concurrency, budget_calls), stated=config is not None
        )
        _note_self(run, settings)
        if dry_run:
            planned = judging.plan_judge(run, settings, name=name, scope=scope)
            if isinstance(planned, judging.Stopped):
                return _stopped(planned, run, scope, as_json=json)
            return _planned(planned, run, as_json=json)
        try:
            result = _ask(run, settings, name, scope)
        except KeyboardInterrupt:
            say("\nInterrupted. Every answered call is kept, and nothing applies yet; the same command goes on.")
            return 130
    if isinstance(result, judging.Stopped):
        return _stopped(result, run, scope, as_json=json)
    return _present(result, run, as_json=json)


def _configured(model: str | None, config: Path | None, concurrency: int | None, budget_calls: int | None) -> Any:
    from msgspec import structs

    from callscope import api
    from callscope.capture.config import RunConfig, check_config, load_config

    if config is None:
        settings = RunConfig(models=api.model_configs([_known(model or "")]))
    else:
        settings = load_config(config)
        if model is not None:
            chosen = tuple(m for m in settings.models if model in {m.label, m.model, f"{m.provider}/{m.model}"})
            if not chosen:
                known = ", ".join(m.label or f"{m.provider}/{m.model}" for m in settings.models)
                raise InputError("no such model", file=config, field="--model", found=model, expected=known)
            settings = structs.replace(settings, models=chosen)
    if concurrency is not None:
        settings = structs.replace(settings, concurrency=concurrency)
    if budget_calls is not None:
        settings = structs.replace(settings, budgets=structs.replace(settings.budgets, calls=budget_calls))
    check_config(settings)
    return settings


def _known(model: str) -> str:
    """A model that --model alone can name. Raises InputError where its provider is none of the catalogue."""
    from callscope.providers.catalog import catalog

    provider, slash, _ = model.partition("/")
    if slash and provider not in catalog():
        raise InputError(
            "names a provider that callscope does not know",
            field="--model",
            found=model,
            expected=f"one of {', '.join(catalog())}",
            hint="For an address of your own write its model entry, with `base_url`, into a file and give --config FILE"
            " (docs/guides/calibrate-a-judge.md shows a whole one)",
        )
    return model


def _note_self(run: Path, settings: Any) -> None:
    """Say where the judge is one of the models it judges: models tend to favour their own words."""
    from callscope.runs import open_run

    (judge,) = settings.models
    for ref in open_run(run).manifest.models:
        if (ref.entry.provider, ref.entry.model) == (judge.provider, judge.model):
            say(f"Note: {ref.entry.label} is judged by itself; a judge of another family is the better evidence.")


def _ask(run: Path, settings: Any, name: str | None, scope: Any) -> Any:
    from callscope import judging
    from callscope.cli._progress import RunDisplay
    from callscope.judge.words import asks

    def plan(what: judging.Plan) -> None:
        if what.calls:
            say(asks(what))

    async def ask() -> Any:
        with RunDisplay() as display:
            return await judging.ask_judge(run, settings, name=name, scope=scope, on_plan=plan, on_progress=display)

    return asyncio.run(ask())


def _planned(plan: Any, run: Path, *, as_json: bool) -> int:
    """Print a plan; nothing was asked."""
    from callscope.judge.words import plan_words

    if as_json:
        _put(
            {
                "schema": "callscope/judge-result/1",
                "status": "planned",
                "arguments": plan.arguments,
                "questions": plan.questions,
                "sentinels": plan.sentinels,
                "calls": plan.calls,
                "tokens_about": plan.tokens._asdict(),
                "cost_about": plan.cost,
            }
        )
        return 0
    out().print(Text("\n".join([*plan_words(str(run), plan), "Nothing was asked."])))
    return 0


def _stopped(result: Any, run: Path, scope: Any, *, as_json: bool) -> int:
    from callscope.judge.words import nothing_open_words

    if as_json:
        looked = (
            {
                "trials": result.docket.trials,
                "differing": result.docket.differing,
                "closed": dict(result.docket.closed),
                "settled": result.docket.settled,
            }
            if result.status == "nothing_open"
            else {}
        )
        _put({"schema": "callscope/judge-result/1", "status": result.status, "judge": result.name, **looked})
    if result.status == "nothing_open":
        for line in nothing_open_words(str(run), result.docket, scope.open, imported=_holds_imports(run)):
            say(line)
        return 0
    if result.status == "budget_spent":
        say(
            "The budget is spent before every question was answered; nothing new applies yet, and what was answered is"
            " kept. The same command with a larger budget goes on: a round's budget counts all its calls."
        )
        return 3
    say("Not every question was put: the provider let nobody in. When mended, the same command goes on.")
    return 2


def _holds_imports(run: Path) -> bool:
    from callscope.runs import open_run

    return any(suite.benchmark is not None for suite in open_run(run).suites.values())


def _present(result: Any, run: Path, *, as_json: bool) -> int:
    import msgspec

    file, docket = result.file, result.docket
    if as_json:
        found = {
            "schema": "callscope/judge-result/1",
            "status": "applied",
            **msgspec.to_builtins(file),
            "believed": file.calibration.believed,
            "settled": docket.settled,
            "beyond_limit": docket.beyond,
            "changes": msgspec.to_builtins(result.changes),
        }
        _put(found | {"schema": "callscope/judge-result/1"})
    else:
        _print(result)
    if not file.calibration.believed:
        say(
            f"\nTHIS JUDGE IS NOT BELIEVED: {', '.join(file.calibration.failures)}. All its rulings are undecided, and"
            f" so are the trials that rest on them. `callscope judge {run} --off` returns to the rules alone."
        )
        if file.calibration.certain and file.counts.not_observed:
            say("It had failed for certain before every question was put, and was asked no further.")
        if "unreadable" in file.calibration.failures:
            _say_unreadable(run, file.applied)
        return 5
    _say_undecided(file.counts)
    say(f"\nVerdicts, summary and report of {run} are by the judge {file.judge}; --off returns to the rules alone.")
    return 0


def _say_unreadable(run: Path, name: str) -> None:
    """Show one answer that could not be read, and where the others are."""
    from callscope.judge.applied import judge_folder, rounds_of, unreadable_example
    from callscope.judge.words import unreadable_words
    from callscope.reports.safe import one_line

    example = unreadable_example(rounds_of(judge_folder(run, name)))
    if example is not None:
        folder = run / "judge" / name / example.round.name
        say("\n" + "\n".join(unreadable_words(str(folder), example.why, one_line(example.answer))))


def _say_undecided(counts: Any) -> None:
    """Say how much a judge that is believed left open, and why."""
    left = counts.judge_failure + counts.not_observed
    if counts.order_decides:
        say(
            f"\nPOSITION-BIASED ON THE QUESTIONS OF THIS RUN: {counts.flips} of {counts.questions} changed with the"
            " order, though its sentinels hold. Third calls are chance here and decide none of them."
        )
    if left:
        say(
            f"\n{left} of {counts.questions} questions are undecided, and so are the trials that rest on them; they are"
            " in no rate of passes."
        )
    if counts.not_observed:
        say(f"{counts.not_observed} of them have an unanswered call; the same command asks those again.")


def _put(value: Any) -> None:
    from callscope.jsontext import dump_faithful

    put(dump_faithful(value, indent=2) + b"\n")


def _print(result: Any) -> None:
    file, docket, console = result.file, result.docket, out()
    counts = file.counts
    console.print(Text(f"Judge {file.judge} ({file.kind})"))
    trials, questions = len(docket.before), counts.questions
    lines = [
        f"  {counts.arguments} open arguments in {trials} trials, {questions} questions, {counts.calls} answers",
        f"  {counts.agreed} agreed in both orders, {counts.third_call} decided by a third call",
        f"  {counts.judge_failure} judge failures, {counts.not_observed} not observed",
        f"  {counts.flips} of {questions} questions changed with the order, {counts.unreadable} answers unreadable",
    ]
    if docket.settled:
        lines.append(f"  {docket.settled} trials were not asked about: no ruling changes what they are (--all asks)")
    if docket.beyond:
        lines.append(f"  {docket.beyond} open arguments stay as the rules had them (--limit)")
    console.print(Text("\n".join(lines)))
    console.print(Text("\nSentinels"))
    console.print(_checks(file.calibration))
    console.print(_kinds(file.calibration))
    console.print(Text("\nAgainst the rules alone"))
    console.print(_changes(result.changes))


def _table(*columns: str) -> Table:
    table = Table(title=None, box=None, pad_edge=True, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="right" if column in {"right", "wrong", "undecided", "trials"} else "left")
    return table


def _checks(calibration: Any) -> Table:
    table = _table("check", "seen", "95 % bound", "limit", "result")
    for check in calibration.checks:
        result = Text("kept", "green") if check.passed else Text(check.named if check.k else "too few seen", "red")
        table.add_row(check.name, f"{check.k} of {check.n}", f"{check.upper:.3f}", f"{check.limit:.2f}", result)
    return table


def _kinds(calibration: Any) -> Table:
    table = _table("kind", "right", "wrong", "undecided")
    for kind in calibration.kinds:
        table.add_row(kind.kind, str(kind.right), str(kind.wrong), str(kind.undecided))
    return table


def _changes(changes: Any) -> Table:
    words = {True: "passed", False: "failed", None: "undecided"}
    table = _table("by the rules", "with the judge", "trials")
    for one in changes:
        before, after = f"{one.before} ({words[one.passed_before]})", f"{one.after} ({words[one.passed_after]})"
        table.add_row(Text(before), Text(after), Text(str(one.trials), "bold" if before != after else ""))
    return table
