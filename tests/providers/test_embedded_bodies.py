"""Untouched bodies of the embedded models' server: calls, a cut one, and model errors that look like the server's."""

from __future__ import annotations

from pathlib import Path

import pytest

from callscope.contract import Malformed, ProviderError, Text, ToolCall, ToolCalls
from callscope.providers import get_adapter
from callscope.providers.modelfault import with_words

BODIES = Path(__file__).resolve().parents[1] / "local" / "bodies"


def outcome(name: str, status: int = 200) -> object:
    body = (BODIES / name).read_bytes()
    return get_adapter("openai-chat").parse(status, (), body, stream=name.endswith(".sse")).outcome


@pytest.mark.parametrize("name", ["chat-tool_calls.json", "chat-tool_calls.sse"])
def test_a_call_is_read_with_its_arguments(name: str) -> None:
    read = outcome(name)
    assert isinstance(read, ToolCalls)
    assert [call.name for call in read.calls] == ["lookup_order"]
    assert read.calls[0].arguments is not None


def test_two_calls_are_two() -> None:
    read = outcome("chat-two-calls.json")
    assert isinstance(read, ToolCalls)
    assert len(read.calls) == 2


@pytest.mark.parametrize(
    "name", ["chat-bare-call-in-text.json", "chat-fenced-call-in-text.json", "chat-unknown-tool-in-text.json"]
)
def test_a_call_written_into_the_text_is_flagged_and_is_no_call(name: str) -> None:
    read = outcome(name)
    assert isinstance(read, Text)
    assert "text_tool_call" in read.flags


def test_prose_is_prose() -> None:
    read = outcome("chat-text.json")
    assert isinstance(read, Text)
    assert read.flags == ()


def test_a_cut_call_is_a_truncated_attempt() -> None:
    read = outcome("chat-cut.json")
    assert isinstance(read, ToolCalls)
    assert read.calls[0].malformed is not None
    assert "truncated" in read.flags


def test_duplicate_keys_are_flagged() -> None:
    read = outcome("chat-duplicate-key.json")
    assert isinstance(read, ToolCalls)
    assert "duplicate_keys" in read.flags


@pytest.mark.parametrize(("name", "status"), [("chat-unknown-tool-500.json", 500), ("chat-unknown-tool.sse", 200)])
def test_an_answer_the_servers_grammar_cannot_read_is_the_models_malformed_call(name: str, status: int) -> None:
    read = outcome(name, status)
    assert isinstance(read, ToolCalls)
    assert read.calls[0].malformed is not None
    assert read.flags == ("missing_name", "model_words_lost", "provider_rejected_call")


UNREAD = ToolCalls(
    (ToolCall(None, "", malformed=Malformed("unreadable_call", "the server's message")),),
    ("missing_name", "model_words_lost", "provider_rejected_call"),
)
WORDS = [
    ('{"name": "find_order", "arguments": {"a": 1}}', ("find_order",)),
    ('{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}', ("f", "g")),
    ('{"name": "find_ord", "argum', ("find_ord",)),
    ("<function=f", ("f",)),
    ('```json\n{"find', ("",)),
    ('{"arguments": {}}', ("",)),
    ("<tool_call>", ("",)),
    ("```", None),
    ("I cannot do that.", None),
    ("{", None),
    ("", None),
]


@pytest.mark.parametrize(("words", "names"), WORDS, ids=[words[:40] for words, _ in WORDS])
def test_words_known_from_elsewhere_take_the_place_of_the_servers_message(
    words: str, names: tuple[str, ...] | None
) -> None:
    told = with_words(UNREAD, words)
    if names is None:
        assert told == Text(words, ("provider_rejected_call",) if words else ("empty_text", "provider_rejected_call"))
    else:
        assert isinstance(told, ToolCalls)
        assert [(call.name, call.malformed) for call in told.calls] == [
            (name, Malformed("unreadable_call", words)) for name in names
        ]
        assert told.flags == (() if all(names) else ("missing_name",)) + ("provider_rejected_call",)
    assert with_words(told, "other") == told


@pytest.mark.parametrize(
    ("name", "status", "category"),
    [
        ("bad-schema.json", 400, "schema_rejected"),
        ("too-long-400.json", 400, "provider_error"),
        ("wrong-key-401.json", 401, "authentication_error"),
    ],
)
def test_refusals_of_the_server_are_coverage_loss(name: str, status: int, category: str) -> None:
    read = outcome(name, status)
    assert isinstance(read, ProviderError)
    assert read.category == category
