"""A comparison on a terminal: units under letters, one table of pairs, and the sentences that say what is established.

Units stand under letters in every table, so that 80 columns are enough; foreign text is inert.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from callscope.comparison.words import correction_words, p_text, pair_name, points
from callscope.reports.numbers import DASH, interval, percent, ratio
from callscope.reports.safe import one_line

__all__ = ["comparison_parts", "comparison_text", "print_comparison"]

_HASH = 64
_KS = (1, 2, 3, 5, 8, 10, 16, 25, 32, 50, 64, 100)

LEGEND = (
    "A case's value is its share of hits over its repeats. diff.: mean over cases, in percentage points; its interval"
    " is not adjusted. cases (families). smallest: the difference that could have been seen here (80% power, 5% level)."
)


def comparison_text(data: Mapping[str, Any], *, width: int = 100) -> str:
    """The comparison as plain text without colour, at most `width` columns wide."""
    out = io.StringIO()
    print_comparison(data, Console(file=out, width=width, no_color=True, highlight=False, force_terminal=False))
    return out.getvalue()


def print_comparison(data: Mapping[str, Any], console: Console) -> None:
    """Print the tables and sentences to `console`."""
    for part in comparison_parts(data):
        console.print(part)


def comparison_parts(data: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Headings, tables and sentences, in order."""
    metric = data["metric"]
    yield Text(f"Comparison of {metric['name']}: how often each {metric['does']}", style="bold")
    yield Text(correction_words(data["family"]), style="dim")
    if metric["conditional"]:
        yield Text(
            "The rate's denominator depends on what a model did: pairs are cases in which it applies to both",
            style="yellow",
        )
    yield _table(
        ["", "unit", "run"], [[unit["letter"], _name(unit), one_line(unit["path"], 60)] for unit in data["units"]]
    )
    for number, group in enumerate(data["groups"]):
        yield Text("")
        yield Text(one_line(f"{group['suite']} · {group['experiment']}"), style="bold cyan")
        yield _rates(group)
        yield from _pairs(group, first=number == 0)
        yield from _together(group)
        yield from _repeats(group)
    for each in data["not_compared"]:
        only = f"only {', '.join(each['units'])} has it"
        yield Text(one_line(f"Not compared: {each['suite']} · {each['experiment']}: {only}"), style="dim")
    yield from _gate(data["coverage"])


def _name(unit: Mapping[str, Any]) -> str:
    notes = ["stand-in"] if unit["stand_in"] else []
    notes += [] if unit["status"] == "finished" else [unit["status"].replace("_", " ")]
    if unit["judges"]:
        fails = f", not believed: {', '.join(unit['judge_fails'])}" if unit["judge_fails"] else ""
        notes.append(one_line(f"judged by {', '.join(unit['judges'])}{fails}", 200))
    return f"{unit['name']} [{', '.join(notes)}]" if notes else str(unit["name"])


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for i, heading in enumerate(headings):
        table.add_column(Text(heading), overflow="fold", justify="right" if i in right else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _rates(group: Mapping[str, Any]) -> Table:
    rows = []
    for unit in group["units"]:
        rate, cases = unit["rate"], unit["cases"]
        value = f"{ratio(rate)} {percent(rate['k'], rate['n'])} {interval(rate)}".rstrip() if rate["n"] else DASH
        lost = [f"{count} {reason}" for reason, count in unit["trials"]["without_value"].items()]
        lost += [f"{unit['trials']['not_run']} not run"] if unit["trials"]["not_run"] else []
        rows.append(
            [unit["unit"], value, f"{cases['with_value']}/{cases['planned']}", one_line("; ".join(lost), 300) or DASH]
        )
    return _table(["", "of its own trials", "cases", "trials without a value"], rows, right=(1, 2))


def _pairs(group: Mapping[str, Any], *, first: bool) -> Iterator[RenderableType]:
    if not group["pairs"]:
        yield Text(group["no_pair"], style="yellow")
        return
    rows = [_pair_row(pair) for pair in group["pairs"]]
    headings = ["pair", "first", "second", "diff.", "95%\u00a0interval", "p", "adj.\u00a0p", "cases", "smallest"]
    yield Text("")
    yield Text("Pairs: second minus first, on the cases observed in both", style="bold")
    yield _table(headings, rows, right=range(1, len(headings)))
    if first:
        yield Text(LEGEND, style="dim")
    for pair in group["pairs"]:
        verdict, cause = pair["says"]
        yield Text("")
        yield Text(f"{pair_name(pair)} {verdict}", style="green" if pair["established"] else "bold")
        yield Text(pair["paired"], style="dim")
        yield Text(cause, style="yellow" if cause.startswith("warning") else "dim")
        if pair["variables"]:
            yield _variables(pair)


def _pair_row(pair: Mapping[str, Any]) -> list[str]:
    found = pair["difference"]
    name = pair_name(pair).replace(" ", "\u00a0")
    if found is None:
        return [name, *[DASH] * 6, "0", DASH]
    return [
        name,
        f"{100 * found['first']:.1f}%",
        f"{100 * found['second']:.1f}%",
        points(found["difference"]),
        f"[{points(found['low'])},\u00a0{points(found['high'])}]",
        p_text(found["p"]),
        p_text(pair["p_adjusted"]),
        f"{found['pairs']}" if found["families"] == found["pairs"] else f"{found['pairs']}\u00a0({found['families']})",
        DASH if found["smallest"] is None else points(found["smallest"], signed=False),
    ]


def _variables(pair: Mapping[str, Any]) -> Table:
    rows = []
    for each in pair["variables"]:
        note = f" (with {each['follows']})" if each["follows"] else " (circumstance)"
        name = each["name"] if each["kind"] == "variable" and not each["follows"] else each["name"] + note
        rows.append([one_line(name, 60), _value(each["first"]), _value(each["second"])])
    return _table(["differs", pair["first"], pair["second"]], rows)


def _value(text: str | None) -> str:
    if text is None:
        return DASH
    if len(text) == _HASH and set(text) <= set("0123456789abcdef"):
        return f"sha256 {text[:12]}"
    return one_line(text, 80)


def _together(group: Mapping[str, Any]) -> Iterator[RenderableType]:
    if group["omnibus"] is not None:
        yield Text("")
        yield Text(group["omnibus"]["says"])
    ranking = group["ranking"]
    if ranking is not None:
        rows = [
            [
                unit["unit"],
                f"{100 * unit['rate']:.1f}%",
                f"{unit['rank']:g}",
                f"{unit['low']:g}–{unit['high']:g}",
                f"{100 * unit['first']:.0f}%",
            ]
            for unit in ranking["units"]
        ]
        yield Text("")
        yield Text("Ranks by rate, 1 the highest, and what resampling makes of them", style="bold")
        yield _table(["", "rate", "rank", "95% of resamples", "first in"], rows, right=(1, 2, 3, 4))
        yield Text(ranking["says"], style="dim")


def _repeats(group: Mapping[str, Any]) -> Iterator[RenderableType]:
    shown = [each for each in group["repeats"] if each["k"] in _KS]
    if not shown:
        return
    yield Text("")
    yield Text("Repeats: pass@k, at least one of k passes; pass^k, all k pass", style="bold")
    rows = [
        [each["unit"], str(each["k"]), _mean(each["pass_at_k"]), _mean(each["pass_hat_k"]), str(each["cases"])]
        for each in shown
    ]
    yield _table(["", "k", "pass@k", "pass^k", "cases"], rows, right=(1, 2, 3, 4))


def _mean(mean: Mapping[str, Any]) -> str:
    text = f"{100 * mean['value']:.1f}%"
    return text if mean["low"] is None else f"{text} [{100 * mean['low']:.0f}–{100 * mean['high']:.0f}]"


def _gate(coverage: Mapping[str, Any]) -> Iterator[RenderableType]:
    if coverage["enough"] is False:
        yield Text("")
        yield Text(
            f"Coverage is too low to decide: {100 * coverage['lowest']:.1f}% of the planned cases of a pair have a"
            f" value for both; {100 * coverage['asked']:g}% are asked for",
            style="red",
        )
