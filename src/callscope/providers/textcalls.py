"""Recognises a tool call that a model wrote into its text instead of making it.

The shape of a call is required, for the declared tools are not known here: a chat template's call marker with its
payload, JSON that names a tool beside its arguments, `[f(x=1)]`, `functions.f(…)`. JSON data, a tool's definition,
and prose that only mentions a tool or a marker are no call. Nothing found here is ever credited or executed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["text_calls"]

_NAME = r"[A-Za-z_][\w.:/-]{0,127}"
_IS_NAME = re.compile(_NAME)
_BAR = r"[|｜]"

_SHORT = r"(?P<name>[A-Za-z_][\w.-]{0,127})"
_GAP = r"\s{0,8}"
_LONG = rf"(?P<name>{_NAME})"

# Gaps are bounded, so that no text, however made, takes more than linear time.
# Markers of chat templates: (words of which one must be in the text, pattern of the marker with its payload). Group
# "name" is the tool's name where the form holds it.
_MARKERS = tuple(
    (words, re.compile("".join(parts)))
    for words, *parts in (
        # Hermes, Qwen, GLM, Granite and relatives: <tool_call>{"name": …, <tool_call>get_weather\n<arg_key>…
        (
            ("tool_call", "function_call", "tool_use", "tool_code"),
            r"<\|?(?:\w+:)?(?:tool_call|function_call|tool_use|tool_code)s?\|?>\s{0,8}(?:\[\s{0,8})?",
            rf"(?:\{{{_GAP}[\"']\w+[\"']{_GAP}:|(?:call:)?{_LONG}{_GAP}(?:<arg_key>|[({{]|\n))",
        ),
        # XML: <function=f>, <function=f{…}, <invoke name="f">, with any prefix (DSML and minimax among them)
        (("<function=",), rf"<function=[\"']?{_LONG}[\"']?{_GAP}(?:>|=?{_GAP}\{{|\()"),
        (("invoke name=",), rf"<(?:{_BAR}*\w+{_BAR}*{_GAP}:?)?{_GAP}invoke name=[\"']{_LONG}[\"']{_GAP}>"),
        # DeepSeek, Kimi: <|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…
        (
            ("call_begin", "call▁begin"),
            rf"<{_BAR}tool[_▁]call[_▁]begin{_BAR}>{_GAP}(?:function<{_BAR}tool[_▁]sep{_BAR}>)?(?:functions[._])?",
            rf"{_SHORT}(?::\d+)?{_GAP}[<{{\n]",
        ),
        # LFM: <|tool_call_start|>[f(x=1)]; Llama 3: <|python_tag|>f.call(…) or {"name": …; InternLM plugins
        (
            ("tool_call_start", "python_tag", "plugin"),
            rf"<{_BAR}(?:tool_call_start|python_tag|plugin){_BAR}>{_GAP}\[?{_GAP}(?:\{{{_GAP}[\"']|{_LONG}{_GAP}\()",
        ),
        # Mistral: [TOOL_CALLS][{"name": …, [TOOL_CALLS]f[ARGS]{…, [TOOL_CALLS]f{…
        (
            ("[TOOL_CALLS]",),
            rf"\[TOOL_CALLS\]{_GAP}(?:\[?{_GAP}\{{{_GAP}\"|{_LONG}(?:\[CALL_ID\]\w+)?{_GAP}(?:\[ARGS\])?{_GAP}\{{)",
        ),
        # Phi: functools[{"name": …
        (("functools",), r"\bfunctools\s{0,8}\[\s{0,8}\{\s{0,8}\"name\""),
        # Gemma: <start_function_call>call:f{…
        (("start_function_call",), rf"<start_function_call>{_GAP}call:{_LONG}{_GAP}\{{"),
        # harmony: <|channel|>commentary to=functions.f <|constrain|>json<|message|>{…
        (
            ("to=",),
            rf"\bto=(?:functions?\.)?{_SHORT}{_GAP}(?:<\|[^>]*>{_GAP}\w*{_GAP})*(?:code|json)?{_GAP}(?:<\|message\|>|\{{)",
        ),
        # ReAct
        (("Action Input:",), rf"(?:^|\n)[ \t]{{0,8}}Action:{_GAP}{_LONG}{_GAP}\n{_GAP}Action Input:"),
        # a namespace of tools called by name
        (
            ("functions.", "default_api.", "tools."),
            rf"(?:^|[\n`])[ \t]{{0,8}}(?:functions|default_api|tools)\.{_SHORT}(?:\(|:\d+{_GAP}\{{|{_GAP}\{{)",
        ),
        # Llama through Groq: f{"x": 1}</function>
        (("</function>",), rf"(?:^|\n)[ \t]{{0,8}}{_LONG}[ \t]{{0,8}}\{{[^\n]*\}}{_GAP}</function>"),
    )
)
_THOUGHT = re.compile(r"<think(?:ing)?>(?:(?!<think(?:ing)?>).)*?</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"```[ \t]*(\w*)[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL)
_OPEN = re.compile(
    r"\{\s*[\"'](?:name|function|function_name|tool|tool_name|tool_calls|function_call|action|recipient_name|type|id|arguments|parameters)[\"']\s*:"
)
_WRAPPERS = 6
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "tool_input", "action_input", "input", "tool_args")
# Text that does not parse (cut off, single quotes): the name directly followed by the beginning of its arguments.
_HEAD = re.compile(
    r"[{,]\s*([\"'])(?:name|function|function_name|tool|tool_name)\1\s*:\s*([\"'])"
    rf"(?P<name>{_NAME})\2\s*,\s*([\"'])(?:arguments|parameters|args|tool_input)\4\s*:\s*[{{\"'\[]"
    r"(?!\s*[\"']type[\"']\s*:\s*[\"']object)"
)
_BRACKETED = re.compile(r"\[\s*(?P<name>[A-Za-z_][\w.]{0,127})\(\s*(?:\)|\w+\s*=[^=])")
_BARE = re.compile(r"(?:print\(\s*)?(?P<name>[A-Za-z_][\w.]{0,127})\(\s*\w+\s*=[^=].*\)\s*", re.DOTALL)
_ANY_CALL = re.compile(r"(?P<name>[A-Za-z_][\w.]{0,127})\((?:\s*\)|.)", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


def text_calls(text: str) -> tuple[str, ...]:
    """The names of the calls written into `text`, in order; "" for one whose name cannot be told; () for none."""
    if not any(sign in text for sign in "{<[(") and "Action:" not in text:
        return ()
    if "</think" in text:
        text = _THOUGHT.sub("", text)
    found = list(_in_markers(text))
    named = list(_in_json(text)) + list(_in_python(text))
    if named:
        return tuple(named)
    names = [name for name in found if name]
    return tuple(names) or (("",) if found else ())


def _in_markers(text: str) -> Iterator[str]:
    for words, pattern in _MARKERS:
        if not any(word in text for word in words):
            continue
        for match in pattern.finditer(text):
            name = match.groupdict().get("name") or ""
            # In `default_api.print(f(x=1))` and `functions.f` the prefix is the namespace, not the tool.
            yield name.removeprefix("functions.")


def _in_json(text: str) -> Iterator[str]:
    reached = 0
    for match in _OPEN.finditer(text):
        if match.start() < reached:
            continue
        try:
            value, reached = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield from _named(value)
    if not reached:
        for match in _HEAD.finditer(text):
            yield match["name"]


def _named(value: Any, depth: int = 0) -> Iterator[str]:
    """The names of the calls a JSON value is, by its keys."""
    if isinstance(value, list) and depth < _WRAPPERS:
        for item in value:
            yield from _named(item, depth + 1)
    if not isinstance(value, dict) or depth > _WRAPPERS:
        return
    for wrapper in ("tool_calls", "function_call", "tool_uses"):
        if isinstance(value.get(wrapper), (dict, list)):
            yield from _named(value[wrapper], depth + 1)
            return
    if isinstance(value.get("function"), dict):
        value = {**value, **value["function"], "function": None}
    arguments = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    if isinstance(arguments, str):
        if not value.keys() & {"arguments", "parameters", "tool_input", "action_input"}:
            return
    elif not isinstance(arguments, dict) or _is_schema(arguments):
        return
    for key in ("name", "function", "function_name", "tool", "tool_name", "action", "recipient_name"):
        name = value.get(key)
        if isinstance(name, str) and _IS_NAME.fullmatch(name):
            yield name.removeprefix("functions.")
            return


def _is_schema(arguments: dict[str, Any]) -> bool:
    return arguments.get("type") == "object" or isinstance(arguments.get("properties"), dict)


def _in_python(text: str) -> Iterator[str]:
    stripped = text.strip()
    fences = list(_FENCE.finditer(stripped))
    for fence in fences:
        if fence[1] == "tool_code":
            match = _ANY_CALL.match(fence[2].strip().removeprefix("print("))
            if match:
                yield _bare_name(match["name"])
    if len(fences) == 1 and fences[0].span() == (0, len(stripped)) and fences[0][1] in {"", "python", "json"}:
        stripped = fences[0][2].strip()
    bracketed = _BRACKETED.match(stripped)
    if bracketed:
        yield _bare_name(bracketed["name"])
        for match in re.finditer(rf"\)\s*,\s*({_NAME})\(", stripped):
            yield _bare_name(match[1])
    elif "\n\n" not in stripped:
        bare = _BARE.fullmatch(stripped)
        if bare:
            yield _bare_name(bare["name"])


def _bare_name(name: str) -> str:
    return name.removeprefix("default_api.").removeprefix("functions.")
