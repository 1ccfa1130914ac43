"""What `callscope judge` says around its tables: the plan, why nothing is open, an answer that cannot be read. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from callscope.judge.docket import Docket
from callscope.judge.filtering import Closed, Opened
from callscope.judge.planned import ANSWER_TOKENS, BYTES_A_TOKEN, Plan

__all__ = ["asks", "nothing_open_words", "plan_words", "unreadable_words"]

_LONGEST = 300
"""Characters of an answer that are shown."""

_CLOSED: Mapping[Closed, str] = {
    "undeclared": "not declared free_text, and only declared arguments are open here",
    "declared": "declared temporal: rules compare times",
    "schema": "no plain string by its schema (enum, pattern, format, another type, or not in it)",
    "inside": "inside an object or array",
    "empty": "one of the values is empty",
    "number": "like a number",
    "date": "like a date or a time",
    "id": "like an id or a code",
}
"""Why an argument whose strings differ is not open."""

_UNREADABLE = {
    "no_verdicts": "it holds no list of verdicts",
    "argument_missing": "it has no entry for the argument that was asked about",
    "contradicts_itself": "it gives two verdicts on one argument",
    "bad_entry": "its entry lacks a field, or has another verdict than equivalent, different and cannot_assess",
    "quote_not_found": "its quote stands, letter by letter, neither in what the user said nor in a value",
}
"""Why an answer cannot be read (`answers`)."""


def asks(plan: Plan) -> str:
    """What a round asks."""
    calls = _count(plan.calls, "call")
    if plan.third:
        return f"Third calls, where two orders disagreed: {calls}."
    return (
        f"{_count(plan.arguments, 'open argument')} {'makes' if plan.arguments == 1 else 'make'}"
        f" {_count(plan.questions, 'question')}; with {plan.sentinels} sentinels, in both orders: {calls} to make."
        " Where two orders disagree a third call follows."
    )


def plan_words(run: str, plan: Plan) -> Iterator[str]:
    """A plan with its estimates, a line each."""
    yield f"{run}: {asks(plan)}"
    if plan.tokens is None:
        return
    cost = "no estimate of the cost, since the model's entry has no prices (`prices` in a --config FILE)"
    if plan.cost is not None:
        cost = f"about {plan.cost:.2g} in the currency of the entry's prices"
    taken = f"{BYTES_A_TOKEN} bytes a token, {ANSWER_TOKENS} tokens an answer"
    yield (
        f"About {plan.tokens.input:,} tokens go out and {plan.tokens.output:,} come back"
        f" ({taken}; third calls and thinking aloud are not in it): {cost}."
    )


def nothing_open_words(run: str, docket: Docket, opened: Opened | None, *, imported: bool) -> Iterator[str]:
    """What was looked at, why none of it is open, and which option would open more, a line each."""
    yield f"{run}: nothing is open for a judge. Nothing was asked and nothing changed."
    looked = f"Looked at {_count(docket.trials, 'trial')}:"
    if not docket.differing:
        yield f"{looked} in none does a call hold a string that differs from the right one."
    else:
        yield f"{looked} in {docket.differing} a string differs from the right one, and none of those is open:"
    for why, count in docket.closed:
        yield f"  {_count(count, 'argument')}: {_CLOSED[why]}"
    if docket.settled:
        yield f"  {_count(docket.settled, 'trial')}: open text, but no ruling changes what the trial is (--all asks)"
    if any(why == "undeclared" for why, _ in docket.closed):
        yield "--open text opens what is not declared."
    elif opened is None and imported:
        yield "Undeclared text in suites imported from a benchmark is left to the rules; --open text asks about it."


def unreadable_words(folder: str, why: str, answer: str) -> Iterator[str]:
    """One answer that could not be read, what was wanted, and where the others are, a line each. `answer` is shown as
    it is given, cut."""
    text = " ".join(answer.split())
    yield f"One of its answers, which cannot be read ({_UNREADABLE[why]}):"
    yield f"  {text[:_LONGEST]}{'…' if len(text) > _LONGEST else ''}" if text else "  (empty)"
    yield (
        "Wanted is a call of record_verdicts, or the same JSON object as text and nothing else."
        f" All answers: callscope inspect {folder}"
    )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
