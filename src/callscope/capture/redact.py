"""Secrets out of everything before it is written or shown. Masks keep the length, so byte offsets stay true.

A secret is known by its value (read from the environment variable a model names), in the spellings in which bytes may
carry it; header names that carry credentials are masked whatever their value. Pure.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import quote, quote_plus

__all__ = ["MASK", "Redactor"]

MASK = "[redacted]"

_CREDENTIAL_HEADERS = re.compile(
    r"^(authorization|proxy-authorization|x-api-key|api-key|x-goog-api-key|cookie|set-cookie|x-amz-security-token"
    r"|x-auth-token|openai-organization|openai-project|anthropic-workspace-id)$",
    re.IGNORECASE,
)
_QUERY_KEY = re.compile(r"(?i)([?&](?:key|api[_-]?key|access_token|token|sig|signature)=)[^&#]*")
_SHORTEST_SECRET = 6


class Masked(NamedTuple):
    """Bytes with secrets masked, and how many masks were set."""

    data: bytes
    count: int


class Redactor:
    """Masks the given secret values wherever they stand: as they are, JSON-escaped, URL-quoted, in base64.

    Values shorter than six characters are refused by `capture.keys`, since masking them would tear ordinary text.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._values = sorted({value for value in secrets if len(value) >= _SHORTEST_SECRET}, key=len, reverse=True)
        forms: set[bytes] = set()
        for value in self._values:
            raw = value.encode()
            forms |= {
                raw,
                json.dumps(value)[1:-1].encode(),
                quote(value, safe="").encode(),
                quote_plus(value).encode(),
                *(_base64_core(raw, shift) for shift in range(3)),
            }
        ordered = sorted((form for form in forms if len(form) >= _SHORTEST_SECRET), key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, ordered))) if ordered else None

    def mask_bytes(self, data: bytes) -> Masked:
        """`data` with every secret overwritten by asterisks of the same length."""
        if self._pattern is None:
            return Masked(data, 0)
        masked, count = self._pattern.subn(lambda match: b"*" * len(match.group()), data)
        return Masked(masked, count)

    def mask_text(self, text: str) -> str:
        """The same for text, for messages and terminal output."""
        return self.mask_bytes(text.encode("utf-8", "surrogatepass")).data.decode("utf-8", "surrogatepass")

    def mask_url(self, url: str) -> str:
        """A URL with secrets, key-carrying query values and user info masked."""
        url = re.sub(r"(?<=://)[^/@]*@", f"{MASK}@", url)
        return self.mask_text(_QUERY_KEY.sub(rf"\g<1>{MASK}", url))

    def mask_headers(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Headers with credential-carrying values replaced, and secrets masked in all others."""
        return tuple(
            (name, MASK if _CREDENTIAL_HEADERS.match(name) else self.mask_text(value)) for name, value in headers
        )


def _base64_core(raw: bytes, shift: int) -> bytes:
    """The part of base64(prefix + raw) that depends on `raw` alone, for a prefix of `shift` bytes (modulo 3)."""
    encoded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
    start = (0, 2, 3)[shift]
    end = len(encoded) - (1 if (len(raw) + shift) % 3 else 0)
    return encoded[start:end]
