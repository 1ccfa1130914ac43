"""Configuration text as plain values and the line of each field: TOML, YAML or JSON, with nothing silently lost.

Repeated keys, YAML aliases and tags, and values that no JSON can carry (dates, NaN, half a surrogate pair) are refused
with their line. YAML scalars are read by the core schema of YAML 1.2, so `no` and `010` stay what they look like.
What the fields mean is `config`.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from callscope.errors import InputError
from callscope.jsontext import JsonFault, escape_surrogates, parse_json
from callscope.suites.places import json_places

__all__ = ["Written", "read_written", "to_snake"]

_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_DEEPEST = 100
_LARGEST = 2**64
_Path = tuple[str | int, ...]


class Written(NamedTuple):
    """A value, and the line of each of its fields by dotted path, names in snake_case."""

    value: Any
    lines: dict[str, int]

    def line_of(self, field: str | None) -> int | None:
        """The line of a field, else that of the nearest table around it."""
        name = to_snake(field or "")
        while name and name not in self.lines:
            name = name[: max(name.rfind("."), name.rfind("["), 0)]
        return self.lines.get(name)


def to_snake(name: str) -> str:
    """`timeoutMs` as `timeout_ms`."""
    return _CAMEL.sub(r"_\1", name).lower()


def read_written(text: str, suffix: str) -> Written:
    """Read the text of a `.toml`, `.yaml`, `.yml` or `.json` file. Raises InputError with the line and nothing else."""
    readers = {".toml": _read_toml, ".yaml": _read_yaml, ".yml": _read_yaml, ".json": _read_json}
    if suffix not in readers:
        raise InputError("unknown kind of file", found=suffix or "no suffix", expected=".toml, .yaml, .yml or .json")
    try:
        written = readers[suffix](text)
    except RecursionError:
        raise InputError("is nested too deeply") from None
    try:
        _check_plain(written.value, (), 0)
    except InputError as error:
        raise error.at(line=written.line_of(error.field)) from None
    return written


def _field(path: _Path) -> str:
    return "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path).removeprefix(".")


def _check_plain(value: Any, path: _Path, depth: int) -> None:
    if depth > _DEEPEST:
        raise InputError("is nested too deeply", field=_field(path[:1]))
    if isinstance(value, dict):
        for name, item in value.items():
            _check_plain(name, (*path, escape_surrogates(name)), depth)
            _check_plain(item, (*path, name), depth + 1)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check_plain(item, (*path, place), depth + 1)
    elif isinstance(value, str):
        if escape_surrogates(value) != value:
            raise InputError("holds half of a surrogate pair, which cannot be sent", field=_field(path))
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InputError("is no finite number", field=_field(path), found=value)
    elif isinstance(value, int):
        if abs(value) > _LARGEST:
            raise InputError("is too large a number", field=_field(path))
    elif value is not None:
        kind = type(value).__name__
        raise InputError("is no JSON value", field=_field(path), found=f"a {kind}", hint="Put it in quotes")


# ------------------------------------------------------------------------------------------------------------- JSON


def _read_json(text: str) -> Written:
    try:
        value, flags = parse_json(text)
    except JsonFault as fault:
        what = fault.detail if fault.reason != "empty" else "the file is empty"
        raise InputError(f"is not JSON: {what or fault.reason}", line=_json_fault_line(text)) from None
    places = json_places(text)
    lines = {to_snake(_field(path)): line for path, line in places.lines.items()}
    if "duplicate_keys" in flags:
        field = _field(places.repeated[0])
        raise InputError("is given twice", field=field, line=lines[to_snake(field)])
    return Written(value, lines)


def _json_fault_line(text: str) -> int | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno
    except (ValueError, RecursionError):
        return None
    bare = re.sub(r'"(?:\\.|[^"\\])*"', "", text)
    constant = re.search("NaN|Infinity", bare)
    return bare.count("\n", 0, constant.start()) + 1 if constant else None


# ------------------------------------------------------------------------------------------------------------- YAML

_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """Scalars by the core schema of YAML 1.2; no aliases."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own class attribute
        None: [
            (f"{_TAG}null", re.compile(r"(?:~|null|Null|NULL|)\Z")),
            (f"{_TAG}bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")),
            (f"{_TAG}int", re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z")),
            (f"{_TAG}float", re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")),
            (f"{_TAG}float", re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")),
        ]
    }

    def compose_node(self, parent: Any, index: Any) -> Any:
        """See yaml.composer."""
        if self.check_event(yaml.AliasEvent):
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]  # PyYAML's stubs
            raise InputError("aliases are not read here", line=line, hint="Write the value out where it is used")
        return super().compose_node(parent, index)


def _read_yaml(text: str) -> Written:
    lines: dict[str, int] = {}
    try:
        node = yaml.compose(text, Loader=_Loader)
        return Written(None if node is None else _yaml_value(node, (), lines), lines)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it holds a character that no YAML may hold"
        raise InputError(f"is not YAML: {problem}", line=mark.line + 1 if mark else None) from None
    except (ValueError, OverflowError):  # PyYAML: `\UFFFFFFFF`, `%YAML 1.<5000 digits>`
        raise InputError("is not YAML: a number or character is out of range") from None


def _yaml_value(node: Any, path: _Path, lines: dict[str, int]) -> Any:
    line = node.start_mark.line + 1
    lines.setdefault(to_snake(_field(path)), line)
    kind = node.tag.removeprefix(_TAG)
    if isinstance(node, yaml.MappingNode) and kind == "map":
        table: dict[str, Any] = {}
        for key, item in node.value:
            name = key.value
            if key.tag != f"{_TAG}str":
                raise InputError("a name must be text", line=key.start_mark.line + 1, field=_field(path) or None)
            inner = (*path, name)
            lines[to_snake(_field(inner))] = key.start_mark.line + 1
            if name in table:
                raise InputError("is given twice", field=_field(inner), line=key.start_mark.line + 1)
            table[name] = _yaml_value(item, inner, lines)
        return table
    if isinstance(node, yaml.SequenceNode) and kind == "seq":
        return [_yaml_value(item, (*path, place), lines) for place, item in enumerate(node.value)]
    if isinstance(node, yaml.ScalarNode) and kind in _SCALARS:
        try:
            return _SCALARS[kind](node.value)
        except (ValueError, KeyError):
            raise InputError(f"is no {kind}", field=_field(path), line=line) from None
    raise InputError("tags are not read here", field=_field(path) or None, line=line)


_SCALARS: dict[str, Any] = {
    "str": str,
    "null": lambda _: None,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "int": lambda text: int(text) if text[1:2] not in {"o", "x"} else int(text, 0),
    "float": lambda text: float(text.replace(".", "", 1) if text[-1:].isalpha() else text),
}


# ------------------------------------------------------------------------------------------------------------- TOML

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'"
    r"|#[^\n]*|[ \t\r]+|\n|[\[\]{},=.]|[^\s\[\]{},=.\"'#]+",
    re.DOTALL,
)  # fmt: skip


def _read_toml(text: str) -> Written:
    try:
        value = tomllib.loads(text)
    except ValueError as error:
        line = re.search(r"line (\d+)", str(error))
        said = re.sub(r" \(at .*\)$", "", str(error))
        if isinstance(error, tomllib.TOMLDecodeError):
            raise InputError(f"is not TOML: {said}", line=int(line.group(1)) if line else None) from None
        raise InputError("is not TOML: a number is out of range") from None
    return Written(value, _TomlLines(text).lines)


class _TomlLines:
    """Walks text that tomllib accepted and notes where each field stands."""

    def __init__(self, text: str) -> None:
        self.lines: dict[str, int] = {}
        self._tokens = list(_significant(text))
        self._at = 0
        self._counts: dict[_Path, int] = {}
        table: _Path = ()
        while self._at < len(self._tokens):
            if self._current == "\n":
                self._at += 1
            elif self._current == "[":
                table = self._header()
            else:
                self._pair(table)

    @property
    def _current(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else "\n"

    def _note(self, path: _Path, line: int) -> None:
        self.lines[to_snake(_field(path))] = line

    def _key(self, path: _Path) -> _Path:
        """A dotted key from here on, each of its parts noted under `path`."""
        while self._current not in {"=", "]"}:
            word, line = self._tokens[self._at]
            if word != ".":
                name = next(iter(tomllib.loads(f"{word} = 0")))
                path = (*path, name)
                self.lines.setdefault(to_snake(_field(path)), line)
                if path in self._counts and self._following not in {"]", "="}:
                    path = (*path, self._counts[path])
            self._at += 1
        return path

    @property
    def _following(self) -> str:
        return self._tokens[self._at + 1][0]

    def _header(self) -> _Path:
        line = self._tokens[self._at][1]
        many = self._following == "["
        self._at += 2 if many else 1
        path = self._key(())
        self._at += 2 if many else 1
        if many:
            self._counts[path] = self._counts.get(path, -1) + 1
            path = (*path, self._counts[path])
        self._note(path, line)
        return path

    def _pair(self, table: _Path) -> None:
        line = self._tokens[self._at][1]
        path = self._key(table)
        self._note(path, line)
        self._at += 1
        self._value(path)

    def _value(self, path: _Path) -> None:
        opening = self._current
        if opening not in {"[", "{"}:
            while self._current not in {",", "]", "}", "\n"}:
                self._at += 1
            return
        self._at += 1
        place = 0
        while self._current not in {"]", "}"}:
            if self._current in {",", "\n"}:
                self._at += 1
            elif opening == "{":
                self._pair(path)
            else:
                self._note((*path, place), self._tokens[self._at][1])
                self._value((*path, place))
                place += 1
        self._at += 1


def _significant(text: str) -> Iterator[tuple[str, int]]:
    """The tokens that are neither space nor comment, each with its line."""
    line = 1
    for match in _TOKEN.finditer(text):
        token = match.group()
        if not token.startswith("#") and token.strip(" \t\r"):
            yield token, line
        line += token.count("\n")
