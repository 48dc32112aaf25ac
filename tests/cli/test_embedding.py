"""What `know index` says of embedding, and how it goes through an endpoint."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

import embedding_driver
from endpoint_server import serving
from helpers import WordEmbedder, catalog_file, concept, git, write
from knowrepo.cli import embedding
from knowrepo.index import embed, models
from knowrepo.index.models import Model
from knowrepo.index.vectors import Damaged, VectorStore, sweep

TOTAL = 100


class SlowEmbedder(WordEmbedder):
    """Takes some seconds a text, by a clock of its own."""

    def __init__(self, seconds: float) -> None:
        super().__init__(embed.fingerprint(embedding_driver.MODEL))
        self.now = 1000.0
        self._seconds = seconds

    def embed_passage(self, passage):
        self.now += self._seconds
        return super().embed_passage(passage)


@pytest.fixture
def index(know, repository, monkeypatch):
    """Run `know index` over new concepts with an embedder that takes so long a text."""
    for number in range(TOTAL):
        write(repository, f"concepts/c{number}.md", concept(f"C{number}"), stage=False)
    git(repository.root, "add", "-A")
    monkeypatch.setattr(models, "current", lambda: embedding_driver.MODEL)
    monkeypatch.setattr(embed, "lacking", lambda _model: "")
    assert know("index", "--no-vectors").code == 0

    def run(seconds: float, *arguments: str):
        embedder = SlowEmbedder(seconds)
        with monkeypatch.context() as patch:
            patch.setattr(embed, "open_embedder", lambda *_, **__: embedder)
            patch.setattr(time, "monotonic", lambda: embedder.now)
            return know("index", *arguments)

    return run


def test_it_says_once_how_much_is_left_and_about_how_long_it_takes(index):
    done = index(3.0)
    assert done.err == (
        "93 of 100 texts are still to be embedded with words: about 5 min, at 0.3 a second\n"
    )
    assert done.out.splitlines()[-1] == "vectors: 100 texts embedded"


def test_what_is_soon_done_needs_no_words(index):
    assert index(0.01).err == ""


def test_a_clone_is_told_where_its_first_vectors_may_come_from(index, repository, monkeypatch):
    monkeypatch.setattr(embedding, "_MANY", TOTAL)
    assert index(0.01).err == ""  # nobody is there to share with
    git(repository.root, "remote", "add", "origin", "nowhere")
    shutil.rmtree(repository.vectors)
    assert index(0.01, "--quiet").err == ""
    shutil.rmtree(repository.vectors)
    said = "no vectors are here yet: `know sync pull` brings those that others pushed to origin\n"
    assert index(0.01).err == said
    write(repository, "concepts/more.md", concept("More"))
    assert index(0.01).err == ""  # some are here


def test_quiet_says_nothing_of_it(index):
    done = index(3.0, "--quiet")
    assert (done.code, done.err) == (0, "")


def test_quiet_says_nothing_of_a_missing_model_either(know, repository, monkeypatch):
    monkeypatch.setattr(models, "current", lambda: None)
    write(repository, "concepts/a.md", concept("Lock files"))
    assert "no vectors: there is no model" in know("index").err
    assert know("index", "--quiet").err == ""


def test_what_is_embedded_is_not_embedded_again(index):
    assert index(0.01).out.splitlines()[-1] == "vectors: 100 texts embedded"
    assert index(0.01).out.splitlines()[-1] == "vectors: 0 texts embedded"


def test_a_segment_that_goes_while_others_are_embedded_is_not_taken_for_there(
    index, repository, monkeypatch
):
    index(0.01)
    table = VectorStore(repository.vectors, embed.fingerprint(embedding_driver.MODEL))
    (segment,) = table.segments()
    write(repository, "concepts/late.md", concept("Late"))
    whole = VectorStore.add

    def add(self, rows, **options):
        sweep.set_aside(table.folder, [Damaged(segment.name, "as a recall finds it")])
        whole(self, rows, **options)

    with monkeypatch.context() as patch:
        patch.setattr(VectorStore, "add", add)
        assert index(0.01).out.splitlines()[-1] == "vectors: 1 texts embedded"
    assert index(0.01).out.splitlines()[-1] == "vectors: 100 texts embedded"
    assert table.count() == TOTAL + 1


def test_a_catalog_whose_hashes_are_none_is_built_anew(index, repository):
    with closing(sqlite3.connect(catalog_file(repository))) as connection, connection:
        connection.execute("UPDATE chunks SET text_hash = 'z' || substr(text_hash, 2)")
    done = index(0.01)
    assert "the catalog is damaged" in done.err
    assert done.out.splitlines()[-1] == "vectors: 100 texts embedded"
    assert index(0.01).out.splitlines()[-1] == "vectors: 0 texts embedded"


def test_a_model_behind_an_endpoint_stands_in_for_a_file(know, repository, monkeypatch):
    write(repository, "concepts/a.md", concept("Lock files", body="the lock is kept"))
    write(repository, "concepts/b.md", concept("Other", body="words of another matter"))
    with serving() as server:
        model = Model("served", Path(), "endpoint:served", endpoint=server.url)
        monkeypatch.setattr(models, "current", lambda: model)
        assert know("index").out.splitlines()[-1] == "vectors: 2 texts embedded"
        query = ("recall", "why is something of this kept somewhere", "--json")
        assert json.loads(know(*query).out)["route"] == "hybrid"

        server.salt = "another model"
        write(repository, "concepts/c.md", concept("Third"))
        refused = know("index")
        assert refused.code == 1
        assert f"{server.url}: serves another model as served" in refused.err
        told = know(*query)
        assert told.code == 0
        assert "serves another model" in told.err
        server.salt = ""
        assert know("index").out.splitlines()[-1] == "vectors: 1 texts embedded"
    told = know(*query)
    assert told.code == 0
    assert "nothing answers there" in told.err
    assert know("index").code == 0  # all is embedded: nobody needs the server
