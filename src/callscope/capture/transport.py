"""The seam to the network: one request in, what came back out, as raw bytes with times. It decides and retries nothing.

`Transport` is small so that a fake one is a single class; `AiohttpTransport` is the real one. aiohttp, since the
client must not distort the latency it records (docs/decisions). Redirects are never followed: a key must not travel
with one.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from contextvars import ContextVar
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

import aiohttp
from aiohttp.http_exceptions import TransferEncodingError
from multidict import CIMultiDict
from yarl import URL

from callscope.capture.proxies import Proxies
from callscope.contract import Timing, TransportFault

__all__ = ["MAX_RESPONSE_BYTES", "AiohttpTransport", "Answer", "Timeouts", "Transport"]

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


class Timeouts(NamedTuple):
    """Bounds of one attempt in seconds, all counted from its start: whole, connected, first byte of the answer.

    None leaves a step to the bound of the next.
    """

    total: float
    connect: float | None = None
    first_byte: float | None = None

    def bound(self, *, connected: bool, answered: bool) -> float:
        """Seconds from the attempt's start after which the step that it is in has taken too long."""
        if answered:
            return self.total
        steps = (self.total, self.first_byte, None if connected else self.connect)
        return min(step for step in steps if step is not None)


class Transport(Protocol):
    """Sends exactly the given bytes and headers. Never raises for what the network or server does."""

    async def send(
        self,
        method: str,
        url: str,
        headers: tuple[tuple[str, str], ...],
        body: bytes,
        *,
        timeouts: Timeouts,
        stream: bool,
    ) -> Answer:
        """One attempt. With `stream`, chunk offsets and times are kept."""


class AiohttpTransport:
    """The HTTP client of every provider: an async context manager around one connection pool."""

    def __init__(self, *, proxies: Proxies | None = None, limit: int = 0) -> None:
        self._proxies, self._limit = proxies or Proxies(), limit
        self._addresses: dict[str, tuple[URL, str | None]] = {}
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=_Connector(limit=self._limit, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=_OWN_HEADERS,
            auto_decompress=False,
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
        self,
        method: str,
        url: str,
        headers: tuple[tuple[str, str], ...],
        body: bytes,
        *,
        timeouts: Timeouts,
        stream: bool,
    ) -> Answer:
        """See `Transport.send`."""
        assert self._session is not None, "used outside its context"
        seen = _Seen(timeouts)
        _UNDER_WAY.set(seen)
        try:
            async with seen.clock:
                await self._exchange(seen, method, url, headers, body, stream)
        except Exception as error:  # noqa: BLE001 — whatever the network did becomes a fault, never an exception
            seen.fault = _fault(error, seen)
        return seen.answer()

    async def _exchange(
        self, seen: _Seen, method: str, url: str, headers: tuple[tuple[str, str], ...], body: bytes, stream: bool
    ) -> None:
        assert self._session is not None
        address, proxy = self._address(url)
        async with self._session.request(
            method,
            address,
            data=body,
            headers=CIMultiDict(headers),
            allow_redirects=False,
            proxy=proxy,
        ) as response:
            seen.first_byte = seen.now()
            seen.status = response.status
            seen.step()
            seen.headers = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in response.raw_headers)
            async for chunk in response.content.iter_any():
                if stream:
                    seen.chunks.append((seen.size, round(seen.now(), 3)))
                seen.take(chunk)
                if seen.fault is not None:
                    response.close()
                    return

    def _address(self, url: str) -> tuple[URL, str | None]:
        if url not in self._addresses:
            self._addresses[url] = (URL(url, encoded=True), self._proxies.for_url(url))
        return self._addresses[url]


class _Connector(aiohttp.TCPConnector):
    """Notes when an attempt has its connection. aiohttp's own tracing would cost a sixth of the request."""

    async def connect(self, *arguments: Any, **named: Any) -> Any:
        """See aiohttp.BaseConnector."""
        connection = await super().connect(*arguments, **named)
        if (seen := _UNDER_WAY.get()) is not None:
            seen.connected = seen.now()
            seen.step()
        return connection


class _Seen:
    """What has been seen of one attempt so far; kept outside the call so that a fault keeps the part that came."""

    def __init__(self, timeouts: Timeouts) -> None:
        self.started, self._loop_started = time.perf_counter(), asyncio.get_running_loop().time()
        self._timeouts, self.bound = timeouts, timeouts.bound(connected=False, answered=False)
        self.clock = asyncio.timeout_at(self._loop_started + self.bound)
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

    def step(self) -> None:
        """The attempt is one step further: the bound of the next one counts."""
        bound = self._timeouts.bound(connected=self.connected is not None, answered=self.status is not None)
        if bound != self.bound and not self.clock.expired():
            self.bound = bound
            self.clock.reschedule(self._loop_started + bound)

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


_UNDER_WAY: ContextVar[_Seen | None] = ContextVar("attempt under way", default=None)


def _fault(error: Exception, seen: _Seen) -> TransportFault:
    if isinstance(error, TimeoutError):
        if seen.connected is None and seen.status is None:
            return TransportFault("timeout", "timeout_connect", f"no connection within {seen.bound:g} s")
        if seen.status is None:
            return TransportFault("timeout", "timeout_first_byte", f"no answer within {seen.bound:g} s")
        return TransportFault("timeout", "timeout_total", f"the answer was not complete within {seen.bound:g} s")
    text = str(error) or type(error).__name__
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, ssl.SSLError, aiohttp.ClientConnectorSSLError)):
        return TransportFault("provider_error", "tls", text)
    if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError)):
        return TransportFault("provider_error", "connection_failed", text)
    if isinstance(error, (aiohttp.InvalidURL, ValueError)) and seen.status is None:
        return TransportFault("harness_error", "unsendable", text)
    if _is_no_http(error):
        return TransportFault("provider_error", "bad_encoding", text)
    if isinstance(error, (aiohttp.ClientError, OSError)):
        return TransportFault("provider_error", "connection_lost", text)
    return TransportFault("harness_error", type(error).__name__, text)


def _is_no_http(error: Exception) -> bool:
    """Whether the bytes that came break the rules of HTTP, which trying again at once will not mend."""
    if isinstance(error, aiohttp.ClientPayloadError):
        return isinstance(error.__cause__, TransferEncodingError) and "Not enough data" not in str(error.__cause__)
    return isinstance(error, aiohttp.ClientResponseError)
