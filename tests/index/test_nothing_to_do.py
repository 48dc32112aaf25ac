from __future__ import annotations

import os
import subprocess

import numpy as np
import pytest

from helpers import assistant, concept, git, transcript, user, write
from knowrepo.git.layout import Repository
from knowrepo.index import embedded, freshness
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.fill import embed, pending_texts
from knowrepo.index.vectors import VectorStore
from knowrepo.sessions.archive import archive

FINGERPRINT = "f" * 16


class Counting:
    """An embedder whose vectors follow from the text, and which counts what it embeds."""

    dimension = 4

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_passage(self, passage):
        self.texts.append(passage)
        vector = np.array([len(passage), passage.count("e"), passage.count("a"), 1], np.float32)
        return [vector / np.linalg.norm(vector)]

    def embed_passages(self, passages):
        for passage in passages:
            yield self.embed_passage(passage)

    def embed_query(self, query):
        return self.embed_passage(query)[0]


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """Take times as they are, however young."""
    monkeypatch.setattr(freshness, "_RACY_NANOSECONDS", -1)


@pytest.fixture
def indexed(repository, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    list(archive(repository, [transcript(tmp_path / "in", [user("one", 1)])]))
    refresh(repository)
    return repository


def embed_all(repository: Repository) -> list[str]:
    """Embed what has no vector; returns the texts."""
    store, embedder = VectorStore(repository.vectors, FINGERPRINT), Counting()
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        waiting = pending_texts(catalog, store)
    embed(waiting, store, embedder)
    state = embedded.present(repository, FINGERPRINT)
    embedded.note_all_embedded(repository, FINGERPRINT, state)
    return embedder.texts


def session_file(repository: Repository):
    return next(repository.sessions.rglob("*.jsonl"))


def test_an_indexed_state_is_known_without_starting_a_process(indexed, monkeypatch):
    def explode(*_args, **_options):
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", explode)
    assert freshness.holds_all(indexed)


def test_without_a_catalog_there_is_something_to_do(repository):
    assert not freshness.holds_all(repository)


def test_a_session_that_was_edited_in_place_is_noticed(indexed):
    path = session_file(indexed)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert not freshness.holds_all(indexed)
    refresh(indexed)
    assert freshness.holds_all(indexed)


def test_a_staged_concept_and_a_new_session_are_noticed(indexed, tmp_path):
    write(indexed, "concepts/b.md", concept("B"))
    assert not freshness.holds_all(indexed)
    refresh(indexed)
    assert freshness.holds_all(indexed)
    list(archive(indexed, [transcript(tmp_path / "in2", [user("more", 1, sessionId="other")])]))
    assert not freshness.holds_all(indexed)


def test_a_file_that_is_too_young_is_looked_at_again(indexed, monkeypatch):
    monkeypatch.setattr(freshness, "_RACY_NANOSECONDS", 10**18)
    assert freshness.stamps(indexed) == ""
    refresh(indexed)
    assert not freshness.holds_all(indexed)


def test_a_recall_that_refreshed_in_a_hurry_claims_nothing(indexed):
    path = session_file(indexed)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    refresh(indexed, budget=60.0)
    path.write_bytes(path.read_bytes().replace(b"two", b"one"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not freshness.holds_all(indexed)


def test_texts_that_all_have_vectors_are_known_until_either_changes(indexed, tmp_path):
    assert not embedded.all_embedded(indexed, FINGERPRINT)
    assert embed_all(indexed)
    assert embedded.all_embedded(indexed, FINGERPRINT)
    assert not embedded.all_embedded(indexed, "0" * 16)

    more = [user("one", 1), assistant("two", 2)]
    list(archive(indexed, [transcript(tmp_path / "in", more)]))
    refresh(indexed)
    assert not embedded.all_embedded(indexed, FINGERPRINT)
    assert embed_all(indexed)
    assert embedded.all_embedded(indexed, FINGERPRINT)


def test_a_segment_that_was_cut_short_is_looked_at(indexed):
    embed_all(indexed)
    segment = next(VectorStore(indexed.vectors, FINGERPRINT).folder.glob("*.duckdb"))
    os.truncate(segment, segment.stat().st_size // 2)
    assert not embedded.all_embedded(indexed, FINGERPRINT)


def test_what_is_removed_leaves_nothing_to_embed(indexed):
    embed_all(indexed)
    git(indexed.root, "rm", "-qf", "concepts/a.md")
    refresh(indexed)
    assert embedded.all_embedded(indexed, FINGERPRINT)


def test_texts_that_came_while_others_were_embedded_are_not_taken_for_embedded(indexed, tmp_path):
    embed_all(indexed)
    state = embedded.present(indexed, FINGERPRINT)
    list(archive(indexed, [transcript(tmp_path / "in", [user("one", 1), user("late", 2)])]))
    refresh(indexed)
    embedded.note_all_embedded(indexed, FINGERPRINT, state)
    assert not embedded.all_embedded(indexed, FINGERPRINT)


def test_a_catalog_that_was_built_anew_is_looked_at(indexed):
    embed_all(indexed)
    Catalog.discard(indexed.catalog)
    refresh(indexed)
    assert not embedded.all_embedded(indexed, FINGERPRINT)


def test_one_more_exchange_of_a_long_session_embeds_that_exchange_alone(repository, tmp_path):
    def exchange(number: int) -> list[dict]:
        said = f"Answer {number}. " + "It reads the file twice. " * 30
        return [user(f"question {number}?", 2 * number), assistant(said, 2 * number + 1)]

    records = [record for number in range(246) for record in exchange(number)]
    list(archive(repository, [transcript(tmp_path / "in", records)]))
    refresh(repository)
    assert len(embed_all(repository)) == 246
    list(archive(repository, [transcript(tmp_path / "in", [*records, *exchange(246)])]))
    assert refresh(repository).indexed == 1
    (text,) = embed_all(repository)
    assert "question 246?" in text
    assert embed_all(repository) == []
