"""What an audit folder holds, as types: the items a reviewer sees, what is kept from them, and the audit itself.

An item holds everything a reviewer needs and nothing that would tell them the answer: where it comes from, its stratum
and what the judge said stand apart, in `Sealed`.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from callscope.audit.designs import DesignName
from callscope.audit.sample import Stratum
from callscope.canonical import canonical
from callscope.contract import Expectation, Item, Message, Tool, ToolCall

__all__ = ["MAX_NOTE", "Answer", "Audit", "AuditItem", "Predicted", "Sealed", "Source", "SourceSuite", "same_gold"]

MAX_NOTE = 20_000
"""Characters of a note, and of a correction, however they come."""


def same_gold(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Whether two corrections are the same JSON: `true` is not `1`, though Python calls them equal."""
    return canonical(one) == canonical(other)


class Predicted(Struct, frozen=True):
    """What a model answered, without anything that was derived from it (no flags)."""

    kind: Literal["tool_calls", "text", "refusal"]
    calls: tuple[ToolCall, ...]
    text: str | None


class AuditItem(Struct, frozen=True):
    """One item to review. `asked` names its questions; `predicted` is None in an audit of references.

    `id` is a hash of where the item comes from, and says nothing to a reader.
    """

    id: str
    asked: tuple[str, ...]
    item: Item
    query: str
    tools: tuple[Tool, ...]
    gold: Expectation
    system: str
    messages: tuple[Message, ...]
    locale: str
    reference_time: str | None
    predicted: Predicted | None


class Sealed(Struct, frozen=True, omit_defaults=True):
    """What reviewers are not shown: where an item comes from, and the judge's attribution of a trial.

    `case_sha256` is the canonical hash of the case as it was sampled. `attribution` is one of designs.ATTRIBUTIONS.
    """

    item: str
    suite: str
    case_id: str
    case_sha256: str
    stratum: str
    experiment: str | None = None
    model: str | None = None
    repeat: int | None = None
    attribution: str | None = None


class SourceSuite(Struct, frozen=True):
    """A suite that was sampled: its version and the SHA-256 of each of its files."""

    version: str
    files: dict[str, str]


class Source(Struct, frozen=True):
    """Where the items come from. `verdicts_sha256` is over the verdicts of the run, in their order."""

    suites: dict[str, SourceSuite]
    run_id: str | None = None
    verdicts_sha256: str | None = None


class Audit(Struct, frozen=True):
    """audit.json. `left_out`: why -> how many units could not be sampled; `per_class` None where quotas were stated."""

    schema: Literal["callscope/audit/1"]
    callscope: str
    design: DesignName
    seed: int
    per_class: Literal["prior", "equal"] | None
    strata: dict[str, Stratum]
    left_out: dict[str, int]
    source: Source
    items_sha256: str
    sealed_sha256: str


class Answer(Struct, frozen=True, omit_defaults=True):
    """What a reviewer says of an item at one moment; of several the last one stands.

    `answers`: question -> answer. `correction` is the expectation that the reviewer would put in the gold's place, in
    the form it has in cases.jsonl; None where there is none. `at` is ISO 8601.
    """

    item: str
    answers: dict[str, str]
    note: str = ""
    correction: dict[str, Any] | None = None
    at: str | None = None

    def same(self, other: Answer | None) -> bool:
        """Whether both say the same, whenever they said it."""
        if other is None:
            return not (self.answers or self.note or self.correction)
        said = (self.answers, self.note) == (other.answers, other.note)
        return said and same_gold(self.correction, other.correction)
