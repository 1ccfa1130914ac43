"""Repair `text_call`: reads the calls that a model wrote into its text, for tools that were declared.

Whether a text holds a call at all is the adapter's judgement (flag `text_tool_call`); here its name and arguments are
read. All or nothing: where a call is cut off, or names no declared tool, or cannot be read, none is returned. What
stands between thinking tags is no call. Values out of XML-like forms are strings; the schema's repairs type them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from callscope.contract import Malformed, ToolCall
from callscope.jsontext import JsonFault, dump_faithful, parse_json
from callscope.scoring.repair.lenient import MAX_TEXT, keyword_arguments, lenient_value
from callscope.scoring.repair.names import resolve

__all__ = ["written_calls"]

_NAME = r"[A-Za-z_][\w.:/-]{0,127}"
_THOUGHT = re.compile(r"<think(?:ing)?>(?:(?!<think(?:ing)?>).)*?</think(?:ing)?>", re.DOTALL)
_NAME_KEYS = ("name", "function", "function_name", "tool", "tool_name", "action", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "tool_input", "action_input", "input", "tool_args")
_WRAPPERS = ("tool_calls", "function_call", "tool_uses")
_KEYS = "|".join((*_NAME_KEYS, *_ARGUMENT_KEYS, *_WRAPPERS, "type", "id"))
_OPEN = re.compile(rf"\{{\s{{0,20}}[\"'](?:{_KEYS})[\"']\s{{0,20}}:")
_DEPTH = 6
_STARTS = 64
_HEADS = re.compile(
    rf"<function=[\"']?(?P<a>{_NAME})[\"']?\s{{0,8}}>|invoke name=[\"'](?P<b>{_NAME})[\"']\s{{0,8}}>"
    rf"|<\|?tool_call\|?>\s{{0,8}}(?P<c>{_NAME})\s{{0,8}}(?=<arg_key>)"
)
_CLOSED = re.compile(r"</function>|</[^<>\n]{0,40}invoke>|</tool_call>")
_PARAMETERS = re.compile(
    r"<parameter=[\"']?(?P<a>[^<>\"'\n]{1,128})[\"']?>(?P<av>.*?)</parameter>"
    r"|parameter name=[\"'](?P<b>[^\"'\n]{1,128})[\"'][^<>\n]{0,80}>(?P<bv>.*?)</[^<>\n]{0,40}parameter>"
    r"|<arg_key>(?P<c>.{1,128}?)</arg_key>\s{0,8}<arg_value>(?P<cv>.*?)</arg_value>",
    re.DOTALL,
)
_GLUE = (
    r"(?::\d{1,4})?(?:\[CALL_ID\]\w{1,40})?(?:\[ARGS\])?"
    r"(?:\s|<[^<>\n]{1,60}>|json\b|code\b|```|Action Input:|[(=\"'>]){0,16}(?=\{)"
)


def written_calls(text: str, declared: Iterable[str]) -> tuple[ToolCall, ...]:
    """The calls written into `text`, in order, under the names they were written with; () where none can be read.

    Every name resolves to a declared tool (`names.resolve`). Arguments that are no JSON object come as malformed.
    """
    names = tuple(declared)
    if len(text) > MAX_TEXT or not names:
        return ()
    if "</think" in text:
        text = _THOUGHT.sub("", text)
    declared_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    for found in (_in_tags(text), _in_json(text), _before_braces(text, declared_name), _in_python(text, declared_name)):
        calls = tuple(found)
        if calls:
            whole = tuple(call for call in calls if call is not None and resolve(call.name, names) is not None)
            return whole if len(whole) == len(calls) else ()
    return ()


def _in_tags(text: str) -> Iterator[ToolCall | None]:
    """`<function=f><parameter=a>…`, `<invoke name="f"><parameter name="a">…`, `<tool_call>f<arg_key>a…`."""
    heads = list(_HEADS.finditer(text))
    for head, following in zip(heads, [*(each.start() for each in heads[1:]), len(text)], strict=False):
        body = text[head.end() : following]
        if body.lstrip().startswith("{"):
            continue  # `<function=f>{…}`: a name before braces
        closed = _CLOSED.search(body)
        if closed is None:
            yield None
            continue
        arguments: dict[str, Any] = {}
        for match in _PARAMETERS.finditer(body, 0, closed.start()):
            key, value = next((match[name], match[f"{name}v"]) for name in "abc" if match[name] is not None)
            arguments[key.strip()] = value.removeprefix("\n").removesuffix("\n")
        yield ToolCall(None, head["a"] or head["b"] or head["c"], arguments)


def _in_json(text: str) -> Iterator[ToolCall | None]:
    reached = 0
    for count, match in enumerate(_OPEN.finditer(text)):
        if match.start() < reached:
            continue
        read = lenient_value(text, match.start()) if count < _STARTS else None
        if read is None:
            yield None
            return
        value, reached = read
        yield from _named(value)


def _named(value: Any, depth: int = 0) -> Iterator[ToolCall]:
    if isinstance(value, list) and depth < _DEPTH:
        for item in value:
            yield from _named(item, depth + 1)
    if not isinstance(value, dict) or depth > _DEPTH:
        return
    for wrapper in _WRAPPERS:
        if isinstance(value.get(wrapper), (dict, list)):
            yield from _named(value[wrapper], depth + 1)
            return
    if isinstance(value.get("function"), dict):
        value = {**value, **value["function"], "function": None}
    key = next((key for key in _ARGUMENT_KEYS if key in value), None)
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if key is not None and name is not None and not _is_definition(value[key]):
        yield _call(name, value[key])


def _is_definition(arguments: Any) -> bool:
    """Whether what stands for arguments is a schema: a tool described, not called."""
    return isinstance(arguments, dict) and (
        arguments.get("type") == "object" or isinstance(arguments.get("properties"), dict)
    )


def _call(name: str, arguments: Any) -> ToolCall:
    if isinstance(arguments, dict):
        return ToolCall(None, name, arguments)
    if not isinstance(arguments, str):
        return ToolCall(None, name, malformed=Malformed("not_an_object", dump_faithful(arguments).decode()))
    try:
        value = parse_json(arguments).value
    except JsonFault as fault:
        return ToolCall(None, name, malformed=Malformed(fault.reason, arguments))
    if isinstance(value, dict):
        return ToolCall(None, name, value)
    return ToolCall(None, name, malformed=Malformed("not_an_object", arguments))


def _before_braces(text: str, declared: str) -> Iterator[ToolCall | None]:
    """A declared name, glue that chat templates put there, an object: `f{…}`, `to=functions.f<|message|>{…}`."""
    reached = 0
    for count, match in enumerate(re.finditer(rf"(?<![\w\"'-])(?P<name>{declared})(?![\w-]){_GLUE}", text)):
        if match.start() < reached:
            continue
        read = lenient_value(text, match.end()) if count < _STARTS else None
        if read is None:
            yield None
            return
        value, reached = read
        yield ToolCall(None, match["name"], value)


def _in_python(text: str, declared: str) -> Iterator[ToolCall | None]:
    """`f(a=1, b="x")`, alone, in a list, or behind a namespace. Literal values by name only."""
    reached = 0
    for count, match in enumerate(re.finditer(rf"(?<![\w\"'-])(?P<name>{declared})\(", text)):
        if match.start() < reached:
            continue
        read = keyword_arguments(text, match.end()) if count < _STARTS else None
        if read is None:
            yield None
            return
        arguments, reached = read
        yield ToolCall(None, match["name"], arguments)
