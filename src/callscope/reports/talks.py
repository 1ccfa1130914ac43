"""Conversations in numbers: after a tool's answer, was a failed call corrected, or made again unchanged; how it ended.

Counts what the recovery verdicts say. Transport retries are no part of it; the stages judge the first round alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from callscope.reports.columns import Cell, Column, rate_cell, words
from callscope.reports.numbers import DASH, RATE_DIGITS, percent, rate_of, rounded

if TYPE_CHECKING:
    from callscope.reports.tally import CaseTally

__all__ = ["TALK", "count_talk", "talks", "talks_summary"]

_ENDS = 20


def count_talk(counts: dict[str, int], facts: Mapping[str, Any]) -> None:
    """Count one trial's recovery verdict under its case."""

    def bump(name: str, by: int = 1) -> None:
        counts[name] = counts.get(name, 0) + by

    bump("trials")
    rounds = facts.get("tool_rounds")
    if isinstance(rounds, int):
        bump("tool_rounds", rounds)
    if facts.get("corrected") is not None:
        bump("failed")
        bump("corrected", facts["corrected"] is True)
        bump("repeated", facts.get("repeated_unchanged") is True)
    ended = f"ended {str(facts.get('ended', 'unknown'))[:80]}"
    known = sum(name.startswith("ended ") for name in counts)
    bump(ended if ended in counts or known < _ENDS else "ended (others)")


def talks_summary(cases: Iterable[CaseTally]) -> dict[str, Any]:
    """The `conversations` block of a group.

    corrected, repeated_unchanged: over conversations in which a call failed. ended: over all conversations. Trials
    without a tool's answer had no conversation and are in none of it.
    """
    families: dict[str, dict[str, int]] = {}
    for case in cases:
        if case.talk:
            counts = families.setdefault(case.case.family or case.case.id, {})
            for name, count in case.talk.items():
                counts[name] = counts.get(name, 0) + count

    def rate(hit: str, of: str) -> dict[str, Any]:
        return rate_of((each.get(hit, 0), each.get(of, 0)) for each in families.values())

    ends = sorted({name for each in families.values() for name in each if name.startswith("ended ")})
    trials, sent = (sum(each.get(name, 0) for each in families.values()) for name in ("trials", "tool_rounds"))
    return {
        "trials": trials,
        "tool_rounds": {"sum": sent, "per_trial": rounded(sent / trials, RATE_DIGITS) if trials else None},
        "corrected": rate("corrected", "failed"),
        "repeated_unchanged": rate("repeated", "failed"),
        "ended": {name.removeprefix("ended "): rate(name, "trials") for name in ends},
    }


def talks(groups: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The groups in which there was a conversation at all."""
    return [group for group in groups if group["conversations"]["trials"]]


def _rounds(group: Mapping[str, Any]) -> Cell:
    rounds = group["conversations"]["tool_rounds"]
    return Cell(f"{rounds['sum']}", f"{rounds['per_trial']:.1f} a trial")


def _ended(group: Mapping[str, Any]) -> Cell:
    ends = group["conversations"]["ended"].items()
    return Cell(", ".join(f"{words(name)} {r['k']}/{r['n']} {percent(r['k'], r['n'])}" for name, r in ends) or DASH)


TALK: tuple[Column, ...] = (
    Column("conversations", lambda g: Cell(f"{g['conversations']['trials']}/{g['trials']['recorded']}")),
    Column("rounds of answers", _rounds),
    Column("corrected", lambda g: rate_cell(g["conversations"]["corrected"])),
    Column("repeated unchanged", lambda g: rate_cell(g["conversations"]["repeated_unchanged"])),
    Column("ended", _ended),
)
"""The columns of the table of conversations; rates over conversations in which a call failed."""
