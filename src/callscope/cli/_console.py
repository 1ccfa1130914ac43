"""Where text goes: results to stdout, everything else to stderr, colour and bars only on a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape

from callscope.errors import InputError

__all__ = ["Only", "errors", "one_run", "out", "put", "say"]

_PLAIN_WIDTH = 140
_AUDIT = "audit.json"


class Only(NamedTuple):
    """The part of a run that is asked for; None is everything."""

    suite: str | None
    experiment: str | None
    model: str | None


class _Console(Console):
    """A console whose reader may go away, as `| head` does: that is for the caller of the command to see."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def out() -> Console:
    """The console of results. Where stdout is no terminal it is 140 columns wide, or COLUMNS."""
    width = None if sys.stdout.isatty() else shutil.get_terminal_size((_PLAIN_WIDTH, 50)).columns
    return _Console(file=sys.stdout, width=width, highlight=False, emoji=False)


def put(data: bytes) -> None:
    """Write bytes to stdout as they are."""
    sys.stdout.buffer.write(data)


def errors() -> Console:
    """The console of progress and messages."""
    return Console(file=sys.stderr, highlight=False, emoji=False, soft_wrap=True)


def say(text: str) -> None:
    """One message for a person, on stderr, with nothing in it interpreted as markup. Lost where nobody can read it."""
    with suppress(OSError, ValueError):
        errors().print(escape(text))


def one_run(run: Path, more: Sequence[Path]) -> None:
    """Raise InputError where more than one run was named, each being shown by itself, or an audit's folder."""
    if more:
        names = " ".join(str(each) for each in (run, *more))
        raise InputError(
            "one run is shown at a time",
            found=names,
            hint=f"Show each by itself, side by side (callscope report {names} --across), or case by case (callscope"
            f" compare {names})",
        )
    if (run / _AUDIT).is_file() and not (run / "manifest.json").exists():
        raise InputError(
            "is the folder of an audit, not of a run",
            file=run,
            hint="`callscope report AUDIT_DIR --preset table4` (references) or `--preset table5` (a judge) shows it",
        )
