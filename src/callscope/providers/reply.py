"""One chat-completions response put together from its chunks: a whole message is a stream of one chunk.

Gathers what was said and the fields an echo needs; decides nothing. `add_chunk` reads bodies that hold `choices`
(OpenAI chat and its relatives, Mistral); formats of another frame (Cohere, Ollama) hand over their messages with
`add_message`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callscope.contract import Usage
from callscope.providers.calls import Calls, merge

__all__ = ["Reply", "read_usage", "token_count"]

# Texts that come in pieces; of other strings in a delta the last one stands (role, name, channel, …).
_PIECEWISE = ("reasoning", "reasoning_content", "reasoning_text", "thinking")
_PLAN = "tool_plan"  # Cohere's words before its calls
_OWN = frozenset({"content", "refusal", "tool_calls", "function_call", "reasoning_details", _PLAN, *_PIECEWISE})
_JOINED = ("text", "thinking")  # compared, never hashed: what stands in a body may be a list


class Reply:
    """What the chunks of one response add up to.

    `content` is the text, `parts` the content where it came as a list; `fields` holds every other field of the
    message. `usage` is the last usage object, `error` the first object that held an error. `ended` is whether a
    response that need not name a finish word says that it is over; None where it says neither. `filtered` is whether
    a safety filter ended it, where the finish word alone does not tell `reading` so.
    """

    __slots__ = (
        "_deltas",
        "_texts",
        "_thoughts",
        "calls",
        "ended",
        "error",
        "fields",
        "filtered",
        "finish",
        "flags",
        "has_message",
        "model",
        "native_finish",
        "parts",
        "refusal",
        "usage",
    )

    def __init__(self) -> None:
        self.calls = Calls()
        self.fields: dict[str, Any] = {}
        self.parts: list[Any] = []
        self.refusal: list[str] = []
        self.flags: set[str] = set()
        self.error: Any = None
        self.finish: str | None = None
        self.native_finish: str | None = None
        self.model: str | None = None
        self.usage: Mapping[str, Any] = {}
        self.ended: bool | None = None
        self.has_message = False
        self.filtered = False
        self._texts: dict[str, list[str]] = {}
        self._thoughts: list[str] = []
        self._deltas = False

    @property
    def content(self) -> str | None:
        """The text of the message; None where no content field held any string."""
        pieces = self._texts.get("content")
        return None if pieces is None else "".join(pieces)

    @property
    def plan(self) -> str:
        """The words that came in a field of their own before the calls (Cohere)."""
        return "".join(self._texts.get(_PLAN, ()))

    @property
    def said(self) -> str:
        """All that was said: the plan, the content, or both on lines of their own; "" for nothing."""
        return "\n".join(text for text in (self.plan, self.content) if text)

    @property
    def reasoning(self) -> str:
        """The reasoning that came in a field or in parts of its own."""
        return "".join([*("".join(self._texts.get(name, ())) for name in _PIECEWISE), *self._thoughts])

    def texts(self) -> dict[str, str]:
        """Every piecewise text field of the message but its content, joined."""
        return {name: "".join(pieces) for name, pieces in self._texts.items() if name != "content"}

    def add_chunk(self, chunk: Any, end: int | None) -> None:
        """Add one JSON value of the body; what is no chunk of this format is passed over."""
        if not isinstance(chunk, dict):
            return
        if (chunk.get("error") or chunk.get("object") in ("error", "Error")) and self.error is None:
            self.error = chunk
        if not self.model and isinstance(chunk.get("model"), str):
            self.model = chunk["model"] or None
        choices = chunk.get("choices")
        usage = chunk.get("usage")
        if usage is None and isinstance(chunk.get("x_groq"), dict):
            usage = chunk["x_groq"].get("usage")
        if isinstance(usage, dict):
            self.usage = usage
            self.ended = True if choices == [] else None
        if isinstance(choices, list):
            for position, choice in enumerate(choices):
                if isinstance(choice, dict):
                    self._add_choice(choice, position, end)

    def close(self) -> None:
        """Called once, after the last chunk."""

    def _add_choice(self, choice: Mapping[str, Any], position: int, end: int | None) -> None:
        index = choice.get("index")
        delta, message = choice.get("delta"), choice.get("message")
        if position > 0 or (isinstance(delta, dict) and isinstance(index, int) and index > 0):
            self.flags.add("multiple_choices")
            return
        if choice.get("error") and self.error is None:
            self.error = choice
        self.finish = _word(choice.get("finish_reason"), self.finish)
        self.native_finish = _word(choice.get("native_finish_reason"), self.native_finish)
        if isinstance(delta, dict):
            self._deltas = True
            self.add_message(delta, end, whole=False)
        elif isinstance(message, dict) and not self._deltas:  # some repeat the whole message after its deltas
            self.add_message(message, end, whole=True)

    def add_message(self, message: Mapping[str, Any], end: int | None, *, whole: bool) -> None:
        """Add a message, `whole` or the piece of one that a stream's event brings."""
        self.has_message = True
        for name, value in message.items():
            if name == "content":
                self._add_content(value, whole=whole)
            elif name == "tool_calls":
                if whole:
                    self.calls.add_whole(value, end)
                else:
                    self.calls.add_delta(value, end)
            elif name == "function_call":
                self.calls.add_legacy(value, end)
            elif name == "refusal":
                if isinstance(value, str):
                    self.refusal.append(value)
            elif (name in _PIECEWISE or name == _PLAN) and isinstance(value, str):
                self._texts.setdefault(name, []).append(value)
            elif name == "reasoning_details" and isinstance(value, list):
                _merge_details(self.fields.setdefault(name, []), value)
            elif value is not None and name not in _OWN:
                merge(self.fields, {name: value})

    def _add_content(self, content: Any, *, whole: bool) -> None:
        if isinstance(content, str):
            if content and self.parts:  # Mistral streams its thinking as parts and then its words as strings
                _join(self.parts, [{"type": "text", "text": content}])
            self._texts.setdefault("content", []).append(content)
        elif isinstance(content, dict):
            self._add_content([content], whole=whole)
        elif isinstance(content, list):
            if not self.parts and self.content:
                self.parts.append({"type": "text", "text": self.content})
            for part in content:
                self._read_part(part)
            if whole:
                self.parts.extend(content)
            else:
                _join(self.parts, content)

    def _read_part(self, part: Any) -> None:
        if isinstance(part, str):
            self._texts.setdefault("content", []).append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            self._texts.setdefault("content", []).append(part["text"])
        elif isinstance(part, dict) and isinstance(part.get("refusal"), str):
            self.refusal.append(part["refusal"])
        elif isinstance(part, dict) and "thinking" in part:
            thoughts = part["thinking"] if isinstance(part["thinking"], list) else [part["thinking"]]
            texts = [thought.get("text") if isinstance(thought, dict) else thought for thought in thoughts]
            self._thoughts.extend(text for text in texts if isinstance(text, str))


def _word(value: Any, before: str | None) -> str | None:
    return (value or before or "") if isinstance(value, str) else before


def _join(into: list[Any], pieces: list[Any]) -> None:
    """Content parts of a stream: pieces of one text or thought become one part; a piece without type goes on with the
    last part."""
    for piece in pieces:
        last = into[-1] if into else None
        if not (
            isinstance(piece, dict)
            and isinstance(last, dict)
            and last.get("type") in _JOINED
            and piece.get("type", last["type"]) == last["type"]
        ):
            into.append(piece)
            continue
        for name, value in piece.items():
            before = last.get(name)
            if name in _JOINED and isinstance(value, str) and isinstance(before, str):
                del before
                _lengthen(last, name, value)
            elif isinstance(value, list) and isinstance(before, list):
                _join(before, value)
            else:
                last[name] = value


def _lengthen(holder: dict[str, Any], name: str, more: str) -> None:
    """Add to a text of a stream's part. It is taken out of its holder meanwhile: what only one place holds can grow
    where it stands, and a copy at every piece would make long streams slow."""
    text: str = holder[name]
    holder[name] = None
    text += more
    holder[name] = text


def _merge_details(into: list[Any], pieces: list[Any]) -> None:
    """Reasoning details of a stream: pieces of one entry (same type and index) join their texts."""
    for piece in pieces:
        last = into[-1] if into else None
        if not (
            isinstance(piece, dict)
            and isinstance(last, dict)
            and (piece.get("type"), piece.get("index")) == (last.get("type"), last.get("index"))
            and piece.get("index") is not None
        ):
            into.append(dict(piece) if isinstance(piece, dict) else piece)
            continue
        for name, value in piece.items():
            if name in {"text", "summary", "data"} and isinstance(value, str) and isinstance(last.get(name), str):
                _lengthen(last, name, value)
            elif value is not None or name not in last:
                last[name] = value


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts of an OpenAI-shaped usage object, with the names DeepSeek, Moonshot and others use for the cache."""
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    prompt = prompt if isinstance(prompt, dict) else {}
    completion = completion if isinstance(completion, dict) else {}
    return Usage(
        input_tokens=token_count(usage.get("prompt_tokens")),
        output_tokens=token_count(usage.get("completion_tokens")),
        reasoning_tokens=token_count(completion.get("reasoning_tokens"), usage.get("reasoning_tokens")),
        cached_input_tokens=token_count(
            prompt.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens")
        ),
        cache_write_tokens=token_count(prompt.get("cache_write_tokens"), usage.get("cache_creation_input_tokens")),
    )


def token_count(*values: Any) -> int | None:
    """The first of the values that is a count, as an integer (Cohere counts in floats); None where none is."""
    for value in values:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53:
            return int(value)
    return None
