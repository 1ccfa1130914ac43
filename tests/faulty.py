"""A faulty provider on loopback: each answer is a script of raw bytes and acts, so that HTTP itself can be broken.

Beside `stand_in`, whose answers are always HTTP. It speaks for no real provider.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Self

from tests.stand_in import Seen, _read


class Act(Enum):
    """What a script does between bytes: cut the connection with a reset, close it, or wait until the test ends."""

    RESET = "reset"
    CLOSE = "close"
    HANG = "hang"
    DRIP = "drip"


Script = Iterable[bytes | Act]


def http(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """A whole response; `length` states another length than the body's."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers]
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def chunked(*parts: bytes, headers: Iterable[str] = ("Content-Type: text/event-stream",), end: bool = True) -> bytes:
    """A whole chunked response; without `end` its last chunk is missing."""
    lines = ["HTTP/1.1 200 OK", *headers, "Transfer-Encoding: chunked"]
    framed = b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts)
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + framed + (b"0\r\n\r\n" if end else b"")


class Faulty:
    """An async context manager; `script` says how each request is answered, `on_accept` acts before it is read."""

    def __init__(self, script: Callable[[Seen], Script], on_accept: Act | None = None) -> None:
        self.script, self.on_accept = script, on_accept
        self.seen: list[Seen] = []
        self.url = ""
        self._done = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 22)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._done.set()
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self.on_accept is None or await self._act(self.on_accept, writer):
                while (seen := await _read(reader)) is not None:
                    self.seen.append(seen)
                    if not await self._play(self.script(seen), writer):
                        break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _play(self, script: Script, writer: asyncio.StreamWriter) -> bool:
        for step in script:
            if isinstance(step, Act):
                if not await self._act(step, writer):
                    return False
            else:
                writer.write(step)
                await writer.drain()
        return True

    async def _act(self, act: Act, writer: asyncio.StreamWriter) -> bool:
        if act is Act.HANG:
            await self._done.wait()
        elif act is Act.RESET:
            await asyncio.sleep(0.02)  # what was written before leaves first
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        elif act is Act.DRIP:
            while not self._done.is_set():
                writer.write(b"5\r\n: hi\n\r\n")
                await writer.drain()
                await asyncio.sleep(0.01)
        return False
