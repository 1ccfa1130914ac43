"""Repairs a call's arguments where, and only where, the tool's schema objects to them.

One change at a time: the first repair in the table's order, at the first objection, that has exactly one proposal the
schema takes. A proposal is taken when that objection is gone and there is no new one; a scalar must then be right
altogether; an unwrapped value may still have objections inside, which the next turns look at. Where alternatives
(`anyOf`, `oneOf`) all object, they are tried in the schema's order, and one is taken only when it is kept to the end.
So arguments that keep their schema are never touched, and no place that was right becomes wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callscope.contract import Repair, Tool
from callscope.scoring.guards import refusal
from callscope.scoring.pointers import child, pointer
from callscope.scoring.repair.faults import Fault, Look, Place, changed, value_at
from callscope.scoring.repair.values import VALUE_REPAIRS, Proposer
from callscope.scoring.validators import checker_for

__all__ = ["mend"]

_Turn = tuple[Any, tuple[Repair, ...], tuple[Fault, ...]]


def mend(arguments: dict[str, Any], tool: Tool) -> tuple[dict[str, Any], tuple[Repair, ...]]:
    """The arguments with every repair that applies, and what was changed; pointers are into the arguments.

    Bounded: after 300 validations what was reached stands. Arguments that may not be judged (`guards.refusal`) and
    schemas that cannot be compiled are left alone.
    """
    checker = checker_for(tool.parameters)
    if checker.problem is not None or refusal(arguments) is not None:
        return arguments, ()
    mended, steps, _ = _mended(arguments, (), {}, Look(checker, tool.parameters))
    return mended, steps


def _mended(value: Any, within: tuple[str | int, ...], chosen: Mapping[Place, int], look: Look) -> _Turn:
    """Turn after turn at objections at or below `within`, until none is left that a repair applies to."""
    steps: tuple[Repair, ...] = ()
    faults = look(value, chosen)
    while look.left > 0:
        here = tuple(fault for fault in faults if fault.path[: len(within)] == within)
        turn = _plain(value, here, faults, chosen, look) or _alternative(value, here, faults, chosen, look)
        if turn is None:
            break
        value, more, faults = turn
        steps += more
    return value, steps, faults


def _plain(
    value: Any, here: tuple[Fault, ...], faults: tuple[Fault, ...], chosen: Mapping[Place, int], look: Look
) -> _Turn | None:
    for name, propose in VALUE_REPAIRS:
        for fault in here:
            turn = _one(value, fault, faults, name, propose, chosen, look)
            if turn is not None:
                return turn
    return None


def _one(
    value: Any,
    fault: Fault,
    faults: tuple[Fault, ...],
    name: str,
    propose: Proposer,
    chosen: Mapping[Place, int],
    look: Look,
) -> _Turn | None:
    held = value_at(value, fault.path)
    if held is None:
        return None
    known = {each.key for each in faults}
    taken: list[_Turn] = []
    for new in propose(held[0], fault.objection):
        candidate = changed(value, fault.path, new)
        if name == "unwrap_double_encoded" and refusal(candidate) is not None:
            continue
        after = look(candidate, chosen)
        if _better(fault, known, after, name):
            taken.append((candidate, _steps(name, fault, held[0], new), after))
    return taken[0] if len(taken) == 1 else None


def _better(fault: Fault, known: set[Any], after: tuple[Fault, ...], name: str) -> bool:
    if any(each.key == fault.key for each in after):
        return False
    fresh = [each for each in after if each.key not in known]
    if name == "unwrap_double_encoded":
        return all(each.path[: len(fault.path)] == fault.path for each in fresh)
    return not fresh and (name == "drop_unknown" or all(each.path != fault.path for each in after))


def _steps(name: str, fault: Fault, before: Any, after: Any) -> tuple[Repair, ...]:
    place = pointer(fault.path)
    if name == "drop_unknown":
        return tuple(Repair(child(place, key), name, each) for key, each in before.items() if key not in after)
    return (Repair(place, name, before, after),)


def _alternative(
    value: Any, here: tuple[Fault, ...], faults: tuple[Fault, ...], chosen: Mapping[Place, int], look: Look
) -> _Turn | None:
    known = {each.key for each in faults}
    for fault in here:
        for index in range(len(fault.branches)):
            mended, steps, _ = _mended(value, fault.path, {**chosen, fault.place: index}, look)
            if steps:
                after = look(mended, chosen)
                keys = {each.key for each in after}
                if fault.key not in keys and keys <= known:
                    return mended, steps, after
    return None
