"""Importing a benchmark: its folder read, its suites written, or its recorded answers made a run that was never run.

The impure shell of `importers`. A recorded answer becomes an ordinary record (its exact bytes, no request, no times),
so that everything that reads a run reads it: replay, reports, comparison, the judge.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from callscope.canonical import sha256_hex
from callscope.capture.codec import encode_record
from callscope.capture.environment import read_environment
from callscope.capture.folder import RECORDS, RunFolder, new_folder, write_atomically
from callscope.capture.log import RecordLog
from callscope.contract import (
    Block,
    Budgets,
    Exchange,
    Manifest,
    ModelEntry,
    ModelRef,
    Record,
    Round,
    Settings,
    Suite,
    SuiteRef,
    Timing,
    TrialKey,
)
from callscope.errors import InputError, RunFolderError, shown
from callscope.importers import RECORDED, Answer, Answered, Benchmark, Imported, benchmark, benchmark_names
from callscope.importers.registry import expected_files
from callscope.reports.checked import difference
from callscope.runs import Run, Summary, open_run
from callscope.suites import load_suite_bytes

__all__ = ["ImportedRun", "Score", "import_results", "import_suites", "scores", "write_suites"]

EXPERIMENT = "recorded"
"""The experiment of trials that were not run: what was asked, and how, is not known."""

_LARGEST = 512 * 1024 * 1024
_LONGEST = 4096
_WHERE = ("callscope import bfcl DIR", "callscope import apibench DIR", "callscope import nexusraven DIR")


Tell = Callable[[str], None]
"""Takes a line about each stage of the work."""


class ImportedRun(NamedTuple):
    """A run made of recorded answers, its summary, and what was noted on the way, a line each."""

    run: Run
    notes: tuple[str, ...]
    summary: Summary


class Score(NamedTuple):
    """What came of one model's answers to one suite, in trials: planned, recorded (with a row), decided and passed by
    us and by the benchmark's own checker, and those that both decided, otherwise."""

    suite: str
    model: str
    planned: int
    recorded: int = 0
    decided: int = 0
    passed: int = 0
    their_decided: int = 0
    their_passed: int = 0
    differ: int = 0


def scores(run: Run) -> tuple[Score, ...]:
    """The scores of a run of recorded answers, in the order of its plan, from its verdicts."""
    found = {
        (block.suite, block.model): Score(block.suite, block.model, len(block.cases) * block.repeats)
        for block in run.manifest.plan
    }
    for derived in run.derived():
        key = (derived.verdict.suite, derived.verdict.model)
        score, ours, theirs = found[key], derived.verdict.passed, derived.compatible_passed
        found[key] = score._replace(
            recorded=score.recorded + 1,
            decided=score.decided + (ours is not None),
            passed=score.passed + (ours is True),
            their_decided=score.their_decided + isinstance(theirs, bool),
            their_passed=score.their_passed + (theirs is True),
            differ=score.differ + (difference(derived) is not None),
        )
    return tuple(found.values())


def _untold(stage: str) -> None:
    del stage


def import_suites(name: str, where: Path, *, tell: Tell = _untold) -> Imported:
    """A benchmark's folder (or one of its files, with those of its name in the folders beside it, as BFCL's gold is)
    as suites. Raises InputError."""
    theirs = _benchmark(name)
    tell(f"Reading the files of {name} in {shown(str(where))} …")
    imported = theirs.read(_files(where, theirs.wanted, name, expected_files(name).files))
    if not imported.suites:
        raise InputError(
            f"holds no file of {name} that can be imported", file=where, hint="; ".join(imported.notes[:3])
        )
    return imported


def write_suites(imported: Imported, out: Path) -> tuple[Path, ...]:
    """Write each suite into a folder of its name under `out`; returns the folders.

    Raises InputError where a folder is there already and holds something else (nothing is overwritten), and where `out`
    is a suite's folder or in one.
    """
    for above in (out, *out.parents):
        if (above / "cases.jsonl").exists():
            hint = "Name the folder that the suites are to stand in, a folder each: --out suites"
            raise InputError("is the folder of a suite", file=above, field="--out", hint=hint)
    for suite in imported.suites:
        for file, data in suite.files.items():
            there = out / suite.name / file
            if there.exists() and (not there.is_file() or there.read_bytes() != data):
                raise InputError("is there already, and differs", file=there, hint="Name another folder with --out")
    folders = []
    for suite in imported.suites:
        folder = out / suite.name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", file=folder) from None
        for file, data in suite.files.items():
            write_atomically(folder / file, data)
        folders.append(folder)
    return tuple(folders)


def import_results(name: str, where: Path, results: Path, out: Path | None, *, tell: Tell = _untold) -> ImportedRun:
    """A run folder made of recorded answers to a benchmark's cases: records, verdicts, summary and report.

    Cases that a model's file of a suite does not answer stay planned and unobserved. An import that is killed before
    all answers are in the folder leaves it with the status `running`. Raises InputError, RunFolderError.
    """
    theirs = _benchmark(name)
    _unused(out)
    imported = import_suites(name, where, tell=tell)
    suites = {suite.name: load_suite_bytes(suite.files, name=suite.name) for suite in imported.suites}
    cases = {suite.name: {case.id: case for case in suite.cases} for suite in suites.values()}
    tell(
        f"{sum(map(len, cases.values()))} cases in {len(cases)} suites; reading the answers in {shown(str(results))} …"
    )
    expected = expected_files(name).results
    groups: frozenset[str] = getattr(theirs, "GROUPS", frozenset())
    named = _files(results, theirs.wanted_results, f"{name} results", expected, groups=groups)
    all_answered = theirs.read_results(named, cases)
    told = tuple(f"{shown(model.model)}: {note}" for model in all_answered for note in model.notes)
    answered = [model for model in all_answered if model.answers]
    if not answered:
        hint = "; ".join(told[:3]) or None
        raise InputError("holds no recorded answer to an imported case", file=results, expected=expected, hint=hint)
    manifest = _manifest(name, answered, suites)
    out = out or new_folder(manifest.run_id)
    tell(f"Writing {sum(len(model.answers) for model in answered)} answers of {len(answered)} models to {out} …")
    used = {ref.name: suites[ref.name] for ref in manifest.suites}
    folder = RunFolder.create(out, manifest, {suite.name: suite.sources for suite in used.values()})
    with folder.lock():
        log = RecordLog(out / RECORDS)
        try:
            for record in _records(name, answered, manifest.created_at):
                log.append(encode_record(record, folder.keep))
        finally:
            log.close()
        folder.write_manifest(structs.replace(manifest, status="finished", finished_at=_now()))
    tell("Deriving the verdicts, ours and theirs …")
    run = open_run(out)
    summary = run.derive()
    run.write_html(summary=summary)
    return ImportedRun(run, (*imported.notes, *told), summary)


def _unused(out: Path | None) -> None:
    """Raise RunFolderError where something is at `out` already. An empty folder is nothing."""
    try:
        if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise RunFolderError(f"{out}: is there already. Use another --out for a new run")
    except OSError as error:
        raise RunFolderError(f"{out}: cannot be looked into: {error.strerror}") from None


def _benchmark(name: str) -> Benchmark:
    found = benchmark(name)
    if found is None:
        expected, hint = " | ".join(benchmark_names()), "; ".join(_WHERE)
        raise InputError("is no benchmark", field="BENCHMARK", found=name, expected=expected, hint=hint)
    return found


def _files(
    where: Path, wanted: Callable[[str], bool], what: str, expected: str, *, groups: frozenset[str] | None = None
) -> dict[str, bytes]:
    """The wanted files of a folder and those below it, by their path in it; of a file, that one, and those of its name
    in the folders beside it. Links are followed only inside the folder.

    With `groups` (names of folders that are no model's) each path begins with the folder's own name, which may be a
    model's, and where that is a group's with those above it. What of a path cannot be printed is escaped in it.
    """
    if not where.exists():
        raise InputError("is not there", file=where, expected=f"a folder with {what}: {expected}")
    base = where if where.is_dir() else where.parent
    before = "" if groups is None else _own_name(base.resolve(), groups)
    found: dict[str, bytes] = {}
    for path in _below(where, alone=groups is not None):
        name = before + shown(path.relative_to(base).as_posix(), _LONGEST)
        if path.is_dir() and path.is_symlink() and not path.resolve().is_relative_to(base.resolve()):
            raise InputError("is a link to outside the folder", file=path, hint="Copy what it leads to, or remove it")
        if path.is_dir() or not wanted(name):
            continue
        if name in found:
            raise InputError("two files have this name once it is printable", file=name, hint="Rename one of them")
        found[name] = _bytes_of(path, base)
    if not found:
        raise InputError(f"holds no file of {what}", file=where, expected=expected)
    return found


def _below(where: Path, *, alone: bool) -> list[Path]:
    """Everything below a folder, links to folders among it and not followed. Raises InputError for what cannot be
    looked into."""
    if where.is_file():
        return [where] if alone else [where, *sorted(where.parent.glob(f"*/{glob.escape(where.name)}"))]

    def refused(error: OSError) -> None:
        raise InputError(f"cannot be looked into: {error.strerror}", file=error.filename)

    walked = os.walk(where, onerror=refused)
    return sorted(Path(folder, name) for folder, folders, files in walked for name in (*folders, *files))


def _own_name(base: Path, groups: frozenset[str]) -> str:
    name = f"{base.name}/"
    while base.name in groups:
        base = base.parent
        name = f"{base.name}/{name}"
    return shown(name, _LONGEST)


def _bytes_of(path: Path, base: Path) -> bytes:
    try:
        if not path.is_file():
            what = "is a link that leads nowhere" if path.is_symlink() else "is no regular file"
            raise InputError(what, file=path, hint="Remove it, or put the file there")
        if not path.resolve().is_relative_to(base.resolve()):
            raise InputError("is a link to outside the folder", file=path, hint="Copy the file into the folder")
        if (size := path.stat().st_size) > _LARGEST:
            raise InputError("is too large to be read", file=path, found=size, expected=f"at most {_LARGEST} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None


def _manifest(name: str, answered: Sequence[Answered], suites: Mapping[str, Suite]) -> Manifest:
    moment, environment = _now(), read_environment()
    blocks = tuple(
        Block(
            suite.name, EXPERIMENT, model.model, tuple(case.id for case in suite.cases), 1, Settings(temperature=None)
        )
        for model in answered
        for suite in suites.values()
        if any(answer.suite == suite.name for answer in model.answers)
    )
    used = {block.suite for block in blocks}
    return Manifest(
        schema="callscope/manifest/1",
        run_id=moment.replace(":", "-"),
        created_at=moment,
        callscope=environment.version,
        runner_commit=environment.commit,
        runtime=environment.runtime,
        libraries=environment.libraries,
        environment=environment.overrides,
        dataset_version="; ".join(f"{suite.name} {suite.version}" for suite in suites.values() if suite.name in used),
        concurrency=1,
        attempts=1,
        budgets=Budgets(),
        suites=tuple(
            SuiteRef(suite.name, suite.version, suite.kind, suite.files, len(suite.cases))
            for suite in suites.values()
            if suite.name in used
        ),
        models=tuple(ModelRef(ModelEntry(model.model, "recorded", model.model, RECORDED + name)) for model in answered),
        plan=blocks,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _records(name: str, answered: Sequence[Answered], moment: str) -> Iterator[Record]:
    for model in answered:
        for answer in model.answers:
            key = TrialKey(answer.suite, EXPERIMENT, model.model, answer.case_id, 0)
            rounds = tuple(Round((_exchange(answer, part, moment),)) for part in answer.parts)
            note = f"recorded answer, {sha256_hex(answer.parts[0])[:12]}, from {answer.source}"
            yield Record(key, RECORDED + name, False, moment, rounds, notes=(note,))


def _exchange(answer: Answer, part: bytes, moment: str) -> Exchange:
    return Exchange(
        attempt=0,
        method="RECORDED",
        url=answer.source,
        request_headers=(),
        request=b"",
        started_at=moment,
        status=200,
        response_headers=answer.headers,
        response=part,
        timing=Timing(),
    )
