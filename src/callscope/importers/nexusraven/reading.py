"""How a recorded answer reads: the calls that a text in Python makes, with the marks of the authors' models taken off.

| the answer                                                | outcome                                              |
|-----------------------------------------------------------|------------------------------------------------------|
| statements that are calls, or calls assigned to a name    | tool_calls                                           |
| … one with an argument that is no literal (a name, `1+1`) | that one malformed, `not_a_literal`                  |
| text with calls at the beginning of lines                 | tool_calls, of those                                 |
| begins with a call that cannot be read                    | tool_calls, malformed                                |
| anything else, calls in the midst of prose among it       | text                                                 |
| no text, or an error                                      | provider_error                                       |
"""

from __future__ import annotations

import re
from typing import Any

from callscope.contract import ProviderError, Reading, Text, ToolCall, ToolCalls
from callscope.importers.nexusraven.calls import malformed
from callscope.importers.pycalls import (
    Expression,
    PyCall,
    PyFault,
    arguments_of,
    parse_calls,
    parse_loose,
    spans,
)
from callscope.jsontext import JsonFault, parse_json

__all__ = ["WRITTEN", "Reader", "answer_of", "call_text", "calls_of", "is_failure"]

WRITTEN = "python_call"
"""Flag of an outcome whose calls were read out of Python text."""

_TEXT_KEYS = ("response", "prediction", "text", "agent_call")
_FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_FAILED = re.compile(r"\s*Error (?:during inference|code:? ?\d{3})")
_LINE_START = re.compile(r"(?:^|[\n;])[ \t]*(?:r\s*=\s*|\w{1,40}\s*=\s*)?\Z")


def answer_of(row: Any) -> str | None:
    """The text of a recorded row: under `response`, `prediction` or `text`; None where no answer was recorded.

    The authors' own files hold a list there, of which an object has the text under `function_call`.
    """
    if not isinstance(row, dict) or row.get("error") is not None:
        return None
    for key in _TEXT_KEYS:
        value = row.get(key)
        if isinstance(value, list):
            value = next(
                (each["function_call"] for each in value if isinstance(each, dict) and "function_call" in each), None
            )
        if isinstance(value, str):
            return value
    return None


def is_failure(row: Any) -> bool:
    """Whether a recorded row holds no answer: no text, or an inference error in place of it."""
    text = answer_of(row)
    return text is None or _FAILED.match(text) is not None


def call_text(text: str) -> str:
    """The part of an answer that is the call: NexusRaven's marks and a code fence taken off."""
    if "Initial Answer:" in text:
        text = text.partition("Initial Answer:")[2].partition("\nReflection:")[0]
    text = text.partition("<bot_end>")[0].partition("\nThought:")[0]
    fenced = _FENCE.search(text)
    if fenced is not None:
        text = fenced[1]
    return text.strip().removeprefix("Call:").strip()


class _Reader:
    """Reads one recorded answer."""

    def parse(self, status: int, headers: tuple[tuple[str, str], ...], body: bytes, *, stream: bool) -> Reading:
        """The reading of a recorded row. Never raises."""
        del status, headers, stream
        try:
            row = parse_json(body, bad_numbers=True).value
        except JsonFault as fault:
            return _failed("unreadable_row", f"the recorded row is no JSON ({fault.reason})")
        text = answer_of(row)
        if text is None:
            return _failed("no_answer", "no answer was recorded")
        if _FAILED.match(text):
            return _failed("inference_error", text[:200])
        calls = _calls(call_text(text))
        return Reading(ToolCalls(calls, (WRITTEN,)) if calls else Text(text))


Reader = _Reader()


def _failed(code: str, message: str) -> Reading:
    return Reading(ProviderError("provider_error", code, message))


def calls_of(reference: str) -> tuple[ToolCall, ...] | None:
    """The calls of a reference; None where it is anything but calls with literal arguments."""
    try:
        calls = tuple(_call(each, reference) for each in parse_calls(reference))
    except PyFault:
        return None
    return calls if all(each.arguments is not None for each in calls) else None


def _calls(text: str) -> tuple[ToolCall, ...]:
    try:
        return tuple(_call(each, text) for each in parse_calls(text))
    except PyFault:
        pass
    found: list[ToolCall] = []
    for span in spans(text):
        if not _LINE_START.search(text[max(0, span.start - 80) : span.start]):
            continue
        raw = text[span.start : span.end]
        try:
            if span.end is None:
                raise PyFault("truncated")
            found.append(_call(parse_loose(raw), raw))
        except PyFault as fault:
            if not text[: span.start].strip():
                return (malformed(span.name, fault.reason, raw),)
    return tuple(found)


def _call(call: PyCall, raw: str) -> ToolCall:
    if _has_expression(call):
        return malformed(call.name, "not_a_literal", raw)
    return ToolCall(None, call.name, arguments_of(call))


def _has_expression(value: Any) -> bool:
    if isinstance(value, PyCall):
        return any(map(_has_expression, value.positional)) or any(_has_expression(each) for _, each in value.named)
    if isinstance(value, list):
        return any(map(_has_expression, value))
    return isinstance(value, Expression) or (isinstance(value, dict) and any(map(_has_expression, value.values())))
