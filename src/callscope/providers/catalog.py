"""The provider catalogue: data in `catalog.toml`, read once. What the formats mean is each adapter's matter."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files

import msgspec
from msgspec import Struct

__all__ = ["ProviderEntry", "catalog"]


class ProviderEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A provider: its wire format, address and key variable. `embedded`: callscope starts the server itself."""

    api: str
    base_url: str | None = None
    api_key_env: str | None = None
    embedded: bool = False


@functools.cache
def catalog() -> dict[str, ProviderEntry]:
    """Provider name -> entry."""
    text = files("callscope.providers").joinpath("catalog.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, ProviderEntry])
