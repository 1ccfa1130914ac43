"""Call ids for follow-up requests: kept where they can be, made where they are missing, empty or doubled.

The only place where callscope invents an id; what a response said is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

__all__ = ["numbered", "unique_ids"]


def numbered(number: int) -> str:
    """The id made for the `number`th need of one, from 0: `call_0`, `call_1`, …"""
    return f"call_{number}"


def unique_ids(
    ids: Sequence[str | None], taken: Iterable[str], make: Callable[[int], str] = numbered
) -> tuple[str, ...]:
    """One id for each call, unlike each other and unlike those `taken` by earlier messages of the conversation.

    Deterministic: `make` is asked for 0, 1, 2, … until an id is free.
    """
    used = set(taken) | {identifier for identifier in ids if identifier}
    given = set(taken)
    result = []
    number = 0
    for identifier in ids:
        chosen = identifier or ""
        if not chosen or chosen in given:
            while (chosen := make(number)) in used:
                number += 1
            used.add(chosen)
        given.add(chosen)
        result.append(chosen)
    return tuple(result)
