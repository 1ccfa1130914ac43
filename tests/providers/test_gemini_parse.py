"""One reading from a Gemini response, whole, as events or as an array; the model's own faults are scored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from native_kit import GEMINI, candidate, dump, gemini, part, sse, summary

from callscope.contract import Malformed, ProviderError, Reading, Refusal, Text, ToolCalls, Usage
from callscope.providers import FLAGS


def both(*parts: Any, finish: str | None = "STOP", **more: Any) -> list[Reading]:
    """The same parts read whole, as one event for each part, and as an array of chunks."""
    whole = candidate(*parts, finish=finish, **more)
    chunks = [candidate(one, finish=None) for one in parts[:-1]]
    chunks.append(candidate(*parts[-1:], finish=finish, **more))
    return [gemini(whole), gemini(sse(*chunks), stream=True), gemini(chunks, stream=True)]


def test_calls_text_and_thoughts_are_told_apart_in_every_form() -> None:
    parts = [
        {"text": "hm", "thought": True},
        {"text": "I look. "},
        part("f", {"n": 1}, thoughtSignature="s"),
        part("g", {}, function={"id": "c9"}),
        {"text": "Done."},
    ]
    for reading in both(*parts):
        assert summary(reading) == [(None, "f", {"n": 1}), ("c9", "g", {})]
        assert isinstance(reading.outcome, ToolCalls)
        assert reading.outcome.text == "I look. Done."
        assert reading.outcome.flags == ("missing_id",)
        assert (reading.finish, reading.model) == ("STOP", "gemini-9")


@pytest.mark.parametrize(
    ("function", "arguments", "flag"),
    [
        ({"name": "f"}, {}, "absent_arguments"),
        ({"name": "f", "args": None}, {}, "null_arguments"),
        ({"name": "f", "args": {}}, {}, None),
        ({"name": "f", "args": '{"a": 1}'}, {"a": 1}, "double_encoded"),
        ({"name": "f", "args": [1]}, "not_an_object", None),
        ({"name": "f", "args": {"n": 1e16}}, {"n": 1e16}, "precision_lost"),
        (
            {"name": "f", "args": {"list": [{"n": -9007199254740992.0}]}},
            {"list": [{"n": -(2.0**53)}]},
            "precision_lost",
        ),
        ({"name": "f", "args": {"n": 2.0, "b": True}}, {"n": 2.0, "b": True}, None),
        ({"name": "f", "args": {"n": 2**80}}, {"n": 2**80}, "big_integer"),
        ({"name": "f<|channel|>x", "args": {}}, {}, "template_leak"),
        ({"args": {"a": 1}}, {"a": 1}, "missing_name"),
        ({"name": 7, "args": {}}, {}, "missing_name"),
    ],
)
def test_arguments_are_read_without_repair(function: Any, arguments: Any, flag: str | None) -> None:
    for reading in both({"functionCall": function}):
        [(_, name, read)] = summary(reading)
        assert read == arguments
        assert json.dumps(read) == json.dumps(arguments)
        assert name == (function.get("name") if isinstance(function.get("name"), str) else "")
        assert set(reading.outcome.flags) == {"missing_id", *([flag] if flag else [])}


def test_duplicate_keys_and_surrogates_in_arguments_are_flagged() -> None:
    raw = b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":"\\ud83d","a":"\\ud83d"}}}]}}]}'
    outcome = gemini(raw).outcome
    assert {"duplicate_keys", "lone_surrogate"} <= set(outcome.flags)


def test_an_empty_function_call_says_nothing() -> None:
    assert isinstance(gemini(candidate({"functionCall": {}}, {"text": "a"})).outcome, Text)
    assert gemini(candidate({"functionCall": "f"}, {"text": "a"})).outcome == Text("a", ("unread_items",))


def test_two_calls_of_one_id_are_flagged() -> None:
    outcome = gemini(candidate(part(function={"id": "a"}), part(function={"id": "a"}))).outcome
    assert "duplicate_id" in outcome.flags


UNDECLARED = "Unexpected tool call: Model tried to call an undeclared function: list_files"


@pytest.mark.parametrize(
    ("word", "message", "names"),
    [
        ("MALFORMED_FUNCTION_CALL", "Malformed function call: print(default_api.book(seat='1A'))", ("book",)),
        ("MALFORMED_FUNCTION_CALL", "Malformed function call: print(default_api.book(", ("book",)),
        ("MALFORMED_FUNCTION_CALL", "Malformed function call: call:book{seat:1A", ("book",)),
        ("MALFORMED_FUNCTION_CALL", 'Malformed function call: {"name": "book", "args": {"a": 1}}', ("book",)),
        ("MALFORMED_FUNCTION_CALL", "", ("",)),
        ("UNEXPECTED_TOOL_CALL", UNDECLARED, ("list_files",)),
        ("TOO_MANY_TOOL_CALLS", "Too many.", ("",)),
        ("INVALID_TOOL_CALL", "", ("",)),
    ],
)
def test_a_call_gemini_would_not_make_is_a_malformed_attempt(word: str, message: str, names: tuple[str, ...]) -> None:
    for value in ({"content": {}, "finishMessage": message}, {"finishMessage": message}, {}):
        shown = message if value.get("finishMessage") else ""
        body = {"candidates": [{**value, "finishReason": word}]}
        for reading in (gemini(body), gemini(sse(body), stream=True)):
            outcome = reading.outcome
            assert isinstance(outcome, ToolCalls)
            assert [call.name for call in outcome.calls] == list(names if shown else ("",))
            assert {call.malformed for call in outcome.calls} == {Malformed(word, shown)}
            assert "provider_rejected_call" in outcome.flags
            assert reading.finish == word


def test_a_call_that_came_beside_such_a_word_is_not_trusted() -> None:
    for reading in both(part("f", {"a": 1}), part("g"), finish="MALFORMED_FUNCTION_CALL"):
        assert isinstance(reading.outcome, ToolCalls)
        assert [(c.name, c.malformed) for c in reading.outcome.calls] == [
            ("f", Malformed("MALFORMED_FUNCTION_CALL", '{"a":1}')),
            ("g", Malformed("MALFORMED_FUNCTION_CALL", "{}")),
        ]
    [read] = summary(gemini(candidate(part("list_files", {}), finish="UNEXPECTED_TOOL_CALL", finishMessage=UNDECLARED)))
    assert read == (None, "list_files", "UNEXPECTED_TOOL_CALL")
    said = gemini({"candidates": [{"content": {"parts": [{"text": "x("}]}, "finishReason": "MALFORMED_FUNCTION_CALL"}]})
    assert isinstance(said.outcome, ToolCalls)
    assert (said.outcome.calls[0].malformed, said.outcome.text) == (Malformed("MALFORMED_FUNCTION_CALL", "x("), "x(")


def test_a_response_said_to_be_malformed_keeps_what_came() -> None:
    assert gemini(candidate({"text": "a"}, finish="MALFORMED_RESPONSE")).outcome == Text("a", ("malformed_output",))
    [(_, _, reason)] = summary(gemini(candidate(part("f", {}), finish="MALFORMED_RESPONSE")))
    assert reason == "MALFORMED_RESPONSE"


def test_a_missing_thought_signature_is_our_fault_and_no_answer() -> None:
    reading = gemini(candidate(finish="MISSING_THOUGHT_SIGNATURE", finishMessage="no signature"))
    assert reading.outcome == ProviderError("provider_error", "MISSING_THOUGHT_SIGNATURE", "no signature")
    assert not reading.limits.retryable


@pytest.mark.parametrize("finish", ["MAX_TOKENS"])
def test_a_cut_answer_is_flagged(finish: str) -> None:
    assert gemini(candidate({"text": "Paris is"}, finish=finish)).outcome == Text("Paris is", ("truncated",))
    empty = {"candidates": [{"content": {"role": "model"}, "finishReason": finish}]}
    assert gemini(empty).outcome == Text("", ("empty_text", "truncated"))
    calls = gemini(candidate(part("f", {"a": 1}), finish=finish))
    assert summary(calls) == [(None, "f", {"a": 1})]
    assert "truncated" in calls.outcome.flags


@pytest.mark.parametrize(
    "word",
    ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "IMAGE_SAFETY", "LANGUAGE"],
)
def test_an_answer_withheld_is_a_refusal(word: str) -> None:
    assert gemini({"candidates": [{"finishReason": word}]}).outcome == Refusal(None, ("content_filter",))
    said = gemini(candidate({"text": "I can"}, finish=word, finishMessage="blocked"))
    assert said.outcome == Refusal("I can", ("content_filter",))
    explained = gemini({"candidates": [{"finishReason": word, "finishMessage": "blocked"}]})
    assert (explained.outcome, explained.finish) == (Refusal("blocked", ("content_filter",)), word)
    beside = gemini(candidate(part("f", {}), finish=word))
    assert isinstance(beside.outcome, ToolCalls)
    assert "content_filter" in beside.outcome.flags


def test_a_prompt_not_let_through_is_a_refusal() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
    for reading in (gemini(blocked), gemini(sse(blocked), stream=True)):
        assert reading.outcome == Refusal(None, ("content_filter",))
        assert (reading.finish, reading.usage) == ("PROHIBITED_CONTENT", Usage(9, 0))
    armor = {"promptFeedback": {"blockReason": "MODEL_ARMOR", "blockReasonMessage": "Blocked by policy."}}
    assert gemini(armor).outcome == Refusal("Blocked by policy.", ("content_filter",))
    rated = {"promptFeedback": {"safetyRatings": []}, **candidate({"text": "a"})}
    assert gemini(rated).outcome == Text("a")


@pytest.mark.parametrize("word", ["OTHER", "NO_IMAGE", "SOMETHING_NEW"])
def test_an_unknown_ending_is_kept_and_what_came_is_read(word: str) -> None:
    reading = gemini(candidate(part("f", {}), finish=word))
    assert isinstance(reading.outcome, ToolCalls)
    assert ("unknown_finish" in reading.outcome.flags, reading.finish) == (True, word)
    assert gemini(candidate({"text": "a"}, finish=word)).outcome == Text("a", ("unknown_finish",))


def test_text_that_only_looks_like_a_call_earns_nothing() -> None:
    written = gemini(candidate({"text": "```tool_code\nprint(default_api.f(a=1))\n```"}))
    assert isinstance(written.outcome, Text)
    assert written.outcome.flags == ("text_tool_call",)
    thought = gemini(candidate({"text": '<tool_call>{"name": "f", "arguments": {}}</tool_call>', "thought": True}))
    assert thought.outcome == Text("", ("empty_text", "reasoning_tool_call"))


def test_server_side_parts_are_no_text_and_no_call() -> None:
    parts = [
        {"executableCode": {"code": "print(1)"}, "thoughtSignature": "s"},
        {"codeExecutionResult": {"output": "1"}},
        {"toolCall": {"id": "x"}},
        {"thoughtSignature": "s"},
        {"text": "1"},
    ]
    for reading in both(*parts):
        assert reading.outcome == Text("1", ("unread_items",))
    assert gemini(candidate({"thoughtSignature": "s"}, {"text": "1"}, "odd")).outcome == Text("1")


def test_only_the_first_candidate_is_read() -> None:
    first, second = candidate({"text": "a"})["candidates"][0], candidate({"text": "b"})["candidates"][0]
    assert gemini({"candidates": [first, second]}).outcome == Text("a", ("multiple_choices",))
    stream = sse({"candidates": [{**first, "index": 0}]}, {"candidates": [{**second, "index": 1}]})
    assert gemini(stream, stream=True).outcome == Text("a", ("multiple_choices",))


def piece(*partial: Any, more: bool = True, **function: Any) -> dict[str, Any]:
    """A chunk with one piece of a call; `partial` are (path, value, willContinue)."""
    pieces = [{"jsonPath": path, **value, **({"willContinue": True} if goes else {})} for path, value, goes in partial]
    body = {**function, **({"partialArgs": pieces} if pieces else {}), **({"willContinue": True} if more else {})}
    return candidate({"functionCall": body}, finish=None)


def text(path: str, value: str, goes: bool = False) -> tuple[str, dict[str, Any], bool]:
    return (path, {"stringValue": value}, goes)


def test_arguments_that_come_leaf_by_leaf_are_put_together() -> None:
    first = piece(name="book")
    first["candidates"][0]["content"]["parts"][0]["thoughtSignature"] = "sig"
    chunks = [
        first,
        piece(text("$.trip.stops[0].name", "Os", goes=True)),
        piece(text("$.trip.stops[0].name", "lo", goes=True)),
        piece(text("$.trip.stops[0].name", "")),
        piece(("$.trip.stops[1]['platform.no']", {"numberValue": 4.5}, False)),
        piece(('$["ret\\"urn"]', {"boolValue": True}, False), ("$.note", {"nullValue": None}, False)),
        piece(("$.tags", {"listValue": ["a"]}, False), more=False),
        piece(more=False),
        piece(name="book", id="c2"),
        piece(text("$.seat", "1A"), more=False),
        candidate({"text": ""}),
    ]
    reading = gemini(sse(*chunks), stream=True)
    trip = {"stops": [{"name": "Oslo"}, {"platform.no": 4.5}]}
    assert summary(reading) == [
        (None, "book", {"trip": trip, 'ret"urn': True, "note": None, "tags": ["a"]}),
        ("c2", "book", {"seat": "1A"}),
    ]
    assert reading.first_call_at == len(sse(*chunks[:7]))


def test_a_call_left_open_is_whole_only_where_the_answer_ended_well() -> None:
    chunks = [piece(name="f"), piece(text("$.a", "b", goes=True))]
    well = gemini(sse(*chunks, candidate({"text": "x"})), stream=True)
    assert summary(well) == [(None, "f", {"a": "b"})]
    cut = gemini(sse(*chunks, candidate(finish="MAX_TOKENS")), stream=True)
    assert isinstance(cut.outcome, ToolCalls)
    assert cut.outcome.calls[0].malformed == Malformed("truncated", '{"a":"b"}')
    assert "truncated" in cut.outcome.flags


def test_a_call_left_open_by_a_malformed_ending_is_malformed() -> None:
    word = "MALFORMED_FUNCTION_CALL"
    for place, reason in (("$.a", word), ("$.", "unreadable_piece")):
        cut = gemini(sse(piece(text(place, "b", goes=True), name="f"), candidate(finish=word)), stream=True)
        assert [read for _, _, read in summary(cut)] == [reason]
        assert "truncated" not in cut.outcome.flags


def test_a_new_name_ends_the_call_before_it() -> None:
    chunks = [piece(name="f"), piece(name="g", args={"b": 1}), piece(args={"c": 2}, more=False), candidate()]
    assert summary(gemini(sse(*chunks), stream=True)) == [(None, "f", {}), (None, "g", {"b": 1, "c": 2})]


@pytest.mark.parametrize(
    "path",
    ["", "$", "a.b", "$.", "$..a", "$[2]", "$.a[2]", "$.a[0].b.c", "$.s.x", "$.s[0]", "$.a[9999999]", 7, None],
)
def test_a_piece_that_fits_nowhere_makes_the_call_malformed(path: Any) -> None:
    chunks = [
        piece(("$.a[0].b", {"numberValue": 1}, False), text("$.s", "x"), name="f"),
        piece((path, {"numberValue": 2}, False), more=False),
        candidate(),
    ]
    [(_, _, reason)] = summary(gemini(sse(*chunks), stream=True))
    assert reason == "unreadable_piece"


@pytest.mark.parametrize("pieces", ["text", [7], [{"jsonPath": "$.a"}], [{"jsonPath": "$.a", "stringValue": 7}]])
def test_pieces_of_another_shape_never_raise(pieces: Any) -> None:
    chunk = candidate({"functionCall": {"name": "f", "partialArgs": pieces}})
    [(_, name, _)] = summary(gemini(sse(chunk), stream=True))
    assert name == "f"


def test_a_stream_says_where_its_first_call_was_complete() -> None:
    chunks = [candidate({"text": "a"}, finish=None), candidate(part("f", {}), finish=None), candidate(part("g", {}))]
    assert gemini(sse(*chunks), stream=True).first_call_at == len(sse(*chunks[:2]))
    assert gemini(candidate(part("f", {}))).first_call_at is None
    assert gemini(chunks, stream=True).first_call_at == len(dump(chunks))


def test_what_was_asked_for_and_what_came_are_compared() -> None:
    assert gemini(candidate({"text": "a"}), stream=True).outcome == Text("a", ("not_streamed",))
    assert gemini(sse(candidate({"text": "a"}))).outcome == Text("a", ("streamed_unasked",))
    assert gemini([candidate({"text": "a"})], stream=True).outcome == Text("a")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (sse(candidate({"text": "a"}, finish=None)), "stream_cut"),
        (sse(candidate({"text": "a"}))[:-30], "stream_cut"),
        (dump([candidate({"text": "a"})])[:-4], "truncated_body"),
        (b"", "empty_body"),
        (b"<html>busy</html>", "html_body"),
        (b"oops", "not_json"),
        (dump({"usageMetadata": {"promptTokenCount": 3}}), "no_message"),
        (dump({"candidates": []}), "no_message"),
        (dump({"candidates": "x"}), "no_message"),
        (dump({"candidates": ["x"]}), "no_message"),
        (b"[]", "no_message"),
        (b"{}", "no_message"),
    ],
)
def test_what_holds_no_answer_is_a_provider_error(raw: bytes, code: str) -> None:
    reading = gemini(raw, stream=raw.startswith((b"data", b"[")))
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.code, reading.outcome.category) == (code, "provider_error")
    assert reading.limits.retryable


def failure(code: int, status: str, message: str, *details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}
SPENT = "You exceeded your current quota, please check your plan and billing details."


def per(unit: str) -> dict[str, Any]:
    return {"violations": [{"quotaId": f"GenerateRequestsPer{unit}PerProjectPerModel-FreeTier"}, "odd"]}


@pytest.mark.parametrize(
    ("body", "category", "flags", "retryable", "wait"),
    [
        (failure(400, "INVALID_ARGUMENT", "Request contains an invalid argument."), "schema_rejected", (), False, None),
        (
            failure(400, "INVALID_ARGUMENT", 'Invalid JSON payload received. Unknown name "uniqueItems" at …'),
            "schema_rejected",
            (),
            False,
            None,
        ),
        (
            failure(400, "INVALID_ARGUMENT", "The specified schema produces a constraint that has too many states."),
            "schema_rejected",
            (),
            False,
            None,
        ),
        (
            failure(400, "INVALID_ARGUMENT", "API key not valid.", {"reason": "API_KEY_INVALID"}),
            "authentication_error",
            (),
            False,
            None,
        ),
        (
            failure(400, "INVALID_ARGUMENT", "Thinking level MINIMAL is not supported for this model."),
            "provider_error",
            ("unsupported_parameter",),
            False,
            None,
        ),
        (
            failure(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum."),
            "provider_error",
            ("context_length",),
            False,
            None,
        ),
        (failure(403, "PERMISSION_DENIED", "No."), "authentication_error", (), False, None),
        (failure(404, "NOT_FOUND", "models/x is not found"), "provider_error", (), False, None),
        (failure(429, "RESOURCE_EXHAUSTED", "Resource exhausted."), "rate_limited", (), True, None),
        (failure(429, "RESOURCE_EXHAUSTED", SPENT, per("Minute"), RETRY), "rate_limited", (), True, 34.4),
        (failure(429, "RESOURCE_EXHAUSTED", SPENT, per("Day"), RETRY), "rate_limited", ("quota",), False, 34.4),
        (failure(429, "RESOURCE_EXHAUSTED", SPENT), "rate_limited", ("quota",), False, None),
        (failure(500, "INTERNAL", "Internal error."), "provider_error", (), True, None),
        (failure(503, "UNAVAILABLE", "The model is overloaded."), "provider_error", ("overloaded",), True, None),
        (failure(504, "DEADLINE_EXCEEDED", "Deadline expired."), "timeout", (), True, None),
    ],
)
def test_errors_have_their_category_and_their_cause(
    body: Any, category: str, flags: tuple[str, ...], retryable: bool, wait: float | None
) -> None:
    code = body["error"]["code"]
    for raw in (body, [body]):
        reading = gemini(raw, code)
        assert isinstance(reading.outcome, ProviderError)
        assert (reading.outcome.category, reading.outcome.code, reading.outcome.flags) == (
            category,
            body["error"]["status"],
            flags,
        )
        assert (reading.limits.retryable, reading.limits.retry_after_s) == (retryable, wait)
    inside = gemini(sse(candidate({"text": "a"}, finish=None), body), stream=True).outcome
    assert isinstance(inside, ProviderError)
    assert inside.category == category


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({}, Usage()),
        ({"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13}, Usage(10, 3)),
        (
            {"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 4, "cachedContentTokenCount": 6},
            Usage(10, 7, 4, 6),
        ),
        ({"promptTokenCount": 10, "thoughtsTokenCount": 4}, Usage(10, 4, 4)),
        ({"promptTokenCount": 10, "toolUsePromptTokenCount": 5}, Usage(15, 0)),
        ({"candidatesTokenCount": 3}, Usage(None, 3)),
        ({"thoughtsTokenCount": 3}, Usage(None, 3, 3)),
        ({"toolUsePromptTokenCount": 3}, Usage(3)),
        ({"trafficType": "ON_DEMAND", "promptTokenCount": "x"}, Usage()),
    ],
)
def test_thoughts_count_as_output_and_server_tools_as_input(usage: Any, read: Usage) -> None:
    assert gemini({**candidate({"text": "a"}), "usageMetadata": usage}).usage == read


def test_the_last_counts_of_a_stream_stand() -> None:
    counts = [
        {"trafficType": "ON_DEMAND"},
        {"promptTokenCount": 1, "candidatesTokenCount": 9},
        {"promptTokenCount": 5, "thoughtsTokenCount": 2, "totalTokenCount": 7},
        {"trafficType": "ON_DEMAND"},
    ]
    chunks = [{**candidate({"text": "a"}), "usageMetadata": usage} for usage in counts]
    assert gemini(sse(*chunks), stream=True).usage == Usage(5, 2, 2)


KEYS = [
    "candidates",
    "content",
    "parts",
    "functionCall",
    "name",
    "args",
    "id",
    "partialArgs",
    "jsonPath",
    "stringValue",
    "willContinue",
    "text",
    "finishReason",
    "finishMessage",
    "promptFeedback",
    "blockReason",
    "usageMetadata",
    "promptTokenCount",
    "error",
    "index",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
STATUSES = st.sampled_from([200, 204, 302, 400, 429, 500, 503, 999])


@given(st.binary(max_size=200), STATUSES, st.booleans())
def test_any_bytes_are_read(raw: bytes, status: int, stream: bool) -> None:
    assert set(GEMINI.parse(status, {}, raw, stream=stream).outcome.flags) <= FLAGS.keys()


@given(st.lists(JSON, min_size=1, max_size=3), STATUSES, st.booleans(), st.sampled_from(["one", "array", "events"]))
def test_any_values_are_read(values: list[Any], status: int, stream: bool, form: str) -> None:
    raw = {"one": dump(values[0]), "array": dump(values), "events": sse(*values)}[form]
    assert set(GEMINI.parse(status, {}, raw, stream=stream).outcome.flags) <= FLAGS.keys()


@given(st.integers(0, 2**20))
def test_a_stream_cut_anywhere_gives_no_wrong_call(seed: int) -> None:
    whole = sse(candidate({"text": "a"}, finish=None), candidate(part("f", {"a": "b"})))
    cut = whole[: seed % len(whole)]
    outcome = GEMINI.parse(200, {}, cut, stream=True).outcome
    calls = isinstance(outcome, ToolCalls)
    assert isinstance(outcome, ProviderError) or (
        calls and summary(gemini(cut, stream=True)) == [(None, "f", {"a": "b"})]
    )
