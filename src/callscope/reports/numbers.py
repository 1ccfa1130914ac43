"""Rates as data and numbers as text: counts beside percentages and intervals, never a bare percentage.

The estimators are `scoring.statistics`; this module only rounds, names and prints what they say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from callscope.scoring.statistics import clustered

__all__ = [
    "COST_DIGITS",
    "DASH",
    "MS_DIGITS",
    "RATE_DIGITS",
    "interval",
    "milliseconds",
    "money",
    "percent",
    "quantity",
    "rate_of",
    "rate_text",
    "ratio",
    "rounded",
]

RATE_DIGITS, MS_DIGITS, COST_DIGITS = 6, 3, 9
"""Decimals kept in a summary, so that the same run gives the same bytes on every machine."""

DASH = "–"


def rounded(value: float | None, digits: int) -> float | None:
    """`value` at a stated precision, with no negative zero."""
    return None if value is None else round(float(value), digits) + 0.0


def rate_of(pairs: Iterable[tuple[int, int]]) -> dict[str, Any]:
    """A rate over clusters given as (k, n): its counts, its value, its 95 % interval, how many clusters it rests on.

    With nothing observed the value and the interval are None.
    """
    rate = clustered(pairs)
    return {
        "k": rate.k,
        "n": rate.n,
        "rate": rounded(rate.rate, RATE_DIGITS),
        "low": rounded(rate.low, RATE_DIGITS),
        "high": rounded(rate.high, RATE_DIGITS),
        "clusters": rate.clusters,
    }


def percent(k: float, n: float) -> str:
    """k of n in whole percent; 0 % and 100 % are kept for none and all."""
    if not n:
        return DASH
    value = round(100 * k / n)
    if value == 100 and k < n:
        value = 99
    if value == 0 and k > 0:
        value = 1
    return f"{value}%"


def interval(rate: Mapping[str, Any]) -> str:
    """The interval in whole percent, as `[62–88]`; empty where nothing was observed."""
    if rate.get("low") is None:
        return ""
    return f"[{round(100 * rate['low'])}–{round(100 * rate['high'])}]"


def ratio(rate: Mapping[str, Any]) -> str:
    """The counts, as `31/40`."""
    return f"{rate['k']}/{rate['n']}"


def rate_text(rate: Mapping[str, Any], gap: str = "  ") -> str:
    """A rate on one line: `31/40  78% [62–88]`, or a dash where there was nothing to observe."""
    if not rate["n"]:
        return DASH
    bounds = interval(rate)
    return f"{ratio(rate)}{gap}{percent(rate['k'], rate['n'])}{' ' + bounds if bounds else ''}"


def milliseconds(value: float | None) -> str:
    """A time as people read it: `850ms`, `1.24s`, `95s`."""
    if value is None:
        return DASH
    if value < 10:
        return f"{value:.1f}ms"
    if value < 1000:
        return f"{value:.0f}ms"
    seconds = value / 1000
    return f"{seconds:.2f}s" if seconds < 10 else f"{seconds:.1f}s" if seconds < 100 else f"{seconds:.0f}s"


def quantity(value: float | None) -> str:
    """A count of many, short: `950`, `12.3k`, `4.5M`."""
    if value is None:
        return DASH
    if value < 1000:
        return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"
    scale, unit = next(((s, u) for s, u in ((1e3, "k"), (1e6, "M")) if value < s * 999.95), (1e9, "G"))
    return f"{value / scale:.1f}{unit}"


def money(cost: Mapping[str, Any]) -> str:
    """A sum of money with the trials whose cost nobody knows counted apart: `0.0123 (+3 unknown)`."""
    if not cost["known"]:
        return "unknown" if cost["unknown"] else DASH
    text = f"{cost['sum']:.2f}" if cost["sum"] >= 1 else f"{cost['sum']:.4g}"
    return f"{text} (+{cost['unknown']} unknown)" if cost["unknown"] else text
