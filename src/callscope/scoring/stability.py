"""Stage 5: does the model do the same thing when asked again? Hashes of what was observed, and the most common one.

Only counts; the rate over cases and its interval are `statistics`. Feed it observed repeats only: a trial lost to the
provider says nothing about the model (the harness document: modal outcomes over successful repeats).

| hash         | holds                                                                  | leaves out            |
|--------------|------------------------------------------------------------------------|-----------------------|
| outcome_hash | kind; each call's name and arguments, or malformed raw text, in order  | ids, text, flags      |
| text_hash    | the words, `""` where there are none                                   | everything else       |
| verdict_hash | acceptance, selection, structure, semantics, attribution, violations, passed | evidence, key   |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from callscope.canonical import canonical_hash
from callscope.contract import Outcome, ProviderError, Text, ToolCall, ToolCalls, Verdict

__all__ = ["Stability", "outcome_hash", "stability", "text_hash", "verdict_hash"]


class Stability(NamedTuple):
    """`modal` of `observed` repeats gave `modal_hash` (None where nothing was observed)."""

    modal: int
    observed: int
    modal_hash: str | None


def stability(hashes: Iterable[str]) -> Stability:
    """The most common hash; of several, the smallest, so that the order of repeats does not matter."""
    counts = Counter(hashes)
    if not counts:
        return Stability(0, 0, None)
    modal_hash = min(counts, key=lambda one: (-counts[one], one))
    return Stability(counts[modal_hash], counts.total(), modal_hash)


def outcome_hash(outcome: Outcome) -> str:
    """SHA-256 (64 hex digits) of what the model decided: the same decision in other words, with other ids or with keys
    in another order hashes alike. `5` and `5.0` do not. Arguments must be JSON values of at most about 200 levels, as
    the adapters give them."""
    if isinstance(outcome, ToolCalls):
        return canonical_hash({"kind": "tool_calls", "calls": [_call(call) for call in outcome.calls]})
    if isinstance(outcome, ProviderError):
        return canonical_hash({"kind": "provider_error", "category": outcome.category})
    return canonical_hash({"kind": "text" if isinstance(outcome, Text) else "refusal"})


def _call(call: ToolCall) -> dict[str, Any]:
    if call.malformed is not None:
        return {"name": call.name, "malformed": call.malformed.raw}
    return {"name": call.name, "arguments": call.arguments}


def text_hash(outcome: Outcome) -> str:
    """SHA-256 (64 hex digits) of the words alone, for verbatim stability."""
    return canonical_hash(getattr(outcome, "text", None) or "")


def verdict_hash(verdict: Verdict) -> str:
    """SHA-256 (64 hex digits) of what was judged, without the evidence and the key."""
    return canonical_hash(
        [
            verdict.acceptance,
            verdict.selection,
            verdict.structure,
            verdict.semantics,
            verdict.attribution,
            sorted(verdict.violations),
            verdict.passed,
        ]
    )
