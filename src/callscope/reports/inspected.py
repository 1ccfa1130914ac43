"""What `inspect` found, as text for a terminal: counts by category and model first, then examples with raw evidence.

Plain text, inert. Which trials are examples is chosen here where they are bounded: one of every category before a
second of any.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from callscope.reports.checked import Differences
from callscope.reports.columns import Cell, plural
from callscope.reports.evidence import Evidence, evidence, trial_key
from callscope.reports.inspect import PASSED, Failure, FailureGroup
from callscope.reports.rawtext import RAW_LIMIT, raw_text
from callscope.reports.safe import one_line
from callscope.reports.terminal import wide_table
from callscope.reports.view import RawLookup

__all__ = ["bounded", "differences_text", "inspect_text"]

_HEADINGS = {
    "ours_passed": "passed here, failed by the benchmark's own checker",
    "theirs_passed": "failed here, passed by the benchmark's own checker",
}


def inspect_text(
    groups: Iterable[FailureGroup],
    *,
    raw: RawLookup | None = None,
    width: int = 100,
    full: bool = False,
    most: int | None = None,
) -> str:
    """The groups as plain text: counts by category and model, then of each example its prompt, expectation, outcome,
    every stage's evidence, raw bytes.

    With `most`, not every group has its examples, and how many have is said (`bounded`). With `full`
    nothing is cut; else what all requests of a model share is, and texts of more than 100,000 characters. An example
    that stands in several categories is written out once and referred to afterwards.
    """
    groups = tuple(groups)
    if not groups:
        return "No failures.\n"
    lines = [_counts(groups, width)] if len(groups) > 1 else []
    chosen = groups if most is None else bounded(groups, most)
    if len(chosen) < len(groups):
        few = f"{len(chosen)} of {len(groups)} groups (a category of a model in a suite)"
        flags = "--limit 1 shows one of each, and --category, --model, --suite, --case and --tag show less"
        lines += ["", f"Examples of {few} follow; {flags}"]
    shown: set[object] = set()
    category = ""
    for group in chosen:
        if group.category != category:
            category = group.category
            lines += ["", f"== {_heading(category)} ".ljust(width, "=")]
        lines += _group(group, shown, raw, full)
    return "\n".join(lines).strip("\n") + "\n"


def bounded(groups: Sequence[FailureGroup], most: int) -> tuple[FailureGroup, ...]:
    """The groups that are shown, in their order: of every category the first, then as many of the others as there is
    room for until `most` trials are written out."""
    first = {group.category: i for i, group in reversed(list(enumerate(groups)))}
    kept = set(first.values())
    seen = {trial_key(each.derived) for i in kept for each in groups[i].examples}
    for i, group in enumerate(groups):
        new = {trial_key(each.derived) for each in group.examples} - seen
        if i not in kept and len(seen) + len(new) <= most:
            seen |= new
            kept.add(i)
    return tuple(group for i, group in enumerate(groups) if i in kept)


def differences_text(found: Differences) -> str:
    """How often the benchmark's own checker and we differ, each direction by itself."""
    differ = found.ours_passed + found.theirs_passed
    said = (
        f"The benchmark's own checker and callscope differ on {differ} of {plural(found.decided, 'trial')} that both"
        f" decided: {found.ours_passed} passed here and failed by the checker, {found.theirs_passed} failed here and"
        " passed by it"
    )
    return f"{said}; on {found.silent} more one of the two decides nothing." if found.silent else f"{said}."


def _heading(category: str) -> str:
    way, _, why = category.partition(".")
    if way in _HEADINGS:
        return f"{_HEADINGS[way]}: {one_line(why, 120)}"
    return "passed" if category == PASSED else category


def _counts(groups: Sequence[FailureGroup], width: int) -> str:
    """Trials by category (a row) and model (a column), over all suites and experiments."""
    models = list(dict.fromkeys(group.key.model for group in groups))
    found: dict[str, dict[str, int]] = {}
    for group in groups:
        row = found.setdefault(group.category, {})
        row[group.key.model] = row.get(group.key.model, 0) + group.trials
    rows = []
    for name, row in found.items():
        cells = [*(str(row.get(model) or "·") for model in models), str(sum(row.values()))]
        rows.append((one_line(_short(name), 80), [Cell(cell) for cell in cells]))
    text = io.StringIO()
    console = Console(file=text, width=width, no_color=True, highlight=False, force_terminal=False, emoji=False)
    several = "" if groups[0].category.partition(".")[0] in _HEADINGS else "; a trial stands in every one it belongs to"
    console.print(Text(f"Trials by category and model{several}"))
    for part in wide_table(width, "category", [*(one_line(model, 60) for model in models), "all"], rows):
        console.print(part)
    return "\n".join(line.rstrip() for line in text.getvalue().rstrip("\n").splitlines())


def _short(category: str) -> str:
    way, _, why = category.partition(".")
    return f"{'passed' if way == 'ours_passed' else 'failed'} here: {why}" if way in _HEADINGS else category


def _group(group: FailureGroup, shown: set[object], raw: RawLookup | None, full: bool) -> Iterator[str]:
    key = group.key
    where = f"{one_line(key.suite, 60)} / {one_line(key.experiment, 60)}"
    yield ""
    yield f"-- {one_line(key.model, 80)}  ({where}): {plural(group.trials, 'trial')}"
    for failure in group.examples:
        place = trial_key(failure.derived)
        if place in shown:
            yield f"   {one_line(place.case_id, 80)} repeat {place.repeat}: shown above"
            continue
        shown.add(place)
        yield from (f"   {line}".rstrip() for line in _example(failure, raw, full=full))
    more = group.trials - len(group.examples)
    if more > 0:
        yield f"   … {more} more"


def _example(failure: Failure, raw: RawLookup | None, *, full: bool) -> Iterator[str]:
    e: Evidence = evidence(failure.derived, failure.case, limit=sys.maxsize if full else RAW_LIMIT)
    yield ""
    yield e.title
    yield from _field("tags", ", ".join(e.tags))
    yield from _field("excluded", e.excluded)
    yield from _field("prompt", e.prompt)
    yield from _field("expected", e.expected)
    yield from _field("came back", e.outcome)
    for number, later in enumerate(e.later, 2):
        yield from _field(f"round {number}", later)
    for stage in e.stages:
        rule = f"  (by {stage.rule})" if stage.rule else ""
        yield from _field(stage.name, f"{stage.value}{rule}")
        yield from _field("", stage.saw)
    yield from _field("own checker", e.checker)
    if not any(stage.name == "violations" for stage in e.stages):
        yield from _field("violations", ", ".join(e.violations))
    yield from _field("flags", ", ".join(e.flags))
    for name, values in (("note", e.notes), ("changed", e.changes)):
        for value in values:
            yield from _field(name, value)
    for step in e.repairs:
        yield from _field("repair", step)
    yield from _field("repaired", e.repaired)
    yield from _field("measured", e.facts)
    for hint in failure.hints:
        yield from _field("perhaps", f"{hint.party}: {hint.reason}")
    if raw is not None:
        record = raw(trial_key(failure.derived))
        yield from _field("raw", raw_text(record, full=full) if record is not None else "no record is stored")


def _field(name: str, text: str) -> Iterator[str]:
    for i, line in enumerate(text.splitlines() if text else ()):
        yield f"  {name if i == 0 else '':<12}{line}"
