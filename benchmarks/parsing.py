"""What reading a response costs: CPU of parse for bodies made to be slow, at one and at four times the size.

A ratio near 4 says that the cost grows with the length and no faster. That is not a test, for machines differ and are
busy; tests/providers count the work instead (test_providers_pieces.py, test_providers_textcalls.py).

python benchmarks/parsing.py [--size 25000]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from callscope.providers import get_adapter
from callscope.textcalls import text_calls

TEXTS = ('{"name":', '{"name":"f","arguments":', '{"tool_calls":[', "to=f <|", "</think><think>", "```a", "print( ")
DELTAS = {
    "text": {"content": "ab"},
    "parts": {"content": [{"type": "text", "text": "ab"}]},
    "arguments": {"tool_calls": [{"index": 0, "function": {"arguments": "ab"}}]},
    "name repeated": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ",{}"}}]},
}


def chat(delta: object, times: int) -> bytes:
    """A chat stream of one call begun and `times` deltas."""
    begun = {"index": 0, "id": "x", "function": {"name": "f", "arguments": '{"a":['}}
    chunks = [{"choices": [{"index": 0, "delta": each}]} for each in ({"tool_calls": [begun]}, delta)]
    first, rest = (b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    return first + rest * times + b"data: [DONE]\n\n"


def items(times: int) -> bytes:
    """A Responses stream of `times` messages that its final list repeats."""
    made = [{"type": "message", "id": f"m{i}", "content": [{"type": "output_text", "text": "x"}]} for i in range(times)]
    events: list[object] = [
        {"type": "response.output_item.done", "output_index": i, "item": item} for i, item in enumerate(made)
    ]
    events.append({"type": "response.completed", "response": {"status": "completed", "output": made}})
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def cpu(run: Callable[[], object]) -> float:
    """CPU seconds of one call, the better of two."""
    times = []
    for _ in range(2):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=25_000)
    size = parser.parse_args().size
    read, read_items = get_adapter("openai-chat").parse, get_adapter("openai-responses").parse
    runs: dict[str, tuple[Callable[[int], Any], Callable[[Any], object]]] = {}
    for text in TEXTS:
        runs[f"text of {text}"] = (text.__mul__, text_calls)
    for name, delta in DELTAS.items():
        runs[f"deltas: {name}"] = (partial(chat, delta), lambda body: read(200, (), body, stream=True))
    runs["final list"] = (items, lambda body: read_items(200, (), body, stream=True))
    for name, (make, run) in runs.items():
        small, large = (cpu(partial(run, make(times))) for times in (size, 4 * size))
        print(f"{name:<36} {small * 1e3:8.1f} ms   x4: {large * 1e3:8.1f} ms   ratio {large / max(small, 1e-6):5.1f}")


if __name__ == "__main__":
    main()
