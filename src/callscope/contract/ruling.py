"""What a judge ruled on one argument of one aligned call."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Ruling(Struct, frozen=True, omit_defaults=True):
    """A judge's decision on one top-level argument that the rules left open.

    `required` and `call` are the places of the required call and of the call that answers it. `undecided` is a judge
    failure: the judge's answers disagreed, could not be read, or its sentinels failed. `judge` names who ruled.
    """

    required: int
    call: int
    argument: str
    verdict: Literal["equivalent", "different", "undecided"]
    judge: str
    reason: str = ""
