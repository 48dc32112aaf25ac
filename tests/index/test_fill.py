"""Embedding what is missing: the order, the batches, and what survives a stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from test_catalog import put

import embedding_driver
from helpers import WordEmbedder, concept, git, write
from knowrepo.errors import ModelError
from knowrepo.git.layout import Repository
from knowrepo.index import embed as embedding
from knowrepo.index import fill
from knowrepo.index.catalog import Catalog
from knowrepo.index.chunk import text_hash
from knowrepo.index.fill import BATCH, embed, pending_texts
from knowrepo.index.vectors import VectorStore

DRIVER = Path(embedding_driver.__file__)


@pytest.fixture
def catalog(tmp_path) -> Iterator[Catalog]:
    with Catalog.create(tmp_path / "catalog.db") as opened:
        yield opened


class NotingStore(VectorStore):
    """Notes how many rows it was given each time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "words")
        self.added: list[int] = []

    def add(self, rows, **options):
        self.added.append(len(rows))
        super().add(rows, **options)


@pytest.fixture
def store(tmp_path) -> NotingStore:
    return NotingStore(tmp_path / "vectors")


def test_concepts_come_first_and_then_the_newest(catalog, store):
    put(catalog, "s1", "old session", kind="session", date="2026-01-01")
    put(catalog, "s2", "new session, first", "new session, then", kind="session", date="2026-05-01")
    put(catalog, "c1", "old concept", date="2020-01-01")
    put(catalog, "c2", "new concept", date="2021-01-01")
    embedder = WordEmbedder()
    assert embed(pending_texts(catalog, store), store, embedder) == 5
    assert embedder.passages == [
        "new concept", "old concept", "new session, first", "new session, then", "old session",
    ]  # fmt: skip


def test_a_text_that_occurs_often_is_embedded_once_and_in_its_first_place(catalog, store):
    put(catalog, "s", "shared", "own", kind="session", date="2026-01-01")
    put(catalog, "c", "other", "shared", date="2020-01-01")
    embedder = WordEmbedder()
    assert embed(pending_texts(catalog, store), store, embedder) == 3
    assert embedder.passages == ["other", "shared", "own"]


def test_hashes_alone_are_held_of_what_is_waiting(catalog, store):
    put(catalog, "a", *(f"text {number}" for number in range(100)))
    store.add([(text_hash("text 7"), 0, WordEmbedder()._vector("text 7"))])
    waiting = pending_texts(catalog, store)
    assert len(waiting) == 99
    assert len(waiting.digests) == 99 * 16
    assert dict(waiting.texts()) == {
        text_hash(f"text {number}"): f"text {number}" for number in range(100) if number != 7
    }


def test_a_hash_that_begins_or_ends_in_zeros_is_none_the_less_itself(catalog, store, monkeypatch):
    hashes = [bytes(16), bytes(15) + b"\1", b"\1" + bytes(15), b"\1" + bytes(14) + b"\1"]
    monkeypatch.setattr(
        catalog, "text_hashes_in_order", lambda: (name.hex() for name in reversed(hashes))
    )
    monkeypatch.setattr(store, "packed_digests", lambda: hashes[1])
    waiting = pending_texts(catalog, store)
    assert waiting.digests == hashes[3] + hashes[2] + hashes[0]


def test_memory_does_not_grow_with_the_texts_that_wait(catalog, store):
    put(catalog, "a", *(f"{number} " + "word " * 800 for number in range(3000)))  # 12 MB

    class Constant(WordEmbedder):
        def embed_passage(self, passage):
            return [np.ones(64, dtype=np.float32) / 8]

    tracemalloc.start()
    try:
        assert embed(pending_texts(catalog, store), store, Constant()) == 3000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


def test_what_is_gone_when_its_turn_comes_is_passed_over(catalog, store):
    put(catalog, "a", *(f"text {number}" for number in range(300)))
    put(catalog, "b", "last")

    class Removing(WordEmbedder):
        def embed_passage(self, passage):
            if not self.passages:
                with catalog.transaction():
                    catalog.remove("a")
            return super().embed_passage(passage)

    embedder = Removing()
    done = embed(pending_texts(catalog, store), store, embedder)
    assert done == len(embedder.passages) < 100
    assert embedder.passages[-1] == "last"
    assert store.hashes() == {text_hash("last")}


def test_a_catalog_that_is_gone_ends_the_run_with_what_there_is(catalog, store, tmp_path):
    put(catalog, "a", *(f"text {number}" for number in range(300)))
    waiting = pending_texts(catalog, store)
    catalog.close()
    Catalog.discard(tmp_path / "catalog.db")
    assert embed(waiting, store, WordEmbedder()) == 0


def test_batches_are_published_by_number(catalog, store):
    put(catalog, "a", *(f"text {number}" for number in range(2 * BATCH + 5)))
    embed(pending_texts(catalog, store), store, WordEmbedder())
    assert store.added == [BATCH, BATCH, 5]


def test_batches_are_published_by_time_where_a_model_is_slow(catalog, store, monkeypatch):
    put(catalog, "a", *(f"text {number}" for number in range(10)))
    now = [0.0]
    monkeypatch.setattr(fill.time, "monotonic", lambda: now[0])

    class Slow(WordEmbedder):
        def embed_passage(self, passage):
            now[0] += 8
            return super().embed_passage(passage)

    embed(pending_texts(catalog, store), store, Slow())
    assert store.added == [3, 3, 3, 1]


def test_progress_knows_its_total_and_tells_each_text(catalog, store):
    put(catalog, "a", "one", "two", "three")
    told: list[tuple[int, int]] = []
    embed(
        pending_texts(catalog, store), store, WordEmbedder(),
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_an_error_publishes_what_was_done_before_it(catalog, store):
    put(catalog, "a", *(f"text {number}" for number in range(10)))

    class Failing(WordEmbedder):
        def embed_passage(self, passage):
            if passage == "text 6":
                raise ModelError("no")
            return super().embed_passage(passage)

    with pytest.raises(ModelError):
        embed(pending_texts(catalog, store), store, Failing())
    assert store.hashes() == {text_hash(f"text {number}") for number in range(6)}


def test_a_passage_of_several_parts_is_published_whole(catalog, store):
    put(catalog, "a", *(f"text {number}" for number in range(BATCH)))

    class Parts(WordEmbedder):
        def embed_passage(self, passage):
            return super().embed_passage(passage) * 3

    embed(pending_texts(catalog, store), store, Parts())
    assert store.added == [3 * BATCH, 0]
    assert not pending_texts(catalog, store)


def test_a_vector_that_two_segments_hold_is_kept_once_when_they_are_merged(store):
    one, two = (
        [(text_hash(name), 0, WordEmbedder()._vector(name)) for name in n] for n in ("ab", "bc")
    )
    store.add(one)
    store.add(two)
    assert (len(store.segments()), store.count()) == (1, 3)
    assert store.hashes() == {text_hash(name) for name in "abc"}


TOTAL = BATCH + 100
STOP = BATCH + 50


@pytest.fixture
def full(repository) -> Repository:
    for number in range(TOTAL):
        text = concept(f"C{number}", body=f"words of number {number}")
        write(repository, f"concepts/c{number}.md", text, stage=False)
    git(repository.root, "add", "-A")
    return repository


def drive(repository: Repository, stop: int) -> subprocess.Popen[str]:
    tests = str(DRIVER.parent)
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, str(DRIVER), str(stop)],
        cwd=repository.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def vectors(repository: Repository) -> VectorStore:
    return VectorStore(repository.vectors, embedding.fingerprint(embedding_driver.MODEL))


@pytest.mark.parametrize(
    ("sent", "code", "published"),
    [
        (signal.SIGINT, 130, STOP - 1),
        (signal.SIGTERM, 130, STOP - 1),
        (signal.SIGKILL, -signal.SIGKILL, BATCH),
    ],
)
def test_a_process_that_is_stopped_loses_a_batch_at_most_and_goes_on(full, sent, code, published):
    process = drive(full, STOP)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    assert lines[-1] == "reached\n"
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert ("`know index` goes on where it was" in err) == (code == 130)
    assert len(vectors(full).hashes()) == published

    out, err = drive(full, 0).communicate(timeout=60)
    assert out.splitlines()[-1] == f"vectors: {TOTAL - published} texts embedded"
    assert err == ""
    assert len(vectors(full).hashes()) == TOTAL
