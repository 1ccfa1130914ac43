"""`callscope judge`: what it prints, its exit codes, how it goes on after any end, and how it is undone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callscope.cli import main
from callscope.judge import words
from callscope.judge.planned import tokens_about
from callscope.runs import open_run
from tests.capture.test_kill import whole_lines
from tests.judge import judges
from tests.judge.kit import GOLD, OTHER, SAME, case, judge_entry, judged_by, make_run

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {"101": GOLD, "102": SAME, "103": OTHER}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("held") / "run", TEXTS)


@pytest.fixture
def run(held: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(held, tmp_path / "run"))


class Planted:
    """The perfect judge in a process of its own, and the prompts it was sent."""

    def __init__(self, url: str, log: Path) -> None:
        self.url, self._log = url, log

    def asked(self) -> list[str]:
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Planted]:
    url_file, log = tmp_path / "url", tmp_path / "asked"
    command = [sys.executable, "-m", "tests.judge.judges", str(url_file), str(log)]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        deadline = time.monotonic() + 30
        while not url_file.exists():
            assert process.poll() is None, "the planted judge did not start"
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield Planted(url_file.read_text(), log)
    finally:
        process.kill()
        process.wait()


def command(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["judge", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def config(tmp_path: Path, url: str, **more: Any) -> Path:
    path = tmp_path / "judge.json"
    path.write_text(json.dumps({"concurrency": 4, "models": [judge_entry(url)], **more}))
    return path


def derived_files(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in ("verdicts.jsonl", "summary.json", "judge.json")}


def test_killed_in_the_middle_it_goes_on_to_the_same_rulings(run: Path, planted: Planted, tmp_path: Path) -> None:
    settings = config(tmp_path, planted.url)
    whole = Path(shutil.copytree(run, tmp_path / "whole"))
    assert command(whole, "--config", settings) == 0
    asked_whole = planted.asked()
    assert max(Counter(asked_whole).values()) == 1

    log = run / "judge" / "planted-stand-in-judge" / "round-1"
    process = subprocess.Popen(
        [sys.executable, "-m", "callscope", "judge", str(run), "--config", str(settings)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while len(whole_lines(log)) < 60:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = {json.loads(line)["key"]["case_id"] for line in whole_lines(log)}
    assert not (run / "judge.json").exists(), "nothing applies before all is answered"

    assert command(run, "--config", settings) == 0
    assert derived_files(run) == derived_files(whole)
    records = [json.loads(line)["key"]["case_id"] for line in whole_lines(log)]
    assert max(Counter(records).values()) == 1
    twice = [prompt for prompt, count in Counter(planted.asked()[len(asked_whole) :]).items() if count > 1]
    assert len(twice) <= 4, "more than what was in flight was asked again"
    assert len(done) >= 60


def test_the_replay_of_a_judged_run_needs_no_judge(run: Path, planted: Planted, tmp_path: Path) -> None:
    assert command(run, "--config", config(tmp_path, planted.url)) == 0
    before, asked = derived_files(run), planted.asked()
    check = [sys.executable, "-m", "callscope", "replay"]
    assert subprocess.run([*check, str(run), "--check"], check=False).returncode == 0
    assert subprocess.run([*check, str(run)], check=False).returncode == 0
    assert derived_files(run) == before
    rounds = run / "judge" / "planted-stand-in-judge" / "round-1"
    assert subprocess.run([*check, str(rounds), "--check"], check=False).returncode == 0
    assert planted.asked() == asked
    shutil.rmtree(run / "judge")  # a judge that applies, and whose calls are gone
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(run)])
    assert ended.value.code == 2
    assert command(run, "--off") == 0


def test_a_budget_stops_cleanly_and_the_same_command_goes_on(
    run: Path, planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = config(tmp_path, planted.url)
    before = (run / "verdicts.jsonl").read_bytes()
    assert command(run, "--config", settings, "--budget-calls", "50") == 3
    assert "nothing new applies yet" in capsys.readouterr().err
    assert command(run, "--config", settings, "--budget-calls", "50") == 3, "the budget of a round is its whole budget"
    assert "with a larger budget goes on" in capsys.readouterr().err
    assert (run / "verdicts.jsonl").read_bytes() == before
    assert command(run, "--config", settings, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["believed"] is True
    assert found["judge"] == "planted/stand-in-judge (stand-in)"
    assert found["counts"]["questions"] == 2
    assert max(Counter(planted.asked()).values()) == 1


def test_the_judge_of_rules_is_labelled_so_and_off_undoes_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {name: (run / name).read_bytes() for name in ("verdicts.jsonl", "summary.json")}
    assert command(run, "--rules") == 0
    printed = capsys.readouterr().out
    assert "Judge rules (rules)" in printed
    assert "0 of 60" in printed
    verdict = next(one.verdict for one in open_run(run).derived() if one.verdict.case_id == "card-102")
    assert verdict.decided_by["semantics"] == "judge rules"
    assert (verdict.passed, verdict.attribution) == (None, "judge_failure")
    assert command(run, "--off") == 0
    assert {name: (run / name).read_bytes() for name in before} == before
    assert json.loads((run / "judge.json").read_bytes())["applied"] is None


def test_the_judge_of_rules_decides_what_rules_can(tmp_path: Path) -> None:
    texts = {"101": "5000 m", "102": "5 mi"}
    cases = [case(n, required_equals={"text": "5 km", "card_id": f"C-{n}"}) for n in (101, 102)]
    run = make_run(tmp_path / "run", texts, cases)
    assert command(run, "--rules") == 0
    assert {one.verdict.case_id: one.verdict.passed for one in open_run(run).derived()} == {
        "card-101": True,
        "card-102": False,
    }


def test_a_run_in_which_nothing_is_open_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path / "run", {"101": GOLD})
    assert command(run, "--rules") == 0
    assert "nothing is open for a judge" in capsys.readouterr().err
    assert not (run / "judge.json").exists()


CLOSED = [
    ({"text": "a warm welcome", "card_id": "C-999"}, {}, "schema"),
    ({"text": "a friendly greeting"}, {"required_equals": {"text": "5%"}}, "number"),
    ({"text": "2026-03-14"}, {"required_equals": {"text": "2026-03-15"}}, "date"),
    ({"text": "ORD-1"}, {"required_equals": {"text": "ORD-2"}}, "id"),
    ({"text": ""}, {"required_equals": {"text": "a warm welcome"}}, "empty"),
]


@pytest.mark.parametrize(("sent", "rules", "why"), CLOSED)
def test_why_nothing_is_open_is_said(
    tmp_path: Path, sent: dict[str, Any], rules: dict[str, Any], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path / "run", {"101": sent, "102": GOLD}, [case(101, **rules), case(102)])
    assert command(run, "--rules", "--json") == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["status"], found["trials"], found["differing"]) == ("nothing_open", 2, 1)
    assert found["closed"] == {why: 1}
    assert "Looked at 2 trials: in 1 a string differs from the right one" in printed.err
    assert f"1 argument: {words._CLOSED[why]}" in " ".join(printed.err.split())


def test_undeclared_text_that_is_closed_names_the_option_that_opens_it(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(run, "--rules", "--open", "declared") == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "Looked at 3 trials: in 2 a string differs from the right one, and none of those is open:" in said
    assert "2 arguments: not declared free_text" in said
    assert "--open text opens what is not declared" in said


def test_trials_that_no_ruling_changes_name_the_option_that_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path / "run", {"101": {"text": SAME, "card_id": "C-999"}})
    assert command(run, "--rules") == 0
    assert "1 trial: open text, but no ruling changes what the trial is (--all asks)" in " ".join(
        capsys.readouterr().err.split()
    )


def test_a_dry_run_says_how_much_and_asks_nothing(
    run: Path, planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path for path in run.rglob("*"))
    assert command(run, "--config", config(tmp_path, planted.url), "--dry-run") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "2 open arguments make 2 questions; with 240 sentinels, in both orders: 470 calls to make" in said
    assert "no estimate of the cost" in said
    assert "Nothing was asked" in said
    priced = judge_entry(planted.url, prices={"input": 1.0, "output": 10.0})
    settings = config(tmp_path, planted.url, models=[priced])
    assert command(run, "--config", settings, "--dry-run", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["status"], plan["questions"], plan["sentinels"], plan["calls"]) == ("planned", 2, 240, 470)
    tokens = plan["tokens_about"]
    assert plan["cost_about"] == pytest.approx((tokens["input"] + 10 * tokens["output"]) / 1e6)
    assert planted.asked() == []
    assert sorted(path for path in run.rglob("*")) == before


def test_a_plan_is_what_is_then_asked_and_what_was_answered_is_not_planned_again(
    run: Path, planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = config(tmp_path, planted.url)
    assert command(run, "--config", settings, "--budget-calls", "50") == 3
    assert "470 calls to make" in " ".join(capsys.readouterr().err.split())
    done = len(planted.asked())
    assert command(run, "--config", settings, "--dry-run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["calls"] == 470 - done
    assert command(run, "--config", settings) == 0
    assert len(planted.asked()) == 470
    capsys.readouterr()
    assert command(run, "--config", settings, "--dry-run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["calls"] == 0


def test_the_estimate_is_of_what_is_sent(run: Path, planted: Planted, tmp_path: Path) -> None:
    settings = config(tmp_path, planted.url)
    assert command(run, "--config", settings) == 0
    whole = open_run(run / "judge" / "planted-stand-in-judge" / "round-1")
    (suite,) = whole.suites.values()
    sent = sum(
        len(exchange.request)
        for _, record in whole.folder.records()
        for one in record.rounds
        for exchange in one.exchanges
    )
    assert len(suite.cases) == 470
    assert 0.7 < 4 * tokens_about(suite).input / sent < 1.1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "exactly one judge is needed"),
        (("--rules", "--off"), "exactly one judge is needed"),
        (("--model", "nobody"), "is no model"),
        (("--model", "stub/x"), "give --config FILE"),
        (("--rules", "--dry-run"), "says nothing beside --rules"),
        (("--rules", "--limit", "0"), "must be at least 1"),
        (("--rules", "--name", "mine"), "says nothing beside --rules"),
        (("--model", "openai/gpt-5-mini", "--name", "../up"), "is no name for a judge's folder"),
        (("--model", "openai/gpt-5-mini", "--name", "rules"), "is the judge made of rules"),
    ],
)
def test_what_cannot_be_done_is_said(
    run: Path, arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(run, *arguments) == 2
    assert says in capsys.readouterr().err


def test_another_model_may_not_go_on_in_a_judges_folder(
    run: Path, planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(run, "--config", config(tmp_path, planted.url), "--name", "one", "--budget-calls", "4") == 3
    other = config(tmp_path, planted.url, models=[judge_entry(planted.url, switches={"max_tokens_field": "x"})])
    assert command(run, "--config", other, "--name", "one") == 2
    assert "differs from what is asked in the model. Give the new one its own --name" in capsys.readouterr().err


def test_a_judge_that_judges_itself_is_pointed_out(
    run: Path, planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    itself = judge_entry(planted.url, provider="stand-in", model="stand-in-1")
    settings = config(tmp_path, planted.url, models=[itself])
    assert command(run, "--config", settings, "--budget-calls", "4") == 3
    assert "stand-in/stand-in-1 is judged by itself" in capsys.readouterr().err


def test_a_bad_judge_is_named_loudly_and_the_exit_code_says_so(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged_by(run, judges.garbage)
    url = open_run(run / "judge" / "planted-stand-in-judge" / "round-1").manifest.models[0].entry.base_url
    capsys.readouterr()
    assert command(run, "--config", config(tmp_path, str(url))) == 5
    printed = capsys.readouterr()
    assert "THIS JUDGE IS NOT BELIEVED: unreadable" in printed.err
    assert "it holds no list of verdicts): They look the same to me, more or less!" in " ".join(printed.err.split())
    unfolded = printed.err.replace("\n", "").replace(" ", "")
    assert f"callscopeinspect{run}/judge/planted-stand-in-judge/round-1" in unfolded
    kinds = json.loads((run / "judge.json").read_bytes())["calibration"]["kinds"]
    asked = sum(1 for _ in open_run(run / "judge" / "planted-stand-in-judge" / "round-1").folder.records())
    assert sum(kind["right"] + kind["wrong"] + kind["undecided"] for kind in kinds) <= asked < 240
    assert "unreadable" in printed.out
    assert "judge_failure (undecided)" in printed.out


def test_a_judge_file_that_cannot_be_read_is_said_and_set_aside(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "judge.json").write_text('{"schema": "callscope/judge/2"}')
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(run)])
    assert ended.value.code == 2
    assert "--off" in capsys.readouterr().err
    assert command(run, "--off") == 0
    assert (run / "judge.json.unreadable").exists()
    assert open_run(run).check().differing == ()
