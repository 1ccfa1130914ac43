"""Equality of JSON values, as semantics needs it: exact, acceptable or wrong, with the place of each difference.

Not the equality of hashes (`canonical`), which keeps `5` and `5.0` apart, and no judge of free text.

| expected, actual                                        | result      | note or difference |
|---------------------------------------------------------|-------------|--------------------|
| same type, same value                                   | exact       |                    |
| `true` and `1`, `"5"` and `5`, null and anything else   | wrong       | type               |
| int and float of the same value (also `0.0` and `-0.0`) | acceptable  | number_form        |
| numbers apart, within a declared tolerance              | acceptable  | within_tolerance   |
| numbers apart otherwise (`0.1 + 0.2` and `0.3` too)     | wrong       | value              |
| strings alike by code point                             | exact       |                    |
| strings alike after NFC                                 | acceptable  | unicode_form       |
| strings that differ in case, space or punctuation       | wrong       | value              |
| arrays of another length                                | wrong       | length             |
| arrays in another order, declared unordered             | acceptable  | reordered          |
| arrays in another order otherwise                       | wrong       | at each index      |
| objects: a key absent, a key too many                   | wrong       | missing_key, unexpected_key |

Sources: scoring-faults 8-12, 16, 23 and 26 (gorilla #407, #309, #256); RFC 8259 for the types.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

from callscope.contract import Tolerance
from callscope.scoring.assignment import assign
from callscope.scoring.pointers import child

__all__ = ["Equal", "Equality", "compare_values"]

Equal = Literal["exact", "acceptable", "wrong"]
_NO_TOLERANCE: Mapping[str, Tolerance] = {}
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


def compare_values(
    expected: Any,
    actual: Any,
    *,
    pointer: str = "",
    unordered: Collection[str] = (),
    tolerance: Mapping[str, Tolerance] = _NO_TOLERANCE,
) -> Equality:
    """Compare two JSON values found at `pointer`.

    Args:
        expected: the value that is right.
        actual: the value that was given.
        pointer: where both stand; prefixes every pointer in the result.
        unordered: pointers of arrays that are multisets.
        tolerance: pointer -> tolerance of the number there.

    Total on JSON values up to the parser's depth limit. Without tolerances the result is the same with the two
    values swapped.
    """
    if isinstance(expected, str):
        return _strings(expected, actual, pointer)
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        return _numbers(expected, actual, pointer, tolerance)
    if isinstance(expected, dict):
        return _objects(expected, actual, pointer, unordered, tolerance)
    if isinstance(expected, (list, tuple)):
        return _arrays(expected, actual, pointer, unordered, tolerance)
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


def _strings(expected: str, actual: Any, pointer: str) -> Equality:
    if expected == actual:
        return _EXACT
    if isinstance(actual, str) and unicodedata.normalize("NFC", expected) == unicodedata.normalize("NFC", actual):
        return _tolerated(pointer, "unicode_form")
    return _differ(pointer, expected, actual)


def _numbers(expected: float, actual: Any, pointer: str, tolerance: Mapping[str, Tolerance]) -> Equality:
    if isinstance(actual, bool) or not isinstance(actual, (int, float)):
        return _differ(pointer, expected, actual)
    if expected == actual:
        alike = type(expected) is type(actual) and math.copysign(1, expected) == math.copysign(1, actual)
        return _EXACT if alike else _tolerated(pointer, "number_form")
    if pointer in tolerance and _within(expected, actual, tolerance[pointer]):
        return _tolerated(pointer, "within_tolerance")
    return _differ(pointer, expected, actual)


def _within(expected: float, actual: float, tolerance: Tolerance) -> bool:
    try:
        return abs(actual - expected) <= tolerance.absolute + tolerance.relative * abs(expected)
    except OverflowError:  # an integer beyond any float: no declared tolerance reaches it
        return False


def _objects(
    expected: dict[str, Any],
    actual: Any,
    pointer: str,
    unordered: Collection[str],
    tolerance: Mapping[str, Tolerance],
) -> Equality:
    if not isinstance(actual, dict):
        return _differ(pointer, expected, actual)
    parts = []
    for key, value in expected.items():
        place = child(pointer, key)
        if key in actual:
            parts.append(compare_values(value, actual[key], pointer=place, unordered=unordered, tolerance=tolerance))
        else:
            parts.append(Equality("wrong", ({"pointer": place, "kind": "missing_key", "expected": value},)))
    for key, value in actual.items():
        if key not in expected:
            place = child(pointer, key)
            parts.append(Equality("wrong", ({"pointer": place, "kind": "unexpected_key", "actual": value},)))
    return _merge(parts)


def _arrays(
    expected: list[Any] | tuple[Any, ...],
    actual: Any,
    pointer: str,
    unordered: Collection[str],
    tolerance: Mapping[str, Tolerance],
) -> Equality:
    if not isinstance(actual, (list, tuple)):
        return _differ(pointer, expected, actual)
    if len(expected) != len(actual):
        found = {"pointer": pointer, "kind": "length", "expected": list(expected), "actual": list(actual)}
        return Equality("wrong", (found,))
    in_order = _merge(
        [
            compare_values(value, actual[at], pointer=child(pointer, at), unordered=unordered, tolerance=tolerance)
            for at, value in enumerate(expected)
        ]
    )
    if pointer not in unordered or in_order.result != "wrong":
        return in_order
    return _multiset(expected, actual, pointer, unordered, tolerance)


def _multiset(
    expected: list[Any] | tuple[Any, ...],
    actual: list[Any] | tuple[Any, ...],
    pointer: str,
    unordered: Collection[str],
    tolerance: Mapping[str, Tolerance],
) -> Equality:
    """Pair the elements at minimum cost. Greedy pairing is wrong as soon as tolerances make elements overlap."""
    table = [
        [
            compare_values(value, other, pointer=child(pointer, at), unordered=unordered, tolerance=tolerance)
            for other in actual
        ]
        for at, value in enumerate(expected)
    ]
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
