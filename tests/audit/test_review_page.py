"""The review page in a real browser, by keyboard alone: three reviewers, a killed server, hostile items.

Skips, saying so, where Chromium or playwright is not installed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from review_kit import case, make_audit, reference_material, suite_files, thirty_trials

from callscope.audit.store import AuditFolder
from callscope.suites import load_suite_bytes

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (scripts/system_packages.txt)")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
KEYS = {"correct": "1", "missed": "2", "spurious": "3", "parameter": "4"}
PATIENCE = 20_000


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser with an empty profile, which knows nobody but this machine."""
    sync_api.expect.set_options(timeout=PATIENCE)
    with sync_api.sync_playwright() as playwright:
        profile = tmp_path_factory.mktemp("profile")
        context = playwright.chromium.launch_persistent_context(
            str(profile), executable_path=CHROMIUM, headless=True, args=FLAGS
        )
        context.set_default_timeout(PATIENCE)
        yield context
        context.close()


class Server:
    """`callscope audit serve` in a process of its own."""

    def __init__(self, folder: Path, reviewers: str, port: int) -> None:
        command = [sys.executable, "-m", "callscope", "audit", "serve", str(folder), "--reviewers", reviewers]
        self.process = subprocess.Popen(
            [*command, "--port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline().split("\t") for _ in reviewers.split(",")]
        self.links = {name: link.strip() for name, link in lines}

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.end()

    def end(self) -> int:
        self.process.terminate()
        code = self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def on_item(page: Any) -> str:
    """The id of the item on the page."""
    return str(page.evaluate("document.body.dataset.item || ''"))


def shown(page: Any) -> None:
    """Wait until an item is on the page."""
    sync_api.expect(page.locator("body")).to_have_attribute("data-item", re.compile("."))


def press(page: Any, key: str, *, leads_on: bool = True) -> None:
    """Press a key, and wait for the next item where it leads to one."""
    before = on_item(page)
    page.keyboard.press(key)
    if leads_on:
        sync_api.expect(page.locator("body")).not_to_have_attribute("data-item", before)


def all_saved(page: Any) -> None:
    sync_api.expect(page.locator("#saved")).to_have_text("saved")


def said_by_hand(folder: AuditFolder) -> dict[str, dict[str, str]]:
    """What the three say: ann is always with the judge. ben calls two of its ten parameter errors correct. cy does so
    with the first of these, and calls one correct trial a parameter error."""
    truth = {kept.item: kept.stratum for kept in folder.sealed}
    parameter = sorted(item for item, stratum in truth.items() if stratum == "parameter")
    correct = sorted(item for item, stratum in truth.items() if stratum == "correct")
    return {
        "ann": truth,
        "ben": truth | {parameter[0]: "correct", parameter[1]: "correct"},
        "cy": truth | {parameter[0]: "correct", correct[0]: "parameter"},
    }


def test_three_reviewers_a_kill_in_the_middle_and_agreement_as_by_hand(browser: Any, tmp_path: Path) -> None:
    folder, port = thirty_trials(tmp_path / "audit"), free_port()
    plan = said_by_hand(folder)
    server = Server(folder.path, "ann,ben,cy", port)
    pages = {}
    orders: dict[str, list[str]] = {name: [] for name in plan}
    for name, said in plan.items():
        pages[name] = page = browser.new_page()
        page.goto(server.links[name])
        shown(page)
        for step in range(30):
            if name == "cy" and step == 11:
                all_saved(page)
                server.kill()  # and the twelfth answer is given to nobody
            item = on_item(page)
            orders[name].append(item)
            last_before_restart = name == "cy" and step == 11
            press(page, KEYS[said[item]], leads_on=step < 29 and not last_before_restart)
            if last_before_restart:
                sync_api.expect(page.locator("#alarm")).to_contain_text("Not saved: the server does not answer")
                again = Server(folder.path, "ann,ben,cy", port)
                assert again.links == server.links  # links outlive the server
                server = again
                all_saved(page)  # the answer was kept on the page, and sent again
                sync_api.expect(page.locator("body")).not_to_have_attribute("data-item", item)
        all_saved(page)
        assert page.text_content("#count") == "30 of 30"
        assert page.is_visible("text=All 30 items are answered")
    assert len({tuple(order) for order in orders.values()}) == 3  # each has an order of their own
    assert [sorted(order) for order in orders.values()] == [sorted(folder.by_id)] * 3
    assert server.end() == 0

    command = [sys.executable, "-m", "callscope", "audit", "agreement", str(folder.path), "--json", "--draws", "50"]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "NO_COLOR": "1"})
    found = json.loads(done.stdout)
    assert json.loads((folder.path / "agreement.json").read_bytes()) == found
    assert found["answered"] == {"ann": 30, "ben": 30, "cy": 30}
    against = {each["reviewer"]: each["coefficients"] for each in found["judged"]["agreement"]["against"]}
    assert {name: (each["observed"]["k"], each["observed"]["n"]) for name, each in against.items()} == {
        "ann": (30, 30),
        "ben": (28, 30),
        "cy": (28, 30),
    }
    # by hand. Judge 10/5/5/10. ben 12/5/5/8: chance (10·12 + 25 + 25 + 10·8) / 900 = 250/900.
    # cy 10/5/5/10: chance (100 + 25 + 25 + 100) / 900 = 250/900 as well. Kappa is (28/30 - 250/900) / (1 - 250/900).
    kappa = (28 / 30 - 250 / 900) / (1 - 250 / 900)
    assert against["ann"]["cohen"]["value"] == 1
    assert against["ben"]["cohen"]["value"] == pytest.approx(kappa)
    assert against["cy"]["cohen"]["value"] == pytest.approx(kappa)
    # Fleiss: 27 items of three equal answers, three items of two to one: agreement (27 + 3/3) / 30 = 28/30. Of the 90
    # answers correct has 10 + 12 + 10, missed and spurious 15 each, parameter 10 + 8 + 10.
    chance = (32**2 + 15**2 + 15**2 + 28**2) / 90**2
    among = found["judged"]["agreement"]["among"]
    assert among["fleiss"]["value"] == pytest.approx((28 / 30 - chance) / (1 - chance))
    confirmed = {
        each["reviewer"]: {one["label"]: (one["confirmed"]["k"], one["confirmed"]["n"]) for one in each["confirmation"]}
        for each in found["judged"]["agreement"]["against"]
    }
    assert confirmed["ben"] == {"correct": (10, 10), "missed": (5, 5), "spurious": (5, 5), "parameter": (8, 10)}
    assert confirmed["cy"] == {"correct": (9, 10), "missed": (5, 5), "spurious": (5, 5), "parameter": (9, 10)}
    differ = {item for item in folder.by_id if len({said[item] for said in plan.values()}) > 1}
    assert {each["item"] for each in found["adjudicate"]} == differ


HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
    "</pre><style>*{display:none}</style><svg onload=\"document.title='owned'\">",
    "safe\u202egnp.exe \u2066 javascript:document.title='owned'",
)


@pytest.fixture
def reference(tmp_path: Path) -> Iterator[Server]:
    """A server of a reference audit: three hostile positives and one negative, for ann."""
    cases = [case(number, prompt=f"{number} {text}") for number, text in enumerate(HOSTILE)]
    suite = load_suite_bytes(suite_files([*cases, case(9, "negative", prompt="Good morning!")]))
    make_audit(tmp_path / "audit", reference_material(suite), {"positive": 3, "negative": 1})
    server = Server(tmp_path / "audit", "ann", 0)
    yield server
    server.end()


def test_hostile_items_stay_text_and_nothing_is_loaded_from_elsewhere(browser: Any, reference: Server) -> None:
    page = browser.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(reference.links["ann"])
    shown(page)
    queries = []
    for step in range(4):
        queries.append(page.text_content("pre.query"))
        assert (
            page.evaluate("document.querySelectorAll('#material img, #material script, #material style, svg').length")
            == 0
        )
        if step < 3:
            press(page, "ArrowRight")
    assert page.title() == "callscope audit"
    assert sorted(str(query) for query in queries) == sorted(
        [
            "Good morning!",
            f"0 {HOSTILE[0]}",
            f"1 {HOSTILE[1]}",
            "2 safe\\u202egnp.exe \\u2066 javascript:document.title='owned'",
        ]
    )
    origin = reference.links["ann"].split("/r/")[0]
    assert asked
    assert all(url.startswith(origin) for url in asked)
    assert said == []  # nothing was refused by the content policy, since nothing was tried


def test_a_reference_audit_by_keyboard_with_note_correction_and_resume(
    browser: Any, reference: Server, tmp_path: Path
) -> None:
    page = browser.new_page()
    page.goto(reference.links["ann"])
    shown(page)
    while page.locator("fieldset").count() != 3:  # a positive first
        press(page, "ArrowRight")
    item = on_item(page)
    page.keyboard.press("y")
    page.keyboard.press("y")
    page.keyboard.press("n")  # the arguments are wrong: the page stays, for a note and the right gold
    all_saved(page)
    assert on_item(page) == item
    page.keyboard.press("t")
    page.keyboard.type("yes and no, in a note")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.keyboard.type('[{"name": "lookup_order", "arguments": {"order_id": "4"}}]')
    page.keyboard.press("Escape")
    sync_api.expect(page.locator("#fault")).to_contain_text("refuses the gold")
    page.keyboard.press("c")
    page.keyboard.press("Control+a")
    page.keyboard.type('[{"name": "lookup_order", "arguments": {"order_id": "ORD-000004"}}]')
    page.keyboard.press("Escape")
    sync_api.expect(page.locator("#fault")).to_be_empty()
    all_saved(page)
    assert page.text_content("#count") == "1 of 4"

    page.reload()
    shown(page)
    assert on_item(page) != item  # the first item that is not answered
    page.keyboard.press("?")
    assert page.is_visible("dialog >> text=next unanswered item")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    focused = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(focused) == "solid"  # whoever goes by Tab sees where they are

    answer = AuditFolder.open(tmp_path / "audit").answers("ann")[item]
    assert answer.answers == {"need": "yes", "target": "yes", "args": "no"}
    assert answer.note == "yes and no, in a note"
    gold = {"kind": "tool", "name": "lookup_order", "arguments": {"required_equals": {"order_id": "ORD-000004"}}}
    assert answer.correction == gold


def test_two_pages_of_one_reviewer_take_nothing_back_from_each_other(
    browser: Any, reference: Server, tmp_path: Path
) -> None:
    first, second = browser.new_page(), browser.new_page()
    for page in (first, second):
        page.goto(reference.links["ann"])
        shown(page)
        while page.locator("fieldset").count() != 3:
            press(page, "ArrowRight")
    item = on_item(first)
    assert on_item(second) == item
    first.keyboard.press("y")
    first.keyboard.press("t")
    first.keyboard.type("said on the first")
    first.keyboard.press("Escape")
    all_saved(first)
    second.keyboard.press("ArrowDown")  # it knows nothing of that, and answers the second question
    second.keyboard.press("n")
    sync_api.expect(second.locator("#note")).to_have_value("said on the first")
    pressed = second.locator("button[aria-pressed=true]")
    sync_api.expect(pressed).to_have_count(2)
    first.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # the reviewer comes back to the first
    sync_api.expect(first.locator("button[aria-pressed=true]")).to_have_count(2)
    answer = AuditFolder.open(tmp_path / "audit").answers("ann")[item]
    assert (answer.answers, answer.note) == ({"need": "yes", "target": "no"}, "said on the first")


def test_back_leads_to_the_item_before_and_no_answer_is_lost(browser: Any, reference: Server) -> None:
    page = browser.new_page()
    page.goto(reference.links["ann"])
    shown(page)
    items = [on_item(page)]
    for _ in range(2):
        press(page, "ArrowRight")
        items.append(on_item(page))
    body = page.locator("body")
    page.evaluate("history.back()")
    sync_api.expect(body).to_have_attribute("data-item", items[1])
    page.evaluate("history.back()")
    sync_api.expect(body).to_have_attribute("data-item", items[0])
    page.keyboard.press("y")
    page.evaluate("history.forward()")
    sync_api.expect(body).to_have_attribute("data-item", items[1])
    page.evaluate("history.back()")
    sync_api.expect(body).to_have_attribute("data-item", items[0])
    sync_api.expect(page.locator("button[aria-pressed=true]")).to_have_count(1)


def test_what_the_server_refuses_holds_up_nothing_else_and_is_said_until_it_is_kept(
    browser: Any, reference: Server, tmp_path: Path
) -> None:
    page = browser.new_page()
    page.goto(reference.links["ann"])
    shown(page)
    first = on_item(page)
    refuse = f"**/answers/{first}"
    fault = '{"fault": "the disk is full"}'
    page.route(refuse, lambda route: route.fulfill(status=507, content_type="application/json", body=fault))
    page.keyboard.press("t")
    page.keyboard.type("only a note")
    page.keyboard.press("Escape")
    sync_api.expect(page.locator("#alarm")).to_have_text("Not saved: the disk is full")
    press(page, "ArrowRight")
    second = on_item(page)
    page.keyboard.press("n")
    sync_api.expect(page.locator("#count")).to_have_text(re.compile("^[01] of 4"))
    folder = AuditFolder.open(tmp_path / "audit")
    for _ in range(200):
        if second in folder.answers("ann"):
            break
        page.wait_for_timeout(50)
    assert folder.answers("ann")[second].answers == {"need": "no"}
    assert page.text_content("#alarm") == "Not saved: the disk is full"
    assert page.text_content("#saved") == "NOT SAVED"
    for _ in range(3):
        press(page, "Enter")
    assert on_item(page) == first  # a note that waits to be kept is no answer
    page.unroute(refuse)
    all_saved(page)
    assert page.is_hidden("#alarm")
    assert folder.answers("ann")[first].note == "only a note"


def test_texts_stand_out_from_their_ground_in_light_and_in_dark(browser: Any, reference: Server) -> None:
    page = browser.new_page()
    page.goto(reference.links["ann"])
    shown(page)
    page.locator("fieldset button").first.click()  # a click answers as a key does, and stays on the item
    marked = ("body", "pre.query", "fieldset button", "button[aria-pressed=true]", "#saved")
    for scheme, selector in ((scheme, selector) for scheme in ("light", "dark") for selector in marked):
        page.emulate_media(color_scheme=scheme)
        ink, ground = page.eval_on_selector(
            selector,
            """node => {
                let under = node;
                while (getComputedStyle(under).backgroundColor === 'rgba(0, 0, 0, 0)') under = under.parentElement;
                return [getComputedStyle(node).color, getComputedStyle(under).backgroundColor];
            }""",
        )
        assert contrast(ink, ground) >= 4.5, (scheme, selector, ink, ground)  # WCAG 2.2, 1.4.3


def contrast(first: str, second: str) -> float:
    bright = sorted((luminance(first), luminance(second)))
    return (bright[1] + 0.05) / (bright[0] + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
