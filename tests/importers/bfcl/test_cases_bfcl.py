"""BFCL's files as cases: what is asked and offered, names, types, families, and files that are not BFCL's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bfcl_cases_kit import case_of, folder, function, input_fault, lines, suite_of
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import ExpectNoCall, ExpectTool, ExpectTools, Message
from callscope.errors import InputError
from callscope.importers import benchmark, bfcl
from callscope.importers.bfcl.catalogue import CATEGORIES, case_file
from callscope.importers.bfcl.schemas import safe_names, tools_of
from callscope.suites import lint_suite

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def schema_of(**declared: Any) -> dict[str, Any]:
    """The tool schema of a parameter `x` declared so."""
    (tool,) = tools_of([function(x=declared)]).tools
    found: dict[str, Any] = tool.parameters["properties"]["x"]
    return found


def test_a_case_brings_its_tools_messages_and_what_the_checker_needs() -> None:
    files = folder("simple_python", [function(x="integer")], [{"f": {"x": [1]}}])
    said = [{"role": "system", "content": "S"}, {"role": "user", "content": "A"}, {"role": "user", "content": "B"}]
    row = {"id": "simple_python_0", "question": [said], "function": [function(x="integer")]}
    files["BFCL_v4_simple_python.json"] = lines(row)
    suite = suite_of(files)
    (case,) = suite.cases
    assert (suite.name, suite.benchmark, suite.tools) == ("bfcl-simple_python", "bfcl", ())
    assert suite.version.startswith("v4-")
    assert (case.messages, case.prompt) == ((Message("system", "S"), Message("user", "A")), "B")
    assert [tool.name for tool in case.own_tools] == ["f"]
    about = case.metadata["benchmark"]
    assert (about["name"], about["category"], about["language"]) == ("bfcl", "simple_python", "python")
    assert (about["function"], about["ground_truth"]) == (row["function"], [{"f": {"x": [1]}}])
    assert (case.item, case.label) == ("positive", "call")


def test_the_version_follows_the_bytes() -> None:
    one = suite_of(folder("multiple", [function(x="integer")], [{"f": {"x": [1]}}]))
    other = suite_of(folder("multiple", [function(x="integer")], [{"f": {"x": [2]}}]))
    assert one.version != other.version


def test_irrelevance_is_a_global_negative_and_relevance_any_call() -> None:
    negative = case_of(folder("live_irrelevance", [function(x="integer")], None))
    assert (negative.expected, negative.item, negative.label) == (ExpectNoCall(), "global_negative", "no_tool")
    functions = [function("f", x="integer"), function("g.h", (), y="string")]
    positive = case_of(folder("live_relevance", functions, None))
    assert isinstance(positive.expected, ExpectTools)
    (call,) = positive.expected.calls
    assert (call.name, [other.name for other in call.alternatives]) == ("f", ["g_h"])


def test_one_gold_call_is_a_tool_and_a_parallel_category_has_tools() -> None:
    gold = [{"f": {"x": [1]}}]
    assert isinstance(case_of(folder("multiple", [function(x="integer")], gold)).expected, ExpectTool)
    single = case_of(folder("parallel", [function(x="integer")], gold))
    assert isinstance(single.expected, ExpectTools)
    assert "gold-defect:one-call-in-parallel" in single.tags


@pytest.mark.parametrize(
    ("declared", "made"),
    [
        ({"type": "dict"}, {"type": "object"}),
        ({"type": "float"}, {"type": "number"}),
        ({"type": "tuple", "items": {"type": "float"}}, {"type": "array", "items": {"type": "number"}}),
        ({"type": "any"}, {}),
        ({"type": ""}, {}),
        ({"type": "HashMap"}, {"type": "object"}),
        ({"type": "ArrayList", "items": {"type": "long"}}, {"type": "array", "items": {"type": "integer"}}),
        ({"type": "Bigint"}, {"type": "integer"}),
        ({"type": "char"}, {"type": "string"}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "wibble"}, {}),
        ({"type": "string", "default": None}, {"type": ["string", "null"], "default": None}),
        (
            {"type": "string", "enum": ["a"], "default": None},
            {"type": ["string", "null"], "enum": ["a", None], "default": None},
        ),
        ({"type": "integer", "default": "dontcare"}, {"type": ["integer", "string"], "default": "dontcare"}),
        ({"type": "string", "default": 5}, {"type": "string", "default": "5"}),
        ({"type": "array", "enum": ["a"]}, {"type": "array", "items": {"enum": ["a"]}}),
        ({"type": "integer", "enum": ["1", "2"]}, {"type": "integer", "enum": [1, 2]}),
        ({"type": "integer", "enum": ["low", "high"]}, {"enum": ["low", "high"]}),
        ({"type": "tuple", "items": [{"type": "float"}]}, {"type": "array", "prefixItems": [{"type": "number"}]}),
        (
            {"type": "dict", "properties": {"type": {"type": "float"}}},
            {"type": "object", "properties": {"type": {"type": "number"}}},
        ),
        ({"type": "string", "required": True}, {"type": "string"}),
        ({"type": "dict", "required": ["a", "a"]}, {"type": "object", "required": ["a"]}),
        ({"type": "dict", "properties": {"a": "text"}}, {"type": "object", "properties": {}}),
        ({"type": "string", "enum": []}, {"type": "string"}),
        ({"type": ["integer", "float"]}, {"type": ["integer", "number"]}),
        ({"type": ["float", "double"]}, {"type": ["number"]}),
    ],
)  # fmt: skip
def test_types_of_every_language_become_json_types(declared: dict[str, Any], made: dict[str, Any]) -> None:
    assert schema_of(**declared) == made


def test_names_are_made_safe_and_two_stay_two() -> None:
    assert safe_names(["math.f", "g h"]) == {"math.f": "math_f", "g h": "g_h"}
    assert safe_names(["a.b", "a_b", "a b"]) == {"a.b": "a_b_2", "a_b": "a_b", "a b": "a_b_3"}


@given(st.lists(st.text(min_size=1, max_size=4), unique=True))
def test_names_never_collide(published: list[str]) -> None:
    names = safe_names(published)
    assert len(set(names.values())) == len(published) == len(names)


def test_colliding_names_are_noted_and_tagged() -> None:
    functions = [function("a.b", x="integer"), function("a_b", x="integer")]
    files = folder("multiple", functions, [{"a.b": {"x": [1]}}])
    assert any("colliding-names" in note for note in bfcl.read(files).notes)
    case = case_of(files)
    assert isinstance(case.expected, ExpectTool)
    assert (case.expected.name, "gold-defect:colliding-names" in case.tags) == ("a_b_2", True)


@pytest.mark.parametrize(
    ("identity", "family"),
    [("live_simple_4-3-0", "live_simple-3"), ("live_simple_5-3-1", "live_simple-3"), ("simple_python_3", None)],
)
def test_variations_on_one_function_document_are_a_family(identity: str, family: str | None) -> None:
    category = identity.rsplit("_", 1)[0]
    assert case_of(folder(category, [function(x="integer")], [{"f": {"x": [1]}}], identity=identity)).family == family


def test_what_is_left_out_is_said() -> None:
    files = folder("parallel", [function(x="integer")], [{"f": {"x": [1]}}])
    files["BFCL_v4_web_search.json"] = b"whatever"
    files["small_BFCL_v4_parallel.json"] = b"whatever"
    files["BFCL_v3_parallel.json"] = b"whatever"
    files["BFCL_v4_multiple.json"] = lines({"id": "multiple_0"})
    files["unused_datasets/BFCL_v4_parallel.json"] = b"whatever"
    assert all(bfcl.wanted(path) for path in files)
    imported = bfcl.read(files)
    assert [suite.name for suite in imported.suites] == ["bfcl-parallel"]
    for path in set(files) - {"BFCL_v4_parallel.json", "possible_answer/BFCL_v4_parallel.json"}:
        assert any(note.startswith(f"{path}: ") for note in imported.notes), path


def test_version_3_is_read_under_the_names_of_version_4() -> None:
    files = folder("simple", [function(x="integer")], [{"f": {"x": [1]}}])
    suite = suite_of({path.replace("_v4_", "_v3_"): data for path, data in files.items()})
    assert (suite.name, suite.version[:3]) == ("bfcl-simple_python", "v3-")


@pytest.mark.parametrize("path", ["README.md", "BFCL_v4_multiple_result.json", "BFCL_v4_multiple_score.json", "x.json"])
def test_other_files_are_not_wanted(path: str) -> None:
    assert not bfcl.wanted(path)
    assert case_file(path) is None


def test_ids_that_stand_twice_are_noted_and_the_first_stays() -> None:
    files = folder("multiple", [function(x="integer")], [{"f": {"x": [1]}}])
    for path in files:
        files[path] = files[path] + b"\n" + files[path]
    imported = bfcl.read(files)
    assert len([note for note in imported.notes if "repeated-id" in note]) == 2
    assert len(suite_of(files).cases) == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([], "1"),
        ({"id": 3}, "id"),
        ({"id": "a", "function": []}, "question"),
        ({"id": "a", "function": [{"n": 1}], "question": [[{"role": "user", "content": "x"}]]}, "function"),
        ({"id": "a", "function": [], "question": [[{"role": "tool", "content": "x"}]]}, "question[0][0]"),
        ({"id": "a", "function": [], "question": [[{"role": "assistant", "content": "x"}]]}, "question[0]"),
        ({"id": "a", "function": [], "question": [[], []]}, "question"),
    ],
)
def test_a_row_that_is_none_of_bfcls_names_file_line_and_field(row: Any, said: str) -> None:
    files = {"data/BFCL_v4_irrelevance.json": b"\n" + lines(row if row else [1])}
    with pytest.raises(InputError) as raised:
        bfcl.read(files)
    assert raised.value.file == "data/BFCL_v4_irrelevance.json"
    assert raised.value.line is not None
    assert said in str(raised.value)


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_junk_raises_nothing_but_an_input_error(junk: bytes) -> None:
    for category in ("simple_java", "irrelevance", "multi_turn_base"):
        name = f"BFCL_v4_{category}.json"
        files = {name: junk, f"possible_answer/{name}": junk, "multi_turn_func_doc/math_api.json": junk}
        fault = input_fault(lambda files=files: bfcl.read(files))
        assert fault is None or fault.file is not None


@given(JSON, JSON, JSON)
def test_junk_inside_a_case_raises_nothing_but_an_input_error(schema: Any, listed: Any, gold: Any) -> None:
    functions = [{"name": "f", "description": schema, "parameters": schema}, function("g", x=schema)]
    for category in ("simple_python", "simple_javascript"):
        for ground_truth in ([{"f": {"x": listed}}], [{"g": {"x": listed}}], [gold], gold or ""):
            files = folder(category, functions, ground_truth)
            fault = input_fault(lambda files=files: suite_of(files))
            assert fault is None or fault.file is not None


def test_the_registry_finds_the_benchmark() -> None:
    found = benchmark("bfcl")
    assert found is not None
    assert found.NAME == "bfcl"


COUNTS = {
    "simple_python": 400, "simple_java": 100, "simple_javascript": 50, "multiple": 200, "parallel": 200,
    "parallel_multiple": 200, "irrelevance": 240, "live_simple": 258, "live_multiple": 1053, "live_parallel": 16,
    "live_parallel_multiple": 24, "live_irrelevance": 884, "live_relevance": 16, "multi_turn_base": 200,
    "multi_turn_miss_func": 200, "multi_turn_miss_param": 200,
}  # fmt: skip


def test_every_category_of_the_published_files_is_imported_whole(published: Any) -> None:
    suites, _ = published
    assert {name.removeprefix("bfcl-"): len(suite.cases) for name, suite in suites.items()} == COUNTS
    assert tuple(name.removeprefix("bfcl-") for name in suites) == CATEGORIES


def test_the_suites_of_the_published_files_can_be_linted(published: Any) -> None:
    suites, _ = published
    found = {finding.rule for finding in lint_suite(suites["bfcl-live_parallel"])}
    assert "unknown_tool" not in found
