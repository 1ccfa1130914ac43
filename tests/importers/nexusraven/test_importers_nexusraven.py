"""NexusRaven imported: signatures as tools, references as cases, both verdicts, and text that nobody may run."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.contract import (
    Exchange,
    ExpectTool,
    ExpectTools,
    ProviderError,
    Record,
    Round,
    Text,
    Timing,
    ToolCall,
    ToolCalls,
    TrialKey,
)
from callscope.errors import InputError
from callscope.importers import nexusraven
from callscope.importers.nexusraven.checker import check
from callscope.scoring import evaluate
from callscope.suites import load_suite_bytes

SOURCE = b'''
def find(name=None, limit=None, exact=None, sinceDate=None):
    """
    Finds things.

    Args:
    name (str): The name.
    limit (int): How many.
    exact (bool): Whether exactly.
    sinceDate (str, datetime obj): From when.
    """


def vote(ip: str, data: dict, x_apikey: str, weight: int = 5, tags: list = None, **more):
    """
    Votes.

    - ip: string, required, IP address
    - x-apikey: string, required, Your API key
    """


def count(things):
    """Counts.

    Args:
    - things: The things.
    """
'''


def rows(*values):
    return b"".join(json.dumps(each).encode() + b"\n" for each in values)


def files(*references, functions=SOURCE):
    queries = [{"query": f"query {n}", "reference": each} for n, each in enumerate(references, 1)]
    return {"own_queries.json": json.dumps(queries).encode(), "own_function_definitions.py": functions}


def suites_of(given_files):
    imported = nexusraven.read(given_files)
    return {one.name: load_suite_bytes(one.files, name=one.name) for one in imported.suites}, imported.notes


def by_id(suites):
    return {name: {case.id: case for case in one.cases} for name, one in suites.items()}


def judged(reference, answer):
    """(ours, theirs, why theirs) of an answer to a query with that reference."""
    suites, _ = suites_of(files(reference))
    ((recorded,),) = [
        one.answers
        for one in nexusraven.read_results({"m.jsonl": rows({"id": "own-1", "response": answer})}, by_id(suites))
    ]
    suite = suites["nexusraven-own"]
    (case,) = suite.cases
    outcome = nexusraven.READER.parse(200, recorded.headers, recorded.parts[0], stream=False).outcome
    verdict = evaluate(case, suite.tools, nexusraven.in_our_words(outcome, case))
    exchange = Exchange(0, "RECORDED", "", (), b"", "", 200, (), recorded.parts[0], Timing())
    key = TrialKey("nexusraven-own", "recorded", "m", case.id, 0)
    passed, evidence = nexusraven.verdict(Record(key, "recorded/nexusraven", False, "", (Round((exchange,)),)), case)
    return verdict.passed, passed, evidence["why"]


def test_signatures_and_docstrings_become_schemas():
    suites, notes = suites_of(files("find(name='x')"))
    find, vote, count = suites["nexusraven-own"].tools
    assert notes == ()
    assert {name: schema["type"] for name, schema in find.parameters["properties"].items()} == {
        "name": "string",
        "limit": "integer",
        "exact": "boolean",
        "sinceDate": "string",
    }
    assert find.parameters["required"] == []
    assert find.parameters["additionalProperties"] is False
    assert vote.parameters["required"] == ["ip", "data", "x_apikey"]
    assert vote.parameters["properties"]["weight"] == {"type": "integer", "default": 5}
    assert vote.parameters["properties"]["tags"] == {"type": "array"}
    assert "Your API key" in vote.parameters["properties"]["x_apikey"]["description"]
    assert vote.parameters["additionalProperties"] is True
    assert count.parameters["properties"]["things"] == {"description": "things: The things."}


FALSY = ("limit=0", "exact=False", "name=''")


@pytest.mark.parametrize("falsy", FALSY)
def test_a_falsy_argument_is_an_argument_for_us_and_none_for_them(falsy):
    assert judged(f"find({falsy}, sinceDate='2020-01-01')", "find(sinceDate='2020-01-01')") == (False, True, "equal")
    assert judged("find(sinceDate='2020-01-01')", f"find({falsy}, sinceDate='2020-01-01')") == (False, True, "equal")
    assert judged(f"find({falsy})", f"find({falsy})") == (True, True, "equal")


@pytest.mark.parametrize(
    ("reference", "answer", "ours", "theirs"),
    [
        ("r = nvdlib.find(name='a', limit=2)", "find('a', 2)", True, True),
        ("find(name='a')", "find(limit=None, name='a')", True, True),
        ("find(name='a', exact=True)", "find(name='a', exact=1)", False, True),  # True == 1 there
        ("find(limit=2)", "find(limit=2.0)", True, True),
        ("find(limit=2)", "find(limit='2')", False, False),
        ("find(sinceDate='2020-01-01 00:00')", "find(sinceDate='2020-01-01T00:00')", True, False),  # the same moment
        ("vote('1', {'a': 0}, 'k')", "vote(data={'a': 0}, x_apikey='k', ip='1', weight=5)", True, True),
        ("vote('1', {'a': 0}, 'k')", "vote('1', {'a': False}, 'k')", False, True),
        ("vote('1', {'a': 1}, 'k')", "vote('1', {'a': 1})", False, False),
        ("find(name='a')", "find(name='a', nonsense=1)", False, False),
        ("find(name='a')", "find('a', name='a')", False, False),
        ("find(name='a')", "other(name='a')", False, False),
        ("find(name='a')", "find(name=a)", False, False),
        ("find(name='a')", "Call: find(name='a')<bot_end>\nThought: it finds `find(name='b')`", True, True),
        ("find(name='a')", "```python\nfind(name='a')\n```", True, False),
        ("find(name='a')", "I would call find(name='a') now.", False, False),
        ("find(name='a')", "", False, False),
        ("find(name='a'); find(name='b')", "find(name='b'); find(name='a')", True, False),  # they have an order
        ("find(name='a'); find(name='b')", "find(name='a')", False, False),
        ("find(name='a')", "find(name='a'); find(name='a')", False, False),
        ("find(name='a')", "find(name='a'); undefined", None, True),
        ("count(find(name='a'))", "count(things=find('a'))", True, True),
        ("count(find(name='a'))", "count(find(name='b'))", False, False),
        ("count(find(name='a'))", "find(name='a')", False, False),
        ("count(find(name='a'))", "find(name='a'); count([])", False, True),  # what a stand-in returns is None
    ],
)
def test_the_two_verdicts(reference, answer, ours, theirs):
    found = judged(reference, answer)
    assert found[1] is theirs
    assert found[0] is ours or ours is None


def test_calls_in_calls_come_first_and_others_have_no_order():
    suites, _ = suites_of(files("count(find(name='a')); vote('1', {}, 'k')", "find(name='a')"))
    first, second = suites["nexusraven-own"].cases
    assert isinstance(second.expected, ExpectTool)
    assert isinstance(first.expected, ExpectTools)
    assert [(call.name, call.id, call.depends_on) for call in first.expected.calls] == [
        ("find", "c1", ()),
        ("count", "c2", ("c1",)),
        ("vote", "c3", ()),
    ]
    assert first.expected.ordered is False


def test_references_at_fault_are_marked_and_excluded_where_no_answer_can_be_right():
    suites, notes = suites_of(files("find(name=unknown)", "gone(1)", "find(limit='2')", "find("))
    cases = suites["nexusraven-own"].cases
    assert [case.excluded is not None for case in cases] == [True, True, False, True]
    assert [case.tags for case in cases] == [
        ("gold-defect:unreadable",),
        ("gold-defect:unknown-function",),
        ("gold-defect:outside-schema",),
        ("gold-defect:unreadable",),
    ]
    assert len(notes) == 3


V2 = {
    "Function_Call_Definitions/VT_Multi (Parallel)/rows.jsonl": rows(
        {"function_calls": "find(name: str, limit: int = 50)", "descriptions": "Finds.\n\nArgs:\n- name: The name."},
        {"function_calls": "def count(things) -> int:", "descriptions": "Counts."},
    ),
    "Function_Call_Definitions/VT_Multi (Nested)/rows.json": json.dumps(
        [
            {"function_calls": "find(name: str, limit: int = 50)", "descriptions": "Finds."},
            {"function_calls": "count(things: list)", "descriptions": "Counts."},
        ]
    ).encode(),
    "VirusTotalMultiple/data/rows.jsonl": rows(
        {"generated_question": "both?", "fncall": ["find(name='a')", "find('b')"]},
        {"generated_question": "how many?", "fncall": ["count(find('a'))"]},
    ),
}


def test_version_two_as_published():
    suites, notes = suites_of(V2)
    assert notes == ()
    assert {name: len(one.cases) for name, one in suites.items()} == {
        "nexusraven-v2-virustotal-nested": 1,
        "nexusraven-v2-virustotal-parallel": 1,
    }
    tools = suites["nexusraven-v2-virustotal-parallel"].tools
    assert tools[0].parameters["properties"]["limit"] == {"type": "integer", "default": 50}
    nested = suites["nexusraven-v2-virustotal-nested"].tools[1].parameters["properties"]["things"]
    assert nested["anyOf"][0] == {"type": "array"}


def test_version_two_from_csv_and_parquet():
    definitions = V2["Function_Call_Definitions/VT_Multi (Parallel)/rows.jsonl"]
    csv_files = {
        "Function_Call_Definitions/CVECPE_Multi (Nested)/rows.jsonl": definitions,
        "CVECPEAPIBenchmark/rows.csv": b'Input,Output\n"a, b?","count(find(name=\'a\'))"\n',
    }
    suites, _ = suites_of(csv_files)
    assert suites["nexusraven-v2-nvdlibrary-nested"].cases[0].prompt == "a, b?"
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    out = arrow.BufferOutputStream()
    parquet.write_table(arrow.table({"Input": ["a?"], "Output": ["find('a')"]}), out)
    made = {
        "Function_Call_Definitions/OTX/rows.jsonl": definitions,
        "OTXAPIBenchmark/data/train-0.parquet": out.getvalue().to_pybytes(),
    }
    suites, _ = suites_of(made)
    assert suites["nexusraven-v2-otx"].cases[0].prompt == "a?"
    with pytest.raises(InputError, match="cannot be read as parquet"):
        nexusraven.read({"OTXAPIBenchmark/data/train-0.parquet": b"PAR1 no"})


@pytest.mark.parametrize(
    ("given_files", "says"),
    [
        ({"own_queries.json": b'[{"query": "a"}]'}, "own_queries.json:1: this is no query (found query"),
        ({"own_queries.json": b"[1]"}, "own_queries.json:1: this is no row"),
        ({"own_queries.json": b'[{"query": 1, "reference": "f()"}]'}, "own_queries.json:1: query: this must be text"),
        ({"own_function_definitions.py": b"def ("}, "own_function_definitions.py: cannot be read as Python"),
        ({"own_function_definitions.py": b"x = 1"}, "own_function_definitions.py: defines no function"),
        (
            {"own_function_definitions.jsonl": rows({"function_calls": "a b", "descriptions": ""})},
            "jsonl:1: function_calls: is no signature",
        ),
    ],
)
def test_files_at_fault_are_named_with_the_line(given_files, says):
    with pytest.raises(InputError) as fault:
        nexusraven.read(given_files)
    assert says in str(fault.value)


def test_a_set_without_its_other_half_is_noted():
    both = files("find()")
    assert "left out" in nexusraven.read({"own_queries.json": both["own_queries.json"]}).notes[0]
    assert "no queries" in nexusraven.read({"own_function_definitions.py": SOURCE}).notes[0]


def test_recorded_answers_name_their_case_by_id_number_or_query():
    suites, _ = suites_of(files("find(name='a')", "find(name='b')", "find(name='c')"))
    data = rows(
        {"id": "own-1", "prediction": "find('a')"},
        {"id": 2, "suite": "own", "text": "find('b')"},
        {"response": [{"query": "query 3"}, {"function_call": "find('c')"}]},
    )
    (model,) = nexusraven.read_results({"sub/GPT-4.jsonl": data, "own_queries.json": b"[]"}, by_id(suites))
    assert model.model == "GPT-4"
    assert [answer.case_id for answer in model.answers] == ["own-1", "own-2", "own-3"]
    assert [answer.source for answer in model.answers] == [f"sub/GPT-4.jsonl:{n}" for n in (1, 2, 3)]
    for answer in model.answers:
        assert isinstance(nexusraven.READER.parse(200, (), answer.parts[0], stream=False).outcome, ToolCalls)


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        (b'{"id": "own-9", "response": "x"}', "m.jsonl:2: id: names no case (found own-9"),
        (b'{"query": "nobody asked", "response": "x"}', "m.jsonl:2: query: names no case"),
        (b'{"response": "x"}', "m.jsonl:2: query: names no case"),
        (b'{"id": "own-1", "suite": "other", "response": "x"}', "m.jsonl:2: id: names no case"),
        (b'{"id": "own-2", "respo', "m.jsonl:2: this is no JSON (truncated)"),
        (b"null", "m.jsonl:2: this is no row"),
        (b'{"id": "own-1", "response": "y"}', "m.jsonl: lines 2 (own-1) answer a case again; the first answer stays"),
    ],
)
def test_a_row_that_is_of_no_use_is_left_out_with_a_note_and_the_others_stay(spoilt, says):
    suites, _ = suites_of(files("find(name='a')", "find(name='b')"))
    first, last = rows({"id": "own-1", "response": "x"}), rows({"id": "own-2", "response": "x"})
    data = first.strip() + b"\n" + spoilt + b"\n" + last
    (model,) = nexusraven.read_results({"m.jsonl": data}, by_id(suites))
    assert [answer.source for answer in model.answers] == ["m.jsonl:1", "m.jsonl:3"]
    (note,) = model.notes
    assert says in note


def test_a_file_of_which_no_row_can_be_read_is_refused():
    suites, _ = suites_of(files("find(name='a')"))
    with pytest.raises(InputError) as fault:
        nexusraven.read_results({"m.jsonl": b'{"id": "own-1", "respo'}, by_id(suites))
    assert (fault.value.file, fault.value.line) == ("m.jsonl", 1)


def test_a_failed_request_gives_way_to_a_later_answer():
    suites, _ = suites_of(files("find(name='a')"))
    for failed in ({"id": "own-1", "error": "429"}, {"id": "own-1", "response": "Error code: 500"}, {"id": "own-1"}):
        data = rows(failed, {"id": "own-1", "response": "find('a')"}, failed)
        (model,) = nexusraven.read_results({"m.jsonl": data}, by_id(suites))
        assert [answer.source for answer in model.answers] == ["m.jsonl:2"]
        assert len(model.notes) == 2


def test_a_number_that_json_does_not_have_spoils_its_own_field_alone():
    suites, _ = suites_of(files("find(name='a')"))
    data = b'{"id": "own-1", "response": "find(\'a\')", "logprob": -Infinity}'
    (model,) = nexusraven.read_results({"m.jsonl": data}, by_id(suites))
    (answer,) = model.answers
    assert isinstance(nexusraven.READER.parse(200, (), answer.parts[0], stream=False).outcome, ToolCalls)
    exchange = Exchange(0, "RECORDED", "", (), b"", "", 200, (), answer.parts[0], Timing())
    record = Record(TrialKey("s", "recorded", "m", "own-1", 0), "recorded/nexusraven", False, "", (Round((exchange,)),))
    assert nexusraven.verdict(record, by_id(suites)["nexusraven-own"]["own-1"])[0] is True


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({"response": None}, ProviderError),
        ({"response": "find()", "error": "429"}, ProviderError),
        ({"response": "Error during inference: 500"}, ProviderError),
        ({"response": "find("}, ToolCalls),
        ({"response": "find(name=x)"}, ToolCalls),
        ({"response": "There is nothing to call, find() included."}, Text),
    ],
)
def test_how_an_answer_reads(row, kind):
    outcome = nexusraven.READER.parse(200, (), json.dumps(row).encode(), stream=False).outcome
    assert isinstance(outcome, kind)
    if kind is ToolCalls:
        assert outcome.calls[0].malformed is not None


def test_a_call_that_a_model_made_itself_is_left_alone():
    suites, _ = suites_of(files("find(name='a')"))
    (case,) = suites["nexusraven-own"].cases
    outcome = ToolCalls((ToolCall("1", "find", {"name": "a", "limit": None}),), ())
    assert nexusraven.in_our_words(outcome, case) is outcome
    record = Record(TrialKey("s", "e", "m", case.id, 0), "openai-chat", False, "", ())
    assert nexusraven.verdict(record, case) == (None, {"why": "not_a_recorded_answer"})


FIND = {"find": {"parameters": [["name", None], ["limit", None]]}}


@pytest.mark.parametrize(
    ("answer", "passed", "why"),
    [
        ("find('a')", True, "equal"),
        ("x = find('a')", False, "invalid_call"),  # it must begin like a call
        ("find(\n'a')", False, "invalid_call"),  # on one line
        ("print(find('a'))", True, "equal"),
        ("find('a').results", True, "equal"),  # it raises, after the call
        ("find(*['a'])", True, "equal"),
        ("find(**{'name': 'a'})", True, "equal"),
        ("find('a'); raise ValueError", None, "needs_execution"),
        ("find('a', 1 + 1)", None, "needs_execution"),
        ("find(str('a'))", None, "needs_execution"),
        ("find('a'", False, "invalid_call"),
        ("find(a='a')", False, "invalid_call"),
        ("find('b') ", False, "different"),
        ("find('a', -0.0)", True, "equal"),
    ],
)
def test_their_execution_is_told_from_the_tree(answer, passed, why):
    found = check(answer, "find(name='a')", FIND)
    assert (found.passed, found.why) == (passed, why)
    assert check(answer, "gone()", FIND).why == "unreadable_reference"


@pytest.mark.parametrize(
    "text",
    [
        "find(" * 9_000,
        "(" * 50_000,
        "find('\0')",
        "find(" + "-" * 50_000 + "1)",
        "a" + "()" * 40_000,
        "find(x=" * 90 + ")" * 90,
    ],
)
def test_hostile_text_is_read(text):
    nexusraven.READER.parse(200, (), json.dumps({"response": text}).encode(), stream=False)
    check(text, "find(name='a')", FIND)
    judged("find(name='a')", text)


def test_nothing_is_run(tmp_path):
    mark = tmp_path / "mark"
    run = f"open({str(mark)!r}, 'w').write('x')"
    judged("find(name='a')", f"find({run}); {run}; import os")
    suites_of(files(f"find(name={run})"))
    suites_of(files("find()", functions=f"{run}\ndef find(name={run}): {run}\n".encode()))
    assert not mark.exists()


junk = st.binary() | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "query",
                    "reference",
                    "Input",
                    "Output",
                    "fncall",
                    "generated_question",
                    "function_calls",
                    "id",
                    "response",
                    "suite",
                ]
            ),
            inner,
        )
    ),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode())


@given(
    st.dictionaries(
        st.sampled_from([*files("f()"), *V2, "own_function_definitions.jsonl", "OTXAPIBenchmark/a.csv"]), junk
    ),
    junk,
)
def test_files_of_junk_are_input_errors_at_most(given_files, results):
    for read in (given_files, files("find()") | given_files):
        with contextlib.suppress(InputError):
            nexusraven.read(read)
    suites, _ = suites_of(files("find(name='a')"))
    with contextlib.suppress(InputError):
        nexusraven.read_results({"m.jsonl": results}, by_id(suites))


@given(st.binary() | junk, st.text() | st.text(alphabet="find(nam='a,)[]{}*; \n=:1"))
def test_the_reader_and_the_check_take_anything(body, text):
    nexusraven.READER.parse(200, (), body, stream=False)
    nexusraven.READER.parse(200, (), json.dumps({"response": text}).encode(), stream=True)
    check(text, "find(name='a')", FIND)
