"""How a provider-optimised suite differs from the portable one it is laid over: each difference as data.

What they do to a suite is `suites.overlay`'s; what a setting does to a plan is `capture.experiments`'s.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "DescriptionDifference",
    "Difference",
    "ParallelDifference",
    "SchemaDifference",
    "StrictDifference",
    "SystemDifference",
]


class SystemDifference(Struct, frozen=True, forbid_unknown_fields=True, tag_field="what", tag="system"):
    """`text` is added at the end of the system text. Every difference has its `reason` and the `source` of it."""

    text: str
    reason: str
    source: str


class DescriptionDifference(Struct, frozen=True, forbid_unknown_fields=True, tag_field="what", tag="description"):
    """`text` replaces the description of a tool, or of one of its parameters."""

    tool: str
    text: str
    reason: str
    source: str
    parameter: str | None = None


class StrictDifference(Struct, frozen=True, forbid_unknown_fields=True, tag_field="what", tag="strict"):
    """The provider's strict schema mode is asked for, or turned off."""

    value: bool
    reason: str
    source: str


class ParallelDifference(Struct, frozen=True, forbid_unknown_fields=True, tag_field="what", tag="parallel"):
    """The provider's switch for several calls in one response is set."""

    value: bool
    reason: str
    source: str


class SchemaDifference(Struct, frozen=True, forbid_unknown_fields=True, tag_field="what", tag="schema"):
    """Every tool's schema is rewritten by `rule` (`callscope.schema_rules`).

    With `null_means_absent` an explicit null for an argument that the portable schema does not require counts as the
    argument left out.
    """

    rule: str
    reason: str
    source: str
    null_means_absent: bool = False


Difference = SystemDifference | DescriptionDifference | StrictDifference | ParallelDifference | SchemaDifference
