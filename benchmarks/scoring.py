"""How many cases a second are scored on one core, as a ratio to the checker that bfcl-eval ships, in one run.

The cases are BFCL's simple_python, multiple, parallel and parallel_multiple, each answered by its own gold. Ours is the
whole verdict (every stage, with schema validation and evidence); theirs is `ast_checker`, which checks less. Both are
given decoded calls. Rounds alternate, so that a busy machine slows both; the ratio is of the medians.

    python benchmarks/scoring.py --data bfcl_v4 [--python ORACLE/bin/python] [--rounds 9]

ORACLE is an environment of its own with bfcl-eval installed; without it only our own speed is printed. A second figure
is of the same answers, each with one value spoiled: the slow way, through every stage, with findings.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CATEGORIES = ("simple_python", "multiple", "parallel", "parallel_multiple")


def predictions(data: Path) -> list[dict[str, Any]]:
    """A row a case: its id, category, functions, gold, and the calls that the first value of everything makes."""
    rows = []
    for category in CATEGORIES:
        golds = [json.loads(line) for line in (data / "possible_answer" / f"BFCL_v4_{category}.json").open()]
        gold_of = {gold["id"]: gold["ground_truth"] for gold in golds}
        for line in (data / f"BFCL_v4_{category}.json").open():
            case = json.loads(line)
            gold = gold_of[case["id"]]
            calls = [
                {name: {k: first(v[0]) for k, v in listed.items() if v and v[0] != ""} for name, listed in one.items()}
                for one in gold
            ]
            rows.append(
                {"id": case["id"], "category": category, "function": case["function"], "gold": gold, "calls": calls}
            )
    return rows


def first(value: Any) -> Any:
    """A value as a call has it: in an object the first of what each key lists."""
    if isinstance(value, dict):
        chosen = {key: each[0] if isinstance(each, list) else each for key, each in value.items()}
        return {key: first(each) for key, each in chosen.items() if each != ""}
    return [first(each) for each in value] if isinstance(value, list) else value


def cpu(once: Callable[[], int]) -> float:
    """CPU seconds of one pass."""
    began = time.process_time()
    once()
    return time.process_time() - began


def ours(data: Path, rows: list[dict[str, Any]]) -> tuple[Callable[[], int], Callable[[], int]]:
    """A pass over all right answers, and one over spoiled ones; each returns how many passed."""
    from callscope.contract import ToolCall, ToolCalls
    from callscope.imports import import_suites
    from callscope.scoring import evaluate
    from callscope.suites import load_suite_bytes

    suites = [load_suite_bytes(made.files, name=made.name) for made in import_suites("bfcl", data).suites]
    cases = {case.id: (case, suite.tools) for suite in suites for case in suite.cases}

    def outcome(calls: list[dict[str, Any]], spoil: bool) -> ToolCalls:
        made = []
        for number, call in enumerate(calls):
            ((name, arguments),) = call.items()
            if spoil and number == 0 and arguments:
                arguments = {**arguments, next(iter(arguments)): "no such value"}
            made.append(ToolCall(None, name.replace(".", "_"), arguments))
        return ToolCalls(tuple(made), ())

    right = [(*cases[row["id"]], outcome(row["calls"], spoil=False)) for row in rows]
    wrong = [(*cases[row["id"]], outcome(row["calls"], spoil=True)) for row in rows]
    return (
        lambda: sum(evaluate(case, tools, each).passed is True for case, tools, each in right),
        lambda: sum(evaluate(case, tools, each).passed is True for case, tools, each in wrong),
    )


def oracle() -> None:
    """Runs in the oracle's environment: a line in is a round, a line out its CPU seconds and how many were valid."""
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    rows = json.loads(sys.stdin.readline())

    def once() -> int:
        return sum(
            ast_checker(row["function"], row["calls"], row["gold"], Language.PYTHON, row["category"], MODEL)["valid"]
            for row in rows
        )

    once()
    for _ in sys.stdin:
        print(json.dumps([cpu(once), once()]), flush=True)


MODEL = "gorilla-openfunctions-v2"
"""A model of bfcl-eval's list that is offered names as they are."""


class Oracle:
    """The other side, in a process of its own."""

    def __init__(self, python: Path, rows: list[dict[str, Any]]) -> None:
        command = [str(python), str(Path(__file__).resolve()), "--oracle"]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._say(json.dumps(rows))

    def _say(self, line: str) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()

    def round(self) -> tuple[float, int]:
        self._say("")
        assert self.child.stdout is not None
        answer = self.child.stdout.readline()
        if not answer:
            raise SystemExit("bfcl-eval could not be run in the environment of --python")
        seconds, valid = json.loads(answer)
        return seconds, valid

    def close(self) -> None:
        assert self.child.stdin is not None
        self.child.stdin.close()
        self.child.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of BFCL_v4_*.json and possible_answer/")
    parser.add_argument("--python", type=Path, help="the interpreter that has bfcl-eval")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--oracle", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.oracle:
        oracle()
        return
    if given.data is None:
        print("skipped: it needs BFCL's files (--data)")
        return
    rows = predictions(given.data)
    right, wrong = ours(given.data, rows)
    passed, spoiled = right(), wrong()
    other = Oracle(given.python, rows) if given.python else None
    times: dict[str, list[float]] = {"ours": [], "ours, one value spoiled": [], "bfcl-eval": []}
    valid = 0
    for _ in range(given.rounds):
        times["ours"].append(cpu(right))
        times["ours, one value spoiled"].append(cpu(wrong))
        if other is not None:
            seconds, valid = other.round()
            times["bfcl-eval"].append(seconds)
    if other is not None:
        other.close()
    print(f"{len(rows)} cases; ours passes {passed} right and {spoiled} spoiled answers; bfcl-eval {valid} right ones")
    medians = {name: statistics.median(each) for name, each in times.items() if each}
    for name, median in medians.items():
        ratio = f", {medians['bfcl-eval'] / median:.2f} times bfcl-eval's speed" if "bfcl-eval" in medians else ""
        print(f"{name}: {median / len(rows) * 1e6:.1f} us CPU a case, {len(rows) / median:,.0f} cases/s{ratio}")


if __name__ == "__main__":
    main()
