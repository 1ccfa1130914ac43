"""Claims about `callscope models` and `callscope lint --for`: whole, narrow enough, and without a key's value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callscope.cli import main
from callscope.providers import api_names
from callscope.providers.catalog import catalog, ready_models

CANARY = "canary-0123456789"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    done = capsys.readouterr()
    return int(ended.value.code or 0), done.out, done.err


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for entry in catalog().values():
        for name in entry.keys:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", CANARY)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("CALLSCOPE_CACHE", str(tmp_path))
    monkeypatch.delenv("CALLSCOPE_WEIGHTS_DIR", raising=False)


WIDTHS = [80, 140]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [None, "anthropic", "azure-openai", "gpt-5.4", "qwen2.5-coder-0.5b", "openai-chat"])
def test_what_is_shown_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, name: str | None
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    code, text, errors = run(capsys, "models", *([name] if name else []))
    assert (code, errors) == (0, "")
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_the_list_names_every_format_provider_and_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    _, text, _ = run(capsys, "models")
    words = set(text.split())
    assert {*api_names(), *catalog(), *ready_models(), "smollm2-135m"} <= words
    assert "tools are shown and no call is allowed" in text


def test_keys_are_named_and_said_to_be_set_and_never_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["models"], ["models", "google"], ["models", "--json"], ["models", "google", "--json"]):
        _, text, _ = run(capsys, *arguments)
        assert "GEMINI_API_KEY" in text
        assert CANARY not in text
    _, text, _ = run(capsys, "models", "--json")
    providers = json.loads(text)["providers"]
    assert providers["google"]["keys"] == {"GOOGLE_API_KEY": False, "GEMINI_API_KEY": True}
    assert providers["openai"]["keys"] == {"OPENAI_API_KEY": False}


def test_json_holds_all_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    _, text, errors = run(capsys, "models", "--json")
    found: dict[str, Any] = json.loads(text)
    assert errors == ""
    assert found["formats"].keys() == set(api_names())
    assert {"auto", "required", "none", "named"} <= found["formats"]["openai-chat"]["semantics"].keys()
    assert found["formats"]["openai-chat"]["switches"]["max_tokens_field"] == "max_tokens"
    assert found["providers"].keys() == catalog().keys()
    assert found["models"]["gpt-5.4"]["offers"][0]["prices"]["as_of"] == "2026-03-06"
    assert found["models"]["deepseek-v4-pro"]["offers"][0]["id_verified"] is False
    assert set(found["evidence"]) == {"SDK", "EXP", "REC", "DOC", "ISS", "SRC", "PRIOR"}


def test_weights_count_as_cached_where_a_file_of_their_size_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from callscope.local import model_spec

    def cached() -> bool:
        found: bool = json.loads(run(capsys, "models", "--json")[1])["embedded"]["smollm2-135m"]["cached"]
        return found

    spec = model_spec("smollm2-135m")
    assert not cached()
    own = tmp_path / "own"
    own.mkdir()
    with (own / spec.file).open("wb") as file:
        file.truncate(1)
        monkeypatch.setenv("CALLSCOPE_WEIGHTS_DIR", str(own))
        assert not cached()
        file.truncate(spec.size)
        assert cached()


DETAILS = [
    ("vertex", ["{region}", "GOOGLE_CLOUD_LOCATION", "auth = 'bearer'", "VALIDATED"]),
    ("openai", ["Models that differ", "max_completion_tokens", "openai-responses", "Ready models: gpt-5.4"]),
    ("openai-compatible", ["your own base_url", "base_url"]),
    ("ollama", ["http://127.0.0.1:11434", "num_ctx"]),
    ("deepseek-v4-pro", ["deepseek/deepseek-v4-pro", "thinks by default"]),
    ("smollm2-135m", ["SHA-256", "not yet downloaded"]),
]


@pytest.mark.parametrize(("name", "parts"), DETAILS)
def test_a_name_is_shown_in_detail(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, parts: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    _, text, _ = run(capsys, "models", name)
    assert [part for part in parts if part not in text] == []


def test_an_unknown_name_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, errors = run(capsys, "models", "antropic")
    assert (code, text) == (2, "")
    assert "no format, provider or model of this name (found antropic). Did you mean `anthropic`?" in errors
    assert "Known: " in run(capsys, "models", "zzzzzz")[2]


# ---------------------------------------------------------------------------------------------------------------- lint


def lint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    code, text, errors = run(capsys, "lint", "support", "--json", *arguments)
    return code, json.loads(text), errors


def test_lint_says_what_a_provider_would_do_before_any_call(capsys: pytest.CaptureFixture[str]) -> None:
    _, plain, _ = lint(capsys)
    code, found, _ = lint(capsys, "--for", "openai")
    added = [one for one in found if one not in plain]
    assert code == 0
    assert {one["rule"] for one in added} == {"for-openai-ignored"}
    (pattern,) = [one for one in added if "`pattern`" in one["message"]]
    assert (pattern["severity"], pattern["file"]) == ("info", "tools.core.json")
    assert pattern["field"] == "tools[0].parameters.properties.order_id.pattern"
    assert pattern["message"].startswith("OpenAI: lookup_order: `pattern` is taken as a hint and not enforced")


def test_lint_compares_with_the_strict_mode_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    code, found, _ = lint(capsys, "--for", "openai", "--strict-tools", "--strict")
    rules = {one["rule"] for one in found if one["severity"] == "warning"}
    assert {"for-openai-all-required", "for-openai-refused"} <= rules
    assert code == 1


def test_lint_takes_several_providers_and_names_each(capsys: pytest.CaptureFixture[str]) -> None:
    _, found, _ = lint(capsys, "--for", "anthropic", "--for", "gemini", "--for", "deepseek:openai-chat")
    rules = {one["rule"].rsplit("-", 1)[0] for one in found if one["rule"].startswith("for-")}
    assert rules == {"for-anthropic", "for-google", "for-deepseek"}
    assert any("(not verified)" in one["message"] for one in found)
    assert "no strict mode known" in lint(capsys, "--for", "mistral", "--strict-tools")[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--for", "opnai"], "--for: unknown provider (found opnai; expected one of openai, azure-openai,"),
        (["--for", "openai:gemini"], "(found openai:gemini; expected openai:openai-chat or openai:openai-responses)"),
        (["--strict-tools"], "--strict-tools: says for which provider. Add --for PROVIDER"),
    ],
)
def test_lint_refuses_a_provider_it_does_not_know(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    code, text, errors = run(capsys, "lint", "support", *arguments)
    assert (code, text) == (2, "")
    assert said in errors


def test_a_finding_about_the_whole_request_has_no_field(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tools = [
        {"name": f"t{n}", "description": "Does.", "parameters": {"type": "object", "properties": {}}}
        for n in range(130)
    ]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    (tmp_path / "system.txt").write_text("Help.")
    case = {"id": "a", "prompt": "Hello", "expected": {"kind": "text"}}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case) + "\n")
    _, text, _ = run(capsys, "lint", str(tmp_path), "--for", "groq")
    line = next(row for row in text.splitlines() if "Groq" in row)
    assert line.startswith("warning tools.json: Groq: 130 tools; at most 128 are taken")


# ----------------------------------------------------------------------------------------------------------------- run


def test_run_says_what_is_known_against_the_plan_before_it_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = {
        "suites": ["support"],
        "tool_choice": "required",
        "models": [{"provider": "google", "model": "gemini-3.1-pro"}, {"provider": "ollama", "model": "m"}],
    }
    (tmp_path / "bench.json").write_text(json.dumps(config))
    (tmp_path / "file").write_text("not a run folder")  # so that nothing is sent
    code, text, errors = run(capsys, "run", str(tmp_path / "bench.json"), "--out", str(tmp_path / "file"))
    assert (code, text) == (2, "")
    notes = [line for line in errors.splitlines() if line.startswith("Note: ")]
    assert [line.split(": ")[1] for line in notes] == [
        "support under required",
        "google/gemini-3.1-pro",
        "google/gemini-3.1-pro",
        "ollama/m",
    ]
    assert "abstention and clarification cannot be measured under a forced choice" in notes[0]
    assert "the id gemini-3.1-pro-preview was not verified" in notes[1]
    assert "tool choice required is not supported" in notes[3]
    assert CANARY not in errors
