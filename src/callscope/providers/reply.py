"""One chat-completions response put together from its chunks: a whole message is a stream of one chunk.

Gathers what was said and the fields an echo needs; decides nothing. For the formats whose bodies hold `choices`
(OpenAI chat and its relatives, Mistral).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callscope.contract import Usage
from callscope.providers.calls import Calls, merge

__all__ = ["Reply", "read_usage"]

# Texts that come in pieces; of other strings in a delta the last one stands (role, name, channel, …).
_PIECEWISE = ("reasoning", "reasoning_content", "reasoning_text", "thinking")
_OWN = frozenset({"content", "refusal", "tool_calls", "function_call", "reasoning_details", *_PIECEWISE})


class Reply:
    """What the chunks of one response add up to.

    `content` is the text, `parts` the content where it came as a list; `fields` holds every other field of the
    message. `usage` is the last usage object, `error` the first object that held an error.
    """

    __slots__ = (
        "_deltas",
        "_texts",
        "calls",
        "error",
        "fields",
        "finish",
        "flags",
        "has_message",
        "model",
        "native_finish",
        "parts",
        "refusal",
        "usage",
        "usage_last",
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
        self.usage_last = False
        self.has_message = False
        self._texts: dict[str, list[str]] = {}
        self._deltas = False

    @property
    def content(self) -> str | None:
        """The text of the message; None where no content field held any string."""
        pieces = self._texts.get("content")
        return None if pieces is None else "".join(pieces)

    @property
    def reasoning(self) -> str:
        """The reasoning that came in a field of its own."""
        return "".join("".join(self._texts.get(name, ())) for name in _PIECEWISE)

    def texts(self) -> dict[str, str]:
        """Every piecewise text field of the message but its content, joined."""
        return {name: "".join(pieces) for name, pieces in self._texts.items() if name != "content"}

    def add_chunk(self, chunk: Any, end: int | None) -> None:
        """Add one JSON value of the body; what is no chunk of this format is passed over."""
        if not isinstance(chunk, dict):
            return
        if chunk.get("error") and self.error is None:
            self.error = chunk
        if not self.model and isinstance(chunk.get("model"), str):
            self.model = chunk["model"] or None
        choices = chunk.get("choices")
        usage = chunk.get("usage")
        if usage is None and isinstance(chunk.get("x_groq"), dict):
            usage = chunk["x_groq"].get("usage")
        if isinstance(usage, dict):
            self.usage = usage
            self.usage_last = choices == []
        if isinstance(choices, list):
            for position, choice in enumerate(choices):
                if isinstance(choice, dict):
                    self._add_choice(choice, position, end)

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
            self.has_message = self._deltas = True
            self._add_message(delta, end, whole=False)
        elif isinstance(message, dict) and not self._deltas:  # some repeat the whole message after its deltas
            self.has_message = True
            self._add_message(message, end, whole=True)

    def _add_message(self, message: Mapping[str, Any], end: int | None, *, whole: bool) -> None:
        for name, value in message.items():
            if name == "content":
                self._add_content(value)
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
            elif name in _PIECEWISE and isinstance(value, str):
                self._texts.setdefault(name, []).append(value)
            elif name == "reasoning_details" and isinstance(value, list):
                _merge_details(self.fields.setdefault(name, []), value)
            elif value is not None and name not in _OWN:
                merge(self.fields, {name: value})

    def _add_content(self, content: Any) -> None:
        if isinstance(content, str):
            self._texts.setdefault("content", []).append(content)
        elif isinstance(content, list):
            self.parts.extend(content)
            for part in content:
                if isinstance(part, str):
                    self._texts.setdefault("content", []).append(part)
                elif isinstance(part, dict) and isinstance(part.get("text"), str):
                    self._texts.setdefault("content", []).append(part["text"])
                elif isinstance(part, dict) and isinstance(part.get("refusal"), str):
                    self.refusal.append(part["refusal"])


def _word(value: Any, before: str | None) -> str | None:
    return (value or before or "") if isinstance(value, str) else before


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
                last[name] += value
            elif value is not None or name not in last:
                last[name] = value


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts of an OpenAI-shaped usage object, with the names DeepSeek, Moonshot and others use for the cache."""
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    prompt = prompt if isinstance(prompt, dict) else {}
    completion = completion if isinstance(completion, dict) else {}
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(completion.get("reasoning_tokens"), usage.get("reasoning_tokens")),
        cached_input_tokens=_count(
            prompt.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens")
        ),
        cache_write_tokens=_count(prompt.get("cache_write_tokens"), usage.get("cache_creation_input_tokens")),
    )


def _count(*values: Any) -> int | None:
    for value in values:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53:
            return int(value)
    return None
