"""`callscope compare` on real run folders: two models and two prompts against a stand-in over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import callscope
from callscope.suites import load_suite_bytes
from tests.capture.helpers import small_suite, stand_in_model
from tests.stand_in import Reply, Seen, StandIn, completion


def answer(seen: Seen) -> Reply:
    """The strong model looks every order up; the weak one only every third."""
    order = re.search(r"ORD-(\d{6})", seen.prompt)
    able = order is not None and (seen.json["model"] == "strong" or int(order[1]) % 3 == 0)
    if order is None or not able:
        return Reply(completion("I do not know."))
    return Reply(completion(None, [("lookup_order", json.dumps({"order_id": order[0]}))]))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs: `both` holds two models; `before` and `after` the strong one under two prompts; `few` saw less."""
    folder = tmp_path_factory.mktemp("compare")
    suite = small_suite(20)
    files = {**suite.sources, "system.txt": b"You work at another desk.\n"}
    reworded = load_suite_bytes(files, name="small")

    async def go() -> None:
        async with StandIn(answer) as server:
            strong, weak = ({**stand_in_model(server.url), "model": name, "label": name} for name in ("strong", "weak"))
            for name, of, models, limit in (
                ("both", suite, [weak, strong], None),
                ("before", suite, [strong], None),
                ("after", reworded, [strong], None),
                ("few", suite, [strong], 5),
            ):
                await callscope.arun(of, models=models, out=folder / name, repeats=2, limit=limit)

    asyncio.run(go())
    return folder


def compare(place: Path, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "callscope", "compare", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, cwd=place, env=environment, check=False)


def test_two_models_of_one_run_are_compared(place: Path) -> None:
    done = compare(place, "both")
    assert done.returncode == 0, done.stderr.decode()
    text = done.stdout.decode()
    assert "B - A established: B passes more often than A (p < 0.001" in text
    assert "B - A: all 21 cases paired" in text
    assert "A and B differ in one variable: model" in text


def test_two_runs_that_differ_in_the_prompt_say_so(place: Path) -> None:
    done = compare(place, "before", "after", "--json")
    assert done.returncode == 0, done.stderr.decode()
    data = json.loads(done.stdout)
    (pair,) = data["groups"][0]["pairs"]
    assert data["schema"] == "callscope/comparison/1"
    assert pair["changed"] == ["prompt"]
    assert {each["name"]: each["follows"] for each in pair["variables"] if each["kind"] == "variable"} == {
        "prompt": None,
        "prompt as sent": "prompt",
    }
    assert (pair["established"], pair["difference"]["difference"]) == (False, 0.0)
    assert compare(place, "before", "after", "--json").stdout == done.stdout


def test_runs_are_named_by_the_folder_as_it_was_typed(place: Path) -> None:
    text = compare(place, "before", "./after/").stdout.decode()
    assert re.search(r"A +strong \(before\) \[stand-in\] +before\b", text)
    assert re.search(r"B +strong \(after\) \[stand-in\] +after\b", text)


def test_coverage_too_low_exits_with_4_and_still_shows(place: Path) -> None:
    done = compare(place, "both", "few", "--model", "strong", "--min-coverage", "0.5")
    assert done.returncode == 4
    assert b"not decided: 5 cases of 21 planned (24%)" in done.stdout
    assert compare(place, "both", "few", "--model", "strong").returncode == 0


def test_html_goes_to_a_file_and_the_rest_to_stderr(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "comparison.html"
    done = compare(place, "both", "before", "--family", "all", "--html", file)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == b""
    assert "Written:" in done.stderr.decode()
    assert file.read_text().count('class="dot"') == 3


def test_replayed_files_compare_as_their_folders_do(place: Path, tmp_path: Path) -> None:
    for name in ("before", "after"):
        callscope.open_run(place / name).write_replayed(tmp_path / name)
    pairs = [
        json.loads(compare(where, "before", "after", "--json").stdout)["groups"][0]["pairs"]
        for where in (place, tmp_path)
    ]
    assert pairs[0] == pairs[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("before",), "a second run, or a second model"),
        (("before", "before"), "named twice"),
        (("before", "nowhere"), "nowhere"),
        (("both", "--metric", "f1"), "--metric"),
        (("both", "--family", "A:Z"), "--family"),
        (("both", "--suite", "x"), "--suite"),
        (("both", "--min-coverage", "90"), "--min-coverage"),
        (("both", "--metric", "clarification"), "clarification"),
        (("both", "--correction", "none"), "correction"),
    ],
)
def test_bad_input_is_2_and_a_message(place: Path, arguments: tuple[str, ...], said: str) -> None:
    done = compare(place, *arguments)
    assert done.returncode == 2
    assert said in (done.stderr + done.stdout).decode()
    assert b"Traceback" not in done.stderr


def test_help_has_an_example(place: Path) -> None:
    assert b"Example: callscope compare" in compare(place, "--help").stdout
