"""What one response was: tools, calls, the four kinds of outcome, and the reading they come in."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Tool(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool in canonical, provider-neutral form. `parameters` is a JSON Schema (Draft 2020-12) of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Malformed(Struct, frozen=True):
    """Arguments that are no JSON object. `reason`: a JsonFault reason, `not_an_object`, or the provider's own
    code."""

    reason: str
    raw: str


class ToolCall(Struct, frozen=True, omit_defaults=True):
    """One proposed call, exactly as the model gave it.

    Either `arguments` (a JSON object, untouched) or `malformed` is set, never both. `id` stays None where the
    provider sent none; ids are synthesised only in a follow-up request.
    """

    id: str | None
    name: str
    arguments: dict[str, Any] | None = None
    malformed: Malformed | None = None


Acceptance = Literal[
    "accepted",
    "schema_rejected",
    "authentication_error",
    "rate_limited",
    "timeout",
    "provider_error",
    "harness_error",
]
"""What became of the request. Everything but `accepted` is coverage loss, never a wrong answer."""

ErrorCategory = Literal[
    "schema_rejected", "authentication_error", "rate_limited", "timeout", "provider_error", "harness_error"
]


class ToolCalls(Struct, frozen=True, tag_field="kind", tag="tool_calls", omit_defaults=True):
    """At least one call was proposed. `text` is prose beside the calls, None where there was none."""

    calls: tuple[ToolCall, ...]
    flags: tuple[str, ...]
    text: str | None = None


class Text(Struct, frozen=True, tag_field="kind", tag="text"):
    """Prose and no call. A call written into the prose is flagged `text_tool_call` and earns nothing."""

    text: str
    flags: tuple[str, ...] = ()


class Refusal(Struct, frozen=True, tag_field="kind", tag="refusal"):
    """The model or its provider's safety layer declined. `text` is None where no words came."""

    text: str | None
    flags: tuple[str, ...] = ()


class ProviderError(Struct, frozen=True, tag_field="kind", tag="provider_error"):
    """No model decision was observed. `code` is the provider's own code or ours for transport faults.

    flags may hold the finer cause: context_length, content_filter, unsupported_parameter,
    forced_choice_unsupported, quota, overloaded, connection.
    """

    category: ErrorCategory
    code: str
    message: str
    flags: tuple[str, ...] = ()


Outcome = ToolCalls | Text | Refusal | ProviderError


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens as the provider counted them; None is unknown, 0 is zero. `input_tokens` includes cached ones."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None


class Limits(Struct, frozen=True, omit_defaults=True):
    """What the response said about rate limits. Seconds; None where it said nothing."""

    retry_after_s: float | None = None
    retryable: bool = False
    remaining_requests: int | None = None
    remaining_tokens: int | None = None
    reset_requests_s: float | None = None
    reset_tokens_s: float | None = None


class Reading(Struct, frozen=True):
    """What one response says, read from its bytes. `finish` is the provider's own word for why it ended.

    `first_call_at` is the byte offset in a stream at which the first call was complete (None: no stream, no call).
    """

    outcome: Outcome
    usage: Usage = Usage()
    model: str | None = None
    finish: str | None = None
    limits: Limits = Limits()
    first_call_at: int | None = None
