"""Experiments: what sets one apart, the label that its settings give it, and which plans would mix what must not mix.

The label is computed from the settings by one function and never written by hand, so that two blocks that differ in
what they measure cannot share one. Pure; choosing cases and models is `plan`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import structs

from callscope.contract import (
    Block,
    Case,
    ExpectTool,
    ExpectTools,
    ModelEntry,
    NamedChoice,
    ParallelDifference,
    Routing,
    Settings,
    StrictDifference,
    Suite,
    ToolChoice,
    item_of,
    target_of,
)
from callscope.contract import label_of as label_of_case
from callscope.errors import InputError

__all__ = [
    "check_experiments",
    "check_plan",
    "choice_for",
    "decides",
    "is_forced",
    "label_of",
    "measurable",
    "plan_notices",
    "read_experiment",
    "settings_for",
]

Choice = Literal["auto", "required", "named", "none"]

_CHOICES: Mapping[str, Choice] = {"auto": "auto", "required": "required", "named": "named", "none": "none"}
_ROUTINGS = ("need", "target", "arguments")
_SWITCHES: Mapping[str, dict[str, Any]] = {
    "strict": {"strict": True},
    "strict-off": {"strict": False},
    "parallel-on": {"parallel": True},
    "parallel-off": {"parallel": False},
    "stream": {"stream": True},
}
"""What may follow a tool choice in a label, in this order, and the settings it stands for."""


def label_of(settings: Settings) -> str:
    """The label of the experiment that a block with these settings is: `auto`, `required+strict+stream`, …

    Sampling, bounds and time-outs are not in it: within a run all blocks share them.
    """
    choice = settings.tool_choice
    parts = [f"named({choice.name})" if isinstance(choice, NamedChoice) else settings.routing or choice]
    for name, values in _SWITCHES.items():
        if all(getattr(settings, field) is value for field, value in values.items()):
            parts.append(name)
    if settings.schema_fallback:
        parts.append(f"fallback({','.join(sorted(settings.schema_fallback))})")
    if settings.optimised_for is not None:
        parts.append("provider-optimised")
    return "+".join(parts)


def read_experiment(name: str) -> dict[str, Any]:
    """The settings that an experiment's name stands for; `strict` is short for `auto+strict`.

    Raises InputError for a name that is none.
    """
    head, *rest = name.split("+")
    switches = rest if head in _CHOICES or head in _ROUTINGS else [head, *rest]
    settings: dict[str, Any] = {"tool_choice": _CHOICES.get(head, "auto")}
    if head in _ROUTINGS:
        settings["routing"] = head
    for switch in switches:
        values = _SWITCHES.get(switch, {})
        if not values or set(values) & set(settings):
            names = ", ".join((*_CHOICES, *_ROUTINGS))
            expected = f"{names}, with or without {', '.join(f'+{each}' for each in _SWITCHES)}"
            hint = None
            if switch in ("provider-optimised", "optimised"):
                hint = "A provider-optimised suite brings its experiment with it: name the suite, as `support-openai`"
            elif switch.startswith("fallback"):
                hint = "A fallback is the model's: give its entry `schema_fallback`"
            raise InputError("is no experiment", found=name, expected=expected, hint=hint)
        settings.update(values)
    return settings


def check_experiments(names: Sequence[str], field: str = "experiments") -> None:
    """Raise InputError for a name that is no experiment, and for two that are the same one."""
    seen: dict[str, str] = {}
    for place, name in enumerate(names):
        try:
            label = label_of(Settings(**read_experiment(name)))
        except InputError as error:
            raise error.at(prefix=f"{field}[{place}]") from None
        if label in seen:
            hint = f"It is the same as `{seen[label]}`; leave one of them out"
            raise InputError("is there twice", field=f"{field}[{place}]", found=name, hint=hint)
        seen[label] = name


def settings_for(settings: Settings, suite: Suite, entry: ModelEntry) -> Settings:
    """The settings of one block: those of the experiment, with what the suite and the model's entry bring.

    Raises InputError where a provider-optimised suite sets what the settings set otherwise.
    """
    brought: dict[str, Any] = {
        "stream": settings.stream or entry.stream,
        "schema_fallback": tuple(sorted(entry.schema_fallback)),
        "optimised_for": suite.providers[0] if suite.providers else None,
    }
    for difference in suite.differences:
        if isinstance(difference, (StrictDifference, ParallelDifference)):
            field = "strict" if isinstance(difference, StrictDifference) else "parallel"
            if getattr(settings, field) not in {None, difference.value}:
                hint = f"Leave `{field}` to the suite: {difference.reason}"
                raise InputError(
                    f"contradicts the suite {suite.name}, which sets it to {str(difference.value).lower()}",
                    field=field,
                    found=str(getattr(settings, field)).lower(),
                    hint=hint,
                )
            brought[field] = difference.value
    return structs.replace(settings, **brought)


def is_forced(settings: Settings) -> bool:
    """Whether the settings force a call."""
    return settings.tool_choice not in ("auto", "none")


def measurable(case: Case, settings: Settings) -> bool:
    """Whether an experiment can measure a case.

    Where a call is forced, abstaining and asking back are ruled out. `named` needs cases in which one tool is right,
    and no other.
    """
    if settings.routing is not None:
        return decides(case, settings.routing)
    if not is_forced(settings):
        return True
    expected = case.expected
    if settings.tool_choice == "required":
        return isinstance(expected, (ExpectTool, ExpectTools))
    if not isinstance(expected, ExpectTool):
        return False
    name = settings.tool_choice.name if isinstance(settings.tool_choice, NamedChoice) else expected.name
    return {name} == {expected.name, *(other.name or expected.name for other in expected.alternatives)}


def decides(case: Case, routing: Routing) -> bool:
    """Whether a case has a label for a routing decision: need for all, target where a tool is needed, arguments where
    the target is the right one. A decision about the target needs one."""
    if routing == "need":
        return True
    if target_of(case) is None or label_of_case(case) == "no_tool":
        return False
    return routing == "target" or item_of(case) in ("positive", "underspecified")


def choice_for(settings: Settings, case: Case) -> ToolChoice:
    """The tool choice that a case's request carries: under `named` the tool that the case expects."""
    if settings.tool_choice != "named":
        return settings.tool_choice
    if not isinstance(case.expected, ExpectTool):
        raise InputError("expects no single tool that a choice could name", field="tool_choice", found=case.id)
    return NamedChoice(case.expected.name)


def plan_notices(blocks: Iterable[Block]) -> tuple[str, ...]:
    """What the experiments of a plan leave out of any comparison, a line each, to be said before the first call."""
    found: dict[str, None] = {}
    for block in blocks:
        if is_forced(block.settings):
            where = f"{block.suite} under {block.experiment}"
            found[
                f"{where}: abstention and clarification cannot be measured under a forced choice; only cases that want "
                f"a call are asked ({len(block.cases)})"
            ] = None
        if block.settings.schema_fallback:
            names = ", ".join(block.settings.schema_fallback)
            found[f"{block.model}: its schemas are weakened ({names}), so it is not shown the same constraints"] = None
    return tuple(found)


def check_plan(blocks: Iterable[Block], suites: Mapping[str, Suite], models: Mapping[str, ModelEntry]) -> None:
    """Raise InputError where a plan would mix what must stay apart, and say what to do about it."""
    blocks = tuple(blocks)
    kinds = {suites[block.suite].kind: block.suite for block in blocks}
    if "compatibility" in kinds and len(kinds) > 1:
        raise InputError(
            "a compatibility suite is never run together with others",
            field="suites",
            found=kinds["compatibility"],
            hint="It measures schema keywords, not answers. Give it a run of its own, or use `callscope probe`",
        )
    seen: dict[tuple[str, str, str], Block] = {}
    for block in blocks:
        _check_label(block, models[block.model])
        _check_turns(block, suites[block.suite], models[block.model])
        _check_kind(block, suites[block.suite], models[block.model])
        key = (block.suite, block.experiment, block.model)
        if key in seen:
            same = "the same settings" if seen[key].settings == block.settings else "other sampling or bounds"
            raise InputError(
                f"two blocks of suite {block.suite} on {block.model} have this label, with {same}",
                field="experiments",
                found=block.experiment,
                hint=_twice(suites[block.suite], models[block.model]),
            )
        seen[key] = block


def _check_turns(block: Block, suite: Suite, entry: ModelEntry) -> None:
    """Conversations of several turns are scored from recorded answers only: nothing here plays their tools."""
    chosen = set(block.cases)
    several = next((case.id for case in suite.cases if case.turns and case.id in chosen), None)
    if several is not None and entry.provider != "recorded":
        raise InputError(
            f"a case of the suite {suite.name} is a conversation of several turns, on its benchmark's own tools",
            field="suites",
            found=several,
            hint="Score recorded answers: callscope import bfcl DIR --results DIR",
        )


def _twice(suite: Suite, entry: ModelEntry) -> str:
    if suite.differences:
        return "The suite sets strict or parallel itself: run it apart, with the experiments `auto` or `required`"
    if entry.stream:
        return "The model's entry streams in every experiment: leave `stream` out of the entry, or out of `experiments`"
    return "Leave one of them out, or give it a run of its own"


def _check_label(block: Block, entry: ModelEntry) -> None:
    settings = structs.replace(block.settings, stream=block.settings.stream or entry.stream)
    derived = label_of(settings)
    taken = {*_CHOICES, *_SWITCHES, *_ROUTINGS}
    own_name = derived == "auto" and block.experiment.split("+")[0].split("(")[0] not in taken
    if block.experiment != derived and not own_name:
        raise InputError(
            f"is not the label of the settings of {block.suite} on {block.model}",
            field="experiment",
            found=block.experiment,
            expected=derived,
        )


def _check_kind(block: Block, suite: Suite, entry: ModelEntry) -> None:
    if suite.kind == "forced" and not is_forced(block.settings):
        raise InputError(
            f"the suite {suite.name} is for forced choices, and this experiment forces none",
            field="tool_choice",
            found=block.experiment,
            expected="required or named",
            hint='Set tool_choice = "required", or experiments = ["required"]; run other suites apart',
        )
    if suite.kind != "provider-optimised":
        return
    if not suite.providers:
        raise InputError(
            f"the suite {suite.name} does not say which provider it is optimised for",
            field="provider",
            hint='Write `provider = "..."` into its suite.toml, or lay an overlay.toml over a portable suite',
        )
    if entry.provider not in suite.providers:
        raise InputError(
            f"the suite {suite.name} is optimised for {' and '.join(suite.providers)}, not for {entry.provider}",
            field="suites",
            found=f"{suite.name} on {entry.label}",
            hint="Run it with models of its provider only (--model), and compare models on the portable suite",
        )
