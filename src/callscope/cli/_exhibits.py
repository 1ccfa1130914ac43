"""The exhibits of `callscope report`: runs read, exhibits made, and written in the forms asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from callscope.capture.folder import write_atomically
from callscope.cli._console import Only, out, put, say
from callscope.errors import InputError
from callscope.reports.across import Options, Source
from callscope.reports.difficulty import read_mixes
from callscope.reports.exhibits.forms import (
    exhibits_html,
    exhibits_json,
    exhibits_markdown,
    print_exhibits,
    svg_files,
)
from callscope.reports.exhibits.parts import Exhibit
from callscope.reports.filters import narrowed
from callscope.reports.presets import exhibits_of
from callscope.reports.queries import Policy
from callscope.reports.summary import summarise
from callscope.runs import open_run

__all__ = ["Wanted", "show_exhibits"]


class Wanted(NamedTuple):
    """What was asked for on the command line."""

    preset: Literal["table1", "table2", "figure3", "figure4", "routing", "all"]
    mix: tuple[str, ...]
    both_empty: Policy
    strict_extra: bool
    full: bool
    html: Path | None
    svg: Path | None
    markdown: bool
    json: bool
    only: Only


def show_exhibits(runs: Sequence[Path], wanted: Wanted) -> int:
    """Make the exhibits and write or print them. Raises InputError, RunFolderError."""
    mixes = read_mixes(wanted.mix)
    if wanted.svg is not None and wanted.preset not in _PICTURED:
        raise InputError(
            "has no picture", field=f"--preset {wanted.preset} --svg", hint=f"Use --preset {', '.join(_PICTURED)}"
        )
    sources = _sources(runs, wanted.only)
    options = Options(wanted.both_empty, wanted.strict_extra, wanted.full)
    exhibits = exhibits_of(wanted.preset, sources, options, mixes)
    written = _files(exhibits, sources, wanted)
    for path in written:
        say(f"Written: {path}")
    if wanted.json:
        put(exhibits_json(exhibits))
    elif wanted.markdown:
        put(exhibits_markdown(exhibits).encode("utf-8", "replace"))
    elif not written:
        print_exhibits(exhibits, out())
    return 0


_PICTURED = ("figure3", "figure4", "all")


def _sources(runs: Sequence[Path], only: Only) -> list[Source]:
    """The summaries of the runs, of what is asked for; a run that has nothing of it is left out where another has."""
    sources, failed = [], []
    for path in runs:
        try:
            sources.append(Source(str(path), summarise(narrowed(open_run(path), **only._asdict()))))
        except InputError as error:
            failed.append(error)
    if not sources:
        raise failed[0]
    return sources


def _files(exhibits: list[Exhibit], sources: Sequence[Source], wanted: Wanted) -> list[Path]:
    written = []
    drawn = svg_files(exhibits) if wanted.svg is not None else {}
    if wanted.svg is not None and not drawn:
        raise InputError("has no picture of these runs", field=f"--preset {wanted.preset} --svg")
    if wanted.svg is not None:
        try:
            wanted.svg.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", file=wanted.svg) from None
        for name, data in drawn.items():
            write_atomically(wanted.svg / name, data)
            written.append(wanted.svg / name)
    if wanted.html is not None:
        title = ", ".join(source.name for source in sources)
        write_atomically(wanted.html, exhibits_html(exhibits, title).encode("utf-8", "replace"))
        written.append(wanted.html)
    return written
