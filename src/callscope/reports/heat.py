"""The case by model map: for every case what each model did, as a letter, counts and a tone, linked to its evidence.

Letters carry the meaning and colours repeat it. On a big run only the cases that tell something are kept, and said so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callscope.reports.columns import STAGE_WORDS, model_name, words
from callscope.reports.gallery import Gallery
from callscope.reports.svg import share_bar
from callscope.reports.view import GroupKey

__all__ = ["LEGEND", "heat_map"]

ROWS = 400
_OF_EXPECTATION = {
    "tool": "positive (not declared)",
    "tools": "positive (not declared)",
    "abstention": "abstention",
    "clarification": "missing_information",
}
_ORDER = (
    "positive_selection",
    "confusable_selection",
    "abstention",
    "argument_pressure",
    "missing_information",
    "positive (not declared)",
)

LEGEND = (
    ("pass", "P", "passed: every decided repeat"),
    *((stage, letter, text) for stage, (letter, text) in STAGE_WORDS.items()),
    ("undecided", "?", "undecided: no rule could tell"),
    ("none", "·", "not run"),
)


def heat_map(groups: list[dict[str, Any]], cases: list[dict[str, Any]], gallery: Gallery) -> dict[str, Any]:
    """The map of one suite under one experiment: its columns, and its rows by behaviour class."""
    by_case: dict[str, dict[str, dict[str, Any]]] = {}
    for case in cases:
        by_case.setdefault(case["case_id"], {})[case["model"]] = case
    total = len(by_case)
    if total > ROWS:
        telling = [i for i, cells in by_case.items() if any(_tone(c)[0] != "pass" for c in cells.values())]
        by_case = {i: by_case[i] for i in telling[:ROWS]}
    bands: dict[str, list[dict[str, Any]]] = {}
    for case_id, cells in by_case.items():
        first = next(iter(cells.values()))
        row = {
            "case": case_id,
            "about": " · ".join(
                filter(None, (first["difficulty"], first["locale"] if first["locale"] != "en" else None))
            ),
            "cells": [_cell(cells.get(group["model"]), group, gallery) for group in groups],
        }
        bands.setdefault(first["behaviour"] or _OF_EXPECTATION[first["expects"]], []).append(row)
    used = {cell["tone"] for rows in bands.values() for row in rows for cell in row["cells"] if cell}
    return {
        "columns": [model_name(group, 40) for group in groups],
        "bands": [
            {"label": words(name), "rows": bands[name]}
            for name in sorted(bands, key=lambda n: _ORDER.index(n) if n in _ORDER else len(_ORDER))
        ],
        "legend": [entry for entry in LEGEND if entry[0] in used],
        "shown": len(by_case),
        "total": total,
    }


def _tone(case: Mapping[str, Any]) -> tuple[str, str]:
    """The tone and letter of a cell."""
    if not case["recorded"]:
        return "none", "·"
    if case["first_failing"] not in (None, "acceptance") or not case["observed"]:
        stage = case["first_failing"] or "acceptance"
        return stage, STAGE_WORDS[stage][0]
    return ("pass", "P") if case["decided"] else ("undecided", "?")


def _cell(case: Mapping[str, Any] | None, group: dict[str, Any], gallery: Gallery) -> dict[str, Any] | None:
    if case is None:
        return None
    tone, letter = _tone(case)
    missing, not_run = case["recorded"] - case["observed"], case["planned"] - case["recorded"]
    parts = [f"{case['passed']} of {case['decided']} decided passed", f"{case['planned']} planned"]
    parts += [f"{missing} not observed"] if missing else []
    parts += [f"{not_run} not run"] if not_run else []
    parts += [f"{case['undecided']} undecided"] if case["undecided"] else []
    parts += [f"{words(stage)} failed {n}" for stage, n in case["failed_at"].items() if stage != "acceptance"]
    parts += [f"same outcome {case['modal']['k']}/{case['modal']['n']}"] if case["modal"]["n"] > 1 else []
    counts = f"{case['passed']}/{case['decided']}" if case["decided"] else ""
    return {
        "tone": tone,
        "letter": letter,
        "counts": counts + (f" −{missing}" if missing else ""),
        "title": f"{model_name(group, 40)}: {'; '.join(parts)}",
        "href": gallery.anchors.get((GroupKey(group["suite"], group["experiment"], group["model"]), case["case_id"])),
        "bar": share_bar(case["passed"], case["decided"], "cell") if case["decided"] else None,
    }
