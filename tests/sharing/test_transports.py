"""Sharing goes through git's own transports: ssh and http as well as files."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from helpers import git


def test_over_ssh_with_the_command_that_the_user_set(one, another, remote, tmp_path, monkeypatch):
    # What git runs in place of ssh: it gets options, the host, and the command for the far side.
    ssh = tmp_path / "ssh.sh"
    log = tmp_path / "ssh.log"
    ssh.write_text(f'#!/bin/sh\nfor last; do :; done\necho "$last" >> {log}\nexec sh -c "$last"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    monkeypatch.setenv("GIT_SSH_VARIANT", "simple")
    one.concept("a")
    git(one.root, "push", "-q", "origin", "main")
    other = another()
    one.done("index")
    url = f"ssh://example.org{remote}"
    one.done("sync", "push", url)
    assert "git-receive-pack" in log.read_text()
    assert "1 vector pulled" in other.done("sync", "pull", url).out
    assert "git-upload-pack" in log.read_text()


class Backend(BaseHTTPRequestHandler):
    """Serves git repositories by `git http-backend`, to those who name themselves."""

    root = Path()

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self._body()
        if self.headers.get("Authorization") is None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="memory"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        env = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.root), "PATH_INFO": path,
            "GIT_HTTP_EXPORT_ALL": "1", "QUERY_STRING": query, "REMOTE_USER": "tester",
            "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }  # fmt: skip
        done = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, env=env, check=True
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url(remote: Path) -> Iterator[str]:
    Backend.root = remote.parent
    server = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{remote.name}"
    finally:
        server.shutdown()
        server.server_close()


def test_over_http_with_credentials_that_git_asks_a_helper_for(one, another, remote, url):
    git(remote, "config", "http.receivepack", "true")
    one.concept(*(f"c{n}" for n in range(20)))
    git(one.root, "push", "-q", "origin", "main")
    one.done("index")
    other = another()
    for machine in (one, other):
        git(machine.root, "remote", "set-url", "origin", url)
    helper = "!f() { echo username=tester; echo password=x; }; f"
    refused = one.know("sync", "push")
    assert refused.code == 1
    assert "could not read Username" in refused.err
    for machine in (one, other):
        git(machine.root, "config", "credential.helper", helper)
    assert "20 vectors pushed" in one.done("sync", "push").out
    assert "20 vectors pulled" in other.done("sync", "pull").out
