"""The canonical form: one byte string for each value a model can say, for hashes and equality.

Ours, and total (docs/decisions): keys sorted by UTF-16 code units, array order kept, JSON types kept apart (`1`, `1.0`,
`true`), big integers whole, lone surrogates escaped, no Unicode folding. Equal to RFC 8785 wherever both are
defined and no float is integral. Not for display and not for what goes over the wire.
"""

from __future__ import annotations

import hashlib
import math
import re
from json.encoder import encode_basestring
from typing import Any

from callscope.jsontext import escape_surrogates

__all__ = ["canonical", "canonical_hash", "sha256_hex"]

_EXPONENT = re.compile(r"e([+-])0*(\d+)$")


def _number(value: float) -> str:
    """A float as ECMAScript writes it (RFC 8785), with `.0` kept on integral ones so that they stay floats."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, sign, digits = *text.split("e")[0:1], *_exponent(text)
    exponent = int(sign + digits)
    if 0 <= exponent < 21:
        return f"{mantissa.replace('.', ''):0<{exponent + 1 + mantissa.startswith('-')}}.0"
    if -7 < exponent < 0:
        sign_text, body = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
        return f"{sign_text}0.{'0' * (-exponent - 1)}{body.replace('.', '')}"
    return f"{mantissa}e{sign}{digits}"


def _exponent(text: str) -> tuple[str, str]:
    match = _EXPONENT.search(text)
    assert match is not None
    return match.group(1), match.group(2)


def _string(value: str) -> str:
    text = encode_basestring(value)
    return text if value.isascii() else escape_surrogates(text)


def _sort_key(key: Any) -> bytes:
    if not isinstance(key, str):
        raise TypeError(f"no JSON value: a key of type {type(key).__name__}")
    return key.encode("utf-16-be", "surrogatepass")


def _write(value: Any, out: list[str]) -> None:
    if value is None:
        out.append("null")
    elif value is True:
        out.append("true")
    elif value is False:
        out.append("false")
    elif isinstance(value, str):
        out.append(_string(value))
    elif isinstance(value, int):
        out.append(str(value))
    elif isinstance(value, float):
        out.append(_number(value))
    elif isinstance(value, dict):
        out.append("{")
        for position, key in enumerate(sorted(value, key=_sort_key)):
            out.append("," if position else "")
            out.append(_string(key))
            out.append(":")
            _write(value[key], out)
        out.append("}")
    elif isinstance(value, (list, tuple)):
        out.append("[")
        for position, item in enumerate(value):
            out.append("," if position else "")
            _write(item, out)
        out.append("]")
    else:
        raise TypeError(f"no JSON value: {type(value).__name__}")


def canonical(value: Any) -> bytes:
    """The canonical form of a JSON value (None, bool, int, float, str, list or tuple, dict with string keys).

    Raises TypeError on anything that is no JSON value.
    """
    out: list[str] = []
    _write(value, out)
    return "".join(out).encode("utf-8")


def sha256_hex(data: bytes) -> str:
    """SHA-256 as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_hash(value: Any) -> str:
    """SHA-256 of the canonical form, 64 hex digits."""
    return sha256_hex(canonical(value))
