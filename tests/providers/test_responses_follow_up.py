"""The next Responses request holds again every item that came, in order, with one output for each call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from items_kit import RESPONSES, added, ask, completed, created, delta, events, fc, item, read, response, results, words

from callscope.contract import Request, ToolCalls, ToolResult
from callscope.errors import InputError
from callscope.providers import with_switches

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x", "vendor": {"n": 2**80}}


def test_all_items_go_back_in_order_and_then_the_outputs() -> None:
    said = words("Let me see.", phase="commentary")
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "x"}}
    one = fc("f", '{"a":  1}', "c1", namespace="tools", caller={"type": "direct"})
    two = fc("g", "{}", "c2", id="fc_2")
    assert added(RESPONSES, response(REASONING, search, said, one, two), results({"ok": True}, "text")) == [
        REASONING,
        search,
        said,
        one,
        two,
        {"type": "function_call_output", "call_id": "c1", "output": '{"ok":true}'},
        {"type": "function_call_output", "call_id": "c2", "output": "text"},
    ]


@pytest.mark.parametrize("arguments", ["{broken", '{}""', '"{\\"a\\": 1}"', " ", '{"a": "\\ud83d"}', "[1]"])
def test_argument_text_goes_back_exactly_as_it_came(arguments: str) -> None:
    assert added(RESPONSES, response(fc(arguments=arguments)), results(1))[0]["arguments"] == arguments


@pytest.mark.parametrize(
    ("arguments", "sent"), [("", "{}"), (None, "{}"), ({"n": 2**80}, '{"n":1208925819614629174706176}')]
)
def test_arguments_that_are_no_text_go_back_as_text(arguments: Any, sent: str) -> None:
    assert added(RESPONSES, response(fc(arguments=arguments)), results(1))[0]["arguments"] == sent


def test_a_custom_tool_is_answered_in_its_own_form() -> None:
    custom = {"type": "custom_tool_call", "id": "x", "call_id": "c1", "name": "sql", "input": ""}
    assert added(RESPONSES, response(custom), results("ok")) == [
        custom,
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"},
    ]


def test_a_stream_goes_back_as_its_final_list() -> None:
    whole = [{**REASONING, "encrypted_content": "final"}, fc(arguments='{"a": 1}')]
    raw = events(
        created(),
        item("added", 0, {**REASONING, "encrypted_content": "early"}),
        item("done", 0, {**REASONING, "encrypted_content": "early"}),
        item("added", 1, fc(arguments="", status="in_progress")),
        delta("function_call_arguments", '{"a": 1}', 1),
        item("done", 1, whole[1]),
        completed(*whole),
    )
    assert added(RESPONSES, raw, results(1))[:2] == whole


def test_a_stream_without_a_final_list_goes_back_as_its_pieces_add_up() -> None:
    raw = events(
        created(),
        item("added", 0, {"type": "message", "id": "msg_1", "content": []}),
        delta("output_text", "Hel"),
        delta("output_text", "lo"),
        delta("refusal", "No.", content_index=1),
        item("added", 1, fc(arguments="", status="in_progress")),
        delta("function_call_arguments", '{"a"', 1),
        delta("function_call_arguments", ": 1}", 1),
        completed(),
    )
    assert added(RESPONSES, raw, results(1))[:2] == [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hello"}, {"type": "refusal", "refusal": "No."}],
        },
        fc(arguments='{"a": 1}', status="in_progress"),
    ]


def test_fields_a_server_refuses_can_be_left_out() -> None:
    before = ask(extra=with_switches({}, {"drop_on_echo": ["id", "status"]}))
    assert added(RESPONSES, response(fc()), results(1), before)[0] == {
        "type": "function_call",
        "call_id": "call_1",
        "name": "f",
        "arguments": "{}",
    }


def test_ids_that_are_missing_or_doubled_are_made_in_calls_and_outputs_alike() -> None:
    entries = [fc(call_id=None), fc(call_id=""), fc(), fc(), {"type": "function_call"}]
    sent = added(RESPONSES, response(*entries), results(1, 2, 3, 4))
    ids = [entry["call_id"] for entry in sent]
    assert ids == ["call_0", "call_2", "call_1", "call_3"] * 2


def test_an_id_of_an_earlier_turn_is_not_used_again() -> None:
    """Servers that count their calls from 0 in every response (Bedrock's Responses endpoint)."""
    raw = json.dumps(response(fc(call_id="call_0"))).encode()
    once = RESPONSES.follow_up(ask(), raw, results(1), stream=False)
    again = added(RESPONSES, raw, results(2), once)
    assert [entry["call_id"] for entry in again] == ["call_1", "call_1"]


@pytest.mark.parametrize("answers", [[], results(1, 2), [ToolResult(1, None, "f", 1)]])
def test_results_that_do_not_fit_the_calls_are_refused(answers: list[ToolResult]) -> None:
    with pytest.raises(InputError, match=r"tool_results\.position"):
        added(RESPONSES, response(fc()), answers)


@pytest.mark.parametrize(
    "raw",
    [b"", b"<html>", {"error": {"message": "no"}}, response(), response({"type": "function_call"}), events(created())],
)
def test_a_response_without_output_cannot_be_followed(raw: Any) -> None:
    with pytest.raises(InputError, match="raw_response: the response holds no output"):
        added(RESPONSES, raw, [])


def test_three_rounds_of_parallel_calls_keep_every_word() -> None:
    conversation: Request = ask()
    said = []
    for number in range(3):
        good, bad = f'{{"n":  {number}}}', f'{{"n": {number}'
        one = fc("set_thermostat", good, "a", id=f"fc_{number}")
        two = fc("ring_bell", bad, None, id=f"fd_{number}")
        raw = json.dumps(response(REASONING, one, two)).encode()
        if number % 2:
            raw = events(
                created(),
                item("done", 0, REASONING),
                item("added", 1, {**one, "arguments": ""}),
                item("added", 2, {**two, "arguments": ""}),
                delta("function_call_arguments", bad[:3], 2),
                delta("function_call_arguments", good, 1),
                delta("function_call_arguments", bad[3:], 2),
                completed(),
            )
        outcome = read(RESPONSES, raw).outcome
        assert isinstance(outcome, ToolCalls)
        answers = [
            ToolResult(position, made.id, made.name, {"ok": made.malformed is None})
            for position, made in enumerate(outcome.calls)
        ]
        conversation = RESPONSES.follow_up(conversation, raw, answers[::-1], stream=bool(number % 2))
        said += [good, bad]
    sent = json.loads(RESPONSES.build(conversation).body)["input"]
    kinds = ["reasoning", "function_call", "function_call", "function_call_output", "function_call_output"]
    assert [entry.get("type") for entry in sent] == [None, *kinds * 3]
    assert [entry["arguments"] for entry in sent if entry.get("type") == "function_call"] == said
    ids = [entry["call_id"] for entry in sent if entry.get("type") == "function_call"]
    assert len(set(ids)) == 6
    assert [entry["call_id"] for entry in sent if entry.get("type") == "function_call_output"] == ids
    outputs = [entry["output"] for entry in sent if entry.get("type") == "function_call_output"]
    assert outputs == ['{"ok":true}', '{"ok":false}'] * 3
    assert json.loads(RESPONSES.build(conversation).body)["instructions"] == "Be brief."


def test_surrogates_and_big_integers_survive_the_whole_way() -> None:
    raw = json.dumps(response(REASONING, fc(arguments='{"a": "\ud83d"}'))).encode()
    after = RESPONSES.follow_up(ask(), raw, results("\ud83d"), stream=False)
    sent = json.loads(RESPONSES.build(after).body)["input"]
    assert sent[1]["vendor"] == {"n": 2**80}
    assert sent[2]["arguments"] == '{"a": "\ud83d"}'
    assert sent[3]["output"] == "\ud83d"
