"""From a planned trial to the canonical request it sends, and to what such requests have in common. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from callscope.canonical import sha256_hex
from callscope.capture.codec import Frame
from callscope.contract import (
    Block,
    Case,
    Message,
    ModelEntry,
    Request,
    SentHashes,
    Suite,
    offered_tools,
)
from callscope.jsontext import dump_faithful, parse_json
from callscope.providers import Adapter

__all__ = ["REFERENCE_TIME", "frame_of", "request_for", "sent_hashes"]

REFERENCE_TIME = "{{reference_time}}"
"""Where a suite's system text wants the case's reference time."""


def request_for(
    entry: ModelEntry, suite: Suite, case: Case, block: Block, repeat: int, *, prompt: str | None = None
) -> Request:
    """The canonical request of a trial: the frozen system text, the case's prompt, the offered tools, nothing else."""
    settings = block.settings
    system = suite.system.replace(REFERENCE_TIME, case.reference_time or "")
    messages = [Message("user", case.prompt if prompt is None else prompt)]
    if system:
        messages.insert(0, Message("system", system))
    seed = settings.seed
    if seed is not None and settings.seed_per_repeat:
        seed += repeat
    return Request(
        model=entry.model,
        messages=tuple(messages),
        tools=offered_tools(case, suite.tools),
        tool_choice=settings.tool_choice,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        seed=seed,
        stream=entry.stream,
        parallel=settings.parallel,
        strict=settings.strict,
        extra=entry.extra,
    )


def frame_of(adapter: Adapter, entry: ModelEntry, suite: Suite, case: Case, block: Block, repeat: int) -> Frame:
    """The bytes before and after the prompt in a trial's body, found by building it with two one-letter prompts."""
    bodies = [
        adapter.build(request_for(entry, suite, case, block, repeat, prompt=letter)).body for letter in ("A", "B")
    ]
    first, second = bodies
    at = next(place for place, (one, other) in enumerate(zip(first, second, strict=True)) if one != other)
    return Frame(first[:at], first[at + 1 :])


def sent_hashes(adapter: Adapter, entry: ModelEntry, suite: Suite, case: Case, block: Block) -> SentHashes:
    """Hashes of the system text and of the tools exactly as the adapter writes them into the body."""
    request = request_for(entry, suite, case, block, 0)
    wire = adapter.build(request)
    body: Any = parse_json(wire.body).value
    tools = body.get("tools", body.get("toolConfig", {}).get("tools", []))
    as_sent = dump_faithful(tools)
    if tools and as_sent not in wire.body:
        as_sent = dump_faithful(tools, indent=None)
    return SentHashes(
        suite=suite.name,
        experiment=block.experiment,
        model=entry.label,
        offered=tuple(tool.name for tool in request.tools),
        system_sha256=sha256_hex(suite.system.encode("utf-8", "surrogatepass")),
        tools_sha256=sha256_hex(as_sent),
        transformations=wire.transformations,
    )


def plan_bytes(plan: tuple[Block, ...]) -> bytes:
    """The plan as bytes, for comparing a run folder with what is asked of it now."""
    return msgspec.json.encode(plan, order="deterministic")
