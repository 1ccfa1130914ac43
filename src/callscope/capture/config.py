"""The run configuration a person writes: TOML, YAML or JSON, snake_case or the harness document's camelCase.

Reads and checks; every fault names file, line and field. Resolving suites and models into a plan is `plan`.
Keys are never read from here, only the names of the environment variables that hold them.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml
from msgspec import Struct

from callscope.contract import Budgets
from callscope.errors import InputError

__all__ = ["ModelConfig", "RunConfig", "load_config", "read_config"]

_SECRET_FIELDS = {"api_key", "key", "token", "secret", "password", "authorization"}
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")


class ModelConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """One model: `provider` and `model` are enough for a provider in the catalogue.

    Any OpenAI-compatible address works with `base_url` (and `api_key_env` where it wants a key). `label` names the
    model in reports (default: provider/model). Prices are per million tokens.
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


class RunConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole run. Times in milliseconds; `fixtures` is one suite folder, `suites` are names or folders.

    Paths are relative to the configuration file. `temperature` null leaves it to the provider.
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
    concurrency: int = 1
    tool_choice: Literal["auto", "required", "none"] = "auto"
    parallel: bool | None = None
    strict: bool | None = None
    budgets: Budgets = Budgets()
    name: str | None = None


_RANGES: dict[str, tuple[float, float]] = {
    "repeats": (1, 10_000),
    "timeout_ms": (1, 3_600_000),
    "concurrency": (1, 4_096),
    "temperature": (0, 5),
    "max_tokens": (1, 10_000_000),
}


def load_config(path: str | Path) -> RunConfig:
    """Read a configuration file. Raises InputError naming file, line and field."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except IsADirectoryError:
        hint = "A suite folder is run with `--suite DIR`"
        raise InputError("is a folder, not a configuration file", file=path, hint=hint) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    try:
        return read_config(data, path.suffix)
    except InputError as error:
        raise error.at(file=path) from None


def read_config(data: bytes, suffix: str) -> RunConfig:
    """The pure core of `load_config`: bytes and the kind of file (`.toml`, `.yaml`, `.yml`, `.json`)."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", found=f"byte {data[error.start]:#04x} at {error.start}") from None
    raw = _parse(text, suffix.lower())
    if not isinstance(raw, dict):
        raise InputError(
            "must be a table of settings", found=type(raw).__name__, hint='At the least: {"models": [...]}'
        )
    try:
        return _checked(raw)
    except InputError as error:
        raise error.at(line=_line_of(text, error.field)) from None


def _parse(text: str, suffix: str) -> Any:
    try:
        if suffix == ".toml":
            return tomllib.loads(text)
        if suffix in {".yaml", ".yml"}:
            return yaml.safe_load(text)
        if suffix == ".json":
            return json.loads(text, parse_constant=_no_constant)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise InputError(f"is not TOML: {error}", line=int(line.group(1)) if line else None) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise InputError(f"is not YAML: {problem}", line=mark.line + 1 if mark else None) from None
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise InputError("is nested too deeply") from None
    raise InputError("unknown kind of file", found=suffix or "no suffix", expected=".toml, .yaml, .yml or .json")


def _no_constant(token: str) -> Any:
    raise InputError("is not JSON: no such number", found=token)


def _checked(raw: dict[str, Any]) -> RunConfig:
    settings = _snake(raw, RunConfig, "")
    models = settings.get("models")
    if models is None:
        raise InputError("no models to run", field="models", hint='Add at least one {"provider": ..., "model": ...}')
    if not isinstance(models, list):
        raise InputError("must be a list", field="models", found=type(models).__name__)
    if not models:
        raise InputError("is empty", field="models", hint='Add at least one {"provider": ..., "model": ...}')
    settings["models"] = [_model(entry, f"models[{place}]") for place, entry in enumerate(models)]
    if isinstance(settings.get("budgets"), dict):
        settings["budgets"] = _snake(settings["budgets"], Budgets, "budgets.")
    config = _convert(settings)
    for name, (low, high) in _RANGES.items():
        value = getattr(config, name)
        if value is not None and not low <= value <= high:
            raise InputError("is out of range", field=name, found=value, expected=f"{low:g} to {high:g}")
    for name in ("calls", "tokens", "money"):
        bound = getattr(config.budgets, name)
        if bound is not None and bound < 0:
            raise InputError("is negative", field=f"budgets.{name}", found=bound, expected="0 or more")
    if config.fixtures is not None and config.suites:
        raise InputError("names suites twice", field="fixtures", hint="Give either `fixtures` or `suites`")
    return config


def _model(entry: Any, where: str) -> dict[str, Any]:
    if isinstance(entry, str):
        provider, _, model = entry.partition("/")
        return {"provider": provider, "model": model}
    if not isinstance(entry, dict):
        raise InputError("must be a table", field=where, found=type(entry).__name__, expected='{"provider", "model"}')
    for name in entry:
        if isinstance(name, str) and _to_snake(name) in _SECRET_FIELDS:
            hint = "Put the key into an environment variable and name that variable in `api_key_env`"
            raise InputError("a key may not stand in a file", field=f"{where}.{name}", hint=hint)
    table = _snake(entry, ModelConfig, f"{where}.")
    for name in ("provider", "model"):
        if not isinstance(table.get(name), str) or not table[name]:
            raise InputError("is missing or empty", field=f"{where}.{name}", expected="a name")
    return table


def _to_snake(name: str) -> str:
    return _CAMEL.sub(r"_\1", name).lower()


def _snake(table: dict[Any, Any], kind: type[Struct], prefix: str) -> dict[str, Any]:
    known = kind.__struct_fields__
    result: dict[str, Any] = {}
    for name, value in table.items():
        snake = _to_snake(name) if isinstance(name, str) else ""
        if snake not in known:
            near = difflib.get_close_matches(snake, known, n=1)
            hint = f"Did you mean `{near[0]}`?" if near else f"Known here: {', '.join(known)}"
            raise InputError("unknown field", field=f"{prefix}{name}", hint=hint)
        if snake in result:
            raise InputError("is given twice, in two spellings", field=f"{prefix}{name}")
        result[snake] = value
    return result


def _convert(settings: dict[str, Any]) -> RunConfig:
    try:
        return msgspec.convert(settings, RunConfig)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        field = path.rstrip("`").lstrip(".").replace("[...]", "[]") or None
        raise InputError(message[:1].lower() + message[1:], field=field) from None


def _line_of(text: str, field: str | None) -> int | None:
    """The line where the last name of a dotted field path stands, walking its names in order; None if not found."""
    if not field:
        return None
    position = 0
    for name, place in re.findall(r"([A-Za-z_]\w*)|\[(\d+)\]", field):
        if not name:
            for _ in range(int(place)):
                following = re.compile(r"[\"']?provider[\"']?\s*[:=]").search(text, position)
                position = following.end() if following else position
            continue
        camel = re.sub(r"_([a-z])", lambda m: m.group(1).upper(), name)
        match = re.compile(rf"(?<![\w]){re.escape(name)}(?!\w)|(?<![\w]){re.escape(camel)}(?!\w)").search(
            text, position
        )
        if match is None:
            break
        position = match.start()
    else:
        return text.count("\n", 0, position) + 1
    return text.count("\n", 0, position) + 1 if position else None
