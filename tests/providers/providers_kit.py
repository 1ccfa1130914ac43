"""Bodies, streams and requests that the tests of this room are written with."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from callscope.contract import Message, Reading, Request, Tool
from callscope.providers import get_adapter

CHAT = get_adapter("openai-chat")

TOOLS = (
    Tool(
        "lookup_order",
        "Find one order by its id.",
        {
            "type": "object",
            "properties": {"order_id": {"type": "string", "pattern": "^ORD-[0-9]{6}$"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "search_orders",
        "Search orders.",
        {
            "type": "object",
            "properties": {
                "status": {"type": "string", "enum": ["processing", "shipped"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
            },
            "required": [],
        },
    ),
)


def request(**changes: Any) -> Request:
    settings: dict[str, Any] = {
        "model": "m-1",
        "messages": (Message("system", "Be brief."), Message("user", "Where is ORD-104821?")),
        "tools": TOOLS,
    }
    return Request(**{**settings, **changes})


def call(name: Any = "f", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def body(message: Any = None, *, finish: Any = "stop", **more: Any) -> bytes:
    """A chat completion as one JSON body."""
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"id": "x", "model": "m-1", "choices": [choice], **more}).encode()


def calling(*calls: Any, finish: str = "tool_calls") -> bytes:
    return body({"role": "assistant", "content": None, "tool_calls": list(calls)}, finish=finish)


def chunk(delta: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": "x", "model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def piece(index: int | None = None, **parts: Any) -> dict[str, Any]:
    """A delta of one call piece: `id`, `name`, `arguments` where given."""
    entry: dict[str, Any] = {} if index is None else {"index": index}
    if "id" in parts:
        entry["id"] = parts.pop("id")
    return {"tool_calls": [{**entry, "function": parts}]} if parts else {"tool_calls": [entry]}


def events(*values: Any, done: bool = True) -> bytes:
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return b"".join(f"data: {line}\n\n".encode() for line in [*lines, *(["[DONE]"] if done else [])])


def stream(*deltas: Any, finish: str | None = "tool_calls") -> bytes:
    """A whole stream of the deltas, ended by `finish` and [DONE]."""
    last = [chunk({}, finish)] if finish is not None else []
    return events(*(chunk(delta) for delta in deltas), *last)


def parse(raw: bytes, status: int = 200, headers: Any = (), *, asked_stream: bool | None = None) -> Reading:
    asked = raw.lstrip().startswith((b"data", b"event", b":")) if asked_stream is None else asked_stream
    return CHAT.parse(status, headers, raw, stream=asked)


def summary(reading: Reading) -> list[tuple[str | None, str, Any]]:
    """The calls of a reading as (id, name, arguments or the reason they are malformed)."""
    calls = getattr(reading.outcome, "calls", ())
    return [(c.id, c.name, c.arguments if c.malformed is None else c.malformed.reason) for c in calls]


def error(http: int, message: str = "", **fields: Any) -> Reading:
    return parse(json.dumps({"error": {"message": message, **fields}}).encode(), http)


def recorded_body(row: dict[str, Any]) -> bytes:
    response = row["response"]
    return response.encode() if isinstance(response, str) else json.dumps(response, ensure_ascii=False).encode()


class Loopback:
    """`answer` is (status, content type, body) of the next responses; `seen` holds the bodies that arrived."""

    def __init__(self) -> None:
        self.answer: tuple[int, str, bytes] = (200, "application/json", b"{}")
        self.seen: list[Any] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.seen.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                outer.paths.append(self.path)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, kind, raw = outer.answer
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: Any) -> None:
                """Stay quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
