"""BFCL's possible answers as rules for arguments, with what is wrong in them.

| published                                          | rule                                                            |
|----------------------------------------------------|-----------------------------------------------------------------|
| `"x": [v]`                                         | x equals v                                                      |
| `"x": [v, w]`                                      | x is one of them                                                |
| `""` listed, x not required                        | x may be absent; a literal `""` is not meant by it              |
| `""` listed, x required                            | nothing: x must be there (`required-may-be-omitted`)            |
| `{"k": [v, ""]}` for an object                     | an object with k, one of v, or without k; no other keys         |
| the same, where the object's schema requires k     | with k (`required-may-be-omitted`)                              |
| a key that is not required and declares a default  | may be absent where the default would do, and may state it      |
| a list with such objects in it                     | a list of that length, place by place                           |
| an object below the first level                    | likewise, or literally, as BFCL compares it                     |
| a list under a key whose schema declares an array  | the array itself, or what may stand there                       |
| a value of another type than declared              | it, and it in the declared type where nothing is lost           |
| the same and it is text                            | it, as the name of a variable                                   |
| text under `any` in Java and JavaScript            | it, and the number, boolean or null that it spells              |
| a number, boolean, null under `any` there          | it, and the text that spells it: values are source text there   |
| text in quotes of its own there                    | it, and the text between: as source it is a literal of that     |
| one unit of several, not asked for (`_narrow`)     | each of the units                                               |
| a parameter whose name or description says a time  | as above, and its errors are temporal                           |
| a parameter of which the gold does not speak       | it must be absent, or have its declared default                 |

Strings are folded (`text: folded`), as the gold was written for a folding checker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from callscope.contract import ArgumentRules, Pattern, PatternArray, PatternKey, PatternObject, PatternValue, Tool
from callscope.errors import shown
from callscope.importers.bfcl.defects import Defect
from callscope.importers.bfcl.schemas import Loosening, conforms, in_type, json_type, loosened_schema
from callscope.jsontext import JsonFault, dump_faithful, parse_json
from callscope.scoring.equality import compare_pattern, compare_values
from callscope.scoring.validators import checker_for

__all__ = ["GoldRules", "example", "gold_rules"]

MAY_OMIT = ""
"""What a list of values holds to say that the parameter may be left out."""

_UNITS = frozenset({"celsius", "fahrenheit", "kelvin", "metric", "imperial", "standard"})
_NAMES_A_UNIT = re.compile(
    r"celsi|centigrad|fahr|kelvin|metric|imperial|degree|°|\b[cf]\b|摄氏|華氏|华氏|攝氏|公制|英制|섭씨|화씨|미터법",
    re.IGNORECASE,
)


_QUOTES = frozenset("\"'`")
_SAYS_TIME = re.compile(
    r"\b(?:date|dates|time|datetime|timestamp|duration|deadline|birthday|day|month|year)\b", re.IGNORECASE
)


class GoldRules(NamedTuple):
    """The rules of one gold call. `loosened`: parameters whose schemas must give way for the gold to be met.
    `impossible`: why no call can meet both the gold and the function's declaration, None where one can."""

    rules: ArgumentRules
    defects: tuple[Defect, ...]
    loosened: Mapping[str, Loosening]
    impossible: str | None


class _Listed(NamedTuple):
    """A parameter as the gold has it: its values without "", whether it may be absent, what is declared of it."""

    name: str
    values: list[Any]
    may_omit: bool
    published: Mapping[str, Any]
    schema: Mapping[str, Any]


def gold_rules(
    listed: Mapping[str, Any], function: Mapping[str, Any], tool: Tool, *, source_text: bool, prompt: str
) -> GoldRules:
    """The rules of one gold call.

    Args:
        listed: parameter -> the values that may stand there, as published.
        function: the function as published.
        tool: the tool made of it.
        source_text: whether values are Java or JavaScript source.
        prompt: the user's words.
    """
    defects: list[Defect] = []
    impossible: list[str] = []
    published = _properties(function.get("parameters"))
    declared = _properties(tool.parameters)
    required = tool.parameters.get("required", [])
    for name in (each for each in required if each not in listed):
        message = f"{name!r} is required, and the gold does not list it"
        impossible.append(_found(defects, "unlisted-required", message))
    parameters: list[_Listed] = []
    for name, values in listed.items():
        one = _one(name, values, name in required, published, declared, defects, impossible)
        if one is not None:
            parameters.append(one)
    rules = _Rules(source_text, prompt, defects)
    for one in parameters:
        rules.add(one)
    return GoldRules(rules.made(), tuple(defects), rules.loosened, impossible[0] if impossible else None)


def _properties(schema: Any) -> Mapping[str, Any]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _found(defects: list[Defect], kind: str, message: str) -> str:
    defects.append(Defect(kind, message))
    return message


def _one(
    name: str,
    values: Any,
    required: bool,
    published: Mapping[str, Any],
    declared: Mapping[str, Any],
    defects: list[Defect],
    impossible: list[str],
) -> _Listed | None:
    """A parameter of the gold, or None where no rule comes of it."""
    written = values if isinstance(values, list) else [values]
    if not written and name in declared and _type_of(declared[name])[0] == "array":
        _found(defects, "no-values", f"for {name!r} the gold lists no value; the empty array is taken to be meant")
        written = [[]]
    kept = [value for value in written if not (isinstance(value, str) and value == MAY_OMIT)]
    may_omit = len(kept) < len(written)
    if name not in declared:
        message = _found(defects, "undeclared-parameter", f"{name!r} is no parameter of the function")
        if not may_omit:
            impossible.append(message)
        return None
    if may_omit and required:
        _found(defects, "required-may-be-omitted", f"{name!r} is required, and the gold lets it be omitted")
        may_omit = False
    if not kept and not may_omit:
        what = "only lets be omitted what is required" if written else "lists no value"
        impossible.append(_found(defects, "no-values", f"for {name!r} the gold {what}"))
        return None
    about = published.get(name)
    return _Listed(name, kept, may_omit, about if isinstance(about, Mapping) else {}, declared[name])


class _Rules:
    """The rules of a call, parameter by parameter."""

    def __init__(self, source_text: bool, prompt: str, defects: list[Defect]) -> None:
        self.source_text, self.prompt, self.defects = source_text, prompt, defects
        self.equals: dict[str, Any] = {}
        self.one_of: dict[str, tuple[Any, ...]] = {}
        self.patterns: dict[str, tuple[Pattern, ...]] = {}
        self.optional: list[str] = []
        self.temporal: list[str] = []
        self.loosened: dict[str, Loosening] = {}

    def made(self) -> ArgumentRules:
        return ArgumentRules(
            required_equals=self.equals,
            one_of=self.one_of,
            patterns=self.patterns,
            optional=tuple(self.optional),
            temporal=tuple(self.temporal),
            text="folded",
        )

    def add(self, one: _Listed) -> None:
        if not one.values:
            return
        values = self._in_declared_type(one)
        values = self._narrow(one, values)
        unwrapped = json_type(one.published.get("type")) == "object"
        found = [pattern for value in values for pattern in _patterns(value, one.schema, unwrapped)]
        for key in dict.fromkeys(key for value in values for key in _omitted_required(value, one.schema)):
            self._found(
                "required-may-be-omitted", f"{key!r} in {one.name!r} is required, and the gold lets it be omitted"
            )
        if one.may_omit:
            self.optional.append(one.name)
        if _says_time(one):
            self.temporal.append(one.name)
        if not all(isinstance(pattern, PatternValue) for pattern in found):
            self.patterns[one.name] = tuple(found)
        elif len(values) == 1 and not one.may_omit:
            self.equals[one.name] = values[0]
        else:
            self.one_of[one.name] = tuple(values)
        self._lint(one, found)

    def _in_declared_type(self, one: _Listed) -> list[Any]:
        """The values, and those of another type in the declared one where nothing is lost."""
        declared, nullable = _type_of(one.schema)
        if self.source_text and declared in (None, "string"):
            spelled = [said for value in one.values for said in _spelled(value, text=declared is not None)]
            one = one._replace(values=[*one.values, *spelled])
        if declared is None:
            return one.values
        others = [each for each in one.values if not conforms(each, declared) and not (each is None and nullable)]
        if not others:
            return one.values
        said = [each for value in others for each in in_type(value, declared)]
        named = not said and not one.may_omit and all(isinstance(each, str) for each in others)
        if named and len(others) == len(one.values):
            self.loosened[one.name] = "name"
            self._found("variable", f"{one.name!r} is {declared}, and the gold names {shown(others[0], 40)!r}")
        else:
            self._found("other-type", f"{one.name!r} is {declared}, and the gold lists {shown(others[0], 40)}")
        return [*one.values, *said]

    def _narrow(self, one: _Listed, values: list[Any]) -> list[Any]:
        """All units for one, where the gold lets the unit be omitted, and the user's words name none: the choice is
        then not the user's, and any unit answers the question (scoring-faults 16)."""
        members = one.schema.get("enum")
        if not one.may_omit or not isinstance(members, list) or not all(isinstance(each, str) for each in members):
            return values
        if not {each.casefold() for each in members} <= _UNITS or _NAMES_A_UNIT.search(self.prompt):
            return values
        rest = [each for each in members if not any(_same(value, each) for value in values)]
        if len(members) - len(rest) != 1:
            return values
        self._found("narrow-unit", f"{one.name!r} lists {shown(values[0], 40)!r} alone, and nobody asked for a unit")
        return [*values, *rest]

    def _lint(self, one: _Listed, found: Sequence[Pattern]) -> None:
        members = _members(one.schema)
        outside = [value for value in one.values for each in _elements(value) if members and not _within(each, members)]
        if one.name in self.loosened:
            return
        if outside:
            self._found("outside-enum", f"{one.name!r} lists {shown(outside[0], 40)}, which its enum does not hold")
        if one.may_omit:
            return
        possible = [example(pattern) for pattern in found]
        possible += [each for each in members or () for value in possible if _same(value, each)]
        if _kept(one.schema, possible):
            return
        if _kept(loosened_schema(dict(one.schema), "inside"), possible):
            self.loosened[one.name] = "inside"
            self._found("other-type", f"{one.name!r} holds other types than its schema says: {shown(possible[0], 60)}")
        else:
            self._found("unpassable", f"no value listed for {one.name!r} keeps its schema")

    def _found(self, kind: str, message: str) -> None:
        self.defects.append(Defect(kind, message))


def _says_time(one: _Listed) -> bool:
    """Whether a parameter states a date, time or duration, by its name or the first words of its description."""
    about = one.published.get("description")
    first = about[:60] if isinstance(about, str) else ""
    name = re.sub("([a-z])([A-Z])", r"\1 \2", one.name)
    words = f"{name} {first}"
    return _SAYS_TIME.search(words.replace("_", " ")) is not None


def _type_of(schema: Mapping[str, Any]) -> tuple[str | None, bool]:
    """The JSON type of a tool's parameter, None for any, and whether null may stand beside it."""
    declared = schema.get("type")
    listed = declared if isinstance(declared, list) else [declared]
    kinds = [each for each in listed if each != "null"]
    return (kinds[0] if len(kinds) == 1 and isinstance(kinds[0], str) else None), "null" in listed


def _kept(schema: Any, values: Sequence[Any]) -> bool:
    """Whether one of the values keeps the schema, or the schema cannot say."""
    checker = checker_for(schema)
    return checker.problem is not None or any(checker.check(value).valid is not False for value in values)


def _same(expected: Any, actual: Any) -> bool:
    return compare_values(expected, actual, folded=True).result != "wrong"


def _spelled(value: Any, *, text: bool) -> Iterator[Any]:
    """What else a value is where values are source text: of text in quotes the text between; unless `text` is declared
    the number, boolean or null that a text spells, and the text that spells one of these."""
    if isinstance(value, str):
        if len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES and not {value[0], "\\"} & set(value[1:-1]):
            yield value[1:-1]
        try:
            said = None if text else parse_json(value).value
        except JsonFault:
            return
        if not text and (said is None or isinstance(said, (bool, int, float))):
            yield said
    elif not text and (value is None or isinstance(value, (bool, int, float))):
        yield dump_faithful(value).decode()


def _members(schema: Mapping[str, Any]) -> list[Any] | None:
    """The enum of a parameter, or of the elements of an array."""
    items = schema.get("items")
    found = schema.get("enum", items.get("enum") if isinstance(items, Mapping) else None)
    return found if isinstance(found, list) and found else None


def _elements(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else (value,)


def _within(value: Any, members: Sequence[Any]) -> bool:
    return any(_same(member, value) or str(member) == str(value) for member in members)


def _patterns(value: Any, schema: Any, unwrapped: bool) -> tuple[Pattern, ...]:
    """What a listed value may be met by. `unwrapped`: BFCL itself takes the lists in an object here as choices."""
    if isinstance(value, dict):
        chosen = PatternObject(_keys(value, schema))
        literal = unwrapped or not any(isinstance(each, list) for each in value.values())
        return (chosen,) if literal else (chosen, PatternValue(value))
    if isinstance(value, list) and _holds_object(value):
        items = schema.get("items") if isinstance(schema, Mapping) else None
        return (PatternArray(tuple(_patterns(each, items, True) for each in value)),)
    declared = json_type(schema.get("type")) if isinstance(schema, Mapping) else None
    said = () if conforms(value, declared) else in_type(value, declared)
    return (PatternValue(value), *(PatternValue(each) for each in said))


def _holds_object(value: list[Any]) -> bool:
    return any(isinstance(each, dict) or (isinstance(each, list) and _holds_object(each)) for each in value)


def _required(schema: Any) -> Sequence[Any]:
    listed = schema.get("required") if isinstance(schema, Mapping) else None
    return listed if isinstance(listed, list) else ()


def _keys(value: Mapping[str, Any], schema: Any) -> dict[str, PatternKey]:
    """The keys of an object: those listed, and those that would only state their default."""
    properties, required = _properties(schema), _required(schema)
    keys = {name: _key(listed, properties.get(name), name in required) for name, listed in value.items()}
    for name, declared in properties.items():
        if name not in value and name not in required and isinstance(declared, Mapping) and "default" in declared:
            keys[name] = PatternKey((PatternValue(declared["default"]),), optional=True)
    return keys


def _key(listed: Any, schema: Any, required: bool) -> PatternKey:
    choices: list[Pattern] = []
    kept, may_omit = [listed], False
    if isinstance(listed, list):
        kept = [each for each in listed if not (isinstance(each, str) and each == MAY_OMIT)]
        may_omit = len(kept) < len(listed)
        required = required and bool(kept)  # where nothing but "may be omitted" is listed, that is what is right
    choices += [pattern for each in kept for pattern in _patterns(each, schema, False)]
    if isinstance(listed, list):
        declared = json_type(schema.get("type")) if isinstance(schema, Mapping) else None
        if not listed or (declared == "array" and not all(isinstance(each, list) for each in kept)):
            choices += _patterns(listed, schema, False)
    if not may_omit and isinstance(schema, Mapping) and "default" in schema:
        default = schema["default"]
        may_omit = any(compare_pattern(each, default, folded=True).result != "wrong" for each in choices)
    return PatternKey(tuple(choices), optional=may_omit and not required)


def _omitted_required(value: Any, schema: Any) -> Iterator[str]:
    """The keys in a value that the gold lets be omitted, and the schema does not."""
    if isinstance(value, dict):
        properties, required = _properties(schema), _required(schema)
        for name, listed in value.items():
            values = listed if isinstance(listed, list) else [listed]
            if name in required and any(isinstance(each, str) and each == MAY_OMIT for each in values):
                yield name
            for each in values:
                yield from _omitted_required(each, properties.get(name))
    elif isinstance(value, list):
        items = schema.get("items") if isinstance(schema, Mapping) else None
        for each in value:
            yield from _omitted_required(each, items)


def example(pattern: Pattern) -> Any:
    """A value that meets a pattern: its first alternatives, without the keys that may be absent."""
    if isinstance(pattern, PatternValue):
        return pattern.value
    if isinstance(pattern, PatternArray):
        return [example(one_of[0]) for one_of in pattern.items if one_of]
    return {name: example(key.one_of[0]) for name, key in pattern.keys.items() if key.one_of and not key.optional}
