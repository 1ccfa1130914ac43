"""Making foreign text inert before it is shown: control characters, bidirectional overrides, surrogates, formulas.

What a model, a server or a suite wrote may be printed only through here. Escaping of markup is the business of the
format (autoescape in HTML, `rich.Text` in a terminal); this module takes away what markup escaping leaves.
"""

from __future__ import annotations

import re

from callscope.jsontext import dump_faithful

__all__ = ["clip", "csv_cell", "inert", "one_line", "pretty"]

_KEPT = {"\n", "\t", "\u200c", "\u200d", "\u3000", "\u00a0"}
"""Shown as they are: line breaks, tabs, the joiners that scripts and emoji need, and two plain spaces."""

_INVISIBLE = re.compile("[\u115f\u1160\u3164\uffa0\u2800\ufe00-\ufe0e\U000e0100-\U000e01ef]")
"""Printable by name, yet drawn as nothing."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def inert(text: str) -> str:
    """`text` with every character that could steer a terminal, hide or reorder its neighbours written as an escape.

    Line breaks and tabs stay. The result can always be encoded as UTF-8 and is legal in XML.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in _KEPT else _escape(c) for c in text)
    return _INVISIBLE.sub(lambda m: _escape(m.group()), text)


def one_line(text: str, limit: int = 200) -> str:
    """`text`, inert, on one line, cut at `limit` characters."""
    head = text[: limit + 1]
    shown = inert(head.replace("\n", "\\n").replace("\t", "\\t"))
    return shown if len(shown) <= limit and len(head) == len(text) else shown[: limit - 1] + "…"


def clip(text: str, limit: int) -> str:
    """`text`, inert, with what exceeds `limit` characters counted instead of shown."""
    return inert(text) if len(text) <= limit else f"{inert(text[:limit])}\n… {len(text) - limit} more characters"


def pretty(value: object, limit: int = 4000) -> str:
    """A JSON value, inert, on one line where it is short and indented otherwise, cut at `limit` characters.

    What is no JSON value is shown by its repr.
    """
    try:
        text = dump_faithful(value).decode("utf-8")
        if len(text) > 80:
            text = dump_faithful(value, indent=2).decode("utf-8")
    except RecursionError:
        text = "(nested too deeply to be shown)"
    except (TypeError, ValueError):
        text = repr(value)
    return clip(text, limit)


def csv_cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula: text that begins like one gets a leading apostrophe."""
    if not isinstance(value, str):
        return value
    text = inert(value)
    return f"'{text}" if value.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text
