"""NexusRaven's function-calling queries: cyber-security and everyday APIs, with Python calls as answers.

Both verdicts on a recorded answer: ours, in which a falsy argument is an argument and independent calls have no order;
theirs, told from the syntax tree where theirs executes (`checker`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from callscope.contract import Case, Outcome, Record, ToolCalls
from callscope.importers.base import Answered, Imported, RecordedReader
from callscope.importers.nexusraven import queries as _queries
from callscope.importers.nexusraven import reading as _reading
from callscope.importers.nexusraven import results as _results
from callscope.importers.nexusraven.calls import flattened
from callscope.importers.nexusraven.checker import check
from callscope.jsontext import JsonFault, parse_json

__all__ = [
    "EXPECTS",
    "EXPECTS_RESULTS",
    "NAME",
    "READER",
    "TITLE",
    "in_our_words",
    "read",
    "read_results",
    "verdict",
    "wanted",
    "wanted_results",
]

NAME = _queries.NAME
TITLE = "NexusRaven"
READER: RecordedReader = _reading.Reader
EXPECTS = (
    "NAME_queries.json beside NAME_function_definitions.py, or version 2's data sets in folders of their names "
    "(VirusTotalBenchmark/…, Function_Call_Definitions/VirusTotal/…)"
)
EXPECTS_RESULTS = (
    'MODEL.jsonl, one object a line or a list of them: {"id": "virustotal-3", "response": "the call"}, or the query '
    'under "query" in place of the id'
)


def wanted(path: str) -> bool:
    """Whether a file holds published queries or function definitions."""
    return _queries.kind_of(path) is not None


def read(files: Mapping[str, bytes]) -> Imported:
    """The published files as suites. Raises InputError naming file and line."""
    return _queries.read(files)


def wanted_results(path: str) -> bool:
    """Whether a file may hold recorded answers."""
    return _results.is_results(path)


def read_results(files: Mapping[str, bytes], cases: Mapping[str, Mapping[str, Case]]) -> tuple[Answered, ...]:
    """Recorded answers by model. Raises InputError for a file of which no row can be read."""
    return _results.read_results(files, cases)


def in_our_words(outcome: Outcome, case: Case) -> Outcome:
    """The outcome with calls that were read out of Python text under the tools' argument names, inner calls first."""
    functions = case.metadata.get("benchmark", {}).get("functions")
    if not isinstance(functions, dict) or not isinstance(outcome, ToolCalls) or _reading.WRITTEN not in outcome.flags:
        return outcome
    calls = tuple([each.call for each in flattened(outcome.calls, functions)])
    return structs.replace(outcome, calls=calls)


def verdict(record: Record, case: Case) -> tuple[bool | None, dict[str, Any]]:
    """What the published evaluation says of a recorded answer, with what it would note of both sides; None for a trial
    that is no recorded answer, and where only executing the answer could tell."""
    about = case.metadata.get("benchmark", {})
    exchanges = record.rounds[0].exchanges if record.rounds else ()
    if record.api != f"recorded/{NAME}" or not exchanges:
        return None, {"why": "not_a_recorded_answer"}
    try:
        answer = _reading.answer_of(parse_json(exchanges[-1].response, bad_numbers=True).value)
    except JsonFault:
        answer = None
    if answer is None:
        return None, {"why": "no_answer"}
    checked = check(answer, str(about.get("reference", "")), about.get("functions") or {})
    return checked.passed, {"why": checked.why, "noted": _shown(checked.noted), "wanted": _shown(checked.wanted)}


def _shown(noted: list[Any]) -> list[str]:
    return [
        f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"
        for one in noted
        for name, given in one.items()
    ]
