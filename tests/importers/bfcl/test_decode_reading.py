"""Recorded results as callscope reads them: no attempt at a call is an abstention, and no prose is a call."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import Malformed, ProviderError, Text, ToolCall, ToolCalls
from callscope.importers.bfcl.reading import read_calls
from callscope.jsontext import BadNumber


def called(*calls: tuple[str, Any], flags: tuple[str, ...] = (), text: str | None = None) -> ToolCalls:
    """Calls by name and arguments; a Malformed stands for arguments that are none."""
    return ToolCalls(
        tuple(
            ToolCall(None, name, malformed=what) if isinstance(what, Malformed) else ToolCall(None, name, what)
            for name, what in calls
        ),
        flags,
        text,
    )


LISTS = [
    ([{"f": '{"a": 1}'}, {"g": {"b": 2}}], called(("f", {"a": 1}), ("g", {"b": 2}))),
    ([{"f": '{"a": 1}', "g": "{}"}], called(("f", {"a": 1}), ("g", {}))),
    ({"f": {"a": 1}}, called(("f", {"a": 1}))),
    ([{"f": ""}], called(("f", {}), flags=("empty_arguments",))),
    ([{"f": '{"a": 1, "a": 2}'}], called(("f", {"a": 2}), flags=("duplicate_keys",))),
    ([{"name": "f", "arguments": {"a": 1}}], called(("f", {"a": 1}))),
    ([{"tool_name": "f", "parameters": '{"a": 1}'}], called(("f", {"a": 1}))),
    ([{"function": {"name": "f", "arguments": "{}"}}], called(("f", {}))),
    ([{"function": "f", "parameters": {}}], called(("f", {}))),
    (["I call it:", {"f": "{}"}], called(("f", {}), text="I call it:")),
    ({"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}], "content": "so"}, called(("f", {}), text="so")),
    ({"tool_calls": [], "content": "hello"}, Text("hello")),
    ({"tool_calls": None, "content": "hello"}, Text("hello")),
    ({"tool_calls": [], "content": None}, Text("")),
    (["hello"], Text("hello")),
    ([], Text("")),
    (None, Text("")),
    ("", Text("")),
]


@pytest.mark.parametrize(("result", "wanted"), LISTS)
def test_calls_in_json(result: Any, wanted: Any) -> None:
    assert read_calls(result, "python") == wanted


MALFORMED = [
    ([{"f": None}], "f", "not_an_object", "null"),
    ([{"f": []}], "f", "not_an_object", "[]"),
    ([{"f": "[1]"}], "f", "not_an_object", "[1]"),
    ([{"f": '{"a": 1'}], "f", "truncated", '{"a": 1'),
    ([{"f": '{"a": NaN}'}], "f", "not_a_json_number", '{"a": NaN}'),
    ([{"f": {"a": BadNumber("NaN")}}], "f", "not_a_json_number", '{"a":NaN}'),
    ([{"f": {"a": [BadNumber("1e400")]}}], "f", "number_out_of_range", '{"a":[1e400]}'),
    ('[{"f": {"a": NaN}}]', "f", "not_a_json_number", '{"a":NaN}'),
    ([{}], "", "not_an_object", "{}"),
    ([None], "", "not_an_object", "null"),
    ([[]], "", "not_an_object", "[]"),
    (5, "", "not_an_object", "5"),
    ("[f(a=1", "f", "syntax", "[f(a=1"),
    ("f(a=1, b=", "f", "syntax", "f(a=1, b="),
    ("[f(a=1)] is what I call", "f", "syntax", "[f(a=1)] is what I call"),
    ("[f(1)]", "f", "syntax", "f(1)"),
    ("[f(**x)]", "f", "syntax", "f(**x)"),
    ("[f(x={1})]", "f", "syntax", "f(x={1})"),
    ("[f(x={1: 2})]", "f", "syntax", "f(x={1: 2})"),
    ("[f(x={**y})]", "f", "syntax", "f(x={**y})"),
    ("[f(x=1e999)]", "f", "syntax", "f(x=1e999)"),
    ("[f(x=b'a')]", "f", "syntax", "f(x=b'a')"),
    ("[f(x=1 / 0)]", "f", "syntax", "f(x=1 / 0)"),
    ("[f(x=lambda: 1, class=2)]", "f", "syntax", "f(x=lambda: 1, class=2)"),
    ('<tool_call>\n{"name": "f", "argum\n</tool_call>', "", "truncated", '{"name": "f", "argum'),
]


@pytest.mark.parametrize(("result", "name", "reason", "raw"), MALFORMED)
def test_what_was_meant_as_a_call_and_cannot_be_read_is_a_malformed_call(
    result: Any, name: str, reason: str, raw: str
) -> None:
    assert read_calls(result, "python") == called((name, Malformed(reason, raw)))


def test_a_call_that_can_be_read_is_kept_beside_one_that_cannot() -> None:
    assert read_calls("[f(a=1), g(x=lambda: 1)]", "python") == called(
        ("f", {"a": 1}), ("g", Malformed("syntax", "g(x=lambda: 1)"))
    )


PYTHON = [
    ("[f(a=1, b='x'), m.g(c=[1, (2, 3)])]", called(("f", {"a": 1, "b": "x"}), ("m.g", {"c": [1, [2, 3]]}))),
    ("f(a=-1.5)", called(("f", {"a": -1.5}))),
    ("```python\n[f(a=None)]\n```", called(("f", {"a": None}))),
    ("[f()]", called(("f", {}))),
    ("[f(a=2 * 3)]", called(("f", {"a": 6}))),
    ("[f(a=dict(b=1))]", called(("f", {"a": {"b": 1}}))),
    ("[f(class=1, b='class=2')]", called(("f", {"class": 1, "b": "class=2"}))),
    (
        "[f(\n  from='a',\n  b=[x for_=1]\n)]",
        called(("f", Malformed("syntax", "[f(\n  from='a',\n  b=[x for_=1]\n)]"))),
    ),
    ("[f(parameter_named_x=1)]", called(("f", {"parameter_named_x": 1}))),
    ("[f(a=true)]", called(("f", {"a": "true"}), flags=("bare_name",))),
    (
        "[f(a=Unit.KM, b=now(), c=x[0])]",
        called(("f", {"a": "Unit.KM", "b": "now()", "c": "x[0]"}), flags=("bare_name",)),
    ),
    ("[f(a=1, a=2)]", called(("f", {"a": 2}), flags=("duplicate_keys",))),
    ("[f(a=0, b=False, c='')]", called(("f", {"a": 0, "b": False, "c": ""}))),
]


@pytest.mark.parametrize(("text", "wanted"), PYTHON)
def test_calls_in_python_text(text: str, wanted: Any) -> None:
    assert read_calls(text, "python") == wanted


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "f", "arguments": {"a": 1}}]',
        '```json\n{"name": "f", "parameters": {"a": 1}}\n```',
        '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
        '<tool_call>[{"name": "f", "arguments": "{\\"a\\": 1}"}]',
        '[{"f": {"a": 1}}]',
        "[{'f': {'a': 1}}]",
        "```python\n[{'f': {'a': 1}}]\n```",
        "[{'name': 'f', 'arguments': {'a': 1}}]",
    ],
)
def test_calls_in_json_text(text: str) -> None:
    assert read_calls(text, "python") == called(("f", {"a": 1}))


def test_words_beside_a_tagged_call_are_its_text() -> None:
    text = 'Now <tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert read_calls(text, "python") == called(("f", {}), text="Now")


@pytest.mark.parametrize(
    "text",
    [
        "No function fits.",
        "[]",
        "[1, 2]",
        "{}",
        '{"a": {"b": 1}}',
        '[{"a": 1}]',
        '[{"a": {}, "b": {}}]',
        "[{'a': {1, 2}}]",
        "[{'a': " * 150,
        "f",
        "Call f(x) (or not) when you like.",
        "Hello (there) friend",
    ],
)
def test_prose_and_data_are_text(text: str) -> None:
    assert read_calls(text, "python") == Text(text)


@pytest.mark.parametrize("text", ["Sure! [f(a=1)]", "I would say [f()] here", "Result: ```[f(a=1)]``` ok"])
def test_a_call_among_words_is_text_with_a_flag(text: str) -> None:
    assert read_calls(text, "python") == Text(text, ("text_tool_call",))


ERRORS = [
    ("Error during inference: Error code: 500 - {'error': 'x'}", "provider_error", "500"),
    ("Error during inference: Error code: 429 - slow down", "rate_limited", "429"),
    ("Error during inference: status_code: 401", "authentication_error", "401"),
    ("Error during inference: Request timed out.", "timeout", ""),
    ("Error during inference: list index out of range", "provider_error", ""),
]


@pytest.mark.parametrize(("message", "category", "code"), ERRORS)
def test_an_error_that_bfcl_recorded_is_no_answer(message: str, category: Any, code: str) -> None:
    wanted = ProviderError(category, code, message)
    assert [read_calls(each, "python") for each in (message, [message])] == [wanted, wanted]


SOURCE = [
    (
        "java",
        '[A.f(x="a, b", y=new ArrayList<>(List.of(1)))]',
        called(("A.f", {"x": '"a, b"', "y": "new ArrayList<>(List.of(1))"})),
    ),
    ("java", "[f(x=5L)]", called(("f", {"x": "5L"}))),
    ("java", "f(x='c');", called(("f", {"x": "'c'"}))),
    ("java", '[f(x="ü", y=1)]', called(("f", {"x": '"ü"', "y": "1"}))),
    ("java", "[f(x=1), g(y=2)]", called(("f", {"x": "1"}), ("g", {"y": "2"}))),
    ("java", "[f(1)]", called(("f", Malformed("syntax", "f(1)")))),
    ("java", '[f(x={"a": 1})]', called(("f", Malformed("syntax", '[f(x={"a": 1})]')))),
    ("javascript", "[a.f(x={b: [1, 2]}, y=`t`)]", called(("a.f", {"x": "{b: [1, 2]}", "y": "`t`"}))),
    ("javascript", "[f(x=1, x=2)]", called(("f", Malformed("syntax", "f(x=1, x=2)")))),
    ("javascript", "[f(/* none */)]", called(("f", {}))),
    ("javascript", [{"f": '{"x": 5}'}], called(("f", {"x": 5}))),
]


@pytest.mark.parametrize(("language", "result", "wanted"), SOURCE)
def test_java_and_javascript_text_keeps_its_values_as_source_text(language: Any, result: Any, wanted: Any) -> None:
    assert read_calls(result, language) == wanted


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
PIECES = [
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "f",
    "x=1",
    ",",
    "'",
    '"',
    "```",
    "<tool_call>",
    "=",
    " ",
    "\\",
    "ü",
    "\ud800",
    "\n",
    "class=",
]


@given(
    result=JSON | st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    language=st.sampled_from(["python", "java", "javascript"]),
)
def test_any_recorded_value_is_read(result: Any, language: Any) -> None:
    outcome = read_calls(result, language)
    if isinstance(outcome, ToolCalls):
        assert outcome.calls
        assert all((each.arguments is None) != (each.malformed is None) for each in outcome.calls)
