"""The figures of the document's two audits, and the published examples of the coefficients' authors."""

from __future__ import annotations

import numpy as np
import pytest
from agreement_kit import REVIEWERS, judge_audit, table

from callscope.audit.agreement import agreement, coefficients, validity
from callscope.audit.ratings import by_question, only, to_adjudicate
from callscope.audit.stratified import Estimate, Resampling
from callscope.scoring.statistics import wilson

FEW = Resampling(draws=20)


def test_the_judge_audit_has_the_agreements_kappas_and_confirmations_of_the_document() -> None:
    found = agreement(judge_audit(), reference="judge", plan=FEW)
    assert [each.reviewer for each in found.against] == list(REVIEWERS)
    assert [
        (each.coefficients.observed.k, each.coefficients.observed.n, _4(each.coefficients.observed))
        for each in found.against
    ] == [(288, 300, 0.96), (291, 300, 0.97), (283, 300, 0.9433)]
    assert [_4(each.coefficients.cohen) for each in found.against] == [0.9451, 0.9585, 0.9221]
    assert [_4(each.coefficients.ac1) for each in found.against] == [0.9472, 0.9605, 0.9252]
    assert [_4(each.coefficients.pabak) for each in found.against] == [0.9467, 0.96, 0.9244]
    confirmed = [{one.label: (one.confirmed.k, one.confirmed.n) for one in each.confirmation} for each in found.against]
    assert [each["P"] for each in confirmed] == [(93, 100), (92, 100), (88, 100)]
    assert all(each["M"] == (50, 50) == each["S"] for each in confirmed)


def test_the_reviewers_agree_with_each_other_as_in_the_document() -> None:
    found = agreement(judge_audit(), reference="judge", plan=FEW)
    assert found.among.raters == REVIEWERS
    assert found.among.fleiss.value == pytest.approx(0.945099, abs=5e-7)
    assert found.among.alpha.value == pytest.approx(0.945160, abs=5e-7)
    assert [pair.raters for pair in found.pairs] == [("R1", "R2"), ("R1", "R3"), ("R2", "R3")]
    assert (found.items, found.unrated, found.classes) == (300, 0, ("C", "M", "P", "S"))
    assert len(found.adjudicate) == 18
    assert "judge" not in {name for open_item in found.adjudicate for name in open_item.ratings}


def test_the_intervals_of_the_judge_audit_are_those_of_an_independent_bootstrap() -> None:
    ratings = judge_audit()
    published = {"R1": (0.912, 0.973), "R2": (0.930, 0.982), "R3": (0.883, 0.955)}
    for name, bounds in published.items():
        pair = only(ratings, ("judge", name))
        cohen = coefficients(pair).cohen
        assert (cohen.low, cohen.high) == pytest.approx(bounds, abs=0.005)
        assert (cohen.low, cohen.high) == pytest.approx(_numpy_bootstrap(pair.rows, pair.strata), abs=0.005)
        assert (cohen.draws, cohen.degenerate_draws, cohen.method) == (2000, 0, "stratified bootstrap")


def _numpy_bootstrap(rows: tuple[tuple[str | None, ...], ...], strata: tuple[str, ...]) -> tuple[float, float]:
    chance = np.random.default_rng(7)
    codes = {label: code for code, label in enumerate(sorted({label for row in rows for label in row if label}))}
    pairs = np.array([[codes[label or ""] for label in row] for row in rows])
    groups = [np.flatnonzero(np.array(strata) == name) for name in sorted(set(strata))]
    kappas = []
    for _ in range(2000):
        drawn = pairs[np.concatenate([chance.choice(group, len(group)) for group in groups])]
        joint = np.zeros((len(codes), len(codes)))
        np.add.at(joint, (drawn[:, 0], drawn[:, 1]), 1 / len(drawn))
        by_chance = float(joint.sum(0) @ joint.sum(1))
        kappas.append((np.trace(joint) - by_chance) / (1 - by_chance))
    low, high = np.quantile(kappas, [0.025, 0.975])
    return float(low), float(high)


def test_the_three_reviewers_cannot_be_told_apart() -> None:
    kappas = [each.coefficients.cohen for each in agreement(judge_audit(), reference="judge").against]
    assert max(one.low or 1.0 for one in kappas) < min(one.high or 0.0 for one in kappas)


@pytest.mark.parametrize(("joint", "expected"), [(2, 0.493), (0, -0.007)])
def test_rare_negatives_pull_kappa_down_while_ac1_and_pabak_stay(joint: int, expected: float) -> None:
    single = ["n" + "y" * 299, "yn" + "y" * 298, "yyn" + "y" * 297]
    columns = ["n" * joint + half[:3] + half[:3] + "y" * (294 - joint) for half in single]
    found = coefficients(table(*columns), FEW)
    assert (found.observed.k, found.observed.n) == (888, 900)
    assert _round(found.fleiss, 3) == expected
    assert _round(found.pabak, 3) == 0.973
    assert (found.ac1.value or 0) > 0.98


def test_the_reference_audit_has_the_validities_of_the_document_with_wilson_intervals() -> None:
    wrong = {"R1": range(10), "R2": range(245, 256), "R3": range(20, 30)}
    due = {f"case {n}": ("need", "target", "args") if n < 250 else ("need",) for n in range(300)}
    answers = {
        item: {
            name: {question: "no" if n in wrong[name] and question == asked[-1] else "yes" for question in asked}
            for name in REVIEWERS
        }
        for n, (item, asked) in enumerate(due.items())
    }
    found = validity(answers, due)
    assert [(one.reviewer, one.valid.k, one.valid.n, one.incomplete) for one in found] == [
        ("R1", 290, 300, 0),
        ("R2", 289, 300, 0),
        ("R3", 290, 300, 0),
    ]
    assert [round(100 * (one.valid.value or 0), 2) for one in found] == [96.67, 96.33, 96.67]
    assert (found[0].valid.low, found[0].valid.high) == wilson(290 / 300, 300)
    assert [round(100 * (bound or 0), 2) for bound in (found[0].valid.low, found[0].valid.high)] == [93.97, 98.18]
    assert (len(by_question(answers, "need").items), len(by_question(answers, "args").items)) == (300, 250)
    assert len(to_adjudicate(by_question(answers, "args"))) == 10 + 5 + 10


FOURTEEN_RATERS = (
    (0, 0, 0, 0, 14),
    (0, 2, 6, 4, 2),
    (0, 0, 3, 5, 6),
    (0, 3, 9, 2, 0),
    (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0),
    (2, 5, 3, 2, 2),
    (6, 5, 2, 1, 0),
    (0, 2, 2, 3, 7),
)


def test_fleiss_kappa_of_the_textbook_table_of_fourteen_raters() -> None:
    rows = ["".join(label * times for label, times in zip("abcde", counts, strict=True)) for counts in FOURTEEN_RATERS]
    found = coefficients(table(*map("".join, zip(*rows, strict=True))), FEW)
    assert _round(found.fleiss, 3) == 0.210
    assert found.fleiss.raters == 14


def test_alpha_and_ac1_of_krippendorffs_example_with_missing_ratings() -> None:
    found = coefficients(table("123321412...", "1233224125.3", ".3332342251.", "12332441251."), FEW)
    assert _round(found.alpha, 3) == 0.743
    assert _round(found.ac1, 5) == 0.77544
    assert _round(found.pabak, 5) == _hand(5, 9 / 11)
    assert found.fleiss.value is None
    assert found.fleiss.reason.endswith("here are 1 with 1, 1 with 2, 2 with 3, 8 with 4")


def _hand(classes: int, agreement_seen: float) -> float:
    return round((classes * agreement_seen - 1) / (classes - 1), 5)


def test_gwets_own_example_by_hand() -> None:
    """125 subjects, 118 joint yes, 5 and 2 split, no joint no: p = .944, chance 2 · .972 · .028."""
    found = coefficients(table("y" * 118 + "y" * 5 + "n" * 2, "y" * 118 + "n" * 5 + "y" * 2), FEW)
    assert found.ac1.value == pytest.approx((0.944 - 0.054432) / (1 - 0.054432), abs=1e-12)
    assert found.pabak.value == pytest.approx(2 * 0.944 - 1, abs=1e-12)
    assert found.cohen.value == pytest.approx((0.944 - (123 * 120 + 2 * 5) / 125**2) / (1 - (123 * 120 + 10) / 125**2))
    assert (found.cohen.value or 0) < 0 < 0.9 < (found.ac1.value or 0)


def test_ac1_and_pabak_count_the_classes_nobody_used() -> None:
    """p = .75; shares .625 and .375: chance 2 · .234375 over q - 1."""
    two, three = (coefficients(table("aabb", "aaab", classes=classes), FEW) for classes in ("ab", "abc"))
    chance = 2 * 0.625 * 0.375
    assert two.ac1.value == pytest.approx((0.75 - chance) / (1 - chance))
    assert three.ac1.value == pytest.approx((0.75 - chance / 2) / (1 - chance / 2))
    assert (two.pabak.value, three.pabak.value) == (pytest.approx(0.5), pytest.approx(0.625))
    assert two.cohen.value == three.cohen.value == pytest.approx(0.5)


def _4(found: Estimate) -> float:
    return _round(found, 4)


def _round(found: Estimate, digits: int) -> float:
    assert found.value is not None, found.reason
    return round(found.value, digits)
