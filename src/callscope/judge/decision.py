"""From what two or three calls of a judge said to a verdict on the question: the decision table. Pure.

`–` is cannot_assess or unreadable; the table is the same with the first two calls swapped, and with `equivalent` and
`different` swapped.

| call a     | call b     | call c             | verdict    | how           |
|------------|------------|--------------------|------------|---------------|
| equivalent | equivalent | not asked          | equivalent | agreed        |
| –          | –          | not asked          | undecided  | judge_failure |
| equivalent | different  | equivalent         | equivalent | third_call    |
| equivalent | different  | –                  | undecided  | judge_failure |
| equivalent | –          | equivalent         | equivalent | third_call    |
| equivalent | –          | different, –       | undecided  | judge_failure |
| any two that need a third    | not observed       | undecided  | not_observed  |
| a or b not observed          | not asked          | undecided  | not_observed  |

So a verdict always rests on two calls that said the same, one at least of them in either order.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from callscope.judge.answers import Said

__all__ = ["Decision", "decide", "is_flip", "needs_third"]

_DECIDING = ("equivalent", "different")


class Decision(NamedTuple):
    """The verdict on a question, how it came about, and the judge's words for it (or why there is none)."""

    verdict: Literal["equivalent", "different", "undecided"]
    how: Literal["agreed", "third_call", "judge_failure", "not_observed"]
    reason: str = ""


def needs_third(a: Said | None, b: Said | None) -> bool:
    """Whether a third call can decide what the first two did not. None is a call that was not observed."""
    return a is not None and b is not None and a.verdict != b.verdict and bool(_said(a, b))


def is_flip(a: Said | None, b: Said | None) -> bool | None:
    """Whether the two orders got different verdicts; None where one of them got none that can be read."""
    if a is None or b is None or "unreadable" in (a.verdict, b.verdict):
        return None
    return a.verdict != b.verdict


def decide(a: Said | None, b: Said | None, c: Said | None = None) -> Decision:
    """Decide a question. None is a call that was not made, or not observed; a third that is not needed is not read."""
    if a is None or b is None:
        return Decision("undecided", "not_observed", "not every call was answered")
    if a.verdict == b.verdict and a.verdict in _DECIDING:
        return Decision(a.verdict, "agreed", a.reason)  # type: ignore[arg-type]  # one of the two deciding verdicts
    if not needs_third(a, b):
        return Decision("undecided", "judge_failure", _why_not(a, b))
    if c is None:
        return Decision("undecided", "not_observed", "the third call was not answered")
    if c.verdict in _said(a, b):
        return Decision(c.verdict, "third_call", c.reason)  # type: ignore[arg-type]  # as above
    return Decision("undecided", "judge_failure", _why_not(a, b, c))


def _said(*calls: Said) -> set[str]:
    return {call.verdict for call in calls if call.verdict in _DECIDING}


def _why_not(*calls: Said) -> str:
    """What the calls said, for the evidence: verdicts, and why what cannot be read cannot be."""
    return "; ".join(f"{one.verdict} ({one.reason})" if one.verdict == "unreadable" else one.verdict for one in calls)
