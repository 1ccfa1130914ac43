"""One response, whole or streamed, becomes one outcome; what cannot be read is coverage loss with its reason."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from providers_kit import CHAT, body, call, calling, chunk, error, events, parse, piece, stream, summary

from callscope.contract import (
    Limits,
    Malformed,
    ProviderError,
    Refusal,
    Text,
    ToolCall,
    ToolCalls,
    Usage,
)
from callscope.providers import FLAGS

# What the bytes are


def code(raw: bytes, status: int = 200) -> str:
    outcome = parse(raw, status).outcome
    assert isinstance(outcome, ProviderError)
    return outcome.code


@pytest.mark.parametrize(
    ("raw", "expected", "flags"),
    [
        (b"", "empty_body", ("connection",)),
        (b" \r\n", "empty_body", ("connection",)),
        (b"\xef\xbb\xbf", "empty_body", ("connection",)),
        (b"<!DOCTYPE html><title>Sign in</title>", "html_body", ()),
        (body({"content": "hello"})[:-9], "truncated_body", ("connection",)),
        (b"upstream connect error", "not_json", ()),
        (b'{"choices": [} ', "not_json", ()),
        (b"12", "no_message", ()),
        (b'{"choices": []}', "no_message", ()),
        (b'{"choices": null}', "no_message", ()),
        (body(None), "no_message", ()),
        (b'{"choices": [null]}', "no_message", ()),
        (b": ping\n\n", "no_message", ()),
        (events(chunk({"content": "par"}), done=False), "stream_cut", ("connection",)),
        (stream({"content": "par"})[:80], "stream_cut", ("connection",)),
        (events('{"broken', chunk({"content": "x"}, "stop")), "unreadable_chunk", ()),
    ],
)
def test_a_200_that_holds_no_message_is_a_provider_error(raw: bytes, expected: str, flags: tuple[str, ...]) -> None:
    reading = parse(raw)
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.category, reading.outcome.code) == ("provider_error", expected)
    assert reading.outcome.flags == flags
    assert reading.limits.retryable


def test_an_unreadable_message_says_what_came() -> None:
    outcome = parse(b"<html><style>p {}</style><h1>Sign&nbsp;in</h1>\n <p>please</p>").outcome
    assert isinstance(outcome, ProviderError)
    assert outcome.message == "the response is a web page: Sign&nbsp;in please"


@pytest.mark.parametrize(
    "raw",
    [
        b'{"detail": "Not here"}',
        b'{"message": "Not here"}',
        b'{"error": "Not here"}',
        b'{"errors": [{"message": "Not here"}]}',
        b'[{"error": {"message": "Not here"}}]',
        b'{"object": "error", "message": "Not here"}',
        b'{"error": {"msg": "Not here"}}',
        b'"Not here"',
    ],
)
def test_a_200_with_an_error_body_of_any_shape_is_a_provider_error(raw: bytes) -> None:
    outcome = parse(raw).outcome
    assert isinstance(outcome, ProviderError)
    assert "Not here" in outcome.message


def test_error_null_is_no_error() -> None:
    assert parse(body({"content": "hi"}, error=None)).outcome == Text("hi")


def test_a_stream_is_read_where_json_was_asked_for_and_the_other_way_round() -> None:
    streamed = stream({"content": "hi"}, finish="stop")
    assert parse(streamed, asked_stream=False).outcome == Text("hi", ("streamed_unasked",))
    assert parse(body({"content": "hi"}), asked_stream=True).outcome == Text("hi", ("not_streamed",))


MESSAGES: list[dict[str, Any]] = [
    {"content": "hi", "refusal": None},
    {"content": ""},
    {"content": None, "refusal": "No."},
    {"content": "Look:", "tool_calls": [call(arguments='{"a": [1, {"b": 2.5}]}')]},
    {"content": None, "tool_calls": [call("f", ""), {**call("g", '{"x'), "id": "c2"}]},
    {"content": None, "tool_calls": [{**call(), "id": None}]},
    {"content": None, "function_call": {"name": "f", "arguments": "{}"}},
]


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("finish", ["stop", "tool_calls", "length", "content_filter"])
def test_whole_and_streamed_give_the_same_outcome(message: dict[str, Any], finish: str) -> None:
    delta = dict(message)
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": i, **entry} for i, entry in enumerate(delta["tool_calls"])]
    whole, streamed = parse(body(message, finish=finish)), parse(stream(delta, finish=finish))
    assert streamed.outcome == whole.outcome
    assert (streamed.finish, streamed.model) == (whole.finish, whole.model)


@given(st.data())
def test_how_a_call_is_cut_into_pieces_does_not_matter(data: st.DataObject) -> None:
    arguments = json.dumps(data.draw(st.dictionaries(st.text(max_size=3), st.text(max_size=5) | st.integers())))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(arguments)), max_size=6)))
    parts = [arguments[i:j] for i, j in zip([0, *cuts], [*cuts, len(arguments)], strict=True)]
    wire = stream(piece(0, id="a", name="f", arguments=""), *(piece(0, arguments=part) for part in parts))
    assert parse(wire).outcome == parse(calling({**call("f", arguments), "id": "a"})).outcome


LINE_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(LINE_ENDS, st.booleans(), st.booleans(), st.lists(st.sampled_from([b": ping", b"id: 3", b"retry: 9"])))
def test_line_ends_comments_and_a_bom_do_not_matter(end: bytes, bom: bool, closed: bool, noise: list[bytes]) -> None:
    plain = stream(piece(0, id="a", name="f", arguments="{}"), {"content": "é"})
    wire = b"".join(line + end for line in noise) + plain.replace(b"\n\n", b"\nx\n\n", 1).replace(b"\n", end)
    wire = (b"\xef\xbb\xbf" if bom else b"") + (wire if closed else wire.rstrip())
    assert parse(wire, asked_stream=True).outcome == parse(plain).outcome


def test_data_over_several_lines_is_one_value() -> None:
    assert parse(
        b'data: {"choices":\ndata: [{"delta": {"content": "a"},\ndata: "finish_reason": "stop"}]}\n\n'
    ).outcome == (Text("a"))


def test_an_event_that_is_no_json_is_passed_over_and_flagged() -> None:
    assert parse(events("keepalive", chunk({"content": "a"}, "stop"))).outcome == Text("a", ("unreadable_chunk",))


@pytest.mark.parametrize(
    "last",
    [
        b'data: {"error": {"message": "boom", "code": 502}}\n\n',
        b'data: {"choices": [{"delta": {}, "finish_reason": "error"}], "error": {"message": "boom", "code": 502}}\n\n',
        b'event: error\ndata: {"message": "boom", "code": 502}\n\n',
        b"event: error\ndata: boom\n\n",
        b'error: {"message": "boom", "code": 502}\n\n',
    ],
)
def test_an_error_in_mid_stream_is_a_provider_error(last: bytes) -> None:
    reading = parse(events(chunk({"content": "par"}), done=False) + last)
    assert isinstance(reading.outcome, ProviderError)
    assert reading.outcome.message == "boom"
    assert reading.limits.retryable


@pytest.mark.parametrize("ending", [b"data: [DONE]\n\n", b'data: {"choices": [], "usage": {"prompt_tokens": 1}}\n\n'])
def test_a_stream_without_finish_reason_may_end_otherwise(ending: bytes) -> None:
    assert parse(events(chunk({"content": "a"}), done=False) + ending).outcome == Text("a")


def test_first_call_at_is_where_the_first_call_was_complete() -> None:
    deltas = [piece(0, id="a", name="f", arguments="{"), piece(0, arguments="}"), piece(1, id="b", name="g")]
    wire = stream({"role": "assistant"}, *deltas)
    at = parse(wire).first_call_at
    assert at is not None
    assert summary(parse(wire[:at] + b"data: [DONE]")) == [("a", "f", {})]
    assert wire[:at].endswith(b"\n\n")
    assert parse(stream({"content": "a"}, finish="stop")).first_call_at is None
    assert parse(calling(call())).first_call_at is None


# Encodings


def test_a_compressed_body_is_read() -> None:
    raw = calling(call())
    deflate = zlib.compressobj(wbits=-15)
    for name, packed in [
        ("gzip", gzip.compress(raw)),
        ("x-gzip", gzip.compress(raw[:9]) + gzip.compress(raw[9:])),
        ("deflate", zlib.compress(raw)),
        ("Deflate", deflate.compress(raw) + deflate.flush()),
        ("deflate, gzip", gzip.compress(zlib.compress(raw))),
        ("identity", raw),
        ("gzip", raw),
        ("br", raw),
    ]:
        assert summary(parse(packed, headers={"Content-Encoding": name}, asked_stream=False)) == [("c1", "f", {})]


@pytest.mark.parametrize(
    ("name", "packed", "flag"),
    [
        ("gzip", gzip.compress(b"x" * 99)[:12], "broken_encoding"),
        ("gzip", b"\x1f\x8bjunk", "broken_encoding"),
        ("gzip", b"upstream", "broken_encoding"),
        ("deflate", b"\xff\xff\xff", "broken_encoding"),
        ("br", b"\x0b\x02\x80", "unknown_encoding"),
        ("zstd", b"\x28\xb5\x2f\xfd", "unknown_encoding"),
    ],
    ids=["cut gzip", "junk", "no gzip", "no deflate", "br", "zstd"],
)
def test_an_encoding_that_cannot_be_undone_is_flagged(name: str, packed: bytes, flag: str) -> None:
    outcome = parse(packed, headers=[("content-encoding", name)], asked_stream=False).outcome
    assert flag in outcome.flags


def test_a_bomb_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callscope.providers.wire.MAX_DECODED", 1000)
    outcome = parse(gzip.compress(b"{" * 5000), headers={"content-encoding": "gzip"}, asked_stream=False).outcome
    assert "broken_encoding" in outcome.flags


def test_bytes_that_are_no_utf8_are_kept_and_flagged() -> None:
    whole = body({"content": "a?b"}).replace(b"?", b"\xff")
    assert parse(whole).outcome == Text("a\udcffb", ("invalid_utf8",))
    streamed = stream({"content": "a?b"}, finish="stop").replace(b"?", b"\xff")
    assert parse(streamed).outcome == Text("a\udcffb", ("invalid_utf8",))
    escaped = stream({"content": "\ud83d"}, finish="stop")
    assert parse(escaped).outcome == Text("\ud83d")


# What a message holds


def test_arguments_sent_as_an_object_are_kept_whole() -> None:
    raw = calling(call(arguments={"n": 0})).replace(b'"n": 0', b'"n": 1, "n": 123456789012345678901234567890')
    reading = parse(raw)
    assert summary(reading) == [("c1", "f", {"n": 123456789012345678901234567890})]
    assert set(reading.outcome.flags) == {"arguments_not_a_string", "big_integer", "duplicate_keys"}


@pytest.mark.parametrize("arguments", [[1], 5, True, 1.5])
def test_arguments_of_another_type_are_malformed(arguments: Any) -> None:
    reading = parse(calling(call(arguments=arguments)))
    assert isinstance(reading.outcome, ToolCalls)
    assert reading.outcome.calls[0].malformed == Malformed(
        "not_an_object", json.dumps(arguments, separators=(",", ":"))
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1]", "not_an_object"),
        ("null", "not_an_object"),
        ('"x"', "not_an_object"),
        ('"[1]"', "not_an_object"),
        ("NaN", "not_a_json_number"),
        (" ", "empty"),
        ("{} {}", "extra_data"),
        ("{'a': 1}", "syntax"),
        ('{"a": 1e999}', "number_out_of_range"),
        ("[" * 50, "truncated"),
        ('{"a":' * 300 + "1" + "}" * 300, "too_deep"),
    ],
)
def test_argument_text_that_is_no_object_is_malformed_with_its_reason(text: str, reason: str) -> None:
    outcome = parse(calling(call(arguments=text))).outcome
    assert isinstance(outcome, ToolCalls)
    assert outcome.calls == (ToolCall("c1", "f", malformed=Malformed(reason, text)),)


def test_duplicate_keys_are_flagged() -> None:
    assert parse(calling(call(arguments='{"a": 1, "a": 2}'))).outcome.flags == ("duplicate_keys",)


@pytest.mark.parametrize(
    ("entry", "expected", "flag"),
    [
        ({"id": "a", "name": "f", "arguments": "{}"}, ("a", "f", {}), "nonstandard_call"),
        (
            {"id": "a", "type": "custom", "custom": {"name": "f", "input": "x"}},
            ("a", "f", "syntax"),
            "custom_tool_call",
        ),
        ({"id": "a", "type": "custom", "custom": {"name": "f"}}, ("a", "f", {}), "custom_tool_call"),
        ({"id": 7, "function": {"name": None, "arguments": "{}"}}, (None, "", {}), "missing_name"),
        ("nonsense", (None, "", "syntax"), "missing_name"),
        ({"id": "a", "function": None}, ("a", "", {}), "missing_name"),
    ],
)
def test_an_odd_entry_is_still_a_call(entry: Any, expected: Any, flag: str) -> None:
    reading = parse(calling(entry))
    assert summary(reading) == [expected]
    assert flag in reading.outcome.flags


@pytest.mark.parametrize("pieces", [None, [], [None], [{}], {}, "", 0, [{"index": 0}], [{"function": {}}]])
def test_nothing_is_no_call(pieces: Any) -> None:
    assert parse(body({"content": "hi", "tool_calls": pieces})).outcome == Text("hi")


@pytest.mark.parametrize("text", ["{} x", "{}{", "{}", "{}{}{}", "{}[]"])
def test_a_name_that_merely_repeats_itself_is_not_split(text: str) -> None:
    assert [name for _, name, _ in summary(parse(calling(call("papa", text))))] == ["papa"]


@pytest.mark.parametrize("pieces", [call(), [call()], [None, call()]])
def test_calls_in_any_container_are_read(pieces: Any) -> None:
    assert summary(parse(body({"tool_calls": pieces}))) == [("c1", "f", {})]
    assert summary(parse(stream({"tool_calls": pieces}))) == [("c1", "f", {})]


def test_the_legacy_field_counts_where_there_is_nothing_else() -> None:
    legacy = {"name": "f", "arguments": '{"a": 1}'}
    reading = parse(body({"content": None, "function_call": legacy}, finish="function_call"))
    assert summary(reading) == [(None, "f", {"a": 1})]
    assert reading.outcome.flags == ("legacy_function_call",)
    wire = stream({"function_call": {"name": "f", "arguments": ""}}, {"function_call": {"arguments": '{"a": 1}'}})
    assert parse(wire).outcome == reading.outcome
    assert summary(parse(body({"function_call": legacy, "tool_calls": [call("g")]}))) == [("c1", "g", {})]
    assert parse(body({"content": "x", "function_call": "f"})).outcome == Text("x")


def test_content_may_be_a_list_of_parts() -> None:
    parts = [{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "a"}, "b", 3]
    assert parse(body({"content": parts})).outcome == Text("ab")
    assert parse(body({"content": [{"type": "refusal", "refusal": "No."}]})).outcome == Refusal("No.")


def test_text_beside_calls_is_kept() -> None:
    outcome = parse(body({"content": "Let me look.", "tool_calls": [call()]})).outcome
    assert outcome == ToolCalls((ToolCall("c1", "f", {}),), (), "Let me look.")
    assert parse(body({"content": "", "refusal": "No.", "tool_calls": [call()]})).outcome == ToolCalls(
        (ToolCall("c1", "f", {}),), ("refusal_beside_calls",)
    )


def test_a_filtered_answer_is_a_refusal_by_the_safety_layer() -> None:
    assert parse(body({"content": ""}, finish="content_filter")).outcome == Refusal(None, ("content_filter",))
    assert parse(body({"content": "a"}, finish="content_filter: SPII")).outcome == Refusal("a", ("content_filter",))
    assert parse(calling(call(), finish="content_filter")).outcome == ToolCalls(
        (ToolCall("c1", "f", {}),), ("content_filter",)
    )


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_a_token_limit_is_flagged(finish: str) -> None:
    assert parse(body({"content": "a"}, finish=finish)).outcome == Text("a", ("truncated",))


def test_only_the_first_choice_is_read() -> None:
    choices = [{"index": i, "message": {"content": str(i)}, "finish_reason": "stop"} for i in range(2)]
    assert parse(json.dumps({"choices": choices}).encode()).outcome == Text("0", ("multiple_choices",))
    second = {"choices": [{"index": 1, "delta": {"content": "b"}}]}
    assert parse(events(chunk({"content": "a"}, "stop"), second)).outcome == Text("a", ("multiple_choices",))


def test_a_whole_message_in_a_stream_counts_once() -> None:
    whole = {"choices": [{"index": 0, "message": {"content": "ab"}, "finish_reason": "stop"}]}
    assert parse(events(whole)).outcome == Text("ab")
    assert parse(events(chunk({"content": "a"}), chunk({"content": "b"}), whole)).outcome == Text("ab")


# What else a reading says


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(10, 5, 3, 4, 2),
        ),
        ({"prompt_tokens": 0, "completion_tokens": None, "prompt_tokens_details": None}, Usage(0)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 8}, Usage(9, cached_input_tokens=8)),
        ({"prompt_tokens": 9.0, "cached_tokens": 8, "reasoning_tokens": 1}, Usage(9, None, 1, 8)),
        (
            {"prompt_tokens": True, "completion_tokens": -1, "cache_creation_input_tokens": 2},
            Usage(cache_write_tokens=2),
        ),
        ({"prompt_tokens": "9", "completion_tokens": 1e99}, Usage()),
        ([], Usage()),
    ],
)
def test_usage_is_read_as_it_was_counted(usage: Any, expected: Usage) -> None:
    assert parse(body({"content": "a"}, usage=usage)).usage == expected
    last = {"choices": [], "usage": usage}
    assert parse(events(chunk({"content": "a"}, "stop", usage=None), last)).usage == expected


def test_groq_usage_is_read_from_its_own_field() -> None:
    wire = events(chunk({"content": "a"}, "stop", x_groq={"usage": {"prompt_tokens": 3}}))
    assert parse(wire).usage == Usage(3)


def test_the_model_is_the_first_one_named() -> None:
    wire = events(chunk({}) | {"model": ""}, chunk({"content": "a"}) | {"model": "m-2"}, chunk({}, "stop"))
    assert parse(wire).model == "m-2"
    assert parse(body({"content": "a"}) + b" ").model == "m-1"


def test_an_empty_finish_reason_is_kept_and_does_not_undo_a_real_one() -> None:
    assert parse(body({"content": "a"}, finish="")).finish == ""
    assert parse(body({"content": "a"}, finish=None)).finish is None
    assert parse(events(chunk({"content": "a"}, "stop"), chunk({}, ""))).finish == "stop"


def test_limits_of_an_answer_are_read_and_it_is_not_to_be_tried_again() -> None:
    headers = {
        "X-RateLimit-Remaining-Requests": "59",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-reset-tokens": "6m0.5s",
    }
    assert parse(body({"content": "a"}), headers=headers).limits == Limits(None, False, 59, 149984, 1.0, 360.5)


def test_the_wait_a_body_asks_for_is_used_where_no_header_says_more() -> None:
    details = [{"@type": "…RetryInfo", "retryDelay": "38.5s"}]
    assert error(429, "slow", details=details).limits.retry_after_s == 38.5
    raw = json.dumps({"error": {"message": "slow", "details": details}}).encode()
    assert parse(raw, 429, {"retry-after": "2"}).limits.retry_after_s == 2.0


# Never raises


@pytest.mark.parametrize("depth", [150, 190, 210, 900, 1020, 5000])
def test_nesting_of_any_depth_is_read(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    nested = '{"a":' * depth + "1" + "}" * depth
    for raw in (
        f'{{"error": {{"message": {deep}, "code": {nested}}}}}',
        f'{{"choices": [{{"message": {{"vendor": {nested}, "tool_calls": [{{"arguments": {deep}}}]}}}}]}}',
        f'{{"choices": [{{"message": {{"tool_calls": {deep}}}}}]}}',
        f"{deep}{deep}",
    ):
        parse(raw.encode())
    piece = f'{{"choices": [{{"delta": {{"vendor": {nested}}}}}]}}'
    parse(events(piece, piece))
    parse(calling(call(arguments=nested)))
    parse(body({"content": f'{{"tool_calls": {deep}}}'}))
    parse(body({"content": '{"name": "f", "arguments": ' + nested}))
    parse(calling(call("ff", nested + nested)))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["stop", "tool_calls", "{}", "{", "f", "error"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "delta",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "id",
                    "index",
                    "content",
                    "refusal",
                    "error",
                    "code",
                    "usage",
                    "finish_reason",
                    "function_call",
                    "custom",
                    "input",
                    "detail",
                    "reasoning_details",
                    "metadata",
                    "details",
                    "loc",
                    "text",
                    "type",
                    "x_groq",
                    "model",
                    "prompt_tokens",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(st.binary() | st.binary().map(lambda b: b"data: " + b), st.integers(-1, 700), st.booleans())
def test_any_bytes_at_all_are_read(raw: bytes, status: int, asked: bool) -> None:
    assert set(CHAT.parse(status, {}, raw, stream=asked).outcome.flags) <= FLAGS.keys()


@given(st.lists(JSON, min_size=1, max_size=4), st.sampled_from([200, 400, 429, 500]), st.booleans())
def test_any_json_at_all_is_read(values: list[Any], status: int, streamed: bool) -> None:
    raw = events(*values) if streamed else json.dumps(values[0]).encode()
    assert set(CHAT.parse(status, {}, raw, stream=streamed).outcome.flags) <= FLAGS.keys()


@given(st.lists(JSON, max_size=4), st.booleans())
def test_any_message_at_all_is_read(parts: list[Any], streamed: bool) -> None:
    message = {"content": None, "tool_calls": parts}
    reading = parse(stream(message) if streamed else body(message))
    assert set(reading.outcome.flags) <= FLAGS.keys()


@given(st.dictionaries(st.text(), st.text()) | st.lists(st.tuples(st.text(), st.text())))
def test_any_headers_at_all_are_read(headers: Any) -> None:
    CHAT.parse(200, headers, b"{}", stream=False)


@given(st.integers(0, 400))
def test_a_stream_cut_anywhere_is_read(cut: int) -> None:
    wire = stream({"content": "é"}, piece(0, id="a", name="f", arguments='{"a": 1}'))
    reading = parse(wire[:cut], asked_stream=True)
    assert isinstance(reading.outcome, (ProviderError, ToolCalls))
