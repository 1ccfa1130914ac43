"""What no validator or comparator may be given: values a faithful parser would have refused, and lone surrogates.

Nothing is repaired here. The adapters' parser already refuses what `refusal` names; outcomes built by hand or by other
packages pass the same door, so that the same arguments get the same verdict wherever they came from.
"""

from __future__ import annotations

import math
import re
from typing import Any

from callscope.contract import Malformed, ToolCall
from callscope.jsontext import MAX_DEPTH

__all__ = ["guarded", "refusal", "without_surrogates"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def refusal(value: Any) -> str | None:
    """Why `value` may not be judged as JSON: `too_deep` (over 200 levels), `not_a_json_number` (NaN, infinities),
    `not_a_json_value` (another Python type, a key that is no string); None where it may."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        deeper: list[Any] = []
        for node in level:
            kind = type(node)
            if kind is str or kind is int or kind is bool or node is None:
                continue
            if kind is float:
                if not math.isfinite(node):
                    return "not_a_json_number"
            elif kind is dict:
                if not all(type(key) is str for key in node):
                    return "not_a_json_value"
                deeper.extend(node.values())
            elif kind is list or kind is tuple:
                deeper.extend(node)
            else:
                return "not_a_json_value"
        if not deeper:
            return None
        level = deeper
    return "too_deep"


def guarded(call: ToolCall) -> ToolCall:
    """The call itself, or, where its arguments could not have come out of the parser, the malformed attempt that the
    parser would have made of them. A call with neither arguments nor malformed is `not_an_object`."""
    if call.malformed is not None:
        return call
    if call.arguments is None:
        return ToolCall(call.id, call.name, malformed=Malformed("not_an_object", "null"))
    reason = refusal(call.arguments) if isinstance(call.arguments, dict) else "not_an_object"
    return call if reason is None else ToolCall(call.id, call.name, malformed=Malformed(reason, ""))


def without_surrogates(value: Any) -> Any:
    """A copy of a JSON value with each lone surrogate as U+FFFD: for encoders that take valid Unicode only."""
    if isinstance(value, str):
        return _SURROGATE.sub(_REPLACEMENT, value)
    if isinstance(value, dict):
        return {_SURROGATE.sub(_REPLACEMENT, key): without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_surrogates(item) for item in value]
    return value
