"""Derive is a pure function of a record and a suite: the same from any order, total over whatever was recorded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from callscope.capture.verdicts import decode_derived, encode_derived
from callscope.contract import (
    ArgumentRules,
    Derived,
    Exchange,
    ExpectedCall,
    ExpectTools,
    Message,
    ProviderError,
    Record,
    Round,
    Text,
    Timing,
    ToolCalls,
    ToolResult,
    TransportFault,
    TrialKey,
    Turn,
    Usage,
)
from callscope.derive import cost_of, derive, observed, read_record
from tests.capture.helpers import small_suite
from tests.stand_in import completion, stream_of

SUITE = small_suite()
CASE = SUITE.cases[0]
RIGHT = [("lookup_order", '{"order_id":"ORD-100000"}')]


def exchange(body: bytes = b"", **more: Any) -> Exchange:
    settings = {
        "attempt": 1,
        "method": "POST",
        "url": "http://127.0.0.1/v1",
        "request_headers": (),
        "request": b"{}",
        "started_at": "2026-12-01T00:00:00.000Z",
        "status": 200,
        "response_headers": (),
        "response": body,
        "timing": Timing(queued=1.5, total=20.0, first_byte=12.0),
    }
    return Exchange(**{**settings, **more})


def record(*rounds: Round, **more: Any) -> Record:
    key = TrialKey("small", "auto", "m", CASE.id, 0)
    settings = {"key": key, "api": "openai-chat", "stream": False, "started_at": "x", "rounds": rounds}
    return Record(**{**settings, **more})


def test_a_right_call_passes_with_its_measures() -> None:
    derived = derive(
        record(Round((exchange(completion(None, RIGHT)),))), CASE, SUITE, prices={"input": 2.0, "output": 10.0}
    )
    assert derived.verdict.passed is True
    assert derived.measures.latency == 20.0
    assert derived.measures.queued == 1.5
    assert derived.measures.attempts == 1
    assert derived.measures.cost == pytest.approx((100 * 2 + 20 * 10) / 1e6)
    assert derived.measures.first_call is None


def test_only_the_last_attempt_of_a_round_is_judged() -> None:
    attempts = (exchange(b"busy", status=503), exchange(completion(None, RIGHT), attempt=2))
    derived = derive(record(Round(attempts)), CASE, SUITE)
    assert derived.verdict.passed is True
    assert derived.measures.attempts == 2
    assert derived.measures.queued == 3.0


@pytest.mark.parametrize(("attempts", "rounds"), [((1,), 1), ((3,), 1), ((1, 1), 2), ((2, 1), 2), ((1, 0), 1)], ids=str)
def test_rounds_and_attempts_are_counted_apart(attempts: tuple[int, ...], rounds: int) -> None:
    held = [Round(tuple(exchange(completion(None, RIGHT), attempt=i + 1) for i in range(n))) for n in attempts]
    measures = derive(record(*held), CASE, SUITE).measures
    assert (measures.attempts, measures.rounds) == (sum(attempts), rounds)


def test_the_first_call_of_a_stream_is_timed_by_the_chunk_that_completed_it() -> None:
    parts = stream_of(None, RIGHT)
    offsets, at = [], 0
    for place, part in enumerate(parts):
        offsets.append((at, float(place)))
        at += len(part)
    one = exchange(b"".join(parts), chunks=tuple(offsets))
    derived = derive(record(Round((one,)), stream=True), CASE, SUITE)
    assert derived.measures.first_call is not None
    assert 0 < derived.measures.first_call < len(parts)
    without = derive(record(Round((exchange(b"".join(parts)),)), stream=True), CASE, SUITE)
    assert without.measures.first_call is None


FAULT = TransportFault("timeout", "timeout_total", "late")
NOT_OBSERVED = {
    "transport fault": (record(Round((exchange(fault=FAULT),))), "timeout"),
    "nothing recorded": (record(Round((exchange(status=None),))), "harness_error"),
    "no attempt": (record(Round(())), "harness_error"),
    "no round": (record(), "harness_error"),
    "our own fault": (record(harness_error="ValueError: x"), "harness_error"),
    "our own fault after a round": (
        record(Round((exchange(completion(None, RIGHT)),)), harness_error="x"),
        "harness_error",
    ),
    "a provider's error": (record(Round((exchange(b"{}", status=401),))), "authentication_error"),
}


@pytest.mark.parametrize(("one", "acceptance"), NOT_OBSERVED.values(), ids=NOT_OBSERVED.keys())
def test_what_was_not_observed_is_neither_right_nor_wrong(one: Record, acceptance: str) -> None:
    derived = derive(one, CASE, SUITE)
    assert (derived.verdict.acceptance, derived.verdict.passed) == (acceptance, None)
    assert not observed(one)


def test_a_fault_of_ours_in_a_later_round_keeps_the_first_rounds_verdict_but_is_not_observed() -> None:
    called = Round((exchange(completion(None, RIGHT)),), (ToolResult(0, "call_0", "lookup_order", {"ok": True}),))
    one = record(called, Round((exchange(completion("done")),)), harness_error="x")
    readings = read_record(one)
    assert len(readings) == 3
    assert isinstance(readings[-1].outcome, ProviderError)
    assert not observed(one)
    assert derive(one, CASE, SUITE).verdict.selection == "correct_tool"


def test_a_conversation_adds_up_usage_and_hashes_all_rounds() -> None:
    called = Round((exchange(completion(None, RIGHT)),), (ToolResult(0, "call_0", "lookup_order", {"ok": True}),))
    one = derive(record(called, Round((exchange(completion("shipped")),))), CASE, SUITE)
    other = derive(record(called, Round((exchange(completion("not shipped")),))), CASE, SUITE)
    alone = derive(record(Round((exchange(completion(None, RIGHT)),))), CASE, SUITE)
    assert one.measures.usage == Usage(input_tokens=200, output_tokens=40)
    assert one.measures.text_hash != other.measures.text_hash
    assert one.measures.outcome_hash != alone.measures.outcome_hash
    assert one.verdict.recovery is not None
    assert len(one.later_outcomes) == 1


UNREAD = (
    b'{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format"}}'
)


def unread(*words: str, repeat: int = 0) -> Derived:
    one = record(
        Round((exchange(UNREAD, status=500),)),
        key=TrialKey("small", "auto", "m", CASE.id, repeat),
        notes=("prefix not restored: x", *(f"unparsed by the server: {each}" for each in words)),
    )
    return derive(one, CASE, SUITE)


def test_what_a_server_could_not_read_is_judged_by_the_models_words_where_a_note_has_them() -> None:
    wrong = unread('{"name": "find_order", "arguments": {"a": 1}}')
    assert isinstance(wrong.outcome, ToolCalls)
    assert wrong.outcome.calls[0].name == "find_order"
    assert wrong.verdict.selection == "wrong_tool"
    right = unread('{"name": "lookup_order", "arguments": {')
    assert (right.verdict.selection, right.verdict.structure) == ("correct_tool", "malformed")
    assert unread("```").verdict.selection == "no_call_when_expected"
    assert unread("```", "more").outcome == Text("```", ("provider_rejected_call",))


def test_two_answers_whose_words_are_lost_are_not_the_same_answer() -> None:
    lost = [unread(repeat=repeat) for repeat in (0, 1, 0)]
    assert all("model_words_lost" in each.outcome.flags for each in lost)
    hashes = [each.measures.outcome_hash for each in lost]
    assert hashes[0] == hashes[2] != hashes[1]
    known = [unread("{'name': 'f", repeat=repeat).measures.outcome_hash for repeat in (0, 1)]
    assert known[0] == known[1] != unread("{'name': 'g").measures.outcome_hash


def test_the_repair_track_stands_beside_the_verdict_and_never_in_it() -> None:
    text = '<tool_call>{"name": "functions.lookup_order", "arguments": {"order_id": "ORD-100000"}}</tool_call>'
    derived = derive(record(Round((exchange(completion(text)),))), CASE, SUITE)
    assert (derived.verdict.passed, derived.verdict.selection) == (False, "no_call_when_expected")
    assert isinstance(derived.outcome, Text)
    repaired = derived.repaired
    assert repaired is not None
    assert [step.name for step in repaired.steps] == ["text_call", "name_prefix"]
    assert (repaired.selection, repaired.structure, repaired.semantics) == ("correct_tool", "valid", "exact")
    assert (repaired.attribution, repaired.violations, repaired.passed) == ("correct", (), True)
    assert isinstance(repaired.outcome, ToolCalls)
    assert decode_derived(encode_derived(derived)) == derived


def test_what_needs_no_repair_has_none() -> None:
    for body in (completion(None, RIGHT), completion("Which order?"), completion(None, [("fly", "{}")])):
        assert derive(record(Round((exchange(body),))), CASE, SUITE).repaired is None
    beside = [*RIGHT, ("functions.lookup_order", RIGHT[0][1])]
    repaired = derive(record(Round((exchange(completion(None, beside)),))), CASE, SUITE).repaired
    assert repaired is not None
    assert repaired.violations == ("extra_call",)


@given(body=st.binary(max_size=300), status=st.integers(100, 599), stream=st.booleans())
def test_derive_is_total_over_recorded_bytes(body: bytes, status: int, stream: bool) -> None:
    one = record(Round((exchange(body, status=status),)), stream=stream)
    assert derive(one, CASE, SUITE) == derive(one, CASE, SUITE)


@pytest.mark.parametrize(
    ("usage", "prices", "cost"),
    [
        (Usage(1_000_000, 0), {"input": 3.0, "output": 5.0}, 3.0),
        (Usage(0, 1_000_000), {"input": 3.0, "output": 5.0}, 5.0),
        (Usage(1_000_000, 0, None, 400_000), {"input": 3.0, "output": 5.0, "cached_input": 1.0}, 2.2),
        (Usage(1_000_000, 0, None, 400_000), {"input": 3.0, "output": 5.0}, 3.0),
        (Usage(None, 10), {"input": 3.0, "output": 5.0}, None),
        (Usage(10, None), {"input": 3.0, "output": 5.0}, None),
        (Usage(10, 10), {"input": 3.0}, None),
        (Usage(10, 10), {}, None),
        (Usage(0, 0), {"input": 3.0, "output": 5.0}, 0.0),
    ],
)
def test_cost_is_exact_or_unknown_never_guessed(usage: Usage, prices: dict[str, float], cost: float | None) -> None:
    assert cost_of(usage, prices) == cost


def test_a_recorded_conversation_is_judged_turn_by_turn_beside_what_its_benchmark_says() -> None:
    """The record of an imported answer: its own reader, one round a turn, and the other checker's word."""
    wanted = ExpectedCall("lookup_order", ArgumentRules({"order_id": "ORD-100000"}))
    asked = (Message("user", "Where is ORD-100000?"),)
    case = structs.replace(
        CASE,
        expected=ExpectTools((wanted,)),
        turns=(Turn(asked, (wanted,)), Turn((Message("user", "Thanks."),))),
        metadata={"benchmark": {"name": "bfcl", "category": "multi_turn_base", "language": "python"}},
    )
    told = [b'{"id": "x", "turn": 0, "result": [[{"lookup_order": "{\\"order_id\\": \\"ORD-100000\\"}"}]]}']
    told.append(b'{"id": "x", "turn": 1, "result": ["You are welcome."]}')
    derived = derive(record(*(Round((exchange(part),)) for part in told), api="recorded/bfcl"), case, SUITE)
    assert [turn["passed"] for turn in derived.verdict.evidence["turns"]] == [True, True]
    assert (derived.verdict.passed, len(derived.later_outcomes)) == (True, 1)
    assert derived.compatible_passed is None
    assert isinstance(derived.compatible, dict)
    assert derived.compatible["checker"] == "bfcl"
    assert decode_derived(encode_derived(derived)) == derived


def test_a_case_of_no_benchmark_has_no_second_verdict() -> None:
    line = encode_derived(derive(record(Round((exchange(completion(None, RIGHT)),))), CASE, SUITE))
    assert b"compatible" not in line
