"""What response headers say about rate limits, in seconds and counts.

No clock: dates are read against the response's own Date header. How long to wait is for capture to decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from callscope.contract import Limits

__all__ = ["duration", "read_limits"]

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")
_NUMBER = re.compile(r"\d{1,15}(?:\.\d+)?")


def duration(text: str) -> float | None:
    """Seconds of "1m3.5s", "250ms", "6h", or of a plain number of seconds; None for anything else."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    if not _WHOLE.fullmatch(text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))


def _count(text: str | None) -> int | None:
    return int(float(text)) if text is not None and _NUMBER.fullmatch(text.strip()) else None


def _moment(text: str) -> datetime | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text.strip())
        except (ValueError, OverflowError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _wait(headers: Mapping[str, str], *names: str) -> float | None:
    """Seconds from the first of the headers that says something: a duration, a date, or an instant in ISO form."""
    for name in names:
        text = headers.get(name)
        if text is None:
            continue
        seconds = duration(text)
        if seconds is not None:
            return seconds
        until, now = _moment(text), _moment(headers.get("date", ""))
        if until is not None and now is not None:
            return max(0.0, (until - now).total_seconds())
    return None


def read_limits(headers: Mapping[str, str], *, retryable: bool, retry_after_s: float | None = None) -> Limits:
    """Limits from headers with lower-case names.

    `retryable` is what the outcome says; `x-should-retry` overrules it. `retry_after_s` is what the body said, used
    where no header says more. Understands retry-after(-ms), x-ratelimit-* and anthropic-ratelimit-*.
    """
    milliseconds = headers.get("retry-after-ms")
    wait = duration(milliseconds) if milliseconds is not None else None
    wait = wait / 1000 if wait is not None else _wait(headers, "retry-after")
    asked = headers.get("x-should-retry", "").strip().lower()
    return Limits(
        retry_after_s=retry_after_s if wait is None else wait,
        retryable={"true": True, "false": False}.get(asked, retryable),
        remaining_requests=_count(_first(headers, "remaining-requests", "requests-remaining")),
        remaining_tokens=_count(_first(headers, "remaining-tokens", "tokens-remaining", "input-tokens-remaining")),
        reset_requests_s=_wait(
            headers, "x-ratelimit-reset-requests", "anthropic-ratelimit-requests-reset", "ratelimit-reset"
        ),
        reset_tokens_s=_wait(
            headers,
            "x-ratelimit-reset-tokens",
            "anthropic-ratelimit-tokens-reset",
            "anthropic-ratelimit-input-tokens-reset",
        ),
    )


def _first(headers: Mapping[str, str], openai: str, *anthropic: str) -> str | None:
    names = (f"x-ratelimit-{openai}", *(f"anthropic-ratelimit-{name}" for name in anthropic))
    return next((headers[name] for name in names if name in headers), None)
