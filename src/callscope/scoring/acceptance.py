"""Stage 1: did the provider accept the request and answer it? Anything else is coverage loss.

Not about what the model decided; a rate limit or a rejected schema is never a wrong answer.

| outcome                             | acceptance            | rule             |
|-------------------------------------|-----------------------|------------------|
| tool_calls, text, refusal           | accepted              | model_answered   |
| provider_error of category *c*      | *c*                   | provider_error   |
"""

from __future__ import annotations

from typing import Any, NamedTuple

from callscope.contract import Acceptance, Outcome, ProviderError

__all__ = ["Accepted", "acceptance"]


class Accepted(NamedTuple):
    """What became of the request, the rule that said so, and what it saw."""

    value: Acceptance
    rule: str
    evidence: dict[str, Any]


def acceptance(outcome: Outcome) -> Accepted:
    """Judge whether a model decision was observed at all. Total: never raises."""
    if isinstance(outcome, ProviderError):
        seen = {"category": outcome.category, "code": outcome.code, "message": outcome.message}
        return Accepted(outcome.category, "provider_error", seen)
    return Accepted("accepted", "model_answered", {})
