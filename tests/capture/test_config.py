"""A configuration means the same in every notation, and every mistake in one is named by file, line and field."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from callscope.capture.config import ModelConfig, RunConfig, check_config, load_config, read_config
from callscope.capture.written import read_written
from callscope.contract import Budgets, RateLimits
from callscope.errors import InputError


def refusal(data: str | bytes, suffix: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read_config(data.encode() if isinstance(data, str) else data, suffix)
    return caught.value


# ---------------------------------------------------------------------------------------------------- what is meant


def test_the_harness_documents_configuration_loads(shared: Path, tmp_path: Path) -> None:
    found = sorted(shared.glob("seeds/004_*"))
    if not found:
        pytest.skip("the harness document is not here; set CALLSCOPE_SHARED to the folder that holds seeds/")
    text = re.search(r'^\{\n  "datasetVersion".*?^\}\n', found[0].read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert text
    file = tmp_path / "benchmark.config.json"
    file.write_text(text.group(), encoding="utf-8")
    pinned = "replace-with-pinned-model-id"
    assert load_config(file) == RunConfig(
        models=(ModelConfig("provider-a", pinned), ModelConfig("provider-b", pinned)),
        dataset_version="1.0.0",
        repeats=5,
        temperature=0.0,
        timeout_ms=30_000,
        concurrency=1,
    )


FULL = RunConfig(
    models=(
        ModelConfig(
            "openai",
            "gpt",
            label="a",
            api="openai-chat",
            base_url="http://h/v1",
            api_key_env="MY_KEY",
            stream=True,
            template="t",
            prices={"input": 1.5, "output": 2.0, "cached_input": 0.5},
            switches={"system_role": "developer"},
            extra={"topK": 3, "user_name": {"innerName": [1, 2.5, None, True]}},
            stand_in=True,
        ),
        ModelConfig("local", "m"),
    ),
    suites=("a", "b/c"),
    dataset_version="1.0",
    repeats=7,
    temperature=0.5,
    max_tokens=64,
    seed=11,
    timeout_ms=500,
    concurrency=3,
    attempts=2,
    tool_choice="required",
    parallel=False,
    strict=True,
    budgets=Budgets(calls=10, tokens=20, money=1.25),
    name="n",
)
SNAKE = """\
suites = ["a", "b/c"]
dataset_version = "1.0"
repeats = 7
temperature = 0.5
max_tokens = 64
seed = 11
timeout_ms = 500
concurrency = 3
attempts = 2
tool_choice = "required"
parallel = false
strict = true
name = "n"
budgets = { calls = 10, tokens = 20, money = 1.25 }

[[models]]
provider = "openai"
model = "gpt"
label = "a"
api = "openai-chat"
base_url = "http://h/v1"
api_key_env = "MY_KEY"
stream = true
template = "t"
stand_in = true
prices = { input = 1.5, output = 2.0, cached_input = 0.5 }
switches = { system_role = "developer" }
extra = { topK = 3, user_name = { innerName = [1, 2.5] } }

[[models]]
provider = "local"
model = "m"
"""


def full_table() -> dict[str, Any]:
    table = tomllib.loads(SNAKE)
    table["models"][0]["extra"]["user_name"]["innerName"] += [None, True]
    return table


def camel(table: dict[str, Any]) -> dict[str, Any]:
    """Our own fields in camelCase; what goes to a provider as it is stays as it is."""
    spelt = {re.sub(r"_([a-z])", lambda m: m.group(1).upper(), name): value for name, value in table.items()}
    for name in ("budgets", "prices"):
        if name in spelt:
            spelt[name] = camel(spelt[name])
    if "models" in spelt:
        spelt["models"] = [camel(model) for model in spelt["models"]]
    return spelt


@pytest.mark.parametrize("spelling", [dict, camel], ids=["snake", "camel"])
@pytest.mark.parametrize(
    ("suffix", "dump"),
    [
        (".json", lambda table: json.dumps(table)),
        (".json", lambda table: "\ufeff" + json.dumps(table, indent=2).replace("\n", "\r\n")),
        (".JSON", lambda table: json.dumps(table)),
        (".yaml", lambda table: yaml.safe_dump(table)),
        (".yml", lambda table: "\ufeff" + yaml.safe_dump(table, default_flow_style=False).replace("\n", "\r\n")),
        (".yaml", lambda table: json.dumps(table)),
    ],
    ids=["json", "json with BOM and CRLF", "JSON", "yaml", "yml with BOM and CRLF", "yaml as json"],
)
def test_every_notation_and_spelling_means_the_same(spelling: Any, suffix: str, dump: Any) -> None:
    assert read_config(dump(spelling(full_table())).encode(), suffix) == FULL


@pytest.mark.parametrize("break_", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("bom", ["", "\ufeff"], ids=["plain", "BOM"])
def test_toml_too_in_both_spellings(break_: str, bom: str) -> None:
    text = (bom + SNAKE.replace("\n", break_)).encode()
    expected = tomllib.loads(SNAKE)["models"][0]["extra"]
    assert read_config(text, ".toml").models[0].extra == expected
    names = [name for name in re.findall(r"[a-z]+_[a-z_]+(?= =)", SNAKE) if name not in {"system_role", "user_name"}]
    spelt = SNAKE
    for name in names:
        spelt = re.sub(rf"\b{name} =", f"{next(iter(camel({name: 0})))} =", spelt)
    assert spelt != SNAKE
    assert read_config(spelt.encode(), ".toml") == read_config(text, ".toml")


def test_two_fields_are_enough_and_the_defaults_are_those_of_the_document() -> None:
    config = read_config(b'{"models": [{"provider": "a", "model": "b"}]}', ".json")
    assert config == RunConfig(models=(ModelConfig("a", "b"),))
    assert (config.repeats, config.temperature, config.timeout_ms, config.concurrency) == (5, 0.0, 30_000, 1)


def test_a_model_may_be_written_in_one_word() -> None:
    models = read_config(b"models: [openai/gpt, a/b/c]", ".yaml").models
    assert models == (ModelConfig("openai", "gpt"), ModelConfig("a", "b/c"))


def test_temperature_null_leaves_it_to_the_provider() -> None:
    assert read_config(b'{"models": ["a/b"], "temperature": null}', ".json").temperature is None
    assert read_config(b"{models: [a/b], temperature: ~}", ".yaml").temperature is None


YAML_SCALARS = [
    ("no", "no"),
    ("on", "on"),
    ("010", None),
    ("1.0", None),
    ("2026-08-01", "2026-08-01"),
    ("12:30", "12:30"),
    ("'1.0'", "1.0"),
    ("~", ""),
    ("=", "="),
    ("!!str 1.0", "1.0"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "meant"), YAML_SCALARS)
def test_yaml_text_is_the_text_that_stands_there(written: str, meant: str | None) -> None:
    """`no` is no boolean, `12:30` no number of seconds; what is a number is refused where text is wanted."""
    data = f"models: [a/b]\ndataset_version: {written}\n"
    if meant is None:
        assert str(refusal(data, ".yaml")).startswith("line 2: dataset_version: expected `str | null`")
    else:
        assert (read_config(data.encode(), ".yaml").dataset_version or "") == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [("1e-1", 0.1), ("1", 1.0), (".5", 0.5), ("+1.", 1.0), ("!!float 2", 2.0), ("0x1", 1.0), ("0o2", 2.0)],
)
def test_yaml_numbers_are_those_of_its_core_schema(written: str, meant: float) -> None:
    assert read_config(f"models: [a/b]\ntemperature: {written}".encode(), ".yaml").temperature == meant


@pytest.mark.parametrize("word", ["on", "yes", "Off", "y"])
def test_and_a_switch_is_true_or_false_and_nothing_like_it(word: str) -> None:
    text = f"models:\n- provider: a\n  model: b\n  stream: {word}\n"
    assert str(refusal(text, ".yaml")) == "line 4: models[0].stream: expected `bool`, got `str`"
    assert read_config(text.replace(word, "TRUE").encode(), ".yaml").models[0].stream is True


# ------------------------------------------------------------------------------------------------------- what is wrong

MISTAKES = {
    "an unknown field": (
        ".json",
        '{\n "models": ["a/b"],\n "temprature": 1\n}',
        "3: temprature: unknown field. Did you mean `temperature`?",
    ),
    "an unknown field of no likeness": (
        ".toml",
        'models = ["a/b"]\nxyzzy = 1\n',
        "2: xyzzy: unknown field. Known here: models, suites, ",
    ),
    "an unknown field of the second model": (
        ".toml",
        '# provider = "x"\n[[models]]\nprovider = "a"\nmodel = "[[models]]"\n\n[[models]]\nprovider = ""\nmodle = ""\n',
        "8: models[1].modle: unknown field. Did you mean `model`?",
    ),
    "an unknown budget": (
        ".yaml",
        "models: [a/b]\nbudgets:\n  call: 1\n",
        "3: budgets.call: unknown field. Did you mean `calls`?",
    ),
    "an unknown price": (
        ".toml",
        'models = [\n  # one\n  { provider = "a", model = "b" },\n  {provider="a", model="c", prices={inputs=1}},\n]\n',
        "4: models[1].prices.inputs: unknown field. Did you mean `input`?",
    ),
    "a name that is no text": (".yaml", "models: [a/b]\n5: 1\n", "2: a name must be text"),
    "a merge key": (".yaml", "models: [a/b]\n<<: {repeats: 2}\n", "2: <<: unknown field"),
    "a wrong type": (".json", '{"models": ["a/b"],\n"repeats": "5"}', "2: repeats: expected `int`, got `str`"),
    "a float for a whole number": (".toml", 'models = ["a/b"]\nrepeats = 5.0\n', "2: repeats: expected `int`"),
    "a switch for a number": (".json", '{"models": ["a/b"],\n"repeats": true}', "2: repeats: expected `int`"),
    "a number for a list": (".yaml", "models: [a/b]\nsuites: support\n", "2: suites: expected `array`, got `str`"),
    "a number in a list": (".yaml", "models: [a/b]\nsuites:\n- 1\n", "3: suites[0]: expected `str`, got `int`"),
    "a wrong word": (".yaml", "models: [a/b]\ntool_choice: any\n", "2: tool_choice: invalid enum value 'any'"),
    "budgets that are no table": (".yaml", "models: [a/b]\nbudgets: 5\n", "2: budgets: expected `object`, got `int`"),
    "a wrong type in the second model": (
        ".json",
        '{"models": ["a/b",\n{"provider": "a", "model": "c",\n"stream": "true"}]}',
        "3: models[1].stream: expected `bool`, got `str`",
    ),
    "a price that is no number": (
        ".yaml",
        "models:\n- provider: a\n  model: b\n  prices: {input: free}\n",
        "4: models[0].prices: expected `float`, got `str`",
    ),
    "prices that are no table": (
        ".yaml",
        "models:\n- provider: a\n  model: b\n  prices: 3\n",
        "4: models[0].prices: expected `object`, got `int`",
    ),
    "too few repeats": (
        ".json",
        '{"models": ["a/b"],\n\n"repeats": 0}',
        "3: repeats: is out of range (found 0; expected 1 to 10000)",
    ),
    "out of range in camelCase": (".json", '{"models": ["a/b"],\n"timeoutMs": 0}', "2: timeout_ms: is out of range"),
    "too many at once": (".toml", 'models = ["a/b"]\nconcurrency = 5000', "2: concurrency: is out of range"),
    "no attempt": (".toml", 'models = ["a/b"]\nattempts = 0', "2: attempts: is out of range"),
    "a negative temperature": (".toml", 'models = ["a/b"]\ntemperature = -0.1', "2: temperature: is out of range"),
    "no tokens": (".toml", 'models = ["a/b"]\nmax_tokens = 0', "2: max_tokens: is out of range"),
    "a seed beyond 64 bits": (".json", f'{{"models": ["a/b"],\n"seed": {2**63}}}', "2: seed: is out of range"),
    "a negative budget": (
        ".yaml",
        "models: [a/b]\nbudgets:\n  calls: 1\n  money: -1\n",
        "4: budgets.money: is out of range (found -1.0; expected 0 or more)",
    ),
    "NaN in JSON": (".json", '{"name": "NaN",\n"models": ["a/b"],\n"temperature": NaN}', "3: is not JSON: NaN"),
    "NaN in YAML": (".yaml", "models: [a/b]\ntemperature: .nan", "2: temperature: is no finite number (found nan)"),
    "inf in YAML": (".yaml", "models: [a/b]\ntemperature: -.INF", "2: temperature: is no finite number (found -inf)"),
    "NaN in TOML": (".toml", 'models = ["a/b"]\ntemperature = nan', "2: temperature: is no finite number (found nan)"),
    "inf in TOML": (
        ".toml",
        'models = ["a/b"]\nbudgets.money = inf',
        "2: budgets.money: is no finite number (found inf)",
    ),
    "NaN in what goes to a provider": (
        ".toml",
        '[[models]]\nprovider = "a"\nmodel = "b"\n[models.extra]\nx = [1.0, nan]\n',
        "5: models[0].extra.x[1]: is no finite number (found nan)",
    ),
    "an infinite float in JSON": (".json", '{"models": ["a/b"], "temperature": 1e999}', "is not JSON: 1e999"),
    "a number of 5000 digits": (".json", f'{{"seed": {"9" * 5000}}}', "is not JSON: 5000 digits"),
    "5000 digits in TOML": (".toml", f"seed = {'9' * 5000}", "is not TOML: a number is out of range"),
    "5000 digits in YAML": (".yaml", f"models: [a/b]\nseed: {'9' * 5000}", "2: seed: is no int"),
    "a very long hexadecimal": (".toml", f'models = ["a/b"]\nseed = 0x{"f" * 5000}', "2: seed: is too large a number"),
    "a date": (
        ".toml",
        'models = ["a/b"]\ndataset_version = 2026-08-01\n',
        "2: dataset_version: is no JSON value (found a date). Put it in quotes",
    ),
    "half a surrogate pair": (
        ".json",
        '{"models": ["a/b"],\n"name": "\\ud83d"}',
        "2: name: holds half of a surrogate pair, which cannot be sent",
    ),
    "half a surrogate pair in a name": (
        ".yaml",
        'models:\n- provider: a\n  model: b\n  extra:\n    "\\uD83D": 1\n',
        "4: models[0].extra.\\ud83d: holds half of a surrogate pair",
    ),
    "two spellings": (
        ".json",
        '{"models": ["a/b"],\n"timeoutMs": 1,\n"timeout_ms": 1}',
        "3: timeout_ms: is given twice, in two spellings",
    ),
    "the same name twice in JSON": (
        ".json",
        '{"models": ["a/b"],\n"repeats": 1,\n"repeats": 2}',
        "3: repeats: is given twice",
    ),
    "the same name twice, deep in JSON": (
        ".json",
        '{"models": [{"provider": "a", "model": "b",\n"extra": {"x": [{"y": 1,\n"y": 1}]}}]}',
        "3: models[0].extra.x[0].y: is given twice",
    ),
    "the same name twice in YAML": (
        ".yaml",
        "models: [a/b]\nrepeats: 1\nrepeats: 2\n",
        "3: repeats: is given twice",
    ),
    "the same name twice, deep in YAML": (
        ".yaml",
        "models:\n- provider: a\n  model: b\n  extra: {x: {y: 1, y: 1}}\n",
        "4: models[0].extra.x.y: is given twice",
    ),
    "the same name twice in TOML": (".toml", 'repeats = 1\nrepeats = 2\n', "2: is not TOML: Cannot overwrite a value"),
    "suites twice": (
        ".toml",
        'models = ["a/b"]\nfixtures = "f"\nsuites = ["s"]\n',
        "2: fixtures: names suites twice. Give either `fixtures` or `suites`",
    ),
    "no models": (".json", '{"repeats": 1}', "1: models: no models to run. Add at least one"),
    "models null": (".yaml", "repeats: 1\nmodels:\n", "2: models: no models to run"),
    "empty models": (".toml", "repeats = 1\nmodels = []\n", "2: models: is empty. Add at least one"),
    "models that are no list": (".yaml", "models: {a: b}\n", "1: models: must be a list (found dict)"),
    "a model that is no table": (
        ".json",
        '{"models": ["a/b",\n3]}',
        '2: models[1]: must be a table (found int; expected {"provider", "model"})',
    ),
    "a model without its provider": (
        ".yaml",
        "models:\n- provider: a\n  model: b\n- model: c\n",
        "4: models[1].provider: is missing or empty (expected a name)",
    ),
    "an empty model": (".toml", '[[models]]\nprovider = "a"\nmodel = ""\n', "3: models[0].model: is missing or empty"),
    "half a model": (".yaml", "models:\n- local\n", "2: models[0].model: is missing or empty"),
    "a list": (".json", "[1]", "must be a table of settings (found list). At the least: "),
    "a word": (".yaml", "hello", "must be a table of settings (found str)"),
    "nothing": (".yaml", "# nothing\n", "must be a table of settings (found nothing)"),
    "an empty file": (".json", "", "1: is not JSON: the file is empty"),
    "broken JSON": (".json", '{"models": [\n"a/b"\n"c/d"]}', "3: is not JSON: Expecting ',' delimiter"),
    "JSON with a comment": (".json", "{\n// c\n}", "2: is not JSON: "),
    "broken TOML": (".toml", "repeats = 1\nmodels = [\n", "is not TOML: "),
    "TOML without a value": (".toml", "repeats = 1\nmodels =\n", "2: is not TOML: Invalid value"),
    "broken YAML": (".yaml", "models:\n- a/b\n repeats: 1\n", "3: is not YAML: "),
    "two YAML documents": (".yaml", "models: [a/b]\n---\nrepeats: 1\n", "2: is not YAML: but found another document"),
    "a NUL in YAML": (".yaml", "models: [a/b\x00]", "is not YAML: it holds a character that no YAML may hold"),
    "a character beyond Unicode": (".yaml", 'a: "\\UFFFFFFFF"', "is not YAML: a number or character is out of range"),
    "an alias": (
        ".yaml",
        "models:\n- &one {provider: a, model: b}\n- *one\n",
        "3: aliases are not read here. Write the value out",
    ),
    "a billion laughs": (
        ".yaml",
        "a: &a [lol, lol]\n" + "".join(f"{y}: &{y} [{f'*{x}, ' * 9}]\n" for x, y in pairwise("abcdefghi")),
        "2: aliases are not read here",
    ),
    "a tag that runs code": (
        ".yaml",
        'models: [a/b]\nname: !!python/object/apply:os.system ["true"]\n',
        "2: name: tags are not read here",
    ),
    "a tag of one's own": (".yaml", "models: !mine [a/b]\n", "1: models: tags are not read here"),
    "a binary": (".yaml", "models: [a/b]\nname: !!binary aGk=\n", "2: name: tags are not read here"),
    "a set": (".yaml", "models: !!set {a/b}\n", "1: models: tags are not read here"),
    "a tag that lies": (".yaml", "models: [a/b]\nseed: !!int x\n", "2: seed: is no int"),
    "a tag that lies about truth": (".yaml", "models: [a/b]\nstrict: !!bool x\n", "2: strict: is no bool"),
    "a map that is tagged a list": (".yaml", "models: !!seq {a: b}\n", "1: models: tags are not read here"),
    "deep JSON": (".json", "[" * 100_000, "is not JSON: too_deep"),
    "rather deep JSON": (".json", '{"models":' + "[" * 150 + "]" * 150 + "}", "1: models: is nested too deeply"),
    "deep YAML": (".yaml", "[" * 5_000, "is nested too deeply"),
    "rather deep YAML": (".yaml", "models: " + "[" * 120 + "]" * 120, "1: models: is nested too deeply"),
    "deep TOML": (".toml", "models = " + "[" * 5_000, "is nested too deeply"),
    "rather deep TOML": (".toml", "\nmodels = " + "[" * 120 + "]" * 120, "2: models: is nested too deeply"),
    "another kind of file": (".ini", "", "unknown kind of file (found .ini; expected .toml, .yaml, .yml or .json)"),
    "no suffix": ("", "", "unknown kind of file (found no suffix; "),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_by_file_line_and_field(mistake: str, tmp_path: Path) -> None:
    suffix, text, said = MISTAKES[mistake]
    file = tmp_path / f"c{suffix}"
    file.write_bytes(text.encode())
    with pytest.raises(InputError) as caught:
        load_config(file)
    assert str(caught.value).startswith(f"{file}:{said}" if said[0].isdigit() else f"{file}: {said}")
    assert len(str(caught.value).removeprefix(str(file))) < 600


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"models": [\n"a/\xff"]}', "line 2: is not UTF-8 text (found byte 0xff)"),
        ('{"models": ["a/b"]}'.encode("utf-16"), "line 1: is not UTF-8 text (found byte 0xff)"),
        (b"\xef\xbb\xbf\n\n\xc3", "line 3: is not UTF-8 text (found byte 0xc3)"),
    ],
)
def test_bytes_that_are_no_text_are_named_by_line(data: bytes, said: str) -> None:
    assert str(refusal(data, ".json")) == said


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a folder, not a configuration file. A suite folder is run with"):
        load_config(tmp_path)
    with pytest.raises(InputError, match=r"none\.toml: cannot be read: No such file or directory"):
        load_config(str(tmp_path / "none.toml"))


# ------------------------------------------------------------------------------------------------------------- secrets

CANARY = "sk-CaNaRy-4711"
SECRETS = [
    {"models": [{"provider": "a", "model": "b", "apiKey": CANARY}]},
    {"models": [{"provider": "a", "model": "b", "api_key": CANARY}]},
    {"models": [{"provider": "a", "model": "b", "API-Key": CANARY}]},
    {"models": [{"provider": "a", "model": "b", "key": CANARY}]},
    {"models": [{"provider": "a", "model": "b", "Authorization": f"Bearer {CANARY}"}]},
    {"models": [{"provider": "a", "model": "b", "token": [CANARY]}]},
    {"models": [{"provider": "a", "model": "b", "api_key_env": CANARY}]},
    {"models": [{"provider": "a", "model": "b", "api_key_env": "gsk_CaNaRy4711"}]},
    {"models": [{"provider": "a", "model": "b", "apiKeyEnv": "a1b2canary4711"}]},
    {"models": [{"provider": "a", "model": "b", "extra": {"api_key": CANARY}}]},
    {"models": [{"provider": "a", "model": "b", "switches": {"x": {"password": CANARY}}}]},
    {"models": ["a/b"], "apiKey": CANARY},
    {"models": ["a/b"], "api_key": CANARY},
    {"models": [{"provider": "a", "model": "b", "stream": CANARY}]},
    {"models": ["a/b"], "repeats": CANARY},
]  # fmt: skip


@pytest.mark.parametrize("table", SECRETS, ids=lambda table: json.dumps(table)[:90])
def test_a_key_in_the_file_is_refused_and_never_repeated(table: dict[str, Any]) -> None:
    error = refusal(json.dumps(table), ".json")
    assert "canary" not in repr(error).lower()
    assert "canary" not in str(error).lower()
    assert error.line == 1


def test_and_the_message_says_where_keys_belong() -> None:
    error = refusal('[[models]]\nprovider = "a"\nmodel = "b"\napiKey = "sk-1"\n', ".toml")
    assert str(error) == (
        "line 4: models[0].apiKey: a key may not stand in a file. "
        "Put the key into an environment variable and name that variable in `api_key_env`"
    )


def test_what_only_looks_like_a_credential_goes_to_the_provider() -> None:
    extra = {"prompt_cache_key": "k", "metadata": {"key": "v", "token": 3}}
    table = {"models": [{"provider": "a", "model": "b", "extra": extra}]}
    assert read_config(json.dumps(table).encode(), ".json").models[0].extra == extra


# ------------------------------------------------------------------------------------------------- what is made in code

OUT_OF_RANGE = [
    ({"temperature": float("nan")}, "temperature: is out of range"),
    ({"temperature": float("inf")}, "temperature: is out of range"),
    ({"repeats": 0}, "repeats: is out of range"),
    ({"budgets": Budgets(money=float("nan"))}, "budgets.money: is out of range"),
    ({"budgets": Budgets(tokens=-1)}, "budgets.tokens: is out of range"),
    ({"fixtures": "f", "suites": ("s",)}, "fixtures: names suites twice"),
]


@pytest.mark.parametrize(("settings", "said"), OUT_OF_RANGE)
def test_settings_made_in_code_are_checked_alike(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        check_config(RunConfig(models=(), **settings))
    check_config(RunConfig(models=()))


# ---------------------------------------------------------------------------------------------------------- properties

WORDS = st.sampled_from(["models", "provider", "a/b", "timeoutMs", "repeats", "NaN", "1", "-", ":", "=", "&a", "*a"])
NOISE = st.lists(WORDS | st.sampled_from("{}[]\",\n #!|>'\\\t\ufeff\ud7ff"), max_size=30).map("".join)


@given(st.binary(max_size=60) | NOISE.map(str.encode), st.sampled_from([".json", ".toml", ".yaml", ".yml", "", ".x"]))
@example(b"!!int 1e", ".yaml")
@example(b"!!timestamp x", ".yaml")
@example(b"%YAML 1." + b"9" * 5000 + b"\n---\n", ".yaml")
@example(b'"\\UFFFFFFFF"', ".yaml")
@example(b"{? [a] : b}", ".yaml")
@example(b"a = 0x" + b"f" * 5000, ".toml")
@example(b"a" * 20 + b".a" * 3000 + b" = 1", ".toml")
def test_no_bytes_raise_anything_but_an_input_error(data: bytes, suffix: str) -> None:
    try:
        assert isinstance(read_config(data, suffix), RunConfig)
    except InputError as error:
        assert str(error)  # noqa: PT017


NAMES = st.text(st.characters(categories=["L", "N"], max_codepoint=0x17F) | st.sampled_from("_-. \"'[]#="), max_size=6)
TABLES = st.dictionaries(
    NAMES,
    st.recursive(
        st.booleans() | st.integers(-99, 99) | NAMES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


def paths(value: Any, path: str = "") -> Iterator[str]:
    """The dotted path of every field, in the order in which they stand."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        inner = f"{path}[{name}]" if isinstance(value, list) else f"{path}.{name}"
        yield inner.removeprefix(".")
        yield from paths(item, inner)


def toml(value: Any, *, top: bool = False) -> str:
    """A table as TOML, each field of it and each element of its lists on a line of its own."""
    if isinstance(value, dict):
        pairs = [f"{json.dumps(name)} = {toml(item)}" for name, item in value.items()]
        return "\n".join(f"# c = 1\n{pair}" for pair in pairs) if top else "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"\n {toml(item)}, # ]" for item in value) + "\n]"
    return json.dumps(value)


@given(TABLES)
def test_every_field_has_its_line_in_every_notation(table: dict[str, Any]) -> None:
    by_notation = {
        ".json": json.dumps(table, indent=1),
        ".yaml": yaml.safe_dump(table, sort_keys=False, default_style='"'),
        ".toml": toml(table, top=True),
    }
    for suffix, text in by_notation.items():
        written = read_written(text, suffix)
        assert written.value == table
        lines = [written.line_of(path) for path in paths(table)]
        assert None not in lines
        last = text.count("\n") + 1
        assert all(line is not None and 1 <= line <= last for line in lines)


TOML_LINES = '''\
top = """
[[models]]
x = 1"""
'quoted key'.sub = 2
dates = [1979-05-27T07:32:00Z, 1.5e3] # ]

[a.b]
c = { d = [
  { e = "}" },
  { f = '#' } ], g = 1 }
[[m]]
x = 1
[m.n]
y = \'\'\'
\'\'\'\'\'
[[m]]
x = 2
[[m.deep]]
z = 1
[[m.deep]]
z.w = 2
'''


def test_toml_tables_arrays_of_tables_and_strings_are_followed() -> None:
    from callscope.capture.written import _TomlLines

    lines = _TomlLines(TOML_LINES).lines
    expected = {
        "top": 1, "quoted key": 4, "quoted key.sub": 4, "dates": 5, "dates[0]": 5, "dates[1]": 5,
        "a": 7, "a.b": 7, "a.b.c": 8, "a.b.c.d": 8, "a.b.c.d[0]": 9, "a.b.c.d[0].e": 9, "a.b.c.d[1]": 10,
        "a.b.c.d[1].f": 10, "a.b.c.g": 10, "m": 11, "m[0]": 11, "m[0].x": 12, "m[0].n": 13, "m[0].n.y": 14,
        "m[1]": 16, "m[1].x": 17, "m[1].deep": 18, "m[1].deep[0]": 18, "m[1].deep[0].z": 19, "m[1].deep[1]": 20,
        "m[1].deep[1].z": 21, "m[1].deep[1].z.w": 21,
    }  # fmt: skip
    assert lines == expected


def test_a_field_that_does_not_stand_there_has_the_line_of_the_table_around_it() -> None:
    written = read_written('{"a":\n{"b": [\n1]}}', ".json")
    assert [written.line_of(field) for field in ("a.b[0]", "a.b[7].c", "a.x.y", "z", None)] == [3, 2, 1, 1, 1]
    assert read_written("a = 1", ".toml").line_of("z") is None


LIMITED = [
    (b'[[models]]\nprovider = "a"\nmodel = "b"\nconcurrency = 3\nlimits = { requests_per_minute = 60 }\n', ".toml"),
    (b'{"models":[{"provider":"a","model":"b","concurrency":3,"limits":{"requestsPerMinute":60}}]}', ".json"),
    (b"models:\n- {provider: a, model: b, concurrency: 3, limits: {requestsPerMinute: 60}}\n", ".yaml"),
]


@pytest.mark.parametrize(("data", "suffix"), LIMITED, ids=["toml", "json", "yaml"])
def test_an_accounts_limits_are_read_in_both_spellings(data: bytes, suffix: str) -> None:
    (model,) = read_config(data, suffix).models
    assert (model.concurrency, model.limits) == (3, RateLimits(requests_per_minute=60))


def test_a_limit_that_there_is_none_of_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"models\[0\].limits.requests_per_second") as caught:
        read_config(b'{"models":[{"provider":"a","model":"b","limits":{"requests_per_second":1}}]}', ".json")
    assert caught.value.line == 1


def test_separate_time_outs_are_read_and_bounded() -> None:
    data = b'{"models":["a/b"],"connectTimeoutMs":500,"first_byte_timeout_ms":2000}'
    config = read_config(data, ".json")
    assert (config.connect_timeout_ms, config.first_byte_timeout_ms) == (500, 2_000)
    with pytest.raises(InputError, match="connect_timeout_ms"):
        read_config(b'{"models":["a/b"],"connect_timeout_ms":0}', ".json")
