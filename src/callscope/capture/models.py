"""From a model as a configuration names it to one that can be called: address, format, key variable, switches.

Also what the catalogue knows against a plan, said before its first call (`notices`). Reads the environment for names
of places and for which key variable is set; a key's value is read by `keys` alone. Sends nothing.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from callscope.capture.config import ModelConfig
from callscope.contract import Manifest, ModelEntry, NamedChoice, Settings
from callscope.errors import InputError
from callscope.providers import Adapter, get_adapter
from callscope.providers.catalog import (
    Fact,
    Mode,
    Offer,
    ProviderEntry,
    catalog,
    families_of,
    offer_of,
    placeholders,
)

__all__ = ["catalogue_facts", "known_switches", "notices", "resolve_models"]

_SENDABLE = re.compile(r"[!-~]+")
"""What an address may hold: ASCII without white space; a name in other letters is written in its `xn--` form."""

_PLACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What may stand for a placeholder: nothing that could lead an address elsewhere."""


def resolve_models(models: Sequence[ModelConfig], environ: Mapping[str, str] | None = None) -> tuple[ModelEntry, ...]:
    """Model entries with what the catalogue knows filled in, and labels made unique.

    Address, format and key variable come from the provider; where the model is a ready one, its id, prices and extra
    fields; switches of provider, family, ready model and entry are merged in this order. `environ` (default: the
    process's) fills placeholders of addresses and tells which of several key variables is set. Raises InputError
    naming the entry where a provider is unknown and no address is given, and where a placeholder has no value.
    """
    environ = os.environ if environ is None else environ
    entries = [_resolve(model, f"models[{place}]", environ) for place, model in enumerate(models)]
    seen: set[str] = set()
    for place, entry in enumerate(entries):
        if entry.label in seen:
            hint = "Give each entry its own `label`; it tells them apart in reports"
            raise InputError("two models share a label", field=f"models[{place}].label", found=entry.label, hint=hint)
        seen.add(entry.label)
    return tuple(entries)


def known_switches(adapter: Adapter) -> Mapping[str, Any]:
    """The switches of an adapter with their defaults, as far as its module declares them (`SWITCH_DEFAULTS`)."""
    found: Mapping[str, Any] = getattr(sys.modules[type(adapter).__module__], "SWITCH_DEFAULTS", {})
    return found


def _resolve(model: ModelConfig, where: str, environ: Mapping[str, str]) -> ModelEntry:
    known = catalog().get(model.provider)
    if known is None and model.base_url is None:
        near = difflib.get_close_matches(model.provider, catalog(), n=1)
        guess = f"Did you mean `{near[0]}`? " if near else ""
        hint = f"{guess}Known: {', '.join(catalog())}. Any OpenAI-compatible address works with `base_url`"
        raise InputError("unknown provider", field=f"{where}.provider", found=model.provider, hint=hint)
    offer = offer_of(model.provider, model.model)
    api = model.api or (offer.api if offer else None) or (known.api if known else "openai-chat")
    try:
        get_adapter(api)
    except InputError as error:
        raise error.at(prefix=f"{where}.") from None
    embedded = known is not None and known.embedded and model.base_url is None
    base_url = model.base_url
    if base_url is None and known is not None and not embedded:
        base_url = _address(known, api, model.switches, where, environ)
    if base_url is not None:
        _check_url(base_url, f"{where}.base_url")
    key_env = model.api_key_env
    if key_env is None and known is not None and model.base_url is None:
        key_env = _key_variable(known, environ)
    prices = _prices(model.prices, f"{where}.prices")
    if not prices and offer is not None and offer.prices is not None and model.base_url is None:
        prices = offer.prices.per_million()
    variant = f" [{model.template}]" if model.template else ""
    _check_extra(model.extra, f"{where}.extra")
    return ModelEntry(
        label=model.label or f"{model.provider}/{model.model}{variant}",
        provider=model.provider,
        model=offer.model if offer else model.model,
        api=api,
        base_url=base_url,
        api_key_env=key_env,
        stream=model.stream,
        switches=_switches(model, known, offer, api),
        extra={**(offer.extra if offer else {}), **model.extra},
        prices=prices,
        embedded=model.model if embedded else None,
        template=model.template,
        stand_in=model.stand_in,
        schema_fallback=model.schema_fallback,
    )


_OWNED = frozenset(
    {
        *("model", "messages", "input", "contents", "system", "systemInstruction", "system_instruction"),
        *("instructions", "tools", "toolConfig", "tool_config", "tool_choice", "toolChoice", "parallel_tool_calls"),
        *("strict_tools", "stream", "temperature", "seed", "random_seed", "$switches"),
    }
)
"""Body fields that the run decides: what is sent must be what the plan and the experiment's label say."""

_CONTAINERS = ("generationConfig", "generation_config", "inferenceConfig", "options")
"""Fields that hold some of those in some formats."""


def _check_extra(extra: Mapping[str, Any], where: str) -> None:
    """Raise InputError where `extra` would change what the run's settings decide."""
    inner = [(f"{box}.{name}", name) for box in _CONTAINERS for name in _names(extra.get(box))]
    for path, name in [(name, name) for name in extra] + inner:
        if name in _OWNED:
            hint = "Set it in the configuration (`tool_choice`, `parallel`, `strict`, `temperature`, `seed`, `stream`)"
            raise InputError("is decided by the run, not by `extra`", field=f"{where}.{path}", hint=hint)


def _names(box: Any) -> list[str]:
    return list(box) if isinstance(box, dict) else []


def _switches(model: ModelConfig, known: ProviderEntry | None, offer: Offer | None, api: str) -> dict[str, Any]:
    if known is None:
        return model.switches
    merged = dict(known.switches.get(api, {}))
    for family in families_of(model.provider, offer.model if offer else model.model):
        merged.update(family.switches.get(api, {}))
    merged.update(offer.switches if offer else {})
    merged.update({name: value for name, value in model.switches.items() if name not in known.placeholders})
    return merged


def _address(
    known: ProviderEntry, api: str, switches: Mapping[str, Any], where: str, environ: Mapping[str, str]
) -> str:
    """The first address of the format whose placeholders all have a value."""
    wire = known.wire(api)
    if wire is None or not wire.base_urls:
        spoken = ", ".join(each.api for each in known.wires)
        hint = "" if wire else f"The catalogue knows {known.title} to speak {spoken}"
        raise InputError(
            "an address is needed", field=f"{where}.base_url", expected="http(s)://host/path", hint=hint or None
        )
    values = {name: _place(name, known, switches, where, environ) for name in known.placeholders}
    for base_url in wire.base_urls:
        if all(values[name] is not None for name in placeholders(base_url)):
            return base_url.format_map(values)
    name = next(name for name in placeholders(wire.base_urls[-1]) if values[name] is None)
    variables = " or ".join(known.placeholders[name])
    hint = f"Give it there, or set {variables}; or give the whole address as `base_url`"
    raise InputError(
        f"the address of {known.title} needs a value for {{{name}}}", field=f"{where}.switches.{name}", hint=hint
    )


def _place(
    name: str, known: ProviderEntry, switches: Mapping[str, Any], where: str, environ: Mapping[str, str]
) -> str | None:
    field = f"{where}.switches.{name}"
    value = switches.get(name)
    if value is None:
        variable = next((each for each in known.placeholders[name] if environ.get(each)), None)
        if variable is None:
            return None
        value, field = environ[variable], variable
    if not isinstance(value, str) or not _PLACE.fullmatch(value):
        hint = "It is part of an address: the name alone, no scheme, no path"
        raise InputError("is no name", field=field, found=value, expected="letters, digits, . - _", hint=hint)
    return value


def _key_variable(known: ProviderEntry, environ: Mapping[str, str]) -> str | None:
    """The first key variable that is set; else the first of all, or None where none is required."""
    for name in known.keys:
        if environ.get(name, "").strip():
            return name
    return known.keys[0] if known.keys and known.key_required else None


def _check_url(url: str, field: str) -> None:
    hint = "Keys come from the environment: `api_key_env`; an @ in a path is written %40"
    if "@" in url:
        raise InputError("holds a user or password", field=field, hint=hint)
    if "?" in url or "#" in url:
        raise InputError("holds a query or fragment", field=field, expected="http(s)://host/path", hint=hint)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise InputError(f"is no address: {error}", field=field, found=url) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not _SENDABLE.fullmatch(url):
        raise InputError("is no address", field=field, found=url, expected="http(s)://host/path")


def _prices(prices: Mapping[str, float], field: str) -> dict[str, float]:
    for name, value in prices.items():
        if name not in {"input", "output", "cached_input"}:
            raise InputError("unknown price", field=f"{field}.{name}", expected="input, output or cached_input")
        if not 0 <= value < float("inf"):
            raise InputError("is no price", field=f"{field}.{name}", found=value)
    return dict(prices)


def catalogue_facts(entry: ModelEntry) -> dict[str, Any]:
    """What a manifest says of a ready model: whether its id was seen in use, and where its prices are from."""
    offer = offer_of(entry.provider, entry.model)
    if offer is None:
        return {}
    facts: dict[str, Any] = {"id_verified": offer.id_verified, "id_source": offer.id_source}
    prices = offer.prices
    if prices is not None and entry.prices == prices.per_million():
        facts["prices"] = {"currency": prices.currency, "as_of": prices.as_of.isoformat(), "source": prices.source}
    return facts


def notices(manifest: Manifest) -> tuple[str, ...]:
    """What is known against a plan before its first call: ids never seen in use, settings a model refuses.

    Each is a line of text that names the model. None of them stops a run: the provider decides.
    """
    found: dict[str, None] = {}
    for ref in manifest.models:
        entry = ref.entry
        found.update(dict.fromkeys(_of_model(entry)))
        for block in manifest.plan:
            if block.model == entry.label:
                found.update(dict.fromkeys(_of_settings(entry, block.settings)))
    return tuple(found)


def _of_model(entry: ModelEntry) -> Iterator[str]:
    offer = offer_of(entry.provider, entry.model)
    if offer is not None and not offer.id_verified:
        yield f"{entry.label}: the id {entry.model} was not verified ({offer.id_source})"
    if offer is not None and offer.extra and all(entry.extra.get(name) == value for name, value in offer.extra.items()):
        sent = ", ".join(f"{name} = {value}" for name, value in offer.extra.items())
        yield f"{entry.label}: the catalogue sends {sent} with every request"
    prices = offer.prices if offer is not None else None
    if prices is not None and entry.prices == prices.per_million():
        yield (
            f"{entry.label}: cost is reckoned with prices of {prices.as_of} in {prices.currency} ({prices.source}); "
            "give `prices` for today's"
        )


def _of_settings(entry: ModelEntry, settings: Settings) -> Iterator[str]:
    known = catalog().get(entry.provider)
    if known is None:
        return
    asked = {
        "temperature": settings.temperature is not None and entry.switches.get("send_temperature", True),
        "top_p": "top_p" in entry.extra,
        "seed": settings.seed is not None,
        "parallel": settings.parallel is not None,
        "strict": bool(settings.strict),
        "non_stream": not (entry.stream or settings.stream) and "enable_thinking" not in entry.extra,
    }
    choice: Mode = "named" if isinstance(settings.tool_choice, NamedChoice) else settings.tool_choice
    facts: dict[Mode, Fact] = {choice: known.choices.of(choice)}
    for family in families_of(entry.provider, entry.model):
        facts.update(family.choices)
        refused = [name for name in family.refuses if asked[name]]
        if refused:
            how = _remedy(entry, refused)
            yield f"{entry.label}: is known to refuse {', '.join(refused)}: {family.says}{how}"
    for what, fact, wanted in (
        (f"tool choice {choice}", facts[choice], True),
        ("parallel", known.parallel, settings.parallel is False),
        ("strict", known.strict, bool(settings.strict)),
        ("streaming", known.streaming, settings.stream),
    ):
        if wanted and fact.support in {"no", "partly"} and what != "tool choice auto":
            unsure = "" if fact.verified else " (not verified)"
            yield f"{entry.label}: {what} is {_SUPPORT[fact.support]}: {fact.says}{unsure}"


_SUPPORT = {"no": "not supported", "partly": "only partly supported"}


def _remedy(entry: ModelEntry, refused: Sequence[str]) -> str:
    if "temperature" not in refused:
        return ""
    switch = "send_temperature" in known_switches(get_adapter(entry.api))
    own = " or the model's switch `send_temperature = false`, which is recorded" if switch else ""
    return f". Set `temperature` to null{own}"
