"""Which texts a search by meaning finds, whatever the way it takes."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import WordEmbedder, concept, jsonl, user, write
from knowrepo.index import embed, models
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.embed import Passage, Query
from knowrepo.index.fill import embed as embed_texts
from knowrepo.index.fill import pending_texts
from knowrepo.index.models import Model
from knowrepo.index.vectors import VectorStore
from knowrepo.recall import route, semantic


class QuickEmbedder(WordEmbedder):
    """Sixteen numbers of a text's length and words, so that many texts take no time."""

    def _vector(self, text):
        seed = sum(map(ord, text)) * 7919 + len(text)
        vector = np.array([((seed >> n) * 2654435761) % 1009 - 504 for n in range(16)], np.float32)
        return vector / np.float32(np.linalg.norm(vector) or 1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000))
def test_a_ranking_gives_what_a_join_of_all_that_count_gives(tmp_path_factory, seed):
    choose = random.Random(seed)
    store = VectorStore(tmp_path_factory.mktemp("v"), "f")
    texts = [f"{n:032x}" for n in range(choose.randrange(1, 1500))]
    few = np.random.default_rng(seed).standard_normal((5, 8), dtype=np.float32)
    few /= np.linalg.norm(few, axis=1, keepdims=True)  # many have the same score
    for _ in range(choose.randrange(1, 4)):
        some = choose.sample(texts, choose.randrange(1, len(texts) + 1))
        store.add([
            (text, part, few[choose.randrange(5)])
            for text in some for part in range(choose.choice([1, 1, 2]))
        ])  # fmt: skip
    live = choose.sample(texts, choose.randrange(len(texts) + 1))
    limit = choose.choice([1, 10, 700])
    with store.ranked(few[0]) as ranking:
        ranked = [one for batch in ranking.batches() for one in batch if one[0] in set(live)]
        joined = ranking.among(live, limit)
    assert ranked[:limit] == joined
    assert {text for text, _ in ranked} == store.hashes() & set(live)


@pytest.fixture
def filled(repository):
    for number in range(30):
        write(repository, f"concepts/c{number}.md", concept(f"C{number}", body=f"red {number}"))
    (repository.sessions / "claude").mkdir()
    records = [user(f"red apple number {number}", number) for number in range(1, 900)]
    write(repository, "sessions/claude/a.jsonl", jsonl(records).decode(), stage=False)
    refresh(repository)
    return repository


def embed_all(repository, embedder, part=1.0) -> None:
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        store = VectorStore(repository.vectors, embedder.fingerprint)
        waiting = pending_texts(catalog, store)
    some = replace(waiting, digests=waiting.digests[: 16 * int(len(waiting) * part)])
    embed_texts(some, store, embedder)


@pytest.mark.parametrize("only", [Filter(), Filter(kind="session"), Filter(type="decision")])
def test_each_way_of_a_search_gives_the_same(filled, monkeypatch, only):
    embedder = WordEmbedder()
    embed_all(filled, embedder)
    vector = embedder.embed_query(Query("red apple"))
    store = VectorStore(filled.vectors, embedder.fingerprint)
    catalog = Catalog.open(filled.catalog)
    assert catalog is not None
    found = []
    with catalog:
        for few, most in ((10**6, 10**6), (0, 10**6), (0, 1)):
            monkeypatch.setattr(semantic, "FEW", few)
            monkeypatch.setattr(semantic, "MOST_LOOKED_UP", most)
            near = semantic.nearest(store, vector, catalog, only)
            found.append(semantic.spread(near.scored, near.documents))
    assert found[0]
    assert found[0] == found[1] == found[2]


def test_what_lacks_a_vector_is_counted_until_all_have_one(filled):
    embedder = WordEmbedder()
    embed_all(filled, embedder, part=0.9)
    answer = route.recall(filled, "a green pear", embedder=embedder)
    assert answer.pending == 93
    assert answer.notes == ["93 of 929 texts have no vector yet; `know index` makes them"]
    embed_all(filled, embedder)
    for _ in range(2):
        assert route.recall(filled, "a green pear", embedder=embedder).pending == 0
    write(filled, "concepts/new.md", concept("New", body="words that are new"))
    assert route.recall(filled, "a green pear", embedder=embedder).pending == 1


def test_twenty_decisions_among_fifty_thousand_chunks_are_found(repository):
    for number in range(20):
        write(repository, f"concepts/d{number}.md", concept(f"D{number}", body=f"choice {number}"))
    (repository.sessions / "claude").mkdir()
    for session in range(10):
        records = [user(f"turn {session} {number}", number) for number in range(1, 5001)]
        path = repository.sessions / "claude" / f"s{session}.jsonl"
        path.write_bytes(jsonl(records))
    refresh(repository)
    embedder = QuickEmbedder()
    embed_all(repository, embedder)
    only = Filter(type="Decision")
    answer = route.recall(repository, "wholly unrelated", limit=10, only=only, embedder=embedder)
    assert answer.route == "hybrid"
    assert len(answer.hits) == 10
    assert {hit.type for hit in answer.hits} == {"Decision"}


class TestAnEarlierModel:
    @pytest.fixture
    def two(self, filled, monkeypatch, tmp_path):
        """A model with few vectors and an earlier one with all."""
        new, old = (Model(name, tmp_path / name, name) for name in ("new", "old"))
        embedders = {m.name: WordEmbedder(embed.fingerprint(m)) for m in (new, old)}
        monkeypatch.setattr(models, "current", lambda: new)
        monkeypatch.setattr(models, "previous", lambda: [old])
        monkeypatch.setattr(embed, "lacking", lambda _: "")
        monkeypatch.setattr(embed, "open_embedder", lambda model, **_: embedders[model.name])
        embed_all(filled, embedders["old"])
        return filled, embedders["new"]

    def test_answers_while_the_present_one_covers_less_than_half(self, two):
        repository, new = two
        for part in (0.0, 0.2):
            embed_all(repository, new, part)
            answer = route.recall(repository, "a green pear")
            assert answer.route == "hybrid"
            assert "uses those of old" in answer.notes[0]
            assert answer.pending > 465
        embed_all(repository, new, 0.9)
        answer = route.recall(repository, "a green pear")
        assert "have no vector yet" in answer.notes[0]
        embed_all(repository, new)
        assert route.recall(repository, "a green pear").notes == []

    def test_two_cuts_of_one_model_are_told_apart(self, two, monkeypatch, tmp_path):
        repository, _ = two
        cut = Model("old", tmp_path / "old", "old", dimension=128)
        monkeypatch.setattr(models, "current", lambda: cut)
        note = route.recall(repository, "a green pear").notes[0]
        assert "have a vector of old cut to 128 yet; this answer uses those of old, which" in note


def test_passages_of_the_quick_embedder_differ():
    embedder = QuickEmbedder()
    one, two = (embedder.embed_passage(Passage(text))[0] for text in ("turn 1 2", "turn 1 34"))
    assert not np.array_equal(one, two)
