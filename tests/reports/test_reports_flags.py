"""Every flag that any room puts on an outcome or verdict is in the glossary: found by reading the source itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import callscope
from callscope.reports.glossary import IMPORT_FLAGS, glossary_markdown

ROOT = Path(callscope.__file__).parent
DRAWN = {"audit", "cli", "comparison", "reports"}
"""Rooms that show and make no outcome; their `Text` is another."""
RENAMED = {"bad_number"}
"""Said by the JSON reader, and put on outcomes under another name (`nan_in_body`)."""
OUTCOMES = {"Text": 1, "Refusal": 1, "ToolCalls": 1, "ProviderError": 3}
"""Outcome -> the place of its flags among positional arguments."""


@cache
def trees() -> dict[Path, ast.Module]:
    files = (path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] not in DRAWN)
    return {path: ast.parse(path.read_text("utf-8")) for path in files}


def constants() -> dict[str, set[str]]:
    """Name -> what modules call so, where it is one text: a flag may be written by name."""
    found: dict[str, set[str]] = {}
    for tree in trees().values():
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                for target in node.targets:
                    if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                        found.setdefault(target.id, set()).add(node.value.value)
    return found


def texts(node: ast.expr, named: dict[str, set[str]]) -> Iterator[str]:
    """The flags that an expression can hold: the texts of tuples, lists and sets in it, and of both sides of an if."""
    match node:
        case ast.Tuple() | ast.List() | ast.Set():
            for each in node.elts:
                yield from texts(each, named)
        case ast.IfExp():
            yield from texts(node.body, named)
            yield from texts(node.orelse, named)
        case ast.Starred() | ast.NamedExpr():
            yield from texts(node.value, named)
        case ast.Constant(value=str(text)):
            yield text
        case ast.Name() if node.id.isupper():
            yield from named.get(node.id, set())
        case ast.Call():
            for each in node.args:
                yield from texts(each, named)


def written(tree: ast.Module, named: dict[str, set[str]]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from in_call(node, named)
        elif isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "flags" for t in node.targets):
            yield from texts(node.value, named)


def in_call(node: ast.Call, named: dict[str, set[str]]) -> Iterator[str]:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    for keyword in node.keywords:
        if keyword.arg == "flags":
            yield from texts(keyword.value, named)
    place = OUTCOMES.get(name)
    if place is not None and len(node.args) > place:
        yield from texts(node.args[place], named)
    if name in ("add", "append") and isinstance(node.func, ast.Attribute):
        holder = node.func.value
        called = holder.id if isinstance(holder, ast.Name) else getattr(holder, "attr", "")
        if called.endswith("flags"):
            yield from (text for each in node.args for text in texts(each, named))


def test_the_reader_of_the_source_finds_what_is_known_to_be_there() -> None:
    named = constants()
    found = {text for tree in trees().values() for text in written(tree, named)}
    assert {"bare_name", "source_text", "python_call", "text_tool_call", "gold_outside_schema", "connection"} <= found
    assert set(IMPORT_FLAGS) <= found


def test_every_flag_that_is_put_anywhere_is_in_the_glossary() -> None:
    page, named = glossary_markdown(), constants()
    missing = {
        text: path.relative_to(ROOT).as_posix()
        for path, tree in trees().items()
        for text in written(tree, named)
        if text not in RENAMED and f"\n| `{text}` | " not in page
    }
    assert missing == {}
