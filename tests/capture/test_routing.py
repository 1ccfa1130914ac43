"""The three routing decisions: each an experiment, with its own cases and its own tools (the PluginEval document)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from callscope.capture.config import RunConfig
from callscope.capture.experiments import decides, label_of, read_experiment
from callscope.capture.plan import Choice, plan_blocks
from callscope.contract import (
    ArgumentRules,
    Case,
    ExpectClarification,
    ExpectedCall,
    ExpectNoCall,
    ExpectText,
    ExpectTool,
    ExpectTools,
    ModelEntry,
    Settings,
    Suite,
    Tool,
    asked_under,
    item_of,
    offered_tools,
    target_of,
)
from callscope.contract import (
    label_of as label_of_case,
)
from callscope.errors import InputError

RULES = ArgumentRules()
TOOLS = tuple(Tool(name, "", {"type": "object", "properties": {}}) for name in ("a", "b", "c"))
CASES = {
    "positive": Case("positive", "x", ExpectTool("a", RULES), tools=("a", "b")),
    "two": Case("two", "x", ExpectTools((ExpectedCall("a", RULES), ExpectedCall("b", RULES)))),
    "twice": Case("twice", "x", ExpectTools((ExpectedCall("a", RULES), ExpectedCall("a", RULES)))),
    "vague": Case("vague", "x", ExpectClarification(("p",), target="b")),
    "vaguer": Case("vaguer", "x", ExpectClarification(("p",))),
    "not_b": Case("not_b", "x", ExpectNoCall("b"), label="other_tool"),
    "unsaid": Case("unsaid", "x", ExpectNoCall("b")),
    "no_need": Case("no_need", "x", ExpectNoCall("b"), label="no_tool"),
    "talk": Case("talk", "x", ExpectText()),
}
SUITE = Suite("s", "1", "portable", "", TOOLS, tuple(CASES.values()), {})
ENTRY = ModelEntry("m", "openai", "m", "openai-chat")


def asked(experiment: str) -> list[str]:
    config = RunConfig(models=(), experiments=(experiment,))
    (block,) = plan_blocks((SUITE,), (ENTRY,), config, Choice())
    assert block.experiment == experiment
    return list(block.cases)


def test_each_decision_has_its_own_cases():
    assert asked("need") == list(CASES)
    assert asked("target") == ["positive", "twice", "vague", "not_b", "unsaid"]
    assert asked("arguments") == ["positive", "twice", "vague"]


@pytest.mark.parametrize("name", ["need", "target", "arguments"])
def test_a_routing_experiment_is_its_own_label(name):
    settings = Settings(**read_experiment(name))
    assert (settings.routing, label_of(settings)) == (name, name)
    assert label_of(Settings(**read_experiment(f"{name}+stream"))) == f"{name}+stream"


def test_a_decision_with_nothing_to_decide_says_so():
    alone = replace(SUITE, cases=(CASES["talk"],))
    with pytest.raises(InputError, match="has a target"):
        plan_blocks((alone,), (ENTRY,), RunConfig(models=(), experiments=("arguments",)), Choice())


def test_what_is_offered():
    def names(case, routing):
        return [tool.name for tool in offered_tools(asked_under(case, routing), TOOLS)]

    assert names(CASES["positive"], None) == ["a", "b"]
    assert names(CASES["positive"], "need") == ["a", "b", "c"]
    assert names(CASES["positive"], "target") == ["a"]
    own = replace(CASES["positive"], own_tools=TOOLS[:2], tools=None)
    assert names(own, "arguments") == ["a"]
    assert names(own, "need") == ["a", "b"]
    with pytest.raises(ValueError, match="no single target"):
        asked_under(CASES["two"], "target")


def test_items_targets_and_labels_are_what_the_case_says():
    assert {name: (item_of(case), target_of(case), label_of_case(case)) for name, case in CASES.items()} == {
        "positive": ("positive", "a", "call"),
        "two": ("positive", None, "call"),
        "twice": ("positive", "a", "call"),
        "vague": ("underspecified", "b", "underspecified"),
        "vaguer": ("underspecified", None, "underspecified"),
        "not_b": ("targeted_negative", "b", "other_tool"),
        "unsaid": ("targeted_negative", "b", None),
        "no_need": ("targeted_negative", "b", "no_tool"),
        "talk": ("global_negative", None, "no_tool"),
    }
    assert item_of(Case("c", "x", ExpectText(), item="global_negative")) == "global_negative"
    assert not decides(CASES["no_need"], "target")
