"""Claims about `callscope audit`: the whole way from a suite to a corrected one, and that bad input never gives a
traceback."""

from __future__ import annotations

import csv
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from review_kit import case, suite_files, thirty_trials, write
from tests.judge import judges
from tests.judge.kit import GOLD, OTHER, SAME, judged_by, make_run

from callscope import run
from callscope.audit.store import AuditFolder
from callscope.cli import main

ROOT = Path(__file__).resolve().parents[2]


class Done(NamedTuple):
    stdout: str
    stderr: str


Audit = Callable[..., Done]


@pytest.fixture
def audit(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Audit:
    """`callscope audit` in this process; `code` is the exit code it must have."""
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object, code: int = 0) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(["audit", *map(str, arguments)])
        out, err = capsysbinary.readouterr()
        assert ended.value.code == code, err.decode()
        return Done(out.decode(), err.decode())

    return run


def test_from_a_suite_by_sheets_to_a_corrected_suite(audit: Audit, tmp_path: Path) -> None:
    suite = write(tmp_path / "desk", suite_files([case(number) for number in range(5)] + [case(9, "negative")]))
    (suite / "LICENCE").write_text("as it was")
    folder = tmp_path / "audit"
    done = audit("sample", suite, "--design", "reference", "--size", 6, "--out", folder)
    assert "positive" in done.stdout
    for name in ("ann", "ben"):
        sheet = tmp_path / f"{name}.csv"
        audit("export", folder, "--csv", sheet, "--reviewer", name)
        rows = list(csv.DictReader(sheet.read_text(encoding="utf-8-sig").splitlines(keepends=True)))
        for row in rows:
            wrong = "ORD-000003" in row["query"]
            row |= {"need": "yes", "target": "yes", "args": "no" if wrong else "yes"}
            if row["gold"].startswith("No call"):
                row |= {"target": "-", "args": "-"}
            if wrong and name == "ann":
                row["correction"] = '[{"name": "lookup_order", "arguments": {"order_id": "ORD-000033"}}]'
        with sheet.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        assert "6 answers taken" in audit("import", folder, sheet, "--reviewer", name).stderr
        assert "0 answers taken" in audit("import", folder, sheet, "--reviewer", name).stderr

    assert "Table 4" in audit("agreement", folder, "--draws", 50).stdout
    found = json.loads(audit("agreement", folder, "--draws", 50, "--json").stdout)
    assert [(each["valid"]["k"], each["valid"]["n"]) for each in found["validity"]] == [(5, 6), (5, 6)]

    new = tmp_path / "desk-2"
    audit("correct", folder, "--suite", suite, "--version", "1.0.0", "--out", new, code=2)
    assert not new.exists()
    done = audit("correct", folder, "--suite", suite, "--version", "2.0.0", "--out", new, "--why", "checked")
    assert "corrected positive-0003" in done.stdout
    assert "ORD-000033" in (new / "cases.jsonl").read_text()
    assert json.loads((new / "versions.json").read_text())["2.0.0"]["why"] == "checked"
    assert (new / "LICENCE").read_text() == "as it was"
    again = audit("correct", folder, "--suite", suite, "--version", "2.0.0", "--out", new, code=2)
    assert "is there already, and not empty" in again.stderr


def test_what_is_open_stops_a_correction_unless_partial(audit: Audit, tmp_path: Path) -> None:
    suite = write(tmp_path / "desk", suite_files([case(1), case(2)]))
    folder = tmp_path / "audit"
    audit("sample", suite, "--design", "reference", "--quota", "positive=2", "--out", folder)
    first, second = AuditFolder.open(folder).items
    gold = [{"name": "lookup_order", "arguments": {"order_id": "ORD-000033"}}]
    lines = [
        {"item": first.id, "answers": {"need": "yes", "target": "yes", "args": "no"}, "correction": gold},
        {"item": second.id, "answers": {"need": "no"}},
    ]
    sheet = tmp_path / "ann.jsonl"
    sheet.write_text("".join(json.dumps(line) + "\n" for line in lines))
    audit("import", folder, sheet, "--reviewer", "ann")
    arguments = ("correct", folder, "--suite", suite, "--version", "2", "--out", tmp_path / "new")
    done = audit(*arguments, code=2)
    assert "need is wrong, and nobody wrote the right gold" in done.stdout
    assert "not everything is settled" in done.stderr
    assert "1 cases corrected" in audit(*arguments, "--partial").stderr


def test_an_adjudicators_sheet_holds_what_is_open_and_closes_it(audit: Audit, tmp_path: Path) -> None:
    suite = write(tmp_path / "desk", suite_files([case(1), case(2)]))
    folder, sheet = tmp_path / "audit", tmp_path / "sheet.jsonl"
    audit("sample", suite, "--design", "reference", "--quota", "positive=2", "--out", folder)
    first, second = AuditFolder.open(folder).items
    yes = {"need": "yes", "target": "yes", "args": "yes"}
    for name in ("ann", "ben"):  # both reject the first, and nobody says what would be right
        lines = [{"item": first.id, "answers": yes | {"args": "no"}}, {"item": second.id, "answers": yes}]
        sheet.write_text("".join(json.dumps(line) + "\n" for line in lines))
        audit("import", folder, sheet, "--reviewer", name)
    arguments = ("correct", folder, "--suite", suite, "--version", "2", "--out", tmp_path / "new")
    assert "nobody wrote the right gold" in audit(*arguments, code=2).stdout
    audit("export", folder, "--jsonl", sheet, "--reviewer", "adjudicator")
    (row,) = [json.loads(line) for line in sheet.read_text().splitlines()]
    assert row["item"] == first.id
    row |= {"answers": yes | {"args": "no"}, "correction": {"kind": "text"}}
    sheet.write_text(json.dumps(row))
    audit("import", folder, sheet, "--reviewer", "adjudicator")
    assert "1 cases corrected" in audit(*arguments).stderr
    for reviewer in ("Ann", "ADJUDICATOR"):
        done = audit("import", folder, sheet, "--reviewer", reviewer, code=2)
        assert "--reviewer: differs from a known reviewer by case alone" in done.stderr


def test_a_corrected_suite_that_cannot_be_written_leaves_nothing_behind_and_the_old_one_as_it_was(
    audit: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = write(tmp_path / "desk", suite_files([case(1)]))
    before = {file.name: file.read_bytes() for file in suite.iterdir()}
    folder, sheet = tmp_path / "audit", tmp_path / "ann.jsonl"
    audit("sample", suite, "--design", "reference", "--quota", "positive=1", "--out", folder)
    item = AuditFolder.open(folder).items[0].id
    sheet.write_text(json.dumps({"item": item, "answers": {"need": "no"}, "correction": {"kind": "text"}}))
    audit("import", folder, sheet, "--reviewer", "ann")
    real, calls = os.fsync, 0

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    arguments = ("correct", folder, "--suite", suite, "--version", "2", "--out", tmp_path / "new")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        assert "the suite cannot be written: No space left" in audit(*arguments, code=2).stderr
    assert not (tmp_path / "new").exists()
    audit(*arguments)
    assert {file.name: file.read_bytes() for file in suite.iterdir()} == before


def test_an_audit_of_a_judge_prints_table_5_and_the_corrected_rates(audit: Audit, tmp_path: Path) -> None:
    folder = thirty_trials(tmp_path / "audit")
    sheet = tmp_path / "ann.jsonl"
    lines = [{"item": kept.item, "answers": {"attribution": kept.attribution}} for kept in folder.sealed]
    sheet.write_text("".join(json.dumps(line) + "\n" for line in lines))
    audit("import", folder.path, sheet, "--reviewer", "ann")
    shown = audit("agreement", folder.path, "--draws", 50).stdout
    for words in ("Table 5", "30/30 100.00%", "parameter error", "Rogan-Gladen", "10/30 33.33%"):
        assert words in shown


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sample", "support", "--design", "reference", "--out", "{here}/x"), "positive: 55 cases, 250 wanted"),
        (("sample", "support", "--design", "judge", "--out", "{here}/x"), "samples the trials of a run"),
        (("sample", "nowhere", "--design", "reference", "--out", "{here}/x"), "there is no such suite"),
        (("sample", "support", "--design", "reference", "--model", "m", "--out", "{here}/x"), "--model: chooses among"),
        (
            ("sample", "support", "--design", "reference", "--size", "0", "--out", "{here}/x"),
            "--size: must be at least 1",
        ),
        (("sample", "support", "--design", "reference", "--per-class", "equal", "--out", "{here}/x"), "--per-class"),
        (
            ("sample", "support", "--design", "reference", "--size", "9", "--quota", "positive=1", "--out", "{here}/x"),
            "--size: say either",
        ),
        (("serve", "{here}", "--reviewers", "ann"), "is no audit folder"),
        (("serve", "{here}", "--reviewers", "../ann"), "--reviewers: this cannot be a reviewer's name"),
        (("serve", "{here}", "--reviewers", "ann", "--port", "70000"), "--port: there is no such port"),
        (("export", "{here}", "--csv", "{here}/x.csv"), "is no audit folder"),
        (("export", "{here}"), "--csv FILE or --jsonl FILE"),
        (("import", "{here}", "{here}/x.csv", "--reviewer", "ann"), "is no audit folder"),
        (("agreement", "{here}"), "is no audit folder"),
        (("agreement", "{here}", "--draws", "0"), "--draws: must be at least 1"),
        (("correct", "{here}", "--suite", "support", "--version", "2", "--out", "{here}/x"), "is no audit folder"),
    ],
)
def test_bad_input_is_said_and_never_a_traceback(
    audit: Audit, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = audit(*(each.format(here=tmp_path) for each in arguments), code=2)
    assert says in done.stderr
    assert not (tmp_path / "x").exists()


def test_a_judged_run_is_sampled_by_what_the_judge_ruled_and_says_nothing_of_it(audit: Audit, tmp_path: Path) -> None:
    held = make_run(tmp_path / "run", {"101": GOLD, "102": SAME, "103": OTHER}, repeats=2)
    judged_by(held, judges.by_call(judges.perfect))
    audit("sample", held, "--design", "judge", "--size", 6, "--out", tmp_path / "audit")
    folder = AuditFolder.open(tmp_path / "audit")
    assert len({(kept.case_id, kept.repeat) for kept in folder.sealed}) == 6
    assert {(kept.case_id, kept.attribution) for kept in folder.sealed} == {
        ("card-101", "correct"),
        ("card-102", "correct"),  # the judge ruled that it says the same
        ("card-103", "parameter"),
    }
    shown = (folder.path / "items.jsonl").read_text()
    for word in ("stand-in", "planted", "judge", "ruling", "equivalent", "stratum", 'attribution":'):
        assert word not in shown.lower(), word


def test_a_preset_takes_what_there_is_where_that_is_asked_for(audit: Audit, tmp_path: Path) -> None:
    done = audit("sample", "support", "--design", "reference", "--allow-fewer", "--out", tmp_path / "x")
    assert "Fewer than asked for: positive has 55, and 250 were wanted" in done.stderr
    assert "The class prior is not kept" not in done.stderr
    quotas = ("--quota", "positive=10", "--quota", "negative=10")
    done = audit("sample", "support", "--design", "reference", *quotas, "--out", tmp_path / "y")
    assert "The class prior is not kept; in a sample of 20 that would be 15 positive, 5 negative" in done.stderr


@pytest.mark.parametrize("verb", ["sample", "serve", "export", "import", "agreement", "correct", "check-table"])
def test_each_verb_has_help_with_an_example(audit: Audit, verb: str) -> None:
    assert f"Example: callscope audit {verb}" in audit(verb, "--help").stdout


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of three lookups and a greeting against a stand-in, which answers every prompt with a call."""
    folder = tmp_path_factory.mktemp("run")
    process = subprocess.Popen([sys.executable, str(ROOT / "tests" / "stand_in.py"), str(folder / "url")])
    try:
        while not (folder / "url").exists():
            assert process.poll() is None
        suite = write(folder / "desk", suite_files([case(number) for number in range(3)] + [case(9, "negative")]))
        model = {"provider": "stand-in", "model": "s", "base_url": (folder / "url").read_text(), "stand_in": True}
        run(suite, models=[model], out=folder / "run", repeats=1)
    finally:
        process.kill()
        process.wait()
    return folder / "run"


def test_a_run_is_sampled_by_attribution_or_by_the_cases_frozen_in_it(
    audit: Audit, run_folder: Path, tmp_path: Path
) -> None:
    audit("sample", run_folder, "--design", "judge", "--size", 2, "--out", tmp_path / "judge")
    judge = AuditFolder.open(tmp_path / "judge")
    assert len(judge.items) == 2
    assert sum(each.population for each in judge.about.strata.values()) == 4
    assert all(item.predicted is not None for item in judge.items)
    assert judge.about.source.run_id is not None
    audit("sample", run_folder, "--design", "reference", "--quota", "positive=3", "--out", tmp_path / "reference")
    assert len(AuditFolder.open(tmp_path / "reference").items) == 3
    arguments = ("sample", run_folder, "--design", "judge", "--size", 1, "--out", tmp_path / "x")
    assert "--suite: the run has no such suite" in audit(*arguments, "--suite", "elsewhere", code=2).stderr
    assert "--model: no trial of the run has it" in audit(*arguments, "--model", "elsewhere", code=2).stderr
