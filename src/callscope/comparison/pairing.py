"""From runs to pairs: which units there are, what each saw of a case, and the cases that two of them share.

A unit is a model of a run. Pairs are made within one suite and one experiment, over cases that mean the same in both
and were observed in both; every other case is counted, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import msgspec

from callscope.canonical import canonical_hash
from callscope.comparison.metrics import EXCLUDED, OUTSIDE, Metric, lost_because
from callscope.contract import Case, Manifest
from callscope.errors import InputError, RunFolderError
from callscope.reports.safe import one_line
from callscope.reports.view import RunView, cases_by_id

__all__ = ["Group", "LeftOut", "Pair", "Pairing", "Seen", "Unit", "pair_up", "read_units", "shared_cases"]

JUDGED = "judge "
"""How `decided_by` begins where a judge ruled; its name follows."""

GroupName = tuple[str, str]
"""Suite and experiment."""

_TELLS_ONLY = frozenset(
    {"tags", "behaviour", "difficulty", "locale", "family", "note", "metadata", "item", "label", "negative_type"}
)
"""Fields of a case that describe it. The others are what is asked and what is expected, and make two cases the same."""


@dataclass(slots=True)
class Seen:
    """What one unit saw of one case: hit or miss by repeat, and why other repeats have no value."""

    planned: int = 0
    values: dict[int, bool] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> Fraction:
        """The share of hits among the repeats that have a value."""
        return Fraction(sum(self.values.values()), len(self.values))

    @property
    def first(self) -> bool:
        """The first repeat that has a value."""
        return self.values[min(self.values)]

    @property
    def reason(self) -> str | None:
        """Why the case has no value here: the commonest reason of its repeats; None where it has one."""
        if self.values:
            return None
        return min(self.lost, key=lambda name: (-self.lost[name], name)) if self.lost else "not run"


@dataclass(slots=True)
class Group:
    """What one unit was given of one suite under one experiment."""

    cases: dict[str, Case]
    seen: dict[str, Seen]


@dataclass(slots=True)
class Unit:
    """A model of a run: what is compared. `letter` names it in tables, `name` in words. `judges` are who ruled in the
    verdicts of its run, of whatever model: two runs that were not judged alike are not scored alike."""

    letter: str
    name: str
    path: str
    manifest: Manifest
    model: str
    groups: dict[GroupName, Group]
    judges: tuple[str, ...] = ()


class Pair(NamedTuple):
    """A case that two units have values for."""

    case_id: str
    family: str
    first: Seen
    second: Seen


class LeftOut(NamedTuple):
    """How many cases are in no pair, for one reason; `where` is `first`, `second` or `both`."""

    reason: str
    where: str
    cases: int


class Pairing(NamedTuple):
    """The pairs of two units, sorted by case id. `planned`: cases planned for either, without those that could not have
    a value (excluded, outside a conditional rate's denominator); `coverage` is the share of them that is paired."""

    pairs: tuple[Pair, ...]
    left_out: tuple[LeftOut, ...]
    planned: int

    @property
    def coverage(self) -> float | None:
        """Paired of planned; None where nothing was planned."""
        return len(self.pairs) / self.planned if self.planned else None


def read_units(
    sources: Sequence[tuple[str, RunView]],
    metric: Metric,
    models: Sequence[str] = (),
    suite: str | None = None,
    experiment: str | None = None,
) -> tuple[Unit, ...]:
    """The units of some runs, in the order given, with what each saw; one walk over each run.

    Args:
        sources: the path of a run, and the run.
        metric: what a hit is.
        models, suite, experiment: restrict to these; empty or None is all.

    Raises InputError where a name is in none of the runs, a run is named twice, or fewer than two units are left;
    RunFolderError where verdicts and plan do not belong together.
    """
    repeated = [path for path, count in Counter(path for path, _ in sources).items() if count > 1]
    if repeated:
        raise InputError("the same run is named twice", found=repeated[0], hint="Name each run once")
    _check_names(sources, models, suite, experiment)
    found: list[Unit] = []
    for path, view in sources:
        groups = _planned(view, metric, models, suite, experiment)
        judges = _walk(view, metric, groups, path)
        for model, of_model in groups.items():
            found.append(Unit(_letter(len(found)), "", path, view.manifest, model, of_model, judges))
    if len(found) < 2:
        held = ", ".join(unit.model for unit in found) or "none"
        hint = "Name a second run, or a run that holds several models"
        raise InputError("a comparison needs at least two: a second run, or a second model", found=held, hint=hint)
    for unit, name in zip(found, _names(found), strict=True):
        unit.name = name
    return tuple(found)


def _check_names(
    sources: Sequence[tuple[str, RunView]], models: Sequence[str], suite: str | None, experiment: str | None
) -> None:
    plan = [block for _, view in sources for block in view.manifest.plan]
    for option, wanted, there in (
        ("--model", models, {block.model for block in plan}),
        ("--suite", [suite] if suite is not None else [], {block.suite for block in plan}),
        ("--experiment", [experiment] if experiment is not None else [], {block.experiment for block in plan}),
    ):
        for name in wanted:
            if name not in there:
                known = ", ".join(one_line(each, 80) for each in sorted(there))
                raise InputError("is in none of the runs", field=option, found=name, expected=f"one of {known}")


def _planned(
    view: RunView, metric: Metric, models: Sequence[str], suite: str | None, experiment: str | None
) -> dict[str, dict[GroupName, Group]]:
    units: dict[str, dict[GroupName, Group]] = {}
    suites: dict[str, dict[str, Case]] = {}
    for block in view.manifest.plan:
        if (models and block.model not in models) or suite not in {None, block.suite}:
            continue
        if experiment not in {None, block.experiment}:
            continue
        if block.suite not in suites:
            suites[block.suite] = cases_by_id(view, block.suite)
        groups = units.setdefault(block.model, {})
        group = groups.setdefault((block.suite, block.experiment), Group(suites[block.suite], {}))
        for case_id in block.cases:
            case = group.cases.get(case_id)
            if case is None:
                raise RunFolderError(f"the plan names the case {case_id!r}, which the suite {block.suite!r} lacks")
            if metric.speaks_of(case):
                group.seen.setdefault(case_id, Seen()).planned += block.repeats
    return {model: {name: group for name, group in groups.items() if group.seen} for model, groups in units.items()}


def _walk(view: RunView, metric: Metric, units: Mapping[str, Mapping[GroupName, Group]], path: str) -> tuple[str, ...]:
    """Note what every trial says in its unit; returns who ruled in any of them."""
    judges: set[str] = set()
    for derived in view.derived():
        v = derived.verdict
        by = v.decided_by.get("semantics", "")
        if by.startswith(JUDGED):
            judges.add(by.removeprefix(JUDGED))
        group = units.get(v.model, {}).get((v.suite, v.experiment))
        seen = group.seen.get(v.case_id) if group is not None else None
        if group is None or seen is None:
            continue
        hit = metric.hit(group.cases[v.case_id], derived)
        if hit is None:
            seen.lost[lost_because(derived)] += 1
        elif v.repeat in seen.values:
            raise RunFolderError(f"{path}: two verdicts stand for one trial: {v.case_id!r}, repeat {v.repeat}")
        else:
            seen.values[v.repeat] = hit
    return tuple(sorted(judges))


def _letter(number: int) -> str:
    """A, B, … Z, AA, AB, …"""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _names(units: Sequence[Unit]) -> list[str]:
    """The model where it tells the units apart, else the run too, by the path it was given with."""
    counts = Counter(unit.model for unit in units)
    return [one_line(unit.model if counts[unit.model] == 1 else f"{unit.model} ({unit.path})") for unit in units]


def _same_case(one: Group, other: Group, case_id: str) -> bool:
    a, b = one.cases[case_id], other.cases[case_id]
    return a is b or _essence(a) == _essence(b)


def _essence(case: Case) -> str:
    """A hash of what is asked and expected; two cases of one essence may be paired."""
    body = msgspec.to_builtins(case)
    return canonical_hash({name: value for name, value in body.items() if name not in _TELLS_ONLY})


def pair_up(first: Group, second: Group) -> Pairing:
    """The pairs of two units in one suite and experiment, and what is left out."""
    pairs, left = [], Counter[tuple[str, str]]()
    families = _families([first, second])
    for case_id in sorted(first.seen.keys() | second.seen.keys()):
        one, other = first.seen.get(case_id), second.seen.get(case_id)
        if one is None or other is None:
            left["not planned for it", "second" if other is None else "first"] += 1
        elif not _same_case(first, second, case_id):
            left["another prompt or expectation under one id", "both"] += 1
        elif one.values and other.values:
            pairs.append(Pair(case_id, families[case_id], one, other))
        else:
            left[_why(one.reason, other.reason)] += 1
    listed = tuple(LeftOut(*key, count) for key, count in sorted(left.items()))
    outside = sum(each.cases for each in listed if each.reason in {OUTSIDE, EXCLUDED})
    return Pairing(tuple(pairs), listed, len(pairs) + sum(each.cases for each in listed) - outside)


def _why(first: str | None, second: str | None) -> tuple[str, str]:
    if first is None or second is None:
        return (first or second or "", "first" if second is None else "second")
    # loss in one is loss of the pair, even where the other is only outside the rate
    reasons = sorted({first, second} - {OUTSIDE}) or [OUTSIDE]
    if len(reasons) == 1 and first != second:
        return reasons[0], "first" if first != OUTSIDE else "second"
    return "; ".join(reasons), "both"


def shared_cases(groups: Iterable[Group]) -> tuple[tuple[str, str, tuple[Seen, ...]], ...]:
    """The cases that all of several units have values for: (case id, family, what each saw), sorted by case id."""
    held = list(groups)
    first, *others = held
    families = _families(held)
    found = []
    for case_id in sorted(first.seen):
        seen = [group.seen.get(case_id) for group in held]
        kept = tuple(each for each in seen if each is not None and each.values)
        if len(kept) == len(held) and all(_same_case(first, other, case_id) for other in others):
            found.append((case_id, families[case_id], kept))
    return tuple(found)


def _families(groups: Sequence[Group]) -> dict[str, str]:
    """The family of each case that all groups saw. Cases are kin where any group says so: two versions of a suite may
    name families differently, and which of them stands first must not change what is established."""
    shared = sorted(set.intersection(*(set(group.seen) for group in groups)))
    leader: dict[tuple[int, str], tuple[int, str]] = {}

    def lead(name: tuple[int, str]) -> tuple[int, str]:
        while (above := leader.setdefault(name, name)) != name:
            name = above
        return name

    own = {
        case_id: [(place, group.cases[case_id].family or case_id) for place, group in enumerate(groups)]
        for case_id in shared
    }
    for names in own.values():
        for name in names[1:]:
            one, other = sorted((lead(names[0]), lead(name)))
            leader[other] = one
    return {case_id: lead(names[0])[1] for case_id, names in own.items()}
