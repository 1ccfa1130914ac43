"""Faults in what can be loaded: gold that no right answer could meet, tools that not every provider takes, thin cover.

Judges the suite, never a model. The rules are data: `RULES` lists them, `lint_tools`, `lint_gold` and `lint_cases`
hold their checks. What cannot be loaded at all is `load`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from callscope.contract import Case, Suite
from callscope.jsontext import JsonFault, parse_json
from callscope.suites import lint_cases, lint_gold, lint_tools, lint_version
from callscope.suites.lint_base import ALLOW, Lintable, Rule, Severity, Spot

__all__ = ["RULES", "Finding", "Rule", "Severity", "lint_suite"]

_ORDER: Mapping[str, int] = {"error": 0, "warning": 1, "info": 2}


class Finding(Struct, frozen=True):
    """One thing that lint found.

    Attributes:
        severity: `error` (a verdict would be wrong or impossible), `warning` (probably not meant, or not portable),
            `info` (worth knowing).
        file: the suite's file it stands in.
        line: from 1; None where the suite was built in code, or the finding is about the whole file.
        case_id: the case, where it is about one.
        field: dotted path of the field, where it is about one.
        rule: the name of the rule in `RULES`.
        message: what is wrong, and what would be right.
    """

    severity: Literal["error", "warning", "info"]
    file: str
    line: int | None
    case_id: str | None
    field: str | None
    rule: str
    message: str


def lint_suite(suite: Suite) -> list[Finding]:
    """Everything the rules find in a suite, errors first, then in reading order.

    Findings about a case know its line where the suite was loaded from files. A case waives a rule with
    `metadata: {"lint_allow": {"<rule>": "<reason>"}}`, for gold that is outside its schema on purpose; a waiver
    without a reason, or of a rule that does not exist, is itself a finding. Never raises.
    """
    lintable, lines, waived = Lintable(suite), _case_lines(suite.sources), _waived(suite)
    findings = [
        _finding(rule, spot, lines)
        for rule in RULES
        for spot in rule.check(lintable)
        if (spot.case_id, rule.name) not in waived
    ]
    return sorted(findings, key=lambda finding: _ORDER[finding.severity])


def _finding(rule: Rule, spot: Spot, lines: Mapping[str, int]) -> Finding:
    line = lines.get(spot.case_id) if spot.case_id is not None else None
    return Finding(spot.severity or rule.severity, spot.file, line, spot.case_id, spot.field, rule.name, spot.message)


def _waivers(case: Case) -> Mapping[str, Any]:
    waivers = case.metadata.get(ALLOW, {})
    return waivers if isinstance(waivers, dict) else {str(waivers): None}


def _reason(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _waived(suite: Suite) -> set[tuple[str | None, str]]:
    return {(case.id, rule) for case in suite.cases for rule, reason in _waivers(case).items() if _reason(reason)}


def _bad_waivers(it: Lintable) -> list[Spot]:
    known = {rule.name for rule in RULES}
    return [
        Spot("cases.jsonl", f"the waiver of {name!r} names no rule or gives no reason", case.id, f"metadata.{ALLOW}")
        for case in it.suite.cases
        for name, reason in _waivers(case).items()
        if name not in known or not _reason(reason)
    ]


def _case_lines(files: Mapping[str, bytes]) -> dict[str, int]:
    """Case id -> the line it stands on, as far as the bytes can be read."""
    lines: dict[str, int] = {}
    text = files.get("cases.jsonl", b"").decode("utf-8", "replace").removeprefix("\ufeff")
    for number, row in enumerate(text.split("\n"), 1):
        try:
            value = parse_json(row).value if row.strip() else None
        except JsonFault:
            continue
        if isinstance(value, dict) and isinstance(value.get("id"), str):
            lines.setdefault(value["id"], number)
    return lines


RULES: tuple[Rule, ...] = (
    *lint_tools.RULES,
    *lint_gold.RULES,
    *lint_cases.RULES,
    *lint_version.RULES,
    Rule("bad-waiver", "warning", "a waiver that waives nothing", _bad_waivers),
)
"""Every rule, in the order in which its findings are reported."""
