"""The `ollama` format: POST /api/chat, of a local server or of Ollama's cloud.

Not for Ollama's OpenAI-compatible address (that is `openai-chat`). The vendor's SDK is no model for the request: it
drops most keywords of a schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from callscope.contract import Reading, Request, ToolResult, Transformation, Usage, WireRequest
from callscope.providers.arguments import ABSENT, Arguments, mark_precision, read_object_or_text
from callscope.providers.base import Headers, bearer, merge_extra, result_text, results_in_order, split_extra
from callscope.providers.chatform import (
    add_messages,
    answered,
    choice_without_tools,
    function_tool,
    native_calls,
    unsupported,
    used_ids,
    wire_messages,
    wire_request,
)
from callscope.providers.ids import unique_ids
from callscope.providers.reading import Shape, read_response
from callscope.providers.reply import Reply, token_count
from callscope.providers.wire import read_lines

__all__ = ["ADAPTER", "SWITCH_DEFAULTS", "Ollama"]

SWITCH_DEFAULTS: Mapping[str, Any] = MappingProxyType({"num_ctx": 0})
"""Switches and their defaults. num_ctx: the context window in tokens, 0 for the server's own. A server cuts longer
prompts without a word, so a run with many tools should set it. `think`, `format`, `keep_alive` and further options
travel in `Request.extra`; its `options` join those made here."""


class Ollama:
    """The adapter of the `ollama` format."""

    api = "ollama"
    semantics: Mapping[str, str] = MappingProxyType(
        {
            "auto": "text, one call or several, as the model and its template like; the only choice there is",
            "required": "there is none: sent as auto and recorded as unsupported",
            "none": "there is none: the tools are left out, so that the model cannot see them, and this is recorded",
            "named": "there is none: sent as auto and recorded as unsupported",
            "parallel": "no switch; parallel=false is recorded as unsupported",
            "strict": "no switch; the schema is a hint to the model; strict=true is recorded as unsupported",
            "seed": "options.seed; the same seed and options give the same answer on the same machine and version",
            "context": "options.num_ctx, a switch; a longer prompt is cut without a word",
        }
    )

    def build(self, request: Request) -> WireRequest:
        """See Adapter. Schemas go out untouched; what Ollama has no form for is left out and recorded.

        Order of the body: model, messages, tools, stream, options (temperature, seed, num_predict, num_ctx), then
        `extra`, whose `options` are merged.
        """
        switches, extra = split_extra(request.extra, SWITCH_DEFAULTS)
        changes: list[Transformation] = []
        body: dict[str, Any] = {"model": request.model, "messages": _messages(request, changes)}
        if not request.tools:
            changes.extend(choice_without_tools(request.tool_choice))
        elif request.tool_choice == "none":
            changes.append(Transformation("/tools", "left_out", [tool.name for tool in request.tools], []))
        else:
            body["tools"] = [function_tool(tool) for tool in request.tools]
            if request.tool_choice != "auto":
                changes.append(unsupported("tool_choice", request.tool_choice))
            if request.parallel is False:
                changes.append(unsupported("parallel", False))
            if request.strict:
                changes.append(unsupported("strict", True))
        body["stream"] = request.stream
        options = {
            "temperature": request.temperature,
            "seed": request.seed,
            "num_predict": request.max_tokens,
            "num_ctx": switches["num_ctx"] or None,
        }
        options = {name: value for name, value in options.items() if value is not None}
        if options:
            body["options"] = options
        merge_extra(body, extra)
        accept = "application/x-ndjson" if request.stream else "application/json"
        return wire_request("/api/chat", body, changes, accept=accept)

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """See Adapter: `Authorization: Bearer`, which Ollama's cloud wants; a local server needs no key."""
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
        """See Adapter. Results name their tool; ids go along only where the server gave any.

        Arguments are kept as they came; `build` replaces those that are no object, which the server refuses.
        """
        reply, calls = answered(_SHAPE, read_lines(raw_response, faithful=True))
        results = results_in_order(tool_results, len(calls))
        ids: Sequence[str] = [""] * len(calls)
        if any(call.id for call in calls):
            ids = unique_ids([call.id for call in calls], used_ids(request.messages))
        message: dict[str, Any] = {"role": "assistant", "content": reply.content or "", **reply.texts()}
        message.update({name: value for name, value in reply.fields.items() if name != "role"})
        if calls:
            message["tool_calls"] = [
                {
                    **({"id": identifier} if identifier else {}),
                    "function": {"name": call.name, "arguments": {} if call.arguments is ABSENT else call.arguments},
                }
                for call, identifier in zip(calls, ids, strict=True)
            ]
        answers = [
            {
                "role": "tool",
                "tool_name": call.name,
                **({"tool_call_id": identifier} if identifier else {}),
                "content": result_text(result.content),
            }
            for call, identifier, result in zip(calls, ids, results, strict=True)
        ]
        return add_messages(request, [message, *answers])


def _messages(request: Request, changes: list[Transformation]) -> list[Any]:
    """The messages, with an object in place of echoed arguments that are none: the one they hold, else {}."""
    result = wire_messages(request.messages)
    for position, message in enumerate(request.messages):
        calls = list(native_calls(message))
        if all(isinstance(_arguments(call), dict) for call in calls):
            continue
        result[position] = {**result[position], "tool_calls": calls}
        for place, call in enumerate(calls):
            before = _arguments(call)
            if not isinstance(before, dict):
                after = read_object_or_text(before).value or {}
                calls[place] = {**call, "function": {**call["function"], "arguments": after}}
                pointer = f"/messages/{position}/tool_calls/{place}/function/arguments"
                changes.append(Transformation(pointer, "arguments_not_an_object", before, after))
    return result


def _arguments(call: Mapping[str, Any]) -> Any:
    function = call.get("function")
    return function.get("arguments", {}) if isinstance(function, dict) else {}


def _add(reply: Reply, value: Any, end: int | None) -> None:
    """Add a whole body or a line of a stream; both hold whole calls."""
    if not isinstance(value, dict):
        return
    message = value.get("message")
    if value.get("error") and reply.error is None:
        reply.error = value
    elif not isinstance(message, dict):
        # Older servers wrote the error's text as its key: {"error parsing tool call": "…"} (ollama#11704, #11781).
        name = next((key for key in value if key.startswith("error parsing tool call")), None)
        if name is not None and reply.error is None:
            reply.error = {"error": f"{name}: {value[name]}"}
    if isinstance(message, dict):
        calls = message.get("tool_calls")
        reply.add_message({**message, "tool_calls": None}, end, whole=False)
        reply.calls.add_whole(calls, end)
    if not reply.model and isinstance(value.get("model"), str):
        reply.model = value["model"] or None
    if isinstance(value.get("done"), bool):
        reply.ended = value["done"]
    if isinstance(value.get("done_reason"), str):
        reply.finish = value["done_reason"] or reply.finish
    if value.get("done") is True:
        reply.usage = value


def _usage(last: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=token_count(last.get("prompt_eval_count")), output_tokens=token_count(last.get("eval_count"))
    )


def _read_arguments(raw: Any) -> Arguments:
    """The server holds numbers as doubles, as Gemini does."""
    return mark_precision(read_object_or_text(raw))


_SHAPE = Shape(_add, read=read_lines, usage=_usage, arguments=_read_arguments)
ADAPTER = Ollama()
