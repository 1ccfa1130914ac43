"""The published JSON Schemas of suite files, generated from the contract's types, for editors and other programs.

They say what a file may look like without knowing the suite; what needs the suite (does this tool exist?) is `load`'s
and `lint`'s. `callscope.formats` writes them into `docs/schemas`.
"""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from callscope.contract import ArgumentRules, Case, FakeAnswer, Tool
from callscope.suites.load import SuiteToml
from callscope.suites.overlay import OverlayToml
from callscope.suites.shapes import camel

__all__ = ["published_schemas"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FORMAT = 1
_MARKERS = ("required_equals", "requiredEquals", "one_of", "oneOf")
"""Keys that mark the assertion form beyond doubt: a schema cannot look a tool's parameters up, as the loader does."""


def published_schemas() -> dict[str, dict[str, Any]]:
    """File name of the schema -> the schema, for cases, tools, suite.toml and fakes."""
    tools = {"type": "array", "items": {"$ref": "#/$defs/Tool"}, "minItems": 1}
    wrapped = {"type": "object", "properties": {"tools": tools}, "required": ["tools"], "additionalProperties": False}
    answers = {"type": "array", "items": {"$ref": "#/$defs/FakeAnswer"}}
    return {
        "case.schema.json": _document("case", "One line of cases.jsonl", Case, {"$ref": "#/$defs/Case"}),
        "tools.schema.json": _document("tools", "tools.core.json", Tool, {"anyOf": [wrapped, tools]}),
        "suite.schema.json": _document("suite", "suite.toml", SuiteToml, {"$ref": "#/$defs/SuiteToml"}),
        "overlay.schema.json": _document("overlay", "overlay.toml", OverlayToml, {"$ref": "#/$defs/OverlayToml"}),
        "fakes.schema.json": _document(
            "fakes",
            "fakes.json: tool name -> answers, the first match wins",
            FakeAnswer,
            {"type": "object", "additionalProperties": answers},
        ),
    }


def _document(name: str, title: str, of: type, root: dict[str, Any]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([of], ref_template="#/$defs/{name}")
    definitions = {key: _both_spellings(copy.deepcopy(value)) for key, value in sorted(components.items())}
    for definition in definitions.values():
        if "arguments" in definition.get("properties", {}):
            definition["properties"]["arguments"] = _two_forms()
    head = {"$schema": _DIALECT, "$id": f"urn:callscope:schema:{name}:{_FORMAT}", "title": title}
    return {**head, **root, "$defs": definitions}


def _both_spellings(definition: dict[str, Any]) -> dict[str, Any]:
    """A struct's schema with each field of several words also under its camelCase name, but never under both."""
    properties: dict[str, Any] = definition.get("properties", {})
    twice = [(name, camel(name)) for name in properties if camel(name) != name]
    for name, alias in twice:
        properties[alias] = copy.deepcopy(properties[name])
    if twice:
        definition["not"] = {"anyOf": [{"required": list(pair)} for pair in twice]}
    return definition


def _two_forms() -> dict[str, Any]:
    return {
        "description": "The exact arguments, or assertions about them (requiredEquals, oneOf, optional, …).",
        "anyOf": [
            {"$ref": f"#/$defs/{ArgumentRules.__name__}"},
            {"type": "object", "not": {"anyOf": [{"required": [marker]} for marker in _MARKERS]}},
        ],
    }
