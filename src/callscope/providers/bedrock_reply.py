"""One Converse response put together: a whole body, or the events of a stream.

Gathers content blocks, calls and the word for how it ended; what an outcome makes of them stands in `reading`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callscope.contract import Malformed, Usage
from callscope.jsontext import JsonFault, parse_json
from callscope.providers.arguments import ABSENT, Arguments, mark_precision, read_arguments, read_doubles_object
from callscope.providers.bedrock_events import looks_like_frames, read_frames
from callscope.providers.calls import Call
from callscope.providers.modelfault import reject_calls
from callscope.providers.reply import Reply, token_count
from callscope.providers.wire import Chunk, Document, load, load_faithful, read_document

__all__ = ["STATUS_OF", "BedrockReply", "add_value", "is_client_call", "read_converse", "read_input", "read_usage"]

STATUS_OF: Mapping[str, int] = {
    "accessdeniedexception": 403,
    "internalserverexception": 500,
    "modelerrorexception": 424,
    "modelnotreadyexception": 429,
    "modelstreamerrorexception": 424,
    "modeltimeoutexception": 408,
    "resourcenotfoundexception": 404,
    "servicequotaexceededexception": 400,
    "serviceunavailableexception": 503,
    "throttlingexception": 429,
    "validationexception": 400,
}
"""Exception (lower case) -> the HTTP status it has outside a stream (botocore's model of bedrock-runtime)."""

_USUAL = frozenset({"end_turn", "tool_use", "max_tokens", "stop_sequence", "model_context_window_exceeded"})
_WITHHELD = frozenset({"guardrail_intervened", "content_filtered"})
_NO_CONTENT = frozenset({"cachePoint"})


class _Block:
    """A content block of a stream while its pieces come."""

    __slots__ = ("call", "input", "reasoning", "result", "results", "text", "use")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: dict[str, str] = {}
        self.use: dict[str, Any] | None = None
        self.input: list[str] = []
        self.call: Call | None = None
        self.result: dict[str, Any] | None = None
        self.results: list[Any] = []

    def whole(self) -> dict[str, Any] | None:
        """The block as a whole body would hold it; None where nothing came."""
        if self.use is not None:
            return {"toolUse": {**self.use, "input": _object("".join(self.input))}}
        if self.result is not None:
            return {"toolResult": {**self.result, "content": self.results}}
        if "redactedContent" in self.reasoning:
            return {"reasoningContent": {"redactedContent": self.reasoning["redactedContent"]}}
        if self.reasoning:
            return {"reasoningContent": {"reasoningText": {"text": "", **self.reasoning}}}
        return {"text": "".join(self.text)} if self.text else None


def _object(text: str) -> dict[str, Any]:
    """Streamed input as the object an echo must hold; {} where it is none, for the API takes nothing else."""
    try:
        value = parse_json(text).value
    except JsonFault:
        value = None
    return value if isinstance(value, dict) else {}


class BedrockReply(Reply):
    """What the values of one response add up to."""

    __slots__ = ("_blocks",)

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, _Block] = {}

    def echo(self) -> list[Any]:
        """The assistant's blocks as the next request must hold them: as they came, streamed ones put together, blank
        texts left out (models refuse them), inputs that are missing or no object as {}."""
        streamed = [whole for block in self._blocks.values() if (whole := block.whole()) is not None]
        blocks = [_with_input(block) for block in (*self.parts, *streamed)]
        return [block for block in blocks if not _is_blank(block)] or blocks

    def add(self, value: Any, end: int | None) -> None:
        """Add one value: the whole body, or {event name: payload}; what is neither is passed over."""
        if not isinstance(value, dict):
            return
        if value.get("error") and self.error is None:
            self.error = value
        output = value.get("output")
        if isinstance(output, dict) and isinstance(output.get("message"), dict):
            self._add_message(output["message"])
        elif isinstance(value.get("Output"), dict) and "__type" in value["Output"]:  # an address that is not this API
            self.error = value["Output"]
        self._add_event(value, end)
        for holder in (value, value.get("metadata")):
            if isinstance(holder, dict) and isinstance(holder.get("usage"), dict):
                self.usage = holder["usage"]
        stop = value.get("messageStop")
        reason = (stop if isinstance(stop, dict) else value).get("stopReason")
        if isinstance(reason, str) and reason:
            self.finish = reason
            self._end(reason)

    def _add_message(self, message: Mapping[str, Any]) -> None:
        self.has_message = True
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict):
                self.parts.append(block)
                self._read(block)

    def _read(self, block: Mapping[str, Any]) -> None:
        use, text, cited = block.get("toolUse"), block.get("text"), block.get("citationsContent")
        if isinstance(use, dict):
            self._add_call(use, _whole_input(use), None)
        elif isinstance(text, str):
            self._say(text)
        elif isinstance(cited, dict) and isinstance(cited.get("content"), list):
            for piece in cited["content"]:
                self._say(piece.get("text") if isinstance(piece, dict) else None)
        elif isinstance(block.get("reasoningContent"), dict):
            thought = block["reasoningContent"].get("reasoningText")
            self._think(thought.get("text") if isinstance(thought, dict) else None)
        elif not block.keys() <= _NO_CONTENT:
            self.flags.add("unread_items")

    def _say(self, text: Any) -> None:
        if isinstance(text, str):
            self._texts.setdefault("content", []).append(text)

    def _think(self, text: Any) -> None:
        if isinstance(text, str):
            self._thoughts.append(text)

    def _add_call(self, use: Mapping[str, Any], arguments: Any, end: int | None) -> Call | None:
        if not is_client_call(use):
            self.flags.add("unread_items")
            return None
        call = Call()
        name, identifier = use.get("name"), use.get("toolUseId")
        call.name = name if isinstance(name, str) else ""
        call.id = identifier if isinstance(identifier, str) and identifier else None
        call.arguments, call.end = arguments, end
        self.calls.made.append(call)
        return call

    def _add_event(self, value: Mapping[str, Any], end: int | None) -> None:
        if "messageStart" in value:
            self.has_message = True
        for name in ("contentBlockStart", "contentBlockDelta", "contentBlockStop"):
            event = value.get(name)
            if isinstance(event, dict):
                self.has_message = True
                index = event.get("contentBlockIndex")
                block = self._blocks.setdefault(index if isinstance(index, int) else -1, _Block())
                if isinstance(event.get("start"), dict):
                    self._start(block, event["start"], end)
                if isinstance(event.get("delta"), dict):
                    self._go_on(block, event["delta"], end)
                if block.call is not None:
                    block.call.end = end

    def _start(self, block: _Block, start: Mapping[str, Any], end: int | None) -> None:
        use, result = start.get("toolUse"), start.get("toolResult")
        if isinstance(use, dict):
            block.use = dict(use)
            block.call = self._add_call(use, "", end)
        elif isinstance(result, dict):
            block.result = dict(result)
            self.flags.add("unread_items")

    def _go_on(self, block: _Block, delta: Mapping[str, Any], end: int | None) -> None:
        use, text, reasoning = delta.get("toolUse"), delta.get("text"), delta.get("reasoningContent")
        if isinstance(use, dict):
            if block.use is None:
                self._start(block, {"toolUse": {}}, end)
            piece = use.get("input")
            if isinstance(piece, str):
                block.input.append(piece)
                if block.call is not None:
                    block.call.extend(piece)
        elif isinstance(text, str):
            block.text.append(text)
            self._say(text)
        elif isinstance(reasoning, dict):
            self._think(reasoning.get("text"))
            for name, piece in reasoning.items():
                if isinstance(piece, str):
                    block.reasoning[name] = block.reasoning.get(name, "") + piece
        elif isinstance(delta.get("toolResult"), list):
            block.results.extend(delta["toolResult"])
        else:
            self.flags.add("unread_items")

    def _end(self, reason: str) -> None:
        if reason == "malformed_tool_use":
            reject_calls(self.calls, reason, self.content or "")
        elif reason == "malformed_model_output":
            self.flags.add("malformed_output")
            if self.calls.made:
                reject_calls(self.calls, reason, "")
        elif reason in _WITHHELD:
            self.filtered = True
        elif reason not in _USUAL:
            self.flags.add("unknown_finish")


def is_client_call(use: Mapping[str, Any]) -> bool:
    """Whether a toolUse block asks us for something: those of the provider's own tools are already answered."""
    return use.get("type") != "server_tool_use"


def _whole_input(use: Mapping[str, Any]) -> Any:
    given = use.get("input", ABSENT)
    return Malformed("not_an_object", given) if isinstance(given, str) else given


def _with_input(block: dict[str, Any]) -> dict[str, Any]:
    use = block.get("toolUse")
    if isinstance(use, dict) and not isinstance(use.get("input"), dict):
        return {**block, "toolUse": {**use, "input": {}}}
    return block


def _is_blank(block: dict[str, Any]) -> bool:
    return block.keys() == {"text"} and isinstance(block["text"], str) and not block["text"].strip()


def add_value(reply: Reply, value: Any, end: int | None) -> None:
    """Add one value of a body to a BedrockReply."""
    assert isinstance(reply, BedrockReply)
    reply.add(value, end)


def read_input(raw: Any) -> Arguments:
    """The input of a call: text where it was streamed, an object where the body came whole."""
    return mark_precision(read_arguments(raw)) if isinstance(raw, str) else read_doubles_object(raw)


def read_converse(body: bytes, *, faithful: bool = False) -> Document:
    """Read a body: an AWS event stream, each event as {its type: payload}, or one JSON value."""
    if not looks_like_frames(body):
        return read_document(body, faithful=faithful)
    frames, fault = read_frames(body)
    chunks: list[Chunk] = []
    json_flags: set[str] = set()
    for headers, payload, end in frames:
        kind = headers.get(":message-type")
        if kind == "error":
            code, message = headers.get(":error-code", ""), headers.get(":error-message", "")
            chunks.append(Chunk({"error": _exception(code, {"message": message})}, end))
            continue
        try:
            value, found = (load_faithful if faithful else load)(payload)
        except JsonFault:
            fault = fault or "unreadable_chunk"
            continue
        json_flags.update(found)
        if kind == "exception":
            chunks.append(Chunk({"error": _exception(headers.get(":exception-type", ""), value)}, end))
        else:
            chunks.append(Chunk({headers.get(":event-type", ""): value}, end))
    own = frozenset(json_flags & {"invalid_utf8", "nan_in_body"})
    return Document(tuple(chunks), True, False, fault, own, frozenset(json_flags) - own)


def _exception(name: str, value: Any) -> dict[str, Any]:
    """An exception of a stream as the error body it would have been outside one."""
    fields = value if isinstance(value, dict) else {"message": value}
    status = STATUS_OF.get(name.lower(), 500)
    return {"message": fields.get("message") or fields.get("originalMessage"), "code": name, "status_code": status}


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts. The wire's inputTokens leaves out what the cache read and wrote; here they are counted in."""
    fresh = token_count(usage.get("inputTokens"))
    read, written = token_count(usage.get("cacheReadInputTokens")), token_count(usage.get("cacheWriteInputTokens"))
    return Usage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        output_tokens=token_count(usage.get("outputTokens")),
        cached_input_tokens=read,
        cache_write_tokens=written,
    )
