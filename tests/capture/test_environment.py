"""What a manifest says of the machine: versions, the commit that runs, outside settings without their credentials."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path

import pytest

import callscope
from callscope.capture import environment
from callscope.capture.environment import IGNORED, read_environment, say_ignored


def test_it_names_our_version_the_runtime_and_what_touches_bytes() -> None:
    found = read_environment({})
    assert found.version == callscope.__version__
    assert found.runtime["python"] == platform.python_version()
    assert set(found.runtime) == {"python", "implementation", "platform", "machine", "cpus"}
    assert int(found.runtime["cpus"]) >= 1
    assert {"aiohttp", "jsonschema-rs", "msgspec", "orjson", "yarl"} <= set(found.libraries)
    assert all(found.libraries[name] == metadata.version(name) for name in found.libraries)


def test_a_library_that_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "_LIBRARIES", ("orjson", "no-such-library-of-ours"))
    assert list(read_environment({}).libraries) == ["orjson"]


OVERRIDES = [
    ({}, {}, False),
    ({"HOME": "/h", "OPENAI_API_KEY": "sk-canary"}, {}, False),
    ({"HTTPS_PROXY": ""}, {}, False),
    ({"HTTPS_PROXY": "http://p:1"}, {"HTTPS_PROXY": "http://p:1"}, True),
    ({"https_proxy": "http://u:canary@p:1"}, {"https_proxy": "http://[redacted]@p:1"}, True),
    ({"HTTP_PROXY": "u:c@nary@p:1"}, {"HTTP_PROXY": "[redacted]@p:1"}, True),
    ({"ALL_PROXY": "socks5://p"}, {"ALL_PROXY": "socks5://p"}, True),
    ({"NO_PROXY": "localhost"}, {"NO_PROXY": "localhost"}, False),
    ({"SSL_CERT_FILE": "/c.pem"}, {"SSL_CERT_FILE": "/c.pem"}, False),
]


@pytest.mark.parametrize(("environ", "overrides", "proxied"), OVERRIDES)
def test_outside_settings_in_force_are_named_without_credentials(
    environ: dict[str, str], overrides: dict[str, str], proxied: bool
) -> None:
    found = read_environment(environ)
    assert (found.overrides, found.proxied) == (overrides, proxied)


def test_the_process_environment_is_read_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://a:b@c")
    assert read_environment().overrides["ALL_PROXY"] == "http://[redacted]@c"


COMMIT = "0123456789abcdef0123456789abcdef01234567"
CHECKOUTS = [
    ({}, "release"),
    ({"HEAD": f"{COMMIT}\n"}, COMMIT),
    ({"HEAD": "ref: refs/heads/main\n", "refs/heads/main": f"{COMMIT}\n"}, COMMIT),
    ({"HEAD": "ref: refs/heads/main\n", "packed-refs": f"# pack-refs\n{COMMIT} refs/heads/main\n"}, COMMIT),
    ({"HEAD": "ref: refs/heads/main\n", "packed-refs": f"{COMMIT} refs/heads/other/main2\n"}, "release"),
    ({"HEAD": "ref: refs/heads/unborn\n"}, "release"),
    ({"HEAD": "\udcff"}, "release"),
]


@pytest.mark.parametrize(("files", "commit"), CHECKOUTS, ids=lambda value: str(value)[:40])
def test_the_commit_is_that_of_the_checkout_that_runs(
    files: dict[str, str], commit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        file = tmp_path / ".git" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    module = tmp_path / "src" / "callscope" / "capture" / "environment.py"
    monkeypatch.setattr(environment, "__file__", str(module))
    assert read_environment({}).commit == commit


def test_variables_that_only_vendors_clients_obey_are_noted_without_their_value() -> None:
    found = read_environment({"OPENAI_BASE_URL": "http://elsewhere", "ANTHROPIC_CUSTOM_HEADERS": "X-Key: canary"})
    assert found.overrides == {"OPENAI_BASE_URL": IGNORED, "ANTHROPIC_CUSTOM_HEADERS": IGNORED}
    assert found.ignored == ("OPENAI_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS")
    assert not found.proxied


def test_an_ignored_variable_is_said_once_a_process(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(environment, "_said", set())
    for _ in range(2):
        say_ignored(read_environment({"OPENAI_BASE_URL": "http://elsewhere"}))
    say_ignored(read_environment({}))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "OPENAI_BASE_URL" in caplog.text
    assert "elsewhere" not in caplog.text
