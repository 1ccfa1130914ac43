"""The one protocol that every wire format implements, and what all of them share: switches, body encoding, headers.

Not for reading responses (wire, sse, calls, acceptance) and not for anything that touches the network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import orjson

from callscope.contract import Message, NativeMessage, Reading, Request, ToolResult, Transformation, WireRequest
from callscope.errors import InputError
from callscope.jsontext import dump_faithful

__all__ = [
    "SWITCHES",
    "Adapter",
    "Headers",
    "Signer",
    "bearer",
    "encode_body",
    "key_header",
    "lower_headers",
    "merge_extra",
    "one_of",
    "result_text",
    "results_in_order",
    "split_extra",
    "split_system",
    "with_switches",
]

Headers = Mapping[str, str] | Sequence[tuple[str, str]]
"""Response headers: a mapping or pairs; names in any case."""

SWITCHES = "$switches"
"""The key of `Request.extra` that holds an adapter's switches. It is taken out before the body is built; no provider
has a body field of that name."""


@runtime_checkable
class Adapter(Protocol):
    """One wire format as pure functions. Same input, same output; no network, no clock, no keys but in `authorize`."""

    @property
    def api(self) -> str:
        """The name of the wire format, as in `ModelEntry.api`."""

    @property
    def semantics(self) -> Mapping[str, str]:
        """What `auto`, `required`, `none` and `named` really mean in this format, and what its other limits are."""

    def build(self, request: Request) -> WireRequest:
        """The request as bytes, with every change made to a schema or a message.

        Raises InputError on a switch it does not know.
        """

    def parse(self, status: int, headers: Headers, body: bytes, *, stream: bool) -> Reading:
        """Read one response. Never raises, on any bytes.

        `stream` is what was asked for; what came is decided by the bytes. A content-encoding is undone here
        (`decode_body`), harmlessly so where the body was decoded before.
        """

    def follow_up(
        self, request: Request, raw_response: bytes, tool_results: Sequence[ToolResult], *, stream: bool
    ) -> Request:
        """The next request: the same one with the assistant's message echoed and its tool results added.

        `raw_response` is the decoded body of the response to `request`. Raises InputError where it holds no
        assistant message, or where the results do not fit its calls one to one.
        """

    def authorize(self, wire: WireRequest, key: str | None) -> tuple[tuple[str, str], ...]:
        """The credential headers for `wire`; none without a key. Raises InputError on a key no header can carry."""


@runtime_checkable
class Signer(Protocol):
    """What an adapter has beside `authorize` where credentials depend on the address and the moment (AWS SigV4)."""

    def sign(self, wire: WireRequest, key: str | None, *, url: str, at: str) -> tuple[tuple[str, str], ...]:
        """The credential headers of one attempt to send `wire` to `url` at the moment `at` (ISO 8601, with its zone).

        Stands in for `authorize`. Raises InputError on credentials that cannot sign, EnvironmentProblem where the
        signer is not installed.
        """


def split_extra(extra: Mapping[str, Any], known: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`Request.extra` taken apart: (switches with the defaults of `known` filled in, fields for the wire body).

    Raises InputError on a switch that `known` does not name or whose value is of another type than its default.
    """
    if SWITCHES not in extra:
        return dict(known), dict(extra)
    fields = {name: value for name, value in extra.items() if name != SWITCHES}
    given = extra[SWITCHES]
    for name, value in given.items():
        if name not in known:
            raise InputError(
                "unknown switch", field=f"switches.{name}", found=name, expected=f"one of {', '.join(sorted(known))}"
            )
        wanted = (list, tuple) if isinstance(known[name], tuple) else (type(known[name]),)
        if type(value) not in wanted:
            raise InputError(
                "switch of the wrong type",
                field=f"switches.{name}",
                found=value,
                expected=wanted[0].__name__,
            )
    return {**known, **given}, fields


def with_switches(extra: Mapping[str, Any], switches: Mapping[str, Any]) -> dict[str, Any]:
    """A model entry's `extra` and `switches` as the one `Request.extra` that `build` takes."""
    return {**extra, SWITCHES: dict(switches)} if switches else dict(extra)


def one_of(switches: Mapping[str, Any], name: str, *allowed: str) -> str:
    """The value of a switch that has a few. Raises InputError on any other."""
    value: str = switches[name]
    if value not in allowed:
        raise InputError(
            "unknown value of a switch", field=f"switches.{name}", found=value, expected=" or ".join(allowed)
        )
    return value


def merge_extra(body: dict[str, Any], extra: Mapping[str, Any]) -> None:
    """Put a model entry's extra fields into a body whose settings stand inside objects: objects merge, all else
    replaces what was there."""
    for name, value in extra.items():
        before = body.get(name)
        if isinstance(before, dict) and isinstance(value, Mapping):
            merge_extra(before, value)
        else:
            body[name] = value


def split_system(
    messages: Sequence[Message | NativeMessage], changes: list[Transformation]
) -> tuple[list[str], list[tuple[int, Message | NativeMessage]]]:
    """The texts of the system messages, and the other messages with their positions, for formats that hold the system
    text apart. A system message that stood among the others is moved, which is recorded."""
    texts: list[str] = []
    others: list[tuple[int, Message | NativeMessage]] = []
    for position, message in enumerate(messages):
        if isinstance(message, Message) and message.role == "system":
            texts.append(message.text)
            if others:
                changes.append(Transformation(f"/messages/{position}", "moved_to_system", position, 0))
        else:
            others.append((position, message))
    return texts, others


def encode_body(body: Any) -> bytes:
    """Compact UTF-8 JSON, keys in their own order; big integers whole, lone surrogates as escapes."""
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError:  # integers beyond 64 bits, lone surrogates, deep nesting
        return dump_faithful(body)


def lower_headers(headers: Headers) -> dict[str, str]:
    """Headers as a dict with lower-case names; the last of two equal names stands."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return {name.lower(): value for name, value in pairs}


def bearer(key: str | None) -> tuple[tuple[str, str], ...]:
    """`Authorization: Bearer` for a key, nothing for None. Raises InputError on white space or control characters."""
    return key_header("authorization", key, prefix="Bearer ")


def key_header(name: str, key: str | None, *, prefix: str = "") -> tuple[tuple[str, str], ...]:
    """The key in the header `name`, nothing for None. Raises InputError on a key that no header can carry."""
    if key is None:
        return ()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InputError(
            "the API key is empty or holds white space, control or non-ASCII characters",
            field="api_key",
            hint="Look for a line break or a quotation mark in the variable it is read from.",
        )
    return ((name, prefix + key),)


def result_text(content: Any) -> str:
    """A tool's answer as the text a message carries: a string as it is, any other JSON value as compact JSON."""
    return content if isinstance(content, str) else dump_faithful(content).decode("utf-8")


def results_in_order(tool_results: Sequence[ToolResult], calls: int) -> list[ToolResult]:
    """The results by position, one for each of `calls` calls.

    Raises InputError where one is missing, doubled or out of range: every provider refuses such a conversation.
    """
    by_position = {result.position: result for result in tool_results}
    if len(tool_results) != calls or sorted(by_position) != list(range(calls)):
        raise InputError(
            "tool results do not fit the calls of the response",
            field="tool_results.position",
            found=[result.position for result in tool_results],
            expected=f"each of 0 to {calls - 1} once" if calls else "none, for the response holds no call",
        )
    return [by_position[position] for position in range(calls)]
