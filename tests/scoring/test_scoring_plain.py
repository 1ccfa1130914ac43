"""The short way to a plainly right answer's verdict says what the stages say, or nothing."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from scoring_kit import HELLO, QUOTE, TOOLS, broken, call, calls, said

from callscope.contract import (
    ArgumentRules,
    Case,
    ExpectedCall,
    ExpectTool,
    ExpectTools,
    PatternKey,
    PatternObject,
    PatternValue,
    Tool,
    TrialKey,
)
from callscope.scoring import evaluate
from callscope.scoring import evaluate as public_evaluate

KEY = TrialKey("s", "auto", "m", "c", 3)
RIGHT = call("get_shipping_quote", country_code="US", postal_code="02139", weight_grams=750, service="standard")


def by_stages(case, outcome, tools, **more):
    with mock.patch("callscope.scoring.evaluate.plainly_right", return_value=None):
        return evaluate(case, tools, outcome, key=KEY, **more)


def taken(case, outcome, tools):
    """Whether the short way was taken, that is: the stages were not asked."""
    with mock.patch("callscope.scoring.evaluate.align", side_effect=AssertionError("the stages were asked")):
        try:
            public_evaluate(case, tools, outcome, key=KEY)
        except AssertionError:
            return False
    return True


def test_it_is_taken_for_what_is_plainly_right_and_says_the_same():
    assert taken(QUOTE, calls(RIGHT), TOOLS)
    recovery = {"rounds": 2}
    assert evaluate(QUOTE, TOOLS, calls(RIGHT), key=KEY, recovery=recovery) == by_stages(
        QUOTE, calls(RIGHT), TOOLS, recovery=recovery
    )


@pytest.mark.parametrize(
    "outcome",
    [
        calls(RIGHT, text="Here you are."),
        calls(RIGHT, flags=("truncated",)),
        calls(RIGHT, RIGHT),
        calls(broken("get_shipping_quote")),
        calls(replace(RIGHT, name="other")),
        calls(replace(RIGHT, arguments={**(RIGHT.arguments or {}), "weight_grams": 750.0})),
        calls(replace(RIGHT, arguments={**(RIGHT.arguments or {}), "more": 1})),
        said("no"),
    ],
)
def test_it_is_not_taken_where_there_is_something_to_say(outcome):
    assert not taken(QUOTE, outcome, TOOLS)
    assert evaluate(QUOTE, TOOLS, outcome, key=KEY) == by_stages(QUOTE, outcome, TOOLS)


def test_nor_for_negatives_excluded_cases_and_other_kinds():
    assert evaluate(HELLO, TOOLS, said("Hello"), key=KEY) == by_stages(HELLO, said("Hello"), TOOLS)
    assert evaluate(HELLO, TOOLS, calls(RIGHT), key=KEY) == by_stages(HELLO, calls(RIGHT), TOOLS)
    assert not taken(replace(QUOTE, excluded="x"), calls(RIGHT), TOOLS)
    assert not taken(QUOTE, calls(RIGHT), ())


SCHEMAS = st.sampled_from(
    [
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"default": 1}}},
        {"type": "object", "required": ["a"], "additionalProperties": False, "properties": {"a": {}, "b": {}}},
        {"type": "dict"},
        {"type": "object", "properties": {"a": {"type": "integer"}}},
    ]
)
VALUES = st.sampled_from([1, 1.0, True, "1", "x", "X", "\ud800", None, {"k": 1}, {"k": [1, 2]}, [1], 0, 0.0, -0.0, ""])
NAMES = st.sampled_from(["a", "b"])
PATTERN = PatternObject({"k": PatternKey((PatternValue(1), PatternValue("x")), optional=True)})
RULES = st.builds(
    ArgumentRules,
    required_equals=st.dictionaries(NAMES, VALUES, max_size=2),
    one_of=st.dictionaries(NAMES, st.lists(VALUES, max_size=2).map(tuple), max_size=1),
    patterns=st.dictionaries(NAMES, st.just((PATTERN,)), max_size=1),
    optional=st.lists(NAMES, max_size=1).map(tuple),
    forbidden=st.lists(NAMES, max_size=1).map(tuple),
    temporal=st.lists(NAMES, max_size=1).map(tuple),
    free_text=st.lists(NAMES, max_size=1).map(tuple),
    text=st.sampled_from(["exact", "folded"]),
)
WANTED = st.builds(
    ExpectedCall,
    st.sampled_from(["f", "g"]),
    RULES,
    id=st.sampled_from([None, "one"]),
    depends_on=st.sampled_from([(), ("one",)]),
)
EXPECTED = st.one_of(
    st.builds(ExpectTool, st.sampled_from(["f", "g"]), RULES),
    st.builds(ExpectTools, st.lists(WANTED, max_size=3).map(tuple), st.booleans()),
)


@st.composite
def trials(draw):
    expected = draw(EXPECTED)
    wanted = expected.calls if isinstance(expected, ExpectTools) else (expected,)
    tools = tuple(Tool(name, "", draw(SCHEMAS)) for name in ("f", "g"))
    given_calls = []
    for one in wanted:
        arguments = {
            **one.arguments.required_equals,
            **{name: values[0] for name, values in one.arguments.one_of.items() if values},
            **{name: {"k": 1} for name in one.arguments.patterns},
        }
        if draw(st.integers(0, 3)) == 0:
            arguments[draw(NAMES)] = draw(VALUES)
        given_calls.append(call(one.name, **arguments))
    if draw(st.integers(0, 5)) == 0:
        given_calls = draw(st.permutations(given_calls))
    outcome = calls(*given_calls) if given_calls else said("")
    return Case("c", "1 x", expected), outcome, tools


@given(trials())
@settings(max_examples=300)
def test_both_ways_say_the_same(trial):
    case, outcome, tools = trial
    assert evaluate(case, tools, outcome, key=KEY) == by_stages(case, outcome, tools)


def test_arguments_that_no_parser_lets_through_are_left_to_the_stages():
    rules = ArgumentRules(patterns={"a": (PATTERN,)})
    case = Case("c", "x", ExpectTool("f", rules))
    outcome = calls(call("f", a={"k": float("nan")}))
    tools = (Tool("f", "", {"type": "object", "properties": {"a": {}}}),)
    assert not taken(case, outcome, tools)
    assert evaluate(case, tools, outcome, key=KEY).structure == "malformed"
