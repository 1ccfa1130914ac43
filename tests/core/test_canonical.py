"""The canonical form: RFC 8785 where both are defined, total beyond it, and equal only for identical values."""

from __future__ import annotations

import hashlib
import json
import math
import random

import pytest
import rfc8785
from hypothesis import assume, example, given
from hypothesis import strategies as st

from callscope.canonical import canonical, canonical_hash, sha256_hex
from callscope.jsontext import parse_json
from tests.core.json_values import ANY_TEXT, ANYTHING, DEFINED, identical, tower


@given(DEFINED)
@example({"\U0001f600": 1, "\ufb33": 2, "\r": 3, "1": 4, "\u0080": 5, "\u00f6": 6, "\u20ac": 7})
@example([333333333.33333329, 1e30 + 0.1, 4.5, 2e-3, 1e-27, 5e-324, 1.5e-6, 1.5e-7, -1e-6, 123456.789e-12])
@example(['\u20ac$\u000f\nA\'B"\\\\"/', "\u007f\u2028\b\f\t\r"])
def test_it_is_rfc_8785_where_both_are_defined(value: object) -> None:
    if not _holds_integral_float(value):
        assert canonical(value) == rfc8785.dumps(value)


def _holds_integral_float(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_integral_float, value.values()))
    if isinstance(value, list):
        return any(map(_holds_integral_float, value))
    return isinstance(value, float) and value.is_integer()


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e16)
@example(5.343760841971271e16)
@example(-5.343760841971271e16)
@example(-1e20)
@example(1e21)
@example(1.7976931348623157e308)
@example(2.0**53)
@example(-0.0)
@example(5e-324)
@example(-1.5e-06)
@example(1e-07)
def test_a_float_is_written_as_ecmascript_does_with_its_point_kept(number: float) -> None:
    text = canonical(number).decode()
    expected = rfc8785.dumps(number).decode()
    if number == 0 and math.copysign(1, number) < 0:
        expected = "-0"
    assert text == (f"{expected}.0" if "." not in expected and "e" not in expected else expected)
    assert repr(float(text)) == repr(number)


@given(ANYTHING)
@example({"n": 10**4299, "s": "\ud83d", "z": -0.0, "e": {}, "l": []})
def test_it_is_total_and_reads_back_to_the_same_value(value: object) -> None:
    form = canonical(value)
    assert form == canonical(value)
    assert identical(json.loads(form), json.loads(json.dumps(value)))


@pytest.mark.parametrize("kind", ["list", "dict"])
def test_it_goes_as_deep_as_the_parser(kind: str) -> None:
    value = tower(200, inside=1, kind=kind)
    assert canonical(value) == json.dumps(value, separators=(",", ":")).encode()


@given(ANYTHING, ANYTHING)
@example({"a": 1}, {"a": 1.0})
@example([True], [1])
@example(0.0, -0.0)
@example(0, False)
@example(None, "null")
@example("\ud83d\ude00", "\U0001f600")
@example("\ud83d", r"\ud83d")
@example("\u00e9", "e\u0301")
@example({"a": None}, {})
@example([], {})
@example([[1], 2], [[1, 2]])
@example(10**22, 1e22)
def test_two_forms_are_equal_exactly_where_the_values_are_identical(one: object, other: object) -> None:
    assert (canonical(one) == canonical(other)) == identical(one, other)
    assert (canonical_hash(one) == canonical_hash(other)) == identical(one, other)


@given(st.dictionaries(ANY_TEXT, ANYTHING, min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(table: dict[str, object], chance: random.Random) -> None:
    items = list(table.items())
    chance.shuffle(items)
    assert canonical({"in": dict(items)}) == canonical({"in": table})


@given(st.lists(ANYTHING, min_size=2, max_size=5))
def test_the_order_of_an_array_does(items: list[object]) -> None:
    assume(not identical(items, items[::-1]))
    assert canonical(items) != canonical(items[::-1])


def test_a_tuple_is_an_array_and_keys_are_sorted_by_utf_16() -> None:
    assert canonical((1, ("a",))) == b'[1,["a"]]'
    assert canonical({"\ufb33": 1, "\U0001f600": 2, "a": 3}) == '{"a":3,"\U0001f600":2,"\ufb33":1}'.encode()
    assert canonical({chr(0xDFFF): 1, chr(0xD800): 2}) == rb'{"\ud800":2,"\udfff":1}'


def test_numbers_that_are_no_json_numbers_have_forms_of_their_own() -> None:
    forms = [canonical(value) for value in (math.nan, math.inf, -math.inf, "NaN", "Infinity", None)]
    assert forms == [b"NaN", b"Infinity", b"-Infinity", b'"NaN"', b'"Infinity"', b"null"]


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {1: 2}, {None: 1}, [{(1,): 2}], 1j])
def test_what_is_no_json_value_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="no JSON value"):
        canonical(value)


def test_the_hash_is_sha_256_of_the_form() -> None:
    assert canonical_hash({"b": 1, "a": [1.0, "\ud800"]}) == hashlib.sha256(rb'{"a":[1.0,"\ud800"],"b":1}').hexdigest()
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(ANYTHING)
def test_formatting_and_escapes_of_the_text_do_not_matter(value: object) -> None:
    texts = [json.dumps(value), json.dumps(value, indent=3), json.dumps(value, ensure_ascii=False)]
    forms = {canonical(parse_json(text).value) for text in texts[:2]}
    assert len(forms) == 1
