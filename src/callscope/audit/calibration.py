"""A judge's sensitivity and specificity from an audit, and a rate corrected by them with an honest interval.

Pure. What the correction assumes, and no data here can show: the judge errs on the rate's trials as it did on the
audited ones. Counting verdicts against people is `confusion`'s.

| the audit was drawn | `population` | sensitivity, specificity | interval of a corrected rate |
| --- | --- | --- | --- |
| at random, or within the human classes | None | as counted | Lang-Reiczigel |
| within the judge's classes (quotas) | the judge's verdicts in the whole run | weighted back to it | delta method |

Reading the second kind as if it were the first is verification bias (Begg and Greenes 1983, Biometrics 39:207-215):
with as many items from a rare verdict as from a frequent one, the raw sensitivity is that of no real run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from statistics import NormalDist
from typing import Literal, NamedTuple

from msgspec import Struct

from callscope.audit.confusion import Confusion
from callscope.audit.stratified import Estimate, Method, proportion
from callscope.errors import InputError
from callscope.scoring.statistics import CONFIDENCE, wilson

__all__ = ["Abstentions", "Calibration", "CorrectedRate", "calibrate", "corrected_rate"]

Abstentions = Literal["apart", "negative"]


class Spread(Struct, frozen=True):
    """Variances and covariance of the two estimates, taken where nothing is exactly 0 or 1."""

    sensitivity: float
    specificity: float
    covariance: float


class Calibration(Struct, frozen=True):
    """What an audit says of a judge that sorts into `positive` classes and others.

    `weighted`: the estimates are weighted back to the judge's verdicts over the whole run, and `spread` then holds
    their variances. `abstentions` says whether the judge's silence was left out ("apart") or read as not positive.
    """

    positive: tuple[str, ...]
    abstentions: Abstentions
    weighted: bool
    sensitivity: Estimate
    specificity: Estimate
    spread: Spread | None = None


class CorrectedRate(Struct, frozen=True, kw_only=True):
    """A rate as the judge gave it (k of n), and as it would be if the judge had not erred.

    `corrected.value` lies in [0, 1]; `unclipped` is what the formula gave, and `corrected.note` says where the two
    differ.
    """

    apparent: Estimate
    corrected: Estimate
    unclipped: float | None
    sensitivity: Estimate
    specificity: Estimate


class Stratum(NamedTuple):
    """Audited items of one of the judge's classes: is it a positive one, its weight, human positives of all."""

    positive: bool
    weight: float
    k: int
    n: int


def calibrate(
    matrix: Confusion,
    positive: Collection[str],
    *,
    population: Mapping[str, float] | None = None,
    abstentions: Abstentions = "apart",
    confidence: float = CONFIDENCE,
) -> Calibration:
    """Sensitivity and specificity of the judge for `positive` (such as {"correct"}) against the human classes.

    `population`: how many verdicts of each class (or which share) the judge gave in the whole run that was audited;
    needed where the audit was stratified by them. With `abstentions="negative"` it counts the abstentions as well.
    Both estimates are undefined where people found no item of the kind, or a class of the population was not audited.
    Raises InputError for a `population` with a negative or unbounded count, or without a class that was audited.
    """
    audited = matrix.counts | (matrix.abstained if abstentions == "negative" else {})
    strata = {
        verdict: Stratum(
            positive=verdict in positive and verdict not in matrix.silent,
            weight=1.0,
            k=sum(count for truth, count in row.items() if truth in positive),
            n=sum(row.values()),
        )
        for verdict, row in audited.items()
        if any(row.values())
    }
    names = tuple(sorted(positive))
    if population is None:
        sensitivity, specificity = _counted(list(strata.values()), confidence)
        return Calibration(names, abstentions, False, sensitivity, specificity)
    _check_population(population, strata)
    left_out = matrix.silent if abstentions == "apart" else ()
    unseen = [name for name, share in population.items() if share > 0 and name not in strata and name not in left_out]
    total = math.fsum(population[name] for name in strata)
    if unseen or not total:
        what = f"no audited item is one that the judge called {unseen[0]!r}" if unseen else "the population is empty"
        items = sum(stratum.n for stratum in strata.values())
        nothing = Estimate(value=None, reason=f"undefined: {what}", confidence=confidence, items=items, raters=2)
        return Calibration(names, abstentions, True, nothing, nothing)
    weighted = [stratum._replace(weight=population[name] / total) for name, stratum in strata.items()]
    return _weighted(names, abstentions, weighted, confidence)


def corrected_rate(k: int, n: int, calibration: Calibration, confidence: float = CONFIDENCE) -> CorrectedRate:
    """`k` of `n` trials that the judge called positive, corrected for its errors.

    The point: Rogan and Gladen (1978), American Journal of Epidemiology 107:71-76,
    (apparent + specificity - 1) / (sensitivity + specificity - 1). The interval carries the sampling error of all
    three: Lang and Reiczigel (2014), Preventive Veterinary Medicine 113:13-22, for counts (for judges: Lee et al.,
    arXiv:2511.21140); for weighted estimates the delta method with their covariance. Undefined where sensitivity +
    specificity is not above 1. Where the data do not show with the stated confidence that it is, nothing is known of
    the rate, and the interval is all of [0, 1]. Limits are clipped to [0, 1], and never leave out the point. For the
    audited run's own rate the delta interval is wider than it need be, since it takes rate and audit as independent.
    Raises InputError unless 0 <= k <= n.
    """
    if not 0 <= k <= n:
        raise InputError("a rate needs 0 <= k <= n", field="rate", found=f"{k} of {n}")
    sensitivity, specificity = calibration.sensitivity, calibration.specificity
    apparent = proportion(k, n, raters=1, nothing="the judge judged no trial", confidence=confidence)
    undefined = _undefined(apparent, sensitivity, specificity)
    if undefined or apparent.value is None or sensitivity.value is None or specificity.value is None:
        nothing = Estimate(value=None, reason=undefined, confidence=confidence, items=n, raters=1)
        return CorrectedRate(
            apparent=apparent, corrected=nothing, unclipped=None, sensitivity=sensitivity, specificity=specificity
        )
    point = _rogan_gladen(apparent.value, sensitivity.value, specificity.value)
    value = min(1.0, max(0.0, point))
    notes = [] if value == point else [f"clipped to {value:g}: the formula gives {point:.4f}"]
    low, high, method, note = _interval(k, n, point, calibration, confidence)
    return CorrectedRate(
        apparent=apparent,
        corrected=Estimate(
            value=value,
            low=max(0.0, min(low, value)),
            high=min(1.0, max(high, value)),
            method=method,
            note="; ".join(notes + ([note] if note else [])),
            confidence=confidence,
            items=n,
            raters=1,
        ),
        unclipped=point,
        sensitivity=sensitivity,
        specificity=specificity,
    )


def _undefined(apparent: Estimate, sensitivity: Estimate, specificity: Estimate) -> str:
    for part, what in ((apparent, "rate"), (sensitivity, "sensitivity"), (specificity, "specificity")):
        if part.value is None:
            return f"undefined: the {what} is undefined ({part.reason.removeprefix('undefined: ')})"
    together = (sensitivity.value or 0.0) + (specificity.value or 0.0)
    # a judge that tosses a coin has 1 exactly; 1e-12 keeps a sum of rounded fractions from counting as knowledge
    if together <= 1 + 1e-12:
        return f"undefined: sensitivity + specificity is {together:.4f}, no more than the 1 of a judge that guesses"
    return ""


def _interval(
    k: int, n: int, point: float, calibration: Calibration, confidence: float
) -> tuple[float, float, Method, str]:
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if calibration.spread is None:
        method: Method = "Lang-Reiczigel"
        se, se_n = _add_two(calibration.sensitivity)
        sp, sp_n = _add_two(calibration.specificity)
        spread = Spread(se * (1 - se) / se_n, sp * (1 - sp) / sp_n, 0.0)
        ap = (k + z * z / 2) / (n + z * z)
        centre = _rogan_gladen(ap, se, sp) if se + sp > 1 else point
        shift = 2 * z * z * (centre * spread.sensitivity - (1 - centre) * spread.specificity)
    else:
        method, spread, centre, shift = "delta", calibration.spread, point, 0.0
        se, sp = calibration.sensitivity.value or 0.0, calibration.specificity.value or 0.0
        ap = (k + z * z / 2) / (n + z * z)
    youden = se + sp - 1
    known = math.sqrt(spread.sensitivity + spread.specificity + 2 * spread.covariance)
    if youden <= z * known:
        return 0.0, 1.0, method, "the audit does not show that this judge is better than guessing; nothing is known"
    variance = (
        ap * (1 - ap) / (n + z * z)
        + centre**2 * spread.sensitivity
        + (1 - centre) ** 2 * spread.specificity
        - 2 * centre * (1 - centre) * spread.covariance
    )
    half = z * math.sqrt(max(0.0, variance)) / youden
    return centre + shift - half, centre + shift + half, method, ""


def _rogan_gladen(apparent: float, sensitivity: float, specificity: float) -> float:
    return (apparent + specificity - 1) / (sensitivity + specificity - 1)


def _add_two(found: Estimate) -> tuple[float, int]:
    """One success and one failure more, as Lang and Reiczigel add them: neither 0 of n nor n of n is certainty."""
    k, n = found.k or 0, found.n or 0
    return (k + 1) / (n + 2), n + 2


def _counted(strata: Collection[Stratum], confidence: float) -> tuple[Estimate, Estimate]:
    hit = sum(s.k for s in strata if s.positive)
    missed = sum(s.k for s in strata if not s.positive)
    cleared = sum(s.n - s.k for s in strata if not s.positive)
    alarmed = sum(s.n - s.k for s in strata if s.positive)
    positives, negatives = "people found no positive item", "people found no negative item"
    return (
        proportion(hit, hit + missed, raters=2, nothing=positives, confidence=confidence),
        proportion(cleared, cleared + alarmed, raters=2, nothing=negatives, confidence=confidence),
    )


class Cells(NamedTuple):
    """Shares of the population in the four cells, and the variances of the two human-positive ones."""

    hit: float
    missed: float
    alarmed: float
    cleared: float
    hit_variance: float
    missed_variance: float


def _cells(strata: Collection[Stratum], added: int) -> Cells:
    """With `added` human positives and as many negatives added to every stratum."""
    sums = {True: [0.0, 0.0, 0.0], False: [0.0, 0.0, 0.0]}
    for s in strata:
        n = s.n + 2 * added
        share = (s.k + added) / n
        held = sums[s.positive]
        held[0] += s.weight * share
        held[1] += s.weight * (1 - share)
        held[2] += s.weight**2 * share * (1 - share) / n
    (hit, alarmed, hit_variance), (missed, cleared, missed_variance) = sums[True], sums[False]
    return Cells(hit, missed, alarmed, cleared, hit_variance, missed_variance)


def _weighted(
    names: tuple[str, ...], abstentions: Abstentions, strata: Collection[Stratum], confidence: float
) -> Calibration:
    """Each estimate with Wilson's interval on the size of a simple sample that would have the same variance."""
    items = sum(stratum.n for stratum in strata)
    raw = _cells(strata, 0)
    # variances at the smoothed shares, one of each kind added to each stratum: 50 of 50 confirmed is not certainty
    smooth = _cells(strata, 1)
    spread = _spread(smooth)
    hits = _size(smooth.hit, smooth.missed, spread.sensitivity)
    clears = _size(smooth.cleared, smooth.alarmed, spread.specificity)
    sensitivity = _share("positive", raw.hit, raw.missed, hits, items, confidence)
    specificity = _share("negative", raw.cleared, raw.alarmed, clears, items, confidence)
    return Calibration(names, abstentions, True, sensitivity, specificity, spread)


def _spread(cells: Cells) -> Spread:
    """Delta method. The judge's shares are fixed, so each of the two ratios moves with `hit` and `missed` alone."""
    hit, missed, alarmed, cleared, hit_variance, missed_variance = cells
    positives, negatives = (hit + missed) ** 2, (alarmed + cleared) ** 2
    return Spread(
        sensitivity=(missed**2 * hit_variance + hit**2 * missed_variance) / positives**2,
        specificity=(cleared**2 * hit_variance + alarmed**2 * missed_variance) / negatives**2,
        covariance=(missed * cleared * hit_variance + hit * alarmed * missed_variance) / (positives * negatives),
    )


def _size(right: float, wrong: float, variance: float) -> float:
    """How many independent trials would know the share `right` of both this well; 0 where nothing varies."""
    share = right / (right + wrong)
    return share * (1 - share) / variance if variance > 0 else 0.0


def _share(kind: str, right: float, wrong: float, size: float, items: int, confidence: float) -> Estimate:
    if right + wrong <= 0:
        reason = f"undefined: people found no {kind} item"
        return Estimate(value=None, reason=reason, confidence=confidence, items=items, raters=2)
    value = right / (right + wrong)
    if size <= 0:
        note = "no interval: the judge gave one kind of verdict only, which fixes this share"
        return Estimate(value=value, note=note, confidence=confidence, items=items, raters=2)
    low, high = wilson(value, size, confidence)
    return Estimate(value=value, low=low, high=high, method="Wilson", confidence=confidence, items=items, raters=2)


def _check_population(population: Mapping[str, float], audited: Collection[str]) -> None:
    for name, share in population.items():
        if not 0 <= share < math.inf:
            expected = "a count or share, 0 or more"
            raise InputError("no such population", field=f"population.{name}", found=share, expected=expected)
    for name in audited:
        if name not in population:
            raise InputError("the population says nothing of this class of the judge", field="population", found=name)
