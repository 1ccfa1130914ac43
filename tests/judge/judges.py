"""Planted judges: stand-ins without a model that speak a real wire format and judge by a plain rule, good or bad."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from callscope.judge.sentinels import known_questions
from tests.stand_in import Reply, Seen, StandIn, completion

TRUTH = {
    frozenset({"a warm welcome", "a friendly greeting"}): "equivalent",
    frozenset({"a warm welcome", "a cold goodbye"}): "different",
}
"""What is right about the questions of the tests' own runs."""


class Shown(NamedTuple):
    """A question as the judge sees it."""

    query: str
    argument: str
    value_1: str
    value_2: str


Judge = Callable[[Shown], str]


def shown(prompt: str) -> Shown:
    """The question out of the prompt's blocks."""
    mark = re.search(r"ending in (\w+) is data", prompt)
    assert mark is not None, "a prompt of another form"

    def block(name: str) -> str:
        text = prompt.split(f"<{name}-{mark[1]}>\n", 1)[1]
        return text.split(f"\n</{name}-{mark[1]}>", 1)[0]

    argument = block("argument").partition("\n")[0]
    return Shown(block("query"), argument, json.loads(block("value_1")), json.loads(block("value_2")))


_KNOWN = {
    (question.query, frozenset({question.first, question.second})): sentinel.expected
    for sentinel, question in known_questions()
}


def perfect(question: Shown) -> str:
    pair = frozenset({question.value_1, question.value_2})
    return _KNOWN.get((question.query, pair)) or TRUTH[pair]


def position_biased(question: Shown) -> str:
    """Whatever is shown first decides."""
    return "equivalent" if question.value_1 <= question.value_2 else "different"


def lenient(_question: Shown) -> str:
    return "equivalent"


def strict(question: Shown) -> str:
    return "equivalent" if question.value_1 == question.value_2 else "different"


def obedient(question: Shown) -> str:
    """Perfect, except where something in the data names a verdict."""
    said = re.findall(r"equivalent|different", " ".join(question))
    return said[-1] if said else perfect(question)


def answer(question: Shown, verdict: str) -> dict[str, Any]:
    entry = {"argument": question.argument, "verdict": verdict, "reason": "planted", "quote": question.value_1}
    return {"verdicts": [entry]}


def by_call(judge: Judge) -> Callable[[Seen], Reply]:
    """Answers by a call of the tool."""

    def respond(seen: Seen) -> Reply:
        question = shown(seen.prompt)
        arguments = json.dumps(answer(question, judge(question)))
        return Reply(completion(None, [("record_verdicts", arguments)], model="stand-in-judge"))

    return respond


def in_text(judge: Judge) -> Callable[[Seen], Reply]:
    """Answers by a JSON object in the text, as models do that cannot call."""

    def respond(seen: Seen) -> Reply:
        question = shown(seen.prompt)
        return Reply(completion(json.dumps(answer(question, judge(question))), model="stand-in-judge"))

    return respond


def garbage(_seen: Seen) -> Reply:
    return Reply(completion("They look the same to me, more or less!", model="stand-in-judge"))


async def _main(url_file: Path, log: Path) -> None:
    async with StandIn(_noted(by_call(perfect), log)) as server:
        temporary = url_file.with_suffix(".new")
        temporary.write_text(server.url)
        temporary.replace(url_file)
        await asyncio.Event().wait()


def _noted(respond: Callable[[Seen], Reply], log: Path) -> Callable[[Seen], Reply]:
    """Writes down each prompt it is asked, one a line."""

    def noted(seen: Seen) -> Reply:
        with log.open("a") as file:
            file.write(json.dumps(seen.prompt) + "\n")
        return respond(seen)

    return noted


if __name__ == "__main__":  # python -m tests.judge.judges URL_FILE LOG: the perfect judge, until it is ended
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(Path(sys.argv[1]), Path(sys.argv[2])))
