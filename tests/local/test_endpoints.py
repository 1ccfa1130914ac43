"""An embedded model held through the whole of callscope: planned, called over HTTP, recorded, scored, replayed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import callscope
from callscope.contract import ProviderError

pytestmark = [pytest.mark.embedded, pytest.mark.xdist_group("embedded")]


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """One and two threads differ in the last digits, and tests run beside each other."""
    monkeypatch.setenv("CALLSCOPE_THREADS", "1")


def test_the_smallest_model_runs_a_suite_and_replays_the_same(tmp_path: Path) -> None:
    def go(out: Path) -> callscope.Run:
        return asyncio.run(
            callscope.arun(
                "support",
                models=[{"provider": "local", "model": "smollm2-135m"}],
                out=out,
                repeats=1,
                limit=3,
                max_tokens=24,
                seed=1,
                timeout_ms=120_000,
            )
        )

    first, second = go(tmp_path / "one"), go(tmp_path / "two")
    assert first.check().differing == ()
    outcomes = [one.outcome for one in first.derived()]
    assert not any(isinstance(outcome, ProviderError) for outcome in outcomes)
    assert [one.measures.outcome_hash for one in second.derived()] == [
        one.measures.outcome_hash for one in first.derived()
    ]
    assert [one.outcome for one in second.derived()] == outcomes, "greedy decoding from a restored prefix repeats"
    (model,) = first.manifest.models
    assert model.facts["sha256"].startswith("b179c952")
    assert model.facts["template"] == "tools-json"
    assert all("Bearer" not in line for line in (first.path / "records.jsonl").read_text().splitlines())


def test_an_unknown_embedded_model_is_named_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(callscope.InputError, match=r"qwen2\.5-coder-0\.5b"):
        callscope.run("support", models=["local/gpt-99"], out=tmp_path / "run", limit=1)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("api", ["openai-responses", "anthropic"])
def test_the_servers_other_wire_formats_give_the_same_outcomes(tmp_path: Path, api: str) -> None:
    def go(api: str) -> list[object]:
        run = callscope.run(
            "support",
            models=[{"provider": "local", "model": "smollm2-135m", "api": api}],
            out=tmp_path / api,
            repeats=1,
            limit=3,
            max_tokens=24,
            timeout_ms=120_000,
        )
        assert run.check().differing == ()
        return [one.measures.outcome_hash for one in run.derived()]

    assert go(api) == go("openai-chat")
