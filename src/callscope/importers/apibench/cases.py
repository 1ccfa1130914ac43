"""APIBench's files as suites: a question and the call that loads the model it asks for. Marks gold that is at fault.

The gold call's model must be named exactly. Another entry of the API database for the same model and the same domain
is an alternative (another loader, another task). Options may be left out and are not judged, but for one that the gold
states as a number or a truth value: it must not be contradicted.

| tag `gold-defect:…`  | what is at fault                                                         | excluded |
|----------------------|--------------------------------------------------------------------------|----------|
| misaligned           | the question is not the one in the gold's row                            | yes      |
| no-call              | the gold is a shell command or words                                     | yes      |
| no-model             | the gold names no model (a variable, or nothing), nor a task or repository | yes    |
| not-python           | the gold is no valid Python; it can be read all the same                 | no       |
| unquoted             | a name in the gold lacks its quotes                                      | no       |
| not-in-database      | the API database has no such call                                        | no       |
| domain-drift         | the database gives the call another domain than the gold's row           | no       |
| duplicate-question   | asked before, with another gold                                          | no       |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import structs

from callscope.contract import Alternative, ArgumentRules, Case, ExpectTool, ToolCall
from callscope.errors import InputError
from callscope.importers.apibench.hubs import HUBS, Hub
from callscope.importers.apibench.loads import stated_gold
from callscope.importers.base import Imported, SuiteFiles
from callscope.importers.material import Row, read_rows, suite_files, text_field
from callscope.importers.pycalls import PyFault, parse_call
from callscope.jsontext import JsonFault, parse_json

__all__ = ["NAME", "kind_of", "read"]

NAME = "apibench"
_SYSTEM = "Choose the model that fits the request best, and load it with the tool.\n"
_FILE = re.compile(
    r"(?:^|/)(?:(?P<eval>\w+)_eval\.jsonl?|(?P<api>\w+)_api\.jsonl?|questions_(?P<ask>\w+)_0_shot\.jsonl?)$"
)
_INSTRUCTION = re.compile(r"\s*#{2,4} ?Instruction:?(.*?)(?:#{2,4} ?Output:?|\Z)", re.DOTALL)
_UNQUOTED = re.compile(r"[\w.@]+(?:[-/][\w.@]+)+")
_NOTES = {
    "misaligned": "questions stand beside the gold of another: excluded",
    "no-call": "golds are no call: excluded",
    "no-model": "golds name no model: excluded, unless they name a repository or a task",
    "not-python": "golds are no valid Python; those that can be read are",
    "unquoted": "golds name a model or a task without quotes",
    "not-in-database": "golds are not in the API database",
    "domain-drift": "golds have another domain in the API database",
    "duplicate-question": "questions are asked a second time",
}


class _Files(NamedTuple):
    """A hub's files: the rows of gold, of the API database and of the questions, each empty where there is none."""

    golds: tuple[Row, ...]
    entries: tuple[Row, ...]
    questions: tuple[Row, ...]


class _Made(NamedTuple):
    case: Case
    defects: tuple[str, ...]


def kind_of(path: str) -> tuple[str, str] | None:
    """(hub, eval | api | ask) of a published file; None for any other."""
    found = _FILE.search(path)
    if found is None:
        return None
    kind = found.lastgroup or ""
    hub = next((hub.name for hub in HUBS.values() if found[kind] in hub.files), None)
    return None if hub is None else (hub, kind)


def read(files: Mapping[str, bytes]) -> Imported:
    """One suite for each hub whose evaluation file is there. Raises InputError naming file and line."""
    by_kind: dict[tuple[str, str], tuple[Row, ...]] = {}
    for path in sorted(files, key=lambda path: (path.count("/"), path)):
        kind = kind_of(path)
        if kind is not None and kind not in by_kind:
            by_kind[kind] = read_rows(path, files[path])
    suites, notes = [], []
    for hub in HUBS.values():
        golds, entries, questions = (by_kind.get((hub.name, kind), ()) for kind in ("eval", "api", "ask"))
        if not golds:
            if entries or questions:
                notes.append(f"{hub.suite}: left out, there is no {hub.name}_eval.json")
            continue
        suite, told = _suite(hub, _Files(golds, entries, questions))
        suites.append(suite)
        notes += told
    return Imported(tuple(suites), tuple(notes))


def _suite(hub: Hub, files: _Files) -> tuple[SuiteFiles, list[str]]:
    made = list(_cases(hub, files))
    notes = [
        f"{hub.suite}: no {what} file, {so}"
        for rows, what, so in (
            (files.questions, "questions", "the questions are taken out of the gold's rows"),
            (files.entries, "API database", "there are no alternatives and no verdicts of the benchmark's own"),
        )
        if not rows
    ]
    if files.questions:
        missing = sorted(
            set(range(1, len(files.golds) + 1)) - {_question_id(row, files.golds) for row in files.questions}
        )
        if missing:
            notes.append(f"{hub.suite}: {len(missing)} golds have no question: rows {_listed(map(str, missing))}")
    for kind, says in _NOTES.items():
        ids = [each.case.id for each in made if kind in each.defects]
        if ids:
            notes.append(f"{hub.suite}: gold-defect:{kind}: {len(ids)} {says} ({_listed(ids)})")
    cases = [each.case for each in made]
    if cases:
        whole = [[text_field(row, "api_call"), text_field(row, "domain")] for row in files.entries]
        cases[0].metadata["benchmark"]["database"] = whole
    return suite_files(hub.suite, NAME, hub.title, _SYSTEM, [hub.tool], cases), notes


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:5]) + (", …" if len(listed) > 5 else "")


def _question_id(row: Row, golds: tuple[Row, ...]) -> int:
    number = row.value.get("question_id")
    if type(number) is int and 1 <= number <= len(golds):
        return number
    expected = f"a row of the evaluation file, 1 to {len(golds)}"
    raise InputError(
        "names no gold", file=row.file, line=row.line, field="question_id", found=number, expected=expected
    )


def _asked(files: _Files) -> Iterator[tuple[int, str, Row]]:
    """Each question's number, its text and the row of its gold."""
    if not files.questions:
        for number, gold in enumerate(files.golds, 1):
            yield number, _instruction(gold), gold
    seen: set[int] = set()
    for row in files.questions:
        number = _question_id(row, files.golds)
        if number in seen:
            raise InputError("is used twice", file=row.file, line=row.line, field="question_id", found=number)
        seen.add(number)
        yield number, _unescaped(text_field(row, "text")), files.golds[number - 1]


def _unescaped(text: str) -> str:
    """A question as it was meant: the published files hold it with one layer of backslashes too many."""
    text = text.strip()
    try:
        value = parse_json(f'"{text}"').value
    except JsonFault:
        value = text.replace("\\n", "\n").replace('\\"', '"')
    return str(value).strip()


def _instruction(gold: Row) -> str:
    found = _INSTRUCTION.match(text_field(gold, "code"))
    return found[1].strip() if found else ""


def _cases(hub: Hub, files: _Files) -> Iterator[_Made]:
    domains: dict[str, str] = {}
    equivalent: dict[tuple[Any, str], list[ToolCall]] = {}
    for row in files.entries:
        api_call, listed = text_field(row, "api_call"), text_field(row, "domain")
        domains.setdefault(api_call, listed)
        call = _gold(hub, api_call)
        if call is not None and isinstance((call.arguments or {}).get("model"), str):
            equivalent.setdefault(((call.arguments or {})["model"], listed), []).append(call)
    seen: set[str] = set()
    for number, question, row in _asked(files):
        data = row.value.get("api_data")
        domain = data.get("domain") if isinstance(data, dict) else None
        if not isinstance(domain, str):
            raise InputError("this must be text", file=row.file, line=row.line, field="api_data.domain", found=domain)
        api_call = text_field(row, "api_call")
        squeezed = "".join(question.split()).casefold()
        call = _gold(hub, api_call)
        defects = [
            name
            for name, there in (
                ("misaligned", bool(_instruction(row)) and squeezed != "".join(_instruction(row).split()).casefold()),
                ("not-python", not _is_python(api_call)),
                ("unquoted", call is not None and call != stated_gold(hub, api_call)),
                ("not-in-database", bool(domains) and api_call not in domains),
                ("domain-drift", domains.get(api_call, domain) != domain),
                ("duplicate-question", squeezed in seen),
            )
            if there
        ]
        seen.add(squeezed)
        about = {"name": NAME, "hub": hub.name, "question_id": number, "domain": domain, "api_call": api_call}
        yield _made(
            hub,
            Case(
                id=f"{hub.name}-{number}",
                prompt=question,
                expected=_any_call(hub),
                tags=(f"domain:{domain}",),
                behaviour="positive_selection",
                metadata={"benchmark": about},
            ),
            call,
            defects,
            equivalent,
        )


def _made(
    hub: Hub,
    case: Case,
    call: ToolCall | None,
    defects: list[str],
    equivalent: Mapping[tuple[Any, str], list[ToolCall]],
) -> _Made:
    """The case with its expectation, and what is at fault with it."""
    excluded = "the question and the gold are of different rows" if "misaligned" in defects else None
    expected = case.expected
    if call is None or call.arguments is None:
        defects.append("no-call")
        excluded = excluded or "the gold is no call"
    else:
        model = call.arguments.get("model")
        if not isinstance(model, str):
            defects.append("no-model")
            if not any(isinstance(call.arguments.get(name), str) for name in ("repo_or_dir", "task")):
                excluded = excluded or "the gold names no model"
        others = equivalent.get((model, case.metadata["benchmark"]["domain"]), []) if isinstance(model, str) else []
        rules = _rules(hub, call.arguments)
        alternatives = {
            repr(other): Alternative(other) for other in (_rules(hub, each.arguments or {}) for each in others)
        }
        alternatives.pop(repr(rules), None)
        expected = ExpectTool(hub.tool.name, rules, tuple(alternatives.values()))
    tags = (*case.tags, *(f"gold-defect:{defect}" for defect in defects))
    return _Made(structs.replace(case, expected=expected, tags=tags, excluded=excluded), tuple(defects))


def _any_call(hub: Hub) -> ExpectTool:
    """What stands in a case whose gold says nothing: it is excluded."""
    return ExpectTool(hub.tool.name, ArgumentRules(constraints={name: {} for name in hub.tool.parameters["required"]}))


def _rules(hub: Hub, arguments: Mapping[str, Any]) -> ArgumentRules:
    equal = {name: value for name, value in arguments.items() if name != "options" and isinstance(value, str)}
    options = arguments.get("options")
    bound = {
        name: {"const": value}
        for name, value in (options if isinstance(options, dict) else {}).items()
        if type(value) in (bool, int, float) or name == "model"
    }
    constraints = {"options": {"type": "object", "properties": bound}} if bound else {}
    optional = ["options"]
    if hub.name == "torchhub" and "model" not in equal:
        optional.append("model")  # the gold leaves the entry point open
    if hub.name == "huggingface" and "task" in equal:
        optional.append("task")  # pipeline finds the task by the model
        if "model" not in equal:
            optional = ["options", "model"]
    return ArgumentRules(required_equals=equal, optional=tuple(optional), constraints=constraints)


def _gold(hub: Hub, api_call: str) -> ToolCall | None:
    """The gold call in canonical form; None where it is no call."""
    call = stated_gold(hub, api_call)
    if call is None or call.arguments is None:
        return None
    return ToolCall(None, call.name, {name: _quoted(value) for name, value in call.arguments.items()})


def _quoted(value: Any) -> Any:
    """A model's or task's name that the gold states without quotes, as the text it was meant to be."""
    source = value.get("expression") if isinstance(value, dict) else None
    return source if isinstance(source, str) and _UNQUOTED.fullmatch(source) else value


def _is_python(text: str) -> bool:
    try:
        parse_call(text)
    except PyFault as fault:
        return fault.reason == "not_a_call"
    return True
