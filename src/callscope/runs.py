"""A run as its readers see it: a folder, or a file of replayed records; what is derived from it, and its reports.

Joins capture, derive, judge and reports; each of them is used here and nowhere knows the others. What a judge ruled
applies wherever something is derived again.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from callscope.capture.folder import REPORT, SUMMARY, VERDICTS, RunFolder, write_atomically
from callscope.capture.verdicts import derive_folder, encode_derived, read_derived, write_verdicts
from callscope.contract import Derived, Manifest, Record, Suite, TrialKey, trial_count
from callscope.errors import EnvironmentProblem, RunFolderError
from callscope.judge.applied import JUDGE_FILE, JudgeFile, judge_now, rulings_for
from callscope.reports import render_html, short_rows, summarise, summary_bytes, to_rows
from callscope.suites import load_suite_bytes

__all__ = ["Check", "Run", "Summary", "open_run"]


class Summary:
    """summary.json in hand: `data` as a JSON object, its rows as a table."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __repr__(self) -> str:
        run, trials = self.data["run"], self.data["trials"]
        states = ", ".join(f"{trials[name]} {name}" for name in ("passed", "failed", "undecided"))
        of = f"{len(self.data['groups'])} groups, {trials['observed']} of {trials['planned']} trials observed"
        return f"<callscope.Summary of {run['run_id']!r}: {of}; {states}>"

    def rows(self, *, full: bool = False) -> list[dict[str, Any]]:
        """One flat row a (suite, experiment, model): counts and the main rates; with `full` everything there is."""
        return to_rows(self.data) if full else short_rows(self.data)

    def to_frame(self, *, full: bool = False) -> Any:
        """The rows as a pandas DataFrame, or a polars one where only polars is installed; `full` as for `rows`.

        Raises EnvironmentProblem where neither is.
        """
        for library in ("pandas", "polars"):
            if importlib.util.find_spec(library) is not None:
                return importlib.import_module(library).DataFrame(self.rows(full=full))
        raise EnvironmentProblem("a data frame needs pandas or polars", hint="pip install 'callscope[frame]'")

    def to_bytes(self) -> bytes:
        """The bytes of summary.json."""
        return summary_bytes(self.data)


class Check(NamedTuple):
    """What `replay --check` found: the derived files that differ from what the bytes say now, and those not there."""

    trials: int
    differing: tuple[str, ...]
    missing: tuple[str, ...]
    verdicts_sha256: str
    summary_sha256: str


class _Header(Struct, frozen=True, omit_defaults=True):
    """The first line of a file of replayed records: everything a report needs beside the records."""

    schema: Literal["callscope/derived/1"]
    manifest: Manifest
    suites: dict[str, dict[str, str]]
    judge: JudgeFile | None = None


class Run:
    """A finished or unfinished run; `manifest` and `suites` are as frozen."""

    def __init__(
        self,
        path: Path,
        manifest: Manifest,
        suites: Mapping[str, Suite],
        folder: RunFolder | None,
        judge: JudgeFile | None = None,
    ) -> None:
        self.path, self.manifest, self.suites, self._folder = path, manifest, suites, folder
        self._judge = judge
        self._stands: bool | None = None

    def __repr__(self) -> str:
        models = ", ".join(ref.entry.label for ref in self.manifest.models)
        planned = trial_count(self.manifest.plan)
        return (
            f"<callscope.Run {str(self.path)!r}: {self.manifest.status}, {planned} trials planned of"
            f" {', '.join(self.suites)} on {models}>"
        )

    @property
    def folder(self) -> RunFolder:
        """The run folder. Raises RunFolderError for a file of replayed records, which has no bytes to derive from."""
        if self._folder is None:
            raise RunFolderError(f"{self.path}: is a file of derived records; this needs the run folder it came from")
        return self._folder

    @property
    def judge(self) -> JudgeFile | None:
        """The judge that applies, with what its calls now make of the run; None for the rules alone. Raises
        RunFolderError where judge.json, or the judge's calls, cannot be read."""
        return self._judge if self._folder is None else judge_now(self._folder)

    def derived(self) -> Iterator[Derived]:
        """The derived records, in plan order; they are derived first where the folder has none, or where those it has
        are not by the judge that applies now: judge.json may have changed since, or a kill come between the two."""
        if self._folder is None:
            yield from read_derived(self.path, header_lines=1)
            return
        verdicts = self.path / VERDICTS
        yield from read_derived(verdicts) if verdicts.exists() and self._verdicts_stand() else self._derive_again()

    def _verdicts_stand(self) -> bool:
        """Whether verdicts.jsonl may be read as it is; asked once, and only where a judge has been at work."""
        if self._stands is None:
            judged = (self.path / JUDGE_FILE).exists()
            self._stands = not judged or self._digest() == _file_hash(self.path / VERDICTS)
        return self._stands

    def _digest(self) -> str:
        """SHA-256 of what verdicts.jsonl would be now."""
        digest = hashlib.sha256()
        for derived in self._derive_again():
            digest.update(encode_derived(derived))
        return digest.hexdigest()

    def _derive_again(self) -> Iterator[Derived]:
        """Every recorded trial derived from its bytes, with the rulings of the judge that applies."""
        return derive_folder(self.folder, rulings_for(self.folder))

    def record(self, key: TrialKey) -> Record | None:
        """The raw record of a trial, or None where it is not at hand."""
        return None if self._folder is None else self._folder.record(key)

    def derive(self) -> Summary:
        """Derive everything again from the stored bytes: writes verdicts.jsonl and summary.json."""
        data = summarise(_View(self, write_verdicts(self.folder, rulings_for(self.folder))))
        self._stands = True
        write_atomically(self.path / SUMMARY, summary_bytes(data))
        return Summary(data)

    def summary(self) -> Summary:
        """The summary of what has been derived."""
        return Summary(summarise(self))

    def check(self) -> Check:
        """Derive again from the stored bytes and compare with the files, byte for byte; changes nothing."""
        digest = hashlib.sha256()
        count = 0

        def walk() -> Iterator[Derived]:
            nonlocal count
            for derived in self._derive_again():
                digest.update(encode_derived(derived))
                count += 1
                yield derived

        summary = summary_bytes(summarise(_View(self, walk())))
        found = {
            VERDICTS: digest.hexdigest(),
            SUMMARY: hashlib.sha256(summary).hexdigest(),
        }
        there = {name: _file_hash(self.path / name) for name in found}
        differing = tuple(name for name, wanted in found.items() if there[name] not in {None, wanted})
        missing = tuple(name for name, digest in there.items() if digest is None)
        return Check(count, differing, missing, found[VERDICTS], found[SUMMARY])

    def write_replayed(self, file: Path) -> int:
        """Derive again and write one self-contained file that `open_run` reads; returns the number of records."""
        suites = {
            name: {part: base64.b64encode(data).decode("ascii") for part, data in suite.sources.items()}
            for name, suite in self.suites.items()
        }
        header = _Header("callscope/derived/1", self.manifest, suites, self.judge)
        lines = [msgspec.json.encode(header) + b"\n"]
        lines.extend(encode_derived(derived) for derived in self._derive_again())
        write_atomically(file, b"".join(lines))
        return len(lines) - 1

    def write_html(self, file: Path | None = None, summary: Summary | None = None) -> Path:
        """Write the self-contained report; returns where (default: report.html in the run folder)."""
        file = file or self.path / REPORT
        data = (summary or self.summary()).data
        write_atomically(file, render_html(self, data).encode("utf-8", "replace"))
        return file


class _View:
    """A run whose derived records come from one given walk."""

    def __init__(self, run: Run, walk: Iterator[Derived]) -> None:
        self.manifest, self.suites, self._run, self._walk = run.manifest, run.suites, run, walk

    @property
    def judge(self) -> JudgeFile | None:
        """The judge that applies to the run."""
        return self._run.judge

    def derived(self) -> Iterator[Derived]:
        return self._walk


def _file_hash(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def open_run(path: str | Path) -> Run:
    """Open a run folder, or a file that `replay --out` wrote. Raises RunFolderError naming what is wrong."""
    path = Path(path)
    if path.is_file():
        if path.name == "manifest.json" or path.name in {VERDICTS, SUMMARY, "records.jsonl"}:
            return open_run(path.parent)
        return _open_file(path)
    folder = RunFolder.open(path)
    return Run(path, folder.manifest, folder.suites, folder)


def _open_file(path: Path) -> Run:
    with path.open("rb") as file:
        first = file.readline()
    try:
        header = msgspec.json.decode(first, type=_Header)
    except msgspec.DecodeError as error:
        raise RunFolderError(f"{path}:1: is no file of replayed records: {error}") from None
    refs = {ref.name: ref for ref in header.manifest.suites}
    suites = {
        name: load_suite_bytes(
            {part: base64.b64decode(data) for part, data in files.items()},
            name=name,
            version=refs[name].version,
        )
        for name, files in header.suites.items()
    }
    return Run(path, header.manifest, suites, None, header.judge)
