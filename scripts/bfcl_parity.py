"""Compares callscope's `compatible` verdicts on BFCL with those of bfcl-eval itself, one by one.

    python scripts/bfcl_parity.py --python ORACLE/bin/python --data bfcl_v4 --results bfcl_v4_results

ORACLE is an environment of its own with bfcl-eval 2026.3.23 installed (and soundfile, which one of its parts needs).
DATA holds the published cases and `possible_answer/`, RESULTS one folder a model. Asked are, with the right language:

* every recorded output: decoded and judged;
* the gold itself as a prediction, as decoded calls and as each text a handler reads, and spoiled in many small ways;
* hand-made results in every notation that a handler of bfcl-eval decodes.

Every difference is listed; the exit code is 1 if there is any. `--oracle` is how the script runs itself in ORACLE.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BATCH = 500


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, help="the interpreter that has bfcl-eval")
    parser.add_argument("--data", type=Path, help="folder of BFCL_v4_*.json and possible_answer/")
    parser.add_argument("--results", type=Path, help="folder with one folder of result files a model")
    parser.add_argument("--show", type=int, default=20, help="differences printed in full (default 20)")
    parser.add_argument("--oracle", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.oracle:
        return oracle()
    if given.python is None or given.data is None or given.results is None:
        parser.error("--python, --data and --results are needed")
    return compare(given.python, given.data, given.results, given.show)


# -- ours ------------------------------------------------------------------------------------------------------------


def compare(python: Path, data: Path, results: Path, show: int) -> int:
    from bfcl_questions import questions

    asked, agreed, verdicts, different = Counter[str](), Counter[str](), Counter[str](), 0
    child = subprocess.Popen(
        [str(python), str(Path(__file__).resolve()), "--oracle"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    for batch in batches(questions(data, results)):
        sent = json.dumps(batch)
        batch = json.loads(sent)  # both sides get what JSON keeps
        child.stdin.write(sent + "\n")
        child.stdin.flush()
        ours = [verdict(each) for each in batch]
        theirs = json.loads(child.stdout.readline() or "[]")
        if len(theirs) != len(batch):
            print("bfcl-eval gave no answer; its own output is above", file=sys.stderr)
            return 2
        for question, our, their in zip(batch, ours, theirs, strict=True):
            asked[question["of"]] += 1
            verdicts["passed" if their[0] else "stopped" if their[0] is None else their[1]] += 1
            if our == their:
                agreed[question["of"]] += 1
                continue
            different += 1
            if different <= show:
                print(f"DIFFERENT {question['of']}\n  ours   {our}\n  theirs {their}\n  {json.dumps(question)[:1500]}")
        print(f"\r{sum(asked.values())} asked, {different} different", end="", file=sys.stderr, flush=True)
    child.stdin.close()
    child.wait()
    print(file=sys.stderr)
    for of, count in sorted(asked.items()):
        print(f"{of:60} {agreed[of]:6} of {count:6} agree")
    print(f"{'all':60} {sum(agreed.values()):6} of {sum(asked.values()):6} agree")
    print("bfcl-eval said: " + ", ".join(f"{name} {count}" for name, count in verdicts.most_common()))
    return 1 if different else 0


def verdict(question: dict[str, Any]) -> list[Any]:
    from callscope.importers.bfcl.checker import check
    from callscope.importers.bfcl.decode import Decoded, decode
    from callscope.importers.bfcl.javavalues import java_value
    from callscope.importers.bfcl.jsvalues import javascript_value

    language = question["language"]
    if "declared" in question:
        return converted(java_value if language == "java" else javascript_value, question)
    model = question["model"]
    calls = decode(question["result"], language=language, model=model) if "result" in question else question["calls"]
    found = check(
        question["category"], question["functions"], calls, question["answer"], language=language, model=model
    )
    decoded = repr(list(calls.calls)) if isinstance(calls, Decoded) and calls.calls is not None else ""
    return [found.passed, found.error_type, found.crashed, decoded]


def converted(convert: Callable[[str, str, str | None], Any], question: dict[str, Any]) -> list[Any]:
    """What a text is for a declared type, on either side."""
    try:
        return [True, repr(convert(question["text"], question["declared"], question["items"]))]
    except Exception as error:  # noqa: BLE001 - whatever it raises is what is compared
        return [None, f"{type(error).__name__}: {error}"]


def batches(asked: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for question in asked:
        batch.append(question)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


# -- theirs ----------------------------------------------------------------------------------------------------------


def oracle() -> int:
    """Answers each line of questions with a line of verdicts, in the interpreter that has bfcl-eval."""
    answers, sys.stdout = sys.stdout, sys.stderr  # bfcl-eval prints
    from bfcl_eval.constants import model_config

    listed = model_config.MODEL_CONFIG_MAPPING
    for line in sys.stdin:
        answers.write(json.dumps([asked_there(each, listed) for each in json.loads(line)]) + "\n")
        answers.flush()
    return 0


def asked_there(question: dict[str, Any], listed: Any) -> list[Any]:
    from bfcl_eval.constants.enums import Language, ReturnFormat
    from bfcl_eval.eval_checker import eval_runner
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker
    from bfcl_eval.eval_checker.ast_eval.type_convertor.java_type_converter import java_type_converter
    from bfcl_eval.eval_checker.ast_eval.type_convertor.js_type_converter import js_type_converter

    language = question["language"]
    if "declared" in question:
        return converted(java_type_converter if language == "java" else js_type_converter, question)
    name, category = question["model"].replace("_", "/"), question["category"]
    if name not in listed:
        # A contributor's model that the release does not know: what its form says (callscope.importers.bfcl.models).
        listed[name] = listed["gpt-4.1-2025-04-14-FC" if name.endswith("-FC") else "gpt-4.1-2025-04-14"]
    decoded = ""
    try:
        if "result" not in question:
            found = ast_checker(
                question["functions"], question["calls"], question["answer"], Language(language), category, name
            )
            return [found["valid"], "" if found["valid"] else found["error_type"], None, ""]
        handler = listed[name].model_handler.__new__(listed[name].model_handler)
        handler.is_fc_model = listed[name].is_fc_model
        prompt, result = {"function": question["functions"]}, question["result"]
        returned = ReturnFormat(language)
        with contextlib.suppress(Exception):
            value = handler.decode_ast(result, returned, False)
            decoded = repr(value) if eval_runner.is_function_calling_format_output(value) else ""
        if "relevance" in category:
            found = eval_runner._evaluate_single_relevance_entry(handler, "", result, prompt, name, category)
        else:
            asked = (handler, "", result, question["answer"], prompt, name, category)
            found = eval_runner._evaluate_single_ast_entry(*asked, language=Language(language), return_format=returned)
    except Exception as error:  # noqa: BLE001 - whatever stops bfcl-eval is its answer
        return [None, "", f"{type(error).__name__}: {error}", decoded]
    return [found["valid"], "" if found["valid"] else found["error_type"], None, decoded]


if __name__ == "__main__":
    raise SystemExit(main())
