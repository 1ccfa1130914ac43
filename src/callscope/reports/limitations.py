"""What a run can and cannot say, in sentences drawn from its own manifest and counts.

A reader should meet these before the numbers. Nothing here changes a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callscope.reports.columns import is_recorded, trials_line
from callscope.reports.experiments import experiment_limits
from callscope.reports.numbers import percent
from callscope.reports.safe import one_line

__all__ = ["limitations"]

_FEW_CLUSTERS = 10
_SCOPE = (
    "These are measurements of controlled cases, not of a model's quality in general: they hold for these exact"
    " prompts, schemas, adapters, settings, model versions and languages, on these dates."
)
_DRIFT = (
    "Hosted models and their routing can change while nothing here does; temperature zero does not make them"
    " deterministic."
)


def limitations(summary: Mapping[str, Any]) -> list[str]:
    """Sentences on the limits of a run: the general ones, then those that its own counts show."""
    groups = summary["groups"]
    said = [
        _SCOPE,
        _DRIFT,
    ]
    if len({(g["suite"], g["experiment"]) for g in groups}) > 1:
        said.append("Suites and experiments answer different questions. Their scores stand apart and are never merged.")
    said += experiment_limits(groups)
    said += _status(summary)
    said += _coverage(groups)
    said += _evidence(summary, groups)
    return said


def _status(summary: Mapping[str, Any]) -> list[str]:
    trials, status = summary["trials"], summary["run"]["status"]
    if status == "finished" and not trials["not_run"]:
        return []
    if status == "finished" and all(is_recorded(group) for group in summary["groups"]):
        return [f"The recorded answers are not whole: {trials_line(summary)}. Nothing is known of these."]
    word = {
        "running": "The run has not finished",
        "interrupted": "The run was interrupted",
        "budget_spent": "The run stopped when its budget was spent",
        "gave_up": "The run stopped calling a provider that let nobody in",
        "finished": "Not every planned trial has a record",
    }.get(status, f"The run is {status}")
    count = f"{trials['not_run']} of {trials['planned']} trials"
    return [f"{word}: {count} were not run. Running it again with --resume finishes exactly these."]


def _coverage(groups: list[dict[str, Any]]) -> list[str]:
    said = []
    lost = [g for g in groups if g["trials"]["observed"] < 0.95 * g["trials"]["recorded"]]
    if lost:
        worst = min(lost, key=lambda g: g["trials"]["observed"] / g["trials"]["recorded"])
        seen, tried = worst["trials"]["observed"], worst["trials"]["recorded"]
        lowest = f"{one_line(worst['model'], 60)} on {one_line(worst['suite'], 60)}"
        said.append(
            f"Coverage is below 95% in {len(lost)} of {len(groups)} groups; the lowest is {lowest} with"
            f" {seen}/{tried} tried ({percent(seen, tried)}). What was not observed is in no rate."
        )
    undecided = sum(g["trials"]["undecided"] for g in groups)
    if undecided:
        said.append(f"{undecided} observed trials are undecided: no rule could tell, and they count neither way.")
    return said


def _evidence(summary: Mapping[str, Any], groups: list[dict[str, Any]]) -> list[str]:
    said = []
    locales = sorted({case["locale"] for case in summary["cases"]})
    if len(locales) == 1:
        said.append(f"All cases are in one language ({one_line(locales[0], 20)}); nothing is known about others.")
    if not any(group["stability"]["cases"] for group in groups):
        said.append("No case was observed twice, so nothing is known about stability.")
    clusters = min((g["rates"]["passed"]["clusters"] for g in groups if g["rates"]["passed"]["n"]), default=0)
    if 0 < clusters < _FEW_CLUSTERS:
        said.append(
            f"Some rates rest on only {clusters} independent case families; their intervals are wide, and rough"
            " themselves."
        )
    changed = [g for g in groups if g["transformations"]["trials"]]
    if changed:
        names = ", ".join(dict.fromkeys(one_line(g["model"], 60) for g in changed))
        said.append(
            f"Schemas or messages were changed on their way to {names}, so models did not all receive the same"
            " constraints; every change stands in the evidence and the manifest."
        )
    stand_ins = list(dict.fromkeys(one_line(g["model"], 60) for g in groups if g["stand_in"]))
    if stand_ins:
        said.append(
            f"{', '.join(stand_ins)}: a stand-in that exercises the pipeline, no measurement of the model named."
        )
    if any(g["cost"]["known"] for g in groups):
        said.append("Costs follow the prices given in the configuration, not any invoice.")
    return said
