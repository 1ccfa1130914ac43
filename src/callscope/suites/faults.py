"""Faults of a suite's files, gathered so that a person sees all of them at once, each with its exact place.

A page is one file while it is read: it knows its name and which line a field stands on. Nothing here knows what a
suite means; that is `shapes` and `load`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from callscope.errors import InputError, shown

__all__ = ["MAX_SHOWN", "Page", "Path_", "SuiteFaults", "closest", "dotted"]

MAX_SHOWN = 50
"""Faults written out in one message; the rest are counted."""

Path_ = tuple[str | int, ...]
"""Where a value stands inside a file: keys as they are spelled there, and positions from 0."""


class SuiteFaults(InputError):
    """Everything that is wrong with a suite's files. `faults` holds one InputError each, in reading order.

    `file`, `line`, `field`, `found`, `expected` and `hint` are those of the first, so that one fault reads like any
    other InputError.
    """

    def __init__(self, faults: Sequence[InputError]) -> None:
        self.faults = tuple(faults)
        first = self.faults[0]
        super().__init__(
            first.message,
            file=first.file,
            line=first.line,
            field=first.field,
            found=first.found,
            expected=first.expected,
            hint=first.hint,
        )

    def _text(self) -> str:
        lines = [str(fault) for fault in self.faults[:MAX_SHOWN]]
        if len(self.faults) > MAX_SHOWN:
            lines.append(f"… and {len(self.faults) - MAX_SHOWN} more")
        return "\n".join(lines)

    def at(self, *, file: str | Path | None = None, line: int | None = None, prefix: str = "") -> SuiteFaults:
        """The same faults, each with the place filled in where it was not known."""
        return SuiteFaults([fault.at(file=file, line=line, prefix=prefix) for fault in self.faults])


class Page:
    """One file being read. `line_of` maps a path inside it to a line, or None where that is not known."""

    def __init__(
        self,
        file: str,
        faults: list[InputError],
        line_of: Callable[[Path_], int | None] = lambda _: None,
    ) -> None:
        self.file, self.faults, self.line_of = file, faults, line_of

    def fault(self, message: str, path: Path_ = (), *, line: int | None = None, **facts: Any) -> None:
        """Note a fault at `path` (or `line`). `facts` are `found`, `expected` and `hint`, as InputError has them."""
        line = self.line_of(path) if line is None else line
        self.faults.append(InputError(message, file=self.file, line=line, field=dotted(path) or None, **facts))


def dotted(path: Path_) -> str:
    """A path as a person writes it: `expected.alternatives[0].arguments`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            key = shown(step, 80)
            text += f".{key}" if text else key
    return text


def _bare(word: str) -> str:
    return word.casefold().replace("_", "").replace("-", "")


def closest(word: object, known: Iterable[str]) -> str | None:
    """The one of `known` that `word` was probably meant to be, or None."""
    names = list(known)
    if not isinstance(word, str) or len(word) > 200:
        return None
    same = [name for name in names if _bare(name) == _bare(word)]
    near = same or difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    return near[0] if near else None
