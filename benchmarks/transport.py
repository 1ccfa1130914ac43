"""What full capture costs on the wire: requests/s and CPU a request as ratios to a bare aiohttp loop, and the latency
that is recorded against a server that always takes 500 ms.

    python benchmarks/transport.py [--seconds 4] [--concurrency 16 64 256] [--repeat 3]

Both sides send the same body to the same two server processes in turn, in fresh processes, so that the machine's load
falls on both; the ratios are what to compare. Runs on loopback only, and stops by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.capture import measured

ANSWER = json.dumps(
    {
        "id": "chatcmpl-stand-in",
        "object": "chat.completion",
        "model": "stand-in-1",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_0",
                            "type": "function",
                            "function": {"name": "lookup_order", "arguments": '{"order_id":"ORD-100001"}'},
                        }
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)
SERVERS = 2


class _Answering(asyncio.Protocol):
    """As little server as there can be: finds the end of each request and writes one fixed answer, after `delay`."""

    delay = 0.0

    def connection_made(self, transport: Any) -> None:
        self.transport, self.waiting, self.missing = transport, b"", 0

    def data_received(self, data: bytes) -> None:
        self.waiting += data
        while (head := self.waiting.find(b"\r\n\r\n")) >= 0:
            lowered = self.waiting[:head].lower()
            at = lowered.find(b"content-length:")
            length = int(lowered[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.waiting) < head + 4 + length:
                return
            self.waiting = self.waiting[head + 4 + length :]
            if self.delay:
                asyncio.get_running_loop().call_later(self.delay, self._answer)
            else:
                self._answer()

    def _answer(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(REPLY)


def serve(port_file: str, delay: float) -> None:
    """The server process: answers until it is ended."""

    async def go() -> None:
        _Answering.delay = delay
        server = await asyncio.get_running_loop().create_server(_Answering, "127.0.0.1", 0, backlog=1024)
        temporary = Path(port_file).with_suffix(".new")
        temporary.write_text(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        temporary.replace(port_file)
        await asyncio.Event().wait()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(go())


@contextlib.contextmanager
def servers(count: int, delay: float) -> Iterator[list[str]]:
    """`count` server processes; gives their addresses."""
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        files = [Path(place) / str(number) for number in range(count)]
        for file in files:
            process = subprocess.Popen([sys.executable, __file__, "--serve", str(file), str(delay)])
            stack.callback(process.wait)
            stack.callback(process.kill)
        while not all(file.exists() for file in files):
            time.sleep(0.02)
        yield [file.read_text() for file in files]


def _planned(urls: list[str], trials: int, concurrency: int) -> Any:
    """A run's manifest and suite with one model an address."""
    from callscope import api
    from callscope.capture.config import ModelConfig, RunConfig

    suite = api.load_suite("support")
    models = tuple(
        ModelConfig(provider="stand-in", model="stand-in-1", base_url=url, label=f"m{number}", stand_in=True)
        for number, url in enumerate(urls)
    )
    repeats = max(1, -(-trials // (len(suite.cases) * len(urls))))
    config = RunConfig(models=models, repeats=repeats, concurrency=concurrency, temperature=0.0)
    return api.prepare([suite], config), suite


def _bodies(urls: list[str]) -> list[tuple[str, dict[str, str], bytes]]:
    """What the run sends: address, headers, body of each case's request, as its adapter builds them."""
    from callscope.capture.requests import request_for
    from callscope.providers import get_adapter

    manifest, suite = _planned(urls, 1, 1)
    made = []
    for block, ref in zip(manifest.plan, manifest.models, strict=True):
        adapter = get_adapter(ref.entry.api)
        for case in suite.cases:
            wire = adapter.build(request_for(ref.entry, suite, case, block, 0))
            made.append((f"{ref.entry.base_url}{wire.path}", dict(wire.headers), wire.body))
    return made


def bare(urls: list[str], trials: int, concurrency: int) -> Callable[[], dict[str, Any]]:
    """A bare aiohttp loop that sends the very bodies of the run and reads the answers, keeping only the times."""
    import aiohttp
    from yarl import URL

    made = [(URL(url, encoded=True), headers, body) for url, headers, body in _bodies(urls)]

    async def go() -> dict[str, Any]:
        left, times = iter(range(trials)), []
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:

            async def worker() -> None:
                for number in left:
                    url, headers, body = made[number % len(made)]
                    started = time.perf_counter()
                    async with session.post(url, data=body, headers=headers) as response:
                        await response.read()
                    times.append((time.perf_counter() - started) * 1000)

            await asyncio.gather(*(worker() for _ in range(concurrency)))
        return {"trials": float(trials), "latency": statistics.median(times)}

    return lambda: asyncio.run(go())


def captured(urls: list[str], trials: int, concurrency: int, out: str) -> Callable[[], dict[str, Any]]:
    """The same as a callscope run with full capture: request, attempts, parse, redaction, record on disk."""
    from callscope.capture.folder import RunFolder
    from callscope.capture.keys import Keyring
    from callscope.capture.runner import RemoteEndpoints, capture
    from callscope.capture.transport import AiohttpTransport

    manifest, suite = _planned(urls, trials, concurrency)
    folder = RunFolder.create(Path(out), manifest, {suite.name: suite.sources})
    keyring = Keyring([], {}, ["sk-a-key-that-stands-for-one-of-48-characters-000"])

    async def go() -> None:
        async with AiohttpTransport() as transport:
            await capture(folder, endpoints=RemoteEndpoints(keyring), transport=transport, keyring=keyring)

    def run() -> dict[str, Any]:
        asyncio.run(go())
        return {"trials": float(folder.planned()), "path": out}

    return run


def _recorded_latency(out: str) -> float:
    """The median latency that a run's records hold, in milliseconds."""
    from callscope.capture.folder import RunFolder

    return statistics.median(
        record.rounds[0].exchanges[-1].timing.total for _, record in RunFolder.open(Path(out)).records()
    )


def compare(
    urls: list[str], concurrency: int, trials: int, repeat: int, *, latency: bool
) -> dict[str, tuple[float, float]]:
    """Medians over `repeat` turns: name -> (captured, bare)."""
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as place:
            out = str(Path(place) / "run")
            theirs = measured(bare, urls, trials, concurrency)
            ours = measured(captured, urls, trials, concurrency, out)
            rows = {
                "requests/s": (ours["trials"] / ours["wall"], theirs["trials"] / theirs["wall"]),
                "CPU us a request": (1e6 * ours["cpu"] / ours["trials"], 1e6 * theirs["cpu"] / theirs["trials"]),
            }
            if latency:
                rows["median latency ms"] = (_recorded_latency(out), theirs["latency"])
            for name, pair in rows.items():
                found.setdefault(name, []).append(pair)
    return {
        name: (statistics.median(own for own, _ in pairs), statistics.median(other for _, other in pairs))
        for name, pairs in found.items()
    }


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], float(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="about how long each turn takes")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with servers(SERVERS, 0.0) as urls:
        for concurrency in options.concurrency:
            rows = compare(urls, concurrency, int(1_500 * options.seconds), options.repeat, latency=False)
            _show(f"concurrency {concurrency}, answers at once", rows)
    with servers(SERVERS, 0.5) as urls:
        for concurrency in options.concurrency:
            rows = compare(urls, concurrency, int(concurrency * 2 * options.seconds), 1, latency=True)
            _show(f"concurrency {concurrency}, a server that takes 500 ms", rows)


def _show(title: str, rows: dict[str, tuple[float, float]]) -> None:
    print(title)
    for name, (ours, theirs) in rows.items():
        print(f"  {name:<20} {ours:10.1f}   bare aiohttp {theirs:10.1f}   ratio {ours / theirs:6.3f}")


if __name__ == "__main__":
    main()
