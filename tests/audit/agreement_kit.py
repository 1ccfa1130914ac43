"""Rating tables that several tests share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callscope.audit.ratings import Ratings, ratings_of

REVIEWERS = ("R1", "R2", "R3")


def table(*columns: Sequence[str | None] | str, classes: str | None = None, strata: str | None = None) -> Ratings:
    """Columns of one-letter classes, one a rater; "." and None are missing."""
    rows: dict[str, dict[str, str | None]] = {
        f"item {number}": {
            f"R{rater + 1}": None if label in {".", None} else label for rater, label in enumerate(labels)
        }
        for number, labels in enumerate(zip(*columns, strict=True))
    }
    raters = [f"R{rater + 1}" for rater in range(len(columns))]
    return ratings_of(rows, classes=classes, raters=raters, strata=strata and dict(zip(rows, strata, strict=True)))


def judge_audit() -> Ratings:
    """An audit of 300 attributions with the document's agreements, kappas and confirmations (classes C, M, S, P)."""
    rows: dict[str, Mapping[str, str]] = {}

    def add(times: int, judge: str, r1: str, r2: str, r3: str) -> None:
        for _ in range(times):
            rows[f"trial {len(rows)}"] = {"judge": judge, "R1": r1, "R2": r2, "R3": r3}

    add(3, "P", "M", "C", "C")
    add(5, "C", "M", "C", "M")
    add(4, "P", "M", "P", "M")
    add(5, "P", "P", "C", "C")
    add(1, "C", "C", "P", "C")
    for judge, times in (("C", 94), ("M", 50), ("S", 50), ("P", 88)):
        add(times, judge, judge, judge, judge)
    return ratings_of(rows, strata={item: given["judge"] for item, given in rows.items()})
