"""What goes to Converse: every tool whole, nothing injected, every change recorded; how it is signed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot
from native_kit import BEDROCK, request

from callscope.contract import Message, NamedChoice, NativeMessage, Transformation
from callscope.errors import EnvironmentProblem, InputError
from callscope.providers import Signer, with_switches
from callscope.providers import sigv4 as signing
from callscope.providers.sigv4 import Credentials, read_credentials, write_credentials


def sent(**changes: Any) -> dict[str, Any]:
    return dict(json.loads(BEDROCK.build(request(**changes)).body))


def test_a_request_is_translated_and_nothing_is_added() -> None:
    wire = BEDROCK.build(request(temperature=0.5, max_tokens=99, strict=False))
    assert json.loads(wire.body) == snapshot(
        {
            "system": [{"text": "You sell tickets."}],
            "messages": [{"role": "user", "content": [{"text": "Two seats to OSLO, please."}]}],
            "toolConfig": {
                "tools": [
                    {
                        "toolSpec": {
                            "name": "find_train",
                            "description": "Trains between two stations.",
                            "inputSchema": {
                                "json": {
                                    "type": "object",
                                    "properties": {
                                        "from_station": {"type": "string", "minLength": 2, "maxLength": 40},
                                        "to_station": {"type": "string", "pattern": "^[A-Z]{2,5}$"},
                                        "class": {"type": "string", "enum": ["first", "second"]},
                                    },
                                    "required": ["from_station", "to_station"],
                                    "additionalProperties": False,
                                }
                            },
                            "strict": False,
                        }
                    },
                    {
                        "toolSpec": {
                            "name": "reserve_seats",
                            "description": "Reserve seats in a train.",
                            "inputSchema": {
                                "json": {
                                    "type": "object",
                                    "properties": {
                                        "train": {"type": "string"},
                                        "seats": {"type": "integer", "minimum": 1, "maximum": 8},
                                        "extras": {
                                            "type": "array",
                                            "items": {"type": "string"},
                                            "maxItems": 3,
                                            "uniqueItems": True,
                                        },
                                    },
                                    "required": ["train", "seats"],
                                }
                            },
                            "strict": False,
                        }
                    },
                    {
                        "toolSpec": {
                            "name": "station_clock",
                            "inputSchema": {"json": {"type": "object", "properties": {}}},
                            "strict": False,
                        }
                    },
                ],
                "toolChoice": {"auto": {}},
            },
            "inferenceConfig": {"temperature": 0.5, "maxTokens": 99},
        }
    )
    assert wire.path == "/model/m-1/converse"
    assert wire.headers == (("content-type", "application/json"), ("accept", "application/json"))
    assert wire.transformations == ()


def test_settings_left_open_are_left_out() -> None:
    assert list(sent()) == ["system", "messages", "toolConfig"]
    assert list(sent(messages=(Message("user", "a"),), tools=())) == ["messages"]


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("us.amazon.nova-micro-v1:0", "/model/us.amazon.nova-micro-v1%3A0/converse"),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/x",
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse",
        ),
    ],
)
def test_the_model_stands_encoded_in_the_path(model: str, path: str) -> None:
    assert BEDROCK.build(request(model=model)).path == path
    wire = BEDROCK.build(request(model=model, stream=True))
    assert wire.path == f"{path}-stream"
    assert dict(wire.headers)["accept"] == "application/vnd.amazon.eventstream"


@pytest.mark.parametrize(
    ("choice", "wire"),
    [("auto", {"auto": {}}), ("required", {"any": {}}), (NamedChoice("find_train"), {"tool": {"name": "find_train"}})],
)
def test_every_tool_choice_has_its_form(choice: Any, wire: Any) -> None:
    assert sent(tool_choice=choice)["toolConfig"]["toolChoice"] == wire
    quiet = sent(tool_choice=choice, extra=with_switches({}, {"spell_auto": False}))["toolConfig"]
    assert quiet.get("toolChoice") == (None if choice == "auto" else wire)


def test_what_converse_has_no_form_for_is_recorded() -> None:
    none = BEDROCK.build(request(tool_choice="none"))
    assert "toolConfig" not in json.loads(none.body)
    names = ["find_train", "reserve_seats", "station_clock"]
    assert none.transformations == (Transformation("/tools", "left_out", names, []),)
    assert BEDROCK.build(request(parallel=True)).transformations == ()
    assert BEDROCK.build(request(parallel=False, seed=3)).transformations == (
        Transformation("/parallel", "unsupported", False),
        Transformation("/seed", "unsupported", 3),
    )
    assert BEDROCK.build(request(tools=(), tool_choice="required")).transformations == (
        Transformation("/tool_choice", "choice_without_tools", "required"),
    )


def test_roles_alternate_and_what_was_joined_is_recorded() -> None:
    native = NativeMessage({"role": "user", "content": [{"toolResult": {"toolUseId": "t"}}]})
    messages = (Message("user", "a"), Message("user", "b"), Message("assistant", "c"), native, Message("user", "d"))
    wire = BEDROCK.build(request(messages=messages))
    assert json.loads(wire.body)["messages"] == [
        {"role": "user", "content": [{"text": "a"}, {"text": "b"}]},
        {"role": "assistant", "content": [{"text": "c"}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t"}}, {"text": "d"}]},
    ]
    assert wire.transformations == (
        Transformation("/messages/1", "joined_to_previous", "user", 0),
        Transformation("/messages/4", "joined_to_previous", "user", 3),
    )
    assert native.value == {"role": "user", "content": [{"toolResult": {"toolUseId": "t"}}]}


def test_extra_is_merged_into_the_body() -> None:
    extra = {"inferenceConfig": {"topP": 0.9}, "additionalModelRequestFields": {"reasoning_config": {"type": "x"}}}
    body = sent(max_tokens=5, extra=extra)
    assert body["inferenceConfig"] == {"maxTokens": 5, "topP": 0.9}
    assert body["additionalModelRequestFields"] == {"reasoning_config": {"type": "x"}}


def test_a_wrong_switch_is_named() -> None:
    with pytest.raises(InputError, match=r"switches\.result_form: unknown switch"):
        BEDROCK.build(request(extra=with_switches({}, {"result_form": "text"})))


# credentials

KEY = Credentials("AKIDEXAMPLE", "secret/secret+x", "token==", "eu-west-1")
URL = "https://bedrock-runtime.us-east-1.amazonaws.com/model/m-1/converse"
AT = "2026-12-01T04:05:06.789Z"


def test_a_bearer_token_goes_as_it_is() -> None:
    wire = BEDROCK.build(request())
    assert isinstance(BEDROCK, Signer)
    assert BEDROCK.authorize(wire, "bedrock-api-key-1") == (("authorization", "Bearer bedrock-api-key-1"),)
    assert BEDROCK.sign(wire, "bedrock-api-key-1", url=URL, at=AT) == BEDROCK.authorize(wire, "bedrock-api-key-1")
    assert BEDROCK.sign(wire, None, url=URL, at=AT) == BEDROCK.authorize(wire, None) == ()


def test_credentials_travel_as_one_string_and_are_not_shown() -> None:
    key = write_credentials(KEY)
    assert read_credentials(key) == KEY
    assert "secret" not in repr(KEY)
    assert read_credentials(write_credentials(Credentials("a", "b"))) == Credentials("a", "b")
    assert read_credentials("ABSK-token") is None
    with pytest.raises(InputError, match="api_key: AWS credentials sign a request for one address"):
        BEDROCK.authorize(BEDROCK.build(request()), key)


@pytest.mark.parametrize("key", ["{", '{"access_key": "a"}', '{"access_key": "a", "secret_key": 7}', '{"x": 1}', "{}"])
def test_incomplete_credentials_are_refused_without_being_shown(key: str) -> None:
    with pytest.raises(InputError, match="the AWS credentials are not complete") as caught:
        read_credentials(key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("bedrock-runtime.us-east-1.amazonaws.com", "us-east-1"),
        ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("vpce-0a.bedrock-runtime.eu-north-1.vpce.amazonaws.com", "eu-north-1"),
        ("localhost:8080", "eu-west-1"),
    ],
)
def test_a_signature_is_for_the_region_of_the_address(host: str, region: str) -> None:
    pytest.importorskip("botocore")
    signed = dict(BEDROCK.sign(BEDROCK.build(request()), write_credentials(KEY), url=f"https://{host}/x", at=AT))
    assert list(signed) == ["x-amz-date", "x-amz-security-token", "authorization"]
    assert (signed["x-amz-date"], signed["x-amz-security-token"]) == ("20261201T040506Z", "token==")
    plain = write_credentials(KEY._replace(session_token=None))
    unnamed = dict(BEDROCK.sign(BEDROCK.build(request()), plain, url=f"https://{host}/x", at=AT))
    assert list(unnamed) == ["x-amz-date", "authorization"]
    scope = f"Credential=AKIDEXAMPLE/20261201/{region}/bedrock/aws4_request"
    assert signed["authorization"].startswith(f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=content-type;host;x-amz-date;")


def test_no_region_anywhere_is_an_error_that_says_what_to_do() -> None:
    key = write_credentials(Credentials("AKIDEXAMPLE", "secret"))
    with pytest.raises(InputError, match=r"base_url: the address names no AWS region .*AWS_REGION"):
        BEDROCK.sign(BEDROCK.build(request()), key, url="https://proxy.example/x", at=AT)


def test_without_botocore_signing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(signing, "import_module", absent)
    with pytest.raises(EnvironmentProblem, match=r"needs botocore.*callscope\[bedrock\]"):
        BEDROCK.sign(BEDROCK.build(request()), write_credentials(KEY), url=URL, at=AT)
