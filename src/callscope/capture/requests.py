"""From a planned trial to the canonical request it sends, and to what such requests have in common. Pure."""

from __future__ import annotations

import json
import re

import msgspec

from callscope.canonical import sha256_hex
from callscope.capture.codec import Frame
from callscope.capture.experiments import choice_for
from callscope.contract import (
    Block,
    Case,
    Message,
    ModelEntry,
    Request,
    SentHashes,
    Suite,
    Tool,
    Transformation,
    offered_tools,
)
from callscope.providers import Adapter, with_switches
from callscope.schema_rules import change_tools

__all__ = ["REFERENCE_TIME", "frame_of", "request_for", "sent_hashes", "tools_for"]

REFERENCE_TIME = "{{reference_time}}"
"""Where a suite's system text wants the case's reference time."""

_DECODER = json.JSONDecoder()
_NEXT_VALUE = re.compile(r"\s*:\s*")


def tools_for(suite: Suite, case: Case, block: Block) -> tuple[tuple[Tool, ...], tuple[Transformation, ...]]:
    """The tools that a case's request carries, and what the block's schema fallback changed in them.

    A verdict is still judged against the suite's own tools.
    """
    return change_tools(offered_tools(case, suite.tools), block.settings.schema_fallback)


def request_for(
    entry: ModelEntry, suite: Suite, case: Case, block: Block, repeat: int, *, prompt: str | None = None
) -> Request:
    """The canonical request of a trial: the frozen system text, the case's prompt, the offered tools, nothing else."""
    settings = block.settings
    system = suite.system.replace(REFERENCE_TIME, case.reference_time or "")
    messages = [*case.messages, Message("user", case.prompt if prompt is None else prompt)]
    if system:
        messages.insert(0, Message("system", system))
    seed = settings.seed
    if seed is not None and settings.seed_per_repeat:
        seed += repeat
    return Request(
        model=entry.model,
        messages=tuple(messages),
        tools=tools_for(suite, case, block)[0],
        tool_choice=choice_for(settings, case),
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        seed=seed,
        stream=entry.stream or settings.stream,
        parallel=settings.parallel,
        strict=settings.strict,
        extra=with_switches(entry.extra, entry.switches),
    )


def frame_of(adapter: Adapter, entry: ModelEntry, suite: Suite, case: Case, block: Block, repeat: int) -> Frame:
    """The bytes before and after the prompt in a trial's body, found by building it with two one-letter prompts."""
    bodies = [
        adapter.build(request_for(entry, suite, case, block, repeat, prompt=letter)).body for letter in ("A", "B")
    ]
    first, second = bodies
    at = next(place for place, (one, other) in enumerate(zip(first, second, strict=True)) if one != other)
    return Frame(first[:at], first[at + 1 :])


def _member(text: str, name: str) -> str:
    """The text of a member of a JSON object exactly as it is written there; "" where there is no such member."""
    position, found = text.find("{") + 1, ""
    while position and (start := text.find('"', position)) >= 0:
        key, position = _DECODER.raw_decode(text, start)
        start = _NEXT_VALUE.match(text, position).end()  # type: ignore[union-attr]  # the text is valid JSON
        _, position = _DECODER.raw_decode(text, start)
        found = text[start:position] if key == name else found
    return found


def sent_hashes(adapter: Adapter, entry: ModelEntry, suite: Suite, case: Case, block: Block) -> SentHashes:
    """Hashes of the system text and of the tools exactly as the adapter writes them into the body (none: of b"")."""
    request = request_for(entry, suite, case, block, 0)
    wire = adapter.build(request)
    body = wire.body.decode("utf-8")
    tools = _member(body, "tools") or _member(_member(body, "toolConfig"), "tools")
    return SentHashes(
        suite=suite.name,
        experiment=block.experiment,
        model=entry.label,
        offered=tuple(tool.name for tool in request.tools),
        system_sha256=sha256_hex(suite.system.encode("utf-8", "surrogatepass")),
        tools_sha256=sha256_hex(tools.encode("utf-8")),
        transformations=(*tools_for(suite, case, block)[1], *wire.transformations),
    )


def plan_bytes(plan: tuple[Block, ...]) -> bytes:
    """The plan as bytes, for comparing a run folder with what is asked of it now."""
    return msgspec.json.encode(plan, order="deterministic")
