"""Claims about sheets: what is exported comes back, nothing in one is a formula, and each fault has its line and
column."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from review_kit import case, desk, make_audit, reference_material, suite_files, thirty_trials

from callscope.audit.items import Answer
from callscope.audit.material import item_id
from callscope.audit.sheets import read_sheet, to_csv, to_jsonl
from callscope.audit.store import AuditFolder
from callscope.errors import InputError
from callscope.reports.safe import inert
from callscope.suites import load_suite_bytes

FORMULA = '=HYPERLINK("http://evil.test";"x")'


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> AuditFolder:
    cases = [case(1, prompt=FORMULA), case(2, prompt='+1 line\nand, "another"'), case(3, "negative", prompt="@home")]
    material = reference_material(load_suite_bytes(suite_files(cases)))
    return make_audit(tmp_path_factory.mktemp("a") / "audit", material, {"positive": 2, "negative": 1})


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> AuditFolder:
    return thirty_trials(tmp_path_factory.mktemp("b") / "audit")


def read(folder: AuditFolder, data: bytes, before: dict[str, Answer] | None = None) -> list[Answer]:
    return read_sheet(data, folder.about.design, folder.by_id, before or {}, file="sheet.csv")


def filled(folder: AuditFolder, **columns: str) -> bytes:
    """The exported sheet with these columns filled in on every row that is asked them."""
    rows = list(csv.DictReader(io.StringIO(to_csv(folder.about.design, folder.items, {}))))
    for row in rows:
        row |= {name: value for name, value in columns.items() if row[name] != "-"}
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def test_an_empty_sheet_read_back_says_nothing(reference: AuditFolder, judge: AuditFolder) -> None:
    for folder in (reference, judge):
        assert read(folder, to_csv(folder.about.design, folder.items, {}).encode()) == []
        assert read(folder, to_jsonl(folder.items, {})) == []


def test_no_cell_of_a_sheet_is_taken_for_a_formula(reference: AuditFolder) -> None:
    rows = list(csv.reader(io.StringIO(to_csv("reference", reference.items, {}))))
    assert any(FORMULA in cell for row in rows for cell in row)
    for row in rows[1:]:
        for cell in row:
            assert cell == "-" or not cell.lstrip().startswith(("=", "+", "-", "@"))


def test_a_filled_sheet_is_read_whatever_program_saved_it(reference: AuditFolder) -> None:
    sheet = filled(reference, need="Y", target="No", args=" yes ", note="n")
    answers = {answer.item: answer for answer in read(reference, sheet)}
    for item in reference.items:
        whole = {"need": "yes", "target": "no", "args": "yes"}
        assert answers[item.id].answers == {name: whole[name] for name in item.asked}
    semicolons = io.StringIO()
    csv.writer(semicolons, delimiter=";").writerows(csv.reader(io.StringIO(sheet.decode())))
    for other in (b"\xef\xbb\xbf" + sheet, sheet.replace(b"\r\n", b"\n"), semicolons.getvalue().encode()):
        assert {answer.item: answer for answer in read(reference, other)} == answers


def test_attributions_are_read_by_name_by_words_and_by_number(judge: AuditFolder) -> None:
    for cell, means in (("missed", "missed"), ("Missed call", "missed"), ("2", "missed"), ("4", "parameter")):
        answers = read(judge, filled(judge, attribution=cell))
        assert {answer.answers["attribution"] for answer in answers} == {means}
        assert len(answers) == 30


_TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf", "Cn", "Co", "Zl", "Zp"]), max_size=30)


@given(
    st.lists(
        st.tuples(st.sampled_from(["yes", "no"]), _TEXT | st.sampled_from(["=1+1", "'=x", "-", "-1", "a\nb"])),
        min_size=3,
        max_size=3,
    )
)
def test_what_was_answered_comes_back_as_it_was(reference: AuditFolder, given_: list[tuple[str, str]]) -> None:
    answers = {
        item.id: Answer(item.id, {"need": word}, note, correction={"kind": "text"} if word == "no" else None)
        for item, (word, note) in zip(reference.items, given_, strict=True)
    }
    as_csv = to_csv("reference", reference.items, answers).encode()
    as_json = to_jsonl(reference.items, answers)
    assert read(reference, as_csv, answers) == []  # nothing new
    assert read(reference, as_json, answers) == []
    assert {answer.item: answer for answer in read(reference, as_json)} == answers
    assert {answer.item: answer for answer in read(reference, as_csv)} == answers


def fault(folder: AuditFolder, data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, data)
    return str(caught.value)


def test_a_wrong_cell_is_named_with_its_line_and_column(reference: AuditFolder) -> None:
    place = [item.id for item in reference.items].index(next(i.id for i in reference.items if len(i.asked) == 1))
    rows = list(csv.reader(io.StringIO(to_csv("reference", reference.items, {}))))
    column = rows[0].index
    rows[1][column("need")] = "maybe"
    rows[place + 1][column("args")] = "yes"
    rows[3][column("correction")] = "[{"
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    starts = [1]
    for row in rows:
        starts.append(starts[-1] + 1 + sum(cell.count("\n") for cell in row))
    text = fault(reference, out.getvalue().encode())
    assert f"sheet.csv:{starts[1]}: need: this is no answer (found maybe; expected yes | no)" in text
    assert f"sheet.csv:{starts[place + 1]}: args: this item is not asked that" in text
    assert f"sheet.csv:{starts[3]}: correction: " in text


def as_saved(sheet: bytes, delimiter: str, end: str, encoding: str) -> bytes:
    """The sheet as another program would save it."""
    out = io.StringIO()
    rows = csv.reader(io.StringIO(sheet.decode("utf-8-sig"), newline=""))
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
    return out.getvalue().encode(encoding)


@pytest.mark.parametrize(
    ("delimiter", "end", "encoding", "before"),
    [
        ("\t", "\r\n", "utf-16", b""),  # "Unicode text"
        ("\t", "\r\n", "utf-16-be", b"\xfe\xff"),
        (";", "\r\n", "utf-8-sig", b""),
        (";", "\r\n", "utf-8", b"sep=;\r\n"),
        (",", "\r", "utf-8", b""),
        (",", "\n", "utf-8-sig", b"\xef\xbb\xbf"),
    ],
)
def test_a_sheet_is_read_however_a_spreadsheet_saved_it(
    reference: AuditFolder, delimiter: str, end: str, encoding: str, before: bytes
) -> None:
    sheet = filled(reference, need="yes", note='größer; "x", y')
    assert read(reference, before + as_saved(sheet, delimiter, end, encoding)) == read(reference, sheet)


def test_what_a_jsonl_row_does_not_mention_stays_as_it_was(reference: AuditFolder) -> None:
    item = next(item for item in reference.items if len(item.asked) == 3).id
    before = {item: Answer(item, {"need": "yes", "target": "yes", "args": "no"}, "why", {"kind": "text"})}

    def after(**row: Any) -> list[Answer]:
        return read_sheet(json.dumps({"item": item, **row}).encode(), "reference", reference.by_id, before, file="s")

    assert after(answers={"need": "yes"}) == []
    assert after(answers={"need": "no"}) == [
        replace(before[item], answers={"need": "no", "target": "yes", "args": "no"})
    ]
    assert after(note="new") == [replace(before[item], note="new")]
    assert after(answers={"need": None, "target": "yes", "args": "no"}, note="", correction="") == [
        Answer(item, {"target": "yes", "args": "no"})
    ]


@pytest.mark.parametrize("note", ["\r=1", "'\r", "=1\u202e", "\ufeff+", "'=", "''@x", "\t-", "plain", "-"])
def test_a_note_comes_back_as_it_was_or_as_it_is_shown(reference: AuditFolder, note: str) -> None:
    item = reference.items[0]
    sheet = to_csv("reference", [item], {item.id: Answer(item.id, {"need": "yes"}, note)}).encode()
    (answer,) = read(reference, sheet)
    assert answer.note in {note, inert(note)}


def test_a_note_or_correction_that_the_page_could_not_hold_is_refused(reference: AuditFolder) -> None:
    item = reference.items[0].id
    rows: list[dict[str, Any]] = [{"note": "n" * 20_001}, {"correction": {"kind": "no_call", "target": "n" * 20_001}}]
    for row in rows:
        assert "this is longer than 20000 characters" in fault(reference, json.dumps({"item": item, **row}).encode())


def test_no_id_of_an_item_reads_as_a_number() -> None:
    for number in range(3000):
        with pytest.raises(ValueError, match="could not convert"):
            float(item_id("reference", ("desk", number)))


def test_other_faults_of_a_sheet_are_named(reference: AuditFolder) -> None:
    sheet = filled(reference, need="yes")
    head, _, rest = sheet.partition(b"\r\n")
    row = csv.reader(io.StringIO(rest.decode())).__next__()
    assert "sheet.csv:1: target: a column is missing" in fault(reference, sheet.replace(b"target", b"goal", 1))
    assert "sheet.csv:1: need: a column stands here twice" in fault(reference, head + b",need\r\n")
    assert "this item stands here twice" in fault(reference, sheet + rest)
    assert "there is no such item in this audit (found nowhere)" in fault(
        reference, sheet.replace(row[0].encode(), b"nowhere")
    )
    assert "this is not UTF-8" in fault(reference, b"item,n\xe4ed\n")
    assert "the sheet is empty" in fault(reference, b"")
    assert "this is no CSV" in fault(reference, head + b'\r\n"a"b,c\r\n')
    assert "more cells than columns" in fault(reference, head + b"\r\n" + b",".join([b"x"] * 40))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"item": 3, "note": "x"}', "sheet.csv:1: item: this must be text (found 3)"),
        (b'{"item": "x", "answers": {"need": true}}', "sheet.csv:1: need: this must be text"),
        (b'{"item": "x", "answers": []}', "sheet.csv:1: this is no row"),
        (b'{"item"', "sheet.csv:1: this is no JSON"),
        (b'{"answers": {}}', "sheet.csv:1: item: there is no such item"),
        (b"{}", "sheet.csv:1: this is no row"),
        (b'{"item": "x", "answer": {"need": "yes"}}', "sheet.csv:1: this is no row"),
        (b'{"item": "x", "answers": {"Need": "yes"}}', "sheet.csv:1: Need: there is no such question"),
        (b'{"item": "x", "answers": {"note": "yes"}}', "sheet.csv:1: note: there is no such question"),
        (b'{"item": "x", "answers": {"need": "yes", "need": "no"}}', "sheet.csv:1: a name stands here twice"),
    ],
)
def test_a_line_of_a_jsonl_sheet_that_cannot_be_read_is_named(reference: AuditFolder, line: bytes, says: str) -> None:
    assert says in fault(reference, line)


def test_a_sheet_of_a_judges_audit_is_as_blind_as_the_page(judge: AuditFolder) -> None:
    for text in (to_csv("judge", judge.items, {}), to_jsonl(judge.items, {}).decode()):
        for word in ("stratum", "miss_recall", "secret-model", "evidence-of-the-judge"):
            assert word not in text


def test_a_jsonl_sheet_holds_each_item_whole(tmp_path: Path) -> None:
    folder = make_audit(tmp_path / "a", reference_material(desk(1, 0)), {"positive": 1})
    row: dict[str, Any] = json.loads(to_jsonl(folder.items, {}))
    assert row["answers"] == {"need": None, "target": None, "args": None}
    assert row["gold"]["name"] == "lookup_order"
    assert row["query"] == "Request 0 about ORD-000000."


def test_no_cell_is_larger_than_a_spreadsheet_holds(tmp_path: Path) -> None:
    suite = load_suite_bytes(suite_files([case(1, prompt="long " * 40_000)]))
    folder = make_audit(tmp_path / "a", reference_material(suite), {"positive": 1})
    sheet = to_csv("reference", folder.items, {folder.items[0].id: Answer(folder.items[0].id, {}, "'" * 19_999 + "=")})
    assert max(len(cell) for row in csv.reader(io.StringIO(sheet)) for cell in row) <= 32_767
    assert "170000 more characters" in sheet
    (answer,) = read(folder, sheet.encode())
    assert answer.note == "'" * 19_999 + "="
