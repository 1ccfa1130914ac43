"""Whether the percentages of a published table are possible at all: each row's verdict, with the working.

| the row | status |
| --- | --- |
| breaks an identity, whatever the counts | impossible |
| rests on no count, or whole numbers fit at the stated counts | consistent |
| no whole numbers fit at the stated counts, but some at smaller ones do | needs_denominator, and which |
| a count that its figures rest on is not stated | needs_denominator, and the smallest |
| no whole numbers fit at or below the stated counts | impossible |

A stated count bounds the search from above: cases left out of a rate make its denominator smaller than the stated one,
never greater. Consistent means that some outcomes give these figures, not that these were the outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Literal

import msgspec
from msgspec import Struct

from callscope.audit.feasible import (
    UNKNOWN_UP_TO,
    Counts,
    Found,
    Group,
    false_positives,
    find_counts,
    fits,
    has_positives,
    true_positives,
)
from callscope.audit.figures import Figure, Whole, percent
from callscope.audit.identities import Check, identities
from callscope.audit.kappa_feasible import Kappas, attainable_kappas
from callscope.audit.table_file import TableRow

__all__ = ["RowFinding", "Status", "as_json", "check_row", "check_rows"]

Status = Literal["consistent", "impossible", "needs_denominator"]

_OF_POSITIVES = ("recall", "miss", "param", "temporal", "missing", "value", "judge_failure")
_SHOWN_GROUPS = 10
_FEW_AGREED = 12


class RowFinding(Struct, frozen=True):
    """What is found about one row.

    why: one line; working: every check that was made, kept ones too; denominators: those that fit, nearest to the
    stated ones (else the smallest) first, at most ten groups; `items` likewise for a human audit. line: where the row
    starts in its file.
    """

    name: str
    line: int
    status: Status
    why: str
    stated: Counts
    nearest: Counts | None
    denominators: tuple[Group, ...]
    items: Whole | None
    working: tuple[Check, ...]


class _Part(Struct, frozen=True):
    status: Status
    why: str
    working: tuple[Check, ...] = ()
    nearest: Counts | None = None
    denominators: tuple[Group, ...] = ()
    items: Whole | None = None


def check_rows(rows: Iterable[TableRow]) -> Iterator[RowFinding]:
    """The finding of each row, one by one as they are asked for."""
    return (check_row(row) for row in rows)


def check_row(row: TableRow) -> RowFinding:
    """The finding of one row."""
    checks = identities(row)
    broken = [check.says for check in checks if not check.holds]
    parts = [_Part("impossible", "; ".join(broken))] if broken else [*_counted(row), *_audited(row)]
    found = {part.status for part in parts}
    status: Status = "consistent"
    if "impossible" in found:
        status = "impossible"
    elif "needs_denominator" in found:
        status = "needs_denominator"
    kept = any(value is not None for value in msgspec.structs.astuple(row)[2:])
    why = "; ".join(part.why for part in parts if part.status == status)
    if status != "consistent" and _are_fractions(row):
        why += " (percent are expected: figures of 0 to 1, as these, are read as less than one percent)"
    counted = next((part for part in parts if part.nearest or part.denominators), None)
    return RowFinding(
        name=row.name,
        line=row.line,
        status=status,
        why=why or ("every identity holds" if kept else "no figure to check"),
        stated=Counts(row.positives, row.negatives),
        nearest=counted.nearest if counted else None,
        denominators=counted.denominators if counted else (),
        items=next((part.items for part in parts if part.items), None),
        working=(*checks, *(check for part in parts for check in part.working)),
    )


def _are_fractions(row: TableRow) -> bool:
    """Whether every rate of a row is at most one percent as read, several of them above 0: fractions were meant."""
    rates = [one for name in (*_OF_POSITIVES, "accuracy", "over") if (one := getattr(row, name)) is not None]
    within = [one for one in rates if one.first >= 0 and one.last * 100 <= 1]
    return len(rates) > 1 and len(within) == len(rates) and sum(one.last > 0 for one in rates) > 1


# --- positives and negatives ---------------------------------------------------------------------------------------


def _counted(row: TableRow) -> Iterator[_Part]:
    of_positives = has_positives(row) or row.accuracy is not None
    of_negatives = row.over is not None or row.accuracy is not None
    if not of_positives and not of_negatives:
        return
    found = find_counts(row, row.positives, row.negatives)
    stated = Counts(row.positives if of_positives else None, row.negatives if of_negatives else None)
    complete = (row.positives is not None or not of_positives) and (row.negatives is not None or not of_negatives)
    if complete and found.nearest == stated:
        says = _integers(row, stated)
        yield _Part("consistent", says, (Check("whole numbers", True, says),), stated)
        return
    reason = _reason(row, stated) if complete else ""
    working = (Check("whole numbers", False, reason),) if reason else ()
    if found.nearest is None:
        if found.complete:
            why = reason or _reason(row, stated) or f"no whole numbers fit at {_count_words(stated)}"
            why = f"{why}; nor do any smaller counts fit"
            yield _Part("impossible", why, working or (Check("whole numbers", False, why),))
        else:
            none = f"no counts that were looked at fit (unknown ones up to {UNKNOWN_UP_TO})"
            yield _Part("needs_denominator", f"{reason}; {none}" if reason else none, working)
        return
    says = _integers(row, found.nearest)
    why = f"needs {_denominators(found)}, for example {says}"
    why += "" if complete else f" (counts not stated were looked for up to {UNKNOWN_UP_TO})"
    unknown = [name for name, one, used in (
        ("positives", row.positives, of_positives), ("negatives", row.negatives, of_negatives),
    ) if used and one is None]  # fmt: skip
    lead = reason or f"{' and '.join(unknown)} not stated"
    yield _Part(
        "needs_denominator",
        f"{lead}; {why}",
        (*working, Check("whole numbers", True, says)),
        found.nearest,
        found.groups[:_SHOWN_GROUPS],
    )


def _denominators(found: Found) -> str:
    groups = found.groups
    if len(groups) > _SHOWN_GROUPS:
        positives = [end for group in groups if group.positives for end in group.positives]
        negatives = [end for group in groups if group.negatives for end in group.negatives]
        fitting = sum(group.fitting for group in groups)
        whole = Group((min(positives), max(positives)), (min(negatives), max(negatives)), fitting)
        return f"{_group(whole)}{'' if found.complete else ' or others'}"
    text = f"{_group(groups[0])}"
    if len(groups) > 1:
        text += f" (or {', '.join(_group(group) for group in groups[1:4])}{', …' if len(groups) > 4 else ''})"
    return text


def _group(group: Group) -> str:
    sides = [
        f"{_run(ends)} {name}"
        for ends, name in ((group.positives, "positives"), (group.negatives, "negatives"))
        if ends
    ]
    width = 1
    for ends in (group.positives, group.negatives):
        width *= ends[1] - ends[0] + 1 if ends else 1
    return " with ".join(sides) + (f" ({group.fitting} of them fit)" if group.fitting < width else "")


def _integers(row: TableRow, counts: Counts) -> str:
    """The whole numbers behind each figure at these counts: `recall 1230/2500, …`."""
    texts = []
    positives, negatives = counts.positives, counts.negatives
    if positives is not None:
        right = true_positives(row, positives)
        if row.recall is not None:
            texts.append(f"recall {row.recall.text} = {_run((right[0][0], right[-1][1]))}/{positives}")
        for name in _OF_POSITIVES[1:]:
            figure: Figure | None = getattr(row, name)
            if figure is not None:
                texts.append(f"{name} {figure.text} = {_run(figure.whole(positives))}/{positives}")
    if negatives and row.over is not None:
        texts.append(f"over {row.over.text} = {_run(row.over.whole(negatives))}/{negatives}")
    if row.accuracy is not None and positives is not None and negatives is not None:
        low, high = row.accuracy.whole(positives + negatives)
        right, wrong = true_positives(row, positives), false_positives(row, negatives)
        low = max(low, min(a for a, _ in right) + negatives - max(d for _, d in wrong))
        high = min(high, max(b for _, b in right) + negatives - min(c for c, _ in wrong))
        texts.append(f"accuracy {row.accuracy.text} = {_run((low, high))}/{positives + negatives}")
    if not texts:
        texts.append(f"the levels fit {_count_words(counts)}")
    return ", ".join(texts)


def _reason(row: TableRow, counts: Counts) -> str:
    """Why no whole numbers fit at the stated counts; empty where nothing simple says it."""
    positives, negatives = counts.positives, counts.negatives
    failing = []
    if positives is not None:
        failing = [
            text for name in _OF_POSITIVES if (text := _misses(name, getattr(row, name), positives, "positives"))
        ]
    if negatives is not None and (text := _misses("over", row.over, negatives, "negatives")):
        failing.append(text)
    if positives is not None and negatives is not None:
        every = positives + negatives
        if text := _misses("accuracy", row.accuracy, every, f"{positives} + {negatives}"):
            failing.append(text)
    if failing:
        return "; ".join(failing)
    if positives is not None and not true_positives(row, positives):
        sums = [
            f"{name} {_run(figure.whole(positives))}"
            for name in (*_OF_POSITIVES,)
            if (figure := getattr(row, name)) is not None
        ]
        levels = ", with levels of whole sizes" if any((row.easy, row.medium, row.hard)) else ""
        if not sums:
            return f"no sizes of the levels sum to {positives} positives"
        return f"{', '.join(sums)} do not go together at {positives} positives{levels}"
    if positives is not None and negatives is not None and row.accuracy is not None:
        right, wrong = true_positives(row, positives), false_positives(row, negatives)
        if right and wrong and not fits(row.accuracy, positives, right, negatives, wrong):
            low, high = right[0][0] + negatives - wrong[-1][1], right[-1][1] + negatives - wrong[0][0]
            needed = _run(row.accuracy.whole(positives + negatives))
            return (
                f"accuracy {row.accuracy.text} of {positives + negatives} needs {needed} correct, recall and over "
                f"leave {_run((low, high))}"
            )
    return ""


def _misses(name: str, figure: Figure | None, n: int, of: str) -> str:
    """Why no whole number of n prints as the figure; empty where one does."""
    if figure is None:
        return ""
    low, high = figure.whole(n)
    if low <= high:
        return ""
    if n == 0:
        return f"{name} {figure.text} of no {of}"
    below = (figure.low * n) // figure.scale
    decimals = figure.decimals + 1
    near = [f"{k} is {percent(Fraction(k, n), decimals)}" for k in (below, below + 1) if 0 <= k <= n]
    where = of if of.replace(" ", "").replace("+", "").isdigit() else f"{n} {of}"
    return f"{name} {figure.text} is no whole number of {where} ({', '.join(near)})"


# --- a human audit -------------------------------------------------------------------------------------------------


def _audited(row: TableRow) -> Iterator[_Part]:
    figures = {"validity": row.validity, "agreement": row.agreement}
    stated = row.items if row.items is not None else sum(row.judged) if row.judged else None
    if text := _miscounted(row):
        yield _Part("impossible", text, (Check("classes", False, text),))
        return
    used = {name: figure for name, figure in figures.items() if figure is not None}
    if not used:
        return
    failing = "" if stated is None else "; ".join(
        text for name, figure in used.items() if (text := _misses(name, figure, stated, "items"))
    )  # fmt: skip
    if stated is not None and not failing:
        says = ", ".join(
            f"{name} {figure.text} = {_run(figure.whole(stated))}/{stated}" for name, figure in used.items()
        )
        yield _Part("consistent", says, (Check("whole numbers", True, says),), items=(stated, stated))
        if row.kappa is not None and row.agreement is not None and row.judged is not None:
            yield _with_kappa(row, row.kappa, row.agreement.whole(stated), row.judged)
        return
    if row.judged is not None:
        yield _Part("impossible", failing, (Check("whole numbers", False, failing),))
        return
    below = range(1, min(stated or UNKNOWN_UP_TO, UNKNOWN_UP_TO) + 1)
    fitting = [n for n in below if all(low <= high for low, high in (one.whole(n) for one in used.values()))]
    if not fitting and stated is not None and stated <= UNKNOWN_UP_TO:
        why = f"{failing}; nor do any fewer items fit"
        yield _Part("impossible", why, (Check("whole numbers", False, why),))
        return
    near = fitting[0 if stated is None else -1] if fitting else None
    why = f"{failing or 'items not stated'}; " + (
        f"needs {_run((fitting[0], fitting[-1]))} items ({len(fitting)} of them fit), for example {near}"
        if fitting
        else f"no items up to {UNKNOWN_UP_TO} fit"
    )
    items = (fitting[0], fitting[-1]) if fitting else None
    yield _Part("needs_denominator", why, (Check("whole numbers", not failing, why),), items=items)


def _miscounted(row: TableRow) -> str:
    """What is wrong between the counts a class and each other; empty where nothing is."""
    if row.judged is None:
        return ""
    total = sum(row.judged)
    if row.items is not None and total != row.items:
        return f"judged counts sum to {total}, items are {row.items}"
    if row.confirmed is None:
        return ""
    if len(row.confirmed) != len(row.judged):
        return f"confirmed has {len(row.confirmed)} classes, judged has {len(row.judged)}"
    for at, (kept, count) in enumerate(zip(row.confirmed, row.judged, strict=True), start=1):
        if kept > count:
            return f"class {at}: {kept} of {count} items confirmed"
    if row.agreement is not None:
        low, high = row.agreement.whole(total)
        if low <= high and not low <= sum(row.confirmed) <= high:
            return (
                f"confirmed counts sum to {sum(row.confirmed)}, agreement {row.agreement.text} is "
                f"{_run((low, high))} of {total}"
            )
    return ""


def _with_kappa(row: TableRow, kappa: Figure, agreed: Whole, judged: tuple[int, ...]) -> _Part:
    counts = range(agreed[0], agreed[1] + 1) if row.confirmed is None else (sum(row.confirmed),)
    few = len(counts) <= _FEW_AGREED  # else the ends say between what kappa can lie: it grows with the agreed
    tried = [
        found
        for one in (counts if few else (counts[0], counts[-1]))
        if (found := attainable_kappas(judged, one, kappa, row.confirmed))
    ]
    if not tried:
        why = f"kappa {kappa.text} is undefined: every item is in one class"
        return _Part("impossible", why, (Check("kappa", False, why),))
    best = next((one for one in tried if one.attained), tried[0])
    if not few:
        least, most = min(one.least for one in tried), max(one.most for one in tried)
        attained = least <= Fraction(kappa.high, kappa.scale) and most >= Fraction(kappa.low, kappa.scale)
        best = Kappas(best.agreed, least, most, attained, None, exact=False)
    items, decimals = sum(judged), max(4, kappa.decimals)
    ends = f"{_ratio(best.least, decimals)}..{_ratio(best.most, decimals)}"
    says = f"{best.agreed if few else _run(agreed)}/{items} agreed allow kappa {ends}, stated {kappa.text}"
    if best.into_smallest and min(judged) < max(judged):
        moved = items - best.agreed
        says += f"; at least {best.into_smallest} of the {moved} disagreements go to a class of {min(judged)} items"
    status: Status = "consistent" if best.attained else "impossible"
    return _Part(status, says, (Check("kappa", best.attained, says),))


def _ratio(value: Fraction, decimals: int) -> str:
    return percent(value / 100, decimals)


def _run(ends: Whole) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}..{ends[1]}"


def _count_words(counts: Counts) -> str:
    named = ((counts.positives, "positives"), (counts.negatives, "negatives"))
    return " and ".join(f"{count} {name}" for count, name in named if count is not None) or "unknown counts"


def as_json(findings: Iterable[RowFinding]) -> dict[str, Any]:
    """`{"rows": [...]}` of plain values."""
    return {"rows": [msgspec.json.decode(msgspec.json.encode(one)) for one in findings]}
