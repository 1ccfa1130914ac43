"""The published JSON Schemas: of a run's files (outcome, record, verdict, manifest) and of a suite's.

Generated from the contract's types, so they cannot drift; `docs/schemas` holds them as written by `write_all`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from callscope.capture.codec import StoredRecord
from callscope.contract import Derived, Manifest, Outcome, Verdict
from callscope.jsontext import dump_faithful
from callscope.suites import published_schemas

__all__ = ["all_schemas", "write_all"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_RUN_FORMATS: dict[str, tuple[Any, str]] = {
    "outcome.schema.json": (Outcome, "What one response was, as `callscope normalize` prints it"),
    "record.schema.json": (StoredRecord, "A line of records.jsonl"),
    "manifest.schema.json": (Manifest, "manifest.json"),
}


def all_schemas() -> dict[str, dict[str, Any]]:
    """File name -> JSON Schema, of everything that other tools may read or write."""
    schemas = {name: _schema(kind, title) for name, (kind, title) in _RUN_FORMATS.items()}
    return {**published_schemas(), **schemas, "verdict.schema.json": _verdict_line()}


def _schema(kind: Any, title: str) -> dict[str, Any]:
    return {"$schema": DIALECT, "title": title, **msgspec.json.schema(kind)}


def _verdict_line() -> dict[str, Any]:
    """A line of verdicts.jsonl: the verdict's fields beside those of `Derived`."""
    (verdict, derived), definitions = msgspec.json.schema_components([Verdict, Derived], ref_template="#/$defs/{name}")
    inner = definitions.pop(verdict["$ref"].rsplit("/", 1)[-1])
    outer = definitions.pop(derived["$ref"].rsplit("/", 1)[-1])
    properties = {**inner["properties"], **outer["properties"]}
    properties.pop("verdict")
    return {
        "$schema": DIALECT,
        "title": "A line of verdicts.jsonl: the verdict of a trial, its outcome and its measures",
        "type": "object",
        "properties": properties,
        "required": [*inner["required"], *(name for name in outer["required"] if name != "verdict")],
        "$defs": definitions,
    }


def write_all(folder: str | Path) -> list[Path]:
    """Write every schema into `folder`; returns the files."""
    written = []
    for name, schema in all_schemas().items():
        path = Path(folder) / name
        path.write_bytes(dump_faithful(schema, indent=2, sort_keys=False) + b"\n")
        written.append(path)
    return written
