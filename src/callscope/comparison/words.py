"""What a comparison says, in words: what is established, what is not, and what could have been seen.

Two are never called the same: a difference that was not found is a difference smaller than what could have been found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callscope.comparison.corrections import CORRECTIONS
from callscope.comparison.metrics import Metric
from callscope.reports.columns import plural

__all__ = ["attribution_words", "left_out_words", "omnibus_words", "p_text", "points", "ranking_words", "verdict_words"]


def points(value: float, *, signed: bool = True) -> str:
    """A difference of rates as percentage points: `+3.2`, `-0.4`, `0.0`."""
    text = f"{100 * value:.1f}"
    if float(text) == 0:
        return "0.0"
    return f"+{text}" if signed and value > 0 else text


def p_text(p: float) -> str:
    """A p value as people read it: `0.031`, `<0.001`, `1`. Rounded so that it stays on its side of 0.05."""
    if p < 0.001:
        return "<0.001"
    text = f"{p:.3f}"
    if (float(text) <= 0.05) != (p <= 0.05):
        text = f"{p:.6f}"
    return "1" if p > 0.9995 else text


def _p(name: str, p: float) -> str:
    text = p_text(p)
    return f"{name} < {text[1:]}" if text.startswith("<") else f"{name} = {text}"


def verdict_words(pair: Mapping[str, Any], metric: Metric, family: Mapping[str, Any]) -> str:
    """The one sentence on a pair: established, not established, not decided, or no case to compare."""
    first, second, found = pair["first"], pair["second"], pair["difference"]
    if found is None:
        return f"not comparable: no case has a value for both {first} and {second}"
    if not pair["decidable"]:
        return (
            f"not decided: {plural(found['pairs'], 'case')} of {pair['planned']} planned"
            f" ({100 * pair['coverage']:.0f}%) have a value for both {first} and {second};"
            f" {100 * family['min_coverage']:g}% are asked for"
        )
    on = f"on {found['pairs']} of {pair['planned']} planned cases, " if found["pairs"] < pair["planned"] else ""
    name = "p" if family["tests"] == 1 else "adjusted p"
    what = (
        f"{on}{_p(name, pair['p_adjusted'])}, difference {points(found['difference'])} points,"
        f" 95% interval {points(found['low'])} to {points(found['high'])}"
    )
    if pair["established"]:
        more, less = (second, first) if found["difference"] > 0 else (first, second)
        return f"established: {more} {metric.does} more often than {less} ({what})"
    return f"not established: which of {first} and {second} {metric.does} more often ({what}); {_could(found, family)}"


def _could(found: Mapping[str, Any], family: Mapping[str, Any]) -> str:
    n = plural(found["pairs"], "case")
    if found["families"] < found["pairs"]:
        n += f" ({found['families']} {'family' if found['families'] == 1 else 'families'})"
    if found["smallest"] is None:
        return f"{n} {'is' if found['pairs'] == 1 else 'are'} too few to see any difference reliably"
    text = f"on {n} a difference of {points(found['smallest'], signed=False)} points could have been seen"
    if family["tests"] > 1:
        inside = found["smallest_in_family"]
        inside_text = "none" if inside is None else points(inside, signed=False)
        text += f" ({inside_text} as one of {family['tests']} tests)"
    needed = found["needed"]["paired"]
    if needed is not None and needed > found["pairs"]:
        text += f"; a difference as large as the one observed needs about {needed} cases"
    return text


def attribution_words(pair: Mapping[str, Any]) -> str | None:
    """What the manifests say of the cause of a difference: a warning where more than one variable differs."""
    changed: Sequence[str] = pair["changed"]
    who = f"{pair['first']} and {pair['second']}"
    if not changed:
        return f"{who} differ in no recorded variable: a difference between them is chance, or the provider's doing"
    if len(changed) == 1:
        return f"{who} differ in one variable: {changed[0]}"
    return (
        f"warning: {who} differ in {len(changed)} variables ({', '.join(changed)});"
        " which of them makes a difference is not established"
    )


def left_out_words(pair: Mapping[str, Any]) -> str:
    """How many cases are paired, and why the others are not."""
    paired = 0 if pair["difference"] is None else pair["difference"]["pairs"]
    total = paired + sum(each["cases"] for each in pair["left_out"])
    who = f"{pair['first']}–{pair['second']}"
    if not pair["left_out"]:
        return f"{who}: all {plural(paired, 'case')} paired"
    parts = [f"{each['cases']} {each['reason']} ({each['where']})" for each in pair["left_out"]]
    return f"{who}: {paired} of {plural(total, 'case')} paired; left out: {', '.join(parts)}"


def omnibus_words(omnibus: Mapping[str, Any], metric: Metric, *, decidable: bool) -> str:
    """Cochran's Q in a sentence; `decidable`: enough of the planned cases have a value for all."""
    said = f"Cochran's Q = {omnibus['q']:.2f}, {omnibus['freedom']} degrees of freedom, {_p('p', omnibus['p'])}"
    facts, who = f"{said}, {plural(omnibus['cases'], 'case')}", ", ".join(omnibus["units"])
    if not decidable:
        return f"not decided: any difference among {who}; too few cases have a value for all ({facts})"
    if omnibus["p"] <= 0.05:
        return f"established: among {who}, at least one {metric.does} more often than another ({facts})"
    return f"not established: any difference among {who} ({facts})"


def ranking_words(ranking: Mapping[str, Any]) -> str:
    """How far the order holds."""
    share = 100 * ranking["same_order"]
    return (
        f"on {plural(ranking['cases'], 'case')} all were observed on; in {share:.0f}% of {ranking['resamples']}"
        " resamples of the case families the whole order is this one"
    )


def correction_words(family: Mapping[str, Any]) -> str:
    """The declared family and its correction."""
    tests = plural(family["tests"], "test")
    if family["tests"] < 2:
        return f"Family: {tests}; nothing to correct"
    return f"Family: {tests} ({family['declared']}), p values adjusted by {CORRECTIONS[family['correction']]}"
