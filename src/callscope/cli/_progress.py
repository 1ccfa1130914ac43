"""The live display of a run: trials done, pace, spend, losses by category, time left. Plain lines off a terminal."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from callscope.cli._console import errors

if TYPE_CHECKING:
    from callscope.capture.runner import ModelProgress, Progress

__all__ = ["RunDisplay", "duration"]

_PLAIN_EVERY_SECONDS = 10.0


def duration(seconds: float) -> str:
    """`9s`, `3m 05s`, `2h 07m`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def _left(progress: Progress) -> str:
    remaining = progress.planned - progress.earlier - progress.done
    elapsed = progress.now - progress.started
    return duration(elapsed / progress.done * remaining) if progress.done else "…"


def _losses(model: ModelProgress) -> str:
    lost = {name: count for name, count in sorted(model.acceptance.items()) if name != "accepted" and count}
    return ", ".join(f"{name} {count}" for name, count in lost.items())


def _spend(model: ModelProgress) -> str:
    tokens = f"{model.input_tokens:,}+{model.output_tokens:,}"
    return f"{tokens} · {model.cost:.4f}" if model.cost else tokens


class RunDisplay:
    """A context in which a run's progress is shown; call it with the progress as it changes."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or errors()
        self._live: Live | None = None
        self._printed_at = 0.0
        self._last: Progress | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(console=self._console, refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError, ValueError):
            if self._live is not None:
                self._live.stop()
            elif self._last is not None:
                self._line(self._last)

    def __call__(self, progress: Progress) -> None:
        """Show this state."""
        self._last = progress
        with suppress(OSError, ValueError):  # a display that cannot be written must never end a run
            if self._live is not None:
                self._live.update(self._table(progress))
            elif progress.now - self._printed_at >= _PLAIN_EVERY_SECONDS:
                self._printed_at = progress.now
                self._line(progress)

    def _line(self, progress: Progress) -> None:
        done = progress.earlier + progress.done
        rate = progress.done / max(progress.now - progress.started, 1e-9)
        losses = "; ".join(f"{label}: {text}" for label, one in progress.models.items() if (text := _losses(one)))
        parts = [
            f"{done}/{progress.planned} trials",
            f"{rate:.2f}/s",
            f"{progress.tokens:,} tokens",
            f"left {_left(progress)}",
        ]
        if progress.cost:
            parts.append(f"spent {progress.cost:.4f}")
        self._console.print(Text(" · ".join(parts) + (f" · not observed: {losses}" if losses else "")))

    @staticmethod
    def _table(progress: Progress) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for name in ("model", "trials", "s/call", "tokens in+out", "not observed"):
            table.add_column(name, style="dim" if name == "not observed" else None, overflow="fold")
        for label, model in progress.models.items():
            calls = sum(model.acceptance.values())
            each = f"{model.busy_ms / 1000 / calls:.2f}" if calls else "…"
            done = f"{model.earlier + model.done}/{model.planned}"
            table.add_row(Text(label), done, each, _spend(model), Text(_losses(model)))
        elapsed = duration(progress.now - progress.started)
        table.caption = Text(f"{elapsed} gone, {_left(progress)} left · {progress.current}")
        table.caption_justify = "left"
        return table
