"""Resuming from any prefix of the log, torn or whole, gives the same run as never having stopped."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callscope
from callscope.capture.codec import decode_record, encode_record
from callscope.contract import Exchange, Round, TransportFault
from callscope.runs import Run, open_run
from tests.capture.helpers import logged_keys, small_suite, stand_in_model
from tests.stand_in import StandIn, by_rules


class Whole:
    """A finished run, and a server that stays at its address."""

    def __init__(self, folder: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(StandIn(by_rules).__aenter__())
        self.run = self.again(folder / "whole")
        self.log = (self.run.path / "records.jsonl").read_bytes()

    def again(self, out: Path) -> Run:
        models = [stand_in_model(self.server.url)]
        return self.loop.run_until_complete(callscope.arun(small_suite(), models=models, out=out, repeats=2))

    def close(self) -> None:
        self.loop.run_until_complete(self.server.__aexit__())
        self.loop.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    made = Whole(tmp_path_factory.mktemp("resume"))
    yield made
    made.close()


def judged(run: Run) -> list[tuple[object, ...]]:
    return [(one.verdict, one.outcome, one.measures.outcome_hash, one.measures.usage) for one in run.derived()]


@settings(max_examples=40)
@given(data=st.data())
def test_any_prefix_of_the_log_resumes_to_the_whole(whole: Whole, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(whole.log)))
    with TemporaryDirectory() as place:
        path = Path(place) / "run"
        shutil.copytree(whole.run.path, path)
        (path / "records.jsonl").write_bytes(whole.log[:cut])
        before = len(whole.server.seen)
        run = whole.again(path)
        assert len(whole.server.seen) - before == 10 - whole.log[:cut].count(b"\n")
        assert judged(run) == judged(whole.run)
        assert run.check().differing == ()
        assert set(logged_keys(path).values()) == {1}


def test_a_torn_tail_is_set_aside_not_thrown_away(whole: Whole, tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(whole.run.path, path)
    (path / "records.jsonl").write_bytes(whole.log[:-40])
    whole.again(path)
    torn = (path / "records.jsonl.torn").read_bytes()
    assert whole.log[:-40].endswith(torn.strip())


def test_the_last_observed_record_of_a_trial_wins(whole: Whole, tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(whole.run.path, path)
    folder = open_run(path).folder
    line = whole.log.splitlines()[0]
    record = decode_record(line, folder.blob)
    exchange: Exchange = record.rounds[0].exchanges[0]
    from msgspec import structs

    fault = TransportFault("timeout", "timeout_total", "late")
    lost = structs.replace(record, rounds=(Round((structs.replace(exchange, fault=fault, response=b""),)),))
    with (path / "records.jsonl").open("ab") as file:
        file.write(encode_record(lost, folder.keep))
    assert judged(open_run(path)) == judged(whole.run)
    with (path / "records.jsonl").open("ab") as file:
        file.write(line + b"\n")
    assert judged(open_run(path)) == judged(whole.run)


def test_verdicts_may_be_deleted_and_come_back_the_same(whole: Whole, tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(whole.run.path, path)
    kept = {name: (path / name).read_bytes() for name in ("verdicts.jsonl", "summary.json")}
    for name in kept:
        (path / name).unlink()
    assert open_run(path).check().missing == ("verdicts.jsonl", "summary.json")
    open_run(path).derive()
    assert {name: (path / name).read_bytes() for name in kept} == kept


@pytest.mark.parametrize("name", ["verdicts.jsonl", "summary.json"])
def test_a_changed_derived_file_is_found(whole: Whole, tmp_path: Path, name: str) -> None:
    path = tmp_path / "run"
    shutil.copytree(whole.run.path, path)
    (path / name).write_bytes((path / name).read_bytes().replace(b"1", b"2", 1))
    assert open_run(path).check().differing == (name,)


def test_a_changed_blob_is_refused(whole: Whole, tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(whole.run.path, path)
    largest = max((path / "blobs").iterdir(), key=lambda blob: blob.stat().st_size)
    largest.write_bytes(largest.read_bytes() + b" ")
    with pytest.raises(callscope.RunFolderError, match="have changed"):
        open_run(path).check()


def test_a_replayed_file_gives_the_same_report(whole: Whole, tmp_path: Path) -> None:
    file = tmp_path / "replayed.jsonl"
    whole.run.write_replayed(file)
    replayed = open_run(file)
    assert replayed.summary().to_bytes() == (whole.run.path / "summary.json").read_bytes()
    assert judged(replayed) == judged(whole.run)
    html = replayed.write_html(tmp_path / "a.html").read_bytes()
    assert html == whole.run.write_html(tmp_path / "b.html").read_bytes()


def test_summary_counts_add_up_to_the_trials_planned(whole: Whole) -> None:
    groups = whole.run.summary().data["groups"]
    assert sum(group["trials"]["planned"] for group in groups) == whole.run.folder.planned() == 10
    assert json.loads((whole.run.path / "summary.json").read_bytes())["trials"]["recorded"] == 10
