"""The verdict on a conversation: what the model did with the results and errors it was given.

Says what happened round by round (repeated, corrected, ended how); it does not change the stages, which judge the
first round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callscope.contract import Outcome, ProviderError, Record, Refusal, Tool, ToolCall, ToolCalls, tools_by_name
from callscope.recovery.fakes import call_hash
from callscope.scoring import validate_arguments

__all__ = ["recovery_verdict"]


def recovery_verdict(record: Record, outcomes: Sequence[Outcome], tools: tuple[Tool, ...]) -> dict[str, Any] | None:
    """None for a trial without tool results, else a JSON object:

    tool_rounds: int, how often results were sent back; repeated_unchanged: whether a call that failed was made again
    as it was;
    corrected: whether every tool whose call failed was later called validly, and its last such call did not fail
    (None: nothing failed);
    ended: `text`, `refusal`, `tool_calls` (left unanswered), `not_observed`, or why callscope stopped
    (`max_tool_rounds`, `repeated_call`).
    """
    rounds = [one for one in record.rounds if one.tool_results]
    if not rounds:
        return None
    failed_hashes: set[str] = set()
    failed_tools: set[str] = set()
    corrected_tools: set[str] = set()
    repeated = False
    known = tools_by_name(tools)
    for number, outcome in enumerate(outcomes):
        calls = outcome.calls if isinstance(outcome, ToolCalls) else ()
        failing = _failing_positions(record, number)
        for position, call in enumerate(calls):
            repeated = repeated or call_hash(call) in failed_hashes
            if position not in failing and call.name in failed_tools and _valid(call, known.get(call.name)):
                corrected_tools.add(call.name)
        for position in failing & set(range(len(calls))):
            failed_hashes.add(call_hash(calls[position]))
            failed_tools.add(calls[position].name)
            corrected_tools.discard(calls[position].name)
    return {
        "tool_rounds": len(rounds),
        "repeated_unchanged": repeated,
        "corrected": failed_tools == corrected_tools if failed_tools else None,
        "ended": _ended(record, outcomes),
    }


def _failing_positions(record: Record, number: int) -> set[int]:
    if number >= len(record.rounds):
        return set()
    return {result.position for result in record.rounds[number].tool_results if result.is_error}


def _valid(call: ToolCall, tool: Tool | None) -> bool:
    return tool is not None and call.arguments is not None and not validate_arguments(tool, call.arguments)


def _ended(record: Record, outcomes: Sequence[Outcome]) -> str:
    if record.stopped is not None:
        return record.stopped
    last = outcomes[-1]
    if isinstance(last, ProviderError):
        return "not_observed"
    if isinstance(last, ToolCalls):
        return "tool_calls"
    return "refusal" if isinstance(last, Refusal) else "text"
