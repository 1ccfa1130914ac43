"""The glossary: every name that a verdict, an outcome or lint may say, with its meaning. Writes docs/glossary.md.

Flags and lint rules explain themselves where they are defined; the values of the stages are explained here. A test
holds that no name is missing and that the page is as this module writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from callscope.providers.flags import FLAGS
from callscope.reports.columns import STAGE_WORDS
from callscope.suites.lint import RULES

__all__ = ["IMPORT_FLAGS", "NAMES", "glossary_markdown", "write_glossary"]

NAMES: Mapping[str, Mapping[str, str]] = {
    "acceptance": {
        "accepted": "a decision of the model was observed",
        "schema_rejected": "the provider refused the tools' schema; the model was not asked",
        "authentication_error": "the key, or its permissions, were refused",
        "rate_limited": "too many requests, or the quota is spent",
        "timeout": "no answer in time",
        "provider_error": "any other error of the provider or the connection, also a 200 with an error in it",
        "harness_error": "callscope itself failed",
    },
    "selection": {
        "correct_tool": "the required calls, and no wrong one in their place",
        "wrong_tool": "a call, but of another tool than the required one",
        "called_when_abstention_expected": "a call where none was right",
        "no_call_when_expected": "words, and no call, where one was required; also a call written into the text",
        "multiple_calls_when_one_expected": "more than one call where exactly one was required",
        "clarified_as_expected": "a question that names everything that is missing, and no call",
        "clarified_unnecessarily": "a question although nothing was missing",
        "abstained_correctly": "no call, where none was right",
        "answered_instead_of_clarifying": "words that neither ask nor name what is missing",
        "guessed_instead_of_clarifying": "a call although a needed value was missing",
        "refused": "the model declined where a call or a question was expected",
        "undecided": "no rule could tell; counted apart, in no rate",
        "not_observed": "coverage loss: no decision was seen",
    },
    "structure": {
        "valid": "the arguments keep the tool's schema",
        "invalid": "the arguments are a JSON object that breaks the schema",
        "malformed": "the arguments are no JSON object: cut off, invalid, or nested too deeply",
        "not_applicable": "no call, or none whose tool and schema can be judged",
    },
    "semantics": {
        "exact": "every argument equals what is expected",
        "acceptable": "equal in a way that the case or the schema allows",
        "wrong": "a value is missing, wrong, forbidden or unexpected",
        "undecided": "rules cannot judge the values; counted apart, in no rate",
        "not_applicable": "no call of an expected tool to compare",
    },
    "attribution": {
        "correct": "the calls, or their absence, are right, as PluginEval defines it; strict `passed` is another thing",
        "miss_recall": "a call was needed, and the needed tool was not called",
        "parameter_error.temporal": "right tool; a wrong argument that states a time",
        "parameter_error.missing": "right tool; a needed argument is missing",
        "parameter_error.value": "right tool; a wrong, unexpected or malformed argument",
        "over_recall": "a call was made where none was right",
        "judge_failure": "left open by the rules, and by a judge if one was asked; out of `passed`, in recall FN",
        "not_observed": "coverage loss",
    },
    "violations": {
        "extra_call": "more calls than the case requires, the required ones among them or not",
        "success_claimed_before_execution": "words say that an action or look-up is done before any tool has answered",
        "invented_value": "a value that nobody gave: for a name that is missing, or unexpected and not in the prompt",
    },
}
"""Stage -> value -> meaning, in the order of the contract."""

SCORING_FLAGS: Mapping[str, str] = {
    "text_like_a_call": "the text is JSON of a name and parameters that names no offered tool: data, or a call",
    "gold_outside_schema": "a call meets the case's rules and still breaks the schema: the case is at fault",
}
"""Flags that scoring adds to those of the outcome."""

IMPORT_FLAGS: Mapping[str, str] = {
    "bare_name": "recorded Python text has a name or a call where a value belongs; it is kept as its letters",
    "source_text": "recorded Java or JavaScript text: every value in it is source, read by the type of its parameter",
    "python_call": "the calls were read out of Python text",
}
"""Flags of answers that another benchmark recorded."""

_HEAD = """# Glossary

Every name that a verdict, an outcome or `callscope lint` may say. This page is written by
`callscope.reports.glossary`; [Scoring](scoring.md) says how each is decided.
"""


def glossary_markdown() -> str:
    """The whole of docs/glossary.md."""
    parts = [_HEAD]
    parts += [_part(f"{stage[:1].upper()}{stage[1:]}", stage_name(stage), names) for stage, names in NAMES.items()]
    stages = {name: f"{letter}: {about}" for name, (letter, about) in STAGE_WORDS.items()}
    parts.append(
        _part("Failing stages", "the first stage at which a trial broke, with its letter in the report", stages)
    )
    flags = dict(sorted({**FLAGS, **SCORING_FLAGS, **IMPORT_FLAGS}.items()))
    parts.append(_part("Flags", "evidence beside an outcome or verdict, never a judgement", flags))
    rules = {rule.name: f"{rule.severity}: {rule.about}" for rule in RULES}
    parts.append(_part("Lint rules", "what `callscope lint` looks for in a suite", rules))
    return "\n".join(parts)


def stage_name(stage: str) -> str:
    """What the values of a stage answer."""
    return {
        "acceptance": "was a decision of the model observed?",
        "selection": "was the right thing done?",
        "structure": "do the arguments keep the tool's schema?",
        "semantics": "are the values the right ones?",
        "attribution": "what kind of error was it?",
        "violations": "what fails a trial although every stage may be right",
    }[stage]


def _part(title: str, about: str, names: Mapping[str, str]) -> str:
    rows = "\n".join(_row(names.items()))
    return f"## {title}\n\n{about[:1].upper()}{about[1:]}\n\n| name | meaning |\n| --- | --- |\n{rows}\n"


def _row(names: Iterable[tuple[str, str]]) -> list[str]:
    return [f"| `{name}` | {about.replace('|', chr(92) + '|')} |" for name, about in names]


def write_glossary(file: str | Path) -> None:
    """Write the page to `file`."""
    Path(file).write_text(glossary_markdown(), encoding="utf-8")
