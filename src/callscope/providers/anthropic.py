"""The `anthropic` format: POST /messages, as Anthropic and the servers that follow it speak it.

The base address holds the version, as for the other formats (`https://api.anthropic.com/v1`). Not for the tools that
a server runs itself: their blocks are only echoed.
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
    ToolResult,
    Transformation,
    WireRequest,
)
from callscope.errors import InputError
from callscope.providers.anthropic_blocks import Block, BlockReply, blocks_usage, read_input
from callscope.providers.base import (
    Headers,
    bearer,
    encode_body,
    key_header,
    result_text,
    results_in_order,
    split_extra,
)
from callscope.providers.chatform import add_messages, choice_without_tools, unsupported
from callscope.providers.ids import unique_ids
from callscope.providers.reading import Shape, gather, read_response
from callscope.providers.wire import read_document

__all__ = ["ADAPTER", "SWITCH_DEFAULTS", "Anthropic"]

SWITCH_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "version": "2023-06-01",
        "beta": (),
        "default_max_tokens": 4096,
        "send_temperature": True,
        "send_seed": False,
        "auth": "x-api-key",
    }
)
"""Switches and their defaults. version: the header anthropic-version. beta: names for the header anthropic-beta.
default_max_tokens: what is sent where a request sets no limit, for the format demands one. send_temperature: false for
models that refuse one (versions from 2026-10-21 on all do, whatever this says). send_seed: true for servers that take
a `seed`, which Anthropic's does not. auth: `x-api-key` or `bearer`."""

NO_SAMPLING_SINCE = "2026-10-21"
"""The API version from which on temperature, top_p and top_k are answered with 400."""

_CHOICES: Mapping[str, str] = {"auto": "auto", "required": "any", "none": "none"}
_SHAPE = Shape(
    lambda reply, value, end: reply.add_chunk(value, end),
    usage=blocks_usage,
    arguments=read_input,
    reply=BlockReply,
)


class Anthropic:
    """The adapter of the `anthropic` format."""

    api = "anthropic"
    semantics: Mapping[str, str] = MappingProxyType(
        {
            "auto": "text, one call or several, as the model likes",
            "required": "sent as type any: at least one call; the newest models, and older ones while they think, "
            "answer 400",
            "none": "tools are shown and no call is allowed",
            "named": "sent as type tool: a call of this one tool; refused where required is",
            "parallel": "disable_parallel_tool_use inside the tool choice: at most one call with auto, exactly one "
            "with required and named; it has no place in none",
            "strict": "strict in a tool binds its input to the schema (a subset of JSON Schema; at most 20 such "
            "tools); absent is not strict",
            "seed": "there is none; a seed is left out and recorded, unless send_seed is on",
            "temperature": "refused from API version 2026-10-21 on and by the newest models; left out and recorded",
            "max_tokens": "must be sent; default_max_tokens stands in and is recorded",
        }
    )

    def build(self, request: Request) -> WireRequest:
        """See Adapter. Tools go out untouched; a tool choice without tools is left out and recorded.

        System messages go out as `system`: one as a string, several as text blocks; one that came after another
        message is moved, and that is recorded. Order of the body: model, max_tokens, system, messages, tools,
        tool_choice, temperature, seed, stream, then `extra`.
        """
        switches, extra = split_extra(request.extra, SWITCH_DEFAULTS)
        if switches["auth"] not in {"x-api-key", "bearer"}:
            raise InputError(
                "unknown way to send the key",
                field="switches.auth",
                found=switches["auth"],
                expected="x-api-key or bearer",
            )
        changes: list[Transformation] = []
        body: dict[str, Any] = {"model": request.model, "max_tokens": request.max_tokens}
        if request.max_tokens is None:
            body["max_tokens"] = switches["default_max_tokens"]
            changes.append(Transformation("/max_tokens", "required_setting", None, body["max_tokens"]))
        system, messages = _messages(request.messages, changes)
        if system:
            body["system"] = system[0] if len(system) == 1 else [{"type": "text", "text": text} for text in system]
        body["messages"] = messages
        if request.tools:
            body["tools"] = [_tool(tool, request.strict) for tool in request.tools]
            body["tool_choice"] = _choice(request)
        else:
            changes.extend(choice_without_tools(request.tool_choice))
        if request.temperature is not None:
            if switches["send_temperature"] and switches["version"] < NO_SAMPLING_SINCE:
                body["temperature"] = request.temperature
            else:
                changes.append(unsupported("temperature", request.temperature))
        if request.seed is not None:
            if switches["send_seed"]:
                body["seed"] = request.seed
            else:
                changes.append(unsupported("seed", request.seed))
        if request.stream:
            body["stream"] = True
        body.update(extra)
        headers = [
            ("content-type", "application/json"),
            ("accept", "text/event-stream" if request.stream else "application/json"),
            ("anthropic-version", switches["version"]),
        ]
        if switches["beta"]:
            headers.append(("anthropic-beta", ",".join(switches["beta"])))
        return WireRequest("/messages", tuple(headers), encode_body(body), tuple(changes), switches["auth"])

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:
        """See Adapter: `x-api-key`, or `Authorization: Bearer` where the switch `auth` says so."""
        return bearer(key) if wire.auth == "bearer" else key_header("x-api-key", key)

    def parse(self, status: int, headers: Headers, body: bytes, *, stream: bool) -> Reading:
        """See Adapter. Blocks of tools that the server runs are no calls; they are flagged `unread_items`.

        Input text of a stream that adds up to nothing is the beginning's `input`, `{}`: so a call without arguments
        reads the same whole and streamed.
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
        """See Adapter. The content goes back block by block with every field, thinking and signatures included, then
        one user message with all results.

        Left out are text blocks without text, which the API refuses. Ids are kept unless missing or used before.
        """
        document = read_document(raw_response, faithful=True)
        reply = gather(document, _SHAPE)
        assert isinstance(reply, BlockReply)
        blocks = [block for block in reply.blocks if _says_something(block)]
        if not blocks:
            raise InputError(
                "the response holds no content to answer to",
                field="raw_response",
                found=document.fault or "no content blocks",
            )
        calls = [block for block in blocks if block.call is not None]
        results = results_in_order(tool_results, len(calls))
        ids = unique_ids([call.id for call in reply.calls.finished()], _used_ids(request.messages))
        named = dict(zip(map(id, calls), ids, strict=True))
        content = [_echo(block, named.get(id(block))) for block in blocks]
        added: list[Any] = [{"role": "assistant", "content": content}]
        if calls:
            answers = [_result(identifier, result) for identifier, result in zip(ids, results, strict=True)]
            added.append({"role": "user", "content": answers})
        return add_messages(request, added)


def _messages(
    messages: Sequence[Message | NativeMessage], changes: list[Transformation]
) -> tuple[list[str], list[Any]]:
    """(the system texts, the other messages)."""
    system: list[str] = []
    others: list[Any] = []
    for position, message in enumerate(messages):
        if isinstance(message, NativeMessage):
            others.append(message.value)
        elif message.role == "system":
            if others:
                changes.append(Transformation(f"/messages/{position}", "system_moved", message.text))
            system.append(message.text)
        else:
            others.append({"role": message.role, "content": message.text})
    return system, others


def _tool(tool: Tool, strict: bool | None) -> dict[str, Any]:
    value: dict[str, Any] = {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
    if strict is not None:
        value["strict"] = strict
    return value


def _choice(request: Request) -> dict[str, Any]:
    choice: dict[str, Any]
    if isinstance(request.tool_choice, NamedChoice):
        choice = {"type": "tool", "name": request.tool_choice.name}
    else:
        choice = {"type": _CHOICES[request.tool_choice]}
    if request.parallel is not None and request.tool_choice != "none":
        choice["disable_parallel_tool_use"] = not request.parallel
    return choice


def _says_something(block: Block) -> bool:
    if block.call is not None:
        return not block.call.empty()
    return block.type != "text" or bool(block.text("text"))


def _echo(block: Block, identifier: str | None) -> dict[str, Any]:
    value = block.whole()
    if identifier is not None and block.call is not None:
        value["id"] = identifier
        value["name"] = block.call.name
    return value


def _result(identifier: str, result: ToolResult) -> dict[str, Any]:
    value: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": identifier,
        "content": result_text(result.content),
    }
    if result.is_error:
        value["is_error"] = True
    return value


def _used_ids(messages: Sequence[Message | NativeMessage]) -> set[str]:
    used = set()
    for message in messages:
        content = message.value.get("content") if isinstance(message, NativeMessage) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                used.add(block["id"])
    return used


ADAPTER = Anthropic()
