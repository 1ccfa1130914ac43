"""Which judge a run folder applies, and its rulings read from disk: the judge's own run folders, and the run's records.

    RUN/judge.json               the judge that applies, if any, and what it made of the run when it was applied
    RUN/judge/<name>/round-<n>   the judge's calls, each an ordinary run folder

The rulings are computed again each time from these bytes; of judge.json only `applied`, `kind` and `scope` are used.
Calls nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct, structs

from callscope.canonical import sha256_hex
from callscope.capture.folder import RunFolder, write_atomically
from callscope.capture.verdicts import Rulings
from callscope.contract import (
    Case,
    Manifest,
    Outcome,
    ProviderError,
    Record,
    Suite,
    Text,
    ToolCalls,
    asked_under,
)
from callscope.derive import read_record
from callscope.errors import RunFolderError
from callscope.jsontext import dump_faithful
from callscope.judge.answered import Answers, Counts, Judged, answers_by_rules, judged, read_answers
from callscope.judge.answers import read_answer
from callscope.judge.calibration import Calibration
from callscope.judge.docket import Docket, Scope, make_docket
from callscope.judge.rules import RULES
from callscope.judge.suite import Put, put_of

__all__ = [
    "FOLDER_NAME",
    "JUDGE_FILE",
    "Example",
    "JudgeFile",
    "answers_in",
    "docket_of",
    "judge_folder",
    "judge_now",
    "judged_now",
    "next_round",
    "read_judge_file",
    "rounds_of",
    "rulings_for",
    "unreadable_example",
    "who",
    "write_judge_file",
]

JUDGE_FILE = "judge.json"
FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""What a judge's folder may be called."""

_ROUND = re.compile(r"round-([1-9][0-9]{0,5})")


class JudgeFile(Struct, frozen=True):
    """judge.json. `applied` is the name of the judge whose rulings count, None where none does.

    The rest says what that judge was, and is None or empty where none was ever applied: `judge` names it as verdicts
    do; `prompts` and `sentinels` are SHA-256 hashes of the exact files it was asked with.
    """

    schema: Literal["callscope/judge/1"]
    applied: str | None
    kind: Literal["model", "rules"]
    judge: str
    scope: Scope
    counts: Counts
    calibration: Calibration
    prompts: dict[str, str] = {}
    sentinels: str = ""

    def asked(self) -> str:
        """What was put to it, in words."""
        opened = {"text": "free strings too", "declared": "declared free text", None: "by suite"}[self.scope.open]
        bounds = ", every open argument" if self.scope.all else ""
        return f"{opened}{bounds}" + (f", {self.scope.limit} questions at most" if self.scope.limit else "")

    def prompt_hash(self) -> str:
        """One hash over all its prompt files; empty for the judge of rules."""
        return (
            sha256_hex("".join(f"{n} {h}\n" for n, h in sorted(self.prompts.items())).encode()) if self.prompts else ""
        )


def read_judge_file(run: Path) -> JudgeFile | None:
    """judge.json of a run folder; None where there is none. Raises RunFolderError where it cannot be read."""
    path = run / JUDGE_FILE
    try:
        file = msgspec.json.decode(path.read_bytes(), type=JudgeFile)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunFolderError(f"{path}: cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise RunFolderError(
            f"{path}: is nothing that this version reads: {error}. `callscope judge {run} --off` sets it aside"
        ) from None
    fault = _contradiction(file)
    if fault is not None:
        raise RunFolderError(f"{path}: does not hold together: {fault}. `callscope judge {run} --off` sets it aside")
    return file


def _contradiction(file: JudgeFile) -> str | None:
    """What in a judge.json was not written by callscope, in words."""
    if file.applied is not None and not FOLDER_NAME.fullmatch(file.applied):
        return "applied is no name of a judge's folder"
    if file.applied is not None and (file.applied == RULES) != (file.kind == "rules"):
        return f"applied and kind say different things ({file.applied} and {file.kind})"
    if file.scope.limit is not None and file.scope.limit < 1:
        return f"scope.limit is {file.scope.limit}"
    return None


def write_judge_file(run: Path, file: JudgeFile) -> None:
    """Write judge.json, whole or not at all."""
    write_atomically(run / JUDGE_FILE, msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n")


def judge_folder(run: Path, name: str) -> Path:
    """Where a judge's calls on a run are."""
    return run / "judge" / name


def rounds_of(folder: Path) -> list[RunFolder]:
    """The rounds of a judge's folder, in order; none where it is not there. Raises RunFolderError for one that is no
    run folder."""
    found = sorted(
        (int(match[1]), path)
        for path in (folder.iterdir() if folder.is_dir() else ())
        if (match := _ROUND.fullmatch(path.name)) and (path / "manifest.json").exists()
    )
    return [RunFolder.open(path) for _, path in found]


def next_round(folder: Path) -> Path:
    """Where a judge's next round goes: after every one there is, those included that a kill left without a manifest."""
    there = [int(match[1]) for path in folder.glob("round-*") if (match := _ROUND.fullmatch(path.name))]
    return folder / f"round-{max(there, default=0) + 1}"


def who(manifest: Manifest) -> str:
    """How verdicts name the model that judged: its label, and whether it is a stand-in."""
    entry = manifest.models[0].entry
    return f"{entry.label} (stand-in)" if entry.stand_in else entry.label


def docket_of(folder: RunFolder, scope: Scope) -> Docket:
    """What a run folder asks of a judge."""
    return make_docket(_cases(folder), scope)


def _cases(folder: RunFolder) -> Iterator[tuple[Record, Case, Suite]]:
    cases = {name: {case.id: case for case in suite.cases} for name, suite in folder.suites.items()}
    for trial, record in folder.records():
        case = asked_under(cases[trial.key.suite][trial.key.case_id], trial.block.settings.routing)
        yield record, case, folder.suites[trial.key.suite]


def answers_in(rounds: Sequence[RunFolder]) -> Answers:
    """Everything that a judge's rounds asked, and what was answered."""
    return read_answers(call for folder in rounds for call in _calls(folder))


def _calls(folder: RunFolder) -> Iterator[tuple[Put, Outcome | None]]:
    puts = {case.id: put for suite in folder.suites.values() for case in suite.cases if (put := put_of(case))}
    outcomes = {record.key.case_id: read_record(record)[0].outcome for _, record in folder.records()}
    for case_id, put in puts.items():
        outcome = outcomes.get(case_id)
        yield put, None if isinstance(outcome, ProviderError) else outcome


class Example(NamedTuple):
    """An answer that could not be read: the round it is in, why (`answers`), and what was answered, as text."""

    round: Path
    why: str
    answer: str


def unreadable_example(rounds: Sequence[RunFolder]) -> Example | None:
    """The first answer of a judge's rounds that could not be read; None where there is none."""
    for folder in rounds:
        for put, outcome in _calls(folder):
            said = None if outcome is None else read_answer(outcome, put.question)
            if outcome is not None and said is not None and said.verdict == "unreadable":
                return Example(folder.path, said.reason, _as_text(outcome))
    return None


def _as_text(outcome: Outcome) -> str:
    if isinstance(outcome, Text):
        return outcome.text
    if isinstance(outcome, ToolCalls):
        return " ".join(f"{call.name}({dump_faithful(call.arguments).decode()})" for call in outcome.calls)
    return dump_faithful(msgspec.to_builtins(outcome)).decode()


def judged_now(folder: RunFolder, name: str, kind: str, scope: Scope) -> tuple[Docket, Judged, str]:
    """What a judge of this name makes of a run, by what is on disk now, and how verdicts name it.

    Raises RunFolderError where the judge's calls are not there.
    """
    docket = docket_of(folder, scope)
    if kind == RULES:
        return docket, judged(docket, answers_by_rules(docket), RULES), RULES
    rounds = rounds_of(judge_folder(folder.path, name))
    if not rounds:
        raise RunFolderError(
            f"{folder.path / JUDGE_FILE}: applies the judge {name}, whose calls are not in "
            f"{judge_folder(folder.path, name)}. `callscope judge {folder.path} --off` returns to the rules alone"
        )
    judge = who(rounds[0].manifest)
    return docket, judged(docket, answers_in(rounds), judge), judge


def judge_now(folder: RunFolder) -> JudgeFile | None:
    """The judge that applies to a run folder, None for the rules alone. What it made of the run is computed from its
    calls, whatever judge.json says of that. Raises as `rulings_for`."""
    file = read_judge_file(folder.path)
    if file is None or file.applied is None:
        return None
    _, made, judge = judged_now(folder, file.applied, file.kind, file.scope)
    return structs.replace(file, judge=judge, counts=made.counts, calibration=made.calibration)


def rulings_for(folder: RunFolder) -> Rulings:
    """The rulings that apply to a run folder, by trial; none where no judge does.

    Raises RunFolderError where judge.json, or the judge's calls, cannot be read.
    """
    file = read_judge_file(folder.path)
    if file is None or file.applied is None:
        return {}
    return judged_now(folder, file.applied, file.kind, file.scope)[1].rulings
