"""Embedded models as the endpoints of a run: weights resolved, servers started at their first trial.

The ordinary adapter and transport make the calls; this only says where, and wraps each call in a turn of its server.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Self

from callscope.capture.conversation import Endpoint, Explain
from callscope.capture.runner import Endpoints
from callscope.contract import Exchange, ModelEntry
from callscope.derive import UNPARSED_NOTE
from callscope.errors import EnvironmentProblem, InputError
from callscope.local.fitness import check_machine, idle_cores
from callscope.local.models import chat_template, model_spec
from callscope.local.server import LocalServer, engine_version
from callscope.local.weights import Weights, resolve_weights

__all__ = ["DEFAULT_TEMPLATE", "EmbeddedEndpoints"]

DEFAULT_TEMPLATE = "tools-json"
"""The chat template of an embedded model whose entry names none."""

_UNPARSED = b"peg-native"
"""In the error that the engine gives for an answer its grammar cannot read; the model's words are only in its log."""

Progress = Callable[[str, int, int], None]


THREADS_VARIABLE = "CALLSCOPE_THREADS"
"""States how many threads an embedded model uses; without it, as many as cores are idle when the run is prepared. One
and two threads give other last digits, so a comparison across runs wants it stated (the manifest holds the number)."""


def _stated_threads() -> int | None:
    text = os.environ.get(THREADS_VARIABLE, "")
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= 512:
        raise InputError("is no number of threads", field=THREADS_VARIABLE, found=text, expected="1 to 512")
    return int(text)


class EmbeddedEndpoints:
    """An async context manager that opens embedded models itself and hands all others to `remote`."""

    def __init__(self, remote: Endpoints | None = None, *, progress: Progress | None = None) -> None:
        self._remote, self._progress = remote, progress
        self._stack = AsyncExitStack()
        self._servers: dict[str, LocalServer] = {}
        self._threads: dict[str, int] = {}
        self._weights: dict[str, Weights] = {}
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._servers.clear()
        await self._stack.aclose()

    async def prepare(self, entries: Sequence[ModelEntry], known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Make sure that the models can run here, and return the facts a manifest records of each, by label.

        `known` are facts of an earlier sitting, whose thread count is kept. Raises EnvironmentProblem or InputError.
        """
        specs = {entry.label: model_spec(entry.embedded or "") for entry in entries}
        problems = [problem for problem in check_machine(specs.values(), together=True) if problem.fatal]
        if problems:
            raise EnvironmentProblem("; ".join(str(problem) for problem in problems))
        threads = _stated_threads() or await asyncio.to_thread(idle_cores)
        facts: dict[str, Any] = {}
        for entry in entries:
            spec, template = specs[entry.label], chat_template(entry.template or DEFAULT_TEMPLATE)
            if spec.name not in self._weights:
                self._weights[spec.name] = await asyncio.to_thread(resolve_weights, spec, progress=self._progress)
            weights = self._weights[spec.name]
            self._threads[entry.label] = int(known.get(entry.label, {}).get("threads", threads))
            facts[entry.label] = {
                "model": spec.name,
                "file": spec.file,
                "sha256": weights.sha256,
                "source": weights.source,
                "licence": spec.licence,
                "template": template.name,
                "template_sha256": template.sha256,
                "threads": self._threads[entry.label],
                "context_tokens": spec.context,
                "engine": f"xllamacpp {engine_version()}",
                "prefix_restore": True,
            }
        return facts

    async def server(self, entry: ModelEntry) -> LocalServer:
        """The running server of an embedded model; started at the first call for its label."""
        async with self._lock:
            if entry.label not in self._servers:
                spec = model_spec(entry.embedded or "")
                if spec.name not in self._weights:
                    await self.prepare([entry], {})
                server = LocalServer(
                    spec,
                    self._weights[spec.name],
                    template=entry.template or DEFAULT_TEMPLATE,
                    threads=self._threads.get(entry.label),
                )
                self._servers[entry.label] = await self._stack.enter_async_context(server)
            return self._servers[entry.label]

    async def open(self, entry: ModelEntry) -> Endpoint:
        """See `Endpoints.open`."""
        if entry.embedded is None:
            assert self._remote is not None, "a run with remote models gives their endpoints"
            return await self._remote.open(entry)
        server = await self.server(entry)

        @asynccontextmanager
        async def turn(body: bytes) -> AsyncIterator[Explain]:
            async with server.turn(body) as taken:

                async def explain(exchange: Exchange) -> list[str]:
                    notes = [] if taken.restored else [f"prefix not restored: {taken.reason}"]
                    if exchange.status == 500 or _UNPARSED in exchange.response:
                        said = await taken.unparsed()
                        notes += [f"{UNPARSED_NOTE}{said}"] if said is not None else []
                    return notes

                yield explain

        return Endpoint(server.base_url, server.api_key, turn)
