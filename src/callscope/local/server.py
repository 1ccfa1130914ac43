"""One embedded model as a local HTTP service: starts it in a process of its own, gives turns at it, and ends it.

Calls themselves go through the caller's own transport to `base_url`; this module only prepares and guards them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

from callscope.errors import EnvironmentProblem, InputError
from callscope.local.fitness import idle_cores
from callscope.local.models import ModelSpec, chat_template
from callscope.local.prefix import ControlFault, PrefixCache, shared_part
from callscope.local.weights import Weights

__all__ = ["Answer", "LocalServer", "Turn", "engine_version"]

STOP_S = 5.0
CONTROL_S = 600.0
LOG_LINES = 400
_LOG_LINE = re.compile(r"^\d+\.\d\d\.\d{3}\.\d{3} ")
_CHILD = Path(__file__).with_name("_child.py")
_UNPARSED = "unparsed peg-native output: "


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one body: HTTP status, the raw bytes, and seconds from sending to the last byte."""

    status: int
    body: bytes
    seconds: float


@dataclass(slots=True)
class Turn:
    """The right to make one call, with what was done before it. Seconds here are no part of the model's latency.

    `restored` is False when the shared prefix could not be put back: the call is then still allowed, but its reply may
    differ from that of other runs, and `reason` says why; both belong into the record.
    """

    restored: bool = False
    reason: str | None = None
    prefix_tokens: int = 0
    prepared: bool = False
    queue_s: float = 0.0
    restore_s: float = 0.0
    _log: _Log | None = field(default=None, repr=False)
    _mark: int = 0

    async def unparsed(self, wait_s: float = 0.25) -> str | None:
        """The text the engine could not read as a call, after an HTTP 500 that says so; None if it logged none.

        The error response does not hold the model's words, only the engine's log does (from the first `{` on);
        waits at most `wait_s` seconds for it.
        """
        return await self._log.unparsed(self._mark, wait_s) if self._log is not None else None


class _Log:
    """The last lines the child wrote to standard error, numbered."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self.count = 0
        self._grown = asyncio.Event()

    async def follow(self, stream: asyncio.StreamReader) -> None:
        rest = b""
        while piece := await stream.read(65536):
            *lines, rest = (rest + piece).split(b"\n")
            self._add(lines)
        self._add([rest] if rest else [])

    def _add(self, lines: list[bytes]) -> None:
        self._lines.extend(line.decode("utf-8", "replace") for line in lines)
        self.count += len(lines)
        self._grown.set()

    def since(self, mark: int) -> list[str]:
        new = min(self.count - mark, len(self._lines))
        return list(self._lines)[len(self._lines) - new :] if new > 0 else []

    async def unparsed(self, mark: int, wait_s: float) -> str | None:
        try:
            async with asyncio.timeout(wait_s):
                while True:
                    self._grown.clear()
                    lines = self.since(mark)
                    start = next((i for i, line in enumerate(lines) if _UNPARSED in line), None)
                    if start is not None and any(_LOG_LINE.match(line) for line in lines[start + 1 :]):
                        break  # the line after it has arrived, so it is whole
                    await self._grown.wait()
        except TimeoutError:
            lines = self.since(mark)
            start = next((i for i, line in enumerate(lines) if _UNPARSED in line), None)
            if start is None:
                return None
        text = [lines[start].split(_UNPARSED, 1)[1]]
        for line in lines[start + 1 :]:
            if _LOG_LINE.match(line):
                break
            text.append(line)
        return "\n".join(text)


def engine_version() -> str:
    try:
        return metadata.version("xllamacpp")
    except metadata.PackageNotFoundError:
        return "of unknown version"


class LocalServer:
    """An embedded model served on 127.0.0.1, used as `async with LocalServer(spec, weights) as server`.

    Speaks Chat Completions, Responses and Messages below `address`, guarded by a key made new at each start.
    One call at a time: make each inside `turn`. `threads` None takes the cores idle at the start; a comparison fixes
    it, since results differ in the last digits between one thread and two (measured 2026-11-30).
    """

    def __init__(
        self,
        spec: ModelSpec,
        weights: Weights,
        *,
        template: str = "tools-json",
        threads: int | None = None,
        port: int = 0,
        context: int | None = None,
        start_limit_s: float = 180.0,
    ) -> None:
        """`context` is in tokens (None: as in models.toml), `port` 0 takes a free one.

        Raises InputError for a template the model may not use or a thread count below 1.
        """
        if template not in spec.templates:
            expected = " or ".join(spec.templates)
            raise InputError(f"{spec.name} has no such template", field="template", found=template, expected=expected)
        if threads is not None and threads < 1:
            raise InputError("too few threads", field="threads", found=threads, expected="1 or more")
        self.spec, self.weights = spec, weights
        self.template = chat_template(template)
        self.model = f"{spec.name}+{template}"
        self.api_key = ""
        self.address = ""
        self.threads = threads
        self._port, self._context, self._start_limit_s = port, context or spec.context, start_limit_s
        self._process: asyncio.subprocess.Process | None = None
        self._session: aiohttp.ClientSession | None = None
        self._follower: asyncio.Task[None] | None = None
        self._log = _Log()
        self._lock = asyncio.Lock()
        self._slots: Path | None = None
        self._prefixes: PrefixCache | None = None

    @property
    def base_url(self) -> str:
        """Where OpenAI-style clients point: the address with `/v1`."""
        return f"{self.address}/v1"

    @property
    def pid(self) -> int | None:
        """The process id of the child, while there is one."""
        return self._process.pid if self._process is not None else None

    @property
    def alive(self) -> bool:
        """Whether the child process is still there."""
        return self._process is not None and self._process.returncode is None

    def facts(self) -> dict[str, Any]:
        """What a manifest records of this server: model, hash, source, template, threads, context, engine."""
        return {
            "model": self.spec.name,
            "file": self.spec.file,
            "sha256": self.weights.sha256,
            "source": self.weights.source,
            "licence": self.spec.licence,
            "template": self.template.name,
            "template_sha256": self.template.sha256,
            "threads": self.threads,
            "context_tokens": self._context,
            "engine": f"xllamacpp {engine_version()}",
            "prefix_restore": True,
        }

    def log_tail(self, lines: int = 12) -> str:
        """The last lines the engine wrote to standard error, for messages."""
        return "\n".join(self._log.since(max(0, self._log.count - lines)))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start the child and wait until it answers.

        Raises EnvironmentProblem that says whether the library is missing, the file is bad, the port is taken, or the
        child ended or did not answer within the start limit, with the engine's last words.
        """
        if self.threads is None:
            self.threads = await asyncio.to_thread(idle_cores)
        self.api_key = secrets.token_urlsafe(24)
        self._slots = Path(tempfile.mkdtemp(prefix="callscope-slots-"))
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", str(_CHILD)),  # by its path: the child needs nothing else of callscope
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # an interrupt at the terminal is for the parent to handle
                env={**os.environ, "PYTHONPATH": os.pathsep.join(item for item in sys.path if item)},
            )
            self.address = await self._answered(self._process)
        except BaseException:
            await self.stop()
            raise
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {self.api_key}"},
            timeout=aiohttp.ClientTimeout(total=CONTROL_S),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._prefixes = PrefixCache(self._control, self._slots)

    async def _answered(self, process: asyncio.subprocess.Process) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._follower = asyncio.create_task(self._log.follow(process.stderr))
        settings = {
            "model": str(self.weights.path),
            "alias": self.model,
            "port": self._port,
            "api_key": self.api_key,
            "context": self._context,
            "threads": self.threads,
            "slots": str(self._slots),
            "template": self.template.text,
        }
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        try:
            async with asyncio.timeout(self._start_limit_s):
                await process.stdin.drain()
                line = await process.stdout.readline()
                if not line:
                    await process.wait()
        except TimeoutError:
            raise self._problem(f"did not start within {self._start_limit_s:.0f} s", "Close other programs") from None
        except ConnectionError:
            line = b""
        if not line:
            raise self._problem(f"ended while starting (code {process.returncode})", None)
        answer = json.loads(line)
        if answer["event"] == "ready":
            return str(answer["address"]).rstrip("/")
        found = answer["message"]
        match answer["reason"]:
            case "no_library":
                raise EnvironmentProblem(
                    f"embedded models need the package xllamacpp, which cannot be imported: {found}",
                    hint="Install callscope[local]",
                )
            case "port_busy":
                raise EnvironmentProblem(
                    f"{self.spec.name} cannot listen: {found}", hint="Choose another port, or 0 for any free one"
                )
            case _:
                raise self._problem(f"could not be loaded: {found}", "Delete the file to have it fetched again")

    def _problem(self, what: str, hint: str | None) -> EnvironmentProblem:
        tail = self.log_tail()
        said = f"The engine's last words:\n{tail}" if tail else None
        advice = "\n".join(part for part in (hint, said) if part)
        return EnvironmentProblem(f"{self.spec.name} ({self.weights.path}) {what}", hint=advice or None)

    async def stop(self) -> None:
        """End the child (SIGTERM, after 5 s SIGKILL) and remove its files. Safe to call twice."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        if self._process is not None:
            await self._end(self._process)
        if self._follower is not None:
            await self._follower
            self._follower = None
        if self._slots is not None:
            shutil.rmtree(self._slots, ignore_errors=True)
            self._slots = None

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if process.returncode is not None:
                break
            try:
                process.send_signal(sign)
                async with asyncio.timeout(STOP_S):
                    await process.wait()
            except (TimeoutError, ProcessLookupError):
                continue
        await process.wait()
        if process.stdin is not None:
            process.stdin.close()

    async def _control(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        assert self._session is not None
        try:
            async with self._session.post(f"{self.address}{path}", json=body) as response:
                raw = await response.read()
                if response.status != 200:
                    raise ControlFault(f"{path}: HTTP {response.status} {raw[:200].decode('utf-8', 'replace')}")
                answer = json.loads(raw)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ControlFault(f"{path}: {type(error).__name__} {error}") from error
        if not isinstance(answer, dict):
            raise ControlFault(f"{path}: the answer is no JSON object")
        return answer

    @asynccontextmanager
    async def turn(self, body: bytes) -> AsyncIterator[Turn]:
        """Hold the model for one call with this request body, its shared prefix restored first.

        The prefix (system text and tools) is evaluated and saved at first sight. If that or the restoring fails, the
        turn is given all the same with `restored` False. Raises EnvironmentProblem when the child has ended.
        """
        asked = time.perf_counter()
        async with self._lock:
            got = time.perf_counter()
            if not self.alive or self._prefixes is None:
                code = self._process.returncode if self._process is not None else None
                raise self._problem(f"is not running (code {code})", "Start it again")
            turn = Turn(queue_s=got - asked, _log=self._log, _mark=self._log.count)
            await self._restore(turn, body, self._prefixes)
            turn.restore_s = time.perf_counter() - got
            turn._mark = self._log.count
            yield turn

    async def _restore(self, turn: Turn, body: bytes, prefixes: PrefixCache) -> None:
        try:
            shared = shared_part(body)
            prefix = prefixes.find(shared)
            if prefix is not None:
                try:
                    await prefixes.restore(prefix)
                except ControlFault:
                    prefix = None  # forgotten now: make it anew, once
            if prefix is None:
                turn.prepared = True
                prefix = await prefixes.prepare(shared)
                await prefixes.restore(prefix)
            turn.restored, turn.prefix_tokens = True, prefix.tokens
        except ControlFault as fault:
            turn.reason = str(fault)
            try:
                await prefixes.clear()
            except ControlFault as second:
                turn.reason = f"{fault}; nor could the slot be emptied: {second}"

    async def ask(self, path: str, body: bytes) -> Answer:
        """Send one body in a turn of its own and time it: for warm-up and self-checks, not for measured calls.

        `path` is below the address, as `/v1/chat/completions`. Raises EnvironmentProblem when the child is gone or
        the connection breaks.
        """
        async with self.turn(body):
            assert self._session is not None
            began = time.perf_counter()
            try:
                headers = {"Content-Type": "application/json"}
                async with self._session.post(f"{self.address}{path}", data=body, headers=headers) as response:
                    raw = await response.read()
                    return Answer(response.status, raw, time.perf_counter() - began)
            except (aiohttp.ClientError, TimeoutError) as error:
                raise self._problem(f"did not answer: {type(error).__name__} {error}", None) from error
