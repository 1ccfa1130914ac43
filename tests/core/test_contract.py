"""The contract: frozen data, the order of trials, and the few trivial readings."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import callscope.contract as contract
from callscope.contract import (
    Alternative,
    ArgumentRules,
    Block,
    Case,
    ExpectClarification,
    ExpectedCall,
    ExpectNoCall,
    ExpectText,
    ExpectTool,
    ExpectTools,
    Malformed,
    Outcome,
    ProviderError,
    Refusal,
    Settings,
    Text,
    Tool,
    ToolCall,
    ToolCalls,
    TrialKey,
    expected_calls,
    offered_tools,
    tools_by_name,
    trial_count,
    trials,
)

RULES = ArgumentRules(required_equals={"city": "Oslo"})
OTHER = (Alternative(RULES, "other"),)


def test_every_exported_name_is_there_once_and_in_order() -> None:
    assert all(hasattr(contract, name) for name in contract.__all__)
    assert sorted(set(contract.__all__), key=str.lower) == sorted(contract.__all__, key=str.lower)


@pytest.mark.parametrize("name", [name for name in contract.__all__ if isinstance(getattr(contract, name), type)])
def test_every_type_is_frozen_and_says_what_it_is(name: str) -> None:
    kind = getattr(contract, name)
    assert kind.__doc__
    if issubclass(kind, msgspec.Struct):
        assert kind.__struct_config__.frozen


OUTCOMES = [
    (
        ToolCalls((ToolCall("1", "f", {"a": 1}), ToolCall(None, "g", malformed=Malformed("truncated", '{"a'))), ("x",)),
        (b'{"kind":"tool_calls","calls":[{"id":"1","name":"f","arguments":{"a":1}},'
        b'{"id":null,"name":"g","malformed":{"reason":"truncated","raw":"{\\"a"}}],"flags":["x"]}'),
    ),
    (
        ToolCalls((ToolCall(None, "f", {}),), (), "words"),
        b'{"kind":"tool_calls","calls":[{"id":null,"name":"f","arguments":{}}],"flags":[],"text":"words"}',
    ),
    (Text("hi"), b'{"kind":"text","text":"hi","flags":[]}'),
    (Refusal(None, ("content_filter",)), b'{"kind":"refusal","text":null,"flags":["content_filter"]}'),
    (
        ProviderError("rate_limited", "429", "slow", ("overloaded",)),
        b'{"kind":"provider_error","category":"rate_limited","code":"429","message":"slow","flags":["overloaded"]}',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("outcome", "text"), OUTCOMES, ids=lambda value: type(value).__name__)
def test_an_outcome_is_written_as_the_public_format_says_and_read_back(outcome: Outcome, text: bytes) -> None:
    assert msgspec.json.encode(outcome) == text
    assert msgspec.json.decode(text, type=Outcome) == outcome


EXPECTED = [
    (ExpectText(), ()),
    (ExpectNoCall(), ()),
    (ExpectNoCall("f"), ()),
    (ExpectClarification(("city",)), ()),
    (ExpectTool("f", RULES, OTHER), (ExpectedCall("f", RULES, OTHER),)),
    (ExpectTools((ExpectedCall("f", RULES, id="1"), ExpectedCall("g", RULES, depends_on=("1",)))),
     (ExpectedCall("f", RULES, id="1"), ExpectedCall("g", RULES, depends_on=("1",)))),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "calls"), EXPECTED, ids=lambda value: type(value).__name__)
def test_an_expectation_requires_these_calls(expected: contract.Expectation, calls: tuple[ExpectedCall, ...]) -> None:
    assert expected_calls(expected) == calls


def tool(name: str, description: str = "") -> Tool:
    return Tool(name, description, {"type": "object"})


TOOLS = (tool("b"), tool("a"), tool("c"))


@pytest.mark.parametrize(
    ("named", "offered"),
    [(None, "bac"), ((), ""), (("c", "b"), "bc"), (("a",), "a"), (("a", "unknown"), "a")],
)
def test_a_case_shows_the_tools_it_names_in_the_suites_order(named: tuple[str, ...] | None, offered: str) -> None:
    case = Case("1", "p", ExpectText(), tools=named)
    assert "".join(each.name for each in offered_tools(case, TOOLS)) == offered


def test_the_first_of_two_tools_of_a_name_stands() -> None:
    found = tools_by_name((tool("a", "first"), tool("b"), tool("a", "second")))
    assert (found["a"].description, set(found)) == ("first", {"a", "b"})


BLOCKS = st.lists(
    st.builds(
        Block,
        suite=st.sampled_from(["s", "t"]),
        experiment=st.sampled_from(["auto", "none"]),
        model=st.sampled_from(["m", "n"]),
        cases=st.lists(st.text(max_size=3), unique=True, max_size=4).map(tuple),
        repeats=st.integers(0, 4),
    ),
    max_size=5,
).map(tuple)


@given(BLOCKS)
def test_trials_follow_the_blocks_repeat_by_repeat_and_are_numbered_from_zero(plan: tuple[Block, ...]) -> None:
    found = list(trials(plan))
    assert [trial.position for trial in found] == list(range(trial_count(plan)))
    expected = [
        (block, TrialKey(block.suite, block.experiment, block.model, case_id, repeat))
        for block in plan
        for repeat in range(block.repeats)
        for case_id in block.cases
    ]
    assert [(trial.block, trial.key) for trial in found] == expected


@given(BLOCKS, st.data())
def test_a_run_that_stops_early_has_seen_the_cases_of_a_block_about_equally_often(
    plan: tuple[Block, ...], data: st.DataObject
) -> None:
    for block in plan:
        found = [trial.key.case_id for trial in trials((block,))]
        seen = found[: data.draw(st.integers(0, len(found)))]
        counts = [seen.count(case_id) for case_id in block.cases]
        assert not counts or max(counts) - min(counts) <= 1


def test_a_plain_block_asks_for_temperature_zero_and_thirty_seconds() -> None:
    assert Block("s", "auto", "m", (), 1).settings == Settings(temperature=0.0, timeout_ms=30_000, tool_choice="auto")
