"""One pass over what was derived: counters per (suite, experiment, model) and per case.

Memory grows with cases, not with trials, but for the clocks (8 bytes a trial each) and for the distinct outcomes that
stability must tell apart. Nothing is divided here; rates are `summary`'s.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import UNSET

from callscope.contract import Block, Case, Derived, ProviderError, Repaired, item_of
from callscope.errors import RunFolderError
from callscope.reports.checked import their_error
from callscope.reports.chosen import Pair, count_pair, pair_of
from callscope.reports.queries import Query, query_of
from callscope.reports.routing import Decision, State, decision_of, readable
from callscope.reports.talks import count_talk
from callscope.reports.view import (
    RIGHT_SELECTIONS,
    GroupKey,
    RunView,
    cases_by_id,
    expectation_class,
    failing_stage,
    is_observed,
)

__all__ = ["CLOCKS", "TOKEN_KINDS", "CaseTally", "Clock", "GroupTally", "Sum", "Way", "tally"]

CLOCKS = ("latency", "queued", "first_byte", "first_call")
TOKEN_KINDS = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_input_tokens", "cache_write_tokens")
OTHERS = "(others)"
_DISTINCT = 500


class Way(NamedTuple):
    """One way a trial can end, as its stages say. Trials of a case that ended the same way are one counter."""

    acceptance: str
    selection: str
    structure: str
    semantics: str
    attribution: str
    passed: bool | None
    observed: bool
    failing: str | None
    violations: tuple[str, ...]


class CaseTally:
    """What the repeats of one case did. `seen` has bit r set when repeat r was recorded.

    `mended` counts the trials to which a repair applies, by how they ended and how they would have ended with repairs.
    `queries` counts what the trials are at the level of the query, `decided` the routing decisions read off them, and
    `compatible` what the benchmark's own checker says: passed, failed, nothing (None where there is no checker);
    `silent` why it says nothing, in its words.
    """

    __slots__ = (
        "case", "compatible", "decided", "expects", "item", "mended", "outcomes", "planned", "queries", "seen",
        "silent", "talk", "verbatim", "ways",
    )  # fmt: skip

    def __init__(self, case: Case, planned: int) -> None:
        self.case = case
        self.expects = expectation_class(case.expected)
        self.item = item_of(case)
        self.planned = planned
        self.seen = 0
        self.ways: dict[Way, int] = {}
        self.mended: dict[tuple[Way, Way], int] = {}
        self.outcomes: dict[str, int] = {}
        self.verbatim: dict[tuple[str, str], int] = {}
        self.talk: dict[str, int] = {}
        self.queries: dict[Query, int] = {}
        self.decided: dict[tuple[Decision, State], int] = {}
        self.compatible: list[int] | None = None
        self.silent: dict[str, int] = {}

    @property
    def recorded(self) -> int:
        """How many repeats have a verdict."""
        return self.seen.bit_count()


class Clock:
    """Milliseconds of one kind, and how many trials did not have it."""

    __slots__ = ("unknown", "values")

    def __init__(self) -> None:
        self.values = array("d")
        self.unknown = 0

    def add(self, value: float | None) -> None:
        """Note one trial's time."""
        if value is None:
            self.unknown += 1
        else:
            self.values.append(value)


class Sum:
    """A sum over the trials that know the number; an unknown one is counted, never taken for zero."""

    __slots__ = ("known", "total", "unknown")

    def __init__(self) -> None:
        self.total: float = 0
        self.known = self.unknown = 0

    def add(self, value: float | None) -> None:
        """Note one trial's number."""
        if value is None:
            self.unknown += 1
        else:
            self.known += 1
            self.total += value


class GroupTally:
    """All counters of one group."""

    def __init__(self, key: GroupKey, benchmark: str | None = None) -> None:
        self.key, self.benchmark = key, benchmark
        self.decisions: tuple[Decision, ...] = ()
        self.blocks: list[Block] = []
        self.cases: dict[str, CaseTally] = {}
        self.clocks = {name: Clock() for name in CLOCKS}
        self.tokens = {name: Sum() for name in TOKEN_KINDS}
        self.cost = Sum()
        self.attempts: Counter[int] = Counter()
        self.retries = self.retried = 0
        self.pairs: dict[Pair, list[int]] = {}
        self.failed_flags: Counter[str] = Counter()
        self.violations: Counter[str] = Counter()
        self.causes: Counter[tuple[str, str]] = Counter()
        self.flags: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.reported: Counter[str] = Counter()
        self.finish: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()
        self.transformed = 0
        self.repairs: Counter[str] = Counter()
        self.recovery: dict[str, Counter[str]] = {}
        self.recovery_trials = 0

    def add(self, derived: Derived) -> None:
        """Count one trial. Raises RunFolderError where the plan holds no such trial, or holds it already counted."""
        verdict = derived.verdict
        case = self.cases.get(verdict.case_id)
        bit = 1 << verdict.repeat if verdict.repeat >= 0 else 0
        if case is None or not bit or verdict.repeat >= case.planned:
            raise RunFolderError(f"a verdict stands for a trial outside the plan: {_named(derived)}")
        if case.seen & bit:
            raise RunFolderError(f"two verdicts stand for one trial: {_named(derived)}")
        case.seen |= bit
        observed = is_observed(verdict)
        way = Way(
            verdict.acceptance,
            verdict.selection,
            verdict.structure,
            verdict.semantics,
            verdict.attribution,
            verdict.passed,
            observed,
            failing_stage(verdict),
            tuple(sorted(verdict.violations)) if verdict.violations else (),
        )
        case.ways[way] = case.ways.get(way, 0) + 1
        query = query_of(case.item, case.case.excluded, verdict)
        case.queries[query] = case.queries.get(query, 0) + 1
        for decision in self.decisions:
            state = decision_of(decision, case.case, derived)
            if state is not None:
                case.decided[decision, state] = case.decided.get((decision, state), 0) + 1
        if derived.compatible_passed is not UNSET:
            counts = case.compatible = case.compatible or [0, 0, 0]
            counts[(True, False, None).index(derived.compatible_passed)] += 1
            if derived.compatible_passed is None:
                why = their_error(derived) or "no reason given"
                case.silent[why] = case.silent.get(why, 0) + 1
        if derived.repaired is not None:
            self._mend(case, way, derived.repaired)
        if observed:
            self._observe(case, derived)
        else:
            _bump(self.causes, (verdict.acceptance, _cause(derived)))
        self._measure(derived)
        if verdict.recovery is not None:
            count_talk(case.talk, verdict.recovery)

    def _mend(self, case: CaseTally, way: Way, repaired: Repaired) -> None:
        then = way._replace(
            selection=repaired.selection,
            structure=repaired.structure,
            semantics=repaired.semantics,
            attribution=repaired.attribution,
            passed=repaired.passed,
            failing=None,
            violations=(),
        )
        case.mended[way, then] = case.mended.get((way, then), 0) + 1
        for name in {step.name for step in repaired.steps}:
            _bump(self.repairs, name)

    def _observe(self, case: CaseTally, derived: Derived) -> None:
        measures, right = derived.measures, derived.verdict.selection in RIGHT_SELECTIONS
        count_pair(self.pairs, pair_of(case.case, case.expects, derived.outcome), right=right)
        if case.planned > 1:
            meaning, verbatim = measures.outcome_hash, (measures.outcome_hash, measures.text_hash)
            case.outcomes[meaning] = case.outcomes.get(meaning, 0) + 1
            case.verbatim[verbatim] = case.verbatim.get(verbatim, 0) + 1
        for name in ("latency", "first_byte", "first_call"):
            self.clocks[name].add(getattr(measures, name))

    def _measure(self, derived: Derived) -> None:
        verdict, measures = derived.verdict, derived.measures
        self.clocks["queued"].add(measures.queued)
        for name, total in self.tokens.items():
            total.add(getattr(measures.usage, name))
        self.cost.add(measures.cost)
        self.attempts[measures.attempts] += 1
        retries = max(0, measures.attempts - measures.rounds)
        self.retries += retries
        self.retried += retries > 0
        if measures.reported_model is not None:
            _bump(self.reported, measures.reported_model)
        if measures.finish is not None:
            _bump(self.finish, measures.finish)
        for violation in set(verdict.violations):
            _bump(self.violations, violation)
        flags = verdict.flags + derived.outcome.flags
        for flag in set(flags) if flags else ():
            _bump(self.flags, flag)
            if verdict.passed is False:
                _bump(self.failed_flags, flag)
        for note in set(derived.notes):
            _bump(self.notes, note)
        if derived.transformations:
            self.transformed += 1
            for step in derived.transformations:
                _bump(self.rules, step.rule)
        if verdict.recovery is not None:
            self.recovery_trials += 1
            self._recover(verdict.recovery)

    def _recover(self, facts: dict[str, Any]) -> None:
        for name, value in facts.items():
            if isinstance(value, (bool, int, str)) and (name in self.recovery or len(self.recovery) < 40):
                shown = str(value).lower() if isinstance(value, bool) else str(value)
                _bump(self.recovery.setdefault(name, Counter()), shown[:80])


def _bump(counter: Counter[Any], key: Any) -> None:
    """Count `key`; past a bound of distinct keys (servers choose some of these words) new ones are counted together."""
    if key not in counter and len(counter) >= _DISTINCT:
        key = (key[0], OTHERS) if isinstance(key, tuple) else OTHERS
    counter[key] += 1


def _cause(derived: Derived) -> str:
    """The finer cause of a loss: the outcome's flags together, or else its code; one cause a trial, so they add up."""
    outcome = derived.outcome
    if outcome.flags:
        return " + ".join(sorted(set(outcome.flags)))
    return (outcome.code[:80] or "unknown") if isinstance(outcome, ProviderError) else "unknown"


def _named(derived: Derived) -> str:
    v = derived.verdict
    return f"{v.suite!r} / {v.experiment!r} / {v.model!r} / {v.case_id!r} / repeat {v.repeat}"


def _planned(view: RunView) -> Iterator[GroupTally]:
    groups: dict[GroupKey, GroupTally] = {}
    suites: dict[str, dict[str, Case]] = {}
    for block in view.manifest.plan:
        cases = suites.get(block.suite)
        if cases is None:
            cases = suites[block.suite] = cases_by_id(view, block.suite)
        key = GroupKey(block.suite, block.experiment, block.model)
        group = groups.setdefault(key, GroupTally(key, view.suites[block.suite].benchmark))
        group.blocks.append(block)
        group.decisions = readable(group.blocks[0].settings)
        for case_id in block.cases:
            if case_id not in cases:
                raise RunFolderError(f"the plan names the case {case_id!r}, which the suite {block.suite!r} lacks")
            if case_id in group.cases:
                raise RunFolderError(f"the plan holds the case {case_id!r} twice for {block.model!r}")
            group.cases[case_id] = CaseTally(cases[case_id], block.repeats)
    yield from groups.values()


def tally(view: RunView) -> list[GroupTally]:
    """All groups of the plan, in plan order, with what was derived counted in.

    Raises RunFolderError where verdicts and plan do not belong together.
    """
    groups = {group.key: group for group in _planned(view)}
    for derived in view.derived():
        v = derived.verdict
        group = groups.get(GroupKey(v.suite, v.experiment, v.model))
        if group is None:
            raise RunFolderError(f"a verdict stands for a trial outside the plan: {_named(derived)}")
        group.add(derived)
    return list(groups.values())
