"""Canary keys, planted wherever a key can be, never reach the disk, the terminal or an exception."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from pathlib import Path
from urllib.parse import quote

import pytest

import callscope
from tests.capture.helpers import small_suite, stand_in_model
from tests.stand_in import Reply, Seen, StandIn, by_rules, completion

CANARY = 'sk-canary"9/+=T\\zQ7'
VARIABLE = "STAND_IN_KEY"


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
