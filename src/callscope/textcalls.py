"""Recognises a tool call that a model wrote into its text instead of making it.

By its shape alone (`written_in`, `text_calls`): a chat template's call marker with its payload, JSON that names a tool
beside its arguments, `[f(x=1)]`, `functions.f(…)`. JSON data, a tool's definition, and prose that only mentions a tool
or a marker are no call. By shape and declared names (`names_a_tool`): forms that mean nothing without a tool's name.
Nothing found here is ever credited or executed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["MAX_TEXT", "WrittenCalls", "names_a_tool", "text_calls", "written_in"]

MAX_TEXT = 20_000
"""Characters that are looked at: of a longer text its first and its last half of that."""

_MAX_FAILURES = 24
"""Values that are begun and turn out to be no JSON, after which no more are tried: each costs the rest of the text."""

# Every gap and name is bounded or gives nothing back, so that no text, however made, takes more than linear time.
_NAME = r"[A-Za-z_][\w.:/-]{0,127}+"
_IS_NAME = re.compile(_NAME)
_BAR = r"[|｜]"
_GAP = r"\s{0,8}"
_WIDE = r"\s{0,80}+"
_LONG = rf"(?P<name>{_NAME})"
_SHORT = r"(?P<name>[A-Za-z_][\w.-]{0,127}+)"
_PLAIN = r"(?P<name>[A-Za-z_][\w.]{0,127}+)"

# Markers of chat templates: (words of which one must be in the text, pattern of the marker with its payload). Group
# "name" is the tool's name where the form holds it.
_MARKERS = tuple(
    (words, re.compile("".join(parts)))
    for words, *parts in (
        # Hermes, Qwen, GLM, Granite and relatives: <tool_call>{"name": …, <tool_call>get_weather\n<arg_key>…
        (
            ("tool_call", "function_call", "tool_use", "tool_code"),
            rf"<\|?(?:\w{{1,40}}:)?(?:tool_call|function_call|tool_use|tool_code)s?\|?>{_GAP}(?:\[{_GAP})?",
            rf"(?:\{{{_GAP}[\"']\w{{1,80}}[\"']{_GAP}:|(?:call:)?{_LONG}{_GAP}(?:<arg_key>|[({{]|\n))",
        ),
        # XML: <function=f>, <function=f{…}, <invoke name="f">, with any prefix (DSML and minimax among them)
        (("<function=",), rf"<function=[\"']?{_LONG}[\"']?{_GAP}(?:>|=?{_GAP}\{{|\()"),
        (
            ("invoke name=",),
            rf"<(?:{_BAR}{{0,4}}\w{{1,40}}{_BAR}{{0,4}}{_GAP}:?)?{_GAP}invoke name=[\"']{_LONG}[\"']{_GAP}>",
        ),
        # DeepSeek, Kimi: <|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…
        (
            ("call_begin", "call▁begin"),
            rf"<{_BAR}tool[_▁]call[_▁]begin{_BAR}>{_GAP}(?:function<{_BAR}tool[_▁]sep{_BAR}>)?(?:functions[._])?",
            rf"{_SHORT}(?::\d{{1,6}})?{_GAP}[<{{\n]",
        ),
        # LFM: <|tool_call_start|>[f(x=1)]; Llama 3: <|python_tag|>f.call(…) or {"name": …; InternLM plugins
        (
            ("tool_call_start", "python_tag", "plugin"),
            rf"<{_BAR}(?:tool_call_start|python_tag|plugin){_BAR}>{_GAP}\[?{_GAP}(?:\{{{_GAP}[\"']|{_LONG}{_GAP}\()",
        ),
        # Mistral: [TOOL_CALLS][{"name": …, [TOOL_CALLS]f[ARGS]{…, [TOOL_CALLS]f{…
        (
            ("[TOOL_CALLS]",),
            rf"\[TOOL_CALLS\]{_GAP}(?:\[?{_GAP}\{{{_GAP}\"",
            rf"|{_LONG}(?:\[CALL_ID\]\w{{1,40}})?{_GAP}(?:\[ARGS\])?{_GAP}\{{)",
        ),
        # Phi: functools[{"name": …
        (("functools",), rf"\bfunctools{_GAP}\[{_GAP}\{{{_GAP}\"name\""),
        # Gemma: <start_function_call>call:f{…
        (("start_function_call",), rf"<start_function_call>{_GAP}call:{_LONG}{_GAP}\{{"),
        # harmony: <|channel|>commentary to=functions.f <|constrain|>json<|message|>{…
        (
            ("to=",),
            rf"\bto=(?:functions?\.)?{_SHORT}{_GAP}(?:<\|[^<>]{{0,40}}>{_GAP}\w{{0,40}}+{_GAP}){{0,4}}",
            rf"(?:code|json)?{_GAP}(?:<\|message\|>|\{{)",
        ),
        # ReAct
        (("Action Input:",), rf"(?:^|\n)[ \t]{{0,8}}Action:{_GAP}{_LONG}{_GAP}\n{_GAP}Action Input:"),
        # a namespace of tools called by name
        (
            ("functions.", "default_api.", "tools."),
            rf"(?:^|[\n`])[ \t]{{0,8}}(?:functions|default_api|tools)\.{_SHORT}(?:\(|:\d{{1,6}}{_GAP}\{{|{_GAP}\{{)",
        ),
        # Llama through Groq: f{"x": 1}</function>
        (("</function>",), rf"(?:^|\n)[ \t]{{0,8}}{_LONG}[ \t]{{0,8}}\{{[^\n]*\}}{_GAP}</function>"),
    )
)
_THINKING = re.compile(r"<(/?)think(?:ing)?>")
_FENCE = re.compile(r"```[ \t]{0,8}+(\w{0,40}+)[^\n]{0,80}\n(.*?)(?:```|\Z)", re.DOTALL)
_NAME_KEYS = ("name", "function", "function_name", "tool", "tool_name", "action", "recipient_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "tool_input", "action_input", "input", "tool_args")
_WRAPPER_KEYS = ("tool_calls", "function_call", "tool_uses")
_OPEN = re.compile(
    rf"\{{{_WIDE}[\"'](?:{'|'.join((*_NAME_KEYS, *_WRAPPER_KEYS))}|type|id|arguments|parameters)[\"']{_WIDE}:"
)
_WRAPPERS = 6
# Words that data about something else hardly uses: what stands under them was meant as a call.
_OF_CALLS = frozenset({"arguments", "tool_input", "action_input", "tool_args", "recipient_name", "tool", "tool_name"})
# Text that does not parse (cut off, single quotes): the name directly followed by the beginning of its arguments.
_HEAD = re.compile(
    rf"[{{,]{_WIDE}([\"'])(?:name|function|function_name|tool|tool_name)\1{_WIDE}:{_WIDE}([\"'])"
    rf"{_LONG}\2{_WIDE},{_WIDE}([\"'])(?P<key>arguments|parameters|args|tool_input)\4{_WIDE}:{_WIDE}[{{\"'\[]"
    rf"(?!{_WIDE}[\"']type[\"']{_WIDE}:{_WIDE}[\"']object)"
)
_BRACKETED = re.compile(rf"\[\s*+{_PLAIN}\(\s*+(?:\)|\w{{1,80}}+\s*+=[^=])")
_FOLLOWING = re.compile(rf"\){_WIDE},{_WIDE}{_LONG}\(")
_BARE = re.compile(rf"(?:print\(\s*+)?{_PLAIN}\(\s*+\w{{1,80}}+\s*+=[^=].*\)\s*+", re.DOTALL)
_ANY_CALL = re.compile(rf"{_PLAIN}\((?:\s*+\)|.)", re.DOTALL)
_CALLED = re.compile(rf"{_LONG}{_GAP}[({{]")
_CODE_MARK = re.compile(r"""[(){}\[\]]|"(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?""", re.DOTALL)
_BETWEEN = re.compile(r"[\s,;]*+")
_WORD = re.compile(r"\w")
_FENCE_MARK = re.compile(r"```[ \t]{0,8}+\w{0,40}+")
_DECODER = json.JSONDecoder(strict=False)


class WrittenCalls(NamedTuple):
    """What a text holds of calls: their names in order, "" for one whose name cannot be told.

    `marked`: in a chat template's own form. `sure`: in a form that only calls have, that one, or code, or JSON in a
    call's own words. `alone`: nothing but the calls stands in the text.
    """

    names: tuple[str, ...] = ()
    marked: bool = False
    sure: bool = False
    alone: bool = False


class _Found(NamedTuple):
    """A call in JSON: its name, whether only calls are written so, and the text's part it stands in."""

    name: str
    sure: bool
    start: int
    end: int


def text_calls(text: str) -> tuple[str, ...]:
    """The names of the calls written into `text`, in order; "" for one whose name cannot be told; () for none."""
    return written_in(text).names


def written_in(text: str) -> WrittenCalls:
    """The calls that `text` holds by their shape. Looks at MAX_TEXT characters, thoughts left out; linear in them."""
    if not any(sign in text for sign in "{<[(") and "Action:" not in text:
        return WrittenCalls()
    text = _looked_at(text)
    templates = list(_in_markers(text))
    objects = list(_in_json(text))
    fenced, code = list(_in_tool_code(text)), list(_in_python(text))
    names = tuple([found.name for found in objects] + fenced + code)
    if not names:
        names = tuple(name for name in templates if name) or (("",) if templates else ())
    marked = bool(templates or fenced)
    return WrittenCalls(
        names,
        marked=marked,
        sure=marked or bool(code) or any(found.sure for found in objects),
        alone=bool(code) or (bool(objects) and not _words_beside(text, objects)),
    )


def _looked_at(text: str) -> str:
    """The text without what stands between thinking tags; of one that is too long its two ends, as two lines."""
    if "</think" in text:
        text = _without_thoughts(text)
    half = MAX_TEXT // 2
    return text if len(text) <= MAX_TEXT else f"{text[:half]}\n{text[-half:]}"


def _without_thoughts(text: str) -> str:
    kept: list[str] = []
    opened: int | None = None
    reached = 0
    for tag in _THINKING.finditer(text):
        if not tag[1]:
            opened = tag.start()
        elif opened is not None:
            kept.append(text[reached:opened])
            opened, reached = None, tag.end()
    return "".join([*kept, text[reached:]])


def _words_beside(text: str, objects: list[_Found]) -> bool:
    """Whether there are words outside the parts that the calls stand in; the marks of code fences are none."""
    outside: list[str] = []
    reached = 0
    for found in objects:
        if found.start >= reached:
            outside.append(text[reached : found.start])
        reached = max(reached, found.end)
    outside.append(text[reached:])
    return any(_WORD.search(_FENCE_MARK.sub("", part)) for part in outside)


def _in_markers(text: str) -> Iterator[str]:
    for words, pattern in _MARKERS:
        if not any(word in text for word in words):
            continue
        for match in pattern.finditer(text):
            name = match.groupdict().get("name") or ""
            # In `default_api.print(f(x=1))` and `functions.f` the prefix is the namespace, not the tool.
            yield name.removeprefix("functions.")


def _in_json(text: str) -> Iterator[_Found]:
    parts: list[tuple[int, int]] = []
    failures, reached, named = 0, 0, False
    for match in _OPEN.finditer(text):
        start = match.start()
        if start < reached:
            continue
        if failures == _MAX_FAILURES:
            break
        try:
            value, reached = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            failures += 1
            continue
        parts.append((start, reached))
        for name, sure in _named(value):
            named = True
            yield _Found(name, sure, start, reached)
    if not named:
        yield from _in_torn_json(text, parts)


def _in_torn_json(text: str, read: list[tuple[int, int]]) -> Iterator[_Found]:
    """Calls in what does not parse, outside the parts that were read."""
    place = 0
    for match in _HEAD.finditer(text):
        while place < len(read) and read[place][1] <= match.start():
            place += 1
        if place == len(read) or match.start() < read[place][0]:
            yield _Found(match["name"], match["key"] in _OF_CALLS, match.start(), len(text))


def _named(value: Any, depth: int = 0, *, sure: bool = False) -> Iterator[tuple[str, bool]]:
    """The names of the calls a JSON value is, by its keys, and whether those are words that only calls use."""
    if isinstance(value, list) and depth < _WRAPPERS:
        for item in value:
            yield from _named(item, depth + 1, sure=sure)
    if not isinstance(value, dict) or depth > _WRAPPERS:
        return
    for wrapper in _WRAPPER_KEYS:
        if isinstance(value.get(wrapper), (dict, list)):
            yield from _named(value[wrapper], depth + 1, sure=True)
            return
    sure = sure or not _OF_CALLS.isdisjoint(value) or isinstance(value.get("function"), (dict, str))
    if isinstance(value.get("function"), dict):
        value = {**value, **value["function"], "function": None}
    arguments = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
    if isinstance(arguments, str):
        if not value.keys() & {"arguments", "parameters", "tool_input", "action_input"}:
            return
    elif not isinstance(arguments, dict) or _is_schema(arguments):
        return
    for key in _NAME_KEYS:
        name = value.get(key)
        if isinstance(name, str) and _IS_NAME.fullmatch(name):
            yield name.removeprefix("functions."), sure
            return


def _is_schema(arguments: dict[str, Any]) -> bool:
    return arguments.get("type") == "object" or isinstance(arguments.get("properties"), dict)


def _in_tool_code(text: str) -> Iterator[str]:
    if "tool_code" not in text:
        return
    for fence in _FENCE.finditer(text.strip()):
        if fence[1] == "tool_code":
            match = _ANY_CALL.match(fence[2].strip().removeprefix("print("))
            if match:
                yield _bare_name(match["name"])


def _in_python(text: str) -> Iterator[str]:
    stripped = _unfenced(text)
    bracketed = _BRACKETED.match(stripped)
    if bracketed:
        yield _bare_name(bracketed["name"])
        for match in _FOLLOWING.finditer(stripped):
            yield _bare_name(match["name"])
    elif "\n\n" not in stripped:
        bare = _BARE.fullmatch(stripped)
        if bare:
            yield _bare_name(bare["name"])


def _unfenced(text: str) -> str:
    """The text, or what stands in the one code fence that it is."""
    stripped = text.strip()
    fence = _FENCE.match(stripped)
    if fence and fence.span() == (0, len(stripped)) and fence[1] in {"", "python", "json"}:
        return fence[2].strip()
    return stripped


def _bare_name(name: str) -> str:
    return name.removeprefix("default_api.").removeprefix("functions.")


def names_a_tool(text: str, tools: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """The tools that a text is a call of, where it is nothing else and calls them in a form that only their names tell:
    `{"f": {"a": 1}}`, alone or in a list; `{"function": "f", "a": 1}`; `f{"a": 1}`; `f("x")`. () where it is not.

    `tools` maps the name of each offered tool to the names of its parameters.
    """
    if not any(name in text for name in tools):
        return ()
    text = _unfenced(_looked_at(text)).rstrip(";")
    if text[:1] in ("{", "["):
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return ()
        return () if text[end:].strip() else _keyed(value, tools)
    return _code_calls(text, tools)


def _keyed(value: Any, tools: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """The tools whose names are the keys of the object (of every one in the list), or stand under a key for names."""
    called: list[str] = []
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict) or not each:
            return ()
        names = [_bare_name(key) for key, arguments in each.items() if isinstance(arguments, dict)]
        if len(names) == len(each) and all(name in tools for name in names):
            called.extend(names)
            continue
        key = next((key for key in _NAME_KEYS if isinstance(each.get(key), str)), None)
        name = _bare_name(each[key]) if key is not None else ""
        beside = each.keys() - {key, "type"}
        if name not in tools or not beside.issubset(tools[name]) or (key == "name" and not beside):
            return ()
        called.append(name)
    return tuple(called)


def _code_calls(text: str, tools: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """The tools of a text made of calls alone, `f(…)` or `f{…}`, one after the other."""
    called: list[str] = []
    place = 0
    while match := _CALLED.match(text, place):
        name = _bare_name(match["name"])
        if name not in tools:
            return ()
        called.append(name)
        depth, place = 1, match.end()
        while depth:
            mark = _CODE_MARK.search(text, place)
            if mark is None:
                return ()
            depth += 1 if mark[0] in ("(", "{", "[") else -1 if mark[0] in (")", "}", "]") else 0
            place = mark.end()
        between = _BETWEEN.match(text, place)
        place = between.end() if between else place
    return tuple(called) if place == len(text) else ()
