"""What people write: cases with their expectations, and the suite that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from callscope.contract.outcome import Tool
from callscope.contract.overlay import Difference

Behaviour = Literal[
    "positive_selection", "confusable_selection", "abstention", "argument_pressure", "missing_information"
]
Difficulty = Literal["easy", "medium", "hard"]
SuiteKind = Literal["portable", "compatibility", "provider-optimised", "recovery", "forced"]


class Tolerance(Struct, frozen=True, forbid_unknown_fields=True):
    """A declared numeric tolerance: |actual - expected| <= absolute + relative * |expected|."""

    absolute: float = 0.0
    relative: float = 0.0


class ArgumentRules(Struct, frozen=True, forbid_unknown_fields=True):
    """Which arguments are acceptable. An argument that no rule speaks of is unexpected, and wrong.

    Attributes:
        required_equals: argument -> the value it must have.
        one_of: argument -> the values it may have; it must be present.
        optional: arguments that may be absent; where present, `constraints` applies to them.
        constraints: argument -> JSON Schema for its value (`{"integer": true}` is read as `{"type": "integer"}`).
        forbidden: arguments that must not be present, named in the evidence when they are.
        unordered: JSON pointers of arrays whose order does not matter.
        tolerance: JSON pointer -> tolerance for the number there.
        temporal: arguments that state a date, time or duration (for the attribution of errors).
    """

    required_equals: dict[str, Any] = {}
    one_of: dict[str, tuple[Any, ...]] = {}
    optional: tuple[str, ...] = ()
    constraints: dict[str, dict[str, Any]] = {}
    forbidden: tuple[str, ...] = ()
    unordered: tuple[str, ...] = ()
    tolerance: dict[str, Tolerance] = {}
    temporal: tuple[str, ...] = ()


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


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """One prompt with its expectation.

    `family` ties paraphrases, translations and strengthened children of one idea together (default: the case id);
    intervals
    are clustered by it. `tools` restricts what is offered to the named tools. `reference_time` is ISO 8601.
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
    `differences` how it is not the portable one. `null_means_absent`: tool name -> arguments whose explicit null
    counts as the argument left out.
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


def expected_calls(expected: Expectation) -> tuple[ExpectedCall, ...]:
    """The calls an expectation requires: none for text, no_call and clarification."""
    if isinstance(expected, ExpectTool):
        return (ExpectedCall(expected.name, expected.arguments, expected.alternatives),)
    if isinstance(expected, ExpectTools):
        return expected.calls
    return ()


def offered_tools(case: Case, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """The tools a case shows the model, in suite order."""
    return tools if case.tools is None else tuple(tool for tool in tools if tool.name in case.tools)


def tools_by_name(tools: tuple[Tool, ...]) -> Mapping[str, Tool]:
    """Tool name -> tool; the first of two of the same name wins (lint reports the second)."""
    return {tool.name: tool for tool in reversed(tools)}
