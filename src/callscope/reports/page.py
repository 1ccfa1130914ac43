"""What stands where on the HTML page: a summary turned into the rows, cells and words that the template lays out.

No markup is written here but through `svg`; no number is computed that a summary does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from callscope.contract import Case, ModelRef
from callscope.reports.blame import Agreement, hints
from callscope.reports.columns import (
    ATTRIBUTION_CAPTION,
    ATTRIBUTION_WORDS,
    MAIN,
    group_title,
    is_recorded,
    loss_rows,
    model_name,
    only_text,
    plural,
    rate_cell,
    words,
)
from callscope.reports.crossed import chosen, confusions
from callscope.reports.evidence import evidence
from callscope.reports.experiments import experiment_caveats
from callscope.reports.gallery import PASSED, Gallery
from callscope.reports.heat import heat_map
from callscope.reports.judged import judge_failure_words, judge_line
from callscope.reports.numbers import DASH, milliseconds, money, percent, quantity
from callscope.reports.queried import queried_grids
from callscope.reports.remarks import QUEUED, queued_text, remarks
from callscope.reports.repairs import repairs_section
from callscope.reports.svg import interval_strip, share_bar, stacked_bar
from callscope.reports.talks import TALK, talks
from callscope.reports.view import GroupKey, RunView

__all__ = ["header", "section"]

_RATE_OF = {
    "passed": "passed",
    "selection": "selection",
    "exact args": "exact",
    "abstention": "abstention",
    "clarification": "clarification",
}
_SENT = 40
_FUNNEL = (
    ("planned", "planned", ""),
    ("tried", "tried", "not run"),
    ("observed", "accepted", "coverage loss: no decision observed"),
    ("selection", "selection right", "wrong tool, a call where none was right or none where one was, or undecided"),
    ("structure", "structure valid", "arguments against the schema, or no JSON"),
    ("semantics", "semantics right", "wrong values, or undecided"),
    ("passed", "passed, strictly", "violations, recovery"),
)


def header(view: RunView, summary: Mapping[str, Any]) -> dict[str, Any]:
    """What was run: identity, dates, suites with their hashes, models as requested and as reported."""
    manifest = view.manifest
    return {
        "run": summary["run"],
        "trials": summary["trials"],
        "only": only_text(summary["run"]),
        "judge": judge_line(summary),
        "absent": "without a row" if all(map(is_recorded, summary["groups"])) else "not run",
        "facts": [
            ("created", manifest.created_at),
            ("finished", manifest.finished_at or DASH),
            ("callscope", f"{manifest.callscope} ({manifest.runner_commit})"),
            ("dataset", manifest.dataset_version),
            ("concurrency", str(manifest.concurrency)),
            ("runtime", ", ".join(f"{k} {v}" for k, v in sorted(manifest.runtime.items()))),
        ],
        "suites": [
            {
                "name": s.name,
                "version": s.version,
                "kind": s.kind,
                "cases": s.cases,
                "files": sorted((name, digest[:16]) for name, digest in s.files.items()),
            }
            for s in manifest.suites
        ],
        "models": [_model(ref) for ref in manifest.models],
        "sent": [
            {
                "model": each.model,
                "where": f"{each.suite} · {each.experiment}",
                "tools": len(each.offered),
                "system_hash": each.system_sha256[:16],
                "tools_hash": each.tools_sha256[:16],
                "changes": ", ".join(dict.fromkeys(step.rule for step in each.transformations)) or DASH,
            }
            for each in manifest.sent[:_SENT]
        ],
        "sent_more": max(0, len(manifest.sent) - _SENT),
    }


def _model(ref: ModelRef) -> dict[str, Any]:
    e = ref.entry
    return {
        "label": e.label,
        "provider": e.provider,
        "id": e.model,
        "api": e.api,
        "reported": ", ".join(ref.reported) or DASH,
        "stand_in": e.stand_in,
        "extra": json.dumps(e.switches | e.extra, sort_keys=True) if e.switches or e.extra else "",
    }


def section(
    number: int, groups: list[dict[str, Any]], summary: Mapping[str, Any], gallery: Gallery, cases: Mapping[str, Case]
) -> dict[str, Any]:
    """All that the page says of one suite under one experiment."""
    suite, experiment = groups[0]["suite"], groups[0]["experiment"]
    mine = [c for c in summary["cases"] if c["suite"] == suite and c["experiment"] == experiment]
    shelves = _shelves(f"s{number}", groups, mine, gallery, cases)
    return {
        "id": f"s{number}",
        "title": group_title(groups[0]),
        "short": f"{suite} · {experiment}",
        "kind": groups[0]["suite_kind"],
        "settings": [*experiment_caveats(groups[0]), *_settings(groups)],
        "headings": [column.heading for column in MAIN],
        "headline": [_headline(group, _undecided(group, shelves)) for group in groups],
        "remarks": [(model_name(group), said) for group in groups if (said := remarks(group))],
        "queued": QUEUED if any(queued_text(group["time"]["queued"]) for group in groups) else "",
        "funnels": [_funnel(group) for group in groups],
        "heat": heat_map(groups, mine, gallery),
        "confusions": confusions(groups),
        "chosen": [laid for group in groups if (laid := chosen(group))],
        "attribution": _attribution(groups),
        "queried": queried_grids(groups),
        "stability": [_stability(group) for group in groups if group["stability"]["cases"]],
        "once": sum(group["stability"]["observed_once"] for group in groups),
        "talk_headings": [column.heading for column in TALK],
        "talks": [(model_name(group), [column.cell(group) for column in TALK]) for group in talks(groups)],
        "times": [_times(group) for group in groups],
        "losses": [(*row[:3], f"{row[3]}/{row[4]}", percent(row[3], row[4])) for row in loss_rows(groups)],
        "repairs": repairs_section(groups, gallery),
        "slices": _slices(groups),
        "names": [model_name(group) for group in groups],
        "extras": _extras(groups),
        "shelves": shelves,
    }


def _settings(groups: list[dict[str, Any]]) -> list[str]:
    said: dict[str, list[str]] = {}
    for group in groups:
        for settings in group["settings"]:
            told = {k: v for k, v in settings.items() if v is not None and v is not False and v not in ([], ())}
            shown = {words(k): v for k, v in told.items() if k != "timeout_ms"}
            parts = [
                f"{name} {value if isinstance(value, str) else json.dumps(value)}" for name, value in shown.items()
            ]
            text = ", ".join([*parts, f"timeout {milliseconds(settings['timeout_ms'])}"])
            said.setdefault(text, []).append(model_name(group))
    if len(said) == 1:
        return list(said)
    return [f"{', '.join(names)}: {text}" for text, names in said.items()]


def _undecided(group: dict[str, Any], shelves: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The undecided trials of a group, and where their evidence stands."""
    count = group["trials"]["undecided"]
    mine = [
        s for each in shelves if each["stage"] == "undecided" for s in each["shelves"] if s["key"] == group["model"]
    ]
    return {"count": count, "anchor": mine[0]["anchor"] if mine else ""} if count else None


def _headline(group: dict[str, Any], undecided: dict[str, Any] | None) -> dict[str, Any]:
    cells = []
    for column in MAIN:
        cell = column.cell(group)
        name = _RATE_OF.get(column.heading)
        rate = group["coverage"]["accepted"] if column.heading == "coverage" else group["rates"][name] if name else None
        strip = interval_strip(rate, column.heading) if rate is not None else None
        counts, _, share = cell.main.partition(" ")
        if rate is None or not rate["n"]:
            counts, share = cell.main, ""
        cells.append(
            {
                "counts": counts,
                "percent": share,
                "more": cell.more,
                "strip": strip,
                "strong": column.heading == "passed",
                "undecided": undecided if column.heading == "passed" else None,
            }
        )
    reported = ", ".join(group["reported_models"]) or "nothing"
    about = f"{group['provider']} · {group['model_id']} · reported {reported}"
    return {"name": model_name(group), "about": about, "cells": cells}


def _funnel(group: dict[str, Any]) -> dict[str, Any]:
    funnel = {**group["funnel"], "tried": group["trials"]["recorded"]}
    rows, before = [], funnel["planned"]
    for key, label, lost_as in _FUNNEL:
        count = funnel[key]
        rows.append(
            {
                "label": label,
                "count": count,
                "percent": percent(count, funnel["planned"]),
                "lost": before - count,
                "lost_as": lost_as,
                "bar": share_bar(count, funnel["planned"], "funnel"),
            }
        )
        before = count
    return {"name": model_name(group), "rows": rows}


def _attribution(groups: list[dict[str, Any]]) -> dict[str, Any]:
    def count(group: dict[str, Any], name: str) -> int:
        return int(group["trials"]["not_run"] if name == "not_run" else group["attribution"][name])

    said = {**ATTRIBUTION_WORDS, "judge_failure": judge_failure_words(groups)}
    names = [name for name in ATTRIBUTION_WORDS if any(count(group, name) for group in groups)]
    kinds = {name: f"a-{name.replace('.', '-').replace('_', '-')}" for name in names}
    rows = []
    for group in groups:
        parts = [(kinds[name], count(group, name), said[name]) for name in names]
        label = f"{model_name(group)}: " + ", ".join(f"{text} {n}" for _, n, text in parts)
        violations = ", ".join(f"{words(name)} {n}" for name, n in group["violations"].items())
        rows.append(
            {
                "name": model_name(group),
                "bar": stacked_bar(parts, label),
                "counts": [n for _, n, _ in parts],
                "violations": violations or DASH,
            }
        )
    legend = [(kinds[name], said[name]) for name in names]
    return {"legend": legend, "rows": rows, "caption": ATTRIBUTION_CAPTION}


def _stability(group: dict[str, Any]) -> dict[str, Any]:
    s = group["stability"]
    kinds = []
    for kind in ("outcome", "verbatim", "verdict"):
        each = s[kind]
        observed = each["observed"]
        kinds.append(
            {
                "counts": f"{each['modal']}/{observed}" if observed else DASH,
                "percent": percent(each["modal"], observed) if observed else "",
                "mean": f"{100 * each['mean']:.0f}%" if observed else DASH,
                "unanimous": f"{each['unanimous']}/{s['cases']}" if observed else DASH,
            }
        )
    return {"name": model_name(group), "cases": s["cases"], "once": s["observed_once"], "kinds": kinds}


def _times(group: dict[str, Any]) -> dict[str, Any]:
    time, tokens, attempts = group["time"], group["tokens"], group["attempts"]
    clocks = [time[name] for name in ("model", "first_byte", "first_call")]
    sums = [tokens[name] for name in ("input_tokens", "output_tokens", "reasoning_tokens")]
    return {
        "name": model_name(group),
        "clocks": [
            *(f"{milliseconds(c['p50'])} / {milliseconds(c['p95'])}" if c["n"] else DASH for c in clocks),
            queued_text(time["queued"]) or DASH,
        ],
        "n": time["model"]["n"],
        "tokens": [
            {"sum": quantity(s["sum"]), "each": quantity(s["per_trial"]), "unknown": s["unknown"]}
            if s["known"]
            else None
            for s in sums
        ],
        "cost": money(group["cost"]),
        "attempts": f"{attempts['sum']} for {plural(group['trials']['recorded'], 'trial')}",
        "retried": attempts["retried_trials"],
    }


def _slices(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tables = []
    for axis in ("behaviour", "difficulty", "locale", "tag"):
        values = list(dict.fromkeys(each["value"] for group in groups for each in group["slices"][axis]))
        if axis != "tag" and values == [None]:
            continue
        rows = []
        for value in values[:60]:
            found = [next((s for s in group["slices"][axis] if s["value"] == value), None) for group in groups]
            cells = [
                {"cell": rate_cell(s["passed"]), "strip": interval_strip(s["passed"], str(value), 84)} if s else None
                for s in found
            ]
            rows.append({"label": "not declared" if value is None else value, "cells": cells})
        if rows:
            tables.append({"axis": axis, "rows": rows, "more": max(0, len(values) - 60)})
    return tables


def _extras(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for group in groups:
        changes = group["transformations"]
        facts = {
            "flags": group["flags"],
            "finish": group["finish"],
            "transformations": changes["rules"],
            "notes": dict(list(group["notes"].items())[:8]),
            **{f"recovery: {name}": values for name, values in group["recovery"]["values"].items()},
        }
        shown = [(name, ", ".join(f"{k} ×{n}" for k, n in each.items())) for name, each in facts.items() if each]
        rows.append({"name": model_name(group), "facts": shown})
    return rows


def _shelves(
    section_id: str,
    groups: list[dict[str, Any]],
    cells: list[dict[str, Any]],
    gallery: Gallery,
    cases: Mapping[str, Case],
) -> list[dict[str, Any]]:
    never: dict[str, list[bool]] = {}
    for cell in cells:
        if cell["decided"]:
            never.setdefault(cell["case_id"], []).append(cell["passed"] == 0)
    order = {GroupKey(g["suite"], g["experiment"], g["model"]): i for i, g in enumerate(groups)}
    mine = sorted(
        (shelf for shelf in gallery.shelves if shelf.key in order),
        key=lambda shelf: (shelf.category == PASSED, shelf.category, order[shelf.key]),
    )
    categories: dict[str, list[dict[str, Any]]] = {}
    for shelf in mine:
        items = []
        for anchor, derived in shelf.shown:
            case_id = derived.verdict.case_id
            seen = never.get(case_id, [])
            judged = groups[0]["judge"] is not None
            said = () if shelf.category == PASSED else hints(derived, Agreement(len(seen), sum(seen)), judged=judged)
            items.append({"anchor": anchor, "e": evidence(derived, cases.get(case_id)), "hints": said})
        categories.setdefault(shelf.category, []).append(
            {
                "name": model_name(groups[order[shelf.key]]),
                "key": shelf.key.model,
                "anchor": f"{section_id}-k{sum(map(len, categories.values()))}",
                "count": shelf.trials,
                "items": items,
                "more": shelf.trials - len(items),
            }
        )
    return [
        {
            "label": words(name.replace(".", ": ", 1)),
            "stage": name.split(".", 1)[0],
            "count": sum(shelf["count"] for shelf in shelves),
            "shelves": shelves,
        }
        for name, shelves in categories.items()
    ]
