"""One Gemini response put together from its chunks: a whole body is a stream of one chunk.

Gathers parts, calls and the words for how it ended; what an outcome makes of them stands in `reading`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from callscope.contract import Malformed, Usage
from callscope.jsontext import dump_faithful
from callscope.providers.arguments import ABSENT
from callscope.providers.calls import Call
from callscope.providers.gemini_partial import PartialArguments
from callscope.providers.modelfault import reject_calls
from callscope.providers.reply import Reply, token_count
from callscope.providers.wire import Chunk, Document, read_document
from callscope.textcalls import text_calls

__all__ = ["GeminiReply", "add_value", "read_chunks", "read_usage"]

_COUNTS = frozenset({"promptTokenCount", "candidatesTokenCount", "totalTokenCount"})
_USUAL = frozenset({"STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED"})
_WITHHELD = re.compile(r"SAFETY|PROHIBITED|BLOCK|RECITATION|SPII|ARMOR|LANGUAGE")
# MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, TOO_MANY_TOOL_CALLS and their like: the model's call was not accepted.
_REJECTED = re.compile(r"(?:MALFORMED|UNEXPECTED|INVALID|TOO_MANY)\w*_CALLS?")
_NAMED = re.compile(r"undeclared function:?\s*['\"]?(?P<a>[\w.:-]+)|(?:default_api\.|\bcall:)(?P<b>[A-Za-z_][\w.-]*)")


class GeminiReply(Reply):
    """What the chunks of one response add up to. `parts` are those of the model's content, as an echo needs them."""

    __slots__ = ("_assembled", "_open", "finish_message")

    def __init__(self) -> None:
        super().__init__()
        self.finish_message = ""
        self._open: tuple[Call, PartialArguments] | None = None
        self._assembled: list[tuple[int, Call, PartialArguments]] = []

    def echo(self) -> list[Any]:
        """The model's parts verbatim; a call that came leaf by leaf as one part, empty texts left out (Vertex refuses
        them)."""
        parts = list(self.parts)
        for position, call, partial in self._assembled:
            function = {"name": call.name, "args": partial.value}
            parts[position] = {
                **parts[position],
                "functionCall": {**({"id": call.id} if call.id else {}), **function},
            }
        return [part for part in parts if part != {"text": ""}] or parts

    def add(self, chunk: Any, end: int | None) -> None:
        """Add one JSON value of the body; what is no chunk of this format is passed over."""
        if not isinstance(chunk, dict):
            return
        if chunk.get("error") and self.error is None:
            self.error = chunk
        if not self.model and isinstance(chunk.get("modelVersion"), str):
            self.model = chunk["modelVersion"] or None
        usage = chunk.get("usageMetadata")
        if isinstance(usage, dict) and (usage.keys() & _COUNTS or not self.usage):
            self.usage = usage  # each chunk counts anew, and the last counts all; Vertex has chunks without counts
        self._add_feedback(chunk.get("promptFeedback"))
        candidates = chunk.get("candidates")
        for position, candidate in enumerate(candidates if isinstance(candidates, list) else ()):
            if isinstance(candidate, dict):
                self._add_candidate(candidate, position, end)

    def _add_feedback(self, feedback: Any) -> None:
        """A prompt that was not let through: there is no candidate then, only the reason."""
        reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if isinstance(reason, str) and reason:
            self.has_message = self.filtered = True
            self.finish = reason
            self._explain(feedback.get("blockReasonMessage"))

    def _explain(self, message: Any) -> None:
        if isinstance(message, str) and not (self.content or "").strip():
            self.refusal.append(message)

    def _add_candidate(self, candidate: Mapping[str, Any], position: int, end: int | None) -> None:
        if position > 0 or candidate.get("index") not in (None, 0):
            self.flags.add("multiple_choices")
            return
        self.has_message = True
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                self._add_part(part, end)
        message, reason = candidate.get("finishMessage"), candidate.get("finishReason")
        if isinstance(message, str):
            self.finish_message = message
        if isinstance(reason, str) and reason:
            self.finish = reason
            self._end(reason)

    def _add_part(self, part: dict[str, Any], end: int | None) -> None:
        function, text = part.get("functionCall"), part.get("text")
        if isinstance(function, dict):
            self._add_call(part, function, end)
            return
        self.parts.append(part)
        if isinstance(text, str):
            (self._thoughts if part.get("thought") else self._texts.setdefault("content", [])).append(text)
        elif not part.keys() <= {"thoughtSignature", "thought"}:
            self.flags.add("unread_items")

    def _add_call(self, part: dict[str, Any], function: Mapping[str, Any], end: int | None) -> None:
        name, identifier = function.get("name"), function.get("id")
        if self._open is None or name:
            self._open = None
            if not function:  # the closing piece of a call that had said so before, or nothing at all
                return
            call = Call()
            call.name = name if isinstance(name, str) else ""
            call.id = identifier if isinstance(identifier, str) and identifier else None
            call.arguments = function.get("args", ABSENT)
            self.calls.made.append(call)
            self.parts.append(part)
            if "partialArgs" in function or function.get("willContinue") is True:
                partial = PartialArguments()
                self._open = (call, partial)
                self._assembled.append((len(self.parts) - 1, call, partial))
        else:
            call = self._open[0]
        call.end = end
        if self._open is not None:
            self._go_on(function)

    def _go_on(self, function: Mapping[str, Any]) -> None:
        assert self._open is not None
        call, partial = self._open
        partial.add(function.get("partialArgs"))
        if isinstance(function.get("args"), dict):
            partial.value.update(function["args"])
        call.arguments = partial.value if partial.fault is None else _bad(partial.fault, partial.value)
        if function.get("willContinue") is not True:
            self._open = None

    def _end(self, reason: str) -> None:
        if self._open is not None and reason != "STOP" and not _REJECTED.fullmatch(reason):
            call, partial = self._open
            call.arguments = _bad("truncated", partial.value)
        if reason == "MISSING_THOUGHT_SIGNATURE":  # our echo was at fault, not the model
            self.error = {"error": {"code": reason, "message": self.finish_message, "status_code": 400}}
        elif _REJECTED.fullmatch(reason):
            self._reject(reason)
        elif reason == "MALFORMED_RESPONSE":
            self.flags.add("malformed_output")
            if self.calls.made:
                self._reject(reason)
        elif _WITHHELD.search(reason):
            self.filtered = True
            self._explain(self.finish_message)
        elif reason not in _USUAL:
            self.flags.add("unknown_finish")

    def _reject(self, reason: str) -> None:
        raw = self.finish_message or self.content or ""
        reject_calls(self.calls, reason, raw, _names_in(self.finish_message) or ("",))


def _bad(reason: str, arguments: dict[str, Any]) -> Malformed:
    return Malformed(reason, dump_faithful(arguments).decode("utf-8"))


def _names_in(message: str) -> tuple[str, ...]:
    """The tools a finish message shows that the model tried to call."""
    match = _NAMED.search(message)
    if match is not None and match["a"]:
        return (match["a"],)
    return text_calls(message.partition(": ")[2]) or ((match["b"],) if match is not None else ())


def add_value(reply: Reply, value: Any, end: int | None) -> None:
    """Add one value of a body to a GeminiReply."""
    assert isinstance(reply, GeminiReply)
    reply.add(value, end)


def read_chunks(body: bytes, *, faithful: bool = False) -> Document:
    """Read a body; the array of chunks that streamGenerateContent sends without `alt=sse` is a stream.

    Where the chunks of such an array end is not told apart: all are given the end of the body.
    """
    document = read_document(body, faithful=faithful)
    if len(document.chunks) != 1 or not isinstance(document.chunks[0].value, list):
        return document
    values, end = document.chunks[0]
    return document._replace(chunks=tuple(Chunk(value, end) for value in values), streamed=True)


def read_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts. Thoughts are billed as output and counted in it here, as the other formats do; results of
    server-side tools count as input. A count of zero is left out on the wire, so output beside input is 0, not unknown.
    """
    prompt, tools = token_count(usage.get("promptTokenCount")), token_count(usage.get("toolUsePromptTokenCount"))
    said, thought = token_count(usage.get("candidatesTokenCount")), token_count(usage.get("thoughtsTokenCount"))
    known = prompt is not None
    return Usage(
        input_tokens=(prompt or 0) + (tools or 0) if known else tools,
        output_tokens=(said or 0) + (thought or 0) if known or said is not None else thought,
        reasoning_tokens=thought,
        cached_input_tokens=token_count(usage.get("cachedContentTokenCount")),
    )
