"""Rates under another mix: what the levels say, weighted anew, with the variance of that, or not defined at all."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from queries_kit import Planned, block_of, case, planned

from callscope.errors import InputError
from callscope.reports.difficulty import (
    MIXES,
    EmptyStratum,
    Mix,
    Stratum,
    post_stratified,
    read_mixes,
    under_mix,
    weights_negatives,
)
from callscope.reports.queries import POLICIES
from callscope.scoring.statistics import wilson

ORIGINAL, EASY = MIXES


def strata(*pairs: tuple[int, int]) -> dict[str, Stratum]:
    names = ("easy", "medium", "hard")
    return {name: Stratum(k, n, n) for name, (k, n) in zip(names, pairs, strict=True)}


def rate(mix: Mix, *pairs: tuple[int, int]) -> float:
    return post_stratified(mix.shares, strata(*pairs)).rate


def points(value: float) -> float:
    return round(100 * value, 2)


CLAUDE = ((939, 1000), (653, 1000), (108, 1000))


def test_the_documents_own_levels_give_neither_of_its_two_columns() -> None:
    assert points(rate(ORIGINAL, *CLAUDE)) == 65.84
    assert points(rate(EASY, *CLAUDE)) == 77.01


def largest_gain(first: Mix, second: Mix) -> float:
    """The largest gain of any model whose recalls lie in the document's ranges: some corner of them."""
    ends = itertools.product((745, 939), (315, 653), (28, 108))
    return max(rate(second, *((k, 1000) for k in each)) - rate(first, *((k, 1000) for k in each)) for each in ends)


def test_no_model_can_gain_by_the_mix_what_the_document_says_that_all_do() -> None:
    assert points(largest_gain(ORIGINAL, EASY)) == 15.35
    closest = Mix("a", 0.42, 0.40, 0.18), Mix("b", 0.65, 0.32, 0.03)
    assert points(largest_gain(*closest)) == 18.66
    assert points(largest_gain(*closest)) < 21.15


counted = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.tuples(counted, counted, counted))
def test_at_the_samples_own_shares_it_is_the_plain_rate(pairs: tuple[tuple[int, int], ...]) -> None:
    k, n = sum(each[0] for each in pairs), sum(each[1] for each in pairs)
    found = post_stratified(
        dict(zip(("easy", "medium", "hard"), (p[1] / n for p in pairs), strict=True)), strata(*pairs)
    )
    assert found.rate == pytest.approx(k / n)
    assert found.low <= found.rate <= found.high
    assert found.counts == dict(zip(("easy", "medium", "hard"), pairs, strict=True))


@given(st.tuples(counted, counted, counted), st.tuples(*[st.integers(0, 9)] * 3))
def test_rate_and_variance_are_those_of_the_formula(pairs: Any, parts: tuple[int, int, int]) -> None:
    assume(sum(parts))
    weights = [part / sum(parts) for part in parts]
    found = post_stratified(dict(zip(("easy", "medium", "hard"), weights, strict=True)), strata(*pairs))
    shares = [k / n for k, n in pairs]
    assert found.rate == pytest.approx(sum(w * p for w, p in zip(weights, shares, strict=True)))
    expected = sum(w * w * p * (1 - p) / n for w, p, (_, n) in zip(weights, shares, pairs, strict=True))
    assert found.variance == pytest.approx(expected)
    assert 0 <= found.low <= found.rate + 1e-12
    assert found.rate - 1e-12 <= found.high <= 1


def test_the_interval_of_one_stratum_is_wilsons_and_that_of_several_close_to_a_normal_one() -> None:
    one = post_stratified({"easy": 1.0}, {"easy": Stratum(290, 300, 300)})
    assert (one.low, one.high) == pytest.approx(wilson(290 / 300, 300))
    found = post_stratified(EASY.shares, strata((450, 500), (300, 600), (100, 400)))
    variance = 0.36 * 0.09 / 500 + 0.09 * 0.25 / 600 + 0.01 * 0.1875 / 400
    assert found.variance == pytest.approx(variance)
    assert found.high - found.low == pytest.approx(2 * 1.96 * math.sqrt(variance), rel=0.02)


def test_the_interval_of_several_is_that_of_its_formula() -> None:
    pairs = ((45, 50), (30, 60), (0, 40))
    found = post_stratified(EASY.shares, strata(*pairs))
    limits = [wilson(k / n, n) for k, n in pairs]
    shares = [k / n for k, n in pairs]
    below = sum((w * (p - low)) ** 2 for w, p, (low, _) in zip(EASY[1:], shares, limits, strict=True))
    above = sum((w * (high - p)) ** 2 for w, p, (_, high) in zip(EASY[1:], shares, limits, strict=True))
    assert found.low == pytest.approx(found.rate - math.sqrt(below))
    assert found.high == pytest.approx(found.rate + math.sqrt(above))


def test_where_nothing_varies_the_interval_still_has_a_width() -> None:
    found = post_stratified(ORIGINAL.shares, strata((20, 20), (20, 20), (10, 10)))
    assert (found.rate, found.variance, found.high) == (1.0, 0.0, 1.0)
    assert found.low < 0.93


def test_dependent_trials_count_for_fewer() -> None:
    alone = post_stratified({"easy": 1.0}, {"easy": Stratum(50, 100, 100)})
    tied = post_stratified({"easy": 1.0}, {"easy": Stratum(50, 100, 20)})
    assert tied.rate == alone.rate
    assert tied.high - tied.low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize("empty", ["easy", "medium", "hard"])
def test_an_empty_stratum_with_weight_is_an_error_that_names_it(empty: str) -> None:
    found = strata((1, 2), (1, 2), (1, 2)) | {empty: Stratum(0, 0, 0)}
    with pytest.raises(EmptyStratum, match=f"no {empty} trial"):
        post_stratified(ORIGINAL.shares, found)
    without = {name: 0.5 for name in found if name != empty}
    assert post_stratified(without, found).rate == 0.5


LEVELLED = (
    *planned("positive", {"tp": 9, "miss": 1}, level="easy"),
    *planned("positive", {"tp": 5, "temporal": 5}, level="medium"),
    *planned("positive", {"tp": 1, "tp+extra": 1, "miss": 3}, level="hard"),
    *planned("global_negative", {"tn": 4}, level="easy"),
    *planned("global_negative", {"tn": 2, "fp": 2}, level="medium"),
    *planned("global_negative", {"fp": 2}, level="hard"),
)


def test_recall_errors_over_recall_and_accuracy_under_a_mix_by_hand() -> None:
    block = block_of(LEVELLED)

    def under(name: str, *, strict: bool = False) -> float:
        return under_mix(block, EASY, name, "separate", strict=strict).rate

    assert under("recall") == pytest.approx(0.6 * 0.9 + 0.3 * 0.5 + 0.1 * 0.4)
    assert under("recall", strict=True) == pytest.approx(0.6 * 0.9 + 0.3 * 0.5 + 0.1 * 0.2)
    assert under("extra_call", strict=True) == pytest.approx(0.1 * 0.2)
    assert under("miss_recall") == pytest.approx(0.6 * 0.1 + 0.1 * 0.6)
    assert under("parameter_error.temporal") == pytest.approx(0.3 * 0.5)
    assert under("over_recall") == pytest.approx(0.3 * 0.5 + 0.1)
    recall, right = 0.73, 1 - 0.25
    assert under("accuracy") == pytest.approx((25 * recall + 10 * right) / 35)
    assert weights_negatives(block, "separate")


def test_the_classes_add_up_to_one_under_any_mix() -> None:
    block = block_of(LEVELLED)
    names = ("recall", "miss_recall", "parameter_error", "judge_failure")
    for mix in (*MIXES, *read_mixes(["mine=1/2/7"])):
        assert sum(under_mix(block, mix, name, "separate", strict=False).rate for name in names) == pytest.approx(1)


def test_negatives_without_levels_keep_their_plain_rate() -> None:
    positives = [each for each in LEVELLED if each.case.item == "positive"]
    block = block_of(positives, planned("global_negative", {"tn": 3, "fp": 1}))
    assert not weights_negatives(block, "separate")
    assert under_mix(block, ORIGINAL, "over_recall", "separate", strict=False).rate == 0.25
    recall = under_mix(block, ORIGINAL, "recall", "separate", strict=False).rate
    found = under_mix(block, ORIGINAL, "accuracy", "separate", strict=False)
    assert found.rate == pytest.approx((25 * recall + 4 * 0.75) / 29)
    assert found.counts["negative"] == (3, 4)


def test_a_level_that_only_negatives_lack_leaves_recall_defined_and_accuracy_not() -> None:
    plans = [each for each in LEVELLED if (each.case.item, each.case.difficulty) != ("global_negative", "hard")]
    block = block_of(plans)
    assert under_mix(block, ORIGINAL, "recall", "separate", strict=False).rate > 0
    with pytest.raises(EmptyStratum, match="no hard negative trial"):
        under_mix(block, ORIGINAL, "accuracy", "separate", strict=False)


def test_positives_alone_have_their_recall_as_accuracy_and_nothing_has_none() -> None:
    positives = [each for each in LEVELLED if each.case.item == "positive"]
    block = block_of(positives)
    recall = under_mix(block, ORIGINAL, "recall", "separate", strict=False).rate
    assert under_mix(block, ORIGINAL, "accuracy", "separate", strict=False).rate == pytest.approx(recall)
    with pytest.raises(EmptyStratum):
        under_mix(block_of(planned("positive", {"lost": 1}, level="easy")), ORIGINAL, "accuracy", "tn", strict=False)


def test_underspecified_cases_are_weighted_with_the_negatives_as_the_policy_says() -> None:
    plans = [*LEVELLED, *planned("underspecified", {"asked": 2, "guessed": 2}, level="hard")]
    block = block_of(plans)
    found = {policy: under_mix(block, ORIGINAL, "over_recall", policy, strict=False).rate for policy in POLICIES}
    assert found == pytest.approx({"separate": 0.2 + 0.2, "exclude": 0.2 + 0.2, "tn": 0.2 + 0.2 * 4 / 6})


def test_cases_without_a_level_are_in_no_mix() -> None:
    block = block_of(LEVELLED, planned("positive", {"miss": 50}), [Planned(case("x", difficulty=None), ("miss",))])
    assert under_mix(block, EASY, "recall", "separate", strict=False).rate == pytest.approx(0.73)
    assert block["levels"]["undeclared"]["positives"]["recall"]["n"] == 51


def test_mixes_are_read_in_any_parts() -> None:
    one, two = read_mixes(["mine=.5/.3/.2", "hard-only=0/0/1"])
    assert one.shares == pytest.approx({"easy": 0.5, "medium": 0.3, "hard": 0.2})
    assert two.shares == {"easy": 0, "medium": 0, "hard": 1}
    (parts,) = read_mixes(["p=5/3/2"])
    assert parts.shares == pytest.approx(one.shares)
    assert [mix.text for mix in MIXES] == [".40/.40/.20", ".60/.30/.10"]


@pytest.mark.parametrize(
    "text",
    ["mine", "mine=", "mine=.5/.5", "mine=.5/.3/.1/.1", "mine=a/b/c", "=1/1/1", "mine=-1/1/1", "mine=0/0/0",
     "mine=nan/1/1", "mine=inf/1/1", "a b=1/1/1", "original=1/1/1"],
)  # fmt: skip
def test_what_is_no_mix_is_refused_with_what_was_found(text: str) -> None:
    with pytest.raises(InputError, match="mix") as caught:
        read_mixes([text])
    assert caught.value.field == "--mix"


def test_a_name_is_given_once_and_a_table_holds_so_many() -> None:
    with pytest.raises(InputError, match="another mix already"):
        read_mixes(["a=1/1/1", "a=1/2/1"])
    with pytest.raises(InputError, match="more mixes"):
        read_mixes([f"m{i}=1/1/1" for i in range(9)])
