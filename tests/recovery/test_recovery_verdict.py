"""The verdict on a conversation says, round by round, what the model did with what it was told."""

from __future__ import annotations

from typing import Any

import pytest

from callscope.contract import (
    FakeAnswer,
    Malformed,
    Outcome,
    ProviderError,
    Record,
    Refusal,
    Round,
    Text,
    Tool,
    ToolCall,
    ToolCalls,
    TrialKey,
)
from callscope.recovery import answer_calls, recovery_verdict

QUOTE = Tool(
    "quote",
    "A price.",
    {"type": "object", "properties": {"grams": {"type": "integer"}}, "required": ["grams"]},
)
TIME = Tool("time", "The time.", {"type": "object", "properties": {"zone": {"type": "string"}}})
TOOLS = (QUOTE, TIME)

GOOD, OTHER = ToolCall("1", "quote", {"grams": 750}), ToolCall("2", "quote", {"grams": 1000})
BAD, WORSE = ToolCall("3", "quote", {"grams": "750"}), ToolCall("4", "quote", {})
TORN = ToolCall("5", "quote", malformed=Malformed("truncated", '{"grams'))
UNKNOWN, CLOCK = ToolCall("6", "sundial", {}), ToolCall("7", "time", {"zone": "UTC"})
BAD_CLOCK = ToolCall("8", "time", {"zone": 1})
DONE = Text("It costs 5.")


def held(*turns: tuple[ToolCall, ...] | Outcome, stopped: str | None = None) -> tuple[Record, list[Outcome]]:
    """A conversation in which every call but those of a last, stopped round was answered."""
    fakes = {"quote": (FakeAnswer({"ok": True, "price": 5}),), "time": (FakeAnswer("12:00"),)}
    outcomes: list[Outcome] = [ToolCalls(turn, ()) if isinstance(turn, tuple) else turn for turn in turns]
    rounds = []
    for number, outcome in enumerate(outcomes):
        unanswered = stopped is not None and number == len(outcomes) - 1
        calls = outcome.calls if isinstance(outcome, ToolCalls) and not unanswered else ()
        rounds.append(Round((), answer_calls(calls, TOOLS, fakes)))
    key = TrialKey("s", "auto", "m", "c", 0)
    return Record(key, "openai-chat", False, "now", tuple(rounds), stopped=stopped), outcomes


def verdict(*turns: tuple[ToolCall, ...] | Outcome, stopped: str | None = None) -> dict[str, Any] | None:
    record, outcomes = held(*turns, stopped=stopped)
    return recovery_verdict(record, outcomes, TOOLS)


# turns -> (tool_rounds, repeated_unchanged, corrected, ended)
CONVERSATIONS: dict[str, tuple[tuple[Any, ...], str | None, tuple[int, bool, bool | None, str]]] = {
    "right at once": (((GOOD,), DONE), None, (1, False, None, "text")),
    "two rounds, nothing failed": (((GOOD,), (CLOCK,), DONE), None, (2, False, None, "text")),
    "the same valid call twice": (((GOOD,), (GOOD,), DONE), None, (2, False, None, "text")),
    "corrected": (((BAD,), (GOOD,), DONE), None, (2, False, True, "text")),
    "corrected after two faults": (((BAD,), (WORSE,), (GOOD,), DONE), None, (3, False, True, "text")),
    "a torn call corrected": (((TORN,), (GOOD,), DONE), None, (2, False, True, "text")),
    "given up": (((BAD,), DONE), None, (1, False, False, "text")),
    "refused after a fault": (((BAD,), Refusal("No.")), None, (1, False, False, "refusal")),
    "repeated unchanged": (((BAD,), (BAD,)), "repeated_call", (1, True, False, "repeated_call")),
    "a torn call repeated": (((TORN,), (TORN,)), "repeated_call", (1, True, False, "repeated_call")),
    "repeated under another id": (
        ((BAD,), (ToolCall("99", "quote", {"grams": "750"}),)),
        "repeated_call",
        (1, True, False, "repeated_call"),
    ),
    "another fault is no repetition": (((BAD,), (WORSE,)), "max_tool_rounds", (1, False, False, "max_tool_rounds")),
    "repeated, then corrected": (((BAD,), (BAD,), (GOOD,), DONE), None, (3, True, True, "text")),
    "corrected in a call that was not answered": (
        ((BAD,), (GOOD,)),
        "max_tool_rounds",
        (1, False, True, "max_tool_rounds"),
    ),
    "another tool is no correction": (((BAD,), (CLOCK,), DONE), None, (2, False, False, "text")),
    "both tools corrected": (((BAD, BAD_CLOCK), (GOOD, CLOCK), DONE), None, (2, False, True, "text")),
    "one of two corrected": (((BAD, BAD_CLOCK), (GOOD,), DONE), None, (2, False, False, "text")),
    "a right call beside the wrong one corrects nothing": (((BAD, GOOD), DONE), None, (1, False, False, "text")),
    "corrected, then wrong again": (((BAD,), (GOOD,), (WORSE,), DONE), None, (3, False, False, "text")),
    "wrong again, then right": (((BAD,), (GOOD,), (WORSE,), (OTHER,), DONE), None, (4, False, True, "text")),
    "right and wrong in one round": (((BAD,), (GOOD, WORSE), DONE), None, (2, False, False, "text")),
    "an unknown tool has nothing to correct it": (((UNKNOWN,), (CLOCK,), DONE), None, (2, False, False, "text")),
    "an unknown tool repeated": (((UNKNOWN,), (UNKNOWN,)), "repeated_call", (1, True, False, "repeated_call")),
    "not observed in the second round": (
        ((GOOD,), ProviderError("rate_limited", "429", "slow")),
        None,
        (1, False, None, "not_observed"),
    ),
    "not observed after a fault": (
        ((BAD,), ProviderError("timeout", "timeout_total", "late")),
        None,
        (1, False, False, "not_observed"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_what_the_model_did_with_the_results_is_said(name: str) -> None:
    turns, stopped, expected = CONVERSATIONS[name]
    found = verdict(*turns, stopped=stopped)
    assert found is not None
    assert list(found) == ["tool_rounds", "repeated_unchanged", "corrected", "ended"]
    assert tuple(found.values()) == expected


@pytest.mark.parametrize("turn", [DONE, Refusal(None), ProviderError("timeout", "x", "y")], ids=str)
def test_a_trial_without_tool_results_has_no_such_verdict(turn: Outcome) -> None:
    assert verdict(turn) is None


def test_calls_that_were_never_answered_are_no_conversation() -> None:
    record, outcomes = held((BAD,), stopped="max_tool_rounds")
    assert recovery_verdict(record, outcomes, TOOLS) is None


def test_calls_left_unanswered_without_a_reason_are_said_to_be_so() -> None:
    """A later version may find calls where the one that captured found none."""
    record, outcomes = held((GOOD,), DONE)
    outcomes[-1] = ToolCalls((GOOD,), ())
    found = recovery_verdict(record, outcomes, TOOLS)
    assert found is not None
    assert found["ended"] == "tool_calls"


def test_an_outcome_beyond_the_recorded_rounds_is_read_without_results() -> None:
    record, outcomes = held((BAD,), DONE)
    outcomes.append(ProviderError("harness_error", "harness_error", "we failed"))
    found = recovery_verdict(record, outcomes, TOOLS)
    assert found is not None
    assert (found["ended"], found["corrected"]) == ("not_observed", False)


def test_only_the_offered_tools_can_be_called_validly() -> None:
    record, outcomes = held((BAD,), (GOOD,), DONE)
    found = recovery_verdict(record, outcomes, (TIME,))
    assert found is not None
    assert found["corrected"] is False
