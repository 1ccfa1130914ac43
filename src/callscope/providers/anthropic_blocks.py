"""One Anthropic message put together from its body or its events: content blocks in order, and what they say.

A whole body is a `message_start` that holds all of its content. Blocks keep every field, for the echo; nothing is
decided here (`reading`) and nothing is sent (`anthropic`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callscope.contract import Usage
from callscope.jsontext import JsonFault, parse_json
from callscope.providers.arguments import ABSENT, Arguments, read_argument_object, read_arguments
from callscope.providers.calls import Call, PlainCalls
from callscope.providers.reply import Reply, read_usage

__all__ = ["Block", "BlockReply", "blocks_usage", "read_input"]

_CALL = "tool_use"
_READ = frozenset({"text", "thinking", "redacted_thinking", _CALL})
# What a delta says about the block it belongs to, for one whose beginning never came.
_DELTA_BLOCKS: Mapping[str, str] = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": _CALL,
}


class _Written(str):
    """Argument text of a stream, which is to be read as JSON; a whole body holds the object itself."""

    __slots__ = ()


class Block:
    """One content block: `value` with the texts of its deltas joined in; `call` where it is the client's to answer."""

    __slots__ = ("_texts", "_written", "call", "type", "value")

    def __init__(self, value: Mapping[str, Any], end: int | None) -> None:
        self.value: dict[str, Any] = dict(value)
        self.type = value["type"] if isinstance(value.get("type"), str) else ""
        self._texts: dict[str, list[str]] = {}
        self._written: list[str] = []
        self.call: Call | None = None
        if self.type == _CALL:
            identifier, name = value.get("id"), value.get("name")
            self.call = Call()
            self.call.id = identifier if isinstance(identifier, str) and identifier else None
            self.call.name = name if isinstance(name, str) else ""
            self.call.arguments = value.get("input", ABSENT)
            self.call.end = end

    def add(self, delta: Mapping[str, Any], end: int | None) -> None:
        """Add a delta: texts join, citations are listed, of a signature and anything else the last one stands."""
        for name, piece in delta.items():
            if name == "partial_json" and isinstance(piece, str):
                self._add_input(piece, end)
            elif name == "citation":
                before = self.value.get("citations")
                self.value["citations"] = [*(before if isinstance(before, list) else ()), piece]
            elif isinstance(piece, str) and name not in {"type", "signature"}:
                before = self.value.get(name)
                self._texts.setdefault(name, [before] if isinstance(before, str) else []).append(piece)
            elif name != "type":
                self.value[name] = piece

    def _add_input(self, piece: str, end: int | None) -> None:
        if not piece:
            return
        self._written.append(piece)
        if self.call is not None:
            if len(self._written) > 1:
                self.call.extend(piece)
            else:
                self.call.arguments = _Written(piece)
            self.call.end = end

    def text(self, name: str) -> str:
        """One of the block's texts as it stands."""
        pieces = self._texts.get(name)
        whole = self.value.get(name) if pieces is None else "".join(pieces)
        return whole if isinstance(whole, str) else ""

    def whole(self) -> dict[str, Any]:
        """The block as one JSON value, all its deltas joined in.

        Input that is no JSON object goes under the key INVALID_JSON, as Anthropic's page on fine-grained tool
        streaming asks: the API takes nothing but objects there.
        """
        value = {**self.value, **{name: self.text(name) for name in self._texts}}
        if self._written:
            value["input"] = _object("".join(self._written))
        elif self.call is not None and not isinstance(value.get("input"), dict):
            value["input"] = {"INVALID_JSON": value["input"]} if value.get("input") else {}
        return value


def _object(text: str) -> dict[str, Any]:
    try:
        value = parse_json(text).value
    except JsonFault:
        value = None
    return value if isinstance(value, dict) else {"INVALID_JSON": text}


class BlockReply(Reply):
    """What the events of one message add up to; `blocks` holds its content in order."""

    __slots__ = ("_by_index", "blocks")

    def __init__(self) -> None:
        super().__init__()
        self.calls = PlainCalls()
        self.blocks: list[Block] = []
        self._by_index: dict[int, Block] = {}

    @property
    def content(self) -> str | None:
        """The text of all text blocks; None where there is none."""
        texts = [block.text("text") for block in self.blocks if block.type == "text"]
        return "".join(texts) if texts else None

    @property
    def reasoning(self) -> str:
        """The thinking, as far as it is shown."""
        return "".join(block.text("thinking") for block in self.blocks if block.type == "thinking")

    def add_chunk(self, chunk: Any, end: int | None) -> None:
        """Add one JSON value: an event, or a whole message."""
        if not isinstance(chunk, dict):
            return
        kind, message, delta = chunk.get("type"), chunk.get("message"), chunk.get("delta")
        if kind == "error" or chunk.get("error"):
            self.error = chunk if self.error is None else self.error
        elif kind == "message_start" and isinstance(message, dict):
            self._add_message(message, end)
        elif kind == "content_block_start" and isinstance(chunk.get("content_block"), dict):
            self._start(chunk["content_block"], _index(chunk), end)
        elif kind == "content_block_delta" and isinstance(delta, dict):
            block = self._find(_index(chunk), delta, end)
            if block is not None:
                block.add(delta, end)
        elif kind == "message_delta":
            self._add_usage(chunk.get("usage"))
            if isinstance(delta, dict):
                self._finish(delta)
        elif kind == "message_stop":
            self.ended = True
        elif kind == "message" or "content" in chunk:
            self._add_message(chunk, end)

    def _add_message(self, message: Mapping[str, Any], end: int | None) -> None:
        """A whole message, or the beginning of one. Some servers begin twice (vercel/ai keeps such a stream)."""
        content = message.get("content")
        self.has_message = self.has_message or isinstance(content, (list, str)) or end is not None
        if isinstance(message.get("model"), str):
            self.model = self.model or message["model"]
        self._add_usage(message.get("usage"))
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if isinstance(content, list) and not self.blocks:
            for value in content:
                if isinstance(value, dict):
                    self._new(value, end)
        self._finish(message)

    def _finish(self, message: Mapping[str, Any]) -> None:
        reason, details = message.get("stop_reason"), message.get("stop_details")
        if isinstance(reason, str):
            self.finish = reason
        if reason == "refusal":
            self.flags.add("content_filter")
            said = details.get("explanation") if isinstance(details, dict) else None
            if isinstance(said, str) and said and not self.content:
                self.refusal = [said]

    def _add_usage(self, usage: Any) -> None:
        """Counts of a stream are totals so far; those that an event leaves out stand."""
        if isinstance(usage, dict):
            self.usage = {**self.usage, **{name: value for name, value in usage.items() if value is not None}}

    def _start(self, value: Mapping[str, Any], index: int | None, end: int | None) -> None:
        before = None if index is None else self._by_index.get(index)
        if before is not None and before.call is not None:
            self.flags.add("shared_index")
        block = self._new(value, end)
        if index is not None:
            self._by_index[index] = block

    def _find(self, index: int | None, delta: Mapping[str, Any], end: int | None) -> Block | None:
        """The block a delta belongs to: by its index, else the last one of the type it fits."""
        block = None if index is None else self._by_index.get(index)
        wanted = _DELTA_BLOCKS.get(str(delta.get("type")))
        if block is not None and (wanted in {None, block.type} or (wanted == _CALL and "input" in block.value)):
            return block
        if wanted is None:
            return None
        last = next((block for block in reversed(self.blocks) if block.type == wanted), None)
        if wanted == _CALL:
            self.flags.add("missing_index" if index is None else "mismatched_index")
        return last or self._new({"type": wanted}, end)

    def _new(self, value: Mapping[str, Any], end: int | None) -> Block:
        block = Block(value, end)
        self.has_message = True
        self.blocks.append(block)
        if block.call is not None:
            self.calls.made.append(block.call)
        if block.type not in _READ:
            self.flags.add("unread_items")
        return block


def _index(event: Mapping[str, Any]) -> int | None:
    index = event.get("index")
    return index if type(index) is int else None


def read_input(raw: Any) -> Arguments:
    """Arguments as a message holds them: an object, or the text a stream wrote."""
    return read_arguments(str(raw)) if isinstance(raw, _Written) else read_argument_object(raw)


def blocks_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts of a message; `input_tokens` is the sum of fresh, cached and written ones, as everywhere here."""
    details = usage.get("output_tokens_details")
    counts = read_usage(
        {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "cached_tokens": usage.get("cache_read_input_tokens"),
            "cache_creation_input_tokens": usage.get("cache_creation_input_tokens"),
            "reasoning_tokens": details.get("thinking_tokens") if isinstance(details, dict) else None,
        }
    )
    cached, written = counts.cached_input_tokens, counts.cache_write_tokens
    total = None if counts.input_tokens is None else counts.input_tokens + (cached or 0) + (written or 0)
    return Usage(total, counts.output_tokens, counts.reasoning_tokens, cached, written)
