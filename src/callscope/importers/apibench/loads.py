"""The load call that a text states, and its canonical form: the arguments of the hub's one tool.

What an answer states is the text after `api_call` up to the next field. The first row that holds decides:

| the answer                                                             | the calls                              |
|------------------------------------------------------------------------|----------------------------------------|
| after `api_call` it loads a model (a tokenizer or processor is none)   | these, one of each; none inside one    |
| after `api_call` it makes another call                                 | the first of them                      |
| anywhere else, in its code, it loads a model                           | these, one of each                     |
| after `api_call` a call whose text cannot be read                      | malformed, `not_python` or `truncated` |
| after `api_call` words                                                 | malformed, `not_a_call`                |
| otherwise                                                              | none                                   |

A gold call is read by the same functions. Text that is quoted once more is read as it is, then with one layer of
backslashes taken off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from callscope.contract import Malformed, ToolCall
from callscope.importers.apibench.hubs import Hub, is_companion, is_loader
from callscope.importers.pycalls import (
    MAX_SOURCE,
    POSITIONAL,
    PyCall,
    PyFault,
    arguments_of,
    parse_loose,
    spans,
)

__all__ = ["Stated", "canonical", "stated", "stated_gold", "written_calls"]

_FIELD = re.compile(r"api_call\W{0,10}", re.DOTALL)
_NEXT = re.compile(r"(?:api_provider|explanation|<<<\s*code|['\"]code['\"]\s*:)")
_PACKAGES = re.compile(
    r"^(?:transformers|diffusers|sentence_transformers|tensorflow_hub|tf_?hub|huggingface_hub|torch)\."
)
_ESCAPED = re.compile(r"(?<!\\)\\++(['\"n])")
_MODEL_KEYS = (
    "model",
    "repo_id",
    "source",
    "pretrained_model_name_or_path",
    "model_name_or_path",
    "model_name",
    "model_id",
    "model_tag",
    "segmentation",
)


class Stated(NamedTuple):
    """What a text states: whether it names an `api_call`, and the calls, as written or malformed."""

    named: bool
    calls: tuple[ToolCall, ...]


def stated(hub: Hub, text: str) -> Stated:
    """The calls that an answer to a case of the hub states. Never raises."""
    text = text[:MAX_SOURCE]
    field = _FIELD.search(text)
    if field is None:
        return Stated(False, written_calls(hub, text))
    following = _NEXT.search(text, field.end())
    region = text[field.end() : following.start() if following else len(text)]
    return Stated(True, written_calls(hub, region) or _other(region) or written_calls(hub, text) or _unreadable(region))


def stated_gold(hub: Hub, api_call: str) -> ToolCall | None:
    """The one call that a gold text states, in canonical form; None where it states none that can be read."""
    calls = written_calls(hub, api_call) or _other(api_call)
    call = canonical(hub, calls[0]) if calls else None
    return None if call is None or call.name != hub.tool.name else call


def written_calls(hub: Hub, text: str) -> tuple[ToolCall, ...]:
    """The different calls in a text that load a model from the hub, as written: positional arguments as a list."""
    for layer in _layers(text):
        found: list[ToolCall] = []
        for call in _readable(layer):
            for loading in _loading(hub, call):
                one = ToolCall(None, loading.name, arguments_of(loading))
                if one not in found:
                    found.append(one)
        if found:
            return tuple(found)
    return ()


def _layers(text: str) -> tuple[str, ...]:
    """A text as it is and, where it looks quoted, without one layer of backslashes."""
    if "\\" not in text:
        return (text,)
    return (text, _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], text))


def _readable(text: str) -> Iterator[PyCall]:
    for span in spans(text):
        if span.end is not None:
            try:
                yield parse_loose(text[span.start : span.end])
            except PyFault:
                continue


def _loading(hub: Hub, call: PyCall) -> Iterator[PyCall]:
    """The outermost calls in `call` that load a model, itself among them."""
    waiting: list[Any] = [call]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, PyCall):
            if is_loader(hub, value.name):
                yield value
            elif not is_companion(value.name):
                waiting[:0] = [*value.positional, *(each for _, each in value.named)]
        elif isinstance(value, list):
            waiting[:0] = value
        elif isinstance(value, dict):
            waiting[:0] = list(value.values())


def _other(region: str) -> tuple[ToolCall, ...]:
    """The first call of any kind after `api_call`."""
    for layer in _layers(region):
        for call in _readable(layer):
            return (ToolCall(None, call.name, arguments_of(call)),)
    return ()


def _unreadable(region: str) -> tuple[ToolCall, ...]:
    """What is made of the text of an `api_call` that holds no call which can be read."""
    words = region.strip()
    if not words.strip("'\"\\ \n.,:<>(){}"):
        return ()
    for span in spans(region):
        raw, reason = region[span.start : span.end], "not_python" if span.end is not None else "truncated"
        return (ToolCall(None, span.name, malformed=Malformed(reason, raw)),)
    return (ToolCall(None, "", malformed=Malformed("not_a_call", words)),)


def canonical(hub: Hub, call: ToolCall) -> ToolCall:
    """A call as written, as a call of the hub's tool; itself where it is none, or loads nothing from the hub."""
    if call.arguments is None or call.name == hub.tool.name:
        return call
    if hub.name == "torchhub":
        return _torch(hub, call) if is_loader(hub, call.name) else call
    if hub.name == "tensorflow" and not is_loader(hub, call.name):
        return call
    loader = _PACKAGES.sub("", call.name)
    if hub.name == "tensorflow":
        loader = f"hub.{call.name.rpartition('.')[2]}"
    return ToolCall(call.id, hub.tool.name, {"loader": loader, **_loaded(loader, call.arguments)})


def _torch(hub: Hub, call: ToolCall) -> ToolCall:
    """repo_or_dir and model by place or by name; what is left over goes to the entry point, whose own first argument
    the benchmark calls `model` too."""
    given = dict(call.arguments or {})
    places = list(given.pop(POSITIONAL, []))
    named = {name: given.pop(name) for name in ("repo_or_dir",) if name in given}
    if "repo_or_dir" not in named and places:
        named["repo_or_dir"] = places.pop(0)
    if places:
        named["model"] = places.pop(0)
    elif "model" in given:
        named["model"] = given.pop("model")
    if places:
        given.setdefault("model", places.pop(0))
    return ToolCall(call.id, hub.tool.name, {**named, **_options(given, places)})


def _loaded(loader: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """model, task and options of a call of `loader`."""
    given = dict(arguments)
    places = list(given.pop(POSITIONAL, []))
    found: dict[str, Any] = {}
    if loader == "pipeline":
        if places and not ("model" not in given and len(places) == 1 and "/" in str(places[0])):
            found["task"] = places.pop(0)
        elif "task" in given:
            found["task"] = given.pop("task")
    key = next((key for key in _MODEL_KEYS if key in given), None)
    if key is not None:
        found["model"] = given.pop(key)
    elif places:
        found["model"] = places.pop(0)
    if isinstance(found.get("model"), dict):
        found["model"] = _inner(found["model"])
    return {**found, **_options(given, places)}


def _inner(model: dict[str, Any]) -> Any:
    """The model that a call in the place of a model names: `load(hf_hub_download("owner/name", "file"))`."""
    while isinstance(model.get("arguments"), dict) and "call" in model:
        inner = _first(model["arguments"])
        if not isinstance(inner, dict):
            return inner if isinstance(inner, str) else model
        model = inner
    return model


def _first(arguments: Mapping[str, Any]) -> Any:
    key = next((key for key in _MODEL_KEYS if key in arguments), None)
    places = arguments.get(POSITIONAL)
    return arguments[key] if key is not None else places[0] if isinstance(places, list) and places else None


def _options(given: dict[str, Any], places: list[Any]) -> dict[str, Any]:
    options = {**given, **({POSITIONAL: places} if places else {})}
    return {"options": options} if options else {}
