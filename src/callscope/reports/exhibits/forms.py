"""Exhibits on the terminal, as Markdown, as one self-contained HTML page, as JSON, and their pictures as SVG files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup
from rich.console import Console, RenderableType
from rich.text import Text

from callscope.jsontext import dump_faithful
from callscope.reports.exhibits.parts import Exhibit, Grid, Picture
from callscope.reports.html import asset, digest, environment
from callscope.reports.markdown import plain, table
from callscope.reports.safe import inert
from callscope.reports.terminal import wide_table

__all__ = [
    "exhibits_html",
    "exhibits_json",
    "exhibits_markdown",
    "grid_markdown",
    "grid_terminal",
    "print_exhibits",
    "standalone",
    "svg_files",
]

SCHEMA = "callscope/exhibits/1"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def print_exhibits(exhibits: Iterable[Exhibit], console: Console) -> None:
    """Print the grids of the exhibits; pictures are named, for a terminal cannot show them."""
    for exhibit in exhibits:
        console.print(Text(""))
        console.print(Text(inert(exhibit.title), style="bold"))
        console.print(Text(inert(exhibit.about), style="bold cyan"))
        for part in exhibit.parts:
            if isinstance(part, Grid):
                for piece in grid_terminal(part, console.width):
                    console.print(piece)
            else:
                console.print(Text(f"\n{part.heading}: a picture; --html FILE or --svg DIR writes it", style="dim"))


def grid_terminal(grid: Grid, width: int) -> Iterator[RenderableType]:
    """A grid as tables for a terminal of `width` columns, with its heading and notes."""
    yield Text("")
    if grid.heading:
        yield Text(inert(grid.heading), style="bold")
    yield from wide_table(width, grid.label, list(grid.columns), grid.rows, keys=grid.keys)
    for note in grid.notes:
        yield Text(inert(note), style="dim")


def exhibits_markdown(exhibits: Iterable[Exhibit]) -> str:
    """The exhibits as a Markdown document, without their pictures."""
    parts: list[str] = []
    for exhibit in exhibits:
        parts += [f"## {plain(inert(exhibit.title))}", plain(inert(exhibit.about))]
        for part in exhibit.parts:
            parts += grid_markdown(part) if isinstance(part, Grid) else []
    return "\n\n".join(parts) + "\n"


def grid_markdown(grid: Grid) -> list[str]:
    """A grid as Markdown, block by block."""
    rows = [[plain(inert(name)), *(plain(inert(cell.line)) for cell in cells)] for name, cells in grid.rows]
    heading = [f"### {plain(inert(grid.heading))}"] if grid.heading else []
    headings = [plain(inert(each)) for each in (grid.label, *grid.columns)]
    return [*heading, table(headings, rows), *(plain(inert(note)) for note in grid.notes)]


def exhibits_json(exhibits: Iterable[Exhibit]) -> bytes:
    """The exhibits' figures, as numbers."""
    shown = [{"name": each.name, "title": each.title, "about": each.about, **each.data} for each in exhibits]
    return dump_faithful({"schema": SCHEMA, "exhibits": shown}, indent=1, sort_keys=True) + b"\n"


def exhibits_html(exhibits: Sequence[Exhibit], title: str) -> str:
    """The exhibits with their pictures as one HTML page that opens from disk and loads nothing."""
    style = asset("report.css") + asset("figure.css")
    return (
        environment()
        .get_template("exhibits.html.j2")
        .render(
            title=title,
            style=Markup(style),  # noqa: S704 - our own files
            policy=f"default-src 'none'; style-src '{digest(style)}'; base-uri 'none'; form-action 'none'",
            exhibits=[
                {
                    "title": each.title,
                    "about": each.about,
                    "parts": [
                        {"grid": part if isinstance(part, Grid) else None, "picture": _picture(part)}
                        for part in each.parts
                    ],
                }
                for each in exhibits
            ],
        )
    )


def _picture(part: Grid | Picture) -> Picture | None:
    return part if isinstance(part, Picture) else None


def svg_files(exhibits: Iterable[Exhibit]) -> dict[str, bytes]:
    """File name -> SVG document, for every picture: `figure3-<about>.svg`; a name used twice gets a number."""
    files: dict[str, bytes] = {}
    for exhibit in exhibits:
        for part in exhibit.parts:
            if isinstance(part, Picture):
                stem = _UNSAFE.sub("-", f"{exhibit.name}-{exhibit.about}").strip("-.")[:120]
                name, number = f"{stem}.svg", 1
                while name in files:
                    number += 1
                    name = f"{stem}-{number}.svg"
                files[name] = standalone(part)
    return files


def standalone(picture: Picture) -> bytes:
    """A picture as an SVG document of its own, with its colours in it."""
    style = Markup("<style>{}</style>").format(Markup(asset("figure.css")))  # noqa: S704 - our own file
    head, _, rest = str(picture.svg).partition(">")
    head = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return f"{head}>{style}{rest}\n".encode("utf-8", "replace")
