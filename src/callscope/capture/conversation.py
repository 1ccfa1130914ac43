"""One trial: its first request and, in a suite with fake tools, the bounded conversation that follows.

Writes down what happened and decides nothing about it, except whether to go on: when there are calls, rounds are
left, and no failed call came back unchanged (the harness document, "identical invalid calls loop").
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple

from msgspec import structs

from callscope.capture.attempts import Policy, now_text, send_with_retries
from callscope.capture.pacing import Lane, Turnstile
from callscope.capture.redact import Redactor
from callscope.capture.transport import Timeouts, Transport
from callscope.contract import (
    Case,
    Exchange,
    Reading,
    Record,
    Request,
    Round,
    Suite,
    ToolCall,
    ToolCalls,
    ToolResult,
    Transformation,
    TrialKey,
    offered_tools,
)
from callscope.errors import InputError
from callscope.providers import Adapter, decode_body
from callscope.recovery import answer_calls, call_hash

__all__ = ["Endpoint", "Line", "hold_trial", "plain_turn"]

Explain = Callable[[Exchange], Awaitable[list[str]]]
"""What the server's side has to say about an answered attempt, as notes for the record."""

Turn = Callable[[bytes], AbstractAsyncContextManager[Explain]]
"""Wraps one round: given the body, a context in which it is sent and then explained."""


@asynccontextmanager
async def plain_turn(_body: bytes) -> AsyncIterator[Explain]:
    """The turn of a remote server: nothing to prepare, nothing to say."""

    async def nothing(_exchange: Exchange) -> list[str]:
        return []

    yield nothing


class Endpoint(NamedTuple):
    """Where a model answers. `key` is the secret sent as its adapter's credentials; None where it takes none."""

    base_url: str
    key: str | None = None
    turn: Turn = plain_turn


class Line(NamedTuple):
    """Everything that carries a trial's bytes; `timeouts` are per attempt, `lane` is that of the model's account."""

    endpoint: Endpoint
    adapter: Adapter
    transport: Transport
    redactor: Redactor
    policy: Policy
    timeouts: Timeouts
    lane: Lane
    turnstile: Turnstile | None = None


async def hold_trial(
    line: Line,
    key: TrialKey,
    request: Request,
    suite: Suite,
    case: Case,
    changed: tuple[Transformation, ...] = (),
) -> tuple[Record, tuple[Reading, ...]]:
    """Hold the trial; returns its record and the reading of each round, as `derive.read_record` would give them.

    `changed` is what was changed in the request before it came here (a schema fallback); the record begins with it.
    Raises nothing for what a server does; a fault of our own propagates (the runner records it).
    """
    started_at = now_text()
    rounds: list[Round] = []
    notes: set[str] = set()
    transformations: tuple[Transformation, ...] = ()
    failed: set[str] = set()
    readings: list[Reading] = []
    while True:
        wire = line.adapter.build(request)
        transformations = transformations or wire.transformations
        waiting_since = time.perf_counter()
        async with line.endpoint.turn(wire.body) as explain:
            exchanges, reading = await send_with_retries(
                line.transport,
                line.adapter,
                wire,
                url=line.endpoint.base_url.rstrip("/") + wire.path,
                key=line.endpoint.key,
                redactor=line.redactor,
                stream=request.stream,
                timeouts=line.timeouts,
                lane=line.lane,
                turnstile=line.turnstile,
                queued_ms=(time.perf_counter() - waiting_since) * 1000,
                policy=line.policy,
            )
            notes.update(await explain(exchanges[-1]))
        readings.append(reading)
        calls = reading.outcome.calls if isinstance(reading.outcome, ToolCalls) else ()
        results, stopped = _answer(calls, failed, len(rounds), suite, case)
        following: Request | None = None
        if results:
            raw, _ = decode_body(exchanges[-1].response_headers, exchanges[-1].response)
            try:
                following = line.adapter.follow_up(request, raw, results, stream=request.stream)
            except InputError:  # a rejected call is in an error body, and leaves no message to answer
                results, stopped = (), "no_message_to_answer"
        rounds.append(Round(exchanges, results))
        if following is None:
            break
        failed.update(call_hash(calls[result.position]) for result in results if _lasting(result))
        if following.tool_choice not in ("auto", "none"):
            following = structs.replace(following, tool_choice="auto")
            notes.add("the tool choice was forced in the first round only, so that the conversation can end")
        request = following
    record = Record(
        key=key,
        api=line.adapter.api,
        stream=request.stream,
        started_at=started_at,
        rounds=tuple(rounds),
        transformations=(*changed, *transformations),
        notes=tuple(sorted(notes)),
        stopped=stopped,
    )
    return record, tuple(readings)


def _answer(
    calls: tuple[ToolCall, ...], failed: set[str], rounds: int, suite: Suite, case: Case
) -> tuple[tuple[ToolResult, ...], str | None]:
    """What the fake tools answer, or no results and why the conversation stops (None: there is nothing to answer)."""
    if not calls or not suite.max_tool_rounds:
        return (), None
    if any(call_hash(call) in failed for call in calls):
        return (), "repeated_call"
    if rounds >= suite.max_tool_rounds:
        return (), "max_tool_rounds"
    return answer_calls(calls, offered_tools(case, suite.tools), suite.fakes), None


def _lasting(result: ToolResult) -> bool:
    """Whether repeating the call unchanged cannot help: every error but a transient one of the tool itself."""
    if not result.is_error:
        return False
    error = result.content.get("error", {}) if isinstance(result.content, dict) else {}
    retryable = isinstance(error, dict) and error.get("retryable") is True
    return not retryable or error.get("code") == "INVALID_ARGUMENTS"
