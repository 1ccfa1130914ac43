"""Bodies, frames and recorded rows for the tests of the formats with content parts: gemini and bedrock."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any
from zlib import crc32

from callscope.contract import Message, Reading, Request, Tool
from callscope.providers import get_adapter

GEMINI = get_adapter("gemini")
BEDROCK = get_adapter("bedrock")

TOOLS = (
    Tool(
        "find_train",
        "Trains between two stations.",
        {
            "type": "object",
            "properties": {
                "from_station": {"type": "string", "minLength": 2, "maxLength": 40},
                "to_station": {"type": "string", "pattern": "^[A-Z]{2,5}$"},
                "class": {"type": "string", "enum": ["first", "second"]},
            },
            "required": ["from_station", "to_station"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "reserve_seats",
        "Reserve seats in a train.",
        {
            "type": "object",
            "properties": {
                "train": {"type": "string"},
                "seats": {"type": "integer", "minimum": 1, "maximum": 8},
                "extras": {"type": "array", "items": {"type": "string"}, "maxItems": 3, "uniqueItems": True},
            },
            "required": ["train", "seats"],
        },
    ),
    Tool("station_clock", "", {"type": "object", "properties": {}}),
)
MESSAGES = (Message("system", "You sell tickets."), Message("user", "Two seats to OSLO, please."))


def request(**changes: Any) -> Request:
    return Request(**{"model": "m-1", "messages": MESSAGES, "tools": TOOLS, **changes})


def summary(reading: Reading) -> list[tuple[str | None, str, Any]]:
    """The calls of a reading as (id, name, arguments or the reason they are malformed)."""
    calls = getattr(reading.outcome, "calls", ())
    return [(c.id, c.name, c.arguments if c.malformed is None else c.malformed.reason) for c in calls]


def rows_of(shared: Path, api: str) -> list[dict[str, Any]]:
    """The recorded exchanges of one format."""
    with gzip.open(shared / "data" / "wire" / "pydantic-ai.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["api"] == api]


def raw_of(row: dict[str, Any]) -> bytes:
    """The response of a recorded exchange as bytes."""
    response = row["response"]
    if isinstance(response, str):
        return response.encode()
    if "__base64__" in response:
        return base64.b64decode(response["__base64__"])
    return json.dumps(response, ensure_ascii=False).encode()


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()


# gemini


def part(name: Any = "f", args: Any = None, **more: Any) -> dict[str, Any]:
    """A functionCall part; `args` None leaves them out."""
    function = {"name": name} if args is None else {"name": name, "args": args}
    return {"functionCall": {**function, **more.pop("function", {})}, **more}


def candidate(*parts: Any, finish: str | None = "STOP", **more: Any) -> dict[str, Any]:
    chosen: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, **more}
    if finish is not None:
        chosen["finishReason"] = finish
    return {"candidates": [chosen], "modelVersion": "gemini-9"}


def sse(*chunks: Any) -> bytes:
    return b"".join(b"data: " + dump(value) + b"\r\n\r\n" for value in chunks)


def gemini(raw: Any, status: int = 200, *, stream: bool = False, headers: Any = ()) -> Reading:
    return GEMINI.parse(status, headers, raw if isinstance(raw, bytes) else dump(raw), stream=stream)


# bedrock


def header(name: str, value: str | bytes, kind: int = 7) -> bytes:
    """One header of a frame; `value` of another kind than a string is given as its bytes."""
    body = value.encode() if isinstance(value, str) else value
    sized = len(body).to_bytes(2, "big") + body if kind in {6, 7} else body
    return bytes([len(name)]) + name.encode() + bytes([kind]) + sized


def frame(headers: bytes, payload: bytes) -> bytes:
    """A frame of an AWS event stream, written down from the specification."""
    prelude = (len(headers) + len(payload) + 16).to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    before = prelude + crc32(prelude).to_bytes(4, "big") + headers + payload
    return before + crc32(before).to_bytes(4, "big")


def event(name: str, payload: Any, kind: str = "event") -> bytes:
    """An event (or an exception) whose payload is JSON, or the bytes given."""
    of = "exception" if kind == "exception" else "event"
    headers = header(f":{of}-type", name) + header(":content-type", "application/json") + header(":message-type", kind)
    return frame(headers, payload if isinstance(payload, bytes) else dump(payload))


def start(index: Any, **use: Any) -> bytes:
    return event("contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": use}})


def delta(index: Any, **piece: Any) -> bytes:
    return event("contentBlockDelta", {"contentBlockIndex": index, "delta": piece})


def stop(index: Any) -> bytes:
    return event("contentBlockStop", {"contentBlockIndex": index, "p": "abc"})


def ended(reason: str = "tool_use") -> bytes:
    return event("messageStop", {"stopReason": reason})


OPENED = event("messageStart", {"role": "assistant", "p": "ab"})


def converse(*blocks: Any, stop_reason: str = "tool_use", **more: Any) -> bytes:
    return dump(
        {
            "output": {"message": {"role": "assistant", "content": list(blocks)}},
            "stopReason": stop_reason,
            "usage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7},
            "metrics": {"latencyMs": 1},
            **more,
        }
    )


def use(name: Any = "f", given: Any = None, identifier: Any = "t1", **more: Any) -> dict[str, Any]:
    block = {"toolUseId": identifier, "name": name, "input": {} if given is None else given, **more}
    return {"toolUse": block}


def bedrock(raw: bytes, status: int = 200, *, stream: bool = False, headers: Any = ()) -> Reading:
    return BEDROCK.parse(status, headers, raw, stream=stream)
