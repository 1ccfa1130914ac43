"""BFCL's folder as suites: one a category, with what was left out or found at fault noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from callscope.canonical import sha256_hex
from callscope.contract import Case
from callscope.errors import InputError
from callscope.importers.base import Imported, SuiteFiles
from callscope.importers.bfcl.cases import Made, single_turn_case
from callscope.importers.bfcl.catalogue import (
    CATEGORIES,
    MULTI_TURN,
    CaseFile,
    case_file,
    function_document,
    suite_name,
)
from callscope.importers.bfcl.multi_turn import DOCUMENTS, Documents, multi_turn_case
from callscope.importers.bfcl.rows import Row, read_rows
from callscope.jsontext import dump_faithful

__all__ = ["read", "wanted"]

LICENCE = "Apache-2.0"
SEPARATOR = b"\0"


def wanted(path: str) -> bool:
    """Whether a file is BFCL's cases, gold or function documents."""
    return case_file(path) is not None or function_document(path) is not None


def read(files: Mapping[str, bytes]) -> Imported:
    """The files of BFCL's data folder as suites. Raises InputError, naming file and line, where a file is not BFCL's.

    Of a category that stands in several versions the newest is read; nothing is merged.
    """
    notes: list[str] = []
    cases, gold = _chosen(files, notes, gold=False), _chosen(files, notes, gold=True)
    suites = []
    for category in (each for each in CATEGORIES if each in cases):
        answers = gold.get(category)
        if answers is None and "relevance" not in category:
            notes.append(f"{cases[category].path}: its gold is not in possible_answer; the category is left out")
            continue
        suites.append(_suite(cases[category], answers, files, notes))
    alone = sorted(gold.keys() - cases.keys())
    notes.extend(f"{gold[category].path}: there are no cases to this gold; left out" for category in alone)
    return Imported(tuple(suites), tuple(notes))


def _chosen(files: Mapping[str, bytes], notes: list[str], *, gold: bool) -> dict[str, CaseFile]:
    """The file of each category: the newest version, nearest to the top."""
    found: dict[str, CaseFile] = {}
    known = [each for path in sorted(files) if (each := case_file(path)) is not None and each.gold == gold]
    for each in sorted(known, key=lambda one: (-one.version, one.path.count("/"), one.path)):
        if each.left_out is not None:
            notes.append(f"{each.path}: left out, {each.left_out}")
        elif each.category in found:
            notes.append(f"{each.path}: left out, {found[each.category].path} is read for {each.category}")
        else:
            found[each.category] = each
    return found


def _suite(file: CaseFile, answers: CaseFile | None, files: Mapping[str, bytes], notes: list[str]) -> SuiteFiles:
    sources = [files[file.path], b"" if answers is None else files[answers.path]]
    gold: dict[str, Row] = {}
    for row in () if answers is None else read_rows(answers.path, files[answers.path]):
        identity = row.value.get("id")
        if not isinstance(identity, str):
            raise InputError("this is no id", file=row.file, line=row.line, field="id", found=identity)
        if identity in gold:
            notes.append(f"{row.place}: {identity}: repeated-id: the gold of line {gold[identity].line} stays")
        gold.setdefault(identity, row)
    documents = Documents({})
    if file.category in MULTI_TURN:
        documents = _documents(files)
        sources += [files[path] for path in sorted(files) if function_document(path) is not None]
    made: dict[str, Case] = {}
    for row in read_rows(file.path, files[file.path]):
        answer = gold.get(str(row.value.get("id")))
        if file.category in MULTI_TURN:
            one = multi_turn_case(file.category, row, answer, documents)
        else:
            one = single_turn_case(file.category, row, answer)
        if one.case.id in made:
            notes.append(f"{row.place}: {one.case.id}: repeated-id: the first case of this id stays")
            continue
        made[one.case.id] = one.case
        notes.extend(_noted(one, row, answer))
    for identity, row in gold.items():
        if identity not in made:
            notes.append(f"{row.place}: {identity}: there is no case of this id")
    if not made:
        raise InputError("holds no cases", file=file.path)
    version = f"v{file.version}-{sha256_hex(SEPARATOR.join(sources))[:8]}"
    return SuiteFiles(suite_name(file.category), _files(file.category, version, list(made.values())))


def _noted(one: Made, row: Row, answer: Row | None) -> list[str]:
    place = (answer or row).place
    noted = [f"{place}: {one.case.id}: {each.kind}: {each.message}" for each in one.defects]
    return noted if one.case.excluded is None else [*noted, f"{place}: {one.case.id}: excluded: {one.case.excluded}"]


def _documents(files: Mapping[str, bytes]) -> Documents:
    there = {function_document(path): path for path in sorted(files, reverse=True)}
    return Documents(
        {
            name: [row.value for row in read_rows(there[document], files[there[document]])]
            for name, document in DOCUMENTS.items()
            if document in there
        }
    )


def _files(category: str, version: str, cases: Sequence[Case]) -> dict[str, bytes]:
    about = (
        f'name = "{suite_name(category)}"\n'
        f'title = "BFCL, {category.replace("_", " ")}"\n'
        f'version = "{version}"\n'
        'benchmark = "bfcl"\n'
        f'licence = "{LICENCE}"\n'
    )
    lines = [dump_faithful(_written(case)) for case in cases]
    return {
        "suite.toml": about.encode(),
        "system.txt": b"",
        "tools.core.json": b"[]\n",
        "cases.jsonl": b"\n".join([*lines, b""]),
    }


_PLAIN = frozenset({"metadata", "parameters"})
"""Fields that hold JSON values and no contract types."""


def _written(case: Case) -> dict[str, Any]:
    written = _without_defaults(case)
    return {**written, "own_tools": written.get("own_tools", [])}


def _without_defaults(value: Any) -> Any:
    """A contract value as JSON has it, without the fields that hold their default."""
    if isinstance(value, Struct):
        config = value.__struct_config__
        written = {} if config.tag is None else {str(config.tag_field): config.tag}
        for name, default in _defaults(type(value)):
            held = getattr(value, name)
            if name == "arguments" or held != default or type(held) is not type(default):
                written[name] = held if name in _PLAIN else _without_defaults(held)
        return written
    if isinstance(value, dict):
        return {key: _without_defaults(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_defaults(each) for each in value]
    return value


@cache
def _defaults(kind: type[Struct]) -> tuple[tuple[str, Any], ...]:
    """The fields of a contract type, each with its default."""
    return tuple(
        (each.name, each.default if each.default_factory is msgspec.NODEFAULT else each.default_factory())
        for each in msgspec.structs.fields(kind)
    )
