"""What is derived: the staged verdict of a trial, its measures, and both together."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from callscope.contract.outcome import Acceptance, Outcome, Usage
from callscope.contract.request import Transformation

Selection = Literal[
    "correct_tool",
    "wrong_tool",
    "called_when_abstention_expected",
    "no_call_when_expected",
    "multiple_calls_when_one_expected",
    "clarified_as_expected",
    "clarified_unnecessarily",
    "abstained_correctly",
    "answered_instead_of_clarifying",
    "guessed_instead_of_clarifying",
    "refused",
    "undecided",
    "not_observed",
]
Structure = Literal["valid", "invalid", "malformed", "not_applicable"]
Semantics = Literal["exact", "acceptable", "wrong", "undecided", "not_applicable"]
Attribution = Literal[
    "correct",
    "miss_recall",
    "parameter_error.temporal",
    "parameter_error.missing",
    "parameter_error.value",
    "over_recall",
    "judge_failure",
    "not_observed",
]
Violation = Literal["extra_call", "success_claimed_before_execution", "invented_value"]


class Verdict(Struct, frozen=True):
    """The staged judgement of one trial.

    `passed` is strict: extra calls and other violations fail it; None means not observed, or undecided. `evidence`
    maps a stage
    to what it saw; `decided_by` maps a stage to the name of the rule that decided. `violations` are names out of
    Violation.
    """

    suite: str
    experiment: str
    model: str
    case_id: str
    repeat: int
    acceptance: Acceptance
    selection: Selection
    structure: Structure
    semantics: Semantics
    attribution: Attribution
    violations: tuple[str, ...]
    recovery: dict[str, Any] | None
    passed: bool | None
    flags: tuple[str, ...]
    evidence: dict[str, Any]
    decided_by: dict[str, str]


class Measures(Struct, frozen=True, omit_defaults=True):
    """What was measured about a trial, over all its rounds. Milliseconds; tokens; cost in the run's currency.

    `latency` is the last attempt of the first round, without queueing; `outcome_hash` leaves out ids and text,
    `text_hash` is of
    the text alone. `rounds` counts the requests that were sent at least once: what `attempts` has beyond them are
    retries of the transport.
    """

    outcome_hash: str
    text_hash: str
    attempts: int = 0
    latency: float | None = None
    queued: float | None = None
    first_byte: float | None = None
    first_call: float | None = None
    usage: Usage = Usage()
    cost: float | None = None
    reported_model: str | None = None
    finish: str | None = None
    rounds: int = 1


class Repair(Struct, frozen=True):
    """One change that the repair track made: where (a JSON pointer), by which repair, from what to what.

    `after` is None too where something was dropped (`drop_unknown`).
    """

    pointer: str
    name: str
    before: Any
    after: Any = None


class Repaired(Struct, frozen=True):
    """What a stack with repairs would have got: the outcome with all repairs, and what the stages say of it.

    Never part of the verdict; figures from here stand beside raw ones and are never mixed with them. The pointers of
    `steps` are into `outcome`.
    """

    steps: tuple[Repair, ...]
    outcome: Outcome
    selection: Selection
    structure: Structure
    semantics: Semantics
    attribution: Attribution
    violations: tuple[str, ...]
    passed: bool | None


class Derived(Struct, frozen=True):
    """All that is derived from one record: its verdict, the outcome of its first round, its measures.

    `repaired` is None where no repair applies. `compatible_passed` is what the checker of the benchmark says that the
    case comes from (None: it says nothing, or crashes), with its evidence in `compatible`; both are unset, and absent
    where this is written, for every other case.
    """

    verdict: Verdict
    outcome: Outcome
    measures: Measures
    transformations: tuple[Transformation, ...] = ()
    notes: tuple[str, ...] = ()
    later_outcomes: tuple[Outcome, ...] = ()
    repaired: Repaired | None = None
    compatible_passed: bool | UnsetType | None = UNSET
    compatible: dict[str, Any] | UnsetType = UNSET
