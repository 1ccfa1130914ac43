"""How adapters are found, and what the room promises about itself."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from providers_kit import CHAT

from callscope import providers
from callscope.contract import Request, ToolResult, WireRequest
from callscope.errors import EnvironmentProblem, InputError
from callscope.providers import FLAGS, Adapter, api_names, get_adapter
from callscope.providers.arguments import ABSENT, read_argument_object
from callscope.providers.catalog import catalog

ROOM = Path(providers.__file__).parent


def test_the_face_is_small_and_whole() -> None:
    assert providers.__all__ == sorted(providers.__all__, key=lambda name: (name.upper() != name, name))
    assert all(hasattr(providers, name) for name in providers.__all__)


def test_every_named_format_has_an_adapter_of_that_name() -> None:
    assert "openai-chat" in api_names()
    for name in api_names():
        adapter = get_adapter(name)
        assert isinstance(adapter, Adapter)
        assert adapter.api == name
        assert {"auto", "required", "none", "named"} <= adapter.semantics.keys()
    assert get_adapter("openai-chat") is CHAT


def test_every_provider_of_the_catalogue_speaks_a_known_format() -> None:
    assert {entry.api for entry in catalog().values()} <= set(api_names())


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"api: unknown wire format \(found openai; expected one of .*openai-chat"):
        get_adapter("openai")


class Foreign:
    """An adapter of another package."""

    api = "foreign"
    semantics = CHAT.semantics

    def build(self, request: Request) -> WireRequest:
        return CHAT.build(request)

    def parse(self, status: int, headers: Any, body: bytes, *, stream: bool) -> Any:
        return CHAT.parse(status, headers, body, stream=stream)

    def follow_up(self, request: Request, raw_response: bytes, tool_results: list[ToolResult], *, stream: bool) -> Any:
        return CHAT.follow_up(request, raw_response, tool_results, stream=stream)

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:
        return ()


FOREIGN = Foreign()
NO_ADAPTER = "text"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"ready": "FOREIGN", "made": "Foreign", "text": "NO_ADAPTER", "gone": "NOWHERE", "dict": "dict"}
    points = [EntryPoint(name, f"{__name__}:{value}", "callscope.providers") for name, value in names.items()]
    points += [EntryPoint("openai-chat", f"{__name__}:FOREIGN", "callscope.providers")]
    monkeypatch.setitem(globals(), "dict", dict)
    monkeypatch.setattr(providers, "entry_points", lambda group: points if group == "callscope.providers" else [])
    get_adapter.cache_clear()


@pytest.mark.usefixtures("installed")
def test_adapters_of_other_packages_are_found_ready_or_made() -> None:
    assert list(api_names()) == sorted(api_names())
    assert {"dict", "gone", "made", "openai-chat", "ready", "text"} <= set(api_names())
    assert api_names().count("openai-chat") == 1
    assert get_adapter("ready") is FOREIGN
    assert isinstance(get_adapter("made"), Foreign)
    assert get_adapter("openai-chat") is CHAT


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gone", "the adapter 'gone' .* cannot be loaded: AttributeError"),
        ("text", "cannot be loaded: TypeError"),
        ("dict", "is no adapter: it lacks part of"),
    ],
)
def test_an_adapter_that_cannot_be_used_says_whose_it_is(name: str, text: str) -> None:
    with pytest.raises(EnvironmentProblem, match=text):
        get_adapter(name)


def test_every_flag_a_module_names_is_in_the_table() -> None:
    written = set()
    for module in ROOM.glob("*.py"):
        if module.name != "flags.py":
            source = module.read_text(encoding="utf-8")
            written |= set(re.findall(r'flags?(?:\.add|\.update)?\(?\{?"(\w+)"', source))
    assert written
    assert written - FLAGS.keys() == set()


def test_modules_stay_small() -> None:
    for module in ROOM.glob("*.py"):
        assert len(module.read_text(encoding="utf-8").splitlines()) < 400, module.name


@pytest.mark.parametrize(
    ("raw", "value", "reason", "flags"),
    [
        ({"a": 1}, {"a": 1}, None, ()),
        (None, {}, None, ("null_arguments",)),
        (ABSENT, {}, None, ("absent_arguments",)),
        ("{}", {}, None, ("double_encoded",)),
        ("[1]", None, "not_an_object", ()),
        ([1], None, "not_an_object", ()),
    ],
)
def test_arguments_that_should_be_an_object_are_decoded_once_more_at_most(
    raw: Any, value: Any, reason: str | None, flags: tuple[str, ...]
) -> None:
    read = read_argument_object(raw)
    assert (read.value, read.malformed and read.malformed.reason, read.flags) == (value, reason, flags)
    assert repr(ABSENT) == "ABSENT"
