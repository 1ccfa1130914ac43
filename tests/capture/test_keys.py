"""Keys come from the environment by name, and their values never reach a message, a repr or a traceback."""

from __future__ import annotations

import traceback

import pytest

from callscope.capture.keys import Keyring, check_key_variable
from callscope.contract import ModelEntry
from callscope.errors import InputError

CANARY = "sk-canary-4711"


def model(variable: str | None, label: str = "a/b") -> ModelEntry:
    return ModelEntry(label, "a", "b", "openai-chat", api_key_env=variable)


def test_each_model_has_the_key_of_the_variable_it_names() -> None:
    models = [model("ONE"), model("TWO", "c/d"), model("ONE", "e/f"), model(None, "g/h")]
    keyring = Keyring(models, {"ONE": CANARY, "TWO": "another-key", "THREE": "unread"})
    assert [keyring.key_of(each) for each in models] == [CANARY, "another-key", CANARY, None]


def test_space_around_a_key_is_no_part_of_it() -> None:
    assert Keyring([model("KEY")], {"KEY": f" {CANARY}\r\n"}).key_of(model("KEY")) == CANARY


def test_the_redactor_knows_every_key_and_what_else_it_was_told() -> None:
    redactor = Keyring([model("KEY")], {"KEY": CANARY, "OTHER": "not-a-secret"}, ["server-token"]).redactor
    assert redactor.mask_text(f"{CANARY} server-token not-a-secret") == f"{'*' * 14} {'*' * 12} not-a-secret"


REFUSED = [
    ({}, "the environment variable KEY is not set. Set it: export KEY=…"),
    ({"KEY": ""}, "the environment variable KEY is not set"),
    ({"KEY": " \n"}, "the environment variable KEY is not set"),
    ({"KEY": "abcde"}, "the environment variable KEY holds fewer than 6 characters. A value that short"),
    ({"KEY": "sk-canary 4711"}, "the environment variable KEY holds characters that no header can carry"),
    ({"KEY": "sk-canary\n4711"}, "the environment variable KEY holds characters that no header can carry"),
    ({"KEY": "sk-canary\x7f"}, "the environment variable KEY holds characters that no header can carry"),
    ({"KEY": "sk-canäry"}, "the environment variable KEY holds characters that no header can carry"),
    ({"KEY": "sk-can\udcffry"}, "the environment variable KEY holds characters that no header can carry"),
]


@pytest.mark.parametrize(("environ", "said"), REFUSED, ids=lambda value: ascii(value)[:40])
def test_a_variable_that_holds_no_usable_key_is_named_and_its_value_is_not(environ: dict[str, str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        Keyring([model("KEY")], environ)
    assert str(caught.value).startswith(f"a/b: api_key_env: {said}")
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert not any(value.strip() and value in shown for value in environ.values())


def test_six_characters_are_enough() -> None:
    assert Keyring([model("KEY")], {"KEY": "abcdef"}).key_of(model("KEY")) == "abcdef"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "_X", "K2", "my_key"])
def test_the_name_of_a_variable_is_taken(name: str) -> None:
    check_key_variable(name, "f")
    assert Keyring([model(name)], {name: CANARY}).key_of(model(name)) == CANARY


@pytest.mark.parametrize(
    "name", [CANARY, "gsk_CaNaRy0123456789", "xai-canary", "a1b2c3canary", "AIzaCanary", "", "A B", "CANARY=1", "KEY\n"]
)
def test_a_key_in_place_of_a_name_is_refused_without_repeating_it(name: str) -> None:
    with pytest.raises(InputError) as caught:
        Keyring([model(name)], {name: "another-key"})
    assert str(caught.value).startswith("a/b: api_key_env: is no name of an environment variable")
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert "another-key" not in str(caught.value)
    assert not name or name not in shown


def test_a_keyring_shows_the_names_only() -> None:
    keyring = Keyring([model("TWO"), model("ONE", "c/d")], {"ONE": CANARY, "TWO": "another-key"})
    assert repr(keyring) == str(keyring) == "Keyring(ONE, TWO)"
