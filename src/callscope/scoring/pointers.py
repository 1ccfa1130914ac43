"""JSON pointers (RFC 6901), written. Not a reader of them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["child", "first_part", "pointer"]


def child(parent: str, part: str | int) -> str:
    """The pointer of a member (`part` a key) or element (`part` an index, from 0) of the value at `parent`."""
    if isinstance(part, str) and ("~" in part or "/" in part):
        part = part.replace("~", "~0").replace("/", "~1")
    return f"{parent}/{part}"


def pointer(parts: Iterable[str | int]) -> str:
    """The pointer that walks `parts` from the root; `""` for none."""
    result = ""
    for part in parts:
        result = child(result, part)
    return result


def first_part(pointer: str) -> str | None:
    """The top-level key or index a pointer goes through, unescaped; None for the root."""
    parts = pointer.split("/", 2)
    return parts[1].replace("~1", "/").replace("~0", "~") if len(parts) > 1 else None
