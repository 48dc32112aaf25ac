from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import numpy as np
import pytest
from test_catalog import put

from helpers import WordEmbedder
from knowrepo.index.catalog import Catalog
from knowrepo.index.chunk import text_hash
from knowrepo.index.embed import Passage, Query
from knowrepo.index.fill import BATCH, embed, pending_texts
from knowrepo.index.vectors import MOST_SEGMENTS, VectorStore, manifest

EMBEDDER = WordEmbedder()


def rows(*texts: str) -> list:
    return [(text_hash(text), 0, EMBEDDER.embed_passage(Passage(text))[0]) for text in texts]


def nearest(store: VectorStore, query: str, live: list[str], limit: int = 3) -> list[str]:
    names = {text_hash(text): text for text in live}
    with store.ranked(EMBEDDER.embed_query(Query(query))) as ranking:
        return [names[name] for name, _ in ranking.among(list(names), limit)]


def segments(store: VectorStore) -> list[Path]:
    return [store.folder / found.file for found in manifest.read(store.folder) or []]


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    return VectorStore(tmp_path / "vectors", "words")


def test_an_empty_store_finds_nothing(store):
    assert store.is_empty()
    assert store.hashes() == set()
    assert nearest(store, "x", ["x"]) == []


def test_the_nearest_of_the_live_texts_is_found(store):
    store.add(rows("red apple", "green pear", "blue sky"))
    live = ["red apple", "green pear", "blue sky"]
    assert nearest(store, "apple red", live)[0] == "red apple"
    assert nearest(store, "apple red", live[1:], limit=9) != []
    assert "red apple" not in nearest(store, "apple red", live[1:], limit=9)


def test_of_the_live_texts_those_with_a_vector_are_found(store):
    store.add(rows("a", "b"))
    assert sorted(nearest(store, "a", ["a", "b", "c"], limit=9)) == ["a", "b"]


def test_a_text_in_parts_counts_by_its_best_part(store):
    first, second = (
        EMBEDDER.embed_passage(Passage("one"))[0],
        EMBEDDER.embed_passage(Passage("two"))[0],
    )
    store.add([(text_hash("one two"), 0, first), (text_hash("one two"), 1, second)])
    with store.ranked(second) as ranking:
        found = ranking.among([text_hash("one two")], 5)
    assert [score for _, score in found] == pytest.approx([1.0], abs=1e-3)


def test_vectors_are_what_float16_can_hold(store):
    (row,) = rows("a")
    store.add([row])
    expected = row[2].astype(np.float16).astype(np.float32)
    (path,) = segments(store)
    with duckdb.connect(str(path), read_only=True) as db:
        (stored,) = db.execute("SELECT vector FROM vectors").fetchone()
    assert np.array_equal(np.asarray(stored, dtype=np.float32), expected)


def test_segments_stay_few_and_nothing_is_lost(store):
    for number in range(40):
        store.add(rows(f"text {number}"))
        assert len(manifest.read(store.folder)) <= MOST_SEGMENTS + 1
    assert len(store.hashes()) == 40
    assert nearest(store, "text 7", [f"text {n}" for n in range(40)])[0] == "text 7"
    on_disk = [path.name for path in store.folder.glob("*.duckdb")]
    assert sorted(on_disk) == sorted(path.name for path in segments(store))


def test_a_vector_that_is_added_twice_is_found_once(store):
    store.add(rows("a"))
    store.add(rows("a"))
    assert nearest(store, "a", ["a"], limit=9) == ["a"]


def test_other_fingerprints_are_not_seen(store, tmp_path):
    store.add(rows("a"))
    assert VectorStore(tmp_path / "vectors", "other").hashes() == set()


def test_readers_go_on_while_segments_are_added_and_merged(store):
    store.add(rows("base"))
    failures: list[Exception] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            try:
                if nearest(store, "base", ["base"]) != ["base"]:
                    failures.append(AssertionError("lost"))
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(15):
        store.add(rows(f"more {number}"))
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.fixture
def catalog(tmp_path):
    with Catalog.create(tmp_path / "catalog.db") as opened:
        yield opened


def embed_pending(catalog, store, embedder) -> int:
    waiting = pending_texts(catalog, store)
    embed(waiting, store, embedder)
    return len(waiting)


def test_only_texts_without_a_vector_are_embedded(catalog, store):
    put(catalog, "a", "one", "two", "two")
    embedder = WordEmbedder()
    assert embed_pending(catalog, store, embedder) == 2
    put(catalog, "b", "two", "three")
    with catalog.transaction():
        catalog.remove("a")
    assert embed_pending(catalog, store, embedder) == 1
    assert embedder.passages == ["one", "two", "three"]
    assert not pending_texts(catalog, store)


def test_an_interrupt_publishes_what_is_done_and_the_next_run_goes_on(catalog, store):
    put(catalog, "a", *(f"text {n}" for n in range(BATCH + 20)))

    class Interrupted(WordEmbedder):
        def embed_passage(self, passage):
            if len(self.passages) == BATCH + 10:
                raise KeyboardInterrupt
            return super().embed_passage(passage)

    with pytest.raises(KeyboardInterrupt):
        embed_pending(catalog, store, Interrupted())
    assert len(store.hashes()) == BATCH + 10
    assert embed_pending(catalog, store, WordEmbedder()) == 10


def test_removed_texts_are_in_no_segment_and_the_others_stay(store):
    for text in ("one", "two", "three"):
        store.add(rows(text))
    store.add(rows("four", "five"))
    gone = {text_hash(text) for text in ("two", "five", "unknown")}
    assert store.remove(gone) == 2
    assert store.hashes() == {text_hash(text) for text in ("one", "three", "four")}
    assert nearest(store, "four", ["one", "four"])[0] == "four"
    assert store.remove(gone) == 0
    for path in store.folder.glob("*.duckdb"):
        assert not any(bytes.fromhex(name) in path.read_bytes() for name in gone)
    assert store.remove(store.hashes()) == 3
    assert store.is_empty()
    store.add(rows("six"))
    assert store.hashes() == {text_hash("six")}
