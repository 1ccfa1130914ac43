"""The child process: how it starts, fails, gives turns and ends. Run against a stand-in engine, without weights."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from callscope.errors import EnvironmentProblem, InputError
from callscope.local import LocalServer, warm_up
from callscope.local.server import Answer

from .helpers import stored

pytestmark = pytest.mark.usefixtures("fake_engine")


def body(said: str, system: str = "Be brief.") -> bytes:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": said}]
    return json.dumps({"messages": messages}).encode()


def server_in(folder: Path, content: bytes = b"GGUF", **settings: int) -> LocalServer:
    spec, weights = stored(folder, content)
    return LocalServer(spec, weights, **{"threads": 1, **settings})  # type: ignore[arg-type]


async def ask(server: LocalServer, said: str) -> Answer:
    return await server.ask("/v1/chat/completions", body(said))


def test_every_call_finds_the_same_slot_whatever_came_before(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_in(tmp_path) as server:
            seen = {json.loads((await ask(server, said)).body)["slot_before"] for said in ("a", "b", "c")}
            assert seen == {len("Be brief.")}

    asyncio.run(scenario())


def test_a_turn_says_what_was_done_for_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_in(tmp_path) as server:
            async with server.turn(body("a")) as first:
                assert (first.restored, first.prepared, first.reason) == (True, True, None)
            async with server.turn(body("b")) as second:
                assert (second.restored, second.prepared, second.prefix_tokens) == (True, False, len("Be brief."))
            async with server.turn(body("b", system="Be long.")) as third:
                assert third.prepared
            assert server.model == "tiny+tools-json"
            assert server.base_url == server.address + "/v1"
            facts = server.facts()
            assert (facts["threads"], facts["sha256"]) == (1, server.weights.sha256)
            assert server.template.sha256 == facts["template_sha256"]

    asyncio.run(scenario())


def test_turns_are_taken_one_after_another(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_in(tmp_path) as server:
            inside = 0

            async def one() -> float:
                nonlocal inside
                async with server.turn(body("a")) as turn:
                    inside += 1
                    assert inside == 1
                    await asyncio.sleep(0)
                    inside -= 1
                return turn.queue_s

            assert max(await asyncio.gather(*(one() for _ in range(5)))) > 0

    asyncio.run(scenario())


def test_a_prefix_that_cannot_be_restored_is_flagged_and_the_call_still_made(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_in(tmp_path, b"GGUF NORESTORE") as server:
            async with server.turn(body("a")) as turn:
                assert not turn.restored
                assert "HTTP 400" in str(turn.reason)
            assert json.loads((await ask(server, "a")).body) == {"slot_before": 0}
            async with server.turn(b"not json") as turn:
                assert turn.reason == "the request body is not JSON"

    asyncio.run(scenario())


def test_a_lost_prefix_file_is_made_anew(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_in(tmp_path) as server:
            await ask(server, "a")
            assert server._slots is not None
            for saved in server._slots.iterdir():
                saved.unlink()
            async with server.turn(body("a")) as turn:
                assert (turn.restored, turn.prepared) == (True, True)

    asyncio.run(scenario())


def test_words_the_engine_could_not_read_are_found_in_its_log(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_in(tmp_path) as server:
            async with server.turn(body("odd")) as turn:
                assert server._session is not None
                async with server._session.post(f"{server.base_url}/chat/completions", data=body("odd")) as response:
                    assert response.status == 500
                assert await turn.unparsed(5) == '{"name":\n "x"}'
            async with server.turn(body("fine")) as turn:
                assert await turn.unparsed(0.01) is None

    asyncio.run(scenario())


def test_warm_up_gives_seconds_for_each_body(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with server_in(tmp_path) as server:
            seconds = await warm_up(server, [body("a"), body("b")])
            assert len(seconds) == 2
            assert all(0 < each < 10 for each in seconds)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04", "could not be loaded: .* is no GGUF file"),
        (b"GGUF REFUSE", "(?s)could not be loaded.*tensor data is cut off"),
        (b"GGUF DIE", "ended while starting"),
    ],
)
def test_a_bad_file_is_told_with_the_last_words_of_the_engine(tmp_path: Path, content: bytes, message: str) -> None:
    server = server_in(tmp_path, content)
    with pytest.raises(EnvironmentProblem, match=message) as caught:
        asyncio.run(server.start())
    assert str(server.weights.path) in str(caught.value)
    assert not server.alive


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    server = server_in(tmp_path)
    server.weights.path.unlink()
    with pytest.raises(EnvironmentProblem, match="No such file"):
        asyncio.run(server.start())


def test_a_busy_port_is_told_from_a_bad_file(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(EnvironmentProblem, match=f"127.0.0.1:{port} is taken.*another port"):
            asyncio.run(server_in(tmp_path, port=port).start())


def test_a_missing_library_is_told_with_the_extra_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('libgomp is not here')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(EnvironmentProblem, match=r"libgomp is not here\. Install callscope\[local\]"):
        asyncio.run(server_in(tmp_path).start())


def test_a_start_that_hangs_ends_at_its_limit(tmp_path: Path) -> None:
    spec, weights = stored(tmp_path, b"GGUF HANG")
    server = LocalServer(spec, weights, threads=1, start_limit_s=1)
    with pytest.raises(EnvironmentProblem, match="did not start within 1 s"):
        asyncio.run(server.start())
    assert not server.alive


def test_a_template_or_thread_count_it_cannot_have_is_an_input_error(tmp_path: Path) -> None:
    spec, weights = stored(tmp_path)
    with pytest.raises(InputError, match="no such template"):
        LocalServer(spec, weights, template="mine")
    with pytest.raises(InputError, match="1 or more"):
        LocalServer(spec, weights, threads=0)


def test_stopping_in_the_middle_of_a_call_is_quick_and_tidy(tmp_path: Path) -> None:
    async def scenario() -> None:
        server = server_in(tmp_path)
        async with server:
            folder, pid = server._slots, server.pid
            call = asyncio.create_task(ask(server, "sleep"))
            while not server._lock.locked() or not (folder and list(folder.iterdir())):
                await asyncio.sleep(0)
            began = time.perf_counter()
            assert pid is not None
            os.kill(pid, signal.SIGTERM)
            with pytest.raises(EnvironmentProblem, match="did not answer"):
                await call
            assert time.perf_counter() - began < 4
            await server._process.wait()  # type: ignore[union-attr]
            with pytest.raises(EnvironmentProblem, match="is not running"):
                await ask(server, "a")
        assert folder is not None
        assert not folder.exists()
        await server.stop()

    asyncio.run(scenario())


def test_the_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from tests_helpers import stored
        from callscope.local import LocalServer

        async def main():
            spec, weights = stored(Path(sys.argv[1]))
            async with LocalServer(spec, weights, threads=1) as server:
                print(server.pid, server._slots, flush=True)
                await asyncio.sleep(60)

        asyncio.run(main())
    """)
    helpers = Path(__file__).with_name("helpers.py").read_text(encoding="utf-8")
    (tmp_path / "tests_helpers.py").write_text(helpers, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *(item for item in sys.path if item)])
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )
    with parent:
        assert parent.stdout is not None
        pid, slots = parent.stdout.readline().split()
        parent.kill()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{int(pid)}").exists() and Path(f"/proc/{int(pid)}/cmdline").read_bytes():
        assert time.monotonic() < deadline
    assert not Path(slots.decode()).exists()
