"""Recall and accuracy under another mix of difficulty, by post-stratification: what the levels say, weighted anew.

No trial is drawn again: a sample of another mix is another sample, and is not called this. A rate under a mix is
sum w_h p_h over the strata h, its variance sum w_h^2 p_h (1 - p_h) / n_h (Holt and Smith 1979, JRSS A 142:33-46, given
the sizes of the strata; Cochran 1977, Sampling Techniques, 5.3), with the effective size of a stratum in place of n_h
where its trials are not independent. At the sample's own shares it is the plain rate.

Source: the worked-out proposal of the PluginEval document, 1.2.3 and 12.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from callscope.errors import InputError
from callscope.reports.numbers import RATE_DIGITS, rounded
from callscope.reports.queries import LEVELS, Policy
from callscope.scoring.statistics import wilson

__all__ = [
    "MIXES",
    "EmptyStratum",
    "Estimate",
    "Mix",
    "Stratum",
    "post_stratified",
    "read_mixes",
    "under_mix",
    "weights_negatives",
]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")
_MOST = 8


class Mix(NamedTuple):
    """A mix of difficulty: its name, and the share of easy, medium and hard cases; the shares add up to 1."""

    name: str
    easy: float
    medium: float
    hard: float

    @property
    def shares(self) -> dict[str, float]:
        """Level -> share."""
        return dict(zip(LEVELS, self[1:], strict=True))

    @property
    def text(self) -> str:
        """The shares as `.40/.40/.20`."""
        return "/".join(f"{share:.4f}".rstrip("0").ljust(4, "0").removeprefix("0") for share in self[1:])


MIXES = (Mix("original", 0.4, 0.4, 0.2), Mix("easy-weighted", 0.6, 0.3, 0.1))
"""The document's two distributions."""


class EmptyStratum(InputError):
    """A stratum that has weight holds no trial, so the rate under this mix is not defined. `stratum` names it."""

    def __init__(self, stratum: str) -> None:
        self.stratum = stratum
        super().__init__(
            f"the rate is not defined: no {stratum} trial was decided, and the mix gives them weight",
            field="mix",
            hint="Give the stratum no weight, or add such cases",
        )


class Stratum(NamedTuple):
    """`k` of `n` trials; `effective` is the number of independent trials that would say as much (`n` at most)."""

    k: int
    n: int
    effective: float


class Estimate(NamedTuple):
    """A rate under a mix with its 95 % interval; its variance; and the counts it rests on, stratum -> (k, n)."""

    rate: float
    low: float
    high: float
    variance: float
    counts: dict[str, tuple[int, int]]

    def as_json(self) -> dict[str, Any]:
        """The estimate as it stands in JSON."""
        numbers = {name: rounded(getattr(self, name), RATE_DIGITS) for name in ("rate", "low", "high")}
        return {**numbers, "strata": {name: {"k": k, "n": n} for name, (k, n) in self.counts.items()}}


def read_mixes(written: Sequence[str]) -> tuple[Mix, ...]:
    """Mixes written as NAME=easy/medium/hard in any parts, as `mine=.5/.3/.2` or `mine=5/3/2`. Raises InputError."""
    mixes: list[Mix] = []
    for text in written:
        mix = _read(text)
        if mix.name in {each.name for each in (*MIXES, *mixes)}:
            raise InputError("is the name of another mix already", field="--mix", found=mix.name)
        mixes.append(mix)
    if len(mixes) > _MOST:
        raise InputError("are more mixes than a table can hold", field="--mix", found=len(mixes), expected=f"≤ {_MOST}")
    return tuple(mixes)


def _read(text: str) -> Mix:
    name, _, parts = text.partition("=")
    expected = "NAME=easy/medium/hard, as mine=.5/.3/.2"
    if not _NAME.fullmatch(name):
        raise InputError("is no mix of difficulty", field="--mix", found=text, expected=expected)
    try:
        easy, medium, hard = (float(part) for part in parts.split("/"))
    except ValueError:
        raise InputError("is no mix of difficulty", field="--mix", found=text, expected=expected) from None
    total = easy + medium + hard
    if not min(easy, medium, hard) >= 0 or not 0 < total < float("inf"):
        hint = "Shares are zero or more, and not all zero"
        raise InputError("is no mix of difficulty", field="--mix", found=text, expected=expected, hint=hint)
    return Mix(name, easy / total, medium / total, hard / total)


def post_stratified(weights: Mapping[str, float], strata: Mapping[str, Stratum]) -> Estimate:
    """The rate over the strata with these weights, which add up to 1.

    The interval recovers each stratum's variance from its own Wilson limits l_h and u_h, and so keeps a width where no
    stratum varies: rate - sqrt(sum w_h^2 (p_h - l_h)^2) and rate + sqrt(sum w_h^2 (u_h - p_h)^2) (Zou and Donner 2008,
    Statistics in Medicine 27:1693-1702). Of one stratum it is Wilson's.

    Raises EmptyStratum where a stratum with weight is empty or absent.
    """
    used = {name: weight for name, weight in weights.items() if weight > 0}
    for name in used:
        if name not in strata or not strata[name].n:
            raise EmptyStratum(name)
    rate = variance = below = above = 0.0
    for name, weight in used.items():
        k, n, effective = strata[name]
        share = k / n
        low, high = wilson(share, effective)
        rate += weight * share
        variance += weight**2 * share * (1 - share) / effective
        below += weight**2 * (share - low) ** 2
        above += weight**2 * (high - share) ** 2
    rate = min(1.0, rate)
    low, high = max(0.0, rate - math.sqrt(below)), min(1.0, rate + math.sqrt(above))
    counts = {name: (strata[name].k, strata[name].n) for name in used}
    return Estimate(rate, low, high, variance, counts)


def under_mix(block: Mapping[str, Any], mix: Mix, rate: str, policy: Policy, *, strict: bool) -> Estimate:
    """A rate of a `queries` block under a mix.

    `recall` and the classes of error weight the positives, `over_recall` the negatives. `accuracy` weights positives
    and negatives each by themselves and keeps the share of positives as it is; where no negative states its difficulty,
    the mix weights the positives alone (`weights_negatives` says which). Cases that state no difficulty are left out,
    but for such negatives.

    Raises EmptyStratum.
    """
    if rate == "over_recall" and weights_negatives(block, policy):
        return post_stratified(_named(mix, "negative"), _negatives(block, policy, right=False))
    if rate == "over_recall":
        return post_stratified({"negative": 1.0}, _unlevelled(block, policy, right=False))
    if rate != "accuracy":
        return post_stratified(_named(mix, "positive"), _positives(block, rate, strict=strict))
    levelled = weights_negatives(block, policy)
    positives = _positives(block, "recall", strict=strict)
    negatives = (_negatives if levelled else _unlevelled)(block, policy, right=True)
    p, n = (sum(stratum.n for stratum in strata.values()) for strata in (positives, negatives))
    if not p + n:
        raise EmptyStratum("easy positive")
    weights = {name: share * p / (p + n) for name, share in _named(mix, "positive").items()}
    beside = _named(mix, "negative") if levelled else {"negative": 1.0}
    weights |= {name: share * n / (p + n) for name, share in beside.items()}
    return post_stratified(weights, {**positives, **negatives})


def weights_negatives(block: Mapping[str, Any], policy: Policy) -> bool:
    """Whether any decided negative states its difficulty, so that a mix can weight the negatives too."""
    return any(block["levels"][level]["policies"][policy]["over_recall"]["n"] for level in LEVELS)


def _named(mix: Mix, what: str) -> dict[str, float]:
    return {f"{level} {what}": share for level, share in mix.shares.items()}


def _stratum(rate: Mapping[str, Any], *, right: bool = False) -> Stratum:
    return Stratum(rate["n"] - rate["k"] if right else rate["k"], rate["n"], rate["effective"])


def _positives(block: Mapping[str, Any], rate: str, *, strict: bool) -> dict[str, Stratum]:
    def found(level: Mapping[str, Any]) -> Mapping[str, Any]:
        if rate == "extra_call" or (strict and rate == "recall"):
            name = "extra_call" if rate == "extra_call" else "recall_strict"
            strictly: Mapping[str, Any] = level["strict"][name]
            return strictly
        plain: Mapping[str, Any] = level["positives"][rate]
        return plain

    return {f"{level} positive": _stratum(found(block["levels"][level])) for level in LEVELS}


def _negatives(block: Mapping[str, Any], policy: Policy, *, right: bool) -> dict[str, Stratum]:
    levels = block["levels"]
    return {
        f"{level} negative": _stratum(levels[level]["policies"][policy]["over_recall"], right=right) for level in LEVELS
    }


def _unlevelled(block: Mapping[str, Any], policy: Policy, *, right: bool) -> dict[str, Stratum]:
    return {"negative": _stratum(block["policies"][policy]["over_recall"], right=right)}
