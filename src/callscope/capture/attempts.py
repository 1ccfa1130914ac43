"""Attempts: send one request until it is answered, under one retry policy for all providers, recording each attempt.

A retry is worth it where the provider asks for one (429, 5xx, Retry-After) or the connection broke. A time-out is not
retried here (it would multiply a hanging provider's cost); like all coverage loss it is tried again on resume.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import stamina
from msgspec import Struct, structs

from callscope.capture.redact import Redactor
from callscope.capture.transport import Answer, Transport
from callscope.contract import Exchange, ProviderError, Reading, TransportFault, WireRequest
from callscope.derive import read_exchange
from callscope.providers import Adapter, decode_body

__all__ = ["Policy", "now_text", "send_with_retries", "wait_before_next"]


class Policy(Struct, frozen=True):
    """`attempts` in all; waits double from `first_wait` seconds to `longest_wait`; with no Retry-After the four default
    attempts    wait at most about 8 s together. A Retry-After beyond `patience` seconds ends the attempts."""

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 4.0
    jitter: float = 0.5
    patience: float = 60.0


class _TryAgainError(Exception):
    """Carries the wait, in seconds, through stamina's backoff hook."""

    def __init__(self, wait: float) -> None:
        super().__init__(wait)
        self.wait = wait


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
    timeout: float,
    queued_ms: float = 0.0,
    policy: Policy | None = None,
    on_attempt: Callable[[Exchange, Reading], Awaitable[None]] | None = None,
) -> tuple[tuple[Exchange, ...], Reading]:
    """Every attempt made, in order, and the reading of the last. `timeout` in seconds is per attempt."""
    policy = policy or Policy()
    made: list[Exchange] = []
    headers = (*wire.headers, *adapter.authorize(wire, key))
    reading: Reading | None = None
    retries = stamina.retry_context(on=_backoff, attempts=policy.attempts, timeout=None)
    async for attempt in retries:
        with attempt:
            started_at, queued_ms = now_text(), queued_ms if not made else 0.0
            answer = await transport.send("POST", url, headers, wire.body, timeout=timeout, stream=stream)
            exchange = _exchange(len(made) + 1, url, headers, wire.body, started_at, queued_ms, answer, redactor)
            reading = read_exchange(adapter, exchange, stream=stream)
            made.append(exchange)
            if on_attempt is not None:
                await on_attempt(exchange, reading)
            wait = wait_before_next(reading, len(made), policy, random.random)
            if wait is not None:
                raise _TryAgainError(wait)
    assert reading is not None
    return tuple(made), reading


def _backoff(error: Exception) -> bool | float:
    return error.wait if isinstance(error, _TryAgainError) else False


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


def _masked_answer(answer: Answer, redactor: Redactor) -> tuple[tuple[tuple[str, str], ...], bytes, int]:
    """Headers and body as they may be kept. A compressed body that hides a secret is kept decoded, and says so."""
    headers = redactor.mask_headers(answer.headers)
    decoded, _ = decode_body(answer.headers, answer.body)
    masked, masks = redactor.mask_bytes(decoded)
    if not masks or decoded == answer.body:
        return headers, *redactor.mask_bytes(answer.body)
    plain = tuple(
        (name, value) for name, value in headers if name.lower() not in {"content-encoding", "content-length"}
    )
    return (*plain, ("x-callscope-decoded", "for redaction")), masked, masks
