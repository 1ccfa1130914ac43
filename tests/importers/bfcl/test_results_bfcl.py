"""Recorded results: which case each answers, what it says, what is missing, and the probes. Numbers: scoring faults."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from bfcl_cases_kit import folder, function, input_fault, judged, lines, record_of, score, suite_of
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import Exchange, ProviderError, Record, Round, Suite, Timing, TrialKey, Usage
from callscope.derive import derive
from callscope.errors import InputError
from callscope.importers import bfcl
from callscope.importers.bfcl.results import LANGUAGE

NUMBER = [function("f", x="integer")]
GOLD = [{"f": {"x": [1]}}]
RIGHT = [{"f": '{"x": 1}'}]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["f", "name", "x", ""]), inner, max_size=2)
    ),
    max_leaves=8,
)


@pytest.fixture
def several() -> Suite:
    """Three cases of one category."""
    files = folder("multiple", NUMBER, GOLD)
    for path, data in files.items():
        row = json.loads(data)
        files[path] = lines(*({**row, "id": f"multiple_{number}"} for number in range(3)))
    return suite_of(files)


def read(suite: Suite, results: dict[str, bytes]) -> Any:
    return bfcl.read_results(results, {suite.name: {case.id: case for case in suite.cases}})


def passed(result: Any, functions: Any = NUMBER, gold: Any = GOLD, *, category: str = "simple_python") -> bool | None:
    return score(category, functions, gold, result).verdict.passed


# -- which answers there are -------------------------------------------------------------------------------------------


def test_32_rows_that_are_missing_or_torn_are_missing_and_said_so(several: Suite) -> None:
    data = lines({"id": "multiple_0", "result": RIGHT}, {"id": "multiple_2", "result": RIGHT}) + b'\n{"id": "multi'
    (model,) = read(several, {"m-FC/BFCL_v4_multiple_result.json": data})
    assert [answer.case_id for answer in model.answers] == ["multiple_0", "multiple_2"]
    assert any("multiple_result.json:3" in note and "left out" in note for note in model.notes)
    assert "bfcl-multiple: 2 of 3 cases are answered, 1 are not observed" in model.notes


def test_33_unknown_and_repeated_ids_are_left_out_and_said_so(several: Suite) -> None:
    rows = [
        {"id": "multiple_0", "result": RIGHT},
        {"id": "multiple_0", "result": []},
        {"id": "multiple_9", "result": []},
    ]
    (model,) = read(several, {"m-FC/BFCL_v4_multiple_result.json": lines(*rows)})
    assert [answer.parts for answer in model.answers] == [(lines(rows[0]),)]
    assert any("2 (multiple_0)" in note for note in model.notes)
    assert any("3 (multiple_9)" in note for note in model.notes)


def test_33_rows_of_version_1_count_from_0(several: Suite) -> None:
    (model,) = read(several, {"m/BFCL_v4_multiple_result.json": lines({"idx": 1, "result": RIGHT})})
    assert [answer.case_id for answer in model.answers] == ["multiple_1"]


def test_a_list_of_rows_is_read_as_lines_are(several: Suite) -> None:
    data = json.dumps([{"id": "multiple_1", "result": RIGHT}], indent=2).encode()
    (model,) = read(several, {"m/BFCL_v4_multiple_result.json": data})
    assert [answer.case_id for answer in model.answers] == ["multiple_1"]


@pytest.mark.parametrize(
    ("paths", "models"),
    [
        (["a/BFCL_v4_multiple_result.json"], ["a"]),
        (["a/non_live/BFCL_v4_multiple_result.json"], ["a"]),
        (["x/a/BFCL_v4_multiple_result.json", "y/a/non_live/BFCL_v4_multiple_result.json"], ["x/a", "y/a"]),
        (["BFCL_v4_multiple_result.json"], ["recorded"]),
        (["a/small_BFCL_v4_multiple_result.json"], ["a"]),
    ],
)
def test_a_model_is_called_as_its_folder(several: Suite, paths: list[str], models: list[str]) -> None:
    data = lines({"id": "multiple_0", "result": RIGHT})
    assert all(bfcl.wanted_results(path) for path in paths)
    assert [model.model for model in read(several, dict.fromkeys(paths, data))] == models


def test_a_part_fills_what_the_whole_file_lacks(several: Suite) -> None:
    files = {
        "a/small_BFCL_v4_multiple_result.json": lines(
            {"id": "multiple_0", "result": []}, {"id": "multiple_1", "result": []}
        ),
        "a/BFCL_v4_multiple_result.json": lines({"id": "multiple_0", "result": RIGHT}),
    }
    (model,) = read(several, files)
    assert [answer.source for answer in model.answers] == [
        "a/BFCL_v4_multiple_result.json:1",
        "a/small_BFCL_v4_multiple_result.json:2",
    ]


def test_score_files_and_other_categories_are_not_answers(several: Suite) -> None:
    assert not bfcl.wanted_results("a/BFCL_v4_multiple_score.json")
    (model,) = read(several, {"a/BFCL_v4_memory_result.json": b"junk"})
    assert model.answers == ()
    assert "no cases of memory" in model.notes[0]


def test_a_file_without_one_readable_row_is_an_error(several: Suite) -> None:
    with pytest.raises(InputError) as raised:
        read(several, {"a/BFCL_v4_multiple_result.json": b"<html>\n</html>"})
    assert (raised.value.file, raised.value.line) == ("a/BFCL_v4_multiple_result.json", 1)


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_junk_raises_nothing_but_an_input_error(junk: bytes) -> None:
    suite = suite_of(folder("multiple", NUMBER, GOLD))
    fault = input_fault(lambda: read(suite, {"a/BFCL_v4_multiple_result.json": junk}))
    assert fault is None or fault.file == "a/BFCL_v4_multiple_result.json"


@given(st.binary(max_size=80) | JSON.map(lambda value: json.dumps({"result": value, "turn": 0}).encode()))
def test_the_reader_never_raises(body: bytes) -> None:
    for language in ("python", "java", "javascript", "cobol"):
        bfcl.READER.parse(200, ((LANGUAGE, language),), body, stream=False)


@given(JSON)
def test_any_result_is_derived_without_an_error(result: Any) -> None:
    for category in ("simple_python", "simple_java", "parallel", "irrelevance"):
        gold = None if category == "irrelevance" else GOLD
        derived = score(category, NUMBER, gold, result)
        assert derived.verdict.passed is not True or category == "irrelevance"


# -- what an answer says -----------------------------------------------------------------------------------------------


def test_2_an_error_of_the_server_is_coverage_loss_and_no_abstention() -> None:
    derived = score("irrelevance", NUMBER, None, "Error during inference: Error code: 500 - {'error': 'busy'}")
    assert isinstance(derived.outcome, ProviderError)
    assert (derived.verdict.acceptance, derived.verdict.passed) == ("provider_error", None)
    assert derived.compatible_passed is True  # BFCL takes it for an abstention


def test_a_row_without_a_result_is_coverage_loss(several: Suite) -> None:
    found = judged(several, {"m/BFCL_v4_multiple_result.json": lines({"id": "multiple_0"})})
    derived = found["multiple_0"]
    assert (derived.verdict.acceptance, derived.verdict.passed) == ("provider_error", None)
    assert derived.compatible_passed is None


@pytest.mark.parametrize(
    ("row", "usage"),
    [
        ({"input_token_count": 5, "output_token_count": 0}, Usage(input_tokens=5, output_tokens=0)),
        ({"input_token_count": [[3, 4], [5]], "output_token_count": [1.0]}, Usage(input_tokens=12, output_tokens=1)),
        ({"input_token_count": None}, Usage()),
        ({"input_token_count": "many", "output_token_count": []}, Usage()),
        ({}, Usage()),
    ],
)
def test_35_zero_tokens_are_zero_and_unknown_ones_unknown(row: dict[str, Any], usage: Usage) -> None:
    assert bfcl.READER.parse(200, (), lines({"result": "x", **row}), stream=False).usage == usage


@pytest.mark.parametrize(
    ("result", "right"),
    [
        ("None of these fits.", True),
        ([], True),
        ("", True),
        ({"tool_calls": [], "content": "None of these fits."}, True),
        ({"tool_calls": None, "content": "None of these fits."}, True),
        ("[f(x=1)]", False),
        ("[f(x=1]", False),
        ([{"f": None}], False),
        ([{"f": "{x"}], False),
        ([{}], False),
        ('<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>', False),
    ],
)
def test_1_4_5_6_29_only_words_are_an_abstention(result: Any, right: bool) -> None:
    assert passed(result, NUMBER, None, category="irrelevance") is right


@pytest.mark.parametrize("name", ["math.f", "math_f"])
@pytest.mark.parametrize("written", ["fc", "text"])
def test_7_a_name_is_right_with_its_dot_and_as_it_was_sent(name: str, written: str) -> None:
    result = [{name: '{"x": 1}'}] if written == "fc" else f"[{name}(x=1)]"
    assert passed(result, [function("math.f", x="integer")], [{"math.f": {"x": [1]}}]) is True


def test_7_where_two_names_collide_nothing_is_guessed() -> None:
    functions, gold = [function("a.b", x="integer"), function("a_b", x="integer")], [{"a.b": {"x": [1]}}]
    assert passed([{"a.b": '{"x": 1}'}], functions, gold, category="multiple") is True
    assert passed([{"a_b": '{"x": 1}'}], functions, gold, category="multiple") is False


@pytest.mark.parametrize(
    ("calls", "right"),
    [
        ([1, 2], True),
        ([2, 1], True),
        ([1], False),
        ([1, 1], True),
        ([2, 2], False),
        ([1, 2, 2], False),
        ([1, 2, 3], False),
        ([], False),
    ],
)
def test_20_21_22_a_parallel_case_wants_each_of_its_calls_once(calls: list[int], right: bool) -> None:
    gold = [{"f": {"x": [1, 2]}}, {"f": {"x": [1]}}]
    result = [{"f": json.dumps({"x": value})} for value in calls]
    assert passed(result, NUMBER, gold, category="parallel") is right


@pytest.mark.parametrize(
    ("declared", "gold", "given", "right"),
    [
        ({"type": "array", "items": {"type": "float"}}, [1.0, 3.0], [1, 3], True),
        ({"type": "tuple", "items": {"type": "integer"}}, [1, 2], [2, 1], False),
        ({"type": "string"}, "5", "-5", False),
        ({"type": "string"}, "1.5", "15", False),
        ({"type": "string"}, "/ab/c", "/a/bc", False),
        ({"type": "string"}, "x**2", "x2", False),
        ({"type": "string"}, "New York", " new york ", True),
        ({"type": "string"}, "April 1, 2024", "April 1 2024", True),
        ({"type": "string"}, "2024-04-01", "April 1, 2024", False),
        ({"type": "string"}, "a b", "a\nb", False),
        ({"type": "string"}, "Canc\u00fan", "Cancu\u0301n", True),
        ({"type": "float"}, 0.3, 0.1 + 0.2, True),
        ({"type": "float"}, 0.3, 0.3001, False),
        ({"type": "boolean"}, True, "true", False),
        ({"type": "boolean"}, True, 1, False),
        ({"type": "number"}, 5, 5.0, True),
        ({"type": "object"}, {"a": [1]}, {"a": 1}, True),
        ({"type": ["string", "null"]}, "a", "A", True),
        ({"type": ["string", "null"]}, "a", None, False),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"], ["b", "a"], False),
    ],
)
def test_8_to_12_24_26_values(declared: Any, gold: Any, given: Any, right: bool) -> None:
    result = [{"f": json.dumps({"x": given})}]
    assert passed(result, [function("f", x=declared)], [{"f": {"x": [gold]}}]) is right


@pytest.mark.parametrize(
    ("category", "declared", "gold", "given", "right"),
    [
        ("simple_java", {"type": "integer"}, 5, 5, True),
        ("simple_java", {"type": "integer"}, 5, "5", True),
        ("simple_java", {"type": "integer"}, 5, "6", False),
        ("simple_java", {"type": "integer"}, 5, '"5"', False),
        ("simple_java", {"type": "long"}, 5, "5L", True),
        ("simple_java", {"type": "boolean"}, True, "true", True),
        ("simple_java", {"type": "boolean"}, True, True, True),
        ("simple_java", {"type": "boolean"}, True, "yes", False),
        ("simple_java", {"type": "String"}, "5", "5", True),
        ("simple_java", {"type": "ArrayList", "items": {"type": "String"}}, ["a"], 'List.of("a")', True),
        ("simple_java", {"type": "ArrayList", "items": {"type": "String"}}, ["a"], ["a"], True),
        ("simple_java", {"type": "HashMap"}, {"a": [1]}, 'Map.of("a", 1)', True),
        ("simple_java", {"type": "HashMap"}, "env", "env", True),
        ("simple_javascript", {"type": "Boolean"}, True, "true", True),
        ("simple_javascript", {"type": "integer"}, 5, 5, True),
        ("simple_javascript", {"type": "dict"}, {"a": [["b", "c"]]}, '{"a": ["b", "c"]}', True),
        ("simple_javascript", {"type": "dict"}, {"a": [["b", "c"]]}, {"a": ["b", "c"]}, True),
        ("simple_javascript", {"type": "array", "items": {"type": "float"}}, [1.0, 2.0], "[1, 2]", True),
    ],
)
def test_25_source_text_and_json_values_are_both_taken(
    category: str, declared: Any, gold: Any, given: Any, right: bool
) -> None:
    result = [{"f": json.dumps({"x": given})}]
    assert passed(result, [function("f", x=declared)], [{"f": {"x": [gold]}}], category=category) is right


@pytest.mark.parametrize("text", ["[f(x=5)]", '[f(x="5")]', "f(x=5)"])
def test_25_a_prompted_value_may_stand_in_quotes_of_its_own(text: str) -> None:
    derived = score("simple_java", NUMBER, [{"f": {"x": [5]}}], text, model="prompted")
    assert derived.verdict.passed is True
    assert "source_text" in derived.verdict.flags


def test_28_30_words_of_python_and_objects_are_arguments() -> None:
    functions = [function("f", ("class",), **{"class": "string", "o": "dict"})]
    gold = [{"f": {"class": ["a"], "o": ["", {"k": [1]}]}}]
    assert passed("[f(class='a', o=dict(k=1))]", functions, gold) is True
    assert passed("[f(class='a', o={'k': 1})]", functions, gold) is True


def test_41_what_is_false_is_not_missing() -> None:
    functions = [function("f", (), x="integer")]
    assert passed([{"f": '{"x": 0}'}], functions, [{"f": {"x": ["", 5]}}]) is False
    assert passed([{"f": "{}"}], functions, [{"f": {"x": ["", 5]}}]) is True


def test_relevance_wants_a_call_that_keeps_its_schema() -> None:
    functions = [function("f", x="integer"), function("g", ("y",), y="string")]
    for result, right in (
        ([{"g": '{"y": "any"}'}], True),
        ([{"f": '{"x": 7}'}], True),
        ([{"f": '{"x": "seven"}'}], False),
        ([{"f": "{}"}], False),
        ([{"h": "{}"}], False),
        ("No.", False),
    ):
        assert passed(result, functions, None, category="live_relevance") is right


def test_relevance_reports_a_second_call_as_extra() -> None:
    verdict = score("live_relevance", NUMBER, None, [{"f": '{"x": 7}'}, {"f": '{"x": 8}'}]).verdict
    assert (verdict.selection, verdict.attribution, verdict.passed) == ("correct_tool", "correct", False)
    assert verdict.violations == ("extra_call",)


# -- the shelf ---------------------------------------------------------------------------------------------------------

POLICY = {
    "q13_opt_explicit_null": False,
    "q13c_empty_string_as_omitted": False,
    "q15_list_order": False,
    "q19_list_dict_order": False,
    "q21_number_string_variable": True,
    "q30_java_int": True,
    "q37b_args_null": False,
    "q40_whitespace_nl": False,
}
"""Ours, where both verdicts can be defended; docs/guides/score-bfcl-results.md says why."""


def test_every_probe_gets_the_sane_verdict_and_bfcls_beside_it(shared: Path) -> None:
    probes = json.loads((shared / "data" / "bfcl_scorer_probes.json").read_text())
    assert len(probes) == 46
    for probe in probes:
        derived = score(
            probe["category"], probe["function"], probe["possible_answer"], probe["prediction"], model=probe["model"]
        )
        ours = POLICY[probe["id"]] if probe["sane"] == "policy" else probe["sane"]
        assert derived.verdict.passed is ours, probe["id"]
        if isinstance(probe["bfcl"], bool):
            assert derived.compatible_passed is probe["bfcl"], probe["id"]
        else:
            assert derived.compatible_passed is None, probe["id"]
            assert derived.compatible["crashed"].startswith(probe["bfcl"].split()[1]), probe["id"]


def test_the_recorded_outputs_of_three_models_are_scored(shared: Path, published: Any) -> None:
    suites, _ = published
    where = shared / "data" / "bfcl_v4_results"
    files = {path.relative_to(where).as_posix(): path.read_bytes() for path in where.rglob("*_result.json")}
    cases = {suite.name: {case.id: case for case in suite.cases} for suite in suites.values()}
    models = {model.model: model for model in bfcl.read_results(files, cases)}
    assert {name: len(model.answers) for name, model in models.items()} == {
        "AIREV-Agent-0.8B": 3641,
        "DeepSeek-V3.1-Terminus-FC": 417,
        "claude-sonnet-4-5-20250929-FC": 417,
    }
    theirs: Counter[tuple[str, bool | None]] = Counter()
    ours: Counter[tuple[str, bool | None]] = Counter()
    for name, model in models.items():
        for answer in model.answers:
            derived = derive(record_of(answer, name), cases[answer.suite][answer.case_id], suites[answer.suite])
            if answer.suite == "bfcl-simple_python":
                theirs[name, derived.compatible_passed] += 1
                ours[name, derived.verdict.passed] += 1
            assert derived.verdict.acceptance == "accepted"
    # the score files that stand beside the results say 392 and 241 of 400
    assert theirs["claude-sonnet-4-5-20250929-FC", True] == 392
    assert theirs["DeepSeek-V3.1-Terminus-FC", True] == 241
    assert ours["claude-sonnet-4-5-20250929-FC", True] == 393


# -- a live run on an imported case ------------------------------------------------------------------------------------


def live(body: dict[str, Any], api: str = "openai-chat") -> tuple[bool | None, dict[str, Any]]:
    """BFCL's verdict on one live answer to a case with the published name `math.f`."""
    functions = [function("math.f", x="integer")]
    (case,) = suite_of(folder("simple_python", functions, [{"math.f": {"x": [1]}}])).cases
    exchange = Exchange(1, "POST", "u", (), b"", "", 200, (), json.dumps(body).encode(), Timing())
    record = Record(TrialKey("s", "auto", "m", case.id, 0), api, False, "", (Round((exchange,)),))
    return bfcl.verdict(record, case)


def called(name: str, arguments: str) -> dict[str, Any]:
    """A chat completion that calls."""
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def test_the_calls_of_a_live_run_are_checked_under_their_published_names() -> None:
    assert live(called("math_f", '{"x": 1}')) == (True, {})
    assert live(called("math_f", '{"x": 2}')) == (False, {"error_type": "value_error:others"})
    assert live(called("math_f", "{"))[1]["error_type"] == "ast_decoder:decoder_failed"


def test_an_unknown_wire_format_has_no_verdict_and_says_so() -> None:
    passed, evidence = live(called("math_f", "{}"), api="nonsense")
    assert passed is None
    assert "nonsense" in evidence["unknown"]


def test_a_record_without_an_answer_has_no_verdict() -> None:
    (case,) = suite_of(folder("simple_python", NUMBER, GOLD)).cases
    record = Record(TrialKey("s", "auto", "m", case.id, 0), "openai-chat", False, "", ())
    assert bfcl.verdict(record, case)[0] is None
