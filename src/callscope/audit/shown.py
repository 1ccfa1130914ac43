"""An item as the review page and the sheets show it: texts made inert, JSON that can be copied, the question's words.

Pure. Nothing sealed comes in here, so nothing sealed can be shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from callscope.audit.designs import question
from callscope.audit.gold import plain_gold
from callscope.audit.items import Answer, AuditItem, Predicted
from callscope.contract import (
    ArgumentRules,
    Expectation,
    ExpectClarification,
    ExpectNoCall,
    ExpectText,
    ExpectTools,
    ToolCall,
    expected_calls,
)
from callscope.reports.safe import inert

__all__ = ["gold_calls", "gold_words", "json_text", "plain_answer", "predicted_calls", "predicted_words", "view"]

_NEED: Mapping[str, str] = {
    "positive": "The gold calls a tool. Is it right that a call is needed?",
    "underspecified": "The gold asks back. Is it right that a call is meant, but too little is said to make it?",
    "targeted_negative": "The gold does not call {target}. Is it right that this tool must not be called?",
    "global_negative": "The gold calls no tool. Is it right that no call is needed?",
}
_ASKS: Mapping[str, str] = {
    "target": "Does the gold call the right tool?",
    "args": "Are the gold's arguments right, each grounded in the request?",
    "attribution": "Compare the answer with the gold. What is it?",
}


def view(item: AuditItem) -> dict[str, Any]:
    """Everything the page shows of an item, as strings that need no more than escaping of markup."""
    facts = {"language": item.locale}
    if item.reference_time is not None:
        facts["reference time"] = item.reference_time
    shown: dict[str, Any] = {
        "id": item.id,
        "query": inert(item.query),
        "system": inert(item.system),
        "earlier": [{"role": message.role, "text": inert(message.text)} for message in item.messages],
        "facts": [[name, inert(value)] for name, value in facts.items()],
        "tools": [
            {"name": inert(tool.name), "about": inert(tool.description), "parameters": json_text(tool.parameters)}
            for tool in item.tools
        ],
        "gold": {
            "says": gold_words(item.gold),
            "calls": gold_calls(item.gold),
            "json": json_text(plain_gold(item.gold)),
        },
        "predicted": None if item.predicted is None else _predicted(item.predicted),
        "questions": [_question(item, name) for name in item.asked],
    }
    return shown


def plain_answer(answer: Answer | None) -> dict[str, Any]:
    """An answer as the page has it: the correction as JSON text, "" where there is none."""
    if answer is None:
        return {"answers": {}, "note": "", "correction": ""}
    correction = "" if answer.correction is None else json_text(answer.correction)
    return {"answers": answer.answers, "note": answer.note, "correction": correction}


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """A JSON value as text that reads back to the same value and holds nothing invisible or reordering.

    Every character that is not printable is written as JSON's own escape. Short values stand on one line.
    """
    flat = json.dumps(value, ensure_ascii=False)
    text = flat if indent is None or len(flat) <= 60 else json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(c if _visible(c) else _escaped(c) for c in text)


def _visible(character: str) -> bool:
    return character == "\n" or (character.isprintable() and inert(character) == character)


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) > 126 else f"\\u{ord(character):04x}"


def gold_words(gold: Expectation) -> str:
    """What the gold asks for, in words."""
    if isinstance(gold, ExpectText):
        return "No call: an answer in prose, or a refusal."
    if isinstance(gold, ExpectNoCall):
        return "No call." if gold.target is None else f"No call of {inert(gold.target)}."
    if isinstance(gold, ExpectClarification):
        names = ", ".join(inert(name) for name in gold.missing)
        return f"No call yet: a question for what is missing ({names})."
    if isinstance(gold, ExpectTools) and len(gold.calls) != 1:
        return f"{len(gold.calls)} calls{', in this order' if gold.ordered else ''}."
    return "One call."


def gold_calls(gold: Expectation) -> list[dict[str, str]]:
    """The calls the gold requires, alternatives after their call: `name`, `arguments` as JSON text, and `kind`."""
    shown = []
    for call in expected_calls(gold):
        shown.append({"kind": "call", "name": inert(call.name), "arguments": _rules(call.arguments)})
        shown.extend(
            {"kind": "or", "name": inert(other.name or call.name), "arguments": _rules(other.arguments)}
            for other in call.alternatives
        )
    return shown


def _rules(rules: ArgumentRules) -> str:
    """Exact arguments as they would be sent; anything more as the rules that are written."""
    plain = {
        name: value
        for name, value in msgspec.to_builtins(rules).items()
        if value != getattr(ArgumentRules(), name) and value not in ([], {}, ())
    }
    return json_text(plain.get("required_equals", {}) if set(plain) <= {"required_equals"} else plain)


def predicted_words(predicted: Predicted) -> str:
    """What the model did, in words."""
    count = len(predicted.calls)
    if predicted.kind == "tool_calls":
        return "One call." if count == 1 else f"{count} calls."
    return "No call: text." if predicted.kind == "text" else "No call: a refusal."


def predicted_calls(predicted: Predicted) -> list[dict[str, str]]:
    """The calls the model made, in its order; arguments that are no JSON object are given as written."""
    return [{"kind": "call", "name": inert(call.name), "arguments": _arguments(call)} for call in predicted.calls]


def _arguments(call: ToolCall) -> str:
    if call.malformed is not None:
        return f"no JSON object ({inert(call.malformed.reason)}): {inert(call.malformed.raw)}"
    return json_text(call.arguments)


def _predicted(predicted: Predicted) -> dict[str, Any]:
    text = None if predicted.text is None else inert(predicted.text)
    return {"says": predicted_words(predicted), "calls": predicted_calls(predicted), "text": text}


def _question(item: AuditItem, name: str) -> dict[str, Any]:
    asks = _ASKS.get(name)
    if asks is None:
        target = getattr(item.gold, "target", None)
        asks = _NEED[item.item].format(target=inert(target) if target else "its target")
    return {"name": name, "asks": asks, "answers": list(question(name).answers.items())}
