"""What people write: cases with their expectations, and the suite that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, structs

from callscope.contract.items import LABEL_OF, Item, Label, NegativeType
from callscope.contract.outcome import Tool
from callscope.contract.overlay import Difference
from callscope.contract.request import Message

Behaviour = Literal[
    "positive_selection", "confusable_selection", "abstention", "argument_pressure", "missing_information"
]
Difficulty = Literal["easy", "medium", "hard"]
SuiteKind = Literal["portable", "compatibility", "provider-optimised", "recovery", "forced"]


class Tolerance(Struct, frozen=True, forbid_unknown_fields=True):
    """A declared numeric tolerance: |actual - expected| <= absolute + relative * |expected|."""

    absolute: float = 0.0
    relative: float = 0.0


class PatternValue(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="value"):
    """Exactly this JSON value, compared as any other expected value."""

    value: Any


class PatternKey(Struct, frozen=True, forbid_unknown_fields=True):
    """A key of a pattern's object: what may stand there, and whether the key may be absent."""

    one_of: tuple[Pattern, ...]
    optional: bool = False


class PatternObject(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="object"):
    """An object with these keys and no others."""

    keys: dict[str, PatternKey]


class PatternArray(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="array"):
    """An array of this length, in this order; each place lists what may stand there."""

    items: tuple[tuple[Pattern, ...], ...]


Pattern = PatternValue | PatternObject | PatternArray
"""A value with alternatives inside it, as benchmarks write gold for nested arguments."""


class ArgumentRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Which arguments are acceptable. An argument that no rule speaks of is unexpected, and wrong.

    Attributes:
        required_equals: argument -> the value it must have.
        one_of: argument -> the values it may have; it must be present.
        patterns: argument -> the patterns one of which it must meet; it must be present.
        optional: arguments that may be absent; where present, `constraints` applies to them.
        constraints: argument -> JSON Schema for its value (`{"integer": true}` is read as `{"type": "integer"}`).
        forbidden: arguments that must not be present, named in the evidence when they are.
        unordered: JSON pointers of arrays whose order does not matter.
        tolerance: JSON pointer -> tolerance for the number there.
        temporal: arguments that state a date, time or duration: errors in them are temporal, and, unless text is
            `folded`, strings of one date or instant are equal, however spelled.
        free_text: arguments whose wording is free: a string that differs is undecided, and a judge may decide it.
        text: how strings are compared. `folded` is for gold that was written for a folding checker: NFC, trimmed,
            without case, date-like text without punctuation, and fractions equal to a relative 1e-9.
    """

    required_equals: dict[str, Any] = {}
    one_of: dict[str, tuple[Any, ...]] = {}
    patterns: dict[str, tuple[Pattern, ...]] = {}
    optional: tuple[str, ...] = ()
    constraints: dict[str, dict[str, Any]] = {}
    forbidden: tuple[str, ...] = ()
    unordered: tuple[str, ...] = ()
    tolerance: dict[str, Tolerance] = {}
    temporal: tuple[str, ...] = ()
    free_text: tuple[str, ...] = ()
    text: Literal["exact", "folded"] = "exact"


class Alternative(Struct, frozen=True, forbid_unknown_fields=True):
    """Another acceptable call in place of the expected one; `name` None means the same tool."""

    arguments: ArgumentRules
    name: str | None = None


class ExpectedCall(Struct, frozen=True, forbid_unknown_fields=True):
    """One required call. `depends_on` names the `id`s of calls that must come before it."""

    name: str
    arguments: ArgumentRules
    alternatives: tuple[Alternative, ...] = ()
    id: str | None = None
    depends_on: tuple[str, ...] = ()


class ExpectTool(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="tool"):
    """Exactly one call is right."""

    name: str
    arguments: ArgumentRules
    alternatives: tuple[Alternative, ...] = ()


class ExpectTools(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="tools"):
    """Several calls are required; in the order given when `ordered`, else only as `depends_on` says."""

    calls: tuple[ExpectedCall, ...]
    ordered: bool = False


class ExpectText(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="text"):
    """No call is right: an answer in prose, or a refusal."""


class ExpectNoCall(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="no_call"):
    """No call, or, with `target`, no call of that one tool (calls of others do not count against it)."""

    target: str | None = None


class ExpectClarification(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="clarification"):
    """A question that names what is missing. `words`: missing name -> words that name it in the case's language.

    A name without words is matched by its own parts, split on `_`. `target` is the tool that would have been called.
    """

    missing: tuple[str, ...]
    words: dict[str, tuple[str, ...]] = {}
    target: str | None = None


Expectation = ExpectTool | ExpectTools | ExpectText | ExpectNoCall | ExpectClarification


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    """One turn of a conversation: what is said in it, and the calls it requires (none: no call is right).

    Calls of the tools in `free` (which only look) are neither asked for nor held against the model.
    """

    messages: tuple[Message, ...]
    calls: tuple[ExpectedCall, ...] = ()
    free: tuple[str, ...] = ()


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """One prompt with its expectation.

    `family` ties paraphrases, translations and strengthened children of one idea together (default: the case id);
    intervals
    are clustered by it. `tools` restricts what is offered to the named tools. `reference_time` is ISO 8601.

    `own_tools` are tools that this case alone offers, in place of the suite's (benchmarks whose cases each bring
    theirs). `messages` is what was said before the prompt. `turns` are the turns of a recorded conversation, whose
    last user message `prompt` then is and whose calls `expected` holds one after the other.

    `excluded` says why no answer can be judged (gold that no call can meet); such a case never passes and never fails.

    `item`, `label` and `negative_type` say what the case is in PluginEval's terms; where `item` is None the
    expectation's kind says it (`items.item_of`).
    """

    id: str
    prompt: str
    expected: Expectation
    tags: tuple[str, ...] = ()
    behaviour: Behaviour | None = None
    difficulty: Difficulty | None = None
    locale: str = "en"
    reference_time: str | None = None
    family: str | None = None
    tools: tuple[str, ...] | None = None
    own_tools: tuple[Tool, ...] = ()
    messages: tuple[Message, ...] = ()
    turns: tuple[Turn, ...] = ()
    item: Item | None = None
    label: Label | None = None
    negative_type: NegativeType | None = None
    excluded: str | None = None
    note: str | None = None
    metadata: dict[str, Any] = {}


class FakeAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """A deterministic tool answer: used when every named argument equals the call's (`{}` matches any call)."""

    result: Any
    when: dict[str, Any] = {}


class Suite(Struct, frozen=True):
    """A folder of cases, loaded. `sources` holds the exact bytes of its files, `files` their SHA-256.

    `fakes` (tool name -> answers, first match wins) and `max_tool_rounds` > 0 make the suite a conversation.
    A suite optimised for one provider names it in `providers` (with others that speak the same) and says in
    `differences` how it is not the portable one. `benchmark` names the one it was imported from. `null_means_absent`:
    tool name -> arguments whose explicit null counts as the argument left out.
    """

    name: str
    version: str
    kind: SuiteKind
    system: str
    tools: tuple[Tool, ...]
    cases: tuple[Case, ...]
    files: dict[str, str]
    max_tool_rounds: int = 0
    fakes: dict[str, tuple[FakeAnswer, ...]] = {}
    sources: dict[str, bytes] = {}
    providers: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    null_means_absent: dict[str, tuple[str, ...]] = {}
    benchmark: str | None = None


def expected_calls(expected: Expectation) -> tuple[ExpectedCall, ...]:
    """The calls an expectation requires: none for text, no_call and clarification."""
    if isinstance(expected, ExpectTool):
        return (ExpectedCall(expected.name, expected.arguments, expected.alternatives),)
    if isinstance(expected, ExpectTools):
        return expected.calls
    return ()


def offered_tools(case: Case, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """The tools a case shows the model, in suite order; its own where it brings some."""
    if case.own_tools:
        return case.own_tools
    return tools if case.tools is None else tuple(tool for tool in tools if tool.name in case.tools)


def tools_by_name(tools: tuple[Tool, ...]) -> Mapping[str, Tool]:
    """Tool name -> tool; the first of two of the same name wins (lint reports the second)."""
    return {tool.name: tool for tool in reversed(tools)}


def target_of(case: Case) -> str | None:
    """The one tool that a case is about: the only one it requires, or the `target` it states; None where there is no
    single one."""
    expected = case.expected
    if isinstance(expected, (ExpectNoCall, ExpectClarification)):
        return expected.target
    names = {call.name for call in expected_calls(expected)}
    return names.pop() if len(names) == 1 else None


Routing = Literal["need", "target", "arguments"]
"""The three decisions of tool routing, each an experiment: is a tool needed (all tools are offered), is the target the
right one, with which arguments or with too little said (the target alone is offered)."""


def asked_under(case: Case, routing: Routing | None) -> Case:
    """The case as it is put under an experiment: for a routing decision with all tools, or with its target alone.

    Raises ValueError where a decision about the target is asked of a case that has none.
    """
    if routing is None:
        return case
    if routing == "need":
        return structs.replace(case, tools=None)
    target = target_of(case)
    if target is None:
        raise ValueError(f"{case.id} has no single target")
    own = tuple(tool for tool in case.own_tools if tool.name == target)
    return structs.replace(case, own_tools=own) if own else structs.replace(case, tools=(target,))


_IMPLIED: dict[type[Expectation], Item] = {
    ExpectTool: "positive",
    ExpectTools: "positive",
    ExpectText: "global_negative",
    ExpectNoCall: "global_negative",
    ExpectClarification: "underspecified",
}


def implied_item(expected: Expectation) -> Item:
    """The item an expectation makes of a case that states none: a `target` makes a negative a targeted one."""
    if isinstance(expected, ExpectNoCall) and expected.target is not None:
        return "targeted_negative"
    return _IMPLIED[type(expected)]


def item_of(case: Case) -> Item:
    """What a case is for the query-level measures: as stated, else as its expectation implies."""
    return case.item or implied_item(case.expected)


def label_of(case: Case) -> Label | None:
    """The label of the pair of a case and its target; None where a targeted negative does not state whether another
    tool is needed."""
    if case.label is not None:
        return case.label
    item = item_of(case)
    return None if item == "targeted_negative" else LABEL_OF[item]
