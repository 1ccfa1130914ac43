"""BFCL's single-turn files as cases: what is asked, what is offered, what is right.

| category                    | expectation                                                                            |
|-----------------------------|----------------------------------------------------------------------------------------|
| one call in the gold        | tool: exactly this call                                                                |
| `parallel`, several calls   | tools: these calls in any order, and no others                                         |
| `irrelevance`               | no call; a global negative, label (0,0,none): nothing that is offered is needed        |
| `relevance`                 | one call of any offered tool, its declared parameters as its schema has them           |
| gold that no call can meet  | the same calls, and the case is excluded, with the reason                              |

BFCL has no gold for relevance: any call counts there. Ours must keep its tool's schema, and further calls are reported
as extra. Multi-turn cases are `multi_turn`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from callscope.contract import (
    Alternative,
    ArgumentRules,
    Case,
    Expectation,
    ExpectedCall,
    ExpectNoCall,
    ExpectTool,
    ExpectTools,
    Message,
    Tool,
)
from callscope.errors import InputError, shown
from callscope.importers.bfcl.catalogue import language_of
from callscope.importers.bfcl.defects import Defect
from callscope.importers.bfcl.gold import gold_rules
from callscope.importers.bfcl.rows import Row, field, identity_of
from callscope.importers.bfcl.schemas import Loosening, Tools, loosened, tools_of

__all__ = ["Made", "any_call", "family_of", "messages_of", "schema_defects", "single_turn_case"]

_LIVE_ID = re.compile(r"(live_\w+?)_[0-9]+-([0-9]+)-[0-9]+\Z")
_MULTI_ID = re.compile(r"multi_turn_\w+?_([0-9]+)\Z")
_ROLES = ("system", "user", "assistant")


class Made(NamedTuple):
    """A case, and what was found at fault in it."""

    case: Case
    defects: tuple[Defect, ...]


def single_turn_case(category: str, row: Row, gold: Row | None) -> Made:
    """The case of a row and its gold. Raises InputError where the row is none of BFCL's."""
    identity = identity_of(row)
    functions = _functions(row)
    tools = tools_of(functions)
    turns = field(row, "question", list, "a list that holds one list of messages")
    if len(turns) != 1:
        raise InputError(
            "this is no question of one turn",
            file=row.file,
            line=row.line,
            field="question",
            found=len(turns),
            expected="1",
        )
    before, prompt = messages_of(row, turns[0], "question[0]")
    defects = list(schema_defects(tools))
    own, excluded, expected, ground_truth = tools.tools, None, _without_gold(category, tools.tools), None
    if "relevance" not in category:
        ground_truth = None if gold is None else field(gold, "ground_truth", list, "a list of calls")
        answers = _Answers(category, functions, tools, prompt, defects)
        expected, own, excluded = answers.expectation(ground_truth)
    found = tuple(dict.fromkeys(defects))
    about: dict[str, Any] = {
        "name": "bfcl",
        "category": category,
        "language": language_of(category),
        "function": row.value["function"],
        "ground_truth": ground_truth,
    }
    case = Case(
        id=identity,
        prompt=prompt,
        expected=expected,
        tags=_tags(category, found),
        behaviour=_BEHAVIOUR.get(category.removeprefix("live_")),
        family=family_of(identity),
        own_tools=own,
        messages=before,
        item="global_negative" if isinstance(expected, ExpectNoCall) else "positive",
        label="no_tool" if isinstance(expected, ExpectNoCall) else "call",
        excluded=excluded,
        metadata={"benchmark": about | _listed(found)},
    )
    return Made(case, found)


_BEHAVIOUR: Mapping[str, Any] = {
    "multiple": "confusable_selection",
    "parallel_multiple": "confusable_selection",
    "irrelevance": "abstention",
    **dict.fromkeys(("simple", "simple_python", "simple_java", "simple_javascript", "parallel"), "positive_selection"),
}


def _tags(category: str, defects: Sequence[Defect]) -> tuple[str, ...]:
    kinds = dict.fromkeys(f"gold-defect:{each.kind}" for each in defects)
    return ("live" if category.startswith("live_") else "non-live", language_of(category), *kinds)


def _listed(defects: Sequence[Defect]) -> dict[str, Any]:
    return {"defects": [{"kind": each.kind, "message": each.message} for each in defects]} if defects else {}


def family_of(identity: str) -> str | None:
    """What ties variants together: the function documents of a live case (the middle number of its id, whose prompts
    are users' variations on them), the scenario of a multi-turn case, which is told in three ways."""
    live, multi = _LIVE_ID.fullmatch(identity), _MULTI_ID.fullmatch(identity)
    if live is not None:
        return f"{live[1]}-{live[2]}"
    return f"multi_turn-{multi[1]}" if multi is not None else None


def _functions(row: Row) -> list[Mapping[str, Any]]:
    listed = row.value.get("function")
    functions = [listed] if isinstance(listed, dict) else listed
    if not isinstance(functions, list) or not all(
        isinstance(each, dict) and isinstance(each.get("name"), str) for each in functions
    ):
        raise InputError(
            "this is no list of functions",
            file=row.file,
            line=row.line,
            field="function",
            found=listed,
            expected="objects with a name",
        )
    return functions


def messages_of(row: Row, said: Any, where: str) -> tuple[tuple[Message, ...], str]:
    """What was said before the last words of the user, and these. Raises InputError."""
    if not isinstance(said, list) or not said:
        raise InputError("this is no list of messages", file=row.file, line=row.line, field=where, found=said)
    messages = []
    for number, each in enumerate(said):
        role = each.get("role") if isinstance(each, dict) else None
        text = each.get("content") if isinstance(each, dict) else None
        if role not in _ROLES or not isinstance(text, str):
            raise InputError(
                "this is no message",
                file=row.file,
                line=row.line,
                field=f"{where}[{number}]",
                found=each,
                expected="a role and text",
            )
        messages.append(Message(role, text))
    if messages[-1].role != "user":
        raise InputError(
            "the last words are not the user's",
            file=row.file,
            line=row.line,
            field=where,
            found=messages[-1].role,
            expected="user",
        )
    return tuple(messages[:-1]), messages[-1].text


def schema_defects(tools: Tools) -> tuple[Defect, ...]:
    """What is wrong with the function documents, whatever the gold."""
    found = [
        Defect("colliding-names", f"{shown(name)!r} has the safe name of another function") for name in tools.colliding
    ]
    for name, change in tools.changes:
        if change.rule in ("enum_in_type", "enum_without_type"):
            found.append(Defect("enum-of-other-type", f"{name}{change.pointer}: {shown(change.before, 60)}"))
        elif change.rule in ("unknown_type", "not_a_schema", "boolean_schema", "too_deep"):
            found.append(Defect("schema", f"{name}{change.pointer}: {shown(change.before, 60)} ({change.rule})"))
    return tuple(found)


def _without_gold(category: str, tools: Sequence[Tool]) -> Expectation:
    if "irrelevance" in category or not tools:
        return ExpectNoCall()
    return any_call(tools)


def any_call(tools: Sequence[Tool]) -> ExpectTools:
    """One call of any of the tools: what its schema requires is there, whatever it is, and nothing undeclared."""
    rules = {tool.name: _any_arguments(tool) for tool in tools}
    first, *others = rules
    alternatives = tuple(Alternative(rules[name], name) for name in others)
    return ExpectTools((ExpectedCall(first, rules[first], alternatives),))


def _any_arguments(tool: Tool) -> ArgumentRules:
    required = tool.parameters.get("required", [])
    optional = tuple(name for name in tool.parameters["properties"] if name not in required)
    return ArgumentRules(constraints={name: {} for name in required}, optional=optional, text="folded")


class _Answers:
    """The gold of one case made an expectation; what is at fault goes into `defects`."""

    def __init__(
        self,
        category: str,
        functions: Sequence[Mapping[str, Any]],
        tools: Tools,
        prompt: str,
        defects: list[Defect],
    ) -> None:
        self.category, self.tools, self.prompt, self.defects = category, tools, prompt, defects
        self.published = {str(each["name"]): each for each in reversed(functions)}
        self.offered = {tool.name: tool for tool in tools.tools}
        self.loosened: dict[str, dict[str, Loosening]] = {}
        self.impossible: list[str] = []

    def expectation(self, ground_truth: list[Any] | None) -> tuple[Expectation, tuple[Tool, ...], str | None]:
        """The expectation, the tools (loosened where the gold needs it), and why the case is excluded, if it is."""
        if not ground_truth:
            self._impossible("no-gold", "the case has no gold")
        calls = [call for each in ground_truth or () if (call := self._call(each)) is not None]
        if "parallel" in self.category and len(calls) == 1:
            self.defects.append(Defect("one-call-in-parallel", "the gold holds one call"))
        tools = tuple(loosened(tool, self.loosened.get(tool.name, {})) for tool in self.tools.tools)
        excluded = f"the gold cannot be met: {self.impossible[0]}" if self.impossible else None
        if not calls:
            return _without_gold(self.category, tools), tools, excluded
        if len(calls) == 1 and "parallel" not in self.category:
            return ExpectTool(calls[0].name, calls[0].arguments), tools, excluded
        return ExpectTools(tuple(calls)), tools, excluded

    def _impossible(self, kind: str, message: str) -> None:
        self.defects.append(Defect(kind, message))
        self.impossible.append(message)

    def _call(self, written: Any) -> ExpectedCall | None:
        if not isinstance(written, dict) or len(written) != 1 or not isinstance(next(iter(written.values())), dict):
            self._impossible("unreadable-call", f"{shown(written, 60)} is no call")
            return None
        ((name, listed),) = written.items()
        known = (
            name
            if name in self.tools.names
            else next((one for one, safe in self.tools.names.items() if safe == name), None)
        )
        if known is None:
            self._impossible("unknown-function", f"{shown(name)!r} is not offered")
            return None
        tool = self.offered[self.tools.names[known]]
        made = gold_rules(
            listed, self.published[known], tool, source_text=language_of(self.category) != "python", prompt=self.prompt
        )
        self.defects.extend(made.defects)
        if made.impossible is not None:
            self.impossible.append(made.impossible)
        self.loosened.setdefault(tool.name, {}).update(made.loosened)
        return ExpectedCall(tool.name, made.rules)
