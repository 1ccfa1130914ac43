"""The two figures: recall by level of difficulty, and bars of rates side by side, each with its interval.

Built from rates alone. Geometry stands in attributes and colour in classes, as in `svg`. Colour is never the only
key: bars carry the number of their model, and every bar its value.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from callscope.reports.exhibits.parts import exact_percent, exact_rate
from callscope.reports.safe import inert, one_line

__all__ = ["MOST_MODELS", "bars_beside", "levels_figure"]

Rate = Mapping[str, Any]

MOST_MODELS = 16
"""A figure of more models is no figure; the rest stand in the table."""

_COLOURS = 8
_FRAME = Markup('<svg class="figure" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>')
_TEXT = Markup('<text class="{}" x="{}" y="{}">{}</text>')
_RECT = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>')
_LINE = Markup('<path class="{}" d="{}"/>')


def _at(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _frame(width: float, height: float, label: str, parts: Sequence[Markup]) -> Markup:
    return _FRAME.format(_at(width), _at(height), inert(label), Markup("").join(parts))


def _text(kind: str, x: float, y: float, text: str) -> Markup:
    return _TEXT.format(kind, _at(x), _at(y), inert(text))


def _rect(kind: str, x: float, y: float, width: float, height: float, title: str) -> Markup:
    return _RECT.format(kind, _at(x), _at(y), _at(max(width, 0)), _at(max(height, 0)), inert(title))


def levels_figure(rows: Sequence[tuple[str, Mapping[str, Rate]]], levels: Sequence[str], what: str) -> Markup:
    """A panel a level, a bar a model from 0 to 100 percent, whiskers for the 95 % interval. Levels without a decided
    trial say so; they are no zero."""
    rows = rows[:MOST_MODELS]
    left, top, panel, gap = 44.0, 16.0, 260.0, 20.0
    floor, legend = top + 220.0, 18.0 * len(rows)
    width = left + len(levels) * (panel + gap)
    parts: list[Markup] = []
    for tick in range(0, 101, 20):
        y = floor - 220.0 * tick / 100
        parts += [_LINE.format("grid", f"M{_at(left)} {_at(y)}H{_at(width - gap)}")]
        parts += [_text("axis end", left - 6, y + 4, f"{tick}%")]
    for place, level in enumerate(levels):
        x = left + place * (panel + gap)
        parts += [_text("head mid", x + panel / 2, floor + 32, level)]
        step = panel / max(len(rows), 1)
        for number, (name, found) in enumerate(rows):
            parts += _column(x + step * number + step * 0.14, step * 0.72, floor, number, name, level, found[level])
    parts += [_LINE.format("base", f"M{_at(left)} {_at(floor)}H{_at(width - gap)}")]
    for number, (name, _) in enumerate(rows):
        y = floor + 56 + 18 * number
        parts += [_rect(f"m{number % _COLOURS}", left, y - 9, 10, 10, name)]
        parts += [_text("", left + 16, y, f"{number + 1}  {one_line(name, 70)}")]
    label = "; ".join(
        f"{name}: " + ", ".join(f"{level} {exact_rate(found[level]).line}" for level in levels) for name, found in rows
    )
    return _frame(width, floor + 54 + legend, f"{what}. {label}", parts)


def _column(
    x: float, width: float, floor: float, number: int, name: str, level: str, rate: Rate
) -> list[Markup]:  # fmt: skip
    middle = x + width / 2
    parts = [_text("axis mid", middle, floor + 14, str(number + 1))]
    if not rate["n"]:
        return [*parts, _text("quiet mid", middle, floor - 5, "none")]
    height = 220.0 * float(rate["rate"])
    parts += [
        _rect(f"m{number % _COLOURS}", x, floor - height, width, height, f"{name}, {level}: {exact_rate(rate).line}")
    ]
    low, high = (floor - 220.0 * float(rate[end]) for end in ("low", "high"))
    parts += [_LINE.format("whisker", f"M{_at(middle)} {_at(low)}V{_at(high)}")]
    if width >= 24:
        parts += [_text("mid", middle, max(high - 5, 10), f"{100 * float(rate['rate']):.1f}")]
    return parts


def bars_beside(
    rows: Sequence[tuple[str, Sequence[Rate]]], panels: Sequence[str], scales: Sequence[int], what: str
) -> Markup:
    """A row a model and a panel a rate, bars from zero with whiskers and their value. Panels of the same number in
    `scales` share one scale, so that their bars can be compared by eye."""
    rows = rows[:MOST_MODELS]
    named, panel, gap, row, top = 176.0, 156.0, 16.0, 44.0, 40.0
    width, floor = named + len(panels) * (panel + gap), top + row * len(rows)
    reach = {scale: _reach(rows, [i for i, each in enumerate(scales) if each == scale]) for scale in set(scales)}
    parts: list[Markup] = []
    for place, heading in enumerate(panels):
        x = named + place * (panel + gap)
        parts += [_text("head", x, 16, heading), _LINE.format("base", f"M{_at(x)} 24V{_at(floor)}")]
        parts += [_text("axis end", x + panel, 16, f"0–{100 * reach[scales[place]]:.0f}%")]
    for number, (name, rates) in enumerate(rows):
        y = top + row * number
        parts += [_text("", 0, y + 13 + 16 * line, part) for line, part in enumerate(_folded(name))]
        for place, rate in enumerate(rates):
            parts += _bar(
                named + place * (panel + gap), y, panel, number, f"{name}, {panels[place]}", rate, reach[scales[place]]
            )
    label = "; ".join(
        f"{name}: " + ", ".join(f"{panel_} {exact_rate(rate).line}" for panel_, rate in zip(panels, rates, strict=True))
        for name, rates in rows
    )
    return _frame(width, floor + 8, f"{what}. {label}", parts)


_NAME = 21
"""Characters of a model's name that fit beside the bars."""


def _folded(name: str) -> list[str]:
    """A name on at most two lines, broken at a hyphen where there is one."""
    return textwrap.wrap(one_line(name, 200), _NAME, max_lines=2, placeholder="…")


def _reach(rows: Sequence[tuple[str, Sequence[Rate]]], places: Sequence[int]) -> float:
    """The end of a scale: the highest interval, rounded up to the next five percent."""
    highs = [float(rates[i]["high"]) for _, rates in rows for i in places if rates[i]["n"]]
    return min(1.0, -(-max(highs, default=0.05) // 0.05) * 0.05)


def _bar(x: float, y: float, panel: float, number: int, what: str, rate: Rate, reach: float) -> list[Markup]:
    parts = [_rect("back", x, y, panel, 16, what)]
    if not rate["n"]:
        return [*parts, _text("quiet", x + 4, y + 32, "nothing decided")]
    length = panel * min(float(rate["rate"]) / reach, 1)
    parts += [_rect(f"m{number % _COLOURS}", x, y, length, 16, f"{what}: {exact_rate(rate).line}")]
    low, high = (x + panel * min(float(rate[end]) / reach, 1) for end in ("low", "high"))
    parts += [_LINE.format("whisker", f"M{_at(low)} {_at(y + 8)}H{_at(high)}")]
    said = f"{exact_percent(rate['k'] / rate['n'])}  {rate['k']}/{rate['n']}"
    return [*parts, _text("", x + 4, y + 32, said)]
