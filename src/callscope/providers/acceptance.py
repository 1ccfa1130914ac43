"""Provider errors: what a body says went wrong, and which acceptance category that is.

One table for all formats, first match wins. The model's own faults that come dressed as errors are `modelfault`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from callscope.contract import ErrorCategory, ProviderError
from callscope.jsontext import JsonFault, dump_faithful
from callscope.providers.flags import sorted_flags
from callscope.providers.limits import duration
from callscope.providers.wire import load

__all__ = ["ErrorBody", "Judged", "judge", "read_error", "unreadable"]

MESSAGE_LIMIT = 2000
"""Characters of a provider's message that are kept; the exchange holds all of it."""

WORD_LIMIT = 300
"""Characters of a code, type or parameter name that are kept."""


class ErrorBody(NamedTuple):
    """An error body's parts, whatever its shape. Missing texts are "".

    `kind` joins the words a provider classifies with (type, status, inner codes); `status` is an HTTP status named
    inside the body; `failed_generation` is what the model wrote; `retry_after_s` is the wait the body asks for.
    """

    message: str = ""
    code: str = ""
    kind: str = ""
    param: str = ""
    status: int | None = None
    failed_generation: str | None = None
    retry_after_s: float | None = None


class Judged(NamedTuple):
    """An error as an outcome, and whether the same request may succeed later."""

    outcome: ProviderError
    retryable: bool


def read_error(value: Any) -> ErrorBody:
    """The parts of an error body. Knows the shapes of OpenAI, Azure, Anthropic, Google (also in a list), Mistral,
    Cohere, Bedrock, Ollama, FastAPI, vLLM, OpenRouter and the relays that nest one in another. Total."""
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, Mapping)), None) or {"message": _join(value)}
    if not isinstance(value, Mapping):
        return ErrorBody(message=_text(value))
    inner = value.get("error") or value.get("errors") or value
    if isinstance(inner, list):
        return read_error(inner)
    if not isinstance(inner, Mapping):
        inner = {**value, "message": inner}
    metadata = inner.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    innererror = inner.get("innererror")
    words = [
        inner.get("type"),
        inner.get("status"),
        inner.get("error_type"),
        inner.get("__type"),
        metadata.get("error_type"),
    ]
    if isinstance(innererror, Mapping):
        words.append(innererror.get("code"))
    details = inner.get("details")
    if isinstance(details, Mapping):  # Anthropic names the finer cause there
        words.append(details.get("error_code"))
        inner = {"error_code": details.get("error_code"), **inner}
    details = [item for item in details if isinstance(item, Mapping)] if isinstance(details, list) else []
    words.extend(item.get("reason") for item in details)
    violations = [item.get("violations") for item in details]  # Google: which limit was hit, per minute or per day
    words.extend(
        one.get("quotaId") for some in violations if isinstance(some, list) for one in some if isinstance(one, Mapping)
    )
    detail, message = inner.get("detail"), inner.get("message")
    listed = message.get("detail") if isinstance(message, Mapping) else message
    if isinstance(listed, list):  # Mistral puts FastAPI's list into its message
        detail, inner = listed, {**inner, "message": None}
    generation = inner.get("failed_generation")
    code = _first(inner, "code", "error_code", "status_code", "statusCode")
    return ErrorBody(
        message=_message(inner, detail, metadata),
        code=_text(code)[:WORD_LIMIT],
        kind=" ".join(word for word in words if isinstance(word, str) and word != "error")[:WORD_LIMIT],
        param=_text(inner.get("param") or _location(detail))[:WORD_LIMIT],
        status=_status(code, inner.get("status"), inner.get("status_code"), inner.get("statusCode"), value.get("code")),
        failed_generation=generation if isinstance(generation, str) else None,
        retry_after_s=_retry_delay(details, metadata),
    )


def _message(inner: Mapping[str, Any], detail: Any, metadata: Mapping[str, Any]) -> str:
    message = _first(inner, "message", "msg", "error_msg", "error_description", "title", "Message")
    text = _text(message)
    if isinstance(detail, list):
        problems = [item for item in detail if isinstance(item, Mapping)]
        detail = "; ".join(f"{_location([item])}: {_text(item.get('msg'))}" for item in problems)
    raw = metadata.get("raw")
    parts = [text, detail if isinstance(detail, str) else "", raw if isinstance(raw, str) else _text(raw)]
    return ": ".join(part for part in parts if part)[:MESSAGE_LIMIT]


def _location(detail: Any) -> str:
    if isinstance(detail, list) and detail and isinstance(detail[0], Mapping):
        location = detail[0].get("loc")
        if isinstance(location, list):
            return ".".join(str(step) for step in location if step != "body")
    return ""


def _first(value: Mapping[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else dump_faithful(value).decode("utf-8")


def _join(values: list[Any]) -> str:
    return "; ".join(_text(value) for value in values)


def _status(*candidates: Any) -> int | None:
    for candidate in candidates:
        if isinstance(candidate, str) and candidate.isascii() and candidate.isdigit() and len(candidate) == 3:
            candidate = int(candidate)
        if isinstance(candidate, int) and not isinstance(candidate, bool) and 400 <= candidate < 600:
            return candidate
    return None


def _retry_delay(details: list[Mapping[str, Any]], metadata: Mapping[str, Any]) -> float | None:
    for item in (*details, metadata):
        for name in ("retryDelay", "retry_after_seconds", "retry_after"):
            wait = item.get(name)
            if isinstance(wait, str):
                wait = duration(wait)
            if isinstance(wait, (int, float)) and not isinstance(wait, bool) and 0 <= wait < 1e9:
                return float(wait)
    return None


class _Rule(NamedTuple):
    category: ErrorCategory
    flags: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(category: ErrorCategory, flags: str, *patterns: str) -> _Rule:
    return _Rule(category, tuple(flags.split()), re.compile("|".join(patterns)))


_QUOTA = _rule(
    "rate_limited",
    "quota",
    r"insufficient[_ ](?:user[_ ])?(?:quota|balance|credits)",
    r"exceeded your current quota|quota_?exceeded|spend_limit|ramp_limit|key limit exceeded",
    r"billing|credit balance|payment required|out of credits|arrearage",
)
_FILTER = _rule(
    "provider_error",
    "content_filter",
    r"content_filter|content management policy|content_policy|responsibleaipolicy|data_inspection_failed",
    r"requires moderation|(?:input|prompt) was flagged|flagged by|safety system|(?:bio|cyber)_policy|policy_violation",
)
_OVERLOADED = re.compile(
    r"overload|capacity|engine is currently|server[_ ]busy|too busy|loading model|is (?:currently )?loading"
)
# What the words say where the status does not; the text searched is code, kind, param and message in lower case.
_RULES = (
    _rule(
        "provider_error",
        "context_length",
        r"context[_ ](?:length|window|size|limit)|maximum context|prompt is too long|input (?:is )?too long",
        r"string_above_max_length|max_tokens must be at least 1, got -|input token count|too many input tokens",
        r"too many tokens: (?:total number|size limit)",
    ),
    _FILTER,
    _rule(
        "authentication_error",
        "",
        r"(?:invalid|incorrect)[_ ]api[_ ]key|api[_ ]key[_ ](?:not valid|invalid)|no auth credentials|invalid ?token\b",
        r"authentication|unauthori[sz]ed|unauthenticated|permission[_ ]?(?:denied|error)|access ?denied",
    ),
    _QUOTA,
    _rule("rate_limited", "", r"rate[_ -]?limit|resource_exhausted|too many requests|throttl"),
    _rule("schema_rejected", "", r"grammar compilation|compiled grammar"),  # "… timed out" is the schema's doing
    _rule("timeout", "", r"deadline_exceeded|timed? ?out\b"),
    _rule(
        "schema_rejected",
        "tools_unsupported",
        r'"auto" tool choice requires|tools? param requires|tool_choice is only allowed when',
        r"(?:does not|doesn.t) support (?:tools?\b|tool[ _](?:us|call)|function)|found that support tool use",
        r"(?:tool use|tool calling|function calling|tools) (?:is|are) not supported",
        r"unable to generate parser for this template|support the toolconfig field",
    ),
    _rule(
        "schema_rejected",
        "forced_choice_unsupported",
        r"(?:not|n.t|un)[ -]?support\w*[^.]{0,80}tool[_ ]?choice|support the provided 'tool_choice'",
        r"tool[_ ]?choice[^.]{0,120}(?:not support|n.t support|unsupported|not available|incompatible)",
        r"support the toolconfig\.toolchoice",
        r"tool[_ ]?choice[^.]{0,120}only (?:\W?auto|support)",
        r"(?:forced|required) (?:tool|function)[ _](?:choice|call\w*) (?:is|are) not|tool_choice forces tool use",
    ),
    _rule(
        "schema_rejected",
        "",
        r"invalid_function_parameters|invalid schema for function|invalid_tools|unknown name|function_?declarations",
        r"input_schema|flavored json schema|schema conversion failed|unsupported (?:json )?schema",
        r"too many states|too many (?:strict )?tools|available_tools_limit|tool_name_conflict",
        r"tool names must be unique|too many (?:optional|union)|failed to parse grammar|schema (?:is )?too complex",
        # Gemini of a schema that is too much for mode ANY, in these words and no others (python-genai#2133, #660)
        r"\binvalid_argument +request contains an invalid argument\.?$",
        r"tools?[.\[]\d|\btools\.(?:function|\w*parameters)",
    ),
    _rule(
        "schema_rejected",
        "unsupported_parameter",
        r"(?:unsupported|unrecognized|unknown|unexpected|extra)[ _].*(?:parallel_tool_calls|\bstrict\b)",
        r"(?:parallel_tool_calls|\bstrict\b).*(?:not support|unsupported|not permitted|only allowed)",
        r"fields? (?:is|are) not supported:.*(?:parallel_tool_calls|\bstrict\b)",
    ),
    _rule(
        "provider_error",
        "unsupported_parameter",
        r"unsupported[_ ](?:parameter|value)|unknown_parameter|unrecognized request arg|deprecated for this model",
        r"extra_forbidden|extra inputs are not permitted|unknown field: parameter",
        r"(?:not|n.t) support(?:ed)? (?:with|for|by) this model",
        r"fields? (?:is|are) not supported:|enable_thinking must be",
        r"does not support effort|may only be set to|thinking level \w+ is not supported|is not enabled for models/",
    ),
)
_BY_STATUS: Mapping[int, ErrorCategory] = {
    401: "authentication_error",
    403: "authentication_error",
    429: "rate_limited",
    498: "rate_limited",
    408: "timeout",
    504: "timeout",
    522: "timeout",
    524: "timeout",
}
_TRANSIENT = frozenset({408, 409, 425, 429, 498})


def judge(status: int, body: ErrorBody) -> Judged:
    """The category, code, message and finer cause of an error.

    `status` is the HTTP status; an error inside a 2xx, or a nameless 500, 502 or 503 of a relay, is judged by the
    status its body names. Retryable: 408, 409, 425, 429, 498, 5xx and errors inside a 2xx that name no status, but
    never a spent quota, nor anything that the request itself is to blame for.
    """
    effective = status
    if body.status is not None and (status < 400 or status in {500, 502, 503}):
        effective = body.status
    haystack = f"{body.code} {body.kind} {body.param} {body.message}".lower()
    category, found = _categorise(effective, haystack)
    flags = set(found)
    if body.retry_after_s is not None and "perday" not in haystack:
        flags.discard("quota")  # Gemini words a limit per minute like a spent quota, but says when to come again
    no_capacity = category in {"provider_error", "rate_limited"} and _OVERLOADED.search(haystack)
    if (effective in {498, 503, 529} or no_capacity) and "context_length" not in flags:
        flags.add("overloaded")
    blame = category in {"schema_rejected", "authentication_error"} or flags & {
        "quota",
        "context_length",
        "content_filter",
        "unsupported_parameter",
    }
    transient = (
        effective in _TRANSIENT or effective >= 500 or effective < 300 or category in {"timeout", "rate_limited"}
    )
    code = body.code if body.code and not body.code.isdigit() else body.kind.partition(" ")[0] or body.code
    outcome = ProviderError(
        category, code or (f"http_{status}" if status >= 400 else "unnamed_error"), body.message, sorted_flags(flags)
    )
    return Judged(outcome, transient and not blame)


def _categorise(status: int, haystack: str) -> tuple[ErrorCategory, tuple[str, ...]]:
    if status == 402 or (status in {403, 429} and _QUOTA.pattern.search(haystack)):
        return "rate_limited", ("quota",)
    if status == 403 and _FILTER.pattern.search(haystack):
        return _FILTER.category, _FILTER.flags
    if status in _BY_STATUS:
        return _BY_STATUS[status], ()
    for rule in _RULES:
        if rule.pattern.search(haystack):
            return rule.category, rule.flags
    return "provider_error", ()


_MESSAGES = {
    "empty_body": "the response has no body",
    "truncated_body": "the response ends in the middle of its JSON",
    "html_body": "the response is a web page",
    "not_json": "the response is neither JSON nor an event stream",
    "unreadable_chunk": "an event of the stream is broken JSON",
    "stream_cut": "the stream ended before the response was finished",
    "corrupt_frame": "a frame of the event stream does not fit its checksum",
    "no_http_status": "the response came under a status that is none of an HTTP answer",
    "no_message": "the response holds no message of the model",
}
_OF_CONNECTION = frozenset({"truncated_body", "stream_cut", "empty_body", "corrupt_frame"})


def unreadable(status: int, code: str, body: bytes, flags: frozenset[str] = frozenset()) -> Judged:
    """A response that could not be read, judged by its status, its text and why (`code`: a Document fault, or
    no_message)."""
    text = re.sub(r"(?is)<(script|style)\b.*?</\1>|<[^>]*>", " ", body[:4000].decode("utf-8", "replace"))
    text = " ".join(text.split())
    message = _MESSAGES.get(code, code) + (f": {text[:300]}" if text else "")
    category, found = _categorise(status, text.lower()) if status >= 400 else ("provider_error", ())
    judged = judge(status, ErrorBody(message=message if status >= 400 else "", code=code))
    if 300 <= status < 400:
        code, message = "redirect", "the server sent another address, and redirects are not followed"
    own = {"connection"} if code in _OF_CONNECTION and status < 400 else set()
    outcome = ProviderError(category, code, message, sorted_flags({*found, *own, *flags, *judged.outcome.flags}))
    return Judged(outcome, judged.retryable)


def nested(body: ErrorBody) -> ErrorBody:
    """The error a relay wrapped as JSON text into its own message, if there is one; else `body`."""
    start = body.message.find("{")
    if start < 0 or not body.message.endswith("}"):
        return body
    try:
        inner = read_error(load(body.message[start:])[0])
    except JsonFault:
        return body
    if not inner.message:
        return body
    return body._replace(
        kind=f"{body.kind} {inner.kind} {inner.code}".strip(),
        status=body.status or inner.status,
        failed_generation=body.failed_generation or inner.failed_generation,
    )
