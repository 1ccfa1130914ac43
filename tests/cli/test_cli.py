"""Claims about the command line: what it prints where, its exit codes, and that bad input never gives a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from callscope import run
from tests.capture.helpers import small_suite, stand_in_model, write_suite
from tests.stand_in import completion

ROOT = Path(__file__).resolve().parents[2]


def callscope(*arguments: object, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "callscope", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    return subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, env=environment, check=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a configuration against a running stand-in, and one finished run of it."""
    folder = tmp_path_factory.mktemp("cli")
    process = subprocess.Popen([sys.executable, str(ROOT / "tests" / "stand_in.py"), str(folder / "url")])
    try:
        while not (folder / "url").exists():
            assert process.poll() is None
        write_suite(folder / "fixtures", small_suite().sources)
        model = stand_in_model((folder / "url").read_text())
        camel = {"baseUrl" if name == "base_url" else name: value for name, value in model.items()}
        camel["standIn"] = camel.pop("stand_in")
        config = {"datasetVersion": "1.2.0", "repeats": 2, "timeoutMs": 30000, "concurrency": 1, "models": [camel]}
        (folder / "benchmark.config.json").write_text(json.dumps(config))
        done = callscope("run", "benchmark.config.json", "--out", "run", cwd=folder)
        assert done.returncode == 0, done.stderr.decode()
        (folder / "run.out").write_bytes(done.stdout)
        (folder / "run.err").write_bytes(done.stderr)
        yield folder
    finally:
        process.kill()
        process.wait()


def test_run_prints_tables_on_stdout_and_where_the_report_is_on_stderr(place: Path) -> None:
    assert "10/10" in (place / "run.out").read_text()
    errors = (place / "run.err").read_text()
    assert "10/10 trials" in errors
    assert (place / "run" / "report.html").resolve().as_uri() in errors


def test_run_again_on_the_same_folder_needs_no_configuration(place: Path) -> None:
    done = callscope("run", "--resume", "--out", "run", cwd=place)
    assert done.returncode == 0, done.stderr.decode()
    assert b"Going on with run" in done.stderr


def test_run_prints_only_json_with_json(place: Path) -> None:
    done = callscope("run", "benchmark.config.json", "--out", "run", "--json", cwd=place)
    assert json.loads(done.stdout)["schema"] == "callscope/summary/1"
    assert done.stdout == (place / "run" / "summary.json").read_bytes()


def test_limit_case_and_tag_choose(place: Path) -> None:
    done = callscope("run", "benchmark.config.json", "--limit", 2, "--repeats", 1, "--json", cwd=place)
    assert json.loads(done.stdout)["trials"]["planned"] == 2
    done = callscope("run", "benchmark.config.json", "--case", "greeting", "--json", cwd=place)
    assert json.loads(done.stdout)["trials"]["planned"] == 2


def test_replay_check_is_0_on_agreement_and_1_on_difference(place: Path, tmp_path: Path) -> None:
    assert callscope("replay", place / "run", "--check").returncode == 0
    import shutil

    shutil.copytree(place / "run", tmp_path / "run")
    (tmp_path / "run" / "summary.json").write_text("{}")
    done = callscope("replay", tmp_path / "run", "--check")
    assert done.returncode == 1
    assert b"summary.json" in done.stderr


def test_replay_out_and_report_give_the_same_report(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "replayed.jsonl"
    assert callscope("replay", place / "run", "--out", file).returncode == 0
    assert callscope("report", file, "--json").stdout == callscope("report", place / "run", "--json").stdout
    assert callscope("report", file).stdout == callscope("report", place / "run").stdout


@pytest.mark.parametrize("option", ["--html", "--junit", "--csv"])
def test_report_writes_files(place: Path, tmp_path: Path, option: str) -> None:
    file = tmp_path / "out"
    done = callscope("report", place / "run", option, file)
    assert done.returncode == 0, done.stderr.decode()
    assert file.stat().st_size > 100
    assert done.stdout == b""


def test_report_markdown_and_inspect(place: Path) -> None:
    assert b"| ---" in callscope("report", place / "run", "--markdown").stdout
    assert callscope("inspect", place / "run").returncode == 0


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose every trial is coverage loss: nobody listens at its address."""
    model = {"provider": "x", "model": "y", "base_url": "http://127.0.0.1:9/v1"}
    return run(small_suite(1), models=[model], out=tmp_path_factory.mktemp("lost") / "run", repeats=1, attempts=1).path


@pytest.mark.parametrize("category", ["provider_error", "coverage", "coverage.provider_error"])
def test_inspect_finds_by_whole_and_by_short_names(lost: Path, category: str) -> None:
    assert b"== coverage.provider_error " in callscope("inspect", lost, "--category", category).stdout


def test_inspect_says_what_else_there_is_where_a_category_is_empty(lost: Path) -> None:
    done = callscope("inspect", lost, "--category", "wrong_tool")
    assert done.returncode == 0
    assert b"No failures of category wrong_tool. There are: coverage.provider_error 2" in done.stdout


def test_inspect_cuts_the_shared_tools_and_shows_them_with_full(lost: Path) -> None:
    cut = callscope("inspect", lost).stdout.decode()
    full = callscope("inspect", lost, "--full").stdout.decode()
    assert "characters of tools, see --full" in cut
    assert "see --full" not in full
    assert '"parameters"' in full


def test_two_runs_are_told_that_one_is_shown_at_a_time(place: Path) -> None:
    done = callscope("report", place / "run", place / "run")
    assert b"one run is shown at a time" in done.stderr
    assert b"callscope compare" in done.stderr


def test_normalize_reads_a_body_on_stdin(place: Path) -> None:
    body = completion(None, [("lookup_order", '{"order_id":"\\ud83d"')])
    done = callscope("normalize", "--api", "openai-chat", stdin=body)
    outcome = json.loads(done.stdout)
    assert outcome["kind"] == "tool_calls"
    assert outcome["calls"][0]["malformed"]["reason"] == "truncated"
    done = callscope("normalize", "--api", "openai-chat", "--status", 429, "--header", "Retry-After: 3", stdin=b"{}")
    assert json.loads(done.stdout)["category"] == "rate_limited"


def test_lint_is_0_on_the_bundled_suite() -> None:
    assert callscope("lint", "support", "--strict").returncode == 0


@pytest.mark.parametrize("verb", ["run", "replay", "report", "inspect", "normalize", "lint"])
def test_every_verb_has_help_with_an_example(verb: str) -> None:
    done = callscope(verb, "--help")
    assert done.returncode == 0
    assert f"Example: callscope {verb}" in done.stdout.decode()


BAD = {
    "unknown verb": ["frobnicate"],
    "unknown option": ["run", "--nope"],
    "no such config": ["run", "missing.toml"],
    "config is a folder": ["run", "fixtures"],
    "no run folder": ["replay", "fixtures", "--check"],
    "no run at all": ["report", "missing"],
    "a file that is no run": ["report", "benchmark.config.json"],
    "unknown api": ["normalize", "--api", "telepathy"],
    "bad header": ["normalize", "--api", "openai-chat", "--header", "nocolon"],
    "no such suite": ["lint", "missing"],
    "limit 0": ["run", "benchmark.config.json", "--limit", "0"],
    "repeats 0": ["run", "benchmark.config.json", "--repeats", "0"],
    "no such case": ["run", "benchmark.config.json", "--case", "gretting"],
    "no such model": ["run", "benchmark.config.json", "--model", "gpt"],
    "no such tag": ["run", "benchmark.config.json", "--tag", "none"],
    "resume without folder": ["run", "benchmark.config.json", "--resume"],
    "unknown provider": ["run", "--model", "telepathy/x"],
    "no provider": ["run", "--model", "x"],
    "out is a file": ["run", "benchmark.config.json", "--out", "benchmark.config.json"],
    "out is full of others": ["run", "benchmark.config.json", "--out", "fixtures"],
    "inspect limit": ["inspect", "run", "--limit", "0"],
    "inspect category": ["inspect", "run", "--category", "wrong_tol"],
    "inspect model": ["inspect", "run", "--model", "nobody"],
    "inspect case": ["inspect", "run", "--case", "gretting"],
    "inspect suite": ["inspect", "run", "--suite", "nobody"],
    "inspect experiment": ["inspect", "run", "--experiment", "nobody"],
    "inspect two runs": ["inspect", "run", "run"],
    "report two runs": ["report", "run", "run"],
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD.keys())
def test_bad_input_is_exit_code_2_with_a_message_and_no_traceback(place: Path, arguments: list[str]) -> None:
    done = callscope(*arguments, cwd=place)
    assert done.returncode == 2, done.stderr.decode()
    assert done.stderr.strip()
    assert b"Traceback" not in done.stderr + done.stdout
    assert done.stdout == b""


def test_a_spent_budget_is_exit_code_3(place: Path, tmp_path: Path) -> None:
    config = json.loads((place / "benchmark.config.json").read_text())
    config |= {"budgets": {"calls": 3}, "fixtures": str(place / "fixtures")}
    (tmp_path / "config.json").write_text(json.dumps(config))
    done = callscope("run", tmp_path / "config.json", "--out", tmp_path / "run")
    assert done.returncode == 3
    assert b"--resume" in done.stderr
    assert callscope("replay", tmp_path / "run", "--check").returncode == 0


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """A command line in which `callscope` stands for this interpreter's."""
    line = command.replace("callscope", f"{sys.executable} -m callscope")
    return subprocess.run(["bash", "-c", line], capture_output=True, cwd=cwd, check=False)


def test_a_reader_that_goes_away_is_no_error(place: Path) -> None:
    done = shell('callscope report run | head -1; exit "${PIPESTATUS[0]}"', place)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("verb", ["report run", "report run --json", "normalize --api openai-chat < /dev/null"])
def test_a_stdout_that_takes_nothing_is_exit_code_2(place: Path, verb: str) -> None:
    done = shell(f"callscope {verb} > /dev/full", place)
    assert done.returncode == 2
    assert b"cannot write" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", ">&-"])
def test_closed_streams_never_end_a_run_nor_mix(place: Path, tmp_path: Path, closed: str) -> None:
    done = shell(f"callscope run benchmark.config.json --json --out {tmp_path}/run {closed}", place)
    assert done.returncode == 0
    assert (tmp_path / "run" / "report.html").exists()
    if closed != ">&-":
        assert json.loads(done.stdout)["schema"] == "callscope/summary/1"


@pytest.mark.parametrize("target", ["/dev/null", "."])
def test_a_target_that_is_no_file_is_refused_and_left_alone(place: Path, target: str) -> None:
    before = Path(target).stat().st_mode
    done = callscope("report", "run", "--html", target, cwd=place)
    assert done.returncode == 2
    assert b"no regular file" in done.stderr
    assert Path(target).stat().st_mode == before
