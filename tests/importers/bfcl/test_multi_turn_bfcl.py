"""Multi-turn cases: turns, gold calls read from Python text, tools that only look, recorded turns."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bfcl_cases_kit import function, judged, lines, suite_of
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import ArgumentRules, ExpectedCall, Suite, Tool, Usage
from callscope.errors import InputError
from callscope.importers import bfcl
from callscope.importers.bfcl.defects import Defect
from callscope.importers.bfcl.multi_turn import DOCUMENTS, gold_call, looks_only
from callscope.importers.bfcl.schemas import tools_of

DOCS = [
    {**function("mv", ("source", "destination"), source="string", destination="string"), "description": "Move a file."},
    {
        **function("ls", (), a={"type": "boolean", "default": False}),
        "description": "A system. Tool description: List files.",
    },
    {**function("rm", ("file",), file="string"), "description": "Remove a file."},
]


def files_of(category: str = "multi_turn_base", gold: Any = None, **more: Any) -> dict[str, bytes]:
    """A case of two turns: move a file, then nothing can be done."""
    row = {
        "id": f"{category}_7",
        "question": [[{"role": "user", "content": "Move a to b."}], [{"role": "user", "content": "Now rename it."}]],
        "involved_classes": ["GorillaFileSystem"],
        "initial_config": {},
        "path": [],
        **more,
    }
    gold = [["mv('a', destination='b')"], []] if gold is None else gold
    return {
        f"BFCL_v4_{category}.json": lines(row),
        f"possible_answer/BFCL_v4_{category}.json": lines({"id": row["id"], "ground_truth": gold}),
        "multi_turn_func_doc/gorilla_file_system.json": lines(*DOCS),
    }


def verdict_of(suite: Suite, result: Any) -> Any:
    (case,) = suite.cases
    category = suite.name.removeprefix("bfcl-")
    return judged(suite, {f"m-FC/BFCL_v4_{category}_result.json": lines({"id": case.id, "result": result})})[case.id]


MOVE = [{"mv": '{"source": "a", "destination": "b"}'}]


def test_a_case_has_its_turns_gold_and_free_tools() -> None:
    (case,) = suite_of(files_of(excluded_function=["rm"])).cases
    assert [tool.name for tool in case.own_tools] == ["mv", "ls"]
    assert case.prompt == "Now rename it."
    assert case.turns[0].calls == (
        ExpectedCall("mv", ArgumentRules(required_equals={"source": "a", "destination": "b"})),
    )
    assert [turn.free for turn in case.turns] == [("ls",), ("ls",)]
    assert [turn.calls for turn in case.turns[1:]] == [()]
    assert case.family == "multi_turn-7"
    assert case.metadata["benchmark"]["ground_truth"] == [["mv('a', destination='b')"], []]


@pytest.mark.parametrize(
    ("result", "right"),
    [
        ([[MOVE, "I moved it."], ["Rename it to what?"]], True),
        ([[[{"ls": "{}"}], MOVE, "I moved it."], ["Rename it to what?"]], True),
        ([["[mv(source='a', destination='b')]", "I moved it."], [[{"ls": "{}"}], "Rename it to what?"]], True),
        ([[MOVE, "I moved it."], [[{"rm": '{"file": "b"}'}]]], False),
        ([[MOVE, MOVE], ["Rename it to what?"]], False),
        ([[[{"mv": '{"source": "a", "destination": "B"}'}]], ["Rename it to what?"]], False),
        ([["What shall I move?"], ["Rename it to what?"]], False),
        ([[[{"mv": "{"}]], ["Rename it to what?"]], False),
    ],
)
def test_38_39_each_turn_is_judged_and_looking_is_free(result: Any, right: bool) -> None:
    derived = verdict_of(suite_of(files_of()), result)
    assert derived.verdict.passed is right
    assert len(derived.verdict.evidence["turns"]) == 2


def test_38_credit_is_by_turn() -> None:
    derived = verdict_of(suite_of(files_of()), [[MOVE], [[{"rm": '{"file": "b"}'}]]])
    assert [turn["passed"] for turn in derived.verdict.evidence["turns"]] == [True, False]


def test_bfcls_verdict_is_not_given_and_the_reason_is() -> None:
    derived = verdict_of(suite_of(files_of()), [[MOVE], ["?"]])
    assert derived.compatible_passed is None
    assert "simulators" in derived.compatible["unknown"]


def test_an_error_instead_of_turns_is_coverage_loss() -> None:
    derived = verdict_of(suite_of(files_of()), "Error during inference: timed out")
    assert (derived.verdict.acceptance, derived.verdict.passed) == ("timeout", None)


def test_a_conversation_that_ended_early_fails_where_calls_are_missing() -> None:
    suite = suite_of(files_of(gold=[["ls()"], ["rm(file='b')"]]))
    derived = verdict_of(suite, [[[{"ls": "{}"}]]])
    assert derived.verdict.passed is False
    assert [turn["passed"] for turn in derived.verdict.evidence["turns"]] == [True, False]


def test_the_tokens_of_the_turns_are_added() -> None:
    suite = suite_of(files_of())
    row = {
        "id": suite.cases[0].id,
        "result": [[MOVE], ["?"]],
        "input_token_count": [[1, 2], [4]],
        "output_token_count": 9,
    }
    found = judged(suite, {"m/BFCL_v4_multi_turn_base_result.json": lines(row)})
    assert found[suite.cases[0].id].measures.usage == Usage(input_tokens=7, output_tokens=9)


def test_a_withheld_function_is_no_free_tool_before_it_comes() -> None:
    questions = [[{"role": "user", "content": "List it."}], []]
    files = files_of("multi_turn_miss_func", [[], ["ls()"]], question=questions, missed_function={"1": ["ls"]})
    suite = suite_of(files)
    (case,) = suite.cases
    assert [turn.free for turn in case.turns] == [(), ("ls",)]
    assert (case.turns[1].messages, case.prompt) == ((), "List it.")
    assert verdict_of(suite, [["I have no tool for that."], [[{"ls": "{}"}]]]).verdict.passed is True
    assert verdict_of(suite, [[[{"ls": "{}"}]], [[{"ls": "{}"}]]]).verdict.passed is False


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("mv('a', 'b')", {"source": "a", "destination": "b"}),
        ("FileSystem.mv(source='a', destination='b')", {"source": "a", "destination": "b"}),
        ("ls(a=True)", {"a": True}),
        ("ls()", {}),
        ("rm(['a', ('b', 1)])", {"file": ["a", ["b", 1]]}),
    ],
)
def test_gold_calls_are_read_by_the_grammar(text: str, arguments: Any) -> None:
    tools = {tool.name: tool for tool in tools_of(DOCS).tools}
    call = gold_call(text, tools)
    assert isinstance(call, ExpectedCall)
    assert call.arguments.required_equals == arguments


@pytest.mark.parametrize(
    "text", ["mv(", "mv", "cp('a')", "mv(a, b)", "mv('a', 'b', 'c')", "rm(name='a')", 5, "x = 1", "f()()"]
)
def test_gold_that_is_no_call_of_an_offered_tool_excludes_the_case(text: Any) -> None:
    (case,) = suite_of(files_of(gold=[[text], []])).cases
    assert case.excluded is not None
    assert any(tag.startswith("gold-defect:") for tag in case.tags)


@given(st.text(max_size=30))
def test_no_text_of_gold_raises(text: str) -> None:
    assert isinstance(gold_call(text, {}), Defect)


def test_gold_that_its_schema_refuses_is_marked() -> None:
    (case,) = suite_of(files_of(gold=[["ls(a='yes')"], []])).cases
    assert (case.excluded, "gold-defect:unpassable" in case.tags) == (None, True)


def test_gold_of_another_number_of_turns_excludes_the_case() -> None:
    (case,) = suite_of(files_of(gold=[["ls()"]])).cases
    assert case.excluded is not None
    assert "gold-defect:turns" in case.tags


@pytest.mark.parametrize(
    ("description", "looks"),
    [
        ("Tool description: Displays the log.", True),
        ("Gets the speed.", True),
        ("Change the current directory.", False),
        ("Sort the lines of a file.", False),
        ("", False),
    ],
)
def test_a_tool_only_looks_when_its_description_begins_so(description: str, looks: bool) -> None:
    assert looks_only(Tool("t", description, {})) is looks


def test_a_document_that_is_missing_is_named() -> None:
    files = files_of()
    del files["multi_turn_func_doc/gorilla_file_system.json"]
    with pytest.raises(InputError, match="gorilla_file_system"):
        bfcl.read(files)
    with pytest.raises(InputError, match="not known"):
        bfcl.read(files_of(involved_classes=["Nonsense"]))


def test_the_published_tools_that_only_look_are_these(published: Any) -> None:
    suites, _ = published
    tools = {
        tool.name: tool
        for name in ("bfcl-multi_turn_base", "bfcl-multi_turn_miss_func")
        for case in suites[name].cases
        for tool in case.own_tools
    }
    looking = {name for name, tool in tools.items() if looks_only(tool)}
    assert {"ls", "cat", "pwd", "find", "grep", "tail", "wc", "diff", "du", "get_stock_info", "list_users"} <= looking
    assert not looking & {
        "cd",
        "mv",
        "cp",
        "rm",
        "mkdir",
        "touch",
        "echo",
        "sort",
        "post_tweet",
        "book_flight",
        "place_order",
    }
    assert (len(looking), len(tools)) == (69, 128)


def test_every_published_gold_call_is_read(published: Any) -> None:
    suites, _ = published
    assert set(DOCUMENTS) >= {"GorillaFileSystem"}
    for name in ("bfcl-multi_turn_base", "bfcl-multi_turn_miss_func", "bfcl-multi_turn_miss_param"):
        for case in suites[name].cases:
            listed = case.metadata["benchmark"]["ground_truth"]
            assert [len(turn.calls) for turn in case.turns] == [len(calls) for calls in listed]
            assert json.dumps(case.metadata)
