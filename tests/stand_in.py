"""A stand-in provider on loopback: no model, only scripted answers over real HTTP, with every way of failing.

Written on bare sockets so that a test decides each byte. Everything that uses it says `stand-in` in its names.
Run as a program (`python tests/stand_in.py PORT_FILE`) it answers every prompt by simple rules until it is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def prompt(self) -> str:
        """The text of the last user message."""
        users = [message for message in self.json["messages"] if message["role"] == "user"]
        return str(users[-1]["content"])


@dataclass(frozen=True)
class Reply:
    """What is sent back. `parts` are written one by one (chunked) where there is more than one.

    `delay` seconds pass before the first byte; `hang` never answers; after `drop_after` bytes the connection is cut.
    """

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    parts: tuple[bytes, ...] = ()
    delay: float = 0.0
    hang: bool = False
    drop_after: int | None = None


Respond = Callable[[Seen], Reply | Awaitable[Reply]]


@dataclass
class StandIn:
    """An async context manager; `url` is its OpenAI-style base address, `seen` what it was sent."""

    respond: Respond
    seen: list[Seen] = field(default_factory=list)
    url: str = ""
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 22)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.released.set()
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (seen := await _read(reader)) is not None:
                self.seen.append(seen)
                reply = self.respond(seen)
                if not isinstance(reply, Reply):
                    reply = await reply
                if not await self._write(writer, reply):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _write(self, writer: asyncio.StreamWriter, reply: Reply) -> bool:
        if reply.hang:
            await self.released.wait()
            return False
        if reply.delay:
            await asyncio.sleep(reply.delay)
        head = f"HTTP/1.1 {reply.status} Stand-in\r\n" + "".join(f"{k}: {v}\r\n" for k, v in reply.headers)
        if reply.parts:
            writer.write((head + "Transfer-Encoding: chunked\r\n\r\n").encode("latin-1"))
            for part in reply.parts:
                writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                await writer.drain()
                await asyncio.sleep(0)
            if reply.drop_after is not None:
                return False
            writer.write(b"0\r\n\r\n")
        else:
            body = reply.body if reply.drop_after is None else reply.body[: reply.drop_after]
            writer.write(f"{head}Content-Length: {len(reply.body)}\r\n\r\n".encode("latin-1") + body)
        await writer.drain()
        return reply.drop_after is None


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = tuple((k, v.strip()) for k, _, v in (line.partition(":") for line in lines if line))
    length = next((int(v) for k, v in headers if k.lower() == "content-length"), 0)
    return Seen(method, target, headers, await reader.readexactly(length))


# ------------------------------------------------------------------------------------------------- canned completions


def completion(
    text: str | None = None,
    calls: Sequence[tuple[str, str]] = (),
    *,
    model: str = "stand-in-1",
    finish: str | None = None,
    usage: tuple[int, int] = (100, 20),
) -> bytes:
    """A chat completion body; `calls` are (name, arguments text)."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for place, (name, arguments) in enumerate(calls)
        ]
    body = {
        "id": "chatcmpl-stand-in",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
    }
    return json.dumps(body).encode()


def stream_of(
    text: str | None = None, calls: Sequence[tuple[str, str]] = (), *, model: str = "stand-in-1", piece: int = 7
) -> tuple[bytes, ...]:
    """The same as server-sent events, arguments cut into pieces and the events of parallel calls interleaved."""

    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        chunk = {
            "id": "chatcmpl-stand-in",
            "object": "chat.completion.chunk",
            "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    parts = [event({"role": "assistant", "content": None})]
    if text is not None:
        parts += [event({"content": text[at : at + piece]}) for at in range(0, len(text), piece)]
    heads = [
        {"index": i, "id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": ""}}
        for i, (name, _) in enumerate(calls)
    ]
    parts += [event({"tool_calls": [head]}) for head in heads]
    longest = max((len(arguments) for _, arguments in calls), default=0)
    for at in range(0, longest, piece):
        for i, (_, arguments) in enumerate(calls):
            if arguments[at : at + piece]:
                delta = {"index": i, "function": {"arguments": arguments[at : at + piece]}}
                parts.append(event({"tool_calls": [delta]}))
    parts.append(event({}, "tool_calls" if calls else "stop"))
    usage = {
        "id": "chatcmpl-stand-in",
        "object": "chat.completion.chunk",
        "model": model,
        "choices": [],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
    parts.append(b"data: " + json.dumps(usage).encode() + b"\n\n")
    parts.append(b"data: [DONE]\n\n")
    return tuple(parts)


def by_rules(seen: Seen) -> Reply:
    """Plausible answers for the support tools: an order id is looked up, an e-mail searched for, the rest is prose."""
    prompt = seen.prompt
    if order := re.search(r"ORD-\d{6}", prompt):
        calls = [("lookup_order", json.dumps({"order_id": order.group()}))]
    elif email := re.search(r"[\w.+-]+@[\w.-]+\w", prompt):
        calls = [("search_orders", json.dumps({"email": email.group()}))]
    else:
        calls = []
    text = None if calls else "How can I help?"
    if seen.json.get("stream"):
        return Reply(headers=(("Content-Type", "text/event-stream"),), parts=stream_of(text, calls))
    return Reply(completion(text, calls))


async def _main(port_file: Path) -> None:
    async with StandIn(by_rules) as server:
        temporary = port_file.with_suffix(".new")
        temporary.write_text(server.url)
        temporary.replace(port_file)
        server.seen = _Forgetful()
        await asyncio.Event().wait()


class _Forgetful(list[Seen]):
    """A list that keeps nothing, for long runs."""

    def append(self, _item: Seen) -> None:
        return


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(Path(sys.argv[1])))
