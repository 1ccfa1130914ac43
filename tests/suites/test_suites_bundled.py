"""The bundled support suite is what its version promises."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import get_args

import pytest

from callscope.contract import Behaviour, ExpectClarification, ExpectTool, ExpectTools
from callscope.suites import bundled_suites, load_suite, load_suite_bytes, read_suite_files

SUPPORT = load_suite("support")
FROZEN = {
    "system.txt": "afd969557ee70ad9c8adcebc819f11dc12981936fc1e9e97254fe5a16736ef01",
    "tools.core.json": "fd1587d0e2c1021ea08fe72fff39c569e2c9e1ab518a1f76d43f89c3eab92336",
    "cases.jsonl": "dbb6a5fd0e70cd95d67978da42d95f40f2cc1969cb3fc2fa4b67fe6164e51366",
}


def test_the_support_suite_is_bundled():
    assert "support" in bundled_suites()
    assert (SUPPORT.name, SUPPORT.version, SUPPORT.kind) == ("support", "1.0.0", "portable")


def test_its_bytes_are_those_of_version_1_0_0():
    """A change to a case is a new version: runs of one version must stay comparable."""
    assert {name: SUPPORT.files[name] for name in FROZEN} == FROZEN


def test_it_has_cases_enough_in_every_behaviour_class():
    counts = Counter(case.behaviour for case in SUPPORT.cases)
    assert len(SUPPORT.cases) >= 48
    assert set(counts) == set(get_args(Behaviour))
    assert min(counts.values()) >= 10


def test_its_first_twelve_cases_are_a_balanced_suite_of_their_own():
    counts = Counter(case.behaviour for case in SUPPORT.cases[:12])
    assert set(counts) == set(get_args(Behaviour))
    assert min(counts.values()) >= 2
    assert len({case.family for case in SUPPORT.cases[:12]}) == 12


def test_every_case_says_what_it_is_for():
    for case in SUPPORT.cases:
        assert case.behaviour, case.id
        assert case.difficulty, case.id
        assert case.tags, case.id
        assert case.family, case.id
        assert case.note, case.id


def test_it_speaks_more_than_english():
    assert {"de", "en", "es", "fr", "ja"} <= {case.locale for case in SUPPORT.cases}


def test_a_clarification_has_words_for_everything_that_is_missing():
    for case in SUPPORT.cases:
        if isinstance(case.expected, ExpectClarification):
            assert set(case.expected.words) == set(case.expected.missing), case.id
            assert case.expected.target is not None, case.id


def test_its_data_is_synthetic():
    text = read_suite_files("support")["cases.jsonl"].decode()
    assert {found.rsplit("@", 1)[1] for found in re.findall(r"[\w.+-]+@[\w.-]+\w", text)} == {"example.test"}


def test_every_value_of_an_exact_id_or_address_stands_in_its_prompt():
    for case in SUPPORT.cases:
        calls = [case.expected] if isinstance(case.expected, ExpectTool) else getattr(case.expected, "calls", ())
        for call in calls:
            for name in ("order_id", "email", "postal_code"):
                value = call.arguments.required_equals.get(name, "")
                assert value.casefold() in case.prompt.casefold(), case.id


def test_it_uses_every_kind_of_expectation():
    kinds = {type(case.expected).__name__ for case in SUPPORT.cases}
    assert kinds == {"ExpectTool", "ExpectTools", "ExpectText", "ExpectNoCall", "ExpectClarification"}
    assert any(getattr(case.expected, "alternatives", ()) for case in SUPPORT.cases)
    assert all(not case.expected.ordered for case in SUPPORT.cases if isinstance(case.expected, ExpectTools))


def test_its_tools_have_the_documents_names_parameters_and_bounds(document_files):
    def bare(schema):
        if isinstance(schema, dict):
            return {key: bare(value) for key, value in schema.items() if key != "description"}
        return [bare(value) for value in schema] if isinstance(schema, list) else schema

    theirs = json.loads(document_files["tools.core.json"])["tools"]
    ours = json.loads(read_suite_files("support")["tools.core.json"])["tools"]
    assert bare(ours) == bare(theirs)


def test_its_sentences_are_its_own(document_files):
    def sentences(files):
        suite = load_suite_bytes(files)
        schemas = [tool.parameters["properties"] for tool in suite.tools]
        said = [suite.system, *(tool.description for tool in suite.tools), *(case.prompt for case in suite.cases)]
        said += [parameter.get("description", "") for schema in schemas for parameter in schema.values()]
        return {
            part.strip(" -").casefold() for text in said for part in re.split(r"[.?!:\n]", text) if " " in part.strip()
        }

    assert not sentences(document_files) & sentences(read_suite_files("support"))


@pytest.mark.parametrize("limit", [1, 5, 12])
def test_a_limited_run_meets_only_offered_tools(limit):
    names = {tool.name for tool in SUPPORT.tools}
    assert all(case.tools is None or set(case.tools) <= names for case in SUPPORT.cases[:limit])
