"""What the capture tests share: a small suite of our own, configurations against a stand-in, and readings of a log."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from callscope.contract import Suite, TrialKey
from callscope.suites import load_suite_bytes

TOOLS = [
    {
        "name": "lookup_order",
        "description": "Fetch a single order when its public number is known.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "pattern": "^ORD-[0-9]{6}$"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
    },
    {
        "name": "search_orders",
        "description": "List a customer's orders by e-mail address.",
        "parameters": {
            "type": "object",
            "properties": {"email": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "default": 5}},
            "required": ["email"],
            "additionalProperties": False,
        },
    },
]


def tool_case(number: int, **more: Any) -> dict[str, Any]:
    order = f"ORD-{number:06d}"
    expected = {"kind": "tool", "name": "lookup_order", "arguments": {"order_id": order}}
    return {"id": f"order-{number}", "prompt": f"What is the state of {order}?", "expected": expected, **more}


def suite_files(cases: list[dict[str, Any]], **toml: Any) -> dict[str, bytes]:
    settings = {"name": "small", "version": "1.2.0", **toml}
    return {
        "system.txt": b"You work at a help desk. Use a tool only when it is needed.\n",
        "tools.core.json": json.dumps({"tools": TOOLS}).encode(),
        "cases.jsonl": b"".join(json.dumps(case).encode() + b"\n" for case in cases),
        "suite.toml": "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()).encode(),
    }


def small_suite(count: int = 4, **toml: Any) -> Suite:
    """`count` cases that each need one lookup, and one that needs no tool."""
    cases = [tool_case(100_000 + number) for number in range(count)]
    cases.append({"id": "greeting", "prompt": "Good morning!", "expected": {"kind": "text"}})
    return load_suite_bytes(suite_files(cases, **toml), name="small")


def write_suite(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def stand_in_model(url: str, **more: Any) -> dict[str, Any]:
    return {"provider": "stand-in", "model": "stand-in-1", "base_url": url, "stand_in": True, **more}


def logged_keys(run: Path) -> Counter[TrialKey]:
    """How often each trial stands in the log."""
    lines = (run / "records.jsonl").read_bytes().splitlines()
    return Counter(TrialKey(**json.loads(line)["key"]) for line in lines)
