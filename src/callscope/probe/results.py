"""What the probes found: for each keyword whether it was accepted, kept, ignored or rejected, with the evidence. Pure.

A keyword is `ignored` where the request was accepted and the arguments then broke it. That a model kept it does not
prove that the provider enforces it; the result says what was seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal, get_args

from msgspec import Struct

from callscope.contract import Derived, ProviderError, Suite
from callscope.probe.table import CONTROL, FALLBACKS

__all__ = ["FINDINGS", "Finding", "ProbeResult", "fallback_lines", "probe_results", "suggestions"]

Finding = Literal["kept", "ignored", "rejected", "undecided", "not_observed"]
FINDINGS: tuple[Finding, ...] = get_args(Finding)


class ProbeResult(Struct, frozen=True):
    """One probe on one model under one experiment. `counts` is the number of repeats of each finding.

    finding: rejected (the request, for its schema) · ignored (accepted, then broken by the arguments) · kept
    (accepted and obeyed) · undecided (accepted, but no call of the tool came) · not_observed (authentication, rate
    limit, time-out, …).
    """

    model: str
    experiment: str
    id: str
    keyword: str
    finding: Finding
    counts: dict[str, int]
    evidence: str
    rewrite: str


def _finding(derived: Derived) -> tuple[Finding, str]:
    verdict, outcome = derived.verdict, derived.outcome
    if isinstance(outcome, ProviderError):
        said = f"{outcome.code}: {outcome.message}"
        return ("rejected", said) if outcome.category == "schema_rejected" else ("not_observed", said)
    if verdict.selection != "correct_tool" or verdict.structure == "not_applicable":
        return "undecided", f"{verdict.selection}, {verdict.structure}"
    if verdict.structure == "valid":
        return ("ignored" if verdict.semantics == "wrong" else "kept"), _arguments(derived)
    return "ignored", f"{verdict.structure}: {_arguments(derived)}"


def _arguments(derived: Derived) -> str:
    calls = getattr(derived.outcome, "calls", ())
    return "; ".join(str(call.arguments if call.malformed is None else call.malformed.raw) for call in calls)


_WEIGHT: dict[Finding, int] = {"rejected": 4, "ignored": 3, "kept": 2, "undecided": 1, "not_observed": 0}


def probe_results(suite: Suite, derived: Iterable[Derived]) -> tuple[ProbeResult, ...]:
    """The results in plan order. Of several repeats the gravest finding stands: rejected, ignored, kept, undecided."""
    cases = {case.id: case for case in suite.cases}
    found: dict[tuple[str, str, str], list[tuple[Finding, str]]] = {}
    for one in derived:
        verdict = one.verdict
        if verdict.suite == suite.name:
            found.setdefault((verdict.model, verdict.experiment, verdict.case_id), []).append(_finding(one))
    results = []
    for (model, experiment, case_id), seen in found.items():
        finding, evidence = max(seen, key=lambda item: _WEIGHT[item[0]])
        case = cases[case_id]
        counts: dict[str, int] = dict(Counter(item[0] for item in seen))
        rewrite = str(case.metadata.get("rewrite", ""))
        results.append(ProbeResult(model, experiment, case_id, case.tags[0], finding, counts, evidence[:500], rewrite))
    return tuple(results)


def suggestions(results: Iterable[ProbeResult]) -> list[dict[str, Any]]:
    """What to do about each rejected or ignored keyword, by model and experiment; nothing where the control failed.

    A rejected keyword wants a rewrite of the schema, which a run then records as a transformation; an ignored one
    wants validation on one's own side.
    """
    results = list(results)
    broken = {(one.model, one.experiment) for one in results if one.id == CONTROL and one.finding != "kept"}
    made = []
    for one in results:
        if (one.model, one.experiment) in broken or one.id == CONTROL:
            continue
        if one.finding == "rejected":
            made.append(_suggestion(one, one.rewrite))
        elif one.finding == "ignored":
            made.append(_suggestion(one, "leave it in, and validate every call on your side"))
    return made


def _suggestion(result: ProbeResult, action: str) -> dict[str, Any]:
    return {
        "model": result.model,
        "experiment": result.experiment,
        "keyword": result.keyword,
        "probe": result.id,
        "finding": result.finding,
        "action": action,
        "schema_fallback": list(FALLBACKS.get(result.id, ())) if result.finding == "rejected" else [],
    }


def fallback_lines(suggested: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each model and experiment the line of a model's entry that gets its rejected keywords out of the way.

    `left` names the probes that no such rule helps.
    """
    found: dict[tuple[str, str], tuple[dict[str, None], list[str]]] = {}
    for one in suggested:
        if one["finding"] == "rejected":
            names, left = found.setdefault((one["model"], one["experiment"]), ({}, []))
            names.update(dict.fromkeys(one["schema_fallback"]))
            left += [] if one["schema_fallback"] else [one["probe"]]
    return [
        {
            "model": model,
            "experiment": experiment,
            "line": f"schema_fallback = {json.dumps(sorted(names))}" if names else None,
            "left": left,
        }
        for (model, experiment), (names, left) in found.items()
    ]
