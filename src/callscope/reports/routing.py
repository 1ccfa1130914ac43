"""The three routing decisions, each over its own denominator: is a tool needed, is it the target, with which arguments.

As experiments (`experiments = ["need", "target", "arguments"]`) each is put by itself: need with all tools, the other
two with the target alone. An ordinary run decides all three at once; they can be read off it, and that is another
thing, and is labelled so.

| decision  | over                                       | right where                                           |
|-----------|--------------------------------------------|-------------------------------------------------------|
| need      | cases that state whether a tool is needed  | a call of any tool came just where one is needed      |
| target    | cases with one target that need some tool  | the target was called just where it is the right one  |
| arguments | cases whose target is the right tool       | all gold arguments are right; underspecified: no call |

A malformed call is a call. One written into the text earns nothing: no call where one is needed, a call where none is.
Undecided (no rule or judge could tell), excluded and not observed trials are counted beside, as are those of cases
without a label for the decision; conversations of several turns hold many decisions, and none is read off them.

Source: the PluginEval document, the hierarchy f1, f2, f3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from callscope.capture.experiments import decides
from callscope.contract import Case, Derived, Routing, Settings, ToolCalls, item_of, label_of, target_of
from callscope.errors import RunFolderError
from callscope.reports.numbers import rate_of
from callscope.reports.view import is_observed

if TYPE_CHECKING:
    from callscope.reports.tally import CaseTally

__all__ = ["DECISIONS", "Decision", "State", "check_routing", "decision_of", "readable", "routing_summary"]

Decision = Routing
DECISIONS: tuple[Decision, ...] = get_args(Routing)

State = Literal["right", "wrong", "undecided", "excluded", "not_observed"]
STATES: tuple[State, ...] = get_args(State)


def readable(settings: Settings) -> tuple[Decision, ...]:
    """The decisions that trials under these settings show: the one that is put, or all of an ordinary run; none where
    the choice of a call was taken from the model."""
    if settings.routing is not None:
        return (settings.routing,)
    return DECISIONS if settings.tool_choice == "auto" else ()


def has_label(case: Case, decision: Decision) -> bool:
    """Whether a case says what is right in a decision."""
    if case.turns or not decides(case, decision):
        return False
    return decision != "need" or label_of(case) is not None


def decision_of(decision: Decision, case: Case, derived: Derived) -> State | None:
    """How a trial decided; None where the case has no label for the decision. Total: never raises."""
    if not has_label(case, decision):
        return None
    if case.excluded is not None:
        return "excluded"
    if not is_observed(derived.verdict):
        return "not_observed"
    if decision == "arguments":
        return _arguments(derived)
    target = target_of(case) if decision == "target" else None
    wanted = label_of(case) != "no_tool" if decision == "need" else item_of(case) in ("positive", "underspecified")
    if _called(derived, target):
        return "right" if wanted else "wrong"
    if wanted:
        return "wrong"
    return _abstained(decision, case, derived)


def _called(derived: Derived, target: str | None) -> bool:
    """Whether a call came: of the target, or of any tool where it is None."""
    outcome = derived.outcome
    return isinstance(outcome, ToolCalls) and any(target is None or call.name == target for call in outcome.calls)


def _abstained(decision: Decision, case: Case, derived: Derived) -> State:
    """A call that may not be made did not come. The selection stage has read the words for one written there; what it
    read for is the same question, but for need in a case with a target, where the flags answer."""
    verdict = derived.verdict
    if decision == "need" and target_of(case) is not None:
        flags = {*verdict.flags, *derived.outcome.flags}
        if "text_tool_call" in flags:
            return "wrong"
        return "undecided" if flags & {"reasoning_tool_call", "text_like_a_call"} else "right"
    if verdict.selection == "undecided":
        return "undecided"
    return "wrong" if verdict.attribution == "over_recall" else "right"


def _arguments(derived: Derived) -> State:
    attribution = derived.verdict.attribution
    if attribution == "judge_failure":
        return "undecided"
    return "right" if attribution == "correct" else "wrong"


def routing_summary(
    cases: Iterable[CaseTally], decisions: tuple[Decision, ...], settings: Settings
) -> dict[str, Any] | None:
    """The `routing` block of a group; None where no decision can be read off it.

    `isolated` says whether the decision was put by itself. Of each decision: `right` (a rate over decided trials,
    clustered by case family), the trials beside it, and how many planned trials are of cases without a label for it.
    """
    if not decisions:
        return None
    cases = list(cases)
    return {
        "isolated": settings.routing is not None,
        "decisions": {decision: _decision(decision, cases) for decision in decisions},
    }


def _decision(decision: Decision, cases: list[CaseTally]) -> dict[str, Any]:
    families: dict[str, list[int]] = {}
    states = dict.fromkeys(STATES, 0)
    planned = unlabelled = 0
    for case in cases:
        planned += case.planned
        if not has_label(case.case, decision):
            unlabelled += case.planned
            continue
        pair = families.setdefault(case.case.family or case.case.id, [0, 0])
        for state in STATES:
            count = case.decided.get((decision, state), 0)
            states[state] += count
            pair[0] += count if state == "right" else 0
            pair[1] += count if state in ("right", "wrong") else 0
    return {
        "right": rate_of((k, n) for k, n in families.values()),
        "trials": {
            "planned": planned,
            **states,
            "no_label": unlabelled,
            "not_run": planned - unlabelled - sum(states.values()),
        },
    }


def check_routing(block: Mapping[str, Any] | None, name: str) -> None:
    """Check that every decision's counts add up. Raises RunFolderError."""
    for decision, found in (block or {"decisions": {}})["decisions"].items():
        trials, rate = found["trials"], found["right"]
        if trials["not_run"] < 0 or (rate["k"], rate["n"]) != (trials["right"], trials["right"] + trials["wrong"]):
            raise RunFolderError(
                f"callscope's own counts contradict each other: the decision {decision} of {name} has"
                f" {rate['k']} of {rate['n']} right, and its trials say {dict(trials)}. Please report it with this run"
            )
