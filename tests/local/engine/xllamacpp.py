"""A stand-in for the engine: the same few names, and an HTTP server that keeps a slot like the real one.

What it does is steered by words in the model file, so that each test writes the engine it needs.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

ODD = '0.00.000.003 W parse: unparsed peg-native output: {"name":\n "x"}\n0.00.000.004 W srv: end\n'


def log(text):
    sys.stderr.write(text)
    sys.stderr.flush()


class CommonParams(SimpleNamespace):
    def __init__(self):
        super().__init__(
            model=SimpleNamespace(path=""), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace(), port=0
        )


class Engine:
    """The slot and what was saved of it."""

    def __init__(self, params, words):
        self.folder, self.words, self.slot, self.saved = Path(params.slot_save_path), words, [], {}

    def answer(self, path, body):
        match path:
            case "/apply-template":
                return 200, {"prompt": "\n".join(m["content"] for m in body["messages"]) + "\n<answer>"}
            case "/tokenize":
                return 200, {"tokens": [ord(c) for c in body["content"]] or [0]}
            case "/completion":
                self.slot = list(body["prompt"])
                return 200, {"content": ""}
            case "/v1/chat/completions":
                return self.chat(body["messages"][-1]["content"])
            case _:
                return self.keep(path.partition("=")[2], body.get("filename"))

    def keep(self, action, filename):
        if action == "save":
            self.saved[filename] = list(self.slot)
            (self.folder / filename).write_bytes(b"saved")
            return 200, {"n_saved": len(self.slot)}
        if action == "erase":
            self.slot = []
            return 200, {"n_erased": 0}
        if "NORESTORE" in self.words or not (self.folder / filename).exists():
            return 400, {"error": "no such file"}
        self.slot = list(self.saved[filename])
        return 200, {"n_restored": len(self.slot)}

    def chat(self, asked):
        if asked == "sleep":
            time.sleep(60)
        if asked == "odd":
            log(ODD)
            return 500, {"error": {"code": 500}}
        before, self.slot = len(self.slot), [*self.slot, 1, 2, 3]
        return 200, {"slot_before": before}


class Server:
    def __init__(self, params):
        words = Path(params.model.path).read_text(encoding="utf-8", errors="replace")
        sys.stdout.write("noise that is no answer\n")
        sys.stdout.flush()
        log("0.00.000.001 I engine: loading\n")
        if "REFUSE" in words:
            log("0.00.000.002 E engine: tensor data is cut off\n")
            raise RuntimeError("Failed to init server, please check the input params.")
        if "DIE" in words:
            raise SystemExit(3)
        if "HANG" in words:
            time.sleep(60)
        engine = Engine(params, words)

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                known = self.headers["Authorization"] == f"Bearer {params.api_keys[0]}"
                status, answer = engine.answer(self.path, body) if known else (401, {"error": "key"})
                raw = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

        self._http = ThreadingHTTPServer(("127.0.0.1", params.port), Handler)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{self._http.server_port}"
