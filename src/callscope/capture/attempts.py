"""Attempts: send one request until it is answered, under one retry policy for all providers, recording each attempt.

A retry is worth it where the provider asks for one (429, 5xx, Retry-After) or the connection broke. A time-out is not
retried here (it would multiply a hanging provider's cost); like all coverage loss it is tried again on resume.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, cast

import msgspec
from msgspec import Struct, structs

from callscope.capture.pacing import Lane, Turnstile
from callscope.capture.redact import Redactor
from callscope.capture.transport import Answer, Timeouts, Transport
from callscope.contract import Exchange, ProviderError, Reading, TransportFault, WireRequest
from callscope.derive import read_exchange
from callscope.providers import Adapter, Signer, decode_body

__all__ = ["Policy", "now_text", "send_with_retries", "wait_before_next"]


_ENCODER = msgspec.json.Encoder()


class Policy(Struct, frozen=True):
    """`attempts` in all; waits double from `first_wait` seconds to `longest_wait`, so that with no Retry-After the
    four default attempts wait at most about 8 s together. A Retry-After beyond `patience` seconds ends the attempts."""

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 4.0
    jitter: float = 0.5
    patience: float = 60.0


def now_text() -> str:
    """The present moment in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def wait_before_next(reading: Reading, attempt: int, policy: Policy, jitter: Callable[[], float]) -> float | None:
    """Seconds to wait before attempt `attempt + 1`, or None where there is to be none. Pure but for `jitter` (0..1)."""
    if not isinstance(reading.outcome, ProviderError) or not reading.limits.retryable or attempt >= policy.attempts:
        return None
    if reading.limits.retry_after_s is not None:
        return reading.limits.retry_after_s if reading.limits.retry_after_s <= policy.patience else None
    wait = min(policy.longest_wait, policy.first_wait * 2.0 ** (attempt - 1))
    return wait + policy.jitter * jitter()


async def send_with_retries(
    transport: Transport,
    adapter: Adapter,
    wire: WireRequest,
    *,
    url: str,
    key: str | None,
    redactor: Redactor,
    stream: bool,
    timeouts: Timeouts,
    lane: Lane,
    turnstile: Turnstile | None = None,
    queued_ms: float = 0.0,
    policy: Policy | None = None,
    on_attempt: Callable[[Exchange, Reading], Awaitable[None]] | None = None,
) -> tuple[tuple[Exchange, ...], Reading]:
    """Every attempt made, in order, and the reading of the last. `timeouts` are per attempt.

    Each attempt waits its turn in `lane`; what it waited there and for its retry is its `queued`, apart from latency.
    """
    policy = policy or Policy()
    made: list[Exchange] = []
    wait = 0.0
    while True:
        waiting_since = lane.clock()
        if made:
            await lane.sleep(wait)
        taken = await lane.enter(len(wire.body))
        try:
            queued_ms += (lane.clock() - waiting_since) * 1000
            started_at = now_text()
            headers = (*wire.headers, *_credentials(adapter, wire, key, url, started_at))
            answer = await transport.send("POST", url, headers, wire.body, timeouts=timeouts, stream=stream)
        finally:
            lane.leave()
        if turnstile is not None:
            await turnstile.enter()
        exchange = _exchange(len(made) + 1, url, headers, wire.body, started_at, queued_ms, answer, redactor)
        exchange, reading = _read_sealed(adapter, exchange, redactor, stream=stream)
        lane.heed(taken, reading)
        made.append(exchange)
        if on_attempt is not None:
            await on_attempt(exchange, reading)
        following = wait_before_next(reading, len(made), policy, random.random)
        if following is None:
            return tuple(made), reading
        wait, queued_ms = following, 0.0


def _credentials(
    adapter: Adapter, wire: WireRequest, key: str | None, url: str, at: str
) -> tuple[tuple[str, str], ...]:
    """The credential headers of one attempt: a signature holds for one address and moment only."""
    signer = cast("Signer", adapter) if hasattr(adapter, "sign") else None  # isinstance of a protocol costs 60 µs
    return adapter.authorize(wire, key) if signer is None else signer.sign(wire, key, url=url, at=at)


def _exchange(
    number: int,
    url: str,
    headers: tuple[tuple[str, str], ...],
    body: bytes,
    started_at: str,
    queued_ms: float,
    answer: Answer,
    redactor: Redactor,
) -> Exchange:
    request, in_request = redactor.mask_bytes(body)
    response_headers, response, in_response = _masked_answer(answer, redactor)
    fault = answer.fault
    if fault is not None:
        fault = TransportFault(fault.category, fault.code, redactor.mask_text(fault.message))
    return Exchange(
        attempt=number,
        method="POST",
        url=redactor.mask_url(url),
        request_headers=redactor.mask_headers(headers),
        request=request,
        started_at=started_at,
        status=answer.status,
        response_headers=response_headers,
        response=response,
        timing=structs.replace(answer.timing, queued=round(queued_ms, 3)),
        fault=fault,
        chunks=answer.chunks,
        redactions=in_request + in_response,
    )


def _read_sealed(adapter: Adapter, exchange: Exchange, redactor: Redactor, *, stream: bool) -> tuple[Exchange, Reading]:
    """The exchange and its reading, neither holding a secret.

    Bytes may hide one that shows only once they are read: cut into the deltas of a stream, or in escapes. Then its
    pieces are masked; where that does not help, the body whole, which loses the trial and not the secret.
    """
    reading = read_exchange(adapter, exchange, stream=stream)
    if not redactor or not _shows(reading, redactor):
        return exchange, reading
    decoded, flags = decode_body(exchange.response_headers, exchange.response)
    for body, masks in (redactor.mask_scattered(decoded), (b"*" * len(decoded), 1)):
        sealed = structs.replace(
            exchange,
            response=body,
            response_headers=(
                exchange.response_headers
                if decoded == exchange.response
                else _plain_headers(exchange.response_headers, flags)
            ),
            redactions=exchange.redactions + masks,
        )
        reading = read_exchange(adapter, sealed, stream=stream)
        if not _shows(reading, redactor):
            break
    return sealed, reading


def _shows(reading: Reading, redactor: Redactor) -> bool:
    shown = (reading.outcome, reading.model, reading.finish)
    try:
        return redactor.knows(_ENCODER.encode(shown))
    except (UnicodeEncodeError, OverflowError, ValueError):  # half a surrogate pair, or an integer beyond 64 bits
        return redactor.knows("\n".join(_texts(shown)).encode("utf-8", "surrogatepass"))


def _texts(value: Any) -> Iterator[str]:
    """Every string in a reading's part."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Struct):
        yield from _texts(structs.astuple(value))


def _plain_headers(headers: tuple[tuple[str, str], ...], flags: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The headers of a body that is kept decoded, saying so, and what was wrong with its encoding."""
    plain = tuple(pair for pair in headers if pair[0].lower() not in {"content-encoding", "content-length"})
    return (*plain, ("x-callscope-decoded", "; ".join(("for redaction", *flags))))


def _masked_answer(answer: Answer, redactor: Redactor) -> tuple[tuple[tuple[str, str], ...], bytes, int]:
    """Headers and body as they may be kept. A compressed body that hides a secret is kept decoded, and says so."""
    headers = redactor.mask_headers(answer.headers)
    decoded, flags = decode_body(answer.headers, answer.body)
    masked, masks = redactor.mask_bytes(decoded)
    if not masks or decoded == answer.body:
        return headers, *redactor.mask_bytes(answer.body)
    return _plain_headers(headers, flags), masked, masks
