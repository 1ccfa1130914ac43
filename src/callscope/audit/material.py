"""Suites and verdicts -> what an audit can draw, and the items of what was drawn. Pure; draws nothing itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from callscope.audit.designs import STRATUM_OF_ATTRIBUTION, STRATUM_OF_ITEM, DesignName, asked_of
from callscope.audit.items import AuditItem, Predicted, Sealed, Source, SourceSuite
from callscope.audit.sample import Key, Unit
from callscope.canonical import canonical_hash
from callscope.contract import (
    Case,
    Derived,
    Message,
    Outcome,
    Refusal,
    Routing,
    Suite,
    Text,
    ToolCalls,
    Verdict,
    asked_under,
    item_of,
    offered_tools,
)
from callscope.errors import InputError

__all__ = ["Material", "case_hash", "item_id", "of_run", "of_suites"]


class Material(NamedTuple):
    """All units that could be drawn, what was left out (why -> how many), and where it all comes from."""

    design: DesignName
    units: tuple[Unit, ...]
    left_out: Mapping[str, int]
    source: Source
    make: Callable[[Unit], tuple[AuditItem, Sealed]]


def case_hash(case: Case) -> str:
    """The canonical hash of a case, all its fields."""
    return canonical_hash(msgspec.to_builtins(case))


def of_suites(suites: Mapping[str, Suite], *, run_id: str | None = None) -> Material:
    """The cases of suites, for an audit of references. A case that no answer can be judged by is left out."""
    cases = {(name, case.id): case for name, suite in suites.items() for case in suite.cases}
    units = [Unit(STRATUM_OF_ITEM[item_of(case)], key) for key, case in cases.items() if not case.excluded]

    def make(unit: Unit) -> tuple[AuditItem, Sealed]:
        name, case_id = (str(part) for part in unit.key)
        case = cases[name, case_id]
        item = _item("reference", unit, case, suites[name], None)
        return item, Sealed(item.id, name, case_id, case_hash(case), unit.stratum)

    left_out = {"excluded": len(cases) - len(units)} if len(cases) > len(units) else {}
    return Material("reference", tuple(units), left_out, _source(suites, run_id), make)


def of_run(
    derived: Iterable[Derived],
    suites: Mapping[str, Suite],
    run_id: str,
    *,
    models: Collection[str] = (),
    experiments: Collection[str] = (),
    routings: Mapping[str, Routing | None] = MappingProxyType({}),
) -> Material:
    """The trials of a run, for an audit of attributions. `models` and `experiments`, where given, are the ones to keep.
    `routings`: experiment -> the routing decision it asks for; an item shows the tools that were offered under it.

    Left out: trials whose attribution decides nothing (judge_failure, not_observed), and those of excluded cases.
    Raises InputError for a model or an experiment that the run has not.
    """
    cases = {(name, case.id): case for name, suite in suites.items() for case in suite.cases}
    found: dict[Key, tuple[Verdict, Outcome]] = {}
    units, left_out, digest = [], dict[str, int](), hashlib.sha256()
    seen: dict[str, set[str]] = {"--model": set(), "--experiment": set()}
    for each in derived:
        verdict = each.verdict
        digest.update(msgspec.json.encode(verdict.attribution) + msgspec.json.encode(_key(verdict)) + b"\n")
        seen["--model"].add(verdict.model)
        seen["--experiment"].add(verdict.experiment)
        if (models and verdict.model not in models) or (experiments and verdict.experiment not in experiments):
            continue
        stratum = STRATUM_OF_ATTRIBUTION.get(verdict.attribution)
        case = cases[verdict.suite, verdict.case_id]
        if stratum is None or case.excluded:
            why = "excluded" if stratum is not None else verdict.attribution
            left_out[why] = left_out.get(why, 0) + 1
            continue
        units.append(Unit(stratum, _key(verdict)))
        found[_key(verdict)] = (verdict, each.outcome)
    for flag, wanted in (("--model", models), ("--experiment", experiments)):
        for name in wanted:
            if name not in seen[flag]:
                there = ", ".join(sorted(seen[flag])) or "nothing"
                raise InputError("no trial of the run has it", field=flag, found=name, expected=f"one of {there}")

    def make(unit: Unit) -> tuple[AuditItem, Sealed]:
        verdict, outcome = found[unit.key]
        case = cases[verdict.suite, verdict.case_id]
        asked = asked_under(case, routings.get(verdict.experiment))
        item = _item("judge", unit, asked, suites[verdict.suite], outcome)
        sealed = Sealed(
            item.id,
            verdict.suite,
            verdict.case_id,
            case_hash(case),
            unit.stratum,
            experiment=verdict.experiment,
            model=verdict.model,
            repeat=verdict.repeat,
            attribution=unit.stratum,
        )
        return item, sealed

    source = msgspec.structs.replace(_source(suites, run_id), verdicts_sha256=digest.hexdigest())
    return Material("judge", tuple(units), left_out, source, make)


def _key(verdict: Verdict) -> Key:
    return (verdict.suite, verdict.experiment, verdict.model, verdict.case_id, verdict.repeat)


def _source(suites: Mapping[str, Suite], run_id: str | None) -> Source:
    return Source({name: SourceSuite(suite.version, suite.files) for name, suite in suites.items()}, run_id)


def item_id(design: DesignName, key: Key) -> str:
    """The id of an item: `i` and 16 hex digits. The letter keeps a spreadsheet from reading 12e4… as a number."""
    return "i" + canonical_hash(["item", design, *key])[:16]


def _item(design: DesignName, unit: Unit, case: Case, suite: Suite, outcome: Outcome | None) -> AuditItem:
    return AuditItem(
        id=item_id(design, unit.key),
        asked=asked_of(design, unit.stratum),
        item=item_of(case),
        query=case.prompt,
        tools=offered_tools(case, suite.tools),
        gold=case.expected,
        system=suite.system,
        messages=case.messages + _earlier(case),
        locale=case.locale,
        reference_time=case.reference_time,
        predicted=None if outcome is None else _predicted(outcome),
    )


def _earlier(case: Case) -> tuple[Message, ...]:
    """What the turns of a recorded conversation say before the prompt, which is their last user message."""
    said = [message for turn in case.turns for message in turn.messages]
    last = max((place for place, message in enumerate(said) if message.role == "user"), default=0)
    return tuple(said[:last])


def _predicted(outcome: Outcome) -> Predicted:
    if isinstance(outcome, ToolCalls):
        return Predicted("tool_calls", outcome.calls, outcome.text)
    if isinstance(outcome, Text):
        return Predicted("text", (), outcome.text)
    text = outcome.text if isinstance(outcome, Refusal) else None
    return Predicted("refusal", (), text)
