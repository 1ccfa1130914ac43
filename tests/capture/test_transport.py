"""The seam to the network: which bound ends an attempt, which proxy it goes through, what it sends and what it adds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import callscope
from callscope.capture.proxies import Proxies, is_loopback
from callscope.capture.transport import AiohttpTransport, Answer, Timeouts
from callscope.errors import InputError
from tests.capture.helpers import small_suite, stand_in_model
from tests.faulty import Act, Faulty, Script, chunked, http
from tests.stand_in import StandIn, by_rules

BOUNDS = [
    (Timeouts(30), (30, 30, 30)),
    (Timeouts(30, connect=5), (5, 30, 30)),
    (Timeouts(30, first_byte=10), (10, 10, 30)),
    (Timeouts(30, connect=5, first_byte=10), (5, 10, 30)),
    (Timeouts(30, connect=20, first_byte=10), (10, 10, 30)),
    (Timeouts(3, connect=20, first_byte=10), (3, 3, 3)),
]


@pytest.mark.parametrize(("timeouts", "bounds"), BOUNDS)
def test_each_step_has_the_nearest_bound_that_covers_it(timeouts: Timeouts, bounds: tuple[float, float, float]) -> None:
    steps = [(False, False), (True, False), (True, True)]
    assert tuple(timeouts.bound(connected=one, answered=other) for one, other in steps) == bounds


seconds = st.floats(0.001, 1_000)


@given(seconds, st.none() | seconds, st.none() | seconds)
def test_no_step_outlasts_a_later_one(total: float, connect: float | None, first_byte: float | None) -> None:
    timeouts = Timeouts(total, connect, first_byte)
    bounds = [
        timeouts.bound(connected=one, answered=other) for one, other in [(False, False), (True, False), (True, True)]
    ]
    assert bounds == sorted(bounds)
    assert bounds[-1] == total


def send(script: Script, timeouts: Timeouts, *, stream: bool = False, times: int = 1) -> list[Answer]:
    async def go() -> list[Answer]:
        async with Faulty(lambda _: script) as server, AiohttpTransport() as transport:
            return [
                await transport.send(
                    "POST", f"{server.url}/chat", (("X-A", "b"),), b"{}", timeouts=timeouts, stream=stream
                )
                for _ in range(times)
            ]

    return asyncio.run(go())


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
LATE: list[tuple[Script, Timeouts, str, str]] = [
    ([Act.HANG], Timeouts(20, first_byte=0.1), "timeout_first_byte", "0.1 s"),
    ([Act.HANG], Timeouts(0.1, first_byte=20), "timeout_first_byte", "0.1 s"),
    ([Act.HANG], Timeouts(20, connect=20, first_byte=0.1), "timeout_first_byte", "0.1 s"),
    ([HEAD + b"1234", Act.HANG], Timeouts(0.3, first_byte=0.2), "timeout_total", "0.3 s"),
    ([HEAD + b"1234", Act.HANG], Timeouts(0.3, connect=0.2), "timeout_total", "0.3 s"),
]


@pytest.mark.parametrize(("script", "timeouts", "code", "said"), LATE)
def test_the_fault_names_what_was_waited_for_and_how_long(
    script: Script, timeouts: Timeouts, code: str, said: str
) -> None:
    (answer,) = send(script, timeouts)
    assert answer.fault is not None
    assert (answer.fault.category, answer.fault.code) == ("timeout", code)
    assert answer.fault.message.endswith(said)


def test_a_connection_that_does_not_come_is_bounded_by_its_own_time() -> None:
    """A listener whose queue is full takes no further connection."""
    import socket

    async def go() -> Answer:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            address = listener.getsockname()
            fillers = [socket.socket() for _ in range(8)]
            try:
                for filler in fillers:
                    filler.setblocking(False)
                    filler.connect_ex(address)
                async with AiohttpTransport() as transport:
                    url = f"http://127.0.0.1:{address[1]}/"
                    timeouts = Timeouts(20, connect=0.2, first_byte=10)
                    return await transport.send("POST", url, (), b"{}", timeouts=timeouts, stream=False)
            finally:
                for filler in fillers:
                    filler.close()

    answer = asyncio.run(go())
    assert answer.fault is not None
    assert (answer.fault.code, answer.timing.connected) == ("timeout_connect", None)
    assert answer.fault.message.endswith("0.2 s")


def test_times_are_in_order_and_a_used_connection_is_connected_at_once() -> None:
    answers = send([http(b'{"a":1}')], Timeouts(20), times=2)
    for answer in answers:
        timing = answer.timing
        assert timing.connected is not None
        assert timing.first_byte is not None
        assert 0 <= timing.connected <= timing.first_byte <= timing.total
        assert answer.body == b'{"a":1}'


def test_the_chunks_of_a_stream_are_timed_in_the_order_of_their_bytes() -> None:
    (answer,) = send([chunked(b"data: 1\n\n", b"data: 2\n\n")], Timeouts(20), stream=True)
    assert answer.body == b"data: 1\n\ndata: 2\n\n"
    assert answer.chunks[0][0] == 0
    assert [moment for _, moment in answer.chunks] == sorted(moment for _, moment in answer.chunks)


def test_nothing_is_added_but_what_HTTP_needs() -> None:
    async def go() -> tuple[tuple[str, str], ...]:
        async with StandIn(by_rules) as server, AiohttpTransport() as transport:
            body = b'{"messages":[{"role":"user","content":"x"}]}'
            await transport.send(
                "POST", f"{server.url}/%2Fa?b=%2F", (("X-A", "b"),), body, timeouts=Timeouts(20), stream=False
            )
            assert server.seen[0].target == "/v1/%2Fa?b=%2F"
            return server.seen[0].headers

    assert [name for name, _ in asyncio.run(go())] == ["Host", "X-A", "Content-Length"]


# ------------------------------------------------------------------------------------------------------- proxies

PROXIES: list[tuple[dict[str, str], str, str | None]] = [
    ({}, "https://api.example/v1", None),
    ({"HTTPS_PROXY": "http://p:1"}, "https://api.example/v1", "http://p:1"),
    ({"HTTPS_PROXY": "http://p:1"}, "http://api.example/v1", None),
    ({"HTTP_PROXY": "http://p:1"}, "http://api.example/v1", "http://p:1"),
    ({"ALL_PROXY": "http://p:1"}, "https://api.example/v1", "http://p:1"),
    ({"ALL_PROXY": "socks5://s:1", "HTTPS_PROXY": "http://p:1"}, "https://api.example/v1", "http://p:1"),
    ({"https_proxy": "http://low:1", "HTTPS_PROXY": "http://up:1"}, "https://api.example/v1", "http://low:1"),
    ({"HTTPS_PROXY": "u:p@p:1"}, "https://api.example/v1", "http://u:p@p:1"),
    ({"HTTPS_PROXY": " "}, "https://api.example/v1", None),
    ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.example"}, "https://api.example/v1", None),
    ({"HTTPS_PROXY": "http://p:1", "no_proxy": ".example"}, "https://api.example/v1", None),
    ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, "https://api.example/v1", None),
    ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other"}, "https://api.example/v1", "http://p:1"),
    ({"HTTP_PROXY": "http://p:1"}, "http://127.0.0.1:8080/v1", None),
    ({"HTTP_PROXY": "http://p:1"}, "http://localhost/v1", None),
    ({"HTTP_PROXY": "http://p:1"}, "http://[::1]:1/v1", None),
    ({"ALL_PROXY": "socks5://s:1"}, "http://127.0.0.1:8080/v1", None),
    ({"HTTP_PROXY": "http://p:1", "CALLSCOPE_PROXY_LOOPBACK": "1"}, "http://127.0.0.1:8080/v1", "http://p:1"),
]


@pytest.mark.parametrize(("environ", "url", "proxy"), PROXIES)
def test_a_call_goes_through_the_proxy_that_the_environment_names_for_it(
    environ: dict[str, str], url: str, proxy: str | None
) -> None:
    assert Proxies.read(environ).for_url(url) == proxy


@pytest.mark.parametrize("value", ["socks5://s:1", "socks4a://s:1", "ftp://s:1"])
def test_a_proxy_that_is_none_for_HTTP_is_refused_by_the_name_of_its_variable(value: str) -> None:
    with pytest.raises(InputError, match="ALL_PROXY"):
        Proxies.read({"ALL_PROXY": value}).for_url("https://api.example/v1")


LOOPBACK = ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "0.0.0.0"]
ELSEWHERE = ["example.com", "localhost.example", "10.0.0.1", "128.0.0.1", "::2", "", "127.0.0.1.example"]


@pytest.mark.parametrize(
    ("host", "here"), [*((host, True) for host in LOOPBACK), *((host, False) for host in ELSEWHERE)]
)
def test_this_machine_is_known_by_its_names_and_numbers(host: str, here: bool) -> None:
    assert is_loopback(host) is here


def test_a_proxys_passwords_are_known_as_secrets_in_both_spellings() -> None:
    proxies = Proxies.read({"HTTP_PROXY": "http://u:p%2Fss@h", "ALL_PROXY": "v:word@i:1", "HTTPS_PROXY": "http://h"})
    assert set(proxies.secrets) == {"p%2Fss", "p/ss", "word"}


def run_with(monkeypatch: pytest.MonkeyPatch, out: Path, environ: dict[str, str], **settings: Any) -> callscope.Run:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    async def go() -> callscope.Run:
        async with StandIn(by_rules) as server:
            models = [stand_in_model(settings.get("url", server.url))]
            return await callscope.arun(small_suite(0), models=models, out=out, repeats=1, attempts=1)

    return asyncio.run(go())


def test_a_run_on_this_machine_needs_no_proxy_and_its_manifest_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_with(monkeypatch, tmp_path / "run", {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "socks5://h"})
    assert [one.verdict.passed for one in run.derived()] == [True]
    named = {name: value for name, value in run.manifest.environment.items() if "PROXY" in name}
    assert named == {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "socks5://h"}


def test_a_proxy_that_cannot_be_used_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="ALL_PROXY: names no HTTP proxy"):
        run_with(monkeypatch, tmp_path / "run", {"ALL_PROXY": "socks5://h"}, url="http://api.example/v1")
    assert not (tmp_path / "run").exists()


def test_netrc_never_replaces_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login someone password something\n")
    monkeypatch.setenv("STAND_IN_KEY", "sk-stand-in-4711")

    async def go() -> str:
        async with StandIn(by_rules) as server:
            models = [stand_in_model(server.url, api_key_env="STAND_IN_KEY")]
            await callscope.arun(small_suite(0), models=models, out=tmp_path / "run", repeats=1)
            return {name.lower(): value for name, value in server.seen[0].headers}["authorization"]

    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert asyncio.run(go()) == "Bearer sk-stand-in-4711"
