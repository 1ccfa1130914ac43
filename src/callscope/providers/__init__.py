"""Wire formats: one module each, all behind the same pure functions (`Adapter`).

    adapter = get_adapter("openai-chat")
    wire = adapter.build(request)                              bytes to send, and what was changed on the way
    reading = adapter.parse(200, headers, body, stream=False)  outcome, usage, model, finish, limits; never raises
    request = adapter.follow_up(request, body, results, stream=False)

A model entry's `extra` goes into the body last; its `switches`, which change how an adapter builds (the name of the
token limit, the role of the system text, …), travel beside it: `Request(extra=with_switches(extra, switches))`.

Nothing here touches the network, a clock or a key variable; sending is `capture`, judging is `scoring`. The flags an
outcome may carry are listed, with what each says, in `callscope.providers.flags.FLAGS`.

A format is added by one module with an `ADAPTER` and one line in the table below; or from another package, by an
entry point in the group `callscope.providers` whose name is the format and whose object is the adapter (or a class
or function that makes it without arguments).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from callscope.errors import EnvironmentProblem, InputError
from callscope.providers.base import SWITCHES, Adapter, Headers, Signer, with_switches
from callscope.providers.flags import FLAGS
from callscope.providers.wire import decode_body

__all__ = [
    "FLAGS",
    "SWITCHES",
    "Adapter",
    "Headers",
    "Signer",
    "api_names",
    "decode_body",
    "get_adapter",
    "with_switches",
]

ENTRY_POINT_GROUP = "callscope.providers"

_BUILT_IN = {
    "anthropic": "anthropic",
    "bedrock": "bedrock",
    "cohere": "cohere",
    "gemini": "gemini",
    "mistral": "mistral",
    "ollama": "ollama",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
}


def _foreign() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name not in _BUILT_IN}


def api_names() -> tuple[str, ...]:
    """The known wire formats, built in and from other packages, in alphabetical order."""
    return tuple(sorted({*_BUILT_IN, *_foreign()}))


@cache
def get_adapter(api: str) -> Adapter:
    """The adapter of a wire format; its module is imported on first use.

    Raises InputError on an unknown name, EnvironmentProblem where another package's adapter cannot be loaded.
    """
    if api in _BUILT_IN:
        adapter = import_module(f"{__name__}.{_BUILT_IN[api]}").ADAPTER
        assert isinstance(adapter, Adapter)
        return adapter
    point = _foreign().get(api)
    if point is None:
        raise InputError("unknown wire format", field="api", found=api, expected=f"one of {', '.join(api_names())}")
    return _load(point)


def _load(point: EntryPoint) -> Adapter:
    try:
        found = point.load()
        adapter = found if isinstance(found, Adapter) and not isinstance(found, type) else found()
    except Exception as error:
        raise EnvironmentProblem(
            f"the adapter {point.name!r} ({point.value}) cannot be loaded: {error!r}",
            hint="Repair or uninstall the package that declares it.",
        ) from error
    if not isinstance(adapter, Adapter):
        raise EnvironmentProblem(f"{point.value} is no adapter: it lacks part of callscope.providers.Adapter")
    return adapter
