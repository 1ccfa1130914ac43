"""Repair `unit_string`: a quantity written with its unit, where the schema wants the bare number in a unit it names.

`"1 kg"` for `weight_grams` is 1000. The target unit is the one that the parameter's name says, or else the one unit of
that dimension which its description names; where neither does, or several do, there is no repair. Exact arithmetic; a
result that the schema does not take (a fraction for an integer) is no repair. Not a converter for anything else.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple

__all__ = ["About", "in_named_unit"]


class _Unit(NamedTuple):
    """A unit: value in the dimension's base = (number + offset) * factor. `symbols` are compared with their case."""

    dimension: str
    factor: Fraction
    symbols: tuple[str, ...]
    words: tuple[str, ...]
    offset: Fraction = Fraction(0)


def _unit(dimension: str, factor: str, symbols: str, words: str, offset: str = "0") -> _Unit:
    return _Unit(dimension, Fraction(factor), tuple(symbols.split()), tuple(words.split()), Fraction(offset))


# NIST SP 811 (2008), appendix B: the pound, inch, foot and mile are exact; F to C is (F - 32) * 5/9, K is C + 273.15.
_UNITS = (
    _unit("mass", "0.001", "mg", "milligram milligrams"),
    _unit("mass", "1", "g gr G", "gram grams gramme grammes"),
    _unit("mass", "1000", "kg Kg KG", "kilogram kilograms kilo kilos"),
    _unit("mass", "1000000", "t", "tonne tonnes"),
    _unit("mass", "28.349523125", "oz", "ounce ounces"),
    _unit("mass", "453.59237", "lb lbs", "pound pounds"),
    _unit("length", "0.001", "mm", "millimeter millimeters millimetre millimetres"),
    _unit("length", "0.01", "cm", "centimeter centimeters centimetre centimetres"),
    _unit("length", "1", "m", "meter meters metre metres"),
    _unit("length", "1000", "km Km KM", "kilometer kilometers kilometre kilometres"),
    _unit("length", "0.0254", "in", "inch inches"),
    _unit("length", "0.3048", "ft", "foot feet"),
    _unit("length", "1609.344", "mi", "mile miles"),
    _unit("time", "0.001", "ms", "millisecond milliseconds millis"),
    _unit("time", "1", "s sec secs", "second seconds"),
    _unit("time", "60", "min mins", "minute minutes"),
    _unit("time", "3600", "h hr hrs", "hour hours"),
    _unit("time", "86400", "d", "day days"),
    _unit("time", "604800", "", "week weeks"),
    _unit("temperature", "1", "°C C", "celsius", "273.15"),
    _unit("temperature", "5/9", "°F F", "fahrenheit", "459.67"),
    _unit("temperature", "1", "K", "kelvin"),
)
_SYMBOLS = {symbol: unit for unit in _UNITS for symbol in unit.symbols}
_WORDS = {word: unit for unit in _UNITS for word in unit.words}
_QUANTITY = re.compile(
    r"\s*(?P<number>-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,12})?)\s*(?P<unit>[^\W\d_]{1,12}|°[CF])\.?\s*"
)
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PROSE = re.compile(r"[^\W\d_]+")
_SAID = re.compile(r"(?:\bin |(?<!\w)\()(?P<symbol>°?[A-Za-z]{1,3})\b")


class About(NamedTuple):
    """What the schema says of a place: the parameter's name, its description."""

    name: str
    description: str


def in_named_unit(value: Any, about: About) -> int | float | None:
    """The number that a text like `1 kg` is in the unit that `about` names; None where that is not certain."""
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) and len(value) < 60 else None
    source = _known(match["unit"]) if match else None
    target = _target(about, source.dimension) if source else None
    if match is None or source is None or target is None:
        return None
    base = (Fraction(match["number"]) + source.offset) * source.factor
    result = base / target.factor - target.offset
    return int(result) if result.denominator == 1 else float(result)


def _known(text: str) -> _Unit | None:
    return _SYMBOLS.get(text) or _WORDS.get(text.casefold())


def _target(about: About, dimension: str) -> _Unit | None:
    parts = _PARTS.findall(about.name)
    named = [unit for part in parts if (unit := _WORDS.get(part.casefold()))]
    if len(parts) > 1:
        named += [unit for text in (parts[-1].lower(), parts[-1].upper()) if (unit := _SYMBOLS.get(text))][:1]
    if not named:
        named = [unit for word in _PROSE.findall(about.description) if (unit := _WORDS.get(word.casefold()))]
        named += [unit for match in _SAID.finditer(about.description) if (unit := _SYMBOLS.get(match["symbol"]))]
    found = {unit for unit in named if unit.dimension == dimension}
    return found.pop() if len(found) == 1 else None
