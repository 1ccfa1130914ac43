"""Counts of a judge beside people and beside itself: confusion matrix, coverage, swapped order, repeats.

Pure counting; correcting a rate with what was counted is `calibration`'s.

| the judge's class | the human class | counted in |
| --- | --- | --- |
| a verdict | settled | `counts` |
| an abstention (judge_failure) | settled | `abstained`, and against coverage |
| None (the trial was not observed) | settled | `unjudged`, and against coverage |
| any | None (reviewers disagree, nobody adjudicated) | `unsettled` |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from callscope.audit.stratified import Estimate, proportion
from callscope.errors import InputError
from callscope.scoring.statistics import CONFIDENCE

__all__ = ["ABSTENTIONS", "Change", "Confusion", "Stability", "confusion", "repeated", "swapped"]

ABSTENTIONS = ("judge_failure",)


class Confusion(Struct, frozen=True):
    """Judge × human: `counts[judge's class][human class]`; abstentions apart, in the same form.

    `silent` are the classes of the judge that were read as abstentions, whether or not any was audited.
    `coverage` is the share of the items with a settled human class on which the judge gave a verdict; `agreement` the
    share of those verdicts that are the human class.
    """

    items: int
    counts: dict[str, dict[str, int]]
    abstained: dict[str, dict[str, int]]
    silent: tuple[str, ...]
    unjudged: int
    unsettled: int
    coverage: Estimate
    agreement: Estimate


class Change(Struct, frozen=True):
    """`n` items went from one verdict to another; None is an abstention."""

    first: str | None
    second: str | None
    n: int


class Stability(Struct, frozen=True):
    """How often the judge's verdict was not the same when nothing that matters had changed.

    `changed` is k of the n items seen at least twice; `changes` says what became what, most frequent first;
    `single` counts the items seen only once, which say nothing.
    """

    changed: Estimate
    changes: tuple[Change, ...]
    single: int


def confusion(
    judged: Mapping[str, str | None],
    human: Mapping[str, str | None],
    *,
    abstentions: Collection[str] = ABSTENTIONS,
    confidence: float = CONFIDENCE,
) -> Confusion:
    """The matrix over the items of `human` (the audit); items that were only judged are not in it.

    Raises InputError for an audited item of which `judged` says nothing at all: the audit belongs to another run then.
    """
    counts: dict[str, Counter[str]] = {}
    abstained: dict[str, Counter[str]] = {}
    unjudged = unsettled = 0
    for item, truth in human.items():
        if item not in judged:
            hint = "Audit and verdicts have to be of the same run."
            raise InputError("the judge never saw this item", field="judged", found=item, hint=hint)
        verdict = judged[item]
        if truth is None:
            unsettled += 1
        elif verdict is None:
            unjudged += 1
        else:
            (abstained if verdict in abstentions else counts).setdefault(verdict, Counter())[truth] += 1
    given = sum(row.total() for row in counts.values())
    abstentions_seen = sum(row.total() for row in abstained.values())
    same = sum(row[verdict] for verdict, row in counts.items())
    return Confusion(
        items=len(human),
        counts=_sorted(counts),
        abstained=_sorted(abstained),
        silent=tuple(sorted(abstentions)),
        unjudged=unjudged,
        unsettled=unsettled,
        coverage=proportion(
            given,
            given + abstentions_seen + unjudged,
            raters=1,
            nothing="no item has a settled class",
            confidence=confidence,
        ),
        agreement=proportion(
            same, given, raters=2, nothing="no item has both a verdict and a settled class", confidence=confidence
        ),
    )


def swapped(pairs: Iterable[tuple[str | None, str | None]], confidence: float = CONFIDENCE) -> Stability:
    """The swap flip rate: the judge's verdicts on the same values shown in the one order and in the other.

    None is an abstention. A verdict in one order and none in the other is a flip; none in both is not. A judge that
    answers by position flips in one direction only, which `changes` shows.
    """
    return _stability([list(pair) for pair in pairs], confidence)


def repeated(verdicts: Mapping[str, Sequence[str | None]], confidence: float = CONFIDENCE) -> Stability:
    """Test and retest: item -> the judge's verdicts on repeats of the same question (None is an abstention).

    An item is changed where not all its verdicts are one; `changes` counts each step from a repeat to the next.
    """
    return _stability(list(verdicts.values()), confidence)


def _stability(sequences: Sequence[Sequence[str | None]], confidence: float) -> Stability:
    seen = [verdicts for verdicts in sequences if len(verdicts) > 1]
    steps = Counter((first, second) for verdicts in seen for first, second in pairwise(verdicts) if first != second)
    changed = sum(len(set(verdicts)) > 1 for verdicts in seen)
    ranked = sorted(steps.items(), key=lambda step: (-step[1], step[0][0] or "", step[0][1] or ""))
    return Stability(
        changed=proportion(changed, len(seen), raters=1, nothing="no item was judged twice", confidence=confidence),
        changes=tuple(Change(first, second, n) for (first, second), n in ranked),
        single=len(sequences) - len(seen),
    )


def _sorted(counts: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {verdict: dict(sorted(counts[verdict].items())) for verdict in sorted(counts)}
