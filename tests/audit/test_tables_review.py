"""Claims about an audit's findings: the document's Tables 4 and 5 come out of its answers, degenerate data says so."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from review_kit import answer_all, desk, judge_material, make_audit, reference_material, thirty_trials
from rich.console import Console

from callscope.audit.findings import Findings, find
from callscope.audit.items import Answer
from callscope.audit.store import AuditFolder
from callscope.audit.stratified import Resampling
from callscope.audit.tables import agreement_tables
from callscope.errors import InputError

FEW = Resampling(draws=20)


def text_of(found: Findings) -> str:
    out = io.StringIO()
    console = Console(file=out, width=160, no_color=True, highlight=False)
    for part in agreement_tables(found):
        console.print(part)
    return out.getvalue()


def reviewed(folder: AuditFolder, said: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Findings:
    """`said`: reviewer -> item -> answers; items that are not named get `yes` to all, or what the judge says."""
    sealed = folder.sealed_by_id
    for name, given in said.items():
        answers = {}
        for item in folder.items:
            default = dict.fromkeys(item.asked, "yes")
            if folder.about.design == "judge":
                default = {"attribution": str(sealed[item.id].attribution)}
            answers[item.id] = Answer(item.id, dict(given.get(item.id, default)))
        answer_all(folder, name, answers)
    return find(folder, FEW)


def test_the_documents_audit_of_references(tmp_path: Path) -> None:
    """Validity of 290, 289 and 290 of 300. All agree on which six targets are wrong; need is rejected by one here, one
    there."""
    folder = make_audit(tmp_path / "a", reference_material(desk(2500, 500)), {"positive": 250, "negative": 50})
    positive = [item.id for item in folder.items if item.item == "positive"]
    negative = [item.id for item in folder.items if item.item != "positive"]
    target = {item: {"need": "yes", "target": "no", "args": "yes"} for item in positive[:6]}
    args = {item: {"need": "yes", "target": "yes", "args": "no"} for item in positive[6:9]}
    need = [{item: {"need": "no"}} for item in negative[:4]]
    found = reviewed(
        folder, {"r1": target | args | need[0], "r2": target | args | need[1] | need[2], "r3": target | args | need[3]}
    )
    assert [(each.reviewer, each.valid.k, each.valid.n) for each in found.validity] == [
        ("r1", 290, 300),
        ("r2", 289, 300),
        ("r3", 290, 300),
    ]
    levels = {level.name: level for level in found.levels}
    assert {name: level.agreement.items for name, level in levels.items()} == {
        "need": 300,
        "target": 250,
        "args": 250,
        "overall": 300,
    }
    assert levels["target"].agreement.among.fleiss.value == 1
    # need by hand: four items of 2:1, of 900 answers 4 are no
    chance = (896**2 + 4**2) / 900**2
    observed = (296 + 4 / 3) / 300
    assert levels["need"].agreement.among.fleiss.value == pytest.approx((observed - chance) / (1 - chance))
    assert levels["need"].agreement.among.fleiss.value < 0 < levels["need"].agreement.among.ac1.value  # type: ignore[operator]
    assert len(found.adjudicate) == 4
    text = text_of(found)
    for shown in (
        "290/300 96.67%",
        "289/300 96.33%",
        "overall",
        "Krippendorff α",
        "To adjudicate: 4",
    ):
        assert shown in text


def test_the_documents_audit_of_the_judge(tmp_path: Path) -> None:
    """The set of answers worked out from the published kappas: specs of the document's arithmetic, 1.2."""
    suite = desk(300, 50)
    said = ["correct"] * 100 + ["miss_recall"] * 50 + ["parameter_error.value"] * 100 + ["over_recall"] * 50
    material = judge_material(suite, {each.id: said[place] for place, each in enumerate(suite.cases[50:])})
    quotas = {"correct": 100, "missed": 50, "spurious": 50, "parameter": 100}
    folder = make_audit(tmp_path / "a", material, quotas)
    of = {name: [kept.item for kept in folder.sealed if kept.stratum == name] for name in quotas}
    moved: dict[str, dict[str, Any]] = {name: {} for name in ("r1", "r2", "r3")}

    def move(items: list[str], **to: str) -> None:
        for item in items:
            for name, label in to.items():
                moved[name][item] = {"attribution": label}

    move(of["parameter"][:3], r1="missed", r2="correct", r3="correct")
    move(of["correct"][:5], r1="missed", r3="missed")
    move(of["parameter"][3:7], r1="missed", r3="missed")
    move(of["parameter"][7:12], r2="correct", r3="correct")
    move(of["correct"][5:6], r2="parameter")
    found = reviewed(folder, moved)
    assert found.judged is not None
    against = {each.reviewer: each for each in found.judged.agreement.against}
    agreements = {name: each.coefficients.observed for name, each in against.items()}
    assert {name: each.k for name, each in agreements.items()} == {"r1": 288, "r2": 291, "r3": 283}
    kappas = {name: each.coefficients.cohen.value for name, each in against.items()}
    assert {name: round(value or 0, 4) for name, value in kappas.items()} == {"r1": 0.9451, "r2": 0.9585, "r3": 0.9221}
    confirmed = {name: {one.label: one.confirmed.k for one in each.confirmation} for name, each in against.items()}
    assert {name: each["parameter"] for name, each in confirmed.items()} == {"r1": 93, "r2": 92, "r3": 88}
    assert all(each["missed"] == each["spurious"] == 50 for each in confirmed.values())
    assert found.judged.agreement.among.fleiss.value == pytest.approx(0.945099, abs=1e-6)
    text = text_of(found)
    for shown in ("288/300 96.00%", "291/300 97.00%", "283/300 94.33%", "0.9451", "0.9585", "0.9221", "93/100 93.00%"):
        assert shown in text


def test_rates_of_the_run_are_corrected_by_what_people_settled(tmp_path: Path) -> None:
    """100 trials called correct, of which 10 of 50 are found wrong; 100 called missed, all confirmed. By hand: of the
    run's trials 80 are correct."""
    suite = desk(200, 0)
    said = {each.id: "correct" if place < 100 else "miss_recall" for place, each in enumerate(suite.cases)}
    folder = make_audit(tmp_path / "a", judge_material(suite, said), {"correct": 50, "missed": 50})
    wrong = [kept.item for kept in folder.sealed if kept.stratum == "correct"][:10]
    found = reviewed(folder, {"ann": {item: {"attribution": "missed"} for item in wrong}})
    assert found.judged is not None
    rate = found.judged.rates["correct"]
    assert (rate.apparent.k, rate.apparent.n) == (100, 200)
    assert rate.corrected.value == pytest.approx(0.4)
    assert rate.sensitivity.value == 1
    assert rate.specificity.value == pytest.approx(100 / 120)


def test_who_adjudicates_decides_what_a_majority_would_have(tmp_path: Path) -> None:
    folder = thirty_trials(tmp_path / "a")
    item = folder.items[0].id
    first = reviewed(folder, {"ann": {item: {"attribution": "correct"}}, "ben": {item: {"attribution": "missed"}}})
    assert first.judged is not None
    assert first.judged.confusion.unsettled == 1
    answer_all(folder, "adjudicator", {item: Answer(item, {"attribution": "spurious"})})
    second = find(folder, FEW)
    assert second.judged is not None
    assert second.judged.confusion.unsettled == 0
    judge = str(folder.sealed_by_id[item].attribution)
    counts = sum(row.get("spurious", 0) for name, row in second.judged.confusion.counts.items() if name == judge)
    assert counts == (5 if judge == "spurious" else 1)
    assert second.adjudicate[0].decided == Answer(item, {"attribution": "spurious"})
    assert set(second.answered) == {"ann", "ben"}


def test_degenerate_answers_are_undefined_with_the_reason_and_never_nan(tmp_path: Path) -> None:
    folder = make_audit(tmp_path / "a", reference_material(desk(4, 2)), {"positive": 4, "negative": 2})
    found = reviewed(folder, {"ann": {}, "ben": {}})
    need = found.levels[0].agreement.among
    assert need.cohen.value is None
    assert need.cohen.reason.startswith("undefined: ")
    assert need.observed.value == 1
    text = text_of(found)
    assert "undefined [1]" in text
    assert need.cohen.reason[:40] in text.replace("\n", " ")
    assert "nan" not in text.lower().replace("adjudicat", "")
    assert not any(isinstance(value, float) and math.isnan(value) for value in numbers(found))
    assert "Nothing to adjudicate" in text


def numbers(value: Any) -> list[Any]:
    import msgspec

    plain, found = [msgspec.to_builtins(value)], []
    while plain:
        each = plain.pop()
        if isinstance(each, dict):
            plain += each.values()
        elif isinstance(each, list | tuple):
            plain += each
        else:
            found.append(each)
    return found


def test_one_reviewer_has_validity_and_no_agreement(tmp_path: Path) -> None:
    folder = make_audit(tmp_path / "a", reference_material(desk(4, 2)), {"positive": 4, "negative": 2})
    item = next(item.id for item in folder.items if item.item == "positive")
    found = reviewed(folder, {"ann": {item: {"need": "yes"}}})
    assert found.answered == {"ann": 5}
    assert (found.validity[0].valid.k, found.validity[0].valid.n, found.validity[0].incomplete) == (5, 5, 1)
    assert found.levels[0].agreement.among.fleiss.value is None
    assert "undefined" in text_of(found)


def test_an_audit_that_nobody_answered_says_what_to_do(tmp_path: Path) -> None:
    folder = thirty_trials(tmp_path / "a")
    with pytest.raises(InputError, match="nobody has answered anything yet"):
        find(folder, FEW)


def test_hostile_names_of_cases_stay_on_their_line(tmp_path: Path) -> None:
    from review_kit import case, suite_files

    from callscope.suites import load_suite_bytes

    suite = load_suite_bytes(suite_files([case(1, id="[red]x[/red] \U0001f600"), case(2)]))
    folder = make_audit(tmp_path / "a", reference_material(suite), {"positive": 2})
    first = next(kept.item for kept in folder.sealed if "red" in kept.case_id)
    found = reviewed(folder, {"ann": {first: {"need": "no"}}, "ben": {}})
    assert "desk/[red]x[/red]" in text_of(found)
