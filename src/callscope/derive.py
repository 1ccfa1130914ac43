"""Derive: from what happened to what it means. A pure function of a record's bytes and the frozen suite.

A live run and a replay both come through here, so they cannot differ. Reads no file, asks no clock, calls nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import structs

from callscope.canonical import canonical_hash
from callscope.contract import (
    Case,
    Derived,
    Exchange,
    Limits,
    Measures,
    Outcome,
    ProviderError,
    Reading,
    Record,
    Repaired,
    Round,
    Ruling,
    Suite,
    Tool,
    TransportFault,
    Usage,
    Verdict,
    offered_tools,
)
from callscope.importers import RECORDED, in_our_words, recorded_reader, their_verdict
from callscope.providers import get_adapter
from callscope.providers.modelfault import with_words
from callscope.recovery import recovery_verdict
from callscope.scoring import evaluate, evaluate_turns, outcome_hash, text_hash
from callscope.scoring.repair import repair

__all__ = ["cost_of", "derive", "observed", "read_exchange", "read_record"]

UNPARSED_NOTE = "unparsed by the server: "
"""What the note begins with that holds a model's words which a server could not read and did not send."""

WORDS_LOST = "model_words_lost"
_RETRYABLE_FAULTS = {"connection_failed", "connection_lost", "timeout_connect"}


class Reader(Protocol):
    """What reads an answer: an adapter, or the reader of a benchmark's recorded answers."""

    def parse(self, status: int, headers: tuple[tuple[str, str], ...], body: bytes, *, stream: bool) -> Reading:
        """As `Adapter.parse`."""


def read_exchange(adapter: Reader, exchange: Exchange, *, stream: bool) -> Reading:
    """What one attempt says: its transport fault, or what its bytes say under `adapter`."""
    if exchange.fault is not None or exchange.status is None:
        fault = exchange.fault or TransportFault("harness_error", "no_answer", "nothing was recorded")
        outcome = ProviderError(fault.category, fault.code, fault.message, ("connection",))
        return Reading(outcome, limits=Limits(retryable=fault.code in _RETRYABLE_FAULTS))
    return adapter.parse(exchange.status, exchange.response_headers, exchange.response, stream=stream)


def _read_round(adapter: Reader, one: Round, *, stream: bool) -> Reading:
    if not one.exchanges:
        return Reading(ProviderError("harness_error", "no_answer", "no attempt was recorded"))
    return read_exchange(adapter, one.exchanges[-1], stream=stream)


def read_record(record: Record) -> tuple[Reading, ...]:
    """The reading of each round; a record in which callscope itself failed ends with a harness_error."""
    adapter: Reader = recorded_reader(record.api) or get_adapter(record.api)
    readings = _with_words(
        tuple(_read_round(adapter, one, stream=record.stream) for one in record.rounds),
        [note.removeprefix(UNPARSED_NOTE) for note in record.notes if note.startswith(UNPARSED_NOTE)],
    )
    if record.harness_error is not None:
        failed = Reading(ProviderError("harness_error", "harness_error", record.harness_error))
        return (failed,) if len(readings) <= 1 else (*readings, failed)
    return readings or (Reading(ProviderError("harness_error", "no_answer", "the record holds no round")),)


def _with_words(readings: tuple[Reading, ...], words: list[str]) -> tuple[Reading, ...]:
    """The readings, those that do not say what the model wrote completed, in order, with its words out of the notes."""
    lost = [number for number, reading in enumerate(readings) if WORDS_LOST in reading.outcome.flags]
    known = dict(zip(lost, words, strict=False))
    return tuple(
        structs.replace(reading, outcome=with_words(reading.outcome, known[number])) if number in known else reading
        for number, reading in enumerate(readings)
    )


def observed(record: Record) -> bool:
    """Whether a model decision was observed. What was not is coverage loss, and tried again on resume."""
    return not any(isinstance(reading.outcome, ProviderError) for reading in read_record(record))


def derive(
    record: Record,
    case: Case,
    suite: Suite,
    *,
    prices: Mapping[str, float] | None = None,
    rulings: Sequence[Ruling] = (),
) -> Derived:
    """The verdict, outcome and measures of a record.

    The stages judge the first round, which is the model's own decision; later rounds are judged by `recovery`. The
    turns of a recorded conversation are judged each, and joined. `prices` are per million tokens; `rulings` are what a
    judge ruled on this trial.
    """
    readings = tuple(structs.replace(one, outcome=in_our_words(one.outcome, case)) for one in read_record(record))
    theirs = their_verdict(record, case)
    if case.turns:
        return _derive_turns(record, case, suite, readings, theirs)
    first, later = readings[0], tuple(reading.outcome for reading in readings[1:])
    offered = offered_tools(case, suite.tools)
    recovery = recovery_verdict(record, [reading.outcome for reading in readings], offered)
    verdict = evaluate(
        case,
        suite.tools,
        first.outcome,
        key=record.key,
        recovery=recovery,
        null_means_absent=suite.null_means_absent,
        rulings=rulings,
    )
    return Derived(
        verdict=verdict,
        outcome=first.outcome,
        measures=_measures(record, readings, prices or {}),
        transformations=record.transformations,
        notes=record.notes,
        later_outcomes=later,
        repaired=None if _as_good_as_it_gets(verdict) else _repaired(case, suite, first.outcome, offered),
        **theirs,
    )


def _derive_turns(
    record: Record, case: Case, suite: Suite, readings: tuple[Reading, ...], theirs: dict[str, Any]
) -> Derived:
    """What is derived from a recorded conversation: one reading a turn, all of them judged, nothing repaired."""
    outcomes = tuple(reading.outcome for reading in readings)
    return Derived(
        verdict=evaluate_turns(case, suite.tools, outcomes, key=record.key),
        outcome=outcomes[0],
        measures=_measures(record, readings, {}),
        transformations=record.transformations,
        notes=record.notes,
        later_outcomes=outcomes[1:],
        **theirs,
    )


def _as_good_as_it_gets(verdict: Verdict) -> bool:
    """Whether the structure stage has already said that every call keeps its schema: then no repair applies."""
    return verdict.structure == "valid" and all(
        seen["rule"] == "schema_kept" for seen in verdict.evidence["structure"]["calls"]
    )


def _repaired(case: Case, suite: Suite, outcome: Outcome, offered: tuple[Tool, ...]) -> Repaired | None:
    """The repair track of a first round; nothing of it comes into the verdict."""
    repairs = repair(outcome, offered)
    if repairs is None:
        return None
    judged = evaluate(case, suite.tools, repairs.outcome, null_means_absent=suite.null_means_absent)
    return Repaired(
        repairs.steps,
        repairs.outcome,
        judged.selection,
        judged.structure,
        judged.semantics,
        judged.attribution,
        judged.violations,
        judged.passed,
    )


def _measures(record: Record, readings: tuple[Reading, ...], prices: Mapping[str, float]) -> Measures:
    first = readings[0]
    outcomes = tuple(reading.outcome for reading in readings)
    usage = first.usage if len(readings) == 1 else _total_usage(tuple(reading.usage for reading in readings))
    # a recorded answer was asked for by somebody else: none of its times was measured here
    timed = record.rounds and record.rounds[0].exchanges and not record.api.startswith(RECORDED)
    last = record.rounds[0].exchanges[-1] if timed else None
    return Measures(
        outcome_hash=_told_apart(record, outcomes, _joint(outcomes, outcome_hash)),
        text_hash=_joint(outcomes, text_hash),
        attempts=sum(len(one.exchanges) for one in record.rounds),
        latency=last.timing.total if last else None,
        queued=sum(exchange.timing.queued for exchange in record.rounds[0].exchanges) if last else None,
        first_byte=last.timing.first_byte if last else None,
        first_call=_arrival(last, first.first_call_at) if last else None,
        usage=usage,
        cost=cost_of(usage, prices),
        reported_model=next((reading.model for reading in readings if reading.model), None),
        finish=first.finish,
        rounds=sum(bool(one.exchanges) for one in record.rounds),
    )


def _told_apart(record: Record, outcomes: tuple[Outcome, ...], joint: str) -> str:
    """The hash; where what the model wrote is not known, one of this trial alone: two such are not the same answer."""
    if not any(WORDS_LOST in outcome.flags for outcome in outcomes):
        return joint
    return canonical_hash([joint, *(str(part) for part in structs.astuple(record.key))])


def _joint(outcomes: tuple[Outcome, ...], one: Callable[[Outcome], str]) -> str:
    hashes = [one(outcome) for outcome in outcomes]
    return hashes[0] if len(hashes) == 1 else canonical_hash(hashes)


def _arrival(exchange: Exchange, offset: int | None) -> float | None:
    """When the byte before `offset` arrived, in milliseconds since the attempt began."""
    if offset is None:
        return None
    times = [moment for start, moment in exchange.chunks if start < offset]
    return times[-1] if times else None


def _total_usage(parts: tuple[Usage, ...]) -> Usage:
    def total(name: str) -> int | None:
        known = [value for part in parts if (value := getattr(part, name)) is not None]
        return sum(known) if known else None

    return Usage(**{name: total(name) for name in Usage.__struct_fields__})


def cost_of(usage: Usage, prices: Mapping[str, float]) -> float | None:
    """The price of `usage` under prices per million tokens, or None where a price or a count is unknown."""
    if usage.input_tokens is None or usage.output_tokens is None or not {"input", "output"} <= prices.keys():
        return None
    cached = usage.cached_input_tokens or 0
    fresh = usage.input_tokens - cached
    cached_price = prices.get("cached_input", prices["input"])
    total = fresh * prices["input"] + cached * cached_price + usage.output_tokens * prices["output"]
    return round(total / 1_000_000, 9)
