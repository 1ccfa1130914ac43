"""What reviewers settled -> a new version of the suite. Pure; nothing is changed in place, nothing is guessed.

| reviewers say                                  | adjudicator says | the case                                      |
|------------------------------------------------|------------------|-----------------------------------------------|
| valid, all                                     |                  | stays                                         |
| not valid, all; one gold, or the same gold     |                  | gets that gold                                |
| not valid, all; none wrote gold, or two differ |                  | is open                                       |
| differ in a question                           |                  | is open                                       |
| anything                                       | valid            | stays                                         |
| anything                                       | not valid        | gets the adjudicator's gold, else as above    |

In an audit of a judge nobody is asked whether the gold is valid: there a case gets a gold that the adjudicator wrote,
or that every reviewer of it wrote alike; gold that only some wrote leaves it open until the adjudicator has answered:
without gold, the case stays. Of a case that was sampled more than once, all trials that were given gold must have been
given the same. What is open is named, and stops the new version unless that is asked for.

What a case states of itself follows its gold: an `item` or `label` that the new gold contradicts becomes what that
gold makes it, a `negative_type` goes where a call is now due.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from callscope.audit.items import Answer, AuditItem, Sealed, same_gold
from callscope.audit.material import case_hash
from callscope.audit.queue import complete
from callscope.canonical import sha256_hex
from callscope.contract import LABEL_OF, LABELS_OF, Behaviour, Expectation, Item, Suite, implied_item
from callscope.errors import InputError
from callscope.jsontext import dump_faithful, parse_json
from callscope.suites import SuiteFaults, lint_suite, load_suite_bytes
from callscope.suites.lint_version import RECORDED, VERSIONS, read_history

__all__ = ["Corrections", "corrected_files", "settle", "undecided"]


_EXPECTATION: Any = Expectation

_PLAIN: Mapping[Item, Behaviour] = {
    "positive": "positive_selection",
    "underspecified": "missing_information",
    "targeted_negative": "abstention",
    "global_negative": "abstention",
}
"""The behaviour class of a case whose gold became one of another kind."""


class Corrections(NamedTuple):
    """What came out of an audit for one suite: case id -> new gold, and case id -> why it is still open."""

    gold: dict[str, dict[str, Any]]
    open: dict[str, str]


def settle(
    items: Mapping[str, AuditItem],
    sealed: Sequence[Sealed],
    answers: Mapping[str, Mapping[str, Answer]],
    decided: Mapping[str, Answer],
) -> Corrections:
    """The corrections of the cases in `sealed`, which are of one suite. `answers`: reviewer -> item -> answer."""
    gold: dict[str, dict[str, Any]] = {}
    open_: dict[str, str] = {}
    for kept in sealed:
        given = [mine[kept.item] for mine in answers.values() if kept.item in mine]
        found = _settled(items[kept.item], given, decided.get(kept.item))
        if isinstance(found, str):
            open_[kept.case_id] = found
        elif found is not None and not same_gold(gold.setdefault(kept.case_id, found), found):
            open_[kept.case_id] = "its trials were given different gold"
    return Corrections({case: new for case, new in gold.items() if case not in open_}, open_)


def undecided(items: Sequence[AuditItem], answers: Mapping[str, Mapping[str, Answer]]) -> frozenset[str]:
    """The ids of the items that only an adjudicator can settle: those that `settle` would leave open, for now."""
    given = {item.id: [mine[item.id] for mine in answers.values() if item.id in mine] for item in items}
    return frozenset(item.id for item in items if isinstance(_settled(item, given[item.id], None), str))


def _settled(item: AuditItem, given: Sequence[Answer], decided: Answer | None) -> dict[str, Any] | str | None:
    """The new gold of one item, None where it stays, or why it is open."""
    written = [answer.correction for answer in given if answer.correction is not None]
    same = all(same_gold(gold, written[0]) for gold in written)
    if decided is not None and decided.correction is not None:
        return decided.correction
    if item.predicted is not None:  # an audit of a judge
        if not written or (same and len(written) == len(given)):
            return written[0] if written else None
        if complete(item, decided):
            return None
        return "only some reviewers wrote gold, or not the same"
    settled = {}
    for name in item.asked:
        said = {answer.answers[name] for answer in given if name in answer.answers}
        said = {decided.answers[name]} if decided is not None and name in decided.answers else said
        if len(said) > 1:
            return f"reviewers differ on {name}"
        settled[name] = next(iter(said), None)
    if "no" not in settled.values():
        if complete(item, decided):
            return None
        return "it has gold by a reviewer, and nobody says that the present gold is wrong" if written else None
    rejected = ", ".join(name for name, answer in settled.items() if answer == "no")
    if not written:
        return f"{rejected} is wrong, and nobody wrote the right gold"
    return written[0] if same else "reviewers wrote different gold"


def corrected_files(
    suite: Suite, extra: Mapping[str, bytes], sealed: Sequence[Sealed], corrections: Corrections, version: str, why: str
) -> dict[str, bytes]:
    """The files of the new version: its changed lines of cases.jsonl, its version, and versions.json with its history.

    `extra` holds a versions.json that stands in the folder. Every line that is not corrected stays byte for byte.

    Raises InputError: the version is the suite's own, or was used before; versions.json is no history; a case is not in
    the suite or not the one that was reviewed; the new gold does not load, or lint finds an error in it that was not
    there before.
    """
    history = _history(extra.get(VERSIONS, suite.sources.get(VERSIONS)))
    if not version or version != version.strip() or not version.isprintable():
        raise InputError("must be printable, without blanks around it", field="--version", found=version)
    if version == suite.version or version in history:
        hint = "Changed cases are another version: choose one that was never used"
        raise InputError("this version is there already", field="--version", found=version, hint=hint)
    _check_cases(suite, sealed, corrections)
    files = {name: data for name, data in suite.sources.items() if name != VERSIONS}
    history.setdefault(suite.version, {**_hashes(files), "why": "as found when it was first corrected"})
    files["cases.jsonl"] = _cases(files["cases.jsonl"], corrections.gold)
    files["suite.toml"] = _toml(files.get("suite.toml", b""), version)
    new = load_suite_bytes(files, name=suite.name)
    if new.version != version:
        raise InputError(
            "the version in suite.toml could not be set", file="suite.toml", found=new.version, expected=version
        )
    before = {(found.case_id, found.rule, found.message) for found in lint_suite(suite)}
    wrong = [
        InputError(f"the corrected gold is wrong: {found.message}", file=found.file, line=found.line, field=found.field)
        for found in lint_suite(new)
        if found.severity == "error"
        and found.case_id in corrections.gold
        and (found.case_id, found.rule, found.message) not in before
    ]
    if wrong:
        raise SuiteFaults(wrong)
    history[version] = {**_hashes(files), "why": why}
    files[VERSIONS] = dump_faithful(history, indent=2) + b"\n"
    return files


def _check_cases(suite: Suite, sealed: Sequence[Sealed], corrections: Corrections) -> None:
    cases = {case.id: case for case in suite.cases}
    for kept in sealed:
        if kept.case_id not in corrections.gold:
            continue
        case = cases.get(kept.case_id)
        if case is None:
            raise InputError("the suite has no such case", file="cases.jsonl", field="id", found=kept.case_id)
        if case_hash(case) != kept.case_sha256:
            hint = "Correct the version that was audited, or audit this one"
            raise InputError("this case is not the one that was reviewed", file="cases.jsonl", found=case.id, hint=hint)
        if case.turns:
            raise InputError(
                "the gold of a conversation stands in its turns, and is corrected by hand",
                file="cases.jsonl",
                found=case.id,
            )


def _cases(data: bytes, gold: Mapping[str, dict[str, Any]]) -> bytes:
    lines = data.split(b"\n")
    for place, line in enumerate(lines):
        text = line.decode("utf-8").removeprefix("\ufeff")
        if not text.strip():
            continue
        case = parse_json(text).value
        if case["id"] in gold:
            lines[place] = dump_faithful(_following(case | {"expected": gold[case["id"]]}))
            lines[place] += b"\r" if line.endswith(b"\r") else b""
    return b"\n".join(lines)


def _following(case: dict[str, Any]) -> dict[str, Any]:
    """The case with what it states of itself brought in line with its gold, where the two contradict each other."""
    try:
        item = implied_item(msgspec.convert(case["expected"], _EXPECTATION))
    except msgspec.ValidationError:
        return case  # loading says what is wrong with it
    if case.get("item") not in (None, item):
        case["item"] = item
        if "behaviour" in case:
            case["behaviour"] = _PLAIN[item]
    if case.get("label") is not None and case["label"] not in LABELS_OF[item]:
        case["label"] = LABEL_OF[item]
    if item in ("positive", "underspecified"):
        case.pop("negative_type", None)
    return case


def _toml(data: bytes, version: str) -> bytes:
    """suite.toml with this version: its line replaced where there is one, else a first line."""
    text = data.decode("utf-8").removeprefix("\ufeff")
    line = f"version = {json.dumps(version, ensure_ascii=False)}"
    new, count = re.subn(
        r"""(?m)^[ \t]*(?:version|"version"|'version')[ \t]*=.*?(?=\r?$)""", lambda _: line, text, count=1
    )
    return (new if count else f"{line}\n{text}").encode("utf-8")


def _hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: sha256_hex(files[name]) for name in RECORDED if name in files}


def _history(data: bytes | None) -> dict[str, Any]:
    history = {} if data is None else read_history(data)
    if isinstance(history, str):
        raise InputError(history, file=VERSIONS)
    return history
