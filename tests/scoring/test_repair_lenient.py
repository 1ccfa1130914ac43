"""Text that is almost JSON has one reading or none: nothing is invented, nothing is lost, nothing takes long."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_scoring_properties import OBJECTS

from callscope.canonical import canonical
from callscope.jsontext import dump_faithful
from callscope.scoring.repair.lenient import MAX_TEXT, keyword_arguments, lenient_object, lenient_value

READ: list[tuple[str, dict[str, Any]]] = [
    ('{"a": 1}', {"a": 1}),
    ('{"a": 1,}', {"a": 1}),
    ('{"a": [1, 2,],}', {"a": [1, 2]}),
    ("{'a': 'x'}", {"a": "x"}),
    ("""{'a': 'it\\'s "so"'}""", {"a": 'it\'s "so"'}),
    ("{a: 1, $b-c: 2}", {"a": 1, "$b-c": 2}),
    ('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}),
    ('{"a": true, "b": -0.5e2, "c": 0, "d": []}', {"a": True, "b": -50.0, "c": 0, "d": []}),
    ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
    ('{"a": "line\nbreak\tand\x01"}', {"a": "line\nbreak\tand\x01"}),
    ('{\\n  "a": 1,\\n\\t"b": 2\\r\\n}', {"a": 1, "b": 2}),
    ('```json\n{"a": 1}\n```', {"a": 1}),
    ('  ```\n{"a": 1}```  ', {"a": 1}),
    ('{}""', {}),
    ("{\"a\": 1} ''", {"a": 1}),
    ('{"a": 1}}', {"a": 1}),
    ('{"a": [1]}]}', {"a": [1]}),
    ('{"a": 1}{"a": 1}', {"a": 1}),
    ('{"a": 1}\n{ "a" : 1 }', {"a": 1}),
    ('{"a": "\\u00e9\\ud83d\\ude00\\n\\/"}', {"a": "é😀\n/"}),
    ('{"a": "\\ud83d"}', {"a": "\ud83d"}),
    ("", {}),
    (" \n", {}),
]

CLOSED: list[tuple[str, dict[str, Any]]] = [
    ('{"a": "x"', {"a": "x"}),
    ('{"a": [{"b": true', {"a": [{"b": True}]}),
    ('{"a": {"b": "x"} ', {"a": {"b": "x"}}),
]

NOT_READ = [
    '{"a": "x',  # an unclosed string
    '{"a": 75',  # 75 or 750
    '{"a": 7.5',
    '{"a": "x",',  # more was to come
    '{"a":',
    '{"a"',
    "{",
    '{"a": tru',
    '{"a": "\\d+"}',  # what was meant by the escape is unknown
    '{"a": "\\u00e"}',
    '{"a": "\\',
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": 1e999}',
    '{"a": 02139}',
    '{"a": +1}',
    '{"a": .5}',
    '{"a": 1.2.3}',
    '{"a": ' + "9" * 500 + "}",
    '{"a": undefined}',
    '{"a": 1, "a": 2}',  # one of the two would be lost
    '{"a": 1}{"a": 2}',
    '{"a": 1}{"a": true}',
    '{"a": 1} and more',
    'Here you are: {"a": 1}',
    '{"a": 1 "b": 2}',
    '{"a" 1}',
    "{1: 2}",
    "{'a': 'it's'}",
    '[{"a": 1}]',
    '"{}"',
    "5",
    "[" * 150 + "]" * 150,
    '{"a":' * 150 + "1" + "}" * 150,
    '{"a": "' + "x" * MAX_TEXT + '"}',
]


@pytest.mark.parametrize(("text", "value"), READ)
def test_almost_json_is_read(text: str, value: dict[str, Any]) -> None:
    read = lenient_object(text)
    assert read is not None
    assert (canonical(read.value), read.closed) == (canonical(value), False)


@pytest.mark.parametrize(("text", "value"), CLOSED)
def test_brackets_are_closed_only_behind_what_cannot_go_on(text: str, value: dict[str, Any]) -> None:
    assert lenient_object(text) == (value, True)
    assert lenient_value(text) is None


@pytest.mark.parametrize("text", NOT_READ, ids=[text[:30] for text in NOT_READ])
def test_what_has_no_one_reading_is_not_read(text: str) -> None:
    assert lenient_object(text) is None


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (")", ({}, 1)),
        ("a=1, b='x')", ({"a": 1, "b": "x"}, 11)),
        ("a = [1, {'b': None}],) tail", ({"a": [1, {"b": None}]}, 22)),
        ("1)", None),
        ("a=1", None),
        ("a=1, a=2)", None),
        ("a=b)", None),
        ("a)", None),
        ("a=1)" + " " * MAX_TEXT, None),
    ],
)
def test_keyword_arguments_are_literals_by_name(text: str, read: Any) -> None:
    assert keyword_arguments(text, 0) == read


@given(st.text(alphabet="{}[]\"'\\:,ntu01.e- \nTrueNone`a") | st.text())
def test_any_text_is_read_or_not(text: str) -> None:
    read = lenient_object(text)
    if read is not None:
        assert lenient_object(dump_faithful(read.value).decode()) == (read.value, False)


@given(OBJECTS)
def test_what_is_json_is_read_as_json(value: dict[str, Any]) -> None:
    text = dump_faithful(value, indent=1).decode()
    read = lenient_object(text)
    assert read is not None
    assert dump_faithful(read.value) == dump_faithful(value)


@pytest.mark.parametrize(
    "text",
    ["{" * 90_000, '{"a":' * 19_000, "{'" + "\\'" * 45_000, "{}" * 49_000, "```\n" * 24_000, "{" + "\\n" * 49_000],
)
def test_no_text_takes_long(text: str) -> None:
    # Quadratic reading of these takes many seconds; the bound is wide because machines differ.
    began = process_time()
    lenient_object(text)
    assert process_time() - began < 5
