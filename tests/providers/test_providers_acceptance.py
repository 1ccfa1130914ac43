"""Errors by category: whose fault it is, what finer cause it has, and whether to try again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from providers_kit import error, parse

from callscope.contract import ProviderError
from callscope.providers.acceptance import ErrorBody, judge, nested, read_error
from callscope.providers.limits import duration, read_limits

# (status, error fields, category, flags, retryable)
ERRORS: list[tuple[int, dict[str, Any], str, set[str], bool]] = [
    (400, {"code": "invalid_function_parameters"}, "schema_rejected", set(), False),
    (400, {"param": "tools[0].function.parameters", "message": "Bad."}, "schema_rejected", set(), False),
    (400, {"message": "this model does not support tools"}, "schema_rejected", {"tools_unsupported"}, False),
    (404, {"message": "No endpoints found that support tool use."}, "schema_rejected", {"tools_unsupported"}, False),
    (500, {"message": "tools param requires --jinja flag"}, "schema_rejected", {"tools_unsupported"}, False),
    (
        400,
        {"code": "unknown_parameter", "param": "parallel_tool_calls", "message": "Unknown parameter"},
        "schema_rejected",
        {"unsupported_parameter"},
        False,
    ),
    (
        400,
        {"code": "unsupported_value", "param": "temperature", "message": "Unsupported value"},
        "provider_error",
        {"unsupported_parameter"},
        False,
    ),
    (
        400,
        {"message": "parameter.enable_thinking must be set to false for non-streaming calls"},
        "provider_error",
        {"unsupported_parameter"},
        False,
    ),
    (
        400,
        {"message": "The following fields are not supported: parallel_tool_calls"},
        "schema_rejected",
        {"unsupported_parameter"},
        False,
    ),
    (
        400,
        {"message": "The following fields are not supported: seed"},
        "provider_error",
        {"unsupported_parameter"},
        False,
    ),
    (
        400,
        {"status": "INVALID_ARGUMENT", "message": "Request contains an invalid argument."},
        "schema_rejected",
        set(),
        False,
    ),
    (400, {"status": "INVALID_ARGUMENT", "message": "Cannot fetch content."}, "provider_error", set(), False),
    (400, {"code": "context_length_exceeded"}, "provider_error", {"context_length"}, False),
    (400, {"type": "exceed_context_size_error", "code": 400}, "provider_error", {"context_length"}, False),
    (400, {"code": "content_filter"}, "provider_error", {"content_filter"}, False),
    (
        400,
        {"code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
        "provider_error",
        {"content_filter"},
        False,
    ),
    (403, {"message": "Your input was flagged"}, "provider_error", {"content_filter"}, False),
    (401, {"code": "invalid_api_key"}, "authentication_error", set(), False),
    (403, {"message": "Forbidden"}, "authentication_error", set(), False),
    (400, {"message": "API key not valid. Please pass a valid API key."}, "authentication_error", set(), False),
    (400, {"status": "UNAUTHENTICATED", "message": "?"}, "authentication_error", set(), False),
    (429, {"code": "rate_limit_exceeded"}, "rate_limited", set(), True),
    (429, {"code": "insufficient_quota"}, "rate_limited", {"quota"}, False),
    (402, {"message": "Insufficient Balance"}, "rate_limited", {"quota"}, False),
    (403, {"message": "Key limit exceeded (daily limit)"}, "rate_limited", {"quota"}, False),
    (400, {"message": "Your credit balance is too low"}, "rate_limited", {"quota"}, False),
    (413, {"code": "rate_limit_exceeded", "message": "Request too large"}, "rate_limited", set(), True),
    (429, {"message": "Engine is currently overloaded"}, "rate_limited", {"overloaded"}, True),
    (498, {"message": "Flex tier is full"}, "rate_limited", {"overloaded"}, True),
    (408, {}, "timeout", set(), True),
    (504, {"status": "DEADLINE_EXCEEDED"}, "timeout", set(), True),
    (500, {"message": "upstream request timed out"}, "timeout", set(), True),
    (500, {"message": "rate limited upstream", "code": 429}, "rate_limited", set(), True),
    (500, {"message": "boom"}, "provider_error", set(), True),
    (503, {"message": "Loading model"}, "provider_error", {"overloaded"}, True),
    (529, {"type": "overloaded_error"}, "provider_error", {"overloaded"}, True),
    (409, {"message": "conflict"}, "provider_error", set(), True),
    (404, {"code": "model_not_found"}, "provider_error", set(), False),
    (422, {"message": "bad"}, "provider_error", set(), False),
    (400, {"message": "messages with role 'tool' must follow tool_calls"}, "provider_error", set(), False),
    (307, {"message": "moved"}, "provider_error", set(), False),
]


@pytest.mark.parametrize(("status", "fields", "category", "flags", "retryable"), ERRORS)
def test_an_error_falls_into_its_category(
    status: int, fields: dict[str, Any], category: str, flags: set[str], retryable: bool
) -> None:
    reading = error(status, fields.get("message", ""), **{k: v for k, v in fields.items() if k != "message"})
    assert isinstance(reading.outcome, ProviderError)
    assert (reading.outcome.category, set(reading.outcome.flags)) == (category, flags)
    assert reading.limits.retryable is retryable


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"code": "model_not_found", "type": "t"}, "model_not_found"),
        ({"code": None, "type": "invalid_request_error"}, "invalid_request_error"),
        ({"code": 400, "status": "INVALID_ARGUMENT"}, "INVALID_ARGUMENT"),
        ({"code": 400}, "400"),
        ({}, "http_400"),
    ],
)
def test_the_code_is_the_providers_most_telling_word(fields: dict[str, Any], code: str) -> None:
    assert judge(400, read_error({"error": {"message": "m", **fields}})).outcome.code == code


def test_a_page_behind_an_error_status_is_judged_by_the_status() -> None:
    outcome = parse(b"<h1>Too many requests</h1>", 429).outcome
    assert outcome == ProviderError("rate_limited", "html_body", "the response is a web page: Too many requests")
    assert isinstance(parse(b"", 401).outcome, ProviderError)
    assert parse(b"", 504).outcome == ProviderError("timeout", "empty_body", "the response has no body")
    assert parse(b"busy", 503).outcome.flags == ("overloaded",)
    assert not parse(b"<h1>404</h1>", 404).limits.retryable


def test_problems_in_a_list_are_joined_with_their_places() -> None:
    detail = [{"loc": ["body", "tools", 0, "function"], "msg": "Field required", "type": "missing"}, "?"]
    outcome = parse(json.dumps({"detail": detail}).encode(), 422).outcome
    assert outcome == ProviderError("schema_rejected", "http_422", "tools.0.function: Field required")
    assert read_error({"detail": [{"msg": "x"}]}).param == ""


@pytest.mark.parametrize("value", [None, [], [1], {}, {"error": []}, {"error": {"details": 3, "metadata": 4}}, 5])
def test_an_error_body_of_any_shape_is_read(value: Any) -> None:
    assert isinstance(read_error(value), ErrorBody)


def test_a_message_is_cut_to_a_bearable_length() -> None:
    assert len(read_error({"error": {"message": "x" * 9999}}).message) == 2000


def test_an_error_a_relay_wrapped_into_its_message_is_unwrapped() -> None:
    inner = json.dumps({"error": {"message": "slow", "code": 429, "type": "rate_limit"}})
    body = nested(read_error({"error": {"message": f"upstream said: {inner}"}}))
    assert (body.status, body.kind) == (429, "rate_limit 429")
    for message in ("no {json}", "plain", '{"a": 1}'):
        same = ErrorBody(message=message)
        assert nested(same) == same
    # In a 200 the wrapped status decides.
    assert isinstance(error(200, f"upstream said: {inner}").outcome, ProviderError)
    assert error(200, f"upstream said: {inner}").limits.retryable


@pytest.mark.parametrize(
    ("metadata", "wait"),
    [({"retry_after_seconds": 2}, 2.0), ({"retry_after": "1m"}, 60.0), ({"retry_after": True}, None), ({}, None)],
)
def test_the_wait_of_a_body_is_read(metadata: dict[str, Any], wait: float | None) -> None:
    assert read_error({"error": {"message": "m", "metadata": metadata}}).retry_after_s == wait


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12", 12.0),
        ("0.5", 0.5),
        ("1m3.5s", 63.5),
        ("250ms", 0.25),
        ("6h", 21600.0),
        ("1d2h", 93600.0),
        ("50µs", 5e-5),
        (" 3s ", 3.0),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1m 3s", None),
        ("s", None),
    ],
)
def test_durations_are_read_in_every_form(text: str, seconds: float | None) -> None:
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "7", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "7", "retry-after-ms": "soon"}, 7.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": DATE}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", "date": DATE}, 0.0),
        ({"retry-after": "2026-10-21T07:28:05", "date": DATE}, 5.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry-after": "later", "date": DATE}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_without_a_clock(headers: dict[str, str], wait: float | None) -> None:
    assert read_limits(headers, retryable=True).retry_after_s == wait


def test_the_server_may_overrule_what_is_worth_trying_again() -> None:
    assert read_limits({"x-should-retry": "false"}, retryable=True).retryable is False
    assert read_limits({"x-should-retry": "True"}, retryable=False).retryable is True
    assert read_limits({"x-should-retry": "?"}, retryable=False).retryable is False


def test_limits_under_anthropics_names_are_read_too() -> None:
    limits = read_limits(
        {
            "date": DATE,
            "anthropic-ratelimit-requests-remaining": "4",
            "anthropic-ratelimit-tokens-remaining": "x",
            "anthropic-ratelimit-tokens-reset": "2026-10-21T07:29:00Z",
        },
        retryable=False,
    )
    assert (limits.remaining_requests, limits.remaining_tokens, limits.reset_tokens_s) == (4, None, 60.0)
