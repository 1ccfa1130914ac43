"""Gold that a reviewer would put in a case's place: read, checked against the tools, written in one form.

Pure. Whether it comes into a suite is `corrections`' matter.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import NODEFAULT, Struct

from callscope.audit.items import AuditItem
from callscope.contract import Case, Expectation, Suite
from callscope.errors import InputError
from callscope.suites import SuiteFaults, lint_suite
from callscope.suites.faults import Page
from callscope.suites.places import MISSING, read_json
from callscope.suites.shapes import Reader

__all__ = ["plain_gold", "read_gold"]


def plain_gold(gold: Expectation) -> dict[str, Any]:
    """An expectation as a person would write it: without what is left at its default. Two that are equal are the same
    here."""
    plain: dict[str, Any] = _without_defaults(gold)
    return plain


def _without_defaults(value: Any) -> Any:
    if isinstance(value, Struct):
        config = value.__struct_config__
        kept = {} if config.tag_field is None else {config.tag_field: config.tag}
        for field in msgspec.structs.fields(value):
            held = getattr(value, field.name)
            default = field.default if field.default_factory is NODEFAULT else field.default_factory()
            if field.required or held != default:
                kept[field.name] = _without_defaults(held)
        return kept
    if isinstance(value, tuple):
        return [_without_defaults(each) for each in value]
    if isinstance(value, dict):
        return {key: _without_defaults(each) for key, each in value.items()}
    return value


def read_gold(text: str, item: AuditItem) -> dict[str, Any] | None:
    """What a reviewer wrote as corrected gold, in the form of `plain_gold`; None where nothing is written.

    It is an expectation as in cases.jsonl, or for short a list of calls, `[{"name": ..., "arguments": {...}}]`, where
    an empty list stands for `{"kind": "no_call"}`. What a call does not give is taken as a suite's case takes it.

    Raises InputError (SuiteFaults) where it is no JSON, no expectation, names a tool that is not offered, or expects
    arguments that the tool's own schema refuses.
    """
    if not text.strip():
        return None
    faults: list[InputError] = []
    page = Page("correction", faults)
    value = read_json(text, page)
    properties = {tool.name: tool.parameters.get("properties") for tool in item.tools}
    names = {name: frozenset(found) if isinstance(found, dict) else frozenset() for name, found in properties.items()}
    union: Any = Expectation
    gold: Expectation | None = None if value is MISSING else Reader(page, names).read(_whole(value), union)
    if gold is None:
        raise SuiteFaults(faults)
    case = Case(item.id, item.query, gold, locale=item.locale, reference_time=item.reference_time)
    suite = Suite("correction", "0", "portable", item.system, item.tools, (case,), {})
    wrong = [
        InputError(found.message, file="correction", field=found.field)
        for found in lint_suite(suite)
        if found.severity == "error" and found.case_id is not None
    ]
    if wrong:
        raise SuiteFaults(wrong)
    return plain_gold(gold)


def _whole(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if not value:
        return {"kind": "no_call"}
    if len(value) == 1 and isinstance(value[0], dict):
        return {"kind": "tool", **value[0]}
    return {"kind": "tools", "calls": value}
