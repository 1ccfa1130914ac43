"""What one call of a judge said about the argument it was asked about. Reads; `decision` decides.

The answer is a call of `record_verdicts`, or, for models that cannot call, a JSON object of the same form as the text.

| the answer                                                    | said                         |
|---------------------------------------------------------------|------------------------------|
| calls of record_verdicts with one verdict on the argument     | that verdict                 |
| no such call, and the text is the JSON object of the form     | that verdict                 |
| … alone, in one fenced block, or as `{"name", "arguments"}`   | that verdict                 |
| two verdicts on the argument that are not the same            | unreadable contradicts_itself |
| an entry that lacks a field, or has another verdict           | unreadable bad_entry         |
| no entry for the argument                                     | unreadable argument_missing  |
| equivalent or different, and the quote is empty, or neither   | unreadable quote_not_found   |
| in what the user said nor in one of the values                |                              |
| anything else: other calls, malformed calls, prose, a refusal | unreadable no_verdicts       |

What cannot be read counts as `cannot_assess` and is counted apart. Nothing is repaired, and no verdict is guessed at
from prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from callscope.contract import Outcome, Text, ToolCalls
from callscope.jsontext import JsonFault, parse_json
from callscope.judge.prompting import TOOL
from callscope.judge.questions import Question

__all__ = ["Said", "read_answer"]

Says = Literal["equivalent", "different", "cannot_assess", "unreadable"]
_VERDICTS = ("equivalent", "different", "cannot_assess")
_FIELDS = ("argument", "verdict", "reason", "quote")
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_LONGEST = 100_000
"""Characters of a text that may be an answer."""


class Said(NamedTuple):
    """What a call said. `reason` is the judge's sentence; of an unreadable answer, why it cannot be read."""

    verdict: Says
    reason: str = ""
    quote: str = ""


def read_answer(outcome: Outcome, question: Question) -> Said:
    """What an answer says about the question. Never raises, on any outcome."""
    found = list(_entries(outcome))
    if not found:
        return Said("unreadable", "no_verdicts")
    entries = [entry for entry in found if isinstance(entry, dict) and entry.get("argument") == question.argument]
    if not entries:
        return Said("unreadable", "argument_missing")
    said = [_entry(entry, question) for entry in entries]
    if len({one.verdict for one in said}) > 1:
        return Said("unreadable", "contradicts_itself")
    return said[0]


def _entry(entry: dict[str, Any], question: Question) -> Said:
    if not all(isinstance(entry.get(name), str) for name in _FIELDS) or entry["verdict"] not in _VERDICTS:
        return Said("unreadable", "bad_entry")
    if entry["verdict"] != "cannot_assess" and not _stands_in(entry["quote"], question):
        return Said("unreadable", "quote_not_found")
    return Said(entry["verdict"], entry["reason"], entry["quote"])


def _stands_in(quote: str, question: Question) -> bool:
    """Whether a quote is a passage of what the user said or of a value, letter by letter."""
    if not quote.strip():
        return False
    values = (value if isinstance(value, str) else str(value) for value in (question.first, question.second))
    return any(quote in text for text in (question.query, *values))


def _entries(outcome: Outcome) -> Iterator[Any]:
    """The entries of every list of verdicts in the answer."""
    if isinstance(outcome, ToolCalls):
        objects = [call.arguments for call in outcome.calls if call.name == TOOL]
    elif isinstance(outcome, Text):
        objects = [_object(outcome.text)]
    else:
        objects = []
    for value in objects:
        listed = value.get("verdicts") if isinstance(value, dict) else None
        if isinstance(listed, list):
            yield from listed


def _object(text: str) -> Any:
    """The JSON object that a text is, or that its one fenced block is; None where there is none."""
    if len(text) > _LONGEST:
        return None
    fenced = _FENCED.findall(text)
    try:
        value = parse_json(fenced[0] if len(fenced) == 1 else text.strip()).value
    except JsonFault:
        return None
    if isinstance(value, dict) and value.get("name") == TOOL:
        return value.get("arguments", value.get("parameters"))
    return value
