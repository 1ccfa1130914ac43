"""FunctionGemma's own notation, `<start_function_call>call:f{k:<escape>v<escape>,n:5}<end_function_call>`.

As BFCL's handler reads it, forgiving in the same places: brackets need not match, and what comes before `:` in an
object is its key by the letters of the value it was read as. Not for other notations (`decoders`).
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["gemma_calls"]

_CALL = re.compile(r"<start_function_call>(.*?)<end_function_call>", re.DOTALL)
_TOKEN = re.compile(
    r"<escape>(?P<kept>.*?)<escape>|(?P<rest><escape>.*)|(?P<mark>[{}\[\]:,])|(?P<run>(?:(?!<escape>)[^{}\[\]:,])+)",
    re.DOTALL,
)
_WORDS: dict[str, bool | None] = {"null": None, "true": True, "false": False}


def gemma_calls(text: str) -> list[dict[str, dict[str, Any]]]:
    """`[{name: arguments}, …]`; () for a text without such calls. Raises TypeError where `text` is no string."""
    calls: list[dict[str, dict[str, Any]]] = []
    for written in _CALL.findall(text):
        kept = written.strip()
        if kept.startswith("call:"):
            name, brace, rest = kept.removeprefix("call:").partition("{")
            calls.append({name.strip(): _Reader().read(brace + rest) if brace else {}})
    return calls


class _Reader:
    """Containers that are open, innermost last, with the key that waits for a value in each open object."""

    def __init__(self) -> None:
        self.top: list[Any] = []
        self.open: list[Any] = [self.top]
        self.keys: list[str | None] = []
        self.before_colon: Any = None

    def read(self, text: str) -> dict[str, Any]:
        for token in _TOKEN.finditer(text):
            if token["mark"]:
                self._mark(token["mark"])
            elif token["run"] is None:
                self._put(token["kept"] if token["kept"] is not None else token["rest"])
            elif token["run"].strip():
                self._put(_primitive(token["run"].strip()))
        return self.top[0] if self.top and isinstance(self.top[0], dict) else {}

    def _mark(self, mark: str) -> None:
        if mark == ":":
            if self.before_colon is not None:
                if isinstance(self.open[-1], dict) and self.keys:
                    self.keys[-1] = str(self.before_colon)
                self.before_colon = None
            return
        if mark in "{[":
            container: Any = {} if mark == "{" else []
            self._put(container)
            self.open.append(container)
            if mark == "{":
                self.keys.append(None)
        elif mark in "}]" and len(self.open) > 1:
            self.open.pop()
            if mark == "}" and self.keys:
                self.keys.pop()
        self.before_colon = None

    def _put(self, value: Any) -> None:
        container = self.open[-1]
        if isinstance(container, list):
            container.append(value)
        elif self.keys and self.keys[-1] is not None:
            container[self.keys[-1]] = value
            self.keys[-1] = None
        else:
            self.before_colon = value


def _primitive(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
