"""A call written into the text is recognised by its shape; prose, data and definitions are not calls."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.textcalls import text_calls

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


@pytest.mark.parametrize(
    "text",
    [
        "</think>" + "<think>" * 20_000,
        "[TOOL_CALLS]" * 9_999 + " " * 50_000,
        "to=a <|x|>" + " " * 50_000 + "b" * 50_000,
        "\n" * 50_000 + "Action Input:",
        '{"name": "f", "arguments": {' * 3_000,
        "<tool_call>" * 9_999 + " " * 50_000,
        "print( " * 9_999 + "(a=1)",
    ],
    ids=range(7),
)
def test_no_text_takes_long(text: str) -> None:
    # Quadratic reading of these took many seconds; the bound is wide because machines differ.
    began = process_time()
    text_calls(text)
    assert process_time() - began < 2
