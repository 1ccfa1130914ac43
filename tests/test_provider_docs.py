"""The pages about providers say what the catalogue says, name nothing that does not exist, and their example runs."""

from __future__ import annotations

import http.server
import importlib.util
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import callscope
from callscope.capture.config import read_config
from callscope.capture.models import known_switches, resolve_models
from callscope.contract import ToolCalls
from callscope.providers import FLAGS, api_names, get_adapter
from callscope.providers.catalog import catalog
from tests.capture.helpers import small_suite

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "providers"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("provider_docs", ROOT / "scripts" / "provider_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_one_page_for_each_provider_and_no_other() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {*catalog(), "README"}


def test_the_tables_are_what_the_catalogue_says(script: ModuleType) -> None:
    stale = [path.name for path, text in script.pages() if path.read_text("utf-8") != text]
    assert stale == [], "run `make provider-docs`"
    assert script.main(["--check"]) == 0


def test_every_limit_has_words(script: ModuleType) -> None:
    from callscope.providers.catalog import SchemaLimits

    assert script.LIMITS.keys() == set(SchemaLimits.__struct_fields__)
    with pytest.raises(ValueError, match="lacks the marks"):
        script.rewritten("no marks", "x")


@pytest.mark.parametrize("name", catalog())
def test_a_page_opens_with_the_title_sets_the_key_and_shows_an_entry_that_resolves(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text("utf-8")
    entry = catalog()[name]
    assert text.startswith("# ")
    before = text.partition("<!-- catalogue")[0]
    if entry.keys and entry.key_required:
        assert entry.keys[0] in before
    assert "## Known faults" in text
    written = re.findall(r"```toml\n(.*?)```", before, re.DOTALL)
    assert len(written) == 1
    environ = {variable: "x" for variables in entry.placeholders.values() for variable in variables}
    (model,) = resolve_models(read_config(written[0].encode(), ".toml").models, environ)
    assert model.provider == (name if name != "openai-compatible" else "in-house")
    assert model.switches.keys() <= known_switches(get_adapter(model.api)).keys()


def test_the_pages_name_only_flags_that_there_are() -> None:
    named = {
        (page.name, flag)
        for page in PAGES.glob("*.md")
        for flag in re.findall(r"(?:flag|cause) `(\w+)`", page.read_text("utf-8"))
    }
    assert named
    assert {each for each in named if each[1] not in FLAGS} == set()


class _Lines(http.server.BaseHTTPRequestHandler):
    """Answers a prompt that names an order with a call, any other with text."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert self.headers["x-key"] == "secret-key"
        order = re.search(r"ORD-\d{6}", asked["said"][-1])
        tool = asked["tools"][0]["name"]
        answer = f'call {tool} {{"order_id": "{order[0]}"}}' if order else "Good morning!"
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def lines_url() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Lines)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package of the index page, installed as its author would have it: a module and an entry point."""
    text = (PAGES / "README.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (point,) = re.findall(r'\[project\.entry-points\."(callscope\.providers)"\]\n(.+)\n', text)
    name, _, value = point[1].partition(" = ")
    site = tmp_path / "site"
    info = site / "echo_lines-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "echo_lines.py").write_text(code)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: echo-lines\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{point[0]}]\n{name} = {value.strip(chr(34))}\n")
    monkeypatch.syspath_prepend(str(site))
    get_adapter.cache_clear()
    yield
    get_adapter.cache_clear()


@pytest.mark.usefixtures("_installed")
def test_the_example_of_a_package_with_a_format_of_its_own_runs_as_it_stands(
    tmp_path: Path, lines_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "echo-lines" in api_names()
    outcome = callscope.normalize("echo-lines", status=200, headers={}, body=b'call f {"a": 1}\n', stream=False)
    assert isinstance(outcome, ToolCalls)
    monkeypatch.setenv("LINES_KEY", "secret-key")
    model = {
        "provider": "lines", "model": "m", "api": "echo-lines", "base_url": lines_url, "api_key_env": "LINES_KEY",
    }  # fmt: skip
    run = callscope.run(small_suite(), models=[model], repeats=1, out=tmp_path / "run")
    verdicts = [derived.verdict.selection for derived in run.derived()]
    assert len(verdicts) == 5
    assert set(verdicts) == {"correct_tool", "abstained_correctly"}
