"""Writes what the catalogue knows into the marked parts of docs/providers; the prose around them is written by hand.

python scripts/provider_docs.py           write
python scripts/provider_docs.py --check   exit 1 where a page is not what the catalogue says
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from callscope.providers.catalog import (
    EVIDENCE,
    MODES,
    Dialect,
    Fact,
    ProviderEntry,
    SchemaLimits,
    Wire,
    catalog,
    dialects,
    ready_models,
    whole_catalog,
)

PAGES = Path(__file__).resolve().parents[1] / "docs" / "providers"
BEGIN, END = "<!-- catalogue: written by `make provider-docs` -->", "<!-- /catalogue -->"
MARKS = {"yes": "yes", "partly": "partly", "no": "no", "unknown": "not known"}

LIMITS: dict[str, str] = {
    "tool_name": "tool name",
    "parameter_name": "parameter name",
    "object_root": "top must be an object",
    "refused_at_root": "refused at the top",
    "refused": "refused",
    "dropped": "do not reach the model",
    "ignored": "taken as hints",
    "formats": "values of `format`",
    "min_items": "values of `minItems`",
    "closed": "`additionalProperties: false` on every object",
    "all_required": "every property required",
    "typed_items": "arrays need `items`",
    "recursion": "recursive `$ref`",
    "string_enums": "only strings in enums",
    "type_lists": "lists of types",
    "lone_ref": "nothing beside `$ref`",
    "one_required": "at least one required parameter",
    "max_tools": "tools at most",
    "max_depth": "levels of nesting at most",
    "max_properties": "properties at most",
    "max_optional": "optional parameters at most",
    "max_unions": "unions at most",
    "max_enum_values": "enum values at most",
    "max_schema_text": "characters of names and enums at most",
}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars inside cells are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def source(fact: Fact) -> str:
    """Where a fact is from, in words."""
    return ", ".join(EVIDENCE[tag] for tag in fact.evidence)


def address(wire: Wire) -> str:
    """The addresses of a format."""
    return " or ".join(f"`{url}`" for url in wire.base_urls) or "your own `base_url`"


def access(entry: ProviderEntry) -> Iterator[tuple[str, str]]:
    """Key, formats, placeholders and switches as rows."""
    keys = ", else ".join(f"`{name}`" for name in entry.keys) or "none of the catalogue"
    if not entry.key_required and entry.keys:
        keys += " (optional)"
    yield "key variable", f"{keys}; {entry.key_note}" if entry.key_note else keys
    for place, wire in enumerate(entry.wires):
        usual = " (usual)" if place == 0 and len(entry.wires) > 1 else ""
        yield "format" + usual, f"`{wire.api}` at {address(wire)}"
    for name, variables in entry.placeholders.items():
        said = " or ".join(f"`{each}`" for each in variables)
        yield f"`{{{name}}}`", f"the model entry's switch `{name}`, or the variable {said}"
    for api, switches in entry.switches.items():
        for switch, value in switches.items():
            yield f"switch for `{api}`", f"`{switch}` = `{value!r}`"


def value_of(limits: SchemaLimits | None, field: str) -> str:
    """One limit in words; empty where there is none."""
    if limits is None:
        return ""
    value = getattr(limits, field)
    if value == getattr(SchemaLimits(), field):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "constraints of every kind" if value == ("*",) else ", ".join(f"`{each}`" for each in value)
    return f"`{value}`" if isinstance(value, str) else f"{value:,}"


def limits_table(dialect: Dialect) -> str:
    """The schema limits of a dialect, plain and strict side by side."""
    rows = []
    for field, words in LIMITS.items():
        plain, strict = value_of(dialect.plain, field), value_of(dialect.strict, field)
        if plain or strict:
            unsure = " (not verified)" if field in dialect.unverified else ""
            rows.append((words + unsure, plain, strict if dialect.strict else "no strict mode known"))
    return table(("limit", "plain", "strict"), rows)


def generated(name: str) -> str:
    """The marked part of one provider's page."""
    entry = catalog()[name]
    parts = [table(("what", "is"), access(entry))]
    facts: list[tuple[str, Fact]] = [(mode, entry.choices.of(mode)) for mode in MODES]
    facts += [("parallel", entry.parallel), ("strict", entry.strict), ("streaming", entry.streaming)]
    rows = [(what, MARKS[fact.support], fact.says, source(fact)) for what, fact in facts]
    parts.append("## What it does\n\n" + table(("what", "supported", "means", "known from"), rows))
    dialect = entry.wires[0].dialect
    if dialect:
        known = dialects()[dialect]
        head = (
            f"## Schema limits\n\nOf the dialect {known.title}; `callscope lint SUITE --for {name}` compares with them."
        )
        parts.append(f"{head}\n\n{limits_table(known)}")
    families = [family for family in whole_catalog().families if name in family.providers]
    if families:
        rows3 = [(family.title, f"`{family.match}`", family.says) for family in families]
        parts.append("## Models that differ\n\n" + table(("models", "pattern of the id", "how"), rows3))
    offers = [(ready, o) for ready, model in ready_models().items() for o in model.offers if o.provider == name]
    if offers:
        rows4 = []
        for ready, offer in offers:
            prices = offer.prices
            said = (
                f"{prices.input:g} in, {prices.output:g} out ({prices.currency}, {prices.as_of})" if prices else "none"
            )
            verified = "seen in use" if offer.id_verified else "not verified"
            rows4.append((f"`{ready}`", f"`{offer.model}`", f"{verified}: {offer.id_source}", said))
        parts.append("## Ready models\n\n" + table(("name", "id", "the id", "prices per million tokens"), rows4))
    return "\n\n".join(parts)


def generated_index() -> str:
    """The marked part of the index: one row a provider."""
    rows = []
    for name, entry in catalog().items():
        marks = [MARKS[entry.choices.of(mode).support] for mode in ("required", "none", "named")]
        formats = ", ".join(f"`{wire.api}`" for wire in entry.wires)
        rows.append((f"[{entry.title}]({name}.md)", f"`{name}`", formats, *marks))
    return table(("page", "`provider`", "formats", "required", "none", "named"), rows)


def rewritten(text: str, part: str) -> str:
    """A page with its marked part replaced. Raises ValueError where it has no marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{part}\n\n{END}{after}"


def pages() -> Iterator[tuple[Path, str]]:
    """Each page and what it should hold."""
    for name, part in [("README", generated_index()), *((name, generated(name)) for name in catalog())]:
        path = PAGES / f"{name}.md"
        yield path, rewritten(path.read_text("utf-8"), part)


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with `--check` say which are stale."""
    stale = [(path, text) for path, text in pages() if path.read_text("utf-8") != text]
    for path, text in stale:
        print(f"{'stale' if '--check' in arguments else 'written'}: {path.relative_to(PAGES.parents[1])}")
        if "--check" not in arguments:
            path.write_text(text, "utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
