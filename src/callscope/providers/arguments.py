"""Raw arguments as a wire format carried them -> a JSON object, or a malformed attempt. Nothing is repaired.

Absent, null and "" are {} with a flag; a string holding a string that holds an object is that object, flagged
`double_encoded`, once and only at the top. What is inside the object stays as it is.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from callscope.contract import Malformed
from callscope.jsontext import JsonFault, dump_faithful, parse_json

__all__ = ["ABSENT", "Arguments", "read_argument_object", "read_arguments"]


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
    """Arguments that should be a JSON object already (Anthropic, Gemini, Bedrock, Ollama)."""
    if isinstance(raw, dict):
        return Arguments(raw, None, ())
    if raw is None:
        return Arguments({}, None, ("null_arguments",))
    if raw is ABSENT:
        return Arguments({}, None, ("absent_arguments",))
    if raw == "":
        return Arguments({}, None, ("empty_arguments",))
    if isinstance(raw, str):
        return Arguments(None, Malformed("not_an_object", raw), ())
    return Arguments(None, Malformed("not_an_object", dump_faithful(raw).decode("utf-8")), ())


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
