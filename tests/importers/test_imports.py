"""Importing from and into real folders: odd ones are refused by name or read whole, and an import that dies says so."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callscope.cli import main
from callscope.contract import Derived
from callscope.errors import InputError, RunFolderError
from callscope.importers.registry import expected_files
from callscope.imports import ImportedRun, Score, import_results, import_suites, scores, write_suites
from callscope.runs import open_run

CASES = "BFCL_v4_simple_python.json"
GOLD = f"possible_answer/{CASES}"
RESULT = "BFCL_v4_simple_python_result.json"
FUNCTION = {
    "name": "f",
    "description": "d",
    "parameters": {"type": "dict", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
}
RIGHT = [{"f": '{"x": 1}'}]


def lines(*rows: Any) -> bytes:
    return b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)


def case(identity: str) -> dict[str, Any]:
    return {"id": identity, "question": [[{"role": "user", "content": "Do"}]], "function": [FUNCTION]}


def gold(identity: str) -> dict[str, Any]:
    return {"id": identity, "ground_truth": [{"f": {"x": [1]}}]}


def answer(identity: str, result: Any = RIGHT, **more: Any) -> dict[str, Any]:
    return {"id": identity, "result": result, **more}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of BFCL's with two cases, a and b."""
    where = tmp_path / "data"
    put(where / CASES, lines(case("a"), case("b")))
    put(where / GOLD, lines(gold("a"), gold("b")))
    return where


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder of results with one model's right answers."""
    where = tmp_path / "results"
    put(where / "m-FC" / RESULT, lines(answer("a"), answer("b")))
    return where


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def verdicts(made: ImportedRun) -> dict[tuple[str, str], Derived]:
    return {(each.verdict.model, each.verdict.case_id): each for each in made.run.derived()}


def passed(made: ImportedRun) -> dict[tuple[str, str], tuple[object, object]]:
    return {key: (each.verdict.passed, each.compatible_passed) for key, each in verdicts(made).items()}


# -- what is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "model"),
    [
        ("results", "m-FC"),
        ("results/m-FC", "m-FC"),
        ("results/m-FC/non_live", "m-FC"),
        (f"results/m-FC/non_live/{RESULT}", "m-FC"),
    ],
)
def test_a_model_is_named_after_its_folder_however_its_results_are_given(
    data: Path, tmp_path: Path, given: str, model: str
) -> None:
    put(tmp_path / "results" / "m-FC" / "non_live" / RESULT, lines(answer("a"), answer("b")))
    made = import_results("bfcl", data, tmp_path / given, tmp_path / "run")
    assert passed(made) == {(model, "a"): (True, True), (model, "b"): (True, True)}


def test_one_file_of_cases_finds_its_gold_beside_it(data: Path) -> None:
    (suite,) = import_suites("bfcl", data / CASES).suites
    assert suite.name == "bfcl-simple_python"
    assert suite == import_suites("bfcl", data).suites[0]


def test_a_number_that_json_does_not_have_spoils_its_own_field_alone(data: Path, tmp_path: Path) -> None:
    rows = (
        b'{"id": "a", "result": [{"f": "{\\"x\\": 1}"}], "latency": NaN, "input_token_count": Infinity}',
        b'{"id": "b", "result": [{"f": {"x": NaN}}]}',
    )
    put(tmp_path / "results" / "m-FC" / RESULT, lines(*rows))
    made = import_results("bfcl", data, tmp_path / "results", tmp_path / "run")
    found = verdicts(made)
    assert (found["m-FC", "a"].verdict.passed, found["m-FC", "b"].verdict.passed) == (True, False)
    assert found["m-FC", "b"].verdict.structure == "malformed"


def test_an_answer_counts_before_an_error_of_the_same_id(data: Path, tmp_path: Path) -> None:
    failed = answer("a", "Error during inference: Error code: 500")
    wrong = [{"f": '{"x": 2}'}]
    put(tmp_path / "results" / "m-FC" / RESULT, lines(failed, answer("a"), answer("a", wrong), answer("b"), failed))
    made = import_results("bfcl", data, tmp_path / "results", tmp_path / "run")
    assert passed(made) == {("m-FC", "a"): (True, True), ("m-FC", "b"): (True, True)}
    assert any("lines 2 (a) are asked again after an error" in note for note in made.notes)
    assert any("lines 3 (a), 5 (a) repeat an id" in note for note in made.notes)


@pytest.mark.parametrize("folder", ["a\nb", "tab\there", "日本", "\x1b[31mred"])
def test_what_of_a_folders_name_cannot_be_printed_is_escaped_everywhere(
    data: Path, tmp_path: Path, folder: str
) -> None:
    put(tmp_path / "results" / folder / RESULT, lines(answer("a")))
    made = import_results("bfcl", data, tmp_path / "results", tmp_path / "run")
    (ref,) = made.run.manifest.models
    assert ref.entry.model.isprintable()
    assert all(note.isprintable() for note in made.notes)
    assert passed(made) == {(ref.entry.model, "a"): (True, True)}


def test_a_folders_name_that_is_no_utf8_is_read_and_escaped(data: Path, tmp_path: Path) -> None:
    put(Path(os.fsdecode(os.fsencode(tmp_path / "results") + b"/m\xff"), RESULT), lines(answer("a")))
    made = import_results("bfcl", data, tmp_path / "results", tmp_path / "run")
    assert passed(made) == {("m\\xdcff", "a"): (True, True)}


# -- what is refused -------------------------------------------------------------------------------------------------


def refused(run: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        run()
    return caught.value


@pytest.mark.parametrize(
    ("identity", "says"), [("a b\n", "printable"), ("", "printable"), ("\ud800", "printable"), ("a\0b", "printable")]
)
def test_an_id_that_cannot_be_shown_is_refused_where_it_was_published(data: Path, identity: str, says: str) -> None:
    put(data / CASES, lines(case("a"), case(identity)))
    error = refused(lambda: import_suites("bfcl", data))
    assert (error.file, error.line, error.field) == (CASES, 2, "id")
    assert says in str(error)


@pytest.mark.parametrize("kind", ["folder_outside", "file_outside", "nowhere", "fifo"])
@pytest.mark.parametrize("which", ["data", "results"])
def test_nothing_wanted_is_passed_over_in_silence(
    data: Path, results: Path, tmp_path: Path, which: str, kind: str
) -> None:
    other = put(tmp_path / "elsewhere" / "n-FC" / RESULT, lines(answer("a")))
    name = "BFCL_v4_multiple.json" if which == "data" else "BFCL_v4_multiple_result.json"
    there = (data if which == "data" else results) / name
    if kind == "fifo":
        os.mkfifo(there)
    else:
        leads = {"folder_outside": other.parent, "file_outside": other, "nowhere": tmp_path / "none"}
        there.symlink_to(leads[kind])
    error = refused(lambda: import_results("bfcl", data, results, tmp_path / "run"))
    assert str(there) in str(error)
    assert error.hint is not None
    assert not (tmp_path / "run").exists()


def test_a_link_inside_the_folder_is_no_matter(data: Path, results: Path, tmp_path: Path) -> None:
    (results / "again").symlink_to(results)
    made = import_results("bfcl", data, results, tmp_path / "run")
    assert set(passed(made)) == {("m-FC", "a"), ("m-FC", "b")}


def test_a_folder_that_cannot_be_looked_into_is_named(
    data: Path, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = results / "closed"
    closed.mkdir()
    real = os.scandir

    def scandir(path: Any = ".") -> Any:
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    error = refused(lambda: import_results("bfcl", data, results, tmp_path / "run"))
    assert str(error) == f"{closed}: cannot be looked into: Permission denied"


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b'[\n{"id": "a",\n "result": []},\n]', 4, "syntax"),
        (b'[\n{"id": "a",\n "result": "caf\xe9"}]', 3, "invalid_utf8"),
        (b'[{"id": "a", "result": []}]\n{"id": "a"', 1, "no row"),
    ],
)
def test_a_file_that_is_no_list_says_on_which_line(
    data: Path, results: Path, tmp_path: Path, content: bytes, line: int, reason: str
) -> None:
    put(results / "m-FC" / RESULT, content)
    error = refused(lambda: import_results("bfcl", data, results, tmp_path / "run"))
    assert (error.file, error.line) == (f"results/m-FC/{RESULT}", line)
    assert reason in str(error)


def test_a_line_that_is_a_list_does_not_make_the_file_one(data: Path, results: Path, tmp_path: Path) -> None:
    put(results / "m-FC" / RESULT, lines([1], answer("a"), "x", answer("b")))
    made = import_results("bfcl", data, results, tmp_path / "run")
    assert set(passed(made)) == {("m-FC", "a"), ("m-FC", "b")}
    assert any(f"results/m-FC/{RESULT}:1: this is no row" in note for note in made.notes)


@pytest.mark.parametrize("name", ["bfcl", "apibench", "nexusraven"])
def test_where_nothing_fits_the_names_and_the_shape_are_said(data: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    said = expected_files(name)
    assert refused(lambda: import_suites(name, tmp_path / "empty")).expected == said.files
    if name == "nexusraven":
        put(data / "own_function_definitions.py", b"def find(name): pass\n")
        put(data / "own_queries.json", lines([{"query": "Find a", "reference": "find(name='a')"}]))
    elif name == "apibench":
        gold = {"code": "", "api_call": "torch.hub.load('o/a', 'a')", "provider": "x", "api_data": {"domain": "d"}}
        put(data / "torchhub_eval.json", lines({**gold, "api_data": {**gold["api_data"], "api_call": "x"}}))
    error = refused(lambda: import_results(name, data, tmp_path / "empty", tmp_path / "run"))
    assert (error.file, error.expected) == (tmp_path / "empty", said.results)
    assert ".jsonl" in said.results or ".json" in said.results
    assert "{" in said.results


def test_answers_to_no_imported_case_are_refused_with_what_was_left_out(data: Path, tmp_path: Path) -> None:
    put(tmp_path / "results" / "m" / RESULT, lines(answer("z")))
    error = refused(lambda: import_results("bfcl", data, tmp_path / "results", tmp_path / "run"))
    assert error.expected == expected_files("bfcl").results
    assert "lines 1 (z) answer no case" in str(error)
    assert not (tmp_path / "run").exists()


def test_a_model_with_no_answer_is_no_model_of_the_run_but_its_notes_stay(data: Path, results: Path) -> None:
    put(results / "none" / RESULT, lines(answer("z")))
    made = import_results("bfcl", data, results, results.parent / "run")
    assert [ref.entry.model for ref in made.run.manifest.models] == ["m-FC"]
    assert any(note.startswith("none: ") for note in made.notes)


def test_a_name_that_is_no_benchmarks_says_which_argument_it_is(tmp_path: Path) -> None:
    error = refused(lambda: import_suites("foo", tmp_path))
    assert (error.field, error.found) == ("BENCHMARK", "foo")
    assert str(error).startswith("BENCHMARK: is no benchmark (found foo; expected bfcl | apibench | nexusraven")


# -- where it goes ---------------------------------------------------------------------------------------------------


def test_a_place_that_is_taken_is_refused_before_anything_is_read(data: Path, tmp_path: Path) -> None:
    put(tmp_path / "run" / "mine.txt", b"mine")
    with pytest.raises(RunFolderError, match="is there already"):
        import_results("bfcl", data / "not there", tmp_path / "nor this", tmp_path / "run")
    assert [each.name for each in (tmp_path / "run").iterdir()] == ["mine.txt"]


def test_suites_that_differ_are_not_written_over(data: Path, tmp_path: Path) -> None:
    imported = import_suites("bfcl", data)
    (folder,) = write_suites(imported, tmp_path / "out")
    before = (folder / "suite.toml").read_bytes()
    put(folder / "cases.jsonl", b"mine\n")
    assert "differs" in str(refused(lambda: write_suites(imported, tmp_path / "out")))
    assert ((folder / "suite.toml").read_bytes(), (folder / "cases.jsonl").read_bytes()) == (before, b"mine\n")


@pytest.mark.parametrize("inside", [".", "more", "more/and/more"])
def test_suites_are_not_written_into_the_folder_of_one(data: Path, tmp_path: Path, inside: str) -> None:
    imported = import_suites("bfcl", data)
    (folder,) = write_suites(imported, tmp_path / "out")
    before = sorted(folder.iterdir())
    error = refused(lambda: write_suites(imported, folder / inside))
    assert (error.file, error.field) == (folder, "--out")
    assert error.hint is not None
    assert sorted(folder.iterdir()) == before
    assert write_suites(imported, tmp_path / "out") == (folder,)


KILLED = """
import os, signal, sys
from pathlib import Path
import callscope.imports as imports

class Dying(imports.RecordLog):
    def append(self, line):
        super().append(line)
        os.kill(os.getpid(), signal.SIGKILL)

imports.RecordLog = Dying
imports.import_results("bfcl", Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
"""


def test_an_import_that_is_killed_never_looks_finished(data: Path, results: Path, tmp_path: Path) -> None:
    """A manifest that said `finished` from the start would make the answers that were not copied look unanswered."""
    out = tmp_path / "run"
    died = subprocess.run([sys.executable, "-c", KILLED, data, results, out], check=False, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    half = open_run(out)
    assert half.manifest.status == "running"
    assert half.manifest.finished_at is None
    assert half.summary().data["run"]["status"] == "running"
    assert len(list(half.derived())) == 1
    with pytest.raises(RunFolderError, match="is there already"):
        import_results("bfcl", data, results, out)
    whole = import_results("bfcl", data, results, tmp_path / "again")
    assert whole.run.manifest.status == "finished"
    assert open_run(tmp_path / "again").manifest.finished_at is not None


def test_an_imported_run_replays_to_the_same_bytes(data: Path, results: Path, tmp_path: Path) -> None:
    made = import_results("bfcl", data, results, tmp_path / "run")
    check = made.run.check()
    assert (check.trials, check.differing, check.missing) == (2, (), ())
    assert made.summary.data == made.run.summary().data


def test_each_stage_is_told(data: Path, results: Path, tmp_path: Path) -> None:
    told: list[str] = []
    import_results("bfcl", data, results, tmp_path / "run", tell=told.append)
    assert [line.split()[0] for line in told] == ["Reading", "2", "Writing", "Deriving"]
    assert all(line.isprintable() for line in told)


def test_the_command_tells_on_stderr_and_answers_on_stdout(
    data: Path, results: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["import", "bfcl", str(data), "--results", str(results), "--out", str(tmp_path / "run"), "--json"])
    said = capfd.readouterr()
    assert ended.value.code == 0
    assert json.loads(said.out) == {"run": str(tmp_path / "run"), "notes": []}
    assert "Writing 2 answers of 1 models" in said.err


# -- what the command shows ------------------------------------------------------------------------------------------


def test_the_scores_count_trials_and_where_the_two_verdicts_differ(data: Path, tmp_path: Path) -> None:
    put(data / CASES, lines(*map(case, "abcde")))
    put(data / GOLD, lines(*map(gold, "abcde")))
    failed, float_ = "Error during inference: 500", [{"f": '{"x": 1.0}'}]
    put(
        tmp_path / "results" / "m" / RESULT,
        lines(answer("a"), answer("b", float_), answer("c", failed), answer("d", [])),
    )
    put(tmp_path / "results" / "n" / RESULT, lines(*(answer(each) for each in "abcde")))
    made = import_results("bfcl", data, tmp_path / "results", tmp_path / "run")
    m, n = scores(made.run)
    both = sum(isinstance(each.compatible_passed, bool) for key, each in verdicts(made).items() if key[0] == "m")
    assert (m.planned, m.recorded, m.decided, m.passed) == (5, 4, 3, 2)
    assert (m.their_decided, m.their_passed, m.differ) == (both, 1, 1)
    assert n == Score("bfcl-simple_python", "n", 5, 5, 5, 5, 5, 5, 0)


def test_the_command_answers_with_a_short_table_and_how_to_see_more(
    data: Path, results: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    put(results / "n[red]" / RESULT, lines(answer("a", [{"f": '{"x": 1.0}'}])))
    out = tmp_path / "run"
    with pytest.raises(SystemExit) as ended:
        main(["import", "bfcl", str(data), "--results", str(results), "--out", str(out)])
    said = capfd.readouterr().out
    assert ended.value.code == 0
    shown = [line.split() for line in said.splitlines()]
    assert ["m-FC"] in shown
    assert ["n[red]"] in shown
    assert ["bfcl-simple_python", "2/2", "2/2", "100.0%", "2/2", "100.0%", "0"] in shown
    assert ["bfcl-simple_python", "1/2", "1/1", "100.0%", "0/1", "0.0%", "1"] in shown
    assert said.count("planned trials have no row") == 1
    assert "1 of 2 planned trials have no row: they are not observed" in said
    assert len(said.splitlines()) < 30
    table, _, hints = said.partition("Run folder")
    assert max(map(len, table.splitlines())) <= 80
    for command in (f"report --across {out}", f"inspect {out} --disagree", f"compare {out}", f"report {out}"):
        assert f"callscope {command}\n" in hints
