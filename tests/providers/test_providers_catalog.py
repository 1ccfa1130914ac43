"""Claims about the catalogue: it is whole, it can be used as it stands, and it says where each statement is from."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from callscope.capture.models import known_switches
from callscope.contract import Message, Request, Tool
from callscope.providers import api_names, get_adapter, with_switches
from callscope.providers.catalog import (
    EVIDENCE,
    MODES,
    Dialect,
    Fact,
    Family,
    catalog,
    dialects,
    families_of,
    offer_of,
    placeholders,
    read_catalog,
    ready_models,
    whole_catalog,
)

TEXT = files("callscope.providers").joinpath("catalog.toml").read_text("utf-8")
PROVIDERS = catalog()
NAMED = {
    "openai", "azure-openai", "anthropic", "google", "vertex", "deepseek", "qwen", "mistral", "cohere", "bedrock",
    "groq", "openrouter", "together", "fireworks", "cerebras", "xai", "moonshot", "huggingface", "snowflake", "ollama",
    "vllm", "sglang", "llama-cpp",
}  # fmt: skip
REQUEST = Request("m", (Message("user", "Hello"),), (Tool("t", "Does.", {"type": "object", "properties": {}}),))


def switch_sets() -> list[tuple[str, str, dict[str, Any]]]:
    """Every set of switches in the file: where it stands, the format it is for, the switches."""
    found = [(name, api, held) for name, entry in PROVIDERS.items() for api, held in entry.switches.items()]
    found += [(f.title, api, held) for f in whole_catalog().families for api, held in f.switches.items()]
    for name, ready in ready_models().items():
        for offer in ready.offers:
            found.append((name, offer.api or PROVIDERS[offer.provider].api, offer.switches))
    return found


def facts() -> list[tuple[str, Fact]]:
    found = []
    for name, entry in PROVIDERS.items():
        found += [(f"{name} {mode}", entry.choices.of(mode)) for mode in MODES]
        found += [(name, entry.parallel), (name, entry.strict), (name, entry.streaming)]
    found += [(family.title, fact) for family in whole_catalog().families for fact in family.choices.values()]
    return found


def test_the_providers_that_were_promised_are_there() -> None:
    assert set(PROVIDERS) == NAMED | {"openai-compatible", "local"}


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_speaks_formats_that_exist_at_addresses_that_parse(name: str) -> None:
    entry = PROVIDERS[name]
    apis = [wire.api for wire in entry.wires]
    assert set(apis) <= set(api_names())
    assert len(set(apis)) == len(apis)
    used = set()
    for wire in entry.wires:
        assert wire.base_urls or name in {"openai-compatible", "local"}
        assert wire.dialect in dialects()
        for url in wire.base_urls:
            used.update(placeholders(url))
            parts = urlsplit(url.format_map(dict.fromkeys(placeholders(url), "x")))
            local = parts.hostname == "127.0.0.1"
            assert parts.scheme == ("http" if local else "https")
            assert parts.hostname
            assert not parts.query
            assert not url.endswith("/")
    assert used == set(entry.placeholders)
    assert all(re.fullmatch("[A-Z][A-Z0-9_]*", key) for key in entry.keys)
    assert entry.keys or not entry.key_required


@pytest.mark.parametrize(("where", "api", "switches"), switch_sets(), ids=lambda value: str(value)[:30])
def test_each_switch_is_one_that_the_adapter_knows(where: str, api: str, switches: dict[str, Any]) -> None:
    adapter = get_adapter(api)
    assert switches.keys() <= known_switches(adapter).keys(), where
    structs = {name: getattr(REQUEST, name) for name in REQUEST.__struct_fields__}
    assert adapter.build(Request(**{**structs, "extra": with_switches({}, switches)})).body


@pytest.mark.parametrize(("where", "fact"), facts(), ids=lambda value: value if isinstance(value, str) else "")
def test_each_fact_says_something_and_where_it_is_from(where: str, fact: Fact) -> None:
    assert fact.says.strip()
    assert fact.evidence
    assert set(fact.evidence) <= EVIDENCE.keys()
    assert fact.verified is (set(fact.evidence) != {"PRIOR"})


@pytest.mark.parametrize("family", whole_catalog().families, ids=lambda family: family.title)
def test_each_family_has_a_pattern_that_compiles_and_providers_that_exist(family: Family) -> None:
    re.compile(family.match)
    assert set(family.providers) <= PROVIDERS.keys()
    assert family.choices.keys() <= set(MODES)
    assert family.evidence
    assert family.refuses or family.choices or family.switches or family.says


FAMILIES = [
    ("openai", "gpt-5", ("temperature", "top_p"), "max_completion_tokens"),
    ("openai", "gpt-5-mini-2025-08-07", ("temperature", "top_p"), "max_completion_tokens"),
    ("openai", "gpt-5-chat-latest", (), None),
    ("openai", "gpt-5.1", (), "max_completion_tokens"),
    ("openai", "gpt-5.4", (), "max_completion_tokens"),
    ("openai", "gpt-5.4-mini", (), "max_completion_tokens"),
    ("openai", "gpt-5.4-pro", ("temperature", "top_p"), "max_completion_tokens"),
    ("openai", "gpt-5.2-chat-latest", ("temperature", "top_p"), "max_completion_tokens"),
    ("openai", "gpt-5.5", ("temperature", "top_p"), "max_completion_tokens"),
    ("openai", "gpt-5.6-sol", ("temperature", "top_p"), "max_completion_tokens"),
    ("openai", "o3", ("temperature", "top_p"), "max_completion_tokens"),
    ("openai", "gpt-4o", (), None),
    ("openai", "gpt-4.1-mini", (), None),
    ("openrouter", "openai/o4-mini", ("temperature", "top_p"), "max_completion_tokens"),
    ("openrouter", "openai/gpt-oss-120b", (), None),
    ("anthropic", "claude-opus-4-6", (), None),
    ("anthropic", "claude-sonnet-4-5", (), None),
    ("anthropic", "claude-opus-4-8", ("temperature", "top_p"), None),
    ("anthropic", "claude-sonnet-5-5", ("temperature", "top_p"), None),
    ("qwen", "qwen3-235b-a22b", ("non_stream",), None),
    ("qwen", "qwen3-235b-a22b-instruct-2507", (), None),
    ("groq", "o3", (), None),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "model", "refuses", "field"), FAMILIES, ids=str)
def test_families_hold_the_models_they_are_about_and_no_others(
    provider: str, model: str, refuses: tuple[str, ...], field: str | None
) -> None:
    found = list(families_of(provider, model))
    assert {name for family in found for name in family.refuses} == set(refuses)
    fields = [family.switches.get("openai-chat", {}).get("max_tokens_field") for family in found]
    assert next((each for each in fields if each), None) == field


@pytest.mark.parametrize(
    ("provider", "model", "refused"),
    [
        ("anthropic", "claude-fable-5", True),
        ("bedrock", "us.anthropic.claude-mythos-5-v1:0", True),
        ("anthropic", "claude-sonnet-5-5", True),
        ("anthropic", "claude-opus-5", False),
        ("anthropic", "claude-opus-4-6", False),
        ("deepseek", "deepseek-v4-pro", True),
        ("deepseek", "deepseek-chat", False),
    ],
)
def test_models_that_refuse_a_forced_choice_are_known(provider: str, model: str, refused: bool) -> None:
    found = [family.choices["required"].support for family in families_of(provider, model) if family.choices]
    assert found == (["no"] if refused else [])


@pytest.mark.parametrize("name", dialects())
def test_each_dialect_names_limits_that_it_has(name: str) -> None:
    dialect: Dialect = dialects()[name]
    for limits in (dialect.plain, dialect.strict):
        for pattern in (limits and limits.tool_name, limits and limits.parameter_name):
            assert pattern is None or re.compile(pattern)
    default = type(dialect.plain)()
    held = {
        field
        for limits in (dialect.plain, dialect.strict)
        if limits is not None
        for field in limits.__struct_fields__
        if getattr(limits, field) != getattr(default, field)
    }
    assert set(dialect.unverified) <= held
    assert any(wire.dialect == name for entry in PROVIDERS.values() for wire in entry.wires)


@pytest.mark.parametrize("name", ["claude-opus-4.6", "gemini-3.1-pro", "deepseek-v4-pro", "gpt-5.4", "qwen3-235b-a22b"])
def test_the_models_of_the_document_are_ready(name: str) -> None:
    ready = ready_models()[name]
    for offer in ready.offers:
        assert offer.provider in PROVIDERS
        assert offer.api is None or PROVIDERS[offer.provider].wire(offer.api)
        assert offer_of(offer.provider, name) == offer_of(offer.provider, offer.model)
        assert offer.id_source
        assert offer.id_verified is offer.id_source.startswith("recorded traffic")
        if offer.prices is not None:
            assert offer.prices.source
            assert 0 < offer.prices.input < offer.prices.output
            assert offer.prices.as_of.year >= 2026
            assert set(offer.prices.per_million()) == {"input", "output", "cached_input"}
    assert offer_of("openai", "no-such-model") is None


def test_a_price_without_a_cached_one_has_none() -> None:
    prices = next(o.prices for o in ready_models()["gpt-5.4"].offers if o.prices)
    assert "cached_input" not in msgspec.structs.replace(prices, cached_input=None).per_million()


SPOILED: list[tuple[str, Any]] = [
    ("providers.openai.titel", "x"),
    ("providers.openai.title", 1),
    ("providers.openai.choices.sometimes", {"support": "yes", "says": "x", "evidence": ["SDK"]}),
    ("providers.openai.parallel.support", "perhaps"),
    ("providers.openai.parallel.evidence", ["HEARSAY"]),
    ("dialects.openai.plain.max_toools", 1),
]


@pytest.mark.parametrize(("path", "value"), SPOILED, ids=lambda value: str(value)[:40])
def test_a_misspelling_is_an_error_and_never_ignored(path: str, value: Any) -> None:
    table = tomllib.loads(TEXT)
    *steps, last = path.split(".")
    place = table
    for step in steps:
        place = place[step]
    place[last] = value
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(table, type(whole_catalog()))


def test_all_modes_must_be_spoken_of() -> None:
    table = tomllib.loads(TEXT)
    del table["providers"]["openai"]["choices"]["named"]
    with pytest.raises(msgspec.ValidationError, match="named"):
        msgspec.convert(table, type(whole_catalog()))
    assert read_catalog(TEXT) == whole_catalog()
