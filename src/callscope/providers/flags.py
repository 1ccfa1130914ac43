"""Every flag an adapter may put on an outcome, and what it says. Tests hold that no adapter uses another name.

A flag is evidence, never a judgement: what it means for a verdict is decided in scoring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

__all__ = ["FLAGS", "sorted_flags"]

FLAGS: Mapping[str, str] = MappingProxyType(
    {
        # arguments
        "empty_arguments": "arguments were the empty string, read as {}",
        "null_arguments": "arguments were null, read as {}",
        "absent_arguments": "the call had no arguments key, read as {}",
        "arguments_not_a_string": "arguments came as a JSON value where the format wants a string holding JSON",
        "double_encoded": "the argument text was a JSON string whose content is the object",
        "duplicate_keys": "an argument object names a key twice; the last one stands",
        "big_integer": "an argument is an integer beyond 2^53, kept whole",
        "precision_lost": "an argument is a whole number written as a float beyond 2^53; its last digits may be wrong",
        "lone_surrogate": "an argument string holds half of a surrogate pair, kept",
        # calls
        "missing_id": "a call has no id (absent, null or empty)",
        "duplicate_id": "two calls of the response share an id",
        "changing_id": "a streamed call was sent under more than one id; the first is kept",
        "missing_name": "a call names no tool",
        "template_leak": "a tool name holds a chat-template token",
        "shared_index": "a streamed call took the index of an earlier, different call",
        "missing_index": "a streamed call had no index",
        "mismatched_index": "argument text came under an index that had no call; it went to the call being streamed",
        "split_calls": "one wire call held several whole calls, name and arguments repeated; read as several",
        "legacy_function_call": "the call came in the deprecated function_call field",
        "custom_tool_call": "the call is of a free-text tool, which was never declared",
        "namespaced_call": "the call names its tool inside a namespace",
        "differing_arguments": "the pieces of a streamed call and its final form differ; the final form is read",
        "nonstandard_call": "name and arguments stood outside the usual wrapper",
        "empty_tool_calls": "the response says it ended in tool calls and holds none",
        "provider_rejected_call": "the provider refused or could not read the model's call, and answered an error",
        "model_words_lost": "only the server's message is known, not what the model wrote; no two such are the same",
        "text_tool_call": "a call is written into the text, where it earns nothing",
        "reasoning_tool_call": "no text and no call, but a call is written into the reasoning",
        # the response
        "truncated": "the response was cut at a token limit, or the argument text ends too early",
        "empty_text": "neither call nor words (white space at most)",
        "content_filter": "a safety filter withheld the answer or refused the request",
        "refusal_beside_calls": "a refusal text came together with calls",
        "unread_items": "the response holds server-side tools or other items that are neither words nor calls",
        "malformed_output": "the provider says that the model's output was malformed; what came of it is kept",
        "unknown_finish": "the response ended for a reason callscope does not know; its word is kept as the finish",
        "multiple_choices": "more than one choice came; only the first is read",
        "not_streamed": "a stream was asked for and one JSON body came",
        "streamed_unasked": "one JSON body was asked for and a stream came",
        "unreadable_chunk": "a stream event that is no JSON was skipped",
        "invalid_utf8": "the body holds bytes that are no UTF-8; they are kept as lone surrogates",
        "nan_in_body": "the body holds a number that JSON does not have (NaN, 1e400), which spoils only what holds it",
        "broken_encoding": "the content-encoding does not fit the bytes",
        "unknown_encoding": "the content-encoding is one callscope cannot undo",
        # provider errors
        "context_length": "the request was longer than the model's context",
        "unsupported_parameter": "a request setting is not supported by this model",
        "forced_choice_unsupported": "this model or mode refuses a required or named tool choice",
        "tools_unsupported": "this model or server offers no tool calling as it is set up",
        "quota": "the account's quota or balance is spent; trying again does not help",
        "overloaded": "the provider has no capacity at the moment",
        "connection": "the response ended before it was whole",
    }
)
"""Flag name -> what it says."""


def sorted_flags(flags: Iterable[str]) -> tuple[str, ...]:
    """The flags once each, in alphabetical order, as outcomes carry them."""
    return tuple(sorted(set(flags)))
