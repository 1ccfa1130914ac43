"""Java source text to a value, by the patterns that BFCL's checker looks for. Kept with its gaps, for its verdict.

Not for our own verdict; that reads Java by its grammar (`native`). What matches no pattern stays the text it was.

| declared type          | pattern                                       | value                              |
|------------------------|-----------------------------------------------|------------------------------------|
| byte, short, integer   | `-5`                                          | int                                |
| long                   | `5L`, never `5`                               | int                                |
| float                  | `5.0f`, never `5.0`                           | float                              |
| double                 | `5.0`, `5`, `5e3`                             | float                              |
| boolean                | `true`, `false`                               | bool                               |
| ArrayList              | `new ArrayList<>(Arrays.asList(…))`, the same | list, split at every comma, inside |
|                        | `<>() {{ add(…); }}`, `new ArrayList<>()`     | strings too; `List.of(…)` is text  |
| Array                  | `new T[]{…}`                                  | list, likewise                     |
| HashMap                | `new HashMap<>() {{ put("k", v); }}`          | dict                               |
| String, any, char      | anything                                      | the text                           |
| Set, Hashtable, Queue, |                                               | the checker stops                  |
| Stack                  |                                               |                                    |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

__all__ = ["JAVA_TYPES", "java_value"]

JAVA_TYPES: dict[str, type] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
    **dict.fromkeys(("HashMap", "Hashtable"), dict),
    **dict.fromkeys(("char", "String", "any"), str),
    "boolean": bool,
    "Set": set,
}
"""The Python type that each declared type is compared as."""

_INTEGER = re.compile(r"-?\d+$")
_LONG = re.compile(r"-?\d+[lL]$")
_DOUBLE = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$")
_FLOAT = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[fF]$")
_SUFFIX = re.compile(r"[lLfF]$")

_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\(")
_ADDING = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{(?P<space>\s*)")
_ADD = re.compile(r"add\((.+?)\)")
_NEW_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_NEW_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{(?P<items>.*?)\}")
_MAP_TYPE = re.compile(r"new\s+HashMap<")
_NEW_MAP = re.compile(r">\s*\(\)")
_PUTTING = re.compile(r">\s*\(\)\s*\{\s*\{?\s*")
_PUT = re.compile(r"put\(\"(?P<key>.*?)\",\s*(?P<value>.*?)\)")


def java_value(text: str, declared: str, items: str | None = None) -> Any:
    """The value of `text` for a parameter of type `declared` (a key of JAVA_TYPES), `items` the type of its elements.

    Raises NotImplementedError for Set, Hashtable, Queue and Stack, ValueError where digits are too many for an int.
    """
    match declared:
        case "byte" | "short" | "integer":
            return int(text) if _INTEGER.match(text) else text
        case "long":
            return int(_SUFFIX.sub("", text)) if _LONG.match(text) else text
        case "float":
            return float(_SUFFIX.sub("", text)) if _FLOAT.match(text) else text
        case "double":
            return float(text) if _DOUBLE.match(text) else text
        case "boolean":
            return text == "true" if text in {"true", "false"} else text
        case "ArrayList":
            return _array_list(text, items)
        case "Array":
            return _array(text, items)
        case "HashMap":
            return _map(text)
        case "Set" | "Hashtable":
            raise NotImplementedError("Set conversion is not implemented")
        case "Queue" | "Stack":
            raise NotImplementedError(f"{declared} conversion is not implemented")
    return text


# The bodies of collections are found step by step: as one pattern each, which is how BFCL finds them, they take time
# that grows with the third or fourth power of the spaces in the text.


def _array_list(text: str, items: str | None) -> Any:
    listed = next(filter(None, (_listed(text, each.end()) for each in _AS_LIST.finditer(text))), None)
    if listed is not None:
        return [_element(each.strip(), items) for each in listed.split(",")]
    body = _adding(text)
    if body is not None:
        return [_element(each.strip(), items) for each in _ADD.findall(body)]
    return [] if _NEW_LIST.search(text) else text


def _listed(text: str, start: int) -> str | None:
    """What stands before the first `))`, at least one character and all on one line."""
    end = text.find("))", start + 1)
    return text[start:end] if end >= 0 and "\n" not in text[start:end] else None


def _adding(text: str) -> str | None:
    """What stands in the double braces of a list, at least one character."""
    begin = _ADDING.search(text)
    if begin is None:
        return None
    start = begin.end()
    end = text.find("}}", start + 1)
    if end < 0 and begin["space"] and text.startswith("}}", start):
        start, end = start - 1, start  # nothing but space: one of it is the body
    return None if end < 0 else text[start] + text[start + 1 : end].rstrip()


def _element(text: str, items: str | None) -> Any:
    """An element of a list; of a string or character its first and last letter go, whatever they are."""
    return text[1:-1] if items in {"char", "String"} else _of_type(items)(text)


def _array(text: str, items: str | None) -> Any:
    listed = _NEW_ARRAY.search(text)
    if listed is None:
        return text
    # Unlike in an ArrayList, the quotes of strings stay; gold for such arrays can then never be met.
    return [_of_type(items)(each.strip()) for each in listed["items"].split(",") if each.strip()]


def _of_type(items: str | None) -> Callable[[str], Any]:
    return _untyped if not items else lambda text: java_value(text, items)


def _map(text: str) -> Any:
    created = _MAP_TYPE.search(text)
    if created is None:
        return text
    begin = _PUTTING.search(text, created.end())
    end = text.find("}", begin.end()) if begin is not None else -1
    if begin is not None and end >= 0:
        body = text[begin.end() : end].rstrip()
        return {put["key"]: _untyped(put["value"].strip()) for put in _PUT.finditer(body)}
    return {} if any(_empty_map(text, each.end()) for each in _MAP_TYPE.finditer(text)) else text


def _empty_map(text: str, start: int) -> bool:
    """Whether the types of a map that begin at `start` end, on one line, in `>()`."""
    end = _NEW_MAP.search(text, start)
    return end is not None and "\n" not in text[start : end.start()]


def _untyped(text: str) -> Any:
    if text in {"true", "false"}:
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(_SUFFIX.sub("", text))
    if _FLOAT.match(text):
        return float(_SUFFIX.sub("", text))
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
