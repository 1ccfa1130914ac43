"""Keys, from the environment only and by the name a model entry gives. The only place that reads a secret.

The name AWS_ACCESS_KEY_ID stands for AWS's standard variables together; they become one key string, which signs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from callscope.capture.redact import Redactor
from callscope.contract import ModelEntry, WireRequest
from callscope.errors import InputError
from callscope.providers import Signer, get_adapter
from callscope.providers.sigv4 import Credentials, write_credentials

__all__ = ["Keyring", "check_credentials", "check_key_variable"]

_AWS_KEY_ID = "AWS_ACCESS_KEY_ID"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*|[a-z_]+")


class Keyring:
    """The keys of a run's models, and the redactor that knows them."""

    def __init__(self, models: Iterable[ModelEntry], environ: Mapping[str, str], extra: Iterable[str] = ()) -> None:
        """Read the variables that `models` name out of `environ`; `extra` are further secrets to mask.

        Raises InputError where a named variable is unset, empty, too short to be masked safely or not printable ASCII.
        """
        self._keys: dict[str, str] = {}
        parts: list[str] = []
        for model in models:
            if model.api_key_env is not None:
                self._keys[model.api_key_env] = _read(model, model.api_key_env, environ)
                if model.api_key_env == _AWS_KEY_ID:
                    credentials = _aws_credentials(model, environ)
                    self._keys[_AWS_KEY_ID] = write_credentials(credentials)
                    parts += [part for part in credentials[:3] if part]
        self.redactor = Redactor([*self._keys.values(), *parts, *extra])

    def key_of(self, model: ModelEntry) -> str | None:
        """The model's key, or None where it needs none."""
        return None if model.api_key_env is None else self._keys[model.api_key_env]

    def __repr__(self) -> str:
        return f"Keyring({', '.join(sorted(self._keys))})"


def check_key_variable(name: str, field: str) -> None:
    """Raise InputError where `name` is more likely a key than the name of a variable; the message does not show it."""
    if not _VARIABLE.fullmatch(name):
        hint = "Put the key into an environment variable and give that variable's name here"
        expected = "letters of one case and, in capitals, digits"
        raise InputError("is no name of an environment variable", field=field, expected=expected, hint=hint)


def _read(model: ModelEntry, name: str, environ: Mapping[str, str]) -> str:
    field = f"{model.label}: api_key_env"
    check_key_variable(name, field)
    value = environ.get(name, "").strip()
    if not value:
        raise InputError(f"the environment variable {name} is not set", field=field, hint=f"Set it: export {name}=…")
    if len(value) < 6:
        hint = "A value that short cannot be kept out of the log; give any longer one where the server takes no key"
        raise InputError(f"the environment variable {name} holds fewer than 6 characters", field=field, hint=hint)
    if not value.isascii() or not value.isprintable() or " " in value:
        raise InputError(f"the environment variable {name} holds characters that no header can carry", field=field)
    return value


def _aws_credentials(model: ModelEntry, environ: Mapping[str, str]) -> Credentials:
    """What AWS's standard variables hold; the session token and the region may be unset."""
    token, region = environ.get("AWS_SESSION_TOKEN", "").strip(), environ.get("AWS_REGION", "").strip()
    return Credentials(
        access_key=_read(model, _AWS_KEY_ID, environ),
        secret_key=_read(model, "AWS_SECRET_ACCESS_KEY", environ),
        session_token=_read(model, "AWS_SESSION_TOKEN", environ) if token else None,
        region=region or environ.get("AWS_DEFAULT_REGION", "").strip() or None,
    )


def check_credentials(model: ModelEntry, keyring: Keyring) -> None:
    """Sign one empty request as a trial of `model` would be, so that what cannot be signed is known before any call.

    Raises InputError (credentials or region incomplete) or EnvironmentProblem (the signer is not installed).
    """
    adapter = get_adapter(model.api)
    if isinstance(adapter, Signer) and model.base_url is not None:
        empty = WireRequest("/", (), b"{}")
        try:
            adapter.sign(empty, keyring.key_of(model), url=f"{model.base_url.rstrip('/')}/", at="2026-01-01T00:00:00Z")
        except InputError as error:
            raise error.at(prefix=f"{model.label}: ") from None
