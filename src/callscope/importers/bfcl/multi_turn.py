"""BFCL's multi-turn files as cases with turns: what is said in each, and the calls that it requires.

Gold calls are Python text and are read by its grammar; a positional argument takes the name that stands in its place in
the function's document. What they say is compared exactly: the simulators for which they were written take no other
spelling. Their results, and the state they leave, are not known here, so BFCL's own verdict is not given.

A tool only looks, and is free, when the first word of its description says so (`_LOOKING`): calling it changes nothing
that a later call or the user could find changed (scoring-faults 39). A function that the case withholds is no free tool
before the turn with which it comes; a turn without words is the one with which it comes.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from callscope.contract import ArgumentRules, Case, ExpectedCall, ExpectNoCall, ExpectTools, Message, Tool, Turn
from callscope.errors import InputError, shown
from callscope.importers.bfcl.cases import Made, family_of, messages_of, schema_defects
from callscope.importers.bfcl.defects import Defect
from callscope.importers.bfcl.rows import Row, field, identity_of
from callscope.importers.bfcl.schemas import Tools, tools_of
from callscope.scoring.validators import checker_for

__all__ = ["DOCUMENTS", "Documents", "gold_call", "looks_only", "multi_turn_case"]

DOCUMENTS: Mapping[str, str] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}
"""The function document of each class that a case may involve."""

_LOOKING = frozenset(
    [
        "calculate",
        "check",
        "compare",
        "compute",
        "convert",
        "count",
        "display",
        "estimate",
        "filter",
        "find",
        "get",
        "list",
        "read",
        "retrieve",
        "return",
        "search",
        "show",
        "view",
    ]
)
_SAYS = re.compile(r"(?:.*Tool description:)?\s*(\w+)", re.DOTALL)
_PUBLISHED = ("ground_truth", "involved_classes", "excluded_function", "missed_function", "path", "initial_config")


def looks_only(tool: Tool) -> bool:
    """Whether a tool's description says that it looks and changes nothing: by its first word, with or without `s`."""
    found = _SAYS.match(tool.description)
    word = found[1].casefold() if found else ""
    return word in _LOOKING or word.removesuffix("s") in _LOOKING


class Documents:
    """The functions of the classes, as published; the tools of a choice of them are made once."""

    def __init__(self, functions: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        self.functions = functions
        self._tools: dict[tuple[tuple[str, ...], tuple[str, ...]], Tools] = {}

    def offered(self, row: Row) -> Tools:
        """The tools of the classes that a case involves, without those it excludes; those it withholds for a time too.

        Raises InputError where a class is not known, or its document is not there.
        """
        classes = tuple(
            each for each in field(row, "involved_classes", list, "names of classes") if isinstance(each, str)
        )
        excluded = row.value.get("excluded_function")
        without = tuple(each for each in excluded if isinstance(each, str)) if isinstance(excluded, list) else ()
        if (classes, without) not in self._tools:
            listed = [each for name in classes for each in self._of(name, row) if each.get("name") not in without]
            self._tools[classes, without] = tools_of(listed)
        return self._tools[classes, without]

    def _of(self, name: str, row: Row) -> Sequence[Mapping[str, Any]]:
        place: Any = {"file": row.file, "line": row.line, "field": "involved_classes"}
        if name not in DOCUMENTS:
            raise InputError("this class is not known", found=name, expected=" | ".join(DOCUMENTS), **place)
        if name not in self.functions:
            hint = "It stands beside the cases, in BFCL's data folder."
            raise InputError(f"needs multi_turn_func_doc/{DOCUMENTS[name]}.json", hint=hint, **place)
        return self.functions[name]


def multi_turn_case(category: str, row: Row, gold: Row | None, documents: Documents) -> Made:
    """The case of a row. Raises InputError where it is none of BFCL's, or a function document is not there."""
    identity = identity_of(row)
    questions = field(row, "question", list, "a list of turns, each a list of messages")
    tools = documents.offered(row)
    defects = [*schema_defects(tools)]
    listed = [] if gold is None else field(gold, "ground_truth", list, "a list of turns, each a list of calls")
    excluded = None
    if len(listed) != len(questions):
        defects.append(Defect("turns", f"{len(questions)} turns, and gold for {len(listed)}"))
        excluded = "the gold cannot be met: it has not the turns of the case"
    withheld = _withheld(row)
    by_name = {tool.name: tool for tool in tools.tools}
    looking = [tool.name for tool in tools.tools if looks_only(tool)]
    turns, prompt = [], ""
    for number, said in enumerate(questions):
        messages: tuple[Message, ...] = ()
        if said != []:
            before, prompt = messages_of(row, said, f"question[{number}]")
            messages = (*before, Message("user", prompt))
        calls: list[ExpectedCall] = []
        for text in listed[number] if number < len(listed) and isinstance(listed[number], list) else ():
            call = gold_call(text, by_name)
            if isinstance(call, Defect):
                defects.append(call)
                excluded = excluded or f"the gold cannot be met: {call.message}"
            else:
                calls.append(call)
                checked = checker_for(by_name[call.name].parameters).check(call.arguments.required_equals)
                if checked.valid is False:
                    defects.append(Defect("unpassable", f"{shown(text, 80)}: {checked.errors[0]['message']}"))
        free = tuple(name for name in looking if withheld.get(name, 0) <= number)
        turns.append(Turn(messages, tuple(calls), free))
    if not turns or not prompt:
        raise InputError(
            "this is no conversation", file=row.file, line=row.line, field="question", expected="words of a user"
        )
    wanted = tuple(call for turn in turns for call in turn.calls)
    found = tuple(dict.fromkeys(defects))
    about: dict[str, Any] = {"name": "bfcl", "category": category, "language": "python"}
    about |= {name: (gold or row).value.get(name, row.value.get(name)) for name in _PUBLISHED}
    if found:
        about |= {"defects": [{"kind": each.kind, "message": each.message} for each in found]}
    case = Case(
        id=identity,
        prompt=prompt,
        expected=ExpectTools(wanted) if wanted else ExpectNoCall(),
        tags=("multi-turn", "python", *dict.fromkeys(f"gold-defect:{each.kind}" for each in found)),
        family=family_of(identity),
        own_tools=tools.tools,
        turns=tuple(turns),
        item="positive",
        label="call",
        excluded=excluded,
        metadata={"benchmark": about},
    )
    return Made(case, found)


def _withheld(row: Row) -> dict[str, int]:
    """Function -> the turn with which it comes, from 0."""
    listed = row.value.get("missed_function")
    if not isinstance(listed, dict):
        return {}
    return {
        name: int(turn)
        for turn, names in listed.items()
        if turn.isdecimal() and len(turn) < 4 and isinstance(names, list)
        for name in names
        if isinstance(name, str)
    }


def gold_call(text: Any, tools: Mapping[str, Tool]) -> ExpectedCall | Defect:
    """A gold call as written, `mv(source='a', destination='b')`, or what is wrong with it. Never raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = ast.parse(text, mode="eval").body
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        return Defect("unreadable-call", f"{shown(text, 80)} is no call")
    if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return Defect("unreadable-call", f"{shown(text, 80)} is no call")
    name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
    if name not in tools:
        return Defect("unknown-function", f"{shown(name)!r} is not offered")
    declared = list(tools[name].parameters["properties"])
    given = [(declared[place] if place < len(declared) else None, node) for place, node in enumerate(call.args)]
    given += [(each.arg, each.value) for each in call.keywords]
    arguments: dict[str, Any] = {}
    for parameter, node in given:
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return Defect("unreadable-call", f"{shown(text, 80)}: an argument is no literal")
        if parameter not in declared:
            return Defect("undeclared-parameter", f"{shown(text, 80)}: {parameter!r} is no parameter of the function")
        arguments[str(parameter)] = _plain(value)
    return ExpectedCall(name, ArgumentRules(required_equals=arguments))


def _plain(value: Any) -> Any:
    """A Python literal as JSON has it."""
    if isinstance(value, (list, tuple, set)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)
