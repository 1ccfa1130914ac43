"""The frames of an AWS event stream, against the specification, botocore, and bytes of every kind."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from native_kit import event, frame, header

from callscope.providers.bedrock_events import looks_like_frames, read_frames

GOOD = event("messageStart", {"role": "assistant"})


def test_frames_are_read_in_order_with_their_ends() -> None:
    frames, fault = read_frames(GOOD + frame(b"", b"x"))
    assert fault is None
    assert frames[0].headers == {
        ":event-type": "messageStart",
        ":content-type": "application/json",
        ":message-type": "event",
    }
    assert frames[0].payload == b'{"role": "assistant"}'
    assert [one.end for one in frames] == [len(GOOD), len(GOOD) + 17]
    assert (frames[1].headers, frames[1].payload) == ({}, b"x")
    assert read_frames(b"") == ((), None)


def test_headers_of_every_type_are_stepped_over() -> None:
    widths = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    headers = b"".join(header(f"h{kind}", b"\1" * width, kind) for kind, width in widths.items())
    headers += header("raw", b"\xff\xfe", 6) + header("text", b"caf\xc3\xa9 \xff", 7)
    [one], fault = read_frames(frame(headers, b""))
    assert (one.headers, fault) == ({"text": "café �"}, None)


@pytest.mark.parametrize(
    "headers",
    [b"\x04name", b"\x04name\x0a", b"\x04name\x07\x00\x09x", b"\x04name\x05\x00", b"\xffname", b"\x01a\x07\x00"],
)
def test_headers_that_do_not_add_up_make_the_frame_corrupt(headers: bytes) -> None:
    assert read_frames(frame(headers, b"")) == ((), "corrupt_frame")


def test_a_flipped_bit_anywhere_is_seen() -> None:
    whole = GOOD + GOOD
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= 0x10
        frames, fault = read_frames(bytes(broken))
        assert fault == "corrupt_frame"
        assert len(frames) == (place >= len(GOOD))


def test_a_cut_anywhere_is_seen_and_the_frames_before_it_are_kept() -> None:
    whole = GOOD + GOOD
    for cut in range(1, len(whole)):
        frames, fault = read_frames(whole[:cut])
        assert (len(frames), fault) == (cut >= len(GOOD), None if cut == len(GOOD) else "stream_cut")
        assert looks_like_frames(whole[:cut])


@pytest.mark.parametrize(("total", "length"), [(0, 0), (15, 0), (20, 5), (2**32 - 1, 2**32 - 1)])
def test_lengths_that_cannot_be_are_corrupt(total: int, length: int) -> None:
    prelude = total.to_bytes(4, "big") + length.to_bytes(4, "big")
    assert read_frames(prelude + crc32(prelude).to_bytes(4, "big") + b"\0" * 20).fault == "corrupt_frame"


@pytest.mark.parametrize("raw", [b"", b"{", b'{"message": "no"}', b"<html><body>", b"data: {}\n\n", b"\xef\xbb\xbf{}"])
def test_other_bodies_do_not_look_like_frames(raw: bytes) -> None:
    assert not looks_like_frames(raw)


@given(st.lists(st.tuples(st.dictionaries(st.text("ab:-", min_size=1, max_size=8), st.text(max_size=9)), st.binary())))
def test_botocore_reads_the_same_frames(written: list[Any]) -> None:
    eventstream = pytest.importorskip("botocore.eventstream")
    raw = b"".join(frame(b"".join(header(n, v) for n, v in headers.items()), body) for headers, body in written)
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(raw)
    frames, fault = read_frames(raw)
    assert fault is None
    assert [(one.headers, one.payload) for one in frames] == [(one.headers, one.payload) for one in buffer]
    assert [(one.headers, one.payload) for one in frames] == written


@given(st.binary(), st.integers(0, 2**16), st.integers(1, 255))
def test_any_bytes_in_or_after_frames_never_raise(junk: bytes, place: int, flip: int) -> None:
    broken = bytearray(GOOD + junk + GOOD)
    broken[place % len(broken)] ^= flip
    for raw in (junk, GOOD + junk, bytes(broken)):
        frames, fault = read_frames(raw)
        assert fault in {None, "stream_cut", "corrupt_frame"}
        assert all(one.end <= len(raw) for one in frames)
