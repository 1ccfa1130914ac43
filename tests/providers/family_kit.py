"""Bodies and streams of the Mistral, Cohere and Ollama formats, three tools, and a way to say each of them alike."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import providers_kit as kit

from callscope.contract import Message, Reading, Request, Tool, ToolResult
from callscope.providers import get_adapter

TOOLS = (
    Tool(
        "book_room",
        "Book a meeting room.",
        {
            "type": "object",
            "properties": {
                "room": {"type": "string", "enum": ["north", "south"]},
                "seats": {"type": "integer", "minimum": 1, "maximum": 40},
                "start": {"type": "string", "format": "date-time", "description": "When it begins."},
            },
            "required": ["room", "seats"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "find_person",
        "Find a colleague.",
        {
            "type": "object",
            "properties": {"name": {"anyOf": [{"type": "string", "pattern": "^[A-Z]"}, {"type": "null"}]}},
            "required": ["name"],
            "$defs": {"x": {"const": 1}},
        },
    ),
    Tool("list_rooms", "List all rooms.", {"type": "object", "properties": {}}),
)


def request(**changes: Any) -> Request:
    settings: dict[str, Any] = {
        "model": "m-1",
        "messages": (Message("system", "Be brief."), Message("user", "Book the north room for 4.")),
        "tools": TOOLS,
    }
    return Request(**{**settings, **changes})


def results(*contents: Any) -> list[ToolResult]:
    return [ToolResult(position, None, "f", content) for position, content in enumerate(contents)]


def rows(shared: Path, api: str, provider: str) -> list[dict[str, Any]]:
    """The recorded exchanges of one provider in one format."""
    with gzip.open(shared / "data" / "wire" / "pydantic-ai.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if (row["api"], row["provider"]) == (api, provider)]


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


# A call as a test states it: (id, name, arguments); a field that is MISSING is left out.
MISSING: Any = object()
Stated = tuple[Any, Any, Any]


def _entry(call: Stated, **more: Any) -> dict[str, Any]:
    identifier, name, arguments = call
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not MISSING}
    return {**({} if identifier is MISSING else {"id": identifier}), **more, "function": function}


def _mistral_whole(text: str, calls: list[Stated], finish: str) -> bytes:
    message = {"role": "assistant", "content": text, "tool_calls": [_entry(c, index=i) for i, c in enumerate(calls)]}
    return kit.body(message, finish=finish, usage={"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10})


def _mistral_stream(text: str, calls: list[Stated], finish: str) -> bytes:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, {"content": text}]
    for index, (identifier, name, arguments) in enumerate(calls):
        if isinstance(arguments, str):
            half = len(arguments) // 2
            deltas.append({"tool_calls": [_entry((identifier, name, arguments[:half]), index=index)]})
            deltas.append({"tool_calls": [_entry((MISSING, "", arguments[half:]), index=index)]})
        else:
            deltas.append({"tool_calls": [_entry((identifier, name, arguments), index=index)]})
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return kit.events(*(kit.chunk(delta) for delta in deltas), kit.chunk({"content": ""}, finish, usage=usage))


_COHERE_USAGE = {"billed_units": {"input_tokens": 2.0, "output_tokens": 3.0}, "tokens": {"input_tokens": 7.0}}


def _cohere_whole(text: str, calls: list[Stated], finish: str) -> bytes:
    message: dict[str, Any] = {"role": "assistant"}
    if calls:
        message |= {"tool_plan": text, "tool_calls": [_entry(call, type="function") for call in calls]}
    else:
        message["content"] = [{"type": "text", "text": text}]
    return encoded({"id": "x", "message": message, "finish_reason": finish, "usage": _COHERE_USAGE})


def cohere_events(*values: Any, done: bool = False) -> bytes:
    """A stream of Cohere's: every event named after its type."""
    lines = [f"event: {value['type']}\ndata: ".encode() + encoded(value) + b"\n\n" for value in values]
    return b"".join(lines) + (b"data: [DONE]\n\n" if done else b"")


def cohere_event(kind: str, message: Any = None, index: int | None = None, **more: Any) -> dict[str, Any]:
    event: dict[str, Any] = {"type": kind}
    if index is not None:
        event["index"] = index
    if message is not None:
        event["delta"] = {"message": message}
    return {**event, **more}


def _cohere_stream(text: str, calls: list[Stated], finish: str) -> bytes:
    start = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    events = [cohere_event("message-start", start, id="x")]
    if calls:
        events += [cohere_event("tool-plan-delta", {"tool_plan": part}) for part in (text[:3], text[3:])]
    else:
        events.append(cohere_event("content-start", {"content": {"type": "text", "text": ""}}, 0))
        events += [cohere_event("content-delta", {"content": {"text": part}}, 0) for part in (text[:3], text[3:])]
        events.append(cohere_event("content-end", index=0))
    for index, (identifier, name, arguments) in enumerate(calls):
        first = arguments[:2] if isinstance(arguments, str) else arguments
        entry = _entry((identifier, name, first), type="function")
        events.append(cohere_event("tool-call-start", {"tool_calls": entry}, index))
        if isinstance(arguments, str):
            rest = {"tool_calls": {"function": {"arguments": arguments[2:]}}}
            events.append(cohere_event("tool-call-delta", rest, index))
        events.append(cohere_event("tool-call-end", index=index))
    events.append({"type": "message-end", "delta": {"finish_reason": finish, "usage": _COHERE_USAGE}})
    return cohere_events(*events)


def ollama_line(message: Any = None, **more: Any) -> dict[str, Any]:
    return {"model": "m-1", "created_at": "2026-11-30T10:00:00Z", **({"message": message} if message else {}), **more}


OLLAMA_END = {"done": True, "total_duration": 5_000_000_000, "prompt_eval_count": 7, "eval_count": 3}


def ollama_lines(*values: Any) -> bytes:
    return b"".join(encoded(value) + b"\n" for value in values)


def _ollama_whole(text: str, calls: list[Stated], finish: str) -> bytes:
    message = {"role": "assistant", "content": text, "tool_calls": [_entry(call) for call in calls]}
    return encoded(ollama_line(message, done_reason=finish, **OLLAMA_END))


def _ollama_stream(text: str, calls: list[Stated], finish: str) -> bytes:
    lines = [ollama_line({"role": "assistant", "content": part}, done=False) for part in (text[:3], text[3:])]
    lines += [
        ollama_line({"role": "assistant", "content": "", "tool_calls": [_entry(call)]}, done=False) for call in calls
    ]
    lines.append(ollama_line({"role": "assistant", "content": ""}, done_reason=finish, **OLLAMA_END))
    return ollama_lines(*lines)


class Format(NamedTuple):
    """One format as the common claims see it."""

    api: str
    whole: Callable[[str, list[Stated], str], bytes]
    stream: Callable[[str, list[Stated], str], bytes]
    stop: str
    length: str
    calling: str
    path: str

    def parse(self, raw: bytes, status: int = 200, *, stream: bool = False, headers: Any = ()) -> Reading:
        return get_adapter(self.api).parse(status, headers, raw, stream=stream)

    def both(self, text: str, calls: list[Stated], finish: str | None = None) -> tuple[Reading, Reading]:
        """The readings of the same message, whole and streamed."""
        word = finish or (self.calling if calls else self.stop)
        return self.parse(self.whole(text, calls, word)), self.parse(self.stream(text, calls, word), stream=True)


MISTRAL = Format("mistral", _mistral_whole, _mistral_stream, "stop", "length", "tool_calls", "/chat/completions")
COHERE = Format("cohere", _cohere_whole, _cohere_stream, "COMPLETE", "MAX_TOKENS", "TOOL_CALL", "/v2/chat")
OLLAMA = Format("ollama", _ollama_whole, _ollama_stream, "stop", "length", "stop", "/api/chat")
FORMATS = (MISTRAL, COHERE, OLLAMA)
