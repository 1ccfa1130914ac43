"""Text that a stream brings in very many pieces: joined once, looked at once, whatever its length.

Knows nothing of calls; what the pieces belong to is decided in `calls`.
"""

from __future__ import annotations

import json
import re

__all__ = ["TextInPieces", "whole_objects"]

_DECODER = json.JSONDecoder()
_STRING_REST = re.compile(r'(?:[^"\\]|\\.)*+', re.DOTALL)
_MARK = re.compile(r'[{}\[\]"]')
_SPACE = re.compile(r"\s*+")


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return match.end() if match else place


class TextInPieces:
    """A text that comes in pieces, joined once it is asked for; `one_object` looks at every piece once."""

    __slots__ = ("_depth", "_found", "_fresh", "_open", "_pieces", "_quoted", "_torn")

    def __init__(self, text: str) -> None:
        self._pieces, self._fresh = [text], [text]
        self._depth, self._open, self._quoted, self._torn = 0, False, False, ""
        self._found: bool | None = None  # what is known for good

    def __bool__(self) -> bool:
        return len(self._pieces) > 1 or bool(self._pieces[0])

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces[:] = [type(self._pieces[0])("".join(self._pieces))]
        return self._pieces[0]

    def add(self, piece: str) -> None:
        """Go on with the text."""
        if piece:
            self._pieces.append(piece)
            self._fresh.append(piece)

    def one_object(self) -> bool:
        """Whether the text so far is one whole JSON object."""
        for piece in self._fresh if self._found is not False else ():
            self._look_at(piece)
        self._fresh.clear()
        if self._open and not self._depth and self._found is None:
            self._found = len(whole_objects(str(self))) == 1
        return bool(self._found)

    def _look_at(self, piece: str) -> None:
        """Count the brackets outside strings; anything beside the first object says for good that there is not one."""
        piece, self._torn = self._torn + piece, ""
        place = 0
        while place < len(piece):
            if self._quoted:
                place = _end(_STRING_REST, piece, place)
                self._torn = piece[place:] if piece[place:] == "\\" else ""
                self._quoted = piece[place : place + 1] != '"'
            elif self._depth:
                mark = _MARK.search(piece, place)
                if mark is None:
                    return
                place = mark.start()
                self._quoted = mark[0] == '"'
                self._depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(mark[0], 0)
            else:
                place = _end(_SPACE, piece, place)
                if place < len(piece):
                    if self._open or piece[place] != "{":
                        self._found = False
                        return
                    self._open, self._depth = True, 1
            place += 1


def whole_objects(text: str) -> list[str]:
    """The JSON objects that `text` is made of, white space apart; empty where it is made of anything else."""
    parts = []
    position, end = 0, len(text)
    while position < end:
        if text[position].isspace():
            position += 1
            continue
        if text[position] != "{":
            return []
        try:
            _, stop = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return []
        parts.append(text[position:stop])
        position = stop
    return parts
