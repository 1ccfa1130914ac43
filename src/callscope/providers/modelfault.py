"""Errors that are the model's fault: the server refused or could not read the call it wrote. They are observed model
decisions, so they become outcomes and not coverage loss (Groq tool_use_failed, llama.cpp and Ollama parse failures).
"""

from __future__ import annotations

import re

from callscope.contract import Malformed, Outcome, Text, ToolCall, ToolCalls
from callscope.jsontext import dump_faithful
from callscope.providers.acceptance import ErrorBody
from callscope.providers.arguments import ABSENT
from callscope.providers.calls import Call, Calls
from callscope.providers.flags import sorted_flags
from callscope.textcalls import MAX_TEXT, text_calls

__all__ = ["failed_call", "model_fault", "reject_calls", "with_words"]

_LOST = "model_words_lost"
# In words that the server took for a call: a name, even where no arguments follow, and what a call begins with.
_BEGUN = re.compile(
    r"[\"'](?:name|function|tool|tool_name)[\"']\s{0,8}:\s{0,8}[\"'](?P<name>[A-Za-z_][\w.:/-]{0,127}+)[\"']"
    r"|<function=(?P<tagged>[A-Za-z_][\w.-]{0,127}+)"
)
_CALL_LIKE = re.compile(
    r"\s{0,80}(?:```\w{0,20}\s{0,80})?(?:\[\s{0,80})?\{\s{0,80}[\"']|\s{0,80}<\|?(?:tool_call|function)"
)
_CODES = frozenset({"tool_use_failed", "output_parse_failed"})
# llama.cpp: "… does not match the expected peg-native format", "Failed to parse input at pos 395: <text>";
# Ollama: "error parsing tool call: raw='<text>', err=…", and for the XML that Qwen writes "XML syntax error on line 7:
# element <function> closed by </parameter>" (ollama#12380, #14834). They come as HTTP 500, or inside a 200.
# Bedrock (Nova): "Model produced invalid sequence as part of ToolUse", HTTP 424 or an exception in the stream.
_UNREAD = re.compile(
    r"does not match the expected [\w-]+ format|failed to parse input at pos \d+: ?(?P<rest>.*)"
    r"|error parsing tool call\b(?:: raw='(?P<raw>.*)', err=)?"
    r"|produced invalid sequence as part of tool ?use"
    r"|xml syntax error on line \d+|expected element type <\w+> but have <",
    re.IGNORECASE | re.DOTALL,
)
_NO_CALL = re.compile(r"did not call a (?:tool|function)|model did not (?:call|produce)", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:attempted to call|parameters for) (?:tool|function) ['\"]?(?P<name>[\w.:/-]+)",
    re.IGNORECASE,
)


def model_fault(body: ErrorBody, said: str = "") -> Outcome | None:
    """The outcome an error stands for where the model is to blame, else None. `said` is text that came before it.

    A generation that holds no call, where the provider says none was made (a required call was not), is text. All
    else is a malformed call: its reason is the provider's code, its raw text the generation (or the message), its
    name the one the generation or the message shows, "" where neither does. Where the message is all there is, the call
    is flagged `model_words_lost`.
    """
    unread = _UNREAD.search(body.message)
    if body.code not in _CODES and unread is None:
        return None
    written = next((part for part in unread.group("rest", "raw") if part is not None), None) if unread else None
    raw = body.failed_generation or written or said
    names = text_calls(raw)
    if not names and _NO_CALL.search(body.message):
        return Text(raw, ("provider_rejected_call",) if raw.strip() else ("empty_text", "provider_rejected_call"))
    named = _NAMED.search(body.message)
    if named and not any(names):
        names = (named["name"],)
    code = body.code if body.code and not body.code.isdigit() else "unreadable_call"
    fault = failed_call(code, raw or body.message, names or ("",))
    return fault if raw.strip() else _flagged(fault, {*fault.flags, _LOST})


def with_words(outcome: Outcome, words: str) -> Outcome:
    """The outcome of an error that did not say what the model wrote, once that is known from elsewhere.

    Where the words hold no call, not even the beginning of one, they are text; where they do, a malformed call.
    """
    if not isinstance(outcome, ToolCalls) or _LOST not in outcome.flags:
        return outcome
    names = text_calls(words) or tuple(match["name"] or match["tagged"] for match in _BEGUN.finditer(words[:MAX_TEXT]))
    if not names and not _CALL_LIKE.match(words):
        return Text(words, ("provider_rejected_call",) if words.strip() else ("empty_text", "provider_rejected_call"))
    malformed = outcome.calls[0].malformed
    return failed_call(malformed.reason if malformed else "unreadable_call", words, names or ("",))


def _flagged(fault: ToolCalls, flags: set[str]) -> ToolCalls:
    return ToolCalls(fault.calls, sorted_flags(flags), fault.text)


def failed_call(code: str, raw: str, names: tuple[str, ...] = ("",)) -> ToolCalls:
    """Call attempts that came to nothing: one for each name, "" where it is not known."""
    calls = tuple(ToolCall(id=None, name=name, malformed=Malformed(code, raw)) for name in names)
    flags = {"provider_rejected_call"} | ({"missing_name"} if "" in names else set())
    return ToolCalls(calls, sorted_flags(flags))


def reject_calls(calls: Calls, reason: str, raw: str, names: tuple[str, ...] = ("",)) -> None:
    """The provider's own word (`reason`) says that the calls of a response are bad: each is a malformed attempt, though
    it may look whole (hermes-agent#83886). Where no call was passed on there is one for each of `names`."""
    calls.flags.add("provider_rejected_call")
    for call in calls.made:
        if not isinstance(call.arguments, Malformed):
            given = {} if call.arguments in (ABSENT, None, "") else call.arguments
            text = given if isinstance(given, str) else dump_faithful(given).decode("utf-8")
            call.arguments = Malformed(reason, text)
    if not calls.made:
        for name in names:
            call = Call()
            call.name, call.arguments = name, Malformed(reason, raw)
            calls.made.append(call)
