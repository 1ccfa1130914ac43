"""The `gemini` format: generateContent and streamGenerateContent, at the addresses of AI Studio and of Vertex AI.

Not for Gemini's OpenAI-compatible address (that is `openai-chat`). A Vertex base URL ends in
`/projects/<project>/locations/<location>/publishers/google`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from msgspec import structs

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
from callscope.providers.arguments import read_doubles_object
from callscope.providers.base import (
    Headers,
    bearer,
    key_header,
    merge_extra,
    one_of,
    results_in_order,
    split_extra,
    split_system,
)
from callscope.providers.chatform import add_messages, choice_without_tools, unsupported, wire_request
from callscope.providers.gemini_reply import GeminiReply, add_value, read_chunks, read_usage
from callscope.providers.gemini_schema import openapi_subset
from callscope.providers.reading import Shape, gather, read_response

__all__ = ["ADAPTER", "SWITCH_DEFAULTS", "Gemini"]

SWITCH_DEFAULTS: Mapping[str, Any] = MappingProxyType({"auth": "api_key", "schema_field": "parametersJsonSchema"})
"""Switches and their defaults. auth: `api_key` (x-goog-api-key) or `bearer` (an OAuth token, as Vertex wants it).
schema_field: `parametersJsonSchema` takes a tool's schema as it is; `parameters` takes an OpenAPI subset, into which it
is rewritten, every change recorded."""

_SHAPE = Shape(add_value, read=read_chunks, usage=read_usage, arguments=read_doubles_object, reply=GeminiReply)
_ROLES = {"user": "user", "assistant": "model"}
_MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}


class Gemini:
    """The adapter of the `gemini` format."""

    api = "gemini"
    semantics: Mapping[str, str] = MappingProxyType(
        {
            "auto": "mode AUTO: text, one call or several, as the model likes; with strict=true mode VALIDATED, where "
            "calls are held to their schemas",
            "required": "mode ANY: at least one call, held to its schema; refuses large schemas that AUTO takes",
            "none": "mode NONE: tools are shown and no call is allowed",
            "named": "mode ANY with the one tool in allowedFunctionNames",
            "parallel": "no switch; parallel=false is recorded as unsupported",
            "strict": "no switch of a tool: VALIDATED for auto, ANY always; strict=false changes nothing",
            "seed": "generationConfig.seed, best effort",
            "temperature": "0 to 2; Google advises 1 for Gemini 3",
        }
    )

    def build(self, request: Request) -> WireRequest:
        """See Adapter. The model is in the path; one with a slash (`tunedModels/x`, `endpoints/1`) is the path itself.

        Order of the body: systemInstruction, contents, tools, toolConfig, generationConfig; `extra` is merged into it.
        """
        switches, extra = split_extra(request.extra, SWITCH_DEFAULTS)
        changes: list[Transformation] = []
        system, messages = split_system(request.messages, changes)
        body: dict[str, Any] = {}
        if system:
            body["systemInstruction"] = {"parts": [{"text": text} for text in system]}
        body["contents"] = [_content(message) for _, message in messages]
        field = one_of(switches, "schema_field", "parametersJsonSchema", "parameters")
        if request.tools:
            declarations = [_declaration(tool, place, field, changes) for place, tool in enumerate(request.tools)]
            body["tools"] = [{"functionDeclarations": declarations}]
            body["toolConfig"] = {"functionCallingConfig": _calling(request)}
            if request.parallel is False:
                changes.append(unsupported("parallel", False))
        else:
            changes.extend(choice_without_tools(request.tool_choice))
        settings = {"temperature": request.temperature, "maxOutputTokens": request.max_tokens, "seed": request.seed}
        settings = {name: value for name, value in settings.items() if value is not None}
        if settings:
            body["generationConfig"] = settings
        merge_extra(body, extra)
        auth = one_of(switches, "auth", "api_key", "bearer")
        accept = "text/event-stream" if request.stream else "application/json"
        wire = wire_request(_path(request), body, changes, accept=accept)
        return structs.replace(wire, auth="bearer") if auth == "bearer" else wire

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:
        """See Adapter: `x-goog-api-key`, or `Authorization: Bearer` where the request was built for it."""
        return bearer(key) if wire.auth == "bearer" else key_header("x-goog-api-key", key)

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
        """See Adapter. The model's parts go back verbatim, thought signatures in their places; all results are one
        user content, in the order of the calls and under their names. `stream` does not matter: the bytes tell.
        """
        document = read_chunks(raw_response, faithful=True)
        reply = gather(document, _SHAPE)
        assert isinstance(reply, GeminiReply)
        parts = reply.echo()
        if not parts:
            raise InputError(
                "the response holds no assistant message to answer to",
                field="raw_response",
                found=reply.finish or document.fault or "no parts",
            )
        functions = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
        results = results_in_order(tool_results, len(functions))
        added: list[Any] = [{"role": "model", "parts": parts}]
        if functions:
            answers = [_answer(function, result) for function, result in zip(functions, results, strict=True)]
            added.append({"role": "user", "parts": answers})
        return add_messages(request, added)


def _path(request: Request) -> str:
    model = quote(request.model, safe="/@~")
    method = "streamGenerateContent?alt=sse" if request.stream else "generateContent"
    return f"/{model}:{method}" if "/" in model else f"/models/{model}:{method}"


def _content(message: Message | NativeMessage) -> Any:
    if isinstance(message, NativeMessage):
        return message.value
    return {"role": _ROLES[message.role], "parts": [{"text": message.text}]}


def _declaration(tool: Tool, place: int, field: str, changes: list[Transformation]) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": tool.name, "description": tool.description}
    schema: Any = tool.parameters
    if field == "parameters":
        schema = openapi_subset(tool.parameters, f"/tools/{place}/parameters", changes)
    if schema is not None:
        declared[field] = schema
    return declared


def _calling(request: Request) -> dict[str, Any]:
    if isinstance(request.tool_choice, NamedChoice):
        return {"mode": "ANY", "allowedFunctionNames": [request.tool_choice.name]}
    if request.tool_choice == "auto" and request.strict:
        return {"mode": "VALIDATED"}
    return {"mode": _MODES[request.tool_choice]}


def _answer(function: Mapping[str, Any], result: ToolResult) -> dict[str, Any]:
    """One functionResponse; its `response` must be an object, and an id goes along only where the model sent one."""
    content = result.content
    if result.is_error and not (isinstance(content, dict) and "error" in content):
        content = {"error": content}
    elif not isinstance(content, dict):
        content = {"output": content}
    response: dict[str, Any] = {"id": function["id"]} if function.get("id") else {}
    return {"functionResponse": {**response, "name": function.get("name") or "", "response": content}}


ADAPTER = Gemini()
