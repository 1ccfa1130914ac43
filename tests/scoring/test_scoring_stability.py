"""Hashes of outcomes, words and verdicts, the most common of them, and the room's public face."""

from __future__ import annotations

import random

from scoring_kit import LOOKUP, broken, call, calls, judge, said

import callscope.scoring
from callscope.contract import ProviderError, Refusal, ToolCall, ToolCalls
from callscope.scoring import Stability, outcome_hash, stability, text_hash, verdict_hash


def test_the_modal_hash_with_its_counts() -> None:
    assert stability([]) == Stability(0, 0, None)
    assert stability(["b", "a", "b"]) == Stability(2, 3, "b")


def test_of_equally_common_hashes_the_smallest_stands_in_any_order() -> None:
    hashes = ["c", "a", "b", "a", "b"]
    for seed in range(5):
        random.Random(seed).shuffle(hashes)
        assert stability(hashes) == Stability(2, 5, "a")


def test_what_the_outcome_hash_tells_apart() -> None:
    one, two = call("f", a=1), call("f", a=2)
    distinct = [
        calls(one),
        calls(two),
        calls(one, two),
        calls(two, one),
        calls(call("g", a=1)),
        calls(call("f", a=1.0)),
        calls(call("f", a="1")),
        calls(broken("f", "{")),
        calls(broken("f", "{{")),
        calls(ToolCall(None, "f")),
        said("x"),
        Refusal(None),
        ProviderError("timeout", "a", "b"),
        ProviderError("rate_limited", "a", "b"),
    ]
    assert len({outcome_hash(outcome) for outcome in distinct}) == len(distinct)


def test_what_the_outcome_hash_leaves_out() -> None:
    assert outcome_hash(said("x", "truncated")) == outcome_hash(said("y"))
    assert outcome_hash(Refusal("no")) == outcome_hash(Refusal(None))
    assert outcome_hash(ToolCalls((ToolCall("id", "f", {}),), ())) == outcome_hash(calls(call("f"), text="words"))
    assert outcome_hash(ProviderError("timeout", "a", "b")) == outcome_hash(ProviderError("timeout", "c", "d"))


def test_the_text_hash_is_of_the_words_alone() -> None:
    assert text_hash(said("x")) == text_hash(calls(call("f"), text="x")) == text_hash(Refusal("x"))
    assert (
        text_hash(said(""))
        == text_hash(Refusal(None))
        == text_hash(calls())
        == text_hash(ProviderError("timeout", "a", "b"))
    )
    assert text_hash(said("\u00e9")) != text_hash(said("e\u0301"))
    assert len(text_hash(said("\ud800"))) == 64


def test_the_verdict_hash_is_of_what_was_judged() -> None:
    right = judge(LOOKUP, calls(call("lookup_order", order_id="ORD-104821")))
    worded = judge(
        LOOKUP, calls(call("lookup_order", order_id="ORD-104821"), text="One moment.", flags=("missing_id",))
    )
    wrong = judge(LOOKUP, calls(call("lookup_order", order_id="ORD-104822")))
    assert verdict_hash(right) == verdict_hash(worded)
    assert verdict_hash(right) != verdict_hash(wrong)


def test_the_public_face() -> None:
    assert callscope.scoring.__all__ == [
        "ClusterEffect",
        "Equality",
        "Problem",
        "Rate",
        "Stability",
        "cluster_effect",
        "clustered",
        "compare_values",
        "evaluate",
        "evaluate_turns",
        "outcome_hash",
        "percentile",
        "rate",
        "stability",
        "text_hash",
        "validate_arguments",
        "verdict_hash",
        "wilson",
    ]
    for name in callscope.scoring.__all__:
        assert getattr(callscope.scoring, name).__doc__
