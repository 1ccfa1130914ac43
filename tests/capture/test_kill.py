"""Killing a run at any instant loses at most the calls in flight: nothing acknowledged, nothing doubled."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from callscope.runs import open_run
from tests.capture.helpers import logged_keys, small_suite, stand_in_model, write_suite

ROOT = Path(__file__).resolve().parents[2]
KILLS = 20


@pytest.fixture
def stand_in_url(tmp_path: Path) -> Iterator[str]:
    port_file = tmp_path / "url"
    process = subprocess.Popen([sys.executable, str(ROOT / "tests" / "stand_in.py"), str(port_file)])
    try:
        deadline = time.monotonic() + 30
        while not port_file.exists():
            assert process.poll() is None, "the stand-in provider did not start"
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield port_file.read_text()
    finally:
        process.kill()
        process.wait()


def hear_control_c() -> None:
    """A shell that starts the tests in the background has its children ignore Ctrl-C; this one must hear it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(config: Path, run: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "callscope", "run", str(config), "--out", str(run)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=hear_control_c)


def whole_lines(run: Path) -> list[bytes]:
    log = run / "records.jsonl"
    data = log.read_bytes() if log.exists() else b""
    return data[: data.rfind(b"\n") + 1].splitlines()


def kill_after(process: subprocess.Popen[bytes], run: Path, lines: int, patience: float) -> None:
    """Kill -9 once the log has grown by `lines`, or after `patience` seconds (also during the start)."""
    log, started = run / "records.jsonl", time.monotonic()
    before = log.stat().st_size if log.exists() else 0
    while process.poll() is None and time.monotonic() - started < patience:
        if log.exists() and log.stat().st_size - before > lines * 1_200:
            break
        time.sleep(0.002)
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stderr is not None
    process.stderr.close()


def check_kills(tmp_path: Path, url: str, kills: int, repeats: int, seed: int) -> None:
    write_suite(tmp_path / "suite", small_suite(40).sources)
    config = tmp_path / "config.json"
    settings = {"fixtures": "suite", "repeats": repeats, "concurrency": 16, "models": [stand_in_model(url)]}
    config.write_text(json.dumps(settings))
    run, random_ = tmp_path / "run", random.Random(seed)
    acknowledged: list[bytes] = []
    for _ in range(kills):
        process = start(config, run)
        kill_after(process, run, random_.randrange(0, 60), random_.uniform(0.2, 5.0))
        now = whole_lines(run)
        assert now[: len(acknowledged)] == acknowledged, "a written record was lost or changed"
        acknowledged = now
    last = start(config, run)
    _, errors = last.communicate(timeout=300)
    assert last.returncode == 0, errors.decode()
    keys = logged_keys(run)
    assert set(keys.values()) == {1}, "a record was doubled"
    assert len(keys) == 41 * repeats, "the run did not complete exactly"
    finished = open_run(run)
    assert finished.check().differing == ()
    assert sum(1 for _ in finished.derived()) == 41 * repeats


def test_twenty_kills_lose_nothing_and_double_nothing(tmp_path: Path, stand_in_url: str) -> None:
    check_kills(tmp_path, stand_in_url, KILLS, repeats=30, seed=20260725)


@pytest.mark.soak
def test_two_hundred_kills_lose_nothing_and_double_nothing(tmp_path: Path, stand_in_url: str) -> None:
    check_kills(tmp_path, stand_in_url, 200, repeats=200, seed=7)


def test_control_c_leaves_a_valid_run_and_says_how_to_go_on(tmp_path: Path, stand_in_url: str) -> None:
    write_suite(tmp_path / "suite", small_suite(40).sources)
    config, run = tmp_path / "config.json", tmp_path / "run"
    settings = {"fixtures": "suite", "repeats": 400, "concurrency": 4, "models": [stand_in_model(stand_in_url)]}
    config.write_text(json.dumps(settings))
    process = start(config, run)
    deadline = time.monotonic() + 60
    while len(whole_lines(run)) < 20:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"callscope run --resume --out {run}" in errors.decode()
    assert b"Traceback" not in errors
    opened = open_run(run)
    assert opened.manifest.status == "interrupted"
    assert sum(1 for _ in opened.derived()) == len(whole_lines(run))
