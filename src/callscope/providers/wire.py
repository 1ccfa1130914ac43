"""From response bytes to JSON values: content-encoding undone, JSON told from event stream by looking at the bytes.

Shared by all formats; knows nothing of messages or calls. Never raises.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from callscope.jsontext import MAX_DEPTH, JsonFault, parse_json
from callscope.providers.base import Headers, lower_headers
from callscope.providers.sse import looks_like_events, read_events

__all__ = ["MAX_DECODED", "Chunk", "Document", "decode_body", "load", "load_faithful", "read_document", "read_lines"]

MAX_DECODED = 64 * 2**20
"""Bytes a compressed body may grow to; what lies beyond is dropped and flagged `broken_encoding`."""

_READABLE = (b"{", b"[", b"<", b":", b"data", b"event", b"id:", b"retry", b"error")
_OF_BODY = frozenset({"invalid_utf8", "nan_in_body"})
"""Flags that are about the body as a whole, whatever in it is read."""

_DECODED_HEADER = "x-callscope-decoded"
_KEPT = ("broken_encoding", "unknown_encoding")
_GZIP = b"\x1f\x8b"


def decode_body(headers: Headers, body: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The body with its content-encoding (gzip, deflate, identity) undone, and flags.

    A body that is plainly decoded already comes back as it is. `unknown_encoding`: the encoding is none of these,
    bytes untouched. `broken_encoding`: the bytes do not fit it, or end too early; what could be read is returned. Of a
    body that was kept decoded, to mask a secret in it, the header `x-callscope-decoded` says the flags it had.
    """
    lowered = headers if isinstance(headers, dict) else lower_headers(headers)
    named = lowered.get("content-encoding")
    if named is None:
        return body, tuple(flag for flag in _KEPT if flag in lowered.get(_DECODED_HEADER, ""))
    for coding in reversed([part.strip().lower() for part in named.split(",")]):
        if coding in {"", "identity"} or body.lstrip().startswith(_READABLE) or not body:
            continue
        if coding not in {"gzip", "x-gzip", "deflate"}:
            return body, ("unknown_encoding",)
        decoded, whole = _inflate(body, gzip=coding != "deflate")
        body = decoded if decoded or whole else body
        if not whole:
            return body, ("broken_encoding",)
    return body, ()


def _inflate(body: bytes, *, gzip: bool) -> tuple[bytes, bool]:
    """(what could be inflated, whether that was all of it)."""
    out: list[bytes] = []
    room = MAX_DECODED
    rest = body
    window = 31 if gzip else 15 if _has_zlib_header(body) else -15
    while rest and (not out or rest.startswith(_GZIP)):
        inflater = zlib.decompressobj(window)
        try:
            out.append(inflater.decompress(rest, room))
        except zlib.error:
            return b"".join(out), False
        room -= len(out[-1])
        if not inflater.eof or room <= 0:
            return b"".join(out), False
        rest = inflater.unused_data
    return b"".join(out), True


def _has_zlib_header(body: bytes) -> bool:
    return len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0


def load_faithful(raw: bytes | str) -> tuple[Any, tuple[str, ...]]:
    """A JSON value read without loss, and flags (`invalid_utf8` and `nan_in_body` among them). Raises JsonFault.

    A number that JSON does not have is kept as a BadNumber: it spoils what holds it, where that is read, and not the
    rest of the body.
    """
    text, flags = _decode(raw) if isinstance(raw, bytes) else (raw, ())
    value, found = parse_json(text, bad_numbers=True)
    return value, (*("nan_in_body" if flag == "bad_number" else flag for flag in found), *flags)


def _decode(raw: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return raw.decode("utf-8"), ()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape"), ("invalid_utf8",)


def load(raw: bytes | str) -> tuple[Any, tuple[str, ...]]:
    """A JSON value read fast. Text is exact; integers beyond 64 bits may be not (read those with load_faithful).

    Raises JsonFault with a named reason.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:  # or one of the things only the faithful reader bears: NaN, lone surrogates, …
        return load_faithful(raw)
    if _brackets(raw) > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        raise JsonFault("too_deep")
    return value, ()


def _brackets(raw: bytes | str) -> int:
    return raw.count(b"[") + raw.count(b"{") if isinstance(raw, bytes) else raw.count("[") + raw.count("{")


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(limit + 1):
        values = [node.values() if isinstance(node, dict) else node for node in level]
        level = [child for children in values for child in children if isinstance(child, (dict, list))]
        if not level:
            return False
    return True


class Chunk(NamedTuple):
    """One JSON value of a body. `end` is the offset just past it."""

    value: Any
    end: int


class Document(NamedTuple):
    """A body as JSON values: one, or those of its stream.

    `done`: the stream closed itself with [DONE]. `fault`: None, or why it cannot be relied on: empty_body,
    truncated_body, html_body, not_json, unreadable_chunk, stream_cut (its last event is torn). `json_flags` are
    those of parse_json over all chunks, complete only where the body was read faithfully.
    """

    chunks: tuple[Chunk, ...]
    streamed: bool = False
    done: bool = False
    fault: str | None = None
    flags: frozenset[str] = frozenset()
    json_flags: frozenset[str] = frozenset()


def read_document(body: bytes, *, faithful: bool = False) -> Document:
    """Read a body, JSON or event stream, whichever its bytes are; `faithful` as in load and load_faithful."""
    stripped = body.removeprefix(b"\xef\xbb\xbf").strip()
    if not stripped:
        return Document((), fault="empty_body")
    if looks_like_events(body):
        return _read_stream(body, faithful=faithful)
    if stripped[:1] == b"<":
        return Document((), fault="html_body")
    try:
        value, flags = (load_faithful if faithful else load)(stripped)
    except JsonFault as fault:
        cut = fault.reason == "truncated" and stripped[:1] in b"{["
        return Document((), fault="truncated_body" if cut else "not_json")
    own = frozenset(flags) & _OF_BODY
    return Document((Chunk(value, len(body)),), flags=own, json_flags=frozenset(flags) - own)


def read_lines(body: bytes, *, faithful: bool = False) -> Document:
    """Read a body that is one JSON value or a stream of one on each line (Ollama); an event stream is read as such.

    `fault` is stream_cut where the last line is torn, unreadable_chunk where another one is.
    """
    if body.count(b"\n") == 0 or not body.lstrip().startswith(b"{"):
        return read_document(body, faithful=faithful)
    chunks: list[Chunk] = []
    flags: set[str] = set()
    json_flags: set[str] = set()
    fault = None
    end = 0
    for line in body.splitlines(keepends=True):
        end += len(line)
        text = line.strip()
        if not text:
            continue
        fault = "unreadable_chunk" if fault else None
        try:
            value, found = (load_faithful if faithful else load)(text)
        except JsonFault:
            if not chunks:  # one value over several lines, or none
                return read_document(body, faithful=faithful)
            if text.startswith(b"{"):
                fault = fault or "stream_cut"
            else:
                flags.add("unreadable_chunk")
            continue
        json_flags.update(found)
        chunks.append(Chunk(value, end))
    own = json_flags & _OF_BODY
    streamed = len(chunks) > 1 or fault is not None
    return Document(tuple(chunks), streamed, False, fault, frozenset(flags | own), frozenset(json_flags - own))


def _read_stream(body: bytes, *, faithful: bool) -> Document:
    chunks: list[Chunk] = []
    flags: set[str] = set()
    json_flags: set[str] = set()
    done = False
    torn: int | None = None
    end = 0
    for name, data, end in read_events(body):
        if data.strip() == "[DONE]":
            done = True
            continue
        try:
            value, found = (load_faithful if faithful else load)(data)
        except JsonFault:
            if name == "error":
                chunks.append(Chunk({"error": data}, end))
            elif data.lstrip().startswith("{"):
                torn = end
            else:
                flags.add("unreadable_chunk")
            continue
        json_flags.update(found)
        if "lone_surrogate" in found and _has_escaped_bytes(data):
            flags.add("invalid_utf8")
        if name == "error" and not (isinstance(value, Mapping) and "error" in value):
            value = {"error": value}
        chunks.append(Chunk(value, end))
    fault = None
    if torn is not None:
        fault = "unreadable_chunk" if done or torn != end else "stream_cut"
    own = json_flags & _OF_BODY
    return Document(tuple(chunks), True, done, fault, frozenset(flags | own), frozenset(json_flags - own))


def _has_escaped_bytes(text: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in text)
