"""What happened, as written once to the log: attempts, rounds, trials."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from callscope.contract.request import ToolResult, Transformation


class TransportFault(Struct, frozen=True):
    """Why no complete response came. `code`: timeout_connect, timeout_first_byte, timeout_total, connection_failed,
    connection_lost, tls, response_too_large, bad_encoding."""

    category: Literal["timeout", "provider_error", "harness_error"]
    code: str
    message: str


class Timing(Struct, frozen=True, omit_defaults=True):
    """Milliseconds. `queued` is spent in callscope before the attempt; the others count from its start."""

    queued: float = 0.0
    total: float = 0.0
    connected: float | None = None
    first_byte: float | None = None


class Exchange(Struct, frozen=True):
    """One HTTP attempt. Bodies are the exact bytes, secrets masked in place (`redactions` counts the masks).

    `chunks` holds (offset of its first byte, milliseconds since the attempt began) for every chunk of a stream.
    """

    attempt: int
    method: str
    url: str
    request_headers: tuple[tuple[str, str], ...]
    request: bytes
    started_at: str
    status: int | None
    response_headers: tuple[tuple[str, str], ...]
    response: bytes
    timing: Timing
    fault: TransportFault | None = None
    chunks: tuple[tuple[int, float], ...] = ()
    redactions: int = 0


class Round(Struct, frozen=True):
    """One request to the model, with all its attempts, and the tool results that were sent back after it."""

    exchanges: tuple[Exchange, ...]
    tool_results: tuple[ToolResult, ...] = ()


class TrialKey(Struct, frozen=True, order=True):
    """What names a trial: unique within a run."""

    suite: str
    experiment: str
    model: str
    case_id: str
    repeat: int


class Record(Struct, frozen=True):
    """A trial as it happened. `harness_error` is set where callscope itself failed; nothing is decided here."""

    key: TrialKey
    api: str
    stream: bool
    started_at: str
    rounds: tuple[Round, ...]
    transformations: tuple[Transformation, ...] = ()
    notes: tuple[str, ...] = ()
    stopped: str | None = None
    harness_error: str | None = None
