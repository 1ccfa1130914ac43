"""Recorded answers in BFCL's result format: which case each answers, what it says, and what BFCL makes of it.

| in a file                                              | becomes                                                     |
|--------------------------------------------------------|-------------------------------------------------------------|
| a row whose id is a case's                             | its answer: the row's bytes, one part a turn in multi-turn  |
| "Error during inference: …", or no `result`            | a provider error: coverage loss, never an answer            |
| an id that is no case's, or one that was there before  | left out, with a note; the first row of an id counts,       |
|                                                        | unless it is such an error and a later one is not           |
| a line that is no JSON (a file that was cut off)       | left out, with a note; `NaN` in a field spoils that alone   |
| cases without a row                                    | not observed; the number is noted                           |

A model is called as its folder is, and by more of the path where two folders share the name; a file outside any folder
is of the model `recorded`. Version 1's rows count from 0 under `idx`; they answer the case of that number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from msgspec import structs

from callscope.contract import Case, ProviderError, Reading, ToolCalls, Usage
from callscope.errors import InputError
from callscope.importers.base import Answer, Answered
from callscope.importers.bfcl.catalogue import Language, ResultFile, language_of, model_labels, result_file, suite_name
from callscope.importers.bfcl.reading import INFERENCE_ERROR, read_calls
from callscope.importers.bfcl.rows import Row, rows_and_faults
from callscope.importers.bfcl.words import SOURCE_TEXT
from callscope.jsontext import JsonFault, dump_faithful, parse_json

__all__ = ["LANGUAGE", "MODEL", "READER", "RecordedResult", "read_results"]

MODEL = "bfcl-model"
LANGUAGE = "bfcl-language"
"""Headers of a recorded answer: the name of the folder it stood in, the language of its category."""

_SHOWN = 3
_TOKENS = ("input_token_count", "output_token_count")


def read_results(files: Mapping[str, bytes], cases: Mapping[str, Mapping[str, Case]]) -> tuple[Answered, ...]:
    """The recorded answers by model, in the order of their names; `cases`: suite -> id -> case.

    Raises InputError, naming the file, where a file of results holds no row at all that can be read.
    """
    found = [each for path in sorted(files) if (each := result_file(path)) is not None]
    labels = model_labels(each.folder for each in found)
    by_model: dict[str, list[ResultFile]] = {}
    for each in sorted(found, key=lambda one: (labels[one.folder], one.partial, one.path)):
        by_model.setdefault(labels[each.folder], []).append(each)
    return tuple(_Model(label, cases).read(listed, files) for label, listed in by_model.items())


class _Model:
    """The files of one model, read one after the other: whole ones first, then parts."""

    def __init__(self, label: str, cases: Mapping[str, Mapping[str, Case]]) -> None:
        self.label, self.cases = label, cases
        self.answers: dict[tuple[str, str], Answer] = {}
        self.failed: set[tuple[str, str]] = set()
        self.notes: list[str] = []
        self.suites: dict[str, None] = {}

    def read(self, listed: Iterable[ResultFile], files: Mapping[str, bytes]) -> Answered:
        for each in listed:
            name = suite_name(each.category)
            if name not in self.cases:
                self.notes.append(f"{each.path}: no cases of {each.category} were imported; left out")
                continue
            self.suites[name] = None
            self._file(each, name, files[each.path])
        for name in self.suites:
            there = sum(suite == name for suite, _ in self.answers)
            if there < len(self.cases[name]):
                missing = len(self.cases[name]) - there
                self.notes.append(
                    f"{name}: {there} of {len(self.cases[name])} cases are answered, {missing} are not observed"
                )
        return Answered(self.label, tuple(self.answers.values()), tuple(self.notes))

    def _file(self, file: ResultFile, name: str, data: bytes) -> None:
        rows, unreadable, unknown, repeated, retried = 0, 0, list[str](), list[str](), list[str]()
        first: InputError | None = None
        for found in rows_and_faults(file.path, data, bad_numbers=True):
            if isinstance(found, InputError):
                unreadable, first = unreadable + 1, first or found
                continue
            rows += 1
            identity = _identity(found, file.category)
            case = self.cases[name].get(identity)
            if case is None:
                unknown.append(f"{found.line} ({identity})")
            elif (name, identity) in self.answers and (name, identity) not in self.failed:
                repeated.append(f"{found.line} ({identity})")
            else:
                if (name, identity) in self.answers:
                    retried.append(f"{found.line} ({identity})")
                self._keep(file, name, found, case)
        if first is not None and not rows:
            raise first
        if first is not None:
            self.notes.append(f"{first}; left out" + (f", and {unreadable - 1} lines more" if unreadable > 1 else ""))
        self._note(file.path, unknown, "answer no case")
        self._note(file.path, repeated, "repeat an id; the first answer stays")
        self._note(file.path, retried, "are asked again after an error; the last of these counts")

    def _note(self, path: str, lines: list[str], what: str) -> None:
        if lines:
            more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
            self.notes.append(f"{path}: lines {', '.join(lines[:_SHOWN])}{more} {what}")

    def _keep(self, file: ResultFile, name: str, row: Row, case: Case) -> None:
        self.answers[name, case.id] = self._answer(file, name, row, case)
        if _is_failure(row.value.get("result")):
            self.failed.add((name, case.id))
        else:
            self.failed.discard((name, case.id))

    def _answer(self, file: ResultFile, name: str, row: Row, case: Case) -> Answer:
        model = PurePosixPath(file.folder).name or self.label
        headers = ((MODEL, model), (LANGUAGE, language_of(file.category)))
        return Answer(name, case.id, _parts(row, case), row.place, headers)


def _is_failure(result: Any) -> bool:
    """Whether a row holds no answer but what BFCL writes where the request failed, or nothing."""
    said = result if isinstance(result, list) and result else [result]
    return all(one is None or (isinstance(one, str) and one.startswith(INFERENCE_ERROR)) for one in said)


def _identity(row: Row, category: str) -> str:
    identity, number = row.value.get("id"), row.value.get("idx")
    if isinstance(identity, str):
        return identity
    return f"{category}_{number}" if isinstance(number, int) and identity is None else str(identity)


def _parts(row: Row, case: Case) -> tuple[bytes, ...]:
    """The row as it stands; for a case with turns a row a turn, with what was counted for it, and at least one."""
    result = row.value.get("result")
    if not case.turns or not isinstance(result, list) or not result:
        return (row.raw,)
    parts = []
    for number, steps in enumerate(result[: len(case.turns)]):
        part: dict[str, Any] = {"id": row.value.get("id"), "turn": number, "result": steps}
        for name in _TOKENS:
            counts = row.value.get(name)
            if isinstance(counts, list) and number < len(counts):
                part[name] = counts[number]
            elif counts is not None and not isinstance(counts, list) and number == 0:
                part[name] = counts
        parts.append(dump_faithful(part))
    return tuple(parts)


class RecordedResult:
    """Reads the row of a result file, or the part of it that is one turn."""

    def parse(
        self,
        status: int,  # noqa: ARG002
        headers: tuple[tuple[str, str], ...],
        body: bytes,
        *,
        stream: bool,  # noqa: ARG002
    ) -> Reading:
        """The reading of a row. Never raises, on any bytes."""
        try:
            parsed = parse_json(body, bad_numbers=True)
        except JsonFault as fault:
            return _unreadable(f"the recorded row is no JSON ({fault.reason})")
        row = parsed.value
        if not isinstance(row, dict):
            return _unreadable("the recorded row is no object")
        if "result" not in row:
            return Reading(ProviderError("provider_error", "no_result", "the recorded row holds no result"))
        language = _LANGUAGES.get(dict(headers).get(LANGUAGE, ""), "python")
        result = _joined(row["result"]) if "turn" in row else row["result"]
        outcome = read_calls(result, language)
        if language != "python" and isinstance(result, str) and isinstance(outcome, ToolCalls):
            outcome = structs.replace(outcome, flags=(*outcome.flags, SOURCE_TEXT))
        return Reading(outcome, _usage(row))


READER = RecordedResult()
_LANGUAGES: Mapping[str, Language] = {"java": "java", "javascript": "javascript"}


def _unreadable(message: str) -> Reading:
    return Reading(ProviderError("harness_error", "unreadable_record", message))


def _joined(steps: Any) -> Any:
    """The steps of a turn as one list: what was said before the first call, and all calls.

    A step is what a single-turn result is: a text, or a list of calls. Text that is calls, as prompted models write
    them, is read as such (`read_calls` does not look for calls in the texts of a list). Words after a call were said
    when the tool had answered; they are no claim about what is still to be done, and stay in the record alone.
    """
    if not isinstance(steps, list):
        return steps
    said: list[Any] = []
    called: list[Any] = []
    for step in steps:
        for item in step if isinstance(step, list) else (step,):
            read = read_calls(item, "python") if isinstance(item, str) else None
            if isinstance(read, ToolCalls):
                given = [(call.name, call.malformed.raw if call.malformed else call.arguments) for call in read.calls]
                called.extend({name: arguments} for name, arguments in given)
            elif not isinstance(item, str):
                called.append(item)
            elif not called:
                said.append(item)
    return [*said, *called]


def _usage(row: Mapping[str, Any]) -> Usage:
    """Tokens as recorded: a number, or nested lists of numbers to be added; 0 is 0, what is not there is unknown."""
    return Usage(input_tokens=_total(row.get(_TOKENS[0])), output_tokens=_total(row.get(_TOKENS[1])))


def _total(counted: Any) -> int | None:
    waiting, total, seen = [counted], 0, False
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, (int, float)) and not isinstance(one, bool) and one >= 0 and one == int(one):
            total, seen = total + int(one), True
        else:
            return None  # a number that JSON does not have is not >= 0
    return total if seen else None
