"""The `openai-responses` format: POST /responses, as OpenAI and the servers that follow it speak it, without state.

Every request carries the whole conversation; what the response said is resent item by item. Not for the Chat
Completions format, and not for the built-in tools that a server runs itself: their items are only echoed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from callscope.contract import (
    Message,
    NamedChoice,
    NativeMessage,
    Reading,
    Request,
    Tool,
    ToolChoice,
    ToolResult,
    Transformation,
    WireRequest,
)
from callscope.errors import InputError
from callscope.providers.base import Headers, bearer, result_text, results_in_order, split_extra
from callscope.providers.chatform import add_messages, argument_text, choice_without_tools, unsupported, wire_request
from callscope.providers.ids import unique_ids
from callscope.providers.reading import Shape, gather, read_response
from callscope.providers.responses_items import CALL_INPUT, Item, ItemReply, items_usage
from callscope.providers.wire import read_document

__all__ = ["ADAPTER", "SWITCH_DEFAULTS", "OpenAIResponses"]

SWITCH_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "system_as": "instructions",
        "store": False,
        "include": (),
        "send_temperature": True,
        "send_seed": False,
        "drop_on_echo": (),
    }
)
"""Switches and their defaults. system_as: `instructions`, or `system` or `developer` for an input message of that
role. store: whether the server keeps the response. include: what to ask for beside the answer
(`reasoning.encrypted_content` where reasoning items come without it; models that do not reason refuse it).
send_temperature: false for models that refuse one. send_seed: true for servers that take a `seed`, which OpenAI's
does not. drop_on_echo: item fields a server refuses to be sent back (a tuple of names)."""

_SHAPE = Shape(lambda reply, value, end: reply.add_chunk(value, end), usage=items_usage, reply=ItemReply)


class OpenAIResponses:
    """The adapter of the `openai-responses` format."""

    api = "openai-responses"
    semantics: Mapping[str, str] = MappingProxyType(
        {
            "auto": "text, one call or several, as the model likes",
            "required": "at least one call of any tool",
            "none": "tools are shown and no call is allowed",
            "named": "a call of this one tool",
            "parallel": "parallel_tool_calls=false allows at most one call; left out is true",
            "strict": "always sent: an omitted or null strict makes the server try strict and fall back in silence",
            "seed": "there is none; a seed is left out and recorded, unless send_seed is on",
            "temperature": "reasoning models answer 400; send_temperature=false leaves it out and records that",
        }
    )

    def build(self, request: Request) -> WireRequest:
        """See Adapter. Tools go out untouched; a tool choice without tools is left out and recorded.

        The first message, where it is a system message, goes out as `instructions` (switch `system_as`); later ones
        stay where they are, as input messages. Order of the body: model, instructions, input, tools, tool_choice,
        parallel_tool_calls, temperature, max_output_tokens, seed, store, include, stream, then `extra`.
        """
        switches, extra = split_extra(request.extra, SWITCH_DEFAULTS)
        changes: list[Transformation] = []
        instructions, items = _input(request.messages, switches["system_as"], changes)
        body: dict[str, Any] = {"model": request.model}
        if instructions is not None:
            body["instructions"] = instructions
        body["input"] = items
        if request.tools:
            body["tools"] = [_tool(tool, request.strict) for tool in request.tools]
            body["tool_choice"] = _choice(request.tool_choice)
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
            body["max_output_tokens"] = request.max_tokens
        if request.seed is not None:
            if switches["send_seed"]:
                body["seed"] = request.seed
            else:
                changes.append(unsupported("seed", request.seed))
        body["store"] = switches["store"]
        if switches["include"]:
            body["include"] = list(switches["include"])
        if request.stream:
            body["stream"] = True
        body.update(extra)
        accept = "text/event-stream" if request.stream else "application/json"
        return wire_request("/responses", body, changes, accept=accept)

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """See Adapter: `Authorization: Bearer`."""
        return bearer(key)

    def parse(self, status: int, headers: Headers, body: bytes, *, stream: bool) -> Reading:
        """See Adapter. `finish` is the reason a response is incomplete, else its status.

        A call's id is its `call_id`. A custom tool's input is read as argument text, flagged `custom_tool_call`.
        """
        return read_response(_SHAPE, status, headers, body, stream=stream)

    def follow_up(
        self,
        request: Request,
        raw_response: bytes,
        tool_results: Sequence[ToolResult],
        *,
        stream: bool,  # noqa: ARG002
    ) -> Request:
        """See Adapter. All output items go back in their order with every field, then one output for each call.

        Arguments go back exactly as they came, only "", null and absent become "{}". Call ids are kept unless missing
        or used before in the conversation. The format has no mark for a result that is an error.
        """
        document = read_document(raw_response, faithful=True)
        reply = gather(document, _SHAPE)
        assert isinstance(reply, ItemReply)
        items = [item for item in reply.items if item.call is None or not item.call.empty()]
        if not items:
            raise InputError(
                "the response holds no output to answer to",
                field="raw_response",
                found=document.fault or "no output items",
            )
        switches, _ = split_extra(request.extra, SWITCH_DEFAULTS)
        calls = [item for item in items if item.call is not None]
        results = results_in_order(tool_results, len(calls))
        ids = unique_ids([call.id for call in reply.calls.finished()], _used_ids(request.messages))
        named = dict(zip(map(id, calls), ids, strict=True))
        added = [_echo(item, named.get(id(item)), switches["drop_on_echo"]) for item in items]
        for item, identifier, result in zip(calls, ids, results, strict=True):
            output = {"type": f"{item.type}_output", "call_id": identifier, "output": result_text(result.content)}
            added.append(output)
        return add_messages(request, added)


def _input(
    messages: Sequence[Message | NativeMessage], system_as: str, changes: list[Transformation]
) -> tuple[str | None, list[Any]]:
    """(the instructions, the input items)."""
    if system_as not in {"instructions", "system", "developer"}:
        raise InputError(
            "unknown place for the system text",
            field="switches.system_as",
            found=system_as,
            expected="instructions, system or developer",
        )
    instructions: str | None = None
    items: list[Any] = []
    for position, message in enumerate(messages):
        if isinstance(message, NativeMessage):
            items.append(message.value)
        elif message.role == "system" and system_as == "instructions" and position == 0:
            instructions = message.text
        elif message.role == "system" and system_as == "developer":
            changes.append(Transformation(f"/messages/{position}/role", "system_role", "system", "developer"))
            items.append({"role": "developer", "content": message.text})
        else:
            items.append({"role": message.role, "content": message.text})
    return instructions, items


def _tool(tool: Tool, strict: bool | None) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": bool(strict),
    }


def _choice(choice: ToolChoice) -> Any:
    return {"type": "function", "name": choice.name} if isinstance(choice, NamedChoice) else choice


def _used_ids(messages: Sequence[Message | NativeMessage]) -> set[str]:
    values = [message.value for message in messages if isinstance(message, NativeMessage)]
    return {value["call_id"] for value in values if isinstance(value, dict) and isinstance(value.get("call_id"), str)}


def _echo(item: Item, identifier: str | None, drop: Sequence[str]) -> dict[str, Any]:
    """An output item as the next request's input."""
    value = {**item.value}
    if item.call is not None:
        value["call_id"] = identifier
        value["name"] = item.call.name
        value[CALL_INPUT[item.type]] = _sent_arguments(item)
    elif item.type == "message" and not item.whole:
        value["role"] = "assistant"
        value["content"] = [
            {"type": kind, ("refusal" if kind == "refusal" else "text"): text} for kind, text in item.parts()
        ]
    for name in drop:
        value.pop(name, None)
    return value


def _sent_arguments(item: Item) -> str:
    assert item.call is not None
    if item.call.custom and isinstance(item.call.arguments, str):
        return item.call.arguments
    return argument_text(item.call.arguments)


ADAPTER = OpenAIResponses()
