"""Synthetic runs for the tests of the reports: built from contract types, with everything hostile a model can say."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from callscope.canonical import canonical_hash
from callscope.contract import (
    ArgumentRules,
    Block,
    Budgets,
    Case,
    Derived,
    Exchange,
    ExpectClarification,
    ExpectedCall,
    ExpectNoCall,
    ExpectText,
    ExpectTool,
    ExpectTools,
    Malformed,
    Manifest,
    Measures,
    ModelEntry,
    ModelRef,
    Outcome,
    ProviderError,
    Record,
    Refusal,
    Round,
    SentHashes,
    Settings,
    Suite,
    SuiteRef,
    Text,
    Timing,
    Tool,
    ToolCall,
    ToolCalls,
    Transformation,
    TrialKey,
    Usage,
    Verdict,
    trials,
)
from callscope.reports.view import expectation_class

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    '" onmouseover="alert(2)" x="',
    "\x1b[31mred\x1b]0;title\x07\x9b2J",
    "[bold red]markup[/bold red] [link=http://evil.example]x[/link]",
    "=cmd|' /C calc'!A0",
    "lone \ud800 surrogate",
    "safe\u202egnp.exe\u2066",
    "{{ 7*7 }}{% raw %}",
    "]]> <!-- &amp; &#60;script> --><style>*{display:none}</style>",
    "nul\x00 and \ufffe \uffff \x85 \u2028 lines\r\nback\b",
    "javascript:alert(3)",
)


@dataclass
class Run:
    """A run in memory, as capture would show it."""

    manifest: Manifest
    suites: Mapping[str, Suite]
    rows: list[Derived]
    walks: int = 0

    def derived(self) -> Iterator[Derived]:
        self.walks += 1
        return iter(self.rows)


SEARCH = Tool("search_orders", "Search orders.", {"type": "object", "properties": {"email": {"type": "string"}}})
LOOKUP = Tool("lookup_order", "Find one order.", {"type": "object", "properties": {"order_id": {"type": "string"}}})
QUOTE = Tool("get_shipping_quote", "Estimate shipping.", {"type": "object", "properties": {"grams": {}}})


def support_cases() -> tuple[Case, ...]:
    """Thirteen cases over five behaviour classes, three languages, with families."""

    def tool(name: str, **values: Any) -> ExpectTool:
        return ExpectTool(name, ArgumentRules(required_equals=values))

    lookup, clarify = tool("lookup_order", order_id="ORD-104821"), ExpectClarification(("postal_code",))
    two = ExpectTools(
        (
            ExpectedCall("lookup_order", ArgumentRules(required_equals={"order_id": "ORD-104821"}), id="a"),
            ExpectedCall("get_shipping_quote", ArgumentRules(one_of={"grams": (750, 1000)}), depends_on=("a",)),
        )
    )
    search = tool("search_orders", email="sam@example.test", status="shipped")
    quote = tool("get_shipping_quote", country_code="US", postal_code="02139", weight_grams=750)
    convert = tool("get_shipping_quote", country_code="CA", weight_grams=1000)
    positive, confusable, pressure = "positive_selection", "confusable_selection", "argument_pressure"
    rows: tuple[tuple[Any, ...], ...] = (
        ("select-lookup-01", "Where is order ORD-104821?", lookup, "selection exact-id", positive, "easy"),
        ("select-lookup-01-de", "Wo ist ORD-104821?", lookup, "selection", positive, "easy", "de"),
        ("select-search-01", "Show my shipped orders. I am sam@example.test.", search, "enum", positive, "medium"),
        ("conflict-01", "Find ORD-104821. My email is sam@example.test.", lookup, "overlap", confusable, "hard"),
        ("conflict-02", "Order of sam@example.test, maybe ORD-1?", search, "overlap", confusable, "hard"),
        ("abstain-01", "Hello! What can you help me with?", ExpectText(), "abstention", "abstention", "easy"),
        ("abstain-02", "¿Cuál es su política?", ExpectText(), "abstention", "abstention", "medium", "es"),
        ("unsupported-01", "Cancel every order on my account.", ExpectNoCall(), "safety", "abstention", "hard"),
        ("types-01", "Quote for 750 grams to US postal code 02139.", quote, "types leading-zero", pressure, "medium"),
        ("normalize-01", "Shipping quote for 1 kg to ca, M5V 3L9.", convert, "unit-conversion", pressure, "hard"),
        ("chain-01", "Look up ORD-104821 and quote it.", two, "parallel", pressure, "hard"),
        ("clarify-01", "How much to Germany for 750 grams?", clarify, "missing", "missing_information", "medium"),
        ("clarify-02", "Ship 2 kg somewhere.", clarify, "missing", "missing_information", "hard"),
    )
    return tuple(
        Case(i, prompt, expected, tuple(tags.split()), *rest, family=i.removesuffix("-de"))
        for i, prompt, expected, tags, *rest in rows
    )


def suite(name: str, cases: tuple[Case, ...], kind: Any = "portable", system: str = "You are an assistant.") -> Suite:
    return Suite(name, "1.0.0", kind, system, (LOOKUP, SEARCH, QUOTE), cases, {"cases.jsonl": "0" * 64})


def manifest(
    suites: tuple[Suite, ...], models: tuple[ModelEntry, ...], plan: tuple[Block, ...], **changes: Any
) -> Manifest:
    fields: dict[str, Any] = {
        "schema": "callscope/manifest/1",
        "run_id": "2026-08-01T09-30-00Z",
        "created_at": "2026-08-01T09:30:00Z",
        "callscope": "0.1.0",
        "runner_commit": "875c601",
        "runtime": {"python": "3.11.9", "platform": "linux"},
        "libraries": {"aiohttp": "3.14.5"},
        "environment": {},
        "dataset_version": "1.0.0",
        "concurrency": 4,
        "attempts": 4,
        "budgets": Budgets(calls=10_000),
        "suites": tuple(SuiteRef(s.name, s.version, s.kind, s.files, len(s.cases)) for s in suites),
        "models": tuple(ModelRef(m, reported=(f"{m.model}-0613",)) for m in models),
        "plan": plan,
        "status": "finished",
        "finished_at": "2026-08-01T09:41:12Z",
    }
    return Manifest(**{**fields, **changes})


def entry(label: str, **more: Any) -> ModelEntry:
    return ModelEntry(label, label.split("/", maxsplit=1)[0], label.rsplit("/", maxsplit=1)[-1], "openai-chat", **more)


def verdict(key: TrialKey, **changes: Any) -> Verdict:
    fields: dict[str, Any] = {
        "acceptance": "accepted",
        "selection": "correct_tool",
        "structure": "valid",
        "semantics": "exact",
        "attribution": "correct",
        "violations": (),
        "recovery": None,
        "passed": True,
        "flags": (),
        "evidence": {},
        "decided_by": {"selection": "names", "semantics": "arguments"},
    }
    return Verdict(key.suite, key.experiment, key.model, key.case_id, key.repeat, **{**fields, **changes})


def derived(key: TrialKey, outcome: Outcome, measures: Measures | None = None, **changes: Any) -> Derived:
    extra = {
        name: changes.pop(name)
        for name in ("transformations", "notes", "later_outcomes", "repaired")
        if name in changes
    }
    text = getattr(outcome, "text", None) or ""
    body = [[c.name, c.arguments] for c in outcome.calls] if isinstance(outcome, ToolCalls) else type(outcome).__name__
    hashes = {"outcome_hash": canonical_hash(body), "text_hash": canonical_hash(text)}
    return Derived(verdict(key, **changes), outcome, measures or Measures(**hashes), **extra)


def loss(key: TrialKey, category: Any, code: str, *flags: str, attempts: int = 4) -> Derived:
    return derived(
        key,
        ProviderError(category, code, f"server said: {code}", flags),
        Measures("", "", attempts=attempts, queued=12.5),
        acceptance=category,
        selection="not_observed",
        structure="not_applicable",
        semantics="not_applicable",
        attribution="not_observed",
        passed=None,
        decided_by={"acceptance": "status"},
    )


NO_CALL: dict[str, Any] = {"structure": "not_applicable", "semantics": "not_applicable"}


def good(key: TrialKey, case: Case) -> Derived:
    """What the case expects."""
    kind = expectation_class(case.expected)
    if kind == "abstention":
        return derived(key, Text("I can help with orders."), selection="abstained_correctly", **NO_CALL)
    if kind == "clarification":
        return derived(key, Text("Which postal code?"), selection="clarified_as_expected", **NO_CALL)
    return derived(key, ToolCalls((ToolCall("c1", "lookup_order", {"order_id": "ORD-104821"}),), ()))


def bad(key: TrialKey, case: Case, rng: random.Random, text: str) -> Derived:
    """One of the failures a case of this kind can have, `text` standing wherever a model could write it."""
    kind = expectation_class(case.expected)
    call, right = (
        ToolCall("c1", "search_orders", {"email": text, "n": 10**20}),
        ToolCall("c2", "lookup_order", {"id": text}),
    )
    calls, one = ToolCalls((call,), (), text), ToolCalls((right,), ())
    broken = ToolCall(None, "lookup_order", malformed=Malformed("truncated", '{"order_id": "' + text))
    seen = {"selection": {"expected": "lookup_order", "called": ["search_orders"], "said": text}}
    miss, over, value = "miss_recall", "over_recall", "parameter_error.value"
    differ = {"semantics": {"wrong": [{"key": "order_id", "expected": "ORD-104821", "actual": text}]}}
    abstention: list[tuple[Outcome, dict[str, Any]]] = [
        (calls, {"selection": "called_when_abstention_expected", "attribution": over, "evidence": seen}),
    ]
    clarification: list[tuple[Outcome, dict[str, Any]]] = [
        (calls, {"selection": "guessed_instead_of_clarifying", "attribution": over, "violations": ("invented_value",)}),
        (Text(text), {"selection": "answered_instead_of_clarifying", "attribution": miss, **NO_CALL}),
    ]
    positive: list[tuple[Outcome, dict[str, Any]]] = [
        (calls, {"selection": "wrong_tool", "attribution": miss, "evidence": seen}),
        (Text(text), {"selection": "no_call_when_expected", "attribution": miss, **NO_CALL}),
        (Text(text, ("text_tool_call",)), {"selection": "no_call_when_expected", "attribution": miss, **NO_CALL}),
        (Text("Which one?"), {"selection": "clarified_unnecessarily", "attribution": miss, **NO_CALL}),
        (Refusal(None), {"selection": "refused", "attribution": miss, **NO_CALL}),
        (one, {"structure": "invalid", "semantics": "wrong", "attribution": value, "evidence": {"structure": [text]}}),
        (ToolCalls((broken,), ("truncated",)), {"structure": "malformed", "semantics": "not_applicable"}),
        (ToolCalls((right, call), ()), {"violations": ("extra_call",)}),
        (one, {"semantics": "undecided", "passed": None}),
        (one, {"semantics": "wrong", "attribution": value, "evidence": differ}),
        (one, {"semantics": "wrong", "attribution": "parameter_error.missing", "evidence": differ}),
    ]
    ways = {"abstention": abstention, "clarification": clarification}.get(kind, positive)
    outcome, changes = rng.choice(ways)
    return derived(key, outcome, **{"passed": False, "flags": outcome.flags, **changes})


SKILL = {
    "positive_selection": 0.12,
    "confusable_selection": 0.4,
    "abstention": 0.2,
    "argument_pressure": 0.35,
    "missing_information": 0.5,
}
LOSSES: list[tuple[Any, ...]] = [
    ("rate_limited", "429", "quota"),
    ("timeout", "timeout_total"),
    ("provider_error", "500", "overloaded"),
    ("schema_rejected", "invalid_schema"),
    ("harness_error", "bug"),
]
PLAIN = ["ORD-104822", "sam@example.test", "2139", "I found your order!"]


def support_run(seed: int = 7, repeats: int = 5, hostile: bool = True, cases_of: int = 13) -> Run:
    """Three models on two suites, one of them under two experiments, with failures of every kind."""
    rng = random.Random(seed)
    cases = support_cases()[:cases_of]
    labels = ("acme/atlas-large-2026", "acme/atlas-mini", f"local/qwen {HOSTILE[0]}" if hostile else "local/qwen-0.6b")
    prices = {"input": 1.0, "output": 4.0}
    entries = tuple(entry(label, stand_in=i == 2, prices=prices) for i, label in enumerate(labels))
    extra = tuple(_hostile_case(i, text) for i, text in enumerate(HOSTILE)) if hostile else ()
    support = suite("support", cases + extra, system=HOSTILE[0] if hostile else "Use a tool only when needed.")
    recovery = suite("support-recovery", cases[:4], "recovery")
    ids, recovery_ids = tuple(c.id for c in support.cases), tuple(c.id for c in recovery.cases)
    plan: tuple[Block, ...] = ()
    for label in labels:
        plan += (
            Block("support", "auto", label, ids, repeats, Settings(seed=11, strict=label == labels[0])),
            Block("support", "required", label, ids[:6], 2, Settings(tool_choice="required")),
            Block("support-recovery", "auto", label, recovery_ids, 3),
        )
    by_id = {s.name: {c.id: c for c in s.cases} for s in (support, recovery)}
    rows = []
    for trial in trials(plan):
        key = trial.key
        if key.model == labels[1] and key.repeat == repeats - 1 and rng.random() < 0.3:
            continue
        rows.append(_trial(key, by_id[key.suite][key.case_id], rng, labels.index(key.model), hostile))
    sent = tuple(SentHashes("support", "auto", label, ("lookup_order",), "ab" * 32, "cd" * 32) for label in labels)
    suites = (support, recovery)
    return Run(manifest(suites, entries, plan, sent=sent), {s.name: s for s in suites}, rows)


def _hostile_case(number: int, text: str) -> Case:
    expected = ExpectTool(f"tool {text}", ArgumentRules(required_equals={text: text})) if number % 2 else ExpectText()
    return Case(f"hostile-{number:02} {text}", text, expected, (text,), note=text, locale=text[:8])


def _trial(key: TrialKey, case: Case, rng: random.Random, skill: int, hostile: bool) -> Derived:
    if rng.random() < 0.02 * (skill + 1):
        return loss(key, *rng.choice(LOSSES))
    text = rng.choice(HOSTILE if hostile else PLAIN)
    chance = SKILL.get(case.behaviour or "", 0.3) * (0.35 + 0.65 * skill)
    row = bad(key, case, rng, text) if rng.random() < chance else good(key, case)
    usage = Usage(rng.randint(300, 900), rng.randint(10, 120)) if rng.random() < 0.95 else Usage()
    known = usage.input_tokens is not None and skill < 2
    measures = structs.replace(
        row.measures,
        attempts=1 + (rng.random() < 0.05),
        latency=rng.lognormvariate(6.5 + 0.4 * (2 - skill), 0.5),
        queued=rng.random() * 40,
        usage=usage,
        cost=((usage.input_tokens or 0) + 4 * (usage.output_tokens or 0)) / 1e6 if known else None,
        reported_model=f"m{skill}-0613",
        finish="stop",
    )
    steps = (Transformation("/tools/0/parameters/pattern", "drop_keyword", "^ORD", None),) if skill == 2 else ()
    recovery = {"rounds": 2, "ended": "answered"} if key.suite == "support-recovery" else None
    return structs.replace(
        row,
        verdict=structs.replace(row.verdict, recovery=recovery),
        measures=measures,
        transformations=steps,
        notes=(text,) if hostile and rng.random() < 0.1 else (),
        later_outcomes=(Text(text),) if recovery else (),
    )


def record(key: TrialKey, response: bytes = b'{"error": "\x1b[31m"}') -> Record:
    request, url = b'{"model": "m"}', "https://api.example.test/v1/chat"
    exchange = Exchange(1, "POST", url, (), request, "t", 200, (), response, Timing())
    return Record(key, "openai-chat", False, "t", (Round((exchange,)),))


def key_of(case_id: str, repeat: int = 0) -> TrialKey:
    """A trial of the model `m` on the suite `support`."""
    return TrialKey("support", "auto", "m", case_id, repeat)
