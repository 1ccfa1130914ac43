"""The `cohere` format: POST /v2/chat.

Not for the v1 chat API, nor for Cohere's OpenAI-compatible address (that is `openai-chat`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from callscope.contract import (
    NamedChoice,
    ProviderError,
    Reading,
    Request,
    ToolResult,
    Transformation,
    Usage,
    WireRequest,
)
from callscope.providers.acceptance import ErrorBody, Judged, judge
from callscope.providers.base import Headers, bearer, result_text, results_in_order, split_extra
from callscope.providers.chatform import (
    add_messages,
    answered,
    argument_text,
    choice_without_tools,
    function_tool,
    unsupported,
    used_ids,
    wire_messages,
    wire_request,
)
from callscope.providers.ids import unique_ids
from callscope.providers.reading import Shape, read_response
from callscope.providers.reply import Reply, token_count
from callscope.providers.wire import read_lines

__all__ = ["ADAPTER", "SWITCH_DEFAULTS", "Cohere"]

SWITCH_DEFAULTS: Mapping[str, Any] = MappingProxyType({})
"""This format has no switches; `thinking`, `safety_mode` and the like travel in `Request.extra`."""

_CHOICES = {"required": "REQUIRED", "none": "NONE"}


class Cohere:
    """The adapter of the `cohere` format."""

    api = "cohere"
    semantics: Mapping[str, str] = MappingProxyType(
        {
            "auto": "no tool_choice is sent: text, one call or several, as the model likes",
            "required": "REQUIRED: at least one call of any tool",
            "none": "NONE: tools are shown and no call is allowed",
            "named": "there is none: sent as REQUIRED with all tools, which is the same only where the named tool is "
            "the only one, and recorded as unsupported where it is not",
            "parallel": "no switch: the model may always make several calls; parallel=false is recorded as unsupported",
            "strict": "strict_tools binds the arguments of all tools of the request; absent is not strict",
            "seed": "best effort",
        }
    )

    def build(self, request: Request) -> WireRequest:
        """See Adapter. Tools go out untouched; what Cohere has no form for is left out and recorded.

        Order of the body: model, messages, tools, strict_tools, tool_choice, temperature, max_tokens, seed, stream,
        then `extra`.
        """
        _, extra = split_extra(request.extra, SWITCH_DEFAULTS)
        changes: list[Transformation] = []
        body: dict[str, Any] = {"model": request.model, "messages": wire_messages(request.messages)}
        if request.tools:
            body["tools"] = [function_tool(tool) for tool in request.tools]
            if request.strict is not None:
                body["strict_tools"] = request.strict
            choice = request.tool_choice
            if isinstance(choice, NamedChoice):
                body["tool_choice"] = "REQUIRED"
                if [tool.name for tool in request.tools] != [choice.name]:
                    changes.append(unsupported("tool_choice", choice, "REQUIRED"))
            elif choice != "auto":
                body["tool_choice"] = _CHOICES[choice]
            if request.parallel is False:
                changes.append(unsupported("parallel", False))
        else:
            changes.extend(choice_without_tools(request.tool_choice))
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body["max_tokens"] = request.max_tokens
        if request.seed is not None:
            body["seed"] = request.seed
        if request.stream:
            body["stream"] = True
        body.update(extra)
        accept = "text/event-stream" if request.stream else "application/json"
        return wire_request("/v2/chat", body, changes, accept=accept)

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """See Adapter: `Authorization: Bearer`."""
        return bearer(key)

    def parse(self, status: int, headers: Headers, body: bytes, *, stream: bool) -> Reading:
        """See Adapter. The model is never known: Cohere does not name it. The tool plan is text beside the calls."""
        return read_response(_SHAPE, status, headers, body, stream=stream)

    def follow_up(
        self,
        request: Request,
        raw_response: bytes,
        tool_results: Sequence[ToolResult],
        *,
        stream: bool,  # noqa: ARG002
    ) -> Request:
        """See Adapter. Tool plan, content with its thinking and calls go back; citations do not.

        Ids are kept unless missing or used before in the conversation. `stream` does not matter: the bytes tell.
        """
        reply, calls = answered(_SHAPE, read_lines(raw_response, faithful=True))
        results = results_in_order(tool_results, len(calls))
        ids = unique_ids([call.id for call in calls], used_ids(request.messages))
        message: dict[str, Any] = {"role": "assistant"}
        if reply.plan:
            message["tool_plan"] = reply.plan
        content = reply.parts or reply.content
        if content or not calls:
            message["content"] = content or ""
        if calls:
            message["tool_calls"] = [
                {
                    "id": identifier,
                    "type": "function",
                    "function": {"name": call.name, "arguments": argument_text(call.arguments)},
                }
                for call, identifier in zip(calls, ids, strict=True)
            ]
        answers = [
            {"role": "tool", "tool_call_id": identifier, "content": result_text(result.content)}
            for identifier, result in zip(ids, results, strict=True)
        ]
        return add_messages(request, [message, *answers])


def _add(reply: Reply, value: Any, end: int | None) -> None:
    """Add a whole body, or one event of a stream: message-start, content-start, content-delta, tool-plan-delta,
    tool-call-start, tool-call-delta, message-end; the others say nothing that is kept."""
    if not isinstance(value, dict):
        return
    kind = value.get("type")
    frame = value.get("delta") if isinstance(kind, str) and "delta" in value else value
    if not isinstance(frame, dict):
        return
    error = value.get("error") or frame.get("error")
    if error and reply.error is None:
        reply.error = {"error": error}
    message = frame.get("message")
    if isinstance(message, dict):
        _add_message(reply, message, value.get("index"), end)
    finish, usage = frame.get("finish_reason"), frame.get("usage")
    if isinstance(finish, str):
        reply.finish = finish or reply.finish
    if isinstance(usage, dict):
        reply.usage = usage


def _add_message(reply: Reply, message: Mapping[str, Any], index: Any, end: int | None) -> None:
    calls = message.get("tool_calls")
    if end is not None and isinstance(calls, dict) and "index" not in calls:
        message = {**message, "tool_calls": {**calls, "index": index}}
    reply.add_message(message, end, whole=end is None)


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Tokens as the model saw them (`tokens`), else as billed; Cohere counts in floats."""
    tokens, billed = usage.get("tokens"), usage.get("billed_units")
    tokens = tokens if isinstance(tokens, dict) else {}
    billed = billed if isinstance(billed, dict) else {}
    return Usage(
        input_tokens=token_count(tokens.get("input_tokens"), billed.get("input_tokens")),
        output_tokens=token_count(tokens.get("output_tokens"), billed.get("output_tokens")),
        cached_input_tokens=token_count(usage.get("cached_tokens")),
    )


def _judge(status: int, body: ErrorBody) -> Judged:
    """Cohere's own meaning of 498 (a deny-listed token in prompt or answer) and 499 (the request was cancelled); of
    the rest the common one."""
    if status == 498:
        return Judged(ProviderError("provider_error", "http_498", body.message, ("content_filter",)), retryable=False)
    if status == 499:
        return Judged(ProviderError("provider_error", "http_499", body.message, ("connection",)), retryable=True)
    return judge(status, body)


_SHAPE = Shape(_add, read=read_lines, usage=_usage, judge=_judge)
ADAPTER = Cohere()
