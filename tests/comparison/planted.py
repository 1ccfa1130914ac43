"""Planted runs: in memory, with passes and failures exactly as a test wants them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callscope.contract import (
    ArgumentRules,
    Block,
    Budgets,
    Case,
    Derived,
    Expectation,
    ExpectClarification,
    ExpectText,
    ExpectTool,
    Manifest,
    Measures,
    ModelEntry,
    ModelRef,
    ProviderError,
    SentHashes,
    Settings,
    Suite,
    SuiteRef,
    Text,
    ToolCall,
    ToolCalls,
    Verdict,
)

Answer = bool | str | None
"""True passed, False failed; None is not run; "undecided", or an acceptance category for coverage loss."""


@dataclass
class Planted:
    """A run as a reader sees it."""

    manifest: Manifest
    suites: Mapping[str, Suite]
    rows: list[Derived] = field(default_factory=list)

    def derived(self) -> Iterator[Derived]:
        return iter(self.rows)


def cases(count: int, families: Sequence[str] | None = None) -> tuple[Case, ...]:
    """`count` cases that each need one call."""
    expected = ExpectTool("lookup_order", ArgumentRules(required_equals={"order_id": "ORD-1"}))
    return tuple(
        Case(f"case-{i:04}", f"Where is order {i}?", expected, family=families[i] if families else None)
        for i in range(count)
    )


def mixed_cases() -> tuple[Case, ...]:
    """One case of each class of expectation."""
    kinds: tuple[tuple[str, Expectation], ...] = (
        ("call", ExpectTool("lookup_order", ArgumentRules())),
        ("clarify", ExpectClarification(("order_id",))),
        ("text", ExpectText()),
    )
    return tuple(Case(name, f"{name}?", expected) for name, expected in kinds)


def verdict(suite: str, experiment: str, model: str, case: Case, repeat: int, answer: Answer) -> Verdict:
    lost = isinstance(answer, str) and answer != "undecided"
    undecided = answer == "undecided"
    return Verdict(
        suite, experiment, model, case.id, repeat,
        acceptance=answer if lost else "accepted",  # type: ignore[arg-type]
        selection="not_observed" if lost else "correct_tool" if answer or undecided else "wrong_tool",
        structure="not_applicable" if lost else "valid",
        semantics="undecided" if undecided else "exact" if answer is True else "not_applicable",
        attribution=_attribution(answer),
        violations=(),
        recovery=None,
        passed=answer if isinstance(answer, bool) else None,
        flags=(),
        evidence={},
        decided_by={},
    )  # fmt: skip


def _attribution(answer: Answer) -> Any:
    if isinstance(answer, str):
        return "judge_failure" if answer == "undecided" else "not_observed"
    return "correct" if answer else "miss_recall"


def derived(row: Verdict) -> Derived:
    if row.acceptance != "accepted":
        outcome: Any = ProviderError(row.acceptance, "code", "message")
    elif row.selection == "correct_tool":
        outcome = ToolCalls((ToolCall("c", "lookup_order", {"order_id": "ORD-1"}),), ())
    else:
        outcome = Text("no")
    return Derived(row, outcome, Measures("", ""))


def suite(of: tuple[Case, ...], name: str = "support", **more: Any) -> Suite:
    files = more.pop("files", {"system.txt": "1" * 64, "tools.core.json": "2" * 64, "cases.jsonl": "3" * 64})
    return Suite(name, more.pop("version", "1.0.0"), "portable", "Be brief.", (), of, files, **more)


def entry(label: str, **more: Any) -> ModelEntry:
    return ModelEntry(
        label, more.pop("provider", "acme"), more.pop("model", label), more.pop("api", "openai-chat"), **more
    )


def run(
    answers: Mapping[str, Sequence[Sequence[Answer]]],
    *,
    of: Suite | None = None,
    run_id: str = "run-1",
    experiment: str = "auto",
    settings: Settings | None = None,
    entries: Mapping[str, ModelEntry] | None = None,
    sent: Iterable[SentHashes] = (),
    **manifest: Any,
) -> Planted:
    """A run of one suite: model label -> for each case its answers by repeat."""
    of = of or suite(cases(max(len(rows) for rows in answers.values())))
    plan, rows = [], []
    for label, by_case in answers.items():
        ids = tuple(case.id for case in of.cases[: len(by_case)])
        repeats = max(len(each) for each in by_case)
        plan.append(Block(of.name, experiment, label, ids, repeats, settings or Settings()))
        for case, given in zip(of.cases, by_case, strict=False):
            rows += [
                derived(verdict(of.name, experiment, label, case, repeat, answer))
                for repeat, answer in enumerate(given)
                if answer is not None
            ]
    fields: dict[str, Any] = {
        "schema": "callscope/manifest/1",
        "run_id": run_id,
        "created_at": "2026-08-01T09:30:00Z",
        "callscope": "0.1.0",
        "runner_commit": "0" * 7,
        "runtime": {},
        "libraries": {},
        "environment": {},
        "dataset_version": "1.0.0",
        "concurrency": 1,
        "attempts": 4,
        "budgets": Budgets(),
        "suites": (SuiteRef(of.name, of.version, of.kind, of.files, len(of.cases)),),
        "models": tuple(ModelRef((entries or {}).get(label) or entry(label)) for label in answers),
        "plan": tuple(plan),
        "sent": tuple(sent),
        "status": "finished",
    }
    return Planted(Manifest(**{**fields, **manifest}), {of.name: of}, rows)


def table(both: int, only_first: int, only_second: int, neither: int) -> tuple[list[list[Answer]], list[list[Answer]]]:
    """Answers of two models, one repeat each, that make a table of these counts."""
    rows = [(True, True)] * both + [(True, False)] * only_first + [(False, True)] * only_second
    rows += [(False, False)] * neither
    return [[first] for first, _ in rows], [[second] for _, second in rows]
