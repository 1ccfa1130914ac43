"""summary.json: what a run says, as counts and rates per (suite, experiment, model), and per case.

Groups are never merged across suites or experiments. Counting is `tally`'s, the sections of a group are
`group_summary`'s, presenting is others'. A summary whose counts do not add up is refused, not returned.
"""

from __future__ import annotations

from typing import Any

from callscope.contract import Manifest, trial_count
from callscope.errors import RunFolderError
from callscope.jsontext import dump_faithful
from callscope.reports.group_summary import case_summary, group_summary
from callscope.reports.judged import judge_summary
from callscope.reports.numbers import COST_DIGITS, MS_DIGITS, RATE_DIGITS
from callscope.reports.queries import check_queries
from callscope.reports.routing import check_routing
from callscope.reports.tally import tally
from callscope.reports.view import RunView

__all__ = ["SCHEMA", "check_identities", "summarise", "summary_bytes"]

SCHEMA = "callscope/summary/1"


def summarise(view: RunView) -> dict[str, Any]:
    """The summary of a run, in one pass over what was derived.

    `judge` says which judge decided what the rules left open (None: none was asked); each group names it too. Where
    only some groups are seen (`filters.Narrowed`), `run.only` says which.

    Raises RunFolderError where the verdicts do not fit the plan.
    """
    manifest = view.manifest
    groups = tally(view)
    judge = judge_summary(view)
    named = {"judge": judge["name"] if judge else None}
    only = getattr(view, "only", None)
    summary: dict[str, Any] = {
        "schema": SCHEMA,
        "precision": {"rate": RATE_DIGITS, "milliseconds": MS_DIGITS, "cost": COST_DIGITS},
        "run": {**_run(manifest), **({"only": only} if only else {})},
        "judge": judge,
        "groups": [{**group_summary(group, manifest), **named} for group in groups],
        "cases": [case_summary(group, case_id, case) for group in groups for case_id, case in group.cases.items()],
    }
    summary["trials"] = {
        name: sum(group["trials"][name] for group in summary["groups"])
        for name in ("planned", "recorded", "observed", "passed", "failed", "undecided", "not_observed", "not_run")
    }
    check_identities(summary, planned=trial_count(manifest.plan))
    return summary


def summary_bytes(summary: dict[str, Any]) -> bytes:
    """The bytes of summary.json: keys sorted, one line a field (a case on one), lone surrogates escaped.

    Same run, same bytes.
    """
    parts = []
    for name in sorted(summary):
        if name == "cases":
            value = b"[\n" + b",\n".join(dump_faithful(case, sort_keys=True) for case in summary[name]) + b"\n]"
        else:
            value = dump_faithful(summary[name], indent=1, sort_keys=True)
        parts.append(dump_faithful(name) + b": " + value.replace(b"\n", b"\n "))
    return b"{\n " + b",\n ".join(parts) + b"\n}\n"


def check_identities(summary: dict[str, Any], *, planned: int | None = None) -> None:
    """Check that every count adds up to the trials planned.

    Raises RunFolderError naming the first identity that does not hold.
    """
    for group in summary["groups"]:
        trials, name = group["trials"], f"{group['suite']!r} / {group['experiment']!r} / {group['model']!r}"
        total = trials["planned"]
        parts = {
            "trial states": sum(trials[part] for part in ("passed", "failed", "undecided", "not_observed", "not_run")),
            "recorded and not run": trials["recorded"] + trials["not_run"],
            "acceptance categories": sum(group["coverage"]["categories"].values()),
            "attributions": sum(group["attribution"].values()) + trials["not_run"],
            "confusion matrix": sum(sum(row.values()) for row in group["confusion"].values()),
            "coverage": group["coverage"]["accepted"]["n"] + trials["not_run"],
            "tool pairs": sum(pair["trials"] for pair in group["tool_pairs"])
            + (trials["recorded"] - trials["observed"])
            + trials["not_run"],
            "failing stages": sum(group["failed_at"].values())
            + trials["passed"]
            + trials["undecided"]
            + trials["not_run"],
            "causes of loss": sum(cause["trials"] for cause in group["coverage"]["causes"])
            + trials["observed"]
            + trials["not_run"],
        }
        for what, found in parts.items():
            if found != total:
                raise RunFolderError(f"the {what} of {name} add up to {found}, but {total} trials were planned")
        check_queries(group["queries"], name)
        check_routing(group["routing"], name)
        raw, repaired = group["rates"]["passed"], group["repaired"]
        then = repaired["rates"]["passed"]
        if (then["k"], then["n"]) != (raw["k"] + repaired["gained"] - repaired["lost"], raw["n"]):
            raise RunFolderError(f"the repaired passes of {name} do not add up: {then['k']} of {then['n']}")
    for what, found in (
        ("groups", sum(group["trials"]["planned"] for group in summary["groups"])),
        ("cases", sum(case["planned"] for case in summary["cases"])),
    ):
        expected = summary["trials"]["planned"] if planned is None else planned
        if found != expected:
            raise RunFolderError(f"the {what} add up to {found} trials, but {expected} were planned")


def _run(manifest: Manifest) -> dict[str, Any]:
    return {
        "run_id": manifest.run_id,
        "status": manifest.status,
        "created_at": manifest.created_at,
        "finished_at": manifest.finished_at,
        "callscope": manifest.callscope,
        "dataset_version": manifest.dataset_version,
        "concurrency": manifest.concurrency,
        "suites": [{"name": s.name, "version": s.version, "kind": s.kind} for s in manifest.suites],
        "models": [
            {"label": m.entry.label, "reported": list(m.reported), "stand_in": m.entry.stand_in}
            for m in manifest.models
        ],
    }
