"""The verdict of a trial: the stages composed, `passed` decided. Pure in the case, the tools and the outcome.

Judges one outcome, the model's first response; what became of a conversation comes in as `recovery` and is only placed.

`passed` is strict. The first row that holds decides:

| found                                                              | passed | rule              |
|--------------------------------------------------------------------|--------|-------------------|
| not accepted                                                       | None   | not_observed      |
| the case is excluded                                               | None   | case_excluded     |
| a selection that is neither right nor undecided                    | False  | selection_failed  |
| structure invalid or malformed                                     | False  | structure_failed  |
| semantics wrong                                                    | False  | semantics_failed  |
| any violation                                                      | False  | policy_violated   |
| selection or semantics undecided                                   | None   | undecided         |
| structure could not be judged: schema_error, undecided_pattern, or | None   | undecided         |
| the required tool was not among those offered                      |        |                   |
| otherwise                                                          | True   | all_stages_passed |

A suite may declare that an explicit null means the argument was left out (`null_means_absent`: a provider's strict mode
requires every property). Such nulls are taken out for the pairing and everything that reads it (semantics, violations,
attribution), never for structure, and the evidence lists them.

Calls of other tools beside an abstention's `target` were neither asked for nor forbidden: their structure is listed in
the evidence and does not count (`not_applicable`, rule `not_required`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import structs

from callscope.contract import (
    Case,
    ExpectedCall,
    Outcome,
    Ruling,
    Tool,
    ToolCall,
    ToolCalls,
    TrialKey,
    Verdict,
    expected_calls,
    offered_tools,
)
from callscope.contract import tools_by_name as by_name
from callscope.scoring.acceptance import Accepted, acceptance
from callscope.scoring.alignment import Alignment, align, rules_of
from callscope.scoring.arguments import ruled
from callscope.scoring.attribution import attribution, gold_outside_schema
from callscope.scoring.dates import offset_of
from callscope.scoring.guards import guarded
from callscope.scoring.intext import told_by_tools
from callscope.scoring.plain import plainly_right
from callscope.scoring.selection import prose, selection
from callscope.scoring.semantics import Meaning, semantics
from callscope.scoring.structure import Structured, structure
from callscope.scoring.violations import Violated, violations

__all__ = ["evaluate"]

_RIGHT = ("correct_tool", "clarified_as_expected", "abstained_correctly")


def evaluate(
    case: Case,
    tools: tuple[Tool, ...],
    outcome: Outcome,
    *,
    key: TrialKey | None = None,
    recovery: dict[str, Any] | None = None,
    null_means_absent: Mapping[str, Collection[str]] | None = None,
    rulings: Sequence[Ruling] = (),
) -> Verdict:
    """Judge one outcome of one case.

    Args:
        case: the case, whose `tools` say which of the suite's tools were offered.
        tools: the suite's tools, untouched.
        outcome: what came, as an adapter read it.
        key: what names the trial; None: suite "", experiment "auto", model "", repeat 0.
        recovery: the verdict of the conversation, placed as it is; it does not change `passed`.
        null_means_absent: tool name -> arguments whose explicit null counts as left out (`Suite.null_means_absent`).
        rulings: what a judge ruled on arguments that the rules left open; they count in semantics and attribution.

    Never raises on any outcome of JSON values and any case the suite reader accepts. Every stage's evidence is in
    `evidence` (JSON values, lone surrogates kept: write them with `jsontext.dump_faithful`), its rule in `decided_by`.
    """
    if key is None:
        key = TrialKey("", "auto", "", case.id, 0)
    if not rulings and not null_means_absent and case.excluded is None:
        plain = plainly_right(case, outcome, by_name(offered_tools(case, tools)), key, recovery)
        if plain is not None:
            return plain
    accepted = acceptance(outcome)
    if accepted.value != "accepted":
        return _not_observed(key, outcome, accepted, recovery)
    offered = by_name(offered_tools(case, tools))
    outcome = told_by_tools(outcome, offered)
    calls = tuple([guarded(call) for call in outcome.calls]) if isinstance(outcome, ToolCalls) else ()
    required = expected_calls(case.expected)
    meant, left_out = _without_nulls(calls, null_means_absent or {})
    aligned = _judged(
        align(required, meant, offered, offset_of(case.reference_time)), rulings, required, meant, offered
    )

    selected = selection(case.expected, outcome, calls, aligned, case.locale, case.prompt)
    structured = structure(calls, offered)
    if selected.rule == "target_not_called":
        structured = structured._replace(value="not_applicable", rule="not_required")
    meaning = semantics(case.expected, aligned)
    violated = violations(case.expected, case.prompt, prose(outcome), meant, aligned, case.locale)
    attributed = attribution(case.expected, selected.value, required, aligned, structured.calls, meaning, offered)
    passed, rule = _passed(selected.value, structured, meaning, violated)
    if case.excluded is not None:
        passed, rule = None, "case_excluded"

    flags = [*outcome.flags, *selected.flags, *structured.flags]
    if structured.value == "invalid" and gold_outside_schema(required, aligned, structured.calls):
        flags.append("gold_outside_schema")
    evidence: dict[str, Any] = {} if case.excluded is None else {"excluded": case.excluded}
    if selected.evidence:
        evidence["selection"] = selected.evidence
    if structured.calls:
        evidence["structure"] = {"calls": list(structured.calls)}
    if meaning.evidence:
        evidence["semantics"] = meaning.evidence
    if left_out:
        evidence.setdefault("semantics", {})["null_means_absent"] = left_out
    if violated.evidence:
        evidence["violations"] = violated.evidence
    if attributed.evidence:
        evidence["attribution"] = attributed.evidence
    return Verdict(
        suite=key.suite,
        experiment=key.experiment,
        model=key.model,
        case_id=key.case_id,
        repeat=key.repeat,
        acceptance="accepted",
        selection=selected.value,
        structure=structured.value,
        semantics=meaning.value,
        attribution=attributed.value,
        violations=violated.names,
        recovery=recovery,
        passed=passed,
        flags=tuple(dict.fromkeys(flags)),
        evidence=evidence,
        decided_by={
            "acceptance": accepted.rule,
            "selection": selected.rule,
            "structure": structured.rule,
            "semantics": f"judge {rulings[0].judge}" if rulings else meaning.rule,
            "attribution": attributed.rule,
            "passed": rule,
        },
    )


def _without_nulls(
    calls: Sequence[ToolCall], absent: Mapping[str, Collection[str]]
) -> tuple[tuple[ToolCall, ...], list[dict[str, Any]]]:
    """The calls without the nulls that are declared to mean nothing, and which those were, by the call's place."""
    meant, left_out = [], []
    for place, call in enumerate(calls):
        names = [name for name in absent.get(call.name, ()) if (call.arguments or {}).get(name, "") is None]
        if names and call.arguments is not None:
            call = structs.replace(call, arguments={k: v for k, v in call.arguments.items() if k not in names})
            left_out.append({"call": place, "arguments": names})
        meant.append(call)
    return tuple(meant), left_out


def _judged(
    aligned: Alignment,
    rulings: Sequence[Ruling],
    required: Sequence[ExpectedCall],
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool],
) -> Alignment:
    """The alignment with a judge's rulings in it; one on a pair that is not aligned is passed over."""
    if not rulings:
        return aligned
    matches = []
    for match in aligned.matches:
        if match is not None and match.compared is not None:
            said = {one.argument: one for one in rulings if (one.required, one.call) == (match.required, match.call)}
            tool = tools.get(calls[match.call].name)
            compared = ruled(
                match.compared, said, rules_of(match, required), tool.parameters if tool is not None else None
            )
            match = match._replace(compared=compared)
        matches.append(match)
    return aligned._replace(matches=tuple(matches))


def _passed(selected: str, structured: Structured, meaning: Meaning, violated: Violated) -> tuple[bool | None, str]:
    if selected not in _RIGHT and selected != "undecided":
        return False, "selection_failed"
    if structured.value in ("invalid", "malformed"):
        return False, "structure_failed"
    if meaning.value == "wrong":
        return False, "semantics_failed"
    if violated.names:
        return False, "policy_violated"
    if selected == "undecided" or meaning.value == "undecided" or structured.undecided:
        return None, "undecided"
    if selected == "correct_tool" and any(seen["rule"] == "unknown_tool" for seen in structured.calls):
        return None, "undecided"
    return True, "all_stages_passed"


def _not_observed(key: TrialKey, outcome: Outcome, accepted: Accepted, recovery: dict[str, Any] | None) -> Verdict:
    stages = ("selection", "structure", "semantics", "attribution", "passed")
    return Verdict(
        suite=key.suite,
        experiment=key.experiment,
        model=key.model,
        case_id=key.case_id,
        repeat=key.repeat,
        acceptance=accepted.value,
        selection="not_observed",
        structure="not_applicable",
        semantics="not_applicable",
        attribution="not_observed",
        violations=(),
        recovery=recovery,
        passed=None,
        flags=tuple(dict.fromkeys(outcome.flags)),
        evidence={"acceptance": accepted.evidence},
        decided_by={"acceptance": accepted.rule, **dict.fromkeys(stages, "not_observed")},
    )
