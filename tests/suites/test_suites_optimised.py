"""Provider-optimised suites: an overlay of declared differences on the portable suite, and nothing else."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from callscope.cli import main
from callscope.contract import Case, Malformed, SchemaDifference, StrictDifference, Tool, ToolCall, ToolCalls
from callscope.errors import InputError
from callscope.formats import all_schemas
from callscope.providers.catalog import catalog, dialects
from callscope.providers.schemas import check_tools
from callscope.scoring import evaluate
from callscope.suites import (
    SuiteFaults,
    bundled_suites,
    lint_suite,
    load_suite,
    load_suite_bytes,
    read_suite_files,
)

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = load_suite("support")
OPTIMISED = [name for name in bundled_suites() if load_suite(name).kind == "provider-optimised"]


def test_at_least_four_providers_have_one() -> None:
    assert {load_suite(name).providers[0] for name in OPTIMISED} >= {"openai", "anthropic", "google", "mistral"}


@pytest.mark.parametrize("name", OPTIMISED)
def test_it_is_the_portable_suite_with_declared_differences(name: str) -> None:
    suite = load_suite(name)
    assert (suite.name, suite.cases) == (name, SUPPORT.cases)
    assert suite.differences
    assert set(suite.providers) <= set(catalog())
    assert [tool.name for tool in suite.tools] == [tool.name for tool in SUPPORT.tools]
    assert suite.system.startswith(SUPPORT.system)
    for difference in suite.differences:
        place = difference.source.split(" ")[0]
        assert place.startswith("https://") or (ROOT / place).is_file(), difference


@pytest.mark.parametrize("name", OPTIMISED)
def test_base_and_overlay_are_frozen_byte_for_byte_and_load_back(name: str) -> None:
    suite = load_suite(name)
    base = read_suite_files("support")
    assert {file: data for file, data in suite.sources.items() if file != "overlay.toml"} == base
    assert set(suite.files) == {*base, "overlay.toml"}
    assert load_suite_bytes(suite.sources, name="other", version="9") == suite


@pytest.mark.parametrize("name", OPTIMISED)
def test_lint_finds_no_fault_in_it(name: str) -> None:
    assert [one for one in lint_suite(load_suite(name)) if one.severity != "info"] == []


@pytest.mark.parametrize("name", OPTIMISED)
def test_what_is_asked_strictly_is_within_the_providers_strict_limits(name: str) -> None:
    suite = load_suite(name)
    entry = catalog()[suite.providers[0]]
    wire = entry.wire(entry.api)
    assert wire is not None
    limits = dialects()[wire.dialect].strict
    if limits is not None and any(isinstance(one, StrictDifference) and one.value for one in suite.differences):
        assert [breach for breach in check_tools(suite.tools, limits) if breach.severity == "warning"] == []


def test_the_portable_suite_is_not_within_openais_strict_limits_which_is_why_there_is_another() -> None:
    limits = dialects()["openai"].strict
    assert limits is not None
    assert check_tools(SUPPORT.tools, limits)


def test_lint_prints_the_differences(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["lint", "support-openai"])
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.count("differs ") == len(load_suite("support-openai").differences)
    assert "differs schema: rule 'all-required-nullable', null_means_absent True. Strict mode refuses" in text
    assert "[docs/providers/openai.md]" in text


def test_the_published_schema_takes_every_shipped_overlay() -> None:
    validator = jsonschema_rs.Draft202012Validator(all_schemas()["overlay.schema.json"])
    for name in OPTIMISED:
        validator.validate(tomllib.loads(load_suite(name).sources["overlay.toml"].decode()))


# ----------------------------------------------------------------------------------------------------- null and absent

SEARCH = {"email": "kim@example.test"}
SEARCH_CASE = msgspec.convert(
    {
        "id": "x",
        "prompt": "Orders of kim@example.test?",
        "expected": {"kind": "tool", "name": "search_orders", "arguments": {"required_equals": SEARCH}},
    },
    Case,
)
NULLS: list[tuple[dict[str, Any], str, str, bool]] = [
    ({**SEARCH, "status": None, "limit": None}, "valid", "exact", True),
    ({**SEARCH, "status": "shipped", "limit": None}, "valid", "wrong", False),
    ({"email": None, "status": None, "limit": None}, "invalid", "wrong", False),
    (SEARCH, "invalid", "exact", False),
]


@pytest.mark.parametrize(("arguments", "structure", "semantics", "passed"), NULLS, ids=str)
def test_a_declared_null_is_an_absent_argument_for_meaning_and_a_value_for_structure(
    arguments: dict[str, Any], structure: str, semantics: str, passed: bool
) -> None:
    suite = load_suite("support-openai")
    case = SEARCH_CASE
    outcome = ToolCalls((ToolCall("1", "search_orders", arguments),), ())
    verdict = evaluate(case, suite.tools, outcome, null_means_absent=suite.null_means_absent)
    assert (verdict.structure, verdict.semantics, verdict.passed) == (structure, semantics, passed)


def test_the_evidence_lists_the_nulls_that_were_read_as_absent() -> None:
    suite = load_suite("support-openai")
    call = ToolCall("1", "search_orders", {**SEARCH, "status": None, "limit": None})
    verdict = evaluate(SEARCH_CASE, suite.tools, ToolCalls((call,), ()), null_means_absent=suite.null_means_absent)
    assert verdict.evidence["semantics"]["null_means_absent"] == [{"call": 0, "arguments": ["status", "limit"]}]


def test_on_the_portable_suite_a_null_is_a_value() -> None:
    call = ToolCall("1", "search_orders", {**SEARCH, "status": None})
    verdict = evaluate(SEARCH_CASE, SUPPORT.tools, ToolCalls((call,), ()), null_means_absent=SUPPORT.null_means_absent)
    assert (verdict.structure, verdict.semantics) == ("invalid", "wrong")


def test_a_malformed_call_has_no_nulls_to_read() -> None:
    suite = load_suite("support-openai")
    malformed = ToolCall("1", "search_orders", malformed=Malformed("truncated", "{"))
    verdict = evaluate(SEARCH_CASE, suite.tools, ToolCalls((malformed,), ()), null_means_absent=suite.null_means_absent)
    assert (verdict.selection, verdict.structure) == ("correct_tool", "malformed")


# -------------------------------------------------------------------------------------------------------- own overlays

BASE = {
    "system.txt": b"Help.",
    "tools.core.json": json.dumps(
        [
            {
                "name": "find",
                "description": "Finds.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "a": {"type": "string", "pattern": "x"},
                        "b": {"type": "object", "properties": {"c": {"type": "integer"}}},
                    },
                    "required": ["a", "b"],
                },
            }
        ]
    ).encode(),
    "cases.jsonl": b'{"id": "1", "prompt": "Hi", "expected": {"kind": "text"}}\n',
    "suite.toml": b'name = "own"\nversion = "2"\n',
}
HEAD = 'extends = "base"\nprovider = "openai"\nname = "own-openai"\nversion = "1"\n'
WHY = 'reason = "r"\nsource = "s"\n'


def overlay(*differences: str, head: str = HEAD) -> dict[str, bytes]:
    return {**BASE, "overlay.toml": (head + "".join(f"[[difference]]\n{one}\n{WHY}" for one in differences)).encode()}


def test_differences_are_applied_in_the_order_they_are_written() -> None:
    suite = load_suite_bytes(
        overlay(
            'what = "system"\ntext = "Be brief."',
            'what = "description"\ntool = "find"\ntext = "Finds one."',
            'what = "description"\ntool = "find"\nparameter = "a"\ntext = "An x."',
            'what = "schema"\nrule = "pattern"',
        )
    )
    assert suite.system == "Help.\nBe brief."
    (tool,) = suite.tools
    assert tool.description == "Finds one."
    assert tool.parameters["properties"]["a"] == {"type": "string", "description": "An x."}
    assert (suite.name, suite.version, suite.kind, suite.providers) == (
        "own-openai",
        "1",
        "provider-optimised",
        ("openai",),
    )


FAULTS = [
    (overlay(), "'difference' is missing"),
    (overlay(head="difference = []\n" + HEAD), "there are no differences (expected at least one [[difference]])"),
    (overlay('what = "schema"\nrule = "patern"'), "overlay.toml:5: difference[0].rule: is no schema rule"),
    (overlay('what = "schema"\nrule = "format"'), "difference[0].rule: this difference changes nothing"),
    (overlay('what = "schema"\nrule = "pattern"\nnull_means_absent = true'), "only with this rule (found pattern"),
    (overlay('what = "schema"\nrule = "all-required-nullable"\nnull_means_absent = true'), "only top-level"),
    (overlay('what = "description"\ntool = "fined"\ntext = "x"'), "there is no such tool (found fined"),
    (overlay('what = "description"\ntool = "find"\nparameter = "z"\ntext = "x"'), "no such parameter (found z"),
    (overlay('what = "description"\ntool = "find"\ntext = "Finds."'), "text: this difference changes nothing"),
    (overlay('what = "strict"\nvalue = true', 'what = "strict"\nvalue = false'), "difference[1]: this is set twice"),
    (overlay('what = "strikt"\nvalue = true'), "difference[0].what: this is not what may stand"),
    (overlay('what = "strict"\nvalue = "yes"'), "difference[0].value: this is not what may stand here"),
    (overlay('what = "strict"\nvalue = true', head=HEAD + 'extends_version = "1"\n'), "this is not its version"),
    (overlay('what = "strict"\nvalue = true', head=HEAD.replace('"openai"', '" "', 1)), "provider: this must be"),
    ({**overlay(), "overlay.toml": b"extends = ["}, "this is no TOML"),
    ({**overlay(), "overlay.toml": b"\xff"}, "this is not UTF-8"),
    ({**overlay('what = "strict"\nvalue = true'), "suite.toml": b'kind = "recovery"'}, "only a portable suite"),
    ({**BASE, "overlay.toml": overlay('what = "strict"\nvalue = true')["overlay.toml"].replace(b'"r"', b'" "')},
     "difference[0].reason: a difference must say this"),
    ({**BASE, "suite.toml": b'provider = "openai"'}, "only a provider-optimised suite names a provider"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "said"), FAULTS, ids=[said[:50] for _, said in FAULTS])
def test_a_fault_of_an_overlay_is_named_with_its_place(files: dict[str, bytes], said: str) -> None:
    with pytest.raises(SuiteFaults) as caught:
        load_suite_bytes(files)
    assert said in str(caught.value)


def test_a_suite_of_ones_own_may_be_optimised_without_an_overlay() -> None:
    files = {**BASE, "suite.toml": b'kind = "provider-optimised"\nprovider = "openai"'}
    suite = load_suite_bytes(files)
    assert (suite.providers, suite.differences) == (("openai",), ())


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_an_overlay_alone_in_a_folder_extends_a_folder_beside_it_or_a_bundled_suite(tmp_path: Path) -> None:
    write(tmp_path / "base", BASE)
    text = overlay('what = "strict"\nvalue = true')["overlay.toml"]
    beside = load_suite(write(tmp_path / "optimised", {"overlay.toml": text.replace(b'"base"', b'"../base"')}))
    bundled = load_suite(write(tmp_path / "other", {"overlay.toml": text.replace(b'"base"', b'"support"')}))
    assert (beside.name, len(beside.cases), bundled.cases) == ("own-openai", 1, SUPPORT.cases)
    assert load_suite_bytes(beside.sources) == beside


BAD_EXTENDS = [
    (b'"support-openai"', "extends: an overlay cannot extend another (found support-openai)"),
    (b'"nowhere"', "there is no such suite"),
    (b"3", "overlay.toml:1: extends: names no suite (expected a folder, or one of support"),
]


@pytest.mark.parametrize(("extends", "said"), BAD_EXTENDS, ids=str)
def test_what_an_overlay_extends_must_be_a_suite(tmp_path: Path, extends: bytes, said: str) -> None:
    text = overlay('what = "strict"\nvalue = true')["overlay.toml"].replace(b'"base"', extends)
    with pytest.raises(InputError) as caught:
        load_suite(write(tmp_path / "mine", {"overlay.toml": text}))
    assert said in str(caught.value)


def test_a_fault_in_the_extended_suite_names_its_own_file(tmp_path: Path) -> None:
    write(tmp_path / "base", {**BASE, "cases.jsonl": b"{}\n"})
    text = overlay('what = "strict"\nvalue = true')["overlay.toml"].replace(b'"base"', b'"../base"')
    with pytest.raises(SuiteFaults, match=r"mine/\.\./base/cases\.jsonl:1: "):
        load_suite(write(tmp_path / "mine", {"overlay.toml": text}))


def test_a_rule_difference_is_readable_as_data() -> None:
    found = [one for one in load_suite("support-openai").differences if isinstance(one, SchemaDifference)]
    assert [(one.rule, one.null_means_absent) for one in found] == [("all-required-nullable", True), ("default", False)]
    assert all(isinstance(tool, Tool) for tool in load_suite("support-openai").tools)
