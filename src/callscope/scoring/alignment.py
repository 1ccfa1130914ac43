"""Which call answers which required call: a minimum-cost pairing, never by position and never greedy.

Only pairs; `selection` and `semantics` judge the pairs. A call can answer a requirement when its name is the required
one or that of a listed alternative. The pairing answers as many requirements as the names allow, and among those
pairings has the least cost; ties go to the pairing that keeps the required order best (least sum of squared
displacements), so that interchangeable calls are never said to be out of order.

| the pair                                     | cost                  |
|----------------------------------------------|-----------------------|
| exact under the rules or an alternative      | 0                     |
| acceptable                                   | 1                     |
| undecided                                    | 50                    |
| wrong, with *p* findings against it          | 100 · min(p, 90)      |
| malformed arguments                          | 10,000                |

Sources: scoring-faults 20-22 (greedy and collapsed matching); Kuhn (1955) for the assignment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from callscope.contract import ArgumentRules, ExpectedCall, ExpectTools, Tool, ToolCall
from callscope.scoring.arguments import Compared, compare_arguments
from callscope.scoring.assignment import assign

__all__ = ["Alignment", "Match", "align", "order_faults", "rules_of"]

_COST = {"exact": 0, "acceptable": 1, "undecided": 50}
_MALFORMED = 10_000
_UNANSWERED = 10_000_000


class Match(NamedTuple):
    """A required call and the call that answers it. `compared` is None for malformed arguments.

    `by` says under which rules: `expected`, or `alternatives/<index>`.
    """

    required: int
    call: int
    by: str
    compared: Compared | None
    cost: int


class Alignment(NamedTuple):
    """The match of each required call (None: unanswered), and the calls that answer none, in order."""

    matches: tuple[Match | None, ...]
    unmatched: tuple[int, ...]

    @property
    def answered(self) -> int:
        """How many required calls were answered by name."""
        return sum(match is not None for match in self.matches)


def align(
    required: Sequence[ExpectedCall],
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool],
    offset: int | None = None,
) -> Alignment:
    """Pair required calls with calls as given (each through `guards.guarded`); `tools` gives declared defaults.

    `offset` is that of the case's reference time (`dates.offset_of`).
    """
    table = [
        [_match(row, wanted, at, call, tools, offset) for at, call in enumerate(calls)]
        for row, wanted in enumerate(required)
    ]
    if len(required) == 1:
        able = [match for match in table[0] if match is not None]
        chosen: tuple[Match | None, ...] = (min(able, key=lambda match: match.cost) if able else None,)
    elif calls:
        chosen = _cheapest(required, table, len(calls))
    else:
        chosen = (None,) * len(required)
    used = {match.call for match in chosen if match is not None}
    return Alignment(chosen, tuple([at for at in range(len(calls)) if at not in used]))


def _match(
    row: int, wanted: ExpectedCall, at: int, call: ToolCall, tools: Mapping[str, Tool], offset: int | None
) -> Match | None:
    """The best of the rules and the alternatives whose tool the call names; the rules win a tie."""
    best: Match | None = None
    if call.name == wanted.name:
        best = _under(row, at, "expected", wanted, None, call, tools, offset)
    if best is None or best.cost:
        for number, alternative in enumerate(wanted.alternatives):
            if call.name == (alternative.name or wanted.name):
                match = _under(row, at, f"alternatives/{number}", wanted, number, call, tools, offset)
                best = match if best is None or match.cost < best.cost else best
    return best


def _under(
    row: int,
    at: int,
    by: str,
    wanted: ExpectedCall,
    alternative: int | None,
    call: ToolCall,
    tools: Mapping[str, Tool],
    offset: int | None,
) -> Match:
    if call.arguments is None:
        return Match(row, at, by, None, _MALFORMED)
    rules = wanted.arguments if alternative is None else wanted.alternatives[alternative].arguments
    tool = tools.get(call.name)
    compared = compare_arguments(call.arguments, rules, tool.parameters if tool is not None else None, offset)
    cost = 100 * min(compared.problems, 90) if compared.result == "wrong" else _COST[compared.result]
    return Match(row, at, by, compared, cost)


def rules_of(match: Match, required: Sequence[ExpectedCall]) -> ArgumentRules:
    """The rules under which a call answers its requirement."""
    wanted = required[match.required]
    kind, _, number = match.by.partition("/")
    return wanted.alternatives[int(number)].arguments if kind == "alternatives" else wanted.arguments


def _cheapest(
    required: Sequence[ExpectedCall], table: Sequence[Sequence[Match | None]], calls: int
) -> tuple[Match | None, ...]:
    rows = len(required)
    ranks = _ranks(required)
    scale = 1 + rows * (rows + calls) ** 2
    never = (rows + 1) * _UNANSWERED * scale
    costs = [
        [
            *(never if cell is None else cell.cost * scale + (ranks[row] - at) ** 2 for at, cell in enumerate(cells)),
            *([_UNANSWERED * scale] * rows),
        ]
        for row, cells in enumerate(table)
    ]
    return tuple([table[row][column] if column < calls else None for row, column in enumerate(assign(costs))])


def _ranks(required: Sequence[ExpectedCall]) -> list[int]:
    """Each required call's place in the order the case implies: as written, moved only as far as `depends_on` asks."""
    known = {wanted.id: row for row, wanted in enumerate(required) if wanted.id is not None}
    needs = [
        {known[name] for name in wanted.depends_on if name in known} - {row} for row, wanted in enumerate(required)
    ]
    order: list[int] = []
    waiting = list(range(len(required)))
    while waiting:
        ready = next((row for row in waiting if not needs[row] - set(order)), waiting[0])  # a cycle: as written
        waiting.remove(ready)
        order.append(ready)
    ranks = [0] * len(required)
    for rank, row in enumerate(order):
        ranks[row] = rank
    return ranks


def order_faults(expected: ExpectTools, alignment: Alignment) -> list[dict[str, Any]]:
    """Where the calls came in an order the case does not allow: `required` must come after `after` (indices of required
    calls), but the calls stand at `positions`. Unanswered calls and unknown ids are passed over."""
    known = {wanted.id: row for row, wanted in enumerate(expected.calls) if wanted.id is not None}
    pairs = [(row, row - 1, "ordered") for row in range(1, len(expected.calls))] if expected.ordered else []
    for row, wanted in enumerate(expected.calls):
        pairs.extend((row, known[name], "depends_on") for name in wanted.depends_on if known.get(name, row) != row)
    faults = []
    for row, before, rule in pairs:
        later, earlier = alignment.matches[row], alignment.matches[before]
        if later is not None and earlier is not None and later.call < earlier.call:
            faults.append({"rule": rule, "required": row, "after": before, "positions": [later.call, earlier.call]})
    return faults
