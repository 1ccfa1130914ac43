"""Google's own SDK as oracle: it sends the same body for the same request, and reads the same calls out of the same
bytes. It differs in three spellings, none of which means anything: see `ours_spelled_so`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from native_kit import GEMINI, TOOLS, candidate, dump, part, raw_of, request, rows_of
from providers_kit import Loopback

from callscope.contract import NamedChoice, ToolCalls, ToolResult
from callscope.providers import with_switches

genai = pytest.importorskip("google.genai")
types = genai.types

ASKED = [types.Content(role="user", parts=[types.Part(text="Two seats to OSLO, please.")])]


@pytest.fixture(scope="module")
def client(loopback: Loopback) -> Iterator[Any]:
    options = types.HttpOptions(base_url=loopback.url.removesuffix("/v1"), api_version="v1")
    with genai.Client(api_key="AIza-not-a-key", http_options=options) as made:
        yield made


def config(**more: Any) -> Any:
    declared = [
        types.FunctionDeclaration(name=t.name, description=t.description, parameters_json_schema=t.parameters)
        for t in TOOLS
    ]
    off = types.AutomaticFunctionCallingConfig(disable=True)
    return types.GenerateContentConfig(
        system_instruction="You sell tickets.",
        tools=[types.Tool(function_declarations=declared)],
        automatic_function_calling=off,
        **more,
    )


def mode(name: str, *allowed: str) -> Any:
    chosen = types.FunctionCallingConfig(mode=name, allowed_function_names=list(allowed) or None)
    return types.ToolConfig(function_calling_config=chosen)


def ours_spelled_so(wire: Any) -> Any:
    """Our body in the SDK's spelling: a role beside the system text, a snake-case field, empty settings written out."""
    body = json.loads(wire.body)
    body["systemInstruction"]["role"] = "user"
    for declared in body["tools"][0]["functionDeclarations"]:
        declared["parameters_json_schema"] = declared.pop("parametersJsonSchema")
    body.setdefault("generationConfig", {})
    return body


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {"tool_config": mode("AUTO")}),
        (
            {"temperature": 0.0, "seed": 7, "max_tokens": 64, "strict": True},
            {"tool_config": mode("VALIDATED"), "temperature": 0.0, "seed": 7, "max_output_tokens": 64},
        ),
        ({"tool_choice": "required"}, {"tool_config": mode("ANY")}),
        ({"tool_choice": "none"}, {"tool_config": mode("NONE")}),
        ({"tool_choice": NamedChoice("find_train")}, {"tool_config": mode("ANY", "find_train")}),
        ({"stream": True}, {"tool_config": mode("AUTO")}),
        (
            {"extra": {"generationConfig": {"stopSequences": ["x"]}}},
            {"tool_config": mode("AUTO"), "stop_sequences": ["x"]},
        ),
    ],
)
def test_the_sdk_sends_an_equivalent_body(loopback: Loopback, client: Any, ours: Any, theirs: Any) -> None:
    loopback.answer = (200, "application/json", dump(candidate({"text": "a"})))
    asked = {"model": "m-1", "contents": ASKED, "config": config(**theirs)}
    if ours.get("stream"):
        loopback.answer = (200, "text/event-stream", b"data: " + dump(candidate({"text": "a"})) + b"\r\n\r\n")
        list(client.models.generate_content_stream(**asked))
    else:
        client.models.generate_content(**asked)
    wire = GEMINI.build(request(**ours))
    assert ours_spelled_so(wire) == loopback.seen[-1]
    assert loopback.paths[-1] == f"/v1{wire.path}"
    [(name, value)] = GEMINI.authorize(wire, "AIza-not-a-key")
    assert loopback.headers[-1][name] == value


def test_the_sdk_sends_the_openapi_field_in_the_same_words(loopback: Loopback, client: Any) -> None:
    loopback.answer = (200, "application/json", dump(candidate({"text": "a"})))
    kept = [tool for tool in TOOLS if tool.name == "find_train"]
    closed = {k: v for k, v in kept[0].parameters.items() if k != "additionalProperties"}
    declared = types.FunctionDeclaration(name="find_train", description="d", parameters=closed)
    off = types.AutomaticFunctionCallingConfig(disable=True)
    asked = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])], automatic_function_calling=off
    )
    client.models.generate_content(model="m-1", contents=ASKED, config=asked)
    theirs = loopback.seen[-1]["tools"][0]["functionDeclarations"][0]["parameters"]
    station = theirs["properties"]["from_station"]
    station |= {"minLength": station.pop("min_length"), "maxLength": station.pop("max_length")}  # ProtoJSON takes both
    wire = GEMINI.build(request(tools=tuple(kept), extra=with_switches({}, {"schema_field": "parameters"})))
    assert json.loads(wire.body)["tools"][0]["functionDeclarations"][0]["parameters"] == theirs


def test_the_sdk_sends_an_equivalent_second_turn(loopback: Loopback, client: Any) -> None:
    raw = dump(
        candidate(
            part("find_train", {"a": 1}, thoughtSignature="c2ln"), part("station_clock", {}, function={"id": "c"})
        )
    )
    loopback.answer = (200, "application/json", raw)
    said = client.models.generate_content(model="m-1", contents=ASKED, config=config(tool_config=mode("AUTO")))
    responses = [
        types.Part(function_response=types.FunctionResponse(id=c.id, name=c.name, response={"output": c.name}))
        for c in said.function_calls
    ]
    turn = [*ASKED, said.candidates[0].content, types.Content(role="user", parts=responses)]
    client.models.generate_content(model="m-1", contents=turn, config=config(tool_config=mode("AUTO")))
    results = [ToolResult(0, None, "find_train", "find_train"), ToolResult(1, "c", "station_clock", "station_clock")]
    wire = GEMINI.build(GEMINI.follow_up(request(), raw, results, stream=False))
    assert ours_spelled_so(wire) == loopback.seen[-1]


def read_by_sdk(client: Any, loopback: Loopback, row: dict[str, Any]) -> list[Any]:
    kind = "text/event-stream" if row["stream"] else "application/json"
    loopback.answer = (row["status"], kind, raw_of(row))
    if row["stream"]:
        answers = list(client.models.generate_content_stream(model="m", contents=ASKED))
    else:
        answers = [client.models.generate_content(model="m", contents=ASKED)]
    return [(c.id, c.name, c.args) for answer in answers for c in answer.function_calls or ()]


def test_the_sdk_reads_the_same_calls_out_of_the_same_bytes(loopback: Loopback, client: Any, shared: Path) -> None:
    compared = {True: 0, False: 0}
    for row in rows_of(shared, "gemini"):
        if row["status"] != 200:
            with pytest.raises(genai.errors.APIError):
                read_by_sdk(client, loopback, row)
            continue
        outcome = GEMINI.parse(200, {}, raw_of(row), stream=row["stream"]).outcome
        ours = outcome.calls if isinstance(outcome, ToolCalls) else ()
        read = [(c.id, c.name, c.arguments if c.malformed is None else json.loads(c.malformed.raw)) for c in ours]
        assert read == read_by_sdk(client, loopback, row), row["file"]
        compared[row["stream"]] += len(ours)
    assert compared == {True: 4, False: 233}
