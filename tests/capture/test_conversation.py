"""One hard conversation through everything: streamed, three rounds, two parallel calls, one malformed in round one.

Captured, followed up, replayed, scored: so that the types are known to bear it.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import callscope
from callscope.contract import Suite, Text, ToolCalls
from callscope.runs import Run
from callscope.suites import load_suite_bytes
from tests.capture.helpers import stand_in_model, suite_files
from tests.stand_in import Reply, Seen, StandIn, stream_of

EVENTS = (("Content-Type", "text/event-stream"),)
BOTH = {
    "id": "two-at-once",
    "prompt": "Check ORD-104821, and everything under sam@example.test.",
    "expected": {
        "kind": "tools",
        "calls": [
            {"name": "lookup_order", "arguments": {"order_id": "ORD-104821"}},
            {"name": "search_orders", "arguments": {"email": "sam@example.test"}},
        ],
    },
}
FAKES = {
    "lookup_order": [
        {"when": {"order_id": "ORD-104821"}, "result": {"ok": True, "order": {"status": "shipped", "n": 2**70}}}
    ],
    "search_orders": [{"result": {"ok": True, "orders": ["é😀"]}}],
}
ROUNDS = [
    [("lookup_order", '{"order_id": "ORD-1048'), ("search_orders", '{"email":"sam@example.test"}')],
    [("lookup_order", '{"order_id":"ORD-104821"}'), ("search_orders", '{"email":"sam@example.test","limit":5}')],
]


def conversation_suite(rounds: int = 4) -> Suite:
    files = suite_files([BOTH], kind="recovery", max_tool_rounds=rounds)
    files["fakes.json"] = json.dumps(FAKES).encode()
    return load_suite_bytes(files, name="small")


def hold(tmp_path: Path, script: list[list[tuple[str, str]]], last: str, rounds: int = 4) -> tuple[Run, list[Seen]]:
    async def go() -> tuple[Run, list[Seen]]:
        replies = iter(script)

        def respond(_: Seen) -> Reply:
            calls = next(replies, None)
            return Reply(headers=EVENTS, parts=stream_of(last) if calls is None else stream_of("One moment.", calls))

        async with StandIn(respond) as server:
            models: list[Any] = [stand_in_model(server.url, stream=True)]
            run = await callscope.arun(conversation_suite(rounds), models=models, out=tmp_path / "run", repeats=1)
            return run, server.seen

    return asyncio.run(go())


def test_the_hard_conversation_is_captured_followed_up_scored_and_replayed(tmp_path: Path) -> None:
    run, seen = hold(tmp_path, ROUNDS, "ORD-104821 has shipped.")
    (derived,) = run.derived()
    (record,) = [record for _, record in run.folder.records()]

    # round one: two parallel calls out of interleaved events, one of them cut off
    assert isinstance(derived.outcome, ToolCalls)
    cut, whole = derived.outcome.calls
    assert (cut.name, cut.arguments) == ("lookup_order", None)
    assert cut.malformed is not None
    assert (cut.malformed.reason, cut.malformed.raw) == ("truncated", '{"order_id": "ORD-1048')
    assert (whole.id, whole.arguments) == ("call_1", {"email": "sam@example.test"})
    assert derived.outcome.text == "One moment."
    assert derived.verdict.selection == "correct_tool"
    assert derived.verdict.structure == "malformed"
    assert derived.verdict.passed is False

    # the raw events are kept, with the arrival of each chunk, and the first call's completion is timed
    first = record.rounds[0].exchanges[0]
    assert first.response == b"".join(stream_of("One moment.", ROUNDS[0]))
    assert len(first.chunks) > 1
    assert [offset for offset, _ in first.chunks] == sorted(offset for offset, _ in first.chunks)
    assert derived.measures.first_call is not None

    # the follow-ups echo what the model said and answer each call by its id
    second = json.loads(seen[1].body)["messages"]
    assert [message["role"] for message in second] == ["system", "user", "assistant", "tool", "tool"]
    assert [message["tool_call_id"] for message in second[3:]] == ["call_0", "call_1"]
    assert json.loads(second[3]["content"])["error"]["code"] == "INVALID_ARGUMENTS"
    third = seen[2].body
    assert b"1180591620717411303424" in third, "a big integer in a tool result arrives whole"
    assert json.loads(third)["messages"][:5] == second
    assert len(json.loads(third)["messages"]) == 8

    # three rounds, ended by prose, the failed call corrected
    assert isinstance(derived.later_outcomes[0], ToolCalls)
    assert isinstance(derived.later_outcomes[1], Text)
    assert derived.verdict.recovery == {
        "tool_rounds": 2,
        "repeated_unchanged": False,
        "corrected": True,
        "ended": "text",
    }
    assert derived.measures.usage.input_tokens == 300
    assert run.check().differing == ()


def test_a_failed_call_repeated_unchanged_ends_the_conversation(tmp_path: Path) -> None:
    run, seen = hold(tmp_path, [[("lookup_order", '{"order_id":"nope"}')]] * 9, "", rounds=8)
    (derived,) = run.derived()
    assert len(seen) == 2
    assert derived.verdict.recovery is not None
    assert derived.verdict.recovery["ended"] == "repeated_call"
    assert derived.verdict.recovery["repeated_unchanged"] is True


def test_the_rounds_are_bounded(tmp_path: Path) -> None:
    script = [[("lookup_order", json.dumps({"order_id": f"bad-{number}"}))] for number in range(9)]
    run, seen = hold(tmp_path, script, "", rounds=3)
    (derived,) = run.derived()
    assert len(seen) == 4
    assert derived.verdict.recovery is not None
    assert (derived.verdict.recovery["tool_rounds"], derived.verdict.recovery["ended"]) == (3, "max_tool_rounds")


def test_a_forced_choice_is_forced_in_the_first_round_only(tmp_path: Path) -> None:
    async def go() -> tuple[Run, list[Seen]]:
        def obedient(seen: Seen) -> Reply:
            forced = seen.json["tool_choice"] != "auto"
            calls = [("lookup_order", '{"order_id":"ORD-104821"}')] if forced else []
            return Reply(headers=EVENTS, parts=stream_of(None if calls else "It has shipped.", calls))

        async with StandIn(obedient) as server:
            models: list[Any] = [stand_in_model(server.url, stream=True)]
            suite = conversation_suite(3)
            run = await callscope.arun(suite, models=models, out=tmp_path / "run", repeats=1, tool_choice="required")
            return run, server.seen

    run, seen = asyncio.run(go())
    (derived,) = run.derived()
    assert [one.json["tool_choice"] for one in seen] == ["required", "auto"]
    assert derived.verdict.recovery is not None
    assert derived.verdict.recovery["ended"] == "text"
    assert any("forced in the first round only" in note for note in derived.notes)
    assert run.check().differing == ()
