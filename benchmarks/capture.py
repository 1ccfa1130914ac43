"""What a captured trial costs: CPU and wall time a case, log bytes a record, peak memory; beside a bare aiohttp loop.

    python benchmarks/capture.py [--trials 1000 20000] [--concurrency 16]

Every figure is of this run on this machine; the ratios are what to compare. Runs on loopback only, and stops by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(work: Callable[..., Any], *arguments: Any) -> dict[str, float]:
    """CPU seconds, wall seconds and peak memory (MB) of `work(*arguments)` in a fresh process."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sender, work, arguments))
    process.start()
    found: dict[str, float] = receiver.recv()
    process.join()
    return found


def _child(sender: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    prepared = work(*arguments)
    cpu, wall = _cpu(), time.perf_counter()
    extra = prepared() or {}
    found = {"cpu": _cpu() - cpu, "wall": time.perf_counter() - wall, **extra}
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sender.send(found)


def bare(url: str, trials: int, concurrency: int) -> Callable[[], None]:
    """A loop that posts one and the same body and reads the answers, keeping nothing."""
    import aiohttp

    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "What is the state of ORD-100001?"}]})

    async def go() -> None:
        left = iter(range(trials))
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def worker() -> None:
                for _ in left:
                    async with session.post(f"{url}/chat/completions", data=body) as response:
                        await response.read()

            await asyncio.gather(*(worker() for _ in range(concurrency)))

    return lambda: asyncio.run(go())


def captured(url: str, trials: int, concurrency: int, out: str) -> Callable[[], None]:
    """The same number of trials as a callscope run with full capture, without deriving and reporting."""
    from callscope import api
    from callscope.capture.config import ModelConfig, RunConfig
    from callscope.capture.folder import RunFolder
    from callscope.capture.keys import Keyring
    from callscope.capture.runner import RemoteEndpoints, capture
    from callscope.capture.transport import AiohttpTransport

    suite = api.load_suite("support")
    model = ModelConfig(provider="stand-in", model="stand-in-1", base_url=url, stand_in=True)
    config = RunConfig(models=(model,), repeats=-(-trials // len(suite.cases)), concurrency=concurrency)
    manifest = api.prepare([suite], config)
    folder = RunFolder.create(Path(out), manifest, {suite.name: suite.sources})
    keyring = Keyring([], {})

    async def go() -> None:
        async with AiohttpTransport() as transport:
            await capture(folder, endpoints=RemoteEndpoints(keyring), transport=transport, keyring=keyring)

    return lambda: asyncio.run(go())


def rescored(out: str) -> Callable[[], dict[str, float]]:
    """Derive every record again, write verdicts and summary."""
    from callscope.runs import open_run

    def go() -> dict[str, float]:
        run = open_run(out)
        run.derive()
        return {"records": sum(1 for _ in (Path(out) / "records.jsonl").open("rb"))}

    return go


def parsed(out: str) -> Callable[[], None]:
    """A plain parse of the same log, line by line, with the standard library."""

    def go() -> None:
        with (Path(out) / "records.jsonl").open("rb") as file:
            for line in file:
                json.loads(line)

    return go


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, nargs="+", default=[1_000, 20_000])
    parser.add_argument("--concurrency", type=int, default=16)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        port_file = Path(place) / "url"
        server = subprocess.Popen([sys.executable, str(ROOT / "tests" / "stand_in.py"), str(port_file)])
        try:
            while not port_file.exists():
                time.sleep(0.05)
            url = port_file.read_text()
            for trials in options.trials:
                out = str(Path(place) / f"run-{trials}")
                one = measured(bare, url, trials, options.concurrency)
                other = measured(captured, url, trials, options.concurrency, out)
                log = Path(out) / "records.jsonl"
                records = sum(1 for _ in log.open("rb"))
                derived, plain = measured(rescored, out), measured(parsed, out)
                print(f"{records:>7} trials, concurrency {options.concurrency}")
                rows = [
                    ("CPU ms a case", other["cpu"] / records * 1e3, one["cpu"] / trials * 1e3),
                    ("wall ms a case", other["wall"] / records * 1e3, one["wall"] / trials * 1e3),
                    ("peak memory MB", other["peak_mb"], one["peak_mb"]),
                ]
                for name, ours, theirs in rows:
                    print(f"  {name:<22} {ours:9.3f}   bare aiohttp {theirs:9.3f}   ratio {ours / theirs:6.2f}")
                print(f"  {'log bytes a record':<22} {log.stat().st_size / records:9.0f}")
                print(
                    f"  {'rescoring CPU s':<22} {derived['cpu']:9.3f}   plain parse  {plain['cpu']:9.3f}   "
                    f"ratio {derived['cpu'] / plain['cpu']:6.2f}   {derived['cpu'] / records * 5_000:.2f} s for 5,000"
                )
                print(f"  {'rescoring peak MB':<22} {derived['peak_mb']:9.1f}")
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
