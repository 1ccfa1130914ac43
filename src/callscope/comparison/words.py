"""What a comparison says, in words: what is established, what is not, and what could have been seen.

Two are never called the same: a difference that was not found is a difference smaller than what could have been found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callscope.comparison.corrections import CORRECTIONS
from callscope.comparison.metrics import Metric
from callscope.comparison.power import ALPHA
from callscope.reports.columns import plural

__all__ = [
    "attribution_words",
    "correction_words",
    "left_out_words",
    "no_pair_words",
    "omnibus_words",
    "p_text",
    "pair_name",
    "points",
    "ranking_words",
    "verdict_words",
]


def pair_name(pair: Mapping[str, Any]) -> str:
    """How a pair is written wherever it stands: `B - A`, the second minus the first, as its difference is counted."""
    return f"{pair['second']} - {pair['first']}"


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
        have = "has" if found["pairs"] == 1 else "have"
        return (
            f"not decided: {plural(found['pairs'], 'case')} of {pair['planned']} planned"
            f" ({100 * pair['coverage']:.0f}%) {have} a value for both {first} and {second};"
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


def attribution_words(pair: Mapping[str, Any]) -> str:
    """What the manifests say of the cause of a difference: a warning where more than one variable differs, and where
    answers were recorded elsewhere, by a run whose prompt, sampling and adapter no manifest knows."""
    changed: Sequence[str] = pair["changed"]
    who = f"{pair['first']} and {pair['second']}"
    recorded: Sequence[str] = pair["recorded_elsewhere"]
    if recorded:
        known = f"; known to differ: {', '.join(changed)}" if changed else ""
        return (
            f"warning: the answers of {' and '.join(recorded)} were recorded elsewhere and imported. What was asked,"
            f" and how (prompt, sampling, adapter), is not recorded, so the cause of a difference is not established"
            f"{known}"
        )
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
    who = pair_name(pair)
    if not pair["left_out"]:
        return f"{who}: all {plural(paired, 'case')} paired"
    parts = [f"{each['cases']} {each['reason']} ({each['where']})" for each in pair["left_out"]]
    return f"{who}: {paired} of {plural(total, 'case')} paired; left out: {', '.join(parts)}"


def omnibus_words(omnibus: Mapping[str, Any], metric: Metric, *, decidable: bool) -> str:
    """Cochran's Q in a sentence, by its p value adjusted over the tests of its kind; `decidable`: enough of the planned
    cases have a value for all."""
    who, cases = ", ".join(omnibus["units"]), plural(omnibus["cases"], "case")
    if omnibus["p"] is None:
        one = "case tells" if omnibus["telling"] == 1 else "cases tell"
        if omnibus["families"] < omnibus["cases"]:
            one = "family of cases tells" if omnibus["telling"] == 1 else "families of cases tell"
        return (
            f"not decided: any difference among {who}; Cochran's Q is read off the chi-square distribution, which"
            f" describes it from {omnibus['telling_needed']} upwards that tell {len(omnibus['units'])} units apart, and"
            f" {omnibus['telling']} {one} them apart here ({cases})"
        )
    said = f"Cochran's Q = {omnibus['q']:.2f}, {omnibus['freedom']} degrees of freedom, {_p('p', omnibus['p'])}"
    if omnibus["tests"] > 1:
        said += f", {_p('adjusted p', omnibus['adjusted_p'])} as one of {omnibus['tests']} such tests"
    facts = f"{said}, {cases}"
    if not decidable:
        return f"not decided: any difference among {who}; too few cases have a value for all ({facts})"
    if omnibus["adjusted_p"] <= ALPHA:
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
    tests, together, by = plural(family["tests"], "test"), family["omnibus_tests"], CORRECTIONS[family["correction"]]
    if family["tests"] < 2:
        said = f"Family: {tests}; nothing to correct"
    else:
        said = f"Family: {tests} ({family['declared']}), p values adjusted by {by}"
    if together < 2:
        return said
    return (
        f"{said}. Tests of all units together (Cochran's Q): a family of their own, {together} tests, adjusted by {by}"
    )


def no_pair_words(group: Mapping[str, Any], family: Mapping[str, Any], baseline: str) -> str:
    """Why no pair is shown of a suite and experiment that several units have."""
    here = ", ".join(unit["unit"] for unit in group["units"])
    if family["declared"] == "baseline":
        why = f"the baseline {baseline} has no trials in this suite and experiment"
    else:
        why = (
            f"of none of the declared pairs ({family['declared']}) have both units trials in this suite and experiment"
        )
    return f"No pair is compared here: {why}; {here} have. --family all, or pairs of letters, compares those"
