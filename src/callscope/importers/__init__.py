"""Other benchmarks in our terms: their files as suites, their recorded answers as readings, their checkers' verdicts.

One package a benchmark, pure functions over bytes (`base.Benchmark` says which). `registry` finds them; derive asks it
how a recorded answer reads and what the benchmark's own checker would say. Folders are read and written by `imports`.
"""

from callscope.importers.base import Answer, Answered, Benchmark, Imported, RecordedReader, SuiteFiles
from callscope.importers.registry import (
    RECORDED,
    benchmark,
    benchmark_names,
    in_our_words,
    recorded_reader,
    their_verdict,
)

__all__ = [
    "RECORDED",
    "Answer",
    "Answered",
    "Benchmark",
    "Imported",
    "RecordedReader",
    "SuiteFiles",
    "benchmark",
    "benchmark_names",
    "in_our_words",
    "recorded_reader",
    "their_verdict",
]
