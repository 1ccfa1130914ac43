"""Asking a judge about a run: its calls are a run like any other, below the judged one; then its rulings apply.

Judging goes in rounds, each a run folder. The first asks every question in both orders, sentinels among them; the next
asks once more where the orders disagreed. What was asked is never asked again: a later sitting goes on with the rounds
there are, and makes a new one of what is missing. A judge whose sentinels fail for certain is asked no further. What
the answers decide is `judge`'s; how a run is held is `api`'s.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct, structs

from callscope import api
from callscope.capture.config import RunConfig
from callscope.capture.folder import RunFolder
from callscope.capture.plan import resolve_models
from callscope.capture.runner import Progress
from callscope.contract import Manifest, Suite, TrialKey
from callscope.derive import observed
from callscope.errors import InputError, RunFolderError
from callscope.judge.answered import calibration_of, pending_thirds
from callscope.judge.applied import (
    FOLDER_NAME,
    JUDGE_FILE,
    JudgeFile,
    answers_in,
    docket_of,
    judge_folder,
    judged_now,
    next_round,
    read_judge_file,
    rounds_of,
    write_judge_file,
)
from callscope.judge.docket import Docket, Scope
from callscope.judge.planned import Plan, Tokens, cost_about, tokens_about
from callscope.judge.prompting import prompt_hashes
from callscope.judge.questions import FIRST_ORDERS, THIRD_ORDER, Order, Question, first_orders, question_id
from callscope.judge.rules import RULES
from callscope.judge.sentinels import Sentinel, known_questions, sentinels_hash
from callscope.judge.suite import case_id, judge_suite
from callscope.providers.catalog import catalog
from callscope.runs import open_run

__all__ = [
    "Applied",
    "Change",
    "Plan",
    "Stopped",
    "apply_rules",
    "ask_judge",
    "default_name",
    "judge_config",
    "plan_judge",
    "set_aside",
]

_MAX_TOKENS = 1024
_MAX_TOKENS_EMBEDDED = 256
_TIMEOUT_MS = 60_000
_TIMEOUT_EMBEDDED_MS = 180_000
_FIRST_LOOK = 32
"""Calls of a round after which it is first looked at whether the sentinels can still be met; then at each doubling."""


class _FailedForCertain(Exception):
    """Ends a round: nothing that is still unanswered could make the judge believed."""


class Stopped(NamedTuple):
    """Judging ended before every call was answered: nothing applies, and what was answered is kept."""

    status: Literal["budget_spent", "gave_up", "nothing_open"]
    docket: Docket
    name: str


class Change(Struct, frozen=True):
    """How many trials were one thing by the rules alone and are another with the judge's rulings."""

    before: str
    passed_before: bool | None
    after: str
    passed_after: bool | None
    trials: int


class Applied(NamedTuple):
    """A judge that now applies to a run: what stands in judge.json, and what changed against the rules alone."""

    name: str
    file: JudgeFile
    docket: Docket
    changes: tuple[Change, ...]


def default_name(label: str) -> str:
    """The name of the folder for a model of this label."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-.")[:100] or "judge"


def judge_config(config: RunConfig, *, stated: bool) -> RunConfig:
    """The settings under which a judge is asked: one model, each case once, its tools as they are.

    `stated`: the settings come from a configuration, and bounds in it are kept. A forced call is asked for where the
    catalogue says that the provider knows it. Raises InputError unless exactly one model is configured.
    """
    if len(config.models) != 1:
        found = ", ".join(model.label or f"{model.provider}/{model.model}" for model in config.models)
        raise InputError("one judge is asked at a time", field="--model", found=found, hint="Name one with --model")
    model = structs.replace(config.models[0], schema_fallback=())
    known = catalog().get(model.provider)
    embedded = known is not None and known.embedded and model.base_url is None
    forced = known is not None and known.choices.of("required").support == "yes"
    given: dict[str, Any] = {
        "models": (model,),
        "repeats": 1,
        "experiments": (),
        "suites": (),
        "fixtures": None,
        "dataset_version": None,
        "tool_choice": "required" if forced and config.tool_choice == "auto" else config.tool_choice,
    }
    if not stated:
        given["timeout_ms"] = _TIMEOUT_EMBEDDED_MS if embedded else _TIMEOUT_MS
    if config.max_tokens is None:
        given["max_tokens"] = _MAX_TOKENS_EMBEDDED if embedded else _MAX_TOKENS
    return structs.replace(config, **given)


async def ask_judge(
    run: Path,
    config: RunConfig,
    *,
    scope: Scope,
    name: str | None = None,
    on_plan: Callable[[Plan], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Applied | Stopped:
    """Ask a model about what the rules left open in a run folder, and apply what it rules.

    Args:
        run: the run folder.
        config: of `judge_config`.
        scope: what of the run is asked.
        name: the judge's folder below the run; default by the model's label. One that is there is gone on with.
        on_plan: called before each round with what it will ask.
        on_progress: called after every call.

    Raises RunFolderError where the judge's folder holds answers of another model, or to another prompt; InputError for
    anything that cannot be run as asked.
    """
    docket, name, rounds = _rounds_for(run, config, scope, name, on_progress)
    if not docket.questions:
        return Stopped("nothing_open", docket, name)
    rounds.check()
    for third, stage in enumerate((rounds.firsts, rounds.thirds)):
        if rounds.failed():
            break
        wanted = rounds.missing(stage())
        if on_plan is not None:
            calls = rounds.unanswered() + sum(len(orders) for orders in wanted.values())
            on_plan(Plan(len(docket.asked), len(docket.questions), len(rounds.sentinels), calls, bool(third)))
        status = await rounds.hold(wanted)
        if status in ("budget_spent", "gave_up"):
            return Stopped(status, docket, name)  # type: ignore[arg-type]  # as the line above says
    return _apply(open_run(run).folder.path, name, "model", scope)


def plan_judge(run: Path, config: RunConfig, *, scope: Scope, name: str | None = None) -> Plan | Stopped:
    """What `ask_judge` would ask first with the same arguments: every question in both orders, less what was answered.

    Asks nothing and writes nothing; no key is needed for a judge that was not asked before. Raises as `ask_judge`.
    """
    docket, name, rounds = _rounds_for(run, config, scope, name, None)
    if not docket.questions:
        return Stopped("nothing_open", docket, name)
    rounds.check()
    left = rounds.left()
    wanted = {each: rounds.questions[each] for each in left}
    tokens = tokens_about(judge_suite(wanted, rounds.sentinels, left)) if wanted else Tokens(0, 0)
    calls = sum(len(orders) for orders in left.values())
    cost = cost_about(tokens, resolve_models(config.models)[0].prices)
    return Plan(len(docket.asked), len(docket.questions), len(rounds.sentinels), calls, False, tokens, cost)


def _rounds_for(
    run: Path,
    config: RunConfig,
    scope: Scope,
    name: str | None,
    on_progress: Callable[[Progress], None] | None,
) -> tuple[Docket, str, _Rounds]:
    """What is open in a run, the judge's name, and its rounds there, sentinels among their questions."""
    folder = open_run(run).folder
    docket = docket_of(folder, scope)
    name = _checked(default_name(resolve_models(config.models)[0].label) if name is None else name)
    known = {question_id(question): (sentinel, question) for sentinel, question in known_questions()}
    questions = {**docket.questions, **{each: question for each, (_, question) in known.items()}}
    sentinels = {each: sentinel for each, (sentinel, _) in known.items()}
    return docket, name, _Rounds(judge_folder(folder.path, name), config, questions, sentinels, on_progress)


class _Rounds:
    """The rounds of one judge: what they asked, and how they are held."""

    def __init__(
        self,
        path: Path,
        config: RunConfig,
        questions: Mapping[str, Question],
        sentinels: Mapping[str, Sentinel],
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.path, self.config, self.questions, self.sentinels = path, config, questions, sentinels
        self.on_progress = on_progress

    def check(self) -> None:
        """Raise RunFolderError where a round was held with another model, other settings or another prompt."""
        rounds = rounds_of(self.path)
        if not rounds:
            return
        one = dict([next(iter(self.questions.items()))])
        now = api.prepare([judge_suite(one, self.sentinels, FIRST_ORDERS)], self.config)
        for folder in rounds:
            differing = [
                what
                for what, seen, asked in zip(
                    ("the model", "the settings", "the prompt"),
                    _asked_with(folder.manifest),
                    _asked_with(now),
                    strict=True,
                )
                if seen != asked
            ]
            if differing:
                raise RunFolderError(
                    f"{folder.path}: holds answers of a judge that differs from what is asked in "
                    f"{' and '.join(differing)}. Give the new one its own --name"
                )

    def missing(self, wanted: Mapping[str, Collection[Order]]) -> dict[str, tuple[Order, ...]]:
        """What of this no round has planned, by question id."""
        planned = {case for folder in rounds_of(self.path) for block in folder.manifest.plan for case in block.cases}
        left = {
            name: tuple(order for order in orders if case_id(name, order) not in planned)
            for name, orders in wanted.items()
        }
        return {name: orders for name, orders in left.items() if orders}

    def firsts(self) -> dict[str, tuple[Order, ...]]:
        """Every question in both orders."""
        return {name: first_orders(question) for name, question in self.questions.items()}

    def thirds(self) -> dict[str, tuple[Order, ...]]:
        """The third calls that are needed, by the answers there are."""
        pending = pending_thirds(answers_in(rounds_of(self.path)))
        return {name: (THIRD_ORDER,) for name in pending if name in self.questions}

    def left(self) -> dict[str, tuple[Order, ...]]:
        """Of every question in both orders what has no observed answer yet, by question id."""
        said = answers_in(rounds_of(self.path)).said
        left = {name: tuple(o for o in orders if o not in said.get(name, {})) for name, orders in self.firsts().items()}
        return {name: orders for name, orders in left.items() if orders}

    def unanswered(self) -> int:
        """How many planned calls have no observed answer yet."""
        return sum(folder.planned() - _observed(folder) for folder in rounds_of(self.path))

    async def hold(self, wanted: Mapping[str, Collection[Order]]) -> str:
        """Go on with the rounds there are, then ask what is wanted in a new one; the status of the last one held."""
        for folder in rounds_of(self.path):
            if _observed(folder) < folder.planned():
                bounds = {name: getattr(self.config, name) for name in ("budgets", "concurrency", "attempts")}
                manifest = structs.replace(folder.manifest, **bounds, status="running")
                status = await self._run(manifest, tuple(folder.suites.values()), folder.path)
                if status != "finished":
                    return status
        if not wanted:
            return "finished"
        suite = judge_suite({name: self.questions[name] for name in wanted}, self.sentinels, wanted)
        return await self._run(api.prepare([suite], self.config), (suite,), next_round(self.path))

    def failed(self) -> bool:
        """Whether the judge has failed its sentinels for certain."""
        return calibration_of(answers_in(rounds_of(self.path))).certain

    async def _run(self, manifest: Manifest, suites: tuple[Suite, ...], out: Path) -> str:
        look = _FIRST_LOOK

        def watch(progress: Progress) -> None:
            nonlocal look
            if self.on_progress is not None:
                self.on_progress(progress)
            if progress.done >= look:
                look = 2 * progress.done
                if self.failed():
                    raise _FailedForCertain

        try:
            run = await api.run_manifest(manifest, suites, out=out, on_progress=watch)
        except _FailedForCertain:
            _derive_again(out)
            return "failed"
        return run.manifest.status


def _observed(folder: RunFolder) -> int:
    return sum(observed(record) for _, record in folder.records())


def _asked_with(manifest: Manifest) -> tuple[bytes, bytes, str]:
    """What a judge was asked with: the model, the settings, the version of the prompt."""
    entry = structs.replace(manifest.models[0].entry, prices={}, api_key_env=None)
    return (
        msgspec.json.encode(entry, order="deterministic"),
        msgspec.json.encode(manifest.plan[0].settings, order="deterministic"),
        manifest.suites[0].version,
    )


def apply_rules(run: Path, scope: Scope) -> Applied | Stopped:
    """Apply the judge made of rules to a run folder."""
    folder = open_run(run).folder
    docket = docket_of(folder, scope)
    if not docket.questions:
        return Stopped("nothing_open", docket, RULES)
    return _apply(folder.path, RULES, "rules", scope)


def _apply(run: Path, name: str, kind: Literal["model", "rules"], scope: Scope) -> Applied:
    folder = RunFolder.open(run)
    docket, judged, judge = judged_now(folder, name, kind, scope)
    prompts = prompt_hashes() if kind == "model" else {}
    file = JudgeFile(
        "callscope/judge/1",
        name,
        kind,
        judge,
        scope,
        judged.counts,
        judged.calibration,
        prompts,
        sentinels_hash(),
    )
    write_judge_file(run, file)
    _derive_again(run)
    counted: Counter[tuple[str, bool | None, str, bool | None]] = Counter()
    for derived in open_run(run).derived():
        now = derived.verdict
        before = docket.before.get(TrialKey(now.suite, now.experiment, now.model, now.case_id, now.repeat))
        if before is not None:
            counted[before.attribution, before.passed, now.attribution, now.passed] += 1
    changes = tuple(Change(*what, trials) for what, trials in sorted(counted.items(), key=str))
    return Applied(name, file, docket, changes)


def set_aside(run: Path) -> str | None:
    """Return a run folder to the rules alone; nothing is deleted. The name of the judge that applied, or None.

    A judge.json that cannot be read is moved to judge.json.unreadable.
    """
    run = open_run(run).folder.path
    try:
        file = read_judge_file(run)
    except RunFolderError:
        path = run / JUDGE_FILE
        path.replace(path.with_name(f"{JUDGE_FILE}.unreadable"))
        file = None
    if file is not None:
        write_judge_file(run, structs.replace(file, applied=None))
    _derive_again(run)
    return None if file is None else file.applied


def _derive_again(run: Path) -> None:
    opened = open_run(run)
    opened.write_html(summary=opened.derive())


def _checked(name: str) -> str:
    if not FOLDER_NAME.fullmatch(name) or name == RULES:
        hint = f"`{RULES}` is the judge made of rules" if name == RULES else None
        expected = "letters, digits, dots, dashes and underscores"
        raise InputError("is no name for a judge's folder", field="--name", found=name, expected=expected, hint=hint)
    return name
