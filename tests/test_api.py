"""The Python face of the design document's section 7, and the document's own fixtures run unchanged."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import callscope
from tests.capture.helpers import small_suite, stand_in_model
from tests.stand_in import StandIn, by_rules, completion


def test_the_lines_of_the_design_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def go() -> callscope.Run:
        async with StandIn(by_rules) as server:
            suite = callscope.load_suite("support")
            return await callscope.arun(suite, models=[stand_in_model(server.url)], repeats=2, limit=5)

    run = asyncio.run(go())
    suite = run.suites["support"]
    assert run.path.parent.name == "results"
    outcome = callscope.normalize(
        "openai-chat",
        status=200,
        headers={},
        body=completion(None, [("lookup_order", '{"order_id":"ORD-204417"}')]),
        stream=False,
    )
    case = next(case for case in suite.cases if case.id == "lookup-status")
    verdict = callscope.evaluate(case, suite.tools, outcome)
    assert (verdict.selection, verdict.structure, verdict.semantics) == ("correct_tool", "valid", "exact")
    assert verdict.passed is True
    frame = run.summary().to_frame()
    assert len(frame) == 1


def test_run_is_the_sync_form(tmp_path: Path) -> None:
    run = callscope.run(
        small_suite(1),
        models=[{"provider": "x", "model": "y", "base_url": "http://127.0.0.1:9/v1"}],
        out=tmp_path / "run",
        repeats=1,
        attempts=1,
    )
    assert {one.verdict.acceptance for one in run.derived()} == {"provider_error"}


def test_the_public_names_are_curated() -> None:
    for name in callscope.__all__:
        assert getattr(callscope, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        callscope.nope  # noqa: B018


def document_fixtures(shared: Path, folder: Path) -> Path:
    """The harness document's own system text, tools, cases and configuration, as they stand in it."""
    text = next((shared / "seeds").glob("004_*")).read_text("utf-8")
    fixtures = folder / "fixtures"
    fixtures.mkdir()
    start = text.index('{\n  "tools"')
    _, end = json.JSONDecoder().raw_decode(text[start:])
    (fixtures / "tools.core.json").write_text(text[start : start + end])
    system = text[text.index("You are a support operations assistant.") : text.index("\n\nStore this text")]
    (fixtures / "system.txt").write_text(system)
    rows = [line for line in text.splitlines() if line.startswith('{"id":')]
    (fixtures / "cases.jsonl").write_text("\n".join(rows) + "\n")
    start = text.index('{\n  "datasetVersion"')
    config, _ = json.JSONDecoder().raw_decode(text[start:])
    (folder / "benchmark.config.json").write_text(json.dumps(config))
    return fixtures


def test_the_documents_fixtures_and_configuration_run_unchanged(shared: Path, tmp_path: Path) -> None:
    from callscope.api import load_suites, prepare, run_manifest
    from callscope.capture.config import load_config, read_config

    document_fixtures(shared, tmp_path)
    config = load_config(tmp_path / "benchmark.config.json")
    assert (config.repeats, config.timeout_ms, config.dataset_version) == (5, 30_000, "1.0.0")
    suites = load_suites((), base=tmp_path, config=config)
    assert [len(suite.cases) for suite in suites] == [8]

    async def go() -> callscope.Run:
        async with StandIn(by_rules) as server:
            raw = json.loads((tmp_path / "benchmark.config.json").read_text())
            for model in raw["models"]:
                model["baseUrl"] = server.url
            addressed = read_config(json.dumps(raw).encode(), ".json")
            return await run_manifest(prepare(suites, addressed), suites, out=tmp_path / "run")

    run = asyncio.run(go())
    passed = {(one.verdict.model, one.verdict.case_id): one.verdict.passed for one in run.derived()}
    assert len(passed) == 16
    assert passed["provider-a/replace-with-pinned-model-id", "select-lookup-01"] is True
    assert passed["provider-b/replace-with-pinned-model-id", "types-01"] is False
    assert run.check().differing == ()
