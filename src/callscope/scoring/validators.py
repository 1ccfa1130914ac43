"""JSON Schema validators: built once a schema, asked for all errors, never allowed to fetch, coerce or raise.

Draft 2020-12 whatever `$schema` says; `format` is an annotation (not asserted), as the draft has it by default. What a
verdict makes of the errors is `structure` and `semantics`.

Guards (measured; see the engines' notes of jsonschema-rs 0.61): `offline=True`, since the library fetches remote
`$ref` by default; lone surrogates raise UnicodeEncodeError, so they are replaced and flagged; a pattern that runs into
the backtrack limit ends validation with an error that decides nothing, even under `not` and `anyOf`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jsonschema_rs

from callscope.canonical import canonical_hash
from callscope.errors import shown
from callscope.scoring.guards import without_surrogates
from callscope.scoring.pointers import pointer

__all__ = ["MAX_ERRORS", "Checked", "Checker", "checker_for", "constraint_checker"]

MAX_ERRORS = 100
"""Errors kept as evidence; the rest is counted."""

_CACHE_LIMIT = 16_384
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_UNDECIDED = (
    jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded,
    jsonschema_rs.ValidationErrorKind.RegexEngineFailure,
)


class Checked(NamedTuple):
    """What a schema says of a value. `valid` None: undecided (a pattern could not be run to its end).

    `errors`: `pointer`, `keyword`, `message`, and `names` where the keyword speaks of members, sorted by
    (pointer, keyword); `omitted` counts those beyond MAX_ERRORS; `replaced`: lone surrogates were replaced first.
    """

    valid: bool | None
    errors: tuple[dict[str, Any], ...] = ()
    omitted: int = 0
    replaced: bool = False


_VALID = Checked(True)


class Checker:
    """One compiled schema. `problem` is why it could not be compiled (then `check` must not be called), or None."""

    __slots__ = ("_validator", "problem")

    def __init__(self, schema: Any) -> None:
        self.problem: str | None = None
        self._validator: jsonschema_rs.Draft202012Validator | None = None
        try:
            self._validator = jsonschema_rs.Draft202012Validator(schema, offline=True, validate_formats=False)
        except (ValueError, TypeError, RecursionError, jsonschema_rs.ReferencingError) as error:
            self.problem = shown(str(error).split("\n\n")[0], 300)

    def check(self, value: Any) -> Checked:
        """All errors of a JSON value that `guards.refusal` lets through."""
        validator = self._validator
        assert validator is not None
        try:
            if validator.is_valid(value):
                return _VALID
            return _collect(validator, value, replaced=False)
        except UnicodeEncodeError:
            value = without_surrogates(value)
            if validator.is_valid(value):
                return Checked(True, replaced=True)
            return _collect(validator, value, replaced=True)

    def raw_errors(self, value: Any) -> list[jsonschema_rs.ValidationError]:
        """The library's own errors, for what needs more than `check` tells (the repair track); `[]` for a valid
        value."""
        validator = self._validator
        assert validator is not None
        try:
            return list(validator.iter_errors(value))
        except UnicodeEncodeError:
            return list(validator.iter_errors(without_surrogates(value)))


def _collect(validator: jsonschema_rs.Draft202012Validator, value: Any, *, replaced: bool) -> Checked:
    found = list(validator.iter_errors(value))
    decided = [error for error in found if not isinstance(error.kind, _UNDECIDED)]
    errors = sorted((_described(error) for error in decided or found), key=_place)
    kept = tuple(errors[:MAX_ERRORS])
    return Checked(False if decided else None, kept, len(errors) - len(kept), replaced)


def _place(error: dict[str, Any]) -> tuple[str, str, str]:
    return error["pointer"], error["keyword"], error["message"]


def _described(error: jsonschema_rs.ValidationError) -> dict[str, Any]:
    kind = error.kind
    described: dict[str, Any] = {
        "pointer": pointer(error.instance_path),
        "keyword": kind.name,
        "message": shown(error.message, 200),
    }
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required):
        described["names"] = [kind.property]
    elif isinstance(kind, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        described["names"] = list(kind.unexpected)
    return described


_by_identity: dict[int, tuple[Any, Checker]] = {}
_constraints: dict[int, tuple[Any, Checker]] = {}
_by_hash: dict[str, Checker] = {}


def checker_for(schema: Any) -> Checker:
    """The checker of a schema, built at most once a process for equal schemas (by canonical hash).

    A second, faster cache knows schema objects by identity: contract types are frozen, and a schema must not be
    changed in place after it was used. Both are emptied when they reach 16,384 entries. Never raises: what cannot be
    compiled, or is no JSON, comes back with `problem` set.
    """
    known = _by_identity.get(id(schema))
    if known is not None and known[0] is schema:
        return known[1]
    try:
        key = canonical_hash(schema)
    except (TypeError, ValueError, AttributeError, RecursionError):
        return Checker(schema)
    checker = _by_hash.get(key)
    if checker is None:
        _make_room(_by_hash)
        checker = _by_hash[key] = Checker(schema)
    _make_room(_by_identity)
    _by_identity[id(schema)] = (schema, checker)
    return checker


def constraint_checker(constraint: dict[str, Any]) -> Checker:
    """The checker of a case's constraint: a JSON Schema, in which `{"integer": true}` is read as
    `{"type": "integer"}`, as the harness document writes it. Cached as `checker_for` does."""
    known = _constraints.get(id(constraint))
    if known is not None and known[0] is constraint:
        return known[1]
    schema = {key: value for key, value in constraint.items() if not (key in _TYPES and value is True)}
    named = [key for key in _TYPES if constraint.get(key) is True]
    if named and "type" not in schema:
        schema["type"] = named[0] if len(named) == 1 else named
    checker = checker_for(schema)
    _make_room(_constraints)
    _constraints[id(constraint)] = (constraint, checker)
    return checker


def _make_room(cache: dict[Any, Any]) -> None:
    if len(cache) >= _CACHE_LIMIT:
        cache.clear()
