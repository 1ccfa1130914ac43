"""Equality of JSON values, as semantics needs it: exact, acceptable or wrong, with the place of each difference.

Not the equality of hashes (`canonical`), which keeps `5` and `5.0` apart, and no judge of free text.

| expected, actual                                        | result      | note or difference |
|---------------------------------------------------------|-------------|--------------------|
| same type, same value                                   | exact       |                    |
| `true` and `1`, `"5"` and `5`, null and anything else   | wrong       | type               |
| int and float of the same value (also `0.0` and `-0.0`) | acceptable  | number_form        |
| numbers apart, within a declared tolerance (exact       | acceptable  | within_tolerance   |
| arithmetic on the decimals as written, of any size)     |             |                    |
| numbers apart otherwise (`0.1 + 0.2` and `0.3` too)     | wrong       | value              |
| strings alike by code point                             | exact       |                    |
| strings alike after NFC                                 | acceptable  | unicode_form       |
| strings of one date or instant, where times are read  | acceptable  | same_time          |
| strings that differ in case, space or punctuation       | wrong       | value              |
| the text is `folded`: strings alike under `folding`     | acceptable  | folded             |
| the text is `folded`: fractions within a relative 1e-9  | acceptable  | within_tolerance   |
| arrays of another length                                | wrong       | length             |
| arrays in another order, declared unordered             | acceptable  | reordered          |
| arrays in another order otherwise                       | wrong       | at each index      |
| objects: a key absent, a key too many                   | wrong       | missing_key, unexpected_key |

Sources: scoring-faults 8-12, 16, 23 and 26 (gorilla #407, #309, #256); RFC 8259 for the types; Unicode 15.1 section
3.11 for canonical equivalence; docs/decisions/0014 for dates.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from callscope.contract import Pattern, PatternArray, PatternValue, Tolerance
from callscope.scoring.assignment import assign
from callscope.scoring.dates import Times, same_time
from callscope.scoring.folding import same_folded
from callscope.scoring.pointers import child

__all__ = ["Equal", "Equality", "compare_pattern", "compare_values"]

Equal = Literal["exact", "acceptable", "wrong"]
_NO_TOLERANCE: Mapping[str, Tolerance] = {}
_FOLDED_RELATIVE = 1e-9
_COST = {"exact": 0, "acceptable": 1, "wrong": 1000}


class Equality(NamedTuple):
    """How two values compare.

    `differences` hold `pointer`, `kind`, and `expected` and `actual` where each is there; `notes` hold `pointer` and
    `note` for what was tolerated. Pointers are those of the expected value.
    """

    result: Equal
    differences: tuple[dict[str, Any], ...] = ()
    notes: tuple[dict[str, Any], ...] = ()


_EXACT = Equality("exact")


class _Allowed(NamedTuple):
    """What a case declares beyond plain equality."""

    unordered: Collection[str]
    tolerance: Mapping[str, Tolerance]
    times: Times | None
    folded: bool


def compare_values(
    expected: Any,
    actual: Any,
    *,
    pointer: str = "",
    unordered: Collection[str] = (),
    tolerance: Mapping[str, Tolerance] = _NO_TOLERANCE,
    times: Times | None = None,
    folded: bool = False,
) -> Equality:
    """Compare two JSON values found at `pointer`.

    Args:
        expected: the value that is right.
        actual: the value that was given.
        pointer: where both stand; prefixes every pointer in the result.
        unordered: pointers of arrays that are multisets.
        tolerance: pointer -> tolerance of the number there.
        times: how strings that state dates or times are compared (`dates`); None: as any other.
        folded: whether strings are compared under `folding`, and fractions to a relative 1e-9.

    Total on JSON values up to the parser's depth limit, with integers of any size. Without tolerances the result is the
    same with the two values swapped.
    """
    return _compare(expected, actual, pointer, _Allowed(unordered, tolerance, times, folded))


def compare_pattern(
    pattern: Pattern, actual: Any, *, pointer: str = "", times: Times | None = None, folded: bool = False
) -> Equality:
    """Compare a JSON value with a pattern; arguments and result as for `compare_values`."""
    return _pattern(pattern, actual, pointer, _Allowed((), _NO_TOLERANCE, times, folded))


def _pattern(pattern: Pattern, actual: Any, pointer: str, allowed: _Allowed) -> Equality:
    if isinstance(pattern, PatternValue):
        return _compare(pattern.value, actual, pointer, allowed)
    if isinstance(pattern, PatternArray):
        if not isinstance(actual, (list, tuple)):
            return _differ(pointer, _sketch(pattern), actual)
        if len(actual) != len(pattern.items):
            return Equality(
                "wrong", ({"pointer": pointer, "kind": "length", "expected": _sketch(pattern), "actual": list(actual)},)
            )
        return _merge(
            [_any_of(one_of, actual[at], child(pointer, at), allowed) for at, one_of in enumerate(pattern.items)]
        )
    if not isinstance(actual, dict):
        return _differ(pointer, _sketch(pattern), actual)
    parts = []
    for name, key in pattern.keys.items():
        place = child(pointer, name)
        if name in actual:
            parts.append(_any_of(key.one_of, actual[name], place, allowed))
        elif not key.optional:
            wanted = [_sketch(one) for one in key.one_of]
            parts.append(Equality("wrong", ({"pointer": place, "kind": "missing_key", "expected": wanted},)))
    for name, value in actual.items():
        if name not in pattern.keys:
            place = child(pointer, name)
            parts.append(Equality("wrong", ({"pointer": place, "kind": "unexpected_key", "actual": value},)))
    return _merge(parts)


def _any_of(patterns: Sequence[Pattern], actual: Any, pointer: str, allowed: _Allowed) -> Equality:
    """The best of the patterns; a single one keeps its own differences."""
    found = [_pattern(one, actual, pointer, allowed) for one in patterns]
    best = min(found, key=lambda each: _COST[each.result], default=None)
    if best is not None and (best.result != "wrong" or len(found) == 1):
        return best
    wanted = [_sketch(one) for one in patterns]
    return Equality("wrong", ({"pointer": pointer, "kind": "value", "expected": wanted, "actual": actual},))


def _sketch(pattern: Pattern) -> Any:
    """A pattern as people read it: an object's and an array's places hold the list of what may stand there."""
    if isinstance(pattern, PatternValue):
        return pattern.value
    if isinstance(pattern, PatternArray):
        return [[_sketch(one) for one in one_of] for one_of in pattern.items]
    return {name: [_sketch(one) for one in key.one_of] for name, key in pattern.keys.items()}


def _compare(expected: Any, actual: Any, pointer: str, allowed: _Allowed) -> Equality:
    if isinstance(expected, str):
        return _strings(expected, actual, pointer, allowed)
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        return _numbers(expected, actual, pointer, allowed)
    if isinstance(expected, dict):
        return _objects(expected, actual, pointer, allowed)
    if isinstance(expected, (list, tuple)):
        return _arrays(expected, actual, pointer, allowed)
    return _EXACT if expected is actual else _differ(pointer, expected, actual)


def _kind(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(type(value))
    if isinstance(value, (int, float)):
        return "number"
    return "array" if isinstance(value, (list, tuple)) else str(type(value))


def _differ(pointer: str, expected: Any, actual: Any) -> Equality:
    kind = "value" if _kind(expected) == _kind(actual) else "type"
    return Equality("wrong", ({"pointer": pointer, "kind": kind, "expected": expected, "actual": actual},))


def _tolerated(pointer: str, note: str) -> Equality:
    return Equality("acceptable", (), ({"pointer": pointer, "note": note},))


def _strings(expected: str, actual: Any, pointer: str, allowed: _Allowed) -> Equality:
    if expected == actual:
        return _EXACT
    if isinstance(actual, str):
        if _equivalent(expected, actual):
            return _tolerated(pointer, "unicode_form")
        if allowed.times is not None and same_time(expected, actual, allowed.times):
            return _tolerated(pointer, "same_time")
        if allowed.folded and same_folded(expected, actual):
            return _tolerated(pointer, "folded")
    return _differ(pointer, expected, actual)


def _equivalent(left: str, right: str) -> bool:
    """Canonical equivalence. A character decomposes to at most four, so strings of other proportions cannot be."""
    if (left.isascii() and right.isascii()) or not len(left) <= 4 * len(right) <= 16 * len(left):
        return False
    return "".join(_decomposed(left)) == "".join(_decomposed(right))


def _decomposed(text: str) -> Iterator[str]:
    """NFD, with the marks after a letter sorted in n log n: the library's own sort takes minutes for a long run."""
    marks: list[str] = []
    for whole in text:
        for character in unicodedata.normalize("NFD", whole):
            if unicodedata.combining(character):
                marks.append(character)
                continue
            yield from sorted(marks, key=unicodedata.combining)
            marks.clear()
            yield character
    yield from sorted(marks, key=unicodedata.combining)


def _numbers(expected: float, actual: Any, pointer: str, allowed: _Allowed) -> Equality:
    if isinstance(actual, bool) or not isinstance(actual, (int, float)):
        return _differ(pointer, expected, actual)
    if expected == actual:
        alike = type(expected) is type(actual) and (expected != 0 or _sign(expected) == _sign(actual))
        return _EXACT if alike else _tolerated(pointer, "number_form")
    if pointer in allowed.tolerance and _within(expected, actual, allowed.tolerance[pointer]):
        return _tolerated(pointer, "within_tolerance")
    if allowed.folded and float in {type(expected), type(actual)} and _close(expected, actual):
        return _tolerated(pointer, "within_tolerance")
    return _differ(pointer, expected, actual)


def _close(expected: float, actual: float) -> bool:
    """Within the relative 1e-9 of the larger of the two; exact, so that no integer is too large."""
    right, given = _exact(expected), _exact(actual)
    if right is None or given is None:
        return False
    return abs(given - right) <= Fraction(_FOLDED_RELATIVE) * max(abs(right), abs(given))


def _sign(zero: float) -> float:
    return math.copysign(1, zero)


def _within(expected: float, actual: float, tolerance: Tolerance) -> bool:
    """Exact, on the decimals that were written: 0.4 is within 0.1 of 0.3, and no integer is too large."""
    numbers = [_exact(one) for one in (expected, actual, tolerance.absolute, tolerance.relative)]
    right, given, absolute, relative = numbers
    if right is None or given is None or absolute is None or relative is None:
        return False  # NaN and infinities can only come from cases built by hand; nothing is within them
    return abs(given - right) <= absolute + relative * abs(right)


def _exact(number: float) -> Fraction | None:
    if isinstance(number, int):
        return Fraction(number)
    return Fraction(repr(number)) if math.isfinite(number) else None


def _objects(expected: dict[str, Any], actual: Any, pointer: str, allowed: _Allowed) -> Equality:
    if not isinstance(actual, dict):
        return _differ(pointer, expected, actual)
    parts = []
    for key, value in expected.items():
        place = child(pointer, key)
        if key in actual:
            parts.append(_compare(value, actual[key], place, allowed))
        else:
            parts.append(Equality("wrong", ({"pointer": place, "kind": "missing_key", "expected": value},)))
    for key, value in actual.items():
        if key not in expected:
            place = child(pointer, key)
            parts.append(Equality("wrong", ({"pointer": place, "kind": "unexpected_key", "actual": value},)))
    return _merge(parts)


def _arrays(expected: Sequence[Any], actual: Any, pointer: str, allowed: _Allowed) -> Equality:
    """Element by element, and, where the array is a declared multiset and that fails, by the cheapest pairing: greedy
    pairing is wrong as soon as tolerances make elements overlap. Loops, so that a level costs two stack frames, and no
    pair is compared twice, so that nested multisets stay affordable."""
    if not isinstance(actual, (list, tuple)):
        return _differ(pointer, expected, actual)
    if len(expected) != len(actual):
        found = {"pointer": pointer, "kind": "length", "expected": list(expected), "actual": list(actual)}
        return Equality("wrong", (found,))
    pairs: list[Equality] = []
    for at, value in enumerate(expected):
        pairs.append(_compare(value, actual[at], child(pointer, at), allowed))
    in_order = _merge(pairs)
    if pointer not in allowed.unordered or in_order.result != "wrong":
        return in_order
    table: list[list[Equality]] = []
    for row, value in enumerate(expected):
        cells: list[Equality] = []
        for column, other in enumerate(actual):
            cells.append(pairs[row] if row == column else _compare(value, other, child(pointer, row), allowed))
        table.append(cells)
    chosen = assign([[_COST[cell.result] for cell in row] for row in table])
    merged = _merge([table[row][column] for row, column in enumerate(chosen)])
    if merged.result == "wrong":
        return merged
    return Equality("acceptable", (), (*merged.notes, {"pointer": pointer, "note": "reordered"}))


def _merge(parts: list[Equality]) -> Equality:
    if all(part.result == "exact" for part in parts):
        return _EXACT
    differences = tuple(difference for part in parts for difference in part.differences)
    notes = tuple(note for part in parts for note in part.notes)
    return Equality("wrong" if differences else "acceptable", differences, notes)
