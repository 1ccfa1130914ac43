"""Which tool was expected and which was called, by name: counted trial by trial, laid out as a matrix. Bounded.

Says where tools are confused with each other; whether a choice was right is the verdict's, and only carried along.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from callscope.contract import Case, Outcome, ToolCalls, expected_calls
from callscope.reports.columns import plural
from callscope.reports.numbers import percent
from callscope.reports.safe import one_line

__all__ = ["Crossing", "Matrix", "Pair", "confused", "count_pair", "crossings", "matrix", "pair_of", "pairs_summary"]

OTHERS = "(others)"
_PAIRS = 300
_NAMES = 4
_MOST_TIMES = 99
_OF_CLASS = {"abstention": "(no call)", "clarification": "(a question)"}


class Pair(NamedTuple):
    """What a trial should have called and what it called: tool names, each once, in alphabetical order.

    `expects` is the class of the expectation. `in_text`: a call was written into the text, where it earns nothing.
    `times`: how many calls came, where they were of just the expected tools and yet not as many as expected; else 0.
    """

    expects: str
    expected: tuple[str, ...]
    called: tuple[str, ...]
    in_text: bool
    times: int = 0


class Matrix(NamedTuple):
    """A matrix laid out: its columns, and rows of (expected, (trials, right ones) a column, trials in all)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[int, int], ...], int], ...]


class Crossing(NamedTuple):
    """A choice that was wrong: what was expected, what came, in how many trials, of how many that expected it."""

    expected: str
    came: str
    trials: int
    of: int


def pair_of(case: Case, expects: str, outcome: Outcome) -> Pair:
    """What an observed trial of `case` expected and called."""
    came = [call.name for call in outcome.calls] if isinstance(outcome, ToolCalls) else []
    wanted = [call.name for call in expected_calls(case.expected)]
    called, expected = _names(came), _names(wanted)
    in_text = not called and "text_tool_call" in outcome.flags
    times = min(len(came), _MOST_TIMES) if called == expected and len(came) != len(wanted) else 0
    return Pair(expects, expected, called, in_text, times)


def _names(names: Iterable[str]) -> tuple[str, ...]:
    found = sorted({name[:80] for name in names})
    return tuple(found) if len(found) <= _NAMES else (*found[: _NAMES - 1], OTHERS)


def count_pair(pairs: dict[Pair, list[int]], pair: Pair, *, right: bool) -> None:
    """Count a trial under its pair; past a bound of distinct pairs new ones are counted together."""
    if pair not in pairs and len(pairs) >= _PAIRS:
        pair = Pair(pair.expects, (OTHERS,) if pair.expected else (), (OTHERS,) if pair.called else (), pair.in_text)
    counts = pairs.setdefault(pair, [0, 0])
    counts[0] += 1
    counts[1] += right


def pairs_summary(pairs: Mapping[Pair, list[int]]) -> list[dict[str, Any]]:
    """The pairs as summary.json holds them: names, trials, and how many of them had a right selection."""
    return [
        {**pair._asdict(), "expected": list(pair.expected), "called": list(pair.called), "trials": n, "right": k}
        for pair, (n, k) in sorted(pairs.items())
    ]


def _expected(pair: Mapping[str, Any]) -> str:
    return _joined(pair["expected"]) or _OF_CLASS.get(pair["expects"], "(no call)")


def _came(pair: Mapping[str, Any]) -> str:
    if pair["in_text"]:
        return "(in the text)"
    return _joined(pair["called"]) or "(no call)"


def _joined(names: Iterable[str]) -> str:
    return " + ".join(one_line(name, 200) or "(no name)" for name in names)


def matrix(group: Mapping[str, Any], *, rows: int = 24, columns: int = 12) -> Matrix | None:
    """The matrix of a group; beyond the bounds the rarer names stand together. None where nothing was observed."""
    cells: dict[str, dict[str, list[int]]] = {}
    for pair in group["tool_pairs"]:
        cell = cells.setdefault(_expected(pair), {}).setdefault(_came(pair), [0, 0])
        cell[0] += pair["trials"]
        cell[1] += pair["right"]
    if not cells:
        return None
    tall = {name: sum(n for n, _ in row.values()) for name, row in cells.items()}
    wide: dict[str, int] = {}
    for row in cells.values():
        for name, (n, _) in row.items():
            wide[name] = wide.get(name, 0) + n
    down = _kept(tall, rows, list(cells))
    across = _kept(wide, columns, [*down, *wide])
    laid: dict[str, dict[str, list[int]]] = {}
    for expected, row in cells.items():
        line = laid.setdefault(expected if expected in down else OTHERS, {})
        for came, (n, k) in row.items():
            cell = line.setdefault(came if came in across else OTHERS, [0, 0])
            cell[0] += n
            cell[1] += k
    shown = [name for name in (*across, OTHERS) if any(name in line for line in laid.values())]
    return Matrix(
        tuple(dict.fromkeys(shown)),
        tuple(
            (name, tuple((line.get(c, (0, 0))[0], line.get(c, (0, 0))[1]) for c in dict.fromkeys(shown)), _total(line))
            for name, line in ((each, laid[each]) for each in dict.fromkeys((*down, OTHERS)) if each in laid)
        ),
    )


def _total(line: Mapping[str, list[int]]) -> int:
    return sum(n for n, _ in line.values())


def _kept(counts: Mapping[str, int], limit: int, order: list[str]) -> list[str]:
    """The names to show, in `order`, tools before what is no tool: all, or the commonest where they are too many."""
    names = [name for name in dict.fromkeys(order) if name in counts]
    names.sort(key=lambda name: name.startswith("("))
    if len(names) <= limit:
        return names
    common = set(sorted(names, key=lambda name: -counts[name])[: limit - 1])
    return [name for name in names if name in common]


def crossings(group: Mapping[str, Any], limit: int = 6) -> tuple[tuple[Crossing, ...], int]:
    """The commonest wrong choices of a group, and how many trials went wrong in rarer ones."""
    of: dict[str, int] = {}
    wrong: dict[tuple[str, str], int] = {}
    for pair in group["tool_pairs"]:
        expected, came, missed = _expected(pair), _came(pair), pair["trials"] - pair["right"]
        came += f" ({plural(pair['times'], 'call')})" if pair["times"] else ""
        of[expected] = of.get(expected, 0) + pair["trials"]
        if missed:
            wrong[expected, came] = wrong.get((expected, came), 0) + missed
    found = [Crossing(*names, count, of[names[0]]) for names, count in wrong.items()]
    found.sort(key=lambda each: (-each.trials, each.expected.startswith("("), each.expected, each.came))
    return tuple(found[:limit]), sum(each.trials for each in found[limit:])


def confused(group: Mapping[str, Any], limit: int = 6) -> str:
    """The commonest wrong choices in one line, as `search_orders → lookup_order 3/4 75%`; "" where there is none."""
    found, rest = crossings(group, limit)
    parts = [f"{each.expected} → {each.came} {each.trials}/{each.of} {percent(each.trials, each.of)}" for each in found]
    return "; ".join([*parts, *([f"{rest} trials in rarer ways"] if rest else [])])
