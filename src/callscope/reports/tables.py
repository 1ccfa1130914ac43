"""A summary as flat rows and as CSV: one row a (suite, experiment, model), counts beside every rate.

For spreadsheets and data frames. In CSV, text that a spreadsheet would take for a formula gets a leading apostrophe.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from callscope.reports.safe import csv_cell
from callscope.scoring.repair import REPAIRS

__all__ = ["short_rows", "to_csv", "to_rows"]


def to_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One flat row a group; the columns are the same in every row, numbers stay numbers, unknown is None."""
    return [_row(group) for group in summary["groups"]]


def short_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One short row a group for reading: who, how many trials, and the main rates, each as `k/n` and as a number."""
    return [_short_row(group) for group in summary["groups"]]


def _short_row(group: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {name: group[name] for name in ("suite", "experiment", "model")}
    row |= {name: group["trials"][name] for name in ("planned", "not_run", "observed", "undecided")}
    for name in ("passed", "selection", "exact", "abstention", "clarification"):
        rate = group["rates"][name]
        row |= {name: f"{rate['k']}/{rate['n']}", f"{name}_rate": rate["rate"]}
    return row | {"model_p50_ms": group["time"]["model"]["p50"], "cost": group["cost"]["sum"]}


def _row(group: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {
        name: group[name]
        for name in (
            "suite",
            "suite_version",
            "suite_kind",
            "experiment",
            "model",
            "provider",
            "model_id",
            "api",
            "stand_in",
        )
    }
    row |= {f"trials_{name}": count for name, count in group["trials"].items()}
    row |= {f"acceptance_{name}": count for name, count in group["coverage"]["categories"].items()}
    for name, rate in {"coverage": group["coverage"]["accepted"], **group["rates"]}.items():
        row |= {f"{name}_{part}": rate[part] for part in ("k", "n", "rate", "low", "high", "clusters")}
    row |= {f"undecided_{name}": count for name, count in group["undecided"].items()}
    row |= {f"attribution_{name}": count for name, count in group["attribution"].items()}
    queries = group["queries"]
    separate = queries["policies"]["separate"]
    measures = {**queries["positives"], "accuracy": separate["accuracy"], "over_recall": separate["over_recall"]}
    for name, rate in measures.items():
        row |= {f"query_{name}_{part}": rate[part] for part in ("k", "n", "rate", "low", "high", "clusters")}
    row |= {f"query_trials_{name}": count for name, count in queries["trials"].items()}
    repaired = group["repaired"]
    for name, rate in repaired["rates"].items():
        row |= {f"repaired_{name}_{part}": rate[part] for part in ("k", "n", "rate", "low", "high", "clusters")}
    row |= {f"repaired_{name}": repaired[name] for name in ("trials", "gained", "lost", "undecided", "newly_decided")}
    row |= {f"repair_{name}": repaired["applied"].get(name, 0) for name in REPAIRS}
    row["violations"] = sum(group["violations"].values())
    stability = group["stability"]
    row["stability_cases"] = stability["cases"]
    for kind in ("outcome", "verbatim", "verdict"):
        row |= {f"stability_{kind}_{part}": value for part, value in stability[kind].items()}
    for clock, values in group["time"].items():
        row |= {f"{clock}_{part}_ms" if part != "n" else f"{clock}_n": values[part] for part in ("n", "p50", "p95")}
    for kind, total in {**group["tokens"], "cost": group["cost"]}.items():
        row |= {f"{kind}_{part}": total[part] for part in ("sum", "known", "unknown", "per_trial")}
    row["attempts"] = group["attempts"]["sum"]
    row["retried_trials"] = group["attempts"]["retried_trials"]
    row["transformed_trials"] = group["transformations"]["trials"]
    row["reported_models"] = "; ".join(sorted(group["reported_models"]))
    return row


def to_csv(summary: Mapping[str, Any]) -> str:
    """The rows as CSV (RFC 4180, CRLF), inert in spreadsheets."""
    out = io.StringIO()
    rows = to_rows(summary)
    if rows:
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([csv_cell(name) for name in rows[0]])
        writer.writerows([csv_cell("" if value is None else value) for value in row.values()] for row in rows)
    return out.getvalue()
