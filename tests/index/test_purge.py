from __future__ import annotations

import pytest
from filelock import FileLock

from helpers import SESSION, WordEmbedder, assistant, catalog_file, concept, jsonl, user, write
from knowrepo.errors import KnowError
from knowrepo.index import purge as module
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.fill import embed, pending_texts
from knowrepo.index.purge import purge, texts_of
from knowrepo.index.vectors import VectorStore
from knowrepo.sessions.forget import forget
from knowrepo.sessions.store import SessionName

OTHER = "11111111-2222-4333-8444-555555555555"


def test_a_forgotten_session_is_in_nothing_that_is_derived(repository, tmp_path):
    folder = repository.sessions / "claude"
    folder.mkdir()
    secret = [user("the zebra word", 1), assistant("unicorn answer", 2)]
    shared = [user("a question that both asked", 3)]
    (folder / f"{SESSION}.jsonl").write_bytes(jsonl([*secret, *shared]))
    (folder / f"{OTHER}.jsonl").write_bytes(jsonl([user("plain words", 1), *shared]))
    refresh(repository)
    store = VectorStore(repository.vectors, "words")
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        embed(pending_texts(catalog, store), store, WordEmbedder())
        before = set(catalog.text_hashes())
    assert store.hashes() == before
    scratch = tmp_path / "scratch"
    texts = texts_of(repository, [folder / f"{SESSION}.jsonl"], scratch)
    forget(repository, SessionName("claude", SESSION))
    assert purge(repository, texts) > 0
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        assert set(catalog.text_hashes()) == store.hashes()
        assert not texts & set(catalog.text_hashes())
    derived = b"".join(p.read_bytes() for p in repository.locks.rglob("*") if p.is_file())
    assert b"zebra" not in derived
    assert b"unicorn" not in derived
    assert b"plain words" in derived


def test_what_is_forgotten_while_it_is_embedded_gets_no_vector(repository, tmp_path):
    path = repository.sessions / "claude" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    path.write_bytes(jsonl([user("the zebra word", 1), assistant("unicorn answer", 2)]))
    write(repository, "concepts/a.md", concept("A", body="plain words"))
    refresh(repository)
    store = VectorStore(repository.vectors, "words")

    class Forgetting(WordEmbedder):
        """Has another process forget the session when it has embedded it."""

        def embed_passage(self, passage):
            vectors = super().embed_passage(passage)
            if "zebra" in passage:
                texts = texts_of(repository, [path], tmp_path / "scratch")
                forget(repository, SessionName("claude", SESSION))
                purge(repository, texts)
            return vectors

    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        waiting = pending_texts(catalog, store)
    embedder = Forgetting()
    assert embed(waiting, store, embedder) == len(embedder.passages) == 2
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        assert store.hashes() == set(catalog.text_hashes())


def test_catalogs_of_all_work_trees_go_and_one_in_use_stops_it(repository, monkeypatch):
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.01)
    (repository.sessions / "claude").mkdir()
    refresh(repository)
    folders = [
        repository.common_dir / "know" / "0123456789ab",
        repository.common_dir / "worktrees" / "wt" / "know",
        repository.common_dir / "worktrees" / "wt" / "know" / "0123456789ab",
    ]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "catalog-3.1.2-7.db").write_text("zebra")
        (folder / "catalog-2.1.1-4.db-wal").write_text("zebra")
    with FileLock(folders[1] / "catalog.lock"), pytest.raises(KnowError, match="is indexing"):
        purge(repository, set())
    assert all((folder / "catalog-3.1.2-7.db").is_file() for folder in folders)
    purge(repository, set())
    assert not any(list(folder.glob("catalog*.db*")) for folder in folders)
    assert catalog_file(repository).is_file()
