"""What a reader should know beside a table: undecided, retried, not run, and flags that explain most failures.

Sentences over counts that stand in the summary; nothing is counted here, and no failure is excused by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from callscope.reports.blame import FLAG_HINTS
from callscope.reports.columns import is_recorded, plural
from callscope.reports.numbers import milliseconds, percent
from callscope.reports.safe import one_line

__all__ = ["QUEUED", "flag_remarks", "group_remarks", "queued_text", "remarks"]

QUEUED = "queued = waiting inside callscope: for a slot, for pacing, or while an embedded model's prefix is prepared"
"""Shown wherever a queued time is."""

_TELLING = (
    "text_tool_call",
    "reasoning_tool_call",
    "provider_rejected_call",
    "template_leak",
    "truncated",
    "content_filter",
)
"""Flags that tell of more than the model's decision."""

_IN_TEXT = "a fault of protocol or template rather than of the decision"


def queued_text(clock: Mapping[str, Any]) -> str:
    """The waiting time as `p50 / p95`; "" where there was none worth showing."""
    if not clock["n"] or milliseconds(clock["p95"]) == milliseconds(0.0):
        return ""
    return f"{milliseconds(clock['p50'])} / {milliseconds(clock['p95'])}"


def group_remarks(group: Mapping[str, Any]) -> list[str]:
    """Facts about a model's row: what is undecided, was retried, waited, was never run, came under another name."""
    trials, queued = group["trials"], queued_text(group["time"]["queued"])
    said = [_absent(group)] if trials["not_run"] else []
    said += [f"{trials['undecided']} undecided"] if trials["undecided"] else []
    retried = group["attempts"]["retried_trials"]
    said += [f"{plural(retried, 'trial')} retried"] if retried else []
    said += [f"queued {queued}"] if queued else []
    reported = sorted(name for name in group["reported_models"] if name != group["model_id"])
    return said + ([f"reported as {', '.join(one_line(name, 60) for name in reported[:5])}"] if reported else [])


def _absent(group: Mapping[str, Any]) -> str:
    trials = group["trials"]
    if is_recorded(group):
        return f"{trials['recorded']} of {trials['planned']} trials recorded, the rest has no row"
    return f"{trials['not_run']} of {trials['planned']} planned trials not run"


def flag_remarks(group: Mapping[str, Any]) -> list[str]:
    """A sentence for each telling flag that at least half of the failed trials carry.

    Calls written into the text are counted against all trials in which a call was made or written.
    """
    failed, flags = group["trials"]["failed"], group["failed_flags"]
    said = []
    for name in _TELLING:
        hint, count = FLAG_HINTS[name], flags.get(name, 0)
        if not count or 2 * count < failed:
            continue
        if name == "text_tool_call":
            written, called = _calls(group["tool_pairs"])
            said.append(f"{written} of {called} calls were written into the text, flag {name}: {_IN_TEXT}")
        else:
            share = f"{count} of {plural(failed, 'failed trial')} ({percent(count, failed)})"
            said.append(f"{share} with flag {name}: {hint.party}: {hint.reason}")
    return said


def _calls(pairs: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Trials whose call stands in the text, and trials with any call."""
    written = called = 0
    for pair in pairs:
        written += pair["trials"] if pair["in_text"] else 0
        called += pair["trials"] if pair["in_text"] or pair["called"] else 0
    return written, called


def remarks(group: Mapping[str, Any]) -> list[str]:
    """What flags explain, a sentence each, then the facts of the model's row in one."""
    facts = group_remarks(group)
    return [*flag_remarks(group), *(["; ".join(facts)] if facts else [])]
