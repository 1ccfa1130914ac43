"""What the judge's tests share: a small run whose open arguments are known, and asking a planted judge about it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from callscope import api, judging
from callscope.capture.config import RunConfig
from callscope.contract import Suite
from callscope.judge.docket import Scope
from callscope.suites import load_suite_bytes
from tests.stand_in import Reply, Seen, StandIn, completion

TOOL = {
    "name": "send_card",
    "description": "Sends a greeting card.",
    "parameters": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What the card says."},
            "card_id": {"type": "string", "pattern": "^C-[0-9]{3}$"},
        },
        "required": ["text", "card_id"],
        "additionalProperties": False,
    },
}

GOLD, SAME, OTHER = "a warm welcome", "a friendly greeting", "a cold goodbye"


def case(number: int, **rules: Any) -> dict[str, Any]:
    arguments = {"required_equals": {"text": GOLD, "card_id": f"C-{number}"}, **rules}
    return {
        "id": f"card-{number}",
        "prompt": f"Send card C-{number} with a warm welcome.",
        "expected": {"kind": "tool", "name": "send_card", "arguments": arguments},
    }


def cards(cases: Sequence[dict[str, Any]], **toml: Any) -> Suite:
    about = {"name": "cards", "version": "1", **toml}
    return load_suite_bytes(
        {
            "system.txt": b"You send cards.\n",
            "tools.core.json": json.dumps({"tools": [TOOL]}).encode(),
            "cases.jsonl": b"".join(json.dumps(one).encode() + b"\n" for one in cases),
            "suite.toml": "".join(f"{name} = {json.dumps(value)}\n" for name, value in about.items()).encode(),
        },
        name="cards",
    )


def sends(texts: dict[str, str | dict[str, Any] | None]) -> Callable[[Seen], Reply]:
    """A model that sends, for each card, a text, or other arguments, or nothing."""

    def respond(seen: Seen) -> Reply:
        number = seen.prompt.split("C-")[1][:3]
        said = texts[number]
        if said is None:
            return Reply(completion("Which card?"))
        arguments = {"text": said, "card_id": f"C-{number}"} if isinstance(said, str) else said
        return Reply(completion(None, [("send_card", json.dumps(arguments))]))

    return respond


def make_run(folder: Path, texts: dict[str, Any], cases: Sequence[dict[str, Any]] | None = None, **more: Any) -> Path:
    """A run folder in which the stand-in model sent these texts."""
    repeats = more.pop("repeats", 1)

    async def held() -> None:
        async with StandIn(sends(texts)) as model:
            entry = {"provider": "stand-in", "model": "stand-in-1", "base_url": model.url, "stand_in": True}
            suite = cards(cases or [case(int(number)) for number in texts], **more)
            await api.arun(suite, models=[entry], out=folder, repeats=repeats)

    asyncio.run(held())
    return folder


def judge_entry(url: str, **more: Any) -> dict[str, Any]:
    return {"provider": "planted", "model": "stand-in-judge", "base_url": url, "stand_in": True, **more}


async def ask(run: Path, url: str, *, scope: Scope | None = None, name: str | None = None, **more: Any) -> Any:
    config = RunConfig(models=api.model_configs([judge_entry(url)]), concurrency=8, **more)
    settings = judging.judge_config(config, stated=True)
    return await judging.ask_judge(run, settings, scope=scope or Scope(), name=name)


def judged_by(run: Path, respond: Callable[[Seen], Reply], **more: Any) -> tuple[Any, list[Seen]]:
    """Ask a planted judge about a run; what came of it, and what the judge was sent."""
    ((applied, seen),) = sittings(run, (respond, more))
    return applied, seen


def sittings(run: Path, *each: tuple[Callable[[Seen], Reply], dict[str, Any]]) -> list[tuple[Any, list[Seen]]]:
    """Ask one judge in several sittings, in which it may answer differently; for each as `judged_by`."""

    async def held() -> list[tuple[Any, list[Seen]]]:
        found = []
        async with StandIn(each[0][0]) as judge:
            for respond, more in each:
                judge.respond, judge.seen = respond, []
                found.append((await ask(run, judge.url, **more), judge.seen))
        return found

    return asyncio.run(held())
