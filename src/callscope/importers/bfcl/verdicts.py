"""BFCL's own verdict on a record: its checker on what its handler decodes.

| the record                                     | checked is                                                          |
|------------------------------------------------|---------------------------------------------------------------------|
| a recorded answer                              | its `result`, decoded as BFCL's handler for the model of its folder |
| the same, decoded calls already                | the calls                                                           |
| a live run on the imported case                | the calls of the first response, under their published names        |
| of a case with turns                           | nothing: the verdict is in BFCL's simulators                        |
| the transport failed                           | nothing                                                             |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callscope.contract import Case, Exchange, Record, ToolCalls
from callscope.errors import CallscopeError
from callscope.importers.bfcl.catalogue import Language, language_of
from callscope.importers.bfcl.checker import CompatVerdict, check
from callscope.importers.bfcl.decode import DECODER_FAILED, Decoded, decode
from callscope.importers.bfcl.results import MODEL
from callscope.importers.bfcl.words import published_names
from callscope.jsontext import JsonFault, parse_json
from callscope.providers import get_adapter

__all__ = ["verdict"]

_LIVE_MODEL = "callscope"
"""A name that BFCL's list of models does not hold, so that names are compared as published."""


def verdict(record: Record, case: Case) -> tuple[bool | None, dict[str, Any]]:
    """What BFCL's checker says, and its evidence: `error_type` and `reason` of a failure, `crashed` where it stops with
    an exception, `unknown` where it says nothing. Never raises."""
    about = case.metadata.get("benchmark")
    if not isinstance(about, Mapping) or not isinstance(about.get("category"), str):
        return None, {"unknown": "the case does not say of which category it is"}
    if case.turns:
        return None, {"unknown": "BFCL judges a conversation by the state of its simulators, which are not run here"}
    exchange = record.rounds[0].exchanges[-1] if record.rounds and record.rounds[0].exchanges else None
    if exchange is None or exchange.status is None:
        return None, {"unknown": "there is no answer"}
    category, language = about["category"], language_of(about["category"])
    recorded = record.api == "recorded/bfcl"
    model = dict(exchange.response_headers).get(MODEL, record.key.model) if recorded else _LIVE_MODEL
    decoded: Decoded | list[Any] | None
    if recorded:
        decoded = _recorded(exchange, "python" if "relevance" in category else language, model)
    else:
        decoded = _live(record, exchange, case)
    if decoded is None:
        what = "the recorded row holds no result" if recorded else f"no adapter reads {record.api}"
        return None, {"unknown": what}
    found = check(category, about.get("function"), decoded, about.get("ground_truth"), language=language, model=model)
    return found.passed, _evidence(found, decoded)


def _recorded(exchange: Exchange, language: Language, model: str) -> Decoded | list[Any] | None:
    """What the handler decodes the row's result to; the result itself where it is decoded calls already."""
    try:
        row = parse_json(exchange.response, bad_numbers=True).value
    except JsonFault:
        return None
    if not isinstance(row, dict) or "result" not in row:
        return None
    result = row["result"]
    decoded = decode(result, language=language, model=model)
    if decoded.fault == DECODER_FAILED and isinstance(result, list) and all(map(_is_call, result)):
        return result
    return decoded


def _is_call(item: Any) -> bool:
    """`{name: arguments}` with arguments that are no text. No handler of BFCL records that; its checker takes it."""
    return isinstance(item, dict) and len(item) == 1 and not isinstance(next(iter(item.values())), str)


def _live(record: Record, exchange: Exchange, case: Case) -> Decoded | None:
    """The calls of a response; None where its wire format is not known."""
    try:
        adapter = get_adapter(record.api)
    except (KeyError, ValueError, CallscopeError):
        return None
    reading = adapter.parse(exchange.status or 0, exchange.response_headers, exchange.response, stream=record.stream)
    names = published_names(case)
    calls = reading.outcome.calls if isinstance(reading.outcome, ToolCalls) else ()
    if any(call.arguments is None for call in calls):
        return Decoded(None, "ast_decoder:decoder_failed", "arguments that are no JSON object")
    return Decoded(tuple({names.get(call.name, call.name): dict(call.arguments or {})} for call in calls))


def _evidence(found: CompatVerdict, decoded: Decoded | list[Any]) -> dict[str, Any]:
    evidence: dict[str, Any] = {}
    if found.error_type:
        evidence["error_type"] = found.error_type
    if isinstance(decoded, Decoded) and decoded.reason:
        evidence["reason"] = decoded.reason
    if found.crashed is not None:
        evidence["crashed"] = found.crashed
    return evidence
