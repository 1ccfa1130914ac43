"""Whose fault a failure may be: the model, the provider's protocol, an adapter, the validator, the fixture, settings.

Hints for a person who inspects a failure, drawn from flags and from how other models fared. Never counted anywhere.
"""

from __future__ import annotations

from typing import NamedTuple

from callscope.contract import Derived
from callscope.reports.safe import one_line
from callscope.reports.view import failing_stage, is_observed

__all__ = ["FLAG_HINTS", "Agreement", "Hint", "hints"]


class Hint(NamedTuple):
    """A party that may be at fault, and why one would think so."""

    party: str
    reason: str


class Agreement(NamedTuple):
    """How the models of one suite and experiment fared on one case: observed, and never passing."""

    models: int
    failing: int


_LOSS = {
    "schema_rejected": Hint(
        "provider protocol", "the request was refused before the model saw it; look for the schema keyword it names"
    ),
    "authentication_error": Hint("settings", "the key or its permissions; the model was not asked"),
    "rate_limited": Hint("provider protocol", "limits or quota; run again with --resume, or lower the concurrency"),
    "timeout": Hint("settings", "no answer within timeout_ms; the provider may be slow or the limit short"),
    "provider_error": Hint("provider protocol", "the server failed; the model's decision was not seen"),
    "harness_error": Hint("adapter", "callscope itself failed here; please report it with this record"),
}

FLAG_HINTS = {
    "truncated": Hint("settings", "the answer was cut off; raise max_tokens and run again"),
    "text_tool_call": Hint(
        "provider protocol", "the call was written into the text; the server's chat template or tool parser may miss it"
    ),
    "reasoning_tool_call": Hint(
        "provider protocol", "the call was written into the reasoning; the server's template or tool parser may miss it"
    ),
    "provider_rejected_call": Hint(
        "provider protocol", "the server could not read the call that the model wrote; see its own words in the notes"
    ),
    "template_leak": Hint("provider protocol", "a token of the chat template stands in a tool's name"),
    "tools_unsupported": Hint("settings", "the model or server offers no tool calling as it is set up"),
    "synthesised_id": Hint("provider protocol", "the provider sent no call id"),
    "duplicate_keys": Hint("model", "an argument was given twice; the last one stood"),
    "big_integer": Hint("model", "an integer beyond 2^53, which many parsers change silently"),
    "lone_surrogate": Hint("model", "half a character in the arguments"),
    "content_filter": Hint("provider protocol", "a safety layer outside the model took part"),
    "context_length": Hint("settings", "the request did not fit the model's context"),
    "unsupported_parameter": Hint("adapter", "a setting was sent that this provider does not take"),
    "forced_choice_unsupported": Hint("adapter", "the provider has no such tool choice"),
}


def hints(derived: Derived, agreement: Agreement | None = None, *, judged: bool = True) -> tuple[Hint, ...]:
    """Who may be at fault in a trial that did not pass, the likeliest first; `judged`: whether a judge was asked."""
    verdict = derived.verdict
    found: list[Hint] = []
    if verdict.passed is None and verdict.evidence.get("excluded"):
        why = one_line(str(verdict.evidence["excluded"]), 300)
        return (Hint("fixture", f"the case is excluded, so nothing decides it: {why}"),)
    if not is_observed(verdict):
        found += [_LOSS[verdict.acceptance]] if verdict.acceptance in _LOSS else []
    elif agreement is not None and agreement.models > 1 and agreement.failing == agreement.models:
        found.append(Hint("fixture", f"none of {agreement.models} models passes this case; check its expectation"))
    found += [FLAG_HINTS[flag] for flag in dict.fromkeys(verdict.flags + derived.outcome.flags) if flag in FLAG_HINTS]
    if derived.transformations:
        found.append(Hint("adapter", "the schema or messages were changed on the way out; see the transformations"))
    if is_observed(verdict):
        found += _by_stage(derived, judged)
    return tuple(dict.fromkeys(found))


def _by_stage(derived: Derived, judged: bool) -> list[Hint]:
    verdict = derived.verdict
    if verdict.selection == "undecided":
        return [Hint("validator", "no rule could tell whether a call was meant; a clearer fixture would")]
    if verdict.semantics == "undecided" and not judged:
        return [Hint("validator", "no rule could decide, and no judge was asked; `callscope judge RUN` asks one")]
    if verdict.attribution == "judge_failure":
        return [Hint("validator", "the judge left it open, or gave no usable answer")]
    if verdict.passed is None:
        return [Hint("validator", "no rule could decide; a judge or a clearer fixture would")]
    stage = failing_stage(verdict)
    if verdict.selection == "refused":
        return [Hint("model", "it declined; a provider's safety layer may have done so in its name")]
    if stage == "structure" and verdict.structure == "malformed":
        return [
            Hint("model", "its arguments are no JSON object"),
            Hint("provider protocol", "a server-side tool parser may have cut or rewritten them; see the raw bytes"),
        ]
    reasons = {
        "selection": "whether to call, or which tool, was not what was expected",
        "structure": "its arguments do not meet the schema it was shown",
        "semantics": "its values differ from the expected ones; check the fixture for values that are as good",
        "policy": "the right call, with something beside it that the rules forbid",
        "recovery": "it did not end the conversation as expected after a tool's answer",
        "other": "see the evidence of each stage",
    }
    return [Hint("model", reasons[stage])] if stage in reasons else []
