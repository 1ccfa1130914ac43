"""One Responses-API response put together from its body or its events: output items in order, and what they say.

A whole body is the final event of a stream that had no other. Items keep everything they came with, for the echo;
nothing is decided here (`reading`) and nothing is sent (`openai_responses`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from callscope.contract import Usage
from callscope.providers.arguments import ABSENT
from callscope.providers.calls import Call, PlainCalls
from callscope.providers.reply import Reply, read_usage

__all__ = ["CALL_INPUT", "Item", "ItemReply", "items_usage"]

CALL_INPUT: Mapping[str, str] = {"function_call": "arguments", "custom_tool_call": "input"}
"""The item types that are calls for the client to answer, and the field each keeps its arguments in."""

# event stem -> (type of the item it belongs to, type of the part within it, field of its `done` event)
_PIECES: Mapping[str, tuple[str, str, str]] = {
    "response.function_call_arguments": ("function_call", "", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "", "input"),
    "response.output_text": ("message", "output_text", "text"),
    "response.refusal": ("message", "refusal", "refusal"),
    "response.reasoning_text": ("reasoning", "reasoning_text", "text"),
    "response.reasoning_summary_text": ("reasoning", "summary_text", "text"),
}
_IDS = ("id", "call_id")
_READ = frozenset({"message", "reasoning", *CALL_INPUT})
_FINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
_UNFINISHED = frozenset({"queued", "in_progress"})
_LOST = frozenset({"failed", "cancelled"})


class Item:
    """One output item: `value` as last sent (`whole` once it came complete), and the pieces streamed into it.

    `pieces` maps (place of the part, its type) to the texts streamed into it; a call has the one part (0, "").
    """

    __slots__ = ("call", "pieces", "type", "value", "whole")

    def __init__(self, value: Mapping[str, Any], end: int | None) -> None:
        self.value: Mapping[str, Any] = value
        self.type: str = _key(value.get("type"), str) or ""
        self.whole = False
        self.pieces: dict[tuple[int, str], list[str]] = {}
        self.call: Call | None = None
        if self.type in CALL_INPUT:
            self.call = Call()
            self.call.custom = self.type == "custom_tool_call"
            self.call.end = end
            self._read_call(value)

    def complete(self, value: Mapping[str, Any], end: int | None, flags: set[str]) -> None:
        """Take the item's final form; of what it lacks, the pieces stand."""
        self.value, self.whole = value, True
        if self.call is None:
            return
        if not self.pieces and value.get(CALL_INPUT[self.type]):
            self.call.end = self.call.end if self.call.arguments not in (ABSENT, None, "") else end
        self._read_call(value)
        written = "".join(self.pieces.get((0, ""), ()))
        if not written:
            return
        if self.call.arguments in (ABSENT, None, ""):
            self.call.arguments = written
        elif self.call.arguments != written:
            flags.add("differing_arguments")

    def add(self, part: tuple[int, str], text: str, end: int | None) -> None:
        """Add a piece of the part's text."""
        pieces = self.pieces.setdefault(part, [])
        if not text:
            return
        if self.call is not None and not self.whole:
            if pieces:
                self.call.extend(text)
            else:
                self.call.arguments = text
            self.call.end = end
        pieces.append(text)

    def _read_call(self, value: Mapping[str, Any]) -> None:
        assert self.call is not None
        identifier, name = value.get("call_id"), value.get("name")
        self.call.id = identifier if isinstance(identifier, str) and identifier else self.call.id
        self.call.name = name if isinstance(name, str) and name else self.call.name
        self.call.arguments = value.get(CALL_INPUT[self.type], ABSENT)

    def parts(self) -> list[tuple[str, str]]:
        """The texts of a message or a reasoning item with their part types, in order."""
        return list(_parts(self.value)) or [(kind, "".join(texts)) for (_, kind), texts in sorted(self.pieces.items())]


def _parts(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in ("summary", "content"):
        parts = value.get(field)
        if isinstance(parts, str):
            yield "output_text", parts
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                kind = "refusal" if part.get("type") == "refusal" else "output_text"
                text = part.get("refusal" if kind == "refusal" else "text")
                if isinstance(text, str):
                    yield kind, text


class _Streamed:
    """Streamed items, each to be taken once as what a final one is; to find one costs the same among many."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._taken: set[int] = set()
        self._ways: dict[tuple[str, str, str], deque[Item]] = {}
        for item in items:
            for field in ("", *_IDS):
                key = item.value.get(field) if field else ""
                if isinstance(key, str) and (key or not field):
                    self._ways.setdefault((item.type, field, key), deque()).append(item)

    def take(self, value: Mapping[str, Any], placed: Item | None) -> Item | None:
        """The item by its id, its call id, its place (`placed`), or as the next of its type; None for none."""
        type_ = _key(value.get("type"), str) or ""
        found = None
        for field in _IDS:
            key = value.get(field)
            if found is None and isinstance(key, str) and key:
                found = self._first((type_, field, key))
        if found is None and placed is not None and placed.type == type_ and id(placed) not in self._taken:
            found = placed
        found = found or self._first((type_, "", ""))
        if found is not None:
            self._taken.add(id(found))
        return found

    def _first(self, way: tuple[str, str, str]) -> Item | None:
        items = self._ways.get(way)
        while items and id(items[0]) in self._taken:
            items.popleft()
        return items[0] if items else None

    def left(self) -> list[Item]:
        """Those that were not taken."""
        return [item for item in self._items if id(item) not in self._taken]


class ItemReply(Reply):
    """What the events of one response add up to; `items` holds its output items in order."""

    __slots__ = ("_by_id", "_by_index", "_by_type", "items")

    def __init__(self) -> None:
        super().__init__()
        self.calls = PlainCalls()
        self.items: list[Item] = []
        self._by_id: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}
        self._by_type: dict[str, list[Item]] = {}

    @property
    def content(self) -> str | None:
        """The text of all messages; None where there is none."""
        said = [item.parts() for item in self.items if item.type == "message"]
        return "".join(text for parts in said for kind, text in parts if kind != "refusal") if said else None

    @property
    def reasoning(self) -> str:
        """The reasoning and its summaries, as far as they are shown."""
        return "".join(text for item in self.items if item.type == "reasoning" for _, text in item.parts())

    def add_chunk(self, chunk: Any, end: int | None) -> None:
        """Add one JSON value: an event, or a whole response object."""
        if not isinstance(chunk, dict):
            return
        kind, response = _key(chunk.get("type"), str), chunk.get("response")
        if isinstance(response, dict):
            self._add_response(response, end, final=kind in _FINAL)
        elif isinstance(chunk.get("output"), list) or chunk.get("object") == "response":
            self._add_response(chunk, end, final=True)
        elif kind is not None and kind.startswith("response."):
            self._add_event(kind, chunk, end)
        elif kind == "error" or chunk.get("error"):
            self.error = chunk if self.error is None else self.error

    def _add_response(self, response: Mapping[str, Any], end: int | None, *, final: bool) -> None:
        self.has_message = True
        if isinstance(response.get("model"), str):
            self.model = response["model"] or self.model
        if isinstance(response.get("usage"), dict):
            self.usage = response["usage"]
        if response.get("error") and self.error is None:
            self.error = response
        if not final:
            return
        self.ended = True
        output = response.get("output")
        self._settle([value for value in output if isinstance(value, dict)] if isinstance(output, list) else [], end)
        status, details = _key(response.get("status"), str), response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        self.finish = _key(reason, str) or status
        if (status in _LOST or (status in _UNFINISHED and not self.items)) and self.error is None:
            self.error = {"code": status, "message": f"the response came with the status {status!r}"}

    def close(self) -> None:
        """Gather what the items say beside their words and calls."""
        self.refusal = [text for item in self.items for kind, text in item.parts() if kind == "refusal"]
        for item in self.items:
            if item.type not in _READ:
                self.flags.add("unread_items")
            elif item.call is not None and item.value.get("status") == "incomplete":
                self.flags.add("truncated")
            if item.call is not None and item.value.get("namespace"):
                self.flags.add("namespaced_call")

    def _settle(self, output: list[dict[str, Any]], end: int | None) -> None:
        """Bring the streamed items in line with the final list, which has the last word on order and content."""
        streamed = _Streamed(self.items)
        settled = []
        for position, value in enumerate(output):
            # some relays give an item a new id in every event: then its place tells
            item = streamed.take(value, self._by_index.get(position)) or Item(value, end)
            item.complete(value, end, self.flags)
            settled.append(item)
        self.items = settled + streamed.left()
        self.calls.made = [item.call for item in self.items if item.call is not None]

    def _add_event(self, kind: str, event: Mapping[str, Any], end: int | None) -> None:
        stem, _, step = kind.rpartition(".")
        if stem == "response.output_item" and isinstance(event.get("item"), dict):
            self._add_item(event["item"], event, end, done=step == "done")
        elif stem in _PIECES and step in {"delta", "done"}:
            type_, part, field = _PIECES[stem]
            text = event.get("delta" if step == "delta" else field)
            if isinstance(text, str):
                place = event.get("content_index", event.get("summary_index"))
                key = (place if isinstance(place, int) else 0, part)
                item = self._find(type_, event, end)
                if step == "delta" or not item.pieces.get(key):
                    item.add(key, text, end)

    def _add_item(self, value: Mapping[str, Any], event: Mapping[str, Any], end: int | None, *, done: bool) -> None:
        index = _key(event.get("output_index"), int)
        known = self._by_id.get(_key(value.get("id"), str) or "")
        placed = None if index is None else self._by_index.get(index)
        if known is None and done and placed is not None and not placed.whole and placed.type == value.get("type"):
            known = placed
        if known is None:
            if placed is not None and placed.call is not None:
                self.flags.add("shared_index")
            known = self._new(value, index, end)
        if done:
            known.complete(value, end, self.flags)

    def _find(self, type_: str, event: Mapping[str, Any], end: int | None) -> Item:
        """The item that a piece belongs to: by its id, by its index, else the last open one of its type."""
        index = _key(event.get("output_index"), int)
        item = self._by_id.get(_key(event.get("item_id"), str) or "")
        if item is None and index is not None:
            item = self._by_index.get(index)
        if item is not None and item.type == type_:
            return item
        made = self._by_type.get(type_, [])
        while made and made[-1].whole:  # what is whole stays so
            made.pop()
        if made:
            if made[-1].call is not None:
                self.flags.add("mismatched_index")
            return made[-1]
        return self._new({"type": type_}, index, end)

    def _new(self, value: Mapping[str, Any], index: int | None, end: int | None) -> Item:
        item = Item(value, end)
        self.has_message = True
        self.items.append(item)
        self._by_type.setdefault(item.type, []).append(item)
        if item.call is not None:
            self.calls.made.append(item.call)
        identifier = _key(value.get("id"), str)
        if identifier:
            self._by_id[identifier] = item
        if index is not None:
            self._by_index[index] = item
        return item


def _key(value: Any, kind: type) -> Any:
    return value if type(value) is kind else None


def items_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts of a Responses usage object."""
    return read_usage(
        {
            "prompt_tokens": usage.get("input_tokens"),
            "completion_tokens": usage.get("output_tokens"),
            "prompt_tokens_details": usage.get("input_tokens_details"),
            "completion_tokens_details": usage.get("output_tokens_details"),
        }
    )
