"""What a benchmark's own checker says of a trial, in words, and where it and we differ. Judges nothing.

| ours             | theirs         | is                                                 |
|------------------|----------------|----------------------------------------------------|
| passed           | failed         | `ours_passed`: they differ                         |
| failed           | passed         | `theirs_passed`: they differ                       |
| undecided        | passed, failed | no difference: one of the two says nothing         |
| passed, failed   | says nothing   | no difference, likewise                            |
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import UNSET

from callscope.contract import Derived
from callscope.reports.safe import one_line, pretty

__all__ = ["Differences", "Direction", "difference", "their_error", "their_text"]

Direction = Literal["ours_passed", "theirs_passed"]

_REASONS = ("error_type", "verdict", "crashed", "why")
"""Where the checkers say why: the first of these that one says is its error type."""


class Differences(NamedTuple):
    """Over trials of which the benchmark's own checker says something or could have: how many both decided, how many
    of these each alone passed, and of how many one of the two decided nothing."""

    decided: int = 0
    ours_passed: int = 0
    theirs_passed: int = 0
    silent: int = 0

    def with_trial(self, derived: Derived) -> Differences:
        """The counts with one trial more; unchanged by a trial without such a checker."""
        ours, theirs = derived.verdict.passed, derived.compatible_passed
        if theirs is UNSET:
            return self
        if ours is None or theirs is None:
            return self._replace(silent=self.silent + 1)
        found = self._replace(decided=self.decided + 1)
        way = difference(derived)
        return found if way is None else found._replace(**{way: getattr(self, way) + 1})


def difference(derived: Derived) -> Direction | None:
    """Which of the two alone passed a trial; None where they agree, or one of them decides nothing."""
    ours, theirs = derived.verdict.passed, derived.compatible_passed
    if theirs is UNSET or ours is None or theirs is None or ours == theirs:
        return None
    return "ours_passed" if ours else "theirs_passed"


def their_error(derived: Derived) -> str:
    """The checker's own name for what it found, as `value_error:string`; "" where it gives none."""
    said = _said(derived)
    return next((_short(said[name]) for name in _REASONS if said.get(name)), "")


def their_text(derived: Derived, limit: int = 400) -> str:
    """What the checker says, on a line, and what else it noted on others; "" where the case has no such checker."""
    theirs = derived.compatible_passed
    if theirs is UNSET:
        return ""
    word = {True: "passed", False: "failed", None: "says nothing"}[theirs]
    error = their_error(derived)
    ours = {"ours_passed": "passed", "theirs_passed": "failed"}.get(difference(derived) or "", "")
    said = _said(derived)
    first = next((name for name in _REASONS if said.get(name)), "")
    line = f"{word}{f': {error}' if error and error != word else ''}{f'  (differs: {ours} here)' if ours else ''}"
    more = [f"{one_line(name, 40)}: {_short(said[name], limit)}" for name in said if name not in (first, "checker")]
    return "\n".join([line, *more])


def _said(derived: Derived) -> dict[str, Any]:
    return derived.compatible if isinstance(derived.compatible, dict) else {}


def _short(value: Any, limit: int = 200) -> str:
    return one_line(value if isinstance(value, str) else " ".join(pretty(value, limit).split()), limit)
