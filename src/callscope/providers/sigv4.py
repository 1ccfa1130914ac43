"""AWS Signature Version 4 for one request, by botocore's signer, which is loaded only when it is needed.

Credentials come in as one key string (JSON), the moment as text: nothing here reads the environment or a clock.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from callscope.errors import EnvironmentProblem, InputError

__all__ = ["Credentials", "read_credentials", "signed_headers", "write_credentials"]

_SERVICE = "bedrock"
_REGION_IN_HOST = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?amazonaws\.com")
_STAMP = "%Y%m%dT%H%M%SZ"


class Credentials(NamedTuple):
    """What a signature is made with. `region` is used where the address names none."""

    access_key: str
    secret_key: str
    session_token: str | None = None
    region: str | None = None

    def __repr__(self) -> str:
        return "Credentials(…)"


def write_credentials(credentials: Credentials) -> str:
    """Credentials as the one key string that `Adapter.authorize` and `sign` take."""
    return json.dumps({name: value for name, value in credentials._asdict().items() if value}, separators=(",", ":"))


def read_credentials(key: str) -> Credentials | None:
    """The credentials in a key string; None where it is a bearer token. Raises InputError where some are missing."""
    if not key.startswith("{"):
        return None
    try:
        fields = json.loads(key)
        credentials = Credentials(**fields)
        sound = all(isinstance(value, str) and value for value in fields.values())
    except (ValueError, TypeError):
        sound = False
    if not sound:
        raise InputError(
            "the AWS credentials are not complete",
            field="api_key",
            expected="access_key, secret_key and, where there are any, session_token and region",
        )
    return credentials


def signed_headers(
    credentials: Credentials, url: str, headers: tuple[tuple[str, str], ...], body: bytes, at: str
) -> tuple[tuple[str, str], ...]:
    """The headers that sign a POST of `body` to `url`, made at the moment `at` (ISO 8601).

    Signed are the host, the content type and AWS's own headers. Raises InputError where no region is known,
    EnvironmentProblem where botocore is not installed.
    """
    found = _REGION_IN_HOST.search(urlsplit(url).hostname or "")
    region = found[1] if found else credentials.region
    if region is None:
        raise InputError(
            "the address names no AWS region", field="base_url", found=url, hint="Set AWS_REGION to the region's name"
        )
    signing: Any = _botocore("botocore.auth")
    stamp = datetime.fromisoformat(at).astimezone(UTC).strftime(_STAMP)
    own = {"X-Amz-Date": stamp}
    if credentials.session_token:
        own["X-Amz-Security-Token"] = credentials.session_token
    sent = {name: value for name, value in headers if name.lower() == "content-type"}
    request = _botocore("botocore.awsrequest").AWSRequest(method="POST", url=url, data=body, headers={**sent, **own})
    request.context["timestamp"] = stamp
    keys = _botocore("botocore.credentials").Credentials(credentials.access_key, credentials.secret_key)
    signer = signing.SigV4Auth(keys, _SERVICE, region)
    # The steps of SigV4Auth.add_auth, which would read the clock.
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    names = signer.signed_headers(signer.headers_to_sign(request))
    value = f"AWS4-HMAC-SHA256 Credential={signer.scope(request)}, SignedHeaders={names}, Signature={signature}"
    return (*((name.lower(), text) for name, text in own.items()), ("authorization", value))


def _botocore(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise EnvironmentProblem(
            "signing requests to AWS needs botocore, which is not installed",
            hint="Install callscope[bedrock], or use a bearer token (AWS_BEARER_TOKEN_BEDROCK).",
        ) from error
