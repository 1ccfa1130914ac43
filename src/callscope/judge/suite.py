"""Questions as the cases of a suite, so that asking a judge is a run like any other. Pure.

A case is a question in one order. Its id is the question's with the order; what the judge is shown is the case's
prompt, and the question, with what is known of a sentinel, is kept in the case's metadata, which no request holds.
The cases stand in the order of their ids, which are hashes: sentinels stand among the rest.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from callscope.contract import Case, Suite
from callscope.jsontext import dump_faithful
from callscope.judge.prompting import TOOL, prompt_file, prompt_hashes, prompt_version, render
from callscope.judge.questions import Order, Question
from callscope.judge.sentinels import Sentinel
from callscope.suites import load_suite_bytes

__all__ = ["SUITE_NAME", "Put", "case_id", "judge_suite", "put_of"]

SUITE_NAME = "judge"


class Put(Struct, frozen=True, omit_defaults=True):
    """A question as it was put in one call."""

    question: Question
    order: Order
    sentinel: Sentinel | None = None


class _Metadata(Struct, frozen=True):
    judge: Put


class _Row(NamedTuple):
    id: str
    put: Put


def case_id(question: str, order: Order) -> str:
    """The id of the case that puts a question (by its id) in an order."""
    return f"{question}-{order}"


def judge_suite(
    questions: Mapping[str, Question],
    sentinels: Mapping[str, Sentinel],
    orders: Mapping[str, Collection[Order]] | Collection[Order],
) -> Suite:
    """The suite that asks questions (by id) in the given orders: the same for all, or by question id.

    `sentinels` says which of the questions are sentinels.
    """
    rows = sorted(_rows(questions, sentinels, orders))
    about = {
        "name": SUITE_NAME,
        "version": prompt_version(),
        "title": f"Questions to a judge; question.txt {prompt_hashes()['question.txt']}",
    }
    return load_suite_bytes(
        {
            "system.txt": prompt_file("system.txt"),
            "tools.core.json": prompt_file("tools.core.json"),
            "cases.jsonl": b"".join(dump_faithful(_case(row)) + b"\n" for row in rows),
            "suite.toml": "".join(f"{name} = {json.dumps(value)}\n" for name, value in about.items()).encode(),
        },
        name=SUITE_NAME,
    )


def _rows(
    questions: Mapping[str, Question],
    sentinels: Mapping[str, Sentinel],
    orders: Mapping[str, Collection[Order]] | Collection[Order],
) -> Iterator[_Row]:
    for name, question in questions.items():
        for order in orders[name] if isinstance(orders, Mapping) else orders:
            yield _Row(case_id(name, order), Put(question, order, sentinels.get(name)))


def _case(row: _Row) -> dict[str, Any]:
    well_formed = {"type": "array", "minItems": 1}
    return {
        "id": row.id,
        "prompt": render(row.put.question, row.put.order),
        "expected": {"kind": "tool", "name": TOOL, "arguments": {"constraints": {"verdicts": well_formed}}},
        "family": row.id.partition("-")[0],
        "metadata": {"judge": msgspec.to_builtins(row.put)},
    }


def put_of(case: Case) -> Put | None:
    """What a case of such a suite put; None for a case of any other."""
    try:
        return msgspec.convert(case.metadata, _Metadata).judge
    except msgspec.ValidationError:
        return None
