"""Canary keys, planted wherever a key can be, never reach the disk, the terminal or an exception."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from msgspec import structs

import callscope
from callscope.providers import get_adapter
from tests.capture.helpers import small_suite, stand_in_model
from tests.faulty import Act, Faulty
from tests.stand_in import Reply, Respond, Seen, StandIn, by_rules, completion, stream_of

CANARY = 'sk-canary"9/+=T\\zQ7'
VARIABLE = "STAND_IN_KEY"
EVENTS = (("Content-Type", "text/event-stream"),)


def forms() -> list[bytes]:
    raw = CANARY.encode()
    return [
        raw,
        json.dumps(CANARY)[1:-1].encode(),
        quote(CANARY, safe="").encode(),
        base64.b64encode(raw)[:-4],
        raw[:12],
    ]


def echoing(place: str) -> Reply:
    basic = base64.b64encode(f"user:{CANARY}".encode()).decode()
    json_type = ("Content-Type", "application/json")
    escaped = json.dumps(CANARY)[1:-1]
    replies = {
        "error body": Reply(json.dumps({"error": {"message": f"Incorrect API key: {CANARY}"}}).encode(), 401),
        "answer text": Reply(completion(f"your key is {CANARY} and {basic} and {quote(CANARY, safe='')}")),
        "call arguments": Reply(completion(None, [("lookup_order", json.dumps({"order_id": CANARY}))])),
        "header": Reply(completion("x"), headers=(json_type, ("X-Echo", CANARY), ("Set-Cookie", f"k={CANARY}"))),
        "compressed": Reply(
            gzip.compress(completion(f"key {CANARY}")), headers=(json_type, ("Content-Encoding", "gzip"))
        ),
        "stream": Reply(
            headers=(("Content-Type", "text/event-stream"),),
            parts=(b'data: {"choices":[{"index":0,"delta":{"content":"', escaped.encode(), b'"}}]}\n\n'),
        ),
    }
    return replies[place]


@pytest.mark.parametrize("place", ["error body", "answer text", "call arguments", "header", "compressed", "stream"])
def test_a_key_echoed_by_the_server_is_never_written_or_shown(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)

    async def go() -> list[Seen]:
        async with StandIn(lambda _: echoing(place)) as server:
            model = stand_in_model(server.url, api_key_env=VARIABLE, stream=place == "stream")
            run = await callscope.arun(small_suite(1), models=[model], out=tmp_path / "run", repeats=1, attempts=1)
            assert run.check().differing == ()
            return server.seen

    seen = asyncio.run(go())
    assert ("Authorization", f"Bearer {CANARY}") in [(k.title(), v) for k, v in seen[0].headers], "the key is sent"
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    shown = "".join(capfd.readouterr()).encode()
    for form in forms():
        assert form not in written, f"{form!r} was written"
        assert form not in shown


def test_a_key_is_in_no_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    from callscope.capture import runner

    async def leaking(line: object, *_: object) -> None:
        raise RuntimeError(f"could not send with {CANARY}: {line}")

    monkeypatch.setattr(runner, "hold_trial", leaking)

    async def go() -> callscope.Run:
        async with StandIn(by_rules) as server:
            model = stand_in_model(server.url, api_key_env=VARIABLE)
            return await callscope.arun(small_suite(1), models=[model], out=tmp_path / "run", repeats=1)

    run = asyncio.run(go())
    text = "".join(path.read_text() for path in run.path.glob("*.jsonl"))
    assert "could not send" in text
    assert all(form.decode() not in text for form in forms())


# Every place of specs/providers.md, section 1: what carries a credential is masked whatever stands in it, in requests
# and in responses; what is a secret of the run is masked wherever it stands.
CREDENTIAL_PLACES = [
    "Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Set-Cookie",
    "X-Amz-Security-Token", "OpenAI-Organization", "OpenAI-Project", "Anthropic-Workspace-Id",
    "Anthropic-Organization-Id", "Ocp-Apim-Subscription-Key", "Cf-Aig-Authorization",
]  # fmt: skip
QUERY_PLACES = [
    "key", "api_key", "api-key", "apikey", "subscription-key", "access_token", "token", "client_secret", "password",
    "sig", "signature", "X-Amz-Credential", "X-Amz-Security-Token", "X-Amz-Signature",
]  # fmt: skip
UNKNOWN = "not-a-key-of-this-run-0815"


def run_once(out: Path, respond: Respond, **more: Any) -> tuple[callscope.Run, bytes]:
    """A run of one case; gives it and all bytes of its folder."""

    async def go() -> callscope.Run:
        async with StandIn(respond) as server:
            model = stand_in_model(server.url, api_key_env=VARIABLE, **more)
            return await callscope.arun(small_suite(0), models=[model], out=out, repeats=1, attempts=1)

    run = asyncio.run(go())
    assert run.check().differing == ()
    return run, b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", CREDENTIAL_PLACES)
@pytest.mark.parametrize("value", [UNKNOWN, CANARY], ids=["another's", "ours"])
def test_a_response_header_that_carries_credentials_is_never_written(
    tmp_path: Path, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    headers = (("Content-Type", "application/json"), (name, f"Bearer {value}"))
    _, written = run_once(tmp_path / "run", lambda _: Reply(completion("Good morning."), headers=headers))
    assert name.encode() in written
    assert value.encode() not in written


@pytest.mark.parametrize("name", CREDENTIAL_PLACES)
def test_a_request_header_that_carries_credentials_is_never_written(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    adapter = type(get_adapter("openai-chat"))
    monkeypatch.setattr(adapter, "authorize", lambda *_: ((name, f"Bearer {UNKNOWN}"),))
    seen: list[Seen] = []

    def respond(one: Seen) -> Reply:
        seen.append(one)
        return by_rules(one)

    _, written = run_once(tmp_path / "run", respond)
    assert (name.lower(), f"Bearer {UNKNOWN}") in [(k.lower(), v) for k, v in seen[0].headers], "it is sent"
    assert UNKNOWN.encode() not in written


@pytest.mark.parametrize("name", QUERY_PLACES)
@pytest.mark.parametrize("value", [UNKNOWN, quote(CANARY, safe="")], ids=["another's", "ours"])
def test_a_key_in_a_query_is_never_written(
    tmp_path: Path, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the address that is called, and in one that the server names in a header."""
    monkeypatch.setenv(VARIABLE, CANARY)
    adapter = type(get_adapter("openai-chat"))
    build = adapter.build

    def with_query(self: Any, request: Any) -> Any:
        wire = build(self, request)
        return structs.replace(wire, path=f"{wire.path}?alt=json&{name}={value}&v=1")

    monkeypatch.setattr(adapter, "build", with_query)
    headers = (("Content-Type", "application/json"), ("Location", f"https://h/?{name}={value}&v=2"))
    seen: list[Seen] = []

    def respond(one: Seen) -> Reply:
        seen.append(one)
        return Reply(completion("Good morning."), headers=headers)

    _, written = run_once(tmp_path / "run", respond)
    assert value in seen[0].target, "it is sent"
    assert b"alt=json" in written
    assert b"v=2" in written
    assert value.encode() not in written


def test_a_key_in_a_reason_phrase_or_a_broken_status_line_is_never_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    heads = [f"HTTP/1.1 401 bad key {CANARY}", f"HTTP/1.1 {CANARY} bad", f"{CANARY} HTTP/1.1 401"]

    async def go(place: Path, head: str) -> callscope.Run:
        script = [f"{head}\r\nContent-Length: 2\r\n\r\n{{}}".encode(), Act.CLOSE]
        async with Faulty(lambda _: script) as server:
            model = stand_in_model(server.url, api_key_env=VARIABLE)
            return await callscope.arun(small_suite(0), models=[model], out=place, repeats=1, attempts=1)

    for number, head in enumerate(heads):
        run = asyncio.run(go(tmp_path / str(number), head))
        written = b"".join(path.read_bytes() for path in run.path.rglob("*") if path.is_file())
        assert all(form not in written for form in forms()), head


def cut(piece: int) -> tuple[bytes, ...]:
    return stream_of(f"Your key is {CANARY}, keep it.", piece=piece)


HIDDEN = {
    **{f"cut into deltas of {size}": Reply(headers=EVENTS, parts=cut(size)) for size in (1, 2, 3, 5, 7, 11, 16)},
    "deltas in one network chunk": Reply(headers=EVENTS, body=b"".join(cut(4))),
    "compressed deltas": Reply(headers=(*EVENTS, ("Content-Encoding", "gzip")), body=gzip.compress(b"".join(cut(4)))),
    "split between network chunks": Reply(
        headers=(("Content-Type", "application/json"),),
        parts=tuple(completion(f"key {CANARY}")[place : place + 3] for place in range(0, 400, 3)),
    ),
    "call arguments in deltas": Reply(
        headers=EVENTS, parts=stream_of(None, [("lookup_order", json.dumps({"order_id": CANARY}))], piece=3)
    ),
    "interleaved calls": Reply(
        headers=EVENTS,
        parts=stream_of(
            None,
            [("lookup_order", json.dumps({"order_id": CANARY})), ("search_orders", '{"email":"a@b.example"}')],
            piece=3,
        ),
    ),
    "unicode escapes": Reply(
        completion("@").replace(b'"@"', b'"' + "".join(f"\\u{ord(c):04x}" for c in CANARY).encode() + b'"')
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", HIDDEN)
def test_a_key_that_shows_only_once_the_answer_is_read_is_never_written(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    run, written = run_once(tmp_path / "run", lambda _: HIDDEN[how], stream="delta" in how or "call" in how)
    for form in forms():
        assert form not in written, f"{form!r} was written"
    (record,) = [record for _, record in run.folder.records()]
    exchange = record.rounds[0].exchanges[0]
    assert exchange.redactions >= 1
    if how not in {"unicode escapes", "split between network chunks"}:
        (derived,) = run.derived()
        assert derived.verdict.acceptance == "accepted", "only the key's pieces are masked, the answer stays readable"


def test_a_proxys_password_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy on loopback, asked for by name, that refuses and says why, password and all."""
    monkeypatch.setenv(VARIABLE, CANARY)
    password = "proxy-pass-4711"

    async def go() -> tuple[callscope.Run, list[Seen]]:
        def respond(_: Seen) -> Reply:
            return Reply(json.dumps({"error": {"message": f"no: {password}"}}).encode(), 407)

        async with StandIn(respond) as proxy:
            address = proxy.url.removesuffix("/v1").removeprefix("http://")
            monkeypatch.setenv("HTTP_PROXY", f"http://user:{password}@{address}")
            monkeypatch.setenv("CALLSCOPE_PROXY_LOOPBACK", "1")
            monkeypatch.delenv("NO_PROXY", raising=False)
            monkeypatch.delenv("no_proxy", raising=False)
            model = stand_in_model("http://127.0.0.1:9/v1", api_key_env=VARIABLE)
            run = await callscope.arun(
                small_suite(0), models=[model], out=tmp_path / "run", repeats=1, attempts=1, timeout_ms=5_000
            )
            return run, proxy.seen

    run, seen = asyncio.run(go())
    assert seen[0].target == "http://127.0.0.1:9/v1/chat/completions"
    assert run.manifest.environment["HTTP_PROXY"].startswith("http://[redacted]@127.0.0.1")
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    basic = base64.b64encode(f"user:{password}".encode())
    for form in (password.encode(), basic, *forms()):
        assert form not in written


@pytest.mark.parametrize("place", ["label", "model", "extra"])
def test_a_key_that_was_pasted_into_a_model_entry_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    key = "plain-canary-key-12345"
    monkeypatch.setenv(VARIABLE, key)
    pasted = {"extra": {"note": key}} if place == "extra" else {place: key}
    model = stand_in_model("http://127.0.0.1:9/v1", api_key_env=VARIABLE) | pasted
    with pytest.raises(callscope.InputError, match="key's value stands in") as caught:
        callscope.run(small_suite(1), models=[model], out=tmp_path / "run", repeats=1)
    assert key not in str(caught.value)
    assert not (tmp_path / "run").exists()
