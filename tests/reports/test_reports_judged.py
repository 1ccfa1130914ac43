"""A report says which judge decided, loudly where its sentinels failed, and calls nobody a failed judge who was not
asked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from queries_kit import planned, run_of
from reports_runs import Run
from tests.judge import judges
from tests.judge.kit import GOLD, OTHER, SAME, judged_by, make_run

from callscope.contract import Settings
from callscope.reports import failures, inspect_text, render_html, render_markdown, summarise, terminal_text
from callscope.reports.across import Options, Source
from callscope.reports.judged import OPEN, judge_failure_words, judge_line
from callscope.reports.presets import exhibits_of
from callscope.runs import open_run


def left_open() -> Run:
    """Ten positives of which three were left open, and two negatives."""
    plan = planned("positive", {"tp": 4, "value": 3, "judge": 3}) + planned("global_negative", {"tn": 2})
    return run_of({"m": plan}, settings=Settings())


def flat(text: str) -> str:
    return " ".join(text.split())


def test_what_nobody_was_asked_about_is_left_open_and_no_judge_failed() -> None:
    run = left_open()
    summary = summarise(run)
    assert summary["judge"] is None
    for text in (terminal_text(summary, width=200), render_markdown(summary), render_html(run, summary)):
        assert OPEN in flat(text)
        assert "judge failed" not in text
        assert "Judge: none" in text.replace("&#58;", ":")
        assert "3 trials left open by the rules" in flat(text)
        assert "callscope judge RUN" in text.replace("\\", "")


def test_it_is_said_why_passed_and_recall_differ() -> None:
    summary = summarise(left_open())
    (group,) = summary["groups"]
    assert (group["rates"]["passed"]["n"], group["queries"]["positives"]["recall"]["n"]) == (9, 10)
    text = flat(terminal_text(summary, width=200))
    assert "3 positives left open: passed leaves what is undecided out, recall counts it as FN" in text
    (exhibit,) = exhibits_of("table1", [Source("run", summary)], Options())
    assert any("recall counts it as FN" in note for note in exhibit.parts[0].notes)
    assert OPEN in exhibit.parts[0].columns  # type: ignore[union-attr]
    none = summarise(run_of({"m": planned("positive", {"tp": 4, "value": 3})}))
    assert "left open" not in "".join(terminal_text(none, width=200).split("By query")[1].splitlines()[3:])
    assert judge_line(none) == ("", False)


def test_where_one_run_was_judged_and_another_was_not_both_words_stand() -> None:
    assert judge_failure_words([{"judge": None}], "judge failure") == OPEN
    assert judge_failure_words([{"judge": "j"}], "judge failure") == "judge failure"
    assert judge_failure_words([{"judge": None}, {"judge": "j"}], "judge failure") == f"judge failure, or {OPEN}"


def test_the_hint_of_an_open_trial_depends_on_whether_a_judge_was_asked() -> None:
    text = inspect_text(failures(left_open(), category="undecided"))
    assert "no judge was asked; `callscope judge RUN` asks one" in text


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("judged") / "run", {"101": GOLD, "102": SAME, "103": OTHER})


@pytest.mark.parametrize(("judge", "believed"), [(judges.perfect, True), (judges.lenient, False)])
def test_a_judged_run_names_its_judge_and_warns_where_it_failed(
    held: Path, tmp_path: Path, judge: judges.Judge, believed: bool
) -> None:
    folder = Path(shutil.copytree(held, tmp_path / "run"))
    judged_by(folder, judges.by_call(judge))
    run = open_run(folder)
    summary = run.summary().data
    found = summary["judge"]
    assert found["believed"] is believed
    assert found["kind"] == "model"
    assert found["failures"] == ([] if believed else ["too_lenient"])
    assert found["scope"]
    assert summary["groups"][0]["judge"] == found["name"]
    said = "Judge: the model planted/stand-in-judge" if believed else "JUDGE NOT BELIEVED: the model planted/stand-in"
    for text in (terminal_text(summary, width=240), render_markdown(summary), render_html(run, summary)):
        assert said in text.replace("&#58;", ":")
        assert ("too_lenient" in text.replace("\\", "").split("## ")[0]) is not believed
        assert OPEN not in text
    assert run.check().differing == ()
    run.derive()
    assert run.check().differing == ()
    assert (folder / "summary.json").read_bytes() == run.summary().to_bytes()
