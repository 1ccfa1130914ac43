"""What an exhibit is made of: grids of cells and pictures, with the sentences that belong to them. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from callscope.reports.columns import Cell
from callscope.reports.numbers import DASH

__all__ = ["Exhibit", "Grid", "Picture", "exact_percent", "exact_rate"]


class Grid(NamedTuple):
    """A table: `label` heads the column of row names; `notes` stand below it.

    The first `keys` columns say with the row's name what a row is: where a table is split, every part repeats them.
    """

    heading: str
    label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    notes: tuple[str, ...] = ()
    keys: int = 0


class Picture(NamedTuple):
    """A drawing; `svg` has its colours in classes (templates/figure.css) and no width of its own."""

    heading: str
    svg: Markup
    notes: tuple[str, ...] = ()


class Exhibit(NamedTuple):
    """A preset's result: `name` is the preset's, `about` what it is about (a suite under an experiment, or runs);
    `data` holds the figures as numbers, for JSON."""

    name: str
    title: str
    about: str
    parts: tuple[Grid | Picture, ...]
    data: Mapping[str, Any]


def exact_percent(value: float) -> str:
    """A share in percent with the two decimals of a published table: `49.20%`."""
    return f"{100 * value:.2f}%"


def exact_rate(rate: Mapping[str, Any]) -> Cell:
    """Counts, percent and interval: `1230/2500 49.20%` and `[47.2–51.2]`; a dash where nothing was decided."""
    if not rate["n"]:
        return Cell(DASH)
    bounds = f"[{100 * rate['low']:.1f}–{100 * rate['high']:.1f}]"
    return Cell(f"{rate['k']}/{rate['n']} {exact_percent(rate['k'] / rate['n'])}", bounds)
