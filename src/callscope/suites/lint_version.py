"""Lint of versions: the cases of a version, once recorded, do not change; another content is another version.

`versions.json` beside the cases holds, for each version, the SHA-256 of the files as they were:

    {"1.0.0": {"cases.jsonl": "9f2…", "tools.core.json": "41c…", "why": "first release"}}

A suite without it is not held to anything. `callscope audit correct` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callscope.canonical import sha256_hex
from callscope.contract import Suite
from callscope.errors import shown
from callscope.jsontext import JsonFault, parse_json
from callscope.suites.lint_base import Lintable, Rule, Spot

__all__ = ["RECORDED", "RULES", "VERSIONS", "changed_since", "read_history"]

VERSIONS = "versions.json"

RECORDED = ("cases.jsonl", "tools.core.json", "tools.json", "system.txt", "fakes.json")
"""The files whose content is the version's: what a model is shown, and what it is judged by."""


def _changed_without_version(it: Lintable) -> Iterator[Spot]:
    sources, version = it.suite.sources, it.suite.version
    if VERSIONS not in sources:
        return
    history = read_history(sources[VERSIONS])
    if isinstance(history, str):
        yield Spot(VERSIONS, history)
        return
    recorded = history.get(version)
    if recorded is None:
        message = f"version {shown(version)} is not recorded here: add the SHA-256 of its files, and why it was made"
        yield Spot(VERSIONS, message, field=version, severity="warning")
        return
    for file, digest in recorded.items():
        if file == "why" or file not in RECORDED:
            continue
        found = sha256_hex(sources[file]) if file in sources else None
        if found != digest:
            what = "is not there any more" if found is None else "has changed"
            message = f"{file} {what}, but the version is still {shown(version)}: give the suite a new version"
            yield Spot(file, message, field=f"{VERSIONS}: {version}")
    for file in RECORDED:
        if file in sources and file not in recorded:
            message = f"version {shown(version)} records no SHA-256 of {file}, so nobody sees whether it changed"
            yield Spot(VERSIONS, message, field=version, severity="warning")


def read_history(data: bytes) -> dict[str, dict[str, Any]] | str:
    """The recorded versions, or what is wrong with the file."""
    try:
        parsed = parse_json(data)
    except JsonFault as fault:
        return f"this is no JSON: {fault}"
    if "duplicate_keys" in parsed.flags:
        return "a version or a file stands here twice"
    value = parsed.value
    if not isinstance(value, dict) or not all(isinstance(entry, dict) for entry in value.values()):
        return 'this must be an object of versions: {"1.0.0": {"cases.jsonl": SHA-256, "why": …}}'
    bare = next((version for version, entry in value.items() if not isinstance(entry.get("cases.jsonl"), str)), None)
    return value if bare is None else f"version {shown(bare)} records no SHA-256 of cases.jsonl"


def changed_since(suite: Suite, earlier: Suite) -> Iterator[Spot]:
    """Each file that differs from an earlier copy of the suite although both state the same version."""
    if suite.version != earlier.version:
        return
    for file in RECORDED:
        if suite.files.get(file) != earlier.files.get(file):
            message = (
                f"{file} has changed, but the version is still {shown(suite.version)}: give the suite a new version"
            )
            yield Spot(file, message, field=f"version: {suite.version}")


RULES: tuple[Rule, ...] = (
    Rule(
        "changed-without-version",
        "error",
        "cases or tools differ from what is recorded for this version",
        _changed_without_version,
    ),
)
