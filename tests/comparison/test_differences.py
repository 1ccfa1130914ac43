"""Claims about what two manifests differ in: every variable is listed, and what only follows is not counted."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from callscope.comparison.differences import Variable, changed, variables
from callscope.contract import ModelRef, NamedChoice, Pacing, SentHashes, Settings
from tests.comparison.planted import Planted, cases, entry, run, suite


def differing(one: Planted, other: Planted, first: str = "m", second: str = "m") -> dict[str, Variable]:
    found = variables((one.manifest, first), (other.manifest, second), "support", "auto")
    return {each.name: each for each in found}


def counted(one: Planted, other: Planted, first: str = "m", second: str = "m") -> tuple[str, ...]:
    return changed(variables((one.manifest, first), (other.manifest, second), "support", "auto"))


def made(**more: Any) -> Planted:
    return run({"m": [[True]]}, **more)


def with_model(**fields: Any) -> Planted:
    return made(entries={"m": structs.replace(entry("m", model="m-1"), **fields)})


def with_files(version: str = "1.0.0", **files: str) -> Planted:
    base = {"system.txt": "1" * 64, "tools.core.json": "2" * 64, "cases.jsonl": "3" * 64, "suite.toml": "4" * 64}
    return made(of=suite(cases(1), version=version, files={**base, **files}))


def test_a_run_and_itself_differ_in_nothing() -> None:
    assert differing(made(), made()) == {}
    assert counted(made(), made()) == ()


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"model": "m-2"}, "model"),
        ({"embedded": "qwen2.5-0.5b"}, "model"),
        ({"provider": "zeta"}, "provider"),
        ({"base_url": "http://127.0.0.1:9/v1"}, "address"),
        ({"api": "anthropic"}, "adapter"),
        ({"template": "chatml"}, "template"),
        ({"switches": {"reasoning": "off"}}, "switches"),
        ({"extra": {"top_p": 0.5}}, "switches"),
        ({"stand_in": True}, "stand-in"),
    ],
)
def test_every_field_of_a_model_is_a_variable(fields: dict[str, Any], name: str) -> None:
    assert counted(with_model(), with_model(**fields)) == (name,)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"temperature": 0.7}, "sampling"),
        ({"max_tokens": 64}, "sampling"),
        ({"seed": 4}, "sampling"),
        ({"seed_per_repeat": True}, "sampling"),
        ({"tool_choice": "required"}, "tool choice"),
        ({"tool_choice": NamedChoice("lookup_order")}, "tool choice"),
        ({"parallel": False}, "parallel"),
        ({"strict": True}, "strict"),
        ({"stream": True}, "stream"),
        ({"schema_fallback": ("drop_pattern",)}, "schema fallback"),
        ({"optimised_for": "openai"}, "optimised for"),
    ],
)
def test_every_setting_is_a_variable_and_sampling_is_one(settings: dict[str, Any], name: str) -> None:
    assert counted(made(), made(settings=Settings(**settings))) == (name,)


def test_no_setting_is_forgotten() -> None:
    other = Settings(**{name: _another(value) for name, value in structs.asdict(Settings()).items()})
    shown = " ".join(f"{name} {each.second}" for name, each in differing(made(), made(settings=other)).items())
    for name in Settings.__struct_fields__:
        assert name.replace("_", " ") in shown or name in shown


def _another(value: Any) -> Any:
    if value is None or isinstance(value, float):
        return 1
    if isinstance(value, bool):
        return not value
    return ("rule",) if isinstance(value, tuple) else value + 1 if isinstance(value, int) else "required"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("system.txt", "prompt"),
        ("tools.core.json", "tools"),
        ("cases.jsonl", "cases"),
        ("fakes.json", "suite file fakes.json"),
    ],
)
def test_a_changed_file_is_a_variable_and_its_new_version_only_follows(file: str, name: str) -> None:
    other = with_files("1.1.0", **{file: "9" * 64, "suite.toml": "8" * 64})
    assert counted(with_files(), other) == (name,)
    found = differing(with_files(), other)
    assert found["suite version"].follows == found["suite.toml"].follows == name
    assert (found["suite version"].first, found["suite version"].second) == ("1.0.0", "1.1.0")


def test_a_new_version_of_unchanged_files_counts_once() -> None:
    assert counted(with_files(), with_files("1.1.0", **{"suite.toml": "8" * 64})) == ("suite.toml",)
    assert counted(with_files(), with_files("1.1.0")) == ("suite version",)


def sent(system: str, tools: str, offered: tuple[str, ...] = ("lookup_order",), model: str = "m") -> SentHashes:
    return SentHashes("support", "auto", model, offered, system * 64, tools * 64)


def test_bytes_as_sent_count_where_nothing_explains_them() -> None:
    assert counted(made(sent=[sent("a", "b")]), made(sent=[sent("a", "c")])) == ("tools as sent",)
    assert counted(made(sent=[sent("a", "b")]), made(sent=[sent("d", "b")])) == ("prompt as sent",)


def test_bytes_as_sent_follow_from_the_adapter_the_files_and_the_settings() -> None:
    one = made(sent=[sent("a", "b")])
    adapter = made(sent=[sent("a", "c")], entries={"m": entry("m", api="anthropic")})
    assert counted(one, adapter) == ("adapter",)
    assert differing(one, adapter)["tools as sent"].follows == "adapter"
    strict = made(sent=[sent("a", "c")], settings=Settings(strict=True))
    assert differing(one, strict)["tools as sent"].follows == "strict"


def test_tools_that_only_one_was_offered_are_no_difference_in_bytes() -> None:
    more = made(sent=[sent("a", "b"), sent("a", "c", ("lookup_order", "search_orders"))])
    assert counted(made(sent=[sent("a", "b")]), more) == ()
    assert counted(made(), more) == ()


def test_two_models_of_one_run_differ_in_the_model_and_what_comes_with_it() -> None:
    entries = {
        "m": entry("m", model="m-1"),
        "n": entry("n", model="n-1", provider="zeta", base_url="http://127.0.0.1:9/v1"),
    }
    both = run({"m": [[True]], "n": [[True]]}, entries=entries)
    refs = tuple(
        ModelRef(ref.entry, (f"{ref.entry.model}-0613",), {"weights": ref.entry.model}) for ref in both.manifest.models
    )
    both.manifest = structs.replace(both.manifest, models=refs)
    assert counted(both, both, "m", "n") == ("model",)
    found = differing(both, both, "m", "n")
    assert {name for name, each in found.items() if each.follows == "model"} == {
        "provider",
        "address",
        "model as reported",
        "model facts",
    }


def test_two_changes_are_two() -> None:
    one = made()
    other = made(settings=Settings(temperature=1.0), entries={"m": entry("m", model="m-2")}, callscope="0.2.0")
    assert counted(one, other) == ("model", "sampling", "callscope")


def test_circumstances_are_listed_last_and_not_counted() -> None:
    other = made(
        settings=Settings(timeout_ms=5),
        concurrency=8,
        attempts=1,
        created_at="2026-09-01T00:00:00Z",
        libraries={"aiohttp": "9"},
        runtime={"python": "3.13"},
        environment={"HTTPS_PROXY": "http://127.0.0.1:1"},
        runner_commit="abc",
        dataset_version="2",
        status="interrupted",
        pacing={"m": Pacing(concurrency=2)},
    )
    found = variables((made().manifest, "m"), (other.manifest, "m"), "support", "auto")
    assert {each.kind for each in found} == {"circumstance"}
    assert {"concurrency", "attempts", "day", "libraries", "time limits", "pacing", "status"} <= {f.name for f in found}
    both = structs.replace(other.manifest, callscope="0.2.0")
    kinds = [each.kind for each in variables((made().manifest, "m"), (both, "m"), "support", "auto")]
    assert kinds == ["variable", *["circumstance"] * len(found)]


def test_a_model_or_suite_that_a_manifest_does_not_hold_is_no_crash() -> None:
    found = variables((made().manifest, "m"), (made().manifest, "gone"), "support", "auto")
    assert "model" in {each.name for each in found}
    assert variables((made().manifest, "gone"), (made().manifest, "gone"), "elsewhere", "auto") == ()


def test_values_that_blocks_do_not_share_are_all_shown() -> None:
    one, other = made(), made()
    block = other.manifest.plan[0]
    plan = (block, structs.replace(block, cases=("case-0009",), settings=Settings(temperature=0.5)))
    other.manifest = structs.replace(other.manifest, plan=plan)
    found = differing(one, other)["sampling"]
    assert found.second is not None
    assert found.second.count("temperature") == 2
