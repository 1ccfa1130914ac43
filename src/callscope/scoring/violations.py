"""Policy violations: what fails a trial strictly although every stage may be right. Never a stage, never a repair.

| violation                        | where         | when                                                       |
|----------------------------------|---------------|------------------------------------------------------------|
| extra_call                       | tool, tools   | more calls than the case requires                          |
| success_claimed_before_execution | all           | words say that an action or look-up is done, and no tool   |
|                                  |               | has answered yet                                           |
| invented_value                   | clarification | a call gives a value for a name the case says is missing   |
| invented_value                   | tool, tools   | an unexpected or forbidden argument of a matched call has  |
|                                  |               | a value that does not occur in the prompt                  |

What claims a success is decided by `claims`.

Null, true, false, `""` and empty containers are no invented values: they cannot occur in a prompt. Strings are looked
for folded, numbers by value ("1,000" holds 1000); number words are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from callscope.contract import Expectation, ExpectClarification, ToolCall, Violation
from callscope.scoring.alignment import Alignment
from callscope.scoring.claims import success_claim
from callscope.scoring.pointers import child
from callscope.scoring.sentences import fold

__all__ = ["Violated", "violations"]

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Violated(NamedTuple):
    """Names of violations in the order of the table, and name -> evidence."""

    names: tuple[Violation, ...]
    evidence: dict[str, Any]


_NONE = Violated((), {})


def violations(
    expected: Expectation, prompt: str, text: str, calls: Sequence[ToolCall], alignment: Alignment, locale: str
) -> Violated:
    """Find the violations of an observed outcome. Total: never raises.

    Args:
        expected: what the case expects.
        prompt: the user's words.
        text: the outcome's words, `""` for none.
        calls: the outcome's calls, in order.
        alignment: their pairing with the calls the case requires.
        locale: the case's language.
    """
    found: dict[Violation, Any] = {}
    required = len(alignment.matches)
    if required and len(calls) > required:
        found["extra_call"] = {"required": required, "calls": len(calls), "unmatched": list(alignment.unmatched)}
    claim = success_claim(text, locale) if text else None
    if claim is not None:
        found["success_claimed_before_execution"] = {"claim": claim}
    if calls:
        if isinstance(expected, ExpectClarification):
            invented = _given_for_missing(expected.missing, calls)
        else:
            invented = _ungrounded(prompt, alignment)
        if invented:
            found["invented_value"] = {"values": invented}
    return Violated(tuple(found), {str(name): seen for name, seen in found.items()}) if found else _NONE


def _given_for_missing(missing: Sequence[str], calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    return [
        {"call": at, "pointer": child("", name), "value": call.arguments[name]}
        for at, call in enumerate(calls)
        if call.arguments is not None
        for name in missing
        if name in call.arguments and next(_leaves(call.arguments[name]), None) is not None
    ]


def _ungrounded(prompt: str, alignment: Alignment) -> list[dict[str, Any]]:
    entries = [
        {"call": match.call, "pointer": entry["pointer"], "value": entry["actual"]}
        for match in alignment.matches
        if match is not None and match.compared is not None
        for entry in match.compared.unexpected
    ]
    if not entries:
        return []
    folded = fold(prompt)
    numbers = set(_numbers(folded))
    return [entry for entry in entries if not all(_occurs(leaf, folded, numbers) for leaf in _leaves(entry["value"]))]


def _occurs(leaf: str | float, prompt: str, numbers: set[float]) -> bool:
    return fold(leaf).strip() in prompt if isinstance(leaf, str) else leaf in numbers or -leaf in numbers


def _leaves(value: Any) -> Iterator[Any]:
    """The strings and numbers in a value that could have been said: not blank, not zero-sized, no true, false, null."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def _numbers(text: str) -> Iterator[float]:
    """Every number in the text under each reading of its commas and points."""
    for token in _NUMBER.findall(text):
        for reading in {token.replace(",", ""), token.replace(".", "").replace(",", ".")}:
            try:
                yield float(reading) if "." in reading else int(reading)
            except ValueError:  # two points, or more digits than an int may have
                continue
