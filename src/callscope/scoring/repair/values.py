"""The repairs of values: each looks at one value and one objection of the schema, and proposes what it may have meant.

Pure, without a schema of their own. A proposal is only that: `arguments` keeps it where the schema takes it, and where
it is the only one. No rule maps by meaning (`fast` is not `express`), fills in a default, or wraps and splits values.

| repair                | objection            | proposal                                                           |
|-----------------------|----------------------|--------------------------------------------------------------------|
| unwrap_double_encoded | type array or object | what a string holds as JSON, or almost as JSON (`lenient`)          |
| scalar_type           | type, enum, const    | "5" as 5, "true" as true, "null" as null; 5 as "5". Leading zeros,  |
|                       |                      | signs and separators are kept: "02139" is no number                |
| enum_case             | enum, const          | the one allowed value equal but for case, outer space and quotes,   |
|                       |                      | a final full stop, and spaces, hyphens, underscores between words   |
| pattern_case          | pattern              | the text in upper case, or in lower case                            |
| unit_string           | type                 | `units`                                                             |
| drop_unknown          | additionalProperties | the object without the members the schema does not know             |
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any, NamedTuple

from callscope.jsontext import JsonFault, parse_json
from callscope.scoring.repair.lenient import lenient_value
from callscope.scoring.repair.units import About, in_named_unit

__all__ = ["VALUE_REPAIRS", "Objection", "Proposer"]


class Objection(NamedTuple):
    """What the schema objects to at a place: its keyword, the types, values or names that the keyword gives, and what
    the schema says the place is about."""

    keyword: str
    given: tuple[Any, ...]
    about: About


Proposer = Callable[[Any, Objection], list[Any]]

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,39})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,15}")
_BETWEEN = re.compile(r"(?<=[^\W_])[\s_\-]+(?=[^\W_])")


def unwrap(value: Any, objection: Objection) -> list[Any]:
    """What a string holds, where the schema wants an array or an object."""
    if objection.keyword != "type" or not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
        return []
    try:
        found, flags = parse_json(value)
    except JsonFault:
        text = value.strip()
        read = lenient_value(text)
        return [read[0]] if read is not None and read[1] == len(text) else []
    return [] if "duplicate_keys" in flags else [found]


def scalar_type(value: Any, objection: Objection) -> list[Any]:
    """The same scalar in the JSON type that the schema wants."""
    if objection.keyword not in ("type", "enum", "const"):
        return []
    if isinstance(value, str):
        return _literal(value.strip())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    text = str(value)
    return [text] if isinstance(value, int) or (_DECIMAL.fullmatch(text) and not value.is_integer()) else []


def _literal(text: str) -> list[Any]:
    lowered = text.lower()
    if lowered in ("true", "false"):
        return [lowered == "true"]
    if text == "null":
        return [None]
    if _INTEGER.fullmatch(text):
        return [int(text)]
    if not _DECIMAL.fullmatch(text) or len(text) > 17:
        return []
    number = float(text)
    return [int(number) if number.is_integer() else number]


def enum_case(value: Any, objection: Objection) -> list[Any]:
    """The allowed value that is spelled otherwise."""
    if objection.keyword not in ("enum", "const") or not isinstance(value, str):
        return []
    spelled = _spelled(value)
    found = {each for each in objection.given if spelled and isinstance(each, str) and _spelled(each) == spelled}
    return list(found) if len(found) == 1 else []


def _spelled(text: str) -> str:
    text = unicodedata.normalize("NFC", text).strip().strip("\"'`").strip()
    text = text.removesuffix(".") if text[:-1].isalnum() and not text[:-1].isdigit() else text
    return _BETWEEN.sub(_unless_digits, text).casefold()


def _unless_digits(gap: re.Match[str]) -> str:
    before, after = gap.string[gap.start() - 1], gap.string[gap.end()]
    return gap[0] if before.isdigit() and after.isdigit() else ""


def pattern_case(value: Any, objection: Objection) -> list[Any]:
    """The text in one case."""
    if objection.keyword != "pattern" or not isinstance(value, str):
        return []
    return [cased for cased in (value.upper(), value.lower()) if cased != value and len(cased) == len(value)]


def unit_string(value: Any, objection: Objection) -> list[Any]:
    """The number in the unit that the parameter names."""
    if objection.keyword != "type" or not {"number", "integer"} & set(objection.given):
        return []
    number = in_named_unit(value, objection.about)
    return [] if number is None else [number]


def drop_unknown(value: Any, objection: Objection) -> list[Any]:
    """The object without what the schema does not know."""
    # Not unevaluatedProperties: there a member may be unknown only because something else about it is wrong.
    if objection.keyword != "additionalProperties" or not isinstance(value, dict):
        return []
    known = {key: each for key, each in value.items() if key not in objection.given}
    return [known] if len(known) < len(value) else []


VALUE_REPAIRS: tuple[tuple[str, Proposer], ...] = (
    ("unwrap_double_encoded", unwrap),
    ("scalar_type", scalar_type),
    ("enum_case", enum_case),
    ("pattern_case", pattern_case),
    ("unit_string", unit_string),
    ("drop_unknown", drop_unknown),
)
"""Repair name -> proposer, in the order in which they are tried at each turn."""
