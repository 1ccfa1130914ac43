"""How a record stands on one line of records.jsonl, and how it is read back to the very same bytes.

A body is a list of pieces: text, a reference to a blob that many bodies share, or base64 where bytes are no UTF-8. Tool
results and transformations may hold anything a model said, so they are kept as faithful JSON text. Pure.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct, structs

from callscope.contract import Exchange, Record, Round, Timing, ToolResult, Transformation, TransportFault, TrialKey
from callscope.jsontext import dump_faithful, escape_surrogates

__all__ = ["RECORD_SCHEMA", "Frame", "StoredRecord", "decode_record", "encode_record", "record_key"]

RECORD_SCHEMA: Literal["callscope/record/1"] = "callscope/record/1"


class Frame(NamedTuple):
    """The parts that the bodies of many trials share: everything before and everything after the prompt."""

    before: bytes
    after: bytes


class Piece(Struct, frozen=True, omit_defaults=True):
    """A piece of a body that is not plain text: the SHA-256 of a blob, or base64 of bytes."""

    blob: str | None = None
    base64: str | None = None


class StoredExchange(Struct, frozen=True, omit_defaults=True):
    """An exchange on disk: `Exchange` with bodies as pieces."""

    attempt: int
    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...]
    request: tuple[str | Piece, ...]
    started_at: str
    status: int | None
    response_headers: tuple[tuple[str, str], ...]
    response: tuple[str | Piece, ...]
    timing: Timing
    fault: TransportFault | None = None
    chunks: tuple[tuple[int, float], ...] = ()
    redactions: int = 0


class StoredRound(Struct, frozen=True, omit_defaults=True):
    """A round on disk; `tool_results` is a JSON array as text, empty where there were none."""

    exchanges: tuple[StoredExchange, ...]
    tool_results: str = ""


class StoredRecord(Struct, frozen=True, omit_defaults=True):
    """A line of records.jsonl. `transformations` is a JSON array as text, empty where there were none."""

    schema: Literal["callscope/record/1"]
    key: TrialKey
    api: str
    stream: bool
    started_at: str
    rounds: tuple[StoredRound, ...]
    transformations: str = ""
    notes: tuple[str, ...] = ()
    stopped: str | None = None
    harness_error: str | None = None


class _KeyOnly(Struct, frozen=True):
    key: TrialKey


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(StoredRecord)
_KEY_DECODER = msgspec.json.Decoder(_KeyOnly)


def _pieces(body: bytes, frame: Frame | None, keep: Callable[[bytes], str]) -> tuple[str | Piece, ...]:
    if frame is not None and len(body) >= len(frame.before) + len(frame.after):
        end = len(body) - len(frame.after)
        if body.startswith(frame.before) and body.endswith(frame.after):
            middle = body[len(frame.before) : end]
            return (Piece(blob=keep(frame.before)), _piece(middle), Piece(blob=keep(frame.after)))
    return (_piece(body),) if body else ()


def _piece(data: bytes) -> str | Piece:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return Piece(base64=base64.b64encode(data).decode("ascii"))


def _joined(pieces: tuple[str | Piece, ...], blob: Callable[[str], bytes]) -> bytes:
    return b"".join(_bytes(piece, blob) for piece in pieces)


def _bytes(piece: str | Piece, blob: Callable[[str], bytes]) -> bytes:
    if isinstance(piece, str):
        return piece.encode("utf-8")
    if piece.blob is not None:
        return blob(piece.blob)
    return base64.b64decode(piece.base64 or "", validate=True)


def _writable(fault: TransportFault) -> TransportFault:
    return structs.replace(fault, message=escape_surrogates(fault.message))


def _faithful_text(value: Any) -> str:
    return dump_faithful(msgspec.to_builtins(value)).decode("utf-8") if value else ""


def encode_record(record: Record, keep: Callable[[bytes], str], frame: Frame | None = None) -> bytes:
    """One line, newline included. `keep(bytes)` stores a shared piece and returns its SHA-256."""
    rounds = tuple(
        StoredRound(
            tuple(
                StoredExchange(
                    attempt=exchange.attempt,
                    method=exchange.method,
                    url=exchange.url,
                    request_headers=exchange.request_headers,
                    request=_pieces(exchange.request, frame, keep),
                    started_at=exchange.started_at,
                    status=exchange.status,
                    response_headers=exchange.response_headers,
                    response=_pieces(exchange.response, None, keep),
                    timing=exchange.timing,
                    fault=exchange.fault and _writable(exchange.fault),
                    chunks=exchange.chunks,
                    redactions=exchange.redactions,
                )
                for exchange in one.exchanges
            ),
            _faithful_text(one.tool_results),
        )
        for one in record.rounds
    )
    stored = StoredRecord(
        schema=RECORD_SCHEMA,
        key=record.key,
        api=record.api,
        stream=record.stream,
        started_at=record.started_at,
        rounds=rounds,
        transformations=_faithful_text(record.transformations),
        notes=record.notes,
        stopped=record.stopped,
        harness_error=None if record.harness_error is None else escape_surrogates(record.harness_error),
    )
    return _ENCODER.encode(stored) + b"\n"


def record_key(line: bytes) -> TrialKey:
    """The key of a stored record, without reading the rest. Raises msgspec.DecodeError on a torn or foreign line."""
    return _KEY_DECODER.decode(line).key


def decode_record(line: bytes, blob: Callable[[str], bytes]) -> Record:
    """The record on a line.

    Raises msgspec.DecodeError (ValidationError included) on a torn or foreign line, ValueError where a body or a
    tool result was changed on disk.
    """
    stored = _DECODER.decode(line)
    rounds = tuple(
        Round(
            tuple(
                Exchange(
                    attempt=exchange.attempt,
                    method=exchange.method,
                    url=exchange.url,
                    request_headers=exchange.request_headers,
                    request=_joined(exchange.request, blob),
                    started_at=exchange.started_at,
                    status=exchange.status,
                    response_headers=exchange.response_headers,
                    response=_joined(exchange.response, blob),
                    timing=exchange.timing,
                    fault=exchange.fault,
                    chunks=exchange.chunks,
                    redactions=exchange.redactions,
                )
                for exchange in one.exchanges
            ),
            _read_faithful(one.tool_results, tuple[ToolResult, ...]),
        )
        for one in stored.rounds
    )
    return Record(
        key=stored.key,
        api=stored.api,
        stream=stored.stream,
        started_at=stored.started_at,
        rounds=rounds,
        transformations=_read_faithful(stored.transformations, tuple[Transformation, ...]),
        notes=stored.notes,
        stopped=stored.stopped,
        harness_error=stored.harness_error,
    )


def _read_faithful(text: str, kind: Any) -> Any:
    return msgspec.convert(json.loads(text), kind) if text else ()
