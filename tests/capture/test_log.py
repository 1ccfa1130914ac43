"""The record log: whole lines only, whatever the disk and the moment of the kill; nothing that was written is lost."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from callscope.capture import log as module
from callscope.capture.log import Line, RecordLog, lines_of, repair_tail
from callscope.errors import RunFolderError

LINES = st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"") + b"\n"), max_size=6)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records.jsonl"


def append_all(path: Path, lines: list[bytes]) -> list[int]:
    log = RecordLog(path)
    try:
        return [log.append(line) for line in lines]
    finally:
        log.close()


def test_an_append_says_where_its_line_starts_also_after_reopening(path: Path) -> None:
    assert append_all(path, [b"one\n", b"three\n"]) == [0, 4]
    assert append_all(path, [b"\n", b"x\n"]) == [10, 11]
    assert list(lines_of(path)) == [Line(0, 1, b"one"), Line(4, 2, b"three"), Line(10, 3, b""), Line(11, 4, b"x")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, st.data())
@example([b"\xff\x00\r\x85\xe2\x80\xa8\n"], None)
def test_any_beginning_of_a_log_repaired_and_gone_on_with_is_the_whole_log(
    tmp_path: Path, lines: list[bytes], data: st.DataObject | None
) -> None:
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole))) if data else len(whole) - 1
    path, aside = tmp_path / "log", tmp_path / "log.torn"
    path.write_bytes(whole[:cut])
    aside.unlink(missing_ok=True)

    torn = repair_tail(path)
    kept = list(lines_of(path))
    assert path.read_bytes() + torn == whole[:cut]
    assert b"\n" not in torn
    assert (aside.read_bytes() if aside.exists() else b"") == (torn + b"\n" if torn else b"")
    assert [line.data + b"\n" for line in kept] == lines[: len(kept)]
    assert repair_tail(path) == b""

    offsets = append_all(path, lines[len(kept) :])
    assert path.read_bytes() == whole
    assert [line.offset for line in lines_of(path)] == [line.offset for line in kept] + offsets
    assert [line.number for line in lines_of(path)] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize("length", [1, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 3 << 16, 1_000_003])
@pytest.mark.parametrize("before", [b"", b"whole\n", b"w" * 70_000 + b"\n"])
def test_a_torn_line_of_any_length_is_cut_off_and_kept(path: Path, length: int, before: bytes) -> None:
    torn = b"t" * length
    path.write_bytes(before + torn)
    assert repair_tail(path) == torn
    assert path.read_bytes() == before
    assert path.with_name("records.jsonl.torn").read_bytes() == torn + b"\n"


def test_every_torn_line_is_kept_aside_not_only_the_last(path: Path) -> None:
    for torn in (b"one", b"two"):
        with path.open("ab") as file:
            file.write(b"whole\n" + torn)
        repair_tail(path)
    assert path.with_name("records.jsonl.torn").read_bytes() == b"one\ntwo\n"
    assert path.read_bytes() == b"whole\nwhole\n"


def test_a_reader_leaves_a_torn_line_out_and_the_file_as_it_is(path: Path) -> None:
    path.write_bytes(b"one\ntw")
    assert [line.data for line in lines_of(path)] == [b"one"]
    assert path.read_bytes() == b"one\ntw"


def test_a_log_that_is_not_there_is_empty(path: Path) -> None:
    assert (list(lines_of(path)), repair_tail(path), path.exists()) == ([], b"", False)
    path.touch()
    assert (list(lines_of(path)), repair_tail(path)) == ([], b"")


# ------------------------------------------------------------------------------------------------------ a failing disk


def failing(*steps: int | OSError) -> Callable[[int, bytes], int]:
    """An os.write that takes so many bytes, or fails, call by call; then as the real one."""
    real, left = os.write, list(steps)

    def write(fd: int, data: bytes) -> int:
        step = left.pop(0) if left else len(data)
        if isinstance(step, OSError):
            raise step
        return real(fd, data[:step])

    return write


def test_a_write_that_takes_a_part_goes_on_with_the_rest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "write", failing(1, 2, 3))
    assert append_all(path, [b"0123456789\n", b"x\n"]) == [0, 11]
    assert path.read_bytes() == b"0123456789\nx\n"


DISK = [
    (errno.ENOSPC, "the disk is full. What was recorded is safe: free some space, then go on with --resume"),
    (errno.EDQUOT, "the disk is full. What was recorded is safe: free some space, then go on with --resume"),
    (errno.EIO, "cannot be written: Input/output error. What was recorded is safe: go on with --resume"),
]


@pytest.mark.parametrize(("code", "said"), DISK)
@pytest.mark.parametrize("taken", [0, 1, 4])
def test_a_disk_that_takes_no_more_leaves_the_log_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: int, said: str, taken: int
) -> None:
    log = RecordLog(path)
    log.append(b"whole\n")
    steps: list[int | OSError] = [taken] if taken else []
    monkeypatch.setattr(module.os, "write", failing(*steps, OSError(code, os.strerror(code))))
    with pytest.raises(RunFolderError) as caught:
        log.append(b"never\n")
    assert str(caught.value) == f"{path}: {said}"
    assert path.read_bytes() == b"whole\n"
    assert log.append(b"later\n") == 6
    log.close()
    assert path.read_bytes() == b"whole\nlater\n"


def test_a_torn_line_that_cannot_be_cut_off_at_once_is_cut_off_before_the_next(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, real = RecordLog(path), os.ftruncate

    def refuse(_fd: int, _size: int) -> None:
        raise OSError(errno.EIO, "no")

    monkeypatch.setattr(module.os, "ftruncate", refuse)
    monkeypatch.setattr(module.os, "write", failing(3, OSError(errno.EIO, "no")))
    with pytest.raises(RunFolderError):
        log.append(b"never\n")
    with pytest.raises(RunFolderError):
        log.append(b"nor this\n")
    assert path.read_bytes() == b"nev"
    monkeypatch.setattr(module.os, "ftruncate", real)
    assert log.append(b"one\n") == 0
    log.close()
    assert path.read_bytes() == b"one\n"


def test_a_log_that_cannot_be_opened_or_repaired_is_named(path: Path) -> None:
    path.mkdir()
    with pytest.raises(RunFolderError, match=r"records\.jsonl: cannot be written: Is a directory"):
        RecordLog(path)
    with pytest.raises(RunFolderError, match=r"records\.jsonl: cannot be written: Is a directory"):
        repair_tail(path)


def test_a_torn_line_that_cannot_be_kept_aside_is_not_cut_off(path: Path) -> None:
    path.write_bytes(b"one\ntorn")
    path.with_name("records.jsonl.torn").mkdir()
    with pytest.raises(RunFolderError, match="cannot be written"):
        repair_tail(path)
    assert path.read_bytes() == b"one\ntorn"


# ------------------------------------------------------------------------------------------------------------- keeping


class Disk:
    """Counts what the disk was asked to keep, under a clock that the test turns."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.syncs, self.now, self.fault = 0, 1_000.0, None
        monkeypatch.setattr(module, "_to_disk", self.keep)
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)

    def keep(self, _fd: int) -> None:
        if self.fault is not None:
            raise self.fault
        self.syncs += 1


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    return Disk(monkeypatch)


def test_the_disk_is_asked_every_hundred_lines(path: Path, disk: Disk) -> None:
    log = RecordLog(path)
    counts = []
    for _ in range(250):
        log.append(b"x\n")
        counts.append(disk.syncs)
    assert [counts[98], counts[99], counts[198], counts[199], counts[249]] == [0, 1, 1, 2, 2]
    log.close()
    assert disk.syncs == 3


def test_and_once_a_second(path: Path, disk: Disk) -> None:
    log = RecordLog(path)
    for passed, expected in [(0.5, 0), (0.4, 0), (0.2, 1), (0.9, 1), (0.2, 2)]:
        disk.now += passed
        log.append(b"x\n")
        assert disk.syncs == expected
    log.close()


def test_it_is_not_asked_for_nothing_and_closing_twice_is_harmless(path: Path, disk: Disk) -> None:
    log = RecordLog(path)
    log.sync()
    log.close()
    log.close()
    assert disk.syncs == 0


def test_a_disk_that_does_not_keep_is_named_and_the_log_is_closed_all_the_same(path: Path, disk: Disk) -> None:
    log = RecordLog(path)
    log.append(b"x\n")
    disk.fault = OSError(errno.EIO, os.strerror(errno.EIO))
    with pytest.raises(RunFolderError, match="cannot be written: Input/output error"):
        log.sync()
    with pytest.raises(RunFolderError):
        log.close()
    log.close()
    assert path.read_bytes() == b"x\n"
