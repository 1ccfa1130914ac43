"""The public face of the room, and what it may import."""

from __future__ import annotations

import ast
from pathlib import Path

import callscope.suites as room

FOLDER = Path(room.__file__).parent
MAY = {
    "callscope.contract",
    "callscope.canonical",
    "callscope.jsontext",
    "callscope.schema_rules",
    "callscope.errors",
    "callscope.suites",
}


def test_the_exported_names_exist_and_are_sorted():
    assert all(hasattr(room, name) for name in room.__all__)
    constants = [name for name in room.__all__ if name.isupper()]
    others = [name for name in room.__all__ if not name.isupper()]
    assert room.__all__ == sorted(constants) + sorted(others, key=lambda name: (name[0].islower(), name))


def test_it_imports_only_what_a_low_room_may():
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            if module and module.startswith("callscope"):
                assert ".".join(module.split(".")[:2]) in MAY, f"{path.name} imports {module}"


def test_its_modules_are_short_and_open_with_what_they_are_for():
    for path in FOLDER.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith('"""'), path.name
        assert text.count("\n") < 400, path.name
