"""The repair track in a summary and in its tables: raw figures and repaired ones side by side, never mixed.

Counts what `derive` put beside the verdicts. Repairs are `scoring.repair`'s; rates of the verdicts are
`group_summary`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callscope.contract import Derived
from callscope.reports.columns import Cell, Column, model_name, rate_cell, words
from callscope.reports.evidence import repair_lines, repaired_text, trial_title
from callscope.reports.gallery import Gallery
from callscope.reports.numbers import rate_of
from callscope.reports.tally import CaseTally, GroupTally, Way
from callscope.reports.view import GroupKey
from callscope.scoring.repair import REPAIRS

__all__ = ["COMPARED", "applied_text", "repairs_section", "repairs_summary", "with_repairs"]

_RATES = (("passed", "passed"), ("selection", "selection"), ("structure", "structure"), ("exact", "exact args"))


def with_repairs(case: CaseTally) -> dict[Way, int]:
    """How the trials of a case would have ended with repairs; those to which none applies, as they did."""
    if not case.mended:
        return case.ways
    ways = dict(case.ways)
    for (raw, then), count in case.mended.items():
        ways[raw] -= count
        ways[then] = ways.get(then, 0) + count
    return ways


def repairs_summary(group: GroupTally, rates: Mapping[str, Any]) -> dict[str, Any]:
    """The `repaired` block of a group; `rates` are those of `with_repairs`, each over its own denominator.

    `passed` alone keeps the denominator of the raw `passed`: trials decided as they came. A trial that is `undecided`
    with repairs has not passed; one that only repairs decide is counted as `newly_decided`, in no rate.
    """
    counts = dict.fromkeys(("trials", "gained", "lost", "undecided", "newly_decided"), 0)
    families: dict[str, list[int]] = {}
    for case in group.cases.values():
        pair = families.setdefault(case.case.family or case.case.id, [0, 0])
        for way, count in case.ways.items():
            pair[0] += count if way.passed else 0
            pair[1] += count if way.passed is not None else 0
        for (raw, then), count in case.mended.items():
            counts["trials"] += count
            if raw.passed is None:
                counts["newly_decided"] += count if then.passed is not None else 0
                continue
            counts["undecided"] += count if then.passed is None else 0
            counts["gained"] += count if then.passed and not raw.passed else 0
            counts["lost"] += count if raw.passed and not then.passed else 0
            pair[0] += count * (bool(then.passed) - raw.passed)
    return {
        **counts,
        "applied": {name: group.repairs[name] for name in REPAIRS if group.repairs[name]},
        "rates": {**rates, "passed": rate_of((k, n) for k, n in families.values())},
    }


def _pair(name: str) -> tuple[Column, Column]:
    heading = dict(_RATES)[name]
    return (
        Column(heading, lambda group: rate_cell(group["rates"][name])),
        Column(f"{heading} with repairs", lambda group: rate_cell(group["repaired"]["rates"][name])),
    )


COMPARED: tuple[Column, ...] = (
    *(column for name, _ in _RATES for column in _pair(name)),
    Column("repaired trials", lambda group: Cell(f"{group['repaired']['trials']}/{group['trials']['observed']}")),
    Column("gained", lambda group: Cell(str(group["repaired"]["gained"]))),
    Column("lost", lambda group: Cell(str(group["repaired"]["lost"]))),
)
"""Raw and repaired figures of a group, each pair side by side."""


def applied_text(group: Mapping[str, Any]) -> str:
    """Which repairs applied to how many trials, as `scalar_type 3, enum_case 1`, and what they left undecided."""
    block = group["repaired"]
    parts = [f"{name} {count}" for name, count in block["applied"].items()]
    beside = [f"{words(name)} with repairs {block[name]}" for name in ("undecided", "newly_decided") if block[name]]
    return ", ".join(parts + beside)


def repairs_section(groups: list[dict[str, Any]], gallery: Gallery) -> dict[str, Any] | None:
    """What the HTML page says of the repair track; None where no repair applied in any of the groups."""
    mended = [group for group in groups if group["repaired"]["trials"]]
    if not mended:
        return None
    rows = [
        {
            "name": model_name(group),
            "cells": [column.cell(group) for column in COMPARED],
            "applied": applied_text(group),
        }
        for group in mended
    ]
    names = [name for name in REPAIRS if any(name in group["repaired"]["applied"] for group in mended)]
    counts = [(name, [group["repaired"]["applied"].get(name, 0) for group in mended]) for name in names]
    shown = [
        {"repair": name, "model": model_name(group), **_example(derived)}
        for name in names
        for group in mended
        for derived in gallery.repairs.get((GroupKey(group["suite"], group["experiment"], group["model"]), name), ())
    ]
    return {
        "headings": [column.heading for column in COMPARED],
        "rows": rows,
        "names": [model_name(group) for group in mended],
        "counts": counts,
        "examples": shown,
    }


def _example(derived: Derived) -> dict[str, Any]:
    return {"title": trial_title(derived), "steps": repair_lines(derived), "then": repaired_text(derived)}
