"""`callscope models`: formats, providers, what their tool choices mean, which keys are set, which models are ready.

Shows the catalogue; reads no key's value, calls no provider and downloads nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from callscope.cli._console import out, put
from callscope.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["models"]

_MARKS = {"yes": "yes", "partly": "partly", "no": "no", "unknown": "?"}


def models(
    name: str | None = None,
    /,
    *,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Show formats, providers and models.

    Parameters
    ----------
    name:
        A format, provider, ready model or embedded model to show in detail.
    json:
        Print everything, or what NAME is, as JSON.
    """
    from callscope.jsontext import dump_faithful

    every = _everything(os.environ)
    if name is not None:
        every = _named(every, name)
    if json:
        put(dump_faithful(every, indent=2) + b"\n")
        return 0
    console = out()
    for part in _detail(every) if name is not None else _overview(every):
        console.print(part)
    return 0


def _everything(environ: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """All there is, as plain data: kind -> name -> what it is. Of a key variable only whether it is set."""
    import msgspec

    from callscope.capture.models import known_switches
    from callscope.local import load_models
    from callscope.providers import api_names, get_adapter
    from callscope.providers.catalog import EVIDENCE, whole_catalog

    known = whole_catalog()
    formats = {}
    for api in api_names():
        adapter = get_adapter(api)
        formats[api] = {
            "semantics": dict(adapter.semantics),
            "switches": msgspec.to_builtins(dict(known_switches(adapter))),
            "providers": [name for name, entry in known.providers.items() if entry.wire(api)],
        }
    providers = {}
    for name, entry in known.providers.items():
        plain = msgspec.to_builtins(entry)
        plain["keys"] = {variable: bool(environ.get(variable, "").strip()) for variable in entry.keys}
        places = entry.placeholders.items()
        plain["placeholders"] = {
            place: {variable: bool(environ.get(variable)) for variable in variables} for place, variables in places
        }
        plain["families"] = [msgspec.to_builtins(family) for family in known.families if name in family.providers]
        plain["models"] = [
            ready for ready, model in known.models.items() if any(o.provider == name for o in model.offers)
        ]
        plain["schema"] = {
            wire.api: msgspec.to_builtins(known.dialects[wire.dialect]) for wire in entry.wires if wire.dialect
        }
        providers[name] = plain
    embedded = {
        spec.name: {
            "title": spec.title,
            "licence": spec.licence,
            "bytes": spec.size,
            "sha256": spec.sha256,
            "templates": list(spec.templates),
            "cached": _cached(spec.file, spec.size, environ),
        }
        for spec in load_models().values()
    }
    return {
        "formats": formats,
        "providers": providers,
        "models": {name: msgspec.to_builtins(model) for name, model in known.models.items()},
        "embedded": embedded,
        "evidence": {str(tag): text for tag, text in EVIDENCE.items()},
    }


def _cached(file: str, size: int, environ: Mapping[str, str]) -> bool:
    """Whether a file of this name and size is at hand; its hash is checked when it is used."""
    from pathlib import Path

    from callscope.local import weights_cache

    own = environ.get("CALLSCOPE_WEIGHTS_DIR")
    folders = [*([Path(own).expanduser()] if own else []), weights_cache()]
    return any((folder / file).is_file() and (folder / file).stat().st_size == size for folder in folders)


def _named(every: dict[str, dict[str, Any]], name: str) -> dict[str, dict[str, Any]]:
    kinds = ("formats", "providers", "models", "embedded")
    found = {kind: {name: every[kind][name]} for kind in kinds if name in every[kind]}
    if not found:
        import difflib

        known = [each for kind in kinds for each in every[kind]]
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(known)}"
        raise InputError("no format, provider or model of this name", field="NAME", found=name, hint=hint)
    return found


# ------------------------------------------------------------------------------------------------------------ on screen


def _table(title: str, *columns: str, whole: tuple[int, ...] = (0,)) -> Any:
    """A table that wraps to the console's width; the columns of these places are never broken."""
    from rich import box
    from rich.table import Table

    table = Table(title=f"\n{title}", title_justify="left", box=box.SIMPLE, pad_edge=False, show_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=place in whole)
    return table


def _row(table: Any, *cells: str) -> None:
    from rich.text import Text

    table.add_row(*(Text(cell) for cell in cells))


def _overview(every: Mapping[str, Mapping[str, Any]]) -> Iterable[RenderableType]:
    yield from _formats(every["formats"])
    modes = ("auto", "required", "none", "named")
    table = _table("Providers: which tool choices they have, as documented", "provider", *modes, "one call", "strict")
    for name, entry in every["providers"].items():
        facts = [*(entry["choices"][mode] for mode in modes), entry["parallel"], entry["strict"]]
        _row(table, name, *(_MARKS[fact["support"]] for fact in facts))
    yield table
    yield "?: not known; partly: `callscope models NAME` says how. one call: whether several can be switched off.\n"
    table = _table("Providers: format and key", "provider", "formats", "key variable", "is", whole=(0, 2))
    for name, entry in every["providers"].items():
        _row(table, name, " ".join(wire["api"] for wire in entry["wires"]), *_key(entry))
    yield table
    yield from _ready(every["models"])
    yield from _embedded(every["embedded"])
    yield "`callscope models NAME` shows one of them in detail; nothing here was checked against a live provider."


def _formats(formats: Mapping[str, Any]) -> Iterable[RenderableType]:
    table = _table("Wire formats", "format", "what", "means")
    for api, entry in formats.items():
        for place, (what, means) in enumerate(entry["semantics"].items()):
            _row(table, "" if place else api, what, means)
    yield table


def _ready(ready: Mapping[str, Any]) -> Iterable[RenderableType]:
    table = _table("Ready models", "name", "provider", "id", "id seen in use", "prices as of")
    for name, model in ready.items():
        for place, offer in enumerate(model["offers"]):
            prices = offer["prices"]["as_of"] if offer["prices"] else "none"
            seen = "yes" if offer["id_verified"] else "no"
            _row(table, "" if place else name, offer["provider"], offer["model"], seen, prices)
    yield table


def _embedded(embedded: Mapping[str, Any]) -> Iterable[RenderableType]:
    table = _table("Embedded models (provider `local`)", "name", "weights", "size", "templates")
    for name, spec in embedded.items():
        cached = "cached" if spec["cached"] else "not yet downloaded"
        _row(table, name, cached, f"{spec['bytes'] / 1e6:,.0f} MB", " ".join(spec["templates"]))
    yield table


def _key(entry: Mapping[str, Any]) -> tuple[str, str]:
    found = [name for name, present in entry["keys"].items() if present]
    if found:
        return found[0], "set"
    if not entry["keys"]:
        return "none", ""
    return next(iter(entry["keys"])), "not set" if entry["key_required"] else "optional, not set"


def _detail(found: Mapping[str, Mapping[str, Any]]) -> Iterable[RenderableType]:
    if "formats" in found:
        yield from _formats(found["formats"])
        for entry in found["formats"].values():
            table = _table("Switches and their defaults", "switch", "default")
            for switch, default in entry["switches"].items():
                _row(table, switch, repr(default))
            yield table
            yield f"Providers: {', '.join(entry['providers']) or 'none of the catalogue'}"
    for name, entry in found.get("providers", {}).items():
        yield from _provider(name, entry)
    if "models" in found:
        yield from _ready(found["models"])
        for model in found["models"].values():
            yield from (f"{offer['provider']}: {offer['id_source']}" for offer in model["offers"])
            yield model["note"]
    if "embedded" in found:
        yield from _embedded(found["embedded"])
        for spec in found["embedded"].values():
            yield f"{spec['title']}, {spec['licence']}\nSHA-256 {spec['sha256']}"


def _provider(name: str, entry: Mapping[str, Any]) -> Iterable[RenderableType]:
    table = _table(f"{entry['title']} ({name})", "what", "is")
    for wire in entry["wires"]:
        for url in wire["base_urls"] or ["your own base_url"]:
            _row(table, f"format {wire['api']}", url)
    for variable, present in entry["keys"].items():
        _row(table, "key variable", f"{variable}, {'set' if present else 'not set'}")
    if entry["key_note"]:
        _row(table, "key", entry["key_note"])
    for place, variables in entry["placeholders"].items():
        said = ", ".join(f"{each} ({'set' if present else 'not set'})" for each, present in variables.items())
        _row(table, f"{{{place}}}", f"the switch `{place}`, or {said}")
    for api, switches in entry["switches"].items():
        for switch, value in switches.items():
            _row(table, f"switch for {api}", f"{switch} = {value!r}")
    yield table
    facts = _table("What it does", "what", "supported", "means", "known from")
    rows = [*entry["choices"].items(), *((what, entry[what]) for what in ("parallel", "strict", "streaming"))]
    for what, fact in rows:
        _row(facts, what, _MARKS[fact["support"]], fact["says"], " ".join(fact["evidence"]))
    yield facts
    if entry["families"]:
        families = _table("Models that differ", "models", "how (pattern of the id)")
        for family in entry["families"]:
            _row(families, family["title"], f"{family['says']} ({family['match']})")
        yield families
    if entry["models"]:
        yield f"Ready models: {', '.join(entry['models'])}"
