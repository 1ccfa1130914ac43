"""Loading: what is read, in which spellings, and where from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from suite_samples import CASE, TOOL, lines, suite_files

from callscope.contract import (
    Alternative,
    ArgumentRules,
    ExpectClarification,
    ExpectNoCall,
    ExpectTools,
    FakeAnswer,
    Tolerance,
)
from callscope.errors import InputError
from callscope.suites import SUITE_FILES, bundled_suites, load_suite, load_suite_bytes, read_suite_files
from callscope.suites.files import folder_name
from callscope.suites.shapes import is_rules


def one(case: dict, **changed: bytes):
    return load_suite_bytes(suite_files(cases_jsonl=lines(case), **changed)).cases[0]


def with_arguments(arguments: object, tool: dict = TOOL):
    expected = {"kind": "tool", "name": tool["name"], "arguments": arguments}
    tools = json.dumps([tool]).encode()
    return one({"id": "a", "prompt": "p", "expected": expected}, tools_core_json=tools).expected.arguments


def test_tools_may_be_a_bare_list_and_in_tools_json():
    files = suite_files(tools_core_json=None)
    files["tools.json"] = json.dumps([TOOL]).encode()
    assert load_suite_bytes(files).tools == load_suite_bytes(suite_files()).tools


def test_without_suite_toml_the_folder_names_the_suite(tmp_path):
    folder = tmp_path / "trains"
    folder.mkdir()
    for name, data in suite_files().items():
        (folder / name).write_bytes(data)
    suite = load_suite(folder)
    assert (suite.name, suite.version, suite.kind, suite.max_tool_rounds) == ("trains", "0", "portable", 0)
    assert load_suite(str(folder), version="2026-01").version == "2026-01"


def test_suite_toml_says_what_the_suite_is_in_either_spelling():
    for key in ("max_tool_rounds", "maxToolRounds"):
        toml = f'name = "n"\nversion = "3"\nkind = "recovery"\ntitle = "t"\nlicence = "MIT"\n{key} = 4\n'
        suite = load_suite_bytes(suite_files(suite_toml=toml.encode()))
        assert (suite.name, suite.version, suite.kind, suite.max_tool_rounds) == ("n", "3", "recovery", 4)


def test_the_version_a_suite_states_is_its_version():
    files = suite_files(suite_toml=b'version = "3"')
    assert load_suite_bytes(files, version="4").version == "3"


def test_exact_arguments_and_assertions_are_told_apart():
    assert with_arguments({"city": "Oslo"}) == ArgumentRules(required_equals={"city": "Oslo"})
    assert with_arguments({}) == ArgumentRules()
    for spelled in ("requiredEquals", "required_equals"):
        rules = with_arguments(
            {spelled: {"city": "Oslo"}, "optional": ["seats"], "constraints": {"seats": {"integer": True}}}
        )
        assert rules == ArgumentRules({"city": "Oslo"}, optional=("seats",), constraints={"seats": {"integer": True}})


@pytest.mark.parametrize(
    ("written", "parameters", "assertions"),
    [
        ({"optional": ["seats"]}, {"city", "seats"}, True),
        ({"optional": True}, {"optional"}, False),
        ({"optional": True, "city": "Oslo"}, {"optional", "city"}, False),
        ({"requiredEquals": {"optional": True}}, {"optional"}, True),
        ({"optional": ["optional"], "requiredEquals": {}}, {"optional"}, True),
        ({"required_equals": {"a": 1}}, {"required_equals"}, False),
        ({"required_equals": {"required_equals": 1}, "optional": []}, {"required_equals"}, True),
        ({"city": "Oslo"}, set(), False),
        ({}, {"optional"}, False),
    ],
)
def test_a_rule_name_that_is_a_parameter_of_the_tool_is_a_parameter(written, parameters, assertions):
    assert is_rules(written, frozenset(parameters)) is assertions


def test_an_alternative_for_another_tool_is_read_by_that_tools_parameters():
    other = {
        "name": "book",
        "description": "d",
        "parameters": {"type": "object", "properties": {"optional": {"type": "boolean"}}},
    }
    expected = {
        "kind": "tool", "name": "find_train", "arguments": {"city": "Oslo"},
        "alternatives": [{"name": "book", "arguments": {"optional": True}}, {"arguments": {"optional": ["seats"]}}],
    }  # fmt: skip
    case = one({**CASE, "expected": expected}, tools_core_json=json.dumps([TOOL, other]).encode())
    assert case.expected.alternatives == (
        Alternative(ArgumentRules({"optional": True}), "book"),
        Alternative(ArgumentRules(optional=("seats",))),
    )


def test_every_kind_of_expectation_is_read_in_camel_case():
    calls = {
        "kind": "tools", "ordered": True,
        "calls": [
            {"id": "x", "name": "find_train", "arguments": {"oneOf": {"city": ["Oslo", "Bergen"]}}},
            {"name": "find_train", "dependsOn": ["x"],
             "arguments": {"requiredEquals": {"city": "B", "seats": 2}, "tolerance": {"/seats": {"absolute": 1}}}},
        ],
    }  # fmt: skip
    case = one({**CASE, "referenceTime": "2026-01-02T03:04:05Z", "expected": calls})
    assert case.reference_time == "2026-01-02T03:04:05Z"
    assert isinstance(case.expected, ExpectTools)
    assert case.expected.calls[1].depends_on == ("x",)
    assert case.expected.calls[1].arguments.tolerance == {"/seats": Tolerance(absolute=1.0)}
    assert one({**CASE, "expected": {"kind": "no_call", "target": "find_train"}}).expected == ExpectNoCall("find_train")
    asked = {"kind": "clarification", "missing": ["city"], "words": {"city": ["town"]}}
    assert one({**CASE, "expected": asked}).expected == ExpectClarification(("city",), {"city": ("town",)})


def test_null_says_what_leaving_a_field_out_says():
    assert one({**CASE, "behaviour": None, "tools": None, "note": None}) == one(CASE)


def test_constraints_are_kept_as_they_are_written():
    arguments = {"requiredEquals": {"city": "B"}, "constraints": {"seats": {"integer": True, "minimum": 1}}}
    assert with_arguments(arguments).constraints == {"seats": {"integer": True, "minimum": 1}}


def test_fakes_are_read_and_the_compatibility_file_is_hashed_only():
    fakes = {"find_train": [{"when": {"city": "Oslo"}, "result": {"ok": True}}, {"result": None}]}
    files = suite_files(fakes_json=json.dumps(fakes).encode())
    files["tools.compatibility.json"] = b"not even JSON"
    suite = load_suite_bytes(files)
    assert suite.fakes == {"find_train": (FakeAnswer({"ok": True}, {"city": "Oslo"}), FakeAnswer(None))}
    assert len(suite.tools) == 1
    assert suite.files["tools.compatibility.json"] == hashlib.sha256(b"not even JSON").hexdigest()


def test_files_that_are_no_part_of_a_suite_are_neither_read_nor_hashed():
    files = {**suite_files(), "datasheet.json": b"\xff", "README.md": b"x"}
    assert load_suite_bytes(files) == load_suite_bytes(suite_files())


def test_a_byte_order_mark_crlf_and_blank_lines_change_no_case():
    plain = lines(CASE, {**CASE, "id": "b"})
    written = b"\xef\xbb\xbf\r\n" + plain.replace(b"\n", b"\r\n\r\n")
    assert (
        load_suite_bytes(suite_files(cases_jsonl=written)).cases
        == load_suite_bytes(suite_files(cases_jsonl=plain)).cases
    )


def test_the_system_text_is_kept_to_the_last_blank():
    assert load_suite_bytes({**suite_files(), "system.txt": b"  a\r\n\n b \n"}).system == "  a\r\n\n b \n"


def test_unicode_line_separators_inside_a_prompt_do_not_end_its_line():
    row = json.dumps({**CASE, "prompt": "a\u2028b\u0085c"}, ensure_ascii=False).encode()
    assert load_suite_bytes(suite_files(cases_jsonl=row)).cases[0].prompt == "a\u2028b\u0085c"


def test_big_integers_and_unknown_metadata_survive():
    case = one({**CASE, "metadata": {"n": 2**70, "requiredEquals": {"x": [1.0]}}})
    assert case.metadata == {"n": 2**70, "requiredEquals": {"x": [1.0]}}
    assert isinstance(case.metadata["requiredEquals"]["x"][0], float)


@pytest.mark.parametrize("name", bundled_suites())
def test_the_stored_bytes_of_a_bundled_suite_are_the_suite(name):
    suite = load_suite(name)
    assert suite.sources == read_suite_files(name)
    assert set(suite.sources) <= set(SUITE_FILES)
    assert load_suite_bytes(suite.sources, name=suite.name, version=suite.version) == suite


def test_the_stored_bytes_of_a_folder_are_the_suite(tmp_path):
    for name, data in suite_files().items():
        (tmp_path / name).write_bytes(data)
    suite = load_suite(tmp_path, version="7")
    assert suite.sources == suite_files()
    assert load_suite_bytes(suite.sources, name=suite.name, version=suite.version) == suite


def test_a_path_is_always_a_folder_and_a_bare_name_the_bundled_suite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "support"
    folder.mkdir()
    for name, data in suite_files().items():
        (folder / name).write_bytes(data)
    assert load_suite("support").version == "1.0.0"
    assert load_suite("./support").version == "0"
    assert load_suite(folder).version == "0"


def test_where_there_is_no_suite_the_error_says_what_could_be_meant(tmp_path):
    with pytest.raises(InputError, match="Did you mean 'support'"):
        load_suite("suport")
    (tmp_path / "cases.jsonl").write_bytes(b"")
    with pytest.raises(InputError, match="a suite is a folder"):
        load_suite(tmp_path / "cases.jsonl")
    for where in ("", "a\x00b", "x" * 5000):
        with pytest.raises(InputError):
            load_suite(where)


def test_a_file_too_large_to_read_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr("callscope.suites.files.MAX_FILE_BYTES", 10)
    for name, data in suite_files().items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=r"tools\.core\.json.*too large"):
        load_suite(tmp_path)


def test_what_the_system_refuses_is_told_as_it_says_it(tmp_path, monkeypatch):
    for name, data in suite_files().items():
        (tmp_path / name).write_bytes(data)

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        load_suite(tmp_path)


def test_a_suite_has_a_name_even_where_its_folder_has_none(monkeypatch):
    def broken(self, strict=False):
        raise OSError

    assert folder_name("/") == "suite"
    monkeypatch.setattr(Path, "resolve", broken)
    assert folder_name("a/trains") == "trains"


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    (tmp_path / "system.txt").mkdir()
    with pytest.raises(InputError, match="not a regular file"):
        load_suite(tmp_path)
