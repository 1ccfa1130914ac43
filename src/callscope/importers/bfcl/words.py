"""An outcome's calls under the names of a case's tools, and in JSON values where the case takes source text.

A provider was offered `math_f` for the published `math.f`, a prompt showed `math.f`: both mean the tool (scoring-faults
7). A name that is itself a tool's means that tool, so where two functions share a safe name nothing is guessed. Java
and JavaScript source is read by the declared types (`native`); what Python text or JSON holds stays as it is, a string
where a number is wanted too (8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from callscope.contract import Case, Outcome, ToolCall, ToolCalls
from callscope.importers.bfcl.native import native_value
from callscope.importers.bfcl.schemas import safe_names
from callscope.importers.bfcl.sourcetext import Tongue

__all__ = ["SOURCE_TEXT", "in_our_words", "published_names"]

_TONGUES: Mapping[str, Tongue] = {"java": "java", "javascript": "javascript"}
SOURCE_TEXT = "source_text"
"""Flag of an outcome whose calls were written as Java or JavaScript text: every value in it is source."""


def published_names(case: Case) -> dict[str, str]:
    """Tool name -> the function's name as published; empty where the case keeps no functions."""
    return {safe: name for name, safe in safe_names(list(_functions(case))).items()}


def _functions(case: Case) -> dict[str, Mapping[str, Any]]:
    """Published name -> function as published."""
    about = case.metadata.get("benchmark")
    listed = about.get("function") if isinstance(about, Mapping) else None
    functions = listed if isinstance(listed, list) else [listed]
    found: dict[str, Mapping[str, Any]] = {}
    for each in functions:
        if isinstance(each, Mapping) and isinstance(each.get("name"), str):
            found.setdefault(each["name"], each)
    return found


def in_our_words(outcome: Outcome, case: Case) -> Outcome:
    """The outcome with its calls under the names and in the value types of the case's tools. Total: never raises."""
    if not isinstance(outcome, ToolCalls):
        return outcome
    functions = _functions(case)
    safe = safe_names(list(functions))
    tools = {tool.name for tool in case.own_tools}
    about = case.metadata["benchmark"] if functions else {}
    tongue = _TONGUES.get(str(about.get("language")))
    source_text = SOURCE_TEXT in outcome.flags
    published = {tool: name for name, tool in safe.items()}
    calls: list[ToolCall] = []
    for call in outcome.calls:
        name = call.name if call.name in tools else safe.get(call.name, call.name)
        arguments = call.arguments
        if arguments is not None and tongue is not None and name in published:
            arguments = _native(arguments, functions[published[name]], tongue, source_text)
        calls.append(structs.replace(call, name=name, arguments=arguments))
    return structs.replace(outcome, calls=tuple(calls))


def _native(
    arguments: Mapping[str, Any],
    function: Mapping[str, Any],
    language: Tongue,
    source_text: bool,
) -> dict[str, Any]:
    """The arguments as JSON values. In source text a value may stand in quotes of its own (`x="5"`): prompts ask for
    values "in string representation". An argument of JSON is that representation already, and loses no more quotes."""
    parameters = function.get("parameters")
    declared = parameters.get("properties") if isinstance(parameters, Mapping) else None
    known = declared if isinstance(declared, Mapping) else {}
    read = dict(arguments)
    for name, value in arguments.items():
        about = known.get(name)
        if isinstance(about, Mapping):
            read[name] = native_value(value, about, language)
            if source_text and isinstance(value, str) and read[name] == value:
                inside = native_value(value, "String", language)
                read[name] = value if inside == value else native_value(inside, about, language)
    return read
