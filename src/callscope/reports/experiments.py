"""What an experiment is and what it cannot measure, in words: said under its heading and among the limits of a run.

Read from a group's own settings; nothing is counted, and no number is changed. Labels are made by capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from callscope.reports.safe import one_line

__all__ = ["experiment_caveats", "experiment_limits", "experiment_settings"]

_SWITCHES = (
    ("strict", True, "strict schemas"),
    ("strict", False, "strict schemas off"),
    ("parallel", True, "several calls a reply allowed"),
    ("parallel", False, "at most one call a reply"),
    ("stream", True, "streamed"),
)


def experiment_settings(group: Mapping[str, Any]) -> str:
    """The settings that make the experiment: `tool choice required, strict schemas, streamed`."""
    settings = _of(group)
    choice = settings.get("tool_choice", "auto")
    named = f"named {one_line(choice['name'], 60)}" if isinstance(choice, Mapping) else str(choice)
    parts = [f"routing decision {settings['routing']}"] if settings.get("routing") else []
    parts += [f"tool choice {named}"]
    parts += [said for name, value, said in _SWITCHES if settings.get(name) is value]
    if settings.get("schema_fallback"):
        parts.append(f"schemas weakened by {_fallback(settings)}")
    if settings.get("optimised_for"):
        parts.append(f"optimised for {one_line(settings['optimised_for'], 60)}")
    return ", ".join(parts)


def experiment_caveats(group: Mapping[str, Any]) -> list[str]:
    """Sentences on what the experiment of a group cannot measure; none for the plain one."""
    settings = _of(group)
    return [*_of_routing(settings), *_of_choice(settings), *_of_switches(settings), *_of_schemas(settings)]


def experiment_limits(groups: Iterable[Mapping[str, Any]]) -> list[str]:
    """What readers must know before any number: forced choices and weakened schemas, with their experiments."""
    said: dict[str, dict[str, None]] = {}
    for group in groups:
        settings = _of(group)
        for text in (*_of_forced(settings), *_of_schemas(settings)):
            said.setdefault(text, {})[one_line(group["experiment"], 60)] = None
    return [f"Experiment {', '.join(names)}: {text[:1].lower()}{text[1:]}" for text, names in said.items()]


def _of(group: Mapping[str, Any]) -> Mapping[str, Any]:
    settings: list[Mapping[str, Any]] = group["settings"]
    return settings[0] if settings else {}


def _fallback(settings: Mapping[str, Any]) -> str:
    return ", ".join(one_line(name, 40) for name in settings["schema_fallback"])


def _of_forced(settings: Mapping[str, Any]) -> Iterator[str]:
    if settings.get("tool_choice", "auto") not in ("auto", "none"):
        yield "Abstention and clarification cannot be measured under a forced choice."


_ROUTED = {
    "need": "Only whether a tool is needed is decided here, with all tools shown",
    "target": "Only whether the target is called is decided here: it alone is shown",
    "arguments": "Only the target's arguments, or too little said for them, are decided here: it alone is shown",
}


def _of_routing(settings: Mapping[str, Any]) -> Iterator[str]:
    if settings.get("routing"):
        yield f"{_ROUTED[settings['routing']]}; the other figures are those of this narrower question."


def _of_choice(settings: Mapping[str, Any]) -> Iterator[str]:
    choice = settings.get("tool_choice", "auto")
    yield from _of_forced(settings)
    if choice == "named" or isinstance(choice, Mapping):
        yield "The tool is named for the model: its selection is given, and only the arguments are measured."
    elif choice == "none":
        yield "No call is allowed: selection and arguments cannot be measured; a call made all the same is the finding."


def _of_switches(settings: Mapping[str, Any]) -> Iterator[str]:
    if settings.get("strict") is True:
        yield "In strict mode a valid structure is the provider's work as much as the model's."
    if settings.get("parallel") is False:
        yield "At most one call a reply is allowed: cases that want several cannot pass."


def _of_schemas(settings: Mapping[str, Any]) -> Iterator[str]:
    if settings.get("schema_fallback"):
        yield (
            f"The schemas were weakened before they were sent ({_fallback(settings)}): the models never saw these"
            " constraints as declared. Structure is still judged against the schemas as declared."
        )
    if settings.get("optimised_for"):
        yield (
            f"Wording, schemas and settings are optimised for {one_line(settings['optimised_for'], 60)}: the scores"
            " compare with no other provider's, and with the portable suite's only as another experiment."
        )
