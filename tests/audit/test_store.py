"""Claims about an audit folder: answers survive any kill, what was sampled may not change, links are secret."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from review_kit import answer_all, desk, make_audit, reference_material

from callscope.audit.items import Answer
from callscope.audit.store import AuditFolder, check_names
from callscope.errors import EnvironmentProblem, InputError


@pytest.fixture
def folder(tmp_path: Path) -> AuditFolder:
    return make_audit(tmp_path / "audit", reference_material(desk(4, 2)), {"positive": 4, "negative": 2})


def answers_of(folder: AuditFolder, *words: str) -> dict[str, Answer]:
    return {
        item.id: Answer(item.id, {"need": word}, f"note {word}\u2028 \ud800", at="2026-08-01T10:00:00+00:00")
        for item, word in zip(folder.items, words, strict=False)
    }


def test_the_last_answer_of_an_item_stands_and_one_taken_back_is_none(folder: AuditFolder) -> None:
    first, second, third = (item.id for item in folder.items[:3])
    log = folder.log("ann")
    for answer in (
        Answer(first, {"need": "yes"}),
        Answer(second, {"need": "yes"}),
        Answer(first, {"need": "no"}),
        Answer(second, {}),
        Answer(third, {"need": "no"}, correction={"kind": "text"}),
    ):
        log.append(answer)
    log.close()
    assert AuditFolder.open(folder.path).answers("ann") == {
        first: Answer(first, {"need": "no"}),
        third: Answer(third, {"need": "no"}, correction={"kind": "text"}),
    }


def test_whatever_byte_a_kill_stops_at_the_whole_answers_are_read_and_writing_goes_on(folder: AuditFolder) -> None:
    said = answers_of(folder, "yes", "no", "yes")
    answer_all(folder, "ann", said)
    file = folder.path / "answers" / "ann.jsonl"
    whole = file.read_bytes()
    first, second, third = said
    starts = [0, *(place + 1 for place, byte in enumerate(whole) if byte == 10)]
    for end in range(len(whole) + 1):
        file.write_bytes(whole[:end])
        kept = sum(start <= end for start in starts[1:])
        assert list(folder.answers("ann")) == list(said)[:kept]
    file.write_bytes(whole[: starts[2] + 9])
    answer_all(folder, "ann", {third: said[third]})
    assert folder.answers("ann") == {first: said[first], second: said[second], third: said[third]}
    assert file.with_name("ann.jsonl.torn").read_bytes() == whole[starts[2] : starts[2] + 9] + b"\n"


WRITER = """
import sys
from pathlib import Path
from callscope.audit.items import Answer
from callscope.audit.store import AuditFolder
folder = AuditFolder.open(Path(sys.argv[1]))
log = folder.log("ann")
for number in range(100_000):
    item = folder.items[number % len(folder.items)].id
    log.append(Answer(item, {"need": "yes"}, f"{number}"))
    print(number, flush=True)
"""


def test_an_answer_that_was_confirmed_is_there_after_kill_9(folder: AuditFolder) -> None:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(folder.path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    confirmed = [int(process.stdout.readline()) for _ in range(25)]
    process.send_signal(signal.SIGKILL)
    confirmed += [int(line) for line in process.stdout.read().split()]
    process.stdout.close()
    process.wait()
    found = {int(answer.note) for answer in folder.answers("ann").values()}
    assert max(found) in {confirmed[-1], confirmed[-1] + 1}  # one may have been written and not yet confirmed
    answer_all(folder, "ann", answers_of(folder, "no"))
    assert folder.answers("ann")[folder.items[0].id].answers == {"need": "no"}


def test_a_line_in_the_middle_that_is_no_answer_is_named(folder: AuditFolder) -> None:
    answer_all(folder, "ann", answers_of(folder, "yes", "no"))
    file = folder.path / "answers" / "ann.jsonl"
    file.write_bytes(b"{}\n" + file.read_bytes())
    with pytest.raises(InputError, match=r"ann\.jsonl:1: is no answer"):
        folder.answers("ann")
    file.write_bytes(b'{"item": "elsewhere", "answers": {}}\n')
    with pytest.raises(InputError, match=r"ann\.jsonl:1: item: no item of this audit"):
        folder.answers("ann")


def test_what_was_sampled_may_not_change(folder: AuditFolder) -> None:
    file = folder.path / "items.jsonl"
    file.write_bytes(file.read_bytes().replace(b"Request 1", b"Request 7"))
    with pytest.raises(InputError, match=r"items\.jsonl: has changed since it was sampled"):
        AuditFolder.open(folder.path)


def test_a_folder_that_is_no_audit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is no audit folder \(no audit\.json\)"):
        AuditFolder.open(tmp_path)
    (tmp_path / "audit.json").write_text('{"schema": "callscope/audit/9"}')
    with pytest.raises(InputError, match="is no audit that this version reads"):
        AuditFolder.open(tmp_path)


def test_an_audit_is_never_written_over_something(folder: AuditFolder) -> None:
    with pytest.raises(InputError, match="is there already, and not empty"):
        make_audit(folder.path, reference_material(desk(4, 2)), {"positive": 1})


def test_only_one_process_adds_answers(folder: AuditFolder) -> None:
    with folder.lock(), pytest.raises(InputError, match="another process is writing"), folder.lock():
        raise AssertionError
    with folder.lock():
        pass


def test_links_outlive_the_server_are_random_and_the_owners_alone(folder: AuditFolder) -> None:
    first = folder.tokens(["ann", "ben"])
    assert folder.tokens(["ben", "cy"])["ben"] == first["ben"]
    assert len(set(folder.tokens(["ann", "ben", "cy"]).values())) == 3
    assert min(map(len, first.values())) >= 32
    assert (folder.path / "reviewers.json").stat().st_mode & 0o077 == 0


def test_the_adjudicator_is_no_reviewer(folder: AuditFolder) -> None:
    for name in ("ben", "adjudicator", "ann"):
        answer_all(folder, name, answers_of(folder, "yes"))
    folder.log("cy").close()
    assert folder.reviewers() == ("ann", "ben")


@pytest.mark.parametrize("names", [["../ann"], [""], ["ann", "Ann"], ["a" * 41], ["-x"], ["ann cy"], ["añn"]])
def test_a_name_that_cannot_name_a_file_is_refused(names: list[str]) -> None:
    with pytest.raises(InputError, match="reviewer"):
        check_names(names, field="--reviewers")


@pytest.mark.parametrize("name", ["ANN", "Ann", "Adjudicator", "ADJUDICATOR"])
def test_a_name_that_differs_by_case_alone_from_one_that_is_there_is_refused(folder: AuditFolder, name: str) -> None:
    answer_all(folder, "ann", answers_of(folder, "yes"))
    for known in ("ann", "adjudicator", "ben"):
        check_names([known], field="--reviewer", there=folder.known_names())
    with pytest.raises(InputError, match="differs from a known reviewer by case alone"):
        check_names([name], field="--reviewer", there=folder.known_names())


def test_files_beside_the_answers_are_no_reviewers(folder: AuditFolder) -> None:
    answer_all(folder, "ann", answers_of(folder, "yes"))
    for name in ("._ann.jsonl", ".jsonl", "the judge.jsonl", "ann.jsonl.torn", "ann.csv"):
        (folder.path / "answers" / name).write_bytes(b"\0\0")
    assert folder.reviewers() == ("ann",)


@pytest.mark.parametrize("said", [{"need": "maybe"}, {"attribution": "correct"}, {"nonsense": "yes"}])
def test_an_answer_outside_the_vocabulary_is_named_with_its_line(folder: AuditFolder, said: dict[str, str]) -> None:
    answer_all(folder, "adjudicator", {folder.items[0].id: Answer(folder.items[0].id, said)})
    with pytest.raises(InputError, match=r"adjudicator\.jsonl:1: \w+: this item is asked no such question"):
        folder.answers("adjudicator")


def test_links_stay_whole_where_new_ones_cannot_be_written(
    folder: AuditFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = folder.tokens(["ann", "ben"])

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(EnvironmentProblem, match="No space left"):
            folder.tokens(["cy"])
    assert folder.tokens(["ann", "ben"]) == first
    assert sorted(file.name for file in folder.path.iterdir() if "reviewers" in file.name) == ["reviewers.json"]


def test_an_audit_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    real, calls = os.fsync, 0

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls % 3 == 0:  # two of its files are there when the disk is full
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    for where in (tmp_path / "new" / "audit", tmp_path / "empty"):
        with pytest.raises(EnvironmentProblem, match="No space left"):
            make_audit(where, reference_material(desk(4, 2)), {"positive": 1})
    assert [file.name for file in tmp_path.rglob("*")] == ["empty"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_and_the_answer_is_not_confirmed(folder: AuditFolder) -> None:
    (folder.path / "answers" / "ann.jsonl").symlink_to("/dev/full")
    with pytest.raises(EnvironmentProblem, match="the answer was not saved"):
        answer_all(folder, "ann", answers_of(folder, "yes"))
