"""Stage 4: are the values the right ones? Judged only where a required tool was called.

Compares with the case's rules (`arguments`) over the best pairing (`alignment`). A string that differs is wrong, or
undecided where the case declares it free text; what a judge ruled is in the pairs already (`arguments.ruled`).

| what was asked, and what came                              | semantics                     | rule                |
|------------------------------------------------------------|-------------------------------|---------------------|
| the case requires no call                                  | not_applicable                | no_call_required    |
| a required call is unanswered                              | not_applicable (pairs listed) | required_call_absent |
| every answering call is malformed                          | not_applicable                | malformed_arguments |
| a pair is wrong                                            | wrong                         | arguments           |
| every pair is right, but ordered / depends_on is broken    | wrong, evidence `order`       | order               |
| a pair is undecided, none is wrong                         | undecided                     | arguments           |
| a pair is acceptable, or exact under an alternative only   | acceptable                    | arguments           |
| every pair is exact                                        | exact                         | arguments           |

A malformed call beside readable ones leaves the judgement to the readable ones; structure fails the trial anyway.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from callscope.contract import Expectation, ExpectTools, Semantics
from callscope.scoring.alignment import Alignment, Match, order_faults
from callscope.scoring.arguments import ErrorKind

__all__ = ["Meaning", "semantics"]

_ERROR_ORDER: tuple[ErrorKind, ...] = ("missing", "temporal", "value")
_FINDINGS = ("missing", "wrong", "unexpected", "undecided", "notes")


class Meaning(NamedTuple):
    """The judgement, its rule and evidence; `errors` are the kinds of parameter error, in attribution order."""

    value: Semantics
    rule: str
    evidence: dict[str, Any]
    errors: tuple[ErrorKind, ...] = ()


def semantics(expected: Expectation, alignment: Alignment) -> Meaning:
    """Judge the values of the calls that answer what the case requires. Total: never raises."""
    if not alignment.matches:
        return Meaning("not_applicable", "no_call_required", {})
    matches = [match for match in alignment.matches if match is not None]
    evidence: dict[str, Any] = {"calls": [_seen(match) for match in matches]}
    if len(matches) < len(alignment.matches):
        evidence["answered"], evidence["required"] = len(matches), len(alignment.matches)
        return Meaning("not_applicable", "required_call_absent", evidence if matches else {})
    results = {_result(match) for match in matches} - {"malformed"}
    if not results:
        return Meaning("not_applicable", "malformed_arguments", evidence)
    kinds = {kind for match in matches if match.compared is not None for kind in match.compared.errors}
    errors = tuple([kind for kind in _ERROR_ORDER if kind in kinds])
    faults = order_faults(expected, alignment) if isinstance(expected, ExpectTools) else []
    if faults:
        evidence["order"] = faults
    if "wrong" in results:
        return Meaning("wrong", "arguments", evidence, errors)
    if faults:
        return Meaning("wrong", "order", evidence, ("value",))
    if "undecided" in results:
        return Meaning("undecided", "arguments", evidence)
    return Meaning("acceptable" if "acceptable" in results else "exact", "arguments", evidence)


def _result(match: Match) -> str:
    if match.compared is None:
        return "malformed"
    if match.compared.result == "exact" and match.by != "expected":
        return "acceptable"
    return match.compared.result


def _seen(match: Match) -> dict[str, Any]:
    seen: dict[str, Any] = {"required": match.required, "call": match.call, "by": match.by, "result": _result(match)}
    if match.compared is not None:
        for name in _FINDINGS:
            if entries := getattr(match.compared, name):
                seen[name] = list(entries)
    return seen
