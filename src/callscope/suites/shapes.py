"""Reads a parsed value as one of the contract's types, strictly, noting every fault instead of stopping at the first.

Driven by the types themselves, so a field added to the contract is read, aliased and published without a line here.
The only thing it knows by name is the two forms of `arguments`. It repairs nothing: `"3"` is no integer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import NODEFAULT, inspect

from callscope.contract import ArgumentRules
from callscope.suites.faults import Page, Path_, closest

__all__ = ["RULE_NAMES", "Reader", "camel", "is_rules"]

T = TypeVar("T")


@cache
def _type_info(of: Any) -> inspect.Type:
    return inspect.type_info(of)


@cache
def _fields(struct: type) -> tuple[Mapping[str, inspect.Field], Mapping[str, str]]:
    """A struct's fields by name, and from both spellings of each to its name."""
    kind = _type_info(struct)
    assert isinstance(kind, inspect.StructType)
    fields = {field.name: field for field in kind.fields}
    return fields, {spelling: name for name in fields for spelling in (name, camel(name))}


_WRITTEN = {
    "args": "arguments",
    "parameters": "arguments",
    "expect": "expected",
    "expectation": "expected",
    "gold": "expected",
    "question": "prompt",
    "input": "prompt",
    "input_schema": "parameters",
    "inputSchema": "parameters",
    "schema": "parameters",
    "tool": "name",
    "function": "name",
    "language": "locale",
    "now": "reference_time",
    "category": "behaviour",
    "behavior": "behaviour",
    "license": "licence",
    "answer": "result",
}
"""What people write where they mean one of our fields, and no spelling check would find it. Tried before spelling."""


def camel(name: str) -> str:
    """The harness document's spelling of a field: `required_equals` -> `requiredEquals`."""
    return re.sub(r"_([a-z])", lambda match: match.group(1).upper(), name)


RULE_NAMES = frozenset(spelling for name in ArgumentRules.__struct_fields__ for spelling in (name, camel(name)))
"""Every field of the assertion form of `arguments`, in both spellings."""


def is_rules(written: Mapping[str, Any], parameters: frozenset[str]) -> bool:
    """Whether an `arguments` object is the assertion form rather than the exact arguments.

    It is, if and only if it has a key that names a rule and is not also a parameter of the tool. So for a tool with
    a parameter called `optional`, `{"optional": true}` is exact, and `{"requiredEquals": {"optional": true}}` says
    the same as assertions.
    """
    return any(key in RULE_NAMES and key not in parameters for key in written)


class Reader:
    """Reads values of one page. `parameters`: tool name -> its declared parameter names, for `is_rules`."""

    def __init__(self, page: Page, parameters: Mapping[str, frozenset[str]]) -> None:
        self.page, self.parameters = page, parameters

    def read(self, value: Any, as_type: type[T], path: Path_ = ()) -> T | None:
        """`value` as `as_type`, or None where it has faults; they are noted on the page."""
        before = len(self.page.faults)
        key: Any = as_type
        plain = self._any(value, _type_info(key), path, None)
        if len(self.page.faults) > before:
            return None
        try:
            return msgspec.convert(plain, as_type)
        except msgspec.ValidationError as error:  # a type that this reader does not know in full
            self.page.fault(str(error), path)
            return None

    def _any(self, value: Any, kind: inspect.Type, path: Path_, tool: str | None) -> Any:
        if isinstance(kind, inspect.UnionType):
            return self._union(value, kind, path, tool)
        if isinstance(kind, inspect.StructType):
            return self._struct(value, kind, path, tool)
        if isinstance(kind, inspect.DictType):
            if not isinstance(value, dict):
                return self._wrong(value, "an object", path)
            return {key: self._any(item, kind.value_type, (*path, key), tool) for key, item in value.items()}
        if isinstance(kind, inspect.VarTupleType):
            if not isinstance(value, list):
                hint = "Put it in a list." if isinstance(value, str) else None
                return self._wrong(value, "a list", path, hint)
            return [self._any(item, kind.item_type, (*path, index), tool) for index, item in enumerate(value)]
        if isinstance(kind, inspect.LiteralType):
            return self._literal(value, kind, path)
        return self._scalar(value, kind, path)

    def _scalar(self, value: Any, kind: inspect.Type, path: Path_) -> Any:
        if isinstance(kind, inspect.StrType) and not isinstance(value, str):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return self._wrong(value, "text", path, f'Put it in quotes: "{value}".' if number else None)
        if isinstance(kind, inspect.BoolType) and not isinstance(value, bool):
            return self._wrong(value, "true or false", path)
        if isinstance(kind, inspect.IntType) and (not isinstance(value, int) or isinstance(value, bool)):
            return self._wrong(value, "a whole number", path)
        if isinstance(kind, inspect.FloatType) and (not isinstance(value, (int, float)) or isinstance(value, bool)):
            return self._wrong(value, "a number", path)
        return value

    def _literal(self, value: Any, kind: inspect.LiteralType, path: Path_) -> Any:
        if value in kind.values and isinstance(value, str):
            return value
        near = closest(value, [str(name) for name in kind.values])
        return self._wrong(value, " | ".join(map(str, kind.values)), path, f"Did you mean {near!r}?" if near else None)

    def _union(self, value: Any, kind: inspect.UnionType, path: Path_, tool: str | None) -> Any:
        if value is None and kind.includes_none:
            return None
        members = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        if len(members) == 1:
            return self._any(value, members[0], path, tool)
        structs = {member.tag: member for member in members if isinstance(member, inspect.StructType)}
        tag_field = next(member.tag_field for member in structs.values()) or ""
        tags = " | ".join(map(str, structs))
        if not isinstance(value, dict):
            return self._wrong(value, f"an object whose {tag_field} is {tags}", path)
        if tag_field not in value:
            near = closest(tag_field, value)
            hint = f"Did you mean {tag_field!r} where you wrote {near!r}?" if near else None
            self.page.fault(f"{tag_field!r} is missing", path, expected=tags, hint=hint)
            return None
        tag = value[tag_field]
        member = structs.get(tag) if isinstance(tag, str) else None
        if member is None:
            near = closest(tag, map(str, structs))
            return self._wrong(tag, tags, (*path, tag_field), f"Did you mean {near!r}?" if near else None)
        return self._struct(value, member, path, tool)

    def _struct(self, value: Any, kind: inspect.StructType, path: Path_, tool: str | None) -> Any:
        if not isinstance(value, dict):
            hint = "Write the object itself, not its JSON text." if isinstance(value, str) else None
            return self._wrong(value, "an object", path, hint)
        if kind.cls is ArgumentRules and not is_rules(value, self.parameters.get(tool or "", frozenset())):
            return {"required_equals": value}
        fields, spelled = _fields(kind.cls)
        if "arguments" in fields and isinstance(value.get("name"), str):
            tool = value["name"]
        plain: dict[str, Any] = {}
        for key, item in value.items():
            name = spelled.get(key)
            if name is None and key == kind.tag_field:
                plain[key] = item
            elif name is None:
                self._unknown(key, (*path, key), value, fields)
            elif name in plain:
                self.page.fault(f"{name!r} stands here twice, in two spellings", (*path, key), hint="Keep one.")
            else:
                plain[name] = self._any(item, fields[name].type, (*path, key), tool)
        for name, field in fields.items():
            if name not in plain and field.default is NODEFAULT and field.default_factory is NODEFAULT:
                self.page.fault(f"{name!r} is missing", path, found=f"the fields {', '.join(value) or 'none'}")
        return plain

    def _unknown(self, key: str, path: Path_, value: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        known = [spelling for name in fields for spelling in dict.fromkeys((name, camel(name)))]
        near = _WRITTEN.get(key) if _WRITTEN.get(key) in fields else closest(key, known)
        rest = [name for name in fields if name not in value and camel(name) not in value]
        hint = f"Did you mean {near!r}?" if near else f"Fields that may stand here: {', '.join(rest) or 'no other'}."
        self.page.fault("there is no such field", path, found=key, hint=hint)

    def _wrong(self, value: Any, expected: str, path: Path_, hint: str | None = None) -> None:
        found = "null" if value is None else value
        self.page.fault("this is not what may stand here", path, found=found, expected=expected, hint=hint)
