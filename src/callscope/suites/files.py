"""Where a suite's bytes come from: a folder, or a suite bundled with callscope. Reads them exactly, judges nothing.

Not the meaning of those bytes: that is `load`, which never touches the disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from callscope.errors import InputError
from callscope.suites.faults import Page, closest
from callscope.suites.places import decoded, read_toml

__all__ = ["MAX_FILE_BYTES", "OVERLAY", "SUITE_FILES", "bundled_suites", "folder_name", "read_suite_files"]

OVERLAY = "overlay.toml"
"""Makes of a portable suite the one for a provider. Alone in a folder it names that suite in `extends`."""

SUITE_FILES = (
    "system.txt",
    "tools.core.json",
    "tools.json",
    "cases.jsonl",
    "suite.toml",
    "versions.json",
    "fakes.json",
    "tools.compatibility.json",
    OVERLAY,
)
"""The files that make a suite. Others in the folder (a datasheet, a README) are neither read nor hashed."""

MAX_FILE_BYTES = 256 * 1024 * 1024
"""A suite file larger than this is refused rather than read into memory."""


def _bundled() -> Traversable:
    return resources.files("callscope.suites").joinpath("bundled")


def bundled_suites() -> list[str]:
    """The names of the suites that come with callscope, sorted."""
    return sorted(
        entry.name
        for entry in _bundled().iterdir()
        if any(entry.joinpath(name).is_file() for name in ("cases.jsonl", OVERLAY))
    )


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
    pass a Path. Where a folder holds an overlay and no cases, the files are those of the suite it extends (a bundled
    name, or a folder beside it), and the overlay.

    Raises:
        InputError: there is no such folder, a file in it cannot be read or is larger than MAX_FILE_BYTES, or an overlay
            extends nothing that can be read, or another overlay.
    """
    files = _read_one(where)
    if OVERLAY not in files or "cases.jsonl" in files:
        return files
    base = _extended(files[OVERLAY], where)
    under = _read_one(base)
    if OVERLAY in under:
        raise InputError(
            "an overlay cannot extend another", file=_overlay_file(where), field="extends", found=str(base)
        )
    return {**under, OVERLAY: files[OVERLAY]}


def _overlay_file(where: str | Path) -> str:
    return f"{_shown_folder(where)}/{OVERLAY}"


def _extended(overlay: bytes, where: str | Path) -> str | Path:
    """The suite that an overlay extends: a bundled one by name, else a folder, seen from the overlay's own."""
    faults: list[InputError] = []
    page = Page(_overlay_file(where), faults)
    text = decoded(overlay, page)
    table = read_toml(text, page) if text is not None else None
    extends = table.get("extends") if isinstance(table, dict) else None
    if not faults and not (isinstance(extends, str) and extends):
        page.fault("names no suite", ("extends",), expected=f"a folder, or one of {', '.join(bundled_suites())}")
    if faults:
        raise faults[0]
    assert isinstance(extends, str)
    return extends if extends in bundled_suites() else Path(where) / extends


def _read_one(where: str | Path) -> dict[str, bytes]:
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
    shown = {name: f"{_shown_folder(where)}/{name}" for name in (*SUITE_FILES, *files)}
    if OVERLAY in files and "cases.jsonl" not in _read_one(where):
        base = _shown_folder(_extended(files[OVERLAY], where))
        shown |= {name: f"{base}/{name}" for name in shown if name != OVERLAY}
    return shown


def _shown_folder(where: str | Path) -> str:
    return f"bundled/{where}" if _is_bundled(where) else str(where).rstrip("/")
