"""Secrets out of everything before it is written or shown. Masks keep the length, so byte offsets stay true.

A secret is known by its value (read from the environment variable a model names), in the spellings in which bytes may
carry it; header names that carry credentials are masked whatever their value. Pure.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, quote_plus

__all__ = ["MASK", "Redactor", "mask_user_info"]

MASK = "[redacted]"

_CREDENTIAL_HEADERS = re.compile(
    r"^((?:[\w-]+-)?authorization|(?:[\w-]+-)?api-?key|ocp-apim-subscription-key|cookie|set-cookie2?|x-amz-security-token"
    r"|x-auth-token|x-goog-iam-authorization-token|openai-organization|openai-project|anthropic-organization-id"
    r"|anthropic-workspace-id)$",
    re.IGNORECASE,
)
_QUERY_KEY = re.compile(
    r"(?i)([?&](?:key|api[_-]?key|subscription-key|access_token|token|client_secret|password|sig|signature"
    r"|x-amz-(?:credential|security-token|signature))=)[^&#]*"
)
_ADDRESS_HEADERS = frozenset({"location", "content-location", "link", "referer", "refresh"})
_LINE = re.compile(rb"[^\r\n]+")
_LITERAL = re.compile(rb'"((?:\\.|[^"\\])*)"', re.DOTALL)
_USER_INFO = re.compile(r"(?:(?<=://)|^(?![\w.+-]+:/))[^/?#]*@")
_SHORTEST_SECRET = 6
_REMEMBERED = 1_024


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
        self._urls: dict[str, str] = {}

    def mask_bytes(self, data: bytes) -> Masked:
        """`data` with every secret overwritten by asterisks of the same length; secrets may overlap."""
        if not self.knows(data):
            return Masked(data, 0)
        spans = sorted(span for form in self._forms for span in _occurrences(data, form))
        masked, masks, end = bytearray(data), 0, 0
        for first, last in spans:
            masks += first >= end
            end = max(end, last)
            masked[first:last] = b"*" * (last - first)
        return Masked(bytes(masked), masks)

    def mask_scattered(self, data: bytes) -> Masked:
        """`data` with secrets masked that are spread over the strings of successive lines, as in an event stream."""
        masked, masks = bytearray(data), 0
        for form in self._forms:
            while spans := _scattered(bytes(masked), form):
                for first, last in spans:
                    masked[first:last] = b"*" * (last - first)
                masks += 1
        return Masked(bytes(masked), masks)

    def knows(self, data: bytes) -> bool:
        """Whether a secret stands in `data`, in any spelling."""
        for form in self._forms:  # noqa: SIM110 — a generator costs twice as much, and this is called for each body
            if form in data:
                return True
        return False

    def __bool__(self) -> bool:
        return bool(self._forms)

    def mask_text(self, text: str) -> str:
        """The same for text, for messages and terminal output."""
        return self.mask_bytes(text.encode("utf-8", "surrogatepass")).data.decode("utf-8", "surrogatepass")

    def mask_url(self, url: str) -> str:
        """A URL with secrets, key-carrying query values and user info masked."""
        if url not in self._urls:
            if len(self._urls) >= _REMEMBERED:
                self._urls.clear()
            self._urls[url] = self.mask_text(_QUERY_KEY.sub(rf"\g<1>{MASK}", mask_user_info(url)))
        return self._urls[url]

    def mask_headers(self, headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Headers with credential-carrying values replaced, and secrets masked in all others."""
        found = self.knows("\n".join([text for pair in headers for text in pair]).encode("utf-8", "surrogatepass"))
        masked = []
        for name, value in headers:
            kind = _kind_of_header(name)
            if kind == "credential":
                value = MASK
            elif kind == "address":
                value = _QUERY_KEY.sub(rf"\g<1>{MASK}", value)
            masked.append((self.mask_text(name), self.mask_text(value)) if found else (name, value))
        return tuple(masked)


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


@lru_cache(maxsize=_REMEMBERED)
def _kind_of_header(name: str) -> str | None:
    if _CREDENTIAL_HEADERS.match(name):
        return "credential"
    return "address" if name.lower() in _ADDRESS_HEADERS else None


def _scattered(data: bytes, form: bytes) -> tuple[tuple[int, int], ...]:
    """Where the first occurrence of `form` lies that is cut into strings on successive lines; () where there is none.

    A piece is the end of a string, then whole strings, then the start of one, each on a line of its own; lines between
    may hold other strings (parallel calls are interleaved).
    """
    begun: dict[int, tuple[tuple[int, int], ...]] = {}
    for line in _LINE.finditer(data):
        now: dict[int, tuple[tuple[int, int], ...]] = {}
        for literal in _LITERAL.finditer(data, line.start(), line.end()):
            text, (start, end) = literal.group(1), literal.span(1)
            for length, spans in begun.items():
                rest = form[length:]
                if text.startswith(rest):
                    return (*spans, (start, start + len(rest)))
                if text and rest.startswith(text):
                    now[length + len(text)] = (*spans, (start, end))
            for length in range(1, min(len(text), len(form) - 1) + 1):
                if text.endswith(form[:length]):
                    now[length] = ((end - length, end),)
        begun.update(now)
    return ()


def _base64_core(raw: bytes, shift: int) -> bytes:
    """The part of base64(prefix + raw) that depends on `raw` alone, for a prefix of `shift` bytes (modulo 3)."""
    encoded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
    start = (0, 2, 3)[shift]
    end = len(encoded) - (1 if (len(raw) + shift) % 3 else 0)
    return encoded[start:end]
