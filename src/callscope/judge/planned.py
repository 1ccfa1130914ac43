"""What a judging will ask, in calls and, roughly, in tokens, before anything is asked. Pure; `judging` says it.

No tokeniser is asked: models cut text differently, and an estimate is no bill. Four bytes of UTF-8 are taken for a
token, as English and JSON have them, and an answer (one verdict with a sentence and a quote) for `ANSWER_TOKENS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from callscope.contract import Suite, Usage
from callscope.derive import cost_of
from callscope.judge.prompting import prompt_file

__all__ = ["ANSWER_TOKENS", "BYTES_A_TOKEN", "Plan", "Tokens", "cost_about", "tokens_about"]

BYTES_A_TOKEN = 4
ANSWER_TOKENS = 120
"""What one answer is taken for; a model that thinks aloud writes many more."""


class Tokens(NamedTuple):
    """About how many tokens are sent, and come back."""

    input: int
    output: int


class Plan(NamedTuple):
    """What is about to be asked: open arguments, the questions they make, sentinels, and calls not yet made.

    `third`: the calls are third ones. `tokens` and `cost` are estimates for the calls, made for a plan that asks
    nothing; the cost is in the currency of the prices, None where the model's entry has none.
    """

    arguments: int
    questions: int
    sentinels: int
    calls: int
    third: bool = False
    tokens: Tokens | None = None
    cost: float | None = None


def tokens_about(suite: Suite) -> Tokens:
    """The tokens of a suite of `judge_suite`, asked once."""
    each = len(prompt_file("system.txt")) + len(prompt_file("tools.core.json"))
    sent = sum(each + len(case.prompt.encode("utf-8", "replace")) for case in suite.cases)
    return Tokens(-(-sent // BYTES_A_TOKEN), ANSWER_TOKENS * len(suite.cases))


def cost_about(tokens: Tokens, prices: Mapping[str, float]) -> float | None:
    """What so many tokens cost at prices per million; None without a price for either direction."""
    return cost_of(Usage(input_tokens=tokens.input, output_tokens=tokens.output), prices)
