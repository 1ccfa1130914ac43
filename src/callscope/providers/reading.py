"""From the bytes of one response to its Reading, for the formats whose messages add up in a `Reply`.

A format says how its bytes become JSON values, how a value is added to the reply, and how it counts tokens (`Shape`);
what makes an error, a refusal, a call or a text of that is the same for all, and stands here. Not for sending.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from callscope.contract import Outcome, Reading, Refusal, Text, ToolCall, ToolCalls, Usage
from callscope.providers.acceptance import ErrorBody, Judged, judge, nested, read_error, unreadable
from callscope.providers.arguments import Arguments, read_arguments
from callscope.providers.base import Headers, lower_headers
from callscope.providers.calls import Call
from callscope.providers.flags import sorted_flags
from callscope.providers.limits import read_limits
from callscope.providers.modelfault import failed_call, model_fault
from callscope.providers.reply import Reply, read_usage
from callscope.providers.wire import Document, decode_body, read_document
from callscope.textcalls import text_calls

__all__ = ["Shape", "gather", "read_response"]

# Finish words of all formats, in their own spelling; the words of one mean nothing else in another.
_LENGTH = frozenset(
    {"length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens", "model_context_window_exceeded"}
)
_FAILED = frozenset({"error", "network_error", "abort", "insufficient_system_resource", "ERROR", "TIMEOUT"})
_CALL_ENDINGS = frozenset({"tool_calls", "function_call", "tool_use", "TOOL_CALL"})
_MODEL_FAULTS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS")
# Keys that only a completion has: a 200 with one of them and no message is an empty answer, not an error body.
_COMPLETION = ("choices", "finish_reason", "done", "candidates", "usageMetadata", "promptFeedback", "stopReason")


class Shape(NamedTuple):
    """How one format's bodies are read.

    `read(body, faithful=…)` makes the Document; `add(reply, value, end)` adds one of its values, whole where `end` is
    None, else as part of a stream; `judge` may know statuses that mean something else at this provider.
    """

    add: Callable[[Reply, Any, int | None], None]
    read: Callable[..., Document] = read_document
    usage: Callable[[Mapping[str, Any]], Usage] = read_usage
    arguments: Callable[[Any], Arguments] = read_arguments
    judge: Callable[[int, ErrorBody], Judged] = judge
    reply: Callable[[], Reply] = Reply


def gather(document: Document, shape: Shape) -> Reply:
    """What the values of a body add up to."""
    reply = shape.reply()
    for value, end in document.chunks:
        shape.add(reply, value, end if document.streamed else None)
    reply.close()
    return reply


def read_response(shape: Shape, status: int, headers: Headers, body: bytes, *, stream: bool) -> Reading:
    """Read one response; see `Adapter.parse`."""
    lowered = lower_headers(headers)
    body, coding = decode_body(lowered, body)
    document = shape.read(body)
    reply = gather(document, shape)
    if any(isinstance(call.arguments, (dict, list)) for call in reply.calls.made):
        document = shape.read(body, faithful=True)
        reply = gather(document, shape)
    flags = {*coding, *document.flags}
    judged = _failure(shape, status, document, reply, body, frozenset(flags))
    if isinstance(judged, Judged):
        limits = read_limits(lowered, retryable=judged.retryable, retry_after_s=_body_wait(document))
        outcome: Outcome = judged.outcome
    else:
        if document.streamed != stream and status < 400 and not _one_chunk_stream(document, lowered):
            flags.add("streamed_unasked" if document.streamed else "not_streamed")
        limits = read_limits(lowered, retryable=False)
        outcome = _with_flags(judged, flags) if judged else _outcome(shape, reply, flags, document.json_flags)
    first = [call.end for call in reply.calls.made if call.end is not None] if document.streamed else []
    return Reading(
        outcome=outcome,
        usage=shape.usage(reply.usage),
        model=reply.model,
        finish=reply.finish,
        limits=limits,
        first_call_at=min(first, default=None) if isinstance(outcome, ToolCalls) else None,
    )


def _one_chunk_stream(document: Document, headers: Mapping[str, str]) -> bool:
    """Whether a body of one JSON value is a stream that had only one line to send."""
    return not document.streamed and "ndjson" in headers.get("content-type", "")


def _failure(
    shape: Shape, status: int, document: Document, reply: Reply, body: bytes, flags: frozenset[str]
) -> Judged | Outcome | None:
    """Why there is no message to read: a judged error, or the outcome where the model is to blame; else None."""
    error = reply.error
    if error is None and document.chunks and (status >= 300 or not reply.has_message):
        error = _error_value(document.chunks[0].value, status)
    if error is not None:
        found = nested(read_error(error))
        fault = model_fault(found, reply.content or "")
        if fault is not None:
            return fault
        judged = shape.judge(status, found)
        return judged._replace(outcome=_with_flags(judged.outcome, flags))
    if document.fault is not None:
        return unreadable(status, document.fault, body, flags)
    if not 200 <= status < 600:
        return unreadable(status, "no_http_status", b"", flags)
    if status >= 300 or not reply.has_message:
        return unreadable(status, "no_message", body, flags)
    if not reply.calls.made and (ending := _model_fault(reply)):
        return failed_call(ending, reply.content or "")
    failed = next((word for word in (reply.finish, reply.native_finish) if word in _FAILED), None)
    if failed and (reply.finish in _FAILED or not (reply.calls.made or reply.content)):
        judged = judge(200, read_error({"code": failed, "message": f"the response ended with {failed!r}"}))
        return judged._replace(outcome=_with_flags(judged.outcome, flags))
    ended = document.done or reply.finish or reply.ended
    if (document.streamed and not ended) or (reply.ended is False and not reply.finish):
        return unreadable(status, "stream_cut", b"", flags)
    return None


def _error_value(value: Any, status: int) -> Any:
    """A body that is no completion, as an error body; None where it is one, or says nothing."""
    if not isinstance(value, (dict, list, str)):
        return None
    if status < 300 and isinstance(value, dict) and any(key in value for key in _COMPLETION):
        return None
    return value or None


def _model_fault(reply: Reply) -> str | None:
    """Gemini's own words for a call it could not make, as relays pass them on."""
    endings = f"{reply.finish or ''} {reply.native_finish or ''}"
    return next((word for word in _MODEL_FAULTS if word in endings), None)


def _body_wait(document: Document) -> float | None:
    waits = (read_error(value).retry_after_s for value, _ in document.chunks[-1:])
    return next((wait for wait in waits if wait is not None), None)


def _with_flags(outcome: Any, flags: set[str] | frozenset[str]) -> Any:
    if not flags:
        return outcome
    values = {name: getattr(outcome, name) for name in outcome.__struct_fields__}
    return type(outcome)(**{**values, "flags": sorted_flags({*outcome.flags, *flags})})


def _outcome(shape: Shape, reply: Reply, flags: set[str], json_flags: frozenset[str]) -> Outcome:
    calls = reply.calls.finished()
    flags |= reply.flags | reply.calls.flags
    finish = reply.finish or ""
    if finish in _LENGTH:
        flags.add("truncated")
    filtered = reply.filtered or finish.startswith("content_filter")
    if filtered:
        flags.add("content_filter")
    refusal = "".join(reply.refusal)
    content = reply.said
    if calls:
        read = tuple(_read_call(shape, call, flags, json_flags) for call in calls)
        named = [call.id for call in read if call.id]
        if len(set(named)) != len(named):
            flags.add("duplicate_id")
        if refusal:
            flags.add("refusal_beside_calls")
        return ToolCalls(read, sorted_flags(flags), content or None)
    if finish in _CALL_ENDINGS:
        flags.add("empty_tool_calls")
    if refusal or filtered or finish == "refusal":
        return Refusal(refusal or content or None, sorted_flags(flags))
    if not content.strip():
        flags.add("empty_text")
        if reply.reasoning and text_calls(reply.reasoning):
            flags.add("reasoning_tool_call")
    elif text_calls(content):
        flags.add("text_tool_call")
    return Text(content, sorted_flags(flags))


def _read_call(shape: Shape, call: Call, flags: set[str], json_flags: frozenset[str]) -> ToolCall:
    arguments, malformed, found = shape.arguments(call.arguments)
    flags.update(found)
    if isinstance(call.arguments, (dict, list)):
        flags |= json_flags
    if malformed is not None and malformed.reason == "truncated":
        flags.add("truncated")
    if not call.name:
        flags.add("missing_name")
    elif "<|" in call.name or "<｜" in call.name:
        flags.add("template_leak")
    if call.legacy:
        flags.add("legacy_function_call")
    elif not call.id:
        flags.add("missing_id")
    if call.custom:
        flags.add("custom_tool_call")
    return ToolCall(call.id, call.name, arguments, malformed)
