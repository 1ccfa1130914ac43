"""One bad number, a status that is none, an encoding that broke: each spoils what it touches and nothing else."""

from __future__ import annotations

import gzip
import json

import pytest
from providers_kit import CHAT

from callscope.contract import Malformed, ProviderError, Reading, Text, ToolCall, ToolCalls
from callscope.providers import decode_body, get_adapter
from callscope.providers.arguments import read_argument_object
from callscope.providers.wire import load_faithful

CALL = '{"id":"1","type":"function","function":{"name":"f","arguments":"{\\"a\\":1}"}}'
WHOLE = f'{{"choices":[{{"message":{{"role":"assistant","tool_calls":[{CALL}]}},"finish_reason":"tool_calls"%s}}]%s}}'


def read(body: bytes, status: int = 200, *, stream: bool = False) -> Reading:
    return CHAT.parse(status, (), body, stream=stream)


GOOD = (ToolCall("1", "f", {"a": 1}),)
BESIDE = [
    (',"logprobs":{"content":[{"logprob":NaN}]}', ""),
    ("", ',"usage":{"prompt_tokens":1e400}'),
    ("", ',"usage":{"prompt_tokens":-Infinity}'),
    ("", f',"usage":{{"prompt_tokens":{"9" * 5000}}}'),
]


@pytest.mark.parametrize(("choice", "body"), BESIDE, ids=["nan", "overflow", "infinity", "digits"])
def test_a_number_that_json_does_not_have_spoils_no_call_beside_it(choice: str, body: str) -> None:
    reading = read((WHOLE % (choice, body)).encode())
    assert reading.outcome == ToolCalls(GOOD, ("nan_in_body",))
    assert reading.usage.input_tokens is None


def test_in_a_stream_too() -> None:
    delta = f'data: {{"choices":[{{"index":0,"delta":{{"tool_calls":[{CALL}]}},"logprobs":NaN}}]}}\n\n'
    outcome = read(delta.encode() + b"data: [DONE]\n\n", stream=True).outcome
    assert isinstance(outcome, ToolCalls)
    assert outcome.calls == GOOD
    assert "nan_in_body" in outcome.flags
    assert read(b'{"choices":[{"message":{"role":"assistant","content":"Hi"},"logprobs":NaN}]}').outcome == Text(
        "Hi", ("nan_in_body",)
    )


ARGUMENTS = [
    ('{"a": NaN}', "not_a_json_number", '{"a":NaN}'),
    ('{"a": [1, {"b": -Infinity}]}', "not_a_json_number", '{"a":[1,{"b":-Infinity}]}'),
    ('{"a": -1e400, "b": NaN}', "number_out_of_range", '{"a":-1e400,"b":NaN}'),
    ('{"a": "\\u00007\\u0000", "b": NaN}', "not_a_json_number", '{"a":"\\u00007\\u0000","b":NaN}'),
]


@pytest.mark.parametrize(("text", "reason", "raw"), ARGUMENTS)
def test_in_arguments_it_makes_the_call_malformed_with_what_was_written(text: str, reason: str, raw: str) -> None:
    assert read_argument_object(load_faithful(text)[0]).malformed == Malformed(reason, raw)
    call = f'{{"type":"tool_use","id":"t","name":"f","input":{text}}}'
    body = f'{{"type":"message","role":"assistant","content":[{call}],"stop_reason":"tool_use"}}'
    outcome = get_adapter("anthropic").parse(200, (), body.encode(), stream=False).outcome
    assert outcome == ToolCalls((ToolCall("t", "f", malformed=Malformed(reason, raw)),), ("nan_in_body",))
    in_text = json.dumps(json.dumps({"a": 0}).replace("0", "NaN"))
    chat = (WHOLE % ("", "")).replace('"{\\"a\\":1}"', in_text)
    outcome = read(chat.encode()).outcome
    assert isinstance(outcome, ToolCalls)
    assert outcome.calls[0].malformed == Malformed("not_a_json_number", '{"a": NaN}')


@pytest.mark.parametrize("status", [0, 99, 100, 199, 600, 999])
def test_a_status_that_is_none_of_an_answer_is_not_accepted(status: int) -> None:
    outcome = read((WHOLE % ("", "")).encode(), status).outcome
    assert isinstance(outcome, ProviderError)
    assert (outcome.category, outcome.code) == (
        "provider_error",
        "no_http_status" if status < 600 else f"http_{status}",
    )


def test_a_body_kept_decoded_keeps_the_flag_of_its_broken_encoding() -> None:
    cut = gzip.compress((WHOLE % ("", "")).encode() * 20)[:-12]
    decoded, flags = decode_body((("content-encoding", "gzip"),), cut)
    assert flags == ("broken_encoding",)
    note = (("X-Callscope-Decoded", "for redaction; broken_encoding"),)
    assert decode_body(note, decoded) == (decoded, ("broken_encoding",))
    assert decode_body((("x-callscope-decoded", "for redaction"),), decoded) == (decoded, ())
