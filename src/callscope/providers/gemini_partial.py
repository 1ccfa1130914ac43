"""The arguments of a Gemini call that a stream brings leaf by leaf (`streamFunctionCallArguments`), put together.

A piece names its place by a JSONPath of member names and array positions. Not for calls whose `args` come whole.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["PartialArguments"]

_STEP = re.compile(r"""\.([^.\[\]'"]+)|\[(\d{1,6})\]|\.?\[?"((?:[^"\\]|\\.)*)"\]?|\[?'((?:[^'\\]|\\.)*)'\]?""")
_VALUES = ("numberValue", "boolValue", "structValue", "listValue")


class PartialArguments:
    """`value` is the object so far; `fault` is why it cannot be trusted (`unreadable_piece`), else None."""

    __slots__ = ("_text_at", "fault", "value")

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self.fault: str | None = None
        self._text_at: str | None = None

    def add(self, pieces: Any) -> None:
        """Add the pieces of one chunk. Total: what cannot be placed sets `fault`."""
        for piece in pieces if isinstance(pieces, list) else ():
            if not (isinstance(piece, dict) and self._place(piece)):
                self.fault = "unreadable_piece"

    def _place(self, piece: dict[str, Any]) -> bool:
        path = piece.get("jsonPath")
        steps = _steps(path) if isinstance(path, str) else None
        if not steps:
            return False
        text = piece.get("stringValue")
        if isinstance(text, str):
            goes_on = self._text_at == path
            self._text_at = path if piece.get("willContinue") is True else None
            return _put(self.value, steps, text, append=goes_on)
        if "nullValue" in piece:
            return _put(self.value, steps, None)
        name = next((name for name in _VALUES if name in piece), None)
        return name is not None and _put(self.value, steps, piece[name])


def _steps(path: str) -> list[str | int] | None:
    """`$.a.b[0]["c d"]` as ["a", "b", 0, "c d"]; None where it is no such path."""
    steps: list[str | int] = []
    position = 1
    while path.startswith("$") and position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            return None
        name, index, double, single = match.groups()
        quoted = double if double is not None else single
        steps.append(int(index) if index else name if name is not None else re.sub(r"\\(.)", r"\1", quoted))
        position = match.end()
    return steps or None


def _put(root: dict[str, Any], steps: list[str | int], value: Any, *, append: bool = False) -> bool:
    """Write `value` at the place the steps lead to, making what is not there; False where something is in the way."""
    node: Any = root
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if isinstance(step, int):
            if not isinstance(node, list) or step > len(node):  # leaves come in order
                return False
            if step == len(node):
                node.append(_Missing)
        elif not isinstance(node, dict):
            return False
        before = node[step] if isinstance(step, int) else node.get(step, _Missing)
        if following is None:
            node[step] = before + value if append and isinstance(before, str) else value
        elif before is _Missing:
            node[step] = [] if isinstance(following, int) else {}
        node = node[step]
    return True


class _Missing:
    """Stands for a place that holds nothing yet."""
