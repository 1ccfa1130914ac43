"""records.jsonl: append-only, never rewritten, safe against being killed at any instant.

A line is written whole by one write before anything counts on it; the disk is asked to keep it every 100 lines or every
second, and at the end. A torn last line is set aside and cut off on opening. What a line means is `codec`'s matter.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, NamedTuple

from callscope.errors import RunFolderError

__all__ = ["Line", "RecordLog", "lines_of", "repair_tail"]

SYNC_EVERY_LINES = 100
SYNC_EVERY_SECONDS = 1.0
_to_disk = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class Line(NamedTuple):
    """A line of a log: where it starts, its number from 1, its bytes without the newline."""

    offset: int
    number: int
    data: bytes


class RecordLog:
    """The one appender of a record log. The run folder's lock makes sure that there is only one."""

    def __init__(self, path: Path, *, background: bool = False) -> None:
        """Open the log for appending. With `background` the disk is asked by a thread of its own, so that appending
        never waits for it; what that thread meets is raised by the next append, or by `close`."""
        self.path = path
        self._keeper = ThreadPoolExecutor(1, "callscope-log") if background else None
        self._keeping: Future[None] | None = None
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunFolderError(f"{path}: cannot be written: {error.strerror}") from None
        self._end = os.fstat(self._fd).st_size
        self._torn = False
        self._unsynced = 0
        self._synced_at = time.monotonic()

    def append(self, line: bytes) -> int:
        """Write one whole line (newline included); returns the offset where it starts.

        Raises RunFolderError where the disk does not take it; the log is then left as it was before.
        """
        offset, written = self._end, 0
        try:
            if self._torn:
                self._cut(offset)
            while written < len(line):
                written += os.write(self._fd, line[written:])
        except OSError as error:
            self._torn = True
            with contextlib.suppress(OSError):
                self._cut(offset)
            raise RunFolderError(_disk_message(self.path, error)) from None
        self._end += written
        self._unsynced += 1
        if self._unsynced >= SYNC_EVERY_LINES or time.monotonic() - self._synced_at >= SYNC_EVERY_SECONDS:
            self._ask()
        return offset

    def _ask(self) -> None:
        if self._keeper is None:
            self.sync()
        elif self._keeping is None or self._keeping.done():
            if self._keeping is not None:
                self._keeping.result()
            self._unsynced, self._synced_at = 0, time.monotonic()
            self._keeping = self._keeper.submit(self._to_disk)

    def _to_disk(self) -> None:
        try:
            _to_disk(self._fd)
        except OSError as error:
            raise RunFolderError(_disk_message(self.path, error)) from None

    def _cut(self, end: int) -> None:
        os.ftruncate(self._fd, end)
        self._torn = False

    def sync(self) -> None:
        """Ask the disk to keep what was written so far. Raises RunFolderError where it cannot."""
        if self._unsynced:
            self._to_disk()
        self._unsynced, self._synced_at = 0, time.monotonic()

    def close(self) -> None:
        """Sync and close; may be called twice."""
        if self._fd >= 0:
            try:
                if self._keeper is not None:
                    self._keeper.shutdown(wait=True)
                if self._keeping is not None:
                    self._keeping.result()
                self.sync()
            finally:
                os.close(self._fd)
                self._fd = -1


def _disk_message(path: Path, error: OSError) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"{path}: the disk is full. What was recorded is safe: free some space, then go on with --resume"
    return f"{path}: cannot be written: {error.strerror}. What was recorded is safe: go on with --resume"


def repair_tail(path: Path) -> bytes:
    """Cut a torn last line off the log and keep it in `<name>.torn` beside it; returns it (b"" for a whole log).

    Raises RunFolderError where the disk does not allow it; the log is then as it was before.
    """
    try:
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            tail, step = b"", 1 << 16
            while len(tail) < size and b"\n" not in tail:
                tail = _last_bytes(file, size, step)
                step *= 2
            torn = tail[tail.rfind(b"\n") + 1 :]
            if torn:
                with path.with_name(path.name + ".torn").open("ab") as aside:
                    aside.write(torn + b"\n")
                file.truncate(size - len(torn))
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RunFolderError(_disk_message(path, error)) from None
    return torn


def _last_bytes(file: BinaryIO, size: int, step: int) -> bytes:
    file.seek(max(0, size - step))
    return file.read(step)


def lines_of(path: Path) -> Iterator[Line]:
    """The whole lines of a log, in order. A torn last line is left out; the file is not changed."""
    if not path.exists():
        return
    offset = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            yield Line(offset, number, line[:-1])
            offset += len(line)
