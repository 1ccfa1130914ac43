"""What a benchmark supplies to be imported: its files as suites, its recorded answers, how they read, its verdict.

Types only. A case that comes from a benchmark says so: `metadata["benchmark"]` holds its name under `name`, beside
whatever the benchmark's checker needs of the case as published. A recorded answer has the wire format
`recorded/<name>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from callscope.contract import Case, Outcome, Reading, Record

__all__ = ["Answer", "Answered", "Benchmark", "Imported", "RecordedReader", "SuiteFiles"]


class SuiteFiles(NamedTuple):
    """A suite as it would stand in a folder: its name, and file name -> exact bytes."""

    name: str
    files: Mapping[str, bytes]


class Imported(NamedTuple):
    """What a benchmark's files became. `notes` say what was left out or found at fault, a line each."""

    suites: tuple[SuiteFiles, ...]
    notes: tuple[str, ...] = ()


class Answer(NamedTuple):
    """A recorded answer: the suite and case it is to, its bytes (one part a turn), where it stood, and what the file
    around it said, as headers for the reader."""

    suite: str
    case_id: str
    parts: tuple[bytes, ...]
    source: str
    headers: tuple[tuple[str, str], ...] = ()


class Answered(NamedTuple):
    """The recorded answers of one model."""

    model: str
    answers: tuple[Answer, ...]
    notes: tuple[str, ...] = ()


class RecordedReader(Protocol):
    """Reads one recorded answer, as an adapter reads a response."""

    def parse(self, status: int, headers: tuple[tuple[str, str], ...], body: bytes, *, stream: bool) -> Reading:
        """The reading of a recorded answer. Never raises, on any bytes."""


class Benchmark(Protocol):
    """A benchmark, as a module or an object. Everything here is pure: bytes in, values out."""

    NAME: str
    TITLE: str
    READER: RecordedReader
    # May be there too: GROUPS: frozenset[str], names of folders in a folder of results that are no model's; EXPECTS and
    # EXPECTS_RESULTS: str, the file names and the shape of its own files and of recorded answers (`expected_files`).

    def wanted(self, path: str) -> bool:
        """Whether a file of the benchmark's folder (its path in it, with `/`) is read by `read`."""

    def read(self, files: Mapping[str, bytes]) -> Imported:
        """The benchmark's files (path in its folder -> bytes) as suites. Raises InputError naming file and line."""

    def wanted_results(self, path: str) -> bool:
        """Whether a file of a folder of results is read by `read_results`."""

    def read_results(self, files: Mapping[str, bytes], cases: Mapping[str, Mapping[str, Case]]) -> tuple[Answered, ...]:
        """Recorded answers by model; `cases` are the imported ones, suite -> id -> case.

        What of a file cannot be used is left out with a note. Raises InputError for a file that is of no use at all.
        """

    def in_our_words(self, outcome: Outcome, case: Case) -> Outcome:
        """The outcome with its calls under the names and in the value types of the case's tools."""

    def verdict(self, record: Record, case: Case) -> tuple[bool | None, dict[str, Any]]:
        """What the checker that the benchmark ships says of a record, and its evidence; None where it says nothing, or
        crashes on the case. Never raises."""
