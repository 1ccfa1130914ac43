"""Makes `.venv` ready from a hash-pinned lock: `python3 scripts/setup_env.py run|dev`.

Needs nothing but Python 3.11 with pip. Only locked wheels are installed, so no build step can fetch anything
unpinned; callscope itself is installed from this folder with the locked build backend. A stamp in `.venv` holds the
digest of everything that decides the content, so that a second call returns at once.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
KINDS = ("run", "dev")


def main(arguments: list[str]) -> int:
    """Prepare the environment of the kind named; 0 when it is ready, 2 when it cannot be made."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is the first thing an older Python meets
        return refuse(
            f"callscope needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try: make PYTHON=python3.12"
        )
    if len(arguments) != 1 or arguments[0] not in KINDS:
        return refuse("usage: setup_env.py run|dev")
    kind = arguments[0]
    # The dev lock holds everything the run lock does (tests/test_project.py), so it serves both.
    if any(is_ready(accepted) for accepted in {kind, "dev"}):
        return 0
    print(f"Setting up .venv from requirements/{kind}.lock …", flush=True)
    try:
        install(kind)
    except subprocess.CalledProcessError as error:
        return refuse(f"Setting up .venv failed: {' '.join(map(str, error.cmd))}")
    stamp(kind).write_text(digest(kind))
    return 0


def refuse(why: str) -> int:
    """Say why on standard error; the exit code."""
    print(why, file=sys.stderr)
    return 2


def stamp(kind: str) -> Path:
    """The file that says which content `.venv` was last made ready for."""
    return VENV / f".ready-{kind}"


def digest(kind: str) -> str:
    """A digest over all that decides what is installed."""
    content = hashlib.sha256(sys.version.encode())
    for path in (ROOT / "requirements" / f"{kind}.lock", ROOT / "pyproject.toml", Path(__file__)):
        content.update(path.read_bytes())
    return content.hexdigest()


def is_ready(kind: str) -> bool:
    """Whether `.venv` works and was made from exactly the present lock."""
    return VENV_PYTHON.exists() and stamp(kind).exists() and stamp(kind).read_text() == digest(kind)


def install(kind: str) -> None:
    """Create `.venv` where it is missing or broken, install the lock, then callscope as an editable package."""
    for old in KINDS:
        stamp(old).unlink(missing_ok=True)
    pip = pip_command()
    lock = ROOT / "requirements" / f"{kind}.lock"
    call([*pip, "install", "--require-hashes", "--no-deps", "--only-binary=:all:", "--no-compile", "-r", lock])
    call([*pip, "install", "--no-deps", "--no-build-isolation", "--no-index", "-e", ROOT])


def pip_command() -> list[str | Path]:
    """A pip that installs into `.venv`: its own, or this Python's where the system ships venv without ensurepip."""
    options = ["--disable-pip-version-check", "--no-input", "-qq"]
    own: list[str | Path] = [VENV_PYTHON, "-m", "pip", *options]
    outer: list[str | Path] = [sys.executable, "-m", "pip", "--python", VENV_PYTHON, *options]
    if works([VENV_PYTHON, "-m", "pip", "--version"]):
        return own
    try:
        venv.create(VENV, clear=True, with_pip=True, symlinks=True)
    except subprocess.CalledProcessError:
        venv.create(VENV, clear=True, with_pip=False, symlinks=True)
        return outer
    return own


def works(command: list[str | Path]) -> bool:
    """Whether a command can be run and succeeds."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def call(command: list[str | Path]) -> None:
    """Run a command that must succeed."""
    subprocess.run(command, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
