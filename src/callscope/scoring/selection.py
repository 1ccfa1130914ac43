"""Stage 2: did the model choose as the case expects: call, abstain, or ask? Names and presence only, never arguments.

A call is a call because it is there, never because of a finish reason; a malformed attempt with the right name is the
right choice (structure judges the rest). Names are compared exactly; an adapter that had to rename a tool has already
undone it. `text_tool_call` (a call written into the prose) earns nothing anywhere. A refusal is told by its kind.

**tool** (exactly one call), and **tools** (several), where no call came:

| outcome                           | selection               | rule                 |
|-----------------------------------|-------------------------|----------------------|
| refusal                           | refused                 | refusal              |
| text flagged `text_tool_call`     | no_call_when_expected   | call_in_text         |
| text that asks (`clarification`)  | clarified_unnecessarily | text_asks            |
| other text, or none               | no_call_when_expected   | no_call              |

**tool**, where calls came ("right": the expected name, or that of a listed alternative):

| calls                             | selection                        | rule                  |
|-----------------------------------|----------------------------------|-----------------------|
| one, right                        | correct_tool                     | one_call_right_name   |
| one, other                        | wrong_tool                       | no_call_of_right_name |
| several, none right               | wrong_tool                       | no_call_of_right_name |
| several, at least one right       | multiple_calls_when_one_expected | several_calls         |

**tools**, where calls came (names paired by `alignment`; too many calls are a violation, not a selection):

| calls                                          | selection             | rule                  |
|------------------------------------------------|-----------------------|-----------------------|
| every required call answered                   | correct_tool          | all_required_called   |
| some not, and a call names no required tool    | wrong_tool            | other_tool_called     |
| some not, otherwise                            | no_call_when_expected | required_call_absent  |

**text**, and **no_call** (with a `target`, only calls of the target count):

| outcome                                        | selection                       | rule                   |
|------------------------------------------------|---------------------------------|------------------------|
| a call that counts                             | called_when_abstention_expected | call_made              |
| `text_tool_call` (with a target: naming it)    | called_when_abstention_expected | call_in_text           |
| nothing but a call in the hidden reasoning     | undecided                       | call_in_reasoning      |
| `text_like_a_call` (without a target)          | undecided                       | text_like_a_call       |
| calls of other tools than the target           | abstained_correctly             | target_not_called      |
| text, refusal (said in the evidence)           | abstained_correctly             | no_call                |

**clarification**:

| outcome                           | selection                     | rule                       |
|-----------------------------------|-------------------------------|----------------------------|
| any call                          | guessed_instead_of_clarifying | call_made                  |
| `text_tool_call`                  | guessed_instead_of_clarifying | call_in_text               |
| `text_like_a_call` (`intext`)     | undecided                     | text_like_a_call           |
| refusal                           | refused                       | refusal                    |
| text                              | as `clarification` decides    | its rule                   |

Sources: the harness document, "Tool selection"; scoring-faults 1, 4-7, 20, 22, 29 (gorilla #1362, #1316, #854, #796).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from callscope.contract import (
    Expectation,
    ExpectClarification,
    ExpectNoCall,
    ExpectText,
    ExpectTool,
    ExpectTools,
    Outcome,
    Refusal,
    Selection,
    ToolCall,
)
from callscope.scoring.alignment import Alignment
from callscope.scoring.clarification import asks, clarifies, names_in
from callscope.scoring.intext import LIKE_A_CALL
from callscope.scoring.sentences import fold

__all__ = ["Selected", "prose", "selection"]


class Selected(NamedTuple):
    """The decision, its rule, and what it saw. `flags` are added to the verdict's."""

    value: Selection
    rule: str
    evidence: dict[str, Any]
    flags: tuple[str, ...] = ()


def prose(outcome: Outcome) -> str:
    """The words of an outcome, `""` where it has none (provider errors have none)."""
    return getattr(outcome, "text", None) or ""


def selection(
    expected: Expectation,
    outcome: Outcome,
    calls: Sequence[ToolCall],
    alignment: Alignment,
    locale: str,
    prompt: str = "",
) -> Selected:
    """Decide the selection of an observed outcome.

    Args:
        expected: what the case expects.
        outcome: what came; its kind, flags and words.
        calls: its calls, in order; empty for an outcome without any.
        alignment: the pairing of the calls with the calls the case requires.
        locale: the case's language, for the text rules.
        prompt: the user's words: a value in them is no guess of the model's.
    """
    seen: dict[str, Any] = {"called": [call.name for call in calls]} if calls else {}
    flags = ("missing_name",) if any(not call.name for call in calls) else ()
    if isinstance(expected, (ExpectTool, ExpectTools)):
        if not calls and not (isinstance(expected, ExpectTools) and not expected.calls):
            return _positive_without_call(outcome, locale)
        decided = (
            _one_expected(calls, alignment) if isinstance(expected, ExpectTool) else _many(expected, calls, alignment)
        )
    elif isinstance(expected, ExpectClarification):
        decided = _clarification(expected, outcome, calls, locale, prompt)
    else:
        decided = _negative(expected, outcome, calls)
    return decided._replace(evidence={**seen, **decided.evidence}, flags=flags)


def _positive_without_call(outcome: Outcome, locale: str) -> Selected:
    if isinstance(outcome, Refusal):
        return Selected("refused", "refusal", {})
    if "text_tool_call" in outcome.flags:
        return Selected("no_call_when_expected", "call_in_text", {})
    question = asks(prose(outcome), locale)
    if question is not None:
        return Selected("clarified_unnecessarily", "text_asks", {"asking": [question]})
    return Selected("no_call_when_expected", "no_call", {})


def _one_expected(calls: Sequence[ToolCall], alignment: Alignment) -> Selected:
    if not alignment.answered:
        return Selected("wrong_tool", "no_call_of_right_name", {})
    if len(calls) == 1:
        return Selected("correct_tool", "one_call_right_name", {})
    return Selected("multiple_calls_when_one_expected", "several_calls", {"calls": len(calls)})


def _many(expected: ExpectTools, calls: Sequence[ToolCall], alignment: Alignment) -> Selected:
    evidence: dict[str, Any] = {"answered": alignment.answered, "required": len(expected.calls)}
    if alignment.answered == len(expected.calls):
        return Selected("correct_tool", "all_required_called", evidence)
    unanswered = [row for row, match in enumerate(alignment.matches) if match is None]
    evidence["unanswered"] = [{"required": row, "name": expected.calls[row].name} for row in unanswered]
    names = {wanted.name for wanted in expected.calls}
    names |= {other.name for wanted in expected.calls for other in wanted.alternatives if other.name is not None}
    if any(call.name not in names for call in calls):
        return Selected("wrong_tool", "other_tool_called", evidence)
    return Selected("no_call_when_expected", "required_call_absent", evidence)


def _negative(expected: ExpectText | ExpectNoCall, outcome: Outcome, calls: Sequence[ToolCall]) -> Selected:
    target = expected.target if isinstance(expected, ExpectNoCall) else None
    evidence: dict[str, Any] = {} if target is None else {"target": target}
    if any(target is None or call.name == target for call in calls):
        return Selected("called_when_abstention_expected", "call_made", evidence)
    if "text_tool_call" in outcome.flags and (
        target is None or names_in(fold(prose(outcome)), (target,), {target: (target,)})
    ):
        return Selected("called_when_abstention_expected", "call_in_text", evidence)
    if calls:
        return Selected("abstained_correctly", "target_not_called", evidence)
    if "reasoning_tool_call" in outcome.flags:
        return Selected("undecided", "call_in_reasoning", evidence)
    if target is None and LIKE_A_CALL in outcome.flags:
        return Selected("undecided", "text_like_a_call", evidence)
    if isinstance(outcome, Refusal):
        evidence["refusal"] = True
    return Selected("abstained_correctly", "no_call", evidence)


def _clarification(
    expected: ExpectClarification, outcome: Outcome, calls: Sequence[ToolCall], locale: str, prompt: str
) -> Selected:
    if calls:
        return Selected("guessed_instead_of_clarifying", "call_made", {})
    if isinstance(outcome, Refusal):
        return Selected("refused", "refusal", {})
    if "text_tool_call" in outcome.flags:
        return Selected("guessed_instead_of_clarifying", "call_in_text", {})
    if LIKE_A_CALL in outcome.flags:
        return Selected("undecided", "text_like_a_call", {})
    return Selected(*clarifies(prose(outcome), expected.missing, expected.words, locale, prompt))
