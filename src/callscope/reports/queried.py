"""The query-level measures of groups as grids: rates, denominators, underspecified cases, kinds of error, routing.

Shared by every form of report and by the exhibits. Reads the `queries` and `routing` blocks; computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from callscope.reports.columns import Cell, absent, model_name, plural
from callscope.reports.exhibits.parts import Grid, exact_rate
from callscope.reports.judged import fn_note, judge_failure_words
from callscope.reports.numbers import ratio
from callscope.reports.queries import CLASSES, POLICIES, SUBTYPES, Policy
from callscope.reports.routing import DECISIONS
from callscope.reports.safe import one_line

__all__ = [
    "CLASS_WORDS",
    "accuracy_of",
    "benchmark_name",
    "class_words",
    "denominators_grid",
    "kinds_grid",
    "measures_grid",
    "negatives_grid",
    "policies_grid",
    "queried_grids",
    "recall_of",
    "routing_grids",
]

Group = Mapping[str, Any]

CLASS_WORDS: Mapping[str, str] = {
    "miss_recall": "miss recall",
    "parameter_error": "param. error",
    "parameter_error.temporal": "temporal",
    "parameter_error.missing": "missing arg.",
    "parameter_error.value": "value",
    "judge_failure": "judge failure",
    "extra_call": "extra call",
}

_COUNTED = "denominators are trials; intervals are by case family"

_HEADING = "By query (PluginEval's measures)"
_OUTSIDE = ("undecided", "excluded", "not_observed", "not_run")

_NAMES = {"bfcl": "BFCL", "apibench": "APIBench", "nexusraven": "NexusRaven"}

_DECISION_WORDS = {"need": "need (f1)", "target": "target (f2)", "arguments": "arguments (f3)"}

_TREATED = {
    "separate": "underspecified cases stand apart, in a table of their own",
    "exclude": "underspecified cases without a call are left out, those with one are false positives",
    "tn": "underspecified cases are negatives: right without a call",
}


def benchmark_name(name: str) -> str:
    """A benchmark as its authors write it."""
    return _NAMES.get(name, one_line(name, 40))


def recall_of(block: Mapping[str, Any], *, strict: bool) -> Mapping[str, Any]:
    """The recall of a `queries` block."""
    rate: Mapping[str, Any] = block["strict"]["recall_strict"] if strict else block["positives"]["recall"]
    return rate


def accuracy_of(block: Mapping[str, Any], policy: Policy, *, strict: bool) -> Mapping[str, Any]:
    """The accuracy of a `queries` block under a policy."""
    of = block["policies"][policy]
    rate: Mapping[str, Any] = of["strict"]["accuracy"] if strict else of["accuracy"]
    return rate


def queried_grids(groups: Sequence[Group]) -> list[Grid]:
    """What every report says of some groups at the level of the query, in short; of a routing decision put by itself,
    that decision."""
    plain = [group for group in groups if not _isolated(group) and _decided(group["queries"])]
    short = [_short_grid(plain)] if plain else []
    return [*short, *routing_grids([group for group in groups if _isolated(group)])]


def _short_grid(groups: Sequence[Group]) -> Grid:
    empty = any(group["queries"]["underspecified"]["no_call"]["n"] for group in groups)
    checked = any(group["queries"]["compatible"] is not None for group in groups)
    named = class_words(groups)
    columns = ["recall", "accuracy", *(named[name] for name in CLASSES), "over recall"]
    columns += [*(["both empty"] if empty else []), *(["benchmark's own checker"] if checked else [])]
    rows = []
    for group in groups:
        block = group["queries"]
        over = block["policies"]["separate"]["over_recall"]
        cells = [
            exact_rate(rate) for rate in (recall_of(block, strict=False), accuracy_of(block, "separate", strict=False))
        ]
        cells += [*(exact_rate(block["positives"][name]) for name in CLASSES), exact_rate(over)]
        cells += [exact_rate(block["underspecified"]["no_call"])] if empty else []
        cells += [_their(block)] if checked else []
        rows.append((model_name(group), tuple(cells)))
    notes = (_COUNTED, *_left_open(groups), *(_counted(group) for group in groups))
    return Grid(_HEADING, "model", tuple(columns), tuple(rows), notes)


def class_words(groups: Iterable[Group]) -> Mapping[str, str]:
    """What the classes of error are called over these groups: a judge fails only where one was asked."""
    return {**CLASS_WORDS, "judge_failure": judge_failure_words(groups, CLASS_WORDS["judge_failure"])}


def _left_open(groups: Sequence[Group]) -> list[str]:
    return [said] if (said := fn_note(groups)) else []


def _counted(group: Group) -> str:
    """What stands in which denominator, and what in none, in a line; underspecified cases under all three policies."""
    block = group["queries"]
    t = block["trials"]
    said = [
        f"positives {t['tp'] + t['fn']} (TP {t['tp']}, FN {t['fn']})",
        f"negatives {t['fp'] + t['tn']} (FP {t['fp']}, TN {t['tn']})",
        f"both empty {t['both_empty']}",
    ]
    said += [f"guessed {t['guessed']}"] if t["guessed"] else []
    beside = {name: absent(group) if name == "not_run" else name.replace("_", " ") for name in _OUTSIDE}
    said += [f"{beside[name]} {t[name]}" for name in _OUTSIDE if t[name]]
    text = f"{model_name(group)}: {', '.join(said)}"
    if t["both_empty"] or t["guessed"]:
        recall = ratio(recall_of(block, strict=False))
        each = (f"{policy} {ratio(accuracy_of(block, policy, strict=False))}" for policy in POLICIES)
        text += f"; recall {recall} under all treatments of both empty, accuracy {', '.join(each)}"
    return text


def _isolated(group: Group) -> bool:
    return group["routing"] is not None and bool(group["routing"]["isolated"])


def _decided(block: Mapping[str, Any]) -> bool:
    trials = block["trials"]
    return any(trials[state] for state in ("tp", "fn", "fp", "tn", "both_empty", "guessed"))


def measures_grid(groups: Sequence[Group], policy: Policy = "separate", *, strict: bool = False) -> Grid:
    """Recall, accuracy, every class of error and its subtypes, each over its own denominator."""
    named = class_words(groups)
    columns = ["recall", "accuracy", *(named[name] for name in (CLASSES[0], CLASSES[1], *SUBTYPES, CLASSES[2]))]
    columns += [CLASS_WORDS["extra_call"]] if strict else []
    columns += ["over recall"]
    checked = [group for group in groups if group["queries"]["compatible"] is not None]
    columns += ["benchmark's own checker"] if checked else []
    rows = []
    for group in groups:
        block = group["queries"]
        cells = [exact_rate(recall_of(block, strict=strict)), exact_rate(accuracy_of(block, policy, strict=strict))]
        cells += [exact_rate(block["positives"][name]) for name in (CLASSES[0], CLASSES[1], *SUBTYPES, CLASSES[2])]
        cells += [exact_rate(block["strict"]["extra_call"])] if strict else []
        cells += [exact_rate(block["policies"][policy]["over_recall"])]
        cells += [_their(block)] if checked else []
        rows.append((model_name(group), tuple(cells)))
    over = (
        f"recall, misses, parameter errors and {named[CLASSES[2]]} are over positives and add up to 1; over recall is"
        f" over negatives; accuracy over both; {_TREATED[policy]}"
    )
    notes = [over, _COUNTED, *_left_open(groups)]
    if not any(group["queries"]["underspecified"]["no_call"]["n"] for group in groups):
        notes.append("both empty: 0; no underspecified case was decided, so all three treatments of them give the same")
    notes += ["an extra call makes a positive wrong (strict)"] if strict else []
    notes += _extra_notes(groups, strict)
    return Grid(_HEADING, "model", tuple(columns), tuple(rows), tuple(notes))


def _their(block: Mapping[str, Any]) -> Cell:
    found = block["compatible"]
    if found is None:
        return Cell("none")
    cell = exact_rate(found["passed"])
    silent = f"says nothing of {found['says_nothing']}" if found["says_nothing"] else ""
    return Cell(cell.main, ", ".join(filter(None, (cell.more, silent))))


def _extra_notes(groups: Sequence[Group], strict: bool) -> list[str]:
    said = []
    for group in groups:
        extra = group["queries"]["extra_calls"]
        if extra["positives"] and not strict:
            whole = plural(extra["positives"], "positive")
            said.append(
                f"{model_name(group)}: {whole} with calls beside the required ones, {extra['of_tp']} of them counted"
                " as right"
            )
    return said


def denominators_grid(groups: Sequence[Group]) -> Grid:
    """What stands in which denominator, and what stands in none."""
    columns = (
        "positives", "TP", "FN", "negatives", "FP", "TN", "both empty", "guessed", "undecided", "excluded",
        "not observed", "not run",
    )  # fmt: skip
    rows = []
    for group in groups:
        block = group["queries"]
        t = block["trials"]
        cases = f"{plural(block['excluded_cases'], 'case')}" if block["excluded_cases"] else ""
        counts = [t["tp"] + t["fn"], t["tp"], t["fn"], t["fp"] + t["tn"], t["fp"], t["tn"]]
        counts += [t["both_empty"], t["guessed"], t["undecided"]]
        cells = [*(Cell(str(count)) for count in counts), Cell(str(t["excluded"]), cases)]
        rows.append((model_name(group), (*cells, Cell(str(t["not_observed"])), Cell(str(t["not_run"])))))
    note = (
        "trials; both empty and guessed: underspecified cases without and with a call; undecided (negatives),"
        " excluded, not observed and not run stand in no denominator"
    )
    return Grid("Denominators", "model", columns, tuple(rows), (note,))


def policies_grid(groups: Sequence[Group], *, strict: bool = False) -> Grid:
    """How many underspecified trials there are, and recall and accuracy under each treatment of them."""
    columns = ["both empty", "asked", *(f"{what} {policy}" for policy in POLICIES for what in ("recall", "accuracy"))]
    rows = []
    for group in groups:
        block = group["queries"]
        cells = [exact_rate(block["underspecified"]["no_call"]), exact_rate(block["underspecified"]["asked"])]
        for policy in POLICIES:
            cells += [
                exact_rate(recall_of(block, strict=strict)),
                exact_rate(accuracy_of(block, policy, strict=strict)),
            ]
        rows.append((model_name(group), tuple(cells)))
    about = "both empty: no call, of the underspecified trials; asked: for all that is missing"
    notes = [about, *(f"{policy}: {said}" for policy, said in _TREATED.items())]
    return Grid("Underspecified cases, under all three treatments", "model", tuple(columns), tuple(rows), tuple(notes))


def kinds_grid(groups: Sequence[Group]) -> Grid:
    """Every kind of error in the false negatives, beside the one class that each counts for."""
    names = ("miss_recall", *SUBTYPES, "judge_failure")
    rows = []
    for group in groups:
        block = group["queries"]
        found, of = block["multi_label"], block["positives"]
        cells = [Cell(f"{found[name]}", f"({of[name]['k']})") for name in names]
        rows.append((model_name(group), (*cells, Cell(str(found["several_kinds"])))))
    named = class_words(groups)
    columns = (*(named[name] for name in names), "several kinds")
    note = "false negatives in which the kind occurs; in brackets, those that count for it and for nothing else"
    return Grid("Every kind of error", "model", columns, tuple(rows), (note,))


def negatives_grid(groups: Sequence[Group]) -> Grid | None:
    """Over recall by kind of negative; None where there is but one kind."""
    names = list(dict.fromkeys(name for group in groups for name in group["queries"]["negatives"]))
    if len(names) < 2:
        return None
    nothing = {"n": 0}
    rows = [
        (model_name(group), tuple(exact_rate(group["queries"]["negatives"].get(name, nothing)) for name in names))
        for group in groups
    ]
    columns = tuple(name.removeprefix("over_recall of ").replace("_", " ") for name in names)
    note = "targeted: the designated tool was called; global: any was; A domain distance, B surface, C boundary"
    return Grid("Over recall by kind of negative", "model", columns, tuple(rows), (note,))


def routing_grids(groups: Sequence[Group]) -> list[Grid]:
    """The routing decisions: those put by themselves, and those read off ordinary runs, which are another thing."""
    grids = []
    for isolated in (True, False):
        mine = [group for group in groups if group["routing"] is not None and group["routing"]["isolated"] is isolated]
        if mine:
            grids.append(_routing_grid(mine, isolated))
    return grids


def _routing_grid(groups: Sequence[Group], isolated: bool) -> Grid:
    rows = []
    columns = ("decision", "right", "undecided", "excluded", "not observed", "not run", "no label")
    models = list(dict.fromkeys(group["model"] for group in groups))
    for group in sorted(groups, key=lambda group: (models.index(group["model"]), _first_decision(group))):
        decisions = group["routing"]["decisions"]
        for decision in DECISIONS:
            if decision not in decisions:
                continue
            found = decisions[decision]
            beside = ("undecided", "excluded", "not_observed", "not_run", "no_label")
            counts = [Cell(str(found["trials"][name])) for name in beside]
            plain = group["experiment"] in (decision, "auto", "recorded")
            experiment = "" if plain else one_line(group["experiment"], 40)
            cells = (Cell(_DECISION_WORDS[decision], experiment), exact_rate(found["right"]), *counts)
            rows.append((model_name(group), cells))
    if isolated:
        heading = "Routing decision, put by itself"
        note = "need: all tools are shown; target and arguments: the target alone is"
    else:
        heading = "Routing decisions, read off an ordinary run"
        note = (
            "all tools are shown and all three are decided at once: not the isolated decisions, which are experiments"
            ' (experiments = ["need", "target", "arguments"])'
        )
    return Grid(heading, "model", columns, tuple(rows), (note, _F), keys=1)


_F = "f1: is any tool needed? f2: is it this one (the target)? f3: which arguments, or too little said for them?"
"""The three decisions, as the document numbers them."""


def _first_decision(group: Group) -> int:
    return min((DECISIONS.index(name) for name in group["routing"]["decisions"]), default=len(DECISIONS))
