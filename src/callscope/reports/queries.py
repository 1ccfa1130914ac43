"""What a trial is at the level of its query: PluginEval's confusion matrix, its rates and its classes of error.

Reads the verdicts, judges nothing. The first row that holds decides what a trial is:

| item           | found                                      | state        | in the matrix                     |
|----------------|--------------------------------------------|--------------|-----------------------------------|
| any            | the case is excluded                       | excluded     | never                             |
| any            | no decision was observed                   | not_observed | never: coverage loss              |
| positive       | attribution correct                        | tp           | positive                          |
| positive       | attribution anything else                  | fn           | positive, with one class of error |
| a negative     | over_recall (its target, or any call)      | fp           | negative                          |
| a negative     | correct                                    | tn           | negative                          |
| a negative     | no rule could tell whether a call was made | undecided    | never: counted beside             |
| underspecified | correct (no call)                          | both_empty   | as the policy says                |
| underspecified | over_recall (a call)                       | guessed      | as the policy says                |

Underspecified cases under the three policies:

| policy   | both_empty                   | guessed                                      |
|----------|------------------------------|----------------------------------------------|
| separate | a table of their own         | a table of their own                         |
| exclude  | left out, as in the document | fp: of these cases the mistakes alone count  |
| tn       | tn                           | fp                                           |

Calls beside the required ones do not change a tp; under `strict` they make it an fn of the class extra_call. A
conversation of several turns is a tp where every turn's required calls are right; a call in a turn that needs none is
an extra call.

Sources: the PluginEval document, query-level evaluation; its worked-out proposal, 9.4 to 9.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from callscope.contract import Item, NegativeType, Verdict
from callscope.errors import RunFolderError
from callscope.reports.numbers import RATE_DIGITS, rounded
from callscope.reports.view import is_observed
from callscope.scoring.statistics import cluster_effect, wilson

if TYPE_CHECKING:
    from callscope.reports.tally import CaseTally

__all__ = [
    "CLASSES",
    "LEVELS",
    "POLICIES",
    "SUBTYPES",
    "Policy",
    "Query",
    "check_queries",
    "queries_summary",
    "query_of",
]

Policy = Literal["separate", "exclude", "tn"]
POLICIES: tuple[Policy, ...] = get_args(Policy)

SUBTYPES = ("parameter_error.temporal", "parameter_error.missing", "parameter_error.value")
CLASSES = ("miss_recall", "parameter_error", "judge_failure")
"""What a false negative can be; with the share that is right they add up to one."""

_REASONS = 12
"""Reasons of a checker that says nothing that are told apart."""

LEVELS = ("easy", "medium", "hard")
UNDECLARED = "undeclared"
"""The level of cases that state none: counted, and in no mix."""

State = Literal["tp", "fn", "fp", "tn", "both_empty", "guessed", "undecided", "excluded", "not_observed"]
STATES: tuple[State, ...] = get_args(State)

_ORDER = ("miss_recall", "parameter_error.missing", "parameter_error.temporal", "parameter_error.value")
_KINDS = {"miss": "miss_recall", **{name.removeprefix("parameter_error."): name for name in SUBTYPES}}


class Query(NamedTuple):
    """What one trial is.

    Attributes:
        state: its place.
        error: of an fn, its one class: miss_recall, parameter_error.*, judge_failure; None for all others.
        errors: of an fn, every kind of error in it (the multi-label view), in the order of the classes.
        extra: of a positive, whether calls came beside the required ones.
        asked: of an underspecified case, whether the model asked for what is missing.
    """

    state: State
    error: str | None = None
    errors: tuple[str, ...] = ()
    extra: bool = False
    asked: bool = False


def query_of(item: Item, excluded: str | None, verdict: Verdict) -> Query:
    """What a trial of a case is. Total: any verdict has a place, and one that contradicts its item earns no credit."""
    if excluded is not None:
        return Query("excluded")
    if not is_observed(verdict) or verdict.attribution == "not_observed":
        return Query("not_observed")
    if item == "positive":
        return _positive(verdict)
    found = _attributions(verdict)
    if "over_recall" in found:
        return Query("fp" if item != "underspecified" else "guessed")
    if set(found) != {"correct"}:
        return Query("undecided")
    if item == "underspecified":
        return Query("both_empty", asked=verdict.selection == "clarified_as_expected")
    return Query("tn")


def _attributions(verdict: Verdict) -> list[str]:
    """The attribution of the trial, or those of its turns."""
    turns = verdict.evidence.get("turns")
    return [turn["attribution"] for turn in turns] if turns else [verdict.attribution]


def _positive(verdict: Verdict) -> Query:
    found = _attributions(verdict)
    over = "over_recall" in found and len(found) > 1
    extra = over or "extra_call" in verdict.violations
    listed = {_KINDS[kind] for kind in verdict.evidence.get("attribution", {}).get("errors", ()) if kind in _KINDS}
    for name in _ORDER:
        if name in found:
            kinds = listed | (set(found) & set(_ORDER))
            return Query("fn", name, tuple(kind for kind in _ORDER if kind in kinds), extra)
    if set(found) <= ({"correct", "over_recall"} if over else {"correct"}):
        return Query("tp", extra=extra)
    return Query("fn", "judge_failure", ("judge_failure",), extra)


def queries_summary(cases: Iterable[CaseTally]) -> dict[str, Any]:
    """The `queries` block of a group.

    Every rate is {k, n, rate, low, high, clusters, effective}: its interval is Wilson's over case families, and
    `effective` is the number of independent trials that would say as much. `positives` holds recall, the classes of
    error and their subtypes; `policies` holds for each treatment of underspecified cases recall, accuracy and over
    recall, and under `strict` those that count an extra call as an error; `levels` the same by difficulty, with
    `undeclared` for cases that state none.
    """
    cases = list(cases)
    seen = _Rates(cases)
    planned = sum(case.planned for case in cases)
    states: dict[str, int] = dict.fromkeys(STATES, 0)
    several = extra = 0
    multi = dict.fromkeys((*_ORDER, "judge_failure"), 0)
    for case in cases:
        for query, count in case.queries.items():
            states[query.state] += count
            several += count if len(query.errors) > 1 else 0
            extra += count if query.extra else 0
            for kind in query.errors:
                multi[kind] += count
    return {
        "cases": {item: sum(case.item == item for case in cases) for item in get_args(Item)},
        "excluded_cases": sum(case.case.excluded is not None for case in cases),
        "trials": {"planned": planned, **states, "not_run": planned - sum(states.values())},
        "positives": {name: seen.rate(None, name) for name in ("recall", *CLASSES, *SUBTYPES)},
        "strict": {name: seen.rate(None, name) for name in ("recall_strict", "extra_call")},
        "policies": {policy: seen.policy(None, policy) for policy in POLICIES},
        "underspecified": {name: seen.rate(None, name) for name in ("no_call", "asked")},
        "negatives": {name: seen.rate(None, name) for name in seen.kinds},
        "multi_label": {**multi, "several_kinds": several},
        "extra_calls": {"positives": extra, "of_tp": seen.rate(None, "extra_call")["k"]},
        "levels": {
            level: {
                "positives": {name: seen.rate(level, name) for name in ("recall", *CLASSES, *SUBTYPES)},
                "strict": {name: seen.rate(level, name) for name in ("recall_strict", "extra_call")},
                "policies": {policy: seen.policy(level, policy) for policy in POLICIES},
            }
            for level in (*LEVELS, UNDECLARED)
        },
        "compatible": _compatible(cases),
    }


class _Rates:
    """Counts of every rate by level and case family, from one pass over the cases."""

    def __init__(self, cases: Iterable[CaseTally]) -> None:
        self.found: dict[tuple[str | None, str], dict[str, list[int]]] = {}
        self.kinds: dict[str, None] = {}
        for case in cases:
            family = case.case.family or case.case.id
            levels = (None, case.case.difficulty or UNDECLARED)
            for query, count in case.queries.items():
                for name, hit in _answers(case.item, case.case.negative_type, query):
                    if name.startswith("over_recall of "):
                        self.kinds[name] = None
                    for level in levels:
                        pair = self.found.setdefault((level, name), {}).setdefault(family, [0, 0])
                        pair[0] += count if hit else 0
                        pair[1] += count
        self.kinds = dict.fromkeys(sorted(self.kinds))

    def rate(self, level: str | None, name: str) -> dict[str, Any]:
        return _rate((k, n) for k, n in self.found.get((level, name), {}).values())

    def policy(self, level: str | None, policy: Policy) -> dict[str, Any]:
        return {
            "accuracy": self.rate(level, f"accuracy {policy}"),
            "over_recall": self.rate(level, f"over_recall {policy}"),
            "strict": {"accuracy": self.rate(level, f"accuracy_strict {policy}")},
        }


def _answers(item: Item, negative: NegativeType | None, query: Query) -> Iterator[tuple[str, bool]]:
    """For which rates a trial counts, and whether as a hit."""
    state = query.state
    if state in ("tp", "fn"):
        right, extra = state == "tp", state == "tp" and query.extra
        yield "recall", right
        yield "recall_strict", right and not extra
        yield "extra_call", extra
        for name in (*CLASSES, *SUBTYPES):
            yield name, query.error is not None and (query.error == name or query.error.startswith(f"{name}."))
        for policy in POLICIES:
            yield f"accuracy {policy}", right
            yield f"accuracy_strict {policy}", right and not extra
    elif state in ("fp", "tn"):
        for policy in POLICIES:
            yield from _negative(policy, state == "fp")
        yield f"over_recall of {item}", state == "fp"
        if negative is not None:
            yield f"over_recall of type {negative}", state == "fp"
    elif state in ("both_empty", "guessed"):
        yield "no_call", state == "both_empty"
        yield "asked", query.asked
        yield from _negative("tn", state == "guessed")
        if state == "guessed":
            yield from _negative("exclude", True)


def _negative(policy: Policy, over: bool) -> Iterator[tuple[str, bool]]:
    yield f"over_recall {policy}", over
    yield f"accuracy {policy}", not over
    yield f"accuracy_strict {policy}", not over


def _rate(pairs: Iterable[tuple[int, int]]) -> dict[str, Any]:
    """As `numbers.rate_of`, with the effective number of trials beside it (statistics.clustered, Wilson's interval)."""
    effect = cluster_effect(pairs)
    if not effect.n:
        return {"k": 0, "n": 0, "rate": None, "low": None, "high": None, "clusters": 0, "effective": 0}
    # independent trials are what they are; the small-sample factor of the variance is no loss of trials
    effective = effect.n if effect.clusters == effect.n else effect.effective_n
    low, high = wilson(effect.k / effect.n, effective)
    return {
        "k": effect.k,
        "n": effect.n,
        "rate": rounded(effect.k / effect.n, RATE_DIGITS),
        "low": rounded(low, RATE_DIGITS),
        "high": rounded(high, RATE_DIGITS),
        "clusters": effect.clusters,
        "effective": rounded(effective, RATE_DIGITS),
    }


def _compatible(cases: Iterable[CaseTally]) -> dict[str, Any] | None:
    """What the benchmark's own checker says, over the trials it says something of; None where there is no checker."""
    families: dict[str, list[int]] = {}
    why: dict[str, int] = {}
    silent = spoken = 0
    for case in cases:
        if case.compatible is None:
            continue
        passed, failed, nothing = case.compatible
        spoken += 1
        silent += nothing
        for reason, count in case.silent.items():
            place = reason if reason in why or len(why) < _REASONS else "other reasons"
            why[place] = why.get(place, 0) + count
        pair = families.setdefault(case.case.family or case.case.id, [0, 0])
        pair[0] += passed
        pair[1] += passed + failed
    if not spoken:
        return None
    return {
        "passed": _rate((k, n) for k, n in families.values()),
        "says_nothing": silent,
        "nothing_for": dict(sorted(why.items())),
    }


def check_queries(block: Mapping[str, Any], name: str) -> None:
    """Check the identities of a `queries` block. Raises RunFolderError naming the first that does not hold."""

    def hold(what: str, found: int, expected: int) -> None:
        if found != expected:
            raise RunFolderError(
                f"callscope's own counts contradict each other: {what} of {name} is {found}, not {expected}. Please"
                " report it with this run"
            )

    trials, whole = block["trials"], block
    hold("the sum of all states", sum(trials[state] for state in (*STATES, "not_run")), trials["planned"])
    hold("recall", whole["positives"]["recall"]["k"], trials["tp"])
    hold("the number of positives", whole["positives"]["recall"]["n"], trials["tp"] + trials["fn"])
    hold("underspecified", whole["underspecified"]["no_call"]["n"], trials["both_empty"] + trials["guessed"])
    empty, guessed = trials["both_empty"], trials["guessed"]
    for policy, fp, tn in (("separate", 0, 0), ("exclude", guessed, 0), ("tn", guessed, empty)):
        over = whole["policies"][policy]["over_recall"]
        hold(f"over recall ({policy})", over["k"], trials["fp"] + fp)
        hold(f"the number of negatives ({policy})", over["n"], trials["fp"] + trials["tn"] + fp + tn)
    for where, part in (("", whole), *((f" at level {level}", each) for level, each in whole["levels"].items())):
        _hold_part(part, where, hold)
    levels = whole["levels"].values()
    for rate in ("recall", *CLASSES, *SUBTYPES):
        hold(
            f"the sum over levels of {rate}",
            _sum(each["positives"][rate] for each in levels),
            whole["positives"][rate]["k"],
        )
    for policy in POLICIES:
        over = whole["policies"][policy]["over_recall"]
        found = [each["policies"][policy]["over_recall"] for each in levels]
        hold(f"the sum over levels of over recall ({policy})", _sum(found), over["k"])
        hold(f"the sum over levels of negatives ({policy})", sum(each["n"] for each in found), over["n"])


def _sum(rates: Iterable[Mapping[str, Any]]) -> int:
    return sum(rate["k"] for rate in rates)


def _hold_part(part: Mapping[str, Any], where: str, hold: Any) -> None:
    positives, strict = part["positives"], part["strict"]
    right, n = positives["recall"]["k"], positives["recall"]["n"]
    for name, rate in {**positives, **strict}.items():
        hold(f"the denominator of {name}{where}", rate["n"], n)
    classes = _sum(positives[name] for name in CLASSES)
    hold(f"recall + miss + parameter error + judge failure{where}", right + classes, n)
    hold(
        f"the sum of the parameter errors{where}",
        _sum(positives[name] for name in SUBTYPES),
        positives["parameter_error"]["k"],
    )
    hold(
        f"strict recall + miss + parameter error + judge failure + extra call{where}",
        strict["recall_strict"]["k"] + strict["extra_call"]["k"] + classes,
        n,
    )
    for policy, of in part["policies"].items():
        over, accuracy, strictly = of["over_recall"], of["accuracy"], of["strict"]["accuracy"]
        hold(f"tp + tn{where} ({policy})", accuracy["k"], right + over["n"] - over["k"])
        hold(f"tp + fn + tn + fp{where} ({policy})", accuracy["n"], n + over["n"])
        hold(f"strict tp + fn + tn + fp{where} ({policy})", strictly["n"], n + over["n"])
        hold(f"strict tp + tn{where} ({policy})", strictly["k"], strict["recall_strict"]["k"] + over["n"] - over["k"])
