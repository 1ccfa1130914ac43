"""A run as JUnit XML, for build servers: one testcase per case and model, failures with their evidence.

A testcase fails when any decided repeat failed, errs when nothing was observed, and is skipped when nothing ran or
nothing could be decided; the counts always stand in its text. Foreign text is legal XML or is written as an escape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from callscope.contract import Derived
from callscope.reports.columns import words
from callscope.reports.evidence import evidence
from callscope.reports.safe import inert, one_line
from callscope.reports.view import GroupKey, RunView, cases_by_id, failing_stage, group_key

__all__ = ["render_junit"]

_EVIDENCE = 1000
"""Failures beyond this many carry their counts, and no evidence; build servers hold these files in memory."""


def render_junit(view: RunView, summary: Mapping[str, Any]) -> str:
    """The run as a JUnit XML document: a testsuite for each suite, experiment and model."""
    examples = _examples(view, summary)
    cases = {name: cases_by_id(view, name) for name in dict.fromkeys(g["suite"] for g in summary["groups"])}
    root = ET.Element("testsuites", name="callscope")
    suites: dict[GroupKey, ET.Element] = {}
    counts: dict[GroupKey, dict[str, int]] = {}
    for cell in summary["cases"]:
        key = GroupKey(cell["suite"], cell["experiment"], cell["model"])
        suite = suites.get(key)
        if suite is None:
            suite = suites[key] = ET.SubElement(root, "testsuite", name=" / ".join(one_line(p, 120) for p in key))
            counts[key] = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
        counts[key]["tests"] += 1
        place = f"{one_line(key.suite, 120)}.{one_line(key.experiment, 120)}.{one_line(key.model, 120)}"
        test = ET.SubElement(suite, "testcase", classname=place, name=one_line(cell["case_id"], 200))
        kind, message = _result(cell)
        if kind is None:
            continue
        counts[key]["failures" if kind == "failure" else "errors" if kind == "error" else kind] += 1
        node = ET.SubElement(test, kind, message=message)
        if kind != "skipped":
            node.set("type", cell["first_failing"] or "acceptance")
            derived = examples.get((key, cell["case_id"]))
            node.text = _text(derived, cases[key.suite]) if derived else "Run `callscope inspect` for the evidence."
    for key, suite in suites.items():
        for name, count in counts[key].items():
            suite.set(name, str(count))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _result(cell: Mapping[str, Any]) -> tuple[str | None, str]:
    counts = f"{cell['passed']}/{cell['decided']} decided passed, {cell['observed']}/{cell['planned']} observed"
    if cell["passed"] < cell["decided"]:
        return "failure", f"{words(cell['first_failing'] or 'other')}: {counts}"
    if not cell["recorded"]:
        return "skipped", "not run"
    if not cell["observed"]:
        return "error", f"coverage loss: {counts}"
    return (None, "") if cell["decided"] else ("skipped", f"undecided: {counts}")


def _examples(view: RunView, summary: Mapping[str, Any]) -> dict[tuple[GroupKey, str], Derived]:
    """The first trial of each failing case that shows its stage."""
    wanted = {
        (GroupKey(cell["suite"], cell["experiment"], cell["model"]), cell["case_id"]): cell["first_failing"]
        for cell in [c for c in summary["cases"] if _result(c)[0] in {"failure", "error"}][:_EVIDENCE]
    }
    found: dict[tuple[GroupKey, str], Derived] = {}
    for derived in view.derived() if wanted else ():
        place = (group_key(derived.verdict), derived.verdict.case_id)
        if place in wanted and place not in found and failing_stage(derived.verdict) == wanted[place]:
            found[place] = derived
    return found


def _text(derived: Derived, cases: Mapping[str, Any]) -> str:
    e = evidence(derived, cases.get(derived.verdict.case_id))
    lines = [e.title, f"prompt: {e.prompt}", f"expected: {e.expected}", f"came back: {e.outcome}"]
    for stage in e.stages:
        lines.append(f"{stage.name}: {stage.value}{f' (by {stage.rule})' if stage.rule else ''}")
        lines += [stage.saw] if stage.saw else []
    lines += [
        f"{name}: {', '.join(values)}" for name, values in (("violations", e.violations), ("flags", e.flags)) if values
    ]
    return inert("\n".join([*lines, e.facts]))
