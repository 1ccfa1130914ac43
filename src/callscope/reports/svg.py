"""Small drawings for the HTML report: intervals, shares, stacked bars, as inline SVG built from numbers alone.

Geometry stands in SVG attributes and colour in classes, since the page's policy forbids inline styles. Text that is
drawn for screen readers is escaped here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from callscope.reports.numbers import rate_text

__all__ = ["interval_strip", "share_bar", "stacked_bar"]


def _pixels(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


_STRIP = Markup(
    '<svg class="strip" viewBox="0 0 {w} 14" width="{w}" height="14" role="img" aria-label="{label}">'
    '<path class="track" d="M4 7h{inner}"/>{ticks}<path class="ci" d="M{low} 7H{high}"/>'
    '<circle class="dot" cx="{at}" cy="7" r="3.5"/></svg>'
)


def interval_strip(rate: Mapping[str, Any], what: str, width: int = 86) -> Markup:
    """A rate as a dot on its interval, between the ticks of 0, 50 and 100 percent."""
    if rate["rate"] is None:
        return Markup("")
    inner, pad = width - 8, 4
    at, low, high = (pad + inner * float(rate[name]) for name in ("rate", "low", "high"))
    tick = Markup('<path class="tick" d="M{} 3v8"/>')
    return _STRIP.format(
        w=width,
        label=f"{what}: {rate_text(rate, ' ')}",
        inner=inner,
        ticks=Markup("").join(tick.format(_pixels(pad + inner * x)) for x in (0, 0.5, 1)),
        low=_pixels(low),
        high=_pixels(max(high, low + 0.5)),
        at=_pixels(at),
    )


_SHARE = Markup(
    '<svg class="share {}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
    '<rect class="rest" width="100" height="6"/><rect class="part" width="{}" height="6"/></svg>'
)


def share_bar(part: int, whole: int, kind: str) -> Markup:
    """A bar filled by its share; `kind` is a class of ours. Decorative: its numbers always stand beside it."""
    return _SHARE.format(kind, _pixels(100 * part / whole if whole else 0))


def stacked_bar(parts: Sequence[tuple[str, int, str]], label: str) -> Markup:
    """Parts given as (class, count, words) in one bar."""
    total = sum(count for _, count, _ in parts)
    left, rects = 0.0, []
    for kind, count, text in parts:
        if not count:
            continue
        width = 1000 * count / total
        rects.append(
            Markup('<rect class="fill {}" x="{}" width="{}" height="22"><title>{}</title></rect>').format(
                kind, _pixels(left), _pixels(max(width - 1.5, 1)), f"{text}: {count}"
            )
        )
        left += width
    return Markup(
        '<svg class="stack" viewBox="0 0 1000 22" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(label, Markup("").join(rects))
