"""A question to a judge: do two values of one argument mean the same? Pure data, with nothing in it that tells gold.

The two values stand in the order of their canonical forms, so the question is the same whichever of them is gold, and
so are its id and the requests made of it. Which value is shown first is decided by a hash for each call:

| order | shown first                                    |
|-------|------------------------------------------------|
| a     | by a hash of the question                      |
| b     | the other one                                  |
| c     | by another hash of the question                |

Two values that are one and the same make one request in any order, so such a question is asked once.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from callscope.canonical import canonical, canonical_hash

__all__ = [
    "FIRST_ORDERS",
    "THIRD_ORDER",
    "Order",
    "Question",
    "first_orders",
    "make_question",
    "question_id",
    "shown_values",
]

Order = Literal["a", "b", "c"]
FIRST_ORDERS: tuple[Order, Order] = ("a", "b")
THIRD_ORDER: Order = "c"


class Question(Struct, frozen=True, omit_defaults=True):
    """One argument and two values for it, as a judge is asked; make it with `make_question`.

    `query` is what the user said, `reference_time` (ISO 8601) when; `schema` is the argument's part of the tool's
    JSON Schema. `first` and `second` are JSON values in canonical order, not in the order shown.
    """

    query: str
    tool: str
    description: str
    argument: str
    schema: Any
    first: Any
    second: Any
    reference_time: str | None = None


def make_question(
    *,
    query: str,
    tool: str,
    description: str,
    argument: str,
    schema: Any,
    values: tuple[Any, Any],
    reference_time: str | None = None,
) -> Question:
    """A question about two values, given in any order."""
    first, second = sorted(values, key=canonical)
    return Question(query, tool, description, argument, schema, first, second, reference_time)


def question_id(question: Question) -> str:
    """What names the question: 16 hex digits of a hash over all that a judge is shown of it."""
    return canonical_hash(msgspec.to_builtins(question))[:16]


def first_orders(question: Question) -> tuple[Order, ...]:
    """The orders in which a question is first asked: both, or one where they show the same."""
    return FIRST_ORDERS[:1] if canonical(question.first) == canonical(question.second) else FIRST_ORDERS


def shown_values(question: Question, order: Order) -> tuple[Any, Any]:
    """`value_1` and `value_2` as shown in a call of this order."""
    salt = "c" if order == "c" else "a"
    swapped = int(canonical_hash([question_id(question), salt])[:2], 16) % 2 == 1
    if order == "b":
        swapped = not swapped
    return (question.second, question.first) if swapped else (question.first, question.second)
