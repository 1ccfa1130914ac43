"""BFCL's verdict as our code gives it: its rules and its faults, its probes, its recorded scores, and no exception."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callscope.importers.bfcl.checker import CompatVerdict, check
from callscope.importers.bfcl.decode import decode

PLAIN = "gorilla-openfunctions-v2"
WITH_UNDERSCORES = "gpt-4.1-2025-04-14-FC"


def function(properties: dict[str, Any], required: list[str] | None = None, name: str = "f") -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "dict", "properties": properties, "required": required or []}}


def verdict(
    declared: Any, value: Any, listed: Any, *, language: Any = "python", category: str = "simple_python", **more: Any
) -> CompatVerdict:
    """The verdict on f(x=value), x declared as `declared` (a type or the parameter's document)."""
    document = declared if isinstance(declared, dict) else {"type": declared}
    return check(
        category,
        [function({"x": document})],
        [{"f": {"x": value}}],
        [{"f": {"x": listed}}],
        language=language,
        model=PLAIN,
        **more,
    )


def of(inner: str, outer: str = "array") -> dict[str, Any]:
    return {"type": outer, "items": {"type": inner}}


PYTHON = [
    ("string", "New York", ["new york"], ""),
    ("string", "-5", ["5"], ""),
    ("string", "/a/b c", ["ab.c"], ""),
    ("string", "it's", ['it"s'], ""),
    ("string", "a\nb", ["a b"], "value_error:string"),
    ("string", 5, ["5"], "type_error:simple"),
    ("string", None, [""], "type_error:simple"),
    ("string", "", ["", "x"], ""),
    ("integer", 5, [5], ""),
    ("integer", 5.0, [5], "type_error:simple"),
    ("integer", True, [1], "type_error:simple"),
    ("integer", 6, [5], "value_error:others"),
    ("integer", "n", ["n"], ""),
    ("integer", 5, ["n"], "value_error:others"),
    ("float", 5, [5.0], ""),
    ("float", "5", [5.0], "type_error:simple"),
    ("float", 0.30000000000000004, [0.3], "value_error:others"),
    ("boolean", True, [True], ""),
    ("boolean", "true", [True], "type_error:simple"),
    ("any", 5, [5], ""),
    ("any", "A", ["a"], ""),
    (of("string"), ["A b"], [["ab"]], ""),
    (of("string"), ["b", "a"], [["a", "b"]], "value_error:list/tuple"),
    (of("string"), [], ["", ["a"]], ""),
    (of("string"), ["x", "y"], ["", ["a"]], "value_error:list/tuple"),
    (of("float"), [1, 3], [[1.0, 3.0]], "type_error:nested"),
    (of("float"), ["x"], [["x"]], ""),
    (of("integer"), 5, [[5]], "type_error:simple"),
    (of("integer", "tuple"), [1, 2], [[1, 2]], ""),
    (of("integer", "tuple"), (1, 2), [[1, 2]], ""),
    (of("integer"), (1, 2), [[1, 2]], "type_error:simple"),
    (of("array"), [["New York"]], [[["new york"]]], "value_error:list/tuple"),
    ("dict", {"a": "X Y"}, [{"a": ["xy"]}], ""),
    ("dict", {"a": True}, [{"a": [1]}], ""),
    ("dict", {"a": ["X"]}, [{"a": [["x"]]}], "value_error:dict_value"),
    ("dict", {"a": 2}, [{"a": [1]}, {"a": [2]}], ""),
    ("dict", {"b": 1}, [{"a": [1]}], "value_error:dict_key"),
    ("dict", {}, [{"a": ["", 1]}], ""),
    ("dict", {}, [{"a": [1]}], "value_error:dict_key"),
    ("dict", {"a": 2}, [{"a": [1], "b": [1]}], "value_error:dict_key"),
    ("dict", {"a": 1}, [""], "dict_checker:unclear"),
    (of("dict"), [{"k": 2}], [[{"k": [1]}], [{"k": [2]}]], ""),
    (of("dict"), [{"k": 2}, {"k": 1}], [[{"k": [1]}, {"k": [2]}]], "value_error:dict_value"),
    (of("dict"), [{"k": 1}], [[{"k": [1]}, {"k": [2]}]], "value_error:list_dict_count"),
    (of("dict"), ["no"], [[{"k": [1]}]], "type_error:nested"),
]


@pytest.mark.parametrize(("declared", "value", "listed", "error_type"), PYTHON)
def test_a_value_gets_the_error_type_bfcl_gives_it(declared: Any, value: Any, listed: Any, error_type: str) -> None:
    assert verdict(declared, value, listed) == CompatVerdict(not error_type, error_type)


CODE = [
    ("java", "integer", "5", [5], ""),
    ("java", "integer", 5, [5], "type_error:java"),
    ("java", "long", "5L", [5], ""),
    ("java", "long", "5", [5], "type_error:simple"),
    ("java", "float", "5.0", [5.0], "type_error:simple"),
    ("java", "double", "5.0", [5.0], ""),
    ("java", "boolean", "true", [True], ""),
    ("java", "char", "'a'", ["a"], "value_error:string"),
    ("java", "float", "5.0f", [5.0], ""),
    ("java", "any", "anything", ["Anything"], ""),
    ("java", of("String", "ArrayList"), 'new ArrayList<>(Arrays.asList("a", "b"))', [["a", "b"]], ""),
    ("java", of("String", "ArrayList"), 'new ArrayList<>(Arrays.asList("a, b"))', [["a, b"]], "value_error:list/tuple"),
    ("java", of("String", "ArrayList"), 'new ArrayList<String>() {{ add("a"); }}', [["a"]], ""),
    ("java", of("String", "ArrayList"), 'List.of("a")', [["a"]], "type_error:simple"),
    ("java", of("String", "ArrayList"), "names", ["names"], ""),
    ("java", of("String", "Array"), 'new String[]{"a"}', [["a"]], "value_error:list/tuple"),
    ("java", of("integer", "Array"), "new int[]{1, 2}", [[1, 2]], ""),
    ("java", "HashMap", 'new HashMap<>() {{ put("a", 1); put("b", true); }}', [{"a": [1], "b": [True]}], ""),
    ("java", "HashMap", "new HashMap<>()", [{}], ""),
    ("java", "HashMap", "Map.of()", ["map"], "value_error:others"),
    (
        "java",
        "HashMap",
        'new HashMap<>() {{ put("a", "b"); put("c", 2L); put("d", 1.5f); put("e", 0.5); put("f", g); }}',
        [{"a": ["b"], "c": [2], "d": [1.5], "e": [0.5], "f": ["g"]}],
        "",
    ),
    ("java", of("integer", "ArrayList"), "new ArrayList<>() {{ }}", [[]], ""),
    ("java", of("integer", "ArrayList"), "new ArrayList<>() {{}}", [[]], ""),
    (
        "java",
        of("ArrayList", "ArrayList"),
        "new ArrayList<>(Arrays.asList(new ArrayList<>()))",
        [[[]]],
        "type_error:nested",
    ),
    ("javascript", "float", "3", [3.0], ""),
    ("javascript", "float", 3, [3.0], "type_error:js"),
    ("javascript", "Bigint", "3n", [3], ""),
    ("javascript", "String", "'a'", ["a"], ""),
    ("javascript", "Boolean", "True", [True], "type_error:simple"),
    ("javascript", of("String"), "[\"a\", 'b']", [["a", "b"]], ""),
    ("javascript", of("array"), "[[1, 2], [3]]", [[[1, 2], [3]]], ""),
    ("javascript", of("array"), "new Array([1], ['a'])", [[[1], ["a"]]], ""),
    ("javascript", "dict", '{"a": ["b", "c"], "d": 1}', [{"a": [["b", "c"]], "d": [1]}], ""),
    ("javascript", "integer", "3.0", [3], "type_error:simple"),
    ("javascript", of("integer"), "[]", [[]], ""),
    ("javascript", of("integer"), "items", ["items"], ""),
    ("javascript", of("integer"), "[" + "1" * 5000 + "]", [[1]], "type_error:simple"),
    ("javascript", of("array"), "[[1], [2]", [[[1]]], "type_error:nested"),
    ("javascript", of("array"), "[[1,[2]],\n[3]]", [[[1, "[2"], [3]]], "value_error:list/tuple"),
    ("javascript", of("any"), "['a', 1.5]", [["'a'", "1.5"]], ""),
    ("javascript", "dict", "{}", [{}], ""),
    ("javascript", "dict", "state", ["state"], ""),
    (
        "javascript",
        "dict",
        "{a: true, b: 1.5, c: x, d: 'it', e: {}}",
        [{"a": [True], "b": [1.5], "c": ["x"], "d": ["it"], "e": [{}]}],
        "value_error:dict_value",
    ),
    ("javascript", "dict", "{a: {b: 1}}", [{"a": [{"b": 1}]}], "value_error:dict_value"),
]


@pytest.mark.parametrize(("language", "declared", "value", "listed", "error_type"), CODE)
def test_source_text_is_read_by_bfcls_patterns(
    language: str, declared: Any, value: Any, listed: Any, error_type: str
) -> None:
    found = verdict(declared, value, listed, language=language, category=f"simple_{language}")
    assert found == CompatVerdict(not error_type, error_type)


CRASHES = [
    ("number", 1, [1], "python", "KeyError: 'number'"),
    (["string", "null"], "a", ["a"], "python", "TypeError: unhashable type: 'list'"),
    ("array", ["a"], [["a"]], "python", "KeyError: 'items'"),
    ("float", 10**400, [1.0], "python", "OverflowError: int too large to convert to float"),
    ("string", "a", 5, "python", "TypeError: 'int' object is not iterable"),
    ("Queue", "x", ["x"], "java", "NotImplementedError: Queue conversion is not implemented"),
    ("Hashtable", "x", ["x"], "java", "NotImplementedError: Set conversion is not implemented"),
    ("array", "x", ["x"], "java", "KeyError: 'array'"),
]


@pytest.mark.parametrize(("declared", "value", "listed", "language", "crashed"), CRASHES)
def test_where_bfcl_stops_there_is_no_verdict_but_the_name_of_what_stopped_it(
    declared: Any, value: Any, listed: Any, language: str, crashed: str
) -> None:
    assert verdict(declared, value, listed, language=language) == CompatVerdict(None, "", crashed)


CALLS = [
    ({"x": 1}, ""),
    ({"x": 1, "y": 2}, ""),
    ({}, "simple_function_checker:missing_required"),
    ({"x": 1, "z": 1}, "simple_function_checker:unexpected_param"),
    ({"x": 1, "y": 3}, "value_error:others"),
    ([1], "simple_function_checker:missing_required"),
]


@pytest.mark.parametrize(("arguments", "error_type"), CALLS)
def test_parameters_are_checked_before_values(arguments: Any, error_type: str) -> None:
    described = function({"x": {"type": "integer"}, "y": {"type": "integer"}, "z": {"type": "integer"}}, ["x"])
    answer = [{"f": {"x": [1], "y": ["", 2]}}]
    found = check("simple_python", [described], [{"f": arguments}], answer, language="python", model=PLAIN)
    assert found == CompatVerdict(not error_type, error_type)


def test_a_parameter_of_the_gold_that_may_not_be_omitted_is_missed() -> None:
    described = function({"x": {"type": "integer"}})
    found = check("simple_python", [described], [{"f": {}}], [{"f": {"x": [1]}}], language="python", model=PLAIN)
    assert found == CompatVerdict(False, "simple_function_checker:missing_optional")


@pytest.mark.parametrize(
    ("model", "called", "error_type"),
    [
        (PLAIN, "a.f", ""),
        (PLAIN, "a_f", "simple_function_checker:wrong_func_name"),
        (WITH_UNDERSCORES, "a_f", ""),
        (WITH_UNDERSCORES, "a.f", "simple_function_checker:wrong_func_name"),
        ("qwen3-235b-a22b-instruct-2507-FC", "a.f", ""),
        ("THUDM_glm-4-9b-chat", "a_f", ""),
        ("not-listed-FC", "a_f", ""),
        ("not-listed", "a.f", ""),
        ("Org_not-listed-FC", "a.f", ""),
    ],
)
def test_whether_dots_became_underscores_depends_on_the_model(model: str, called: str, error_type: str) -> None:
    described = function({}, name="a.f")
    found = check("simple_python", [described], [{called: {}}], [{"a.f": {}}], language="python", model=model)
    assert found == CompatVerdict(not error_type, error_type)


def numbers(category: str, called: list[int], answers: list[list[int]]) -> CompatVerdict:
    calls = [{"f": {"x": each}} for each in called]
    gold = [{"f": {"x": each}} for each in answers]
    described = [function({"x": {"type": "integer"}}, ["x"]), function({}, name="g")]
    return check(category, described, calls, gold, language="python", model=PLAIN)


@pytest.mark.parametrize("category", ["multiple", "parallel"])
def test_one_function_may_stand_without_its_list(category: str) -> None:
    described = function({"x": {"type": "integer"}})
    found = check(category, described, [{"f": {"x": 1}}], [{"f": {"x": [1]}}], language="python", model=PLAIN)
    assert found == CompatVerdict(True)


@pytest.mark.parametrize("category", ["multiple", "parallel"])
def test_gold_of_a_function_that_is_not_offered_stops_the_checker(category: str) -> None:
    found = check(category, [], [{"f": {"x": 1}}], [{"f": {"x": [1]}}], language="python", model=PLAIN)
    assert found == CompatVerdict(None, "", "TypeError: 'NoneType' object is not subscriptable")


def test_parallel_calls_may_come_in_any_order() -> None:
    assert numbers("live_parallel", [2, 1], [[1], [2]]).passed is True


def test_parallel_calls_are_matched_greedily() -> None:
    # A matching exists, and BFCL does not find it (scoring-faults 21).
    found = numbers("parallel", [1, 2], [[1, 2], [1]])
    assert found == CompatVerdict(False, "parallel_function_checker_no_order:cannot_find_match")


@pytest.mark.parametrize(
    ("category", "called", "answers", "error_type"),
    [
        ("simple_python", [1, 1], [[1]], "simple_function_checker:wrong_count"),
        ("live_multiple", [], [[1]], "multiple_function_checker:wrong_count"),
        ("parallel_multiple", [1], [[1], [2]], "parallel_function_checker_no_order:wrong_count"),
    ],
)
def test_the_number_of_calls_comes_first(
    category: str, called: list[int], answers: list[list[int]], error_type: str
) -> None:
    assert numbers(category, called, answers) == CompatVerdict(False, error_type)


@pytest.mark.parametrize(
    ("result", "called"),
    [
        ("[f(x=1)]", True),
        ("I cannot do that.", False),
        ("Error during inference: Error code: 500", False),
        ("[f(x=1", False),
        ("[]", False),
    ],
)
def test_relevance_asks_only_whether_something_was_decoded(result: str, called: bool) -> None:
    calls = decode(result, language="python", model="gpt-4.1-2025-04-14")
    none_wanted = check("live_irrelevance", [], calls, None, language="python", model=PLAIN)
    one_wanted = check("live_relevance", [], calls, None, language="python", model=PLAIN)
    assert none_wanted == CompatVerdict(not called, "irrelevance_error:decoder_success" if called else "")
    assert one_wanted == CompatVerdict(called, "" if called else "relevance_error:decoder_failed")


def test_calls_of_the_wrong_shape_count_as_an_abstention() -> None:
    # scoring-faults 4: ours is a malformed call, BFCL's is a pass.
    calls = [{"f": None}]
    assert check("irrelevance", [], calls, None, language="python", model=PLAIN) == CompatVerdict(True)


def test_a_result_that_cannot_be_decoded_fails_with_the_decoders_error_type() -> None:
    undecodable = decode("sorry", language="python", model=WITH_UNDERSCORES)
    misshapen = decode([{"f": "null"}], language="python", model=WITH_UNDERSCORES)
    described = [function({})]
    found = [
        check("simple_python", described, each, [{"f": {}}], language="python", model=WITH_UNDERSCORES)
        for each in (undecodable, misshapen)
    ]
    assert found == [
        CompatVerdict(False, "ast_decoder:decoder_failed"),
        CompatVerdict(False, "ast_decoder:decoder_wrong_output_format"),
    ]


def test_every_probe_gets_bfcls_own_verdict(shared: Path) -> None:
    probes = json.loads((shared / "data" / "bfcl_scorer_probes.json").read_text(encoding="utf-8"))
    wrong = []
    for probe in probes:
        found = check(
            probe["category"],
            probe["function"],
            probe["prediction"],
            probe["possible_answer"],
            language=probe["language"],
            model=probe["model"],
        )
        if isinstance(probe["bfcl"], str):
            stopped = probe["bfcl"].removeprefix("EXC ")
            wanted = CompatVerdict(None, "", f"{stopped}: {probe['error_type']}")
        else:
            wanted = CompatVerdict(probe["bfcl"], probe["error_type"])
        if found != wanted:
            wrong.append((probe["id"], found, wanted))
    assert len(probes) >= 46
    assert not wrong


@pytest.mark.parametrize("model", ["DeepSeek-V3.1-Terminus-FC", "claude-sonnet-4-5-20250929-FC"])
def test_recorded_scores_are_found_again(shared: Path, model: str) -> None:
    def rows(path: Path) -> list[Any]:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    data, folder = shared / "data" / "bfcl_v4", shared / "data" / "bfcl_v4_results" / model
    cases = {each["id"]: each["function"] for each in rows(data / "BFCL_v4_simple_python.json")}
    gold = {each["id"]: each["ground_truth"] for each in rows(data / "possible_answer" / "BFCL_v4_simple_python.json")}
    summary, *failures = rows(folder / "BFCL_v4_simple_python_score.json")
    found = {}
    for row in rows(folder / "BFCL_v4_simple_python_result.json"):
        calls = decode(row["result"], language="python", model=model)
        judged = check("simple_python", cases[row["id"]], calls, gold[row["id"]], language="python", model=model)
        if not judged.passed:
            found[row["id"]] = judged.error_type
    assert found == {each["id"]: each["error_type"] for each in failures}
    assert summary["total_count"] - len(found) == summary["correct_count"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(["f", "x", "type"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["f", "x", "a.f", "k"]) | st.text(max_size=2), inner)
    ),
    max_leaves=8,
)
TYPES = st.sampled_from(["string", "integer", "float", "array", "dict", "any", "ArrayList", "HashMap", "Set", "Bigint"])
DOCUMENT = st.fixed_dictionaries({}, optional={"type": TYPES | JSON, "items": st.fixed_dictionaries({"type": TYPES})})
FUNCTION = st.fixed_dictionaries(
    {"name": st.just("f") | JSON},
    optional={
        "parameters": JSON
        | st.fixed_dictionaries(
            {}, optional={"properties": st.fixed_dictionaries({"x": DOCUMENT}) | JSON, "required": JSON}
        )
    },
)
CALL = st.fixed_dictionaries({"f": st.fixed_dictionaries({"x": JSON}) | JSON}) | JSON


@settings(max_examples=400)
@given(
    category=st.sampled_from(["simple_python", "live_multiple", "parallel", "irrelevance", "live_relevance"]),
    functions=st.lists(FUNCTION, max_size=2) | JSON,
    calls=st.lists(CALL, max_size=2),
    answer=st.lists(st.fixed_dictionaries({"f": st.fixed_dictionaries({"x": st.lists(JSON, max_size=3)}) | JSON}))
    | JSON,
    language=st.sampled_from(["python", "java", "javascript"]),
)
def test_no_json_makes_the_checker_raise(
    category: str, functions: Any, calls: list[Any], answer: Any, language: Any
) -> None:
    found = check(category, functions, calls, answer, language=language, model=WITH_UNDERSCORES)
    assert (found.passed is None) == (found.crashed is not None)
    assert bool(found.error_type) == (found.passed is False)
