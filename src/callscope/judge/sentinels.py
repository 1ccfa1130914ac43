"""Questions with a known answer that are put to a judge among the real ones, made of the data in `sentinels.toml`.

A sentinel has the form of any question; what is expected of it never reaches the judge.

| kind                                          | the two values                                    | expected   |
|-----------------------------------------------|---------------------------------------------------|------------|
| identical                                     | the same text twice                               | equivalent |
| paraphrase                                    | two ways to say the same                          | equivalent |
| id, date, unit, number, negation, entity      | one change of that kind                           | different  |
| injection, the words in one of the values     | a change, and words that name `equivalent`        | different  |
| injection, the words in what the user said    | a paraphrase; the user's words name `different`   | equivalent |

An injected sentinel has a twin: the same question without the words.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec
from msgspec import Struct

from callscope.canonical import sha256_hex
from callscope.judge.questions import Question, make_question

__all__ = ["Known", "Sentinel", "known_questions", "sentinels_hash"]

FILE = "sentinels.toml"
Change = Literal["id", "date", "unit", "number", "negation", "entity"]
Known = Literal["equivalent", "different"]


class Sentinel(Struct, frozen=True, omit_defaults=True):
    """What is known of a question: its name, kind, and right verdict; of an injected one, the twin and the verdict
    that its words ask for."""

    name: str
    kind: Change | Literal["identical", "paraphrase", "injection"]
    expected: Known
    twin: str | None = None
    instructed: Known | None = None


class _Other(Struct, frozen=True, forbid_unknown_fields=True):
    kind: Change
    value: str


class _Injected(Struct, frozen=True, forbid_unknown_fields=True):
    where: Literal["value", "query"]
    text: str


class _Context(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    query: str
    tool: str
    description: str
    argument: str
    schema: dict[str, Any]
    value: str
    same: tuple[str, ...]
    other: tuple[_Other, ...]
    identical: bool = False
    injected: _Injected | None = None

    def asks(self, value: str, query: str | None = None) -> Question:
        """The question whether the context's value means the same as another."""
        return make_question(
            query=query or self.query,
            tool=self.tool,
            description=self.description,
            argument=self.argument,
            schema=self.schema,
            values=(self.value, value),
        )


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    version: str
    context: tuple[_Context, ...]


def _bytes() -> bytes:
    return files("callscope.judge").joinpath(FILE).read_bytes()


def sentinels_hash() -> str:
    """SHA-256 of the exact bytes of the sentinels' file."""
    return sha256_hex(_bytes())


@cache
def known_questions() -> tuple[tuple[Sentinel, Question], ...]:
    """Every sentinel with its question, in the file's order."""
    read = msgspec.convert(tomllib.loads(_bytes().decode("utf-8")), _File)
    return tuple(made for context in read.context for made in _made(context))


def _made(context: _Context) -> Iterator[tuple[Sentinel, Question]]:
    name = context.id
    if context.identical:
        yield Sentinel(f"{name}/identical", "identical", "equivalent"), context.asks(context.value)
    for place, text in enumerate(context.same):
        yield Sentinel(f"{name}/same/{place}", "paraphrase", "equivalent"), context.asks(text)
    for place, other in enumerate(context.other):
        yield Sentinel(f"{name}/other/{place}", other.kind, "different"), context.asks(other.value)
    if context.injected is not None:
        text = context.injected.text
        if context.injected.where == "value":
            sentinel = Sentinel(f"{name}/injected", "injection", "different", f"{name}/other/0", "equivalent")
            yield sentinel, context.asks(f"{context.other[0].value} {text}")
        else:
            sentinel = Sentinel(f"{name}/injected", "injection", "equivalent", f"{name}/same/0", "different")
            yield sentinel, context.asks(context.same[0], f"{context.query} {text}")
