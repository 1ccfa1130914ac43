"""An audit as a sheet to fill in, CSV or JSONL, and a filled sheet read back.

Pure. In CSV, text that a spreadsheet would take for a formula gets a leading apostrophe, which reading takes off again.
A row that says nothing new is passed over, so a sheet can be filled in and read back in parts.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from callscope.audit.designs import DESIGNS, DesignName, question
from callscope.audit.gold import read_gold
from callscope.audit.items import MAX_NOTE, Answer, AuditItem
from callscope.audit.shown import gold_calls, gold_words, json_text, plain_answer, predicted_calls, predicted_words
from callscope.errors import InputError
from callscope.jsontext import JsonFault, dump_faithful, parse_json
from callscope.reports.safe import clip, csv_cell, inert
from callscope.suites import SuiteFaults

__all__ = ["read_sheet", "to_csv", "to_jsonl"]

NOT_ASKED = "-"
"""What stands in the cell of a question that an item is not asked."""

_MOST = 30_000
"""Characters of a cell: a spreadsheet holds 32,767. The JSONL sheet has all."""

_SHOWN = ("query", "earlier", "reference_time", "tools", "gold", "predicted")
_WRITTEN = ("note", "correction")


_STATED_DELIMITER = re.compile(r"(?i)sep=([,;\t])[\r\n]")


class _Row(NamedTuple):
    """One row of a sheet, wherever it came from: its line from 1, its cells as text, whether `_quoted` wrote them. What
    has no cell at all stays as it was."""

    line: int
    cells: Mapping[str, str]
    quoted: bool


def _questions(design: DesignName) -> tuple[str, ...]:
    return tuple(each.name for each in DESIGNS[design].questions)


def _shown(item: AuditItem) -> dict[str, str]:
    tools = [f"{tool.name}: {tool.description}\n{json_text(tool.parameters)}" for tool in item.tools]
    calls = [f"{call['kind']} {call['name']} {call['arguments']}" for call in gold_calls(item.gold)]
    answered = "" if item.predicted is None else _predicted(item)
    return {
        "query": inert(item.query),
        "earlier": "\n".join(f"{said.role}: {inert(said.text)}" for said in item.messages),
        "reference_time": inert(item.reference_time or ""),
        "tools": "\n\n".join(inert(tool) for tool in tools),
        "gold": "\n".join([gold_words(item.gold), *calls]),
        "predicted": answered,
    }


def _predicted(item: AuditItem) -> str:
    assert item.predicted is not None
    calls = [f"{call['name']} {call['arguments']}" for call in predicted_calls(item.predicted)]
    text = [] if item.predicted.text is None else [f"text: {inert(item.predicted.text)}"]
    return "\n".join([predicted_words(item.predicted), *calls, *text])


def to_csv(design: DesignName, items: Sequence[AuditItem], answers: Mapping[str, Answer]) -> str:
    """A sheet of these items in this order, with what is answered so far."""
    names = _questions(design)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(("item", *_SHOWN, *names, *_WRITTEN))
    for item in items:
        given = plain_answer(answers.get(item.id))
        cells = [given["answers"].get(name, "") if name in item.asked else NOT_ASKED for name in names]
        shown = (csv_cell(clip(text, _MOST)) for text in _shown(item).values())
        row = (item.id, *shown, *cells, _quoted(given["note"]), given["correction"])
        writer.writerow(row)
    return out.getvalue()


def _quoted(note: str) -> str:
    """A note as its cell: with an apostrophe in front where it begins like a formula, or like a note so quoted."""
    shown = inert(note)
    return f"'{shown}" if _like_formula(shown.lstrip("'")) else shown


def _unquoted(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _like_formula(cell.lstrip("'")) else cell


def _like_formula(text: str) -> bool:
    return csv_cell(text) != inert(text)


def to_jsonl(items: Sequence[AuditItem], answers: Mapping[str, Answer]) -> bytes:
    """The same as one JSON object a line; `answers` holds null for what is not answered yet."""
    lines = []
    for item in items:
        given = answers.get(item.id)
        line = {
            "item": item.id,
            **{name: value for name, value in msgspec.to_builtins(item).items() if name not in {"id", "asked", "item"}},
            "answers": {name: None if given is None else given.answers.get(name) for name in item.asked},
            "note": "" if given is None else given.note,
            "correction": None if given is None else given.correction,
        }
        lines.append(dump_faithful(line) + b"\n")
    return b"".join(lines)


def read_sheet(
    data: bytes, design: DesignName, items: Mapping[str, AuditItem], before: Mapping[str, Answer], *, file: str
) -> list[Answer]:
    """What a filled sheet says that `before` does not, in its order. JSONL where its first line is an object, else CSV
    with commas, semicolons or tabs, as UTF-8 or (with its mark, as spreadsheets write "Unicode text") UTF-16.

    Rows of which nothing is filled in are passed over. Raises SuiteFaults (an InputError) with every fault: file, line
    and column of each.
    """
    text = _text(data, file)
    faults: list[InputError] = []
    rows = _json_rows(text, faults) if text.lstrip().startswith("{") else _csv_rows(text, design)
    answers: dict[str, Answer] = {}
    seen: dict[str, int] = {}
    try:
        for row in rows:
            answer = _answer(row, items, before, faults)
            if answer is None:
                continue
            if answer.item in seen:
                where = f"It is first on line {seen[answer.item]}"
                faults.append(
                    InputError(
                        "this item stands here twice", line=row.line, field="item", found=answer.item, hint=where
                    )
                )
            seen.setdefault(answer.item, row.line)
            if not answer.same(before.get(answer.item)):
                answers[answer.item] = answer
    except InputError as error:
        faults.append(error)
    if faults:
        raise SuiteFaults([fault.at(file=file) for fault in faults])
    return list(answers.values())


def _text(data: bytes, file: str) -> str:
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if wide else "utf-8").lstrip("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"this is not {'UTF-16' if wide else 'UTF-8'} text"
        raise InputError(what, file=file, line=line, hint="Save the sheet as UTF-8") from None


def _csv_rows(text: str, design: DesignName) -> Iterator[_Row]:
    stated = _STATED_DELIMITER.match(text)  # a line by which spreadsheets are told the delimiter
    head = re.split(r"[\r\n]", text, maxsplit=1)[0]
    delimiter = stated[1] if stated else max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    needed = ("item", *_questions(design), *_WRITTEN)
    columns: list[str] | None = None
    last = 0
    try:
        for cells in reader:
            line, last = last + 1, reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if columns is None and stated and line == 1:
                continue
            if columns is None:
                columns = [cell.strip() for cell in cells]
                for name in needed:
                    if columns.count(name) != 1:
                        what = "a column is missing" if name not in columns else "a column stands here twice"
                        raise InputError(what, line=line, field=name, expected=", ".join(needed))
                continue
            if len(cells) > len(columns):
                raise InputError(
                    "more cells than columns", line=line, found=len(cells), expected=f"{len(columns)} cells"
                )
            yield _Row(
                line, {name: cells[place] if place < len(cells) else "" for place, name in enumerate(columns)}, True
            )
    except csv.Error as error:
        raise InputError(f"this is no CSV: {error}", line=last + 1) from None
    if columns is None:
        raise InputError("the sheet is empty", line=1)


def _json_rows(text: str, faults: list[InputError]) -> Iterator[_Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield _json_row(line, number)
        except JsonFault as fault:
            faults.append(InputError(f"this is no JSON: {fault}", line=number, expected="one object on each line"))
        except InputError as fault:
            faults.append(fault)


def _json_row(line: str, number: int) -> _Row:
    """The row of one line. Raises JsonFault, or InputError where it is no row."""
    value, flags = parse_json(line)
    if "duplicate_keys" in flags:
        raise InputError("a name stands here twice", line=number, hint="Keep one of the two")
    answers = value.get("answers", {}) if isinstance(value, dict) else None
    if not isinstance(answers, dict) or value.keys().isdisjoint({"answers", *_WRITTEN}):
        raise InputError("this is no row", line=number, expected="an object with item and answers, note or correction")
    known = _all_questions()
    if unknown := [name for name in answers if name not in known]:
        raise InputError(
            "there is no such question", line=number, field=unknown[0], expected=f"one of {', '.join(known)}"
        )
    cells = {"item": value.get("item"), **answers}
    cells |= {"note": value["note"]} if "note" in value else {}
    for name, cell in cells.items():
        if not isinstance(cell, str | None):
            raise InputError("this must be text", line=number, field=name, found=cell)
    cells = {name: cell or "" for name, cell in cells.items()}
    if "correction" in value:
        correction = value["correction"]
        cells["correction"] = "" if correction in (None, "") else json.dumps(correction)
    return _Row(number, cells, False)


def _answer(
    row: _Row,
    items: Mapping[str, AuditItem],
    before: Mapping[str, Answer],
    faults: list[InputError],
) -> Answer | None:
    """The answer of a row, or None where nothing is filled in, or a fault was noted."""
    noted = len(faults)

    def fault(message: str, column: str, **facts: Any) -> None:
        faults.append(InputError(message, line=row.line, field=column, **facts))

    item = items.get(row.cells["item"].strip())
    if item is None:
        fault("there is no such item in this audit", "item", found=row.cells["item"])
        return None
    given: dict[str, str] = {}
    for name in row.cells.keys() & set(_all_questions()):
        cell = row.cells[name].strip()
        if cell in {"", NOT_ASKED, "'" + NOT_ASKED}:
            continue
        if name not in item.asked:
            fault("this item is not asked that", name, found=cell, expected=f"nothing, or {NOT_ASKED}")
            continue
        value = _value(name, cell)
        if value is None:
            fault("this is no answer", name, found=cell, expected=" | ".join(_accepted(name)))
        else:
            given[name] = value
    known = before.get(item.id) or Answer(item.id, {})
    note = row.cells.get("note", known.note)
    if row.quoted:
        note = known.note if note == _quoted(known.note) else _unquoted(note)
    correction = known.correction
    written = row.cells.get("correction")
    for name, text, kept in (("note", note, known.note), ("correction", written or "", None)):
        if len(text) > MAX_NOTE and text != kept:
            fault(f"this is longer than {MAX_NOTE} characters", name, found=f"{len(text)} characters")
    if written is not None and len(faults) == noted:
        try:
            correction = read_gold(written, item)
        except InputError as error:
            fault(str(error).replace("\n", "; "), "correction")
    if len(faults) > noted or not (given or note.strip() or correction):
        return None
    given |= {name: known.answers[name] for name in known.answers if name not in row.cells}
    ordered = {name: given[name] for name in item.asked if name in given}
    return Answer(item.id, ordered, note, correction)


def _all_questions() -> tuple[str, ...]:
    return tuple(each.name for design in DESIGNS.values() for each in design.questions)


def _accepted(name: str) -> tuple[str, ...]:
    return tuple(question(name).answers)


def _value(name: str, cell: str) -> str | None:
    """The answer a cell means: itself in any case, its words, y or n, or its number from 1 where there are more than
    two."""
    words: dict[str, str] = {}
    for number, (value, shown) in enumerate(question(name).answers.items(), 1):
        words |= {value: value, shown: value}
        words[str(number) if len(question(name).answers) > 2 else value[0]] = value
    return words.get(cell.casefold())
