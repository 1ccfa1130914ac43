"""The process that holds one model: reads its settings from standard input, serves, and ends with its parent.

Run by `server` as a file of its own. The first line of standard input is a JSON object of settings;
standard output gets one JSON line (`ready` with the address, or `failed` with a reason); the engine logs to
standard error. Loading holds the interpreter lock, which is why a model has a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import threading
from pathlib import Path
from typing import Any, NoReturn

PORT_BUSY, BAD_FILE, NO_LIBRARY, OTHER = "port_busy", "bad_file", "no_library", "other"
MAGIC = b"GGUF"


class _Failed(Exception):
    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def port_is_free(port: int) -> bool:
    """Whether a server could listen on 127.0.0.1 at this port now; 0 asks for any port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _serve(settings: dict[str, Any]) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise _Failed(NO_LIBRARY, str(error)) from error
    model, port = Path(settings["model"]), int(settings["port"])
    # The engine raises the same error for a bad file and a busy port, so both are looked at before.
    if not port_is_free(port):
        raise _Failed(PORT_BUSY, f"127.0.0.1:{port} is taken")
    try:
        with model.open("rb") as stream:
            magic = stream.read(len(MAGIC))
    except OSError as error:
        raise _Failed(BAD_FILE, f"{model}: {error.strerror}") from error
    if magic != MAGIC:
        raise _Failed(BAD_FILE, f"{model} is no GGUF file: it starts with {magic!r}")
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {settings["alias"]}
    params.port = port
    params.api_keys = [settings["api_key"]]
    params.n_ctx = settings["context"]
    params.n_parallel = 1
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.slot_save_path = settings["slots"].rstrip("/") + "/"
    params.endpoint_slots = True
    params.cache_prompt = True
    params.cache_ram_mib = 0
    params.cors_origins = ""
    params.ui = False
    params.warmup = True
    if settings["template"] is not None:
        params.chat_template = settings["template"]
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        reason = BAD_FILE if port_is_free(port) else PORT_BUSY
        raise _Failed(reason, str(error)) from error


def _end_with_parent(slots: str) -> None:
    """Wait until the parent's end of the pipe is gone, however the parent ended, then tidy up and end at once."""
    while os.read(0, 4096):
        pass
    shutil.rmtree(slots, ignore_errors=True)
    os._exit(0)


def main() -> NoReturn:
    """Serve until told to stop. Exit code 1 when the server could not start."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # ends at once, even with a request in flight
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the engine prints must not be taken for an answer
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            os._exit(0)
        line += piece
    settings = json.loads(line)
    threading.Thread(target=_end_with_parent, args=(settings["slots"],), daemon=True).start()
    try:
        server = _serve(settings)
    except _Failed as failure:
        answers.write(json.dumps({"event": "failed", "reason": failure.reason, "message": str(failure)}) + "\n")
        answers.flush()
        os._exit(1)
    answers.write(json.dumps({"event": "ready", "address": server.listening_address}) + "\n")
    answers.flush()
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
