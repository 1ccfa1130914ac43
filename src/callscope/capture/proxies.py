"""Which proxy a call goes through, out of the environment's proxy variables. Pure: reads only what it is given.

Not left to the HTTP client, which would also read ~/.netrc and put a password of its own in place of our key, and
which overlooks ALL_PROXY.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # typeshed leaves it out

from msgspec import Struct

from callscope.errors import InputError

__all__ = ["LOOPBACK_VARIABLE", "Proxies", "is_loopback"]

LOOPBACK_VARIABLE = "CALLSCOPE_PROXY_LOOPBACK"
"""Set to 1, it sends calls to this machine through the proxy too."""


class Proxies(Struct, frozen=True):
    """The variables in force: scheme (`http`, `https`, `all`) -> (name of the variable, its value)."""

    by_scheme: dict[str, tuple[str, str]] = {}
    exempt: str = ""
    loopback: bool = False

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Proxies:
        """Out of HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY; the lower-case spelling comes first."""
        found = {}
        for scheme in ("http", "https", "all"):
            for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()):
                if environ.get(name, "").strip():
                    found[scheme] = (name, environ[name].strip())
                    break
        exempt = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
        return cls(found, exempt, environ.get(LOOPBACK_VARIABLE, "") == "1")

    def for_url(self, url: str) -> str | None:
        """The proxy's address for `url`, None where the call goes straight.

        Raises InputError, naming the variable, for a proxy that callscope cannot speak to.
        """
        parts = urlsplit(url)
        chosen = self.by_scheme.get(parts.scheme) or self.by_scheme.get("all")
        host = parts.hostname or ""
        if chosen is None or (is_loopback(host) and not self.loopback):
            return None
        if self.exempt and proxy_bypass_environment(parts.netloc.rpartition("@")[2], {"no": self.exempt}):
            return None
        name, value = chosen
        address = value if "://" in value else f"http://{value}"
        if urlsplit(address).scheme not in {"http", "https"}:
            hint = f"Other kinds are not supported; NO_PROXY can exempt an address: {host}"
            raise InputError("names no HTTP proxy", field=name, expected="http://host:port", hint=hint)
        return address

    @property
    def secrets(self) -> tuple[str, ...]:
        """The proxies' passwords, as written and unquoted, so that they can be masked."""
        written = [urlsplit(value if "://" in value else f"http://{value}") for _, value in self.by_scheme.values()]
        passwords = [parts.password for parts in written if parts.password]
        return tuple({form for password in passwords for form in (password, unquote(password))})


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or number alone; nothing is looked up."""
    if host.lower().rstrip(".") == "localhost" or host.lower().rstrip(".").endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)
