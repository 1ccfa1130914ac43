"""The compatibility suite: a sane table, findings out of outcomes, suggestions, and one whole run on a stand-in."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.stand_in import Reply, Seen, StandIn, completion

from callscope.cli import main
from callscope.contract import (
    Derived,
    Malformed,
    Measures,
    Outcome,
    ProviderError,
    Text,
    ToolCall,
    ToolCalls,
    TrialKey,
    offered_tools,
)
from callscope.probe import (
    CONTROL,
    FALLBACKS,
    FINDINGS,
    PROBES,
    SUITE_NAME,
    Probe,
    compatibility_suite,
    fallback_lines,
    probe_results,
    suggestions,
)
from callscope.probe.table import tool_name
from callscope.schema_rules import change_tools, check_rules
from callscope.scoring import evaluate
from callscope.suites import lint_suite, load_suite_bytes

SUITE = compatibility_suite()
TOOLS = {tool.name: tool for tool in SUITE.tools}
CASES = {case.id: case for case in SUITE.cases}

# ---------------------------------------------------------------------------------------------------------------- table


def test_every_probe_has_an_id_and_a_tool_of_its_own_and_one_is_the_control() -> None:
    assert len({probe.id for probe in PROBES}) == len(PROBES)
    assert len({tool_name(probe) for probe in PROBES}) == len(PROBES)
    assert PROBES[0].id == CONTROL
    assert all((probe.schema is None) != (probe.parameters is None) for probe in PROBES)


def test_the_table_covers_the_keywords_that_providers_differ_on() -> None:
    asked = {
        "pattern", "format", "minimum", "maximum", "minLength", "maxLength", "enum", "const", "anyOf", "oneOf", "allOf",
        "$ref", "additionalProperties", "patternProperties", "default", "minItems", "uniqueItems", "prefixItems",
        "nesting", "number of tools", "name", "null in type", "null in anyOf", "nullable",
    }  # fmt: skip
    assert asked <= {probe.keyword for probe in PROBES}


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.id)
def test_a_probe_is_a_schema_that_uses_its_keyword(probe: Probe) -> None:
    tool = TOOLS[tool_name(probe)]
    assert jsonschema_rs.meta.is_valid(tool.parameters)
    if re.fullmatch(r"[a-zA-Z$]+", probe.keyword) and probe.keyword not in ("name", "nesting", "items", "type"):
        assert f'"{probe.keyword}"' in json.dumps(tool.parameters)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.id)
def test_a_fallback_gets_its_keyword_out_of_the_way(probe: Probe) -> None:
    names = FALLBACKS.get(probe.id, ())
    check_rules(names, "schema_fallback")
    if names:
        _, changes = change_tools((TOOLS[tool_name(probe)],), names)
        assert changes


def test_only_probes_have_fallbacks() -> None:
    assert set(FALLBACKS) <= {probe.id for probe in PROBES} - {CONTROL}


def test_the_suite_is_a_suite_of_its_own_kind_that_loads_back() -> None:
    assert (SUITE.name, SUITE.kind, len(SUITE.cases)) == (SUITE_NAME, "compatibility", len(PROBES))
    assert load_suite_bytes(SUITE.sources) == SUITE
    assert [one.rule for one in lint_suite(SUITE) if one.severity == "error"] == []


def test_each_case_offers_its_own_tool_alone_except_where_many_are_probed() -> None:
    counts = {case.id: len(offered_tools(case, SUITE.tools)) for case in SUITE.cases}
    assert counts.pop("many-tools") == 130
    assert set(counts.values()) == {1}


# ------------------------------------------------------------------------------------------------------------- findings


def derived(case_id: str, outcome: Outcome, model: str = "m", experiment: str = "auto", repeat: int = 0) -> Derived:
    key = TrialKey(SUITE_NAME, experiment, model, case_id, repeat)
    verdict = evaluate(CASES[case_id], SUITE.tools, outcome, key=key)
    return Derived(verdict=verdict, outcome=outcome, measures=Measures("", ""))


def call(case_id: str, arguments: dict[str, Any] | None) -> ToolCalls:
    name = tool_name(next(probe for probe in PROBES if probe.id == case_id))
    malformed = Malformed("truncated", '{"va') if arguments is None else None
    return ToolCalls((ToolCall("1", name, arguments, malformed),), ())


REJECTED = ProviderError("schema_rejected", "400", "pattern is not supported")
OUTCOMES: list[tuple[Outcome, str, str]] = [
    (call("pattern", {"value": "ORD-000001"}), "kept", "ORD-000001"),
    (call("pattern", {"value": "hello"}), "ignored", "invalid: {'value': 'hello'}"),
    (call("pattern", None), "ignored", 'malformed: {"va'),
    (REJECTED, "rejected", "400: pattern is not supported"),
    (ProviderError("rate_limited", "429", "slow down"), "not_observed", "429: slow down"),
    (ProviderError("authentication_error", "401", "no key"), "not_observed", "401: no key"),
    (Text("I recorded it."), "undecided", "no_call_when_expected"),
    (ToolCalls((ToolCall("1", "other", {}),), ()), "undecided", "wrong_tool"),
]


@pytest.mark.parametrize(("outcome", "finding", "evidence"), OUTCOMES, ids=lambda value: str(value)[:40])
def test_an_outcome_is_this_finding_with_its_evidence(outcome: Outcome, finding: str, evidence: str) -> None:
    (result,) = probe_results(SUITE, [derived("pattern", outcome)])
    assert result.finding == finding
    assert evidence in result.evidence
    assert (result.keyword, result.counts) == ("pattern", {finding: 1})
    assert finding in FINDINGS


def test_of_several_repeats_the_gravest_stands_and_all_are_counted() -> None:
    kept, ignored = call("pattern", {"value": "ORD-000001"}), call("pattern", {"value": "hello"})
    found = [derived("pattern", one, repeat=n) for n, one in enumerate((kept, ignored, kept))]
    (result,) = probe_results(SUITE, found)
    assert (result.finding, result.counts) == ("ignored", {"kept": 2, "ignored": 1})


def test_models_and_experiments_are_told_apart_and_other_suites_left_out() -> None:
    ok = call("pattern", {"value": "ORD-000001"})
    found = [derived("pattern", ok), derived("pattern", ok, "n"), derived("pattern", ok, experiment="auto+strict")]
    assert len(probe_results(SUITE, found)) == 3
    other = compatibility_suite(PROBES[:1])
    assert probe_results(load_suite_bytes({**other.sources, "suite.toml": b'name = "x"'}), found) == ()


def good(case_id: str = CONTROL) -> Derived:
    return derived(case_id, call(case_id, {"value": "blue"}))


def test_a_rejected_keyword_gets_a_rewrite_and_an_ignored_one_a_warning() -> None:
    found = [good(), derived("one-of", REJECTED), derived("minimum", call("minimum", {"value": -7}))]
    told = suggestions(probe_results(SUITE, found))
    assert [(one["keyword"], one["finding"], one["action"], one["schema_fallback"]) for one in told] == [
        ("oneOf", "rejected", "write anyOf", ["one-of-to-any-of"]),
        ("minimum", "ignored", "leave it in, and validate every call on your side", []),
    ]


def test_nothing_is_suggested_where_the_control_failed() -> None:
    assert suggestions(probe_results(SUITE, [derived(CONTROL, REJECTED), derived("one-of", REJECTED)])) == []


def test_the_line_for_a_models_entry_is_toml_and_names_what_no_rule_helps() -> None:
    names = ("pattern", "if-then", "one-of", "format-date", "format-email", "long-name")
    told = suggestions(probe_results(SUITE, [good(), *(derived(name, REJECTED) for name in names)]))
    (line,) = fallback_lines(told)
    rules = tomllib.loads(line["line"])["schema_fallback"]
    assert rules == ["else", "format", "if", "one-of-to-any-of", "pattern", "then"]
    check_rules(rules, "schema_fallback")
    assert line["left"] == ["long-name"]


def test_where_only_names_are_refused_there_is_no_line() -> None:
    told = suggestions(probe_results(SUITE, [good(), derived("long-name", REJECTED)]))
    assert [(one["line"], one["left"]) for one in fallback_lines(told)] == [(None, ["long-name"])]
    assert fallback_lines([]) == []


# ------------------------------------------------------------------------------------------------------------ whole run

REFUSED = {"pattern", "oneOf", "patternProperties"}
IGNORED = {"minimum", "maxLength"}


def picky(seen: Seen) -> Reply:
    """Refuses some keywords with 400, ignores others, and obeys the rest as far as a fixed answer goes."""
    tools = seen.json["tools"]
    text = json.dumps(tools)
    for keyword in sorted(REFUSED):
        if f'"{keyword}"' in text:
            said = f"Invalid schema for function '{tools[0]['function']['name']}': '{keyword}' is not permitted."
            error = {"error": {"message": said, "type": "invalid_request_error", "code": "invalid_function_parameters"}}
            return Reply(json.dumps(error).encode(), status=400)
    function = tools[0]["function"]
    value = {"integer": -7, "string": "blue or green"}.get(_type_of(function["parameters"]), "blue")
    return Reply(completion(None, [(function["name"], json.dumps({"value": value}))]))


def _type_of(parameters: Mapping[str, Any]) -> str:
    return str(parameters.get("properties", {}).get("value", {}).get("type"))


@contextmanager
def serving(respond: Any) -> Iterator[StandIn]:
    """A stand-in in a thread of its own, because the command line runs a loop itself."""
    server, ready, loop = StandIn(respond), threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(20)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def cli(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


def test_a_probe_of_a_picky_provider_finds_what_it_refuses_and_what_it_ignores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "c.json"
    only = ["pattern", "one-of", "minimum", "max-length", "pattern-properties", "enum-strings"]
    asked = [part for name in only for part in ("--only", name)]
    with serving(picky) as server:
        entry = {
            "provider": "x",
            "model": "m",
            "base_url": server.url,
            "stand_in": True,
            "schema_fallback": ["pattern"],
        }
        config.write_text(json.dumps({"models": [entry], "tool_choice": "required"}))
        arguments = (
            "probe",
            "x/m",
            "--config",
            str(config),
            "--out",
            str(tmp_path / "run"),
            "--strict",
            "both",
            *asked,
        )
        assert cli(*arguments, "--json") == 0
        found = json.loads(capsys.readouterr().out)
        assert len(server.seen) == 2 * (len(only) + 1)
        assert {each.json.get("tool_choice", "auto") for each in server.seen} == {"auto"}
        assert cli(*arguments) == 0  # the same probe again asks nobody
        table = capsys.readouterr().out
        assert len(server.seen) == 2 * (len(only) + 1) + 2 * 3  # but for what was not observed: the refused ones
    findings = {(one["experiment"], one["id"]): one["finding"] for one in found["results"]}
    for experiment in ("auto", "auto+strict"):
        assert {name: findings[experiment, name] for name in (*only, CONTROL)} == {
            "pattern": "rejected",
            "one-of": "rejected",
            "pattern-properties": "rejected",
            "minimum": "ignored",
            "max-length": "ignored",
            "enum-strings": "ignored",
            CONTROL: "kept",
        }
    lines = {one["experiment"]: one["line"] for one in found["schema_fallback"]}
    expected = 'schema_fallback = ["one-of-to-any-of", "pattern", "patternProperties"]'
    assert lines == dict.fromkeys(("auto", "auto+strict"), expected)
    assert expected in table
    assert json.loads((tmp_path / "run" / "probe.json").read_text()) == {**found, "run_id": found["run_id"]}


def test_an_unknown_probe_is_refused_before_any_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("probe", "local/none", "--only", "patern") == 2
    assert "--only: no such probe (found patern" in capsys.readouterr().err
    assert cli("probe", "local/none", "--repeats", "0") == 2
