"""The run as the reports see it: a protocol that capture fulfils, and the small readings of it that all reports share.

No file is opened here, and nothing is derived; a view hands over what derive has already said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

from callscope.contract import (
    Case,
    Derived,
    Expectation,
    ExpectClarification,
    ExpectTool,
    ExpectTools,
    Manifest,
    ModelRef,
    Record,
    Suite,
    TrialKey,
    Verdict,
)
from callscope.errors import RunFolderError

__all__ = [
    "EXPECTATION_CLASSES",
    "RIGHT_SELECTIONS",
    "GroupKey",
    "RawLookup",
    "RunView",
    "cases_by_id",
    "expectation_class",
    "failing_stage",
    "group_key",
    "is_observed",
    "model_refs",
]

EXPECTATION_CLASSES = ("tool", "tools", "abstention", "clarification")
"""The rows of a confusion matrix; `abstention` holds the expectations text and no_call."""

RIGHT_SELECTIONS = frozenset({"correct_tool", "clarified_as_expected", "abstained_correctly"})

RawLookup = Callable[[TrialKey], Record | None]
"""Finds the stored bytes of a trial; None where there are none."""


class RunView(Protocol):
    """A finished, interrupted or running run, ready to be read."""

    @property
    def manifest(self) -> Manifest:
        """What was fixed before the first call."""
        ...

    @property
    def suites(self) -> Mapping[str, Suite]:
        """Suite name -> the suite as it was frozen."""
        ...

    def derived(self) -> Iterator[Derived]:
        """What was derived, in plan order; a planned trial without one was not run. May be walked again."""
        ...


class GroupKey(NamedTuple):
    """What is never merged: one model on one suite under one experiment's settings."""

    suite: str
    experiment: str
    model: str


def group_key(verdict: Verdict) -> GroupKey:
    """The group a verdict counts in."""
    return GroupKey(verdict.suite, verdict.experiment, verdict.model)


def expectation_class(expected: Expectation) -> str:
    """The row of the confusion matrix an expectation belongs to."""
    if isinstance(expected, ExpectTool):
        return "tool"
    if isinstance(expected, ExpectTools):
        return "tools"
    return "clarification" if isinstance(expected, ExpectClarification) else "abstention"


def is_observed(verdict: Verdict) -> bool:
    """Whether a decision of the model was seen at all."""
    return verdict.acceptance == "accepted" and verdict.selection != "not_observed"


def failing_stage(verdict: Verdict) -> str | None:
    """The first stage at which a trial broke; None where it passed or is undecided.

    acceptance (coverage loss) · selection · structure · semantics · policy (a violation) · recovery · other
    """
    if verdict.passed:
        return None
    if not is_observed(verdict):
        return "acceptance"
    if verdict.passed is None:
        return None
    if verdict.selection not in RIGHT_SELECTIONS:
        return "selection"
    if verdict.structure in {"invalid", "malformed"}:
        return "structure"
    if verdict.semantics == "wrong":
        return "semantics"
    if verdict.violations:
        return "policy"
    return "recovery" if verdict.recovery is not None else "other"


def cases_by_id(view: RunView, suite: str) -> dict[str, Case]:
    """The cases of a suite by id.

    Raises RunFolderError where the plan names a suite that the run does not hold.
    """
    found = view.suites.get(suite)
    if found is None:
        raise RunFolderError(f"the plan names the suite {suite!r}, which this run does not hold")
    return {case.id: case for case in found.cases}


def model_refs(manifest: Manifest) -> dict[str, ModelRef]:
    """Model label -> the model as requested."""
    return {ref.entry.label: ref for ref in manifest.models}
