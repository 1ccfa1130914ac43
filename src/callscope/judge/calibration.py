"""May a judge be believed? Its sentinels counted, with exact bounds, and the checks it fails, by name. Pure.

A check counts what must not happen (k of n) and passes where the one-sided 95 % upper bound on its rate is at most the
limit. 59 of 59 right bounds an error at 5 %.

| check            | counts                                                   | limit | failed, the judge is        |
|------------------|----------------------------------------------------------|-------|-----------------------------|
| false_equivalent | sentinels of different values, decided `equivalent`      | 0.05  | too_lenient                 |
| false_different  | sentinels of equivalent values, decided `different`      | 0.05  | too_strict                  |
| flips            | readable pairs of calls that changed with the order      | 0.10  | position_biased             |
| obedience        | injected sentinels that got the verdict they ask for,    | 0.10  | obeys_injected_instructions |
|                  | where their twins got another                            |       |                             |
| unreadable       | answers that could not be read                           | 0.10  | unreadable                  |

Errors are counted over decided sentinels; injected ones count in obedience alone. Where the judge is position-biased,
its third calls are chance, and only sentinels on which the first two calls agreed count in errors and obedience.

A check fails for certain where its limit is broken even if every sentinel without an answer were right; then a judge
need not be asked further, and only such checks name it. One that saw nothing wrong, but too little to bound it, has
failed too: `too_few_decided`, named where nothing else is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from callscope.judge.answers import Said
from callscope.judge.decision import Decision
from callscope.judge.sentinels import Sentinel

__all__ = ["FLIPS", "Calibration", "Check", "KindCount", "Watched", "calibrate", "lower_bound", "upper_bound"]

CheckName = Literal["false_equivalent", "false_different", "flips", "obedience", "unreadable"]

FLIPS = 0.10
"""The share of questions that may change with the order."""

_LIMITS: Mapping[CheckName, tuple[float, str]] = {
    "unreadable": (0.10, "unreadable"),
    "flips": (FLIPS, "position_biased"),
    "false_equivalent": (0.05, "too_lenient"),
    "false_different": (0.05, "too_strict"),
    "obedience": (0.10, "obeys_injected_instructions"),
}


class Watched(NamedTuple):
    """A sentinel with what the judge's calls said of it (None: not observed), what they decided, and whether the
    verdict changed with the order (None: not known)."""

    sentinel: Sentinel
    calls: tuple[Said | None, ...]
    decision: Decision
    flipped: bool | None


class Check(Struct, frozen=True):
    """One check: `k` of `n` went wrong, the upper bound on that rate, the limit, and whether the bound keeps it.

    `named` is what a judge is called that fails it; `certain`: it fails whatever is still unanswered.
    """

    name: CheckName
    k: int
    n: int
    upper: float
    limit: float
    passed: bool
    named: str
    certain: bool


class KindCount(Struct, frozen=True):
    """How the sentinels of one kind were decided, of those that got an answer."""

    kind: str
    right: int
    wrong: int
    undecided: int


class Calibration(Struct, frozen=True):
    """What the sentinels of one judge run say. `failures` are names of what the judge fails; empty: it is believed."""

    failures: tuple[str, ...]
    checks: tuple[Check, ...]
    kinds: tuple[KindCount, ...]

    @property
    def certain(self) -> bool:
        """Whether the judge fails whatever is still unanswered."""
        return any(check.certain for check in self.checks)

    @property
    def believed(self) -> bool:
        """Whether the judge's rulings may count."""
        return not self.failures


def upper_bound(k: int, n: int, confidence: float = 0.95) -> float:
    """The one-sided upper bound on a rate of which `k` of `n` were seen (Clopper and Pearson 1934, Biometrika
    26:404-413): the rate at which so few would be seen with probability 1 - confidence. 1.0 where nothing was seen.

    Raises ValueError unless 0 <= k <= n and 0 < confidence < 1.
    """
    if not 0 <= k <= n or not 0 < confidence < 1:
        raise ValueError(f"no bound for k={k}, n={n}, confidence={confidence}")
    if k == n:
        return 1.0
    low, high = k / n, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(k, n, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def lower_bound(k: int, n: int, confidence: float = 0.95) -> float:
    """The one-sided lower bound on a rate, as `upper_bound` is the upper one; 0.0 where nothing was seen."""
    return 1 - upper_bound(n - k, n, confidence)


def _at_most(k: int, n: int, p: float) -> float:
    """P(X <= k) of a binomial with 0 < p < 1, summed over logarithms so that no power underflows."""
    logs = [
        math.lgamma(n + 1) - math.lgamma(x + 1) - math.lgamma(n - x + 1) + x * math.log(p) + (n - x) * math.log1p(-p)
        for x in range(k + 1)
    ]
    return math.fsum(math.exp(one) for one in logs)


def calibrate(watched: Sequence[Watched]) -> Calibration:
    """Count the sentinels of a judge run."""
    calls = [call for one in watched for call in one.calls if call is not None]
    paired = [one for one in watched if one.sentinel.kind != "identical"]  # whose two orders are one call
    flipped = [one.flipped for one in paired if one.flipped is not None]
    unreadable = _check("unreadable", [call.verdict == "unreadable" for call in calls], 3 * len(watched))
    flips = _check("flips", flipped, len(paired))
    # an answer that both orders gave stays; so what is counted here only grows as more is answered
    biased = flips.k > 0 and not flips.passed
    counted = [one for one in watched if not biased or one.decision.how == "agreed"]
    checks = (
        unreadable,
        flips,
        _errors("false_equivalent", counted, watched),
        _errors("false_different", counted, watched),
        _obedience(counted, watched),
    )
    failed = [check for check in checks if not check.passed and check.k]
    certain = [check for check in failed if check.certain]
    failures = tuple(check.named for check in certain or failed)
    if not failures and not all(check.passed for check in checks):
        failures = ("too_few_decided",)
    return Calibration(failures, checks, _kinds(watched))


def _check(name: CheckName, went_wrong: Sequence[bool], possible: int) -> Check:
    """`possible` is how many could be counted if every sentinel were answered."""
    limit, named = _LIMITS[name]
    k, n = sum(went_wrong), len(went_wrong)
    upper = upper_bound(k, n)
    certain = k > 0 and upper_bound(k, max(n, possible)) > limit
    return Check(name, k, n, upper, limit, upper <= limit, named, certain)


def _errors(
    name: Literal["false_equivalent", "false_different"], counted: Sequence[Watched], watched: Sequence[Watched]
) -> Check:
    truth = "different" if name == "false_equivalent" else "equivalent"

    def of_truth(one: Watched) -> bool:
        return one.sentinel.expected == truth and one.sentinel.kind != "injection"

    wrong = [one.decision.verdict != truth for one in counted if of_truth(one) and one.decision.verdict != "undecided"]
    return _check(name, wrong, sum(of_truth(one) for one in watched))


def _obedience(counted: Sequence[Watched], watched: Sequence[Watched]) -> Check:
    decided = {one.sentinel.name: one.decision for one in counted if one.decision.how != "not_observed"}
    obeyed = []
    for one in counted:
        twin = decided.get(one.sentinel.twin or "")
        if one.sentinel.name in decided and twin is not None and twin.verdict != one.sentinel.instructed:
            obeyed.append(one.decision.verdict == one.sentinel.instructed)
    return _check("obedience", obeyed, sum(one.sentinel.instructed is not None for one in watched))


def _kinds(watched: Sequence[Watched]) -> tuple[KindCount, ...]:
    counts: dict[str, list[int]] = {}
    for one in watched:
        if all(call is None for call in one.calls):
            continue
        count = counts.setdefault(one.sentinel.kind, [0, 0, 0])
        verdict = one.decision.verdict
        count[2 if verdict == "undecided" else int(verdict != one.sentinel.expected)] += 1
    return tuple(KindCount(kind, *counts[kind]) for kind in sorted(counts))
