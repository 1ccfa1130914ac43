"""A record is one line, and the line is the record again, to the very byte."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callscope.canonical import canonical, sha256_hex
from callscope.capture.codec import RECORD_SCHEMA, Frame, decode_record, encode_record, record_key
from callscope.contract import Exchange, Record, Round, Timing, ToolResult, Transformation, TransportFault, TrialKey
from tests.core.json_values import ANYTHING, PLAIN_TEXT, tower


class Blobs:
    """A blob store in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def keep(self, data: bytes) -> str:
        self.kept[sha256_hex(data)] = data
        return sha256_hex(data)

    def blob(self, name: str) -> bytes:
        return self.kept[name]


def again(record: Record, frame: Frame | None = None) -> Record:
    blobs = Blobs()
    return decode_record(encode_record(record, blobs.keep, frame), blobs.blob)


def shape(record: Record) -> bytes:
    """Equality that tells `1`, `1.0` and `true` apart."""
    return canonical(_plain(record))


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return {"bytes": value.hex()} if isinstance(value, bytes) else value


KEY = TrialKey("s", "auto", "m", "c", 0)


def exchange(request: bytes = b"{}", response: bytes = b"{}", **more: Any) -> Exchange:
    fields = {
        "attempt": 1,
        "method": "POST",
        "url": "http://h/v1",
        "request_headers": (),
        "started_at": "2026-12-01T00:00:00Z",
        "status": 200,
        "response_headers": (),
        "timing": Timing(total=1.5),
    }
    return Exchange(request=request, response=response, **{**fields, **more})


def record(*rounds: Round, **more: Any) -> Record:
    return Record(KEY, "openai-chat", False, "2026-12-01T00:00:00Z", rounds, **more)


def one(*exchanges: Exchange, results: tuple[ToolResult, ...] = ()) -> Record:
    return record(Round(exchanges, results))


BODIES = st.one_of(
    st.just(b""),
    st.binary(max_size=40),
    st.text(max_size=40).map(str.encode),
    ANYTHING.map(lambda value: json.dumps(value).encode()),
)
# A high surrogate before a low one has no form in JSON but the character they make: so they are joined beforehand.
VALUES = ANYTHING.map(lambda value: json.loads(json.dumps(value)))
HEADERS = st.lists(st.tuples(PLAIN_TEXT, PLAIN_TEXT), max_size=3).map(tuple)
MILLISECONDS = st.floats(0, 1e6) | st.integers(0, 10**6).map(float)
FAULTS = st.builds(
    TransportFault, st.sampled_from(["timeout", "provider_error", "harness_error"]), PLAIN_TEXT, PLAIN_TEXT
)
EXCHANGES = st.builds(
    Exchange,
    attempt=st.integers(1, 4),
    method=st.just("POST"),
    url=PLAIN_TEXT,
    request_headers=HEADERS,
    request=BODIES,
    started_at=PLAIN_TEXT,
    status=st.none() | st.integers(0, 999),
    response_headers=HEADERS,
    response=BODIES,
    timing=st.builds(Timing, MILLISECONDS, MILLISECONDS, st.none() | MILLISECONDS, st.none() | MILLISECONDS),
    fault=st.none() | FAULTS,
    chunks=st.lists(st.tuples(st.integers(0, 2**40), MILLISECONDS), max_size=3).map(tuple),
    redactions=st.integers(0, 9),
)
RESULTS = st.builds(ToolResult, st.integers(0, 3), st.none() | PLAIN_TEXT, VALUES.map(str), VALUES, st.booleans())
RECORDS = st.builds(
    Record,
    key=st.builds(TrialKey, PLAIN_TEXT, PLAIN_TEXT, PLAIN_TEXT, PLAIN_TEXT, st.integers(0, 10**6)),
    api=PLAIN_TEXT,
    stream=st.booleans(),
    started_at=PLAIN_TEXT,
    rounds=st.lists(
        st.builds(Round, st.lists(EXCHANGES, max_size=2).map(tuple), st.lists(RESULTS, max_size=2).map(tuple)),
        max_size=2,
    ).map(tuple),
    transformations=st.lists(st.builds(Transformation, PLAIN_TEXT, PLAIN_TEXT, VALUES, VALUES), max_size=2).map(tuple),
    notes=st.lists(PLAIN_TEXT, max_size=2).map(tuple),
    stopped=st.none() | PLAIN_TEXT,
    harness_error=st.none() | PLAIN_TEXT,
)


@given(RECORDS, st.none() | st.builds(Frame, BODIES, BODIES))
def test_a_record_is_one_line_and_the_line_is_the_record(record: Record, frame: Frame | None) -> None:
    blobs = Blobs()
    line = encode_record(record, blobs.keep, frame)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert b"\r" not in line
    json.loads(line)
    back = decode_record(line[:-1], blobs.blob)
    assert back == record
    assert shape(back) == shape(record)
    assert record_key(line[:-1]) == record.key


@given(BODIES, BODIES, BODIES, st.booleans())
@example(b"", b"", b"", True)
@example(b"a", b"", b"a", False)
def test_bodies_come_back_whole_with_a_frame_or_without(before: bytes, prompt: bytes, after: bytes, fits: bool) -> None:
    body = before + prompt + after if fits else prompt
    found = again(one(exchange(body, body)), Frame(before, after)).rounds[0].exchanges[0]
    assert (found.request, found.response) == (body, body)


def test_what_many_bodies_share_is_kept_once() -> None:
    frame, blobs = Frame(b'{"tools":["' + b"t" * 500 + b'"],"prompt":"', b'","seed":1}'), Blobs()
    lines = [
        encode_record(one(exchange(frame.before + f"prompt {number}".encode() + frame.after)), blobs.keep, frame)
        for number in range(3)
    ]
    assert sorted(blobs.kept.values()) == sorted(frame)
    for number, line in enumerate(lines):
        stored = json.loads(line)["rounds"][0]["exchanges"][0]["request"]
        assert stored == [{"blob": sha256_hex(frame.before)}, f"prompt {number}", {"blob": sha256_hex(frame.after)}]
        assert len(line) < 600


OTHER_BODIES = [
    b"",
    b"shorter",
    b"BEFORE and no more",
    b"nothing and AFTER",
    b"BEFOREAFTE",
    b"BEFORAFTER",
]


@pytest.mark.parametrize("body", OTHER_BODIES)
def test_a_body_that_does_not_fit_its_frame_is_kept_whole(body: bytes) -> None:
    blobs = Blobs()
    line = encode_record(one(exchange(body)), blobs.keep, Frame(b"BEFORE", b"AFTER"))
    assert blobs.kept == {}
    assert json.loads(line)["rounds"][0]["exchanges"][0]["request"] == ([body.decode()] if body else [])


def test_an_answer_is_never_taken_apart() -> None:
    blobs = Blobs()
    encode_record(one(exchange(b"x", b"BEFORE AFTER")), blobs.keep, Frame(b"BEFORE", b"AFTER"))
    assert blobs.kept == {}


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        (b"plain", ["plain"]),
        ("ü \u2028 \x00".encode(), ["ü \u2028 \x00"]),
        (b"\xef\xbb\xbfx", ["\ufeffx"]),
        (b"\xff", [{"base64": "/w=="}]),
        (b"\xed\xa0\x80", [{"base64": "7aCA"}]),
    ],
)
def test_text_stays_readable_and_other_bytes_are_base64(body: bytes, stored: list[Any]) -> None:
    line = encode_record(one(exchange(b"", body)), Blobs().keep)
    assert json.loads(line)["rounds"][0]["exchanges"][0]["response"] == stored


def test_what_a_model_may_say_in_results_and_transformations_survives() -> None:
    said = {"big": 10**60, "half": "\ud83d", "zero": -0.0, "one": [1, 1.0, True], "\udfff": None}
    result = ToolResult(0, None, "name \ud83d", said, True)
    change = Transformation("/x", "rule", said, [said])
    found = again(record(Round((), (result,)), transformations=(change,)))
    assert shape(found) == shape(record(Round((), (result,)), transformations=(change,)))


def test_so_does_a_result_as_deep_as_a_suite_may_hold() -> None:
    deep = one(results=(ToolResult(0, None, "f", tower(200, inside=1)),))
    assert again(deep) == deep


def test_half_a_character_in_our_own_error_text_is_written_as_its_escape() -> None:
    fault = TransportFault("provider_error", "connection_lost", "\udcff gone")
    found = again(record(Round((exchange(fault=fault),)), harness_error="ValueError: \ud83d"))
    assert found.harness_error == r"ValueError: \ud83d"
    assert found.rounds[0].exchanges[0].fault == TransportFault("provider_error", "connection_lost", r"\udcff gone")


LINE = encode_record(one(exchange(b'{"prompt":"x"}', b'{"answer":[1,2,3]}')), Blobs().keep)[:-1]


@pytest.mark.parametrize("cut", range(len(LINE)))
def test_a_torn_line_is_an_error_at_every_length(cut: int) -> None:
    for read in (record_key, lambda line: decode_record(line, Blobs().blob)):
        with pytest.raises(msgspec.DecodeError):
            read(LINE[:cut])


FOREIGN = [
    b"null",
    b"{}",
    b"[1]",
    b'"text"',
    LINE + b"x",
    LINE + LINE,
    LINE.replace(RECORD_SCHEMA.encode(), b"callscope/record/9"),
    LINE.replace(b'"repeat":0', b'"repeat":"0"'),
]


@pytest.mark.parametrize("line", FOREIGN, ids=lambda line: repr(line)[:20])
def test_a_foreign_line_is_an_error(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_record(line, Blobs().blob)


DAMAGED = [
    {"response": [{"base64": "a"}]},
    {"tool_results": "[{"},
    {"tool_results": '[{"position": "x"}]'},
    {"transformations": "nonsense"},
]


@pytest.mark.parametrize("damage", DAMAGED, ids=str)
def test_a_line_that_was_changed_on_disk_is_an_error(damage: dict[str, Any]) -> None:
    stored = json.loads(LINE)
    ((field, value),) = damage.items()
    part = {"response": stored["rounds"][0]["exchanges"][0], "tool_results": stored["rounds"][0]}.get(field, stored)
    part[field] = value
    with pytest.raises(ValueError):
        decode_record(json.dumps(stored).encode(), Blobs().blob)


def test_an_empty_piece_is_no_bytes() -> None:
    line = LINE.replace(rb'["{\"answer\":[1,2,3]}"]', b"[{}]")
    assert line != LINE
    assert decode_record(line, Blobs().blob).rounds[0].exchanges[0].response == b""
