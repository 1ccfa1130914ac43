"""One trial laid out for a reader: what was asked, what was expected, what came back, and what each stage saw.

Text only, already inert and clipped; where it is drawn is up to the terminal, the HTML page or JUnit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from callscope.contract import (
    ArgumentRules,
    Case,
    Derived,
    Expectation,
    ExpectClarification,
    ExpectNoCall,
    ExpectText,
    ProviderError,
    ToolCall,
    ToolCalls,
    TrialKey,
    Verdict,
    expected_calls,
)
from callscope.reports.checked import their_text
from callscope.reports.columns import ATTRIBUTION_CAPTION, plural
from callscope.reports.numbers import milliseconds
from callscope.reports.safe import clip, inert, one_line, pretty
from callscope.reports.view import is_observed

__all__ = [
    "Evidence",
    "Stage",
    "evidence",
    "expected_text",
    "outcome_text",
    "passed_word",
    "repair_lines",
    "repaired_text",
    "trial_key",
    "trial_title",
]

TEXT_LIMIT = 2000


class Stage(NamedTuple):
    """One stage of a verdict: its value, the rule that decided it, what it saw."""

    name: str
    value: str
    rule: str
    saw: str


class Evidence(NamedTuple):
    """A trial as text. Every string is inert; `outcome` and the stages' `saw` may have several lines."""

    title: str
    behaviour: str
    prompt: str
    expected: str
    outcome: str
    stages: tuple[Stage, ...]
    violations: tuple[str, ...]
    flags: tuple[str, ...]
    notes: tuple[str, ...]
    changes: tuple[str, ...]
    facts: str
    later: tuple[str, ...]
    repairs: tuple[str, ...] = ()
    repaired: str = ""
    tags: tuple[str, ...] = ()
    excluded: str = ""
    checker: str = ""


def trial_key(derived: Derived) -> TrialKey:
    """The key of the trial a verdict stands for."""
    v = derived.verdict
    return TrialKey(v.suite, v.experiment, v.model, v.case_id, v.repeat)


def evidence(derived: Derived, case: Case | None, *, limit: int = TEXT_LIMIT) -> Evidence:
    """The evidence of one trial; each long text is cut at `limit` characters, and says so."""
    verdict, outcome = derived.verdict, derived.outcome
    flags = tuple(dict.fromkeys(verdict.flags + outcome.flags))
    return Evidence(
        title=trial_title(derived),
        behaviour=case.behaviour or "" if case else "",
        prompt=clip(case.prompt, limit) if case else "",
        expected=clip(expected_text(case.expected), limit) if case else "",
        outcome=clip(outcome_text(derived.outcome, limit), limit),
        stages=_stages(derived, limit),
        violations=tuple(one_line(v) for v in verdict.violations),
        flags=tuple(one_line(flag) for flag in flags),
        notes=tuple(one_line(note, 400) for note in derived.notes[:20]),
        changes=tuple(
            f"{one_line(t.pointer)}  {one_line(t.rule)}: {one_line(_short(t.before))} → {one_line(_short(t.after))}"
            for t in derived.transformations[:20]
        ),
        facts=_facts(derived),
        later=tuple(clip(outcome_text(each, limit), limit) for each in derived.later_outcomes[:6]),
        repairs=repair_lines(derived),
        repaired=clip(repaired_text(derived), limit),
        tags=tuple(one_line(tag, 80) for tag in case.tags) if case else (),
        excluded=one_line(case.excluded or "", 400) if case else "",
        checker=their_text(derived),
    )


def trial_title(derived: Derived) -> str:
    """A trial in one line: case, model, repeat."""
    v = derived.verdict
    return f"{one_line(v.case_id, 80)} · {one_line(v.model, 80)} · repeat {v.repeat}"


def repair_lines(derived: Derived) -> tuple[str, ...]:
    """What the repair track changed, a line a step; () where no repair applies."""
    steps = derived.repaired.steps if derived.repaired else ()
    return tuple(
        f"{one_line(step.pointer) or 'the text'}  {one_line(step.name)}: {one_line(_short(step.before))} → "
        + ("dropped" if step.name == "drop_unknown" else one_line(_short(step.after)))
        for step in steps[:20]
    )


def repaired_text(derived: Derived) -> str:
    """What the stages say of the repaired outcome, and that outcome; "" where no repair applies."""
    r = derived.repaired
    if r is None:
        return ""
    passed = {True: "passed", False: "failed", None: "undecided"}
    said = ", ".join((r.selection, f"structure {r.structure}", f"semantics {r.semantics}", *r.violations))
    return f"{passed[r.passed]} with repairs (raw: {passed[derived.verdict.passed]}): {said}\n{outcome_text(r.outcome)}"


def passed_word(verdict: Verdict) -> str:
    """`passed` as a word: true, false, undecided, not observed."""
    if verdict.passed is None:
        return "undecided" if is_observed(verdict) else "not observed"
    return "true" if verdict.passed else "false"


def _stages(derived: Derived, limit: int) -> tuple[Stage, ...]:
    v = derived.verdict
    values: dict[str, str] = {
        "acceptance": v.acceptance,
        "selection": v.selection,
        "structure": v.structure,
        "semantics": v.semantics,
        "attribution": v.attribution,
        "passed": passed_word(v),
    }
    if v.attribution == "correct" and v.passed is False:
        values["attribution"] = f"correct ({ATTRIBUTION_CAPTION})"
    if v.recovery is not None:
        values["recovery"] = _short(v.recovery)
    for extra in sorted((set(v.evidence) | set(v.decided_by)) - set(values) - {"excluded"}):
        values[extra] = ", ".join(v.violations) if extra == "violations" else "see evidence"
    stages = (
        Stage(
            one_line(name, 60),
            one_line(value, 300),
            one_line(v.decided_by.get(name, ""), 120),
            pretty(v.evidence[name], limit) if v.evidence.get(name) not in (None, {}, [], "") else "",
        )
        for name, value in values.items()
    )
    silent = ("not_observed", "not_applicable")
    return tuple(stage for stage in stages if stage.rule or stage.saw or stage.value not in silent)


def _facts(derived: Derived) -> str:
    m = derived.measures
    parts = [plural(m.attempts, "attempt")]
    if m.rounds > 1:
        parts[0] = f"{plural(m.rounds, 'round')}, {parts[0]}"
    if m.latency is not None:
        parts.append(f"model {milliseconds(m.latency)}")
    if m.queued is not None and milliseconds(m.queued) != milliseconds(0.0):
        parts.append(f"queued {milliseconds(m.queued)}")
    if m.usage.input_tokens is not None or m.usage.output_tokens is not None:
        shown = ["?" if n is None else str(n) for n in (m.usage.input_tokens, m.usage.output_tokens)]
        parts.append(f"tokens {shown[0]} in, {shown[1]} out")
    if m.finish is not None:
        parts.append(f"finish {one_line(m.finish, 60)}")
    if m.reported_model is not None:
        parts.append(f"reported as {one_line(m.reported_model, 80)}")
    return " · ".join(parts)


def _short(value: Any) -> str:
    return " ".join(pretty(value, 400).split())


def _said(rules: ArgumentRules) -> dict[str, Any]:
    """What rules say beyond their defaults."""
    unsaid = msgspec.to_builtins(ArgumentRules())
    return {name: value for name, value in msgspec.to_builtins(rules).items() if value != unsaid[name]}


def expected_text(expected: Expectation) -> str:
    """An expectation in words and JSON."""
    if isinstance(expected, ExpectText):
        return "no call: an answer in prose, or a refusal"
    if isinstance(expected, ExpectNoCall):
        return f"no call of {inert(expected.target)}" if expected.target else "no call of any tool"
    if isinstance(expected, ExpectClarification):
        target = f" (before calling {inert(expected.target)})" if expected.target else ""
        return f"a question for: {', '.join(inert(name) for name in expected.missing)}{target}"
    lines = []
    for call in expected_calls(expected):
        rules = _said(call.arguments)
        after = f", after {', '.join(call.depends_on)}" if call.depends_on else ""
        lines.append(f"call {inert(call.name)}{inert(after)} with {pretty(rules, TEXT_LIMIT)}")
        for other in call.alternatives:
            rules = _said(other.arguments)
            lines.append(f"or {inert(other.name or call.name)} with {pretty(rules, TEXT_LIMIT)}")
    return "\n".join(lines)


def outcome_text(outcome: Any, limit: int = TEXT_LIMIT) -> str:
    """An outcome in words and JSON, its call arguments as the model gave them, each cut at `limit` characters."""
    if isinstance(outcome, ToolCalls):
        lines = [_call_text(call, limit) for call in outcome.calls]
        if outcome.text:
            lines.append(f"text beside the calls:\n{inert(outcome.text)}")
        return "\n".join(lines)
    if isinstance(outcome, ProviderError):
        return f"{outcome.category}: {one_line(outcome.code)}\n{inert(outcome.message)}"
    if outcome.text is None:
        return f"{type(outcome).__name__.lower()} without words"
    return f"{type(outcome).__name__.lower()}:\n{inert(outcome.text)}"


def _call_text(call: ToolCall, limit: int) -> str:
    name = inert(call.name) or "(no name)"
    if call.malformed is not None:
        return f"call {name} with malformed arguments ({call.malformed.reason}):\n{inert(call.malformed.raw)}"
    return f"call {name} with {pretty(call.arguments, limit)}"
