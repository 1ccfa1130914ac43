"""A folder of BFCL's shape built from a few values, and the way from a recorded result to a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from callscope.contract import (
    ArgumentRules,
    Case,
    Derived,
    Exchange,
    Record,
    Round,
    Suite,
    Timing,
    Tool,
    TrialKey,
    expected_calls,
)
from callscope.derive import derive
from callscope.errors import InputError
from callscope.importers import Answer, bfcl
from callscope.importers.bfcl.gold import example
from callscope.scoring.equality import compare_values
from callscope.scoring.validators import checker_for
from callscope.suites import load_suite_bytes

MOMENT = "2026-01-01T00:00:00Z"


def lines(*rows: Any) -> bytes:
    """Rows as a file has them."""
    return b"\n".join(json.dumps(row).encode() for row in rows)


def function(name: str = "f", required: Sequence[str] = ("x",), **properties: Any) -> dict[str, Any]:
    """A function document; a property that is a text is its type."""
    declared = {key: {"type": value} if isinstance(value, str) else value for key, value in properties.items()}
    parameters = {"type": "dict", "properties": declared, "required": list(required)}
    return {"name": name, "description": "d", "parameters": parameters}


def folder(
    category: str, functions: Any, gold: Any, *, prompt: str = "Do it.", identity: str | None = None
) -> dict[str, bytes]:
    """A data folder with one case; gold None: no file of gold."""
    identity = identity or f"{category}_0"
    row = {"id": identity, "question": [[{"role": "user", "content": prompt}]], "function": functions}
    files = {f"BFCL_v4_{category}.json": lines(row)}
    if gold is not None:
        files[f"possible_answer/BFCL_v4_{category}.json"] = lines({"id": identity, "ground_truth": gold})
    return files


def suite_of(files: Mapping[str, bytes]) -> Suite:
    """The one suite of a folder, loaded as from disk."""
    (made,) = bfcl.read(files).suites
    return load_suite_bytes(made.files, name=made.name)


def input_fault(run: Callable[[], object]) -> InputError | None:
    """The InputError that `run` raises, None where it raises nothing; any other exception goes through."""
    try:
        run()
    except InputError as error:
        return error
    return None


def case_of(files: Mapping[str, bytes]) -> Case:
    """The one case of a folder."""
    (case,) = suite_of(files).cases
    return case


def record_of(answer: Answer, model: str) -> Record:
    """A recorded answer as the import writes it."""
    exchanges = tuple(
        Exchange(0, "RECORDED", answer.source, (), b"", MOMENT, 200, answer.headers, part, Timing())
        for part in answer.parts
    )
    key = TrialKey(answer.suite, "recorded", model, answer.case_id, 0)
    return Record(key, "recorded/bfcl", False, MOMENT, tuple(Round((one,)) for one in exchanges))


def judged(suite: Suite, results: Mapping[str, bytes]) -> dict[str, Derived]:
    """Case id -> what is derived from the recorded answers of one model."""
    cases = {case.id: case for case in suite.cases}
    (model,) = bfcl.read_results(results, {suite.name: cases})
    return {
        answer.case_id: derive(record_of(answer, model.model), cases[answer.case_id], suite) for answer in model.answers
    }


def score(
    category: str, functions: Any, gold: Any, result: Any, *, model: str = "m-FC", prompt: str = "Do it."
) -> Derived:
    """What is derived from one result to one case."""
    suite = suite_of(folder(category, functions, gold, prompt=prompt))
    (case,) = suite.cases
    row = {"id": case.id, "result": result}
    return judged(suite, {f"{model}/BFCL_v4_{category}_result.json": lines(row)})[case.id]


def right_arguments(rules: ArgumentRules, tool: Tool) -> dict[str, Any]:
    """Arguments that the rules accept, of the values that keep the schema where there is one; nothing optional."""
    listed: dict[str, list[Any]] = {name: [value] for name, value in rules.required_equals.items()}
    listed |= {name: list(values) for name, values in rules.one_of.items()}
    listed |= {name: [example(each) for each in patterns] for name, patterns in rules.patterns.items()}
    return {
        name: _keeping(values, tool.parameters["properties"][name])
        for name, values in listed.items()
        if name not in rules.optional
    }


def _keeping(values: list[Any], schema: Any) -> Any:
    members = [each for each in schema.get("enum", ()) for value in values if same(value, each)]
    return next((each for each in (*values, *members) if checker_for(schema).check(each).valid), values[0])


def same(expected: Any, actual: Any) -> bool:
    """Equal under folding."""
    return compare_values(expected, actual, folded=True).result != "wrong"


def right_result(case: Case) -> Any:
    """The result of a model that calls what the gold asks for."""
    tools = {tool.name: tool for tool in case.own_tools}

    def written(calls: Any) -> list[Any]:
        return [{one.name: json.dumps(right_arguments(one.arguments, tools[one.name]))} for one in calls]

    if case.turns:
        # The words after the calls claim a success that the tools, which had answered by then, could have told.
        return [[written(turn.calls), "I have done it."] if turn.calls else ["Which one?"] for turn in case.turns]
    return written(expected_calls(case.expected)) or "None of the tools fits."
