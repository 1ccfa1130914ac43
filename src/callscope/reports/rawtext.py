"""The stored bytes of a trial as text: the last attempt of every round, request and response, inert.

What all trials of a model share in a request (its tools, its system text) is cut unless everything is asked for; the
conversation and the response are not. The bytes that are shown are the stored ones, never written anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from callscope.contract import Record
from callscope.reports.safe import clip, inert, one_line

__all__ = ["RAW_LIMIT", "raw_text"]

RAW_LIMIT = 100_000
"""Bytes of a body that are shown at most where not everything is asked for."""

_SHARED = {
    "tools", "functions", "toolConfig", "tool_config", "tool_choice", "system", "instructions", "systemInstruction",
    "system_instruction",
}  # fmt: skip
"""Members of a request that every trial of a block repeats."""

_TURNS = {"messages", "input", "contents"}
_SHARED_ROLES = {"system", "developer"}
_SHORT = 160
"""Shorter shared parts are left standing."""

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(strict=False)


class _Part(NamedTuple):
    """A member or element of a JSON text: its name ("" in an array), where its value starts and stops."""

    name: str
    start: int
    stop: int


def raw_text(record: Record, *, limit: int = RAW_LIMIT, full: bool = False) -> str:
    """The last attempt of every round; with `full` whole, else with shared parts cut and at most `limit` bytes a body.

    What is cut says how much it was.
    """
    lines: list[str] = []
    for number, each in enumerate(record.rounds, 1):
        if not each.exchanges:
            continue
        last = each.exchanges[-1]
        lines.append(
            f"round {number}, attempt {last.attempt} of {len(each.exchanges)}: {one_line(last.method)}"
            f" {one_line(last.url)} → {last.status if last.status is not None else 'no response'}"
        )
        if last.fault is not None:
            lines.append(f"fault {one_line(last.fault.code)}: {one_line(last.fault.message, 400)}")
        request = _text(last.request)
        if last.request:
            shown = request if full else _without_shared(request)
            lines.append(f"request:\n{_limited(shown, None if full else limit)}")
        else:
            lines.append("request: not recorded")
        lines.append(f"response:\n{_limited(_text(last.response), None if full else limit)}")
    if record.harness_error:
        lines.append(f"harness error: {clip(record.harness_error, limit)}")
    return "\n".join(lines)


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")


def _limited(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return inert(text)
    return f"{inert(text[:limit])}\n… {len(text) - limit} more characters, see --full"


def _without_shared(text: str) -> str:
    """The text with its shared parts replaced by a word on what was there; as it is where it is no JSON object."""
    try:
        spans = sorted(_shared(text))
    except (ValueError, RecursionError):
        return text
    for start, stop, what in reversed(spans):
        text = f"{text[:start]}…({stop - start} characters of {what}, see --full)…{text[stop:]}"
    return text


def _shared(text: str) -> Iterator[tuple[int, int, str]]:
    for part in _members(text, _skip(text, 0)):
        long = part.stop - part.start > _SHORT
        if part.name in _SHARED and long:
            yield part.start, part.stop, part.name
        elif part.name in _TURNS and text[part.start] == "[":
            for turn in _elements(text, part.start):
                value = _DECODER.raw_decode(text, turn.start)[0]
                role = value.get("role") if isinstance(value, dict) else None
                if isinstance(role, str) and role in _SHARED_ROLES and turn.stop - turn.start > _SHORT:
                    yield turn.start, turn.stop, f"{role} text"


def _members(text: str, at: int) -> Iterator[_Part]:
    if text[at : at + 1] != "{":
        raise ValueError("no object")
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise ValueError("no member")
        start = _skip(text, at + 1)
        _, stop = _DECODER.raw_decode(text, start)
        yield _Part(str(name), start, stop)
        at = _after(text, stop)


def _elements(text: str, at: int) -> Iterator[_Part]:
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        _, stop = _DECODER.raw_decode(text, at)
        yield _Part("", at, stop)
        at = _after(text, stop)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _after(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at : at + 1] == "," else at
