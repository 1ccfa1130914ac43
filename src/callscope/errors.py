"""The exception tree. A message is part of the interface: it says where, what was found, and what to do.

    CallscopeError
    ├── InputError            something a person wrote is wrong: file, line, field, found, expected (exit code 2)
    ├── EnvironmentProblem    the machine or an installed extra is not enough for what was asked (exit code 2)
    └── RunFolderError        a run folder cannot be used as asked: locked, torn, of other settings (exit code 2)

What a model or provider did is never an exception: it becomes an outcome.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["CallscopeError", "EnvironmentProblem", "InputError", "RunFolderError", "shown"]

_UNSET: Any = object()


def shown(value: object, limit: int = 120) -> str:
    """A value as it may stand in a message: one line, printable, cut at `limit` characters."""
    text = value if isinstance(value, str) else repr(value)
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


class CallscopeError(Exception):
    """Base of every error callscope raises on purpose."""

    exit_code = 2


class InputError(CallscopeError):
    """A suite, configuration or argument that cannot be used as written.

    `field` is a dotted path or JSON pointer, `line` counts from 1. The text reads
    `file:line: field: message (found …; expected …). hint`, with the parts that are known.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        found: object = _UNSET,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message, self.file, self.line, self.field = message, file, line, field
        self.found, self.expected, self.hint = found, expected, hint
        super().__init__(self._text())

    def _text(self) -> str:
        where = ""
        if self.file is not None:
            file = shown(str(self.file), 300)
            where = f"{file}:{self.line}: " if self.line is not None else f"{file}: "
        elif self.line is not None:
            where = f"line {self.line}: "
        field = f"{shown(self.field)}: " if self.field else ""
        facts = []
        if self.found is not _UNSET:
            facts.append(f"found {shown(self.found)}")
        if self.expected:
            facts.append(f"expected {self.expected}")
        tail = f" ({'; '.join(facts)})" if facts else ""
        hint = f". {self.hint}" if self.hint else ""
        return f"{where}{field}{self.message}{tail}{hint}"

    def at(self, *, file: str | Path | None = None, line: int | None = None, prefix: str = "") -> InputError:
        """The same error with the place filled in by a caller that knows it; what is known already stays."""
        field = f"{prefix}{self.field}" if self.field and prefix else (self.field or prefix.rstrip(".") or None)
        return InputError(
            self.message,
            file=self.file if self.file is not None else file,
            line=self.line if self.line is not None else line,
            field=field,
            found=self.found,
            expected=self.expected,
            hint=self.hint,
        )


class EnvironmentProblem(CallscopeError):
    """The machine, an extra or a model file is missing what the request needs."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message, self.hint = message, hint
        super().__init__(f"{message}. {hint}" if hint else message)


class RunFolderError(CallscopeError):
    """A run folder cannot be used as asked."""
