"""The `openai-chat` format: POST /chat/completions, as OpenAI, its many compatible servers and relays speak it.

Not for the Responses API. What differs between servers is data: the switches below, and `Request.extra`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from callscope.contract import Message, NativeMessage, Reading, Request, ToolResult, Transformation, WireRequest
from callscope.providers.base import Headers, bearer, result_text, results_in_order, split_extra
from callscope.providers.calls import Call, is_filler
from callscope.providers.chatform import (
    add_messages,
    answered,
    argument_text,
    choice_without_tools,
    function_tool,
    unsupported,
    used_ids,
    wire_choice,
    wire_messages,
    wire_request,
)
from callscope.providers.ids import unique_ids
from callscope.providers.reading import Shape, read_response
from callscope.providers.reply import Reply
from callscope.providers.wire import read_document

__all__ = ["ADAPTER", "SWITCH_DEFAULTS", "OpenAIChat"]

SWITCH_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "max_tokens_field": "max_tokens",
        "system_role": "system",
        "stream_usage": True,
        "send_temperature": True,
        "drop_on_echo": (),
    }
)
"""Switches and their defaults. max_tokens_field: the body's name for the token limit (`max_completion_tokens` for
reasoning models). system_role: `developer` for models that want it. stream_usage: whether a stream asks for usage.
send_temperature: false for models that refuse one. drop_on_echo: message fields a server refuses to be sent back (a
tuple of names)."""

_SHAPE = Shape(Reply.add_chunk)


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
            body["tools"] = [function_tool(tool, request.strict) for tool in request.tools]
            body["tool_choice"] = wire_choice(request.tool_choice)
            if request.parallel is not None:
                body["parallel_tool_calls"] = request.parallel
        else:
            changes.extend(choice_without_tools(request.tool_choice))
        if request.temperature is not None:
            if switches["send_temperature"]:
                body["temperature"] = request.temperature
            else:
                changes.append(unsupported("temperature", request.temperature))
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
        return wire_request("/chat/completions", body, changes, accept=accept)

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """See Adapter: `Authorization: Bearer`."""
        return bearer(key)

    def parse(self, status: int, headers: Headers, body: bytes, *, stream: bool) -> Reading:
        """See Adapter."""
        return read_response(_SHAPE, status, headers, body, stream=stream)

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
        reply, calls = answered(_SHAPE, read_document(raw_response, faithful=True))
        switches, _ = split_extra(request.extra, SWITCH_DEFAULTS)
        results = results_in_order(tool_results, len(calls))
        ids = unique_ids([call.id for call in calls], used_ids(request.messages))
        echoed = [_echo(reply, calls, ids, drop=switches["drop_on_echo"])]
        for call, identifier, result in zip(calls, ids, results, strict=True):
            text = result_text(result.content)
            if call.legacy:
                echoed.append({"role": "function", "name": call.name, "content": text})
            else:
                echoed.append({"role": "tool", "tool_call_id": identifier, "content": text})
        return add_messages(request, echoed)


def _messages(
    messages: Sequence[Message | NativeMessage], system_role: str, changes: list[Transformation]
) -> list[Any]:
    result = wire_messages(messages)
    if system_role != "system":
        for position, message in enumerate(messages):
            if isinstance(message, Message) and message.role == "system":
                changes.append(Transformation(f"/messages/{position}/role", "system_role", "system", system_role))
                result[position]["role"] = system_role
    return result


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
        message["function_call"] = {"name": calls[0].name, "arguments": argument_text(calls[0].arguments)}
    elif message["content"] is None:
        message["content"] = ""  # null is accepted only beside calls
    for name in drop:
        message.pop(name, None)
    return message


def _echo_call(call: Call, identifier: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": argument_text(call.arguments), **call.function_extras}
    return {"id": identifier, "type": "function", "function": function, **call.extras}


ADAPTER = OpenAIChat()
