"""Bodies and event streams of the Responses API and of Anthropic Messages, and what a reading of them says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callscope.contract import Message, NativeMessage, Reading, Request, Tool, ToolResult
from callscope.providers import get_adapter

RESPONSES = get_adapter("openai-responses")
ANTHROPIC = get_adapter("anthropic")
BODIES = Path(__file__).resolve().parents[1] / "local" / "bodies"

THREE = (
    Tool(
        "set_thermostat",
        "Set the target temperature of one room.",
        {
            "type": "object",
            "properties": {
                "room": {"type": "string", "enum": ["kitchen", "hall", "attic"]},
                "celsius": {"type": "number", "minimum": 5, "maximum": 30},
            },
            "required": ["room", "celsius"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "list_sensors",
        "List sensors.",
        {
            "type": "object",
            "properties": {"limit": {"type": "integer", "minimum": 1, "default": 10}},
            "required": [],
        },
    ),
    Tool("ring_bell", "Ring the bell.", {"type": "object", "properties": {}}),
)


def ask(**changes: Any) -> Request:
    settings: dict[str, Any] = {
        "model": "m-1",
        "messages": (Message("system", "Be brief."), Message("user", "Warm the attic.")),
        "tools": THREE,
    }
    return Request(**{**settings, **changes})


def rows(shared: Path, api: str) -> list[dict[str, Any]]:
    """The recorded exchanges of one wire format."""
    with gzip.open(shared / "data" / "wire" / "pydantic-ai.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["api"] == api]


def events(*values: Any) -> bytes:
    """Values as an event stream, each under the name that its `type` gives it."""
    return b"".join(f"event: {v.get('type', 'message')}\ndata: {json.dumps(v)}\n\n".encode() for v in values)


def sse(raw: str) -> list[dict[str, Any]]:
    """The JSON values of a recorded stream, by a plain walk over its lines."""
    return [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: {")]


def read(adapter: Any, raw: Any, status: int = 200, headers: Any = ()) -> Reading:
    body = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    reading = adapter.parse(status, headers, body, stream=body.lstrip().startswith((b"data", b"event", b":")))
    assert isinstance(reading, Reading)
    return reading


def summary(reading: Reading) -> list[tuple[str | None, str, Any]]:
    """The calls as (id, name, arguments or the reason they are malformed)."""
    calls = getattr(reading.outcome, "calls", ())
    return [(c.id, c.name, c.arguments if c.malformed is None else c.malformed.reason) for c in calls]


def results(*contents: Any) -> list[ToolResult]:
    return [ToolResult(position, None, "f", content) for position, content in enumerate(contents)]


def added(adapter: Any, raw: Any, answers: Sequence[ToolResult], before: Request | None = None) -> list[Any]:
    """The native messages that following up adds."""
    first = before if before is not None else ask()
    body = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    after = adapter.follow_up(first, body, answers, stream=False)
    assert after.messages[: len(first.messages)] == first.messages
    new = after.messages[len(first.messages) :]
    return [message.value for message in new if isinstance(message, NativeMessage)]


# Responses API


def fc(name: str = "f", arguments: Any = "{}", call_id: Any = "call_1", **more: Any) -> dict[str, Any]:
    entry = {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": name, "arguments": arguments}
    return {**entry, "status": "completed", **more}


def words(text: str, **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part], **more}


def response(*output: Any, status: Any = "completed", **more: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "model": "m-1", "status": status, "output": list(output), **more}


def created() -> dict[str, Any]:
    return {"type": "response.created", "response": response(status="in_progress", error=None)}


def item(step: str, index: Any, value: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{step}", "output_index": index, "item": value}


def delta(stem: str, text: Any, index: Any = 0, item_id: str | None = None, **more: Any) -> dict[str, Any]:
    named = {} if item_id is None else {"item_id": item_id}
    return {"type": f"response.{stem}.delta", "output_index": index, "delta": text, **named, **more}


def completed(*output: Any, **more: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": response(*output, **more)}


# Anthropic Messages


def use(name: str = "f", arguments: Any = None, identifier: Any = "toolu_1", **more: Any) -> dict[str, Any]:
    value = {} if arguments is None else arguments
    return {"type": "tool_use", "id": identifier, "name": name, "input": value, **more}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def message(*content: Any, stop: Any = "end_turn", **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": list(content),
        "stop_reason": stop,
        **more,
    }


def begin(**more: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": message(stop=None, **more)}


def start(index: Any, block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def piece(index: Any, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def partial(index: Any, written: Any) -> dict[str, Any]:
    return piece(index, "input_json_delta", partial_json=written)


def finish(stop: Any = "end_turn", **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    delta = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, **more}
    return delta, {"type": "message_stop"}
