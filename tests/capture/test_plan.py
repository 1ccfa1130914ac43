"""The plan: everything is fixed before the first call, the order is computed, and mistakes are named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from callscope.capture.config import ModelConfig, RunConfig
from callscope.capture.environment import Environment
from callscope.capture.folder import Positions
from callscope.capture.plan import (
    Choice,
    choose_cases,
    choose_models,
    differences,
    make_manifest,
    plan_blocks,
    resolve_models,
    settings_of,
)
from callscope.capture.requests import frame_of, request_for, sent_hashes
from callscope.contract import (
    Block,
    Budgets,
    Case,
    ExpectText,
    Manifest,
    Message,
    ModelEntry,
    Request,
    Settings,
    Suite,
    Tool,
    TrialKey,
    WireRequest,
    trial_count,
    trials,
)
from callscope.errors import InputError
from callscope.jsontext import dump_faithful
from callscope.providers import Adapter, get_adapter

OPENAI = get_adapter("openai-chat")
TOOLS = tuple(
    Tool(name, f"Does {name}.", {"type": "object", "properties": {"x": {"type": "number", "minimum": number}}})
    for name, number in [("ünï", 1e-7), ("b", 1e16), ("c", -0.0)]
)


def case(case_id: str, *tags: str, tools: tuple[str, ...] | None = None, **more: Any) -> Case:
    return Case(case_id, f"Prompt of {case_id}", ExpectText(), tags=tags, tools=tools, **more)


def suite(name: str = "s", *cases: Case, system: str = "Help.", **more: Any) -> Suite:
    cases = cases or (case("a", "t1"), case("b", "t1", "t2"), case("c"))
    return Suite(name, "1", "portable", system, TOOLS, cases, {"cases.jsonl": "0" * 64}, **more)


def remote(label: str = "p/m", **more: Any) -> ModelEntry:
    return ModelEntry(label, "p", "m", "openai-chat", base_url="http://h/v1", **more)


CONFIG = RunConfig(models=(), repeats=2)
ENVIRONMENT = Environment("0", "release", {}, {}, {})


def manifest(suites: list[Suite], models: list[ModelEntry], config: RunConfig = CONFIG, **choice: Any) -> Manifest:
    return make_manifest(
        run_id="r",
        created_at="now",
        environment=ENVIRONMENT,
        suites=suites,
        models=models,
        blocks=plan_blocks(suites, models, config, Choice(**choice)),
        config=config,
    )


# -------------------------------------------------------------------------------------------------------------- models


def test_a_provider_of_the_catalogue_needs_two_fields() -> None:
    (entry,) = resolve_models([ModelConfig("openai", "gpt-x")])
    assert entry == ModelEntry(
        "openai/gpt-x", "openai", "gpt-x", "openai-chat", "https://api.openai.com/v1", "OPENAI_API_KEY"
    )


def test_any_address_works_without_the_catalogue() -> None:
    (entry,) = resolve_models([ModelConfig("mine", "m", base_url="http://localhost:8000/v1")])
    assert (entry.api, entry.base_url, entry.api_key_env, entry.embedded) == (
        "openai-chat", "http://localhost:8000/v1", None, None,
    )  # fmt: skip


def test_a_catalogue_key_goes_to_the_catalogue_address_only() -> None:
    elsewhere, own = resolve_models(
        [
            ModelConfig("openai", "m", base_url="https://elsewhere/v1"),
            ModelConfig("openai", "m", label="own", base_url="https://elsewhere/v1", api_key_env="MINE"),
        ]
    )
    assert (elsewhere.api_key_env, own.api_key_env) == (None, "MINE")


def test_an_embedded_model_has_no_address_until_it_runs_and_a_local_server_is_no_embedded_one() -> None:
    embedded, served = resolve_models(
        [ModelConfig("local", "tiny"), ModelConfig("local", "tiny", label="served", base_url="http://h/v1")]
    )
    assert (embedded.embedded, embedded.base_url) == ("tiny", None)
    assert (served.embedded, served.base_url) == (None, "http://h/v1")


def test_a_template_tells_variants_apart_and_what_a_person_wrote_is_kept() -> None:
    written = ModelConfig(
        "local", "tiny", template="json", stream=True, prices={"input": 1.0}, switches={"s": 1}, extra={"e": 2},
        stand_in=True,
    )  # fmt: skip
    plain, variant = resolve_models([ModelConfig("local", "tiny"), written])
    assert (plain.label, variant.label) == ("local/tiny", "local/tiny [json]")
    assert (variant.stream, variant.prices, variant.switches, variant.extra, variant.stand_in, variant.template) == (
        True, {"input": 1.0}, {"s": 1}, {"e": 2}, True, "json",
    )  # fmt: skip


BAD_MODELS = [
    ({"provider": "opnai"}, "models[0].provider: unknown provider (found opnai). Did you mean `openai`? Known: "),
    ({"provider": "xyzzy"}, "models[0].provider: unknown provider (found xyzzy). Known: openai, "),
    ({"provider": "openai-compatible"}, "models[0].base_url: an address is needed (expected http(s)://host/path)"),
    ({"api": "soap", "base_url": "http://h"}, "models[0].api: unknown wire format (found soap; expected one of "),
    ({"base_url": "ftp://h/v1"}, "models[0].base_url: is no address (found ftp://h/v1; expected http(s)://host/path)"),
    ({"base_url": "localhost:8000"}, "models[0].base_url: is no address"),
    ({"base_url": "/v1"}, "models[0].base_url: is no address"),
    ({"base_url": "http://"}, "models[0].base_url: is no address"),
    ({"base_url": ""}, "models[0].base_url: is no address"),
    ({"base_url": "http:///v1"}, "models[0].base_url: is no address"),
    ({"base_url": "http://h:99999/"}, "models[0].base_url: is no address: Port out of range 0-65535"),
    ({"base_url": "http://h:port/"}, "models[0].base_url: is no address: Port could not be cast"),
    ({"base_url": "http://[::1/"}, "models[0].base_url: is no address: Invalid IPv6 URL"),
    ({"base_url": "http://h/a b"}, "models[0].base_url: is no address"),
    ({"base_url": "http://h/\n"}, "models[0].base_url: is no address"),
    ({"base_url": "http://bücher/"}, "models[0].base_url: is no address"),
    ({"base_url": "http://u:canary@h/"}, "models[0].base_url: holds a user or password. Keys come from the"),
    ({"base_url": "http://u:can/ary@h/"}, "models[0].base_url: holds a user or password"),
    ({"base_url": "ftp://canary@h/"}, "models[0].base_url: holds a user or password"),
    ({"base_url": "http://h/v1?key=canary"}, "models[0].base_url: holds a query or fragment"),
    ({"base_url": "http://h/v1#canary"}, "models[0].base_url: holds a query or fragment"),
    ({"prices": {"inputs": 1.0}, "base_url": "http://h"}, "models[0].prices.inputs: unknown price (expected input, "),
    ({"prices": {"input": -1.0}, "base_url": "http://h"}, "models[0].prices.input: is no price (found -1.0)"),
    ({"prices": {"input": float("nan")}, "base_url": "http://h"}, "models[0].prices.input: is no price (found nan)"),
    ({"prices": {"input": float("inf")}, "base_url": "http://h"}, "models[0].prices.input: is no price (found inf)"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "said"), BAD_MODELS, ids=lambda value: str(value)[:60])
def test_a_model_that_cannot_be_addressed_is_named_and_no_secret_with_it(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve_models([ModelConfig(**{"provider": "mine", "model": "m", **fields})])
    assert str(caught.value).startswith(said)
    assert "canary" not in str(caught.value)


def test_labels_are_unique() -> None:
    twice = [ModelConfig("local", "m"), ModelConfig("openai", "x"), ModelConfig("local", "m")]
    with pytest.raises(InputError) as caught:
        resolve_models(twice)
    assert str(caught.value).startswith("models[2].label: two models share a label (found local/m). Give each entry")
    assert [entry.label for entry in resolve_models([*twice[:2], ModelConfig("local", "m", label="other")])] == [
        "local/m", "openai/x", "other",
    ]  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- choice

CHOICES = [
    ({}, "abc"),
    ({"cases": ("c", "a")}, "ac"),
    ({"cases": ("a", "a")}, "a"),
    ({"tags": ("t2",)}, "b"),
    ({"tags": ("t2", "t1")}, "ab"),
    ({"cases": ("a", "c"), "tags": ("t1",)}, "a"),
    ({"cases": ("c",), "tags": ("t1",)}, ""),
    ({"limit": 2}, "ab"),
    ({"limit": 99}, "abc"),
    ({"tags": ("t1",), "limit": 1}, "a"),
]


@pytest.mark.parametrize(("choice", "chosen"), CHOICES, ids=str)
def test_cases_are_chosen_in_suite_order(choice: dict[str, Any], chosen: str) -> None:
    assert "".join(each.id for each in choose_cases(suite(), Choice(**choice))) == chosen


BAD_CHOICES = [
    ({"cases": ("order-1x",)}, "--case: no such case in suite s or t (found order-1x). Did you mean `order-1`?"),
    ({"cases": ("a", "zzz")}, "--case: no such case in suite s or t (found zzz)"),
    ({"tags": ("t1", "t22")}, "--tag: no such tag in suite s or t (found t22). Did you mean `t2`?"),
    ({"limit": 0}, "--limit: must be at least 1 (found 0)"),
    ({"limit": -1}, "--limit: must be at least 1 (found -1)"),
    ({"cases": ("c",), "tags": ("t1",)}, "nothing to run: no case matches. Check --case, --tag and --limit"),
]  # fmt: skip


@pytest.mark.parametrize(("choice", "said"), BAD_CHOICES, ids=str)
def test_a_choice_that_names_nothing_is_a_mistake_and_never_dropped(choice: dict[str, Any], said: str) -> None:
    suites = [suite(), suite("t", case("order-1"), case("c"))]
    with pytest.raises(InputError) as caught:
        plan_blocks(suites, [remote()], CONFIG, Choice(**choice))
    assert str(caught.value).startswith(said)


def test_a_case_of_one_of_two_suites_may_be_chosen() -> None:
    suites = [suite(), suite("t", case("order-1"))]
    (block,) = plan_blocks(suites, [remote()], CONFIG, Choice(cases=("order-1",)))
    assert (block.suite, block.cases) == ("t", ("order-1",))


def test_models_are_chosen_by_label_or_name() -> None:
    models = (remote("one"), ModelEntry("two", "p", "other", "openai-chat", "http://h"), remote("three"))
    assert choose_models(models, Choice()) == models
    assert choose_models(models, Choice(models=("three", "one"))) == (models[0], models[2])
    assert choose_models(models, Choice(models=("other",))) == (models[1],)
    assert choose_models(models, Choice(models=("m",))) == (models[0], models[2])
    with pytest.raises(InputError, match=r"^--model: no such model in this run \(found x; expected one of: one, two,"):
        choose_models(models, Choice(models=("one", "x")))


# -------------------------------------------------------------------------------------------------------- blocks, order


def test_a_plan_is_one_block_for_each_model_and_suite_that_has_a_case() -> None:
    config = RunConfig(
        models=(), repeats=3, temperature=None, max_tokens=9, seed=4, tool_choice="none", parallel=False, strict=True,
        timeout_ms=7,
    )  # fmt: skip
    settings = Settings(
        temperature=None, max_tokens=9, seed=4, tool_choice="none", parallel=False, strict=True, timeout_ms=7
    )
    assert settings_of(config) == settings
    suites = [suite(), suite("t", case("x", "t1")), suite("u", case("y"))]
    blocks = plan_blocks(suites, [remote("one"), remote("two")], config, Choice(tags=("t1",)))
    assert blocks == tuple(
        Block(name, "none+strict+parallel-off", label, cases, 3, settings)
        for label in ("one", "two")
        for name, cases in [("s", ("a", "b")), ("t", ("x",))]
    )


IDS = st.text(st.sampled_from("abcü/ "), min_size=1, max_size=3)
SIZES = st.lists(st.tuples(st.lists(IDS, unique=True, min_size=1, max_size=4), st.integers(0, 3)), max_size=5)
PLANS = SIZES.map(
    lambda sizes: tuple(
        Block("st"[n % 2], "auto", f"m{n // 2}", tuple(cases), repeats) for n, (cases, repeats) in enumerate(sizes)
    )
)


@given(PLANS)
def test_the_place_of_a_trial_by_arithmetic_is_its_place_by_counting(plan: tuple[Block, ...]) -> None:
    positions = Positions(plan)
    found = list(trials(plan))
    assert positions.count == trial_count(plan) == len(found) == sum(len(b.cases) * b.repeats for b in plan)
    assert [positions.of(trial.key) for trial in found] == list(range(len(found)))
    assert len({trial.key for trial in found}) == len(found)


@given(
    PLANS,
    st.builds(
        TrialKey,
        st.sampled_from("stu"),
        st.sampled_from(["auto", "x"]),
        st.sampled_from(["m0", "m1"]),
        IDS,
        st.integers(-2, 5),
    ),
)
def test_a_key_that_the_plan_does_not_hold_has_no_place(plan: tuple[Block, ...], key: TrialKey) -> None:
    counted = {trial.key: trial.position for trial in trials(plan)}
    assert Positions(plan).of(key) == counted.get(key)


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 4), st.integers(1, 9))
def test_a_plan_counts_models_times_cases_times_repeats(cases: int, models: int, repeats: int, limit: int) -> None:
    plan = plan_blocks(
        [suite("s", *(case(f"c{n}") for n in range(cases)))],
        [remote(f"m{n}") for n in range(models)],
        RunConfig(models=(), repeats=repeats),
        Choice(limit=limit),
    )
    assert trial_count(plan) == min(cases, limit) * models * repeats


# ------------------------------------------------------------------------------------------------------------ manifest


def test_a_manifest_names_what_is_used_and_nothing_else() -> None:
    suites, models = [suite(), suite("unused", case("z"))], [remote("one"), remote("two")]
    environment = Environment("1.2", "abc", {"python": "3"}, {"orjson": "3"}, {"NO_PROXY": "x"})
    blocks = (Block("s", "auto", "two", ("a",), 1),)
    made = make_manifest(
        run_id="r", created_at="now", environment=environment, suites=suites, models=models, blocks=blocks,
        config=RunConfig(models=(), concurrency=3, attempts=2, budgets=Budgets(calls=1)),
        facts={"two": {"sha256": "x"}},
    )  # fmt: skip
    assert [(ref.name, ref.version, ref.kind, ref.cases, ref.files) for ref in made.suites] == [
        ("s", "1", "portable", 3, {"cases.jsonl": "0" * 64})
    ]
    assert [(ref.entry, ref.reported, ref.facts) for ref in made.models] == [(models[1], (), {"sha256": "x"})]
    assert (made.plan, made.status, made.dataset_version) == (blocks, "running", "s 1")
    assert (made.callscope, made.runner_commit, made.runtime) == ("1.2", "abc", {"python": "3"})
    assert (made.libraries, made.environment) == ({"orjson": "3"}, {"NO_PROXY": "x"})
    assert (made.concurrency, made.attempts, made.budgets) == (3, 2, Budgets(calls=1))
    assert [(row.model, row.offered) for row in made.sent] == [("two", ("ünï", "b", "c"))]


def test_the_dataset_version_is_the_stated_one_else_that_of_each_suite() -> None:
    suites = [suite(), suite("t", case("x"))]
    assert manifest(suites, [remote()]).dataset_version == "s 1; t 1"
    assert manifest(suites, [remote()], RunConfig(models=(), dataset_version="9")).dataset_version == "9"


def test_a_manifest_survives_the_disk() -> None:
    entry = remote(extra={"x": [1, 1.0, None, "ü", 2**60]}, prices={"input": 0.1})
    made = manifest([suite()], [entry])
    assert msgspec.json.decode(msgspec.json.encode(made), type=Manifest) == made


def test_a_switch_that_the_wire_format_does_not_know_is_found_before_the_first_call() -> None:
    with pytest.raises(InputError, match="unknown switch"):
        manifest([suite()], [remote(switches={"no_such_switch": 1})])


def changed(**fields: Any) -> Manifest:
    return manifest([suite()], [remote()], structs.replace(CONFIG, **fields))


SAME = {
    "nothing": manifest([suite()], [remote()]),
    "budgets": changed(budgets=Budgets(calls=3)),
    "concurrency": changed(concurrency=9),
    "attempts": changed(attempts=9),
    "prices": manifest([suite()], [remote(prices={"input": 3.0})]),
    "machine": structs.replace(changed(), runtime={"python": "9"}, callscope="9", created_at="later", run_id="q"),
    "progress": structs.replace(changed(), status="interrupted", finished_at="x"),
}
OTHER = {
    "repeats": (changed(repeats=3), ["the plan (cases, repeats or settings)"]),
    "temperature": (changed(temperature=0.1), ["the plan (cases, repeats or settings)"]),
    "cases": (manifest([suite()], [remote()], limit=1), ["the plan (cases, repeats or settings)"]),
    "the address": (manifest([suite()], [structs.replace(remote(), base_url="http://other")]), ["the models"]),
    "what is sent beside": (manifest([suite()], [remote(extra={"x": 1})]), ["the models"]),
    "the model": (manifest([suite()], [remote("q")]), ["the models", "the plan (cases, repeats or settings)"]),
    "the suite's files": (
        manifest([structs.replace(suite(), files={"cases.jsonl": "1" * 64})], [remote()]),
        ["the suites' files"],
    ),
    "the suite's version": (manifest([structs.replace(suite(), version="2")], [remote()]), ["the suites' versions"]),
    "one more suite": (
        manifest([suite(), suite("t")], [remote()]),
        ["the suites' files", "the plan (cases, repeats or settings)"],
    ),
}


@pytest.mark.parametrize("what", SAME)
def test_a_run_may_go_on_with_another(what: str) -> None:
    assert differences(SAME["nothing"], SAME[what]) == []
    assert differences(SAME[what], SAME["nothing"]) == []


@pytest.mark.parametrize("what", OTHER)
def test_a_run_may_not_go_on_with_other(what: str) -> None:
    made, said = OTHER[what]
    assert differences(SAME["nothing"], made) == said
    assert differences(made, SAME["nothing"]) == said
    assert differences(made, made) == []


def test_values_that_python_calls_equal_are_still_different() -> None:
    made = [manifest([suite()], [remote(extra={"x": value})]) for value in (1, 1.0, True)]
    assert [differences(made[0], other) for other in made] == [[], ["the models"], ["the models"]]


# ------------------------------------------------------------------------------------------------------------ requests

BLOCK = Block(
    "s", "auto", "p/m", ("a",), 5, Settings(temperature=0.25, max_tokens=8, seed=40, parallel=True, strict=False)
)


def test_a_request_is_the_frozen_text_the_prompt_and_the_offered_tools() -> None:
    entry = remote(stream=True, extra={"top_k": 3}, switches={"system_role": "developer"})
    small = case("a", tools=("c", "b"))
    assert request_for(entry, suite(), small, BLOCK, 2) == Request(
        model="m",
        messages=(Message("system", "Help."), Message("user", "Prompt of a")),
        tools=TOOLS[1:],
        temperature=0.25,
        max_tokens=8,
        seed=40,
        stream=True,
        parallel=True,
        strict=False,
        extra={"top_k": 3, "$switches": {"system_role": "developer"}},
    )


@pytest.mark.parametrize(
    ("seed", "each", "sent"), [(None, True, [None] * 3), (40, False, [40] * 3), (40, True, [40, 41, 42])]
)
def test_repeats_share_a_seed_unless_each_has_its_own(seed: int | None, each: bool, sent: list[int | None]) -> None:
    block = structs.replace(BLOCK, settings=Settings(seed=seed, seed_per_repeat=each))
    assert [request_for(remote(), suite(), case("a"), block, repeat).seed for repeat in range(3)] == sent


@pytest.mark.parametrize(
    ("system", "time", "sent"),
    [
        ("", None, []),
        ("Now: {{reference_time}}.", "2026-08-01T00:00:00Z", ["Now: 2026-08-01T00:00:00Z."]),
        ("Now: {{reference_time}}.", None, ["Now: ."]),
        ("{{reference_time}}", None, []),
        ("No time.", "2026-08-01T00:00:00Z", ["No time."]),
    ],
)
def test_the_reference_time_stands_where_the_system_text_wants_it(
    system: str, time: str | None, sent: list[str]
) -> None:
    request = request_for(remote(), suite(system=system), case("a", reference_time=time), BLOCK, 0)
    assert [message.text for message in request.messages if message.role == "system"] == sent  # type: ignore[union-attr]


HOSTILE = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.text(st.sampled_from('AB"\\{}[],: \n\x00\u2028ü😀'), max_size=40),
    st.sampled_from(
        ["A", "B", '"A"', '"B","tools":[]', '{"role":"user","content":"A"}', "\\", '\\"', "{{reference_time}}"]
    ),
)


@given(HOSTILE, HOSTILE, st.booleans())
@example("", "", False)
@example("A", "B", True)
@example('"content":"A"', '"content":"B"', False)
def test_what_stands_before_and_after_the_prompt_is_the_same_for_every_prompt(
    prompt: str, system: str, stream: bool
) -> None:
    entry, held, asked = remote(stream=stream), suite(system=system), structs.replace(case("a"), prompt=prompt)
    frame = frame_of(OPENAI, entry, held, asked, BLOCK, 0)
    body = OPENAI.build(request_for(entry, held, asked, BLOCK, 0)).body
    written = dump_faithful(prompt)[1:-1]
    assert frame.before + written + frame.after == body
    assert (frame.before[-1:], frame.after[:1]) == (b'"', b'"')
    assert json.loads(body)["messages"][-1]["content"] == prompt


@pytest.mark.parametrize("prompt", ["\ud83d", "A\udfffB", '"\ud83d"'])
def test_also_for_a_prompt_that_is_no_text(prompt: str) -> None:
    asked = structs.replace(case("a", tools=()), prompt=prompt)
    frame = frame_of(OPENAI, remote(), suite(), asked, BLOCK, 0)
    body = OPENAI.build(request_for(remote(), suite(), asked, BLOCK, 0)).body
    assert frame.before + dump_faithful(prompt)[1:-1] + frame.after == body


class Spaced:
    """A wire format that nests its tools, writes spaces, and says `tools` elsewhere too."""

    api = "spaced"
    semantics: Mapping[str, str] = {}

    def build(self, request: Request) -> WireRequest:
        tools = [{"toolSpec": {"name": each.name, "inputSchema": each.parameters}} for each in request.tools]
        body: dict[str, Any] = {"system": '"tools": [1]', "inferenceConfig": {"tools": [2], "t": 1e-7}, "n": [-1.5]}
        if tools:
            body["toolConfig"] = {"toolChoice": {"auto": {}}, "tools": tools}
        return WireRequest("/", (), json.dumps({**body, "last": None}).encode())


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("adapter", "opening"),
    [(OPENAI, b'"tools":'), (Spaced(), b'"toolChoice": {"auto": {}}, "tools": ')],
    ids=["flat", "nested"],
)
@pytest.mark.parametrize("offered", [None, ("b",), ("c", "ünï")], ids=str)
def test_the_tools_are_hashed_as_the_very_bytes_that_stand_in_the_body(
    adapter: Adapter, opening: bytes, offered: tuple[str, ...] | None
) -> None:
    held, asked = suite(system='Say "tools":[] or {"tools": 1}'), case("a", tools=offered)
    body = adapter.build(request_for(remote(), held, asked, BLOCK, 0)).body
    start = body.index(opening) + len(opening)
    value, length = json.JSONDecoder().raw_decode(body[start:].decode())
    names = [tool.name for tool in TOOLS if offered is None or tool.name in offered]
    assert [(tool.get("function") or tool["toolSpec"])["name"] for tool in value] == names

    row = sent_hashes(adapter, remote(), held, asked, BLOCK)
    assert row.tools_sha256 == sha(body[start:].decode()[:length].encode())
    assert row.system_sha256 == sha(held.system.encode())
    assert row.offered == tuple(names)


@pytest.mark.parametrize("adapter", [OPENAI, Spaced()], ids=["flat", "nested"])
def test_no_tools_are_no_bytes(adapter: Adapter) -> None:
    row = sent_hashes(adapter, remote(), suite(), case("a", tools=()), BLOCK)
    assert (row.tools_sha256, row.offered) == (sha(b""), ())


def test_what_the_adapter_changed_stands_beside_the_hashes() -> None:
    row = sent_hashes(OPENAI, remote(switches={"system_role": "developer"}), suite(), case("a"), BLOCK)
    assert [(change.pointer, change.rule) for change in row.transformations] == [("/messages/0/role", "system_role")]
    assert (row.suite, row.experiment, row.model) == ("s", "auto", "p/m")


def test_there_is_a_row_for_each_set_of_tools_that_is_offered_and_for_no_other() -> None:
    held = suite("s", case("a"), case("b", tools=("b",)), case("c"), case("d", tools=("b",)), case("e", tools=("c",)))
    rows = manifest([held], [remote("one"), remote("two")], cases=("a", "b", "c", "d")).sent
    assert [(row.model, row.offered) for row in rows] == [
        (label, offered) for label in ("one", "two") for offered in [("ünï", "b", "c"), ("b",)]
    ]
