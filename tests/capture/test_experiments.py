"""Experiments are kept apart: the label comes from the settings, and a plan that would mix them is refused."""

from __future__ import annotations

import asyncio
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

import callscope
from callscope.capture.config import ModelConfig, RunConfig, check_config, read_config
from callscope.capture.environment import Environment
from callscope.capture.experiments import (
    check_experiments,
    choice_for,
    label_of,
    measurable,
    plan_notices,
    read_experiment,
)
from callscope.capture.plan import Choice, make_manifest, plan_blocks
from callscope.capture.requests import request_for, sent_hashes
from callscope.cli import main
from callscope.contract import (
    Block,
    Manifest,
    ModelEntry,
    NamedChoice,
    Settings,
    StrictDifference,
    Suite,
)
from callscope.errors import InputError
from callscope.providers import get_adapter
from callscope.reports import limitations, render_markdown, terminal_text
from callscope.reports.experiments import experiment_caveats, experiment_limits, experiment_settings
from callscope.suites import load_suite, load_suite_bytes
from tests.capture.helpers import small_suite, stand_in_model, suite_files, tool_case, write_suite
from tests.stand_in import Reply, Seen, StandIn, completion

SUPPORT = load_suite("support")
ENTRY = ModelEntry("m", "openai", "m", "openai-chat", "http://h/v1")


def plan(suites: list[Suite], config: RunConfig, *entries: ModelEntry, blocks: tuple[Block, ...] | None = None) -> Any:
    models = entries or (ENTRY,)
    return make_manifest(
        run_id="r",
        created_at="now",
        environment=Environment("0", "release", {}, {}, {}),
        suites=suites,
        models=models,
        blocks=plan_blocks(suites, models, config, Choice()) if blocks is None else blocks,
        config=config,
    )


def kind(name: str, **more: Any) -> Suite:
    return structs.replace(small_suite(), kind=name, **more)


# --------------------------------------------------------------------------------------------------------------- labels

LABELS = [
    ({}, "auto"),
    ({"tool_choice": "required"}, "required"),
    ({"tool_choice": "named", "strict": True}, "named+strict"),
    ({"tool_choice": NamedChoice("f")}, "named(f)"),
    ({"tool_choice": "none", "stream": True}, "none+stream"),
    ({"strict": False, "parallel": True}, "auto+strict-off+parallel-on"),
    ({"strict": True, "parallel": False, "stream": True}, "auto+strict+parallel-off+stream"),
    ({"schema_fallback": ("pattern", "format")}, "auto+fallback(format,pattern)"),
    ({"strict": True, "optimised_for": "openai"}, "auto+strict+provider-optimised"),
]


@pytest.mark.parametrize(("settings", "label"), LABELS, ids=str)
def test_the_label_is_read_off_the_settings(settings: dict[str, Any], label: str) -> None:
    assert label_of(Settings(**settings)) == label


def test_settings_that_measure_something_else_never_share_a_label() -> None:
    choices = ("auto", "required", "named", "none", NamedChoice("f"), NamedChoice("g"))
    tried = product(choices, (None, True, False), (None, True, False), (True, False), ((), ("pattern",)), (None, "o"))
    labels = [
        label_of(Settings(tool_choice=c, strict=s, parallel=p, stream=t, schema_fallback=f, optimised_for=o))
        for c, s, p, t, f, o in tried
    ]
    assert len(set(labels)) == len(labels) == 6 * 3 * 3 * 2 * 2 * 2


def test_sampling_and_bounds_are_no_experiment() -> None:
    assert label_of(Settings(temperature=1.0, seed=3, max_tokens=9, timeout_ms=1)) == "auto"


@given(
    st.sampled_from(["auto", "required", "named", "none"]),
    st.sets(st.sampled_from(["strict", "strict-off", "parallel-on", "parallel-off", "stream"])),
)
def test_an_experiments_name_and_its_label_are_the_same(choice: str, switches: set[str]) -> None:
    """Unless it contradicts itself, which is refused."""
    name = "+".join([choice, *sorted(switches)])
    if {"strict", "strict-off"} <= switches or {"parallel-on", "parallel-off"} <= switches:
        with pytest.raises(InputError, match="is no experiment"):
            read_experiment(name)
    else:
        assert set(label_of(Settings(**read_experiment(name))).split("+")) == {choice, *switches}


def test_a_switch_alone_is_under_auto() -> None:
    assert label_of(Settings(**read_experiment("stream+strict"))) == "auto+strict+stream"


BAD_NAMES = [
    (["forced"], "is no experiment (found forced; expected auto, required, named, none, need, target, arguments, with"),
    (["auto", ""], "experiments[1]: is no experiment"),
    (["auto+required"], "experiments[0]: is no experiment"),
    (["strict", "auto+strict"], "experiments[1]: is there twice (found auto+strict). It is the same as `strict`;"),
    (["provider-optimised"], "A provider-optimised suite brings its experiment with it: name the suite"),
    (["auto+fallback(pattern)"], "A fallback is the model's: give its entry `schema_fallback`"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "said"), BAD_NAMES, ids=str)
def test_a_name_that_is_no_experiment_is_refused_with_what_to_write(names: list[str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        check_experiments(names)
    assert said in str(caught.value)


# --------------------------------------------------------------------------------------------------------------- config


def config_of(**more: Any) -> RunConfig:
    return read_config(json.dumps({"models": [{"provider": "openai", "model": "m"}], **more}).encode(), ".json")


def test_several_experiments_run_in_one_go_each_in_blocks_of_its_own() -> None:
    config = config_of(experiments=["auto", "required", "strict", "parallel-off", "stream", "named", "none"])
    blocks = plan_blocks([small_suite(2)], [ENTRY], config, Choice())
    assert {block.experiment: (len(block.cases), block.settings.stream) for block in blocks} == {
        "auto": (3, False),
        "required": (2, False),
        "auto+strict": (3, False),
        "auto+parallel-off": (3, False),
        "auto+stream": (3, True),
        "named": (2, False),
        "none": (3, False),
    }
    assert plan([small_suite(2)], config).plan == blocks


def test_the_old_fields_make_one_experiment() -> None:
    config = config_of(tool_choice="required", strict=True, parallel=False)
    streaming = structs.replace(ENTRY, stream=True)
    (block,) = plan_blocks([small_suite(1)], [streaming], config, Choice())
    assert block.experiment == "required+strict+parallel-off+stream"


@pytest.mark.parametrize("field", [{"tool_choice": "none"}, {"strict": False}, {"parallel": True}], ids=str)
def test_the_old_fields_do_not_stand_beside_experiments(field: dict[str, Any]) -> None:
    with pytest.raises(
        InputError, match=r"stands beside `experiments`, which say it\. Write it into their names, as `st"
    ):
        config_of(experiments=["strict"], **field)


FALLBACKS = [
    (
        "patern",
        "models[0].schema_fallback[0]: is no schema rule (found patern; expected a JSON Schema keyword that may",
    ),
    ("$ref", "A reference cannot be removed; `inline-refs` writes what it points to in its place"),
    ("all-required-nullable", "is no schema rule"),
    ("type", "is no schema rule"),
]


@pytest.mark.parametrize(("name", "said"), FALLBACKS)
def test_a_fallback_names_keywords_and_rules_that_there_are(name: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        check_config(RunConfig(models=(ModelConfig("openai", "m", schema_fallback=(name,)),)))
    assert said in str(caught.value)


# ---------------------------------------------------------------------------------------------------- forced and named


def test_a_forced_choice_asks_only_what_it_can_measure() -> None:
    for case in SUPPORT.cases:
        expects = type(case.expected).__name__
        assert measurable(case, Settings())
        assert measurable(case, Settings(tool_choice="none"))
        assert measurable(case, Settings(tool_choice="required")) is (expects in {"ExpectTool", "ExpectTools"})
        assert measurable(case, Settings(tool_choice="named")) <= (expects == "ExpectTool")


def test_a_case_that_another_tool_answers_too_has_no_tool_to_name() -> None:
    other = {"name": "search_orders", "arguments": {"email": "a@b"}}
    cases = [tool_case(1), tool_case(2)]
    cases[1]["expected"] = {**cases[1]["expected"], "alternatives": [other]}
    suite = load_suite_bytes(suite_files(cases))
    assert [measurable(case, Settings(tool_choice="named")) for case in suite.cases] == [True, False]
    assert [measurable(case, Settings(tool_choice=NamedChoice("search_orders"))) for case in suite.cases] == [False] * 2


def test_named_forces_for_each_case_the_tool_it_expects() -> None:
    config = config_of(tool_choice="named")
    (block,) = plan_blocks([SUPPORT], [ENTRY], config, Choice())
    for case in SUPPORT.cases:
        if case.id in block.cases:
            request = request_for(ENTRY, SUPPORT, case, block, 0)
            assert request.tool_choice == NamedChoice(case.expected.name)  # type: ignore[union-attr]
        elif type(case.expected).__name__ != "ExpectTool":
            with pytest.raises(InputError, match="expects no single tool"):
                choice_for(block.settings, case)


def test_where_nothing_is_left_to_measure_the_plan_says_why() -> None:
    with pytest.raises(InputError, match=r"^tool_choice: nothing to run: none of the chosen cases wants a call"):
        plan_blocks([small_suite(0)], [ENTRY], config_of(tool_choice="required"), Choice())
    with pytest.raises(InputError, match=r"none of the chosen cases expects exactly one tool"):
        plan_blocks([small_suite(0)], [ENTRY], config_of(tool_choice="named"), Choice())


# ------------------------------------------------------------------------------------------------------- refused mixing


def test_a_label_that_is_not_of_the_settings_is_refused() -> None:
    suite = small_suite(1)
    ids = tuple(case.id for case in suite.cases)
    for name, settings in (
        ("auto", Settings(tool_choice="required")),
        ("required", Settings()),
        ("my-own", Settings(strict=True)),
    ):
        with pytest.raises(InputError, match="is not the label of the settings"):
            plan([suite], RunConfig(models=()), blocks=(Block("small", name, "m", ids, 1, settings),))
    held = plan([suite], RunConfig(models=()), blocks=(Block("small", "stability-t0.7", "m", ids, 1),))
    assert held.plan[0].experiment == "stability-t0.7"


def test_a_model_that_streams_is_streaming_under_every_label() -> None:
    suite, entry = small_suite(1), structs.replace(ENTRY, stream=True)
    with pytest.raises(InputError, match="is not the label of the settings"):
        plan([suite], RunConfig(models=()), entry, blocks=(Block("small", "auto", "m", ("greeting",), 1),))
    with pytest.raises(InputError, match=r"have this label, with the same settings .*streams in every experiment"):
        plan([suite], config_of(experiments=["auto", "stream"]), entry)


def test_two_blocks_with_one_label_are_refused_whatever_differs() -> None:
    suite = small_suite(1)
    hot = Block("small", "auto", "m", ("greeting",), 1, Settings(temperature=1.0))
    with pytest.raises(InputError, match="have this label, with other sampling or bounds"):
        plan([suite], RunConfig(models=()), blocks=(structs.replace(hot, settings=Settings()), hot))


def test_a_forced_suite_runs_only_under_a_forced_choice() -> None:
    with pytest.raises(InputError, match=r"the suite small is for forced choices.*Set tool_choice = \"required\""):
        plan([kind("forced")], RunConfig(models=()))
    assert plan([kind("forced")], RunConfig(models=(), tool_choice="required")).plan[0].experiment == "required"


def test_a_compatibility_suite_is_never_run_with_others() -> None:
    probe = structs.replace(kind("compatibility"), name="probe")
    with pytest.raises(InputError, match=r"never run together with others .*Give it a run of its own, or use"):
        plan([small_suite(), probe], RunConfig(models=()))
    assert plan([probe], RunConfig(models=())).plan


def test_an_optimised_suite_runs_only_on_its_provider() -> None:
    optimised = kind("provider-optimised", providers=("openai", "azure-openai"))
    elsewhere = structs.replace(ENTRY, provider="mistral")
    with pytest.raises(InputError, match=r"optimised for openai and azure-openai, not for mistral .*on the portable"):
        plan([optimised], RunConfig(models=()), elsewhere)
    with pytest.raises(InputError, match="does not say which provider"):
        plan([kind("provider-optimised")], RunConfig(models=()))
    azure = structs.replace(ENTRY, provider="azure-openai")
    assert plan([optimised], RunConfig(models=()), azure).plan[0].experiment == "auto+provider-optimised"


def test_an_optimised_suite_brings_its_settings_and_is_not_contradicted() -> None:
    strict = StrictDifference(True, "strict binds", "docs")
    optimised = kind("provider-optimised", providers=("openai",), differences=(strict,))
    (block,) = plan([optimised], RunConfig(models=())).plan
    assert (block.settings.strict, block.experiment) == (True, "auto+strict+provider-optimised")
    with pytest.raises(InputError, match=r"^strict: contradicts the suite small, which sets it to true"):
        plan([optimised], RunConfig(models=(), strict=False))
    with pytest.raises(InputError, match="The suite sets strict or parallel itself"):
        plan([optimised], config_of(experiments=["auto", "strict"]))


def test_what_an_experiment_leaves_out_is_said_before_it_runs() -> None:
    weaker = structs.replace(ENTRY, schema_fallback=("pattern",))
    manifest: Manifest = plan([small_suite()], config_of(tool_choice="required"), weaker)
    forced, weakened = plan_notices(manifest.plan)
    assert forced.startswith("small under required+fallback(pattern): abstention and clarification cannot be measured")
    assert forced.endswith("only cases that want a call are asked (4)")
    assert weakened == "m: its schemas are weakened (pattern), so it is not shown the same constraints"
    assert plan_notices(plan([small_suite()], RunConfig(models=())).plan) == ()


# ------------------------------------------------------------------------------------------------------------ fallbacks


def test_a_fallback_weakens_what_is_sent_and_every_change_stands_in_the_manifest() -> None:
    weaker = structs.replace(ENTRY, schema_fallback=("pattern", "minimum", "maximum"))
    (block,) = plan_blocks([SUPPORT], [weaker], RunConfig(models=()), Choice())
    assert block.experiment == "auto+fallback(maximum,minimum,pattern)"
    sent = sent_hashes(get_adapter("openai-chat"), weaker, SUPPORT, SUPPORT.cases[0], block)
    assert [(each.pointer, each.rule, each.before) for each in sent.transformations] == [
        ("/tools/0/parameters/properties/order_id/pattern", "keyword_removed", "^ORD-[0-9]{6}$"),
        ("/tools/1/parameters/properties/limit/minimum", "keyword_removed", 1),
        ("/tools/1/parameters/properties/limit/maximum", "keyword_removed", 20),
        ("/tools/2/parameters/properties/country_code/pattern", "keyword_removed", "^[A-Z]{2}$"),
        ("/tools/2/parameters/properties/weight_grams/minimum", "keyword_removed", 1),
        ("/tools/2/parameters/properties/weight_grams/maximum", "keyword_removed", 50000),
    ]
    body = get_adapter("openai-chat").build(request_for(weaker, SUPPORT, SUPPORT.cases[0], block, 0)).body
    assert b"pattern" not in body
    assert b"enum" in body


def run_against(tmp_path: Path, arguments: str, **model: Any) -> tuple[Any, list[Seen]]:
    """A run of two cases against a stand-in that calls lookup_order with these arguments."""

    async def held() -> tuple[Any, list[Seen]]:
        async with StandIn(lambda _: Reply(completion(None, [("lookup_order", arguments)]))) as server:
            models = [stand_in_model(server.url, **model)]
            run = await callscope.arun(
                small_suite(1),
                models=models,
                out=tmp_path / "run",
                repeats=1,
                experiments=("auto", "required", "named"),
            )
            return run, server.seen

    return asyncio.run(held())


def test_under_a_fallback_structure_is_judged_by_the_declared_schema_and_reports_say_so(tmp_path: Path) -> None:
    run, seen = run_against(tmp_path, '{"order_id": "order 100000"}', schema_fallback=["pattern"])
    assert all(b"pattern" not in each.body for each in seen)
    derived = list(run.derived())
    assert {one.verdict.structure for one in derived} == {"invalid"}
    assert all(one.transformations[0].rule == "keyword_removed" for one in derived)
    assert {one.verdict.experiment for one in derived} == {
        f"{choice}+fallback(pattern)" for choice in ("auto", "required", "named")
    }
    summary = run.summary().data
    said = (
        "The schemas were weakened before they were sent (pattern): the models never saw these constraints as declared."
    )
    for text in (
        terminal_text(summary, width=400),
        " ".join(limitations(summary)).replace("the schemas were", "The schemas were"),
        (run.path / "report.html").read_text(),
        render_markdown(summary).replace("\\", "").replace("&#58;", ":"),
    ):
        assert said in text.replace("\n", " ")
        assert "judged against the schemas as declared" in text


def test_reports_keep_experiments_apart_and_say_what_a_forced_one_cannot_measure(tmp_path: Path) -> None:
    run, seen = run_against(tmp_path, '{"order_id": "ORD-100000"}')
    choices = [each.json.get("tool_choice") for each in seen]
    named = {"type": "function", "function": {"name": "lookup_order"}}
    assert choices == [*([choices[0]] * 2), "required", named]
    summary = run.summary().data
    assert [(group["experiment"], group["trials"]["planned"]) for group in summary["groups"]] == [
        ("auto", 2), ("required", 1), ("named", 1),
    ]  # fmt: skip
    said = "Abstention and clarification cannot be measured under a forced choice."
    text = terminal_text(summary, width=200)
    sections = text.split("experiment ")[1:]
    assert [said in section for section in sections] == [False, True, True]
    assert "tool choice required" in sections[1]
    assert render_markdown(summary).count(said) == 2
    assert (run.path / "report.html").read_text().count(said) == 2
    assert any("Experiment required, named: abstention and clarification" in limit for limit in limitations(summary))


def test_a_streamed_experiment_asks_for_a_stream(tmp_path: Path) -> None:
    async def held() -> list[Seen]:
        async with StandIn(lambda _: Reply(completion("Hello"))) as server:
            await callscope.arun(
                small_suite(0), models=[stand_in_model(server.url)], out=tmp_path / "run", repeats=1,
                experiments=("auto", "stream"),
            )  # fmt: skip
            return server.seen

    assert [bool(each.json.get("stream")) for each in asyncio.run(held())] == [False, True]


def test_the_command_line_names_experiments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = write_suite(tmp_path / "small", suite_files([tool_case(1)], kind="forced"))
    config = {"models": [{"provider": "x", "model": "m", "base_url": "http://127.0.0.1:9/v1"}], "suites": [str(suite)]}
    (tmp_path / "c.json").write_text(json.dumps(config))
    for arguments, said in (
        (["--experiment", "strict"], "is for forced choices"),
        (["--experiment", "forced"], "--experiment[0]: is no experiment"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["run", str(tmp_path / "c.json"), *arguments])
        assert ended.value.code == 2
        assert said in capsys.readouterr().err


WORDS = [
    ({"tool_choice": "named"}, "tool choice named", "only the arguments are measured"),
    ({"tool_choice": {"name": "f"}}, "tool choice named f", "only the arguments are measured"),
    ({"tool_choice": "none"}, "tool choice none", "a call made all the same is the finding"),
    ({"strict": True}, "strict schemas", "a valid structure is the provider's work as much as the model's"),
    ({"parallel": False}, "at most one call a reply", "cases that want several cannot pass"),
    ({"optimised_for": "openai"}, "optimised for openai", "compare with no other provider's"),
]


@pytest.mark.parametrize(("settings", "heading", "caveat"), WORDS, ids=str)
def test_a_heading_names_what_an_experiment_is_and_what_it_cannot_say(
    settings: dict[str, Any], heading: str, caveat: str
) -> None:
    group = {"settings": [settings], "experiment": "x"}
    assert heading in experiment_settings(group)
    assert caveat in " ".join(experiment_caveats(group))


def test_the_plain_experiment_has_nothing_to_confess() -> None:
    for settings in ([{"tool_choice": "auto", "strict": None, "parallel": None, "stream": False}], []):
        group = {"settings": settings, "experiment": "auto"}
        assert experiment_settings(group) == "tool choice auto"
        assert experiment_caveats(group) == experiment_limits([group]) == []


def test_an_optimised_suite_runs_freezes_and_replays_with_its_own_rules(tmp_path: Path) -> None:
    arguments = '{"country_code": "DK", "postal_code": "2100", "weight_grams": 700, "service": null}'

    async def held() -> tuple[Any, list[Seen]]:
        reply = Reply(completion(None, [("get_shipping_quote", arguments)]))
        async with StandIn(lambda _: reply) as server:
            model = {"provider": "openai", "model": "m", "base_url": server.url, "stand_in": True}
            run = await callscope.arun(
                "support-openai", models=[model], out=tmp_path / "run", repeats=1, cases=["note-on-the-box"]
            )
            return run, server.seen

    run, (seen,) = asyncio.run(held())
    assert all(tool["function"]["strict"] is True for tool in seen.json["tools"])
    (derived,) = callscope.open_run(tmp_path / "run").derived()
    verdict = derived.verdict
    assert (verdict.experiment, verdict.semantics, verdict.passed) == ("auto+strict+provider-optimised", "exact", True)
    assert derived.transformations == ()
    assert run.check().differing == ()
    assert callscope.open_run(tmp_path / "run").suites["support-openai"] == load_suite("support-openai")
    assert "optimised for openai" in terminal_text(run.summary().data, width=200)
