"""The figures of a published table: what a printed number says about the fraction behind it, exactly.

A printed figure is an interval, as wide as its last decimal. All arithmetic is on integers and fractions, so that a
verdict never hangs on floating point. Reading a file is `table_file`; what figures say together is `feasible`.
"""

from __future__ import annotations

import re
from fractions import Fraction

from msgspec import Struct

from callscope.errors import InputError

__all__ = [
    "NAMED_MIXES",
    "Bounds",
    "Figure",
    "Mix",
    "Whole",
    "percent",
    "read_count",
    "read_counts",
    "read_figure",
    "read_mix",
]

Whole = tuple[int, int]
"""Whole numbers from the first to the second, both included; none where the first is greater."""

Bounds = tuple[Fraction, Fraction]
"""The least and the greatest fraction."""

Mix = tuple[Fraction, Fraction, Fraction]
"""Shares of easy, medium and hard; they sum to 1."""

NAMED_MIXES: dict[str, Mix] = {
    "original": (Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)),
    "easy-weighted": (Fraction(3, 5), Fraction(3, 10), Fraction(1, 10)),
}

MAX_COUNT = 10**12
_NUMBER = re.compile(r"([+-]?)([0-9]{0,9})(?:\.([0-9]{0,15}))?")
_COUNT = re.compile(r"[0-9]{1,15}(?:\.0*)?|[0-9]{1,3}(?:,[0-9]{3}){1,4}")


class Figure(Struct, frozen=True):
    """A printed figure: the fraction behind it lies in low/scale to high/scale, both ends included.

    Half-up and half-even rounding differ at the ends only, and so does binary floating point; with both ends included
    all of them are allowed for. `text` is the figure as printed, `decimals` how many it has; what it names is
    named[0]/scale to named[1]/scale, two ends only where a range was printed.
    """

    text: str
    low: int
    high: int
    scale: int
    decimals: int
    named: Whole

    @property
    def first(self) -> Fraction:
        """The fraction that is printed; of a range its lower end."""
        return Fraction(self.named[0], self.scale)

    @property
    def last(self) -> Fraction:
        """The fraction that is printed; of a range its upper end."""
        return Fraction(self.named[1], self.scale)

    @property
    def possible(self) -> bool:
        """Whether any fraction of 0 to 1 prints so, and it names none outside."""
        return self.first >= 0 and self.last <= 1

    @property
    def bounds(self) -> Bounds:
        """The fractions of 0 to 1 that print so."""
        return Fraction(max(0, self.low), self.scale), Fraction(min(self.scale, self.high), self.scale)

    def whole(self, n: int) -> Whole:
        """The counts k of n for which k/n prints as this figure; of nothing there is no rate, so none for n = 0."""
        if n == 0:
            return 1, 0
        return max(0, -(-self.low * n // self.scale)), min(n, self.high * n // self.scale)


def percent(value: Fraction, decimals: int = 2) -> str:
    """A fraction as a percentage with so many decimals, halves up: `67.77`."""
    units = (200 * 10**decimals * value.numerator + value.denominator) // (2 * value.denominator)
    whole, part = divmod(abs(units), 10**decimals)
    return f"{'-' if units < 0 else ''}{whole}" + (f".{part:0{decimals}d}" if decimals else "")


def read_figure(text: str, *, in_percent: bool = True, comma: bool = False) -> Figure:
    """A figure as printed: `67.60`, `67.6%`, or `2.8..10.8` where only its range is known.

    Each end of a range is as exact as its own decimals. With `comma`, a decimal comma is read too. Raises InputError
    (without a place) for what is no plain decimal number: NaN, infinities, exponents.
    """
    ends = [_decimal(part, text, comma=comma) for part in (text.split("..") if ".." in text else (text,))]
    if len(ends) > 2:
        raise _no_number(text)
    decimals = max(places for _, places in ends)
    scale = 2 * 10 ** (decimals + (2 if in_percent else 0))
    (low, low_places), (high, high_places) = ends[0], ends[-1]
    least = (2 * low - 1) * 10 ** (decimals - low_places)
    most = (2 * high + 1) * 10 ** (decimals - high_places)
    if low * 10**high_places > high * 10**low_places:
        raise InputError("a range goes upward", found=text, hint="Write the lesser number first")
    named = 2 * low * 10 ** (decimals - low_places), 2 * high * 10 ** (decimals - high_places)
    return Figure(text=text, low=least, high=most, scale=scale, decimals=decimals, named=named)


def _decimal(part: str, text: str, *, comma: bool) -> tuple[int, int]:
    """The digits as one integer, and how many of them are decimals."""
    plain = part.strip().replace("−", "-").removesuffix("%").rstrip()
    if comma:
        plain = plain.replace(",", ".")
    match = _NUMBER.fullmatch(plain)
    if match is None or not (match[2] or match[3]):
        raise _no_number(text)
    places = match[3] or ""
    units = int(match[2] + places)
    return (-units if match[1] == "-" else units), len(places)


def _no_number(text: str) -> InputError:
    return InputError(
        "is no plain decimal number",
        found=text,
        expected="a number such as 67.60, or a range such as 2.8..10.8",
        hint="Leave the cell empty where the table states nothing",
    )


def read_count(text: str) -> int:
    """A count: `2500`, `2,500`, `2500.0`. Raises InputError (without a place) for anything else."""
    plain = text.strip()
    if _COUNT.fullmatch(plain) is None or (count := int(plain.split(".")[0].replace(",", ""))) > MAX_COUNT:
        raise InputError("is no count", found=text, expected=f"a whole number of 0 to {MAX_COUNT}")
    return count


def read_counts(text: str) -> tuple[int, ...]:
    """Counts a class, as `100/50/50/100`. Raises InputError (without a place) for anything else."""
    parts = text.split("/")
    if not 2 <= len(parts) <= 12:
        raise InputError("is no list of counts a class", found=text, expected="2 to 12 counts, such as 100/50/50/100")
    return tuple(read_count(part) for part in parts)


def read_mix(text: str) -> Mix:
    """A difficulty mix: `original`, `easy-weighted`, or easy/medium/hard as `0.4/0.4/0.2`, `40/40/20`, `2/2/1`.

    The numbers are exact and stand for their proportions. Raises InputError (without a place) for anything else.
    """
    name = text.strip().lower()
    if name in NAMED_MIXES:
        return NAMED_MIXES[name]
    parts = name.split("/")
    expected = f"easy/medium/hard as 0.4/0.4/0.2, or {' or '.join(NAMED_MIXES)}"
    if len(parts) != 3:
        raise InputError("is no difficulty mix", found=text, expected=expected)
    ends = [_decimal(part, text, comma=False) for part in parts]
    shares = [Fraction(units, 10**places) for units, places in ends]
    total = sum(shares, Fraction(0))
    if min(shares) < 0 or total <= 0:
        raise InputError("a mix has shares of at least 0, not all of them 0", found=text, expected=expected)
    easy, medium, hard = (share / total for share in shares)
    return easy, medium, hard
