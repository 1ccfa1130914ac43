"""What is asked of a model, and where: canonical requests, their wire form, model entries."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from callscope.contract.outcome import Tool


class Message(Struct, frozen=True, tag_field="role_kind", tag="message"):
    """A canonical message. `role` is `system` or `user`, or `assistant` for plain earlier text."""

    role: Literal["system", "user", "assistant"]
    text: str


class NativeMessage(Struct, frozen=True, tag_field="role_kind", tag="native"):
    """A message in the provider's own form, echoed verbatim by `follow_up` (thinking, signatures, ids)."""

    value: Any


class ToolResult(Struct, frozen=True):
    """What a tool answered to one call. `position` is the call's place in its response, from 0; `content` a JSON
    value."""

    position: int
    call_id: str | None
    name: str
    content: Any
    is_error: bool = False


class NamedChoice(Struct, frozen=True):
    """A forced choice of one tool."""

    name: str


ToolChoice = Literal["auto", "required", "none"] | NamedChoice


class Request(Struct, frozen=True):
    """One canonical request. Adapters translate it, and record every change they make to a schema or a message.

    `extra` is merged into the wire body last (provider switches from the model entry). None leaves a setting out of
    the body.
    """

    model: str
    messages: tuple[Message | NativeMessage, ...]
    tools: tuple[Tool, ...]
    tool_choice: ToolChoice = "auto"
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stream: bool = False
    parallel: bool | None = None
    strict: bool | None = None
    extra: dict[str, Any] = {}


class Transformation(Struct, frozen=True):
    """A change between what was declared and what was sent: JSON pointer into the canonical request, rule, values."""

    pointer: str
    rule: str
    before: Any = None
    after: Any = None


class WireRequest(Struct, frozen=True):
    """A body ready to send. `path` is joined to the base URL; headers exclude credentials, which the transport
    adds. `auth` tells the adapter's `authorize` how, where it is not the format's usual way."""

    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    transformations: tuple[Transformation, ...] = ()
    auth: str | None = None


class ModelEntry(Struct, frozen=True):
    """A model as a run addresses it. `label` is unique within a run and tells variants (template, switches) apart.

    `prices` are per million tokens in the currency the run's budget uses: keys input, output, cached_input.
    `embedded` is the name of an embedded model that callscope starts itself; `base_url` is then known at run time.
    `schema_fallback` names rules that weaken the schemas sent to it; experiments under them have labels of their own.
    """

    label: str
    provider: str
    model: str
    api: str
    base_url: str | None = None
    api_key_env: str | None = None
    stream: bool = False
    switches: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    prices: dict[str, float] = {}
    embedded: str | None = None
    template: str | None = None
    stand_in: bool = False
    schema_fallback: tuple[str, ...] = ()
