"""Claims about the review server: who may ask it, what each link shows, and that an answer is kept before it is
confirmed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from review_kit import answer_all, desk, make_audit, reference_material, thirty_trials

from callscope.audit.items import Answer
from callscope.audit.server import ReviewServer, host_names
from callscope.audit.store import AuditFolder
from callscope.errors import EnvironmentProblem

Links = dict[str, str]


def serving(folder: AuditFolder, act: Callable[[ClientSession, Links], Awaitable[None]], *names: str) -> None:
    async def main() -> None:
        server = ReviewServer(folder, folder.tokens(names or ("ann", "ben")))
        links = await server.start()
        try:
            async with ClientSession() as session:
                await act(session, links)
        finally:
            await server.stop()

    asyncio.run(main())


@pytest.fixture
def judge(tmp_path: Path) -> AuditFolder:
    return thirty_trials(tmp_path / "audit")


@pytest.fixture
def reference(tmp_path: Path) -> AuditFolder:
    return make_audit(tmp_path / "audit", reference_material(desk(2, 1)), {"positive": 2, "negative": 1})


def said(answers: dict[str, str], note: str = "", correction: str = "") -> dict[str, Any]:
    return {"answers": answers, "note": note, "correction": correction}


async def get(session: ClientSession, url: str) -> Any:
    async with session.get(url) as response:
        assert response.status == 200
        return await response.json()


async def put(session: ClientSession, url: str, body: Any) -> tuple[int, Any]:
    async with session.put(url, json=body) as response:
        return response.status, await response.json()


def test_nobody_but_this_machine_by_its_own_names_is_answered(judge: AuditFolder) -> None:
    async def act(session: ClientSession, links: Links) -> None:
        port = links["ann"].split(":")[2].split("/")[0]
        for host, status in (
            (f"127.0.0.1:{port}", 200),
            (f"localhost:{port}", 200),
            ("evil.test", 421),
            ("127.0.0.1", 421),
        ):
            async with session.get(links["ann"], headers={"Host": host}) as response:
                assert response.status == status, host
        for origin, status in ((f"http://127.0.0.1:{port}", 200), ("http://evil.test", 403), ("null", 403)):
            async with session.get(links["ann"], headers={"Origin": origin}) as response:
                assert response.status == status, origin

    serving(judge, act)


def test_a_link_that_is_not_given_out_finds_nothing(judge: AuditFolder) -> None:
    async def act(session: ClientSession, links: Links) -> None:
        for path in ("", "state", f"items/{judge.items[0].id}", "answers.jsonl"):
            url = links["ann"].replace(links["ann"].split("/r/")[1], f"guess/{path}")
            async with session.get(url) as response:
                assert response.status == 404, path
                assert judge.items[0].query not in await response.text()

    serving(judge, act)


def test_every_response_forbids_what_could_run_load_or_leak(judge: AuditFolder) -> None:
    async def act(session: ClientSession, links: Links) -> None:
        origin = links["ann"].split("/r/")[0]
        for url in (links["ann"], f"{origin}/page/page.js", links["ann"] + "state", origin + "/elsewhere"):
            async with session.get(url) as response:
                policy = response.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert response.headers["X-Content-Type-Options"] == "nosniff"
                assert response.headers["Referrer-Policy"] == "no-referrer"
                assert response.headers["Cache-Control"] == "no-store"
        async with session.get(f"{origin}/page/..%2fserver.py") as response:
            assert response.status == 404

    serving(judge, act)


def test_a_judges_audit_is_blind_in_everything_that_is_sent(judge: AuditFolder) -> None:
    async def act(session: ClientSession, links: Links) -> None:
        sent = [await get(session, links["ann"] + "state")]
        sent += [await get(session, f"{links['ann']}items/{item.id}") for item in judge.items]
        text = json.dumps(sent)
        for word in ("stratum", 'attribution": "', "miss_recall", "secret-model", "evidence-of-the-judge", "passed"):
            assert word not in text
        answers = [question["answers"] for each in sent[1:] for question in each["questions"]]
        assert all(each == answers[0] for each in answers)  # the same four, in the same order, whatever the item

    serving(judge, act)


def test_reviewers_do_not_see_each_others_answers_and_the_adjudicator_sees_all(reference: AuditFolder) -> None:
    first, second, _ = (item.id for item in reference.items)
    answer_all(
        reference, "ann", {first: Answer(first, {"need": "yes"}, "ann's note"), second: Answer(second, {"need": "no"})}
    )
    answer_all(
        reference, "ben", {first: Answer(first, {"need": "no"}, "ben's note"), second: Answer(second, {"need": "no"})}
    )

    async def act(session: ClientSession, links: Links) -> None:
        for item in reference.by_id:
            assert "ben's note" not in json.dumps(await get(session, f"{links['ann']}items/{item}"))
        async with session.get(links["ann"] + "answers.jsonl") as response:
            mine = [json.loads(line) for line in (await response.text()).splitlines()]
        assert {each["item"]: each["answers"] for each in mine} == {first: {"need": "yes"}, second: {"need": "no"}}
        # what they differ in, and what both reject without gold
        assert sorted((await get(session, links["adjudicator"] + "state"))["order"]) == sorted([first, second])
        shown = await get(session, f"{links['adjudicator']}items/{first}")
        assert [(each["reviewer"], each["note"]) for each in shown["reviews"]] == [
            ("ann", "ann's note"),
            ("ben", "ben's note"),
        ]

    serving(reference, act, "ann", "adjudicator")


def test_each_reviewer_has_an_order_of_their_own_and_keeps_it(judge: AuditFolder) -> None:
    orders: list[dict[str, list[str]]] = []

    async def act(session: ClientSession, links: Links) -> None:
        orders.append({name: (await get(session, link + "state"))["order"] for name, link in links.items()})

    for _ in range(2):
        serving(judge, act)
    assert orders[0] == orders[1]
    assert orders[0]["ann"] != orders[0]["ben"]
    assert sorted(orders[0]["ann"]) == sorted(orders[0]["ben"]) == sorted(judge.by_id)


def test_an_answer_is_in_the_file_when_it_is_confirmed_and_done_after_a_restart(reference: AuditFolder) -> None:
    item = next(item for item in reference.items if len(item.asked) == 3)

    async def act(session: ClientSession, links: Links) -> None:
        url = f"{links['ann']}answers/{item.id}"
        status, body = await put(session, url, said({"need": "yes"}))
        assert (status, body["complete"]) == (200, False)
        assert reference.answers("ann")[item.id].answers == {"need": "yes"}
        whole = {"need": "yes", "target": "yes", "args": "no"}
        assert (await put(session, url, said(whole, "a note")))[1]["complete"] is True
        assert (await put(session, url, said(whole, "a note")))[0] == 200  # the same again is not written again
        assert reference.answers("ann")[item.id].note == "a note"

    async def again(session: ClientSession, links: Links) -> None:
        assert (await get(session, links["ann"] + "state"))["done"] == [item.id]
        assert (await get(session, f"{links['ann']}items/{item.id}"))["mine"]["note"] == "a note"

    serving(reference, act)
    assert len((reference.path / "answers" / "ann.jsonl").read_text().splitlines()) == 2
    serving(reference, again)


def test_half_written_gold_never_holds_up_the_answer(reference: AuditFolder) -> None:
    item = reference.items[0].id

    async def act(session: ClientSession, links: Links) -> None:
        url = f"{links['ann']}answers/{item}"
        assert (await put(session, url, said({"need": "no"}, correction="[]")))[1]["correction_fault"] is None
        status, body = await put(session, url, said({"need": "no"}, "why", correction='[{"name": "lookup'))
        assert status == 200
        assert "correction:1" in body["correction_fault"]

    serving(reference, act)
    answer = reference.answers("ann")[item]
    assert (answer.note, answer.correction) == ("why", {"kind": "no_call"})  # what was whole is kept


def told(answers: dict[str, str], before: dict[str, Any], note: str = "", correction: str = "") -> dict[str, Any]:
    return {**said(answers, note, correction), "before": before}


def test_an_old_page_takes_nothing_back_that_its_reviewer_said_in_another(reference: AuditFolder) -> None:
    item = next(item for item in reference.items if len(item.asked) == 3).id
    empty = said({})

    async def act(session: ClientSession, links: Links) -> None:
        url = f"{links['ann']}answers/{item}"
        await put(session, url, told({"need": "yes", "args": "no"}, empty, "one", "[]"))  # the one page
        status, body = await put(session, url, told({"target": "no"}, empty))  # the other one, which saw nothing of it
        assert (status, body["complete"]) == (200, True)
        assert body["mine"]["answers"] == {"need": "yes", "target": "no", "args": "no"}
        assert (body["mine"]["note"], json.loads(body["mine"]["correction"])) == ("one", {"kind": "no_call"})
        old = told({"target": "no"}, said({"target": "no"}), "two", "[{")  # sent again after a kill, and half-written
        for _ in range(2):
            body = (await put(session, url, old))[1]
            assert "correction:1" in body["correction_fault"]
            assert body["mine"]["note"] == "two"
        body = (await put(session, url, told({}, said({"target": "no"}, "two", "[{"), "two", "[{")))[1]
        assert "correction:1" in body["correction_fault"]  # it is still half-written
        assert body["mine"]["answers"] == {"need": "yes", "args": "no"}  # taken back on this page

    serving(reference, act)
    answer = reference.answers("ann")[item]
    assert (answer.answers, answer.note, answer.correction) == (
        {"need": "yes", "args": "no"},
        "two",
        {"kind": "no_call"},
    )


def test_of_two_answers_at_once_the_last_one_that_was_confirmed_stands(reference: AuditFolder) -> None:
    item = reference.items[0].id

    async def act(session: ClientSession, links: Links) -> None:
        url = f"{links['ann']}answers/{item}"
        body = json.dumps(said({"need": "yes"}, "first")).encode()
        await put(session, url, said({"need": "yes"}, "first"))
        begun, goes_on = asyncio.Event(), asyncio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            yield body[:5]
            begun.set()
            await goes_on.wait()
            yield body[5:]

        sending = asyncio.create_task(session.put(url, data=slowly(), headers={"Content-Type": "application/json"}))
        await begun.wait()
        while (await put(session, url, said({"need": "no"}, "second")))[0] != 200:
            raise AssertionError
        goes_on.set()
        async with await sending as response:
            assert (await response.json())["mine"]["note"] == "first"

    serving(reference, act)
    assert reference.answers("ann")[item].note == "first"


def test_what_was_kept_before_is_never_too_long_or_too_odd_to_answer_beside(reference: AuditFolder) -> None:
    item = reference.items[0].id
    long = {"kind": "clarification", "missing": ["\u202e" * 5000]}  # shown with its escapes, it has 30,000 characters
    answer_all(reference, "ann", {item: Answer(item, {}, "n" * 25_000 + "\ud800", long)})

    async def act(session: ClientSession, links: Links) -> None:
        mine = (await get(session, f"{links['ann']}items/{item}"))["mine"]
        status, body = await put(session, f"{links['ann']}answers/{item}", mine | {"answers": {"need": "yes"}})
        assert (status, body["correction_fault"]) == (200, None)

    serving(reference, act)
    answer = reference.answers("ann")[item]
    assert (answer.answers, answer.note[-1], answer.correction) == ({"need": "yes"}, "\ud800", long)


def test_the_adjudicator_is_shown_what_only_they_can_settle_and_reads_notes_made_inert(reference: AuditFolder) -> None:
    first, second, _ = (item.id for item in reference.items)
    answer_all(
        reference, "ann", {first: Answer(first, {"need": "no"}, "a \u202e b"), second: Answer(second, {"need": "yes"})}
    )

    async def act(session: ClientSession, links: Links) -> None:
        assert (await get(session, links["adjudicator"] + "state"))["order"] == [first]  # rejected, and without gold
        (review,) = (await get(session, f"{links['adjudicator']}items/{first}"))["reviews"]
        assert review["note"] == "a \\u202e b"

    serving(reference, act, "adjudicator")


def test_a_browser_leaves_out_the_port_where_it_is_80() -> None:
    assert host_names(80) == {"127.0.0.1", "localhost", "127.0.0.1:80", "localhost:80"}
    assert host_names(8080) == {"127.0.0.1:8080", "localhost:8080"}


def test_odd_requests_find_nothing_and_leave_the_server_answering(judge: AuditFolder) -> None:
    async def act(session: ClientSession, links: Links) -> None:
        address = links["ann"].split("/")[2]
        host = f"Host: {address}\r\nConnection: close\r\n"
        link = links["ann"].removeprefix(f"http://{address}")
        for request, status in (
            (f"GET {link} HTTP/1.0\r\n\r\n", 421),
            (f"GET {link} HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
            (f"GET {link} HTTP/1.1\r\nHost: evil.test\r\n{host}\r\n", 400),
            (f"GET /r/%ED%A0%80/ HTTP/1.1\r\n{host}\r\n", 404),
            (f"GET /r/%FF%00/state HTTP/1.1\r\n{host}\r\n", 404),
            (f"GET {link}items/..%2f..%2fsealed.jsonl HTTP/1.1\r\n{host}\r\n", 404),
            (f"GET /page/../../../../etc/passwd HTTP/1.1\r\n{host}\r\n", 404),
            (f"GET /{'a' * 100_000} HTTP/1.1\r\n{host}\r\n", 400),
            (f"OPTIONS {link}answers/x HTTP/1.1\r\nOrigin: http://evil.test\r\n{host}\r\n", 403),
            (f"PUT {link}answers/{judge.items[0].id} HTTP/1.1\r\nContent-Type: application/json\r\n"
             f"Content-Length: 2000000\r\n{host}\r\n" + "x" * 2_000_000, 413),
        ):  # fmt: skip
            reader, writer = await asyncio.open_connection(*address.split(":"))
            writer.write(request.encode())
            line = (await reader.readline()).decode()
            writer.close()
            assert f" {status} " in line, (request[:60], line)
        assert len((await get(session, links["ann"] + "state"))["order"]) == 30

    serving(judge, act)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (said({"need": "maybe"}), 422),
        (said({"attribution": "correct"}), 422),
        (said({}, note="x" * 20_001), 422),
        ({"answers": {}, "note": ""}, 400),
        ({"answers": {"need": 1}, "note": "", "correction": ""}, 400),
        ([], 400),
        (said({}) | {"item": "another"}, 400),
        (said({}) | {"before": {"answers": {}}}, 400),
        (said({}, correction="[" * 20_001), 422),
    ],
)
def test_an_answer_that_cannot_be_is_refused_and_not_kept(reference: AuditFolder, body: Any, status: int) -> None:
    async def act(session: ClientSession, links: Links) -> None:
        url = f"{links['ann']}answers/{reference.items[0].id}"
        assert (await put(session, url, body))[0] == status

    serving(reference, act)
    assert reference.answers("ann") == {}


def test_an_answer_is_taken_as_json_alone_so_that_no_form_can_send_one(reference: AuditFolder) -> None:
    async def act(session: ClientSession, links: Links) -> None:
        url = f"{links['ann']}answers/{reference.items[0].id}"
        async with session.put(
            url, data=json.dumps(said({"need": "yes"})), headers={"Content-Type": "text/plain"}
        ) as plain:
            assert plain.status == 415
        async with session.post(url, json=said({"need": "yes"})) as post:
            assert post.status == 405

    serving(reference, act)
    assert reference.answers("ann") == {}


def test_a_port_that_is_taken_is_said(judge: AuditFolder) -> None:
    async def act(session: ClientSession, links: Links) -> None:
        port = int(links["ann"].split(":")[2].split("/")[0])
        with pytest.raises(EnvironmentProblem, match=f"port {port} of 127.0.0.1 cannot be had"):
            await ReviewServer(judge, judge.tokens(["cy"])).start(port)

    serving(judge, act)
