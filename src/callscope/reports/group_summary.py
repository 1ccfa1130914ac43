"""The sections of a group in summary.json: coverage, rates over their own denominators, slices, stability, costs.

Pure arithmetic over a finished tally. Every rate is clustered by case family; what is undecided or was not observed is
in no denominator, and is counted beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

import msgspec

from callscope.contract import Acceptance, Attribution, Manifest, Selection
from callscope.reports.chosen import pairs_summary
from callscope.reports.numbers import COST_DIGITS, MS_DIGITS, RATE_DIGITS, rate_of, rounded
from callscope.reports.queries import queries_summary
from callscope.reports.repairs import repairs_summary, with_repairs
from callscope.reports.routing import routing_summary
from callscope.reports.talks import talks_summary
from callscope.reports.tally import CaseTally, Clock, GroupTally, Sum, Way
from callscope.reports.view import EXPECTATION_CLASSES, model_refs
from callscope.scoring.statistics import percentile

__all__ = ["RATES", "SELECTIONS", "STAGES", "case_summary", "group_summary"]

STAGES = ("acceptance", "selection", "structure", "semantics", "policy", "recovery", "other")
SELECTIONS: tuple[str, ...] = get_args(Selection)

_POSITIVE = frozenset({"tool", "tools"})


def _of(
    classes: Iterable[str], counts: Callable[[Way], bool], hit: Callable[[Way], bool]
) -> Callable[[str, Way], bool | None]:
    chosen = frozenset(classes)
    return lambda expects, way: hit(way) if expects in chosen and way.observed and counts(way) else None


def _is(*selections: str) -> Callable[[Way], bool]:
    chosen = frozenset(selections)
    return lambda way: way.selection in chosen


def _decided(way: Way) -> bool:
    return way.selection != "undecided"


def _called_right(way: Way) -> bool:
    return way.selection == "correct_tool" and way.semantics != "undecided"


RATES: dict[str, Callable[[str, Way], bool | None]] = {
    # strict passes, over observed trials that were decided
    "passed": lambda _, way: way.passed,
    # the right tool chosen, over observed positive trials with a decided selection
    "selection": _of(_POSITIVE, _decided, _is("correct_tool")),
    # arguments that meet the schema, over trials in which a call was observed
    "structure": _of(EXPECTATION_CLASSES, lambda w: w.structure != "not_applicable", lambda w: w.structure == "valid"),
    # arguments exactly as expected / as the fixture allows, over correct_tool trials with decided semantics
    "exact": _of(_POSITIVE, _called_right, lambda w: w.semantics == "exact"),
    "acceptable": _of(_POSITIVE, _called_right, lambda w: w.semantics in {"exact", "acceptable"}),
    # no call where none was right, and a call all the same, over observed abstention trials
    "abstention": _of({"abstention"}, _decided, _is("abstained_correctly")),
    "over_calls": _of({"abstention"}, _decided, _is("called_when_abstention_expected")),
    # asked for what is missing, and guessed it, over observed clarification trials
    "clarification": _of({"clarification"}, _decided, _is("clarified_as_expected")),
    "guessed": _of({"clarification"}, _decided, _is("guessed_instead_of_clarifying")),
    # asked although nothing was missing, over observed positive trials
    "unnecessary_clarification": _of(_POSITIVE, _decided, _is("clarified_unnecessarily")),
}
"""Rate name -> whether a trial counts for it: True a hit, False a miss, None not in its denominator."""


def group_summary(group: GroupTally, manifest: Manifest) -> dict[str, Any]:
    """All that summary.json says of one group."""
    suite = next((ref for ref in manifest.suites if ref.name == group.key.suite), None)
    ref = model_refs(manifest).get(group.key.model)
    ways = _ways(group)
    planned = sum(case.planned for case in group.cases.values())
    recorded = sum(ways.values())
    trials = {
        "planned": planned,
        "recorded": recorded,
        "observed": _count(ways, lambda w: w.observed),
        "passed": _count(ways, lambda w: w.passed is True),
        "failed": _count(ways, lambda w: w.passed is False),
        "undecided": _count(ways, lambda w: w.passed is None and w.observed),
        "not_observed": _count(ways, lambda w: w.passed is None and not w.observed),
        "not_run": planned - recorded,
    }
    rates = _rates(group, lambda case: case.ways)
    settings = [msgspec.to_builtins(block.settings) for block in group.blocks]
    return {
        "suite": group.key.suite,
        "suite_version": suite.version if suite else None,
        "suite_kind": suite.kind if suite else None,
        "benchmark": group.benchmark,
        "experiment": group.key.experiment,
        "model": group.key.model,
        "provider": ref.entry.provider if ref else None,
        "model_id": ref.entry.model if ref else None,
        "api": ref.entry.api if ref else None,
        "stand_in": ref.entry.stand_in if ref else False,
        "settings": [each for i, each in enumerate(settings) if each not in settings[:i]],
        "trials": trials,
        "coverage": _coverage(group, ways, trials),
        "rates": rates,
        "repaired": repairs_summary(group, _rates(group, with_repairs) if group.repairs else rates),
        "undecided": {
            "selection": _count(ways, lambda w: w.observed and w.selection == "undecided"),
            "semantics": _count(ways, lambda w: w.observed and w.semantics == "undecided"),
            "passed": trials["undecided"],
        },
        "funnel": _funnel(ways, trials),
        "failed_at": _by(ways, "failing", STAGES),
        "attribution": _by(ways, "attribution", get_args(Attribution)),
        "queries": queries_summary(group.cases.values()),
        "routing": routing_summary(group.cases.values(), group.decisions, group.blocks[0].settings),
        "violations": dict(sorted(group.violations.items())),
        "confusion": _confusion(group),
        "tool_pairs": pairs_summary(group.pairs),
        "conversations": talks_summary(group.cases.values()),
        "slices": _slices(group),
        "stability": _stability(group),
        "time": {("model" if name == "latency" else name): _clock(clock) for name, clock in group.clocks.items()},
        "tokens": {name: _sum(each, MS_DIGITS) for name, each in group.tokens.items()},
        "cost": _sum(group.cost, COST_DIGITS),
        "attempts": {
            "sum": sum(number * trials_ for number, trials_ in group.attempts.items()),
            "retries": group.retries,
            "retried_trials": group.retried,
            "trials": {str(number): trials_ for number, trials_ in sorted(group.attempts.items())},
        },
        "reported_models": dict(group.reported),
        "finish": dict(group.finish),
        "flags": dict(group.flags),
        "failed_flags": dict(group.failed_flags),
        "notes": dict(group.notes),
        "transformations": {
            "trials": group.transformed,
            "changes": sum(group.rules.values()),
            "rules": dict(group.rules),
        },
        "recovery": {
            "trials": group.recovery_trials,
            "values": {name: dict(counter) for name, counter in group.recovery.items()},
        },
    }


def _ways(group: GroupTally) -> dict[Way, int]:
    ways: dict[Way, int] = {}
    for case in group.cases.values():
        for way, count in case.ways.items():
            ways[way] = ways.get(way, 0) + count
    return ways


def _count(ways: dict[Way, int], test: Callable[[Way], bool]) -> int:
    return sum(count for way, count in ways.items() if test(way))


def _by(ways: dict[Way, int], field: str, names: Iterable[str]) -> dict[str, int]:
    """Trials by the value of one field, every name present."""
    counts = dict.fromkeys(names, 0)
    for way, count in ways.items():
        value = getattr(way, field)
        if value is not None:
            counts[value] += count
    return counts


def _coverage(group: GroupTally, ways: dict[Way, int], trials: dict[str, int]) -> dict[str, Any]:
    families: dict[str, list[int]] = {}
    for case in group.cases.values():
        pair = families.setdefault(case.case.family or case.case.id, [0, 0])
        pair[0] += sum(count for way, count in case.ways.items() if way.acceptance == "accepted")
        pair[1] += case.recorded
    categories = _by(ways, "acceptance", get_args(Acceptance))
    causes = sorted(group.causes.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
    return {
        "accepted": rate_of((k, n) for k, n in families.values()),
        "categories": {**categories, "not_run": trials["not_run"]},
        "causes": [{"category": c, "cause": cause, "trials": count} for (c, cause), count in causes],
    }


def _rates(group: GroupTally, ways_of: Callable[[CaseTally], dict[Way, int]]) -> dict[str, Any]:
    names = list(RATES)
    families: dict[str, list[list[int]]] = {}
    memo: dict[tuple[str, Way], list[tuple[int, bool]]] = {}
    for case in group.cases.values():
        pairs = families.setdefault(case.case.family or case.case.id, [[0, 0] for _ in names])
        for way, count in ways_of(case).items():
            known = memo.get((case.expects, way))
            if known is None:
                answers = [(i, RATES[name](case.expects, way)) for i, name in enumerate(names)]
                known = memo[case.expects, way] = [(i, hit) for i, hit in answers if hit is not None]
            for i, hit in known:
                pairs[i][0] += count if hit else 0
                pairs[i][1] += count
    return {name: rate_of((pairs[i][0], pairs[i][1]) for pairs in families.values()) for i, name in enumerate(names)}


def _funnel(ways: dict[Way, int], trials: dict[str, int]) -> dict[str, int]:
    """How many trials came through each stage; undecided ones leave at the stage that could not be decided."""

    def through(*stages: str) -> int:
        return _count(
            ways, lambda w: w.observed and w.selection != "undecided" and w.failing not in {"acceptance", *stages}
        )

    meaning = _count(
        ways,
        lambda w: (
            w.observed
            and "undecided" not in (w.selection, w.semantics)
            and w.failing not in {"acceptance", "selection", "structure", "semantics"}
        ),
    )
    return {
        "planned": trials["planned"],
        "observed": trials["observed"],
        "selection": through("selection"),
        "structure": through("selection", "structure"),
        "semantics": meaning,
        "passed": trials["passed"],
    }


def _confusion(group: GroupTally) -> dict[str, dict[str, int]]:
    matrix = {row: dict.fromkeys((*SELECTIONS, "not_run"), 0) for row in EXPECTATION_CLASSES}
    for case in group.cases.values():
        row = matrix[case.expects]
        for way, count in case.ways.items():
            row[way.selection] += count
        row["not_run"] += case.planned - case.recorded
    return matrix


def _slices(group: GroupTally) -> dict[str, list[dict[str, Any]]]:
    axes: dict[str, Callable[[CaseTally], tuple[str | None, ...]]] = {
        "behaviour": lambda c: (c.case.behaviour,),
        "tag": lambda c: tuple(dict.fromkeys(c.case.tags)),
        "difficulty": lambda c: (c.case.difficulty,),
        "locale": lambda c: (c.case.locale,),
    }
    scored = [(case, *_passed(case)) for case in group.cases.values()]
    return {axis: _slice(scored, values) for axis, values in axes.items()}


def _slice(
    scored: list[tuple[CaseTally, int, int]], values: Callable[[CaseTally], tuple[str | None, ...]]
) -> list[dict[str, Any]]:
    planned: dict[str | None, int] = {}
    families: dict[str | None, dict[str, list[int]]] = {}
    for case, passed, decided in scored:
        for value in values(case):
            planned[value] = planned.get(value, 0) + case.planned
            pair = families.setdefault(value, {}).setdefault(case.case.family or case.case.id, [0, 0])
            pair[0] += passed
            pair[1] += decided
    return [
        {"value": v, "planned": planned[v], "passed": rate_of((k, n) for k, n in families[v].values())}
        for v in sorted(planned, key=lambda v: (v is None, v or ""))
    ]


def _passed(case: CaseTally) -> tuple[int, int]:
    passed = sum(count for way, count in case.ways.items() if way.passed)
    return passed, sum(count for way, count in case.ways.items() if way.passed is not None)


def _stability(group: GroupTally) -> dict[str, Any]:
    """Over cases observed at least twice: how often the commonest outcome came, against how often any did."""
    kinds: dict[str, list[tuple[int, int]]] = {"outcome": [], "verbatim": [], "verdict": []}
    repeated = once = 0
    for case in group.cases.values():
        verdicts = [count for way, count in case.ways.items() if way.observed]
        observed = sum(verdicts)
        once += observed == 1
        if observed < 2:
            continue
        repeated += 1
        kinds["outcome"].append((max(case.outcomes.values()), observed))
        kinds["verbatim"].append((max(case.verbatim.values()), observed))
        kinds["verdict"].append((max(verdicts), observed))
    result: dict[str, Any] = {"cases": repeated, "observed_once": once}
    for kind, pairs in kinds.items():
        result[kind] = {
            "modal": sum(k for k, _ in pairs),
            "observed": sum(n for _, n in pairs),
            "mean": rounded(sum(k / n for k, n in pairs) / len(pairs), RATE_DIGITS) if pairs else None,
            "unanimous": sum(k == n for k, n in pairs),
        }
    return result


def _clock(clock: Clock) -> dict[str, Any]:
    values = clock.values
    return {
        "n": len(values),
        "unknown": clock.unknown,
        "p50": rounded(percentile(values, 0.50), MS_DIGITS),
        "p95": rounded(percentile(values, 0.95), MS_DIGITS),
    }


def _sum(total: Sum, digits: int) -> dict[str, Any]:
    return {
        "sum": (total.total if isinstance(total.total, int) else rounded(total.total, digits)) if total.known else None,
        "known": total.known,
        "unknown": total.unknown,
        "per_trial": rounded(total.total / total.known, digits) if total.known else None,
    }


def case_summary(group: GroupTally, case_id: str, case: CaseTally) -> dict[str, Any]:
    """One case under one model: a cell of the heat map."""
    passed, decided = _passed(case)
    failed: dict[str, int] = {}
    for way, count in case.ways.items():
        if way.failing is not None:
            failed[way.failing] = failed.get(way.failing, 0) + count
    observed = sum(count for way, count in case.ways.items() if way.observed)
    modal = max(case.outcomes.values(), default=observed)
    return {
        "suite": group.key.suite,
        "experiment": group.key.experiment,
        "model": group.key.model,
        "case_id": case_id,
        "behaviour": case.case.behaviour,
        "expects": case.expects,
        "difficulty": case.case.difficulty,
        "locale": case.case.locale,
        "family": case.case.family,
        "planned": case.planned,
        "recorded": case.recorded,
        "observed": observed,
        "passed": passed,
        "decided": decided,
        "undecided": sum(count for way, count in case.ways.items() if way.observed and way.passed is None),
        "modal": {"k": modal, "n": observed},
        "failed_at": failed,
        "first_failing": next((stage for stage in _BLAME_ORDER if stage in failed), None),
    }


_BLAME_ORDER = (*STAGES[1:], STAGES[0])
"""Coverage loss comes last: a case that also failed when it was observed has shown more than a lost trial does."""
