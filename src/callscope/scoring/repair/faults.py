"""What a schema objects to, place by place, with what its keywords give and the objections of every alternative.

The same errors as the structure stage sees, in the form the repairs need: nothing here changes a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import jsonschema_rs

from callscope.scoring.repair.units import About
from callscope.scoring.repair.values import Objection
from callscope.scoring.validators import Checker

__all__ = ["Fault", "Look", "Place", "changed", "value_at"]

Path = tuple[str | int, ...]
Place = tuple[Path, Path]
"""Where in the value, and where in the schema."""

_KIND = jsonschema_rs.ValidationErrorKind


class Fault(NamedTuple):
    """One objection. `branches` holds those of each alternative, where the keyword is anyOf, or oneOf and none fits."""

    path: Path
    schema_path: Path
    objection: Objection
    branches: tuple[tuple[Fault, ...], ...]

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.path, self.schema_path

    @property
    def key(self) -> tuple[Path, Path, str]:
        """What makes it the same objection before and after a change."""
        named = self.objection.keyword in ("required", "additionalProperties")
        return self.path, self.schema_path, repr(self.objection.given) if named else ""


class Look:
    """Asks one schema for its objections, at most `left` times."""

    def __init__(self, checker: Checker, schema: Any, left: int = 300) -> None:
        self._checker, self._schema, self.left = checker, schema, left

    def __call__(self, value: Any, chosen: Mapping[Place, int]) -> tuple[Fault, ...]:
        """The objections to `value`; for a place in `chosen`, those of the alternative chosen there."""
        self.left -= 1
        faults = [_fault(error, self._schema) for error in self._checker.raw_errors(value)]
        return tuple(_expanded(faults, chosen))


def _expanded(faults: Iterable[Fault], chosen: Mapping[Place, int]) -> Iterator[Fault]:
    for fault in faults:
        if fault.branches and fault.place in chosen:
            yield from _expanded(fault.branches[chosen[fault.place]], chosen)
        else:
            yield fault


def _fault(error: jsonschema_rs.ValidationError, schema: Any) -> Fault:
    kind = error.kind
    given: tuple[Any, ...] = ()
    branches: tuple[tuple[Fault, ...], ...] = ()
    if isinstance(kind, _KIND.Type):
        given = tuple(kind.types)
    elif isinstance(kind, _KIND.Enum):
        given = tuple(kind.options)
    elif isinstance(kind, _KIND.Constant):
        given = (kind.expected_value,)
    elif isinstance(kind, _KIND.Required):
        given = (kind.property,)
    elif isinstance(kind, _KIND.AdditionalProperties):
        given = tuple(kind.unexpected)
    elif isinstance(kind, (_KIND.AnyOf, _KIND.OneOfNotValid)):
        branches = tuple([tuple([_fault(each, schema) for each in branch]) for branch in kind.context])
    path, schema_path = tuple(error.instance_path), tuple(error.schema_path)
    return Fault(path, schema_path, Objection(kind.name, given, _about(schema, path, schema_path)), branches)


def value_at(value: Any, path: Path) -> tuple[Any] | None:
    """The value at `path`, in a tuple; None where there is none (a key that held a lone surrogate)."""
    for part in path:
        if isinstance(value, dict):
            if part not in value:
                return None
            value = value[part]
        else:
            value = value[part]
    return (value,)


def changed(value: Any, path: Path, new: Any) -> Any:
    """A copy of `value` with `new` at `path`; what is not on the way is shared."""
    if not path:
        return new
    part, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {key: changed(each, rest, new) if key == part else each for key, each in value.items()}
    return [changed(each, rest, new) if index == part else each for index, each in enumerate(value)]


def _about(schema: Any, path: Path, schema_path: Path) -> About:
    """The name of the parameter an objection is about, and what the schema on the way to it says in prose."""
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    described: list[str] = []
    for before, part in zip(("", *schema_path), schema_path, strict=False):
        if before == "properties":
            described = []
        schema = schema[part]
        if isinstance(schema, dict) and isinstance(schema.get("description"), str):
            described.append(schema["description"])
    return About(name, " ".join(described))
