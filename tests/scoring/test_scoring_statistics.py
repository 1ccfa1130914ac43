"""Estimators against independent ones: statsmodels, scipy and numpy are oracles here and nowhere in the product."""

from __future__ import annotations

import math
import statistics as stdlib
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from callscope.scoring.statistics import Rate, cluster_effect, clustered, percentile, rate, t_quantile, wilson

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import statsmodels.api as sm
    from statsmodels.stats.proportion import proportion_confint

PAIRS = st.lists(st.integers(0, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=12)


@given(
    st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.8, 0.95, 0.99])
)
def test_wilson_is_statsmodels_wilson(counts: tuple[int, int], confidence: float) -> None:
    k, n = counts
    low, high = proportion_confint(k, n, alpha=1 - confidence, method="wilson")
    found = rate(k, n, confidence)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert found[:3] == (k, n, k / n)
    assert found.clusters == n


def test_wilson_is_scipys_wilson_at_the_documents_audit() -> None:
    interval = stats.binomtest(290, 300).proportion_ci(method="wilson")
    assert wilson(290 / 300, 300) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert [round(100 * bound, 2) for bound in wilson(290 / 300, 300)] == [93.97, 98.18]


def test_nothing_observed_is_none_and_never_nan() -> None:
    nothing = Rate(0, 0, None, None, None, 0)
    assert rate(0, 0) == nothing
    assert clustered([]) == nothing
    assert clustered([(0, 0), (0, 0)]) == nothing
    assert percentile([], 0.5) is None


@pytest.mark.parametrize(("k", "n"), [(-1, 2), (3, 2), (0, -1)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    for estimate in (lambda: rate(k, n), lambda: clustered([(k, n)])):
        with pytest.raises(ValueError, match="0 <= k <= n"):
            estimate()


@pytest.mark.parametrize(("p", "n", "confidence"), [(0.5, 0, 0.95), (1.5, 3, 0.95), (0.5, 3, 1.0)])
def test_wilson_refuses_what_has_no_interval(p: float, n: float, confidence: float) -> None:
    with pytest.raises(ValueError, match="wilson needs"):
        wilson(p, n, confidence)


def spread(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    hits = [1 if at < k else 0 for k, n in pairs for at in range(n)]
    return hits, [group for group, (_, n) in enumerate(pairs) for _ in range(n)]


@given(PAIRS)
def test_the_variance_is_the_cluster_sandwich_of_statsmodels(pairs: list[tuple[int, int]]) -> None:
    kept = [pair for pair in pairs if pair[1]]
    effect = cluster_effect(pairs)
    assert effect.clusters == len(kept)
    if len(kept) < 2:
        assert effect.variance is None
        return
    hits, groups = spread(kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit: Any = sm.OLS(np.array(hits, float), np.ones(len(hits))).fit(
            cov_type="cluster", cov_kwds={"groups": groups}
        )
    assert effect.variance == pytest.approx(float(fit.cov_params()[0, 0]), abs=1e-12)


@given(
    st.integers(2, 6).flatmap(
        lambda m: st.lists(st.integers(0, m), min_size=2, max_size=8).map(lambda ks: [(k, m) for k in ks])
    )
)
def test_the_design_effect_of_equal_clusters_is_one_plus_m_minus_one_icc(pairs: list[tuple[int, int]]) -> None:
    effect = cluster_effect(pairs)
    groups, m = len(pairs), pairs[0][1]
    p = effect.k / effect.n
    if effect.design_effect is None:
        assert len({k for k, _ in pairs}) == 1
        return
    cross = sum((k - p * m) ** 2 - (k * (1 - p) ** 2 + (m - k) * p**2) for k, _ in pairs)
    icc = cross / (groups * m * (m - 1) * p * (1 - p))
    assert effect.design_effect * (groups - 1) / groups == pytest.approx(1 + (m - 1) * icc)


def test_perfectly_alike_repeats_count_once_a_cluster() -> None:
    effect = cluster_effect([(10, 10), (0, 10)] * 200)
    assert effect.design_effect == pytest.approx(10, rel=0.01)
    assert effect.effective_n == pytest.approx(400, rel=0.02)


def test_the_effective_size_is_korn_and_graubards() -> None:
    pairs = [(3, 5), (5, 5), (1, 5), (4, 5)]
    effect = cluster_effect(pairs)
    assert effect.variance is not None
    p = 13 / 20
    ratio = stats.t.ppf(0.975, 19) / stats.t.ppf(0.975, 3)
    assert effect.effective_n == pytest.approx(p * (1 - p) / effect.variance * ratio**2)
    found = clustered(pairs)
    assert (found.low, found.high) == wilson(p, effect.effective_n)


@pytest.mark.parametrize(
    ("pairs", "effective"),
    [
        ([(5, 5)] * 8, 8),
        ([(0, 5)] * 8, 8),
        ([(2, 4)] * 3, 3),
        ([(3, 5)], 1),
        ([(3, 5), (0, 0)], 1),
        ([(1, 3), (2, 6)], 2),
    ],
)
def test_without_variance_the_number_of_clusters_bounds_the_effective_size(
    pairs: list[tuple[int, int]], effective: int
) -> None:
    assert cluster_effect(pairs).effective_n == effective
    assert clustered(pairs).rate == sum(k for k, _ in pairs) / sum(n for _, n in pairs)


@given(PAIRS)
def test_an_interval_holds_its_rate_and_clustering_never_narrows_it(pairs: list[tuple[int, int]]) -> None:
    found = clustered(pairs)
    effect = cluster_effect(pairs)
    assert effect.effective_n <= found.n
    if found.rate is not None:
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low <= found.rate <= found.high <= 1
        alone = rate(found.k, found.n)
        assert alone.low is not None
        assert alone.high is not None
        assert found.high - found.low >= alone.high - alone.low - 1e-12
        assert not any(math.isnan(value) for value in found[2:5])


@given(st.integers(0, 1).flatmap(lambda _: st.lists(st.integers(0, 1), min_size=2, max_size=40)))
def test_clusters_of_one_are_nearly_independent_trials(hits: list[int]) -> None:
    effect = cluster_effect([(hit, 1) for hit in hits])
    if effect.design_effect is not None:
        assert effect.design_effect == pytest.approx(len(hits) / (len(hits) - 1))


def test_coverage_of_the_clustered_interval_is_near_what_it_says() -> None:
    random = np.random.default_rng(20260725)
    inside = clustered_inside = 0
    for _ in range(400):
        chances = random.beta(1.4, 0.6, 30)
        pairs = [(int(random.binomial(5, chance)), 5) for chance in chances]
        found, alone = clustered(pairs), rate(sum(k for k, _ in pairs), 150)
        assert found.low is not None
        assert found.high is not None
        assert alone.low is not None
        assert alone.high is not None
        clustered_inside += found.low <= 0.7 <= found.high
        inside += alone.low <= 0.7 <= alone.high
    assert 0.92 <= clustered_inside / 400 <= 0.98
    assert inside / 400 < 0.85


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 7, 10, 29, 30, 99, 250, 999, 1000, 1001, 5000, 10**6])
@pytest.mark.parametrize("probability", [0.6, 0.9, 0.95, 0.975, 0.995])
def test_t_quantiles_are_scipys(freedom: int, probability: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-7)


@pytest.mark.parametrize(("probability", "freedom"), [(0.5, 3), (1.0, 3), (0.9, 0)])
def test_t_quantiles_outside_their_range_are_refused(probability: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="t quantile"):
        t_quantile(probability, freedom)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.floats(0, 1))
def test_percentiles_are_numpys(values: list[float], q: float) -> None:
    assert percentile(values, q) == pytest.approx(float(np.quantile(values, q)), rel=1e-9, abs=1e-6)


def test_the_median_is_the_median_and_bad_quantiles_are_refused() -> None:
    assert percentile([3, 1, 2, 10], 0.5) == stdlib.median([3, 1, 2, 10])
    assert percentile([7], 0.95) == 7
    with pytest.raises(ValueError, match="quantile"):
        percentile([1], 95)
