"""An OpenAI-compatible endpoint in a thread, as well or badly behaved as a test wants it."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np


def raw(text: str, salt: str = "", dimension: int = 16) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256((salt + text).encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32) * 3


def as_unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that goes away: some tests are about that."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Server:
    """Answers as an endpoint does; ``answer`` may be replaced by what a test wants to see."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.salt = ""
        self.longest = 10**9
        self.answer: Callable[[list[str]], tuple[int, Any]] = self.well
        self.headers: dict[str, str] = {}
        self.closes = False
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path, body))
                status, content = server.answer(body["input"])
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in server.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = server.closes

            def log_message(self, *_: object) -> None:
                pass

        self.http = _Http(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def well(self, texts: list[str]) -> tuple[int, Any]:
        if any(len(text) > self.longest for text in texts):
            said = "the input is larger than the max context size, increase it"
            return 400, {"error": {"code": 400, "message": said}}
        data = [
            {"object": "embedding", "index": at, "embedding": raw(text, self.salt).tolist()}
            for at, text in enumerate(texts)
        ]
        return 200, {"object": "list", "data": data, "model": "m"}


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        thread.join()
        server.http.server_close()
