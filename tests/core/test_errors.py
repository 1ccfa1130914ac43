"""A message says where, what was found, what was expected and what to do, on one printable line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callscope.errors import CallscopeError, EnvironmentProblem, InputError, RunFolderError, shown

TEXTS = [
    (InputError("is wrong"), "is wrong"),
    (InputError("is wrong", file="a.toml"), "a.toml: is wrong"),
    (InputError("is wrong", file=Path("d/a.toml"), line=3), "d/a.toml:3: is wrong"),
    (InputError("is wrong", line=3), "line 3: is wrong"),
    (InputError("is wrong", field="models[0].provider"), "models[0].provider: is wrong"),
    (InputError("is wrong", found="x"), "is wrong (found x)"),
    (InputError("is wrong", found=None), "is wrong (found None)"),
    (InputError("is wrong", found=""), "is wrong (found )"),
    (InputError("is wrong", expected="a name"), "is wrong (expected a name)"),
    (InputError("is wrong", hint="Mend it"), "is wrong. Mend it"),
    (
        InputError("is out of range", file="c.json", line=7, field="repeats", found=0, expected="1 to 9", hint="More"),
        "c.json:7: repeats: is out of range (found 0; expected 1 to 9). More",
    ),
    (InputError("unknown field", field="a\x1b[31m\nb"), "a\\x1b[31m\\x0ab: unknown field"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "text"), TEXTS, ids=lambda value: str(value)[:30])
def test_the_parts_that_are_known_stand_in_the_message(error: InputError, text: str) -> None:
    assert str(error) == text
    assert str(pickle.loads(pickle.dumps(error))) == text


def test_a_caller_fills_in_the_place_it_knows() -> None:
    error = InputError("is wrong", field="provider", found=1, expected="2", hint="3").at(file="f", line=4, prefix="m.")
    assert str(error) == "f:4: m.provider: is wrong (found 1; expected 2). 3"


def test_and_never_overwrites_what_is_known_already() -> None:
    error = InputError("is wrong", file="own", line=1, field="x").at(file="other", line=2)
    assert str(error) == "own:1: x: is wrong"


def test_a_prefix_stands_alone_where_there_is_no_field() -> None:
    assert InputError("is wrong").at(prefix="models[0].").field == "models[0]"
    assert InputError("is wrong").at().field is None
    assert InputError("is wrong").at(file="f").found is InputError("x").found


def test_an_environment_problem_says_what_to_do() -> None:
    assert str(EnvironmentProblem("no extra", hint="Install it")) == "no extra. Install it"
    assert (str(EnvironmentProblem("no extra")), EnvironmentProblem("m", hint="h").hint) == ("no extra", "h")


@pytest.mark.parametrize("kind", [InputError, EnvironmentProblem, RunFolderError])
def test_every_error_is_ours_and_ends_with_exit_code_two(kind: type[CallscopeError]) -> None:
    assert issubclass(kind, CallscopeError)
    assert kind("m").exit_code == 2


@given(st.text(), st.integers(1, 200))
def test_a_shown_value_is_one_printable_line_of_bounded_length(text: str, limit: int) -> None:
    line = shown(text, limit)
    assert line.isprintable()
    assert len(line) <= limit
    assert line.encode() or not text


SHOWN = [
    ("plain ü 中", "plain ü 中"),
    (["a", 1], "['a', 1]"),
    ("\x1b[0m\n", r"\x1b[0m\x0a"),
    ("\ud800", r"\xd800"),
    ("x" * 121, "x" * 119 + "…"),
    ("x" * 120, "x" * 120),
    (None, "None"),
]


@pytest.mark.parametrize(("value", "text"), SHOWN, ids=repr)
def test_a_value_as_it_may_stand_in_a_message(value: object, text: str) -> None:
    assert shown(value) == text
