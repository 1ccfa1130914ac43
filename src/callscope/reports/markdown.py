"""A summary as Markdown, for a pull request or a wiki: the main table, coverage loss, confusion, limits.

Foreign text is escaped so that no renderer takes it for markup, a link, an image, a mention or a table cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from callscope.reports.chosen import matrix
from callscope.reports.columns import (
    ATTRIBUTION_CAPTION,
    ATTRIBUTION_WORDS,
    EXPECTED_WORDS,
    MAIN,
    group_title,
    grouped,
    is_recorded,
    loss_rows,
    model_name,
    only_text,
    words,
)
from callscope.reports.experiments import experiment_caveats, experiment_settings
from callscope.reports.judged import judge_failure_words, judge_line
from callscope.reports.limitations import limitations
from callscope.reports.numbers import percent
from callscope.reports.queried import queried_grids
from callscope.reports.remarks import QUEUED, queued_text, remarks
from callscope.reports.repairs import COMPARED, applied_text
from callscope.reports.safe import one_line
from callscope.reports.talks import TALK, talks

__all__ = ["plain", "render_markdown", "table"]

_LEGEND = (
    "Rates are k/n with their share and 95% interval, clustered by case family; p50 / p95 are model time without"
    " queueing."
)
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&:@#]|www\.)")
_ENTITY = {"@": "@<!-- -->", "#": "#<!-- -->", "www.": "www&#46;"}
"""A comment inside keeps mentions and issue numbers from being linked; the entity, an address."""


def plain(text: str) -> str:
    """Text that no renderer takes for markup, a link, a mention or a cell's end."""

    def escape(match: re.Match[str]) -> str:
        found = match.group()
        return _ENTITY.get(found) or (f"&#{ord(found)};" if found in "<>&|:" else f"\\{found}")

    return _SPECIAL.sub(escape, text)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [" | ".join(headings), " | ".join("---" if not i else "--:" for i in range(len(headings)))]
    lines += [" | ".join(row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def render_markdown(summary: Mapping[str, Any]) -> str:
    """The summary as a Markdown document."""
    run, trials = summary["run"], summary["trials"]
    states = ("passed", "failed", "undecided", "not_observed", "not_run")
    named = {"not_run": "without a row" if all(map(is_recorded, summary["groups"])) else "not run"}
    counts = ", ".join(f"{trials[state]} {named.get(state) or words(state)}" for state in states)
    status = plain(words(one_line(run["status"])))
    parts = [
        f"# callscope run {plain(one_line(run['run_id'], 80))}",
        f"{status}: {trials['observed']} of {trials['planned']} planned trials observed; {counts}.",
        *([plain(f"{only}.")] if (only := only_text(run)) else []),
        *_judge(summary),
    ]
    for groups in grouped(summary):
        parts += _section(groups)
    parts += ["## What this run can and cannot say", "\n".join(f"- {plain(said)}" for said in limitations(summary))]
    return "\n\n".join(parts) + "\n"


def _judge(summary: Mapping[str, Any]) -> list[str]:
    said, loud = judge_line(summary)
    return [f"**{plain(said)}.**" if loud else f"{plain(said)}."] if said else []


def _section(groups: list[dict[str, Any]]) -> list[str]:
    parts = [
        f"## {plain(group_title(groups[0]))}",
        plain(" ".join([f"With {experiment_settings(groups[0])}.", *experiment_caveats(groups[0])])),
        table(
            ["model", *(column.heading for column in MAIN)],
            [[plain(model_name(g)), *(plain(column.cell(g).line) for column in MAIN)] for g in groups],
        ),
        _LEGEND,
        *_remarks(groups),
    ]
    losses = loss_rows(groups)
    if losses:
        rows = [[*(plain(text) for text in row[:3]), f"{row[3]}/{row[4]} {percent(row[3], row[4])}"] for row in losses]
        parts += ["### Coverage loss", table(["model", "category", "cause", "trials"], rows)]
    for group in groups:
        parts += _confusion(group)
    names = [n for n in ATTRIBUTION_WORDS if n != "not_run"]
    words_of = {**ATTRIBUTION_WORDS, "judge_failure": judge_failure_words(groups)}
    rows = [[plain(model_name(g)), *(str(g["attribution"][n]) for n in names)] for g in groups]
    parts += [
        "### Attribution",
        f"{ATTRIBUTION_CAPTION[:1].upper()}{ATTRIBUTION_CAPTION[1:]}.",
        table(["model", *(words_of[n] for n in names)], rows),
    ]
    return [*parts, *_queried(groups), *_talks(groups), *_repairs(groups)]


def _remarks(groups: list[dict[str, Any]]) -> list[str]:
    said = [f"- {plain(model_name(group))}: {plain(text)}" for group in groups for text in remarks(group)]
    if any(queued_text(group["time"]["queued"]) for group in groups):
        said.append(f"- {QUEUED}")
    return ["\n".join(said)] if said else []


def _confusion(group: dict[str, Any]) -> list[str]:
    found = group["confusion"]
    names = [n for n in found["tool"] if any(row[n] for row in found.values())]
    rows = [[EXPECTED_WORDS[r], *(str(found[r][n]) for n in names)] for r in found if any(found[r].values())]
    parts = [
        f"### Confusion: {plain(model_name(group))}",
        table(["expected", *(words(name) for name in names)], rows),
    ]
    tools = matrix(group)
    if tools is not None:
        rows = [[plain(name), *(str(n or "·") for n, _ in cells), str(total)] for name, cells, total in tools.rows]
        parts.append(table(["expected tool", *(plain(name) for name in tools.columns), "all"], rows))
    return parts


def _queried(groups: list[dict[str, Any]]) -> list[str]:
    parts = []
    for grid in queried_grids(groups):
        rows = [[plain(name), *(plain(cell.line) for cell in cells)] for name, cells in grid.rows]
        headings = [plain(heading) for heading in (grid.label, *grid.columns)]
        parts += [f"### {plain(grid.heading)}", table(headings, rows), *(plain(note) for note in grid.notes)]
    return parts


def _talks(groups: list[dict[str, Any]]) -> list[str]:
    rows = [[plain(model_name(g)), *(plain(column.cell(g).line) for column in TALK)] for g in talks(groups)]
    return ["### Recovery", table(["model", *(column.heading for column in TALK)], rows)] if rows else []


def _repairs(groups: list[dict[str, Any]]) -> list[str]:
    mended = [group for group in groups if group["repaired"]["trials"]]
    if not mended:
        return []
    headings = ["model", *(column.heading for column in COMPARED), "repairs (trials)"]
    rows = [
        [plain(model_name(g)), *(plain(column.cell(g).line) for column in COMPARED), plain(applied_text(g))]
        for g in mended
    ]
    return ["### With repairs, beside the raw figures", table(headings, rows)]
