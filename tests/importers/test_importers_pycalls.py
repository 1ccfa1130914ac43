"""Calls read out of Python text: what a value is, what is refused, and that nothing is ever run."""

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.importers.pycalls import (
    MAX_SOURCE,
    POSITIONAL,
    Expression,
    PyCall,
    PyFault,
    arguments_of,
    is_plain,
    parse_call,
    parse_calls,
    parse_loose,
    spans,
    split_arguments,
)


def test_falsy_arguments_are_arguments():
    call = parse_call("f(a=0, b=False, c='', d=None, e=[], g={}, h=0.0)")
    given_ = {"a": 0, "b": False, "c": "", "d": None, "e": [], "g": {}, "h": 0.0}
    assert dict(call.named) == given_
    assert [type(value) for _, value in call.named] == [type(value) for value in given_.values()]


def test_values_are_json_values_and_the_rest_is_its_source():
    call = parse_call(
        "a.b(-1, +2.5, (1, [2]), {'k': (3,)}, x, 1+1, b'y', f'{z}', ..., {1: 2}, {1}, é, g(h(0), n=[i()]))"
    )
    assert call.name == "a.b"
    assert call.positional[:4] == (-1, 2.5, [1, [2]], {"k": [3]})
    sources = [value.source for value in call.positional[4:-1]]
    assert sources == ["x", "1+1", "b'y'", "f'{z}'", "...", "{1: 2}", "{1}", "é"]
    assert call.positional[-1] == PyCall("g", (PyCall("h", (0,)),), (("n", [PyCall("i")]),))


def test_a_literal_mapping_is_spread_and_any_other_is_an_expression():
    call = parse_call("f(a=1, **{'b': 2}, **more)")
    assert call == PyCall("f", (Expression("**more"),), (("a", 1), ("b", 2)))
    assert arguments_of(call) == {POSITIONAL: [{"expression": "**more"}], "a": 1, "b": 2}
    assert not is_plain(call)


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_a_number_that_json_does_not_have_is_an_expression(value):
    assert parse_call(f"f({'-' if value < 0 else ''}1e999)").positional[0].source.endswith("1e999")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("f(" * 3_000 + ")" * 3_000, "not_python"),
        ("-" * 50_000 + "f()", "too_deep"),
        ("f" + ".x" * 40_000 + "()", "too_deep"),
        ("f('\0')", "not_python"),
        ("f('\ud800')", "not_python"),
        ("f(a=1, a=2)", "not_python"),
        ("f(a=1, 2)", "not_python"),
        ("f(x=" + "9" * 5_000 + ")", "not_python"),
        ("f('" + "a" * MAX_SOURCE + "')", "too_long"),
        ("x = 1", "not_a_call"),
        ("f(); g()", "not_a_call"),
        ("for x in y: f(x)", "not_a_call"),
    ],
)
def test_text_that_is_no_call_is_a_fault_with_a_reason(text, reason):
    with pytest.raises(PyFault) as fault:
        parse_call(text)
    assert fault.value.reason == reason


def test_statements_may_be_calls_assigned_or_in_a_list():
    calls = parse_calls("r = f(a=1)\ng(); h(2)\n[i(), j()]")
    assert [call.name for call in calls] == ["f", "g", "h", "i", "j"]
    for other in ("import os", "f() + g()", "x", "[f(), 1]", "def f(): pass", "x += f()", "[]"):
        with pytest.raises(PyFault):
            parse_calls(other)


def test_arguments_in_an_order_that_python_refuses_are_read_one_by_one():
    call = parse_loose("t.load(r='a/b', 'm', model='x, (y)', p=True, p=False)")
    assert call == PyCall("t.load", ("m",), (("r", "a/b"), ("model", "x, (y)"), ("p", True), ("p", False)))
    assert parse_loose("f(model=Owner/Name_V1.4, 'x')").named == (("model", Expression("Owner/Name_V1.4")),)
    assert split_arguments("a, [b, c], 'd, e', {f: (g, h)}, ") == ("a", " [b, c]", " 'd, e'", " {f: (g, h)}")


def test_spans_are_outermost_and_know_strings():
    text = "say x = a.b(g(1), 'it)', \"(\") then c( h(2)"
    assert [(span.name, span.end is None) for span in spans(text)] == [("a.b", False), ("c", True), ("h", False)]
    first = next(spans(text))
    assert text[first.start : first.end] == "a.b(g(1), 'it)', \"(\")"


def test_many_heads_without_an_end_are_given_up():
    assert len(list(spans("f(" * 40_000))) < 50


def test_nothing_is_run(tmp_path):
    mark = tmp_path / "mark"
    text = f"f(open({str(mark)!r}, 'w').write('x'), __import__('os').system('touch {mark}'))"
    call = parse_call(text)
    assert call.name == "f"
    assert not mark.exists()
    assert list(spans(text))
    assert not mark.exists()


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: not ast_keyword(name))


def ast_keyword(name: str) -> bool:
    try:
        ast.parse(f"{name} = 1")
    except SyntaxError:
        return True
    return False


@given(names, st.dictionaries(names, plain, max_size=5), st.lists(plain, max_size=3))
def test_what_is_written_as_literals_reads_back_with_its_types(name, named, positional):
    written = ", ".join([*map(repr, positional), *(f"{key}={value!r}" for key, value in named.items())])
    if any("\ud800" <= c <= "\udfff" for c in written):
        return
    call = parse_call(f"{name}({written})")
    assert call == PyCall(name, tuple(positional), tuple(named.items()))
    assert repr(call) == repr(PyCall(name, tuple(positional), tuple(named.items())))  # True is not 1
    assert is_plain(list(call.positional))
    assert parse_loose(f"{name}({written})") == call


def fault_of(read, text):
    try:
        read(text)
    except PyFault as fault:
        return fault.reason
    return None


@given(st.text() | st.text(alphabet="f(){}[],'\"\\= \n.#:a1*"))
def test_any_text_reads_or_is_a_fault(text):
    for read in (parse_call, parse_calls, parse_loose):
        reason = fault_of(read, text)
        assert reason in {None, "empty", "too_long", "too_deep", "not_python", "not_a_call"}
    for span in spans(text):
        assert text[span.start :].startswith(f"{span.name}(")
        assert span.end is None or text[span.end - 1] == ")"
