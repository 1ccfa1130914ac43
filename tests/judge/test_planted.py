"""Planted judges over a real wire: each is detected by name, and what a judge rules is what the verdicts say."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callscope.contract import Derived
from callscope.judge.docket import Scope
from callscope.judge.prompting import prompt_hashes
from callscope.runs import open_run
from tests.judge import judges
from tests.judge.kit import GOLD, OTHER, SAME, case, judged_by, make_run, sittings
from tests.stand_in import Reply, Seen

TEXTS = {"101": GOLD, "102": SAME, "103": OTHER, "104": {"text": SAME, "card_id": "C-999"}, "105": None}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("held") / "run", TEXTS, repeats=2)


@pytest.fixture
def run(held: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(held, tmp_path / "run"))


def verdicts(run: Path) -> dict[str, Derived]:
    return {one.verdict.case_id: one for one in open_run(run).derived()}


def said(run: Path) -> dict[str, tuple[bool | None, str]]:
    return {name: (one.verdict.passed, one.verdict.attribution) for name, one in verdicts(run).items()}


BY_RULES: dict[str, tuple[bool | None, str]] = {
    "card-101": (True, "correct"),
    "card-102": (False, "parameter_error.value"),
    "card-103": (False, "parameter_error.value"),
    "card-104": (False, "parameter_error.value"),
    "card-105": (False, "miss_recall"),
}


@pytest.fixture(scope="module")
def judged(held: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A run that a perfect judge has ruled on; not to be changed."""
    run = Path(shutil.copytree(held, tmp_path_factory.mktemp("judged") / "run"))
    return run, judged_by(run, judges.by_call(judges.perfect))[0]


def test_a_perfect_judge_is_believed_and_its_rulings_stand_in_the_verdicts(run: Path) -> None:
    """This one answers in text, as models do that cannot call."""
    applied, seen = judged_by(run, judges.in_text(judges.perfect))
    assert applied.file.calibration.failures == ()
    assert said(run) == {**BY_RULES, "card-102": (True, "correct")}
    for name in ("card-102", "card-103"):
        assert verdicts(run)[name].verdict.decided_by["semantics"] == "judge planted/stand-in-judge (stand-in)"
    assert verdicts(run)["card-101"].verdict.decided_by["semantics"] == "arguments"
    assert (applied.file.counts.questions, applied.file.counts.agreed, applied.file.counts.flips) == (2, 2, 0)
    changed = {(c.before, c.after): c.trials for c in applied.changes}
    assert changed[("parameter_error.value", "correct")] == 2, "both repeats"
    assert max(Counter(one.body for one in seen).values()) == 1, "the same was asked twice"


PLANTED: dict[str, tuple[Callable[[Seen], Reply], str]] = {
    "position-biased": (judges.by_call(judges.position_biased), "position_biased"),
    "over-lenient": (judges.by_call(judges.lenient), "too_lenient"),
    "over-strict": (judges.by_call(judges.strict), "too_strict"),
    "obedient": (judges.by_call(judges.obedient), "obeys_injected_instructions"),
    "garbage": (judges.garbage, "unreadable"),
}


@pytest.mark.parametrize(("respond", "name"), PLANTED.values(), ids=PLANTED.keys())
def test_a_bad_judge_is_named_and_decides_nothing(run: Path, respond: Callable[[Seen], Reply], name: str) -> None:
    (applied, seen), (again, more) = sittings(run, (respond, {}), (respond, {}))
    assert applied.file.calibration.failures == (name,)
    assert said(run) == {**BY_RULES, "card-102": (None, "judge_failure"), "card-103": (None, "judge_failure")}
    (finding,) = verdicts(run)["card-102"].verdict.evidence["semantics"]["calls"][0]["undecided"]
    assert finding["judged"] == "undecided"
    assert len(seen) < 300, "a judge that has failed for certain is asked no further"
    assert open_run(run).check().differing == ()
    assert more == []
    assert again.file == applied.file


def test_where_the_orders_disagree_a_third_call_decides(run: Path) -> None:
    """Perfect on sentinels; on one real question it says one thing first, then another."""
    calls: Counter[str] = Counter()

    def wavering(question: judges.Shown) -> str:
        if SAME not in question:
            return judges.perfect(question)
        calls[SAME] += 1
        return "different" if calls[SAME] == 1 else "equivalent"

    applied, _ = judged_by(run, judges.by_call(wavering))
    assert calls[SAME] == 3
    assert (applied.file.counts.third_call, applied.file.counts.flips) == (1, 1)
    assert said(run)["card-102"] == (True, "correct")
    assert (run / "judge" / "planted-stand-in-judge" / "round-2" / "records.jsonl").exists()
    assert open_run(run).check().differing == ()


def test_one_that_cannot_tell_leaves_a_judge_failure(run: Path) -> None:
    applied, _ = judged_by(run, judges.by_call(lambda one: "cannot_assess" if SAME in one else judges.perfect(one)))
    assert applied.file.calibration.believed
    assert applied.file.counts.judge_failure == 1
    assert said(run)["card-102"] == (None, "judge_failure")
    assert said(run)["card-103"] == (False, "parameter_error.value")


def test_calls_that_were_not_answered_decide_nothing_and_are_asked_again(run: Path) -> None:
    def refusing(seen: Seen) -> Reply:
        if SAME in seen.prompt:
            return Reply(b'{"error": {"message": "no", "code": "bad_request"}}', status=400)
        return judges.by_call(judges.perfect)(seen)

    (applied, _), (mended, seen) = sittings(run, (refusing, {}), (judges.by_call(judges.perfect), {}))
    assert applied.file.counts.not_observed == 1
    assert [ruling for one in applied.changes if (ruling := one.after) == "judge_failure"] != []
    assert len(seen) == 2, "only what was not observed"
    assert mended.file.counts.not_observed == 0
    assert said(run)["card-102"] == (True, "correct")


def test_what_a_run_gained_is_asked_in_a_round_of_its_own(run: Path) -> None:
    perfect = judges.by_call(judges.perfect)
    (part, _), (_, seen) = sittings(run, (perfect, {"scope": Scope(limit=1)}), (perfect, {}))
    assert (part.file.counts.questions, part.docket.beyond) == (1, 2)
    assert len(seen) == 2
    assert said(run)["card-102"] == (True, "correct")


def test_free_text_that_was_undecided_is_decided(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", {"101": SAME, "102": OTHER}, [case(n, free_text=["text"]) for n in (101, 102)])
    assert {one for _, one in said(run).values()} == {"judge_failure"}
    judged_by(run, judges.by_call(judges.perfect))
    assert said(run) == {"card-101": (True, "correct"), "card-102": (False, "parameter_error.value")}


def test_every_ruling_is_by_the_frozen_prompt_whose_hashes_are_kept(judged: tuple[Path, Any]) -> None:
    run, applied = judged
    manifest = json.loads((run / "judge" / "planted-stand-in-judge" / "round-1" / "manifest.json").read_bytes())
    hashes = prompt_hashes()
    assert applied.file.prompts == hashes
    assert manifest["suites"][0]["files"]["system.txt"] == hashes["system.txt"]
    assert manifest["suites"][0]["files"]["tools.core.json"] == hashes["tools.core.json"]
    toml = run / "judge" / "planted-stand-in-judge" / "round-1" / "blobs" / manifest["suites"][0]["files"]["suite.toml"]
    assert hashes["question.txt"] in toml.read_text()


def test_a_ruling_is_in_the_summary_and_a_file_of_replayed_records(judged: tuple[Path, Any], tmp_path: Path) -> None:
    run, _ = judged
    passed = json.loads((run / "summary.json").read_bytes())["trials"]["passed"]
    assert passed == 4
    opened = open_run(run)
    opened.write_replayed(tmp_path / "replayed")
    assert said(tmp_path / "replayed") == said(run)
    (run / "verdicts.jsonl").unlink()
    assert said(run)["card-102"] == (True, "correct"), "derived again with the rulings"
