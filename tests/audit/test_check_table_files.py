"""The file and the command of `check-table`: every dialect people save is read, everything else is refused by place."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.audit.table_file import MAX_BYTES, MAX_ROWS, read_table, read_table_bytes
from callscope.cli.audit_check_table import check_table
from callscope.errors import InputError

GOOD = "name,recall,positives\nGPT,49.20,2500\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


@pytest.mark.parametrize(
    "data",
    [
        GOOD.encode(),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.replace("\n", "\r").encode(),
        GOOD.replace(",", ";").replace("49.20", "49,20").encode(),
        GOOD.replace(",", "\t").encode(),
        b'"Model","Recall (%)","Positives"\n"GPT","49.20%","2,500"\n',
        b"MODEL, recall ,POSITIVES\n\n GPT , 49.20 % , 2500.0\n\n",
        b"system,Recall,positives\nGPT,+49.20,2500",
        b"sep=;\r\nname;recall;positives\r\nGPT;49,20;2500\r\n",
        b"name,recall,positives,,\nGPT,49.20,2500,,\n",
        b"name,recall,positives\nGPT,49.20,2500, ,\n",
    ],
)
def test_every_dialect_reads_the_same(data: bytes) -> None:
    (row,) = read_table_bytes(data)
    assert row.name == "GPT"
    assert row.recall is not None
    assert (row.recall.whole(2500), row.recall.decimals, row.positives) == ((1230, 1230), 2, 2500)


def test_the_line_of_a_fault_counts_the_one_that_names_the_separator() -> None:
    with pytest.raises(InputError) as caught:
        read_table_bytes(b"sep=,\nname,recall\nA,50\nB,x\n")
    assert caught.value.line == 4


@pytest.mark.parametrize(
    "extra", [b"name,recall,,\nA,50,,3\n", b"name,recall\nA,50,3\n", b"name,recall,,miss\nA,50,,3\n"]
)
def test_a_figure_under_no_name_is_never_dropped(extra: bytes) -> None:
    with pytest.raises(InputError, match=r"wrong number of cells|unknown column"):
        read_table_bytes(extra)


def test_other_names_of_a_column() -> None:
    data = b"name,recall,Acc.,miss recall,over-recall,parameter error\nA,50,60,20,10,30\n"
    (row,) = read_table_bytes(data)
    figures = (row.recall, row.accuracy, row.miss, row.over, row.param)
    assert [figure and figure.text for figure in figures] == ["50", "60", "20", "10", "30"]


def test_cells_that_state_nothing_are_nothing() -> None:
    (row,) = read_table_bytes("name,recall,judge failure,over,miss\n,,—,n/a,-\na,1,,,\n".encode())[:1] or (None,)
    assert row is not None
    assert (row.recall, row.judge_failure, row.over, row.miss, row.name) == (None, None, None, None, "line 2")


def test_a_quoted_name_may_hold_lines_and_delimiters() -> None:
    first, second = read_table_bytes(b'name,recall\n"a, b\nc",50\nd,60\n')
    assert (first.line, second.line) == (2, 4)
    assert first.name == "a, b\\x0ac"


REFUSED = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n,,\n", "is empty"),
    "header only": (b"name,recall\n", "no rows"),
    "no figures": (b"name\na\n", "no column of figures"),
    "no name": (b"recall,miss\n1,2\n", "no name column"),
    "binary": (bytes(range(256)) * 4, "no UTF-8 text"),
    "nul": (b"name,recall\na,\x00\n", "t:2: holds NUL"),
    "utf-16": (GOOD.encode("utf-16"), "no UTF-8 text"),
    "unknown column": (b"name,recall,foo\na,1,2\n", "t:1: column 3: unknown column (found foo"),
    "two names": (b"model,name,recall\na,b,1\n", "t:1: column 1: unknown column (found model"),
    "empty header": (b"name,,recall\na,,1\n", "column 2: unknown column"),
    "twice": (b"name,recall,Recall\na,1,2\n", "t:1: column 3: is also column 2"),
    "alias twice": (b"name,mix,weights\na,,\n", "is also column 2"),
    "long row": (b"name,recall\na,1,2\n", "t:2: wrong number of cells (found 3"),
    "short row": (b"name,recall,miss\n\na,1\n", "t:3: wrong number of cells (found 2"),
    "open quote": (b'name,recall\n"a,1\n', "t:2: is no CSV"),
    "bad quote": (b'name,recall\n"a"b,1\n', "t:2: is no CSV"),
    "nan": (b"name,recall\na,NaN\n", "t:2: recall: is no plain decimal number (found NaN"),
    "inf": (b"name,recall\na,-inf\n", "recall: is no plain"),
    "exponent": (b"name,recall\na,1e400\n", "recall: is no plain"),
    "digits": (b"name,recall\na," + b"9" * 5000 + b"\n", "recall: is no plain"),
    "arabic digits": ("name,recall\na,٤٩\n".encode(), "recall: is no plain"),
    "point alone": (b"name,recall\na,.\n", "recall: is no plain"),
    "word": (b"name,recall\na,high\n", "recall: is no plain"),
    "downward": (b"name,recall\na,3..2\n", "recall: a range goes upward"),
    "three ends": (b"name,recall\na,1..2..3\n", "recall: is no plain"),
    "comma decimal": (b'name,recall\na,"49,2"\n', "recall: is no plain"),
    "negative count": (b"name,positives\na,-5\n", "positives: is no count"),
    "fraction count": (b"name,positives\na,2.5\n", "positives: is no count"),
    "huge count": (b"name,positives\na,1" + b"0" * 400 + b"\n", "positives: is no count"),
    "large count": (b"name,positives\na,1000000000001\n", "positives: is no count"),
    "mix of two": (b"name,mix\na,.5/.5\n", "mix: is no difficulty mix"),
    "mix of nothing": (b"name,mix\na,0/0/0\n", "mix: a mix has shares"),
    "mix below": (b"name,mix\na,-1/1/1\n", "mix: a mix has shares"),
    "mix nan": (b"name,mix\na,nan/1/1\n", "mix: is no plain"),
    "classes": (b"name,judged\na,100\n", "judged: is no list"),
    "rows": (b"name,recall\n" + b"a,1\n" * 1_000_000, f"t:{MAX_ROWS + 2}: has too many rows"),
    "bytes": (b"name,recall\n" + b"a" * MAX_BYTES, "larger than"),
    "cell": (b"name,recall\n" + b"a" * 200_000 + b",1\n", "t:2: is no CSV"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_with_its_place(name: str) -> None:
    data, says = REFUSED[name]
    started = time.perf_counter()
    with pytest.raises(InputError) as caught:
        read_table_bytes(data, "t")
    assert says in str(caught.value)
    assert len(str(caught.value)) < 800
    assert time.perf_counter() - started < 5


@given(st.binary(max_size=200) | st.text(alphabet='name,recall;\t\n\r"0.5%/-e', max_size=80).map(str.encode))
def test_any_bytes_are_rows_or_a_refusal(data: bytes) -> None:
    try:
        rows = read_table_bytes(data)
    except InputError:
        return
    assert rows


@pytest.mark.parametrize("name", ["absent.csv", "", "nul\0name"])
def test_a_file_that_cannot_be_read_is_bad_input(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GOOD, 0),
        (GOOD + "Claude,67.61,2500\n", 1),
        (GOOD + "Sum,101,2500\n", 1),
    ],
)
def test_the_exit_code_says_whether_every_row_is_consistent(
    table: Path, capfdbinary: pytest.CaptureFixture[bytes], text: str, code: int
) -> None:
    table.write_text(text)
    assert check_table(table) == code
    shown, said = capfdbinary.readouterr()
    assert shown.startswith(b"GPT: consistent: recall 49.20 = 1230/2500\n")
    assert b"1 consistent" in said


def test_json_is_all_that_stdout_holds(table: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    table.write_text(GOOD + "[bold]x[/],67.61,2500\nSum,101,2500\n")
    assert check_table(table, json=True) == 1
    rows = json.loads(capsysbinary.readouterr().out)["rows"]
    assert [row["status"] for row in rows] == ["consistent", "needs_denominator", "impossible"]
    assert [row["name"] for row in rows] == ["GPT", "[bold]x[/]", "Sum"]
    assert rows[1]["stated"] == {"positives": 2500, "negatives": None}


def test_options_stand_in_where_a_row_states_nothing(table: Path) -> None:
    table.write_text("name,recall,over,easy,medium,hard,positives\na,65.84,29.00,93.9,65.3,10.8,\n")
    assert check_table(table, positives="2,500", negatives="500", mix="original") == 0
    assert check_table(table, positives="2500", negatives="500", mix="easy-weighted") == 1
    assert check_table(table, positives="2500", negatives="499") == 1
    assert check_table(table) == 1


@pytest.mark.parametrize("option", ["positives", "negatives", "mix"])
def test_options_are_checked_as_cells_are(table: Path, option: str) -> None:
    table.write_text(GOOD)
    with pytest.raises(InputError, match=f"--{option}: "):
        check_table(table, **{option: "nan"})  # type: ignore[arg-type]


def test_fifty_rows_take_seconds(table: Path) -> None:
    line = "67.60,68.17,13.95,29.10,2500,500,93.9,65.3,10.8\n"
    header = "name,recall,accuracy,miss,over,positives,negatives,easy,medium,hard\n"
    table.write_text(header + "".join(f"m{at},{line}" for at in range(50)))
    started = time.perf_counter()
    assert check_table(table) == 1
    assert time.perf_counter() - started < 30
