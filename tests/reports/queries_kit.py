"""Planted groups: cases of every item and level, and trials that end exactly as a test wants them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import structs
from reports_runs import LOOKUP, NO_CALL, Run, derived, entry, loss, manifest

from callscope.contract import (
    ArgumentRules,
    Block,
    Case,
    Derived,
    ExpectClarification,
    ExpectNoCall,
    ExpectText,
    ExpectTool,
    Settings,
    Suite,
    Text,
    ToolCall,
    ToolCalls,
    TrialKey,
)
from callscope.reports import summarise
from callscope.reports.across import Source

EXPECTED: dict[str, Any] = {
    "positive": ExpectTool("lookup_order", ArgumentRules(required_equals={"order_id": "ORD-104821"})),
    "underspecified": ExpectClarification(("order_id",), target="lookup_order"),
    "targeted_negative": ExpectNoCall("lookup_order"),
    "global_negative": ExpectText(),
}
CALL = ToolCalls((ToolCall("c1", "lookup_order", {"order_id": "ORD-104821"}),), ())
OTHER = ToolCalls((ToolCall("c1", "search_orders", {"email": "a@example.test"}),), ())
WORDS = Text("I can help.")

ENDS: dict[str, dict[str, Any]] = {
    "tp": {},
    "tp+extra": {"violations": ("extra_call",), "passed": False},
    "miss": {"selection": "no_call_when_expected", "attribution": "miss_recall", "passed": False, **NO_CALL},
    "temporal": {"semantics": "wrong", "attribution": "parameter_error.temporal", "passed": False},
    "missing": {"semantics": "wrong", "attribution": "parameter_error.missing", "passed": False},
    "value": {"semantics": "wrong", "attribution": "parameter_error.value", "passed": False},
    "judge": {"semantics": "undecided", "attribution": "judge_failure", "passed": None},
    "fp": {"selection": "called_when_abstention_expected", "attribution": "over_recall", "passed": False},
    "tn": {"selection": "abstained_correctly", **NO_CALL},
    "unclear": {"selection": "undecided", "attribution": "judge_failure", "passed": None, **NO_CALL},
    "asked": {"selection": "clarified_as_expected", **NO_CALL},
    "answered": {"selection": "answered_instead_of_clarifying", "passed": False, **NO_CALL},
    "guessed": {"selection": "guessed_instead_of_clarifying", "attribution": "over_recall", "passed": False},
}
"""How a trial can end: what of its verdict is not that of a correct call."""

_CALLED = {"tp", "tp+extra", "temporal", "missing", "value", "judge", "fp", "guessed"}


class Planned(NamedTuple):
    """A case and how each of its repeats ends; "lost" is coverage loss, None not run."""

    case: Case
    ends: tuple[str | None, ...]


def case(name: str, item: str = "positive", **more: Any) -> Case:
    return Case(name, f"{name}?", EXPECTED[item], **{"item": item, **more})


def planned(
    item: str, ends: Mapping[str, int], *, level: str | None = None, start: str = "", **more: Any
) -> list[Planned]:
    """As many cases as `ends` says, each put once."""
    return [
        Planned(case(f"{start}{item}-{level}-{end}-{number}", item, difficulty=level, **more), (end,))
        for end, count in ends.items()
        for number in range(count)
    ]


def trial(key: TrialKey, end: str) -> Derived:
    """A trial that ended so."""
    if end == "lost":
        return loss(key, "timeout", "slow")
    return derived(key, CALL if end in _CALLED else WORDS, **ENDS[end])


def run_of(
    models: Mapping[str, Sequence[Planned]],
    *,
    suite: str = "plugin",
    experiment: str = "auto",
    settings: Settings | None = None,
    benchmark: str | None = None,
) -> Run:
    """A run of one suite; every model has the same cases, each with its own ends."""
    cases = tuple({each.case.id: each.case for plan in models.values() for each in plan}.values())
    held = Suite(suite, "1", "portable", "", (LOOKUP,), cases, {"cases.jsonl": "0" * 64}, benchmark=benchmark)
    plan: list[Block] = []
    rows: list[Derived] = []
    for model, each in models.items():
        repeats = max(len(one.ends) for one in each)
        ids = tuple(one.case.id for one in each)
        plan.append(Block(suite, experiment, model, ids, repeats, settings or Settings()))
        for one in each:
            rows += [
                trial(TrialKey(suite, experiment, model, one.case.id, repeat), end)
                for repeat, end in enumerate(one.ends)
                if end is not None
            ]
    return Run(manifest((held,), tuple(entry(model) for model in models), tuple(plan)), {suite: held}, rows)


def groups_of(run: Run) -> list[dict[str, Any]]:
    return list(summarise(run)["groups"])


def block_of(*plans: Iterable[Planned], **more: Any) -> dict[str, Any]:
    """The `queries` block of one model on these cases."""
    (group,) = groups_of(run_of({"m": [each for plan in plans for each in plan]}, **more))
    return dict(group["queries"])


def source(run: Run, name: str = "run") -> Source:
    return Source(name, summarise(run))


def with_checker(run: Run, verdicts: Sequence[bool | None]) -> Run:
    """The run with what a benchmark's own checker says of its trials, in order."""
    run.rows = [structs.replace(row, compatible_passed=said) for row, said in zip(run.rows, verdicts, strict=True)]
    return run


# GPT-5.4 of the document's Table 1, as counts (the worked-out proposal, 1.2.1); how 427 divide is ours
GPT = {"tp": 1230, "miss": 843, "temporal": 240, "missing": 90, "value": 90, "judge": 7}
GPT_NEGATIVE = {"fp": 166, "tn": 334}
