"""Published bug reports, one by one: what came over the wire, and how it must be read.

Numbers are those of the corpus of reported tool-calling faults that this project was started with.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from providers_kit import CHAT, body, call, calling, chunk, error, events, parse, piece, request, stream, summary

from callscope.contract import Malformed, NativeMessage, ProviderError, Refusal, Text, ToolCall, ToolCalls, ToolResult

EMPTY: dict[str, Any] = {}

# (number, report, wire, calls as (id, name, arguments or malformed reason), flags)
CALLS = [
    (1, "vllm#19419", calling(call(arguments="")), [("c1", "f", EMPTY)], {"empty_arguments"}),
    (
        2,
        "langchain#27602",
        stream(piece(0, id="c1", name="f", arguments="")),
        [("c1", "f", EMPTY)],
        {"empty_arguments"},
    ),
    (
        3,
        "litellm#4440",
        stream(piece(0, id="c1", name="f", arguments=None), piece(0, arguments='{"a":'), piece(0, arguments="1}")),
        [("c1", "f", {"a": 1})],
        set(),
    ),
    (
        3,
        "litellm#4440, null and never more",
        stream(piece(0, id="c1", name="f", arguments=None)),
        [("c1", "f", EMPTY)],
        {"null_arguments"},
    ),
    (4, "inspect_ai#4822", calling(call(arguments='{}""')), [("c1", "f", "extra_data")], set()),
    (5, "inspect_ai#1874", calling(call(arguments=None)), [("c1", "f", EMPTY)], {"null_arguments"}),
    (6, "kimi-cli#2407", calling(call(arguments='{"a": "[1]"}')), [("c1", "f", {"a": "[1]"})], set()),
    (7, "livekit#5411", calling(call(arguments=json.dumps('{"a": 1}'))), [("c1", "f", {"a": 1})], {"double_encoded"}),
    (8, "vllm#54964, inner text no object", calling(call(arguments='"{"')), [("c1", "f", "not_an_object")], set()),
    (
        10,
        "smolagents#1958",
        stream(piece(0, id="a", name="f", arguments='{"x":1}'), piece(0, id="b", name="g", arguments='{"y":2}')),
        [("a", "f", {"x": 1}), ("b", "g", {"y": 2})],
        {"shared_index"},
    ),
    (
        10,
        "smolagents#1958 with the same id too",
        stream(piece(0, id="a", name="f", arguments='{"x":1}'), piece(0, id="a", name="g", arguments='{"y":2}')),
        [("a", "f", {"x": 1}), ("a", "g", {"y": 2})],
        {"shared_index", "duplicate_id"},
    ),
    (
        11,
        "litellm#21331 as its stream",
        stream(piece(0, id="a", name="f", arguments='{"x":1}'), piece(0, name="g", arguments='{"y":2}')),
        [("a", "f", {"x": 1}), (None, "g", {"y": 2})],
        {"shared_index", "missing_id"},
    ),
    (
        11,
        "litellm#21331 merged by the relay",
        calling(call("get_xget_x", '{"x":1} {"x":2}')),
        [("c1", "get_x", {"x": 1}), (None, "get_x", {"x": 2})],
        {"split_calls", "missing_id"},
    ),
    (
        12,
        "hermes-agent#63015",
        stream(piece(id="", name="f", arguments='{"x":1}'), piece(id="", name="f", arguments='{"x":2}')),
        [(None, "f", {"x": 1}), (None, "f", {"x": 2})],
        {"missing_index", "missing_id"},
    ),
    (
        13,
        "vllm#18412",
        stream(piece(0, name="f"), piece(0, arguments="{}"), piece(1, name="g"), piece(1, arguments="{}")),
        [(None, "f", EMPTY), (None, "g", EMPTY)],
        {"missing_id"},
    ),
    (
        14,
        "pipecat#4987",
        stream(piece(1, id="a", name="f", arguments="{"), piece(1, arguments="}")),
        [("a", "f", EMPTY)],
        set(),
    ),
    (
        15,
        "vercel/ai#19178",
        stream(piece(0, id="a", name="f"), piece(0, arguments='{"x"'), piece(0, arguments=":1}")),
        [("a", "f", {"x": 1})],
        set(),
    ),
    (16, "llama.cpp#11992", calling(call(id="")), [(None, "f", EMPTY)], {"missing_id"}),
    (17, "gpt-oss#308", calling(call(), call("g")), [("c1", "f", EMPTY), ("c1", "g", EMPTY)], {"duplicate_id"}),
    (23, "maki#505", calling(call("functions.bash")), [("c1", "functions.bash", EMPTY)], set()),
    (
        24,
        "ollama#12132",
        calling(call("f<|channel|>analysis")),
        [("c1", "f<|channel|>analysis", EMPTY)],
        {"template_leak"},
    ),
    (26, "vllm#25054", calling(call(), finish="stop"), [("c1", "f", EMPTY)], set()),
    (
        28,
        "pydantic-ai#3118",
        calling(call(arguments='{"a": "b'), finish="length"),
        [("c1", "f", "truncated")],
        {"truncated"},
    ),
    (29, "hermes-agent#7693", calling(call(arguments='{"a": "b')), [("c1", "f", "truncated")], {"truncated"}),
    (30, "OpenHands#2488", calling(call(arguments='{\\n"a": 1}')), [("c1", "f", "syntax")], set()),
    (31, "kimi-cli#1378", calling(call(arguments='{"a": "x\ny"}')), [("c1", "f", "control_character")], set()),
    (32, "claude-code#79339", calling(call(arguments='{"a": "\\é"}')), [("c1", "f", "invalid_escape")], set()),
    (
        33,
        "inspect_ai#3802",
        calling(call(arguments='{"a": "\\ud83d"}')),
        [("c1", "f", {"a": "\ud83d"})],
        {"lone_surrogate"},
    ),
    (
        35,
        "hermes-agent#55314",
        calling(call(arguments='{"a": 12345678901234567890}')),
        [("c1", "f", {"a": 12345678901234567890})],
        {"big_integer"},
    ),
]


@pytest.mark.parametrize(
    ("wire", "calls", "flags"), [row[2:] for row in CALLS], ids=[f"{row[0]} {row[1]}" for row in CALLS]
)
def test_a_reported_call_is_read_as_it_was_made(wire: bytes, calls: list[Any], flags: set[str]) -> None:
    reading = parse(wire)
    assert summary(reading) == calls
    assert set(reading.outcome.flags) == flags


def test_4_what_is_no_object_keeps_its_raw_text() -> None:
    outcome = parse(calling(call(arguments='{}""'))).outcome
    assert outcome == ToolCalls((ToolCall("c1", "f", malformed=Malformed("extra_data", '{}""')),), ())


def test_9_arguments_are_not_encoded_again_on_the_way_back() -> None:
    raw = '{"a":  1}'
    after = CHAT.follow_up(request(), calling(call(arguments=raw)), [ToolResult(0, "c1", "f", 1)], stream=False)
    echoed = after.messages[-2]
    assert isinstance(echoed, NativeMessage)
    assert echoed.value["tool_calls"][0]["function"]["arguments"] == raw


@pytest.mark.parametrize("word", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"])
def test_19_a_call_gemini_could_not_make_is_a_malformed_call(word: str) -> None:
    reading = parse(body({"content": ""}, finish=f"function_call_filter: {word}"))
    assert reading.outcome == ToolCalls(
        (ToolCall(None, "", malformed=Malformed(word, "")),), ("missing_name", "provider_rejected_call")
    )
    assert reading.finish == f"function_call_filter: {word}"


def test_20_an_unknown_finish_reason_is_kept_as_it_came() -> None:
    assert parse(body({"content": "hi"}, finish="eos_token")).finish == "eos_token"


def test_21_a_call_written_into_the_text_is_text_and_flagged() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert parse(body({"content": text})).outcome == Text(text, ("text_tool_call",))


def test_21_a_call_written_into_the_reasoning_is_flagged_apart() -> None:
    written = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert parse(body({"content": None, "reasoning": written})).outcome == Text(
        "", ("empty_text", "reasoning_tool_call")
    )


def test_22_empty_content_is_no_refusal() -> None:
    assert parse(body({"content": ""})).outcome == Text("", ("empty_text",))


@pytest.mark.parametrize(
    ("code", "category", "retryable"),
    [
        (429, "rate_limited", True),
        (401, "authentication_error", False),
        (502, "provider_error", True),
        (408, "timeout", True),
        (402, "rate_limited", False),
        ("503", "provider_error", True),
    ],
)
def test_25_a_200_with_an_error_is_judged_by_the_code_inside(code: Any, category: str, retryable: bool) -> None:
    reading = error(200, "Provider returned error", code=code, metadata={"raw": "busy upstream"})
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.category, reading.limits.retryable) == (category, retryable)
    assert reading.outcome.message == "Provider returned error: busy upstream"


def test_25_an_error_inside_the_choice_counts_as_well() -> None:
    raw = json.dumps({"choices": [{"message": {"content": ""}, "error": {"code": 429, "message": "slow"}}]}).encode()
    assert parse(raw).outcome == ProviderError("rate_limited", "429", "slow")


def test_27_ending_in_tool_calls_without_any_is_text_and_flagged() -> None:
    reading = parse(body({"content": "hm", "tool_calls": []}, finish="tool_calls"))
    assert reading.outcome == Text("hm", ("empty_tool_calls",))


@pytest.mark.parametrize(
    "message",
    [
        "The tool_choice parameter does not support being set to required or object in thinking mode",
        "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required",
        "Thinking mode does not support this tool_choice",
        "tool_choice 'specified' is incompatible with thinking enabled",
        'tool_choice: type "tool" and "any" are not supported for this model.',
        "deepseek-reasoner does not support this tool_choice",
        "No endpoints found that support the provided 'tool_choice' value.",
    ],
)
def test_38_a_refused_forced_choice_is_no_fault_of_the_model(message: str) -> None:
    outcome = error(400, message, type="invalid_request_error").outcome
    assert outcome == ProviderError("schema_rejected", "invalid_request_error", message, ("forced_choice_unsupported",))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (39, "The specified schema produces a constraint that has too many states for serving."),
        (40, "Invalid JSON payload received. Unknown name \"uniqueItems\" at 'tools[0].function_declarations[0]'"),
        (43, "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"),
        (0, "Invalid schema for function 'f': None is not of type 'object'."),
        (0, "tools.function.parameters is not a valid moonshot flavored json schema"),
        (0, "JSON schema conversion failed:\nUnrecognized schema"),
        (0, "Too many strict tools (48). The maximum number is 20"),
    ],
)
def test_39_40_43_a_refused_schema_is_schema_rejected(number: int, message: str) -> None:
    outcome = error(400, message).outcome
    assert isinstance(outcome, ProviderError)
    assert outcome.category == "schema_rejected"
    assert not outcome.flags


def test_41_results_that_do_not_fit_the_calls_are_refused_before_sending() -> None:
    from callscope.errors import InputError

    results = [ToolResult(0, "c1", "f", 1)]
    for wrong in ([], [*results, *results], [ToolResult(1, "c1", "f", 1)], [*results, ToolResult(1, None, "g", 1)]):
        with pytest.raises(InputError, match=r"tool_results\.position: .*each of 0 to 0 once"):
            CHAT.follow_up(request(), calling(call()), wrong, stream=False)
    with pytest.raises(InputError, match="expected none, for the response holds no call"):
        CHAT.follow_up(request(), body({"content": "hi"}), results, stream=False)


def test_44_a_refusal_may_have_no_content() -> None:
    assert parse(body({"content": None, "refusal": "No."})).outcome == Refusal("No.")
    assert parse(body({"content": None}, finish="refusal")).outcome == Refusal(None)


# Section 10: what compatible servers do


def test_snowflake_fillers_are_no_calls_and_no_refusal() -> None:
    filler = {"name": "", "arguments": ""}
    message = {"content": "Sunny.", "refusal": "", "function_call": filler, "tool_calls": None}
    assert parse(body(message, finish="")).outcome == Text("Sunny.")
    message = {**message, "content": "", "tool_calls": [{**call(), "custom": {"input": "", "name": ""}}]}
    assert summary(parse(body(message, finish=""))) == [("c1", "f", {})]


def test_openrouter_may_leave_out_the_arguments_key() -> None:
    reading = parse(calling({"id": "c1", "type": "function", "function": {"name": "f"}}))
    assert summary(reading) == [("c1", "f", {})]
    assert reading.outcome.flags == ("absent_arguments",)


@pytest.mark.parametrize(
    ("generation", "message", "name"),
    [
        ('{"name": "get", "arguments": {"foo": "bar"}}', "Tool call validation failed", "get"),
        ('<function=read={"file_path": "a"}</function>', "Failed to call a function.", "read"),
        ('web_search{"query": "x", "year": 2016}</function>', "Failed to call a function.", "web_search"),
        (
            '```\n{"tool_calls": [{"type": "function", "function": {"name": "add"}, "parameters": {}}]}\n```',
            "Failed to call a function.",
            "add",
        ),
        ("", "attempted to call tool 'brave_search' which was not in request.tools", "brave_search"),
        ("", "Failed to call a function.", ""),
    ],
)
def test_groq_tool_use_failed_is_a_malformed_call_of_the_tool_it_shows(
    generation: str, message: str, name: str
) -> None:
    outcome = error(400, message, code="tool_use_failed", failed_generation=generation).outcome
    assert isinstance(outcome, ToolCalls)
    assert outcome.calls == (ToolCall(None, name, malformed=Malformed("tool_use_failed", generation or message)),)
    lost = () if generation else ("model_words_lost",)
    assert outcome.flags == (*(() if name else ("missing_name",)), *lost, "provider_rejected_call")


def test_groq_where_no_call_was_made_is_text() -> None:
    message = "Tool choice is required, but model did not call a tool"
    said = error(400, message, code="tool_use_failed", failed_generation="maybe")
    assert said.outcome == Text("maybe", ("provider_rejected_call",))
    nothing = error(400, message, code="tool_use_failed", failed_generation="")
    assert nothing.outcome == Text("", ("empty_text", "provider_rejected_call"))
    failed = {"error": {"message": message, "code": "tool_use_failed", "failed_generation": ""}}
    streamed = events(chunk({"content": "maybe"}), done=False) + b"event: error\ndata: " + json.dumps(failed).encode()
    assert parse(streamed).outcome == Text("maybe", ("provider_rejected_call",))


@pytest.mark.parametrize(
    ("message", "name", "raw"),
    [
        ("The model produced output that does not match the expected peg-native format", "", None),
        ("The model produced output that does not match the expected peg-gemma4 format", "", None),
        (
            "Failed to parse input at pos 395: <|tool_call_start|>[find(q='x', n=5)]<|tool_call_end|>",
            "find",
            "<|tool_call_start|>[find(q='x', n=5)]<|tool_call_end|>",
        ),
        (
            'error parsing tool call: raw=\'{"name": "f", "arguments": {\', err=unexpected end',
            "f",
            '{"name": "f", "arguments": {',
        ),
    ],
)
def test_output_a_local_server_could_not_read_is_a_malformed_call(message: str, name: str, raw: str | None) -> None:
    outcome = error(500, message, code=500, type="server_error").outcome
    assert isinstance(outcome, ToolCalls)
    assert outcome.calls == (ToolCall(None, name, malformed=Malformed("unreadable_call", raw or message)),)


def test_vllm_error_bodies_of_both_forms_read_the_same() -> None:
    fields = {"message": "This model's maximum context length is 8192 tokens.", "type": "BadRequestError", "code": 400}
    old = parse(json.dumps({"object": "error", "param": None, **fields}).encode(), 400)
    new = parse(json.dumps({"error": fields}).encode(), 400)
    assert old.outcome == new.outcome
    assert old.outcome == ProviderError("provider_error", "BadRequestError", fields["message"], ("context_length",))


def test_vllm_without_a_tool_parser_offers_no_tools() -> None:
    message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    outcome = parse(json.dumps({"object": "error", "message": message, "code": 400}).encode(), 400).outcome
    assert outcome == ProviderError("schema_rejected", "400", message, ("tools_unsupported",))


# Further reports


def test_a_name_repeated_in_every_piece_is_one_name() -> None:  # hermes-agent#11984
    wire = stream(
        piece(0, id="a", name="read", arguments='{"x"'),
        piece(0, id="a", name="read", arguments=":1}"),
        piece(0, name="read"),
    )
    assert summary(parse(wire)) == [("a", "read", {"x": 1})]


def test_a_name_sent_in_parts_is_one_name() -> None:  # continue#5849
    wire = stream(
        piece(0, id="a", name=""), piece(0, name="edit_ex"), piece(0, name="isting"), piece(0, arguments="{}")
    )
    assert summary(parse(wire)) == [("a", "edit_existing", {})]


def test_the_tail_of_a_call_under_another_index_belongs_to_it() -> None:  # dirac#215, agno#8880
    wire = stream(
        piece(0, id="a", name="f", arguments="{}"),
        piece(0, id="b", name="g", arguments='{"x"'),
        piece(1, arguments=":1}"),
    )
    reading = parse(wire)
    assert summary(reading) == [("a", "f", {}), ("b", "g", {"x": 1})]
    assert set(reading.outcome.flags) == {"shared_index", "mismatched_index"}


def test_a_new_id_in_every_piece_is_one_call() -> None:
    wire = stream(piece(0, id="a", name="f", arguments="{"), piece(0, id="b", arguments="}"), piece(0, id="b"))
    reading = parse(wire)
    assert summary(reading) == [("a", "f", {})]
    assert reading.outcome.flags == ("changing_id",)


def test_an_id_that_comes_later_belongs_to_the_call() -> None:
    assert summary(parse(stream(piece(0, name="f", arguments="{"), piece(0, id="a", arguments="}")))) == [
        ("a", "f", {})
    ]


def test_pieces_without_index_follow_their_ids() -> None:  # vercel/ai#15879
    wire = stream(
        piece(id="a", arguments='{"x"'),
        piece(id="b", arguments='{"y"'),
        piece(id="a", name="f", arguments=":1}"),
        piece(id="b", name="g", arguments=":2}"),
    )
    assert summary(parse(wire)) == [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


def test_pieces_without_index_and_id_continue_the_last_call() -> None:
    wire = stream(piece(name="f", arguments='{"x"'), piece(arguments=":1}"), piece(name="g"), piece(name="g"))
    assert summary(parse(wire)) == [(None, "f", {"x": 1}), (None, "g", {})]


def test_entries_of_one_delta_are_different_calls() -> None:
    entries = [{"function": {"name": "f", "arguments": ""}}, {"function": {"name": "f", "arguments": ""}}]
    assert summary(parse(stream({"tool_calls": entries}))) == [(None, "f", {}), (None, "f", {})]


def test_the_same_id_on_a_new_index_is_a_second_call_once_the_first_is_whole() -> None:  # Kimi on vLLM
    wire = stream(piece(0, id="a", name="f", arguments="{}"), piece(1, id="a", name="f", arguments='{"x":1}'))
    reading = parse(wire)
    assert summary(reading) == [("a", "f", {}), ("a", "f", {"x": 1})]
    assert reading.outcome.flags == ("duplicate_id",)


def test_a_name_on_a_new_index_starts_a_call() -> None:
    wire = stream(piece(0, id="a", name="f", arguments=""), piece(2, arguments=None), piece(1, name="g"))
    assert [name for _, name, _ in summary(parse(wire))] == ["f", "g"]


def test_argument_text_on_a_new_index_after_a_whole_call_is_a_nameless_call() -> None:
    reading = parse(stream(piece(0, id="a", name="f", arguments="{}"), piece(1, arguments='{"x":1}')))
    assert summary(reading) == [("a", "f", {}), (None, "", {"x": 1})]
    assert "missing_name" in reading.outcome.flags


def test_a_stream_of_pieces_that_name_nothing_is_a_nameless_call() -> None:
    assert summary(parse(stream(piece(arguments="{}"), piece(arguments=" ")))) == [(None, "", {})]
    assert summary(parse(stream(piece(0, arguments="{}")))) == [(None, "", {})]


@pytest.mark.parametrize("finish", ["error", "network_error", "abort", "insufficient_system_resource"])
def test_an_ending_in_error_is_no_decision(finish: str) -> None:  # bifrost#5425
    reading = parse(body({"content": '{"partial'}, finish=finish))
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.code, reading.limits.retryable) == (finish, True)


def test_an_upstream_error_behind_a_harmless_ending_is_no_decision() -> None:  # hax#15
    choice = {"message": {"content": ""}, "finish_reason": "stop", "native_finish_reason": "network_error"}
    assert isinstance(parse(json.dumps({"choices": [choice]}).encode()).outcome, ProviderError)
    choice["message"] = {"content": "An answer."}
    assert parse(json.dumps({"choices": [choice]}).encode()).outcome == Text("An answer.")
