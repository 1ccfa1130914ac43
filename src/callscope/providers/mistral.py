"""The `mistral` format: POST /chat/completions as Mistral's own API has it, and the models it relays.

Close to OpenAI's, and stricter: fields it does not know are refused (422 extra_forbidden), call ids are nine letters
or digits. Not for Mistral's agents and conversations APIs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any

from callscope.contract import Reading, Request, ToolResult, Transformation, Usage, WireRequest
from callscope.providers.base import Headers, bearer, result_text, results_in_order, split_extra
from callscope.providers.chatform import (
    add_messages,
    answered,
    argument_text,
    choice_without_tools,
    function_tool,
    native_calls,
    used_ids,
    wire_choice,
    wire_messages,
    wire_request,
)
from callscope.providers.ids import unique_ids
from callscope.providers.reading import Shape, read_response
from callscope.providers.reply import Reply, read_usage, token_count
from callscope.providers.wire import read_document

__all__ = ["ADAPTER", "SWITCH_DEFAULTS", "Mistral", "mistral_id"]

SWITCH_DEFAULTS: Mapping[str, Any] = MappingProxyType({"echo_fields": ()})
"""Switches and their defaults. echo_fields: names of further message fields to send back beside content and
tool_calls (a tuple); Mistral refuses fields it does not know, so none is by default."""

_ID = re.compile(r"[A-Za-z0-9]{9}")
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def mistral_id(identifier: str) -> str:
    """A call id in Mistral's form: kept where it has nine letters or digits, else always the same nine for the same
    id, whatever the conversation (Mistral answers 400, code 3280, to any other form)."""
    if _ID.fullmatch(identifier):
        return identifier
    number = int.from_bytes(sha256(identifier.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    letters = []
    for _ in range(9):
        number, letter = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[letter])
    return "".join(letters)


class Mistral:
    """The adapter of the `mistral` format."""

    api = "mistral"
    semantics: Mapping[str, str] = MappingProxyType(
        {
            "auto": "text, one call or several, as the model likes; the default where tools are given",
            "required": "sent as any: at least one call of any tool",
            "none": "tools are shown and no call is allowed",
            "named": "a call of this one tool",
            "parallel": "parallel_tool_calls=false allows at most one call",
            "strict": "function.strict binds arguments to the schema; absent is not strict",
            "seed": "sent as random_seed; best effort",
            "ids": "nine letters or digits; others are refused, so foreign ones are mapped and the change is recorded",
        }
    )

    def build(self, request: Request) -> WireRequest:
        """See Adapter. Tools go out untouched; foreign call ids in earlier messages are mapped and recorded.

        Order of the body: model, messages, tools, tool_choice, parallel_tool_calls, temperature, max_tokens,
        random_seed, stream, then `extra`.
        """
        _, extra = split_extra(request.extra, SWITCH_DEFAULTS)
        changes: list[Transformation] = []
        body: dict[str, Any] = {"model": request.model, "messages": _messages(request, changes)}
        if request.tools:
            body["tools"] = [function_tool(tool, request.strict) for tool in request.tools]
            body["tool_choice"] = "any" if request.tool_choice == "required" else wire_choice(request.tool_choice)
            if request.parallel is not None:
                body["parallel_tool_calls"] = request.parallel
        else:
            changes.extend(choice_without_tools(request.tool_choice))
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body["max_tokens"] = request.max_tokens
        if request.seed is not None:
            body["random_seed"] = request.seed
        if request.stream:
            body["stream"] = True
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
        """See Adapter. Arguments go back exactly as they came, thinking as the parts it came in.

        Ids the response gave stay; `build` maps those of a foreign form. `stream` does not matter: the bytes tell.
        """
        reply, calls = answered(_SHAPE, read_document(raw_response, faithful=True))
        switches, _ = split_extra(request.extra, SWITCH_DEFAULTS)
        results = results_in_order(tool_results, len(calls))
        ids = unique_ids([call.id for call in calls], used_ids(request.messages), _made)
        message: dict[str, Any] = {"role": "assistant", "content": reply.parts or reply.content or ""}
        fields = {**reply.texts(), **reply.fields}
        message.update({name: fields[name] for name in switches["echo_fields"] if name in fields})
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
            {"role": "tool", "tool_call_id": identifier, "name": call.name, "content": result_text(result.content)}
            for call, identifier, result in zip(calls, ids, results, strict=True)
        ]
        return add_messages(request, [message, *answers])


def _messages(request: Request, changes: list[Transformation]) -> list[Any]:
    """The messages with every id of a foreign form mapped, in calls and in results alike."""
    result = wire_messages(request.messages)
    for position, message in enumerate(request.messages):
        calls = list(native_calls(message))
        if any(_is_foreign(call.get("id")) for call in calls):
            result[position] = {
                **result[position],
                "tool_calls": [
                    {**call, "id": _mapped(call["id"], f"/messages/{position}/tool_calls/{place}/id", changes)}
                    if _is_foreign(call.get("id"))
                    else call
                    for place, call in enumerate(calls)
                ],
            }
        value = result[position]
        if isinstance(value, dict) and _is_foreign(value.get("tool_call_id")):
            pointer = f"/messages/{position}/tool_call_id"
            result[position] = {**value, "tool_call_id": _mapped(value["tool_call_id"], pointer, changes)}
    return result


def _made(number: int) -> str:
    """The id made for the `number`th need of one; unlike the ids that foreign ones such as call_0 become."""
    return mistral_id(f"callscope {number}")


def _is_foreign(identifier: Any) -> bool:
    return isinstance(identifier, str) and _ID.fullmatch(identifier) is None


def _mapped(identifier: str, pointer: str, changes: list[Transformation]) -> str:
    mapped = mistral_id(identifier)
    changes.append(Transformation(pointer, "call_id", identifier, mapped))
    return mapped


def _usage(usage: Mapping[str, Any]) -> Usage:
    """OpenAI's counts; the cached ones had another name until 2026, which is still sent beside the new one."""
    read = read_usage(usage)
    if read.cached_input_tokens is not None:
        return read
    values = {name: getattr(read, name) for name in read.__struct_fields__}
    return Usage(**{**values, "cached_input_tokens": token_count(usage.get("num_cached_tokens"))})


_SHAPE = Shape(Reply.add_chunk, usage=_usage)
ADAPTER = Mistral()
