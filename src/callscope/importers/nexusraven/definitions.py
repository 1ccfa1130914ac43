"""Function definitions as tools: Python source (version 1) or rows of signature and description (version 2).

Read with the grammar alone. What a signature does not say of a type is looked up in the docstring's line about the
argument, `name (type): …` or `- name: type, …`.

| in the signature        | in the tool's schema                                            |
|-------------------------|-----------------------------------------------------------------|
| no default              | required                                                        |
| default None            | may be left out                                                 |
| any other plain default | may be left out, `default` states it                            |
| `**anything`            | `additionalProperties` allowed                                  |
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from callscope.contract import Tool
from callscope.errors import InputError
from callscope.importers.material import Row, decoded, text_field
from callscope.importers.pycalls import PyFault, parse_source

__all__ = ["REQUIRED", "RESULT", "Function", "Parameter", "functions_of_rows", "functions_of_source", "tool_of"]

REQUIRED: Any = object()
"""The default of a parameter that has none."""

RESULT = "result_of"
"""The one key of an argument that is the result of another call; the call stands under it."""

_TYPES = (
    (re.compile(r"str|text|enum|date", re.IGNORECASE), "string"),
    (re.compile(r"bool", re.IGNORECASE), "boolean"),
    (re.compile(r"int", re.IGNORECASE), "integer"),
    (re.compile(r"float|number|double", re.IGNORECASE), "number"),
    (re.compile(r"list|array|tuple|sequence", re.IGNORECASE), "array"),
    (re.compile(r"dict|json|object|mapping", re.IGNORECASE), "object"),
)
_DOCUMENTED = re.compile(
    r"^[ \t]*(?:-[ \t]*)?(?P<name>\w[\w-]*)[ \t]*(?:\((?P<paren>[^()\n]*)\)[ \t]*:|[:,](?P<rest>[^\n]*))", re.MULTILINE
)
_NOT_A_TYPE = re.compile(r"\s*(?:required|optional)\b", re.IGNORECASE)


class Parameter(NamedTuple):
    """A parameter: its default (REQUIRED for none), and its type's words in the signature or the docstring."""

    name: str
    default: Any
    type: str
    about: str


class Function(NamedTuple):
    """A function as defined. `open`: it takes any further keyword."""

    name: str
    parameters: tuple[Parameter, ...]
    about: str
    open: bool


def functions_of_source(file: str, data: bytes) -> tuple[Function, ...]:
    """The functions that Python source defines. Raises InputError where it is none, or defines none."""
    text = decoded(file, data)
    try:
        tree = parse_source(text)
    except PyFault as fault:
        raise InputError(f"cannot be read as Python ({fault})", file=file, expected="function definitions") from None
    found = tuple(_function(node) for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    if not found:
        raise InputError("defines no function", file=file)
    return found


def functions_of_rows(rows: Sequence[Row]) -> tuple[Function, ...]:
    """The functions of version 2's rows, `{"function_calls": signature, "descriptions": text}`. Raises InputError."""
    return tuple(_of_row(row) for row in rows)


def _of_row(row: Row) -> Function:
    signature = text_field(row, "function_calls").strip().removeprefix("def ").rstrip(":").strip()
    try:
        body = parse_source(f"def {signature}: pass").body
    except PyFault as fault:
        body, why = [], str(fault)
    else:
        why = "no function"
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise InputError(
            f"is no signature ({why})",
            file=row.file,
            line=row.line,
            field="function_calls",
            found=signature,
            expected="name(parameter: type = default, …)",
        )
    return _function(body[0], text_field(row, "descriptions"))


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, about: str | None = None) -> Function:
    about = about if about is not None else ast.get_docstring(node) or ""
    documented = _documented(inspect.cleandoc(about))
    parameters = tuple(
        Parameter(
            each.arg, default, kind or documented.get(each.arg, ("", ""))[0], documented.get(each.arg, ("", ""))[1]
        )
        for each, default in _arguments(node.args)
        for kind in (ast.unparse(each.annotation) if each.annotation is not None else "",)
    )
    return Function(node.name, parameters, inspect.cleandoc(about), node.args.kwarg is not None)


def _arguments(arguments: ast.arguments) -> Iterator[tuple[ast.arg, Any]]:
    places = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(places) - len(arguments.defaults))
    for each, node in zip(places, [*defaults, *arguments.defaults], strict=True):
        yield each, _default(node)
    for each, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield each, _default(node)


def _default(node: ast.expr | None) -> Any:
    if node is None:
        return REQUIRED
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _documented(about: str) -> dict[str, tuple[str, str]]:
    """Parameter -> (its type's words, the line about it), as the docstring's own lines say."""
    found: dict[str, tuple[str, str]] = {}
    for line in _DOCUMENTED.finditer(about):
        words = line["paren"] if line["paren"] is not None else (line["rest"] or "").partition(",")[0]
        whole = about[line.start() : (about.find("\n", line.start()) + 1 or len(about) + 1) - 1]
        kind = "" if _NOT_A_TYPE.match(words) or len(words) > 40 else words.strip()
        found[line["name"].replace("-", "_")] = (kind, whole.strip().lstrip("- "))  # the last: Args stand at the end
    return found


def tool_of(function: Function, *, nested: bool) -> Tool:
    """A function as a tool. `nested`: each argument may also be the result of another call."""
    properties: dict[str, Any] = {}
    for parameter in function.parameters:
        schema = _schema(parameter.type)
        if nested and schema:
            schema = {"anyOf": [schema, {"type": "object", "required": [RESULT], "maxProperties": 1}]}
        if parameter.about:
            schema = {**schema, "description": parameter.about}
        if parameter.default is not REQUIRED and parameter.default is not None and _is_json(parameter.default):
            schema = {**schema, "default": parameter.default}
        properties[parameter.name] = schema
    return Tool(
        function.name,
        function.about,
        {
            "type": "object",
            "properties": properties,
            "required": [each.name for each in function.parameters if each.default is REQUIRED],
            "additionalProperties": function.open,
        },
    )


def _schema(words: str) -> dict[str, Any]:
    outer = words.partition("[")[0].rpartition(".")[2]
    found = next((name for pattern, name in _TYPES if pattern.match(outer.strip())), None)
    return {"type": found} if found else {}


def _is_json(value: object) -> bool:
    return type(value) in (str, int, float, bool) or (isinstance(value, list) and all(_is_json(one) for one in value))
