"""One call's arguments against one set of rules: what is missing, wrong, unexpected, undecided or tolerated.

Knows one call only; which call answers which requirement is `alignment`, what the trial makes of it is `semantics`.

| the argument                                                 | finding                          |
|--------------------------------------------------------------|----------------------------------|
| forbidden, and present (even with its default)               | unexpected, rule forbidden       |
| required_equals / one_of, present and equal (`equality`)     | exact, or acceptable with a note |
| required_equals / one_of, present and not equal              | wrong                            |
| under a constraint, present, breaks it                       | wrong, rule constraint           |
| under a constraint that cannot be run (bad schema, pattern)  | undecided                        |
| ruled by a constraint alone, present, keeps it               | acceptable, note constraint_kept |
| optional, present, and nothing else is said of it            | acceptable, note optional_given  |
| ruled, not optional, absent                                  | missing                          |
| ruled, absent, and the schema's declared default would do    | acceptable, note default_omitted |
| no rule speaks of it, equal to the schema's declared default | acceptable, note default_stated  |
| no rule speaks of it otherwise                               | unexpected                       |

Rules add up: an argument under required_equals and a constraint must meet both. A present null, `""`, 0 or false is
present (scoring-faults 14 and 41). Defaults: scoring-faults 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from callscope.contract import ArgumentRules
from callscope.scoring.equality import Equality, compare_values
from callscope.scoring.guards import refusal
from callscope.scoring.pointers import child
from callscope.scoring.validators import constraint_checker

__all__ = ["Compared", "ErrorKind", "compare_arguments", "is_temporal"]

ErrorKind = Literal["missing", "temporal", "value"]
_TEMPORAL_FORMATS = {"date", "time", "date-time", "duration"}
_ABSENT: Any = object()


class Compared(NamedTuple):
    """What the rules say of one call's arguments.

    Every finding is a JSON object with `pointer`, `rule`, and `expected` and `actual` where each is there. `errors` are
    the kinds of parameter error among the findings, in the order in which one of them is attributed.
    """

    result: Literal["exact", "acceptable", "wrong", "undecided"]
    missing: tuple[dict[str, Any], ...] = ()
    wrong: tuple[dict[str, Any], ...] = ()
    unexpected: tuple[dict[str, Any], ...] = ()
    undecided: tuple[dict[str, Any], ...] = ()
    notes: tuple[dict[str, Any], ...] = ()
    errors: tuple[ErrorKind, ...] = ()

    @property
    def problems(self) -> int:
        """How many findings speak against the call: the cost of pairing it with this requirement."""
        return len(self.missing) + len(self.wrong) + len(self.unexpected)


_EXACT = Compared("exact")


class _Findings:
    __slots__ = ("missing", "notes", "undecided", "unexpected", "wrong", "wrong_names")

    def __init__(self) -> None:
        self.missing: list[dict[str, Any]] = []
        self.wrong: list[dict[str, Any]] = []
        self.unexpected: list[dict[str, Any]] = []
        self.undecided: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []
        self.wrong_names: set[str] = set()


def compare_arguments(
    arguments: Mapping[str, Any], rules: ArgumentRules, schema: Mapping[str, Any] | None = None
) -> Compared:
    """Compare arguments (a JSON object that `guards.refusal` lets through) with rules.

    `schema` is the tool's `parameters`; its declared defaults and formats are read, nothing else. Never raises.
    """
    found = _Findings()
    for name, value in arguments.items():
        if name in rules.forbidden:
            found.unexpected.append({"pointer": child("", name), "rule": "forbidden", "actual": value})
            found.wrong_names.add(name)
        elif name in rules.required_equals or name in rules.one_of or name in rules.constraints:
            _present(name, value, rules, found)
        elif name in rules.optional:
            found.notes.append({"pointer": child("", name), "note": "optional_given"})
        else:
            _unruled(name, value, schema, found)
    for group in (rules.required_equals, rules.one_of, rules.constraints):
        for name in group:
            if name not in arguments and name not in rules.optional and name not in rules.forbidden:
                _absent(name, rules, schema, found)
    if not (found.missing or found.wrong_names or found.undecided or found.notes):
        return _EXACT
    return _compared(found, rules, schema)


def _compared(found: _Findings, rules: ArgumentRules, schema: Mapping[str, Any] | None) -> Compared:
    bad = bool(found.missing or found.wrong_names)
    temporal = {name for name in found.wrong_names if is_temporal(name, rules, schema)}
    errors: list[ErrorKind] = ["missing"] if found.missing else []
    if temporal:
        errors.append("temporal")
    if found.wrong_names - temporal:
        errors.append("value")
    return Compared(
        "wrong" if bad else "undecided" if found.undecided else "acceptable",
        tuple(found.missing),
        tuple(found.wrong),
        tuple(found.unexpected),
        tuple(found.undecided),
        tuple(found.notes),
        tuple(errors),
    )


def _present(name: str, value: Any, rules: ArgumentRules, found: _Findings) -> None:
    place = child("", name)
    if name in rules.required_equals:
        equality = _equal(name, rules.required_equals[name], value, place, rules)
        found.notes.extend(equality.notes)
        if equality.result == "wrong":
            found.wrong_names.add(name)
            found.wrong.extend({"rule": "required_equals", **difference} for difference in equality.differences)
    if name in rules.one_of:
        equality = _best_of(name, value, place, rules)
        found.notes.extend(equality.notes)
        if equality.result == "wrong":
            found.wrong_names.add(name)
            listed = list(rules.one_of[name])
            found.wrong.append({"pointer": place, "rule": "one_of", "expected": listed, "actual": value})
    if name in rules.constraints:
        _constrained(name, value, place, rules, found)


def _equal(name: str, expected: Any, actual: Any, place: str, rules: ArgumentRules) -> Equality:
    return compare_values(
        expected,
        actual,
        pointer=place,
        unordered=rules.unordered,
        tolerance=rules.tolerance,
        temporal=name in rules.temporal,
    )


def _best_of(name: str, actual: Any, place: str, rules: ArgumentRules) -> Equality:
    best = Equality("wrong")
    for value in rules.one_of[name]:
        equality = _equal(name, value, actual, place, rules)
        if equality.result == "exact":
            return equality
        if best.result == "wrong":
            best = equality
    return best


def _constrained(name: str, value: Any, place: str, rules: ArgumentRules, found: _Findings) -> None:
    constraint = rules.constraints[name]
    checker = constraint_checker(constraint)
    finding = {"pointer": place, "rule": "constraint", "expected": constraint, "actual": value}
    if checker.problem is not None:
        found.undecided.append({**finding, "problem": checker.problem})
        return
    checked = checker.check(value)
    if checked.valid is None:
        found.undecided.append({**finding, "problem": checked.errors[0]["message"]})
    elif not checked.valid:
        found.wrong_names.add(name)
        found.wrong.append({**finding, "errors": list(checked.errors)})
    elif name not in rules.required_equals and name not in rules.one_of:
        found.notes.append({"pointer": place, "note": "constraint_kept"})


def _unruled(name: str, value: Any, schema: Mapping[str, Any] | None, found: _Findings) -> None:
    place = child("", name)
    default = _default(name, schema)
    if default is not _ABSENT and compare_values(default, value).result != "wrong":
        found.notes.append({"pointer": place, "note": "default_stated"})
        return
    found.unexpected.append({"pointer": place, "rule": "no_rule", "actual": value})
    found.wrong_names.add(name)


def _absent(name: str, rules: ArgumentRules, schema: Mapping[str, Any] | None, found: _Findings) -> None:
    place = child("", name)
    if any(entry["pointer"] == place for entry in (*found.missing, *found.notes)):
        return  # ruled twice, found once
    default = _default(name, schema)
    if default is not _ABSENT:
        trial = _Findings()
        _present(name, default, rules, trial)
        if not trial.wrong_names and not trial.undecided:
            found.notes.append({"pointer": place, "note": "default_omitted", "default": default})
            return
    if name in rules.required_equals:
        finding = {"rule": "required_equals", "expected": rules.required_equals[name]}
    elif name in rules.one_of:
        finding = {"rule": "one_of", "expected": list(rules.one_of[name])}
    else:
        finding = {"rule": "constraint", "expected": rules.constraints[name]}
    found.missing.append({"pointer": place, **finding})


def _declared(name: str, schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What the schema says of a top-level argument; empty where it says nothing readable."""
    properties = schema.get("properties") if schema is not None else None
    declared = properties.get(name) if isinstance(properties, dict) else None
    return declared if isinstance(declared, dict) else {}


def _default(name: str, schema: Mapping[str, Any] | None) -> Any:
    """The declared default; _ABSENT where there is none, and for one that no parser would let through."""
    default = _declared(name, schema).get("default", _ABSENT)
    return default if default is _ABSENT or refusal(default) is None else _ABSENT


def is_temporal(name: str, rules: ArgumentRules, schema: Mapping[str, Any] | None) -> bool:
    """Whether an argument states a date, time or duration: by the case's `temporal`, or by its declared `format`."""
    if name in rules.temporal:
        return True
    declared = _declared(name, schema)
    items = declared.get("items")
    formats = (declared.get("format"), items.get("format") if isinstance(items, dict) else None)
    return any(isinstance(one, str) and one in _TEMPORAL_FORMATS for one in formats)
