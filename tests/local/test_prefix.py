"""What two requests share, and how the saved start of a prompt is used."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from callscope.local.prefix import MARK, ControlFault, PrefixCache, shared_part

SCHEMA = {"type": "object"}
CHAT_TOOL = {"type": "function", "function": {"name": "find", "description": "Find.", "parameters": SCHEMA}}
SYSTEM = {"role": "system", "content": "Be brief."}


def encoded(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def test_the_three_wire_formats_share_the_same_start() -> None:
    chat = encoded(messages=[SYSTEM, {"role": "user", "content": "x"}], tools=[CHAT_TOOL], temperature=0)
    anthropic = encoded(
        system="Be brief.",
        messages=[{"role": "user", "content": "y"}],
        tools=[{"name": "find", "description": "Find.", "input_schema": SCHEMA}],
        tool_choice={"type": "auto"},
    )
    responses = encoded(
        instructions="Be brief.",
        input="z",
        tools=[{"type": "function", "name": "find", "description": "Find.", "parameters": SCHEMA}],
    )
    listed = encoded(
        input=[SYSTEM, {"role": "user", "content": "z"}],
        tools=[{"type": "function", "name": "find", "description": "Find.", "parameters": SCHEMA}],
        tool_choice="required",
    )
    assert shared_part(chat) == shared_part(anthropic) == shared_part(responses) == shared_part(listed)


def test_system_blocks_are_joined_and_the_conversation_is_left_out() -> None:
    body = encoded(system=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], messages=[{"role": "user"}])
    assert shared_part(body) == {"messages": [{"role": "system", "content": "a\nb"}]}


@pytest.mark.parametrize("body", [b"", b"[1]", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_object_is_a_fault(body: bytes) -> None:
    with pytest.raises(ControlFault, match="not"):
        shared_part(body)


class Recorder:
    """Answers like the server, and can be told to answer otherwise."""

    def __init__(self, **answers: Mapping[str, Any]) -> None:
        self.answers, self.asked = answers, list[tuple[str, Any]]()

    async def __call__(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append((path, body))
        name = path.rpartition("=")[2].strip("/").replace("-", "_")
        usual: dict[str, Mapping[str, Any]] = {
            "apply_template": {"prompt": f"<s>Be brief.\n<u>\n{MARK}\n<a>"},
            "tokenize": {"tokens": [1, 2, 3]},
            "restore": {"n_restored": 3},
        }
        return self.answers.get(name, usual.get(name, {}))


SHARED = {"messages": [SYSTEM]}


def test_the_prefix_ends_before_the_newline_ahead_of_the_user(tmp_path: Path) -> None:
    control = Recorder()
    prefix = asyncio.run(PrefixCache(control, tmp_path).prepare(SHARED))
    asked = dict(control.asked)
    assert asked["/tokenize"]["content"] == "<s>Be brief.\n<u>"
    assert asked["/completion"]["prompt"] == [1, 2, 3]
    assert asked["/completion"]["n_predict"] == 0
    assert asked["/slots/0?action=save"] == {"filename": prefix.filename}
    assert prefix.tokens == 3


def test_another_system_text_or_tool_is_another_prefix(tmp_path: Path) -> None:
    async def scenario() -> None:
        cache = PrefixCache(Recorder(), tmp_path)
        prefix = await cache.prepare(SHARED)
        assert cache.find(json.loads(json.dumps(SHARED))) is prefix
        assert cache.find({**SHARED, "tools": [CHAT_TOOL]}) is None
        assert cache.find({"messages": []}) is None

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"apply_template": {"prompt": "the user's text is hidden"}}, "does not show"),
        ({"apply_template": {}}, "does not show"),
        ({"tokenize": {"tokens": []}}, "no tokens"),
    ],
)
def test_a_start_that_cannot_be_known_is_a_fault(tmp_path: Path, answers: dict[str, Any], message: str) -> None:
    with pytest.raises(ControlFault, match=message):
        asyncio.run(PrefixCache(Recorder(**answers), tmp_path).prepare(SHARED))


def test_a_partial_restore_is_a_fault_and_the_prefix_is_forgotten(tmp_path: Path) -> None:
    async def scenario() -> None:
        cache = PrefixCache(Recorder(restore={"n_restored": 2}), tmp_path)
        prefix = await cache.prepare(SHARED)
        with pytest.raises(ControlFault, match="2 tokens of 3"):
            await cache.restore(prefix)
        assert cache.find(SHARED) is None

    asyncio.run(scenario())


def test_the_least_recently_used_prefix_is_dropped_with_its_file(tmp_path: Path) -> None:
    async def scenario() -> None:
        cache = PrefixCache(Recorder(), tmp_path, limit=2)
        parts = [{"messages": [{"role": "system", "content": name}]} for name in "abc"]
        first = await cache.prepare(parts[0])
        second = await cache.prepare(parts[1])
        for prefix in (first, second):
            (tmp_path / prefix.filename).write_bytes(b"")
        cache.find(parts[0])
        await cache.prepare(parts[2])
        assert cache.find(parts[0]) is first
        assert cache.find(parts[1]) is None
        assert [item.name for item in tmp_path.iterdir()] == [first.filename]

    asyncio.run(scenario())
