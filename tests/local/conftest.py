"""Keeps unit tests off the machine's own cache and settings; tests of a real model share its cache."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("embedded") is None:
        monkeypatch.delenv("CALLSCOPE_WEIGHTS_DIR", raising=False)
        monkeypatch.setenv("CALLSCOPE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child process imports the stand-in engine of tests/local/engine instead of the real library."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "engine"))
