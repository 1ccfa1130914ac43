"""Numbers and quantities read from text, exactly, where the text leaves no doubt; for the judge of rules.

Numbers: digits with an optional sign and point, commas between groups of three, or English words up to the billions.
A point before exactly three digits may part thousands too, so such a number has two readings. Quantities: one or more
numbers, each with a unit of the table and all of one dimension (`1 h 30 min`).
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

__all__ = ["Quantity", "numbers_of", "quantity_of"]


class Quantity(NamedTuple):
    """An amount in the base unit of its dimension. `doubtful`: its unit may mean one of another dimension too."""

    dimension: str
    amount: Fraction
    doubtful: bool = False


_UNITS: dict[str, tuple[str, Fraction]] = {}


def _unit(dimension: str, factor: str | int | Fraction, *names: str) -> None:
    _UNITS.update({name: (dimension, Fraction(factor)) for name in names})


_unit("length", "0.001", "mm", "millimetre", "millimetres", "millimeter", "millimeters")
_unit("length", "0.01", "cm", "centimetre", "centimetres", "centimeter", "centimeters")
_unit("length", 1, "m", "metre", "metres", "meter", "meters")
_unit("length", 1000, "km", "kms", "kilometre", "kilometres", "kilometer", "kilometers")
_unit("length", "0.0254", "in", "inch", "inches")
_unit("length", "0.3048", "ft", "foot", "feet")
_unit("length", "0.9144", "yd", "yard", "yards")
_unit("length", "1609.344", "mi", "mile", "miles")
_unit("mass", "0.001", "mg", "milligram", "milligrams")
_unit("mass", 1, "g", "gram", "grams", "gramme", "grammes")
_unit("mass", 1000, "kg", "kgs", "kilo", "kilos", "kilogram", "kilograms")
_unit("mass", "28.349523125", "oz", "ounce", "ounces")
_unit("mass", "453.59237", "lb", "lbs", "pound", "pounds")
_unit("volume", "0.001", "ml", "mL", "millilitre", "millilitres", "milliliter", "milliliters")
_unit("volume", 1, "l", "L", "litre", "litres", "liter", "liters")
_unit("time", 1, "s", "sec", "secs", "second", "seconds")
_unit("time", 60, "min", "mins", "minute", "minutes")
_unit("time", 3600, "h", "hr", "hrs", "hour", "hours")
_unit("time", 86_400, "d", "day", "days")
_unit("time", 604_800, "week", "weeks")
_unit("speed", Fraction(1000, 3600), "km/h", "kph", "kmh", "kilometres per hour", "kilometers per hour")
_unit("speed", Fraction("1609.344") / 3600, "mph", "mi/h", "miles per hour")
_unit("speed", 1, "m/s", "metres per second", "meters per second")
_unit("share", "0.01", "%", "percent", "per cent")

_TEMPERATURES = {
    **dict.fromkeys(("°C", "° C", "degrees C", "degrees Celsius", "celsius", "Celsius"), "celsius"),
    **dict.fromkeys(("°F", "° F", "degrees F", "degrees Fahrenheit", "fahrenheit", "Fahrenheit"), "fahrenheit"),
}

_DOUBTFUL = {"m", "oz", "ounce", "ounces", "pound", "pounds"}
"""Metres or minutes, weight or fluid, weight or money."""

_NAMES = "|".join(re.escape(name) for name in sorted({*_UNITS, *_TEMPERATURES}, key=len, reverse=True))
_DIGITS = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,18})?(?:\.\d{1,18})?"
_JOIN = re.compile(r"(?: and |,? ?)")
_PART = re.compile(rf"(?P<number>{_DIGITS}|[a-z]+(?:[ -][a-z]+){{0,8}}?) ?(?P<unit>{_NAMES})(?![\w/])")
_NUMBER = re.compile(rf"(?=[+-]?\.?\d){_DIGITS}")
_PADDED = re.compile(r"[+-]?0\d+")
"""Digits that begin with 0 are a code or a telephone number rather than an amount."""

_GROUPED = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+")

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
_SCALES = {"thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}


def numbers_of(text: str) -> frozenset[Fraction]:
    """The readings of a text that is one number: none, one, or two. Never raises."""
    sign, rest = 1, text
    for word in ("minus ", "negative "):
        if rest.lower().startswith(word):
            sign, rest = -1, rest[len(word) :]
    if _PADDED.fullmatch(rest):
        return frozenset()
    if _NUMBER.fullmatch(rest):
        readings = {sign * Fraction(rest.replace(",", ""))}
        if _GROUPED.fullmatch(rest) and not rest.lstrip("+-").startswith("0"):
            readings.add(sign * Fraction(rest.replace(".", "")))
        return frozenset(readings)
    if _GROUPED.fullmatch(rest):  # 1.000.000: no decimal point could stand twice
        return frozenset({sign * Fraction(rest.replace(".", ""))})
    value = _in_words(rest.lower())
    return frozenset() if value is None else frozenset({Fraction(sign * value)})


def quantity_of(text: str) -> Quantity | None:
    """The quantity that a text states, or None. Never raises."""
    parts, position = [], 0
    while position < len(text):
        found = _PART.match(text, position)
        if found is None:
            return None
        amounts = numbers_of(found["number"])
        if len(amounts) != 1:
            return None
        (amount,) = amounts
        parts.append((amount, found["unit"]))
        position = _JOIN.match(text, found.end()).end()  # type: ignore[union-attr]  # it matches nothing too
    if len(parts) == 1 and parts[0][1] in _TEMPERATURES:
        amount, unit = parts[0]
        celsius = amount if _TEMPERATURES[unit] == "celsius" else (amount - 32) * Fraction(5, 9)
        return Quantity("temperature", celsius)
    if not parts or any(unit in _TEMPERATURES for _, unit in parts):
        return None
    dimensions = {_UNITS[unit][0] for _, unit in parts}
    if len(dimensions) != 1 or (len(parts) > 1 and any(amount < 0 for amount, _ in parts)):
        return None
    total = sum((amount * _UNITS[unit][1] for amount, unit in parts), Fraction(0))
    return Quantity(dimensions.pop(), total, any(unit in _DOUBTFUL for _, unit in parts))


def _in_words(text: str) -> int | None:
    """A whole number in English words: `twelve`, `forty-eight`, `two thousand and five hundred`; None for others."""
    words = [word for word in re.split("[ -]+", text) if word != "and"]
    if not words or not all(word in _SMALL or word in _SCALES or word == "hundred" for word in words):
        return None
    total, group, last, ceiling = 0, 0, "", 10**12
    for word in words:
        if word in _SMALL:
            value = _SMALL[word]
            ten_before = last in _TENS and 0 < value < 10
            if not (last in ("", "hundred", *_SCALES) or ten_before) or (value == 0 and len(words) > 1):
                return None
            group += value
        elif word == "hundred":
            if not 0 < group < 100:
                return None
            group *= 100
        else:
            if not 0 < group < 1000 or _SCALES[word] >= ceiling:
                return None
            ceiling = _SCALES[word]
            total, group = total + group * ceiling, 0
        last = word
    return total + group
