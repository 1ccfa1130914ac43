"""The benchmarks there are, and how a case or a record finds its own. A package of another project joins through the
entry-point group `callscope.importers`; a module is loaded when its benchmark is first met."""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple, cast

from callscope.contract import Case, Outcome, Record
from callscope.importers.base import Benchmark, RecordedReader

__all__ = [
    "RECORDED",
    "Expected",
    "benchmark",
    "benchmark_names",
    "expected_files",
    "in_our_words",
    "recorded_reader",
    "their_verdict",
]

RECORDED = "recorded/"
_OURS = {name: f"callscope.importers.{name}" for name in ("bfcl", "apibench", "nexusraven")}


class Expected(NamedTuple):
    """The file names and the shape of a benchmark's own files and of its recorded answers, for a person to read."""

    files: str
    results: str


def benchmark_names() -> tuple[str, ...]:
    """The names of all benchmarks, ours first."""
    return (*_OURS, *sorted(point.name for point in entry_points(group="callscope.importers")))


@cache
def benchmark(name: str) -> Benchmark | None:
    """The benchmark of that name, or None."""
    if name in _OURS:
        return cast("Benchmark", importlib.import_module(_OURS[name]))
    for point in entry_points(group="callscope.importers", name=name):
        return cast("Benchmark", point.load())
    return None


def expected_files(name: str) -> Expected:
    """What a benchmark says of its files; a general description where it says nothing."""
    found = benchmark(name)
    files = getattr(found, "EXPECTS", "its files as published")
    return Expected(files, getattr(found, "EXPECTS_RESULTS", "its own format"))


def _benchmark_of(case: Case) -> Benchmark | None:
    about = case.metadata.get("benchmark")
    name = about.get("name") if isinstance(about, dict) else None
    return benchmark(name) if isinstance(name, str) else None


def recorded_reader(api: str) -> RecordedReader | None:
    """The reader of `recorded/<benchmark>` answers; None for every other wire format."""
    found = benchmark(api.removeprefix(RECORDED)) if api.startswith(RECORDED) else None
    return None if found is None else found.READER


def in_our_words(outcome: Outcome, case: Case) -> Outcome:
    """The outcome with its calls under the names and in the value types of the case's tools; itself for a case that
    comes from no benchmark."""
    found = _benchmark_of(case)
    return outcome if found is None else found.in_our_words(outcome, case)


def their_verdict(record: Record, case: Case) -> dict[str, Any]:
    """The fields of `Derived` that hold what the benchmark's checker says; none where the case is of no benchmark."""
    found = _benchmark_of(case)
    if found is None:
        return {}
    passed, evidence = found.verdict(record, case)
    return {"compatible_passed": passed, "compatible": {"checker": found.NAME, **evidence}}
