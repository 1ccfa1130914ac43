"""BFCL's rules for one argument: has it the declared type, and is it one of the listed values.

Its rules, with its gaps; ours are in `callscope.scoring`. Every function returns BFCL's error type, "" where nothing is
wrong, and lets through what Python raises on gold or schemas of another shape: there BFCL's checker stops too.

| compared         | equal when                                                                                |
|------------------|-------------------------------------------------------------------------------------------|
| strings          | equal without ` ,./-_*^`, in lower case, with `'` as `"`: `-5` is `5`, `/a/bc` is `/ab/c` |
| lists            | equal in order, strings in them folded so on the first level                              |
| objects          | the same keys but those that may be omitted; each value listed, strings folded            |
| lists of objects | as long, and object by object in order                                                    |
| anything else    | `==` of Python, so `True` is `1`                                                          |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["compare_dict", "compare_list", "compare_list_of_dicts", "compare_string", "type_fault"]

_FOLDED = str.maketrans("'", '"', " ,./-_*^")


def _fold(value: Any) -> Any:
    """A string as BFCL compares it; anything else as it is."""
    return value.translate(_FOLDED).lower() if type(value) is str else value


def _items(listed: Any) -> list[Any]:
    # By index, as BFCL goes through them: gold that is an object or a number must raise as it does there.
    return [listed[index] for index in range(len(listed))]


def type_fault(value: Any, listed: Any, outer: type, inner: type | None) -> tuple[str, bool]:
    """(error type, whether the value stands for a variable) of a value whose declared type is `outer`.

    listed: the gold's values for the parameter. inner: the type of the elements of a list, else None.

    | value                                      | gold's first value that is not "" | result              |
    |--------------------------------------------|-----------------------------------|---------------------|
    | of the declared type, no elements declared | of the declared type, or none     | right               |
    | the same                                   | of another type                   | right, a variable   |
    | a list, elements fit one listed list, or a | likewise                          | right, and likewise |
    | listed value is no list                    |                                   |                     |
    | a list, elements fit no listed list        | a list                            | `type_error:nested` |
    | of another type                            | of that same type                 | right, a variable   |
    | of another type                            | of a third type, or none          | `type_error:simple` |
    """
    gold = next((type(each) for each in listed if each != ""), None)
    fault = ""
    if type(value) is outer:
        if inner is None or any(_elements_fit(value, each, inner) for each in listed):
            return "", gold is not None and gold is not outer
        fault = "type_error:nested"
    if gold is not None and type(value) is gold:
        return fault, True
    return "type_error:simple", False


def _elements_fit(value: Any, listed: Any, inner: type) -> bool:
    return type(listed) is not list or all(not type_fault(each, listed, inner, None)[0] for each in value)


def compare_string(value: Any, listed: Any) -> str:
    """`value_error:string` unless the string is one of those listed."""
    return "" if _fold(value) in [_fold(each) for each in _items(listed) if type(each) is str] else "value_error:string"


def compare_list(value: Any, listed: Any) -> str:
    """`value_error:list/tuple` unless the list is one of those listed."""
    wanted = [[_fold(each) for each in _items(one)] for one in _items(listed)]
    return "" if [_fold(each) for each in value] in wanted else "value_error:list/tuple"


def compare_dict(value: Any, listed: Any) -> str:
    """The error type of the last listed object when none fits: `value_error:dict_key`, `value_error:dict_value`, or
    `dict_checker:unclear` where only "" is listed."""
    fault = "dict_checker:unclear"
    for wanted in _items(listed):
        if wanted == "":
            continue
        fault = _wrong_member(value, wanted)
        if any(key not in value and "" not in allowed for key, allowed in wanted.items()):
            fault = "value_error:dict_key"
        if not fault:
            return ""
    return fault


def _wrong_member(value: Any, wanted: Any) -> str:
    for key, member in value.items():
        if key not in wanted:
            return "value_error:dict_key"
        if _fold(member) not in [_fold(each) for each in _items(wanted[key])]:
            return "value_error:dict_value"
    return ""


def compare_list_of_dicts(value: Any, listed: Any) -> str:
    """The error type of the last listed list when none fits: `value_error:list_dict_count`, or that of its first
    object that does not fit."""
    fault = "list_dict_checker:unclear"
    for wanted in _items(listed):
        if len(value) != len(wanted):
            fault = "value_error:list_dict_count"
            continue
        fault = _first(value, wanted)
        if not fault:
            return ""
    return fault


def _first(value: Sequence[Any], wanted: Any) -> str:
    for index in range(len(value)):
        if fault := compare_dict(value[index], [wanted[index]]):
            return fault
    return ""
