"""BFCL's files by their names: which category, which language, whose answers. No content is looked at.

| file                                               | is                                                     |
|----------------------------------------------------|--------------------------------------------------------|
| `BFCL_v4_<category>.json`, also v3 and v2          | cases                                                  |
| the same in a folder `possible_answer`             | their gold                                             |
| `multi_turn_func_doc/<name>.json`                  | function documents of the multi-turn cases             |
| `<model>/[<group>/]BFCL_v4_<category>_result.json` | recorded answers; before it may be a prefix (`small_`) |
| cases of other categories, or in `unused_datasets` | left out, with a note                                  |
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

__all__ = [
    "CATEGORIES",
    "GROUPS",
    "MULTI_TURN",
    "CaseFile",
    "Language",
    "ResultFile",
    "case_file",
    "function_document",
    "language_of",
    "model_labels",
    "result_file",
    "suite_name",
]

Language = Literal["python", "java", "javascript"]

MULTI_TURN = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param")
CATEGORIES = (
    "simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple", "irrelevance",
    "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple", "live_irrelevance", "live_relevance",
    *MULTI_TURN,
)  # fmt: skip
"""The categories that are imported, in the order of the leaderboard."""

_FORMER = {"simple": "simple_python", "java": "simple_java", "javascript": "simple_javascript"}
"""What version 3 called a category."""

_CASES = re.compile(r"(?P<prefix>.*)BFCL_v(?P<version>[0-9]{1,3})_(?P<category>\w+?)\.jsonl?\Z")
_RESULT = re.compile(r"(?P<prefix>.*)BFCL_v[0-9]{1,3}_(?P<category>\w+?)_result\.jsonl?\Z")
GROUPS = frozenset({"non_live", "live", "multi_turn", "agentic", "format_sensitivity", "memory", "web_search"})
"""Folders between a model's and its files."""

_NO_CASES = ("_result", "_score")


class CaseFile(NamedTuple):
    """A file of cases or of gold. `left_out` says why it is not read, None where it is."""

    path: str
    category: str
    version: int
    gold: bool
    left_out: str | None


class ResultFile(NamedTuple):
    """A file of recorded answers: the folder of its model (`""`: none), its category, and whether it is a part of one
    (a name with a prefix)."""

    path: str
    folder: str
    category: str
    partial: bool


def case_file(path: str) -> CaseFile | None:
    """A path as a file of cases or gold; None for any other."""
    place = PurePosixPath(path)
    found = _CASES.fullmatch(place.name)
    if found is None or found["category"].endswith(_NO_CASES):
        return None
    category, version = _FORMER.get(found["category"], found["category"]), int(found["version"])
    left_out = None
    if found["prefix"]:
        left_out = f"the prefix {found['prefix']!r} makes it a part of another file"
    elif "unused_datasets" in place.parts:
        left_out = "BFCL itself does not use it"
    elif not 2 <= version <= 4:
        left_out = f"version {version} is not known"
    elif category not in CATEGORIES:
        left_out = f"the category {category} is not imported"
    return CaseFile(path, category, version, "possible_answer" in place.parts, left_out)


def function_document(path: str) -> str | None:
    """The name of a multi-turn function document, without its ending; None for any other path."""
    place = PurePosixPath(path)
    return place.stem if place.parent.name == "multi_turn_func_doc" and place.suffix in (".json", ".jsonl") else None


def result_file(path: str) -> ResultFile | None:
    """A path as a file of recorded answers; None for any other."""
    place = PurePosixPath(path)
    found = _RESULT.fullmatch(place.name)
    if found is None:
        return None
    folder = place.parent
    while folder.name in GROUPS:
        folder = folder.parent
    category = _FORMER.get(found["category"], found["category"])
    return ResultFile(path, "" if folder.name == "" else folder.as_posix(), category, bool(found["prefix"]))


def model_labels(folders: Iterable[str]) -> dict[str, str]:
    """Folder -> what its model is called: its last part, as many more as tell it from the others of that name."""
    listed = list(dict.fromkeys(folders))
    labels = {}
    for folder in listed:
        parts = PurePosixPath(folder).parts
        for depth in range(1, len(parts) + 1):
            label = "/".join(parts[-depth:])
            if not any(other != folder and f"/{other}".endswith(f"/{label}") for other in listed):
                break
        labels[folder] = label if parts else "recorded"
    return labels


def language_of(category: str) -> Language:
    """The language that calls of a category are written in."""
    return "javascript" if "javascript" in category else "java" if "java" in category else "python"


def suite_name(category: str) -> str:
    """The name of a category's suite."""
    return f"bfcl-{category}"
