"""A recorded result to an outcome, as callscope reads it: calls, malformed calls, text, or an error of the harness.

For our own verdict. Nothing is lost and nothing is forgiven: an attempt at a call that cannot be read is a malformed
call, never an abstention, and prose is prose. Not for BFCL's reading of the same result (`decode`).

| the recorded result                                            | outcome                                            |
|----------------------------------------------------------------|----------------------------------------------------|
| "Error during inference: …", written by BFCL itself            | provider error                                     |
| list of `{name: JSON text or object}`                          | these calls; strings in the list are text beside   |
| list of `{"name", "arguments"}`, `{"function": {…}}` and kin   | these calls                                        |
| `{"tool_calls": … or null, "content": …}`                      | its calls; without any (null, []) its text         |
| in a list: `{f: null}`, `{f: []}`, `{}`, null, a number        | a malformed call                                   |
| `[]`, "", null                                                 | text, ""                                           |
| text that is calls: `[f(a=1)]`, `f(a=1)`, fences around them   | these calls; values that are no literal: see below |
| text that is JSON of calls, or holds `<tool_call>` parts of it | these calls                                        |
| text that lists `{name: object}`, as JSON or Python writes it  | these calls                                        |
| text that is meant as calls and cannot be read as such         | a malformed call each                              |
| words with something like a call among them                    | text, flagged `text_tool_call`                     |
| any other text                                                 | text                                               |

In Python text a bare name (`true` too) stands for its letters, flagged `bare_name`; `dict(a=1)` is the object
`{"a": 1}`; an operation on literals is its value; another call within is its source text. A parameter that is a word
of Python (`class=`) is read. Positional arguments, `**x`, and values JSON has no form for make the call malformed. In
Java and JavaScript text every value is kept as source text; `native.native_value` knows what it is.

Sources: scoring-faults 1, 2, 4, 5, 6, 28, 29, 30 and 41.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from callscope.contract import Malformed, Outcome, ProviderError, Text, ToolCall, ToolCalls
from callscope.importers.bfcl.decoders import FAULTS, Language
from callscope.importers.bfcl.pytext import parse_expression
from callscope.importers.bfcl.pythonreading import read_python
from callscope.importers.bfcl.sourcereading import read_source
from callscope.jsontext import JsonFault, dump_faithful, parse_json
from callscope.providers.arguments import read_argument_object
from callscope.textcalls import written_in

__all__ = ["INFERENCE_ERROR", "read_calls"]

INFERENCE_ERROR = "Error during inference:"
"""How bfcl-eval begins the result it writes where the request failed."""

_NAMES = ("name", "tool_name", "function_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_FENCE_WORD = re.compile(r"[\w+-]*[ \t]*\n")
_TAGGED = re.compile(r"<tool_call>(?P<inside>.*?)(?:</tool_call>|\Z)", re.DOTALL)
_CALLED = re.compile(r"\[[\[(\s]*(?P<listed>[^\W\d][\w.]*)\s*\(|(?P<bare>[^\W\d][\w.]*)\(")
_WITH_A_NAME = re.compile(r"[^()]+\(\s*[\w.]+\s*=(?!=)")
_REQUESTED = re.compile(r"\[\s*[^\W\d][\w.]*\(\s*(?:\)|\w+\s*=(?!=))")
_WORD = re.compile(r"\w")
_STATUS = re.compile(r"\b(?:Error code|status(?:[_ ]code)?)\W{1,3}(?P<code>\d{3})\b", re.IGNORECASE)


def read_calls(result: Any, language: Language) -> Outcome:
    """The outcome of a recorded `result` (any JSON value) in a category of that language. Never raises.

    Calls have no ids. A malformed call holds its text and why: a JsonFault's reason, `not_an_object`, or `syntax`.
    """
    if isinstance(result, str):
        return _read_text(result, language)
    if result is None:
        return Text("")
    if isinstance(result, dict):
        if ("tool_calls" in result or "content" in result) and not _keyed(result):
            return _read_message(result, language)
        return _read_list([result])
    if isinstance(result, list):
        return _read_list(result)
    return ToolCalls((_malformed("", "not_an_object", result),), ())


# -- values ----------------------------------------------------------------------------------------------------------


def _read_message(message: dict[str, Any], language: Language) -> Outcome:
    """A message of an API with its calls beside its text; without calls, null and [] are the same."""
    content = message.get("content")
    if not message.get("tool_calls"):
        return _read_text(content, language) if isinstance(content, str) else Text("")
    calls = message["tool_calls"]
    read = _read_list(calls if isinstance(calls, list) else [calls])
    said = content if isinstance(content, str) and content else None
    return ToolCalls(read.calls, read.flags, said) if isinstance(read, ToolCalls) and said is not None else read


def _read_list(items: list[Any]) -> Outcome:
    said = "\n".join(each for each in items if isinstance(each, str))
    if said.startswith(INFERENCE_ERROR) and all(isinstance(each, str) for each in items):
        return _failed(said)
    flags: set[str] = set()
    calls = tuple(call for each in items if not isinstance(each, str) for call in _read_item(each, flags))
    return ToolCalls(calls, tuple(sorted(flags)), said or None) if calls else Text(said)


def _keyed(item: dict[str, Any]) -> tuple[Any, Any] | None:
    """Name and arguments of an item that has keys of its own for them, else None."""
    inner = item.get("function")
    if isinstance(inner, dict) and (found := _keyed(inner)) is not None:
        return found
    name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), None)
    if name is None and isinstance(inner, str):
        name = inner
    key = next((key for key in _ARGUMENTS if key in item), None)
    return None if name is None or key is None else (name, item[key])


def _read_item(item: Any, flags: set[str]) -> list[ToolCall]:
    if not isinstance(item, dict) or not item:
        return [_malformed("", "not_an_object", item)]
    keyed = _keyed(item)
    return [_read_call(name, raw, flags) for name, raw in ([keyed] if keyed is not None else item.items())]


def _read_call(name: str, raw: Any, flags: set[str]) -> ToolCall:
    if isinstance(raw, dict):
        read = read_argument_object(raw)
        return ToolCall(None, name, read.value, read.malformed)
    if not isinstance(raw, str):
        return _malformed(name, "not_an_object", raw)
    if not raw:
        # An argument string that is empty is how some servers write none (docs/decisions/0012).
        flags.add("empty_arguments")
        return ToolCall(None, name, {})
    try:
        value, seen = parse_json(raw)
    except JsonFault as fault:
        return ToolCall(None, name, malformed=Malformed(fault.reason, raw))
    if not isinstance(value, dict):
        return ToolCall(None, name, malformed=Malformed("not_an_object", raw))
    flags.update(seen)
    return ToolCall(None, name, value)


def _malformed(name: str, reason: str, raw: Any) -> ToolCall:
    return ToolCall(None, name, malformed=Malformed(reason, dump_faithful(raw).decode("utf-8")))


def _failed(message: str) -> ProviderError:
    status = _STATUS.search(message)
    code = status["code"] if status else ""
    if code == "429":
        return ProviderError("rate_limited", code, message)
    if code in {"401", "403"}:
        return ProviderError("authentication_error", code, message)
    return ProviderError("timeout" if "timed out" in message.lower() else "provider_error", code, message)


# -- text ------------------------------------------------------------------------------------------------------------


def _read_text(text: str, language: Language) -> Outcome:
    if text.startswith(INFERENCE_ERROR):
        return _failed(text)
    if "<tool_call>" in text and (tagged := _read_tagged(text)) is not None:
        return tagged
    bare = text.strip()
    bare = _unfenced(bare)
    if bare[:1] in {"[", "{"} and (listed := _read_json(bare)) is not None:
        return listed
    if (called := _CALLED.match(bare)) and (read := _read_code(bare, called, language)):
        return read
    # BFCL's prompt asks for `[f(x=1)]`: among words it is no call that was made, and no abstention either.
    return Text(text, ("text_tool_call",) if _REQUESTED.search(text) or written_in(text).names else ())


def _unfenced(text: str) -> str:
    if len(text) < 6 or not (text.startswith("```") and text.endswith("```")):
        return text.strip("`").strip()
    word = _FENCE_WORD.match(text, 3)
    return text[word.end() if word else 3 : -3].strip()


def _read_code(text: str, called: re.Match[str], language: Language) -> Outcome | None:
    """The outcome of a text that begins like a call: its calls, a malformed call for each that was meant, or None
    for prose that only begins so."""
    try:
        read = read_python(text) if language == "python" else read_source(text, language)
    except FAULTS:
        read = None
    if read is not None:
        return read
    found = written_in(text)
    meant = called["listed"] is not None or (_WITH_A_NAME.match(text) is not None and not _words_after(text))
    if not meant and not found.alone:
        return None
    names = found.names or (called["listed"] or called["bare"],)
    return ToolCalls(tuple(ToolCall(None, name, malformed=Malformed("syntax", text)) for name in names), ())


def _words_after(text: str) -> bool:
    """Whether words follow the last bracket, which closes."""
    last = max(text.rfind(bracket) for bracket in ")]")
    return last > max(text.rfind(bracket) for bracket in "([") and _WORD.search(text, last) is not None


def _read_json(text: str) -> Outcome | None:
    """The outcome of a text that is calls with keys of their own, or a list of `{name: object}`, as JSON or Python
    writes them; None for any other."""
    value = _value_of(text)
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(each, dict) for each in items):
        return None
    listed = isinstance(value, list) and all(
        len(each) == 1 and isinstance(next(iter(each.values())), dict) for each in items
    )
    return _read_list(items) if listed or all(_keyed(each) is not None for each in items) else None


def _value_of(text: str) -> Any:
    """What a text is as JSON, or as a Python literal of JSON's types; None where it is neither."""
    try:
        return parse_json(text, bad_numbers=True).value
    except JsonFault:
        pass
    try:
        return json.loads(json.dumps(ast.literal_eval(parse_expression(text))))
    except FAULTS:
        return None


def _read_tagged(text: str) -> Outcome | None:
    """The outcome of a text with `<tool_call>` parts; what is in one and no call is a malformed call."""
    flags: set[str] = set()
    calls: list[ToolCall] = []
    for part in _TAGGED.finditer(text):
        inside = part["inside"].strip()
        try:
            value = parse_json(inside).value
        except JsonFault as fault:
            if inside or not calls:
                calls.append(ToolCall(None, "", malformed=Malformed(fault.reason, inside)))
            continue
        for each in value if isinstance(value, list) else [value]:
            calls.extend(_read_item(each, flags))
    said = _TAGGED.sub("", text).strip()
    return ToolCalls(tuple(calls), tuple(sorted(flags)), said or None) if calls else None
