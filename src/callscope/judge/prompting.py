"""The judge's prompt, out of the versioned files in `prompts/`: system text, tool, and the text of a question.

What people and models wrote stands only between tags whose names end in a mark that depends on the content, so that
nothing in the content can close its own block. The argument's name stands once more in the closing line where it is
plainly a name; a tool of somebody else's may call an argument anything.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from callscope.canonical import sha256_hex
from callscope.jsontext import dump_faithful
from callscope.judge.questions import Order, Question, question_id, shown_values

__all__ = ["PROMPT_FILES", "TOOL", "prompt_file", "prompt_hashes", "prompt_version", "render"]

TOOL = "record_verdicts"
"""The tool by which a judge answers."""

PROMPT_FILES = ("system.txt", "question.txt", "tools.core.json")
_VERSION = "1"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.$-]{1,64}")


@cache
def prompt_file(name: str) -> bytes:
    """The exact bytes of one of PROMPT_FILES."""
    return files("callscope.judge").joinpath("prompts", name).read_bytes()


def prompt_hashes() -> dict[str, str]:
    """File name -> SHA-256 of its exact bytes."""
    return {name: sha256_hex(prompt_file(name)) for name in PROMPT_FILES}


def prompt_version() -> str:
    """The version of the prompt as a whole: a number, and a hash over all its files."""
    return f"{_VERSION}+{sha256_hex(b''.join(prompt_file(name) for name in PROMPT_FILES))[:12]}"


def render(question: Question, order: Order) -> str:
    """The user message of one call. Strings of the two values stand in it as JSON text."""
    first, second = shown_values(question, order)
    query = question.query
    if question.reference_time is not None:
        query = f"{query}\n(said at {question.reference_time})"
    parts = {
        "query": query,
        "tool": question.tool,
        "description": question.description,
        "argument": question.argument,
        "named": question.argument if _PLAIN_NAME.fullmatch(question.argument) else "named above",
        "schema": _json(question.schema),
        "value_1": _json(first),
        "value_2": _json(second),
    }
    parts["mark"] = _mark(question, parts)
    text = prompt_file("question.txt").decode("utf-8")
    pieces = text.split("{{")
    # filled in one pass, so that a value which holds `{{query}}` stays what it is
    return pieces[0] + "".join(parts[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))


def _json(value: Any) -> str:
    return dump_faithful(value).decode("utf-8")


def _mark(question: Question, parts: dict[str, str]) -> str:
    """The shortest part of the question's id, of eight digits or more, that its content does not hold."""
    name = question_id(question)
    content = "\n".join(parts.values())
    return next((name[:length] for length in range(8, 17) if name[:length] not in content), name * 2)
