"""Claims about corrections: only what is settled comes into a suite, as a new version, and nothing else is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from review_kit import case, judge_material, make_audit, order, reference_material, suite_files

from callscope.audit.corrections import Corrections, corrected_files, settle, undecided
from callscope.audit.gold import read_gold
from callscope.audit.items import Answer
from callscope.audit.queue import disputed
from callscope.audit.store import AuditFolder
from callscope.canonical import sha256_hex
from callscope.contract import Suite
from callscope.errors import InputError
from callscope.suites import lint_suite, lint_version, load_suite_bytes
from callscope.suites.lint_base import Lintable

NEW: dict[str, Any] = {
    "kind": "tool",
    "name": "lookup_order",
    "arguments": {"required_equals": {"order_id": order(77)}},
}
OTHER: dict[str, Any] = {"kind": "text"}
GOOD = {"need": "yes", "target": "yes", "args": "yes"}
BAD = {"need": "yes", "target": "yes", "args": "no"}

Said = tuple[dict[str, str], dict[str, Any] | None]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return suite_files([case(1), case(2, prompt="größer — with  spaces"), case(3, "negative")])


@pytest.fixture(scope="module")
def suite(files: dict[str, bytes]) -> Suite:
    return load_suite_bytes(files)


@pytest.fixture(scope="module")
def reference(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> AuditFolder:
    path = tmp_path_factory.mktemp("a") / "audit"
    return make_audit(path, reference_material(suite), {"positive": 2, "negative": 1})


def item_of(folder: AuditFolder, case_id: str) -> str:
    return next(kept.item for kept in folder.sealed if kept.case_id == case_id)


def settled(folder: AuditFolder, reviewers: list[Said], decided: Said | None = None) -> Corrections:
    """What comes out for the first case where reviewers say this of it."""
    item = item_of(folder, "positive-0001")
    answers = {f"r{place}": {item: Answer(item, said, "", gold)} for place, (said, gold) in enumerate(reviewers)}
    adjudicated = {} if decided is None else {item: Answer(item, decided[0], "", decided[1])}
    return settle(folder.by_id, folder.sealed, answers, adjudicated)


@pytest.mark.parametrize(
    ("reviewers", "decided", "gold", "why"),
    [
        ([(GOOD, None), (GOOD, None)], None, None, None),
        ([(BAD, NEW), (BAD, None)], None, NEW, None),
        ([(BAD, NEW), (BAD, NEW)], None, NEW, None),
        ([(BAD, NEW), (BAD, OTHER)], None, None, "different gold"),
        ([(BAD, None), (BAD, None)], None, None, "args is wrong, and nobody wrote the right gold"),
        ([(BAD, NEW), (GOOD, None)], None, None, "reviewers differ on args"),
        ([(BAD, NEW), (GOOD, None)], (BAD, None), NEW, None),
        ([(BAD, NEW), (GOOD, None)], (GOOD, None), None, None),
        ([(BAD, None), (GOOD, None)], (GOOD, None), None, None),
        ([(BAD, NEW), (BAD, OTHER)], (BAD, OTHER), OTHER, None),
        ([(GOOD, None), (GOOD, None)], (BAD, NEW), NEW, None),
        ([(GOOD, NEW)], None, None, "nobody says that the present gold is wrong"),
        ([(GOOD, NEW)], (GOOD, None), None, None),
        ([], None, None, None),
    ],
)
def test_a_case_gets_new_gold_where_it_is_settled_and_is_open_where_it_is_not(
    reference: AuditFolder, reviewers: list[Said], decided: Said | None, gold: Any, why: str | None
) -> None:
    found = settled(reference, reviewers, decided)
    assert found.gold == ({} if gold is None else {"positive-0001": gold})
    assert bool(found.open) == (why is not None)
    assert why is None or why in found.open["positive-0001"]


def test_in_a_judges_audit_gold_counts_that_all_wrote_or_the_adjudicator(suite: Suite, tmp_path: Path) -> None:
    said = {each.id: "correct" for each in suite.cases}
    folder = make_audit(tmp_path / "a", judge_material(suite, said), {"correct": 3})
    one, none = ({"attribution": "correct"}, NEW), ({"attribution": "correct"}, None)
    assert settled(folder, [one, one]).gold == {"positive-0001": NEW}
    assert settled(folder, [none, none]) == Corrections({}, {})
    assert "only some reviewers" in settled(folder, [one, none]).open["positive-0001"]
    assert settled(folder, [one, none], ({}, OTHER)).gold == {"positive-0001": OTHER}
    assert settled(folder, [one, none], none) == Corrections({}, {})  # the adjudicator saw the gold, and wrote none


@pytest.mark.parametrize(
    "said", [[(BAD, None), (BAD, None)], [(GOOD, NEW)], [(BAD, NEW), (BAD, OTHER)], [(BAD, NEW), (GOOD, None)]]
)
def test_whatever_is_open_an_adjudicator_is_shown_and_can_settle(reference: AuditFolder, said: list[Said]) -> None:
    item = item_of(reference, "positive-0001")
    answers = {f"r{place}": {item: Answer(item, given, "", gold)} for place, (given, gold) in enumerate(said)}
    assert undecided(reference.items, answers) == {item}
    assert settled(reference, said, (GOOD, None)).open == {}
    assert settled(reference, said, (BAD, OTHER)).gold == {"positive-0001": OTHER}
    assert undecided(reference.items, {"r": {item: Answer(item, BAD, "", NEW)}}) == frozenset()


SET = {
    "name": "set_value",
    "description": "Set the value.",
    "parameters": {"type": "object", "properties": {"value": {}}, "required": ["value"], "additionalProperties": False},
}


def test_true_is_not_one_among_corrections(tmp_path: Path) -> None:
    expected = {"kind": "tool", "name": "set_value", "arguments": {"value": 2}}
    files = suite_files([case(1, expected=expected)]) | {"tools.core.json": json.dumps({"tools": [SET]}).encode()}
    folder = make_audit(tmp_path / "a", reference_material(load_suite_bytes(files)), {"positive": 1})
    (item,) = folder.items
    one, true = (
        read_gold(f'[{{"name": "set_value", "arguments": {{"value": {value}}}}}]', item) for value in ["1", "true"]
    )
    said = {name: {item.id: Answer(item.id, BAD, "", gold)} for name, gold in (("ann", one), ("ben", true))}
    assert settle(folder.by_id, folder.sealed, said, {}).open == {"positive-0001": "reviewers wrote different gold"}
    assert disputed(folder.items, said) == {item.id: ("correction",)}
    assert not said["ann"][item.id].same(said["ben"][item.id])


def corrected(
    suite: Suite, folder: AuditFolder, version: str = "1.1.0", gold: Any = NEW, **extra: bytes
) -> dict[str, bytes]:
    files = {name.replace("_", "."): data for name, data in extra.items()}
    return corrected_files(suite, files, folder.sealed, Corrections({"positive-0001": gold}, {}), version, "reviewed")


def test_a_new_version_changes_its_gold_its_version_and_nothing_else(
    suite: Suite, files: dict[str, bytes], reference: AuditFolder
) -> None:
    new = corrected(suite, reference)
    before, after = (each["cases.jsonl"].splitlines() for each in (files, new))
    assert before[1:] == after[1:]
    assert json.loads(after[0]) == json.loads(before[0]) | {"expected": NEW}
    assert list(json.loads(after[0])) == list(json.loads(before[0]))  # keys keep their places
    assert new["suite.toml"] == files["suite.toml"].replace(b"1.0.0", b"1.1.0")
    assert {name: new[name] for name in ("system.txt", "tools.core.json")} == {
        name: files[name] for name in ("system.txt", "tools.core.json")
    }
    assert load_suite_bytes(new).version == "1.1.0"
    history = json.loads(new["versions.json"])
    assert history["1.0.0"]["cases.jsonl"] == sha256_hex(files["cases.jsonl"])
    assert history["1.1.0"]["cases.jsonl"] == sha256_hex(new["cases.jsonl"])
    assert history["1.1.0"]["why"] == "reviewed"


def test_a_version_that_was_used_is_refused(suite: Suite, reference: AuditFolder) -> None:
    with pytest.raises(InputError, match="this version is there already"):
        corrected(suite, reference, "1.0.0")
    history = json.dumps({"0.9.0": {"cases.jsonl": "0" * 64}}).encode()
    with pytest.raises(InputError, match=r"this version is there already \(found 0\.9\.0\)"):
        corrected(suite, reference, "0.9.0", versions_json=history)
    assert list(json.loads(corrected(suite, reference, versions_json=history)["versions.json"])) == [
        "0.9.0",
        "1.0.0",
        "1.1.0",
    ]
    for version in ("", " ", " 2", "2\n", "2\ud800"):
        with pytest.raises(InputError, match="must be printable"):
            corrected(suite, reference, version)


@pytest.mark.parametrize(
    ("history", "says"),
    [
        (b"{", "this is no JSON"),
        (b"", "this is no JSON"),
        (b'{"0.9": "x"}', "must be an object of versions"),
        (b'{"0.9": {"why": "x"}}', "records no SHA-256"),
        (b'{"0.9": {"cases.jsonl": "a"}, "0.9": {"cases.jsonl": "b"}}', "stands here twice"),
    ],
)
def test_a_history_that_lint_would_refuse_is_not_written_on(
    suite: Suite, reference: AuditFolder, history: bytes, says: str
) -> None:
    with pytest.raises(InputError, match=rf"versions\.json: .*{says}"):
        corrected(suite, reference, versions_json=history)


CALL = {"item": "positive", "label": "call", "behaviour": "positive_selection"}
NONE = {"item": "global_negative", "label": "other_tool", "behaviour": "abstention", "negative_type": "B"}
ASKS = {"kind": "clarification", "missing": ["order_id"]}


@pytest.mark.parametrize(
    ("kind", "states", "gold", "becomes"),
    [
        (
            "positive",
            CALL,
            {"kind": "no_call"},
            {"item": "global_negative", "label": "no_tool", "behaviour": "abstention"},
        ),
        (
            "positive",
            CALL,
            ASKS,
            {"item": "underspecified", "label": "underspecified", "behaviour": "missing_information"},
        ),
        ("negative", NONE, NEW, CALL),
        ("negative", NONE, {"kind": "no_call"}, NONE),
        ("negative", NONE, {"kind": "no_call", "target": "lookup_order"}, NONE | {"item": "targeted_negative"}),
        ("positive", {"item": None}, {"kind": "no_call"}, {"item": None}),
        ("positive", {"label": "call"}, {"kind": "no_call"}, {"label": "no_tool"}),
        ("positive", {}, {"kind": "no_call"}, {}),
    ],
)
def test_what_a_case_states_of_itself_follows_its_gold(
    tmp_path: Path, kind: str, states: dict[str, Any], gold: dict[str, Any], becomes: dict[str, Any]
) -> None:
    suite = load_suite_bytes(suite_files([case(1, kind, **states)]))
    folder = make_audit(tmp_path / "a", reference_material(suite), {kind: 1})
    files = corrected_files(suite, {}, folder.sealed, Corrections({f"{kind}-0001": gold}, {}), "2", "why")
    new = json.loads(files["cases.jsonl"])
    assert {name: value for name, value in new.items() if name not in {"id", "prompt", "expected"}} == becomes
    assert [found.message for found in lint_suite(load_suite_bytes(files)) if found.severity == "error"] == []


def test_a_fault_that_was_there_before_does_not_hold_up_a_correction(tmp_path: Path) -> None:
    suite = load_suite_bytes(suite_files([case(1), case(2, prompt=case(1)["prompt"])]))
    assert [found.rule for found in lint_suite(suite) if found.severity == "error"] == ["duplicate-prompt"]
    folder = make_audit(tmp_path / "a", reference_material(suite), {"positive": 2})
    files = corrected_files(suite, {}, folder.sealed, Corrections({"positive-0002": NEW}, {}), "2", "why")
    assert json.loads(files["cases.jsonl"].splitlines()[1])["expected"] == NEW


def test_gold_that_the_tool_refuses_is_refused(suite: Suite, reference: AuditFolder) -> None:
    wrong = {"kind": "tool", "name": "lookup_order", "arguments": {"required_equals": {"order_id": "77"}}}
    with pytest.raises(InputError, match=r"cases\.jsonl:1: expected\.arguments: the corrected gold is wrong"):
        corrected(suite, reference, gold=wrong)
    with pytest.raises(InputError, match="there is no such tool"):
        corrected(suite, reference, gold={**wrong, "name": "look_up"})


def test_a_case_that_changed_since_it_was_reviewed_is_refused(files: dict[str, bytes], reference: AuditFolder) -> None:
    changed = files | {"cases.jsonl": files["cases.jsonl"].replace(b"Request 1", b"Please: request 1")}
    with pytest.raises(InputError, match="this case is not the one that was reviewed"):
        corrected(load_suite_bytes(changed), reference)
    gone = files | {"cases.jsonl": b"\n".join(files["cases.jsonl"].splitlines()[1:])}
    with pytest.raises(InputError, match="the suite has no such case"):
        corrected(load_suite_bytes(gone), reference)


@pytest.mark.parametrize(
    "toml", [b"", b'name = "desk"\n', b'version="1.0.0" # why\r\nname = "desk"\r\n', b"'version' = '1.0.0'\n"]
)
def test_the_version_is_set_however_suite_toml_states_it(files: dict[str, bytes], toml: bytes, tmp_path: Path) -> None:
    suite = load_suite_bytes(files | {"suite.toml": toml}, name="desk")
    folder = make_audit(tmp_path / "a", reference_material(suite), {"positive": 2})
    assert load_suite_bytes(corrected(suite, folder)).version == "1.1.0"


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("", None),
        ("[]", {"kind": "no_call"}),
        ('[{"name": "lookup_order", "arguments": {"order_id": "ORD-000077"}}]', NEW),
        ('{"kind": "tool", "name": "lookup_order", "arguments": {"required_equals": {"order_id": "ORD-000077"}}}', NEW),
        ('{"kind": "text"}', OTHER),
    ],
)
def test_gold_may_be_written_short(reference: AuditFolder, written: str, means: Any) -> None:
    assert read_gold(written, reference.items[0]) == means


@pytest.mark.parametrize(
    "written", ["{", "null", "5", "[5]", '[{"name": "look_up", "arguments": {}}]', '{"kind": "sing"}']
)
def test_gold_that_cannot_be_read_is_refused(reference: AuditFolder, written: str) -> None:
    with pytest.raises(InputError, match="correction"):
        read_gold(written, reference.items[0])


# --------------------------------------------------------------------------------------------------- lint of versions


def lint(suite: Suite, **sources: bytes | None) -> list[tuple[str, str, str]]:
    """The findings of the version rule on this suite with these files in place of its own."""
    changed = {name.replace("__", "."): data for name, data in sources.items()}
    files = {name: data for name, data in {**suite.sources, **changed}.items() if data is not None}
    (rule,) = lint_version.RULES
    spots = rule.check(Lintable(replace(suite, sources=files)))
    return [(spot.severity or rule.severity, spot.file, spot.message) for spot in spots]


def test_cases_that_change_without_a_new_version_are_an_error(suite: Suite, reference: AuditFolder) -> None:
    files = corrected(suite, reference)
    new = load_suite_bytes(files)
    versions = files["versions.json"]
    assert lint(suite) == []  # held to nothing
    assert lint(new, versions__json=versions) == []
    ((severity, file, message),) = lint(new, versions__json=versions, cases__jsonl=files["cases.jsonl"] + b"\n")
    assert (severity, file) == ("error", "cases.jsonl")
    assert "has changed, but the version is still 1.1.0" in message
    ((severity, file, _),) = lint(new, versions__json=versions, system__txt=b"another")
    assert (severity, file) == ("error", "system.txt")
    ((_, _, message),) = lint(new, versions__json=versions, system__txt=None)
    assert "is not there any more" in message
    ((severity, file, message),) = lint(new, versions__json=versions, fakes__json=b"{}")  # nobody recorded it
    assert (severity, file) == ("warning", "versions.json")
    assert "records no SHA-256 of fakes.json" in message
    ((severity, file, message),) = lint(replace(new, version="2.0"), versions__json=versions)
    assert (severity, file) == ("warning", "versions.json")
    assert "version 2.0 is not recorded" in message


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "no JSON"),
        (b"[]", "must be an object of versions"),
        (b'{"1.0.0": "x"}', "must be an object of versions"),
        (b'{"1.0.0": {"why": "x"}}', "records no SHA-256"),
        (b'{"1": {"cases.jsonl": "x"}, "1": {"cases.jsonl": "y"}}', "stands here twice"),
    ],
)
def test_a_history_that_cannot_be_read_is_an_error(suite: Suite, data: bytes, says: str) -> None:
    ((severity, file, message),) = lint(suite, versions__json=data)
    assert (severity, file) == ("error", "versions.json")
    assert says in message
