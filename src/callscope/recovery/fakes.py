"""Deterministic fake tools: the suite's table of answers behind strict validation, and error envelopes.

No business system is ever contacted. An envelope never holds an internal exception, only what the model may act on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callscope.canonical import canonical, canonical_hash
from callscope.contract import FakeAnswer, Tool, ToolCall, ToolResult
from callscope.contract import tools_by_name as by_name
from callscope.scoring import validate_arguments

__all__ = ["answer_calls", "call_hash", "error_envelope"]


def error_envelope(
    code: str, message: str, *, retryable: bool, field: str | None = None, details: Any = None
) -> dict[str, Any]:
    """`{"ok": false, "error": {code, message, field?, retryable, details?}}`, as the harness document lays it out."""
    error: dict[str, Any] = {"code": code, "message": message, "retryable": retryable}
    if field is not None:
        error["field"] = field
    if details is not None:
        error["details"] = details
    return {"ok": False, "error": error}


def call_hash(call: ToolCall) -> str:
    """What identifies a call for loop detection: its name and canonical arguments (or malformed text), never its id."""
    if call.malformed is not None:
        return canonical_hash([call.name, "malformed", call.malformed.raw])
    return canonical_hash([call.name, call.arguments])


def answer_calls(
    calls: Sequence[ToolCall], tools: tuple[Tool, ...], fakes: Mapping[str, tuple[FakeAnswer, ...]]
) -> tuple[ToolResult, ...]:
    """One result for each call, in call order. Invalid calls get an INVALID_ARGUMENTS envelope and are not executed."""
    known = by_name(tools)
    results = []
    for position, call in enumerate(calls):
        content = _answer(call, known.get(call.name), fakes.get(call.name, ()))
        failed = isinstance(content, dict) and content.get("ok") is False
        results.append(ToolResult(position, call.id, call.name, content, failed))
    return tuple(results)


def _first_name(pointer: str) -> str | None:
    """The argument a JSON pointer begins with; None for the whole."""
    name = pointer.removeprefix("/").partition("/")[0]
    return name.replace("~1", "/").replace("~0", "~") or None


def _answer(call: ToolCall, tool: Tool | None, answers: tuple[FakeAnswer, ...]) -> Any:
    if tool is None:
        return error_envelope("UNKNOWN_TOOL", "There is no tool of that name.", retryable=False)
    if call.malformed is not None or call.arguments is None:
        return error_envelope("INVALID_ARGUMENTS", "The arguments are not a JSON object.", retryable=True)
    problems = validate_arguments(tool, call.arguments)
    if problems:
        details = [{"pointer": problem.pointer, "message": problem.message} for problem in problems]
        return error_envelope(
            "INVALID_ARGUMENTS",
            "The arguments do not match the tool's schema.",
            retryable=True,
            field=_first_name(problems[0].pointer),
            details=details,
        )
    for answer in answers:
        if all(
            name in call.arguments and canonical(call.arguments[name]) == canonical(value)
            for name, value in answer.when.items()
        ):
            return answer.result
    return error_envelope("NO_RESULT", "Nothing is known for these arguments.", retryable=False)
