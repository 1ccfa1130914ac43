"""The harness document's fixtures load as they stand."""

from __future__ import annotations

import json

from callscope.contract import ExpectClarification, ExpectText, ExpectTool
from callscope.suites import lint_suite, load_suite, load_suite_bytes


def test_the_documents_fixtures_load_unchanged(document_files):
    suite = load_suite_bytes(document_files, name="fixtures", version="1.0.0")
    assert [tool.name for tool in suite.tools] == ["lookup_order", "search_orders", "get_shipping_quote"]
    assert (suite.name, suite.version, suite.kind, len(suite.cases)) == ("fixtures", "1.0.0", "portable", 8)
    kinds = {case.id: type(case.expected) for case in suite.cases}
    assert kinds["types-01"] is ExpectTool
    assert kinds["abstain-01"] is ExpectText
    assert kinds["clarify-01"] is ExpectClarification
    types = next(case for case in suite.cases if case.id == "types-01")
    assert types.expected.arguments.required_equals == {
        "country_code": "US", "postal_code": "02139", "weight_grams": 750, "service": "standard",
    }  # fmt: skip


def test_they_load_from_a_folder_that_is_named_as_the_document_names_it(document_files, tmp_path):
    folder = tmp_path / "fixtures"
    folder.mkdir()
    for name, data in document_files.items():
        (folder / name).write_bytes(data)
    assert load_suite(folder) == load_suite_bytes(document_files, name="fixtures")


def test_their_hashes_are_those_of_the_exact_bytes_and_stay(document_files):
    first, second = load_suite_bytes(document_files), load_suite_bytes(dict(reversed(document_files.items())))
    assert first == second
    assert set(first.files) == set(document_files)
    changed = {**document_files, "system.txt": document_files["system.txt"] + b"\n"}
    assert load_suite_bytes(changed).files["system.txt"] != first.files["system.txt"]


def test_the_documents_assertions_are_read_as_assertions(document_files, document_assertions):
    case = {
        "id": "x",
        "prompt": "p",
        "expected": {"kind": "tool", "name": "search_orders", "arguments": document_assertions},
    }
    suite = load_suite_bytes({**document_files, "cases.jsonl": json.dumps(case).encode()})
    rules = suite.cases[0].expected.arguments
    assert rules.required_equals == document_assertions["requiredEquals"]
    assert rules.optional == ("limit",)
    assert rules.constraints == document_assertions["constraints"]


def test_lint_finds_no_error_in_them(document_files):
    findings = lint_suite(load_suite_bytes(document_files))
    assert [finding for finding in findings if finding.severity == "error"] == []
