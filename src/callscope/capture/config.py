"""The run configuration a person writes: TOML, YAML or JSON, snake_case or the harness document's camelCase.

Reads and checks; every fault names file, line and field. Resolving suites and models into a plan is `plan`.
Keys are never read from here, only the names of the environment variables that hold them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from callscope.capture.experiments import check_experiments
from callscope.capture.keys import check_key_variable
from callscope.capture.written import read_written, to_snake
from callscope.contract import Budgets, RateLimits
from callscope.errors import InputError
from callscope.schema_rules import check_rules

__all__ = ["ModelConfig", "RunConfig", "check_config", "load_config", "read_config"]

_SECRET_FIELDS = {"apikey", "key", "token", "accesstoken", "secret", "password", "authorization"}
_SECRET_INSIDE = {"apikey", "accesstoken", "secret", "password", "authorization"}
_PRICES = ("input", "output", "cached_input")


class ModelConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """One model: `provider` and `model` are enough for a provider in the catalogue.

    Any OpenAI-compatible address works with `base_url` (and `api_key_env` where it wants a key). `label` names the
    model in reports (default: provider/model). Prices are per million tokens.
    `limits` and `concurrency` bound all calls of the entry's account: its provider, address and key variable.
    `schema_fallback` names keywords to remove from its tools' schemas, or rules that rewrite them; every change is
    recorded, and the experiment says so in its label.
    """

    provider: str
    model: str
    label: str | None = None
    api: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    stream: bool = False
    template: str | None = None
    prices: dict[str, float] = {}
    switches: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    stand_in: bool = False
    limits: RateLimits = RateLimits()
    concurrency: int | None = None
    schema_fallback: tuple[str, ...] = ()


class RunConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole run. Times in milliseconds; `fixtures` is one suite folder, `suites` are names or folders.

    Paths are relative to the configuration file. `temperature` null leaves it to the provider.
    `attempts` bounds how often one call is sent where a provider asks for patience. `experiments` names several to run
    in one go, in place of `tool_choice`, `parallel` and `strict`, which make one.
    """

    models: tuple[ModelConfig, ...]
    suites: tuple[str, ...] = ()
    fixtures: str | None = None
    dataset_version: str | None = None
    repeats: int = 5
    temperature: float | None = 0.0
    max_tokens: int | None = None
    seed: int | None = None
    timeout_ms: int = 30_000
    connect_timeout_ms: int | None = None
    first_byte_timeout_ms: int | None = None
    concurrency: int = 1
    attempts: int = 4
    tool_choice: Literal["auto", "required", "named", "none"] = "auto"
    parallel: bool | None = None
    strict: bool | None = None
    experiments: tuple[str, ...] = ()
    budgets: Budgets = Budgets()
    name: str | None = None


_RANGES: dict[str, tuple[float, float]] = {
    "repeats": (1, 10_000),
    "timeout_ms": (1, 3_600_000),
    "connect_timeout_ms": (1, 3_600_000),
    "first_byte_timeout_ms": (1, 3_600_000),
    "concurrency": (1, 4_096),
    "attempts": (1, 20),
    "temperature": (0, 5),
    "max_tokens": (1, 10_000_000),
    "seed": (-(2**63), 2**63 - 1),
}


_LARGEST = 1 << 20
"""Bytes of the largest configuration file that is read."""


def load_config(path: str | Path) -> RunConfig:
    """Read a configuration file. Raises InputError naming file, line and field."""
    path = Path(path)
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError("is no regular file", file=path)
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except IsADirectoryError:
        hint = "A suite folder is run with `--suite DIR`"
        raise InputError("is a folder, not a configuration file", file=path, hint=hint) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    if len(data) > _LARGEST:
        raise InputError(f"is larger than {_LARGEST:,} bytes", file=path, hint="Is this the configuration?")
    try:
        return read_config(data, path.suffix)
    except InputError as error:
        raise error.at(file=path) from None


def read_config(data: bytes, suffix: str) -> RunConfig:
    """The pure core of `load_config`: bytes and the kind of file (`.toml`, `.yaml`, `.yml`, `.json`)."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text", line=line, found=f"byte {data[error.start]:#04x}") from None
    written = read_written(text, suffix.lower())
    if not isinstance(written.value, dict):
        found = "nothing" if written.value is None else type(written.value).__name__
        raise InputError("must be a table of settings", found=found, hint='At the least: {"models": [...]}')
    try:
        return _checked(written.value)
    except InputError as error:
        raise error.at(line=written.line_of(error.field)) from None


def _checked(raw: dict[str, Any]) -> RunConfig:
    settings = _snake(raw, RunConfig.__struct_fields__, "")
    models = settings.get("models")
    if models is None:
        raise InputError("no models to run", field="models", hint='Add at least one {"provider": ..., "model": ...}')
    if not isinstance(models, list):
        raise InputError("must be a list", field="models", found=type(models).__name__)
    if not models:
        raise InputError("is empty", field="models", hint='Add at least one {"provider": ..., "model": ...}')
    settings["models"] = [_model(entry, f"models[{place}]") for place, entry in enumerate(models)]
    if isinstance(settings.get("budgets"), dict):
        settings["budgets"] = _snake(settings["budgets"], Budgets.__struct_fields__, "budgets.")
    config: RunConfig = _convert(settings, RunConfig)
    check_config(config)
    return config


def check_config(config: RunConfig) -> None:
    """Raise InputError, naming the field, where a setting is out of range or contradicts another."""
    for name, (low, high) in _RANGES.items():
        value = getattr(config, name)
        if value is not None and not low <= value <= high:
            raise InputError("is out of range", field=name, found=value, expected=f"{low:g} to {high:g}")
    for name in ("calls", "tokens", "money"):
        bound = getattr(config.budgets, name)
        if bound is not None and not bound >= 0:
            raise InputError("is out of range", field=f"budgets.{name}", found=bound, expected="0 or more")
    if config.fixtures is not None and config.suites:
        raise InputError("names suites twice", field="fixtures", hint="Give either `fixtures` or `suites`")
    check_experiments(config.experiments)
    for name, usual in (("tool_choice", "auto"), ("parallel", None), ("strict", None)):
        if config.experiments and getattr(config, name) != usual:
            hint = f"Write it into their names, as `{config.experiments[0]}`, or leave out `experiments`"
            raise InputError("stands beside `experiments`, which say it", field=name, hint=hint)
    for place, model in enumerate(config.models):
        check_rules(model.schema_fallback, f"models[{place}].schema_fallback")


def _model(entry: Any, where: str) -> ModelConfig:
    if isinstance(entry, str):
        provider, _, name = entry.partition("/")
        entry = {"provider": provider, "model": name}
    if not isinstance(entry, dict):
        raise InputError("must be a table", field=where, found=type(entry).__name__, expected='{"provider", "model"}')
    for field in _secrets(entry, f"{where}.", _SECRET_FIELDS):
        hint = "Put the key into an environment variable and name that variable in `api_key_env`"
        raise InputError("a key may not stand in a file", field=field, hint=hint)
    table = _snake(entry, ModelConfig.__struct_fields__, f"{where}.")
    if isinstance(table.get("prices"), dict):
        table["prices"] = _snake(table["prices"], _PRICES, f"{where}.prices.")
    if isinstance(table.get("limits"), dict):
        table["limits"] = _snake(table["limits"], RateLimits.__struct_fields__, f"{where}.limits.")
    for name in ("provider", "model"):
        if not isinstance(table.get(name), str) or not table[name]:
            raise InputError("is missing or empty", field=f"{where}.{name}", expected="a name")
    model: ModelConfig = _convert(table, ModelConfig, f"{where}.")
    if model.api_key_env is not None:
        check_key_variable(model.api_key_env, f"{where}.api_key_env")
    return model


def _secrets(table: dict[str, Any], prefix: str, names: set[str]) -> Iterator[str]:
    """The fields that are named like credentials; deeper ones only by names that can mean nothing else."""
    for name, value in table.items():
        if re.sub("[^a-z]", "", name.lower()) in names and value is not None:
            yield f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _secrets(value, f"{prefix}{name}.", _SECRET_INSIDE)


def _snake(table: dict[str, Any], known: tuple[str, ...], prefix: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in table.items():
        snake = to_snake(name)
        if snake not in known:
            near = difflib.get_close_matches(snake, known, n=1)
            hint = f"Did you mean `{near[0]}`?" if near else f"Known here: {', '.join(known)}"
            raise InputError("unknown field", field=f"{prefix}{name}", hint=hint)
        if snake in result:
            raise InputError("is given twice, in two spellings", field=f"{prefix}{name}")
        result[snake] = value
    return result


def _convert(settings: dict[str, Any], kind: type[Struct], prefix: str = "") -> Any:
    try:
        return msgspec.convert(settings, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        field = path.rstrip("`").replace("[...]", "")
        raise InputError(message[:1].lower() + message[1:], field=f"{prefix}{field}") from None
