"""A run folder: its lock, its manifest, its blobs, its frozen suites, and its records by trial.

Everything that is read back later goes through here. What the bytes mean is `derive`; what is to be run is `runner`.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from callscope.canonical import sha256_hex
from callscope.capture.codec import decode_record, record_key
from callscope.capture.log import lines_of
from callscope.contract import Block, Manifest, Record, Suite, Trial, TrialKey, trial_count, trials
from callscope.derive import observed
from callscope.errors import RunFolderError, shown
from callscope.suites import load_suite_bytes

__all__ = ["Positions", "RunFolder", "new_folder", "replacing", "write_atomically"]

MANIFEST, RECORDS, VERDICTS, SUMMARY, REPORT = (
    "manifest.json",
    "records.jsonl",
    "verdicts.jsonl",
    "summary.json",
    "report.html",
)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write in place of `path`: a reader or a crash sees the old one or the new one, whole.

    A link is followed. Raises RunFolderError where it cannot be written, or `path` is a device, a folder or a pipe.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            raise RunFolderError(f"{path}: is no regular file, and is not replaced by one")
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", dir=target.parent)
    except (OSError, RuntimeError) as error:
        raise RunFolderError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fchmod(handle, 0o644)
            os.fsync(handle)
        Path(name).replace(target)
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            Path(name).unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all. Raises RunFolderError, as `replacing` does."""
    with replacing(path) as file:
        file.write(data)


def new_folder(run_id: str) -> Path:
    """A path under `results/` that is not there yet, named by the run's id. Makes nothing."""
    path, number = Path("results") / run_id, 1
    while path.exists():
        number += 1
        path = Path("results") / f"{run_id}-{number}"
    return path


_BLOB_NAME = re.compile(r"[0-9a-f]{64}")
_MOST_TRIALS = 50_000_000


def _inconsistent(manifest: Manifest) -> str | None:
    """What in a manifest contradicts itself, in words; None for one that callscope wrote."""
    labels, suites = {ref.entry.label for ref in manifest.models}, {ref.name for ref in manifest.suites}
    for block in manifest.plan:
        if block.model not in labels:
            return f"the plan names a model that is not there: {shown(block.model)}"
        if block.suite not in suites:
            return f"the plan names a suite that is not there: {shown(block.suite)}"
        if not 1 <= block.repeats <= _MOST_TRIALS:
            return f"a block of the plan has {block.repeats} repeats"
    count = trial_count(manifest.plan)
    return f"the plan holds {count} trials" if count > _MOST_TRIALS else None


class Positions:
    """From a trial's key to its place in the plan and back, by arithmetic: no table as long as the plan."""

    def __init__(self, plan: tuple[Block, ...]) -> None:
        self._blocks: dict[tuple[str, str, str], tuple[int, Block, dict[str, int]]] = {}
        start = 0
        for block in plan:
            places = {case_id: place for place, case_id in enumerate(block.cases)}
            self._blocks[block.suite, block.experiment, block.model] = (start, block, places)
            start += len(block.cases) * block.repeats
        self.count = start

    def of(self, key: TrialKey) -> int | None:
        """The trial's place, or None where the plan does not hold it."""
        found = self._blocks.get((key.suite, key.experiment, key.model))
        if found is None or not 0 <= key.repeat < found[1].repeats:
            return None
        place = found[2].get(key.case_id)
        return None if place is None else found[0] + key.repeat * len(found[1].cases) + place


class RunFolder:
    """An existing run folder. `lock` must be held to add records; reading needs none."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self.manifest = path, manifest
        self._blobs: dict[str, bytes] = {}
        self._suites: dict[str, Suite] | None = None

    # ------------------------------------------------------------------------------------------ making and opening

    @classmethod
    def create(cls, path: Path, manifest: Manifest, suite_files: Mapping[str, Mapping[str, bytes]]) -> RunFolder:
        """Make the folder, freeze the suites' exact bytes in it, and write its manifest.

        `suite_files` maps suite name -> file name -> bytes. Raises RunFolderError where that cannot be done.
        """
        folder = cls(path, manifest)
        try:
            (path / "blobs").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be made: {error.strerror}") from None
        with folder.lock():
            if (path / MANIFEST).exists():
                raise RunFolderError(f"{path}: another process has just made a run here. Use another --out")
            for files in suite_files.values():
                for data in files.values():
                    folder.keep(data)
            folder.write_manifest(manifest)
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open a run folder. Raises RunFolderError where there is none, or its manifest cannot be read."""
        file = path / MANIFEST
        try:
            data = file.read_bytes()
        except OSError as error:
            what = "is no run folder (no manifest.json)" if not file.exists() else f"cannot be read: {error.strerror}"
            raise RunFolderError(f"{path}: {what}") from None
        try:
            manifest = msgspec.json.decode(data, type=Manifest)
        except (msgspec.DecodeError, RecursionError) as error:
            raise RunFolderError(f"{file}: is no manifest this version reads: {error}") from None
        fault = _inconsistent(manifest)
        if fault:
            raise RunFolderError(f"{file}: does not hold together: {fault}")
        return cls(path, manifest)

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace manifest.json (whole or not at all) and hold the new one."""
        encoded = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
        write_atomically(self.path / MANIFEST, encoded + b"\n")
        self.manifest = manifest

    # ------------------------------------------------------------------------------------------------------- blobs

    def keep(self, data: bytes) -> str:
        """Store bytes under the SHA-256 of what they are; returns it."""
        name = sha256_hex(data)
        if name not in self._blobs:
            path = self.path / "blobs" / name
            if not path.exists():
                write_atomically(path, data)
            self._blobs[name] = data
        return name

    def blob(self, name: str) -> bytes:
        """The bytes of a blob. Raises RunFolderError where they are missing or have changed."""
        if not _BLOB_NAME.fullmatch(name):
            raise RunFolderError(f"{self.path}: a record refers to a blob by something that is no SHA-256")
        if name not in self._blobs:
            path = self.path / "blobs" / name
            try:
                data = path.read_bytes()
            except OSError as error:
                raise RunFolderError(f"{path}: a blob that records refer to cannot be read: {error.strerror}") from None
            if sha256_hex(data) != name:
                raise RunFolderError(f"{path}: the bytes of this blob have changed; records that use it cannot be read")
            self._blobs[name] = data
        return self._blobs[name]

    @property
    def suites(self) -> Mapping[str, Suite]:
        """The frozen suites, by name, read from the stored bytes."""
        if self._suites is None:
            self._suites = {
                ref.name: load_suite_bytes(
                    {file: self.blob(digest) for file, digest in ref.files.items()},
                    name=ref.name,
                    version=ref.version,
                )
                for ref in self.manifest.suites
            }
        return self._suites

    # ----------------------------------------------------------------------------------------------------- records

    def lock(self) -> FolderLock:
        """The exclusive right to add records (`flock`: it ends with its process, however that ends)."""
        return FolderLock(self.path)

    def offsets(self) -> array[int]:
        """For each planned trial, the offset of its record that counts, or -1: the last observed one, else the last.

        Raises RunFolderError on a line that is no record, naming it.
        """
        positions = Positions(self.manifest.plan)
        offsets = array("q", [-1]) * positions.count
        for line in lines_of(self.path / RECORDS):
            try:
                key = record_key(line.data)
            except msgspec.DecodeError as error:
                raise RunFolderError(f"{self.path / RECORDS}:{line.number}: is no record: {error}") from None
            place = positions.of(key)
            if place is not None and (offsets[place] < 0 or not self._lost_beside(offsets[place], line.data)):
                offsets[place] = line.offset
        return offsets

    def _lost_beside(self, offset: int, later: bytes) -> bool:
        """Whether a later record of a trial observed nothing while an earlier one, at `offset`, did."""
        if observed(self._decode(later)):
            return False
        with (self.path / RECORDS).open("rb") as file:
            file.seek(offset)
            return observed(self._decode(file.readline()))

    def records(self) -> Iterator[tuple[Trial, Record]]:
        """The record that counts of each recorded trial, in plan order."""
        offsets = self.offsets()
        path = self.path / RECORDS
        if not path.exists():
            return
        with path.open("rb") as file:
            for trial in trials(self.manifest.plan):
                offset = offsets[trial.position]
                if offset >= 0:
                    file.seek(offset)
                    yield trial, self._decode(file.readline())

    def record(self, key: TrialKey) -> Record | None:
        """The record that counts of one trial, or None."""
        place = Positions(self.manifest.plan).of(key)
        offset = -1 if place is None else self.offsets()[place]
        if offset < 0:
            return None
        with (self.path / RECORDS).open("rb") as file:
            file.seek(offset)
            return self._decode(file.readline())

    def _decode(self, line: bytes) -> Record:
        try:
            return decode_record(line, self.blob)
        except (msgspec.DecodeError, ValueError) as error:
            raise RunFolderError(f"{self.path / RECORDS}: a record cannot be read: {error}") from None

    def planned(self) -> int:
        """How many trials the plan holds."""
        return trial_count(self.manifest.plan)


class FolderLock:
    """An exclusive `flock` on `<run>/.lock`."""

    def __init__(self, path: Path) -> None:
        self._path = path / ".lock"
        self._fd = -1

    def __enter__(self) -> Self:
        try:
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._fd)
            raise RunFolderError(f"{self._path.parent}: another process is writing to this run folder") from None
        except OSError as error:
            raise RunFolderError(f"{self._path.parent}: cannot be locked: {error.strerror}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)
