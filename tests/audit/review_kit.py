"""What the tests of samples, sheets, pages and corrections share: suites, judged trials, audit folders made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from callscope.audit.designs import DESIGNS
from callscope.audit.items import Answer
from callscope.audit.material import Material, of_run, of_suites
from callscope.audit.sample import draw
from callscope.audit.store import AuditFolder
from callscope.contract import Derived, Measures, Outcome, Suite, Text, ToolCall, ToolCalls, Verdict
from callscope.suites import load_suite_bytes

TOOLS = [
    {
        "name": "lookup_order",
        "description": "Fetch one order by its public number.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "pattern": "^ORD-[0-9]{6}$"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
    },
    {
        "name": "search_orders",
        "description": "List the orders of a customer.",
        "parameters": {
            "type": "object",
            "properties": {"email": {"type": "string"}},
            "required": ["email"],
            "additionalProperties": False,
        },
    },
]


def order(number: int) -> str:
    return f"ORD-{number:06d}"


def case(number: int, kind: str = "positive", **more: Any) -> dict[str, Any]:
    expected: dict[str, Any] = {"kind": "tool", "name": "lookup_order", "arguments": {"order_id": order(number)}}
    if kind == "negative":
        expected = {"kind": "text"}
    if kind == "underspecified":
        expected = {"kind": "clarification", "missing": ["order_id"]}
    return {
        "id": f"{kind}-{number:04d}",
        "prompt": f"Request {number} about {order(number)}.",
        "expected": expected,
    } | more


def suite_files(cases: list[dict[str, Any]], version: str = "1.0.0") -> dict[str, bytes]:
    return {
        "system.txt": b"You work at a help desk.\n",
        "tools.core.json": json.dumps({"tools": TOOLS}).encode(),
        "cases.jsonl": b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in cases),
        "suite.toml": f'# a comment that stays\nname = "desk"\nversion = "{version}"\n'.encode(),
    }


def desk(positives: int, negatives: int, underspecified: int = 0) -> Suite:
    counts = {"positive": positives, "negative": negatives, "underspecified": underspecified}
    cases = [case(number, kind) for kind, count in counts.items() for number in range(count)]
    return load_suite_bytes(suite_files(cases))


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def judged(suite: Suite, attributions: dict[str, Any], *, model: str = "maker/secret-model") -> list[Derived]:
    """One trial of each case; `attributions`: case id -> what the judge said of it."""
    return [_trial(suite, case_id, attribution, model) for case_id, attribution in attributions.items()]


def _trial(suite: Suite, case_id: str, attribution: Any, model: str) -> Derived:
    outcome: Outcome = ToolCalls((ToolCall(None, "lookup_order", {"order_id": "ORD-999999"}),), ("flagged",))
    if attribution == "miss_recall":
        outcome = Text("I cannot help with that.", ("flagged",))
    fields: dict[str, Any] = dict.fromkeys(Verdict.__struct_fields__, "")
    fields |= {"suite": suite.name, "experiment": "auto", "model": model, "case_id": case_id, "repeat": 0}
    fields |= {"attribution": attribution, "passed": attribution == "correct", "violations": (), "flags": ()}
    fields |= {"evidence": {"why": "evidence-of-the-judge"}, "decided_by": {}, "recovery": None}
    return Derived(Verdict(**fields), outcome, Measures("", ""))


def reference_material(suite: Suite) -> Material:
    return of_suites({suite.name: suite})


def judge_material(suite: Suite, attributions: dict[str, Any]) -> Material:
    return of_run(judged(suite, attributions), {suite.name: suite}, "run-1")


def make_audit(path: Path, material: Material, quotas: dict[str, int], seed: int = 7) -> AuditFolder:
    drawn = draw(material.units, quotas, seed, DESIGNS[material.design])
    return AuditFolder.create(path, material, drawn, seed)


def answer_all(folder: AuditFolder, name: str, answers: dict[str, Answer]) -> None:
    log = folder.log(name)
    for answer in answers.values():
        log.append(answer)
    log.close()


def thirty_trials(path: Path) -> AuditFolder:
    """An audit of a judge with all of 30 trials: 10 correct, 5 missed, 5 spurious, 10 parameter errors."""
    suite = desk(25, 5)
    said = ["correct"] * 10 + ["miss_recall"] * 5 + ["parameter_error.value"] * 10 + ["over_recall"] * 5
    attributions = {each.id: said[place] for place, each in enumerate(suite.cases)}
    quotas = {"correct": 10, "missed": 5, "spurious": 5, "parameter": 10}
    return make_audit(path, judge_material(suite, attributions), quotas)
