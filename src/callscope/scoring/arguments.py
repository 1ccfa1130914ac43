"""One call's arguments against one set of rules: what is missing, wrong, unexpected, undecided or tolerated.

Knows one call only; which call answers which requirement is `alignment`, what the trial makes of it is `semantics`.

| the argument                                                 | finding                          |
|--------------------------------------------------------------|----------------------------------|
| forbidden, and present (even with its default)               | unexpected, rule forbidden       |
| required_equals / one_of, present and equal (`equality`)     | exact, or acceptable with a note |
| patterns, present and one is met                             | exact, or acceptable with a note |
| one of these, present and not equal                          | wrong                            |
| … but free text, a string, and wanted as a string            | undecided, rule free_text        |
| … but optional, and equal to the schema's declared default   | acceptable, note default_stated  |
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

from callscope.contract import ArgumentRules, PatternValue, Ruling
from callscope.scoring.dates import Times
from callscope.scoring.equality import Equality, compare_pattern, compare_values
from callscope.scoring.guards import refusal
from callscope.scoring.pointers import child, first_part
from callscope.scoring.validators import constraint_checker

__all__ = ["Compared", "ErrorKind", "compare_arguments", "is_temporal", "ruled"]

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
    __slots__ = ("missing", "notes", "offset", "undecided", "unexpected", "wrong", "wrong_names")

    def __init__(self, offset: int | None = None) -> None:
        self.offset = offset
        self.missing: list[dict[str, Any]] = []
        self.wrong: list[dict[str, Any]] = []
        self.unexpected: list[dict[str, Any]] = []
        self.undecided: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []
        self.wrong_names: set[str] = set()


def compare_arguments(
    arguments: Mapping[str, Any],
    rules: ArgumentRules,
    schema: Mapping[str, Any] | None = None,
    offset: int | None = None,
) -> Compared:
    """Compare arguments (a JSON object that `guards.refusal` lets through) with rules.

    `schema` is the tool's `parameters`; its declared defaults and formats are read, nothing else. `offset` is that of
    the case's reference time (`dates.offset_of`). Never raises.
    """
    found = _Findings(offset)
    for name, value in arguments.items():
        if name in rules.forbidden:
            found.unexpected.append({"pointer": child("", name), "rule": "forbidden", "actual": value})
            found.wrong_names.add(name)
        elif (
            name in rules.required_equals or name in rules.one_of or name in rules.constraints or name in rules.patterns
        ):
            _present(name, value, rules, found, schema)
        elif name in rules.optional:
            found.notes.append({"pointer": child("", name), "note": "optional_given"})
        else:
            _unruled(name, value, schema, found)
    for group in (rules.required_equals, rules.one_of, rules.patterns, rules.constraints):
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


def _present(
    name: str, value: Any, rules: ArgumentRules, found: _Findings, schema: Mapping[str, Any] | None = None
) -> None:
    place = child("", name)
    if name in rules.required_equals:
        times = _times(name, rules, schema, found.offset)
        equality = _equal(rules.required_equals[name], value, place, rules, times)
        if not _otherwise_right(equality, name, value, place, rules, found, schema):
            found.wrong_names.add(name)
            found.wrong.extend({"rule": "required_equals", **difference} for difference in equality.differences)
    if name in rules.one_of:
        equality = _best_of(name, value, place, rules, _times(name, rules, schema, found.offset))
        if not _otherwise_right(equality, name, value, place, rules, found, schema):
            found.wrong_names.add(name)
            listed = list(rules.one_of[name])
            found.wrong.append({"pointer": place, "rule": "one_of", "expected": listed, "actual": value})
    if name in rules.patterns:
        equality = _best_pattern(name, value, place, rules, _times(name, rules, schema, found.offset))
        if not _otherwise_right(equality, name, value, place, rules, found, schema):
            found.wrong_names.add(name)
            found.wrong.extend({"rule": "patterns", **difference} for difference in equality.differences)
    if name in rules.constraints:
        _constrained(name, value, place, rules, found)


def _otherwise_right(
    equality: Equality,
    name: str,
    value: Any,
    place: str,
    rules: ArgumentRules,
    found: _Findings,
    schema: Mapping[str, Any] | None,
) -> bool:
    """Notes what was tolerated; whether the value is no wrong one: equal, the stated default, or left to a judge."""
    if equality.result != "wrong":
        found.notes.extend(equality.notes)
        return True
    if name in rules.optional:
        default = _default(name, schema)
        if default is not _ABSENT and compare_values(default, value).result != "wrong":
            found.notes.append({"pointer": place, "note": "default_stated"})
            return True
    wanted = _wanted_strings(name, rules)
    if name in rules.free_text and isinstance(value, str) and wanted:
        found.undecided.append({"pointer": place, "rule": "free_text", "expected": wanted, "actual": value})
        return True
    return False


def _wanted_strings(name: str, rules: ArgumentRules) -> list[str]:
    """The strings that are right for an argument, in the order written."""
    values = [
        *([rules.required_equals[name]] if name in rules.required_equals else ()),
        *rules.one_of.get(name, ()),
        *(one.value for one in rules.patterns.get(name, ()) if isinstance(one, PatternValue)),
    ]
    return [value for value in values if isinstance(value, str)]


def _times(name: str, rules: ArgumentRules, schema: Mapping[str, Any] | None, offset: int | None) -> Times | None:
    """How an argument's times are compared: any unambiguous spelling where the case declares it, ISO forms where only
    the schema's format does, not at all otherwise, and under folded text."""
    if rules.text == "folded":
        return None
    if name in rules.temporal:
        return Times(False, offset)
    return Times(True, offset) if is_temporal(name, rules, schema) else None


def _equal(expected: Any, actual: Any, place: str, rules: ArgumentRules, times: Times | None) -> Equality:
    return compare_values(
        expected,
        actual,
        pointer=place,
        unordered=rules.unordered,
        tolerance=rules.tolerance,
        times=times,
        folded=rules.text == "folded",
    )


def _best_pattern(name: str, actual: Any, place: str, rules: ArgumentRules, times: Times | None) -> Equality:
    folded = rules.text == "folded"
    best: Equality | None = None
    for pattern in rules.patterns[name]:
        equality = compare_pattern(pattern, actual, pointer=place, times=times, folded=folded)
        if equality.result == "exact":
            return equality
        if best is None or (best.result == "wrong" and _rank(equality) < _rank(best)):
            best = equality
    return best or Equality("wrong", ({"pointer": place, "kind": "value", "expected": [], "actual": actual},))


def _rank(equality: Equality) -> int:
    """How far from right; among wrong ones by the number of differences, so that the nearest is shown."""
    return len(equality.differences) if equality.result == "wrong" else 0


def _best_of(name: str, actual: Any, place: str, rules: ArgumentRules, times: Times | None) -> Equality:
    best = Equality("wrong")
    for value in rules.one_of[name]:
        equality = _equal(value, actual, place, rules, times)
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
    elif name not in rules.required_equals and name not in rules.one_of and name not in rules.patterns:
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
        trial = _Findings(found.offset)
        _present(name, default, rules, trial, schema)
        if not trial.wrong_names and not trial.undecided:
            found.notes.append({"pointer": place, "note": "default_omitted", "default": default})
            return
    if name in rules.required_equals:
        finding = {"rule": "required_equals", "expected": rules.required_equals[name]}
    elif name in rules.one_of:
        finding = {"rule": "one_of", "expected": list(rules.one_of[name])}
    elif name in rules.patterns:
        finding = {"rule": "patterns"}
    else:
        finding = {"rule": "constraint", "expected": rules.constraints[name]}
    found.missing.append({"pointer": place, **finding})


def ruled(
    compared: Compared, rulings: Mapping[str, Ruling], rules: ArgumentRules, schema: Mapping[str, Any] | None = None
) -> Compared:
    """What the comparison is once a judge has ruled on arguments (name -> ruling): equal, different or undecided.

    Only differences of value are ruled on; what is missing, forbidden, unexpected or breaks a constraint stays.
    """
    found = _Findings()
    found.missing, found.unexpected, found.notes = [*compared.missing], [*compared.unexpected], [*compared.notes]
    found.wrong_names = {_name_of(entry) for entry in compared.unexpected}
    for entry in (*compared.wrong, *compared.undecided):
        ruling = rulings.get(_name_of(entry)) if entry["rule"] != "constraint" else None
        if ruling is None:
            (found.wrong if entry in compared.wrong else found.undecided).append(entry)
        elif ruling.verdict == "equivalent":
            found.notes.append({"pointer": entry["pointer"], "note": "judged_equivalent", **_said_by(ruling)})
        else:
            judged = {**entry, "judged": ruling.verdict, **_said_by(ruling)}
            (found.wrong if ruling.verdict == "different" else found.undecided).append(judged)
    found.wrong_names |= {_name_of(entry) for entry in found.wrong}
    return _compared(found, rules, schema)


def _said_by(ruling: Ruling) -> dict[str, str]:
    return {"by": ruling.judge, "why": ruling.reason} if ruling.reason else {"by": ruling.judge}


def _name_of(finding: Mapping[str, Any]) -> str:
    return first_part(finding["pointer"]) or ""


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
