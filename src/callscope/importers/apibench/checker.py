"""What APIBench's own script makes of an answer: the first entry of the API database whose call is in it.

The search is the published one, fault by fault (scoring-faults 42; ast_eval_{th,hf,tf}.py of ShishirPatil/gorilla):
the text after the first `api_call` is parsed as Python by tree-sitter, errors and all; for each entry the last
sub-tree (parents first, the rightmost first) that begins with the entry's function is taken, or, where none does, the
very last sub-tree; the entry is found when the texts of its arguments occur anywhere in that sub-tree's text.

| hub         | which arguments of an entry must occur                                       |
|-------------|------------------------------------------------------------------------------|
| torchhub    | the values of those whose text holds `repo_or_dir` or `model`                |
| huggingface | all values                                                                   |
| tensorflow  | all, keyword and value as written; of `model=` its value alone               |

An entry without such arguments is passed over. Verdict: `correct` when the entry found has the gold's domain.
Recorded with the answer when it is imported, so that a replay needs no parser.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from callscope.errors import EnvironmentProblem
from callscope.importers.apibench.hubs import HubName

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["NO_API_CALL", "Database", "answer_text", "database", "found_entry"]

NO_API_CALL = -2
"""What `found_entry` returns where the script looks no further: for TorchHub, an answer without `api_call`."""


class _Entry(NamedTuple):
    """What must be found of an entry; `crashes`: the script stops when it comes to it."""

    function: bytes = b""
    arguments: tuple[str, ...] = ()
    crashes: bool = False


class Database(NamedTuple):
    """An API database as the script sees it, in its order."""

    hub: HubName
    entries: tuple[_Entry, ...]


@cache
def _parser() -> Parser:
    try:
        import tree_sitter_python
        from tree_sitter import Language, Parser
    except ImportError as error:
        hint = "pip install tree-sitter tree-sitter-python"
        raise EnvironmentProblem(f"APIBench's own checker needs {error.name}", hint=hint) from None
    return Parser(Language(tree_sitter_python.language()))


def _parsed(text: str) -> Node:
    return _parser().parse(text.encode("utf-8")).root_node


def database(hub: HubName, api_calls: Sequence[str]) -> Database:
    """The calls of an API database, read for the search. Raises EnvironmentProblem where the parser is missing."""
    return Database(hub, tuple([_entry(hub, api_call) for api_call in api_calls]))


def _entry(hub: HubName, api_call: str) -> _Entry:
    try:
        call = _parsed(api_call).children[0].children[0]
        if call.child_count == 0:
            return _Entry()
        arguments = [text for child in call.children[1].children for text in _asked(hub, child)]
        return _Entry(call.children[0].text or b"", tuple(arguments))
    except (IndexError, UnicodeError):
        return _Entry(crashes=True)


def _asked(hub: HubName, child: Node) -> list[str]:
    """What of one node of an argument list must occur in the answer; quotes around it taken off."""
    text = _text(child)
    if hub == "torchhub":
        named, whole = "repo_or_dir" in text or "model" in text, False
    elif hub == "huggingface":
        named, whole = "=" in text, True
    else:
        named, whole = "model=" in text or "model =" in text, True
    if named:
        return [_text(child.children[2]).strip("'")]
    return [text.strip("'")] if whole and text not in ("(", ")", ",") else []


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8")


def answer_text(hub: HubName, text: str) -> str | None:
    """The part of an answer that the script parses; None where it does not look at it."""
    _, mark, rest = text.partition("api_call")
    if not mark:
        return None if hub == "torchhub" else text
    rest = rest.partition("api_call")[0].partition("api_provider")[0]
    start = max(rest.find(":"), 0)
    end = rest.rfind(")") if ")" in rest else -2
    return rest[start + 2 : end + 1]


def found_entry(database: Database, text: str) -> int | None:
    """The place of the entry that an answer is taken to call; -1: none is; NO_API_CALL; None: the script crashes."""
    asked = answer_text(database.hub, text)
    if asked is None:
        return NO_API_CALL
    try:
        first, last = _sub_trees(_parsed(asked))
    except UnicodeEncodeError:
        return None
    seen: dict[bytes, str] = {}
    for place, entry in enumerate(database.entries):
        if entry.crashes:
            return None
        if not entry.arguments:
            continue
        if entry.function not in seen:
            seen[entry.function] = _text(first.get(entry.function, last))
        if all(argument in seen[entry.function] for argument in entry.arguments):
            return place
    return -1


def _sub_trees(root: Node) -> tuple[dict[bytes, Node], Node]:
    """First token's text -> the first node that begins with it, in the script's order; and the last node."""
    first: dict[bytes, Node] = {}
    last, waiting = root, [root]
    while waiting:
        last = waiting.pop()
        children = last.children
        if children:
            first.setdefault(children[0].text or b"", last)
        waiting.extend(child for child in children if child.child_count)
    return first, last
