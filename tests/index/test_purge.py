from __future__ import annotations

from helpers import SESSION, WordEmbedder, assistant, jsonl, user
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.fill import embed, pending_texts
from knowrepo.index.purge import purge, texts_of
from knowrepo.index.vectors import VectorStore
from knowrepo.sessions.forget import forget
from knowrepo.sessions.store import SessionName

OTHER = "11111111-2222-4333-8444-555555555555"


def test_a_forgotten_session_is_in_nothing_that_is_derived(repository):
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
    path = f"sessions/claude/{SESSION}.jsonl"
    texts = texts_of(repository, [path])
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
