"""Event streams read from their raw bytes, by the rules of the HTML standard (server-sent events).

Two things differ on purpose: a last event without its blank line is yielded (a cut stream must be seen), and a line
`error: …`, which some servers write, is an event named error. Not for the meaning of the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Event", "looks_like_events", "read_events"]

_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")
_START = re.compile(rb"(?:data|event|id|retry|error)?:")
_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event. `name` is "message" where none was given; `end` is the offset just past its last byte."""

    name: str
    data: str
    end: int


def looks_like_events(body: bytes) -> bool:
    """Whether the first line that is not blank is a line of an event stream."""
    return _START.match(body.removeprefix(_BOM).lstrip(b"\r\n")) is not None


def read_events(body: bytes) -> Iterator[Event]:
    """The events of `body` in order; comments, ids, retry hints and events without data are left out.

    Bytes that are no UTF-8 become lone surrogates (surrogateescape), so that nothing is lost and nothing raises.
    """
    name = b""
    data: list[bytes] = []
    position = len(_BOM) if body.startswith(_BOM) else 0
    for line in _LINE.finditer(body, position):
        content = line.group(1)
        if content:
            field, _, value = content.partition(b":")
            value = value[1:] if value.startswith(b" ") else value
            if field == b"data":
                data.append(value)
            elif field == b"event":
                name = value
            elif field == b"error" and value:
                name = field
                data.append(value)
        if data and (not content or line.end() == len(body)):
            text = b"\n".join(data).decode("utf-8", "surrogateescape")
            yield Event(name.decode("utf-8", "replace") or "message", text, line.end())
        if not content:
            name, data = b"", []
        elif line.end() == len(body):
            return
