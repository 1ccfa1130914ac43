"""A call written into the text is recognised by its shape; prose, data and definitions are not calls."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope import textcalls
from callscope.textcalls import MAX_TEXT, names_a_tool, text_calls, written_in

CALLS = [
    # chat templates
    ('<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', ("f",)),
    ('<tool_call>{"name": "f", "argum', ("",)),
    ("<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>", ("f",)),
    ("<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>", ("f",)),
    ('<tools_call>[{"name": "f"}]', ()),
    ('<tool_calls>[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]</tool_calls>', ("f", "g")),
    ('<function=f>{"a": 1}</function>', ("f",)),
    ('<function=f{"a": 1}</function>', ("f",)),
    ('<function=f={"a": 1}</function>', ("f",)),
    ('f{"a": 1}</function>', ("f",)),
    ('<function_calls>\n<invoke name="f">\n<parameter name="a">1', ("f",)),
    ('<minimax:tool_call>\n<invoke name="f">', ("f",)),
    ('<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">x', ("f",)),
    ('<｜｜DSML｜｜ calls>\n<｜｜DSML｜｜ invoke name="read">\n', ("read",)),
    ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```", ("f",)),
    ('<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>', ("f",)),
    ("<|tool_call_start|>[f(q='x', n=5)]<|tool_call_end|>", ("f",)),
    ('<|python_tag|>f.call(query="x")', ("f.call",)),
    ('<|python_tag|>{"name": "f", "parameters": {}}', ("f",)),
    ('[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]', ("f",)),
    ('[TOOL_CALLS]f[ARGS]{"a": 1}', ("f",)),
    ('[TOOL_CALLS]f{"a": 1}', ("f",)),
    ('functools[{"name": "f", "arguments": {}}]', ("f",)),
    ("<start_function_call>call:f{a:<escape>x<escape>}<end_function_call>", ("f",)),
    ("<|tool_call>call:f{a:1}<tool_call|>", ("f",)),
    ('<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}', ("f",)),
    ('assistant to=functions.f json\n{"a": 1}', ("f",)),
    ('Thought: look it up\nAction: f\nAction Input: {"a": 1}', ("f",)),
    ("<tool_code>\nf(a=1)\n</tool_code>", ("f",)),
    # JSON
    ('{"name": "f", "arguments": {"a": 1}}', ("f",)),
    ('Sure!\n```json\n{"name": "f", "parameters": {"a": 1}}\n```\nDone.', ("f",)),
    ('[{"name": "f", "arguments": {}}, {"name": "g", "arguments": "{}"}]', ("f", "g")),
    ('{"type": "function", "function": {"name": "f", "arguments": "{}"}}', ("f",)),
    ('{"type": "function", "function": {"name": "f"}, "parameters": {}}', ("f",)),
    ('{"type": "function", "name": "f", "parameters": {}}', ("f",)),
    ('{"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}', ("f",)),
    ('{"function_call": {"name": "f", "arguments": {}}}', ("f",)),
    ('{"tool_uses": [{"recipient_name": "functions.f", "parameters": {}}]}', ("f",)),
    ('{"recipient_name": "functions.f", "parameters": {}}', ("f",)),
    ('{"tool": "f", "args": {"a": 1}}', ("f",)),
    ('{"action": "f", "action_input": "x"}', ("f",)),
    ('{"arguments": {"a": 1}, "name": "f"}', ("f",)),
    ('{"name": "f", "arguments": {"a": "cut', ("f",)),
    ("{'name': 'f', 'arguments': {'a': 1}}", ("f",)),
    # Python
    ("[f(a=1, b='x')]", ("f",)),
    ("[f(a=1), g(b=2)]", ("f", "g")),
    ("[f()]", ("f",)),
    ("[f(a=1", ("f",)),
    ('f(a="x", b=2)', ("f",)),
    ('```python\nf(a="x")\n```', ("f",)),
    ("```tool_code\nprint(default_api.f(a=1))\n```", ("f",)),
    ("I will look.\n```tool_code\nf()\n```", ("f",)),
    ("```python\nx\n```\n```tool_code\nf()\n```", ("f",)),
    ('functions.f({"a": 1})', ("f",)),
    ('Calling now:\nfunctions.f:0{"a": 1}', ("f",)),
]

NO_CALLS = [
    "",
    "Hello!",
    "I would call the lookup_order tool for that.",
    "Use `lookup_order(order_id)` with an order id.",
    "The model writes <tool_call> tags around its calls.",
    "Between <tool_call> and </tool_call> goes JSON.",
    "[TOOL_CALLS] is Mistral's marker.",
    'The order is {"id": "ORD-1", "status": "shipped"}.',
    '{"name": "Ada Lovelace", "born": 1815}',
    '{"name": "Ada Lovelace", "parameters": {"a": 1}}',
    '{"name": "Ada", "input": "text"}',
    '{"type": "text", "input": "x"}',
    '{"name": "f", "arguments": 3}',
    '{"tool_calls": ["f", 3]}',
    '{"tool_calls": [[[[[[[[{"name": "f", "arguments": {}}]]]]]]]]}',
    '{"name": 3, "arguments": {}}',
    '{"name": "f", "description": "Finds.", "parameters": {"type": "object", "properties": {"a": {}}}}',
    '{"name": "f", "description": "Finds.", "parameters": {"properties": {"a": {}}}}',
    '{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}',
    "{'name': 'f', 'parameters': {'type': 'object'}}",
    "See [the docs](https://x.test/a=1).",
    "[1, 2, 3]",
    "f(x) = x + 1",
    "sum(values)",
    "Write this:\n```python\nresult = f(a=1)\nprint(result)\n```\nand run it.",
    "```python\nprint('hello')\n```",
    "```tool_code\n# nothing (yet)\n```",
    "Prose (with a=1) and more.\n\nf(a=1) is how you call it.",
    'Set to=alice, then send {"x": 1}',
    '<think><tool_call>{"name": "f", "arguments": {}}</tool_call></think>No call needed.',
    "{" * 3000,
    '{"name": ' * 3000,
]


@pytest.mark.parametrize(("text", "names"), CALLS, ids=[text[:40] for text, _ in CALLS])
def test_a_call_in_the_text_is_recognised_with_its_name(text: str, names: tuple[str, ...]) -> None:
    assert text_calls(text) == names


@pytest.mark.parametrize("text", NO_CALLS, ids=[text[:40] for text in NO_CALLS])
def test_what_has_not_the_shape_of_a_call_is_none(text: str) -> None:
    assert text_calls(text) == ()


@given(st.text(alphabet="{}[]()<>|_\"'`:=, \nfntolcar") | st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(text_calls(text), tuple)


# Each of these once took seconds, in the time of its length squared; benchmarks/parsing.py takes their time.
HARD = {
    "names": '{"name":',
    "arguments": '{"name":"f","arguments":',
    "wrappers": '{"tool_calls":[',
    "singles": "{'name': 'f', 'x': ",
    "to": "to=f <|",
    "thoughts": "</think><think>",
    "fences": "```tool_code",
    "code": "print( ",
    "quotes": 'f("\\"',
}


class Counting(json.JSONDecoder):
    """Counts the characters that decoding was begun with, whether it came to an end or not."""

    def __init__(self) -> None:
        super().__init__(strict=False)
        self.begun = self.characters = 0

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        self.begun += 1
        self.characters += len(s) - idx
        return super().raw_decode(s, idx)


@pytest.mark.parametrize("piece", HARD.values(), ids=HARD)
def test_what_is_decoded_has_a_bound_that_does_not_grow_with_the_text(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = []
    for times in (1, 4):
        counting = Counting()
        monkeypatch.setattr(textcalls, "_DECODER", counting)
        text_calls(piece * (times * 50_000 // len(piece)))
        names_a_tool(piece * (times * 50_000 // len(piece)), {"f": {"a"}})
        work.append((counting.begun, counting.characters))
    assert max(begun for begun, _ in work) <= 26
    assert max(characters for _, characters in work) <= 26 * (MAX_TEXT + 1)


def test_of_a_long_text_both_ends_are_looked_at() -> None:
    call, long = '{"name": "f", "arguments": {}}', "word " * 30_000
    assert text_calls(f"{call} {long}") == ("f",)
    assert text_calls(f"{long} {call}") == ("f",)
    assert text_calls(f"{long} {call} {long}") == ()
    assert text_calls(f"<think>{long}</think>{call}") == ("f",)
    assert text_calls(f'{{"name": "f", "arguments": {{"a": "{long}"}}}}') == ("f",)


def test_no_pattern_repeats_without_a_bound_inside_a_repetition() -> None:
    # Such a pattern can take more than linear time; possessive repetitions give nothing back and cannot.
    for _, pattern in textcalls._MARKERS:
        bare = re.sub(r"\[\^\\n\]\*", "", pattern.pattern)  # one line, and one such in a pattern
        assert not re.search(r"[\w\])}][*+](?!\+)", re.sub(r"\{\d+,\d+\}\+?", "", bare)), bare


FORMS = [
    ("<tool_call>x\n<arg_key>", True, True, False),
    ("```tool_code\nf()\n```", True, True, False),
    ('{"name": "f", "arguments": {}}', False, True, True),
    ('```json\n{"name": "f", "arguments": {}}\n```', False, True, True),
    ('Sure: {"name": "f", "arguments": {}}', False, True, False),
    ('{"name": "f", "arguments": {}} it is', False, True, False),
    ('{"name": "f", "parameters": {}}', False, False, True),
    ('[{"name": "f", "parameters": {}}, {"name": "g", "args": {}}]', False, False, True),
    ('{"name": "f", "parameters": {"a": ', False, False, True),
    ('{"tool_calls": [{"name": "f", "parameters": {}}]}', False, True, True),
    ('{"function": "f", "parameters": {}}', False, True, True),
    ("f(a=1)", False, True, True),
    ("Hello!", False, False, False),
]


@pytest.mark.parametrize(("text", "marked", "sure", "alone"), FORMS, ids=[form[0][:40] for form in FORMS])
def test_a_call_is_told_with_the_form_it_stands_in(text: str, marked: bool, sure: bool, alone: bool) -> None:
    found = written_in(text)
    assert (found.marked, found.sure, found.alone) == (marked, sure, alone)


def test_what_is_torn_is_read_only_outside_of_what_was_read() -> None:
    data = '{"type": "x", "list": [{"x": 1, "name": "f", "arguments": {"a": 1}}]}'
    assert text_calls(data) == ()
    assert text_calls(data + ' {"name": "g", "arguments": {"a": "cut') == ("g",)
    assert text_calls('{"name": "g", "arguments": {"a": cut ' + data) == ("g",)


TOOLS = {"f": {"a", "b"}, "g.h": set[str]()}
BY_NAME = [
    ('{"f": {"a": 1}}', ("f",)),
    ('[{"f": {"a": 1}}]', ("f",)),
    ('```json\n[{"f": {}}, {"g.h": {}}]\n```', ("f", "g.h")),
    ('{"functions.f": {"a": 1}}', ("f",)),
    ('{"function": "f", "a": 1}', ("f",)),
    ('{"tool": "g.h"}', ("g.h",)),
    ('{"name": "f", "a": 1, "type": "function"}', ("f",)),
    ('f{"a": 1}', ("f",)),
    ('f("ORD-1")', ("f",)),
    ('f("it\'s (", [1])\ng.h();', ("f", "g.h")),
    ("functions.f('a')", ("f",)),
    ('<think>f("x")</think>f("y")', ("f",)),
    # and not
    ("", ()),
    ('{"f": 1}', ()),
    ('{"f": {}, "status": {}}', ()),
    ('{"f": {}} is the call', ()),
    ('{"f": {"a": ', ()),
    ("[]", ()),
    ("[3, {}, 'f']", ()),
    ('["f"]', ()),
    ('{"name": "f"}', ()),
    ('{"name": "f", "born": 1815}', ()),
    ('{"name": 3, "f": 1}', ()),
    ('{"function": "other", "f": 1}', ()),
    ('f("x") is how you call it', ()),
    ('Use f("x")', ()),
    ('other(f("x"))', ()),
    ('f("x', ()),
    ("f(", ()),
    ("f", ()),
]


@pytest.mark.parametrize(("text", "names"), BY_NAME, ids=[text[:40] for text, _ in BY_NAME])
def test_a_text_that_is_nothing_but_an_offered_tools_call_is_one(text: str, names: tuple[str, ...]) -> None:
    assert names_a_tool(text, TOOLS) == names


@given(st.text(alphabet="{}[]()<>|_\"'`:=,; \nfa1") | st.text())
def test_any_text_is_read_with_names(text: str) -> None:
    assert set(names_a_tool(text, TOOLS)) <= TOOLS.keys()
