"""A summary as tables for a terminal: counts beside percentages and intervals, legible at 80 columns and up.

Too wide a table is split into several with the model repeated, never cut; numbers are never truncated. Foreign text is
inert: no markup is read from it, and its control characters are written out.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from callscope.reports.chosen import confused
from callscope.reports.columns import (
    ATTRIBUTION_CAPTION,
    ATTRIBUTION_WORDS,
    EXPECTED_WORDS,
    LEGEND,
    MAIN,
    Cell,
    group_title,
    grouped,
    loss_rows,
    model_name,
    only_text,
    trials_line,
    words,
)
from callscope.reports.experiments import experiment_caveats, experiment_settings
from callscope.reports.judged import judge_failure_words, judge_line
from callscope.reports.numbers import percent
from callscope.reports.queried import queried_grids
from callscope.reports.remarks import QUEUED, flag_remarks, group_remarks, queued_text
from callscope.reports.repairs import COMPARED, applied_text
from callscope.reports.safe import one_line
from callscope.reports.talks import TALK, talks

__all__ = ["print_summary", "summary_tables", "terminal_text", "wide_table"]

_GAP = 2
"""Between columns: one space of padding, one of the box."""

_WORD = 26
"""A longer word of a heading (a model's name) is folded."""

Rows = Sequence[tuple[str, Sequence[Cell]]]


def terminal_text(summary: Mapping[str, Any], *, width: int = 100) -> str:
    """The tables as plain text without colour, at most `width` columns wide."""
    out = io.StringIO()
    print_summary(summary, Console(file=out, width=width, no_color=True, highlight=False, force_terminal=False))
    return out.getvalue()


def print_summary(summary: Mapping[str, Any], console: Console) -> None:
    """Print the tables to `console`, which knows its width and whether it has colours."""
    for part in summary_tables(summary, width=console.width):
        console.print(part)


def summary_tables(summary: Mapping[str, Any], *, width: int = 100) -> Iterator[RenderableType]:
    """The tables of every suite and experiment, with their headings, for a console of `width` columns."""
    run = summary["run"]
    yield Text(f"Run {one_line(run['run_id'], 80)}", style="bold")
    yield Text(
        f"{words(one_line(run['status']))} · {trials_line(summary)} · dataset"
        f" {one_line(run['dataset_version'], 40)} · callscope {one_line(run['callscope'], 40)}",
        style="dim",
    )
    if only := only_text(run):
        yield Text(only, style="yellow")
    judge, loud = judge_line(summary)
    if judge:
        yield Text(judge, style="bold red" if loud else "")
    for number, groups in enumerate(grouped(summary)):
        yield Text("")
        yield Text(group_title(groups[0]), style="bold cyan")
        yield Text(experiment_settings(groups[0]), style="dim")
        for said in experiment_caveats(groups[0]):
            yield Text(said, style="yellow")
        rows = [(model_name(group), [column.cell(group) for column in MAIN]) for group in groups]
        yield from wide_table(width, "model", [column.heading for column in MAIN], rows)
        yield from _asides(groups)
        if number == 0:
            yield from _legend(summary["groups"])
        yield from _losses(width, groups)
        yield from _confusion(width, groups)
        yield from _confused(groups)
        yield from _attribution(width, groups)
        yield from _queried(width, groups)
        yield from _talks(width, groups)
        yield from _repairs(width, groups)


def _asides(groups: list[dict[str, Any]]) -> Iterator[Text]:
    for group in groups:
        for said in flag_remarks(group):
            yield Text(f"{model_name(group)}: {said}", style="yellow")
        notes = group_remarks(group)
        if notes:
            yield Text(f"{model_name(group)}: {'; '.join(notes)}", style="dim")


def _legend(groups: list[dict[str, Any]]) -> Iterator[Text]:
    yield Text(LEGEND, style="dim")
    if any(queued_text(group["time"]["queued"]) for group in groups):
        yield Text(QUEUED, style="dim")


def _losses(width: int, groups: list[dict[str, Any]]) -> Iterator[RenderableType]:
    losses = loss_rows(groups)
    rows = [
        (
            "" if i and losses[i - 1][0] == name else name,
            (Cell(what), Cell(cause), Cell(f"{k}/{n} {percent(k, n)}")),
        )
        for i, (name, what, cause, k, n) in enumerate(losses)
    ]
    if rows:
        yield from _heading("Coverage loss: trials in which no decision was observed (never a wrong answer)")
        yield from wide_table(width, "model", ["category", "cause", "trials"], rows)


def _confusion(width: int, groups: list[dict[str, Any]]) -> Iterator[RenderableType]:
    rows: list[tuple[str, Sequence[Cell]]] = []
    for expects, label in EXPECTED_WORDS.items():
        lines = [group["confusion"][expects] for group in groups]
        came = [name for name in lines[0] if any(line[name] for line in lines)]
        rows += [(f"expected: {label}", [Cell("")] * len(groups))] if came else []
        rows += [(f"  {words(name)}", [Cell(str(line[name] or "·")) for line in lines]) for name in came]
    yield from _heading("Confusion: expected, and what came")
    yield from wide_table(width, "trials", [model_name(group) for group in groups], rows, label_style="")


def _confused(groups: list[dict[str, Any]]) -> Iterator[RenderableType]:
    lines = [(model_name(group), said) for group in groups if (said := confused(group))]
    if lines:
        yield from _heading("Wrong choices: expected → what came, of the trials that expected it")
        for name, said in lines:
            yield Text.assemble((name, "cyan"), f": {said}")


def _talks(width: int, groups: list[dict[str, Any]]) -> Iterator[RenderableType]:
    held = talks(groups)
    if held:
        yield from _heading(
            "Recovery: after a tool's answer (corrected, repeated: of conversations with a failed call)"
        )
        rows = [(model_name(group), [column.cell(group) for column in TALK]) for group in held]
        yield from wide_table(width, "model", [column.heading for column in TALK], rows)


def _attribution(width: int, groups: list[dict[str, Any]]) -> Iterator[RenderableType]:
    names = [n for n in ATTRIBUTION_WORDS if any(_attributed(group, n) for group in groups)]
    rows = [(model_name(group), [Cell(str(_attributed(group, name) or "·")) for name in names]) for group in groups]
    yield from _heading("Attribution of trials")
    yield Text(ATTRIBUTION_CAPTION, style="dim")
    said = {**ATTRIBUTION_WORDS, "judge_failure": judge_failure_words(groups)}
    yield from wide_table(width, "model", [said[name] for name in names], rows)


def _queried(width: int, groups: list[dict[str, Any]]) -> Iterator[RenderableType]:
    for grid in queried_grids(groups):
        yield from _heading(grid.heading)
        yield from wide_table(width, grid.label, list(grid.columns), grid.rows, keys=grid.keys)
        for note in grid.notes:
            yield Text(note, style="dim")


def _repairs(width: int, groups: list[dict[str, Any]]) -> Iterator[RenderableType]:
    mended = [group for group in groups if group["repaired"]["trials"]]
    if mended:
        yield from _heading("Repairs: what a stack that repairs would have got, beside the raw figures, never in them")
        rows = [(model_name(group), [column.cell(group) for column in COMPARED]) for group in mended]
        yield from wide_table(width, "model", [column.heading for column in COMPARED], rows)
        for group in mended:
            yield Text(f"{model_name(group)}: {applied_text(group)}", style="dim")


def _attributed(group: dict[str, Any], name: str) -> int:
    return int(group["trials"]["not_run"] if name == "not_run" else group["attribution"][name])


def _heading(text: str) -> Iterator[Text]:
    yield Text("")
    yield Text(text, style="bold")


def wide_table(
    width: int, label: str, headings: list[str], rows: Rows, label_style: str = "cyan", keys: int = 0
) -> Iterator[RenderableType]:
    """Rows under headings: on one line a row if all fits, else on two, else in several tables, each of which repeats
    the label and the first `keys` columns."""
    longest = max([cell_len(label), *(cell_len(name) for name, _ in rows)])
    label_width = min(longest, max(16, width * 3 // 10))
    one = [_width(heading, [cells[i].line for _, cells in rows]) for i, heading in enumerate(headings)]
    stacked = label_width + sum(each + _GAP for each in one) > width
    two = [_width(heading, [part for _, cells in rows for part in cells[i][:2]]) for i, heading in enumerate(headings)]
    widths = two if stacked else one
    held = sum(each + _GAP for each in widths[:keys])
    spare = width - sum(each + _GAP for each in widths)
    label_width = min(longest, spare) if spare >= 20 else label_width
    for start, stop in _balanced(widths[keys:], width - label_width - held):
        if start:
            yield Text("")
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column(Text(label), width=label_width, overflow="fold", style=label_style)
        shown = [*range(keys), *range(keys + start, keys + stop)]
        for i in shown:
            side: Literal["left", "right"] = "left" if i < keys else "right"
            table.add_column(Text(headings[i]), width=widths[i], no_wrap=False, overflow="fold", justify=side)
        for name, cells in rows:
            table.add_row(Text(name), *(_drawn(cells[i], stacked) for i in shown))
        yield table


def _width(heading: str, texts: list[str]) -> int:
    """The width of a column: its widest cell, or the widest word of its heading, which may wrap at spaces."""
    return max([min(cell_len(word), _WORD) for word in heading.split(" ")] + [cell_len(text) for text in texts])


def _balanced(widths: list[int], room: int) -> list[tuple[int, int]]:
    """As few tables as fit into `room`, of about equal width."""
    packs = _packs(widths, room)
    return min(
        (fewer for width in range(max(widths), room) if len(fewer := _packs(widths, width)) == len(packs)),
        key=lambda split: max(sum(widths[a:b]) for a, b in split),
        default=packs,
    )


def _packs(widths: list[int], room: int) -> list[tuple[int, int]]:
    packs, start, used = [], 0, 0
    for i, width in enumerate(widths):
        if i > start and used + width + _GAP > room:
            packs.append((start, i))
            start, used = i, 0
        used += width + _GAP
    packs.append((start, len(widths)))
    return packs


def _drawn(cell: Cell, stacked: bool) -> Text:
    if not cell.more:
        return Text(cell.main)
    return Text.assemble(cell.main, "\n" if stacked else " ", (cell.more, "dim"))
