"""In what two units differ beside their results: every variable of the two manifests, and how many are independent.

A variable could make a difference in results. A circumstance (time limits, repeats, libraries, the day) should not
change an answer, but can: it is listed, and not counted. What only follows from another variable that differs (the
version of a suite from its changed cases, the bytes of the tools as sent from the adapter that wrote them) is listed
with what it follows from, and not counted either.

| variable                     | compared                                                 | follows from              |
|------------------------------|----------------------------------------------------------|---------------------------|
| model                        | the model's id, or the embedded model's name             |                           |
| provider, address            | where it is served                                       | model                     |
| model as reported, facts     | what the server said it was; an embedded model's file    | model                     |
| adapter, template            | the wire format; the chat template                       |                           |
| switches                     | provider switches and what is merged into the body       |                           |
| prompt, tools, cases, …      | the exact bytes of each file of the suite                |                           |
| suite version, suite.toml    | the suite as it names itself                             | a changed file            |
| prompt, tools as sent        | the exact bytes that the adapter wrote                   | file, adapter, settings   |
| sampling                     | temperature, max_tokens, seed, seed_per_repeat           |                           |
| other settings               | tool choice, parallel, strict, schema fallback, …        |                           |
| judge                        | who ruled on what the scoring rules left open            |                           |
| judge's questions, prompt    | what was put to it, and by which prompt                  | judge                     |
| callscope                    | the version that built the requests and scored           |                           |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from callscope.contract import Block, Manifest, ModelRef, SuiteRef
from callscope.jsontext import dump_faithful

__all__ = ["Variable", "changed", "variables"]

_FILES = {
    "system.txt": "prompt",
    "tools.core.json": "tools",
    "tools.json": "tools",
    "cases.jsonl": "cases",
    "suite.toml": "suite.toml",
}
_SAMPLING = ("temperature", "max_tokens", "seed", "seed_per_repeat")
_LIMITS = ("timeout_ms", "connect_timeout_ms", "first_byte_timeout_ms")
_REWRITING = ("strict", "parallel", "schema_fallback", "optimised_for", "tool_choice", "routing")
"""Settings that change the bytes of what is sent beside the tools' own files."""


class Variable(Struct, frozen=True):
    """One variable in which two units differ, with both values as text (None: there is none).

    `follows` names the variable that this one comes with, where it does.
    """

    name: str
    kind: Literal["variable", "circumstance"]
    first: str | None
    second: str | None
    follows: str | None = None


def changed(found: tuple[Variable, ...]) -> tuple[str, ...]:
    """The names of the variables that differ of themselves. More than one: no one of them explains the results."""
    return tuple(each.name for each in found if each.kind == "variable" and each.follows is None)


def variables(
    first: tuple[Manifest, str],
    second: tuple[Manifest, str],
    suite: str,
    experiment: str,
    judged: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {}),
) -> tuple[Variable, ...]:
    """Every variable in which two units, each a manifest and the label of one of its models, differ in one suite and
    experiment. Variables first, then circumstances. `judged` is what is known of the judge of each, which no manifest
    holds: variable -> value."""
    one, other = ({**_facts(*unit, suite, experiment), **of} for unit, of in zip((first, second), judged, strict=True))
    _add_sent(one, other, _sent(*first, suite, experiment), _sent(*second, suite, experiment))
    names = [*one, *(name for name in other if name not in one)]
    differing = [name for name in names if one.get(name) != other.get(name)]
    independent = set(differing)
    found = []
    for name in differing:
        mine, theirs = _text(one.get(name)), _text(other.get(name))
        if name.startswith("circumstance: "):
            found.append(Variable(name.removeprefix("circumstance: "), "circumstance", mine, theirs))
        else:
            follows = next((each for each in _causes(name, one, other) if each in independent), None)
            found.append(Variable(name, "variable", mine, theirs, follows))
    return tuple(sorted(found, key=lambda each: each.kind == "circumstance"))


def _causes(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """What could be behind a variable, likeliest first."""
    if name in {"provider", "address", "model as reported", "model facts", "stand-in"}:
        yield "model"
        if name == "address":
            yield "provider"
    elif name in {"suite version", "suite.toml"}:
        yield from (each for each in dict.fromkeys([*one, *other]) if each in {"prompt", "tools", "cases"})
        yield from (each for each in dict.fromkeys([*one, *other]) if each.startswith("suite file "))
        if name == "suite version":
            yield "suite.toml"
    elif name in {"judge's questions", "judge's prompt"}:
        yield "judge"
    elif name in {"prompt as sent", "tools as sent"}:
        yield name.removesuffix(" as sent")
        yield "adapter"
        yield from (each.replace("_", " ") for each in _REWRITING)
        yield from ("template", "switches", "callscope")


def _facts(manifest: Manifest, model: str, suite: str, experiment: str) -> dict[str, Any]:
    """Variable -> value, in the order they are shown."""
    ref = next((ref for ref in manifest.models if ref.entry.label == model), None)
    blocks = [b for b in manifest.plan if (b.suite, b.experiment, b.model) == (suite, experiment, model)]
    suite_ref = next((each for each in manifest.suites if each.name == suite), None)
    facts = {**_of_model(ref), **_of_suite(suite_ref), **_of_settings(blocks)}
    facts["callscope"] = manifest.callscope
    facts |= {
        f"circumstance: {name}": value
        for name, value in {
            "runner commit": manifest.runner_commit,
            "dataset version": manifest.dataset_version,
            "day": manifest.created_at[:10],
            "concurrency": manifest.concurrency,
            "pacing": msgspec.to_builtins(manifest.pacing.get(model)),
            "repeats": sorted({block.repeats for block in blocks}),
            "attempts": manifest.attempts,
            "budgets": msgspec.to_builtins(manifest.budgets),
            "status": manifest.status,
            "time limits": _each(blocks, _LIMITS),
            "runtime": manifest.runtime,
            "libraries": manifest.libraries,
            "environment": manifest.environment,
        }.items()
    }
    return facts


def _sent(manifest: Manifest, model: str, suite: str, experiment: str) -> dict[tuple[str, ...], tuple[str, str]]:
    """Names of the offered tools -> hashes of the system text and the tools as sent."""
    return {
        each.offered: (each.system_sha256, each.tools_sha256)
        for each in manifest.sent
        if (each.suite, each.experiment, each.model) == (suite, experiment, model)
    }


def _add_sent(
    one: dict[str, Any],
    other: dict[str, Any],
    sent: Mapping[tuple[str, ...], tuple[str, str]],
    sent_by_other: Mapping[tuple[str, ...], tuple[str, str]],
) -> None:
    """Add the bytes as sent, over the sets of tools that both were offered: other sets come with other cases."""
    shared = sorted(sent.keys() & sent_by_other.keys())
    for place, name in enumerate(("prompt as sent", "tools as sent")):
        for facts, hashes in ((one, sent), (other, sent_by_other)):
            facts[name] = list(dict.fromkeys(hashes[offered][place] for offered in shared))


def _of_model(ref: ModelRef | None) -> dict[str, Any]:
    if ref is None:
        return {}
    entry = ref.entry
    return {
        "model": entry.embedded or entry.model,
        "provider": entry.provider,
        "address": entry.base_url,
        "model as reported": sorted(ref.reported),
        "model facts": ref.facts or None,
        "stand-in": entry.stand_in,
        "adapter": entry.api,
        "template": entry.template,
        "switches": {**entry.switches, **entry.extra} or None,
    }


def _of_suite(ref: SuiteRef | None) -> dict[str, Any]:
    if ref is None:
        return {}
    files: dict[str, Any] = {}
    for name, digest in sorted(ref.files.items()):
        variable = _FILES.get(name, f"suite file {name}")
        files[variable] = f"{files[variable]} {digest}" if variable in files else digest
    return {"suite kind": ref.kind, **files, "suite version": ref.version}


def _of_settings(blocks: list[Block]) -> dict[str, Any]:
    """The settings of the blocks of one unit: sampling together, every other setting by its name."""
    if not blocks:
        return {}
    rest = [name for name in type(blocks[0].settings).__struct_fields__ if name not in {*_SAMPLING, *_LIMITS}]
    return {
        "sampling": _each(blocks, _SAMPLING),
        **{name.replace("_", " "): _each(blocks, (name,)) for name in rest},
    }


def _each(blocks: list[Block], names: tuple[str, ...]) -> Any:
    """The values of some settings, once where all blocks share them; a single setting without its name."""
    found: list[Any] = []
    for block in blocks:
        settings = msgspec.to_builtins(block.settings)
        value = settings[names[0]] if len(names) == 1 else {name: settings[name] for name in names}
        if value not in found:
            found.append(value)
    return found[0] if len(found) == 1 else found


def _text(value: Any) -> str | None:
    """A value on one line; None where there is none."""
    if value is None or value in ([], {}):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) == 1:
        return _text(value[0])
    return dump_faithful(value, sort_keys=True).decode("utf-8")
