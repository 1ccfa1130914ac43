"""APIBench: which model to load for a request, on TorchHub, Hugging Face and TensorFlow Hub, as calls of one tool each.

Both verdicts on a recorded answer: ours, that the model is the gold's; theirs, that its domain is (`checker`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from callscope.contract import Case, Outcome, Record, ToolCalls
from callscope.importers.apibench import cases as _cases
from callscope.importers.apibench import results as _results
from callscope.importers.apibench.hubs import HUBS
from callscope.importers.apibench.loads import canonical
from callscope.importers.base import Answered, Imported, RecordedReader
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

NAME = _cases.NAME
TITLE = "APIBench (Gorilla)"
READER: RecordedReader = _results.Reader
EXPECTS = (
    "HUB_eval.json, and where they are there HUB_api.jsonl and questions_HUB_0_shot.jsonl; HUB is torchhub, "
    "huggingface or tensorflow"
)
EXPECTS_RESULTS = (
    'response_HUB_MODEL.jsonl, one object a line: {"question_id": 1, "text": "the answer"}; HUB is torchhub, '
    "huggingface or tensorflow"
)

_VERDICTS = {"nothing": "hallucination", "no_api_call": "no_api_call", "no_text": "no_text"}


def wanted(path: str) -> bool:
    """Whether a file is one of the published evaluation, API database or question files."""
    return _cases.kind_of(path) is not None


def read(files: Mapping[str, bytes]) -> Imported:
    """The published files as one suite a hub. Raises InputError naming file and line."""
    return _cases.read(files)


def wanted_results(path: str) -> bool:
    """Whether a file is named as recorded answers are, `response_<hub>_<model>.jsonl`."""
    return _results.results_of(path) is not None


def read_results(files: Mapping[str, bytes], cases: Mapping[str, Mapping[str, Case]]) -> tuple[Answered, ...]:
    """Recorded answers by model. Raises InputError for a file of which no row can be read."""
    return _results.read_results(files, cases)


def in_our_words(outcome: Outcome, case: Case) -> Outcome:
    """The outcome with calls that were read out of Python text as calls of the hub's tool."""
    hub = HUBS.get(str(case.metadata.get("benchmark", {}).get("hub")))
    if hub is None or not isinstance(outcome, ToolCalls) or _results.WRITTEN not in outcome.flags:
        return outcome
    return structs.replace(outcome, calls=tuple([canonical(hub, call) for call in outcome.calls]))


def verdict(record: Record, case: Case) -> tuple[bool | None, dict[str, Any]]:
    """What the published script says: `verdict` is correct, wrong (another domain), hallucination (no entry of the
    API database), no_api_call or no_text; None for a trial that is no recorded answer, and where the script crashes."""
    exchanges = record.rounds[0].exchanges if record.rounds else ()
    match = dict(exchanges[-1].response_headers).get(_results.MATCH) if exchanges else None
    try:
        found = parse_json(match).value if match is not None else None
    except JsonFault:
        found = None
    if not isinstance(found, dict):
        return None, {"why": "not_a_recorded_answer"}
    if found.get("found") == "crash":
        return None, {"why": "crash"}
    gold = case.metadata.get("benchmark", {}).get("domain")
    evidence = {name: found[name] for name in ("api_call", "domain") if name in found}
    if found.get("found") == "entry":
        said = "correct" if found.get("domain") == gold else "wrong"
    else:
        said = _VERDICTS.get(str(found.get("found")), "wrong")
    return said == "correct", {"verdict": said, "gold_domain": gold, **evidence}
