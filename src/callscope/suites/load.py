"""A suite's bytes -> Suite. The core is pure: the same bytes give the same suite, wherever they are stored.

Faults that make a file unusable as written are errors here, all of them in one. What can be loaded but is probably
not meant (gold outside the tool's schema, near-duplicate prompts, …) is `lint`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from callscope.canonical import sha256_hex
from callscope.contract import (
    Case,
    ExpectClarification,
    ExpectNoCall,
    ExpectTool,
    ExpectTools,
    FakeAnswer,
    Suite,
    SuiteKind,
    Tool,
)
from callscope.errors import InputError
from callscope.suites.faults import Page, Path_, SuiteFaults, closest
from callscope.suites.files import OVERLAY, SUITE_FILES, folder_name, read_suite_files, shown_names
from callscope.suites.overlay import lay_over, read_overlay
from callscope.suites.places import MISSING, decoded, read_json, read_toml
from callscope.suites.shapes import Reader

__all__ = ["SuiteToml", "load_suite", "load_suite_bytes"]


class SuiteToml(Struct, frozen=True, forbid_unknown_fields=True):
    """What `suite.toml` may say. Every field is optional, and so is the file.

    `title` and `licence` are for readers; `max_tool_rounds` above 0 makes the suite a conversation. `provider` is whom
    a suite of kind `provider-optimised` is written for. `benchmark` is what a suite was imported from.
    """

    name: str | None = None
    version: str | None = None
    kind: SuiteKind = "portable"
    title: str | None = None
    licence: str | None = None
    max_tool_rounds: int = 0
    provider: str | None = None
    benchmark: str | None = None


def load_suite(where: str | Path, *, version: str | None = None) -> Suite:
    """The suite of a folder, or the bundled suite of that name.

    Args:
        where: a folder, or the name of a bundled suite (`support`).
        version: the version of a suite whose files state none (a configuration's datasetVersion).

    Raises:
        SuiteFaults: an InputError with everything that is wrong in the files, each with file, line and field.
        InputError: there is no such suite, or a file cannot be read.
    """
    files = read_suite_files(where)
    return _load(files, folder_name(where), version, shown_names(where, files))


def load_suite_bytes(files: Mapping[str, bytes], *, name: str = "suite", version: str | None = None) -> Suite:
    """The suite whose files hold these bytes. Pure: no disk, no clock.

    `files` maps file names as in a suite's folder to their exact bytes; others are ignored. `name` and `version` are
    used where `suite.toml` states none, so `load_suite_bytes(suite.sources, name=suite.name, version=suite.version)`
    is the suite again.

    Raises:
        SuiteFaults, InputError: as `load_suite`.
    """
    return _load(files, name, version, {file: file for file in (*SUITE_FILES, *files)})


def _load(files: Mapping[str, bytes], name: str, version: str | None, shown: Mapping[str, str]) -> Suite:
    faults: list[InputError] = []
    about = _about(files, Page(shown["suite.toml"], faults))
    system = _text(files, "system.txt", Page(shown["system.txt"], faults))
    tools = _tools(files, shown, faults, all_own=_all_bring_own(files.get("cases.jsonl", b"")))
    parameters = {tool.name: _parameter_names(tool) for tool in tools}
    cases = _cases(files, Page(shown["cases.jsonl"], faults), parameters)
    fakes = _fakes(files, Page(shown["fakes.json"], faults), parameters)
    if faults:
        raise SuiteFaults(faults)
    sources = {file: files[file] for file in SUITE_FILES if file in files}
    suite = Suite(
        name=about.name or name,
        version=about.version or version or "0",
        kind=about.kind,
        system=system,
        tools=tuple(tools),
        cases=tuple(cases),
        files={file: sha256_hex(data) for file, data in sources.items()},
        max_tool_rounds=about.max_tool_rounds,
        fakes=fakes,
        sources=sources,
        providers=(about.provider,) if about.provider else (),
        benchmark=about.benchmark,
    )
    if OVERLAY not in files:
        return suite
    page = Page(shown[OVERLAY], faults)
    overlay = read_overlay(files[OVERLAY], page)
    suite = suite if overlay is None else lay_over(suite, overlay, page)
    if faults:
        raise SuiteFaults(faults)
    return suite


def _text(files: Mapping[str, bytes], file: str, page: Page) -> str:
    if file not in files:
        page.fault("the file is missing", hint=f"A suite needs {file}.")
        return ""
    return decoded(files[file], page) or ""


def _about(files: Mapping[str, bytes], page: Page) -> SuiteToml:
    text = decoded(files.get("suite.toml", b""), page)
    table = MISSING if text is None else read_toml(text, page)
    about = None if table is MISSING else Reader(page, {}).read(table, SuiteToml)
    if about is None:
        return SuiteToml()
    for field in ("name", "version", "provider"):
        stated = getattr(about, field)
        if stated is not None and not (stated.strip() and stated.isprintable()):
            page.fault("this must be printable and not empty", (field,), found=stated)
    if about.max_tool_rounds < 0:
        page.fault("this is less than 0", ("max_tool_rounds",), found=about.max_tool_rounds, expected="0 or more")
    if about.provider is not None and about.kind != "provider-optimised":
        hint = 'Leave it out, or write kind = "provider-optimised".'
        page.fault("only a provider-optimised suite names a provider", ("provider",), found=about.provider, hint=hint)
    return about


def _all_bring_own(cases: bytes) -> bool:
    """Whether every line of the cases brings tools of its own, so that the suite needs none."""
    lines = [line for line in cases.split(b"\n") if line.strip()]
    return bool(lines) and all(b'"own_tools"' in line or b'"ownTools"' in line for line in lines)


def _tools(
    files: Mapping[str, bytes], shown: Mapping[str, str], faults: list[InputError], *, all_own: bool
) -> list[Tool]:
    present = [file for file in ("tools.core.json", "tools.json") if file in files]
    file = present[0] if present else "tools.core.json"
    page = Page(shown[file], faults)
    if len(present) == 2:
        page.fault("tools.json stands beside it", expected="one file of tools", hint="Keep tools.core.json.")
    if not present:
        page.fault("the file is missing", hint="A suite needs tools.core.json (or tools.json).")
        return []
    text = decoded(files[file], page)
    value = MISSING if text is None else read_json(text, page)
    if value is MISSING:
        return []
    path: Path_ = ()
    if isinstance(value, dict):
        for key in (key for key in value if key != "tools"):
            hint = "Did you mean 'tools'?" if closest(key, ["tools"]) else 'Write {"tools": [...]} or a bare list.'
            page.fault("there is no such field", (key,), found=key, hint=hint)
        value, path = value.get("tools", MISSING), ("tools",)
    if not isinstance(value, list):
        if value is MISSING:
            page.fault("'tools' is missing", expected='{"tools": [...]} or a bare list')
        else:
            page.fault("this is not what may stand here", path, found=value, expected="a list of tools")
        return []
    if not value and not all_own:
        page.fault("there are no tools", path, expected="at least one tool")
    reader = Reader(page, {})
    read = [reader.read(_unwrapped(item, page, (*path, i)), Tool, (*path, i)) for i, item in enumerate(value)]
    return [tool for tool in read if tool is not None]


def _unwrapped(item: Any, page: Page, path: Path_) -> Any:
    """`item`; a tool in OpenAI's envelope is refused with one fault that says so, and read on for its name."""
    if isinstance(item, dict) and set(item) == {"type", "function"} and isinstance(item["function"], dict):
        hint = "Keep only what stands in 'function': name, description, parameters."
        page.fault("this tool is written for one provider", path, found="type, function", hint=hint)
        inner = item["function"]
        return {
            key: inner.get(key, default) for key, default in (("name", ""), ("description", ""), ("parameters", {}))
        }
    return item


def _parameter_names(tool: Tool) -> frozenset[str]:
    properties = tool.parameters.get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()


def _cases(files: Mapping[str, bytes], page: Page, parameters: Mapping[str, frozenset[str]]) -> list[Case]:
    text = _text(files, "cases.jsonl", page)
    reader = Reader(page, parameters)
    cases: list[Case] = []
    first_at: dict[str, int] = {}
    noted = len(page.faults)
    for number, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        value = read_json(row, page, line=number)
        case = None if value is MISSING else reader.read(value, Case)
        if case is None:
            if number == 1 and row.strip() in ("[", "{"):
                page.fault("the file is one JSON value over many lines", line=1, expected="one case on each line")
                break
            continue
        if not case.id.strip() or not case.id.isprintable():
            page.fault("an id must be printable and not empty", ("id",), found=case.id)
        if case.id in first_at:
            hint = f"It is first used on line {first_at[case.id]}."
            page.fault("this id is used twice", ("id",), found=case.id, hint=hint)
        first_at.setdefault(case.id, number)
        known = {tool.name: frozenset[str]() for tool in case.own_tools} or parameters
        if known:
            _check_names(case, page, known)
        cases.append(case)
    if not cases and len(page.faults) == noted and "cases.jsonl" in files:
        page.fault("there are no cases", expected="one case on each line")
    return cases


def _check_names(case: Case, page: Page, parameters: Mapping[str, frozenset[str]]) -> None:
    for path, name in _names(case):
        if name not in parameters:
            near = closest(name, parameters)
            hint = f"Did you mean {near!r}?" if near else None
            page.fault("there is no such tool", path, found=name, expected=" | ".join(parameters), hint=hint)


def _names(case: Case) -> Iterator[tuple[Path_, str]]:
    """Every place of a case that names a tool."""
    yield from ((("tools", index), name) for index, name in enumerate(case.tools or ()))
    expected = case.expected
    if isinstance(expected, (ExpectNoCall, ExpectClarification)):
        if expected.target is not None:
            yield ("expected", "target"), expected.target
        return
    holders: list[tuple[Path_, Any]] = []
    if isinstance(expected, ExpectTool):
        holders.append((("expected",), expected))
    elif isinstance(expected, ExpectTools):
        holders += [(("expected", "calls", index), call) for index, call in enumerate(expected.calls)]
    for path, holder in holders:
        yield (*path, "name"), holder.name
        for index, other in enumerate(holder.alternatives):
            if other.name is not None:
                yield (*path, "alternatives", index, "name"), other.name


def _fakes(
    files: Mapping[str, bytes], page: Page, parameters: Mapping[str, frozenset[str]]
) -> dict[str, tuple[FakeAnswer, ...]]:
    if "fakes.json" not in files:
        return {}
    text = decoded(files["fakes.json"], page)
    value = MISSING if text is None else read_json(text, page)
    fakes = None if value is MISSING else Reader(page, {}).read(value, dict[str, tuple[FakeAnswer, ...]])
    for name in fakes or {}:
        if parameters and name not in parameters:
            near = closest(name, parameters)
            hint = f"Did you mean {near!r}?" if near else None
            page.fault("there is no such tool", (name,), found=name, expected=" | ".join(parameters), hint=hint)
    return fakes or {}
