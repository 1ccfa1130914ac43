"""Every mistake a person makes in a suite's files is an InputError that names the exact place."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from suite_samples import CASE, TOOL, lines, suite_files

from callscope.errors import InputError
from callscope.suites import SUITE_FILES, SuiteFaults, load_suite, load_suite_bytes
from callscope.suites.faults import MAX_SHOWN


def faults(**changed) -> tuple[InputError, ...]:
    with pytest.raises(SuiteFaults) as caught:
        load_suite_bytes(suite_files(**changed))
    return caught.value.faults


def case_row(**changed) -> bytes:
    row = {**CASE, **changed}
    return json.dumps({key: value for key, value in row.items() if value is not ...}).encode()


def expecting(**expected) -> bytes:
    return case_row(expected=expected)


TOOL_ARGS = {"kind": "tool", "name": "find_train", "arguments": {"city": "Oslo"}}

CASE_MISTAKES = [
    # name, the bad line, field, a part of the message
    ("missing id", case_row(id=...), None, "'id' is missing"),
    ("missing prompt", case_row(prompt=...), None, "'prompt' is missing"),
    ("missing expected", case_row(expected=...), None, "'expected' is missing"),
    ("misspelled field", case_row(promt="x"), "promt", "Did you mean 'prompt'?"),
    ("another word for a field", case_row(question="x"), "question", "Did you mean 'prompt'?"),
    ("american spelling", case_row(behavior="abstention"), "behavior", "Did you mean 'behaviour'?"),
    ("misspelled camel case", case_row(referencetime="x"), "referencetime", "Did you mean 'reference_time'?"),
    ("nothing near", case_row(zzzz=1), "zzzz", "Fields that may stand here: tags,"),
    ("a field in two spellings", case_row(reference_time="x", referenceTime="y"), "referenceTime", "two spellings"),
    ("id as a number", case_row(id=7), "id", 'Put it in quotes: "7".'),
    ("empty id", case_row(id=" "), "id", "printable and not empty"),
    ("prompt null", case_row(prompt=None), "prompt", "found null; expected text"),
    ("tags as text", case_row(tags="a"), "tags", "Put it in a list."),
    ("a tag as a number", case_row(tags=["a", 1]), "tags[1]", "expected text"),
    ("unknown behaviour", case_row(behaviour="positive-selection"), "behaviour", "Did you mean 'positive_selection'?"),
    ("difficulty as list", case_row(difficulty=["easy"]), "difficulty", "expected"),
    ("metadata as a list", case_row(metadata=[]), "metadata", "expected an object"),
    ("expected as text", case_row(expected="tool"), "expected", "expected an object whose kind is"),
    ("no kind", expecting(name="find_train", arguments={}), "expected", "'kind' is missing"),
    ("kind misspelled", expecting(knid="text"), "expected", "Did you mean 'kind' where you wrote 'knid'?"),
    ("unknown kind", expecting(kind="clarify"), "expected.kind", "Did you mean 'clarification'?"),
    ("kind a list", expecting(kind=[]), "expected.kind", "expected tool | tools"),
    ("field of another kind", expecting(kind="text", name="x"), "expected.name", "no such field"),
    ("unknown tool", expecting(**{**TOOL_ARGS, "name": "find_trian"}), "expected.name", "Did you mean 'find_train'?"),
    ("unknown target", expecting(kind="no_call", target="x"), "expected.target", "there is no such tool"),
    ("unknown tool in tools", case_row(tools=["find_train", "x"]), "tools[1]", "there is no such tool"),
    (
        "unknown tool of an alternative",
        expecting(**TOOL_ARGS, alternatives=[{"name": "x", "arguments": {}}]),
        "expected.alternatives[0].name",
        "there is no such tool",
    ),
    (
        "unknown tool of a call",
        expecting(kind="tools", calls=[{"name": "x", "arguments": {}}]),
        "expected.calls[0].name",
        "there is no such tool",
    ),
    ("no arguments", expecting(kind="tool", name="find_train"), "expected", "'arguments' is missing"),
    (
        "args for arguments",
        expecting(kind="tool", name="find_train", args={}),
        "expected.args",
        "Did you mean 'arguments'?",
    ),
    (
        "arguments as JSON text",
        expecting(kind="tool", name="find_train", arguments="{}"),
        "expected.arguments",
        "not its JSON text",
    ),
    (
        "misspelled rule",
        expecting(kind="tool", name="find_train", arguments={"requiredEquals": {}, "optinal": ["seats"]}),
        "expected.arguments.optinal",
        "Did you mean 'optional'?",
    ),
    (
        "rules mixed with arguments",
        expecting(kind="tool", name="find_train", arguments={"city": "Oslo", "optional": ["seats"]}),
        "expected.arguments.city",
        "no such field",
    ),
    (
        "one_of without a list",
        expecting(kind="tool", name="find_train", arguments={"oneOf": {"city": "Oslo"}}),
        "expected.arguments.oneOf.city",
        "expected a list",
    ),
    (
        "tolerance as a number",
        expecting(kind="tool", name="find_train", arguments={"requiredEquals": {}, "tolerance": {"/seats": 1}}),
        "expected.arguments.tolerance./seats",
        "expected an object",
    ),
    (
        "tolerance as true",
        expecting(
            kind="tool", name="find_train", arguments={"requiredEquals": {}, "tolerance": {"/s": {"absolute": True}}}
        ),
        "expected.arguments.tolerance./s.absolute",
        "expected a number",
    ),
    (
        "a number out of range",
        expecting(
            kind="tool", name="find_train", arguments={"optional": [], "tolerance": {"/s": {"absolute": 10**400}}}
        ),
        None,
        "out of range",
    ),
    ("ordered as text", expecting(kind="tools", calls=[], ordered="yes"), "expected.ordered", "expected true or false"),
    ("a list for a case", b"[1]", None, "expected an object"),
    ("torn line", b'{"id": "b", "prompt": "x"', None, "ends too early"),
    ("two objects on a line", lines(CASE).strip() + b" {}", None, "more text after"),
    ("NaN", b'{"id": "b", "metadata": {"x": NaN}}', None, "NaN and Infinity"),
    ("single quotes", b"{'id': 'b'}", None, "no JSON"),
    ("too deep", b"[" * 300 + b"]" * 300, None, "too deeply"),
    ("very deep", b"[" * 100_000, None, "too deeply"),
    ("repeated key", b'{"id": "b", "id": "c", "prompt": "p", "expected": {"kind": "text"}}', "id", "twice"),
    (
        "repeated key inside",
        b'{"id": "b", "prompt": "p", "expected": {"kind": "text", "kind": "text"}}',
        "expected.kind",
        "twice",
    ),
    ("half a surrogate pair", b'{"id": "b", "prompt": "\\ud800", "expected": {"kind": "text"}}', "prompt", "surrogate"),
]


@pytest.mark.parametrize(
    ("bad", "field", "says"), [row[1:] for row in CASE_MISTAKES], ids=[row[0] for row in CASE_MISTAKES]
)
def test_a_mistake_in_a_case_names_file_line_and_field(bad, field, says):
    first = lines({**CASE, "id": "first"})
    found = faults(cases_jsonl=first + b"\n" + bad + b"\n")
    assert [(fault.file, fault.line) for fault in found] == [("cases.jsonl", 3)] * len(found)
    assert field in {fault.field for fault in found}
    assert says in next(str(fault) for fault in found if fault.field == field)
    assert str(found[0]).startswith("cases.jsonl:3: ")


def test_a_repeated_id_names_both_lines():
    (fault,) = faults(cases_jsonl=lines(CASE, {**CASE, "id": "b"}, CASE))
    assert (fault.line, fault.field, fault.found) == (3, "id", "a")
    assert "line 1" in str(fault)


TOOLS = [
    # name, the file, line, field, a part of the message
    ("no tools", b'{"tools": []}', 1, "tools", "there are no tools"),
    ("empty list", b"[]", 1, None, "there are no tools"),
    ("empty file", b"", 1, None, "the text is empty"),
    ("empty object", b"{}", 1, None, "'tools' is missing"),
    ("misspelled tools", b'{\n"tolls": []}', 2, "tolls", "Did you mean 'tools'?"),
    ("other field", b'{\n"version": 1,\n"tools": []}', 2, "version", "or a bare list"),
    ("tools as an object", b'{\n\n"tools": {}}', 3, "tools", "expected a list of tools"),
    ("text", b'"x"', 1, None, "expected a list of tools"),
    ("a tool as text", b'[\n"x"]', 2, "[0]", "expected an object"),
    ("no description", b'[\n{"name": "a",\n"parameters": {}}]', 2, "[0]", "'description' is missing"),
    (
        "inputSchema",
        b'[\n{"name": "a",\n"description": "d",\n"inputSchema": {}}]',
        4,
        "[0].inputSchema",
        "Did you mean 'parameters'?",
    ),
    (
        "parameters as a list",
        b'{"tools": [{"name": "a", "description": "d",\n"parameters": []}]}',
        2,
        "tools[0].parameters",
        "expected an object",
    ),
    (
        "one provider's form",
        b'[{"type": "function",\n"function": {"name": "a"}}]',
        1,
        "[0]",
        "written for one provider",
    ),
    (
        "inside one provider's form",
        b'[{"type": "function",\n"function": {"name": 1}}]',
        1,
        "[0].name",
        "expected text",
    ),
    (
        "repeated key",
        b'[{"name": "a", "description": "d", "parameters": {\n"type": "object",\n"type": "object"}}]',
        3,
        "[0].parameters.type",
        "twice",
    ),
    (
        "half a surrogate pair",
        b'[{"name": "a", "parameters": {},\n"description": "\\udc00"}]',
        2,
        "[0].description",
        "surrogate",
    ),
    ("syntax", b'{"tools": [\n{"name": "a",,}]}', 2, None, "no JSON"),
    ("a number too long", b"[\n" + b"9" * 5000 + b"]", None, None, "too large"),
    ("a key that is half a pair", b'[{"\\udc00": 1}]', 1, "[0]", "surrogate"),
    ("cut off", b'{"tools": [\n{"name": "a"', 2, None, "ends too early"),
    ("no UTF-8", b'{"tools":\n"\xff"}', 2, None, "found byte 0xff"),
]


@pytest.mark.parametrize(("data", "line", "field", "says"), [row[1:] for row in TOOLS], ids=[row[0] for row in TOOLS])
def test_a_mistake_in_the_tools_names_its_line_and_field(data, line, field, says):
    found = [fault for fault in faults(tools_core_json=data) if fault.field == field and says in str(fault)]
    assert found
    assert (found[0].file, found[0].line) == ("tools.core.json", line)


OTHERS = [
    ("suite.toml", b'name = "x"\nversion = 1.0\n', 2, "version", 'Put it in quotes: "1.0".'),
    ("suite.toml", b'\n\nlicense = "MIT"\n', 3, "license", "Did you mean 'licence'?"),
    ("suite.toml", b'kind = "provider-optimized"', 1, "kind", "Did you mean 'provider-optimised'?"),
    ("suite.toml", b"max_tool_rounds = -1", 1, "max_tool_rounds", "less than 0"),
    ("suite.toml", b"max_tool_rounds = 3.0", 1, "max_tool_rounds", "expected a whole number"),
    ("suite.toml", b'name = ""', 1, "name", "printable and not empty"),
    ("suite.toml", b'name = "x"\nversion = \n', 2, None, "no TOML"),
    ("suite.toml", b'name = "x"\nname = "y"\n', 2, None, "no TOML"),
    ("suite.toml", b"\xff", 1, None, "UTF-8"),
    ("suite.toml", b"n = 0x" + b"f" * 9000, None, None, "no TOML"),
    ("fakes.json", b"[]", 1, None, "expected an object"),
    ("fakes.json", b'{"find_train":\n[{"when": {}}]}', 2, "find_train[0]", "'result' is missing"),
    (
        "fakes.json",
        b'{"find_train":\n[{"results": 1, "result": 1}]}',
        2,
        "find_train[0].results",
        "Did you mean 'result'?",
    ),
    ("fakes.json", b'{\n"find_trains": []}', 2, "find_trains", "Did you mean 'find_train'?"),
    ("fakes.json", b"", 1, None, "empty"),
    ("system.txt", b"a\nb\xc3(", 2, None, "found byte 0xc3"),
    ("cases.jsonl", b"", None, None, "there are no cases"),
    ("cases.jsonl", b"\n \r\n", None, None, "there are no cases"),
    ("cases.jsonl", b'[\n{"id": "a"}\n]', 1, None, "one case on each line"),
    ("cases.jsonl", b"{}\n\xff\n", 2, None, "UTF-8"),
    ("tools.json", b"[]", None, None, "tools.json stands beside it"),
]


@pytest.mark.parametrize(("file", "data", "line", "field", "says"), OTHERS)
def test_a_mistake_in_another_file_names_its_line_and_field(file, data, line, field, says):
    with pytest.raises(SuiteFaults) as caught:
        load_suite_bytes({**suite_files(), file: data})
    found = [fault for fault in caught.value.faults if fault.field == field and says in str(fault)]
    assert found, caught.value
    assert found[0].line == line


@pytest.mark.parametrize("file", ["system.txt", "tools.core.json", "cases.jsonl"])
def test_a_missing_file_is_named(file):
    files = suite_files()
    del files[file]
    with pytest.raises(SuiteFaults) as caught:
        load_suite_bytes(files)
    assert [fault.file for fault in caught.value.faults] == [file]
    assert "missing" in str(caught.value)


def test_all_faults_of_all_files_are_told_at_once_and_in_reading_order():
    found = faults(
        suite_toml=b"kind = 1",
        tools_core_json=json.dumps([TOOL, {"name": "x"}]).encode(),
        cases_jsonl=b"{}\n" + case_row(tags=1, zzzz=2),
        fakes_json=b"[]",
    )
    assert [(fault.file, fault.line) for fault in found] == [
        ("suite.toml", 1), ("tools.core.json", 1), ("tools.core.json", 1),
        ("cases.jsonl", 1), ("cases.jsonl", 1), ("cases.jsonl", 1),
        ("cases.jsonl", 2), ("cases.jsonl", 2), ("fakes.json", 1),
    ]  # fmt: skip


def test_the_error_of_many_faults_reads_as_its_first_and_counts_the_rest():
    with pytest.raises(InputError) as caught:
        load_suite_bytes(suite_files(cases_jsonl=b"{\n" * (MAX_SHOWN + 7)))
    error = caught.value
    assert isinstance(error, SuiteFaults)
    assert (error.file, error.line, error.exit_code) == ("cases.jsonl", 1, 2)
    assert len(str(error).split("\n")) <= MAX_SHOWN + 1


def test_many_faults_end_with_their_number():
    text = str(SuiteFaults([InputError("bad", line=n) for n in range(MAX_SHOWN + 7)]))
    assert text.endswith("… and 7 more")
    moved = SuiteFaults([InputError("bad", field="x")]).at(file="f", line=3, prefix="p.")
    assert str(moved) == "f:3: p.x: bad"


def test_the_errors_of_a_folder_name_the_folder(tmp_path):
    for name, data in suite_files(cases_jsonl=b"{}").items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(SuiteFaults) as caught:
        load_suite(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/cases.jsonl:1: ")


def test_messages_are_printable_whatever_the_file_holds():
    row = b'{"id": "a\\u0000\\u001b[31m", "\\ud800\\u001b": 1, "prompt": "p", "expected": {"kind": "\\ud800"}}'
    with pytest.raises(SuiteFaults) as caught:
        load_suite_bytes(suite_files(cases_jsonl=row))
    str(caught.value).encode()
    assert all(c.isprintable() or c == "\n" for c in str(caught.value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "prompt", "expected", "kind", "name", "arguments", "requiredEquals", "tools", "calls", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
ANY_BYTES = st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value, indent=1).encode())


@given(st.dictionaries(st.sampled_from(SUITE_FILES), ANY_BYTES, max_size=7), st.booleans())
def test_any_bytes_load_or_raise_input_error(files, on_top):
    files = {**suite_files(), **files} if on_top else files
    try:
        load_suite_bytes(files)
    except InputError as error:
        str(error).encode()


@given(JSON)
def test_any_json_as_an_expectation_loads_or_raises_input_error(value):
    for case in (value, {**CASE, "expected": value}, {**CASE, "expected": {**TOOL_ARGS, "arguments": value}}):
        try:
            load_suite_bytes(suite_files(cases_jsonl=lines(case)))
        except InputError as error:
            str(error).encode()


@given(st.binary(max_size=40))
def test_the_hash_of_a_file_is_of_its_exact_bytes(data):
    suite = load_suite_bytes({**suite_files(), "tools.compatibility.json": data})
    assert suite.files["tools.compatibility.json"] == hashlib.sha256(data).hexdigest()
    assert suite.files["cases.jsonl"] == hashlib.sha256(suite_files()["cases.jsonl"]).hexdigest()
