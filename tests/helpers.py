"""Small real inputs: repositories, concepts, transcripts, and an embedder without a model."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from knowrepo.git.layout import Repository, repository_at
from knowrepo.index.catalog import Catalog
from knowrepo.index.embed import Passage, Query

if TYPE_CHECKING:
    from knowrepo.index.embed import Vector

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def git(folder: Path, *arguments: str, check: bool = True) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
    )
    if check and done.returncode:
        raise AssertionError(f"git {arguments}: {done.stderr}")
    return done.stdout


class Result(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def make_repository(folder: Path) -> Repository:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "know.toml").write_text("format = 1\n")
    (folder / "concepts").mkdir()
    (folder / "sessions").mkdir()
    return repository_at(folder.resolve())


def catalog_file(repository: Repository) -> Path:
    """The file that the catalog lies in now."""
    file = Catalog.file(repository.catalog)
    assert file is not None
    return file


@contextmanager
def unprivileged() -> Iterator[None]:
    """Act as a user whom permissions bind, also where the tests run as root."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def concept(
    title: str = "A title",
    *,
    kind: str = "Decision",
    tags: Iterable[str] = (),
    body: str = "",
    **keys: str,
) -> str:
    lines = [f"type: {kind}", f'title: "{title}"', f"tags: [{', '.join(tags)}]"]
    lines += [f"{key}: {value}" for key, value in keys.items()]
    return "---\n" + "\n".join(lines) + f"\n---\n\n{body}\n"


def write(repository: Repository, path: str, text: str, *, stage: bool = True) -> Path:
    full = repository.root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(text, encoding="utf-8")
    if stage:
        git(repository.root, "add", path)
    return full


def part_ways(repository: Repository) -> None:
    """Make branches `one` and `two`, the second checked out, that cannot be merged by git."""
    write(repository, "concepts/a.md", concept("Base"))
    git(repository.root, "commit", "-qm", "base")
    for branch in ("one", "two"):
        git(repository.root, "checkout", "-q", "-B", branch, "main")
        write(repository, "concepts/a.md", concept(branch))
        git(repository.root, "commit", "-qm", branch)


def user(text: Any, number: int = 1, **fields: Any) -> dict[str, Any]:
    return _record("user", {"role": "user", "content": text}, number, fields)


def assistant(text: Any, number: int = 2, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}] if isinstance(text, str) else text
    return _record("assistant", {"role": "assistant", "content": content}, number, fields)


def tool_call(name: str, number: int, **given: str) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
    return assistant([block], number)


def tool_result(text: str, number: int, call: int, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{call}", "content": text}
    return user([block], number, **fields)


def _record(
    kind: str, message: dict[str, Any], number: int, fields: dict[str, Any]
) -> dict[str, Any]:
    return {
        "parentUuid": f"u-{number - 1}" if number > 1 else None,
        "isSidechain": False,
        "cwd": "/home/dev/app",
        "sessionId": SESSION,
        "version": "2.1.200",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": f"u-{number}",
        "timestamp": f"2026-05-01T10:00:{number % 60:02d}.000Z",
        **fields,
    }


def jsonl(records: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(
        json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records
    )


def transcript(
    folder: Path, records: Iterable[dict[str, Any]], name: str = f"{SESSION}.jsonl"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(jsonl(records))
    return path


class WordEmbedder:
    """An embedder that needs no model: a text is the sum of its words' pseudo-random vectors."""

    def __init__(self, fingerprint: str = "words", dimension: int = 64) -> None:
        self.fingerprint = fingerprint
        self.language = ""
        self.dimension = dimension
        self.passages: list[str] = []

    def embed_passage(self, passage: Passage) -> list[Vector]:
        self.passages.append(passage)
        return [self._vector(passage)]

    def embed_passages(self, passages: Iterable[Passage]) -> Generator[list[Vector], None, None]:
        for passage in passages:
            yield self.embed_passage(passage)

    def embed_query(self, query: Query) -> Vector:
        return self._vector(query)

    def _vector(self, text: str) -> Vector:
        total = np.zeros(self.dimension, dtype=np.float32)
        for word in re.findall(r"\w+", text.lower()) or ["nothing"]:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            total += np.random.default_rng(seed).standard_normal(self.dimension, dtype=np.float32)
        return total / np.float32(np.linalg.norm(total))
