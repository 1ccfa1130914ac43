"""The repair track reads calls that a stack with repairs would have read, says what it changed, and harms nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scoring_kit import LOOKUP, NORMALIZE, QUOTE, SEARCH, TOOLS, broken, call, calls, judge, one_tool, said
from test_scoring_properties import CASES, OUTCOMES

from callscope.canonical import canonical
from callscope.contract import Malformed, Outcome, ProviderError, Refusal, Repair, Text, Tool, ToolCall, ToolCalls
from callscope.jsontext import dump_faithful
from callscope.scoring import validate_arguments
from callscope.scoring.guards import guarded
from callscope.scoring.repair import REPAIRS, Repairs, repair
from callscope.scoring.repair.names import resolve
from callscope.scoring.repair.written import written_calls

ORDER = {"order_id": "ORD-104821"}
RIGHT = calls(call("lookup_order", **ORDER))
F = ("f", "g")


def names(found: Repairs | None) -> list[str]:
    return [] if found is None else [step.name for step in found.steps]


def rejected(raw: str, *named: str) -> ToolCalls:
    """What an adapter makes of a provider's error that holds what the model wrote."""
    given = tuple(ToolCall(None, name, malformed=Malformed("tool_use_failed", raw)) for name in named)
    return ToolCalls(given, ("missing_name", "provider_rejected_call"))


WRITTEN = [
    ('<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', [("f", {"a": 1})]),
    ('<tool_calls>[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"b": 2}}]</tool_calls>',
     [("f", {}), ("g", {"b": 2})]),
    ("<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>", [("f", {"a": "1"})]),
    ("<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>", [("f", {"a": "1"})]),
    ('<function_calls>\n<invoke name="f">\n<parameter name="a">x\ny</parameter>\n</invoke>\n<invoke name="g"></invoke>',
     [("f", {"a": "x\ny"}), ("g", {})]),
    ('<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>\n</｜DSML｜invoke>',
     [("f", {"a": "x"})]),
    ('<function=f>{"a": 1}</function>', [("f", {"a": 1})]),
    ('<function=f{"a": 1}</function>', [("f", {"a": 1})]),
    ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```", [("f", {})]),
    ('<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>', [("f", {"a": 1})]),
    ("<|tool_call_start|>[f(q='x', n=5)]<|tool_call_end|>", [("f", {"q": "x", "n": 5})]),
    ('<|python_tag|>{"name": "f", "parameters": {}}', [("f", {})]),
    ('[TOOL_CALLS]f[ARGS]{"a": 1}', [("f", {"a": 1})]),
    ('[TOOL_CALLS]f[CALL_ID]abc123[ARGS]{"a": 1}[TOOL_CALLS]g{"b": "f{}"}', [("f", {"a": 1}), ("g", {"b": "f{}"})]),
    ("<|tool_call>call:f{a:1}<tool_call|>", [("f", {"a": 1})]),
    ('<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}', [("f", {"a": 1})]),
    ('Action: f\nAction Input: {"a": 1}', [("f", {"a": 1})]),
    ('Sure!\n```json\n{"name": "f", "parameters": {"a": 1}}\n```\nDone.', [("f", {"a": 1})]),
    ('{"type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}', [("f", {"a": 1})]),
    ('{"tool_uses": [{"recipient_name": "functions.f", "parameters": {}}]}', [("functions.f", {})]),
    ('{"type": "note", "x": 1} {"name": "f", "args": {"a": {"name": "g", "arguments": {}}}}',
     [("f", {"a": {"name": "g", "arguments": {}}})]),
    ("{'name': 'f', 'arguments': {'a': True},}", [("f", {"a": True})]),
    ("[f(a=1), g(b=[2])]", [("f", {"a": 1}), ("g", {"b": [2]})]),
    ("```tool_code\nprint(default_api.f(a='g(x=1)'))\n```", [("f", {"a": "g(x=1)"})]),
    ('functions.f({"a": 1})', [("f", {"a": 1})]),
    ('[TOOL_CALLS]f{"a": "as in g{}"}', [("f", {"a": "as in g{}"})]),
    ("[f(a='as in g(x=1)')]", [("f", {"a": "as in g(x=1)"})]),
    ('<think>f(a=2)</think>{"name": "f", "arguments": {"a": 1}}', [("f", {"a": 1})]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "found"), WRITTEN, ids=[text[:40] for text, _ in WRITTEN])
def test_a_call_written_into_the_text_is_read_with_its_arguments(text: str, found: list[Any]) -> None:
    assert [(each.name, each.arguments) for each in written_calls(text, F)] == found


UNWRITTEN = [
    "",
    "Hello!",
    '<tool_call>{"name": "f", "argum',
    '{"name": "f", "arguments": {"a": "cut',
    '{"name": "f", "arguments": {}} {"name": "g", "arguments": {"a": "cut',
    '{"name": "f", "arguments": {}} {"name": "h", "arguments": {}}',
    '{"name": "fly", "arguments": {}}',
    '{"name": "f", "description": "Finds.", "parameters": {"type": "object", "properties": {"a": {}}}}',
    '{"name": "f", "parameters": {"properties": {}}}',
    '{"name": "f"}',
    '{"tool_calls": [[[[[[[[{"name": "f", "arguments": {}}]]]]]]]]}',
    '{"name": 3, "arguments": {}}',
    '<invoke name="f">\n<parameter name="a">1',
    "<function=h><parameter=a>1</parameter></function>",
    "[f(a=1",
    "f(1)",
    'f {"a": 1',
    "fog(a=1) and half{}",
    "<think>f(a=1)</think>No.",
    "f(a=1) " * 100,
    'f{"a": 1} ' * 100,
    '{"name": "f", "arguments": {}} ' * 100,
    "f(a=1)" + " " * 100_000,
]


@pytest.mark.parametrize("text", UNWRITTEN, ids=[text[:40] for text in UNWRITTEN])
def test_what_is_cut_or_names_no_declared_tool_is_not_read(text: str) -> None:
    assert written_calls(text, F) == ()
    assert written_calls(text, ()) == ()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [('"x"', "syntax"), ("5", "not_an_object"), ('"5"', "not_an_object"), ("[1]", "not_an_object")],
)
def test_arguments_of_a_written_call_that_are_no_object_are_malformed(arguments: str, reason: str) -> None:
    (one,) = written_calls(f'{{"name": "f", "arguments": {arguments}}}', F)
    assert one.malformed is not None
    assert one.malformed.reason == reason


@given(st.text(alphabet="{}[]()<>|_\"'`:=,/ \nfgname") | st.text())
def test_any_text_is_searched(text: str) -> None:
    assert isinstance(written_calls(text, F), tuple)


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("lookup_order", "lookup_order"),
        ("functions.lookup_order", "lookup_order"),
        ("tools.lookup_order", "lookup_order"),
        ("default_api.lookup_order", "lookup_order"),
        ("functions.lookup_order:0", "lookup_order"),
        ("lookup_order<|channel|>analysis", "lookup_order"),
        ("lookup_order <｜tool▁sep｜>", "lookup_order"),
        ("lookup-order", "lookup_order"),
        ("LookupOrder", "lookup_order"),
        ("Functions.lookup_order", None),
        ("find_order", None),
        ("lookup_orders", None),
        ("", None),
        ("functions.", None),
        ("<|call|>", None),
    ],
)
def test_a_name_is_a_tool_s_but_for_namespace_token_and_spelling(name: str, tool: str | None) -> None:
    assert resolve(name, ["lookup_order", "search_orders"]) == tool


def test_a_spelling_that_two_tools_share_is_neither() -> None:
    assert resolve("A-B", ["a_b", "ab"]) is None
    assert resolve("a_b", ["a_b", "ab"]) == "a_b"


def test_a_written_call_becomes_a_call_and_its_text_is_kept() -> None:
    text = 'Looking. <tool_call>{"name": "functions.lookup_order", "arguments": {"order_id": "ord-104821"}}</tool_call>'
    found = repair(Text(text, ("text_tool_call", "truncated")), TOOLS)
    assert found is not None
    assert found.outcome == ToolCalls((call("lookup_order", **ORDER),), ("truncated",), text)
    assert found.steps == (
        Repair("", "text_call", text, [{"name": "functions.lookup_order", "arguments": {"order_id": "ord-104821"}}]),
        Repair("/calls/0/name", "name_prefix", "functions.lookup_order", "lookup_order"),
        Repair("/calls/0/arguments/order_id", "pattern_case", "ord-104821", "ORD-104821"),
    )
    assert (judge(LOOKUP, Text(text, ("text_tool_call",))).passed, judge(LOOKUP, found.outcome).passed) == (False, True)


def test_a_written_call_with_arguments_in_a_string_goes_through_every_repair() -> None:
    text = """{"name": "lookup_order", "arguments": "{'order_id': 'ORD-104821'}"}"""
    found = repair(said(text, "text_tool_call"), TOOLS)
    assert names(found) == ["text_call", "lenient_json"]
    assert found is not None
    assert found.steps[0].after == [{"name": "lookup_order", "arguments": "{'order_id': 'ORD-104821'}"}]
    assert found.outcome.calls == RIGHT.calls


def test_text_without_the_flag_is_never_searched() -> None:
    text = '{"name": "lookup_order", "arguments": {"order_id": "ORD-104821"}}'
    assert repair(said(text), TOOLS) is None
    assert repair(said(text, "reasoning_tool_call"), TOOLS) is None
    assert repair(said("Use it.", "text_tool_call"), TOOLS) is None
    assert repair(Refusal(text), TOOLS) is None
    assert repair(ProviderError("timeout", "c", text), TOOLS) is None


def test_what_a_provider_could_not_read_is_searched_and_never_taken_for_arguments() -> None:
    raw = '<function=lookup_order{"order_id": "ORD-104821"}</function>'
    found = repair(rejected(raw, "lookup_order"), TOOLS)
    assert names(found) == ["text_call"]
    assert found is not None
    assert (found.steps[0].pointer, found.outcome) == ("/calls", ToolCalls(RIGHT.calls, ()))
    assert repair(rejected('{"order_id": "ORD-104821"}', "lookup_order"), TOOLS) is None
    two = ToolCalls((*rejected(raw, "f").calls, *rejected("x", "g").calls), ("provider_rejected_call",))
    assert repair(two, TOOLS) is None
    assert names(repair(rejected("maybe", "functions.lookup_order"), TOOLS)) == ["name_prefix"]


MALFORMED = [
    ("{'order_id': 'ORD-104821',}", "syntax", "lenient_json"),
    ('{"order_id": "ORD-104821"}""', "extra_data", "lenient_json"),
    ('{\\n"order_id": "ORD-104821"}', "syntax", "lenient_json"),
    ('{"order_id": "ORD-104821"', "truncated", "lenient_json"),
    ('{"order_id": "ORD-104821"}', "not_an_object", "unwrap_double_encoded"),
    ('"{\\"order_id\\": \\"ORD-104821\\"}"', "not_an_object", "unwrap_double_encoded"),
    (dump_faithful(dump_faithful('{"order_id": "ORD-104821"}').decode()).decode(), "not_an_object",
     "unwrap_double_encoded"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "reason", "name"), MALFORMED)
def test_arguments_that_are_no_object_are_read_where_they_have_one_reading(raw: str, reason: str, name: str) -> None:
    found = repair(calls(broken("lookup_order", raw, reason)), TOOLS)
    assert found is not None
    assert found.steps == (Repair("/calls/0/arguments", name, raw, ORDER),)
    assert found.outcome == RIGHT


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ('{"order_id": "ORD-10', "truncated"),
        ('{"order_id": "x"', "truncated"),  # closing it does not meet the schema, so more was to come
        ("", "too_deep"),
        ("5", "not_an_object"),
        ('"text"', "not_an_object"),
        ("[1]", "not_an_object"),
        ('{"order_id": "x", "order_id": "y"}', "not_an_object"),
        (dump_faithful(dump_faithful(dump_faithful("{}").decode()).decode()).decode(), "not_an_object"),
    ],
)
def test_arguments_without_one_reading_stay_malformed(raw: str, reason: str) -> None:
    assert repair(calls(broken("lookup_order", raw, reason)), TOOLS) is None


def test_blank_arguments_are_an_empty_object() -> None:
    assert names(repair(calls(broken("lookup_order", " \n", "empty")), TOOLS)) == ["lenient_json"]


def test_arguments_too_deep_to_be_judged_stay_malformed() -> None:
    deep = '"' + ("[" * 99 + "]" * 99) + '"'
    assert repair(calls(broken("f", f"{{a: {'[' * 99 + ']' * 99}}}", "syntax")), one_tool({})) is not None
    assert repair(calls(ToolCall(None, "f")), one_tool({})) is None
    assert repair(calls(broken("f", deep, "not_an_object")), one_tool({})) is None


def test_a_schema_that_cannot_be_compiled_closes_no_bracket() -> None:
    tools = one_tool({"type": "dict"})
    assert repair(calls(broken("f", '{"a": "x"', "truncated")), tools) is None
    assert names(repair(calls(broken("f", "{'a': 'x'}", "syntax")), tools)) == ["lenient_json"]
    assert repair(calls(call("f", a="5")), tools) is None


def test_the_document_s_cases_stand_side_by_side() -> None:
    kg = calls(call("get_shipping_quote", country_code="ca", postal_code="M5V 3L9", weight_grams="1 kg"))
    found = repair(kg, TOOLS)
    assert names(found) == ["pattern_case", "unit_string"]
    assert found is not None
    assert (judge(NORMALIZE, kg).passed, judge(NORMALIZE, found.outcome).passed) == (False, True)
    leak = calls(call("lookup_order", **ORDER, email="sam@example.test"))
    assert names(repair(leak, TOOLS)) == ["drop_unknown"]
    shipped = calls(call("search_orders", email="sam@example.test", status="Shipped", limit="5"))
    assert names(repair(shipped, TOOLS)) == ["scalar_type", "enum_case"]
    zero = calls(call("get_shipping_quote", country_code="US", postal_code=2139, weight_grams=750, service="standard"))
    found = repair(zero, TOOLS)
    assert found is not None
    assert judge(QUOTE, found.outcome).semantics == "wrong"  # the zero that was lost cannot come back
    fast = calls(call("get_shipping_quote", country_code="US", postal_code="02139", weight_grams=750, service="fast"))
    assert repair(fast, TOOLS) is None  # a synonym is a matter of meaning
    copied = calls(call("get_shipping_quote", country_code="CA", postal_code="M5V 3L9", weight_grams=1))
    assert repair(copied, TOOLS) is None  # nothing says that kilograms were meant


def test_of_several_calls_only_the_faulty_ones_are_changed() -> None:
    given = calls(call("lookup_order", **ORDER), call("Search-Orders", email="a", limit="5"), call("fly"), text="words")
    found = repair(given, TOOLS)
    assert found is not None
    assert [step.pointer for step in found.steps] == ["/calls/1/name", "/calls/1/arguments/limit"]
    assert found.outcome.calls[0] is given.calls[0]
    assert found.outcome.calls[1] == call("search_orders", email="a", limit=5)
    assert (found.outcome.calls[2], found.outcome.text) == (given.calls[2], "words")


def test_the_first_of_two_tools_of_one_name_is_the_one_that_is_judged() -> None:
    twice = (Tool("f", "", {"properties": {"a": {"type": "integer"}}}), Tool("f", "", {}))
    assert names(repair(calls(call("f", a="5")), twice)) == ["scalar_type"]
    assert repair(calls(call("f", a="5")), tuple(reversed(twice))) is None


FAULTY = st.fixed_dictionaries(
    {},
    optional={
        "country_code": st.sampled_from(["CA", "ca", "C", 5, None]),
        "postal_code": st.sampled_from(["02139", 2139, "M5V", ["a"]]),
        "weight_grams": st.sampled_from([750, "750", "750 g", "1 kg", "1 m", 5.0, "5.5", {}, "[1]", True]),
        "service": st.sampled_from(["express", "EXPRESS ", "fast", 1]),
        "order_id": st.sampled_from(["ORD-104821", "ord-104821", "x", 104821]),
        "email": st.sampled_from(["a", 1, False]),
        "limit": st.sampled_from([5, "5", "500", "null", "5 items"]),
    },
)
NAMES = st.sampled_from([*(tool.name for tool in TOOLS), "functions.lookup_order", "SearchOrders", "fly"])
NEAR = st.builds(ToolCall, st.none(), NAMES, FAULTY) | st.builds(
    ToolCall,
    st.none(),
    NAMES,
    st.none(),
    FAULTY.map(lambda each: Malformed("syntax", repr(each).replace("None", "null") + ",")),
) | FAULTY.map(lambda each: broken("search_orders", repr(each), "syntax"))  # fmt: skip
NEAR_OUTCOMES = st.lists(NEAR, min_size=1, max_size=3).map(lambda each: calls(*each)) | st.builds(
    lambda name, each: said(f"<tool_call>{{'name': '{name}', 'arguments': {each!r}}}</tool_call>", "text_tool_call"),
    NAMES,
    FAULTY,
)


def problems(given: ToolCall) -> set[str]:
    """Where a server that validates would object."""
    tool = next((tool for tool in TOOLS if tool.name == given.name), None)
    return set() if tool is None else {found.pointer for found in validate_arguments(tool, given.arguments)}


@given(OUTCOMES | NEAR_OUTCOMES)
@example(calls())
def test_a_repair_is_pure_idempotent_and_never_less_valid(outcome: Outcome) -> None:
    before = repr(outcome)
    found = repair(outcome, TOOLS)
    assert repr(outcome) == before
    if found is None:
        return
    assert found.steps
    assert {step.name for step in found.steps} <= set(REPAIRS)
    assert found == repair(outcome, TOOLS)
    assert repair(found.outcome, TOOLS) is None
    dump_faithful([[step.pointer, step.before, step.after] for step in found.steps])
    if isinstance(outcome, ToolCalls) and "provider_rejected_call" not in outcome.flags:
        for raw, then in zip(outcome.calls, found.outcome.calls, strict=True):
            judged = guarded(raw)
            if judged.malformed is None and raw.name == then.name:
                places = problems(raw)
                assert all(any(f"{at}/".startswith(f"{place}/") for place in places) for at in problems(then))


@given(CASES, OUTCOMES | NEAR_OUTCOMES)
def test_calls_that_name_offered_tools_and_keep_their_schemas_have_no_repair(case: Any, outcome: Outcome) -> None:
    verdict = judge(case, outcome)
    offered = tuple(tool for tool in TOOLS if case.tools is None or tool.name in case.tools)
    kept = verdict.evidence.get("structure", {}).get("calls", [])
    fine = verdict.structure == "valid" and all(seen["rule"] == "schema_kept" for seen in kept)
    if fine or (isinstance(outcome, Text) and "text_tool_call" not in outcome.flags):
        assert repair(outcome, offered) is None


@given(NEAR_OUTCOMES)
def test_a_step_says_what_stood_there_before_and_what_stands_there_now(outcome: Outcome) -> None:
    found = repair(outcome, TOOLS)
    if found is None or not isinstance(outcome, ToolCalls):
        return
    plain: list[dict[str, Any]] = [
        {"name": each.name, "arguments": each.arguments and dict(each.arguments)} for each in outcome.calls
    ]
    for step in found.steps:
        _, index, *path = step.pointer.strip("/").split("/")
        if len(path) == 1:
            plain[int(index)][path[0]] = dict(step.after) if isinstance(step.after, dict) else step.after
            continue
        arguments = plain[int(index)]["arguments"]
        assert canonical(arguments.pop(path[1])) == canonical(step.before)
        if step.name != "drop_unknown":
            arguments[path[1]] = step.after
    assert plain == [{"name": each.name, "arguments": each.arguments} for each in found.outcome.calls]


def test_what_passed_with_exact_arguments_has_no_repair() -> None:
    assert judge(LOOKUP, RIGHT).semantics == "exact"
    assert repair(RIGHT, TOOLS) is None
    assert repair(calls(call("search_orders", email="sam@example.test", status="shipped")), TOOLS) is None
    assert judge(SEARCH, calls(call("search_orders", email="sam@example.test", status="shipped"))).passed
