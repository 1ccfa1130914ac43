"""verdicts.jsonl: what was derived, one line a trial in plan order; may be deleted and rebuilt at any time.

A line holds the verdict's fields, then outcome, measures, transformations, notes and later outcomes. It may hold
anything a model
said, so it is read faithfully.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson

from callscope.capture.folder import VERDICTS, RunFolder, replacing
from callscope.contract import Derived, Ruling, TrialKey, Verdict, asked_under
from callscope.derive import derive
from callscope.errors import RunFolderError
from callscope.jsontext import MAX_DEPTH, dump_faithful, parse_json

__all__ = ["Rulings", "decode_derived", "derive_folder", "encode_derived", "read_derived", "write_verdicts"]

_VERDICT_FIELDS = Verdict.__struct_fields__


Rulings = Mapping[TrialKey, Sequence[Ruling]]
"""What a judge ruled, by trial."""

_NO_RULINGS: Rulings = {}


def derive_folder(folder: RunFolder, rulings: Rulings = _NO_RULINGS) -> Iterator[Derived]:
    """Derive every recorded trial of a run folder again from its bytes, in plan order."""
    cases = {name: {case.id: case for case in suite.cases} for name, suite in folder.suites.items()}
    prices = {ref.entry.label: ref.entry.prices for ref in folder.manifest.models}
    for trial, record in folder.records():
        key = trial.key
        case = asked_under(cases[key.suite][key.case_id], trial.block.settings.routing)
        yield derive(record, case, folder.suites[key.suite], prices=prices[key.model], rulings=rulings.get(key, ()))


def encode_derived(derived: Derived) -> bytes:
    """One line, newline included; the same bytes for the same value."""
    plain: dict[str, Any] = msgspec.to_builtins(derived)
    line = {**plain.pop("verdict"), **plain}
    try:
        return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a big integer or a lone surrogate that a model said
        return dump_faithful(line) + b"\n"


def decode_derived(line: bytes) -> Derived:
    """The reverse of `encode_derived`. Raises ValueError on anything else."""
    value = parse_json(line, max_depth=2 * MAX_DEPTH).value  # what a model said, inside our own levels
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    verdict = {name: value.pop(name) for name in _VERDICT_FIELDS if name in value}
    return msgspec.convert({"verdict": verdict, **value}, Derived)


def write_verdicts(folder: RunFolder, rulings: Rulings = _NO_RULINGS) -> Iterator[Derived]:
    """Derive all, write verdicts.jsonl whole or not at all, and yield each on the way."""
    path = folder.path / VERDICTS
    with replacing(path) as file:
        for derived in derive_folder(folder, rulings):
            file.write(encode_derived(derived))
            yield derived


def read_derived(path: Path, *, header_lines: int = 0) -> Iterator[Derived]:
    """The derived records of a verdicts file, or of one with so many lines of another kind before them.

    Raises RunFolderError naming the line that cannot be read.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read: {error.strerror}") from None
    with file:
        for number, line in enumerate(file, 1):
            if number <= header_lines:
                continue
            try:
                yield decode_derived(line)
            except ValueError as error:
                raise RunFolderError(f"{path}:{number}: is no derived record: {error}") from None
