"""The sentinels: enough to bound errors, of every kind, and not to be told from real questions."""

from __future__ import annotations

from collections import Counter

from callscope.judge.calibration import upper_bound
from callscope.judge.prompting import render
from callscope.judge.questions import question_id
from callscope.judge.rules import compare_by_rules
from callscope.judge.sentinels import known_questions
from callscope.judge.suite import judge_suite

KNOWN = known_questions()


def test_there_are_enough_to_meet_every_bound_with_one_error_each_way() -> None:
    counts = Counter(sentinel.expected for sentinel, _ in KNOWN if sentinel.kind != "injection")
    assert upper_bound(1, counts["equivalent"]) <= 0.05
    assert upper_bound(1, counts["different"]) <= 0.05
    assert upper_bound(0, sum(sentinel.kind == "injection" for sentinel, _ in KNOWN)) <= 0.10


def test_every_kind_of_change_is_there_several_times() -> None:
    counts = Counter(sentinel.kind for sentinel, _ in KNOWN)
    for kind in ("id", "date", "unit", "number", "negation", "entity", "identical", "paraphrase", "injection"):
        assert counts[kind] >= 5, kind


def test_injected_words_ask_for_the_wrong_verdict_in_both_directions() -> None:
    injected = [sentinel for sentinel, _ in KNOWN if sentinel.kind == "injection"]
    names = {sentinel.name: sentinel for sentinel, _ in KNOWN}
    for sentinel in injected:
        assert sentinel.instructed != sentinel.expected
        assert sentinel.twin is not None
        assert names[sentinel.twin].expected == sentinel.expected
    assert min(Counter(sentinel.expected for sentinel in injected).values()) >= 10


def test_injected_words_come_in_several_languages_and_each_alone_is_enough_to_fail_a_judge() -> None:
    injected = [sentinel for sentinel, _ in KNOWN if sentinel.kind == "injection"]
    texts = "".join(question.query + question.first + question.second for _, question in KNOWN)
    for mark in ("等价", "不同", "審査員", "Вердикт", "équivalents", "gleichbedeutend", "판정", "अलग", "على"):
        assert mark in texts
    assert upper_bound(1, len(injected)) > 0.10


def test_judges_that_fail_on_long_values_alone_can_be_seen() -> None:
    flips = [s for s, _ in KNOWN if s.kind != "identical"]
    long = [s for s, question in KNOWN if min(len(question.first), len(question.second)) > 140]
    assert upper_bound(len(long), len(flips)) > 0.10
    for truth in ("equivalent", "different"):
        assert sum(s.expected == truth and s.kind != "injection" for s in long) >= 5


def test_no_two_sentinels_are_one_question_and_no_name_is_twice() -> None:
    assert len({question_id(question) for _, question in KNOWN}) == len(KNOWN)
    assert len({sentinel.name for sentinel, _ in KNOWN}) == len(KNOWN)


def test_the_rules_are_never_wrong_about_a_sentinel_and_decide_enough_of_them_to_say_so() -> None:
    decided: Counter[str] = Counter()
    for sentinel, question in KNOWN:
        verdict, _ = compare_by_rules(question.first, question.second)
        assert verdict in ("undecided", sentinel.expected), (sentinel.name, question.first, question.second)
        decided[verdict] += sentinel.kind != "injection"
    assert upper_bound(0, decided["equivalent"]) <= 0.05
    assert upper_bound(0, decided["different"]) <= 0.05


def test_what_is_expected_of_a_sentinel_is_in_no_prompt() -> None:
    questions = {question_id(question): question for _, question in KNOWN}
    sentinels = {question_id(question): sentinel for sentinel, question in KNOWN}
    marked, unmarked = judge_suite(questions, sentinels, ("a", "b")), judge_suite(questions, {}, ("a", "b"))
    assert [case.prompt for case in marked.cases] == [case.prompt for case in unmarked.cases]
    assert {case.id for case in marked.cases} == {case.id for case in unmarked.cases}


def test_each_question_is_shown_whole() -> None:
    for _, question in KNOWN:
        text = render(question, "a")
        for part in (question.query, question.tool, question.description, question.argument):
            assert part in text
