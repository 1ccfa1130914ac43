"""overlay.toml: lays declared differences over a portable suite, which makes it the one for a provider. Pure.

The cases are the portable suite's own. Every difference is data with its reason and source, and one that changes
nothing is a fault. What the settings among them do to a plan is `capture.experiments`'s.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct, structs

from callscope.contract import (
    DescriptionDifference,
    Difference,
    SchemaDifference,
    Suite,
    SystemDifference,
    Tool,
)
from callscope.errors import InputError
from callscope.schema_rules import RULES, change_tools, check_rules, optional_properties
from callscope.suites.faults import Page, Path_, closest
from callscope.suites.places import MISSING, decoded, read_toml
from callscope.suites.shapes import Reader

__all__ = ["OverlayToml", "lay_over", "read_overlay"]

_NULLABLE = "all-required-nullable"


class OverlayToml(Struct, frozen=True, forbid_unknown_fields=True):
    """What `overlay.toml` says. `extends` is a bundled suite's name or a folder, seen from the overlay's own.

    `extends_version` pins the version of that suite; `also` names providers that speak the same as `provider`.
    """

    extends: str
    provider: str
    name: str
    version: str
    difference: tuple[Difference, ...]
    extends_version: str | None = None
    also: tuple[str, ...] = ()
    title: str | None = None
    licence: str | None = None


def read_overlay(data: bytes, page: Page) -> OverlayToml | None:
    """The overlay, or None with its faults noted on the page."""
    text = decoded(data, page)
    table = MISSING if text is None else read_toml(text, page)
    if text is None or table is MISSING:
        return None
    _know_lines(text, page)
    before = len(page.faults)
    overlay = Reader(page, {}).read(table, OverlayToml)
    for field in ("name", "version", "provider"):
        stated = getattr(overlay, field, "x")
        if not (stated.strip() and stated.isprintable()):
            page.fault("this must be printable and not empty", (field,), found=stated)
    if overlay is not None and not overlay.difference:
        page.fault("there are no differences", ("difference",), expected="at least one [[difference]]")
    return overlay if len(page.faults) == before else None


def _know_lines(text: str, page: Page) -> None:
    """Let the page find the nth `[[difference]]`, which a key's name alone does not."""
    heads = [number for number, row in enumerate(text.split("\n"), 1) if re.match(r"\s*\[\[\s*difference\s*\]\]", row)]
    by_key = page.line_of

    def line_of(path: Path_) -> int | None:
        if len(path) > 1 and path[0] == "difference" and isinstance(path[1], int) and path[1] < len(heads):
            return heads[path[1]]
        return by_key(path)

    page.line_of = line_of


def lay_over(base: Suite, overlay: OverlayToml, page: Page) -> Suite:
    """The portable suite with the differences, under the overlay's name, version and provider.

    Faults are noted on the page; the suite returned is then of no use. `sources` and `files` stay the base's.
    """
    if base.kind != "portable":
        page.fault("only a portable suite can be extended", ("extends",), found=f"{base.name}, which is {base.kind}")
    if overlay.extends_version not in {None, base.version}:
        hint = f"Look at what changed in {base.name}, then raise both versions."
        page.fault(
            "this is not its version",
            ("extends_version",),
            found=overlay.extends_version,
            expected=base.version,
            hint=hint,
        )
    made = structs.replace(
        base,
        name=overlay.name,
        version=overlay.version,
        kind="provider-optimised",
        providers=(overlay.provider, *overlay.also),
        differences=overlay.difference,
    )
    seen: set[str] = set()
    for place, difference in enumerate(overlay.difference):
        path: Path_ = ("difference", place)
        for field in ("reason", "source"):
            if not getattr(difference, field).strip():
                page.fault("a difference must say this", (*path, field), found="nothing")
        if isinstance(difference, SystemDifference):
            made = structs.replace(made, system=_appended(made.system, difference.text))
        elif isinstance(difference, DescriptionDifference):
            made = structs.replace(made, tools=_described(made.tools, difference, path, page))
        elif isinstance(difference, SchemaDifference):
            made = _rewritten(made, base, difference, path, page)
        else:
            kind = type(difference).__name__
            if kind in seen:
                page.fault("this is set twice", path, hint="Keep one.")
            seen.add(kind)
    return made


def _appended(system: str, text: str) -> str:
    return f"{system}{'' if not system or system.endswith(chr(10)) else chr(10)}{text}"


def _described(tools: tuple[Tool, ...], difference: DescriptionDifference, path: Path_, page: Page) -> tuple[Tool, ...]:
    names = [tool.name for tool in tools]
    if difference.tool not in names:
        _no_such("tool", difference.tool, names, (*path, "tool"), page)
        return tools
    tool = tools[names.index(difference.tool)]
    if difference.parameter is None:
        before: Any = tool.description
        changed = structs.replace(tool, description=difference.text)
    else:
        properties: dict[str, Any] = tool.parameters.get("properties", {})
        declared = properties.get(difference.parameter)
        if not isinstance(declared, dict):
            _no_such("parameter", difference.parameter, list(properties), (*path, "parameter"), page)
            return tools
        before = declared.get("description")
        described = {**properties, difference.parameter: {**declared, "description": difference.text}}
        changed = structs.replace(tool, parameters={**tool.parameters, "properties": described})
    if before == difference.text:
        page.fault("this difference changes nothing", (*path, "text"))
    return tuple(changed if each is tool else each for each in tools)


def _no_such(what: str, found: str, known: list[str], path: Path_, page: Page) -> None:
    near = closest(found, known)
    hint = f"Did you mean {near!r}?" if near else None
    page.fault(f"there is no such {what}", path, found=found, expected=" | ".join(known), hint=hint)


def _rewritten(made: Suite, base: Suite, difference: SchemaDifference, path: Path_, page: Page) -> Suite:
    try:
        check_rules([difference.rule], "rule", RULES)
    except InputError as error:
        page.fault(error.message, (*path, "rule"), found=difference.rule, expected=error.expected, hint=error.hint)
        return made
    tools, changes = change_tools(made.tools, [difference.rule])
    if not changes:
        page.fault("this difference changes nothing", (*path, "rule"), found=difference.rule)
    absent = made.null_means_absent
    if difference.null_means_absent:
        if difference.rule != _NULLABLE:
            page.fault("only with this rule", (*path, "null_means_absent"), found=difference.rule, expected=_NULLABLE)
        top = {f"/tools/{place}/parameters/properties" for place in range(len(tools))}
        deeper = [change.pointer for change in changes if change.pointer not in top]
        if deeper:
            hint = "Make the inner properties required in the portable suite, or judge without this rule."
            page.fault("only top-level arguments may be null", (*path, "null_means_absent"), found=deeper[0], hint=hint)
        absent = {tool.name: names for tool in base.tools if (names := optional_properties(tool.parameters))}
    return structs.replace(made, tools=tools, null_means_absent=absent)
