"""The `openai-chat` format: POST /chat/completions, as OpenAI, its many compatible servers and relays speak it.

Not for the Responses API. What differs between servers is data: the switches below, and `Request.extra`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from callscope.contract import (
    Message,
    NamedChoice,
    NativeMessage,
    Outcome,
    Reading,
    Refusal,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolCalls,
    ToolResult,
    Transformation,
    WireRequest,
)
from callscope.errors import InputError
from callscope.jsontext import dump_faithful
from callscope.providers.acceptance import Judged, judge, nested, read_error, unreadable
from callscope.providers.arguments import ABSENT, read_arguments
from callscope.providers.base import (
    Headers,
    bearer,
    encode_body,
    lower_headers,
    result_text,
    results_in_order,
    split_extra,
)
from callscope.providers.calls import Call, is_filler
from callscope.providers.flags import sorted_flags
from callscope.providers.ids import unique_ids
from callscope.providers.limits import read_limits
from callscope.providers.modelfault import failed_call, model_fault
from callscope.providers.reply import Reply, read_usage
from callscope.providers.textcalls import text_calls
from callscope.providers.wire import Document, decode_body, read_document

__all__ = ["ADAPTER", "SWITCH_DEFAULTS", "OpenAIChat"]

SWITCH_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "max_tokens_field": "max_tokens",
        "system_role": "system",
        "stream_usage": True,
        "drop_on_echo": (),
    }
)
"""Switches and their defaults. max_tokens_field: the body's name for the token limit (`max_completion_tokens` for
reasoning models). system_role: `developer` for models that want it. stream_usage: whether a stream asks for usage.
drop_on_echo: message fields a server refuses to be sent back (a tuple of names)."""

_LENGTH = frozenset({"length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens"})
_FAILED = frozenset({"error", "network_error", "abort", "insufficient_system_resource"})
_CALL_ENDINGS = frozenset({"tool_calls", "function_call"})
_MODEL_FAULTS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS")


class OpenAIChat:
    """The adapter of the `openai-chat` format."""

    api = "openai-chat"
    semantics: Mapping[str, str] = MappingProxyType(
        {
            "auto": "text, one call or several, as the model likes; the default where tools are given",
            "required": "at least one call of any tool; thinking modes of DeepSeek and Qwen answer 400, and vLLM can "
            "answer with no call at all",
            "none": "tools are shown and no call is allowed; some servers then delete call-shaped text",
            "named": "a call of this one tool; finish_reason is then often stop",
            "parallel": "parallel_tool_calls=false allows at most one call; without tools it is refused",
            "strict": "function.strict binds arguments to the schema (a subset of JSON Schema); absent is not strict",
            "seed": "best effort",
        }
    )

    def build(self, request: Request) -> WireRequest:
        """See Adapter. Tools go out untouched; a tool choice without tools is left out and recorded.

        Order of the body: model, messages, tools, tool_choice, parallel_tool_calls, temperature, the token limit,
        seed, stream, stream_options, then `extra`.
        """
        switches, extra = split_extra(request.extra, SWITCH_DEFAULTS)
        changes: list[Transformation] = []
        body: dict[str, Any] = {
            "model": request.model,
            "messages": _messages(request.messages, switches["system_role"], changes),
        }
        if request.tools:
            body["tools"] = [_tool(tool, request.strict) for tool in request.tools]
            body["tool_choice"] = _choice(request.tool_choice)
            if request.parallel is not None:
                body["parallel_tool_calls"] = request.parallel
        elif request.tool_choice not in ("auto", "none"):
            changes.append(Transformation("/tool_choice", "choice_without_tools", _choice(request.tool_choice)))
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body[switches["max_tokens_field"]] = request.max_tokens
        if request.seed is not None:
            body["seed"] = request.seed
        if request.stream:
            body["stream"] = True
            if switches["stream_usage"]:
                body["stream_options"] = {"include_usage": True}
        body.update(extra)
        accept = "text/event-stream" if request.stream else "application/json"
        headers = (("content-type", "application/json"), ("accept", accept))
        return WireRequest("/chat/completions", headers, encode_body(body), tuple(changes))

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """See Adapter: `Authorization: Bearer`."""
        return bearer(key)

    def parse(self, status: int, headers: Headers, body: bytes, *, stream: bool) -> Reading:
        """See Adapter."""
        lowered = lower_headers(headers)
        body, coding = decode_body(lowered, body)
        document = read_document(body)
        reply = _reply(document)
        if any(isinstance(call.arguments, (dict, list)) for call in reply.calls.made):
            document = read_document(body, faithful=True)
            reply = _reply(document)
        flags = {*coding, *document.flags}
        judged = _failure(status, document, reply, body, frozenset(flags))
        if isinstance(judged, Judged):
            limits = read_limits(lowered, retryable=judged.retryable, retry_after_s=_body_wait(document))
            outcome: Outcome = judged.outcome
        else:
            if document.streamed != stream and status < 400:
                flags.add("streamed_unasked" if document.streamed else "not_streamed")
            limits = read_limits(lowered, retryable=False)
            outcome = _with_flags(judged, flags) if judged else _outcome(reply, flags, document.json_flags)
        first = [call.end for call in reply.calls.made if call.end is not None] if document.streamed else []
        return Reading(
            outcome=outcome,
            usage=read_usage(reply.usage),
            model=reply.model,
            finish=reply.finish,
            limits=limits,
            first_call_at=min(first, default=None) if isinstance(outcome, ToolCalls) else None,
        )

    def follow_up(
        self,
        request: Request,
        raw_response: bytes,
        tool_results: Sequence[ToolResult],
        *,
        stream: bool,  # noqa: ARG002
    ) -> Request:
        """See Adapter. Arguments go back exactly as they came, only "", null and absent become "{}".

        Ids are kept unless missing or used before in the conversation. `stream` does not matter: the bytes tell.
        """
        document = read_document(raw_response, faithful=True)
        reply = _reply(document)
        if not reply.has_message:
            raise InputError(
                "the response holds no assistant message to answer to",
                field="raw_response",
                found=document.fault or "no choices",
            )
        switches, _ = split_extra(request.extra, SWITCH_DEFAULTS)
        calls = reply.calls.finished()
        results = results_in_order(tool_results, len(calls))
        ids = unique_ids([call.id for call in calls], _used_ids(request.messages))
        echoed = [_echo(reply, calls, ids, drop=switches["drop_on_echo"])]
        for call, identifier, result in zip(calls, ids, results, strict=True):
            text = result_text(result.content)
            if call.legacy:
                echoed.append({"role": "function", "name": call.name, "content": text})
            else:
                echoed.append({"role": "tool", "tool_call_id": identifier, "content": text})
        messages = (*request.messages, *(NativeMessage(message) for message in echoed))
        return _replace_messages(request, messages)


def _messages(
    messages: Sequence[Message | NativeMessage], system_role: str, changes: list[Transformation]
) -> list[Any]:
    result = []
    for position, message in enumerate(messages):
        if isinstance(message, NativeMessage):
            result.append(message.value)
            continue
        role: str = message.role
        if role == "system" and system_role != role:
            changes.append(Transformation(f"/messages/{position}/role", "system_role", role, system_role))
            role = system_role
        result.append({"role": role, "content": message.text})
    return result


def _tool(tool: Tool, strict: bool | None) -> dict[str, Any]:
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if strict is not None:
        function["strict"] = strict
    return {"type": "function", "function": function}


def _choice(choice: str | NamedChoice) -> Any:
    return {"type": "function", "function": {"name": choice.name}} if isinstance(choice, NamedChoice) else choice


def _reply(document: Document) -> Reply:
    reply = Reply()
    for value, end in document.chunks:
        reply.add_chunk(value, end if document.streamed else None)
    return reply


def _failure(
    status: int, document: Document, reply: Reply, body: bytes, flags: frozenset[str]
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
        judged = judge(status, found)
        return judged._replace(outcome=_with_flags(judged.outcome, flags))
    if document.fault is not None:
        return unreadable(status, document.fault, body, flags)
    if status >= 300 or not reply.has_message:
        return unreadable(status, "no_message", body, flags)
    if not reply.calls.made and (ending := _model_fault(reply)):
        return failed_call(ending, reply.content or "")
    failed = next((word for word in (reply.finish, reply.native_finish) if word in _FAILED), None)
    if failed and (reply.finish in _FAILED or not (reply.calls.made or reply.content)):
        judged = judge(200, read_error({"code": failed, "message": f"the response ended with {failed!r}"}))
        return judged._replace(outcome=_with_flags(judged.outcome, flags))
    if document.streamed and not (document.done or reply.finish or reply.usage_last):
        return unreadable(status, "stream_cut", b"", flags)
    return None


def _error_value(value: Any, status: int) -> Any:
    """A body that is no completion, as an error body; None where it is one, or says nothing."""
    if not isinstance(value, (dict, list, str)) or (status < 300 and isinstance(value, dict) and "choices" in value):
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


def _outcome(reply: Reply, flags: set[str], json_flags: frozenset[str]) -> Outcome:
    calls = reply.calls.finished()
    flags |= reply.flags | reply.calls.flags
    finish = reply.finish or ""
    if finish in _LENGTH:
        flags.add("truncated")
    filtered = finish.startswith("content_filter")
    if filtered:
        flags.add("content_filter")
    refusal = "".join(reply.refusal)
    content = reply.content or ""
    if calls:
        read = tuple(_read_call(call, flags, json_flags) for call in calls)
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


def _read_call(call: Call, flags: set[str], json_flags: frozenset[str]) -> ToolCall:
    arguments, malformed, found = read_arguments(call.arguments)
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


def _used_ids(messages: Sequence[Message | NativeMessage]) -> set[str]:
    used: set[str] = set()
    for message in messages:
        if isinstance(message, NativeMessage) and isinstance(message.value, dict):
            used.update(call.get("id", "") for call in message.value.get("tool_calls") or ())
    return used


def _echo(reply: Reply, calls: Sequence[Call], ids: Sequence[str], *, drop: Sequence[str]) -> dict[str, Any]:
    """The assistant message as the provider must see it again."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.parts:
        message["content"] = reply.parts
    refusal = "".join(reply.refusal)
    if refusal and not reply.parts:
        message["refusal"] = refusal
    message.update(reply.texts())
    message.update({name: value for name, value in reply.fields.items() if name != "role" and not is_filler(value)})
    modern = [(call, identifier) for call, identifier in zip(calls, ids, strict=True) if not call.legacy]
    if modern:
        message["tool_calls"] = [_echo_call(call, identifier) for call, identifier in modern]
    elif calls:
        message["function_call"] = {"name": calls[0].name, "arguments": _argument_text(calls[0].arguments)}
    elif message["content"] is None:
        message["content"] = ""  # null is accepted only beside calls
    for name in drop:
        message.pop(name, None)
    return message


def _echo_call(call: Call, identifier: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _argument_text(call.arguments), **call.function_extras}
    return {"id": identifier, "type": "function", "function": function, **call.extras}


def _argument_text(arguments: Any) -> str:
    if arguments is ABSENT or arguments is None or arguments == "":
        return "{}"
    return arguments if isinstance(arguments, str) else dump_faithful(arguments).decode("utf-8")


def _replace_messages(request: Request, messages: tuple[Message | NativeMessage, ...]) -> Request:
    values = {name: getattr(request, name) for name in request.__struct_fields__}
    return Request(**{**values, "messages": messages})


ADAPTER = OpenAIChat()
