"""AWS's standard variables become one key that signs each attempt anew; no part of it is ever shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from callscope.capture.attempts import Policy, send_with_retries
from callscope.capture.keys import Keyring, check_credentials
from callscope.capture.pacing import Lane
from callscope.capture.redact import Redactor
from callscope.capture.transport import Answer, Timeouts
from callscope.contract import ModelEntry, Text, Timing, WireRequest
from callscope.errors import InputError
from callscope.providers import get_adapter
from callscope.providers.sigv4 import Credentials, read_credentials

ENTRY = ModelEntry("m", "bedrock", "m", "bedrock", "https://x.example", "AWS_ACCESS_KEY_ID")
ENVIRON = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret/secret", "OTHER": "other-1"}


@pytest.mark.parametrize(
    ("more", "token", "region"),
    [
        ({}, None, None),
        (
            {"AWS_SESSION_TOKEN": "token==", "AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "x"},
            "token==",
            "eu-west-1",
        ),
        ({"AWS_SESSION_TOKEN": " ", "AWS_DEFAULT_REGION": "us-east-2"}, None, "us-east-2"),
    ],
)
def test_the_standard_variables_are_one_key(more: dict[str, str], token: str | None, region: str | None) -> None:
    keyring = Keyring([ENTRY], {**ENVIRON, **more})
    key = keyring.key_of(ENTRY)
    assert key is not None
    assert read_credentials(key) == Credentials("AKIDEXAMPLE", "secret/secret", token, region)
    for secret in ("AKIDEXAMPLE", "secret/secret", token, key):
        if secret is not None:
            assert secret not in keyring.redactor.mask_text(f"before {secret} after")
            assert secret not in repr(keyring)


@pytest.mark.parametrize("missing", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_a_missing_part_is_named(missing: str) -> None:
    with pytest.raises(InputError, match=f"{missing} is not set"):
        Keyring([ENTRY], {**ENVIRON, missing: ""})


class Signing:
    """An adapter that only notes what it is asked to sign."""

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, str, str]] = []
        self.under = get_adapter("bedrock")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.under, name)

    def sign(self, wire: WireRequest, key: str | None, *, url: str, at: str) -> tuple[tuple[str, str], ...]:
        self.asked.append((key, url, at))
        return (("authorization", f"signature {len(self.asked)}"),)


class Busy:
    """A transport whose first answer is a 429."""

    def __init__(self) -> None:
        self.sent: list[tuple[tuple[str, str], ...]] = []

    async def send(self, method: str, url: str, headers: Any, body: bytes, *, timeouts: Any, stream: bool) -> Answer:
        self.sent.append(headers)
        busy = len(self.sent) == 1
        return Answer(429 if busy else 200, (), b'{"message": "slow"}' if busy else SAID, Timing())


SAID = b'{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"end_turn"}'


def test_each_attempt_is_signed_for_its_own_moment() -> None:
    async def at_once(_: float) -> None:
        """No waiting in tests."""

    adapter, transport = Signing(), Busy()
    wire = WireRequest("/model/m/converse", (("content-type", "application/json"),), b"{}")
    sending = send_with_retries(
        transport,
        adapter,  # type: ignore[arg-type]  # what it lacks it takes from the adapter under it
        wire,
        url="https://x.example/model/m/converse",
        key="k-123456",
        redactor=Redactor(["k-123456"]),
        stream=False,
        timeouts=Timeouts(1.0, 1.0, 1.0),
        lane=Lane(sleep=at_once),
        policy=Policy(attempts=2),
    )
    exchanges, reading = asyncio.run(sending)
    assert reading.outcome == Text("a")
    assert [headers[-1] for headers in transport.sent] == [
        ("authorization", "signature 1"),
        ("authorization", "signature 2"),
    ]
    moments = [exchange.started_at for exchange in exchanges]
    assert adapter.asked == [("k-123456", "https://x.example/model/m/converse", at) for at in moments]
    assert all("signature" not in str(exchange.request_headers) for exchange in exchanges)


def test_what_cannot_be_signed_is_known_before_any_call() -> None:
    keyring = Keyring([ENTRY], ENVIRON)
    with pytest.raises(InputError, match="region"):
        check_credentials(ENTRY, keyring)
    check_credentials(ENTRY, Keyring([ENTRY], {**ENVIRON, "AWS_REGION": "eu-west-1"}))
