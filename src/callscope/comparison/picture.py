"""A comparison as one self-contained HTML page: differences with their intervals as a picture, and every sentence.

Nothing is computed here. Geometry stands in SVG attributes and colour in classes, since the page's own policy forbids
inline styles; everything foreign is escaped and inert.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from callscope.comparison.words import correction_words, p_text, pair_name, points
from callscope.reports.html import digest, environment_of
from callscope.reports.numbers import rate_text

__all__ = ["forest", "render_comparison"]

_WIDTH, _ROW, _LEFT, _RIGHT, _TOP = 760, 30, 96, 176, 26
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)


def render_comparison(data: Mapping[str, Any]) -> str:
    """The page. The same data gives the same text."""
    style = _asset("comparison.css")
    page = _environment().get_template("comparison.html.j2")
    return page.render(
        data=data,
        style=Markup(style),  # noqa: S704 - our own file
        policy=f"default-src 'none'; style-src '{digest(style)}'; base-uri 'none'; form-action 'none'",
        family=correction_words(data["family"]),
        groups=[{**group, "forest": forest(group["pairs"])} for group in data["groups"]],
        rate=rate_text,
        points=points,
        p_text=p_text,
        pair_name=pair_name,
    )


def forest(pairs: Sequence[Mapping[str, Any]]) -> Markup:
    """The differences of some pairs, each a dot on its interval, on one axis in percentage points through zero."""
    drawn = [pair for pair in pairs if pair["difference"] is not None]
    if not drawn:
        return Markup("")
    reach = max(max(abs(pair["difference"]["low"]), abs(pair["difference"]["high"])) for pair in drawn)
    reach = min(1.0, max(reach * 1.08, 0.02))
    inner = _WIDTH - _LEFT - _RIGHT
    height = _TOP + _ROW * len(drawn) + 8

    def at(value: float) -> str:
        return f"{_LEFT + inner * (value + reach) / (2 * reach):.1f}"

    ticks = [
        Markup('<path class="{}" d="M{} {}V{}"/><text class="axis" x="{}" y="14">{}</text>').format(
            "zero" if tick == 0 else "tick", at(tick), _TOP - 6, height - 6, at(tick), points(tick)
        )
        for tick in _ticks(reach)
    ]
    rows = [_forest_row(pair, _TOP + _ROW * place + _ROW // 2, at) for place, pair in enumerate(drawn)]
    label = "; ".join(f"{pair['second']} minus {pair['first']}: {_said(pair)}" for pair in drawn)
    return Markup('<svg class="forest" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}</svg>').format(
        _WIDTH, height, label, Markup("").join(ticks), Markup("").join(rows)
    )


def _forest_row(pair: Mapping[str, Any], y: int, at: Any) -> Markup:
    found = pair["difference"]
    return Markup(
        '<g class="{}"><text class="who" x="0" y="{}">{}</text><path class="ci" d="M{} {}H{}"/>'
        '<circle class="dot" cx="{}" cy="{}" r="5"/><text class="said" x="{}" y="{}">{}</text></g>'
    ).format(
        "sure" if pair["established"] else "open",
        y + 5,
        pair_name(pair),
        at(found["low"]),
        y,
        at(found["high"]),
        at(found["difference"]),
        y,
        _WIDTH - _RIGHT + 10,
        y + 5,
        _said(pair),
    )


def _said(pair: Mapping[str, Any]) -> str:
    found = pair["difference"]
    return f"{points(found['difference'])} [{points(found['low'])}, {points(found['high'])}]"


def _ticks(reach: float) -> list[float]:
    step = next((each for each in _STEPS if reach / each <= 3), 0.5)
    count = int(reach / step)
    return [place * step for place in range(-count, count + 1)]


@cache
def _asset(name: str) -> str:
    return resources.files("callscope.comparison").joinpath("templates").joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    return environment_of(_asset)
