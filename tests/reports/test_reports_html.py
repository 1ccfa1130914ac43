"""The HTML report is one inert, self-contained, navigable file, whatever models, servers and suites wrote."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from msgspec import structs
from reports_runs import HOSTILE, Run, entry, manifest, suite, support_run

from callscope.contract import Block, Case, Derived, ExpectText, Text, trials
from callscope.reports import render_html, summarise
from callscope.reports.gallery import PASSED, choose
from callscope.reports.inspect import categories
from callscope.reports.safe import inert
from callscope.reports.view import group_key

VOID = {"meta", "br", "input", "img", "link", "hr"}
ELEMENTS = set(
    re.findall(
        r"\S+",
        """html head meta title style body a header p span h1 h2 h3 h4 h5 b em strong small code dl div dt dd nav ul li
        main section table caption thead tbody tr th td details summary pre svg path circle rect footer script br""",
    )
)
ATTRIBUTES = set(
    re.findall(
        r"\S+",
        """lang charset http-equiv content name class href id aria-hidden aria-label aria-labelledby tabindex role scope
        colspan rowspan title viewbox preserveaspectratio width height d cx cy r rx x data-filter open""",
    )
)


class Page(HTMLParser):
    """What a browser would see: elements, attributes, text, and whether tags nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text: dict[str, list[str]] = {}
        self.stack: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.stack.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.setdefault(self.stack[-1] if self.stack else "", []).append(data)


@pytest.fixture(scope="module")
def run() -> Run:
    return support_run()


@pytest.fixture(scope="module")
def html(run: Run) -> str:
    return render_html(run, summarise(run))


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_no_element_and_no_attribute_comes_from_data(page: Page) -> None:
    assert set(page.elements) <= ELEMENTS
    assert {name for _, name, _ in page.attributes} <= ATTRIBUTES
    assert page.elements["script"] == page.elements["style"] == 1
    assert page.stack == []


def test_hostile_output_is_there_to_be_read_as_text(page: Page) -> None:
    everything = "".join(data for parts in page.text.values() for data in parts)
    for text in HOSTILE:
        assert inert(text) in everything


def test_nothing_is_loaded_and_every_link_stays_on_the_page(html: str, page: Page) -> None:
    links = [value for _, name, value in page.attributes if name in {"href", "src", "action", "srcset", "data"}]
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert all(link.startswith("#") for link in links)
    assert {link[1:] for link in links} <= set(ids)
    assert len(ids) == len(set(ids))
    style, script = "".join(page.text["style"]), "".join(page.text["script"])
    assert "url(" not in style
    assert "@import" not in style
    assert not re.search(r"fetch|XMLHttp|import\(|innerHTML|eval|document\.write", script)


def test_the_policy_allows_our_own_style_and_script_and_nothing_else(page: Page) -> None:
    policy = next(value for _, name, value in page.attributes if name == "content" and "default-src" in value)
    for kind in ("style", "script"):
        digest = hashlib.sha256("".join(page.text[kind]).encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_the_text_can_be_written_and_hides_or_reorders_nothing(html: str) -> None:
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\ufeff]", html)


def test_the_same_run_gives_the_same_page(html: str) -> None:
    again = support_run()
    assert render_html(again, summarise(again)) == html


def test_every_header_cell_says_what_it_heads_and_every_drawing_what_it_shows(html: str) -> None:
    assert not re.search(r"<th(?![^>]*scope=)[ >]", html)
    assert not re.search(r"<svg(?![^>]*(aria-label|aria-hidden))[ >]", html)


def test_every_failure_category_of_every_model_has_an_example(run: Run) -> None:
    wanted = {(next(iter(categories(row.verdict)), PASSED), group_key(row.verdict)) for row in run.rows}
    shelves = choose(run, per_shelf=1, in_all=1).shelves
    assert {(shelf.category, shelf.key) for shelf in shelves if shelf.shown} == wanted
    assert sum(shelf.trials for shelf in shelves) == len(run.rows)


def test_cells_lead_to_the_evidence_of_their_failure(run: Run, html: str) -> None:
    gallery = choose(run)
    shown = {anchor: (shelf.key, d.verdict.case_id) for shelf in gallery.shelves for anchor, d in shelf.shown}
    passing = {anchor for shelf in gallery.shelves if shelf.category == PASSED for anchor, _ in shelf.shown}
    failed = {(group_key(r.verdict), r.verdict.case_id) for r in run.rows if r.verdict.passed is False}
    for place, anchor in gallery.anchors.items():
        assert shown[anchor] == place
        assert f'href="#{anchor}"' in html
        assert not (place in failed and anchor in passing)


def big_run(cases: int) -> Run:
    held = suite("big", tuple(Case(f"c{i}", "p" * 5000, ExpectText()) for i in range(cases)))
    plan = (Block("big", "auto", "m", tuple(case.id for case in held.cases), 1),)
    rows: list[Derived] = []
    base = support_run(cases_of=6, hostile=False).rows
    failing = next(row for row in base if row.verdict.selection == "called_when_abstention_expected")
    for trial in trials(plan):
        named = {"suite": "big", "model": "m", "case_id": trial.key.case_id, "repeat": 0, "experiment": "auto"}
        outcome = Text("q" * 100_000)
        rows.append(structs.replace(failing, verdict=structs.replace(failing.verdict, **named), outcome=outcome))
    return Run(manifest((held,), (entry("m"),), plan), {"big": held}, rows)


def test_a_big_run_gives_a_bounded_page_that_says_what_it_leaves_out() -> None:
    run = big_run(2000)
    html = render_html(run, summarise(run))
    assert len(html) < 1_500_000
    assert "400 of 2000 cases are shown" in html
    assert "1988 more, see" in html
    assert "more characters" in html


def test_a_run_without_a_single_verdict_can_still_be_read() -> None:
    run = support_run()
    run.rows = []
    html = render_html(run, summarise(run))
    assert "were not run" in html
    Page(html)


def test_a_case_that_one_model_was_not_asked_leaves_its_cell_empty() -> None:
    run = support_run(hostile=False)
    first, *rest = run.manifest.plan
    run.manifest = structs.replace(run.manifest, plan=(structs.replace(first, cases=first.cases[1:]), *rest))
    place = (first.suite, first.experiment, first.model, first.cases[0])
    verdicts = [(r, r.verdict) for r in run.rows]
    run.rows = [r for r, v in verdicts if (v.suite, v.experiment, v.model, v.case_id) != place]
    assert '<td class="t-void">' in render_html(run, summarise(run))
