"""What the formats with OpenAI-shaped tools and messages share when they write: tools, plain messages, echoes.

Used by OpenAI chat, Mistral, Cohere and Ollama. Reading is `reading`, and what a format does otherwise stands in its
own module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from callscope.contract import (
    Message,
    NamedChoice,
    NativeMessage,
    Request,
    Tool,
    ToolChoice,
    Transformation,
    WireRequest,
)
from callscope.errors import InputError
from callscope.jsontext import dump_faithful
from callscope.providers.arguments import ABSENT
from callscope.providers.base import encode_body
from callscope.providers.calls import Call
from callscope.providers.reading import Shape, gather
from callscope.providers.reply import Reply
from callscope.providers.wire import Document

__all__ = [
    "add_messages",
    "answered",
    "argument_text",
    "choice_without_tools",
    "function_tool",
    "native_calls",
    "unsupported",
    "used_ids",
    "wire_choice",
    "wire_messages",
    "wire_request",
]


def wire_messages(messages: Sequence[Message | NativeMessage]) -> list[Any]:
    """The messages of a body: plain ones as role and content, native ones verbatim."""
    return [
        message.value if isinstance(message, NativeMessage) else {"role": message.role, "content": message.text}
        for message in messages
    ]


def function_tool(tool: Tool, strict: bool | None = None) -> dict[str, Any]:
    """A tool in OpenAI's wrapper, its schema untouched; `strict` only where it is stated."""
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if strict is not None:
        function["strict"] = strict
    return {"type": "function", "function": function}


def wire_choice(choice: ToolChoice) -> Any:
    """A tool choice as OpenAI writes it."""
    return {"type": "function", "function": {"name": choice.name}} if isinstance(choice, NamedChoice) else choice


def choice_without_tools(choice: ToolChoice) -> tuple[Transformation, ...]:
    """The record of a tool choice that was left out because no tool is offered; none where nothing was lost."""
    if choice in ("auto", "none"):
        return ()
    return (Transformation("/tool_choice", "choice_without_tools", wire_choice(choice)),)


def unsupported(setting: str, before: Any, after: Any = None) -> Transformation:
    """The record of a setting the format has no form for; `after` is what went out in its place, None for nothing."""
    return Transformation(f"/{setting}", "unsupported", wire_choice(before), after)


def wire_request(
    path: str, body: Mapping[str, Any], changes: Sequence[Transformation], *, accept: str = "application/json"
) -> WireRequest:
    """A body ready to send as JSON."""
    return WireRequest(path, (("content-type", "application/json"), ("accept", accept)), encode_body(body), (*changes,))


def answered(shape: Shape, document: Document) -> tuple[Reply, list[Call]]:
    """The reply of a response that is to be answered, and its calls.

    Raises InputError where it holds no assistant message.
    """
    reply = gather(document, shape)
    if not reply.has_message:
        raise InputError(
            "the response holds no assistant message to answer to",
            field="raw_response",
            found=document.fault or "no message",
        )
    return reply, reply.calls.finished()


def argument_text(arguments: Any) -> str:
    """Arguments as an echo sends them: text exactly as it came, nothing as "{}", any other value as compact JSON."""
    if arguments is ABSENT or arguments is None or arguments == "":
        return "{}"
    return arguments if isinstance(arguments, str) else dump_faithful(arguments).decode("utf-8")


def native_calls(message: Message | NativeMessage) -> Iterator[dict[str, Any]]:
    """The calls a native message echoes, as far as they are objects."""
    if isinstance(message, NativeMessage) and isinstance(message.value, dict):
        calls = message.value.get("tool_calls")
        if isinstance(calls, list):
            yield from (call for call in calls if isinstance(call, dict))


def used_ids(messages: Sequence[Message | NativeMessage]) -> set[str]:
    """The call ids a conversation holds already."""
    ids = {call.get("id") for message in messages for call in native_calls(message)}
    return {identifier for identifier in ids if isinstance(identifier, str)}


def add_messages(request: Request, added: Sequence[Any]) -> Request:
    """The request with native messages added at its end."""
    values = {name: getattr(request, name) for name in request.__struct_fields__}
    messages = (*request.messages, *(NativeMessage(message) for message in added))
    return Request(**{**values, "messages": messages})
