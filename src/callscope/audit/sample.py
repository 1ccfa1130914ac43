"""Which units are drawn: by the order of their hashes under the seed, so that every machine draws the same.

Pure. No random generator is used, whose algorithm another version may change: a unit's place is
SHA-256(purpose, seed, key), and a stratum's sample is its first n. So a larger sample of one seed holds the smaller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct

from callscope.audit.designs import Design
from callscope.canonical import canonical_hash
from callscope.errors import InputError

__all__ = ["Drawn", "Key", "Stratum", "Unit", "allocate", "draw", "in_order", "place"]

Key = tuple[str | int, ...]
"""What names a unit among those that could be drawn."""

T = TypeVar("T")


class Unit(NamedTuple):
    """One unit that could be drawn: its stratum and its key."""

    stratum: str
    key: Key


class Stratum(Struct, frozen=True):
    """How many units a stratum holds, how many were asked for, how many were drawn."""

    population: int
    wanted: int
    sampled: int


class Drawn(NamedTuple):
    """The units drawn, in an order that says nothing of their strata, and the counts of each stratum."""

    units: tuple[Unit, ...]
    strata: Mapping[str, Stratum]


def place(purpose: str, seed: int, *key: str | int) -> str:
    """Where something stands: 64 hex digits, as good as random, the same everywhere."""
    return canonical_hash([purpose, seed, *key])


def in_order(purpose: str, seed: int, keys: Iterable[Key]) -> list[Key]:
    """The keys in their order under this purpose and seed, whatever order they came in."""
    return sorted(keys, key=lambda key: (place(purpose, seed, *key), key))


def allocate(
    size: int, populations: Mapping[str, int], per_class: Literal["prior", "equal"] = "prior"
) -> dict[str, int]:
    """`size` units over the strata: in proportion to their populations (`prior`), or the same for each (`equal`).

    Rounding is by largest remainder, ties in the order given; empty strata get none. With `prior` and a size no larger
    than the population, no stratum is asked for more than it holds.

    Raises InputError for a size below 1, or with `prior` above the population.
    """
    filled = {name: count for name, count in populations.items() if count > 0}
    total = sum(filled.values())
    if size < 1:
        raise InputError("must be at least 1", field="--size", found=size)
    if per_class == "prior" and size > total:
        raise InputError("there are not that many", field="--size", found=size, expected=f"at most {total}")
    weights = filled if per_class == "prior" else dict.fromkeys(filled, 1)
    whole = sum(weights.values())
    quotas = {name: size * weight // whole for name, weight in weights.items()}
    order = sorted(weights, key=lambda name: -(size * weights[name] % whole))
    for name in order[: size - sum(quotas.values())]:
        quotas[name] += 1
    return {name: quotas.get(name, 0) for name in populations}


def draw(
    units: Sequence[Unit], quotas: Mapping[str, int], seed: int, design: Design, *, allow_fewer: bool = False
) -> Drawn:
    """The sample: of each stratum the first `quotas[stratum]` units in the order of their hashes.

    Raises InputError where a stratum holds fewer than asked for (unless `allow_fewer`), naming every such stratum and
    how many it holds; and where nothing at all would be drawn.
    """
    members: dict[str, list[Key]] = {name: [] for name in design.strata}
    for unit in units:
        members[unit.stratum].append(unit.key)
    short = {name: len(members[name]) for name, wanted in quotas.items() if len(members[name]) < wanted}
    if short and not allow_fewer:
        there = "; ".join(f"{name}: {count} {design.units}, {quotas[name]} wanted" for name, count in short.items())
        hint = "State your own --quota or --size, or take what there is with --allow-fewer"
        raise InputError("a stratum holds too few", field="sample", found=there, hint=hint)
    chosen = {name: in_order("draw", seed, keys)[: quotas.get(name, 0)] for name, keys in members.items()}
    stratum_of = {key: name for name, keys in chosen.items() for key in keys}
    if not stratum_of:
        held = ", ".join(f"{len(keys)} {name}" for name, keys in members.items())
        raise InputError(
            "nothing would be drawn", field="sample", found=held, expected=f"at least one of the {design.units}"
        )
    strata = {name: Stratum(len(keys), quotas.get(name, 0), len(chosen[name])) for name, keys in members.items()}
    return Drawn(tuple(Unit(stratum_of[key], key) for key in in_order("order", seed, stratum_of)), strata)
