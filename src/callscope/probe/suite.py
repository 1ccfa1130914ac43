"""The compatibility suite: the probes as a suite of their own kind, one case and one offered tool for each. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from callscope.contract import Suite
from callscope.probe.table import PROBES, Probe, tool_name
from callscope.suites import load_suite_bytes

__all__ = ["SUITE_NAME", "compatibility_suite"]

SUITE_NAME = "compatibility"
VERSION = "1.0.0"

_ANY = "a probe takes any arguments of the right names; whether they keep the schema is the finding"

_SYSTEM = "You are tested. Call the tool you are given, once, with what the user says. Do not answer in prose.\n"


def _parameters(probe: Probe) -> dict[str, Any]:
    if probe.parameters is not None:
        return probe.parameters
    return {
        "type": "object",
        "properties": {"value": probe.schema},
        "required": ["value"],
        "additionalProperties": False,
    }


def _anything(parameters: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """Rules that any arguments of the right names meet, but for what `value` must meet: a probe is about structure."""
    required = set(parameters.get("required", ()))
    optional = [name for name in parameters.get("properties", {}) if name not in required]
    return {"constraints": {name: value if name == "value" else {} for name in sorted(required)}, "optional": optional}


def _tool(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "description": "Records what the user says.", "parameters": parameters}


def compatibility_suite(probes: Iterable[Probe] = PROBES) -> Suite:
    """The suite of the given probes; each case offers its own tool (and, for `extra_tools`, plain ones beside it)."""
    plain = {"type": "object", "properties": {"note": {"type": "string"}}, "additionalProperties": False}
    chosen = tuple(probes)
    tools = [_tool(tool_name(probe), _parameters(probe)) for probe in chosen]
    most = max((probe.extra_tools for probe in chosen), default=0)
    tools += [_tool(f"spare_{number}", plain) for number in range(most)]
    cases = []
    for probe in chosen:
        spare = [f"spare_{number}" for number in range(probe.extra_tools)]
        cases.append(
            {
                "id": probe.id,
                "prompt": probe.prompt,
                "expected": {
                    "kind": "tool",
                    "name": tool_name(probe),
                    "arguments": _anything(_parameters(probe), probe.meets),
                },
                "tools": [tool_name(probe), *spare],
                "tags": [probe.keyword],
                "metadata": {"rewrite": probe.rewrite, "lint_allow": {"gold-violates-schema": _ANY}},
            }
        )
    settings = {"name": SUITE_NAME, "version": VERSION, "kind": "compatibility", "title": "JSON Schema keyword probes"}
    return load_suite_bytes(
        {
            "system.txt": _SYSTEM.encode(),
            "tools.core.json": json.dumps({"tools": tools}, indent=1).encode(),
            "cases.jsonl": b"".join(json.dumps(case).encode() + b"\n" for case in cases),
            "suite.toml": "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()).encode(),
        },
        name=SUITE_NAME,
    )
