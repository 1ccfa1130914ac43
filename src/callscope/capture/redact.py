"""Secrets out of everything before it is written or shown. Masks keep the length, so byte offsets stay true.

A secret is known by its value (read from the environment variable a model names), in the spellings in which bytes may
carry it; header names that carry credentials are masked whatever their value. Pure.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote, quote_plus

__all__ = ["MASK", "Redactor", "mask_user_info"]

MASK = "[redacted]"

_CREDENTIAL_HEADERS = re.compile(
    r"^(authorization|proxy-authorization|x-api-key|api-key|x-goog-api-key|cookie|set-cookie|x-amz-security-token"
    r"|x-auth-token|openai-organization|openai-project|anthropic-organization-id|anthropic-workspace-id)$",
    re.IGNORECASE,
)
_QUERY_KEY = re.compile(
    r"(?i)([?&](?:key|api[_-]?key|subscription-key|access_token|token|client_secret|password|sig|signature"
    r"|x-amz-(?:credential|security-token|signature))=)[^&#]*"
)
_USER_INFO = re.compile(r"(?:(?<=://)|^(?![\w.+-]+:/))[^/?#]*@")
_SHORTEST_SECRET = 6


class Masked(NamedTuple):
    """Bytes with secrets masked, and how many masks were set."""

    data: bytes
    masks: int


class Redactor:
    """Masks the given secret values wherever they stand: as they are, JSON-escaped, URL-quoted, in base64.

    Values shorter than six characters are refused by `capture.keys`, since masking them would tear ordinary text.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._values = sorted({value for value in secrets if len(value) >= _SHORTEST_SECRET}, key=len, reverse=True)
        forms: set[bytes] = set()
        for value in self._values:
            forms |= _spellings(value)
        self._forms = sorted(form for form in forms if len(form) >= _SHORTEST_SECRET)

    def mask_bytes(self, data: bytes) -> Masked:
        """`data` with every secret overwritten by asterisks of the same length; secrets may overlap."""
        spans = sorted(span for form in self._forms for span in _occurrences(data, form))
        if not spans:
            return Masked(data, 0)
        masked, masks, end = bytearray(data), 0, 0
        for first, last in spans:
            masks += first >= end
            end = max(end, last)
            masked[first:last] = b"*" * (last - first)
        return Masked(bytes(masked), masks)

    def mask_text(self, text: str) -> str:
        """The same for text, for messages and terminal output."""
        return self.mask_bytes(text.encode("utf-8", "surrogatepass")).data.decode("utf-8", "surrogatepass")

    def mask_url(self, url: str) -> str:
        """A URL with secrets, key-carrying query values and user info masked."""
        return self.mask_text(_QUERY_KEY.sub(rf"\g<1>{MASK}", mask_user_info(url)))

    def mask_headers(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Headers with credential-carrying values replaced, and secrets masked in all others."""
        return tuple(
            (name, MASK if _CREDENTIAL_HEADERS.match(name) else self.mask_text(value)) for name, value in headers
        )


def mask_user_info(url: str) -> str:
    """A URL (a proxy's may lack its scheme) with the user and password before the host masked."""
    return _USER_INFO.sub(f"{MASK}@", url)


def _spellings(value: str) -> set[bytes]:
    """The ways in which bytes may carry a secret."""
    raw = value.encode("utf-8", "surrogatepass")
    escaped = [json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]]
    escaped += [form.replace("/", "\\/") for form in escaped]
    escaped += [json.dumps(form)[1:-1] for form in escaped]
    quoted = [quote(raw, safe=""), quote(raw), quote_plus(raw)]
    quoted += [re.sub("%..", lambda match: match.group().lower(), form) for form in quoted]
    cores = [_base64_core(raw, shift) for shift in range(3)]
    cores += [core.translate(bytes.maketrans(b"+/", b"-_")) for core in cores]
    return {raw, *(form.encode("utf-8", "surrogatepass") for form in (*escaped, *quoted)), *cores}


def _occurrences(data: bytes, form: bytes) -> Iterator[tuple[int, int]]:
    first = data.find(form)
    while first >= 0:
        yield first, first + len(form)
        first = data.find(form, first + 1)


def _base64_core(raw: bytes, shift: int) -> bytes:
    """The part of base64(prefix + raw) that depends on `raw` alone, for a prefix of `shift` bytes (modulo 3)."""
    encoded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
    start = (0, 2, 3)[shift]
    end = len(encoded) - (1 if (len(raw) + shift) % 3 else 0)
    return encoded[start:end]
