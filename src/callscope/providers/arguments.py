"""Raw arguments as a wire format carried them -> a JSON object, or a malformed attempt. Nothing is repaired.

Absent, null and "" are {} with a flag; a string holding a string that holds an object is that object, flagged
`double_encoded`, once and only at the top. What is inside the object stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from callscope.contract import Malformed
from callscope.jsontext import BadNumber, JsonFault, dump_faithful, parse_json

__all__ = [
    "ABSENT",
    "Arguments",
    "mark_precision",
    "read_argument_object",
    "read_arguments",
    "read_doubles_object",
    "read_object_or_text",
]


_MARKED = re.compile(r'"\\u0000([0-9]{1,9})\\u0000"')


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""Stands for an arguments key that is not there."""


class Arguments(NamedTuple):
    """Either `value` (a JSON object) or `malformed` is set; `flags` out of callscope.providers.flags.FLAGS."""

    value: dict[str, Any] | None
    malformed: Malformed | None
    flags: tuple[str, ...]


def read_arguments(raw: Any) -> Arguments:
    """Arguments that should be a string of JSON (OpenAI, Mistral, Cohere). Total: any value is read or malformed."""
    if isinstance(raw, str):
        return _read_text(raw)
    if raw is None:
        return Arguments({}, None, ("null_arguments",))
    if raw is ABSENT:
        return Arguments({}, None, ("absent_arguments",))
    read = read_argument_object(raw)
    return read._replace(flags=(*read.flags, "arguments_not_a_string"))


def read_argument_object(raw: Any) -> Arguments:
    """Arguments that should be a JSON object already (Anthropic, Gemini, Bedrock, Ollama).

    A text that holds one is encoded once more than it should be (livekit#5411): flagged `double_encoded`.
    """
    if isinstance(raw, dict):
        bad = list(_bad_numbers(raw))
        return Arguments(None, _spoiled(raw, bad[0].token), ()) if bad else Arguments(raw, None, ())
    if raw is None:
        return Arguments({}, None, ("null_arguments",))
    if raw is ABSENT:
        return Arguments({}, None, ("absent_arguments",))
    if raw == "":
        return Arguments({}, None, ("empty_arguments",))
    if isinstance(raw, str):
        read = _read_text(raw)
        doubled = read._replace(flags=(*read.flags, "double_encoded"))
        return doubled if read.value is not None else Arguments(None, Malformed("not_an_object", raw), ())
    return Arguments(None, Malformed("not_an_object", dump_faithful(raw).decode("utf-8")), ())


def _bad_numbers(value: dict[str, Any] | list[Any]) -> Iterator[BadNumber]:
    """The numbers in it that JSON does not have."""
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, BadNumber):
            yield item
        elif isinstance(item, (dict, list)):
            yield from _bad_numbers(item)


def _spoiled(raw: dict[str, Any], token: str) -> Malformed:
    """Arguments that hold such a number, written as they came."""
    tokens: list[str] = []

    def marked(value: Any) -> Any:
        if isinstance(value, BadNumber):
            tokens.append(value.token)
            return f"\0{len(tokens) - 1}\0"
        if isinstance(value, dict):
            return {key: marked(item) for key, item in value.items()}
        return [marked(item) for item in value] if isinstance(value, list) else value

    text = dump_faithful(marked(raw)).decode("utf-8")
    text = _MARKED.sub(lambda mark: tokens[int(mark[1])] if int(mark[1]) < len(tokens) else mark[0], text)
    number = token.lstrip("-")
    return Malformed("number_out_of_range" if number[:1].isdigit() else "not_a_json_number", text)


def read_object_or_text(raw: Any) -> Arguments:
    """Arguments that should be a JSON object, of a server whose relays send the text of one (Ollama).

    Such a text is encoded once more than it should be: flagged `double_encoded` where it is an object, else malformed.
    """
    if not isinstance(raw, str):
        return read_argument_object(raw)
    read = _read_text(raw)
    return read._replace(flags=(*read.flags, "double_encoded")) if raw and read.value is not None else read


def read_doubles_object(raw: Any) -> Arguments:
    """Arguments that should be a JSON object, of a server that holds numbers as doubles (Gemini, Nova on Bedrock).

    A Malformed stands for arguments that are known to be bad.
    """
    return Arguments(None, raw, ()) if isinstance(raw, Malformed) else mark_precision(read_argument_object(raw))


def mark_precision(read: Arguments) -> Arguments:
    """`precision_lost` where a whole number is written as a float beyond 2^53 (adk-python#3592: 1e16): it may not be
    the one the model meant."""
    return read._replace(flags=(*read.flags, "precision_lost")) if _lost_precision(read.value) else read


def _lost_precision(value: Any) -> bool:
    """Whether a float in it is whole and too big to be exact."""
    if isinstance(value, dict):
        return any(map(_lost_precision, value.values()))
    if isinstance(value, list):
        return any(map(_lost_precision, value))
    return isinstance(value, float) and abs(value) >= 2.0**53


def _read_text(text: str) -> Arguments:
    if not text:
        return Arguments({}, None, ("empty_arguments",))
    try:
        value, flags = parse_json(text)
    except JsonFault as fault:
        return Arguments(None, Malformed(fault.reason, text), ())
    if isinstance(value, dict):
        return Arguments(value, None, flags)
    if isinstance(value, str):
        try:
            inner, flags = parse_json(value)
        except JsonFault:
            inner = None
        if isinstance(inner, dict):
            return Arguments(inner, None, ("double_encoded", *flags))
    return Arguments(None, Malformed("not_an_object", text), ())
