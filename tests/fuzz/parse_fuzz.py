"""Coverage-guided fuzzing of every adapter's `parse` and `follow_up`: any bytes give a reading, never an exception.

    python tests/fuzz/parse_fuzz.py -atheris_runs=100000 [CORPUS_DIR]

What it finds goes into CORPUS_DIR where one is given.

Not part of the test run: it needs atheris, and has no end of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed: pip install atheris")

with atheris.instrument_imports(include=["callscope"]):
    from callscope.contract import Message, Reading, Request, ToolResult
    from callscope.errors import InputError
    from callscope.providers import FLAGS, api_names, get_adapter

    ADAPTERS = [get_adapter(name) for name in api_names()]

STATUSES = (200, 200, 200, 200, 400, 401, 404, 422, 429, 498, 500, 503)
HEADERS = ({}, {"content-type": "text/event-stream"}, {"content-type": "application/x-ndjson"}, {"retry-after": "1"})
REQUEST = Request(model="m", messages=(Message("user", "hi"),), tools=())

# Each format's own words, so that a short run already gets past the first key.
SEEDS = (
    b'{"choices":[{"message":{"content":"","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}',
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{"}}]}}]}\n\n',
    b'{"message":{"tool_plan":"p","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}}',
    b'event: tool-call-start\ndata: {"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"a"}}}}',
    b'{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":false}\n{"done":true}\n',
    b'{"content":[{"type":"tool_use","id":"a","name":"f","input":{}}],"stop_reason":"tool_use"}',
    b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]}}]}',
    b'{"output":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}],"status":"completed"}',
    b'{"output":{"message":{"content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}},"stopReason":"x"}',
    b'{"error":{"message":"m","code":"c","failed_generation":"<function=f>{}"}}',
)


def one_input(data: bytes) -> None:
    """One response of one adapter: three bytes choose the adapter, the status, the headers and what was asked for."""
    if len(data) < 3:
        return
    adapter = ADAPTERS[data[0] % len(ADAPTERS)]
    status, stream = STATUSES[data[1] % len(STATUSES)], bool(data[2] & 1)
    headers, body = HEADERS[(data[2] >> 1) % len(HEADERS)], data[3:]
    reading = adapter.parse(status, headers, body, stream=stream)
    assert isinstance(reading, Reading)
    assert set(reading.outcome.flags) <= FLAGS.keys()
    calls = getattr(reading.outcome, "calls", ())
    for call in calls:
        assert (call.arguments is None) == (call.malformed is not None)
    answers = [ToolResult(position, call.id, call.name, "ok") for position, call in enumerate(calls)]
    try:
        after = adapter.follow_up(REQUEST, body, answers, stream=stream)
    except InputError:
        return
    adapter.build(after)


def write_seeds(folder: Path) -> None:
    """The seeds as a corpus, every one for every adapter."""
    for number, seed in enumerate(SEEDS):
        for adapter in range(len(ADAPTERS)):
            (folder / f"{adapter}-{number}").write_bytes(
                bytes([adapter, 0, seed.startswith((b"data", b"event"))]) + seed
            )


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        write_seeds(Path(folder))
        atheris.Setup([*sys.argv, folder], one_input)
        atheris.Fuzz()
