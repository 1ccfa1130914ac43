"""A small valid suite as bytes, for tests to break."""

from __future__ import annotations

import json
from typing import Any

TOOL = {
    "name": "find_train",
    "description": "Find a train.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "seats": {"type": "integer", "minimum": 1}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
CASE = {
    "id": "a",
    "prompt": "A train to Oslo?",
    "expected": {"kind": "tool", "name": "find_train", "arguments": {"city": "Oslo"}},
}


def lines(*cases: Any) -> bytes:
    return b"".join(json.dumps(case).encode() + b"\n" for case in cases)


def suite_files(**changed: bytes | None) -> dict[str, bytes]:
    """The bytes of a valid suite; `cases_jsonl=b"…"` replaces a file, None leaves it out."""
    files = {
        "system.txt": b"Help.\n",
        "tools.core.json": json.dumps({"tools": [TOOL]}).encode(),
        "cases.jsonl": lines(CASE),
    }
    for name, data in changed.items():
        file = {"tools_core_json": "tools.core.json"}.get(name, name.replace("_", "."))
        if data is None:
            files.pop(file, None)
        else:
            files[file] = data
    return files
