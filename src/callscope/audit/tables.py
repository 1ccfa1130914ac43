"""An audit's findings as tables for a terminal: Table 4 for references, Table 5 for a judge, and what to adjudicate.

Counts stand beside every share; a value that is not defined says why below its table. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from callscope.audit.agreement import Coefficients
from callscope.audit.designs import ATTRIBUTIONS, DESIGNS
from callscope.audit.findings import Dispute, Findings, Judged
from callscope.audit.sample import Stratum
from callscope.audit.stratified import Estimate
from callscope.reports.safe import one_line

__all__ = ["agreement_tables", "sample_table"]

_MOST_DISPUTES = 40
_COEFFICIENTS: Mapping[str, str] = {
    "observed": "observed",
    "fleiss": "Fleiss κ",
    "alpha": "Krippendorff α",
    "ac1": "Gwet AC1",
    "pabak": "PABAK",
}


def _table(title: str, *columns: str) -> Table:
    table = Table(title=f"\n{title}", title_justify="left", box=box.SIMPLE, pad_edge=False, show_edge=False)
    for place, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if place == 0 else "right", no_wrap=place == 0)
    return table


def _add(table: Table, *cells: str) -> None:
    table.add_row(*(Text(cell) for cell in cells))


class _Notes:
    """The reasons of values that are not defined, each once, with a mark."""

    def __init__(self) -> None:
        self.marks: dict[str, int] = {}

    def mark(self, reason: str) -> str:
        return f"[{self.marks.setdefault(reason, len(self.marks) + 1)}]"

    def texts(self) -> Iterator[Text]:
        for reason, mark in self.marks.items():
            yield Text(f"[{mark}] {one_line(reason, 400)}")
        self.marks.clear()


def share(estimate: Estimate, notes: _Notes) -> str:
    """A proportion as `290/300 96.67% [94.0, 98.2]`."""
    if estimate.value is None:
        return f"undefined {notes.mark(estimate.reason)}"
    counts = f"{estimate.k}/{estimate.n} " if estimate.n is not None else ""
    low, high = estimate.low, estimate.high
    interval = "" if low is None or high is None else f" [{100 * low:.1f}, {100 * high:.1f}]"
    return f"{counts}{100 * estimate.value:.2f}%{interval}"


def coefficient(estimate: Estimate, notes: _Notes) -> str:
    """A coefficient as `.9451 [.912, .973]`."""
    if estimate.value is None:
        return f"undefined {notes.mark(estimate.reason)}"
    low, high = estimate.low, estimate.high
    interval = f" {notes.mark(estimate.note)}" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    return f"{estimate.value:.4f}{interval}"


def sample_table(strata: Mapping[str, Stratum], units: str) -> Table:
    """What was drawn of what there is."""
    table = _table("Sample", "stratum", f"{units} there are", "asked for", "drawn")
    for name, stratum in strata.items():
        _add(table, name, str(stratum.population), str(stratum.wanted), str(stratum.sampled))
    return table


def agreement_tables(found: Findings) -> Iterator[RenderableType]:
    """All tables of an audit's findings."""
    notes = _Notes()
    units = DESIGNS[found.design].units
    yield sample_table(found.strata, units)
    answered = _table("Answered", "reviewer", f"of {found.items} items")
    for name, count in found.answered.items():
        _add(answered, name, str(count))
    yield answered
    if found.levels:
        yield _validity(found, notes)
        yield from notes.texts()
        yield _among({level.name: level.agreement.among for level in found.levels}, notes)
        yield from notes.texts()
    if found.judged is not None:
        yield from _judged(found.judged, notes)
    yield from _open(found.adjudicate)


def _validity(found: Findings, notes: _Notes) -> Table:
    table = _table("Table 4. Validity of the references, by reviewer", "level", *(found.answered))
    for level in found.levels:
        _add(table, level.name, *(share(level.confirmed[name], notes) for name in found.answered))
    return table


def _among(rows: Mapping[str, Coefficients], notes: _Notes) -> Table:
    pair = all(len(each.raters) == 2 for each in rows.values())
    shown = {**_COEFFICIENTS, "cohen": "Cohen κ"} if pair else _COEFFICIENTS
    table = _table("Agreement among the reviewers", "on", *shown.values())
    for name, each in rows.items():
        values = ((share if key == "observed" else coefficient)(getattr(each, key), notes) for key in shown)
        _add(table, name, *values)
    return table


def _judged(judged: Judged, notes: _Notes) -> Iterator[RenderableType]:
    table = _table("Table 5. The judge beside each reviewer", "reviewer", "agreement", "Cohen κ", "Gwet AC1", "PABAK")
    for each in judged.agreement.against:
        found = each.coefficients
        values = (coefficient(getattr(found, name), notes) for name in ("cohen", "ac1", "pabak"))
        _add(table, each.reviewer, share(found.observed, notes), *values)
    yield table
    yield from notes.texts()
    confirmed = _table("Confirmed, of what the judge called …", "reviewer", *ATTRIBUTIONS.values())
    for each in judged.agreement.against:
        by_label = {one.label: one.confirmed for one in each.confirmation}
        _add(confirmed, each.reviewer, *(share(by_label[name], notes) for name in ATTRIBUTIONS))
    yield confirmed
    yield from notes.texts()
    yield _among({"attribution": judged.agreement.among}, notes)
    yield from notes.texts()
    rates = _table(
        "Rates of the whole run, corrected for the judge's errors (Rogan-Gladen)",
        "class", "as the judge gave it", "corrected", "sensitivity", "specificity",
    )  # fmt: skip
    for name, rate in judged.rates.items():
        shown = (rate.apparent, rate.corrected, rate.sensitivity, rate.specificity)
        _add(rates, ATTRIBUTIONS[name], *(share(each, notes) for each in shown))
    yield rates
    yield from notes.texts()
    unsettled = judged.confusion.unsettled
    rule = "The human class is the adjudicated one, else the majority's"
    yield Text(f"{rule}; {unsettled} of {judged.confusion.items} items have neither." if unsettled else f"{rule}.")


def _open(disputes: tuple[Dispute, ...]) -> Iterator[RenderableType]:
    if not disputes:
        yield Text("\nNothing to adjudicate: no two reviewers differ.")
        return
    left = sum(dispute.decided is None for dispute in disputes)
    table = _table(
        f"To adjudicate: {len(disputes)} items, {left} not decided", "item", "case", "differ in", "said", "decided"
    )
    for dispute in disputes[:_MOST_DISPUTES]:
        questions = [name for name in dispute.differ_in if name != "correction"]
        said = "; ".join(
            f"{name}: {', '.join(answer.answers.get(each, '?') for each in questions) or 'own gold'}"
            for name, answer in dispute.said.items()
        )
        decided = "" if dispute.decided is None else ", ".join(dispute.decided.answers.values()) or "gold"
        case = one_line(f"{dispute.suite}/{dispute.case_id}", 60)
        _add(table, dispute.item, case, ", ".join(dispute.differ_in), said, decided)
    yield table
    if len(disputes) > _MOST_DISPUTES:
        yield Text(f"… and {len(disputes) - _MOST_DISPUTES} more; agreement.json has all")
    if left:
        yield Text("Decide them with: callscope audit serve AUDIT_DIR --reviewers adjudicator")
