"""The `bedrock` format: Converse and ConverseStream of Amazon Bedrock, with a bearer token or SigV4.

Not for InvokeModel, whose bodies differ by model, nor for Bedrock's OpenAI-compatible address (`openai-chat`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

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
from callscope.providers.acceptance import ErrorBody, Judged, judge
from callscope.providers.base import (
    Headers,
    bearer,
    lower_headers,
    merge_extra,
    one_of,
    result_text,
    results_in_order,
    split_extra,
    split_system,
)
from callscope.providers.bedrock_reply import (
    BedrockReply,
    add_value,
    is_client_call,
    read_converse,
    read_input,
    read_usage,
)
from callscope.providers.chatform import add_messages, choice_without_tools, unsupported, wire_request
from callscope.providers.ids import unique_ids
from callscope.providers.reading import Shape, gather, read_response
from callscope.providers.sigv4 import read_credentials, signed_headers

__all__ = ["ADAPTER", "SWITCH_DEFAULTS", "Bedrock"]

SWITCH_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {"spell_auto": True, "result_format": "native", "result_status": True}
)
"""Switches and their defaults. spell_auto: whether `auto` is written as toolChoice; off where the model takes no
toolChoice, or where `additionalModelRequestFields` carries a tool_choice of its own. result_format: `native` sends
objects as json and all else as text; `text` and `json` send everything so (json: what is no object as {"output": …}).
result_status: whether results say success or error; off for models that refuse the field."""

_SHAPE = Shape(add_value, read=read_converse, usage=read_usage, arguments=read_input, reply=BedrockReply)


class Bedrock:
    """The adapter of the `bedrock` format."""

    api = "bedrock"
    semantics: Mapping[str, str] = MappingProxyType(
        {
            "auto": "toolChoice auto: text, one call or several, as the model likes; the default where tools are given",
            "required": "toolChoice any: at least one call; refused by Llama and by Claude models that always think",
            "none": "there is none: the tools are left out, so that the model cannot see them, and this is recorded",
            "named": "toolChoice tool; refused where any is, and by further models",
            "parallel": "no switch; parallel=false is recorded as unsupported. Claude: additionalModelRequestFields "
            'tool_choice {"type": "auto", "disable_parallel_tool_use": true} with the switch spell_auto off',
            "strict": "toolSpec.strict binds input to the schema where the model supports it; absent is not strict",
            "seed": "none; recorded as unsupported",
            "temperature": "0 to 1",
        }
    )

    def build(self, request: Request) -> WireRequest:
        """See Adapter. The model id or ARN is in the path, percent-encoded.

        Order of the body: system, messages, toolConfig, inferenceConfig; `extra` is merged into it. A message beside
        one of the same role is joined to it, for most models want roles to alternate, and this is recorded.
        """
        switches, extra = split_extra(request.extra, SWITCH_DEFAULTS)
        changes: list[Transformation] = []
        system, messages = split_system(request.messages, changes)
        body: dict[str, Any] = {}
        if system:
            body["system"] = [{"text": text} for text in system]
        body["messages"] = _messages(messages, changes)
        if not request.tools:
            changes.extend(choice_without_tools(request.tool_choice))
        elif request.tool_choice == "none":
            changes.append(Transformation("/tools", "left_out", [tool.name for tool in request.tools], []))
        else:
            body["toolConfig"] = {"tools": [_tool(tool, request.strict) for tool in request.tools]}
            if request.tool_choice != "auto" or switches["spell_auto"]:
                body["toolConfig"]["toolChoice"] = _choice(request.tool_choice)
            if request.parallel is False:
                changes.append(unsupported("parallel", False))
        if request.seed is not None:
            changes.append(unsupported("seed", request.seed))
        settings = {"temperature": request.temperature, "maxTokens": request.max_tokens}
        settings = {name: value for name, value in settings.items() if value is not None}
        if settings:
            body["inferenceConfig"] = settings
        merge_extra(body, extra)
        verb, accept = "converse", "application/json"
        if request.stream:
            verb, accept = "converse-stream", "application/vnd.amazon.eventstream"
        return wire_request(f"/model/{quote(request.model, safe='~')}/{verb}", body, changes, accept=accept)

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """See Adapter: `Authorization: Bearer`. AWS credentials need `sign`, and raise InputError here."""
        if key is not None and read_credentials(key) is not None:
            raise InputError("AWS credentials sign a request for one address and moment", field="api_key")
        return bearer(key)

    def sign(self, wire: WireRequest, key: str | None, *, url: str, at: str) -> tuple[tuple[str, str], ...]:
        """See Signer: SigV4 headers where the key holds AWS credentials, else as `authorize`."""
        credentials = None if key is None else read_credentials(key)
        if credentials is None:
            return self.authorize(wire, key)
        return signed_headers(credentials, url, wire.headers, wire.body, at)

    def parse(self, status: int, headers: Headers, body: bytes, *, stream: bool) -> Reading:
        """See Adapter. Bodies name no model, so `model` is None."""
        lowered = lower_headers(headers)
        shape = _SHAPE._replace(judge=partial(_judge, lowered.get("x-amzn-errortype", "")))
        return read_response(shape, status, lowered, body, stream=stream)

    def follow_up(
        self,
        request: Request,
        raw_response: bytes,
        tool_results: Sequence[ToolResult],
        *,
        stream: bool,  # noqa: ARG002
    ) -> Request:
        """See Adapter. The assistant's blocks go back as they came, signatures among them; all results are one user
        message. `stream` does not matter: the bytes tell.
        """
        switches, _ = split_extra(request.extra, SWITCH_DEFAULTS)
        document = read_converse(raw_response, faithful=True)
        reply = gather(document, _SHAPE)
        assert isinstance(reply, BedrockReply)
        blocks = reply.echo()
        if not blocks:
            raise InputError(
                "the response holds no assistant message to answer to",
                field="raw_response",
                found=reply.finish or document.fault or "no content",
            )
        uses = [place for place, block in enumerate(blocks) if _asks(block)]
        results = results_in_order(tool_results, len(uses))
        given = [blocks[place]["toolUse"].get("toolUseId") for place in uses]
        ids = unique_ids([i if isinstance(i, str) else None for i in given], _used_ids(request.messages))
        answers = []
        form = one_of(switches, "result_format", "native", "text", "json")
        for place, identifier, result in zip(uses, ids, results, strict=True):
            blocks[place] = {"toolUse": {**blocks[place]["toolUse"], "toolUseId": identifier}}
            answer: dict[str, Any] = {"toolUseId": identifier, "content": [_result(result.content, form)]}
            if switches["result_status"]:
                answer["status"] = "error" if result.is_error else "success"
            answers.append({"toolResult": answer})
        added: list[Any] = [{"role": "assistant", "content": blocks}]
        if answers:
            added.append({"role": "user", "content": answers})
        return add_messages(request, added)


def _messages(messages: Sequence[tuple[int, Message | NativeMessage]], changes: list[Transformation]) -> list[Any]:
    sent: list[Any] = []
    for position, message in messages:
        if isinstance(message, NativeMessage):
            sent.append(message.value)
            continue
        block = {"text": message.text}
        last = sent[-1] if sent else None
        if isinstance(last, dict) and last.get("role") == message.role:
            sent[-1] = {**last, "content": [*last["content"], block]}
            changes.append(Transformation(f"/messages/{position}", "joined_to_previous", message.role, position - 1))
        else:
            sent.append({"role": message.role, "content": [block]})
    return sent


def _tool(tool: Tool, strict: bool | None) -> dict[str, Any]:
    spec: dict[str, Any] = {"name": tool.name}
    if tool.description:  # an empty one is refused
        spec["description"] = tool.description
    spec["inputSchema"] = {"json": tool.parameters}
    if strict is not None:
        spec["strict"] = strict
    return {"toolSpec": spec}


def _choice(choice: ToolChoice) -> dict[str, Any]:
    if isinstance(choice, NamedChoice):
        return {"tool": {"name": choice.name}}
    return {"any": {}} if choice == "required" else {"auto": {}}


def _result(content: Any, form: str) -> dict[str, Any]:
    if form == "json" or (form == "native" and isinstance(content, dict)):
        return {"json": content if isinstance(content, dict) else {"output": content}}
    return {"text": result_text(content)}


def _asks(block: Any) -> bool:
    use = block.get("toolUse") if isinstance(block, dict) else None
    return isinstance(use, dict) and is_client_call(use)


def _used_ids(messages: Sequence[Message | NativeMessage]) -> set[str]:
    """The ids of the calls that a conversation holds already."""
    values = [message.value for message in messages if isinstance(message, NativeMessage)]
    blocks = [block for value in values if isinstance(value, dict) for block in value.get("content") or ()]
    return {str(block["toolUse"].get("toolUseId")) for block in blocks if _asks(block)}


def _judge(errortype: str, status: int, body: ErrorBody) -> Judged:
    """The name of the exception stands in a header (`ThrottlingException:http://…`) or behind `#` in the body."""
    name = errortype.partition(":")[0] or body.code or body.kind.partition(" ")[0]
    return judge(status, body._replace(code=name.rpartition("#")[2]))


ADAPTER = Bedrock()
