"""The comparison as data: units, the declared family of tests, and for each suite and experiment what was found.

The one place that joins pairing, estimators, differences of manifests and words; presenters show what stands here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from callscope.comparison.corrections import Correction, adjusted
from callscope.comparison.differences import changed, variables
from callscope.comparison.estimate import Difference, estimate
from callscope.comparison.metrics import Metric, metric_named
from callscope.comparison.paired import RESAMPLES
from callscope.comparison.pairing import GroupName, Pairing, Unit, pair_up, read_units, shared_cases
from callscope.comparison.power import ALPHA, POWER
from callscope.comparison.together import omnibus, omnibus_decided, own_rate, ranking, repeats, significant
from callscope.comparison.words import attribution_words, left_out_words, no_pair_words, verdict_words
from callscope.contract import ModelRef
from callscope.errors import InputError
from callscope.reports.numbers import RATE_DIGITS, rounded
from callscope.reports.safe import one_line
from callscope.reports.view import RunView

__all__ = ["SCHEMA", "Judged", "Options", "compare"]

SCHEMA = "callscope/comparison/1"


class Options(Struct, frozen=True):
    """What is compared and how. `family` declares the tests: `baseline` (the first with each other one), `all`, or
    pairs of letters as `A:B,B:C`. `min_coverage` is a fraction of the planned cases."""

    metric: str = "passed"
    models: tuple[str, ...] = ()
    suite: str | None = None
    experiment: str | None = None
    correction: Correction = "holm"
    family: str = "baseline"
    min_coverage: float | None = None
    seed: int = 0


class _Test(NamedTuple):
    group: GroupName
    first: Unit
    second: Unit
    pairing: Pairing


class Judged(Struct, frozen=True):
    """What judge.json says of a run beside the name: what was asked, with which prompt, and what the judge fails."""

    questions: str
    prompt: str
    failures: tuple[str, ...] = ()


def compare(
    sources: Sequence[tuple[str, RunView]], options: Options, judged: Mapping[str, Judged] | None = None
) -> dict[str, Any]:
    """Compare the models of some runs, each run given with its path; `judged` says of the judged ones how, by path.

    Returns a JSON object (docs/guides/read-a-comparison.md says what stands in it); the same input gives the same one.
    Raises InputError for a name, family or bound that is none, and where no two share a suite and experiment.
    """
    metric = metric_named(options.metric)
    if options.min_coverage is not None and not 0 <= options.min_coverage <= 1:
        raise InputError(
            "is no share", field="--min-coverage", found=options.min_coverage, expected="a number from 0 to 1, as 0.9"
        )
    if options.seed < 0:
        raise InputError("is no seed", field="--seed", found=options.seed, expected="a whole number from 0")
    units = read_units(sources, metric, options.models, options.suite, options.experiment)
    declared = _declared(options.family, units)
    names = list(dict.fromkeys(name for unit in units for name in unit.groups))
    shared = [name for name in names if sum(name in unit.groups for unit in units) >= 2]
    tests = [
        _Test(name, first, second, pair_up(first.groups[name], second.groups[name]))
        for name in shared
        for first, second in declared
        if name in first.groups and name in second.groups
    ]
    if not tests:
        raise _nothing_shared(units, metric)
    count = sum(bool(test.pairing.pairs) for test in tests)
    family = {
        "declared": options.family,
        "tests": count,
        "correction": options.correction,
        "alpha": ALPHA,
        "power": POWER,
        "min_coverage": options.min_coverage,
    }
    judged = judged or {}
    together = _together(shared, units, metric, options)
    family["omnibus_tests"] = sum(found is not None and found["p"] is not None for found in together.values())
    pairs = _pairs(tests, metric, family, options, judged)
    groups = [_group(name, units, pairs.get(name, []), together[name], options) for name in shared]
    for group in groups:
        group["no_pair"] = None if group["pairs"] else no_pair_words(group, family, units[0].letter)
    coverages = [0.0 if test.pairing.coverage is None else test.pairing.coverage for test in tests]
    lowest = min(coverages)
    return {
        "schema": SCHEMA,
        "precision": {"rate": RATE_DIGITS},
        "metric": {"name": metric.name, "does": metric.does, "conditional": metric.conditional},
        "seed": options.seed,
        "resamples": RESAMPLES,
        "family": family,
        "units": [_unit(unit, judged.get(unit.path)) for unit in units],
        "groups": groups,
        "not_compared": [
            {"suite": name[0], "experiment": name[1], "units": [u.letter for u in units if name in u.groups]}
            for name in names
            if name not in shared
        ],
        "coverage": {
            "lowest": rounded(lowest, RATE_DIGITS),
            "asked": options.min_coverage,
            "enough": None if options.min_coverage is None else lowest >= options.min_coverage,
        },
    }


def _declared(family: str, units: Sequence[Unit]) -> list[tuple[Unit, Unit]]:
    """The pairs of units that are to be tested, in order."""
    if family == "baseline":
        return [(units[0], other) for other in units[1:]]
    if family == "all":
        return list(combinations(units, 2))
    by_letter = {unit.letter: unit for unit in units}
    found: list[tuple[Unit, Unit]] = []
    for part in family.split(","):
        first, colon, second = (piece.strip() for piece in part.partition(":"))
        if not colon or first not in by_letter or second not in by_letter or first == second:
            known = ", ".join(f"{unit.letter} {unit.name}" for unit in units)
            raise InputError(
                "declares no pair",
                field="--family",
                found=part,
                expected="baseline, all, or pairs of letters as A:B,A:C",
                hint=f"The letters here are {known}",
            )
        pair = (by_letter[first], by_letter[second])
        if pair in found or pair[::-1] in found:
            raise InputError("declares a pair twice", field="--family", found=part)
        found.append(pair)
    return found


def _nothing_shared(units: Sequence[Unit], metric: Metric) -> InputError:
    held = [
        f"{unit.letter} {unit.name}: {', '.join(' / '.join(name) for name in unit.groups) or 'nothing'}"
        for unit in units
    ]
    return InputError(
        f"no declared pair shares a suite and experiment with cases that `{metric.name}` speaks of",
        found=one_line("; ".join(held), 400),
        hint="Suites and experiments are never compared across; run the same ones, or choose another --metric",
    )


def _pairs(
    tests: Sequence[_Test],
    metric: Metric,
    family: dict[str, Any],
    options: Options,
    judged: Mapping[str, Judged],
) -> dict[GroupName, list[dict[str, Any]]]:
    """Every declared test with its estimate, its place in the family, and its words, by group."""
    found = [estimate(test.pairing.pairs, options.seed, max(1, family["tests"])) for test in tests]
    p_values = iter(adjusted([each.p for each in found if each is not None], options.correction))
    pairs: dict[GroupName, list[dict[str, Any]]] = {}
    for test, difference in zip(tests, found, strict=True):
        p_adjusted = None if difference is None else next(p_values)
        coverage = test.pairing.coverage
        decidable = options.min_coverage is None or (coverage or 0.0) >= options.min_coverage
        differing = variables(
            (test.first.manifest, test.first.model),
            (test.second.manifest, test.second.model),
            *test.group,
            judged=(_judging(test.first, judged), _judging(test.second, judged)),
        )
        pair: dict[str, Any] = {
            "first": test.first.letter,
            "second": test.second.letter,
            "planned": test.pairing.planned,
            "coverage": rounded(coverage, RATE_DIGITS),
            "left_out": [
                {"reason": each.reason, "where": _where(each.where, test), "cases": each.cases}
                for each in test.pairing.left_out
            ],
            "difference": _difference(difference),
            "p_adjusted": significant(p_adjusted),
            "decidable": decidable,
            "established": p_adjusted is not None and decidable and p_adjusted <= ALPHA,
            "variables": [msgspec.to_builtins(each) for each in differing],
            "changed": list(changed(differing)),
            "recorded_elsewhere": [unit.letter for unit in (test.first, test.second) if _recorded(unit)],
        }
        said = (verdict_words(pair, metric, family), attribution_words(pair))
        pair["says"] = list(said)
        pair["paired"] = left_out_words(pair)
        pairs.setdefault(test.group, []).append(pair)
    return pairs


def _judging(unit: Unit, judged: Mapping[str, Judged]) -> dict[str, Any]:
    """What is known of the judge of a unit, as variables."""
    about = judged.get(unit.path)
    return {
        "judge": list(unit.judges),
        "judge's questions": None if about is None else about.questions,
        "judge's prompt": None if about is None else about.prompt,
    }


def _where(where: str, test: _Test) -> str:
    return {"first": test.first.letter, "second": test.second.letter}.get(where, "both")


def _difference(found: Difference | None) -> dict[str, Any] | None:
    """An estimate at the precision of a summary."""
    if found is None:
        return None
    data = msgspec.to_builtins(found)
    data["low"], data["high"] = data.pop("interval")
    exact = {"p": significant(found.p), "mcnemar": {**data["mcnemar"], "p": significant(found.mcnemar.p)}}
    return {
        name: rounded(value, RATE_DIGITS) if isinstance(value, float) else value for name, value in data.items()
    } | exact


def _ref(unit: Unit) -> ModelRef | None:
    return next((ref for ref in unit.manifest.models if ref.entry.label == unit.model), None)


def _recorded(unit: Unit) -> bool:
    """Whether a unit's answers were imported: its manifest then says nothing of how they were asked for."""
    ref = _ref(unit)
    return ref is not None and ref.entry.provider == "recorded"


def _unit(unit: Unit, judged: Judged | None) -> dict[str, Any]:
    ref = _ref(unit)
    return {
        "letter": unit.letter,
        "name": unit.name,
        "model": unit.model,
        "run_id": unit.manifest.run_id,
        "path": unit.path,
        "status": unit.manifest.status,
        "stand_in": ref.entry.stand_in if ref is not None else False,
        "judges": list(unit.judges),
        "judge_fails": [] if judged is None else list(judged.failures),
    }


def _together(
    shared: Sequence[GroupName], units: Sequence[Unit], metric: Metric, options: Options
) -> dict[GroupName, dict[str, Any] | None]:
    """For each suite and experiment, whether three units or more differ at all: one family of tests, of its own."""
    found: dict[GroupName, dict[str, Any] | None] = {}
    decidable: dict[GroupName, bool] = {}
    for name in shared:
        held = [unit for unit in units if name in unit.groups]
        cases = shared_cases([unit.groups[name] for unit in held])
        planned = set().union(*(unit.groups[name].seen for unit in held))
        decidable[name] = len(cases) >= (options.min_coverage or 0.0) * len(planned)
        found[name] = omnibus(cases, [unit.letter for unit in held]) if len(held) > 2 else None
    tested = {name: one["p"] for name, one in found.items() if one is not None and one["p"] is not None}
    p_values = dict(zip(tested, adjusted(list(tested.values()), options.correction), strict=True))
    return {
        name: None
        if one is None
        else omnibus_decided(one, metric, p_values.get(name), len(tested), decidable=decidable[name])
        for name, one in found.items()
    }


def _group(
    name: GroupName,
    units: Sequence[Unit],
    pairs: list[dict[str, Any]],
    together: dict[str, Any] | None,
    options: Options,
) -> dict[str, Any]:
    """One suite under one experiment: each unit by itself, the pairs, and all on the cases they share."""
    held = [unit for unit in units if name in unit.groups]
    cases = shared_cases([unit.groups[name] for unit in held])
    letters = [unit.letter for unit in held]
    return {
        "suite": name[0],
        "experiment": name[1],
        "units": [own_rate(unit, name) for unit in held],
        "pairs": pairs,
        "omnibus": together,
        "ranking": ranking(cases, letters, options.seed),
        "repeats": repeats(cases, letters, options.seed),
    }
