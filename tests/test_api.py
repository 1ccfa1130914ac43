"""The Python face of the design document's section 7, and the document's own fixtures run unchanged."""

from __future__ import annotations

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import callscope
from callscope.capture.config import RunConfig
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


def test_dir_lists_the_public_names_and_nothing_else() -> None:
    assert dir(callscope) == sorted(callscope.__all__)


def test_every_setting_is_an_argument_with_the_default_of_a_configuration_and_is_explained() -> None:
    given = inspect.signature(callscope.run).parameters
    assert {name: one.default for name, one in inspect.signature(callscope.arun).parameters.items()} == {
        name: one.default for name, one in given.items()
    }
    defaults = RunConfig(models=())
    for field in set(RunConfig.__struct_fields__) - {"models", "suites", "fixtures", "budgets"}:
        assert given[field].default == getattr(defaults, field), field
        assert f"\n        {field}: " in (callscope.run.__doc__ or ""), field
    assert all(f"\n        {name}: " in (callscope.run.__doc__ or "") for name in given)


@pytest.mark.parametrize("settings", [{"repeats": 0}, {"repeats": "many"}, {"budgets": {"call": 1}}], ids=str)
def test_a_setting_that_cannot_be_is_an_input_error(tmp_path: Path, settings: dict[str, Any]) -> None:
    models = [{"provider": "x", "model": "y", "base_url": "http://127.0.0.1:9/v1"}]
    with pytest.raises(callscope.InputError):
        callscope.run(small_suite(1), models=models, out=tmp_path / "run", **settings)


def test_a_run_and_its_summary_say_what_they_are_and_give_short_or_full_rows(tmp_path: Path) -> None:
    run = callscope.run(
        small_suite(1),
        models=[{"provider": "x", "model": "y", "base_url": "http://127.0.0.1:9/v1"}],
        out=tmp_path / "run",
        repeats=1,
        attempts=1,
        budgets={"calls": 1},
    )
    summary = run.summary()
    assert repr(run).startswith("<callscope.Run ")
    assert "x/y" in repr(run)
    assert repr(summary).startswith("<callscope.Summary ")
    assert "0 passed" in repr(summary)
    assert len(summary.rows()[0]) <= 20
    assert len(summary.rows(full=True)[0]) > 100
    assert len(summary.to_frame().columns) == len(summary.rows()[0])
    assert len(summary.to_frame(full=True).columns) == len(summary.rows(full=True)[0])


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
