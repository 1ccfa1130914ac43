"""The catalogue: what is known of providers and models, as data in `catalog.toml`, typed and read once.

It says where a provider answers, which formats it speaks and what its words mean there. It opens no connection, reads
no environment variable, and judges no suite (`schemas` compares tools with the schema limits that stand here).
"""

from __future__ import annotations

import datetime as dt
import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Literal

import msgspec
from msgspec import Struct

__all__ = [
    "EVIDENCE",
    "MODES",
    "Catalog",
    "Choices",
    "Dialect",
    "Fact",
    "Family",
    "Mode",
    "Offer",
    "Prices",
    "ProviderEntry",
    "ReadyModel",
    "SchemaLimits",
    "Wire",
    "catalog",
    "dialects",
    "families_of",
    "offer_of",
    "placeholders",
    "read_catalog",
    "ready_models",
    "whole_catalog",
]

Support = Literal["yes", "partly", "no", "unknown"]
Mode = Literal["auto", "required", "none", "named"]
Setting = Literal["temperature", "top_p", "seed", "parallel", "strict", "non_stream"]
Evidence = Literal["SDK", "EXP", "REC", "DOC", "ISS", "SRC", "PRIOR"]

MODES: tuple[Mode, ...] = ("auto", "required", "none", "named")

EVIDENCE: Mapping[Evidence, str] = {
    "SDK": "read in the vendor's SDK",
    "EXP": "measured against the vendor's SDK, without the provider",
    "REC": "seen in recorded traffic",
    "DOC": "the vendor's documentation",
    "ISS": "a public issue or pull request",
    "SRC": "the public source of another client",
    "PRIOR": "not verified",
}
"""Where a statement comes from. Nothing here was checked against a live provider."""


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    """What all tables of the file share: frozen, and a misspelled field is an error."""


class Fact(_Data, frozen=True):
    """One statement: whether it is supported, what that means on the wire, and where that is known from."""

    support: Support
    says: str
    evidence: tuple[Evidence, ...]

    @property
    def verified(self) -> bool:
        """Whether anything but background knowledge stands behind it."""
        return any(tag != "PRIOR" for tag in self.evidence)


class Choices(_Data, frozen=True):
    """What each mode of the tool choice really means."""

    auto: Fact
    required: Fact
    none: Fact
    named: Fact

    def of(self, mode: Mode) -> Fact:
        """The fact about one mode."""
        found: Fact = getattr(self, mode)
        return found


class Wire(_Data, frozen=True):
    """A format a provider speaks, at which address. `base_urls` are tried in order: the first whose placeholders are
    all known is used. `dialect` names the schema limits."""

    api: str
    base_urls: tuple[str, ...] = ()
    dialect: str | None = None


class ProviderEntry(_Data, frozen=True):
    """A provider. The first of `wires` is its usual format.

    Attributes:
        keys: environment variables that may hold the key, in order of preference.
        key_required: False where the server usually wants no key; a variable that is set is still used.
        placeholders: name in an address -> environment variables that may hold its value. A model entry gives it by a
            switch of that name.
        switches: format -> switches its adapter gets for this provider.
        embedded: callscope starts the server itself.
    """

    title: str
    wires: tuple[Wire, ...]
    choices: Choices
    parallel: Fact
    strict: Fact
    streaming: Fact
    keys: tuple[str, ...] = ()
    key_required: bool = True
    key_note: str = ""
    placeholders: dict[str, tuple[str, ...]] = {}
    switches: dict[str, dict[str, Any]] = {}
    embedded: bool = False

    @property
    def api(self) -> str:
        """The usual wire format."""
        return self.wires[0].api

    def wire(self, api: str) -> Wire | None:
        """The entry of one format, or None where the provider is not known to speak it."""
        return next((wire for wire in self.wires if wire.api == api), None)


class Family(_Data, frozen=True):
    """Models, by a pattern found anywhere in their id, that differ from what their provider says.

    `refuses` names settings that are answered with an error. `choices` replaces the provider's facts. `switches` are
    by format, as in ProviderEntry. Where several match, the later one wins.
    """

    title: str
    match: str
    says: str
    evidence: tuple[Evidence, ...]
    providers: tuple[str, ...]
    refuses: tuple[Setting, ...] = ()
    choices: dict[Mode, Fact] = {}
    switches: dict[str, dict[str, Any]] = {}


class SchemaLimits(_Data, frozen=True):
    """What one mode of a dialect takes; None and () are no known limit.

    Attributes:
        tool_name, parameter_name: patterns that the whole name must match.
        refused: keywords answered with an error. refused_at_root: those only at the top.
        ignored: keywords that are accepted and do not bind the model. `*` is every one but structure.
        dropped: keywords that are gone before the model sees the schema.
        formats: the only values of `format`; None where all are taken.
        min_items: the only values of `minItems`.
        closed, all_required: every object needs additionalProperties false / all its properties required.
        typed_items: an array needs items. object_root: the top must be an object. recursion: `$ref` may recur.
        string_enums: only strings in an enum. lone_ref: nothing may stand beside `$ref`.
        one_required: each tool needs at least one required parameter.
        max_*: counts over all tools of a request, max_depth in levels, max_enum_values over all enums.
    """

    tool_name: str | None = None
    parameter_name: str | None = None
    refused: tuple[str, ...] = ()
    refused_at_root: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    formats: tuple[str, ...] | None = None
    min_items: tuple[int, ...] | None = None
    closed: bool = False
    all_required: bool = False
    typed_items: bool = False
    object_root: bool = False
    recursion: bool = True
    string_enums: bool = False
    type_lists: bool = True
    lone_ref: bool = False
    one_required: bool = False
    max_tools: int | None = None
    max_depth: int | None = None
    max_properties: int | None = None
    max_optional: int | None = None
    max_unions: int | None = None
    max_enum_values: int | None = None
    max_schema_text: int | None = None


class Dialect(_Data, frozen=True):
    """The JSON Schema a format takes, plain and with the provider's strict mode (None: it has none, or none known).

    `unverified` names the limits that are background knowledge only.
    """

    title: str
    plain: SchemaLimits
    evidence: tuple[Evidence, ...]
    strict: SchemaLimits | None = None
    unverified: tuple[str, ...] = ()


class Prices(_Data, frozen=True):
    """Per million tokens, as its source had it on a day; for prompts below the size at which a dearer tier begins."""

    currency: str
    as_of: dt.date
    source: str
    input: float
    output: float
    cached_input: float | None = None
    note: str = ""

    def per_million(self) -> dict[str, float]:
        """As a model entry holds them."""
        cached = {} if self.cached_input is None else {"cached_input": self.cached_input}
        return {"input": self.input, "output": self.output, **cached}


class Offer(_Data, frozen=True):
    """A model at a provider. `id_verified`: this exact id was seen answered in recorded traffic of that provider."""

    provider: str
    model: str
    id_verified: bool
    id_source: str
    api: str | None = None
    switches: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    prices: Prices | None = None
    note: str = ""


class ReadyModel(_Data, frozen=True):
    """A model by a name of its own, and where it is offered; the first offer is the maker's."""

    title: str
    offers: tuple[Offer, ...]
    note: str = ""


class Catalog(_Data, frozen=True):
    """The whole file."""

    providers: dict[str, ProviderEntry]
    dialects: dict[str, Dialect]
    families: tuple[Family, ...]
    models: dict[str, ReadyModel]


def read_catalog(text: str) -> Catalog:
    """A catalogue's text as data. Raises msgspec.ValidationError naming the place of what does not fit."""
    return msgspec.convert(tomllib.loads(text), Catalog)


@functools.cache
def whole_catalog() -> Catalog:
    """The catalogue that ships with callscope."""
    return read_catalog(files("callscope.providers").joinpath("catalog.toml").read_text("utf-8"))


def catalog() -> dict[str, ProviderEntry]:
    """Provider name -> entry."""
    return whole_catalog().providers


def dialects() -> dict[str, Dialect]:
    """Dialect name -> its schema limits."""
    return whole_catalog().dialects


def ready_models() -> dict[str, ReadyModel]:
    """Name -> model with a ready entry."""
    return whole_catalog().models


def families_of(provider: str, model: str) -> Iterator[Family]:
    """What is known to be different of this model at this provider, in the order in which it applies."""
    for family in whole_catalog().families:
        if provider in family.providers and re.search(family.match, model):
            yield family


def offer_of(provider: str, model: str) -> Offer | None:
    """The ready offer that `model` names at `provider`, by the catalogue's name or by the provider's own id."""
    for name, ready in ready_models().items():
        for offer in ready.offers:
            if offer.provider == provider and model in (name, offer.model):
                return offer
    return None


def placeholders(base_url: str) -> tuple[str, ...]:
    """The names in braces in an address."""
    return tuple(re.findall(r"\{(\w+)\}", base_url))
