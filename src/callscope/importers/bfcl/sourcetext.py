"""Java and JavaScript text, parsed by their grammars (tree-sitter). Not for what the nodes mean."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Language, Node

__all__ = ["Tongue", "has_error", "parse_source", "walk"]

Tongue = Literal["java", "javascript"]


@cache
def _language(tongue: Tongue) -> Language:
    from tree_sitter import Language

    if tongue == "java":
        import tree_sitter_java

        return Language(tree_sitter_java.language())
    import tree_sitter_javascript

    return Language(tree_sitter_javascript.language())


def parse_source(source: str, tongue: Tongue) -> Node:
    """The root of the syntax tree of any text; what does not fit the grammar is a node of type ERROR in it.

    Raises UnicodeEncodeError on a lone surrogate.
    """
    from tree_sitter import Parser

    return Parser(_language(tongue)).parse(source.encode("utf-8")).root_node


def walk(root: Node) -> list[Node]:
    """All nodes below and with `root`, parents first, in the order of the text."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting.extend(reversed(node.children))
    return found


def has_error(root: Node) -> bool:
    """Whether the text holds something that the grammar could not take in (a missing token alone does not count)."""
    return root.has_error and any(node.type == "ERROR" for node in walk(root))
