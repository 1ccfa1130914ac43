"""What can be wrong with BFCL's gold and function documents, by name. Found at import, marked, never hidden.

A case with a defect carries the tag `gold-defect:<kind>` and the findings in its metadata; the import notes each with
file and line. What finds them is `gold` and `cases`; here they only have names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["KINDS", "Defect"]

KINDS: Mapping[str, str] = {
    "outside-enum": "a listed value is no member of the declared enum (scoring-faults 15)",
    "narrow-unit": "one unit is listed though neither query nor gold asks for one; all units pass (16)",
    "other-type": "a listed value is not of the declared type (17)",
    "variable": "the value names a variable; the tool takes its name beside the declared type (17)",
    "undeclared-parameter": "the gold lists a parameter that the function does not declare (18)",
    "unlisted-required": "the function requires a parameter that the gold does not list (18)",
    "required-may-be-omitted": "the gold lets a required parameter be omitted; it may not be (14, 18)",
    "unknown-function": "the gold calls a function that is not offered",
    "no-values": "the gold lists no value for a parameter",
    "unpassable": "every value listed for a parameter breaks its schema, so that no answer can pass (15)",
    "no-gold": "the case has no gold",
    "one-call-in-parallel": "a case of a parallel category with gold for one call alone (20)",
    "enum-of-other-type": "an enum in a schema has members that are not of its type (27)",
    "schema": "a schema of the function is none, as published",
    "colliding-names": "two functions have one name, or one after `.` has become `_` (7)",
    "repeated-id": "an id stands twice in a file; the first stays (33)",
    "unreadable-call": "a call of the gold cannot be read",
    "turns": "the case and its gold have not the same number of turns",
}
"""Kind -> what it means; numbers are those of scoring-faults."""


class Defect(NamedTuple):
    """One finding. `kind` is a key of KINDS."""

    kind: str
    message: str
