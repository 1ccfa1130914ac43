"""Rates with their counts and intervals, also where trials are not independent; percentiles of times.

Estimators only, each with its source and an oracle in the tests; how they are rounded and shown is the reports' matter.
An undefined value is None, never NaN and never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

__all__ = ["ClusterEffect", "Rate", "cluster_effect", "clustered", "percentile", "rate", "t_quantile", "wilson"]

CONFIDENCE = 0.95


class Rate(NamedTuple):
    """`k` of `n` trials, the rate and its interval as fractions; all three None where `n` is 0.

    `clusters` is how many groups of dependent trials the counts rest on (`n` where every trial stands alone).
    """

    k: int
    n: int
    rate: float | None
    low: float | None
    high: float | None
    clusters: int


class ClusterEffect(NamedTuple):
    """What clustering does to a rate.

    variance: cluster-robust variance of the rate (None with fewer than two clusters); design_effect: that over the
    variance of `n` independent trials (None where either is undefined or zero); effective_n: the number of independent
    trials that would say as much.
    """

    k: int
    n: int
    clusters: int
    variance: float | None
    design_effect: float | None
    effective_n: float


def wilson(p: float, n: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The score interval of a proportion `p` seen in `n` (effective, may be fractional) trials.

    E. B. Wilson (1927), JASA 22:209-212, without continuity correction; the default after Brown, Cai and DasGupta
    (2001), Statistical Science 16:101-133. Raises ValueError for n <= 0, p outside [0, 1] or confidence outside (0, 1).
    """
    if n <= 0 or not 0 <= p <= 1 or not 0 < confidence < 1:
        raise ValueError(f"wilson needs n > 0, 0 <= p <= 1, 0 < confidence < 1 (found n={n}, p={p}, {confidence})")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (0.0 if p == 0 else max(0.0, centre - half)), (1.0 if p == 1 else min(1.0, centre + half))


def rate(k: int, n: int, confidence: float = CONFIDENCE) -> Rate:
    """`k` of `n` independent trials with a Wilson interval. Raises ValueError unless 0 <= k <= n."""
    _check(k, n)
    if n == 0:
        return Rate(0, 0, None, None, None, 0)
    low, high = wilson(k / n, n, confidence)
    return Rate(k, n, k / n, low, high, n)


def clustered(pairs: Iterable[tuple[int, int]], confidence: float = CONFIDENCE) -> Rate:
    """The pooled rate over clusters given as (k, n), with a Wilson interval on the effective sample size.

    Clusters with n = 0 are left out. Korn and Graubard (1998), Survey Methodology 24:193-201, put their interval on
    the effective size in this way; with Wilson's it is the interval Franco et al. (2019), J. Survey Statistics and
    Methodology 7:334-364, recommend. Raises ValueError unless 0 <= k <= n in every pair.
    """
    effect = cluster_effect(pairs, confidence)
    if effect.n == 0:
        return Rate(0, 0, None, None, None, 0)
    low, high = wilson(effect.k / effect.n, effect.effective_n, confidence)
    return Rate(effect.k, effect.n, effect.k / effect.n, low, high, effect.clusters)


def cluster_effect(pairs: Iterable[tuple[int, int]], confidence: float = CONFIDENCE) -> ClusterEffect:
    """Cluster-robust variance, design effect and effective sample size of the pooled rate.

    Variance: the ratio estimator linearised over clusters, G/(G-1) · Σ(kᵢ - p·nᵢ)² / n² (Cochran 1977, Sampling
    Techniques, 6.4; equal to the cluster sandwich of an intercept-only regression). Design effect: against
    p(1-p)/n (Kish 1965). Effective size: p(1-p)/variance, times the squared ratio of the t quantiles with n-1 and G-1
    degrees of freedom (Korn and Graubard 1998), and never more than n.
    With one cluster, or no variance between clusters (all of them alike, as where everything passed), the data say
    nothing about the variance, and the number of clusters bounds the effective size.
    """
    kept = [(k, n) for k, n in pairs if _check(k, n)]
    total_k, total_n, groups = sum(k for k, _ in kept), sum(n for _, n in kept), len(kept)
    if total_n == 0:
        return ClusterEffect(0, 0, 0, None, None, 0.0)
    if groups < 2:
        return ClusterEffect(total_k, total_n, groups, None, None, float(groups))
    # exact integers: n·Σ(k - p·n)² over n, so that "no variance" is not a matter of rounding
    scaled = sum((k * total_n - total_k * n) ** 2 for k, n in kept)
    variance = groups / (groups - 1) * scaled / total_n**4
    if scaled == 0:
        return ClusterEffect(total_k, total_n, groups, 0.0, None, float(groups))
    p = total_k / total_n
    independent = p * (1 - p) / total_n
    ratio = t_quantile((1 + confidence) / 2, total_n - 1) / t_quantile((1 + confidence) / 2, groups - 1)
    effective = min(float(total_n), p * (1 - p) / variance * ratio**2)
    return ClusterEffect(total_k, total_n, groups, variance, variance / independent, effective)


def _check(k: int, n: int) -> bool:
    if not 0 <= k <= n:
        raise ValueError(f"a rate needs 0 <= k <= n (found k={k}, n={n})")
    return n > 0


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t for whole degrees of freedom and 0.5 < probability < 1.

    Bisection on the closed form of the distribution function (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4). Beyond
    1,000 degrees: Fisher's expansion to second order (same, 26.7.5).
    """
    if not 0.5 < probability < 1 or freedom < 1:
        raise ValueError(f"no t quantile for probability {probability}, {freedom} degrees of freedom")
    z = NormalDist().inv_cdf(probability)
    if freedom > 1000:
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    low, high = 0.0, max(z, 1.0)
    while _central(high, freedom) < 2 * probability - 1:
        low, high = high, high * 2
    for _ in range(80):
        middle = (low + high) / 2
        if _central(middle, freedom) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _central(t: float, freedom: int) -> float:
    """P(|T| <= t)."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2 == 1
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for step in range(1 if odd else 0, freedom - 1, 2):
        total += term
        term *= (step + 1) / (step + 2) * cosine * cosine
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def percentile(values: Sequence[float], q: float) -> float | None:
    """The q-quantile (0 <= q <= 1) by linear interpolation between order statistics; None of no values.

    Type 7 of Hyndman and Fan (1996), The American Statistician 50:361-365: the default of numpy and R. Raises
    ValueError for q outside [0, 1].
    """
    if not 0 <= q <= 1:
        raise ValueError(f"a quantile lies in 0..1 (found {q})")
    if not values:
        return None
    ranked = sorted(values)
    position = q * (len(ranked) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (ranked[above] - ranked[below]) * (position - below)
