"""The HTML report: one self-contained file that opens from disk, loads nothing, and needs no script to be read.

Everything foreign passes `inert` and Jinja's autoescape; a content policy with hashes allows our own style and script
and nothing else. How a section is filled is `page`'s; drawings are `svg`'s; which trials are shown is `gallery`'s.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

import msgspec
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from callscope.contract import Manifest
from callscope.reports.columns import grouped
from callscope.reports.gallery import choose
from callscope.reports.limitations import limitations
from callscope.reports.page import header, section
from callscope.reports.safe import inert, pretty
from callscope.reports.view import RunView, cases_by_id

__all__ = ["asset", "digest", "environment", "render_html"]

_MANIFEST_LIMIT = 400_000
_CASES, _LISTED, _BLOCKS = 12, 2000, 60
"""Longer lists of cases are folded; how many cases are listed of a block, and how many blocks' lists are given."""


def render_html(view: RunView, summary: Mapping[str, Any]) -> str:
    """The report of a run as one HTML document; `summary` is `summarise(view)`.

    Its size is bounded: heat maps by rows, evidence by examples a category and model, texts by length; each says so.
    """
    gallery = choose(view)
    manifest, blocks = _folded(view.manifest)
    cases = {name: cases_by_id(view, name) for name in dict.fromkeys(g["suite"] for g in summary["groups"])}
    style, script = asset("report.css"), asset("report.js")
    sections = [
        section(number, groups, summary, gallery, cases[groups[0]["suite"]])
        for number, groups in enumerate(grouped(summary), 1)
    ]
    undecided = (row["undecided"] for each in sections for line in each["headline"] for row in line["cells"])
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            policy=f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(script)}'; base-uri 'none';"
            " form-action 'none'",
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            head=header(view, summary),
            limits=limitations(summary),
            sections=sections,
            undecided=next((each["anchor"] for each in undecided if each and each["anchor"]), ""),
            manifest=pretty(manifest, _MANIFEST_LIMIT),
            blocks=blocks,
        )
    )


def _folded(manifest: Manifest) -> tuple[Any, list[tuple[str, list[str]]]]:
    """The manifest with the long lists of cases in its plan cut short, and these lists."""
    shown, blocks = msgspec.to_builtins(manifest), []
    for block in shown["plan"]:
        cases = block["cases"]
        if len(cases) > _CASES:
            blocks.append((" · ".join(block[name] for name in ("suite", "experiment", "model")), cases[:_LISTED]))
            block["cases"] = [*cases[:2], f"… {len(cases) - 2} more"]
    return shown, blocks[:_BLOCKS]


@cache
def asset(name: str) -> str:
    """A file of our own templates."""
    return resources.files("callscope.reports").joinpath("templates").joinpath(name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """What a content policy calls an inline text by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _finalize(value: Any) -> Any:
    """Every expression of the template comes through here, what filters have marked as safe included."""
    if not isinstance(value, str):
        return value
    return Markup(inert(str(value))) if isinstance(value, Markup) else inert(value)  # noqa: S704 - was markup already


@cache
def environment() -> Environment:
    """The templates of reports."""
    return environment_of(asset)


def environment_of(load: Callable[[str], str]) -> Environment:
    """Templates by what loads them, with everything foreign escaped and inert."""
    return Environment(
        loader=FunctionLoader(load),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
