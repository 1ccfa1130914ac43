"""BFCL's own verdict on decoded calls: passed or not, its error type, and where its checker stops with an exception.

The `compatible` mode. It agrees with bfcl-eval 2026.3.23, faults included (`scripts/bfcl_parity.py` compares them), and
says nothing about what we think of the calls; that is callscope's own verdict. Not for multi-turn categories.

| category            | passed when                                                                              |
|---------------------|------------------------------------------------------------------------------------------|
| holds `irrelevance` | no calls were decoded, for whatever reason: prose, a server's error, a broken call       |
| holds `relevance`   | at least one call was decoded, any call                                                  |
| holds `parallel`    | as many calls as gold, and each gold call, in order, takes the first call left that fits |
| holds `multiple`    | as many calls as gold, and the first fits it                                             |
| anything else       | exactly one call, and it fits                                                            |

A call fits when it has the function's name (with `_` for `.` where the model's profile says so) and the required
parameters, no parameter that the schema or the gold does not know, every value of its declared type and among those
listed, and every parameter of the gold that may not be omitted.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from callscope.importers.bfcl.comparers import (
    compare_dict,
    compare_list,
    compare_list_of_dicts,
    compare_string,
    type_fault,
)
from callscope.importers.bfcl.decode import Decoded, in_format
from callscope.importers.bfcl.decoders import FAULTS, Language
from callscope.importers.bfcl.javavalues import JAVA_TYPES, java_value
from callscope.importers.bfcl.jsvalues import JAVASCRIPT_TYPES, javascript_value
from callscope.importers.bfcl.models import profile

__all__ = ["CompatVerdict", "check"]

_PYTHON_TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_TYPES = {"java": JAVA_TYPES, "javascript": JAVASCRIPT_TYPES, "python": _PYTHON_TYPES}
_WITH_ELEMENTS = {
    "java": ("Array", "ArrayList"),
    "javascript": ("array",),
    "python": ("array", "tuple"),
}


class CompatVerdict(Struct, frozen=True):
    """BFCL's verdict. passed: None where its checker stops with an exception, so that there is no verdict at all.

    error_type: BFCL's own, "" where passed or crashed. crashed: the exception as `KeyError: 'items'`, else None.
    """

    passed: bool | None
    error_type: str = ""
    crashed: str | None = None


def check(
    category: str,
    functions: Any,
    calls: Decoded | list[Any],
    possible_answer: Any,
    *,
    language: Language,
    model: str,
) -> CompatVerdict:
    """The verdict of BFCL's checker. Never raises on any JSON values.

    category: as in the file's name, `live_parallel_multiple`. functions: the case's `function`. calls: what `decode`
    gave, or a list handed to the checker as it is, as its own probes do. possible_answer: the gold's `ground_truth`,
    ignored for relevance and irrelevance. model: as in bfcl-eval, or its result folder's name.
    """
    if "relevance" in category:
        return _relevance("irrelevance" in category, calls)
    if isinstance(calls, Decoded) and calls.calls is None:
        return CompatVerdict(False, calls.fault)
    listed = list(calls.calls or ()) if isinstance(calls, Decoded) else calls
    try:
        fault = _Checker(language, profile(model).underscores).calls_fault(category, functions, listed, possible_answer)
    except FAULTS as error:
        return CompatVerdict(None, crashed=f"{type(error).__name__}: {error}")
    return CompatVerdict(not fault, fault)


def _relevance(wants_none: bool, calls: Decoded | list[Any]) -> CompatVerdict:
    listed = (calls.calls or ()) if isinstance(calls, Decoded) else (calls if in_format(calls) else ())
    if wants_none:
        return CompatVerdict(False, "irrelevance_error:decoder_success") if listed else CompatVerdict(True)
    return CompatVerdict(True) if listed else CompatVerdict(False, "relevance_error:decoder_failed")


class _Checker(Struct, frozen=True):
    """The rules for one language and one way of writing names. Each method returns an error type, "" for none."""

    language: Language
    underscores: bool

    def calls_fault(self, category: str, functions: Any, calls: Any, gold: Any) -> str:
        if "parallel" in category:
            return self._parallel(functions, calls, gold)
        if "multiple" in category:
            if len(calls) != len(gold):
                return "multiple_function_checker:wrong_count"
            return self._call(_function(functions, _gold_name(gold[0])), calls[0], gold[0])
        if len(calls) != 1:
            return "simple_function_checker:wrong_count"
        return self._call(functions[0], calls[0], gold[0])

    def _parallel(self, functions: Any, calls: Any, gold: Any) -> str:
        if len(calls) != len(gold):
            return "parallel_function_checker_no_order:wrong_count"
        left = list(range(len(calls)))
        for wanted in gold:
            function = _function(functions, _gold_name(wanted))
            # Greedy and in order: a call that two gold calls allow goes to the first (scoring-faults 21).
            taken = next((index for index in left if not self._call(function, calls[index], wanted)), None)
            if taken is None:
                return "parallel_function_checker_no_order:cannot_find_match"
            left.remove(taken)
        return ""

    def _call(self, function: Any, call: Any, gold: Any) -> str:
        listed = list(gold.values())[0]  # noqa: RUF015 - an empty gold must raise what it raises in BFCL
        name, parameters = function["name"], function["parameters"]["properties"]
        required = function["parameters"]["required"]
        if "." in name and self.underscores:
            name = name.replace(".", "_")
        if name not in call:
            return "simple_function_checker:wrong_func_name"
        arguments = call[name]
        if any(each not in arguments for each in required):
            return "simple_function_checker:missing_required"
        for parameter, value in arguments.items():
            if parameter not in parameters or parameter not in listed:
                return "simple_function_checker:unexpected_param"
            if fault := self._argument(parameters[parameter], value, listed[parameter]):
                return fault
        if any(each not in arguments and "" not in listed[each] for each in listed):
            return "simple_function_checker:missing_optional"
        return ""

    def _argument(self, schema: Any, value: Any, listed: Any) -> str:
        declared = schema["type"]
        outer, inner = _TYPES[self.language][declared], None
        if self.language != "python" and type(value) is not str:
            return "type_error:java" if self.language == "java" else "type_error:js"
        items = None
        if declared in _WITH_ELEMENTS[self.language]:
            items = schema["items"]["type"]
            inner = _TYPES[self.language][items]
        value = self._converted(value, declared, items)
        fault, variable = type_fault(value, listed, outer, inner)
        if fault:
            return fault
        if not variable:
            if outer is dict:
                return compare_dict(value, listed)
            if outer is list and inner is dict:
                return compare_list_of_dicts(value, listed)
            if outer is str:
                return compare_string(value, listed)
            if outer is list:
                return compare_list(value, listed)
        return "" if value in listed else "value_error:others"

    def _converted(self, value: Any, declared: str, items: str | None) -> Any:
        if self.language == "java":
            return java_value(value, declared, items)
        if self.language == "javascript":
            return javascript_value(value, declared, items)
        if declared == "tuple" and type(value) is tuple:
            return list(value)
        return float(value) if declared == "float" and type(value) is int else value


def _gold_name(gold: Any) -> Any:
    return list(gold.keys())[0]  # noqa: RUF015 - an empty gold must raise what it raises in BFCL


def _function(functions: Any, name: Any) -> Any:
    """The function of that name, None where there is none; an object is the one function itself."""
    if type(functions) is not list:
        return functions
    return next((each for each in functions if each["name"] == name), None)
