"""The review page's server: on this machine only, one secret link a reviewer, each answer on the disk before it is
confirmed.

A reviewer's link shows the items and their own answers, and nothing of anybody else's. What is shown of an item is
`shown`'s; what is kept is `store`'s.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import msgspec
from aiohttp import web

from callscope.audit.corrections import undecided
from callscope.audit.designs import question
from callscope.audit.gold import read_gold
from callscope.audit.items import MAX_NOTE, Answer, AuditItem
from callscope.audit.queue import complete, disputed, order_for, reviews
from callscope.audit.shown import plain_answer, view
from callscope.audit.store import ADJUDICATOR, AnswerLog, AuditFolder
from callscope.errors import EnvironmentProblem, InputError
from callscope.jsontext import JsonFault, dump_faithful, parse_json

__all__ = ["ReviewServer", "host_names"]

_BODY = 1 << 20
_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_ASSETS: Mapping[str, str] = {"page.js": "text/javascript", "page.css": "text/css"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class _Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a page holds of one item; `correction` as it stands in the text field."""

    answers: dict[str, str]
    note: str
    correction: str


class _Written(_Said, frozen=True, forbid_unknown_fields=True):
    """What the page sends. `before` is what it last knew to be kept: only what differs from it was said now, so that
    an old page does not take back what its reviewer has said in another."""

    before: _Said | None = None


class _Refused(Exception):
    """An answer that is not taken, and why."""


class ReviewServer:
    """The pages of one audit. The folder's lock must be held while it serves."""

    def __init__(self, folder: AuditFolder, tokens: Mapping[str, str]) -> None:
        """`tokens`: reviewer -> the secret of their link. What they answered so far is read from the folder."""
        self._folder, self._tokens = folder, dict(tokens)
        self._answers: dict[str, dict[str, Answer]] = {
            name: folder.answers(name) for name in {*tokens, *folder.reviewers()}
        }
        self._logs: dict[str, AnswerLog] = {}
        self._hosts: frozenset[str] = frozenset()
        self._runner: web.AppRunner | None = None

    # ------------------------------------------------------------------------------------------------------- lifetime

    async def start(self, port: int = 0) -> dict[str, str]:
        """Listen on 127.0.0.1; returns reviewer -> link. Port 0 takes a free one.

        Raises EnvironmentProblem where the port cannot be had.
        """
        logging.getLogger("aiohttp.server").addHandler(logging.NullHandler())
        self._runner = web.AppRunner(self._app(), access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        try:
            await site.start()
        except (OSError, OverflowError) as error:
            await self._runner.cleanup()
            why = getattr(error, "strerror", None) or error
            raise EnvironmentProblem(f"port {port} of 127.0.0.1 cannot be had: {why}", hint="Use --port 0") from None
        bound = self._runner.addresses[0][1]
        self._hosts = host_names(bound)
        return {name: f"http://127.0.0.1:{bound}/r/{token}/" for name, token in self._tokens.items()}

    async def stop(self) -> None:
        """Stop listening and close the files."""
        if self._runner is not None:
            await self._runner.cleanup()
        for log in self._logs.values():
            log.close()
        self._logs.clear()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=_BODY, middlewares=[self._guard])
        app.add_routes(
            [
                web.get("/r/{token}/", self._page),
                web.get("/r/{token}/state", self._state),
                web.get("/r/{token}/items/{item}", self._item),
                web.put("/r/{token}/answers/{item}", self._answer),
                web.get("/r/{token}/answers.jsonl", self._export),
                web.get("/page/{name}", self._asset),
                web.get("/favicon.ico", _nothing),
            ]
        )
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuses names that are not this machine's (DNS rebinding) and other sites' pages; sets the headers."""
        origin = request.headers.get("Origin")
        if request.headers.get("Host") not in self._hosts:
            response: web.StreamResponse = _said(421, "this server answers to 127.0.0.1 and localhost alone")
        elif origin is not None and origin.removeprefix("http://") not in self._hosts:
            response = _said(403, "another site may not ask this server")
        else:
            try:
                response = await handler(request)
            except web.HTTPException as error:
                response = _said(error.status, error.reason)
        response.headers.update(_HEADERS)
        return response

    # ------------------------------------------------------------------------------------------------------- requests

    def _reviewer(self, request: web.Request) -> str:
        given = request.match_info["token"].encode()
        found = [name for name, token in self._tokens.items() if hmac.compare_digest(token.encode(), given)]
        if not found:
            raise web.HTTPNotFound(reason="there is no such link")
        return found[0]

    def _found(self, request: web.Request) -> AuditItem:
        item = self._folder.by_id.get(request.match_info["item"])
        if item is None:
            raise web.HTTPNotFound(reason="there is no such item")
        return item

    async def _page(self, request: web.Request) -> web.Response:
        self._reviewer(request)
        return web.Response(text=_file("page.html"), content_type="text/html")

    async def _asset(self, request: web.Request) -> web.Response:
        kind = _ASSETS.get(request.match_info["name"])
        if kind is None:
            raise web.HTTPNotFound(reason="there is no such file")
        return web.Response(text=_file(request.match_info["name"]), content_type=kind)

    async def _state(self, request: web.Request) -> web.Response:
        name = self._reviewer(request)
        order, mine = self._queue(name), self._answers[name]
        done = [item for item in order if complete(self._folder.by_id[item], mine.get(item))]
        return _json({"reviewer": name, "design": self._folder.about.design, "order": order, "done": done})

    async def _item(self, request: web.Request) -> web.Response:
        name, item = self._reviewer(request), self._found(request)
        shown = {**view(item), "mine": plain_answer(self._answers[name].get(item.id)), "reviews": []}
        if name == ADJUDICATOR:
            shown["reviews"] = reviews(item.id, self._others())
        return _json(shown)

    async def _answer(self, request: web.Request) -> web.Response:
        name, item = self._reviewer(request), self._found(request)
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(reason="an answer is sent as JSON")
        data = await request.read()  # nothing is awaited from here on: what is kept may not change meanwhile
        before = self._answers[name].get(item.id)
        try:
            written = msgspec.convert(parse_json(data).value, _Written)
            answer, fault = _read(written, item, before)
        except (msgspec.ValidationError, JsonFault):
            return _json({"fault": "this is no answer"}, status=400)
        except _Refused as refused:
            return _json({"fault": str(refused)}, status=422)
        if not answer.same(before):
            try:
                if name not in self._logs:
                    self._logs[name] = self._folder.log(name)
                self._logs[name].append(answer)
            except EnvironmentProblem as problem:
                return _json({"fault": str(problem)}, status=507)
            self._answers[name][item.id] = answer
        kept = {"saved": item.id, "complete": complete(item, answer), "correction_fault": fault}
        return _json({**kept, "mine": plain_answer(answer)})

    async def _export(self, request: web.Request) -> web.Response:
        name = self._reviewer(request)
        mine = self._answers[name]
        lines = [dump_faithful(msgspec.to_builtins(mine[item])) for item in self._queue(name) if item in mine]
        file = f"{self._folder.about.design}-{name}.jsonl"
        disposition = {"Content-Disposition": f'attachment; filename="{file}"'}
        body = b"".join(line + b"\n" for line in lines)
        return web.Response(body=body, content_type="application/x-ndjson", headers=disposition)

    # ---------------------------------------------------------------------------------------------------------- inside

    def _others(self) -> dict[str, dict[str, Answer]]:
        return {name: mine for name, mine in self._answers.items() if name != ADJUDICATOR}

    def _queue(self, name: str) -> list[str]:
        order = order_for(name, self._folder.items, self._folder.about.seed)
        if name != ADJUDICATOR:
            return order
        open_ = disputed(self._folder.items, self._others()).keys() | undecided(self._folder.items, self._others())
        return [item for item in order if item in open_ or item in self._answers[name]]


def host_names(port: int) -> frozenset[str]:
    """The names by which a browser may ask for this port of this machine; it leaves out the port where that is 80."""
    names = ("127.0.0.1", "localhost")
    return frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == 80 else frozenset())


def _read(written: _Written, item: AuditItem, kept: Answer | None) -> tuple[Answer, str | None]:
    """The answer, and what is wrong with its correction. A correction that cannot be used leaves the one that was
    `kept`, so that half-written gold never holds up the rest. Raises _Refused."""
    for name, given in written.answers.items():
        if name not in item.asked or given not in question(name).answers:
            raise _Refused("this item is asked no such question, or has no such answer")
    shown = plain_answer(kept)
    before = written.before or _Said(**shown)
    newest = {name: _answer_to(name, written, before, shown["answers"]) for name in item.asked}
    answers = {name: given for name, given in newest.items() if given is not None}
    note = shown["note"] if written.note == before.note else written.note
    if len(note) > max(MAX_NOTE, len(shown["note"])):
        raise _Refused(f"a note is longer than {MAX_NOTE} characters")
    gold, fault = None if kept is None else kept.correction, None
    if written.correction != shown["correction"]:
        if len(written.correction) > MAX_NOTE:
            raise _Refused(f"a correction is longer than {MAX_NOTE} characters")
        try:
            found = read_gold(written.correction, item)
            gold = gold if written.correction == before.correction else found
        except InputError as error:
            fault = str(error)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return Answer(item.id, answers, note, gold, at), fault


def _answer_to(name: str, written: _Written, before: _Said, kept: Mapping[str, str]) -> str | None:
    """The answer to one question: what the page changed it to, else the one that is kept."""
    given = written.answers.get(name)
    return kept.get(name) if given == before.answers.get(name) else given


def _file(name: str) -> str:
    return resources.files("callscope.audit").joinpath("page").joinpath(name).read_text(encoding="utf-8")


def _json(value: Any, *, status: int = 200) -> web.Response:
    return web.Response(body=dump_faithful(value), status=status, content_type="application/json")


def _said(status: int, text: str) -> web.Response:
    return web.Response(text=text + "\n", status=status)


async def _nothing(_: web.Request) -> web.Response:
    return web.Response(status=204)
