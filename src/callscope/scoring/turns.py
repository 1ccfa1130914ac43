"""The verdict of a recorded conversation: every turn judged as a case of its own, then joined. Credit is by turn.

| the turns                          | passed | rule           | the stages shown are those of |
|------------------------------------|--------|----------------|-------------------------------|
| the case is excluded               | None   | case_excluded  | the first turn that fails     |
| a turn fails, or has no answer     | False  | turn_failed    | the first turn that fails     |
| a turn is undecided                | None   | undecided      | the first such turn           |
| every turn passes                  | True   | all_turns_passed | the first turn              |

A turn that requires no call is right without one. Calls of a turn's `free` tools are left out before it is judged,
except where the turn requires that tool: looking around is no fault. Beside `passed`, the evidence holds each turn's
own verdict, so that partial credit can be counted.

Sources: scoring-faults 38 (per-turn credit) and 39 (read-only exploration).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from callscope.contract import (
    Case,
    ExpectNoCall,
    ExpectTools,
    Outcome,
    ProviderError,
    Text,
    Tool,
    ToolCalls,
    TrialKey,
    Turn,
    Verdict,
)
from callscope.scoring.evaluate import evaluate

__all__ = ["evaluate_turns"]


def evaluate_turns(
    case: Case, tools: tuple[Tool, ...], outcomes: Sequence[Outcome], *, key: TrialKey | None = None
) -> Verdict:
    """Judge a conversation: `outcomes` holds one outcome a turn, all calls of the turn in it. Total: never raises.

    A conversation that ended before its last turn fails the turns it did not reach; one in which nothing was observed
    is not observed.
    """
    verdicts = []
    answered = False
    for number, turn in enumerate(case.turns):
        outcome = outcomes[number] if number < len(outcomes) else Text("")
        verdict = _turn(case, turn, tools, outcome, key)
        verdicts.append(_after_answers(verdict) if answered else verdict)
        answered = answered or isinstance(outcome, ToolCalls)
    if any(isinstance(outcome, ProviderError) for outcome in outcomes):
        lost = next(place for place, outcome in enumerate(outcomes) if isinstance(outcome, ProviderError))
        return verdicts[min(lost, len(verdicts) - 1)]
    failed = [verdict for verdict in verdicts if verdict.passed is False]
    undecided = [verdict for verdict in verdicts if verdict.passed is None]
    if case.excluded is not None:
        passed, rule = None, "case_excluded"
    elif failed:
        passed, rule = False, "turn_failed"
    elif undecided:
        passed, rule = None, "undecided"
    else:
        passed, rule = True, "all_turns_passed"
    shown = (failed or undecided or verdicts)[0]
    return structs.replace(
        shown,
        passed=passed,
        flags=tuple(dict.fromkeys(flag for verdict in verdicts for flag in verdict.flags)),
        evidence={**shown.evidence, "turns": [_seen(verdict) for verdict in verdicts]},
        decided_by={**shown.decided_by, "passed": rule},
    )


def _turn(case: Case, turn: Turn, tools: tuple[Tool, ...], outcome: Outcome, key: TrialKey | None) -> Verdict:
    expected = ExpectTools(turn.calls) if turn.calls else ExpectNoCall()
    said = next((message.text for message in reversed(turn.messages) if message.role == "user"), case.prompt)
    part = structs.replace(case, prompt=said, expected=expected, turns=(), excluded=None)
    return evaluate(part, tools, _without_free(outcome, turn), key=key)


def _after_answers(verdict: Verdict) -> Verdict:
    """The verdict of a turn before which tools have answered: words about what was done claim nothing too early."""
    violations = tuple(name for name in verdict.violations if name != "success_claimed_before_execution")
    if violations == verdict.violations:
        return verdict
    cleared = structs.replace(verdict, violations=violations)
    if violations or verdict.decided_by["passed"] != "policy_violated":
        return cleared
    return structs.replace(cleared, passed=True, decided_by={**verdict.decided_by, "passed": "all_stages_passed"})


def _without_free(outcome: Outcome, turn: Turn) -> Outcome:
    if not isinstance(outcome, ToolCalls):
        return outcome
    free = set(turn.free) - {call.name for call in turn.calls}
    kept = tuple(call for call in outcome.calls if call.name not in free)
    return structs.replace(outcome, calls=kept) if kept else Text(outcome.text or "", outcome.flags)


def _seen(verdict: Verdict) -> dict[str, Any]:
    return {
        "passed": verdict.passed,
        "selection": verdict.selection,
        "structure": verdict.structure,
        "semantics": verdict.semantics,
        "attribution": verdict.attribution,
    }
