"""What the harness document itself gives as fixtures, cut out of it at test time."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest


def _document() -> str:
    shared = Path(os.environ.get("CALLSCOPE_SHARED", Path(__file__).parents[3] / "shared"))
    found = sorted(shared.glob("seeds/004_*"))
    if not found:
        pytest.skip("the harness document is not here; set CALLSCOPE_SHARED to the folder that holds seeds/")
    return found[0].read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def document_files() -> dict[str, bytes]:
    """The document's own system text, tools and cases, cut out of it byte for byte."""
    text = _document()
    tools = re.search(r'^\{\n  "tools": \[\n.*?^\}\n', text, re.DOTALL | re.MULTILINE)
    system = re.search(
        r"^You are a support operations assistant\..*?unsupported actions\.\n", text, re.DOTALL | re.MULTILINE
    )
    cases = re.findall(r'^\{"id":.*\n', text, re.MULTILINE)
    assert tools
    assert system
    return {
        "tools.core.json": tools.group().encode(),
        "system.txt": system.group().encode(),
        "cases.jsonl": "".join(cases).encode(),
    }


@pytest.fixture(scope="session")
def document_assertions() -> dict[str, Any]:
    """The document's example of arguments written as assertions."""
    found = re.search(r'^\{\n  "arguments": \{\n    "requiredEquals".*?^\}\n', _document(), re.DOTALL | re.MULTILINE)
    assert found
    return json.loads(found.group())["arguments"]
