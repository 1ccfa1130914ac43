"""The notations in which BFCL's handlers record calls, each read as its handler reads it: one function a notation.

`models.profile` says which notation a model's results are in. A decoder gives what its handler gives, which need not
be a list of calls (`decode` looks at that), and raises one of FAULTS where its handler raises. Not for our own reading
(`reading`): habits that drop or merge calls are kept here on purpose.

| decoder            | recorded result                                                                           |
|--------------------|-------------------------------------------------------------------------------------------|
| json_arguments     | list of `{name: "JSON text"}`; only the first key of each is read                         |
| prompting          | `[f(a=1), g(b="x")]`, backquotes, spaces and newlines around it stripped, brackets added  |
| gemini_prompting   | the same, within a code fence; phi_prompting likewise                                     |
| bracketed          | `f(a=1), g(b="x")`, brackets always added                                                 |
| toolcall_tag       | the same as prompting, within `<TOOLCALL>`; without that, no calls                        |
| any_list           | calls already; list_of_objects likewise, gemini makes a list of what is none              |
| cohere             | list of `{"tool_name", "parameters"}`; anything else is no calls                          |
| named_objects      | list of `{"name", "arguments"}`                                                           |
| hermes             | JSON of that form on the lines between `<tool_call>` and its end; what is no JSON is lost |
| falcon             | JSON of that form, or a list of it, in the first `<tool_call>`                            |
| json_text          | JSON of that form, or a list of it                                                        |
| json_or_semicolons | the same, or with `;` between                                                             |
| hammer             | the same as json_text, without fences; what is no JSON is no calls                        |
| think_agent        | JSON after `</think>`, single quotes made double                                          |
| llama_3_1          | `{"name", "parameters"}` as a Python literal, or as JSON with `;` between                 |
| granite_20b        | JSON of `{"name", "arguments"}` after each `<function_call>`                              |
| glm_lines          | the name on the first line, JSON arguments on the second                                  |
| minicpm            | Python statements between `<|tool_call_start|>` and `<|tool_call_end|>`                   |
| functiongemma      | `call:f{k:v}` between its own markers (`gemmatext`)                                       |
| by_shape           | a list as json_arguments, its values JSON text or objects; text as prompting or hermes    |
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

from callscope.importers.bfcl.arithmetic import evaluate
from callscope.importers.bfcl.gemmatext import gemma_calls
from callscope.importers.bfcl.javatext import java_calls
from callscope.importers.bfcl.jstext import javascript_calls
from callscope.importers.bfcl.pytext import compatible_call, compatible_calls, parse_expression

__all__ = ["DECODERS", "FAULTS", "Language"]

Language = Literal["python", "java", "javascript"]

FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,
    NotImplementedError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What reading any JSON value here can raise; the handlers raise the same on the same values."""

_TOOLCALL = re.compile(r"<TOOLCALL>(.*?)</TOOLCALL>", re.DOTALL)
_HERMES = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)


def _source_calls(text: str, language: Language) -> Any:
    if language == "python":
        return compatible_calls(text)
    return java_calls(text[1:-1]) if language == "java" else javascript_calls(text[1:-1])


def _prompting(result: Any, language: Language) -> Any:
    text = result.strip("`\n ")
    opening = "" if text.startswith("[") else "["
    text = opening + text
    return _source_calls(text if text.endswith("]") else text + "]", language)


def _gemini_prompting(result: Any, language: Language) -> Any:
    return _prompting(result.replace("```tool_code\n", "").replace("\n```", ""), language)


def _phi_prompting(result: Any, language: Language) -> Any:
    return _prompting(result.strip().removeprefix("```json").removeprefix("```python"), language)


def _bracketed(result: Any, language: Language) -> Any:
    return _source_calls("[" + result + "]", language)


def _toolcall_tag(result: Any, language: Language) -> Any:
    tagged = _TOOLCALL.search(result)
    return _prompting(tagged[1], language) if tagged else []


def _json_arguments(result: Any, _: Language) -> Any:
    calls = []
    for item in result:
        name = next(iter(item.keys()), _NOTHING)
        if name is _NOTHING:
            raise IndexError("a call without a name")
        calls.append({name: json.loads(item[name])})
    return calls


_NOTHING = object()


def _by_shape(result: Any, language: Language) -> Any:
    if isinstance(result, str):
        return _hermes(result, language) if "<tool_call>" in result else _prompting(result, language)
    listed = [result] if isinstance(result, dict) else result
    written = [each for each in listed if any(isinstance(value, str) for value in each.values())]
    return _json_arguments(listed, language) if len(written) == len(listed) else _mixed(listed)


def _mixed(listed: list[Any]) -> list[Any]:
    return [
        {name: json.loads(value) if isinstance(value, str) else value for name, value in each.items()}
        for each in listed
    ]


def _gemini(result: Any, _: Language) -> Any:
    return result if isinstance(result, list) else [result]


def _any_list(result: Any, _: Language) -> Any:
    if not isinstance(result, list):
        raise ValueError("no list of calls")
    return result


def _list_of_objects(result: Any, language: Language) -> Any:
    if not all(isinstance(each, dict) for each in _any_list(result, language)):
        raise ValueError("no list of calls")
    return result


def _keyed(listed: Any, name: str, arguments: str) -> list[Any]:
    return [{each[name]: each[arguments]} for each in listed]


def _cohere(result: Any, _: Language) -> Any:
    return _keyed(result, "tool_name", "parameters") if isinstance(result, list) else []


def _named_objects(result: Any, _: Language) -> Any:
    return _keyed(result, "name", "arguments")


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _hermes(result: Any, _: Language) -> Any:
    found = []
    for text in _HERMES.findall(result):
        try:
            found.append(json.loads(text))
        except (ValueError, RecursionError):
            continue  # as the handler does: a call that is no JSON is lost
    if not all(isinstance(each, dict) for each in found):
        raise ValueError("something between the tags that is no call")
    return [{each["name"]: dict(each["arguments"].items())} for each in found]


def _falcon(result: Any, _: Language) -> Any:
    if "<tool_call>" not in result:
        raise ValueError("no <tool_call>")
    text = result.split("<tool_call>")[1].split("</tool_call>")[0].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`").strip().removeprefix("json").strip()
    return _keyed(_as_list(json.loads(text)), "name", "arguments")


def _json_text(result: Any, _: Language) -> Any:
    return _keyed(_as_list(json.loads(result)), "name", "arguments")


def _json_or_semicolons(result: Any, _: Language) -> Any:
    try:
        listed = _as_list(json.loads(result))
    except json.JSONDecodeError:
        listed = [json.loads(each.strip()) for each in result.split(";")]
    return _keyed(listed, "name", "arguments")


def _hammer(result: Any, _: Language) -> Any:
    text = result.replace("```", "")
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        listed = []
    return _keyed(listed, "name", "arguments")


def _think_agent(result: Any, _: Language) -> Any:
    _, thought, said = result.strip().replace("'", '"').partition("</think>")
    return _keyed(json.loads(said.strip() if thought else "[]"), "name", "arguments")


def _llama_3_1(result: Any, _: Language) -> Any:
    text = result.replace("<|python_tag|>", "")
    if ";" in text:
        listed = [json.loads(each) for each in text.split(";")]
    else:
        listed = evaluate(parse_expression(text.lstrip(" \t")))
        listed = [listed] if isinstance(listed, dict) else listed
    return _keyed(listed, "name", "parameters")


def _granite_20b(result: Any, _: Language) -> Any:
    calls: list[Any] = []
    for text in (each.strip() for each in result.split("<function_call>")):
        if not text:
            continue
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            calls.append(text)
            continue
        name = said.get("name", "").strip()
        calls.append("no call" if name == "no_function" else {name: said.get("arguments", {})})
    return calls


def _glm_lines(result: Any, _: Language) -> Any:
    lines = result.split("\n")
    return lines if len(lines) == 1 else [{lines[0]: json.loads(lines[1])}]


def _minicpm(result: Any, _: Language) -> Any:
    if "<|thought_end|>" in result and "<|thought_start|>" in result:
        thought, result = result.rsplit("<|thought_end|>", 1)
        if "<|thought_start|>" not in thought:
            raise IndexError("a thought that ends before it begins")
    if "<|tool_call_start|>" not in result or "<|tool_call_end|>" not in result:
        return result.strip()
    before, said = result.rsplit("<|tool_call_end|>", 1)
    code = before.split("<|tool_call_start|>", 1)[1]
    try:
        calls = _statements(code.strip())
    except FAULTS:
        calls = []
    return calls or said.strip()


def _statements(code: str) -> list[Any]:
    if code.startswith("```"):
        code = code.lstrip("`").strip()
        if code.startswith("python"):
            code = code.lstrip("python").strip()  # the letters, not the word
    code = code.rstrip("`").strip() if code.endswith("```") else code
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        statements = ast.parse(code).body
    calls: list[Any] = []
    for each in statements:
        value = getattr(each, "value", None)
        if not isinstance(value, ast.Call):
            raise ValueError("a statement that is no call")
        calls.append(compatible_call(value))
    return calls


def _functiongemma(result: Any, _: Language) -> Any:
    return gemma_calls(result)


DECODERS: Mapping[str, Callable[[Any, Language], Any]] = {
    "json_arguments": _json_arguments,
    "prompting": _prompting,
    "gemini_prompting": _gemini_prompting,
    "phi_prompting": _phi_prompting,
    "bracketed": _bracketed,
    "toolcall_tag": _toolcall_tag,
    "any_list": _any_list,
    "list_of_objects": _list_of_objects,
    "gemini": _gemini,
    "cohere": _cohere,
    "named_objects": _named_objects,
    "hermes": _hermes,
    "falcon": _falcon,
    "json_text": _json_text,
    "json_or_semicolons": _json_or_semicolons,
    "hammer": _hammer,
    "think_agent": _think_agent,
    "llama_3_1": _llama_3_1,
    "granite_20b": _granite_20b,
    "glm_lines": _glm_lines,
    "minicpm": _minicpm,
    "functiongemma": _functiongemma,
    "by_shape": _by_shape,
}
"""Decoder by name: (recorded result, language of the category) -> what its handler decodes it to."""
