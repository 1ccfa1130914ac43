"""The recorded exchanges, and a server on loopback that remembers what an SDK sent and answers what it is told."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from providers_kit import Loopback


@pytest.fixture(scope="session")
def recorded(shared: Path) -> list[dict[str, Any]]:
    """Every recorded chat-completions exchange."""
    with gzip.open(shared / "data" / "wire" / "pydantic-ai.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["api"] == "openai-chat"]


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    server = Loopback()
    thread = threading.Thread(target=server.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.server.shutdown()
    server.server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def sdk(loopback: Loopback) -> Iterator[Any]:
    """The vendor's own client, pointed at the loopback server."""
    import openai

    with openai.OpenAI(api_key="k", base_url=loopback.url, max_retries=0) as client:
        yield client
