"""What kind of failure a trial is, in PluginEval's terms: one category, positives and negatives apart.

Says nothing new; it reads the stages. Extra calls and claims do not change it, so it can be `correct` where the strict
`passed` is false.

| case                | found                                               | attribution              | rule |
|---------------------|-----------------------------------------------------|--------------------------|------|
| any                 | not accepted                                        | not_observed             | a    |
| text, no_call       | called_when_abstention_expected                     | over_recall              | b    |
| clarification       | guessed_instead_of_clarifying                       | over_recall              | b    |
| clarification       | otherwise, whatever the words                       | correct                  | c    |
| text, no_call       | selection undecided (a call in the reasoning)       | judge_failure            | d    |
| text, no_call       | otherwise                                           | correct                  | e    |
| tool, tools         | a required call is unanswered (another tool, words) | miss_recall              | f    |
| tool, tools         | a ruled or schema-required argument is absent       | parameter_error.missing  | g    |
| tool, tools         | a wrong or schema-breaking argument is temporal     | parameter_error.temporal | g    |
| tool, tools         | another wrong value, malformed, order broken        | parameter_error.value    | g    |
| tool, tools         | semantics undecided                                 | judge_failure            | h    |
| tool, tools         | otherwise                                           | correct                  | i    |

Rules: a not_observed, b negative_with_call, c both_empty, d selection_undecided, e negative_without_call,
f required_call_absent, g parameters, h semantics_undecided, i all_required_right.

The kinds of parameter error stand in this order (missing, temporal, value); the evidence lists every kind found, those
of the calls that came beside a missing one too (the multi-label view). A
malformed attempt is a `value` error: arguments were given and cannot be used, and what they would have held is not
guessed at. Arguments that meet the rules and break the schema are a parameter error too: no server would take them.

Sources: the PluginEval document, error categories; its worked-out proposal, 9.4 to 9.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from callscope.contract import (
    ArgumentRules,
    Attribution,
    Expectation,
    ExpectClarification,
    ExpectedCall,
    ExpectTool,
    ExpectTools,
    Selection,
    Tool,
)
from callscope.scoring.alignment import Alignment, Match, rules_of
from callscope.scoring.arguments import ErrorKind, is_temporal
from callscope.scoring.pointers import first_part
from callscope.scoring.semantics import Meaning

__all__ = ["Attributed", "attribution", "gold_outside_schema"]

_CATEGORY: tuple[tuple[ErrorKind, Attribution], ...] = (
    ("missing", "parameter_error.missing"),
    ("temporal", "parameter_error.temporal"),
    ("value", "parameter_error.value"),
)


class Attributed(NamedTuple):
    """The category, the rule that chose it, and its evidence."""

    value: Attribution
    rule: str
    evidence: dict[str, Any]


def attribution(
    expected: Expectation,
    selected: Selection,
    required: Sequence[ExpectedCall],
    alignment: Alignment,
    structures: Sequence[Mapping[str, Any]],
    meaning: Meaning,
    tools: Mapping[str, Tool],
) -> Attributed:
    """Attribute an observed trial. Total: never raises.

    Args:
        expected: what the case expects.
        selected: the selection stage's decision.
        required: the calls the case requires.
        alignment: which call answers which of them.
        structures: the structure stage's evidence for each call.
        meaning: the semantics stage.
        tools: name -> tool, for declared formats.
    """
    if not isinstance(expected, (ExpectTool, ExpectTools)):
        return _negative(expected, selected)
    kinds: set[ErrorKind] = set(meaning.errors)
    for match in [match for match in alignment.matches if match is not None]:
        kinds |= _structural(match, rules_of(match, required), structures[match.call], tools)
        kinds |= set(match.compared.errors) if match.compared is not None else set()
    listed = [(kind, category) for kind, category in _CATEGORY if kind in kinds]
    if alignment.answered < len(required):
        return Attributed("miss_recall", "required_call_absent", {"errors": ["miss", *[kind for kind, _ in listed]]})
    if kinds:
        return Attributed(listed[0][1], "parameters", {"errors": [kind for kind, _ in listed]})
    if meaning.value == "undecided":
        return Attributed("judge_failure", "semantics_undecided", {})
    return Attributed("correct", "all_required_right", {})


def _negative(expected: Expectation, selected: Selection) -> Attributed:
    if selected in ("called_when_abstention_expected", "guessed_instead_of_clarifying"):
        return Attributed("over_recall", "negative_with_call", {})
    if isinstance(expected, ExpectClarification):
        return Attributed("correct", "both_empty", {})
    if selected == "undecided":
        return Attributed("judge_failure", "selection_undecided", {})
    return Attributed("correct", "negative_without_call", {})


def _structural(
    match: Match, rules: ArgumentRules, seen: Mapping[str, Any], tools: Mapping[str, Tool]
) -> set[ErrorKind]:
    if match.compared is None:
        return {"value"}
    kinds: set[ErrorKind] = set()
    if seen["rule"] == "schema_violated":
        schema = tools[seen["name"]].parameters
        for error in seen["errors"]:
            for name in _arguments_of(error):
                if error["keyword"] == "required" and error["pointer"] == "":
                    kinds.add("missing")
                else:
                    kinds.add("temporal" if is_temporal(name, rules, schema) else "value")
    return kinds


def _arguments_of(error: Mapping[str, Any]) -> list[str]:
    """The top-level arguments an error speaks of; `[""]` where it speaks of the whole object."""
    argument = first_part(error["pointer"])
    return [argument] if argument is not None else list(error.get("names", [""]))


def gold_outside_schema(
    required: Sequence[ExpectedCall], alignment: Alignment, structures: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether a call meets the case's rules and still breaks the schema in an argument whose value those rules fix, or
    lacks a required argument of which they do not speak: then the case is at fault (scoring-faults 15 and 18)."""
    for match in alignment.matches:
        if match is None or match.compared is None or match.compared.result == "wrong":
            continue
        rules = rules_of(match, required)
        for error in structures[match.call].get("errors", ()):
            absent = error["keyword"] == "required" and error["pointer"] == ""
            spoken = {*rules.required_equals, *rules.one_of, *(rules.constraints if absent else ())}
            if any((name in spoken) != absent for name in _arguments_of(error)):
                return True
    return False
