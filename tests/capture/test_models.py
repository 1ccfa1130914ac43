"""What a configuration's model becomes with the catalogue's help, and what is said about it before the first call."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from callscope.capture.config import ModelConfig, RunConfig, read_config
from callscope.capture.environment import Environment
from callscope.capture.models import catalogue_facts, notices, resolve_models
from callscope.capture.plan import Choice, make_manifest, plan_blocks
from callscope.capture.requests import request_for
from callscope.contract import (
    ArgumentRules,
    Block,
    Case,
    ExpectText,
    ExpectTool,
    Manifest,
    ModelEntry,
    NamedChoice,
    Settings,
    Suite,
    Tool,
)
from callscope.errors import InputError
from callscope.providers import get_adapter
from callscope.providers.catalog import ProviderEntry, catalog, ready_models

TOOL = Tool("t", "Does.", {"type": "object", "properties": {}})
CASES = (Case("a", "Hello", ExpectText()), Case("b", "Do it.", ExpectTool("t", ArgumentRules())))
SUITE = Suite("s", "1", "portable", "", (TOOL,), CASES, {})


def resolve(provider: str, model: str = "m", environ: dict[str, str] | None = None, **more: Any) -> ModelEntry:
    (entry,) = resolve_models([ModelConfig(provider, model, **more)], environ or {})
    return entry


# ----------------------------------------------------------------------------------------------------------- addresses

ADDRESSES: list[tuple[str, dict[str, Any], dict[str, str], str]] = [
    ("azure-openai", {"resource": "r1"}, {}, "https://r1.openai.azure.com/openai/v1"),
    ("azure-openai", {}, {"AZURE_RESOURCE_NAME": "r2"}, "https://r2.openai.azure.com/openai/v1"),
    ("azure-openai", {"resource": "r1"}, {"AZURE_RESOURCE_NAME": "r2"}, "https://r1.openai.azure.com/openai/v1"),
    ("bedrock", {}, {"AWS_DEFAULT_REGION": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com"),
    ("bedrock", {}, {"AWS_REGION": "a", "AWS_DEFAULT_REGION": "b"}, "https://bedrock-runtime.a.amazonaws.com"),
    ("snowflake", {"account": "org-acc"}, {}, "https://org-acc.snowflakecomputing.com/api/v2/cortex/v1"),
    (
        "vertex",
        {"project": "p", "region": "us-east5"},
        {},
        "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/google",
    ),
    (
        "vertex",
        {},
        {"GOOGLE_CLOUD_PROJECT": "p"},
        "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google",
    ),
]


@pytest.mark.parametrize(("provider", "switches", "environ", "url"), ADDRESSES, ids=str)
def test_an_address_is_filled_from_switches_then_from_the_environment(
    provider: str, switches: dict[str, Any], environ: dict[str, str], url: str
) -> None:
    entry = resolve(provider, environ=environ, switches=switches)
    assert entry.base_url == url
    assert not entry.switches.keys() & switches.keys()
    assert get_adapter(entry.api).build(request_for(entry, SUITE, SUITE.cases[0], block(), 0)).body


def block(**settings: Any) -> Block:
    return Block("s", "auto", "x", ("a",), 1, Settings(**settings))


BAD_PLACES = [
    ("azure-openai", {}, {}, "models[0].switches.resource: the address of Azure OpenAI needs a value for {resou"),
    ("vertex", {"region": "r"}, {}, "models[0].switches.project: the address of Google Vertex AI needs a value for"),
    ("bedrock", {}, {}, "models[0].switches.region: the address of Amazon Bedrock (Converse) needs a value for "),
    ("azure-openai", {"resource": "x@evil.example/"}, {}, "models[0].switches.resource: is no name (found x@evil.exam"),
    ("azure-openai", {"resource": "evil.example/"}, {}, "models[0].switches.resource: is no name"),
    ("azure-openai", {"resource": "evil.example#"}, {}, "models[0].switches.resource: is no name"),
    ("azure-openai", {"resource": ""}, {}, "models[0].switches.resource: is no name"),
    ("azure-openai", {"resource": 3}, {}, "models[0].switches.resource: is no name (found 3"),
    ("snowflake", {}, {"SNOWFLAKE_ACCOUNT": "https://a.b"}, "SNOWFLAKE_ACCOUNT: is no name (found https://a.b"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "switches", "environ", "said"), BAD_PLACES, ids=lambda value: str(value)[:40])
def test_an_address_that_cannot_be_filled_is_refused_with_what_is_missing(
    provider: str, switches: dict[str, Any], environ: dict[str, str], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        resolve(provider, environ=environ, switches=switches)
    assert str(caught.value).startswith(said)


def test_the_hint_names_the_variables() -> None:
    with pytest.raises(InputError, match=r"Give it there, or set AWS_REGION or AWS_DEFAULT_REGION; or give the whole"):
        resolve("bedrock")


def test_a_whole_address_needs_no_placeholder_and_gets_no_key_of_the_catalogue() -> None:
    entry = resolve("azure-openai", base_url="http://proxy/v1", environ={"AZURE_OPENAI_API_KEY": "x"})
    assert (entry.base_url, entry.api_key_env) == ("http://proxy/v1", None)


def test_another_format_of_a_provider_has_its_own_address() -> None:
    assert resolve("ollama").base_url == "http://127.0.0.1:11434"
    assert resolve("ollama", api="openai-chat").base_url == "http://127.0.0.1:11434/v1"
    assert resolve("google", api="openai-chat").base_url == "https://generativelanguage.googleapis.com/v1beta/openai"
    with pytest.raises(InputError, match=r"an address is needed .* The catalogue knows Mistral to speak mistral"):
        resolve("mistral", api="anthropic")


@pytest.mark.parametrize("name", [name for name, entry in catalog().items() if name != "openai-compatible"])
def test_every_provider_can_be_addressed_in_each_of_its_formats(name: str) -> None:
    entry: ProviderEntry = catalog()[name]
    for wire in entry.wires:
        made = resolve(name, api=wire.api, switches=dict.fromkeys(entry.placeholders, "x"))
        assert made.api == wire.api
        assert (made.base_url is None) is entry.embedded
        assert get_adapter(made.api).build(request_for(made, SUITE, SUITE.cases[0], block(), 0)).body


# ---------------------------------------------------------------------------------------------------------------- keys

KEYS: list[tuple[str, dict[str, str], str | None]] = [
    ("google", {"GOOGLE_API_KEY": "x", "GEMINI_API_KEY": "y"}, "GOOGLE_API_KEY"),
    ("google", {"GEMINI_API_KEY": "y"}, "GEMINI_API_KEY"),
    ("google", {"GOOGLE_API_KEY": " ", "GEMINI_API_KEY": "y"}, "GEMINI_API_KEY"),
    ("google", {}, "GOOGLE_API_KEY"),
    ("cohere", {"COHERE_API_KEY": "x"}, "COHERE_API_KEY"),
    ("vllm", {}, None),
    ("vllm", {"VLLM_API_KEY": "x"}, "VLLM_API_KEY"),
    ("local", {}, None),
]


@pytest.mark.parametrize(("provider", "environ", "variable"), KEYS, ids=str)
def test_the_first_key_variable_that_is_set_is_named(
    provider: str, environ: dict[str, str], variable: str | None
) -> None:
    assert resolve(provider, environ=environ).api_key_env == variable
    assert resolve(provider, environ=environ, api_key_env="MINE").api_key_env == "MINE"


def test_the_environment_of_the_process_is_used_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "x")
    assert resolve_models([ModelConfig("google", "m")])[0].api_key_env == "GEMINI_API_KEY"


# ------------------------------------------------------------------------------------------------------------ switches


def test_switches_of_provider_family_and_entry_are_merged_and_the_nearer_wins() -> None:
    assert resolve("openai", "gpt-4o").switches == {}
    assert resolve("openai", "gpt-5.4").switches == {"max_tokens_field": "max_completion_tokens"}
    own = resolve("openai", "gpt-5.4", switches={"max_tokens_field": "max_tokens", "system_role": "developer"})
    assert own.switches == {"max_tokens_field": "max_tokens", "system_role": "developer"}
    assert resolve("openai", "gpt-5.4", api="openai-responses").switches == {}
    vertex = resolve("vertex", switches={"project": "p"})
    assert vertex.switches == {"auth": "bearer"}
    assert resolve("vertex", switches={"project": "p", "auth": "api_key"}).switches == {"auth": "api_key"}
    assert resolve("mine", "gpt-5", base_url="http://h/v1").switches == {}


def test_switches_come_from_files_as_lists_and_are_taken() -> None:
    text = b'[[models]]\nprovider = "openai"\nmodel = "m"\nswitches = { drop_on_echo = ["annotations", "audio"] }\n'
    (entry,) = resolve_models(read_config(text, ".toml").models, {})
    assert entry.switches == {"drop_on_echo": ["annotations", "audio"]}
    assert get_adapter(entry.api).build(request_for(entry, SUITE, SUITE.cases[0], block(), 0)).body


def test_four_lines_add_an_openai_compatible_provider() -> None:
    text = b"""[[models]]
provider = "in-house"
model = "served"
base_url = "http://127.0.0.1:9/v1"
api_key_env = "IN_HOUSE_KEY"
"""
    (entry,) = resolve_models(read_config(text, ".toml").models, {})
    assert entry == ModelEntry(
        "in-house/served", "in-house", "served", "openai-chat", "http://127.0.0.1:9/v1", "IN_HOUSE_KEY"
    )


# -------------------------------------------------------------------------------------------------------- ready models


@pytest.mark.parametrize(
    ("name", "provider"), [(n, offer.provider) for n, ready in ready_models().items() for offer in ready.offers]
)
def test_a_ready_model_is_named_by_its_catalogue_name_at_each_of_its_providers(name: str, provider: str) -> None:
    places = dict.fromkeys(catalog()[provider].placeholders, "x")
    entry = resolve(provider, name, switches=places)
    offer = next(each for each in ready_models()[name].offers if each.provider == provider)
    assert (entry.label, entry.model, entry.extra) == (f"{provider}/{name}", offer.model, offer.extra)
    assert entry.prices == (offer.prices.per_million() if offer.prices else {})
    by_id = resolve(provider, offer.model, switches=places)
    assert structs.replace(by_id, label=entry.label) == entry


def test_what_a_person_wrote_about_a_ready_model_stands() -> None:
    entry = resolve("qwen", "qwen3-235b-a22b", extra={"enable_thinking": True, "top_k": 1}, prices={"input": 9.0})
    assert (entry.extra, entry.prices) == ({"enable_thinking": True, "top_k": 1}, {"input": 9.0})
    assert resolve("openai", "gpt-5.4", base_url="http://proxy/v1").prices == {}
    assert resolve("anthropic", "gpt-5.4").model == "gpt-5.4"


# ------------------------------------------------------------------------------------------------------------- notices


def manifest(entry: ModelEntry, **config: Any) -> Manifest:
    settings = RunConfig(models=(), repeats=1, **config)
    return make_manifest(
        run_id="r", created_at="now", environment=Environment("0", "release", {}, {}, {}), suites=[SUITE],
        models=[entry], blocks=plan_blocks([SUITE], [entry], settings, Choice()), config=settings,
    )  # fmt: skip


def said(provider: str, model: str = "m", config: dict[str, Any] | None = None, **more: Any) -> str:
    return "\n".join(notices(manifest(resolve(provider, model, **more), **{"temperature": None, **(config or {})})))


def test_a_plan_that_nothing_is_known_against_has_no_notice() -> None:
    for provider in ("openai", "anthropic", "mistral", "openai-compatible"):
        assert said(provider, base_url="http://h/v1", config={"temperature": 0.0, "seed": 1}) == ""
    assert said("mine", base_url="http://h/v1", config={"strict": True, "tool_choice": "required"}) == ""


NOTICES: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    ("google", "gemini-3.1-pro", {}, {}, "google/gemini-3.1-pro: the id gemini-3.1-pro-preview was not verified (nam"),
    ("qwen", "qwen3-235b-a22b", {}, {}, "qwen/qwen3-235b-a22b: the catalogue sends enable_thinking = False with every"),
    ("openai", "gpt-5.4", {}, {}, "openai/gpt-5.4: cost is reckoned with prices of 2026-03-06 in USD (genai-prices)"),
    ("openai", "gpt-5", {"temperature": 0.0}, {}, "openai/gpt-5: is known to refuse temperature: "),
    ("openai", "gpt-5", {"temperature": 0.0}, {"api": "openai-responses"}, "switch `send_temperature = false`, which"),
    ("openai", "gpt-5", {}, {"extra": {"top_p": 1}}, "openai/gpt-5: is known to refuse top_p: "),
    ("anthropic", "claude-fable-5", {"tool_choice": "required"}, {}, "tool choice required is not supported: 400 on"),
    ("anthropic", "claude-sonnet-4-5", {"tool_choice": "required"}, {}, "tool choice required is only partly suppor"),
    ("ollama", "m", {"tool_choice": "none"}, {}, "ollama/m: tool choice none is not supported: no form for it"),
    ("cohere", "m", {"parallel": False}, {}, "cohere/m: parallel is not supported: no switch"),
    ("ollama", "m", {"strict": True}, {}, "ollama/m: strict is not supported"),
    ("vllm", "m", {"strict": True}, {}, "vllm/m: strict is only partly supported: said to be ignored under auto (not"),
    ("cerebras", "qwen-3-coder-480b", {"strict": True}, {}, "is known to refuse strict: no strict schemas"),
    ("qwen", "qwen3-32b", {}, {}, "qwen/qwen3-32b: is known to refuse non_stream: they think by default"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "model", "config", "more", "part"), NOTICES, ids=lambda value: str(value)[:40])
def test_what_is_known_against_a_plan_is_said_before_it_runs(
    provider: str, model: str, config: dict[str, Any], more: dict[str, Any], part: str
) -> None:
    assert part in said(provider, model, config, **more)


QUIET: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    ("qwen", "qwen3-32b", {}, {"stream": True}, "non_stream"),
    ("qwen", "qwen3-32b", {}, {"extra": {"enable_thinking": False}}, "non_stream"),
    ("qwen", "qwen3-235b-a22b", {}, {"extra": {"enable_thinking": True}, "stream": True}, "the catalogue sends"),
    ("openai", "gpt-5.4", {}, {"prices": {"input": 1.0}}, "cost"),
    ("cohere", "m", {"parallel": True}, {}, "parallel"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "model", "config", "more", "part"), QUIET, ids=lambda value: str(value)[:40])
def test_what_was_seen_to_is_not_said(
    provider: str, model: str, config: dict[str, Any], more: dict[str, Any], part: str
) -> None:
    assert part not in said(provider, model, config, **more)


def test_a_switch_that_leaves_the_temperature_out_is_seen() -> None:
    switches = {"send_temperature": False}
    assert said("openai", "gpt-5", {"temperature": 0.0}, api="openai-responses", switches=switches) == ""


def test_a_notice_is_said_once_however_many_suites_there_are() -> None:
    made = manifest(resolve("openai", "gpt-5"), temperature=0.0)
    others = structs.replace(made.plan[0], model="another", settings=Settings(strict=True))
    made = structs.replace(made, plan=(*made.plan, *made.plan, others))
    assert len(notices(made)) == 1


def test_a_forced_single_tool_is_looked_up_as_such() -> None:
    made = manifest(resolve("cohere"))
    named = structs.replace(made.plan[0], settings=Settings(tool_choice=NamedChoice("t")))
    (notice,) = notices(structs.replace(made, plan=(named,)))
    assert notice.startswith("cohere/m: tool choice named is not supported: no form for it: sent as REQUIRED")


def test_the_manifest_says_of_a_ready_model_what_is_known_of_its_id_and_prices() -> None:
    made = manifest(resolve("openai", "gpt-5.4"))
    facts = made.models[0].facts
    assert facts["id_verified"] is True
    assert facts["prices"] == {"currency": "USD", "as_of": "2026-03-06", "source": "genai-prices"}
    assert "prices" not in catalogue_facts(resolve("openai", "gpt-5.4", prices={"input": 1.0}))
    assert catalogue_facts(resolve("openai", "other")) == {}


@pytest.mark.parametrize(
    ("extra", "named"),
    [
        ({"tool_choice": "required"}, "tool_choice"),
        ({"model": "other"}, "model"),
        ({"stream": True}, "stream"),
        ({"tools": []}, "tools"),
        ({"generationConfig": {"temperature": 1.5}}, "generationConfig.temperature"),
        ({"options": {"seed": 3}}, "options.seed"),
        ({"$switches": {"system_role": "developer"}}, "$switches"),
    ],
)
def test_extra_may_not_change_what_the_run_and_its_label_say(extra: dict[str, Any], named: str) -> None:
    entry = ModelConfig(provider="x", model="m", base_url="http://127.0.0.1:1/v1", extra=extra)
    with pytest.raises(InputError, match="decided by the run") as caught:
        resolve_models([entry], {})
    assert caught.value.field == f"models[0].extra.{named}"


def test_other_body_fields_pass_through_extra() -> None:
    extra = {"top_p": 0.5, "generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}, "reasoning_effort": "low"}
    (entry,) = resolve_models([ModelConfig(provider="x", model="m", base_url="http://127.0.0.1:1/v1", extra=extra)], {})
    assert entry.extra == extra
