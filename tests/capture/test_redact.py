"""Secrets are masked in every spelling in which bytes may carry them; the length stays, and so does all else."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from callscope.capture.redact import MASK, Redactor, mask_user_info

KEY = 'sk-"Ca\\na/ry+?4711=ZZ'
PLAIN = "sk-canary-4711-abcdef"
UNICODE = "schlüssel-秘密-key"

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in JSON": lambda key: json.dumps(key)[1:-1],
    "in JSON with raw Unicode": lambda key: json.dumps(key, ensure_ascii=False)[1:-1],
    "in JSON with escaped slashes": lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
    "in JSON in JSON": lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1],
    "percent-encoded": lambda key: quote(key, safe=""),
    "percent-encoded in a path": quote,
    "percent-encoded in a form": quote_plus,
    "percent-encoded in lower case": lambda key: _lower_hex(quote(key, safe="")),
}


def _lower_hex(text: str) -> str:
    parts = text.split("%")
    return "%".join([parts[0], *(part[:2].lower() + part[2:] for part in parts[1:])])


@pytest.mark.parametrize("key", [KEY, PLAIN, UNICODE], ids=["quotes and slashes", "plain", "unicode"])
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("before", "after"), [("", ""), ('{"a": "', '"}'), ("\n\u2028", "\x00")])
def test_a_key_is_masked_in_every_spelling(key: str, spelling: str, before: str, after: str) -> None:
    carried = SPELLINGS[spelling](key).encode()
    masked, masks = Redactor([key]).mask_bytes(before.encode() + carried + after.encode())
    assert masked == before.encode() + b"*" * len(carried) + after.encode()
    assert masks == 1


@pytest.mark.parametrize("key", [KEY, PLAIN, UNICODE], ids=["quotes and slashes", "plain", "unicode"])
@pytest.mark.parametrize("user", ["", "u", "us", "user:", "a longer name:"])
@pytest.mark.parametrize("after", ["", "@", "@h", ":and more"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode], ids=["base64", "url-safe base64"])
def test_a_key_is_masked_in_base64_at_every_alignment(
    key: str, user: str, after: str, encode: Callable[[bytes], bytes]
) -> None:
    """As in Basic auth. Of the key only bits shared with a neighbouring byte are left, never a whole byte."""
    raw = key.encode()
    encoded = encode(f"{user}{key}{after}".encode())
    masked, masks = Redactor([key]).mask_bytes(b"Basic " + encoded + b".")
    assert masks == 1
    assert len(masked) == len(encoded) + 7
    left = masked[6:-1]
    first, last = len(user.encode()), len(user.encode()) + len(raw)
    assert all(left[place] == ord("*") for place in range(-(-first * 8 // 6), last * 8 // 6))
    stars = left.replace(b"*", b"A")
    shown = base64.urlsafe_b64decode(stars.translate(bytes.maketrans(b"+/", b"-_")))
    assert not any(raw[start : start + 3] in shown for start in range(len(raw) - 2))


@given(st.text(st.characters(codec="utf-8"), min_size=6, max_size=30), st.binary(max_size=60), st.binary(max_size=60))
@example("aaaaaa", b"aa", b"aaa")
def test_whatever_the_key_it_is_gone_and_the_length_is_kept(key: str, before: bytes, after: bytes) -> None:
    data = before + key.encode() + after
    masked, masks = Redactor([key]).mask_bytes(data)
    assert len(masked) == len(data)
    assert masks >= 1
    assert key.encode() not in masked or set(key) == {"*"}
    assert all(was == now or now == ord("*") for was, now in zip(data, masked, strict=True))


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_data_without_the_secret_is_unchanged(data: bytes) -> None:
    """Six bytes that are not in the data, in no spelling, since the data holds none of their letters."""
    key = "\u0bf5\u0bf6\u0bf7\u0bf8"
    assume(not any(byte in data for byte in set(key.encode())))
    assume(len(set(data)) < 200)
    assert Redactor([key]).mask_bytes(data) == (data, 0)
    assert Redactor([]).mask_bytes(data) == (data, 0)


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_text_is_masked_like_bytes_and_holds_anything(text: str) -> None:
    redactor = Redactor([PLAIN])
    assert redactor.mask_text(text) == text
    assert redactor.mask_text(f"{text}{PLAIN}{text}") == f"{text}{'*' * len(PLAIN)}{text}"


OVERLAPS = [
    (["abcdefgh", "defghijkl"], "xabcdefghijklx", "x************x", 1),
    (["abcdefgh", "cdefgh"], "abcdefgh cdefgh", "******** ******", 2),
    (["abcdef", "abcdefgh"], "abcdefgh abcdefg", "******** ******g", 2),
    (["abcdef", "defghi", "ghijkl"], "abcdefghijkl", "************", 1),
    (["abcdef"], "abcdefabcdef", "************", 2),
    (["ababab"], "abababab", "********", 1),
    (["abcdef", "uvwxyz"], "uvwxyzabcdef-uvwxy", "************-uvwxy", 2),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "text", "masked", "masks"), OVERLAPS)
def test_keys_that_overlap_or_hold_each_other_leave_nothing(
    keys: list[str], text: str, masked: str, masks: int
) -> None:
    assert Redactor(keys).mask_bytes(text.encode()) == (masked.encode(), masks)
    assert Redactor(reversed(keys)).mask_text(text) == masked


def test_a_value_too_short_to_be_a_secret_masks_nothing() -> None:
    assert Redactor(["", "abc", "abcde"]).mask_bytes(b"abcde abc") == (b"abcde abc", 0)


# The list of specs/providers.md, section 1, and what Anthropic and proxies add.
CREDENTIAL_HEADERS = [
    "authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie", "x-amz-security-token",
    "openai-organization", "openai-project", "anthropic-workspace-id", "anthropic-organization-id",
    "proxy-authorization", "x-auth-token",
]  # fmt: skip


@pytest.mark.parametrize("name", [*CREDENTIAL_HEADERS, "Authorization", "X-API-KEY", "Set-Cookie"])
def test_a_header_that_carries_credentials_is_masked_whatever_its_value(name: str) -> None:
    assert Redactor([]).mask_headers([(name, "anything"), (name, "")]) == ((name, MASK), (name, MASK))


def test_other_headers_keep_their_values_but_for_the_key() -> None:
    headers = [("content-type", "application/json"), ("x-echo", f"a {PLAIN} b"), ("x-authorization-mode", "none")]
    masked = Redactor([PLAIN]).mask_headers(headers)
    assert masked == (headers[0], ("x-echo", f"a {'*' * len(PLAIN)} b"), headers[2])


URLS = [
    ("https://h/v1/chat", "https://h/v1/chat"),
    ("https://h/v1?limit=3&monkey=a#key=x", "https://h/v1?limit=3&monkey=a#key=x"),
    ("https://h/v1/@scope/x", "https://h/v1/@scope/x"),
    ("https://h?mail=a@b", "https://h?mail=a@b"),
    ("https://user@h/", "https://[redacted]@h/"),
    ("https://user:pass@h:8080/p", "https://[redacted]@h:8080/p"),
    ("https://user:p@ss@h/p", "https://[redacted]@h/p"),
    ("https://h/m:generate?key=AIza123", "https://h/m:generate?key=[redacted]"),
    ("https://h/?a=1&api_key=x&b=2", "https://h/?a=1&api_key=[redacted]&b=2"),
    ("https://h/?API-Key=x#f", "https://h/?API-Key=[redacted]#f"),
    ("https://h/?apikey=x&token=y", "https://h/?apikey=[redacted]&token=[redacted]"),
    ("https://h/?access_token=x", "https://h/?access_token=[redacted]"),
    ("https://h/?sig=x&Signature=y", "https://h/?sig=[redacted]&Signature=[redacted]"),
    ("https://h/?X-Amz-Credential=x&X-Amz-Signature=y", "https://h/?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]"),
    ("https://h/?subscription-key=x", "https://h/?subscription-key=[redacted]"),
    (f"https://h/{PLAIN}/x?q={quote(PLAIN)}", f"https://h/{'*' * len(PLAIN)}/x?q={'*' * len(PLAIN)}"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "masked"), URLS)
def test_an_address_loses_its_user_and_its_keys_and_nothing_else(url: str, masked: str) -> None:
    assert Redactor([PLAIN]).mask_url(url) == masked


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("user:pass@proxy:8080", "[redacted]@proxy:8080"),
        ("http://user:pass@proxy:8080", "http://[redacted]@proxy:8080"),
        ("proxy:8080", "proxy:8080"),
        ("socks5h://u:p@h", "socks5h://[redacted]@h"),
        ("localhost,127.0.0.1,.corp", "localhost,127.0.0.1,.corp"),
    ],
)
def test_a_proxy_may_lack_its_scheme(url: str, masked: str) -> None:
    assert mask_user_info(url) == masked


def test_a_redactor_does_not_show_what_it_knows() -> None:
    assert PLAIN not in repr(Redactor([PLAIN]))
