"""botocore as oracle: it sends the same body and signs it the same, and reads the same calls out of the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from native_kit import BEDROCK, TOOLS, converse, raw_of, request, rows_of, use
from providers_kit import Loopback

from callscope.contract import NamedChoice, ToolCalls, ToolResult, WireRequest
from callscope.providers.sigv4 import Credentials, write_credentials

boto3 = pytest.importorskip("boto3")
botocore = pytest.importorskip("botocore")

MESSAGES = [{"role": "user", "content": [{"text": "Two seats to OSLO, please."}]}]
SYSTEM = [{"text": "You sell tickets."}]
KEY = Credentials("AKIDEXAMPLE", "secret/secret+secret", "session/token==", "eu-west-1")


@pytest.fixture(scope="module")
def client(loopback: Loopback) -> Iterator[Any]:
    from botocore.config import Config

    once = Config(retries={"total_max_attempts": 1, "mode": "standard"})
    made = boto3.client(
        "bedrock-runtime",
        region_name=KEY.region,
        endpoint_url=loopback.url.removesuffix("/v1"),
        aws_access_key_id=KEY.access_key,
        aws_secret_access_key=KEY.secret_key,
        aws_session_token=KEY.session_token,
        config=once,
    )
    yield made
    made.close()


def tools(**more: Any) -> list[Any]:
    return [
        {
            "toolSpec": {
                "name": t.name,
                **({"description": t.description} if t.description else {}),
                "inputSchema": {"json": t.parameters},
                **more,
            }
        }
        for t in TOOLS
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {"toolConfig": {"tools": tools(), "toolChoice": {"auto": {}}}}),
        (
            {"temperature": 0.0, "max_tokens": 64, "strict": True, "tool_choice": "required"},
            {
                "toolConfig": {"tools": tools(strict=True), "toolChoice": {"any": {}}},
                "inferenceConfig": {"temperature": 0.0, "maxTokens": 64},
            },
        ),
        (
            {"tool_choice": NamedChoice("find_train"), "extra": {"additionalModelRequestFields": {"a": 1}}},
            {
                "toolConfig": {"tools": tools(), "toolChoice": {"tool": {"name": "find_train"}}},
                "additionalModelRequestFields": {"a": 1},
            },
        ),
        ({"tool_choice": "none"}, {}),
    ],
)
def test_the_sdk_sends_and_signs_an_equivalent_request(loopback: Loopback, client: Any, ours: Any, theirs: Any) -> None:
    loopback.answer = (200, "application/json", converse({"text": "a"}))
    model = "us.amazon.nova-micro-v1:0"
    client.converse(modelId=model, system=SYSTEM, messages=MESSAGES, **theirs)
    wire = BEDROCK.build(request(model=model, **ours))
    assert json.loads(wire.body) == loopback.seen[-1]
    assert loopback.paths[-1] == wire.path
    sent = loopback.headers[-1]
    at = datetime.strptime(sent["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).isoformat()
    # botocore writes the same JSON with spaces, so its own bytes are signed here
    theirs_on_the_wire = WireRequest(wire.path, wire.headers, json.dumps(loopback.seen[-1]).encode())
    url = loopback.url.removesuffix("/v1") + wire.path
    signed = dict(BEDROCK.sign(theirs_on_the_wire, write_credentials(KEY), url=url, at=at))
    assert signed == {name: sent[name] for name in ("x-amz-date", "x-amz-security-token", "authorization")}


class SeenError(Exception):
    """Ends the SDK's attempt before it reaches the network."""


def test_the_sdk_sends_the_same_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def look(request: Any, **_: Any) -> None:
        seen.update({name.lower(): value for name, value in request.headers.items()})
        raise SeenError

    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-1")
    made = boto3.client("bedrock-runtime", region_name="us-east-1")  # a token is sent over HTTPS only
    made.meta.events.register("before-send.bedrock-runtime.Converse", look)
    with pytest.raises(SeenError):
        made.converse(modelId="m-1", messages=MESSAGES)
    made.close()
    [(name, value)] = BEDROCK.authorize(BEDROCK.build(request()), "bedrock-api-key-1")
    assert seen[name] in (value, value.encode())


def test_the_sdk_sends_an_equivalent_second_turn(loopback: Loopback, client: Any) -> None:
    thought = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}
    raw = converse(thought, {"text": "I look."}, use("find_train", {"a": 1}), use("station_clock", {}, "t2"))
    loopback.answer = (200, "application/json", raw)
    config = {"tools": tools(), "toolChoice": {"auto": {}}}
    said = client.converse(modelId="m-1", system=SYSTEM, messages=MESSAGES, toolConfig=config)["output"]["message"]
    results = [
        {"toolResult": {"toolUseId": "t1", "content": [{"json": {"ok": True}}], "status": "success"}},
        {"toolResult": {"toolUseId": "t2", "content": [{"text": "late"}], "status": "error"}},
    ]
    turn = [*MESSAGES, said, {"role": "user", "content": results}]
    client.converse(modelId="m-1", system=SYSTEM, messages=turn, toolConfig=config)
    answers = [ToolResult(0, "t1", "find_train", {"ok": True}), ToolResult(1, "t2", "station_clock", "late", True)]
    after = BEDROCK.follow_up(request(), raw, answers, stream=False)
    assert json.loads(BEDROCK.build(after).body) == loopback.seen[-1]


def read_by_sdk(client: Any, loopback: Loopback, row: dict[str, Any]) -> list[Any]:
    kind = "application/vnd.amazon.eventstream" if row["stream"] else "application/json"
    loopback.answer = (row["status"], kind, raw_of(row))
    if not row["stream"]:
        blocks = client.converse(modelId="m", messages=MESSAGES)["output"]["message"]["content"]
        uses = [block["toolUse"] for block in blocks if "toolUse" in block]
        return [(u["toolUseId"], u["name"], u["input"]) for u in uses if u.get("type") != "server_tool_use"]
    found: dict[int, Any] = {}
    for event in client.converse_stream(modelId="m", messages=MESSAGES)["stream"]:
        begun, piece = event.get("contentBlockStart"), event.get("contentBlockDelta")
        if begun and "toolUse" in begun["start"]:
            found[begun["contentBlockIndex"]] = [begun["start"]["toolUse"], ""]
        if piece and "toolUse" in piece["delta"]:
            found[piece["contentBlockIndex"]][1] += piece["delta"]["toolUse"]["input"]
    return [
        (start["toolUseId"], start["name"], json.loads(text))
        for start, text in found.values()
        if start.get("type") != "server_tool_use"
    ]


def test_the_sdk_reads_the_same_calls_out_of_the_same_bytes(loopback: Loopback, client: Any, shared: Path) -> None:
    compared = {True: 0, False: 0}
    for row in rows_of(shared, "bedrock-converse"):
        if row["status"] != 200:
            with pytest.raises(botocore.exceptions.ClientError):
                read_by_sdk(client, loopback, row)
            continue
        outcome = BEDROCK.parse(200, {}, raw_of(row), stream=row["stream"]).outcome
        ours = outcome.calls if isinstance(outcome, ToolCalls) else ()
        read = [(c.id, c.name, c.arguments) for c in ours]
        assert read == read_by_sdk(client, loopback, row), row["file"]
        compared[row["stream"]] += len(ours)
    assert compared == {True: 2, False: 93}
