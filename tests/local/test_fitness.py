"""What a machine lacks is named with what to do about it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from callscope.local import check_machine, fitness
from callscope.local.weights import weights_cache

from .helpers import spec_for

SPEC = spec_for(b"GGUF")


@pytest.fixture(autouse=True)
def _good_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    monkeypatch.setattr(fitness, "free_memory", lambda: 10_000_000_000)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(fitness, "SAMPLE_S", 0.0)


def test_a_good_machine_has_no_problems() -> None:
    assert check_machine([SPEC]) == []


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    (problem,) = check_machine([SPEC])
    assert problem.kind == "library"
    assert "callscope[local]" in str(problem)


def test_memory_counts_the_largest_or_all_together() -> None:
    big = replace(SPEC, memory=6_000_000_000)
    assert check_machine([big, big]) == []
    (problem,) = check_machine([big, big], together=True)
    assert problem.kind == "memory"
    assert "12.0 GB of memory are needed and 10.0 GB are free" in str(problem)


def test_unknown_memory_is_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitness, "free_memory", lambda: None)
    assert check_machine([replace(SPEC, memory=10**15)]) == []


def test_disk_is_counted_only_for_files_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000_000_000))
    big = replace(SPEC, size=800_000_000)
    (problem,) = check_machine([big])
    assert problem.kind == "disk"
    assert "1.8 GB" in str(problem)
    weights_cache().mkdir(parents=True)
    (weights_cache() / big.file).write_bytes(b"")
    assert check_machine([big]) == []


def test_a_loaded_machine_is_only_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (99.0, 0.0, 0.0))
    monkeypatch.setattr(fitness, "idle_cores", lambda: 0)
    (problem,) = check_machine([SPEC])
    assert (problem.kind, problem.fatal) == ("cores", False)


@pytest.mark.parametrize(("idle", "threads"), [(0, 1), (55, 2), (100, 4), (40, 1)])
def test_threads_are_the_idle_cores_and_at_least_one(monkeypatch: pytest.MonkeyPatch, idle: int, threads: int) -> None:
    ticks = iter([(0, 0), (idle, 100)])
    monkeypatch.setattr(fitness, "_cpu_times", lambda: next(ticks))
    monkeypatch.setattr(fitness, "_cores", lambda: 4)
    assert fitness.idle_cores(0) == threads


def test_where_the_system_does_not_tell_all_cores_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitness, "_cpu_times", lambda: None)
    monkeypatch.setattr(fitness, "_cores", lambda: 4)
    assert fitness.idle_cores() == 4


def test_free_memory_is_cut_by_the_control_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    numbers = {"/sys/fs/cgroup/memory.max": 300, "/sys/fs/cgroup/memory.current": 100}
    monkeypatch.setattr(fitness, "_first_number", numbers.get)
    assert fitness.free_memory() == 200


def test_a_file_without_a_number_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "max").write_text("max\n")
    assert fitness._first_number(str(tmp_path / "max")) is None
    assert fitness._first_number(str(tmp_path / "gone")) is None
