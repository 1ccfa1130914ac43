"""Every way in which a provider's transport can fail is coverage loss of the right kind, bytes kept, and replays."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

import callscope
from callscope.capture import transport
from callscope.contract import Exchange, ProviderError, Record
from callscope.runs import Run
from tests.capture.helpers import small_suite, stand_in_model
from tests.faulty import Act, Faulty, Script, chunked, http
from tests.stand_in import Seen, completion, stream_of

GOOD = completion("Good morning.")
EVENTS = stream_of("Good morning.")
SLOW = {"timeout_ms": 300}


def hold(
    out: Path, script: Callable[[Seen], Script], on_accept: Act | None = None, *, stream: bool = False, **settings: Any
) -> tuple[Run, Record]:
    """One trial against a faulty provider."""

    async def go() -> Run:
        async with Faulty(script, on_accept) as server:
            models = [stand_in_model(server.url, stream=stream)]
            options = {"repeats": 1, "attempts": 1, "timeout_ms": 5_000, **settings}
            return await callscope.arun(small_suite(0), models=models, out=out, **options)

    run = asyncio.run(go())
    assert run.check().differing == (), "a replay agrees"
    (record,) = [record for _, record in run.folder.records()]
    return run, record


def exchanges(record: Record) -> list[Exchange]:
    return [exchange for one in record.rounds for exchange in one.exchanges]


# name: (script, settings, acceptance, code of the fault or of the error, the bytes kept or None for any)
FAULTS: dict[str, tuple[Script, dict[str, Any], str, str | None, bytes | None]] = {
    "never answers": ([Act.HANG], SLOW, "timeout", "timeout_first_byte", b""),
    "half a status line": ([b"HTTP/1.1 2", Act.HANG], SLOW, "timeout", "timeout_first_byte", b""),
    "half a body": ([http(GOOD)[:-9], Act.HANG], SLOW, "timeout", "timeout_total", GOOD[:-9]),
    "first byte late": (
        [Act.HANG],
        {"timeout_ms": 5_000, "first_byte_timeout_ms": 100},
        "timeout",
        "timeout_first_byte",
        b"",
    ),
    "reset before a byte": ([Act.RESET], {}, "provider_error", "connection_lost", b""),
    "reset in the status line": ([b"HTTP/1.1 20", Act.RESET], {}, "provider_error", "connection_lost", b""),
    "reset after the headers": ([http(GOOD)[: -len(GOOD)], Act.RESET], {}, "provider_error", "connection_lost", b""),
    "reset in the body": ([http(GOOD)[:-9], Act.RESET], {}, "provider_error", "connection_lost", GOOD[:-9]),
    "closed before a byte": ([Act.CLOSE], {}, "provider_error", "connection_lost", b""),
    "closed early": ([http(GOOD)[:-9], Act.CLOSE], {}, "provider_error", "connection_lost", GOOD[:-9]),
    "length too long": (
        [http(GOOD, length=len(GOOD) + 7), Act.CLOSE],
        {},
        "provider_error",
        "connection_lost",
        GOOD,
    ),
    "length too short": ([http(GOOD, length=20), Act.CLOSE], {}, "provider_error", None, None),
    "length no number": (
        [b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n" + GOOD, Act.CLOSE],
        {},
        "provider_error",
        "bad_encoding",
        b"",
    ),
    "no HTTP": ([b"SSH-2.0-OpenSSH_9\r\n\r\n", Act.CLOSE], {}, "provider_error", "bad_encoding", b""),
    "chunk size no number": (
        [chunked(b"", end=False)[:-5] + b"zz\r\n" + GOOD + b"\r\n0\r\n\r\n", Act.CLOSE],
        {},
        "provider_error",
        "bad_encoding",
        b"",
    ),
    "last chunk missing": ([chunked(GOOD, end=False), Act.CLOSE], {}, "provider_error", "connection_lost", GOOD),
    "a web page": ([http(b"<html>hello</html>")], {}, "provider_error", "html_body", b"<html>hello</html>"),
    "a web page, 502": (
        [http(b"<html>nginx</html>", status="502 Bad Gateway")],
        {},
        "provider_error",
        None,
        b"<html>nginx</html>",
    ),
    "said to be gzip, and is not": (
        [http(b"\x00\x01\x02\xff", "Content-Encoding: gzip")],
        {},
        "provider_error",
        None,
        b"\x00\x01\x02\xff",
    ),
    "brotli, which was not asked for": (
        [http(b"\x0b\x02\x80{}\x03", "Content-Encoding: br")],
        {},
        "provider_error",
        None,
        b"\x0b\x02\x80{}\x03",
    ),
    "gzip cut short": (
        [http(gzip.compress(GOOD, mtime=0)[:40], "Content-Encoding: gzip")],
        {},
        "provider_error",
        None,
        gzip.compress(GOOD, mtime=0)[:40],
    ),
    "UTF-16": ([http(GOOD.decode().encode("utf-16"))], {}, "provider_error", None, GOOD.decode().encode("utf-16")),
    "429": ([http(b'{"error":{"message":"slow down"}}', status="429 Too Many")], {}, "rate_limited", None, None),
    "no body at all": ([http(b"")], {}, "provider_error", "empty_body", b""),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_coverage_loss_of_its_kind_with_the_bytes_that_came(tmp_path: Path, name: str) -> None:
    script, settings, acceptance, code, kept = FAULTS[name]
    run, record = hold(tmp_path / "run", lambda _: script, **settings)
    (derived,) = run.derived()
    assert isinstance(derived.outcome, ProviderError)
    assert (derived.verdict.acceptance, derived.verdict.passed) == (acceptance, None)
    assert code in {None, derived.outcome.code}
    (exchange,) = exchanges(record)
    assert kept in {None, exchange.response}


@pytest.mark.parametrize("act", [Act.RESET, Act.CLOSE])
def test_a_connection_cut_before_the_request_is_read_is_lost(tmp_path: Path, act: Act) -> None:
    run, record = hold(tmp_path / "run", lambda _: [], on_accept=act)
    (derived,) = run.derived()
    assert isinstance(derived.outcome, ProviderError)
    assert derived.outcome.code == "connection_lost"
    assert exchanges(record)[0].status is None


def test_a_stream_that_drips_for_ever_is_bounded_by_the_total(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    settings = {"timeout_ms": 300, "first_byte_timeout_ms": 250, "connect_timeout_ms": 250}
    run, record = hold(tmp_path / "run", lambda _: [head, Act.DRIP], stream=True, **settings)
    (derived,) = run.derived()
    assert isinstance(derived.outcome, ProviderError)
    assert derived.outcome.code == "timeout_total"
    assert exchanges(record)[0].response.startswith(b": hi\n")
    assert exchanges(record)[0].chunks


def test_a_refused_connection_is_named_so(tmp_path: Path) -> None:
    async def go() -> Run:
        async with Faulty(lambda _: []) as server:
            url = server.url
        models, options = [stand_in_model(url)], {"repeats": 1, "attempts": 1}
        return await callscope.arun(small_suite(0), models=models, out=tmp_path / "run", **options)

    (derived,) = asyncio.run(go()).derived()
    assert isinstance(derived.outcome, ProviderError)
    assert derived.outcome.code == "connection_failed"


def test_a_body_beyond_the_bound_is_cut_there_and_never_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_RESPONSE_BYTES", 100_000)
    huge = completion("x" * 300_000)
    run, record = hold(tmp_path / "run", lambda _: [http(huge)])
    (derived,) = run.derived()
    assert isinstance(derived.outcome, ProviderError)
    assert derived.outcome.code == "response_too_large"
    assert exchanges(record)[0].response == huge[:100_000]


def deflated(raw: bytes, window: int) -> bytes:
    squeezer = zlib.compressobj(wbits=window)
    return squeezer.compress(raw) + squeezer.flush()


WHOLE = {
    "gzip": ([http(gzip.compress(GOOD, mtime=0), "Content-Encoding: gzip")], gzip.compress(GOOD, mtime=0)),
    "deflate": ([http(deflated(GOOD, 15), "Content-Encoding: deflate")], deflated(GOOD, 15)),
    "raw deflate": ([http(deflated(GOOD, -15), "Content-Encoding: deflate")], deflated(GOOD, -15)),
    "said to be gzip, and is plain": ([http(GOOD, "Content-Encoding: gzip")], GOOD),
    "1xx first": ([b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + http(GOOD)], GOOD),
    "a byte at a time": ([http(GOOD)[place : place + 1] for place in range(len(http(GOOD)))], GOOD),
    "no length, closed at the end": ([b"HTTP/1.1 200 OK\r\n\r\n" + GOOD, Act.CLOSE], GOOD),
    "a stream nobody asked for": ([chunked(*EVENTS)], b"".join(EVENTS)),
    "labelled as a page": ([http(GOOD).replace(b"application/json", b"text/html; charset=utf-7")], GOOD),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_odd_and_whole_is_read_and_kept_as_it_came(tmp_path: Path, name: str) -> None:
    script, kept = WHOLE[name]
    run, record = hold(tmp_path / "run", lambda _: script)
    (derived,) = run.derived()
    assert derived.verdict.passed is True
    assert exchanges(record)[0].response == kept


NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
DATE = format_datetime(NOW, usegmt=True)


@pytest.mark.parametrize(
    "headers", [[], ["Retry-After: 0"], [f"Date: {DATE}", f"Retry-After: {DATE}"], ["Retry-After-Ms: 1"]], ids=str
)
def test_a_429_is_tried_again_after_the_time_it_asks_for(tmp_path: Path, headers: Iterable[str]) -> None:
    answers = iter([http(b'{"error":{"message":"slow down"}}', *headers, status="429 Too Many Requests")])
    run, record = hold(tmp_path / "run", lambda _: [next(answers, http(GOOD))], attempts=2)
    assert [exchange.status for exchange in exchanges(record)] == [429, 200]
    (derived,) = run.derived()
    assert derived.verdict.passed is True
    assert derived.measures.attempts == 2
    assert exchanges(record)[1].timing.queued >= (450 if not headers else 0)


def test_a_wait_beyond_patience_ends_the_attempts_and_the_trial_is_lost_not_wrong(tmp_path: Path) -> None:
    refusal = http(b'{"error":{"message":"slow down"}}', "Retry-After: 86400", status="429 Too Many Requests")
    run, record = hold(tmp_path / "run", lambda _: [refusal], attempts=4)
    assert len(exchanges(record)) == 1
    assert next(iter(run.derived())).verdict.acceptance == "rate_limited"
