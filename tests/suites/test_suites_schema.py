"""The published schemas: as generated, true of the bundled suite, false of mistakes."""

from __future__ import annotations

import json
import tomllib

import jsonschema_rs
import pytest
from suite_samples import CASE, TOOL

from callscope.suites import bundled_suites, published_schemas, read_suite_files

VALID = {name: jsonschema_rs.Draft202012Validator(schema, offline=True) for name, schema in published_schemas().items()}


def rows(files: dict[str, bytes]):
    return [json.loads(row) for row in files["cases.jsonl"].decode().split("\n") if row.strip()]


@pytest.mark.parametrize("name", bundled_suites())
def test_a_bundled_suite_is_valid(name):
    files = read_suite_files(name)
    for row in rows(files):
        VALID["case.schema.json"].validate(row)
    VALID["tools.schema.json"].validate(json.loads(files["tools.core.json"]))
    VALID["suite.schema.json"].validate(tomllib.loads(files["suite.toml"].decode()))


def test_the_documents_fixtures_are_valid(document_files, document_assertions):
    for row in rows(document_files):
        VALID["case.schema.json"].validate(row)
    VALID["tools.schema.json"].validate(json.loads(document_files["tools.core.json"]))
    expected = {"kind": "tool", "name": "search_orders", "arguments": document_assertions}
    VALID["case.schema.json"].validate({**CASE, "expected": expected})


def expecting(**expected):
    return {**CASE, "expected": expected}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("case.schema.json", {**CASE, "referenceTime": "2026-01-01", "behaviour": "abstention"}),
        ("case.schema.json", expecting(kind="no_call")),
        ("case.schema.json", expecting(kind="tool", name="x", arguments={"optional": ["a"]})),
        ("tools.schema.json", [TOOL]),
        ("suite.schema.json", {"maxToolRounds": 3}),
        ("fakes.schema.json", {"x": [{"result": None}, {"when": {"a": 1}, "result": {"ok": False}}]}),
    ],
)
def test_what_loads_is_valid(name, value):
    assert VALID[name].is_valid(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("case.schema.json", {**CASE, "promt": "x"}),
        ("case.schema.json", {key: CASE[key] for key in ("id", "prompt")}),
        ("case.schema.json", {**CASE, "behaviour": "positive"}),
        ("case.schema.json", {**CASE, "reference_time": "x", "referenceTime": "x"}),
        ("case.schema.json", expecting(kind="clarify", missing=["a"])),
        ("case.schema.json", expecting(kind="text", name="a")),
        ("case.schema.json", expecting(kind="tool", name="x", arguments={"requiredEquals": {}, "optinal": []})),
        ("case.schema.json", expecting(kind="tool", name="x", arguments={"oneOf": {"a": 1}})),
        ("case.schema.json", expecting(kind="tool", name="x", arguments=[])),
        ("case.schema.json", expecting(kind="tool", name="x", arguments={}, alternatives=[{"name": "y"}])),
        ("tools.schema.json", []),
        ("tools.schema.json", {"tools": [{"name": "x", "description": "d"}]}),
        ("tools.schema.json", [{**TOOL, "strict": True}]),
        ("suite.schema.json", {"kind": "portable!"}),
        ("suite.schema.json", {"license": "MIT"}),
        ("fakes.schema.json", {"x": {"result": 1}}),
        ("fakes.schema.json", {"x": [{"when": {}}]}),
    ],
)
def test_a_mistake_is_not_valid(name, value):
    assert not VALID[name].is_valid(value)


def test_every_field_has_its_camel_case_name():
    case = published_schemas()["case.schema.json"]["$defs"]
    assert case["Case"]["properties"]["referenceTime"] == case["Case"]["properties"]["reference_time"]
    assert {"requiredEquals", "required_equals", "oneOf", "one_of"} <= set(case["ArgumentRules"]["properties"])
    assert "dependsOn" in case["ExpectedCall"]["properties"]
