"""NexusRaven's files as suites: queries with their reference calls, and the functions that are offered.

Version 1: `<name>_queries.json` beside `<name>_function_definitions.py`, suite `nexusraven-<name>`. Version 2: the
datasets' folders as downloaded (parquet or CSV, or the rows as JSON, one a line or in a list), suite
`nexusraven-v2-<name>`.

| tag `gold-defect:…` | what is at fault                                             | excluded |
|---------------------|--------------------------------------------------------------|----------|
| unreadable          | the reference is no call, or has an argument that is no literal | yes   |
| unknown-function    | it calls a function that is not defined                      | yes      |
| outside-schema      | its arguments break the schema of the function               | no       |
| duplicate-query     | asked before                                                 | no       |
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from io import StringIO
from typing import Any, NamedTuple

from callscope.contract import ArgumentRules, Case, Expectation, ExpectedCall, ExpectTool, ExpectTools, Tool
from callscope.errors import EnvironmentProblem, InputError
from callscope.importers.base import Imported, SuiteFiles
from callscope.importers.material import Row, decoded, read_rows, suite_files, text_field
from callscope.importers.nexusraven.calls import Flat, flattened, signatures
from callscope.importers.nexusraven.definitions import Function, functions_of_rows, functions_of_source, tool_of
from callscope.importers.nexusraven.reading import calls_of
from callscope.scoring import validate_arguments

__all__ = ["NAME", "kind_of", "read"]

NAME = "nexusraven"
_SYSTEM = "Answer with the calls of the tools that the request needs, in the order in which they are to be made.\n"
_DEFINITIONS = re.compile(r"(?:^|/)(?P<name>[\w-]+)_function_definitions\.(?:py|jsonl?|parquet)$")
_QUERIES = re.compile(r"(?:^|/)(?P<name>[\w-]+)_queries\.(?:jsonl?|parquet)$")
_ROWS = re.compile(r"\.(?:jsonl?|csv|parquet)$")
_CONFIGS = {
    "CVECPE": ("v2-nvdlibrary",),
    "VirusTotal": ("v2-virustotal",),
    "OTX": ("v2-otx",),
    "Places": ("v2-places",),
    "Climate": ("v2-climate",),
    "VT_Multi (Parallel)": ("v2-virustotal-parallel",),
    "VT_Multi (Nested)": ("v2-virustotal-nested",),
    "CVECPE_Multi (Nested)": ("v2-nvdlibrary-nested",),
}
_DATASETS = {
    "NVDLibraryBenchmark": ("v2-nvdlibrary",),
    "VirusTotalBenchmark": ("v2-virustotal",),
    "OTXAPIBenchmark": ("v2-otx",),
    "PlacesAPIBenchmark": ("v2-places",),
    "ClimateAPIBenchmark": ("v2-climate",),
    "VirusTotalMultiple": ("v2-virustotal-parallel", "v2-virustotal-nested"),
    "vt_multiapi": ("v2-virustotal-parallel", "v2-virustotal-nested"),
    "CVECPEAPIBenchmark": ("v2-nvdlibrary-nested",),
}
_TITLES = {"v2": "NexusRaven-V2, ", "v1": "NexusRaven, "}
_TEMPORAL = re.compile(r"date|time", re.IGNORECASE)
_NOTES = {
    "unreadable": "references cannot be read: excluded",
    "unknown-function": "references call a function that is not defined: excluded",
    "outside-schema": "references break the schema of their function",
    "duplicate-query": "queries are asked a second time",
}


class _Query(NamedTuple):
    text: str
    reference: str
    row: Row


class _Kind(NamedTuple):
    """What a published file is: functions or queries, of which suites."""

    role: str
    names: tuple[str, ...]


def kind_of(path: str) -> _Kind | None:
    """What a published file is, by its name and its folders; None for any other."""
    if (found := _DEFINITIONS.search(path)) is not None:
        return _Kind("functions", (found["name"],))
    if (found := _QUERIES.search(path)) is not None:
        return _Kind("queries", (found["name"],))
    folders = path.split("/")[:-1]
    if not _ROWS.search(path):
        return None
    for folder in folders:
        if "Function_Call_Definitions" in folders and folder in _CONFIGS:
            return _Kind("functions", _CONFIGS[folder])
        if folder in _DATASETS:
            return _Kind("queries", _DATASETS[folder])
    return None


def read(files: Mapping[str, bytes]) -> Imported:
    """One suite for each set of queries whose functions are there.

    Raises InputError naming file and line; EnvironmentProblem for a parquet file where no reader is installed.
    """
    functions: dict[str, tuple[Function, ...]] = {}
    queries: dict[str, list[_Query]] = {}
    for path in sorted(files):
        kind = kind_of(path)
        if kind is None:
            continue
        if kind.role == "functions":
            defined = (
                functions_of_source(path, files[path])
                if path.endswith(".py")
                else functions_of_rows(_rows(path, files))
            )
            functions.update(dict.fromkeys(kind.names, defined))
            continue
        for row in _rows(path, files):
            query, references = _query(row)
            name = kind.names[0 if len(references) > 1 else -1]
            queries.setdefault(name, []).append(_Query(query, "; ".join(references), row))
    suites: list[SuiteFiles] = []
    notes: list[str] = []
    for name, asked in sorted(queries.items()):
        if name not in functions:
            notes.append(f"nexusraven-{name}: left out, its function definitions are not there")
            continue
        suite, told = _suite(name, functions[name], asked)
        suites.append(suite)
        notes += told
    notes += [f"nexusraven-{name}: left out, there are no queries" for name in sorted(functions) if name not in queries]
    return Imported(tuple(suites), tuple(notes))


def _rows(path: str, files: Mapping[str, bytes]) -> tuple[Row, ...]:
    if path.endswith(".csv"):
        table = csv.DictReader(StringIO(decoded(path, files[path]), newline=""))
        try:
            return tuple(Row(path, table.line_num, dict(value), b"") for value in table)
        except csv.Error as error:
            raise InputError(f"cannot be read as CSV ({error})", file=path, line=table.line_num) from None
    if not path.endswith(".parquet"):
        return read_rows(path, files[path])
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        hint = "pip install pyarrow, or save the rows as JSON, one a line, under the same folder"
        raise EnvironmentProblem(f"{path}: reading parquet files needs pyarrow", hint=hint) from None
    try:
        listed = parquet.read_table(arrow.BufferReader(files[path])).to_pylist()
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"cannot be read as parquet ({error})", file=path) from None
    return tuple(Row(path, place, dict(value), b"") for place, value in enumerate(listed, 1))


def _query(row: Row) -> tuple[str, list[str]]:
    """A row's query and its reference calls, under the names of either version."""
    for query, reference in (("query", "reference"), ("Input", "Output"), ("generated_question", "fncall")):
        if reference in row.value:
            stated = row.value[reference]
            if isinstance(stated, list) and stated and all(isinstance(each, str) for each in stated):
                return text_field(row, query), stated
            return text_field(row, query), [text_field(row, reference)]
    expected = "query and reference, Input and Output, or generated_question and fncall"
    found = ", ".join(row.value) or "no field"
    raise InputError("this is no query", file=row.file, line=row.line, found=found, expected=expected)


def _suite(name: str, functions: Sequence[Function], asked: Sequence[_Query]) -> tuple[SuiteFiles, list[str]]:
    kept = signatures(functions)
    read_calls = [calls_of(query.reference) for query in asked]
    flat = [None if calls is None else flattened(calls, kept) for calls in read_calls]
    nested = any(each.needs for calls in flat for each in calls or ())
    tools = {function.name: tool_of(function, nested=nested) for function in functions}
    cases: list[Case] = []
    seen: set[str] = set()
    notes: dict[str, list[str]] = {}
    for number, (query, calls) in enumerate(zip(asked, flat, strict=True), 1):
        defects = list(_defects(query, calls, tools, seen))
        seen.add(query.text.strip().casefold())
        excluded = {"unreadable": "the reference cannot be read", "unknown-function": "it calls an unknown function"}
        case = Case(
            id=f"{name}-{number}",
            prompt=query.text,
            expected=_expected(calls or [], tools),
            tags=tuple(f"gold-defect:{defect}" for defect in defects),
            behaviour="positive_selection",
            excluded=next((excluded[defect] for defect in defects if defect in excluded), None),
            metadata={"benchmark": {"name": NAME, "reference": query.reference, "functions": kept}},
        )
        cases.append(case)
        for defect in defects:
            notes.setdefault(defect, []).append(case.id)
    title = _TITLES["v2" if name.startswith("v2-") else "v1"] + name.removeprefix("v2-")
    suite = suite_files(f"nexusraven-{name}", NAME, title, _SYSTEM, list(tools.values()), cases)
    return suite, [
        f"nexusraven-{name}: gold-defect:{defect}: {len(ids)} {_NOTES[defect]} ({', '.join(ids[:5])})"
        for defect, ids in notes.items()
    ]


def _defects(query: _Query, calls: list[Flat] | None, tools: Mapping[str, Tool], seen: set[str]) -> Iterator[str]:
    if not calls or any(each.call.arguments is None for each in calls):
        yield "unreadable"
    elif any(each.call.name not in tools for each in calls):
        yield "unknown-function"
    elif any(validate_arguments(tools[each.call.name], each.call.arguments) for each in calls):
        yield "outside-schema"
    if query.text.strip().casefold() in seen:
        yield "duplicate-query"


def _expected(calls: Sequence[Flat], tools: Mapping[str, Tool]) -> Expectation:
    """The calls required, in any order but for those that take another's result."""
    if any(each.call.name not in tools for each in calls):
        calls = ()
    if not calls:
        tool = next(iter(tools.values()))  # the case is excluded: nothing is judged by this
        return ExpectTool(tool.name, ArgumentRules(constraints={name: {} for name in tool.parameters["required"]}))
    if len(calls) == 1:
        return ExpectTool(calls[0].call.name, _rules(calls[0].call.arguments or {}))
    return ExpectTools(
        tuple(
            ExpectedCall(
                each.call.name,
                _rules(each.call.arguments or {}),
                id=f"c{place}",
                depends_on=tuple(f"c{needed + 1}" for needed in each.needs),
            )
            for place, each in enumerate(calls, 1)
        )
    )


def _rules(arguments: Mapping[str, Any]) -> ArgumentRules:
    dates = tuple(name for name, value in arguments.items() if _TEMPORAL.search(name) and isinstance(value, str))
    return ArgumentRules(required_equals=dict(arguments), temporal=dates)
