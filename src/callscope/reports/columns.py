"""The columns that every tabular report shares: what stands in a model's row, in which order, in which words.

Text and counts only. How a table is drawn is the terminal's, Markdown's or HTML's own business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from callscope.importers import RECORDED
from callscope.reports.numbers import DASH, interval, milliseconds, money, percent, quantity, ratio
from callscope.reports.safe import one_line

__all__ = [
    "ATTRIBUTION_CAPTION",
    "ATTRIBUTION_WORDS",
    "EXPECTED_WORDS",
    "LEGEND",
    "MAIN",
    "STAGE_WORDS",
    "Cell",
    "Column",
    "absent",
    "coverage_cell",
    "group_title",
    "grouped",
    "is_recorded",
    "loss_rows",
    "model_name",
    "only_text",
    "plural",
    "rate_cell",
    "trials_line",
    "words",
]


class Cell(NamedTuple):
    """A cell in two parts: what must be read, and what qualifies it (an interval, an explanation)."""

    main: str
    more: str = ""

    @property
    def line(self) -> str:
        """Both parts on one line."""
        return f"{self.main} {self.more}".rstrip()


class Column(NamedTuple):
    """A column of the main table: its heading and how a group fills it."""

    heading: str
    cell: Callable[[Mapping[str, Any]], Cell]


def _rate(name: str) -> Callable[[Mapping[str, Any]], Cell]:
    return lambda group: rate_cell(group["rates"][name])


def rate_cell(rate: Mapping[str, Any]) -> Cell:
    """Counts and percentage, qualified by the interval."""
    if not rate["n"]:
        return Cell(DASH)
    return Cell(f"{ratio(rate)} {percent(rate['k'], rate['n'])}", interval(rate))


def coverage_cell(group: Mapping[str, Any]) -> Cell:
    """Observed over tried trials; what was never tried is no loss, and is counted beside it."""
    cell, not_run = rate_cell(group["coverage"]["accepted"]), group["trials"]["not_run"]
    return Cell(cell.main, ", ".join(filter(None, (cell.more, f"{absent(group)} {not_run}" if not_run else ""))))


def is_recorded(group: Mapping[str, Any]) -> bool:
    """Whether a group's answers were recorded by another programme: nothing was run here."""
    return str(group["api"] or "").startswith(RECORDED)


def absent(group: Mapping[str, Any]) -> str:
    """What a planned trial without a record is: not run, or, of recorded answers, without a row."""
    return "no row" if is_recorded(group) else "not run"


def trials_line(summary: Mapping[str, Any]) -> str:
    """How many trials have a record, for a report's head."""
    trials = summary["trials"]
    said = f"{trials['recorded']} of {trials['planned']} trials recorded"
    rest = trials["not_run"] and all(is_recorded(group) for group in summary["groups"])
    return f"{said}; the rest has no row in the results" if rest else said


def _stability(group: Mapping[str, Any]) -> Cell:
    s = group["stability"]["outcome"]
    if not s["observed"]:
        return Cell(DASH)
    return Cell(
        f"{s['modal']}/{s['observed']} {percent(s['modal'], s['observed'])}",
        plural(group["stability"]["cases"], "case"),
    )


def _latency(group: Mapping[str, Any]) -> Cell:
    clock = group["time"]["model"]
    return Cell(milliseconds(clock["p50"]), milliseconds(clock["p95"])) if clock["n"] else Cell(DASH)


def _tokens(group: Mapping[str, Any]) -> Cell:
    taken, given = group["tokens"]["input_tokens"], group["tokens"]["output_tokens"]
    if not taken["known"] and not given["known"]:
        return Cell("unknown")
    unknown = max(taken["unknown"], given["unknown"])
    more = f"+{unknown} unknown" if unknown else ""
    return Cell(f"{quantity(taken['sum'])} / {quantity(given['sum'])}", more)


def _cost(group: Mapping[str, Any]) -> Cell:
    text, _, more = money(group["cost"]).partition(" (")
    return Cell(text, more.rstrip(")"))


MAIN: tuple[Column, ...] = (
    Column("coverage", coverage_cell),
    Column("passed", _rate("passed")),
    Column("selection", _rate("selection")),
    Column("exact args", _rate("exact")),
    Column("abstention", _rate("abstention")),
    Column("clarification", _rate("clarification")),
    Column("stability", _stability),
    Column("p50\u00a0/\u00a0p95", _latency),
    Column("tokens in\u00a0/\u00a0out", _tokens),
    Column("cost", _cost),
)

LEGEND = (
    "passed: strict; selection: right tool on positive cases; exact args: of right-tool trials; [95% interval];"
    " p50 / p95: model time"
)
"""What the columns of `MAIN` mean, for a line below the table."""

ATTRIBUTION_CAPTION = (
    "by PluginEval's definition: correct = the calls, or their absence, are right; the strict verdict, passed, is"
    " another thing"
)

ATTRIBUTION_WORDS = {
    "correct": "correct",
    "miss_recall": "missed call",
    "parameter_error.temporal": "wrong time",
    "parameter_error.missing": "missing argument",
    "parameter_error.value": "wrong value",
    "over_recall": "call too many",
    "judge_failure": "judge failed",
    "not_observed": "not observed",
    "not_run": "not run",
}

EXPECTED_WORDS = {
    "tool": "one call",
    "tools": "several calls",
    "abstention": "no call",
    "clarification": "a question",
}
"""The classes of expectations, as the rows of a confusion matrix."""

STAGE_WORDS = {
    "acceptance": ("A", "acceptance: coverage loss, no decision was observed"),
    "selection": ("S", "selection: the wrong tool, or a call where none was right, or none where one was"),
    "structure": ("T", "structure: arguments that do not meet the schema, or are no JSON"),
    "semantics": ("M", "semantics: arguments of the right form with wrong values"),
    "policy": ("V", "violation: the right call with something beside it that fails it"),
    "recovery": ("R", "recovery: the conversation after a tool's answer did not end as expected"),
    "other": ("X", "failed for a reason that only its evidence tells"),
}


def plural(count: int, noun: str) -> str:
    """A count with its noun: `1 case`, `2 cases`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def words(name: str) -> str:
    """A name out of a contract as words: `no_call_when_expected` -> `no call when expected`."""
    return name.replace("_", " ")


def model_name(group: Mapping[str, Any], limit: int = 60) -> str:
    """A model as rows name it; a stand-in (an embedded model in place of a hosted one) says so."""
    return one_line(group["model"], limit) + (" (stand-in)" if group["stand_in"] else "")


def group_title(group: Mapping[str, Any]) -> str:
    """What a table is about: suite, version, kind, experiment."""
    version = f" {one_line(group['suite_version'], 40)}" if group["suite_version"] else ""
    kind = f" ({group['suite_kind']})" if group["suite_kind"] else ""
    return f"{one_line(group['suite'], 60)}{version}{kind} · experiment {one_line(group['experiment'], 60)}"


def only_text(run: Mapping[str, Any]) -> str:
    """Which part of a run a narrowed report shows; "" for the whole of it."""
    only = run.get("only") or {}
    shown = ", ".join(f"{name} {one_line(value, 80)}" for name, value in only.items())
    return f"Only a part of the run: {shown}" if shown else ""


def grouped(summary: Mapping[str, Any]) -> list[list[dict[str, Any]]]:
    """The groups of a summary, those of one suite and experiment together, in plan order."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for group in summary["groups"]:
        found.setdefault((group["suite"], group["experiment"]), []).append(group)
    return list(found.values())


def loss_rows(groups: list[dict[str, Any]]) -> list[tuple[str, str, str, int, int]]:
    """Coverage loss as (model, category, cause, trials, trials tried), only what was lost; not what was never tried."""
    return [
        (
            model_name(group),
            words(cause["category"]),
            one_line(cause["cause"], 60),
            cause["trials"],
            group["trials"]["recorded"],
        )
        for group in groups
        for cause in group["coverage"]["causes"]
    ]
