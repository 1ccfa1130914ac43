"""Claims about pairs: which cases are paired, which are left out and why, and which data goes to which estimator."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from callscope.comparison.estimate import estimate
from callscope.comparison.metrics import METRICS, metric_named
from callscope.comparison.paired import Table, mcnemar, newcombe
from callscope.comparison.pairing import Pair, Pairing, Seen, Unit, pair_up, read_units, shared_cases
from callscope.contract import ArgumentRules, ExpectTool
from callscope.errors import InputError, RunFolderError
from tests.comparison.planted import Answer, Planted, cases, mixed_cases, run, suite, table


def units(*runs: Planted, metric: str = "passed", **chosen: Any) -> tuple[Unit, ...]:
    return read_units([(f"r{i}", each) for i, each in enumerate(runs, 1)], metric_named(metric), **chosen)


def paired(first: list[list[Answer]], second: list[list[Answer]], metric: str = "passed") -> Pairing:
    one, other = units(run({"a": first, "b": second}), metric=metric)
    return pair_up(one.groups["support", "auto"], other.groups["support", "auto"])


def left_out(pairing: Pairing) -> dict[tuple[str, str], int]:
    return {(each.reason, each.where): each.cases for each in pairing.left_out}


def test_pairs_are_the_cases_that_both_were_observed_on() -> None:
    found = paired(
        [[True], [False], ["rate_limited"], [True], ["timeout"], ["undecided"], [None], [True]],
        [[False], [True], [True], ["undecided"], ["timeout"], ["rate_limited"], [True], [None]],
    )
    assert [pair.case_id for pair in found.pairs] == ["case-0000", "case-0001"]
    assert left_out(found) == {
        ("coverage loss: rate_limited", "first"): 1,
        ("undecided", "second"): 1,
        ("coverage loss: timeout", "both"): 1,
        ("coverage loss: rate_limited; undecided", "both"): 1,
        ("not run", "first"): 1,
        ("not run", "second"): 1,
    }
    assert (found.planned, found.coverage) == (8, 0.25)


def test_a_case_counts_once_by_its_share_however_often_it_was_tried() -> None:
    (pair,) = paired([[True, False, "timeout", None]], [[False, True, True, True]]).pairs
    assert (pair.first.share, pair.second.share) == (Fraction(1, 2), Fraction(3, 4))
    assert (pair.first.first, pair.second.first) == (True, False)


def test_a_case_that_only_one_was_given_is_counted_as_such() -> None:
    one, other = units(run({"a": [[True]] * 5}), run({"a": [[True]] * 3}, of=suite(cases(5)), run_id="run-2"))
    found = pair_up(one.groups["support", "auto"], other.groups["support", "auto"])
    assert left_out(found) == {("not planned for it", "second"): 2}
    assert found.coverage == 0.6


def test_a_case_that_asks_or_expects_something_else_is_no_pair() -> None:
    old = cases(4)
    prompt = structs.replace(old[0], prompt="Something else?")
    expected = structs.replace(old[1], expected=ExpectTool("lookup_order", ArgumentRules()))
    noted = structs.replace(old[2], note="found in the wild", tags=("new",), difficulty="hard", family="f")
    new = suite((prompt, expected, noted, old[3]), version="1.1.0")
    one, other = units(run({"a": [[True]] * 4}, of=suite(old)), run({"a": [[True]] * 4}, of=new, run_id="run-2"))
    found = pair_up(one.groups["support", "auto"], other.groups["support", "auto"])
    assert [pair.case_id for pair in found.pairs] == ["case-0002", "case-0003"]
    assert left_out(found) == {("another prompt or expectation under one id", "both"): 2}
    shared = shared_cases([one.groups["support", "auto"], other.groups["support", "auto"]])
    assert [case_id for case_id, _, _ in shared] == ["case-0002", "case-0003"]


def test_an_excluded_case_is_no_loss() -> None:
    old = cases(3)
    of = suite((structs.replace(old[0], excluded="gold outside the schema"), *old[1:]))
    planted = run({"a": [[None], [True], [True]], "b": [[None], [True], [False]]}, of=of)
    for row in list(planted.rows[:1]):
        lost = structs.replace(row.verdict, case_id="case-0000", passed=None, decided_by={"passed": "case_excluded"})
        planted.rows += [structs.replace(row, verdict=structs.replace(lost, model=model)) for model in ("a", "b")]
    for metric in ("passed", "recall"):
        one, other = units(planted, metric=metric)
        found = pair_up(one.groups["support", "auto"], other.groups["support", "auto"])
        assert left_out(found) == {("excluded: no answer can meet its gold", "both"): 1}
        assert found.coverage == 1.0


def test_a_rate_over_what_the_model_did_pairs_only_where_it_applies_to_both() -> None:
    found = paired([[True], [False], [True]], [[True], [True], ["timeout"]], metric="exact")
    assert left_out(found) == {
        ("outside this rate's denominator", "first"): 1,
        ("coverage loss: timeout", "second"): 1,
    }
    assert (len(found.pairs), found.planned) == (1, 2)


@pytest.mark.parametrize(
    ("metric", "ids"),
    [
        ("passed", {"call", "clarify", "text"}),
        ("recall", {"call"}),
        ("accuracy", {"call", "text"}),
        ("selection", {"call"}),
        ("abstention", {"text"}),
        ("clarification", {"clarify"}),
    ],
)
def test_a_metric_speaks_of_its_own_cases(metric: str, ids: set[str]) -> None:
    (unit, _) = units(run({"a": [[True]] * 3, "b": [[True]] * 3}, of=suite(mixed_cases())), metric=metric)
    assert set(unit.groups["support", "auto"].seen) == ids


def test_every_rate_of_a_report_but_none_that_it_lacks_can_be_compared() -> None:
    from callscope.reports.group_summary import RATES

    assert set(RATES) <= set(METRICS)
    assert set(METRICS) - set(RATES) == {"recall", "accuracy", "compatible"}
    with pytest.raises(InputError, match="passed, recall"):
        metric_named("f1")


def test_the_benchmarks_own_verdict_is_a_metric() -> None:
    planted = run({"a": [[True], [True]], "b": [[False], [True]]})
    planted.rows = [structs.replace(row, compatible_passed=row.verdict.model == "b") for row in planted.rows]
    one, other = units(planted, metric="compatible")
    found = estimate(pair_up(one.groups["support", "auto"], other.groups["support", "auto"]).pairs)
    assert found is not None
    assert (found.first, found.second) == (0.0, 1.0)


# --------------------------------------------------------------------------------------------------------------- units


def test_units_are_models_of_runs_named_by_what_tells_them_apart() -> None:
    first, second = run({"a": [[True]], "b": [[True]]}), run({"a": [[True]]}, run_id="run-2")
    assert [(u.letter, u.name) for u in units(first, second)] == [("A", "a (r1)"), ("B", "b"), ("C", "a (r2)")]
    twins = units(run({"a": [[True]]}), run({"a": [[True]]}))
    assert [u.name for u in twins] == ["a (r1)", "a (r2)"]
    assert [u.letter for u in units(run({f"m{i}": [[True]] for i in range(28)}))][-2:] == ["AA", "AB"]


def test_models_suites_and_experiments_can_be_chosen_and_must_exist() -> None:
    planted = run({"a": [[True]], "b": [[True]], "c": [[True]]})
    assert [u.model for u in units(planted, models=("a", "c"))] == ["a", "c"]
    for chosen, field in (({"models": ("x",)}, "--model"), ({"suite": "x"}, "--suite"), ({"experiment": "x"}, "--exp")):
        with pytest.raises(InputError, match=field):
            units(planted, **chosen)


def test_one_unit_alone_and_one_run_twice_are_no_comparison() -> None:
    with pytest.raises(InputError, match="a second run, or a second model"):
        units(run({"a": [[True]]}))
    planted = run({"a": [[True]]})
    with pytest.raises(InputError, match="named twice"):
        read_units([("r", planted), ("r", planted)], metric_named("passed"))


def test_a_plan_that_names_a_case_the_suite_lacks_is_refused() -> None:
    planted = run({"a": [[True]], "b": [[True]]})
    block = structs.replace(planted.manifest.plan[0], cases=("nowhere",))
    planted.manifest = structs.replace(planted.manifest, plan=(block, *planted.manifest.plan[1:]))
    with pytest.raises(RunFolderError, match="nowhere"):
        units(planted)


def test_loss_in_one_counts_where_the_other_is_only_outside_the_rate() -> None:
    found = paired([[False], [False], [True]], [["timeout"], [False], [True]], metric="exact")
    assert left_out(found) == {
        ("coverage loss: timeout", "second"): 1,
        ("outside this rate's denominator", "both"): 1,
    }


def test_a_run_that_holds_a_trial_twice_is_refused() -> None:
    planted = run({"a": [[True]], "b": [[True]]})
    planted.rows.append(planted.rows[0])
    with pytest.raises(RunFolderError, match="two verdicts"):
        units(planted)


# ------------------------------------------------------------------------------------------------ which estimator when


def test_single_answers_of_single_cases_go_to_mcnemar_and_newcombe() -> None:
    found = estimate(paired(*table(20, 12, 2, 16)).pairs)
    assert found is not None
    assert (found.p, found.p_by, found.interval_by) == (mcnemar(12, 2), "mcnemar", "newcombe")
    assert found.interval == newcombe(Table(20, 12, 2, 16))
    assert (found.first, found.second, found.difference) == pytest.approx((32 / 50, 22 / 50, -0.2))
    assert (found.better, found.worse, found.discordance) == (2, 12, 14 / 50)
    assert found.mcnemar.repeat == "only"
    assert found.needed.paired is not None
    assert found.unpaired_z is not None


def test_repeats_go_to_sign_flips_and_the_bootstrap_and_mcnemar_takes_the_first() -> None:
    rng = random.Random(2)
    first: list[list[Answer]] = [[rng.random() < 0.5 for _ in range(3)] for _ in range(30)]
    second: list[list[Answer]] = [[rng.random() < 0.7 for _ in range(3)] for _ in range(30)]
    found = estimate(paired(first, second).pairs)
    assert found is not None
    assert (found.p_by, found.interval_by, found.mcnemar.repeat) == ("sign_flip", "family_bootstrap", "first")
    only_second = sum(bool(b[0]) and not a[0] for a, b in zip(first, second, strict=True))
    assert found.mcnemar.only_second == only_second
    assert found.difference == pytest.approx(sum(map(sum, second)) / 90 - sum(map(sum, first)) / 90)  # type: ignore[arg-type]


def test_repeats_that_always_agree_are_single_answers() -> None:
    first, second = table(20, 12, 2, 16)
    found = estimate(paired([each * 5 for each in first], [each * 5 for each in second]).pairs)
    assert found is not None
    assert (found.p, found.p_by) == (mcnemar(12, 2), "mcnemar")


def in_families(first: list[list[Answer]], second: list[list[Answer]], size: int) -> Any:
    of = suite(cases(len(first), [f"f{i // size:03}" for i in range(len(first))]))
    one, other = units(run({"a": first, "b": second}, of=of))
    return estimate(pair_up(one.groups["support", "auto"], other.groups["support", "auto"]).pairs)


def test_paraphrases_of_one_case_count_as_one() -> None:
    first, second = table(10, 1, 7, 10)
    alone = estimate(paired(first, second).pairs)
    fourfold = [row for row in first for _ in range(4)], [row for row in second for _ in range(4)]
    together = in_families(*fourfold, size=4)
    as_if_independent = estimate(paired(*fourfold).pairs)
    assert alone is not None
    assert as_if_independent is not None
    assert together.p == pytest.approx(alone.p)
    assert as_if_independent.p < 0.001 < 0.05 < together.p
    assert (together.pairs, together.families, together.interval_by) == (112, 28, "family_bootstrap")
    assert together.interval[1] - together.interval[0] > 1.5 * (
        as_if_independent.interval[1] - as_if_independent.interval[0]
    )


def test_families_that_all_say_the_same_still_get_an_interval_of_some_width() -> None:
    same: list[list[Answer]] = [[True]] * 12
    found = in_families(same, same, size=3)
    assert (found.difference, found.p, found.interval_by) == (0.0, 1.0, "newcombe_of_families")
    assert found.interval == newcombe(Table(4, 0, 0, 0))


def test_no_pairs_no_estimate() -> None:
    assert estimate(()) is None


ANSWERS = st.lists(st.lists(st.booleans(), min_size=1, max_size=3), min_size=1, max_size=12)


@settings(max_examples=40)
@given(ANSWERS, ANSWERS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_the_estimate_mirrors_and_does_not_know_the_order_of_cases(
    first: list[list[bool]], second: list[list[bool]], size: int, shuffler: random.Random
) -> None:
    pairs = [
        Pair(f"c{i:02}", f"f{i // size}", Seen(3, dict(enumerate(a))), Seen(3, dict(enumerate(b))))
        for i, (a, b) in enumerate(zip(first, second, strict=False))
    ]
    found = estimate(pairs)
    turned = estimate([pair._replace(first=pair.second, second=pair.first) for pair in pairs])
    assert found is not None
    assert turned is not None
    assert turned.difference == pytest.approx(-found.difference, abs=1e-12)
    assert turned.interval == pytest.approx((-found.interval.high, -found.interval.low), abs=1e-9)
    assert (turned.p, turned.smallest) == (pytest.approx(found.p), pytest.approx(found.smallest))
    assert (turned.better, turned.worse) == (found.worse, found.better)
    mixed = list(pairs)
    shuffler.shuffle(mixed)
    assert estimate(mixed) == found
    assert found.interval.low <= found.difference + 1e-9
    assert found.interval.high >= found.difference - 1e-9


# ------------------------------------------------------------------------------------------------------------ families


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_cases_are_kin_where_either_run_says_so_whichever_stands_first(order: tuple[int, int]) -> None:
    answers: list[list[list[Answer]]] = [[[True]] * 10, [[False]] * 10]
    suites = (suite(cases(10)), suite(cases(10, ["x"] * 5 + ["y"] * 5), version="2"))
    both = [run({"a": answers[i]}, of=suites[i], run_id=f"r{i}") for i in order]
    one, other = units(*both)
    name = ("support", "auto")
    pairing = pair_up(one.groups[name], other.groups[name])
    found = estimate(pairing.pairs)
    assert found is not None
    assert (found.families, found.p) == (2, 0.5)
    assert len({family for _, family, _ in shared_cases([one.groups[name], other.groups[name]])}) == 2


def test_families_that_overlap_between_two_runs_are_one() -> None:
    first = suite(cases(4, ["p", "p", "q", "r"]))
    second = suite(cases(4, ["s", "t", "t", "u"]), version="2")
    one, other = units(run({"a": [[True]] * 4}, of=first, run_id="1"), run({"a": [[False]] * 4}, of=second, run_id="2"))
    pairing = pair_up(one.groups["support", "auto"], other.groups["support", "auto"])
    assert [pair.family for pair in pairing.pairs] == ["p", "p", "p", "r"]
