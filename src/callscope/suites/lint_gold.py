"""Lint rules about expectations: gold that the tool's own schema refuses, rules that contradict each other.

Each finding here is a case that a right answer could fail, or a wrong one pass. Nothing about prompts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import jsonschema_rs

from callscope.contract import (
    LABELS_OF,
    Case,
    ExpectClarification,
    ExpectNoCall,
    ExpectTools,
    Pattern,
    PatternArray,
    PatternValue,
    implied_item,
    item_of,
    offered_tools,
)
from callscope.errors import shown
from callscope.suites.lint_base import Gold, Lintable, Rule, Spot, buildable, spelled_out

__all__ = ["RULES"]

_FILE = "cases.jsonl"
_OTHER_RULES = ("required", "additionalProperties")
"""Keywords whose violations other rules report, with the name of the parameter."""


def _at(gold: Gold, message: str, field: str = "") -> Spot:
    return Spot(_FILE, message, gold.case.id, f"{gold.path}.{field}" if field else gold.path)


def _target(case: Case) -> str | None:
    return case.expected.target if isinstance(case.expected, (ExpectNoCall, ExpectClarification)) else None


def _unknown_tool(it: Lintable) -> Iterator[Spot]:
    for gold in it.golds:
        if it.tool(gold.name, gold.case) is None:
            yield _at(gold, f"there is no tool {shown(gold.name)!r}")
    for case in it.suite.cases:
        target = _target(case)
        if target is not None and it.tool(target, case) is None:
            yield Spot(_FILE, f"there is no tool {shown(target)!r}", case.id, "expected.target")
        for name in case.tools or ():
            if name not in it.tools:
                yield Spot(_FILE, f"there is no tool {shown(name)!r}", case.id, "tools")


def _not_offered(it: Lintable) -> Iterator[Spot]:
    for gold in it.golds:
        offered = {tool.name for tool in offered_tools(gold.case, it.suite.tools)}
        if it.tool(gold.name, gold.case) is not None and gold.name not in offered:
            yield _at(gold, f"{gold.name} is expected, but the case does not offer it")


def _mentioned(gold: Gold) -> set[str]:
    rules = gold.rules
    pointed = {pointer.split("/")[1] for pointer in rules.tolerance if pointer.startswith("/")}
    named = {*rules.optional, *rules.constraints, *rules.temporal, *rules.free_text}
    return {*rules.required_equals, *rules.one_of, *rules.patterns, *named, *pointed}


def _unknown_parameter(it: Lintable) -> Iterator[Spot]:
    for gold in it.golds:
        if it.tool(gold.name, gold.case) is None:
            continue
        declared = it.properties(gold.name, gold.case)
        for name in sorted(_mentioned(gold) - set(declared)):
            message = f"{gold.name} has no parameter {shown(name)!r}; it has {', '.join(declared) or 'none'}"
            yield _at(gold, message)._replace(severity=None if it.closed(gold.name, gold.case) else "warning")


def _instances(gold: Gold, absent: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Arguments the rules accept: each value of `one_of` once, the rest at its first; those `absent` may be as null."""
    first = {name: values[0] for name, values in gold.rules.one_of.items() if values}
    nested = {name: _first_of(patterns[0]) for name, patterns in gold.rules.patterns.items() if patterns}
    base = {**dict.fromkeys(absent), **gold.rules.required_equals, **nested, **first}
    yield base
    for name, values in gold.rules.one_of.items():
        yield from ({**base, name: value} for value in values[1:])


def _first_of(pattern: Pattern) -> Any:
    """The value that meets a pattern by its first alternatives, optional keys included."""
    if isinstance(pattern, PatternValue):
        return pattern.value
    if isinstance(pattern, PatternArray):
        return [_first_of(one_of[0]) for one_of in pattern.items if one_of]
    return {name: _first_of(key.one_of[0]) for name, key in pattern.keys.items() if key.one_of}


def _refusals(gold: Gold, validator: jsonschema_rs.Validator, absent: Collection[str]) -> Iterator[str]:
    for instance in _instances(gold, absent):
        try:
            faults = [fault for fault in validator.iter_errors(instance) if fault.kind.name not in _OTHER_RULES]
        except ValueError as error:  # a lone surrogate, or deeper than the engine goes
            yield f"the gold cannot be checked: {error}"
            return
        for fault in faults:
            yield f"{gold.name} refuses the gold at /{'/'.join(map(str, fault.instance_path))}: {fault.message}"


def _violates_schema(it: Lintable) -> Iterator[Spot]:
    for gold in it.golds:
        validator, mentioned = it.validator(gold.name, gold.case), _mentioned(gold)
        if validator is None:
            continue
        absent = it.suite.null_means_absent.get(gold.name, ())
        told = dict.fromkeys(_refusals(gold, validator, absent))
        for name in it.required(gold.name, gold.case):
            if name in absent:
                continue
            if name not in mentioned:
                told[f"{gold.name} requires {name!r}, and the gold does not speak of it"] = None
            elif name in gold.rules.optional and name not in gold.rules.required_equals:
                told[f"{gold.name} requires {name!r}, and the gold calls it optional"] = None
        yield from (_at(gold, message) for message in told)


def _accepts(validator: jsonschema_rs.Validator, value: Any) -> bool:
    try:
        return validator.is_valid(value)
    except ValueError:  # a lone surrogate
        return False


def _constraints(it: Lintable) -> Iterator[Spot]:
    for gold in it.golds:
        for name, written in gold.rules.constraints.items():
            validator, reason = buildable(spelled_out(written))
            field = f"constraints.{shown(name, 80)}"
            if validator is None:
                yield _at(gold, f"the constraint is no JSON Schema: {reason}", field)
                continue
            values = [gold.rules.required_equals[name]] if name in gold.rules.required_equals else []
            for value in (*values, *gold.rules.one_of.get(name, ())):
                if not _accepts(validator, value):
                    yield _at(gold, f"the constraint refuses the expected value {shown(value)}", field)


def _contradictions(it: Lintable) -> Iterator[Spot]:
    for gold in it.golds:
        rules = gold.rules
        for name in sorted(set(rules.forbidden) & {*rules.required_equals, *rules.one_of, *rules.optional}):
            yield _at(gold, f"{shown(name)!r} is forbidden, and also allowed", "forbidden")
        for name in sorted(set(rules.required_equals) & {*rules.one_of, *rules.patterns}):
            yield _at(gold, f"{shown(name)!r} has one required value, and also a choice of values", "one_of")
        for name in sorted(name for name, values in {**rules.patterns, **rules.one_of}.items() if not values):
            yield _at(gold, f"no value of {shown(name)!r} is acceptable: the list is empty", "one_of")


def _resolved(value: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and len(key) < 9 and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _pointers(it: Lintable) -> Iterator[Spot]:
    for gold in it.golds:
        base = next(_instances(gold))
        for pointer in gold.rules.tolerance:
            found = _resolved(base, pointer) if pointer.startswith("/") else None
            if not isinstance(found, (int, float)) or isinstance(found, bool):
                yield _at(gold, f"{shown(pointer)!r} points at no number of the gold", "tolerance")
        for pointer in gold.rules.unordered:
            if not pointer.startswith("/") or not isinstance(_resolved(base, pointer), list):
                yield _at(gold, f"{shown(pointer)!r} points at no array of the gold", "unordered")


def _clarification(it: Lintable) -> Iterator[Spot]:
    for case in it.suite.cases:
        expected = case.expected
        if not isinstance(expected, ExpectClarification):
            continue
        offered = [tool.name for tool in offered_tools(case, it.suite.tools)]
        tools = [expected.target] if expected.target else offered
        askable = {name for tool in tools for name in it.required(tool, case)}
        if not expected.missing:
            yield Spot(_FILE, "a clarification must name what is missing", case.id, "expected.missing")
        for name in expected.missing:
            if name not in askable:
                message = f"{shown(name)!r} is no required parameter of {' or '.join(tools) or 'any tool'}"
                yield Spot(_FILE, message, case.id, "expected.missing")
        for name, words in expected.words.items():
            if name not in expected.missing:
                yield Spot(_FILE, f"{shown(name)!r} has words, but is not missing", case.id, "expected.words")
            if not words or not all(word.strip() for word in words):
                yield Spot(_FILE, f"the words for {shown(name)!r} hold none", case.id, "expected.words")


def _call_order(it: Lintable) -> Iterator[Spot]:
    for case in it.suite.cases:
        if not isinstance(case.expected, ExpectTools):
            continue
        calls = case.expected.calls
        if not calls:
            yield Spot(_FILE, "no calls are required; expect 'text' or 'no_call' instead", case.id, "expected.calls")
        ids = [call.id for call in calls if call.id is not None]
        done: set[str] = set()
        waiting = {index: set(call.depends_on) for index, call in enumerate(calls)}
        for name in sorted({name for name in ids if ids.count(name) > 1}):
            yield Spot(_FILE, f"two calls have the id {shown(name)!r}", case.id, "expected.calls")
        for name in sorted(set().union(*waiting.values()) - set(ids)):
            yield Spot(_FILE, f"depends_on names {shown(name)!r}, and no call has that id", case.id, "expected.calls")
        while ready := [index for index, needs in waiting.items() if needs & set(ids) <= done]:
            done |= {str(calls[index].id) for index in ready}
            waiting = {index: needs for index, needs in waiting.items() if index not in ready}
        if waiting:
            yield Spot(_FILE, "the calls depend on each other in a circle", case.id, "expected.calls")


def _item(it: Lintable) -> Iterator[Spot]:
    for case in it.suite.cases:
        implied, item = implied_item(case.expected), item_of(case)
        if item != implied:
            message = f"the item is {item}, and the expectation makes it {implied}"
            yield Spot(_FILE, message, case.id, "item")
        if case.label is not None and case.label not in LABELS_OF[item]:
            message = f"a {item} is labelled {' or '.join(LABELS_OF[item])}, not {case.label}"
            yield Spot(_FILE, message, case.id, "label")
        if case.negative_type is not None and item in ("positive", "underspecified"):
            yield Spot(_FILE, f"a {item} has no negative type", case.id, "negative_type")


def _own_tools(it: Lintable) -> Iterator[Spot]:
    for case in it.suite.cases:
        names = [tool.name for tool in case.own_tools]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield Spot(_FILE, f"two of the case's own tools are called {shown(name)!r}", case.id, "own_tools")
        for index, tool in enumerate(case.own_tools):
            reason = buildable(tool.parameters)[1]
            if reason is not None:
                message = f"{shown(tool.name)}: this is no JSON Schema: {reason}"
                yield Spot(_FILE, message, case.id, f"own_tools[{index}].parameters")


RULES: tuple[Rule, ...] = (
    Rule("unknown-tool", "error", "an expectation names a tool that the suite does not have", _unknown_tool),
    Rule("tool-not-offered", "error", "the expected tool is withheld from the model", _not_offered),
    Rule(
        "unknown-parameter",
        "error",
        "an expectation names a parameter that the tool does not declare",
        _unknown_parameter,
    ),
    Rule("gold-violates-schema", "error", "the right answer would be structurally invalid", _violates_schema),
    Rule("bad-constraint", "error", "a constraint that cannot be built, or refuses the gold", _constraints),
    Rule("contradictory-rules", "error", "rules that no arguments can satisfy", _contradictions),
    Rule("pointer-to-nowhere", "error", "a tolerance or unordered array that does not exist", _pointers),
    Rule("bad-clarification", "error", "a question about something no tool requires", _clarification),
    Rule("bad-own-tools", "error", "a case's own tools that share a name or have no schema", _own_tools),
    Rule("contradictory-item", "error", "an item or label that is not what the expectation says", _item),
    Rule("bad-call-order", "error", "required calls that cannot be ordered", _call_order),
)
