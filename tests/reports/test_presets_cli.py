"""`callscope report` with exhibits: on runs of a stand-in, on an imported run, on audits; and what it refuses."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.capture.helpers import stand_in_model, suite_files, tool_case, write_suite
from tests.stand_in import Reply, Seen, StandIn, completion

import callscope
from callscope.suites import load_suite_bytes


def cases() -> list[dict[str, Any]]:
    """Positives of two levels, a vague case, a targeted and a global negative."""
    levels = [("easy", range(4)), ("medium", range(4, 8))]
    found = [tool_case(100_000 + i, difficulty=level) for level, numbers in levels for i in numbers]
    vague = {"kind": "clarification", "missing": ["order_id"], "target": "lookup_order"}
    return [
        *found,
        {"id": "vague", "prompt": "Where is my order?", "expected": vague},
        {"id": "list", "prompt": "List the orders of a@example.test", "label": "other_tool", "negative_type": "B",
         "expected": {"kind": "no_call", "target": "lookup_order"}},
        {"id": "greeting", "prompt": "Good morning!", "expected": {"kind": "text"}},
    ]  # fmt: skip


def answer(seen: Seen) -> Reply:
    """Looks up every even order, asks back where it knows none, calls no other tool."""
    number = next((word.strip("?") for word in seen.prompt.split() if word.startswith("ORD-")), None)
    if number is None:
        return Reply(completion("Which order id?" if "order" in seen.prompt else "Good morning!"))
    if int(number[-1].strip("?")) % 2:
        return Reply(completion("I do not know."))
    return Reply(completion(None, [("lookup_order", json.dumps({"order_id": number}))]))


def callscope_(place: Path, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "callscope", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "160", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, cwd=place, env=environment, check=False)


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    assert done.returncode == 0, done.stderr.decode()
    return " ".join(done.stdout.decode().split())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`mine`: a run under four experiments; `bfcl`: an imported one; `audits`: a suite and a run, each reviewed."""
    folder = tmp_path_factory.mktemp("exhibits")
    files = suite_files(cases())
    write_suite(folder / "suite", files)
    suite = load_suite_bytes(files, name="small")

    async def go() -> None:
        async with StandIn(answer) as server:
            model = {**stand_in_model(server.url), "label": "m"}
            experiments = ("auto", "need", "target", "arguments")
            await callscope.arun(suite, models=[model], out=folder / "mine", repeats=1, experiments=experiments)

    asyncio.run(go())
    _benchmark(folder)
    done = callscope_(folder, "import", "bfcl", "data", "--results", "answers", "--out", "bfcl")
    assert done.returncode == 0, done.stderr.decode()
    return folder


def _benchmark(folder: Path) -> None:
    """A data folder of BFCL's shape: two cases that want a call and one that wants none, with recorded answers."""
    function = {"name": "f", "description": "d", "parameters": {
        "type": "dict", "properties": {"x": {"type": "integer", "description": "d"}}, "required": ["x"]}}  # fmt: skip

    def row(name: str) -> dict[str, Any]:
        return {"id": name, "question": [[{"role": "user", "content": "Do it."}]], "function": [function]}

    call = [{"f": '{"x": 1}'}]
    written = {
        "data/BFCL_v4_simple_python.json": [row("simple_python_0"), row("simple_python_1")],
        "data/BFCL_v4_irrelevance.json": [row("irrelevance_0")],
        "data/possible_answer/BFCL_v4_simple_python.json": [
            {"id": f"simple_python_{i}", "ground_truth": [{"f": {"x": [1]}}]} for i in range(2)
        ],
        "answers/recorded-FC/BFCL_v4_simple_python_result.json": [
            {"id": "simple_python_0", "result": call},
            {"id": "simple_python_1", "result": [{"f": '{"x": 2}'}]},
        ],
        "answers/recorded-FC/BFCL_v4_irrelevance_result.json": [{"id": "irrelevance_0", "result": call}],
    }
    for name, rows in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(json.dumps(each) + "\n" for each in rows))


def test_the_four_experiments_of_a_run_each_show_what_they_measure(place: Path) -> None:
    text = said(callscope_(place, "report", "mine"))
    assert "4/8 50.00%" in text
    assert "positives 8 (TP 4, FN 4), negatives 2 (FP 0, TN 2), both empty 1" in text
    assert text.count("Routing decision, put by itself") == 3
    assert "Only whether a tool is needed is decided here" in text


def test_routing_shows_the_isolated_decisions_and_the_read_off_apart(place: Path) -> None:
    data = json.loads(said(callscope_(place, "report", "mine", "--preset", "routing", "--json")))
    (exhibit,) = data["exhibits"]
    found = {
        (row["experiment"], name): (each["right"]["k"], each["right"]["n"])
        for row in exhibit["rows"]
        for name, each in row["decisions"].items()
    }
    assert found == {
        ("auto", "need"): (5, 11),  # the four even orders and the greeting
        ("auto", "target"): (5, 10),  # the four, and the list that is not the target's
        ("auto", "arguments"): (5, 9),  # the four, and the vague one without a call
        ("need", "need"): (5, 11),
        ("target", "target"): (5, 10),
        ("arguments", "arguments"): (5, 9),
    }
    assert {row["experiment"]: row["isolated"] for row in exhibit["rows"]} == {
        "auto": False, "need": True, "target": True, "arguments": True,
    }  # fmt: skip


def test_table_1_counts_the_run_and_says_what_is_not_defined(place: Path) -> None:
    text = said(callscope_(place, "report", "mine", "--preset", "table1", "--mix", "even=1/1/0"))
    assert "even .50/.50/.00" in text
    assert "not defined" in text
    assert "no hard positives" in text
    assert "m: left out, for they state no difficulty" not in text


def test_across_puts_an_imported_run_beside_one_of_ones_own(place: Path) -> None:
    text = said(callscope_(place, "report", "mine", "bfcl", "--across"))
    assert "BFCL's own checker" in text
    assert "not run not run not run" in text
    assert "1/2 50.00%" in text  # BFCL recall
    assert "1/3 33.33%" in text  # BFCL accuracy
    assert "left out, for they measure other things: experiments arguments, need, target" in text
    assert said(callscope_(place, "report", "mine", "bfcl", "--preset", "table2")) == text
    full = said(callscope_(place, "report", "bfcl", "--across", "--full"))
    assert "bfcl-irrelevance · recorded-FC · recorded" in full


def test_an_imported_run_has_every_form_of_report(place: Path, tmp_path: Path) -> None:
    assert "By query" in said(callscope_(place, "report", "bfcl"))
    for option in ("--html", "--junit", "--csv"):
        assert said(callscope_(place, "report", "bfcl", option, tmp_path / "out")) == ""
        assert (tmp_path / "out").stat().st_size > 100
    assert "By query" in said(callscope_(place, "report", "bfcl", "--markdown"))
    data = json.loads(said(callscope_(place, "report", "bfcl", "--preset", "all", "--json")))
    assert {each["name"] for each in data["exhibits"]} == {"table1", "table2", "figure4", "routing"}


def test_pages_and_pictures_are_written(place: Path, tmp_path: Path) -> None:
    page, pictures = tmp_path / "page.html", tmp_path / "deep" / "pictures"
    done = callscope_(place, "report", "mine", "--preset", "all", "--html", page, "--svg", pictures)
    assert said(done) == ""
    assert page.read_text().count('<svg class="figure"') == 2
    assert sorted(file.name.partition("-")[0] for file in pictures.iterdir()) == ["figure3", "figure4"]
    assert f"Written: {page}" in done.stderr.decode().replace("\n", "")
    text = said(callscope_(place, "report", "mine", "--preset", "figure3", "--markdown"))
    assert text.startswith("## Figure 3")


def test_treatments_are_chosen_and_all_shown(place: Path) -> None:
    for policy, accuracy in (("separate", "6/10"), ("exclude", "6/10"), ("tn", "7/11")):
        data = callscope_(
            place, "report", "mine", "--preset", "table1", "--both-empty", policy, "--strict-extra", "--json"
        )
        (row,) = json.loads(data.stdout)["exhibits"][0]["rows"]
        found = row["queries"]["policies"][policy]["accuracy"]
        assert f"{found['k']}/{found['n']}" == accuracy
        assert json.loads(data.stdout)["exhibits"][0]["both_empty"] == policy


def test_the_audits_tables_come_from_their_folder(place: Path) -> None:
    for name, source, design, preset in (
        ("gold", "suite", "reference", "table4"), ("judge", "mine", "judge", "table5"),
    ):  # fmt: skip
        where = place / "audits" / name
        more = ["--experiment", "auto"] if design == "judge" else []
        sample = ("audit", "sample", source, "--design", design, "--size", 6, "--allow-fewer", "--out", where, *more)
        done = callscope_(place, *sample)
        assert done.returncode == 0, done.stderr.decode()
        missing = callscope_(place, "report", "--preset", preset, where)
        assert missing.returncode == 2
        assert b"callscope audit agreement" in missing.stderr
        for reviewer in ("ann", "ben"):
            _review(place, where, reviewer, design)
        assert callscope_(place, "audit", "agreement", where, "--draws", 20).returncode == 0
        text = said(callscope_(place, "report", "--preset", preset, where))
        assert f"Table {preset[-1]}." in text
        data = json.loads(said(callscope_(place, "report", "--preset", preset, where, "--json")))
        assert data["schema"] == "callscope/audit-agreement/1"
        wrong = callscope_(place, "report", "--preset", "table5" if preset == "table4" else "table4", where)
        assert wrong.returncode == 2
        assert f"Use --preset {preset}" in wrong.stderr.decode()
    (place / "audits" / "gold" / "agreement.json").write_text("{")
    broken = callscope_(place, "report", "--preset", "table4", place / "audits" / "gold")
    assert broken.returncode == 2
    assert b"Traceback" not in broken.stderr


def _review(place: Path, where: Path, reviewer: str, design: str) -> None:
    sheet = place / f"{reviewer}.csv"
    done = callscope_(place, "audit", "export", where, "--csv", sheet, "--reviewer", reviewer)
    assert done.returncode == 0, done.stderr.decode()
    with sheet.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for name in ("need", "target", "args") if design == "reference" else ("attribution",):
            row[name] = row[name] if row[name] == "-" else "yes" if design == "reference" else "correct"
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    done = callscope_(place, "audit", "import", where, sheet, "--reviewer", reviewer)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("mine", "--mix", "a=1/1/1"), "--preset"),
        (("mine", "--both-empty", "tn"), "--preset"),
        (("mine", "--strict-extra"), "--preset"),
        (("mine", "--svg", "x"), "--preset"),
        (("mine", "--preset", "table1", "--mix", "a=1"), "easy/medium/hard"),
        (("mine", "--preset", "table1", "--svg", "x"), "has no picture"),
        (("mine", "--preset", "table1", "--csv", "x"), "Use --json"),
        (("mine", "mine", "--across"), "mine and mine"),
        (("mine", "bfcl"), "one run is shown at a time"),
        (("mine", "--preset", "figure3", "--across"), "--preset table2"),
        (("bfcl", "--preset", "figure3"), "states its difficulty"),
        (("mine", "--preset", "table4"), "callscope audit agreement"),
        (("mine", "--preset", "table4", "--markdown"), "--json"),
        (("mine", "--preset", "table9"), "table9"),
        (("nowhere", "--across"), "nowhere"),
    ],
)
def test_what_cannot_be_shown_says_what_to_do(place: Path, arguments: tuple[str, ...], expected: str) -> None:
    done = callscope_(place, "report", *arguments)
    assert done.returncode == 2
    assert expected in done.stderr.decode() + done.stdout.decode()
    assert b"Traceback" not in done.stderr
    assert not (place / "x").exists()


def test_published_recorded_answers_stand_beside_their_benchmarks_own_figures(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "apibench"
    done = callscope_(tmp_path, "import", "apibench", data, "--results", data, "--out", "run")
    assert done.returncode == 0, done.stderr.decode()
    text = said(callscope_(tmp_path, "report", "run", "--across"))
    assert "141/186 75.81%" in text  # .7581, as the benchmark's authors publish for Gorilla FT 0-shot on TorchHub


@pytest.mark.parametrize(
    ("arguments", "said_so"),
    [
        (("report", "mine", "bfcl"), "callscope report mine bfcl --across"),
        (("report", "mine", "bfcl"), "callscope compare mine bfcl"),
        (("report", "mine", "--json", "--markdown"), "--json and --markdown"),
        (("report", "mine", "--preset", "table1", "--json", "--markdown"), "--json and --markdown"),
        (("report", "mine", "--svg", "pictures"), "--preset figure3, figure4 or all"),
        (("report", "mine", "--preset", "table1", "--html", "half.html", "--svg", "half"), "has no picture"),
        (("report", "an-audit"), "--preset table4"),
        (("report", "an-audit"), "--preset table5"),
        (("report", "mine", "--suite", "smal"), "Did you mean `small`?"),
        (("report", "mine", "bfcl", "--across", "--model", "nobody"), "this run has no such model"),
        (("inspect", "mine", "--disagree"), "own checker"),
        (("inspect", "bfcl", "--tag", "gold-x"), "no such tag"),
    ],
)
def test_what_cannot_be_shown_says_what_can(place: Path, arguments: tuple[str, ...], said_so: str) -> None:
    (place / "an-audit").mkdir(exist_ok=True)
    (place / "an-audit" / "audit.json").write_text("{}")
    done = callscope_(place, *arguments)
    assert done.returncode == 2
    assert said_so in done.stderr.decode()
    assert done.stdout == b""
    assert not (place / "half.html").exists()
    assert not (place / "half").exists()
    assert not (place / "pictures").exists()


def test_no_picture_of_a_run_leaves_nothing_half_written(place: Path) -> None:
    done = callscope_(place, "report", "bfcl", "--preset", "figure3", "--html", "half.html", "--svg", "half")
    assert done.returncode == 2
    assert not (place / "half.html").exists()
    assert not (place / "half").exists()


def test_exhibits_and_reports_can_be_of_a_part_of_a_run(place: Path) -> None:
    whole = json.loads(said(callscope_(place, "report", "bfcl", "--preset", "table1", "--json")))
    part = json.loads(
        said(callscope_(place, "report", "bfcl", "--suite", "bfcl-irrelevance", "--preset", "table1", "--json"))
    )
    assert [row["suite"] for each in part["exhibits"] for row in each["rows"]] == ["bfcl-irrelevance"]
    assert [each for each in whole["exhibits"] if each in part["exhibits"]] == part["exhibits"]
    text = said(callscope_(place, "report", "bfcl", "--suite", "bfcl-irrelevance"))
    assert "Only a part of the run: suite bfcl-irrelevance" in text
    assert text.count("experiment recorded") == 1
    both = said(callscope_(place, "report", "mine", "bfcl", "--suite", "small", "--across"))
    assert "bfcl" not in both.replace("Table 2.", "").split("model")[1]


def test_a_page_of_exhibits_is_titled_by_the_folder_as_it_was_typed(place: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    said(callscope_(place, "report", "./bfcl", "--preset", "table1", "--html", page))
    assert "<title>bfcl · callscope</title>" in page.read_text()


def test_recorded_answers_have_no_times(place: Path) -> None:
    rows = [json.loads(line) for line in (place / "bfcl" / "verdicts.jsonl").read_text().splitlines()]
    assert rows
    assert not {"latency", "queued", "first_byte"} & {name for row in rows for name in row["measures"]}
    assert "0.0ms" not in said(callscope_(place, "report", "bfcl"))
    assert "0.0ms" not in said(callscope_(place, "inspect", "bfcl"))
    data = json.loads(said(callscope_(place, "report", "bfcl", "--json")))
    assert {group["time"]["model"]["n"] for group in data["groups"]} == {0}


def test_disagreements_and_passed_cases_are_found_on_the_command_line(place: Path) -> None:
    text = said(callscope_(place, "inspect", "bfcl", "--disagree"))
    assert "differ on 0 of 3 trials that both decided" in text
    assert "No trial to show." in text
    text = said(callscope_(place, "inspect", "bfcl", "--case", "simple_python_0"))
    assert "No failures: all that is asked for passed" in text
    assert "own checker passed" in text
    assert "request: not recorded" in text
    assert "came back" in text


@pytest.mark.parametrize("verb", ["report", "inspect"])
def test_help_names_no_flag_that_nobody_explains(place: Path, verb: str) -> None:
    text = said(callscope_(place, verb, "--help"))
    assert "--empty" not in text
    assert "[default: ()]" not in text
    assert "[default: False]" not in text
    assert "Example:" in text
