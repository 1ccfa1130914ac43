"""Where a suite's bytes come from: a folder, or a suite bundled with callscope. Reads them exactly, judges nothing.

Not the meaning of those bytes: that is `load`, which never touches the disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from callscope.errors import InputError
from callscope.suites.faults import closest

__all__ = ["MAX_FILE_BYTES", "SUITE_FILES", "bundled_suites", "folder_name", "read_suite_files"]

SUITE_FILES = (
    "system.txt",
    "tools.core.json",
    "tools.json",
    "cases.jsonl",
    "suite.toml",
    "fakes.json",
    "tools.compatibility.json",
)
"""The files that make a suite. Others in the folder (a datasheet, a README) are neither read nor hashed."""

MAX_FILE_BYTES = 256 * 1024 * 1024
"""A suite file larger than this is refused rather than read into memory."""


def _bundled() -> Traversable:
    return resources.files("callscope.suites").joinpath("bundled")


def bundled_suites() -> list[str]:
    """The names of the suites that come with callscope, sorted."""
    return sorted(entry.name for entry in _bundled().iterdir() if entry.joinpath("cases.jsonl").is_file())


def _is_bundled(where: str | Path) -> bool:
    return isinstance(where, str) and where in bundled_suites()


def folder_name(where: str | Path) -> str:
    """What a suite is called that has no name of its own: its folder's name, or its bundled name."""
    if _is_bundled(where):
        return str(where)
    try:
        return Path(where).resolve().name or "suite"
    except (OSError, RuntimeError, ValueError):
        return Path(where).name or "suite"


def read_suite_files(where: str | Path) -> dict[str, bytes]:
    """The exact bytes of a suite's files, by file name: those of SUITE_FILES that there are.

    A str that is the name of a bundled suite means that one; for a folder of the same name write `./support`, or
    pass a Path.

    Raises:
        InputError: there is no such folder, or a file in it cannot be read or is larger than MAX_FILE_BYTES.
    """
    if _is_bundled(where):
        folder = _bundled().joinpath(str(where))
        return {name: folder.joinpath(name).read_bytes() for name in SUITE_FILES if folder.joinpath(name).is_file()}
    return _read_folder(where)


def _read_folder(where: str | Path) -> dict[str, bytes]:
    folder = Path(where)
    try:
        if not str(where):
            raise InputError("the name of a suite is empty", expected=_expected())
        if folder.is_file():
            hint = f"Pass its folder: {folder.parent}."
            raise InputError("a suite is a folder, and this is a file", file=folder, hint=hint)
        if not folder.is_dir():
            near = closest(str(where), bundled_suites())
            meant = f"Did you mean {near!r}?" if near else None
            raise InputError("there is no such suite", found=str(where), expected=_expected(), hint=meant)
        return {name: _read(folder / name) for name in SUITE_FILES if (folder / name).exists()}
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        said = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"a suite's folder cannot be read: {said}", found=str(where)) from None


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise InputError("this is not a regular file", file=path)
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            limit = f"at most {MAX_FILE_BYTES // 1024**2} MiB"
            raise InputError("the file is too large", file=path, found=f"{size} bytes", expected=limit)
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror or error}", file=path) from None


def _expected() -> str:
    return f"a folder, or a bundled suite: {', '.join(bundled_suites())}"


def shown_names(where: str | Path, files: Mapping[str, bytes]) -> dict[str, str]:
    """How messages name each file: with its folder in front, `support/cases.jsonl`."""
    folder = str(where) if not _is_bundled(where) else f"bundled/{where}"
    return {name: f"{folder.rstrip('/')}/{name}" for name in (*SUITE_FILES, *files)}
