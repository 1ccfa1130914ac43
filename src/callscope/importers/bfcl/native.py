"""What an argument of a Java or JavaScript function is as a JSON value, by its declared type.

BFCL asks for source text in these categories (`"new ArrayList<>(Arrays.asList(1, 2))"`, `"5L"`); a model with a JSON
API may as well give the value itself. Both are taken (gorilla#516): a value that is no string stays as it is, and text
is read by the language's grammar, never by patterns. Not for BFCL's own conversion (`javavalues`, `jsvalues`).

| declared type                       | text                                         | value                       |
|-------------------------------------|----------------------------------------------|-----------------------------|
| String, char                        | `"x"`, `'x'`, with escapes                   | the string between          |
|                                     | any other                                    | the text                    |
| byte, short, integer, long, Bigint, | a number in any of the language's forms,     | the number; for float and   |
| float, double                       | `5L`, `5n`, `1_000`, `0x1F`, `1.5f`          | double always a float       |
| boolean, Boolean                    | `true`, `false`, `Boolean.TRUE`              | the boolean                 |
| Array, ArrayList, List, Set, Queue, | `new T[]{…}`, `List.of(…)`, `[…]`,           | the array; its elements by  |
| Stack, array                        | `Arrays.asList(…)`, `new ArrayList<>(…)`,    | the type of `items`         |
|                                     | `new ArrayList<>() {{ add(…); }}`, and kin   |                             |
| HashMap, Hashtable, Map, dict       | `Map.of(…)`, `new HashMap<>() {{ put(); }}`, | the object                  |
|                                     | `{k: v}`, `new Map([[k, v]])`, and kin       |                             |
| any                                 | `"x"`                                        | the string between          |
| any of these                        | anything else, a variable among it           | the text, so that gold that |
|                                     |                                              | names a variable can match  |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from callscope.importers.bfcl.literals import literal
from callscope.importers.bfcl.sourcetext import Tongue

__all__ = ["native_value"]

_STRINGS = frozenset({"String", "string", "char", "Character"})
_WHOLE = frozenset(
    {"byte", "short", "integer", "int", "Integer", "long", "Long", "Bigint", "BigInt", "number", "Number"}
)
_REAL = frozenset({"float", "Float", "double", "Double"})
_TRUTH = frozenset({"boolean", "Boolean", "bool"})
_LISTS = frozenset({"Array", "ArrayList", "List", "Set", "Queue", "Stack", "array", "list", "tuple"})
_MAPS = frozenset({"HashMap", "Hashtable", "Map", "dict", "object"})


def native_value(value: Any, declared: str | Mapping[str, Any], language: Tongue) -> Any:
    """`value`, source text or JSON, as a JSON value of the declared type; what cannot be read as such is unchanged.

    declared: BFCL's name of the type, or the parameter's whole document, whose `items` and `properties` then count.
    Never raises.
    """
    document: Mapping[str, Any] = {"type": declared} if isinstance(declared, str) else declared
    kind = document.get("type")
    if isinstance(value, str):
        return _from_text(value, kind if isinstance(kind, str) else "any", document, language)
    return _inside(value, document, language)


def _from_text(text: str, kind: str, document: Mapping[str, Any], language: Tongue) -> Any:
    found = _parsed(text, kind, language)
    if kind in _STRINGS or kind == "any":
        return found if isinstance(found, str) else text
    if kind in _TRUTH:
        return found if isinstance(found, bool) else text
    if kind in _WHOLE or kind in _REAL:
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            return text
        return _real(found) if kind in _REAL else found
    if (kind in _LISTS and isinstance(found, list)) or (kind in _MAPS and isinstance(found, dict)):
        return _inside(found, document, language, read=True)
    return text


def _real(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return number


def _parsed(text: str, kind: str, language: Tongue) -> Any:
    if kind in _LISTS | _MAPS and text.lstrip()[:1] in {"[", "{"}:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    return literal(text, language)


def _inside(value: Any, document: Mapping[str, Any], language: Tongue, *, read: bool = False) -> Any:
    """A list or object with its elements by their declared types. read: the text of the whole was read already, so
    that a string in it is a string and no source text."""
    items, properties = document.get("items"), document.get("properties")
    if isinstance(value, list) and isinstance(items, Mapping):
        return [_member(each, items, language, read=read) for each in value]
    if isinstance(value, dict) and isinstance(properties, Mapping):
        return {key: _member(each, properties.get(key), language, read=read) for key, each in value.items()}
    return value


def _member(value: Any, document: Any, language: Tongue, *, read: bool) -> Any:
    if not isinstance(document, Mapping):
        return value
    if isinstance(value, str):
        return value if read else native_value(value, document, language)
    if read and isinstance(value, int) and not isinstance(value, bool) and document.get("type") in _REAL:
        return _real(value)
    return _inside(value, document, language, read=read)
