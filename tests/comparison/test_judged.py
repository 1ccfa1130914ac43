"""Claims about runs that a judge has ruled on: who judged is a variable, and a judge that fails is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from msgspec import structs

from callscope.cli import main
from callscope.comparison import Judged, Options, compare, comparison_text, render_comparison
from callscope.runs import open_run
from tests.comparison.planted import Planted, run
from tests.judge import judges
from tests.judge.kit import GOLD, OTHER, SAME, judged_by, make_run


def command(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def by(judge: str, run_id: str) -> Planted:
    """A run of ten cases, all passed, in one of which a judge ruled."""
    made = run({"m": [[True]] * 10}, run_id=run_id)
    verdict = structs.replace(made.rows[3].verdict, decided_by={"semantics": f"judge {judge}"})
    made.rows[3] = structs.replace(made.rows[3], verdict=verdict)
    return made


def changed(one: Planted, other: Planted, /, **judged: Judged) -> list[str]:
    data = compare([("first", one), ("second", other)], Options(), judged)
    return list(data["groups"][0]["pairs"][0]["changed"])


def test_who_judged_is_a_variable() -> None:
    plain = run({"m": [[True]] * 10})
    assert changed(plain, by("x", "2")) == ["judge"]
    assert changed(by("x", "1"), by("y", "2")) == ["judge"]
    assert changed(by("x", "1"), by("x", "2")) == []


def test_what_one_judge_was_asked_and_how_are_variables() -> None:
    runs = by("x", "1"), by("x", "2")
    assert changed(*runs, first=Judged("declared free text", "p"), second=Judged("declared free text", "p")) == []
    found = changed(*runs, first=Judged("declared free text", "p"), second=Judged("free strings too", "q"))
    assert found == ["judge's questions", "judge's prompt"]
    other = changed(
        by("x", "1"), by("y", "2"), first=Judged("declared free text", "p"), second=Judged("free strings too", "p")
    )
    assert other == ["judge"], "another judge is one variable, whatever comes with it"


def test_a_judge_that_is_not_believed_is_named_beside_its_unit() -> None:
    judged = {"first": Judged("by suite", "p", ("too_lenient",))}
    data = compare([("first", by("<b>x", "1")), ("second", by("y", "2"))], Options(), judged)
    assert "judged by <b>x, not believed: too_lenient" in " ".join(comparison_text(data, width=160).split())
    page = render_comparison(data)
    assert "not believed: too_lenient" in page
    assert "<b>x" not in page


def test_a_run_and_itself_by_another_judge_are_not_called_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = make_run(tmp_path / "plain", {"101": GOLD, "102": SAME, "103": OTHER})
    good, bad = (Path(shutil.copytree(plain, tmp_path / name)) for name in ("good", "bad"))
    judged_by(good, judges.by_call(judges.perfect))
    judged_by(bad, judges.by_call(judges.lenient))
    capsys.readouterr()
    assert command("compare", plain, good, bad, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert [unit["judge_fails"] for unit in data["units"]] == [[], [], ["too_lenient"]]
    for pair in data["groups"][0]["pairs"]:
        assert pair["changed"] == ["judge"]
        assert "no recorded variable" not in pair["says"][1]
    assert "on 1 of 3 planned cases" in data["groups"][0]["pairs"][1]["says"][0]
    for name in ("plain", "good"):
        open_run(tmp_path / name).write_replayed(tmp_path / f"{name}.jsonl")
    assert command("compare", tmp_path / "plain.jsonl", tmp_path / "good.jsonl", "--json") == 0
    replayed = json.loads(capsys.readouterr().out)["groups"][0]["pairs"][0]
    assert (replayed["changed"], replayed["variables"]) == (["judge"], data["groups"][0]["pairs"][0]["variables"])
