"""Which arguments a judge is asked about: what the rules left open, where it can change anything."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callscope.contract import ArgumentRules, Exchange, Record, Round, Timing, TrialKey
from callscope.judge.docket import Docket, Scope, make_docket
from callscope.judge.filtering import rules_decide
from tests.judge.kit import GOLD, OTHER, SAME, cards, case
from tests.stand_in import completion

FREE: dict[str, Any] = {"type": "string", "description": "What it says."}


@pytest.mark.parametrize(
    ("part", "wanted", "actual", "decided"),
    [
        (FREE, "a warm welcome", "a friendly greeting", None),
        (FREE | {"default": "hi"}, "red", "crimson", None),
        ({"type": ["string", "null"]}, "red", "crimson", None),
        (FREE, "5 km", "5000 m", None),
        (FREE, "New York", "NYC area", None),
        (FREE | {"enum": ["red", "crimson"]}, "red", "crimson", "schema"),
        (FREE | {"pattern": "^r"}, "red", "rose", "schema"),
        (FREE | {"format": "email"}, "red", "rose", "schema"),
        ({"anyOf": [FREE]}, "red", "rose", "schema"),
        ({"type": ["string", "integer"]}, "red", "rose", "schema"),
        ({}, "red", "rose", "schema"),
        (True, "red", "rose", "schema"),
        (FREE, "red", "", "empty"),
        (FREE, "red", "  ", "empty"),
        (FREE, "12", "thirteen", "number"),
        (FREE, "red", "1,000", "number"),
        (FREE, "$5", "five dollars", "number"),
        (FREE, "5%", "a little", "number"),
        (FREE, "2026-03-01", "the first of March", "date"),
        (FREE, "3/1/26", "next week", "date"),
        (FREE, "9:30 pm", "evening", "date"),
        (FREE, "Monday", "start of the week", "date"),
        (FREE, "ORD-204417", "the order", "id"),
        (FREE, "ana@example.test", "Ana", "id"),
        (FREE, "/tmp/a", "the file", "id"),
        (FREE, "USA", "America", "id"),
        (FREE, "snake_case", "snake case", "id"),
    ],
)
def test_strings_are_open_where_the_schema_and_their_form_leave_them_free(
    part: Any, wanted: str, actual: str, decided: str | None
) -> None:
    assert rules_decide("text", part, ArgumentRules(), (wanted,), actual) == decided
    assert rules_decide("text", part, ArgumentRules(), (actual, "other words"), wanted) == decided


def test_arguments_declared_temporal_are_the_rules() -> None:
    assert rules_decide("text", FREE, ArgumentRules(temporal=("text",)), ("red",), "crimson") == "declared"
    assert rules_decide("other", FREE, ArgumentRules(temporal=("text",)), ("red",), "crimson") is None


def record(case_id: str, calls: list[tuple[str, Any]], repeat: int = 0) -> Record:
    body = completion(None if calls else "Which?", [(name, json.dumps(arguments)) for name, arguments in calls])
    exchange = Exchange(
        attempt=1,
        method="POST",
        started_at="2026-01-01T00:00:00Z",
        url="http://127.0.0.1/v1/chat/completions",
        request_headers=(),
        request=b"{}",
        status=200,
        response_headers=(),
        response=body,
        timing=Timing(total=1.0),
    )
    key = TrialKey("cards", "auto", "m", case_id, repeat)
    return Record(key, "openai-chat", False, "2026-01-01T00:00:00Z", (Round((exchange,)),))


def docket(
    texts: list[Any], cases: list[dict[str, Any]] | None = None, scope: Scope | None = None, **toml: Any
) -> Docket:
    """The docket of a run in which the calls of the first card's trials had these texts (or arguments)."""
    suite = cards(cases or [case(101)], **toml)
    one = suite.cases[0]
    calls = [said if isinstance(said, dict) else {"text": said, "card_id": "C-101"} for said in texts]
    records = [(record(one.id, [("send_card", said)], number), one, suite) for number, said in enumerate(calls)]
    return make_docket(records, scope or Scope())


def test_a_free_string_that_differs_is_asked_about() -> None:
    found = docket([SAME])
    (question,) = found.questions.values()
    assert {question.first, question.second} == {GOLD, SAME}
    assert question.schema == {"type": "string", "description": "What the card says."}
    assert (question.query, question.tool, question.argument) == (case(101)["prompt"], "send_card", "text")
    (asked,) = found.asked
    assert (asked.required, asked.call, asked.argument) == (0, 0, "text")


def test_a_string_that_is_right_is_not_asked_about() -> None:
    assert docket([GOLD]) == ({}, (), {}, 0, 0, 1, 0, ())


def test_trials_in_which_the_same_was_given_share_their_question() -> None:
    found = docket([SAME, OTHER, SAME])
    assert len(found.questions) == 2
    assert len(found.asked) == 3


def test_a_trial_that_no_ruling_changes_is_left_out_unless_all_are_wanted() -> None:
    wrong_id = {"text": SAME, "card_id": "C-999"}
    bad_id = {"text": SAME, "card_id": "nine"}
    extra = {"text": SAME, "card_id": "C-101", "colour": "red"}
    absent = {"text": SAME}
    for arguments in (wrong_id, bad_id, extra, absent):
        assert docket([arguments]).settled == 1, arguments
        assert len(docket([arguments], scope=Scope(all=True)).questions) == 1, arguments


def test_a_trial_in_which_another_call_is_missing_is_left_out() -> None:
    two = {**case(101), "expected": {"kind": "tools", "calls": [case(101)["expected"], case(102)["expected"]]}}
    for call in two["expected"]["calls"]:
        call.pop("kind", None)
    assert docket([SAME], [two]).settled == 1


def test_an_extra_call_leaves_the_attribution_open() -> None:
    suite = cards([case(101)])
    calls = [("send_card", {"text": SAME, "card_id": "C-101"}), ("send_card", {"text": OTHER, "card_id": "C-102"})]
    found = make_docket([(record("card-101", calls), suite.cases[0], suite)], Scope())
    assert len(found.questions) == 1, "it fails either way, but is attributed to one thing or the other"


def test_each_of_several_right_values_is_a_question_of_its_own() -> None:
    rules = {"required_equals": {"card_id": "C-101"}, "one_of": {"text": ["hello", "good day", 5]}}
    one = {**case(101), "expected": {"kind": "tool", "name": "send_card", "arguments": rules}}
    found = docket(["howdy"], [one])
    assert sorted(question.second for question in found.questions.values()) == ["howdy", "howdy"]
    assert sorted(question.first for question in found.questions.values()) == ["good day", "hello"]
    assert found.asked[0].questions == tuple(found.questions)


def test_only_declared_free_text_is_open_in_a_benchmark_import() -> None:
    assert docket([SAME], benchmark="bfcl").questions == {}
    assert len(docket([SAME], [case(101, free_text=["text"])], benchmark="bfcl").questions) == 1
    assert len(docket([SAME], benchmark="bfcl", scope=Scope(open="text")).questions) == 1


def test_declared_free_text_is_open_whatever_the_value_is_like() -> None:
    assert docket(["2026-03-01"]).questions == {}
    assert len(docket(["2026-03-01"], [case(101, free_text=["text"])]).questions) == 1


def test_a_text_that_cannot_be_sent_is_not_asked_about() -> None:
    assert docket(["half a \ud800 pair"]).questions == {}


def test_excluded_cases_are_not_asked_about() -> None:
    assert docket([SAME], [{**case(101), "excluded": "no call can meet it"}]).questions == {}


def test_a_limit_bounds_the_questions_and_says_what_it_left() -> None:
    whole = docket([SAME, OTHER, SAME])
    found = docket([SAME, OTHER, SAME], scope=Scope(limit=1))
    (name,) = found.questions
    assert name == min(whole.questions), "drawn by the hash, not the first of the plan"
    assert found.asked == tuple(one for one in whole.asked if one.questions == (name,))
    assert found.beyond == 3 - len(found.asked)
    assert docket([SAME, OTHER, SAME], scope=Scope(limit=2)) == whole


def test_what_was_said_before_is_part_of_the_query() -> None:
    talk = {**case(101), "messages": [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "hello"}]}
    (question,) = docket([SAME], [talk]).questions.values()
    assert question.query == f"user: hi\nassistant: hello\nuser: {case(101)['prompt']}"
