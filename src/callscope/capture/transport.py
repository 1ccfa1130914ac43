"""The seam to the network: one request in, what came back out, as raw bytes with times. It decides and retries nothing.

`Transport` is small so that a fake one is a single class; `AiohttpTransport` is the real one. aiohttp, since the
client must
not distort the latency it records (docs/decisions). Redirects are never followed: a key must not travel with one.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from types import SimpleNamespace, TracebackType
from typing import Any, NamedTuple, Protocol, Self

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from callscope.contract import Timing, TransportFault

__all__ = ["MAX_RESPONSE_BYTES", "AiohttpTransport", "Answer", "Transport"]

MAX_RESPONSE_BYTES = 64 * 1024 * 1024
"""A response body beyond this many bytes is cut there and reported as `response_too_large`."""

_OWN_HEADERS = ("Content-Type", "User-Agent", "Accept", "Accept-Encoding")


class Answer(NamedTuple):
    """What came back from one attempt. `body` is as received (still compressed); `status` None where none came."""

    status: int | None
    headers: tuple[tuple[str, str], ...]
    body: bytes
    timing: Timing
    chunks: tuple[tuple[int, float], ...] = ()
    fault: TransportFault | None = None


class Transport(Protocol):
    """Sends exactly the given bytes and headers. Never raises for what the network or server does."""

    async def send(
        self, method: str, url: str, headers: tuple[tuple[str, str], ...], body: bytes, *, timeout: float, stream: bool
    ) -> Answer:
        """One attempt; `timeout` in seconds bounds it whole. With `stream`, chunk offsets and times are kept."""


class AiohttpTransport:
    """The HTTP client of every provider: an async context manager around one connection pool.

    `trust_env` honours proxy variables (which the manifest then names).
    """

    def __init__(self, *, trust_env: bool = False, limit: int = 0) -> None:
        self._trust_env, self._limit = trust_env, limit
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        trace = aiohttp.TraceConfig()
        trace.on_connection_create_end.append(_connected)
        trace.on_connection_reuseconn.append(_connected)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._limit, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=_OWN_HEADERS,
            auto_decompress=False,
            trust_env=self._trust_env,
            trace_configs=[trace],
            timeout=aiohttp.ClientTimeout(total=None),
            read_bufsize=1 << 18,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(
        self, method: str, url: str, headers: tuple[tuple[str, str], ...], body: bytes, *, timeout: float, stream: bool
    ) -> Answer:
        """See `Transport.send`."""
        assert self._session is not None, "used outside its context"
        seen = _Seen(time.perf_counter())
        try:
            async with asyncio.timeout(timeout):
                await self._exchange(seen, method, url, headers, body, stream)
        except Exception as error:  # noqa: BLE001 — whatever the network did becomes a fault, never an exception
            seen.fault = _fault(error, seen, timeout)
        return seen.answer()

    async def _exchange(
        self, seen: _Seen, method: str, url: str, headers: tuple[tuple[str, str], ...], body: bytes, stream: bool
    ) -> None:
        assert self._session is not None
        async with self._session.request(
            method,
            URL(url, encoded=True),
            data=body,
            headers=CIMultiDict(headers),
            allow_redirects=False,
            trace_request_ctx=seen,
        ) as response:
            seen.first_byte = seen.now()
            seen.status = response.status
            seen.headers = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in response.raw_headers)
            async for chunk in response.content.iter_any():
                if stream:
                    seen.chunks.append((seen.size, round(seen.now(), 3)))
                seen.take(chunk)
                if seen.fault is not None:
                    response.close()
                    return


class _Seen:
    """What has been seen of one attempt so far; kept outside the call so that a fault keeps the part that came."""

    def __init__(self, started: float) -> None:
        self.started = started
        self.connected: float | None = None
        self.first_byte: float | None = None
        self.status: int | None = None
        self.headers: tuple[tuple[str, str], ...] = ()
        self.parts: list[bytes] = []
        self.size = 0
        self.chunks: list[tuple[int, float]] = []
        self.fault: TransportFault | None = None

    def now(self) -> float:
        """Milliseconds since the attempt began."""
        return (time.perf_counter() - self.started) * 1000

    def take(self, chunk: bytes) -> None:
        room = MAX_RESPONSE_BYTES - self.size
        if len(chunk) > room:
            chunk = chunk[:room]
            self.fault = TransportFault(
                "provider_error", "response_too_large", f"the body exceeds {MAX_RESPONSE_BYTES} bytes and was cut there"
            )
        self.parts.append(chunk)
        self.size += len(chunk)

    def answer(self) -> Answer:
        timing = Timing(
            total=round(self.now(), 3),
            connected=None if self.connected is None else round(self.connected, 3),
            first_byte=None if self.first_byte is None else round(self.first_byte, 3),
        )
        return Answer(self.status, self.headers, b"".join(self.parts), timing, tuple(self.chunks), self.fault)


async def _connected(_session: aiohttp.ClientSession, context: SimpleNamespace, _params: Any) -> None:
    seen = getattr(context, "trace_request_ctx", None)
    if isinstance(seen, _Seen):
        seen.connected = seen.now()


def _fault(error: Exception, seen: _Seen, timeout: float) -> TransportFault:
    if isinstance(error, TimeoutError):
        if seen.connected is None and seen.status is None:
            return TransportFault("timeout", "timeout_connect", f"no connection within {timeout:g} s")
        if seen.status is None:
            return TransportFault("timeout", "timeout_first_byte", f"no answer within {timeout:g} s")
        return TransportFault("timeout", "timeout_total", f"the answer was not complete within {timeout:g} s")
    text = str(error) or type(error).__name__
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, ssl.SSLError, aiohttp.ClientConnectorSSLError)):
        return TransportFault("provider_error", "tls", text)
    if isinstance(error, aiohttp.ClientConnectorError):
        return TransportFault("provider_error", "connection_failed", text)
    if isinstance(error, (aiohttp.InvalidURL, ValueError)) and seen.status is None:
        return TransportFault("harness_error", "unsendable", text)
    if isinstance(error, (aiohttp.ClientError, OSError)):
        return TransportFault("provider_error", "connection_lost", text)
    return TransportFault("harness_error", type(error).__name__, text)
