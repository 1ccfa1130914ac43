"""Repair `name_prefix`: a name that is one declared tool's name, but for a namespace, a template token or its spelling.

Tried in this order, and only where exactly one declared tool answers: the name without what follows a template token
(`f<|channel|>analysis`) and without a running number (`f:0`); without the namespaces that chat templates put before a
tool (`functions.f`, `default_api.f`); without differences in case, hyphens, underscores, dots and spaces. Names that
mean the same are not the same (`find_order` is not `lookup_order`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["resolve"]

_TOKEN = re.compile(r"\s*<[|｜].*|:\d+\Z", re.DOTALL)
_NAMESPACE = re.compile(r"(?:functions?|tools?|default_api|default_function)\s*[.:/]\s*")
_SPELLING = re.compile(r"[\s_.\-]+")


def resolve(name: str, declared: Iterable[str]) -> str | None:
    """The declared name that `name` stands for: itself where it is declared; None where none or several answer."""
    names = tuple(dict.fromkeys(declared))
    if name in names:
        return name
    bare = _TOKEN.sub("", name).strip()
    bare = bare[space.end() :] if (space := _NAMESPACE.match(bare)) else bare
    if bare in names:
        return bare
    spelled = _spelled(bare)
    found = [each for each in names if spelled and _spelled(each) == spelled]
    return found[0] if len(found) == 1 else None


def _spelled(name: str) -> str:
    return _SPELLING.sub("", name).casefold()
