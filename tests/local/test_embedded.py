"""The smallest real model, fetched as a package, served by the real engine: what the stand-in cannot prove."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from callscope.errors import EnvironmentProblem
from callscope.local import LocalServer, Weights, model_spec, resolve_weights

pytestmark = pytest.mark.embedded

SPEC = model_spec("smollm2-135m")
TOOL = {
    "type": "function",
    "function": {
        "name": "find_order",
        "description": "Find one order.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
    },
}


@pytest.fixture(scope="module")
def weights() -> Weights:
    pytest.importorskip("xllamacpp", reason="the local extra is not installed")
    try:
        return resolve_weights(SPEC)
    except EnvironmentProblem as problem:
        pytest.skip(f"the model file is out of reach: {problem}")


def body(said: str, **fields: Any) -> bytes:
    messages = [{"role": "system", "content": "You look up orders."}, {"role": "user", "content": said}]
    usual = {"messages": messages, "tools": [TOOL], "temperature": 0, "max_tokens": 12, "logprobs": True}
    return json.dumps({**usual, **fields}).encode()


async def said_and_logprobs(server: LocalServer, said: str) -> str:
    """The reply with its log probabilities; of an unreadable call, the body of the error."""
    answer = await server.ask("/v1/chat/completions", body(said))
    if answer.status == 500:
        return answer.body.decode()
    choice = json.loads(answer.body)["choices"][0]
    return json.dumps([choice["message"].get("content"), choice["logprobs"]])


def test_replies_do_not_depend_on_what_was_asked_before(weights: Weights) -> None:
    async def replies(order: list[str]) -> dict[str, str]:
        async with LocalServer(SPEC, weights, threads=1) as server:
            return {said: await said_and_logprobs(server, said) for said in order}

    prompts = ["Hello!", "Where is order A-1?", "Thank you."]
    forwards = asyncio.run(replies(prompts))
    assert asyncio.run(replies(prompts[::-1])) == forwards


@pytest.mark.parametrize("template", ["tools-json", "own"])
def test_the_whole_prefix_is_restored_for_the_call(weights: Weights, template: str) -> None:
    async def scenario() -> None:
        async with LocalServer(SPEC, weights, threads=1, template=template) as server:
            await server.ask("/v1/chat/completions", body("Hello!"))
            async with server.turn(body("Goodbye!")) as turn:
                assert (turn.restored, turn.prepared, turn.reason) == (True, False, None)
            answer = await server.ask("/v1/chat/completions", body("Goodbye!", tools=None))
            usage = json.loads(answer.body)["usage"]
            async with server.turn(body("Goodbye!", tools=None)) as turn:
                assert usage["prompt_tokens_details"]["cached_tokens"] == turn.prefix_tokens
                assert turn.prefix_tokens < usage["prompt_tokens"] < turn.prefix_tokens + 12

    asyncio.run(scenario())


def test_a_wrong_key_is_refused(weights: Weights) -> None:
    async def scenario() -> None:
        async with LocalServer(SPEC, weights, threads=1) as server:
            assert server._session is not None
            headers = {"Authorization": "Bearer wrong"}
            async with server._session.post(f"{server.base_url}/chat/completions", data=b"{}", headers=headers) as got:
                assert got.status == 401

    asyncio.run(scenario())


def test_sigterm_ends_the_child_in_the_middle_of_a_call(weights: Weights) -> None:
    async def scenario() -> None:
        async with LocalServer(SPEC, weights, threads=1) as server:
            endless = body("Tell me everything.", max_tokens=100_000, ignore_eos=True, tools=None, stream=True)
            async with server.turn(endless):
                assert server._session is not None
                async with server._session.post(f"{server.base_url}/chat/completions", data=endless) as response:
                    await response.content.readany()  # it is being answered
                    assert server.pid is not None
                    began = time.perf_counter()
                    os.kill(server.pid, signal.SIGTERM)
                    assert server._process is not None
                    await server._process.wait()
                    assert time.perf_counter() - began < 5
            assert not server.alive

    asyncio.run(scenario())


def test_a_cut_file_is_told_with_the_words_of_the_engine(weights: Weights, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with weights.path.open("rb") as whole:
        cut.write_bytes(whole.read(3_000_000))
    with pytest.raises(EnvironmentProblem, match=r"(?s)could not be loaded: .*The engine's last words:"):
        asyncio.run(LocalServer(SPEC, Weights(cut, "", "path"), threads=1).start())


def test_the_child_ends_when_its_parent_is_killed(weights: Weights) -> None:
    script = textwrap.dedent("""
        import asyncio, sys
        from callscope.local import LocalServer, model_spec, resolve_weights

        async def main():
            spec = model_spec(sys.argv[1])
            async with LocalServer(spec, resolve_weights(spec), threads=1) as server:
                print(server.pid, flush=True)
                await asyncio.sleep(60)

        asyncio.run(main())
    """)
    path = os.pathsep.join(item for item in sys.path if item)
    parent = subprocess.Popen(
        [sys.executable, "-c", script, SPEC.name], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < deadline
