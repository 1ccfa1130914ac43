"""The two matrices of the HTML page: expected against chosen by class, and by tool name. Tones say right or wrong.

Only lays out what the summary holds; which choice was right is the verdict's.
"""

from __future__ import annotations

from typing import Any

from callscope.reports.chosen import OTHERS, matrix
from callscope.reports.columns import EXPECTED_WORDS, model_name, words

__all__ = ["chosen", "confusions"]

_RIGHT = {
    "tool": {"correct_tool"},
    "tools": {"correct_tool"},
    "abstention": {"abstained_correctly"},
    "clarification": {"clarified_as_expected"},
}
_NEUTRAL = {"undecided", "not_observed", "not_run"}


def confusions(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The classes expected against the selections that came, a matrix a model."""
    names = [
        name
        for name in groups[0]["confusion"]["tool"]
        if any(row[name] for group in groups for row in group["confusion"].values())
    ]
    result = []
    for group in groups:
        rows = []
        for expects, row in group["confusion"].items():
            total = sum(row.values())
            if total:
                cells = [
                    {
                        "count": row[n],
                        "tone": _tone(expects, n),
                        "step": min(4, 1 + 4 * row[n] // total) if row[n] else 0,
                    }
                    for n in names
                ]
                rows.append({"label": EXPECTED_WORDS[expects], "cells": cells, "total": total})
        result.append({"name": model_name(group), "columns": [words(name) for name in names], "rows": rows})
    return result


def _tone(expects: str, selection: str) -> str:
    return "n" if selection in _NEUTRAL else "g" if selection in _RIGHT[expects] else "b"


def chosen(group: dict[str, Any]) -> dict[str, Any] | None:
    """The tools expected against the tools called; None where nothing was observed."""
    laid = matrix(group)
    if laid is None:
        return None
    rows = []
    for name, counts, total in laid.rows:
        cells = [
            {"count": n, "tone": "g" if k == n else "n" if k else "b", "step": min(4, 1 + 4 * n // total) if n else 0}
            for n, k in counts
        ]
        rows.append({"label": name, "cells": cells, "total": total})
    bounded = OTHERS in laid.columns or any(row["label"] == OTHERS for row in rows)
    return {"name": model_name(group), "columns": laid.columns, "rows": rows, "bounded": bounded}
