"""What a run asks of a judge: its open arguments as questions, each question once. Pure in records and suites.

A question holds one argument and one right value; of several right values each makes a question of its own. Trials in
which the same was given to the same query share their questions.

Unless all are wanted, a trial is left out where no ruling could change whether it passed or what it is attributed to,
found by judging it twice, with all of its open arguments equivalent and with all of them different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from callscope.contract import Attribution, Case, Record, Ruling, Suite, TrialKey, offered_tools
from callscope.contract import tools_by_name as by_name
from callscope.derive import derive
from callscope.judge.filtering import Closed, OpenArgument, Opened, look
from callscope.judge.questions import Question, make_question, question_id

__all__ = ["Asked", "Before", "Docket", "Scope", "make_docket", "opened_in"]


class Scope(Struct, frozen=True, omit_defaults=True):
    """What of a run is put to a judge.

    `open`: `declared` free text only, `text` also free strings, None by suite: `declared` for one imported from a
    benchmark, else `text`. `all` asks also where no ruling can change a trial's verdict. `limit` bounds the questions;
    they are drawn by their ids, which are hashes, so that no model of the plan is judged more than another.
    """

    open: Opened | None = None
    all: bool = False
    limit: int | None = None


class Asked(NamedTuple):
    """An open argument of a trial, and the questions that decide it: equivalent by one of them, different by all."""

    key: TrialKey
    required: int
    call: int
    argument: str
    questions: tuple[str, ...]


class Before(NamedTuple):
    """What the rules alone say of a trial that has open arguments."""

    passed: bool | None
    attribution: Attribution


class Docket(NamedTuple):
    """The questions of a run by id, in plan order, what each open argument asks, and the trials as they were.

    `settled` counts trials with open arguments that were left out because no ruling changes them, `beyond` the open
    arguments that the scope's limit left out: those stay as the rules had them. `trials` were looked at, in `differing`
    of them a string differs from what is right, and `closed` counts such strings that are not open, by why.
    """

    questions: dict[str, Question]
    asked: tuple[Asked, ...]
    before: dict[TrialKey, Before]
    settled: int
    beyond: int
    trials: int = 0
    differing: int = 0
    closed: tuple[tuple[Closed, int], ...] = ()


def opened_in(suite: Suite, scope: Scope) -> Opened:
    """What is open in a suite under a scope."""
    return scope.open or ("text" if suite.benchmark is None else "declared")


def make_docket(records: Iterable[tuple[Record, Case, Suite]], scope: Scope) -> Docket:
    """The docket of a run, given its records in plan order, each with its case as it was asked."""
    questions: dict[str, Question] = {}
    asked: list[Asked] = []
    before: dict[TrialKey, Before] = {}
    settled = trials = differing = 0
    closed: Counter[Closed] = Counter()
    for record, case, suite in records:
        derived = derive(record, case, suite)
        looked = look(case, suite, derived, opened_in(suite, scope))
        arguments = looked.open
        trials += 1
        differing += bool(arguments or looked.closed)
        closed.update(looked.closed)
        if not arguments:
            continue
        if not scope.all and not _can_change(record, case, suite, arguments):
            settled += 1
            continue
        for argument in arguments:
            found = {question_id(one): one for one in _questions(case, suite, argument)}
            questions |= {name: one for name, one in found.items() if name not in questions}
            asked.append(Asked(record.key, argument.required, argument.call, argument.argument, tuple(found)))
            before[record.key] = Before(derived.verdict.passed, derived.verdict.attribution)
    whole = Docket(questions, tuple(asked), before, settled, 0, trials, differing, tuple(sorted(closed.items())))
    return whole if scope.limit is None else _limited(whole, scope.limit)


def _limited(docket: Docket, limit: int) -> Docket:
    """At most so many of the questions, drawn by their ids, and the arguments that they decide."""
    drawn: set[str] = set()
    for questions in sorted({tuple(sorted(one.questions)) for one in docket.asked}):
        if len(drawn.union(questions)) <= limit:
            drawn.update(questions)
    asked = tuple(one for one in docket.asked if drawn.issuperset(one.questions))
    keys = {one.key for one in asked}
    return docket._replace(
        questions={name: one for name, one in docket.questions.items() if name in drawn},
        asked=asked,
        before={key: before for key, before in docket.before.items() if key in keys},
        beyond=len(docket.asked) - len(asked),
    )


def _can_change(record: Record, case: Case, suite: Suite, arguments: Sequence[OpenArgument]) -> bool:
    """Whether rulings could change what the trial is: a middle one cannot where neither extreme does."""
    seen = set()
    verdicts: tuple[Literal["equivalent", "different"], ...] = ("equivalent", "different")
    for verdict in verdicts:
        rulings = [Ruling(one.required, one.call, one.argument, verdict, "") for one in arguments]
        judged = derive(record, case, suite, rulings=rulings).verdict
        seen.add((judged.passed, judged.attribution))
    return len(seen) > 1


def _questions(case: Case, suite: Suite, argument: OpenArgument) -> Iterable[Question]:
    tool = by_name(offered_tools(case, suite.tools)).get(argument.tool)
    for wanted in argument.wanted:
        yield make_question(
            query=_query(case),
            tool=argument.tool,
            description=tool.description if tool is not None else "",
            argument=argument.argument,
            schema=argument.schema,
            values=(wanted, argument.actual),
            reference_time=case.reference_time,
        )


def _query(case: Case) -> str:
    """What the user said; with what was said before it, where that is part of the case."""
    if not case.messages:
        return case.prompt
    return "\n".join([*(f"{one.role}: {one.text}" for one in case.messages), f"user: {case.prompt}"])
