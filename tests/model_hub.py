"""A model hub and a proxy on this machine, and registries of models for tests."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from knowrepo.index.models import registry

BODY = b"GGUF" + bytes(range(256)) * 16_000  # four megabytes
SHA256 = hashlib.sha256(BODY).hexdigest()
COMMIT = "0" * 40


def entry(name: str = "small", **changes: Any) -> dict[str, Any]:
    """What the registry says of a model."""
    return {
        "name": name,
        "source": f"makers/{name}-gguf",
        "file": f"{name}.gguf",
        "revision": "main",
        "sha256": SHA256,
        "megabytes": 4,
        "window": 512,
        "dimension": 64,
        "dimensions": [64, 32],
        "pooling": "cls",
        "passage_prefix": "passage: ",
        "query_prefix": "query: ",
        "licence": "MIT",
        "note": "",
        **changes,
    }


def use_registry(monkeypatch: Any, place: Path, *entries: dict[str, Any]) -> None:
    """Have the registry hold these models, the first of them the default."""
    place.write_text(json.dumps(entries))
    monkeypatch.setattr(registry, "_FILE", place)
    registry.known.cache_clear()


@dataclass
class Hub:
    """What the hub gives, and what it was asked for."""

    url: str = ""
    body: bytes = BODY
    etag: str = SHA256
    size: int = 0  # that it announces, if not the true one
    status: int = 200
    error_code: str = ""
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)  # after so many bytes each answer ends
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    @property
    def gets(self) -> list[dict[str, str]]:
        """The headers of each request for the file itself, in lower case."""
        return [headers for method, _, headers in self.asked if method == "GET"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what some of the tests are about."""


class _Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        pass

    def _note(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.hub.asked.append((self.command, self.path, headers))

    def do_HEAD(self) -> None:
        self._note()
        hub = self.hub
        if hub.status != 200:
            self.send_response(hub.status)
            if hub.error_code:
                self.send_header("X-Error-Code", hub.error_code)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        # Storage is another host than the hub, as it is in the world.
        port = urlsplit(hub.url).port
        self.send_response(302)
        self.send_header("Location", f"http://localhost:{port}/storage")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("X-Linked-Etag", f'"{hub.etag}"')
        self.send_header("X-Linked-Size", str(hub.size or len(hub.body)))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self._note()
        hub = self.hub
        wanted = self.headers.get("Range", "")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and hub.ranges else 0
        rest = hub.body[start:]
        self.send_response(206 if start else 200)
        if start:
            size = len(hub.body)
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if hub.cuts:
            rest = rest[: hub.cuts.pop(0)]
            self.close_connection = True
        self.wfile.write(rest)


class _Proxy(BaseHTTPRequestHandler):
    seen: list[str]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def _forward(self) -> None:
        self.seen.append(f"{self.command} {self.path}")
        parts = urlsplit(self.path)
        onward = http.client.HTTPConnection(parts.hostname or "", parts.port or 80)
        onward.request(self.command, parts.path, headers=dict(self.headers.items()))
        answer = onward.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.read())
        onward.close()

    do_GET = do_HEAD = _forward  # noqa: N815

    def do_CONNECT(self) -> None:
        self.seen.append(f"CONNECT {self.path}")
        self.send_error(502)


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve until the block ends; gives the address."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def hub_here(monkeypatch: Any) -> Iterator[Hub]:
    """Serve a hub, and have the hub's client ask it, by nobody's proxy or token."""
    import huggingface_hub

    hub = Hub()
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with serving(type("Handler", (_Hub,), {"hub": hub})) as hub.url:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        huggingface_hub.close_session()  # it reads the proxies once
        try:
            yield hub
        finally:
            huggingface_hub.close_session()


@contextlib.contextmanager
def proxy_here(seen: list[str]) -> Iterator[str]:
    """Serve a proxy that notes what it is asked for."""
    import huggingface_hub

    with serving(type("Handler", (_Proxy,), {"seen": seen})) as url:
        huggingface_hub.close_session()
        yield url
