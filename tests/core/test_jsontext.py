"""Faithful JSON: nothing is changed silently, nothing but JsonFault is raised, and every reason is the right one."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callscope.jsontext import MAX_DEPTH, JsonFault, Parsed, dump_faithful, escape_surrogates, parse_json
from tests.core.json_values import ANY_TEXT, ANYTHING, identical, nested, tower

# ------------------------------------------------------------------------------------------------------------ reasons

REASONS = [
    ("", "empty"),
    (" \t\r\n", "empty"),
    (b"", "empty"),
    # a proper beginning of a JSON value
    ("{", "truncated"),
    ('{"a"', "truncated"),
    ('{"a" ', "truncated"),
    ('{"a":', "truncated"),
    ('{"a": "b', "truncated"),
    ('{"a": "b"', "truncated"),
    ('{"a": 1, ', "truncated"),
    ("[1, 2", "truncated"),
    ('{"a": tru', "truncated"),
    ('{"a": n', "truncated"),
    ('{"a": -', "truncated"),
    ('{"a": 1.', "truncated"),
    ('{"a": 1.5e', "truncated"),
    ('{"a": -0E+', "truncated"),
    ("-", "truncated"),
    ("1.", "truncated"),
    ("2e-", "truncated"),
    ("fals", "truncated"),
    ('"\\', "truncated"),
    ('"\\u', "truncated"),
    ('["\\u12f', "truncated"),
    ('"\\ud83d\\', "truncated"),
    ('"\\ud83d', "truncated"),
    ('"\\u12ff', "truncated"),
    ('"\\ud83d\\uDe0', "truncated"),
    # a whole value, and more
    ("{} {}", "extra_data"),
    ('{}""', "extra_data"),
    ("1 2", "extra_data"),
    ("{} -", "extra_data"),
    ("{}1.", "extra_data"),
    ("nullx", "extra_data"),
    ("01", "extra_data"),
    # escapes that no continuation can make right
    (r'"\x"', "invalid_escape"),
    ('"\\x', "invalid_escape"),
    ('"\\u12"', "invalid_escape"),
    ('"\\u12zz', "invalid_escape"),
    ('"\\u12 ', "invalid_escape"),
    ('{"a": "\\\u4e2d"}', "invalid_escape"),
    ('"\\q and then \\u12', "invalid_escape"),
    # raw control characters in strings
    ('"a\nb"', "control_character"),
    ('{"a": "\t"}', "control_character"),
    ('"\x00"', "control_character"),
    # numbers
    ("NaN", "not_a_json_number"),
    ("[Infinity]", "not_a_json_number"),
    ('{"a": -Infinity}', "not_a_json_number"),
    ("1e400", "number_out_of_range"),
    ("[-1e400]", "number_out_of_range"),
    ("9" * 5000, "number_out_of_range"),
    ("-" + "9" * 5000, "number_out_of_range"),
    # depth
    ("[" * 201 + "]" * 201, "too_deep"),
    ("[" * 201 + "1" + "]" * 201, "too_deep"),
    ('{"k":' * 201 + "1" + "}" * 201, "too_deep"),
    ("[" * 100_000, "too_deep"),
    ('{"k":' * 100_000, "too_deep"),
    ("[" * 100_000 + "]" * 100_000, "too_deep"),
    # bytes
    (b'"\xff"', "invalid_utf8"),
    (b'"\xed\xa0\x80"', "invalid_utf8"),
    (b'{"a": "\xc3', "invalid_utf8"),
    (b"\xff\xfe{\x00}\x00", "invalid_utf8"),
    # everything else
    ("\ufeff{}", "syntax"),
    (b"\xef\xbb\xbf{}", "syntax"),
    ("\u00a0", "syntax"),
    ("\x1c", "syntax"),
    ("hello", "syntax"),
    ("{'a': 1}", "syntax"),
    ('{"a": 1,}', "syntax"),
    ("[1,]", "syntax"),
    ("[1 tr", "syntax"),
    ("{tr", "syntax"),
    ("{'a': tr", "syntax"),
    ('{"a" 1}', "syntax"),
    ("[1.e5]", "syntax"),
    ("[1.e", "syntax"),
    ("[.5]", "syntax"),
    ("[+1]", "syntax"),
    ("[True]", "syntax"),
    ("}", "syntax"),
    ('{\\n"a": 1}', "syntax"),
    ("// c\n1", "syntax"),
]


@pytest.mark.parametrize(("text", "reason"), REASONS, ids=lambda value: repr(value)[:40])
def test_text_that_is_no_json_value_is_refused_with_its_reason(text: str | bytes, reason: str) -> None:
    with pytest.raises(JsonFault) as caught:
        parse_json(text)
    assert caught.value.reason == reason
    assert str(caught.value).startswith(reason)
    assert isinstance(caught.value, ValueError)


def test_a_fault_says_what_it_saw_but_not_at_length() -> None:
    with pytest.raises(JsonFault, match=r"^number_out_of_range: 5000 digits$"):
        parse_json("9" * 5000)
    with pytest.raises(JsonFault) as caught:
        parse_json("1" + "0" * 4000 + ".5")
    assert len(str(caught.value)) < 100
    assert str(JsonFault("empty")) == "empty"


def read(text: str | bytes) -> Parsed | str:
    """What was read, or the reason why not, out of the known ones."""
    try:
        return parse_json(text)
    except JsonFault as fault:
        return {reason: reason for _, reason in REASONS}[fault.reason]


@given(st.text(max_size=40) | st.binary(max_size=40) | ANY_TEXT)
@example("[" * 5_000)
@example('"\\ud83d')
def test_no_text_and_no_bytes_raise_anything_but_a_fault(text: str | bytes) -> None:
    assert isinstance(read(text), (Parsed, str))


@given(st.text(st.sampled_from('{}[]",:\\u0d8fe-+. \ntruefalsn'), max_size=24))
def test_nor_does_text_that_looks_like_json(text: str) -> None:
    found = read(text)
    assert isinstance(found, str) or found.value == json.loads(text)


@given(
    nested(st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT, ANY_TEXT), st.data()
)
def test_every_beginning_of_an_object_is_truncated(value: object, data: st.DataObject) -> None:
    text = json.dumps(
        {"arguments": value}, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.sampled_from([None, 1]))
    )
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(JsonFault) as caught:
        parse_json(text[:cut])
    assert caught.value.reason == "truncated"


# ----------------------------------------------------------------------------------------------------- what is accepted


@given(ANYTHING)
def test_a_value_is_read_as_it_was_written(value: object) -> None:
    assert identical(parse_json(json.dumps(value)).value, json.loads(json.dumps(value)))


@pytest.mark.parametrize("kind", ["list", "dict"])
@pytest.mark.parametrize("inside", [None, 1], ids=["empty", "scalar"])
def test_two_hundred_levels_are_read_and_not_one_more(kind: str, inside: int | None) -> None:
    text = json.dumps(tower(MAX_DEPTH, inside=inside, kind=kind))
    assert parse_json(text).flags == ()
    with pytest.raises(JsonFault, match="too_deep"):
        parse_json(json.dumps(tower(MAX_DEPTH + 1, inside=inside, kind=kind)))


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert parse_json("[" + ",".join(["{}"] * 500) + "]").value == [{}] * 500
    assert parse_json(json.dumps("[" * 500)).value == "[" * 500
    assert parse_json('[1,"' + "{" * 300 + '"]').flags == ()


def test_the_last_of_two_equal_keys_stands_as_in_every_client_library() -> None:
    assert parse_json('{"a": 1, "b": 2, "a": 3}') == ({"a": 3, "b": 2}, ("duplicate_keys",))


FLAGS = [
    ("{}", ()),
    ('{"a": {"a": 1}}', ()),
    ('[{"a": 1}, {"a": 1}]', ()),
    ('{"a": 1, "a": 1}', ("duplicate_keys",)),
    ('{"a": 1, "\\u0061": 2}', ("duplicate_keys",)),
    ('[[{"b": [{"a": 1, "a": {}}]}]]', ("duplicate_keys",)),
    ('{"a": {"x": 1, "x": 2}, "a": 3}', ("duplicate_keys",)),
    (str(2**53), ()),
    (str(-(2**53)), ()),
    (str(2**53 + 1), ("big_integer",)),
    (str(-(2**53) - 1), ("big_integer",)),
    ("999999999999999", ()),
    ("-99999999999999", ()),
    (f'{{"a": [{10**40}]}}', ("big_integer",)),
    ("9" * 4300, ("big_integer",)),
    ("9007199254740993.0", ()),
    (f'"{10**40}"', ()),
    ('"\\ud83d"', ("lone_surrogate",)),
    ('"\\uDE00 x"', ("lone_surrogate",)),
    ('"\\ude00\\ud83d"', ("lone_surrogate",)),
    ('{"a": [{"\\ud83d": 1}]}', ("lone_surrogate",)),
    ('"\ud83d"', ("lone_surrogate",)),
    ('{"\udcff": 1}', ("lone_surrogate",)),
    ('[1, null, {"a": "\udc80"}]', ("lone_surrogate",)),
    ('"\\ud83d\\ude00"', ()),
    ('"\\uD83D\\uDE00"', ()),
    ('"\U0001f600"', ()),
    (r'"\\ud83d"', ()),
    ('{"a": 1, "a": [9007199254740993, "\\ud800"]}', ("big_integer", "duplicate_keys", "lone_surrogate")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "flags"), FLAGS, ids=lambda value: ascii(value)[:40])
def test_what_a_plain_parser_would_hide_is_flagged(text: str, flags: tuple[str, ...]) -> None:
    assert parse_json(text).flags == flags


@given(
    st.recursive(
        st.integers(0, 9),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=12,
    ),
    st.data(),
)
def test_a_repeated_key_is_seen_at_any_depth(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    assert parse_json(text).flags == ()
    objects = [place for place, sign in enumerate(text) if sign == "{"]
    if objects:
        place = data.draw(st.sampled_from(objects)) + 1
        twice = '"z":0,"z":0' + ("" if text[place] == "}" else ",")
        assert parse_json(text[:place] + twice + text[place:]).flags == ("duplicate_keys",)


@given(st.integers())
def test_an_integer_is_whole_and_flagged_exactly_beyond_two_to_the_53(number: int) -> None:
    for each in (number, number * 2**50, number * 10**80):
        value, flags = parse_json(str(each))
        assert (value, type(value)) == (each, int)
        assert flags == (("big_integer",) if abs(each) > 2**53 else ())


def test_reading_asks_little_of_the_stack() -> None:
    """A fault of depth, where it comes from Python's own limit, is the same fault."""
    before = sys.getrecursionlimit()
    with pytest.raises(JsonFault, match="too_deep"):
        parse_json("[" * (before * 2))
    assert sys.getrecursionlimit() == before


# ------------------------------------------------------------------------------------------------------------ writing


@given(ANYTHING, st.sampled_from([None, 0, 2]), st.booleans())
def test_what_is_dumped_reads_back_the_same(value: object, indent: int | None, sort_keys: bool) -> None:
    text = dump_faithful(value, indent=indent, sort_keys=sort_keys)
    expected = json.loads(json.dumps(value, sort_keys=sort_keys))
    assert identical(parse_json(text).value, expected)
    assert list(_keys(parse_json(text).value)) == list(_keys(expected))


def _keys(value: object) -> list[str]:
    """All keys in the order in which they stand."""
    if isinstance(value, dict):
        return [name for key, item in value.items() for name in (key, *_keys(item))]
    return [name for item in value for name in _keys(item)] if isinstance(value, list) else []


def test_a_dump_is_compact_unescaped_and_keeps_the_order_of_keys() -> None:
    value = {"b": [1, {"ü": "\u2028 \ud83d"}], "a": 10**30}
    assert dump_faithful(value) == '{"b":[1,{"ü":"\u2028 \\ud83d"}],"a":%d}'.encode() % 10**30
    assert dump_faithful({"b": 1, "a": [2]}, sort_keys=True, indent=1) == b'{\n "a": [\n  2\n ],\n "b": 1\n}'


def test_a_high_surrogate_before_a_low_one_has_no_other_form_than_the_character() -> None:
    assert parse_json(dump_faithful("\ud83d\ude00")).value == "\U0001f600"


@given(ANY_TEXT)
def test_escaped_text_can_be_encoded_and_all_else_stays(text: str) -> None:
    escaped = escape_surrogates(text)
    escaped.encode()
    assert "".join(c for c in text if not "\ud800" <= c <= "\udfff") in escaped or "\\ud" in escaped
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert escaped == text
    assert escape_surrogates("a\ud83db\udfffc") == r"a\ud83db\udfffc"
