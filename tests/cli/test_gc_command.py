from __future__ import annotations

import json

import pytest
from filelock import FileLock

from helpers import WordEmbedder, concept, git, write
from knowrepo.git.layout import Repository
from knowrepo.index import garbage, models
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.chunk import text_hash
from knowrepo.index.embed import Passage
from knowrepo.index.fill import embed as embed_texts
from knowrepo.index.fill import pending_texts
from knowrepo.index.models import Model
from knowrepo.index.vectors import VectorStore


def embed_all(repository: Repository) -> None:
    refresh(repository)
    store = VectorStore(repository.vectors, "words")
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        waiting = pending_texts(catalog, store)
    embed_texts(waiting, store, WordEmbedder())


@pytest.fixture
def store(repository, commit, monkeypatch) -> VectorStore:
    """Vectors of a branch that is gone, beside what is needed; a model called `here` makes them."""
    here = Model("here", repository.root / "none", "here")
    monkeypatch.setattr(models, "current", lambda: here)
    monkeypatch.setattr(garbage.embed, "fingerprint", lambda _: "words")
    write(repository, "concepts/a.md", concept("Base", body="base words"))
    commit()
    embed_all(repository)
    write(repository, "concepts/b.md", concept("Side", body="side words"))
    embed_all(repository)
    git(repository.root, "rm", "-qf", "concepts/b.md")
    return VectorStore(repository.vectors, "words")


def test_a_dry_run_says_what_would_go_and_changes_nothing(know, store):
    result = know("gc", "--dry-run")
    assert result.out.startswith("here: 1 vector would be dropped, 1 kept; about ")
    assert len(store.hashes()) == 2
    assert know("gc").out.startswith("here: 1 vector dropped, 1 kept; ")
    assert len(store.hashes()) == 1
    assert know("gc").out == "here: 0 vectors dropped, 1 kept; 0 B freed\n"


def test_what_was_set_aside_goes_too_and_its_bytes_are_counted(know, store):
    (store.folder / f"{'a' * 32}.duckdb.damaged").write_bytes(bytes(100_000))
    (store.folder / ".x.duckdb.1.tmp").write_bytes(bytes(100_000))
    found = json.loads(know("gc", "--json").out)
    assert found["version"] == 1
    assert found["tables"][0]["freed"] >= 200_000
    assert not list(store.folder.glob("*.damaged"))


def test_a_damaged_segment_goes_with_a_line_that_says_so(know, store):
    (segment,) = store.segments()
    segment.write_bytes(bytes(segment.stat().st_size))
    dry = know("gc", "--dry-run")
    assert dry.err.startswith(f"damaged, so it would go: {segment}: ")
    assert segment.exists()
    done = know("gc")
    assert done.code == 0
    assert done.err.startswith(f"damaged, so it is gone: {segment}: ")
    assert "`know index` embeds anew" in done.err
    assert [path.name for path in store.folder.glob("*duckdb*")] == []
    assert know("gc").err == ""


def test_vectors_of_models_that_are_not_here_go_only_when_asked_for(know, store, repository):
    other = VectorStore(repository.vectors, "0123456789abcdef")
    needed = next(iter(store.hashes() - {text_hash("x")}))
    other.add([(needed, 0, WordEmbedder().embed_passage(Passage("x"))[0])])
    know("gc")
    assert other.folder.is_dir()
    result = know("gc", "--all-models")
    assert "0123456789abcdef (no model here): " in result.out
    assert not other.folder.exists()
    assert len(store.hashes()) == 1


def test_it_waits_for_nobody_who_embeds(know, store):
    with FileLock(store.folder / "embedding.lock"):
        result = know("gc")
    assert result.code == 1
    assert "another process is embedding" in result.err
    assert len(store.hashes()) == 2


def test_without_vectors_there_is_nothing_to_do(know):
    assert know("gc").out == "no vectors, so nothing to drop\n"
