"""What lint rules are made of: a rule, the spots it finds, and the suite made ready for asking.

No rule lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple

import jsonschema_rs

from callscope.contract import (
    ArgumentRules,
    Case,
    ExpectTool,
    ExpectTools,
    Suite,
    Tool,
    expected_calls,
    tools_by_name,
)

__all__ = ["ALLOW", "Gold", "Lintable", "Rule", "Severity", "Spot", "buildable", "golds", "spelled_out"]

Severity = Literal["error", "warning", "info"]

ALLOW = "lint_allow"
"""The key of a case's metadata that maps the name of a waived rule to the reason."""


class Spot(NamedTuple):
    """Where a rule found something. `severity` is set where it is not the rule's own."""

    file: str
    message: str
    case_id: str | None = None
    field: str | None = None
    severity: Severity | None = None


class Rule(NamedTuple):
    """One check. `about` says in one line what a finding means."""

    name: str
    severity: Severity
    about: str
    check: Callable[[Lintable], Iterable[Spot]]


class Gold(NamedTuple):
    """One acceptable call of a case: the tool's name, its rules, and the path to it."""

    case: Case
    name: str
    rules: ArgumentRules
    path: str


class Lintable:
    """A suite with its tools by name and a validator for each schema that can be built."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.tools: Mapping[str, Tool] = tools_by_name(suite.tools)
        self._validators: dict[str, jsonschema_rs.Validator | None] = {}

    @cached_property
    def tools_file(self) -> str:
        """Under which of its two names the suite holds its tools."""
        return "tools.json" if "tools.json" in self.suite.files else "tools.core.json"

    @cached_property
    def golds(self) -> tuple[Gold, ...]:
        """Every acceptable call of every case, alternatives included."""
        return tuple(gold for case in self.suite.cases for gold in golds(case))

    def tool(self, name: str, case: Case | None = None) -> Tool | None:
        """The tool that a name means in a case: one of the case's own, where it brings some, else the suite's."""
        if case is not None and case.own_tools:
            return next((tool for tool in case.own_tools if tool.name == name), None)
        return self.tools.get(name)

    def properties(self, name: str, case: Case | None = None) -> Mapping[str, Any]:
        """The declared parameters of a tool; empty where it has none or does not exist."""
        tool = self.tool(name, case)
        found = tool.parameters.get("properties") if tool else None
        return found if isinstance(found, dict) else {}

    def required(self, name: str, case: Case | None = None) -> tuple[str, ...]:
        """The parameters a tool's schema requires."""
        tool = self.tool(name, case)
        found = tool.parameters.get("required") if tool else None
        return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()

    def closed(self, name: str, case: Case | None = None) -> bool:
        """Whether a tool refuses arguments it does not declare."""
        tool = self.tool(name, case)
        return tool is not None and tool.parameters.get("additionalProperties") is False

    def validator(self, name: str, case: Case | None = None) -> jsonschema_rs.Validator | None:
        """The validator of a tool's parameters, or None where there is no such tool or its schema is none."""
        tool = self.tool(name, case)
        if case is not None and case.own_tools:
            return buildable(tool.parameters)[0] if tool else None
        if name not in self._validators:
            self._validators[name] = buildable(tool.parameters)[0] if tool else None
        return self._validators[name]


def buildable(schema: Any) -> tuple[jsonschema_rs.Validator | None, str | None]:
    """A Draft 2020-12 validator for `schema`, or the reason why there is none. Never fetches a `$ref`."""
    try:
        return jsonschema_rs.Draft202012Validator(schema, offline=True), None
    except (ValueError, RecursionError, TypeError) as error:
        return None, str(error).split("\n", 1)[0]


def golds(case: Case) -> Iterator[Gold]:
    """Every acceptable call of one case."""
    several = isinstance(case.expected, ExpectTools)
    if not isinstance(case.expected, (ExpectTool, ExpectTools)):
        return
    for index, call in enumerate(expected_calls(case.expected)):
        path = f"expected.calls[{index}]" if several else "expected"
        yield Gold(case, call.name, call.arguments, f"{path}.arguments")
        for other, alternative in enumerate(call.alternatives):
            yield Gold(
                case, alternative.name or call.name, alternative.arguments, f"{path}.alternatives[{other}].arguments"
            )


_TYPES = ("integer", "number", "string", "boolean", "array", "object", "null")


def spelled_out(constraint: Mapping[str, Any]) -> dict[str, Any]:
    """A constraint with the shorthand `{"integer": true}` written as `{"type": "integer"}`."""
    types = [name for name in _TYPES if constraint.get(name) is True]
    rest = {key: value for key, value in constraint.items() if not (key in _TYPES and value is True)}
    if types and "type" not in rest:
        rest["type"] = types[0] if len(types) == 1 else types
    return rest
