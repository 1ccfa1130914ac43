"""A recorded result to what BFCL's handler for that model decodes it to: calls, or no calls with the reason.

Exactly its reading, with its losses, for its verdict (`checker`). Not for ours (`reading`).

| the handler                                            | `calls` | `fault`        |
|--------------------------------------------------------|---------|----------------|
| decodes it to a list of `{name: {…}}`                  | these   | ""             |
| decodes it to an empty list                            | ()      | ""             |
| decodes it to anything else (None, text, `{f: null}`)  | None    | WRONG_FORMAT   |
| raises (prose, a recorded "Error during inference: …") | None    | DECODER_FAILED |
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from callscope.errors import shown
from callscope.importers.bfcl.decoders import DECODERS, FAULTS, Language
from callscope.importers.bfcl.models import profile

__all__ = ["DECODER_FAILED", "WRONG_FORMAT", "Decoded", "Language", "decode", "in_format"]

DECODER_FAILED = "ast_decoder:decoder_failed"
WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format"


class Decoded(Struct, frozen=True):
    """What a handler makes of a result. `calls`: `{name: arguments}` each, in order; None where it makes none of it.

    Arguments are Python values as the handler gives them: a tuple stays one, `**x` stands under the key None.
    fault: "" or BFCL's error type. reason: what was in the way, in our words, "" without a fault.
    """

    calls: tuple[dict[str, dict[Any, Any]], ...] | None
    fault: str = ""
    reason: str = ""


def decode(result: Any, *, language: Language, model: str) -> Decoded:
    """Decode the `result` of a line of a result file (any JSON value) as BFCL's handler for `model` does.

    language: that of the category; relevance and irrelevance are always decoded as python. Never raises.
    """
    try:
        value = DECODERS[profile(model).decoder](result, language)
    except FAULTS as error:
        return Decoded(None, DECODER_FAILED, f"{type(error).__name__}: {shown(str(error))}")
    if not in_format(value):
        return Decoded(None, WRONG_FORMAT, f"no list of {{name: arguments}}: {shown(value)}")
    return Decoded(tuple(value))


def in_format(value: Any) -> bool:
    """Whether a decoded value is a list of objects with one name each, which holds an object; an empty list is."""
    return type(value) is list and all(
        type(each) is dict and len(each) == 1 and type(next(iter(each.values()))) is dict for each in value
    )
