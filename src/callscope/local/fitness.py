"""Asks whether this machine can run embedded models, and how long their calls take on it.

It names what is missing and what to do; it installs, downloads and starts nothing.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from callscope.local.models import ModelSpec
from callscope.local.weights import weights_cache

__all__ = ["Problem", "check_machine", "free_memory", "idle_cores", "warm_up"]

SAMPLE_S = 0.3
MOST_THREADS = 8
DOWNLOAD_SPACE = 2.2  # the wheels and the joined file side by side, and a little


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing this machine lacks. `kind` is library, memory, disk or cores; not `fatal` means slow, no more."""

    kind: str
    message: str
    hint: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}"


class _Server(Protocol):
    async def ask(self, path: str, body: bytes) -> _Answer: ...


class _Answer(Protocol):
    @property
    def seconds(self) -> float: ...


def _first_number(path: str) -> int | None:
    try:
        return int(Path(path).read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return None  # not there, or the word "max"


def free_memory() -> int | None:
    """Bytes a new process may take: what the system has free, cut by the control group's limit; None if unknown."""
    found: list[int] = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found.extend(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except OSError:
        pass  # not Linux
    limit, used = _first_number("/sys/fs/cgroup/memory.max"), _first_number("/sys/fs/cgroup/memory.current")
    if limit is not None and used is not None:
        found.append(max(0, limit - used))
    return min(found) if found else None


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_times() -> tuple[int, int] | None:
    """Idle and total ticks of all cores since boot, or None where the system does not tell."""
    try:
        fields = [int(word) for word in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        return None
    return fields[3] + fields[4], sum(fields)


def idle_cores(sample_s: float = SAMPLE_S) -> int:
    """How many cores stood idle over `sample_s` seconds: at least 1, at most 8. Blocking.

    More threads than idle cores make a call many times slower (measured 2026-11-30: 30 to 120 s instead of 5).
    """
    cores = min(_cores(), MOST_THREADS)
    before = _cpu_times()
    if before is None:
        return cores
    time.sleep(sample_s)
    after = _cpu_times()
    assert after is not None
    total = after[1] - before[1]
    idle = (after[0] - before[0]) / total if total > 0 else 1.0
    return max(1, min(cores, int(idle * _cores() + 0.35)))


def _missing_bytes(spec: ModelSpec, cache: Path) -> int:
    own = os.environ.get("CALLSCOPE_WEIGHTS_DIR")
    places = [cache / spec.file, *([Path(own).expanduser() / spec.file] if own else [])]
    return 0 if any(place.is_file() for place in places) else spec.size


def check_machine(specs: Iterable[ModelSpec], *, together: bool = False) -> list[Problem]:
    """What keeps these models from running here, empty if nothing does. Takes a third of a second.

    `together` True counts the memory of all of them, False that of the largest, as when they run one after another.
    """
    specs = list(specs)
    problems: list[Problem] = []
    if importlib.util.find_spec("xllamacpp") is None:
        problems.append(Problem("library", "embedded models need the package xllamacpp", "Install callscope[local]"))
    needs = [spec.memory for spec in specs]
    need = (sum(needs) if together else max(needs, default=0)) if needs else 0
    free = free_memory()
    if free is not None and free < need:
        problems.append(
            Problem(
                "memory",
                f"{need / 1e9:.1f} GB of memory are needed and {free / 1e9:.1f} GB are free",
                "Close other programs, or choose a smaller model",
            )
        )
    cache = weights_cache()
    missing = [_missing_bytes(spec, cache) for spec in specs]
    room = sum(missing) + (DOWNLOAD_SPACE - 1) * max(missing, default=0)
    there = next(folder for folder in [cache, *cache.parents] if folder.exists())
    left = shutil.disk_usage(there).free
    if left < room:
        problems.append(
            Problem(
                "disk",
                f"the downloads need {room / 1e9:.1f} GB below {cache} and {left / 1e9:.1f} GB are free",
                "Free some, or name another folder in CALLSCOPE_CACHE",
            )
        )
    before = _cpu_times()
    if before is not None and idle_cores() < _cores() and os.getloadavg()[0] > 2 * _cores():
        problems.append(
            Problem(
                "cores",
                f"{_cores()} cores carry a load of {os.getloadavg()[0]:.1f}",
                "Calls will take many times longer than on a quiet machine; wait, or allow longer time-outs",
                fatal=False,
            )
        )
    return problems


async def warm_up(server: _Server, bodies: Sequence[bytes], *, path: str = "/v1/chat/completions") -> list[float]:
    """Seconds of one call for each request body, measured now on this machine: what a plan is sized by.

    The first call also prepares the shared prefix; that time is not counted.
    """
    return [(await server.ask(path, body)).seconds for body in bodies]
