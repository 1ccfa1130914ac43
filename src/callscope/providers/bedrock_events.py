"""AWS event streams (`application/vnd.amazon.eventstream`) read from their raw bytes, checksums tested.

A frame: total length, length of its headers, CRC-32 of these eight bytes; headers; payload; CRC-32 of all before it
(Smithy's "Amazon Event Stream Specification"). Not for the meaning of the payloads. Never raises, on any bytes.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

__all__ = ["Frame", "Frames", "looks_like_frames", "read_frames"]

_PRELUDE = 12
_CHECK = 4
# Bytes of a header value by its type; None: a length of two bytes comes first. Types 0 and 1 are true and false.
_WIDTHS = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: None, 7: None, 8: 8, 9: 16}
_STRING = 7


class Frame(NamedTuple):
    """One frame: its headers of string type, its payload, and the offset just past it."""

    headers: dict[str, str]
    payload: bytes
    end: int


class Frames(NamedTuple):
    """The frames of a body up to the first that cannot be relied on. `fault`: None, stream_cut (the last one is torn)
    or corrupt_frame (lengths or a checksum do not fit; nothing behind it is read)."""

    frames: tuple[Frame, ...]
    fault: str | None


def looks_like_frames(body: bytes) -> bool:
    """Whether `body` begins with a frame's lengths and their checksum, or with the first bytes of one."""
    if len(body) >= _PRELUDE:
        return crc32(body[:8]) == int.from_bytes(body[8:_PRELUDE], "big")
    return body[:1] == b"\0"


def read_frames(body: bytes) -> Frames:
    """The frames of `body` in order."""
    frames: list[Frame] = []
    start = 0
    while start < len(body):
        prelude = body[start : start + _PRELUDE]
        if len(prelude) < _PRELUDE:
            return Frames(tuple(frames), "stream_cut")
        total, length = int.from_bytes(prelude[:4], "big"), int.from_bytes(prelude[4:8], "big")
        sound = crc32(prelude[:8]) == int.from_bytes(prelude[8:], "big") and total >= _PRELUDE + length + _CHECK
        if not sound:
            return Frames(tuple(frames), "corrupt_frame")
        end = start + total
        if end > len(body):
            return Frames(tuple(frames), "stream_cut")
        headers = _headers(body[start + _PRELUDE : start + _PRELUDE + length])
        if headers is None or crc32(body[start : end - _CHECK]) != int.from_bytes(body[end - _CHECK : end], "big"):
            return Frames(tuple(frames), "corrupt_frame")
        frames.append(Frame(headers, body[start + _PRELUDE + length : end - _CHECK], end))
        start = end
    return Frames(tuple(frames), None)


def _headers(block: bytes) -> dict[str, str] | None:
    """Name and value of each header that is a string; None where the block does not add up."""
    found: dict[str, str] = {}
    at = 0
    while at < len(block):
        name_end = at + 1 + block[at]
        kind = block[name_end] if name_end < len(block) else -1
        if kind not in _WIDTHS:
            return None
        value_at = name_end + 1
        width = _WIDTHS[kind]
        if width is None:
            width = int.from_bytes(block[value_at : value_at + 2], "big")
            value_at += 2
        if value_at + width > len(block):
            return None
        if kind == _STRING:
            name = block[at + 1 : name_end].decode("utf-8", "replace")
            found[name] = block[value_at : value_at + width].decode("utf-8", "replace")
        at = value_at + width
    return found
