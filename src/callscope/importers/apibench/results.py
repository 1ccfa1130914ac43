"""Recorded answers of APIBench: `response_<hub>_<model>.jsonl`, one `{question_id, text, …}` a line; how each reads.

| row                                             | outcome                                             |
|-------------------------------------------------|-----------------------------------------------------|
| a text that states load calls (`loads`)         | tool_calls, as written; unreadable ones malformed   |
| any other text                                  | text                                                |
| no text, an `error`, an inference error as text | provider_error: no decision of the model was seen   |

A line `null` (what the benchmark's own runner writes where a request failed) names no question; it is noted, as are
rows that are left out (`material.Gathered`): broken ones, those that name no case, those that answer one again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from callscope.contract import Case, ProviderError, Reading, Text, ToolCalls
from callscope.errors import InputError
from callscope.importers.apibench.checker import NO_API_CALL, Database, database, found_entry
from callscope.importers.apibench.hubs import HUBS, Hub, hub_of_suite
from callscope.importers.apibench.loads import stated
from callscope.importers.base import Answer, Answered
from callscope.importers.material import Gathered, Row
from callscope.jsontext import JsonFault, dump_faithful, parse_json

__all__ = ["MATCH", "SUITE", "WRITTEN", "Reader", "is_failure", "read_results", "results_of"]

SUITE = "callscope-suite"
MATCH = "apibench-match"
"""Header with what the benchmark's own search found in the answer: {"found", "api_call", "domain"}."""

WRITTEN = "python_call"
"""Flag of an outcome whose calls were read out of Python text."""

_FILE = re.compile(r"(?:^|/)responses?_(?P<hub>[a-z]+)_(?P<model>[^/]+)\.jsonl?$")
_FAILED = re.compile(r"\s*Error (?:during inference|code:? ?\d{3})")


class _Reader:
    """Reads one recorded answer."""

    def parse(self, status: int, headers: tuple[tuple[str, str], ...], body: bytes, *, stream: bool) -> Reading:
        """The reading of a row of a response file; `headers` name the suite. Never raises."""
        del status, stream
        try:
            row = parse_json(body, bad_numbers=True).value
        except JsonFault as fault:
            return _failed("unreadable_row", f"the recorded row is no JSON ({fault.reason})")
        text = row.get("text") if isinstance(row, dict) else None
        if not isinstance(text, str) or row.get("error") is not None:
            return _failed("no_answer", "no answer was recorded")
        if is_failure(row):
            return _failed("inference_error", text[:200])
        named = row.get("model_id")
        model = named if isinstance(named, str) else None
        hub = hub_of_suite(dict(headers).get(SUITE, ""))
        for one in (hub,) if hub is not None else HUBS.values():
            found = stated(one, text)
            if found.calls:
                return Reading(ToolCalls(found.calls, (WRITTEN,)), model=model)
        return Reading(Text(text), model=model)


Reader = _Reader()


def is_failure(row: Mapping[str, Any]) -> bool:
    """Whether a row holds no answer: no text, an `error`, or an inference error in place of the text."""
    text = row.get("text")
    return not isinstance(text, str) or row.get("error") is not None or _FAILED.match(text) is not None


def _failed(code: str, message: str) -> Reading:
    return Reading(ProviderError("provider_error", code, message))


def results_of(path: str) -> tuple[Hub, str] | None:
    """The hub and the model that a file's name says its answers are of; None for another file."""
    found = _FILE.search(path)
    hub = next((hub for hub in HUBS.values() if found is not None and found["hub"] in hub.files), None)
    return None if found is None or hub is None else (hub, found["model"])


def read_results(files: Mapping[str, bytes], cases: Mapping[str, Mapping[str, Case]]) -> tuple[Answered, ...]:
    """The recorded answers of each model, over all its files.

    Raises InputError, naming file and line, for a file of which no row can be read; EnvironmentProblem where the parser
    of the benchmark's own checker is not installed.
    """
    gathered: dict[str, Gathered] = {}
    databases: dict[str, tuple[Database, list[Any]]] = {}
    for path in sorted(files):
        named = results_of(path)
        if named is None:
            continue
        hub, model = named
        theirs = gathered.setdefault(model, Gathered(model, is_failure))
        if hub.suite not in cases:
            theirs.notes.append(f"{path}: the benchmark's folder holds no {hub.name}_eval.json; left out")
            continue
        if hub.name not in databases:
            entries = _entries(cases[hub.suite])
            databases[hub.name] = (database(hub.name, [entry[0] for entry in entries]), entries)
        nulls: list[int] = []
        theirs.read(path, files[path], partial(_answer, hub, cases[hub.suite], databases[hub.name]), nulls=nulls)
        if nulls:
            theirs.notes.append(f"{path}: {len(nulls)} requests failed and say not which (line {nulls[0]})")
    return tuple(theirs.answered() for theirs in gathered.values())


def _answer(hub: Hub, cases: Mapping[str, Case], searched: tuple[Database, list[Any]], row: Row) -> Answer | InputError:
    number = row.value.get("question_id")
    case_id = f"{hub.name}-{number}"
    if type(number) is not int or case_id not in cases:
        expected = f"a question of {hub.suite}"
        return InputError(
            "names no case", file=row.file, line=row.line, field="question_id", found=number, expected=expected
        )
    headers = ((SUITE, hub.suite), *_matched(*searched, row.value.get("text")))
    return Answer(hub.suite, case_id, (row.raw,), f"{row.file}:{row.line}", headers)


def _entries(cases: Mapping[str, Case]) -> list[Any]:
    """The API database that the import left with the suite's first case."""
    for case in cases.values():
        found = case.metadata.get("benchmark", {}).get("database")
        if found:
            return list(found)
    return []


def _matched(of: Database, entries: list[Any], text: object) -> tuple[tuple[str, str], ...]:
    if not entries:
        return ()
    place = found_entry(of, text) if isinstance(text, str) else None
    said: dict[str, Any]
    if place is None:
        said = {"found": "crash" if isinstance(text, str) else "no_text"}
    elif place == NO_API_CALL:
        said = {"found": "no_api_call"}
    elif place < 0:
        said = {"found": "nothing"}
    else:
        said = {"found": "entry", "api_call": entries[place][0], "domain": entries[place][1]}
    return ((MATCH, dump_faithful(said).decode()),)
