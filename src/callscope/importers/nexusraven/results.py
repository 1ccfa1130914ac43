"""Recorded answers for NexusRaven's queries: a file a model, named after it, one JSON object a line (or a list).

| field                                       | what it says                                                    |
|---------------------------------------------|-----------------------------------------------------------------|
| `id`                                        | the case, `virustotal-3`; or its number, beside `suite`         |
| `query` (or `prompt`, `input`)              | the case by its query, where there is no `id`                   |
| `suite`                                     | which suite is meant; else the first that has the id or query   |
| `response` (or `prediction`, `text`)        | the answer, Python text                                         |
| `error`                                     | the request failed: no answer was seen                          |

The rows of the authors' own dataset of outputs are read too: `{"response": [{"query": …}, {"function_call": …}]}`.
Rows that are broken, name no case or answer one again are left out with a note (`material.Gathered`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from callscope.contract import Case
from callscope.errors import InputError
from callscope.importers.base import Answer, Answered
from callscope.importers.material import Gathered, Row
from callscope.importers.nexusraven.queries import kind_of
from callscope.importers.nexusraven.reading import is_failure

__all__ = ["is_results", "read_results"]

_FILE = re.compile(r"([^/]+)\.jsonl?$")
_QUERY_KEYS = ("query", "prompt", "input")


def is_results(path: str) -> bool:
    """Whether a file may hold recorded answers: JSON, and none of the benchmark's own files."""
    return _FILE.search(path) is not None and kind_of(path) is None


def read_results(files: Mapping[str, bytes], cases: Mapping[str, Mapping[str, Case]]) -> tuple[Answered, ...]:
    """The recorded answers by model; files of one name in several folders are of one model.

    Raises InputError, naming file and line, for a file of which no row can be read.
    """
    by_query: dict[str, list[tuple[str, str]]] = {}
    for suite, its in cases.items():
        for case in its.values():
            by_query.setdefault(case.prompt.strip(), []).append((suite, case.id))

    def answer_of(row: Row) -> Answer | InputError:
        named = _named(row, cases, by_query)
        return named if isinstance(named, InputError) else Answer(*named, (row.raw,), f"{row.file}:{row.line}")

    gathered: dict[str, Gathered] = {}
    for path in sorted(files):
        name = _FILE.search(path)
        if name is None or not is_results(path):
            continue
        gathered.setdefault(name[1], Gathered(name[1], is_failure)).read(path, files[path], answer_of)
    return tuple(theirs.answered() for theirs in gathered.values())


def _named(
    row: Row, cases: Mapping[str, Mapping[str, Case]], by_query: Mapping[str, list[tuple[str, str]]]
) -> tuple[str, str] | InputError:
    """The suite and the case that a row answers; the fault where it names none."""
    asked = row.value.get("suite")
    suites = [name for name in cases if not isinstance(asked, str) or asked in (name, name.removeprefix("nexusraven-"))]
    stated = row.value.get("id")
    if stated is not None:
        for suite in suites:
            for case_id in (stated, f"{suite.removeprefix('nexusraven-')}-{stated}"):
                if isinstance(case_id, str) and case_id in cases[suite]:
                    return suite, case_id
        found, field = stated, "id"
    else:
        query = _query_of(row.value)
        for suite, case_id in by_query.get(query.strip(), []) if isinstance(query, str) else ():
            if suite in suites:
                return suite, case_id
        found, field = query, "query"
    expected = f"an id or a query of {', '.join(suites) or 'an imported suite'}"
    return InputError("names no case", file=row.file, line=row.line, field=field, found=found, expected=expected)


def _query_of(value: Mapping[str, Any]) -> Any:
    for key in _QUERY_KEYS:
        if key in value:
            return value[key]
    listed = value.get("response")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and "query" in each:
            return each["query"]
    return None
