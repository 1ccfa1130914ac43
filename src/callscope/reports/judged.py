"""Which judge decided what the rules left open in a run, in words: no room of reports knows the judge itself.

Read from what a run offers under `judge`; a run without one, or a view that offers none, was judged by rules alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec

from callscope.reports.columns import plural
from callscope.reports.safe import one_line

__all__ = ["OPEN", "fn_note", "has_judge", "judge_failure_words", "judge_line", "judge_summary"]

OPEN = "left open (no judge)"
"""What `judge_failure` is called where no judge was asked."""

HINT = "`callscope judge RUN` puts them to a judge"


class _Calibration(Protocol):
    @property
    def failures(self) -> tuple[str, ...]: ...

    @property
    def believed(self) -> bool: ...


class Judge(Protocol):
    """What a run says of the judge that applies to it.

    Attributes:
        applied: the name of its folder.
        kind: `model` or `rules`.
        judge: how verdicts name it.
        counts: a Struct of counts over the run's questions.
        calibration: what its sentinels say; `failures` names what it fails.
    """

    @property
    def applied(self) -> str | None: ...

    @property
    def kind(self) -> str: ...

    @property
    def judge(self) -> str: ...

    @property
    def counts(self) -> Any: ...

    @property
    def calibration(self) -> _Calibration: ...

    def asked(self) -> str:
        """What was put to it, in words."""
        ...


def _judge_of(view: object) -> Judge | None:
    return getattr(view, "judge", None)


def has_judge(view: object) -> bool:
    """Whether a judge applies to a run."""
    return _judge_of(view) is not None


def judge_summary(view: object) -> dict[str, Any] | None:
    """The `judge` of summary.json: name, kind, believed, failures, scope, and counts; None for the rules alone."""
    judge = _judge_of(view)
    if judge is None:
        return None
    return {
        "name": judge.applied,
        "judge": judge.judge,
        "kind": judge.kind,
        "believed": judge.calibration.believed,
        "failures": list(judge.calibration.failures),
        "scope": judge.asked(),
        "counts": msgspec.to_builtins(judge.counts),
    }


def judge_line(summary: Mapping[str, Any]) -> tuple[str, bool]:
    """Which judge decided, in a line for a report's head, and whether readers must be warned; "" where nothing was
    left open and nobody was asked."""
    judge = summary.get("judge")
    if judge is None:
        left = sum(group["undecided"]["semantics"] for group in summary["groups"])
        return (f"Judge: none; {plural(left, 'trial')} left open by the rules. {HINT}", False) if left else ("", False)
    name, counts = one_line(judge["judge"], 80), judge["counts"]
    who = "the judge of rules" if judge["kind"] == "rules" else f"the model {name}"
    if not judge["believed"]:
        failed = ", ".join(one_line(each, 60) for each in judge["failures"])
        said = f"JUDGE NOT BELIEVED: {who} fails its sentinels ({failed}). All its rulings are undecided"
        return f"{said}, and every figure that rests on them is too", True
    decided = counts["agreed"] + counts["third_call"]
    said = f"Judge: {who} holds its sentinels; it decided {decided} of {plural(counts['questions'], 'question')}"
    return f"{said} (asked: {one_line(judge['scope'], 120)})", False


def judge_failure_words(groups: Iterable[Mapping[str, Any]], asked: str = "judge failed") -> str:
    """What the attribution `judge_failure` is called in a table of groups: nobody failed where nobody was asked."""
    judged = {group["judge"] is not None for group in groups}
    if judged == {True, False}:
        return f"{asked}, or {OPEN}"
    return asked if judged == {True} else OPEN


def fn_note(groups: Iterable[Mapping[str, Any]]) -> str:
    """Why passed and recall differ where positives were left open; "" where none was."""
    groups = list(groups)
    left = sum(group["queries"]["positives"]["judge_failure"]["k"] for group in groups)
    if not left:
        return ""
    why = f"{plural(left, 'positive')} left open: passed leaves what is undecided out, recall counts it as FN"
    return f"{why}; {HINT}" if any(group["judge"] is None for group in groups) else why
