"""What the manifest says of the machine and of what is installed, and which outside settings could change a run."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from msgspec import Struct

from callscope._version import __version__
from callscope.capture.redact import mask_user_info

__all__ = ["Environment", "read_environment"]

_LIBRARIES = ("aiohttp", "jsonschema-rs", "msgspec", "multidict", "orjson", "stamina", "yarl", "xllamacpp")
"""Dependencies that touch bytes sent, received or judged."""

_OVERRIDES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


class Environment(Struct, frozen=True):
    """Facts for a manifest. `overrides` holds outside settings in force, credentials in them masked."""

    version: str
    commit: str
    runtime: dict[str, str]
    libraries: dict[str, str]
    overrides: dict[str, str]

    @property
    def proxied(self) -> bool:
        """Whether a proxy variable is set."""
        return any(name.upper().endswith("_PROXY") and name.upper() != "NO_PROXY" for name in self.overrides)


def read_environment(environ: Mapping[str, str] | None = None) -> Environment:
    """Read the machine, the installed versions and the proxy and certificate variables."""
    environ = os.environ if environ is None else environ
    libraries = {}
    for name in _LIBRARIES:
        try:
            libraries[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    overrides = {
        name: mask_user_info(environ[name])
        for upper in _OVERRIDES
        for name in (upper, upper.lower())
        if environ.get(name)
    }
    runtime = {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": str(os.cpu_count() or 0),
    }
    return Environment(__version__, _commit(), runtime, libraries, overrides)


def _commit() -> str:
    """The commit of the checkout that runs, or `release` for an installed package."""
    git = Path(__file__).resolve().parents[3] / ".git"
    try:
        head = (git / "HEAD").read_text("ascii").strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        loose = git / name
        if loose.exists():
            return loose.read_text("ascii").strip()
        packed = (git / "packed-refs").read_text("ascii")
        return next(line.split()[0] for line in packed.splitlines() if line.endswith(f" {name}"))
    except (OSError, StopIteration, UnicodeDecodeError):
        return "release"
