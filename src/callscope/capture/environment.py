"""What the manifest says of the machine and of what is installed, and which outside settings could change a run."""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from msgspec import Struct

from callscope._version import __version__
from callscope.capture.proxies import LOOPBACK_VARIABLE
from callscope.capture.redact import mask_user_info

__all__ = ["IGNORED", "Environment", "read_environment", "say_ignored"]

IGNORED = "ignored"
"""What stands in place of the value of a variable that vendors' clients obey and callscope does not."""

_LIBRARIES = ("aiohttp", "jsonschema-rs", "msgspec", "multidict", "orjson", "yarl", "xllamacpp")
"""Dependencies that touch bytes sent, received or judged."""

_OVERRIDES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", LOOPBACK_VARIABLE, "SSL_CERT_FILE", "SSL_CERT_DIR")

_OF_VENDORS = (
    "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID",
    "OPENAI_API_VERSION", "AZURE_OPENAI_ENDPOINT", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
    "GOOGLE_GENAI_HTTP_CLIENT", "MISTRAL_BASE_URL", "MISTRAL_SERVER_URL", "CO_API_URL", "GROQ_BASE_URL",
    "GROQ_CUSTOM_HEADERS", "TOGETHER_BASE_URL", "OLLAMA_HOST", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
)  # fmt: skip
"""Variables by which vendors' clients change where and what they send. Addresses and headers come from the
configuration only, so that a run is what its manifest says; that such a variable was set is noted."""

_log = logging.getLogger("callscope")


class Environment(Struct, frozen=True):
    """Facts for a manifest. `overrides` holds outside settings in force, credentials in them masked, and `IGNORED` for
    those that are not."""

    version: str
    commit: str
    runtime: dict[str, str]
    libraries: dict[str, str]
    overrides: dict[str, str]

    @property
    def ignored(self) -> tuple[str, ...]:
        """The variables of vendors' clients that are set and have no effect here."""
        return tuple(name for name, value in self.overrides.items() if value == IGNORED and name in _OF_VENDORS)

    @property
    def proxied(self) -> bool:
        """Whether a proxy variable is set."""
        return any(name.upper().endswith("_PROXY") and name.upper() != "NO_PROXY" for name in self.overrides)


def read_environment(environ: Mapping[str, str] | None = None) -> Environment:
    """Read the machine, the installed versions, and the variables that change a run or look as if they did."""
    environ = os.environ if environ is None else environ
    libraries = {}
    for name in _LIBRARIES:
        try:
            libraries[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    overrides = {
        name: mask_user_info(environ[name])
        for upper in _OVERRIDES
        for name in (upper, upper.lower())
        if environ.get(name)
    }
    overrides |= {name: IGNORED for name in _OF_VENDORS if environ.get(name)}
    runtime = {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": str(os.cpu_count() or 0),
    }
    return Environment(__version__, _commit(), runtime, libraries, overrides)


_said: set[str] = set()


def say_ignored(environment: Environment) -> None:
    """Warn of ignored variables, each once in a process (a warning of the logger `callscope`, so on stderr)."""
    fresh = [name for name in environment.ignored if name not in _said]
    _said.update(fresh)
    if fresh:
        _log.warning(
            "Set in the environment and ignored: %s. Addresses and headers come from the configuration (base_url)",
            ", ".join(fresh),
        )


def _commit() -> str:
    """The commit of the checkout that runs, or `release` for an installed package."""
    git = Path(__file__).resolve().parents[3] / ".git"
    try:
        head = (git / "HEAD").read_text("ascii").strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        loose = git / name
        if loose.exists():
            return loose.read_text("ascii").strip()
        packed = (git / "packed-refs").read_text("ascii")
        return next(line.split()[0] for line in packed.splitlines() if line.endswith(f" {name}"))
    except (OSError, StopIteration, UnicodeDecodeError):
        return "release"
