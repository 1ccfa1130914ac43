"""Tool calls put together from the OpenAI-shaped pieces of a message or a stream (chat, Mistral, Cohere, relays).

Index is a key, not a position, and servers get it wrong in known ways; `Calls.add_delta` says which piece belongs to
which call. What the pieces add up to is kept as sent; reading arguments is `arguments`, echoing is the format's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callscope.providers.arguments import ABSENT
from callscope.providers.pieces import TextInPieces, whole_objects

__all__ = ["Call", "Calls", "PlainCalls", "is_filler", "merge"]

_MERGED_NAME = 10_000
"""Characters of a name beyond which it is not looked at for several names in one."""

_KNOWN = frozenset({"index", "id", "type", "function", "name", "arguments"})


def merge(into: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Add a piece's unknown fields to those gathered: objects merge, lists extend, of the rest the last one stands."""
    for key, value in piece.items():
        before = into.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            merge(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            before.extend(value)
        elif value is not None or key not in into:
            into[key] = dict(value) if isinstance(value, dict) else list(value) if isinstance(value, list) else value


class Call:
    """One call as its pieces add up. `arguments` is ABSENT, None, a string, or whatever JSON value came instead.

    `end` is the offset just past the last piece that added something. `extras` and `function_extras` hold unknown
    fields (thought signatures among them). Names and arguments are joined only when they are asked for: a stream may
    bring them in very many pieces.
    """

    __slots__ = ("_arguments", "_names", "custom", "end", "extras", "function_extras", "id", "legacy")

    def __init__(self) -> None:
        self.id: str | None = None
        self._names: list[str] = []
        self._arguments: Any = ABSENT  # a text as TextInPieces
        self.extras: dict[str, Any] = {}
        self.function_extras: dict[str, Any] = {}
        self.custom = False
        self.legacy = False
        self.end: int | None = None

    @property
    def name(self) -> str:
        """The name; "" for none."""
        if len(self._names) > 1:
            self._names = ["".join(self._names)]
        return self._names[0] if self._names else ""

    @name.setter
    def name(self, name: str) -> None:
        self._names = [name] if name else []

    @property
    def arguments(self) -> Any:
        """What the pieces add up to."""
        return str(self._arguments) if isinstance(self._arguments, TextInPieces) else self._arguments

    @arguments.setter
    def arguments(self, arguments: Any) -> None:
        self._arguments = TextInPieces(arguments) if isinstance(arguments, str) else arguments

    def add(self, piece: Mapping[str, Any], end: int | None) -> None:
        """Add one piece: the entry of a message's tool_calls, or of a delta's."""
        identifier = piece.get("id")
        if isinstance(identifier, str) and identifier and not self.id:
            self.id = identifier
        function, custom = _function(piece)
        self.custom = self.custom or custom
        self._add_name(function.get("name"))
        self._add_arguments(function.get("arguments", ABSENT))
        for key, value in piece.items():
            if key not in _KNOWN and not (key == "custom" and (custom or is_filler(value))):
                merge(self.extras, {key: value})
        for key, value in function.items():
            if key not in _KNOWN:
                merge(self.function_extras, {key: value})
        self.end = end

    def _add_name(self, name: Any) -> None:
        # Some repeat the whole name in every piece (hermes-agent#11984), some send it in parts (continue#5849).
        if not isinstance(name, str) or not name or (self._names and not self._bare()):
            return
        if len(name) != sum(map(len, self._names[:2])) or name != self.name:
            self._names.append(name)

    def _add_arguments(self, arguments: Any) -> None:
        if isinstance(arguments, str) and isinstance(self._arguments, TextInPieces):
            self._arguments.add(arguments)
        elif arguments is not ABSENT and not (arguments is None and self._arguments is not ABSENT):
            self.arguments = arguments

    def _bare(self) -> bool:
        """Whether no arguments came so far, or only the empty string."""
        if isinstance(self._arguments, TextInPieces):
            return not self._arguments
        return self._arguments is ABSENT or self._arguments is None

    def extend(self, text: str) -> None:
        """Add a piece of the argument text."""
        if isinstance(self._arguments, TextInPieces):
            self._arguments.add(text)
        else:
            self.arguments = text

    def complete(self) -> bool:
        """Whether the argument text so far is a whole JSON object."""
        if not isinstance(self._arguments, TextInPieces):
            return isinstance(self._arguments, dict)
        return self._arguments.one_object()

    def empty(self) -> bool:
        """Whether nothing was said: the filler of some servers."""
        return not self.id and not self._names and self._bare() and not self.extras


class Calls:
    """The calls of one response, in the order of their first pieces; `flags` tells what was odd about the pieces."""

    __slots__ = ("_by_id", "_by_index", "_last", "flags", "made")

    def __init__(self) -> None:
        self.made: list[Call] = []
        self.flags: set[str] = set()
        self._by_id: dict[str, Call] = {}
        self._by_index: dict[int, Call] = {}
        self._last: Call | None = None

    def add_whole(self, pieces: Any, end: int | None = None) -> None:
        """The `tool_calls` of a whole message: every entry is a call of its own."""
        for piece in _entries(pieces):
            self._note(piece)
            self._new(piece).add(piece, end)

    def add_delta(self, pieces: Any, end: int | None) -> None:
        """The `tool_calls` of a stream delta."""
        touched: set[int] = set()
        for piece in _entries(pieces):
            self._note(piece)
            call = self._route(piece, touched)
            touched.add(id(call))
            call.add(piece, end)
            self._last = call

    def add_legacy(self, function: Any, end: int | None) -> None:
        """The deprecated `function_call`, whole or in parts; empty fillers are passed over."""
        if not isinstance(function, dict) or is_filler(function):
            return
        if not self.made or not self.made[-1].legacy:
            self.made.append(Call())
            self.made[-1].legacy = True
        self.made[-1].add({"function": function}, end)

    def finished(self) -> list[Call]:
        """The calls as they stand: fillers left out, a legacy call only where there is no other, merged ones split."""
        calls = [call for call in self.made if not call.empty()]
        modern = [call for call in calls if not call.legacy]
        return [part for call in modern or calls for part in self._split(call)]

    def _note(self, piece: Mapping[str, Any]) -> None:
        if (
            not isinstance(piece.get("function"), dict)
            and "custom" not in piece
            and {"name", "arguments"} & piece.keys()
        ):
            self.flags.add("nonstandard_call")

    def _new(self, piece: Mapping[str, Any]) -> Call:
        call = Call()
        self.made.append(call)
        identifier, index = piece.get("id"), _index(piece)
        if isinstance(identifier, str) and identifier:
            self._by_id[identifier] = call
        if index is not None:
            self._by_index[index] = call
        return call

    def _route(self, piece: Mapping[str, Any], touched: set[int]) -> Call:
        identifier, index = piece.get("id"), _index(piece)
        name = _function(piece)[0].get("name")
        if index is None and name:
            self.flags.add("missing_index")
        if isinstance(identifier, str) and identifier:
            return self._route_by_id(identifier, index, piece, name)
        if index is not None and index in self._by_index:
            return self._same_index(self._by_index[index], piece, name)
        if self._last is None:
            return self._new(piece)
        if index is not None:
            if name or self._last.complete():
                return self._new(piece)
            self.flags.add("mismatched_index")  # dirac#215, agno#8880: the tail of the call being streamed
            return self._last
        if id(self._last) in touched or (name and not self._continues(self._last, name)):
            return self._new(piece)
        return self._last

    def _route_by_id(self, identifier: str, index: int | None, piece: Mapping[str, Any], name: Any) -> Call:
        named = bool(name)
        known = self._by_id.get(identifier)
        at_index = None if index is None else self._by_index.get(index)
        if known is not None:
            # The same id again is the same call whatever its index, unless a second whole call starts under it.
            if named and known.complete() and name != known.name and at_index is known:
                self.flags.add("shared_index")  # another call under the id and index of one that is whole
                return self._new(piece)
            restarts = named and known.complete() and index is not None and at_index is None
            return self._new(piece) if restarts else known
        if at_index is None:
            return self._new(piece)
        if not at_index.id and not (named and at_index.complete()):
            self._by_id[identifier] = at_index
            return at_index
        if named:
            self.flags.add("shared_index")
            return self._new(piece)
        self.flags.add("changing_id")
        self._by_id[identifier] = at_index
        return at_index

    def _same_index(self, call: Call, piece: Mapping[str, Any], name: Any) -> Call:
        arguments = _function(piece)[0].get("arguments")
        if name and call.complete() and (name != call.name or arguments):
            self.flags.add("shared_index")
            return self._new(piece)
        return call

    @staticmethod
    def _continues(call: Call, name: Any) -> bool:
        return not call.name or (name == call.name and not call.complete())

    def _split(self, call: Call) -> list[Call]:
        """Several calls that a relay merged into one, name after name and object after object (litellm#21331)."""
        if not isinstance(call.arguments, str) or "}" not in call.arguments:
            return [call]
        length = len(call.name)
        if not 1 < length <= _MERGED_NAME or call.name not in (call.name + call.name)[1:-1]:
            return [call]
        parts = whole_objects(call.arguments)
        count = len(parts)
        if count < 2 or length % count or call.name[: length // count] * count != call.name:
            return [call]
        self.flags.add("split_calls")
        result = []
        for position, text in enumerate(parts):
            part = Call()
            part.id = call.id if position == 0 else None
            part.name, part.arguments, part.end = call.name[: length // count], text, call.end
            part.extras = call.extras if position == 0 else {}
            result.append(part)
        return result


class PlainCalls(Calls):
    """Calls whose pieces were put together already; only empty ones are left out."""

    def finished(self) -> list[Call]:
        """The calls in order."""
        return [call for call in self.made if not call.empty()]


def _entries(pieces: Any) -> list[Mapping[str, Any]]:
    if isinstance(pieces, dict):
        return [pieces]
    if not isinstance(pieces, Sequence) or isinstance(pieces, str):
        return [{"function": {"arguments": pieces}}] if pieces else []
    return [
        piece if isinstance(piece, dict) else {"function": {"arguments": piece}}
        for piece in pieces
        if piece is not None
    ]


def _index(piece: Mapping[str, Any]) -> int | None:
    index = piece.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _function(piece: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """(name and arguments of a piece, whether it is of a custom tool)."""
    function, custom = piece.get("function"), piece.get("custom")
    if isinstance(custom, dict) and not is_filler(custom) and not (isinstance(function, dict) and function.get("name")):
        renamed = dict(custom)
        if "input" in renamed:
            renamed["arguments"] = renamed.pop("input")
        return renamed, True
    if isinstance(function, dict):
        return function, False
    return {key: piece[key] for key in ("name", "arguments") if key in piece}, False


def is_filler(value: Any) -> bool:
    """Whether a value is an object that says nothing, as Snowflake fills every field of its schema with."""
    return isinstance(value, dict) and not any(value.values())
