"""What a judge's calls decided: its sentinels counted, every question decided, and the rulings on a run. Pure.

| the questions that an open argument asks              | ruling     |
|-------------------------------------------------------|------------|
| the judge fails its sentinels                         | undecided  |
| one of them is decided `equivalent`                   | equivalent |
| all of them are decided `different`                   | different  |
| otherwise                                             | undecided  |

Sentinels may not be like a run's own questions: a judge can be steady on short values and biased on long ones. Flips
need no known answer to be seen, so those of the own questions are counted too. Where they are more than the limit for
sentinels, with 95 % confidence, the third calls are chance, and none of them decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from callscope.contract import Outcome, Ruling, TrialKey
from callscope.judge.answers import Said, read_answer
from callscope.judge.calibration import FLIPS, Calibration, Watched, calibrate, lower_bound
from callscope.judge.decision import Decision, decide, is_flip, needs_third
from callscope.judge.docket import Docket
from callscope.judge.questions import THIRD_ORDER, Order, Question, first_orders, question_id
from callscope.judge.rules import answer_by_rules
from callscope.judge.sentinels import Sentinel, known_questions
from callscope.judge.suite import Put

__all__ = [
    "Answers",
    "Counts",
    "Judged",
    "answers_by_rules",
    "calibration_of",
    "judged",
    "pending_thirds",
    "read_answers",
]

Verdict = Literal["equivalent", "different", "undecided"]
_LONGEST_REASON = 300
"""Characters of a judge's sentence that are kept in a ruling."""


class Answers(NamedTuple):
    """What was said, by question id and order; which of the questions are sentinels; the questions themselves."""

    said: dict[str, dict[Order, Said]]
    sentinels: dict[str, Sentinel]
    questions: dict[str, Question]


class Counts(Struct, frozen=True):
    """How a judge run went, over the run's own questions (sentinels are counted in the calibration).

    `arguments` open arguments asked `questions`, by `calls` answered calls. Of the questions, `agreed` were decided by
    the first two calls, `third_call` by a third, `judge_failure` by none, and `not_observed` lack an answer. `flips` is
    how many changed with the order, `unreadable` how many answers could not be read. `order_decides`: so many changed
    that third calls are chance; what they said counts as `judge_failure`.
    """

    arguments: int
    questions: int
    calls: int
    agreed: int
    third_call: int
    judge_failure: int
    not_observed: int
    flips: int
    unreadable: int
    order_decides: bool = False


class Judged(NamedTuple):
    """What a judge makes of a run."""

    calibration: Calibration
    counts: Counts
    rulings: dict[TrialKey, list[Ruling]]


def read_answers(calls: Iterable[tuple[Put, Outcome | None]]) -> Answers:
    """The answers of a judge's calls; the outcome is None where none was observed."""
    answers = Answers({}, {}, {})
    for put, outcome in calls:
        name = question_id(put.question)
        answers.questions[name] = put.question
        if put.sentinel is not None:
            answers.sentinels[name] = put.sentinel
        if outcome is not None:
            answers.said.setdefault(name, {})[put.order] = read_answer(outcome, put.question)
    return answers


def answers_by_rules(docket: Docket) -> Answers:
    """The rule judge's answers, to the sentinels and the docket's questions alike."""
    known = {question_id(question): (sentinel, question) for sentinel, question in known_questions()}
    questions = {**docket.questions, **{name: question for name, (_, question) in known.items()}}
    said = {name: dict.fromkeys(first_orders(one), answer_by_rules(one)) for name, one in questions.items()}
    return Answers(said, {name: sentinel for name, (sentinel, _) in known.items()}, questions)


def pending_thirds(answers: Answers) -> list[str]:
    """The ids of the questions that need a third call and have none."""
    return [
        name
        for name, said in answers.said.items()
        if THIRD_ORDER not in said and needs_third(*_firsts(answers.questions[name], said))
    ]


def judged(docket: Docket, answers: Answers, judge: str) -> Judged:
    """Decide a docket by a judge's answers. `judge` names who ruled in the evidence of the verdicts."""
    decisions = {name: _decide(question, answers.said.get(name, {})) for name, question in docket.questions.items()}
    order_decides = _order_decides(docket, answers)
    if order_decides:
        decisions = {name: _without_third(one) for name, one in decisions.items()}
    calibration = calibration_of(answers)
    rulings: dict[TrialKey, list[Ruling]] = {}
    for asked in docket.asked:
        verdict, reason = _ruling([decisions[name] for name in asked.questions], calibration)
        ruling = Ruling(asked.required, asked.call, asked.argument, verdict, judge, _shortened(reason))
        rulings.setdefault(asked.key, []).append(ruling)
    return Judged(calibration, _counts(docket, answers, decisions, order_decides=order_decides), rulings)


def calibration_of(answers: Answers) -> Calibration:
    """What the sentinels among the answers say of the judge."""
    watched = []
    for name, sentinel in answers.sentinels.items():
        question, said = answers.questions[name], answers.said.get(name, {})
        calls = tuple(said.get(order) for order in (*first_orders(question), THIRD_ORDER))
        watched.append(Watched(sentinel, calls, _decide(question, said), is_flip(*_firsts(question, said))))
    return calibrate(watched)


def _order_decides(docket: Docket, answers: Answers) -> bool:
    """Whether the run's own questions show that the judge goes by the order."""
    seen = [is_flip(*_firsts(question, answers.said.get(name, {}))) for name, question in docket.questions.items()]
    flips = [one for one in seen if one is not None]
    return lower_bound(sum(flips), len(flips)) > FLIPS


def _without_third(decision: Decision) -> Decision:
    if decision.how != "third_call":
        return decision
    return Decision("undecided", "judge_failure", "the verdict changes with the order, on too many of these questions")


def _shortened(reason: str) -> str:
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"


def _decide(question: Question, said: Mapping[Order, Said]) -> Decision:
    first, second = _firsts(question, said)
    return decide(first, second, said.get(THIRD_ORDER))


def _firsts(question: Question, said: Mapping[Order, Said]) -> tuple[Said | None, Said | None]:
    """The answers in both orders; one answer is both where the orders show the same."""
    orders = first_orders(question)
    return said.get(orders[0]), said.get(orders[-1])


def _ruling(decided: Sequence[Decision], calibration: Calibration) -> tuple[Verdict, str]:
    """The ruling on an argument and its reason, by the decisions on its questions."""
    if not calibration.believed:
        return "undecided", f"the judge fails its sentinels: {', '.join(calibration.failures)}"
    for one in decided:
        if one.verdict == "equivalent":
            return "equivalent", one.reason
    open_ = [one for one in decided if one.verdict == "undecided"]
    if open_:
        return "undecided", f"{open_[0].how}: {open_[0].reason}"
    return "different", decided[0].reason


def _counts(docket: Docket, answers: Answers, decisions: Mapping[str, Decision], *, order_decides: bool) -> Counts:
    said = {name: answers.said.get(name, {}) for name in docket.questions}
    how = [decisions[name].how for name in docket.questions]
    calls = [call for one in said.values() for call in one.values()]
    return Counts(
        arguments=len(docket.asked),
        questions=len(docket.questions),
        calls=len(calls),
        agreed=how.count("agreed"),
        third_call=how.count("third_call"),
        judge_failure=how.count("judge_failure"),
        not_observed=how.count("not_observed"),
        flips=sum(is_flip(*_firsts(docket.questions[name], one)) is True for name, one in said.items()),
        unreadable=sum(call.verdict == "unreadable" for call in calls),
        order_decides=order_decides,
    )
